#include "sparing/base/geometry.h"

#include <algorithm>
#include <cmath>

#include "sparing/base/check.h"

namespace sparing {
namespace {

struct Span {
  double start;
  double length;
};

// Keeps the length of a span that lies inside the other: (start + length) - start may round.
Span intersect_spans(const Span& a, const Span& b) {
  const double a_end = a.start + a.length;
  const double b_end = b.start + b.length;
  if (a.start >= b.start && a_end <= b_end) return a;
  if (b.start >= a.start && b_end <= a_end) return b;
  const double start = std::max(a.start, b.start);
  return {start, std::min(a_end, b_end) - start};
}

}  // namespace

Rect intersect(const Rect& a, const Rect& b) {
  if (a.empty() || b.empty() || !is_finite(a) || !is_finite(b)) return {};
  const Span x = intersect_spans({a.x, a.width}, {b.x, b.width});
  const Span y = intersect_spans({a.y, a.height}, {b.y, b.height});
  const Rect r{x.start, y.start, x.length, y.length};
  return r.empty() ? Rect{} : r;
}

bool is_finite(const Rect& rect) {
  return std::isfinite(rect.x) && std::isfinite(rect.y) && std::isfinite(rect.width) &&
         std::isfinite(rect.height);
}

float iou(const Box& a, const Box& b) {
  // In double, where products of float extents neither overflow nor vanish.
  const auto extent = [](float low, float high) { return static_cast<double>(high) - low; };
  const double w = extent(std::max(a.x0, b.x0), std::min(a.x1, b.x1));
  const double h = extent(std::max(a.y0, b.y0), std::min(a.y1, b.y1));
  if (!(w > 0 && h > 0)) return 0;
  const double common = w * h;
  const double both =
      extent(a.x0, a.x1) * extent(a.y0, a.y1) + extent(b.x0, b.x1) * extent(b.y0, b.y1);
  return static_cast<float>(common / (both - common));
}

Box clip(const Box& box, double width, double height) {
  SPARING_CHECK(width >= 0 && height >= 0);
  const auto clip_to = [](float v, double high) {
    return static_cast<float>(std::clamp(static_cast<double>(v), 0.0, high));
  };
  return {clip_to(box.x0, width), clip_to(box.y0, height), clip_to(box.x1, width),
          clip_to(box.y1, height)};
}

bool is_finite(const Box& box) {
  return std::isfinite(box.x0) && std::isfinite(box.y0) && std::isfinite(box.x1) &&
         std::isfinite(box.y1);
}

Affine compose(const Affine& g, const Affine& f) {
  const Point t = g({f.tx, f.ty});
  return {g.a * f.a + g.b * f.c, g.a * f.b + g.b * f.d, t.x,
          g.c * f.a + g.d * f.c, g.c * f.b + g.d * f.d, t.y};
}

Affine inverse(const Affine& map) {
  const double det = map.determinant();
  SPARING_CHECK(det != 0);
  Affine r{map.d / det, -map.b / det, 0, -map.c / det, map.a / det, 0};
  r.tx = -(r.a * map.tx + r.b * map.ty);
  r.ty = -(r.c * map.tx + r.d * map.ty);
  return r;
}

Box map_box(const Affine& map, const Box& box) {
  const Point p = map({box.x0, box.y0});
  const Point q = map({box.x1, box.y0});
  const Point r = map({box.x0, box.y1});
  const Point s = map({box.x1, box.y1});
  const auto [x0, x1] = std::minmax({p.x, q.x, r.x, s.x});
  const auto [y0, y1] = std::minmax({p.y, q.y, r.y, s.y});
  return {static_cast<float>(x0), static_cast<float>(y0), static_cast<float>(x1),
          static_cast<float>(y1)};
}

}  // namespace sparing
