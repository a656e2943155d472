// The border in every type, layout and stride, against one element at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "sparing/kernels/element.h"
#include "sparing/kernels/import_plan.h"
#include "sparing/kernels/import_test_util.h"

namespace sparing::internal {
namespace {

using test::kCanary;

// A tensor's strides in elements.
struct Strides {
  const char* name;
  std::ptrdiff_t n, c, y, x;
};

// For 2 images of 40 x 90 with up to 4 channels.
std::vector<Strides> strides_of(int channels) {
  return {{"NCHW", channels * 3600, 3600, 90, 1},
          {"NHWC", 3600 * channels, 1, 90 * channels, channels},
          {"NHWC, pixels apart", 3600 * 5, 1, 90 * 5, 5},
          {"NHWC, channels apart", 3600 * 8, 2, 90 * 8, 8},
          {"rows padded", channels * 4000, 4000, 100, 1},
          {"columns outermost", channels * 3600, 3600, 1, 40}};
}

void fill_slowly(const ImportPlan& plan, const ImportOptions& options, const TensorView& tensor) {
  const PixelRect& outer = plan.destination;
  const PixelRect& inner = plan.content;
  for (int y = outer.y; y < outer.y + outer.height; ++y) {
    for (int x = outer.x; x < outer.x + outer.width; ++x) {
      if (x >= inner.x && x < inner.x + inner.width && y >= inner.y && y < inner.y + inner.height) {
        continue;
      }
      for (int c = 0; c < tensor.channels; ++c) {
        const auto i = static_cast<std::size_t>(c);
        double value = options.alpha;
        if (c < 3) value = (options.pad[i] - static_cast<double>(options.mean[i])) / options.std[i];
        if (is_integer(tensor.type)) {
          value = value / options.quantization.scale + options.quantization.zero_point;
        }
        store_element(tensor.type, value, element_address(tensor, options.batch_index, c, y, x));
      }
    }
  }
}

TEST(ImportBorder, EveryTypeLayoutAndStride) {
  ImportPlan plan;
  struct Rects {
    PixelRect destination, content;
  };
  const Rects rects[] = {{{0, 0, 90, 40}, {0, 10, 90, 20}},  // rows without gaps
                         {{3, 2, 60, 30}, {13, 2, 40, 30}},  // left and right
                         {{3, 2, 60, 30}, {4, 3, 58, 28}},   // one pixel all around
                         {{3, 2, 60, 30}, {3, 2, 60, 30}},   // none
                         {{3, 2, 60, 30}, {3, 2, 0, 0}},     // nothing but border
                         {{0, 0, 90, 40}, {0, 0, 90, 40}}};
  ImportOptions options;
  options.pad = {10, 114, 200};
  options.mean = {1, 2, 3};
  options.std = {1, 2, -4};
  options.alpha = 77;
  options.batch_index = 1;
  for (const DataTypeInfo& type : kDataTypes) {
    options.quantization = is_integer(type.type) ? Quantization{0.75f, 3} : Quantization{};
    for (const int channels : {1, 3, 4}) {
      for (const Strides& strides : strides_of(channels)) {
        for (const Rects& rect : rects) {
          SCOPED_TRACE(std::string(type.name) + " " + strides.name);
          plan.destination = rect.destination;
          plan.content = rect.content;
          std::vector<std::byte> fast(2 * 8 * 4000 * type.size + 1, kCanary);
          std::vector<std::byte> slow = fast;
          const auto view = [&](std::vector<std::byte>& bytes) {
            const auto size = static_cast<std::ptrdiff_t>(type.size);
            return TensorView{bytes.data() + 1,
                              type.type,
                              2,
                              channels,
                              40,
                              90,
                              strides.n * size,
                              strides.c * size,
                              strides.y * size,
                              strides.x * size};
          };
          fill_border(plan, options, view(fast));
          fill_slowly(plan, options, view(slow));
          EXPECT_TRUE(fast == slow);
        }
      }
    }
  }
}

TEST(ImportBorder, RowsThatRunUpwards) {
  ImportPlan plan;
  plan.destination = {0, 0, 300, 7};
  plan.content = {100, 2, 50, 3};
  const ImportOptions options;
  for (const std::ptrdiff_t stride_x : {3, -3}) {
    std::vector<std::byte> fast(900 * 7, kCanary);
    std::vector<std::byte> slow = fast;
    const auto view = [&](std::vector<std::byte>& bytes) {
      std::byte* const last_row = bytes.data() + 6 * 900;
      return TensorView{stride_x > 0 ? last_row : last_row + 897,
                        DataType::kUint8,
                        1,
                        3,
                        7,
                        300,
                        0,
                        1,
                        -900,
                        stride_x};
    };
    fill_border(plan, options, view(fast));
    fill_slowly(plan, options, view(slow));
    EXPECT_TRUE(fast == slow);
    EXPECT_GT(std::count(fast.begin(), fast.end(), kCanary), 0);
  }
}

}  // namespace
}  // namespace sparing::internal
