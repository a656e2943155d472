// The sinks behind open_sink(), one file each. Private to io.
#pragma once

#include <filesystem>
#include <memory>

#include "sparing/base/result.h"
#include "sparing/io/sink.h"

namespace sparing {

using OpenSink = Result<std::unique_ptr<ResultSink>> (*)(const std::filesystem::path& path,
                                                         const RunInfo& run,
                                                         const SinkOptions& options);

Result<std::unique_ptr<ResultSink>> open_jsonl_sink(const std::filesystem::path& path,
                                                    const RunInfo& run, const SinkOptions& options);
Result<std::unique_ptr<ResultSink>> open_coco_sink(const std::filesystem::path& path,
                                                   const RunInfo& run, const SinkOptions& options);
Result<std::unique_ptr<ResultSink>> open_mot_sink(const std::filesystem::path& path,
                                                  const RunInfo& run, const SinkOptions& options);
Result<std::unique_ptr<ResultSink>> open_video_sink(const std::filesystem::path& path,
                                                    const RunInfo& run, const SinkOptions& options);

}  // namespace sparing
