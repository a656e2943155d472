// Layers that are loops over elements: activations, sums, products, affine maps, concatenation and
// the average of a whole picture.
#include <algorithm>
#include <cstring>

#include "sparing/base/check.h"
#include "sparing/train/kernels.h"
#include "sparing/train/layer.h"
#include "sparing/train/parallel.h"

namespace sparing::train {
namespace {

constexpr std::size_t kLeast = 8192;  // elements that are worth a thread

// The common part: pixels of all images, cut among threads.
class ElementLayer : public Layer {
 public:
  using Layer::Layer;
  LayerNeeds needs() const override { return {}; }

 protected:
  int channels() const { return setup_.output().channels; }
  std::size_t width() const { return static_cast<std::size_t>(channels()); }
  std::size_t pixels() const { return setup_.output().pixels() * images(); }
  bool wants(std::size_t input) const { return setup_.backward && setup_.input_gradient[input]; }

  template <class Work>  // work(begin, end) of elements
  void over_elements(const Work& work) const {
    parallel_for(threads(), pixels() * width(), kLeast, work);
  }
  template <class Work>  // work(begin, end) of pixels
  void over_pixels(std::size_t count, const Work& work) const {
    parallel_for(threads(), count, kLeast / width() + 1, work);
  }
  // Adds or copies, as the input's gradient is first written or not.
  void pass(std::size_t input, const float* gradient) const {
    float* out = memory_.input_gradients[input];
    over_elements([&](std::size_t begin, std::size_t end) {
      if (setup_.accumulate[input]) {
        kernels().accumulate(out + begin, gradient + begin, end - begin);
      } else {
        std::memcpy(out + begin, gradient + begin, (end - begin) * sizeof(float));
      }
    });
  }
  // out[c] (+)= factor times the sum over an image's pixels of a, or of a * b.
  void reduce(const float* a, const float* b, float* out, double factor, bool accumulate) const {
    std::vector<double> sums(width());
    for (std::size_t image = 0; image < images(); ++image) {
      const std::size_t at = image * setup_.output().elements();
      sum_image(a + at, b == nullptr ? nullptr : b + at, setup_.output().pixels(), sums);
      for (std::size_t c = 0; c < width(); ++c) {
        float& to = out[image * width() + c];
        to = static_cast<float>(sums[c] * factor) + (accumulate ? to : 0.0f);
      }
    }
  }
  void sum_image(const float* a, const float* b, std::size_t count,
                 std::vector<double>& sums) const {
    const int parts = threads();
    std::vector<double> partial(width() * static_cast<std::size_t>(parts));
    parallel_parts(parts, count, [&](int part, std::size_t begin, std::size_t end) {
      double* mine = partial.data() + static_cast<std::size_t>(part) * width();
      const std::size_t at = begin * width();
      kernels().channel_sums(a + at, b == nullptr ? nullptr : b + at, end - begin, channels(),
                             b == nullptr ? mine : nullptr, b == nullptr ? nullptr : mine);
    });
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t i = 0; i < partial.size(); ++i) sums[i % width()] += partial[i];
  }
};

class ActivationLayer final : public ElementLayer {
 public:
  using ElementLayer::ElementLayer;

  LayerNeeds needs() const override {
    LayerNeeds needs;
    needs.input_in_backward = setup_.backward;
    return needs;
  }

  void refresh() override {
    if (op().activation.kind != ActivationKind::kPrelu) return;
    const std::span<const float> given = setup_.parameters.values(op().activation.parameter);
    slopes_.assign(width(), given[0]);
    if (given.size() == width()) std::copy(given.begin(), given.end(), slopes_.begin());
  }

  void forward(bool) override {
    const float* x = memory_.inputs[0];
    if (op().activation.kind == ActivationKind::kPrelu) {
      over_pixels(pixels(), [&](std::size_t begin, std::size_t end) {
        const std::size_t at = begin * width();
        kernels().prelu(x + at, slopes_.data(), memory_.output + at, end - begin, channels());
      });
      return;
    }
    over_elements([&](std::size_t begin, std::size_t end) {
      kernels().activate(op().activation, x + begin, memory_.output + begin, end - begin);
    });
  }

  void backward() override {
    const float* x = memory_.inputs[0];
    const float* dy = memory_.output_gradient;
    float* dx = wants(0) ? memory_.input_gradients[0] : nullptr;
    if (op().activation.kind == ActivationKind::kPrelu) return prelu_backward(x, dy, dx);
    if (dx == nullptr) return;
    over_elements([&](std::size_t begin, std::size_t end) {
      kernels().activate_back(op().activation, x + begin, dy + begin, dx + begin, end - begin,
                              setup_.accumulate[0]);
    });
  }

