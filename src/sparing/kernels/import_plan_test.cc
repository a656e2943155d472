// Geometry and errors, through the public calls.
#include "sparing/kernels/import_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "sparing/kernels/import_test_util.h"

namespace sparing {
namespace {

using test::TestFrame;
using test::TestTensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Job {
  TestFrame frame{PixelFormat::kI420, {16, 8}};
  TestTensor tensor{DataType::kFloat32, {2, 3, 6, 10}, Layout::kNchw};
  ImportOptions options;
  TensorView view = tensor.view();
};

void expect_error(const std::function<void(Job&)>& spoil, const char* text,
                  ErrorCode code = ErrorCode::kInvalidArgument) {
  SCOPED_TRACE(text);
  for (const auto import : {&import_frame, &import_frame_reference}) {
    Job job;
    spoil(job);
    const Result<Affine> result = import(job.frame.view(), job.options, job.view);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, code);
    EXPECT_THAT(result.error().to_string(), HasSubstr(text));
    EXPECT_FALSE(result.error().fix.empty());
    EXPECT_TRUE(job.tensor.untouched());
  }
}

TEST(ImportErrors, Frame) {
  expect_error([](Job& j) { j.frame.view().planes[1].data = nullptr; }, "plane 1");
  expect_error([](Job& j) { j.frame.view().coded_size.width = 0; }, "coded size");
  expect_error([](Job& j) { j.frame.view().visible_rect = {0, 0, 99, 1}; }, "visible rectangle");
  expect_error([](Job& j) { j.frame.view().storage = FrameStorage::kDeviceHandle; }, "device",
               ErrorCode::kNotSupported);
}

TEST(ImportErrors, SourceRectangle) {
  for (const Rect& rect : {Rect{0, 0, 0, 4}, Rect{0, 0, 4, 0}, Rect{0, 0, -1, 4}}) {
    expect_error([&](Job& j) { j.options.visible_rect = rect; }, "source rectangle");
  }
  for (const Rect& rect :
       {Rect{16, 0, 4, 4}, Rect{0, 8, 4, 4}, Rect{-4, 0, 4, 4}, Rect{0, -5, 4, 4}}) {
    expect_error([&](Job& j) { j.options.visible_rect = rect; }, "outside the frame");
  }
  for (const Rect& rect :
       {Rect{1e300, 0, 1, 1}, Rect{-1e308, 0, 1.5e308, 4}, Rect{0, 0, 4, 1e10}}) {
    expect_error([&](Job& j) { j.options.visible_rect = rect; }, "too far or too large");
  }
  expect_error([](Job& j) { j.options.visible_rect = {kNan, 0, 4, 4}; }, "not finite");
  expect_error([](Job& j) { j.options.visible_rect = {0, 0, 4, INFINITY}; }, "not finite");
}

TEST(ImportErrors, Tensor) {
  expect_error([](Job& j) { j.view.data = nullptr; }, "no memory");
  for (const int channels : {0, 2, 5, 10}) {
    expect_error([&](Job& j) { j.view.channels = channels; }, "channels");
  }
  expect_error([](Job& j) { j.view.height = 0; }, "height 0");
  expect_error([](Job& j) { j.view.width = -1; }, "width -1");
  expect_error([](Job& j) { j.view.batch = 0; }, "batch 0");
  expect_error([](Job& j) { j.view.stride_x = 3; }, "stride of the tensor's width");
  expect_error([](Job& j) { j.view.stride_y = 0; }, "stride of the tensor's height");
  expect_error([](Job& j) { j.view.type = static_cast<DataType>(77); }, "data type");
}

TEST(ImportErrors, Options) {
  expect_error([](Job& j) { j.options.std[1] = 0; }, "std[1]");
  expect_error([](Job& j) { j.options.std[2] = NAN; }, "std[2]");
  expect_error([](Job& j) { j.options.mean[0] = INFINITY; }, "mean[0]");
  expect_error([](Job& j) { j.options.pad[1] = 256; }, "pad[1]");
  expect_error([](Job& j) { j.options.pad[2] = NAN; }, "pad[2]");
  expect_error([](Job& j) { j.options.batch_index = 2; }, "batch_index");
  expect_error([](Job& j) { j.options.batch_index = -1; }, "batch_index");
  expect_error([](Job& j) { j.options.fit = static_cast<Fit>(9); }, "fit");
  expect_error([](Job& j) { j.options.anchor = static_cast<Anchor>(9); }, "anchor");
  expect_error([](Job& j) { j.options.order = static_cast<ChannelOrder>(9); }, "order");
  expect_error([](Job& j) { j.options.filter = static_cast<Filter>(5); }, "filter");
  expect_error([](Job& j) { j.options.outside = static_cast<Outside>(-1); }, "outside");
  expect_error([](Job& j) { j.options.chroma = static_cast<ChromaUpsampling>(2); }, "chroma");
  expect_error(
      [](Job& j) { j.options.orientation = Orientation{static_cast<Rotation>(45), false}; },
      "rotation of the orientation: 45");
  expect_error([](Job& j) { j.options.color_space.siting = static_cast<ChromaSiting>(4); },
               "siting of the colour space: 4");
  expect_error([](Job& j) { j.frame.view().color_space.matrix = static_cast<ColorMatrix>(9); },
               "matrix of the colour space: 9");
  for (const PixelRect& rect : {PixelRect{0, 0, 0, 4}, PixelRect{0, 0, 4, -4}}) {
    expect_error([&](Job& j) { j.options.destination = rect; }, "empty");
  }
  for (const PixelRect& rect :
       {PixelRect{-1, 0, 4, 4}, PixelRect{7, 0, 4, 4}, PixelRect{0, 3, 4, 4},
        PixelRect{1, 1, std::numeric_limits<int>::max(), 1}}) {
    expect_error([&](Job& j) { j.options.destination = rect; }, "outside the tensor");
  }
}

TEST(ImportErrors, Quantization) {
  const auto with = [](DataType type, Quantization quantization) {
    return [=](Job& j) {
      j.view.type = type;
      j.options.quantization = quantization;
    };
  };
  for (const float scale : {0.0f, INFINITY, NAN}) {
    expect_error(with(DataType::kUint8, {scale, 0}), "quantization scale");
    expect_error(with(DataType::kFloat32, {scale, 0}), "quantization scale");
  }
  for (const DataType type : {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16}) {
    expect_error(with(type, {2, 0}), "quantization: the tensor is of ");
    expect_error(with(type, {1, 1}), "quantization: the tensor is of ");
  }
}

TEST(ImportErrors, AlphaOfAFourChannelTensor) {
  for (const float alpha : {INFINITY, NAN}) {
    expect_error(
        [&](Job& j) {
          j.options.alpha = alpha;
          j.view = dense_view(j.view.data, DataType::kUint8, Shape{1, 4, 6, 10}, Layout::kNchw);
        },
        "alpha");
  }
}

TEST(ImportErrors, Bands) {
  Job job;
  const ParallelFor each = [](int count, const std::function<void(int)>& body) {
    for (int k = 0; k < count; ++k) body(k);
  };
  for (const int bands : {0, -1, 1025}) {
    const auto result = import_frame(job.frame.view(), job.options, job.view, bands, each);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(result.error().to_string(), HasSubstr("bands"));
  }
  const auto result = import_frame(job.frame.view(), job.options, job.view, 2, ParallelFor());
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().to_string(), HasSubstr("parallel_for"));
  EXPECT_TRUE(job.tensor.untouched());
  EXPECT_TRUE(import_frame(job.frame.view(), job.options, job.view, 1024, each).ok());
}

