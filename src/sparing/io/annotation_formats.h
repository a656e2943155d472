// The formats behind read_detections() and read_ground_truth(), one file each, from text in memory.
// Private to io.
//
// `name` is the file's, for messages. All of them fail with kInput, naming line and field.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/annotation.h"
#include "sparing/base/result.h"
#include "sparing/io/annotations.h"

namespace sparing {

// Of that stream, where one is named.
Result<DetectionSet> parse_jsonl_detections(std::string_view text, const std::string& name,
                                            std::optional<std::int64_t> stream = {});
Result<DetectionSet> parse_coco_detections(std::string_view text, const std::string& name);
Result<DetectionSet> parse_mot_detections(std::string_view text, const std::string& name);

Result<AnnotationSet> parse_coco_ground_truth(std::string_view text, const std::string& name);
Result<AnnotationSet> parse_mot_ground_truth(std::string_view text, const std::string& name,
                                             const std::vector<std::string>& labels);
// One image; `size` scales the fractions.
Result<std::vector<Annotation>> parse_yolo_ground_truth(std::string_view text,
                                                        const std::string& name, Size size);

// What they share.

// Ids beyond this are taken for damage: label lists are indexed by them.
inline constexpr std::int64_t kMaxClassId = 100000;

// "file 'a.txt', line 3".
Error line_error(const std::string& name, std::int64_t line, std::string problem, std::string fix);

// Calls visit(line number from 1, line without its end) for each line that is not blank, until one
// fails.
template <class Visit>
Status for_each_line(std::string_view text, Visit&& visit) {
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    SPARING_RETURN_IF_ERROR(visit(number, line));
  }
  return {};
}

// Text from a file for a message: in quotes, short, on one line.
std::string in_quotes(std::string_view text);

// A finite decimal number that fills the text but for blanks around it.
bool parse_number(std::string_view text, double& value);

// Images by ascending id, from a map by id.
template <class Image, class Object, class Member>
std::vector<Image> in_order(std::map<std::int64_t, std::vector<Object>>& by_id, Member objects) {
  std::vector<Image> images;
  images.reserve(by_id.size());
  for (auto& [id, list] : by_id) {
    Image& image = images.emplace_back();
    image.image_id = id;
    image.*objects = std::move(list);
  }
  return images;
}

}  // namespace sparing
