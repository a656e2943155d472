// The fast paths against the reference, on every instruction set that this machine has.
#include "sparing/kernels/import.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "hwy/highway.h"
#include "sparing/kernels/import_test_util.h"
#include "sparing/kernels/import_yuv420.h"

namespace sparing {
namespace {

using test::kCanary;
using test::TestFrame;
using test::TestTensor;

constexpr double kTolerance = 0.02;  // of 255, before normalisation
constexpr PixelFormat kFastFormats[] = {PixelFormat::kI420, PixelFormat::kNv12};

// Runs `body` once on each instruction set.
void for_each_target(const std::function<void()>& body) {
  int targets = 0;
  for (std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    ASSERT_STREQ(import_simd_target(), hwy::TargetName(target));
    SCOPED_TRACE(import_simd_target());
    body();
    hwy::SetSupportedTargetsForTest(0);
    ++targets;
    if (::testing::Test::HasFatalFailure()) return;
  }
  ASSERT_GT(targets, 0);
}

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

TestFrame random_frame(Random& random) {
  const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64, 101, 260};
  TestFrame::Options layout;
  layout.extra_stride = random.pick({0, 0, 1, 3, 64});
  layout.bottom_up = random.chance(0.2);
  layout.misalign = random.whole(0, 5);
  TestFrame frame(random.pick(kFastFormats), {random.pick(sizes), random.pick(sizes)}, layout);
  frame.fill_random(random.bits);
  VideoFrame& view = frame.view();
  view.color_space.matrix = random.pick(
      {ColorMatrix::kUnspecified, ColorMatrix::kBt601, ColorMatrix::kBt709, ColorMatrix::kBt2020});
  view.color_space.range =
      random.pick({ColorRange::kUnspecified, ColorRange::kLimited, ColorRange::kFull});
  view.color_space.siting = random.pick({ChromaSiting::kUnspecified, ChromaSiting::kLeft,
                                         ChromaSiting::kCenter, ChromaSiting::kTopLeft});
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

ImportOptions random_options(Random& random, const VideoFrame& frame) {
  ImportOptions options;
  const Rect display = display_rect(frame);
  if (random.chance(0.8)) {
    Rect rect{random.real(-0.3, 0.9) * display.width, random.real(-0.3, 0.9) * display.height,
              random.real(0.01, 1.2) * display.width, random.real(0.01, 1.2) * display.height};
    rect.width = std::max(rect.width, 1e-3 - rect.x);  // some of the frame is in it
    rect.height = std::max(rect.height, 1e-3 - rect.y);
    if (random.chance(0.3)) {
      rect = {std::floor(rect.x), std::floor(rect.y), std::ceil(rect.width) + 1,
              std::ceil(rect.height) + 1};
    }
    options.visible_rect = rect;
  }
  if (random.chance(0.3)) options.fit = Fit::kLetterbox;
  if (random.chance(0.5)) options.order = ChannelOrder::kBgr;
  if (random.chance(0.5)) {
    options.mean = {103.53f, 116.28f, 123.675f};
    options.std = {57.375f, -57.12f, 0.0039f};
  }
  return options;
}

std::string describe(const VideoFrame& frame, const ImportOptions& options) {
  const Rect visible = visible_rect(frame);
  const Rect source = options.visible_rect.value_or(display_rect(frame));
  std::ostringstream text;
  text << info(frame.format).name << " " << frame.coded_size.width << "x" << frame.coded_size.height
       << " stride " << frame.planes[0].stride << " visible " << visible.x << "," << visible.y
       << " " << visible.width << "x" << visible.height << " source " << source.x << "," << source.y
       << " " << source.width << "x" << source.height;
  return text.str();
}

// The largest difference, in units of 1 of 255.
double largest_difference(const TestTensor& a, const TestTensor& b, const ImportOptions& options) {
  double largest = 0;
  for (int n = 0; n < a.view().batch; ++n) {
    for (int c = 0; c < 3; ++c) {
      const std::vector<float> p = a.channel(c, n);
      const std::vector<float> q = b.channel(c, n);
      for (std::size_t i = 0; i < p.size(); ++i) {
        if (std::memcmp(&p[i], &q[i], sizeof(float)) == 0) continue;  // the canary is no number
        const double difference = std::abs(static_cast<double>(p[i]) - q[i]) *
                                  std::abs(options.std[static_cast<std::size_t>(c)]);
        if (!(difference <= largest)) largest = difference;
      }
    }
  }
  return largest;
}

TEST(Import, FastPathAgreesWithTheReferenceOnRandomJobs) {
  for_each_target([] {
    Random random{std::mt19937(20)};
    int fast = 0;
    for (int k = 0; k < 1500; ++k) {
      TestFrame frame = random_frame(random);
      ImportOptions options = random_options(random, frame.view());
      const int widths[] = {1, 2, 5, 15, 16, 17, 31, 32, 33, 50, 64, 100};
      const Shape shape{2, 3, random.whole(1, 40), random.pick(widths)};
      options.batch_index = random.whole(0, 1);
      if (random.chance(0.2) && options.visible_rect && options.fit == Fit::kStretch) {
        options.visible_rect->width = static_cast<double>(shape[3]);  // scale 1
        options.visible_rect->height = static_cast<double>(shape[2]);
        options.visible_rect->x = std::min(std::floor(options.visible_rect->x), 0.0);
        options.visible_rect->y = std::max(std::floor(options.visible_rect->y), 0.0);
        if (!intersect(*options.visible_rect, display_rect(frame.view())).area()) continue;
      }
      if (random.chance(0.4)) {
        const int x = random.whole(0, static_cast<int>(shape[3]) - 1);
        const int y = random.whole(0, static_cast<int>(shape[2]) - 1);
        options.destination = {x, y, random.whole(1, static_cast<int>(shape[3]) - x),
                               random.whole(1, static_cast<int>(shape[2]) - y)};
      }
      SCOPED_TRACE(describe(frame.view(), options));
      const TestTensor tensor(DataType::kFloat32, shape, Layout::kNchw);
      const TestTensor expected(DataType::kFloat32, shape, Layout::kNchw);
      fast += internal::fits_yuv420(frame.view(), options, tensor.view());
      const Result<Affine> map = import_frame(frame.view(), options, tensor.view());
      ASSERT_TRUE(map.ok()) << map.error().to_string();
      const Result<Affine> expected_map =
          import_frame_reference(frame.view(), options, expected.view());
      ASSERT_TRUE(expected_map.ok());
      ASSERT_EQ(*map, *expected_map);
      ASSERT_LE(largest_difference(tensor, expected, options), kTolerance);
      // Outside the destination both must have left the canary.
      for (std::size_t i = 0; i < tensor.bytes().size(); i += sizeof(float)) {
        const bool untouched = std::all_of(&tensor.bytes()[i], &tensor.bytes()[i] + sizeof(float),
                                           [](std::byte b) { return b == kCanary; });
        const bool meant = std::all_of(&expected.bytes()[i], &expected.bytes()[i] + sizeof(float),
                                       [](std::byte b) { return b == kCanary; });
        ASSERT_EQ(untouched, meant) << "element " << i / sizeof(float);
      }
    }
    EXPECT_GT(fast, 500);
  });
}

// Full pictures at the sizes that users have, every matrix, range and siting; scale 1 too.
TEST(Import, FastPathAgreesWithTheReferenceOnWholeFrames) {
  const ColorMatrix matrices[] = {ColorMatrix::kBt601, ColorMatrix::kBt709, ColorMatrix::kBt2020};
  const ChromaSiting sitings[] = {ChromaSiting::kLeft, ChromaSiting::kCenter,
                                  ChromaSiting::kTopLeft};
  for_each_target([&] {
    std::mt19937 random(3);
    for (const PixelFormat format : kFastFormats) {
      TestFrame frame(format, {130, 74});
      frame.fill_random(random);
      ColorSpace& space = frame.view().color_space;
      for (const ColorMatrix matrix : matrices) {
        for (const ColorRange range : {ColorRange::kLimited, ColorRange::kFull}) {
          for (const ChromaSiting siting : sitings) {
            space = {matrix, range, {}, {}, siting};
            for (const Size size : {Size{130, 74}, Size{65, 37}, Size{50, 50}, Size{200, 100}}) {
              const Shape shape{1, 3, size.height, size.width};
              const TestTensor tensor(DataType::kFloat32, shape, Layout::kNchw);
              const TestTensor expected(DataType::kFloat32, shape, Layout::kNchw);
              ASSERT_TRUE(import_frame(frame.view(), {}, tensor.view()).ok());
              ASSERT_TRUE(import_frame_reference(frame.view(), {}, expected.view()).ok());
              ASSERT_LE(largest_difference(tensor, expected, {}), kTolerance)
                  << info(format).name << " " << static_cast<int>(matrix) << " "
                  << static_cast<int>(range) << " " << static_cast<int>(siting) << " "
                  << size.width;
            }
          }
        }
      }
    }
  });
}

// Where float positions would be off by hundredths of a sample: the far end of a very wide picture.
TEST(Import, VeryWidePicturesAreAsExact) {
  for_each_target([] {
    std::mt19937 random(4);
    for (const PixelFormat format : kFastFormats) {
      TestFrame frame(format, {kMaxFrameExtent, 4});
      frame.fill_random(random);
      ImportOptions options;
      options.visible_rect = {12345.678, 0.1, 3996.5, 3.7};
      const TestTensor tensor(DataType::kFloat32, {1, 3, 3, 1601}, Layout::kNchw);
      const TestTensor expected(DataType::kFloat32, {1, 3, 3, 1601}, Layout::kNchw);
      ASSERT_TRUE(import_frame(frame.view(), options, tensor.view()).ok());
      ASSERT_TRUE(import_frame_reference(frame.view(), options, expected.view()).ok());
      EXPECT_LE(largest_difference(tensor, expected, options), kTolerance);
    }
  });
}

TEST(Import, HandWorkedColoursThroughTheFastPath) {
  for_each_target([] {
    for (const PixelFormat format : kFastFormats) {
      TestFrame frame(format, {20, 20});
      frame.view().color_space.matrix = ColorMatrix::kBt709;
      frame.fill_plane(0, 63);  // red, as in the reference's test
      frame.fill_plane(1, 102);
      if (format == PixelFormat::kI420) {
        frame.fill_plane(2, 240);
      } else {
        for (int i = 0; i < 100; ++i) frame.at(1, i % 10 * 2 + 1, i / 10) = 240;
      }
      for (const int size : {20, 13}) {
        const TestTensor tensor(DataType::kFloat32, {1, 3, size, size}, Layout::kNchw);
        ASSERT_TRUE(import_frame(frame.view(), {}, tensor.view()).ok());
        for (const float red : tensor.channel(0)) ASSERT_EQ(red, 255);
        for (const float green : tensor.channel(1)) ASSERT_NEAR(green, 0.584647, 1e-3);
        for (const float blue : tensor.channel(2)) ASSERT_EQ(blue, 0);
      }
    }
  });
}

// Bit for bit the same wherever the picture lies: in the tensor and in memory.
TEST(Import, ResultDoesNotDependOnPositionOrAlignment) {
  for_each_target([] {
    for (const PixelFormat format : kFastFormats) {
      for (const bool straight : {false, true}) {
        Random random{std::mt19937(6)};
        std::vector<std::vector<float>> first;
        for (int k = 0; k < 24; ++k) {
          TestFrame::Options layout;
          layout.misalign = k;
          layout.extra_stride = k * 7 % 5;
          layout.bottom_up = k % 3 == 2;
          TestFrame frame(format, {90, 50}, layout);
          for (int p = 0; p < info(format).planes; ++p) {
            const PlaneExtent extent = plane_extent(format, p, {90, 50});
            std::mt19937 bytes(static_cast<unsigned>(p));
            for (int y = 0; y < extent.rows; ++y) {
              for (int x = 0; x < extent.row_bytes; ++x) {
                frame.at(p, x, y) = static_cast<std::uint8_t>(bytes());
              }
            }
          }
          const int margin = random.whole(0, 40);
          const PixelRect where{random.whole(0, margin), random.whole(0, margin), 71, 33};
          // At any byte: floats in a file that is mapped, say.
          std::vector<std::byte> memory(
              static_cast<std::size_t>((71 + margin) * (33 + margin) * 3 * 2 * 4 + 8));
          const TensorView view = dense_view(memory.data() + k % 8, DataType::kFloat32,
                                             Shape{2, 3, 33 + margin, 71 + margin}, Layout::kNchw);
          ImportOptions options;
          options.destination = where;
          options.batch_index = k % 2;
          options.visible_rect = straight ? Rect{13, 11, 71, 33} : Rect{3.3, 2.7, 80.1, 45.9};
          ASSERT_TRUE(import_frame(frame.view(), options, view).ok());
          std::vector<std::vector<float>> values(3);
          for (int c = 0; c < 3; ++c) {
            for (int i = 0; i < 71 * 33; ++i) {
              float value;
              std::memcpy(&value,
                          view.data + options.batch_index * view.stride_n + c * view.stride_c +
                              (where.y + i / 71) * view.stride_y + (where.x + i % 71) * 4,
                          sizeof value);
              values[static_cast<std::size_t>(c)].push_back(value);
            }
          }
          if (k == 0) first = values;
          ASSERT_EQ(values, first) << k;
        }
      }
    }
  });
}

// Columns are worked in tiles; a part of the picture on its own is the same as within the whole.
// (All positions are multiples of 1/4, so that both ways have the same ones exactly.)
TEST(Import, ResultDoesNotDependOnTileBoundaries) {
  constexpr int kWhole = 2 * internal::kTileColumns + 100;
  for_each_target([] {
    std::mt19937 random(8);
    for (const PixelFormat format : kFastFormats) {
      for (const double scale : {0.5, 1.0}) {  // source pixels by column
        TestFrame frame(format, {kWhole, 4});
        frame.fill_random(random);
        ImportOptions whole;
        whole.visible_rect = {0, 0, kWhole * scale, 4};
        const TestTensor all(DataType::kFloat32, {1, 3, 4, kWhole}, Layout::kNchw);
        ASSERT_TRUE(import_frame(frame.view(), whole, all.view()).ok());
        for (const int first : {0, 2, 1000, 1017, 1018, 1023, 1024, 2030, 2046}) {
          ImportOptions part;
          part.visible_rect = {first * scale, 0, 50 * scale, 4};
          const TestTensor some(DataType::kFloat32, {1, 3, 4, 50}, Layout::kNchw);
          ASSERT_TRUE(import_frame(frame.view(), part, some.view()).ok());
          for (int c = 0; c < 3; ++c) {
            for (int y = 0; y < 4; ++y) {
              for (int x = 0; x < 50; ++x) {
                ASSERT_EQ(some.get<float>(0, c, y, x), all.get<float>(0, c, y, first + x))
                    << scale << " " << first << " " << x;
              }
            }
          }
        }
      }
    }
  });
}

// A plane between two pages that must not be touched, against the one or the other.
class GuardedPlane {
 public:
  GuardedPlane(std::size_t bytes, bool at_end) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (bytes + page - 1) / page * page;
    size_ = inner + 2 * page;
    void* memory = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    base_ = static_cast<std::uint8_t*>(memory);
    if (mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0) return;
    data_ = base_ + page + (at_end ? inner - bytes : 0);
  }
  ~GuardedPlane() {
    if (base_ != nullptr) munmap(base_, size_);
  }
  GuardedPlane(GuardedPlane&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), data_(other.data_), size_(other.size_) {}
  GuardedPlane& operator=(GuardedPlane&&) = delete;
  std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* base_ = nullptr;
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

TEST(Import, ReadsNothingOutsideThePlanes) {
  const Size sizes[] = {{4, 1}, {4, 4}, {7, 3}, {8, 2}, {33, 5}, {64, 4}, {65, 4}, {130, 6}};
  for_each_target([&] {
    for (const PixelFormat format : kFastFormats) {
      for (const Size size : sizes) {
        for (const bool at_end : {true, false}) {
          for (const bool bottom_up : {false, true}) {
            VideoFrame frame;
            frame.format = format;
            frame.coded_size = size;
            std::vector<GuardedPlane> planes;
            for (int p = 0; p < info(format).planes; ++p) {
              const PlaneExtent extent = plane_extent(format, p, size);
              const std::ptrdiff_t bytes = std::ptrdiff_t{extent.row_bytes} * extent.rows;
              planes.emplace_back(static_cast<std::size_t>(bytes), at_end);
              ASSERT_NE(planes.back().data(), nullptr);
              Plane& plane = frame.planes[static_cast<std::size_t>(p)];
              plane.data = planes.back().data() + (bottom_up ? bytes - extent.row_bytes : 0);
              plane.stride = bottom_up ? -extent.row_bytes : extent.row_bytes;
            }
            const Rect rects[] = {{0, 0, double(size.width), double(size.height)},
                                  {-3, -3, size.width + 6.0, size.height + 6.0},
                                  {size.width - 1.5, size.height - 0.7, 9, 9},
                                  {0.3, 0.3, size.width - 0.6, size.height - 0.6}};
            for (const Rect& rect : rects) {
              for (const Size out : {size, Size{20, 10}, Size{150, 3}, Size{1, 1}}) {
                ImportOptions options;
                options.visible_rect = rect;
                const TestTensor tensor(DataType::kFloat32, {1, 3, out.height, out.width},
                                        Layout::kNchw);
                ASSERT_TRUE(import_frame(frame, options, tensor.view()).ok());
              }
            }
          }
        }
      }
    }
  });
}

// What the fast path does not do reaches the reference, whole.
TEST(Import, EverythingElseEqualsTheReference) {
  std::mt19937 random(9);
  for (const PixelFormatInfo& row : kPixelFormats) {
    for (const DataTypeInfo& type : kDataTypes) {
      for (const Rotation rotation : {Rotation::k0, Rotation::k90}) {
        TestFrame frame(row.format, {30, 20});
        frame.fill_random(random);
        frame.view().rotation = rotation;
        ImportOptions options;
        options.fit = Fit::kLetterbox;
        const Shape shape{1, 16, 18, 3};
        const TestTensor tensor(type.type, shape, Layout::kNhwc);
        const TestTensor expected(type.type, shape, Layout::kNhwc);
        ASSERT_TRUE(import_frame(frame.view(), options, tensor.view()).ok());
        ASSERT_TRUE(import_frame_reference(frame.view(), options, expected.view()).ok());
        EXPECT_EQ(tensor.bytes(), expected.bytes()) << row.name << " " << type.name;
      }
    }
  }
}

}  // namespace
}  // namespace sparing
