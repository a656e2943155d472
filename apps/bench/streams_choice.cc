// What is compared on each clip.
#include <algorithm>

#include "baselines.h"
#include "streams_bench.h"
#include "streams_ours.h"

namespace sparing::bench {
namespace {

struct Grid {
  std::vector<int> widths;       // of whole frames
  std::vector<int> frame_every;  // of them
  std::vector<int> rival_every;  // of the region-based rivals
  std::vector<TileSettings> tiles;
  std::vector<int> refresh;  // FlexPatch's
  std::vector<int> own_every;
  int full_width = 0;  // of plain frames; 0: none
};

Grid grid_of(const std::string& clip) {
  if (clip == "pets4") {
    return {{224, 256, 288, 320, 352, 384, 416, 448, 480, 512, 576, 640, 768, 960},
            {1, 2, 3, 4, 5, 6, 8},
            {1, 2, 3},
            {{320, 1, true, 1, 1}, {320, 1, true, 1, 3}},
            {10, 30},
            {0, 1, 2, 3, 4},
            768};
  }
  if (clip == "m30") {
    return {{480, 600, 640, 960, 1200, 1536, 1800, 2400},
            {1, 2, 3},
            {1, 3},
            {{640, 1, true, 1, 1}, {320, 2, true, 1, 1}},
            {10},
            {0, 1, 2, 3},
            2400};
  }
  if (clip == "ngsim") {
    return {{320, 416, 480, 640, 960, 1280},
            {1, 2, 3},
            {1, 3},
            {{320, 1, true, 1, 1}, {320, 2, true, 1, 1}},
            {10},
            {0, 1, 2, 3},
            640};
  }
  return {{320, 416, 480, 640, 960, 1280, 1920},
          {1, 2, 3, 5, 8},
          {1, 3},
          {{640, 1, true, 0.5, 3}},
          {30},
          {0, 1, 2, 3},
          0};
}

bool has_video_rate(const std::string& clip) { return clip != "ngsim"; }

}  // namespace

Approaches approaches_for(const std::string& clip) {
  const Grid grid = grid_of(clip);
  Approaches all;
  for (const int width : grid.widths) {
    for (const int every : grid.frame_every) all.push_back(whole_frames(width, every));
  }
  if (grid.full_width > 0) all.push_back(plain_frames(grid.full_width));
  for (TileSettings settings : grid.tiles) {
    for (const TileJoin join : {TileJoin::kMerge, TileJoin::kSuppress}) {
      settings.join = join;
      all.push_back(tiles(settings));
    }
  }
  for (const int every : grid.rival_every) {
    all.push_back(roi_wise(every));
    all.push_back(emulated_batching(128, every));
    all.push_back(motion_squares(320, every));
  }
  if (has_video_rate(clip)) {
    for (const int refresh : grid.refresh) all.push_back(flex_patch(refresh));
  }
  for (const int every : grid.own_every) {
    all.push_back(ours(our_settings("packed", every)));
    all.push_back(ours(our_settings("frame", every)));
  }
  if (clip == "m30") all.push_back(ours(doubled_settings(1)));
  all.push_back(ours(our_settings("tiles", 0)));
  all.push_back(ours(our_settings("auto", 0)));
  return all;
}

std::string judged_packed(const std::string& clip) {
  // On PETS every third frame, as the prototype; the others move too fast for it.
  if (clip == "m30") return doubled_settings(1).name;
  return every_text(clip == "pets4" ? 3 : 1);
}

}  // namespace sparing::bench
