#include "sparing/io/options_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sparing {
namespace {

using ::testing::HasSubstr;

struct Options {
  bool fast = false;
  int threads = 2;
  double score = 0.25;
  std::string size;
  std::vector<std::string> classes;
  static constexpr auto fields() {
    return std::tuple{option("fast", &Options::fast),
                      option("threads", &Options::threads).range(0, 64),
                      option("score", &Options::score).range(0, 1),
                      option("size", &Options::size).choices("small|large"),
                      option("classes", &Options::classes)};
  }
};

TEST(OptionsJson, RoundTrip) {
  Options options{true, 3, 0.5, "large", {"a \"b\"", "c"}};
  const std::string text = options_to_json(options);
  EXPECT_EQ(text,
            R"({"fast":true,"threads":3,"score":0.5,"size":"large","classes":["a \"b\"","c"]})");
  Options read;
  ASSERT_TRUE(options_from_json(text, read).ok());
  EXPECT_EQ(options_to_json(read), text);
}

TEST(OptionsJson, AbsentOptionsStay) {
  Options options;
  options.size = "small";
  ASSERT_TRUE(options_from_json(R"({"threads":7.0,"score":1})", options).ok());
  EXPECT_EQ(options.threads, 7);
  EXPECT_EQ(options.score, 1);
  EXPECT_EQ(options.size, "small");
  EXPECT_TRUE(options_from_json("{}", options).ok());
}

TEST(OptionsJson, ErrorsNameTheOptionAndChangeNothing) {
  Options options;
  const std::string before = options_to_json(options);
  const auto error = [&](const char* json) {
    const Status status = options_from_json(json, options);
    EXPECT_FALSE(status.ok()) << json;
    EXPECT_EQ(options_to_json(options), before);
    if (status.ok()) return std::string();
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    return status.error().to_string();
  };
  EXPECT_THAT(error("[1]"), HasSubstr("JSON object"));
  EXPECT_THAT(error("{"), HasSubstr("JSON object"));
  EXPECT_THAT(error(R"({"speed":1})"), HasSubstr("'speed'"));
  EXPECT_THAT(error(R"({"speed":1})"), HasSubstr("fast, threads, score, size, classes"));
  EXPECT_THAT(error(R"({"fast":1})"), HasSubstr("'fast'"));
  EXPECT_THAT(error(R"({"threads":1.5})"), HasSubstr("whole number"));
  EXPECT_THAT(error(R"({"threads":4294967296})"), HasSubstr("'threads'"));
  EXPECT_THAT(error(R"({"fast":true,"threads":65})"), HasSubstr("out of range"));
  EXPECT_THAT(error(R"({"score":"1"})"), HasSubstr("give a number"));
  EXPECT_THAT(error(R"({"size":"huge"})"), HasSubstr("small|large"));
  EXPECT_THAT(error(R"({"classes":["a",1]})"), HasSubstr("array of texts"));
}

}  // namespace
}  // namespace sparing
