#include "sparing/base/tensor_view.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>

namespace sparing {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(DataType, TableIsInTheOrderOfTheEnum) {
  for (std::size_t i = 0; i < kDataTypes.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kDataTypes[i].type), i);
    EXPECT_EQ(&info(kDataTypes[i].type), &kDataTypes[i]);
  }
  EXPECT_EQ(info(DataType::kInt64).name, "int64");
}

TEST(DataType, NamesAreUniqueAndGoBackAndForth) {
  std::set<std::string_view> names;
  for (const DataTypeInfo& row : kDataTypes) {
    EXPECT_EQ(data_type_from_name(row.name), row.type);
    names.insert(row.name);
  }
  EXPECT_EQ(names.size(), kDataTypes.size());
  EXPECT_EQ(data_type_from_name("float"), std::nullopt);
  EXPECT_EQ(data_type_from_name(""), std::nullopt);
  EXPECT_EQ(data_type_from_name("FLOAT32"), std::nullopt);
}

TEST(DataType, SizesAreThoseOfTheCppTypes) {
  EXPECT_EQ(info(DataType::kFloat32).size, sizeof(float));
  EXPECT_EQ(info(DataType::kFloat16).size, 2u);
  EXPECT_EQ(info(DataType::kBfloat16).size, 2u);
  EXPECT_EQ(info(DataType::kUint8).size, sizeof(std::uint8_t));
  EXPECT_EQ(info(DataType::kInt8).size, sizeof(std::int8_t));
  EXPECT_EQ(info(DataType::kInt32).size, sizeof(std::int32_t));
  EXPECT_EQ(info(DataType::kInt64).size, sizeof(std::int64_t));
}

std::optional<std::int64_t> count(const Shape& shape) { return element_count(shape); }

TEST(ElementCount, IsTheProduct) {
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count({7}), 7);
  EXPECT_EQ(count({1, 3, 384, 288}), 331776);
  EXPECT_EQ(count({kMax}), kMax);
  EXPECT_EQ(count({kMax, 1}), kMax);
}

TEST(ElementCount, RejectsDynamicAndOverflowingShapes) {
  EXPECT_EQ(count({1, -1, 3}), std::nullopt);
  EXPECT_EQ(count({0, -1}), std::nullopt);
  EXPECT_EQ(count({kMax, 2}), std::nullopt);
  EXPECT_EQ(count({1LL << 32, 1LL << 31}), std::nullopt);
  EXPECT_EQ(count({1LL << 31, 1LL << 31, 1}), 1LL << 62);
}

TEST(ElementCount, IsZeroWithAnEmptyDimensionInAnyPlace) {
  EXPECT_EQ(count({0, kMax, kMax}), 0);
  EXPECT_EQ(count({kMax, kMax, 0}), 0);
}

TEST(ToStringShape, ShowsDynamicDimensions) {
  EXPECT_EQ(to_string_shape(Shape{}), "[]");
  EXPECT_EQ(to_string_shape(Shape{1, 3, 384, 288}), "[1,3,384,288]");
  EXPECT_EQ(to_string_shape(Shape{-1, 0}), "[?,0]");
}

std::ptrdiff_t offset(const TensorView& v, int n, int c, int y, int x) {
  return n * v.stride_n + c * v.stride_c + y * v.stride_y + x * v.stride_x;
}

TEST(DenseView, AddressesEachElementOfBothLayoutsAndAllTypes) {
  constexpr int kN = 2, kC = 3, kH = 4, kW = 5;
  std::byte data{};
  for (const DataTypeInfo& row : kDataTypes) {
    const auto size = static_cast<std::ptrdiff_t>(row.size);
    const TensorView planar = dense_view(&data, row.type, Shape{kN, kC, kH, kW}, Layout::kNchw);
    const TensorView packed = dense_view(&data, row.type, Shape{kN, kH, kW, kC}, Layout::kNhwc);
    for (const TensorView& view : {planar, packed}) {
      EXPECT_EQ(view.data, &data);
      EXPECT_EQ(view.type, row.type);
      EXPECT_EQ(view.batch, kN);
      EXPECT_EQ(view.channels, kC);
      EXPECT_EQ(view.height, kH);
      EXPECT_EQ(view.width, kW);
    }
    for (int n = 0; n < kN; ++n) {
      for (int c = 0; c < kC; ++c) {
        for (int y = 0; y < kH; ++y) {
          for (int x = 0; x < kW; ++x) {
            EXPECT_EQ(offset(planar, n, c, y, x), (((n * kC + c) * kH + y) * kW + x) * size);
            EXPECT_EQ(offset(packed, n, c, y, x), (((n * kH + y) * kW + x) * kC + c) * size);
          }
        }
      }
    }
  }
}

#if PTRDIFF_MAX > INT32_MAX
TEST(DenseView, LargeTensorsDoNotWrap) {
  const TensorView view =
      dense_view(nullptr, DataType::kFloat32, Shape{2, 3, 40000, 40000}, Layout::kNchw);
  EXPECT_EQ(view.stride_n, 4LL * 3 * 40000 * 40000);
}
#endif

TEST(DenseViewDeathTest, RejectsOtherShapes) {
  const auto view = [](const Shape& shape) {
    (void)dense_view(nullptr, DataType::kFloat32, shape, Layout::kNchw);
  };
  EXPECT_DEATH_IF_SUPPORTED(view({1, 3, 4}), "invariant");
  EXPECT_DEATH_IF_SUPPORTED(view({1, 3, 0, 4}), "invariant");
  EXPECT_DEATH_IF_SUPPORTED(view({1, 3, -1, 4}), "invariant");
  EXPECT_DEATH_IF_SUPPORTED(view({1, 3, 1LL << 31, 4}), "invariant");
  EXPECT_DEATH_IF_SUPPORTED(view({1 << 30, 1 << 30, 1 << 30, 4}), "invariant");
}

}  // namespace
}  // namespace sparing
