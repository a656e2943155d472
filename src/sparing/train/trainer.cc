#include "sparing/train/trainer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "sparing/base/check.h"
#include "sparing/train/losses.h"
#include "sparing/train/lower.h"
#include "sparing/train/network.h"
#include "sparing/train/onnx_graph.h"
#include "sparing/train/parallel.h"

namespace sparing {
namespace {

using train::Network;

Error argument_error(std::string thing, std::string problem, std::string fix) {
  return Error{ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

Error wrong_size(std::string thing, std::size_t got, std::size_t wanted) {
  return argument_error(std::move(thing), std::to_string(got) + " elements",
                        "give " + std::to_string(wanted));
}

// Whether oneDNN computes in bfloat16 with instructions made for it.
bool has_bf16() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx512_core_bf16:
    case dnnl::cpu_isa::avx512_core_fp16:
    case dnnl::cpu_isa::avx512_core_amx:
    case dnnl::cpu_isa::avx512_core_amx_fp16: return true;
    default: return false;
  }
}

Result<std::vector<std::byte>> read_file(const std::filesystem::path& file) {
  const auto error = [&](std::string problem, std::string fix) {
    return Error{ErrorCode::kInput, "model '" + file.string() + "'", std::move(problem),
                 std::move(fix)};
  };
  std::error_code code;
  if (!std::filesystem::exists(file, code)) return error("no such file", "check the path");
  if (!std::filesystem::is_regular_file(file, code)) {
    return error("not a file", "give the path of an ONNX file");
  }
  std::ifstream stream(file, std::ios::binary);
  std::vector<std::byte> bytes(std::filesystem::file_size(file, code));
  if (code || !stream.read(reinterpret_cast<char*>(bytes.data()),
                           static_cast<std::streamsize>(bytes.size()))) {
    return error("cannot be read", "check its permissions");
  }
  return bytes;
}

// Weights of pixels: as many as there are, finite and not negative.
Status check_weights(std::string_view what, std::span<const float> weights, std::size_t count) {
  if (weights.empty()) return {};
  if (weights.size() != count) return wrong_size(std::string(what), weights.size(), count);
  for (const float weight : weights) {
    if (!(weight >= 0) || !std::isfinite(weight)) {
      return argument_error(std::string(what), std::to_string(weight) + " among them",
                            "give weights of 0 or more");
    }
  }
  return {};
}

// The sum of the weights of all pixels. kInvalidArgument: a label that is no class.
Result<double> weigh_labels(const CrossEntropyTarget& target, const std::array<float, 256>& weights,
                            std::size_t classes) {
  // Neighbours mostly have one label: counted in turns, they do not wait for each other.
  std::array<std::array<std::uint32_t, 256>, 4> turns{};
  const std::span<const std::uint8_t> labels = target.labels;
  for (std::size_t p = 0; p < labels.size(); ++p) ++turns[p % turns.size()][labels[p]];
  double total = 0;
  for (std::size_t label = 0; label < weights.size(); ++label) {
    const std::uint32_t count =
        turns[0][label] + turns[1][label] + turns[2][label] + turns[3][label];
    if (count > 0 && label >= classes && label != kIgnoreLabel) {
      return argument_error("labels", std::to_string(label) + " among them",
                            "give 0 to " + std::to_string(classes - 1) + ", or 255 to ignore");
    }
    total += count * static_cast<double>(weights[label]);
  }
  if (target.pixel_weights.empty()) return total;
  total = 0;
  for (std::size_t p = 0; p < labels.size(); ++p) {
    total += static_cast<double>(weights[labels[p]]) * static_cast<double>(target.pixel_weights[p]);
  }
  return total;
}

}  // namespace

std::string_view to_string(StepOutcome outcome) {
  static constexpr std::array<std::string_view, 6> kNames{
      "applied",        "nothing_to_learn",    "loss_not_finite",
      "loss_too_large", "gradient_not_finite", "gradient_too_large"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::span<const std::string_view> trainer_operators() { return train::lowered_operators(); }

struct Trainer::Impl {
  Impl(train::Net net, const TrainerOptions& wanted, bool bf16)
      : options(wanted),
        layers(train::describe_layers(net)),
        network(std::move(net), wanted, bf16) {}

  std::size_t pixels() const {
    return network.output().pixels() * static_cast<std::size_t>(options.batch);
  }
  std::size_t elements() const {
    return network.output().elements() * static_cast<std::size_t>(options.batch);
  }
  bool learns() const { return options.train != "none"; }

  Status check_fresh() const {
    if (fresh) return {};
    return argument_error("trainer step", "no forward pass to learn from",
                          "call forward(true) before each step");
  }

  // Runs the loss on all pixels; the sum of weighted losses.
  double run_loss(const train::LossJob& whole) {
    const train::ThreadScope threads(options.threads);
    const std::size_t plane = network.output().pixels();
    std::vector<double> sums(static_cast<std::size_t>(options.threads));
    for (std::size_t image = 0; image < static_cast<std::size_t>(options.batch); ++image) {
      train::parallel_parts(options.threads, plane,
                            [&](int part, std::size_t begin, std::size_t end) {
                              train::LossJob job = whole;
                              const std::size_t at = image * network.output().elements() + begin;
                              job.logits = network.logits() + at;
                              job.gradient = network.logits_gradient() + at;
                              job.stride = plane;
                              job.classes = network.output().channels;
                              job.pixels = end - begin;
                              const std::size_t pixel = image * plane + begin;
                              if (job.labels != nullptr) job.labels += pixel;
                              if (job.pixel_weights != nullptr) job.pixel_weights += pixel;
                              sums[static_cast<std::size_t>(part)] += train::losses().loss(job);
                            });
    }
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
  }

  StepReport refuse(StepReport report, StepOutcome outcome) {
    report.outcome = outcome;
    if (report.restored()) network.parameters().restore();
    return report;
  }

  // The gradient of the logits is there.
  StepReport step(double loss) {
    fresh = false;
    StepReport report;
    report.loss = loss;
    if (!std::isfinite(loss)) return refuse(report, StepOutcome::kLossNotFinite);
    if (loss > options.loss_limit) return refuse(report, StepOutcome::kLossTooLarge);
    network.backward();
    report.gradient_norm = network.parameters().gradient_norm();
    if (!std::isfinite(report.gradient_norm)) {
      return refuse(report, StepOutcome::kGradientNotFinite);
    }
    if (report.gradient_norm > options.gradient_limit) {
      return refuse(report, StepOutcome::kGradientTooLarge);
    }
    network.parameters().keep_as_good();
    network.parameters().update(options);
    return report;
  }

  // Runs work, and makes an Error of whatever oneDNN throws.
  template <class Work>
  auto guarded(const Work& work) -> Result<StepReport> {
    try {
      return work();
    } catch (const dnnl::error& error) {
      return Error{ErrorCode::kInternal, "oneDNN", error.what(), "report this with the network"};
    } catch (const std::bad_alloc&) {
      return Error{ErrorCode::kInternal, "trainer", "no memory left", "train a smaller network"};
    }
  }

  TrainerOptions options;
  std::vector<TrainerLayer> layers;
  Network network;
  bool fresh = false;  // a forward(true) that no step has used
};

Trainer::Trainer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

Result<Trainer> Trainer::create(const std::filesystem::path& onnx, const TrainerOptions& options) {
  SPARING_RETURN_IF_ERROR(options.validate());
  SPARING_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(onnx));
  return create(bytes, onnx.filename().string(), options);
}

Result<Trainer> Trainer::create(std::span<const std::byte> onnx, std::string_view name,
                                const TrainerOptions& options) {
  SPARING_RETURN_IF_ERROR(options.validate());
  if (options.precision == "bf16" && !has_bf16()) {
    return Error{ErrorCode::kNotSupported, "--aux-precision",
                 "this processor has no instructions for bf16", "give auto or f32"};
  }
  const bool bf16 = options.precision != "f32" && has_bf16();
  const auto failed = [&](std::string problem) {
    return Error{ErrorCode::kModel, "model '" + std::string(name) + "'", std::move(problem),
                 "train another network, or a smaller one"};
  };
  try {
    SPARING_ASSIGN_OR_RETURN(train::OnnxGraph graph, train::read_onnx(onnx, name));
    SPARING_ASSIGN_OR_RETURN(train::Net net, train::lower(std::move(graph), options));
    SPARING_RETURN_IF_ERROR(train::select_trained(net, options));
    return Trainer(std::make_unique<Impl>(std::move(net), options, bf16));
  } catch (const train::LayerFailure& failure) {
    return failed(failure.what());
  } catch (const dnnl::error& error) {
    return failed(std::string("oneDNN: ") + error.what());
  } catch (const std::bad_alloc&) {
    return failed("no memory for it");
  }
}

const TrainerOptions& Trainer::options() const { return impl_->options; }
int Trainer::classes() const { return impl_->network.output().channels; }
Size Trainer::output_size() const {
  return {impl_->network.output().width, impl_->network.output().height};
}
std::span<const TrainerLayer> Trainer::layers() const { return impl_->layers; }
TrainerMemory Trainer::memory() const { return impl_->network.memory(); }

std::int64_t Trainer::macs() const {
  std::int64_t sum = 0;
  for (const TrainerLayer& layer : impl_->layers) sum += layer.macs;
  return sum;
}

TensorView Trainer::input() {
  const train::Value& input = impl_->network.input();
  const std::array<std::int64_t, 4> shape{impl_->options.batch, input.channels, input.height,
                                          input.width};
  return dense_view(impl_->network.input_bytes(), DataType::kFloat32, shape, Layout::kNchw);
}

Status Trainer::forward(bool keep) {
  impl_->fresh = false;
  const Result<StepReport> run = impl_->guarded([&]() -> Result<StepReport> {
    impl_->network.forward(keep);
    return StepReport{};
  });
  if (!run.ok()) return run.error();
  impl_->fresh = keep;
  return {};
}

std::span<const float> Trainer::logits() const {
  return {impl_->network.logits(), impl_->elements()};
}

void Trainer::probabilities(ProbabilityMap& out, int image) const {
  SPARING_CHECK(image >= 0 && image < impl_->options.batch);
  out.resize(classes(), output_size());
  const train::ThreadScope threads(impl_->options.threads);
  const float* logits =
      impl_->network.logits() + static_cast<std::size_t>(image) * out.values.size();
  const std::size_t plane = out.pixels();
  train::parallel_for(impl_->options.threads, plane, 2048, [&](std::size_t begin, std::size_t end) {
    train::losses().softmax(logits + begin, out.values.data() + begin, plane, out.classes,
                            end - begin);
  });
}

Result<StepReport> Trainer::step_cross_entropy(const CrossEntropyTarget& target) {
  SPARING_RETURN_IF_ERROR(impl_->check_fresh());
  const std::size_t pixels = impl_->pixels();
  const auto classes = static_cast<std::size_t>(this->classes());
  if (target.labels.size() != pixels) return wrong_size("labels", target.labels.size(), pixels);
  SPARING_RETURN_IF_ERROR(check_weights("class weights", target.class_weights, classes));
  SPARING_RETURN_IF_ERROR(check_weights("pixel weights", target.pixel_weights, pixels));
  std::array<float, 256> weights{};
  for (std::size_t c = 0; c < classes; ++c) {
    weights[c] = target.class_weights.empty() ? 1.0f : target.class_weights[c];
  }
  SPARING_ASSIGN_OR_RETURN(const double total, weigh_labels(target, weights, classes));
  if (!impl_->learns() || !(total > 0)) {
    impl_->fresh = false;
    return StepReport{.outcome = StepOutcome::kNothingToLearn};
  }
  return impl_->guarded([&]() -> Result<StepReport> {
    train::LossJob job;
    job.labels = target.labels.data();
    job.class_weights = weights.data();
    job.pixel_weights = target.pixel_weights.empty() ? nullptr : target.pixel_weights.data();
    job.share = static_cast<float>(1 / total);
    return impl_->step(impl_->run_loss(job) / total);
  });
}

Result<StepReport> Trainer::step_entropy(std::span<const float> pixel_weights) {
  SPARING_RETURN_IF_ERROR(impl_->check_fresh());
  SPARING_RETURN_IF_ERROR(check_weights("pixel weights", pixel_weights, impl_->pixels()));
  double total = pixel_weights.empty() ? static_cast<double>(impl_->pixels()) : 0;
  for (const float weight : pixel_weights) total += static_cast<double>(weight);
  if (!impl_->learns() || !(total > 0)) {
    impl_->fresh = false;
    return StepReport{.outcome = StepOutcome::kNothingToLearn};
  }
  return impl_->guarded([&]() -> Result<StepReport> {
    train::LossJob job;
    job.pixel_weights = pixel_weights.empty() ? nullptr : pixel_weights.data();
    job.share = static_cast<float>(1 / total);
    return impl_->step(impl_->run_loss(job) / total);
  });
}

Result<StepReport> Trainer::step_gradient(double loss, std::span<const float> gradient) {
  SPARING_RETURN_IF_ERROR(impl_->check_fresh());
  if (gradient.size() != impl_->elements()) {
    return wrong_size("gradient", gradient.size(), impl_->elements());
  }
  if (!impl_->learns()) {
    impl_->fresh = false;
    return StepReport{.loss = loss, .outcome = StepOutcome::kNothingToLearn};
  }
  return impl_->guarded([&]() -> Result<StepReport> {
    std::copy(gradient.begin(), gradient.end(), impl_->network.logits_gradient());
    return impl_->step(loss);
  });
}

double Trainer::rate() const { return impl_->options.rate; }

Status Trainer::set_rate(double rate) {
  TrainerOptions changed = impl_->options;
  changed.rate = rate;
  SPARING_RETURN_IF_ERROR(changed.validate());
  impl_->options.rate = rate;
  return {};
}

std::vector<std::byte> Trainer::save_state() const { return impl_->network.parameters().save(); }

Status Trainer::load_state(std::span<const std::byte> state) {
  impl_->fresh = false;
  return impl_->network.parameters().load(state);
}

void Trainer::reset() {
  impl_->fresh = false;
  impl_->network.parameters().reset();
}

Status Trainer::pull(double share) {
  if (!(share >= 0 && share <= 1)) {
    return argument_error("pull", std::to_string(share) + " is out of range",
                          "give a share from 0 to 1");
  }
  impl_->fresh = false;
  impl_->network.parameters().pull(static_cast<float>(share));
  return {};
}

double Trainer::distance() const { return impl_->network.parameters().distance(); }

Result<std::vector<float>> Trainer::weights(std::string_view layer, std::string_view part) const {
  const train::Net& net = impl_->network.net();
  for (std::size_t i = 0; i < net.parameters.size(); ++i) {
    const train::Parameter& parameter = net.parameters[i];
    if (parameter.layer != layer ||
        train::kPartNames[static_cast<std::size_t>(parameter.part)] != part) {
      continue;
    }
    const std::span<const float> values =
        std::as_const(impl_->network).parameters().values(static_cast<int>(i));
    return std::vector<float>(values.begin(), values.end());
  }
  return argument_error("layer '" + std::string(layer) + "'",
                        "no " + std::string(part) + " of that name",
                        "give a name of layers() and weight, bias, scale, shift, mean or variance");
}

}  // namespace sparing
