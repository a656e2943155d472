// A batch norm by itself: behind no convolution that could take it in, or with live statistics.
#include <algorithm>
#include <cmath>

#include "sparing/train/kernels.h"
#include "sparing/train/layer.h"
#include "sparing/train/parallel.h"
#include "sparing/train/primitive_job.h"

namespace sparing::train {
namespace {

class NormLayer final : public Layer {
 public:
  explicit NormLayer(const LayerSetup& setup)
      : Layer(setup),
        mean_(width()),
        inverse_(width()),
        scale_(width()),
        offset_(width()),
        third_(width()) {}

  LayerNeeds needs() const override {
    LayerNeeds needs;
    needs.input_in_backward = setup_.backward;
    needs.output_in_backward = setup_.backward && !op().activation.is_identity();
    return needs;
  }

  void forward(bool keep) override {
    if (machine().live_norms) {
      measure(keep);
    } else {
      for (std::size_t c = 0; c < width(); ++c) {
        mean_[c] = values(op().norm.mean)[c];
        inverse_[c] = 1.0f / std::sqrt(values(op().norm.variance)[c] + op().norm.epsilon);
      }
    }
    for (std::size_t c = 0; c < width(); ++c) {
      scale_[c] = values(op().norm.scale)[c] * inverse_[c];
      offset_[c] = values(op().norm.shift)[c] - mean_[c] * scale_[c];
    }
    const Range range{op().activation.low, op().activation.high};
    over_pixels([&](int, std::size_t begin, std::size_t end) {
      const std::size_t at = begin * width();
      kernels().affine(memory_.output + at, memory_.inputs[0] + at, scale_.data(), offset_.data(),
                       end - begin, channels(), range);
    });
  }

  void backward() override {
    const float* x = memory_.inputs[0];
    float* dy = memory_.output_gradient;
    if (!op().activation.is_identity()) {
      parallel_for(threads(), pixels() * width(), 8192, [&](std::size_t begin, std::size_t end) {
        kernels().mask(op().activation, memory_.output + begin, dy + begin, end - begin);
      });
    }
    const bool live = machine().live_norms;
    const bool wants_input = setup_.input_gradient[0];
    const bool wants_parameters = !gradient(op().norm.scale).empty();
    std::vector<double> sum;
    std::vector<double> product;  // of dy and x - mean
    if (wants_parameters || live) {
      sum = sums(nullptr);
      product = sums(x);
      for (std::size_t c = 0; c < width(); ++c) {
        product[c] -= static_cast<double>(mean_[c]) * sum[c];
      }
    }
    if (wants_parameters) {
      for (std::size_t c = 0; c < width(); ++c) {
        gradient(op().norm.scale)[c] = static_cast<float>(product[c] * inverse_[c]);
        gradient(op().norm.shift)[c] = static_cast<float>(sum[c]);
      }
    }
    if (!wants_input) return;
    float* dx = memory_.input_gradients[0];
    if (!live) {
      over_pixels([&](int, std::size_t begin, std::size_t end) {
        const std::size_t at = begin * width();
        kernels().multiply_channels(dx + at, dy + at, scale_.data(), end - begin, channels(),
                                    setup_.accumulate[0]);
      });
      return;
    }
    // dx = scale (dy - mean of dy - xhat * mean of dy xhat), as a sum of dy, x and a constant.
    for (std::size_t c = 0; c < width(); ++c) {
      const double count = static_cast<double>(pixels());
      const double square = static_cast<double>(inverse_[c]) * static_cast<double>(inverse_[c]);
      const double factor = -static_cast<double>(scale_[c]) * square * product[c] / count;
      third_[c] = static_cast<float>(-static_cast<double>(scale_[c]) * sum[c] / count -
                                     factor * static_cast<double>(mean_[c]));
      offset_[c] = static_cast<float>(factor);
    }
    const float* const coefficients[3] = {scale_.data(), offset_.data(), third_.data()};
    over_pixels([&](int, std::size_t begin, std::size_t end) {
      const std::size_t at = begin * width();
      kernels().blend(dx + at, dy + at, x + at, coefficients, end - begin, channels(),
                      setup_.accumulate[0]);
    });
  }

 private:
  int channels() const { return setup_.output().channels; }
  std::size_t width() const { return static_cast<std::size_t>(channels()); }
  std::size_t pixels() const { return setup_.output().pixels() * images(); }
  std::span<float> values(int parameter) const { return setup_.parameters.values(parameter); }
  std::span<float> gradient(int parameter) const { return setup_.parameters.gradient(parameter); }

  template <class Work>
  void over_pixels(const Work& work) const {
    parallel_parts(threads(), pixels(), work);
  }
  template <class Work>  // work(begin, end, sums of this part)
  std::vector<double> by_channel(const Work& work) const {
    std::vector<double> partial(width() * static_cast<std::size_t>(threads()));
    over_pixels([&](int part, std::size_t begin, std::size_t end) {
      work(begin, end, partial.data() + static_cast<std::size_t>(part) * width());
    });
    for (std::size_t i = width(); i < partial.size(); ++i) partial[i % width()] += partial[i];
    partial.resize(width());
    return partial;
  }
  // Of dy, or of dy times b.
  std::vector<double> sums(const float* b) const {
    return by_channel([&](std::size_t begin, std::size_t end, double* mine) {
      const std::size_t at = begin * width();
      kernels().channel_sums(memory_.output_gradient + at, b == nullptr ? nullptr : b + at,
                             end - begin, channels(), b == nullptr ? mine : nullptr,
                             b == nullptr ? nullptr : mine);
    });
  }

  // Statistics of this batch; running ones follow them, with the variance of a sample, as
  // PyTorch's.
  void measure(bool keep) {
    const float* x = memory_.inputs[0];
    const std::vector<double> sum = by_channel([&](std::size_t begin, std::size_t end,
                                                   double* mine) {
      kernels().channel_sums(x + begin * width(), nullptr, end - begin, channels(), mine, nullptr);
    });
    const auto count = static_cast<double>(pixels());
    for (std::size_t c = 0; c < width(); ++c) mean_[c] = static_cast<float>(sum[c] / count);
    const std::vector<double> squares = by_channel([&](std::size_t begin, std::size_t end,
                                                       double* mine) {
      kernels().channel_squares(x + begin * width(), mean_.data(), end - begin, channels(), mine);
    });
    const float share = machine().norm_momentum;
    for (std::size_t c = 0; c < width(); ++c) {
      const double variance = squares[c] / count;
      inverse_[c] =
          static_cast<float>(1 / std::sqrt(variance + static_cast<double>(op().norm.epsilon)));
      // What is no number would stay in running statistics for ever.
      if (!keep || !std::isfinite(inverse_[c]) || !std::isfinite(mean_[c])) continue;
      const auto sample = static_cast<float>(count > 1 ? squares[c] / (count - 1) : variance);
      float& running_mean = values(op().norm.mean)[c];
      float& running_variance = values(op().norm.variance)[c];
      running_mean += share * (mean_[c] - running_mean);
      running_variance += share * (sample - running_variance);
    }
  }

  std::vector<float> mean_, inverse_;  // of this pass, one a channel, as the following
  std::vector<float> scale_, offset_, third_;
};

}  // namespace

std::unique_ptr<Layer> make_norm_layer(const LayerSetup& setup) {
  return std::make_unique<NormLayer>(setup);
}

}  // namespace sparing::train
