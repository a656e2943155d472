#include "sparing/kernels/import_engine.h"

#include <algorithm>
#include <cstring>

#include "sparing/kernels/color_transform.h"
#include "sparing/kernels/element.h"

namespace sparing::internal {
namespace {

constexpr int kTurnedColumns = 256;  // of a tile of a picture turned by a quarter
constexpr int kTurnedRows = 16;      // that are turned at once

bool is_chroma(const PixelFormatInfo& format, int component) {
  return format.model == ColorModel::kYuv && component > 0;
}

AxisTaps axis_taps(const PixelAxis& pixels, const SampleAxis& luma, const SampleAxis& chroma,
                   bool replicate, int shift) {
  return replicate ? AxisTaps(pixels, luma, shift) : AxisTaps(pixels, chroma, 0);
}

}  // namespace

ImportEngine::ImportEngine(const ImportPlan& plan, const TensorView& tensor, int batch_index)
    : plan_(&plan),
      tensor_(tensor),
      batch_index_(batch_index),
      luma_{AxisTaps(plan.x, plan.luma.x, 0), AxisTaps(plan.y, plan.luma.y, 0)},
      chroma_(luma_) {}

std::optional<ImportEngine> ImportEngine::make(const ImportPlan& plan, const VideoFrame& frame,
                                               const ImportOptions& options,
                                               const TensorView& tensor) {
  ImportEngine engine(plan, tensor, options.batch_index);
  const PixelFormatInfo& format = info(frame.format);
  const bool replicate = options.chroma == ChromaUpsampling::kReplicate;
  engine.chroma_ = {
      axis_taps(plan.x, plan.luma.x, plan.chroma.x, replicate, format.chroma_shift_x),
      axis_taps(plan.y, plan.luma.y, plan.chroma.y, replicate, format.chroma_shift_y)};
  engine.store_.lines = line_count(frame.format, tensor.channels);
  if (!engine.add_sources(frame)) return std::nullopt;
  LineScale lines[3];
  for (int s = 0; s < engine.source_count_; ++s) {
    const SampleSource& source = engine.sources_[s];
    for (int c = 0; c < source.sampling.group.components; ++c) {
      lines[source.line + c] = {source.sampling.unit,
                                source.sampling.group.sample_bytes == 2 ? 32768.0 : 0.0};
    }
  }
  const auto color = make_color_transform(plan, frame.format, options, tensor, lines);
  if (!color) return std::nullopt;
  engine.color_ = *color;
  engine.choose_store(tensor);
  return engine;
}

// Groups the components that lie in one plane on one grid.
bool ImportEngine::add_sources(const VideoFrame& frame) {
  const PixelFormatInfo& format = info(frame.format);
  max_columns_ = plan_->transposed ? kTurnedColumns : kTileColumns;
  int last_plane = -1;
  for (int c = 0; c < store_.lines; ++c) {
    const ComponentLayout& layout = format.components[static_cast<std::size_t>(c)];
    SampleSource* last = source_count_ > 0 ? &sources_[source_count_ - 1] : nullptr;
    const bool chroma = is_chroma(format, c);
    if (last == nullptr || last_plane != layout.plane || last->chroma != chroma) {
      last = &sources_[source_count_++];
      last->chroma = chroma;
      last->line = c;
      last->plane = frame.planes[static_cast<std::size_t>(layout.plane)];
      last->row_bytes = plane_extent(frame.format, layout.plane, frame.coded_size).row_bytes;
      last->sampling.group.step = layout.step;
      last->sampling.group.sample_bytes = format.sample.bytes;
      last_plane = layout.plane;
    }
    // Offsets for now; relative to the lowest below.
    ComponentGroup& group = last->sampling.group;
    group.delta[group.components++] = layout.offset;
  }
  for (int s = 0; s < source_count_; ++s) {
    ComponentGroup group = sources_[s].sampling.group;
    group.offset = *std::min_element(group.delta, group.delta + group.components);
    for (int c = 0; c < group.components; ++c) group.delta[c] -= group.offset;
    const Axes& on = axes(sources_[s].chroma);
    if (on.y.max_count() > kMaxTaps) return false;
    const std::optional<SamplePlan> sampling =
        plan_sampling(on.x, group, plan_->x.count, sources_[s].row_bytes);
    if (!sampling) return false;
    sources_[s].sampling = *sampling;
    max_columns_ = std::min(max_columns_, sampling->max_columns);
  }
  return true;
}

void ImportEngine::choose_store(const TensorView& tensor) {
  const auto size = static_cast<std::ptrdiff_t>(info(tensor.type).size);
  store_.columns = 1;
  store_.channels = tensor.channels;
  store_.type = tensor.type;
  const bool planar = tensor.stride_x == size;
  const bool interleaved =
      tensor.channels > 1 && tensor.stride_c == size && tensor.stride_x == tensor.channels * size;
  store_.layout = interleaved && !plan_->transposed ? RowLayout::kInterleaved : RowLayout::kPlanar;
  strided_ = !has_store(tensor.type) || (!plan_->transposed && !planar && !interleaved);
  if (strided_) {
    store_.type = DataType::kFloat32;
    store_.layout = RowLayout::kPlanar;
  }
}

// One tile of columns, over some rows of source samples (coded x and y).
class TileDrawer {
 public:
  explicit TileDrawer(const ImportEngine& engine) : engine_(engine) {
    job_ = engine.store_;
    job_.color = &engine.color_;
    job_.blend = blend_;
    store_ = store_rows(job_);
  }

