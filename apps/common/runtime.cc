#include "runtime.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>

#include "sparing/backends/openvino.h"
#include "sparing/base/thread_pool.h"
#include "sparing/streams/latency_meter.h"

namespace sparing::cli {
namespace fs = std::filesystem;
namespace {

bool device_matches(const DeviceInfo& device, std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(), ::toupper);
  return device.name.substr(0, upper.size()) == upper;
}

Result<Precision> precision(const RuntimeOptions& options) {
  if (const auto named = precision_from_name(options.precision)) return *named;
  SPARING_ASSIGN_OR_RETURN(const std::vector<DeviceInfo> devices, openvino_devices());
  for (const DeviceInfo& device : devices) {
    if (!device_matches(device, options.device)) continue;
    for (const Precision fast : {Precision::kBfloat16, Precision::kFloat16}) {
      // On a CPU f16 is not faster than f32 without AVX512-FP16, so only GPUs and NPUs choose it.
      if (fast == Precision::kFloat16 && options.device == "cpu") continue;
      if (fast == Precision::kBfloat16 && !device.fast_bfloat16) continue;
      if (std::find(device.precisions.begin(), device.precisions.end(), fast) !=
          device.precisions.end()) {
        return fast;
      }
    }
  }
  return Precision::kFloat32;
}

}  // namespace

void prepare_process() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
  setenv("HWLOC_HIDE_ERRORS", "2", /*overwrite=*/0);
}

double resident_megabytes() {
  long long pages = 0;
  long long resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

fs::path share_dir() {
  if (const char* set = std::getenv("SPARING_SHARE_DIR"); set != nullptr && *set != '\0')
    return set;
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path installed = binary.parent_path().parent_path() / "share" / "sparing";
    if (fs::is_directory(installed / "models", error)) return installed;
  }
  return SPARING_SOURCE_DIR;
}

fs::path deps_dir() {
  if (const char* set = std::getenv("SPARING_DEPS_DIR"); set != nullptr && *set != '\0') return set;
  return share_dir() / ".deps";
}

Result<ContextOptions> context_options(const RuntimeOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  ContextOptions result;
  result.device_type = *device_type_from_name(options.device);  // one of the validated choices
  SPARING_ASSIGN_OR_RETURN(result.precision, precision(options));
  for (const std::string& text : options.cores) {
    int core = -1;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), core);
    if (code != std::errc() || end != text.data() + text.size() || core < 0) {
      return Error{ErrorCode::kInvalidArgument, "--cores", "'" + text + "' is not a core",
                   "give core numbers from 0, separated by commas, e.g. 0,1"};
    }
    result.cores.push_back(core);
  }
  const int cores =
      result.cores.empty() ? available_cores() : static_cast<int>(result.cores.size());
  result.threads = options.threads > 0 ? options.threads : cores;
  result.streams = options.streams > 0 ? options.streams : result.threads;
  if (result.streams > result.threads) {
    return Error{ErrorCode::kInvalidArgument, "--streams",
                 std::to_string(result.streams) + " is more than the " +
                     std::to_string(result.threads) + " inference threads",
                 "give at most one stream a thread, or raise --threads"};
  }
  if (const fs::path cache = user_cache_dir(); !options.no_cache && !cache.empty()) {
    result.cache_dir = cache / "compiled";
  }
  return result;
}

Result<Context> create_context(const RuntimeOptions& options) {
  SPARING_ASSIGN_OR_RETURN(const ContextOptions resolved, context_options(options));
  return create_openvino_context(resolved);
}

ProfileIdentity profile_identity(const std::string& model, const Context& context) {
  const ContextOptions& options = context.options();
  ProfileIdentity identity{model, processor_name(options), "", context.backend_name()};
  const auto devices = openvino_devices();
  if (!devices.ok()) return identity;
  for (const DeviceInfo& device : *devices) {
    if (identity.machine.empty() && device_matches(device, to_string(options.device_type))) {
      identity.machine = device.full_name;
    }
  }
  return identity;
}

}  // namespace sparing::cli
