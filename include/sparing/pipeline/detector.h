// Whole-frame detection: a source, a model and sinks, run as overlapping stages
// (decode | import | inference | post-processing | output).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/io/sink.h"
#include "sparing/io/source.h"
#include "sparing/models/registry.h"
#include "sparing/webnn/webnn.h"

namespace sparing {

struct DetectOptions {
  std::vector<std::string> classes;  // labels to report; empty: all
  double score = -1;                 // least confidence; -1: the model's default
  double iou = -1;                   // NMS threshold; -1: the model's default
  bool class_agnostic = false;       // boxes of different classes suppress each other too
  int max_detections = 0;            // best ones kept of a frame; 0: the model's default
  std::string size;                  // "WxH" of the network's input; empty: the model's default

  static constexpr auto fields() {
    return std::tuple{
        option("classes", &DetectOptions::classes)
            .help("report only these labels, e.g. person,car (default: all)"),
        option("score", &DetectOptions::score)
            .help("least confidence of a detection (default: the model's; 0.3 of nanodet-g)")
            .range(0, 1)
            .unset(-1),
        option("iou", &DetectOptions::iou)
            .help(
                "overlap (IoU) above which the lesser of two boxes is dropped (default: the model's; "
                "0.6 of nanodet-g)")
            .range(0, 1)
            .unset(-1),
        option("class-agnostic", &DetectOptions::class_agnostic)
            .help("let boxes of different classes suppress each other, too"),
        option("max-detections", &DetectOptions::max_detections)
            .help("best detections kept of a frame (default: the model's, often 300)")
            .range(1, 100000)
            .unset(0),
        option("size", &DetectOptions::size)
            .help("size of the network's input; smaller is faster and misses small objects "
                  "(default: the model's, often the frame's own size)")
            .unit("WxH"),
    };
  }
};

// "768x576" to a Size; kInvalidArgument otherwise.
Result<Size> parse_size(std::string_view text);

// Durations of one stage, over all frames.
struct StageStatistics {
  std::string name;  // "decode", "import", "inference", "post-processing", "output"
  std::int64_t count = 0;
  double total_seconds = 0;
  double p50_seconds = 0;
  double p95_seconds = 0;
  double max_seconds = 0;
};

struct DropCount {
  std::string reason;
  std::int64_t count = 0;
};

// What one output holds when the run is over.
struct OutputState {
  std::string name;            // the sink's
  std::int64_t frames = 0;     // of all streams
  std::optional<Error> error;  // says at which frame it failed, and what it holds
};

// What a run did, whole or not.
struct RunSummary {
  std::int64_t frames = 0;  // written; after a failure of an output, what the fullest holds
  std::int64_t detections = 0;
  double wall_seconds = 0;
  Size input_size;  // of the network, for the last frame
  std::vector<StageStatistics> stages;
  std::vector<DropCount> dropped_frames;  // reasons with a count above 0
  std::vector<DropCount> dropped_detections;
  std::int64_t full_frames =
      0;  // frames with more than max_detections, of which the best were kept
  std::int64_t damaged_frames = 0;     // decoded with errors, used all the same
  std::int64_t hdr_frames = 0;         // PQ or HLG, used without tone mapping (see is_hdr)
  std::optional<Timestamp> last_time;  // of the last frame written
  bool interrupted = false;            // the stop token ended it
  std::optional<Error> error;        // what ended the run early; results before it are in the sinks
  std::vector<OutputState> outputs;  // by sink
};

struct Progress {
  std::int64_t frames = 0;
  std::int64_t detections = 0;
  std::optional<std::int64_t> total_frames;
  double wall_seconds = 0;
};

struct RunControl {
  std::stop_token stop;                              // ends the run after the frames in flight
  std::function<void(const Progress&)> on_progress;  // after each frame, from the output thread
  // Each input tensor as the network sees it ([1,C,H,W] or [1,H,W,C] float32), before
  // post-processing; from the post-processing thread, in order. The data are valid during the call
  // only. An error ends the run.
  std::function<Status(std::int64_t frame, std::span<const std::int64_t> shape,
                       std::span<const float> data)>
      on_input;
};

// Finds objects with one model in one context. Not thread-safe; several detectors may share a
// context.
class Detector {
 public:
  // Loads the model's graph. kInvalidArgument: an option out of range, an unknown class (the known
  // ones are listed), a size that the model does not take; kModel as Context::load_graph.
  static Result<Detector> create(Context context, const Model& model,
                                 const DetectOptions& options = {});
  Detector(Detector&&) noexcept;
  Detector& operator=(Detector&&) noexcept;
  ~Detector();

  const std::vector<std::string>& labels() const;
  // The network's input size for a frame of this display size.
  Result<Size> input_size(Size display_size) const;

  // One frame, synchronously. Boxes are in display coordinates, clipped to the frame, best first.
  Result<std::vector<Detection>> detect(const VideoFrame& frame);

  // Every frame of the source, in order, into every sink; then finishes the sinks, also after an
  // error or an interrupt, so that what was computed is kept (unless not one frame was). Memory is
  // bounded: a handful of frames are in flight.
  RunSummary run(VideoSource& source, std::span<ResultSink* const> sinks,
                 const RunControl& control = {});

  // For the modules above, which schedule the same steps in another way.
  struct Impl;
  Impl& impl() { return *impl_; }
  const Impl& impl() const { return *impl_; }

 private:
  explicit Detector(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing
