// An interpreter of ONNX graphs in double precision, one plain loop nest per operator, written from
// ONNX's operator descriptions and sharing nothing with the trainer but the reader of files.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sparing/train/onnx_graph.h"

namespace sparing::train {

struct RefTensor {
  Shape shape;
  std::vector<double> values;

  std::int64_t dim(std::size_t i) const { return shape.at(i); }
  // Of an [N,C,H,W]; 0 outside the picture.
  double at(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) const {
    if (y < 0 || x < 0 || y >= shape[2] || x >= shape[3]) return 0;
    return values[static_cast<std::size_t>(((n * shape[1] + c) * shape[2] + y) * shape[3] + x)];
  }
  double& ref(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
    return values[static_cast<std::size_t>(((n * shape[1] + c) * shape[2] + y) * shape[3] + x)];
  }
};

class Reference {
 public:
  // Batch norms use the statistics of the batch if `live`.
  explicit Reference(const OnnxGraph& graph, bool live = false) : graph_(graph), live_(live) {
    for (const auto& [name, constant] : graph.constants) {
      RefTensor tensor{constant.shape, {}};
      for (std::size_t i = 0; i < constant.size(); ++i) tensor.values.push_back(constant.at(i));
      constants[name] = std::move(tensor);
    }
  }

  std::map<std::string, RefTensor> constants;  // the caller may change them

  RefTensor run(const RefTensor& image) const {
    std::map<std::string, RefTensor> known = constants;
    known[graph_.input] = image;
    for (const OnnxNode& node : graph_.nodes) {
      std::vector<const RefTensor*> inputs;
      for (const std::string& name : node.inputs) {
        inputs.push_back(name.empty() ? nullptr : &known.at(name));
      }
      known[node.outputs[0]] = evaluate(node, inputs);
    }
    return known.at(graph_.output);
  }

 private:
  using Inputs = std::vector<const RefTensor*>;

  static RefTensor make(Shape shape) {
    RefTensor tensor{std::move(shape), {}};
    tensor.values.assign(static_cast<std::size_t>(element_count(tensor.shape).value()), 0);
    return tensor;
  }
  template <class F>
  static RefTensor map(const RefTensor& x, F&& f) {
    RefTensor y = x;
    for (double& value : y.values) value = f(value);
    return y;
  }
  static std::vector<std::int64_t> ints(const OnnxNode& node, const char* name,
                                        std::vector<std::int64_t> otherwise) {
    const auto given = node.integers(name);
    return given.empty() ? otherwise : given;
  }

  RefTensor evaluate(const OnnxNode& node, const Inputs& in) const {
    const std::string& op = node.op;
    const double alpha = static_cast<double>(node.number("alpha", op == "LeakyRelu" ? .01f : .2f));
    const double beta = static_cast<double>(node.number("beta", .5f));
    if (op == "Conv") return conv(node, in);
    if (op == "ConvTranspose") return conv_transpose(node, in);
    if (op == "BatchNormalization") return norm(node, in);
    if (op == "Relu") return map(*in[0], [](double x) { return std::max(x, 0.0); });
    if (op == "Clip") {
      const double low = in.at(1)->values[0];
      const double high = in.at(2)->values[0];
      return map(*in[0], [=](double x) { return std::min(std::max(x, low), high); });
    }
    if (op == "LeakyRelu") return map(*in[0], [=](double x) { return x < 0 ? alpha * x : x; });
    if (op == "Sigmoid") return map(*in[0], [](double x) { return 1 / (1 + std::exp(-x)); });
    if (op == "HardSigmoid") {
      return map(*in[0], [=](double x) { return std::clamp(alpha * x + beta, 0.0, 1.0); });
    }
    if (op == "HardSwish") {
      return map(*in[0], [](double x) { return x * std::clamp(x / 6 + .5, 0.0, 1.0); });
    }
    if (op == "PRelu") {
      return broadcast(*in[0], *in[1], [](double x, double s) { return x < 0 ? s * x : x; });
    }
    if (op == "Add" || op == "Sum") {
      RefTensor sum = *in[0];
      for (std::size_t i = 1; i < in.size(); ++i) {
        sum = broadcast(sum, *in[i], [](double a, double b) { return a + b; });
      }
      return sum;
    }
    if (op == "Sub") return broadcast(*in[0], *in[1], [](double a, double b) { return a - b; });
    if (op == "Mul") return broadcast(*in[0], *in[1], [](double a, double b) { return a * b; });
    if (op == "Div") return broadcast(*in[0], *in[1], [](double a, double b) { return a / b; });
    if (op == "Concat") return concat(in);
    if (op == "Resize" || op == "Upsample") return resize(node, in);
    if (op == "AveragePool" || op == "MaxPool") return pool(node, *in[0]);
    if (op == "GlobalAveragePool" || op == "ReduceMean") return mean(*in[0]);
    if (op == "Pad") return pad(*in[0], *in[1]);
    if (op == "Softmax") return softmax(*in[0]);
    if (op == "Identity") return *in[0];
    throw std::runtime_error("reference has no " + op);
  }

