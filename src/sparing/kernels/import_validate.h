// Checks of what a caller gives to import, before anything is written.
#pragma once

#include <string>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/kernels/import.h"

namespace sparing::internal {

// Shape, type and strides of the tensor.
Status validate_tensor(const TensorView& tensor);

// Every option that is right or wrong whatever the frame, but for the rectangles and the image
// index. Precondition: the tensor is valid.
Status validate_options(const ImportOptions& options, const TensorView& tensor);

// kInvalidArgument.
Error invalid(std::string thing, std::string problem, std::string fix);
std::string number(double value);
std::string rect_text(const Rect& rect);
std::string rect_text(const PixelRect& rect);

}  // namespace sparing::internal
