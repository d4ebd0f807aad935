#include "curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../lm/line_plot.hpp"

namespace train_lm {

namespace {

constexpr int64_t kSmoothingShare = 60;  // the running mean has one in kSmoothingShare of the steps on each side
constexpr double kEarlyShare = 0.06;  // the plot starts at this fraction of the steps, after the initial steep decrease
constexpr const char *kLowColor = "#cf4b1f";
constexpr const char *kFullColor = "#2b6cb0";
constexpr const char *kGzipColor = "#57606a";

// Returns the running mean of each step; near the ends it has fewer steps.
std::vector<lm::PlotPoint> smoothed(const std::vector<double> &losses) {
  const auto count = static_cast<int64_t>(losses.size());
  std::vector<lm::PlotPoint> points;
  for (int64_t i = 0; i < count; ++i) {
    const auto first = losses.begin() + std::max<int64_t>(0, i - count / kSmoothingShare);
    const auto end = losses.begin() + std::min(count, i + count / kSmoothingShare + 1);
    const double sum = std::accumulate(first, end, 0.0);
    points.push_back({.x = static_cast<double>(i + 1), .y = sum / static_cast<double>(end - first)});
  }
  return points;
}

std::vector<lm::PlotPoint> validation_points(const lm::Measured &measured) {
  std::vector<lm::PlotPoint> points;
  for (size_t i = 0; i < measured.validation.size(); ++i) {
    points.push_back({.x = static_cast<double>(measured.validation_steps[i]), .y = measured.validation[i]});
  }
  return points;
}

void add_twin(const TwinResult &twin, const char *color, double line_width, lm::PlotPanel &panel) {
  panel.series.push_back({.name = twin.recipe + ", training",
                          .color = color,
                          .line_width = line_width,
                          .opacity = 0.75,
                          .points = smoothed(twin.measured.training)});
  panel.series.push_back({.name = twin.recipe + ", held-out text",
                          .color = color,
                          .line_width = 0.0,
                          .dot_radius = line_width + 1.2,
                          .points = validation_points(twin.measured)});
}

// Sets the y range from below the last losses to above those at kEarlyShare of the steps.
void choose_heights(const Results &results, lm::PlotPanel &panel) {
  panel.y_low = 1e9;
  panel.y_high = 0.0;
  for (const TwinResult &twin : results.twins) {
    const auto early = static_cast<size_t>(kEarlyShare * static_cast<double>(results.steps));
    panel.y_high = std::max({panel.y_high, twin.measured.training.at(early), results.gzip_loss + 0.2});
    for (const lm::PlotPoint &point : smoothed(twin.measured.training)) {
      panel.y_low = std::min(panel.y_low, point.y);
    }
    for (const double loss : twin.measured.validation) {
      panel.y_low = std::min(panel.y_low, loss);
    }
  }
  panel.y_low = std::floor(10.0 * panel.y_low - 0.5) / 10.0;
  panel.y_high = std::max(std::ceil(5.0 * panel.y_high) / 5.0, panel.y_low + 0.2);
}

lm::PlotPanel loss_panel(const Results &results) {
  lm::PlotPanel panel{.x_label = results.has_twin() ? "" : "optimizer steps",
                      .y_label = "loss, bits per byte",
                      .x_high = static_cast<double>(results.steps),
                      .series = {}};
  choose_heights(results, panel);
  if (results.gzip_loss > 0.0) {
    panel.series.push_back({.name = fmt::format("gzip -9: {:.2f}", results.gzip_loss),
                            .color = kGzipColor,
                            .is_dashed = true,
                            .points = {{0.0, results.gzip_loss}, {panel.x_high, results.gzip_loss}}});
  }
  if (results.has_twin()) {
    add_twin(results.twins[1], kFullColor, 3.2, panel);
  }
  add_twin(results.twins[0], kLowColor, 1.6, panel);
  return panel;
}

// The gap is close to zero and noisy, so the panel has a range of at least one percent on each side.
lm::PlotPanel gap_panel(const Results &results) {
  lm::PlotPanel panel{.x_label = "optimizer steps",
                      .y_label = "gap, %",
                      .x_high = static_cast<double>(results.steps),
                      .height = 110.0,
                      .series = {}};
  lm::PlotSeries gap{.name = "", .color = kLowColor, .line_width = 1.6, .dot_radius = 2.8, .points = {}};
  double highest = 1.0;
  const std::vector<lm::PlotPoint> low = validation_points(results.twins[0].measured);
  const std::vector<lm::PlotPoint> full = validation_points(results.twins[1].measured);
  for (size_t i = 0; i < std::min(low.size(), full.size()); ++i) {
    gap.points.push_back({.x = low[i].x, .y = 100.0 * (low[i].y / full[i].y - 1.0)});
    highest = std::max(highest, std::ceil(std::abs(gap.points.back().y) + 0.1));
  }
  panel.y_low = -highest;
  panel.y_high = highest;
  panel.series.push_back({.name = "", .color = kFullColor, .points = {{0.0, 0.0}, {panel.x_high, 0.0}}});
  panel.series.push_back(gap);
  return panel;
}

}  // namespace

std::string curves_svg(const Options &options, const Results &results) {
  std::vector<lm::PlotPanel> panels = {loss_panel(results)};
  std::string subtitle =
      fmt::format("{} parameters, {} x {} bytes per step; held-out text at the end: {:.3f}", results.parameter_count,
                  options.train.batch, options.train.shape.sequence, results.twins[0].validation_loss);
  if (results.has_twin()) {
    panels.push_back(gap_panel(results));
    subtitle += fmt::format(" and {:.3f} of {}, a gap of {:+.2f} %", results.twins[1].validation_loss,
                            results.twins[1].recipe, results.gap_percent());
  }
  const std::string title = results.has_twin()
                                ? fmt::format("{} beside {}", results.twins[0].recipe, results.twins[1].recipe)
                                : fmt::format("A language model in {}", results.twins[0].recipe);
  return lm::line_plot_svg(title, subtitle, panels);
}

}  // namespace train_lm
