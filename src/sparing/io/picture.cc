#include "sparing/io/picture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "sparing/base/aligned_buffer.h"
#include "sparing/base/check.h"
#include "sparing/io/picture_canvas.h"
#include "sparing/io/upright.h"

namespace sparing {
namespace {

constexpr std::ptrdiff_t kAlignment = static_cast<std::ptrdiff_t>(kBufferAlignment);

int next_even(int value) { return value + (value & 1); }

Error no_memory(Size size) {
  return {ErrorCode::kInternal,
          "picture of " + std::to_string(size.width) + "x" + std::to_string(size.height),
          "out of memory", "free memory"};
}

}  // namespace

// Planes lie one after another. Rows have room behind them, because FFmpeg's SIMD writes there.
struct Picture::Memory {
  static constexpr std::ptrdiff_t kRoom = 32;
  explicit Memory(Size size)
      : stride((next_even(size.width) + kRoom + kAlignment - 1) / kAlignment * kAlignment),
        chroma_stride((next_even(size.width) / 2 + kRoom + kAlignment - 1) / kAlignment *
                      kAlignment),
        luma_bytes(stride * next_even(size.height)),
        chroma_bytes(chroma_stride * (next_even(size.height) / 2)),
        planes(static_cast<std::size_t>(luma_bytes + 2 * chroma_bytes)) {}

  std::ptrdiff_t offset(int plane) const {
    return plane == 0 ? 0 : luma_bytes + (plane - 1) * chroma_bytes;
  }
  std::uint8_t* plane(int p) { return reinterpret_cast<std::uint8_t*>(planes.data()) + offset(p); }
  std::uint8_t* alpha_plane() { return reinterpret_cast<std::uint8_t*>(alpha.data()); }

  std::ptrdiff_t stride, chroma_stride, luma_bytes, chroma_bytes;
  AlignedBuffer planes;
  AlignedBuffer alpha;
};

Picture::Picture() = default;
Picture::~Picture() = default;
Picture::Picture(Picture&& other) noexcept { *this = std::move(other); }

Picture& Picture::operator=(Picture&& other) noexcept {
  if (this == &other) return *this;
  memory_ = std::move(other.memory_);
  size_ = std::exchange(other.size_, {});
  space_ = other.space_;
  has_alpha_ = std::exchange(other.has_alpha_, false);
  timestamp = other.timestamp;
  duration = other.duration;
  return *this;
}

Status Picture::allocate(Size size, const ColorSpace& space) {
  if (size.width < 1 || size.height < 1 || size.width > kMaxFrameExtent ||
      size.height > kMaxFrameExtent) {
    return Error{
        ErrorCode::kInvalidArgument, "size of a picture",
        std::to_string(size.width) + "x" + std::to_string(size.height) + " is out of range",
        "give 1 to " + std::to_string(kMaxFrameExtent) + " columns and rows"};
  }
  if (size != size_) {
    auto memory = std::make_unique<Memory>(size);
    if (memory->planes.data() == nullptr) return no_memory(size);
    memory_ = std::move(memory);
    size_ = size;
  }
  space_ = resolve(space, PixelFormat::kI420, size);
  has_alpha_ = false;
  return {};
}

Status Picture::copy_from(const Picture& other) {
  if (this == &other) return {};
  if (other.empty()) {
    *this = Picture();
    return {};
  }
  SPARING_RETURN_IF_ERROR(allocate(other.size_, other.space_));
  std::memcpy(memory_->planes.data(), other.memory_->planes.data(), memory_->planes.size());
  if (other.has_alpha_) {
    SPARING_RETURN_IF_ERROR(add_alpha());
    std::memcpy(memory_->alpha.data(), other.memory_->alpha.data(), memory_->alpha.size());
  }
  timestamp = other.timestamp;
  duration = other.duration;
  return {};
}

void Picture::fill(std::uint8_t y, std::uint8_t u, std::uint8_t v) {
  SPARING_CHECK(!empty());
  std::memset(memory_->plane(0), y, static_cast<std::size_t>(memory_->luma_bytes));
  std::memset(memory_->plane(1), u, static_cast<std::size_t>(memory_->chroma_bytes));
  std::memset(memory_->plane(2), v, static_cast<std::size_t>(memory_->chroma_bytes));
}

Size Picture::plane_size(int plane) const {
  const int shift = plane > 0 ? 1 : 0;
  return {chroma_extent(size_.width, shift), chroma_extent(size_.height, shift)};
}

std::ptrdiff_t Picture::stride(int plane) const {
  return plane == 0 ? memory_->stride : memory_->chroma_stride;
}

const std::uint8_t* Picture::row(int plane, int y) const {
  return memory_->plane(plane) + y * stride(plane);
}
std::uint8_t* Picture::row(int plane, int y) { return memory_->plane(plane) + y * stride(plane); }

Status Picture::add_alpha() {
  SPARING_CHECK(!empty());
  if (memory_->alpha.data() == nullptr) {
    memory_->alpha = AlignedBuffer(static_cast<std::size_t>(memory_->luma_bytes));
    if (memory_->alpha.data() == nullptr) return no_memory(size_);
  }
  has_alpha_ = true;
  return {};
}

const std::uint8_t* Picture::alpha_row(int y) const {
  return memory_->alpha_plane() + y * memory_->stride;
}
std::uint8_t* Picture::alpha_row(int y) { return memory_->alpha_plane() + y * memory_->stride; }

VideoFrame Picture::view() const {
  VideoFrame frame;
  frame.format = has_alpha_ ? PixelFormat::kI420A : PixelFormat::kI420;
  frame.coded_size = size_;
  if (!empty()) {
    for (int p = 0; p < 3; ++p) frame.planes[static_cast<std::size_t>(p)] = {row(p, 0), stride(p)};
    if (has_alpha_) frame.planes[3] = {alpha_row(0), memory_->stride};
  }
  frame.color_space = space_;
  frame.timestamp = timestamp;
  frame.duration = duration;
  return frame;
}

YuvCanvas canvas_of(Picture& picture) {
  YuvCanvas canvas;
  for (int p = 0; p < 3; ++p) {
    canvas.planes[static_cast<std::size_t>(p)] = picture.row(p, 0);
    canvas.strides[static_cast<std::size_t>(p)] = picture.stride(p);
  }
  canvas.size = {next_even(picture.size().width), next_even(picture.size().height)};
  return canvas;
}

ColorSpace picture_color_space(const VideoFrame& frame) { return upright_color_space(frame); }

struct PictureConverter::Impl {
  UprightConverter upright;

  Status draw(const VideoFrame& frame, Size size, const ColorSpace& space, Picture& picture) {
    SPARING_RETURN_IF_ERROR(picture.allocate(size, space));
    SPARING_RETURN_IF_ERROR(
        upright.convert(frame, picture.color_space(), size, canvas_of(picture)));
    picture.timestamp = frame.timestamp;
    picture.duration = frame.duration;
    return {};
  }
};

PictureConverter::PictureConverter() : impl_(std::make_unique<Impl>()) {}
PictureConverter::~PictureConverter() = default;
PictureConverter::PictureConverter(PictureConverter&& other) noexcept = default;
PictureConverter& PictureConverter::operator=(PictureConverter&& other) noexcept = default;

Status PictureConverter::convert(const VideoFrame& frame, Picture& picture) {
  SPARING_RETURN_IF_ERROR(validate(frame));
  return impl_->draw(frame, display_size(frame), picture_color_space(frame), picture);
}

Status PictureConverter::stretch(const VideoFrame& frame, Size size, const ColorSpace& space,
                                 Picture& picture) {
  SPARING_RETURN_IF_ERROR(validate(frame));
  return impl_->draw(frame, size, space, picture);
}

Status PictureConverter::fill(const VideoFrame& frame, Size size, const ColorSpace& space,
                              Picture& picture) {
  SPARING_RETURN_IF_ERROR(validate(frame));
  const Rect whole = display_rect(frame);
  // The largest part of the frame, about its centre, that has the shape of `size`.
  const double scale =
      std::min(whole.width / std::max(size.width, 1), whole.height / std::max(size.height, 1));
  const double width = size.width * scale, height = size.height * scale;
  const double left = (whole.width - width) / 2, top = (whole.height - height) / 2;
  const Affine to_coded = display_to_coded(frame);
  const Point a = to_coded({left, top}), b = to_coded({left + width, top + height});
  VideoFrame part = frame;
  part.visible_rect =
      intersect({std::min(a.x, b.x), std::min(a.y, b.y), std::abs(b.x - a.x), std::abs(b.y - a.y)},
                visible_rect(frame));
  return impl_->draw(part, size, space, picture);
}

}  // namespace sparing
