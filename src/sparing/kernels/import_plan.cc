#include "sparing/kernels/import_plan.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "sparing/kernels/import_validate.h"

namespace sparing::internal {
namespace {

// Far beyond any use, and far below where sums of coordinates overflow.
constexpr double kMaxSource = 1e9;
// kAuto: two taps see every sample down to here. A rectangle of exactly 1:2 may come out of
// arithmetic a few ulps larger.
constexpr double kMaxBilinearStep = 2 * (1 + 1e-9);

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

Result<Rect> choose_source(const Rect& display, const ImportOptions& options) {
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

ColorSpace choose_color(const VideoFrame& frame, const ColorSpace& given) {
  ColorSpace color = frame.color_space;
  if (given.matrix != ColorMatrix::kUnspecified) color.matrix = given.matrix;
  if (given.range != ColorRange::kUnspecified) color.range = given.range;
  if (given.primaries != ColorPrimaries::kUnspecified) color.primaries = given.primaries;
  if (given.transfer != ColorTransfer::kUnspecified) color.transfer = given.transfer;
  if (given.siting != ChromaSiting::kUnspecified) color.siting = given.siting;
  return resolve(color, frame.format, frame.coded_size);
}

// The part of `source` that has the destination's shape.
Rect crop_source(const Rect& source, const PixelRect& destination, Anchor anchor) {
  Rect part = source;
  if (destination.width / source.width >= destination.height / source.height) {
    part.height = std::min(source.height, source.width * destination.height / destination.width);
  } else {
    part.width = std::min(source.width, source.height * destination.width / destination.height);
  }
  if (anchor == Anchor::kCenter) {
    part.x += (source.width - part.width) / 2;
    part.y += (source.height - part.height) / 2;
  }
  return part;
}

int rounded_extent(double extent, int limit) {
  return static_cast<int>(std::clamp(std::floor(extent + 0.5), 1.0, static_cast<double>(limit)));
}

// The part of `destination` that has the source's shape.
PixelRect letterbox(const Rect& source, const PixelRect& destination, Anchor anchor) {
  const double scale =
      std::min(destination.width / source.width, destination.height / source.height);
  PixelRect content = destination;
  content.width = rounded_extent(source.width * scale, destination.width);
  content.height = rounded_extent(source.height * scale, destination.height);
  if (anchor == Anchor::kCenter) {
    content.x += (destination.width - content.width) / 2;
    content.y += (destination.height - content.height) / 2;
  }
  return content;
}

// The pixels of the content along one axis of the tensor: the k-th of `count`, counted from `begin`
// of the whole picture, has its centre at the display coordinate start + (begin + k + .5) * step.
struct DisplayAxis {
  double start = 0;
  double step = 1;
  int begin = 0;
  int count = 0;

  double position(int k) const { return start + (begin + k + 0.5) * step; }
};

// Where the first of 0 .. count whose centre is not before `limit` is.
int first_at(const DisplayAxis& axis, double limit) {
  int low = 0;
  int high = axis.count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (axis.position(middle) < limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Only the pixels whose centre is in [0, extent).
DisplayAxis within(const DisplayAxis& axis, double extent) {
  DisplayAxis part = axis;
  part.begin = first_at(axis, 0);
  part.count = first_at(axis, extent) - part.begin;
  return part;
}

// coded = direction * display + shift.
PixelAxis pixel_axis(const DisplayAxis& display, double direction, double shift, Filter filter) {
  PixelAxis axis;
  axis.count = display.count;
  axis.start = direction * display.position(0) + shift;
  axis.step = direction * display.step;
  axis.filter = filter;
  if (filter == Filter::kAuto) {
    axis.filter = display.step <= kMaxBilinearStep ? Filter::kBilinear : Filter::kArea;
  }
  return axis;
}

// Samples of an axis that [begin, end) in coded coordinates touches.
SampleAxis sample_axis(double begin, double end, int extent, int shift, bool cosited) {
  SampleAxis axis;
  const double pitch = 1 << shift;
  axis.scale = 1 / pitch;
  axis.offset = cosited ? 0.5 / pitch : 0.5;
  // A rectangle thinner than the rounding of its place may begin where the picture ends.
  const int first = std::min(static_cast<int>(std::floor(begin)), extent - 1);
  const int last = std::min(static_cast<int>(std::ceil(end)), extent) - 1;
  axis.first = first >> shift;
  axis.last = std::max(first, last) >> shift;
  return axis;
}

SampleGrid sample_grid(const VideoFrame& frame, ChromaSiting siting, bool chroma) {
  const Rect visible = visible_rect(frame);
  const PixelFormatInfo& format = info(frame.format);
  const bool left = chroma && (siting == ChromaSiting::kLeft || siting == ChromaSiting::kTopLeft);
  const bool top = chroma && siting == ChromaSiting::kTopLeft;
  const Size size = frame.coded_size;
  const int shift_x = chroma ? format.chroma_shift_x : 0;
  const int shift_y = chroma ? format.chroma_shift_y : 0;
  return {sample_axis(visible.x, visible.right(), size.width, shift_x, left),
          sample_axis(visible.y, visible.bottom(), size.height, shift_y, top)};
}

// Content, map and pixel axes. `frame` has the orientation to show.
void place(const VideoFrame& frame, const ImportOptions& options, Rect source, ImportPlan& plan) {
  PixelRect& content = plan.content;
  content = plan.destination;
  if (options.fit == Fit::kCrop) source = crop_source(source, content, options.anchor);
  if (options.fit == Fit::kLetterbox) content = letterbox(source, content, options.anchor);
  DisplayAxis columns{source.x, source.width / content.width, 0, content.width};
  DisplayAxis rows{source.y, source.height / content.height, 0, content.height};
  plan.tensor_to_display = {columns.step,
                            0,
                            source.x - content.x * columns.step,
                            0,
                            rows.step,
                            source.y - content.y * rows.step};
  if (options.outside == Outside::kPad) {
    const Rect display = display_rect(frame);
    columns = within(columns, display.width);
    rows = within(rows, display.height);
    if (columns.count == 0 || rows.count == 0) {
      content = {plan.destination.x, plan.destination.y, 0, 0};
      columns.count = rows.count = 0;
    } else {
      content = {content.x + columns.begin, content.y + rows.begin, columns.count, rows.count};
    }
  }
  const Affine coded = display_to_coded(frame);
  plan.transposed = coded.a == 0;
  if (plan.transposed) {
    plan.x = pixel_axis(rows, coded.b, coded.tx, options.filter);
    plan.y = pixel_axis(columns, coded.c, coded.ty, options.filter);
  } else {
    plan.x = pixel_axis(columns, coded.a, coded.tx, options.filter);
    plan.y = pixel_axis(rows, coded.d, coded.ty, options.filter);
  }
}

}  // namespace

Result<ImportPlan> plan_import(const VideoFrame& frame, const ImportOptions& options,
                               const TensorView& destination) {
  SPARING_RETURN_IF_ERROR(validate(frame));
  SPARING_RETURN_IF_ERROR(validate_tensor(destination));
  SPARING_RETURN_IF_ERROR(validate_options(options, destination));
  VideoFrame shown = frame;
  if (options.orientation) {
    shown.rotation = options.orientation->rotation;
    shown.flip = options.orientation->flip;
  }
  ImportPlan plan;
  SPARING_ASSIGN_OR_RETURN(plan.destination, choose_destination(options, destination));
  SPARING_ASSIGN_OR_RETURN(const Rect source, choose_source(display_rect(shown), options));
  plan.color = choose_color(frame, options.color_space);
  plan.luma = sample_grid(frame, plan.color.siting, false);
  plan.chroma = sample_grid(frame, plan.color.siting, true);
  place(shown, options, source, plan);
  return plan;
}

}  // namespace sparing::internal
