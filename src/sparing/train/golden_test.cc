// The trainer against PyTorch: networks as its exporter writes them, stepped 20 times by both. The
// recorded weights come from training/make_train_golden.py.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sparing/train/graph_builder_test_util.h"
#include "sparing/train/onnx_graph.h"
#include "sparing/train/trainer.h"

namespace sparing {
namespace {

using train::Noise;
using train::OnnxGraph;

std::filesystem::path test_file(const std::string& name) {
  return std::filesystem::path(SPARING_SOURCE_DIR) / "src/sparing/train/testdata" /
         (name + ".onnx");
}

OnnxGraph read(const std::string& name) {
  std::ifstream stream(test_file(name), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  Result<OnnxGraph> graph = train::read_onnx(train::as_bytes(bytes), name);
  EXPECT_TRUE(graph.ok()) << graph.error().to_string();
  return *std::move(graph);
}

struct Recorded {
  const char* network;
  const char* optimizer;
  const char* batch_norm;
  double rate;
  double weight_decay;
};

void PrintTo(const Recorded& r, std::ostream* out) {
  *out << r.network << "-" << r.optimizer << "-" << r.batch_norm;
}

class TwentySteps : public testing::TestWithParam<Recorded> {};

// As train() of the script.
void make_steps(Trainer& trainer) {
  const std::size_t pixels = 20 * 16;
  Noise class_noise(7);
  const std::vector<float> class_weights = class_noise.values(5, 0.5f, 1.0f);
  for (std::uint32_t step = 0; step < 20; ++step) {
    const std::vector<float> image = Noise(100 + step).values(3 * pixels);
    std::copy(image.begin(), image.end(), reinterpret_cast<float*>(trainer.input().data));
    std::vector<std::uint8_t> labels;
    Noise label_noise(500 + step);
    for (std::size_t i = 0; i < pixels; ++i) {
      const double share = (static_cast<double>(label_noise.next()) + 1) / 2;
      const int label = static_cast<int>(share * 6);
      labels.push_back(label < 5 ? static_cast<std::uint8_t>(label) : kIgnoreLabel);
    }
    ASSERT_TRUE(trainer.forward().ok());
    const Result<StepReport> report =
        trainer.step_cross_entropy({.labels = labels, .class_weights = class_weights});
    ASSERT_TRUE(report.ok()) << report.error().to_string();
    ASSERT_TRUE(report->applied()) << to_string(report->outcome);
  }
}

TEST_P(TwentySteps, GiveTheWeightsOfPyTorch) {
  const Recorded& way = GetParam();
  TrainerOptions options;
  options.optimizer = way.optimizer;
  options.batch_norm = way.batch_norm;
  options.rate = way.rate;
  options.weight_decay = way.weight_decay;
  Result<Trainer> trainer = Trainer::create(test_file(way.network), options);
  ASSERT_TRUE(trainer.ok()) << trainer.error().to_string();
  make_steps(*trainer);

  const OnnxGraph before = read(way.network);
  const OnnxGraph after =
      read(std::string(way.network) + "-" + way.optimizer + "-" + way.batch_norm);
  std::map<std::string, std::string> maker;  // of a tensor: its node
  std::size_t compared = 0;
  double moved = 0;
  const auto compare = [&](const std::string& tensor, const std::string& layer,
                           const std::string& part) {
    const Result<std::vector<float>> ours = trainer->weights(layer, part);
    ASSERT_TRUE(ours.ok()) << ours.error().to_string();
    const std::vector<float>& expected = after.constants.at(tensor).floats;
    ASSERT_EQ(ours->size(), expected.size()) << tensor;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR((*ours)[i], expected[i], 1e-4) << tensor << "[" << i << "]";
      moved = std::max(moved, std::fabs(static_cast<double>(before.constants.at(tensor).floats[i] -
                                                            expected[i])));
    }
    ++compared;
  };
  for (const train::OnnxNode& node : before.nodes) {
    for (const std::string& output : node.outputs) maker[output] = node.name;
    if (node.op == "Conv" || node.op == "ConvTranspose") {
      compare(node.inputs[1], node.name, "weight");
      if (node.inputs.size() > 2) compare(node.inputs[2], node.name, "bias");
    } else if (node.op == "PRelu") {
      compare("slope.weight", node.name, "weight");
    } else if (node.op == "BatchNormalization") {
      const bool folded = options.batch_norm == "frozen";
      const std::string layer = folded ? maker.at(node.inputs[0]) : node.name;
      for (std::size_t i = 0; i < 4; ++i) {
        static const std::string kParts[] = {"scale", "shift", "mean", "variance"};
        compare(node.inputs[i + 1], layer, kParts[i]);
      }
    }
  }
  EXPECT_GT(compared, 15u);
  EXPECT_GT(moved, 0.02);  // two hundred times the tolerance
}

INSTANTIATE_TEST_SUITE_P(Recorded, TwentySteps,
                         testing::Values(Recorded{"branches", "sgd", "frozen", 0.05, 1e-3},
                                         Recorded{"branches", "adam", "frozen", 2e-3, 0},
                                         Recorded{"branches", "sgd", "live", 0.05, 1e-3},
                                         Recorded{"branches", "adam", "live", 2e-3, 0},
                                         Recorded{"encoder", "sgd", "frozen", 0.05, 1e-3},
                                         Recorded{"encoder", "adam", "frozen", 2e-3, 0},
                                         Recorded{"encoder", "sgd", "live", 0.05, 1e-3},
                                         Recorded{"encoder", "adam", "live", 2e-3, 0}));

}  // namespace
}  // namespace sparing
