#include "sparing/streams/window_job.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "sparing/packing/merge.h"
#include "sparing/packing/way_cost.h"
#include "sparing/streams/model_canvas.h"
#include "sparing/streams/tile_check.h"

namespace sparing {
namespace {

// Regions that would take this share of the whole frame's pixels are replaced by it: it sees more.
constexpr double kWholeInstead = 0.9;
constexpr int kExploreWindows = 8;
// A whole frame in place of regions takes at most this share of the window's budget, if that is
// enough for the least look.
constexpr double kWholeShare = 0.5;

double area_of(Size size) { return static_cast<double>(size.width) * size.height; }

Roi whole_roi(Size frame) {
  Roi roi;
  roi.rect = {0, 0, static_cast<double>(frame.width), static_cast<double>(frame.height)};
  roi.source = RoiSource::kWholeFrame;
  return roi;
}

const ModelInput& input_of(const WindowContext& context) {
  return context.processors.front().detector.impl().manifest.input;
}

}  // namespace

// A canvas for one whole picture.
Size WindowJob::canvas_for(Size drawn) const {
  return sparing::canvas_for(input_of(context_), context_.tuning.canvas.stride, drawn);
}

WindowJob::Item WindowJob::item_of(StreamState& stream, std::size_t frame, const Roi& roi,
                                   double scale) const {
  Item item;
  item.stream = &stream;
  item.frame = frame;
  item.request.roi = roi;
  item.request.scale = scale;
  item.request.stream = stream.number;
  item.request.frame = stream.frames[frame].source.index;
  return item;
}

std::vector<const LatencyProfile*> WindowJob::profiles() const {
  std::vector<const LatencyProfile*> profiles;
  for (const Processor& p : context_.processors) profiles.push_back(&p.profile);
  return profiles;
}

void WindowJob::add_direct(Item item, Size canvas, PixelRect place) {
  direct_.push_back({std::move(item), canvas, place, 0});
}

void WindowJob::add_whole(StreamState& stream, std::size_t frame, double scale,
                          DrawPurpose purpose) {
  const HeldFrame& held = stream.frames[frame];
  const Size canvas = canvas_for(scaled(held.size, scale));
  // As large as the canvas allows: its sides are rounded up, and what is drawn there costs nothing.
  const double fit =
      std::min(1.0 * canvas.width / held.size.width, 1.0 * canvas.height / held.size.height);
  Size drawn = scaled(held.size, fit);
  drawn = {std::min(drawn.width, canvas.width), std::min(drawn.height, canvas.height)};
  Item item = item_of(stream, frame, whole_roi(held.size), 1.0 * drawn.width / held.size.width);
  item.purpose = purpose;
  add_direct(std::move(item), canvas, {0, 0, drawn.width, drawn.height});
}

Status WindowJob::add_tiles(StreamState& stream, std::size_t frame, double scale) {
  const HeldFrame& held = stream.frames[frame];
  SPARING_RETURN_IF_ERROR(check_tiles(context_.options, std::span(&held.size, 1)));
  SPARING_ASSIGN_OR_RETURN(const Size tile, parse_size(context_.options.tile));
  SPARING_ASSIGN_OR_RETURN(
      const std::vector<Rect> tiles,
      tile_grid(held.size, tile_in_frame(held.size, tile, scale), context_.options.tile_overlap));
  for (const Rect& rect : tiles) {
    Roi roi;
    roi.rect = rect;
    roi.source = RoiSource::kTile;
    Item item = item_of(stream, frame, roi, scale);
    Size drawn = drawn_size(item.request);
    const Size canvas = canvas_for(drawn);
    drawn = {std::min(drawn.width, canvas.width), std::min(drawn.height, canvas.height)};
    add_direct(std::move(item), canvas, {0, 0, drawn.width, drawn.height});
  }
  return {};
}

// In place of regions. A beginning in a smaller picture is better than none.
void WindowJob::add_look(StreamState& stream, std::size_t frame, double scale) {
  const Size size = stream.frames[frame].size;
  const double cost = context_.processors.front().profile.estimate(scaled(size, scale));
  const double share = kWholeShare * context_.budget;
  if (cost > share) {
    scale =
        std::max(stream.least_look_scale(size), frame_scale_below(scale * std::sqrt(share / cost)));
  }
  add_whole(stream, frame, scale, DrawPurpose::kDetect);
}

Status WindowJob::add_regions(StreamState& stream, std::size_t frame) {
  HeldFrame& held = stream.frames[frame];
  if (!held.rois) {
    add_whole(stream, frame, stream.planner.whole_scale(), DrawPurpose::kDetect);
    return {};
  }
  if (held.rois->change != GlobalChange::kNone) {
    const bool first = held.rois->change == GlobalChange::kNoReference;
    add_look(stream, frame,
             first ? std::min(WayPlanner::start_scale(held.size), stream.planner.reference_scale())
                   : stream.planner.whole_scale());
    return {};
  }
  if (stream.look_pending && frame + 1 == stream.frames.size()) {
    add_look(stream, frame, stream.look_scale(held.size));
    return {};
  }
  const Timestamp& time = held.source.frame.view().timestamp;
  std::vector<Roi> rois = held.key ? held.rois->rois : held.arrivals;
  std::erase_if(rois, [&](const Roi& roi) { return stream.empty.skips(roi, time); });
  SPARING_ASSIGN_OR_RETURN(const auto estimates, stream.scales.estimate(rois, time));
  std::vector<ScaledRoi> scaled_rois(rois.size());
  // The last frame of the first whole window (the one before has one frame), and later of every
  // few, shows what small things there are, when there is time for it.
  const bool explore = stream.windows % kExploreWindows == 1 && !stream.planner.tight() &&
                       frame + 1 == stream.frames.size();
  const double limit = stream.planner.region_scale_limit(explore);
  for (std::size_t i = 0; i < rois.size(); ++i) {
    scaled_rois[i] = {rois[i], std::min(estimates[i].scale, limit) * stream.planner.scale()};
  }
  SPARING_ASSIGN_OR_RETURN(const std::vector<MergedRoi> merged,
                           merge_rois(scaled_rois, held.size, context_.tuning.merge));
  double pixels = 0;
  const std::size_t first = packed_.size();
  for (const MergedRoi& region : merged) {
    Item item = item_of(stream, frame, region.roi, region.scale);
    item.request.last_frame = frame + 1 == stream.frames.size();
    for (const int member : region.members) {
      item.members.push_back(rois[static_cast<std::size_t>(member)]);
      const std::int64_t id = item.members.back().object_id;
      if (id < 0) continue;
      item.objects.push_back(id);
      item.request.consecutive_drops =
          std::max(item.request.consecutive_drops,
                   context_.drop_history.consecutive_drops(stream.number, id));
    }
    pixels += area_of(drawn_size(item.request));
    packed_.push_back(std::move(item));
  }
  if (!held.key) return {};
  PackedPixels& sum = packed_pixels_[stream.number];
  sum.pixels += pixels;
  ++sum.key_frames;
  // The whole frame at the scale that the regions have on average, by their area.
  double area = 0;
  for (std::size_t i = first; i < packed_.size(); ++i) area += packed_[i].request.roi.rect.area();
  const double scale = frame_scale_above(area > 0 ? std::sqrt(pixels / area) : 1);
  if (pixels > kWholeInstead * area_of(scaled(held.size, scale))) {
    packed_.resize(first);
    add_whole(stream, frame, scale, DrawPurpose::kDetect);
  }
  return {};
}

Status WindowJob::add_stream(StreamState& stream) {
  for (std::size_t i = 0; i < stream.frames.size(); ++i) {
    if (!stream.frames[i].looked_at()) continue;
    const bool first_look = context_.options.budget > 0 && stream.windows == 0;
    switch (stream.planner.way()) {
      case DetectWay::kPacked: SPARING_RETURN_IF_ERROR(add_regions(stream, i)); break;
      case DetectWay::kTiles:
        SPARING_RETURN_IF_ERROR(add_tiles(stream, i, stream.planner.scale()));
        break;
      case DetectWay::kWholeFrame:
        add_whole(
            stream, i,
            first_look ? stream.planner.first_scale(stream.frames[i].size) : stream.planner.scale(),
            DrawPurpose::kDetect);
        break;
      case DetectWay::kNothing: break;
    }
  }
  return {};
}

void WindowJob::add_refresh(StreamState& stream, double scale, double trial_scale) {
  const std::size_t last = stream.frames.size() - 1;
  add_whole(stream, last, scale, DrawPurpose::kRefresh);
  if (trial_scale > 0 && trial_scale < scale) {
    add_whole(stream, last, trial_scale, DrawPurpose::kTrial);
  }
}

Status WindowJob::add_probes(StreamState& stream) {
  const std::size_t last = stream.frames.size() - 1;
  const HeldFrame& held = stream.frames[last];
  if (!held.rois || context_.tuning.probes.probes == 0) return {};
  if (held.rois->change != GlobalChange::kNone) return {};
  SPARING_ASSIGN_OR_RETURN(
      const std::vector<ProbePlan> plans,
      stream.scales.plan_probes(held.rois->rois, held.source.frame.view().timestamp));
  for (const ProbePlan& plan : plans) {
    const auto roi = std::find_if(held.rois->rois.begin(), held.rois->rois.end(),
                                  [&](const Roi& r) { return r.object_id == plan.object_id; });
    if (roi == held.rois->rois.end()) continue;
    ProbeSet set{&stream, plan, roi->object, std::vector<ProbeOutcome>(plan.probes.size())};
    for (std::size_t p = 0; p < plan.probes.size(); ++p) {
      Roi region = *roi;
      region.rect = pad_rect(roi->rect, held.size, context_.tuning.merge);
      Item item = item_of(stream, last, region, plan.probes[p].scale);
      item.purpose = DrawPurpose::kProbe;
      item.request.probe = true;
      item.probe_plan = probes_.size();
      item.probe = p;
      packed_.push_back(std::move(item));
    }
    probes_.push_back(std::move(set));
  }
  return {};
}

CanvasRegion WindowJob::region_of(const Item& item, const PixelRect& place, double scale) const {
  CanvasRegion region;
  region.stream = item.stream->number;
  region.frame = item.request.frame;
  region.roi = item.request.roi;
  region.scale = scale;
  region.place = place;
  region.purpose = item.purpose;
  return region;
}

double WindowJob::cost(const CanvasJob& job) const {
  return context_.processors[static_cast<std::size_t>(job.report.processor)].profile.estimate(
      job.report.size);
}

// Of regions of so many pixels together, on canvases that are as full as usual.
double WindowJob::packed_cost(double pixels) const {
  return pixels * context_.packed_pixel_seconds;
}

// Regions that do not fit are left out by whole key frames first, every second one of the stream
// that has most: what is looked at half as often is filled in well, while single objects that go
// unseen for a window are lost. The last frames stay, which show what to follow.
void WindowJob::thin_key_frames(double total_pixels, double seconds) {
  if (packed_cost(total_pixels) <= seconds) return;
  std::map<StreamState*, std::map<std::size_t, double>> pixels;  // of key frames but the last
  const auto thinnable = [](const Item& item) {
    return item.purpose == DrawPurpose::kDetect && item.frame + 1 < item.stream->frames.size();
  };
  for (const Item& item : packed_) {
    if (!thinnable(item)) continue;
    pixels[item.stream][item.frame] += area_of(drawn_size(item.request));
  }
  std::set<std::pair<StreamState*, std::size_t>> gone;
  while (packed_cost(total_pixels) > seconds) {
    const auto most =
        std::max_element(pixels.begin(), pixels.end(), [](const auto& a, const auto& b) {
          return std::pair(a.second.size(), b.first->number) <
                 std::pair(b.second.size(), a.first->number);
        });
    if (most == pixels.end() || most->second.empty()) break;
    // From the last one back: the frame before the window's last goes first.
    auto& frames = most->second;
    bool leave = false;
    for (auto it = frames.end(); it != frames.begin() && packed_cost(total_pixels) > seconds;) {
      --it;
      if (std::exchange(leave, !leave)) continue;
      total_pixels -= it->second;
      gone.insert({most->first, it->first});
      it = frames.erase(it);
    }
  }
  if (gone.empty()) return;
  std::vector<Item> kept;
  for (Item& item : packed_) {
    if (thinnable(item) && gone.contains({item.stream, item.frame})) {
      drop(item, DropReason::kBudget);
    } else {
      kept.push_back(std::move(item));
    }
  }
  packed_ = std::move(kept);
}

void WindowJob::drop(const Item& item, DropReason reason) {
  const bool whole = item.request.roi.source == RoiSource::kWholeFrame;
  dropped_.push_back({item.stream, item.frame, item.objects, reason, item.purpose, whole});
}

// Whole frames and tiles beyond the budget are left out: what is looked at twice first, then every
// second of what is left, the last frames of the streams last.
void WindowJob::keep_within_budget() {
  double total = 0;
  const auto all = profiles();
  for (Direct& d : direct_) {
    d.cost = input_cost({&d.canvas, 1}, all);
    if (!std::isfinite(d.cost)) d.cost = context_.processors.front().profile.estimate(d.canvas);
    total += d.cost;
  }
  wanted_seconds_ += total;
  const double budget = context_.budget * context_.plan_share;
  if (total <= budget) return;
  // Frames are taken away evenly in time, whole (all tiles of one): the order is by bit reversal of
  // their number, so that what stays is spread.
  std::vector<std::size_t> order(direct_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rank = [&](std::size_t i) {
    const Item& item = direct_[i].item;
    if (item.purpose != DrawPurpose::kDetect) return std::pair(0, 0u);
    if (item.frame + 1 == item.stream->frames.size()) return std::pair(2, 0u);
    std::uint32_t reversed = 0;
    for (std::uint32_t bit = 0, n = static_cast<std::uint32_t>(item.frame); bit < 16; ++bit) {
      reversed |= ((n >> bit) & 1u) << (15 - bit);
    }
    return std::pair(1, ~reversed);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  std::vector<char> gone(direct_.size(), 0);
  for (const std::size_t i : order) {
    if (total <= budget) break;
    gone[i] = 1;
    total -= direct_[i].cost;
    drop(direct_[i].item, DropReason::kBudget);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < direct_.size(); ++i) {
    if (!gone[i]) std::swap(direct_[kept++], direct_[i]);
  }
  direct_.resize(kept);
  if (kept > 0 || !packed_.empty()) return;
  for (Dropped& d : dropped_) d.reason = DropReason::kNoTime;
}

Status WindowJob::plan() {
  wanted_ = direct_.size() + packed_.size();
  double pixels = 0;
  double safe_pixels = 0;  // where they are drawn as large as is safe
  for (const Item& item : packed_) {
    const double area = area_of(drawn_size(item.request));
    const double factor = context_.options.scale > 0 ? 1 : item.stream->planner.scale();
    pixels += area;
    safe_pixels += area / (factor * factor);
  }
  wanted_seconds_ = packed_cost(safe_pixels);
  keep_within_budget();
  double direct_cost = 0;
  for (const Direct& d : direct_) {
    CanvasJob job;
    job.report.size = d.canvas;
    job.report.regions.push_back(region_of(d.item, d.place, d.item.request.scale));
    jobs_.push_back(std::move(job));
    job_items_.push_back({d.item});
    direct_cost += d.cost;
  }
  thin_key_frames(pixels, std::max(0.0, context_.budget * context_.plan_share - direct_cost));
  if (!packed_.empty()) {
    std::vector<RoiRequest> requests;
    for (const Item& item : packed_) requests.push_back(item.request);
    const auto all = profiles();
    const double left = std::max(0.0, context_.budget * context_.plan_share - direct_cost);
    const std::vector<double> budgets(all.size(), left / static_cast<double>(all.size()));
    const PlanResources resources{all, budgets, context_.shapes, context_.tuning.canvas,
                                  context_.tuning.pack};
    SPARING_ASSIGN_OR_RETURN(
        const WindowPlan plan,
        plan_window(requests, resources, context_.tuning.priority, context_.tuning.plan));
    for (const PlannedCanvas& canvas : plan.canvases) {
      CanvasJob job;
      job.report.size = canvas.size;
      job.report.processor = canvas.processor;
      std::vector<Item> items;
      for (const PlacedRoi& placed : canvas.rois) {
        job.report.regions.push_back(region_of(packed_[placed.request], placed.rect, placed.scale));
        items.push_back(packed_[placed.request]);
        placed_area_ += static_cast<double>(placed.rect.width) * placed.rect.height;
      }
      packed_canvas_area_ += area_of(canvas.size);
      packed_seconds_ += canvas.cost;
      jobs_.push_back(std::move(job));
      job_items_.push_back(std::move(items));
    }
    for (const RoiDrop& d : plan.drops) drop(packed_[d.request], d.reason);
  }
  balance();
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    jobs_[j].report.window = context_.window;
    jobs_[j].report.planned_seconds = cost(jobs_[j]);
    jobs_[j].report.layout = input_of(context_).layout;
    for (const Item& item : job_items_[j]) {
      jobs_[j].frames.push_back(&item.stream->frames[item.frame].source.frame.view());
    }
  }
  return {};
}

// Longest canvases first, each where it will be done first; without a budget all processors are
// used. With one the plan has said which.
void WindowJob::balance() {
  std::vector<std::size_t> order(jobs_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return area_of(jobs_[a].report.size) > area_of(jobs_[b].report.size);
  });
  const auto count = context_.processors.size();
  if (count > 1) {
    std::vector<double> busy(count, 0);
    for (const std::size_t j : order) {
      std::size_t best = 0;
      double soonest = std::numeric_limits<double>::infinity();
      for (std::size_t p = 0; p < count; ++p) {
        const Processor& processor = context_.processors[p];
        if (!processor.profile.runs(jobs_[j].report.size) && p > 0) continue;
        const int lanes = std::max(1, processor.detector.impl().context.options().streams);
        const double done = busy[p] + processor.profile.estimate(jobs_[j].report.size) / lanes;
        if (done < soonest) {
          soonest = done;
          best = p;
        }
      }
      busy[best] = soonest;
      jobs_[j].report.processor = static_cast<int>(best);
    }
  }
  // Long ones first also fill the lanes of one processor evenly.
  std::vector<CanvasJob> jobs;
  std::vector<std::vector<Item>> items;
  for (const std::size_t j : order) {
    jobs.push_back(std::move(jobs_[j]));
    items.push_back(std::move(job_items_[j]));
  }
  jobs_ = std::move(jobs);
  job_items_ = std::move(items);
}

Status WindowJob::run(CanvasRunner& runner,
                      const std::function<Status(const CanvasReport&)>& observe,
                      std::int64_t first_canvas, const std::stop_token& stop) {
  for (CanvasJob& job : jobs_) job.report.index = first_canvas++;
  return runner.run(jobs_, context_.tuning.reconstruct, observe, stop);
}

Result<std::vector<KeyFrameResult>> WindowJob::results(StreamState& stream) {
  struct Found {
    std::vector<RoiDetection> detect, refresh, trial;
    bool looked_at = false;
  };
  std::vector<Found> found(stream.frames.size());
  for (const Dropped& d : dropped_) {
    if (d.stream == &stream && d.whole && d.purpose == DrawPurpose::kDetect)
      stream.look_pending = stream.planner.wants_regions();
  }
  std::size_t id = 0;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    for (std::size_t r = 0; r < job_items_[j].size(); ++r) {
      const Item& item = job_items_[j][r];
      if (item.stream != &stream || jobs_[j].found.empty()) continue;
      ++id;
      std::vector<RoiDetection>& detections = jobs_[j].found[r];
      for (RoiDetection& d : detections) d.roi = id;
      Found& frame = found[item.frame];
      if (item.purpose == DrawPurpose::kProbe) {
        ProbeOutcome& outcome = probes_[item.probe_plan].outcomes[item.probe];
        outcome.ran = true;
        for (const RoiDetection& d : detections) outcome.detections.push_back(d.detection);
        continue;
      }
      if (item.purpose != DrawPurpose::kTrial) frame.looked_at = true;
      if (item.request.roi.source == RoiSource::kWholeFrame) stream.look_pending = false;
      for (const Roi& member : item.members) {
        const bool empty =
            std::none_of(detections.begin(), detections.end(), [&](const RoiDetection& d) {
              const Box& b = d.detection.box;
              return d.detection.score >= context_.options.follow_score &&
                     intersect(member.rect, {b.x0, b.y0, b.width(), b.height()}).area() > 0;
            });
        stream.empty.looked_at(member, empty,
                               stream.frames[item.frame].source.frame.view().timestamp);
      }
      auto& list = item.purpose == DrawPurpose::kDetect    ? frame.detect
                   : item.purpose == DrawPurpose::kRefresh ? frame.refresh
                                                           : frame.trial;
      list.insert(list.end(), detections.begin(), detections.end());
    }
  }
  const auto fused = [&](std::span<const RoiDetection> detections,
                         std::vector<Detection>& to) -> Status {
    SPARING_ASSIGN_OR_RETURN(const auto boxes,
                             fuse_detections(detections, context_.tuning.reconstruct));
    to.clear();
    for (const RoiDetection& b : boxes) to.push_back(b.detection);
    // Best first. Each region had the model's limit to itself.
    const auto most =
        static_cast<std::size_t>(context_.processors.front().detector.impl().nms.max_detections);
    if (to.size() > most) to.resize(most);
    return {};
  };
  std::vector<KeyFrameResult> results;
  for (std::size_t f = 0; f < stream.frames.size(); ++f) {
    if (!stream.frames[f].looked_at()) continue;
    KeyFrameResult result;
    result.frame = f;
    result.partial = !stream.frames[f].key;
    Found& parts = found[f];
    if (result.partial && !parts.looked_at) continue;
    bool any_drop = false;
    for (const Dropped& d : dropped_) {
      if (d.stream != &stream || d.frame != f || d.purpose == DrawPurpose::kProbe) continue;
      if (d.purpose == DrawPurpose::kDetect) any_drop = true;
      result.dropped.insert(result.dropped.end(), d.objects.begin(), d.objects.end());
    }
    // Nothing to see is a look, too.
    result.looked_at = parts.looked_at || (!any_drop && stream.planner.way() == DetectWay::kPacked);
    SPARING_RETURN_IF_ERROR(fused(parts.detect, result.by_way));
    SPARING_RETURN_IF_ERROR(fused(parts.refresh, result.reference));
    SPARING_RETURN_IF_ERROR(fused(parts.trial, result.trial));
    parts.detect.insert(parts.detect.end(), parts.refresh.begin(), parts.refresh.end());
    SPARING_RETURN_IF_ERROR(fused(parts.detect, result.detections));
    results.push_back(std::move(result));
  }
  for (ProbeSet& set : probes_) {
    if (set.stream != &stream || results.empty()) continue;
    // What the whole frame shows of the object.
    std::optional<Detection> reference;
    float best = 0.5f;
    for (const Detection& d : results.back().reference) {
      const float overlap = iou(d.box, set.object);
      if (overlap > best) {
        best = overlap;
        reference = d;
      }
    }
    SPARING_RETURN_IF_ERROR(stream.scales.report(set.plan, reference, set.outcomes));
  }
  return results;
}

WindowJob::PackedPixels WindowJob::packed_pixels(int stream) const {
  const auto it = packed_pixels_.find(stream);
  return it == packed_pixels_.end() ? PackedPixels{} : it->second;
}

DropTally WindowJob::drops(int stream) const {
  DropTally tally;
  for (const Dropped& d : dropped_) {
    if (d.stream->number == stream) tally.add(d.reason);
  }
  return tally;
}

}  // namespace sparing
