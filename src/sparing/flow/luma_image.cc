#include "sparing/flow/luma_image.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "sparing/base/check.h"

namespace sparing {
namespace {

// The visible rectangle on whole samples.
PixelRect whole_samples(const VideoFrame& frame) {
  const Rect visible = visible_rect(frame);
  const auto span = [](double from, double to, int limit) {
    const int first = std::clamp(static_cast<int>(std::lround(from)), 0, limit - 1);
    const int last = std::clamp(static_cast<int>(std::lround(to)), first + 1, limit);
    return std::pair{first, last - first};
  };
  const auto [x, width] = span(visible.x, visible.right(), frame.coded_size.width);
  const auto [y, height] = span(visible.y, visible.bottom(), frame.coded_size.height);
  return {x, y, width, height};
}

// How one axis of the coded picture is cut into boxes. The grid begins where the display begins, so
// on an axis that is shown backwards it is the first box that may be smaller.
struct Axis {
  int begin = 0;  // sample
  int extent = 0;
  int factor = 1;
  bool backwards = false;

  int boxes() const { return (extent + factor - 1) / factor; }
  std::pair<int, int> box(int i) const {  // samples [first, last)
    const int slack = backwards ? boxes() * factor - extent : 0;
    const int first = i * factor - slack;
    return {begin + std::max(first, 0), begin + std::min(first + factor, extent)};
  }
};

// Sums of the boxes of one row of bytes that lie side by side, added to `sums`.
template <int kFactor>
void add_byte_boxes(const std::uint8_t* row, std::size_t boxes, std::uint16_t* sums) {
  for (std::size_t i = 0; i < boxes; ++i) {
    unsigned sum = 0;
    for (std::size_t k = 0; k < kFactor; ++k) sum += row[i * kFactor + k];
    sums[i] = static_cast<std::uint16_t>(sums[i] + sum);
  }
}

// The same for pairs, which as 16-bit words need no shuffles; the sum is the same in either byte
// order.
template <>
void add_byte_boxes<2>(const std::uint8_t* row, std::size_t boxes, std::uint16_t* sums) {
  for (std::size_t i = 0; i < boxes; ++i) {
    std::uint16_t pair;
    std::memcpy(&pair, row + 2 * i, sizeof pair);
    sums[i] = static_cast<std::uint16_t>(sums[i] + (pair & 0xff) + (pair >> 8));
  }
}

// BT.601's weights in 1/65536; they add up to 65536.
constexpr unsigned rgb_luma(unsigned red, unsigned green, unsigned blue) {
  return (19595 * red + 38470 * green + 7471 * blue + 32768) >> 16;
}

// Reads luma samples as numbers on the format's scale.
class SampleReader {
 public:
  explicit SampleReader(const VideoFrame& frame) : frame_(frame), format_(info(frame.format)) {}

  int bits() const { return format_.sample.bits; }

  unsigned luma(int x, int y) const {
    if (format_.model != ColorModel::kRgb) return component(0, x, y);
    return rgb_luma(component(0, x, y), component(1, x, y), component(2, x, y));
  }

 private:
  unsigned component(int index, int x, int y) const {
    const ComponentLayout& layout = format_.components[static_cast<std::size_t>(index)];
    const Plane& plane = frame_.planes[static_cast<std::size_t>(layout.plane)];
    const std::uint8_t* bytes = plane.data + y * plane.stride +
                                static_cast<std::ptrdiff_t>(x) * layout.step + layout.offset;
    if (format_.sample.bytes == 1) return *bytes;
    return static_cast<unsigned>(bytes[0] | bytes[1] << 8) >> format_.sample.shift;
  }

  const VideoFrame& frame_;
  const PixelFormatInfo& format_;
};

// Rows of the coded picture's luma as bytes, where samples are bytes: those of the frame itself, or
// of red, green and blue weighted.
class ByteRows {
 public:
  static bool apply_to(const VideoFrame& frame) {
    const PixelFormatInfo& format = info(frame.format);
    if (format.sample.bytes != 1) return false;
    if (format.model == ColorModel::kRgb) return format.planes == 1;
    return format.components[0].step == 1;
  }

