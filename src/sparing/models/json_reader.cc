#include "sparing/models/json_reader.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace sparing {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxQuoted = 80;

// At most `size` bytes and no half UTF-8 sequence.
std::string shortened(std::string text, std::size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  text.resize(size);
  return text + "...";
}

// Messages quote what others wrote: keep them to one line of a bearable length.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return shortened(std::move(text), 500);
}

std::string quoted(const json& value) {
  return shortened(value.dump(-1, ' ', false, json::error_handler_t::replace), kMaxQuoted);
}

std::string plain(double value) { return json(value).dump(); }

// nlohmann's message without its own prefix.
std::string reason(const char* what) {
  std::string text = what;
  if (const std::size_t end = text.find("] "); end != std::string::npos) text.erase(0, end + 2);
  return text;
}

// Watches nesting and duplicate names while the document is parsed.
class ParseGuard {
 public:
  explicit ParseGuard(int max_depth) : max_depth_(max_depth) {}

  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (too_deep_) return false;
    switch (event) {
      case json::parse_event_t::object_start: names_.emplace_back(); [[fallthrough]];
      case json::parse_event_t::array_start: too_deep_ = depth >= max_depth_; return !too_deep_;
      case json::parse_event_t::object_end: names_.pop_back(); return true;
      case json::parse_event_t::key: {
        const auto& name = parsed.get_ref<const std::string&>();
        if (!names_.back().insert(name).second && !duplicate_) duplicate_ = name;
        return true;
      }
      default: return true;
    }
  }

  bool too_deep() const { return too_deep_; }
  const std::optional<std::string>& duplicate() const { return duplicate_; }

 private:
  int max_depth_;
  bool too_deep_ = false;
  std::vector<std::set<std::string>> names_;
  std::optional<std::string> duplicate_;
};

const json& empty_object() {
  static const json value = json::object();
  return value;
}

}  // namespace

void JsonErrors::add(const std::string& path, const std::string& problem, const std::string& fix) {
  if (!status_.ok()) return;
  const std::string where = path.empty() ? "" : "field '" + path + "': ";
  status_ = Error{code_, thing_, one_line(where + problem), one_line(fix)};
}

std::optional<json> parse_json(std::string_view text, const JsonLimits& limits,
                               JsonErrors& errors) {
  if (text.size() > limits.max_bytes) {
    errors.add("", std::to_string(text.size()) + " bytes are too many",
               "use a file of at most " + std::to_string(limits.max_bytes) + " bytes");
    return std::nullopt;
  }
  ParseGuard guard(limits.max_depth);
  std::optional<json> value;
  std::string malformed;
  try {
    // The library takes the callback by copy: hand it a reference to ours.
    value = json::parse(text.begin(), text.end(),
                        [&guard](int depth, json::parse_event_t event, json& parsed) {
                          return guard(depth, event, parsed);
                        });
  } catch (const json::exception& exception) {
    malformed = reason(exception.what());
  } catch (const std::bad_alloc&) {
    malformed = "too large for the memory";
  }
  if (guard.too_deep()) {
    errors.add("", "nested deeper than " + std::to_string(limits.max_depth) + " levels",
               "remove the nesting");
  } else if (!value) {
    errors.add("", "not JSON: " + malformed, "correct the syntax there");
  } else if (guard.duplicate()) {
    errors.add(
        "",
        "field '" + shortened(*guard.duplicate(), kMaxQuoted) + "' is there twice in one object",
        "remove one of the two");
  }
  return errors.ok() ? std::move(value) : std::nullopt;
}

JsonObject::JsonObject(const json& value, std::string path, JsonErrors& errors)
    : value_(&value), path_(std::move(path)), errors_(errors) {
  if (!value.is_object()) {
    wrong_type(path_, value, "an object {...}");
    value_ = &empty_object();
  }
}

bool JsonObject::has(std::string_view key) const {
  return value_->find(std::string(key)) != value_->end();
}

std::string JsonObject::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void JsonObject::wrong_type(const std::string& path, const json& value, const char* expected) {
  errors_.add(path, "found " + quoted(value), std::string("it must be ") + expected);
}

const json* JsonObject::get(std::string_view key, bool optional) {
  asked_.emplace(key);
  const auto it = value_->find(std::string(key));
  if (it != value_->end()) return &*it;
  if (!optional) fail(key, "missing", "add it (see " + errors_.reference() + ")");
  return nullptr;
}

const json* JsonObject::any(std::string_view key) { return get(key, true); }

std::string JsonObject::text(std::string_view key, std::optional<std::string> fallback) {
  const json* value = get(key, fallback.has_value());
  if (value == nullptr) return fallback.value_or("");
  if (!value->is_string()) {
    wrong_type(path_of(key), *value, "a string \"...\"");
    return "";
  }
  auto result = value->get<std::string>();
  if (result.find('\0') != std::string::npos) {
    fail(key, "a zero character in the string", "remove it");
    return "";
  }
  return result;
}

