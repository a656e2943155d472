#include "sparing/metrics/perceptual.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "sparing/metrics/correlation.h"

namespace sparing {
namespace {

using internal::kColumnBlock;
using internal::kRowBlock;

constexpr float kLowest = -std::numeric_limits<float>::infinity();
// A tile of columns stays in the second-level cache while all rows of a task pass by.
constexpr std::size_t kTileBytes = std::size_t{128} << 10;
constexpr int kTasks = 16;
// Below this, all cells of the other frame look the same, and the ratio would be one of rounding
// errors.
constexpr double kLeastContrast = 1e-5;

struct CellGroup {
  int label = 0;
  std::size_t begin = 0, end = 0;  // of the blocks
};

// A frame's cells that count, as unit vectors in blocks: class by class, each class filled up to
// whole blocks with its last cell, which changes no maximum.
struct Cells {
  int channels = 0;
  int block = 0;               // cells of a block
  std::vector<float> vectors;  // as correlation.h has it
  std::vector<CellGroup> groups;
  std::vector<char> counts;  // by position: whether the cell is no filling
  std::vector<double> mean;  // of the unit vectors that count, by channel
  std::size_t number = 0;    // of cells that count

  std::size_t positions() const { return counts.size(); }
  std::size_t block_floats() const {
    return static_cast<std::size_t>(block) * static_cast<std::size_t>(channels);
  }
  float at(std::size_t position, int channel) const {
    const auto size = static_cast<std::size_t>(block);
    return vectors[position / size * block_floats() + static_cast<std::size_t>(channel) * size +
                   position % size];
  }
};

Status check(const LabelledFeatures& frame, const LabelClasses& classes, const char* what) {
  const FeatureView& f = frame.features;
  const auto invalid = [&](std::string problem, std::string fix) {
    return Error{ErrorCode::kInvalidArgument, "features of " + std::string(what),
                 std::move(problem), std::move(fix)};
  };
  if (f.channels < 1 || f.size.width < 1 || f.size.height < 1) {
    return invalid("are empty", "give at least one channel and cell");
  }
  const std::size_t needed = static_cast<std::size_t>(f.channels) *
                             static_cast<std::size_t>(f.size.width) *
                             static_cast<std::size_t>(f.size.height);
  if (f.values.size() != needed) {
    return invalid("are " + std::to_string(f.values.size()) + " values",
                   "give channels * width * height, " + std::to_string(needed));
  }
  if (!std::all_of(f.values.begin(), f.values.end(), [](float v) { return std::isfinite(v); })) {
    return invalid("are not finite", "give finite numbers");
  }
  return classes.check(frame.labels, "labels of " + std::string(what));
}

// The label under the centre of each cell.
std::vector<std::uint8_t> cell_labels(const LabelledFeatures& frame) {
  const Size cells = frame.features.size;
  const Size pixels = frame.labels.size;
  // In whole numbers: floor((2 i + 1) / (2 cells) * pixels).
  const auto under = [](int i, int count, int extent) {
    return static_cast<std::size_t>((2 * std::int64_t{i} + 1) * extent / (2 * std::int64_t{count}));
  };
  std::vector<std::uint8_t> labels;
  labels.reserve(static_cast<std::size_t>(cells.width) * static_cast<std::size_t>(cells.height));
  for (int y = 0; y < cells.height; ++y) {
    const auto row = frame.labels.row(static_cast<int>(under(y, cells.height, pixels.height)));
    for (int x = 0; x < cells.width; ++x)
      labels.push_back(row[under(x, cells.width, pixels.width)]);
  }
  return labels;
}

Cells make_cells(const LabelledFeatures& frame, const LabelClasses& classes, int block) {
  const FeatureView& f = frame.features;
  const std::vector<std::uint8_t> labels = cell_labels(frame);
  const auto size = static_cast<std::size_t>(block);
  Cells cells;
  cells.channels = f.channels;
  cells.block = block;
  std::vector<std::size_t> order;  // cell by position
  for (int c = 0; c < classes.count(); ++c) {
    if (!classes.is_class(static_cast<std::uint8_t>(c))) continue;
    const std::size_t begin = order.size();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == c) order.push_back(i);
    }
    if (order.size() == begin) continue;
    cells.number += order.size() - begin;
    cells.counts.resize(order.size(), 1);
    while (order.size() % size != 0) order.push_back(order.back());
    cells.counts.resize(order.size(), 0);
    cells.groups.push_back({c, begin / size, order.size() / size});
  }
  const std::size_t pixels = labels.size();
  cells.vectors.resize(order.size() * static_cast<std::size_t>(f.channels));
  cells.mean.resize(static_cast<std::size_t>(f.channels));
  for (std::size_t position = 0; position < order.size(); ++position) {
    const float* value = f.values.data() + order[position];
    double square = 0;
    for (int c = 0; c < f.channels; ++c) {
      const double v = value[static_cast<std::size_t>(c) * pixels];
      square += v * v;
    }
    const double scale = square > 0 ? 1 / std::sqrt(square) : 0;
    float* target = cells.vectors.data() + position / size * cells.block_floats() + position % size;
    for (int c = 0; c < f.channels; ++c) {
      const auto channel = static_cast<std::size_t>(c);
      const auto unit = static_cast<float>(value[channel * pixels] * scale);
      target[channel * size] = unit;
      if (cells.counts[position] != 0) cells.mean[channel] += unit;
    }
  }
  for (double& value : cells.mean)
    value /= static_cast<double>(std::max<std::size_t>(cells.number, 1));
  return cells;
}

