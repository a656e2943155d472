#include <charconv>

#include "sparing/models/head.h"
#include "sparing/models/manifest_names.h"
#include "sparing/models/manifest_segmentation.h"

namespace sparing {
namespace {

using Json = nlohmann::ordered_json;

// The double with the shortest decimal that gives the same float back: 103.53, not
// 103.52999877929688.
double short_decimal(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  double result = value;
  std::from_chars(text, end, result);
  return result;
}

Json three(const std::array<float, 3>& values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(short_decimal(value));
  return list;
}

Json input_json(const ModelInput& input) {
  Json out = Json::object();
  if (!input.name.empty()) out["name"] = input.name;
  out["layout"] = name_of(kLayoutNames, input.layout);
  out["color_order"] = name_of(kOrderNames, input.order);
  out["mean"] = three(input.mean);
  out["std"] = three(input.std);
  Json size = Json::object();
  if (input.default_size == Size{}) {
    size["default"] = "native";
  } else {
    size["default"] = {input.default_size.width, input.default_size.height};
  }
  size["multiple_of"] = input.multiple_of;
  size["min"] = input.min_size;
  size["max"] = input.max_size;
  out["size"] = std::move(size);
  out["fit"] = name_of(kFitNames, input.fit);
  out["pad"] = three(input.pad);
  out["anchor"] = name_of(kAnchorNames, input.anchor);
  return out;
}

Json outputs_json(const HeadSpec& head) {
  const HeadOutputs& names = head.outputs;
  Json out = Json::object();
  const auto put = [&out](const char* role, const std::string& name) {
    if (!name.empty()) out[role] = name;
  };
  put("detections", names.detections);
  put("combined", names.combined);
  put("predictions", names.predictions);
  put("boxes", names.boxes);
  if (head.type == HeadType::kEnd2end) {
    if (!names.scores.empty()) put("scores", names.scores[0]);
  } else if (!names.scores.empty()) {
    out["scores"] = names.scores;
    out["distribution"] = names.distribution;
  }
  put("labels", names.labels);
  return out;
}

Json head_json(const HeadSpec& head) {
  Json out = Json::object();
  out["type"] = std::string(info(head.type).name);
  out["outputs"] = outputs_json(head);
  if (head.type == HeadType::kNanodet || head.type == HeadType::kYolox) {
    out["strides"] = head.strides;
  }
  if (head.type == HeadType::kNanodet) {
    out["reg_max"] = head.reg_max;
    out["cell_offset"] = head.cell_offset;
  }
  if (head.type == HeadType::kYolox) out["decoded"] = head.decoded;
  if (head.type == HeadType::kYolov8 || head.type == HeadType::kEnd2end) {
    out["box_format"] = name_of(kBoxFormatNames, head.box_format);
  }
  if (head.type == HeadType::kEnd2end) {
    out["normalized"] = head.normalized;
    out["background"] = name_of(kBackgroundNames, head.background);
  }
  out["score_activation"] = name_of(kActivationNames, head.activation);
  return out;
}

Json segmentation_json(const SegmentationSpec& spec) {
  Json out = Json::object();
  out["kind"] = name_of(kSegmentationKindNames, spec.kind);
  if (!spec.output.empty()) out["output"] = spec.output;
  if (spec.kind == SegmentationKind::kScores) out["layout"] = name_of(kLayoutNames, spec.layout);
  if (spec.kind != SegmentationKind::kLabels) {
    out["activation"] = name_of(kActivationNames, spec.activation);
  }
  if (!spec.class_map.empty()) {
    Json list = Json::array();
    for (const int label : spec.class_map) {
      list.push_back(label == kIgnoredChannel ? Json() : Json(label));
    }
    out["class_map"] = std::move(list);
  }
  return out;
}

void put_detection(const ModelManifest& manifest, Json& out) {
  out["head"] = head_json(manifest.head);
  out["score_threshold"] = manifest.score_threshold;
  out["iou_threshold"] = manifest.iou_threshold;
  out["nms"] = name_of(kNmsNames, manifest.nms);
  out["max_detections"] = manifest.max_detections;
}

void put_segmentation(const ModelManifest& manifest, Json& out) {
  out["segmentation"] = segmentation_json(manifest.segmentation);
  if (!manifest.palette.empty()) {
    Json list = Json::array();
    for (const Rgb& color : manifest.palette) list.push_back(color_text(color));
    out["palette"] = std::move(list);
  }
  if (!manifest.aux.empty()) out["aux"] = manifest.aux;
}

}  // namespace

std::string to_json(const ModelManifest& manifest) {
  Json out = Json::object();
  out["schema"] = 1;
  out["name"] = manifest.name;
  out["title"] = manifest.title;
  out["task"] = name_of(kTaskNames, manifest.task);
  out["file"] = manifest.file;
  if (!manifest.sha256.empty()) out["sha256"] = manifest.sha256;
  if (!manifest.weights_sha256.empty()) out["weights_sha256"] = manifest.weights_sha256;
  if (!manifest.licence.spdx.empty()) {
    out["licence"] = {{"spdx", manifest.licence.spdx},
                      {"origin", manifest.licence.origin},
                      {"notice", manifest.licence.notice}};
  }
  out["input"] = input_json(manifest.input);
  if (manifest.task == ModelTask::kDetect) {
    put_detection(manifest, out);
  } else {
    put_segmentation(manifest, out);
  }
  if (!manifest.labels_file.empty()) {
    out["labels_file"] = manifest.labels_file;
  } else {
    out["labels"] = manifest.labels;
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sparing
