#include "sparing/streams/profile_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "sparing/streams/fake_network_test_util.h"
#include "sparing/streams/latency_meter.h"
#include "sparing/streams/wrong_json_test_util.h"

namespace sparing {
namespace {

using ::testing::AllOf;
using testing::expect_refused;
using ::testing::HasSubstr;
using testing::WrongJson;
namespace fs = std::filesystem;

const ProfileIdentity kHere{"net", "cpu:f32:1", "A Machine", "engine 1"};

LatencyProfile a_profile() {
  return LatencyProfile::create({"net", "cpu:f32:1", 1920, 1088},
                                {{320, 320, 10.5}, {640, 480, 31.25}})
      .value();
}

class ProfileStore : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("profile_store_" + std::to_string(::getpid()));
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(ProfileStore, ComesBackAsItWasSaved) {
  const fs::path file = folder_ / "a" / "p.json";
  ASSERT_TRUE(save_profile(file, a_profile(), kHere).ok());
  const auto loaded = load_profile(file, kHere);
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  EXPECT_EQ(loaded->processor(), a_profile().processor());
  EXPECT_EQ(loaded->points(), a_profile().points());
  EXPECT_EQ(to_json(*loaded, kHere), to_json(a_profile(), kHere));
}

TEST_F(ProfileStore, KeepsTheTimesOfNow) {
  LatencyProfile profile = a_profile();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(profile.observe({320, 320}, 0.021).ok());
  const auto read = parse_profile(to_json(profile, kHere), "p", kHere);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_NEAR(read->profiled({320, 320}), 0.021, 1e-4);
}

TEST_F(ProfileStore, TakesTheOptions) {
  LatencyOptions options;
  options.smoothing = 0;
  auto profile = parse_profile(to_json(a_profile(), kHere), "p", kHere, options).value();
  ASSERT_TRUE(profile.observe({320, 320}, 0.02).ok());
  EXPECT_DOUBLE_EQ(profile.estimate({320, 320}), profile.profiled({320, 320}));
}

TEST_F(ProfileStore, RefusesOthersWithTheReason) {
  const std::string text = to_json(a_profile(), kHere);
  struct Case {
    std::string ProfileIdentity::* member;
    const char* found;
  };
  const Case cases[] = {{&ProfileIdentity::model, "'net'"},
                        {&ProfileIdentity::processor, "'cpu:f32:1'"},
                        {&ProfileIdentity::machine, "'A Machine'"},
                        {&ProfileIdentity::engine, "'engine 1'"}};
  for (const Case& other : cases) {
    ProfileIdentity wanted = kHere;
    wanted.*other.member = "another";
    const auto refused = parse_profile(text, "p.json", wanted);
    ASSERT_FALSE(refused.ok()) << other.found;
    EXPECT_EQ(refused.error().code, ErrorCode::kNotSupported);
    EXPECT_THAT(refused.error().to_string(),
                AllOf(HasSubstr("p.json"), HasSubstr(other.found), HasSubstr("'another'")));
  }
}

TEST_F(ProfileStore, NamesTheWrongFieldItsValueAndTheFix) {
  const WrongJson cases[] = {
      {"\"ms\": 10.5", "\"ms\": -1", "points[0].ms", "-1"},
      {"\"ms\": 10.5", "\"ms\": \"x\"", "points[0].ms", "\"x\""},
      {"\"ms\": 10.5", "\"m\": 1", "points[0].ms", "missing"},
      {"\"width\": 640", "\"width\": 6.5", "points[1].width", "6.5"},
      {"\"largest-width\": 1920", "\"largest-width\": 99999", "largest-width", "99999"},
      {"\"schema\": 1", "\"schema\": 0", "schema", "0"},
      {"\"schema\": 1", "\"schema\": 7", "schema 7", "1"},
      {"\"engine\"", "\"motor\"", "engine", "missing"},
      {"\"machine\"", "\"more\": 1, \"machine\"", "more", "unknown"},
  };
  expect_refused(to_json(a_profile(), kHere), cases, [](const auto& text, const char* file) {
    return parse_profile(text, file, kHere);
  });
  const auto empty = parse_profile("", "p.json", kHere);
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code, ErrorCode::kModel);
}

TEST_F(ProfileStore, NamesAFileThatIsNotThere) {
  const auto missing = load_profile(folder_ / "none.json", kHere);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kModel);
  EXPECT_THAT(missing.error().to_string(), HasSubstr("none.json"));
  EXPECT_FALSE(load_profile(fs::path(::testing::TempDir()), kHere).ok());
}

TEST_F(ProfileStore, LiesInTheCacheFolder) {
  const char* old = std::getenv("XDG_CACHE_HOME");
  const std::string before = old != nullptr ? old : "";
  setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  EXPECT_EQ(profile_file({"a/b", "cpu:f32:1", "", ""}),
            folder_ / "sparing" / "profiles" / "a-b.cpu-f32-1.json");
  old != nullptr ? setenv("XDG_CACHE_HOME", before.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
}

TEST_F(ProfileStore, MeasuresOnceAndThenLoads) {
  FakeNetwork network({});
  Detector detector = network.detector();
  const fs::path file = folder_ / "p.json";
  const auto first = obtain_profile(detector, kHere, file);
  ASSERT_TRUE(first.ok()) << first.error().to_string();
  EXPECT_THAT(first->reason, HasSubstr("p.json"));
  EXPECT_TRUE(first->saved.ok());
  const auto runs = network.runs();
  const auto second = obtain_profile(detector, kHere, file);
  ASSERT_TRUE(second.ok()) << second.error().to_string();
  EXPECT_EQ(second->reason, "");
  EXPECT_EQ(network.runs(), runs);
  EXPECT_EQ(second->profile.points(), first->profile.points());

  ProfileIdentity elsewhere = kHere;
  elsewhere.machine = "Another";
  const auto third = obtain_profile(detector, elsewhere, file);
  ASSERT_TRUE(third.ok()) << third.error().to_string();
  EXPECT_THAT(third->reason, HasSubstr("A Machine"));
  EXPECT_NE(network.runs(), runs);
  EXPECT_TRUE(load_profile(file, elsewhere).ok());
}

TEST_F(ProfileStore, AMeasuredProfileThatCannotBeKeptStillServes) {
  FakeNetwork network({});
  Detector detector = network.detector();
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "x";
  const auto profile = obtain_profile(detector, kHere, folder_ / "file" / "p.json");
  ASSERT_TRUE(profile.ok()) << profile.error().to_string();
  EXPECT_FALSE(profile->saved.ok());
}

}  // namespace
}  // namespace sparing
