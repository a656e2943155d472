// Some frames of a source, under their own numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "sparing/io/source.h"

namespace sparing::cli {

// Passes on the frames whose index `wanted` accepts and ends after index `last`; the rest is
// decoded and left out.
class SampledSource : public VideoSource {
 public:
  SampledSource(std::unique_ptr<VideoSource> source, std::function<bool(std::int64_t)> wanted,
                std::int64_t last)
      : source_(std::move(source)), wanted_(std::move(wanted)), last_(last) {}

  const SourceInfo& info() const override { return source_->info(); }
  Result<std::optional<SourceFrame>> next() override;
  std::int64_t damaged_frames() const override { return source_->damaged_frames(); }

 private:
  std::unique_ptr<VideoSource> source_;
  std::function<bool(std::int64_t)> wanted_;
  std::int64_t last_;
  bool ended_ = false;
};

// How many frames there are: by decoding all of them, for containers only estimate.
Result<std::int64_t> count_frames(std::string_view spec, const std::stop_token& stop);

}  // namespace sparing::cli
