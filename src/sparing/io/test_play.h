// Reads a source to its end, for tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "sparing/io/source.h"

namespace sparing::testing {

struct Played {
  std::vector<SourceFrame> frames;
  std::optional<Error> error;  // how it ended
};

inline Played play(VideoSource& source) {
  Played played;
  while (true) {
    auto frame = source.next();
    if (!frame.ok()) {
      played.error = frame.error();
      // The same again, whoever asks once more.
      auto again = source.next();
      EXPECT_FALSE(again.ok());
      if (!again.ok()) {
        EXPECT_EQ(again.error().to_string(), played.error->to_string());
      }
      return played;
    }
    if (!frame->has_value()) {
      auto again = source.next();
      EXPECT_TRUE(again.ok() && !again->has_value());
      return played;
    }
    played.frames.push_back(std::move(**frame));
  }
}

inline Played play(const std::filesystem::path& file, const SourceOptions& options = {}) {
  auto source = open_source(file.string(), options);
  EXPECT_TRUE(source.ok()) << source.error().to_string();
  return source.ok() ? play(**source) : Played{};
}

}  // namespace sparing::testing
