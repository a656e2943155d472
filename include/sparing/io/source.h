// Where frames come from: files, directories and globs of images, standard input.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "sparing/base/result.h"
#include "sparing/base/timestamp.h"
#include "sparing/frame/video_frame.h"

namespace sparing {

struct SourceOptions {
  int decoder_threads = 1;
  std::int64_t max_frames = 0;  // stop after so many; 0: all
  // Ends a call that waits for data (a silent pipe) with kInterrupted.
  std::stop_token stop;
};

struct SourceInfo {
  std::string name;                         // as given by the user, without credentials
  std::string container;                    // "avi", "image2", ...
  std::string codec;
  Size display_size;                        // of the first frame
  Rational frame_rate{0, 1};                // nominal; 0/1: unknown
  std::optional<std::int64_t> frame_count;  // estimate from the container
};

struct SourceFrame {
  SharedFrame frame;       // timestamp set; the decoder's buffer, not a copy, where formats allow
  std::int64_t index = 0;  // 0-based, consecutive
  bool damaged = false;    // the decoder reported an error in this picture
  std::string file;        // for image sequences: this picture's file; empty for videos
};

// Not thread-safe: one thread calls next() at a time. Frames may outlive the source.
class VideoSource {
 public:
  virtual ~VideoSource() = default;
  virtual const SourceInfo& info() const = 0;
  // The next frame; nullopt at the end of the stream. An Error (kInput) is not the end: it says that
  // the rest cannot be read, e.g. of a truncated file. After an error or the end, every call returns
  // the same again.
  virtual Result<std::optional<SourceFrame>> next() = 0;
  // Counters so far: corrupt packets and frames skipped by the decoder.
  virtual std::int64_t damaged_frames() const = 0;
};

// `spec`: a video or image file, a directory (its images in natural order), a glob pattern with
// * ? [ ] (images, natural order), or "-" for a video container on standard input. Opening decodes
// the first frame, so that a file without video fails here. kInput: missing, a directory without
// images, empty, unreadable, not a video, no video stream.
Result<std::unique_ptr<VideoSource>> open_source(std::string_view spec,
                                                 const SourceOptions& options = {});

// The FFmpeg that decodes, e.g. "5.1.9-0+deb12u1".
std::string ffmpeg_version();

}  // namespace sparing
