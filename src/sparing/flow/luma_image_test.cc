#include "sparing/flow/luma_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace sparing {
namespace {

using ::testing::HasSubstr;

constexpr Rotation kRotations[] = {Rotation::k0, Rotation::k90, Rotation::k180, Rotation::k270};

std::uint8_t* sample_bytes(SharedFrame& frame, int component, int x, int y) {
  const ComponentLayout& layout =
      info(frame.view().format).components[static_cast<std::size_t>(component)];
  const std::ptrdiff_t stride = frame.view().planes[static_cast<std::size_t>(layout.plane)].stride;
  return mutable_plane(frame, layout.plane) + y * stride + x * layout.step + layout.offset;
}

void set_sample(SharedFrame& frame, int component, int x, int y, unsigned value) {
  const SampleLayout& sample = info(frame.view().format).sample;
  std::uint8_t* bytes = sample_bytes(frame, component, x, y);
  const unsigned stored = value << sample.shift;
  bytes[0] = static_cast<std::uint8_t>(stored);
  if (sample.bytes == 2) bytes[1] = static_cast<std::uint8_t>(stored >> 8);
}

// Noise in all planes; returns the luma on the scale 0..255, by coded position, unrounded.
std::vector<double> paint_noise(SharedFrame& frame, unsigned seed) {
  std::mt19937 random(seed);
  const PixelFormatInfo& format = info(frame.view().format);
  const Size size = frame.view().coded_size;
  const double scale = std::pow(2.0, format.sample.bits - 8);
  std::vector<double> luma;
  for (int p = 0; p < format.planes; ++p) {
    const PlaneExtent extent = plane_extent(format.format, p, size);
    for (int y = 0; y < extent.rows; ++y) {
      std::uint8_t* row =
          mutable_plane(frame, p) + y * frame.view().planes[static_cast<std::size_t>(p)].stride;
      std::generate_n(row, extent.row_bytes, [&] { return static_cast<std::uint8_t>(random()); });
    }
  }
  const auto largest = static_cast<unsigned>((1 << format.sample.bits) - 1);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const int components = format.model == ColorModel::kRgb ? 3 : 1;
      double value = 0;
      constexpr double kWeights[] = {0.299, 0.587, 0.114};
      for (int c = 0; c < components; ++c) {
        const unsigned sample = static_cast<unsigned>(random()) % (largest + 1);
        set_sample(frame, c, x, y, sample);
        value += (components == 3 ? kWeights[c] : 1.0) * sample;
      }
      luma.push_back(value / scale);
    }
  }
  return luma;
}

// Means over display boxes, pixel by pixel through display_to_coded().
void expect_means(const VideoFrame& frame, const std::vector<double>& luma, int factor,
                  double tolerance) {
  LumaImage image;
  const Status status = image.extract(frame, factor);
  ASSERT_TRUE(status.ok()) << status.error().to_string();
  const Size display = display_size(frame);
  const Affine map = display_to_coded(frame);
  ASSERT_EQ(image.display_size(), display);
  ASSERT_EQ(image.width(), (display.width + factor - 1) / factor);
  ASSERT_EQ(image.height(), (display.height + factor - 1) / factor);
  for (int j = 0; j < image.height(); ++j) {
    for (int i = 0; i < image.width(); ++i) {
      double sum = 0;
      int count = 0;
      for (int y = j * factor; y < std::min((j + 1) * factor, display.height); ++y) {
        for (int x = i * factor; x < std::min((i + 1) * factor, display.width); ++x) {
          const Point coded = map({x + 0.5, y + 0.5});
          sum += luma[static_cast<std::size_t>(std::floor(coded.y)) *
                          static_cast<std::size_t>(frame.coded_size.width) +
                      static_cast<std::size_t>(std::floor(coded.x))];
          ++count;
        }
      }
      ASSERT_NEAR(image.row(j)[static_cast<std::size_t>(i)], std::min(sum / count, 255.0),
                  tolerance)
          << info(frame.format).name << " " << factor << " at " << i << "," << j;
    }
  }
}

TEST(LumaImage, IsTheMeanOfTheLumaInEveryFormat) {
  for (const PixelFormatInfo& format : kPixelFormats) {
    for (const Size size : {Size{37, 23}, Size{32, 16}, Size{1, 1}, Size{3, 9}}) {
      auto frame = allocate_frame(format.format, size);
      ASSERT_TRUE(frame.ok());
      const auto luma = paint_noise(*frame, 7);
      // RGB rounds each pixel's luma, which may come on top of the mean's rounding.
      const double tolerance = format.model == ColorModel::kRgb ? 1.0 : 0.5001;
      for (const int factor : {1, 2, 4}) expect_means(frame->view(), luma, factor, tolerance);
    }
  }
}

TEST(LumaImage, LiesUprightWithinTheVisibleRectangle) {
  for (const PixelFormat format : {PixelFormat::kI420, PixelFormat::kYuyv, PixelFormat::kP010}) {
    auto frame = allocate_frame(format, {29, 26});
    ASSERT_TRUE(frame.ok());
    const auto luma = paint_noise(*frame, 8);
    VideoFrame view = frame->view();
    view.visible_rect = {3, 2, 21, 19};
    for (const Rotation rotation : kRotations) {
      for (const bool flip : {false, true}) {
        view.rotation = rotation;
        view.flip = flip;
        for (const int factor : {1, 2, 4}) expect_means(view, luma, factor, 0.5001);
      }
    }
  }
}

TEST(LumaImage, ReadsRowsFromTheBottomUp) {
  auto frame = allocate_frame(PixelFormat::kGray8, {8, 6});
  ASSERT_TRUE(frame.ok());
  auto luma = paint_noise(*frame, 9);
  VideoFrame view = frame->view();
  view.planes[0].data += 5 * view.planes[0].stride;
  view.planes[0].stride = -view.planes[0].stride;
  std::vector<double> turned;
  for (int y = 5; y >= 0; --y)
    turned.insert(turned.end(), luma.begin() + y * 8, luma.begin() + y * 8 + 8);
  expect_means(view, turned, 2, 0.5001);
}

TEST(LumaImage, AFractionalVisibleRectangleMovesByHalfASampleAtMost) {
  auto frame = allocate_frame(PixelFormat::kGray8, {20, 10});
  ASSERT_TRUE(frame.ok());
  const auto luma = paint_noise(*frame, 10);
  VideoFrame view = frame->view();
  view.visible_rect = {1.4, 2.6, 10.4, 5.0};
  LumaImage image;
  ASSERT_TRUE(image.extract(view, 1).ok());
  ASSERT_EQ(image.size(), (Size{11, 5}));
  EXPECT_EQ(image.row(0)[0], luma[3 * 20 + 1]);
}

TEST(LumaImage, RefusesWhatItCannotRead) {
  auto frame = allocate_frame(PixelFormat::kI420, {16, 16});
  ASSERT_TRUE(frame.ok());
  LumaImage image;
  for (const int factor : {0, -1, 3, 8}) {
    const Status status = image.extract(frame->view(), factor);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().to_string(),
                HasSubstr(std::to_string(factor) + " is not supported"));
  }
  VideoFrame device = frame->view();
  device.storage = FrameStorage::kDeviceHandle;
  const Status status = image.extract(device, 2);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNotSupported);
  EXPECT_TRUE(image.empty());
}

}  // namespace
}  // namespace sparing
