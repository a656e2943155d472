// The steps of `sparing models quantize`, each usable on its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "sampled_source.h"
#include "sparing/base/annotation.h"
#include "sparing/base/result.h"
#include "sparing/models/registry.h"
#include "sparing/webnn/webnn.h"

namespace sparing::cli {

// A folder that is removed, with all in it, at the end.
class ScratchFolder {
 public:
  // Made with missing parents. kOutput: cannot be made.
  static Result<ScratchFolder> create(const std::filesystem::path& path);
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// Which frames of a clip calibrate, and on which the models are compared: evenly spaced over all of
// it, the latter half-way between the former (the same ones where a clip is that short).
struct FramePlan {
  std::set<std::int64_t> calibration;
  std::set<std::int64_t> check;
};
FramePlan plan_frames(std::int64_t total, std::int64_t wanted);

struct ClipRun {
  std::string clip;
  std::string size;  // WxH of the network's input; empty: the model's default
  FramePlan frames;
  std::filesystem::path dump_folder;  // for the inputs of the calibration frames; empty: none
  std::string dump_prefix;            // of their file names
  std::stop_token stop;
};

// Where the network's input of a frame that calibrates goes.
std::filesystem::path dump_file(const ClipRun& run, std::int64_t frame);
// The frames that a run needs: those to check, and those that calibrate where these are dumped.
SampledSource sampled(std::unique_ptr<VideoSource> clip, const ClipRun& run);

// What `model` finds in the frames to check, at scores of .05 and more. kInterrupted after a stop;
// others as Detector and sources give them.
Result<DetectionSet> detect_in_clip(Context& context, const Model& model, const ClipRun& run);

// The manifest of the quantised model: the original's, under its own name and with its own files.
// kModel: `name` is none for a model (models/README.md).
Result<ModelManifest> quantized_manifest(const ModelManifest& original, const std::string& name);

// Of the files of a model: an .xml counts with its .bin.
std::uint64_t model_bytes(const std::filesystem::path& file);

// Moves NAME.xml, NAME.bin and NAME.json from one folder to another on the same file system, in an
// order in which an interruption leaves no manifest without its files. kOutput.
Status keep_model(const std::string& name, const std::filesystem::path& from,
                  const std::filesystem::path& to);

}  // namespace sparing::cli
