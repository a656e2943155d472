// The fields of a frame that all JSON Lines begin with (docs/outputs.md). Private to io.
#pragma once

#include <string>
#include <vector>

#include "sparing/io/sink.h"
#include "sparing/io/source.h"

namespace sparing {

class FrameJson {
 public:
  explicit FrameJson(const RunInfo& run);

  // From the opening brace to the frame's size and damage, without a comma after it.
  void append_head(std::string& line, int stream, const SourceFrame& source) const;
  // ,"label":"..." of a class that has a name, else nothing.
  void append_label(std::string& line, int class_id) const;

 private:
  std::vector<std::string> sources_;  // quoted
  std::vector<std::string> labels_;   // quoted
};

}  // namespace sparing
