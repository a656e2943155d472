#include "sparing/models/segmentation_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sparing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

SegmentationSpec spec_of(SegmentationKind kind, int classes, Activation activation,
                         Layout layout = Layout::kNchw, std::vector<int> class_map = {}) {
  SegmentationSpec spec;
  spec.kind = kind;
  spec.classes = classes;
  spec.activation = activation;
  spec.layout = layout;
  spec.class_map = std::move(class_map);
  return spec;
}

// A tensor of its own.
struct Output {
  Shape shape;
  std::vector<float> data;

  std::vector<HeadTensor> tensors(std::string_view name = "out") const {
    return {{name, shape, data}};
  }
};

Output output_of(Shape shape, float value = 0) {
  const auto count = static_cast<std::size_t>(element_count(shape).value());
  return {std::move(shape), std::vector<float>(count, value)};
}

Output random_output(Shape shape, float low, float high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  Output output = output_of(std::move(shape));
  for (float& value : output.data) value = uniform(generator);
  return output;
}

double score_at(const SegmentationSpec& spec, const Output& output, int image, int c, int pixel) {
  const Shape& shape = output.shape;
  if (spec.layout == Layout::kNchw) {
    const std::int64_t pixels = shape[2] * shape[3];
    return output.data[static_cast<std::size_t>((image * shape[1] + c) * pixels + pixel)];
  }
  const std::int64_t pixels = shape[1] * shape[2];
  return output.data[static_cast<std::size_t>((image * pixels + pixel) * shape[3] + c)];
}

// The definition, in double precision, of one pixel of kScores.
std::vector<double> expected_pixel(const SegmentationSpec& spec,
                                   const std::vector<double>& scores) {
  std::vector<double> result(static_cast<std::size_t>(spec.classes), 0.0);
  double sum = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    const int label = spec.class_map.empty() ? static_cast<int>(c) : spec.class_map[c];
    if (label < 0) continue;
    double weight = std::min(std::max(scores[c], 0.0), 1.0);
    if (spec.activation == Activation::kSigmoid) weight = 1 / (1 + std::exp(-scores[c]));
    if (spec.activation == Activation::kSoftmax) weight = std::exp(scores[c]);
    result[static_cast<std::size_t>(label)] += weight;
    sum += weight;
  }
  for (double& value : result) value /= sum;
  return result;
}

// Odd sizes, longer and shorter than vectors and tiles; ignored, merged, reordered and missing.
TEST(SegmentationHead, ScoresAreTheDefinitionInDoublePrecision) {
  const std::vector<int> kMaps[] = {
      {}, {2, 0, 1}, {0, kIgnoredChannel, 1, 2, kIgnoredChannel}, {1, 1, 0, 2, 1, 0}, {2, 2, 0}};
  unsigned seed = 1;
  for (const Activation activation :
       {Activation::kNone, Activation::kSigmoid, Activation::kSoftmax}) {
    for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
      for (const std::vector<int>& map : kMaps) {
        for (const Size size : {Size{1, 1}, Size{37, 11}, Size{64, 32}}) {
          const SegmentationSpec spec =
              spec_of(SegmentationKind::kScores, 3, activation, layout, map);
          const auto channels = static_cast<std::int64_t>(map.empty() ? 3 : map.size());
          const Shape shape = layout == Layout::kNchw ? Shape{2, channels, size.height, size.width}
                                                      : Shape{2, size.height, size.width, channels};
          const bool logits = activation != Activation::kNone;
          const Output output = random_output(shape, logits ? -8 : 0, logits ? 8 : 1, seed++);
          for (int image = 0; image < 2; ++image) {
            ProbabilityMap map_out;
            const auto counts = decode_segmentation(spec, output.tensors(), image, map_out);
            ASSERT_TRUE(counts.ok()) << counts.error().to_string();
            EXPECT_EQ(*counts, SegmentationCounts());
            ASSERT_EQ(map_out.size, size);
            ASSERT_EQ(map_out.classes, 3);
            ProbabilityMap logits_out;
            ASSERT_TRUE(decode_segmentation(spec, output.tensors(), image, logits_out,
                                            SegmentationOutput::kLogits)
                            .ok());
            for (int i = 0; i < size.width * size.height; ++i) {
              std::vector<double> scores;
              for (int c = 0; c < channels; ++c) {
                scores.push_back(score_at(spec, output, image, c, i));
              }
              const std::vector<double> exact = expected_pixel(spec, scores);
              double from_logits = 0;
              for (int c = 0; c < 3; ++c) {
                from_logits += std::exp(logits_out.plane(c)[static_cast<std::size_t>(i)]);
              }
              for (int c = 0; c < 3; ++c) {
                const auto at = static_cast<std::size_t>(i);
                const double wanted = exact[static_cast<std::size_t>(c)];
                ASSERT_NEAR(map_out.plane(c)[at], wanted, 1e-5 * wanted + 1e-12);
                // A softmax over the logits gives the same.
                ASSERT_NEAR(std::exp(logits_out.plane(c)[at]) / from_logits, wanted, 1e-5);
              }
            }
          }
        }
      }
    }
  }
}

