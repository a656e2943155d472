// make_frames: windows into one made-up landscape per plane.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "import_job.h"

namespace sparing::bench {
namespace {

constexpr std::size_t kRingBytes = 96'000'000;
constexpr int kMargin = 512;  // how far windows may move

// A number in [-1, 1) that depends on the three only.
float lattice(int x, int y, unsigned seed) {
  std::uint32_t h = static_cast<std::uint32_t>(x) * 0x9e3779b1u ^
                    static_cast<std::uint32_t>(y) * 0x85ebca77u ^ seed * 0xc2b2ae3du;
  h ^= h >> 15;
  h *= 0x2c1b3c6du;
  h ^= h >> 12;
  h *= 0x297a2d39u;
  h ^= h >> 15;
  return static_cast<float>(h) * (2.0f / 4294967296.0f) - 1.0f;
}

float smooth(float t) { return t * t * (3 - 2 * t); }

// Adds noise that is smooth over `period` pixels to one row.
void add_octave(std::vector<float>& row, int y, int period, float amplitude, unsigned seed) {
  const int grid_y = y / period;
  const float fy = smooth(static_cast<float>(y % period) / static_cast<float>(period));
  float left = 0;
  float right = 0;
  for (std::size_t x = 0; x < row.size(); ++x) {
    const int grid_x = static_cast<int>(x) / period;
    const int in_cell = static_cast<int>(x) % period;
    if (in_cell == 0) {
      left = std::lerp(lattice(grid_x, grid_y, seed), lattice(grid_x, grid_y + 1, seed), fy);
      right =
          std::lerp(lattice(grid_x + 1, grid_y, seed), lattice(grid_x + 1, grid_y + 1, seed), fy);
    }
    const float fx = smooth(static_cast<float>(in_cell) / static_cast<float>(period));
    row[x] += amplitude * (left + (right - left) * fx);
  }
}

// The landscape of one plane: `channels` interleaved bytes a pixel.
struct Landscape {
  int channels = 1;
  std::size_t stride = 0;
  std::vector<std::uint8_t> bytes;
};

// Larger shapes for chroma, as nature has it.
Landscape make_landscape(Size size, int channels, int period, unsigned seed) {
  Landscape result;
  result.channels = channels;
  result.stride = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(channels);
  result.bytes.resize(result.stride * static_cast<std::size_t>(size.height));
  std::vector<float> row(static_cast<std::size_t>(size.width));
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* out = result.bytes.data() + static_cast<std::size_t>(y) * result.stride;
    for (int c = 0; c < channels; ++c) {
      const unsigned s = seed + 10 * static_cast<unsigned>(c);
      std::fill(row.begin(), row.end(), 126.0f);
      add_octave(row, y, period, 70, s);
      add_octave(row, y, period / 4, 25, s + 1);
      add_octave(row, y, 2, 3, s + 2);
      for (std::size_t x = 0; x < row.size(); ++x) {
        out[x * static_cast<std::size_t>(channels) + static_cast<std::size_t>(c)] =
            static_cast<std::uint8_t>(std::clamp(row[x], 16.0f, 235.0f));
      }
    }
  }
  return result;
}

void copy_window(const Landscape& from, Point corner, PlaneExtent extent, const Plane& plane,
                 std::uint8_t* to) {
  const std::size_t offset =
      static_cast<std::size_t>(corner.y) * from.stride +
      static_cast<std::size_t>(corner.x) * static_cast<std::size_t>(from.channels);
  for (int y = 0; y < extent.rows; ++y) {
    std::memcpy(to + y * plane.stride,
                from.bytes.data() + offset + static_cast<std::size_t>(y) * from.stride,
                static_cast<std::size_t>(extent.row_bytes));
  }
}

}  // namespace

Result<std::vector<SharedFrame>> make_frames(PixelFormat format, Size size) {
  const PixelFormatInfo& layout = info(format);
  std::vector<Landscape> landscapes;
  std::size_t frame_bytes = 0;
  for (int plane = 0; plane < layout.planes; ++plane) {
    const PlaneExtent extent = plane_extent(format, plane, size);
    const int shift = plane == 0 ? 0 : layout.chroma_shift_x;
    const int width = chroma_extent(size.width, shift);
    landscapes.push_back(make_landscape({width + kMargin, extent.rows + kMargin},
                                        extent.row_bytes / width, plane == 0 ? 64 : 96,
                                        100 * static_cast<unsigned>(plane)));
    frame_bytes +=
        static_cast<std::size_t>(extent.row_bytes) * static_cast<std::size_t>(extent.rows);
  }
  std::vector<SharedFrame> frames;
  for (std::size_t i = 0; i < (kRingBytes + frame_bytes / 2) / frame_bytes; ++i) {
    SPARING_ASSIGN_OR_RETURN(SharedFrame frame, allocate_frame(format, size));
    const Point corner{static_cast<double>(i * 97 % kMargin),
                       static_cast<double>(i * 61 % kMargin)};
    for (int plane = 0; plane < layout.planes; ++plane) {
      copy_window(
          landscapes[static_cast<std::size_t>(plane)], corner, plane_extent(format, plane, size),
          frame.view().planes[static_cast<std::size_t>(plane)], mutable_plane(frame, plane));
    }
    if (layout.model == ColorModel::kYuv) {
      // What all peers can do; the matrix makes no difference to anybody's speed.
      frame.view().color_space.matrix = ColorMatrix::kBt601;
      frame.view().color_space.range = ColorRange::kLimited;
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace sparing::bench
