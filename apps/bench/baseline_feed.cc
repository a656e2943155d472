#include "baseline_feed.h"

#include <algorithm>

#include "sparing/packing/reconstruct.h"
#include "sparing/packing/scale_features.h"

namespace sparing::bench {
namespace {

// The regions of one stream, merged and scaled.
Result<std::vector<Patch>> choose(std::size_t stream, const FrameRois& regions, Size frame,
                                  const ScalePredictor& predictor, const MergeOptions& options) {
  std::vector<ScaledRoi> scaled;
  for (const Roi& roi : regions.rois) {
    const bool whole = roi.source == RoiSource::kWholeFrame;
    scaled.push_back({roi, whole ? 1 : predictor.predict(scale_features(roi)).scale});
  }
  SPARING_ASSIGN_OR_RETURN(const std::vector<MergedRoi> merged, merge_rois(scaled, frame, options));
  std::vector<Patch> patches;
  for (const MergedRoi& region : merged) {
    patches.push_back(
        {stream, region.roi.rect, region.scale, region.roi.source == RoiSource::kWholeFrame});
  }
  return patches;
}

// One box of each object of each stream.
Result<std::vector<std::vector<Detection>>> fuse(const PatchJobs& work,
                                                 const std::vector<Patch>& patches,
                                                 std::size_t streams) {
  std::vector<std::vector<RoiDetection>> found(streams);
  for (std::size_t j = 0; j < work.jobs.size(); ++j) {
    for (std::size_t d = 0; d < work.owners[j].size(); ++d) {
      const std::size_t owner = work.owners[j][d];
      for (RoiDetection detection : work.jobs[j].found[d]) {
        detection.roi = owner;  // unique among the moment's patches
        found[patches[owner].stream].push_back(detection);
      }
    }
  }
  std::vector<std::vector<Detection>> fused(streams);
  for (std::size_t s = 0; s < streams; ++s) {
    SPARING_ASSIGN_OR_RETURN(const std::vector<RoiDetection> kept, fuse_detections(found[s]));
    for (const RoiDetection& detection : kept) fused[s].push_back(detection.detection);
  }
  return fused;
}

}  // namespace

Result<RegionFeed> RegionFeed::create(const RoiOptions& options) {
  SPARING_ASSIGN_OR_RETURN(RoiExtractor extractor, RoiExtractor::create(options));
  SPARING_ASSIGN_OR_RETURN(Tracker tracker, Tracker::create());
  return RegionFeed(std::move(extractor), std::move(tracker));
}

Result<FrameRois> RegionFeed::add(const VideoFrame& frame) { return extractor_.add(frame); }

Status RegionFeed::found(const Timestamp& time, const std::vector<Detection>& detections) {
  std::vector<Detection> sure;
  for (const Detection& detection : detections) {
    if (detection.score >= kFollowScore) sure.push_back(detection);
  }
  SPARING_ASSIGN_OR_RETURN(const std::vector<std::int64_t> ids, tracker_.update(time, sure));
  std::vector<KnownObject> objects;
  for (std::size_t i = 0; i < ids.size(); ++i) objects.push_back({sure[i], ids[i]});
  return extractor_.set_objects(objects);
}

Rect grow_rect(const Rect& rect, double width, double height, Size frame) {
  Rect grown;
  grown.width = std::min<double>(std::max(rect.width, width), frame.width);
  grown.height = std::min<double>(std::max(rect.height, height), frame.height);
  grown.x = std::clamp(rect.x + (rect.width - grown.width) / 2, 0.0, frame.width - grown.width);
  grown.y = std::clamp(rect.y + (rect.height - grown.height) / 2, 0.0, frame.height - grown.height);
  return grown;
}

Result<Outcome> run_regions(const Clip& clip, Network& network, const RegionRival& rival,
                            Arrange arrange, int cell) {
  SPARING_ASSIGN_OR_RETURN(const ScalePredictor predictor, ScalePredictor::create(ScaleModel{}));
  const std::size_t streams = clip.streams.size();
  std::vector<RegionFeed> feeds;
  std::size_t most = 0;
  std::vector<StreamLooks> looks(streams);
  for (std::size_t s = 0; s < streams; ++s) {
    SPARING_ASSIGN_OR_RETURN(RegionFeed feed, RegionFeed::create(rival.roi));
    feeds.push_back(std::move(feed));
    looks[s].resize(clip.streams[s].frames.size());
    most = std::max(most, looks[s].size());
  }
  Outcome outcome;
  for (std::size_t f = 0; f < most; ++f) {
    const bool key = f % static_cast<std::size_t>(rival.every) == 0;
    std::vector<Patch> patches;
    std::vector<const VideoFrame*> views(streams, nullptr);
    for (std::size_t s = 0; s < streams; ++s) {
      if (f >= looks[s].size()) continue;
      views[s] = &clip.streams[s].frames[f].frame.view();
      SPARING_ASSIGN_OR_RETURN(const FrameRois regions, feeds[s].add(*views[s]));
      if (!key) continue;
      SPARING_ASSIGN_OR_RETURN(const std::vector<Patch> chosen,
                               choose(s, regions, clip.size, predictor, rival.merge));
      patches.insert(patches.end(), chosen.begin(), chosen.end());
    }
    if (!key) continue;
    PatchJobs work = arrange(patches, views, network, cell);
    SPARING_ASSIGN_OR_RETURN(const Spend spend, network.run(work.jobs));
    outcome.spend += spend;
    SPARING_ASSIGN_OR_RETURN(const auto fused, fuse(work, patches, streams));
    for (std::size_t s = 0; s < streams; ++s) {
      if (views[s] == nullptr) continue;
      SPARING_RETURN_IF_ERROR(feeds[s].found(views[s]->timestamp, fused[s]));
      looks[s][f] = fused[s];
    }
  }
  SPARING_ASSIGN_OR_RETURN(outcome.boxes, fill_clip(clip, looks));
  return outcome;
}

}  // namespace sparing::bench
