// The trainer's own loops over numbers, compiled once for each instruction set: whatever is not a
// convolution or pooling, which are oneDNN's. Pictures are NHWC float32 unless said to be planes; a
// function works on the range it is given and leaves threads to its caller.
#pragma once

#include <cstddef>

#include "sparing/train/net.h"

namespace sparing::train {

struct Range {  // what clamp() keeps
  float low;
  float high;
};

struct UpdateJob {
  float* weights = nullptr;
  const float* gradient = nullptr;
  float* moment = nullptr;
  float* square = nullptr;  // of adam
  std::size_t count = 0;
  float rate = 0;  // of adam: with the correction of both moments
  float decay = 0;
  float beta1 = 0;  // momentum of sgd
  float beta2 = 0;
  float epsilon = 0;  // of adam: with the second moment's correction
};

struct Kernels {
  // out = clamp(a + b)
  void (*add)(float* out, const float* a, const float* b, std::size_t count, Range range);
  // out = clamp(a + b), b one number a channel
  void (*add_channels)(float* out, const float* a, const float* b, std::size_t pixels, int channels,
                       Range range);
  void (*multiply)(float* out, const float* a, const float* b, std::size_t count, bool accumulate);
  void (*multiply_channels)(float* out, const float* a, const float* b, std::size_t pixels,
                            int channels, bool accumulate);
  // out += a
  void (*accumulate)(float* out, const float* a, std::size_t count);
  // out = clamp(a * scale + offset), both one number a channel
  void (*affine)(float* out, const float* a, const float* scale, const float* offset,
                 std::size_t pixels, int channels, Range range);
  // out (+)= a * scale + x * factor + offset, all three one number a channel
  void (*blend)(float* out, const float* a, const float* x, const float* const coefficients[3],
                std::size_t pixels, int channels, bool accumulate);
  // a_sum[c] += sum of a; product[c] += sum of a * b, unless null. Sums are kept in double.
  void (*channel_sums)(const float* a, const float* b, std::size_t pixels, int channels,
                       double* a_sum, double* product);
  // sum[c] += sum of squares of a - mean
  void (*channel_squares)(const float* a, const float* mean, std::size_t pixels, int channels,
                          double* sum);
  // Activations but kPrelu.
  void (*activate)(const Activation& activation, const float* x, float* y, std::size_t count);
  // dx (+)= dy * derivative at x
  void (*activate_back)(const Activation& activation, const float* x, const float* dy, float* dx,
                        std::size_t count, bool accumulate);
  // dy *= derivative, known from the output: Activation::from_output()
  void (*mask)(const Activation& activation, const float* y, float* dy, std::size_t count);
  void (*prelu)(const float* x, const float* slope, float* y, std::size_t pixels, int channels);
  // dx (+)= ..., slope_sum[c] += sum of dy * x where x < 0. dx may be null.
  void (*prelu_back)(const float* x, const float* dy, const float* slope, float* dx,
                     std::size_t pixels, int channels, bool accumulate, double* slope_sum);
  // One row of `taps.size()` pixels from two rows (row_weight of the first): bilinear. Scratch has
  // room for 2 rows of the output; see resize.cc for who fills it.
  void (*blend_rows)(float* out, const float* a, const float* b, float weight, std::size_t count);
  // out[i] = a[first] * weight + a[second] * (1 - weight), for channels at once
  void (*spread_row)(float* out, const float* row, const Taps::Tap* taps, std::size_t count,
                     int channels);
  // The transpose of spread_row: row[first] += weight * in[i], ...
  void (*gather_row)(float* row, const float* in, const Taps::Tap* taps, std::size_t count,
                     int channels);
  // out += weight * in
  void (*add_scaled)(float* out, const float* in, float weight, std::size_t count);
  // [pixels][channels] to planes `stride` apart and back; back adds if told so
  void (*to_planes)(float* planes, std::size_t stride, const float* picture, std::size_t pixels,
                    int channels);
  void (*from_planes)(float* picture, const float* planes, std::size_t stride, std::size_t pixels,
                      int channels, bool accumulate);
  double (*squared_norm)(const float* values, std::size_t count);
  double (*squared_distance)(const float* a, const float* b, std::size_t count);
  void (*sgd)(const UpdateJob& job);
  void (*adam)(const UpdateJob& job);
};

// Those of the best instruction set of this processor.
const Kernels& kernels();

}  // namespace sparing::train
