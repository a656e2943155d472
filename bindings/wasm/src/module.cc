// The functions that JavaScript calls. Memory is the caller's: it allocates planes and tensor here,
// writes a request, and calls. Nothing that a request holds makes a call trap: addresses are held
// against the memory there is, the rest against the rules of import.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "import_request.h"
#include "sparing/base/tensor_view.h"
#include "sparing/base/version.h"
#include "sparing/frame/video_frame.h"
#include "sparing/kernels/import.h"
#include "sparing/kernels/import_plan.h"

namespace sparing::wasm {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::uint64_t kPageBytes = 65536;

class Importer {
 public:
  double* fields() { return fields_.data(); }
  const double* map() const { return map_.data(); }
  const char* error_text(int part) const {
    const std::array<const std::string*, 3> parts{&error_.thing, &error_.problem, &error_.fix};
    return part >= 0 && part < 3 ? parts[static_cast<std::size_t>(part)]->c_str() : "";
  }

  // 0, or 1 + the ErrorCode.
  int plan() { return finish(planned()); }
  int import() { return finish(imported()); }

 private:
  double at(Field first, int index = 0) const {
    return fields_[static_cast<std::size_t>(first) + static_cast<std::size_t>(index)];
  }
  float real(Field first, int index = 0) const { return static_cast<float>(at(first, index)); }
  // What is no int becomes one that no rule of import lets through.
  int whole(Field first, int index = 0) const {
    const double value = at(first, index);
    const bool fits =
        value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
    return fits && value == static_cast<int>(value) ? static_cast<int>(value)
                                                    : std::numeric_limits<int>::min();
  }
  bool flag(Field field) const { return at(field) != 0; }
  template <class Enum>
  Enum choice(Field field) const {
    return static_cast<Enum>(whole(field));
  }
  std::uintptr_t address(Field first, int index = 0) const {
    const double value = at(first, index);
    return value > 0 && value < 4294967296.0 ? static_cast<std::uintptr_t>(value) : 0;
  }

  int finish(const Result<Affine>& result) {
    if (!result.ok()) {
      error_ = result.error();
      return 1 + static_cast<int>(error_.code);
    }
    map_ = {result->a, result->b, result->tx, result->c, result->d, result->ty};
    return 0;
  }

  VideoFrame frame() const;
  ImportOptions options() const;
  Result<TensorView> tensor() const;
  Status check_memory(const VideoFrame& frame, const TensorView& tensor) const;
  Result<Affine> planned() const;
  Result<Affine> imported() const;

