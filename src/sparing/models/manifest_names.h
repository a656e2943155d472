// The words of the manifest's JSON form: reader and writer share them.
#pragma once

#include "sparing/models/json_reader.h"
#include "sparing/models/manifest.h"

namespace sparing {

// In the order of ModelTask.
inline constexpr JsonChoice<ModelTask> kTaskNames[] = {{"detect", ModelTask::kDetect},
                                                       {"segment", ModelTask::kSegment}};
inline constexpr JsonChoice<SegmentationKind> kSegmentationKindNames[] = {
    {"scores", SegmentationKind::kScores},
    {"foreground", SegmentationKind::kForeground},
    {"labels", SegmentationKind::kLabels}};
inline constexpr JsonChoice<Layout> kLayoutNames[] = {{"nchw", Layout::kNchw},
                                                      {"nhwc", Layout::kNhwc}};
inline constexpr JsonChoice<ChannelOrder> kOrderNames[] = {{"rgb", ChannelOrder::kRgb},
                                                           {"bgr", ChannelOrder::kBgr}};
inline constexpr JsonChoice<Fit> kFitNames[] = {{"stretch", Fit::kStretch},
                                                {"letterbox", Fit::kLetterbox}};
inline constexpr JsonChoice<Anchor> kAnchorNames[] = {{"center", Anchor::kCenter},
                                                      {"top_left", Anchor::kTopLeft}};
inline constexpr JsonChoice<Activation> kActivationNames[] = {{"none", Activation::kNone},
                                                              {"sigmoid", Activation::kSigmoid},
                                                              {"softmax", Activation::kSoftmax}};
inline constexpr JsonChoice<BoxFormat> kBoxFormatNames[] = {{"xyxy", BoxFormat::kXyxy},
                                                            {"cxcywh", BoxFormat::kCxcywh}};
inline constexpr JsonChoice<Background> kBackgroundNames[] = {
    {"none", Background::kNone}, {"first", Background::kFirst}, {"last", Background::kLast}};
inline constexpr JsonChoice<NmsMode> kNmsNames[] = {{"class_aware", NmsMode::kClassAware},
                                                    {"class_agnostic", NmsMode::kClassAgnostic},
                                                    {"none", NmsMode::kNone}};

template <class Enum, std::size_t size>
std::string name_of(const JsonChoice<Enum> (&choices)[size], Enum value) {
  for (const auto& [name, known] : choices) {
    if (known == value) return std::string(name);
  }
  return "";
}

}  // namespace sparing
