#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "../../tools/lpt/text.hpp"
#include "../lm/line_plot.hpp"
#include "json_fields.hpp"

namespace run_lm {

namespace {

constexpr const char *kColors[] = {"#6e7781", "#0969da", "#cf222e", "#1a7f37", "#8250df"};

double prefill_rate(const Score &score) {
  return score.seconds > 0.0 ? static_cast<double>(score.tokens) / score.seconds : 0.0;
}

// Draws one value of every version, with a series for each method.
lm::PlotPanel panel_of(const char *label, const std::vector<Version> &versions, double (*value)(const Version &)) {
  lm::PlotPanel panel;
  panel.x_label = "bytes per weight";
  panel.y_label = label;
  panel.x_high = panel.y_high = 0.0;
  panel.x_low = panel.y_low = HUGE_VAL;
  panel.is_y_logarithmic = true;
  for (const Version &version : versions) {
    if (!(value(version) > 0.0) || !std::isfinite(value(version))) continue;
    auto series = std::find_if(panel.series.begin(), panel.series.end(),
                               [&](const lm::PlotSeries &one) { return one.name == version.method; });
    if (series == panel.series.end()) {
      const char *color = kColors[panel.series.size() % std::size(kColors)];
      const lm::PlotSeries empty{
          .name = version.method, .color = color, .line_width = 0.0, .dot_radius = 4.0, .points = {}};
      series = panel.series.insert(panel.series.end(), empty);
    }
    // One label per format, because its versions have the same bytes.
    const bool is_labeled = &version == &*std::find_if(versions.begin(), versions.end(), [&](const Version &other) {
      return other.format == version.format;
    });
    series->points.push_back({version.bytes_per_weight, value(version), is_labeled ? version.format : ""});
    panel.x_low = std::min(panel.x_low, version.bytes_per_weight);
    panel.x_high = std::max(panel.x_high, version.bytes_per_weight);
    panel.y_low = std::min(panel.y_low, value(version));
    panel.y_high = std::max(panel.y_high, value(version));
  }
  // Labels are to the right of dots.
  panel.x_low *= 0.9;
  panel.x_high += 0.25 * (panel.x_high - panel.x_low);
  panel.y_low /= 1.2;
  panel.y_high *= 1.2;
  return panel;
}

}  // namespace

std::string version_table(const std::vector<Version> &versions) {
  tool::Table table({"format", "method", "bytes per weight", "perplexity", "KL, nats", "prefill tokens/s",
                     "decode tokens/s", "fit, CPU s"},
                    2);
  for (const Version &version : versions) {
    const bool is_baseline = &version == versions.data();
    table.add({version.format, version.method, fmt::format("{:.3f}", version.bytes_per_weight),
               fmt::format("{:.3f}", version.score.perplexity()),
               is_baseline ? "-" : fmt::format("{:.4f}", version.score.divergence),
               fmt::format("{:.0f}", prefill_rate(version.score)), fmt::format("{:.1f}", version.decode_rate),
               fmt::format("{:.0f}", version.fit_seconds)});
  }
  return table.text();
}

std::string version_picture(const std::string &subtitle, const std::vector<Version> &versions) {
  std::vector<Version> quantized;
  std::copy_if(versions.begin(), versions.end(), std::back_inserter(quantized),
               [](const Version &version) { return version.method != "-"; });
  return lm::line_plot_svg(
      "Quantized weights of a language model", subtitle,
      {panel_of("perplexity", quantized, [](const Version &version) { return version.score.perplexity(); }),
       panel_of("KL divergence, nats per token", quantized,
                [](const Version &version) { return version.score.divergence; })});
}

std::string version_report(const RunFacts &facts, const std::vector<Version> &versions) {
  json rows = json::array();
  for (const Version &version : versions) {
    const bool is_quantized = version.method != "-";
    rows.push_back({is_quantized ? version.format + ", " + version.method : version.format,
                    fmt::format("{:.3f}", version.bytes_per_weight), fmt::format("{:.2f}", version.score.perplexity()),
                    fmt::format("{:.4f}", version.score.divergence),
                    is_quantized ? fmt::format("{:.0f}", version.fit_seconds) : ""});
  }
  double load = 0.0;
  getloadavg(&load, 1);
  const json columns = json::array({"weights", "bytes per weight", "perplexity", "KL", "CPU s"});
  const json table = {{"unit", ""}, {"columns", columns}, {"rows", rows}};
  const json report = {{"build", lpt_build_info()},
                       {"command", facts.command},
                       {"threads", facts.threads},
                       {"load", load},
                       {"tables", {{facts.table, table}}}};
  return report.dump(1) + "\n";
}

}  // namespace run_lm
