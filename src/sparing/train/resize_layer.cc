// Resizing, and the way out of NHWC into planes of logits. Both axes one after the other: rows of
// the output are blends of two input rows that are spread along the row first, each only once.
#include <algorithm>
#include <cstring>
#include <vector>

#include "sparing/train/kernels.h"
#include "sparing/train/layer.h"
#include "sparing/train/parallel.h"
#include "sparing/train/primitive_job.h"

namespace sparing::train {
namespace {

// For each input row the output rows that it is part of, with its share.
struct Uses {
  struct Use {
    int row;
    float weight;
  };
  std::vector<std::vector<Use>> of;

  Uses() = default;
  Uses(const Taps& taps, int inputs) : of(static_cast<std::size_t>(inputs)) {
    for (std::size_t i = 0; i < taps.taps.size(); ++i) {
      const Taps::Tap& tap = taps.taps[i];
      const int row = static_cast<int>(i);
      if (tap.weight != 0) of[static_cast<std::size_t>(tap.first)].push_back({row, tap.weight});
      if (tap.weight != 1) {
        of[static_cast<std::size_t>(tap.second)].push_back({row, 1 - tap.weight});
      }
    }
  }
};

// One picture of `channels` interleaved, resized by taps on both axes.
class Resizer {
 public:
  Resizer() = default;
  Resizer(const Op& op, const Value& in, int channels)
      : rows_(op.rows), columns_(op.columns), uses_(op.rows, in.height), channels_(channels) {
    in_row_ = static_cast<std::size_t>(in.width) * static_cast<std::size_t>(channels);
    out_row_ = columns_.taps.size() * static_cast<std::size_t>(channels);
    in_rows_ = static_cast<std::size_t>(in.height);
  }

  std::size_t out_rows() const { return rows_.taps.size(); }
  std::size_t in_rows() const { return in_rows_; }
  const Taps& columns() const { return columns_; }
  std::size_t in_row() const { return in_row_; }
  std::size_t out_row() const { return out_row_; }
  // Floats that forward() or backward() need for themselves.
  std::size_t scratch() const { return 2 * out_row_; }

  // Output rows [begin, end).
  void forward(const float* in, float* out, std::size_t begin, std::size_t end,
               float* scratch) const {
    float* lines[2] = {scratch, scratch + out_row_};
    int held[2] = {-1, -1};
    const auto line = [&](int row, int other) {
      for (int i : {0, 1}) {
        if (held[i] == row) return lines[i];
      }
      const int i = held[0] == other ? 1 : 0;
      kernels().spread_row(lines[i], in + static_cast<std::size_t>(row) * in_row_,
                           columns_.taps.data(), columns_.taps.size(), channels_);
      held[i] = row;
      return lines[i];
    };
    for (std::size_t y = begin; y < end; ++y) {
      const Taps::Tap& tap = rows_.taps[y];
      const float* first = line(tap.first, tap.second);
      const float* second = tap.weight == 1 ? first : line(tap.second, tap.first);
      if (first == second) {
        std::memcpy(out + y * out_row_, first, out_row_ * sizeof(float));
      } else {
        kernels().blend_rows(out + y * out_row_, first, second, tap.weight, out_row_);
      }
    }
  }

  // The sum of the output rows that input row y is part of, times its shares: in `scratch` or, if
  // it is one whole row, where that lies.
  const float* blend_uses(std::size_t y, const float* out_gradient, float* scratch) const {
    const std::vector<Uses::Use>& uses = uses_.of[y];
    const auto row = [&](const Uses::Use& use) {
      return out_gradient + static_cast<std::size_t>(use.row) * out_row_;
    };
    if (uses.size() == 1 && uses[0].weight == 1) return row(uses[0]);
    std::fill_n(scratch, out_row_, 0.0f);
    for (const Uses::Use& use : uses) kernels().add_scaled(scratch, row(use), use.weight, out_row_);
    return scratch;
  }

  // Input rows [begin, end) of the gradient.
  void backward(const float* out_gradient, float* in_gradient, std::size_t begin, std::size_t end,
                bool accumulate, float* scratch) const {
    for (std::size_t y = begin; y < end; ++y) {
      float* row = in_gradient + y * in_row_;
      if (!accumulate) std::fill_n(row, in_row_, 0.0f);
      if (uses_.of[y].empty()) continue;
      const float* line = blend_uses(y, out_gradient, scratch);
      kernels().gather_row(row, line, columns_.taps.data(), columns_.taps.size(), channels_);
    }
  }

 private:
  Taps rows_, columns_;
  Uses uses_;
  int channels_ = 1;
  std::size_t in_row_ = 0, out_row_ = 0, in_rows_ = 0;  // floats in a row; rows
};

class ResizeLayer final : public Layer {
 public:
  explicit ResizeLayer(const LayerSetup& setup)
      : Layer(setup), resizer_(op(), setup.input(0), setup.input(0).channels) {}

  LayerNeeds needs() const override {
    const std::size_t bytes = resizer_.scratch() * sizeof(float) * parts();
    LayerNeeds needs;
    needs.forward_scratch = bytes;
    if (setup_.backward) needs.backward_scratch = bytes;
    return needs;
  }

  void forward(bool) override {
    for (std::size_t image = 0; image < images(); ++image) {
      parallel_parts(threads(), resizer_.out_rows(),
                     [&](int part, std::size_t begin, std::size_t end) {
                       resizer_.forward(memory_.inputs[0] + image * setup_.input(0).elements(),
                                        memory_.output + image * setup_.output().elements(), begin,
                                        end, scratch(memory_.forward_scratch, part));
                     });
    }
  }

