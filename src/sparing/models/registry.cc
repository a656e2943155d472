#include "sparing/models/registry.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

namespace sparing {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Empty when the system knows none.
fs::path home_folder() {
  if (const std::string home = environment("HOME"); !home.empty()) return home;
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found) return {};
  return found->pw_dir != nullptr ? found->pw_dir : "";
}

// For a user without a home.
fs::path temporary_models() {
  std::error_code error;
  return fs::temp_directory_path(error) / "sparing-cache" / "sparing" / "models";
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string extension_of(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

Error model_error(std::string_view spec, std::string problem, std::string fix) {
  return {ErrorCode::kModel, "model '" + std::string(spec) + "'", std::move(problem),
          std::move(fix)};
}

// Where a manifest's model file may lie, in the order of the search. Files that `models get`
// fetches belong to the models folder, a user's own to the manifest.
std::vector<fs::path> candidate_files(const ModelManifest& manifest, const fs::path& manifest_file,
                                      const ModelPaths& paths) {
  const fs::path beside = manifest_file.parent_path() / manifest.file;
  const fs::path fetched = paths.model_dir / manifest.file;
  if (manifest.source.kind.empty()) return {beside, fetched};
  return {fetched, beside};
}

fs::path find_model_file(const ModelManifest& manifest, const fs::path& manifest_file,
                         const ModelPaths& paths) {
  const std::vector<fs::path> files = candidate_files(manifest, manifest_file, paths);
  const auto found = std::find_if(files.begin(), files.end(), is_file);
  return found != files.end() ? *found : files[0];
}

// A manifest in a searched folder is found by its file name, so that must be the model's.
Result<ModelManifest> load_named_manifest(const fs::path& file) {
  SPARING_ASSIGN_OR_RETURN(ModelManifest manifest, load_manifest(file));
  if (manifest.name != file.stem().string()) {
    return Error{ErrorCode::kModel, "manifest '" + file.string() + "'",
                 "field 'name': '" + manifest.name + "' is not the name of the file",
                 "rename the file to " + manifest.name + ".json, or the model"};
  }
  return manifest;
}

Result<std::vector<fs::path>> manifests_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  if (!fs::exists(folder, error)) return files;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".json" && is_file(entry->path())) {
      files.push_back(entry->path());
    }
  }
  if (error) {
    return Error{ErrorCode::kModel, "models folder '" + folder.string() + "'", error.message(),
                 "check the path and its permissions"};
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::string> known_names(const ModelPaths& paths) {
  SPARING_ASSIGN_OR_RETURN(const auto entries, list_models(paths));
  std::string names;
  for (const ModelListEntry& entry : entries) {
    names += (names.empty() ? "" : ", ") + entry.manifest.name;
  }
  return names;
}

Result<fs::path> find_manifest(std::string_view name, const ModelPaths& paths) {
  const bool plain = name.find('/') == std::string_view::npos;
  for (const fs::path& folder : paths.manifest_dirs) {
    const fs::path file = folder / (std::string(name) + ".json");
    if (plain && is_file(file)) return file;
  }
  std::error_code error;
  if (fs::exists(fs::path(name), error)) {
    return model_error(name, "neither a model file nor a manifest",
                       "give an .onnx or .xml file, a manifest (.json), or a model's name");
  }
  SPARING_ASSIGN_OR_RETURN(const std::string names, known_names(paths));
  return model_error(name, "no model of this name is known",
                     (names.empty() ? "" : "use one of " + names + ", or ") +
                         std::string("give an .onnx file or a manifest (.json)"));
}

Status check_hash(const ModelManifest& manifest, const fs::path& file, std::string_view field,
                  const std::string& expected) {
  if (expected.empty()) return ok_status();
  SPARING_ASSIGN_OR_RETURN(const std::string found, sha256_file(file));
  if (found == expected) return ok_status();
  const std::string fix =
      manifest.source.kind.empty()
          ? "use the file that the manifest is for, or correct its " + std::string(field)
          : "run `sparing models get " + manifest.name + "` to fetch it again";
  return Error{ErrorCode::kModel, "model file '" + file.string() + "'",
               "SHA-256 expected " + expected + ", found " + found, fix};
}

Result<Model> resolve_manifest(ModelManifest manifest, const fs::path& manifest_file,
                               const ModelPaths& paths) {
  const fs::path file = find_model_file(manifest, manifest_file, paths);
  if (!is_file(file)) {
    const std::string fix = manifest.source.kind.empty()
                                ? "put it there, or correct `file` of the manifest"
                                : "run `sparing models get " + manifest.name + "`";
    return model_error(manifest.name, "its file '" + file.string() + "' is missing", fix);
  }
  SPARING_RETURN_IF_ERROR(check_hash(manifest, file, "sha256", manifest.sha256));
  SPARING_RETURN_IF_ERROR(check_hash(manifest, fs::path(file).replace_extension(".bin"),
                                     "weights_sha256", manifest.weights_sha256));
  return Model{std::move(manifest), file, manifest_file};
}

// A guessed manifest's name in the words of the schema.
std::string name_from_file(const fs::path& file) {
  std::string name = file.stem().string().substr(0, 64);
  for (char& c : name) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
    if (!good) c = '-';
  }
  if (name.empty() || !std::isalnum(static_cast<unsigned char>(name[0]))) name = "m" + name;
  return name.substr(0, 64);
}

