#include "sparing/roi/roi_extractor.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "sparing/flow/luma_image.h"
#include "sparing/roi/background_extractor.h"
#include "sparing/roi/difference_extractor.h"
#include "sparing/roi/global_change.h"
#include "sparing/roi/optical_flow_extractor.h"
#include "sparing/roi/redundancy.h"

namespace sparing {
namespace {

constexpr std::int64_t kAutoPixels = 250000;
// Below this share of changed pixels not even a moved camera makes a storm of regions.
constexpr double kSuspicious = 0.06;
// A curve or a shift explains a change that it reduces to this share.
constexpr double kExplained = 0.5;
// Of a followed object's box, on each side: shadows, and boxes that are a little off.
constexpr double kKnownMargin = 0.08;
constexpr double kLeastShift = 0.7;  // luma pixels

constexpr std::string_view kChangeNames[] = {"none", "no_reference", "light", "camera_motion",
                                             "large"};

int choose_factor(const std::string& reduction, Size display) {
  if (reduction != "auto" && !reduction.empty()) return std::stoi(reduction);
  const std::int64_t pixels = std::int64_t{display.width} * display.height;
  if (pixels <= kAutoPixels) return 1;
  return pixels <= 4 * kAutoPixels ? 2 : 4;
}

}  // namespace

std::string_view to_string(GlobalChange change) {
  return kChangeNames[static_cast<std::size_t>(change)];
}

struct RoiExtractor::Impl {
  explicit Impl(const RoiOptions& o)
      : options(o),
        flow(o),
        difference({o.gap, o.threshold, o.least_threshold}),
        background({o.background_seconds, o.background_threshold}) {}

  Result<FrameRois> add(const VideoFrame& frame);
  FrameRois collect(const VideoFrame& frame, GlobalChange change);
  GlobalChange compare(double seconds);
  GlobalChange judge(double changed);
  void add_boxes(const roi::MaskBoxes& found, RoiSource source, const Rect& frame,
                 std::vector<Roi>& rois);
  void forget();

  std::vector<Rect> known_areas(const std::vector<Roi>& followed);

