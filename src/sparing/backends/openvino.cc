#include "sparing/backends/openvino.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <openvino/openvino.hpp>
#include <system_error>
#include <utility>

#include "sparing/backends/openvino_device.h"
#include "sparing/backends/openvino_error.h"
#include "sparing/backends/openvino_graph.h"
#include "sparing/base/thread_pool.h"
#include "sparing/webnn/backend.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

class OpenVinoBackend : public webnn::Backend {
 public:
  OpenVinoBackend(std::unique_ptr<ov::Core> core, const ContextOptions& options)
      : core_(std::move(core)), in_flight_(options.streams) {
    settings_.device = openvino::device_name(options.device_type);
    settings_.properties = openvino::compile_properties(options, in_flight_);
    settings_.requests = in_flight_;
    if (!openvino::are_all_cores(options.cores)) settings_.cores = options.cores;
  }

  std::string name() const override { return "openvino " + openvino_version(); }
  int max_in_flight() const override { return in_flight_; }

  Result<std::unique_ptr<webnn::BackendGraph>> load_graph(const fs::path& model_file,
                                                          const webnn::ShapeMap& fixed) override {
    SPARING_ASSIGN_OR_RETURN(auto graph,
                             openvino::OpenVinoGraph::load(*core_, model_file, fixed, settings_));
    return std::unique_ptr<webnn::BackendGraph>(std::move(graph));
  }

 private:
  const std::unique_ptr<ov::Core> core_;
  const int in_flight_;
  openvino::CompileSettings settings_;
};

Status check_pinning(const ContextOptions& options) {
  if (options.cores.empty()) return {};
  if (options.device_type != DeviceType::kCpu) {
    return Error{ErrorCode::kNotSupported, "cores",
                 "only the cpu has them, not " + std::string(to_string(options.device_type)),
                 "leave them out"};
  }
  SPARING_RETURN_IF_ERROR(openvino::check_cores(options.cores));
  // Threads of one stream are the engine's own and shared by all its graphs: no way to tie them to
  // cores of one context.
  if (options.threads > options.streams && !openvino::are_all_cores(options.cores)) {
    return Error{ErrorCode::kNotSupported, "cores",
                 std::to_string(options.threads) + " threads in " +
                     std::to_string(options.streams) + " streams cannot be pinned to them",
                 "use as many streams as threads, or run the program under taskset"};
  }
  return {};
}

// The cache is a saving, not a need: without a folder to write to there is none.
fs::path usable_cache(const fs::path& folder) {
  if (folder.empty()) return {};
  std::error_code error;
  fs::create_directories(folder, error);
  const bool usable =
      fs::is_directory(folder, error) && access(folder.c_str(), R_OK | W_OK | X_OK) == 0;
  return usable ? folder : fs::path();
}

Result<std::unique_ptr<ov::Core>> make_core() {
  try {
    return std::make_unique<ov::Core>();
  } catch (const std::exception& e) {
    return openvino::engine_error(ErrorCode::kInternal, "OpenVINO", e,
                                  "check that its libraries are whole: run the set-up again");
  }
}

}  // namespace

Result<Context> create_openvino_context(const ContextOptions& options) {
  SPARING_RETURN_IF_ERROR(validate(options));
  ContextOptions in_effect = options;
  if (in_effect.threads == 0) {
    const int cores =
        options.cores.empty() ? available_cores() : static_cast<int>(options.cores.size());
    in_effect.threads = std::max(cores, options.streams);
  }
  SPARING_RETURN_IF_ERROR(check_pinning(in_effect));
  in_effect.cache_dir = usable_cache(options.cache_dir);
  SPARING_ASSIGN_OR_RETURN(auto core, make_core());
  try {
    SPARING_RETURN_IF_ERROR(openvino::check_device(*core, options.device_type, options.precision));
  } catch (const std::exception& e) {
    return openvino::engine_error(ErrorCode::kNotSupported,
                                  "device '" + std::string(to_string(options.device_type)) + "'", e,
                                  "use another device");
  }
  return webnn::make_context(in_effect,
                             std::make_unique<OpenVinoBackend>(std::move(core), in_effect));
}

Result<std::vector<DeviceInfo>> openvino_devices() {
  SPARING_ASSIGN_OR_RETURN(const auto core, make_core());
  std::vector<DeviceInfo> devices;
  try {
    for (const std::string& name : core->get_available_devices()) {
      devices.push_back({name, core->get_property(name, ov::device::full_name),
                         openvino::native_precisions(*core, name),
                         openvino::fast_in_bfloat16(name)});
    }
  } catch (const std::exception& e) {
    return openvino::engine_error(ErrorCode::kInternal, "OpenVINO devices", e,
                                  "check the drivers of GPU and NPU");
  }
  return devices;
}

std::string openvino_version() {
  // "2026.4.1-22982-e213a147257-releases/2026/4"
  const std::string build = ov::get_openvino_version().buildNumber;
  return build.substr(0, build.find('-'));
}

}  // namespace sparing