TEST(ImportErrors, UnusedChannelsAreNotChecked) {
  TestFrame frame(PixelFormat::kGray8, {4, 4});
  const TestTensor tensor(DataType::kFloat32, {1, 1, 4, 4}, Layout::kNchw);
  ImportOptions options;
  options.std = {1, 0, 0};
  options.alpha = NAN;
  EXPECT_TRUE(import_frame(frame.view(), options, tensor.view()).ok());
}

TEST(ImportGeometry, StretchMapsTensorCornersToTheRectangle) {
  TestFrame frame(PixelFormat::kI420, {64, 48});
  const TestTensor tensor(DataType::kFloat32, {1, 3, 40, 60}, Layout::kNchw);
  ImportOptions options;
  options.visible_rect = {3.25, 4.5, 30, 20};
  options.destination = {{10, 8, 40, 16}};
  const Result<Affine> map = import_frame(frame.view(), options, tensor.view());
  ASSERT_TRUE(map.ok());
  const Point corner = (*map)({10, 8});
  EXPECT_DOUBLE_EQ(corner.x, 3.25);
  EXPECT_DOUBLE_EQ(corner.y, 4.5);
  const Point opposite = (*map)({50, 24});
  EXPECT_DOUBLE_EQ(opposite.x, 33.25);
  EXPECT_DOUBLE_EQ(opposite.y, 24.5);
  EXPECT_EQ(map->b, 0);
  EXPECT_EQ(map->c, 0);
}

