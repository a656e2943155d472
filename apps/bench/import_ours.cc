// Us: import_frame on one thread, without AVX-512, without AVX2, and in bands on several threads.
#include <hwy/highway.h>

#include <string_view>

#include "import_contestant.h"
#include "sparing/base/thread_pool.h"

namespace sparing::bench {
namespace {

// So that a thread that comes late takes less.
constexpr int kBandsPerThread = 2;

class SparingRunner : public Runner {
 public:
  SparingRunner(const ImportJob& job, int threads) : job_(job) {
    // The calling thread works, too.
    if (threads > 1) {
      pool_ = std::make_unique<ThreadPool>(ThreadPoolOptions{
          .name = "bench-band", .threads = threads - 1, .spin = std::chrono::milliseconds(1)});
      parallel_for_ = [this](int count, const std::function<void(int)>& body) {
        pool_->parallel_for(count, body);
      };
    }
    threads_ = threads;
  }

  Status run(const Shot& shot, const TensorView& tensor) override {
    for (const Cell& cell : shot.cells) {
      const ImportOptions options = import_options(job_, cell);
      if (pool_) {
        SPARING_RETURN_IF_ERROR(
            import_frame(shot.frame, options, tensor, kBandsPerThread * threads_, parallel_for_));
      } else {
        SPARING_RETURN_IF_ERROR(import_frame(shot.frame, options, tensor));
      }
    }
    return {};
  }

 private:
  const ImportJob& job_;
  int threads_ = 1;
  std::unique_ptr<ThreadPool> pool_;
  ParallelFor parallel_for_;
};

#if HWY_ARCH_X86
// Kept to one instruction set and what came before it: better ones have smaller bits.
template <std::int64_t kTarget>
class RestrictedRunner : public SparingRunner {
 public:
  using SparingRunner::SparingRunner;
  void begin() override {
    hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(kTarget - 1));
  }
  void end() override { hwy::SetSupportedTargetsForTest(0); }
};

template <std::int64_t kTarget>
std::unique_ptr<Runner> make_restricted(const ImportJob& job, int threads,
                                        std::string_view target) {
  auto runner = std::make_unique<RestrictedRunner<kTarget>>(job, threads);
  runner->begin();
  const bool restricted = import_simd_target() == target;
  runner->end();
  if (!restricted) return nullptr;
  return runner;
}
#endif

}  // namespace

Result<std::unique_ptr<Runner>> make_sparing(const ImportJob& job, int threads) {
  return std::unique_ptr<Runner>(std::make_unique<SparingRunner>(job, threads));
}

Result<std::unique_ptr<Runner>> make_sparing_avx2([[maybe_unused]] const ImportJob& job,
                                                  [[maybe_unused]] int threads) {
#if HWY_ARCH_X86
  if (auto runner = make_restricted<HWY_AVX2>(job, threads, "AVX2")) return runner;
#endif
  return cannot("sparing-avx2", "this processor has no AVX2");
}

Result<std::unique_ptr<Runner>> make_sparing_sse4([[maybe_unused]] const ImportJob& job,
                                                  [[maybe_unused]] int threads) {
#if HWY_ARCH_X86
  if (auto runner = make_restricted<HWY_SSE4>(job, threads, "SSE4")) return runner;
#endif
  return cannot("sparing-sse4", "this processor has no SSE4");
}

Result<std::unique_ptr<Runner>> make_sparing_threads(const ImportJob& job, int) {
  if (available_cores() < 2) return cannot("sparing-2-threads", "there is one core only");
  return std::unique_ptr<Runner>(std::make_unique<SparingRunner>(job, 2));
}

}  // namespace sparing::bench
