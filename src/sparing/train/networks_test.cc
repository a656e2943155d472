// Small networks as a whole: against the double-precision reference, with frozen and live
// statistics, with a cut, and in bfloat16.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sparing/train/gradients_test_util.h"

namespace sparing::train {
namespace {

using Ints = GraphBuilder::Ints;

struct Case {
  const char* name;
  // Builds a graph and returns the name of its output.
  std::string (*build)(GraphBuilder&);
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// Two resolutions that exchange, as HRNet does.
std::string two_branches(GraphBuilder& g) {
  const auto unit = [&](const std::string& name, const std::string& x, const Shape& weight,
                        std::int64_t stride) {
    g.conv(name, x, weight, false);
    g.with("pads", Ints{weight[2] / 2, weight[3] / 2, weight[2] / 2, weight[3] / 2});
    g.with("strides", Ints{stride, stride});
    return g.norm(name + "n", name, weight[0], name);
  };
  const auto relu = [&](const std::string& x) { return g.node("Relu", x + "r", {x}); };
  const std::string stem = relu(unit("stem", "image", {6, 4, 3, 3}, 1));
  const std::string high = relu(unit("high", stem, {6, 6, 3, 3}, 1));
  const std::string low = relu(unit("low", stem, {8, 6, 3, 3}, 2));
  g.node("Resize", "up",
         {unit("lift", low, {6, 8, 1, 1}, 1), "", "", g.integers("size", {1, 6, 9, 7})});
  g.with("mode", "linear");
  const std::string fused = relu(g.node("Add", "fused", {high, "up"}));
  const std::string down =
      relu(g.node("Add", "fusedlow", {low, unit("down", high, {8, 6, 3, 3}, 2)}));
  g.node("Resize", "up2", {down, "", "", g.integers("size2", {1, 8, 9, 7})});
  g.with("mode", "linear").with("coordinate_transformation_mode", "align_corners");
  g.node("Concat", "all", {fused, "up2"});
  g.with("axis", std::int64_t{1});
  return g.conv("classes", "all", {5, 14, 1, 1});
}

std::string squeeze_excitation(GraphBuilder& g) {
  std::string x = g.norm("n", g.same_conv("c", "image", {8, 4, 3, 3}), 8, "c");
  x = g.node("HardSwish", "h", {x});
  g.same_conv("dw", x, {8, 1, 3, 3});
  g.with("group", std::int64_t{8});
  std::string gate = g.node("GlobalAveragePool", "squeeze", {"dw"});
  gate = g.node("Relu", "gr", {g.conv("reduce", gate, {3, 8, 1, 1})});
  gate = g.node("HardSigmoid", "gs", {g.conv("expand", gate, {8, 3, 1, 1})});
  x = g.node("Mul", "excite", {"dw", gate});
  x = g.node("Add", "skip", {x, "h"});
  return g.conv("classes", x, {5, 8, 1, 1});
}

std::string encoder_decoder(GraphBuilder& g) {
  const std::string x = g.node("Relu", "r", {g.same_conv("c", "image", {6, 4, 3, 3})});
  g.conv("down", x, {8, 6, 2, 2});
  g.with("strides", Ints{2, 2});
  const std::string y = g.node("PRelu", "p", {"down", g.random("p.weight", {8, 1, 1}, .2f)});
  g.conv("up", y, {8, 6, 3, 3}, true, "ConvTranspose");
  g.with("strides", Ints{2, 2});
  const std::string z = g.norm("upn", "up", 6, "up");
  g.node("Concat", "cat", {g.node("Relu", "zr", {z}), x});
  g.with("axis", std::int64_t{1});
  g.node("Softmax", "soft", {g.conv("classes", "cat", {5, 12, 1, 1})});
  g.with("axis", std::int64_t{1});
  return "soft";
}

constexpr Case kNetworks[] = {{"TwoBranches", two_branches},
                              {"SqueezeExcitation", squeeze_excitation}};

class WholeNetwork : public testing::TestWithParam<Case> {};

TEST_P(WholeNetwork, WithFrozenStatistics) {
  GraphBuilder graph;
  GradientCheck().run(graph.bytes(GetParam().build(graph)));
}

TEST_P(WholeNetwork, OnTwoThreads) {
  GraphBuilder graph;
  GradientCheck check;
  check.options.threads = 2;
  check.run(graph.bytes(GetParam().build(graph)));
}

INSTANTIATE_TEST_SUITE_P(All, WholeNetwork, testing::ValuesIn(kNetworks),
                         [](const auto& info) { return info.param.name; });

// Parameters of batch norms that are not folded belong to the norm's own node.
TEST(LiveStatistics, GradientsPassThroughMeanAndVariance) {
  GraphBuilder graph({0, 4, 9, 7});
  const std::string x = graph.same_conv("a", "image", {6, 4, 3, 3});
  const std::string y = graph.node("Relu", "r", {graph.norm("n", x, 6, "n")});
  const std::string z = graph.norm("m", graph.same_conv("b", y, {5, 6, 3, 3}), 5, "m");
  GradientCheck check;
  check.options.batch_norm = "live";
  check.options.batch = 2;
  check.gradient_tolerance = 3e-4;
  check.run(graph.bytes(graph.node("Relu", "s", {z})));
}

TEST(LiveStatistics, OnlyScaleAndShiftAreTrainedWhenAskedFor) {
  GraphBuilder graph;
  const std::string x = graph.norm("n", graph.same_conv("a", "image", {6, 4, 3, 3}), 6, "n");
  const std::string y = graph.node("Relu", "r", {x});
  const std::string z = graph.norm("m", graph.same_conv("b", y, {5, 6, 3, 3}), 5, "m");
  GradientCheck check;
  check.options.batch_norm = "live";
  check.options.train = "batch_norm";
  check.gradient_tolerance = 3e-4;
  check.run(graph.bytes(z));
}

// The output's Softmax is left out, so the logits are compared before it.
TEST(WholeNetworks, EncoderDecoderWithItsSoftmaxLeftOut) {
  GraphBuilder with_softmax({1, 4, 10, 8});
  const std::string end = encoder_decoder(with_softmax);
  const std::string bytes = with_softmax.bytes(end);
  // kernel 3, stride 2 makes 11x9 of 5x4: cut back by padding at the end
  Result<OnnxGraph> read = read_onnx(as_bytes(bytes), "test");
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(lower(*std::move(read), {}).ok());  // 11x9 and 10x8 do not concatenate
  for (auto& node : *with_softmax.graph().mutable_node()) {
    if (node.name() != "up") continue;
    auto* pads = node.add_attribute();
    pads->set_name("pads");
    pads->set_type(onnx::AttributeProto::INTS);
    for (const int pad : {0, 0, 1, 1}) pads->add_ints(pad);
  }
  const auto logits = [&](const std::string& output) {
    Result<OnnxGraph> graph = read_onnx(as_bytes(with_softmax.bytes(output)), "test");
    Result<Net> net = lower(*std::move(graph), {});
    EXPECT_TRUE(net.ok()) << net.error().to_string();
    EXPECT_TRUE(select_trained(*net, {}).ok());
    Network network(*std::move(net), {}, false);
    Noise noise(5);
    for (std::size_t i = 0; i < network.input().elements(); ++i) {
      network.input_planes()[i] = noise.next();
    }
    network.forward(true);
    return std::vector<float>(network.logits(), network.logits() + network.output().elements());
  };
  EXPECT_EQ(logits("soft"), logits("classes"));
  GradientCheck().run(with_softmax.bytes("classes"));
}

// Below the cut nothing is kept, and what lies above learns just the same.
TEST(Cut, KeepsOnlyWhatTheStepNeeds) {
  const auto gradients = [](const TrainerOptions& options, TrainerMemory& memory) {
    GraphBuilder graph;
    Result<OnnxGraph> read = read_onnx(as_bytes(graph.bytes(two_branches(graph))), "test");
    Result<Net> net = lower(*std::move(read), options);
    EXPECT_TRUE(select_trained(*net, options).ok());
    Network network(*std::move(net), options, false);
    memory = network.memory();
    Noise noise(5);
    for (std::size_t i = 0; i < network.input().elements(); ++i) {
      network.input_planes()[i] = noise.next();
    }
    network.forward(true);
    for (std::size_t i = 0; i < network.output().elements(); ++i) {
      network.logits_gradient()[i] = noise.next();
    }
    network.backward();
    std::vector<float> last;
    for (std::size_t i = 0; i < network.net().parameters.size(); ++i) {
      if (network.net().parameters[i].layer != "classes") continue;
      const auto gradient = network.parameters().gradient(static_cast<int>(i));
      last.insert(last.end(), gradient.begin(), gradient.end());
    }
    return last;
  };
  TrainerMemory all, last;
  TrainerOptions options;
  const std::vector<float> expected = gradients(options, all);
  options.train = "last";
  EXPECT_EQ(gradients(options, last), expected);
  EXPECT_FALSE(expected.empty());
  EXPECT_LT(last.kept, all.kept / 2);
  EXPECT_LT(last.planned, all.planned);
  EXPECT_LT(all.planned, all.unshared);
}

std::string depthwise(GraphBuilder& g) {
  const std::string x = g.node("Relu", "r", {g.same_conv("first", "image", {6, 4, 3, 3})});
  g.conv("dilated", x, {6, 1, 3, 3});
  g.with("group", std::int64_t{6}).with("dilations", Ints{2, 2}).with("pads", Ints{2, 2, 2, 2});
  g.conv("large", "dilated", {6, 1, 5, 5});
  g.with("group", std::int64_t{6}).with("pads", Ints{2, 2, 2, 2});
  g.conv("up", "large", {6, 5, 2, 2}, true, "ConvTranspose");
  g.with("strides", Ints{2, 2});
  return "up";
}

// Whether logits and gradients of all weights are near: in bfloat16 numbers have 8 bits.
class Bf16 : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(All, Bf16,
                         testing::Values(Case{"TwoBranches", two_branches},
                                         Case{"SqueezeExcitation", squeeze_excitation},
                                         Case{"Depthwise", depthwise}),
                         [](const auto& info) { return info.param.name; });

TEST_P(Bf16, LogitsAndGradientsStayNearThoseOfFloat32) {
  if (dnnl::get_effective_cpu_isa() < dnnl::cpu_isa::avx512_core_bf16) GTEST_SKIP() << "no bf16";
  GraphBuilder graph;
  const std::string bytes = graph.bytes(GetParam().build(graph));
  const auto run = [&](bool bf16, const char* gradients, std::vector<float>& logits) {
    TrainerOptions options;
    options.gradients = gradients;
    Result<Net> net = lower(*read_onnx(as_bytes(bytes), "test"), options);
    EXPECT_TRUE(select_trained(*net, options).ok());
    Network network(*std::move(net), options, bf16);
    Noise noise(5);
    for (std::size_t i = 0; i < network.input().elements(); ++i) {
      network.input_planes()[i] = noise.next();
    }
    network.forward(true);
    logits.assign(network.logits(), network.logits() + network.output().elements());
    for (std::size_t i = 0; i < logits.size(); ++i) network.logits_gradient()[i] = noise.next();
    network.backward();
    std::vector<double> all;
    for (std::size_t i = 0; i < network.net().parameters.size(); ++i) {
      const auto gradient = network.parameters().gradient(static_cast<int>(i));
      all.insert(all.end(), gradient.begin(), gradient.end());
    }
    return all;
  };
  std::vector<float> exact_logits, logits;
  const std::vector<double> exact = run(false, "f32", exact_logits);
  for (const char* gradients : {"f32", "bf16"}) {
    const std::vector<double> near = run(true, gradients, logits);
    EXPECT_NE(logits, exact_logits);
    for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], exact_logits[i], 0.05);
    ASSERT_EQ(near.size(), exact.size());
    double square = 0;
    double difference = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      square += exact[i] * exact[i];
      difference += (near[i] - exact[i]) * (near[i] - exact[i]);
    }
    EXPECT_LT(std::sqrt(difference / square), 0.06) << gradients;
    EXPECT_GT(difference, 0);
  }
}

}  // namespace
}  // namespace sparing::train
