#include "sparing/metrics/matching.h"

#include <algorithm>

namespace sparing::metrics {
namespace {

double extent(float low, float high) { return static_cast<double>(high) - low; }

double overlap(const Box& guess, const Truth& truth) {
  const double w = extent(std::max(guess.x0, truth.box.x0), std::min(guess.x1, truth.box.x1));
  const double h = extent(std::max(guess.y0, truth.box.y0), std::min(guess.y1, truth.box.y1));
  if (w <= 0 || h <= 0) return 0;
  const double common = w * h;
  const double own = box_area(guess);
  return common / (truth.crowd ? own : own + box_area(truth.box) - common);
}

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// The candidate that COCO gives to the guess, or kNone. An equal overlap goes to the later object.
std::size_t choose_coco(const ClassSamples& samples, const Overlaps& overlaps, std::size_t guess,
                        const std::vector<bool>& taken, double threshold) {
  double least = std::min(threshold, 1 - 1e-10);  // as pycocotools, so that IoU 1 passes 1
  std::size_t best = kNone;
  for (std::size_t i = overlaps.begin[guess]; i < overlaps.begin[guess + 1]; ++i) {
    const Candidate& candidate = overlaps.candidates[i];
    const Truth& truth = samples.truths[candidate.truth];
    if (taken[candidate.truth] && !truth.crowd) continue;
    // Ignored objects come last and must not take what a counted one can have.
    if (best != kNone && !samples.truths[best].ignored && truth.ignored) break;
    if (candidate.overlap < least) continue;
    least = candidate.overlap;
    best = candidate.truth;
  }
  return best;
}

}  // namespace

double box_area(const Box& box) {
  const double w = extent(box.x0, box.x1);
  const double h = extent(box.y0, box.y1);
  return w > 0 && h > 0 ? w * h : 0;
}

Overlaps find_overlaps(const ClassSamples& samples, double threshold) {
  Overlaps result;
  result.begin.reserve(samples.guesses.size() + 1);
  for (const ImageRange& image : samples.images) {
    for (std::size_t g = image.guess_begin; g < image.guess_end; ++g) {
      result.begin.push_back(result.candidates.size());
      for (std::size_t t = image.truth_begin; t < image.truth_end; ++t) {
        const double value = overlap(samples.guesses[g].box, samples.truths[t]);
        // match_coco lowers a threshold of 1 by 1e-10.
        if (value >= threshold - 1e-9) result.candidates.push_back({t, value});
      }
    }
  }
  result.begin.push_back(result.candidates.size());
  return result;
}

std::vector<Outcome> match_coco(const ClassSamples& samples, const Overlaps& overlaps,
                                double threshold, int max_guesses) {
  std::vector<Outcome> outcomes(samples.guesses.size(), Outcome::kDropped);
  std::vector<bool> taken(samples.truths.size(), false);
  for (const ImageRange& image : samples.images) {
    std::size_t end = image.guess_end;
    if (max_guesses > 0) {
      end = std::min(end, image.guess_begin + static_cast<std::size_t>(max_guesses));
    }
    for (std::size_t g = image.guess_begin; g < end; ++g) {
      const std::size_t found = choose_coco(samples, overlaps, g, taken, threshold);
      if (found != kNone) {
        taken[found] = true;
        outcomes[g] = samples.truths[found].ignored ? Outcome::kNoEffect : Outcome::kHit;
      } else {
        const bool counts = box_area(samples.guesses[g].box) <= kLargestArea;
        outcomes[g] = counts ? Outcome::kFalseAlarm : Outcome::kNoEffect;
      }
    }
  }
  return outcomes;
}

std::vector<Outcome> match_voc(const ClassSamples& samples, const Overlaps& overlaps,
                               double threshold) {
  std::vector<Outcome> outcomes(samples.guesses.size(), Outcome::kFalseAlarm);
  std::vector<bool> taken(samples.truths.size(), false);
  for (std::size_t g = 0; g < samples.guesses.size(); ++g) {
    const Candidate* best = nullptr;
    bool in_crowd = false;
    for (std::size_t i = overlaps.begin[g]; i < overlaps.begin[g + 1]; ++i) {
      const Candidate& candidate = overlaps.candidates[i];
      if (candidate.overlap < threshold) continue;
      if (samples.truths[candidate.truth].crowd) {
        in_crowd = true;
      } else if (best == nullptr || candidate.overlap > best->overlap) {
        best = &candidate;
      }
    }
    if (best == nullptr) {
      if (in_crowd) outcomes[g] = Outcome::kNoEffect;
    } else if (samples.truths[best->truth].ignored) {
      outcomes[g] = Outcome::kNoEffect;
    } else if (!taken[best->truth]) {
      taken[best->truth] = true;
      outcomes[g] = Outcome::kHit;
    }
  }
  return outcomes;
}

}  // namespace sparing::metrics