  RoiOptions options;
  roi::OpticalFlowExtractor flow;
  roi::DifferenceExtractor difference;
  roi::BackgroundExtractor background;
  LumaImage luma, blurred;
  // Where objects were followed in the last gap + 1 frames, in luma pixels: what moved there is
  // them, or the ground they left.
  std::deque<std::vector<Rect>> followed_areas;
  Size display;                   // of the frames so far; 0 x 0: none
  std::optional<Timestamp> last;  // of the frame before
  RoiStatistics statistics;
};

void RoiExtractor::Impl::forget() {
  flow.clear();
  difference.restart();
  background.restart();
  followed_areas.clear();
  display = {};
}

// Whether the whole picture changed, and how; brings the background along.
GlobalChange RoiExtractor::Impl::judge(double changed) {
  if (changed < kSuspicious || !difference.has_reference()) return GlobalChange::kNone;
  const roi::Explanation why =
      roi::explain(difference.reference(), blurred, difference.threshold());
  const double shift = std::hypot(why.shift.x, why.shift.y);
  if (shift >= kLeastShift && why.shifted < kExplained * why.plain && why.shifted <= why.tone) {
    background.shift(why.shift.x, why.shift.y, blurred);
    return GlobalChange::kCameraMotion;
  }
  if (changed < options.global_change) return GlobalChange::kNone;
  if (why.tone < kExplained * why.plain) {
    background.apply_curve(why.curve);
    return GlobalChange::kLight;
  }
  return GlobalChange::kLarge;
}

GlobalChange RoiExtractor::Impl::compare(double seconds) {
  GlobalChange change = GlobalChange::kNone;
  if (difference.has_reference()) {
    change = judge(difference.compare(blurred));
    // The pictures before a step differ from all that come after it.
    if (change == GlobalChange::kLight || change == GlobalChange::kCameraMotion) {
      difference.restart();
    }
  }
  difference.remember(blurred);
  if (options.background) {
    const double standing = background.add(blurred, seconds);
    if (standing > options.global_change && change == GlobalChange::kNone) {
      change = GlobalChange::kLarge;  // not a background of this picture at all
      background.restart();
    }
  }
  return change;
}

Result<FrameRois> RoiExtractor::Impl::add(const VideoFrame& frame) {
  SPARING_RETURN_IF_ERROR(validate(frame));
  if (last && !(frame.timestamp > *last)) {
    return Error{ErrorCode::kInvalidArgument, "timestamp of the frame",
                 std::to_string(frame.timestamp.seconds()) + " s is not after the frame before",
                 "give frames in order of time, or reset where a stream starts again"};
  }
  const Size shown = display_size(frame);
  GlobalChange change = GlobalChange::kNone;
  if (!(shown == display)) {
    forget();
    change = GlobalChange::kNoReference;
  }
  SPARING_RETURN_IF_ERROR(luma.extract(frame, choose_factor(options.reduction, shown)));
  const double seconds = last ? std::max(frame.timestamp.seconds() - last->seconds(), 1e-6) : 1;
  display = shown;
  last = frame.timestamp;
  roi::blur(luma, blurred);
  if (options.flow) SPARING_RETURN_IF_ERROR(flow.add(luma, seconds));
  const GlobalChange seen = compare(seconds);
  if (change == GlobalChange::kNone) change = seen;
  return collect(frame, change);
}

void RoiExtractor::Impl::add_boxes(const roi::MaskBoxes& found, RoiSource source, const Rect& frame,
                                   std::vector<Roi>& rois) {
  statistics.too_small += found.too_small;
  statistics.redundant += found.explained;
  const double factor = luma.factor();
  for (const Rect& box : found.boxes) {
    Roi roi;
    roi.rect =
        intersect({box.x * factor, box.y * factor, box.width * factor, box.height * factor}, frame);
    roi.source = source;
    if (!roi.rect.empty()) rois.push_back(roi);
  }
}

std::vector<Rect> RoiExtractor::Impl::known_areas(const std::vector<Roi>& followed) {
  const double factor = luma.factor();
  std::vector<Rect> now;
  for (const Roi& roi : followed) {
    const double margin = kKnownMargin * std::max(roi.rect.width, roi.rect.height) / factor + 1;
    now.push_back({roi.rect.x / factor - margin, roi.rect.y / factor - margin,
                   roi.rect.width / factor + 2 * margin, roi.rect.height / factor + 2 * margin});
  }
  followed_areas.push_back(std::move(now));
  if (static_cast<int>(followed_areas.size()) > options.gap + 1) followed_areas.pop_front();
  std::vector<Rect> all;
  for (const auto& areas : followed_areas) all.insert(all.end(), areas.begin(), areas.end());
  return all;
}

FrameRois RoiExtractor::Impl::collect(const VideoFrame& frame, GlobalChange change) {
  FrameRois result;
  result.change = change;
  const Rect whole = display_rect(frame);
  ++statistics.frames;
  if (change != GlobalChange::kNone) {
    ++statistics.whole_frames;
    Roi roi;
    roi.rect = whole;
    roi.source = RoiSource::kWholeFrame;
    result.rois.push_back(roi);
  } else {
    const double least = static_cast<double>(options.min_size) / luma.factor();
    result.rois = flow.rois(whole);
    const std::vector<Rect> known = known_areas(result.rois);
    if (options.difference) {
      add_boxes(difference.boxes(least, known, options.explained), RoiSource::kDifference, whole,
                result.rois);
    }
    if (options.background) {
      add_boxes(background.boxes(least, known, options.explained), RoiSource::kBackground, whole,
                result.rois);
    }
    statistics.redundant += roi::remove_redundant(result.rois);
  }
  statistics.lost = flow.lost();
  statistics.over_limit = flow.over_limit();
  return result;
}

Result<RoiExtractor> RoiExtractor::create(const RoiOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  return RoiExtractor(std::make_unique<Impl>(options));
}

RoiExtractor::RoiExtractor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RoiExtractor::RoiExtractor(RoiExtractor&&) noexcept = default;
RoiExtractor& RoiExtractor::operator=(RoiExtractor&&) noexcept = default;
RoiExtractor::~RoiExtractor() = default;

Result<FrameRois> RoiExtractor::add(const VideoFrame& frame) {
  try {
    return impl_->add(frame);
  } catch (const std::exception& error) {
    reset();
    return Error{ErrorCode::kInternal, "extraction of regions", error.what(), "free memory"};
  }
}

Status RoiExtractor::set_objects(std::span<const KnownObject> objects) {
  for (const KnownObject& object : objects) {
    const Box& box = object.detection.box;
    if (!is_finite(box) || box.x1 < box.x0 || box.y1 < box.y0) {
      return Error{ErrorCode::kInvalidArgument, "box of object " + std::to_string(object.id),
                   "is not finite or inside out", "give finite corners with x0 <= x1 and y0 <= y1"};
    }
  }
  impl_->flow.set_objects(objects);
  return {};
}

void RoiExtractor::reset() {
  impl_->forget();
  impl_->last.reset();
}

const RoiStatistics& RoiExtractor::statistics() const { return impl_->statistics; }

}  // namespace sparing
