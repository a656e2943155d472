// Finding models: by a manifest's name, by a manifest file, or by a bare model file that is
// inspected. Nothing here downloads.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/models/manifest.h"
#include "sparing/webnn/webnn.h"

namespace sparing {

struct ModelPaths {
  std::vector<std::filesystem::path> manifest_dirs;  // searched in order for NAME.json
  std::filesystem::path model_dir;                   // where `models get` puts files
};
// $XDG_CACHE_HOME/sparing, else ~/.cache/sparing; empty for a user without a home.
std::filesystem::path user_cache_dir();

// $SPARING_MODELS_DIR or user_cache_dir()/models for files; `share_dir`/models and the model_dir
// itself for manifests.
ModelPaths default_model_paths(const std::filesystem::path& share_dir);

struct ModelListEntry {
  ModelManifest manifest;
  std::filesystem::path manifest_file;
  bool present = false;  // the file is there (its hash is checked on use, not on listing)
  std::filesystem::path file;
  std::string problem;  // why the manifest cannot be used (then only its name holds); else empty
};
// By directory, then by name; of two manifests with one name the first counts. A manifest that
// cannot be used is listed with its problem. kModel: a directory that exists cannot be read.
Result<std::vector<ModelListEntry>> list_models(const ModelPaths& paths);

// `spec` is a manifest's name ("nanodet-g"), a manifest file (*.json; its model file lies beside
// it, or in model_dir), or a bare .onnx / .xml file: then `context` loads it to see its inputs and
// outputs, which are matched with a head (see match_head). Checks the SHA-256 of files whose
// manifest has one. kModel: unknown name (the known ones are listed), file missing (fix: `sparing
// models get NAME`), wrong hash (expected and found), no head matches.
Result<Model> resolve_model(std::string_view spec, const ModelPaths& paths, Context& context);

// The AuxNet of a segmentation model: `spec` (as resolve_model takes it), or without one what the
// model's manifest names (`aux`), sought as NAME.json beside that manifest, then as resolve_model
// does; nullopt when it names none. A bare file with as many classes gets the main model's labels.
// Errors as resolve_model and check_pair.
Result<std::optional<Model>> resolve_aux(const Model& main, const ModelPaths& paths,
                                         Context& context, std::string_view spec = {});

// Whether two models can decide together. kModel: one is not for segmentation, or their labels are
// not the same (the first that differs is named).
Status check_pair(const ModelManifest& main, const ModelManifest& aux);

// Whether a model is of this task. kModel: what it is for, and the command that runs it.
Status check_task(const ModelManifest& manifest, ModelTask task);

// Guesses a manifest from a graph's inputs and outputs: the first row of the head table whose
// shapes fit, or else one for segmentation (docs/models.md). kModel when none does: says what was
// found and what is supported.
Result<ModelManifest> match_head(const Graph& graph, std::string_view name);

// Whether a loaded graph is what its manifest says: the input's name, type and fixed shape, and the
// outputs' names. kModel: names expected and found.
Status check_graph(const ModelManifest& manifest, const Graph& graph);

// SHA-256 of a file in lower-case hex.
Result<std::string> sha256_file(const std::filesystem::path& file);

}  // namespace sparing
