// A texture that can be drawn at any place and scale: what the truth of motion is known of.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "sparing/flow/luma_image.h"

namespace sparing::testing {

// A point p of the texture is drawn at scale * p + (dx, dy).
struct Placement {
  double scale = 1;
  double dx = 0;
  double dy = 0;
};

// A sum of waves of 8 to 60 pixels in random directions: defined everywhere, so that shifts by
// fractions need no interpolation.
class Texture {
 public:
  explicit Texture(unsigned seed, double contrast = 1) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    for (int i = 0; i < 24; ++i) {
      const double length = 8 * std::pow(7.5, unit(random));
      const double angle = 6.283185307 * unit(random);
      waves_.push_back({std::cos(angle) * 6.283185307 / length,
                        std::sin(angle) * 6.283185307 / length, 6.283185307 * unit(random),
                        contrast * 14});
    }
  }

  double at(double x, double y) const {
    double value = 128;
    for (const Wave& w : waves_) value += w.height * std::sin(w.u * x + w.v * y + w.phase);
    return value;
  }

  // Pixel values are those at the pixels' centres.
  LumaImage draw(Size size, const Placement& place, int factor = 1) const {
    LumaImage image;
    image.fill(size, factor, 0);
    draw_into(image, {0, 0, size.width, size.height}, place);
    return image;
  }
  void draw_into(LumaImage& image, const PixelRect& area, const Placement& place) const {
    for (int y = area.y; y < area.y + area.height; ++y) {
      for (int x = area.x; x < area.x + area.width; ++x) {
        const double value =
            at((x + 0.5 - place.dx) / place.scale, (y + 0.5 - place.dy) / place.scale);
        image.row(y)[static_cast<std::size_t>(x)] =
            static_cast<std::uint8_t>(std::clamp(std::lround(value), 0l, 255l));
      }
    }
  }

 private:
  struct Wave {
    double u, v, phase, height;
  };
  std::vector<Wave> waves_;
};

}  // namespace sparing::testing
