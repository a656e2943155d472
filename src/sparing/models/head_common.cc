#include <algorithm>
#include <limits>

#include "sparing/models/head_internal.h"

namespace sparing::heads_internal {
namespace {

std::string quoted_names(std::span<const HeadTensor> tensors) {
  std::string text;
  for (const HeadTensor& tensor : tensors) {
    text += (text.empty() ? "'" : ", '") + std::string(tensor.name) + "'";
  }
  return text.empty() ? "none" : text;
}

std::string extent(std::int64_t value) { return value == kAny ? "?" : std::to_string(value); }

// The image's share of a tensor whose shape has been checked.
Result<Matrix> slice(const HeadTensor& tensor, const DecodeOptions& options, std::int64_t rows,
                     std::int64_t columns) {
  if (options.image < 0 || options.image >= tensor.shape[0]) {
    return Error{ErrorCode::kInvalidArgument, "image " + std::to_string(options.image),
                 "output '" + std::string(tensor.name) + "' has a batch of " +
                     std::to_string(tensor.shape[0]),
                 "use an index below that"};
  }
  const std::optional<std::int64_t> count = element_count(tensor.shape);
  if (!count || static_cast<std::uint64_t>(*count) != tensor.data.size()) {
    return Error{
        ErrorCode::kModel, "output '" + std::string(tensor.name) + "'",
        std::to_string(tensor.data.size()) + " values for shape " + to_string_shape(tensor.shape),
        "give all values of the tensor"};
  }
  return Matrix{tensor.data.data() + options.image * rows * columns, rows, columns};
}

}  // namespace

Result<const HeadTensor*> find_output(std::span<const HeadTensor> tensors, std::string_view name,
                                      std::string_view field) {
  if (name.empty()) {
    if (tensors.size() == 1) return &tensors[0];
    return Error{ErrorCode::kModel, "head",
                 "the network has several outputs: " + quoted_names(tensors),
                 "name the one to read in " + std::string(field) + " of the manifest"};
  }
  for (const HeadTensor& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return Error{ErrorCode::kModel, "head",
               "output '" + std::string(name) + "' is missing; found " + quoted_names(tensors),
               "correct " + std::string(field) + " of the manifest"};
}

Error shape_error(const HeadTensor& tensor, const std::string& expected) {
  return Error{ErrorCode::kModel, "output '" + std::string(tensor.name) + "'",
               "expected " + expected + ", found " + to_string_shape(tensor.shape),
               "correct the head, its outputs or the labels of the manifest"};
}

Result<Matrix> image_matrix(std::span<const HeadTensor> tensors, std::string_view name,
                            const DecodeOptions& options, std::int64_t rows, std::int64_t columns) {
  SPARING_ASSIGN_OR_RETURN(const HeadTensor* tensor, find_output(tensors, name));
  const std::span<const std::int64_t> shape = tensor->shape;
  if (shape.size() != 3 || (rows != kAny && shape[1] != rows) ||
      (columns != kAny && shape[2] != columns)) {
    return shape_error(*tensor, "[batch," + extent(rows) + "," + extent(columns) + "]");
  }
  return slice(*tensor, options, shape[1], shape[2]);
}

Result<Matrix> image_column(std::span<const HeadTensor> tensors, std::string_view name,
                            const DecodeOptions& options, std::int64_t rows) {
  SPARING_ASSIGN_OR_RETURN(const HeadTensor* tensor, find_output(tensors, name));
  const std::span<const std::int64_t> shape = tensor->shape;
  if (shape.size() != 2 || (rows != kAny && shape[1] != rows)) {
    return shape_error(*tensor, "[batch," + extent(rows) + "]");
  }
  return slice(*tensor, options, shape[1], 1);
}

Status check_classes(const HeadSpec& spec, std::int64_t found, std::string_view output) {
  if (found >= 1 && (spec.classes == 0 || found == spec.classes)) return ok_status();
  const std::string name = output.empty() ? "the output" : "output '" + std::string(output) + "'";
  return Error{ErrorCode::kModel, "labels",
               std::to_string(spec.classes) + " names, but " + name + " has " +
                   std::to_string(found) + " classes",
               "correct the labels or the head of the manifest"};
}

Status check_options(const DecodeOptions& options) {
  if (options.input_size.width < 1 || options.input_size.height < 1) {
    return Error{
        ErrorCode::kInvalidArgument, "input size",
        std::to_string(options.input_size.width) + "x" + std::to_string(options.input_size.height),
        "give the size of the network's input tensor"};
  }
  if (std::isnan(options.score_threshold)) {
    return Error{ErrorCode::kInvalidArgument, "score threshold", "not a number", "use 0..1"};
  }
  return ok_status();
}

Grid grid_of(Size size, int stride) {
  return {(size.width + stride - 1) / stride, (size.height + stride - 1) / stride};
}

std::int64_t cells_of(Size size, std::span<const int> strides) {
  std::int64_t cells = 0;
  for (const int stride : strides) cells += grid_of(size, stride).cells();
  return cells;
}

float raw_threshold(float threshold, Activation activation) {
  if (activation != Activation::kSigmoid) return threshold;
  if (threshold <= 0) return -std::numeric_limits<float>::infinity();
  if (threshold >= 1) return 16;  // sigmoid(16) is still below 1 - 1e-7, but rounds close to it
  return std::log(threshold / (1 - threshold)) - 1e-3f;
}

Best best_of(const float* values, std::int64_t count, std::int64_t step) {
  Best best{values[0], 0};
  for (std::int64_t i = 1; i < count; ++i) {
    const float value = values[i * step];
    // Written so that NaN wins and stays.
    if (!(value <= best.value) && !std::isnan(best.value)) best = {value, static_cast<int>(i)};
  }
  return best;
}

void Collector::reject(float score) {
  if (std::isfinite(score)) {
    improbable_ = score;
  } else {
    ++result_.dropped_not_finite;
  }
}

void Collector::add(const Box& box, float score, int class_id) {
  if (!is_finite(box)) {
    ++result_.dropped_not_finite;
  } else if (box.x1 < box.x0 || box.y1 < box.y0) {
    ++result_.dropped_inside_out;
  } else {
    result_.detections.push_back({box, std::clamp(score, 0.0f, 1.0f), class_id});
  }
}

Result<DecodeResult> Collector::take() {
  if (improbable_ != 0) {
    return Error{ErrorCode::kModel, "head '" + std::string(info(spec_.type).name) + "'",
                 "a score of " + std::to_string(improbable_) + " is no probability",
                 spec_.activation == Activation::kNone
                     ? "set head.score_activation of the manifest, or correct the head"
                     : "correct the head of the manifest"};
  }
  return std::move(result_);
}

}  // namespace sparing::heads_internal
