// Devices, what they can compute in, and how a graph is compiled for them.
#pragma once

#include <openvino/openvino.hpp>
#include <string>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/webnn/webnn.h"

namespace sparing::openvino {

// The engine's name of a device type: "CPU".
std::string device_name(DeviceType type);

ov::element::Type precision_type(Precision precision);

// Precisions that the device computes in natively. The engine's own list names bfloat16 for any CPU
// with AVX-512, where it only emulates it, slower than float32.
std::vector<Precision> native_precisions(ov::Core& core, const std::string& device);

// Whether bfloat16, where the device has it, is faster than float32.
bool fast_in_bfloat16(const std::string& device);

// kNotSupported: no such device, or it lacks the precision.
Status check_device(ov::Core& core, DeviceType type, Precision precision);

// Everything that decides how a graph runs, given explicitly.
ov::AnyMap compile_properties(const ContextOptions& options, int max_in_flight);

}  // namespace sparing::openvino
