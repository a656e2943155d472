#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <exception>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "sparing/io/image_sequence.h"
#include "sparing/io/mask_lines.h"
#include "sparing/io/masks.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

// One line of masks; a video's worth of pixels as run lengths is far below.
constexpr std::size_t kMaxLineBytes = std::size_t{1} << 28;

Error masks_error(const fs::path& path, std::string problem, std::string fix) {
  return {ErrorCode::kInput, "masks '" + path.string() + "'", std::move(problem), std::move(fix)};
}

std::optional<std::int64_t> number_of(const std::string& stem) {
  std::int64_t number = 0;
  const char* end = stem.data() + stem.size();
  const auto result = std::from_chars(stem.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end || number < 0) return std::nullopt;
  return number;
}

// ---- A folder of pictures

enum class Pairing { kName, kNumber, kOrder };

class FolderReader final : public MaskReader {
 public:
  FolderReader(fs::path path, Pairing pairing, std::map<std::string, fs::path> by_name,
               std::map<std::int64_t, fs::path> by_number)
      : path_(std::move(path)),
        pairing_(pairing),
        by_name_(std::move(by_name)),
        by_number_(std::move(by_number)) {}

  Result<std::optional<LabelMap>> next(const SourceFrame& frame) override {
    fs::path file;
    if (pairing_ == Pairing::kName) {
      const auto found = by_name_.find(fs::path(frame.file).stem().string());
      if (found == by_name_.end()) return std::optional<LabelMap>();
      file = found->second;
      by_name_.erase(found);
    } else {
      const auto found = by_number_.find(frame.index);
      if (found == by_number_.end()) {
        if (pairing_ == Pairing::kNumber) return std::optional<LabelMap>();
        return masks_error(path_, "there are " + std::to_string(frame.index) + ", but more frames",
                           "give one for each frame, or name them as the frames");
      }
      file = found->second;
      by_number_.erase(found);
    }
    SPARING_ASSIGN_OR_RETURN(LabelMap labels, read_label_png(file));
    return std::optional<LabelMap>(std::move(labels));
  }

  Result<std::int64_t> finish() override {
    const auto left = static_cast<std::int64_t>(by_name_.size() + by_number_.size());
    if (pairing_ == Pairing::kOrder && left > 0) {
      return masks_error(path_, "there are " + std::to_string(left) + " more than frames",
                         "give one for each frame, or name them as the frames");
    }
    return left;
  }

  std::string pairing() const override {
    switch (pairing_) {
      case Pairing::kName: return "by name";
      case Pairing::kNumber: return "by number";
      case Pairing::kOrder: break;
    }
    return "by order";
  }

 private:
  fs::path path_;
  Pairing pairing_;
  std::map<std::string, fs::path> by_name_;
  std::map<std::int64_t, fs::path> by_number_;
};

bool is_png_name(const fs::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".png";
}

Result<std::unique_ptr<MaskReader>> open_folder(const fs::path& path, const SourceInfo& frames) {
  SPARING_ASSIGN_OR_RETURN(std::vector<fs::path> files, list_directory_images(path));
  std::erase_if(files, [](const fs::path& file) { return !is_png_name(file); });
  if (files.empty()) {
    return masks_error(path, "the folder has no PNG files", "give a folder of label maps");
  }
  std::map<std::string, fs::path> by_name;
  std::map<std::int64_t, fs::path> by_number;
  bool numbers = true;
  for (const fs::path& file : files) {
    const std::string stem = file.stem().string();
    by_name.emplace(stem, file);
    const std::optional<std::int64_t> number = number_of(stem);
    numbers = numbers && number;
    if (!number) continue;
    const auto [other, is_new] = by_number.emplace(*number, file);
    if (!is_new) {
      return masks_error(path,
                         "'" + other->second.filename().string() + "' and '" +
                             file.filename().string() + "' have one number",
                         "keep one of them");
    }
  }
  const bool pictures = frames.container == "image2";
  const auto has_name = [&](const std::string& file) {
    return by_name.contains(fs::path(file).stem().string());
  };
  Pairing pairing = Pairing::kOrder;
  if (pictures && std::any_of(frames.files.begin(), frames.files.end(), has_name)) {
    pairing = Pairing::kName;
    by_number.clear();
  } else if (!pictures && numbers) {
    pairing = Pairing::kNumber;
    by_name.clear();
  } else {
    by_name.clear();
    by_number.clear();
    for (std::size_t i = 0; i < files.size(); ++i) {
      by_number.emplace(static_cast<std::int64_t>(i), files[i]);
    }
  }
  return std::unique_ptr<MaskReader>(
      std::make_unique<FolderReader>(path, pairing, std::move(by_name), std::move(by_number)));
}

