#include "autopilot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lm {

namespace {

// A measured step takes the time of about three others: the noise needs a pass in f32, and casts are watched.
constexpr int64_t kLongestInterval = 75;
constexpr int64_t kFewestDecisions = 16;

constexpr std::array<const char *, 3> kGemms = {"forward", "dgrad", "wgrad"};
constexpr std::array<const char *, 8> kReasons = {"nonfinite", "loss",        "clipped",    "amax_growth",
                                                  "alignment", "noise_ratio", "last_steps", "calm"};

std::vector<Linear *> block_linears(Model<float> &model) {
  std::vector<Linear *> all;
  for (Block<float> &block : model.blocks()) {
    for (Linear *linear : block.linears()) {
      all.push_back(linear);
    }
  }
  return all;
}

}  // namespace

void check_pilot(const Precision &precision, double budget) {
  if (budget > 0.0 && (precision.recipe == "f32" || precision.dense_share > 0.0)) {
    throw Error(
        fmt::format("the recipe is {}{}: an autopilot raises GEMMs to bf16, expected a recipe of fewer bits that does "
                    "not change during the run",
                    precision.recipe, precision.dense_share > 0.0 ? " after steps in f32" : ""));
  }
}

Pilot::Pilot(lpt_context *context, Model<float> &model, const Precision &precision, int64_t steps, double budget)
    : interval_(std::clamp<int64_t>(steps / kFewestDecisions, 1, kLongestInterval)),
      blocks_(model.blocks()),
      linears_(block_linears(model)) {
  Precision high = precision;
  high.raised = Raised::kAll;
  const Recipe recipes[] = {make_block_recipe(context, precision, false), make_block_recipe(context, high, false)};
  const lpt_recipe *const ladder[] = {recipes[0].get(), recipes[1].get()};
  const double costs[] = {0.0, 1.0};
  std::vector<double> work;
  for (const Linear *linear : linears_) {
    work.push_back(static_cast<double>(linear->weight().elements()));
  }
  lpt_autopilot_options options = LPT_AUTOPILOT_OPTIONS_INIT;
  options.step_count = steps;
  options.interval = interval_;
  options.budget = budget;
  lpt_autopilot *made = nullptr;
  check(context, lpt_autopilot_create(context, ladder, costs, 2, work.data(), static_cast<int32_t>(work.size()),
                                      &options, &made));
  handle_.reset(made);
  set_recipes(context);
}

void Pilot::observe_noise(lpt_context *context, double ratio) {
  check(context, lpt_autopilot_observe(context, handle_.get(), -1, LPT_AUTOPILOT_REASON_NOISE_RATIO, ratio));
}

void Pilot::observe_layers(lpt_context *context) {
  for (size_t i = 0; i < linears_.size(); ++i) {
    check(context,
          lpt_autopilot_observe_linear(context, handle_.get(), static_cast<int32_t>(i), linears_[i]->handle()));
  }
  for (const Block<float> &block : blocks_) {
    const auto down = std::find(linears_.begin(), linears_.end(), &block.down());
    check(context, lpt_autopilot_observe(context, handle_.get(), static_cast<int32_t>(down - linears_.begin()),
                                         LPT_AUTOPILOT_REASON_ALIGNMENT, std::abs(block.alignment(context).largest)));
  }
}

bool Pilot::end_step(lpt_context *context, int64_t step, double loss) {
  int64_t changes = 0;
  check(context, lpt_autopilot_step(context, handle_.get(), step, loss, &changes));
  if (changes > 0) {
    set_recipes(context);
  }
  return changes > 0;
}

void Pilot::set_recipes(lpt_context *context) {
  for (size_t i = 0; i < linears_.size(); ++i) {
    lpt_recipe *made = nullptr;
    check(context, lpt_autopilot_recipe(context, handle_.get(), static_cast<int32_t>(i), &made));
    linears_[i]->set_recipe(context, Recipe(made).get());
  }
}

lpt_autopilot_info Pilot::info(lpt_context *context) const {
  lpt_autopilot_info info = LPT_AUTOPILOT_INFO_INIT;
  check(context, lpt_autopilot_read(context, handle_.get(), &info));
  return info;
}

double Pilot::high_share(lpt_context *context) const { return info(context).mean_cost; }

std::string Pilot::csv(lpt_context *context) const {
  std::vector<lpt_autopilot_decision> decisions(static_cast<size_t>(info(context).decision_count));
  check(context, lpt_autopilot_decisions(context, handle_.get(), std::ssize(decisions), decisions.data()));
  std::string text = "step,layer,gemm,old_level,new_level,reason,value,limit\n";
  for (const lpt_autopilot_decision &one : decisions) {
    text += fmt::format("{},{},{},{},{},{},{:.6g},{:.6g}\n", one.step + 1,
                        linears_[static_cast<size_t>(one.layer)]->weight().name, kGemms[static_cast<size_t>(one.gemm)],
                        one.old_level, one.new_level, kReasons[static_cast<size_t>(one.reason)], one.value, one.limit);
  }
  return text;
}

std::vector<uint8_t> Pilot::save(lpt_context *context) const {
  size_t bytes = 0;
  check(context, lpt_autopilot_state_size(context, handle_.get(), &bytes));
  std::vector<uint8_t> state(bytes);
  check(context, lpt_autopilot_state_save(context, handle_.get(), state.data(), state.size()));
  return state;
}

void Pilot::load(lpt_context *context, std::span<const uint8_t> state) {
  check(context, lpt_autopilot_state_load(context, handle_.get(), state.data(), state.size()));
  set_recipes(context);
}

}  // namespace lm
