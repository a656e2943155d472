// JSON Lines, one object a frame; the schema is documented in docs/outputs.md.
#include <string>
#include <utility>
#include <vector>

#include "sparing/io/json_text.h"
#include "sparing/io/output_file.h"
#include "sparing/io/sinks.h"

namespace sparing {
namespace {

std::vector<std::string> quoted(const std::vector<std::string>& values) {
  std::vector<std::string> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) append_json_string(result[i], values[i]);
  return result;
}

class JsonlSink final : public RecordSink {
 public:
  JsonlSink(std::unique_ptr<OutputFile> file, const RunInfo& run)
      : file_(std::move(file)), labels_(quoted(run.labels)) {
    for (const SourceInfo& source : run.sources) {
      append_json_string(sources_.emplace_back(), source.name);
    }
  }

  Status write(const FrameResult& result) override {
    line_.clear();
    append_frame(result);
    line_ += ",\"detections\":[";
    for (std::size_t i = 0; i < result.detections.size(); ++i) {
      if (i > 0) line_ += ',';
      append_detection(result.detections[i],
                       i < result.tracks.size() ? &result.tracks[i] : nullptr);
    }
    line_ += "]}\n";
    return file_->write(line_);
  }
  Status finish() override { return file_->finish(); }
  std::string name() const override { return file_->name(); }
  std::int64_t records() const override { return file_->records(); }

 private:
  void append_frame(const FrameResult& result) {
    const VideoFrame& frame = result.source.frame.view();
    const Size size = display_size(frame);
    const std::size_t stream = static_cast<std::size_t>(result.stream);
    line_ += "{\"schema\":1,\"source\":";
    line_ += stream < sources_.size() ? sources_[stream] : "\"\"";
    append_field("stream", std::int64_t{result.stream});
    append_field("frame", result.source.index);
    if (!result.source.file.empty()) {
      line_ += ",\"file\":";
      append_json_string(line_, result.source.file);
    }
    append_field("pts", frame.timestamp.ticks);
    line_ += ",\"time_base\":[";
    append_number(line_, frame.timestamp.time_base.num);
    line_ += ',';
    append_number(line_, frame.timestamp.time_base.den);
    line_ += ']';
    append_field("time", frame.timestamp.seconds());
    append_field("width", std::int64_t{size.width});
    append_field("height", std::int64_t{size.height});
    if (result.source.damaged) line_ += ",\"damaged\":true";
    if (result.inspected)
      line_ += *result.inspected ? ",\"inspected\":true" : ",\"inspected\":false";
  }

  void append_detection(const Detection& detection, const BoxTrack* track) {
    line_ += "{\"class\":";
    append_number(line_, std::int64_t{detection.class_id});
    const std::size_t id = static_cast<std::size_t>(detection.class_id);
    if (id < labels_.size()) {
      line_ += ",\"label\":";
      line_ += labels_[id];
    }
    append_field("score", detection.score);
    line_ += ",\"box\":[";
    const Box& box = detection.box;
    for (const float value : {box.x0, box.y0, box.x1, box.y1}) {
      append_number(line_, value);
      line_ += ',';
    }
    line_.back() = ']';
    if (track != nullptr) append_track(*track);
    line_ += '}';
  }

  void append_track(const BoxTrack& track) {
    if (track.id >= 0) append_field("id", track.id);
    line_ += ",\"origin\":\"";
    line_ += to_string(track.origin);
    line_ += '"';
  }

  template <class T>
  void append_field(const char* name, T value) {
    line_ += ",\"";
    line_ += name;
    line_ += "\":";
    append_number(line_, value);
  }

  std::unique_ptr<OutputFile> file_;
  std::vector<std::string> sources_;  // quoted
  std::vector<std::string> labels_;   // quoted
  std::string line_;
};

}  // namespace

Result<std::unique_ptr<RecordSink>> open_jsonl_sink(const std::filesystem::path& path,
                                                    const RunInfo& run, const SinkOptions&) {
  SPARING_ASSIGN_OR_RETURN(auto file, OutputFile::open(path, {}));
  return std::unique_ptr<RecordSink>(std::make_unique<JsonlSink>(std::move(file), run));
}

}  // namespace sparing
