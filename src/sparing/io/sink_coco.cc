// COCO results: a JSON array with one object a detection; docs/outputs.md has the rules for ids.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sparing/base/coco_classes.h"
#include "sparing/io/json_text.h"
#include "sparing/io/output_file.h"
#include "sparing/io/sinks.h"

namespace sparing {
namespace {

// COCO names its files by their image ids, in 12 digits; other images and videos count frames.
std::int64_t image_id(const SourceFrame& frame) {
  const std::string stem = std::filesystem::path(frame.file).stem().string();
  constexpr std::size_t kDigits = 12;
  if (stem.size() != kDigits || stem.find_first_not_of("0123456789") != std::string::npos) {
    return frame.index;
  }
  std::int64_t id = 0;
  std::from_chars(stem.data(), stem.data() + stem.size(), id);
  return id;
}

class CocoSink final : public RecordSink {
 public:
  CocoSink(std::unique_ptr<OutputFile> file, const RunInfo& run)
      : file_(std::move(file)), coco_(are_coco_labels(run.labels)) {
    for (const std::string& label : run.labels) append_json_string(labels_.emplace_back(), label);
  }

  Status write(const FrameResult& result) override {
    text_.clear();
    const std::int64_t image = image_id(result.source);
    for (const Detection& detection : result.detections) {
      text_ += std::exchange(separator_, ",\n");
      append(image, detection);
    }
    return file_->write(text_);
  }
  Status finish() override { return file_->finish(); }
  std::string name() const override { return file_->name(); }
  std::int64_t records() const override { return file_->records(); }

 private:
  void append(std::int64_t image, const Detection& detection) {
    const std::size_t id = static_cast<std::size_t>(detection.class_id);
    text_ += "{\"image_id\":";
    append_number(text_, image);
    text_ += ",\"category_id\":";
    const bool official = coco_ && id < coco_classes().size();
    append_number(text_, official ? std::int64_t{coco_classes()[id].category_id}
                                  : std::int64_t{detection.class_id} + 1);
    if (id < labels_.size()) {
      text_ += ",\"label\":";
      text_ += labels_[id];
    }
    text_ += ",\"bbox\":[";
    const Box& box = detection.box;
    for (const float value : {box.x0, box.y0, box.width(), box.height()}) {
      append_number(text_, value);
      text_ += ',';
    }
    text_.back() = ']';
    text_ += ",\"score\":";
    append_number(text_, detection.score);
    text_ += '}';
  }

  std::unique_ptr<OutputFile> file_;
  bool coco_;
  std::vector<std::string> labels_;  // quoted
  const char* separator_ = "\n";
  std::string text_;
};

}  // namespace

Result<std::unique_ptr<RecordSink>> open_coco_sink(const std::filesystem::path& path,
                                                   const RunInfo& run, const SinkOptions&) {
  SPARING_ASSIGN_OR_RETURN(auto file, OutputFile::open(path, {"[", "\n]\n"}));
  return std::unique_ptr<RecordSink>(std::make_unique<CocoSink>(std::move(file), run));
}

}  // namespace sparing