  void backward() override {
    for (std::size_t image = 0; image < images(); ++image) {
      parallel_parts(
          threads(), resizer_.in_rows(), [&](int part, std::size_t begin, std::size_t end) {
            resizer_.backward(memory_.output_gradient + image * setup_.output().elements(),
                              memory_.input_gradients[0] + image * setup_.input(0).elements(),
                              begin, end, setup_.accumulate[0],
                              scratch(memory_.backward_scratch, part));
          });
    }
  }

 private:
  std::size_t parts() const { return static_cast<std::size_t>(threads()); }
  float* scratch(std::byte* base, int part) const {
    return reinterpret_cast<float*>(base) + resizer_.scratch() * static_cast<std::size_t>(part);
  }

  Resizer resizer_;
};

// Planes: for a kResize each class is resized by itself, behind a small transposition, for classes
// are few and pixels many.
class OutputLayer final : public Layer {
 public:
  explicit OutputLayer(const LayerSetup& setup)
      : Layer(setup), resizes_(op().kind == OpKind::kResize) {
    if (resizes_) resizer_ = Resizer(op(), setup.input(0), 1);
  }

  LayerNeeds needs() const override {
    LayerNeeds needs;
    if (resizes_) {
      needs.forward_scratch = (source().elements() + resizer_.scratch() * parts()) * sizeof(float);
      if (setup_.backward) needs.backward_scratch = back_scratch() * parts() * sizeof(float);
    }
    return needs;
  }

  void forward(bool) override {
    for (std::size_t image = 0; image < images(); ++image) {
      const float* in = memory_.inputs[0] + image * source().elements();
      float* out = memory_.output + image * setup_.output().elements();
      float* planes = resizes_ ? floats(memory_.forward_scratch) : out;
      over_pixels([&](std::size_t begin, std::size_t end) {
        kernels().to_planes(planes + begin, source().pixels(), in + begin * width(), end - begin,
                            classes());
      });
      if (!resizes_) continue;
      over_rows(
          resizer_.out_rows(), [&](int part, std::size_t c, std::size_t begin, std::size_t end) {
            resizer_.forward(planes + c * source().pixels(), out + c * setup_.output().pixels(),
                             begin, end, scratch(memory_.forward_scratch, part));
          });
    }
  }

  void backward() override {
    if (!setup_.input_gradient[0]) return;
    for (std::size_t image = 0; image < images(); ++image) {
      const float* gradient = memory_.output_gradient + image * setup_.output().elements();
      float* out = memory_.input_gradients[0] + image * source().elements();
      if (resizes_) {
        resize_backward(gradient, out);
        continue;
      }
      over_pixels([&](std::size_t begin, std::size_t end) {
        kernels().from_planes(out + begin * width(), gradient + begin, source().pixels(),
                              end - begin, classes(), setup_.accumulate[0]);
      });
    }
  }

 private:
  const Value& source() const { return resizes_ ? setup_.input(0) : setup_.output(); }
  int classes() const { return setup_.output().channels; }
  std::size_t width() const { return static_cast<std::size_t>(classes()); }
  std::size_t parts() const { return static_cast<std::size_t>(threads()); }
  static float* floats(std::byte* bytes) { return reinterpret_cast<float*>(bytes); }
  // A row of all classes, as planes and as pixels.
  std::size_t back_scratch() const { return 2 * resizer_.out_row() * width(); }

  // Rows first, in planes; then columns, where all classes of a pixel lie together.
  void resize_backward(const float* gradient, float* out) const {
    parallel_parts(
        threads(), resizer_.in_rows(), [&](int part, std::size_t begin, std::size_t end) {
          float* planes =
              floats(memory_.backward_scratch) + back_scratch() * static_cast<std::size_t>(part);
          float* pixels = planes + back_scratch() / 2;
          const std::size_t columns = resizer_.out_row();
          for (std::size_t y = begin; y < end; ++y) {
            for (std::size_t c = 0; c < width(); ++c) {
              float* plane = planes + c * columns;
              const float* line =
                  resizer_.blend_uses(y, gradient + c * setup_.output().pixels(), plane);
              if (line != plane) std::copy_n(line, columns, plane);
            }
            kernels().from_planes(pixels, planes, columns, columns, classes(), false);
            float* row = out + y * resizer_.in_row() * width();
            if (!setup_.accumulate[0]) std::fill_n(row, resizer_.in_row() * width(), 0.0f);
            kernels().gather_row(row, pixels, resizer_.columns().taps.data(), columns, classes());
          }
        });
  }

  float* scratch(std::byte* base, int part) const {
    return floats(base) + source().elements() + resizer_.scratch() * static_cast<std::size_t>(part);
  }

  template <class Work>
  void over_pixels(const Work& work) const {
    parallel_for(threads(), source().pixels(), 1024, work);
  }
  // Rows of all planes, one after the other: work(part, plane, begin, end).
  template <class Work>
  void over_rows(std::size_t rows, const Work& work) const {
    parallel_parts(threads(), rows * width(), [&](int part, std::size_t begin, std::size_t end) {
      while (begin < end) {
        const std::size_t plane = begin / rows;
        const std::size_t stop = std::min(end, (plane + 1) * rows);
        work(part, plane, begin - plane * rows, stop - plane * rows);
        begin = stop;
      }
    });
  }

  bool resizes_;
  Resizer resizer_;
};

}  // namespace

std::unique_ptr<Layer> make_resize_layer(const LayerSetup& setup) {
  return std::make_unique<ResizeLayer>(setup);
}

std::unique_ptr<Layer> make_output_layer(const LayerSetup& setup) {
  return std::make_unique<OutputLayer>(setup);
}

}  // namespace sparing::train
