#include "sparing/track/assignment.h"

#include <limits>
#include <numeric>

namespace sparing::track {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

bool pairs(double weight) { return weight > 0; }

struct Group {
  std::vector<int> rows;
  std::vector<int> columns;
};

// Rows and columns that have a way to one another over weights. Groups are independent: no pair
// joins them, so that the best of the whole is the best of each.
class Groups {
 public:
  explicit Groups(const PairWeights& weights)
      : rows_(weights.rows()),
        parent_(static_cast<std::size_t>(weights.rows() + weights.columns())) {
    std::iota(parent_.begin(), parent_.end(), 0);
    for (int r = 0; r < weights.rows(); ++r) {
      for (int c = 0; c < weights.columns(); ++c) {
        if (pairs(weights.at(r, c))) join(r, rows_ + c);
      }
    }
  }

  std::vector<Group> collect() {
    std::vector<Group> groups;
    std::vector<int> group_of(parent_.size(), -1);
    for (int i = 0; i < static_cast<int>(parent_.size()); ++i) {
      int& group = group_of[static_cast<std::size_t>(root(i))];
      if (group < 0) {
        group = static_cast<int>(groups.size());
        groups.emplace_back();
      }
      Group& members = groups[static_cast<std::size_t>(group)];
      if (i < rows_) {
        members.rows.push_back(i);
      } else {
        members.columns.push_back(i - rows_);
      }
    }
    return groups;
  }

 private:
  int root(int i) {
    while (parent_[static_cast<std::size_t>(i)] != i) {
      int& parent = parent_[static_cast<std::size_t>(i)];
      parent = parent_[static_cast<std::size_t>(parent)];
      i = parent;
    }
    return i;
  }
  void join(int a, int b) { parent_[static_cast<std::size_t>(root(a))] = root(b); }

  int rows_;
  std::vector<int> parent_;
};

// One group as a minimum-cost assignment of all its rows. Each row also has a column of its own of
// cost 0, "stays alone", so that no row is forced into a pair that costs others more.
class GroupSolver {
 public:
  GroupSolver(const PairWeights& weights, const Group& group)
      : weights_(weights),
        group_(group),
        rows_(group.rows.size()),
        columns_(group.columns.size()),
        row_price_(rows_ + 1, 0.0),
        column_price_(columns_ + rows_ + 1, 0.0),
        row_of_(columns_ + rows_ + 1, 0) {}

  void solve(std::vector<int>& column_of_row) {
    for (std::size_t row = 1; row <= rows_; ++row) insert(row);
    for (std::size_t column = 1; column <= columns_; ++column) {
      if (row_of_[column] == 0) continue;
      const int r = group_.rows[row_of_[column] - 1];
      const int c = group_.columns[column - 1];
      if (pairs(weights_.at(r, c))) column_of_row[static_cast<std::size_t>(r)] = c;
    }
  }

 private:
  // Rows and columns count from 1; column 0 stands for the row that is being inserted.
  double cost(std::size_t row, std::size_t column) const {
    if (column > columns_) return column - columns_ == row ? 0 : kInfinite;
    const double weight = weights_.at(group_.rows[row - 1], group_.columns[column - 1]);
    return pairs(weight) ? -weight : kInfinite;
  }

  // Finds the cheapest way to give `row` a column, other rows moving along the path, and keeps the
  // prices such that cost - row price - column price is never negative, and 0 on assigned pairs.
  void insert(std::size_t row) {
    const std::size_t all = columns_ + rows_;
    std::vector<double> slack(all + 1, kInfinite);
    std::vector<std::size_t> came_from(all + 1, 0);
    std::vector<char> visited(all + 1, 0);
    row_of_[0] = row;
    std::size_t column = 0;
    while (row_of_[column] != 0) {
      visited[column] = 1;
      const std::size_t current = row_of_[column];
      std::size_t next = 0;
      double least = kInfinite;
      for (std::size_t j = 1; j <= all; ++j) {
        if (visited[j]) continue;
        const double reduced = cost(current, j) - row_price_[current] - column_price_[j];
        if (reduced < slack[j]) {
          slack[j] = reduced;
          came_from[j] = column;
        }
        if (slack[j] < least) {
          least = slack[j];
          next = j;
        }
      }
      // The row's own column is free until it takes it, so there is always a next one.
      for (std::size_t j = 0; j <= all; ++j) {
        if (visited[j]) {
          row_price_[row_of_[j]] += least;
          column_price_[j] -= least;
        } else {
          slack[j] -= least;
        }
      }
      column = next;
    }
    while (column != 0) {
      const std::size_t previous = came_from[column];
      row_of_[column] = row_of_[previous];
      column = previous;
    }
  }

  const PairWeights& weights_;
  const Group& group_;
  std::size_t rows_;
  std::size_t columns_;
  std::vector<double> row_price_;
  std::vector<double> column_price_;
  std::vector<std::size_t> row_of_;  // of each column; 0: free
};

}  // namespace

std::vector<int> assign(const PairWeights& weights) {
  std::vector<int> column_of_row(static_cast<std::size_t>(weights.rows()), -1);
  for (const Group& group : Groups(weights).collect()) {
    if (group.rows.empty() || group.columns.empty()) continue;
    GroupSolver(weights, group).solve(column_of_row);
  }
  return column_of_row;
}

}  // namespace sparing::track
