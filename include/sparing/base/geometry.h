// Plane geometry shared by all modules. Coordinates are pixels; x grows right, y down; the first
// pixel covers [0, 1) x [0, 1), so its centre is (0.5, 0.5).
#pragma once

namespace sparing {

struct Size {
  int width = 0;
  int height = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

struct Point {
  double x = 0;
  double y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

// A rectangle by its corner and extent, fractional values allowed. Empty when width or height is
// not greater than 0.
struct Rect {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  double area() const { return empty() ? 0.0 : width * height; }
  bool empty() const { return !(width > 0 && height > 0); }
  friend bool operator==(const Rect&, const Rect&) = default;
};

// The common part; Rect{} when they do not overlap, or when one is empty or not finite. A rectangle
// that lies inside the other comes back unchanged to the last bit.
Rect intersect(const Rect& a, const Rect& b);
bool is_finite(const Rect& rect);

// A rectangle on whole pixels, as destinations have it.
struct PixelRect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  bool empty() const { return width <= 0 || height <= 0; }
  friend bool operator==(const PixelRect&, const PixelRect&) = default;
};

// An axis-aligned box by its corners, as detectors report it: x0 <= x1, y0 <= y1, in pixels.
struct Box {
  float x0 = 0;
  float y0 = 0;
  float x1 = 0;
  float y1 = 0;

  float width() const { return x1 - x0; }
  float height() const { return y1 - y0; }
  float area() const { return (x1 > x0 && y1 > y0) ? width() * height() : 0.0f; }
  friend bool operator==(const Box&, const Box&) = default;
};

// Intersection over union in [0, 1]; 0 when either box has no area. Precondition: both are finite.
float iou(const Box& a, const Box& b);
// The part of `box` inside [0, width] x [0, height]; may have no area. Precondition: neither extent
// is negative or NaN.
Box clip(const Box& box, double width, double height);
bool is_finite(const Box& box);

// Maps (x, y) to (a x + b y + tx, c x + d y + ty). The import kernel returns the map from tensor to
// frame coordinates as one of these; boxes come back through it.
struct Affine {
  double a = 1, b = 0, tx = 0;
  double c = 0, d = 1, ty = 0;

  Point operator()(Point p) const { return {a * p.x + b * p.y + tx, c * p.x + d * p.y + ty}; }
  double determinant() const { return a * d - b * c; }
  friend bool operator==(const Affine&, const Affine&) = default;
};

// (f then g) as one map: compose(g, f)(p) == g(f(p)).
Affine compose(const Affine& g, const Affine& f);
// Precondition: determinant() != 0.
Affine inverse(const Affine& map);
// The smallest Box that holds the image of `box`, rounded to float.
Box map_box(const Affine& map, const Box& box);

// One detected object.
struct Detection {
  Box box;           // pixels of the image the detection belongs to
  float score = 0;   // confidence in [0, 1]
  int class_id = 0;  // index into the model's labels
  friend bool operator==(const Detection&, const Detection&) = default;
};

}  // namespace sparing
