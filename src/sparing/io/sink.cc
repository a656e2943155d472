#include "sparing/io/sink.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <deque>
#include <exception>
#include <map>
#include <utility>

#include "sparing/io/file.h"
#include "sparing/io/output_file.h"
#include "sparing/io/sinks.h"

namespace sparing {
namespace {

// More than the frames that a sink buffers, and can lose.
constexpr std::size_t kLoggedFrames = 4096;

// What was given to a sink, so that what it lost can be taken off again.
class FrameLog {
 public:
  void add(const FrameResult& result) {
    Entry entry;
    entry.stream = result.stream;
    entry.detections = static_cast<std::int64_t>(result.detections.size());
    for (const BoxTrack& track : result.tracks)
      ++entry.boxes[static_cast<std::size_t>(track.origin)];
    entry.time = result.source.frame.view().timestamp;
    count(totals_[entry.stream], entry, 1);
    totals_[entry.stream].last_time = entry.time;
    ++frames_;
    last_.push_back(entry);
    if (last_.size() > kLoggedFrames) last_.pop_front();
  }

  // When so many frames, the first ones, are left of all.
  HeldResults held(int stream, std::int64_t frames) const {
    const auto total = totals_.find(stream);
    if (total == totals_.end() || frames == 0) return {};
    HeldResults held = total->second;
    std::int64_t left = frames_;
    auto entry = last_.rbegin();
    for (; entry != last_.rend() && left > frames; ++entry, --left) {
      if (entry->stream == stream) count(held, *entry, -1);
    }
    if (held.frames == total->second.frames) return held;
    held.last_time.reset();
    for (; entry != last_.rend() && !held.last_time; ++entry) {
      if (entry->stream == stream) held.last_time = entry->time;
    }
    return held;
  }

 private:
  struct Entry {
    int stream = 0;
    std::int64_t detections = 0;
    std::array<std::int64_t, kBoxOrigins> boxes{};
    Timestamp time;
  };

  static void count(HeldResults& sum, const Entry& entry, std::int64_t sign) {
    sum.frames += sign;
    sum.detections += sign * entry.detections;
    for (std::size_t i = 0; i < sum.boxes.size(); ++i) sum.boxes[i] += sign * entry.boxes[i];
  }

  std::map<int, HeldResults> totals_;  // by stream
  std::deque<Entry> last_;
  std::int64_t frames_ = 0;
};

// What holds for every sink, whatever its format.
class CheckedSink final : public ResultSink {
 public:
  explicit CheckedSink(std::unique_ptr<RecordSink> sink) : sink_(std::move(sink)) {}

  Status write(const FrameResult& result) override {
    for (const Detection& d : result.detections) {
      if (is_finite(d.box) && std::isfinite(d.score)) continue;
      return Error{ErrorCode::kInvalidArgument,
                   "frame " + std::to_string(result.source.index) + " for '" + name() + "'",
                   "a box or score is not a finite number", "drop such detections before"};
    }
    if (!result.tracks.empty() && result.tracks.size() != result.detections.size()) {
      return Error{ErrorCode::kInvalidArgument,
                   "frame " + std::to_string(result.source.index) + " for '" + name() + "'",
                   std::to_string(result.tracks.size()) + " tracks for " +
                       std::to_string(result.detections.size()) + " detections",
                   "give one for each, or none"};
    }
    SPARING_RETURN_IF_ERROR(sink_->write(result));
    log_.add(result);
    return {};
  }
  Status finish() override { return sink_->finish(); }
  std::string name() const override { return sink_->name(); }
  std::optional<HeldResults> held(int stream) const override {
    return log_.held(stream, sink_->records());
  }

 private:
  std::unique_ptr<RecordSink> sink_;
  FrameLog log_;
};

struct SinkRow {
  SinkFormat format;
  OpenSink open;
  bool to_stdout;     // can be written to a pipe
  bool many_streams;  // its records name the stream
};
constexpr std::array<SinkRow, 4> kSinks{{
    {{"jsonl", "jsonl", "JSON Lines, one object a frame"}, open_jsonl_sink, true, true},
    {{"coco", "json", "COCO results, a JSON array"}, open_coco_sink, true, false},
    {{"mot", "txt", "MOT Challenge text"}, open_mot_sink, true, false},
    {{"video", "mp4", "H.264 video with boxes and labels"}, open_video_sink, false, false},
}};

constexpr auto kFormats = [] {
  std::array<SinkFormat, kSinks.size()> formats{};
  for (std::size_t i = 0; i < kSinks.size(); ++i) formats[i] = kSinks[i].format;
  return formats;
}();

std::string list_of(std::string_view SinkFormat::* field, const char* prefix) {
  std::string text;
  for (const SinkFormat& format : kFormats) {
    text += (text.empty() ? "" : ", ") + (prefix + std::string(format.*field));
  }
  return text;
}

Result<const SinkRow*> find_sink(const std::filesystem::path& path, const SinkOptions& options) {
  if (!options.format.empty()) {
    for (const SinkRow& row : kSinks) {
      if (row.format.name == options.format) return &row;
    }
    return Error{ErrorCode::kInvalidArgument, "output format '" + options.format + "'",
                 "there is no such format", "give one of " + list_of(&SinkFormat::name, "")};
  }
  if (path == "-" || own_descriptor(path)) return &kSinks.front();
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const SinkRow& row : kSinks) {
    if (extension == "." + std::string(row.format.extension)) return &row;
  }
  return Error{
      ErrorCode::kInvalidArgument, "output '" + path.string() + "'",
      extension.empty() ? "its name has no extension to tell the format"
                        : "no format has the extension " + extension,
      "name it with one of " + list_of(&SinkFormat::extension, ".") + ", or choose a format"};
}

Status check(const SinkRow& row, const std::filesystem::path& path, const RunInfo& run,
             const SinkOptions& options) {
  const std::string format = "format '" + std::string(row.format.name) + "'";
  if (path.empty()) {
    return Error{ErrorCode::kInvalidArgument, "output ''", "the name is empty", "give a file name"};
  }
  if (path == "-" && !row.to_stdout) {
    return Error{ErrorCode::kInvalidArgument, format, "it cannot be written to standard output",
                 "give a file name"};
  }
  if (!row.many_streams && run.sources.size() > 1) {
    return Error{ErrorCode::kInvalidArgument, format,
                 "it holds one input, but there are " + std::to_string(run.sources.size()),
                 "use jsonl, or run the inputs one by one"};
  }
  if (options.video_crf < 0 || options.video_crf > 51) {
    return Error{ErrorCode::kInvalidArgument, "video_crf",
                 std::to_string(options.video_crf) + " is out of range",
                 "give a value from 0 to 51"};
  }
  return check_not_an_input(path, run.sources);
}

}  // namespace

std::span<const SinkFormat> sink_formats() { return kFormats; }

Result<std::unique_ptr<ResultSink>> open_sink(const std::filesystem::path& path, const RunInfo& run,
                                              const SinkOptions& options) {
  try {
    if (own_descriptor(path) == STDOUT_FILENO) return open_sink("-", run, options);
    SPARING_ASSIGN_OR_RETURN(const SinkRow* row, find_sink(path, options));
    SPARING_RETURN_IF_ERROR(check(*row, path, run, options));
    SPARING_ASSIGN_OR_RETURN(auto sink, row->open(path, run, options));
    return std::unique_ptr<ResultSink>(std::make_unique<CheckedSink>(std::move(sink)));
  } catch (const std::exception& e) {
    return Error{ErrorCode::kOutput, "output '" + path.string() + "'", e.what(), "check the path"};
  }
}

}  // namespace sparing
