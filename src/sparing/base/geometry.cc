#include "sparing/base/geometry.h"

#include <algorithm>
#include <cmath>

#include "sparing/base/check.h"

namespace sparing {

Rect intersect(const Rect& a, const Rect& b) {
  const double x = std::max(a.x, b.x);
  const double y = std::max(a.y, b.y);
  const Rect r{x, y, std::min(a.right(), b.right()) - x, std::min(a.bottom(), b.bottom()) - y};
  return r.empty() ? Rect{} : r;
}

bool is_finite(const Rect& rect) {
  return std::isfinite(rect.x) && std::isfinite(rect.y) && std::isfinite(rect.width) &&
         std::isfinite(rect.height);
}

float iou(const Box& a, const Box& b) {
  const float w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  const float h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (!(w > 0 && h > 0)) return 0;
  const float common = w * h;
  return common / (a.area() + b.area() - common);
}

Box clip(const Box& box, double width, double height) {
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
