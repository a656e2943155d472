// The outputs of `sparing segment`: mask files, and pictures with effects or side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "segment_settings.h"
#include "sparing/io/sink.h"
#include "sparing/pipeline/segmenter.h"

namespace sparing::cli {

// What the outputs need to know of the run.
struct SegmentRunInfo {
  RunInfo run;
  ModelManifest manifest;
  SegmentMode mode = SegmentMode::kMain;
};

// One output.
class FrameOutput {
 public:
  virtual ~FrameOutput() = default;
  virtual Status take(SegmentedFrame& frame) = 0;
  virtual Status finish() = 0;
  virtual std::string name() const = 0;
  virtual std::int64_t frames() const = 0;  // taken, and after an error kept
};

// All of them: when one fails, the others get the frame still, so that they hold the same frames.
class SegmentOutputs final : public SegmentConsumer {
 public:
  // Opens --out and --render. kInvalidArgument: unknown labels, effects that do not fit each other
  // or the model; else as open_mask_sink and open_picture_sink.
  static Result<SegmentOutputs> open(const SegmentSettings& settings, const SegmentRunInfo& info);

  Status take(SegmentedFrame& frame) override;
  // Completes those that have a frame. The first error of one that had not failed before.
  Status finish();
  std::vector<OutputState> states() const;
  std::vector<std::string> names() const;

 private:
  struct Output {
    std::unique_ptr<FrameOutput> output;
    std::optional<Error> error;
  };
  std::vector<Output> outputs_;
  bool any_ = false;
};

// --compare: in segment_compare.cc.
Result<std::unique_ptr<FrameOutput>> open_comparison(const SegmentSettings& settings,
                                                     const SegmentRunInfo& info);

}  // namespace sparing::cli
