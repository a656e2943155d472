#include "sparing/roi/mask.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <utility>
#include <vector>

namespace sparing::roi {
namespace {

// Legs, arms and the two ends of what moved by its own length belong together.
constexpr int kReach = 2;

// The boxes of the connected parts (by sides and corners), in the order of their first pixels. What
// cv::findContours and boundingRect give, which for large masks start threads.
class PartFinder {
 public:
  std::vector<cv::Rect> find(const cv::Mat& mask) {
    for (int y = 0; y < mask.rows; ++y) add_row(mask.ptr<std::uint8_t>(y), mask.cols, y);
    std::vector<cv::Rect> boxes;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      if (part.parent != i) continue;
      boxes.emplace_back(part.left, part.top, part.right - part.left, part.bottom - part.top);
    }
    return boxes;
  }

 private:
  struct Run {
    int left, right;  // [left, right)
    std::size_t part;
  };
  struct Part {
    std::size_t parent;  // its own index for a root
    int left, top, right, bottom;
  };

  void add_row(const std::uint8_t* row, int columns, int y) {
    above_.swap(runs_);
    runs_.clear();
    std::size_t first = 0;  // of the runs above that may touch
    for (int x = 0; x < columns;) {
      const auto* start = static_cast<const std::uint8_t*>(
          std::memchr(row + x, 255, static_cast<std::size_t>(columns - x)));
      if (start == nullptr) return;
      Run run{static_cast<int>(start - row), 0, parts_.size()};
      x = run.left;
      while (x < columns && row[x] != 0) ++x;
      run.right = x;
      parts_.push_back({run.part, run.left, y, run.right, y + 1});
      while (first < above_.size() && above_[first].right < run.left) ++first;
      for (std::size_t i = first; i < above_.size() && above_[i].left <= run.right; ++i) {
        join(above_[i].part, run.part);
      }
      runs_.push_back(run);
    }
  }

  std::size_t root(std::size_t part) {
    while (parts_[part].parent != part) {
      parts_[part].parent = parts_[parts_[part].parent].parent;
      part = parts_[part].parent;
    }
    return part;
  }

  void join(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    if (b < a) std::swap(a, b);
    Part& kept = parts_[a];
    const Part& joined = parts_[b];
    kept.left = std::min(kept.left, joined.left);
    kept.top = std::min(kept.top, joined.top);
    kept.right = std::max(kept.right, joined.right);
    kept.bottom = std::max(kept.bottom, joined.bottom);
    parts_[b].parent = a;
  }

  std::vector<Run> above_, runs_;
  std::vector<Part> parts_;
};

// Means of 3 x 3 pixels, rounded, from three rows; beyond the edges the next pixel but one stands
// in.
void blur_row(const std::uint8_t* __restrict above, const std::uint8_t* __restrict row,
              const std::uint8_t* __restrict below, std::uint16_t* __restrict sums,
              std::uint8_t* __restrict out, int count) {
  constexpr unsigned kNinth = 7282;  // of 65536, exact for sums of nine bytes
  for (int x = 0; x < count; ++x) {
    sums[x + 1] = static_cast<std::uint16_t>(above[x] + row[x] + below[x]);
  }
  sums[0] = sums[count > 1 ? 2 : 1];
  sums[count + 1] = sums[count > 1 ? count - 1 : 1];
  for (int x = 0; x < count; ++x) {
    const auto sum = static_cast<std::uint16_t>(sums[x] + sums[x + 1] + sums[x + 2] + 4);
    out[x] = static_cast<std::uint8_t>((sum * kNinth) >> 16);
  }
}

// 255 where two rows differ by more than the limit. As a function of its own, of pointers that do
// not alias, it is vectorised.
void compare_row(const std::uint8_t* __restrict p, const std::uint8_t* __restrict q,
                 std::uint8_t* __restrict out, int count, std::uint8_t limit) {
  for (int x = 0; x < count; ++x) {
    const std::uint8_t larger = p[x] > q[x] ? p[x] : q[x];
    const std::uint8_t smaller = p[x] > q[x] ? q[x] : p[x];
    out[x] = static_cast<std::uint8_t>(larger - smaller) > limit ? 255 : 0;
  }
}

// The pixels of the mask that a rectangle touches.
cv::Rect pixels_of(const Rect& rect, const cv::Mat& mask) {
  const Rect inside =
      intersect(rect, {0, 0, static_cast<double>(mask.cols), static_cast<double>(mask.rows)});
  if (inside.empty()) return {};
  const int x = static_cast<int>(std::floor(inside.x));
  const int y = static_cast<int>(std::floor(inside.y));
  return {x, y, static_cast<int>(std::ceil(inside.right())) - x,
          static_cast<int>(std::ceil(inside.bottom())) - y};
}

}  // namespace

