#include "sparing/packing/merge.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

namespace sparing {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

Rect bounding_rect(const Rect& a, const Rect& b) {
  const double x = std::min(a.x, b.x);
  const double y = std::min(a.y, b.y);
  return {x, y, std::max(a.right(), b.right()) - x, std::max(a.bottom(), b.bottom()) - y};
}

double rect_iou(const Rect& a, const Rect& b) {
  const double common = intersect(a, b).area();
  return common > 0 ? common / (a.area() + b.area() - common) : 0;
}

double drawn_area(const Rect& rect, double scale) { return rect.area() * scale * scale; }

bool stays_alone(const MergedRoi& region) {
  return region.roi.source == RoiSource::kWholeFrame || region.roi.source == RoiSource::kTile;
}

// The best partner of each region, kept up to date as pairs are joined: a pair is looked for among
// n candidates and not among n^2.
template <class Score, class Join>
class PairMerger {
 public:
  PairMerger(std::vector<MergedRoi>& regions, Score score, Join join)
      : regions_(regions),
        score_(std::move(score)),
        join_(std::move(join)),
        alive_(regions.size(), true),
        partner_(regions.size()) {}

  // Joins the pair of the least score while that is below `limit`.
  void run(double limit) {
    for (std::size_t i = 0; i < regions_.size(); ++i) find_partner(i);
    for (;;) {
      std::size_t best = 0;
      double least = kNever;
      for (std::size_t i = 0; i < regions_.size(); ++i) {
        if (alive_[i] && partner_[i].score < least) {
          least = partner_[i].score;
          best = i;
        }
      }
      if (!(least < limit)) break;
      join(best, partner_[best].index);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      if (!alive_[i]) continue;
      if (kept != i) regions_[kept] = std::move(regions_[i]);
      ++kept;
    }
    regions_.resize(kept);
  }

 private:
  struct Partner {
    std::size_t index = 0;  // greater than the region's own
    double score = kNever;
  };

  void consider(std::size_t i, std::size_t j) {
    if (!alive_[j] || stays_alone(regions_[j])) return;
    const double score = score_(regions_[i], regions_[j]);
    if (score < partner_[i].score) partner_[i] = {j, score};
  }

  void find_partner(std::size_t i) {
    partner_[i] = {};
    if (!alive_[i] || stays_alone(regions_[i])) return;
    for (std::size_t j = i + 1; j < regions_.size(); ++j) consider(i, j);
  }

  void join(std::size_t i, std::size_t j) {
    join_(regions_[i], regions_[j]);
    alive_[j] = false;
    find_partner(i);
    for (std::size_t k = 0; k < regions_.size(); ++k) {
      if (k == i || !alive_[k] || stays_alone(regions_[k])) continue;
      if (partner_[k].score < kNever && (partner_[k].index == i || partner_[k].index == j)) {
        find_partner(k);
      } else if (k < i) {
        consider(k, i);
      }
    }
  }

  std::vector<MergedRoi>& regions_;
  Score score_;
  Join join_;
  std::vector<bool> alive_;
  std::vector<Partner> partner_;
};

// Takes `b` into `a`; the other fields come from `b` when `b_leads`.
void join_regions(MergedRoi& a, MergedRoi& b, bool b_leads) {
  const Rect rect = bounding_rect(a.roi.rect, b.roi.rect);
  if (b_leads) a.roi = b.roi;
  a.roi.rect = rect;
  a.scale = std::max(a.scale, b.scale);
  a.members.insert(a.members.end(), b.members.begin(), b.members.end());
}

void merge_redundant(std::vector<MergedRoi>& regions, double iou) {
  const auto score = [](const MergedRoi& a, const MergedRoi& b) {
    return -rect_iou(a.roi.rect, b.roi.rect);
  };
  const auto join = [](MergedRoi& a, MergedRoi& b) {
    join_regions(a, b, b.roi.confidence > a.roi.confidence);
  };
  PairMerger(regions, score, join).run(-iou);
}

void join_neighbours(std::vector<MergedRoi>& regions, double factor) {
  const auto score = [](const MergedRoi& a, const MergedRoi& b) {
    const Rect both = bounding_rect(a.roi.rect, b.roi.rect);
    return drawn_area(both, std::max(a.scale, b.scale)) /
           (drawn_area(a.roi.rect, a.scale) + drawn_area(b.roi.rect, b.scale));
  };
  const auto join = [](MergedRoi& a, MergedRoi& b) {
    join_regions(a, b, b.roi.confidence < a.roi.confidence);
  };
  PairMerger(regions, score, join).run(factor);
}

std::string describe(const Rect& rect) {
  return "x " + std::to_string(rect.x) + ", y " + std::to_string(rect.y) + ", " +
         std::to_string(rect.width) + "x" + std::to_string(rect.height);
}

Status check_roi(const ScaledRoi& scaled, std::size_t index, Size frame) {
  const Rect& rect = scaled.roi.rect;
  const std::string thing = "region " + std::to_string(index);
  // Sums of rounded corners may pass the frame's edge by their last bit.
  constexpr double kSlack = 1e-6;
  const bool inside = !rect.empty() && is_finite(rect) && rect.x >= -kSlack && rect.y >= -kSlack &&
                      rect.right() <= frame.width + kSlack &&
                      rect.bottom() <= frame.height + kSlack;
  if (!inside) {
    return Error{ErrorCode::kInvalidArgument, thing, describe(rect),
                 "give a region inside the frame of " + std::to_string(frame.width) + "x" +
                     std::to_string(frame.height) + ", with an area"};
  }
  if (!(scaled.scale > 0 && std::isfinite(scaled.scale))) {
    return Error{ErrorCode::kInvalidArgument, thing, "scale " + std::to_string(scaled.scale),
                 "give a scale above 0"};
  }
  return ok_status();
}

}  // namespace

Rect pad_rect(const Rect& rect, Size frame, const MergeOptions& options) {
  const double pad = std::max(options.min_pad, options.pad_share * std::sqrt(rect.area()));
  const double left = std::max(rect.x - pad, 0.0);
  const double top = std::max(rect.y - pad, 0.0);
  const double right = std::min(rect.right() + pad, static_cast<double>(frame.width));
  const double bottom = std::min(rect.bottom() + pad, static_cast<double>(frame.height));
  return {left, top, right - left, bottom - top};
}

Result<std::vector<MergedRoi>> merge_rois(std::span<const ScaledRoi> rois, Size frame,
                                          const MergeOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  if (frame.width <= 0 || frame.height <= 0) {
    return Error{ErrorCode::kInvalidArgument, "frame",
                 std::to_string(frame.width) + "x" + std::to_string(frame.height),
                 "give the size of the frame in pixels"};
  }
  std::vector<MergedRoi> regions;
  regions.reserve(rois.size());
  for (std::size_t i = 0; i < rois.size(); ++i) {
    SPARING_RETURN_IF_ERROR(check_roi(rois[i], i, frame));
    regions.push_back({rois[i].roi, rois[i].scale, {static_cast<int>(i)}});
  }
  merge_redundant(regions, options.redundant_iou);
  for (MergedRoi& region : regions) {
    if (!stays_alone(region)) region.roi.rect = pad_rect(region.roi.rect, frame, options);
  }
  join_neighbours(regions, options.joint_factor);
  for (MergedRoi& region : regions) std::sort(region.members.begin(), region.members.end());
  std::sort(regions.begin(), regions.end(), [](const MergedRoi& a, const MergedRoi& b) {
    return a.members.front() < b.members.front();
  });
  return regions;
}

}  // namespace sparing
