// Frames and tensors for the tests of this module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <vector>

#include "sparing/base/tensor_view.h"
#include "sparing/frame/video_frame.h"

namespace sparing {

// As GoogleTest shows a parameter: its name, and no addresses.
inline void PrintTo(const PixelFormatInfo& row, std::ostream* out) { *out << row.name; }

}  // namespace sparing

namespace sparing::test {

// A frame whose planes are separate heap blocks of exactly the bytes that may be read, so that a
// sanitizer sees any other read.
class TestFrame {
 public:
  struct Options {
    int extra_stride = 0;  // bytes of padding after each row
    bool bottom_up = false;
    int misalign = 0;  // bytes that the first row starts after the block's begin
  };

  TestFrame(PixelFormat format, Size size) : TestFrame(format, size, Options()) {}
  TestFrame(PixelFormat format, Size size, Options options) {
    view_.format = format;
    view_.coded_size = size;
    for (int p = 0; p < info(format).planes; ++p) {
      const PlaneExtent extent = plane_extent(format, p, size);
      const std::ptrdiff_t stride = extent.row_bytes + options.extra_stride;
      std::vector<std::uint8_t>& block = blocks_.emplace_back(static_cast<std::size_t>(
          options.misalign + (extent.rows - 1) * stride + extent.row_bytes));
      std::uint8_t* first = block.data() + options.misalign;
      Plane& plane = view_.planes[static_cast<std::size_t>(p)];
      plane.data = options.bottom_up ? first + (extent.rows - 1) * stride : first;
      plane.stride = options.bottom_up ? -stride : stride;
    }
  }

  // Moved, the view still points to the pixels; copied, it would not.
  TestFrame(TestFrame&&) = default;
  TestFrame& operator=(TestFrame&&) = default;

  VideoFrame& view() { return view_; }
  std::uint8_t& at(int plane, int x, int y) {
    const Plane& p = view_.planes[static_cast<std::size_t>(plane)];
    return const_cast<std::uint8_t&>(p.data[y * p.stride + x]);
  }
  void fill_random(std::mt19937& random) {
    for (auto& block : blocks_) {
      for (std::uint8_t& byte : block) byte = static_cast<std::uint8_t>(random());
    }
  }
  void fill_plane(int plane, std::uint8_t value) {
    std::vector<std::uint8_t>& block = blocks_[static_cast<std::size_t>(plane)];
    std::memset(block.data(), value, block.size());
  }

 private:
  VideoFrame view_;
  std::vector<std::vector<std::uint8_t>> blocks_;
};

inline constexpr std::byte kCanary{0xA5};

// A dense tensor of its own, every byte kCanary until written.
class TestTensor {
 public:
  TestTensor(DataType type, Shape shape, Layout layout)
      : bytes_(static_cast<std::size_t>(*element_count(shape)) * info(type).size, kCanary),
        view_(dense_view(bytes_.data(), type, shape, layout)) {}

  // Moved, the view still points to the elements; copied, it would not.
  TestTensor(TestTensor&&) = default;
  TestTensor& operator=(TestTensor&&) = default;

  const TensorView& view() const { return view_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  bool untouched() const {
    for (const std::byte byte : bytes_) {
      if (byte != kCanary) return false;
    }
    return true;
  }
  template <class T>
  T get(int n, int c, int y, int x) const {
    T value;
    std::memcpy(&value,
                view_.data + n * view_.stride_n + c * view_.stride_c + y * view_.stride_y +
                    x * view_.stride_x,
                sizeof value);
    return value;
  }
  // All elements of image 0, channel c, row by row.
  template <class T = float>
  std::vector<T> channel(int c, int n = 0) const {
    std::vector<T> values;
    for (int y = 0; y < view_.height; ++y) {
      for (int x = 0; x < view_.width; ++x) values.push_back(get<T>(n, c, y, x));
    }
    return values;
  }

 private:
  std::vector<std::byte> bytes_;
  TensorView view_;
};

}  // namespace sparing::test
