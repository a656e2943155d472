// JSON Lines, one object a frame; the schema is documented in docs/outputs.md.
#include <string>
#include <utility>

#include "sparing/io/frame_json.h"
#include "sparing/io/json_text.h"
#include "sparing/io/output_file.h"
#include "sparing/io/sinks.h"

namespace sparing {
namespace {

class JsonlSink final : public RecordSink {
 public:
  JsonlSink(std::unique_ptr<OutputFile> file, const RunInfo& run)
      : file_(std::move(file)), frames_(run) {}

  Status write(const FrameResult& result) override {
    line_.clear();
    frames_.append_head(line_, result.stream, result.source);
    if (result.inspected)
      line_ += *result.inspected ? ",\"inspected\":true" : ",\"inspected\":false";
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
  void append_detection(const Detection& detection, const BoxTrack* track) {
    line_ += "{\"class\":";
    append_number(line_, std::int64_t{detection.class_id});
    frames_.append_label(line_, detection.class_id);
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
  FrameJson frames_;
  std::string line_;
};

}  // namespace

Result<std::unique_ptr<RecordSink>> open_jsonl_sink(const std::filesystem::path& path,
                                                    const RunInfo& run, const SinkOptions&) {
  SPARING_ASSIGN_OR_RETURN(auto file, OutputFile::open(path, {}));
  return std::unique_ptr<RecordSink>(std::make_unique<JsonlSink>(std::move(file), run));
}

}  // namespace sparing
