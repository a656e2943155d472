#include "sparing/io/source.h"

#include <unistd.h>

#include <cerrno>
#include <exception>
#include <filesystem>
#include <system_error>

#include "sparing/io/ffmpeg_source.h"
#include "sparing/io/image_sequence.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

Error input_error(const std::string& spec, std::string problem, std::string fix) {
  return {ErrorCode::kInput, "input '" + spec + "'", std::move(problem), std::move(fix)};
}

Status check_options(const SourceOptions& options) {
  if (options.decoder_threads < 0 || options.decoder_threads > 64) {
    return Error{ErrorCode::kInvalidArgument, "decoder_threads",
                 std::to_string(options.decoder_threads) + " is out of range",
                 "give a value from 0 (automatic) to 64"};
  }
  if (options.max_frames < 0) {
    return Error{ErrorCode::kInvalidArgument, "max_frames",
                 std::to_string(options.max_frames) + " is negative", "give 0 for all frames"};
  }
  return {};
}

// There is nothing of that name: it may be a pattern, an address, or a mistake.
Result<std::unique_ptr<VideoSource>> open_missing(const std::string& spec,
                                                  const SourceOptions& options) {
  const std::size_t scheme = spec.find("://");
  if (scheme != std::string::npos && scheme > 0) {
    // Not the whole address: it may hold a password.
    return Error{ErrorCode::kNotSupported, "input '" + spec.substr(0, scheme) + "://...'",
                 "network sources are not supported",
                 "pipe it in: ffmpeg -i URL -an -c copy -f matroska - | sparing detect - ..."};
  }
  if (spec.find_first_of("*?[") != std::string::npos) {
    SPARING_ASSIGN_OR_RETURN(auto files, list_glob_images(spec));
    return open_image_sequence(std::move(files), spec, options);
  }
  return input_error(spec, "no such file or directory", "check the path");
}

Result<std::unique_ptr<VideoSource>> open_existing(const std::string& spec,
                                                   const fs::file_status& status,
                                                   const SourceOptions& options) {
  const fs::path path(spec);
  if (fs::is_directory(status)) {
    SPARING_ASSIGN_OR_RETURN(auto files, list_directory_images(path));
    return open_image_sequence(std::move(files), spec, options);
  }
  if (::access(path.c_str(), R_OK) != 0) {
    return input_error(spec, std::system_category().message(errno), "check its permissions");
  }
  if (fs::is_regular_file(status)) {
    std::error_code ignored;
    if (fs::file_size(path, ignored) == 0) {
      return input_error(spec, "it is empty", "give a video with at least one frame");
    }
    if (is_image_file(path)) return open_image_sequence({path}, spec, options);
  }
  if (fs::is_fifo(status)) return open_fifo_source(spec, options);
  return open_ffmpeg_source(spec, spec, options);
}

Result<std::unique_ptr<VideoSource>> open_any(const std::string& spec,
                                              const SourceOptions& options) {
  SPARING_RETURN_IF_ERROR(check_options(options));
  if (spec.empty()) {
    return Error{ErrorCode::kInvalidArgument, "input ''", "the name is empty",
                 "give a video, an image, a directory of images, or - for standard input"};
  }
  if (spec.find('\0') != std::string::npos) {
    return Error{ErrorCode::kInvalidArgument, "input", "the name has a zero byte",
                 "check the path"};
  }
  if (spec == "-") return open_standard_input(options);
  std::error_code code;
  const fs::file_status status = fs::status(spec, code);
  if (status.type() == fs::file_type::not_found) return open_missing(spec, options);
  if (code) return input_error(spec, code.message(), "check the path and its permissions");
  return open_existing(spec, status, options);
}

}  // namespace

Result<std::unique_ptr<VideoSource>> open_source(std::string_view spec,
                                                 const SourceOptions& options) {
  try {
    return open_any(std::string(spec), options);
  } catch (const std::exception& e) {  // out of memory, mostly
    return Error{ErrorCode::kInternal, "input '" + std::string(spec) + "'", e.what(),
                 "free memory"};
  }
}

}  // namespace sparing
