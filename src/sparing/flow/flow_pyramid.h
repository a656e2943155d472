// The pictures and gradients behind FlowPyramid, in the form that OpenCV's tracker reads.
#pragma once

#include <opencv2/core/mat.hpp>
#include <vector>

#include "sparing/flow/sparse_flow.h"

namespace sparing {

// Pixels around each level that are readable and zero gradient: the tracker's window must fit.
inline constexpr int kFlowBorder = 16;

struct FlowPyramid::Impl {
  std::vector<cv::Mat> storage;  // padded: picture 0, gradient 0, picture 1, ...
  std::vector<cv::Mat> levels;   // the inner parts, likewise
  Size size;
};

}  // namespace sparing
