#include "sparing/streams/scale_model_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "sparing/streams/wrong_json_test_util.h"

namespace sparing {
namespace {

using ::testing::AllOf;
using testing::expect_refused;
using ::testing::HasSubstr;
using testing::WrongJson;
namespace fs = std::filesystem;

// Objects up to 50 px high are drawn with 400 px^2, others with 900.
ScaleModel a_model() {
  ScaleModel model;
  model.model = "net";
  model.precision = "bf16";
  model.predictor = "tree";
  model.min_scale = 0.16;
  model.max_scale = 1.6;
  model.height.unsure_height = 51.5;
  model.height.sure_height = 33.25;
  model.height.snap = true;
  ScaleTreeData tree;
  tree.features = {"area", "height"};
  tree.feature = {1, -1, -1};
  tree.threshold = {50, 0, 0};
  tree.left = {1, -1, -1};
  tree.right = {2, -1, -1};
  tree.level = {-1, 0, 1};
  tree.level_areas = {400, 900};
  model.tree = tree;
  model.height_under_rate = 0.0625;
  model.tree_under_rate = 0.078125;
  return model;
}

void expect_same(const ScaleModel& a, const ScaleModel& b) {
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.predictor, b.predictor);
  EXPECT_EQ(a.min_scale, b.min_scale);
  EXPECT_EQ(a.max_scale, b.max_scale);
  EXPECT_EQ(a.height, b.height);
  EXPECT_EQ(a.tree, b.tree);
  EXPECT_EQ(a.height_under_rate, b.height_under_rate);
  EXPECT_EQ(a.tree_under_rate, b.tree_under_rate);
}

TEST(ScaleModelJson, ComesBackAsItWasWritten) {
  const auto read = parse_scale_model(to_json(a_model()), "m");
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  expect_same(*read, a_model());
}

TEST(ScaleModelJson, TheDefaultsHaveNoTreeAndNoRates) {
  const std::string text = to_json(ScaleModel{});
  EXPECT_EQ(text.find("tree"), std::string::npos);
  EXPECT_EQ(text.find("rate"), std::string::npos);
  const auto read = parse_scale_model(text, "m");
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  expect_same(*read, ScaleModel{});
}

TEST(ScaleModelJson, NamesTheWrongFieldItsValueAndTheFix) {
  const WrongJson cases[] = {
      {"\"unsure-height\": 51.5", "\"unsure-height\": 0", "height.unsure-height", "0"},
      {"\"snap\": true", "\"snap\": 1", "height.snap", "1"},
      {"\"snap\": true", "\"snap\": true, \"snip\": 1", "height.snip", "unknown"},
      {"\"predictor\": \"tree\"", "\"predictor\": \"oak\"", "predictor", "oak"},
      {"\"min-scale\": 0.16", "\"min-scale\": 3", "scales", "3"},
      {"\"min-scale\": 0.16", "\"min-scale\": 0", "scales", "0"},
      {"\"height-under-rate\": 0.0625", "\"height-under-rate\": 2", "height-under-rate", "2"},
      {"\"area\"", "\"weight\"", "weight", "tree"},
      {"400.0", "-400.0", "file.json", "level"},
      {"400.0", "1000.0", "file.json", "level"},
      {"\"schema\": 1", "\"schema\": 2", "schema", "2"},
      {"\"model\": \"net\",", "", "model", "missing"},
  };
  expect_refused(to_json(a_model()), cases, parse_scale_model);
}

TEST(ScaleModelJson, ATreeMustBeOneEvenWhenItIsNotUsed) {
  ScaleModel model = a_model();
  model.predictor = "height";
  model.tree->left[0] = 0;  // a cycle
  const auto read = parse_scale_model(to_json(model), "m.json");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::kModel);
}

class ScaleModelFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / ("scale_models_" + std::to_string(::getpid()));
    paths_.model_dir = root_ / "user";
    paths_.manifest_dirs = {root_ / "share", root_ / "user"};
  }
  void TearDown() override { fs::remove_all(root_); }
  fs::path root_;
  ModelPaths paths_;
};

TEST_F(ScaleModelFiles, TheUsersOwnCountsBeforeTheOneThatComesAlong) {
  const auto none = find_scale_model("net", "bf16", paths_);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->file.empty());
  EXPECT_EQ(none->scales.height, HeightParameters{});
  EXPECT_EQ(none->scales.model, "net");
  EXPECT_EQ(none->scales.precision, "bf16");

  ScaleModel shared = a_model();
  const fs::path shared_file = root_ / "share" / "scales" / "net.bf16.json";
  ASSERT_TRUE(save_scale_model(shared_file, shared).ok());
  auto found = find_scale_model("net", "bf16", paths_);
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  EXPECT_EQ(found->file, shared_file);
  expect_same(found->scales, shared);
  EXPECT_TRUE(find_scale_model("net", "f32", paths_)->file.empty());

  ScaleModel own = a_model();
  own.predictor = "height";
  const fs::path own_file = root_ / "user" / "scales" / "net.bf16.json";
  ASSERT_TRUE(save_scale_model(own_file, own).ok());
  found = find_scale_model("net", "bf16", paths_);
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  EXPECT_EQ(found->file, own_file);
  EXPECT_EQ(found->scales.predictor, "height");
}

TEST_F(ScaleModelFiles, AWrongFileIsAnErrorAndNotPassedOver) {
  const fs::path file = root_ / "user" / "scales" / "net.f32.json";
  ASSERT_TRUE(save_scale_model(file, a_model()).ok());  // of bf16
  auto found = find_scale_model("net", "f32", paths_);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().to_string(), AllOf(HasSubstr("net.f32.json"), HasSubstr("bf16")));
  std::ofstream(file) << "{";
  found = find_scale_model("net", "f32", paths_);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kModel);
  EXPECT_TRUE(find_scale_model("../net", "f32", paths_)->file.empty());
}

}  // namespace
}  // namespace sparing
