// Dense rows of numbers, for work within the module. Private to compose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sparing/base/geometry.h"

namespace sparing {

template <class T>
struct Raster {
  Size size;
  std::vector<T> values;  // size.width * size.height

  void resize(Size to) {
    size = to;
    values.resize(static_cast<std::size_t>(to.width) * static_cast<std::size_t>(to.height));
  }
  T* row(int y) {
    return values.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width);
  }
  const T* row(int y) const {
    return values.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width);
  }
};
using ByteRaster = Raster<std::uint8_t>;
using FloatRaster = Raster<float>;

}  // namespace sparing
