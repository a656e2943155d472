// A text that grows while a run goes on, and can be read at any time. Private to streams.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "sparing/base/result.h"

namespace sparing {

class AppendedFile {
 public:
  // Empty. Missing parent folders are made. kOutput: it or a folder cannot be made.
  static Result<AppendedFile> create(const std::filesystem::path& file);

  const std::filesystem::path& path() const { return file_; }
  std::ostream& stream() { return stream_; }
  // What was written since is a whole part. kOutput: it could not all be written (a full disk); the
  // file is cut back to the parts before, and the same error comes from every later call.
  Status flush();
  // Ends the file, also after an error, as far as there is room.
  void close(std::string_view tail);

 private:
  AppendedFile() = default;

  std::filesystem::path file_;
  std::ofstream stream_;
  std::uintmax_t whole_ = 0;  // bytes
  Status failure_;
};

}  // namespace sparing
