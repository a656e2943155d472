// The free space of one canvas, in the three ways of PackAlgorithm. Sizes and places include the
// gap: the caller adds it to the items and to the canvas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/packing/packer.h"

namespace sparing::packing {

class Bin {
 public:
  explicit Bin(Size size) : free_area_(static_cast<std::int64_t>(size.width) * size.height) {}
  virtual ~Bin() = default;
  Bin(const Bin&) = delete;
  Bin& operator=(const Bin&) = delete;

  // The best place for an item, or none. Changes nothing that matters to a later call.
  virtual std::optional<PixelRect> find(Size item) = 0;
  // Takes the place that the last find() returned.
  virtual void take(const PixelRect& rect) = 0;

  std::int64_t free_area() const { return free_area_; }

 protected:
  void count(const PixelRect& rect) {
    free_area_ -= static_cast<std::int64_t>(rect.width) * rect.height;
  }

 private:
  std::int64_t free_area_;
};

class GuillotineBin final : public Bin {
 public:
  explicit GuillotineBin(Size size) : Bin(size) { add({0, 0, size.width, size.height}); }
  // More free space; must not overlap what is free already.
  void add(const PixelRect& rect) {
    if (!rect.empty()) free_.push_back(rect);
  }
  std::optional<PixelRect> find(Size item) override;
  void take(const PixelRect& rect) override;

 private:
  std::vector<PixelRect> free_;  // do not overlap
  std::size_t found_ = 0;
};

class MaxRectsBin final : public Bin {
 public:
  explicit MaxRectsBin(Size size) : Bin(size), free_{{0, 0, size.width, size.height}} {}
  std::optional<PixelRect> find(Size item) override;
  void take(const PixelRect& rect) override;

 private:
  void prune(std::size_t first_new);

  std::vector<PixelRect> free_;  // overlap; none holds another
};

class SkylineBin final : public Bin {
 public:
  explicit SkylineBin(Size size);
  std::optional<PixelRect> find(Size item) override;
  void take(const PixelRect& rect) override;

 private:
  struct Step {
    int x;
    int y;  // the first free row
    int width;
  };
  // The row on which an item lies whose left edge is that of the step; none when it does not fit.
  std::optional<int> rest_on(std::size_t step, Size item) const;
  std::int64_t enclosed_area(std::size_t step, Size item, int y) const;
  void enclose(const PixelRect& rect);
  void raise(const PixelRect& rect);

  Size size_;
  std::vector<Step> steps_;  // left to right, without a hole
  GuillotineBin enclosed_;   // what lies below the line and is free
  bool found_enclosed_ = false;
  std::size_t found_step_ = 0;
};

std::unique_ptr<Bin> make_bin(PackAlgorithm algorithm, Size size);

}  // namespace sparing::packing
