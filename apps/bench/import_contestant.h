// Who takes part in sparing-bench import: us, and the libraries that others would use. One row of
// kContestants is one way of one library; a new peer is one file and one row.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "import_job.h"
#include "sparing/base/result.h"
#include "sparing/base/tensor_view.h"

namespace sparing::bench {

// One contestant set up for one job.
class Runner {
 public:
  virtual ~Runner() = default;
  // Around each series of calls, untimed.
  virtual void begin() {}
  virtual void end() {}
  // Draws all cells of `shot`; this is what is timed.
  virtual Status run(const Shot& shot, const TensorView& tensor) = 0;
};

// kNotSupported, with the reason as its problem, when it cannot do the job.
using MakeRunner = Result<std::unique_ptr<Runner>> (*)(const ImportJob& job, int threads);

enum class Role {
  kUs,
  kUsAvx2,     // without AVX-512
  kUsSse4,     // without AVX2, too: what WebAssembly's SIMD comes to
  kUsThreads,  // on two threads
  kPeer,
};

struct Contestant {
  const char* name;  // in figure ids: "opencv-planes"
  Role role;
  MakeRunner make;      // null: the library was missing at build time
  const char* package;  // which package that is, on Debian
};

// In the order of the tables.
std::span<const Contestant> contestants();

Error cannot(const std::string& name, const std::string& reason);

Result<std::unique_ptr<Runner>> make_sparing(const ImportJob& job, int threads);
Result<std::unique_ptr<Runner>> make_sparing_avx2(const ImportJob& job, int threads);
Result<std::unique_ptr<Runner>> make_sparing_sse4(const ImportJob& job, int threads);
Result<std::unique_ptr<Runner>> make_sparing_threads(const ImportJob& job, int threads);
Result<std::unique_ptr<Runner>> make_opencv(const ImportJob& job, int threads);
Result<std::unique_ptr<Runner>> make_opencv_planes(const ImportJob& job, int threads);
Result<std::unique_ptr<Runner>> make_libyuv(const ImportJob& job, int threads);
Result<std::unique_ptr<Runner>> make_swscale(const ImportJob& job, int threads);
Result<std::unique_ptr<Runner>> make_swscale_fast(const ImportJob& job, int threads);
Result<std::unique_ptr<Runner>> make_openvino(const ImportJob& job, int threads);

}  // namespace sparing::bench
