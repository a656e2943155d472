#include "sparing/kernels/row_sampler.h"

#include <algorithm>

namespace sparing::internal {
namespace {

bool has_two(const TapPair& pair) { return pair.weight1 > 0; }

}  // namespace

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
  planned_ = -1;
  next_count_ = 0;
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
  plan(y, std::min(batch_rows_, end_row - y));
  plan_next();
  for (int i = 0; i < next_count_; ++i) sample_kernels().prefetch(row(next_[i]) + begin, end - begin);
}

void RowSampler::sample(int y, int count, int end, BlendRow* blend) {
  rows_->are_pairs() ? blend_pairs(y, count, end, blend) : add_up(y, end, blend);
}

void RowSampler::plan(int y, int count) {
  planned_ = y;
  planned_count_ = count;
  for (int k = 0; k < count; ++k) pairs_[k] = rows_->pair(y + k);
}

// The rows of the planned tensor rows that will have to be sampled, in the order of line_of().
void RowSampler::plan_next() {
  next_count_ = 0;
  int last[2] = {last_[0], last_[1]};
  const auto need = [&](int row) {
    if (row == last[0] || row == last[1]) return;
    last[1] = last[0];
    last[0] = row;
    next_[next_count_++] = row;
  };
  for (int k = 0; k < planned_count_; ++k) {
    const int first = pairs_[k].first;
    if (!has_two(pairs_[k])) {
      need(first);
    } else {
      need(backwards_ ? first + 1 : first);
      need(backwards_ ? first : first + 1);
    }
  }
}

void RowSampler::blend_pairs(int y, int count, int end, BlendRow* blend) {
  if (planned_ != y) plan(y, count);
  for (int k = 0; k < count; ++k) {
    const TapPair& pair = pairs_[k];
    int upper;
    int lower;
    // Positions only grow, or only fall: in this order the two rows sampled last are all that a later
    // tensor row can have in common with this one.
    if (!has_two(pair)) {
      upper = lower = line_of(pair.first);
    } else if (backwards_) {
      lower = line_of(pair.first + 1);
      upper = line_of(pair.first);
    } else {
      upper = line_of(pair.first);
      lower = line_of(pair.first + 1);
    }
    for (int c = 0; c < source_->sampling.group.components; ++c) {
      name(c, slot_line(upper, c), slot_line(lower, c), pair.weight1, blend[k]);
    }
  }
  plan(y + count, std::max(0, std::min(batch_rows_, end - y - count)));
  plan_next();
  run_batch();
}

// The slot of a row's line, which is there or goes into the batch.
int RowSampler::line_of(int index) {
  if (index == last_[0]) return last_slot_[0];
  if (index == last_[1]) return last_slot_[1];
  const int slot = (last_slot_[0] + 1) & (slots_ - 1);
  last_[1] = last_[0];
  last_slot_[1] = last_slot_[0];
  last_[0] = index;
  last_slot_[0] = slot;
  const int at = now_.count++;
  now_.rows[at] = row(index);
  for (int c = 0; c < source_->sampling.group.components; ++c) {
    now_.lines[at][c] = slot_line(slot, c);
  }
  return slot;
}

void RowSampler::name(int c, const float* upper, const float* lower, double weight,
                      BlendRow& row) const {
  row.upper[source_->line + c] = upper;
  row.lower[source_->line + c] = lower;
  row.weight[source_->line + c] = static_cast<float>(weight);
}

// Every row of the batch takes up to two of the next along.
void RowSampler::run_batch() {
  for (int i = 0; i < now_.count; ++i) {
    for (int k = 0; k < 2; ++k) {
      const int at = i + k * now_.count;
      now_.next[i][k] = at < next_count_ ? row(next_[at]) : nullptr;
    }
  }
  for (int i = 2 * now_.count; i < next_count_; ++i) {
    sample_kernels().prefetch(row(next_[i]) + table_->first_byte, table_->byte_count);
  }
  if (now_.count > 0) sampler_(*table_, now_);
  now_.count = 0;
}

void RowSampler::add_up(int y, int end, BlendRow* blend) {
  double weights[kMaxTaps];
  TapRun next;
  if (y + 1 < end) next = rows_->run(y + 1, weights);
  const TapRun run = rows_->run(y, weights);
  const int components = source_->sampling.group.components;
  for (int k = 0; k < run.count; ++k) {
    // Rows that the next tensor row has beyond this one's, or before.
    next_count_ = 0;
    for (const int ahead : {2 * k, 2 * k + 1}) {
      const int at = backwards_ ? next.first + ahead : run.first + run.count + ahead;
      const bool needed = backwards_ ? at < std::min(run.first, next.first + next.count)
                                     : at >= next.first && at < next.first + next.count;
      if (needed) next_[next_count_++] = at;
    }
    const int slot = line_of(run.first + k);
    run_batch();
    for (int c = 0; c < components; ++c) {
      sample_kernels().accumulate(slot_line(slot, c), static_cast<float>(weights[k]), k > 0,
                                  columns_, sums_[c]);
    }
  }
  for (int c = 0; c < components; ++c) name(c, sums_[c], sums_[c], 0, blend[0]);
}

}  // namespace sparing::internal
