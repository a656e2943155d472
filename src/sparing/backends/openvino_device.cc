#include "sparing/backends/openvino_device.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>

#include "sparing/backends/openvino_error.h"

namespace sparing::openvino {
namespace {

#if defined(__x86_64__) || defined(__i386__)
bool cpu_has_bfloat16() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  const bool amx_bf16 = (edx >> 22 & 1) != 0;
  if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) == 0) return amx_bf16;
  const bool avx512_bf16 = (eax >> 5 & 1) != 0;
  const bool avx_ne_convert = (edx >> 5 & 1) != 0;
  return amx_bf16 || avx512_bf16 || avx_ne_convert;
}
// Intel's cores without AMX have bfloat16 instructions, too, but run networks in them a third
// slower than in float32 (NanoDet-g on a Xeon with AVX512-BF16); AMD's run them twice as fast.
bool cpu_is_fast_in_bfloat16() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx >> 22 & 1) != 0) return true;  // AMX
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0) return false;
  const bool amd = ebx == signature_AMD_ebx && ecx == signature_AMD_ecx && edx == signature_AMD_edx;
  return amd && cpu_has_bfloat16();
}
#else
bool cpu_has_bfloat16() { return true; }  // as the engine's list says
bool cpu_is_fast_in_bfloat16() { return true; }
#endif

struct PrecisionRow {
  Precision precision;
  const char* capability;  // the engine's name
};
constexpr std::array<PrecisionRow, 3> kRows{{
    {Precision::kFloat32, "FP32"},
    {Precision::kBfloat16, "BF16"},
    {Precision::kFloat16, "FP16"},
}};

std::string list(const std::vector<Precision>& precisions) {
  std::string text;
  for (const Precision precision : precisions) {
    text += (text.empty() ? "" : ", ") + std::string(to_string(precision));
  }
  return text.empty() ? "none" : text;
}

bool names_type(const std::string& device, DeviceType type) {
  return device == device_name(type) || device.rfind(device_name(type) + ".", 0) == 0;
}

std::string list_present(const std::vector<std::string>& devices) {
  std::string text;
  for (const DeviceTypeInfo& row : kDeviceTypes) {
    const bool present = std::any_of(devices.begin(), devices.end(),
                                     [&](const auto& name) { return names_type(name, row.type); });
    if (present) text += (text.empty() ? "" : ", ") + std::string(row.name);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::string device_name(DeviceType type) {
  switch (type) {
    case DeviceType::kCpu: return "CPU";
    case DeviceType::kGpu: return "GPU";
    case DeviceType::kNpu: return "NPU";
  }
  return "CPU";
}

ov::element::Type precision_type(Precision precision) {
  switch (precision) {
    case Precision::kFloat32: return ov::element::f32;
    case Precision::kBfloat16: return ov::element::bf16;
    case Precision::kFloat16: return ov::element::f16;
  }
  return ov::element::f32;
}

std::vector<Precision> native_precisions(ov::Core& core, const std::string& device) {
  const auto capabilities = core.get_property(device, ov::device::capabilities);
  std::vector<Precision> result;
  for (const auto& [precision, capability] : kRows) {
    if (std::find(capabilities.begin(), capabilities.end(), capability) == capabilities.end()) {
      continue;
    }
    if (device == "CPU" && precision == Precision::kBfloat16 && !cpu_has_bfloat16()) continue;
    result.push_back(precision);
  }
  return result;
}

bool fast_in_bfloat16(const std::string& device) {
  return device != "CPU" || cpu_is_fast_in_bfloat16();
}

Status check_device(ov::Core& core, DeviceType type, Precision precision) {
  const std::string thing = "device '" + std::string(to_string(type)) + "'";
  // Listing all devices loads every plugin, which takes time the CPU alone does not need.
  if (type != DeviceType::kCpu) {
    const auto devices = core.get_available_devices();
    const bool present = std::any_of(devices.begin(), devices.end(),
                                     [&](const auto& name) { return names_type(name, type); });
    if (!present) {
      return Error{ErrorCode::kNotSupported, thing, "the engine finds none on this machine",
                   "use one of: " + list_present(devices)};
    }
  }
  const auto precisions = native_precisions(core, device_name(type));
  if (std::find(precisions.begin(), precisions.end(), precision) == precisions.end()) {
    const auto other = precisions.empty() ? Precision::kFloat32 : precisions.front();
    return Error{ErrorCode::kNotSupported, thing,
                 "it does not compute in " + std::string(to_string(precision)) + " (it has " +
                     list(precisions) + ")",
                 "use --precision " + std::string(to_string(other))};
  }
  return {};
}

ov::AnyMap compile_properties(const ContextOptions& options, int max_in_flight) {
  ov::AnyMap properties{
      ov::hint::inference_precision(precision_type(options.precision)),
      ov::hint::performance_mode(options.streams > 1 ? ov::hint::PerformanceMode::THROUGHPUT
                                                     : ov::hint::PerformanceMode::LATENCY),
      ov::hint::num_requests(static_cast<std::uint32_t>(max_in_flight)),
      ov::num_streams(options.streams),
  };
  if (options.device_type == DeviceType::kCpu) {
    properties.insert(ov::inference_num_threads(options.threads));
    // The engine would choose the cores; ours are pinned by the graph.
    properties.insert(ov::hint::enable_cpu_pinning(false));
    // Otherwise int8-compressed layers quantise their inputs, whatever the precision.
    properties.insert(ov::hint::dynamic_quantization_group_size(0));
    if (options.power_preference == PowerPreference::kLowPower) {
      properties.insert(ov::hint::scheduling_core_type(ov::hint::SchedulingCoreType::ECORE_ONLY));
    }
  }
  if (!options.cache_dir.empty()) {
    properties.insert(ov::cache_dir(options.cache_dir.string()));
  }
  return properties;
}

}  // namespace sparing::openvino
