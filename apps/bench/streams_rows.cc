#include "streams_rows.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace sparing::bench {

const Row* cheapest(std::span<const Row> rows, const std::string& method, double least_ap) {
  const Row* best = nullptr;
  for (const Row& row : rows) {
    if (row.method != method || row.accuracy.ap < least_ap) continue;
    if (best == nullptr || row.spend.cost < best->spend.cost) best = &row;
  }
  return best;
}

const Row* find_row(std::span<const Row> rows, const std::string& method,
                    const std::string& settings) {
  for (const Row& row : rows) {
    if (row.method == method && row.settings == settings) return &row;
  }
  return nullptr;
}

std::vector<const Row*> pareto(std::span<const Row> rows, const std::string& method) {
  std::vector<const Row*> by_cost;
  for (const Row& row : rows) {
    if (row.method == method) by_cost.push_back(&row);
  }
  std::stable_sort(by_cost.begin(), by_cost.end(), [](const Row* a, const Row* b) {
    if (a->spend.cost != b->spend.cost) return a->spend.cost < b->spend.cost;
    return a->accuracy.ap > b->accuracy.ap;
  });
  std::vector<const Row*> front;
  for (const Row* row : by_cost) {
    if (front.empty() || row->accuracy.ap > front.back()->accuracy.ap) front.push_back(row);
  }
  return front;
}

std::vector<const Row*> better_rows(std::span<const Row> rows, const Row& own) {
  std::vector<const Row*> better;
  for (const Row& row : rows) {
    if (&row == &own || (row.method == own.method && row.settings == own.settings)) continue;
    const bool more_accurate =
        row.accuracy.ap > own.accuracy.ap + kNoise && row.spend.cost <= own.spend.cost;
    const bool less_costly = row.accuracy.ap >= own.accuracy.ap - kNoise &&
                             row.spend.cost < own.spend.cost / kCostFactor;
    if (more_accurate || less_costly) better.push_back(&row);
  }
  return better;
}

std::vector<Row> mixed_rows(std::span<const Row> rows, std::span<const std::string> clips) {
  using Key = std::pair<std::string, std::string>;  // method, choice
  std::map<Key, std::map<std::string, const Row*>> found;
  for (const Row& row : rows) {
    for (const std::string& choice : row.choices) found[{row.method, choice}][row.clip] = &row;
  }
  std::vector<Row> mixed;
  for (const auto& [key, by_clip] : found) {
    Row sum{"mixed", key.first, key.second, {key.second}, {0, 0}, {}, 0};
    std::size_t count = 0;
    for (const std::string& clip : clips) {
      const auto it = by_clip.find(clip);
      if (it == by_clip.end()) break;
      ++count;
      sum.accuracy.ap += it->second->accuracy.ap / static_cast<double>(clips.size());
      sum.accuracy.f1 += it->second->accuracy.f1 / static_cast<double>(clips.size());
      sum.spend += it->second->spend;
      sum.frames += it->second->frames;
    }
    if (count == clips.size()) mixed.push_back(std::move(sum));
  }
  return mixed;
}

void print_rows(std::span<const Row> rows) {
  std::vector<const Row*> order;
  for (const Row& row : rows) order.push_back(&row);
  std::stable_sort(order.begin(), order.end(), [](const Row* a, const Row* b) {
    if (a->method != b->method) return a->method < b->method;
    return a->spend.cost > b->spend.cost;
  });
  std::printf("%-18s %-30s %7s %7s %10s %10s %8s\n", "method", "settings", "AP@0.5", "F1",
              "ms/frame", "measured", "inputs");
  for (const Row* row : order) {
    const auto frames = static_cast<double>(std::max<std::int64_t>(row->frames, 1));
    std::printf("%-18s %-30s %7.3f %7.3f %10.3f %10.3f %8lld\n", row->method.c_str(),
                row->settings.c_str(), row->accuracy.ap, row->accuracy.f1, row->ms_per_frame(),
                row->spend.measured * 1e3 / frames, static_cast<long long>(row->spend.inferences));
  }
  std::fflush(stdout);
}

}  // namespace sparing::bench
