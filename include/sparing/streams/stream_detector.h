// Packed detection on many streams (Mondrian, DESIGN.md section 4): regions of all streams are
// found, scaled, packed on shared canvases, inferred together and mapped back, window by window.
//
//   add_frame() ... add_frame()   regions of each frame, as it comes (section 4.1)
//   finish_window()               merge and scale (4.1, 4.2), plan and pack (4.3), draw, infer and
//                                 reconstruct (4.4), fill what was skipped or dropped (4.5)
//
// This is the work without threads and sources; stream_run.h drives it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/io/source.h"
#include "sparing/packing/multiple_choice.h"
#include "sparing/packing/priority.h"
#include "sparing/packing/scale_estimator.h"
#include "sparing/streams/processor.h"
#include "sparing/streams/stream_options.h"
#include "sparing/track/filler.h"

namespace sparing {

// Why a region was drawn.
enum class DrawPurpose {
  kDetect,   // to find objects
  kRefresh,  // a whole frame, to measure what was missed
  kTrial,    // a whole frame at another scale, to measure that way
  kProbe,    // a region at another scale, to tune it (section 4.2.3)
};
std::string_view to_string(DrawPurpose purpose);

// One region as it was drawn on a canvas.
struct CanvasRegion {
  int stream = 0;
  std::int64_t frame = 0;  // index within the source
  Roi roi;                 // its rect is what was drawn, display coordinates
  double scale = 1;        // drawn pixels per pixel of the frame
  PixelRect place;         // on the canvas
  Affine to_frame;         // canvas pixels to display coordinates
  DrawPurpose purpose = DrawPurpose::kDetect;
  std::vector<Detection> detections;  // display coordinates; empty until the canvas was read
};

// One canvas as the network saw it.
struct CanvasReport {
  std::int64_t index = 0;  // over the run
  std::int64_t window = 0;
  Size size;
  int processor = 0;
  std::vector<CanvasRegion> regions;
  // Seconds since the detector was created.
  double draw_start = 0;
  double draw_seconds = 0;
  double read_start = 0;  // after the inference
  double read_seconds = 0;
  double inference_seconds = 0;  // on its processor
  double planned_seconds = 0;    // by the profile
  // The input tensor, [1,3,H,W] or [1,H,W,3], normalised; valid during the call only.
  std::span<const float> pixels;
  Layout layout = Layout::kNchw;
};

// What was found in one frame and why it was looked at.
struct FrameReport {
  int stream = 0;
  std::int64_t frame = 0;
  std::vector<Roi> rois;  // as extracted
  GlobalChange change = GlobalChange::kNone;
  bool key = false;                     // looked at
  DetectWay way = DetectWay::kNothing;  // how
  // Seconds since the detector was created, and what looking for regions took; 0: not looked for.
  double extract_start = 0;
  double extract_seconds = 0;
};

struct WindowReport {
  std::int64_t index = 0;
  double start = 0;  // seconds since the detector was created
  double seconds = 0;
  double plan_seconds = 0;
  double budget_seconds = 0;   // infinite: none
  double spent_seconds = 0;    // detector time, measured
  double planned_seconds = 0;  // detector time, by the profiles
  double fill = 0;             // of the packed canvases; 0: none
  // Inferences that were the first of their size on their lane: the engine makes its code in them.
  std::int64_t first_runs = 0;
  std::vector<FrameReport> frames;
  DropTally drops;
};

// To look into a run. Calls come from the thread that called finish_window(), in order; the frames
// are alive during on_window(). An error ends the run.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  virtual Status on_canvas(const CanvasReport&) { return {}; }
  // `frame(stream, index)` gives the picture of a key frame of this window; null for others.
  virtual Status on_window(const WindowReport&,
                           const std::function<const VideoFrame*(int, std::int64_t)>&) {
    return {};
  }
};

struct StreamInfo {
  std::string name;
  Rational frame_rate{0, 1};  // nominal; 0/1: unknown
};

// The boxes of one frame.
struct StreamFrameResult {
  int stream = 0;
  SourceFrame source;  // without pixels unless StreamDetector::keep_pictures() was asked for
  std::vector<FilledBox> boxes;
  bool inspected = false;  // the network looked at it, or at regions of it
};

struct WindowResult {
  std::vector<StreamFrameResult> frames;  // by stream, then in order
  WindowReport report;
};

// Recall of one way as measured against whole frames.
struct MeasuredRecall {
  double recall = -1;  // -1: not measured yet
  double weight = 0;   // objects compared, older ones counting less
};

