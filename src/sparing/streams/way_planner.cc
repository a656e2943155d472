#include "sparing/streams/way_planner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sparing/streams/model_canvas.h"

namespace sparing {
namespace {

// How fast what was measured is forgotten, a window or a refresh.
constexpr double kKeep = 0.9;
// How many compared objects an assumption is worth.
constexpr double kPriorWeight = 20;
// Two good looks at the same picture agree in so many objects: those of low confidence come and go.
constexpr double kAgreement = 0.93;
// Size (square root of the area), in drawn pixels, at which about half of the objects are found,
// and how fast that changes: the shape of packed.md's curves for NanoDet on people and on cars;
// measurements soon replace it.
constexpr double kHalfSize = 11;
constexpr double kSizeSpread = 3;
// Assumed before it is measured: so many objects are lost between key frames of such a distance.
constexpr double kPriorGapMiss = 0.05;
constexpr double kPriorGapSeconds = 0.3;
// Key frames move apart by as much at a time, or by one frame where that is more.
constexpr double kStepSeconds = 0.1;
// StreamOptions::max_every's default, and never less than so many frames.
constexpr double kMostSeconds = 0.4;
constexpr int kLeastMostFrames = 4;
// Of streams that do not tell theirs.
constexpr double kUsualRate = 10;
constexpr double kEnoughEvidence = 4;  // objects, by their scores
// What regions of motion add to those of known objects, where packing was not tried yet.
constexpr double kMotionShare = 1.4;
// Objects of at least this confidence tell of sizes.
constexpr double kSureScore = 0.4;
// The first frame of a stream is drawn at half its size, between these numbers of pixels.
constexpr double kLeastStartPixels = 200000;
constexpr double kMostStartPixels = 600000;
// Every second whole frame that measures recall is larger by this than the objects seen so far ask
// for: smaller ones would never be known else.
constexpr double kLookFurther = 1.5;
// The present way's cost is taken for so much less, against restlessness.
constexpr double kLoyalty = 0.9;

double found_share(double drawn_size) {
  return 1 / (1 + std::exp(-(drawn_size - kHalfSize) / kSizeSpread));
}

// Whether interpolation between the neighbours would have put the object where it was found. What
// comes, goes or moves too far to be followed is not.
bool found_between(const std::vector<SeenObject>& before, const std::vector<SeenObject>& after,
                   const SeenObject& object) {
  const auto find = [&](const std::vector<SeenObject>& objects) {
    const auto it = std::find_if(objects.begin(), objects.end(),
                                 [&](const SeenObject& o) { return o.id == object.id; });
    return it == objects.end() ? nullptr : &it->detection.box;
  };
  const Box* a = find(before);
  const Box* b = find(after);
  if (a == nullptr || b == nullptr) return false;
  const Box between{(a->x0 + b->x0) / 2, (a->y0 + b->y0) / 2, (a->x1 + b->x1) / 2,
                    (a->y1 + b->y1) / 2};
  return iou(between, object.detection.box) >= 0.5f;
}

int sighted(const std::vector<SeenObject>& objects, std::int64_t id) {
  return std::any_of(objects.begin(), objects.end(),
                     [id](const SeenObject& o) { return o.id == id; })
             ? 1
             : 0;
}

double size_of(const Detection& object) { return std::sqrt(std::max(object.box.area(), 1.0f)); }

std::size_t nearest(std::span<const double> scales, double scale) {
  const auto distance = [scale](double s) { return std::abs(std::log(s / scale)); };
  const auto best = std::min_element(scales.begin(), scales.end(),
                                     [&](double a, double b) { return distance(a) < distance(b); });
  return static_cast<std::size_t>(best - scales.begin());
}

}  // namespace

double frame_scale_above(double scale) {
  for (std::size_t i = kFrameScales.size(); i-- > 0;) {
    if (kFrameScales[i] >= scale) return kFrameScales[i];
  }
  return kFrameScales.front();
}

double frame_scale_below(double scale) {
  for (const double s : kFrameScales) {
    if (s <= scale) return s;
  }
  return kFrameScales.back();
}

WayPlanner::WayPlanner(const StreamOptions& options, const MergeOptions& merge,
                       const HeightParameters& heights, double frame_rate)
    : options_(options),
      merge_(merge),
      heights_(heights),
      frame_rate_(frame_rate > 0 ? frame_rate : kUsualRate),
      step_(std::max(1, static_cast<int>(std::min(kStepSeconds * frame_rate_ + 1e-6, 10.0)))) {
  way_ = options.mode == "frame"   ? DetectWay::kWholeFrame
         : options.mode == "tiles" ? DetectWay::kTiles
                                   : DetectWay::kPacked;
  if (options.scale > 0) scale_ = options.scale;
  every_ = options.every > 0 ? options.every : 1;
}

double WayPlanner::Measured::recall(double prior) const {
  const double measured = (prior * kAgreement * kPriorWeight + hits) / (kPriorWeight + total);
  return std::min(1.0, measured / kAgreement);
}

// The size that a tenth of the objects is below, sure ones counting more; 0: none is known.
double WayPlanner::low_size() const {
  std::vector<std::pair<double, double>> sizes;  // with their weights
  double all = 0;
  for (const SeenObject& o : objects_) {
    const double weight = o.detection.score * o.detection.score;
    sizes.emplace_back(size_of(o.detection), weight);
    all += weight;
  }
  std::sort(sizes.begin(), sizes.end());
  double below = 0;
  for (const auto& [size, weight] : sizes) {
    below += weight;
    if (below >= 0.1 * all) return size;
  }
  return 0;
}

double WayPlanner::region_scale_limit(bool explore) const {
  if (explore) return std::numeric_limits<double>::infinity();
  const double low = low_size();
  if (low <= 0) return 1;  // nothing is known that would be worth enlarging
  ScaleFeatures smallest;
  smallest.area = low * low;
  smallest.confidence = 1;
  return heights_.sure_height / apparent_height(smallest);
}

double WayPlanner::reference_scale() const {
  const double low = low_size();
  if (low <= 0) return 1;
  // Small objects are drawn so large that hardly one is missed.
  const double wanted = (kHalfSize + 4 * kSizeSpread) / low;
  return frame_scale_above(wanted);
}

double WayPlanner::refresh_scale() const {
  const double reference = reference_scale();
  return refreshes_ % 2 == 0
             ? reference
             : std::max(reference, std::min(1.0, frame_scale_above(kLookFurther * reference)));
}

double WayPlanner::whole_scale() const {
  if (options_.scale > 0 && options_.mode == "frame") return options_.scale;
  const double reference = reference_scale();
  if (objects_.empty()) return reference;
  for (std::size_t i = kFrameScales.size(); i-- > 0 && kFrameScales[i] < reference;) {
    if (recall_of(DetectWay::kWholeFrame, i) >= options_.target_recall) return kFrameScales[i];
  }
  return reference;
}

bool WayPlanner::wants_arrivals() const {
  return wants_regions() && options_.every == 0 && every_ > kLeastMostFrames && !tight_;
}

double WayPlanner::start_scale(Size frame) {
  const double pixels = std::max(1.0, static_cast<double>(frame.width) * frame.height);
  const double start = std::clamp(pixels / 4, kLeastStartPixels, kMostStartPixels);
  return std::min(1.0, std::sqrt(start / pixels));
}

double WayPlanner::first_scale(Size frame) const {
  return options_.scale > 0 ? options_.scale : start_scale(frame);
}

void WayPlanner::observe_objects(std::span<const std::vector<SeenObject>> key_frames, Size frame) {
  frame_ = frame;
  std::vector<SeenObject> seen;
  for (const auto& objects : key_frames) {
    for (const SeenObject& o : objects) {
      if (o.detection.score >= options_.follow_score) seen.push_back(o);
    }
  }
  if (!seen.empty()) {
    objects_ = std::move(seen);
    object_frames_ = static_cast<int>(key_frames.size());
  }

  if (keys_every_ != every_) {
    keys_every_ = every_;
    last_keys_.clear();
  }
  gap_misses_ *= kKeep;
  gap_squares_ *= kKeep;
  // The last key frames of the window before come first, so that short windows tell something, too.
  std::vector<std::vector<SeenObject>> keys = std::move(last_keys_);
  keys.insert(keys.end(), key_frames.begin(), key_frames.end());
  for (std::size_t k = 1; k + 1 < keys.size(); ++k) {
    for (const SeenObject& object : keys[k]) {
      if (object.id < 0 || object.detection.score < kSureScore) continue;
      // One neighbour without it may be a miss of the network's, or its first or last sight.
      const int sights = sighted(keys[k - 1], object.id) + sighted(keys[k + 1], object.id);
      const double weight = object.detection.score * (sights == 1 ? 0.5 : 1.0);
      gap_squares_ += weight * 4 * every_ * every_;
      if (!found_between(keys[k - 1], keys[k + 1], object)) gap_misses_ += weight;
    }
  }
  const std::size_t kept = std::min<std::size_t>(keys.size(), 2);
  last_keys_.assign(std::make_move_iterator(keys.end() - static_cast<std::ptrdiff_t>(kept)),
                    std::make_move_iterator(keys.end()));
}

void WayPlanner::observe_packed(double pixels, int key_frames) {
  if (key_frames <= 0) return;
  const double mean = pixels / key_frames / (scale_ * scale_);
  packed_pixels_ = packed_pixels_ < 0 ? mean : 0.3 * packed_pixels_ + 0.7 * mean;
  packed_objects_pixels_ = object_pixels();
}

const WayPlanner::Measured& WayPlanner::measured_of(DetectWay way, double scale) const {
  return way == DetectWay::kPacked  ? packed_[nearest(kPackedFactors, scale)]
         : way == DetectWay::kTiles ? tiles_
                                    : frames_[nearest(kFrameScales, scale)];
}

void WayPlanner::observe_recall(DetectWay way, double scale, std::span<const Detection> found,
                                std::span<const Detection> reference) {
  Measured& measured = const_cast<Measured&>(measured_of(way, scale));
  measured.hits *= kKeep;
  measured.total *= kKeep;
  for (const Detection& object : reference) {
    if (object.score < kSureScore) continue;
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
  const double reference = reference_scale();
  double all = 0;
  double found = 0;
  for (const SeenObject& o : objects_) {
    all += found_share(size_of(o.detection) * std::max(scale, reference));
    found += found_share(size_of(o.detection) * scale);
  }
  return found / all;
}

// Of known objects in packed regions, the share that is found when they are drawn smaller by the
// factor than what is safe.
double WayPlanner::shrunk_recall(double factor) const {
  const double safe = heights_.sure_height / kHeightOfArea;
  return std::min(1.0, found_share(safe * factor) / found_share(safe));
}

double WayPlanner::recall_of(DetectWay way, std::size_t scale_index) const {
  if (way == DetectWay::kWholeFrame) {
    return frames_[scale_index].recall(drawn_recall(kFrameScales[scale_index]));
  }
  if (way == DetectWay::kTiles) return tiles_.recall(drawn_recall(1));
  return packed_[scale_index].recall(shrunk_recall(kPackedFactors[scale_index]));
}

// The error of interpolation grows with the square of the distance of key frames, so what was
// measured over twice the present one, whatever it was then, tells of all others.
double WayPlanner::every_recall(int every) const {
  if (every <= 1) return 1;
  const double prior_gap = kPriorGapSeconds * frame_rate_;
  const double per_square = (gap_misses_ + kPriorWeight * kPriorGapMiss) /
                            (gap_squares_ + kPriorWeight * prior_gap * prior_gap);
  return std::max(0.0, 1 - per_square * every * every);
}

// Farther apart only step by step, when enough objects have shown that it can be.
int WayPlanner::farthest(bool tight) const {
  if (tight) return options_.max_every > 0 ? options_.max_every : kKeyDistances.back();
  const int most =
      options_.max_every > 0
          ? options_.max_every
          : std::max(kLeastMostFrames, static_cast<int>(std::lround(kMostSeconds * frame_rate_)));
  const double evidence = gap_squares_ / (4.0 * every_ * every_);
  return std::min(most, every_ + (evidence >= kEnoughEvidence ? step_ : 0));
}

// Of a key frame at the factor 1: as it was, by how the known objects have become more or less
// since.
double WayPlanner::packed_pixels() const {
  const double now = object_pixels();
  if (packed_pixels_ < 0) return now * kMotionShare;
  if (wants_regions() || now <= 0 || packed_objects_pixels_ <= 0) return packed_pixels_;
  return packed_pixels_ * now / packed_objects_pixels_;
}

// Of the known objects' regions in a key frame, at the factor 1.
double WayPlanner::object_pixels() const {
  double pixels = 0;
  for (const SeenObject& o : objects_) {
    const Box& box = o.detection.box;
    const double pad = std::max(merge_.min_pad, merge_.pad_share * std::sqrt(box.area()));
    ScaleFeatures features;
    features.area = std::max(box.area(), 1.0f);
    features.height = box.height();
    features.confidence = std::max(o.detection.score, 0.01f);
    const double scale =
        std::clamp(safe_height(heights_, o.detection.score) / apparent_height(features), 0.1, 2.0);
    pixels += (box.width() + 2 * pad) * (box.height() + 2 * pad) * scale * scale;
  }
  return pixels / object_frames_;
}

StreamChoices WayPlanner::choices(const WayCosts& costs, int frames, bool tight) const {
  StreamChoices result;
  result.weight = std::max(1.0, static_cast<double>(objects_.size()) / object_frames_);
  const auto whole = [&](double scale) { return costs.whole(scaled(frame_, scale)); };
  const int farthest = this->farthest(tight);
  const auto add = [&](DetectWay way, double scale, double look, double recall) {
    for (const int every : kKeyDistances) {
      if (options_.every > 0 ? every != options_.every : every > farthest) continue;
      const double looks = std::max(1.0, static_cast<double>(frames) / every);
      result.choices.push_back(
          {way, scale, every, look * looks, std::clamp(recall * every_recall(every), 0.0, 1.0)});
    }
    if (options_.every > 0 && std::find(kKeyDistances.begin(), kKeyDistances.end(),
                                        options_.every) == kKeyDistances.end()) {
      const double looks = std::max(1.0, static_cast<double>(frames) / options_.every);
      result.choices.push_back(
          {way, scale, options_.every, look * looks, std::clamp(recall, 0.0, 1.0)});
    }
  };
  const bool all = options_.mode == "auto";
  if (all || options_.mode == "packed") {
    for (std::size_t i = 0; i < kPackedFactors.size(); ++i) {
      const double factor = options_.scale > 0 ? options_.scale : kPackedFactors[i];
      const std::size_t index = options_.scale > 0 ? nearest(kPackedFactors, factor) : i;
      add(DetectWay::kPacked, factor, packed_pixels() * factor * factor * costs.packed_pixel,
          recall_of(DetectWay::kPacked, index));
      if (options_.scale > 0 || !tight) break;
    }
  }
  if (all || options_.mode == "frame") {
    for (std::size_t i = 0; i < kFrameScales.size(); ++i) {
      const double scale = options_.scale > 0 ? options_.scale : kFrameScales[i];
      if (options_.scale <= 0 && scale > reference_scale()) continue;
      const std::size_t index = options_.scale > 0 ? nearest(kFrameScales, scale) : i;
      add(DetectWay::kWholeFrame, scale, whole(scale), recall_of(DetectWay::kWholeFrame, index));
      if (options_.scale > 0) break;
    }
  }
  if (options_.mode == "tiles") {
    const double overlap = 1 / ((1 - options_.tile_overlap) * (1 - options_.tile_overlap));
    const double scale = options_.scale > 0 ? options_.scale : 1;
    add(DetectWay::kTiles, scale, whole(scale) * overlap, recall_of(DetectWay::kTiles, 0));
  }
  return result;
}

std::size_t WayPlanner::best(const StreamChoices& choices) const {
  double most = 0;
  for (const StreamChoice& c : choices.choices) most = std::max(most, c.recall);
  const double target = options_.target_recall * most;
  std::size_t best = 0;
  double best_cost = std::numeric_limits<double>::infinity();
  double best_recall = -1;
  for (std::size_t i = 0; i < choices.choices.size(); ++i) {
    const StreamChoice& c = choices.choices[i];
    const bool present = c.way == way_ && c.every == every_ && c.scale == scale_;
    const double recall = std::min(c.recall, target);
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

void WayPlanner::choose(const StreamChoice& choice, bool tight) {
  way_ = choice.way;
  scale_ = choice.scale;
  every_ = choice.every;
  tight_ = tight;
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
  const Measured& m = measured_of(way_, scale_);
  if (m.total <= 0) return {};
  return {m.hits / m.total, m.total};
}

}  // namespace sparing
