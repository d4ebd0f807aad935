// The picture of the fastest plans: time of a step by its parts.
#include <fmt/format.h>

#include <algorithm>

#include "plans.hpp"
#include "svg.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr double kMargin = 24, kTop = 96, kNames = 340, kWidth = 620, kValues = 190, kLine = 30, kBar = 18,
                 kLegend = 26;
constexpr size_t kMostBars = 20;

struct TimePart {
  const char *name, *color;
  double PlanCost::*seconds;
};
// Distinguishable for color-blind readers (Okabe and Ito).
constexpr TimePart kParts[] = {{"linear layers", "#0072B2", &PlanCost::linear_seconds},
                               {"attention", "#56B4E9", &PlanCost::attention_seconds},
                               {"norms, SwiGLU, loss", "#009E73", &PlanCost::elementwise_seconds},
                               {"optimizer", "#F0E442", &PlanCost::optimizer_seconds},
                               {"tensor ranks", "#D55E00", &PlanCost::tensor_seconds},
                               {"stages", "#E69F00", &PlanCost::pipeline_seconds},
                               {"bubble", "#b8bec5", &PlanCost::bubble_seconds},
                               {"data ranks", "#CC79A7", &PlanCost::data_seconds}};

}  // namespace

std::string plans_picture(const std::vector<RankedPlan> &plans, const ModelSize &model, int64_t batch) {
  const size_t count = std::min(plans.size(), kMostBars);
  double longest = 0;
  for (size_t i = 0; i < count; ++i) longest = std::max(longest, plans[i].cost.step_seconds);
  const double height = kTop + kLine * static_cast<double>(count) + kLegend + kMargin;
  std::string svg = svg_head(2 * kMargin + kNames + kWidth + kValues, height);
  svg += svg_label(kMargin, 36, "start", kInk, 20, "Plans of a training step");
  svg += svg_label(kMargin, 58, "start", kMuted, 12,
                   fmt::format("{:.4g} parameters, {} x {} tokens in a step; micro-batches x sequences",
                               model.parameters(), batch, model.sequence));
  const double left = kMargin + kNames;
  for (size_t i = 0; i < count; ++i) {
    const PlanCost &cost = plans[i].cost;
    const double y = kTop + kLine * static_cast<double>(i);
    svg += svg_label(left - 10, y + 14, "end", kInk, 12, shortened(plan_name(plans[i].division), 56));
    double x = left;
    for (const TimePart &part : kParts) {
      const double width = longest > 0 ? kWidth * (cost.*part.seconds) / longest : 0;
      if (width > 0) svg += svg_box(x, y, width, kBar, part.color);
      x += width;
    }
    svg += svg_label(
        x + 8, y + 14, "start", kMuted, 12,
        fmt::format("{:.4g} ms, {}", 1e3 * cost.step_seconds, size_text(static_cast<uint64_t>(cost.memory_bytes))));
  }
  double x = kMargin;
  const double y = kTop + kLine * static_cast<double>(count) + kLegend - 12;
  for (const TimePart &part : kParts) {
    svg += svg_box(x, y, 12, 12, part.color);
    svg += svg_label(x + 17, y + 10, "start", kInk, 12, part.name);
    x += 45 + 7 * static_cast<double>(std::string(part.name).size());
  }
  return svg + "</svg>\n";
}

}  // namespace tool
