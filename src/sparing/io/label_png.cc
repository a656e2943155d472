#include "sparing/io/label_png.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "sparing/frame/video_frame.h"
#include "sparing/io/ffmpeg.h"
#include "sparing/io/image.h"
#include "sparing/io/masks.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x89PNG\r\n\x1A\n\0\0\0\rIHDR"sv;
// Of the header's fields, after the magic bytes: width, height (4 bytes each), then these.
constexpr std::size_t kDepthAt = kMagic.size() + 8;
constexpr std::size_t kKindAt = kDepthAt + 1;
constexpr int kGrey = 0;
constexpr int kPalette = 3;
constexpr std::uintmax_t kMaxBytes = std::uintmax_t{1} << 30;

Error png_error(const std::string& name, std::string problem, std::string fix) {
  return {ErrorCode::kInput, "mask '" + name + "'", std::move(problem), std::move(fix)};
}

const char* kind_text(int kind) {
  switch (kind) {
    case kGrey: return "grey";
    case 2: return "RGB";
    case kPalette: return "palette";
    case 4: return "grey with alpha";
    case 6: return "RGB with alpha";
    default: return "unknown";
  }
}

Status check_header(std::span<const std::uint8_t> bytes, const std::string& name) {
  if (bytes.size() <= kKindAt || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return png_error(name, "its content is not a PNG picture", "give PNG files of class numbers");
  }
  const int depth = bytes[kDepthAt];
  const int kind = bytes[kKindAt];
  if (kind == kPalette || (kind == kGrey && depth == 8)) return {};
  return png_error(name,
                   "its pixels are " + std::to_string(depth) + "-bit " + kind_text(kind) +
                       ", which are no class numbers",
                   "give 8-bit grey or palette pictures");
}

Result<ffmpeg::Frame> decode(std::span<const std::uint8_t> bytes, const std::string& name) {
  const Error memory{ErrorCode::kInternal, "mask '" + name + "'", "out of memory", "free memory"};
  ffmpeg::LogCapture log;
  const AVCodec* decoder = avcodec_find_decoder(AV_CODEC_ID_PNG);
  if (decoder == nullptr) {
    return Error{ErrorCode::kNotSupported, "mask '" + name + "'",
                 "this build of FFmpeg cannot decode PNG", "use an FFmpeg with zlib"};
  }
  const ffmpeg::CodecContext codec(avcodec_alloc_context3(decoder));
  const ffmpeg::Packet packet(av_packet_alloc());
  ffmpeg::Frame picture(av_frame_alloc());
  if (!codec || !packet || !picture ||
      av_new_packet(packet.get(), static_cast<int>(bytes.size())) < 0) {
    return memory;
  }
  std::memcpy(packet->data, bytes.data(), bytes.size());
  packet->flags |= AV_PKT_FLAG_KEY;
  codec->thread_count = 1;
  codec->max_pixels = ffmpeg::kMaxPixels;
  codec->err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE;
  int code = avcodec_open2(codec.get(), decoder, nullptr);
  if (code >= 0) code = avcodec_send_packet(codec.get(), packet.get());
  if (code >= 0) code = avcodec_send_packet(codec.get(), nullptr);
  if (code >= 0) code = avcodec_receive_frame(codec.get(), picture.get());
  if (code < 0) {
    return png_error(name, "it cannot be decoded: " + log.explain(code), "write it again");
  }
  // A mask that is concealed in part would be taken for a result.
  if (picture->decode_error_flags != 0 || (picture->flags & AV_FRAME_FLAG_CORRUPT) != 0 ||
      log.has_errors()) {
    return png_error(name, "it is damaged", "write it again");
  }
  return picture;
}

Result<std::vector<std::uint8_t>> read_bytes(const fs::path& file) {
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  const auto failed = [&](int error) {
    return png_error(file.string(), "cannot be read: " + std::system_category().message(error),
                     "check the path and its permissions");
  };
  const std::unique_ptr<std::FILE, Close> stream(std::fopen(file.c_str(), "rb"));
  if (!stream) return failed(errno);
  std::error_code code;
  const std::uintmax_t size = fs::file_size(file, code);
  if (code) return failed(code.value());
  if (size > kMaxBytes) {
    return png_error(file.string(), "it is larger than 1 GB", "give 8-bit PNG files");
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  if (std::fread(bytes.data(), 1, bytes.size(), stream.get()) != bytes.size()) return failed(errno);
  return bytes;
}

}  // namespace

Status check_label_map(const LabelMap& labels, const std::string& thing) {
  const std::string size =
      std::to_string(labels.size.width) + "x" + std::to_string(labels.size.height);
  if (std::min(labels.size.width, labels.size.height) < 1 ||
      std::max(labels.size.width, labels.size.height) > kMaxFrameExtent) {
    return Error{ErrorCode::kInvalidArgument, thing, "a label map of " + size + " pixels",
                 "give 1 to " + std::to_string(kMaxFrameExtent) + " columns and rows"};
  }
  if (labels.labels.size() !=
      static_cast<std::size_t>(labels.size.width) * static_cast<std::size_t>(labels.size.height)) {
    return Error{ErrorCode::kInvalidArgument, thing,
                 std::to_string(labels.labels.size()) + " labels for " + size + " pixels",
                 "give one a pixel"};
  }
  return {};
}

Result<LabelMap> parse_label_png(std::span<const std::uint8_t> bytes, const std::string& name) {
  SPARING_RETURN_IF_ERROR(check_header(bytes, name));
  SPARING_ASSIGN_OR_RETURN(const ffmpeg::Frame picture, decode(bytes, name));
  if ((picture->format != AV_PIX_FMT_GRAY8 && picture->format != AV_PIX_FMT_PAL8) ||
      std::min(picture->width, picture->height) < 1 ||
      std::max(picture->width, picture->height) > kMaxFrameExtent) {
    return png_error(name, "its pixels are no class numbers",
                     "give 8-bit grey or palette pictures of at most " +
                         std::to_string(kMaxFrameExtent) + " columns and rows");
  }
  LabelMap labels;
  labels.resize({picture->width, picture->height});
  for (int y = 0; y < labels.size.height; ++y) {
    const std::span<std::uint8_t> row = labels.row(y);
    std::memcpy(row.data(),
                picture->data[0] + static_cast<std::ptrdiff_t>(y) * picture->linesize[0],
                row.size());
  }
  return labels;
}

Status write_label_png(const fs::path& file, const LabelMap& labels) {
  SPARING_RETURN_IF_ERROR(check_label_map(labels, "mask '" + file.string() + "'"));
  return write_png(file, labels.size, 1, labels.labels);
}

Result<LabelMap> read_label_png(const fs::path& file) {
  SPARING_ASSIGN_OR_RETURN(const std::vector<std::uint8_t> bytes, read_bytes(file));
  return parse_label_png(bytes, file.string());
}

}  // namespace sparing
