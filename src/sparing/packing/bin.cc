#include "sparing/packing/bin.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sparing/base/check.h"

namespace sparing::packing {
namespace {

std::int64_t area(const PixelRect& rect) {
  return static_cast<std::int64_t>(rect.width) * rect.height;
}

bool fits(const PixelRect& space, Size item) {
  return item.width <= space.width && item.height <= space.height;
}

bool overlap(const PixelRect& a, const PixelRect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

bool holds(const PixelRect& outer, const PixelRect& inner) {
  return inner.x >= outer.x && inner.y >= outer.y &&
         inner.x + inner.width <= outer.x + outer.width &&
         inner.y + inner.height <= outer.y + outer.height;
}

}  // namespace

std::optional<PixelRect> GuillotineBin::find(Size item) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < free_.size(); ++i) {
    if (fits(free_[i], item) && area(free_[i]) < least) {
      least = area(free_[i]);
      found_ = i;
    }
  }
  if (least == std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return PixelRect{free_[found_].x, free_[found_].y, item.width, item.height};
}

void GuillotineBin::take(const PixelRect& rect) {
  const PixelRect space = free_[found_];
  free_[found_] = free_.back();
  free_.pop_back();
  const int right = space.width - rect.width;
  const int below = space.height - rect.height;
  // Along the shorter axis: the cut runs the whole width of a space that is higher than wide.
  const bool horizontal = space.width < space.height;
  add({rect.x + rect.width, space.y, right, horizontal ? rect.height : space.height});
  add({space.x, rect.y + rect.height, horizontal ? space.width : rect.width, below});
  count(rect);
}

std::optional<PixelRect> MaxRectsBin::find(Size item) {
  std::optional<PixelRect> best;
  std::pair<int, int> least{std::numeric_limits<int>::max(), 0};
  for (const PixelRect& space : free_) {
    if (!fits(space, item)) continue;
    const std::pair left = std::minmax({space.width - item.width, space.height - item.height});
    if (left < least) {
      least = left;
      best = PixelRect{space.x, space.y, item.width, item.height};
    }
  }
  return best;
}

void MaxRectsBin::take(const PixelRect& rect) {
  std::vector<PixelRect> pieces;
  std::erase_if(free_, [&](const PixelRect& space) {
    if (!overlap(space, rect)) return false;
    const int right = space.x + space.width;
    const int bottom = space.y + space.height;
    const PixelRect parts[] = {
        {space.x, space.y, rect.x - space.x, space.height},
        {rect.x + rect.width, space.y, right - rect.x - rect.width, space.height},
        {space.x, space.y, space.width, rect.y - space.y},
        {space.x, rect.y + rect.height, space.width, bottom - rect.y - rect.height},
    };
    for (const PixelRect& part : parts) {
      if (!part.empty()) pieces.push_back(part);
    }
    return true;
  });
  const std::size_t first_new = free_.size();
  free_.insert(free_.end(), pieces.begin(), pieces.end());
  prune(first_new);
  count(rect);
}

// Only the new ones can lie in others: they are parts of old ones, none of which held another.
void MaxRectsBin::prune(std::size_t first_new) {
  std::size_t kept = first_new;
  for (std::size_t i = first_new; i < free_.size(); ++i) {
    bool redundant = false;
    for (std::size_t j = 0; j < free_.size() && !redundant; ++j) {
      const bool gone = j >= kept && j < i;
      // Of two equal ones the first stays.
      redundant = j != i && !gone && holds(free_[j], free_[i]) && !(j > i && free_[j] == free_[i]);
    }
    if (!redundant) free_[kept++] = free_[i];
  }
  free_.resize(kept);
}

SkylineBin::SkylineBin(Size size)
    : Bin(size), size_(size), steps_{{0, 0, size.width}}, enclosed_(Size{}) {}

std::optional<int> SkylineBin::rest_on(std::size_t step, Size item) const {
  if (steps_[step].x + item.width > size_.width) return std::nullopt;
  int y = 0;
  for (int left = item.width; left > 0; ++step) {
    y = std::max(y, steps_[step].y);
    if (y + item.height > size_.height) return std::nullopt;
    left -= steps_[step].width;
  }
  return y;
}

std::int64_t SkylineBin::enclosed_area(std::size_t step, Size item, int y) const {
  std::int64_t sum = 0;
  for (int left = item.width; left > 0; ++step) {
    const int width = std::min(left, steps_[step].width);
    sum += static_cast<std::int64_t>(width) * (y - steps_[step].y);
    left -= width;
  }
  return sum;
}

std::optional<PixelRect> SkylineBin::find(Size item) {
  const std::optional<PixelRect> below = enclosed_.find(item);
  found_enclosed_ = below.has_value();
  if (below) return below;
  std::optional<PixelRect> best;
  // Lowest lower edge first, then least enclosed, then leftmost.
  std::pair<int, std::int64_t> least{std::numeric_limits<int>::max(), 0};
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const std::optional<int> y = rest_on(i, item);
    if (!y || *y + item.height > least.first) continue;
    const std::pair cost{*y + item.height, enclosed_area(i, item, *y)};
    if (cost < least) {
      least = cost;
      found_step_ = i;
      best = PixelRect{steps_[i].x, *y, item.width, item.height};
    }
  }
  return best;
}

void SkylineBin::take(const PixelRect& rect) {
  if (found_enclosed_) {
    enclosed_.take(rect);
  } else {
    enclose(rect);
    raise(rect);
  }
  count(rect);
}

void SkylineBin::enclose(const PixelRect& rect) {
  const int right = rect.x + rect.width;
  for (std::size_t i = found_step_; i < steps_.size() && steps_[i].x < right; ++i) {
    const Step& step = steps_[i];
    enclosed_.add({step.x, step.y, std::min(step.x + step.width, right) - step.x, rect.y - step.y});
  }
}

void SkylineBin::raise(const PixelRect& rect) {
  const int right = rect.x + rect.width;
  std::size_t end = found_step_;
  while (end < steps_.size() && steps_[end].x + steps_[end].width <= right) ++end;
  if (end < steps_.size() && steps_[end].x < right) {
    steps_[end].width -= right - steps_[end].x;
    steps_[end].x = right;
  }
  const auto at = [&](std::size_t i) { return steps_.begin() + static_cast<std::ptrdiff_t>(i); };
  steps_.erase(at(found_step_), at(end));
  steps_.insert(at(found_step_), Step{rect.x, rect.y + rect.height, rect.width});
  // Steps of the same height are one, so that wider items find them.
  for (std::size_t i = found_step_ + 1; i-- > 0 && i + 2 > found_step_;) {
    if (i + 1 < steps_.size() && steps_[i].y == steps_[i + 1].y) {
      steps_[i].width += steps_[i + 1].width;
      steps_.erase(at(i + 1));
    }
  }
}

std::unique_ptr<Bin> make_bin(PackAlgorithm algorithm, Size size) {
  switch (algorithm) {
    case PackAlgorithm::kGuillotine: return std::make_unique<GuillotineBin>(size);
    case PackAlgorithm::kMaxRects: return std::make_unique<MaxRectsBin>(size);
    case PackAlgorithm::kSkyline: return std::make_unique<SkylineBin>(size);
  }
  SPARING_CHECK(false);
  return nullptr;
}

}  // namespace sparing::packing
