// Where frames come from: files, directories and globs of images, standard input.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/base/timestamp.h"
#include "sparing/frame/video_frame.h"

namespace sparing {

struct SourceOptions {
  int decoder_threads = 1;      // 0: as many as FFmpeg chooses; more than 1 delays frames
  std::int64_t max_frames = 0;  // stop after so many; 0: all
  // Ends a call that waits for data (a silent pipe) with kInterrupted.
  std::stop_token stop;
};

struct SourceInfo {
  std::string name;       // as given by the user, without credentials
  std::string container;  // "avi", "image2", ...
  std::string codec;
  Size display_size;                        // of the first frame
  Rational frame_rate{0, 1};                // nominal; 0/1: unknown
  std::optional<std::int64_t> frame_count;  // estimate from the container
  std::vector<std::string> files;           // paths that are read: the video, or every image
  // A pipe: frames come in their writer's time, and one that is not read in time may be lost.
  bool live = false;
};

struct SourceFrame {
  // The decoder's buffer, not a copy, where its format is one of ours; others are converted. The
  // timestamp is the container's, exact in its time base. One that is missing, or not after the
  // frame before, is replaced by that frame's time plus its duration; times grow strictly.
  SharedFrame frame;
  std::int64_t index = 0;  // 0-based, consecutive
  bool damaged = false;    // the decoder reported an error in this picture
  std::string file;        // for image sequences: this picture's file; empty for videos
  // The decoder's own format in FFmpeg's words ("yuv420p12le"), of static storage, and whether the
  // frame was converted from it because it is none of ours.
  std::string_view stream_format;
  bool converted = false;
};

// Not thread-safe: one thread calls next() at a time. Frames may outlive the source.
class VideoSource {
 public:
  virtual ~VideoSource() = default;
  virtual const SourceInfo& info() const = 0;
  // The next frame; nullopt at the end of the stream. An Error (kInput) is not the end: it says
  // that the rest cannot be read, e.g. of a truncated file; all frames before it come first. After
  // an error or the end, every call returns the same again.
  virtual Result<std::optional<SourceFrame>> next() = 0;
  // So far: packets that the decoder refused, and frames it reported errors in.
  virtual std::int64_t damaged_frames() const = 0;
};

// `spec`: a video or image file, a directory (its images in natural order, not those of directories
// below it), a glob pattern with * ? [ ] (images, natural order), or "-" for a video container on
// standard input. Images are frames 1/25 s apart; one that cannot be decoded ends them with an
// error. Files are told apart by content, not by extension. Opening decodes the first frame, so
// that a file without video fails here. kInput: missing, a directory without images, empty,
// unreadable, not a video, no video stream. kNotSupported: network addresses.
//
// The first call takes FFmpeg's log callback, which is one per process: a library does not print.
Result<std::unique_ptr<VideoSource>> open_source(std::string_view spec,
                                                 const SourceOptions& options = {});

// The FFmpeg that decodes, e.g. "5.1.9-0+deb12u1".
std::string ffmpeg_version();

}  // namespace sparing
