// A timeline in Chrome's trace event format (JSON array), for chrome://tracing and Perfetto.
// Private to streams.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "sparing/base/result.h"
#include "sparing/streams/appended_file.h"

namespace sparing {

// Each event is written whole, so that the file can be loaded at any time: the format allows an
// array that was not closed.
class TraceWriter {
 public:
  // kOutput: cannot be created. Missing parent folders are made.
  static Result<TraceWriter> create(const std::filesystem::path& file);
  TraceWriter(TraceWriter&&) = default;
  TraceWriter& operator=(TraceWriter&&) = default;
  ~TraceWriter();  // closes the array

  // A row's name; rows come in the order of their numbers.
  void name_row(int row, const std::string& name);
  // Times in seconds; `arguments` is an object that is shown with the event.
  void slice(int row, std::string_view name, double start, double seconds,
             const nlohmann::ordered_json& arguments);
  void counter(std::string_view name, double time, const nlohmann::ordered_json& values);
  // kOutput: something could not be written; the events of the flushes before are kept.
  Status flush();

 private:
  explicit TraceWriter(AppendedFile file) : file_(std::move(file)) {}
  void write(const nlohmann::ordered_json& event);

  AppendedFile file_;
  bool first_ = true;
};

}  // namespace sparing
