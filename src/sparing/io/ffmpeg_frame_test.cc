#include "sparing/io/ffmpeg_frame.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sparing/io/test_samples.h"

extern "C" {
#include <libavutil/display.h>
#include <libavutil/pixdesc.h>
}

namespace sparing::ffmpeg {
namespace {

Frame make_frame(AVPixelFormat format, int width, int height) {
  Frame frame(av_frame_alloc());
  frame->format = format;
  frame->width = width;
  frame->height = height;
  EXPECT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
  return frame;
}

// Calls visit(format, its descriptor) for each pixel format of FFmpeg.
template <class Visit>
void for_each_av_format(Visit&& visit) {
  for (const AVPixFmtDescriptor* d = av_pix_fmt_desc_next(nullptr); d != nullptr;
       d = av_pix_fmt_desc_next(d)) {
    visit(av_pix_fmt_desc_get_id(d), *d);
  }
}

TEST(FrameWrapper, WrapsEveryFormatOfOursWithoutCopying) {
  int wrapped_formats = 0;
  for_each_av_format([&](AVPixelFormat format, const AVPixFmtDescriptor& d) {
    if (!direct_format(format)) return;
    SCOPED_TRACE(d.name);
    ++wrapped_formats;
    Frame frame = make_frame(format, 33, 17);
    const std::array<std::uint8_t*, 4> data{frame->data[0], frame->data[1], frame->data[2],
                                            frame->data[3]};
    AVBufferRef* watch = av_buffer_ref(frame->buf[0]);
    FrameWrapper wrapper;
    {
      auto shared = wrapper.wrap(std::move(frame), {});
      ASSERT_TRUE(shared.ok()) << shared.error().to_string();
      const SharedFrame copy = *shared;
      const VideoFrame& view = copy.view();
      EXPECT_EQ(view.coded_size, (Size{33, 17}));
      for (int p = 0; p < info(view.format).planes; ++p) EXPECT_EQ(view.planes[p].data, data[p]);
      EXPECT_EQ(av_buffer_get_ref_count(watch), 2);
      EXPECT_EQ(copy.use_count(), 2);
    }
    EXPECT_EQ(av_buffer_get_ref_count(watch), 1);  // released with the last copy
    av_buffer_unref(&watch);
  });
  EXPECT_EQ(wrapped_formats, 29);
}

TEST(FrameWrapper, EveryFormatOfOursHasItsCounterpart) {
  for (const PixelFormatInfo& row : kPixelFormats) {
    EXPECT_EQ(direct_format(to_av(row.format)), row.format) << row.name;
  }
}

// FFmpeg's descriptors are an independent account of where samples lie and how they are stored.
TEST(FrameWrapper, LayoutsAreFfmpegsOwn) {
  for_each_av_format([&](AVPixelFormat format, const AVPixFmtDescriptor& d) {
    if (!direct_format(format)) return;
    SCOPED_TRACE(d.name);
    const PixelFormatInfo& ours = info(*direct_format(format));
    EXPECT_EQ((d.flags & AV_PIX_FMT_FLAG_RGB) != 0, ours.model == ColorModel::kRgb);
    EXPECT_EQ(d.nb_components == 1, ours.model == ColorModel::kGray);
    if (ours.sample.bytes == 2) {
      EXPECT_EQ(d.flags & AV_PIX_FMT_FLAG_BE, 0u);
    }
    EXPECT_EQ(d.log2_chroma_w, ours.chroma_shift_x);
    EXPECT_EQ(d.log2_chroma_h, ours.chroma_shift_y);
    int components = 0;
    for (int c = 0; c < 4; ++c) {
      const ComponentLayout& layout = ours.components[static_cast<std::size_t>(c)];
      if (layout.plane < 0) continue;
      ++components;
      SCOPED_TRACE(c);
      EXPECT_EQ(d.comp[c].plane, layout.plane);
      EXPECT_EQ(d.comp[c].step, layout.step);
      EXPECT_EQ(d.comp[c].offset, layout.offset);
      EXPECT_EQ(d.comp[c].shift, ours.sample.shift);
      EXPECT_EQ(d.comp[c].depth, ours.sample.bits);
    }
    // What ours leaves out is alpha, and never in the exact counterpart.
    const bool alpha = (d.flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
    EXPECT_TRUE(components == d.nb_components || (alpha && components + 1 == d.nb_components));
    if (format == to_av(*direct_format(format))) {
      EXPECT_EQ(components, d.nb_components);
    }
  });
}

// Random samples, written by FFmpeg one by one at odd sizes, come out of the wrapped view.
TEST(FrameWrapper, SamplesAreWhereFfmpegPutsThem) {
  std::mt19937 random(7);
  for_each_av_format([&](AVPixelFormat format, const AVPixFmtDescriptor& d) {
    if (!direct_format(format)) return;
    for (const Size size : {Size{1, 1}, Size{33, 17}}) {
      SCOPED_TRACE(std::string(d.name) + " " + std::to_string(size.width));
      Frame frame = make_frame(format, size.width, size.height);
      for (int p = 0; p < 4 && frame->buf[p] != nullptr; ++p) {
        std::memset(frame->buf[p]->data, 0, frame->buf[p]->size);
      }
      const PixelFormatInfo& ours = info(*direct_format(format));
      std::array<std::vector<std::vector<std::uint16_t>>, 4> written;
      for (int c = 0; c < d.nb_components; ++c) {
        const Size grid = testing::component_size(ours, c, size);
        for (int y = 0; y < grid.height; ++y) {
          std::vector<std::uint16_t> row(static_cast<std::size_t>(grid.width));
          for (std::uint16_t& value : row) {
            value = static_cast<std::uint16_t>(random() % (1u << d.comp[c].depth));
          }
          av_write_image_line2(row.data(), frame->data, frame->linesize, &d, 0, y, c, grid.width,
                               2);
          written[static_cast<std::size_t>(c)].push_back(std::move(row));
        }
      }
      FrameWrapper wrapper;
      auto shared = wrapper.wrap(std::move(frame), {});
      ASSERT_TRUE(shared.ok()) << shared.error().to_string();
      const VideoFrame& view = shared->view();
      for (int c = 0; c < 4; ++c) {
        if (ours.components[static_cast<std::size_t>(c)].plane < 0) continue;
        const auto& rows = written[static_cast<std::size_t>(c)];
        for (int y = 0; y < static_cast<int>(rows.size()); ++y) {
          const auto& row = rows[static_cast<std::size_t>(y)];
          for (int x = 0; x < static_cast<int>(row.size()); ++x) {
            ASSERT_EQ(testing::sample(view, c, x, y), row[static_cast<std::size_t>(x)])
                << "component " << c << " at " << x << "," << y;
          }
        }
      }
    }
  });
}

// Of our formats in the other byte order, every number stays.
TEST(FrameWrapper, BigEndianSamplesAreSwapped) {
  int swapped = 0;
  for_each_av_format([&](AVPixelFormat format, const AVPixFmtDescriptor& d) {
    const auto counterpart = direct_format(av_pix_fmt_swap_endianness(format));
    // swscale has no plain swap of P010, but goes by way of its own intermediate format.
    if (direct_format(format) || !counterpart || *counterpart == PixelFormat::kP010) return;
    SCOPED_TRACE(d.name);
    ++swapped;
    EXPECT_EQ(converted_format(format), counterpart);
    Frame frame = make_frame(format, 33, 17);
    frame->color_range = AVCOL_RANGE_MPEG;
    const auto value_at = [&](int x) { return static_cast<std::uint16_t>(300 + 7 * x); };
    for (int c = 0; c < d.nb_components; ++c) {
      const Size grid = testing::component_size(info(*counterpart), c, {33, 17});
      std::vector<std::uint16_t> row;
      for (int x = 0; x < grid.width; ++x) row.push_back(value_at(x + c));
      for (int y = 0; y < grid.height; ++y) {
        std::memset(frame->data[c] + y * frame->linesize[c], 0,
                    static_cast<std::size_t>(2 * grid.width));
        av_write_image_line2(row.data(), frame->data, frame->linesize, &d, 0, y, c, grid.width, 2);
      }
    }
    FrameWrapper wrapper;
    auto shared = wrapper.wrap(std::move(frame), {});
    ASSERT_TRUE(shared.ok()) << shared.error().to_string();
    const VideoFrame& view = shared->view();
    EXPECT_EQ(view.format, *counterpart);
    EXPECT_EQ(view.color_space.range, ColorRange::kLimited);
    for (int c = 0; c < info(view.format).planes; ++c) {
      const Size grid = testing::component_size(info(view.format), c, {33, 17});
      for (int x = 0; x < grid.width; ++x) {
        ASSERT_EQ(testing::sample(view, c, x, grid.height - 1), value_at(x + c)) << c << " " << x;
      }
    }
  });
  EXPECT_EQ(swapped, 7);
}

struct Color {
  double r, g, b;
};

// The first pixel as R, G, B, by the definition of BT.601 where it is YUV.
Color first_pixel(const VideoFrame& view) {
  const PixelFormatInfo& format = info(view.format);
  // On the scale of 8 bits.
  const auto at = [&](int component) {
    return testing::sample(view, component, 0, 0) / std::pow(2.0, format.sample.bits - 8);
  };
  if (format.model == ColorModel::kRgb) return {at(0), at(1), at(2)};
  const bool full = view.color_space.range == ColorRange::kFull;
  const double y = full ? at(0) / 255 : (at(0) - 16) / 219;
  if (format.model == ColorModel::kGray) return {255 * y, 255 * y, 255 * y};
  const double scale = full ? 255 : 224;
  const double u = (at(1) - 128) / scale, v = (at(2) - 128) / scale;
  const double r = y + 1.402 * v, b = y + 1.772 * u;
  return {255 * r, 255 * (y - 0.299 * r - 0.114 * b) / 0.587, 255 * b};
}

// Every format FFmpeg can write: one colour through swscale into it, then wrapped or converted.
TEST(FrameWrapper, KeepsTheColourOfEveryFormat) {
  constexpr Color kColor{200, 100, 50};
  constexpr double kLuma = 0.299 * 200 + 0.587 * 100 + 0.114 * 50;
  int converted = 0, wrapped = 0;
  for_each_av_format([&](AVPixelFormat format, const AVPixFmtDescriptor& d) {
    const bool skip = !converted_format(format) || sws_isSupportedOutput(format) <= 0 ||
                      d.comp[0].depth < 4 ||
                      std::strncmp(d.name, "xyz", 3) == 0;  // another colour space altogether
    if (skip) return;
    SCOPED_TRACE(d.name);
    ++(direct_format(format) ? wrapped : converted);
    constexpr int kWidth = 33, kHeight = 17;
    Frame rgb = make_frame(AV_PIX_FMT_RGB24, kWidth, kHeight);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        std::uint8_t* p = rgb->data[0] + y * rgb->linesize[0] + 3 * x;
        p[0] = 200, p[1] = 100, p[2] = 50;
      }
    }
    Frame frame = make_frame(format, kWidth, kHeight);
    const bool full = (d.flags & AV_PIX_FMT_FLAG_RGB) != 0 || std::strncmp(d.name, "yuvj", 4) == 0;
    frame->color_range = full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    const Scaler scaler(sws_getContext(kWidth, kHeight, AV_PIX_FMT_RGB24, kWidth, kHeight, format,
                                       SWS_BILINEAR | SWS_ACCURATE_RND, nullptr, nullptr, nullptr));
    ASSERT_TRUE(scaler);
    sws_scale(scaler.get(), rgb->data, rgb->linesize, 0, kHeight, frame->data, frame->linesize);
    FrameWrapper wrapper;
    auto shared = wrapper.wrap(std::move(frame), {});
    ASSERT_TRUE(shared.ok()) << shared.error().to_string();
    const VideoFrame& view = shared->view();
    EXPECT_TRUE(validate(view).ok());
    EXPECT_EQ(view.format, direct_format(format).value_or(*converted_format(format)));
    const Color color = first_pixel(view);
    const bool grey = info(view.format).model == ColorModel::kGray;
    // Formats of few bits round coarsely.
    const double tolerance = 5 + (d.comp[0].depth < 8 ? 256 >> d.comp[0].depth : 0);
    EXPECT_NEAR(color.r, grey ? kLuma : kColor.r, tolerance);
    EXPECT_NEAR(color.g, grey ? kLuma : kColor.g, tolerance);
    EXPECT_NEAR(color.b, grey ? kLuma : kColor.b, tolerance);
  });
  EXPECT_GT(converted, 70);
  EXPECT_GE(wrapped, 28);  // NV16 is beyond older versions of swscale
}

TEST(FrameWrapper, FullRangeJpegIsWrappedAsFullRange) {
  FrameWrapper wrapper;
  auto shared = wrapper.wrap(make_frame(AV_PIX_FMT_YUVJ420P, 8, 8), {});
  ASSERT_TRUE(shared.ok());
  EXPECT_EQ(shared->view().format, PixelFormat::kI420);
  EXPECT_EQ(shared->view().color_space.range, ColorRange::kFull);
}

TEST(FrameWrapper, CropsExactly) {
  Frame frame = make_frame(AV_PIX_FMT_YUV420P, 64, 48);
  frame->crop_left = 3;
  frame->crop_top = 1;
  frame->crop_right = 5;
  frame->crop_bottom = 8;
  const std::uint8_t* luma = frame->data[0];
  FrameWrapper wrapper;
  auto shared = wrapper.wrap(std::move(frame), {});
  ASSERT_TRUE(shared.ok());
  EXPECT_EQ(shared->view().coded_size, (Size{59, 40}));
  EXPECT_EQ(shared->view().visible_rect, (Rect{3, 1, 56, 39}));
  EXPECT_EQ(display_size(shared->view()), (Size{56, 39}));
  EXPECT_EQ(shared->view().planes[0].data, luma);

  Frame nothing = make_frame(AV_PIX_FMT_YUV420P, 64, 48);
  nothing->crop_left = 32;
  nothing->crop_right = 32;
  EXPECT_FALSE(wrapper.wrap(std::move(nothing), {}).ok());
}

TEST(FrameWrapper, MapsColourTags) {
  Frame frame = make_frame(AV_PIX_FMT_YUV420P, 8, 8);
  frame->colorspace = AVCOL_SPC_BT2020_NCL;
  frame->color_range = AVCOL_RANGE_JPEG;
  frame->color_primaries = AVCOL_PRI_BT2020;
  frame->color_trc = AVCOL_TRC_SMPTE2084;
  frame->chroma_location = AVCHROMA_LOC_TOPLEFT;
  FrameWrapper wrapper;
  auto shared = wrapper.wrap(std::move(frame), {});
  ASSERT_TRUE(shared.ok());
  EXPECT_EQ(shared->view().color_space,
            (ColorSpace{ColorMatrix::kBt2020, ColorRange::kFull, ColorPrimaries::kBt2020,
                        ColorTransfer::kPq, ChromaSiting::kTopLeft}));
}

// A stream may say what FFmpeg's enums have no name for; the sanitizer build watches the reading.
TEST(FrameWrapper, TagsWithoutANameAreUnspecified) {
  Frame frame = make_frame(AV_PIX_FMT_YUV420P, 8, 8);
  const int unknown = 33;
  std::memcpy(&frame->colorspace, &unknown, sizeof unknown);
  std::memcpy(&frame->color_range, &unknown, sizeof unknown);
  std::memcpy(&frame->color_primaries, &unknown, sizeof unknown);
  std::memcpy(&frame->color_trc, &unknown, sizeof unknown);
  std::memcpy(&frame->chroma_location, &unknown, sizeof unknown);
  FrameWrapper wrapper;
  auto shared = wrapper.wrap(std::move(frame), {});
  ASSERT_TRUE(shared.ok());
  EXPECT_EQ(shared->view().color_space, ColorSpace{});
}

// Where EXIF says the coded picture's first row and first column are shown; display_to_coded is the
// independent definition of what our rotation and flip mean.
TEST(Orientation, ExifValuesShowTheRightCorner) {
  struct Case {
    int exif;
    Point first_coded_pixel;  // in display coordinates of a 4 x 2 coded picture
    Point end_of_first_row;
  };
  constexpr Case kCases[] = {{1, {0.5, 0.5}, {3.5, 0.5}}, {2, {3.5, 0.5}, {0.5, 0.5}},
                             {3, {3.5, 1.5}, {0.5, 1.5}}, {4, {0.5, 1.5}, {3.5, 1.5}},
                             {5, {0.5, 0.5}, {0.5, 3.5}}, {6, {1.5, 0.5}, {1.5, 3.5}},
                             {7, {1.5, 3.5}, {1.5, 0.5}}, {8, {0.5, 3.5}, {0.5, 0.5}}};
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.exif);
    const Orientation orientation = orientation_from_exif(c.exif);
    auto frame = allocate_frame(PixelFormat::kGray8, {4, 2});
    ASSERT_TRUE(frame.ok());
    frame->view().rotation = orientation.rotation;
    frame->view().flip = orientation.flip;
    const Affine map = display_to_coded(frame->view());
    EXPECT_EQ(map(c.first_coded_pixel), (Point{0.5, 0.5}));
    EXPECT_EQ(map(c.end_of_first_row), (Point{3.5, 0.5}));
  }
  EXPECT_EQ(orientation_from_exif(0), Orientation{});
  EXPECT_EQ(orientation_from_exif(9), Orientation{});
}

TEST(Orientation, DisplayMatrices) {
  for (const bool flip : {false, true}) {
    for (const int clockwise : {0, 90, 180, 270}) {
      std::int32_t matrix[9];
      av_display_rotation_set(matrix, clockwise);
      if (flip) av_display_matrix_flip(matrix, 1, 0);
      EXPECT_EQ(orientation_from_matrix(matrix),
                (Orientation{static_cast<Rotation>(clockwise), flip}))
          << clockwise << " " << flip;
    }
  }
  const std::int32_t zero[9] = {};
  EXPECT_EQ(orientation_from_matrix(zero), Orientation{});
}

}  // namespace
}  // namespace sparing::ffmpeg
