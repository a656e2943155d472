#include "scene_pixels.h"

#include <algorithm>
#include <cmath>

#include "scene_random.h"

namespace sparing::bench {
namespace {

constexpr std::size_t kNoiseSamples = std::size_t{1} << 20;
constexpr int kLargestRow = 16384;
constexpr double kNoiseUnit = 16;  // noise samples are 1/16 of a grey level

struct Tap {
  int low;
  int high;
  double part;  // of high
};

// Around a position whose sample i is centred at i + 0.5; clamped at the edges.
Tap tap_at(double position, int count) {
  const double at = std::clamp(position - 0.5, 0.0, static_cast<double>(count - 1));
  const int low = static_cast<int>(at);
  return {low, std::min(low + 1, count - 1), at - low};
}

double sample(const SamplePlane& plane, const Tap& x, const Tap& y) {
  const std::uint8_t* top = plane.row(y.low);
  const std::uint8_t* bottom = plane.row(y.high);
  const double above = top[x.low] + x.part * (top[x.high] - top[x.low]);
  const double below = bottom[x.low] + x.part * (bottom[x.high] - bottom[x.low]);
  return above + y.part * (below - above);
}

std::uint8_t rounded(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
}

bool is_inside(const SamplePlane& plane, double x, double y) {
  return x >= 0 && y >= 0 && x < plane.size.width && y < plane.size.height;
}

// What the cutout contributes to one sample of the scene: alpha in [0, 1] and alpha * value.
struct Share {
  double alpha = 0;
  double value = 0;
};

}  // namespace

YuvPicture enlarge(const YuvPicture& picture, Size size, double factor) {
  YuvPicture result;
  const double left = (picture.size().width * factor - size.width) / 2;
  const double top = picture.size().height * factor - size.height;
  for (int p = 0; p < 3; ++p) {
    const int unit = p == 0 ? 1 : 2;
    SamplePlane& to = result.planes[p];
    to = SamplePlane({size.width / unit, size.height / unit});
    const SamplePlane& from = picture.planes[p];
    std::vector<Tap> columns;
    for (int x = 0; x < to.size.width; ++x) {
      columns.push_back(tap_at((x + 0.5 + left / unit) / factor, from.size.width));
    }
    for (int y = 0; y < to.size.height; ++y) {
      const Tap row = tap_at((y + 0.5 + top / unit) / factor, from.size.height);
      for (int x = 0; x < to.size.width; ++x) {
        to.row(y)[x] = rounded(sample(from, columns[static_cast<std::size_t>(x)], row));
      }
    }
  }
  return result;
}

void paste_cutout(const Cutout& cutout, int p, double scale, Point offset, const PlaneView& to) {
  const int unit = p == 0 ? 1 : 2;
  const int grid = std::max(1, static_cast<int>(std::ceil(1 / scale)));  // points a side
  const PixelRect& place = cutout.place;
  const auto share_at = [&](int x, int y) {
    Share share;
    for (int i = 0; i < grid * grid; ++i) {
      const double u = ((x + (i % grid + 0.5) / grid) * unit - offset.x) / scale - place.x;
      const double v = ((y + (i / grid + 0.5) / grid) * unit - offset.y) / scale - place.y;
      if (!is_inside(cutout.alpha, u, v)) continue;
      const Size size = cutout.alpha.size;
      const double alpha =
          sample(cutout.alpha, tap_at(u, size.width), tap_at(v, size.height)) / 255;
      const SamplePlane& plane = cutout.pixels.planes[p];
      share.alpha += alpha;
      share.value += alpha * sample(plane, tap_at(u / unit, plane.size.width),
                                    tap_at(v / unit, plane.size.height));
    }
    share.alpha /= grid * grid;
    share.value /= grid * grid;
    return share;
  };
  const auto first = [&](double at, double shift) {
    return std::max(0, static_cast<int>(std::floor((scale * at + shift) / unit)));
  };
  const auto last = [&](double at, double shift, int end) {
    return std::min(end, static_cast<int>(std::ceil((scale * at + shift) / unit)));
  };
  for (int y = first(place.y, offset.y); y < last(place.y + place.height, offset.y, to.size.height);
       ++y) {
    std::uint8_t* row = to.data + y * to.stride;
    for (int x = first(place.x, offset.x); x < last(place.x + place.width, offset.x, to.size.width);
         ++x) {
      const Share share = share_at(x, y);
      if (share.alpha > 0) row[x] = rounded(share.value + (1 - share.alpha) * row[x]);
    }
  }
}

void apply_light(const PlaneView& plane, int p, double gain, double offset) {
  std::uint8_t changed[256];
  for (int v = 0; v < 256; ++v) {
    changed[v] = p == 0 ? rounded(std::clamp(16 + gain * (v - 16) + offset, 16.0, 235.0))
                        : rounded(std::clamp(128 + gain * (v - 128), 16.0, 240.0));
  }
  for (int y = 0; y < plane.size.height; ++y) {
    std::uint8_t* row = plane.data + y * plane.stride;
    for (int x = 0; x < plane.size.width; ++x) row[x] = changed[row[x]];
  }
}

std::shared_ptr<const std::vector<std::int8_t>> noise_samples(double deviation,
                                                              std::uint64_t seed) {
  SceneRandom random(seed);
  auto samples = std::make_shared<std::vector<std::int8_t>>(kNoiseSamples + kLargestRow);
  for (std::int8_t& one : *samples) {
    one = static_cast<std::int8_t>(
        std::clamp(std::lround(kNoiseUnit * deviation * random.normal()), -127L, 127L));
  }
  return samples;
}

void add_noise(const PlaneView& plane, const std::vector<std::int8_t>& noise, double part,
               std::uint64_t seed) {
  SceneRandom random(seed);
  const int scaled = static_cast<int>(std::lround(part * 256));
  constexpr int kUnit = static_cast<int>(kNoiseUnit) * 256;
  for (int y = 0; y < plane.size.height; ++y) {
    std::uint8_t* row = plane.data + y * plane.stride;
    const std::int8_t* from = noise.data() + random.bits() % kNoiseSamples;
    for (int x = 0; x < plane.size.width; ++x) {
      const int value = row[x] * kUnit + from[x] * scaled + kUnit / 2;
      row[x] = static_cast<std::uint8_t>(std::clamp(value / kUnit, 0, 255));
    }
  }
}

}  // namespace sparing::bench
