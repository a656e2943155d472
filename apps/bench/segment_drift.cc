#include "segment_drift.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

namespace sparing::bench {
namespace {

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0l, 255l));
}

using Curve = std::array<std::uint8_t, 256>;

template <class F>
Curve curve(F&& function) {
  Curve table{};
  for (std::size_t v = 0; v < table.size(); ++v)
    table[v] = to_byte(function(static_cast<double>(v)));
  return table;
}

void apply_curves(RgbPixels& picture, const std::array<Curve, 3>& curves) {
  for (std::size_t i = 0; i < picture.values.size(); ++i) {
    picture.values[i] = curves[i % 3][picture.values[i]];
  }
}

void gamma_drift(RgbPixels& picture, double strength, std::uint64_t) {
  const Curve dark = curve([&](double v) { return 255 * std::pow(v / 255, 1 + 1.5 * strength); });
  apply_curves(picture, {dark, dark, dark});
}

void cast_drift(RgbPixels& picture, double strength, std::uint64_t) {
  apply_curves(picture, {curve([&](double v) { return v * (1 + 0.3 * strength); }),
                         curve([&](double v) { return v; }),
                         curve([&](double v) { return v * (1 - 0.55 * strength); })});
}

// A Gaussian along one axis: `step` values from one sample to the next, edges repeated.
void blur_line(const std::uint8_t* in, std::uint8_t* out, int count, std::size_t step,
               const std::vector<double>& kernel) {
  const int reach = static_cast<int>(kernel.size()) / 2;
  for (int i = 0; i < count; ++i) {
    double sum = 0;
    for (int k = -reach; k <= reach; ++k) {
      const auto at = static_cast<std::size_t>(std::clamp(i + k, 0, count - 1));
      sum += kernel[static_cast<std::size_t>(k + reach)] * in[at * step];
    }
    out[static_cast<std::size_t>(i) * step] = to_byte(sum);
  }
}

void blur_drift(RgbPixels& picture, double strength, std::uint64_t) {
  const double sigma = 2.5 * strength;
  if (sigma < 0.05) return;
  const int reach = static_cast<int>(std::ceil(3 * sigma));
  std::vector<double> kernel;
  double total = 0;
  for (int k = -reach; k <= reach; ++k) {
    kernel.push_back(std::exp(-k * k / (2 * sigma * sigma)));
    total += kernel.back();
  }
  for (double& weight : kernel) weight /= total;
  const auto width = static_cast<std::size_t>(picture.size.width);
  const auto height = static_cast<std::size_t>(picture.size.height);
  std::vector<std::uint8_t> other(picture.values.size());
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t start = y * width * 3 + c;
      blur_line(&picture.values[start], &other[start], picture.size.width, 3, kernel);
    }
  }
  for (std::size_t i = 0; i < width * 3; ++i) {
    blur_line(&other[i], &picture.values[i], picture.size.height, width * 3, kernel);
  }
}

void add_noise(RgbPixels& picture, double sigma, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, sigma);
  for (std::uint8_t& v : picture.values) v = to_byte(v + noise(random));
}

void noise_drift(RgbPixels& picture, double strength, std::uint64_t seed) {
  if (strength > 0) add_noise(picture, 35 * strength, seed);
}

// --- JPEG without its entropy coding, which loses nothing ----------------------------------------

constexpr int kBlock = 8;
using Block = std::array<double, kBlock * kBlock>;

