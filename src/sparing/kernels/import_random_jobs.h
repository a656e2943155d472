// Random import jobs over the whole space of frames, options and tensors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "sparing/kernels/import.h"
#include "sparing/kernels/import_test_util.h"

namespace sparing::test {

struct Random {
  std::mt19937 bits;
  int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(bits); }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(bits);
  }
  bool chance(double p) { return real(0, 1) < p; }
  template <class T, std::size_t N>
  T pick(const T (&values)[N]) {
    return values[static_cast<std::size_t>(whole(0, static_cast<int>(N) - 1))];
  }
};

// Noise of the bits that the format has.
inline void fill_noise(Random& random, TestFrame& frame) {
  frame.fill_random(random.bits);
  const VideoFrame& view = frame.view();
  const PixelFormatInfo& row = info(view.format);
  if (row.sample.bytes != 2) return;
  const int mask = ((1 << row.sample.bits) - 1) << row.sample.shift;
  for (int p = 0; p < row.planes; ++p) {
    const PlaneExtent extent = plane_extent(view.format, p, view.coded_size);
    for (int y = 0; y < extent.rows; ++y) {
      for (int x = 0; x < extent.row_bytes; x += 2) {
        frame.at(p, x, y) &= static_cast<std::uint8_t>(mask);
        frame.at(p, x + 1, y) &= static_cast<std::uint8_t>(mask >> 8);
      }
    }
  }
}

// Noise, in a picture of odd and even sizes, with padding, misaligned, bottom up.
inline TestFrame random_frame(Random& random, PixelFormat format) {
  const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64, 101, 260};
  TestFrame::Options layout;
  layout.extra_stride = random.pick({0, 0, 1, 3, 64});
  layout.bottom_up = random.chance(0.2);
  layout.misalign = random.whole(0, 5);
  TestFrame frame(format, {random.pick(sizes), random.pick(sizes)}, layout);
  fill_noise(random, frame);
  VideoFrame& view = frame.view();
  view.color_space.matrix = random.pick(
      {ColorMatrix::kUnspecified, ColorMatrix::kBt601, ColorMatrix::kBt709, ColorMatrix::kBt2020});
  view.color_space.range =
      random.pick({ColorRange::kUnspecified, ColorRange::kLimited, ColorRange::kFull});
  view.color_space.siting = random.pick({ChromaSiting::kUnspecified, ChromaSiting::kLeft,
                                         ChromaSiting::kCenter, ChromaSiting::kTopLeft});
  if (random.chance(0.3)) {
    view.rotation = random.pick({Rotation::k0, Rotation::k90, Rotation::k180, Rotation::k270});
    view.flip = random.chance(0.5);
  }
  if (random.chance(0.4)) {
    const Size size = view.coded_size;
    Rect& rect = view.visible_rect;
    rect.x = random.real(0, size.width * 0.6);
    rect.y = random.real(0, size.height * 0.6);
    if (random.chance(0.6)) {
      rect.x = std::floor(rect.x);
      rect.y = std::floor(rect.y);
    }
    rect.width = random.chance(0.4) ? size.width - rect.x : random.real(0.1, size.width - rect.x);
    rect.height =
        random.chance(0.4) ? size.height - rect.y : random.real(0.1, size.height - rect.y);
  }
  return frame;
}

inline Rect random_rect(Random& random, const Rect& display) {
  Rect rect{random.real(-0.3, 0.9) * display.width, random.real(-0.3, 0.9) * display.height,
            random.real(0.01, 1.2) * display.width, random.real(0.01, 1.2) * display.height};
  rect.width = std::max(rect.width, 1e-3 - rect.x);  // some of the frame is in it
  rect.height = std::max(rect.height, 1e-3 - rect.y);
  if (random.chance(0.3)) {
    rect = {std::floor(rect.x), std::floor(rect.y), std::ceil(rect.width) + 1,
            std::ceil(rect.height) + 1};
  }
  return rect;
}

inline ImportOptions random_options(Random& random, VideoFrame frame, const TensorView& tensor) {
  ImportOptions options;
  if (random.chance(0.15)) {
    options.orientation = {random.pick({Rotation::k0, Rotation::k90, Rotation::k180}),
                           random.chance(0.5)};
    frame.rotation = options.orientation->rotation;
    frame.flip = options.orientation->flip;
  }
  if (random.chance(0.2)) {  // scale 1
    const Rect display = display_rect(frame);
    options.visible_rect =
        Rect{std::floor(random.real(-3, 0.9 * display.width)),
             std::floor(random.real(-3, 0.9 * display.height)), static_cast<double>(tensor.width),
             static_cast<double>(tensor.height)};
  } else if (random.chance(0.8)) {
    options.visible_rect = random_rect(random, display_rect(frame));
  }
  options.fit = random.pick({Fit::kStretch, Fit::kStretch, Fit::kLetterbox, Fit::kCrop});
  options.anchor = random.pick({Anchor::kCenter, Anchor::kTopLeft});
  options.filter = random.pick({Filter::kBilinear, Filter::kBilinear, Filter::kNearest,
                                Filter::kArea, Filter::kTriangle, Filter::kAuto});
  options.outside = random.pick({Outside::kClamp, Outside::kClamp, Outside::kPad});
  if (random.chance(0.2)) options.chroma = ChromaUpsampling::kReplicate;
  if (random.chance(0.5)) options.order = ChannelOrder::kBgr;
  if (random.chance(0.4)) {
    options.mean = {103.53f, 116.28f, 123.675f};
    options.std = {57.375f, -57.12f, 0.39f};
  }
  const bool integer = tensor.type != DataType::kFloat32 && tensor.type != DataType::kFloat16 &&
                       tensor.type != DataType::kBfloat16;
  if (integer && random.chance(0.4)) {
    options.quantization = {random.pick({0.5f, 2.0f, -0.017f}), random.whole(-128, 127)};
  }
  if (random.chance(0.1)) options.color_space.range = ColorRange::kFull;
  options.batch_index = random.whole(0, tensor.batch - 1);
  if (random.chance(0.3)) {
    const int width = random.whole(1, tensor.width);
    const int height = random.whole(1, tensor.height);
    options.destination = PixelRect{random.whole(0, tensor.width - width),
                                    random.whole(0, tensor.height - height), width, height};
  }
  return options;
}

inline std::string describe(const VideoFrame& frame, const ImportOptions& options,
                            const TensorView& tensor) {
  const Rect visible = visible_rect(frame);
  const Rect source = options.visible_rect.value_or(display_rect(frame));
  std::ostringstream text;
  text << info(frame.format).name << " " << frame.coded_size.width << "x" << frame.coded_size.height
       << " stride " << frame.planes[0].stride << " rotation " << static_cast<int>(frame.rotation)
       << (frame.flip ? " flipped" : "") << " visible " << visible.x << "," << visible.y << " "
       << visible.width << "x" << visible.height << " source " << source.x << "," << source.y << " "
       << source.width << "x" << source.height << " filter " << static_cast<int>(options.filter)
       << " fit " << static_cast<int>(options.fit) << " outside "
       << static_cast<int>(options.outside) << " chroma " << static_cast<int>(options.chroma)
       << " -> " << info(tensor.type).name << " " << tensor.channels << "x" << tensor.height << "x"
       << tensor.width << " stride_x " << tensor.stride_x;
  return text.str();
}

}  // namespace sparing::test
