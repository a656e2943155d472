#include "sparing/streams/appended_file.h"

#include <cerrno>
#include <system_error>

namespace sparing {
namespace {

Error write_error(const std::filesystem::path& file) {
  return {ErrorCode::kOutput, "file '" + file.string() + "'",
          errno == 0 ? "cannot be written" : std::system_category().message(errno),
          "check the folder's permissions and the free space"};
}

}  // namespace

Result<AppendedFile> AppendedFile::create(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  std::error_code failed;
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  if (failed) {
    return Error{ErrorCode::kOutput, "folder '" + folder.string() + "'",
                 "cannot be made: " + failed.message(),
                 "check the permissions of the folder above it, or name another one"};
  }
  AppendedFile made;
  made.file_ = file;
  errno = 0;
  made.stream_.open(file, std::ios::binary | std::ios::trunc);
  if (!made.stream_) return write_error(file);
  return made;
}

Status AppendedFile::flush() {
  if (!failure_.ok()) return failure_;
  errno = 0;
  stream_.flush();
  if (stream_) {
    whole_ = static_cast<std::uintmax_t>(stream_.tellp());
    return {};
  }
  failure_ = write_error(file_);
  stream_.close();
  std::error_code failed;
  std::filesystem::resize_file(file_, whole_, failed);
  return failure_;
}

void AppendedFile::close(std::string_view tail) {
  if (!stream_.is_open() && failure_.ok()) return;  // moved from, or closed
  (void)flush();
  // Anew, as a stream that failed keeps what it could not write.
  stream_.close();
  std::ofstream end(file_, std::ios::binary | std::ios::app);
  end << tail;
  failure_ = {};
}

}  // namespace sparing