// ---- JSON Lines

class LineReader final : public MaskReader {
 public:
  LineReader(fs::path path, std::ifstream stream, std::optional<std::int64_t> wanted)
      : path_(std::move(path)), stream_(std::move(stream)), wanted_(wanted), of_(wanted) {}

  Result<std::optional<LabelMap>> next(const SourceFrame& frame) override {
    while (!ahead_ || ahead_->frame < frame.index) {
      if (ahead_) ++unused_;
      SPARING_RETURN_IF_ERROR(read_ahead());
      if (!ahead_) return std::optional<LabelMap>();
    }
    if (ahead_->frame > frame.index) return std::optional<LabelMap>();
    std::optional<LabelMap> labels(std::move(ahead_->labels));
    ahead_.reset();
    return labels;
  }

  Result<std::int64_t> finish() override {
    for (;;) {
      if (ahead_) ++unused_;
      SPARING_RETURN_IF_ERROR(read_ahead());
      if (!ahead_) return unused_;
    }
  }

  std::string pairing() const override { return "by number"; }

  // To the first line of the stream: an empty or a wrong file is known from the start.
  Status open() {
    SPARING_RETURN_IF_ERROR(read_ahead());
    if (ahead_) return {};
    return masks_error(path_,
                       wanted_ && number_ > 0
                           ? "it has no line of stream " + std::to_string(*wanted_)
                           : "it has no lines",
                       "give the file that a mask output wrote");
  }

 private:
  // The next line of the stream; at the end of the file none.
  Status read_ahead() {
    ahead_.reset();
    std::string text;
    while (std::getline(stream_, text)) {
      ++number_;
      const std::string thing = "file '" + path_.string() + "', line " + std::to_string(number_);
      if (text.size() > kMaxLineBytes) {
        return Error{ErrorCode::kInput, thing, "it is longer than 256 MB",
                     "give the file that a mask output wrote"};
      }
      if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
      SPARING_ASSIGN_OR_RETURN(MaskLine line, parse_mask_line(text, thing));
      if (wanted_ && line.stream != *wanted_) continue;
      if (of_.value_or(line.stream) != line.stream) {
        return Error{
            ErrorCode::kInput, thing,
            "field 'stream' is " + std::to_string(line.stream) + " after " + std::to_string(*of_),
            "name one with --stream"};
      }
      of_ = line.stream;
      if (line.frame <= last_) {
        return Error{
            ErrorCode::kInput, thing,
            "field 'frame' is " + std::to_string(line.frame) + " after " + std::to_string(last_),
            "give the output of one run, its lines in order"};
      }
      last_ = line.frame;
      ahead_ = std::move(line);
      return {};
    }
    if (stream_.bad()) return masks_error(path_, "reading failed", "check the disk");
    return {};
  }

  fs::path path_;
  std::ifstream stream_;
  std::optional<std::int64_t> wanted_;
  std::optional<std::int64_t> of_;  // the stream of the lines
  std::optional<MaskLine> ahead_;
  std::int64_t number_ = 0;  // of the line that was read last
  std::int64_t last_ = -1;   // frame
  std::int64_t unused_ = 0;
};

Result<std::unique_ptr<MaskReader>> open_lines(const fs::path& path,
                                               const MaskReaderOptions& options) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return masks_error(path, "cannot be read: " + std::system_category().message(errno),
                       "check the path and its permissions");
  }
  auto reader = std::make_unique<LineReader>(path, std::move(stream), options.stream);
  SPARING_RETURN_IF_ERROR(reader->open());
  return std::unique_ptr<MaskReader>(std::move(reader));
}

}  // namespace

Result<std::unique_ptr<MaskReader>> open_masks(const fs::path& path, const SourceInfo& frames,
                                               const MaskReaderOptions& options) {
  try {
    std::error_code code;
    if (fs::is_directory(path, code)) return open_folder(path, frames);
    return open_lines(path, options);
  } catch (const std::exception& e) {
    return masks_error(path, e.what(), "check the path");
  }
}

}  // namespace sparing
