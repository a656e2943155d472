#include "sparing/io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

namespace sparing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferSize = 64 * 1024;
constexpr std::int64_t kMostBufferedRecords = 1000;
constexpr int kMaxSymlinks = 16;
constexpr mode_t kPermissions = 0777;
constexpr mode_t kNewFile = 0666;  // less what the umask takes

bool is_stdout(const fs::path& path) { return path == "-"; }

const char* fix_for(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT: return "free space or give another path";
    case EFBIG: return "raise the file size limit (ulimit -f) or give another path";
    case EPIPE: return "keep the reader open until the end";
    case EBADF: return "give a descriptor that is open for writing";
    case EACCES:
    case EPERM:
    case EROFS: return "give a path that you may write to";
    case EISDIR: return "give a file name";
    case ENAMETOOLONG: return "give a shorter name";
    case ENOTDIR: return "give a path whose parents are directories";
    default: return "check the path and the disk";
  }
}

// Where the symbolic link `path` points to; false when it is none.
bool follow_link(fs::path& path) {
  std::error_code code;
  if (!fs::is_symlink(path, code)) return false;
  const fs::path link = fs::read_symlink(path, code);
  if (code) return false;
  path = link.is_absolute() ? link : path.parent_path() / link;
  return true;
}

// What `path` refers to in the end, so that renaming replaces the file and not the link.
fs::path follow_links(fs::path path) {
  for (int i = 0; i < kMaxSymlinks && follow_link(path); ++i) {
  }
  return path;
}

int open_exclusive(const fs::path& target, mode_t mode, fs::path& working) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    working = target.parent_path() /
              ("." + target.filename().string() + ".partial-" + std::to_string(::getpid()) +
               (attempt > 0 ? "-" + std::to_string(attempt) : ""));
    const int descriptor = ::open(working.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

// The file is well named, but the folder it shall be in is the trouble.
Error folder_error(const fs::path& path, const std::string& problem, int error_number) {
  Error error = output_error(path, error_number);
  error.problem = problem + ": " + error.problem;
  if (error_number == ENOENT) error.fix = "give a path in a folder that files can be made in";
  return error;
}

}  // namespace

Error output_error(const fs::path& path, int error_number, const std::string& consequence) {
  return {ErrorCode::kOutput,
          is_stdout(path) ? "standard output" : "output '" + path.string() + "'",
          std::system_category().message(error_number) + consequence, fix_for(error_number)};
}

std::optional<int> own_descriptor(fs::path path) {
  std::error_code code;
  const fs::path descriptors = fs::canonical("/proc/self/fd", code);
  if (code) return std::nullopt;
  for (int i = 0; i <= kMaxSymlinks; ++i) {
    const std::string name = path.filename().string();
    int number = -1;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
    if (number >= 0 && parsed.ec == std::errc() && parsed.ptr == name.data() + name.size() &&
        fs::canonical(path.has_parent_path() ? path.parent_path() : ".", code) == descriptors) {
      return number;
    }
    if (!follow_link(path)) break;
  }
  return std::nullopt;
}

