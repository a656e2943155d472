// Trains a segmentation network where it runs: reads its ONNX graph, keeps its weights, and makes
// single steps of gradient descent on whatever was last computed. Made for networks of about 0.1 to
// 1 GMACs that follow a video (AuxAdapt, Zhang, Borse and Porikli 2021; Tent, Wang et al. 2021).
//
//   TrainerOptions options;
//   options.train = "decoder";
//   SPARING_ASSIGN_OR_RETURN(Trainer trainer, Trainer::create("aux.onnx", options));
//   draw(frame, trainer.input());
//   SPARING_RETURN_IF_ERROR(trainer.forward());
//   use(trainer.logits());  // [batch, classes, height, width]
//   SPARING_ASSIGN_OR_RETURN(StepReport step, trainer.step_cross_entropy({.labels = decision}));
//
// The graph: one image input [N,C,H,W], one output [N,classes,H,W] of logits; a Softmax at the end
// is recognised and left out. The operators are those of `trainer_operators()`; frozen batch norms
// are folded into the convolutions before them, also where those are trained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sparing/base/class_map.h"
#include "sparing/base/geometry.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/base/tensor_view.h"

namespace sparing {

struct TrainerOptions {
  int width = 0;   // of the input; 0: as the model says
  int height = 0;  // likewise
  int batch = 1;
  int threads = 1;
  std::string precision = "f32";  // of the forward pass; weights and their steps are float32
  std::string gradients = "f32";  // of convolutions; "auto": as the forward pass
  // What is trained. "all"; "decoder": the layers above the first enlargement (ConvTranspose,
  // Resize), or the last layer where only the logits are enlarged; "last": the last layer with
  // weights; "batch_norm": scale and shift of all batch norms (Tent); "none".
  std::string train = "all";
  // Of these only the last so many layers with weights (see Trainer::layers()); 0: all of them.
  int train_layers = 0;
  // Of these only what lies at or after this node or tensor of the graph; empty: all of them.
  std::string train_from;
  std::string batch_norm = "frozen";  // "live": batch statistics, running ones follow them
  double batch_norm_momentum = 0.1;   // share of the new in running statistics
  std::string optimizer = "sgd";
  double rate = 1e-3;
  double momentum = 0.9;    // of sgd
  double weight_decay = 0;  // times the weight, added to its gradient; both optimisers
  double beta1 = 0.9;       // of adam
  double beta2 = 0.999;     // of adam
  double epsilon = 1e-8;    // of adam
  // A step whose loss or gradient is larger (or not a number) is not made; see StepReport.
  double loss_limit = 100;
  double gradient_limit = 1e6;

  static constexpr auto fields() {
    return std::tuple{
        option("aux-width", &TrainerOptions::width)
            .help("width that the trained network sees; 0: as the model says")
            .unit("pixels")
            .range(0, 16384),
        option("aux-height", &TrainerOptions::height)
            .help("height that the trained network sees; 0: as the model says")
            .unit("pixels")
            .range(0, 16384),
        option("aux-batch", &TrainerOptions::batch).help("images in a step").range(1, 64),
        option("aux-threads", &TrainerOptions::threads)
            .help("threads of the trained network")
            .range(1, 256),
        option("aux-precision", &TrainerOptions::precision)
            .help("of the trained network's forward pass; auto: bf16 where the processor has it")
            .choices("auto|f32|bf16"),
        option("aux-gradients", &TrainerOptions::gradients)
            .help(
                "of the trained network's backward pass; bf16 only with a forward pass in bf16, auto: as that")
            .choices("auto|f32|bf16"),
        option("train", &TrainerOptions::train)
            .help("the layers that are trained; batch_norm: scales and shifts alone")
            .choices("all|decoder|last|batch_norm|none"),
        option("train-layers", &TrainerOptions::train_layers)
            .help("of these only the last so many; 0: all")
            .range(0, 10000),
        option("train-from", &TrainerOptions::train_from)
            .help("of these only what lies at or after this node or tensor"),
        option("batch-norm", &TrainerOptions::batch_norm)
            .help("statistics of batch norms: as trained, or those of each batch")
            .choices("frozen|live"),
        option("batch-norm-momentum", &TrainerOptions::batch_norm_momentum)
            .help("share of each batch in live batch norms' running statistics")
            .range(0, 1),
        option("optimizer", &TrainerOptions::optimizer)
            .help("how gradients become steps")
            .choices("sgd|adam"),
        option("rate", &TrainerOptions::rate).help("learning rate").range(0, 10),
        option("momentum", &TrainerOptions::momentum).help("momentum of sgd").range(0, 0.9999),
        option("weight-decay", &TrainerOptions::weight_decay)
            .help("pull of weights towards 0, added to their gradients")
            .range(0, 1),
        option("beta1", &TrainerOptions::beta1).help("of adam").range(0, 0.9999),
        option("beta2", &TrainerOptions::beta2).help("of adam").range(0, 0.999999),
        option("epsilon", &TrainerOptions::epsilon).help("of adam").range(1e-12, 1),
        option("loss-limit", &TrainerOptions::loss_limit)
            .help("a larger loss makes no step and restores the weights before the last")
            .range(0, 1e30),
        option("gradient-limit", &TrainerOptions::gradient_limit)
            .help("a larger gradient (L2 norm) makes no step and restores the same")
            .range(0, 1e30),
    };
  }

