#include "sparing/io/annotation_json.h"

#include <cmath>
#include <cstdio>

namespace sparing {
namespace {

using nlohmann::json;

// Never the inside of a list: it may be nested without end.
std::string shown(const json& value) {
  if (value.is_array()) return "an array of " + std::to_string(value.size());
  if (value.is_object()) return "an object";
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  constexpr std::size_t kMax = 40;
  return text.size() <= kMax ? text : text.substr(0, kMax) + "...";
}

std::string range_text(double min, double max) {
  char text[80];
  std::snprintf(text, sizeof text, "a number from %g to %g is needed", min, max);
  return text;
}

}  // namespace

Error JsonRecord::error(const std::string& field, const std::string& problem,
                        const std::string& fix) const {
  return {ErrorCode::kInput, thing, "field '" + path + field + "' " + problem, fix};
}

Result<std::int64_t> JsonRecord::integer(const char* field, std::int64_t min,
                                         std::int64_t max) const {
  const auto it = object.find(field);
  if (it == object.end()) return error(field, "is missing", "add it");
  const std::string fix =
      "a whole number from " + std::to_string(min) + " to " + std::to_string(max) + " is needed";
  std::int64_t value = 0;
  if (it->is_number_unsigned()) {
    const std::uint64_t large = it->get<std::uint64_t>();
    if (large > static_cast<std::uint64_t>(INT64_MAX)) {
      return error(field, "is " + shown(*it), fix);
    }
    value = static_cast<std::int64_t>(large);
  } else if (it->is_number_integer()) {
    value = it->get<std::int64_t>();
  } else {
    return error(field, "is " + shown(*it), fix);
  }
  if (value < min || value > max) return error(field, "is " + shown(*it), fix);
  return value;
}

Result<double> JsonRecord::number(const char* field, double min, double max) const {
  const auto it = object.find(field);
  if (it == object.end()) return error(field, "is missing", "add it");
  if (it->is_number()) {
    const double value = it->get<double>();
    if (value >= min && value <= max) return value;
  }
  return error(field, "is " + shown(*it), range_text(min, max));
}

Result<std::string> JsonRecord::string(const char* field) const {
  const auto it = object.find(field);
  if (it == object.end()) return error(field, "is missing", "add it");
  if (!it->is_string()) return error(field, "is " + shown(*it), "a text is needed");
  return it->get<std::string>();
}

Result<std::array<double, 4>> JsonRecord::four(const char* field) const {
  const auto it = object.find(field);
  if (it == object.end()) return error(field, "is missing", "add it");
  std::array<double, 4> values{};
  bool ok = it->is_array() && it->size() == values.size();
  for (std::size_t i = 0; ok && i < values.size(); ++i) {
    ok = (*it)[i].is_number();
    if (!ok) break;
    values[i] = (*it)[i].get<double>();
    // Boxes are floats: a double beyond their range would become infinite.
    ok = std::isfinite(static_cast<float>(values[i]));
  }
  if (!ok) return error(field, "is " + shown(*it), "an array of four finite numbers is needed");
  return values;
}

Result<const json*> JsonRecord::array(const char* field) const {
  const auto it = object.find(field);
  if (it == object.end()) return error(field, "is missing", "add it");
  if (!it->is_array()) return error(field, "is " + shown(*it), "an array is needed");
  return &*it;
}

Result<JsonRecord> JsonRecord::element(const char* field, const json& list,
                                       std::size_t index) const {
  const std::string name = std::string(field) + "[" + std::to_string(index) + "]";
  if (!list[index].is_object()) {
    return error(name, "is " + shown(list[index]), "an object is needed");
  }
  return JsonRecord{list[index], thing, path + name + "."};
}

Result<json> parse_json(std::string_view text, const std::string& thing) {
  try {
    return json::parse(text.begin(), text.end());
  } catch (const json::parse_error& e) {
    return Error{ErrorCode::kInput, thing,
                 "it is not JSON, from byte " + std::to_string(e.byte) + " on",
                 "write it again, or cut the broken part off"};
  } catch (const json::exception& e) {
    return Error{ErrorCode::kInput, thing, e.what(), "write it again"};
  }
}

Result<Box> box_from_extent(const JsonRecord& record, const char* field) {
  SPARING_ASSIGN_OR_RETURN(const auto b, record.four(field));
  if (b[2] < 0 || b[3] < 0) {
    return record.error(field, "has a negative width or height", "give [x, y, width, height]");
  }
  const Box box{static_cast<float>(b[0]), static_cast<float>(b[1]), static_cast<float>(b[0] + b[2]),
                static_cast<float>(b[1] + b[3])};
  if (!is_finite(box)) return record.error(field, "is too large", "give pixels");
  return box;
}

}  // namespace sparing
