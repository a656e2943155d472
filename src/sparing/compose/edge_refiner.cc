#include "sparing/compose/edge_refiner.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sparing {
namespace {

// Cells are as large as leaves so many of them along the picture's shorter side.
constexpr int kLeastCells = 160;
// A window reaches so many mask pixels to each side: as far as a mask can be off.
constexpr double kReach = 1.0;
constexpr int kMostRadius = 16;
// Luma that varies less than this within a window (as a part of its range) is no edge.
constexpr float kNoEdge = 0.02f;

// Picture pixels to a mask pixel, in the coarser direction.
double coarseness(const MaskView& mask, Size picture) {
  const bool part = !mask.region.empty();
  const double width = part ? mask.region.width : mask.size.width;
  const double height = part ? mask.region.height : mask.size.height;
  return std::max(picture.width / width, picture.height / height);
}

int choose_factor(Size size) {
  int factor = 1;
  while (std::min(size.width, size.height) / (2 * factor) >= kLeastCells) factor *= 2;
  return factor;
}

void apply(const CellRows::Pair& slope, const CellRows::Pair& base,
           const std::uint8_t* __restrict luma, std::uint8_t* __restrict alpha, int count) {
  const float* __restrict s0 = slope.upper;
  const float* __restrict s1 = slope.lower;
  const float* __restrict b0 = base.upper;
  const float* __restrict b1 = base.lower;
  const float w = slope.weight;
  for (int x = 0; x < count; ++x) {
    const float s = s0[x] + (s1[x] - s0[x]) * w;
    const float b = b0[x] + (b1[x] - b0[x]) * w;
    float value = s * static_cast<float>(luma[x]) + b + 0.5f;
    value = value < 0 ? 0 : value;
    value = value > 255 ? 255 : value;
    alpha[x] = static_cast<std::uint8_t>(static_cast<int>(value));
  }
}

}  // namespace

bool EdgeRefiner::helps(const MaskView& mask, Size picture) {
  return coarseness(mask, picture) >= 1.5;
}

void EdgeRefiner::refine(const MaskView& mask, const Picture& picture, float contrast,
                         ByteRaster& alpha) {
  const Size size = picture.size();
  const int factor = choose_factor(size);
  sampler_.sample_cells(mask, size, factor, target_);
  cell_means(picture.row(0, 0), picture.stride(0), size, factor, guide_);
  for (float& value : guide_.values) value *= 1.0f / 255;
  const double reach = kReach * coarseness(mask, size) / factor;
  fit(std::clamp(static_cast<int>(std::lround(reach)), 1, kMostRadius));

  // Luma and alpha both go from 0 to 255: the slope stays the same, the base does not.
  for (float& value : slope_.values) value *= contrast;
  for (float& value : base_.values) value = (value - 0.5f) * contrast * 255 + 127.5f;
  slopes_.begin(slope_, factor, size.width);
  bases_.begin(base_, factor, size.width);
  alpha.resize(size);
  for (int y = 0; y < size.height; ++y) {
    apply(slopes_.at(y), bases_.at(y), picture.row(0, y), alpha.row(y), size.width);
  }
}

void EdgeRefiner::fit(int radius) {
  const std::size_t count = guide_.values.size();
  slope_.resize(guide_.size);
  base_.resize(guide_.size);
  FloatRaster& product = slope_;
  FloatRaster& square = base_;
  for (std::size_t i = 0; i < count; ++i) {
    product.values[i] = guide_.values[i] * target_.values[i];
    square.values[i] = guide_.values[i] * guide_.values[i];
  }
  mean(product, radius);
  mean(square, radius);
  mean(guide_, radius);
  mean(target_, radius);
  for (std::size_t i = 0; i < count; ++i) {
    const float covariance = product.values[i] - guide_.values[i] * target_.values[i];
    const float variance = square.values[i] - guide_.values[i] * guide_.values[i];
    const float slope = covariance / (std::max(variance, 0.0f) + kNoEdge * kNoEdge);
    slope_.values[i] = slope;
    base_.values[i] = target_.values[i] - slope * guide_.values[i];
  }
  mean(slope_, radius);
  mean(base_, radius);
}

void EdgeRefiner::mean(FloatRaster& cells, int radius) {
  const int width = cells.size.width, height = cells.size.height;
  scratch_.resize(cells.size);
  line_.assign(static_cast<std::size_t>(width + 2 * radius), 0.0f);
  std::vector<float> scale(static_cast<std::size_t>(width));
  for (int x = 0; x < width; ++x) {
    const int columns = std::min(x + radius, width - 1) - std::max(x - radius, 0) + 1;
    scale[static_cast<std::size_t>(x)] = 1 / static_cast<float>(columns);
  }
  for (int y = 0; y < height; ++y) {
    std::copy_n(cells.row(y), width, line_.begin() + radius);
    float* __restrict out = scratch_.row(y);
    std::fill_n(out, width, 0.0f);
    for (int k = 0; k <= 2 * radius; ++k) {
      const float* __restrict in = line_.data() + k;
      for (int x = 0; x < width; ++x) out[x] += in[x];
    }
    for (int x = 0; x < width; ++x) out[x] *= scale[static_cast<std::size_t>(x)];
  }
  for (int y = 0; y < height; ++y) {
    const int first = std::max(y - radius, 0), last = std::min(y + radius, height - 1);
    float* __restrict out = cells.row(y);
    std::fill_n(out, width, 0.0f);
    for (int k = first; k <= last; ++k) {
      const float* __restrict in = scratch_.row(k);
      for (int x = 0; x < width; ++x) out[x] += in[x];
    }
    const float rows = 1 / static_cast<float>(last - first + 1);
    for (int x = 0; x < width; ++x) out[x] *= rows;
  }
}

}  // namespace sparing
