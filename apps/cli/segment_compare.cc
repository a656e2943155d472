// --compare main: the input, MainNet alone and the chosen mode side by side, with what is known of
// each written below, as the application of Park et al. (CVPR 2022, section 4) shows it.
#include <array>
#include <charconv>
#include <cstdio>
#include <functional>
#include <utility>

#include "segment_outputs.h"
#include "sparing/base/clock.h"
#include "sparing/base/thread_pool.h"
#include "sparing/compose/class_overlay.h"
#include "sparing/compose/comparison_panel.h"
#include "sparing/io/masks.h"
#include "sparing/io/picture.h"
#include "sparing/io/picture_sink.h"
#include "sparing/pipeline/mask_evaluation.h"

namespace sparing::cli {
namespace {

// Of the curves below the pictures.
constexpr Rgb kMainColor{255, 150, 60};
constexpr Rgb kModeColor{90, 210, 255};
// Frames over which the rate is averaged.
constexpr double kRateShare = 0.1;

std::string number(std::optional<double> share) {
  if (!share) return "-";
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", *share * 100);
  return text;
}

// "mIoU 61.2, so far 60.5"
std::string figure(const char* name, std::optional<double> now, std::optional<double> so_far) {
  return std::string(name) + " " + number(now) + ", so far " + number(so_far);
}

// What does not fit is in the ground truth, whatever the call that noticed.
Status of_frame(Status status, const SourceFrame& frame) {
  if (status.ok()) return status;
  Error error = status.error();
  if (error.code == ErrorCode::kInvalidArgument) error.code = ErrorCode::kInput;
  error.thing = "frame " + std::to_string(frame.index) + ", " + error.thing;
  error.fix += " (--ignore)";
  return error;
}

// One of the two segmentations.
class Side {
 public:
  Side(const LabelClasses& classes, ClassOverlay overlay)
      : evaluation_(classes), overlay_(std::move(overlay)) {}

  Status add(const PicturePair& pair, const LabelMap& labels, const LabelMap* truth,
             const Picture& input, const MaskEvaluation::ParallelFor& parallel_for) {
    SPARING_RETURN_IF_ERROR(evaluation_.add(pair, labels, truth, parallel_for));
    SPARING_RETURN_IF_ERROR(picture_.copy_from(input));
    return overlay_.draw(labels, picture_);
  }
  // F-TC and PC are shown beside the mIoU only: they rise, too, when a segmentation goes wrong.
  PanelItem item(std::string title, Rgb color) const {
    const MaskFigures now = evaluation_.last();
    const MaskFigures all = evaluation_.total();
    PanelItem item;
    item.picture = &picture_;
    item.title = std::move(title);
    item.color = color;
    if (all.truth_frames > 0) {
      item.lines = {figure("mIoU", now.scores.miou, all.scores.miou),
                    figure("F-TC", now.ftc, all.ftc), figure("PC", now.pc, all.pc)};
      item.curve = now.ftc ? std::optional(*now.ftc * 100) : std::nullopt;
    } else {
      item.lines = {"mIoU, F-TC, PC: no ground truth (--gt)", "", ""};
    }
    return item;
  }

 private:
  MaskEvaluation evaluation_;
  ClassOverlay overlay_;
  Picture picture_;
};

class ComparisonOutput final : public FrameOutput {
 public:
  ComparisonOutput(Side main, Side mode, ComparisonPanel panel)
      : main_(std::move(main)), mode_(std::move(mode)), panel_(std::move(panel)) {}

  std::unique_ptr<PictureSink> sink;
  std::unique_ptr<MaskReader> truth;
  std::string mode_name;

  Status take(SegmentedFrame& frame) override {
    const VideoFrame& view = frame.source.frame.view();
    std::optional<LabelMap> labels;
    if (truth) {
      SPARING_ASSIGN_OR_RETURN(labels, truth->next(frame.source));
      if (labels && labels->size != frame.labels.size) {
        return Error{
            ErrorCode::kInput, "the ground truth of frame " + std::to_string(frame.source.index),
            std::to_string(labels->size.width) + "x" + std::to_string(labels->size.height) +
                " where the picture has " + std::to_string(frame.labels.size.width) + "x" +
                std::to_string(frame.labels.size.height),
            "give labels of the pictures' own size"};
      }
    }
    SPARING_RETURN_IF_ERROR(converter_.convert(view, input_));
    SPARING_RETURN_IF_ERROR(analysis_.add(view, pair_));
    const LabelMap* known = labels ? &*labels : nullptr;
    const auto parallel_for = [&](int count, const std::function<void(int)>& body) {
      pool_.parallel_for(count, body);
    };
    SPARING_RETURN_IF_ERROR(
        of_frame(main_.add(pair_, frame.main_labels, known, input_, parallel_for), frame.source));
    SPARING_RETURN_IF_ERROR(
        of_frame(mode_.add(pair_, frame.labels, known, input_, parallel_for), frame.source));
    const std::array<PanelItem, 3> items{input_item(frame), main_.item("MainNet alone", kMainColor),
                                         mode_.item(mode_name, kModeColor)};
    SPARING_RETURN_IF_ERROR(panel_.draw(items, picture_));
    return sink->write(picture_);
  }
  Status finish() override { return sink->finish(); }
  std::string name() const override { return sink->name(); }
  std::int64_t frames() const override { return sink->pictures(); }

