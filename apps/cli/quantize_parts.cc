#include "quantize_parts.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "npy.h"
#include "sparing/pipeline/detector.h"

namespace sparing::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kLeastScore = 0.05;  // AP needs the unsure boxes, too

class CollectingSink : public ResultSink {
 public:
  CollectingSink(const std::set<std::int64_t>& wanted, DetectionSet& set)
      : wanted_(wanted), set_(set) {}
  Status write(const FrameResult& result) override {
    if (wanted_.contains(result.source.index)) {
      set_.images.push_back({result.source.index, result.detections});
    }
    return {};
  }
  Status finish() override { return {}; }
  std::string name() const override { return "memory"; }

 private:
  const std::set<std::int64_t>& wanted_;
  DetectionSet& set_;
};

Error output_error(const fs::path& path, const std::error_code& error) {
  return {ErrorCode::kOutput, "folder '" + path.string() + "'", error.message(),
          "choose another --out folder, or free space"};
}

}  // namespace

Result<ScratchFolder> ScratchFolder::create(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return output_error(path.parent_path(), error);
  return ScratchFolder(path);
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

FramePlan plan_frames(std::int64_t total, std::int64_t wanted) {
  const std::int64_t count = std::min(total, wanted);
  FramePlan plan;
  for (std::int64_t i = 0; i < count; ++i) {
    plan.calibration.insert(i * total / count);
    plan.check.insert((2 * i + 1) * total / (2 * count));
  }
  return plan;
}

fs::path dump_file(const ClipRun& run, std::int64_t frame) {
  char number[32];
  std::snprintf(number, sizeof number, "%08lld.npy", static_cast<long long>(frame));
  return run.dump_folder / (run.dump_prefix + number);
}

SampledSource sampled(std::unique_ptr<VideoSource> clip, const ClipRun& run) {
  const FramePlan& frames = run.frames;
  return {std::move(clip),
          [&frames, dump = !run.dump_folder.empty()](std::int64_t i) {
            return frames.check.contains(i) || (dump && frames.calibration.contains(i));
          },
          std::max(*frames.check.rbegin(), *frames.calibration.rbegin())};
}

Result<DetectionSet> detect_in_clip(Context& context, const Model& model, const ClipRun& run) {
  DetectOptions options;
  options.size = run.size;
  options.score = kLeastScore;
  SPARING_ASSIGN_OR_RETURN(Detector detector, Detector::create(context, model, options));
  SourceOptions source_options;
  source_options.stop = run.stop;
  SPARING_ASSIGN_OR_RETURN(auto clip, open_source(run.clip, source_options));
  const FramePlan& frames = run.frames;
  SampledSource source = sampled(std::move(clip), run);
  DetectionSet found;
  found.labels = detector.labels();
  CollectingSink sink(frames.check, found);
  ResultSink* const sinks[] = {&sink};
  RunControl control;
  control.stop = run.stop;
  if (!run.dump_folder.empty()) {
    control.on_input = [&](std::int64_t frame, std::span<const std::int64_t> shape,
                           std::span<const float> data) -> Status {
      if (!frames.calibration.contains(frame)) return {};
      return write_npy(dump_file(run, frame), shape, DataType::kFloat32, std::as_bytes(data));
    };
  }
  const RunSummary summary = detector.run(source, sinks, control);
  if (summary.interrupted) {
    return Error{ErrorCode::kInterrupted, "clip '" + run.clip + "'", "stopped", "run it again"};
  }
  if (summary.error) return *summary.error;
  return found;
}

Result<ModelManifest> quantized_manifest(const ModelManifest& original, const std::string& name) {
  ModelManifest manifest = original;
  manifest.name = name;
  manifest.title = original.title + ", quantised to INT8";
  manifest.file = name + ".xml";
  manifest.sha256.clear();
  manifest.weights_sha256.clear();
  manifest.source = {};
  manifest.labels_file.clear();
  if (!manifest.licence.spdx.empty()) {
    std::string& notice = manifest.licence.notice;
    if (!notice.empty()) notice += " ";
    notice += "Changed by `sparing models quantize`: weights and activations in 8-bit integers.";
  }
  // The one judge of what a manifest may be.
  return parse_manifest(to_json(manifest), name + ".json");
}

std::uint64_t model_bytes(const fs::path& file) {
  std::error_code error;
  std::uint64_t bytes = fs::file_size(file, error);
  if (error) return 0;
  if (file.extension() == ".xml") {
    const std::uint64_t weights = fs::file_size(fs::path(file).replace_extension(".bin"), error);
    if (!error) bytes += weights;
  }
  return bytes;
}

Status keep_model(const std::string& name, const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::remove(to / (name + ".json"), error);
  for (const char* ending : {".bin", ".xml", ".json"}) {
    if (!error) fs::rename(from / (name + ending), to / (name + ending), error);
  }
  if (error) return output_error(to, error);
  return {};
}

}  // namespace sparing::cli
