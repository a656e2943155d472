// sparing-bench segment, stage long: ten thousand frames, with cuts and black frames between, to
// see whether what learns goes astray, and whether memory grows.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "runtime.h"
#include "segment_stages.h"
#include "sparing/pipeline/segmenter.h"

namespace sparing::bench {
namespace {

constexpr int kBlackFrames = 3;  // after each pass

SharedFrame black_frame(Size size) {
  RgbPixels pixels{size, {}};
  pixels.values.assign(
      static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3, 4);
  return to_frame(pixels, 0, {15, 1});
}

// Passes of the clip, each from its first frame on (a cut), every other one followed by black
// frames. mIoU of single passes.
class LongRun {
 public:
  LongRun(const LabelledClip& clip, Segmenter segmenter)
      : clip_(clip),
        segmenter_(std::move(segmenter)),
        black_(black_frame(clip.truth.front().size)) {}

  Result<double> pass(bool black_after) {
    ConfusionMatrix counts(clip_.classes);
    for (std::size_t i = 0; i < clip_.frames.size(); ++i) {
      SPARING_ASSIGN_OR_RETURN(const SegmentedFrame result,
                               segmenter_.segment(clip_.frames[i].view()));
      SPARING_RETURN_IF_ERROR(counts.add(clip_.truth[i], result.labels));
      ++frames_;
    }
    for (int i = 0; i < (black_after ? kBlackFrames : 0); ++i, ++frames_) {
      SPARING_ASSIGN_OR_RETURN(const SegmentedFrame result, segmenter_.segment(black_.view()));
      blank_ += result.motion.event == SceneEvent::kBlank ? 1 : 0;
    }
    return counts.scores().miou.value_or(0);
  }
  int frames() const { return frames_; }
  int blank() const { return blank_; }
  const LearnStatistics& learning() const { return segmenter_.stream().statistics(); }

 private:
  const LabelledClip& clip_;
  Segmenter segmenter_;
  SharedFrame black_;
  int frames_ = 0;
  int blank_ = 0;
};

}  // namespace

Status bench_segment_long(SegmentBench& bench, Report& report) {
  SPARING_ASSIGN_OR_RETURN(LabelledClip* const clip, bench.labelled_clip(report, "long"));
  if (clip == nullptr) return {};
  for (const char* id : {"auxadapt", "auxadapt_temporal"}) {
    if (!bench.wants_row(id)) continue;
    const SegmentRow row = segment_row(id, bench.options.segmenter);
    SPARING_ASSIGN_OR_RETURN(
        Segmenter segmenter,
        Segmenter::create(bench.nets.context, bench.nets.main, bench.nets.aux, row.options));
    LongRun run(*clip, std::move(segmenter));
    double first = 0, last = 0, least = 1, memory = 0;
    for (int pass = 0; run.frames() < bench.options.long_frames; ++pass) {
      SPARING_ASSIGN_OR_RETURN(last, run.pass(pass % 2 == 1));
      if (pass == 0) first = last;
      if (pass == 2) memory = cli::resident_megabytes();  // all that is reused is there by then
      least = std::min(least, last);
    }
    char note[160];
    std::snprintf(
        note, sizeof note,
        "first pass %.2f, last %.2f, least %.2f; %d frames, %d blank; weights moved by %.2f %%",
        first * 100, last * 100, least * 100, run.frames(), run.blank(),
        run.learning().distance * 100);
    const std::string name = std::string("long.") + (row.id == "auxadapt" ? "" : "temporal_");
    report.add({name + "miou_change", (last - first) * 100, "points", note});
    report.add({name + "growth_mb", cli::resident_megabytes() - memory, "MB",
                "from the third pass to the last"});
  }
  return {};
}

}  // namespace sparing::bench
