// One import as JavaScript describes it: a table of doubles, which hold every number that
// JavaScript has, so that what is wrong with a value is said here and not lost on the way.
#pragma once

#include <cstddef>

namespace sparing::wasm {

// The same names in the same order are in js/request.js.
// clang-format off: a line a group
enum class Field : std::size_t {
  kFormat, kCodedWidth, kCodedHeight,           // what lies in memory
  kPlane0, kPlane1, kPlane2, kPlane3,           // addresses of the first rows
  kStride0, kStride1, kStride2, kStride3,       // bytes
  kVisibleX, kVisibleY, kVisibleWidth, kVisibleHeight,
  kRotation, kFlip,
  kMatrix, kRange, kSiting,
  kFrameWidth, kFrameHeight,                    // coded size of the whole frame, of which memory may
                                                // hold a part: what an unspecified colour goes by
  kTensor, kDataType, kLayout, kChannels, kHeight, kWidth,
  kHasSource, kSourceX, kSourceY, kSourceWidth, kSourceHeight,
  kMean0, kMean1, kMean2, kStd0, kStd1, kStd2,
  kOrder, kFit, kPad0, kPad1, kPad2, kAnchor, kFilter, kOutside, kChroma,
  kQuantizationScale, kQuantizationZeroPoint, kAlpha,
  kHasOrientation, kShownRotation, kShownFlip,
  kGivenMatrix, kGivenRange, kGivenSiting,      // in place of the frame's
  kCount,
};
// clang-format on

}  // namespace sparing::wasm
