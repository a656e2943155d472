#include "sparing/kernels/import_engine.h"

#include <algorithm>
#include <cstring>

#include "sparing/kernels/color_transform.h"
#include "sparing/kernels/element.h"

namespace sparing::internal {
namespace {

constexpr int kTurnedColumns = 256;  // of a tile of a picture turned by a quarter
constexpr int kTurnedRows = 16;      // that are turned at once
constexpr int kNoRow = -1;
constexpr int kMaxAhead = 2;  // rows of the tensor, in fetching what they will need

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
  engine.chroma_ = {axis_taps(plan.x, plan.luma.x, plan.chroma.x, replicate, format.chroma_shift_x),
                    axis_taps(plan.y, plan.luma.y, plan.chroma.y, replicate, format.chroma_shift_y)};
  engine.store_.lines = line_count(frame.format, tensor.channels);
  if (!engine.add_sources(frame)) return std::nullopt;
  LineScale lines[3];
  for (int s = 0; s < engine.source_count_; ++s) {
    const Source& source = engine.sources_[s];
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
  for (int c = 0; c < store_.lines; ++c) {
    const ComponentLayout& layout = format.components[static_cast<std::size_t>(c)];
    Source* last = source_count_ > 0 ? &sources_[source_count_ - 1] : nullptr;
    const Plane& plane = frame.planes[static_cast<std::size_t>(layout.plane)];
    if (last == nullptr || last->plane.data != plane.data ||
        last->chroma != is_chroma(format, c)) {
      last = &sources_[source_count_++];
      last->chroma = is_chroma(format, c);
      last->line = c;
      last->plane = plane;
      last->row_bytes = plane_extent(frame.format, layout.plane, frame.coded_size).row_bytes;
      last->sampling.group.step = layout.step;
      last->sampling.group.sample_bytes = format.sample.bytes;
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
    const std::optional<SamplePlan> sampling = plan_sampling(on.x, group, plan_->x.count);
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
  const bool interleaved = tensor.channels > 1 && tensor.stride_c == size &&
                           tensor.stride_x == tensor.channels * size;
  store_.layout = interleaved && !plan_->transposed ? RowLayout::kInterleaved : RowLayout::kPlanar;
  strided_ = tensor.type == DataType::kInt64 ||
             (!plan_->transposed && !planar && !interleaved);
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
    store_ = store_row(job_);
  }

  void draw(int first_column, int columns, int first_row, int rows) {
    first_column_ = first_column;
    job_.columns = columns;
    fill_tables();
    // Short rows are done before memory answers: look further ahead.
    ahead_ = columns >= 256 ? 1 : kMaxAhead;
    first_row_ = first_row;
    for (int y = first_row; y < first_row + rows; ++y) {
      for (int s = 0; s < engine_.source_count_; ++s) sample(s, y, first_row + rows);
      store(y);
    }
    if (engine_.plan_->transposed) turn(first_row + rows - turned_, turned_);
  }

 private:
  struct State {
    SampleLine sampler = nullptr;
    const TapTable* table = nullptr;
    int rows[2] = {kNoRow, kNoRow};  // whose lines are in slot 0 and 1
    int last = 0;                    // slot that was used last
    TapRun fetched;                  // rows that were brought into the cache last
    TapRun pending;                  // rows to be brought next
    TapPair pairs[kMaxAhead];        // of the rows that were looked ahead for, by row
  };

  void fill_tables() {
    for (int s = 0; s < engine_.source_count_; ++s) {
      const ImportEngine::Source& source = engine_.sources_[s];
      State& state = states_[s];
      state = State();
      const bool shared = s == 2;  // V has U's taps
      TapTable& table = tables_[source.chroma ? 1 : 0];
      if (!shared) {
        fill_taps(source.sampling, engine_.axes(source.chroma).x, first_column_, job_.columns,
                  source.row_bytes, table);
      }
      state.table = &table;
      state.sampler = kernels_.sampler(table);
    }
  }

  const std::uint8_t* row_of(const ImportEngine::Source& source, int row) const {
    return source.plane.data + row * source.plane.stride;
  }

  // Makes the lines of source s for row y.
  void sample(int s, int y, int end) {
    const ImportEngine::Source& source = engine_.sources_[s];
    const AxisTaps& taps = engine_.axes(source.chroma).y;
    const int later = y + ahead_ < end ? y + ahead_ : kNoRow;
    taps.are_pairs() ? blend(s, taps, y, later) : add_up(s, taps, y, later);
    prefetch_rest(source, states_[s]);
  }

  void blend(int s, const AxisTaps& taps, int y, int later) {
    const auto run_of = [](const TapPair& pair) {
      return TapRun{pair.first, pair.weight1 > 0 ? 2 : 1};
    };
    State& state = states_[s];
    // Found when the rows were looked ahead for; at first they were not.
    const TapPair pair = y < first_row_ + ahead_ ? taps.pair(y) : state.pairs[y % kMaxAhead];
    const TapRun run = run_of(pair);
    if (later != kNoRow) {
      TapPair& next = state.pairs[later % kMaxAhead];
      next = taps.pair(later);
      plan_prefetch(state, run, run_of(next), taps.pitch() < 0);
    }
    const int upper = line(s, run.first);
    const int lower = run.count == 2 ? line(s, run.first + 1) : upper;
    const ImportEngine::Source& source = engine_.sources_[s];
    for (int c = source.line; c < source.line + source.sampling.group.components; ++c) {
      job_.upper[c] = lines_[upper][c];
      job_.lower[c] = lines_[lower][c];
      job_.weight[c] = static_cast<float>(pair.weight1);
    }
  }

  void add_up(int s, const AxisTaps& taps, int y, int later) {
    double weights[kMaxTaps];
    if (later != kNoRow) {
      const TapRun next = taps.run(later, weights);
      plan_prefetch(states_[s], taps.run(y, weights), next, taps.pitch() < 0);
    }
    const TapRun run = taps.run(y, weights);
    const ImportEngine::Source& source = engine_.sources_[s];
    for (int k = 0; k < run.count; ++k) {
      const int slot = line(s, run.first + k);
      for (int c = source.line; c < source.line + source.sampling.group.components; ++c) {
        kernels_.accumulate(lines_[slot][c], static_cast<float>(weights[k]), k > 0, job_.columns,
                            sums_[c]);
      }
    }
    for (int c = source.line; c < source.line + source.sampling.group.components; ++c) {
      job_.upper[c] = sums_[c];
      job_.lower[c] = sums_[c];
      job_.weight[c] = 0;
    }
  }

  // The slot that holds the lines of a row of source samples.
  int line(int s, int row) {
    State& state = states_[s];
    const ImportEngine::Source& source = engine_.sources_[s];
    for (const int slot : {0, 1}) {
      if (state.rows[slot] != row) continue;
      state.last = slot;
      return slot;
    }
    const int slot = 1 - state.last;
    float* lines[3];
    for (int c = 0; c < source.sampling.group.components; ++c) {
      lines[c] = lines_[slot][source.line + c];
    }
    NextRows next;
    for (int k = 0; k < 2 && state.pending.count > 0; ++k) {
      next.rows[k] = row_of(source, state.pending.first++);
      --state.pending.count;
    }
    state.sampler(*state.table, row_of(source, row), next, lines);
    state.rows[slot] = row;
    state.last = slot;
    return slot;
  }

  // What `next`, of a later tensor row, has and neither `now` nor the last plan had.
  static void plan_prefetch(State& state, const TapRun& now, const TapRun& next, bool backwards) {
    int begin = next.first;
    int end = next.first + next.count;
    for (const TapRun& had : {now, state.fetched}) {
      if (!backwards) {
        begin = std::max(begin, had.first + had.count);
      } else if (had.count > 0) {
        end = std::min(end, had.first);
      }
    }
    state.fetched = next;
    state.pending = {begin, std::max(0, end - begin)};
  }

  // What no sampler took along.
  void prefetch_rest(const ImportEngine::Source& source, State& state) {
    for (; state.pending.count > 0; ++state.pending.first, --state.pending.count) {
      kernels_.prefetch(*state.table, row_of(source, state.pending.first));
    }
  }

  // ---- Into the tensor

  std::byte* element(int channel, int row, int column) const {
    const PixelRect& content = engine_.plan_->content;
    return element_address(engine_.tensor_, engine_.batch_index_, channel, content.y + row,
                           content.x + column);
  }

  void store(int y) {
    if (engine_.plan_->transposed) {
      if (turned_ == kTurnedRows) turn(y - turned_, kTurnedRows);
      for (int c = 0; c < job_.channels; ++c) job_.out[c] = turned_row(c, turned_);
      ++turned_;
      return store_(job_);
    }
    for (int c = 0; c < job_.channels; ++c) {
      job_.out[c] = engine_.strided_ ? turned_row(c, 0) : element(c, y, first_column_);
    }
    store_(job_);
    if (!engine_.strided_) return;
    for (int c = 0; c < job_.channels; ++c) {
      std::byte* to = element(c, y, first_column_);
      for (int i = 0; i < job_.columns; ++i) {
        put(turned_row(c, 0) + i * static_cast<int>(sizeof(float)), to);
        to += engine_.tensor_.stride_x;
      }
    }
  }

  // A finished row, of channel c, that waits to be turned, or to be stored one by one.
  std::byte* turned_row(int c, int row) {
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
        const std::byte* from = turned_row(c, 0) + i * kScratchSize;
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
  const SampleKernels& kernels_ = sample_kernels();
  StoreJob job_;
  StoreRow store_;
  int first_column_ = 0;
  int first_row_ = 0;
  int ahead_ = 1;
  int turned_ = 0;
  State states_[3];
  TapTable tables_[2];
  alignas(64) float lines_[2][3][kLineFloats];
  alignas(64) float sums_[3][kLineFloats];
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