Result<Model> resolve_bare(const fs::path& file, Context& context) {
  if (!is_file(file)) {
    return model_error(file.string(), "no such file", "check the path");
  }
  SPARING_ASSIGN_OR_RETURN(const Graph graph, context.load_graph(file));
  SPARING_ASSIGN_OR_RETURN(ModelManifest manifest, match_head(graph, name_from_file(file)));
  manifest.file = file.filename().string();
  return Model{std::move(manifest), file, {}};
}

}  // namespace

fs::path user_cache_dir() {
  // Relative paths are to be ignored, says the XDG specification.
  const fs::path cache = environment("XDG_CACHE_HOME");
  if (cache.is_absolute()) return cache / "sparing";
  const fs::path home = home_folder();
  return home.empty() ? fs::path() : home / ".cache" / "sparing";
}

ModelPaths default_model_paths(const fs::path& share_dir) {
  ModelPaths paths;
  const std::string chosen = environment("SPARING_MODELS_DIR");
  const fs::path cache = user_cache_dir();
  if (!chosen.empty()) {
    paths.model_dir = chosen;
  } else {
    paths.model_dir = cache.empty() ? temporary_models() : cache / "models";
  }
  paths.manifest_dirs = {share_dir / "models", paths.model_dir};
  return paths;
}

Result<std::vector<ModelListEntry>> list_models(const ModelPaths& paths) {
  std::vector<ModelListEntry> entries;
  std::set<std::string> names;
  for (const fs::path& folder : paths.manifest_dirs) {
    SPARING_ASSIGN_OR_RETURN(const std::vector<fs::path> files, manifests_in(folder));
    for (const fs::path& file : files) {
      ModelListEntry entry;
      entry.manifest_file = file;
      Result<ModelManifest> manifest = load_named_manifest(file);
      if (manifest.ok()) {
        entry.manifest = *std::move(manifest);
        entry.file = find_model_file(entry.manifest, file, paths);
        entry.present = is_file(entry.file);
      } else {
        entry.manifest.name = file.stem().string();
        entry.problem = manifest.error().to_string();
      }
      if (names.insert(entry.manifest.name).second) entries.push_back(std::move(entry));
    }
  }
  return entries;
}

Result<Model> resolve_model(std::string_view spec, const ModelPaths& paths, Context& context) {
  if (spec.empty()) {
    return model_error(spec, "no name", "give a model's name, an .onnx file or a manifest (.json)");
  }
  const fs::path path(spec);
  const std::string extension = extension_of(path);
  if (extension == ".onnx" || extension == ".xml") return resolve_bare(path, context);
  if (extension == ".json") {
    SPARING_ASSIGN_OR_RETURN(ModelManifest manifest, load_manifest(path));
    return resolve_manifest(std::move(manifest), path, paths);
  }
  SPARING_ASSIGN_OR_RETURN(const fs::path file, find_manifest(spec, paths));
  SPARING_ASSIGN_OR_RETURN(ModelManifest manifest, load_named_manifest(file));
  return resolve_manifest(std::move(manifest), file, paths);
}

Result<std::optional<Model>> resolve_aux(const Model& main, const ModelPaths& paths,
                                         Context& context, std::string_view spec) {
  std::string chosen(spec);
  if (chosen.empty()) {
    chosen = main.manifest.aux;
    if (chosen.empty()) return std::optional<Model>();
    const fs::path beside = main.manifest_file.parent_path() / (chosen + ".json");
    if (!main.manifest_file.empty() && is_file(beside)) chosen = beside.string();
  }
  SPARING_ASSIGN_OR_RETURN(Model aux, resolve_model(chosen, paths, context));
  const bool bare = aux.manifest_file.empty();
  if (bare && aux.manifest.labels.size() == main.manifest.labels.size()) {
    aux.manifest.labels = main.manifest.labels;
    aux.manifest.palette = main.manifest.palette;
  }
  SPARING_RETURN_IF_ERROR(check_pair(main.manifest, aux.manifest));
  return std::optional<Model>(std::move(aux));
}

}  // namespace sparing
