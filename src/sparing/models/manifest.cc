#include "sparing/models/manifest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include "sparing/models/head.h"
#include "sparing/models/json_reader.h"
#include "sparing/models/manifest_fields.h"
#include "sparing/models/manifest_names.h"
#include "sparing/models/manifest_segmentation.h"

namespace sparing {
namespace {

constexpr std::int64_t kMaxSide = 16384;
constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;

// --- source and licence ---

void parse_source_files(JsonObject& source, ModelSource& out) {
  const nlohmann::json* files = source.any("files");
  if (files == nullptr || !files->is_array() || files->empty()) {
    source.fail("files", files == nullptr ? "missing" : "not a list with elements",
                "list the package's members as {path, sha256, bytes}");
    return;
  }
  for (std::size_t i = 0; i < files->size() && source.ok(); ++i) {
    JsonObject file((*files)[i], source.path_of("files") + "[" + std::to_string(i) + "]",
                    source.errors());
    SourceFile entry;
    entry.path = name_field(file, "path", true);
    entry.sha256 = sha256_field(file, true);
    entry.bytes = file.integer("bytes", {1, std::int64_t{1} << 40});
    file.finish();
    out.files.push_back(std::move(entry));
  }
}

// Only checked here: the fetch step reads it.
void check_convert(JsonObject convert, const ModelSource& source) {
  static constexpr JsonChoice<int> kFrom[] = {{"tfjs-graph-model", 0}};
  convert.choice<int>("from", kFrom);
  const std::string model = name_field(convert, "model", true);
  convert.choice<Layout>("layout", kLayoutNames);
  convert.integer("multiple_of", {0, 1024});
  for (const char* key : {"inputs", "outputs"}) {
    JsonObject map = convert.object(key, true);
    const nlohmann::json* raw = convert.any(key);
    if (raw == nullptr || !raw->is_object()) break;
    for (const auto& [node, unused] : raw->items()) map.text(node);
    map.finish();
  }
  const bool listed = std::any_of(source.files.begin(), source.files.end(),
                                  [&](const SourceFile& file) { return file.path == model; });
  if (convert.ok() && !listed) {
    convert.fail("model", "'" + model + "' is not in source.files", "list it there");
  }
  convert.finish();
}

ModelSource parse_source(JsonObject source) {
  ModelSource out;
  static constexpr JsonChoice<int> kKinds[] = {{"npm", 0}};
  source.choice<int>("kind", kKinds);
  out.kind = "npm";
  out.package = name_field(source, "package", true);
  out.version = name_field(source, "version", true);
  parse_source_files(source, out);
  if (source.ok()) check_convert(source.object("convert", true), out);
  source.finish();
  return out;
}

ModelLicence parse_licence(JsonObject licence) {
  ModelLicence out;
  out.spdx = name_field(licence, "spdx", true);
  out.origin = licence.text("origin", "");
  out.notice = licence.text("notice", "");
  licence.finish();
  return out;
}

// --- input ---

// Three numbers, or (where `or_one`) one that stands for all three.
std::array<float, 3> three_numbers(JsonObject& object, std::string_view key,
                                   JsonRange<double> range, std::array<float, 3> fallback,
                                   bool or_one = false) {
  const nlohmann::json* value = object.any(key);
  if (value == nullptr) return fallback;
  if (or_one && value->is_number()) {
    const auto one = static_cast<float>(object.number(key, range));
    return {one, one, one};
  }
  const std::vector<double> numbers = object.numbers(key, range);
  if (!object.ok()) return fallback;
  if (numbers.size() != 3) {
    object.fail(key, std::to_string(numbers.size()) + " numbers", "write three, one a channel");
    return fallback;
  }
  return {static_cast<float>(numbers[0]), static_cast<float>(numbers[1]),
          static_cast<float>(numbers[2])};
}

void parse_default_size(JsonObject& size, ModelInput& out) {
  const nlohmann::json* value = size.any("default");
  if (value != nullptr && value->is_string()) {
    if (const std::string text = size.text("default"); text != "native") {
      size.fail("default", "unknown value '" + text + "'", "write \"native\" or [width, height]");
    }
    return;
  }
  const std::vector<std::int64_t> sides = size.integers("default", {1, kMaxSide});
  if (!size.ok()) return;
  if (sides.size() != 2) {
    size.fail("default", std::to_string(sides.size()) + " numbers",
              "write \"native\" or [width, height]");
    return;
  }
  out.default_size = {static_cast<int>(sides[0]), static_cast<int>(sides[1])};
}

void parse_size(JsonObject size, ModelInput& out) {
  parse_default_size(size, out);
  out.multiple_of = static_cast<int>(size.integer("multiple_of", {1, 1024}, 1));
  out.min_size = static_cast<int>(size.integer("min", {1, kMaxSide}, out.multiple_of));
  out.max_size = static_cast<int>(size.integer("max", {1, kMaxSide}, 4096));
  size.finish();
  if (!size.ok()) return;
  const auto multiple_in_range = [&] {
    return out.max_size / out.multiple_of * out.multiple_of >= out.min_size;
  };
  if (out.min_size > out.max_size || !multiple_in_range()) {
    size.fail("max",
              "no multiple of " + std::to_string(out.multiple_of) + " in " +
                  std::to_string(out.min_size) + ".." + std::to_string(out.max_size),
              "raise max or lower min");
  } else if (out.default_size != Size{}) {
    if (Result<Size> checked = input_size(out, out.default_size, out.default_size); !checked.ok()) {
      size.fail("default", checked.error().problem, checked.error().fix);
    }
  }
}

ModelInput parse_input(JsonObject input) {
  ModelInput out;
  out.name = name_field(input, "name", false);
  out.layout = input.choice<Layout>("layout", kLayoutNames, Layout::kNchw);
  out.order = input.choice<ChannelOrder>("color_order", kOrderNames, ChannelOrder::kRgb);
  out.mean = three_numbers(input, "mean", {-1e6, 1e6}, {0, 0, 0});
  out.std = three_numbers(input, "std", {-1e6, 1e6}, {1, 1, 1});
  if (input.ok() && std::any_of(out.std.begin(), out.std.end(),
                                [](float value) { return std::fabs(value) < 1e-6f; })) {
    input.fail("std", "a value is 0", "write the divisor of each channel, 1 for none");
  }
  parse_size(input.object("size", true), out);
  out.fit = input.choice<Fit>("fit", kFitNames, Fit::kStretch);
  out.pad = three_numbers(input, "pad", {0, 255}, {114, 114, 114}, /*or_one=*/true);
  out.anchor = input.choice<Anchor>("anchor", kAnchorNames, Anchor::kCenter);
  input.finish();
  return out;
}

// --- head ---

void parse_strides(JsonObject& head, HeadSpec& out) {
  const std::vector<std::int64_t> strides =
      head.integers("strides", {1, 1024}, std::vector<std::int64_t>{8, 16, 32});
  if (head.ok() && (strides.empty() || strides.size() > 16)) {
    head.fail("strides", std::to_string(strides.size()) + " numbers", "write 1 to 16, one a level");
  }
  out.strides.assign(strides.begin(), strides.end());
}

std::vector<std::string> level_outputs(JsonObject& outputs, std::string_view key,
                                       const HeadSpec& head) {
  std::vector<std::string> names = outputs.texts(key);
  if (outputs.ok() && names.size() != head.strides.size()) {
    outputs.fail(key,
                 std::to_string(names.size()) + " names for " +
                     std::to_string(head.strides.size()) + " strides",
                 "write one output a stride");
  }
  return names;
}

void parse_nanodet(JsonObject& head, HeadSpec& out) {
  parse_strides(head, out);
  out.reg_max = static_cast<int>(head.integer("reg_max", {1, 255}, 7));
  out.cell_offset = head.number("cell_offset", {0, 1}, 0.5);
  JsonObject outputs = head.object("outputs", true);
  if (outputs.has("combined")) {
    out.outputs.combined = name_field(outputs, "combined", true);
  } else {
    out.outputs.scores = level_outputs(outputs, "scores", out);
    out.outputs.distribution = level_outputs(outputs, "distribution", out);
  }
  outputs.finish();
}

void parse_yolox(JsonObject& head, HeadSpec& out) {
  parse_strides(head, out);
  out.decoded = head.boolean("decoded", false);
  JsonObject outputs = head.object("outputs", false);
  out.outputs.predictions = name_field(outputs, "predictions", false);
  outputs.finish();
}

void parse_yolov8(JsonObject& head, HeadSpec& out) {
  out.box_format = head.choice<BoxFormat>("box_format", kBoxFormatNames, BoxFormat::kCxcywh);
  JsonObject outputs = head.object("outputs", false);
  out.outputs.predictions = name_field(outputs, "predictions", false);
  outputs.finish();
}

void parse_end2end(JsonObject& head, HeadSpec& out) {
  out.box_format = head.choice<BoxFormat>("box_format", kBoxFormatNames, BoxFormat::kXyxy);
  out.normalized = head.boolean("normalized", false);
  out.background = head.choice<Background>("background", kBackgroundNames, Background::kNone);
  JsonObject outputs = head.object("outputs", true);
  if (outputs.has("detections")) {
    out.outputs.detections = name_field(outputs, "detections", true);
  } else {
    out.outputs.boxes = name_field(outputs, "boxes", true);
    out.outputs.scores = {name_field(outputs, "scores", true)};
    out.outputs.labels = name_field(outputs, "labels", false);
  }
  outputs.finish();
}

struct HeadFields {
  HeadType type;
  void (*parse)(JsonObject& head, HeadSpec& out);
};

// In the order of HeadType.
constexpr HeadFields kHeadFields[] = {
    {HeadType::kNanodet, parse_nanodet},
    {HeadType::kYolox, parse_yolox},
    {HeadType::kYolov8, parse_yolov8},
    {HeadType::kEnd2end, parse_end2end},
};

HeadSpec parse_head(JsonObject head) {
  HeadSpec out;
  const std::string type = head.text("type");
  if (!head.ok()) return out;
  const std::optional<HeadType> known = head_from_name(type);
  if (!known) {
    std::string names;
    for (const HeadInfo& row : heads())
      names += (names.empty() ? "" : ", ") + std::string(row.name);
    head.fail("type", "unknown head '" + type + "'", "use one of " + names);
    return out;
  }
  out.type = *known;
  kHeadFields[static_cast<std::size_t>(*known)].parse(head, out);
  out.activation = head.choice<Activation>("score_activation", kActivationNames, Activation::kNone);
  if (head.ok() && out.activation == Activation::kSoftmax && out.type != HeadType::kEnd2end) {
    head.fail("score_activation", "softmax is for end2end heads only", "use none or sigmoid");
  }
  head.finish();
  return out;
}

// --- the whole ---

void parse_file(JsonObject& root, ModelManifest& out) {
  out.file =
      root.has("file") ? name_field(root, "file", true) : root.text("file", out.name + ".onnx");
  if (!root.ok()) return;
  const std::filesystem::path path(out.file);
  if (!out.source.kind.empty() &&
      (path.filename() != path || out.file == "." || out.file == "..")) {
    root.fail("file", "'" + out.file + "' is not a plain file name",
              "write a name without folders: it is looked for in the models folder");
  }
}

// To be called when the labels are known.
void use_labels(ModelManifest& out, JsonErrors& errors) {
  const int count = static_cast<int>(out.labels.size());
  if (out.task == ModelTask::kDetect) {
    out.head.classes = count;
  } else {
    out.segmentation.classes = count;
    check_segmentation_labels(out, errors);
  }
}

void parse_labels(JsonObject& root, ModelManifest& out) {
  if (root.has("labels") == root.has("labels_file")) {
    root.fail("labels", root.has("labels") ? "there is a labels_file, too" : "missing",
              "give the class names in labels, or a file with one a line in labels_file");
    return;
  }
  if (root.has("labels_file")) {
    out.labels_file = name_field(root, "labels_file", true);
    return;
  }
  out.labels = root.texts("labels");
  if (root.ok() && out.labels.empty()) root.fail("labels", "an empty list", "name the classes");
  use_labels(out, root.errors());
}

void parse_detection(JsonObject& root, ModelManifest& out) {
  out.head = parse_head(root.object("head", true));
  out.score_threshold = root.number("score_threshold", {0, 1}, 0.3);
  out.iou_threshold = root.number("iou_threshold", {0, 1}, 0.6);
  out.nms = root.choice<NmsMode>(
      "nms", kNmsNames, info(out.head.type).needs_nms ? NmsMode::kClassAware : NmsMode::kNone);
  out.max_detections = static_cast<int>(root.integer("max_detections", {1, 1000000}, 300));
}

struct TaskFields {
  ModelTask task;
  void (*parse)(JsonObject& root, ModelManifest& out);
  std::array<std::string_view, 5> fields;  // that no other task has
};

// In the order of ModelTask.
constexpr TaskFields kTaskFields[] = {
    {ModelTask::kDetect,
     parse_detection,
     {"head", "score_threshold", "iou_threshold", "nms", "max_detections"}},
    {ModelTask::kSegment, parse_segmentation, {"segmentation", "palette", "aux"}},
};

void parse_task(JsonObject& root, ModelManifest& out) {
  out.task = root.choice<ModelTask>("task", kTaskNames, ModelTask::kDetect);
  for (const TaskFields& row : kTaskFields) {
    if (row.task == out.task) continue;
    for (const std::string_view field : row.fields) {
      if (field.empty() || !root.has(field)) continue;
      const std::string other = "\"" + name_of(kTaskNames, row.task) + "\"";
      root.fail(field, "belongs to task " + other, "set task to " + other + ", or remove it");
    }
  }
  // The first error sticks, so that a field of the wrong task is named, not a missing one.
  kTaskFields[static_cast<std::size_t>(out.task)].parse(root, out);
}

ModelManifest parse_root(JsonObject root) {
  ModelManifest out;
  const std::int64_t schema = root.integer("schema", {0, 1000});
  if (root.ok() && schema != 1) {
    root.fail("schema", "version " + std::to_string(schema), "this version of Sparing reads 1");
  }
  out.name = root.text("name");
  if (root.ok() && !is_model_name(out.name)) {
    root.fail("name", "'" + out.name + "' is not a name", std::string(kModelNameRule));
  }
  out.title = root.text("title", out.name);
  if (root.has("source")) out.source = parse_source(root.object("source", true));
  parse_file(root, out);
  out.sha256 = sha256_field(root, !out.source.kind.empty());
  out.weights_sha256 = sha256_field(root, false, "weights_sha256");
  if (root.ok() && !out.weights_sha256.empty() && !out.file.ends_with(".xml")) {
    root.fail("weights_sha256", "'" + out.file + "' has no weights file",
              "leave it out; only an OpenVINO .xml has its weights in a .bin beside it");
  }
  if (root.has("licence")) out.licence = parse_licence(root.object("licence", true));
  out.input = parse_input(root.object("input", true));
  parse_task(root, out);
  parse_labels(root, out);
  for (const char* read : {"source", "licence"}) root.any(read);
  root.finish();
  return out;
}

bool is_utf8(const std::string& text) {
  try {
    nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

Result<std::string> read_text(const std::filesystem::path& file, const std::string& thing) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    return Error{ErrorCode::kModel, thing, "no such file", "check the path"};
  }
  if (std::filesystem::is_directory(status)) {
    return Error{ErrorCode::kModel, thing, "it is a folder", "give a file"};
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text(kMaxFileBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad() || (!stream.is_open())) {
    return Error{ErrorCode::kModel, thing, "cannot be read", "check its permissions"};
  }
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kMaxFileBytes) {
    return Error{ErrorCode::kModel, thing, "more than 4 MB", "is this the right file?"};
  }
  return text;
}

Result<std::vector<std::string>> read_labels(const std::filesystem::path& file,
                                             const std::string& manifest) {
  const std::string thing = "labels_file '" + file.string() + "' of manifest '" + manifest + "'";
  SPARING_ASSIGN_OR_RETURN(const std::string text, read_text(file, thing));
  if (!is_utf8(text)) return Error{ErrorCode::kModel, thing, "not UTF-8", "convert it to UTF-8"};
  std::vector<std::string> labels;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    labels.push_back(std::move(line));
    start = end + 1;
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  if (labels.empty())
    return Error{ErrorCode::kModel, thing, "empty", "write one class name a line"};
  if (const auto gap = std::find(labels.begin(), labels.end(), ""); gap != labels.end()) {
    return Error{ErrorCode::kModel, thing,
                 "line " + std::to_string(gap - labels.begin() + 1) + " is empty",
                 "write a name there: the line number is the class index"};
  }
  return labels;
}

}  // namespace

Result<ModelManifest> parse_manifest(std::string_view json, std::string_view name_for_errors) {
  JsonErrors errors(ErrorCode::kModel, "manifest '" + std::string(name_for_errors) + "'");
  const auto document = parse_json(json, {}, errors);
  if (!document) return errors.status().error();
  ModelManifest manifest = parse_root(JsonObject(*document, "", errors));
  if (!errors.ok()) return errors.status().error();
  return manifest;
}

Result<ModelManifest> load_manifest(const std::filesystem::path& file) {
  SPARING_ASSIGN_OR_RETURN(const std::string text,
                           read_text(file, "manifest '" + file.string() + "'"));
  SPARING_ASSIGN_OR_RETURN(ModelManifest manifest, parse_manifest(text, file.string()));
  if (!manifest.labels_file.empty()) {
    SPARING_ASSIGN_OR_RETURN(manifest.labels,
                             read_labels(file.parent_path() / manifest.labels_file, file.string()));
    JsonErrors errors(ErrorCode::kModel, "manifest '" + file.string() + "'");
    use_labels(manifest, errors);
    if (!errors.ok()) return errors.status().error();
  }
  return manifest;
}

}  // namespace sparing
