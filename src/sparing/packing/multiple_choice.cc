#include "sparing/packing/multiple_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace sparing {
namespace {

// Sums round: budgets and targets are met to this relative precision.
constexpr double kSlack = 1e-9;

// A combination of the streams so far that no other beats.
struct State {
  double cost;
  double gain;             // sum of weight x recall
  std::uint32_t previous;  // index among the states one stream before
  std::uint32_t choice;
};

Error bad_choice(std::size_t stream, const std::string& problem, const std::string& fix) {
  return {ErrorCode::kInvalidArgument, "choices of stream " + std::to_string(stream), problem, fix};
}

Status check_stream(const StreamChoices& stream, std::size_t index) {
  if (stream.choices.empty()) return bad_choice(index, "none given", "give at least one");
  if (!(stream.weight > 0 && std::isfinite(stream.weight))) {
    return bad_choice(index, "weight " + std::to_string(stream.weight), "give a weight above 0");
  }
  for (const StreamChoice& choice : stream.choices) {
    if (!(choice.cost >= 0 && std::isfinite(choice.cost))) {
      return bad_choice(index, "cost " + std::to_string(choice.cost) + " s", "give 0 or more");
    }
    if (!(choice.recall >= 0 && choice.recall <= 1)) {
      return bad_choice(index, "recall " + std::to_string(choice.recall), "give 0 to 1");
    }
  }
  return ok_status();
}

// Ascending cost; of equal costs the most gain first.
bool before(const State& a, const State& b) {
  return a.cost != b.cost ? a.cost < b.cost : a.gain > b.gain;
}

// Keeps those with more gain than all cheaper ones. Precondition: sorted by `before`.
void keep_unbeaten(std::vector<State>& states) {
  std::size_t kept = 0;
  double most = -1;
  for (const State& state : states) {
    if (state.gain <= most) continue;
    most = state.gain;
    states[kept++] = state;
  }
  states.resize(kept);
}

class Combinations {
 public:
  Combinations(std::span<const StreamChoices> streams, std::size_t max_states)
      : max_states_(std::max<std::size_t>(max_states, 2)) {
    layers_.push_back({{0, 0, 0, 0}});
    for (const StreamChoices& stream : streams) {
      total_weight_ += stream.weight;
      add(stream);
    }
  }

  const std::vector<State>& states() const { return layers_.back(); }

  ChosenWays trace(std::size_t index) const {
    ChosenWays ways;
    ways.exact = exact_;
    ways.cost = states()[index].cost;
    ways.recall = layers_.size() > 1 ? states()[index].gain / total_weight_ : 1;
    ways.choice.resize(layers_.size() - 1);
    for (std::size_t layer = layers_.size() - 1; layer > 0; --layer) {
      const State& state = layers_[layer][index];
      ways.choice[layer - 1] = state.choice;
      index = state.previous;
    }
    return ways;
  }

  double total_weight() const { return total_weight_; }

 private:
  void add(const StreamChoices& stream) {
    // Each choice shifts the sorted states: sorted runs, merged one after the other.
    const std::vector<State>& from = layers_.back();
    std::vector<State> all;
    all.reserve(from.size() * stream.choices.size());
    for (std::size_t c = 0; c < stream.choices.size(); ++c) {
      const std::size_t middle = all.size();
      for (std::size_t i = 0; i < from.size(); ++i) {
        all.push_back({from[i].cost + stream.choices[c].cost,
                       from[i].gain + stream.weight * stream.choices[c].recall,
                       static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(c)});
      }
      const auto split = all.begin() + static_cast<std::ptrdiff_t>(middle);
      std::inplace_merge(all.begin(), split, all.end(), before);
      keep_unbeaten(all);
    }
    thin(all);
    layers_.push_back(std::move(all));
  }

  // The first and last stay; in between the best of each slice of cost.
  void thin(std::vector<State>& states) {
    if (states.size() <= max_states_) return;
    exact_ = false;
    const double low = states.front().cost;
    const double span = states.back().cost - low;
    const auto slices = static_cast<double>(max_states_ - 1);
    const auto slice_of = [&](const State& state) {
      return std::ceil((state.cost - low) / span * slices);
    };
    std::size_t kept = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const bool last = i + 1 == states.size() || slice_of(states[i + 1]) != slice_of(states[i]);
      if (last) states[kept++] = states[i];
    }
    states.resize(kept);
  }

  std::size_t max_states_;
  std::vector<std::vector<State>> layers_;
  double total_weight_ = 0;
  bool exact_ = true;
};

Status check_streams(std::span<const StreamChoices> streams) {
  for (std::size_t i = 0; i < streams.size(); ++i) {
    SPARING_RETURN_IF_ERROR(check_stream(streams[i], i));
  }
  return ok_status();
}

}  // namespace

Result<ChosenWays> most_recall(std::span<const StreamChoices> streams, double budget,
                               std::size_t max_states) {
  SPARING_RETURN_IF_ERROR(check_streams(streams));
  if (!(budget >= 0)) {
    return Error{ErrorCode::kInvalidArgument, "budget", std::to_string(budget) + " s",
                 "give 0 or more"};
  }
  const Combinations combinations(streams, max_states);
  const std::vector<State>& states = combinations.states();
  std::size_t best = 0;
  const double most = budget * (1 + kSlack);
  while (best + 1 < states.size() && states[best + 1].cost <= most) ++best;
  ChosenWays ways = combinations.trace(best);
  ways.met = ways.cost <= most;
  return ways;
}

Result<ChosenWays> least_cost_for_recall(std::span<const StreamChoices> streams, double target,
                                         std::size_t max_states) {
  SPARING_RETURN_IF_ERROR(check_streams(streams));
  if (!(target >= 0 && target <= 1)) {
    return Error{ErrorCode::kInvalidArgument, "target recall", std::to_string(target),
                 "give 0 to 1"};
  }
  const Combinations combinations(streams, max_states);
  const std::vector<State>& states = combinations.states();
  const double needed = target * combinations.total_weight() * (1 - kSlack);
  std::size_t best = 0;
  while (best + 1 < states.size() && states[best].gain < needed) ++best;
  ChosenWays ways = combinations.trace(best);
  ways.met = states[best].gain >= needed;
  return ways;
}

}  // namespace sparing
