#include "sparing/base/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace sparing {
namespace {

Error missing_file() {
  return {ErrorCode::kInput, "video 'a.mp4'", "no such file", "check the path"};
}

TEST(Error, IsOneLineOfThingProblemAndFix) {
  EXPECT_EQ(missing_file().to_string(), "video 'a.mp4': no such file; check the path");
  EXPECT_EQ((Error{ErrorCode::kInput, "a", "", "c"}.to_string()), "a; c");
  EXPECT_EQ((Error{ErrorCode::kInput, "a", "b", ""}.to_string()), "a: b");
  EXPECT_EQ((Error{ErrorCode::kInput, "", "b", "c"}.to_string()), "b; c");
  EXPECT_EQ((Error{ErrorCode::kInput, "", "", "c"}.to_string()), "c");
  EXPECT_EQ(Error{}.to_string(), "");
}

TEST(Error, ShowsNoControlCharactersToATerminal) {
  const Error error{ErrorCode::kInput, "video 'a\nb\r\x1b[31m\x7f'", "caf\xc3\xa9\t", ""};
  EXPECT_EQ(error.to_string(), "video 'a b  [31m ': caf\xc3\xa9 ");
}

TEST(Error, ShowsNoBytesThatAreNoText) {
  const auto shown = [](const std::string& text) {
    return Error{ErrorCode::kInput, text, "", ""}.to_string();
  };
  const std::string unknown = "\xEF\xBF\xBD";
  EXPECT_EQ(shown("a\xFF\xFE"
                  "b"),
            "a" + unknown + unknown + "b");
  EXPECT_EQ(shown("\xC3"), unknown);                                // cut off
  EXPECT_EQ(shown("\xC0\xAF"), unknown + unknown);                  // longer than need be
  EXPECT_EQ(shown("\xED\xA0\x80"), unknown + unknown + unknown);    // a surrogate
  EXPECT_EQ(shown("\xF4\x90\x80\x80").size(), 4 * unknown.size());  // beyond the last one
  EXPECT_EQ(shown("a\xC2\x9B"
                  "31m"),
            "a 31m");  // CSI in one character
  EXPECT_EQ(shown("\xE2\x82\xAC \xF0\x9F\x98\x80"), "\xE2\x82\xAC \xF0\x9F\x98\x80");
}

TEST(Error, EachCodeHasItsOwnName) {
  std::set<std::string_view> names;
  for (const ErrorCode code :
       {ErrorCode::kInvalidArgument, ErrorCode::kNotSupported, ErrorCode::kInput, ErrorCode::kModel,
        ErrorCode::kOutput, ErrorCode::kInterrupted, ErrorCode::kInternal}) {
    names.insert(to_string(code));
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("invalid_argument", "not_supported", "input",
                                                   "model", "output", "interrupted", "internal"));
}

TEST(Result, HoldsAValueOrAnError) {
  Result<int> good = 3;
  ASSERT_TRUE(good.ok());
  EXPECT_TRUE(static_cast<bool>(good));
  EXPECT_EQ(*good, 3);
  *good = 4;
  EXPECT_EQ(good.value(), 4);

  const Result<int> bad = missing_file();
  ASSERT_FALSE(bad.ok());
  EXPECT_FALSE(static_cast<bool>(bad));
  EXPECT_EQ(bad.error().code, ErrorCode::kInput);
  EXPECT_EQ(bad.error().thing, "video 'a.mp4'");
}

#ifdef __cpp_exceptions
TEST(Result, TheWrongAccessIsCaught) {
  const Result<int> good = 3;
  const Result<int> bad = missing_file();
  EXPECT_THROW((void)bad.value(), std::bad_variant_access);
  EXPECT_THROW((void)good.error(), std::bad_variant_access);
  EXPECT_THROW((void)ok_status().error(), std::bad_optional_access);
}
#endif

TEST(Result, MovesOwnersOut) {
  Result<std::unique_ptr<int>> owner = std::make_unique<int>(5);
  EXPECT_EQ(**owner, 5);
  EXPECT_EQ(*owner->get(), 5);
  const std::unique_ptr<int> taken = *std::move(owner);
  EXPECT_EQ(*taken, 5);
}

TEST(Result, MayHoldAString) {
  const Result<std::string> text = std::string("x");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->size(), 1u);
}

TEST(Status, IsOkUnlessGivenAnError) {
  EXPECT_TRUE(Status().ok());
  EXPECT_TRUE(ok_status().ok());
  const Status bad = missing_file();
  EXPECT_FALSE(bad.ok());
  EXPECT_FALSE(static_cast<bool>(bad));
  EXPECT_EQ(bad.error().problem, "no such file");
}

Status check_even(int n) {
  if (n % 2 != 0)
    return Error{ErrorCode::kInvalidArgument, "n", std::to_string(n), "give an even n"};
  return {};
}

Result<std::unique_ptr<int>> half(int n) {
  SPARING_RETURN_IF_ERROR(check_even(n));
  return std::make_unique<int>(n / 2);
}

Result<int> quarter(int n) {
  SPARING_ASSIGN_OR_RETURN(const auto first, half(n));
  SPARING_ASSIGN_OR_RETURN(const std::unique_ptr<int> second, half(*first));
  return *second;
}

Status quarter_into(int n, int* out) {
  SPARING_ASSIGN_OR_RETURN(*out, quarter(n));
  SPARING_RETURN_IF_ERROR(quarter(n));
  return {};
}

TEST(Macros, HandOnTheFirstError) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(7).error().problem, "7");
  EXPECT_EQ(quarter(6).error().problem, "3");
}

TEST(Macros, WorkInFunctionsThatReturnAStatus) {
  int out = 0;
  EXPECT_TRUE(quarter_into(20, &out).ok());
  EXPECT_EQ(out, 5);
  EXPECT_EQ(quarter_into(10, &out).error().problem, "5");
  EXPECT_EQ(out, 5) << "an error must leave the target alone";
}

TEST(Macros, EvaluateTheirExpressionOnce) {
  int calls = 0;
  const auto counted = [&]() -> Result<int> { return ++calls; };
  const auto run = [&]() -> Status {
    SPARING_RETURN_IF_ERROR(counted());
    SPARING_ASSIGN_OR_RETURN(const int value, counted());
    EXPECT_EQ(value, 2);
    return {};
  };
  EXPECT_TRUE(run().ok());
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace sparing
