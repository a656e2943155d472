#include "segment_clip.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sparing/io/masks.h"
#include "sparing/kernels/import.h"
#include "sparing/metrics/confusion.h"
#include "sparing/metrics/temporal.h"

namespace sparing::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kCamvidClasses = 11;
constexpr Rational kCamvidRate{15, 1};

class MemorySource final : public VideoSource {
 public:
  MemorySource(std::vector<SharedFrame> frames, std::int64_t count, Rational rate)
      : frames_(std::move(frames)), count_(count), rate_(rate) {
    info_.name = "memory";
    info_.display_size = display_size(frames_.front().view());
    info_.frame_rate = rate;
    info_.frame_count = count;
  }
  const SourceInfo& info() const override { return info_; }
  Result<std::optional<SourceFrame>> next() override {
    if (index_ >= count_) return std::optional<SourceFrame>();
    SourceFrame frame;
    frame.frame = frames_[static_cast<std::size_t>(index_) % frames_.size()];
    frame.frame.view().timestamp = {index_, {rate_.den, rate_.num}};
    frame.frame.view().duration = {1, {rate_.den, rate_.num}};
    frame.index = index_++;
    return std::optional(std::move(frame));
  }
  std::int64_t damaged_frames() const override { return 0; }

 private:
  std::vector<SharedFrame> frames_;
  std::int64_t count_;
  Rational rate_;
  SourceInfo info_;
  std::int64_t index_ = 0;
};

Status find_flow(const VideoFrame& from, const VideoFrame& to, FlowField& out) {
  LumaImage before, after;
  SPARING_RETURN_IF_ERROR(before.extract(from, 1));
  SPARING_RETURN_IF_ERROR(after.extract(to, 1));
  return DenseFlow(DenseFlowPreset::kMedium).compute(before, after, out);
}

FeatureView features_of(const LabelledClip& clip, int frame) {
  return {clip.feature_channels, clip.feature_size, clip.features[static_cast<std::size_t>(frame)]};
}

}  // namespace

RgbPixels to_rgb(const VideoFrame& frame) {
  RgbPixels pixels;
  pixels.size = display_size(frame);
  pixels.values.resize(static_cast<std::size_t>(pixels.size.width) *
                       static_cast<std::size_t>(pixels.size.height) * 3);
  const Shape shape{1, pixels.size.height, pixels.size.width, 3};
  // A frame that was decoded, at its own size, always fits.
  (void)import_frame(frame, {},
                     dense_view(reinterpret_cast<std::byte*>(pixels.values.data()),
                                DataType::kUint8, shape, Layout::kNhwc));
  return pixels;
}

SharedFrame to_frame(const RgbPixels& pixels, std::int64_t index, Rational frame_rate) {
  SharedFrame frame = std::move(allocate_frame(PixelFormat::kRgb24, pixels.size)).value();
  const auto row = static_cast<std::size_t>(pixels.size.width) * 3;
  for (int y = 0; y < pixels.size.height; ++y) {
    std::memcpy(mutable_plane(frame, 0) + y * frame.view().planes[0].stride,
                pixels.values.data() + static_cast<std::size_t>(y) * row, row);
  }
  frame.view().timestamp = {index, {frame_rate.den, frame_rate.num}};
  frame.view().duration = {1, {frame_rate.den, frame_rate.num}};
  return frame;
}

std::unique_ptr<VideoSource> play_frames(std::vector<SharedFrame> frames, std::int64_t count,
                                         Rational frame_rate) {
  return std::make_unique<MemorySource>(std::move(frames), count, frame_rate);
}

std::vector<int> ping_pong(int clip_frames, int frames) {
  std::vector<int> shown;
  const int period = std::max(1, 2 * (clip_frames - 1));
  for (int i = 0; i < frames; ++i) {
    const int at = i % period;
    shown.push_back(at < clip_frames ? at : period - at);
  }
  return shown;
}

Result<LabelledClip> load_camvid(const fs::path& folder) {
  LabelledClip clip;
  const std::uint8_t unlabelled = kCamvidClasses;
  SPARING_ASSIGN_OR_RETURN(clip.classes, LabelClasses::create(kCamvidClasses, {&unlabelled, 1}));
  SPARING_ASSIGN_OR_RETURN(auto source, open_source((folder / "val").string()));
  SPARING_ASSIGN_OR_RETURN(auto masks, open_masks(folder / "val_labels", source->info()));
  while (true) {
    SPARING_ASSIGN_OR_RETURN(auto frame, source->next());
    if (!frame) break;
    SPARING_ASSIGN_OR_RETURN(auto truth, masks->next(*frame));
    if (!truth || truth->size != display_size(frame->frame.view())) {
      return Error{ErrorCode::kInput, "the labels of '" + frame->file + "'",
                   truth ? "have another size than the picture" : "are missing",
                   "get the test material anew"};
    }
    const auto index = static_cast<std::int64_t>(clip.frames.size());
    clip.frames.push_back(to_frame(to_rgb(frame->frame.view()), index, kCamvidRate));
    clip.truth.push_back(std::move(*truth));
  }
  for (std::size_t t = 1; t < clip.frames.size(); ++t) {
    SPARING_RETURN_IF_ERROR(
        find_flow(clip.frames[t - 1].view(), clip.frames[t].view(), clip.flows.emplace_back()));
  }
  return clip;
}

Result<Judgement> judge(LabelledClip& clip, std::span<const int> shown,
                        std::span<const LabelMap> labels, bool with_pc) {
  Judgement result;
  ConfusionMatrix all(clip.classes);
  FlowConsistency consistency(clip.classes);
  double pc_sum = 0;
  int pc_pairs = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const int now = shown[i];
    ConfusionMatrix one(clip.classes);
    SPARING_RETURN_IF_ERROR(one.add(clip.truth[static_cast<std::size_t>(now)], labels[i]));
    all.add(one);
    result.frame_miou.push_back(one.scores().miou.value_or(0));
    if (i == 0) continue;
    const int before = shown[i - 1];
    FlowField reverse;
    const FlowField* flow = &reverse;
    if (before + 1 == now) {
      flow = &clip.flows[static_cast<std::size_t>(before)];
    } else {
      SPARING_RETURN_IF_ERROR(find_flow(clip.frames[static_cast<std::size_t>(before)].view(),
                                        clip.frames[static_cast<std::size_t>(now)].view(),
                                        reverse));
    }
    SPARING_RETURN_IF_ERROR(consistency.add(labels[i - 1], labels[i], {flow->dx, flow->dy}));
    result.frame_ftc.push_back(consistency.last().value_or(0));
    if (!with_pc) continue;
    SPARING_ASSIGN_OR_RETURN(
        const auto pc, perceptual_consistency({features_of(clip, before), labels[i - 1]},
                                              {features_of(clip, now), labels[i]}, clip.classes));
    if (!pc) continue;
    pc_sum += pc->value;
    ++pc_pairs;
  }
  result.miou = all.scores().miou.value_or(0);
  result.ftc = consistency.total().value_or(0);
  result.pc = pc_pairs > 0 ? pc_sum / pc_pairs : 0;
  return result;
}

}  // namespace sparing::bench
