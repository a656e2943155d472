#include "sparing/models/manifest_fields.h"

#include <algorithm>

namespace sparing {
namespace {

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

bool is_model_name(std::string_view text) {
  const auto alphanumeric = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
  return !text.empty() && text.size() <= 64 && alphanumeric(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

std::string sha256_field(JsonObject& object, bool required, std::string_view key) {
  if (!required && !object.has(key)) return object.text(key, "");
  const std::string hash = object.text(key);
  if (object.ok() && !is_sha256(hash)) {
    object.fail(key, "'" + hash + "' is not a SHA-256",
                "write 64 lower-case hex digits (sha256sum prints them)");
  }
  return hash;
}

std::string name_field(JsonObject& object, std::string_view key, bool required) {
  const std::string name = required ? object.text(key) : object.text(key, "");
  if (object.ok() && object.has(key) && name.empty()) {
    object.fail(key, "empty", "write a name, or leave the field out if it has a default");
  }
  return name;
}

}  // namespace sparing
