// FlexPatch as Mondrian describes it: objects are followed by optical flow, and detection runs for
// what cannot be followed (and for what is new) only, packed on one input at full scale.
#include <algorithm>
#include <cmath>
#include <map>

#include "baseline_feed.h"
#include "baselines.h"
#include "sparing/packing/packer.h"
#include "sparing/packing/reconstruct.h"

namespace sparing::bench {
namespace {

constexpr int kSides[] = {128, 192, 256, 320, 384, 480, 576, 640};
// A followed object that a patch shows again is replaced by what was found there.
constexpr float kSame = 0.5f;
// Followed points that look so different from before are not trusted (grey levels).
constexpr float kMaxTrackingError = 20;

RoiOptions flow_options() {
  RoiOptions options;
  options.lost = "drop";
  options.flow_interval = 1;
  return options;
}

// One stream's objects and where to look for more.
class FlexStream {
 public:
  static Result<FlexStream> create() {
    SPARING_ASSIGN_OR_RETURN(RoiExtractor extractor, RoiExtractor::create(flow_options()));
    return FlexStream(std::move(extractor));
  }

  struct Step {
    std::vector<Detection> followed;
    std::vector<Rect> patches;  // those of lost objects first
    bool whole = false;
  };

  Result<Step> add(const VideoFrame& view, Size frame) {
    SPARING_ASSIGN_OR_RETURN(const FrameRois regions, extractor_.add(view));
    Step step;
    step.whole = regions.change != GlobalChange::kNone;
    if (step.whole) return step;
    std::vector<Rect> fresh;
    for (const Roi& roi : regions.rois) {
      const auto known = objects_.find(roi.object_id);
      if (roi.source != RoiSource::kFlow || known == objects_.end()) {
        fresh.push_back(pad_rect(roi.rect, frame, {}));
        continue;
      }
      if (roi.flow.tracking_error > kMaxTrackingError) continue;  // lost
      const Box box = clip(roi.object, frame.width, frame.height);
      if (box.area() > 0) {
        step.followed.push_back({box, known->second.score, known->second.class_id});
      }
      objects_.erase(known);
    }
    for (const auto& [id, lost] : objects_) {
      const Box box = clip(lost.box, frame.width, frame.height);
      if (box.area() <= 0) continue;
      step.patches.push_back(pad_rect({box.x0, box.y0, box.width(), box.height()}, frame, {}));
    }
    step.patches.insert(step.patches.end(), fresh.begin(), fresh.end());
    return step;
  }

  Status follow(const std::vector<Detection>& detections) {
    objects_.clear();
    std::vector<KnownObject> known;
    for (const Detection& detection : detections) {
      if (detection.score < kFollowScore) continue;
      objects_[next_id_] = detection;
      known.push_back({detection, next_id_++});
    }
    return extractor_.set_objects(known);
  }

 private:
  explicit FlexStream(RoiExtractor extractor) : extractor_(std::move(extractor)) {}
  RoiExtractor extractor_;
  std::map<std::int64_t, Detection> objects_;
  std::int64_t next_id_ = 0;
};

// The smallest square that holds all patches, or the largest and what it holds, first come first.
Result<InputJob> pack(const std::vector<Rect>& patches, const VideoFrame& view) {
  std::vector<Size> sizes;
  for (const Rect& patch : patches) {
    sizes.push_back({std::max(1, std::min(kSides[std::size(kSides) - 1],
                                          static_cast<int>(std::lround(patch.width)))),
                     std::max(1, std::min(kSides[std::size(kSides) - 1],
                                          static_cast<int>(std::lround(patch.height))))});
  }
  InputJob job;
  for (const int side : kSides) {
    const Size canvas{side, side};
    SPARING_ASSIGN_OR_RETURN(const Packing packing, pack_rects(sizes, {&canvas, 1}));
    job = {canvas, {}, {}};
    for (std::size_t i = 0; i < patches.size(); ++i) {
      if (!packing.placements[i].placed()) continue;
      job.drawings.push_back({&view, patches[i], packing.placements[i].rect});
    }
    if (job.drawings.size() == patches.size()) break;
  }
  return job;
}

class FlexPatch : public Approach {
 public:
  explicit FlexPatch(int refresh) : refresh_(refresh) {}
  std::string method() const override { return "FlexPatch"; }
  std::string settings() const override { return "whole frame " + every_text(refresh_); }

  Result<Outcome> run(const Clip& clip, Network& network) override {
    Outcome outcome;
    std::vector<StreamLooks> looks(clip.streams.size());
    for (std::size_t s = 0; s < looks.size(); ++s) {
      SPARING_ASSIGN_OR_RETURN(FlexStream stream, FlexStream::create());
      looks[s].resize(clip.streams[s].frames.size());
      for (std::size_t f = 0; f < looks[s].size(); ++f) {
        SPARING_ASSIGN_OR_RETURN(looks[s][f], look(clip, s, f, network, stream, outcome.spend));
        SPARING_RETURN_IF_ERROR(stream.follow(*looks[s][f]));
      }
    }
    SPARING_ASSIGN_OR_RETURN(outcome.boxes, fill_clip(clip, looks));
    return outcome;
  }

 private:
  Result<std::vector<Detection>> look(const Clip& clip, std::size_t s, std::size_t f,
                                      Network& network, FlexStream& stream, Spend& spend) const {
    const VideoFrame& view = clip.streams[s].frames[f].frame.view();
    SPARING_ASSIGN_OR_RETURN(FlexStream::Step step, stream.add(view, clip.size));
    if (step.whole || f % static_cast<std::size_t>(refresh_) == 0) {
      const Size input = network.nearest_input(clip.size.width, clip.size.height);
      SPARING_ASSIGN_OR_RETURN(const Network::Look* whole,
                               network.whole(clip, s, f, input, refresh_));
      spend += whole->spend;
      return whole->detections;
    }
    if (step.patches.empty()) return std::move(step.followed);
    SPARING_ASSIGN_OR_RETURN(InputJob job, pack(step.patches, view));
    SPARING_ASSIGN_OR_RETURN(const Spend spent, network.run({&job, 1}));
    spend += spent;
    std::vector<RoiDetection> found;
    for (std::size_t d = 0; d < job.found.size(); ++d) {
      for (RoiDetection detection : job.found[d]) {
        detection.roi = d;
        found.push_back(detection);
      }
    }
    SPARING_ASSIGN_OR_RETURN(const std::vector<RoiDetection> fused, fuse_detections(found));
    std::vector<Detection> boxes;
    for (const RoiDetection& detection : fused) boxes.push_back(detection.detection);
    for (const Detection& followed : step.followed) {
      const bool replaced = std::any_of(fused.begin(), fused.end(), [&](const RoiDetection& d) {
        return d.detection.class_id == followed.class_id &&
               iou(d.detection.box, followed.box) > kSame;
      });
      if (!replaced) boxes.push_back(followed);
    }
    return boxes;
  }

  int refresh_;
};

}  // namespace

std::unique_ptr<Approach> flex_patch(int refresh) { return std::make_unique<FlexPatch>(refresh); }

}  // namespace sparing::bench
