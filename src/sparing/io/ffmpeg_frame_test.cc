#include "sparing/io/ffmpeg_frame.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

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
    const std::array<std::uint8_t*, 3> data{frame->data[0], frame->data[1], frame->data[2]};
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
  EXPECT_EQ(wrapped_formats, 11);
}

TEST(FrameWrapper, EveryFormatOfOursHasItsCounterpart) {
  for (const PixelFormatInfo& row : kPixelFormats) {
    EXPECT_EQ(direct_format(to_av(row.format)), row.format) << row.name;
  }
}

struct Color {
  double r, g, b;
};

// The first pixel as R, G, B, by the definition of BT.601 where it is YUV.
Color first_pixel(const VideoFrame& view) {
  const auto at = [&](int plane, int offset) {
    return static_cast<double>(view.planes[plane].data[offset]);
  };
  const PixelFormatInfo& format = info(view.format);
  if (format.model == ColorModel::kRgb) {
    return {at(0, format.components[0].offset), at(0, format.components[1].offset),
            at(0, format.components[2].offset)};
  }
  const bool full = view.color_space.range == ColorRange::kFull;
  const double y = full ? at(0, 0) / 255 : (at(0, 0) - 16) / 219;
  if (format.model == ColorModel::kGray) return {255 * y, 255 * y, 255 * y};
  const double scale = full ? 255 : 224;
  const double u = (at(1, 0) - 128) / scale, v = (at(2, 0) - 128) / scale;
  const double r = y + 1.402 * v, b = y + 1.772 * u;
  return {255 * r, 255 * (y - 0.299 * r - 0.114 * b) / 0.587, 255 * b};
}

// Every format FFmpeg can write and we convert: one colour through swscale into it, then wrapped.
TEST(FrameWrapper, ConvertsOtherFormatsKeepingTheColour) {
  constexpr Color kColor{200, 100, 50};
  constexpr double kLuma = 0.299 * 200 + 0.587 * 100 + 0.114 * 50;
  int converted = 0;
  for_each_av_format([&](AVPixelFormat format, const AVPixFmtDescriptor& d) {
    const bool skip = direct_format(format) || !converted_format(format) ||
                      sws_isSupportedOutput(format) <= 0 || d.comp[0].depth < 4 ||
                      std::strncmp(d.name, "xyz", 3) == 0;  // another colour space altogether
    if (skip) return;
    SCOPED_TRACE(d.name);
    ++converted;
    constexpr int kWidth = 32, kHeight = 16;
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
    EXPECT_EQ(view.format, *converted_format(format));
    const Color color = first_pixel(view);
    const bool grey = info(view.format).model == ColorModel::kGray;
    // Formats of few bits round coarsely.
    const double tolerance = 5 + (d.comp[0].depth < 8 ? 256 >> d.comp[0].depth : 0);
    EXPECT_NEAR(color.r, grey ? kLuma : kColor.r, tolerance);
    EXPECT_NEAR(color.g, grey ? kLuma : kColor.g, tolerance);
    EXPECT_NEAR(color.b, grey ? kLuma : kColor.b, tolerance);
  });
  EXPECT_GT(converted, 80);
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
