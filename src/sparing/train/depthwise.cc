#include "sparing/train/depthwise.h"

#include <algorithm>

#include "sparing/train/kernels.h"
#include "sparing/train/parallel.h"

namespace sparing::train {

DepthwiseGradients::DepthwiseGradients(const Op& op, const Value& in, const Value& out,
                                       std::size_t images, int threads)
    : window_(op.window),
      in_h_(in.height),
      in_w_(in.width),
      out_h_(out.height),
      out_w_(out.width),
      channels_(static_cast<std::size_t>(out.channels)),
      images_(images),
      threads_(threads) {
  const auto taps =
      static_cast<std::size_t>(window_.kernel_h) * static_cast<std::size_t>(window_.kernel_w);
  by_tap_.resize(taps * channels_);
  partial_.resize((taps + 1) * channels_ * static_cast<std::size_t>(threads));
}

void DepthwiseGradients::set_weights(const float* weights) {
  const std::size_t taps = by_tap_.size() / channels_;
  for (std::size_t c = 0; c < channels_; ++c) {
    for (std::size_t t = 0; t < taps; ++t) by_tap_[t * channels_ + c] = weights[c * taps + t];
  }
}

template <class Work>
void DepthwiseGradients::over_columns(int kx, const Work& work) const {
  const int shift = kx * window_.dilation_w - window_.left;  // input column of output column 0
  const auto at = [](int column) { return static_cast<std::size_t>(column); };
  if (window_.stride_w == 1) {
    const int first = std::max(0, -shift);
    const int end = std::min(out_w_, in_w_ - shift);
    if (first < end) work(at(first), at(first + shift), at(end - first));
    return;
  }
  for (int x = 0; x < out_w_; ++x) {
    const int from = x * window_.stride_w + shift;
    if (from >= 0 && from < in_w_) work(at(x), at(from), std::size_t{1});
  }
}

void DepthwiseGradients::data(const float* out_gradient, float* in_gradient,
                              bool accumulate) const {
  const std::size_t in_row = static_cast<std::size_t>(in_w_) * channels_;
  const std::size_t out_row = static_cast<std::size_t>(out_w_) * channels_;
  const int channels = static_cast<int>(channels_);
  const auto one_row = [&](std::size_t image, int y, float* row) {
    for (int ky = 0; ky < window_.kernel_h; ++ky) {
      const int from = y + window_.top - ky * window_.dilation_h;
      if (from < 0 || from % window_.stride_h != 0 || from / window_.stride_h >= out_h_) continue;
      const std::size_t out_y = image * static_cast<std::size_t>(out_h_) +
                                static_cast<std::size_t>(from / window_.stride_h);
      const float* gradient = out_gradient + out_y * out_row;
      for (int kx = 0; kx < window_.kernel_w; ++kx) {
        const float* weight =
            by_tap_.data() + static_cast<std::size_t>(ky * window_.kernel_w + kx) * channels_;
        over_columns(kx, [&](std::size_t out_x, std::size_t in_x, std::size_t count) {
          kernels().multiply_channels(row + in_x * channels_, gradient + out_x * channels_, weight,
                                      count, channels, true);
        });
      }
    }
  };
  const auto rows = static_cast<std::size_t>(in_h_);
  parallel_parts(threads_, images_ * rows, [&](int, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      float* row = in_gradient + i * in_row;
      if (!accumulate) std::fill_n(row, in_row, 0.0f);
      one_row(i / rows, static_cast<int>(i % rows), row);
    }
  });
}

void DepthwiseGradients::weights(const float* in, const float* out_gradient, float* weights,
                                 float* offset) {
  const std::size_t in_row = static_cast<std::size_t>(in_w_) * channels_;
  const std::size_t out_row = static_cast<std::size_t>(out_w_) * channels_;
  const int channels = static_cast<int>(channels_);
  const std::size_t taps = by_tap_.size() / channels_;
  const std::size_t part_size = (taps + 1) * channels_;
  std::fill(partial_.begin(), partial_.end(), 0.0);
  const auto one_row = [&](std::size_t image, int y, const float* gradient, double* sums) {
    kernels().channel_sums(gradient, nullptr, static_cast<std::size_t>(out_w_), channels,
                           sums + taps * channels_, nullptr);
    for (int ky = 0; ky < window_.kernel_h; ++ky) {
      const int from = y * window_.stride_h + ky * window_.dilation_h - window_.top;
      if (from < 0 || from >= in_h_) continue;
      const float* row =
          in + (image * static_cast<std::size_t>(in_h_) + static_cast<std::size_t>(from)) * in_row;
      for (int kx = 0; kx < window_.kernel_w; ++kx) {
        double* sum = sums + static_cast<std::size_t>(ky * window_.kernel_w + kx) * channels_;
        over_columns(kx, [&](std::size_t out_x, std::size_t in_x, std::size_t count) {
          kernels().channel_sums(gradient + out_x * channels_, row + in_x * channels_, count,
                                 channels, nullptr, sum);
        });
      }
    }
  };
  const auto rows = static_cast<std::size_t>(out_h_);
  parallel_parts(threads_, images_ * rows, [&](int part, std::size_t begin, std::size_t end) {
    double* sums = partial_.data() + static_cast<std::size_t>(part) * part_size;
    for (std::size_t i = begin; i < end; ++i) {
      one_row(i / rows, static_cast<int>(i % rows), out_gradient + i * out_row, sums);
    }
  });
  for (std::size_t i = part_size; i < partial_.size(); ++i) {
    partial_[i % part_size] += partial_[i];
  }
  for (std::size_t c = 0; c < channels_; ++c) {
    for (std::size_t t = 0; t < taps; ++t) {
      weights[c * taps + t] = static_cast<float>(partial_[t * channels_ + c]);
    }
    offset[c] = static_cast<float>(partial_[taps * channels_ + c]);
  }
}

}  // namespace sparing::train