  void draw(int first_column, int columns, int first_row, int rows) {
    first_column_ = first_column;
    job_.columns = columns;
    const int end = first_row + rows;
    const int batch = start(first_row, end);
    fill_tables();
    for (int y = first_row; y < end; y += batch) {
      job_.rows = std::min(batch, end - y);
      for (int s = 0; s < engine_.source_count_; ++s) {
        samplers_[s].sample(y, job_.rows, end, blend_);
      }
      store(y);
    }
    if (engine_.plan_->transposed) turn(end - turned_, turned_);
  }

 private:
  // Returns the number of rows that are made at once. What the first of them read is on its way
  // into the cache while the tables are filled.
  int start(int first_row, int end) {
    const bool pairs = engine_.luma_.y.are_pairs() && engine_.chroma_.y.are_pairs();
    const int batch = engine_.strided_ ? 1 : batch_rows(job_.columns, pairs);
    for (int s = 0; s < engine_.source_count_; ++s) {
      const SampleSource& source = engine_.sources_[s];
      const ImportEngine::Axes& axes = engine_.axes(source.chroma);
      samplers_[s].start(source, axes.y, batch, pool_, sums_);
      const ByteRange bytes =
          byte_range(source.sampling.group, axes.x, first_column_, job_.columns);
      samplers_[s].prefetch_first(first_row, end, bytes.begin, bytes.end);
    }
    return batch;
  }

  void fill_tables() {
    for (int s = 0; s < engine_.source_count_; ++s) {
      const SampleSource& source = engine_.sources_[s];
      TapTable& table = tables_[source.chroma ? 1 : 0];
      const bool shared = s == 2;  // V has U's taps
      if (!shared) {
        fill_taps(source.sampling, engine_.axes(source.chroma).x, first_column_, job_.columns,
                  source.row_bytes, table);
      }
      samplers_[s].set_table(table, job_.columns);
    }
  }

  // ---- Into the tensor

  std::byte* element(int channel, int row, int column) const {
    const PixelRect& content = engine_.plan_->content;
    return element_address(engine_.tensor_, engine_.batch_index_, channel, content.y + row,
                           content.x + column);
  }

