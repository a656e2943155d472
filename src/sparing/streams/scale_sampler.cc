#include "sparing/streams/scale_sampler.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sparing/packing/packer.h"
#include "sparing/streams/canvas_runner.h"
#include "sparing/streams/model_canvas.h"

namespace sparing {
namespace {

// Least overlap (IoU) of an object with the region that is taken for its own.
constexpr float kSameObject = 0.3f;
// Objects that were found less surely are not followed (StreamOptions::follow_score).
constexpr float kFollowScore = 0.25f;

Box box_of(const Rect& rect) {
  return {static_cast<float>(rect.x), static_cast<float>(rect.y), static_cast<float>(rect.right()),
          static_cast<float>(rect.bottom())};
}

Size drawn_size(const Rect& rect, double scale) {
  return {std::max(1, static_cast<int>(std::lround(rect.width * scale))),
          std::max(1, static_cast<int>(std::lround(rect.height * scale)))};
}

// An object of the whole frame, the region in which it would be looked for, and what was found in
// it at each scale.
struct Candidate {
  Detection reference;
  Roi region;  // padded, as it is drawn
  ScaleFeatures features;
  std::vector<ScaleTrial> trials;
};

// One candidate at one scale.
struct Drawing {
  std::size_t candidate = 0;
  double scale = 1;
  Size size;
};

}  // namespace

struct ScaleSampler::Impl {
  Impl(Detector detector, RoiExtractor roi_extractor, const ScaleSamplerOptions& sampler_options)
      : options(sampler_options),
        processor{"trials", std::move(detector), nominal_profile("", "", {1, 1}), {}},
        runner(std::span(&processor, 1), Clock::now()),
        extractor(std::move(roi_extractor)) {}

  Result<std::vector<Detection>> detect_whole(const VideoFrame& frame);
  Result<std::vector<Candidate>> find_candidates(const VideoFrame& frame,
                                                 std::span<const Detection> detections,
                                                 std::span<const Roi> rois);
  std::vector<Drawing> list_drawings(std::span<const Candidate> candidates, bool enlarge) const;
  Result<std::vector<CanvasJob>> pack(const VideoFrame& frame,
                                      std::span<const Candidate> candidates,
                                      std::vector<Drawing>& drawings,
                                      std::vector<std::vector<Drawing>>& on_jobs) const;
  // At the reference's scale and below; with `enlarge`, above.
  Status try_scales(const VideoFrame& frame, std::span<Candidate> candidates, bool enlarge);
  // Takes out those that were found at some scale.
  Status label(std::vector<Candidate>& candidates);
  Status follow(std::span<const Detection> detections, std::span<const Roi> rois);
  Status run(std::span<CanvasJob> jobs);
  const ModelInput& input() const { return processor.detector.impl().manifest.input; }
  Size canvas_for(Size size) const { return sparing::canvas_for(input(), 1, size); }