 private:
  void prelu_backward(const float* x, const float* dy, float* dx) {
    const int parts = threads();
    std::vector<double> sums(width() * static_cast<std::size_t>(parts));
    parallel_parts(parts, pixels(), [&](int part, std::size_t begin, std::size_t end) {
      const std::size_t at = begin * width();
      kernels().prelu_back(x + at, dy + at, slopes_.data(), dx == nullptr ? nullptr : dx + at,
                           end - begin, channels(), setup_.accumulate[0],
                           sums.data() + static_cast<std::size_t>(part) * width());
    });
    const std::span<float> gradient = setup_.parameters.gradient(op().activation.parameter);
    if (gradient.empty()) return;
    std::vector<double> total(gradient.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      total[gradient.size() == 1 ? 0 : i % width()] += sums[i];
    }
    std::transform(total.begin(), total.end(), gradient.begin(),
                   [](double sum) { return static_cast<float>(sum); });
  }

  std::vector<float> slopes_;
};

// The second input may be one number a channel of each image.
class BinaryLayer : public ElementLayer {
 public:
  using ElementLayer::ElementLayer;

 protected:
  bool per_channel() const { return setup_.input(1).pixels() != setup_.output().pixels(); }
  // work(offset of the pixels, offset of the channels, pixels) on each image's pixels.
  template <class Work>
  void over_images(const Work& work) const {
    for (std::size_t image = 0; image < images(); ++image) {
      over_pixels(setup_.output().pixels(), [&](std::size_t begin, std::size_t end) {
        work(image * setup_.output().elements() + begin * width(), image * width(), end - begin);
      });
    }
  }
};

class AddLayer final : public BinaryLayer {
 public:
  using BinaryLayer::BinaryLayer;

  LayerNeeds needs() const override {
    LayerNeeds needs;
    needs.output_in_backward = setup_.backward && !op().activation.is_identity();
    return needs;
  }

  void forward(bool) override {
    const Range range{op().activation.low, op().activation.high};
    const float* a = memory_.inputs[0];
    const float* b = memory_.inputs[1];
    if (per_channel()) {
      over_images([&](std::size_t at, std::size_t channel, std::size_t count) {
        kernels().add_channels(memory_.output + at, a + at, b + channel, count, channels(), range);
      });
      return;
    }
    over_elements([&](std::size_t begin, std::size_t end) {
      kernels().add(memory_.output + begin, a + begin, b + begin, end - begin, range);
    });
  }

  void backward() override {
    float* dy = memory_.output_gradient;
    if (!op().activation.is_identity()) {
      over_elements([&](std::size_t begin, std::size_t end) {
        kernels().mask(op().activation, memory_.output + begin, dy + begin, end - begin);
      });
    }
    if (wants(0)) pass(0, dy);
    if (!wants(1)) return;
    if (per_channel()) {
      reduce(dy, nullptr, memory_.input_gradients[1], 1, setup_.accumulate[1]);
    } else {
      pass(1, dy);
    }
  }
};

class MultiplyLayer final : public BinaryLayer {
 public:
  using BinaryLayer::BinaryLayer;

  LayerNeeds needs() const override {
    LayerNeeds needs;
    needs.input_in_backward = setup_.backward;
    return needs;
  }

  void forward(bool) override { product(memory_.output, memory_.inputs[0], false); }

  void backward() override {
    const float* dy = memory_.output_gradient;
    if (wants(0)) product(memory_.input_gradients[0], dy, setup_.accumulate[0]);
    if (!wants(1)) return;
    const float* a = memory_.inputs[0];
    if (per_channel()) {
      reduce(dy, a, memory_.input_gradients[1], 1, setup_.accumulate[1]);
      return;
    }
    over_elements([&](std::size_t begin, std::size_t end) {
      kernels().multiply(memory_.input_gradients[1] + begin, dy + begin, a + begin, end - begin,
                         setup_.accumulate[1]);
    });
  }

 private:
  // out (+)= a * second input
  void product(float* out, const float* a, bool accumulate) const {
    const float* b = memory_.inputs[1];
    if (per_channel()) {
      over_images([&](std::size_t at, std::size_t channel, std::size_t count) {
        kernels().multiply_channels(out + at, a + at, b + channel, count, channels(), accumulate);
      });
      return;
    }
    over_elements([&](std::size_t begin, std::size_t end) {
      kernels().multiply(out + begin, a + begin, b + begin, end - begin, accumulate);
    });
  }
};

class AffineLayer final : public ElementLayer {
 public:
  explicit AffineLayer(const LayerSetup& setup)
      : ElementLayer(setup), scale_(spread(op().scale)), offset_(spread(op().offset)) {}

