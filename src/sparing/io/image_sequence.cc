#include "sparing/io/image_sequence.h"

#include <glob.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "sparing/io/ffmpeg.h"
#include "sparing/io/ffmpeg_frame.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

using namespace std::string_view_literals;

struct ImageType {
  std::string_view magic;  // the first bytes; a '.' stands for any byte
  AVCodecID codec;
};
constexpr std::array<ImageType, 9> kImageTypes{{
    {"\xFF\xD8\xFF"sv, AV_CODEC_ID_MJPEG},
    {"\x89PNG\r\n\x1A\n"sv, AV_CODEC_ID_PNG},
    {"BM....\0\0\0\0"sv, AV_CODEC_ID_BMP},
    {"RIFF....WEBP"sv, AV_CODEC_ID_WEBP},
    {"II*\0"sv, AV_CODEC_ID_TIFF},
    {"MM\0*"sv, AV_CODEC_ID_TIFF},
    {"P4"sv, AV_CODEC_ID_PBM},
    {"P5"sv, AV_CODEC_ID_PGM},
    {"P6"sv, AV_CODEC_ID_PPM},
}};
constexpr std::string_view kExtensions = ".jpg.jpeg.jpe.png.bmp.webp.tif.tiff.pbm.pgm.ppm.pnm.";
constexpr std::string_view kExtensionsForPeople = "jpg, jpeg, png, bmp, webp, tif, pbm, pgm, ppm";

constexpr Rational kImageTimeBase{1, 25};
constexpr std::int64_t kMaxImageBytes = std::int64_t{1} << 30;

const ImageType* image_type(std::string_view bytes) {
  for (const ImageType& type : kImageTypes) {
    if (bytes.size() < type.magic.size()) continue;
    if (type.magic.size() == 2 && (bytes.size() < 3 || !std::isspace(bytes[2] & 0xFF))) continue;
    const auto same = [&](std::size_t i) {
      return type.magic[i] == '.' || type.magic[i] == bytes[i];
    };
    std::size_t i = 0;
    while (i < type.magic.size() && same(i)) ++i;
    if (i == type.magic.size()) return &type;
  }
  return nullptr;
}

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Error image_error(const fs::path& file, std::string problem, std::string fix) {
  return {ErrorCode::kInput, "image '" + file.string() + "'", std::move(problem), std::move(fix)};
}

Result<ffmpeg::Packet> read_packet(const fs::path& path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return image_error(path, "cannot be opened: " + std::system_category().message(errno),
                       "check the path and its permissions");
  std::error_code code;
  const std::uintmax_t size = fs::file_size(path, code);
  if (code) return image_error(path, code.message(), "check the path");
  if (size == 0) return image_error(path, "it is empty", "replace or remove it");
  if (size > kMaxImageBytes) return image_error(path, "it is larger than 1 GB", "make it smaller");
  ffmpeg::Packet packet(av_packet_alloc());
  if (!packet || av_new_packet(packet.get(), static_cast<int>(size)) < 0) {
    return Error{ErrorCode::kInternal, "image '" + path.string() + "'", "out of memory",
                 "free memory"};
  }
  if (std::fread(packet->data, 1, size, file.get()) != size) {
    return image_error(path, "reading failed: " + std::system_category().message(errno),
                       "check the disk");
  }
  // Each stands for itself: the PNG decoder would add it to the picture before, else.
  packet->flags |= AV_PKT_FLAG_KEY;
  return packet;
}

// Found but not images, for a message: "notes.txt, sub/, ... (5 in all)".
std::string summary(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kShown) text += ", ... (" + std::to_string(names.size()) + " in all)";
  return text;
}

void sort_naturally(std::vector<fs::path>& files) {
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.native(), b.native());
  });
}

class ImageSequence final : public VideoSource {
 public:
  ImageSequence(std::vector<fs::path> files, const std::string& name, const SourceOptions& options)
      : files_(std::move(files)) {
    info_.name = name;
    info_.container = "image2";
    info_.frame_rate = {kImageTimeBase.den, kImageTimeBase.num};
    info_.frame_count = static_cast<std::int64_t>(files_.size());
    for (const fs::path& file : files_) info_.files.push_back(file.string());
    end_ = files_.size();
    if (options.max_frames > 0) {
      end_ = std::min(end_, static_cast<std::size_t>(options.max_frames));
    }
  }

