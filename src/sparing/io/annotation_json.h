// Fields of JSON records with their names in every error. Private to io.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"

namespace sparing {

// One object of a document. `thing` says where it is: "file 'a.jsonl', line 3", and `path` goes
// before field names: "detections[2].".
struct JsonRecord {
  const nlohmann::json& object;
  std::string thing;
  std::string path;

  bool has(const char* field) const { return object.contains(field); }
  Result<std::int64_t> integer(const char* field, std::int64_t min, std::int64_t max) const;
  Result<double> number(const char* field, double min, double max) const;
  Result<std::string> string(const char* field) const;
  // Four finite numbers.
  Result<std::array<double, 4>> four(const char* field) const;
  Result<const nlohmann::json*> array(const char* field) const;
  // Element `index` of the array `field`, which must be an object.
  Result<JsonRecord> element(const char* field, const nlohmann::json& array,
                             std::size_t index) const;
  Error error(const std::string& field, const std::string& problem, const std::string& fix) const;
};

// `line` 0: the text is a whole file.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& thing);

// Corner, width and height with its checks: neither side negative.
Result<Box> box_from_extent(const JsonRecord& record, const char* field);

}  // namespace sparing