TEST(ImportGeometry, LetterboxCentresAndFillsTheBorder) {
  TestFrame frame(PixelFormat::kGray8, {8, 4});
  frame.fill_plane(0, 50);
  const TestTensor tensor(DataType::kFloat32, {1, 1, 7, 8}, Layout::kNchw);
  ImportOptions options;
  options.fit = Fit::kLetterbox;
  options.mean = {10, 0, 0};
  options.std = {2, 1, 1};
  const Result<Affine> map = import_frame(frame.view(), options, tensor.view());
  ASSERT_TRUE(map.ok());
  const float border = (114.0f - 10) / 2;
  for (int y = 0; y < 7; ++y) {
    for (int x = 0; x < 8; ++x) {
      EXPECT_EQ(tensor.get<float>(0, 0, y, x), y >= 1 && y < 5 ? 20.0f : border) << x << "," << y;
    }
  }
  EXPECT_EQ(*map, (Affine{1, 0, 0, 0, 1, -1}));
}

TEST(ImportGeometry, LetterboxAtTheTopLeftWithAColourOfItsOwn) {
  TestFrame frame(PixelFormat::kRgb24, {8, 4});
  frame.fill_plane(0, 50);
  const TestTensor tensor(DataType::kUint8, {1, 3, 7, 8}, Layout::kNchw);
  ImportOptions options;
  options.fit = Fit::kLetterbox;
  options.anchor = Anchor::kTopLeft;
  options.pad = {1, 2, 3};
  const Result<Affine> map = import_frame(frame.view(), options, tensor.view());
  ASSERT_TRUE(map.ok());
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < 7; ++y) {
      for (int x = 0; x < 8; ++x) {
        EXPECT_EQ(tensor.get<std::uint8_t>(0, c, y, x), y < 4 ? 50 : c + 1) << c << y << x;
      }
    }
  }
  EXPECT_EQ(*map, (Affine{1, 0, 0, 0, 1, 0}));
}

TEST(ImportGeometry, LetterboxWithoutAnExactFitReturnsTheExactMap) {
  TestFrame frame(PixelFormat::kGray8, {100, 33});
  const TestTensor tensor(DataType::kFloat32, {1, 1, 50, 64}, Layout::kNchw);
  ImportOptions options;
  options.fit = Fit::kLetterbox;
  options.destination = {{5, 4, 48, 40}};
  const Result<Affine> map = import_frame(frame.view(), options, tensor.view());
  ASSERT_TRUE(map.ok());
  // Scale 0.48: 33 rows become 15.84, rounded to 16; 24 rows are left, 12 above.
  const Point corner = (*map)({5, 16});
  const Point opposite = (*map)({53, 32});
  EXPECT_NEAR(corner.x, 0, 1e-12);
  EXPECT_NEAR(corner.y, 0, 1e-12);
  EXPECT_NEAR(opposite.x, 100, 1e-12);
  EXPECT_NEAR(opposite.y, 33, 1e-12);
  EXPECT_EQ(tensor.get<float>(0, 0, 15, 5), 114);
  EXPECT_EQ(tensor.get<float>(0, 0, 16, 5), 0);
  EXPECT_EQ(tensor.get<float>(0, 0, 31, 52), 0);
  EXPECT_EQ(tensor.get<float>(0, 0, 32, 52), 114);
}

TEST(ImportGeometry, LetterboxOfAnExtremeShapeKeepsOnePixel) {
  TestFrame frame(PixelFormat::kGray8, {16384, 1});
  const TestTensor tensor(DataType::kFloat32, {1, 1, 5, 4}, Layout::kNchw);
  ImportOptions options;
  options.fit = Fit::kLetterbox;
  ASSERT_TRUE(import_frame(frame.view(), options, tensor.view()).ok());
  EXPECT_THAT(tensor.channel(0), ElementsAre(114, 114, 114, 114, 114, 114, 114, 114, 0, 0, 0, 0,
                                             114, 114, 114, 114, 114, 114, 114, 114));
}

TEST(ImportGeometry, MapLeadsToDisplayCoordinatesOfARotatedFrame) {
  TestFrame frame(PixelFormat::kGray8, {40, 20});
  frame.view().rotation = Rotation::k90;
  const TestTensor tensor(DataType::kFloat32, {1, 1, 40, 20}, Layout::kNchw);
  const Result<Affine> map = import_frame(frame.view(), {}, tensor.view());
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(*map, Affine{});  // upright already: the tensor shows the frame as displayed
}

}  // namespace
}  // namespace sparing
