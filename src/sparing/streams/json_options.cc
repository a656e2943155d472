#include "sparing/streams/json_options.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace sparing {

Result<std::string> read_small_file(const std::string& file, std::size_t max_bytes) {
  const std::string thing = "file '" + file + "'";
  std::error_code failed;
  if (std::filesystem::is_directory(file, failed)) {
    return Error{ErrorCode::kModel, thing, "is a directory", "name a file"};
  }
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return Error{ErrorCode::kModel, thing, errno == 0 ? "cannot be read" : std::strerror(errno),
                 "check the path and its permissions"};
  }
  std::string text(max_bytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) {
    return Error{ErrorCode::kModel, thing, "cannot be read to its end", "check the disk"};
  }
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > max_bytes) {
    return Error{ErrorCode::kModel, thing, "is over " + std::to_string(max_bytes) + " bytes",
                 "name a file that Sparing wrote"};
  }
  return text;
}

std::string to_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Status check_schema(JsonObject& object, int known, const std::string& thing) {
  constexpr std::int64_t kAny = std::numeric_limits<int>::max();
  const std::int64_t schema = object.integer("schema", {1, kAny});
  if (object.ok() && schema > known) {
    return Error{ErrorCode::kNotSupported, thing,
                 "is of schema " + std::to_string(schema) + ", this program reads up to " +
                     std::to_string(known),
                 "make it again with this version, or update Sparing"};
  }
  return {};
}

}  // namespace sparing
