#include "tensor_picture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace sparing::cli {
namespace {

template <class T>
double load(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return static_cast<double>(value);
}

double load_bfloat16(const std::byte* address) {
  std::uint16_t upper = 0;
  std::memcpy(&upper, address, sizeof upper);
  const std::uint32_t bits = std::uint32_t{upper} << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

double load_float16(const std::byte* address) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, address, sizeof bits);
  const int exponent = bits >> 10 & 0x1f;
  const int mantissa = bits & 0x3ff;
  double magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else {
    const int significand = exponent == 0 ? mantissa : mantissa + 0x400;
    magnitude = std::ldexp(significand, std::max(exponent, 1) - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

bool is_float(DataType type) {
  return type == DataType::kFloat32 || type == DataType::kFloat16 || type == DataType::kBfloat16;
}

std::uint8_t to_byte(double value) {
  if (std::isnan(value)) return 0;
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

}  // namespace

double load_element(const TensorView& tensor, int n, int c, int y, int x) {
  const std::byte* address = tensor.data + n * tensor.stride_n + c * tensor.stride_c +
                             y * tensor.stride_y + x * tensor.stride_x;
  switch (tensor.type) {
    case DataType::kFloat32: return load<float>(address);
    case DataType::kFloat16: return load_float16(address);
    case DataType::kBfloat16: return load_bfloat16(address);
    case DataType::kUint8: return load<std::uint8_t>(address);
    case DataType::kInt8: return load<std::int8_t>(address);
    case DataType::kInt32: return load<std::int32_t>(address);
    case DataType::kInt64: return load<std::int64_t>(address);
  }
  return 0;
}

std::vector<ChannelStatistics> statistics(const TensorView& tensor) {
  std::vector<ChannelStatistics> channels;
  for (int c = 0; c < tensor.channels; ++c) {
    ChannelStatistics s;
    s.min = std::numeric_limits<double>::infinity();
    s.max = -s.min;
    double sum = 0;
    for (int y = 0; y < tensor.height; ++y) {
      for (int x = 0; x < tensor.width; ++x) {
        const double value = load_element(tensor, 0, c, y, x);
        s.min = std::min(s.min, value);
        s.max = std::max(s.max, value);
        sum += value;
      }
    }
    s.mean = sum / (static_cast<double>(tensor.width) * tensor.height);
    channels.push_back(s);
  }
  return channels;
}

std::vector<std::uint8_t> to_picture(const TensorView& tensor, const ImportOptions& options) {
  const int colors = tensor.channels == 1 ? 1 : 3;
  const bool reversed = colors == 3 && options.order == ChannelOrder::kBgr;
  const bool quantized = !is_float(tensor.type);
  std::vector<std::uint8_t> pixels;
  pixels.reserve(static_cast<std::size_t>(tensor.width) * static_cast<std::size_t>(tensor.height) *
                 static_cast<std::size_t>(colors));
  for (int y = 0; y < tensor.height; ++y) {
    for (int x = 0; x < tensor.width; ++x) {
      for (int color = 0; color < colors; ++color) {
        const int c = reversed ? 2 - color : color;
        double value = load_element(tensor, 0, c, y, x);
        if (quantized) {
          value = (value - options.quantization.zero_point) *
                  static_cast<double>(options.quantization.scale);
        }
        const auto channel = static_cast<std::size_t>(c);
        pixels.push_back(to_byte(value * static_cast<double>(options.std[channel]) +
                                 static_cast<double>(options.mean[channel])));
      }
    }
  }
  return pixels;
}

}  // namespace sparing::cli
