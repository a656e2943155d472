// The model of the tests' fake networks.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sparing/models/registry.h"

namespace sparing::testing {

// "net", whose output "boxes" has finished detections as corners; inputs of multiples of 32.
inline Model end2end_model(std::vector<std::string> labels) {
  Model model;
  model.file = "net.onnx";
  model.manifest.name = "net";
  model.manifest.input.multiple_of = 32;
  model.manifest.head.type = HeadType::kEnd2end;
  model.manifest.head.box_format = BoxFormat::kXyxy;
  model.manifest.head.outputs.detections = "boxes";
  model.manifest.labels = std::move(labels);
  return model;
}

}  // namespace sparing::testing
