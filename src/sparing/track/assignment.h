// Which of the rows belongs to which of the columns: maximum-weight matching.
#pragma once

#include <cstddef>
#include <vector>

namespace sparing::track {

// Weights of pairs, row by row. A weight of 0 or less (or NaN) says that the two do not go
// together.
class PairWeights {
 public:
  PairWeights(int rows, int columns)
      : rows_(rows),
        columns_(columns),
        values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0.0) {}

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  double& at(int row, int column) { return values_[index(row, column)]; }
  double at(int row, int column) const { return values_[index(row, column)]; }

 private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
           static_cast<std::size_t>(column);
  }

  int rows_;
  int columns_;
  std::vector<double> values_;
};

// The column of each row, or -1. Each column is given at most once, pairs without weight never, and
// the sum of the weights is the greatest possible (but for rounding). Exact: the Hungarian method
// by shortest augmenting paths (Jonker and Volgenant 1987) on each group of rows and columns that
// are connected by weights. Cubic in the size of the largest group, quadratic in all.
std::vector<int> assign(const PairWeights& weights);

}  // namespace sparing::track
