#include "sparing/flow/dense_flow.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>
#include <opencv2/video/tracking.hpp>
#include <string>
#include <utility>

#include "sparing/base/check.h"

namespace sparing {
namespace {

// OpenCV's DIS has buffers for ten levels; a larger picture would need one more.
constexpr int kMaxExtent = 16384;

struct PresetRow {
  DenseFlowPreset preset;
  std::string_view name;
  int opencv;
};
constexpr std::array kPresets = {
    PresetRow{DenseFlowPreset::kUltrafast, "ultrafast", cv::DISOpticalFlow::PRESET_ULTRAFAST},
    PresetRow{DenseFlowPreset::kFast, "fast", cv::DISOpticalFlow::PRESET_FAST},
    PresetRow{DenseFlowPreset::kMedium, "medium", cv::DISOpticalFlow::PRESET_MEDIUM},
};

const PresetRow& row_of(DenseFlowPreset preset) {
  for (const PresetRow& row : kPresets) {
    if (row.preset == preset) return row;
  }
  SPARING_CHECK(!"a preset without a row");
  return kPresets.back();
}

Error invalid(std::string thing, std::string problem, std::string fix) {
  return Error{ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

std::string to_text(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

Status validate_pair(const LumaImage& from, const LumaImage& to) {
  if (from.empty() || to.empty()) {
    return invalid("luma picture of the dense flow", "is empty", "extract it from a frame first");
  }
  if (!(from.size() == to.size())) {
    return invalid("luma pictures of the dense flow",
                   "have " + to_text(from.size()) + " and " + to_text(to.size()) + " pixels",
                   "give two of one size");
  }
  if (std::min(from.width(), from.height()) < DenseFlow::kMinExtent ||
      std::max(from.width(), from.height()) > kMaxExtent) {
    return invalid("luma pictures of the dense flow", to_text(from.size()) + " is out of range",
                   "give sides of " + std::to_string(DenseFlow::kMinExtent) + " to " +
                       std::to_string(kMaxExtent) + " pixels");
  }
  return {};
}

Status validate_start(const FlowField& start, Size size) {
  const auto pixels = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
  if (!(start.size == size) || start.dx.size() != pixels || start.dy.size() != pixels) {
    return invalid("flow field to start from", "has " + to_text(start.size) + " pixels",
                   "give one of the pictures' size, " + to_text(size));
  }
  const auto finite = [](float value) { return std::isfinite(value); };
  if (!std::all_of(start.dx.begin(), start.dx.end(), finite) ||
      !std::all_of(start.dy.begin(), start.dy.end(), finite)) {
    return invalid("flow field to start from", "has values that are not finite",
                   "start without a field");
  }
  return {};
}

// Loops that OpenCV would divide over its threads run where they are called from inside a parallel
// loop; one of a single step stays on the calling thread itself.
template <class Work>
void on_this_thread(const Work& work) {
  cv::parallel_for_(cv::Range(0, 1), [&work](const cv::Range&) { work(); });
}

// OpenCV takes no constant data, but reads only.
cv::Mat view(const LumaImage& image) {
  return {image.height(), image.width(), CV_8UC1, const_cast<std::uint8_t*>(image.data())};
}

// The two samples and the weight of the second for each output position of one axis.
struct Tap {
  std::size_t first, second;
  float weight;
};

std::vector<Tap> make_taps(int from, int to) {
  std::vector<Tap> taps(static_cast<std::size_t>(to));
  const double scale = static_cast<double>(from) / to;
  for (int i = 0; i < to; ++i) {
    const double at = std::clamp((i + 0.5) * scale - 0.5, 0.0, from - 1.0);
    const int first = static_cast<int>(at);
    taps[static_cast<std::size_t>(i)] = {static_cast<std::size_t>(first),
                                         static_cast<std::size_t>(std::min(first + 1, from - 1)),
                                         static_cast<float>(at - first)};
  }
  return taps;
}

}  // namespace

std::string_view to_string(DenseFlowPreset preset) { return row_of(preset).name; }

struct DenseFlow::Impl {
  cv::Ptr<cv::DISOpticalFlow> dis;
  Size size;          // of the pictures that `dis` has buffers for
  bool warm = false;  // `dis` has seen a field to start from
  cv::Mat field;
};

DenseFlow::DenseFlow(DenseFlowPreset preset) : preset_(preset), impl_(std::make_unique<Impl>()) {}
DenseFlow::DenseFlow(DenseFlow&&) noexcept = default;
DenseFlow& DenseFlow::operator=(DenseFlow&&) noexcept = default;
DenseFlow::~DenseFlow() = default;

Status DenseFlow::compute(const LumaImage& from, const LumaImage& to, FlowField& out,
                          bool warm_start) {
  SPARING_RETURN_IF_ERROR(validate_pair(from, to));
  if (warm_start) SPARING_RETURN_IF_ERROR(validate_start(out, from.size()));
  Impl& impl = *impl_;
  try {
    // A DIS object adjusts its scales to small pictures and keeps them, and goes on using a field
    // it was once given: what it computes would depend on what it computed before.
    if (impl.dis.empty() || !(impl.size == from.size()) || (impl.warm && !warm_start)) {
      impl.dis = cv::DISOpticalFlow::create(row_of(preset_).opencv);
      impl.size = from.size();
    }
    impl.warm = warm_start;
    if (warm_start) {
      impl.field.create(from.height(), from.width(), CV_32FC2);
      auto* values = impl.field.ptr<float>();
      for (std::size_t i = 0; i < out.dx.size(); ++i) {
        values[2 * i] = out.dx[i];
        values[2 * i + 1] = out.dy[i];
      }
    } else {
      impl.field.release();  // one of the right size would be taken for a start
    }
    on_this_thread([&] { impl.dis->calc(view(from), view(to), impl.field); });
    SPARING_CHECK(impl.field.isContinuous() && impl.field.type() == CV_32FC2);
    out.resize(from.size());
    const auto* values = impl.field.ptr<float>();
    for (std::size_t i = 0; i < out.dx.size(); ++i) {
      out.dx[i] = values[2 * i];
      out.dy[i] = values[2 * i + 1];
    }
  } catch (const std::exception& error) {
    impl = Impl{};
    return Error{ErrorCode::kInternal, "dense flow", error.what(), "free memory"};
  }
  return {};
}

void resize_flow(const FlowField& from, Size to, FlowField& out) {
  SPARING_CHECK(!from.empty() && to.width > 0 && to.height > 0 && &from != &out);
  out.resize(to);
  const std::vector<Tap> columns = make_taps(from.size.width, to.width);
  const std::vector<Tap> rows = make_taps(from.size.height, to.height);
  const auto width = static_cast<std::size_t>(from.size.width);
  const auto scale_plane = [&](const std::vector<float>& plane, float scale,
                               std::vector<float>& result) {
    float* target = result.data();
    for (const Tap& row : rows) {
      const float* above = plane.data() + row.first * width;
      const float* below = plane.data() + row.second * width;
      for (const Tap& column : columns) {
        const auto mix = [](float a, float b, float weight) { return a + (b - a) * weight; };
        const float top = mix(above[column.first], above[column.second], column.weight);
        const float bottom = mix(below[column.first], below[column.second], column.weight);
        *target++ = scale * mix(top, bottom, row.weight);
      }
    }
  };
  scale_plane(from.dx, static_cast<float>(to.width) / static_cast<float>(from.size.width), out.dx);
  scale_plane(from.dy, static_cast<float>(to.height) / static_cast<float>(from.size.height),
              out.dy);
}

}  // namespace sparing
