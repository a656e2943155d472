#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "sparing/base/check.h"
#include "sparing/packing/canvas_plan.h"

namespace sparing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Budgets are met to this relative precision: sums of costs round.
constexpr double kBudgetSlack = 1e-9;
// Copies of one item, so that counts and areas stay in their types.
constexpr double kMostCopies = 1 << 30;

void check_items(std::span<const CanvasItem> items, std::size_t processors) {
  for (const CanvasItem& item : items) {
    SPARING_CHECK(item.area > 0 && item.cost > 0 && std::isfinite(item.cost));
    SPARING_CHECK(item.processor >= 0 && static_cast<std::size_t>(item.processor) < processors);
  }
}

std::int64_t common_divisor(std::span<const CanvasItem> items) {
  std::int64_t divisor = 0;
  for (const CanvasItem& item : items) divisor = std::gcd(divisor, item.area);
  return std::max<std::int64_t>(divisor, 1);
}

double efficiency(const CanvasItem& item) { return static_cast<double>(item.area) / item.cost; }

// Whether copies of `a` do all that `b` can do, for no more: then b is never needed.
bool makes_needless(const CanvasItem& a, const CanvasItem& b, bool cover) {
  if (a.processor != b.processor) return false;
  if (cover) {  // at least b's area for at most b's cost
    const std::int64_t copies = (b.area + a.area - 1) / a.area;
    return static_cast<double>(copies) * a.cost <= b.cost;
  }
  const double copies = std::floor(b.cost / a.cost);
  return copies * static_cast<double>(a.area) >= static_cast<double>(b.area);
}

// Indices of the items that can be needed, most area per second first, larger ones first of equals:
// large canvases pack better.
std::vector<std::size_t> search_order(std::span<const CanvasItem> items, bool cover) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    const double a = efficiency(items[i]), b = efficiency(items[j]);
    // Sums of the same line through the origin differ in their last bits.
    if (std::abs(a - b) > 1e-12 * std::max(a, b)) return a > b;
    return items[i].area > items[j].area;
  });
  std::vector<std::size_t> kept;
  for (const std::size_t i : order) {
    const bool needless = std::any_of(kept.begin(), kept.end(), [&](std::size_t k) {
      return makes_needless(items[k], items[i], cover);
    });
    if (!needless) kept.push_back(i);
  }
  return kept;
}

// Most area on one processor.
class MostAreaSearch {
 public:
  MostAreaSearch(std::vector<CanvasItem> items, double budget, std::int64_t max_nodes)
      : items_(std::move(items)),
        unit_(common_divisor(items_)),
        max_nodes_(max_nodes),
        counts_(items_.size()),
        best_counts_(items_.size()) {
    for (const CanvasItem& item : items_) {
      limit_ = std::max(limit_, efficiency(item) * budget);
    }
    limit_ = reachable(limit_);
    if (!items_.empty()) visit(0, budget * (1 + kBudgetSlack), 0);
  }

  const std::vector<int>& counts() const { return best_counts_; }
  std::int64_t nodes() const { return nodes_; }
  bool exact() const { return nodes_ <= max_nodes_; }

 private:
  // Sums of areas are multiples of the unit; a little more than computed, for rounding.
  double reachable(double bound) const {
    const auto unit = static_cast<double>(unit_);
    return std::floor(bound * (1 + 2 * kBudgetSlack) / unit) * unit;
  }

  void visit(std::size_t k, double left, std::int64_t area) {
    ++nodes_;
    const CanvasItem& item = items_[k];
    const bool last = k + 1 == items_.size();
    const double next = last ? 0 : efficiency(items_[k + 1]);
    for (int n = static_cast<int>(std::min(left / item.cost, kMostCopies)); n >= 0; --n) {
      const std::int64_t taken = area + n * item.area;
      const double rest = left - n * item.cost;
      // Falls with n, as this item has the most area per second of those left.
      if (reachable(static_cast<double>(taken) + next * rest) <= static_cast<double>(best_)) break;
      counts_[k] = n;
      if (taken > best_) {
        best_ = taken;
        best_counts_ = counts_;
      }
      if (!last && rest > 0) visit(k + 1, rest, taken);
      if (static_cast<double>(best_) >= limit_ || nodes_ > max_nodes_) break;
    }
    counts_[k] = 0;
  }

  std::vector<CanvasItem> items_;
  std::int64_t unit_;
  std::int64_t max_nodes_;
  double limit_ = 0;
  std::vector<int> counts_, best_counts_;
  std::int64_t best_ = 0;
  std::int64_t nodes_ = 0;
};

// Least cost of an area, on all processors together.
class LeastCostSearch {
 public:
  LeastCostSearch(std::vector<CanvasItem> items, std::span<const double> budgets, std::int64_t area,
                  std::int64_t max_nodes)
      : items_(std::move(items)),
        unit_(common_divisor(items_)),
        max_nodes_(max_nodes),
        counts_(items_.size()) {
    for (const double budget : budgets) left_.push_back(budget * (1 + kBudgetSlack));
    best_of_later_.resize(items_.size() + 1);
    for (std::size_t k = items_.size(); k-- > 0;) {
      best_of_later_[k] = best_of_later_[k + 1];
      // Sorted: the first item of a processor is its best.
      auto& ranking = best_of_later_[k];
      std::erase_if(ranking,
                    [&](std::size_t i) { return items_[i].processor == items_[k].processor; });
      ranking.insert(ranking.begin(), k);
    }
    visit(0, (area + unit_ - 1) / unit_ * unit_, 0);
  }

