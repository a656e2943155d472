// The sinks behind open_sink(), one file each. Private to io.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "sparing/base/result.h"
#include "sparing/io/sink.h"

namespace sparing {

// One record a frame.
class RecordSink : public ResultSink {
 public:
  // Those that were taken, and after an error those that were kept.
  virtual std::int64_t records() const = 0;
};

using OpenSink = Result<std::unique_ptr<RecordSink>> (*)(const std::filesystem::path& path,
                                                         const RunInfo& run,
                                                         const SinkOptions& options);

Result<std::unique_ptr<RecordSink>> open_jsonl_sink(const std::filesystem::path& path,
                                                    const RunInfo& run, const SinkOptions& options);
Result<std::unique_ptr<RecordSink>> open_coco_sink(const std::filesystem::path& path,
                                                   const RunInfo& run, const SinkOptions& options);
Result<std::unique_ptr<RecordSink>> open_mot_sink(const std::filesystem::path& path,
                                                  const RunInfo& run, const SinkOptions& options);
Result<std::unique_ptr<RecordSink>> open_video_sink(const std::filesystem::path& path,
                                                    const RunInfo& run, const SinkOptions& options);

}  // namespace sparing
