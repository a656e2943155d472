#include "sparing/kernels/row_sampler.h"

#include <algorithm>

namespace sparing::internal {

int batch_rows(int columns, bool pairs) {
  if (!pairs) return 1;
  const int padded = (columns + kMaxLanes - 1) / kMaxLanes * kMaxLanes;
  int rows = 1;
  while (rows < kMaxBatch && 4 * rows * padded <= kLinePool) rows *= 2;
  return rows;
}

void RowSampler::start(const SampleSource& source, const AxisTaps& rows, int batch,
                       float* const* pool, float* const* sums) {
  source_ = &source;
  rows_ = &rows;
  batch_rows_ = batch;
  slots_ = 2 * batch;
  backwards_ = rows.pitch() < 0;
  last_[0] = last_[1] = -1;
  last_slot_[0] = 0;
  batches_[0].first = batches_[1].first = -1;
  turn_ = 0;
  for (int c = 0; c < source.sampling.group.components; ++c) {
    pool_[c] = pool[source.line + c];
    sums_[c] = sums[source.line + c];
  }
}

void RowSampler::set_table(const TapTable& table, int columns) {
  table_ = &table;
  columns_ = columns;
  slot_floats_ = table.padded_columns();
  sampler_ = sample_kernels().sampler(table);
}

void RowSampler::prefetch_first(int y, int end_row, int begin, int end) {
  if (!rows_->are_pairs()) return;
  Batch& batch = batches_[turn_];
  plan(y, std::min(batch_rows_, end_row - y), batch);
  for (int i = 0; i < batch.sample.count; ++i) {
    sample_kernels().prefetch(batch.sample.rows[i] + begin, end - begin);
  }
}

void RowSampler::sample(int y, int count, int end, BlendRow* blend) {
  rows_->are_pairs() ? blend_pairs(y, count, end, blend) : add_up(y, end, blend);
}

// Positions only grow, or only fall, and a pair's rows are taken in that order: so the two rows
// taken last are all that a later tensor row can have in common with what was before.
void RowSampler::plan(int y, int count, Batch& batch) {
  int last = last_[0];
  int before = last_[1];
  int last_slot = last_slot_[0];
  int before_slot = last_slot_[1];
  int taken = 0;
  const auto slot_of = [&](int index) {
    if (index == last) return last_slot;
    if (index == before) return before_slot;
    before = last;
    before_slot = last_slot;
    last = index;
    last_slot = (last_slot + 1) & (slots_ - 1);
    batch.sample.rows[taken] = row(index);
    batch.slots[taken] = last_slot;
    ++taken;
    return last_slot;
  };
  for (int k = 0; k < count; ++k) {
    const TapPair pair = rows_->pair(y + k);
    const bool two = pair.weight1 > 0;
    const int second = two ? pair.first + 1 : pair.first;
    const int one = slot_of(backwards_ ? second : pair.first);
    const int other = slot_of(backwards_ ? pair.first : second);
    batch.blend[k] = {backwards_ ? other : one, backwards_ ? one : other,
                      static_cast<float>(pair.weight1)};
  }
  batch.first = y;
  batch.sample.count = taken;
  last_[0] = last;
  last_[1] = before;
  last_slot_[0] = last_slot;
  last_slot_[1] = before_slot;
}

void RowSampler::blend_pairs(int y, int count, int end, BlendRow* blend) {
  Batch& now = batches_[turn_];
  turn_ = 1 - turn_;
  Batch& next = batches_[turn_];
  if (now.first != y) plan(y, count, now);
  const int components = source_->sampling.group.components;
  for (int i = 0; i < now.sample.count; ++i) {
    for (int c = 0; c < components; ++c) now.sample.lines[i][c] = line(now.slots[i], c);
  }
  for (int k = 0; k < count; ++k) {
    const Batch::Blend& from = now.blend[k];
    for (int c = 0; c < components; ++c) {
      const int at = source_->line + c;
      blend[k].upper[at] = line(from.upper, c);
      blend[k].lower[at] = line(from.lower, c);
      blend[k].weight[at] = from.weight;
    }
  }
  plan(y + count, std::max(0, std::min(batch_rows_, end - y - count)), next);
  run(now, next.sample.rows, next.sample.count);
}

// Every row takes up to two of the next along.
void RowSampler::run(Batch& now, const std::uint8_t* const* next, int next_count) {
  SampleBatch& sample = now.sample;
  for (int i = 0; i < sample.count; ++i) {
    for (int k = 0; k < 2; ++k) {
      const int at = i + k * sample.count;
      sample.next[i][k] = at < next_count ? next[at] : nullptr;
    }
  }
  for (int i = 2 * sample.count; i < next_count; ++i) {
    sample_kernels().prefetch(next[i] + table_->first_byte, table_->byte_count);
  }
  if (sample.count > 0) sampler_(*table_, sample);
}

// One row after the other; the last one is kept, for the next tensor row may begin with it.
void RowSampler::add_up(int y, int end, BlendRow* blend) {
  double weights[kMaxTaps];
  TapRun next;
  if (y + 1 < end) next = rows_->run(y + 1, weights);
  const TapRun now = rows_->run(y, weights);
  // Of the next tensor row's, those that this one does not have.
  const int ahead_begin = backwards_ ? next.first : std::max(next.first, now.first + now.count);
  const int next_end = next.first + next.count;
  const int ahead_end = backwards_ ? std::min(next_end, now.first) : next_end;
  int ahead = ahead_begin;
  const int components = source_->sampling.group.components;
  Batch& batch = batches_[0];
  for (int k = 0; k < now.count; ++k) {
    if (now.first + k != last_[0]) {
      const std::uint8_t* rows[2];
      int count = 0;
      while (count < 2 && ahead < ahead_end) rows[count++] = row(ahead++);
      last_[0] = now.first + k;
      batch.sample.count = 1;
      batch.sample.rows[0] = row(last_[0]);
      for (int c = 0; c < components; ++c) batch.sample.lines[0][c] = line(0, c);
      run(batch, rows, count);
    }
    for (int c = 0; c < components; ++c) {
      sample_kernels().accumulate(line(0, c), static_cast<float>(weights[k]), k > 0, columns_,
                                  sums_[c]);
    }
  }
  for (int c = 0; c < components; ++c) {
    const int at = source_->line + c;
    blend[0].upper[at] = blend[0].lower[at] = sums_[c];
    blend[0].weight[at] = 0;
  }
}

}  // namespace sparing::internal
