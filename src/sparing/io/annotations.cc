#include "sparing/io/annotations.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include "sparing/io/annotation_formats.h"
#include "sparing/io/image_sequence.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Error file_error(const fs::path& file, std::string problem, std::string fix) {
  return {ErrorCode::kInput, "file '" + file.string() + "'", std::move(problem), std::move(fix)};
}

// UTF-8 and ASCII text has no zero byte; videos, archives and UTF-16 have one soon.
Result<std::string> read_text(const fs::path& path) {
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::error_code code;
  if (fs::is_directory(path, code)) return file_error(path, "it is a directory", "give a file");
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    return file_error(path, std::system_category().message(errno),
                      "check the path and its permissions");
  }
  std::string text;
  char block[1 << 16];
  while (const std::size_t count = std::fread(block, 1, sizeof block, file.get())) {
    if (const void* zero = std::memchr(block, 0, count)) {
      const std::size_t offset =
          text.size() + static_cast<std::size_t>(static_cast<const char*>(zero) - block);
      return file_error(path, "it is not text: byte " + std::to_string(offset) + " is zero",
                        "give a text file in UTF-8");
    }
    text.append(block, count);
  }
  if (std::ferror(file.get()) != 0) {
    return file_error(path, std::system_category().message(errno), "check the disk");
  }
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

// The first character that is not blank; '\0', which no text has, when there is none.
char first_character(std::string_view text) {
  const std::size_t position = text.find_first_not_of(kBlank);
  return position == std::string_view::npos ? '\0' : text[position];
}

bool first_line_has_comma(std::string_view text) {
  const std::size_t start = std::min(text.find_first_not_of(kBlank), text.size());
  text.remove_prefix(start);
  return text.substr(0, text.find('\n')).find(',') != std::string_view::npos;
}

enum class YoloNumbers { kOrder, kFromZero, kFromOne };

// The number at the end of a name's stem.
std::optional<std::int64_t> trailing_number(const fs::path& file) {
  const std::string stem = file.stem().string();
  const std::size_t start = stem.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
  std::int64_t number = 0;
  const char* end = stem.data() + stem.size();
  const auto result = std::from_chars(stem.data() + start, end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

Result<std::vector<std::string>> read_labels(const fs::path& file) {
  SPARING_ASSIGN_OR_RETURN(const std::string text, read_text(file));
  std::vector<std::string> labels;
  const auto visit = [&](std::int64_t, std::string_view line) -> Status {
    labels.emplace_back(line);
    return {};
  };
  SPARING_RETURN_IF_ERROR(for_each_line(text, visit));
  return labels;
}

Status check_image_size(const fs::path& path, Size size) {
  if (size.width > 0 && size.height > 0) return {};
  return Error{ErrorCode::kInvalidArgument, "ground truth '" + path.string() + "'",
               "YOLO boxes are fractions, and the image size is not known",
               "give the size of the images"};
}

Result<AnnotationSet> read_yolo_directory(const fs::path& directory,
                                          const GroundTruthOptions& options, YoloNumbers numbers) {
  SPARING_RETURN_IF_ERROR(check_image_size(directory, options.image_size));
  std::vector<fs::path> files;
  std::error_code code;
  AnnotationSet set;
  set.labels = options.labels;
  for (fs::directory_iterator it(directory, code); !code && it != fs::directory_iterator();
       it.increment(code)) {
    const std::string name = it->path().filename().string();
    if (it->path().extension() != ".txt" || name.starts_with(".")) continue;
    if (name != "classes.txt") {
      files.push_back(it->path());
    } else if (set.labels.empty()) {
      SPARING_ASSIGN_OR_RETURN(set.labels, read_labels(it->path()));
    }
  }
  if (code) return file_error(directory, code.message(), "check its permissions");
  if (files.empty()) {
    return file_error(directory, "it has no .txt files", "give a directory of YOLO labels");
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.native(), b.native());
  });
  std::map<std::int64_t, std::vector<Annotation>> images;
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::int64_t id = static_cast<std::int64_t>(i);
    if (numbers != YoloNumbers::kOrder) {
      id = trailing_number(files[i]).value_or(-1) - (numbers == YoloNumbers::kFromOne ? 1 : 0);
      if (id < 0)
        return file_error(files[i], "its name does not end in a frame number", "rename it");
    }
    SPARING_ASSIGN_OR_RETURN(const std::string text, read_text(files[i]));
    SPARING_ASSIGN_OR_RETURN(auto objects,
                             parse_yolo_ground_truth(text, files[i].string(), options.image_size));
    if (!images.try_emplace(id, std::move(objects)).second) {
      return file_error(files[i], "another file has its frame number", "rename it");
    }
  }
  set.images = in_order<ImageAnnotations>(images, &ImageAnnotations::objects);
  return set;
}

