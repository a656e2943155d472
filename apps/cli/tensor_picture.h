// A tensor's values for people: statistics and the picture that it holds.
#pragma once

#include <cstdint>
#include <vector>

#include "sparing/base/tensor_view.h"
#include "sparing/kernels/import.h"

namespace sparing::cli {

// What element (n, c, y, x) stores, as it is.
double load_element(const TensorView& tensor, int n, int c, int y, int x);

struct ChannelStatistics {
  double min = 0;
  double mean = 0;
  double max = 0;
};
// Of the stored values of image 0, by channel; a NaN makes its channel's mean NaN.
std::vector<ChannelStatistics> statistics(const TensorView& tensor);

// Image 0 as 8-bit pixels: normalisation and quantisation undone, rounded, clamped, rows from top
// to bottom. Tensors of 1 channel give grey, of 3 and 4 R, G, B whatever their order.
std::vector<std::uint8_t> to_picture(const TensorView& tensor, const ImportOptions& options);

}  // namespace sparing::cli