  // Columns `begin` to `begin + extent` are wanted.
  ByteRows(const VideoFrame& frame, int begin, int extent)
      : plane_(frame.planes[static_cast<std::size_t>(info(frame.format).components[0].plane)]),
        format_(info(frame.format)),
        begin_(begin),
        extent_(extent) {
    if (format_.model == ColorModel::kRgb) weighted_.resize(static_cast<std::size_t>(extent));
  }

  // The sample in column `begin` of row y. Valid until the next call.
  const std::uint8_t* row(int y) {
    const ComponentLayout& first = format_.components[0];
    const std::uint8_t* bytes =
        plane_.data + y * plane_.stride + static_cast<std::ptrdiff_t>(begin_) * first.step;
    if (format_.model != ColorModel::kRgb) return bytes + first.offset;
    if (first.step == 3) {
      weigh<3>(bytes);
    } else {
      weigh<4>(bytes);
    }
    return weighted_.data();
  }

 private:
  template <std::ptrdiff_t kStep>
  void weigh(const std::uint8_t* pixel) {
    const int red = format_.components[0].offset;
    const int green = format_.components[1].offset;
    const int blue = format_.components[2].offset;
    std::uint8_t* out = weighted_.data();
    for (int x = 0; x < extent_; ++x, pixel += kStep) {
      out[x] = static_cast<std::uint8_t>(rgb_luma(pixel[red], pixel[green], pixel[blue]));
    }
  }

  const Plane& plane_;
  const PixelFormatInfo& format_;
  int begin_;
  int extent_;
  std::vector<std::uint8_t> weighted_;
};

struct Reduction {
  Axis columns;
  Axis rows;
};

void reduce_bytes(const VideoFrame& frame, const Reduction& reduction, std::uint8_t* out) {
  const Axis& columns = reduction.columns;
  ByteRows rows(frame, columns.begin, columns.extent);
  const int factor = columns.factor;
  const auto boxes = static_cast<std::size_t>(columns.boxes());
  // Whole boxes are summed in one go; a smaller one at either end is done by itself.
  const bool small_first = columns.backwards && columns.extent % factor != 0;
  const std::size_t skipped = small_first ? 1 : 0;
  const auto whole = static_cast<std::size_t>(columns.extent / factor);
  std::vector<std::uint16_t> sums(boxes);
  for (int j = 0; j < reduction.rows.boxes(); ++j) {
    std::uint8_t* line = out + static_cast<std::size_t>(j) * boxes;
    const auto [top, bottom] = reduction.rows.box(j);
    if (factor == 1) {
      std::memcpy(line, rows.row(top), boxes);
      continue;
    }
    std::fill(sums.begin(), sums.end(), std::uint16_t{0});
    for (int y = top; y < bottom; ++y) {
      const std::uint8_t* row = rows.row(y);
      const std::uint8_t* first =
          row + columns.box(static_cast<int>(skipped)).first - columns.begin;
      if (factor == 2) {
        add_byte_boxes<2>(first, whole, sums.data() + skipped);
      } else {
        add_byte_boxes<4>(first, whole, sums.data() + skipped);
      }
      if (whole == boxes) continue;
      const std::size_t rest = small_first ? 0 : whole;
      const auto [left, right] = columns.box(static_cast<int>(rest));
      for (int x = left - columns.begin; x < right - columns.begin; ++x)
        sums[rest] = static_cast<std::uint16_t>(sums[rest] + row[x]);
    }
    const int height = bottom - top;
    if (height == factor && factor == 2) {
      for (std::size_t i = 0; i < boxes; ++i) {
        line[i] = static_cast<std::uint8_t>((sums[i] + 2) >> 2);
      }
    } else if (height == factor) {
      for (std::size_t i = 0; i < boxes; ++i) {
        line[i] = static_cast<std::uint8_t>((sums[i] + 8) >> 4);
      }
    } else {
      for (std::size_t i = 0; i < boxes; ++i) {
        const int count = height * factor;
        line[i] = static_cast<std::uint8_t>((sums[i] + count / 2) / count);
      }
    }
    if (whole != boxes) {
      const std::size_t rest = small_first ? 0 : whole;
      const int count = height * (columns.extent % factor);
      line[rest] = static_cast<std::uint8_t>((sums[rest] + count / 2) / count);
    }
  }
}

void reduce_samples(const VideoFrame& frame, const Reduction& reduction, std::uint8_t* out) {
  const SampleReader reader(frame);
  const int down = reader.bits() - 8;
  for (int j = 0; j < reduction.rows.boxes(); ++j) {
    const auto [top, bottom] = reduction.rows.box(j);
    for (int i = 0; i < reduction.columns.boxes(); ++i) {
      const auto [left, right] = reduction.columns.box(i);
      unsigned sum = 0;
      for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) sum += reader.luma(x, y);
      }
      const auto count = static_cast<unsigned>((bottom - top) * (right - left)) << down;
      *out++ = static_cast<std::uint8_t>(std::min(255u, (sum + count / 2) / count));
    }
  }
}

