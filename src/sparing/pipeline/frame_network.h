// A network that is fed with frames: the part of a detector's and a segmenter's work that does not
// depend on what the outputs mean.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/models/head.h"
#include "sparing/models/manifest.h"
#include "sparing/webnn/webnn.h"

namespace sparing {

// Tensors for one frame in flight. Reused; made anew when the input size changes.
struct FrameSlot {
  Size input_size;
  Tensor input;
  NamedTensors outputs;
};

struct FrameNetwork {
  Context context;
  Graph graph;
  ModelManifest manifest;
  Size requested_size;
  std::string input_name;
  std::map<std::pair<int, int>, std::map<std::string, Shape>> output_shapes;  // by input size

  // Loads the model's graph and checks it against the manifest. `size`: "WxH" of the input, or
  // empty for the model's own. Errors as Detector::create.
  Status load(Context in, const Model& model, const std::string& size);

  Shape input_shape(Size size) const;
  // Makes the slot's tensors fit an input of this size, which the model must take.
  Status prepare(FrameSlot& slot, Size size);
  // How the model wants a frame: layout, mean, std and channel order; the whole frame, stretched.
  VideoFrameImport import_settings(const VideoFrame& frame) const;
  // Step 1: draws the frame into the slot's input tensor. Returns the map from tensor to display
  // coordinates.
  Result<Affine> import(const VideoFrame& frame, FrameSlot& slot,
                        Filter filter = Filter::kBilinear);
  // Step 2.
  Result<Completion> dispatch(const FrameSlot& slot);
  // Step 3: waits for the outputs and shows them all at once, as floats.
  Status visit(const FrameSlot& slot,
               const std::function<Status(std::span<const HeadTensor>)>& read);
};

}  // namespace sparing
