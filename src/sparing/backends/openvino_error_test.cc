#include "sparing/backends/openvino_error.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace sparing::openvino {
namespace {

// Texts as OpenVINO 2026.4.1 gives them.
TEST(ReadableMessage, LeavesOutSourcesChecksAndHeadings) {
  EXPECT_EQ(
      readable_message("Exception from src/inference/src/cpp/core.cpp:84:\n"
                       "Check 'util::directory_exists(path) || util::file_exists(path)' failed at "
                       "src/frontends/common/src/frontend.cpp:117:\n"
                       "FrontEnd API failed with GeneralFailure:\n"
                       "ir: Could not open the file: \"a.xml\"\n\n\n"),
      "ir: Could not open the file: \"a.xml\"");
  EXPECT_EQ(readable_message("Exception from src/inference/src/cpp/core.cpp:84:\n"
                             "Check 'false' failed at src/frontends/x.cpp:151:\n"
                             "FrontEnd API failed with OpConversionFailure:\n"
                             "Model wasn't fully converted.\n"
                             "Summary:\n"
                             "-- No conversion rule found for operations: org.example.Frob\n\n"),
            "No conversion rule found for operations: org.example.Frob");
  EXPECT_EQ(readable_message("Exception from src/inference/src/cpp/infer_request.cpp:224:\n"
                             "Exception from src/plugins/intel_cpu/src/node.cpp:794:\n"
                             "[CPU] Add node with name 'y' Check 'shape[j] == 1' failed at "
                             "src/plugins/intel_cpu/src/eltwise.cpp:52:\n"
                             "Eltwise shape infer input shapes dim index: 2 mismatch\n\n"),
            "[CPU] Add node with name 'y' Eltwise shape infer input shapes dim index: 2 mismatch");
}

TEST(ReadableMessage, KeepsPlainTextOnOneLine) {
  EXPECT_EQ(readable_message("bad\r\n  luck. "), "bad luck");
  EXPECT_EQ(readable_message("Check the cable"), "Check the cable");
}

TEST(ReadableMessage, NeverEmptyNeverEndless) {
  EXPECT_EQ(readable_message(""), "the engine gave no reason");
  EXPECT_EQ(readable_message("Exception from a.cpp:1:\n\n"), "the engine gave no reason");
  const std::string cut = readable_message(std::string(5000, 'x'));
  EXPECT_EQ(cut.size(), 300u);
  EXPECT_EQ(cut.substr(296), "x...");
  // A cut inside a two-byte letter goes back to its start.
  std::string letters;
  for (int i = 0; i < 1000; ++i) letters += "\xC3\xA9";
  const std::string whole = readable_message("a" + letters);
  EXPECT_EQ(whole.size(), 1u + 2 * 148 + 3);
  EXPECT_EQ(whole.substr(whole.size() - 5), "\xC3\xA9...");
}

TEST(EngineError, NamesTheThingAndTheFix) {
  const Error error =
      engine_error(ErrorCode::kModel, "model 'a'", std::runtime_error("broken"), "get another");
  EXPECT_EQ(error.to_string(), "model 'a': broken; get another");
  EXPECT_EQ(error.code, ErrorCode::kModel);
}

}  // namespace
}  // namespace sparing::openvino
