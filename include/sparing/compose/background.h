// What becomes of everything that is not the foreground: blurred, replaced, one colour, or cut out.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sparing/base/color.h"
#include "sparing/base/result.h"
#include "sparing/compose/mask_view.h"
#include "sparing/io/picture.h"

namespace sparing {

enum class BackgroundEffect { kNone, kBlur, kReplace, kColor, kCutout };

struct BackgroundEffectInfo {
  BackgroundEffect effect;
  std::string_view name;      // "blur"
  std::string_view argument;  // "[:RADIUS]"
  std::string_view description;
};
// In the order of BackgroundEffect, without kNone.
std::span<const BackgroundEffectInfo> background_effects();

struct BackgroundOptions {
  BackgroundEffect effect = BackgroundEffect::kNone;
  // kBlur: how far a point spreads. Below 1 a fraction of the picture's height, else pixels; 0 <
  // radius <= 1000. A Gaussian of half of it as standard deviation.
  double blur_radius = 0.04;
  std::string replacement;  // kReplace: a picture, a folder of pictures or a video
  Rgb color{0, 177, 64};    // kColor: a green that people's clothes and skin do not have
  // The mask's distance from 1/2 is multiplied by this: 1 (as it is) to 100 (hard edges). Networks
  // are seldom sure to the last percent, and an edge is as wide as their pixels.
  double contrast = 2;
  // Whether the mask's edges are moved to edges of the picture's luma (guided filter). It helps
  // masks that are shifted against the picture; those of networks it changes by less than it costs.
  bool refine = false;
};

// "blur", "blur:RADIUS" (pixels; or a fraction of the height, below 1 or with %), "replace=PATH",
// "colour", "colour=#rrggbb" or a name (also spelt color), "cutout", "none". kInvalidArgument: no
// such effect, a radius or colour that is none; kInput: the file does not exist.
Result<BackgroundOptions> parse_background(std::string_view text);

// Applies one effect to the pictures of one stream, in order. Keeps memory from picture to picture.
// Not thread-safe.
class BackgroundComposer {
 public:
  // Opens the replacement. kInvalidArgument: a radius out of range, no replacement given; otherwise
  // as open_source().
  static Result<BackgroundComposer> create(const BackgroundOptions& options);
  ~BackgroundComposer();
  BackgroundComposer(BackgroundComposer&& other) noexcept;
  BackgroundComposer& operator=(BackgroundComposer&& other) noexcept;

  // Changes `picture` in place, alpha being the mask after `contrast` and `refine`: foreground *
  // alpha + background * (1 - alpha), rounded to nearest, on the planes as they are; chroma by the
  // mean alpha of its pixels. Where alpha is 0 it is the background exactly, where it is 255 the
  // picture is as it was. kCutout gives the picture an alpha plane, and makes pixels of alpha 0
  // black, so that nothing of the background is left in the file. A replacement is scaled to fill
  // the picture (crop-to-fill); a video is played by the pictures' times, and again from its start
  // when it has ended. The size may change from picture to picture. kInvalidArgument: a mask
  // without pixels or whose number of values does not fit; kInput: the replacement cannot be read.
  // The picture is then as it was.
  Status compose(const MaskView& mask, Picture& picture);

  const BackgroundOptions& options() const;

 private:
  struct Impl;
  explicit BackgroundComposer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing
