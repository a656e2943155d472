#include "sparing/models/head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "sparing/models/test_head_vectors.h"

namespace sparing {
namespace {

using ::testing::HasSubstr;
using testing::HeadVector;
using testing::load_vector;
using testing::OwnedTensor;
using testing::views;

Result<DecodeResult> decode_vector(const HeadVector& vector) {
  return decode(vector.spec, views(vector.tensors), vector.options);
}

class HeadVectors : public ::testing::TestWithParam<std::filesystem::path> {
 protected:
  HeadVector vector_ = load_vector(GetParam());
};

INSTANTIATE_TEST_SUITE_P(All, HeadVectors, ::testing::ValuesIn(testing::vector_files()),
                         [](const auto& info) { return info.param.stem().string(); });

TEST(Heads, TableIsNamedAndEveryRowHasVectors) {
  std::set<HeadType> covered;
  for (const auto& file : testing::vector_files()) covered.insert(load_vector(file).spec.type);
  for (const HeadInfo& row : heads()) {
    EXPECT_EQ(head_from_name(row.name), row.type);
    EXPECT_EQ(info(row.type).name, row.name);
    EXPECT_TRUE(covered.contains(row.type)) << row.name;
  }
  EXPECT_EQ(head_from_name("nanode"), std::nullopt);
}

TEST_P(HeadVectors, DecodeAsTheReference) {
  const Result<DecodeResult> result = decode_vector(vector_);
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  testing::expect_near(result->detections, vector_.detections);
  EXPECT_EQ(result->dropped_not_finite, 0);
  EXPECT_EQ(result->dropped_inside_out, 0);
  EXPECT_EQ(result->dropped_unknown_class, 0);
}

TEST_P(HeadVectors, SuppressAsTheReference) {
  const Result<DecodeResult> result = decode_vector(vector_);
  ASSERT_TRUE(result.ok());
  for (const bool agnostic : {false, true}) {
    std::vector<Detection> kept = result->detections;
    non_maximum_suppression(kept, {vector_.iou_threshold, agnostic, 1000});
    testing::expect_near(kept, agnostic ? vector_.kept_class_agnostic : vector_.kept_class_aware);
  }
}

// A batch whose image 1 is the vector, and image 0 the vector with other values.
TEST_P(HeadVectors, ImageOfABatch) {
  HeadVector batch = vector_;
  for (OwnedTensor& tensor : batch.tensors) {
    tensor.shape[0] = 2;
    std::vector<float> both(tensor.data.size(), 0.25f);
    both.insert(both.end(), tensor.data.begin(), tensor.data.end());
    tensor.data = both;
  }
  batch.options.image = 1;
  const Result<DecodeResult> result = decode_vector(batch);
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ(result->detections, decode_vector(vector_)->detections);

  for (const int image : {-1, 2}) {
    batch.options.image = image;
    const Result<DecodeResult> outside = decode_vector(batch);
    ASSERT_FALSE(outside.ok());
    EXPECT_EQ(outside.error().code, ErrorCode::kInvalidArgument);
  }
}

// What the scans for scores pass over is exactly what lies below the threshold.
TEST_P(HeadVectors, ThresholdFilters) {
  HeadVector vector = vector_;
  vector.options.score_threshold = 0;
  const Result<DecodeResult> all = decode_vector(vector);
  ASSERT_TRUE(all.ok()) << all.error().to_string();
  EXPECT_GT(all->detections.size(), vector_.detections.size());
  for (const float threshold : {0.05f, 0.1f, 0.2f, 0.5f, 0.8f, 1.0f, 2.0f}) {
    vector.options.score_threshold = threshold;
    std::vector<Detection> expected;
    for (const Detection& detection : all->detections) {
      if (detection.score >= threshold) expected.push_back(detection);
    }
    const Result<DecodeResult> result = decode_vector(vector);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->detections, expected) << threshold;
  }
}

// Any one extent, the rank, the name or the number of values wrong: an error that names the output.
TEST_P(HeadVectors, RefusesMalformedTensors) {
  for (std::size_t i = 0; i < vector_.tensors.size(); ++i) {
    const std::string name = vector_.tensors[i].name;
    const auto expect_refused = [&](const OwnedTensor& changed) {
      HeadVector vector = vector_;
      vector.tensors[i] = changed;
      const Result<DecodeResult> result = decode_vector(vector);
      ASSERT_FALSE(result.ok()) << to_string_shape(changed.shape);
      EXPECT_EQ(result.error().code, ErrorCode::kModel);
      EXPECT_THAT(result.error().to_string(), HasSubstr("'" + name + "'"));
      EXPECT_FALSE(result.error().fix.empty());
    };
    OwnedTensor changed = vector_.tensors[i];
    changed.shape.push_back(1);
    expect_refused(changed);
    changed.shape = {};
    expect_refused(changed);
    changed.shape = {vector_.tensors[i].shape[0]};
    expect_refused(changed);
    changed = vector_.tensors[i];
    changed.data.pop_back();
    expect_refused(changed);
    // The last extent is the width of a row; of [batch, N] outputs it is N, which must agree with
    // the boxes' as must that of scores.
    changed = vector_.tensors[i];
    changed.shape.back() += 1;
    changed.data.resize(static_cast<std::size_t>(element_count(changed.shape).value()), 0.1f);
    if (changed.shape.size() != 3 || vector_.spec.type != HeadType::kYolov8) {
      expect_refused(changed);
    } else {
      // Here any N goes, on either axis: widen the attributes' one.
      const std::size_t axis = vector_.tensors[i].shape[1] == vector_.spec.classes + 4 ? 1 : 2;
      changed = vector_.tensors[i];
      changed.shape[axis] += 1;
      changed.data.resize(static_cast<std::size_t>(element_count(changed.shape).value()), 0.1f);
      expect_refused(changed);
    }
    changed = vector_.tensors[i];
    changed.name = "other";
    expect_refused(changed);
  }
}

TEST_P(HeadVectors, RefusesAnotherNumberOfLabels) {
  HeadVector vector = vector_;
  vector.spec.classes += 1;
  const Result<DecodeResult> result = decode_vector(vector);
  const bool labelled = vector.spec.type == HeadType::kEnd2end &&
                        (vector.spec.outputs.boxes.empty() || !vector.spec.outputs.labels.empty());
  EXPECT_EQ(result.ok(), labelled);  // class numbers do not tell how many there are
}

TEST_P(HeadVectors, RefusesBadOptions) {
  HeadVector vector = vector_;
  for (const Size size : {Size{}, Size{-32, 64}, Size{64, 0}}) {
    vector.options.input_size = size;
    const Result<DecodeResult> result = decode_vector(vector);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  }
  vector = vector_;
  vector.options.score_threshold = std::nanf("");
  EXPECT_FALSE(decode_vector(vector).ok());
}

// Values that an engine may produce in an overflow never reach the caller, and are counted.
TEST_P(HeadVectors, DropsWhatIsNotFinite) {
  std::mt19937 random(7);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  int dropped = 0;
  for (int round = 0; round < 200; ++round) {
    HeadVector vector = vector_;
    for (OwnedTensor& tensor : vector.tensors) {
      for (float& value : tensor.data) {
        const auto draw = random() % 40;
        if (draw == 0) value = std::nanf("");
        if (draw == 1) value = kInfinity;
        if (draw == 2) value = -kInfinity;
      }
    }
    const Result<DecodeResult> result = decode_vector(vector);
    ASSERT_TRUE(result.ok()) << result.error().to_string();
    dropped += result->dropped_not_finite;
    for (const Detection& detection : result->detections) {
      EXPECT_TRUE(is_finite(detection.box));
      EXPECT_LE(detection.box.x0, detection.box.x1);
      EXPECT_LE(detection.box.y0, detection.box.y1);
      EXPECT_GE(detection.score, vector.options.score_threshold);
      EXPECT_LE(detection.score, 1.0f);
      EXPECT_GE(detection.class_id, 0);
      EXPECT_LT(detection.class_id, vector.spec.classes);
    }
  }
  EXPECT_GT(dropped, 0);
}

TEST_P(HeadVectors, AllNotFiniteGivesNothing) {
  for (const float value : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    HeadVector vector = vector_;
    for (OwnedTensor& tensor : vector.tensors) {
      std::fill(tensor.data.begin(), tensor.data.end(), value);
    }
    const Result<DecodeResult> result = decode_vector(vector);
    ASSERT_TRUE(result.ok());
    EXPECT_TRUE(result->detections.empty());
    EXPECT_GT(result->dropped_not_finite + result->dropped_unknown_class, 0);
  }
}

// Scores that are no probabilities: the activation of the manifest is wrong.
TEST_P(HeadVectors, RefusesLogitsTakenForProbabilities) {
  if (vector_.spec.activation == Activation::kNone) {
    HeadVector vector = vector_;
    for (OwnedTensor& tensor : vector.tensors) {
      const bool labels = tensor.name == vector.spec.outputs.labels;
      if (!labels) std::fill(tensor.data.begin(), tensor.data.end(), 1.5f);
    }
    const Result<DecodeResult> result = decode_vector(vector);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kModel);
    EXPECT_THAT(result.error().to_string(), HasSubstr("score_activation"));
  } else {
    HeadVector vector = vector_;
    vector.spec.activation = Activation::kNone;
    for (OwnedTensor& tensor : vector.tensors) {
      for (float& value : tensor.data) value = std::fabs(value) + 2;
    }
    EXPECT_FALSE(decode_vector(vector).ok());
  }
}

