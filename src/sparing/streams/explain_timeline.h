// The timeline of a run, from the reports' times. Private to streams.
#pragma once

#include <filesystem>
#include <set>
#include <vector>

#include "sparing/streams/observers.h"
#include "sparing/streams/trace_writer.h"

namespace sparing {

class ExplainTimeline {
 public:
  // As TraceWriter::create.
  static Result<ExplainTimeline> create(const std::filesystem::path& file,
                                        const ObserverContext& context);
  void add(const CanvasReport& canvas);
  // kOutput: something could not be written.
  Status finish(const WindowReport& window);

 private:
  explicit ExplainTimeline(TraceWriter trace) : trace_(std::move(trace)) {}

  TraceWriter trace_;
  std::vector<std::vector<int>> rows_;        // of each processor, one for each canvas at once
  std::vector<std::vector<double>> free_at_;  // likewise: when the last canvas there ended
  double first_draw_ = -1;                    // of the window
  std::set<int> named_streams_;
};

}  // namespace sparing
