// Segmentation of one stream: a source, a MainNet, by mode an AuxNet that learns, and temporal
// fusion, run as overlapping stages:
//
//   decode -> motion, import, MainNet -> AuxNet, fusion, labels -> output
//
// so that MainNet is at the next frames while AuxNet learns from this one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sparing/adapt/stream_segmenter.h"
#include "sparing/base/class_map.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/io/source.h"
#include "sparing/models/registry.h"
#include "sparing/models/segmentation_head.h"
#include "sparing/pipeline/detector.h"
#include "sparing/webnn/webnn.h"

namespace sparing {

struct SegmentOptions {
  std::string mode = "auto";
  int main_every = 1;
  double budget = 0;
  std::string size;
  bool deterministic = false;

  static constexpr auto fields() {
    return std::tuple{
        option("mode", &SegmentOptions::mode)
            .help("how a frame's masks come about; auto: auxadapt+temporal with an AuxNet, "
                  "else temporal. aux, ema, emaflow and tent are there to compare with")
            .choices("auto|main|ensemble|auxadapt|temporal|ensemble+temporal|auxadapt+temporal|aux|"
                     "ema|emaflow|tent"),
        option("main-every", &SegmentOptions::main_every)
            .help(
                "MainNet looks at every n-th frame (and after cuts); between, masks move with the "
                "picture")
            .unit("frames")
            .range(1, 100),
        option("budget", &SegmentOptions::budget)
            .help("time a frame may take on average; chooses --main-every (0: no limit)")
            .unit("s")
            .range(0, 3600),
        option("size", &SegmentOptions::size)
            .help("size of MainNet's input (default: the model's)")
            .unit("WxH"),
        option("deterministic", &SegmentOptions::deterministic)
            .help(
                "the same bytes from run to run with the same --threads: no clock in any decision"),
    };
  }
};

// Of AuxNet in a stream: its batch norms go by each frame, whose light and colour they so follow;
// that alone is most of what keeps it good when a picture is not as those it was trained on. It
// learns on every other frame, twice as much.
inline TrainerOptions stream_trainer_options() {
  TrainerOptions options;
  options.batch_norm = "live";
  options.rate = 2e-3;
  options.precision = "auto";
  options.gradients = "auto";
  return options;
}

struct SegmenterOptions {
  SegmentOptions segment;
  MotionOptions motion;
  EnsembleOptions ensemble;
  FusionOptions fusion;
  LearnOptions learn;
  TrainerOptions trainer = stream_trainer_options();
  bool keep_main = false;  // MainNet's own labels of every frame are wanted, too (for comparisons)
};
// kInvalidArgument: an option out of range; options that contradict each other (--budget with
// --main-every or --deterministic); aux-only options are not checked against the mode.
Status validate(const SegmenterOptions& options);

struct FrameTimes {
  double motion = 0;  // seconds, each
  double import = 0;
  double main = 0;
  double aux = 0;
  double fusion = 0;
  double labels = 0;
  double learn = 0;  // of the frame before that was learnt from
};

struct SegmentedFrame {
  SourceFrame source;
  PictureMotion motion;      // to the frame before that showed something, as far as it was needed
  bool main_looked = false;  // MainNet saw this frame
  // At the network's output size, covers the whole picture as it is shown.
  ProbabilityMap probabilities;
  LabelMap labels;       // at display size
  LabelMap main_labels;  // MainNet's own, with keep_main; else empty
  FrameTimes times;
};

// Takes the frames of a run, in order, from one thread.
class SegmentConsumer {
 public:
  virtual ~SegmentConsumer() = default;
  // The frame is the consumer's to read, and to change, until it returns. An error ends the run.
  virtual Status take(SegmentedFrame& frame) = 0;
};

struct SegmentSummary {
  std::int64_t frames = 0;      // taken by the consumer
  std::int64_t main_looks = 0;  // of these, those that MainNet saw
  std::int64_t cuts = 0;
  std::int64_t blank_frames = 0;
  double wall_seconds = 0;
  Size input_size;   // MainNet's, for the last frame
  Size output_size;  // likewise
  std::vector<StageStatistics> stages;
  std::vector<DropCount> dropped_frames;
  SegmentationCounts unusable;  // pixels without an answer of MainNet
  LearnStatistics learning;
  std::int64_t damaged_frames = 0;
  std::int64_t hdr_frames = 0;
  std::optional<Timestamp> last_time;
  bool interrupted = false;
  std::optional<Error> error;
};

struct SegmentControl {
  std::stop_token stop;
  std::function<void(std::int64_t frames, double wall_seconds)> on_progress;  // output thread
};

// Not thread-safe. Holds the state of one stream: run() or segment() again continue it, reset()
// begins another.
class Segmenter {
 public:
  // Errors as Detector::create, StreamSegmenter::create and validate() above; kModel also: a model
  // that is not for segmentation, or whose input shows only a part of the frame (fit crop).
  static Result<Segmenter> create(Context context, const Model& main,
                                  const std::optional<Model>& aux,
                                  const SegmenterOptions& options = {});
  Segmenter(Segmenter&&) noexcept;
  Segmenter& operator=(Segmenter&&) noexcept;
  ~Segmenter();

  const std::vector<std::string>& labels() const;
  SegmentMode mode() const;
  // MainNet's input for a frame of this display size.
  Result<Size> input_size(Size display_size) const;
  const StreamSegmenter& stream() const;

  // One frame, synchronously, and the step of learning after it.
  Result<SegmentedFrame> segment(const VideoFrame& frame);
  // Every frame of the source, in order. Memory is bounded. The first error ends the stages
  // upstream; what is downstream still reaches the consumer.
  SegmentSummary run(VideoSource& source, SegmentConsumer& consumer,
                     const SegmentControl& control = {});
  void reset();

  struct Impl;

 private:
  explicit Segmenter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing
