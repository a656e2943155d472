#include "sparing/io/upright.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "sparing/io/ffmpeg_frame.h"
#include "sparing/io/i420_copy.h"

namespace sparing {
namespace {

// The visible rectangle on whole pixels, its corner on a chroma sample.
PixelRect visible_pixels(const VideoFrame& frame) {
  const Rect visible = visible_rect(frame);
  const PixelFormatInfo& format = info(frame.format);
  PixelRect r;
  r.x = static_cast<int>(visible.x) >> format.chroma_shift_x << format.chroma_shift_x;
  r.y = static_cast<int>(visible.y) >> format.chroma_shift_y << format.chroma_shift_y;
  const int right = static_cast<int>(std::lround(visible.right()));
  const int bottom = static_cast<int>(std::lround(visible.bottom()));
  r.width = std::max(1, std::min(right, frame.coded_size.width) - r.x);
  r.height = std::max(1, std::min(bottom, frame.coded_size.height) - r.y);
  return r;
}

// Memory for an I420 picture, kept from call to call while the size stays.
Status ensure_picture(ffmpeg::Frame& picture, Size size) {
  if (picture && picture->width == size.width && picture->height == size.height) return {};
  picture.reset(av_frame_alloc());
  if (picture) {
    picture->format = AV_PIX_FMT_YUV420P;
    picture->width = size.width;
    picture->height = size.height;
  }
  if (!picture || av_frame_get_buffer(picture.get(), 0) < 0) {
    picture.reset();
    return Error{ErrorCode::kInternal, "picture for the video", "out of memory", "free memory"};
  }
  return {};
}

struct ConstPlane {
  const std::uint8_t* data;
  std::ptrdiff_t stride;
  Size size;  // before rotation
};

// Writes the plane upright, in tiles, so that reading along columns stays in the cache.
void rotate_plane(ConstPlane source, Rotation rotation, bool flip, std::uint8_t* target,
                  std::ptrdiff_t target_stride) {
  const bool sideways = rotation == Rotation::k90 || rotation == Rotation::k270;
  const int width = sideways ? source.size.height : source.size.width;
  const int height = sideways ? source.size.width : source.size.height;
  // The source address is origin + x * step_x + y * step_y.
  const auto at = [&](int x, int y) { return y * source.stride + x; };
  std::ptrdiff_t origin = 0, step_x = 1, step_y = source.stride;
  if (rotation == Rotation::k90) {
    origin = at(0, source.size.height - 1), step_x = -source.stride, step_y = 1;
  } else if (rotation == Rotation::k180) {
    origin = at(source.size.width - 1, source.size.height - 1), step_x = -1;
    step_y = -source.stride;
  } else if (rotation == Rotation::k270) {
    origin = at(source.size.width - 1, 0), step_x = source.stride, step_y = -1;
  }
  if (flip) origin += step_x * (width - 1), step_x = -step_x;
  constexpr int kTile = 32;
  for (int top = 0; top < height; top += kTile) {
    for (int left = 0; left < width; left += kTile) {
      for (int y = top; y < std::min(top + kTile, height); ++y) {
        const std::uint8_t* from = source.data + origin + y * step_y;
        for (int x = left; x < std::min(left + kTile, width); ++x) {
          target[y * target_stride + x] = from[x * step_x];
        }
      }
    }
  }
}

// Chroma needs none of this: half of an odd size is rounded up to the canvas' half.
void repeat_luma_edges(Size picture, const YuvCanvas& canvas) {
  std::uint8_t* luma = canvas.planes[0];
  const std::ptrdiff_t stride = canvas.strides[0];
  for (int x = picture.width; x < canvas.size.width; ++x) {
    for (int y = 0; y < picture.height; ++y) luma[y * stride + x] = luma[y * stride + x - 1];
  }
  for (int y = picture.height; y < canvas.size.height; ++y) {
    std::memcpy(luma + y * stride, luma + (y - 1) * stride,
                static_cast<std::size_t>(canvas.size.width));
  }
}

}  // namespace

ColorSpace upright_color_space(const VideoFrame& frame) {
  ColorSpace space = resolve(frame.color_space, frame.format, frame.coded_size);
  const ColorModel model = info(frame.format).model;
  if (model == ColorModel::kYuv) return space;
  if (model == ColorModel::kRgb) space.range = ColorRange::kLimited;
  space.matrix = ColorMatrix::kUnspecified;
  space.siting = ChromaSiting::kUnspecified;
  return resolve(space, PixelFormat::kI420, frame.coded_size);
}

YuvCanvas canvas_of(AVFrame& frame) {
  YuvCanvas canvas;
  for (int p = 0; p < 3; ++p) {
    canvas.planes[p] = frame.data[p];
    canvas.strides[p] = frame.linesize[p];
  }
  canvas.size = {frame.width, frame.height};
  return canvas;
}

Status UprightConverter::scale(const Picture& source, const ColorSpace& space, Size size,
                               const YuvCanvas& target) {
  scaler_.reset(sws_getCachedContext(scaler_.release(), source.size.width, source.size.height,
                                     source.format, size.width, size.height, AV_PIX_FMT_YUV420P,
                                     SWS_BILINEAR | SWS_ACCURATE_RND, nullptr, nullptr, nullptr));
  if (!scaler_) {
    return Error{ErrorCode::kInternal, "picture for the video", "it cannot be converted",
                 "leave out the video output"};
  }
  const int full = space.range == ColorRange::kFull ? 1 : 0;
  sws_setColorspaceDetails(
      scaler_.get(), sws_getCoefficients(ffmpeg::sws_matrix(source.space.matrix)),
      source.space.range == ColorRange::kFull ? 1 : 0,
      sws_getCoefficients(ffmpeg::sws_matrix(space.matrix)), full, 0, 1 << 16, 1 << 16);
  std::array<std::uint8_t*, 4> data{target.planes[0], target.planes[1], target.planes[2], nullptr};
  std::array<int, 4> strides{static_cast<int>(target.strides[0]),
                             static_cast<int>(target.strides[1]),
                             static_cast<int>(target.strides[2]), 0};
  sws_scale(scaler_.get(), source.data.data(), source.strides.data(), 0, source.size.height,
            data.data(), strides.data());
  return {};
}

// Unrotated pixels of the visible rectangle, scaled to `size`.
Status UprightConverter::draw(const VideoFrame& frame, const ColorSpace& space, Size size,
                              const YuvCanvas& target) {
  const PixelRect rect = visible_pixels(frame);
  Picture source;
  source.size = {rect.width, rect.height};
  source.space = resolve(frame.color_space, frame.format, frame.coded_size);
  if (info(frame.format).model != ColorModel::kYuv) {
    const Plane& plane = frame.planes[0];
    source.format = ffmpeg::to_av(frame.format);
    source.space.matrix = space.matrix;
    source.data[0] =
        plane.data + rect.y * plane.stride + rect.x * info(frame.format).components[0].step;
    source.strides[0] = static_cast<int>(plane.stride);
    return scale(source, space, size, target);
  }
  if (source.size == size && source.space.matrix == space.matrix &&
      source.space.range == space.range) {
    copy_as_i420(frame, rect, target);
    return {};
  }
  SPARING_RETURN_IF_ERROR(ensure_picture(unscaled_, source.size));
  const YuvCanvas unscaled = canvas_of(*unscaled_);
  copy_as_i420(frame, rect, unscaled);
  source.format = AV_PIX_FMT_YUV420P;
  for (std::size_t p = 0; p < 3; ++p) {
    source.data[p] = unscaled.planes[p];
    source.strides[p] = static_cast<int>(unscaled.strides[p]);
  }
  return scale(source, space, size, target);
}

Status UprightConverter::convert(const VideoFrame& frame, const ColorSpace& space, Size picture,
                                 const YuvCanvas& canvas) {
  if (frame.rotation == Rotation::k0 && !frame.flip) {
    SPARING_RETURN_IF_ERROR(draw(frame, space, picture, canvas));
    repeat_luma_edges(picture, canvas);
    return {};
  }
  const bool sideways = frame.rotation == Rotation::k90 || frame.rotation == Rotation::k270;
  const Size size = sideways ? Size{picture.height, picture.width} : picture;
  SPARING_RETURN_IF_ERROR(ensure_picture(unrotated_, size));
  const YuvCanvas whole = canvas_of(*unrotated_);
  SPARING_RETURN_IF_ERROR(draw(frame, space, size, whole));
  for (int p = 0; p < 3; ++p) {
    const int shift = p > 0 ? 1 : 0;
    rotate_plane({whole.planes[p],
                  whole.strides[p],
                  {chroma_extent(size.width, shift), chroma_extent(size.height, shift)}},
                 frame.rotation, frame.flip, canvas.planes[p], canvas.strides[p]);
  }
  repeat_luma_edges(picture, canvas);
  return {};
}

}  // namespace sparing
