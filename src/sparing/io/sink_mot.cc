// MOT Challenge text, one line a detection: frame,id,x,y,w,h,score,class,-1,-1.
#include <string>
#include <utility>

#include "sparing/io/json_text.h"
#include "sparing/io/output_file.h"
#include "sparing/io/sinks.h"

namespace sparing {
namespace {

class MotSink final : public RecordSink {
 public:
  explicit MotSink(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}

  Status write(const FrameResult& result) override {
    text_.clear();
    for (std::size_t i = 0; i < result.detections.size(); ++i) {
      const Detection& detection = result.detections[i];
      const std::int64_t id = i < result.tracks.size() ? result.tracks[i].id : -1;
      append_number(text_, result.source.index + 1);
      text_ += ',';
      append_number(text_, id >= 0 ? id + 1 : -1);
      text_ += ',';
      const Box& box = detection.box;
      for (const float value : {box.x0, box.y0, box.width(), box.height(), detection.score}) {
        append_number(text_, value);
        text_ += ',';
      }
      append_number(text_, std::int64_t{detection.class_id} + 1);
      text_ += ",-1,-1\n";
    }
    return file_->write(text_);
  }
  Status finish() override { return file_->finish(); }
  std::string name() const override { return file_->name(); }
  std::int64_t records() const override { return file_->records(); }

 private:
  std::unique_ptr<OutputFile> file_;
  std::string text_;
};

}  // namespace

Result<std::unique_ptr<RecordSink>> open_mot_sink(const std::filesystem::path& path, const RunInfo&,
                                                  const SinkOptions&) {
  SPARING_ASSIGN_OR_RETURN(auto file, OutputFile::open(path, {}));
  return std::unique_ptr<RecordSink>(std::make_unique<MotSink>(std::move(file)));
}

}  // namespace sparing
