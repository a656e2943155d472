// All parts in a row: objects, their regions, merging, a plan, a detector that sees what is drawn,
// and back to the objects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sparing/packing/merge.h"
#include "sparing/packing/reconstruct.h"
#include "sparing/packing/window_plan.h"

namespace sparing {
namespace {

constexpr Size kFrame{768, 576};

struct Scene {
  std::vector<Box> objects;
  std::vector<RoiRequest> requests;
};

// People on a jittered grid, so that they stand close but do not cover each other.
Scene make_scene(std::mt19937& random, int frame, double joint_factor) {
  std::uniform_real_distribution<float> unit(0, 1);
  Scene scene;
  std::vector<ScaledRoi> rois;
  for (float y = 0; y < 500; y += 70) {
    for (float x = 0; x < 720; x += 45) {
      if (unit(random) < 0.6f) continue;
      const float width = 12 + 18 * unit(random), height = 30 + 30 * unit(random);
      const float x0 = x + (44 - width) * unit(random), y0 = y + (69 - height) * unit(random);
      scene.objects.push_back({x0, y0, x0 + width, y0 + height});
      ScaledRoi roi;
      roi.roi.rect = {x0, y0, width, height};
      roi.roi.confidence = unit(random);
      roi.scale = 0.4 + 0.6 * static_cast<double>(unit(random));
      rois.push_back(roi);
    }
  }
  MergeOptions merging;
  merging.joint_factor = joint_factor;
  merging.min_pad = 40;
  const auto merged = merge_rois(rois, kFrame, merging);
  EXPECT_TRUE(merged.ok());
  for (const MergedRoi& roi : *merged) {
    RoiRequest request;
    request.roi = roi.roi;
    request.scale = roi.scale;
    request.frame = frame;
    scene.requests.push_back(request);
  }
  return scene;
}

Box common(const Box& a, const Box& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

// The map that import returns for a rectangle stretched onto whole pixels.
DrawnRoi draw(const PlacedRoi& placed, const Rect& rect) {
  const double a = rect.width / placed.rect.width, d = rect.height / placed.rect.height;
  return {placed.request, placed.rect,
          Affine{a, 0, rect.x - a * placed.rect.x, 0, d, rect.y - d * placed.rect.y}, kFrame};
}

// A detector without faults: it finds what a region shows of an object, if that is enough of it.
void detect(const DrawnRoi& roi, const std::vector<Box>& objects, std::vector<Detection>& found) {
  const Box region =
      map_box(roi.to_frame, {static_cast<float>(roi.rect.x), static_cast<float>(roi.rect.y),
                             static_cast<float>(roi.rect.x + roi.rect.width),
                             static_cast<float>(roi.rect.y + roi.rect.height)});
  for (const Box& object : objects) {
    const Box seen = common(object, region);
    const float share = seen.area() / object.area();
    if (share < 0.3f) continue;
    found.push_back({map_box(inverse(roi.to_frame), seen), 0.5f + 0.4f * share, 0});
  }
}

TEST(RoundTrip, EveryObjectComesBackOnceWhereItWas) {
  std::mt19937 random(21);
  const CanvasOptions canvas;
  const auto shapes = canvas_shapes(canvas);
  const auto profile = LatencyProfile::create({"m", "cpu"}, {{640, 640, 40}});
  ASSERT_TRUE(shapes.ok() && profile.ok());
  const std::vector<const LatencyProfile*> processors = {&*profile};
  const std::vector<double> budgets = {std::numeric_limits<double>::infinity()};
  std::size_t boxes_seen = 0, objects_seen = 0;
  for (int round = 0; round < 150; ++round) {
    constexpr int kFrames = 4;
    std::vector<Scene> scenes;
    std::vector<RoiRequest> requests;
    for (int f = 0; f < kFrames; ++f) {
      // Every other round without joining: all regions show parts of their neighbours.
      scenes.push_back(make_scene(random, f, round % 2 == 0 ? 1.3 : 0.0));
      requests.insert(requests.end(), scenes.back().requests.begin(), scenes.back().requests.end());
    }
    const auto plan = plan_window(requests, {processors, budgets, *shapes, canvas, {}});
    ASSERT_TRUE(plan.ok());
    ASSERT_TRUE(plan->all_fit);

    std::vector<std::vector<RoiDetection>> of_frame(kFrames);
    for (const PlannedCanvas& planned : plan->canvases) {
      std::vector<DrawnRoi> drawn;
      std::vector<Detection> found;
      for (const PlacedRoi& placed : planned.rois) {
        const RoiRequest& request = requests[placed.request];
        drawn.push_back(draw(placed, request.roi.rect));
        detect(drawn.back(), scenes[static_cast<std::size_t>(request.frame)].objects, found);
      }
      const auto assigned = assign_detections(found, drawn);
      ASSERT_TRUE(assigned.ok());
      ASSERT_EQ(assigned->outside + assigned->empty, 0);
      boxes_seen += found.size();
      for (const RoiDetection& detection : assigned->detections) {
        of_frame[static_cast<std::size_t>(requests[detection.roi].frame)].push_back(detection);
      }
    }
    for (std::size_t f = 0; f < kFrames; ++f) {
      const auto fused = fuse_detections(of_frame[f]);
      ASSERT_TRUE(fused.ok());
      const std::vector<Box>& objects = scenes[f].objects;
      objects_seen += objects.size();
      ASSERT_EQ(fused->size(), objects.size()) << "round " << round << ", frame " << f;
      for (const Box& object : objects) {
        ASSERT_EQ(std::count_if(fused->begin(), fused->end(),
                                [&](const RoiDetection& detection) {
                                  return iou(detection.detection.box, object) > 0.98f;
                                }),
                  1);
      }
    }
  }
  EXPECT_GT(boxes_seen, objects_seen * 5 / 4);  // regions did show parts of others
}

}  // namespace
}  // namespace sparing
