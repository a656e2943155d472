// Where composed pictures go: videos with and without alpha, and folders of PNGs. One ordered table
// of formats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/base/timestamp.h"
#include "sparing/io/picture.h"
#include "sparing/io/source.h"

namespace sparing {

struct PictureFormat {
  std::string_view name;       // "mp4", "mov", "webm", "png"
  std::string_view extension;  // the same; of "png" empty: it is a folder
  bool alpha;                  // whether it can hold alpha
  std::string_view description;
};
std::span<const PictureFormat> picture_formats();

struct PictureSinkOptions {
  std::string format;  // by name; empty: from the path
  // Whether pictures come with alpha that must be kept (cutout).
  bool alpha = false;
  int crf = 23;                     // quality of mp4 and webm, 0 (best) to 51
  Rational frame_rate{0, 1};        // nominal, for rate control; 0/1: unknown
  std::string title;                // metadata of videos
  std::vector<SourceInfo> sources;  // files that must not be overwritten
};

// Not thread-safe. Times of pictures grow strictly.
class PictureSink {
 public:
  virtual ~PictureSink() = default;  // without finish(): temporary files are removed
  // The picture as it is shown, with its timestamp and duration. A later picture of another size is
  // scaled to the first one's (videos), or keeps its own (PNGs). Pixels are copied before it
  // returns. kOutput: what could not be written, and why; write() and finish() return the same
  // error from then on.
  virtual Status write(const Picture& picture) = 0;
  // Completes the output and gives it its final name; also the way to keep what was computed when a
  // run ends early. Once. kOutput: no picture was written, or as write().
  virtual Status finish() = 0;
  virtual std::string name() const = 0;  // for messages: the path
  // Pictures taken, and after an error those that were kept.
  virtual std::int64_t pictures() const = 0;
};

// `path`: a file whose extension tells the format, or a folder for PNGs (one that exists, or a name
// that ends in '/', or any with format "png"), which get the names 000000.png, 000001.png, ...
// Videos are written under a temporary name in the same directory and renamed by finish(); devices
// and pipes are written directly, each PNG is whole or absent. Missing parent directories are made.
// kOutput: cannot be created. kInvalidArgument: unknown format or extension; alpha asked of a
// format without it; a crf out of range; a path that is, by whatever link, one of the sources'
// files. kNotSupported: this build of FFmpeg has no encoder for it.
Result<std::unique_ptr<PictureSink>> open_picture_sink(const std::filesystem::path& path,
                                                       const PictureSinkOptions& options = {});

}  // namespace sparing