// By position: the highest correlation with any cell of the other frame, and with one of its class.
struct Best {
  std::vector<float> all, same;
  explicit Best(std::size_t positions) : all(positions, kLowest), same(positions, kLowest) {}
};

void raise(std::vector<float>& to, const std::vector<float>& values) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], values[i]);
}

// One block of rows against blocks of columns of one class.
struct TileJob {
  std::size_t row_block;
  std::size_t column_begin, column_end;  // blocks
  bool same_class;
};

void compare(const Cells& rows, const Cells& columns, const TileJob& tile, Best& row_best,
             Best& column_best) {
  float best[kRowBlock];
  std::fill(best, best + kRowBlock, kLowest);
  const std::size_t column = tile.column_begin * kColumnBlock;
  internal::CorrelationJob job;
  job.channels = rows.channels;
  job.rows = rows.vectors.data() + tile.row_block * rows.block_floats();
  job.columns = columns.vectors.data() + tile.column_begin * columns.block_floats();
  job.column_blocks = static_cast<int>(tile.column_end - tile.column_begin);
  job.row_best = best;
  // Cells of the same class are counted into `all` when all is done: max(same, all).
  job.column_best = (tile.same_class ? column_best.same : column_best.all).data() + column;
  internal::raise_to_correlations(job);
  std::vector<float>& target = tile.same_class ? row_best.same : row_best.all;
  for (std::size_t r = 0; r < kRowBlock; ++r) {
    float& value = target[tile.row_block * kRowBlock + r];
    value = std::max(value, best[r]);
  }
}

// Rows of the blocks [begin, end) against all columns.
void compare_rows(const Cells& rows, const Cells& columns, std::size_t begin, std::size_t end,
                  Best& row_best, Best& column_best) {
  const std::size_t tile =
      std::max<std::size_t>(1, kTileBytes / (columns.block_floats() * sizeof(float)));
  for (const CellGroup& group : columns.groups) {
    for (std::size_t first = group.begin; first < group.end; first += tile) {
      const std::size_t last = std::min(first + tile, group.end);
      for (const CellGroup& own : rows.groups) {
        for (std::size_t b = std::max(own.begin, begin); b < std::min(own.end, end); ++b) {
          compare(rows, columns, {b, first, last, own.label == group.label}, row_best, column_best);
        }
      }
    }
  }
}

double mean_consistency(const Cells& cells, const Cells& others, const Best& best) {
  double sum = 0;
  for (std::size_t i = 0; i < cells.positions(); ++i) {
    if (cells.counts[i] == 0) continue;
    double mean = 0;
    for (int c = 0; c < cells.channels; ++c) {
      mean += cells.at(i, c) * others.mean[static_cast<std::size_t>(c)];
    }
    const bool there = best.same[i] > kLowest;
    const double same = there ? best.same[i] : 0;
    const double highest = std::max(best.all[i], best.same[i]);
    const double contrast = highest - mean;
    sum += contrast > kLeastContrast ? (same - mean) / contrast : (there ? 1 : 0);
  }
  return sum / static_cast<double>(cells.number);
}

}  // namespace

Result<std::optional<PerceptualConsistency>> perceptual_consistency(
    const LabelledFeatures& before, const LabelledFeatures& after, const LabelClasses& classes,
    const std::function<void(int count, const std::function<void(int)>& body)>& parallel_for) {
  SPARING_RETURN_IF_ERROR(check(before, classes, "the frame before"));
  SPARING_RETURN_IF_ERROR(check(after, classes, "the frame"));
  if (before.features.channels != after.features.channels) {
    return Error{ErrorCode::kInvalidArgument, "features of the frame",
                 "have " + std::to_string(after.features.channels) + " channels, those before " +
                     std::to_string(before.features.channels),
                 "extract both alike"};
  }
  const Cells rows = make_cells(before, classes, kRowBlock);
  const Cells columns = make_cells(after, classes, kColumnBlock);
  if (rows.number == 0 || columns.number == 0) return std::optional<PerceptualConsistency>();

  const std::size_t blocks = rows.positions() / kRowBlock;
  const int tasks = static_cast<int>(std::min<std::size_t>(kTasks, blocks));
  Best row_best(rows.positions());
  // Rows are of one task each, columns of all.
  std::vector<Best> column_bests(static_cast<std::size_t>(tasks), Best(columns.positions()));
  const std::function<void(int)> body = [&](int task) {
    const auto t = static_cast<std::size_t>(task);
    const auto n = static_cast<std::size_t>(tasks);
    compare_rows(rows, columns, blocks * t / n, blocks * (t + 1) / n, row_best, column_bests[t]);
  };
  if (parallel_for) {
    parallel_for(tasks, body);
  } else {
    for (int task = 0; task < tasks; ++task) body(task);
  }
  Best column_best(columns.positions());
  for (const Best& part : column_bests) {
    raise(column_best.all, part.all);
    raise(column_best.same, part.same);
  }
  PerceptualConsistency result;
  result.before = mean_consistency(rows, columns, row_best);
  result.after = mean_consistency(columns, rows, column_best);
  result.value = std::min(result.before, result.after);
  return std::optional(result);
}

}  // namespace sparing
