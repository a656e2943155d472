#include "sparing/metrics/average_precision.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "sparing/metrics/matching.h"

namespace sparing {
namespace {

using metrics::ClassSamples;
using metrics::Guess;
using metrics::ImageRange;
using metrics::Outcome;
using metrics::Overlaps;
using metrics::Truth;

constexpr double kVocIou = 0.5;
constexpr int kRecallSteps = 101;
constexpr int kIouSteps = 10;

// numpy.linspace(first, last, count)[i] to the last bit, which pycocotools' thresholds are made
// with: comparisons with them decide at equality.
double linspace(double first, double last, int count, int i) {
  if (i == count - 1) return last;
  return i * ((last - first) / (count - 1)) + first;
}

// --- input -------------------------------------------------------------------------------------

std::string describe(const Box& box) {
  return "box (" + std::to_string(box.x0) + ", " + std::to_string(box.y0) + ", " +
         std::to_string(box.x1) + ", " + std::to_string(box.y1) + ")";
}

Error bad_item(const char* side, std::int64_t image, std::size_t index, const std::string& problem,
               const std::string& fix) {
  return {ErrorCode::kInvalidArgument,
          std::string(side) + " " + std::to_string(index) + " of image " + std::to_string(image),
          problem, fix};
}

Status validate(const DetectionSet& detections, const AnnotationSet& ground_truth) {
  for (const ImageDetections& image : detections.images) {
    for (std::size_t i = 0; i < image.detections.size(); ++i) {
      const Detection& d = image.detections[i];
      if (!is_finite(d.box)) {
        return bad_item("detection", image.image_id, i, describe(d.box) + " is not finite",
                        "leave it out or correct it");
      }
      if (!(d.score >= 0 && d.score <= 1)) {
        return bad_item("detection", image.image_id, i,
                        "score " + std::to_string(d.score) + " is out of range",
                        "scale scores to 0..1");
      }
    }
  }
  for (const ImageAnnotations& image : ground_truth.images) {
    for (std::size_t i = 0; i < image.objects.size(); ++i) {
      const Annotation& a = image.objects[i];
      if (!is_finite(a.box)) {
        return bad_item("object", image.image_id, i, describe(a.box) + " is not finite",
                        "leave it out or correct it");
      }
    }
  }
  return {};
}

// What both sets hold for one image id.
struct ImagePair {
  std::vector<const ImageDetections*> detections;
  std::vector<const ImageAnnotations*> objects;
};

std::map<std::int64_t, ImagePair> pair_images(const DetectionSet& detections,
                                              const AnnotationSet& ground_truth) {
  std::map<std::int64_t, ImagePair> pairs;
  for (const auto& image : detections.images) pairs[image.image_id].detections.push_back(&image);
  for (const auto& image : ground_truth.images) pairs[image.image_id].objects.push_back(&image);
  return pairs;
}

using SamplesByClass = std::map<int, ClassSamples>;

// The class's samples, or nullptr when it is not to be evaluated.
ClassSamples* find_class(SamplesByClass& classes, int id, bool only_known) {
  if (!only_known) return &classes[id];
  const auto it = classes.find(id);
  return it == classes.end() ? nullptr : &it->second;
}

void add_image(const ImagePair& pair, SamplesByClass& classes, bool only_known) {
  for (const ImageDetections* image : pair.detections) {
    for (const Detection& d : image->detections) {
      ClassSamples* samples = find_class(classes, d.class_id, only_known);
      if (samples != nullptr) samples->guesses.push_back({d.box, d.score});
    }
  }
  for (const ImageAnnotations* image : pair.objects) {
    for (const Annotation& a : image->objects) {
      ClassSamples* samples = find_class(classes, a.class_id, only_known);
      if (samples == nullptr) continue;
      const double area = a.area >= 0 ? a.area : metrics::box_area(a.box);
      const bool ignored = a.crowd || a.ignore || !(area <= metrics::kLargestArea);
      samples->truths.push_back({a.box, a.crowd, ignored});
      if (!ignored) ++samples->counted;
    }
  }
}

// Ends the current image of one class: what was added since the last one is its content.
void close_image(ClassSamples& samples) {
  ImageRange range{0, samples.truths.size(), 0, samples.guesses.size()};
  if (!samples.images.empty()) {
    range.truth_begin = samples.images.back().truth_end;
    range.guess_begin = samples.images.back().guess_end;
  }
  if (range.truth_begin == range.truth_end && range.guess_begin == range.guess_end) return;
  const auto part = [](auto& all, std::size_t begin, std::size_t end) {
    return std::span(all).subspan(begin, end - begin);
  };
  const auto truths = part(samples.truths, range.truth_begin, range.truth_end);
  std::stable_sort(truths.begin(), truths.end(),
                   [](const Truth& a, const Truth& b) { return a.ignored < b.ignored; });
  const auto guesses = part(samples.guesses, range.guess_begin, range.guess_end);
  std::stable_sort(guesses.begin(), guesses.end(),
                   [](const Guess& a, const Guess& b) { return a.score > b.score; });
  samples.images.push_back(range);
}

SamplesByClass collect(const std::map<std::int64_t, ImagePair>& pairs,
                       const std::vector<int>& wanted) {
  SamplesByClass classes;
  for (const int id : wanted) classes[id];
  for (const auto& [id, pair] : pairs) {
    add_image(pair, classes, !wanted.empty());
    for (auto& [class_id, samples] : classes) close_image(samples);
  }
  return classes;
}

// --- figures -----------------------------------------------------------------------------------

// The detections of all images by descending score.
std::vector<std::size_t> rank(const ClassSamples& samples) {
  std::vector<std::size_t> order(samples.guesses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return samples.guesses[a].score > samples.guesses[b].score;
  });
  return order;
}

// Precision and recall after each detection that counts, best first; the precision is the envelope:
// the greatest at this recall or a higher one.
struct Curve {
  std::vector<double> recall;
  std::vector<double> precision;
};

Curve make_curve(const std::vector<std::size_t>& order, const std::vector<Outcome>& outcomes,
                 long long objects) {
  Curve curve;
  double hits = 0;
  double false_alarms = 0;
  for (const std::size_t i : order) {
    if (outcomes[i] == Outcome::kHit) {
      ++hits;
    } else if (outcomes[i] == Outcome::kFalseAlarm) {
      ++false_alarms;
    } else {
      continue;
    }
    curve.recall.push_back(hits / static_cast<double>(objects));
    curve.precision.push_back(hits / (hits + false_alarms));
  }
  for (std::size_t i = curve.precision.size(); i-- > 1;) {
    curve.precision[i - 1] = std::max(curve.precision[i - 1], curve.precision[i]);
  }
  return curve;
}

double area_under(const Curve& curve) {
  double area = 0;
  double last_recall = 0;
  for (std::size_t i = 0; i < curve.recall.size(); ++i) {
    area += (curve.recall[i] - last_recall) * curve.precision[i];
    last_recall = curve.recall[i];
  }
  return area;
}

double mean_at_101_recalls(const Curve& curve) {
  double sum = 0;
  for (int i = 0; i < kRecallSteps; ++i) {
    const auto it =
        std::lower_bound(curve.recall.begin(), curve.recall.end(), linspace(0, 1, kRecallSteps, i));
    if (it == curve.recall.end()) break;
    sum += curve.precision[static_cast<std::size_t>(it - curve.recall.begin())];
  }
  return sum / kRecallSteps;
}

struct Counts {
  long long hits = 0;
  long long false_alarms = 0;
  long long objects = 0;
};

double ratio(double numerator, double denominator) {
  return denominator > 0 ? numerator / denominator : 0.0;
}

// Fills precision, recall and f1, which ClassEvaluation and Evaluation both have.
template <class T>
void set_rates(const Counts& counts, T& out) {
  const auto hits = static_cast<double>(counts.hits);
  out.precision = ratio(hits, hits + static_cast<double>(counts.false_alarms));
  out.recall = ratio(hits, static_cast<double>(counts.objects));
  out.f1 = ratio(2 * out.precision * out.recall, out.precision + out.recall);
}

Counts count_confident(const ClassSamples& samples, const std::vector<Outcome>& outcomes,
                       double confidence) {
  // Scores are float: a score of 0.7f shall pass a confidence of 0.7.
  const auto least = static_cast<float>(confidence);
  Counts counts;
  counts.objects = samples.counted;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (samples.guesses[i].score < least) continue;
    counts.hits += outcomes[i] == Outcome::kHit;
    counts.false_alarms += outcomes[i] == Outcome::kFalseAlarm;
  }
  return counts;
}

