// YOLO label files: class, centre and size as fractions of the image, one object a line.
#include <array>
#include <cmath>

#include "sparing/io/annotation_formats.h"

namespace sparing {
namespace {

constexpr std::array<const char*, 5> kFieldNames{"class", "x", "y", "width", "height"};

std::string_view next_field(std::string_view& line) {
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos) return line = {};
  line.remove_prefix(start);
  const std::string_view field = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(field.size());
  return field;
}

Result<Annotation> parse_line(std::string_view line, const std::string& name, std::int64_t number,
                              Size size) {
  std::array<double, kFieldNames.size()> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string_view field = next_field(line);
    const bool good = parse_number(field, values[i]) && values[i] >= 0 &&
                      values[i] <= (i == 0 ? static_cast<double>(kMaxClassId) : 1.0) &&
                      (i > 0 || values[i] == std::floor(values[i]));
    if (!good) {
      return line_error(
          name, number,
          "field " + std::to_string(i + 1) + " (" + kFieldNames[i] + ") is " + in_quotes(field),
          i == 0 ? "give a whole number from 0" : "give a fraction from 0 to 1");
    }
  }
  if (!next_field(line).empty()) {
    return line_error(name, number, "it has more than 5 fields",
                      "give boxes: class, centre and size (polygons are not supported)");
  }
  const double x = values[1] * size.width, y = values[2] * size.height;
  const double w = values[3] * size.width / 2, h = values[4] * size.height / 2;
  Annotation object;
  object.class_id = static_cast<int>(values[0]);
  object.box = {static_cast<float>(x - w), static_cast<float>(y - h), static_cast<float>(x + w),
                static_cast<float>(y + h)};
  return object;
}

}  // namespace

Result<std::vector<Annotation>> parse_yolo_ground_truth(std::string_view text,
                                                        const std::string& name, Size size) {
  std::vector<Annotation> objects;
  const auto visit = [&](std::int64_t number, std::string_view line) -> Status {
    SPARING_ASSIGN_OR_RETURN(const Annotation object, parse_line(line, name, number, size));
    objects.push_back(object);
    return {};
  };
  SPARING_RETURN_IF_ERROR(for_each_line(text, visit));
  return objects;
}

}  // namespace sparing
