#include "sparing/streams/stream_state.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "sparing/base/clock.h"

namespace sparing {
namespace {

// Regions are looked for no more often than this between key frames: at 30 frames a second things
// move by little, and every look costs the same.
constexpr double kExtractSeconds = 0.095;
// Whole frames in place of regions are not drawn smaller than this part of their scale.
constexpr double kLeastShrink = 0.4;
// Motion of which so much lies on a known region is not new.
constexpr double kKnownShare = 0.3;

}  // namespace

void drop_pixels(SourceFrame& frame) {
  VideoFrame view = frame.frame.view();
  view.planes = {};
  frame.frame = SharedFrame(view, nullptr);
}

Result<StreamState> StreamState::create(int number, const StreamInfo& info,
                                        const StreamOptions& options, const StreamTuning& tuning,
                                        std::span<const ScaleModel> scale_models) {
  SPARING_ASSIGN_OR_RETURN(auto extractor, RoiExtractor::create(tuning.roi));
  SPARING_ASSIGN_OR_RETURN(auto scales, ScaleEstimator::create(scale_models, tuning.probes));
  SPARING_ASSIGN_OR_RETURN(auto tracker, Tracker::create(tuning.track));
  SPARING_ASSIGN_OR_RETURN(auto smoother, ScoreSmoother::create(tuning.scores));
  if (auto filler = BoxFiller::create({1, 1}, tuning.fill); !filler.ok()) return filler.error();
  StreamState state(std::move(extractor), std::move(scales), std::move(tracker),
                    std::move(smoother),
                    WayPlanner(options, tuning.merge, scale_models.front().height,
                               info.frame_rate.num > 0 ? info.frame_rate.value() : 0));
  state.number = number;
  state.info = info;
  state.statistics.name = info.name;
  state.window_seconds_ = options.window;
  state.follow_score_ = options.follow_score;
  state.short_start_ = options.budget > 0;
  return state;
}

double StreamState::look_scale(Size frame) const {
  return std::min(WayPlanner::start_scale(frame), planner.whole_scale());
}

double StreamState::least_look_scale(Size frame) const {
  return frame_scale_below(kLeastShrink * look_scale(frame));
}

bool StreamState::is_arrival(const Roi& roi, const HeldFrame& frame) const {
  if (roi.object_id >= 0 || frame.rois->change != GlobalChange::kNone) return false;
  if (empty.rests(roi, frame.source.frame.view().timestamp)) return false;
  const auto covers = [&](const Roi& other) {
    return intersect(roi.rect, other.rect).area() > kKnownShare * roi.rect.area();
  };
  return std::none_of(last_rois_.begin(), last_rois_.end(), covers) &&
         std::none_of(frame.rois->rois.begin(), frame.rois->rois.end(),
                      [&](const Roi& other) { return other.object_id >= 0 && covers(other); });
}

bool StreamState::wants_regions(const HeldFrame& frame) const {
  if (!planner.wants_regions()) return false;
  if (frame.key || !last_extracted_) return true;
  return seconds_between(*last_extracted_, frame.source.frame.view().timestamp) >= kExtractSeconds;
}

Status StreamState::extract(HeldFrame& frame) {
  const Clock::time_point begin = Clock::now();
  SPARING_ASSIGN_OR_RETURN(frame.rois, extractor.add(frame.source.frame.view()));
  last_extracted_ = frame.source.frame.view().timestamp;
  frame.extract_begin = begin;
  frame.extract_seconds = seconds_since(begin);
  extract_seconds += frame.extract_seconds;
  return {};
}

Result<bool> StreamState::add(SourceFrame source) {
  SPARING_RETURN_IF_ERROR(validate(source.frame.view()));
  const Timestamp time = source.frame.view().timestamp;
  if (last_time_ && !(*last_time_ < time)) {
    return Error{ErrorCode::kInvalidArgument, "stream '" + info.name + "'",
                 "frame " + std::to_string(source.index) + " is not later than the one before",
                 "give frames in the order of their times"};
  }
  HeldFrame frame;
  frame.size = display_size(source.frame.view());
  frame.source = std::move(source);
  frame.key = !any_key_ || since_key_ + 1 >= planner.every();
  if (wants_regions(frame)) {
    SPARING_RETURN_IF_ERROR(extract(frame));
    const std::vector<Roi>& rois = frame.rois->rois;
    if (!frame.key && planner.wants_arrivals()) {
      std::copy_if(rois.begin(), rois.end(), std::back_inserter(frame.arrivals),
                   [&](const Roi& roi) { return is_arrival(roi, frame); });
    }
    last_rois_ = rois;
  }
  if (!frames.empty() && !frames.back().looked_at() && !keep_pictures)
    drop_pixels(frames.back().source);
  if (!window_start_) window_start_ = time;
  last_time_ = time;
  since_key_ = frame.key ? 0 : since_key_ + 1;
  const bool first = !std::exchange(any_key_, true);
  const bool key = frame.key;
  // What a whole look finds is followed from the next window on, so the window ends with the first
  // frame of a stream, and with one in which the whole picture changed: else all that stands still
  // would stay unseen for its rest.
  const bool fresh = (first && short_start_) || (planner.wants_regions() && frame.rois &&
                                                 frame.rois->change != GlobalChange::kNone);
  frames.push_back(std::move(frame));
  if (fresh) return true;
  // The time that the frames so far fill, if the next one comes as they did. Half a frame less will
  // do, so that rounded times do not make windows a frame longer.
  const double since_start = seconds_between(*window_start_, time);
  const double frame_time =
      frames.size() > 1 ? since_start / static_cast<double>(frames.size() - 1) : 0;
  return key && since_start + 1.5 * frame_time >= window_seconds_;
}

int StreamState::window_frames() const {
  const double rate = info.frame_rate.num > 0 ? info.frame_rate.value() : 0;
  return std::max(static_cast<int>(frames.size()),
                  static_cast<int>(std::lround(std::min(rate * window_seconds_, 1e6))));
}

Status StreamState::cut() {
  if (frames.empty() || frames.back().key) return {};
  HeldFrame& last = frames.back();
  last.key = true;
  since_key_ = 0;
  if (!last.rois && planner.wants_regions()) SPARING_RETURN_IF_ERROR(extract(last));
  return {};
}

Status StreamState::follow(std::span<const TrackedDetection> found) {
  if (!frames.back().rois) {
    newest_ = frames.back().source.frame;
    return {};
  }
  return follow_in(frames.back().size, found);
}

Status StreamState::follow_in(Size size, std::span<const TrackedDetection> found) {
  std::vector<KnownObject> known;
  std::vector<std::int64_t> ids;
  const auto add = [&](const TrackedDetection& t) {
    if (t.detection.score < follow_score_) return;
    known.push_back({t.detection, t.id});
    ids.push_back(t.id);
  };
  for (const TrackedDetection& t : found) add(t);
  for (TrackedDetection t : tracker.predict(*last_time_)) {
    if (std::find(ids.begin(), ids.end(), t.id) != ids.end()) continue;
    const bool there = std::any_of(found.begin(), found.end(), [&](const TrackedDetection& f) {
      return f.id >= 0 && iou(f.detection.box, t.detection.box) > 0.5f;
    });
    t.detection.box = clip(t.detection.box, size.width, size.height);
    if (!there && t.detection.box.area() > 0) add(t);
  }
  return extractor.set_objects(known);
}

Status StreamState::choose(const StreamChoice& choice, bool tight) {
  const bool begins = !planner.wants_regions() && choice.way == DetectWay::kPacked;
  planner.choose(choice, tight);
  if (!begins) return {};
  // Pictures from before a time without extraction are no reference any more. The newest one is:
  // the looks so far tell what is in it.
  extractor.reset();
  if (!newest_) return {};
  if (auto seen = extractor.add(newest_.view()); !seen.ok()) return seen.error();
  last_extracted_ = last_time_;
  return follow_in(display_size(newest_.view()), {});
}

void StreamState::next_window() {
  if (!frames.empty()) ++windows;
  frames.clear();
  newest_ = {};
  window_start_.reset();
}

}  // namespace sparing