HeadSpec end2end_rows() {
  HeadSpec spec;
  spec.type = HeadType::kEnd2end;
  spec.outputs.detections = "rows";
  spec.box_format = BoxFormat::kXyxy;
  spec.classes = 3;
  return spec;
}

TEST(End2end, CountsByReason) {
  const std::vector<OwnedTensor> tensors{
      {"rows", {1, 6, 6}, {1, 1, 5, 5, .9f, 0,     // good
                           5, 1, 1, 5, .9f, 0,     // right of its right side
                           1, 1, 5, 5, .9f, 3,     // no such label
                           1, 1, 5, 5, .9f, -1,    // empty
                           1, 1, 5, 5, .1f, 7,     // below the threshold
                           2, 2, 2, 2, .5f, 2}}};  // a point is a box
  const Result<DecodeResult> result = decode(end2end_rows(), views(tensors), {{32, 32}, 0, 0.3f});
  ASSERT_TRUE(result.ok());
  const std::vector<Detection> expected{{{1, 1, 5, 5}, .9f, 0}, {{2, 2, 2, 2}, .5f, 2}};
  EXPECT_EQ(result->detections, expected);
  EXPECT_EQ(result->dropped_inside_out, 1);
  EXPECT_EQ(result->dropped_unknown_class, 1);
  EXPECT_EQ(result->dropped_not_finite, 0);
}

TEST(End2end, NoRowsAreNoError) {
  const std::vector<OwnedTensor> tensors{{"rows", {1, 0, 6}, {}}};
  const Result<DecodeResult> result = decode(end2end_rows(), views(tensors), {{32, 32}, 0, 0.3f});
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_TRUE(result->detections.empty());
}

TEST(Yolov8, OrientationWithoutLabelsIsTheShorterSide) {
  HeadSpec spec;
  spec.type = HeadType::kYolov8;
  OwnedTensor tensor{"out", {1, 6, 8}, std::vector<float>(48, 0.0f)};
  const auto set = [&](int attribute, float value) { tensor.data[attribute * 8 + 3] = value; };
  set(0, 10), set(1, 12), set(2, 4), set(3, 6), set(5, 0.75f);
  const Result<DecodeResult> result = decode(spec, views({tensor}), {{32, 32}, 0, 0.3f});
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  const std::vector<Detection> expected{{{8, 9, 12, 15}, 0.75f, 1}};
  EXPECT_EQ(result->detections, expected);
}

// A candidate with a NaN among its scores is dropped and counted, wherever the NaN stands.
TEST(Yolov8, OneNanAmongTheScoresIsEnough) {
  HeadSpec spec;
  spec.type = HeadType::kYolov8;
  spec.classes = 3;
  for (int place = 0; place < 3; ++place) {
    OwnedTensor tensor{"out", {1, 1, 7}, {10, 12, 4, 6, 0.9f, 0.8f, 0.7f}};
    tensor.data[4 + place] = std::nanf("");
    const Result<DecodeResult> result = decode(spec, views({tensor}), {{32, 32}, 0, 0.3f});
    ASSERT_TRUE(result.ok());
    EXPECT_TRUE(result->detections.empty()) << place;
    EXPECT_EQ(result->dropped_not_finite, 1) << place;
  }
}

