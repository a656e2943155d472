// Single samples of frames in every pixel format, for the tests of io.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sparing/frame/video_frame.h"

namespace sparing::testing {

inline bool is_chroma(const PixelFormatInfo& format, int component) {
  return format.model == ColorModel::kYuv && (component == 1 || component == 2);
}

inline Size component_size(const PixelFormatInfo& format, int component, Size coded_size) {
  if (!is_chroma(format, component)) return coded_size;
  return {chroma_extent(coded_size.width, format.chroma_shift_x),
          chroma_extent(coded_size.height, format.chroma_shift_y)};
}

// The address of sample (x, y) of a component's own grid.
inline const std::uint8_t* sample_address(const VideoFrame& frame, int component, int x, int y) {
  const auto& layout = info(frame.format).components[static_cast<std::size_t>(component)];
  const Plane& plane = frame.planes[static_cast<std::size_t>(layout.plane)];
  return plane.data + y * plane.stride + x * layout.step + layout.offset;
}

// Its value, 0 .. 2^bits - 1.
inline int sample(const VideoFrame& frame, int component, int x, int y) {
  const SampleLayout& layout = info(frame.format).sample;
  const std::uint8_t* bytes = sample_address(frame, component, x, y);
  return (layout.bytes == 2 ? bytes[0] | bytes[1] << 8 : bytes[0]) >> layout.shift;
}

// Precondition: the frame was made by allocate_frame.
inline void set_sample(const SharedFrame& frame, int component, int x, int y, int value) {
  const SampleLayout& layout = info(frame.view().format).sample;
  auto* bytes = const_cast<std::uint8_t*>(sample_address(frame.view(), component, x, y));
  const int stored = value << layout.shift;
  bytes[0] = static_cast<std::uint8_t>(stored);
  if (layout.bytes == 2) bytes[1] = static_cast<std::uint8_t>(stored >> 8);
}

}  // namespace sparing::testing