  // Rows [y, y + job_.rows).
  void store(int y) {
    if (engine_.plan_->transposed) {
      if (turned_ + job_.rows > kTurnedRows) turn(y - turned_, turned_);
      store_scratch(turned_);
      turned_ += job_.rows;
    } else if (engine_.strided_) {
      store_scratch(0);
      for (int c = 0; c < job_.channels; ++c) {
        std::byte* to = element(c, y, first_column_);
        for (int i = 0; i < job_.columns; ++i) {
          put(scratch_row(c, 0) + i * static_cast<int>(sizeof(float)), to);
          to += engine_.tensor_.stride_x;
        }
      }
    } else {
      for (int c = 0; c < job_.channels; ++c) job_.out[c] = element(c, y, first_column_);
      job_.row_stride = engine_.tensor_.stride_y;
      store_(job_);
    }
  }

  void store_scratch(int row) {
    for (int c = 0; c < job_.channels; ++c) job_.out[c] = scratch_row(c, row);
    job_.row_stride = kScratchColumns * sizeof(float);
    store_(job_);
  }

  // A finished row, of channel c, that waits to be turned, or to be stored one by one.
  std::byte* scratch_row(int c, int row) {
    return scratch_ + std::size_t{sizeof(float)} *
                          static_cast<std::size_t>((c * kTurnedRows + row) * kScratchColumns);
  }

  // A float of the scratch rows as an element of the tensor.
  void put(const std::byte* from, std::byte* to) const {
    float value;
    std::memcpy(&value, from, sizeof value);
    store_element(engine_.tensor_.type, static_cast<double>(value), to);
  }

  // Rows of source samples become columns of the tensor.
  void turn(int first, int rows) {
    if (engine_.strided_) return turn_elements<0>(first, rows);
    switch (info(engine_.tensor_.type).size) {
      case 1: return turn_elements<1>(first, rows);
      case 2: return turn_elements<2>(first, rows);
      default: return turn_elements<4>(first, rows);
    }
  }

  template <int kSize>
  void turn_elements(int first, int rows) {
    constexpr int kScratchSize = kSize == 0 ? static_cast<int>(sizeof(float)) : kSize;
    const std::ptrdiff_t stride_x = engine_.tensor_.stride_x;
    for (int c = 0; c < job_.channels; ++c) {
      for (int i = 0; i < job_.columns; ++i) {
        std::byte* to = element(c, first_column_ + i, first);
        const std::byte* from = scratch_row(c, 0) + i * kScratchSize;
        for (int k = 0; k < rows; ++k) {
          if constexpr (kSize == 0) {
            put(from, to);
          } else {
            std::memcpy(to, from, kSize);
          }
          to += stride_x;
          from += kScratchColumns * sizeof(float);
        }
      }
    }
    turned_ = 0;
  }

  // Columns of the scratch rows: a turned tile's times the turned rows, or one row of any tile.
  static constexpr int kScratchColumns = kTurnedColumns + kMaxLanes;
  static_assert(kScratchColumns * kTurnedRows >= kTileColumns);

  const ImportEngine& engine_;
  StoreJob job_;
  StoreRows store_;
  int first_column_ = 0;
  int turned_ = 0;  // rows in scratch_ that wait
  RowSampler samplers_[3];
  BlendRow blend_[kMaxBatch];
  TapTable tables_[2];
  alignas(64) float pools_[3][kLinePool];
  alignas(64) float sum_lines_[3][kLineFloats];
  float* pool_[3] = {pools_[0], pools_[1], pools_[2]};
  float* sums_[3] = {sum_lines_[0], sum_lines_[1], sum_lines_[2]};
  alignas(64) std::byte scratch_[4 * kTurnedRows * kScratchColumns * sizeof(float)];
};

void ImportEngine::draw(int first, int rows) const {
  // Along coded x and y; a quarter turn exchanges them.
  const bool turned = plan_->transposed;
  const int begin = turned ? first : 0;
  const int end = turned ? first + rows : plan_->x.count;
  TileDrawer drawer(*this);
  for (int column = begin; column < end; column += max_columns_) {
    const int columns = std::min(max_columns_, end - column);
    drawer.draw(column, columns, turned ? 0 : first, turned ? plan_->y.count : rows);
  }
}

}  // namespace sparing::internal