TEST(SegmentationHead, LogitsPassAsTheyAre) {
  for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
    const SegmentationSpec spec =
        spec_of(SegmentationKind::kScores, 2, Activation::kSoftmax, layout, {1, 0});
    const Output output{layout == Layout::kNchw ? Shape{1, 2, 1, 3} : Shape{1, 1, 3, 2},
                        layout == Layout::kNchw
                            ? std::vector<float>{1, -2.5f, -kInfinity, 4, 5, 1e9f}
                            : std::vector<float>{1, 4, -2.5f, 5, -kInfinity, 1e9f}};
    ProbabilityMap out;
    const auto counts =
        decode_segmentation(spec, output.tensors(), 0, out, SegmentationOutput::kLogits);
    ASSERT_TRUE(counts.ok()) << counts.error().to_string();
    EXPECT_EQ(out.values, (std::vector<float>{4, 5, 1e6f, 1, -2.5f, -1e6f}));
  }
}

TEST(SegmentationHead, Foreground) {
  const double kLogits[] = {-90, -3, 0, 0.5, 20};
  for (const Shape& shape :
       {Shape{1, 1, 1, 5}, Shape{1, 1, 5, 1}, Shape{1, 5, 1}, Shape{1, 1, 5}}) {
    Output output = output_of(shape);
    for (std::size_t i = 0; i < 5; ++i) output.data[i] = static_cast<float>(kLogits[i]);
    SegmentationSpec spec = spec_of(SegmentationKind::kForeground, 2, Activation::kSigmoid);
    ProbabilityMap out;
    ProbabilityMap logits;
    ASSERT_TRUE(decode_segmentation(spec, output.tensors(), 0, out).ok());
    ASSERT_TRUE(
        decode_segmentation(spec, output.tensors(), 0, logits, SegmentationOutput::kLogits).ok());
    ASSERT_EQ(out.pixels(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
      const double person = 1 / (1 + std::exp(-kLogits[i]));
      EXPECT_NEAR(out.plane(1)[i], person, 1e-6);
      EXPECT_NEAR(out.plane(0)[i], 1 - person, 1e-6);
      EXPECT_EQ(logits.plane(0)[i], 0);
      EXPECT_EQ(logits.plane(1)[i], output.data[i]);
    }
    output.data = {0, 0.25f, 0.5f, 1, 1.005f};
    spec.activation = Activation::kNone;
    ASSERT_TRUE(decode_segmentation(spec, output.tensors(), 0, out).ok());
    EXPECT_EQ(out.values, (std::vector<float>{1, 0.75f, 0.5f, 0, 0, 0, 0.25f, 0.5f, 1, 1}));
    ASSERT_TRUE(
        decode_segmentation(spec, output.tensors(), 0, logits, SegmentationOutput::kLogits).ok());
    EXPECT_NEAR(logits.plane(0)[1], std::log(0.75), 1e-6);
    EXPECT_NEAR(logits.plane(1)[0], std::log(1e-7), 1e-5);
  }
  // Longer than a tile.
  const Output output = random_output({1, 1, 50, 67}, 0, 1, 3);
  ProbabilityMap out;
  ASSERT_TRUE(decode_segmentation(spec_of(SegmentationKind::kForeground, 2, Activation::kNone),
                                  output.tensors(), 0, out)
                  .ok());
  for (std::size_t i = 0; i < output.data.size(); ++i) {
    ASSERT_NEAR(out.plane(1)[i], output.data[i], 1e-6);
    ASSERT_NEAR(out.plane(0)[i] + out.plane(1)[i], 1, 1e-6);
  }
}

TEST(SegmentationHead, LabelMaps) {
  const Output output{{1, 1, 2, 4}, {0, 1, 2, 3, 4, -1, 1.5f, kNaN}};
  SegmentationSpec spec = spec_of(SegmentationKind::kLabels, 3, Activation::kNone);
  spec.class_map = {2, kIgnoredChannel, 0, 2};  // nothing gives label 1
  ProbabilityMap out;
  const auto counts = decode_segmentation(spec, output.tensors(), 0, out);
  ASSERT_TRUE(counts.ok()) << counts.error().to_string();
  EXPECT_EQ(*counts, (SegmentationCounts{0, 4}));
  EXPECT_EQ(out.size, (Size{4, 2}));
  EXPECT_EQ(out.values, (std::vector<float>{0, .5f, 1, 0, .5f, .5f, .5f, .5f,  //
                                            0, 0,   0, 0, 0,   0,   0,   0,    //
                                            1, .5f, 0, 1, .5f, .5f, .5f, .5f}));
  const auto again =
      decode_segmentation(spec, output.tensors(), 0, out, SegmentationOutput::kLogits);
  ASSERT_TRUE(again.ok());
  const float absent = out.plane(1)[0];
  EXPECT_NEAR(absent, std::log(1e-7), 1e-5);
  EXPECT_EQ(out.plane(0)[0], absent);
  EXPECT_EQ(out.plane(2)[0], 0);
  EXPECT_EQ(out.plane(0)[1], out.plane(2)[1]);
  spec.class_map.clear();
  const auto plain = decode_segmentation(spec, output.tensors(), 0, out);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->unknown_class, 5);
  EXPECT_EQ(out.plane(1)[1], 1);
}

