// A model's manifest: what is needed to feed a network and read its outputs. The JSON form is
// documented in models/README.md; manifests that come with Sparing lie in models/.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/color.h"
#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/base/tensor_view.h"
#include "sparing/kernels/import.h"

namespace sparing {

enum class ModelTask { kDetect, kSegment };
enum class HeadType { kNanodet, kYolox, kYolov8, kEnd2end };

// What is left to be applied to class scores to make them probabilities: scores that kNone is right
// for are probabilities already, others are logits.
enum class Activation { kNone, kSigmoid, kSoftmax };
enum class BoxFormat {
  kXyxy,    // corners
  kCxcywh,  // centre and size
};
// Which column of a score row stands for "no object".
enum class Background { kNone, kFirst, kLast };
enum class NmsMode { kClassAware, kClassAgnostic, kNone };

// Names of the graph's outputs by role. Which of them a head reads: models/README.md.
struct HeadOutputs {
  std::vector<std::string> scores;        // nanodet: one a stride; end2end: one
  std::vector<std::string> distribution;  // nanodet: one a stride
  std::string combined;                   // nanodet, instead of both
  std::string predictions;                // yolox, yolov8; empty: the only output
  std::string detections;                 // end2end
  std::string boxes;                      // end2end, instead of detections
  std::string labels;                     // end2end, with boxes
  friend bool operator==(const HeadOutputs&, const HeadOutputs&) = default;
};

// How raw outputs become boxes; which fields matter depends on the type (models/README.md).
struct HeadSpec {
  HeadType type = HeadType::kNanodet;
  HeadOutputs outputs;
  int classes = 0;  // number of labels; 0: unknown, taken from the outputs where they tell
  Activation activation = Activation::kNone;
  std::vector<int> strides{8, 16, 32};        // nanodet, yolox: input pixels per cell, by level
  int reg_max = 7;                            // nanodet: last bin (bins = reg_max + 1)
  double cell_offset = 0.5;                   // nanodet: reference point of a cell, in cells
  bool decoded = false;                       // yolox: boxes are in tensor pixels already
  BoxFormat box_format = BoxFormat::kCxcywh;  // yolov8, end2end; parsed default: by head
  bool normalized = false;                    // end2end: boxes are fractions of the input size
  Background background = Background::kNone;  // end2end
  friend bool operator==(const HeadSpec&, const HeadSpec&) = default;
};

enum class SegmentationKind {
  kScores,      // a score for each channel and pixel
  kForeground,  // one channel: the foreground's score; labels[0] is the background, labels[1] it
  kLabels,      // the index of the channel that won, for each pixel
};

// A channel of a network that stands for no label.
inline constexpr int kIgnoredChannel = -1;
inline constexpr int kMaxSegmentationChannels = 1024;

// How the raw output of a segmentation network becomes a probability for each label and pixel.
struct SegmentationSpec {
  SegmentationKind kind = SegmentationKind::kScores;
  std::string output;             // of the graph; empty: its only one
  Layout layout = Layout::kNchw;  // kScores: where the channels are
  // kForeground: kNone or kSigmoid; kLabels: kNone. kSigmoid of kScores: each channel for itself,
  // and then divided by their sum.
  Activation activation = Activation::kNone;
  int classes = 0;  // number of labels
  // Label index of each channel, or kIgnoredChannel. Several channels may stand for one label
  // (their probabilities are added), and a label may have none (its probability is 0). Empty:
  // channel i is label i. Not for kForeground.
  std::vector<int> class_map;
  friend bool operator==(const SegmentationSpec&, const SegmentationSpec&) = default;
};

struct ModelInput {
  std::string name;  // of the graph's input; empty: its only one
  Layout layout = Layout::kNchw;
  ChannelOrder order = ChannelOrder::kRgb;
  std::array<float, 3> mean{0, 0, 0};  // of pixels on 0..255, in the order of the tensor's channels
  std::array<float, 3> std{1, 1, 1};
  Fit fit = Fit::kStretch;
  std::array<float, 3> pad{114, 114, 114};  // letterbox border, 0..255, in channel order
  Anchor anchor = Anchor::kCenter;          // letterbox
  Size default_size;    // {0, 0}: native, the frame's size rounded to multiples (see input_size)
  int multiple_of = 1;  // width and height must be multiples of this
  int min_size = 1;     // least width and height
  int max_size = 4096;  // greatest width and height
  // The graph takes default_size only. Not a manifest field: set for a bare file (match_head).
  bool fixed_size = false;
  friend bool operator==(const ModelInput&, const ModelInput&) = default;
};

// One member of a package.
struct SourceFile {
  std::string path;
  std::string sha256;
  std::int64_t bytes = 0;
  friend bool operator==(const SourceFile&, const SourceFile&) = default;
};

// Where the file comes from; used by `models get` only, which reads the rest from the JSON itself.
struct ModelSource {
  std::string kind;  // "npm", or empty: the user's own file
  std::string package;
  std::string version;
  std::vector<SourceFile> files;
  friend bool operator==(const ModelSource&, const ModelSource&) = default;
};

struct ModelLicence {
  std::string spdx;    // SPDX identifier; empty: not said
  std::string origin;  // who made it, where it is from
  std::string notice;  // what must be passed on
  friend bool operator==(const ModelLicence&, const ModelLicence&) = default;
};

struct ModelManifest {
  std::string name;
  std::string title;
  ModelTask task = ModelTask::kDetect;
  std::string file;    // "nanodet-g.onnx"; a path relative to the manifest when there is no source
  std::string sha256;  // of the model file, lower-case hex; empty: not checked
  std::string weights_sha256;  // of the .bin beside an OpenVINO .xml; empty: not checked
  ModelLicence licence;
  ModelSource source;
  ModelInput input;
  // kDetect
  HeadSpec head;
  double score_threshold = 0.3;
  double iou_threshold = 0.6;
  NmsMode nms = NmsMode::kClassAware;
  int max_detections = 300;
  // kSegment
  SegmentationSpec segmentation;
  std::vector<Rgb> palette;  // colour of each label in pictures; empty: see label_colors
  std::string aux;           // name of the AuxNet's manifest (resolve_aux); empty: none
  // both
  std::vector<std::string> labels;  // by class index
  std::string labels_file;          // where the labels are read from, if not from the manifest
  friend bool operator==(const ModelManifest&, const ModelManifest&) = default;
};

// Reads the JSON form, strictly. `name_for_errors` is the file name or "<string>". kModel: not
// JSON, a missing, unknown, duplicate or wrong field, each named with its path ("input.mean") and
// the fix. A labels_file is not opened here: labels stay empty.
Result<ModelManifest> parse_manifest(std::string_view json, std::string_view name_for_errors);
// The same from a file, with the labels_file read. kModel also: missing, unreadable, over 4 MB.
Result<ModelManifest> load_manifest(const std::filesystem::path& file);

// The JSON form that parse_manifest reads back, indented, without `source`: a start for a manifest
// of one's own.
std::string to_json(const ModelManifest& manifest);

// "detect", "segment": as in manifests.
std::string_view task_name(ModelTask task);
// What a segmentation output is taken for, in words: "logits (softmax) of 11 channels,
// [1,11,h,w]".
std::string describe(const SegmentationSpec& spec);

// A colour for each label: the manifest's palette, or else colours that differ from each other as
// far as a fixed rule can tell (label 0 is black).
std::vector<Rgb> label_colors(const ModelManifest& manifest);

// The network's input size for a frame of display size `frame`. `requested` of {0, 0} means the
// model's default; a native default is the frame's size, scaled down (aspect ratio kept) to
// max_size if it is beyond, each side then rounded to the nearest multiple (halves up) within the
// limits. kInvalidArgument: a requested size that the model does not take, with what it takes.
Result<Size> input_size(const ModelInput& input, Size frame, Size requested = {});

// A manifest and the model file that belongs to it.
struct Model {
  ModelManifest manifest;
  std::filesystem::path file;
  std::filesystem::path manifest_file;  // empty: the manifest is a guess from the file
};

}  // namespace sparing
