// Files that appear under their name only when complete. Private to io.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sparing/base/result.h"

namespace sparing {

// A path to be written under a temporary name in the same directory and renamed when complete.
// Where `path` is a symbolic link, the file it points to is replaced; the permissions of a replaced
// file stay. Devices and pipes (/dev/null, a FIFO) are written directly, and descriptors of this
// process (/dev/fd/3) where they stand. The destructor removes a temporary file that was not
// published.
class PendingFile {
 public:
  // Makes missing parent directories and an empty temporary file. kOutput otherwise.
  static Result<PendingFile> create(const std::filesystem::path& path);

  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&&) = delete;
  ~PendingFile();

  const std::filesystem::path& path() const { return path_; }  // as the user gave it
  int open() const;         // a descriptor to write to, the caller's; -1: errno says why
  std::string url() const;  // the same for FFmpeg
  bool direct() const { return direct_; }
  Status publish();  // once
  void discard();    // removes the temporary file, unless it was published

 private:
  PendingFile() = default;
  std::filesystem::path path_;
  std::filesystem::path target_;
  std::filesystem::path working_;
  std::optional<mode_t> mode_;     // of the file to be replaced
  std::optional<int> descriptor_;  // of this process; not ours to close
  bool direct_ = false;
  bool done_ = false;
};

// Text of records, through a buffer. When a write fails (a full disk), the whole records written so
// far are published under the final name at once, and every later call returns the same error.
class OutputFile {
 public:
  struct Format {
    std::string head;
    std::string tail;  // closes the text, e.g. "\n]\n"
  };
  // `path` is a file or "-" for standard output, which gets every line at once.
  static Result<std::unique_ptr<OutputFile>> open(const std::filesystem::path& path, Format format);
  ~OutputFile();

  // One record, which may be empty.
  Status write(std::string_view text);
  // Writes the tail and gives the file its name.
  Status finish();
  std::string name() const;
  // Records that were taken; after a failure, those that are in the output.
  std::int64_t records() const { return records_; }

 private:
  // The text up to an offset holds so many whole records.
  struct RecordEnd {
    std::int64_t offset;
    std::int64_t records;
  };

  OutputFile() = default;
  Status flush();
  bool write_out(std::string_view text);  // false: errno says why
  Status fail(int error);
  bool salvage();

  std::optional<PendingFile> file_;  // none: standard output
  int descriptor_ = -1;
  Format format_;
  std::string buffer_;
  std::int64_t written_ = 0;
  std::int64_t records_ = 0;
  std::int64_t flushed_records_ = 0;
  // Of the buffer's records and the last two before, ascending; offsets differ.
  std::deque<RecordEnd> ends_;
  std::optional<Error> failure_;
  bool finished_ = false;
};

// The number, when `path` is a name of a descriptor of this process: /dev/stdout, /dev/fd/N,
// /proc/self/fd/N, or a link to one.
std::optional<int> own_descriptor(std::filesystem::path path);

// "output 'PATH'" or "standard output" with a system error, and what to do about it.
Error output_error(const std::filesystem::path& path, int error_number,
                   const std::string& consequence = "");

}  // namespace sparing
