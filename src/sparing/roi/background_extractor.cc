#include "sparing/roi/background_extractor.h"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>

namespace sparing::roi {
namespace {

constexpr int kScale = 128;  // of the average: differences then fit 16 bits with their sign
constexpr int kEarly = 1000;
constexpr double kMaxRate = 0.49;  // below 1/2 in 1/65536, which a signed 16-bit factor holds

// One pass over a row: mask, then average += rate * (pixel - average). All in 16 bits, which is how
// many pixels a vector holds.
void compare_and_learn(const std::uint8_t* __restrict pixels, std::int16_t* __restrict average,
                       std::uint8_t* __restrict mask, int count, std::int16_t limit,
                       std::int16_t fast, std::int16_t slow) {
  for (int i = 0; i < count; ++i) {
    const auto difference = static_cast<std::int16_t>(pixels[i] * kScale - average[i]);
    const auto opposite = static_cast<std::int16_t>(-difference);
    const std::int16_t size = difference > opposite ? difference : opposite;
    const std::int16_t factor = size > limit ? slow : fast;
    const auto step = static_cast<std::int16_t>((difference * factor) >> 16);
    average[i] = static_cast<std::int16_t>(average[i] + step);
    mask[i] = size > limit ? 255 : 0;
  }
}

}  // namespace

double BackgroundExtractor::rate(double seconds) {
  learnt_ = std::min(learnt_ + 1, kEarly);
  const double steady = 1 - std::exp(-std::max(seconds, 0.0) / options_.seconds);
  // The plain mean at first, which forgets what moved in the first pictures sooner.
  return std::min(std::max(steady, 1.0 / (learnt_ + 1)), kMaxRate);
}

double BackgroundExtractor::add(const LumaImage& blurred, double seconds) {
  const auto pixels =
      static_cast<std::size_t>(blurred.width()) * static_cast<std::size_t>(blurred.height());
  mask_.create(blurred.height(), blurred.width(), CV_8UC1);
  if (average_.size() != pixels || !(size_ == blurred.size())) {
    size_ = blurred.size();
    average_.resize(pixels);
    std::transform(blurred.data(), blurred.data() + pixels, average_.begin(),
                   [](std::uint8_t v) { return static_cast<std::int16_t>(v * kScale); });
    learnt_ = 0;
    rest_x_ = rest_y_ = 0;
    mask_.setTo(cv::Scalar::all(0));
    return 0;
  }
  const double fast = rate(seconds) * 65536;
  const auto limit = static_cast<std::int16_t>(std::min(options_.threshold, 254.0) * kScale);
  compare_and_learn(blurred.data(), average_.data(), mask_.ptr<std::uint8_t>(),
                    static_cast<int>(pixels), limit, static_cast<std::int16_t>(fast),
                    static_cast<std::int16_t>(fast * options_.foreground_rate));
  return static_cast<double>(cv::countNonZero(mask_)) / static_cast<double>(pixels);
}

MaskBoxes BackgroundExtractor::boxes(double min_extent, std::span<const Rect> known, double share) {
  if (mask_.empty()) return {};
  MaskBoxes found = mask_boxes(mask_, min_extent, scratch_);
  drop_explained(mask_, known, share, found, scratch_);
  return found;
}

void BackgroundExtractor::apply_curve(const std::array<float, 256>& curve) {
  for (std::int16_t& value : average_) {
    const int level = std::clamp(value / kScale, 0, 254);
    const float fraction = static_cast<float>(value) / kScale - static_cast<float>(level);
    const float low = curve[static_cast<std::size_t>(level)];
    const float high = curve[static_cast<std::size_t>(level + 1)];
    value = static_cast<std::int16_t>(
        std::lround(std::clamp(low + (high - low) * fraction, 0.0f, 255.0f) * kScale));
  }
}

void BackgroundExtractor::shift(double dx, double dy, const LumaImage& blurred) {
  rest_x_ += dx;
  rest_y_ += dy;
  const int x = static_cast<int>(std::lround(rest_x_));
  const int y = static_cast<int>(std::lround(rest_y_));
  if (average_.empty() || !(blurred.size() == size_) || (x == 0 && y == 0)) return;
  rest_x_ -= x;
  rest_y_ -= y;
  move_by(x, y, blurred);
}

void BackgroundExtractor::move_by(int dx, int dy, const LumaImage& blurred) {
  moved_.resize(average_.size());
  for (int y = 0; y < size_.height; ++y) {
    const auto now = blurred.row(y);
    std::int16_t* to = moved_.data() + static_cast<std::ptrdiff_t>(y) * size_.width;
    const bool known = y - dy >= 0 && y - dy < size_.height;
    const std::int16_t* from =
        average_.data() + static_cast<std::ptrdiff_t>(known ? y - dy : 0) * size_.width;
    for (int x = 0; x < size_.width; ++x) {
      const bool inside = known && x - dx >= 0 && x - dx < size_.width;
      to[x] = inside ? from[x - dx]
                     : static_cast<std::int16_t>(now[static_cast<std::size_t>(x)] * kScale);
    }
  }
  average_.swap(moved_);
}

}  // namespace sparing::roi