TEST(SegmentationHead, PixelsWithoutAnAnswerAreEvenAndCounted) {
  for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
    const auto shape = layout == Layout::kNchw ? Shape{1, 4, 1, 3} : Shape{1, 1, 3, 4};
    const auto set = [&](Output& output, int c, int x, float value) {
      output.data[static_cast<std::size_t>(layout == Layout::kNchw ? c * 3 + x : x * 4 + c)] =
          value;
    };
    Output output = output_of(shape, 0.25f);
    set(output, 1, 0, kNaN);
    for (int c = 0; c < 4; ++c) set(output, c, 2, 0);
    // Label 1 has no channel, so that nothing is said for it.
    const SegmentationSpec spec =
        spec_of(SegmentationKind::kScores, 3, Activation::kNone, layout, {0, 0, 2, 2});
    ProbabilityMap out;
    const auto counts = decode_segmentation(spec, output.tensors(), 0, out);
    ASSERT_TRUE(counts.ok()) << counts.error().to_string();
    EXPECT_EQ(*counts, (SegmentationCounts{2, 0}));
    EXPECT_EQ(out.values, (std::vector<float>{.5f, .5f, .5f, 0, 0, 0, .5f, .5f, .5f}));
    set(output, 3, 1, kInfinity);
    SegmentationSpec softmax = spec;
    softmax.activation = Activation::kSoftmax;
    const auto more = decode_segmentation(softmax, output.tensors(), 0, out);
    ASSERT_TRUE(more.ok());
    EXPECT_EQ(*more, (SegmentationCounts{2, 0}));
  }
  ProbabilityMap out;
  const Output output{{1, 1, 1, 2}, {kNaN, 0}};
  const auto counts =
      decode_segmentation(spec_of(SegmentationKind::kForeground, 2, Activation::kSigmoid),
                          output.tensors(), 0, out, SegmentationOutput::kLogits);
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts->not_finite, 1);
  EXPECT_EQ(out.values, (std::vector<float>{0, 0, 0, 0}));
}

TEST(SegmentationHead, KeepsMemoryThatIsThere) {
  const SegmentationSpec spec = spec_of(SegmentationKind::kScores, 3, Activation::kSoftmax);
  const Output output = random_output({1, 3, 20, 30}, -1, 1, 1);
  ProbabilityMap out;
  ASSERT_TRUE(decode_segmentation(spec, output.tensors(), 0, out).ok());
  const float* const memory = out.values.data();
  ASSERT_TRUE(decode_segmentation(spec, output.tensors(), 0, out).ok());
  EXPECT_EQ(out.values.data(), memory);
}

std::string error_of(const SegmentationSpec& spec, const std::vector<HeadTensor>& tensors,
                     ErrorCode code = ErrorCode::kModel, int image = 0) {
  ProbabilityMap out;
  const auto result = decode_segmentation(spec, tensors, image, out);
  if (result.ok()) return "no error";
  EXPECT_EQ(result.error().code, code);
  EXPECT_FALSE(result.error().fix.empty());
  return result.error().to_string();
}