bool JsonObject::boolean(std::string_view key, std::optional<bool> fallback) {
  const json* value = get(key, fallback.has_value());
  if (value == nullptr) return fallback.value_or(false);
  if (!value->is_boolean()) {
    wrong_type(path_of(key), *value, "true or false");
    return false;
  }
  return value->get<bool>();
}

namespace {

std::optional<std::int64_t> as_integer(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(std::min(number, kMax));  // out of any range that is asked
  }
  return value.get<std::int64_t>();
}

std::string range_text(JsonRange<std::int64_t> range) {
  return std::to_string(range.min) + ".." + std::to_string(range.max);
}

std::string range_text(JsonRange<double> range) {
  if (range.min == JsonRange<double>{}.min && range.max == JsonRange<double>{}.max) {
    return "a finite number";
  }
  return plain(range.min) + ".." + plain(range.max);
}

std::optional<std::int64_t> checked_integer(const json& value, const std::string& path,
                                            JsonRange<std::int64_t> range, JsonErrors& errors) {
  const std::optional<std::int64_t> number = as_integer(value);
  if (!number || *number < range.min || *number > range.max) {
    errors.add(path, "found " + quoted(value), "it must be a whole number in " + range_text(range));
    return std::nullopt;
  }
  return number;
}

std::optional<double> checked_number(const json& value, const std::string& path,
                                     JsonRange<double> range, JsonErrors& errors) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  // NaN fails both comparisons.
  if (!(number >= range.min && number <= range.max)) {
    errors.add(path, "found " + quoted(value), "it must be a number in " + range_text(range));
    return std::nullopt;
  }
  return number;
}

// Each element of a list through `check(element, path)`, which gives an optional.
template <class T, class Check>
std::vector<T> list_of(const json& list, const std::string& path, Check check) {
  std::vector<T> result;
  result.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::optional<T> element = check(list[i], path + "[" + std::to_string(i) + "]");
    if (!element) return {};
    result.push_back(*std::move(element));
  }
  return result;
}

}  // namespace

std::int64_t JsonObject::integer(std::string_view key, JsonRange<std::int64_t> range,
                                 std::optional<std::int64_t> fallback) {
  const json* value = get(key, fallback.has_value());
  if (value == nullptr) return fallback.value_or(range.min);
  return checked_integer(*value, path_of(key), range, errors_).value_or(range.min);
}

double JsonObject::number(std::string_view key, JsonRange<double> range,
                          std::optional<double> fallback) {
  const json* value = get(key, fallback.has_value());
  if (value == nullptr) return fallback.value_or(range.min);
  return checked_number(*value, path_of(key), range, errors_).value_or(range.min);
}

std::vector<std::string> JsonObject::texts(std::string_view key,
                                           std::optional<std::vector<std::string>> fallback) {
  const json* value = get(key, fallback.has_value());
  if (value == nullptr) return std::move(fallback).value_or(std::vector<std::string>{});
  if (!value->is_array()) {
    wrong_type(path_of(key), *value, "a list of strings [\"...\"]");
    return {};
  }
  return list_of<std::string>(
      *value, path_of(key),
      [this](const json& element, const std::string& path) -> std::optional<std::string> {
        if (element.is_string()) return element.get<std::string>();
        wrong_type(path, element, "a string \"...\"");
        return std::nullopt;
      });
}

std::vector<std::int64_t> JsonObject::integers(std::string_view key, JsonRange<std::int64_t> range,
                                               std::optional<std::vector<std::int64_t>> fallback) {
  const json* value = get(key, fallback.has_value());
  if (value == nullptr) return std::move(fallback).value_or(std::vector<std::int64_t>{});
  if (!value->is_array()) {
    wrong_type(path_of(key), *value, "a list of whole numbers [...]");
    return {};
  }
  return list_of<std::int64_t>(*value, path_of(key),
                               [&](const json& element, const std::string& path) {
                                 return checked_integer(element, path, range, errors_);
                               });
}

std::vector<double> JsonObject::numbers(std::string_view key, JsonRange<double> range,
                                        std::optional<std::vector<double>> fallback) {
  const json* value = get(key, fallback.has_value());
  if (value == nullptr) return std::move(fallback).value_or(std::vector<double>{});
  if (!value->is_array()) {
    wrong_type(path_of(key), *value, "a list of numbers [...]");
    return {};
  }
  return list_of<double>(*value, path_of(key), [&](const json& element, const std::string& path) {
    return checked_number(element, path, range, errors_);
  });
}

JsonObject JsonObject::object(std::string_view key, bool required) {
  const json* value = get(key, !required);
  return {value != nullptr ? *value : empty_object(), path_of(key), errors_};
}

void JsonObject::finish() {
  for (const auto& [key, value] : value_->items()) {
    if (key == "comment" || asked_.contains(key)) continue;
    std::string known;
    for (const std::string& name : asked_) known += (known.empty() ? "" : ", ") + name;
    fail(shortened(key, kMaxQuoted), "unknown field",
         "remove it or correct its name; known here: " + known);
    return;
  }
}

}  // namespace sparing
