#include "sparing/train/parameters.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sparing/train/kernels.h"

namespace sparing::train {
namespace {

constexpr std::size_t kAlignment = 16;  // floats: each parameter begins on a cache line of its own
constexpr std::uint64_t kMagic = 0x3154535452415053;  // "SPARTST1"

struct Header {
  std::uint64_t magic = kMagic;
  std::uint64_t fingerprint = 0;
  std::uint64_t trained = 0;
  std::uint64_t changing = 0;
  std::uint64_t adam = 0;
  std::int64_t steps = 0;
};

}  // namespace

ParameterStore::ParameterStore(const Net& net, const TrainerOptions& options)
    : places_(net.parameters.size()), adam_(options.optimizer == "adam") {
  std::size_t end = 0;
  const auto place = [&](auto wanted) {
    for (std::size_t i = 0; i < net.parameters.size(); ++i) {
      if (!wanted(net.parameters[i])) continue;
      places_[i] = {end, net.parameters[i].initial.size()};
      end += (places_[i].count + kAlignment - 1) / kAlignment * kAlignment;
    }
    return end;
  };
  const auto changes = [&](const Parameter& p) {
    return p.is_statistic() && options.batch_norm == "live";
  };
  trained_ = place([](const Parameter& p) { return p.trained; });
  changing_ = place([&](const Parameter& p) { return !p.trained && changes(p); });
  place([&](const Parameter& p) { return !p.trained && !changes(p); });
  values_.assign(end, 0);
  for (std::size_t i = 0; i < net.parameters.size(); ++i) {
    std::copy(net.parameters[i].initial.begin(), net.parameters[i].initial.end(),
              values_.begin() + static_cast<std::ptrdiff_t>(places_[i].begin));
  }
  initial_.assign(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(changing_));
  good_ = initial_;
  gradients_.assign(trained_, 0);
  moment_.assign(trained_, 0);
  if (adam_) square_.assign(trained_, 0);
}

double ParameterStore::gradient_norm() const {
  return std::sqrt(kernels().squared_norm(gradients_.data(), trained_));
}

void ParameterStore::update(const TrainerOptions& options) {
  ++steps_;
  ++generation_;
  UpdateJob job;
  job.weights = values_.data();
  job.gradient = gradients_.data();
  job.moment = moment_.data();
  job.count = trained_;
  job.decay = static_cast<float>(options.weight_decay);
  if (!adam_) {
    // The first moment of PyTorch is the gradient itself: the same, as ours begins at 0.
    job.beta1 = static_cast<float>(options.momentum);
    job.rate = static_cast<float>(options.rate);
    kernels().sgd(job);
    return;
  }
  const auto steps = static_cast<double>(steps_);
  const double first = 1 - std::pow(options.beta1, steps);
  const double second = std::sqrt(1 - std::pow(options.beta2, steps));
  job.square = square_.data();
  job.beta1 = static_cast<float>(options.beta1);
  job.beta2 = static_cast<float>(options.beta2);
  // m / first / (sqrt(v) / second + epsilon), with both corrections outside of the loop.
  job.rate = static_cast<float>(options.rate * second / first);
  job.epsilon = static_cast<float>(options.epsilon * second);
  kernels().adam(job);
}

void ParameterStore::keep_as_good() { std::copy_n(values_.begin(), changing_, good_.begin()); }

void ParameterStore::restore() {
  ++generation_;
  std::copy_n(good_.begin(), changing_, values_.begin());
  std::fill(moment_.begin(), moment_.end(), 0.0f);
  std::fill(square_.begin(), square_.end(), 0.0f);
  steps_ = 0;
}

void ParameterStore::reset() {
  good_ = initial_;
  restore();
}

void ParameterStore::pull(float share) {
  ++generation_;
  for (std::size_t i = 0; i < changing_; ++i) values_[i] += share * (initial_[i] - values_[i]);
}

double ParameterStore::distance() const {
  const double away = kernels().squared_distance(values_.data(), initial_.data(), trained_);
  const double size = kernels().squared_norm(initial_.data(), trained_);
  return size > 0 ? std::sqrt(away / size) : std::sqrt(away);
}

// Of the initial weights: a state belongs to the network that it was made from.
std::uint64_t ParameterStore::fingerprint() const {
  std::uint64_t hash = 1469598103934665603u;
  for (std::size_t i = 0; i < changing_; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &initial_[i], sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  }
  return hash;
}

std::vector<std::byte> ParameterStore::save() const {
  const Header header{kMagic, fingerprint(), trained_, changing_, adam_ ? 1u : 0u, steps_};
  std::vector<std::byte> state(sizeof header +
                               (changing_ + moment_.size() + square_.size()) * sizeof(float));
  std::byte* to = state.data();
  const auto append = [&](const void* data, std::size_t size) {
    if (size > 0) std::memcpy(to, data, size);
    to += size;
  };
  append(&header, sizeof header);
  append(values_.data(), changing_ * sizeof(float));
  append(moment_.data(), moment_.size() * sizeof(float));
  append(square_.data(), square_.size() * sizeof(float));
  return state;
}

Status ParameterStore::load(std::span<const std::byte> state) {
  const auto wrong = [](std::string problem) {
    return Error{ErrorCode::kInvalidArgument, "trainer state", std::move(problem),
                 "give one that a trainer of the same network and options saved"};
  };
  Header header;
  if (state.size() < sizeof header) return wrong("too short");
  std::memcpy(&header, state.data(), sizeof header);
  if (header.magic != kMagic) return wrong("not a saved state");
  if (header.trained != trained_ || header.changing != changing_ ||
      header.adam != (adam_ ? 1u : 0u) || header.fingerprint != fingerprint()) {
    return wrong("of another network, other trained layers or another optimiser");
  }
  const std::size_t count = changing_ + moment_.size() + square_.size();
  if (state.size() != sizeof header + count * sizeof(float) || header.steps < 0) {
    return wrong("damaged");
  }
  std::vector<float> numbers(count);
  if (count > 0) std::memcpy(numbers.data(), state.data() + sizeof header, count * sizeof(float));
  for (const float number : numbers) {
    if (!std::isfinite(number)) return wrong("has a number that is not finite");
  }
  auto from = numbers.begin();
  const auto take = [&](std::vector<float>& to, std::size_t size) {
    std::copy_n(from, size, to.begin());
    from += static_cast<std::ptrdiff_t>(size);
  };
  take(values_, changing_);
  take(moment_, moment_.size());
  take(square_, square_.size());
  std::copy_n(values_.begin(), changing_, good_.begin());
  steps_ = header.steps;
  ++generation_;
  return {};
}

std::size_t ParameterStore::bytes() const {
  return sizeof(float) * (values_.size() + initial_.size() + good_.size() + gradients_.size() +
                          moment_.size() + square_.size());
}

}  // namespace sparing::train
