#include "sparing/kernels/import_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "sparing/kernels/element.h"

namespace sparing::internal {
namespace {

// Far beyond any use, and far below where sums of coordinates overflow.
constexpr double kMaxSource = 1e9;

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

Status validate_tensor(const TensorView& tensor) {
  if (tensor.data == nullptr) return invalid("tensor", "has no memory", "set data");
  if (static_cast<std::size_t>(tensor.type) >= kDataTypes.size()) {
    return invalid("data type of the tensor",
                   std::to_string(static_cast<int>(tensor.type)) + " is not a data type",
                   "give one of DataType");
  }
  if (tensor.channels != 1 && tensor.channels != 3) {
    return invalid("tensor", "has " + std::to_string(tensor.channels) + " channels",
                   "give 1 (luma) or 3 (RGB or BGR), and check the layout (NCHW or NHWC)");
  }
  if (tensor.batch < 1 || tensor.height < 1 || tensor.width < 1) {
    return invalid("tensor",
                   "batch " + std::to_string(tensor.batch) + ", height " +
                       std::to_string(tensor.height) + ", width " + std::to_string(tensor.width),
                   "give dimensions of 1 or more");
  }
  return validate_strides(tensor);
}

Status validate_values(const ImportOptions& options, int channels) {
  for (int c = 0; c < channels; ++c) {
    const float mean = options.mean[static_cast<std::size_t>(c)];
    const float std = options.std[static_cast<std::size_t>(c)];
    if (!std::isfinite(mean)) {
      return invalid("mean[" + std::to_string(c) + "]", number(mean) + " is not finite",
                     "give a finite value");
    }
    if (!std::isfinite(std) || std == 0) {
      return invalid("std[" + std::to_string(c) + "]", number(std) + " cannot divide",
                     "give a finite value other than 0");
    }
    const float pad = options.pad[static_cast<std::size_t>(c)];
    if (!(pad >= 0 && pad <= 255)) {
      return invalid("pad[" + std::to_string(c) + "]", number(pad) + " is not a pixel value",
                     "give 0 to 255 (before normalisation)");
    }
  }
  if (options.fit != Fit::kStretch && options.fit != Fit::kLetterbox) {
    return invalid("fit", std::to_string(static_cast<int>(options.fit)) + " is not a fit",
                   "give one of Fit");
  }
  if (options.anchor != Anchor::kCenter && options.anchor != Anchor::kTopLeft) {
    return invalid("anchor", std::to_string(static_cast<int>(options.anchor)) + " is not an anchor",
                   "give one of Anchor");
  }
  if (options.order != ChannelOrder::kRgb && options.order != ChannelOrder::kBgr) {
    return invalid("order", std::to_string(static_cast<int>(options.order)) + " is not an order",
                   "give one of ChannelOrder");
  }
  return {};
}

Result<PixelRect> choose_destination(const ImportOptions& options, const TensorView& tensor) {
  if (options.batch_index < 0 || options.batch_index >= tensor.batch) {
    return invalid("batch_index",
                   std::to_string(options.batch_index) + " is not in the tensor's batch of " +
                       std::to_string(tensor.batch),
                   "give 0 to " + std::to_string(tensor.batch - 1));
  }
  const PixelRect whole{0, 0, tensor.width, tensor.height};
  const PixelRect rect = options.destination.value_or(whole);
  if (rect.empty()) {
    return invalid("destination rectangle", rect_text(rect) + " is empty",
                   "give a positive width and height");
  }
  // Subtracted, not added: the sums may overflow.
  if (rect.x < 0 || rect.y < 0 || rect.width > tensor.width || rect.height > tensor.height ||
      rect.x > tensor.width - rect.width || rect.y > tensor.height - rect.height) {
    return invalid(
        "destination rectangle", rect_text(rect) + " reaches outside the tensor",
        "keep it within " + std::to_string(tensor.width) + "x" + std::to_string(tensor.height));
  }
  return rect;
}

Result<Rect> choose_source(const VideoFrame& frame, const ImportOptions& options) {
  const Rect display = display_rect(frame);
  if (!options.visible_rect) return display;
  const Rect& rect = *options.visible_rect;
  if (!is_finite(rect)) {
    return invalid("source rectangle", rect_text(rect) + " is not finite",
                   "give finite coordinates");
  }
  if (rect.empty()) {
    return invalid("source rectangle", rect_text(rect) + " is empty",
                   "give a positive width and height");
  }
  if (std::max({std::fabs(rect.x), std::fabs(rect.y), rect.width, rect.height}) > kMaxSource) {
    return invalid("source rectangle", rect_text(rect) + " is too far or too large",
                   "keep coordinates within " + number(kMaxSource) + " pixels");
  }
  // Compared, not intersected: a tiny width far from the origin must not round to nothing.
  if (rect.x >= display.width || rect.y >= display.height || rect.right() <= 0 ||
      rect.bottom() <= 0) {
    return invalid(
        "source rectangle", rect_text(rect) + " lies outside the frame",
        "overlap its " + number(display.width) + "x" + number(display.height) + " visible pixels");
  }
  return rect;
}

int rounded_extent(double extent, int limit) {
  return static_cast<int>(std::clamp(std::floor(extent + 0.5), 1.0, static_cast<double>(limit)));
}

PixelRect fit_content(const Rect& source, const PixelRect& destination,
                      const ImportOptions& options) {
  if (options.fit == Fit::kStretch) return destination;
  const double scale =
      std::min(destination.width / source.width, destination.height / source.height);
  PixelRect content = destination;
  content.width = rounded_extent(source.width * scale, destination.width);
  content.height = rounded_extent(source.height * scale, destination.height);
  if (options.anchor == Anchor::kCenter) {
    content.x += (destination.width - content.width) / 2;
    content.y += (destination.height - content.height) / 2;
  }
  return content;
}

// Samples of an axis that [begin, end) in coded coordinates touches.
SampleAxis sample_axis(double begin, double end, int shift, bool cosited) {
  SampleAxis axis;
  const double pitch = 1 << shift;
  axis.scale = 1 / pitch;
  axis.offset = cosited ? 0.5 / pitch : 0.5;
  axis.first = static_cast<int>(std::floor(begin)) >> shift;
  axis.last = std::max(axis.first, (static_cast<int>(std::ceil(end)) - 1) >> shift);
  return axis;
}

SampleGrid sample_grid(const VideoFrame& frame, ChromaSiting siting, bool chroma) {
  const Rect visible = visible_rect(frame);
  const PixelFormatInfo& format = info(frame.format);
  const bool left = chroma && (siting == ChromaSiting::kLeft || siting == ChromaSiting::kTopLeft);
  const bool top = chroma && siting == ChromaSiting::kTopLeft;
  return {sample_axis(visible.x, visible.right(), chroma ? format.chroma_shift_x : 0, left),
          sample_axis(visible.y, visible.bottom(), chroma ? format.chroma_shift_y : 0, top)};
}

void fill_rect(const PixelRect& rect, const ImportOptions& options, const TensorView& tensor) {
  if (rect.empty()) return;
  const auto size = static_cast<std::ptrdiff_t>(info(tensor.type).size);
  for (int c = 0; c < tensor.channels; ++c) {
    const auto channel = static_cast<std::size_t>(c);
    const double value =
        (static_cast<double>(options.pad[channel]) - options.mean[channel]) / options.std[channel];
    std::byte* const first = element_address(tensor, options.batch_index, c, rect.y, rect.x);
    for (int x = 0; x < rect.width; ++x) {
      store_element(tensor.type, value, first + x * tensor.stride_x);
    }
    for (int y = 1; y < rect.height; ++y) {
      std::byte* const row = first + y * tensor.stride_y;
      if (tensor.stride_x == size) {
        std::memcpy(row, first, static_cast<std::size_t>(rect.width * size));
        continue;
      }
      for (int x = 0; x < rect.width; ++x) {
        std::memcpy(row + x * tensor.stride_x, first, static_cast<std::size_t>(size));
      }
    }
  }
}

}  // namespace

Result<ImportPlan> plan_import(const VideoFrame& frame, const ImportOptions& options,
                               const TensorView& destination) {
  SPARING_RETURN_IF_ERROR(validate(frame));
  SPARING_RETURN_IF_ERROR(validate_tensor(destination));
  SPARING_RETURN_IF_ERROR(validate_values(options, destination.channels));
  ImportPlan plan;
  SPARING_ASSIGN_OR_RETURN(plan.destination, choose_destination(options, destination));
  SPARING_ASSIGN_OR_RETURN(plan.source, choose_source(frame, options));
  plan.color = resolve(frame.color_space, frame.format, frame.coded_size);
  plan.content = fit_content(plan.source, plan.destination, options);
  plan.display_to_coded = display_to_coded(frame);
  plan.luma = sample_grid(frame, plan.color.siting, false);
  plan.chroma = sample_grid(frame, plan.color.siting, true);
  const double scale_x = plan.source.width / plan.content.width;
  const double scale_y = plan.source.height / plan.content.height;
  plan.tensor_to_display = {scale_x, 0,       plan.source.x - plan.content.x * scale_x,
                            0,       scale_y, plan.source.y - plan.content.y * scale_y};
  return plan;
}

void fill_border(const ImportPlan& plan, const ImportOptions& options, const TensorView& tensor) {
  const PixelRect& outer = plan.destination;
  const PixelRect& inner = plan.content;
  const int inner_right = inner.x + inner.width;
  const int inner_bottom = inner.y + inner.height;
  fill_rect({outer.x, outer.y, outer.width, inner.y - outer.y}, options, tensor);
  fill_rect({outer.x, inner.y, inner.x - outer.x, inner.height}, options, tensor);
  fill_rect({inner_right, inner.y, outer.x + outer.width - inner_right, inner.height}, options,
            tensor);
  fill_rect({outer.x, inner_bottom, outer.width, outer.y + outer.height - inner_bottom}, options,
            tensor);
}

}  // namespace sparing::internal
