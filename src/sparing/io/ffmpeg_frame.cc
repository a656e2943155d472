#include "sparing/io/ffmpeg_frame.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

extern "C" {
#include <libavutil/dict.h>
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
}

namespace sparing::ffmpeg {
namespace {

struct DirectFormat {
  AVPixelFormat av;
  PixelFormat ours;
};
// The first row of each of ours is its exact counterpart. An alpha plane that ours lacks is left
// out of the view; full-range doubles (yuvj) differ by their colour space only.
// clang-format off: one row a format
constexpr std::array<DirectFormat, 29> kDirectFormats{{
    {AV_PIX_FMT_YUV420P, PixelFormat::kI420},
    {AV_PIX_FMT_YUVJ420P, PixelFormat::kI420},
    {AV_PIX_FMT_YUVA420P, PixelFormat::kI420A},
    {AV_PIX_FMT_YUV422P, PixelFormat::kI422},
    {AV_PIX_FMT_YUVJ422P, PixelFormat::kI422},
    {AV_PIX_FMT_YUVA422P, PixelFormat::kI422},
    {AV_PIX_FMT_YUV444P, PixelFormat::kI444},
    {AV_PIX_FMT_YUVJ444P, PixelFormat::kI444},
    {AV_PIX_FMT_YUVA444P, PixelFormat::kI444},
    {AV_PIX_FMT_NV12, PixelFormat::kNv12},
    {AV_PIX_FMT_NV16, PixelFormat::kNv16},
    {AV_PIX_FMT_NV21, PixelFormat::kNv21},
    {AV_PIX_FMT_YUYV422, PixelFormat::kYuyv},
    {AV_PIX_FMT_UYVY422, PixelFormat::kUyvy},
    {AV_PIX_FMT_P010LE, PixelFormat::kP010},
    {AV_PIX_FMT_YUV420P10LE, PixelFormat::kI010},
    {AV_PIX_FMT_YUVA420P10LE, PixelFormat::kI010},
    {AV_PIX_FMT_YUV422P10LE, PixelFormat::kI210},
    {AV_PIX_FMT_YUVA422P10LE, PixelFormat::kI210},
    {AV_PIX_FMT_YUV444P10LE, PixelFormat::kI410},
    {AV_PIX_FMT_YUVA444P10LE, PixelFormat::kI410},
    {AV_PIX_FMT_RGBA, PixelFormat::kRgba},
    {AV_PIX_FMT_RGB0, PixelFormat::kRgbx},
    {AV_PIX_FMT_BGRA, PixelFormat::kBgra},
    {AV_PIX_FMT_BGR0, PixelFormat::kBgrx},
    {AV_PIX_FMT_RGB24, PixelFormat::kRgb24},
    {AV_PIX_FMT_BGR24, PixelFormat::kBgr24},
    {AV_PIX_FMT_GRAY8, PixelFormat::kGray8},
    {AV_PIX_FMT_GRAY16LE, PixelFormat::kGray16},
}};
// clang-format on

std::string format_name(int format) {
  const char* name = av_get_pix_fmt_name(static_cast<AVPixelFormat>(format));
  return name != nullptr ? name : "format " + std::to_string(format);
}

Error cannot_convert(int format) {
  return {ErrorCode::kNotSupported, "pixel format " + format_name(format), "it cannot be converted",
          "re-encode the video as yuv420p"};
}

Error out_of_memory() {
  return {ErrorCode::kInternal, "decoded picture", "out of memory", "use smaller pictures"};
}

// The full-range doubles of YUV formats are old spellings that swscale maps itself.
bool is_yuvj(int format) {
  return format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_YUVJ422P ||
         format == AV_PIX_FMT_YUVJ444P || format == AV_PIX_FMT_YUVJ440P ||
         format == AV_PIX_FMT_YUVJ411P;
}

// FFmpeg stores what the stream says, whether its enum has such a value or not; reading that as the
// enum is undefined.
template <class Enum>
int number_of(const Enum& field) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &field, sizeof number);
  return number;
}

ColorMatrix matrix_of(int space) {
  switch (space) {
    case AVCOL_SPC_BT709:
    case AVCOL_SPC_SMPTE240M:  // within a rounding step of BT.709
      return ColorMatrix::kBt709;
    case AVCOL_SPC_FCC:
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M: return ColorMatrix::kBt601;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL: return ColorMatrix::kBt2020;
    default: return ColorMatrix::kUnspecified;
  }
}

ColorPrimaries primaries_of(int primaries) {
  switch (primaries) {
    case AVCOL_PRI_BT709: return ColorPrimaries::kBt709;
    case AVCOL_PRI_BT470BG:
    case AVCOL_PRI_SMPTE170M:
    case AVCOL_PRI_SMPTE240M: return ColorPrimaries::kBt601;
    case AVCOL_PRI_BT2020: return ColorPrimaries::kBt2020;
    default: return ColorPrimaries::kUnspecified;
  }
}

