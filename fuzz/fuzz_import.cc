// Any frame, options and tensor that the types allow: never a read outside the planes, never a
// write outside the destination, an error or a result, the fast path within its tolerance, and the
// same bytes however many bands it is cut into.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sparing/kernels/import.h"

namespace sparing {
namespace {

constexpr double kTolerance = 0.02;  // of 255, before normalisation

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
  bool rarely() { return whole(0, 15) == 15; }
  template <class Enum>
  Enum enumerator(Enum last) {
    return static_cast<Enum>(whole(0, static_cast<int>(last)));
  }
  // Mostly plain numbers around [low, high], sometimes any bits at all.
  double real(double low, double high) {
    switch (whole(0, 31)) {
      case 31: return raw<double>();
      case 1:
      case 2:
      case 3:
      case 4: return std::floor(low + (high - low) * raw<std::uint16_t>() / 65535.0);
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
  // By how many times samples may exceed what their bits can hold. Float arithmetic is as many
  // times less exact then.
  double excess = 1;
};

// Noise of 2-byte samples under a mask; all ones for 1-byte samples.
void fill(std::uint8_t* bytes, std::ptrdiff_t count, std::uint32_t state, unsigned mask) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    bytes[i] = static_cast<std::uint8_t>((state >> 24) & (i % 2 == 0 ? mask : mask >> 8));
  }
}

ColorSpace make_color_space(Input& input) {
  ColorSpace space;
  space.matrix = input.enumerator(ColorMatrix::kBt2020);
  space.range = input.enumerator(ColorRange::kFull);
  space.transfer = input.enumerator(ColorTransfer::kHlg);
  space.siting = input.enumerator(ChromaSiting::kTopLeft);
  return space;
}

Frame make_frame(Input& input) {
  Frame frame;
  VideoFrame& view = frame.view;
  view.format = input.enumerator(kPixelFormats.back().format);
  view.coded_size = {input.whole(1, 80), input.whole(1, 40)};
  const SampleLayout& sample = info(view.format).sample;
  const bool small = sample.bytes == 2 && sample.bits + sample.shift < 16;
  const bool in_range = !small || !input.rarely();
  const unsigned mask = small && in_range ? (1u << sample.bits) - 1 : 0xFFFF;
  if (!in_range) frame.excess = 1 << (16 - sample.bits - sample.shift);
  for (int p = 0; p < info(view.format).planes; ++p) {
    const PlaneExtent extent = plane_extent(view.format, p, view.coded_size);
    // Even, so that the bytes of 2-byte samples fall on the mask's.
    const std::ptrdiff_t stride = extent.row_bytes + input.whole(0, 4) * (small ? 2 : 1);
    const std::ptrdiff_t bytes = (extent.rows - 1) * stride + extent.row_bytes;
    const int misalign = input.whole(0, 3);
    auto& block =
        frame.blocks.emplace_back(new std::uint8_t[static_cast<std::size_t>(bytes + misalign)]);
    fill(block.get() + misalign, bytes, input.raw<std::uint32_t>(), mask);
    const bool bottom_up = input.chance();
    Plane& plane = view.planes[static_cast<std::size_t>(p)];
    plane.data = block.get() + misalign + (bottom_up ? (extent.rows - 1) * stride : 0);
    plane.stride = bottom_up ? -stride : stride;
  }
  if (input.chance()) {
    view.rotation = static_cast<Rotation>(input.whole(0, 3) * 90);
    view.flip = input.chance();
  }
  view.color_space = make_color_space(input);
  if (input.chance()) {
    const double width = view.coded_size.width;
    const double height = view.coded_size.height;
    view.visible_rect = {input.real(0, width / 2), input.real(0, height / 2),
                         input.real(0, width / 2), input.real(0, height / 2)};
  }
  return frame;
}

void choose_values(Input& input, const TensorView& tensor, ImportOptions& options) {
  if (input.chance()) {
    for (std::size_t c = 0; c < 3; ++c) {
      options.mean[c] = static_cast<float>(input.real(-10, 300));
      options.std[c] = static_cast<float>(input.real(-3, 300));
    }
  }
  for (float& pad : options.pad) pad = static_cast<float>(input.real(0, 255));
  const bool floating = tensor.type == DataType::kFloat32 || tensor.type == DataType::kFloat16 ||
                        tensor.type == DataType::kBfloat16;
  if (floating ? input.rarely() : input.chance()) {
    options.quantization.scale = static_cast<float>(input.real(-1, 4));
    options.quantization.zero_point = input.rarely() ? input.raw<int>() : input.whole(0, 400) - 200;
  }
  if (input.chance()) options.alpha = static_cast<float>(input.real(-1, 256));
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
  choose_values(input, tensor, options);
  options.order = input.enumerator(ChannelOrder::kBgr);
  options.fit = input.enumerator(Fit::kCrop);
  options.anchor = input.enumerator(Anchor::kTopLeft);
  options.filter = input.enumerator(Filter::kAuto);
  options.outside = input.enumerator(Outside::kPad);
  options.chroma = input.enumerator(ChromaUpsampling::kReplicate);
  if (input.chance()) {
    options.orientation = {static_cast<Rotation>(input.whole(0, 3) * 90), input.chance()};
  }
  if (input.chance()) options.color_space = make_color_space(input);
  options.batch_index = input.rarely() ? tensor.batch : input.whole(0, tensor.batch - 1);
  if (input.chance()) {
    options.destination = {input.whole(-1, 20), input.whole(-1, 20), input.whole(0, 50),
                           input.whole(0, 50)};
  }
  return options;
}

template <class T>
T load(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

// A 16-bit float of the given split, from the definition of the format.
double small_float(std::uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int top = (1 << exponent_bits) - 1;
  const int exponent = bits >> mantissa_bits & top;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = bits >> 15 == 0 ? 1 : -1;
  if (exponent == top) return mantissa == 0 ? sign * HUGE_VAL : std::nan("");
  const int least = 1 - top / 2 - mantissa_bits;  // exponent of the last place of subnormals
  if (exponent == 0) return sign * std::ldexp(mantissa, least);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), least + exponent - 1);
}

