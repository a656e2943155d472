#include "sparing/io/i420_copy.h"

#include <algorithm>
#include <cstring>

namespace sparing {
namespace {

// One component of the source: its samples from the rectangle's corner on.
struct Component {
  const std::uint8_t* data;
  std::ptrdiff_t stride;
  int step;
  int shift;  // of the stored sample, down to 8 bits
  Size size;
};

struct Target {
  std::uint8_t* data;
  std::ptrdiff_t stride;
  Size size;
};

template <int kBytes>
int load(const std::uint8_t* p) {
  if constexpr (kBytes == 1) return *p;
  return p[0] | p[1] << 8;
}

// Sample for sample.
template <int kBytes>
void copy_samples(const Component& from, const Target& to) {
  const int half = (1 << from.shift) >> 1;
  for (int y = 0; y < to.size.height; ++y) {
    const std::uint8_t* in = from.data + y * from.stride;
    std::uint8_t* out = to.data + y * to.stride;
    if (kBytes == 1 && from.step == 1) {
      std::memcpy(out, in, static_cast<std::size_t>(to.size.width));
      continue;
    }
    for (int x = 0; x < to.size.width; ++x) {
      const int value = (load<kBytes>(in + x * from.step) + half) >> from.shift;
      out[x] = static_cast<std::uint8_t>(std::min(value, 255));
    }
  }
}

// The mean of the samples that a 4:2:0 sample stands for; at an odd edge of the last ones, twice.
template <int kBytes>
void average_samples(const Component& from, const Target& to, int columns, int rows) {
  const int log2_count = (columns == 2 ? 1 : 0) + (rows == 2 ? 1 : 0);
  const int shift = from.shift + log2_count;
  const int half = (1 << shift) >> 1;
  for (int y = 0; y < to.size.height; ++y) {
    const int next_row = std::min(y * rows + rows - 1, from.size.height - 1);
    const std::uint8_t* upper = from.data + y * rows * from.stride;
    const std::uint8_t* lower = from.data + next_row * from.stride;
    std::uint8_t* out = to.data + y * to.stride;
    for (int x = 0; x < to.size.width; ++x) {
      const int left = x * columns * from.step;
      const int right = std::min(x * columns + columns - 1, from.size.width - 1) * from.step;
      int sum = load<kBytes>(upper + left);
      if (columns == 2) sum += load<kBytes>(upper + right);
      if (rows == 2) sum += load<kBytes>(lower + left);
      if (columns == 2 && rows == 2) sum += load<kBytes>(lower + right);
      out[x] = static_cast<std::uint8_t>(std::min((sum + half) >> shift, 255));
    }
  }
}

template <int kBytes>
void copy_component(const Component& from, const Target& to, int columns, int rows) {
  if (columns == 1 && rows == 1) return copy_samples<kBytes>(from, to);
  average_samples<kBytes>(from, to, columns, rows);
}

}  // namespace

void copy_as_i420(const VideoFrame& frame, const PixelRect& rect, const YuvCanvas& canvas) {
  const PixelFormatInfo& format = info(frame.format);
  for (std::size_t c = 0; c < 3; ++c) {
    const int shift_x = c > 0 ? format.chroma_shift_x : 0;
    const int shift_y = c > 0 ? format.chroma_shift_y : 0;
    const ComponentLayout& layout = format.components[c];
    const Plane& plane = frame.planes[static_cast<std::size_t>(layout.plane)];
    Component from;
    from.data = plane.data + (rect.y >> shift_y) * plane.stride +
                (rect.x >> shift_x) * layout.step + layout.offset;
    from.stride = plane.stride;
    from.step = layout.step;
    from.shift = format.sample.shift + format.sample.bits - 8;
    from.size = {chroma_extent(rect.width, shift_x), chroma_extent(rect.height, shift_y)};
    const int halved = c > 0 ? 1 : 0;
    const Target to{canvas.planes[c],
                    canvas.strides[c],
                    {chroma_extent(rect.width, halved), chroma_extent(rect.height, halved)}};
    const int columns = 1 << (halved - shift_x), rows = 1 << (halved - shift_y);
    if (format.sample.bytes == 1) {
      copy_component<1>(from, to, columns, rows);
    } else {
      copy_component<2>(from, to, columns, rows);
    }
  }
}

}  // namespace sparing
