// FFmpeg's swscale: scaling and conversion in one call, to planes of floats (which it makes faster
// than planes of bytes), for f32 in the tensor itself; then our own vector loop normalises them.
extern "C" {
#include <libswscale/swscale.h>
}

#include "import_contestant.h"
#include "vector_rows.h"

namespace sparing::bench {
namespace {

struct FreeContext {
  void operator()(SwsContext* context) const { sws_freeContext(context); }
};

class SwscaleRunner : public Runner {
 public:
  SwscaleRunner(const ImportJob& job, const PixelRect& source, int flags)
      : job_(job), normalization_(normalization(job)), height_(source.height) {
    const bool rgba = job.format == PixelFormat::kRgba;
    const AVPixelFormat from = rgba ? AV_PIX_FMT_RGBA : AV_PIX_FMT_NV12;
    const AVPixelFormat to = planar() ? AV_PIX_FMT_GBRPF32LE : AV_PIX_FMT_RGB24;
    context_.reset(sws_getContext(source.width, source.height, from, job.output.width,
                                  job.output.height, to, flags, nullptr, nullptr, nullptr));
    if (job.type == DataType::kFloat16) floats_.resize(3 * plane_size());
  }

  bool ok() const { return context_ != nullptr; }

  Status run(const Shot& shot, const TensorView& tensor) override {
    const PixelRect rect = whole_source(shot.cells[0]);
    const Plane& first = shot.frame.planes[0];
    const Plane& chroma = shot.frame.planes[1];
    const int step = job_.format == PixelFormat::kRgba ? 4 : 1;
    const std::uint8_t* from[4] = {first.data + rect.y * first.stride + rect.x * step, nullptr,
                                   nullptr, nullptr};
    const int from_stride[4] = {static_cast<int>(first.stride), static_cast<int>(chroma.stride), 0,
                                0};
    if (chroma.data != nullptr) from[1] = chroma.data + rect.y / 2 * chroma.stride + rect.x;
    if (!planar()) {
      std::uint8_t* to[4] = {reinterpret_cast<std::uint8_t*>(tensor.data)};
      const int to_stride[4] = {static_cast<int>(tensor.stride_y)};
      return scale(from, from_stride, to, to_stride);
    }
    float* red = floats_.empty() ? reinterpret_cast<float*>(tensor.data) : floats_.data();
    float* green = red + plane_size();
    float* blue = green + plane_size();
    std::uint8_t* to[4] = {reinterpret_cast<std::uint8_t*>(green),
                           reinterpret_cast<std::uint8_t*>(blue),
                           reinterpret_cast<std::uint8_t*>(red)};
    const int row = job_.output.width * static_cast<int>(sizeof(float));
    const int to_stride[4] = {row, row, row};
    SPARING_RETURN_IF_ERROR(scale(from, from_stride, to, to_stride));
    store_planes({{red, green, blue}, job_.output.width}, normalization_, tensor);
    return {};
  }

 private:
  bool planar() const { return job_.layout == Layout::kNchw; }
  std::size_t plane_size() const {
    return static_cast<std::size_t>(job_.output.width) *
           static_cast<std::size_t>(job_.output.height);
  }

  Status scale(const std::uint8_t* const from[], const int from_stride[], std::uint8_t* const to[],
               const int to_stride[]) {
    const int rows = sws_scale(context_.get(), from, from_stride, 0, height_, to, to_stride);
    if (rows == job_.output.height) return {};
    return Error{ErrorCode::kInternal, "swscale", "stopped at row " + std::to_string(rows),
                 "report this"};
  }

  const ImportJob& job_;
  Normalization normalization_;
  int height_;
  std::unique_ptr<SwsContext, FreeContext> context_;
  std::vector<float> floats_;  // kept from call to call; f32 needs none
};

Result<std::unique_ptr<Runner>> make(const char* name, const ImportJob& job, int flags) {
  if (job.part == Part::kRois) return cannot(name, "a context serves one pair of sizes");
  PixelRect source{0, 0, job.source.width, job.source.height};
  if (job.part == Part::kCrop) source = {0, 0, 200, 300};
  auto runner = std::make_unique<SwscaleRunner>(job, source, flags);
  if (!runner->ok()) return cannot(name, "sws_getContext refuses it");
  return std::unique_ptr<Runner>(std::move(runner));
}

}  // namespace

Result<std::unique_ptr<Runner>> make_swscale(const ImportJob& job, int) {
  return make("swscale", job, job.filter == Filter::kArea ? SWS_AREA : SWS_BILINEAR);
}

Result<std::unique_ptr<Runner>> make_swscale_fast(const ImportJob& job, int) {
  if (job.filter == Filter::kArea) return cannot("swscale-fast", "it has no area filter");
  return make("swscale-fast", job, SWS_FAST_BILINEAR);
}

}  // namespace sparing::bench
