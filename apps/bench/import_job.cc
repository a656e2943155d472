#include "import_job.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>

#include "sparing/base/check.h"

namespace sparing::bench {
namespace {

constexpr Size kCropSize{200, 300};
constexpr int kRois = 60;
constexpr int kBorder = 4;  // columns to the left and right of a region's picture

Cell whole_cell(const ImportJob& job, const Rect& source) {
  const PixelRect all{0, 0, job.output.width, job.output.height};
  return {source, all, all};
}

// Crops side by side, so that as much memory is touched as the frames hold, and no two share a
// line.
std::vector<Rect> crop_rects(const ImportJob& job) {
  std::vector<Rect> rects;
  const Size pitch{kCropSize.width + 12, kCropSize.height + 12};
  for (int y = 0; y + pitch.height <= job.source.height; y += pitch.height) {
    for (int x = 0; x + pitch.width <= job.source.width; x += pitch.width) {
      rects.push_back({x + 4.37, y + 4.61, static_cast<double>(kCropSize.width),
                       static_cast<double>(kCropSize.height)});
    }
  }
  return rects;
}

// Standing people: 60 to 100 pixels wide, twice as high, most of them much reduced. Sizes keep the
// ratio of 1:2 and are even, so that every contestant draws the same picture.
std::vector<Cell> random_rois(const ImportJob& job, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Cell> cells;
  for (int i = 0; i < kRois; ++i) {
    const int width = 60 + 2 * static_cast<int>(uniform(random) * 21);
    const double u = uniform(random);
    const double scale = 0.3 + 0.7 * u * u;
    const int height = 4 * static_cast<int>(std::lround(width * 2 * scale / 4));
    const double x = 2 * std::floor(uniform(random) * (job.source.width - width) / 2);
    const double y = 2 * std::floor(uniform(random) * (job.source.height - 2 * width) / 2);
    Cell cell;
    cell.source = {x, y, static_cast<double>(width), 2.0 * width};
    cell.destination = {0, 0, height / 2 + 2 * kBorder, height};
    cell.content = {kBorder, 0, height / 2, height};
    cells.push_back(cell);
  }
  return cells;
}

// In shelves, the highest first; false if they do not fit.
bool place(std::vector<Cell>& cells, Size canvas) {
  std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return a.destination.height > b.destination.height;
  });
  int x = 0;
  int y = 0;
  int shelf = 0;
  for (Cell& cell : cells) {
    if (x + cell.destination.width > canvas.width) {
      x = 0;
      y += shelf;
      shelf = 0;
    }
    if (y + cell.destination.height > canvas.height) return false;
    cell.destination.x = x;
    cell.destination.y = y;
    cell.content.x += x;
    cell.content.y += y;
    x += cell.destination.width;
    shelf = std::max(shelf, cell.destination.height);
  }
  return true;
}

std::vector<Cell> roi_cells(const ImportJob& job, std::mt19937& random) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::vector<Cell> cells = random_rois(job, random);
    if (place(cells, job.output)) return cells;
  }
  SPARING_CHECK(!"the regions fit the canvas");
  return {};
}

}  // namespace

std::vector<Shot> make_shots(const ImportJob& job, const std::vector<SharedFrame>& frames) {
  std::vector<Shot> shots;
  std::mt19937 random(8);
  const std::vector<Rect> crops = crop_rects(job);
  const std::size_t passes = job.part == Part::kCrop ? crops.size() : 1;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    for (const SharedFrame& frame : frames) {
      const VideoFrame& view = frame.view();
      switch (job.part) {
        case Part::kWhole: shots.push_back({view, {whole_cell(job, visible_rect(view))}}); break;
        case Part::kCrop: shots.push_back({view, {whole_cell(job, crops[pass])}}); break;
        case Part::kRois: shots.push_back({view, roi_cells(job, random)}); break;
      }
    }
  }
  return shots;
}

ImportOptions import_options(const ImportJob& job, const Cell& cell) {
  ImportOptions options;
  options.visible_rect = cell.source;
  options.destination = cell.destination;
  options.filter = job.filter;
  if (job.part == Part::kRois) options.fit = Fit::kLetterbox;
  if (job.type != DataType::kUint8) {
    options.mean = {123.675f, 116.28f, 103.53f};
    options.std = {58.395f, 57.12f, 57.375f};
  }
  return options;
}

Normalization normalization(const ImportJob& job) {
  const ImportOptions options = import_options(job, {});
  Normalization result;
  for (std::size_t c = 0; c < 3; ++c) {
    result.scale[c] = 1 / options.std[c];
    result.bias[c] = -options.mean[c] / options.std[c];
  }
  return result;
}

PixelRect whole_source(const Cell& cell) {
  return {2 * static_cast<int>(std::lround(cell.source.x / 2)),
          2 * static_cast<int>(std::lround(cell.source.y / 2)),
          static_cast<int>(std::lround(cell.source.width)),
          static_cast<int>(std::lround(cell.source.height))};
}

}  // namespace sparing::bench