void set_average_precisions(const ClassSamples& samples, const Overlaps& overlaps,
                            int max_detections, ClassEvaluation& out) {
  const std::vector<std::size_t> order = rank(samples);
  const auto curve = [&](const std::vector<Outcome>& outcomes) {
    return make_curve(order, outcomes, samples.counted);
  };
  out.ap50_voc = area_under(curve(match_voc(samples, overlaps, kVocIou)));
  double sum = 0;
  for (int i = 0; i < kIouSteps; ++i) {
    const double threshold = linspace(0.5, 0.95, kIouSteps, i);
    const double ap =
        mean_at_101_recalls(curve(match_coco(samples, overlaps, threshold, max_detections)));
    if (i == 0) out.ap50_coco = ap;
    sum += ap;
  }
  out.ap_coco = sum / kIouSteps;
}

std::string label_of(int id, const DetectionSet& detections, const AnnotationSet& ground_truth) {
  for (const auto* labels : {&ground_truth.labels, &detections.labels}) {
    if (id >= 0 && static_cast<std::size_t>(id) < labels->size()) {
      return (*labels)[static_cast<std::size_t>(id)];
    }
  }
  return "";
}

void set_means(Evaluation& evaluation) {
  double voc = 0, coco50 = 0, coco = 0;
  int with_objects = 0;
  for (const ClassEvaluation& row : evaluation.classes) {
    if (row.ground_truth == 0) continue;
    ++with_objects;
    voc += row.ap50_voc;
    coco50 += row.ap50_coco;
    coco += row.ap_coco;
  }
  if (with_objects == 0) return;
  evaluation.ap50_voc = voc / with_objects;
  evaluation.ap50_coco = coco50 / with_objects;
  evaluation.ap_coco = coco / with_objects;
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

Result<Evaluation> evaluate(const DetectionSet& detections, const AnnotationSet& ground_truth,
                            const EvaluationOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  SPARING_RETURN_IF_ERROR(validate(detections, ground_truth));
  const auto pairs = pair_images(detections, ground_truth);
  Evaluation evaluation;
  evaluation.images = static_cast<long long>(pairs.size());
  Counts all;
  for (const auto& [class_id, samples] : collect(pairs, options.classes)) {
    ClassEvaluation row;
    row.class_id = class_id;
    row.label = label_of(class_id, detections, ground_truth);
    row.ground_truth = samples.counted;
    row.detections = static_cast<long long>(samples.guesses.size());
    const Overlaps overlaps = find_overlaps(samples, std::min(kVocIou, options.iou));
    if (samples.counted > 0) {
      set_average_precisions(samples, overlaps, options.max_detections, row);
    }
    const Counts counts =
        count_confident(samples, match_coco(samples, overlaps, options.iou, 0), options.confidence);
    set_rates(counts, row);
    all.hits += counts.hits;
    all.false_alarms += counts.false_alarms;
    all.objects += counts.objects;
    evaluation.classes.push_back(std::move(row));
  }
  set_rates(all, evaluation);
  set_means(evaluation);
  return evaluation;
}

DetectionSet map_classes(const DetectionSet& detections, const AnnotationSet& ground_truth,
                         long long* removed) {
  if (removed != nullptr) *removed = 0;
  if (detections.labels.empty() || ground_truth.labels.empty()) return detections;
  std::map<std::string, int> ids;  // of two labels that differ in case only, the first
  for (std::size_t i = 0; i < ground_truth.labels.size(); ++i) {
    ids.emplace(lower(ground_truth.labels[i]), static_cast<int>(i));
  }
  std::vector<int> new_id;  // by old id; -1: no namesake
  for (const std::string& label : detections.labels) {
    const auto it = ids.find(lower(label));
    new_id.push_back(it == ids.end() ? -1 : it->second);
  }
  DetectionSet mapped{ground_truth.labels, {}};
  for (const ImageDetections& image : detections.images) {
    ImageDetections& kept = mapped.images.emplace_back(ImageDetections{image.image_id, {}});
    for (Detection d : image.detections) {
      const bool known = d.class_id >= 0 && static_cast<std::size_t>(d.class_id) < new_id.size();
      d.class_id = known ? new_id[static_cast<std::size_t>(d.class_id)] : -1;
      if (d.class_id >= 0) {
        kept.detections.push_back(d);
      } else if (removed != nullptr) {
        ++*removed;
      }
    }
  }
  return mapped;
}

}  // namespace sparing
