#include "sparing/flow/sparse_flow.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/video/tracking.hpp>
#include <string>
#include <utility>

#include "sparing/flow/flow_pyramid.h"

namespace sparing {
namespace {

constexpr double kCornerQuality = 0.02;  // of the best
constexpr int kMaxCorners = 10000;
// Below this (the smaller eigenvalue, per pixel of the window) a patch has no texture to follow.
constexpr double kMinEigenvalue = 1e-4;

Error invalid(std::string thing, std::string problem, std::string fix) {
  return Error{ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

Error failed(const std::exception& error) {
  return Error{ErrorCode::kInternal, "OpenCV", error.what(), "report this"};
}

Status validate(const SparseFlowOptions& options) {
  if (options.window < 3 || options.window > kFlowBorder - 1) {
    return invalid("window of the optical flow",
                   std::to_string(options.window) + " is out of range",
                   "give 3 to " + std::to_string(kFlowBorder - 1) + " pixels");
  }
  if (options.iterations < 1 || options.iterations > 100) {
    return invalid("iterations of the optical flow",
                   std::to_string(options.iterations) + " is out of range", "give 1 to 100");
  }
  if (!(options.epsilon > 0) || !(options.max_round_trip > 0)) {
    return invalid("thresholds of the optical flow", "are not greater than 0",
                   "give positive distances in pixels");
  }
  return {};
}

bool inside(const FlowPoint& point, Size size) {  // false for NaN
  return point.x >= 0 && point.y >= 0 && point.x < static_cast<float>(size.width) &&
         point.y < static_cast<float>(size.height);
}

// OpenCV's tracker, one point a call: it splits the points of a call over its own threads, and
// never splits one. OpenCV counts from pixel centres, we from corners.
class PointTracker {
 public:
  explicit PointTracker(const SparseFlowOptions& options)
      : window_(options.window, options.window),
        criteria_(cv::TermCriteria::COUNT | cv::TermCriteria::EPS, options.iterations,
                  options.epsilon),
        start_(1, 1, CV_32FC2),
        end_(1, 1, CV_32FC2),
        status_(1, 1, CV_8UC1),
        error_(1, 1, CV_32FC1) {}

  bool operator()(const FlowPyramid::Impl& from, const FlowPyramid::Impl& to, FlowPoint point,
                  FlowPoint& end) {
    start_.at<cv::Point2f>(0) = {point.x - 0.5f, point.y - 0.5f};
    end_.at<cv::Point2f>(0) = {end.x - 0.5f, end.y - 0.5f};
    const int levels = static_cast<int>(std::min(from.levels.size(), to.levels.size()) / 2);
    cv::calcOpticalFlowPyrLK(from.levels, to.levels, start_, end_, status_, error_, window_,
                             levels - 1, criteria_, cv::OPTFLOW_USE_INITIAL_FLOW, kMinEigenvalue);
    const cv::Point2f found = end_.at<cv::Point2f>(0);
    end = {found.x + 0.5f, found.y + 0.5f};
    return status_.at<std::uint8_t>(0) != 0;
  }
  float error() const { return error_.at<float>(0); }

 private:
  cv::Size window_;
  cv::TermCriteria criteria_;
  cv::Mat start_, end_, status_, error_;
};

// Bilinear; the padded border makes all positions within a window of the picture readable.
float sample(const cv::Mat& picture, float x, float y) {
  const float left = std::floor(x);
  const float top = std::floor(y);
  const float fx = x - left;
  const float fy = y - top;
  const std::uint8_t* p =
      picture.data + static_cast<std::ptrdiff_t>(top) * static_cast<std::ptrdiff_t>(picture.step) +
      static_cast<std::ptrdiff_t>(left);
  const std::uint8_t* q = p + picture.step;
  const auto mix = [](float a, float b, float f) { return a + (b - a) * f; };
  return mix(mix(p[0], p[1], fx), mix(q[0], q[1], fx), fy);
}

// Normalised cross correlation of the patches around two points.
float correlation(const cv::Mat& first, FlowPoint p, const cv::Mat& second, FlowPoint q, int side) {
  double sum_a = 0, sum_b = 0, sum_aa = 0, sum_bb = 0, sum_ab = 0;
  const float half = static_cast<float>(side - 1) / 2;
  for (int v = 0; v < side; ++v) {
    for (int u = 0; u < side; ++u) {
      const float dx = static_cast<float>(u) - half - 0.5f;
      const float dy = static_cast<float>(v) - half - 0.5f;
      const double a = sample(first, p.x + dx, p.y + dy);
      const double b = sample(second, q.x + dx, q.y + dy);
      sum_a += a;
      sum_b += b;
      sum_aa += a * a;
      sum_bb += b * b;
      sum_ab += a * b;
    }
  }
  const double n = side * side;
  const double variances = (sum_aa - sum_a * sum_a / n) * (sum_bb - sum_b * sum_b / n);
  if (!(variances > 1e-6)) return 0;
  return static_cast<float>(
      std::clamp((sum_ab - sum_a * sum_b / n) / std::sqrt(variances), -1.0, 1.0));
}

// The local maxima that are strong enough, best first, none too close to a better one. What
// cv::goodFeaturesToTrack does, which for large pictures starts threads.
std::vector<cv::Point> pick_corners(const cv::Mat& strength, int count, double min_distance) {
  float best = 0;
  for (int y = 0; y < strength.rows; ++y) {
    const float* row = strength.ptr<float>(y);
    best = std::max(best, *std::max_element(row, row + strength.cols));
  }
  struct Candidate {
    float strength;
    cv::Point at;
  };
  std::vector<Candidate> candidates;
  const float least = std::max(best * static_cast<float>(kCornerQuality), 1e-10f);
  for (int y = 1; y + 1 < strength.rows; ++y) {
    const float* row = strength.ptr<float>(y);
    for (int x = 1; x + 1 < strength.cols; ++x) {
      if (!(row[x] >= least)) continue;
      const float* above = strength.ptr<float>(y - 1) + x;
      const float* below = strength.ptr<float>(y + 1) + x;
      const float around = std::max(
          {above[-1], above[0], above[1], row[x - 1], row[x + 1], below[-1], below[0], below[1]});
      if (row[x] >= around) candidates.push_back({row[x], {x, y}});
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.strength > b.strength; });
  std::vector<cv::Point> picked;
  const double square = min_distance * min_distance;
  for (const Candidate& candidate : candidates) {
    if (static_cast<int>(picked.size()) == count) break;
    const bool free = std::none_of(picked.begin(), picked.end(), [&](const cv::Point& p) {
      const cv::Point d = p - candidate.at;
      return d.x * d.x + d.y * d.y < square;
    });
    if (free) picked.push_back(candidate.at);
  }
  return picked;
}

}  // namespace

Result<std::vector<FlowTrack>> track_points(const FlowPyramid& from, const FlowPyramid& to,
                                            std::span<const FlowPoint> points,
                                            std::span<const FlowPoint> guess,
                                            const SparseFlowOptions& options) {
  SPARING_RETURN_IF_ERROR(validate(options));
  if (from.empty() || to.empty() || !(from.size() == to.size())) {
    return invalid("pyramids of the optical flow", "are empty or of different sizes",
                   "build both from pictures of one size");
  }
  if (!guess.empty() && guess.size() != points.size()) {
    return invalid(
        "guesses of the optical flow",
        std::to_string(guess.size()) + " for " + std::to_string(points.size()) + " points",
        "give one a point, or none");
  }
  std::vector<FlowTrack> tracks(points.size());
  const FlowPyramid::Impl& first = from.impl();
  const FlowPyramid::Impl& second = to.impl();
  try {
    PointTracker track(options);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const FlowPoint point = points[i];
      FlowTrack& result = tracks[i];
      const FlowPoint expected = guess.empty() ? point : guess[i];
      result.to = expected;
      if (!inside(point, from.size()) || !inside(result.to, to.size())) continue;
      if (!track(first, second, point, result.to) || !inside(result.to, to.size())) continue;
      result.error = track.error();
      // The way back starts with the guess turned round, not at the point itself: a search that
      // starts at its end proves nothing.
      FlowPoint back{result.to.x + point.x - expected.x, result.to.y + point.y - expected.y};
      if (!track(second, first, result.to, back)) continue;
      result.round_trip = std::hypot(back.x - point.x, back.y - point.y);
      result.found = result.round_trip <= static_cast<float>(options.max_round_trip);
      if (!result.found) continue;
      result.correlation =
          correlation(first.levels[0], point, second.levels[0], result.to, options.window);
    }
  } catch (const std::exception& error) {
    return failed(error);
  }
  return tracks;
}

Result<std::vector<FlowPoint>> find_corners(const LumaImage& image, const Rect& area, int count,
                                            double min_distance) {
  if (count < 1 || count > kMaxCorners) {
    return invalid("number of corners", std::to_string(count) + " is out of range",
                   "give 1 to " + std::to_string(kMaxCorners));
  }
  if (!(min_distance >= 0) || !std::isfinite(min_distance)) {
    return invalid("distance of corners", std::to_string(min_distance) + " is out of range",
                   "give 0 or more pixels");
  }
  std::vector<FlowPoint> corners;
  const Rect part = intersect(
      area, {0, 0, static_cast<double>(image.width()), static_cast<double>(image.height())});
  if (part.empty()) return corners;
  const int x = static_cast<int>(std::floor(part.x));
  const int y = static_cast<int>(std::floor(part.y));
  const int width = static_cast<int>(std::ceil(part.right())) - x;
  const int height = static_cast<int>(std::ceil(part.bottom())) - y;
  try {
    const cv::Mat whole(image.height(), image.width(), CV_8UC1,
                        const_cast<std::uint8_t*>(image.data()));  // read only
    cv::Mat strength;
    cv::cornerMinEigenVal(whole(cv::Rect(x, y, width, height)), strength, 3);
    for (const cv::Point& point : pick_corners(strength, count, min_distance)) {
      corners.push_back(
          {static_cast<float>(point.x + x) + 0.5f, static_cast<float>(point.y + y) + 0.5f});
    }
  } catch (const std::exception& error) {
    return failed(error);
  }
  return corners;
}

}  // namespace sparing
