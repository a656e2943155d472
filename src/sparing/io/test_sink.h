// What the tests of sinks share: results to write, and sinks that must open. Failures are gtest's.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sparing/io/sink.h"

namespace sparing::testing {

inline FrameResult make_result(std::int64_t index, std::vector<Detection> detections,
                               Size size = {64, 48}) {
  auto frame = allocate_frame(PixelFormat::kI420, size);
  EXPECT_TRUE(frame.ok());
  for (int p = 0; p < 3; ++p) {
    const int rows = chroma_extent(size.height, p > 0 ? 1 : 0);
    std::memset(mutable_plane(*frame, p), 128,
                static_cast<std::size_t>(frame->view().planes[p].stride * rows));
  }
  frame->view().timestamp = {index, {1, 25}};
  frame->view().duration = {1, {1, 25}};
  FrameResult result;
  result.source.frame = *frame;
  result.source.index = index;
  result.detections = std::move(detections);
  return result;
}

inline RunInfo run_of(const std::string& source,
                      std::vector<std::string> labels = {"person", "dog"}) {
  RunInfo run;
  run.sources.push_back({});
  run.sources.back().name = source;
  run.labels = std::move(labels);
  run.model = "m";
  run.version = "1";
  return run;
}

inline std::unique_ptr<ResultSink> must_open(const std::filesystem::path& path, const RunInfo& run,
                                             const SinkOptions& options = {}) {
  auto sink = open_sink(path, run, options);
  EXPECT_TRUE(sink.ok()) << sink.error().to_string();
  return sink.ok() ? std::move(*sink) : nullptr;
}

inline const Detection kDog{{1.5f, 2, 10.25f, 20}, 0.87f, 1};

}  // namespace sparing::testing