  void forward(bool) override {
    const Range all{op().activation.low, op().activation.high};
    over_pixels(pixels(), [&](std::size_t begin, std::size_t end) {
      const std::size_t at = begin * width();
      kernels().affine(memory_.output + at, memory_.inputs[0] + at, scale_.data(), offset_.data(),
                       end - begin, channels(), all);
    });
  }

  void backward() override {
    if (!wants(0)) return;
    over_pixels(pixels(), [&](std::size_t begin, std::size_t end) {
      const std::size_t at = begin * width();
      kernels().multiply_channels(memory_.input_gradients[0] + at, memory_.output_gradient + at,
                                  scale_.data(), end - begin, channels(), setup_.accumulate[0]);
    });
  }

 private:
  std::vector<float> spread(const std::vector<float>& given) const {
    return given.size() == width() ? given : std::vector<float>(width(), given.at(0));
  }
  std::vector<float> scale_;
  std::vector<float> offset_;
};

class ConcatLayer final : public ElementLayer {
 public:
  using ElementLayer::ElementLayer;

  void forward(bool) override {
    over_parts([&](std::size_t input, std::size_t from, std::size_t count, std::size_t begin,
                   std::size_t end) {
      const float* part = memory_.inputs[input] + begin * count;
      float* out = memory_.output + begin * width() + from;
      for (std::size_t p = begin; p < end; ++p, part += count, out += width()) {
        std::memcpy(out, part, count * sizeof(float));
      }
    });
  }

  void backward() override {
    over_parts([&](std::size_t input, std::size_t from, std::size_t count, std::size_t begin,
                   std::size_t end) {
      if (!wants(input)) return;
      float* part = memory_.input_gradients[input] + begin * count;
      const float* all = memory_.output_gradient + begin * width() + from;
      for (std::size_t p = begin; p < end; ++p, part += count, all += width()) {
        if (setup_.accumulate[input]) {
          kernels().accumulate(part, all, count);
        } else {
          std::memcpy(part, all, count * sizeof(float));
        }
      }
    });
  }

 private:
  // The same input may be there twice: one after the other, then.
  template <class Work>
  void over_parts(const Work& work) const {
    over_pixels(pixels(), [&](std::size_t begin, std::size_t end) {
      std::size_t from = 0;
      for (std::size_t i = 0; i < op().inputs.size(); ++i) {
        const auto count = static_cast<std::size_t>(setup_.input(i).channels);
        work(i, from, count, begin, end);
        from += count;
      }
    });
  }
};

class GlobalPoolLayer final : public ElementLayer {
 public:
  using ElementLayer::ElementLayer;

  void forward(bool) override {
    const Value& in = setup_.input(0);
    std::vector<double> sums(width());
    for (std::size_t image = 0; image < images(); ++image) {
      sum_image(memory_.inputs[0] + image * in.elements(), nullptr, in.pixels(), sums);
      for (std::size_t c = 0; c < width(); ++c) {
        memory_.output[image * width() + c] =
            static_cast<float>(sums[c] / static_cast<double>(in.pixels()));
      }
    }
  }

  void backward() override {
    if (!wants(0)) return;
    const Value& in = setup_.input(0);
    std::vector<float> share(width());
    const std::vector<float> zero(width());
    for (std::size_t image = 0; image < images(); ++image) {
      for (std::size_t c = 0; c < width(); ++c) {
        share[c] = memory_.output_gradient[image * width() + c] / static_cast<float>(in.pixels());
      }
      float* dx = memory_.input_gradients[0] + image * in.elements();
      over_pixels(in.pixels(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
          float* out = dx + p * width();
          if (setup_.accumulate[0]) {
            kernels().accumulate(out, share.data(), width());
          } else {
            std::memcpy(out, share.data(), width() * sizeof(float));
          }
        }
      });
    }
  }
};

}  // namespace

std::unique_ptr<Layer> make_layer(const LayerSetup& setup) {
  switch (setup.op.kind) {
    case OpKind::kConv: return make_conv_layer(setup);
    case OpKind::kNorm: return make_norm_layer(setup);
    case OpKind::kAffine: return std::make_unique<AffineLayer>(setup);
    case OpKind::kActivation: return std::make_unique<ActivationLayer>(setup);
    case OpKind::kAdd: return std::make_unique<AddLayer>(setup);
    case OpKind::kMultiply: return std::make_unique<MultiplyLayer>(setup);
    case OpKind::kConcat: return std::make_unique<ConcatLayer>(setup);
    case OpKind::kResize: return make_resize_layer(setup);
    case OpKind::kPool: return make_pool_layer(setup);
    case OpKind::kGlobalPool: return std::make_unique<GlobalPoolLayer>(setup);
  }
  SPARING_CHECK(false);
}

}  // namespace sparing::train
