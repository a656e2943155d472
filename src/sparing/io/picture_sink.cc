#include "sparing/io/picture_sink.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>

#include "sparing/io/file.h"
#include "sparing/io/image.h"
#include "sparing/io/output_file.h"
#include "sparing/io/picture_writer.h"
#include "sparing/io/video_encoder.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

int next_even(int value) { return value + (value & 1); }

Error no_pictures(const std::string& name) {
  return {ErrorCode::kOutput, "output '" + name + "'", "no picture was written to it",
          "give an input with frames"};
}

Error no_memory(const std::string& name) {
  return {ErrorCode::kInternal, "output '" + name + "'", "out of memory", "free memory"};
}

class VideoPictureSink final : public PictureSink {
 public:
  VideoPictureSink(PendingFile file, const VideoContainer& container,
                   const PictureSinkOptions& options)
      : file_(std::move(file)), container_(container), options_(options) {}

  Status write(const Picture& picture) override {
    if (failure_) return *failure_;
    SPARING_RETURN_IF_ERROR(keep_failure(write_picture(picture)));
    ++pictures_;
    return {};
  }

  Status finish() override {
    if (failure_) return *failure_;
    if (!encoder_) return no_pictures(name());
    SPARING_RETURN_IF_ERROR(keep_failure(encoder_->finish()));
    return keep_failure(file_.publish());
  }
  std::string name() const override { return file_.path().string(); }
  std::int64_t pictures() const override { return failure_ ? 0 : pictures_; }

 private:
  Status keep_failure(Status status) {
    if (status.ok()) return status;
    failure_ = status.error();
    // Its room is for the other outputs on a disk that is full.
    encoder_.reset();
    file_.discard();
    return status;
  }

  Status open(const Picture& first) {
    size_ = first.size();
    space_ = first.color_space();
    start_ = first.timestamp;
    VideoFormat format;
    format.size = {next_even(size_.width), next_even(size_.height)};
    format.time_base = start_.time_base;
    format.frame_rate = options_.frame_rate;
    format.color_space = space_;
    format.crf = options_.crf;
    format.title = options_.title;
    format.fragmented = file_.direct();
    format.container = &container_;
    format.alpha = options_.alpha;
    SPARING_ASSIGN_OR_RETURN(encoder_, VideoEncoder::open(file_.url(), file_.path(), format));
    return {};
  }

  // A video has one size and one colour space.
  Result<const Picture*> fitting(const Picture& picture) {
    if (picture.size() == size_ && picture.color_space() == space_) return &picture;
    SPARING_RETURN_IF_ERROR(converter_.stretch(picture.view(), size_, space_, scaled_));
    if (!picture.has_alpha()) return &scaled_;
    // The converter leaves alpha out: it is scaled as the luma of another picture.
    VideoFrame alpha = picture.view();
    alpha.format = PixelFormat::kGray8;
    alpha.planes = {alpha.planes[3]};
    alpha.color_space = {};
    ColorSpace full = space_;
    full.range = ColorRange::kFull;
    SPARING_RETURN_IF_ERROR(converter_.stretch(alpha, size_, full, scaled_alpha_));
    SPARING_RETURN_IF_ERROR(scaled_.add_alpha());
    for (int y = 0; y < size_.height; ++y) {
      std::copy_n(scaled_alpha_.row(0, y), size_.width, scaled_.alpha_row(y));
    }
    return &scaled_;
  }

  Status write_picture(const Picture& picture) {
    if (!encoder_) SPARING_RETURN_IF_ERROR(open(picture));
    SPARING_ASSIGN_OR_RETURN(const Picture* fitted, fitting(picture));
    AVFrame* target = encoder_->picture();
    if (target == nullptr) return no_memory(name());
    SPARING_RETURN_IF_ERROR(writer_.write(*fitted, *target));
    // The video starts at 0, whatever the input's first time is (negative, or hours into a day).
    const Timestamp time = rescale(picture.timestamp, start_.time_base);
    const Timestamp duration = rescale(picture.duration, start_.time_base);
    return encoder_->write(time.ticks - start_.ticks, std::max<std::int64_t>(duration.ticks, 0));
  }

