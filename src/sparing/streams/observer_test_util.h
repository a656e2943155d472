// Reports as a run makes them, and pictures read back.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sparing/io/source.h"
#include "sparing/streams/observers.h"
#include "sparing/streams/rgb_picture.h"

namespace sparing {

// A network that takes B, G, R with a mean and std of each.
inline ObserverContext test_context(Layout layout = Layout::kNchw) {
  ObserverContext context;
  context.labels = {"person", "car"};
  ObserverContext::Network network;
  network.processor = "cpu:f32:2:2";
  network.at_once = 2;
  network.input.layout = layout;
  network.input.order = ChannelOrder::kBgr;
  network.input.mean = {10, 20, 30};
  network.input.std = {2, 4, 8};
  context.networks = {network};
  return context;
}

inline constexpr Rgb kTestGround{114, 114, 114};
inline constexpr Rgb kTestRegion{200, 100, 50};

// The normalised tensor of a canvas with the ground's colour, and the region's in `place`.
inline std::vector<float> test_tensor(Size size, const PixelRect& place, const ModelInput& input) {
  std::vector<float> values(static_cast<std::size_t>(size.width) * size.height * 3);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const bool inside =
          x >= place.x && x < place.x + place.width && y >= place.y && y < place.y + place.height;
      const Rgb color = inside ? kTestRegion : kTestGround;
      const float bgr[3] = {float(color.b), float(color.g), float(color.r)};
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t pixel = static_cast<std::size_t>(y) * size.width + x;
        const std::size_t area = static_cast<std::size_t>(size.width) * size.height;
        values[input.layout == Layout::kNchw ? c * area + pixel : pixel * 3 + c] =
            (bgr[c] - input.mean[c]) / input.std[c];
      }
    }
  }
  return values;
}

// A region of stream 1, frame 7: 80 x 40 of the frame at (100, 50), drawn at half scale at (8, 4).
inline CanvasRegion test_region() {
  CanvasRegion region;
  region.stream = 1;
  region.frame = 7;
  region.roi.rect = {100, 50, 80, 40};
  region.roi.source = RoiSource::kFlow;
  region.roi.object = {110, 52, 130, 88};
  region.scale = 0.5;
  region.place = {8, 4, 40, 20};
  region.to_frame = {2, 0, 84, 0, 2, 42};  // (8, 4) is (100, 50)
  region.detections = {{{110, 52, 130, 88}, 0.9f, 0}, {{150, 60, 170, 80}, 0.5f, 1}};
  return region;
}

inline CanvasReport test_canvas(std::int64_t index, std::vector<CanvasRegion> regions) {
  CanvasReport canvas;
  canvas.index = index;
  canvas.window = 3;
  canvas.size = {64, 32};
  canvas.regions = std::move(regions);
  canvas.draw_start = 1.0 + 0.1 * static_cast<double>(index);
  canvas.draw_seconds = 0.01;
  canvas.inference_seconds = 0.2;
  canvas.read_start = canvas.draw_start + 0.25;
  canvas.read_seconds = 0.005;
  return canvas;
}

inline RgbPicture read_picture(const std::filesystem::path& file) {
  const auto source = open_source(file.string()).value();
  return RgbPicture::from_frame(source->next().value()->frame.view()).value();
}

inline Rgb pixel_of(const RgbPicture& picture, int x, int y) {
  const auto* at = picture.pixels().data() + (std::ptrdiff_t{y} * picture.size().width + x) * 3;
  return {at[0], at[1], at[2]};
}

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class TestFolder {
 public:
  explicit TestFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / (name + "_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace sparing
