// The jobs of sparing-bench import: what is brought where. One row of kJobs is one job.
#pragma once

#include <array>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/tensor_view.h"
#include "sparing/frame/pixel_format.h"
#include "sparing/frame/video_frame.h"
#include "sparing/kernels/import.h"

namespace sparing::bench {

enum class Part {
  kWhole,  // the whole frame fills the tensor
  kCrop,   // 200x300 pixels at a fractional offset, another place every time
  kRois,   // 60 regions, each drawn with a border into its own cell of the tensor
};

struct ImportJob {
  const char* id;
  const char* what;
  PixelFormat format;
  Size source;
  Size output;
  DataType type;
  Layout layout;
  Filter filter = Filter::kBilinear;
  Part part = Part::kWhole;
  const char* rivals = "";  // the ratio is against contestants whose names begin so
};

// clang-format off: one row a job
inline constexpr std::array<ImportJob, 9> kImportJobs{{
    {"J1", "1080p NV12 to 640x640 NCHW f32", PixelFormat::kNv12, {1920, 1080}, {640, 640},
     DataType::kFloat32, Layout::kNchw},
    {"J2", "1080p NV12 to 224x224 NCHW f32", PixelFormat::kNv12, {1920, 1080}, {224, 224},
     DataType::kFloat32, Layout::kNchw},
    {"J3", "1080p NV12 to 640x640 NHWC u8", PixelFormat::kNv12, {1920, 1080}, {640, 640},
     DataType::kUint8, Layout::kNhwc},
    {"J4", "4K NV12 to 640x640 NCHW f32", PixelFormat::kNv12, {3840, 2160}, {640, 640},
     DataType::kFloat32, Layout::kNchw},
    {"J5", "720p RGBA to 256x256 NCHW f16", PixelFormat::kRgba, {1280, 720}, {256, 256},
     DataType::kFloat16, Layout::kNchw},
    {"J6", "crop 200x300 of 1080p NV12 to 128x192 NCHW f32", PixelFormat::kNv12, {1920, 1080},
     {128, 192}, DataType::kFloat32, Layout::kNchw, Filter::kBilinear, Part::kCrop},
    {"J7", "J1 with the area filter, against OpenCV", PixelFormat::kNv12, {1920, 1080}, {640, 640},
     DataType::kFloat32, Layout::kNchw, Filter::kArea, Part::kWhole, "opencv"},
    {"J8", "60 regions of 1080p NV12 onto a 640x640 NCHW f32 canvas", PixelFormat::kNv12,
     {1920, 1080}, {640, 640}, DataType::kFloat32, Layout::kNchw, Filter::kBilinear, Part::kRois},
    {"J9", "1080p NV12 to 608x352 NCHW f16", PixelFormat::kNv12, {1920, 1080}, {608, 352},
     DataType::kFloat16, Layout::kNchw},
}};
// clang-format on

// A rectangle of the frame, the rectangle of the tensor that is drawn, and the part of it that
// shows the frame. The rest of it is border.
struct Cell {
  Rect source;
  PixelRect destination;
  PixelRect content;
};

// The input of one call.
struct Shot {
  VideoFrame frame;
  std::vector<Cell> cells;
};

// Every shot of the job before any is seen again, over all of `frames`.
std::vector<Shot> make_shots(const ImportJob& job, const std::vector<SharedFrame>& frames);

// Fills 96 MB with distinct frames: smooth shapes with a little grain, as cameras see them.
Result<std::vector<SharedFrame>> make_frames(PixelFormat format, Size size);

// Our options for one cell: BT.601 limited range with the mean and standard deviation of ImageNet
// (none for integers).
ImportOptions import_options(const ImportJob& job, const Cell& cell);

// The peers' words for mean and std: tensor value = pixel * scale + bias.
struct Normalization {
  std::array<float, 3> scale;
  std::array<float, 3> bias;
};
Normalization normalization(const ImportJob& job);

// Peers cut at whole pixels, and 4:2:0 at even ones.
PixelRect whole_source(const Cell& cell);

}  // namespace sparing::bench