  Status open() {
    SPARING_ASSIGN_OR_RETURN(pending_, decode(files_.front()));
    info_.display_size = display_size(pending_->frame.view());
    info_.codec = avcodec_get_name(codec_->codec_id);
    return {};
  }
  const SourceInfo& info() const override { return info_; }
  std::int64_t damaged_frames() const override { return damaged_; }

  Result<std::optional<SourceFrame>> next() override {
    if (pending_) return std::exchange(pending_, std::nullopt);
    if (failure_) return *failure_;
    if (index_ >= end_) return std::optional<SourceFrame>();
    auto frame = decode(files_[index_]);
    if (!frame.ok()) {
      failure_ = std::move(frame).error();
      return *failure_;
    }
    return std::optional<SourceFrame>(std::move(frame).value());
  }

 private:
  Status use_codec(AVCodecID id, const fs::path& file);
  Result<SourceFrame> decode(const fs::path& file);

  std::vector<fs::path> files_;
  SourceInfo info_;
  ffmpeg::CodecContext codec_;
  ffmpeg::FrameWrapper wrapper_;
  std::optional<SourceFrame> pending_;
  std::optional<Error> failure_;
  std::size_t index_ = 0;
  std::size_t end_ = 0;
  std::int64_t damaged_ = 0;
};

Status ImageSequence::use_codec(AVCodecID id, const fs::path& file) {
  if (codec_ && codec_->codec_id == id) {
    avcodec_flush_buffers(codec_.get());
    return {};
  }
  const AVCodec* decoder = avcodec_find_decoder(id);
  if (decoder == nullptr) {
    return image_error(file,
                       "this build of FFmpeg cannot decode " + std::string(avcodec_get_name(id)),
                       "convert it to JPEG or PNG");
  }
  codec_.reset(avcodec_alloc_context3(decoder));
  if (!codec_) return image_error(file, "out of memory", "free memory");
  codec_->thread_count = 1;  // threads only add latency to single pictures
  codec_->max_pixels = ffmpeg::kMaxPixels;
  codec_->apply_cropping = 0;
  const int code = avcodec_open2(codec_.get(), decoder, nullptr);
  if (code < 0) return image_error(file, ffmpeg::error_text(code), "convert it to JPEG or PNG");
  return {};
}

Result<SourceFrame> ImageSequence::decode(const fs::path& file) {
  ffmpeg::LogCapture log;
  SPARING_ASSIGN_OR_RETURN(const ffmpeg::Packet packet, read_packet(file));
  const ImageType* type = image_type(
      {reinterpret_cast<const char*>(packet->data), static_cast<std::size_t>(packet->size)});
  if (type == nullptr) {
    return image_error(file, "its content is not an image of a known type",
                       "replace or remove it; known: " + std::string(kExtensionsForPeople));
  }
  SPARING_RETURN_IF_ERROR(use_codec(type->codec, file));
  ffmpeg::Frame picture(av_frame_alloc());
  if (!picture) return image_error(file, "out of memory", "free memory");
  int code = avcodec_send_packet(codec_.get(), packet.get());
  if (code >= 0) code = avcodec_send_packet(codec_.get(), nullptr);
  if (code >= 0) code = avcodec_receive_frame(codec_.get(), picture.get());
  if (code < 0) {
    return image_error(file, "it cannot be decoded: " + log.explain(code), "replace or remove it");
  }
  SourceFrame result;
  // The JPEG decoder fills what is missing of a cut file with grey, and says so in its log only.
  result.damaged = picture->decode_error_flags != 0 ||
                   (picture->flags & AV_FRAME_FLAG_CORRUPT) != 0 || log.has_errors();
  if (result.damaged) ++damaged_;
  const auto format = static_cast<AVPixelFormat>(picture->format);
  result.stream_format = ffmpeg::name_of(format);
  result.converted = !ffmpeg::direct_format(format);
  auto wrapped = wrapper_.wrap(std::move(picture), {});
  if (!wrapped.ok()) {
    Error error = std::move(wrapped).error();
    error.problem = error.thing + ": " + error.problem;
    error.thing = "image '" + file.string() + "'";
    return error;
  }
  result.frame = std::move(wrapped).value();
  result.index = static_cast<std::int64_t>(index_++);
  result.frame.view().timestamp = {result.index, kImageTimeBase};
  result.frame.view().duration = {1, kImageTimeBase};
  result.file = file.string();
  return result;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
      continue;
    }
    while (i < a.size() && a[i] == '0') ++i;
    while (j < b.size() && b[j] == '0') ++j;
    std::size_t end_i = i, end_j = j;
    while (end_i < a.size() && digit(a[end_i])) ++end_i;
    while (end_j < b.size() && digit(b[end_j])) ++end_j;
    if (end_i - i != end_j - j) return end_i - i < end_j - j;
    const int order = a.substr(i, end_i - i).compare(b.substr(j, end_j - j));
    if (order != 0) return order < 0;
    i = end_i, j = end_j;
  }
  if (i < a.size() || j < b.size()) return j < b.size();
  return a < b;  // equal but for leading zeros
}

