#include "sparing/compose/cell_grid.h"

#include <algorithm>
#include <cstddef>

namespace sparing {
namespace {

void add_row(const std::uint8_t* __restrict row, std::uint16_t* __restrict sums, int width) {
  for (int x = 0; x < width; ++x) sums[x] = static_cast<std::uint16_t>(sums[x] + row[x]);
}

void max_row(const std::uint8_t* __restrict row, std::uint8_t* __restrict maxima, int width) {
  for (int x = 0; x < width; ++x) maxima[x] = std::max(maxima[x], row[x]);
}

}  // namespace

Size cell_count(Size size, int factor) {
  return {(size.width + factor - 1) / factor, (size.height + factor - 1) / factor};
}

void cell_means(const std::uint8_t* plane, std::ptrdiff_t stride, Size size, int factor,
                FloatRaster& cells) {
  cells.resize(cell_count(size, factor));
  std::vector<std::uint16_t> sums(static_cast<std::size_t>(size.width));  // 128 * 255 at most
  for (int cy = 0; cy < cells.size.height; ++cy) {
    const int top = cy * factor, rows = std::min(factor, size.height - top);
    std::fill(sums.begin(), sums.end(), std::uint16_t{0});
    for (int y = top; y < top + rows; ++y) add_row(plane + y * stride, sums.data(), size.width);
    float* out = cells.row(cy);
    for (int cx = 0; cx < cells.size.width; ++cx) {
      const int left = cx * factor, columns = std::min(factor, size.width - left);
      unsigned sum = 0;
      for (int x = left; x < left + columns; ++x) sum += sums[static_cast<std::size_t>(x)];
      out[cx] = static_cast<float>(sum) / static_cast<float>(columns * rows);
    }
  }
}

void cell_maxima(const std::uint8_t* plane, std::ptrdiff_t stride, Size size, int factor,
                 ByteRaster& cells) {
  cells.resize(cell_count(size, factor));
  std::vector<std::uint8_t> maxima(static_cast<std::size_t>(size.width));
  for (int cy = 0; cy < cells.size.height; ++cy) {
    const int top = cy * factor, bottom = std::min(top + factor, size.height);
    std::fill(maxima.begin(), maxima.end(), std::uint8_t{0});
    for (int y = top; y < bottom; ++y) max_row(plane + y * stride, maxima.data(), size.width);
    std::uint8_t* out = cells.row(cy);
    for (int cx = 0; cx < cells.size.width; ++cx) {
      const auto first = maxima.begin() + cx * factor;
      out[cx] = *std::max_element(first, first + std::min(factor, size.width - cx * factor));
    }
  }
}

void CellRows::begin(const FloatRaster& cells, int factor, int width) {
  cells_ = &cells;
  factor_ = factor;
  width_ = width;
  for (Expanded& row : rows_) {
    row.row = -1;
    // Whole cells are written, and half a one before the first centre.
    row.values.resize(static_cast<std::size_t>((cells.size.width + 1) * factor));
  }
}

const float* CellRows::expanded(int row) {
  Expanded& kept = rows_[row % 2];
  const int half = factor_ / 2;
  if (kept.row != row) {
    kept.row = row;
    const float* cells = cells_->row(row);
    const int last = cells_->size.width - 1;
    float* out = kept.values.data();
    // The span from the centre of cell i to that of i + 1; the first one begins half a cell before
    // the picture. With a factor of 1 the pixels are the centres themselves.
    const float offset = factor_ % 2 == 0 ? 0.5f : 0.0f;
    const float step = 1.0f / static_cast<float>(factor_);
    for (int i = -1; i <= last; ++i) {
      const float value = cells[std::max(i, 0)];
      const float slope = (cells[std::min(i + 1, last)] - value) * step;
      float* span = out + std::ptrdiff_t{i + 1} * factor_;
      for (int k = 0; k < factor_; ++k) span[k] = value + slope * (static_cast<float>(k) + offset);
    }
  }
  // Pixel 0 lies half a cell (of an odd factor, half rounded up) behind the first span's start.
  return kept.values.data() + (factor_ - half);
}

CellRows::Pair CellRows::at(int y) {
  const double position = (y + 0.5) / factor_ - 0.5;
  const double inside = std::clamp(position, 0.0, static_cast<double>(cells_->size.height - 1));
  const int first = static_cast<int>(inside);
  const int second = std::min(first + 1, cells_->size.height - 1);
  return {expanded(first), expanded(second), static_cast<float>(inside - first)};
}

}  // namespace sparing
