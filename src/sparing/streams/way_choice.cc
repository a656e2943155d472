#include "sparing/streams/way_choice.h"

#include <cstddef>
#include <vector>

#include "sparing/packing/multiple_choice.h"

namespace sparing {

Status choose_ways(std::span<StreamState* const> streams, const WayCosts& costs, double budget) {
  if (streams.empty()) return {};
  double frames = 0;
  double next_frames = 0;
  for (const StreamState* stream : streams) {
    frames += static_cast<double>(stream->frames.size());
    next_frames += stream->window_frames();
  }
  budget *= next_frames / frames;
  std::vector<StreamChoices> choices(streams.size());
  std::vector<std::size_t> picked(streams.size());
  // Each for itself; whether all that together fits.
  const auto pick_best = [&](bool tight) {
    double cost = 0;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      const WayPlanner& planner = streams[i]->planner;
      choices[i] = planner.choices(costs, streams[i]->window_frames(), tight);
      picked[i] = planner.best(choices[i]);
      cost += choices[i].choices[picked[i]].cost;
    }
    return cost <= budget;
  };
  const bool tight = !pick_best(false);
  if (tight && !pick_best(true)) {
    const auto most = most_recall(choices, budget);
    if (most.ok()) picked.assign(most->choice.begin(), most->choice.end());
  }
  // Only now: a stream that leaves a way loses what it knew for that.
  for (std::size_t i = 0; i < streams.size(); ++i) {
    SPARING_RETURN_IF_ERROR(streams[i]->choose(choices[i].choices[picked[i]], tight));
  }
  return {};
}

}  // namespace sparing
