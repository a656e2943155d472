// Classes made unrecognisable for good: filled, pixelated or blurred, with a safety margin.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/class_map.h"
#include "sparing/base/color.h"
#include "sparing/base/result.h"
#include "sparing/io/picture.h"

namespace sparing {

enum class PrivacyFill {
  kColor,     // nothing is left but the shape
  kPixelate,  // a block's mean for each of its pixels
  kBlur,      // the same means, interpolated
};

struct PrivacyOptions {
  std::vector<std::uint8_t> classes;  // labels that are masked out
  PrivacyFill fill = PrivacyFill::kColor;
  Rgb color{0, 0, 0};
  // Side of a block: a fraction of the picture's shorter side, at least 8 pixels; 0.01 to 1. What a
  // block shows is the mean of the masked pixels alone.
  double block = 1.0 / 16;
  // How far beyond the class's pixels is masked, in pixels of the picture at 720 rows (in
  // proportion at others, rounded up), 0 to 200.
  int margin = 6;
  // Whether pixels without an answer (kIgnoreLabel) are masked too.
  bool mask_unknown = true;
};

// "CLASSES[:FILL]": names of `labels` or their numbers, comma-separated; FILL is colour[=COLOUR],
// pixelate or blur. kInvalidArgument: no such class, fill or colour.
Result<PrivacyOptions> parse_privacy(std::string_view text, std::span<const std::string> labels);

// Not thread-safe. Keeps memory from picture to picture.
class PrivacyMasker {
 public:
  // kInvalidArgument: an option out of its range, no classes.
  static Result<PrivacyMasker> create(const PrivacyOptions& options);
  ~PrivacyMasker();
  PrivacyMasker(PrivacyMasker&& other) noexcept;
  PrivacyMasker& operator=(PrivacyMasker&& other) noexcept;

  // Masks the classes out of `picture`, in place. `labels` has any resolution and covers the whole
  // picture; a picture's pixel is masked when the label pixel under it, or one within the margin,
  // is of the classes. Chroma samples that any masked pixel shares are masked whole. Of the
  // original nothing is left there but what the fill says. kInvalidArgument: no labels, or a wrong
  // number.
  Status apply(const LabelMap& labels, Picture& picture);
  // Of the picture before: how many pixels were masked.
  std::int64_t masked_pixels() const;

 private:
  struct Impl;
  explicit PrivacyMasker(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing
