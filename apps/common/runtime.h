// What the app decides for the library: the backend, and where models and tools lie.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/models/registry.h"
#include "sparing/streams/profile_store.h"
#include "sparing/webnn/webnn.h"

namespace sparing::cli {

struct RuntimeOptions {
  std::string device = "cpu";
  std::string precision = "auto";
  int threads = 0;
  int streams = 0;
  std::vector<std::string> cores;
  bool no_cache = false;

  static constexpr auto fields() {
    return std::tuple{
        option("device", &RuntimeOptions::device)
            .help("where the network runs")
            .choices("cpu|gpu|npu"),
        option("precision", &RuntimeOptions::precision)
            .help("arithmetic of the network; auto: bf16 where the device computes in it, else f32")
            .choices("auto|f32|bf16|f16"),
        option("threads", &RuntimeOptions::threads)
            .help("inference threads in all; 0: one per core")
            .range(0, 1024),
        option("streams", &RuntimeOptions::streams)
            .help("frames inferred at the same time, threads / streams threads each; more is "
                  "smoother, 1 has the least latency; 0: one per thread")
            .range(0, 1024),
        option("cores", &RuntimeOptions::cores).help("run inference on these cores only, e.g. 0,1"),
        option("no-cache", &RuntimeOptions::no_cache)
            .help("do not keep the compiled network in the user's cache folder"),
    };
  }
};

// Resident memory of this process, in units of 10^6 bytes.
double resident_megabytes();

// Where models/ (manifests) and tools/ lie: $SPARING_SHARE_DIR, else ../share/sparing beside the
// binary's folder, else the source tree it was built from.
std::filesystem::path share_dir();

// What the set-up fetched (samples, Python environments): $SPARING_DEPS_DIR, else .deps in
// share_dir().
std::filesystem::path deps_dir();

// To be called first in main(), before there are threads.
// - glibc raises its mmap threshold whenever a large block is freed, and from then on keeps tensors
// and
//   pictures in heaps that fragment: a process that opens source after source then grows by tens of
//   megabytes. A fixed threshold gives large blocks back to the system.
// - The engine's hardware library complains on standard error where /sys is not mounted.
void prepare_process();

// The options resolved: auto precision and streams become concrete.
Result<ContextOptions> context_options(const RuntimeOptions& options);
Result<Context> create_context(const RuntimeOptions& options);

// What a profile that is measured in this context is of.
ProfileIdentity profile_identity(const std::string& model, const Context& context);

}  // namespace sparing::cli
