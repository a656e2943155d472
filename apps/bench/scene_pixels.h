// The pixels of synthetic scenes: enlarging, pasting, light and noise, plane by plane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "scene_material.h"

namespace sparing::bench {

struct PlaneView {
  std::uint8_t* data = nullptr;
  std::ptrdiff_t stride = 0;
  Size size;
};

// `factor` times as large (bilinear), and of that `size` from the bottom and the middle.
YuvPicture enlarge(const YuvPicture& picture, Size size, double factor);

// Plane `p` of the cutout at `scale`; a point of the video lies at scale * point + offset in the
// scene. Area filter. What is outside `to` is left out.
void paste_cutout(const Cutout& cutout, int p, double scale, Point offset, const PlaneView& to);

// As LightStep says; p is 0 for luma.
void apply_light(const PlaneView& plane, int p, double gain, double offset);

// Samples of camera noise for add_noise, in 1/16 of a grey level.
std::shared_ptr<const std::vector<std::int8_t>> noise_samples(double deviation, std::uint64_t seed);
// Adds `part` of the noise, each row from its own place in the samples, which `seed` decides.
void add_noise(const PlaneView& plane, const std::vector<std::int8_t>& noise, double part,
               std::uint64_t seed);

}  // namespace sparing::bench