// Both ways round fit 4 labels and 8 candidates: [4 + C, N] is taken.
TEST(Yolov8, SquareTensorsAreAttributesFirst) {
  HeadSpec spec;
  spec.type = HeadType::kYolov8;
  spec.classes = 4;
  OwnedTensor tensor{"out", {1, 8, 8}, std::vector<float>(64, 0.0f)};
  const auto set = [&](int attribute, float value) { tensor.data[attribute * 8 + 5] = value; };
  set(0, 10), set(1, 12), set(2, 4), set(3, 6), set(7, 0.5f);
  const Result<DecodeResult> result = decode(spec, views({tensor}), {{32, 32}, 0, 0.3f});
  ASSERT_TRUE(result.ok());
  const std::vector<Detection> expected{{{8, 9, 12, 15}, 0.5f, 3}};
  EXPECT_EQ(result->detections, expected);
}

// A tensor of the size that real frames have, against a loop written for this test alone: blocks
// and vector remainders of the scan are all met.
TEST(Yolov8, LargeTensorAgainstPlainLoop) {
  constexpr int kClasses = 80, kCount = 8400 - 137;
  std::mt19937 random(11);
  std::uniform_real_distribution<float> score(0, 0.33f), side(1, 300);
  OwnedTensor columns{"out", {1, 4 + kClasses, kCount}, {}};
  columns.data.resize((4 + kClasses) * kCount);
  for (std::size_t i = 0; i < columns.data.size(); ++i) {
    columns.data[i] = i < 4 * kCount ? side(random) : score(random);
  }
  OwnedTensor rows{"out", {1, kCount, 4 + kClasses}, columns.data};
  for (int a = 0; a < 4 + kClasses; ++a) {
    for (int i = 0; i < kCount; ++i) {
      rows.data[i * (4 + kClasses) + a] = columns.data[a * kCount + i];
    }
  }
  constexpr float kThreshold = 0.3295f;  // about one candidate in three has such a class
  std::vector<Detection> expected;
  for (int i = 0; i < kCount; ++i) {
    const float* v = rows.data.data() + i * (4 + kClasses);
    int best = 0;
    for (int c = 1; c < kClasses; ++c) {
      if (v[4 + c] > v[4 + best]) best = c;
    }
    if (v[4 + best] < kThreshold) continue;
    expected.push_back(
        {{v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2}, v[4 + best], best});
  }
  ASSERT_GT(expected.size(), 100u);
  ASSERT_LT(expected.size(), 7000u);
  HeadSpec spec;
  spec.type = HeadType::kYolov8;
  spec.classes = kClasses;
  for (const OwnedTensor& tensor : {columns, rows}) {
    const Result<DecodeResult> result = decode(spec, views({tensor}), {{640, 640}, 0, kThreshold});
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->detections, expected);
  }
}

}  // namespace
}  // namespace sparing
