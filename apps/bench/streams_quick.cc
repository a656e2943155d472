// The quick look: two of the PETS streams, packed against whole frames at half the size.
#include <cstdio>

#include "baselines.h"
#include "streams_bench.h"
#include "streams_ours.h"

namespace sparing::bench {

Status bench_streams_quick(StreamsSetting& setting) {
  const std::string missing = missing_material("pets4", setting.places());
  if (!missing.empty()) {
    setting.report.skip("quick.pets4", "no " + missing + " (--data, --video)");
    return {};
  }
  const int streams[] = {0, 2};  // the first and the third
  SPARING_ASSIGN_OR_RETURN(const Clip clip,
                           load_clip("pets4", setting.part(), setting.places(), streams));
  SPARING_ASSIGN_OR_RETURN(
      Network network,
      Network::create(setting.context, setting.model, clip.group.labels, setting.network_costs));
  std::vector<Row> rows;
  const auto run = [&](std::unique_ptr<Approach> approach) -> Status {
    SPARING_ASSIGN_OR_RETURN(const Outcome outcome, approach->run(clip, network));
    SPARING_ASSIGN_OR_RETURN(const Accuracy accuracy, judge(clip, outcome.boxes, network.labels()));
    std::int64_t frames = 0;
    for (const ClipStream& stream : clip.streams) {
      frames += static_cast<std::int64_t>(stream.frames.size());
    }
    rows.push_back({clip.id, approach->method(), approach->settings(), approach->choices(clip),
                    accuracy, outcome.spend, frames});
    return {};
  };
  SPARING_RETURN_IF_ERROR(run(whole_frames(384, 1)));
  OurSettings packed = our_settings("packed", 3);
  SPARING_RETURN_IF_ERROR(run(ours(packed)));
  print_rows(rows);
  char note[160];
  std::snprintf(note, sizeof note, "PETS streams 1 and 3: AP %.4f (%s) against %.4f (%s)",
                rows[1].accuracy.ap, rows[1].name().c_str(), rows[0].accuracy.ap,
                rows[0].name().c_str());
  setting.report.add({"quick.pets4.ap", rows[1].accuracy.ap, "AP", "packed"});
  setting.report.add(
      {"quick.pets4.ap_delta", rows[1].accuracy.ap - rows[0].accuracy.ap, "AP", note});
  std::snprintf(note, sizeof note, "%.3f of %.3f ms a frame", rows[1].ms_per_frame(),
                rows[0].ms_per_frame());
  setting.report.add({"quick.pets4.cost_share", rows[1].spend.cost / rows[0].spend.cost, "", note});
  return {};
}

}  // namespace sparing::bench