Result<AnnotationSet> read_yolo_file(const fs::path& path, const std::string& text,
                                     const GroundTruthOptions& options) {
  SPARING_RETURN_IF_ERROR(check_image_size(path, options.image_size));
  SPARING_ASSIGN_OR_RETURN(auto objects,
                           parse_yolo_ground_truth(text, path.string(), options.image_size));
  AnnotationSet set;
  set.labels = options.labels;
  set.images.push_back({0, std::move(objects)});
  return set;
}

Result<DetectionSet> read_detections_file(const fs::path& file,
                                          std::optional<std::int64_t> stream) {
  SPARING_ASSIGN_OR_RETURN(const std::string text, read_text(file));
  if (stream && first_character(text) != '{') {
    return file_error(file, "it does not tell streams apart, as only JSON Lines do",
                      "leave --stream out, or give a .jsonl file");
  }
  switch (first_character(text)) {
    case '\0': return DetectionSet{};  // a run that found nothing, in MOT text
    case '[': return parse_coco_detections(text, file.string());
    case '{': return parse_jsonl_detections(text, file.string(), stream);
    default: return parse_mot_detections(text, file.string());
  }
}

Result<AnnotationSet> read_ground_truth_path(const fs::path& path,
                                             const GroundTruthOptions& options) {
  const std::string& format = options.format;
  if (!format.empty() && format != "mot" && format != "coco" && !format.starts_with("yolo")) {
    return Error{ErrorCode::kInvalidArgument, "ground truth format '" + format + "'",
                 "there is no such format", "give mot, coco, yolo, yolo0 or yolo1"};
  }
  YoloNumbers numbers = YoloNumbers::kOrder;
  if (format == "yolo0") numbers = YoloNumbers::kFromZero;
  if (format == "yolo1") numbers = YoloNumbers::kFromOne;
  std::error_code code;
  if (fs::is_directory(path, code)) {
    if (!format.empty() && !format.starts_with("yolo")) {
      return file_error(path, "it is a directory", "give the " + format + " file in it");
    }
    return read_yolo_directory(path, options, numbers);
  }
  SPARING_ASSIGN_OR_RETURN(const std::string text, read_text(path));
  const char first = first_character(text);
  if (format == "coco" || (format.empty() && (first == '{' || first == '['))) {
    return parse_coco_ground_truth(text, path.string());
  }
  if (format.starts_with("yolo")) return read_yolo_file(path, text, options);
  if (first == '\0') {
    return file_error(path, "it is empty", "give ground truth in MOT, COCO or YOLO format");
  }
  if (format == "mot" || first_line_has_comma(text)) {
    return parse_mot_ground_truth(text, path.string(), options.labels);
  }
  return read_yolo_file(path, text, options);
}

// Runs a reader; what it may throw (no memory for a huge file) becomes an Error.
template <class Read>
auto guarded(const fs::path& path, Read&& read) -> decltype(read()) {
  try {
    return read();
  } catch (const std::exception& e) {
    return Error{ErrorCode::kInternal, "file '" + path.string() + "'", e.what(), "free memory"};
  }
}

}  // namespace

Error line_error(const std::string& name, std::int64_t line, std::string problem, std::string fix) {
  return {ErrorCode::kInput, "file '" + name + "', line " + std::to_string(line),
          std::move(problem), std::move(fix)};
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMax = 40;
  std::string shown = "'" + std::string(text.substr(0, kMax)) + (text.size() > kMax ? "...'" : "'");
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return shown;
}

bool parse_number(std::string_view text, double& value) {
  const std::size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return false;
  const char* end = text.data() + text.find_last_not_of(" \t") + 1;
  const auto result = std::from_chars(text.data() + start, end, value);
  return result.ec == std::errc() && result.ptr == end && std::isfinite(value);
}

Result<DetectionSet> read_detections(const fs::path& file, std::optional<std::int64_t> stream) {
  return guarded(file, [&] { return read_detections_file(file, stream); });
}

Result<AnnotationSet> read_ground_truth(const fs::path& path, const GroundTruthOptions& options) {
  return guarded(path, [&] { return read_ground_truth_path(path, options); });
}

}  // namespace sparing
