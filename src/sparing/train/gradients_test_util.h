// A network made of a test's graph, beside the reference: outputs compared, and gradients with
// central differences of the reference in double precision.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sparing/train/graph_builder_test_util.h"
#include "sparing/train/lower.h"
#include "sparing/train/network.h"
#include "sparing/train/reference_test_util.h"

namespace sparing::train {

struct GradientCheck {
  TrainerOptions options;
  double output_tolerance = 2e-5;    // of the largest output
  double gradient_tolerance = 1e-4;  // of the largest gradient of a parameter
  std::size_t samples = 12;          // of each parameter's elements

  // The loss is a fixed weighting of all outputs, so that every output counts differently.
  void run(const std::string& bytes) const {
    Result<OnnxGraph> read = read_onnx(as_bytes(bytes), "test");
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    const OnnxGraph graph = *read;
    Result<Net> net = lower(*std::move(read), options);
    ASSERT_TRUE(net.ok()) << net.error().to_string();
    const Status selected = select_trained(*net, options);
    ASSERT_TRUE(selected.ok()) << selected.error().to_string();
    Network network(*std::move(net), options, false);

    Noise noise(99);
    const Value& in = network.input();
    RefTensor image{{options.batch, in.channels, in.height, in.width}, {}};
    const std::size_t count = in.elements() * static_cast<std::size_t>(options.batch);
    for (std::size_t i = 0; i < count; ++i) {
      network.input_planes()[i] = noise.next();
      image.values.push_back(static_cast<double>(network.input_planes()[i]));
    }
    Reference reference(graph, options.batch_norm == "live");
    const RefTensor expected = reference.run(image);
    network.forward(true);
    compare_outputs(network, expected);
    if (options.train == "none") return;

    std::vector<double> weights;
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      weights.push_back(static_cast<double>(noise.next()));
      network.logits_gradient()[i] = static_cast<float>(weights.back());
    }
    const auto loss = [&] {
      const RefTensor out = reference.run(image);
      double sum = 0;
      for (std::size_t i = 0; i < weights.size(); ++i) {
        sum += static_cast<double>(static_cast<float>(weights[i])) * out.values[i];
      }
      return sum;
    };
    network.backward();
    int compared = 0;
    for (std::size_t i = 0; i < network.net().parameters.size(); ++i) {
      if (!network.net().parameters[i].trained) continue;
      compare_gradient(network, static_cast<int>(i), reference, loss);
      ++compared;
    }
    EXPECT_GT(compared, 0);
  }

 private:
  void compare_outputs(const Network& network, const RefTensor& expected) const {
    const Value& out = network.output();
    ASSERT_EQ(expected.shape, (Shape{options.batch, out.channels, out.height, out.width}));
    double largest = 1e-3;
    for (const double value : expected.values) largest = std::max(largest, std::fabs(value));
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(network.logits()[i]), expected.values[i],
                  output_tolerance * largest)
          << "output " << i;
    }
  }

  void compare_gradient(Network& network, int index, Reference& reference,
                        const std::function<double()>& loss) const {
    const Parameter& parameter = network.net().parameter(index);
    const std::string name =
        parameter.layer + "." + std::string(kPartNames[static_cast<std::size_t>(parameter.part)]);
    const std::span<float> gradient = network.parameters().gradient(index);
    std::vector<double>& values = reference.constants.at(name).values;
    ASSERT_EQ(values.size(), gradient.size()) << name;
    double largest = 0.1;
    for (const float g : gradient) largest = std::max(largest, std::fabs(static_cast<double>(g)));
    const std::size_t step = std::max<std::size_t>(1, values.size() / samples);
    for (std::size_t i = 0; i < values.size(); i += step) {
      constexpr double kStep = 1e-5;
      const double before = values[i];
      values[i] = before + kStep;
      const double above = loss();
      values[i] = before - kStep;
      const double below = loss();
      values[i] = before;
      ASSERT_NEAR(static_cast<double>(gradient[i]), (above - below) / (2 * kStep),
                  gradient_tolerance * largest)
          << name << "[" << i << "]";
    }
  }
};

}  // namespace sparing::train
