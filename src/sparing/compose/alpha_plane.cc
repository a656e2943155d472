#include "sparing/compose/alpha_plane.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace sparing {
namespace {

// The part of the mask that covers the picture.
Rect covered(const MaskView& mask) {
  if (!mask.region.empty()) return mask.region;
  return {0, 0, static_cast<double>(mask.size.width), static_cast<double>(mask.size.height)};
}

// Two neighbours of a position in samples whose centres are at whole numbers.
struct Neighbours {
  int first, second;
  float weight;  // of the second
};
Neighbours neighbours(double position, int count) {
  const double inside = std::clamp(position, 0.0, static_cast<double>(count - 1));
  const int first = static_cast<int>(inside);
  return {first, std::min(first + 1, count - 1), static_cast<float>(inside - first)};
}

}  // namespace

Status validate(const MaskView& mask) {
  const std::string size = std::to_string(mask.size.width) + "x" + std::to_string(mask.size.height);
  if (mask.size.width < 1 || mask.size.height < 1) {
    return Error{ErrorCode::kInvalidArgument, "mask of the foreground", size + " has no pixels",
                 "give a mask"};
  }
  const std::size_t needed =
      static_cast<std::size_t>(mask.size.width) * static_cast<std::size_t>(mask.size.height);
  const std::size_t given = mask.bytes.empty() ? mask.floats.size() : mask.bytes.size();
  if (given != needed) {
    return Error{ErrorCode::kInvalidArgument, "mask of the foreground",
                 std::to_string(given) + " values for " + size, "give " + std::to_string(needed)};
  }
  const Rect& r = mask.region;
  if (!is_finite(r) || r.width < 0 || r.height < 0 ||
      (!r.empty() &&
       (r.x < 0 || r.y < 0 || r.right() > mask.size.width || r.bottom() > mask.size.height))) {
    return Error{ErrorCode::kInvalidArgument, "region of the foreground's mask",
                 "it reaches outside " + size, "keep it inside, or leave it out"};
  }
  return {};
}

void MaskSampler::prepare(const MaskView& mask, double step, double first, int count) {
  columns_.resize(static_cast<std::size_t>(count));
  for (int x = 0; x < count; ++x) {
    const Neighbours n = neighbours(first + x * step, mask.size.width);
    columns_[static_cast<std::size_t>(x)] = {n.first, n.second, n.weight};
  }
  for (Expanded& row : rows_) {
    row.row = -1;
    row.values.resize(columns_.size());
  }
}

const float* MaskSampler::expanded(const MaskView& mask, int row, float scale) {
  // Rows come in ascending order, two at a time: one of each parity is needed at once.
  Expanded& kept = rows_[static_cast<std::size_t>(row % 2)];
  if (kept.row == row) return kept.values.data();
  kept.row = row;
  const auto width = static_cast<std::size_t>(mask.size.width);
  values_.resize(width);
  const std::size_t begin = static_cast<std::size_t>(row) * width;
  if (!mask.bytes.empty()) {
    const float factor = scale / 255;
    for (std::size_t x = 0; x < width; ++x) {
      values_[x] = static_cast<float>(mask.bytes[begin + x]) * factor;
    }
  } else {
    for (std::size_t x = 0; x < width; ++x) {
      const float value = mask.floats[begin + x];
      values_[x] = value > 0 ? std::min(value, 1.0f) * scale : 0;  // NaN too is not above 0
    }
  }
  for (std::size_t x = 0; x < columns_.size(); ++x) {
    const Column& column = columns_[x];
    const float left = values_[static_cast<std::size_t>(column.left)];
    const float right = values_[static_cast<std::size_t>(column.right)];
    kept.values[x] = left + (right - left) * column.weight;
  }
  return kept.values.data();
}

void MaskSampler::sample(const MaskView& mask, Size size, ByteRaster& alpha) {
  const Rect region = covered(mask);
  const double step_x = region.width / size.width, step_y = region.height / size.height;
  prepare(mask, step_x, region.x + 0.5 * step_x - 0.5, size.width);
  alpha.resize(size);
  for (int y = 0; y < size.height; ++y) {
    const Neighbours n = neighbours(region.y + (y + 0.5) * step_y - 0.5, mask.size.height);
    const float* upper = expanded(mask, n.first, 255);
    const float* lower = expanded(mask, n.second, 255);
    std::uint8_t* out = alpha.row(y);
    for (int x = 0; x < size.width; ++x) {
      const float value = upper[x] + (lower[x] - upper[x]) * n.weight;
      out[x] = static_cast<std::uint8_t>(static_cast<int>(value + 0.5f));
    }
  }
}

void MaskSampler::sample_cells(const MaskView& mask, Size size, int factor, FloatRaster& alpha) {
  const Rect region = covered(mask);
  const double step_x = region.width / size.width * factor;
  const double step_y = region.height / size.height * factor;
  const Size cells{(size.width + factor - 1) / factor, (size.height + factor - 1) / factor};
  prepare(mask, step_x, region.x + 0.5 * step_x - 0.5, cells.width);
  alpha.resize(cells);
  for (int y = 0; y < cells.height; ++y) {
    const Neighbours n = neighbours(region.y + (y + 0.5) * step_y - 0.5, mask.size.height);
    const float* upper = expanded(mask, n.first, 1);
    const float* lower = expanded(mask, n.second, 1);
    float* out = alpha.row(y);
    for (int x = 0; x < cells.width; ++x) out[x] = upper[x] + (lower[x] - upper[x]) * n.weight;
  }
}

}  // namespace sparing
