// Label maps as files: where segmentations go, and where they and ground truth come from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sparing/base/class_map.h"
#include "sparing/base/result.h"
#include "sparing/io/sink.h"
#include "sparing/io/source.h"

namespace sparing {

// ---- Single maps

// An 8-bit grey PNG whose values are the labels. Files as by write_file (sparing/io/file.h).
// kInvalidArgument: a map that is not dense, sides not in 1..kMaxFrameExtent; else as write_png.
Status write_label_png(const std::filesystem::path& file, const LabelMap& labels);

// The labels of such a file; of a PNG with a palette its indices. kInput: missing, not a PNG,
// damaged, or of another kind (RGB, 16 or fewer than 8 bits of grey), whose values are no labels.
Result<LabelMap> read_label_png(const std::filesystem::path& file);

// ---- Where segmentations go

// The segmentation of one frame. `labels` may have another size than the frame.
struct MaskResult {
  int stream = 0;
  SourceFrame source;
  const LabelMap& labels;
};

// Not thread-safe. Frames of a stream arrive in order.
class MaskSink {
 public:
  virtual ~MaskSink() = default;  // without finish(): temporary files are removed
  // kOutput: what could not be written, and why. After it, write() and finish() return the same
  // error; the whole frames before it are kept under the final names. kInvalidArgument: labels that
  // are not dense, sides not in 1..kMaxFrameExtent; nothing was written.
  virtual Status write(const MaskResult& result) = 0;
  // Completes the output. Also the way to keep what was computed when a run ends early. Once.
  virtual Status finish() = 0;
  virtual std::string name() const = 0;  // for messages: the path, or "-"
  // Frames that were taken, and after an error those that were kept.
  virtual std::int64_t frames() const = 0;
};

struct MaskFormat {
  std::string_view name;       // "png", "rle"
  std::string_view extension;  // "" (a folder), "jsonl"
  std::string_view description;
};
std::span<const MaskFormat> mask_formats();

struct MaskSinkOptions {
  std::string format;    // by name; empty: from the extension of the path
  bool replace = false;  // png: whether the folder may hold pictures already
};

// "png": `path` is a folder, made where it is missing; one file a frame, named as the picture it is
// of (STEM.png), or by the number of the video's frame, 000012.png. One input only. Each file
// appears when it is complete. "rle": `path` is a file, or "-" for standard output, of JSON Lines
// (docs/outputs.md), as open_sink() writes them. kOutput: cannot be created; kInvalidArgument:
// unknown format or extension, several sources for "png", a folder that holds pictures already
// (unless `replace`), a file that is, by whatever link, one of the sources'.
Result<std::unique_ptr<MaskSink>> open_mask_sink(const std::filesystem::path& path,
                                                 const RunInfo& run,
                                                 const MaskSinkOptions& options = {});

// ---- Where they come from

// Label maps by the frames of a source. Not thread-safe.
class MaskReader {
 public:
  virtual ~MaskReader() = default;
  // Of that frame; none where it has none. Frames are asked for in order. kInput: unreadable,
  // damaged, not label maps; names the file, and the line and field.
  virtual Result<std::optional<LabelMap>> next(const SourceFrame& frame) = 0;
  // After the last frame: how many maps belong to no frame. kInput: maps were paired by order, and
  // some are left, so that the pairs are in doubt; as next().
  virtual Result<std::int64_t> finish() = 0;
  virtual std::string pairing() const = 0;  // for messages: "by name", "by number", "by order"
};

struct MaskReaderOptions {
  // Of JSON Lines of several streams this one; none: all lines must be of one.
  std::optional<std::int64_t> stream;
};

// `path` is a folder of PNG files (not those of folders below it, hidden files left out), or a file
// of JSON Lines as the "rle" sink writes it; `frames` is the source that they are of.
// How a folder's files and frames belong together: where the frames are pictures, and one of them
// has the name of a file but for the ending, by name; where they are a video's, and all names are
// whole numbers, by number (from 0); else in natural order, all of them. Lines: by their frame
// number. kInput: missing, a folder without PNG files, two of one number.
Result<std::unique_ptr<MaskReader>> open_masks(const std::filesystem::path& path,
                                               const SourceInfo& frames,
                                               const MaskReaderOptions& options = {});

}  // namespace sparing