  std::array<double, static_cast<std::size_t>(Field::kCount)> fields_{};
  std::array<double, 6> map_{};
  Error error_;
};

VideoFrame Importer::frame() const {
  VideoFrame frame;
  frame.format = choice<PixelFormat>(Field::kFormat);
  frame.coded_size = {whole(Field::kCodedWidth), whole(Field::kCodedHeight)};
  for (int p = 0; p < kMaxPlanes; ++p) {
    Plane& plane = frame.planes[static_cast<std::size_t>(p)];
    plane.data = reinterpret_cast<const std::uint8_t*>(address(Field::kPlane0, p));
    plane.stride = whole(Field::kStride0, p);
  }
  frame.visible_rect = {at(Field::kVisibleX), at(Field::kVisibleY), at(Field::kVisibleWidth),
                        at(Field::kVisibleHeight)};
  frame.rotation = choice<Rotation>(Field::kRotation);
  frame.flip = flag(Field::kFlip);
  frame.color_space.matrix = choice<ColorMatrix>(Field::kMatrix);
  frame.color_space.range = choice<ColorRange>(Field::kRange);
  frame.color_space.siting = choice<ChromaSiting>(Field::kSiting);
  if (static_cast<std::size_t>(frame.format) < kPixelFormats.size()) {
    frame.color_space = resolve(frame.color_space, frame.format,
                                {whole(Field::kFrameWidth), whole(Field::kFrameHeight)});
  }
  return frame;
}

ImportOptions Importer::options() const {
  ImportOptions options;
  if (flag(Field::kHasSource)) {
    options.visible_rect = Rect{at(Field::kSourceX), at(Field::kSourceY), at(Field::kSourceWidth),
                                at(Field::kSourceHeight)};
  }
  for (int c = 0; c < 3; ++c) {
    options.mean[static_cast<std::size_t>(c)] = real(Field::kMean0, c);
    options.std[static_cast<std::size_t>(c)] = real(Field::kStd0, c);
    options.pad[static_cast<std::size_t>(c)] = real(Field::kPad0, c);
  }
  options.order = choice<ChannelOrder>(Field::kOrder);
  options.fit = choice<Fit>(Field::kFit);
  options.anchor = choice<Anchor>(Field::kAnchor);
  options.filter = choice<Filter>(Field::kFilter);
  options.outside = choice<Outside>(Field::kOutside);
  options.chroma = choice<ChromaUpsampling>(Field::kChroma);
  options.quantization = {real(Field::kQuantizationScale), whole(Field::kQuantizationZeroPoint)};
  options.alpha = real(Field::kAlpha);
  if (flag(Field::kHasOrientation)) {
    options.orientation =
        Orientation{choice<Rotation>(Field::kShownRotation), flag(Field::kShownFlip)};
  }
  options.color_space.matrix = choice<ColorMatrix>(Field::kGivenMatrix);
  options.color_space.range = choice<ColorRange>(Field::kGivenRange);
  options.color_space.siting = choice<ChromaSiting>(Field::kGivenSiting);
  return options;
}

Result<TensorView> Importer::tensor() const {
  const int type = whole(Field::kDataType);
  const std::array<std::int64_t, 3> size{whole(Field::kChannels), whole(Field::kHeight),
                                         whole(Field::kWidth)};
  const auto count = element_count(size);
  if (type < 0 || type >= static_cast<int>(kDataTypes.size()) || !count || *count < 1 ||
      *count > std::numeric_limits<std::int32_t>::max() /
                   static_cast<std::int64_t>(kDataTypes[static_cast<std::size_t>(type)].size)) {
    return Error{
        ErrorCode::kInvalidArgument, "tensor",
        "shape " + to_string_shape(size) + " (channels, height, width) is empty or too large",
        "give 1, 3 or 4 channels and a size of less than 2 GB"};
  }
  const bool nhwc = whole(Field::kLayout) != 0;
  const std::array<std::int64_t, 4> shape =
      nhwc ? std::array<std::int64_t, 4>{1, size[1], size[2], size[0]}
           : std::array<std::int64_t, 4>{1, size[0], size[1], size[2]};
  return dense_view(reinterpret_cast<std::byte*>(address(Field::kTensor)),
                    static_cast<DataType>(type), shape, nhwc ? Layout::kNhwc : Layout::kNchw);
}

// Whether [begin, begin + bytes) is memory that the module has.
bool in_memory(std::uint64_t begin, std::uint64_t bytes) {
  return begin > 0 && begin + bytes <= __builtin_wasm_memory_size(0) * kPageBytes;
}

Status Importer::check_memory(const VideoFrame& frame, const TensorView& tensor) const {
  for (int p = 0; p < info(frame.format).planes; ++p) {
    const Plane& plane = frame.planes[static_cast<std::size_t>(p)];
    const PlaneExtent extent = plane_extent(frame.format, p, frame.coded_size);
    const auto stride = static_cast<std::uint64_t>(plane.stride);
    if (plane.stride < 0 || !in_memory(reinterpret_cast<std::uintptr_t>(plane.data),
                                       stride * static_cast<std::uint64_t>(extent.rows - 1) +
                                           static_cast<std::uint64_t>(extent.row_bytes))) {
      return Error{ErrorCode::kInvalidArgument, "plane " + std::to_string(p),
                   "reaches outside the module's memory", "allocate it here first"};
    }
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(tensor.channels) *
                              static_cast<std::uint64_t>(tensor.height) *
                              static_cast<std::uint64_t>(tensor.width) * info(tensor.type).size;
  if (!in_memory(reinterpret_cast<std::uintptr_t>(tensor.data), bytes)) {
    return Error{ErrorCode::kInvalidArgument, "tensor", "reaches outside the module's memory",
                 "allocate it here first"};
  }
  return {};
}

Result<Affine> Importer::planned() const {
  SPARING_ASSIGN_OR_RETURN(const TensorView view, tensor());
  SPARING_ASSIGN_OR_RETURN(const internal::ImportPlan plan,
                           internal::plan_import(frame(), options(), view));
  return plan.tensor_to_display;
}

Result<Affine> Importer::imported() const {
  SPARING_ASSIGN_OR_RETURN(const TensorView view, tensor());
  const VideoFrame source = frame();
  const ImportOptions given = options();
  SPARING_RETURN_IF_ERROR(
      internal::plan_import(source, given, view).ok() ? check_memory(source, view) : Status());
  return import_frame(source, given, view);
}

}  // namespace
}  // namespace sparing::wasm