double element(DataType type, const std::byte* address) {
  switch (type) {
    case DataType::kFloat32: return load<float>(address);
    case DataType::kFloat16: return small_float(load<std::uint16_t>(address), 5, 10);
    case DataType::kBfloat16: return small_float(load<std::uint16_t>(address), 8, 7);
    case DataType::kUint8: return load<std::uint8_t>(address);
    case DataType::kInt8: return load<std::int8_t>(address);
    case DataType::kInt32: return load<std::int32_t>(address);
    case DataType::kInt64: return static_cast<double>(load<std::int64_t>(address));
  }
  return 0;
}

// Half a unit in the last place of a float of the type around `value`.
double half_ulp(DataType type, double value) {
  if (type == DataType::kFloat32) return 0;
  const bool half = type == DataType::kFloat16;
  const int exponent = std::max(value == 0 ? -1000 : std::ilogb(value), half ? -14 : -126);
  return std::ldexp(1.0, exponent - (half ? 11 : 8));
}

struct Tensor {
  std::unique_ptr<std::byte[]> block;
  std::size_t bytes = 0;
  TensorView view;
};

struct Job {
  const ImportOptions& options;
  double tolerance;  // before normalisation
};

// What the fast path may differ by from the exact value of a colour channel.
double tolerance(const Job& job, DataType type, int channel, double exact) {
  const ImportOptions& options = job.options;
  const double unit =
      std::fabs(static_cast<double>(options.std[static_cast<std::size_t>(channel)]));
  switch (type) {
    case DataType::kFloat32:
    case DataType::kFloat16:
    case DataType::kBfloat16: return job.tolerance / unit + half_ulp(type, exact);
    default: break;
  }
  const double step = unit * std::fabs(static_cast<double>(options.quantization.scale));
  // Both are rounded: a difference below half a step may be a step.
  return step >= 1 && job.tolerance < 0.5 ? 1 : 1 + job.tolerance / step;
}

// All three have the same dimensions. `plain` is the reference; for floating-point types `exact` is
// the same in float32, for integers it is `plain` again.
void compare(const Tensor& fast, const Tensor& plain, const Tensor& exact, const Job& job) {
  const ImportOptions& options = job.options;
  const TensorView& a = fast.view;
  const auto address = [](const TensorView& t, int n, int c, int y, int x) {
    return t.data + n * t.stride_n + c * t.stride_c + y * t.stride_y + x * t.stride_x;
  };
  for (int n = 0; n < a.batch; ++n) {
    for (int c = 0; c < a.channels; ++c) {
      for (int y = 0; y < a.height; ++y) {
        for (int x = 0; x < a.width; ++x) {
          const std::byte* const p = address(a, n, c, y, x);
          const std::byte* const q = address(plain.view, n, c, y, x);
          if (std::memcmp(p, q, info(a.type).size) == 0) continue;
          const double value = element(a.type, p);
          if (value == element(a.type, q)) continue;  // 0 and -0
          require(n == options.batch_index && c < 3, "another image and alpha are exact");
          const double wanted = element(exact.view.type, address(exact.view, n, c, y, x));
          require(!std::isnan(value), "a value is a number");
          if (std::fabs(value - wanted) <= tolerance(job, a.type, c, wanted)) continue;
          std::fprintf(stderr, "%s, channel %d of %d, at %d,%d: %.9g instead of %.9g, std %g\n",
                       std::string(info(a.type).name).c_str(), c, a.channels, x, y, value, wanted,
                       static_cast<double>(options.std[static_cast<std::size_t>(c)]));
          require(false, "fast path within the tolerance");
        }
      }
    }
  }
}

