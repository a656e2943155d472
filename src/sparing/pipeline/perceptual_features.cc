#include "sparing/pipeline/perceptual_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sparing/base/tensor_view.h"
#include "sparing/kernels/import.h"

namespace sparing {
namespace {

constexpr int kCellSide = 4;  // pixels

// A group of channels is a histogram: their sum is 1 in every cell.
struct Group {
  int first, bins;
};
constexpr int kDirections = 6;
constexpr std::array kGroups = {
    Group{0, 8},                // luma
    Group{8, 6},                // B - Y
    Group{14, 6},               // R - Y
    Group{20, kDirections + 1}  // edges by direction, none
};
constexpr int kBins = 27;
constexpr std::array kRadii = {0, 2, 6};  // cells around a cell
constexpr int kChannels = kBins * static_cast<int>(kRadii.size());

// Colour differences beyond this share the outermost bins; most pixels of the world are near 0.
constexpr float kMostColour = 60;
// Grey levels a pixel below which a slope counts rather as none than as an edge.
constexpr float kFaintSlope = 6;
constexpr float kPi = 3.14159265358979f;

// The two nearest bins' shares of a value on the scale of bins, whose centres are at whole numbers.
template <class Add>
void add_linear(float at, int bins, const Add& add) {
  at = std::clamp(at, 0.0f, static_cast<float>(bins - 1));
  const int first = std::min(static_cast<int>(at), bins - 2);
  const float second = at - static_cast<float>(first);
  add(first, 1 - second);
  add(first + 1, second);
}

Size grid_of(Size display) {
  const int longer = std::max(display.width, display.height);
  const int cells =
      std::clamp((longer + kCellSide / 2) / kCellSide, 1, PerceptualFeatures::kLongSide);
  const auto side = [&](int extent) {
    const auto exact = static_cast<double>(cells) * extent / longer;
    return std::max(static_cast<int>(std::lround(exact)), 1);
  };
  return {side(display.width), side(display.height)};
}

}  // namespace

struct PerceptualFeatures::Impl {
  Size grid;
  std::vector<float> rgb;         // planes of the drawn picture
  std::vector<float> luma;        // of it
  std::vector<float> histograms;  // by cell: kBins, sums of 1 in each group
  std::vector<double> sums;       // of the histograms above and left: by corner of cells, kBins

  Size pixels() const { return {grid.width * kCellSide, grid.height * kCellSide}; }

  Status draw(const VideoFrame& frame) {
    const Size size = pixels();
    const Shape shape{1, 3, size.height, size.width};
    const auto plane = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
    rgb.resize(3 * plane);
    ImportOptions options;
    options.filter = Filter::kArea;
    SPARING_RETURN_IF_ERROR(import_frame(frame, options,
                                         dense_view(reinterpret_cast<std::byte*>(rgb.data()),
                                                    DataType::kFloat32, shape, Layout::kNchw)));
    luma.resize(plane);
    for (std::size_t i = 0; i < plane; ++i) {
      luma[i] = 0.299f * rgb[i] + 0.587f * rgb[plane + i] + 0.114f * rgb[2 * plane + i];
    }
    return {};
  }

  void fill_cells() {
    const Size size = pixels();
    const auto width = static_cast<std::size_t>(size.width);
    const std::size_t plane = luma.size();
    constexpr float kShare = 1.0f / (kCellSide * kCellSide);
    histograms.assign(
        static_cast<std::size_t>(grid.width) * static_cast<std::size_t>(grid.height) * kBins, 0);
    for (int y = 0; y < size.height; ++y) {
      const std::size_t row = static_cast<std::size_t>(y) * width;
      const std::size_t above = static_cast<std::size_t>(std::max(y - 1, 0)) * width;
      const std::size_t below = static_cast<std::size_t>(std::min(y + 1, size.height - 1)) * width;
      float* cells = histograms.data() + static_cast<std::size_t>(y / kCellSide) *
                                             static_cast<std::size_t>(grid.width) * kBins;
      for (std::size_t x = 0; x < width; ++x) {
        float* cell = cells + x / kCellSide * kBins;
        const auto into = [&](const Group& group) {
          return
              [&, bins = cell + group.first](int bin, float share) { bins[bin] += share * kShare; };
        };
        const float value = luma[row + x];
        add_linear(value * (7.0f / 255), 8, into(kGroups[0]));
        const auto colour = [&](float difference) {
          return (difference + kMostColour) * (5 / (2 * kMostColour));
        };
        add_linear(colour(rgb[2 * plane + row + x] - value), 6, into(kGroups[1]));
        add_linear(colour(rgb[row + x] - value), 6, into(kGroups[2]));
        const std::size_t left = x > 0 ? x - 1 : 0;
        const std::size_t right = std::min(x + 1, width - 1);
        add_edge((luma[row + right] - luma[row + left]) / 2,
                 (luma[below + x] - luma[above + x]) / 2, kShare, cell + kGroups[3].first);
      }
    }
  }

