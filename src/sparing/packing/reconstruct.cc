#include "sparing/packing/reconstruct.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace sparing {
namespace {

// A region's edge this near to the frame's is the frame's edge.
constexpr double kFrameEdge = 0.5;

Box box_of(const PixelRect& rect) {
  return {static_cast<float>(rect.x), static_cast<float>(rect.y),
          static_cast<float>(rect.x + rect.width), static_cast<float>(rect.y + rect.height)};
}

Box common(const Box& a, const Box& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

double area_of(const Box& box) {
  const double width = static_cast<double>(box.x1) - box.x0;
  const double height = static_cast<double>(box.y1) - box.y0;
  return width > 0 && height > 0 ? width * height : 0;
}

Status check_roi(const DrawnRoi& roi) {
  const std::string thing = "region " + std::to_string(roi.id);
  if (roi.rect.empty() || roi.frame.width <= 0 || roi.frame.height <= 0) {
    return Error{ErrorCode::kInvalidArgument, thing, "itself or its frame has no area",
                 "give the rectangle on the canvas and the frame's display size"};
  }
  const Affine& map = roi.to_frame;
  const double sum = map.a + map.b + map.c + map.d + map.tx + map.ty;
  if (!std::isfinite(sum) || map.determinant() == 0) {
    return Error{ErrorCode::kInvalidArgument, thing, "its map to the frame cannot be inverted",
                 "give the map that import returned"};
  }
  return ok_status();
}

// The region of most overlap, if it holds enough of the box.
const DrawnRoi* region_of(const Box& box, std::span<const DrawnRoi> rois, double min_inside) {
  const DrawnRoi* best = nullptr;
  double most = 0;
  for (const DrawnRoi& roi : rois) {
    const double overlap = area_of(common(box, box_of(roi.rect)));
    if (overlap > most) {
      most = overlap;
      best = &roi;
    }
  }
  return most >= min_inside * area_of(box) ? best : nullptr;
}

unsigned cut_sides(const Box& box, const Box& region, const DrawnRoi& roi, double margin) {
  const double x = margin * region.width() / roi.rect.width;
  const double y = margin * region.height() / roi.rect.height;
  unsigned cut = 0;
  if (region.x0 > kFrameEdge && box.x0 < region.x0 + x) cut |= kCutLeft;
  if (region.y0 > kFrameEdge && box.y0 < region.y0 + y) cut |= kCutTop;
  if (region.x1 < roi.frame.width - kFrameEdge && box.x1 > region.x1 - x) cut |= kCutRight;
  if (region.y1 < roi.frame.height - kFrameEdge && box.y1 > region.y1 - y) cut |= kCutBottom;
  return cut;
}

class Fusion {
 public:
  Fusion(std::span<const RoiDetection> detections, const ReconstructOptions& options)
      : all_(detections.begin(), detections.end()),
        alive_(all_.size(), true),
        joined_(all_.size(), false),
        options_(options) {}

  std::vector<RoiDetection> run() {
    absorb_parts();
    while (join_halves()) {
    }
    suppress();
    std::vector<RoiDetection> result;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (alive_[i]) result.push_back(all_[i]);
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const RoiDetection& a, const RoiDetection& b) {
                       return a.detection.score > b.detection.score;
                     });
    return result;
  }

 private:
  // Whether two may be the same object, found twice. What was joined came of several regions.
  bool comparable(std::size_t i, std::size_t j) const {
    return i != j && alive_[i] && alive_[j] &&
           (options_.class_agnostic || all_[i].detection.class_id == all_[j].detection.class_id) &&
           (all_[i].roi != all_[j].roi || joined_[i] || joined_[j]);
  }

  // How well `part` is what its region shows of `whole`; 0: not at all.
  double explained(const RoiDetection& part, const RoiDetection& whole) const {
    const Box& a = part.detection.box;
    const Box& b = whole.detection.box;
    if (area_of(b) <= area_of(a)) return 0;
    if (area_of(common(a, b)) < options_.contained * area_of(a)) return 0;
    const double overlap = iou(a, common(b, part.region));
    return overlap >= options_.same_iou ? overlap : 0;
  }