ColorTransfer transfer_of(int transfer) {
  switch (transfer) {
    case AVCOL_TRC_SMPTE2084: return ColorTransfer::kPq;
    case AVCOL_TRC_ARIB_STD_B67: return ColorTransfer::kHlg;
    case AVCOL_TRC_BT709:
    case AVCOL_TRC_GAMMA22:
    case AVCOL_TRC_GAMMA28:
    case AVCOL_TRC_SMPTE170M:
    case AVCOL_TRC_IEC61966_2_1:
    case AVCOL_TRC_BT2020_10:
    case AVCOL_TRC_BT2020_12: return ColorTransfer::kSdr;
    default: return ColorTransfer::kUnspecified;
  }
}

ChromaSiting siting_of(int location) {
  switch (location) {
    case AVCHROMA_LOC_LEFT: return ChromaSiting::kLeft;
    case AVCHROMA_LOC_CENTER: return ChromaSiting::kCenter;
    case AVCHROMA_LOC_TOPLEFT: return ChromaSiting::kTopLeft;
    default: return ChromaSiting::kUnspecified;
  }
}

ColorSpace color_space_of(const AVFrame& frame) {
  ColorSpace space;
  space.matrix = matrix_of(number_of(frame.colorspace));
  space.primaries = primaries_of(number_of(frame.color_primaries));
  space.transfer = transfer_of(number_of(frame.color_trc));
  space.siting = siting_of(number_of(frame.chroma_location));
  const int range = number_of(frame.color_range);
  if (range == AVCOL_RANGE_JPEG || is_yuvj(frame.format)) {
    space.range = ColorRange::kFull;
  } else if (range == AVCOL_RANGE_MPEG) {
    space.range = ColorRange::kLimited;
  }
  return space;
}

std::optional<Orientation> frame_orientation(const AVFrame& frame) {
  const AVFrameSideData* data = av_frame_get_side_data(&frame, AV_FRAME_DATA_DISPLAYMATRIX);
  std::int32_t matrix[9];
  if (data != nullptr && data->size >= sizeof matrix) {
    std::memcpy(matrix, data->data, sizeof matrix);
    return orientation_from_matrix(matrix);
  }
  // The JPEG decoder gives EXIF fields as metadata up to FFmpeg 7, as a display matrix after it.
  const AVDictionaryEntry* exif = av_dict_get(frame.metadata, "Orientation", nullptr, 0);
  if (exif != nullptr) return orientation_from_exif(std::atoi(exif->value));
  return std::nullopt;
}

}  // namespace

std::string_view name_of(AVPixelFormat format) {
  const char* name = av_get_pix_fmt_name(format);
  return name != nullptr ? name : std::string_view();
}

std::optional<PixelFormat> direct_format(AVPixelFormat format) {
  for (const DirectFormat& row : kDirectFormats) {
    if (row.av == format) return row.ours;
  }
  return std::nullopt;
}

AVPixelFormat to_av(PixelFormat format) {
  for (const DirectFormat& row : kDirectFormats) {
    if (row.ours == format) return row.av;
  }
  return AV_PIX_FMT_NONE;
}