  ScaleSamplerOptions options;
  LabelOptions labels;
  MergeOptions merge;
  Processor processor;
  CanvasRunner runner;
  RoiExtractor extractor;
  std::int64_t frames = 0;
  std::int64_t next_object = 0;
  std::vector<LabelledRegion> samples;
  ScaleSamplerCounters counters;
};

Status ScaleSampler::Impl::run(std::span<CanvasJob> jobs) {
  for (const CanvasJob& job : jobs) {
    ++counters.canvases;
    counters.canvas_pixels += std::int64_t{job.report.size.width} * job.report.size.height;
  }
  return runner.run(jobs, {}, {});
}

Result<std::vector<Detection>> ScaleSampler::Impl::detect_whole(const VideoFrame& frame) {
  const Size size = display_size(frame);
  const Rect whole{0, 0, static_cast<double>(size.width), static_cast<double>(size.height)};
  double scale = options.reference_scale;
  Size drawn = drawn_size(whole, scale);
  const Size canvas = canvas_for(drawn);
  if (drawn.width > canvas.width || drawn.height > canvas.height) {
    scale = std::min(static_cast<double>(canvas.width) / size.width,
                     static_cast<double>(canvas.height) / size.height);
    drawn = {std::min(canvas.width, drawn_size(whole, scale).width),
             std::min(canvas.height, drawn_size(whole, scale).height)};
  }
  CanvasJob job;
  job.report.size = canvas;
  CanvasRegion& region = job.report.regions.emplace_back();
  region.roi.rect = whole;
  region.roi.source = RoiSource::kWholeFrame;
  region.scale = scale;
  region.place = {0, 0, drawn.width, drawn.height};
  job.frames = {&frame};
  SPARING_RETURN_IF_ERROR(run(std::span(&job, 1)));
  std::vector<Detection> detections;
  for (const RoiDetection& found : job.found[0]) detections.push_back(found.detection);
  return detections;
}

// Each object with the region that is most like it: a followed one counts before those of motion.
Result<std::vector<Candidate>> ScaleSampler::Impl::find_candidates(
    const VideoFrame& frame, std::span<const Detection> detections, std::span<const Roi> rois) {
  std::vector<Candidate> candidates;
  for (const Detection& detection : detections) {
    if (detection.score <= labels.confidence) continue;
    ++counters.objects;
    const Roi* best = nullptr;
    float best_rank = kSameObject;
    for (const Roi& roi : rois) {
      if (roi.source == RoiSource::kWholeFrame || !is_scalable(roi)) continue;
      const bool known = has_object(roi);
      const float overlap = iou(known ? roi.object : box_of(roi.rect), detection.box);
      const float rank = overlap >= kSameObject && known ? overlap + 1 : overlap;
      if (rank < best_rank) continue;
      best_rank = rank;
      best = &roi;
    }
    if (best == nullptr) {
      ++counters.no_region;
      continue;
    }
    Candidate& candidate = candidates.emplace_back();
    candidate.reference = detection;
    candidate.features = scale_features(*best);
    candidate.region = *best;
    candidate.region.rect = pad_rect(best->rect, display_size(frame), merge);
  }
  return candidates;
}

std::vector<Drawing> ScaleSampler::Impl::list_drawings(std::span<const Candidate> candidates,
                                                       bool enlarge) const {
  std::vector<Drawing> drawings;
  const Size most = canvas_for({options.canvas, options.canvas});
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    for (const double scale : kScaleLevels) {
      if (enlarge != (scale > options.reference_scale)) continue;
      const double height = candidate.reference.box.height() * scale;
      if (enlarge && height > options.largest_object) continue;
      const Size size = drawn_size(candidate.region.rect, scale);
      if (size.width > most.width || size.height > most.height) continue;
      drawings.push_back({i, scale, size});
    }
  }
  std::stable_sort(drawings.begin(), drawings.end(), [](const Drawing& a, const Drawing& b) {
    return a.size.height > b.size.height;
  });
  return drawings;
}

// As many canvases as it takes; each is cropped to what is used of it.
Result<std::vector<CanvasJob>> ScaleSampler::Impl::pack(
    const VideoFrame& frame, std::span<const Candidate> candidates, std::vector<Drawing>& drawings,
    std::vector<std::vector<Drawing>>& on_jobs) const {
  std::vector<CanvasJob> jobs;
  const Size canvas = canvas_for({options.canvas, options.canvas});
  PackOptions packing;
  packing.gap = options.distance;
  while (!drawings.empty()) {
    std::vector<Size> sizes;
    for (const Drawing& drawing : drawings) sizes.push_back(drawing.size);
    SPARING_ASSIGN_OR_RETURN(const Packing packed,
                             pack_rects(sizes, std::span(&canvas, 1), packing));
    CanvasJob& job = jobs.emplace_back();
    std::vector<Drawing>& placed = on_jobs.emplace_back();
    std::vector<Drawing> left;
    job.report.size = canvas_for({canvas.width, packed.used_heights[0]});
    for (std::size_t i = 0; i < drawings.size(); ++i) {
      if (!packed.placements[i].placed()) {
        left.push_back(drawings[i]);
        continue;
      }
      placed.push_back(drawings[i]);
      CanvasRegion& region = job.report.regions.emplace_back();
      region.roi = candidates[drawings[i].candidate].region;
      region.scale = drawings[i].scale;
      region.place = packed.placements[i].rect;
      region.purpose = DrawPurpose::kProbe;
      job.frames.push_back(&frame);
    }
    drawings = std::move(left);
  }
  return jobs;
}

