#include "sparing/frame/video_frame.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "sparing/base/aligned_buffer.h"
#include "sparing/base/check.h"

namespace sparing {
namespace {

// BT.709 is the matrix of HDTV; streams of smaller pictures that do not say are BT.601 in practice.
constexpr int kHdRows = 720;

std::string rect_text(const Rect& rect) {
  char text[160];
  std::snprintf(text, sizeof text, "(%g, %g, %g x %g)", rect.x, rect.y, rect.width, rect.height);
  return text;
}

std::string size_text(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

Error invalid(std::string thing, std::string problem, std::string fix) {
  return Error{ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

bool quarter_turn(Rotation rotation) {
  return rotation == Rotation::k90 || rotation == Rotation::k270;
}

Status validate_size(Size size) {
  if (size.width >= 1 && size.height >= 1 && size.width <= kMaxFrameExtent &&
      size.height <= kMaxFrameExtent) {
    return {};
  }
  return invalid("coded size of the frame", size_text(size) + " is out of range",
                 "give 1 to " + std::to_string(kMaxFrameExtent) + " columns and rows");
}

Status validate_planes(const VideoFrame& frame) {
  const PixelFormatInfo& format = info(frame.format);
  for (int p = 0; p < format.planes; ++p) {
    const Plane& plane = frame.planes[static_cast<std::size_t>(p)];
    const std::string thing =
        "plane " + std::to_string(p) + " of the " + std::string(format.name) + " frame";
    if (plane.data == nullptr) {
      return invalid(thing, "has no memory",
                     "set all " + std::to_string(format.planes) + " planes of the format");
    }
    const int row_bytes = plane_extent(frame.format, p, frame.coded_size).row_bytes;
    if (plane.stride < row_bytes && plane.stride > -row_bytes) {
      return invalid(thing, "stride " + std::to_string(plane.stride) + " is shorter than a row",
                     "give at least " + std::to_string(row_bytes) + " bytes (or as many negative)");
    }
  }
  return {};
}

Status validate_visible_rect(const VideoFrame& frame) {
  const Rect& rect = frame.visible_rect;
  const std::string thing = "visible rectangle of the frame";
  if (!is_finite(rect)) {
    return invalid(thing, rect_text(rect) + " is not finite", "give finite coordinates");
  }
  if (rect.width < 0 || rect.height < 0) {
    return invalid(thing, rect_text(rect) + " has a negative extent",
                   "give a positive width and height, or none for the whole picture");
  }
  if (rect.empty()) return {};
  if (rect.x < 0 || rect.y < 0 || rect.right() > frame.coded_size.width ||
      rect.bottom() > frame.coded_size.height) {
    return invalid(thing, rect_text(rect) + " reaches outside the coded picture",
                   "keep it within " + size_text(frame.coded_size));
  }
  return {};
}

// One of 0 .. last.
template <class Enum>
Status validate_color(const char* field, const char* type, Enum value, Enum last) {
  const int number = static_cast<int>(value);
  if (number >= 0 && number <= static_cast<int>(last)) return {};
  return invalid(std::string(field) + " of the colour space",
                 std::to_string(number) + " is not a value of it",
                 "give one of " + std::string(type));
}

}  // namespace

Status validate(const ColorSpace& space) {
  SPARING_RETURN_IF_ERROR(
      validate_color("matrix", "ColorMatrix", space.matrix, ColorMatrix::kBt2020));
  SPARING_RETURN_IF_ERROR(validate_color("range", "ColorRange", space.range, ColorRange::kFull));
  SPARING_RETURN_IF_ERROR(
      validate_color("primaries", "ColorPrimaries", space.primaries, ColorPrimaries::kBt2020));
  SPARING_RETURN_IF_ERROR(
      validate_color("transfer", "ColorTransfer", space.transfer, ColorTransfer::kHlg));
  return validate_color("siting", "ChromaSiting", space.siting, ChromaSiting::kTopLeft);
}

ColorSpace resolve(ColorSpace space, PixelFormat format, Size coded_size) {
  const bool yuv = info(format).model == ColorModel::kYuv;
  if (space.range == ColorRange::kUnspecified) {
    space.range = yuv ? ColorRange::kLimited : ColorRange::kFull;
  }
  if (!yuv) return space;
  if (space.matrix == ColorMatrix::kUnspecified) {
    space.matrix = coded_size.height >= kHdRows ? ColorMatrix::kBt709 : ColorMatrix::kBt601;
  }
  if (space.siting == ChromaSiting::kUnspecified) space.siting = ChromaSiting::kLeft;
  return space;
}

bool is_hdr(const ColorSpace& space) {
  return space.transfer == ColorTransfer::kPq || space.transfer == ColorTransfer::kHlg;
}

Rect visible_rect(const VideoFrame& frame) {
  if (!frame.visible_rect.empty()) return frame.visible_rect;
  return {0, 0, static_cast<double>(frame.coded_size.width),
          static_cast<double>(frame.coded_size.height)};
}

Rect display_rect(const VideoFrame& frame) {
  const Rect visible = visible_rect(frame);
  if (quarter_turn(frame.rotation)) return {0, 0, visible.height, visible.width};
  return {0, 0, visible.width, visible.height};
}

Size display_size(const VideoFrame& frame) {
  const Rect display = display_rect(frame);
  const auto whole = [](double extent) {
    return std::max(1, static_cast<int>(std::floor(extent + 0.5)));
  };
  return {whole(display.width), whole(display.height)};
}

Affine display_to_coded(const VideoFrame& frame) {
  const Rect visible = visible_rect(frame);
  const Affine unflip = frame.flip ? Affine{-1, 0, display_rect(frame).width, 0, 1, 0} : Affine{};
  Affine unrotate;
  switch (frame.rotation) {
    case Rotation::k0: break;
    case Rotation::k90: unrotate = {0, 1, 0, -1, 0, visible.height}; break;
    case Rotation::k180: unrotate = {-1, 0, visible.width, 0, -1, visible.height}; break;
    case Rotation::k270: unrotate = {0, -1, visible.width, 1, 0, 0}; break;
  }
  const Affine shift{1, 0, visible.x, 0, 1, visible.y};
  return compose(shift, compose(unrotate, unflip));
}

Status validate(const VideoFrame& frame) {
  if (frame.storage != FrameStorage::kCpu) {
    return Error{ErrorCode::kNotSupported, "frame", "lies in the memory of a device",
                 "download it to CPU planes first"};
  }
  if (static_cast<std::size_t>(frame.format) >= kPixelFormats.size()) {
    return invalid("pixel format of the frame",
                   std::to_string(static_cast<int>(frame.format)) + " is not a format",
                   "give one of PixelFormat");
  }
  const int degrees = static_cast<int>(frame.rotation);
  if (degrees != 0 && degrees != 90 && degrees != 180 && degrees != 270) {
    return invalid("rotation of the frame", std::to_string(degrees) + " is not a quarter turn",
                   "give 0, 90, 180 or 270");
  }
  SPARING_RETURN_IF_ERROR(validate(frame.color_space));
  SPARING_RETURN_IF_ERROR(validate_size(frame.coded_size));
  SPARING_RETURN_IF_ERROR(validate_planes(frame));
  return validate_visible_rect(frame);
}

Result<SharedFrame> allocate_frame(PixelFormat format, Size coded_size) {
  SPARING_RETURN_IF_ERROR(validate_size(coded_size));
  VideoFrame view;
  view.format = format;
  view.coded_size = coded_size;
  std::array<std::size_t, kMaxPlanes> offsets{};
  std::size_t total = 0;
  for (std::size_t p = 0; p < static_cast<std::size_t>(info(format).planes); ++p) {
    const PlaneExtent extent = plane_extent(format, static_cast<int>(p), coded_size);
    const std::size_t stride = (static_cast<std::size_t>(extent.row_bytes) + kBufferAlignment - 1) /
                               kBufferAlignment * kBufferAlignment;
    view.planes[p].stride = static_cast<std::ptrdiff_t>(stride);
    offsets[p] = total;
    total += stride * static_cast<std::size_t>(extent.rows);
  }
  auto memory = std::make_shared<AlignedBuffer>(total);
  if (memory->data() == nullptr) {
    return Error{ErrorCode::kInternal, "frame of " + size_text(coded_size),
                 "no memory for " + std::to_string(total) + " bytes", "free memory"};
  }
  for (std::size_t p = 0; p < static_cast<std::size_t>(info(format).planes); ++p) {
    view.planes[p].data = reinterpret_cast<const std::uint8_t*>(memory->data() + offsets[p]);
  }
  return SharedFrame(view, std::move(memory));
}

std::uint8_t* mutable_plane(SharedFrame& frame, int plane) {
  SPARING_CHECK(plane >= 0 && plane < kMaxPlanes);
  // The memory was allocated writable by allocate_frame; only the view is const.
  return const_cast<std::uint8_t*>(frame.view().planes[static_cast<std::size_t>(plane)].data);
}

}  // namespace sparing
