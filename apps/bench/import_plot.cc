#include "import_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "plot_svg.h"

namespace sparing::bench {
namespace {

constexpr double kLeft = 64;
constexpr double kTop = 96;
constexpr double kPlotHeight = 360;
constexpr double kBar = 15;
constexpr double kGap = 28;          // between groups
constexpr double kLeastGroup = 100;  // room for what the job is
constexpr double kFooter = 128;

bool is_drawn(const Contestant& contestant) {
  return contestant.role == Role::kUs || contestant.role == Role::kPeer;
}

const char* color_of(const Contestant& contestant) {
  std::size_t index = 0;
  for (const Contestant& other : contestants()) {
    if (&other == &contestant) break;
    if (is_drawn(other)) ++index;
  }
  return kPlotColors[index % std::size(kPlotColors)];
}

// Whole decades that hold all times and limits.
struct LogAxis {
  double low = 0;  // exponents of 10
  double high = 1;

  explicit LogAxis(std::span<const JobResult> jobs) {
    double least = 1e9;
    double most = 1e-9;
    for (const JobResult& job : jobs) {
      least = std::min(least, job.limit_ms);
      for (const Entry& entry : job.entries) {
        if (!entry.runner || !is_drawn(*entry.contestant)) continue;
        least = std::min(least, entry.median_ms);
        most = std::max(most, entry.median_ms);
      }
    }
    low = std::floor(std::log10(std::max(least, 1e-6)));
    high = std::max(std::ceil(std::log10(std::max(most, 1e-6))), low + 1);
  }
  double y(double ms) const {
    const double share = (std::log10(std::max(ms, 1e-9)) - low) / (high - low);
    return kTop + kPlotHeight * (1 - std::clamp(share, 0.0, 1.0));
  }
};

void draw_axis(Svg& svg, const LogAxis& axis, double width) {
  for (double exponent = axis.low; exponent <= axis.high; ++exponent) {
    const double tick = std::pow(10, exponent);
    const double y = axis.y(tick);
    svg.line({kLeft, y}, {width - 16, y}, "stroke=\"#bbb\"");
    char text[32];
    std::snprintf(text, sizeof text, "%g", tick);
    svg.text({kLeft - 8, y + 4}, "text-anchor=\"end\"", text);
    for (int minor = 2; minor < 10 && exponent < axis.high; ++minor) {
      const double at = axis.y(tick * minor);
      svg.line({kLeft, at}, {width - 16, at}, "stroke=\"#f0f0f0\"");
    }
  }
  const double middle = kTop + kPlotHeight / 2;
  svg.text({18, middle},
           "text-anchor=\"middle\" transform=\"rotate(-90 18 " + plot_number(middle) + ")\"",
           "milliseconds a frame, median (log)");
}

int drawn_count(const JobResult& job) {
  return static_cast<int>(std::count_if(
      job.entries.begin(), job.entries.end(),
      [](const Entry& entry) { return entry.runner && is_drawn(*entry.contestant); }));
}

double group_width(const JobResult& job) { return std::max(kBar * drawn_count(job), kLeastGroup); }

// What the job is, in short lines below each other.
void draw_words(Svg& svg, Point at, const std::string& words) {
  constexpr std::size_t kMaxLine = 18;
  std::istringstream in(words);
  std::string line;
  for (std::string word; in >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kMaxLine) {
      svg.text(at, "text-anchor=\"middle\" font-size=\"10\" fill=\"#555\"", line);
      at.y += 12;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  svg.text(at, "text-anchor=\"middle\" font-size=\"10\" fill=\"#555\"", line);
}

// Whom the ratio is about, where it is not about all peers.
std::string compared_with(const JobResult& job) {
  const std::string rivals = job.job->rivals;
  return rivals.empty() ? "" : " (" + rivals + " only)";
}

void draw_group(Svg& svg, const LogAxis& axis, const JobResult& job, double x) {
  const double bottom = kTop + kPlotHeight;
  const double middle = x + group_width(job) / 2;
  x = middle - kBar * drawn_count(job) / 2;
  const double begin = x;
  for (const Entry& entry : job.entries) {
    if (!entry.runner || !is_drawn(*entry.contestant)) continue;
    const double y = axis.y(entry.median_ms);
    char tip[160];
    std::snprintf(tip, sizeof tip, "%s %s: %.3f ms", job.job->id, entry.contestant->name,
                  entry.median_ms);
    svg.rect({x, y, kBar - 2, bottom - y}, color_of(*entry.contestant), tip);
    x += kBar;
  }
  const double limit = axis.y(job.limit_ms);
  svg.line({begin - 4, limit}, {x + 2, limit}, "stroke=\"black\" stroke-width=\"2\"");
  const Entry* us = job.find(Role::kUs);
  const Entry* peer = job.best_peer(job.job->rivals);
  if (us != nullptr && peer != nullptr) {
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, "%.1fx", median_ratio(*peer, *us));
    svg.text({middle, kTop - 8}, "text-anchor=\"middle\" font-weight=\"bold\"",
             std::string(ratio) + compared_with(job));
  }
  svg.text({middle, bottom + 18}, "text-anchor=\"middle\" font-weight=\"bold\"", job.job->id);
  draw_words(svg, {middle, bottom + 32}, job.job->what);
}

void draw_legend(Svg& svg, double y) {
  double x = kLeft;
  for (const Contestant& contestant : contestants()) {
    if (!is_drawn(contestant)) continue;
    svg.rect({x, y - 10, 11, 11}, color_of(contestant), contestant.name);
    svg.text({x + 16, y}, "", contestant.name);
    x += 34 + 7.2 * static_cast<double>(std::string(contestant.name).size());
  }
  svg.line({x, y - 4}, {x + 20, y - 4}, "stroke=\"black\" stroke-width=\"2\"");
  svg.text({x + 26, y}, "", "the machine's limit");
}

}  // namespace

Status plot_jobs(std::span<const JobResult> jobs, const std::string& subtitle,
                 const std::filesystem::path& file) {
  double width = kLeft + 16;
  for (const JobResult& job : jobs) width += kGap + group_width(job);
  width = std::max(width, 900.0);  // the legend's
  Svg svg;
  svg.text({kLeft, 26}, "font-size=\"18\" font-weight=\"bold\"",
           "From a frame to a tensor: Sparing and its peers");
  svg.text({kLeft, 46}, "fill=\"#555\"", subtitle);
  svg.text({kLeft, 62}, "fill=\"#555\"",
           "Lower is better. Above each job: its best peer's time over ours, of those named.");
  const LogAxis axis(jobs);
  draw_axis(svg, axis, width);
  double x = kLeft + kGap / 2;
  for (const JobResult& job : jobs) {
    draw_group(svg, axis, job, x);
    x += group_width(job) + kGap;
  }
  draw_legend(svg, kTop + kPlotHeight + kFooter - 22);
  return write_svg(svg, width, kTop + kPlotHeight + kFooter, file);
}

}  // namespace sparing::bench