// `gap` elements lie between rows, or between pixels of NHWC.
Tensor make_tensor(Shape shape, DataType type, Layout layout, int gap, int misalign) {
  const auto channels = static_cast<int>(shape[layout == Layout::kNchw ? 1 : 3]);
  const auto width = static_cast<int>(shape[layout == Layout::kNchw ? 3 : 2]);
  shape[3] += gap;
  Tensor tensor;
  tensor.bytes = static_cast<std::size_t>(*element_count(shape)) * info(type).size +
                 static_cast<std::size_t>(misalign);
  tensor.block.reset(new std::byte[tensor.bytes]);
  std::memset(tensor.block.get(), 0xA5, tensor.bytes);
  tensor.view = dense_view(tensor.block.get() + misalign, type, shape, layout);
  tensor.view.channels = channels;
  tensor.view.width = width;
  return tensor;
}

bool untouched(const Tensor& tensor) {
  return std::all_of(tensor.block.get(), tensor.block.get() + tensor.bytes,
                     [](std::byte b) { return b == std::byte{0xA5}; });
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.bytes == b.bytes && std::memcmp(a.block.get(), b.block.get(), a.bytes) == 0;
}

// Elements of the destination are written over with the canary: what is left was written outside.
bool only_destination_written(Tensor& tensor, const ImportOptions& options) {
  const TensorView& view = tensor.view;
  const PixelRect rect = options.destination.value_or(PixelRect{0, 0, view.width, view.height});
  for (int c = 0; c < view.channels; ++c) {
    for (int y = rect.y; y < rect.y + rect.height; ++y) {
      for (int x = rect.x; x < rect.x + rect.width; ++x) {
        std::memset(view.data + options.batch_index * view.stride_n + c * view.stride_c +
                        y * view.stride_y + x * view.stride_x,
                    0xA5, info(view.type).size);
      }
    }
  }
  return untouched(tensor);
}

// Bands one after the other, the last one first.
void backwards(int count, const std::function<void(int)>& body) {
  while (count > 0) body(--count);
}

void run(Input& input) {
  const Frame frame = make_frame(input);
  const DataType type = input.chance() ? DataType::kFloat32 : input.enumerator(DataType::kInt64);
  const Layout layout = input.chance() ? Layout::kNhwc : Layout::kNchw;
  const int batch = input.whole(1, 2);
  const int channels = input.chance() ? 3 : input.rarely() ? 2 : input.chance() ? 1 : 4;
  const int height = input.whole(1, 40);
  const int width = input.whole(1, 80);
  const Shape shape = layout == Layout::kNchw ? Shape{batch, channels, height, width}
                                              : Shape{batch, height, width, channels};
  const int misalign = input.whole(0, 3);
  const int gap = input.chance() ? input.whole(0, 2) : 0;
  Tensor fast = make_tensor(shape, type, layout, gap, misalign);
  const Tensor banded = make_tensor(shape, type, layout, gap, misalign);
  const Tensor plain = make_tensor(shape, type, layout, gap, misalign);
  const ImportOptions options = make_options(input, frame.view, fast.view);

  const Result<Affine> result = import_frame(frame.view, options, fast.view);
  const Result<Affine> in_bands =
      import_frame(frame.view, options, banded.view, input.whole(1, 9), backwards);
  const Result<Affine> expected = import_frame_reference(frame.view, options, plain.view);
  require(result.ok() == expected.ok() && result.ok() == in_bands.ok(), "all accept or all refuse");
  if (!result.ok()) {
    require(!result.error().to_string().empty(), "an error says something");
    require(untouched(fast) && untouched(banded) && untouched(plain), "errors come before writing");
    return;
  }
  require(*result == *expected && *result == *in_bands, "the same map");
  require(same_bytes(fast, banded), "bands change nothing");
  const Job job{options, kTolerance * frame.excess};
  if (type == DataType::kFloat16 || type == DataType::kBfloat16) {
    const Tensor exact = make_tensor(shape, DataType::kFloat32, layout, gap, 0);
    require(import_frame_reference(frame.view, options, exact.view).ok(), "any type will do");
    compare(fast, plain, exact, job);
  } else {
    compare(fast, plain, plain, job);
  }
  require(only_destination_written(fast, options), "nothing outside the destination is written");
}

}  // namespace
}  // namespace sparing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sparing::Input input(data, size);
  sparing::run(input);
  return 0;
}
