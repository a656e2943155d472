// The OpenVINO backend: ONNX and OpenVINO IR models on CPU, GPU and NPU.
#pragma once

#include <string>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/webnn/webnn.h"

namespace sparing {

// kNotSupported: the device type is absent (those present are listed) or lacks the precision.
Result<Context> create_openvino_context(const ContextOptions& options);

struct DeviceInfo {
  std::string name;       // "CPU", "GPU.0"
  std::string full_name;  // "AMD EPYC ..."
  std::vector<Precision> precisions;
  // Whether bfloat16 is faster than float32 there: not on every CPU that computes in it.
  bool fast_bfloat16 = true;
};
Result<std::vector<DeviceInfo>> openvino_devices();
std::string openvino_version();

}  // namespace sparing