void blur(const LumaImage& image, LumaImage& out) {
  if (!(out.size() == image.size()) || out.factor() != image.factor()) out = image;
  const int height = image.height();
  std::vector<std::uint16_t> sums(static_cast<std::size_t>(image.width()) + 2);
  for (int y = 0; y < height; ++y) {
    const int above = y > 0 ? y - 1 : std::min(1, height - 1);
    const int below = y + 1 < height ? y + 1 : std::max(height - 2, 0);
    blur_row(image.row(above).data(), image.row(y).data(), image.row(below).data(), sums.data(),
             out.row(y).data(), image.width());
  }
}

double difference_mask(const LumaImage& a, const LumaImage& b, double threshold, cv::Mat& mask) {
  mask.create(a.height(), a.width(), CV_8UC1);
  const auto limit = static_cast<std::uint8_t>(std::clamp(std::floor(threshold), 0.0, 255.0));
  for (int y = 0; y < a.height(); ++y) {
    compare_row(a.row(y).data(), b.row(y).data(), mask.ptr<std::uint8_t>(y), a.width(), limit);
  }
  return static_cast<double>(cv::countNonZero(mask)) / static_cast<double>(mask.total());
}

MaskBoxes mask_boxes(const cv::Mat& mask, double min_extent, cv::Mat& scratch) {
  MaskBoxes result;
  const int side = 2 * kReach + 1;
  cv::dilate(mask, scratch, cv::getStructuringElement(cv::MORPH_RECT, {side, side}));
  for (const cv::Rect& grown : PartFinder().find(scratch)) {
    // What dilation added goes again, but not where the picture's edge had cut it off.
    const int left = grown.x == 0 ? 0 : grown.x + kReach;
    const int top = grown.y == 0 ? 0 : grown.y + kReach;
    const int right = grown.br().x == mask.cols ? mask.cols : grown.br().x - kReach;
    const int bottom = grown.br().y == mask.rows ? mask.rows : grown.br().y - kReach;
    const int width = std::max(right - left, 1);
    const int height = std::max(bottom - top, 1);
    if (width < min_extent && height < min_extent) {
      ++result.too_small;
    } else {
      result.boxes.push_back({static_cast<double>(left), static_cast<double>(top),
                              static_cast<double>(width), static_cast<double>(height)});
    }
  }
  std::stable_sort(result.boxes.begin(), result.boxes.end(),
                   [](const Rect& a, const Rect& b) { return a.area() > b.area(); });
  return result;
}

void drop_explained(const cv::Mat& mask, std::span<const Rect> known, double share,
                    MaskBoxes& found, cv::Mat& scratch) {
  if (known.empty() || found.boxes.empty()) return;
  mask.copyTo(scratch);
  for (const Rect& rect : known) {
    const cv::Rect pixels = pixels_of(rect, mask);
    if (!pixels.empty()) scratch(pixels).setTo(cv::Scalar::all(0));
  }
  found.explained += static_cast<int>(std::erase_if(found.boxes, [&](const Rect& box) {
    const cv::Rect pixels = pixels_of(box, mask);
    return cv::countNonZero(scratch(pixels)) <= (1 - share) * cv::countNonZero(mask(pixels));
  }));
}

}  // namespace sparing::roi