using sparing::wasm::Importer;

#define SPARING_EXPORT(name) extern "C" __attribute__((export_name(#name)))

// Memory for planes and tensors, aligned for vectors; 0 when there is none.
SPARING_EXPORT(allocate) void* sparing_wasm_allocate(std::size_t bytes) {
  void* memory = nullptr;
  return posix_memalign(&memory, sparing::wasm::kAlignment, bytes) == 0 ? memory : nullptr;
}
SPARING_EXPORT(release) void sparing_wasm_release(void* memory) { std::free(memory); }

SPARING_EXPORT(create) Importer* sparing_wasm_create() { return new (std::nothrow) Importer; }
SPARING_EXPORT(destroy) void sparing_wasm_destroy(Importer* importer) { delete importer; }

SPARING_EXPORT(field_count) int sparing_wasm_field_count() {
  return static_cast<int>(sparing::wasm::Field::kCount);
}
// Where the request's doubles lie, and the six of the map from tensor to display coordinates.
SPARING_EXPORT(fields) double* sparing_wasm_fields(Importer* importer) {
  return importer->fields();
}
SPARING_EXPORT(map) const double* sparing_wasm_map(Importer* importer) { return importer->map(); }

// Whether the request can be done, without its memory (any addresses other than 0); sets the map.
SPARING_EXPORT(plan) int sparing_wasm_plan(Importer* importer) { return importer->plan(); }
SPARING_EXPORT(import) int sparing_wasm_import(Importer* importer) { return importer->import(); }
// Of the last call that did not return 0: 0 the thing, 1 the problem, 2 the fix. Ends with a 0.
SPARING_EXPORT(error_text) const char* sparing_wasm_error_text(Importer* importer, int part) {
  return importer->error_text(part);
}

// The tables' spelling, in the order of the enumerations; null beyond the last.
SPARING_EXPORT(format_name) const char* sparing_wasm_format_name(int index) {
  const auto row = static_cast<std::size_t>(index);
  return row < sparing::kPixelFormats.size() ? sparing::kPixelFormats[row].name.data() : nullptr;
}
SPARING_EXPORT(data_type_name) const char* sparing_wasm_data_type_name(int index) {
  const auto row = static_cast<std::size_t>(index);
  return row < sparing::kDataTypes.size() ? sparing::kDataTypes[row].name.data() : nullptr;
}
SPARING_EXPORT(plane_row_bytes) int sparing_wasm_plane_row_bytes(int format, int plane, int width) {
  if (static_cast<std::size_t>(format) >= sparing::kPixelFormats.size()) return 0;
  const auto pixel_format = static_cast<sparing::PixelFormat>(format);
  if (plane < 0 || plane >= info(pixel_format).planes || width < 1) return 0;
  return plane_extent(pixel_format, plane, {width, 1}).row_bytes;
}
SPARING_EXPORT(plane_rows) int sparing_wasm_plane_rows(int format, int plane, int height) {
  if (static_cast<std::size_t>(format) >= sparing::kPixelFormats.size()) return 0;
  const auto pixel_format = static_cast<sparing::PixelFormat>(format);
  if (plane < 0 || plane >= info(pixel_format).planes || height < 1) return 0;
  return plane_extent(pixel_format, plane, {1, height}).rows;
}

// "WASM" with vectors.
SPARING_EXPORT(simd_target) const char* sparing_wasm_simd_target() {
  return sparing::import_simd_target();
}
SPARING_EXPORT(version) const char* sparing_wasm_version() { return sparing::version().data(); }
