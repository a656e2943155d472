// Classes painted over the picture: colours, borders, a legend.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sparing/base/class_map.h"
#include "sparing/base/color.h"
#include "sparing/base/result.h"
#include "sparing/io/picture.h"

namespace sparing {

struct ClassOverlayOptions {
  std::vector<std::string> labels;  // names by class, for the legend
  std::vector<Rgb> palette;         // by class; of classes beyond it a colour is made
  double strength = 0.5;            // of the colours, 0 (none) to 1 (nothing else is seen)
  bool borders = true;              // dark lines between classes
  bool legend = false;              // the names of `labels`, as many as there is room for
};

// A strong colour, different for neighbouring classes: that of those beyond the palette.
Rgb class_palette_color(int class_id);

// Not thread-safe. Keeps memory from picture to picture.
class ClassOverlay {
 public:
  // kInvalidArgument: a strength out of range.
  static Result<ClassOverlay> create(const ClassOverlayOptions& options);
  ~ClassOverlay();
  ClassOverlay(ClassOverlay&& other) noexcept;
  ClassOverlay& operator=(ClassOverlay&& other) noexcept;

  // Paints the classes over `picture`, in place. `labels` has any resolution and covers the whole
  // picture (nearest pixel); kIgnoreLabel leaves it as it is. kInvalidArgument: no labels, or a
  // wrong number.
  Status draw(const LabelMap& labels, Picture& picture);

 private:
  struct Impl;
  explicit ClassOverlay(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing
