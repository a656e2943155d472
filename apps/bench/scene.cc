#include "scene.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "scene_pixels.h"
#include "scene_random.h"

namespace sparing::bench {
namespace {

constexpr double kHidden = 0.5;        // covered by more: neither found nor missed counts
constexpr double kCrowded = 0.1;       // share of a box that others may cover where he is placed
constexpr double kShakeFrequency = 3;  // Hz

Point feet(const Box& box) {
  return {(static_cast<double>(box.x0) + box.x1) / 2, static_cast<double>(box.y1)};
}

double overlap_share(const Box& of, const Box& by) {
  const double width = std::min(of.x1, by.x1) - std::max(of.x0, by.x0);
  const double height = std::min(of.y1, by.y1) - std::max(of.y0, by.y0);
  const double area = of.area();
  return width > 0 && height > 0 && area > 0 ? width * height / area : 0;
}

Box moved(const Box& box, double dx, double dy) {
  return {static_cast<float>(box.x0 + dx), static_cast<float>(box.y0 + dy),
          static_cast<float>(box.x1 + dx), static_cast<float>(box.y1 + dy)};
}

}  // namespace

Scene::Scene(std::shared_ptr<const SceneMaterial> material, const SceneOptions& options)
    : material_(std::move(material)), options_(options) {
  const Size from = material_->background.size();
  const Size to{options.size.width + 2 * kSceneMargin, options.size.height + 2 * kSceneMargin};
  enlarged_ = std::max(static_cast<double>(to.width) / from.width,
                       static_cast<double>(to.height) / from.height);
  background_ = enlarge(material_->background, to, enlarged_);
  noise_ = noise_samples(options.noise, options.seed);
}

Scene Scene::with(const SceneOptions& options) const {
  Scene scene(material_, options);
  scene.actors_ = actors_;
  return scene;
}

Scene::Pose Scene::pose(const SceneActor& actor, double time) const {
  if (time < actor.start || time >= actor.end) return {};
  const CutoutTrack& track = material_->tracks[static_cast<std::size_t>(actor.track)];
  const int count = static_cast<int>(track.cutouts.size());
  if (actor.still) return {&track.cutouts[static_cast<std::size_t>(actor.first)], {}};
  // A little more than the time, so that rounding never repeats one cutout and skips the next.
  const double at = actor.first + (time - actor.start) * material_->frame_rate + 1e-6;
  const int index = static_cast<int>(at);
  if (index >= count) return {};
  const Cutout& now = track.cutouts[static_cast<std::size_t>(index)];
  if (index + 1 >= count) return {&now, {}};
  const Point a = feet(now.box);
  const Point b = feet(track.cutouts[static_cast<std::size_t>(index + 1)].box);
  const double part = at - index;
  return {&now, {part * (b.x - a.x), part * (b.y - a.y)}};
}

Box Scene::box_of(const SceneActor& actor, const Pose& pose) const {
  const Box& box = pose.cutout->box;
  const auto x = [&](float v) {
    return static_cast<float>(actor.scale * (v + pose.shift.x) + actor.offset.x);
  };
  const auto y = [&](float v) {
    return static_cast<float>(actor.scale * (v + pose.shift.y) + actor.offset.y);
  };
  return {x(box.x0), y(box.y0), x(box.x1), y(box.y1)};
}

Point Scene::camera_shift(double time) const {
  const CameraShake& shake = options_.shake;
  const double since = time - shake.start;
  if (since < 0) return {};
  double part = 1;
  if (shake.settle > 0) {
    part = std::max(0.0, 1 - since / shake.settle) *
           std::cos(2 * std::numbers::pi * kShakeFrequency * since);
  }
  return {std::round(part * shake.shift.x), std::round(part * shake.shift.y)};
}

std::vector<SceneTruth> Scene::truth(int frame) const {
  const double time = seconds(frame);
  const Point shift = camera_shift(time);
  std::vector<SceneTruth> people;
  for (std::size_t i = 0; i < actors_.size(); ++i) {
    const Pose at = pose(actors_[i], time);
    if (at.cutout == nullptr) continue;
    const Box box = clip(moved(box_of(actors_[i], at), shift.x, shift.y), options_.size.width,
                         options_.size.height);
    if (box.area() > 0) people.push_back({static_cast<int>(i), box, 0});
  }
  std::stable_sort(people.begin(), people.end(),
                   [](const SceneTruth& a, const SceneTruth& b) { return a.box.y1 < b.box.y1; });
  for (std::size_t i = 0; i < people.size(); ++i) {
    for (std::size_t before = i + 1; before < people.size(); ++before) {
      people[i].covered += overlap_share(people[i].box, people[before].box);
    }
    people[i].covered = std::min(1.0, people[i].covered);
  }
  return people;
}

ImageAnnotations Scene::annotations(int frame) const {
  ImageAnnotations image;
  image.image_id = frame;
  for (const SceneTruth& person : truth(frame)) {
    Annotation annotation;
    annotation.box = person.box;
    annotation.ignore = person.covered > kHidden;
    image.objects.push_back(annotation);
  }
  return image;
}

// The largest share of the actor's box that anybody covers, at half-second steps.
double Scene::crowding(const SceneActor& actor) const {
  double most = 0;
  const double last = std::min(actor.end, seconds(options_.frames));
  for (double time = actor.start; time < last; time += 0.5) {
    const Pose at = pose(actor, time);
    if (at.cutout == nullptr) break;
    const Box box = box_of(actor, at);
    for (const SceneActor& other : actors_) {
      const Pose there = pose(other, time);
      if (there.cutout != nullptr) most = std::max(most, overlap_share(box, box_of(other, there)));
    }
  }
  return most;
}

SceneActor Scene::place(std::uint64_t seed, int track, double scale, int first, int last,
                        double start, int tries) const {
  SceneRandom random(seed);
  const auto& cutouts = material_->tracks[static_cast<std::size_t>(track)].cutouts;
  Box hull = cutouts[static_cast<std::size_t>(first)].box;
  double highest_feet = hull.y1;
  for (int i = first; i <= last; ++i) {
    const Box& box = cutouts[static_cast<std::size_t>(i)].box;
    hull = {std::min(hull.x0, box.x0), std::min(hull.y0, box.y0), std::max(hull.x1, box.x1),
            std::max(hull.y1, box.y1)};
    highest_feet = std::min(highest_feet, static_cast<double>(box.y1));
  }
  const double ground =
      material_->ground * enlarged_ - kSceneMargin -
      (material_->background.size().height * enlarged_ - background_.size().height);
  const double left = -scale * hull.x0;
  const double right = options_.size.width - scale * hull.x1;
  const double top = std::max(-scale * hull.y0, ground - scale * highest_feet);
  const double bottom = options_.size.height - scale * hull.y1;
  SceneActor best;
  double least = kNever;
  for (int i = 0; i < tries && least > kCrowded; ++i) {
    SceneActor actor;
    actor.track = track;
    actor.first = first;
    actor.start = start;
    actor.end = start + (last - first + 1) / material_->frame_rate;
    actor.scale = scale;
    actor.offset = {random.uniform(left, std::max(left, right)),
                    random.uniform(top, std::max(top, bottom))};
    const double crowded = crowding(actor);
    if (crowded < least) {
      least = crowded;
      best = actor;
    }
  }
  return best;
}

void Scene::add_people(int people, double smallest, double largest) {
  SceneRandom random(options_.seed * 7919 + 17);
  const double end = seconds(options_.frames);
  for (int slot = 0; slot < people; ++slot) {
    double time = 0;
    while (time < end) {
      const int track = random.below(static_cast<int>(material_->tracks.size()));
      const int count =
          static_cast<int>(material_->tracks[static_cast<std::size_t>(track)].cutouts.size());
      // At the beginning people are somewhere on their way; later they begin it.
      const int first = time > 0 ? 0 : random.below(count / 2);
      const double scale = random.uniform(smallest, largest);
      add(place(random.bits(), track, scale, first, count - 1, time));
      time += (count - first) / material_->frame_rate;
    }
  }
}

Result<SharedFrame> Scene::render(int frame) const {
  const double time = seconds(frame);
  const Point shift = camera_shift(time);
  SPARING_ASSIGN_OR_RETURN(SharedFrame picture, allocate_frame(PixelFormat::kI420, options_.size));
  VideoFrame& view = picture.view();
  view.timestamp = {frame, {1, options_.frame_rate}};
  view.duration = {1, {1, options_.frame_rate}};
  view.color_space.matrix = ColorMatrix::kBt601;
  view.color_space.range = ColorRange::kLimited;
  draw_background(picture, shift);
  for (const SceneTruth& person : truth(frame)) {
    const SceneActor& actor = actors_[static_cast<std::size_t>(person.actor)];
    paste(picture, actor, pose(actor, time), shift);
  }
  for (int plane = 0; plane < 3; ++plane) finish_plane(picture, plane, frame, time);
  return picture;
}

void Scene::draw_background(SharedFrame& frame, Point shift) const {
  for (int p = 0; p < 3; ++p) {
    const SamplePlane& from = background_.planes[p];
    const int unit = p == 0 ? 1 : 2;
    // Chroma moves by whole samples of its own.
    const int x0 = (kSceneMargin - static_cast<int>(shift.x)) / unit;
    const int y0 = (kSceneMargin - static_cast<int>(shift.y)) / unit;
    const Plane& plane = frame.view().planes[static_cast<std::size_t>(p)];
    std::uint8_t* to = mutable_plane(frame, p);
    const auto width = static_cast<std::size_t>(options_.size.width / unit);
    for (int y = 0; y < options_.size.height / unit; ++y) {
      std::memcpy(to + y * plane.stride, from.row(y0 + y) + x0, width);
    }
  }
}

void Scene::paste(SharedFrame& frame, const SceneActor& actor, const Pose& pose,
                  Point shift) const {
  const Point offset{actor.offset.x + shift.x + actor.scale * pose.shift.x,
                     actor.offset.y + shift.y + actor.scale * pose.shift.y};
  for (int p = 0; p < 3; ++p) {
    const int unit = p == 0 ? 1 : 2;
    const PlaneView to{mutable_plane(frame, p),
                       frame.view().planes[static_cast<std::size_t>(p)].stride,
                       {options_.size.width / unit, options_.size.height / unit}};
    paste_cutout(*pose.cutout, p, actor.scale, offset, to);
  }
}

// What the light does, then what the camera adds.
void Scene::finish_plane(SharedFrame& frame, int plane, int index, double time) const {
  const int unit = plane == 0 ? 1 : 2;
  const PlaneView to{mutable_plane(frame, plane),
                     frame.view().planes[static_cast<std::size_t>(plane)].stride,
                     {options_.size.width / unit, options_.size.height / unit}};
  if (time >= options_.light.start) {
    apply_light(to, plane, options_.light.gain, options_.light.offset);
  }
  if (options_.noise > 0) {
    const std::uint64_t seed = options_.seed * 1000003 + static_cast<std::uint64_t>(index) * 3 +
                               static_cast<std::uint64_t>(plane);
    add_noise(to, *noise_, plane == 0 ? 1.0 : 0.5, seed);
  }
}

}  // namespace sparing::bench
