#include "sparing/base/tensor_view.h"

#include <limits>

#include "sparing/base/check.h"

namespace sparing {

std::optional<DataType> data_type_from_name(std::string_view name) {
  for (const DataTypeInfo& row : kDataTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  bool overflow = false;
  bool empty = false;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0) return std::nullopt;
    empty = empty || dimension == 0;
    overflow = overflow || __builtin_mul_overflow(count, dimension, &count);
  }
  if (empty) return 0;  // in whatever order the dimensions come
  return overflow ? std::nullopt : std::optional(count);
}

std::string to_string_shape(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ",";
    text += shape[i] < 0 ? "?" : std::to_string(shape[i]);
  }
  return text + "]";
}

TensorView dense_view(std::byte* data, DataType type, std::span<const std::int64_t> shape,
                      Layout layout) {
  SPARING_CHECK(shape.size() == 4);
  for (const std::int64_t dimension : shape) {
    SPARING_CHECK(dimension > 0 && dimension <= std::numeric_limits<int>::max());
  }
  const auto size = static_cast<std::ptrdiff_t>(info(type).size);
  const std::optional<std::int64_t> count = element_count(shape);
  SPARING_CHECK(count && *count <= std::numeric_limits<std::ptrdiff_t>::max() / size);
  const bool nchw = layout == Layout::kNchw;
  TensorView view;
  view.data = data;
  view.type = type;
  view.batch = static_cast<int>(shape[0]);
  view.channels = static_cast<int>(shape[nchw ? 1 : 3]);
  view.height = static_cast<int>(shape[nchw ? 2 : 1]);
  view.width = static_cast<int>(shape[nchw ? 3 : 2]);
  if (nchw) {
    view.stride_x = size;
    view.stride_y = view.stride_x * view.width;
    view.stride_c = view.stride_y * view.height;
    view.stride_n = view.stride_c * view.channels;
  } else {
    view.stride_c = size;
    view.stride_x = view.stride_c * view.channels;
    view.stride_y = view.stride_x * view.width;
    view.stride_n = view.stride_y * view.height;
  }
  return view;
}

}  // namespace sparing