  // Directions half a turn apart are one: which side is brighter often depends on the background.
  static void add_edge(float dx, float dy, float share, float* bins) {
    const float slope = std::sqrt(dx * dx + dy * dy);
    const float strength = slope / (slope + kFaintSlope);
    bins[kDirections] += (1 - strength) * share;
    if (!(slope > 0)) return;
    float turn = std::atan2(dy, dx) / kPi;  // of half a turn: -1..1
    if (turn < 0) turn += 1;
    const float at = turn * kDirections;
    const int first = static_cast<int>(at);
    const float second = at - static_cast<float>(first);
    bins[first % kDirections] += strength * (1 - second) * share;
    bins[(first + 1) % kDirections] += strength * second * share;
  }

  void sum_up() {
    const auto width = static_cast<std::size_t>(grid.width);
    const auto height = static_cast<std::size_t>(grid.height);
    const std::size_t stride = (width + 1) * kBins;
    sums.assign(stride * (height + 1), 0);
    for (std::size_t y = 0; y < height; ++y) {
      std::array<double, kBins> line{};
      for (std::size_t x = 0; x < width; ++x) {
        const float* cell = histograms.data() + (y * width + x) * kBins;
        const double* above = sums.data() + y * stride + (x + 1) * kBins;
        double* sum = sums.data() + (y + 1) * stride + (x + 1) * kBins;
        for (std::size_t b = 0; b < kBins; ++b) {
          line[b] += cell[b];
          sum[b] = above[b] + line[b];
        }
      }
    }
  }

  // The mean histogram of the square around each cell, cut at the edges, as square roots.
  void write_scale(int radius, std::size_t first_channel, FeatureGrid& out) const {
    const auto width = static_cast<std::size_t>(grid.width);
    const std::size_t stride = (width + 1) * kBins;
    const std::size_t cells = width * static_cast<std::size_t>(grid.height);
    std::size_t cell = 0;
    for (int y = 0; y < grid.height; ++y) {
      const auto top = static_cast<std::size_t>(std::max(y - radius, 0));
      const auto bottom = static_cast<std::size_t>(std::min(y + radius + 1, grid.height));
      for (int x = 0; x < grid.width; ++x, ++cell) {
        const auto left = static_cast<std::size_t>(std::max(x - radius, 0));
        const auto right = static_cast<std::size_t>(std::min(x + radius + 1, grid.width));
        const double scale = 1 / static_cast<double>((right - left) * (bottom - top));
        const double* a = sums.data() + top * stride + left * kBins;
        const double* b = sums.data() + top * stride + right * kBins;
        const double* c = sums.data() + bottom * stride + left * kBins;
        const double* d = sums.data() + bottom * stride + right * kBins;
        float* value = out.values.data() + first_channel * cells + cell;
        for (std::size_t bin = 0; bin < kBins; ++bin, value += cells) {
          const double mean = (d[bin] - b[bin] - c[bin] + a[bin]) * scale;
          *value = static_cast<float>(std::sqrt(std::clamp(mean, 0.0, 1.0)));
        }
      }
    }
  }
};

PerceptualFeatures::PerceptualFeatures() : impl_(std::make_unique<Impl>()) {}
PerceptualFeatures::PerceptualFeatures(PerceptualFeatures&&) noexcept = default;
PerceptualFeatures& PerceptualFeatures::operator=(PerceptualFeatures&&) noexcept = default;
PerceptualFeatures::~PerceptualFeatures() = default;

Status PerceptualFeatures::extract(const VideoFrame& frame, FeatureGrid& out) {
  SPARING_RETURN_IF_ERROR(validate(frame));
  impl_->grid = grid_of(display_size(frame));
  SPARING_RETURN_IF_ERROR(impl_->draw(frame));
  impl_->fill_cells();
  impl_->sum_up();
  out.channels = kChannels;
  out.size = impl_->grid;
  out.values.resize(static_cast<std::size_t>(kChannels) * static_cast<std::size_t>(out.size.width) *
                    static_cast<std::size_t>(out.size.height));
  std::size_t channel = 0;
  for (const int radius : kRadii) {
    impl_->write_scale(radius, channel, out);
    channel += kBins;
  }
  return {};
}

}  // namespace sparing