  PendingFile file_;
  const VideoContainer& container_;
  PictureSinkOptions options_;
  // Known from the first picture on.
  Size size_;
  ColorSpace space_;
  Timestamp start_;
  std::unique_ptr<VideoEncoder> encoder_;
  PictureWriter writer_;
  PictureConverter converter_;
  Picture scaled_;
  Picture scaled_alpha_;
  std::int64_t pictures_ = 0;
  std::optional<Error> failure_;
};

class FolderPictureSink final : public PictureSink {
 public:
  FolderPictureSink(fs::path folder, const PictureSinkOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  Status write(const Picture& picture) override {
    if (failure_) return *failure_;
    if (const Status status = write_picture(picture); !status.ok()) {
      failure_ = status.error();
      return status;
    }
    ++pictures_;
    return {};
  }
  Status finish() override {
    if (failure_) return *failure_;
    return pictures_ > 0 ? Status() : Status(no_pictures(name()));
  }
  std::string name() const override { return folder_.string(); }
  std::int64_t pictures() const override { return pictures_; }

 private:
  Status write_picture(const Picture& picture) {
    const Size size = picture.size();
    const int channels = options_.alpha ? 4 : 3;
    const AVPixelFormat format = options_.alpha ? AV_PIX_FMT_RGBA : AV_PIX_FMT_RGB24;
    if (!frame_ || frame_->width != size.width || frame_->height != size.height) {
      frame_.reset(av_frame_alloc());
      if (!frame_) return no_memory(name());
      frame_->format = format;
      frame_->width = size.width;
      frame_->height = size.height;
      if (av_frame_get_buffer(frame_.get(), 0) < 0) {
        frame_.reset();
        return no_memory(name());
      }
    }
    SPARING_RETURN_IF_ERROR(writer_.write(picture, *frame_));
    const auto row = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(channels);
    pixels_.resize(row * static_cast<std::size_t>(size.height));
    for (int y = 0; y < size.height; ++y) {
      std::copy_n(frame_->data[0] + std::ptrdiff_t{y} * frame_->linesize[0], row,
                  pixels_.data() + static_cast<std::size_t>(y) * row);
    }
    char file[32];
    std::snprintf(file, sizeof file, "%06lld.png", static_cast<long long>(pictures_));
    return write_png(folder_ / file, size, channels, pixels_);
  }

  fs::path folder_;
  PictureSinkOptions options_;
  ffmpeg::Frame frame_;
  PictureWriter writer_;
  std::vector<std::uint8_t> pixels_;
  std::int64_t pictures_ = 0;
  std::optional<Error> failure_;
};

struct FormatRow {
  PictureFormat format;
  const VideoContainer& (*container)();  // null: a folder
};
constexpr std::array<FormatRow, 4> kRows{{
    {{"mp4", "mp4", false, "H.264 video"}, mp4_container},
    {{"mov", "mov", true, "ProRes video, 4444 where it has alpha"}, mov_container},
    {{"webm", "webm", true, "VP9 video"}, webm_container},
    {{"png", "", true, "a folder of PNG pictures"}, nullptr},
}};

constexpr auto kFormats = [] {
  std::array<PictureFormat, kRows.size()> formats{};
  for (std::size_t i = 0; i < kRows.size(); ++i) formats[i] = kRows[i].format;
  return formats;
}();

// What to name an output, of all formats or of those that hold alpha.
std::string ways_to_name(bool alpha) {
  std::string text;
  for (const PictureFormat& format : kFormats) {
    if (format.extension.empty() || (alpha && !format.alpha)) continue;
    text += (text.empty() ? "." : ", .") + std::string(format.extension);
  }
  return text + ", or end it in / for a folder of PNG pictures";
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return !path.has_filename() || fs::is_directory(path, ignored);
}

Result<const FormatRow*> find_row(const fs::path& path, const PictureSinkOptions& options) {
  if (!options.format.empty()) {
    std::string names;
    for (const FormatRow& row : kRows) {
      if (row.format.name == options.format) return &row;
      names += (names.empty() ? "" : ", ") + std::string(row.format.name);
    }
    return Error{ErrorCode::kInvalidArgument, "output format '" + options.format + "'",
                 "there is no such format", "give one of " + names};
  }
  if (is_folder(path)) return &kRows.back();
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const FormatRow& row : kRows) {
    if (!row.format.extension.empty() && extension == "." + std::string(row.format.extension)) {
      return &row;
    }
  }
  return Error{ErrorCode::kInvalidArgument, "output '" + path.string() + "'",
               extension.empty() ? "its name has no extension to tell the format"
                                 : "no format has the extension " + extension,
               "name it with one of " + ways_to_name(options.alpha)};
}

