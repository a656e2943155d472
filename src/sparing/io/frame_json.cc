#include "sparing/io/frame_json.h"

#include <cstdint>

#include "sparing/io/json_text.h"

namespace sparing {
namespace {

template <class T>
void append_field(std::string& line, const char* name, T value) {
  line += ",\"";
  line += name;
  line += "\":";
  append_number(line, value);
}

}  // namespace

FrameJson::FrameJson(const RunInfo& run) {
  for (const SourceInfo& source : run.sources) {
    append_json_string(sources_.emplace_back(), source.name);
  }
  for (const std::string& label : run.labels) append_json_string(labels_.emplace_back(), label);
}

void FrameJson::append_head(std::string& line, int stream, const SourceFrame& source) const {
  const VideoFrame& frame = source.frame.view();
  const Size size = display_size(frame);
  const auto index = static_cast<std::size_t>(stream);
  line += "{\"schema\":1,\"source\":";
  line += index < sources_.size() ? sources_[index] : "\"\"";
  append_field(line, "stream", std::int64_t{stream});
  append_field(line, "frame", source.index);
  if (!source.file.empty()) {
    line += ",\"file\":";
    append_json_string(line, source.file);
  }
  append_field(line, "pts", frame.timestamp.ticks);
  line += ",\"time_base\":[";
  append_number(line, frame.timestamp.time_base.num);
  line += ',';
  append_number(line, frame.timestamp.time_base.den);
  line += ']';
  append_field(line, "time", frame.timestamp.seconds());
  append_field(line, "width", std::int64_t{size.width});
  append_field(line, "height", std::int64_t{size.height});
  if (source.damaged) line += ",\"damaged\":true";
}

void FrameJson::append_label(std::string& line, int class_id) const {
  const auto id = static_cast<std::size_t>(class_id);
  if (id >= labels_.size()) return;
  line += ",\"label\":";
  line += labels_[id];
}

}  // namespace sparing
