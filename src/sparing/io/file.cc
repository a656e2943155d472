#include "sparing/io/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <string>
#include <utility>

#include "sparing/io/output_file.h"

namespace sparing {
namespace {

bool write_bytes(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

Status write_parts(const std::filesystem::path& path,
                   std::span<const std::span<const std::byte>> parts) {
  SPARING_ASSIGN_OR_RETURN(PendingFile file, PendingFile::create(path));
  const int descriptor = file.open();
  if (descriptor < 0) return output_error(path, errno);
  int error = 0;
  for (const std::span<const std::byte> part : parts) {
    if (error == 0 && !write_bytes(descriptor, part)) error = errno;
  }
  // Some file systems report a full disk only here.
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) return output_error(path, error);
  return file.publish();
}

Status try_to_write(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path parent = fs::absolute(path).parent_path();
  if (fs::is_directory(parent, error)) {
    // Made, and removed by the destructor.
    SPARING_ASSIGN_OR_RETURN(const PendingFile file, PendingFile::create(path));
    return {};
  }
  // The folder in which folders would be made.
  while (!fs::exists(parent, error) && parent.has_relative_path()) parent = parent.parent_path();
  if (!fs::is_directory(parent, error)) return output_error(path, ENOTDIR);
  if (::access(parent.c_str(), W_OK | X_OK) != 0) return output_error(path, errno);
  return {};
}

}  // namespace

Status check_writable(const std::filesystem::path& path) {
  try {
    return try_to_write(path);
  } catch (const std::exception& e) {
    return Error{ErrorCode::kOutput, "output '" + path.string() + "'", e.what(), "check the path"};
  }
}

Status write_file(const std::filesystem::path& path,
                  std::span<const std::span<const std::byte>> parts) {
  try {
    return write_parts(path, parts);
  } catch (const std::exception& e) {
    return Error{ErrorCode::kOutput, "output '" + path.string() + "'", e.what(), "check the path"};
  }
}

// Files are compared, not their names, because links make many names of one. Terminals and
// /dev/null may be both.
Status check_not_an_input(const std::filesystem::path& path, std::span<const SourceInfo> sources) {
  struct stat output{};
  if (::stat(path == "-" ? "/proc/self/fd/1" : path.c_str(), &output) != 0) return {};
  if (!S_ISREG(output.st_mode) && !S_ISFIFO(output.st_mode) && !S_ISBLK(output.st_mode)) return {};
  for (const SourceInfo& source : sources) {
    for (const std::string& file : source.files) {
      struct stat input{};
      if (::stat(file.c_str(), &input) != 0 || input.st_dev != output.st_dev ||
          input.st_ino != output.st_ino) {
        continue;
      }
      const bool same_name = file == path.string() || file.starts_with("/proc/self/fd/");
      return Error{ErrorCode::kInvalidArgument, "output '" + path.string() + "'",
                   "it is a file of the input '" + source.name + "'" +
                       (same_name ? "" : " ('" + file + "')") + ", which it would replace",
                   "give another path"};
    }
  }
  return {};
}

}  // namespace sparing