  // kInvalidArgument: the first option out of its range or choices.
  Status validate() const { return validate_options(*this); }
};

// A layer with weights (a convolution, or a batch norm that stands alone), in the graph's order.
struct TrainerLayer {
  std::string name;                // the node's, or its output's where the node has none
  std::string op;                  // as ONNX spells it: "Conv"
  int channels = 0;                // of the output
  Size size;                       // of the output
  std::int64_t parameters = 0;     // weights, bias, and scale and shift of its batch norm
  std::int64_t macs = 0;           // multiply-accumulates of one image, forward
  bool after_enlargement = false;  // one of the "decoder" layers
  bool trained = false;
};

// In bytes.
struct TrainerMemory {
  std::int64_t weights = 0;   // weights, their copies in other layouts, gradients, the optimiser's
  std::int64_t planned = 0;   // one block for all pictures between layers, gradients and scratch
  std::int64_t kept = 0;      // of it: what waits for the step after a forward pass
  std::int64_t unshared = 0;  // what the block would be if nothing in it were used twice
  std::int64_t ends = 0;      // input and logits
};

// What is learnt from: labels, and how much each class and pixel counts.
struct CrossEntropyTarget {
  std::span<const std::uint8_t> labels;       // batch * height * width of the output; 255: ignored
  std::span<const float> class_weights = {};  // one per class, >= 0; empty: all 1
  std::span<const float> pixel_weights = {};  // as many as labels, >= 0; empty: all 1
};

enum class StepOutcome {
  kApplied,
  kNothingToLearn,  // no pixel counted, nothing is trained: weights are as they were
  kLossNotFinite,   // this and the following: not made, weights and running statistics are those
  kLossTooLarge,    // before the last step that was made, moments of the optimiser are 0
  kGradientNotFinite,
  kGradientTooLarge,
};
// Stable lower-case name, e.g. "loss_not_finite".
std::string_view to_string(StepOutcome outcome);

struct StepReport {
  double loss = 0;           // mean over what counted, before the step
  double gradient_norm = 0;  // L2 over all trained weights, without weight decay
  StepOutcome outcome = StepOutcome::kApplied;

  bool applied() const { return outcome == StepOutcome::kApplied; }
  // Weights went back to those before the last step.
  bool restored() const { return outcome > StepOutcome::kNothingToLearn; }
};

// The operators that can be trained through, as ONNX spells them.
std::span<const std::string_view> trainer_operators();

// One network, its weights and its planned memory. Move-only. One thread at a time: whichever
// thread calls, `threads` OpenMP threads belong to it. The same calls give the same bits on the
// same processor with the same number of threads.
class Trainer {
 public:
  // kInput: no such file, unreadable. kModel: not an ONNX graph, a graph of another form, shapes
  // that do not fit, an operator that cannot run, or one that cannot be trained through and lies
  // where gradients pass (named). kInvalidArgument: options out of range, an unknown `train_from`,
  // an input size that the graph does not take. kNotSupported: "bf16" on a processor that oneDNN
  // has no bfloat16 for.
  static Result<Trainer> create(const std::filesystem::path& onnx, const TrainerOptions& options);
  // Likewise from the bytes of a file; `name` is for errors.
  static Result<Trainer> create(std::span<const std::byte> onnx, std::string_view name,
                                const TrainerOptions& options);

  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;
  ~Trainer();

  const TrainerOptions& options() const;
  int classes() const;
  Size output_size() const;
  std::span<const TrainerLayer> layers() const;
  TrainerMemory memory() const;
  std::int64_t macs() const;  // of the forward pass of one image

  // Dense NCHW float32, [batch, channels, height, width]: the caller writes what the network was
  // trained on (normalised). Valid as long as the trainer; steps leave it as it is.
  TensorView input();

  // Runs the network on the input. With `keep` a step may follow; without it is cheaper, running
  // statistics of live batch norms stay, and a step is refused. kInternal: oneDNN failed.
  Status forward(bool keep = true);
  // What the last forward left, dense [batch, classes, height, width]. Valid until the next.
  std::span<const float> logits() const;
  // The softmax of the logits of one image.
  // Precondition: 0 <= image < batch.
  void probabilities(ProbabilityMap& out, int image = 0) const;

  // Each makes one step down the gradient of a loss of the last forward(true), which it uses up.
  // kInvalidArgument: no such forward, spans of the wrong size, a label or weight out of range.
  // Cross-entropy: sum of w * -log softmax(logits)[label] over sum of w, w = class * pixel weight.
  Result<StepReport> step_cross_entropy(const CrossEntropyTarget& target);
  // The mean entropy of the softmax, in nats (Tent); `pixel_weights` as above.
  Result<StepReport> step_entropy(std::span<const float> pixel_weights = {});
  // Any other loss, by its value and its gradient for each logit. Not finite: see StepOutcome.
  Result<StepReport> step_gradient(double loss, std::span<const float> gradient);

  double rate() const;
  // kInvalidArgument: outside the option's range.
  Status set_rate(double rate);

  // All that steps change, to continue exactly where it was saved; about 3 times the trained
  // weights. load_state(): kInvalidArgument, and nothing changed, unless saved by a trainer of the
  // same graph and the same trained layers and optimiser.
  std::vector<std::byte> save_state() const;
  Status load_state(std::span<const std::byte> state);
  // Back to the file's weights and statistics, optimiser anew.
  void reset();
  // w += share * (w0 - w) for all trained weights and running statistics, w0 the file's.
  // kInvalidArgument: share not in [0, 1].
  Status pull(double share);
  // How far the trained weights are from the file's: |w - w0| / |w0|, L2.
  double distance() const;

  // Trained weights of a layer as the graph has them: "weight" (ONNX layout), "bias", "scale",
  // "shift", "mean", "variance" (the latter four of its batch norm). kInvalidArgument: no such
  // layer or part.
  Result<std::vector<float>> weights(std::string_view layer, std::string_view part) const;

 private:
  struct Impl;
  explicit Trainer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing
