// libyuv: scale the planes, convert the small picture, then our own vector loop to the tensor.
#include <libyuv.h>

#include "import_contestant.h"
#include "vector_rows.h"

namespace sparing::bench {
namespace {

// libyuv names pixels by their value as a little-endian word: its ARGB is B, G, R, A in memory.
constexpr std::array<std::size_t, 3> kArgbChannels{2, 1, 0};
constexpr std::array<std::size_t, 3> kRgbaChannels{0, 1, 2};
constexpr std::uint32_t kPad = 0xff727272;  // 114

struct Picture {
  std::uint8_t* data;
  int stride;
};

class LibyuvRunner : public Runner {
 public:
  explicit LibyuvRunner(const ImportJob& job) : job_(job), normalization_(normalization(job)) {
    const auto pixels = static_cast<std::size_t>(job.output.width * job.output.height);
    y_.resize(pixels);
    uv_.resize(pixels / 2);
    argb_.resize(pixels * 4);
  }

  Status run(const Shot& shot, const TensorView& tensor) override {
    const Picture argb{argb_.data(), 4 * job_.output.width};
    int failed = 0;
    if (job_.format == PixelFormat::kRgba) {
      failed = scale_rgba(shot, argb);
    } else if (job_.layout == Layout::kNhwc) {
      failed = draw_nv12(
          shot.frame, shot.cells[0],
          {reinterpret_cast<std::uint8_t*>(tensor.data), static_cast<int>(tensor.stride_y)},
          libyuv::NV12ToRAW);
    } else {
      for (const Cell& cell : shot.cells) failed |= draw_cell(shot.frame, cell, argb);
    }
    if (failed != 0)
      return Error{ErrorCode::kInternal, "libyuv", "refused its arguments", "report this"};
    if (job_.layout == Layout::kNchw) {
      const bool rgba = job_.format == PixelFormat::kRgba;
      store_pixels({argb.data, argb.stride, 4, rgba ? kRgbaChannels : kArgbChannels},
                   normalization_, tensor);
    }
    return {};
  }

 private:
  int scale_rgba(const Shot& shot, const Picture& out) {
    // Four bytes are four bytes: the order of channels makes no difference.
    const Plane& plane = shot.frame.planes[0];
    return libyuv::ARGBScale(plane.data, static_cast<int>(plane.stride), job_.source.width,
                             job_.source.height, out.data, out.stride, job_.output.width,
                             job_.output.height, libyuv::kFilterBilinear);
  }

  int draw_cell(const VideoFrame& frame, const Cell& cell, const Picture& canvas) {
    const PixelRect& all = cell.destination;
    const PixelRect& content = cell.content;
    int failed = 0;
    if (content.x > all.x) {
      const int right = content.x + content.width;
      failed |= libyuv::ARGBRect(canvas.data, canvas.stride, all.x, all.y, content.x - all.x,
                                 all.height, kPad);
      failed |= libyuv::ARGBRect(canvas.data, canvas.stride, right, all.y,
                                 all.x + all.width - right, all.height, kPad);
    }
    const Picture corner{canvas.data + content.y * canvas.stride + 4 * content.x, canvas.stride};
    return failed | draw_nv12(frame, cell, corner, libyuv::NV12ToARGB);
  }

  template <class Convert>
  int draw_nv12(const VideoFrame& frame, const Cell& cell, const Picture& out, Convert convert) {
    const PixelRect rect = whole_source(cell);
    const Plane& y = frame.planes[0];
    const Plane& uv = frame.planes[1];
    const int width = cell.content.width;
    const int height = cell.content.height;
    const int failed = libyuv::NV12Scale(
        y.data + rect.y * y.stride + rect.x, static_cast<int>(y.stride),
        uv.data + rect.y / 2 * uv.stride + rect.x, static_cast<int>(uv.stride), rect.width,
        rect.height, y_.data(), width, uv_.data(), width, width, height, libyuv::kFilterBilinear);
    return failed |
           convert(y_.data(), width, uv_.data(), width, out.data, out.stride, width, height);
  }

  const ImportJob& job_;
  Normalization normalization_;
  std::vector<std::uint8_t> y_, uv_, argb_;  // kept from call to call
};

}  // namespace

Result<std::unique_ptr<Runner>> make_libyuv(const ImportJob& job, int) {
  if (job.filter == Filter::kArea) return cannot("libyuv", "its box filter is bilinear above 1:2");
  return std::unique_ptr<Runner>(std::make_unique<LibyuvRunner>(job));
}

}  // namespace sparing::bench
