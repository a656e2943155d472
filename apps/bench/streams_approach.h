// What is compared on the clips of streams_clips.h: ways to get boxes for every frame of all
// streams. All use the same network, thresholds and filler.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "streams_clips.h"

namespace sparing::bench {

class Network;

// What the network cost.
struct Spend {
  double cost = 0;      // seconds, by the bench's latency profile
  double measured = 0;  // seconds, as the engine measured them
  std::int64_t inferences = 0;
  std::int64_t pixels = 0;  // of all inputs

  Spend& operator+=(const Spend& other) {
    cost += other.cost;
    measured += other.measured;
    inferences += other.inferences;
    pixels += other.pixels;
    return *this;
  }
};

struct Outcome {
  ClipBoxes boxes;
  Spend spend;
};

class Approach {
 public:
  virtual ~Approach() = default;
  // The series in tables and plots: "whole frames", "tiles", ...
  virtual std::string method() const = 0;
  // Within the method: "384x288, every 3rd".
  virtual std::string settings() const = 0;
  // What the same settings are called on clips of other sizes ("384 wide, every 3rd"; "x0.5, ..."):
  // approaches of different clips that share one are the same choice for a user of mixed streams.
  virtual std::vector<std::string> choices(const Clip&) const { return {settings()}; }
  virtual Result<Outcome> run(const Clip& clip, Network& network) = 0;
};

using Approaches = std::vector<std::unique_ptr<Approach>>;

}  // namespace sparing::bench
