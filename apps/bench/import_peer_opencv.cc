// OpenCV in two orders: convert the frame to RGB and resize that, as most code does; or resize the
// planes and convert the small picture.
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "import_contestant.h"

namespace sparing::bench {
namespace {

enum class Order { kConvertFirst, kResizeFirst };

cv::Size cv_size(const PixelRect& rect) { return {rect.width, rect.height}; }

// A view of the rectangle of one plane.
cv::Mat plane_view(const VideoFrame& frame, std::size_t plane, int type, const cv::Rect& rect) {
  const Plane& from = frame.planes[plane];
  const std::uint8_t* corner =
      from.data + rect.y * from.stride + rect.x * static_cast<std::ptrdiff_t>(CV_ELEM_SIZE(type));
  return cv::Mat(rect.height, rect.width, type, const_cast<std::uint8_t*>(corner),
                 static_cast<std::size_t>(from.stride));
}

class OpenCvRunner : public Runner {
 public:
  OpenCvRunner(const ImportJob& job, Order order)
      : job_(job),
        normalization_(normalization(job)),
        order_(order),
        filter_(job.filter == Filter::kArea ? cv::INTER_AREA : cv::INTER_LINEAR) {
    if (job.part == Part::kRois) {
      canvas_ = cv::Mat(job.output.height, job.output.width, CV_8UC3, cv::Scalar::all(114));
    }
  }

  Status run(const Shot& shot, const TensorView& tensor) override {
    if (job_.part == Part::kRois) {
      for (const Cell& cell : shot.cells) draw_cell(shot.frame, cell);
      store(canvas_, tensor);
    } else if (job_.layout == Layout::kNhwc) {
      cv::Mat out(tensor.height, tensor.width, CV_8UC3, tensor.data,
                  static_cast<std::size_t>(tensor.stride_y));
      draw(shot.frame, shot.cells[0], out);
    } else {
      draw(shot.frame, shot.cells[0], picture_);
      store(picture_, tensor);
    }
    return {};
  }

 private:
  void draw_cell(const VideoFrame& frame, const Cell& cell) {
    const PixelRect& all = cell.destination;
    const PixelRect& content = cell.content;
    const int right = content.x + content.width;
    const cv::Scalar pad = cv::Scalar::all(114);
    canvas_(cv::Rect(all.x, all.y, content.x - all.x, all.height)).setTo(pad);
    canvas_(cv::Rect(right, all.y, all.x + all.width - right, all.height)).setTo(pad);
    cv::Mat out = canvas_(cv::Rect(content.x, content.y, content.width, content.height));
    draw(frame, cell, out);
  }

  // `out` becomes, or already is, a picture of the content's size.
  void draw(const VideoFrame& frame, const Cell& cell, cv::Mat& out) {
    const PixelRect rect = whole_source(cell);
    const cv::Rect luma(rect.x, rect.y, rect.width, rect.height);
    if (job_.format == PixelFormat::kRgba) {
      draw_rgba(plane_view(frame, 0, CV_8UC4, luma), cv_size(cell.content), out);
    } else {
      const cv::Rect half(rect.x / 2, rect.y / 2, rect.width / 2, rect.height / 2);
      draw_nv12(plane_view(frame, 0, CV_8UC1, luma), plane_view(frame, 1, CV_8UC2, half),
                cv_size(cell.content), out);
    }
  }

  void draw_nv12(const cv::Mat& y, const cv::Mat& uv, cv::Size size, cv::Mat& out) {
    if (order_ == Order::kConvertFirst) {
      cv::cvtColorTwoPlane(y, uv, rgb_, cv::COLOR_YUV2RGB_NV12);
      cv::resize(rgb_, out, size, 0, 0, filter_);
    } else {
      cv::resize(y, y_, size, 0, 0, filter_);
      cv::resize(uv, uv_, size / 2, 0, 0, filter_);
      cv::cvtColorTwoPlane(y_, uv_, out, cv::COLOR_YUV2RGB_NV12);
    }
  }

  void draw_rgba(const cv::Mat& rgba, cv::Size size, cv::Mat& out) {
    if (order_ == Order::kConvertFirst) {
      cv::cvtColor(rgba, rgb_, cv::COLOR_RGBA2RGB);
      cv::resize(rgb_, out, size, 0, 0, filter_);
    } else {
      cv::resize(rgba, out, size, 0, 0, filter_);
    }
  }

  // One pass over bytes and one that widens them, which beats splitting floats.
  void store(const cv::Mat& picture, const TensorView& tensor) {
    cv::split(picture, channels_);
    const int type = tensor.type == DataType::kFloat16 ? CV_16F : CV_32F;
    for (std::size_t c = 0; c < 3; ++c) {
      cv::Mat out(tensor.height, tensor.width, type,
                  tensor.data + static_cast<std::ptrdiff_t>(c) * tensor.stride_c,
                  static_cast<std::size_t>(tensor.stride_y));
      channels_[c].convertTo(out, type, static_cast<double>(normalization_.scale[c]),
                             static_cast<double>(normalization_.bias[c]));
    }
  }

  const ImportJob& job_;
  Normalization normalization_;
  Order order_;
  int filter_;
  cv::Mat canvas_;
  cv::Mat picture_, rgb_, y_, uv_;  // kept from call to call
  std::vector<cv::Mat> channels_;
};

Result<std::unique_ptr<Runner>> make(const ImportJob& job, int threads, Order order) {
  cv::setNumThreads(threads);
  return std::unique_ptr<Runner>(std::make_unique<OpenCvRunner>(job, order));
}

}  // namespace

Result<std::unique_ptr<Runner>> make_opencv(const ImportJob& job, int threads) {
  return make(job, threads, Order::kConvertFirst);
}

Result<std::unique_ptr<Runner>> make_opencv_planes(const ImportJob& job, int threads) {
  return make(job, threads, Order::kResizeFirst);
}

}  // namespace sparing::bench
