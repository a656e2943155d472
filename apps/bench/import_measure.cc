#include "import_measure.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "sparing/base/aligned_buffer.h"
#include "sparing/base/clock.h"

namespace sparing::bench {
namespace {

constexpr int kCallsPerRound = 5;  // after one that is not timed, and finds the peers' traces
constexpr double kWeMayBeOffBy = 0.5;

struct OwnedTensor {
  AlignedBuffer memory;
  TensorView view;
};

Result<OwnedTensor> make_tensor(const ImportJob& job) {
  const Shape shape = job.layout == Layout::kNchw
                          ? Shape{1, 3, job.output.height, job.output.width}
                          : Shape{1, job.output.height, job.output.width, 3};
  OwnedTensor result{
      AlignedBuffer(static_cast<std::size_t>(*element_count(shape)) * info(job.type).size), {}};
  if (result.memory.data() == nullptr) {
    return Error{ErrorCode::kInternal, "output tensor", "out of memory", "free some memory"};
  }
  result.view = dense_view(result.memory.data(), job.type, shape, job.layout);
  return result;
}

// IEEE 754 binary16; neither infinities nor NaN are expected.
double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double element(const TensorView& tensor, int c, int y, int x) {
  const std::byte* at =
      tensor.data + c * tensor.stride_c + y * tensor.stride_y + x * tensor.stride_x;
  if (tensor.type == DataType::kUint8) return static_cast<double>(*at);
  if (tensor.type == DataType::kFloat16) {
    std::uint16_t half;
    std::memcpy(&half, at, sizeof half);
    return from_half(half);
  }
  float value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

Status draw_reference(const ImportJob& job, const Shot& shot, const TensorView& tensor) {
  for (const Cell& cell : shot.cells) {
    SPARING_RETURN_IF_ERROR(import_frame_reference(shot.frame, import_options(job, cell), tensor));
  }
  return {};
}

bool is_variant(Role role) { return role != Role::kUs && role != Role::kPeer; }

void make_entry(const ImportJob& job, int threads, Entry& entry) {
  if (entry.contestant->make == nullptr) {
    entry.why_not = std::string("built without ") + entry.contestant->package;
    return;
  }
  Result<std::unique_ptr<Runner>> made = entry.contestant->make(job, threads);
  if (made.ok()) {
    entry.runner = std::move(*made);
  } else {
    entry.why_not = made.error().problem;
  }
}

// What each draws of one shot, against the reference: nobody is timed doing another job.
Status check_entries(const ImportJob& job, const Shot& shot, const TensorView& tensor,
                     std::vector<Entry>& entries) {
  SPARING_ASSIGN_OR_RETURN(const OwnedTensor reference, make_tensor(job));
  SPARING_RETURN_IF_ERROR(draw_reference(job, shot, reference.view));
  const std::size_t bytes = reference.memory.size();
  for (Entry& entry : entries) {
    if (!entry.runner) continue;
    std::memset(tensor.data, 0x5a, bytes);
    entry.runner->begin();
    const Status status = entry.runner->run(shot, tensor);
    entry.runner->end();
    if (!status.ok()) return status;
    entry.off_by = mean_difference(job, shot, tensor, reference.view);
    const bool peer = entry.contestant->role == Role::kPeer;
    if (entry.off_by <= (peer ? kPeerMayBeOffBy : kWeMayBeOffBy)) continue;
    char text[80];
    std::snprintf(text, sizeof text, "wrong by %.1f of 255 on average", entry.off_by);
    if (!peer) {
      return Error{ErrorCode::kInternal, std::string(job.id) + ", " + entry.contestant->name, text,
                   "report this"};
    }
    entry.why_not = text;
    entry.runner.reset();
  }
  return {};
}

// The limit follows from what the job must touch and what the rounds saw of memory.
Status add_limit(const std::vector<Shot>& all_shots, std::size_t frames, JobResult& result) {
  const ImportJob& job = *result.job;
  const std::size_t count = job.part == Part::kWhole ? 1 : frames;  // whole frames are all alike
  const std::span<const Shot> shots(all_shots.data(), count);
  SPARING_ASSIGN_OR_RETURN(const double read, touched_bytes(job, shots));
  const double written = output_bytes(job, shots);
  result.limit_ms = (read / result.read_gbps + written / result.write_gbps) * 1e-6;
  char note[160];
  std::snprintf(note, sizeof note, "limit %.3f ms: %.2f MB at %.1f GB/s in, %.2f MB at %.0f out",
                result.limit_ms, read * 1e-6, result.read_gbps, written * 1e-6, result.write_gbps);
  result.limit_note = note;
  return {};
}

// Hands out shots so that none is seen again before all others were.
class ShotCycle {
 public:
  explicit ShotCycle(const std::vector<Shot>& shots) : shots_(shots) {}
  const Shot& next() { return shots_[next_++ % shots_.size()]; }

 private:
  const std::vector<Shot>& shots_;
  std::size_t next_ = 0;
};

Status run_round(ShotCycle& cycle, const TensorView& tensor, Entry& entry) {
  std::vector<double> times;
  entry.runner->begin();
  for (int call = -1; call < kCallsPerRound; ++call) {
    const Shot& shot = cycle.next();
    const Clock::time_point start = Clock::now();
    const Status status = entry.runner->run(shot, tensor);
    const double ms = seconds_since(start) * 1e3;
    if (!status.ok()) {
      entry.runner->end();
      return status;
    }
    if (call >= 0) times.push_back(ms);
  }
  entry.runner->end();
  entry.call_ms.insert(entry.call_ms.end(), times.begin(), times.end());
  entry.round_ms.push_back(median(std::move(times)));
  return {};
}

}  // namespace

double mean_difference(const ImportJob& job, const Shot& shot, const TensorView& a,
                       const TensorView& b) {
  const Normalization n = normalization(job);
  double sum = 0;
  double count = 0;
  for (const Cell& cell : shot.cells) {
    const PixelRect& rect = cell.destination;
    for (int c = 0; c < 3; ++c) {
      const double unit = 1 / static_cast<double>(n.scale[static_cast<std::size_t>(c)]);
      for (int y = rect.y; y < rect.y + rect.height; ++y) {
        for (int x = rect.x; x < rect.x + rect.width; ++x) {
          sum += std::abs(element(a, c, y, x) - element(b, c, y, x)) * unit;
          ++count;
        }
      }
    }
  }
  return sum / count;
}

const Entry* JobResult::find(Role role) const {
  for (const Entry& entry : entries) {
    if (entry.runner && entry.contestant->role == role) return &entry;
  }
  return nullptr;
}

const Entry* JobResult::best_peer(std::string_view rivals) const {
  const Entry* best = nullptr;
  for (const Entry& entry : entries) {
    if (!entry.runner || entry.contestant->role != Role::kPeer) continue;
    if (!std::string_view(entry.contestant->name).starts_with(rivals)) continue;
    if (best == nullptr || entry.median_ms < best->median_ms) best = &entry;
  }
  return best;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double median_ratio(const Entry& a, const Entry& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(a.round_ms.size(), b.round_ms.size()); ++i) {
    ratios.push_back(a.round_ms[i] / b.round_ms[i]);
  }
  return median(std::move(ratios));
}

Result<JobResult> measure_job(const ImportJob& job, const std::vector<SharedFrame>& frames,
                              const MeasureOptions& options, MemoryProbe& memory) {
  JobResult result;
  result.job = &job;
  const std::vector<Shot> shots = make_shots(job, frames);
  SPARING_ASSIGN_OR_RETURN(OwnedTensor tensor, make_tensor(job));
  for (const Contestant& contestant : contestants()) {
    if (is_variant(contestant.role) && job.id != std::string_view("J1")) continue;
    Entry& entry = result.entries.emplace_back();
    entry.contestant = &contestant;
    make_entry(job, options.threads, entry);
  }
  SPARING_RETURN_IF_ERROR(check_entries(job, shots[0], tensor.view, result.entries));
  ShotCycle cycle(shots);
  const Clock::time_point start = Clock::now();
  const std::size_t n = result.entries.size();
  std::vector<double> read_gbps;
  std::vector<double> write_gbps;
  while (result.rounds < options.max_rounds &&
         (result.rounds < 3 || seconds_since(start) < options.seconds)) {
    for (std::size_t i = 0; i < n; ++i) {  // each in its turn follows another
      Entry& entry = result.entries[(i + static_cast<std::size_t>(result.rounds)) % n];
      if (entry.runner) SPARING_RETURN_IF_ERROR(run_round(cycle, tensor.view, entry));
    }
    read_gbps.push_back(memory.read_gbps());
    write_gbps.push_back(MemoryProbe::write_gbps(tensor.memory.span()));
    ++result.rounds;
  }
  result.read_gbps = median(std::move(read_gbps));
  result.write_gbps = median(std::move(write_gbps));
  SPARING_RETURN_IF_ERROR(add_limit(shots, frames.size(), result));
  for (Entry& entry : result.entries) {
    if (!entry.runner) continue;
    entry.median_ms = median(entry.call_ms);
    entry.min_ms = *std::min_element(entry.call_ms.begin(), entry.call_ms.end());
  }
  return result;
}

}  // namespace sparing::bench
