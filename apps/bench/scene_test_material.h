// What scenes are made of in tests: no video is needed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "scene_material.h"

namespace sparing::bench::testing {

inline constexpr Size kVideo{160, 120};

inline YuvPicture grey_picture(Size size, std::uint8_t luma) {
  YuvPicture picture;
  picture.planes[0] = SamplePlane(size, luma);
  picture.planes[1] = SamplePlane({size.width / 2, size.height / 2}, 128);
  picture.planes[2] = SamplePlane({size.width / 2, size.height / 2}, 128);
  return picture;
}

// A white block of 10 x 20 in a box with a margin, which walks 3 pixels a frame to the right.
inline CutoutTrack walking_block(int length) {
  CutoutTrack track;
  for (int i = 0; i < length; ++i) {
    Cutout cutout;
    const float x = 20.0f + 3.0f * static_cast<float>(i);
    cutout.box = {x, 40, x + 14, 64};
    cutout.place = {static_cast<int>(x) / 2 * 2, 40, 16, 24};
    cutout.pixels = grey_picture({16, 24}, 220);
    cutout.alpha = SamplePlane({16, 24});
    for (int row = 2; row < 22; ++row) {
      std::fill_n(cutout.alpha.row(row) + 3, 10, std::uint8_t{255});
    }
    track.cutouts.push_back(std::move(cutout));
  }
  return track;
}

inline std::shared_ptr<const SceneMaterial> block_material(int length = 12) {
  auto material = std::make_shared<SceneMaterial>();
  material->background = grey_picture(kVideo, 80);
  for (int y = 0; y < kVideo.height; ++y) {  // a texture, so that a shift can be seen
    for (int x = 0; x < kVideo.width; ++x) {
      material->background.planes[0].row(y)[x] =
          static_cast<std::uint8_t>(60 + (x * 7 + y * 3) % 50);
    }
  }
  material->ground = 50;
  material->tracks = {walking_block(length), walking_block(length)};
  return material;
}

}  // namespace sparing::bench::testing
