#include "sparing/streams/scale_model_json.h"

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sparing/io/file.h"
#include "sparing/models/json_reader.h"
#include "sparing/streams/json_options.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

constexpr int kSchema = 1;
constexpr JsonLimits kLimits{std::size_t{4} << 20, 5};
constexpr JsonRange<double> kRate{0, 1};

std::vector<int> read_ints(JsonObject& object, std::string_view key) {
  std::vector<int> result;
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  for (const std::int64_t value : object.integers(key, {-1, kMost})) {
    result.push_back(static_cast<int>(value));
  }
  return result;
}

ScaleTreeData read_tree(JsonObject object) {
  ScaleTreeData tree;
  tree.features = object.texts("features");
  tree.feature = read_ints(object, "feature");
  tree.threshold = object.numbers("threshold", {});
  tree.left = read_ints(object, "left");
  tree.right = read_ints(object, "right");
  tree.level = read_ints(object, "level");
  tree.level_areas = object.numbers("level-areas", {});
  object.finish();
  return tree;
}

nlohmann::ordered_json tree_json(const ScaleTreeData& tree) {
  nlohmann::ordered_json json;
  json["features"] = tree.features;
  json["feature"] = tree.feature;
  json["threshold"] = tree.threshold;
  json["left"] = tree.left;
  json["right"] = tree.right;
  json["level"] = tree.level;
  json["level-areas"] = tree.level_areas;
  return json;
}

// What the parts refuse, as an error of the file.
Status check_usable(const ScaleModel& model, const std::string& thing) {
  const auto in_file = [&](Error error) {
    error.code = ErrorCode::kModel;
    error.thing = thing + ", " + error.thing;
    return error;
  };
  if (auto predictor = ScalePredictor::create(model); !predictor.ok()) {
    return in_file(predictor.error());
  }
  if (!model.tree) return {};
  if (auto tree = ScaleTree::create(*model.tree); !tree.ok()) return in_file(tree.error());
  return {};
}

}  // namespace

std::string to_json(const ScaleModel& model) {
  nlohmann::ordered_json json;
  json["schema"] = kSchema;
  json["model"] = model.model;
  json["precision"] = model.precision;
  json["predictor"] = model.predictor;
  json["min-scale"] = model.min_scale;
  json["max-scale"] = model.max_scale;
  write_options(model.height, json["height"]);
  if (model.height_under_rate >= 0) json["height-under-rate"] = model.height_under_rate;
  if (model.tree) json["tree"] = tree_json(*model.tree);
  if (model.tree_under_rate >= 0) json["tree-under-rate"] = model.tree_under_rate;
  return to_text(json);
}

Result<ScaleModel> parse_scale_model(std::string_view json, const std::string& name_for_errors) {
  const std::string thing = "scale model '" + name_for_errors + "'";
  JsonErrors errors(ErrorCode::kModel, thing, "docs/models.md");
  const auto document = parse_json(json, kLimits, errors);
  if (!document) return errors.status().error();
  JsonObject object(*document, "", errors);
  SPARING_RETURN_IF_ERROR(check_schema(object, kSchema, thing));
  ScaleModel model;
  model.model = object.text("model");
  model.precision = object.text("precision");
  model.predictor = object.text("predictor");
  model.min_scale = object.number("min-scale", {});
  model.max_scale = object.number("max-scale", {});
  JsonObject height = object.object("height", /*required=*/true);
  read_options(height, model.height);
  height.finish();
  if (object.has("height-under-rate")) {
    model.height_under_rate = object.number("height-under-rate", kRate);
  }
  if (object.has("tree")) model.tree = read_tree(object.object("tree", true));
  if (object.has("tree-under-rate")) {
    model.tree_under_rate = object.number("tree-under-rate", kRate);
  }
  object.finish();
  if (!errors.ok()) return errors.status().error();
  SPARING_RETURN_IF_ERROR(check_usable(model, thing));
  return model;
}

Result<ScaleModel> load_scale_model(const fs::path& file) {
  SPARING_ASSIGN_OR_RETURN(const std::string text,
                           read_small_file(file.string(), kLimits.max_bytes));
  return parse_scale_model(text, file.string());
}

Status save_scale_model(const fs::path& file, const ScaleModel& model) {
  const std::string text = to_json(model);
  const auto bytes = std::as_bytes(std::span(text));
  return write_file(file, std::span(&bytes, 1));
}

Result<FoundScales> find_scale_model(const std::string& model, const std::string& precision,
                                     const ModelPaths& paths) {
  FoundScales found;
  found.scales.model = model;
  found.scales.precision = precision;
  const fs::path name = model + "." + precision + ".json";
  if (name.has_parent_path()) return found;  // no model of ours is called so
  std::vector<fs::path> folders = {paths.model_dir};
  folders.insert(folders.end(), paths.manifest_dirs.begin(), paths.manifest_dirs.end());
  for (const fs::path& folder : folders) {
    if (folder.empty()) continue;
    const fs::path file = folder / "scales" / name;
    std::error_code failed;
    if (!fs::exists(file, failed)) continue;
    SPARING_ASSIGN_OR_RETURN(ScaleModel scales, load_scale_model(file));
    if (scales.model != model || scales.precision != precision) {
      return Error{ErrorCode::kModel, "scale model '" + file.string() + "'",
                   "is of the model '" + scales.model + "' in " + scales.precision,
                   "name it " + scales.model + "." + scales.precision +
                       ".json, or train one: sparing train-scale"};
    }
    found.scales = std::move(scales);
    found.file = file;
    return found;
  }
  return found;
}

}  // namespace sparing
