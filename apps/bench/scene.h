// Synthetic scenes with known truth: people cut out of a video (scene_material.h), pasted on its
// background with their own motion, under camera noise, and what may befall a camera.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "scene_material.h"
#include "sparing/base/annotation.h"
#include "sparing/frame/video_frame.h"

namespace sparing::bench {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

// A person in a scene. A point p of the video lies at scale * p + offset in the scene.
struct SceneActor {
  int track = 0;        // of the material
  int first = 0;        // its cutout at `start`; the others follow at the video's rate
  double start = 0;     // seconds, scene time; seen from then on ...
  double end = kNever;  // ... until then or until the track ends
  double scale = 1;
  Point offset;
  bool still = false;  // keeps to its first cutout and stands
};

// From `start` on luma is gain * luma + offset (from black), clipped, and chroma gain * chroma.
struct LightStep {
  double start = kNever;  // seconds
  double gain = 1;
  double offset = 0;  // grey levels
};

// From `start` on the picture is displaced: for good, or swinging at 3 Hz and back within `settle`
// seconds.
struct CameraShake {
  double start = kNever;  // seconds
  Point shift;            // whole pixels; at most kSceneMargin each way
  double settle = 0;      // 0: stays
};
inline constexpr int kSceneMargin = 16;  // pixels of background beyond each edge

struct SceneOptions {
  Size size{1920, 1080};  // even
  int frame_rate = 30;    // frames a second
  int frames = 450;
  double noise = 2;  // deviation of luma, grey levels; chroma has half of it
  std::uint64_t seed = 1;
  LightStep light;
  CameraShake shake;
};

// A person in a frame.
struct SceneTruth {
  int actor = 0;
  Box box;             // of the frame; holds every pixel of the person, but for the filter's edge
  double covered = 0;  // share of the box that people before him cover with theirs
};

// A scene's frames may be rendered in any order and by several threads at the same time.
class Scene {
 public:
  // The background is enlarged so that it covers the picture; of what is too high the lower part
  // is shown.
  Scene(std::shared_ptr<const SceneMaterial> material, const SceneOptions& options);

  // The same people at the same places in a scene with other options of the same size.
  Scene with(const SceneOptions& options) const;

  void add(const SceneActor& actor) { actors_.push_back(actor); }
  // Fills the whole time with `people` people at a time, scales from `smallest` to `largest` as
  // they stand farther down. Those who leave at the end of their track are followed by others.
  void add_people(int people, double smallest, double largest);
  // A place for a track at `scale` where all its boxes from cutout `first` to `last` are inside the
  // picture, the feet are on the ground and nobody else is, or hardly, as far as `tries` go.
  SceneActor place(std::uint64_t seed, int track, double scale, int first, int last, double start,
                   int tries = 40) const;

  const SceneOptions& options() const { return options_; }
  const SceneMaterial& material() const { return *material_; }
  const std::vector<SceneActor>& actors() const { return actors_; }
  double seconds(int frame) const { return static_cast<double>(frame) / options_.frame_rate; }

  // I420, BT.601, limited range; timestamp `frame` in units of 1 / frame_rate.
  Result<SharedFrame> render(int frame) const;
  // Those in the frame who can be seen, nearest last.
  std::vector<SceneTruth> truth(int frame) const;
  // The same as annotations: class 0, and `ignore` for those of whom more than half is covered.
  ImageAnnotations annotations(int frame) const;

 private:
  struct Pose {                      // of an actor at a time
    const Cutout* cutout = nullptr;  // null: not there
    Point shift;                     // of the video, beyond its place
  };
  Pose pose(const SceneActor& actor, double time) const;
  Box box_of(const SceneActor& actor, const Pose& pose) const;
  Point camera_shift(double time) const;
  double crowding(const SceneActor& actor) const;
  void paste(SharedFrame& frame, const SceneActor& actor, const Pose& pose, Point shift) const;
  void draw_background(SharedFrame& frame, Point shift) const;
  void finish_plane(SharedFrame& frame, int plane, int index, double time) const;

  std::shared_ptr<const SceneMaterial> material_;
  SceneOptions options_;
  YuvPicture background_;  // kSceneMargin larger on each side
  double enlarged_ = 1;
  std::vector<SceneActor> actors_;
  std::shared_ptr<const std::vector<std::int8_t>> noise_;
};

}  // namespace sparing::bench
