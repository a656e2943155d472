#include "segment_clip.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sparing/io/masks.h"
#include "sparing/kernels/import.h"

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
  return clip;
}

Result<const PicturePair*> ClipJudge::pair(int before, int now) {
  const auto known = pairs_.find({before, now});
  if (known != pairs_.end()) return &known->second;
  PictureAnalysisOptions options;
  options.perceptual = with_pc_;
  PictureAnalysis analysis(options);
  PicturePair pair;
  SPARING_RETURN_IF_ERROR(
      analysis.add(clip_.frames[static_cast<std::size_t>(before)].view(), pair));
  if (now != before) {
    SPARING_RETURN_IF_ERROR(analysis.add(clip_.frames[static_cast<std::size_t>(now)].view(), pair));
  }
  return &pairs_.emplace(std::pair{before, now}, std::move(pair)).first->second;
}

Result<Judgement> ClipJudge::judge(std::span<const int> shown, std::span<const LabelMap> labels) {
  Judgement result;
  MaskEvaluation evaluation(clip_.classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const int now = shown[i];
    SPARING_ASSIGN_OR_RETURN(const PicturePair* picture, pair(i == 0 ? now : shown[i - 1], now));
    SPARING_RETURN_IF_ERROR(
        evaluation.add(*picture, labels[i], &clip_.truth[static_cast<std::size_t>(now)]));
    const MaskFigures last = evaluation.last();
    result.frame_miou.push_back(last.scores.miou.value_or(0));
    if (i > 0) result.frame_ftc.push_back(last.ftc.value_or(0));
  }
  result.total = evaluation.total();
  return result;
}

}  // namespace sparing::bench