bool is_image_name(const fs::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension.size() > 1 && kExtensions.find(extension + ".") != std::string_view::npos;
}

bool is_image_file(const fs::path& file) {
  std::array<char, 16> bytes{};
  const File stream(std::fopen(file.c_str(), "rb"));
  if (!stream) return false;
  const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), stream.get());
  return image_type({bytes.data(), size}) != nullptr;
}

Result<std::vector<fs::path>> list_directory_images(const fs::path& directory) {
  std::error_code code;
  std::vector<fs::path> images;
  std::vector<std::string> others;
  fs::directory_iterator entry(directory, code);
  for (; !code && entry != fs::directory_iterator(); entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    const bool folder = entry->is_directory(ignored);
    if (name.starts_with(".")) continue;
    if (!folder && is_image_name(entry->path())) {
      images.push_back(entry->path());
    } else {
      others.push_back(folder ? name + "/" : name);
    }
  }
  const std::string thing = "directory '" + directory.string() + "'";
  if (code) return Error{ErrorCode::kInput, thing, code.message(), "check its permissions"};
  if (images.empty()) {
    std::sort(others.begin(), others.end());
    return Error{ErrorCode::kInput, thing,
                 others.empty() ? "it is empty" : "it has no images, only " + summary(others),
                 "give a directory with " + std::string(kExtensionsForPeople) + " files"};
  }
  sort_naturally(images);
  return images;
}

Result<std::vector<fs::path>> list_glob_images(const std::string& pattern) {
  std::vector<fs::path> images;
  std::vector<std::string> others;
  glob_t found{};
  const int code = ::glob(pattern.c_str(), GLOB_MARK | GLOB_NOSORT, nullptr, &found);
  for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i) {
    const std::string name = found.gl_pathv[i];
    if (!name.ends_with('/') && is_image_name(name)) {
      images.emplace_back(name);
    } else {
      others.push_back(name);
    }
  }
  ::globfree(&found);
  const std::string thing = "pattern '" + pattern + "'";
  if (code != 0 && code != GLOB_NOMATCH) {
    return Error{ErrorCode::kInternal, thing, "the search failed", "give the files one by one"};
  }
  if (images.empty()) {
    std::sort(others.begin(), others.end());
    return Error{ErrorCode::kInput, thing,
                 others.empty() ? "no file matches" : "no image matches, only " + summary(others),
                 "give a pattern for " + std::string(kExtensionsForPeople) +
                     " files, and videos by their names"};
  }
  sort_naturally(images);
  return images;
}

Result<std::unique_ptr<VideoSource>> open_image_sequence(std::vector<fs::path> files,
                                                         const std::string& name,
                                                         const SourceOptions& options) {
  auto source = std::make_unique<ImageSequence>(std::move(files), name, options);
  SPARING_RETURN_IF_ERROR(source->open());
  return std::unique_ptr<VideoSource>(std::move(source));
}

}  // namespace sparing