Status ScaleSampler::Impl::try_scales(const VideoFrame& frame, std::span<Candidate> candidates,
                                      bool enlarge) {
  for (Candidate& candidate : candidates) candidate.trials.clear();
  std::vector<Drawing> drawings = list_drawings(candidates, enlarge);
  counters.trials += std::ssize(drawings);
  std::vector<std::vector<Drawing>> on_jobs;
  SPARING_ASSIGN_OR_RETURN(std::vector<CanvasJob> jobs, pack(frame, candidates, drawings, on_jobs));
  SPARING_RETURN_IF_ERROR(run(jobs));
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    for (std::size_t i = 0; i < on_jobs[j].size(); ++i) {
      ScaleTrial& trial = candidates[on_jobs[j][i].candidate].trials.emplace_back();
      trial.scale = on_jobs[j][i].scale;
      for (const RoiDetection& found : jobs[j].found[i]) {
        trial.detections.push_back(found.detection);
      }
    }
  }
  return {};
}

Status ScaleSampler::Impl::label(std::vector<Candidate>& candidates) {
  std::vector<Candidate> left;
  for (Candidate& candidate : candidates) {
    std::optional<SafeScale> safe;
    if (!candidate.trials.empty()) {
      SPARING_ASSIGN_OR_RETURN(safe,
                               label_safe_scale(candidate.reference, candidate.trials, labels));
    }
    if (safe) {
      samples.push_back({frames, {candidate.features, *safe}});
    } else {
      left.push_back(std::move(candidate));
    }
  }
  candidates = std::move(left);
  return {};
}

// Objects keep the ids of the regions that followed them.
Status ScaleSampler::Impl::follow(std::span<const Detection> detections,
                                  std::span<const Roi> rois) {
  std::vector<KnownObject> objects;
  std::vector<char> taken(rois.size(), 0);
  for (const Detection& detection : detections) {
    if (detection.score < kFollowScore) continue;
    KnownObject& object = objects.emplace_back(KnownObject{detection, -1});
    std::size_t best = rois.size();
    float best_overlap = kSameObject;
    for (std::size_t i = 0; i < rois.size(); ++i) {
      if (taken[i] || rois[i].object_id < 0 || rois[i].class_id != detection.class_id) continue;
      const float overlap = iou(rois[i].object, detection.box);
      if (overlap < best_overlap) continue;
      best_overlap = overlap;
      best = i;
    }
    if (best < rois.size()) {
      taken[best] = 1;
      object.id = rois[best].object_id;
    } else {
      object.id = next_object++;
    }
  }
  return extractor.set_objects(objects);
}

ScaleSampler::ScaleSampler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ScaleSampler::ScaleSampler(ScaleSampler&&) noexcept = default;
ScaleSampler& ScaleSampler::operator=(ScaleSampler&&) noexcept = default;
ScaleSampler::~ScaleSampler() = default;

Result<ScaleSampler> ScaleSampler::create(Detector detector, const ScaleSamplerOptions& options,
                                          const LabelOptions& labels, const RoiOptions& rois,
                                          const MergeOptions& merge) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  SPARING_RETURN_IF_ERROR(validate_options(labels));
  SPARING_RETURN_IF_ERROR(validate_options(merge));
  SPARING_ASSIGN_OR_RETURN(RoiExtractor extractor, RoiExtractor::create(rois));
  auto impl = std::make_unique<Impl>(std::move(detector), std::move(extractor), options);
  impl->labels = labels;
  impl->merge = merge;
  return ScaleSampler(std::move(impl));
}

Status ScaleSampler::add(const VideoFrame& frame) {
  Impl& impl = *impl_;
  SPARING_ASSIGN_OR_RETURN(const FrameRois rois, impl.extractor.add(frame));
  const std::int64_t index = impl.frames;
  if (index % impl.options.every == 0) {
    SPARING_ASSIGN_OR_RETURN(const std::vector<Detection> detections, impl.detect_whole(frame));
    SPARING_ASSIGN_OR_RETURN(std::vector<Candidate> candidates,
                             impl.find_candidates(frame, detections, rois.rois));
    // Larger only what is not found as it is: a failure up there would say nothing of those below.
    for (const bool enlarge : {false, true}) {
      SPARING_RETURN_IF_ERROR(impl.try_scales(frame, candidates, enlarge));
      SPARING_RETURN_IF_ERROR(impl.label(candidates));
    }
    impl.counters.never_found += std::ssize(candidates);
    SPARING_RETURN_IF_ERROR(impl.follow(detections, rois.rois));
    ++impl.counters.frames;
  }
  ++impl.frames;
  return {};
}

std::span<const LabelledRegion> ScaleSampler::samples() const { return impl_->samples; }
const ScaleSamplerCounters& ScaleSampler::counters() const { return impl_->counters; }

}  // namespace sparing