Result<PendingFile> PendingFile::create(const fs::path& path) {
  PendingFile file;
  file.path_ = path;
  file.descriptor_ = own_descriptor(path);
  if (file.descriptor_) {
    const int flags = ::fcntl(*file.descriptor_, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return output_error(path, EBADF);
    file.direct_ = true;
    return file;
  }
  file.target_ = follow_links(path);
  if (!file.target_.has_filename()) return output_error(path, EISDIR);
  struct stat status{};
  if (::stat(file.target_.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return output_error(path, EISDIR);
    if (::access(file.target_.c_str(), W_OK) != 0) return output_error(path, errno);
    if (!S_ISREG(status.st_mode)) {
      file.working_ = file.target_;
      file.direct_ = true;
      return file;
    }
    file.mode_ = status.st_mode & kPermissions;
  } else if (errno != ENOENT) {
    return output_error(path, errno);
  }
  std::error_code code;
  const fs::path folder = file.target_.has_parent_path() ? file.target_.parent_path() : ".";
  fs::create_directories(folder, code);
  if (code) {
    return folder_error(path, "the folder '" + folder.string() + "' cannot be made", code.value());
  }
  // While it grows, nobody reads it who may not read the file it replaces.
  const mode_t mode = file.mode_ ? *file.mode_ | S_IRUSR | S_IWUSR : kNewFile;
  const int descriptor = open_exclusive(file.target_, mode, file.working_);
  if (descriptor < 0) {
    const int error = errno;
    file.done_ = true;
    if (error == ENAMETOOLONG) return output_error(path, error);
    return folder_error(path, "no file can be made in the folder '" + folder.string() + "'", error);
  }
  ::close(descriptor);
  return file;
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      working_(std::move(other.working_)),
      mode_(other.mode_),
      descriptor_(other.descriptor_),
      direct_(other.direct_),
      done_(std::exchange(other.done_, true)) {}

PendingFile::~PendingFile() { discard(); }

void PendingFile::discard() {
  if (!done_ && !direct_ && !working_.empty()) ::unlink(working_.c_str());
  done_ = true;
}

int PendingFile::open() const {
  // Opening it anew would begin at its start.
  if (descriptor_) return ::fcntl(*descriptor_, F_DUPFD_CLOEXEC, 0);
  // A file is read back when it is cut. A pipe that we could read from ourselves would never tell
  // that its reader has gone.
  return ::open(working_.c_str(), (direct_ ? O_WRONLY : O_RDWR) | O_CLOEXEC);
}

std::string PendingFile::url() const {
  return descriptor_ ? "pipe:" + std::to_string(*descriptor_) : "file:" + working_.string();
}

Status PendingFile::publish() {
  if (direct_ || done_) return {};
  // Some file systems have no permissions: no reason to lose a result.
  if (mode_ && ::chmod(working_.c_str(), *mode_) != 0 && errno != EPERM && errno != ENOTSUP) {
    return output_error(path_, errno);
  }
  if (::rename(working_.c_str(), target_.c_str()) != 0) return output_error(path_, errno);
  done_ = true;
  return {};
}

Result<std::unique_ptr<OutputFile>> OutputFile::open(const fs::path& path, Format format) {
  std::unique_ptr<OutputFile> output(new OutputFile);
  if (is_stdout(path)) {
    output->descriptor_ = STDOUT_FILENO;
  } else {
    SPARING_ASSIGN_OR_RETURN(PendingFile file, PendingFile::create(path));
    output->file_.emplace(std::move(file));
    output->descriptor_ = output->file_->open();
    if (output->descriptor_ < 0) return output_error(path, errno);
  }
  output->buffer_ = format.head;
  output->format_ = std::move(format);
  return output;
}

OutputFile::~OutputFile() {
  if (file_ && descriptor_ >= 0) ::close(descriptor_);
}

std::string OutputFile::name() const { return file_ ? file_->path().string() : "-"; }

bool OutputFile::write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    written_ += count;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

Status OutputFile::flush() {
  const bool ok = write_out(buffer_);
  const int error = errno;
  buffer_.clear();
  if (!ok) return fail(error);
  flushed_records_ = records_;
  while (ends_.size() > 2) ends_.pop_front();
  return {};
}

Status OutputFile::write(std::string_view text) {
  if (failure_) return *failure_;
  buffer_ += text;
  ++records_;
  const std::int64_t end = written_ + static_cast<std::int64_t>(buffer_.size());
  if (ends_.empty() || ends_.back().offset != end) ends_.push_back({end, 0});
  ends_.back().records = records_;
  // A reader of standard output or of a pipe waits for the line.
  const bool small =
      buffer_.size() < kBufferSize && records_ - flushed_records_ < kMostBufferedRecords;
  if (small && file_ && !file_->direct()) return {};
  return flush();
}

Status OutputFile::finish() {
  if (failure_) return *failure_;
  if (finished_) return {};
  buffer_ += format_.tail;
  SPARING_RETURN_IF_ERROR(flush());
  if (file_) {
    // Some file systems report a full disk only here.
    if (::close(std::exchange(descriptor_, -1)) != 0) {
      failure_ = output_error(file_->path(), errno);
    } else if (Status status = file_->publish(); !status.ok()) {
      failure_ = status.error();
    }
    if (failure_) {
      records_ = 0;
      return *failure_;
    }
  }
  finished_ = true;
  return {};
}

Status OutputFile::fail(int error) {
  if (!file_ || file_->direct()) {
    while (!ends_.empty() && ends_.back().offset > written_) ends_.pop_back();
    // Of those before the last flush there are no offsets, but they are all out.
    records_ = ends_.empty() ? flushed_records_ : ends_.back().records;
    failure_ = output_error(file_ ? file_->path() : fs::path("-"), error);
  } else {
    const bool kept = salvage() && file_->publish().ok();
    if (!kept) {
      records_ = 0;
      file_->discard();  // its room is for the other outputs
    }
    failure_ = output_error(file_->path(), error,
                            kept ? ", what was written before is kept" : ", nothing could be kept");
  }
  return *failure_;
}

// Cuts the file after its last whole record and closes the text. A disk that is full has room for
// the tail in place of the record that was cut.
bool OutputFile::salvage() {
  for (; !ends_.empty(); ends_.pop_back()) {
    const auto [end, records] = ends_.back();
    if (end > written_) continue;
    if (end <= static_cast<std::int64_t>(format_.head.size())) continue;  // not one record
    if (::ftruncate(descriptor_, end) != 0 || ::lseek(descriptor_, end, SEEK_SET) < 0) continue;
    std::string_view tail = format_.tail;
    while (!tail.empty()) {
      const ssize_t count = ::write(descriptor_, tail.data(), tail.size());
      if (count <= 0) break;
      tail.remove_prefix(static_cast<std::size_t>(count));
    }
    if (!tail.empty()) continue;
    records_ = records;
    return true;
  }
  return false;
}

}  // namespace sparing
