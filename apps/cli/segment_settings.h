// What `sparing segment` was asked for.
#pragma once

#include <string>
#include <vector>

#include "runtime.h"
#include "sparing/base/result.h"
#include "sparing/compose/background.h"
#include "sparing/compose/privacy.h"
#include "sparing/pipeline/segmenter.h"

namespace sparing::cli {

struct SegmentSettings {
  std::string input;
  std::string model = "people";
  std::string aux;
  std::vector<std::string> outputs;
  std::string format;
  std::string render;
  std::string background;
  std::vector<std::string> foreground;
  double contrast = BackgroundOptions().contrast;
  bool refine = false;
  std::string privacy;
  bool overlay = false;
  double overlay_strength = 0.5;
  bool legend = false;
  std::string compare;
  std::string gt;
  std::vector<std::string> ignore;
  int crf = 23;
  long long max_frames = 0;
  int decoder_threads = 1;
  bool json = false;
  bool quiet = false;
  SegmenterOptions segmenter;
  RuntimeOptions runtime;

  // All options that the user wrote, e.g. "--background".
  std::vector<std::string> given;

  bool writes_to_stdout() const;
  bool has(std::string_view flag) const;
};

// Options out of range, that contradict each other, or do nothing beside the others:
// kInvalidArgument names them.
Status check_settings(const SegmentSettings& settings);

}  // namespace sparing::cli