// ITU-T T.81, Annex K, tables K.1 and K.2.
constexpr std::array<int, 64> kLumaSteps{
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
constexpr std::array<int, 64> kChromaSteps{
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99,
    99, 99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99};

// Rows of the orthonormal DCT-II.
const std::array<std::array<double, kBlock>, kBlock>& dct_rows() {
  static const auto rows = [] {
    std::array<std::array<double, kBlock>, kBlock> table{};
    for (int u = 0; u < kBlock; ++u) {
      for (int x = 0; x < kBlock; ++x) {
        table[static_cast<std::size_t>(u)][static_cast<std::size_t>(x)] =
            std::sqrt((u == 0 ? 1.0 : 2.0) / kBlock) *
            std::cos((2 * x + 1) * u * std::numbers::pi / (2 * kBlock));
      }
    }
    return table;
  }();
  return rows;
}

Block transform(const Block& in, bool inverse) {
  const auto& rows = dct_rows();
  const auto along = [&](const Block& from) {  // transforms rows, and transposes
    Block to{};
    for (std::size_t y = 0; y < kBlock; ++y) {
      for (std::size_t u = 0; u < kBlock; ++u) {
        double sum = 0;
        for (std::size_t x = 0; x < kBlock; ++x) {
          sum += (inverse ? rows[x][u] : rows[u][x]) * from[y * kBlock + x];
        }
        to[u * kBlock + y] = sum;
      }
    }
    return to;
  };
  return along(along(in));
}

struct Plane {
  int width = 0;
  int height = 0;
  std::vector<double> values;
  double& at(int x, int y) {
    return values[static_cast<std::size_t>(std::min(y, height - 1)) *
                      static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(std::min(x, width - 1))];
  }
};

void quantize(Plane& plane, const std::array<int, 64>& steps, double scale) {
  for (int by = 0; by < plane.height; by += kBlock) {
    for (int bx = 0; bx < plane.width; bx += kBlock) {
      Block block{};
      for (int i = 0; i < kBlock * kBlock; ++i) {
        block[static_cast<std::size_t>(i)] = plane.at(bx + i % kBlock, by + i / kBlock) - 128;
      }
      block = transform(block, false);
      for (std::size_t i = 0; i < block.size(); ++i) {
        const double step = std::clamp(std::floor(steps[i] * scale + 0.5), 1.0, 255.0);
        block[i] = std::round(block[i] / step) * step;
      }
      block = transform(block, true);
      for (int i = 0; i < kBlock * kBlock; ++i) {
        const int x = bx + i % kBlock;
        const int y = by + i / kBlock;
        if (x < plane.width && y < plane.height) {
          plane.at(x, y) = block[static_cast<std::size_t>(i)] + 128;
        }
      }
    }
  }
}

void compress(RgbPixels& picture, double quality) {
  const int width = picture.size.width;
  const int height = picture.size.height;
  const double scale = (quality < 50 ? 5000 / quality : 200 - 2 * quality) / 100;
  const auto make = [](int w, int h) {
    return Plane{w, h,
                 std::vector<double>(static_cast<std::size_t>(w) * static_cast<std::size_t>(h))};
  };
  Plane luma = make(width, height);
  Plane blue = make((width + 1) / 2, (height + 1) / 2);
  Plane red = blue;
  std::vector<double> parts(blue.values.size());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const std::uint8_t* p =
          &picture.values[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                           static_cast<std::size_t>(x)) *
                          3];
      const double l = 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
      luma.at(x, y) = l;
      blue.at(x / 2, y / 2) += (p[2] - l) / 1.772;
      red.at(x / 2, y / 2) += (p[0] - l) / 1.402;
      parts[static_cast<std::size_t>(y / 2) * static_cast<std::size_t>(blue.width) +
            static_cast<std::size_t>(x / 2)] += 1;
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    blue.values[i] = blue.values[i] / parts[i] + 128;
    red.values[i] = red.values[i] / parts[i] + 128;
  }
  quantize(luma, kLumaSteps, scale);
  quantize(blue, kChromaSteps, scale);
  quantize(red, kChromaSteps, scale);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::uint8_t* p =
          &picture.values[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                           static_cast<std::size_t>(x)) *
                          3];
      const double l = luma.at(x, y);
      const double b = blue.at(x / 2, y / 2) - 128;
      const double r = red.at(x / 2, y / 2) - 128;
      p[0] = to_byte(l + 1.402 * r);
      p[1] = to_byte(l - 0.114 * 1.772 / 0.587 * b - 0.299 * 1.402 / 0.587 * r);
      p[2] = to_byte(l + 1.772 * b);
    }
  }
}

void compression_drift(RgbPixels& picture, double strength, std::uint64_t) {
  // Quality falls from 95 to 6 by ratio, as bit rates do.
  if (strength > 0) compress(picture, 95 * std::pow(6.0 / 95, strength));
}

void night_drift(RgbPixels& picture, double strength, std::uint64_t seed) {
  const auto dark = [&](double gain) {
    return curve([=](double v) {
      const double night = gain * 255 * std::pow(v / 255, 1.8);
      return v + (night - v) * strength;
    });
  };
  apply_curves(picture, {dark(0.38), dark(0.42), dark(0.55)});
  if (strength > 0) add_noise(picture, 8 * strength, seed);
}

constexpr Drift kDrifts[] = {
    {"gamma", "gamma 2.5: dark, contrasts gone from the shadows", gamma_drift},
    {"cast", "red times 1.3, blue times 0.45: a wrong white balance", cast_drift},
    {"blur", "Gaussian blur of 2.5 pixels: out of focus", blur_drift},
    {"noise", "Gaussian noise of 35 grey levels", noise_drift},
    {"compression", "JPEG of quality 6", compression_drift},
    {"night", "two fifths of the light, gamma 1.8, bluish, noise of 8", night_drift},
};

}  // namespace

std::span<const Drift> drifts() { return kDrifts; }

double drift_strength(int index, int frames) {
  const double half = std::max(1.0, (frames - 1) / 2.0);
  return std::clamp(index / half, 0.0, 1.0);
}

}  // namespace sparing::bench