  bool feasible() const { return best_ < kInfinity; }
  bool exact() const { return nodes_ <= max_nodes_; }
  const std::vector<int>& counts() const { return best_counts_; }
  std::int64_t nodes() const { return nodes_; }

 private:
  // The cost of `needed` pixels when items from k on could be cut, processor by processor;
  // infinite when even that is not enough.
  double bound(std::size_t k, std::int64_t needed) const {
    auto open = static_cast<double>(needed);
    double cost = 0;
    for (const std::size_t i : best_of_later_[k]) {
      if (open <= 0) break;
      const CanvasItem& item = items_[i];
      const double left = left_[static_cast<std::size_t>(item.processor)];
      // Whole units only, as all its areas are.
      const auto unit = static_cast<double>(unit_);
      const double most = std::floor(left * efficiency(item) * (1 + kBudgetSlack) / unit) * unit;
      const double share = std::min(open, most);
      cost += share / efficiency(item);
      open -= share;
    }
    return open > 1e-6 * static_cast<double>(unit_) ? kInfinity : cost;
  }

  bool worth(double cost) const { return cost < best_ * (1 - 1e-12); }

  void visit(std::size_t k, std::int64_t needed, double cost) {
    ++nodes_;
    if (needed <= 0) {
      if (worth(cost)) {
        best_ = cost;
        best_counts_ = counts_;
      }
      return;
    }
    if (k == items_.size() || !worth(cost + bound(k, needed))) return;
    const CanvasItem& item = items_[k];
    double& left = left_[static_cast<std::size_t>(item.processor)];
    const double before = left;
    const auto enough = static_cast<double>((needed + item.area - 1) / item.area);
    const double most = std::min({std::floor(left / item.cost), enough, kMostCopies});
    for (int n = static_cast<int>(most); n >= 0 && nodes_ <= max_nodes_; --n) {
      counts_[k] = n;
      left = before - n * item.cost;
      visit(k + 1, needed - n * item.area, cost + n * item.cost);
    }
    left = before;
    counts_[k] = 0;
  }

  std::vector<CanvasItem> items_;
  std::int64_t unit_;
  std::int64_t max_nodes_;
  std::vector<double> left_;                             // budget of each processor
  std::vector<std::vector<std::size_t>> best_of_later_;  // one item a processor, by efficiency
  std::vector<int> counts_, best_counts_;
  double best_ = kInfinity;
  std::int64_t nodes_ = 0;
};

std::vector<CanvasItem> pick(std::span<const CanvasItem> items,
                             const std::vector<std::size_t>& order) {
  std::vector<CanvasItem> picked;
  picked.reserve(order.size());
  for (const std::size_t i : order) picked.push_back(items[i]);
  return picked;
}

void add_counts(KnapsackSolution& solution, std::span<const CanvasItem> items,
                const std::vector<std::size_t>& order, const std::vector<int>& counts) {
  for (std::size_t k = 0; k < order.size(); ++k) {
    const CanvasItem& item = items[order[k]];
    solution.counts[order[k]] = counts[k];
    solution.area += counts[k] * item.area;
    solution.cost += counts[k] * item.cost;
  }
}

}  // namespace

KnapsackSolution most_area(std::span<const CanvasItem> items, std::span<const double> budgets,
                           std::int64_t max_nodes) {
  check_items(items, budgets.size());
  KnapsackSolution solution;
  solution.counts.resize(items.size());
  solution.feasible = true;
  solution.exact = true;
  // Processors do not share budgets: the whole is the sum of their own solutions.
  const std::vector<std::size_t> order = search_order(items, false);
  for (std::size_t p = 0; p < budgets.size(); ++p) {
    SPARING_CHECK(budgets[p] >= 0 && std::isfinite(budgets[p]));
    std::vector<std::size_t> own;
    for (const std::size_t i : order) {
      if (static_cast<std::size_t>(items[i].processor) == p) own.push_back(i);
    }
    const MostAreaSearch search(pick(items, own), budgets[p], max_nodes);
    add_counts(solution, items, own, search.counts());
    solution.nodes += search.nodes();
    solution.exact = solution.exact && search.exact();
  }
  return solution;
}

KnapsackSolution least_cost(std::span<const CanvasItem> items, std::span<const double> budgets,
                            std::int64_t area, std::int64_t max_nodes) {
  check_items(items, budgets.size());
  for (const double budget : budgets) SPARING_CHECK(budget >= 0);
  KnapsackSolution solution;
  solution.counts.resize(items.size());
  const std::vector<std::size_t> order = search_order(items, true);
  const LeastCostSearch search(pick(items, order), budgets, area, max_nodes);
  solution.feasible = search.feasible();
  solution.exact = search.exact();
  solution.nodes = search.nodes();
  if (solution.feasible) add_counts(solution, items, order, search.counts());
  return solution;
}

}  // namespace sparing
