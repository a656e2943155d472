// The fast way of import_frame: rows of source samples become lines of floats, one value a tensor
// column (sample.h), which become rows of the tensor (store.h). Works in tiles of columns, row by
// row, and keeps nothing but two lines of each component.
#pragma once

#include <optional>

#include "sparing/kernels/import_plan.h"
#include "sparing/kernels/row_sampler.h"
#include "sparing/kernels/store.h"
#include "sparing/kernels/taps.h"

namespace sparing::internal {

// One call's work, prepared. Holds no memory but its own; refers to its arguments.
class ImportEngine {
 public:
  // nullopt for what only the reference can do: pixels that cover hundreds of samples, and
  // normalisations beyond what 32-bit floats hold (docs/import.md, "Limits of the fast path").
  static std::optional<ImportEngine> make(const ImportPlan& plan, const VideoFrame& frame,
                                          const ImportOptions& options, const TensorView& tensor);

  // Draws rows [first, first + rows) of plan.content. From any thread.
  void draw(int first, int rows) const;

 private:
  friend class TileDrawer;

  struct Axes {
    AxisTaps x;
    AxisTaps y;
  };

  ImportEngine(const ImportPlan& plan, const TensorView& tensor, int batch_index);
  bool add_sources(const VideoFrame& frame);
  void choose_store(const TensorView& tensor);
  const Axes& axes(bool chroma) const { return chroma ? chroma_ : luma_; }

  const ImportPlan* plan_;
  TensorView tensor_;
  int batch_index_;
  Axes luma_;
  Axes chroma_;
  SampleSource sources_[3];
  int source_count_ = 0;
  ColorTransform color_;
  StoreJob store_;        // but for what changes with the row
  bool strided_ = false;  // stored as floats first, then one by one
  int max_columns_ = 0;   // of a tile
};

}  // namespace sparing::internal
