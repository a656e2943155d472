#include "sparing/roi/optical_flow_extractor.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sparing::roi {
namespace {

constexpr int kLevels = 4;
constexpr int kMinPoints = 2;  // found, to believe them
constexpr std::size_t kMinForScale = 4;
// Objects come nearer or go away by less than this from one tracked picture to the next.
constexpr double kMaxScaleStep = 0.1;
// Points are chosen in the middle of a box: its margins show background.
constexpr double kInnerWidth = 0.7;
constexpr double kInnerHeight = 0.9;
constexpr double kWidenPerFrame = 0.1;  // of the box, for objects that are lost
constexpr double kMaxWiden = 0.6;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double scale_of(std::span<const FlowPoint> from, std::span<const FlowPoint> to) {
  if (from.size() < kMinForScale) return 1;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (std::size_t j = i + 1; j < from.size(); ++j) {
      const double before = std::hypot(from[i].x - from[j].x, from[i].y - from[j].y);
      const double after = std::hypot(to[i].x - to[j].x, to[i].y - to[j].y);
      if (before >= 3) ratios.push_back(after / before);  // pixels: else noise is all there is
    }
  }
  if (ratios.size() < kMinForScale) return 1;
  return std::clamp(median(ratios), 1 - kMaxScaleStep, 1 + kMaxScaleStep);
}

Box moved(const Box& box, const Motion& motion) {
  const double cx = (static_cast<double>(box.x0) + static_cast<double>(box.x1)) / 2 + motion.dx;
  const double cy = (static_cast<double>(box.y0) + static_cast<double>(box.y1)) / 2 + motion.dy;
  const double half_width = static_cast<double>(box.width()) / 2 * motion.scale;
  const double half_height = static_cast<double>(box.height()) / 2 * motion.scale;
  return {static_cast<float>(cx - half_width), static_cast<float>(cy - half_height),
          static_cast<float>(cx + half_width), static_cast<float>(cy + half_height)};
}

Rect inner_part(const Box& box, double factor) {
  const double width = static_cast<double>(box.width()) / factor;
  const double height = static_cast<double>(box.height()) / factor;
  return {static_cast<double>(box.x0) / factor + width * (1 - kInnerWidth) / 2,
          static_cast<double>(box.y0) / factor + height * (1 - kInnerHeight) / 2,
          width * kInnerWidth, height * kInnerHeight};
}

}  // namespace

Motion robust_motion(std::span<const FlowPoint> from, std::span<const FlowPoint> to,
                     FlowPoint centre) {
  Motion motion;
  motion.scale = scale_of(from, to);
  std::vector<double> x, y;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto rest = [&](float p, float q, float c) {
      return static_cast<double>(q - c) - motion.scale * static_cast<double>(p - c);
    };
    x.push_back(rest(from[i].x, to[i].x, centre.x));
    y.push_back(rest(from[i].y, to[i].y, centre.y));
  }
  motion.dx = median(x);
  motion.dy = median(y);
  return motion;
}

void OpticalFlowExtractor::set_objects(std::span<const KnownObject> objects) {
  std::vector<KnownObject> chosen(objects.begin(), objects.end());
  const auto limit = static_cast<std::size_t>(options_.max_objects);
  if (chosen.size() > limit) {
    std::stable_sort(chosen.begin(), chosen.end(), [](const KnownObject& a, const KnownObject& b) {
      return a.detection.score > b.detection.score;
    });
    over_limit_ += static_cast<std::int64_t>(chosen.size() - limit);
    chosen.resize(limit);
  }
  std::vector<Object> next;
  for (const KnownObject& known : chosen) {
    if (!(known.detection.box.area() > 0)) continue;
    Object object;
    object.id = known.id;
    object.class_id = known.detection.class_id;
    object.confidence = known.detection.score;
    object.anchor = object.box = known.detection.box;
    const auto before = std::find_if(objects_.begin(), objects_.end(), [&](const Object& o) {
      return o.id >= 0 && o.id == known.id;
    });
    if (before != objects_.end()) {
      object.vx = before->vx;
      object.vy = before->vy;
      object.has_velocity = before->has_velocity;
      object.features = before->features;
    }
    next.push_back(std::move(object));
  }
  objects_.swap(next);
  anchor_is_valid_ = false;
  frames_since_anchor_ = 0;
  seconds_since_anchor_ = 0;
}

bool OpticalFlowExtractor::track_now() const {
  return frames_since_anchor_ >= options_.flow_interval ||
         std::any_of(objects_.begin(), objects_.end(),
                     [](const Object& o) { return !o.has_velocity && o.lost_frames == 0; });
}

void OpticalFlowExtractor::predict(Object& object) const {
  object.box = moved(object.anchor,
                     {object.vx * seconds_since_anchor_, object.vy * seconds_since_anchor_, 1});
}

Status OpticalFlowExtractor::add(const LumaImage& image, double seconds) {
  ++frames_since_anchor_;
  seconds_since_anchor_ += seconds;
  if (!objects_.empty() && !last_.empty()) {
    if (!anchor_is_valid_) SPARING_RETURN_IF_ERROR(set_anchor());
    for (Object& object : objects_) {
      if (object.lost_frames > 0) ++object.lost_frames;
      predict(object);
    }
    if (track_now()) SPARING_RETURN_IF_ERROR(track_all(image));
    forget_lost(image);
  }
  last_ = image;
  return {};
}

// New objects: they were seen in the last picture.
Status OpticalFlowExtractor::set_anchor() {
  SPARING_RETURN_IF_ERROR(anchor_.build(last_, kLevels));
  for (Object& object : objects_) SPARING_RETURN_IF_ERROR(choose_points(object, last_));
  anchor_is_valid_ = true;
  return {};
}

Status OpticalFlowExtractor::track_all(const LumaImage& image) {
  SPARING_RETURN_IF_ERROR(current_.build(image, kLevels));
  for (Object& object : objects_) SPARING_RETURN_IF_ERROR(track(object, current_, image));
  std::swap(anchor_, current_);
  frames_since_anchor_ = 0;
  seconds_since_anchor_ = 0;
  return {};
}

Status OpticalFlowExtractor::choose_points(Object& object, const LumaImage& image) {
  const Rect area = inner_part(object.box, image.factor());
  const double spacing = std::clamp(0.5 * std::sqrt(area.area() / options_.flow_points), 1.0, 20.0);
  SPARING_ASSIGN_OR_RETURN(object.points, find_corners(image, area, options_.flow_points, spacing));
  return {};
}

Status OpticalFlowExtractor::track(Object& object, const FlowPyramid& to, const LumaImage& image) {
  const double factor = image.factor();
  std::vector<FlowPoint> guess = object.points;
  for (FlowPoint& point : guess) {
    point.x += static_cast<float>(object.vx * seconds_since_anchor_ / factor);
    point.y += static_cast<float>(object.vy * seconds_since_anchor_ / factor);
  }
  SparseFlowOptions settings;
  settings.max_round_trip = options_.flow_round_trip / factor;
  SPARING_ASSIGN_OR_RETURN(const std::vector<FlowTrack> tracks,
                           track_points(anchor_, to, object.points, guess, settings));
  follow(object, tracks, factor);
  if (object.points.size() * 2 < static_cast<std::size_t>(options_.flow_points)) {
    SPARING_RETURN_IF_ERROR(choose_points(object, image));
  }
  object.anchor = object.box;
  return {};
}

void OpticalFlowExtractor::follow(Object& object, std::span<const FlowTrack> tracks,
                                  double factor) {
  std::vector<FlowPoint> from, to;
  double error = 0, correlation = 0, length = 0, square = 0;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    if (!tracks[i].found) continue;
    from.push_back(object.points[i]);
    to.push_back(tracks[i].to);
    error += static_cast<double>(tracks[i].error);
    correlation += static_cast<double>(tracks[i].correlation);
    const double shift =
        factor * std::hypot(to.back().x - from.back().x, to.back().y - from.back().y);
    length += shift;
    square += shift * shift;
  }
  object.points = to;
  if (static_cast<int>(to.size()) < kMinPoints) {  // the prediction stands
    object.lost_frames = std::max(object.lost_frames, 1);
    object.points.clear();
    return;
  }
  const Box& anchor = object.anchor;
  const FlowPoint centre{static_cast<float>((anchor.x0 + anchor.x1) / 2 / factor),
                         static_cast<float>((anchor.y0 + anchor.y1) / 2 / factor)};
  Motion motion = robust_motion(from, to, centre);
  motion.dx *= factor;
  motion.dy *= factor;
  object.box = moved(anchor, motion);
  object.vx = motion.dx / seconds_since_anchor_;
  object.vy = motion.dy / seconds_since_anchor_;
  object.has_velocity = true;
  object.lost_frames = 0;
  const auto n = static_cast<double>(to.size());
  const double frames = frames_since_anchor_;
  object.features.mean_shift = static_cast<float>(length / n / frames);
  object.features.shift_deviation =
      static_cast<float>(std::sqrt(std::max(square / n - length / n * (length / n), 0.0)) / frames);
  object.features.tracking_error = static_cast<float>(error / n);
  object.features.shift_correlation = static_cast<float>(correlation / n);
  // Points that slid out of the object belong to the background.
  std::erase_if(object.points, [&](const FlowPoint& p) {
    const double x = static_cast<double>(p.x) * factor;
    const double y = static_cast<double>(p.y) * factor;
    return x < static_cast<double>(object.box.x0) || x > static_cast<double>(object.box.x1) ||
           y < static_cast<double>(object.box.y0) || y > static_cast<double>(object.box.y1);
  });
}

void OpticalFlowExtractor::forget_lost(const LumaImage& image) {
  const Size frame = image.display_size();
  const int patience = options_.lost == "drop" ? 0 : options_.lost_frames;
  lost_ += static_cast<std::int64_t>(std::erase_if(objects_, [&](const Object& object) {
    return object.lost_frames > patience ||
           !(clip(object.box, frame.width, frame.height).area() > 0);
  }));
}

std::vector<Roi> OpticalFlowExtractor::rois(const Rect& frame) const {
  std::vector<Roi> rois;
  for (const Object& object : objects_) {
    const double widen = std::min(kWidenPerFrame * object.lost_frames, kMaxWiden);
    const Box wide = moved(object.box, {0, 0, 1 + widen});
    Roi roi;
    roi.rect = intersect({static_cast<double>(wide.x0), static_cast<double>(wide.y0),
                          static_cast<double>(wide.width()), static_cast<double>(wide.height())},
                         frame);
    if (roi.rect.empty()) continue;
    roi.source = RoiSource::kFlow;
    roi.object = clip(object.box, frame.width, frame.height);
    roi.class_id = object.class_id;
    roi.confidence = object.confidence;
    roi.object_id = object.id;
    roi.flow = object.features;
    rois.push_back(roi);
  }
  return rois;
}

void OpticalFlowExtractor::clear() {
  objects_.clear();
  last_ = LumaImage{};
  anchor_is_valid_ = false;
  frames_since_anchor_ = 0;
  seconds_since_anchor_ = 0;
}

}  // namespace sparing::roi
