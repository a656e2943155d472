#include "sparing/kernels/class_map_ops.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "sparing/base/check.h"
#include "sparing/kernels/class_map_simd.h"

namespace sparing {
namespace {

using internal::class_kernels;
using internal::ClassLines;
using internal::ColumnTable;
using internal::kClassLanes;

constexpr int kBandRows = 32;
constexpr std::ptrdiff_t kBandPixels = 16384;
// Lines of one tile: two rows of all classes.
constexpr int kTileFloats = 32768;

void check_map(const ProbabilityMap& map) {
  SPARING_CHECK(map.classes >= 1 && map.classes <= kMaxClasses);
  SPARING_CHECK(map.size.width >= 0 && map.size.height >= 0);
  SPARING_CHECK(map.values.size() == static_cast<std::size_t>(map.classes) * map.pixels());
}

// Calls body(begin, end) for [0, count) in pieces, or as a whole without threads.
template <class Body>
void in_bands(std::ptrdiff_t count, std::ptrdiff_t band, const ParallelFor& parallel_for,
              const Body& body) {
  const std::ptrdiff_t bands = (count + band - 1) / band;
  if (!parallel_for || bands <= 1) {
    if (count > 0) body(std::ptrdiff_t{0}, count);
    return;
  }
  parallel_for(static_cast<int>(bands),
               [&](int i) { body(i * band, std::min(count, (i + 1) * band)); });
}

// Where output sample `i` of `to` lies among the samples of an axis: half-pixel centres, the edges
// repeated.
struct Tap {
  int first = 0;
  int second = 0;
  float weight = 0;  // of the second
};

Tap tap_at(int i, int from, int to) {
  const double position =
      std::clamp((i + 0.5) * from / to - 0.5, 0.0, static_cast<double>(from - 1));
  Tap tap;
  tap.first = static_cast<int>(position);
  tap.second = std::min(tap.first + 1, from - 1);
  tap.weight = static_cast<float>(position - tap.first);
  return tap;
}

void fill_table(int begin, int columns, int from, int to, ColumnTable& table) {
  table.columns = columns;
  table.padded = (columns + kClassLanes - 1) / kClassLanes * kClassLanes;
  for (int i = 0; i < table.padded; ++i) {
    const Tap tap = tap_at(begin + std::min(i, columns - 1), from, to);
    table.left[i] = tap.first;
    table.right[i] = tap.second;
    table.weight[i] = tap.weight;
  }
}

// The two rows around the present one, already at the output's columns.
class TileLines {
 public:
  TileLines(const ProbabilityMap& map, const ColumnTable& table) : map_(map), table_(table) {}

  // Lines of map row `row`; those of `other` stay.
  ClassLines at(int row, int other) {
    for (int slot = 0; slot < 2; ++slot) {
      if (rows_[slot] == row) return lines(slot);
    }
    const int slot = rows_[0] == other ? 1 : 0;
    rows_[slot] = row;
    const ClassLines made = lines(slot);
    const auto plane = static_cast<std::ptrdiff_t>(map_.pixels());
    const float* const from =
        map_.values.data() + static_cast<std::ptrdiff_t>(row) * map_.size.width;
    class_kernels().sample(table_, from, plane, map_.size.width, map_.classes, made);
    return made;
  }

 private:
  ClassLines lines(int slot) {
    return {data_ + static_cast<std::ptrdiff_t>(slot) * map_.classes * table_.padded,
            table_.padded};
  }

  const ProbabilityMap& map_;
  const ColumnTable& table_;
  int rows_[2] = {-1, -1};
  alignas(64) float data_[kTileFloats];
};

// Calls row(y, x, columns, upper, lower, weight) for the rows [begin, end) of the output, in pieces
// of a tile's columns. Tiles are narrow, so that their lines stay in the L1 cache.
template <class Row>
void for_resized_rows(const ProbabilityMap& map, Size size, std::ptrdiff_t begin,
                      std::ptrdiff_t end, const Row& row) {
  const int fitting = kTileFloats / (2 * map.classes) / kClassLanes * kClassLanes;
  const int tile = std::min(fitting, ColumnTable::kColumns);
  for (int x = 0; x < size.width; x += tile) {
    ColumnTable table;
    fill_table(x, std::min(tile, size.width - x), map.size.width, size.width, table);
    TileLines lines(map, table);
    for (int y = static_cast<int>(begin); y < end; ++y) {
      const Tap tap = tap_at(y, map.size.height, size.height);
      const ClassLines upper = lines.at(tap.first, tap.second);
      const ClassLines lower = lines.at(tap.second, tap.first);
      row(y, x, table.columns, upper, lower, tap.weight);
    }
  }
}

}  // namespace

std::int64_t softmax(ProbabilityMap& map, const ParallelFor& parallel_for) {
  check_map(map);
  std::atomic<std::int64_t> bad{0};
  const auto plane = static_cast<std::ptrdiff_t>(map.pixels());
  in_bands(plane, kBandPixels, parallel_for, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    internal::ScoreChannel channels[kMaxClasses];
    for (int c = 0; c < map.classes; ++c) channels[c] = {map.values.data() + c * plane + begin, c};
    const internal::ScoreTally tally =
        class_kernels().scores({internal::ScoreUse::kExponential, channels, map.classes,
                                map.values.data() + begin, plane, map.classes, end - begin});
    bad += tally.bad;
  });
  return bad;
}

void argmax(const ProbabilityMap& map, LabelMap& labels, const ParallelFor& parallel_for) {
  check_map(map);
  labels.resize(map.size);
  const auto plane = static_cast<std::ptrdiff_t>(map.pixels());
  in_bands(plane, kBandPixels, parallel_for, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    class_kernels().argmax(map.values.data() + begin, plane, map.classes, end - begin,
                           labels.labels.data() + begin);
  });
}

void argmax_resized(const ProbabilityMap& map, Size size, LabelMap& labels,
                    const ParallelFor& parallel_for) {
  if (size == map.size) return argmax(map, labels, parallel_for);
  check_map(map);
  SPARING_CHECK(map.size.width > 0 && map.size.height > 0 && size.width > 0 && size.height > 0);
  labels.resize(size);
  in_bands(size.height, kBandRows, parallel_for, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for_resized_rows(map, size, begin, end,
                     [&](int y, int x, int columns, const ClassLines& upper,
                         const ClassLines& lower, float weight) {
                       class_kernels().argmax_between(upper, lower, weight, map.classes, columns,
                                                      labels.row(y).data() + x);
                     });
  });
}

void resize_bilinear(const ProbabilityMap& map, Size size, ProbabilityMap& out,
                     const ParallelFor& parallel_for) {
  check_map(map);
  SPARING_CHECK(&out != &map);
  SPARING_CHECK(map.size.width > 0 && map.size.height > 0 && size.width > 0 && size.height > 0);
  out.resize(map.classes, size);
  const auto plane = static_cast<std::ptrdiff_t>(out.pixels());
  in_bands(size.height, kBandRows, parallel_for, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for_resized_rows(
        map, size, begin, end,
        [&](int y, int x, int columns, const ClassLines& upper, const ClassLines& lower,
            float weight) {
          float* to = out.values.data() + static_cast<std::ptrdiff_t>(y) * size.width + x;
          for (int c = 0; c < map.classes; ++c, to += plane) {
            class_kernels().between(upper.data + c * upper.stride, lower.data + c * lower.stride,
                                    weight, columns, to);
          }
        });
  });
}

}  // namespace sparing
