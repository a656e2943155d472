#include "sparing/packing/scale_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

namespace sparing {
namespace {

Roi followed() {
  Roi roi;
  roi.rect = {90, 40, 60, 100};
  roi.source = RoiSource::kFlow;
  roi.object = {100, 50, 130, 110};
  roi.confidence = 0.7f;
  roi.object_id = 4;
  roi.flow = {1.5f, 0.5f, 8.0f, 0.25f};
  return roi;
}

TEST(ScaleFeatures, AreThoseOfTheObject) {
  const ScaleFeatures f = scale_features(followed());
  EXPECT_DOUBLE_EQ(f.area, 1800);
  EXPECT_DOUBLE_EQ(f.max_edge, 60);
  EXPECT_DOUBLE_EQ(f.aspect_ratio, 0.5);
  EXPECT_DOUBLE_EQ(f.mean_shift, 1.5);
  EXPECT_DOUBLE_EQ(f.shift_deviation, 0.5);
  EXPECT_DOUBLE_EQ(f.tracking_error, 8);
  EXPECT_DOUBLE_EQ(f.shift_correlation, 0.25);
  EXPECT_DOUBLE_EQ(f.height, 60);
  EXPECT_FLOAT_EQ(static_cast<float>(f.confidence), 0.7f);
}

TEST(ScaleFeatures, OfTheRegionWhereNoObjectIsKnown) {
  Roi roi = followed();
  roi.object = {};
  const ScaleFeatures f = scale_features(roi);
  EXPECT_FALSE(has_object(roi));
  EXPECT_DOUBLE_EQ(f.area, 6000);
  EXPECT_DOUBLE_EQ(f.max_edge, 100);
  EXPECT_DOUBLE_EQ(f.height, 100);
  EXPECT_DOUBLE_EQ(f.confidence, 0) << "a confidence without its object counts for nothing";
}

TEST(ScaleFeatures, TableHasThePapersSevenThenTheRest) {
  EXPECT_EQ(std::count_if(kScaleFeatures.begin(), kScaleFeatures.end(),
                          [](const ScaleFeatureInfo& info) { return info.in_paper; }),
            7);
  std::set<std::string> names;
  for (std::size_t i = 0; i < kScaleFeatures.size(); ++i) {
    names.insert(std::string(kScaleFeatures[i].name));
    EXPECT_EQ(scale_feature_from_name(kScaleFeatures[i].name), i);
    // Each row has its own member.
    ScaleFeatures one;
    one.*(kScaleFeatures[i].member) = 1;
    for (std::size_t k = 0; k < kScaleFeatures.size(); ++k) {
      EXPECT_EQ(one.*(kScaleFeatures[k].member), k == i ? 1 : 0);
    }
  }
  EXPECT_EQ(names.size(), kScaleFeatures.size());
  EXPECT_EQ(scale_feature_from_name("colour"), std::nullopt);
}

TEST(ScaleFeatures, WhatHasNone) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(is_scalable(followed()));
  const auto with = [](auto&& change) {
    Roi roi = followed();
    change(roi);
    return is_scalable(roi);
  };
  EXPECT_FALSE(with([](Roi& r) { r.object.x0 = kNan; }));
  EXPECT_FALSE(with([](Roi& r) { r.rect.x = kNan; }));
  EXPECT_FALSE(with([](Roi& r) { r.object = {}, r.rect.width = 0; }));
  EXPECT_FALSE(with([](Roi& r) { r.flow.tracking_error = kNan; }));
  EXPECT_FALSE(with([](Roi& r) { r.confidence = kNan; }));
  EXPECT_DEATH((void)scale_features(Roi{}), "invariant");
}

}  // namespace
}  // namespace sparing
