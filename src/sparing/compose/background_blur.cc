#include "sparing/compose/background_blur.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace sparing {
namespace {

constexpr int kChannels = 4;
constexpr int kMostFactor = 128;
// How far beyond its mask the foreground is kept out, as a part of the picture's shorter side.
constexpr double kKeepOut = 0.008;
// The weight of the mean colour: beside any cell of the background it is nothing.
constexpr float kMeanWeight = 1e-4f;
// Of the Gaussian, in cells: below it, interpolation between cells would show.
constexpr double kLeastSigma = 1.2;
// Means of cells and interpolation between them blur by themselves: the variance of a box of one
// cell and of a triangle of two, in cells.
constexpr double kOwnVariance = 1.0 / 12 + 1.0 / 6;

// The coarsest cells on which the Gaussian is still smooth.
int choose_factor(double sigma, Size size) {
  int factor = 2;
  while (factor < kMostFactor && sigma / (2 * factor) >= kLeastSigma &&
         2 * factor < std::min(size.width, size.height)) {
    factor *= 2;
  }
  return factor;
}

// Half of a symmetric kernel of sum 1, the middle first.
std::vector<float> gaussian(double variance) {
  if (variance < 0.02) return {1.0f};
  const int radius = static_cast<int>(std::ceil(3 * std::sqrt(variance)));
  std::vector<double> taps;
  double sum = 0;
  for (int i = 0; i <= radius; ++i) {
    taps.push_back(std::exp(-i * i / (2 * variance)));
    sum += i == 0 ? taps.back() : 2 * taps.back();
  }
  std::vector<float> kernel;
  for (const double tap : taps) kernel.push_back(static_cast<float>(tap / sum));
  return kernel;
}

void max_into(const std::uint8_t* __restrict in, std::uint8_t* __restrict out, int count) {
  for (int i = 0; i < count; ++i) out[i] = std::max(out[i], in[i]);
}

// The largest value within `radius` cells in both directions, in place; `across` is scratch.
void dilate(ByteRaster& cells, int radius, ByteRaster& across) {
  const Size size = cells.size;
  across.resize(size);
  for (int y = 0; y < size.height; ++y) {
    const std::uint8_t* in = cells.row(y);
    std::uint8_t* out = across.row(y);
    std::copy_n(in, size.width, out);
    for (int k = 1; k <= std::min(radius, size.width - 1); ++k) {
      max_into(in + k, out, size.width - k);
      max_into(in, out + k, size.width - k);
    }
  }
  for (int y = 0; y < size.height; ++y) {
    const int first = std::max(0, y - radius), last = std::min(size.height - 1, y + radius);
    for (int k = first; k <= last; ++k) max_into(across.row(k), cells.row(y), size.width);
  }
}

void add_scaled(const float* __restrict in, float factor, float* __restrict out, int count) {
  for (int i = 0; i < count; ++i) out[i] += in[i] * factor;
}

void interpolate(const CellRows::Pair& pair, std::uint8_t* __restrict out, int count) {
  const float* __restrict upper = pair.upper;
  const float* __restrict lower = pair.lower;
  const float weight = pair.weight;
  for (int x = 0; x < count; ++x) {
    const float value = upper[x] + (lower[x] - upper[x]) * weight;
    out[x] = static_cast<std::uint8_t>(static_cast<int>(value + 0.5f));
  }
}

}  // namespace

void BackgroundBlur::prepare(const Picture& picture, const ByteRaster& alpha, double sigma) {
  size_ = picture.size();
  sigma = std::max(sigma, 1.0);
  factor_ = choose_factor(sigma, size_);
  weigh(picture, alpha);
  spread(sigma / factor_);
  divide();
}

void BackgroundBlur::weigh(const Picture& picture, const ByteRaster& alpha) {
  cell_maxima(alpha.row(0), size_.width, size_, factor_, maxima_);
  const Size count = maxima_.size;
  const int radius = std::max(
      1, static_cast<int>(std::lround(kKeepOut * std::min(size_.width, size_.height) / factor_)));
  dilate(maxima_, radius, across_maxima_);
  for (int p = 0; p < 3; ++p) {
    cell_means(picture.row(p, 0), picture.stride(p), picture.plane_size(p),
               p > 0 ? factor_ / 2 : factor_, cells_[static_cast<std::size_t>(p)]);
  }
  sums_.resize({count.width * kChannels, count.height});
  std::array<double, 4> total{}, plain{};
  for (int y = 0; y < count.height; ++y) {
    float* out = sums_.row(y);
    for (int x = 0; x < count.width; ++x, out += kChannels) {
      const float keep = static_cast<float>(255 - maxima_.row(y)[x]) / 255;
      out[3] = keep * keep;
      for (std::size_t p = 0; p < 3; ++p) {
        out[p] = cells_[p].row(y)[x] * out[3];
        total[p] += static_cast<double>(out[p]);
        plain[p] += static_cast<double>(cells_[p].row(y)[x]);
      }
      total[3] += static_cast<double>(out[3]);
    }
  }
  const double cells = static_cast<double>(count.width) * count.height;
  for (std::size_t p = 0; p < 3; ++p) {
    mean_[p] = static_cast<float>(total[3] > 1e-6 ? total[p] / total[3] : plain[p] / cells);
  }
}

void BackgroundBlur::spread(double sigma) {
  const std::vector<float> kernel = gaussian(sigma * sigma - kOwnVariance);
  const int radius = static_cast<int>(kernel.size()) - 1;
  const int width = sums_.size.width, height = sums_.size.height;
  // Outside the picture there are no weights.
  const std::size_t room = static_cast<std::size_t>(radius * kChannels);
  padded_.assign(static_cast<std::size_t>(width) + 2 * room, 0.0f);
  across_.resize(sums_.size);
  for (int y = 0; y < height; ++y) {
    std::copy_n(sums_.row(y), width, padded_.begin() + static_cast<std::ptrdiff_t>(room));
    float* out = across_.row(y);
    std::fill_n(out, width, 0.0f);
    for (int k = -radius; k <= radius; ++k) {
      add_scaled(padded_.data() + room + k * kChannels,
                 kernel[static_cast<std::size_t>(std::abs(k))], out, width);
    }
  }
  for (int y = 0; y < height; ++y) {
    float* out = sums_.row(y);
    std::fill_n(out, width, 0.0f);
    for (int k = std::max(-radius, -y); k <= std::min(radius, height - 1 - y); ++k) {
      add_scaled(across_.row(y + k), kernel[static_cast<std::size_t>(std::abs(k))], out, width);
    }
  }
}

void BackgroundBlur::divide() {
  const Size count = cells_[0].size;
  for (int y = 0; y < count.height; ++y) {
    const float* in = sums_.row(y);
    for (int x = 0; x < count.width; ++x, in += kChannels) {
      const float scale = 1 / (in[3] + kMeanWeight);
      for (std::size_t p = 0; p < 3; ++p) {
        cells_[p].row(y)[x] = (in[p] + kMeanWeight * mean_[p]) * scale;
      }
    }
  }
}

void BackgroundBlur::begin(int plane) {
  const int width = plane > 0 ? (size_.width + 1) / 2 : size_.width;
  rows_.begin(cells_[static_cast<std::size_t>(plane)], plane > 0 ? factor_ / 2 : factor_, width);
  row_.resize(static_cast<std::size_t>(width));
}

const std::uint8_t* BackgroundBlur::row(int y) {
  interpolate(rows_.at(y), row_.data(), static_cast<int>(row_.size()));
  return row_.data();
}

}  // namespace sparing
