// Our own JSON Lines (docs/outputs.md).
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sparing/io/annotation_formats.h"
#include "sparing/io/annotation_json.h"

namespace sparing {
namespace {

class JsonlReader {
 public:
  JsonlReader(const std::string& name, std::optional<std::int64_t> stream)
      : name_(name), wanted_(stream), stream_(stream) {}

  Status line(std::int64_t number, std::string_view text) {
    const std::string thing = "file '" + name_ + "', line " + std::to_string(number);
    SPARING_ASSIGN_OR_RETURN(const nlohmann::json document, parse_json(text, thing));
    if (!document.is_object()) {
      return Error{ErrorCode::kInput, thing, "it is not a JSON object",
                   "give the file that a jsonl output wrote"};
    }
    const JsonRecord record{document, thing, ""};
    SPARING_ASSIGN_OR_RETURN(const std::int64_t schema, record.integer("schema", 1, INT64_MAX));
    if (schema != 1) {
      return record.error("schema", "is " + std::to_string(schema) + ", this version reads 1",
                          "update Sparing");
    }
    SPARING_ASSIGN_OR_RETURN(const bool of_stream, check_stream(record));
    if (!of_stream) return {};
    SPARING_ASSIGN_OR_RETURN(const std::int64_t frame, record.integer("frame", 0, INT64_MAX));
    const auto [entry, is_new] = images_.try_emplace(frame);
    if (!is_new) {
      return record.error("frame", "is " + std::to_string(frame) + " a second time",
                          "give the output of one run");
    }
    return detections(record, entry->second);
  }

  Result<DetectionSet> take() {
    if (wanted_ && !streams_.contains(*wanted_)) {
      std::string there;
      for (const std::int64_t stream : streams_)
        there += (there.empty() ? "" : ", ") + std::to_string(stream);
      return Error{ErrorCode::kInput, "file '" + name_ + "'",
                   "it has no line of stream " + std::to_string(*wanted_), "there are: " + there};
    }
    DetectionSet set;
    set.labels = std::move(labels_);
    set.images = in_order<ImageDetections>(images_, &ImageDetections::detections);
    return set;
  }

 private:
  // Whether the line is to be read.
  Result<bool> check_stream(const JsonRecord& record) {
    std::int64_t stream = 0;
    if (record.has("stream")) {
      SPARING_ASSIGN_OR_RETURN(stream, record.integer("stream", 0, INT64_MAX));
    }
    streams_.insert(stream);
    if (wanted_) return stream == *wanted_;
    if (stream_.value_or(stream) != stream) {
      return record.error("stream",
                          "is " + std::to_string(stream) + " after " + std::to_string(*stream_),
                          "name one with --stream");
    }
    stream_ = stream;
    return true;
  }

  Status detections(const JsonRecord& frame, std::vector<Detection>& target) {
    SPARING_ASSIGN_OR_RETURN(const nlohmann::json* list, frame.array("detections"));
    target.reserve(list->size());
    for (std::size_t i = 0; i < list->size(); ++i) {
      SPARING_ASSIGN_OR_RETURN(const JsonRecord record, frame.element("detections", *list, i));
      SPARING_ASSIGN_OR_RETURN(const std::int64_t id, record.integer("class", 0, kMaxClassId));
      SPARING_ASSIGN_OR_RETURN(const double score, record.number("score", 0, 1));
      SPARING_ASSIGN_OR_RETURN(const auto b, record.four("box"));
      if (b[2] < b[0] || b[3] < b[1]) {
        return record.error("box", "has its corners swapped", "give [x0, y0, x1, y1]");
      }
      SPARING_RETURN_IF_ERROR(label(record, static_cast<std::size_t>(id)));
      target.push_back({{static_cast<float>(b[0]), static_cast<float>(b[1]),
                         static_cast<float>(b[2]), static_cast<float>(b[3])},
                        static_cast<float>(score),
                        static_cast<int>(id)});
    }
    return {};
  }

  Status label(const JsonRecord& record, std::size_t id) {
    if (!record.has("label")) return {};
    SPARING_ASSIGN_OR_RETURN(std::string label, record.string("label"));
    if (labels_.size() <= id) labels_.resize(id + 1);
    if (!labels_[id].empty() && labels_[id] != label) {
      return record.error("label",
                          "is " + in_quotes(label) + " where class " + std::to_string(id) +
                              " was " + in_quotes(labels_[id]) + " before",
                          "give the output of one run");
    }
    labels_[id] = std::move(label);
    return {};
  }

  const std::string& name_;
  const std::optional<std::int64_t> wanted_;
  std::optional<std::int64_t> stream_;
  std::set<std::int64_t> streams_;
  std::map<std::int64_t, std::vector<Detection>> images_;
  std::vector<std::string> labels_;
};

}  // namespace

Result<DetectionSet> parse_jsonl_detections(std::string_view text, const std::string& name,
                                            std::optional<std::int64_t> stream) {
  JsonlReader reader(name, stream);
  SPARING_RETURN_IF_ERROR(for_each_line(
      text, [&](std::int64_t number, std::string_view line) { return reader.line(number, line); }));
  return reader.take();
}

}  // namespace sparing
