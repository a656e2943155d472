#include "sparing/pipeline/sink_group.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sparing {
namespace {

void count(HeldResults& sum, const FrameResult& result) {
  ++sum.frames;
  sum.detections += static_cast<std::int64_t>(result.detections.size());
  for (const BoxTrack& track : result.tracks) ++sum.boxes[static_cast<std::size_t>(track.origin)];
  sum.last_time = result.source.frame.view().timestamp;
}

}  // namespace

SinkGroup::SinkGroup(std::span<ResultSink* const> sinks, int streams) : streams_(streams) {
  for (ResultSink* sink : sinks) {
    outputs_.emplace_back();
    outputs_.back().sink = sink;
  }
}

Status SinkGroup::write(const FrameResult& result) {
  Status first;
  for (Output& output : outputs_) {
    if (output.error) continue;
    Status status = output.sink->write(result);
    if (status.ok()) {
      any_written_ = true;
      count(output.given[result.stream], result);
      continue;
    }
    output.error = std::move(status).error();
    output.error->problem += " (at frame " + std::to_string(result.source.index);
    if (streams_ > 1) output.error->problem += " of stream " + std::to_string(result.stream);
    output.error->problem += ")";
    if (first.ok()) first = *output.error;
  }
  return first;
}

Status SinkGroup::finish() {
  Status first;
  for (Output& output : outputs_) {
    Status status = output.sink->finish();
    if (status.ok() || output.error) continue;
    output.error = std::move(status).error();
    output.error->problem += " (when it was completed)";
    if (first.ok()) first = *output.error;
  }
  return first;
}

bool SinkGroup::failed() const {
  return std::any_of(outputs_.begin(), outputs_.end(), [](const Output& o) { return o.error; });
}

HeldResults SinkGroup::held(int stream) const {
  HeldResults most;
  for (const Output& output : outputs_) {
    std::optional<HeldResults> held = output.sink->held(stream);
    if (!held) {  // what it took, as far as anybody knows
      const auto given = output.given.find(stream);
      if (given != output.given.end()) held = given->second;
    }
    if (held && held->frames > most.frames) most = *held;
  }
  return most;
}

std::vector<OutputState> SinkGroup::states() const {
  std::vector<OutputState> states;
  for (const Output& output : outputs_) {
    OutputState state;
    state.name = output.sink->name();
    bool told = true;
    for (int stream = 0; stream < streams_; ++stream) {
      if (const auto held = output.sink->held(stream)) {
        state.frames += held->frames;
      } else {
        told = false;
        const auto given = output.given.find(stream);
        if (given != output.given.end()) state.frames += given->second.frames;
      }
    }
    state.error = output.error;
    if (state.error && told) {
      std::string& problem = state.error->problem;
      if (problem.ends_with(')')) problem.pop_back();
      problem += "; it holds " + std::to_string(state.frames) + " frames)";
    }
    states.push_back(std::move(state));
  }
  return states;
}

Error with_what_is_held(Error error, std::span<const OutputState> states) {
  for (const OutputState& state : states) {
    if (state.error && state.error->thing == error.thing && state.error->code == error.code) {
      return *state.error;
    }
  }
  return error;
}

}  // namespace sparing
