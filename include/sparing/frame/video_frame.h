// A decoded picture: VideoFrame is a view (no ownership), SharedFrame keeps the memory alive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/base/timestamp.h"
#include "sparing/frame/pixel_format.h"

namespace sparing {

enum class ColorMatrix { kUnspecified, kBt601, kBt709, kBt2020 };
enum class ColorRange { kUnspecified, kLimited, kFull };
enum class ColorPrimaries { kUnspecified, kBt601, kBt709, kBt2020 };
enum class ColorTransfer { kUnspecified, kSdr, kPq, kHlg };
// Where a 4:2:0 chroma sample sits among its four luma samples: kLeft (MPEG-2, H.264: between two
// luma rows, on the luma column), kCenter (JPEG), kTopLeft (UHD).
enum class ChromaSiting { kUnspecified, kLeft, kCenter, kTopLeft };

struct ColorSpace {
  ColorMatrix matrix = ColorMatrix::kUnspecified;
  ColorRange range = ColorRange::kUnspecified;
  ColorPrimaries primaries = ColorPrimaries::kUnspecified;
  ColorTransfer transfer = ColorTransfer::kUnspecified;
  ChromaSiting siting = ChromaSiting::kUnspecified;
  friend bool operator==(const ColorSpace&, const ColorSpace&) = default;
};

// kInvalidArgument if a field is not one of its enumerators.
Status validate(const ColorSpace& space);

// The rule for what a stream does not say: matrix from the coded height (BT.709 from 720 rows up,
// else BT.601), limited range, siting left. Fields already specified stay. RGB and grey are
// unaffected by matrix and siting, which stay as they are; their unspecified range is full.
// Primaries and transfer stay as they are too: nothing here depends on them.
ColorSpace resolve(ColorSpace space, PixelFormat format, Size coded_size);

// Whether the transfer function is PQ or HLG: imported as it is, such a picture looks flat and dark
// to a network trained on SDR pictures, for nothing here maps tones.
bool is_hdr(const ColorSpace& space);

// Clockwise rotation that brings the coded picture upright.
enum class Rotation { k0 = 0, k90 = 90, k180 = 180, k270 = 270 };

struct Plane {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t stride = 0;  // bytes from one row to the next; may be negative
};

enum class FrameStorage {
  kCpu,           // planes are readable memory
  kDeviceHandle,  // opaque accelerator memory; every call refuses it with kNotSupported today
};

// View of one decoded frame. Copying it copies no pixels; it is valid as long as the memory is.
// Reading it from several threads is safe.
struct VideoFrame {
  PixelFormat format = PixelFormat::kI420;
  Size coded_size;  // of the planes, in luma samples, before rotation
  std::array<Plane, kMaxPlanes> planes{};
  Rect visible_rect;  // in coded coordinates; the whole coded picture when empty
  Rotation rotation = Rotation::k0;
  bool flip = false;  // mirrored left to right after rotation
  ColorSpace color_space;
  Timestamp timestamp;
  Timestamp duration;  // 0 ticks when unknown
  FrameStorage storage = FrameStorage::kCpu;
  void* device_handle = nullptr;
};

// The rectangle to show: visible_rect, or the whole coded picture when that is empty.
Rect visible_rect(const VideoFrame& frame);
// The same rectangle in display coordinates, where box coordinates of results are too: (0, 0) and
// its exact extent after rotation.
Rect display_rect(const VideoFrame& frame);
// Its size on the screen in whole pixels: rounded to the nearest (half up), at least 1 x 1.
Size display_size(const VideoFrame& frame);
// From display coordinates (upright, origin at the visible rectangle's displayed corner) to coded
// coordinates.
Affine display_to_coded(const VideoFrame& frame);

inline constexpr int kMaxFrameExtent = 16384;

// kInvalidArgument if the format, the rotation or a field of the colour space is not one of the
// enumerators, sizes are not in
// 1..kMaxFrameExtent, a plane of the format is null, a |stride| is shorter than a row, or the
// visible rectangle is not finite, has a negative extent, or reaches outside the coded picture;
// kNotSupported for a device frame.
Status validate(const VideoFrame& frame);

// A frame and what keeps its memory alive: a decoder's reference-counted buffer (not copied), or
// memory of our own. Copying shares; the last copy releases. Move and copy are thread-safe as
// std::shared_ptr's are.
class SharedFrame {
 public:
  SharedFrame() = default;
  SharedFrame(const VideoFrame& view, std::shared_ptr<const void> owner)
      : view_(view), owner_(std::move(owner)) {}

  const VideoFrame& view() const { return view_; }
  VideoFrame& view() { return view_; }
  explicit operator bool() const { return owner_ != nullptr; }
  long use_count() const { return owner_.use_count(); }

 private:
  VideoFrame view_;
  std::shared_ptr<const void> owner_;
};

// A new frame with its own zeroed memory (rows aligned to 64 bytes). `planes` of the view point
// into it; write through mutable_plane. kInvalidArgument for sizes not in 1..kMaxFrameExtent,
// kInternal when there is no memory.
Result<SharedFrame> allocate_frame(PixelFormat format, Size coded_size);
// For the owner of a frame made by allocate_frame, before it is shared.
std::uint8_t* mutable_plane(SharedFrame& frame, int plane);

}  // namespace sparing