  void absorb_parts() {
    std::vector<std::size_t> parts;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].cut != 0) parts.push_back(i);
    }
    // The smallest first: a part may lie in a larger part, and that in the whole.
    std::stable_sort(parts.begin(), parts.end(), [&](std::size_t a, std::size_t b) {
      return area_of(all_[a].detection.box) < area_of(all_[b].detection.box);
    });
    for (const std::size_t part : parts) {
      std::size_t best = part;
      double most = 0;
      for (std::size_t i = 0; i < all_.size(); ++i) {
        if (!comparable(part, i)) continue;
        const double overlap = explained(all_[part], all_[i]);
        if (overlap > most) {
          most = overlap;
          best = i;
        }
      }
      if (best == part) continue;
      float& score = all_[best].detection.score;
      score = std::max(score, all_[part].detection.score);
      alive_[part] = false;
    }
  }

  // How well two spans agree: their intersection over their union.
  static double span_iou(float a0, float a1, float b0, float b1) {
    const double shared = std::min(a1, b1) - static_cast<double>(std::max(a0, b0));
    const double whole = std::max(a1, b1) - static_cast<double>(std::min(a0, b0));
    return shared > 0 ? shared / whole : 0;
  }

  // Left and right (or upper and lower) half of one object: how well they agree; 0: not at all.
  static double agreement(const RoiDetection& a, const RoiDetection& b) {
    const Box& p = a.detection.box;
    const Box& q = b.detection.box;
    const bool across =
        (a.cut & kCutRight) && (b.cut & kCutLeft) && p.x0 < q.x0 && p.x1 < q.x1 && q.x0 < p.x1;
    const bool along =
        (a.cut & kCutBottom) && (b.cut & kCutTop) && p.y0 < q.y0 && p.y1 < q.y1 && q.y0 < p.y1;
    return std::max(across ? span_iou(p.y0, p.y1, q.y0, q.y1) : 0,
                    along ? span_iou(p.x0, p.x1, q.x0, q.x1) : 0);
  }

  // Joins the two halves that agree best, if any do.
  bool join_halves() {
    constexpr double kAgree = 0.7;
    double most = kAgree;
    std::optional<std::pair<std::size_t, std::size_t>> best;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!alive_[i] || all_[i].cut == 0) continue;
      for (std::size_t j = 0; j < all_.size(); ++j) {
        if (!comparable(i, j) || all_[j].cut == 0) continue;
        const double agreed = agreement(all_[i], all_[j]);
        if (agreed > most) {
          most = agreed;
          best = {i, j};
        }
      }
    }
    if (!best) return false;
    join(all_[best->first], all_[best->second]);
    alive_[best->second] = false;
    joined_[best->first] = true;
    return true;
  }

  // Takes `b` into `a`. A side stays cut where the half that reaches further was.
  static void join(RoiDetection& a, const RoiDetection& b) {
    Box& p = a.detection.box;
    const Box& q = b.detection.box;
    const auto of = [&](bool from_a, unsigned side) { return (from_a ? a.cut : b.cut) & side; };
    const unsigned cut = of(p.x0 <= q.x0, kCutLeft) | of(p.y0 <= q.y0, kCutTop) |
                         of(p.x1 >= q.x1, kCutRight) | of(p.y1 >= q.y1, kCutBottom);
    const auto bounds = [](const Box& x, const Box& y) {
      return Box{std::min(x.x0, y.x0), std::min(x.y0, y.y0), std::max(x.x1, y.x1),
                 std::max(x.y1, y.y1)};
    };
    p = bounds(p, q);
    a.region = bounds(a.region, b.region);
    a.detection.score = std::max(a.detection.score, b.detection.score);
    a.cut = cut;
  }

  void suppress() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (alive_[i]) order.push_back(i);
    }
    const auto rank = [&](std::size_t i) {
      const double weight = all_[i].cut != 0 ? options_.suspect_weight : 1;
      return weight * static_cast<double>(all_[i].detection.score);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rank(a) > rank(b); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = i + 1; j < order.size(); ++j) {
        if (!comparable(order[i], order[j])) continue;
        RoiDetection& kept = all_[order[i]];
        const RoiDetection& other = all_[order[j]];
        if (iou(kept.detection.box, other.detection.box) <= options_.nms_iou) continue;
        kept.detection.score = std::max(kept.detection.score, other.detection.score);
        alive_[order[j]] = false;
      }
    }
  }

  std::vector<RoiDetection> all_;
  std::vector<bool> alive_, joined_;
  const ReconstructOptions& options_;
};

}  // namespace

Result<CanvasDetections> assign_detections(std::span<const Detection> detections,
                                           std::span<const DrawnRoi> rois,
                                           const ReconstructOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  for (const DrawnRoi& roi : rois) SPARING_RETURN_IF_ERROR(check_roi(roi));
  CanvasDetections result;
  for (const Detection& detection : detections) {
    if (!is_finite(detection.box) || area_of(detection.box) <= 0) {
      ++result.empty;
      continue;
    }
    const DrawnRoi* roi = region_of(detection.box, rois, options.min_inside);
    if (roi == nullptr) {
      ++result.outside;
      continue;
    }
    const auto to_frame = [roi](const Box& box) {
      return clip(map_box(roi->to_frame, box), roi->frame.width, roi->frame.height);
    };
    RoiDetection found{detection, roi->id, to_frame(box_of(roi->rect)), 0};
    Box& box = found.detection.box;
    box = to_frame(common(detection.box, box_of(roi->rect)));
    if (!(box.width() >= options.min_side && box.height() >= options.min_side)) {
      ++result.empty;
      continue;
    }
    found.cut = cut_sides(box, found.region, *roi, options.edge_margin);
    result.detections.push_back(found);
  }
  return result;
}

Result<std::vector<RoiDetection>> fuse_detections(std::span<const RoiDetection> detections,
                                                  const ReconstructOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  for (std::size_t i = 0; i < detections.size(); ++i) {
    if (is_finite(detections[i].detection.box) && is_finite(detections[i].region)) continue;
    return Error{ErrorCode::kInvalidArgument, "detection " + std::to_string(i),
                 "its box or region is not finite", "give what assign_detections() returned"};
  }
  return Fusion(detections, options).run();
}

}  // namespace sparing
