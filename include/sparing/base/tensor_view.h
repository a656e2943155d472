// Views of tensor memory: no ownership, cheap to copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sparing {

// WebNN's MLOperandDataType, and bfloat16, in one order that kDataTypes follows.
enum class DataType { kFloat32, kFloat16, kBfloat16, kUint8, kInt8, kInt32, kInt64 };

struct DataTypeInfo {
  DataType type;
  std::string_view name;  // WebNN's spelling: "float32"
  std::size_t size;       // bytes of one element
};

inline constexpr std::array<DataTypeInfo, 7> kDataTypes{{
    {DataType::kFloat32, "float32", 4},
    {DataType::kFloat16, "float16", 2},
    {DataType::kBfloat16, "bfloat16", 2},
    {DataType::kUint8, "uint8", 1},
    {DataType::kInt8, "int8", 1},
    {DataType::kInt32, "int32", 4},
    {DataType::kInt64, "int64", 8},
}};

constexpr const DataTypeInfo& info(DataType type) {
  return kDataTypes[static_cast<std::size_t>(type)];
}
std::optional<DataType> data_type_from_name(std::string_view name);

// Dimensions of a dense tensor, outermost first.
using Shape = std::vector<std::int64_t>;
// The product of the dimensions; nullopt if one is negative or the product overflows.
std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape);
// "[1,3,384,288]"; dimensions that are negative, which stand for dynamic ones, show as "?".
std::string to_string_shape(std::span<const std::int64_t> shape);

// How an image lies in a 4-D tensor.
enum class Layout { kNchw, kNhwc };

// A 4-D image tensor in memory that somebody else owns: element (n, c, y, x) is at
// data + n*stride_n + c*stride_c + y*stride_y + x*stride_x bytes. Any of the strides may be larger
// than dense, so a view can be a sub-rectangle of a larger tensor.
struct TensorView {
  std::byte* data = nullptr;
  DataType type = DataType::kFloat32;
  int batch = 1;
  int channels = 3;
  int height = 0;
  int width = 0;
  std::ptrdiff_t stride_n = 0;
  std::ptrdiff_t stride_c = 0;
  std::ptrdiff_t stride_y = 0;
  std::ptrdiff_t stride_x = 0;
};

// A view of a dense tensor with the given layout. `shape` is [n,c,h,w] or [n,h,w,c].
// Precondition: shape has 4 positive dimensions that fit an int, and fits memory as a whole.
TensorView dense_view(std::byte* data, DataType type, std::span<const std::int64_t> shape,
                      Layout layout);

}  // namespace sparing
