// What the tests of strict JSON readers share: a good text in which one thing is wrong.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>

namespace sparing::testing {

struct WrongJson {
  const char* from;  // in the good text, replaced once
  const char* to;
  const char* names;  // what the error says: the field,
  const char* value;  // and its value, or what else is wrong with it
};

// `parse(text, "file.json")` must refuse each with an error that names the file, the field, the
// value and a fix.
template <class Parse>
void expect_refused(const std::string& good, std::span<const WrongJson> cases, Parse&& parse) {
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  for (const WrongJson& wrong : cases) {
    std::string text = good;
    ASSERT_NE(text.find(wrong.from), std::string::npos) << wrong.from << " in " << text;
    text.replace(text.find(wrong.from), std::strlen(wrong.from), wrong.to);
    const auto read = parse(text, "file.json");
    ASSERT_FALSE(read.ok()) << wrong.to;
    EXPECT_THAT(read.error().to_string(),
                AllOf(HasSubstr("file.json"), HasSubstr(wrong.names), HasSubstr(wrong.value)));
    EXPECT_FALSE(read.error().fix.empty()) << wrong.to;
  }
}

}  // namespace sparing::testing