// What a stream did so far.
struct StreamStatistics {
  std::string name;
  std::int64_t frames = 0;
  std::int64_t key_frames = 0;         // looked at
  std::int64_t partial_frames = 0;     // between them, where only what was new was looked at
  std::int64_t unseen_key_frames = 0;  // should have been, but their regions were dropped
  std::int64_t detections = 0;
  FillCounters fill;
  RoiStatistics rois;
  ScaleCounters scales;
  DropTally dropped_regions;
  std::int64_t rested_regions = 0;  // left out: nothing was found there a moment ago
  std::int64_t regions = 0;         // drawn, to detect
  std::int64_t drawn_pixels = 0;    // to detect
  std::int64_t windows_packed = 0;  // by the way they were looked at
  std::int64_t windows_whole = 0;
  std::int64_t windows_tiles = 0;
  std::int64_t refreshes = 0;
  DetectWay way = DetectWay::kNothing;  // now
  double scale = 1;                     // of whole frames, now
  int every = 1;                        // now
  MeasuredRecall recall;                // of the ways it was looked at
  double detector_seconds = 0;          // its share of the canvases, by drawn area; measured
};

struct DetectorTotals {
  std::int64_t windows = 0;
  std::int64_t canvases = 0;
  std::int64_t canvas_pixels = 0;
  double detector_seconds = 0;          // measured, summed over the processors
  double planned_detector_seconds = 0;  // by the profiles
  // Likewise, about: in which all that was asked for could have been looked at. What is not found
  // for want of a budget asks for nothing, so that it is rather too little.
  double wanted_detector_seconds = 0;
  double refresh_seconds = 0;  // part of the measured: refreshes and trials
  double probe_seconds = 0;    // part of the measured: probes
  double extract_seconds = 0;
  double plan_seconds = 0;
  double draw_seconds = 0;
  double read_seconds = 0;  // post-processing and reconstruction
  double fill_seconds = 0;  // tracking and filling
  double packed_area = 0;   // placed regions / canvases: the fill is the quotient
  double packed_canvas_area = 0;
  // Measured spending (where that enters no decision: planned) above 1.1 times the budget.
  std::int64_t windows_over_budget = 0;
  std::vector<std::int64_t> canvases_of;  // of each processor
  // Of the network's detections; those below the score are none.
  std::vector<DropCount> dropped_detections;
  std::int64_t full_canvases = 0;  // with more detections than are kept of their regions
};

class StreamDetector {
 public:
  // kInvalidArgument: an option out of range, no processor, processors whose labels differ.
  static Result<StreamDetector> create(std::vector<Processor> processors,
                                       const StreamOptions& options = {},
                                       const StreamTuning& tuning = {});
  StreamDetector(StreamDetector&&) noexcept;
  StreamDetector& operator=(StreamDetector&&) noexcept;
  ~StreamDetector();

  const std::vector<std::string>& labels() const;
  // As they were given.
  const StreamOptions& options() const;
  int processors() const;

  // Spends what the networks' first runs cost more than later ones, before the clock of cameras
  // starts: runs each once at the first looks at frames of these sizes (display), and for up to
  // three seconds at shared canvases of at most `most_seconds` each, e.g. a window's budget, the
  // cheapest first. Errors as Context::create_tensor and dispatch.
  Status warm_up(std::span<const Size> frames, double most_seconds);

  // A stream joins; its number. Numbers are not used again. Not while add_frame() or
  // finish_window() runs.
  Result<int> add_stream(const StreamInfo& info);
  // A stream has ended: after the next finish_window(), which gives what is left of it, it is gone.
  // May be called where add_frame() may.
  Status end_stream(int stream);

  // Takes the next frame of a stream and finds its regions. True: the stream's part of the window
  // is whole, and add_frame() is next allowed after finish_window(). Different streams may be
  // served by different threads at the same time, but not during finish_window(), add_stream() or
  // another call for the same stream. kInvalidArgument: as validate(frame), a timestamp not after
  // the last one's.
  Result<bool> add_frame(int stream, SourceFrame frame);

  // Detects in what was added. The last frame of each stream is looked at, so that all its frames
  // have results. After an error the window's frames are lost, and the detector can go on.
  // kInterrupted: stopped between two canvases.
  Result<WindowResult> finish_window();

  // From the next frame on, results keep their pictures. For sinks that render.
  void keep_pictures(bool keep);
  // Seconds of detector time for the next window, in place of StreamOptions::budget; infinite:
  // none.
  void set_window_budget(double seconds);
  void set_observer(StreamObserver* observer);
  // Ends finish_window() after the canvases in flight.
  void set_stop(std::stop_token stop);

  StreamStatistics statistics(int stream) const;
  DetectorTotals totals() const;
  const Processor& processor(int index) const;
  // Sizes that shared canvases may have.
  std::span<const CanvasShape> canvases() const;

  struct Impl;

 private:
  explicit StreamDetector(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing
