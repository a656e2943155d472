#include "scene_material.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "scene_mask.h"
#include "sparing/io/source.h"

namespace sparing::bench {
namespace {

namespace fs = std::filesystem;

struct TrueBox {
  int person;
  Box box;
};
using BoxesByFrame = std::map<int, std::vector<TrueBox>>;

Error material_error(const fs::path& file, std::string problem) {
  return {ErrorCode::kInput, "scene material '" + file.string() + "'", std::move(problem),
          "give PETS S2.L1: its video and MOT ground truth"};
}

// The readers of the io module keep no ids, which tracks need.
Result<BoxesByFrame> read_tracks(const fs::path& file) {
  std::ifstream in(file);
  if (!in) return material_error(file, "cannot be read");
  BoxesByFrame boxes;
  std::string line;
  while (std::getline(in, line)) {
    int frame = 0;
    int person = 0;
    float x = 0, y = 0, width = 0, height = 0;
    if (std::sscanf(line.c_str(), "%d,%d,%f,%f,%f,%f", &frame, &person, &x, &y, &width, &height) !=
            6 ||
        frame < 1) {
      return material_error(file, "is not MOT text: '" + line + "'");
    }
    boxes[frame - 1].push_back({person, {x, y, x + width, y + height}});
  }
  return boxes;
}

float overlap(const Box& a, const Box& b) {
  const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  const float height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  return width > 0 && height > 0 ? width * height : 0;
}

bool is_alone(const TrueBox& one, const std::vector<TrueBox>& all, double most_overlap) {
  return std::all_of(all.begin(), all.end(), [&](const TrueBox& other) {
    return other.person == one.person ||
           overlap(one.box, other.box) <= most_overlap * static_cast<double>(one.box.area());
  });
}

bool is_unobstructed(const Box& box, const std::vector<Box>& obstacles) {
  return std::none_of(obstacles.begin(), obstacles.end(),
                      [&](const Box& obstacle) { return overlap(box, obstacle) > 0; });
}

bool is_inside(const Box& box, Size size) {
  return box.x0 >= 0 && box.y0 >= 0 && box.x1 <= static_cast<float>(size.width) &&
         box.y1 <= static_cast<float>(size.height);
}

PixelRect even_rect(const Box& box) {
  const int x0 = static_cast<int>(std::floor(box.x0 / 2)) * 2;
  const int y0 = static_cast<int>(std::floor(box.y0 / 2)) * 2;
  return {x0, y0, static_cast<int>(std::ceil((box.x1 - static_cast<float>(x0)) / 2)) * 2,
          static_cast<int>(std::ceil((box.y1 - static_cast<float>(y0)) / 2)) * 2};
}

YuvPicture crop(const YuvPicture& picture, const PixelRect& place) {
  YuvPicture part;
  for (int p = 0; p < 3; ++p) {
    const int shift = p == 0 ? 0 : 1;
    part.planes[p] = SamplePlane({place.width >> shift, place.height >> shift});
    for (int y = 0; y < part.planes[p].size.height; ++y) {
      const std::uint8_t* from = picture.planes[p].row(y + (place.y >> shift)) + (place.x >> shift);
      std::copy(from, from + part.planes[p].size.width, part.planes[p].row(y));
    }
  }
  return part;
}

template <class Visit>  // Status visit(int index, const VideoFrame&)
Status for_each_frame(const fs::path& video, Visit&& visit) {
  SPARING_ASSIGN_OR_RETURN(auto source, open_source(video.string()));
  while (true) {
    SPARING_ASSIGN_OR_RETURN(std::optional<SourceFrame> frame, source->next());
    if (!frame) return {};
    SPARING_RETURN_IF_ERROR(visit(static_cast<int>(frame->index), frame->frame.view()));
  }
}

// The median over the frames that show the background at a sample; over all where none does.
class BackgroundMedian {
 public:
  void add(const YuvPicture& picture, const std::vector<TrueBox>& people) {
    if (count_.empty()) {
      for (int p = 0; p < 3; ++p) sizes_[p] = picture.planes[p].size;
      for (const SamplePlane& plane : picture.planes) {
        count_.emplace_back(plane.samples.size() * kBins, 0);
      }
    }
    for (int p = 0; p < 3; ++p) add_plane(picture.planes[p], p, people);
  }

  YuvPicture result() const {
    YuvPicture median;
    for (int p = 0; p < 3; ++p) {
      median.planes[p] = SamplePlane(sizes_[p]);
      for (std::size_t i = 0; i < median.planes[p].samples.size(); ++i) {
        median.planes[p].samples[i] = median_of(&count_[p][i * kBins]);
      }
    }
    return median;
  }

 private:
  // Covered samples weigh 1, seen ones kSeen: the first decide only where there are no others.
  static constexpr int kBins = 256;
  static constexpr std::uint16_t kSeen = 256;

  void add_plane(const SamplePlane& plane, int p, const std::vector<TrueBox>& people) {
    const float unit = p == 0 ? 1 : 2;
    const float margin = 4;
    SamplePlane covered(plane.size);
    for (const TrueBox& person : people) {
      const Box& b = person.box;
      const int x0 = std::max(0, static_cast<int>((b.x0 - margin) / unit));
      const int x1 = std::min(plane.size.width, static_cast<int>((b.x1 + margin) / unit) + 1);
      const int y0 = std::max(0, static_cast<int>((b.y0 - margin) / unit));
      const int y1 = std::min(plane.size.height, static_cast<int>((b.y1 + margin) / unit) + 1);
      for (int y = y0; y < y1; ++y) {
        if (x0 < x1) std::fill(covered.row(y) + x0, covered.row(y) + x1, std::uint8_t{1});
      }
    }
    for (std::size_t i = 0; i < plane.samples.size(); ++i) {
      std::uint16_t& bin = count_[p][i * kBins + plane.samples[i]];
      const std::uint16_t weight = covered.samples[i] ? 1 : kSeen;
      bin = static_cast<std::uint16_t>(std::min(65535, bin + weight));
    }
  }

