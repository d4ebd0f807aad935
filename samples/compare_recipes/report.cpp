#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "../lm/line_plot.hpp"

namespace compare_recipes {

namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kEarlyShare = 0.1;  // the plot starts at this fraction of the steps, after the initial steep decrease
constexpr std::array<const char *, 10> kColors = {"#2b6cb0", "#cf4b1f", "#2f855a", "#805ad5", "#b7791f",
                                                  "#d53f8c", "#319795", "#4a5568", "#9b2c2c", "#3182ce"};

const Runs *exact_runs(const std::vector<Runs> &all) {
  const auto found = std::find_if(all.begin(), all.end(), [](const Runs &runs) { return runs.name == "f32"; });
  return found == all.end() ? nullptr : &*found;
}

// Returns the gap in percent of the f32 loss for each seed.
std::vector<double> gaps(const Runs &runs, const Runs &exact) {
  std::vector<double> result;
  for (size_t i = 0; i < runs.outcomes.size(); ++i) {
    const double full = exact.final_losses()[i];
    result.push_back(100.0 * (runs.final_losses()[i] / full - 1.0));
  }
  return result;
}

std::string mebibytes(size_t bytes) { return fmt::format("{:.2f}", static_cast<double>(bytes) / kMebibyte); }

std::string noise_text(const Outcome &outcome) {
  const std::vector<double> &ratios = outcome.measured.noise_ratio;
  return ratios.empty() || std::isinf(ratios.back()) ? "-" : fmt::format("{:.1f}", ratios.back());
}

double mean_rate(const Runs &runs) {
  double sum = 0.0;
  for (const Outcome &outcome : runs.outcomes) {
    sum += outcome.tokens_per_second;
  }
  return sum / static_cast<double>(runs.outcomes.size());
}

// Returns the mean over seeds of each validation.
std::vector<lm::PlotPoint> curve(const Runs &runs) {
  std::vector<lm::PlotPoint> points;
  const lm::Measured &first = runs.outcomes.front().measured;
  for (size_t i = 0; i < first.validation.size(); ++i) {
    double sum = 0.0;
    for (const Outcome &outcome : runs.outcomes) {
      sum += outcome.measured.validation[i];
    }
    points.push_back(
        {.x = static_cast<double>(first.validation_steps[i]), .y = sum / static_cast<double>(runs.outcomes.size())});
  }
  return points;
}

}  // namespace

std::string table(const Options &options, const std::vector<Runs> &all) {
  const Runs *exact = exact_runs(all);
  const double noise = exact == nullptr ? 0.0 : 100.0 * deviation(exact->final_losses()) / mean(exact->final_losses());
  std::string text = fmt::format("\n  {} steps of {} x {} bytes, {} seeds; losses in bits per byte of held-out text\n",
                                 options.train.steps, options.train.batch, options.train.shape.sequence, options.seeds);
  if (exact != nullptr && options.seeds > 1) {
    text += fmt::format("  the seed alone moves f32 by a deviation of {:.2f} %: a gap below {:.2f} % is none\n", noise,
                        2.0 * noise);
  }
  text += fmt::format("\n  {:<28}{:>9}{:>10}{:>11}{:>12}{:>12}{:>10}{:>8}\n", "", "loss", "gap", "state MiB",
                      "weights MiB", "kept MiB", "bytes/s", "signal");
  for (const Runs &runs : all) {
    const lm::Bytes &bytes = runs.outcomes.front().bytes;
    const std::string gap = exact == nullptr ? "" : fmt::format("{:+.2f} %", mean(gaps(runs, *exact)));
    text += fmt::format("  {:<28}{:>9.4f}{:>10}{:>11}{:>12}{:>12}{:>10.0f}{:>8}\n", runs.name,
                        mean(runs.final_losses()), gap, mebibytes(bytes.moments), mebibytes(bytes.weights),
                        mebibytes(bytes.activations), mean_rate(runs), noise_text(runs.outcomes.front()));
  }
  return text +
         "\n  kept: activations from forward to backward; signal: |gradient| / |its noise| at the end, of one batch\n";
}

std::string picture(const Options &options, const std::vector<Runs> &all) {
  lm::PlotPanel panel{.x_label = "optimizer steps",
                      .y_label = "held-out loss, bits per byte",
                      .x_high = static_cast<double>(options.train.steps),
                      .y_low = 1e9,
                      .y_high = 0.0,
                      .height = 460.0,
                      .series = {}};
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_exact = all[i].name == "f32";
    const std::vector<lm::PlotPoint> points = curve(all[i]);
    for (const lm::PlotPoint &point : points) {
      panel.y_low = std::min(panel.y_low, point.y);
      if (point.x >= kEarlyShare * panel.x_high) {
        panel.y_high = std::max(panel.y_high, point.y);
      }
    }
    panel.series.push_back({.name = fmt::format("{} {:.3f}", all[i].name, mean(all[i].final_losses())),
                            .color = kColors[i % kColors.size()],
                            .line_width = is_exact ? 3.0 : 1.5,
                            .is_dashed = i >= kColors.size(),
                            .points = points});
  }
  panel.y_low = std::floor(20.0 * panel.y_low) / 20.0;
  panel.y_high = std::max(std::ceil(20.0 * panel.y_high) / 20.0, panel.y_low + 0.1);
  return lm::line_plot_svg("Recipes from the same seeds",
                           fmt::format("mean of {} seeds, {} x {} bytes per step", options.seeds, options.train.batch,
                                       options.train.shape.sequence),
                           {panel});
}

std::string csv(const std::vector<Runs> &all) {
  std::string text = "way,seed,step,validation_bits_per_byte,noise_ratio\n";
  for (const Runs &runs : all) {
    for (size_t seed = 0; seed < runs.outcomes.size(); ++seed) {
      const lm::Measured &measured = runs.outcomes[seed].measured;
      for (size_t i = 0; i < measured.validation.size(); ++i) {
        const std::string ratio = i < measured.noise_ratio.size() ? fmt::format("{:.6g}", measured.noise_ratio[i]) : "";
        text += fmt::format("{},{},{},{:.17g},{}\n", runs.name, seed + 1, measured.validation_steps[i],
                            measured.validation[i], ratio);
      }
    }
  }
  return text;
}

}  // namespace compare_recipes
