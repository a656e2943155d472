#include "import_contestant.h"

namespace sparing::bench {
namespace {

#if SPARING_HAS_OPENCV
#define SPARING_OPENCV(make) make
#else
#define SPARING_OPENCV(make) nullptr
#endif
#if SPARING_HAS_LIBYUV
#define SPARING_LIBYUV(make) make
#else
#define SPARING_LIBYUV(make) nullptr
#endif

constexpr Contestant kContestants[] = {
    {"sparing", Role::kUs, make_sparing, ""},
    {"sparing-avx2", Role::kUsAvx2, make_sparing_avx2, ""},
    {"sparing-sse4", Role::kUsSse4, make_sparing_sse4, ""},
    {"sparing-2-threads", Role::kUsThreads, make_sparing_threads, ""},
    {"opencv", Role::kPeer, SPARING_OPENCV(make_opencv), "libopencv-imgproc-dev"},
    {"opencv-planes", Role::kPeer, SPARING_OPENCV(make_opencv_planes), "libopencv-imgproc-dev"},
    {"libyuv", Role::kPeer, SPARING_LIBYUV(make_libyuv), "libyuv-dev"},
    {"swscale-fast", Role::kPeer, make_swscale_fast, ""},
    {"swscale", Role::kPeer, make_swscale, ""},
    {"openvino", Role::kPeer, make_openvino, ""},
};

}  // namespace

std::span<const Contestant> contestants() { return kContestants; }

Error cannot(const std::string& name, const std::string& reason) {
  return {ErrorCode::kNotSupported, name, reason, "see docs/bench.md"};
}

}  // namespace sparing::bench