std::optional<PixelFormat> converted_format(AVPixelFormat format) {
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(format);
  if (d == nullptr || (d->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0 ||
      sws_isSupportedInput(format) <= 0) {
    return std::nullopt;
  }
  // E.g. 16-bit PNG: the same numbers in the other byte order.
  if (const auto swapped = direct_format(av_pix_fmt_swap_endianness(format))) return swapped;
  const bool alpha = (d->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
  const bool rgb = (d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0;
  if (!rgb && d->nb_components <= 2) return PixelFormat::kGray8;
  if (!rgb && (d->log2_chroma_w > 0 || d->log2_chroma_h > 0)) return PixelFormat::kI420;
  return alpha ? PixelFormat::kRgba : PixelFormat::kRgb24;
}

int sws_matrix(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::kBt709: return SWS_CS_ITU709;
    case ColorMatrix::kBt2020: return SWS_CS_BT2020;
    default: return SWS_CS_ITU601;
  }
}

Orientation orientation_from_matrix(const std::int32_t (&matrix)[9]) {
  // x' = a x + c y, y' = b x + d y: a clockwise turn by t has a = cos t, b = sin t.
  double a = matrix[0], b = matrix[1], c = matrix[3], d = matrix[4];
  Orientation orientation;
  orientation.flip = a * d - b * c < 0;
  if (orientation.flip) a = -a;  // undo the mirroring of x, which comes after the turn
  if (a == 0 && b == 0) return {};
  const int quarter = static_cast<int>(std::lround(std::atan2(b, a) / (std::acos(-1.0) / 2)));
  orientation.rotation = static_cast<Rotation>(((quarter + 4) % 4) * 90);
  return orientation;
}

Orientation orientation_from_exif(int value) {
  switch (value) {
    case 2: return {Rotation::k0, true};
    case 3: return {Rotation::k180, false};
    case 4: return {Rotation::k180, true};
    case 5: return {Rotation::k90, true};
    case 6: return {Rotation::k90, false};
    case 7: return {Rotation::k270, true};
    case 8: return {Rotation::k270, false};
    default: return {};
  }
}

Result<SharedFrame> FrameWrapper::wrap(Frame frame, Orientation stream_orientation) {
  const auto crop = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  const std::int64_t width = frame->width - crop(frame->crop_right);
  const std::int64_t height = frame->height - crop(frame->crop_bottom);
  const std::int64_t left = crop(frame->crop_left);
  const std::int64_t top = crop(frame->crop_top);
  if (left < 0 || top < 0 || width <= left || height <= top || frame->data[0] == nullptr) {
    return Error{ErrorCode::kInput, "decoded picture", "it has no pixels", "re-encode the video"};
  }
  const Size size{static_cast<int>(width), static_cast<int>(height)};
  const Orientation orientation = frame_orientation(*frame).value_or(stream_orientation);

  ColorSpace space = color_space_of(*frame);
  auto format = direct_format(static_cast<AVPixelFormat>(frame->format));
  if (!format) {
    SPARING_ASSIGN_OR_RETURN(frame, convert(std::move(frame), size, space));
    format = direct_format(static_cast<AVPixelFormat>(frame->format));
  }
  VideoFrame view;
  view.format = *format;
  view.coded_size = size;
  view.color_space = space;
  for (int p = 0; p < info(*format).planes; ++p) {
    view.planes[p] = {frame->data[p], frame->linesize[p]};
  }
  if (left > 0 || top > 0) {
    view.visible_rect = {static_cast<double>(left), static_cast<double>(top),
                         static_cast<double>(width - left), static_cast<double>(height - top)};
  }
  view.rotation = orientation.rotation;
  view.flip = orientation.flip;
  if (info(view.format).model != ColorModel::kYuv) {
    view.color_space.matrix = ColorMatrix::kUnspecified;
    view.color_space.siting = ChromaSiting::kUnspecified;
  }
  SPARING_RETURN_IF_ERROR(validate(view));
  return SharedFrame(view, std::shared_ptr<AVFrame>(frame.release(), Free{}));
}

Status FrameWrapper::prepare_scaler(const AVFrame& frame, Size size, PixelFormat target) {
  ColorSpace space = color_space_of(frame);
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  const bool rgb = (d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0;
  const PixelFormat kind = rgb                     ? PixelFormat::kRgb24
                           : d->nb_components <= 2 ? PixelFormat::kGray8
                                                   : PixelFormat::kI420;
  space = resolve(space, kind, size);
  const AVPixelFormat av_target = to_av(target);
  const ScalerKey key{size, frame.format, av_target, sws_matrix(space.matrix),
                      space.range == ColorRange::kFull};
  if (scaler_ && key == key_) return {};
  // Nothing is resized, so the filter matters for subsampled chroma only.
  scaler_.reset(sws_getContext(
      size.width, size.height, static_cast<AVPixelFormat>(frame.format), size.width, size.height,
      av_target, SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, nullptr, nullptr, nullptr));
  if (!scaler_) return cannot_convert(frame.format);
  key_ = key;
  const bool to_yuv = info(target).model != ColorModel::kRgb;
  const int* coefficients = sws_getCoefficients(key.matrix);
  sws_setColorspaceDetails(scaler_.get(), coefficients, key.full_range ? 1 : 0, coefficients,
                           (!to_yuv || key.full_range) ? 1 : 0, 0, 1 << 16, 1 << 16);
  return {};
}

Result<Frame> FrameWrapper::convert(Frame source, Size size, ColorSpace& space) {
  const auto target = converted_format(static_cast<AVPixelFormat>(source->format));
  if (!target) return cannot_convert(source->format);
  SPARING_RETURN_IF_ERROR(prepare_scaler(*source, size, *target));
  // FFmpeg's own allocation, because its SIMD writes beyond the end of rows.
  Frame result(av_frame_alloc());
  if (!result) return out_of_memory();
  result->format = to_av(*target);
  result->width = size.width;
  result->height = size.height;
  if (av_frame_get_buffer(result.get(), 0) < 0) return out_of_memory();
  if (sws_scale(scaler_.get(), source->data, source->linesize, 0, size.height, result->data,
                result->linesize) <= 0) {
    return cannot_convert(source->format);
  }
  // RGB comes out in full range; YUV and grey keep the range of the source.
  const ColorModel model = info(*target).model;
  if (model == ColorModel::kRgb) space.range = ColorRange::kFull;
  if (model == ColorModel::kGray) {
    space.range = key_.full_range ? ColorRange::kFull : ColorRange::kLimited;
  }
  return result;
}

}  // namespace sparing::ffmpeg
