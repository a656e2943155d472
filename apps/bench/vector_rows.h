// Vector loops for the benchmark: the last step of peers that stop at 8-bit pixels (as well as one
// would write it for them), and the passes that measure memory. All run on the best target of the
// machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "import_job.h"
#include "sparing/base/tensor_view.h"

namespace sparing::bench {

// Interleaved pixels of `step` bytes, 3 or 4; red, green and blue are bytes channel[0..2].
struct PixelRows {
  const std::uint8_t* data;
  std::ptrdiff_t stride;
  std::size_t step;
  std::array<std::size_t, 3> channel;
};

// Red, green and blue planes of floats from 0 to 1.
struct PlaneRows {
  std::array<const float*, 3> data;
  std::ptrdiff_t stride;  // floats
};

// Write the whole of image 0 of an NCHW tensor of f32 or f16. Planes may be the tensor's own.
void store_pixels(const PixelRows& from, const Normalization& normalization,
                  const TensorView& tensor);
void store_planes(const PlaneRows& from, const Normalization& normalization,
                  const TensorView& tensor);

// Reads all of it once: returns a sum, so that the reading cannot be left out. `bytes` is a
// multiple of 128.
std::uint64_t read_pass(const std::uint8_t* data, std::size_t bytes);
// Writes `value` over all of it.
void write_pass(std::uint8_t* data, std::size_t bytes, std::uint8_t value);

}  // namespace sparing::bench