 private:
  PanelItem input_item(const SegmentedFrame& frame) {
    const auto now = Clock::now();
    if (frames_++ > 0) {
      const double seconds = std::chrono::duration<double>(now - last_).count();
      seconds_ = frames_ == 2 ? seconds : seconds_ + kRateShare * (seconds - seconds_);
    }
    last_ = now;
    const FrameTimes& t = frame.times;
    std::array<char, 80> line{};
    const auto text = [&](const char* format, auto... values) {
      std::snprintf(line.data(), line.size(), format, values...);
      return std::string(line.data());
    };
    PanelItem item;
    item.picture = &input_;
    item.title = "input, frame " + std::to_string(frame.source.index);
    item.lines = {
        // The figures themselves take most of the time here.
        text("%.1f fps with figures", seconds_ > 0 ? 1 / seconds_ : 0.0),
        text("ms: MainNet %.1f, import %.1f", t.main * 1e3, t.import * 1e3),
        text("motion %.1f, fuse %.1f, labels %.1f", t.motion * 1e3, t.fusion * 1e3, t.labels * 1e3),
        text("AuxNet %.1f, learn %.1f", t.aux * 1e3, t.learn * 1e3)};
    return item;
  }

  Side main_;
  Side mode_;
  ComparisonPanel panel_;
  ThreadPool pool_{ThreadPoolOptions{.name = "figures"}};
  PictureConverter converter_;
  PictureAnalysis analysis_;
  PicturePair pair_;
  Picture input_;
  Picture picture_;
  Clock::time_point last_{};
  double seconds_ = 0;
  std::int64_t frames_ = 0;
};

Result<std::vector<std::uint8_t>> ignored_labels(const std::vector<std::string>& texts) {
  std::vector<std::uint8_t> labels;
  for (const std::string& text : texts) {
    int label = -1;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), label);
    if (code != std::errc() || end != text.data() + text.size() || label < 0 || label > 255) {
      return Error{ErrorCode::kInvalidArgument, "--ignore", "'" + text + "' is no label",
                   "give whole numbers from 0 to 255, e.g. 11,255"};
    }
    labels.push_back(static_cast<std::uint8_t>(label));
  }
  return labels;
}

}  // namespace

Result<std::unique_ptr<FrameOutput>> open_comparison(const SegmentSettings& settings,
                                                     const SegmentRunInfo& info) {
  SPARING_ASSIGN_OR_RETURN(const std::vector<std::uint8_t> ignored,
                           ignored_labels(settings.ignore));
  SPARING_ASSIGN_OR_RETURN(
      const LabelClasses classes,
      LabelClasses::create(static_cast<int>(info.manifest.labels.size()), ignored));
  ClassOverlayOptions overlay;
  overlay.labels = info.manifest.labels;
  overlay.palette = label_colors(info.manifest);
  overlay.strength = settings.overlay_strength;
  overlay.legend = settings.legend;
  SPARING_ASSIGN_OR_RETURN(ClassOverlay main_overlay, ClassOverlay::create(overlay));
  SPARING_ASSIGN_OR_RETURN(ClassOverlay mode_overlay, ClassOverlay::create(overlay));
  ComparisonPanelOptions panel;
  panel.curves = !settings.gt.empty();
  panel.curve_title = "F-TC per frame";
  panel.curve_low = 50;
  SPARING_ASSIGN_OR_RETURN(ComparisonPanel drawn, ComparisonPanel::create(panel));
  auto output =
      std::make_unique<ComparisonOutput>(Side(classes, std::move(main_overlay)),
                                         Side(classes, std::move(mode_overlay)), std::move(drawn));
  output->mode_name = std::string(sparing::info(info.mode).name);
  if (!settings.gt.empty()) {
    SPARING_ASSIGN_OR_RETURN(output->truth, open_masks(settings.gt, info.run.sources[0]));
  }
  PictureSinkOptions options;
  options.crf = settings.crf;
  options.frame_rate = info.run.sources[0].frame_rate;
  options.title = "MainNet and " + output->mode_name + ", segmented by " + info.run.model;
  options.sources = info.run.sources;
  SPARING_ASSIGN_OR_RETURN(output->sink, open_picture_sink(settings.render, options));
  return std::unique_ptr<FrameOutput>(std::move(output));
}

}  // namespace sparing::cli