// Where pixel (0, 0) of the upright picture and its neighbours to the right and below lie in the
// coded one.
struct Walk {
  std::ptrdiff_t origin = 0;
  std::ptrdiff_t right = 1;
  std::ptrdiff_t down = 1;
};

Walk upright_walk(const Affine& map, Size coded) {
  // Only the signs and the swap matter: both pictures are on the same grid of boxes.
  Walk walk;
  const std::ptrdiff_t stride = coded.width;
  const auto sign = [](double v) { return static_cast<std::ptrdiff_t>(std::lround(v)); };
  walk.right = sign(map.a) + sign(map.c) * stride;
  walk.down = sign(map.b) + sign(map.d) * stride;
  if (map.a + map.b < 0) walk.origin += coded.width - 1;
  if (map.c + map.d < 0) walk.origin += static_cast<std::ptrdiff_t>(coded.height - 1) * stride;
  return walk;
}

}  // namespace

Status LumaImage::extract(const VideoFrame& frame, int factor) {
  SPARING_RETURN_IF_ERROR(validate(frame));
  if (factor != 1 && factor != 2 && factor != 4) {
    return Error{ErrorCode::kInvalidArgument, "reduction factor of the luma",
                 std::to_string(factor) + " is not supported", "give 1, 2 or 4"};
  }
  const PixelRect visible = whole_samples(frame);
  const Affine map = display_to_coded(frame);
  const Reduction reduction{{visible.x, visible.width, factor, map.a + map.b < 0},
                            {visible.y, visible.height, factor, map.c + map.d < 0}};
  const Size coded{reduction.columns.boxes(), reduction.rows.boxes()};
  pixels_.resize(static_cast<std::size_t>(coded.width) * static_cast<std::size_t>(coded.height));
  if (ByteRows::apply_to(frame)) {
    reduce_bytes(frame, reduction, pixels_.data());
  } else {
    reduce_samples(frame, reduction, pixels_.data());
  }
  factor_ = factor;
  size_ = coded;
  display_size_ = {visible.width, visible.height};
  if (map.a == 1 && map.d == 1) return {};

  const bool turned = map.a == 0;
  if (turned) {
    std::swap(size_.width, size_.height);
    std::swap(display_size_.width, display_size_.height);
  }
  const Walk walk = upright_walk(map, coded);
  upright_.resize(pixels_.size());
  std::uint8_t* out = upright_.data();
  for (int y = 0; y < size_.height; ++y) {
    const std::uint8_t* from = pixels_.data() + walk.origin + y * walk.down;
    for (int x = 0; x < size_.width; ++x) *out++ = from[x * walk.right];
  }
  pixels_.swap(upright_);
  return {};
}

void LumaImage::fill(Size size, int factor, std::uint8_t value) {
  SPARING_CHECK(size.width > 0 && size.height > 0 && factor >= 1);
  size_ = size;
  factor_ = factor;
  display_size_ = {size.width * factor, size.height * factor};
  pixels_.assign(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height),
                 value);
}

}  // namespace sparing
