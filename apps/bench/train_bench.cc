// A training step, measured: forward, backward and update of one network on made-up pictures. The
// comparison with PyTorch is training/bench_step.py, which runs this and PyTorch in turns.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks.h"
#include "sparing/train/trainer.h"

namespace sparing::bench {
namespace {

// The ways to compute that are measured.
struct Way {
  const char* id;
  const char* precision;
  const char* gradients;
  const char* note;
};

constexpr Way kWays[] = {
    {"train.f32", "f32", "f32", "float32"},
    {"train.bf16", "bf16", "f32", "forward in bfloat16, backward in float32"},
    {"train.bf16_gradients", "bf16", "bf16", "forward and backward in bfloat16"},
};

struct Times {
  std::vector<double> forward, step, both;  // ms
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Numbers of about the size that normalised pixels have.
void fill(const TensorView& input) {
  std::uint32_t state = 12345;
  auto* values = reinterpret_cast<float*>(input.data);
  const auto count = static_cast<std::size_t>(input.channels) *
                     static_cast<std::size_t>(input.height) * static_cast<std::size_t>(input.width);
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values[i] = static_cast<float>(state >> 8) / (1 << 23) * 2 - 2;
  }
}

class Contender {
 public:
  static Result<Contender> create(const TrainBenchOptions& options, const Way& way) {
    TrainerOptions wanted;
    wanted.threads = options.threads;
    wanted.precision = way.precision;
    wanted.gradients = way.gradients;
    wanted.train = options.train;
    wanted.rate = 1e-6;
    wanted.loss_limit = wanted.gradient_limit = 1e30;
    if (std::sscanf(options.size.c_str(), "%dx%d", &wanted.width, &wanted.height) != 2) {
      return Error{ErrorCode::kInvalidArgument, "--size", "'" + options.size + "' is not WxH",
                   "give for example 240x180"};
    }
    SPARING_ASSIGN_OR_RETURN(Trainer trainer, Trainer::create(options.model, wanted));
    return Contender(way, std::move(trainer));
  }

  Status step() {
    const auto begin = std::chrono::steady_clock::now();
    SPARING_RETURN_IF_ERROR(trainer_.forward());
    const auto middle = std::chrono::steady_clock::now();
    SPARING_ASSIGN_OR_RETURN(const StepReport report,
                             trainer_.step_cross_entropy({.labels = labels_}));
    const auto end = std::chrono::steady_clock::now();
    if (!report.applied()) {
      return Error{ErrorCode::kModel, "training step", std::string(to_string(report.outcome)),
                   "give a network that can learn from made-up pictures"};
    }
    const auto ms = [](auto from, auto to) {
      return std::chrono::duration<double, std::milli>(to - from).count();
    };
    times_.forward.push_back(ms(begin, middle));
    times_.step.push_back(ms(middle, end));
    times_.both.push_back(ms(begin, end));
    return {};
  }
  void forget() { times_ = {}; }

  void report(Report& report) const {
    const std::string id = way_->id;
    const std::string note = way_->note;
    report.add({id + "_ms", median(times_.both), "ms", note + ": forward, backward, update"});
    report.add({id + "_forward_ms", median(times_.forward), "ms", note + ": forward alone"});
    const TrainerMemory memory = trainer_.memory();
    const double bytes = static_cast<double>(memory.weights + memory.planned + memory.ends);
    report.add({id + "_memory", bytes / 1e6, "MB", note + ": weights, pictures, gradients"});
  }
  double gmacs() const { return static_cast<double>(trainer_.macs()) / 1e9; }

 private:
  Contender(const Way& way, Trainer trainer) : way_(&way), trainer_(std::move(trainer)) {
    fill(trainer_.input());
    const std::size_t pixels =
        trainer_.logits().size() / static_cast<std::size_t>(trainer_.classes());
    for (std::size_t i = 0; i < pixels; ++i) {
      labels_.push_back(
          static_cast<std::uint8_t>(i / 7 % static_cast<std::size_t>(trainer_.classes())));
    }
  }

  const Way* way_;
  Trainer trainer_;
  std::vector<std::uint8_t> labels_;
  Times times_;
};

}  // namespace

Status bench_train_step(const BenchOptions& options, Report& report) {
  SPARING_RETURN_IF_ERROR(validate_options(options.train));
  std::vector<Contender> contenders;
  for (const Way& way : kWays) {
    Result<Contender> contender = Contender::create(options.train, way);
    if (!contender.ok() && contender.error().code == ErrorCode::kNotSupported) {
      report.skip(std::string(way.id) + "_ms", contender.error().to_string());
      continue;
    }
    if (!contender.ok()) return contender.error();
    contenders.push_back(*std::move(contender));
  }
  const int rounds = options.quick ? std::min(options.train.rounds, 20) : options.train.rounds;
  for (int round = -3; round < rounds; ++round) {
    for (Contender& contender : contenders) {
      if (round == 0) contender.forget();
      SPARING_RETURN_IF_ERROR(contender.step());
    }
  }
  report.add({"train.gmacs", contenders.front().gmacs(), "GMAC", "of one forward pass"});
  for (const Contender& contender : contenders) contender.report(report);
  return {};
}

}  // namespace sparing::bench
