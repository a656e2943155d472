#include "sparing/streams/trace_writer.h"

#include <cmath>

namespace sparing {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kProcess = 1;

// Whole nanoseconds: more digits say nothing.
double microseconds(double seconds) { return std::round(seconds * 1e9) / 1e3; }

}  // namespace

Result<TraceWriter> TraceWriter::create(const std::filesystem::path& file) {
  SPARING_ASSIGN_OR_RETURN(AppendedFile made, AppendedFile::create(file));
  TraceWriter writer(std::move(made));
  writer.file_.stream() << "[\n";
  writer.write(
      {{"name", "process_name"}, {"ph", "M"}, {"pid", kProcess}, {"args", {{"name", "sparing"}}}});
  SPARING_RETURN_IF_ERROR(writer.flush());
  return writer;
}

TraceWriter::~TraceWriter() { file_.close("\n]\n"); }

void TraceWriter::write(const Json& event) {
  if (!first_) file_.stream() << ",\n";
  first_ = false;
  file_.stream() << event.dump(-1, ' ', false, Json::error_handler_t::replace);
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

Status TraceWriter::flush() { return file_.flush(); }

}  // namespace sparing
