// Strict reading of JSON objects: every field is asked for by name and type, and what was not asked
// for is an error. The first error sticks; later calls return their defaults.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sparing/base/result.h"

namespace sparing {

// The first error of one document.
class JsonErrors {
 public:
  // `thing` names the document: "manifest 'a.json'", `reference` the page that describes its
  // fields.
  JsonErrors(ErrorCode code, std::string thing, std::string reference = "models/README.md")
      : code_(code), thing_(std::move(thing)), reference_(std::move(reference)) {}

  void add(const std::string& path, const std::string& problem, const std::string& fix);
  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  const std::string& reference() const { return reference_; }

 private:
  ErrorCode code_;
  std::string thing_;
  std::string reference_;
  Status status_;
};

struct JsonLimits {
  std::size_t max_bytes = std::size_t{4} << 20;
  int max_depth = 16;
};

// A document; nothing (and an error) for malformed JSON, a duplicate field, or more than the
// limits.
std::optional<nlohmann::json> parse_json(std::string_view text, const JsonLimits& limits,
                                         JsonErrors& errors);

// A closed range of numbers.
template <class T>
struct JsonRange {
  T min = std::numeric_limits<T>::lowest();
  T max = std::numeric_limits<T>::max();
};

template <class Enum>
using JsonChoice = std::pair<std::string_view, Enum>;

// One object. A getter without a default reports a missing field. `comment` is always allowed.
class JsonObject {
 public:
  // `value` must outlive this. `path` is empty for the document itself.
  JsonObject(const nlohmann::json& value, std::string path, JsonErrors& errors);

  bool has(std::string_view key) const;
  std::string path_of(std::string_view key) const;
  void fail(std::string_view key, const std::string& problem, const std::string& fix) {
    errors_.add(path_of(key), problem, fix);
  }
  bool ok() const { return errors_.ok(); }
  JsonErrors& errors() { return errors_; }

  std::string text(std::string_view key, std::optional<std::string> fallback = {});
  bool boolean(std::string_view key, std::optional<bool> fallback = {});
  std::int64_t integer(std::string_view key, JsonRange<std::int64_t> range,
                       std::optional<std::int64_t> fallback = {});
  double number(std::string_view key, JsonRange<double> range, std::optional<double> fallback = {});
  std::vector<std::string> texts(std::string_view key,
                                 std::optional<std::vector<std::string>> fallback = {});
  std::vector<std::int64_t> integers(std::string_view key, JsonRange<std::int64_t> range,
                                     std::optional<std::vector<std::int64_t>> fallback = {});
  std::vector<double> numbers(std::string_view key, JsonRange<double> range,
                              std::optional<std::vector<double>> fallback = {});
  // The raw value, for fields of several types; null when missing.
  const nlohmann::json* any(std::string_view key);
  // A nested object. Missing: an error when required, else an empty one.
  JsonObject object(std::string_view key, bool required);

  template <class Enum>
  Enum choice(std::string_view key, std::span<const JsonChoice<Enum>> choices,
              std::optional<Enum> fallback = {}) {
    if (any(key) == nullptr && fallback) return *fallback;
    const std::string name = text(key);
    if (!ok()) return choices[0].second;
    std::string known;
    for (const auto& [choice_name, value] : choices) {
      if (name == choice_name) return value;
      known += (known.empty() ? "" : ", ") + std::string(choice_name);
    }
    fail(key, "unknown value '" + name + "'", "use one of " + known);
    return choices[0].second;
  }

  // Reports fields that nobody asked for. Call last.
  void finish();

 private:
  // The value of the key, or null after reporting it missing (unless `optional`).
  const nlohmann::json* get(std::string_view key, bool optional);
  void wrong_type(const std::string& path, const nlohmann::json& value, const char* expected);

  const nlohmann::json* value_;
  std::string path_;
  JsonErrors& errors_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace sparing
