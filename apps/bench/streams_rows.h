// The table of accuracy and cost, and what follows from it. Plain functions without state.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "streams_approach.h"
#include "streams_clips.h"

namespace sparing::bench {

// One approach on one clip, or the same choice on several.
struct Row {
  std::string clip;  // id; "mixed" for all together
  std::string method;
  std::string settings;
  std::vector<std::string> choices;  // Approach::choices()
  Accuracy accuracy;
  Spend spend;
  std::int64_t frames = 0;

  double ms_per_frame() const {
    return frames > 0 ? spend.cost * 1e3 / static_cast<double>(frames) : 0;
  }
  std::string name() const { return method + ", " + settings; }
};

// The least costly row of a method with at least this AP; null: none.
const Row* cheapest(std::span<const Row> rows, const std::string& method, double least_ap);
// By method and settings; null: none.
const Row* find_row(std::span<const Row> rows, const std::string& method,
                    const std::string& settings);

// Rows of which none other of the same method is at least as accurate and costs less, by cost: the
// curve of a plot.
std::vector<const Row*> pareto(std::span<const Row> rows, const std::string& method);

// How much better another way has to be to count: differences below are noise.
inline constexpr double kNoise = 0.01;
inline constexpr double kCostFactor = 1.1;

// The rows, `own` aside, that beat it: AP above own + kNoise at no more cost, or AP of at least
// own - kNoise at less than own's cost / kCostFactor.
std::vector<const Row*> better_rows(std::span<const Row> rows, const Row& own);

// Each choice that all of the clips have, as one row: costs add up, APs are averaged, clips count
// alike.
std::vector<Row> mixed_rows(std::span<const Row> rows, std::span<const std::string> clips);

// The table, best AP first within each method.
void print_rows(std::span<const Row> rows);

}  // namespace sparing::bench
