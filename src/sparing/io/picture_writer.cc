#include "sparing/io/picture_writer.h"

#include <algorithm>
#include <cstring>

extern "C" {
#include <libavutil/pixdesc.h>
}

#include "sparing/base/check.h"
#include "sparing/io/ffmpeg_frame.h"

namespace sparing {
namespace {

Error cannot_convert() {
  return {ErrorCode::kInternal, "picture for the output", "it cannot be converted",
          "choose another format"};
}

// Columns and rows of the target's plane that hold samples of the picture.
Size filled(const AVPixFmtDescriptor& format, int plane, Size picture) {
  if (plane != 1 && plane != 2) return picture;
  return {chroma_extent(picture.width, format.log2_chroma_w),
          chroma_extent(picture.height, format.log2_chroma_h)};
}

void copy_plane(const std::uint8_t* from, std::ptrdiff_t from_stride, std::uint8_t* to,
                std::ptrdiff_t to_stride, Size size) {
  for (int y = 0; y < size.height; ++y) {
    std::memcpy(to + y * to_stride, from + y * from_stride, static_cast<std::size_t>(size.width));
  }
}

// How a target stores alpha: packed with the colours, or in a plane of its own of 8 or more bits.
void write_alpha(const Picture& picture, const AVPixFmtDescriptor& format, AVFrame& target) {
  const AVComponentDescriptor& alpha = format.comp[format.nb_components - 1];
  const int most = (1 << alpha.depth) - 1;
  for (int y = 0; y < picture.size().height; ++y) {
    const std::uint8_t* from = picture.has_alpha() ? picture.alpha_row(y) : nullptr;
    std::uint8_t* to = target.data[alpha.plane] + y * target.linesize[alpha.plane] + alpha.offset;
    for (int x = 0; x < picture.size().width; ++x) {
      const int value = from == nullptr ? most : (from[x] * most + 127) / 255;
      to[x * alpha.step] = static_cast<std::uint8_t>(value);
      if (alpha.depth > 8) to[x * alpha.step + 1] = static_cast<std::uint8_t>(value >> 8);
    }
  }
}

void repeat_edges(const AVPixFmtDescriptor& format, Size picture, AVFrame& target) {
  const int planes = av_pix_fmt_count_planes(static_cast<AVPixelFormat>(target.format));
  for (int p = 0; p < planes; ++p) {
    const Size have = filled(format, p, picture);
    const Size want = filled(format, p, {target.width, target.height});
    int step = 1;
    for (int c = 0; c < format.nb_components; ++c) {
      if (format.comp[c].plane == p) step = format.comp[c].step;
    }
    const auto bytes = static_cast<std::size_t>(step);
    std::uint8_t* data = target.data[p];
    const std::ptrdiff_t stride = target.linesize[p];
    for (int y = 0; y < have.height && want.width > have.width; ++y) {
      std::uint8_t* end = data + y * stride + std::ptrdiff_t{have.width} * step;
      std::memcpy(end, end - step, bytes);
    }
    for (int y = have.height; y < want.height; ++y) {
      std::memcpy(data + y * stride, data + (y - 1) * stride,
                  static_cast<std::size_t>(want.width) * bytes);
    }
  }
}

}  // namespace

Status PictureWriter::write(const Picture& picture, AVFrame& target) {
  const Size size = picture.size();
  const auto format = static_cast<AVPixelFormat>(target.format);
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(format);
  SPARING_CHECK(descriptor != nullptr && !picture.empty());
  SPARING_CHECK(target.width - size.width >= 0 && target.width - size.width <= 1);
  SPARING_CHECK(target.height - size.height >= 0 && target.height - size.height <= 1);
  const VideoFrame view = picture.view();
  if (format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVA420P) {
    for (int p = 0; p < 3; ++p) {
      copy_plane(view.planes[static_cast<std::size_t>(p)].data, picture.stride(p), target.data[p],
                 target.linesize[p], picture.plane_size(p));
    }
  } else {
    scaler_.reset(sws_getCachedContext(
        scaler_.release(), size.width, size.height, AV_PIX_FMT_YUV420P, size.width, size.height,
        format, SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP, nullptr,
        nullptr, nullptr));
    if (!scaler_) return cannot_convert();
    const int full = picture.color_space().range == ColorRange::kFull ? 1 : 0;
    const bool rgb = (descriptor->flags & AV_PIX_FMT_FLAG_RGB) != 0;
    const int* matrix = sws_getCoefficients(ffmpeg::sws_matrix(picture.color_space().matrix));
    sws_setColorspaceDetails(scaler_.get(), matrix, full, matrix, rgb ? 1 : full, 0, 1 << 16,
                             1 << 16);
    const std::uint8_t* data[4] = {view.planes[0].data, view.planes[1].data, view.planes[2].data,
                                   nullptr};
    const int strides[4] = {static_cast<int>(picture.stride(0)),
                            static_cast<int>(picture.stride(1)),
                            static_cast<int>(picture.stride(2)), 0};
    if (sws_scale(scaler_.get(), data, strides, 0, size.height, target.data, target.linesize) <=
        0) {
      return cannot_convert();
    }
  }
  // FFmpeg's own conversion widens alpha like luma: opaque would come out as 1020 of 1023.
  if ((descriptor->flags & AV_PIX_FMT_FLAG_ALPHA) != 0) write_alpha(picture, *descriptor, target);
  repeat_edges(*descriptor, size, target);
  return {};
}

}  // namespace sparing
