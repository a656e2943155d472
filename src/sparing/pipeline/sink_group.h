// The outputs of a run: when one fails, the others are completed, and each says what it holds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sparing/io/sink.h"
#include "sparing/pipeline/detector.h"

namespace sparing {

// Not thread-safe. The sinks are borrowed.
class SinkGroup {
 public:
  // `streams`: of the run; with several, messages name the stream of a frame.
  SinkGroup(std::span<ResultSink* const> sinks, int streams);

  // Gives the frame to every sink, also when one cannot take it, so that the others hold the same
  // frames. The first error, with the frame's number; a sink that failed gets nothing more.
  Status write(const FrameResult& result);
  // Completes all. Once. The first error of a sink that had not failed before.
  Status finish();

  // Whether a sink failed.
  bool failed() const;
  // Whether a sink took a frame.
  bool any_written() const { return any_written_; }
  // What the fullest output holds of the stream.
  HeldResults held(int stream) const;
  // By sink, after finish(): the errors tell what is held.
  std::vector<OutputState> states() const;

 private:
  struct Output {
    ResultSink* sink = nullptr;
    std::optional<Error> error;
    std::map<int, HeldResults> given;  // before it failed
  };

  std::vector<Output> outputs_;
  int streams_ = 1;
  bool any_written_ = false;
};

// The state's error where `error` is of the same output, for it says more; else `error`.
Error with_what_is_held(Error error, std::span<const OutputState> states);

}  // namespace sparing