  // Numpy's rules, for shapes of up to 4 axes.
  template <class F>
  static RefTensor broadcast(const RefTensor& a, const RefTensor& b, F&& f) {
    const auto four = [](Shape shape) {
      while (shape.size() < 4) shape.insert(shape.begin(), 1);
      return shape;
    };
    const RefTensor wide_a{four(a.shape), a.values};
    const RefTensor wide_b{four(b.shape), b.values};
    Shape shape(4);
    for (std::size_t i = 0; i < 4; ++i) shape[i] = std::max(wide_a.shape[i], wide_b.shape[i]);
    RefTensor out = make(shape);
    const auto pick = [](const RefTensor& t, std::int64_t n, std::int64_t c, std::int64_t y,
                         std::int64_t x) {
      return t.at(t.dim(0) == 1 ? 0 : n, t.dim(1) == 1 ? 0 : c, t.dim(2) == 1 ? 0 : y,
                  t.dim(3) == 1 ? 0 : x);
    };
    each(out, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
      out.ref(n, c, y, x) = f(pick(wide_a, n, c, y, x), pick(wide_b, n, c, y, x));
    });
    return out;
  }
  template <class F>
  static void each(const RefTensor& t, F&& f) {
    for (std::int64_t n = 0; n < t.dim(0); ++n) {
      for (std::int64_t c = 0; c < t.dim(1); ++c) {
        for (std::int64_t y = 0; y < t.dim(2); ++y) {
          for (std::int64_t x = 0; x < t.dim(3); ++x) f(n, c, y, x);
        }
      }
    }
  }

  static RefTensor conv(const OnnxNode& node, const Inputs& in) {
    const RefTensor& x = *in[0];
    const RefTensor& w = *in[1];
    const auto stride = ints(node, "strides", {1, 1});
    const auto dilation = ints(node, "dilations", {1, 1});
    const auto pads = ints(node, "pads", {0, 0, 0, 0});
    const std::int64_t groups = node.integer("group", 1);
    const auto size = [&](std::size_t i) {
      return (x.dim(2 + i) + pads[i] + pads[i + 2] - dilation[i] * (w.dim(2 + i) - 1) - 1) /
                 stride[i] +
             1;
    };
    RefTensor out = make({x.dim(0), w.dim(0), size(0), size(1)});
    each(out, [&](std::int64_t n, std::int64_t o, std::int64_t y, std::int64_t xo) {
      double sum = in.size() > 2 ? in[2]->values[static_cast<std::size_t>(o)] : 0;
      for (std::int64_t i = 0; i < w.dim(1); ++i) {
        const std::int64_t c = o / (w.dim(0) / groups) * w.dim(1) + i;
        for (std::int64_t ky = 0; ky < w.dim(2); ++ky) {
          for (std::int64_t kx = 0; kx < w.dim(3); ++kx) {
            sum += w.at(o, i, ky, kx) * x.at(n, c, y * stride[0] + ky * dilation[0] - pads[0],
                                             xo * stride[1] + kx * dilation[1] - pads[1]);
          }
        }
      }
      out.ref(n, o, y, xo) = sum;
    });
    return out;
  }

