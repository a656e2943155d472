// Where detections go. One ordered table of sinks; adding one is one file and one row.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/annotation.h"
#include "sparing/base/box_origin.h"
#include "sparing/base/result.h"
#include "sparing/io/source.h"

namespace sparing {

// What is known before the first frame.
struct RunInfo {
  std::vector<SourceInfo> sources;  // by stream index
  std::vector<std::string> labels;  // by class id
  std::string model;                // name, for the header
  std::string version;              // of Sparing
};

// The result of one frame. Boxes are in display coordinates of the frame.
struct FrameResult {
  int stream = 0;
  SourceFrame source;
  std::vector<Detection> detections;
  // Of each detection, in their order, from runs that do not look at every frame; else empty.
  std::vector<BoxTrack> tracks;
  std::optional<bool> inspected;  // from such runs: whether the network looked at this frame
};

// What an output holds of one stream.
struct HeldResults {
  std::int64_t frames = 0;
  std::int64_t detections = 0;
  std::array<std::int64_t, kBoxOrigins> boxes{};  // by origin, where tracks were given
  std::optional<Timestamp> last_time;             // of the last of these frames
};

// Not thread-safe. Frames of a stream arrive in order.
class ResultSink {
 public:
  virtual ~ResultSink() = default;  // without finish(): temporary files are removed
  // kOutput: what could not be written, and why. After it, write() and finish() return the same
  // error; text formats have by then kept the whole frames before it under the final name.
  // kInvalidArgument: a box or score that is not finite, tracks that are not one for each
  // detection; nothing was written.
  virtual Status write(const FrameResult& result) = 0;
  // Completes the output and gives it its final name. Also the way to keep what was computed
  // when a run ends early. Once.
  virtual Status finish() = 0;
  virtual std::string name() const = 0;  // for messages: the path, or "-"
  // What was taken of the stream, and after an error what was kept of that. None: it is not told.
  // The sinks of open_sink() tell.
  virtual std::optional<HeldResults> held(int stream) const {
    (void)stream;
    return std::nullopt;
  }
};

struct SinkFormat {
  std::string_view name;       // "jsonl", "coco", "mot", "video"
  std::string_view extension;  // "jsonl", "json", "txt", "mp4"
  std::string_view description;
};
std::span<const SinkFormat> sink_formats();

struct SinkOptions {
  std::string format;  // by name; empty: from the extension of the path
  int video_crf = 23;  // H.264 quality of "video", 0 (best) to 51
};

// `path` is a file, or "-" for standard output (formats jsonl, coco and mot; jsonl by default),
// where every frame's lines are written at once. /dev/stdout is the same; other descriptors of the
// process (/dev/fd/N, /proc/self/fd/N) are written from where they stand, as jsonl by default, and
// not closed. Files are written under a temporary name in the
// same directory, and renamed by finish(); devices and pipes are written directly. Missing parent
// directories are made. A closed pipe is an error only in a process that ignores SIGPIPE.
// kOutput: cannot be created; kInvalidArgument: unknown format or extension, a format that cannot
// go to standard output, several sources for a format that holds one (all but jsonl), or a path
// that is, by whatever link, one of the sources' files.
Result<std::unique_ptr<ResultSink>> open_sink(const std::filesystem::path& path, const RunInfo& run,
                                              const SinkOptions& options = {});

}  // namespace sparing
