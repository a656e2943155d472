// How each stream is looked at in a window: one of several ways for each, each with a cost and an
// estimated recall. Packing wins on sparse scenes with small objects, whole frames at a reduced
// scale on dense scenes and large ones (beyond the paper). A multiple-choice knapsack. Plain
// functions without state; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "sparing/base/result.h"

namespace sparing {

enum class DetectWay {
  kPacked,      // regions on shared canvases
  kWholeFrame,  // the whole frame, at a scale
  kTiles,       // a regular grid, at a scale
  kNothing,     // propagation only
};

struct DetectWayInfo {
  DetectWay way;
  std::string_view name;
};

inline constexpr std::array kDetectWays = {
    DetectWayInfo{DetectWay::kPacked, "packed"},
    DetectWayInfo{DetectWay::kWholeFrame, "frame"},
    DetectWayInfo{DetectWay::kTiles, "tiles"},
    DetectWayInfo{DetectWay::kNothing, "nothing"},
};

// One way for one stream and window.
struct StreamChoice {
  DetectWay way = DetectWay::kPacked;
  double scale = 1;   // of whole frames and tiles; of packed regions: a factor on their scales
  int every = 1;      // key frames: every n-th frame is looked at, the others are propagated
  double cost = 0;    // seconds of detector time in the window, >= 0
  double recall = 0;  // estimated share of the objects that are found, 0..1
};

// A stream's ways (at least one) and how much its recall counts, e.g. its number of objects; > 0.
struct StreamChoices {
  std::vector<StreamChoice> choices;
  double weight = 1;
};

struct ChosenWays {
  std::vector<std::size_t> choice;  // index for each stream
  double cost = 0;                  // seconds, summed
  double recall = 0;                // mean by weight, 0..1
  bool met = false;                 // the budget is kept, or the target reached
  bool exact = false;               // proved best; false: rounded as described below
};

// Of the combinations, those that no other beats in both cost and recall are kept stream by stream
// (exact); with more than this many, they are thinned evenly in cost, which forfeits at most the
// cost or recall between neighbours.
inline constexpr std::size_t kChoiceStates = 4096;

// The most recall whose cost is within `budget` seconds (>= 0; infinite: the most there is), at the
// least cost of equal ones. Not met: even the cheapest ways cost more; those are returned.
// O(streams x choices x states), states at most `max_states`.
// kInvalidArgument: a stream without choice, a cost that is negative or not finite, a recall
// outside 0..1, a weight that is not positive and finite, a budget that is negative or NaN.
Result<ChosenWays> most_recall(std::span<const StreamChoices> streams, double budget,
                               std::size_t max_states = kChoiceStates);

// The least cost whose mean recall is at least `target` (0..1), at the most recall of equal ones.
// Not met: not even the best ways reach it; those are returned, the cheapest of them.
Result<ChosenWays> least_cost_for_recall(std::span<const StreamChoices> streams, double target,
                                         std::size_t max_states = kChoiceStates);

}  // namespace sparing
