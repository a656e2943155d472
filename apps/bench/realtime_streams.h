// Runs of many paced streams, and what is judged of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sparing/base/annotation.h"
#include "sparing/io/source.h"
#include "sparing/models/registry.h"
#include "sparing/packing/latency_profile.h"
#include "sparing/streams/stream_run.h"
#include "sparing/webnn/webnn.h"

namespace sparing::bench {

// Every `step`-th frame of a source from `first` on; indices and times are the source's own.
std::unique_ptr<VideoSource> select_frames(std::unique_ptr<VideoSource> source, std::int64_t first,
                                           std::int64_t step);

// A video that is played again and again, its first pass from frame `first` on.
struct PlayedVideo {
  std::filesystem::path file;
  std::int64_t first = 0;
};
Result<StreamInput> open_played(const PlayedVideo& video);

struct RealtimeSetting {
  Context context;
  Model model;
  LatencyProfile profile;
  std::string processor;  // its name
};
// Measures the profile.
Result<RealtimeSetting> realtime_setting(Context context, Model model);

inline constexpr double kPrecisionScore = 0.05;  // least confidence, for average precision
inline constexpr double kModelsScore = -1;       // the model's own
// A detector of persons with that network.
Result<Detector> person_detector(const RealtimeSetting& setting, const std::string& size = "",
                                 double score = kPrecisionScore);
Result<StreamDetector> person_streams(const RealtimeSetting& setting, const StreamOptions& options,
                                      const StreamTuning& tuning = {},
                                      double score = kPrecisionScore);

struct RealtimeRun {
  StreamsSummary summary;
  double due = 0;          // frames a second
  double fps = 0;          // written; see steady_rate()
  double latency_p50 = 0;  // seconds: of the streams the middle one
  double latency_p95 = 0;  // and the slowest one
  double cores = 0;        // busy with it
  double rss_mb = 0;       // the most after any window
  std::int64_t dropped = 0;
  std::vector<DetectionSet> boxes;  // of each stream; images are indices in the run

  // Within 2 % of what is due, and not one frame dropped.
  bool holds() const { return fps >= 0.98 * due && dropped == 0; }
};

// A run's first windows are short: the first ends with the first frame. Frames are counted once
// they come as late as they will go on coming.
inline constexpr double kSettleSeconds = 2;

// Frames a second from windows as they came: from the first one that ended after kSettleSeconds to
// the last but one; the last is cut short. 0 when there are not that many.
struct WrittenAt {
  double seconds = 0;
  std::int64_t frames = 0;
};
double steady_rate(std::span<const WrittenAt> windows);

// All videos paced for `seconds`, mode auto, decode included.
Result<RealtimeRun> run_realtime(const RealtimeSetting& setting,
                                 const std::vector<PlayedVideo>& videos, double seconds);

// The frames of a pass that are judged. The step has no common factor with the distances at which
// frames are looked at, nor with the windows, so that frames looked at and frames filled in are
// judged as they come.
inline constexpr std::int64_t kJudgedStep = 7;
inline bool is_judged(std::int64_t index, std::int64_t stream) {
  return index % kJudgedStep == stream % kJudgedStep;
}

// The truth of a stream for the judged ones of its first `frames` frames, whose pass (as `truth`
// has it) began with frame `first`. Image ids are made different for different streams, as
// judged_boxes() does.
void add_judged_truth(const AnnotationSet& truth, std::int64_t first, std::int64_t frames,
                      std::int64_t stream, AnnotationSet& all);
// The boxes of a stream's judged frames; `first` and `pass` (frames) as for its truth.
void add_judged_boxes(const DetectionSet& boxes, std::int64_t first, std::int64_t pass,
                      std::int64_t stream, DetectionSet& all);

// Of the class persons, in every `step`-th frame from `first` on, with the whole frame as the
// network's input, at `size`.
Result<DetectionSet> whole_frame_boxes(const RealtimeSetting& setting,
                                       const std::filesystem::path& video, const std::string& size,
                                       std::int64_t first, std::int64_t step);

}  // namespace sparing::bench
