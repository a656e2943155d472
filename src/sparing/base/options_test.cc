#include "sparing/base/options.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace sparing {
namespace {

struct ToyOptions {
  double score = 0.25;
  int threads = 0;
  int count = 1;
  double offset = 0;
  bool quiet = false;
  std::string precision = "auto";
  std::string file;
  std::vector<std::string> sinks;

  static constexpr auto fields() {
    return std::tuple{
        option("score", &ToyOptions::score).help("least confidence").range(0, 1),
        option("threads", &ToyOptions::threads)
            .help("workers")
            .unit("threads")
            .range(0, std::numeric_limits<double>::infinity()),
        option("count", &ToyOptions::count).range(1, 1000000),
        option("offset", &ToyOptions::offset)
            .unit("s")
            .range(-std::numeric_limits<double>::infinity(), 10),
        option("quiet", &ToyOptions::quiet).help("say nothing"),
        option("precision", &ToyOptions::precision).choices("auto|f32|bf16"),
        option("file", &ToyOptions::file),
        option("sinks", &ToyOptions::sinks).choices("jsonl|mot"),
    };
  }
};

// The error of the options, "" when they are valid.
std::string problem(const ToyOptions& options) {
  const Status status = validate_options(options);
  if (status.ok()) return "";
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  return status.error().to_string();
}

TEST(Options, VisitsEachFieldInOrderWithItsMember) {
  ToyOptions options;
  std::vector<std::string> names;
  for_each_option(options, [&](const auto& field, auto& value) {
    names.emplace_back(field.name);
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, int>) value = 7;
    if constexpr (std::is_same_v<T, double>) value = 0.5;
  });
  EXPECT_EQ(names, (std::vector<std::string>{"score", "threads", "count", "offset", "quiet",
                                             "precision", "file", "sinks"}));
  EXPECT_EQ(options.threads, 7);
  EXPECT_EQ(options.count, 7);
  EXPECT_EQ(options.score, 0.5);
  EXPECT_EQ(options.offset, 0.5);
}

TEST(Options, FieldsCarryHelpUnitAndRange) {
  constexpr auto field = std::get<1>(ToyOptions::fields());
  static_assert(field.name == "threads");
  static_assert(field.help_text == "workers");
  static_assert(field.unit_text == "threads");
  static_assert(field.min == 0);
  static_assert(std::get<5>(ToyOptions::fields()).choice_list == "auto|f32|bf16");
  const ToyOptions constant;
  EXPECT_EQ(constant.*(field.member), 0);
}

TEST(ValidateOptions, DefaultsAndEndsOfRangesAreValid) {
  EXPECT_EQ(problem({}), "");
  EXPECT_EQ(problem({.score = 0}), "");
  EXPECT_EQ(problem({.score = 1}), "");
  EXPECT_EQ(problem({.count = 1000000}), "");
  EXPECT_EQ(problem({.threads = std::numeric_limits<int>::max()}), "");
}

TEST(ValidateOptions, NamesTheOptionTheValueAndTheRange) {
  EXPECT_EQ(problem({.score = 1.5}), "--score: 1.5 is out of range; give a value from 0 to 1");
  EXPECT_EQ(problem({.score = -0.1}), "--score: -0.1 is out of range; give a value from 0 to 1");
  EXPECT_EQ(problem({.threads = -1}),
            "--threads: -1 is out of range; give a value of 0 threads or more");
  EXPECT_EQ(problem({.offset = 11}), "--offset: 11 is out of range; give a value of 10 s or less");
}

TEST(ValidateOptions, TellsNeighbouringNumbersApart) {
  EXPECT_EQ(problem({.count = 1000001}),
            "--count: 1000001 is out of range; give a value from 1 to 1000000");
}

TEST(ValidateOptions, NanAndInfinityAreNeverInAClosedRange) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(problem({.score = kNan}), "--score: nan is not a number; give a value from 0 to 1");
  EXPECT_EQ(problem({.offset = kNan}),
            "--offset: nan is not a number; give a value of 10 s or less");
  EXPECT_NE(problem({.score = std::numeric_limits<double>::infinity()}), "");
}

struct FreeOptions {
  double shift = 0;
  static constexpr auto fields() { return std::tuple{option("shift", &FreeOptions::shift)}; }
};

TEST(ValidateOptions, NanIsNotInTheOpenRangeEither) {
  const Status status =
      validate_options(FreeOptions{.shift = std::numeric_limits<double>::quiet_NaN()});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().to_string(), "--shift: nan is not a number; give a number");
  EXPECT_TRUE(validate_options(FreeOptions{.shift = -1e300}).ok());
}

TEST(ValidateOptions, ChoicesMatchWhole) {
  for (const char* good : {"auto", "f32", "bf16", ""}) EXPECT_EQ(problem({.precision = good}), "");
  for (const char* bad : {"f3", "f322", "auto|f32", "|", "AUTO", " auto"}) {
    EXPECT_EQ(problem({.precision = bad}),
              "--precision: '" + std::string(bad) + "' is not a choice; give one of auto|f32|bf16");
  }
  EXPECT_EQ(problem({.file = "anything|at all"}), "");
}

TEST(ValidateOptions, ChoicesHoldForEachItemOfAList) {
  EXPECT_EQ(problem({.sinks = {"jsonl", "mot"}}), "");
  EXPECT_EQ(problem({.sinks = {"jsonl", "xml", "csv"}}),
            "--sinks: 'xml' is not a choice; give one of jsonl|mot");
}

TEST(ValidateOptions, ReportsTheFirstOfSeveral) {
  EXPECT_EQ(problem({.score = 2, .threads = -1}).substr(0, 7), "--score");
}

}  // namespace
}  // namespace sparing
