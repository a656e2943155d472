// Whatever the bytes: the trainer's reader gives a network or a one-line error with a fix, and a
// small network that it accepts can be run and stepped.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "sparing/train/lower.h"
#include "sparing/train/onnx_graph.h"
#include "sparing/train/trainer.h"

namespace {

// Larger networks are only read: running them would find nothing that small ones do not.
constexpr std::int64_t kMaxWork = 1 << 22;

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

void check_error(const sparing::Error& error) {
  const std::string message = error.to_string();
  require(message.find('\n') == std::string::npos, "several lines: " + message);
  require(!error.fix.empty(), "no fix: " + message);
}

std::int64_t work_of(const sparing::train::Net& net) {
  std::int64_t work = 0;
  for (const sparing::train::Value& value : net.values) {
    work += static_cast<std::int64_t>(value.elements());
  }
  for (const sparing::TrainerLayer& layer : describe_layers(net)) {
    work = work > kMaxWork ? work : work + layer.macs;
  }
  return work;
}

void step(std::span<const std::byte> bytes, const sparing::TrainerOptions& options) {
  sparing::Result<sparing::Trainer> trainer = sparing::Trainer::create(bytes, "fuzz", options);
  if (!trainer.ok()) return check_error(trainer.error());
  for (int i = 0; i < 2; ++i) {
    const sparing::Status forward = trainer->forward();
    require(forward.ok(), forward.ok() ? "" : forward.error().to_string());
    const std::vector<std::uint8_t> labels(trainer->logits().size() /
                                           static_cast<std::size_t>(trainer->classes()));
    const auto report = trainer->step_cross_entropy({.labels = labels});
    require(report.ok(), report.ok() ? "" : report.error().to_string());
  }
  require(trainer->load_state(trainer->save_state()).ok(), "its own state is refused");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte chooses the options; the rest is the file.
  sparing::TrainerOptions options;
  if (data[0] & 1) options.batch_norm = "live";
  if (data[0] & 2) options.optimizer = "adam";
  if (data[0] & 4) options.train = "last";
  if (data[0] & 8) options.width = options.height = 8;
  if (data[0] & 16) options.batch = 2;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data + 1, size - 1));
  auto graph = sparing::train::read_onnx(bytes, "fuzz");
  if (!graph.ok()) {
    check_error(graph.error());
    return 0;
  }
  auto net = sparing::train::lower(*std::move(graph), options);
  if (!net.ok()) {
    check_error(net.error());
    return 0;
  }
  if (work_of(*net) < kMaxWork) step(bytes, options);
  return 0;
}
