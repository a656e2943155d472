// All parameters of a network in a few flat arrays: what a step, a reset or a comparison does, it
// does in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sparing/train/net.h"
#include "sparing/train/trainer.h"

namespace sparing::train {

class ParameterStore {
 public:
  ParameterStore(const Net& net, const TrainerOptions& options);

  std::span<float> values(int parameter) { return slice(values_, parameter); }
  std::span<const float> values(int parameter) const {
    const Place place = places_[static_cast<std::size_t>(parameter)];
    return {values_.data() + place.begin, place.count};
  }
  // Where a layer's backward writes; empty if it is not trained.
  std::span<float> gradient(int parameter) {
    return is_trained(parameter) ? slice(gradients_, parameter) : std::span<float>{};
  }
  bool is_trained(int parameter) const {
    return places_[static_cast<std::size_t>(parameter)].begin < trained_;
  }

  double gradient_norm() const;
  // One step of the optimiser down the gradients. What was before is kept for restore().
  void update(const TrainerOptions& options);
  // The weights and statistics that are here now have proved good: they are what restore() gives.
  void keep_as_good();
  void restore();
  void reset();
  void pull(float share);
  double distance() const;

  // Changes whenever values do but by running statistics, so that layers know their copies are old.
  std::uint64_t generation() const { return generation_; }

  std::vector<std::byte> save() const;
  // kInvalidArgument: other sizes, other kinds; nothing is changed then.
  Status load(std::span<const std::byte> state);

  std::size_t bytes() const;

 private:
  struct Place {
    std::size_t begin = 0;
    std::size_t count = 0;
  };

  std::span<float> slice(std::vector<float>& all, int parameter) {
    const Place place = places_[static_cast<std::size_t>(parameter)];
    return {all.data() + place.begin, place.count};
  }
  std::uint64_t fingerprint() const;

  // Trained parameters first, then statistics, then the rest: [0, trained_), [trained_, changing_).
  std::vector<Place> places_;
  std::size_t trained_ = 0;
  std::size_t changing_ = 0;
  bool adam_ = false;
  std::vector<float> values_;
  std::vector<float> initial_;    // of what changes
  std::vector<float> good_;       // of what changes
  std::vector<float> gradients_;  // of what is trained, as are the moments
  std::vector<float> moment_;
  std::vector<float> square_;
  std::int64_t steps_ = 0;
  std::uint64_t generation_ = 1;
};

}  // namespace sparing::train
