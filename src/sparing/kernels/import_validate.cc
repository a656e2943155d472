#include "sparing/kernels/import_validate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "sparing/kernels/element.h"

namespace sparing::internal {
namespace {

Status validate_strides(const TensorView& tensor) {
  const auto size = static_cast<std::ptrdiff_t>(info(tensor.type).size);
  const struct {
    const char* name;
    int extent;
    std::ptrdiff_t stride;
  } dimensions[] = {{"batch", tensor.batch, tensor.stride_n},
                    {"channels", tensor.channels, tensor.stride_c},
                    {"height", tensor.height, tensor.stride_y},
                    {"width", tensor.width, tensor.stride_x}};
  for (const auto& dimension : dimensions) {
    if (dimension.extent > 1 && dimension.stride < size && dimension.stride > -size) {
      return invalid("stride of the tensor's " + std::string(dimension.name),
                     std::to_string(dimension.stride) + " bytes is shorter than an element",
                     "give at least " + std::to_string(size));
    }
  }
  return {};
}

// Mean, std and pad, of the channels that the tensor has.
Status validate_normalisation(const ImportOptions& options, int channels) {
  for (int c = 0; c < std::min(channels, 3); ++c) {
    const auto channel = static_cast<std::size_t>(c);
    const std::string index = "[" + std::to_string(c) + "]";
    const float mean = options.mean[channel];
    if (!std::isfinite(mean)) {
      return invalid("mean" + index, number(mean) + " is not finite", "give a finite value");
    }
    const float std = options.std[channel];
    if (!std::isfinite(std) || std == 0) {
      return invalid("std" + index, number(std) + " cannot divide",
                     "give a finite value other than 0");
    }
    const float pad = options.pad[channel];
    if (!(pad >= 0 && pad <= 255)) {
      return invalid("pad" + index, number(pad) + " is not a pixel value",
                     "give 0 to 255 (before normalisation)");
    }
  }
  return {};
}

Status validate_values(const ImportOptions& options, const TensorView& tensor) {
  if (tensor.channels == 4 && !std::isfinite(options.alpha)) {
    return invalid("alpha", number(options.alpha) + " is not finite", "give a finite value");
  }
  const Quantization& quantization = options.quantization;
  if (!std::isfinite(quantization.scale) || quantization.scale == 0) {
    return invalid("quantization scale", number(quantization.scale) + " cannot divide",
                   "give a finite value other than 0");
  }
  if (!is_integer(tensor.type) && quantization != Quantization{}) {
    return invalid("quantization",
                   "the tensor is of " + std::string(info(tensor.type).name) +
                       ", which stores values as they are",
                   "leave scale at 1 and zero_point at 0, or use an integer tensor");
  }
  return {};
}

// One of 0 .. last.
template <class Enum>
Status validate_enumerator(std::string_view name, std::string_view type, Enum value, Enum last) {
  const int number = static_cast<int>(value);
  if (number >= 0 && number <= static_cast<int>(last)) return {};
  return invalid(std::string(name), std::to_string(number) + " is not a value of it",
                 "give one of " + std::string(type));
}

Status validate_orientation(const std::optional<Orientation>& orientation) {
  if (!orientation) return {};
  const int degrees = static_cast<int>(orientation->rotation);
  if (degrees == 0 || degrees == 90 || degrees == 180 || degrees == 270) return {};
  return invalid("rotation of the orientation", std::to_string(degrees) + " is not a quarter turn",
                 "give 0, 90, 180 or 270");
}

}  // namespace

Error invalid(std::string thing, std::string problem, std::string fix) {
  return Error{ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::string rect_text(const Rect& rect) {
  return "(" + number(rect.x) + ", " + number(rect.y) + ", " + number(rect.width) + " x " +
         number(rect.height) + ")";
}

std::string rect_text(const PixelRect& rect) {
  return "(" + std::to_string(rect.x) + ", " + std::to_string(rect.y) + ", " +
         std::to_string(rect.width) + " x " + std::to_string(rect.height) + ")";
}

Status validate_tensor(const TensorView& tensor) {
  if (tensor.data == nullptr) return invalid("tensor", "has no memory", "set data");
  if (static_cast<std::size_t>(tensor.type) >= kDataTypes.size()) {
    return invalid("data type of the tensor",
                   std::to_string(static_cast<int>(tensor.type)) + " is not a data type",
                   "give one of DataType");
  }
  if (tensor.channels != 1 && tensor.channels != 3 && tensor.channels != 4) {
    return invalid("tensor", "has " + std::to_string(tensor.channels) + " channels",
                   "give 1 (luma), 3 (RGB or BGR) or 4 (and alpha), and check the layout (NCHW or "
                   "NHWC)");
  }
  if (tensor.batch < 1 || tensor.height < 1 || tensor.width < 1) {
    return invalid("tensor",
                   "batch " + std::to_string(tensor.batch) + ", height " +
                       std::to_string(tensor.height) + ", width " + std::to_string(tensor.width),
                   "give dimensions of 1 or more");
  }
  return validate_strides(tensor);
}

Status validate_options(const ImportOptions& options, const TensorView& tensor) {
  SPARING_RETURN_IF_ERROR(validate_normalisation(options, tensor.channels));
  SPARING_RETURN_IF_ERROR(validate_values(options, tensor));
  SPARING_RETURN_IF_ERROR(validate_enumerator("fit", "Fit", options.fit, Fit::kCrop));
  SPARING_RETURN_IF_ERROR(
      validate_enumerator("anchor", "Anchor", options.anchor, Anchor::kTopLeft));
  SPARING_RETURN_IF_ERROR(
      validate_enumerator("order", "ChannelOrder", options.order, ChannelOrder::kBgr));
  SPARING_RETURN_IF_ERROR(validate_enumerator("filter", "Filter", options.filter, Filter::kAuto));
  SPARING_RETURN_IF_ERROR(
      validate_enumerator("outside", "Outside", options.outside, Outside::kPad));
  SPARING_RETURN_IF_ERROR(validate_enumerator("chroma", "ChromaUpsampling", options.chroma,
                                              ChromaUpsampling::kReplicate));
  SPARING_RETURN_IF_ERROR(validate_orientation(options.orientation));
  return validate(options.color_space);
}

}  // namespace sparing::internal