Status check_folder(const fs::path& folder, const std::vector<SourceInfo>& sources) {
  for (const SourceInfo& source : sources) {
    for (const std::string& file : source.files) {
      std::error_code ignored;
      const fs::path input(file);
      const fs::path parent = input.has_parent_path() ? input.parent_path() : fs::path(".");
      if (input.extension() != ".png" || !fs::equivalent(parent, folder, ignored)) continue;
      return Error{
          ErrorCode::kInvalidArgument, "output '" + folder.string() + "'",
          "the pictures of the input '" + source.name + "' are in it, and could be replaced",
          "give another folder"};
    }
  }
  return {};
}

Status check(const FormatRow& row, const fs::path& path, const PictureSinkOptions& options) {
  const std::string format = "format '" + std::string(row.format.name) + "'";
  if (path.empty()) {
    return Error{ErrorCode::kInvalidArgument, "output ''", "the name is empty", "give a file name"};
  }
  if (path == "-") {
    return Error{ErrorCode::kInvalidArgument, format, "it cannot be written to standard output",
                 "give a file name"};
  }
  if (options.alpha && !row.format.alpha) {
    return Error{ErrorCode::kInvalidArgument, "output '" + path.string() + "'",
                 std::string(row.format.name) + " cannot hold transparency, which a cutout needs",
                 "name it with one of " + ways_to_name(true)};
  }
  if (options.crf < 0 || options.crf > 51) {
    return Error{ErrorCode::kInvalidArgument, "crf",
                 std::to_string(options.crf) + " is out of range", "give a value from 0 to 51"};
  }
  if (row.container == nullptr) return check_folder(path, options.sources);
  return check_not_an_input(path, options.sources);
}

Result<std::unique_ptr<PictureSink>> open(const fs::path& path, const PictureSinkOptions& options) {
  if (path == "-") {
    return Error{ErrorCode::kInvalidArgument, "output '-'",
                 "pictures cannot be written to standard output", "give a file name"};
  }
  SPARING_ASSIGN_OR_RETURN(const FormatRow* row, find_row(path, options));
  SPARING_RETURN_IF_ERROR(check(*row, path, options));
  if (row->container == nullptr) {
    SPARING_RETURN_IF_ERROR(check_writable(path / "000000.png"));
    return std::unique_ptr<PictureSink>(std::make_unique<FolderPictureSink>(path, options));
  }
  SPARING_ASSIGN_OR_RETURN(PendingFile file, PendingFile::create(path));
  return std::unique_ptr<PictureSink>(
      std::make_unique<VideoPictureSink>(std::move(file), row->container(), options));
}

}  // namespace

std::span<const PictureFormat> picture_formats() { return kFormats; }

Result<std::unique_ptr<PictureSink>> open_picture_sink(const fs::path& path,
                                                       const PictureSinkOptions& options) {
  try {
    return open(path, options);
  } catch (const std::exception& e) {
    return Error{ErrorCode::kOutput, "output '" + path.string() + "'", e.what(), "check the path"};
  }
}

}  // namespace sparing
