#include "sparing/streams/trace_writer.h"

#include <cerrno>
#include <cmath>
#include <cstring>

namespace sparing {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kProcess = 1;

// Whole nanoseconds: more digits say nothing.
double microseconds(double seconds) { return std::round(seconds * 1e9) / 1e3; }

Error write_error(const std::filesystem::path& file) {
  return {ErrorCode::kOutput, "file '" + file.string() + "'",
          errno == 0 ? "cannot be written" : std::strerror(errno),
          "check the folder's permissions and the free space"};
}

}  // namespace

Result<TraceWriter> TraceWriter::create(const std::filesystem::path& file) {
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  TraceWriter writer;
  writer.file_ = file;
  errno = 0;
  writer.stream_.open(file, std::ios::binary | std::ios::trunc);
  if (!writer.stream_) return write_error(file);
  writer.stream_ << "[\n";
  writer.write(
      {{"name", "process_name"}, {"ph", "M"}, {"pid", kProcess}, {"args", {{"name", "sparing"}}}});
  SPARING_RETURN_IF_ERROR(writer.flush());
  return writer;
}

TraceWriter::~TraceWriter() {
  if (stream_.is_open()) stream_ << "\n]\n";
}

void TraceWriter::write(const Json& event) {
  if (!first_) stream_ << ",\n";
  first_ = false;
  stream_ << event.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void TraceWriter::name_row(int row, const std::string& name) {
  write({{"name", "thread_name"},
         {"ph", "M"},
         {"pid", kProcess},
         {"tid", row},
         {"args", {{"name", name}}}});
  write({{"name", "thread_sort_index"},
         {"ph", "M"},
         {"pid", kProcess},
         {"tid", row},
         {"args", {{"sort_index", row}}}});
}

void TraceWriter::slice(int row, std::string_view name, double start, double seconds,
                        const Json& arguments) {
  write({{"name", name},
         {"ph", "X"},
         {"pid", kProcess},
         {"tid", row},
         {"ts", microseconds(start)},
         {"dur", microseconds(seconds)},
         {"args", arguments}});
}

void TraceWriter::counter(std::string_view name, double time, const Json& values) {
  write({{"name", name},
         {"ph", "C"},
         {"pid", kProcess},
         {"ts", microseconds(time)},
         {"args", values}});
}

Status TraceWriter::flush() {
  errno = 0;
  stream_.flush();
  if (!stream_) return write_error(file_);
  return {};
}

}  // namespace sparing
