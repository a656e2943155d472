#include "sparing/io/image.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "sparing/frame/video_frame.h"
#include "sparing/io/ffmpeg.h"
#include "sparing/io/file.h"

namespace sparing {
namespace {

Error image_error(const std::filesystem::path& path, ErrorCode code, std::string problem,
                  std::string fix) {
  return {code, "image '" + path.string() + "'", std::move(problem), std::move(fix)};
}

Status check_pixels(const std::filesystem::path& path, Size size, int channels, std::size_t bytes) {
  const auto invalid = [&](std::string problem, std::string fix) {
    return image_error(path, ErrorCode::kInvalidArgument, std::move(problem), std::move(fix));
  };
  const std::string text = std::to_string(size.width) + "x" + std::to_string(size.height);
  if (std::min(size.width, size.height) < 1 ||
      std::max(size.width, size.height) > kMaxFrameExtent) {
    return invalid("a size of " + text,
                   "give 1 to " + std::to_string(kMaxFrameExtent) + " columns and rows");
  }
  if (channels != 1 && channels != 3 && channels != 4) {
    return invalid(std::to_string(channels) + " channels", "give 1 (grey), 3 (RGB) or 4 (RGBA)");
  }
  const std::size_t needed = static_cast<std::size_t>(size.width) *
                             static_cast<std::size_t>(size.height) *
                             static_cast<std::size_t>(channels);
  if (bytes != needed) {
    return invalid(std::to_string(bytes) + " bytes of pixels",
                   "give " + std::to_string(needed) + " for " + text);
  }
  return {};
}

ffmpeg::Frame make_picture(Size size, int channels, std::span<const std::uint8_t> pixels) {
  ffmpeg::Frame picture(av_frame_alloc());
  if (!picture) return nullptr;
  picture->format = channels == 4   ? AV_PIX_FMT_RGBA
                    : channels == 3 ? AV_PIX_FMT_RGB24
                                    : AV_PIX_FMT_GRAY8;
  picture->width = size.width;
  picture->height = size.height;
  if (av_frame_get_buffer(picture.get(), 0) < 0) return nullptr;
  const auto row = static_cast<std::size_t>(size.width * channels);
  for (int y = 0; y < size.height; ++y) {
    std::memcpy(picture->data[0] + static_cast<std::ptrdiff_t>(y) * picture->linesize[0],
                pixels.data() + static_cast<std::size_t>(y) * row, row);
  }
  return picture;
}

}  // namespace

Status write_png(const std::filesystem::path& path, Size size, int channels,
                 std::span<const std::uint8_t> pixels) {
  SPARING_RETURN_IF_ERROR(check_pixels(path, size, channels, pixels.size()));
  ffmpeg::LogCapture log;
  const AVCodec* encoder = avcodec_find_encoder(AV_CODEC_ID_PNG);
  if (encoder == nullptr) {
    return image_error(path, ErrorCode::kNotSupported, "this build of FFmpeg cannot encode PNG",
                       "use an FFmpeg with zlib");
  }
  const ffmpeg::CodecContext codec(avcodec_alloc_context3(encoder));
  const ffmpeg::Packet packet(av_packet_alloc());
  const ffmpeg::Frame picture = make_picture(size, channels, pixels);
  if (!codec || !packet || !picture) {
    return image_error(path, ErrorCode::kInternal, "out of memory", "free memory");
  }
  codec->width = size.width;
  codec->height = size.height;
  codec->pix_fmt = static_cast<AVPixelFormat>(picture->format);
  codec->time_base = {1, 1};
  codec->thread_count = 1;
  int code = avcodec_open2(codec.get(), encoder, nullptr);
  if (code >= 0) code = avcodec_send_frame(codec.get(), picture.get());
  if (code >= 0) code = avcodec_send_frame(codec.get(), nullptr);
  if (code >= 0) code = avcodec_receive_packet(codec.get(), packet.get());
  if (code < 0) {
    return image_error(path, ErrorCode::kInternal, "encoding failed: " + log.explain(code),
                       "write it in another format");
  }
  const std::array parts{std::as_bytes(
      std::span<const std::uint8_t>(packet->data, static_cast<std::size_t>(packet->size)))};
  return write_file(path, parts);
}

}  // namespace sparing
