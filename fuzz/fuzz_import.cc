// Any frame, options and tensor that the types allow: never a read outside the planes, never a
// write outside the destination, an error or a result, and the fast path within its tolerance.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "sparing/kernels/import.h"

namespace sparing {
namespace {

constexpr double kTolerance = 0.02;
constexpr float kMaxMean = 1e4f;  // beyond, float32 itself is coarser than the tolerance
constexpr float kMinStd = 1e-30f;
constexpr float kMaxStd = 1e30f;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// Reads values off the input; zeros when it has run out.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  template <class T>
  T raw() {
    T value{};
    const std::size_t count = std::min(sizeof value, size_);
    std::memcpy(&value, data_, count);
    data_ += count;
    size_ -= count;
    return value;
  }
  int whole(int low, int high) {
    return low + static_cast<int>(raw<std::uint16_t>() % static_cast<unsigned>(high - low + 1));
  }
  bool chance() { return whole(0, 1) == 1; }
  // Mostly plain numbers around [low, high], sometimes any bits at all.
  double real(double low, double high) {
    switch (whole(0, 7)) {
      case 0: return raw<double>();
      case 1:
      case 2: return std::floor(low + (high - low) * raw<std::uint16_t>() / 65535.0);
      default: return low + (high - low) * raw<std::uint16_t>() / 65535.0;
    }
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

// Planes in heap blocks of exactly the bytes that may be read.
struct Frame {
  VideoFrame view;
  std::vector<std::unique_ptr<std::uint8_t[]>> blocks;
};

Frame make_frame(Input& input) {
  Frame frame;
  VideoFrame& view = frame.view;
  view.format = kPixelFormats[static_cast<std::size_t>(
                                  input.whole(0, static_cast<int>(kPixelFormats.size()) - 1))]
                    .format;
  if (input.chance()) view.format = input.chance() ? PixelFormat::kNv12 : PixelFormat::kI420;
  view.coded_size = {input.whole(1, 80), input.whole(1, 40)};
  for (int p = 0; p < info(view.format).planes; ++p) {
    const PlaneExtent extent = plane_extent(view.format, p, view.coded_size);
    const std::ptrdiff_t stride = extent.row_bytes + input.whole(0, 9);
    const std::ptrdiff_t bytes = (extent.rows - 1) * stride + extent.row_bytes;
    auto& block = frame.blocks.emplace_back(new std::uint8_t[static_cast<std::size_t>(bytes)]);
    std::uint32_t state = input.raw<std::uint32_t>();
    for (std::ptrdiff_t i = 0; i < bytes; ++i) {
      state = state * 1664525u + 1013904223u;
      block[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(state >> 24);
    }
    const bool bottom_up = input.chance();
    Plane& plane = view.planes[static_cast<std::size_t>(p)];
    plane.data = block.get() + (bottom_up ? (extent.rows - 1) * stride : 0);
    plane.stride = bottom_up ? -stride : stride;
  }
  // Upright half of the time: the fast path.
  view.rotation = static_cast<Rotation>(std::max(0, input.whole(0, 5) - 2) * 90);
  view.flip = input.whole(0, 5) == 5;
  view.color_space.matrix = static_cast<ColorMatrix>(input.whole(0, 3));
  view.color_space.range = static_cast<ColorRange>(input.whole(0, 2));
  view.color_space.siting = static_cast<ChromaSiting>(input.whole(0, 3));
  if (input.chance()) {
    const double width = view.coded_size.width;
    const double height = view.coded_size.height;
    view.visible_rect = {input.real(0, width / 2), input.real(0, height / 2),
                         input.real(0, width / 2), input.real(0, height / 2)};
  }
  return frame;
}

ImportOptions make_options(Input& input, const VideoFrame& frame, const TensorView& tensor) {
  ImportOptions options;
  const double width = frame.coded_size.width;
  const double height = frame.coded_size.height;
  if (input.chance()) {
    options.visible_rect = Rect{input.real(-width, width), input.real(-height, height),
                                input.real(0, 2 * width), input.real(0, 2 * height)};
    if (input.chance()) {  // scale 1
      options.visible_rect->width = tensor.width;
      options.visible_rect->height = tensor.height;
    }
  }
  if (input.chance()) {
    for (std::size_t c = 0; c < 3; ++c) {
      options.mean[c] = static_cast<float>(input.real(-10, 300));
      options.std[c] = static_cast<float>(input.real(-3, 300));
    }
  }
  options.order = input.chance() ? ChannelOrder::kBgr : ChannelOrder::kRgb;
  options.fit = input.chance() ? Fit::kLetterbox : Fit::kStretch;
  options.anchor = input.chance() ? Anchor::kTopLeft : Anchor::kCenter;
  for (float& pad : options.pad) pad = static_cast<float>(input.real(0, 255));
  options.batch_index = input.whole(0, tensor.batch);
  if (input.chance()) {
    options.destination = {input.whole(-1, 20), input.whole(-1, 20), input.whole(0, 50),
                           input.whole(0, 50)};
  }
  return options;
}

double float_at(const std::byte* address) {
  float value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

// Both tensors have the same strides. Float32 may differ by the tolerance, the others by nothing.
void compare(const TensorView& a, const TensorView& b, const ImportOptions& options) {
  for (int n = 0; n < a.batch; ++n) {
    for (int c = 0; c < a.channels; ++c) {
      const float mean = options.mean[static_cast<std::size_t>(c)];
      const float std = std::fabs(options.std[static_cast<std::size_t>(c)]);
      if (!(std::fabs(mean) < kMaxMean && std > kMinStd && std < kMaxStd)) continue;
      for (int y = 0; y < a.height; ++y) {
        for (int x = 0; x < a.width; ++x) {
          const std::ptrdiff_t at =
              n * a.stride_n + c * a.stride_c + y * a.stride_y + x * a.stride_x;
          if (std::memcmp(a.data + at, b.data + at, info(a.type).size) == 0) continue;
          require(a.type == DataType::kFloat32, "only the fast path may differ");
          const double difference = std::fabs(float_at(a.data + at) - float_at(b.data + at)) * std;
          require(difference <= kTolerance, "fast path within the tolerance");
        }
      }
    }
  }
}

struct Tensor {
  std::unique_ptr<std::byte[]> block;
  std::size_t bytes = 0;
  TensorView view;
};

Tensor make_tensor(const Shape& shape, DataType type, Layout layout, int misalign) {
  Tensor tensor;
  tensor.bytes = static_cast<std::size_t>(*element_count(shape)) * info(type).size +
                 static_cast<std::size_t>(misalign);
  tensor.block.reset(new std::byte[tensor.bytes]);
  std::memset(tensor.block.get(), 0xA5, tensor.bytes);
  tensor.view = dense_view(tensor.block.get() + misalign, type, shape, layout);
  return tensor;
}

bool untouched(const Tensor& tensor) {
  return std::all_of(tensor.block.get(), tensor.block.get() + tensor.bytes,
                     [](std::byte b) { return b == std::byte{0xA5}; });
}

void run(Input& input) {
  const Frame frame = make_frame(input);
  const DataType type = input.chance()
                            ? DataType::kFloat32
                            : kDataTypes[static_cast<std::size_t>(input.whole(
                                             0, static_cast<int>(kDataTypes.size()) - 1))]
                                  .type;
  const Layout layout = input.chance() ? Layout::kNhwc : Layout::kNchw;
  const int batch = input.whole(1, 2);
  const int channels = input.chance() ? 3 : input.whole(1, 4);
  const int height = input.whole(1, 40);
  const int width = input.whole(1, 80);
  const Shape shape = layout == Layout::kNchw ? Shape{batch, channels, height, width}
                                              : Shape{batch, height, width, channels};
  const int misalign = input.whole(0, 3);
  const Tensor fast = make_tensor(shape, type, layout, misalign);
  const Tensor plain = make_tensor(shape, type, layout, misalign);
  const ImportOptions options = make_options(input, frame.view, fast.view);

  const Result<Affine> result = import_frame(frame.view, options, fast.view);
  const Result<Affine> expected = import_frame_reference(frame.view, options, plain.view);
  require(result.ok() == expected.ok(), "both accept or both refuse");
  if (!result.ok()) {
    require(!result.error().to_string().empty(), "an error says something");
    require(untouched(fast) && untouched(plain), "errors come before writing");
    return;
  }
  require(*result == *expected, "the same map");
  compare(fast.view, plain.view, options);
}

}  // namespace
}  // namespace sparing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sparing::Input input(data, size);
  sparing::run(input);
  return 0;
}