TEST(SegmentationHead, BadOutputs) {
  using Kind = SegmentationKind;
  const SegmentationSpec scores = spec_of(Kind::kScores, 3, Activation::kSoftmax);
  const SegmentationSpec mask = spec_of(Kind::kForeground, 2, Activation::kSigmoid);
  SegmentationSpec mapped = scores;
  mapped.class_map = {0, 1, 2, 2};
  struct Case {
    SegmentationSpec spec;
    Shape shape;
    const char* says;
    const char* fix;
  };
  const Case kCases[] = {
      {scores, {1, 4, 5, 6}, "3 names, but output 'out' has 4 channels", "class_map"},
      {scores, {1, 5, 6, 3}, "3 names, but output 'out' has 5 channels", "labels"},
      {mapped, {1, 3, 5, 6}, "4 entries, but output 'out' has 3 channels", "one entry"},
      {scores, {3, 5, 6}, "[batch,channels,h,w], found [3,5,6]", "segmentation.kind"},
      {scores, {1, 3, 5, 6, 1}, "found [1,3,5,6,1]", "segmentation"},
      {scores, {1, 3, 0, 6}, "found [1,3,0,6]", "segmentation"},
      {scores, {1, 3, 1, 20000}, "found [1,3,1,20000]", "segmentation"},
      {mask, {1, 2, 5, 6}, "[batch,h,w], found [1,2,5,6]", "segmentation.kind"},
      {mask, {5, 6}, "found [5,6]", "segmentation.kind"},
      {spec_of(Kind::kLabels, 3, Activation::kNone), {1, 3, 5, 6}, "found [1,3,5,6]", "kind"},
      {spec_of(Kind::kScores, 2000, Activation::kNone), {1, 2000, 1, 1}, "2000 names", "255"},
      {spec_of(Kind::kForeground, 3, Activation::kNone), {1, 1, 5, 6}, "3 names", "background"},
      {spec_of(Kind::kScores, 0, Activation::kNone), {1, 1, 5, 6}, "0 names", "255"},
      {spec_of(Kind::kScores, 2, Activation::kNone, Layout::kNchw, {0, 2}),
       {1, 2, 5, 6},
       "label 2 of 2",
       "add the label"},
      {spec_of(Kind::kScores, 2, Activation::kNone, Layout::kNchw, {-1, -1}),
       {1, 2, 5, 6},
       "all channels are ignored",
       "label index"},
      {spec_of(Kind::kScores, 2, Activation::kNone, Layout::kNchw, std::vector<int>(1025, 0)),
       {1, 1025, 2, 2},
       "1025 channels",
       "1024"},
  };
  for (const Case& bad : kCases) {
    EXPECT_THAT(error_of(bad.spec, output_of(bad.shape).tensors()),
                AllOf(HasSubstr(bad.says), HasSubstr(bad.fix)));
  }

  const Output good = output_of({2, 3, 5, 6});
  EXPECT_EQ(error_of(scores, good.tensors()), "no error");
  EXPECT_THAT(error_of(scores, good.tensors(), ErrorCode::kInvalidArgument, 2),
              AllOf(HasSubstr("image 2"), HasSubstr("a batch of 2")));
  EXPECT_THAT(error_of(scores, good.tensors(), ErrorCode::kInvalidArgument, -1),
              HasSubstr("image -1"));
  SegmentationSpec named = scores;
  named.output = "logits";
  EXPECT_THAT(error_of(named, good.tensors()), AllOf(HasSubstr("'logits' is missing; found 'out'"),
                                                     HasSubstr("segmentation.output")));
  std::vector<HeadTensor> two = good.tensors("a");
  two.push_back(good.tensors("b")[0]);
  EXPECT_THAT(error_of(scores, two),
              AllOf(HasSubstr("'a', 'b'"), HasSubstr("segmentation.output")));
  named.output = "b";
  EXPECT_EQ(error_of(named, two), "no error");
  Output short_of = good;
  short_of.data.pop_back();
  EXPECT_THAT(error_of(scores, short_of.tensors()), HasSubstr("179 values"));
}

TEST(SegmentationHead, RefusesLogitsTakenForProbabilities) {
  for (const float value : {1.02f, -0.02f, 12.5f, -3.0f}) {
    for (const bool foreground : {false, true}) {
      Output output = output_of({1, foreground ? 1 : 2, 40, 41}, 0.5f);
      output.data[1500] = value;
      const SegmentationSpec spec =
          spec_of(foreground ? SegmentationKind::kForeground : SegmentationKind::kScores, 2,
                  Activation::kNone);
      EXPECT_THAT(error_of(spec, output.tensors()),
                  AllOf(HasSubstr("a value of " + std::to_string(value)),
                        HasSubstr("segmentation.activation")));
    }
  }
}

}  // namespace
}  // namespace sparing
