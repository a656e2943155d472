// The engine against the reference, on every instruction set that this machine has.
#include "sparing/kernels/import.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#ifndef __wasi__  // which has no threads
#include "sparing/base/thread_pool.h"
#endif
#include "sparing/kernels/element.h"
#include "sparing/kernels/import_random_jobs.h"
#include "sparing/kernels/import_targets_test_util.h"

namespace sparing {
namespace {

using test::describe;
using test::for_each_target;
using test::kCanary;
using test::Random;
using test::TestFrame;

// What docs/import.md promises, before normalisation, of 255.
constexpr double kTolerance = 0.02;

// Elements of every type as numbers. Subnormals and infinities too.
double small_float(std::uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = bits >> 15 != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double element(DataType type, const std::byte* at) {
  switch (type) {
    case DataType::kFloat32: return load<float>(at);
    case DataType::kFloat16: return small_float(load<std::uint16_t>(at), 5, 10);
    case DataType::kBfloat16: return small_float(load<std::uint16_t>(at), 8, 7);
    case DataType::kUint8: return load<std::uint8_t>(at);
    case DataType::kInt8: return load<std::int8_t>(at);
    case DataType::kInt32: return load<std::int32_t>(at);
    case DataType::kInt64: return static_cast<double>(load<std::int64_t>(at));
  }
  return 0;
}

bool is_float(DataType type) {
  return type == DataType::kFloat32 || type == DataType::kFloat16 || type == DataType::kBfloat16;
}

// Half a unit in the last place of a value of the type.
double half_ulp(DataType type, double value) {
  if (type == DataType::kFloat32) return std::ldexp(std::fabs(value), -24);
  const bool half = type == DataType::kFloat16;
  const int exponent = std::max(value == 0 ? -200 : std::ilogb(value), half ? -14 : -126);
  return std::ldexp(1, exponent - (half ? 10 : 7) - 1);
}

// A tensor of one of the layouts, with a canary around and between its elements.
struct Tensor {
  std::vector<std::byte> bytes;
  TensorView view;
};

enum class Order { kNchw, kNhwc, kPadded, kScattered };

Tensor make_tensor(DataType type, const Shape& nchw, Order order, int misalign) {
  Tensor tensor;
  const auto size = static_cast<std::ptrdiff_t>(info(type).size);
  TensorView& view = tensor.view;
  view.type = type;
  view.batch = static_cast<int>(nchw[0]);
  view.channels = static_cast<int>(nchw[1]);
  view.height = static_cast<int>(nchw[2]);
  view.width = static_cast<int>(nchw[3]);
  if (order == Order::kNhwc) {
    view.stride_c = size;
    view.stride_x = size * view.channels;
    view.stride_y = view.stride_x * view.width;
    view.stride_n = view.stride_y * view.height;
  } else {
    view.stride_x = order == Order::kScattered ? 3 * size : size;
    view.stride_y = view.stride_x * view.width + (order == Order::kNchw ? 0 : 5 * size);
    view.stride_c = view.stride_y * view.height;
    view.stride_n = view.stride_c * view.channels;
  }
  tensor.bytes.assign(static_cast<std::size_t>(view.stride_n * view.batch + misalign), kCanary);
  view.data = tensor.bytes.data() + misalign;
  return tensor;
}

// Where `view` lies over other memory of the same layout.
TensorView over(const TensorView& view, std::byte* data) {
  TensorView other = view;
  other.data = data;
  return other;
}

struct Share {
  std::int64_t values = 0;
  std::int64_t off_by_one = 0;
};

// `truth` is the unrounded value, `plain` what the reference stored.
void compare_element(DataType type, double got, double plain, double truth, double tolerance,
                     Share& share) {
  if (is_float(type)) {
    if (got == plain) return;
    ASSERT_LE(std::fabs(got - truth),
              half_ulp(type, truth) + half_ulp(DataType::kFloat32, truth) + tolerance);
    return;
  }
  // Steps of whole pixel values and more may be missed by one; finer ones by as many as the
  // tolerance has.
  if (tolerance <= kTolerance) {
    ++share.values;
    if (got != plain) ++share.off_by_one;
  }
  ASSERT_LE(std::fabs(got - plain), std::max(1.0, std::ceil(tolerance + 0.5)));
}

void compare(const Tensor& fast, const Tensor& plain, const Tensor& truth,
             const ImportOptions& options, Share& share) {
  const TensorView& view = fast.view;
  const PixelRect rect = options.destination.value_or(PixelRect{0, 0, view.width, view.height});
  std::vector<std::byte> outside = fast.bytes;
  const TensorView blank = over(view, outside.data() + (view.data - fast.bytes.data()));
  for (int c = 0; c < view.channels; ++c) {
    const double std = c < 3 ? options.std[static_cast<std::size_t>(c)] : 1.0;
    const double scale = is_float(view.type) ? 1 : options.quantization.scale;
    const double zero = is_float(view.type) ? 0 : options.quantization.zero_point;
    for (int y = rect.y; y < rect.y + rect.height; ++y) {
      for (int x = rect.x; x < rect.x + rect.width; ++x) {
        const int n = options.batch_index;
        const double value =
            element(DataType::kFloat32, internal::element_address(truth.view, n, c, y, x));
        compare_element(view.type, element(view.type, internal::element_address(view, n, c, y, x)),
                        element(view.type, internal::element_address(plain.view, n, c, y, x)),
                        value / scale + zero, kTolerance / std::fabs(std * scale), share);
        if (::testing::Test::HasFatalFailure()) {
          FAIL() << "channel " << c << " at " << x << "," << y;
        }
        std::memset(internal::element_address(blank, n, c, y, x), static_cast<int>(kCanary),
                    info(view.type).size);
      }
    }
  }
  ASSERT_TRUE(std::all_of(outside.begin(), outside.end(), [](std::byte b) { return b == kCanary; }))
      << "something outside the destination was written";
}

// One random job; false when it was an error, which both must say.
bool check_job(Random& random, PixelFormat format, Share& share) {
  TestFrame frame = test::random_frame(random, format);
  const DataType type = kDataTypes[static_cast<std::size_t>(random.whole(0, 6))].type;
  const int widths[] = {1, 2, 5, 15, 16, 17, 31, 32, 33, 50, 64, 100};
  const Shape shape{random.whole(1, 2), random.pick({1, 3, 3, 3, 4}), random.whole(1, 40),
                    random.pick(widths)};
  const Order order = random.pick(
      {Order::kNchw, Order::kNchw, Order::kNhwc, Order::kNhwc, Order::kPadded, Order::kScattered});
  const int misalign = random.whole(0, 3);
  Tensor fast = make_tensor(type, shape, order, misalign);
  Tensor plain = make_tensor(type, shape, order, misalign);
  Tensor truth = make_tensor(DataType::kFloat32, shape, order, 0);
  const ImportOptions options = test::random_options(random, frame.view(), fast.view);
  SCOPED_TRACE(describe(frame.view(), options, fast.view));

  ImportOptions unrounded = options;
  unrounded.quantization = {};
  const auto drawn = import_frame(frame.view(), options, fast.view);
  const auto expected = import_frame_reference(frame.view(), options, plain.view);
  const auto known = import_frame_reference(frame.view(), unrounded, truth.view);
  EXPECT_EQ(drawn.ok(), expected.ok());
  EXPECT_EQ(drawn.ok(), known.ok());
  if (!drawn.ok() || !expected.ok()) return false;
  EXPECT_EQ(*drawn, *expected);
  compare(fast, plain, truth, options, share);
  return true;
}

class ImportJobs : public ::testing::TestWithParam<PixelFormatInfo> {};

TEST_P(ImportJobs, AgreeWithTheReference) {
  for_each_target([] {
    Random random{std::mt19937(static_cast<unsigned>(GetParam().format) + 20)};
    Share share;
    int jobs = 0;
    for (int k = 0; k < test::scaled(400); ++k) {
      jobs += check_job(random, GetParam().format, share) ? 1 : 0;
      if (::testing::Test::HasFailure()) FAIL() << "job " << k;
    }
    EXPECT_GT(jobs, test::scaled(400) * 2 / 3);
    EXPECT_GT(share.values, 0);
    EXPECT_LE(static_cast<double>(share.off_by_one), 0.005 * static_cast<double>(share.values))
        << "of " << share.values;
  });
}

INSTANTIATE_TEST_SUITE_P(Formats, ImportJobs, ::testing::ValuesIn(kPixelFormats),
                         [](const auto& row) { return std::string(row.param.name); });

// The bytes of a whole canvas, where a job drew at `at`.
std::vector<float> drawn_at(const VideoFrame& frame, ImportOptions options, PixelRect at) {
  Tensor canvas = make_tensor(DataType::kFloat32, {2, 3, 90, 140}, Order::kPadded, at.x % 4);
  options.destination = at;
  options.batch_index = at.x % 2;
  EXPECT_TRUE(import_frame(frame, options, canvas.view).ok());
  std::vector<float> values;
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < at.height; ++y) {
      for (int x = 0; x < at.width; ++x) {
        values.push_back(load<float>(
            internal::element_address(canvas.view, options.batch_index, c, at.y + y, at.x + x)));
      }
    }
  }
  return values;
}

TEST(Import, PositionAndAlignmentDoNotMatter) {
  for_each_target([] {
    Random random{std::mt19937(7)};
    for (const PixelFormatInfo& row : kPixelFormats) {
      for (const Filter filter : {Filter::kBilinear, Filter::kArea}) {
        TestFrame frame(row.format, {101, 67}, {.extra_stride = 3, .misalign = 1});
        test::fill_noise(random, frame);
        // The same pixels elsewhere in memory.
        TestFrame other(row.format, {101, 67}, {.extra_stride = 10, .misalign = 4});
        for (int p = 0; p < row.planes; ++p) {
          const PlaneExtent extent = plane_extent(row.format, p, {101, 67});
          for (int y = 0; y < extent.rows; ++y) {
            std::memcpy(&other.at(p, 0, y), &frame.at(p, 0, y),
                        static_cast<std::size_t>(extent.row_bytes));
          }
        }
        ImportOptions options;
        options.filter = filter;
        options.visible_rect = Rect{3.3, 1.7, 88.8, 60.1};
        const auto first = drawn_at(frame.view(), options, {0, 0, 71, 33});
        EXPECT_EQ(drawn_at(other.view(), options, {0, 0, 71, 33}), first) << row.name;
        for (const PixelRect at : {PixelRect{1, 1, 71, 33}, {69, 57, 71, 33}, {16, 3, 71, 33}}) {
          EXPECT_EQ(drawn_at(frame.view(), options, at), first) << row.name << " " << at.x;
        }
      }
    }
  });
}

TEST(Import, BandsAndThreadsDoNotMatter) {
#ifdef __wasi__
  const ParallelFor on_pool = [](int count, const std::function<void(int)>& body) {
    while (count-- > 0) body(count);
  };
#else
  ThreadPool pool({.name = "bands", .threads = 3});
  const ParallelFor on_pool = [&](int count, const std::function<void(int)>& body) {
    pool.parallel_for(count, body);
  };
#endif
  for_each_target([&] {
    Random random{std::mt19937(11)};
    for (int k = 0; k < test::scaled(300); ++k) {
      const PixelFormatInfo& row = kPixelFormats[static_cast<std::size_t>(random.whole(0, 20))];
      TestFrame frame = test::random_frame(random, row.format);
      const DataType type = random.pick({DataType::kFloat32, DataType::kUint8});
      // Few rows or columns, too: then pixels cover many samples.
      const Shape shape{1, 3, random.whole(1, random.pick({4, 60})),
                        random.whole(1, random.pick({4, 60}))};
      const Order order = random.pick({Order::kNchw, Order::kNhwc, Order::kScattered});
      Tensor whole = make_tensor(type, shape, order, 0);
      Tensor bands = make_tensor(type, shape, order, 0);
      const ImportOptions options = test::random_options(random, frame.view(), whole.view);
      SCOPED_TRACE(describe(frame.view(), options, whole.view));
      const auto one = import_frame(frame.view(), options, whole.view);
      const auto many =
          import_frame(frame.view(), options, bands.view, random.whole(1, 9), on_pool);
      ASSERT_EQ(one.ok(), many.ok());
      ASSERT_EQ(whole.bytes, bands.bytes);
    }
  });
}

// Columns are worked in tiles; a part of the picture on its own is the same as within the whole.
// (All positions are multiples of 1/4, so that both ways have the same ones exactly.)
TEST(Import, TileBoundariesDoNotMatter) {
  constexpr int kWhole = 2148;
  for_each_target([] {
    Random random{std::mt19937(8)};
    for (const PixelFormatInfo& row : kPixelFormats) {
      for (const double scale : {0.5, 1.0}) {  // source pixels by column
        TestFrame frame(row.format, {kWhole, 4});
        test::fill_noise(random, frame);
        ImportOptions whole;
        whole.visible_rect = {0, 0, kWhole * scale, 4};
        Tensor all = make_tensor(DataType::kFloat32, {1, 3, 4, kWhole}, Order::kNchw, 0);
        ASSERT_TRUE(import_frame(frame.view(), whole, all.view).ok());
        for (const int first : {0, 2, 1000, 1017, 1018, 1023, 1024, 2030, 2046}) {
          ImportOptions part;
          part.visible_rect = {first * scale, 0, 50 * scale, 4};
          Tensor some = make_tensor(DataType::kFloat32, {1, 3, 4, 50}, Order::kNchw, 0);
          ASSERT_TRUE(import_frame(frame.view(), part, some.view).ok());
          for (int c = 0; c < 3; ++c) {
            for (int y = 0; y < 4; ++y) {
              const std::byte* there = internal::element_address(all.view, 0, c, y, first);
              const std::byte* here = internal::element_address(some.view, 0, c, y, 0);
              ASSERT_EQ(std::memcmp(there, here, 50 * sizeof(float)), 0)
                  << row.name << " " << scale << " " << first;
            }
          }
        }
      }
    }
  });
}

// One image of three float32 channels, height x width, by both ways.
void check_agreement(const VideoFrame& frame, const ImportOptions& options, Size size) {
  const Shape shape{1, 3, size.height, size.width};
  Tensor fast = make_tensor(DataType::kFloat32, shape, Order::kNchw, 0);
  Tensor plain = make_tensor(DataType::kFloat32, shape, Order::kNchw, 0);
  SCOPED_TRACE(describe(frame, options, fast.view));
  ASSERT_TRUE(import_frame(frame, options, fast.view).ok());
  ASSERT_TRUE(import_frame_reference(frame, options, plain.view).ok());
  Share share;
  compare(fast, plain, plain, options, share);
}

// Scales from 1:400 to 20:1, past every limit of the tables and into the reference.
TEST(Import, ExtremeScales) {
  for_each_target([] {
    Random random{std::mt19937(3)};
    for (const PixelFormat format :
         {PixelFormat::kNv12, PixelFormat::kRgb24, PixelFormat::kI010, PixelFormat::kUyvy}) {
      for (const Filter filter :
           {Filter::kNearest, Filter::kBilinear, Filter::kArea, Filter::kTriangle}) {
        for (const int width : {5, 40, 300}) {
          TestFrame frame(format, {2000, 30});
          test::fill_noise(random, frame);
          ImportOptions options;
          options.filter = filter;
          if (width == 300) options.visible_rect = Rect{1960.2, 3.5, 15.1, 1.1};
          check_agreement(frame.view(), options, {width, 4});
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  });
}

// Ratios where the weights of a wide filter come out even, or only just do not, by rounding.
TEST(Import, EvenRatiosOfWideFilters) {
  const int ratios[][2] = {{640, 240},   {1280, 384}, {1920, 288}, {1920, 576}, {1920, 720},
                           {3840, 1440}, {70, 15},    {71, 3},     {96, 32},    {100, 40}};
  for_each_target([&] {
    Random random{std::mt19937(12)};
    for (const PixelFormatInfo& row : kPixelFormats) {
      for (const auto& [from, to] : ratios) {
        for (const Filter filter : {Filter::kArea, Filter::kTriangle}) {
          TestFrame frame(row.format, {from, 2});
          test::fill_noise(random, frame);
          ImportOptions options;
          options.filter = filter;
          check_agreement(frame.view(), options, {to, 1});
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  });
}

// A pixel that covers the picture many times over.
TEST(Import, HugeRectangles) {
  for_each_target([] {
    Random random{std::mt19937(13)};
    for (const PixelFormat format : {PixelFormat::kGray8, PixelFormat::kRgba, PixelFormat::kNv12}) {
      TestFrame frame(format, {640, 48});
      test::fill_noise(random, frame);
      for (const double extent : {1e5, 7e7, 5e8, 1e9}) {
        for (const int width : {1, 2, 4, 7, 10, 16, 40}) {
          for (const Filter filter : {Filter::kBilinear, Filter::kNearest, Filter::kArea}) {
            ImportOptions options;
            options.filter = filter;
            options.visible_rect = Rect{-extent / 2, -extent / 2, extent, extent};
            check_agreement(frame.view(), options, {width, 2});
            if (::testing::Test::HasFailure()) return;
          }
        }
      }
    }
  });
}

// Planes of a frame may lie at the same address with strides of their own.
TEST(Import, PlanesThatShareMemory) {
  TestFrame frame(PixelFormat::kI420, {64, 64});
  Random random{std::mt19937(14)};
  test::fill_noise(random, frame);
  VideoFrame view = frame.view();
  view.planes[1] = {view.planes[0].data, 32};
  view.planes[2] = {view.planes[0].data, 64};
  check_agreement(view, {}, {40, 40});
}

}  // namespace
}  // namespace sparing
