#include "sparing/compose/background.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "sparing/compose/alpha_plane.h"
#include "sparing/compose/background_blur.h"
#include "sparing/compose/blend.h"
#include "sparing/compose/edge_refiner.h"
#include "sparing/compose/replacement.h"
#include "sparing/io/overlay.h"

namespace sparing {

struct BackgroundComposer::Impl {
  BackgroundOptions options;
  std::optional<Replacement> replacement;
  std::optional<Timestamp> first;

  MaskSampler sampler;
  EdgeRefiner refiner;
  BackgroundBlur blur;
  ByteRaster alpha;
  ByteRaster chroma_alpha;
  std::vector<std::uint8_t> constant;

  void make_alpha(const MaskView& mask, const Picture& picture) {
    const Size size = picture.size();
    if (options.refine && EdgeRefiner::helps(mask, size)) {
      refiner.refine(mask, picture, alpha);
    } else {
      sampler.sample(mask, size, alpha);
    }
    chroma_alpha.resize(picture.plane_size(1));
    for (int y = 0; y < chroma_alpha.size.height; ++y) {
      halve_alpha(alpha.row(2 * y), alpha.row(std::min(2 * y + 1, size.height - 1)), size.width,
                  chroma_alpha.row(y));
    }
  }

  // Blends the picture with a background whose sample rows `row(plane, y)` gives, in order.
  template <class Row>
  void blend(Picture& picture, const Row& row) {
    for (int p = 0; p < 3; ++p) {
      const Size size = picture.plane_size(p);
      for (int y = 0; y < size.height; ++y) {
        const std::uint8_t* a = p > 0 ? chroma_alpha.row(y) : alpha.row(y);
        blend_row(picture.row(p, y), a, row(p, y), size.width);
      }
    }
  }

  void blend_blurred(Picture& picture) {
    const double radius =
        options.blur_radius < 1 ? options.blur_radius * picture.size().height : options.blur_radius;
    blur.prepare(picture, alpha, radius / 2);
    blend(picture, [&](int p, int y) {
      if (y == 0) blur.begin(p);
      return blur.row(y);
    });
  }

  void blend_color(Picture& picture) {
    const YuvColor color = to_yuv(options.color, picture.color_space());
    const std::uint8_t samples[3] = {color.y, color.u, color.v};
    blend(picture, [&](int p, int y) {
      if (y == 0) constant.assign(static_cast<std::size_t>(picture.size().width), samples[p]);
      return constant.data();
    });
  }

  Status blend_replacement(Picture& picture) {
    if (!first) first = picture.timestamp;
    const double elapsed = std::max(0.0, seconds_between(*first, picture.timestamp));
    SPARING_ASSIGN_OR_RETURN(const Picture* background,
                             replacement->at(elapsed, picture.size(), picture.color_space()));
    blend(picture, [&](int p, int y) { return background->row(p, y); });
    return {};
  }

  // Colours stay where anything of them is to be seen.
  Status cut_out(Picture& picture) {
    SPARING_RETURN_IF_ERROR(picture.add_alpha());
    const YuvColor black = to_yuv({0, 0, 0}, picture.color_space());
    const Size size = picture.size();
    for (int y = 0; y < size.height; ++y) {
      const std::uint8_t* a = alpha.row(y);
      std::memcpy(picture.alpha_row(y), a, static_cast<std::size_t>(size.width));
      std::uint8_t* luma = picture.row(0, y);
      for (int x = 0; x < size.width; ++x) luma[x] = a[x] > 0 ? luma[x] : black.y;
    }
    for (int y = 0; y < chroma_alpha.size.height; ++y) {
      const std::uint8_t* upper = alpha.row(2 * y);
      const std::uint8_t* lower = alpha.row(std::min(2 * y + 1, size.height - 1));
      for (int x = 0; x < chroma_alpha.size.width; ++x) {
        const int right = std::min(2 * x + 1, size.width - 1);
        if ((upper[2 * x] | upper[right] | lower[2 * x] | lower[right]) != 0) continue;
        picture.row(1, y)[x] = black.u;
        picture.row(2, y)[x] = black.v;
      }
    }
    return {};
  }

  Status compose(const MaskView& mask, Picture& picture) {
    if (options.effect == BackgroundEffect::kNone) return {};
    SPARING_RETURN_IF_ERROR(validate(mask));
    if (picture.empty()) {
      return Error{ErrorCode::kInvalidArgument, "picture", "it has no pixels", "give a frame's"};
    }
    make_alpha(mask, picture);
    switch (options.effect) {
      case BackgroundEffect::kBlur: blend_blurred(picture); return {};
      case BackgroundEffect::kReplace: return blend_replacement(picture);
      case BackgroundEffect::kColor: blend_color(picture); return {};
      default: return cut_out(picture);
    }
  }
};

BackgroundComposer::BackgroundComposer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BackgroundComposer::~BackgroundComposer() = default;
BackgroundComposer::BackgroundComposer(BackgroundComposer&& other) noexcept = default;
BackgroundComposer& BackgroundComposer::operator=(BackgroundComposer&& other) noexcept = default;

Result<BackgroundComposer> BackgroundComposer::create(const BackgroundOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  if (options.effect == BackgroundEffect::kBlur &&
      !(options.blur_radius > 0 && options.blur_radius <= 1000)) {
    return Error{ErrorCode::kInvalidArgument, "blur radius",
                 std::to_string(options.blur_radius) + " is out of range",
                 "give pixels (1 to 1000) or a part of the height (below 1)"};
  }
  if (options.effect == BackgroundEffect::kReplace) {
    if (options.replacement.empty()) {
      return Error{ErrorCode::kInvalidArgument, "background", "there is nothing to replace it with",
                   "give a picture or a video"};
    }
    SPARING_ASSIGN_OR_RETURN(impl->replacement, Replacement::open(options.replacement));
  }
  return BackgroundComposer(std::move(impl));
}

Status BackgroundComposer::compose(const MaskView& mask, Picture& picture) {
  try {
    return impl_->compose(mask, picture);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kInternal, "background of a picture", "out of memory", "free memory"};
  }
}

const BackgroundOptions& BackgroundComposer::options() const { return impl_->options; }

}  // namespace sparing
