#include "sparing/kernels/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sparing/kernels/element.h"
#include "sparing/kernels/import_targets_test_util.h"
#include "sparing/kernels/sample.h"

namespace sparing::internal {
namespace {

// Floats around everything where rounding changes its way: ties, subnormals, overflow.
std::vector<float> hard_floats() {
  std::vector<float> values;
  for (int exponent = -30; exponent <= 17; ++exponent) {
    for (const double mantissa : {1.0, 1 + 1 / 2048.0, 1 + 3 / 2048.0, 1 + 1 / 256.0, 1 + 3 / 256.0,
                                  1.5, 1.7, 2 - 1 / 4096.0, 2 - 1 / 1024.0}) {
      const auto value = static_cast<float>(std::ldexp(mantissa, exponent));
      for (const float near : {value, std::nextafter(value, 0.0f), std::nextafter(value, 1e9f)}) {
        values.push_back(near);
        values.push_back(-near);
      }
    }
  }
  for (int k = -300; k <= 600; ++k) values.push_back(static_cast<float>(k) * 0.5f);
  values.push_back(0.0f);
  values.push_back(1e30f);
  return values;
}

using Choose = StoreRows (*)(const StoreJob&);

// Whether the bits are those of the plain rounding, element by element, for rows of 1 .. 53
// columns.
void check_type(Choose choose, DataType type, int channels, RowLayout layout) {
  const std::vector<float> values = hard_floats();
  ColorTransform color;
  for (int c = 0; c < 3; ++c) {
    color.matrix[c][0] = 1;
    color.low[c] = type == DataType::kUint8 ? 0 : type == DataType::kInt8 ? -128 : -2e9f;
    color.high[c] = type == DataType::kUint8 ? 255 : type == DataType::kInt8 ? 127 : 2e9f;
  }
  color.alpha = 77;
  const std::size_t size = info(type).size;
  alignas(64) float line[kLineFloats] = {};
  int columns = 0;
  std::size_t k = 0;
  for (std::size_t begin = 0; begin < values.size();
       begin += static_cast<std::size_t>(columns), ++k) {
    const std::size_t wanted = k % 4 == 0 ? 1 + k / 4 % 16 : 53 - k % 7;
    columns = static_cast<int>(std::min(wanted, values.size() - begin));
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(begin), columns, line);
    std::vector<std::byte> got(static_cast<std::size_t>(columns * channels + 40) * size,
                               std::byte{0xA5});
    std::vector<std::byte> expected = got;
    StoreJob job;
    job.columns = columns;
    job.lines = 1;
    job.channels = channels;
    job.type = type;
    job.layout = layout;
    job.color = &color;
    const BlendRow row{{line}, {line}, {0}};
    job.blend = &row;
    job.rows = 1;
    const bool planar = layout == RowLayout::kPlanar;
    const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(size) * (planar ? 1 : channels);
    const std::ptrdiff_t next = static_cast<std::ptrdiff_t>(size) * (planar ? columns : 1);
    for (int c = 0; c < channels; ++c) {
      job.out[c] = got.data() + c * next;
      for (int i = 0; i < columns; ++i) {
        const float value = c == 3 ? color.alpha : std::clamp(line[i], color.low[0], color.high[0]);
        store_element(type, static_cast<double>(value), expected.data() + c * next + i * step);
      }
    }
    choose(job)(job);
    ASSERT_EQ(got, expected) << info(type).name << " channels " << channels << " from " << begin;
  }
}

TEST(StoreRow, RoundsLikeThePlainOne) {
  test::for_each_target([] {
    for (const DataTypeInfo& type : kDataTypes) {
      if (!internal::has_store(type.type)) continue;
      for (const int channels : {1, 3, 4}) {
        check_type(&store_rows, type.type, channels, RowLayout::kPlanar);
        if (channels > 1) check_type(&store_rows, type.type, channels, RowLayout::kInterleaved);
      }
    }
  });
}

TEST(StoreRow, WithoutVectorsToo) {
  for (const DataType type : {DataType::kFloat32, DataType::kUint8, DataType::kInt8}) {
    for (const int channels : {1, 3, 4}) {
      check_type(&store_rows_plain, type, channels, RowLayout::kPlanar);
      if (channels > 1) check_type(&store_rows_plain, type, channels, RowLayout::kInterleaved);
    }
  }
}

}  // namespace
}  // namespace sparing::internal