  static RefTensor conv_transpose(const OnnxNode& node, const Inputs& in) {
    const RefTensor& x = *in[0];
    const RefTensor& w = *in[1];
    const auto stride = ints(node, "strides", {1, 1});
    const auto dilation = ints(node, "dilations", {1, 1});
    const auto pads = ints(node, "pads", {0, 0, 0, 0});
    const auto more = ints(node, "output_padding", {0, 0});
    const std::int64_t groups = node.integer("group", 1);
    const auto size = [&](std::size_t i) {
      return (x.dim(2 + i) - 1) * stride[i] + more[i] + dilation[i] * (w.dim(2 + i) - 1) + 1 -
             pads[i] - pads[i + 2];
    };
    RefTensor out = make({x.dim(0), w.dim(1) * groups, size(0), size(1)});
    if (in.size() > 2) {
      each(out, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t xo) {
        out.ref(n, c, y, xo) = in[2]->values[static_cast<std::size_t>(c)];
      });
    }
    each(x, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t xi) {
      for (std::int64_t o = 0; o < w.dim(1); ++o) {
        for (std::int64_t ky = 0; ky < w.dim(2); ++ky) {
          for (std::int64_t kx = 0; kx < w.dim(3); ++kx) {
            const std::int64_t oy = y * stride[0] + ky * dilation[0] - pads[0];
            const std::int64_t ox = xi * stride[1] + kx * dilation[1] - pads[1];
            if (oy < 0 || ox < 0 || oy >= out.dim(2) || ox >= out.dim(3)) continue;
            out.ref(n, c / (x.dim(1) / groups) * w.dim(1) + o, oy, ox) +=
                x.at(n, c, y, xi) * w.at(c, o, ky, kx);
          }
        }
      }
    });
    return out;
  }

  RefTensor norm(const OnnxNode& node, const Inputs& in) const {
    const RefTensor& x = *in[0];
    RefTensor out = x;
    const double count = static_cast<double>(x.dim(0) * x.dim(2) * x.dim(3));
    for (std::int64_t c = 0; c < x.dim(1); ++c) {
      const auto i = static_cast<std::size_t>(c);
      double mean = in[3]->values[i];
      double variance = in[4]->values[i];
      const auto channel = [&](auto&& f) {
        each(x, [&](std::int64_t n, std::int64_t k, std::int64_t y, std::int64_t xo) {
          if (k == c) f(n, y, xo);
        });
      };
      if (live_) {
        mean = variance = 0;
        channel([&](auto n, auto y, auto xo) { mean += x.at(n, c, y, xo) / count; });
        channel([&](auto n, auto y, auto xo) {
          variance += std::pow(x.at(n, c, y, xo) - mean, 2) / count;
        });
      }
      const double inverse =
          1 / std::sqrt(variance + static_cast<double>(node.number("epsilon", 1e-5f)));
      channel([&](auto n, auto y, auto xo) {
        out.ref(n, c, y, xo) =
            (x.at(n, c, y, xo) - mean) * inverse * in[1]->values[i] + in[2]->values[i];
      });
    }
    return out;
  }

  static RefTensor concat(const Inputs& in) {
    Shape shape = in[0]->shape;
    shape[1] = 0;
    for (const RefTensor* part : in) shape[1] += part->dim(1);
    RefTensor out = make(shape);
    std::int64_t from = 0;
    for (const RefTensor* part : in) {
      each(*part, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) {
        out.ref(n, from + c, y, x) = part->at(n, c, y, x);
      });
      from += part->dim(1);
    }
    return out;
  }

  // Upsample and Resize with scales, or with sizes.
  static RefTensor resize(const OnnxNode& node, const Inputs& in) {
    const RefTensor& x = *in[0];
    const bool sized = in.size() > 3 && in[3] != nullptr;
    const RefTensor& given = sized ? *in[3] : node.op == "Upsample" ? *in[1] : *in[2];
    double scale[2];
    Shape shape = x.shape;
    for (std::size_t i : {0, 1}) {
      const double in_size = static_cast<double>(x.dim(2 + i));
      scale[i] = sized ? given.values[2 + i] / in_size : given.values[2 + i];
      shape[2 + i] =
          static_cast<std::int64_t>(sized ? given.values[2 + i] : std::floor(in_size * scale[i]));
    }
    const std::string mode = node.text("mode", "nearest");
    const std::string how = node.text("coordinate_transformation_mode",
                                      node.op == "Upsample" ? "asymmetric" : "half_pixel");
    const std::string rounding =
        node.text("nearest_mode", node.op == "Upsample" ? "floor" : "round_prefer_floor");
    RefTensor out = make(shape);
    const auto source = [&](std::int64_t i, std::size_t axis) {
      const double at = static_cast<double>(i);
      if (how == "align_corners") {
        return at * static_cast<double>(x.dim(2 + axis) - 1) /
               static_cast<double>(shape[2 + axis] - 1);
      }
      return how == "asymmetric" ? at / scale[axis] : (at + .5) / scale[axis] - .5;
    };
    const auto edge = [&](double at, std::size_t axis) {
      return static_cast<std::int64_t>(
          std::clamp(at, 0.0, static_cast<double>(x.dim(2 + axis) - 1)));
    };
    each(out, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t xo) {
      const double sy = source(y, 0);
      const double sx = source(xo, 1);
      if (mode == "nearest") {
        const auto nearest = [&](double at) {
          if (rounding == "floor") return std::floor(at);
          if (rounding == "ceil") return std::ceil(at);
          return rounding == "round_prefer_ceil" ? std::floor(at + .5) : std::ceil(at - .5);
        };
        out.ref(n, c, y, xo) = x.at(n, c, edge(nearest(sy), 0), edge(nearest(sx), 1));
        return;
      }
      const double fy = sy - std::floor(sy);
      const double fx = sx - std::floor(sx);
      double sum = 0;
      for (int i : {0, 1}) {
        for (int j : {0, 1}) {
          sum += (i == 1 ? fy : 1 - fy) * (j == 1 ? fx : 1 - fx) *
                 x.at(n, c, edge(std::floor(sy) + i, 0), edge(std::floor(sx) + j, 1));
        }
      }
      out.ref(n, c, y, xo) = sum;
    });
    return out;
  }

  static RefTensor pool(const OnnxNode& node, const RefTensor& x) {
    const auto kernel = node.integers("kernel_shape");
    const auto stride = ints(node, "strides", {1, 1});
    const auto pads = ints(node, "pads", {0, 0, 0, 0});
    const bool ceil = node.integer("ceil_mode", 0) != 0;
    const bool counts = node.integer("count_include_pad", 0) != 0;
    const auto size = [&](std::size_t i) {
      const std::int64_t room = x.dim(2 + i) + pads[i] + pads[i + 2] - kernel[i];
      std::int64_t n = (room + (ceil ? stride[i] - 1 : 0)) / stride[i] + 1;
      if (ceil && (n - 1) * stride[i] >= x.dim(2 + i) + pads[i]) --n;
      return n;
    };
    RefTensor out = make({x.dim(0), x.dim(1), size(0), size(1)});
    each(out, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t xo) {
      double sum = 0;
      double most = -1e300;
      int inside = 0;
      for (std::int64_t ky = 0; ky < kernel[0]; ++ky) {
        for (std::int64_t kx = 0; kx < kernel[1]; ++kx) {
          const std::int64_t sy = y * stride[0] + ky - pads[0];
          const std::int64_t sx = xo * stride[1] + kx - pads[1];
          if (sy < 0 || sx < 0 || sy >= x.dim(2) || sx >= x.dim(3)) continue;
          ++inside;
          sum += x.at(n, c, sy, sx);
          most = std::max(most, x.at(n, c, sy, sx));
        }
      }
      const double count = counts ? static_cast<double>(kernel[0] * kernel[1]) : inside;
      out.ref(n, c, y, xo) = node.op == "MaxPool" ? most : sum / count;
    });
    return out;
  }

  static RefTensor mean(const RefTensor& x) {
    RefTensor out = make({x.dim(0), x.dim(1), 1, 1});
    each(x, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t xo) {
      out.ref(n, c, 0, 0) += x.at(n, c, y, xo) / static_cast<double>(x.dim(2) * x.dim(3));
    });
    return out;
  }

  static RefTensor pad(const RefTensor& x, const RefTensor& pads) {
    const auto by = [&](std::size_t i) { return static_cast<std::int64_t>(pads.values[i]); };
    RefTensor out = make({x.dim(0), x.dim(1), x.dim(2) + by(2) + by(6), x.dim(3) + by(3) + by(7)});
    each(out, [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t xo) {
      out.ref(n, c, y, xo) = x.at(n, c, y - by(2), xo - by(3));
    });
    return out;
  }

  static RefTensor softmax(const RefTensor& x) {
    RefTensor out = map(x, [](double v) { return std::exp(v); });
    RefTensor sums = make({x.dim(0), 1, x.dim(2), x.dim(3)});
    each(x, [&](auto n, auto c, auto y, auto xo) { sums.ref(n, 0, y, xo) += out.at(n, c, y, xo); });
    each(x, [&](auto n, auto c, auto y, auto xo) { out.ref(n, c, y, xo) /= sums.at(n, 0, y, xo); });
    return out;
  }

  const OnnxGraph& graph_;
  bool live_;
};

}  // namespace sparing::train