  static std::uint8_t median_of(const std::uint16_t* bins) {
    long total = 0;
    for (int v = 0; v < kBins; ++v) total += bins[v];
    long below = 0;
    for (int v = 0; v < kBins; ++v) {
      below += bins[v];
      if (2 * below >= total) return static_cast<std::uint8_t>(v);
    }
    return 0;
  }

  Size sizes_[3];
  std::vector<std::vector<std::uint16_t>> count_;
};

// Collects the cutouts of each person while he is alone in his box, inside the picture and seen.
class TrackCollector {
 public:
  TrackCollector(const YuvPicture& background, const MaterialOptions& options)
      : background_(background), options_(options) {}

  void add(int frame, const YuvPicture& picture, const std::vector<TrueBox>& people) {
    std::map<int, CutoutTrack> going;
    for (const TrueBox& person : people) {
      if (!is_inside(person.box, picture.size()) ||
          !is_alone(person, people, options_.most_overlap) ||
          !is_unobstructed(person.box, options_.obstacles)) {
        continue;
      }
      Cutout cutout = cut(picture, person.box);
      if (!covers_enough(cutout)) continue;
      CutoutTrack& track = going[person.person];
      const auto before = going_.find(person.person);
      if (before != going_.end()) {
        track = std::move(before->second);
        going_.erase(before);
      } else {
        track.person = person.person;
        track.first_frame = frame;
      }
      track.cutouts.push_back(std::move(cutout));
    }
    finish();
    going_ = std::move(going);
  }

  std::vector<CutoutTrack> tracks() {
    finish();
    return std::move(tracks_);
  }

 private:
  Cutout cut(const YuvPicture& picture, const Box& box) const {
    Cutout cutout;
    cutout.box = box;
    cutout.place = even_rect(box);
    cutout.pixels = crop(picture, cutout.place);
    cutout.alpha = person_mask(picture, background_, box, cutout.place);
    return cutout;
  }

  bool covers_enough(const Cutout& cutout) const {
    double sum = 0;
    for (const std::uint8_t a : cutout.alpha.samples) sum += a / 255.0;
    return sum >= options_.least_cover * static_cast<double>(cutout.box.area());
  }

  void finish() {
    for (auto& [person, track] : going_) {
      if (static_cast<int>(track.cutouts.size()) >= options_.shortest_track) {
        tracks_.push_back(std::move(track));
      }
    }
    going_.clear();
  }

  const YuvPicture& background_;
  const MaterialOptions& options_;
  std::map<int, CutoutTrack> going_;
  std::vector<CutoutTrack> tracks_;
};

}  // namespace

Result<YuvPicture> copy_picture(const VideoFrame& frame) {
  if (frame.format != PixelFormat::kI420) {
    return Error{ErrorCode::kNotSupported, "scene material",
                 "the video's format is " + std::string(info(frame.format).name),
                 "give a video in 8-bit 4:2:0"};
  }
  YuvPicture picture;
  for (int p = 0; p < 3; ++p) {
    const int shift = p == 0 ? 0 : 1;
    picture.planes[p] = SamplePlane(
        {(frame.coded_size.width / 2 * 2) >> shift, (frame.coded_size.height / 2 * 2) >> shift});
    SamplePlane& plane = picture.planes[p];
    for (int y = 0; y < plane.size.height; ++y) {
      const std::uint8_t* from = frame.planes[p].data + y * frame.planes[p].stride;
      std::copy(from, from + plane.size.width, plane.row(y));
    }
  }
  return picture;
}

MaterialOptions pets_options() {
  MaterialOptions options;
  options.obstacles = {{396, 20, 442, 395}, {410, 198, 450, 248}};
  options.ground = 150;
  return options;
}

Result<SceneMaterial> cut_out_people(const fs::path& video, const fs::path& truth,
                                     const MaterialOptions& options) {
  SPARING_ASSIGN_OR_RETURN(const BoxesByFrame boxes, read_tracks(truth));
  const std::vector<TrueBox> nobody;
  const auto people_in = [&](int frame) -> const std::vector<TrueBox>& {
    const auto found = boxes.find(frame);
    return found == boxes.end() ? nobody : found->second;
  };
  BackgroundMedian median;
  SPARING_RETURN_IF_ERROR(for_each_frame(video, [&](int index, const VideoFrame& frame) -> Status {
    if (index % options.background_step != 0) return {};
    SPARING_ASSIGN_OR_RETURN(const YuvPicture picture, copy_picture(frame));
    median.add(picture, people_in(index));
    return {};
  }));
  SceneMaterial material;
  material.background = median.result();
  material.ground = options.ground;
  TrackCollector collector(material.background, options);
  SPARING_RETURN_IF_ERROR(for_each_frame(video, [&](int index, const VideoFrame& frame) -> Status {
    SPARING_ASSIGN_OR_RETURN(const YuvPicture picture, copy_picture(frame));
    collector.add(index, picture, people_in(index));
    return {};
  }));
  material.tracks = collector.tracks();
  if (material.tracks.empty()) {
    return material_error(truth, "nobody is alone in his boxes for " +
                                     std::to_string(options.shortest_track) + " frames");
  }
  return material;
}

}  // namespace sparing::bench
