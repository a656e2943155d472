#include "scene_mask.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace sparing::bench {
namespace {

constexpr int kLeastDifference = 26;  // grey levels: nothing of the person below
constexpr int kFullDifference = 46;   // all person from here on
constexpr int kSolid = 128;           // of the mask, for shapes
constexpr int kClosing = 2;           // pixels
constexpr double kSecondPart = 0.25;  // of the largest part: what is smaller is none of the person

// How much brighter the picture is around the box than the background: the median.
int brightness_shift(const YuvPicture& picture, const YuvPicture& background,
                     const PixelRect& place) {
  const SamplePlane& luma = picture.planes[0];
  const int margin = 12;
  std::vector<int> differences;
  for (int y = std::max(0, place.y - margin);
       y < std::min(luma.size.height, place.y + place.height + margin); ++y) {
    for (int x = std::max(0, place.x - margin);
         x < std::min(luma.size.width, place.x + place.width + margin); ++x) {
      const bool inside =
          x >= place.x && x < place.x + place.width && y >= place.y && y < place.y + place.height;
      if (!inside) differences.push_back(luma.row(y)[x] - background.planes[0].row(y)[x]);
    }
  }
  if (differences.empty()) return 0;
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  return *middle;
}

// Chroma counts double: skin and clothes differ from grass and asphalt in it, shadows do not.
int difference_at(const YuvPicture& picture, const YuvPicture& background, int x, int y,
                  int shift) {
  const int luma = std::abs(picture.planes[0].row(y)[x] - background.planes[0].row(y)[x] - shift);
  int chroma = 0;
  for (int p = 1; p < 3; ++p) {
    chroma +=
        std::abs(picture.planes[p].row(y / 2)[x / 2] - background.planes[p].row(y / 2)[x / 2]);
  }
  return luma + 2 * chroma;
}

// Each sample becomes the greatest (or least) of those up to `radius` away.
SamplePlane extremum(const SamplePlane& in, int radius, bool greatest) {
  SamplePlane out(in.size);
  for (int y = 0; y < in.size.height; ++y) {
    for (int x = 0; x < in.size.width; ++x) {
      std::uint8_t best = in.row(y)[x];
      for (int v = std::max(0, y - radius); v <= std::min(in.size.height - 1, y + radius); ++v) {
        for (int u = std::max(0, x - radius); u <= std::min(in.size.width - 1, x + radius); ++u) {
          best = greatest ? std::max(best, in.row(v)[u]) : std::min(best, in.row(v)[u]);
        }
      }
      out.row(y)[x] = best;
    }
  }
  return out;
}

// The pixels of each connected part (8 neighbours) of what is solid.
std::vector<std::vector<int>> parts_of(const SamplePlane& mask) {
  const int width = mask.size.width;
  std::vector<std::uint8_t> seen(mask.samples.size(), 0);
  std::vector<std::vector<int>> parts;
  for (int start = 0; start < static_cast<int>(mask.samples.size()); ++start) {
    if (seen[start] || mask.samples[start] < kSolid) continue;
    std::vector<int> part{start};
    seen[start] = 1;
    for (std::size_t next = 0; next < part.size(); ++next) {
      const int x = part[next] % width;
      const int y = part[next] / width;
      for (int v = std::max(0, y - 1); v <= std::min(mask.size.height - 1, y + 1); ++v) {
        for (int u = std::max(0, x - 1); u <= std::min(width - 1, x + 1); ++u) {
          const int at = v * width + u;
          if (seen[at] || mask.samples[at] < kSolid) continue;
          seen[at] = 1;
          part.push_back(at);
        }
      }
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

// Leaves the large parts and two pixels around them.
void keep_large_parts(SamplePlane& mask) {
  const auto parts = parts_of(mask);
  std::size_t largest = 0;
  for (const auto& part : parts) largest = std::max(largest, part.size());
  SamplePlane kept(mask.size);
  for (const auto& part : parts) {
    if (static_cast<double>(part.size()) < kSecondPart * static_cast<double>(largest)) continue;
    for (const int at : part) kept.samples[at] = 255;
  }
  const SamplePlane near = extremum(kept, 2, true);
  for (std::size_t i = 0; i < mask.samples.size(); ++i) {
    if (near.samples[i] == 0) mask.samples[i] = 0;
  }
}

}  // namespace

SamplePlane person_mask(const YuvPicture& picture, const YuvPicture& background, const Box& box,
                        const PixelRect& place) {
  const int shift = brightness_shift(picture, background, place);
  SamplePlane mask({place.width, place.height});
  for (int y = 0; y < place.height; ++y) {
    for (int x = 0; x < place.width; ++x) {
      const int difference =
          difference_at(picture, background, place.x + x, place.y + y, shift) - kLeastDifference;
      mask.row(y)[x] = static_cast<std::uint8_t>(
          std::clamp(255 * difference / (kFullDifference - kLeastDifference), 0, 255));
    }
  }
  mask = extremum(extremum(mask, kClosing, true), kClosing, false);
  keep_large_parts(mask);
  for (int y = 0; y < place.height; ++y) {
    for (int x = 0; x < place.width; ++x) {
      const int left = place.x + x;
      const int top = place.y + y;
      const bool inside = static_cast<float>(left) >= box.x0 && static_cast<float>(top) >= box.y0 &&
                          static_cast<float>(left + 1) <= box.x1 &&
                          static_cast<float>(top + 1) <= box.y1;
      if (!inside) mask.row(y)[x] = 0;
    }
  }
  return mask;
}

}  // namespace sparing::bench
