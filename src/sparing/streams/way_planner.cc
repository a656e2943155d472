#include "sparing/streams/way_planner.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sparing {
namespace {

// How fast what was measured is forgotten, a window or a refresh.
constexpr double kKeep = 0.9;
// How many compared objects an assumption is worth.
constexpr double kPriorWeight = 12;
// Height, in drawn pixels, at which about half of the objects are found, and how fast that changes:
// the shape of packed.md's curves for NanoDet; measurements soon replace it.
constexpr double kHalfHeight = 14;
constexpr double kHeightSpread = 5;
// What regions of motion add to those of known objects, where packing was not tried yet.
constexpr double kMotionShare = 1.4;
// Objects of at least this confidence tell of sizes.
constexpr double kSureScore = 0.4;
constexpr double kStartPixels = 200000;
constexpr double kExpectedFill = 0.85;
// The present way's cost is taken for so much less, against restlessness.
constexpr double kLoyalty = 0.9;

double found_share(double drawn_height) {
  return 1 / (1 + std::exp(-(drawn_height - kHalfHeight) / kHeightSpread));
}

std::size_t nearest_scale(double scale) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < kFrameScales.size(); ++i) {
    if (std::abs(std::log(kFrameScales[i] / scale)) < std::abs(std::log(kFrameScales[best] / scale)))
      best = i;
  }
  return best;
}

}  // namespace

WayPlanner::WayPlanner(const StreamOptions& options, const MergeOptions& merge,
                       const HeightParameters& heights)
    : options_(options), merge_(merge), heights_(heights) {
  way_ = options.mode == "frame"   ? DetectWay::kWholeFrame
         : options.mode == "tiles" ? DetectWay::kTiles
                                   : DetectWay::kPacked;
  if (options.scale > 0) scale_ = options.scale;
  every_ = options.every > 0 ? options.every : std::min(2, options.max_every);
}

double WayPlanner::Measured::recall(double prior) const {
  return (prior * kPriorWeight + hits) / (kPriorWeight + total);
}

// The height that a tenth of the objects is below; 0: none is known.
double WayPlanner::low_height() const {
  std::vector<float> heights;
  for (const SeenObject& o : objects_) {
    if (o.detection.score >= kSureScore) heights.push_back(o.detection.box.height());
  }
  if (heights.empty()) return 0;
  const auto low = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 10);
  std::nth_element(heights.begin(), low, heights.end());
  return std::max(*low, 1.0f);
}

double WayPlanner::region_scale_limit() const {
  const double low = low_height();
  return low > 0 ? heights_.sure_height / low : std::numeric_limits<double>::infinity();
}

double WayPlanner::reference_scale() const {
  const double low = low_height();
  if (low <= 0) return 1;
  // Small objects are drawn so high that hardly one is missed.
  const double wanted = (kHalfHeight + 4 * kHeightSpread) / low;
  for (std::size_t i = kFrameScales.size(); i-- > 0;) {
    if (kFrameScales[i] >= wanted) return kFrameScales[i];
  }
  return kFrameScales.front();
}

double WayPlanner::whole_scale() const {
  if (options_.scale > 0 && options_.mode == "frame") return options_.scale;
  const double reference = reference_scale();
  for (std::size_t i = kFrameScales.size(); i-- > 0 && kFrameScales[i] < reference;) {
    if (recall_of(DetectWay::kWholeFrame, i) >= options_.target_recall) return kFrameScales[i];
  }
  return reference;
}

double WayPlanner::start_scale(Size frame) {
  const double pixels = std::max(1.0, static_cast<double>(frame.width) * frame.height);
  return std::min(1.0, std::sqrt(kStartPixels / pixels));
}

void WayPlanner::observe_objects(std::span<const std::vector<SeenObject>> key_frames, Size frame) {
  frame_ = frame;
  std::vector<SeenObject> seen;
  for (const auto& objects : key_frames) {
    for (const SeenObject& o : objects) {
      if (o.detection.score >= options_.follow_score) seen.push_back(o);
    }
  }
  if (!seen.empty()) objects_ = std::move(seen);

  if (gap_every_ != every_) {
    gap_hits_ = gap_total_ = 0;
    gap_every_ = every_;
  }
  gap_hits_ *= kKeep;
  gap_total_ *= kKeep;
  const auto find = [](const std::vector<SeenObject>& objects, std::int64_t id) {
    const auto it = std::find_if(objects.begin(), objects.end(),
                                 [id](const SeenObject& o) { return o.id == id; });
    return it == objects.end() ? nullptr : &*it;
  };
  for (std::size_t k = 1; k + 1 < key_frames.size(); ++k) {
    for (const SeenObject& object : key_frames[k]) {
      if (object.id < 0 || object.detection.score < options_.follow_score) continue;
      const SeenObject* before = find(key_frames[k - 1], object.id);
      const SeenObject* after = find(key_frames[k + 1], object.id);
      if (before == nullptr || after == nullptr) continue;
      const auto middle = [](float a, float b) { return (a + b) / 2; };
      const Box& a = before->detection.box;
      const Box& b = after->detection.box;
      const Box between{middle(a.x0, b.x0), middle(a.y0, b.y0), middle(a.x1, b.x1),
                        middle(a.y1, b.y1)};
      gap_total_ += 1;
      gap_hits_ += iou(between, object.detection.box) >= 0.6f ? 1 : 0;
    }
  }
}

void WayPlanner::observe_packed(double pixels, int key_frames) {
  if (key_frames <= 0) return;
  const double mean = pixels / key_frames;
  packed_pixels_ = packed_pixels_ < 0 ? mean : 0.6 * packed_pixels_ + 0.4 * mean;
}

void WayPlanner::observe_recall(DetectWay way, double scale, std::span<const Detection> found,
                                std::span<const Detection> reference) {
  Measured& measured = way == DetectWay::kPacked  ? packed_
                       : way == DetectWay::kTiles ? tiles_
                                                  : frames_[nearest_scale(scale)];
  measured.hits *= kKeep;
  measured.total *= kKeep;
  for (const Detection& object : reference) {
    if (object.score < options_.follow_score) continue;
    const bool hit = std::any_of(found.begin(), found.end(), [&](const Detection& d) {
      return d.class_id == object.class_id && iou(d.box, object.box) >= 0.5f;
    });
    measured.total += object.score;
    measured.hits += hit ? object.score : 0;
  }
}

// Of objects of the sizes seen, the share that is found when the frame is drawn at this scale.
double WayPlanner::drawn_recall(double scale) const {
  if (objects_.empty()) return scale >= 0.5 ? 1 : 2 * scale;
  double all = 0;
  double found = 0;
  for (const SeenObject& o : objects_) {
    all += found_share(o.detection.box.height() * std::max(scale, reference_scale()));
    found += found_share(o.detection.box.height() * scale);
  }
  return found / all;
}

double WayPlanner::recall_of(DetectWay way, std::size_t scale_index) const {
  if (way == DetectWay::kWholeFrame) {
    return frames_[scale_index].recall(drawn_recall(kFrameScales[scale_index]));
  }
  if (way == DetectWay::kTiles) return tiles_.recall(drawn_recall(1));
  return packed_.recall(0.98);
}

// The error of interpolation grows with the square of the distance: what was measured over twice the
// present one tells of all others.
double WayPlanner::every_recall(int every) const {
  const double miss = 1 - (gap_hits_ + 0.9 * kPriorWeight) / (gap_total_ + kPriorWeight);
  const double ratio = every / (2.0 * gap_every_);
  if (every > 1) return std::max(0.0, 1 - miss * ratio * ratio);
  return 1;
}

double WayPlanner::packed_pixels() const {
  if (packed_pixels_ >= 0) return packed_pixels_;
  double pixels = 0;
  for (const SeenObject& o : objects_) {
    const Box& box = o.detection.box;
    const double pad = std::max(merge_.min_pad, merge_.pad_share * std::sqrt(box.area()));
    const double scale =
        std::clamp(safe_height(heights_, o.detection.score) / std::max(box.height(), 1.0f), 0.1, 2.0);
    pixels += (box.width() + 2 * pad) * (box.height() + 2 * pad) * scale * scale;
  }
  return pixels * kMotionShare / kExpectedFill;
}

StreamChoices WayPlanner::choices(double seconds_per_pixel, int frames) const {
  StreamChoices result;
  result.weight = std::max(1.0, static_cast<double>(objects_.size()));
  const double whole = static_cast<double>(frame_.width) * frame_.height;
  const auto add = [&](DetectWay way, double scale, double pixels, double recall) {
    for (const int every : kKeyDistances) {
      if (options_.every > 0 ? every != options_.every
                             : every > options_.max_every || every > 2 * every_)
        continue;
      const double looks = std::max(1.0, static_cast<double>(frames) / every);
      result.choices.push_back({way, scale, every, pixels * seconds_per_pixel * looks,
                                std::clamp(recall * every_recall(every), 0.0, 1.0)});
    }
    if (options_.every > 0 && std::find(kKeyDistances.begin(), kKeyDistances.end(),
                                        options_.every) == kKeyDistances.end()) {
      const double looks = std::max(1.0, static_cast<double>(frames) / options_.every);
      result.choices.push_back({way, scale, options_.every, pixels * seconds_per_pixel * looks,
                                std::clamp(recall, 0.0, 1.0)});
    }
  };
  const bool all = options_.mode == "auto";
  if (all || options_.mode == "packed") {
    add(DetectWay::kPacked, options_.scale > 0 ? options_.scale : 1, packed_pixels(),
        recall_of(DetectWay::kPacked, 0));
  }
  if (all || options_.mode == "frame") {
    for (std::size_t i = 0; i < kFrameScales.size(); ++i) {
      const double scale = options_.scale > 0 ? options_.scale : kFrameScales[i];
      if (options_.scale <= 0 && scale > reference_scale()) continue;
      const std::size_t index = options_.scale > 0 ? nearest_scale(scale) : i;
      add(DetectWay::kWholeFrame, scale, whole * scale * scale,
          recall_of(DetectWay::kWholeFrame, index));
      if (options_.scale > 0) break;
    }
  }
  if (options_.mode == "tiles") {
    const double overlap = 1 / ((1 - options_.tile_overlap) * (1 - options_.tile_overlap));
    const double scale = options_.scale > 0 ? options_.scale : 1;
    add(DetectWay::kTiles, scale, whole * scale * scale * overlap, recall_of(DetectWay::kTiles, 0));
  }
  return result;
}

std::size_t WayPlanner::best(const StreamChoices& choices) const {
  std::size_t best = 0;
  double best_cost = std::numeric_limits<double>::infinity();
  double best_recall = -1;
  for (std::size_t i = 0; i < choices.choices.size(); ++i) {
    const StreamChoice& c = choices.choices[i];
    const bool present = c.way == way_ && c.every == every_ && c.scale == scale_;
    const double recall = std::min(c.recall, options_.target_recall);
    const double cost = c.cost * (present ? kLoyalty : 1);
    // Enough recall first, then the least cost.
    if (recall > best_recall + 1e-9 || (recall > best_recall - 1e-9 && cost < best_cost)) {
      best = i;
      best_cost = cost;
      best_recall = std::max(best_recall, recall);
    }
  }
  return best;
}

void WayPlanner::choose(const StreamChoice& choice) {
  way_ = choice.way;
  scale_ = choice.scale;
  every_ = choice.every;
}

double WayPlanner::trial_scale() const {
  if (options_.mode != "auto" && options_.mode != "frame") return 0;
  if (options_.scale > 0) return 0;
  // The scales that promise enough, the cheapest first; of those the one measured least.
  double least = std::numeric_limits<double>::infinity();
  double scale = 0;
  for (std::size_t i = kFrameScales.size(); i-- > 0;) {
    if (kFrameScales[i] >= reference_scale()) break;
    if (recall_of(DetectWay::kWholeFrame, i) < options_.target_recall - 0.05) continue;
    if (frames_[i].total < least && frames_[i].total < 3 * kPriorWeight) {
      least = frames_[i].total;
      scale = kFrameScales[i];
      break;
    }
  }
  return scale;
}

MeasuredRecall WayPlanner::measured() const {
  const Measured& m = way_ == DetectWay::kPacked  ? packed_
                      : way_ == DetectWay::kTiles ? tiles_
                                                  : frames_[nearest_scale(scale_)];
  if (m.total <= 0) return {};
  return {m.hits / m.total, m.total};
}

}  // namespace sparing
