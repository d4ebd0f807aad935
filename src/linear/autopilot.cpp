// Decisions of an autopilot. Everything is computed in the order of layers and GEMMs, so that equal reports give equal decisions.
#include "src/linear/autopilot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/call/operation.hpp"

namespace lpt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMostCost = 1e30;
constexpr int64_t kMostSteps = int64_t{1} << 40;
constexpr double kLossWeight = 1.0 / 32;
constexpr double kAmaxWeight = 1.0 / 8;
constexpr int64_t kLeastLosses = 32;      // before the mean and the deviation of the loss are used
constexpr double kBudgetRounding = 1e-9;  // relative: the sum of costs is rounded in every step

Status check_range(const char *name, double value, double least, double most) {
  if (value >= least && value <= most) return {};  // rejects NaN
  return invalid("%s is %g: expected %g to %g", name, value, least, most);
}

Status check_count(const char *name, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return {};
  return invalid("%s is %lld: expected %lld to %lld", name, number(value), number(least), number(most));
}

Status check_options(const lpt_autopilot_options &options, double least_cost) {
  LPT_TRY(check_count("step_count", options.step_count, 1, kMostSteps));
  LPT_TRY(check_count("interval", options.interval, 1, kMostSteps));
  LPT_TRY(check_range("budget", options.budget, least_cost, kMostCost));
  LPT_TRY(check_range("loss_limit", options.loss_limit, 0, kMostCost));
  LPT_TRY(check_range("clipped_limit", options.clipped_limit, 0, 1));
  LPT_TRY(check_range("amax_growth_limit", options.amax_growth_limit, 0, kMostCost));
  LPT_TRY(check_range("alignment_limit", options.alignment_limit, 0, 1));
  LPT_TRY(check_range("noise_ratio_limit", options.noise_ratio_limit, 0, kMostCost));
  LPT_TRY(check_count("calm_decisions", options.calm_decisions, 0, kMostSteps));
  LPT_TRY(check_choice("raises_last_steps", options.raises_last_steps, 1));
  return check_count("reserved", options.reserved, 0, 0);
}

Status check_layer(const Autopilot &autopilot, int32_t layer, int32_t least) {
  return check_count("layer", layer, least, static_cast<int64_t>(autopilot.shares.size()) - 1);
}

// Returns the statistics of an operand: its own, or those of the equal cast of another GEMM whose codes it has. Returns nullptr if
// the operand was not cast.
const CastStatistics *statistics_of(const Linear &linear, int which) {
  if (linear.sums[which].elements > 0) return &linear.sums[which];
  const int first = which == LPT_LINEAR_CAST_WGRAD_GRADIENT ? int{LPT_LINEAR_CAST_DGRAD_GRADIENT}
                    : which == LPT_LINEAR_CAST_DGRAD_WEIGHT ? int{LPT_LINEAR_CAST_FORWARD_WEIGHT}
                    : which == LPT_LINEAR_CAST_WGRAD_INPUT  ? int{LPT_LINEAR_CAST_FORWARD_INPUT}
                                                            : which;
  const Recipe &recipe = linear.recipe;
  const bool is_shared =
      recipe.casts[which] == recipe.casts[first] || recipe.gemms[which / 2].source != LPT_LINEAR_SOURCE_PLAIN;
  return is_shared && linear.sums[first].elements > 0 ? &linear.sums[first] : nullptr;
}

// Returns the deviations of a loss above the mean of those before, and adds it to them.
double report_loss(lpt_autopilot::State &state, double loss) {
  if (!std::isfinite(loss)) return 0.0;
  const double difference = loss - state.mean_loss;
  double deviations = 0.0;
  if (state.loss_count >= kLeastLosses && state.loss_variance > 0.0) {
    deviations = difference / std::sqrt(state.loss_variance);
  }
  if (state.loss_count++ == 0) {
    state.mean_loss = loss;
    return 0.0;
  }
  state.mean_loss += kLossWeight * difference;
  state.loss_variance = (1 - kLossWeight) * (state.loss_variance + kLossWeight * difference * difference);
  return std::isfinite(deviations) ? deviations : 0.0;
}

// The reasons that concern all GEMMs in any step.
Alarm loss_alarm(const lpt_autopilot_options &options, double loss, double deviations) {
  if (!std::isfinite(loss)) return {LPT_AUTOPILOT_REASON_NONFINITE, 1.0, 0.0};
  if (options.loss_limit > 0 && deviations > options.loss_limit) {
    return {LPT_AUTOPILOT_REASON_LOSS, deviations, options.loss_limit};
  }
  return {};
}

// The most urgent reason of one GEMM at the end of an interval.
Alarm gemm_alarm(const Autopilot &autopilot, size_t layer, size_t gemm) {
  const lpt_autopilot_options &options = autopilot.options;
  const GemmLevel &here = autopilot.state.gemms[layer * kGemmCount + gemm];
  if (here.report.nan_count > 0) return {LPT_AUTOPILOT_REASON_NONFINITE, here.report.nan_count, 0.0};
  if (options.clipped_limit > 0 && here.report.clipped > options.clipped_limit) {
    return {LPT_AUTOPILOT_REASON_CLIPPED, here.report.clipped, options.clipped_limit};
  }
  for (int side = 0; side < 2; ++side) {
    const double mean = here.mean_amax[side];
    if (options.amax_growth_limit > 0 && mean > 0 && here.report.amax[side] > options.amax_growth_limit * mean) {
      return {LPT_AUTOPILOT_REASON_AMAX_GROWTH, here.report.amax[side] / mean, options.amax_growth_limit};
    }
  }
  const double alignment = autopilot.state.alignment[layer];
  if (options.alignment_limit > 0 && alignment > options.alignment_limit) {
    return {LPT_AUTOPILOT_REASON_ALIGNMENT, alignment, options.alignment_limit};
  }
  const double ratio = autopilot.state.noise_ratio[layer];
  if (gemm != LPT_LINEAR_GEMM_FORWARD && ratio < options.noise_ratio_limit) {
    return {LPT_AUTOPILOT_REASON_NOISE_RATIO, ratio, options.noise_ratio_limit};
  }
  return {};
}

// Sets the levels of one step. `cost` is the mean cost of a multiply-add with the levels that it has set.
class Decider {
 public:
  Decider(Autopilot &autopilot, int64_t step)
      : autopilot_(autopilot), state_(autopilot.state), step_(step), cost_(next_cost(autopilot)) {}

  bool can_afford(double cost) const {
    const double limit = autopilot_.options.budget * static_cast<double>(autopilot_.options.step_count);
    return state_.spent + cost * steps_left() <= limit * (1 + kBudgetRounding);
  }

  double steps_left() const { return static_cast<double>(autopilot_.options.step_count - state_.steps_done); }

  // Raises a GEMM by a level, or to the last one, or else to the highest level that the budget allows.
  void raise(size_t index, const Alarm &alarm) {
    GemmLevel &here = state_.gemms[index];
    const int32_t last = static_cast<int32_t>(autopilot_.costs.size()) - 1;
    int32_t level = alarm.reason == LPT_AUTOPILOT_REASON_NONFINITE || alarm.reason == LPT_AUTOPILOT_REASON_LAST_STEPS
                        ? last
                        : std::min(here.level + 1, last);
    while (level > here.level && !can_afford(cost_ + added_cost(index, level))) --level;
    if (level == here.level) return;
    here.reason = alarm.reason;
    set(index, level, alarm);
  }

  void lower(size_t index, double calm) {
    set(index, state_.gemms[index].level - 1,
        {LPT_AUTOPILOT_REASON_CALM, calm, static_cast<double>(autopilot_.options.calm_decisions)});
  }

  // The mean cost of a multiply-add with the first GEMMs of each layer at the last level.
  double cost_at_last_level(int gemms_of_layer) const {
    const int32_t last = static_cast<int32_t>(autopilot_.costs.size()) - 1;
    double cost = cost_;
    for (size_t i = 0; i < state_.gemms.size(); ++i) {
      if (static_cast<int>(i % kGemmCount) < gemms_of_layer) cost += added_cost(i, last);
    }
    return cost;
  }

  // The added cost of a level, as a part of the mean cost of a multiply-add.
  double added_cost(size_t index, int32_t level) const {
    const double difference = autopilot_.costs[level] - autopilot_.costs[state_.gemms[index].level];
    return difference * autopilot_.shares[index / kGemmCount];
  }

 private:
  void set(size_t index, int32_t level, const Alarm &alarm) {
    GemmLevel &here = state_.gemms[index];
    state_.log.push_back({step_, static_cast<int32_t>(index / kGemmCount), static_cast<int32_t>(index % kGemmCount),
                          here.level, level, alarm.reason, 0, alarm.value, alarm.limit});
    cost_ += added_cost(index, level);
    here.level = level;
    here.calm = 0;
  }

  Autopilot &autopilot_;
  lpt_autopilot::State &state_;
  int64_t step_;
  double cost_;
};

// Raises GEMMs in the order of urgency, then of error for each unit of cost, then of their index.
void raise_all(Autopilot &autopilot, Decider &decider) {
  const std::vector<Alarm> &alarms = autopilot.alarms;
  const int32_t last = static_cast<int32_t>(autopilot.costs.size()) - 1;
  autopilot.candidates.clear();
  for (size_t i = 0; i < alarms.size(); ++i) {
    const GemmLevel &here = autopilot.state.gemms[i];
    if (!alarms[i].is_set() || here.level == last) continue;
    const double error = here.report.error;
    autopilot.candidates.push_back({i, error > 0 ? error / decider.added_cost(i, here.level + 1) : 0.0});
  }
  std::stable_sort(autopilot.candidates.begin(), autopilot.candidates.end(),
                   [&](const RiseCandidate &a, const RiseCandidate &b) {
                     const lpt_autopilot_reason first = alarms[a.index].reason, second = alarms[b.index].reason;
                     return first != second ? first < second : a.merit > b.merit;
                   });
  for (const RiseCandidate &candidate : autopilot.candidates) decider.raise(candidate.index, alarms[candidate.index]);
}

// Sets the alarm of all GEMMs for which the budget suffices until the end: the forward GEMMs first, since each unit of cost
// reduces the loss more there. GEMMs that have the last level keep it.
void set_last_steps(Autopilot &autopilot, const Decider &decider) {
  const int32_t last = static_cast<int32_t>(autopilot.costs.size()) - 1;
  const double left =
      autopilot.options.budget * static_cast<double>(autopilot.options.step_count) - autopilot.state.spent;
  for (const int of_layer : {1, kGemmCount}) {
    const double cost = decider.cost_at_last_level(of_layer);
    if (!decider.can_afford(cost)) return;
    for (size_t i = 0; i < autopilot.alarms.size(); ++i) {
      if (static_cast<int>(i % kGemmCount) >= of_layer) continue;
      if (autopilot.state.gemms[i].level == last) {
        autopilot.state.gemms[i].reason = LPT_AUTOPILOT_REASON_LAST_STEPS;
      } else {
        autopilot.alarms[i] = {LPT_AUTOPILOT_REASON_LAST_STEPS, cost * decider.steps_left(), left};
      }
    }
  }
}

// At the end of an interval: lowers calm GEMMs, and clears the reports.
void end_interval(Autopilot &autopilot, Decider &decider) {
  lpt_autopilot::State &state = autopilot.state;
  const std::vector<Alarm> &alarms = autopilot.alarms;
  const int64_t most = autopilot.options.calm_decisions;
  for (size_t i = 0; i < state.gemms.size(); ++i) {
    GemmLevel &here = state.gemms[i];
    for (int side = 0; side < 2; ++side) {
      const double amax = here.report.amax[side];
      if (amax <= 0) continue;
      double &mean = here.mean_amax[side];
      mean = mean == 0 ? amax : mean + kAmaxWeight * (amax - mean);
    }
    here.report = {};
    const bool is_urgent = alarms[i].is_set() && alarms[i].reason < LPT_AUTOPILOT_REASON_NOISE_RATIO;
    const bool may_fall = here.level > 0 && here.reason < LPT_AUTOPILOT_REASON_NOISE_RATIO;
    here.calm = is_urgent || !may_fall ? 0 : here.calm + 1;
    if (most > 0 && here.calm >= most) decider.lower(i, static_cast<double>(here.calm));
  }
  std::fill(state.alignment.begin(), state.alignment.end(), 0.0);
  std::fill(state.noise_ratio.begin(), state.noise_ratio.end(), kInfinity);
}

void decide(Autopilot &autopilot, int64_t step, double loss, double deviations) {
  const lpt_autopilot_options &options = autopilot.options;
  std::vector<Alarm> &alarms = autopilot.alarms;
  Decider decider(autopilot, step);
  const bool is_interval = (step + 1) % options.interval == 0;
  std::fill(alarms.begin(), alarms.end(), loss_alarm(options, loss, deviations));
  for (size_t i = 0; is_interval && i < alarms.size(); ++i) {
    const Alarm own = gemm_alarm(autopilot, i / kGemmCount, i % kGemmCount);
    if (own.is_set() && (!alarms[i].is_set() || own.reason < alarms[i].reason)) alarms[i] = own;
  }
  if (options.raises_last_steps != 0) set_last_steps(autopilot, decider);
  raise_all(autopilot, decider);
  if (is_interval) end_interval(autopilot, decider);
}

// Follows a list instead of signals.
void follow(Autopilot &autopilot, int64_t step) {
  std::vector<lpt_autopilot_decision> &log = autopilot.state.log;
  while (log.size() < autopilot.replayed.size() && autopilot.replayed[log.size()].step == step) {
    const lpt_autopilot_decision &next = autopilot.replayed[log.size()];
    autopilot.state.gemms[static_cast<size_t>(next.layer) * kGemmCount + next.gemm].level = next.new_level;
    log.push_back(next);
  }
}

Status check_decision(const Autopilot &autopilot, int64_t index, const lpt_autopilot_decision &decision,
                      int64_t least_step) {
  const auto check = [&](const char *name, int64_t value, int64_t least, int64_t most) {
    return check_count(text("decisions[%lld].%s", number(index), name).c_str(), value, least, most);
  };
  const int64_t last_level = static_cast<int64_t>(autopilot.costs.size()) - 1;
  LPT_TRY(check("step", decision.step, least_step, autopilot.options.step_count - 1));
  LPT_TRY(check("layer", decision.layer, 0, static_cast<int64_t>(autopilot.shares.size()) - 1));
  LPT_TRY(check("gemm", decision.gemm, 0, kGemmCount - 1));
  LPT_TRY(check("new_level", decision.new_level, 0, last_level));
  LPT_TRY(check("reason", decision.reason, 0, LPT_AUTOPILOT_REASON_CALM));
  return check("reserved", decision.reserved, 0, 0);
}

}  // namespace

double next_cost(const Autopilot &autopilot) {
  double sum = 0.0;
  for (size_t i = 0; i < autopilot.state.gemms.size(); ++i) {
    sum += autopilot.costs[autopilot.state.gemms[i].level] * autopilot.shares[i / kGemmCount];
  }
  return sum;
}

Status create_autopilot(std::span<const Recipe *const> ladder, std::span<const double> costs,
                        std::span<const double> work, const lpt_autopilot_options &options, Autopilot &out_autopilot) {
  double last = -1.0;
  for (size_t i = 0; i < costs.size(); ++i) {
    if (!(costs[i] >= 0 && costs[i] > last && costs[i] <= kMostCost)) {
      return invalid("costs[%zu] is %g: expected a number from 0 to 1e30, larger than the one before", i, costs[i]);
    }
    last = costs[i];
  }
  double total = 0.0;
  for (size_t i = 0; i < work.size(); ++i) {
    if (!(work[i] >= 1e-30 && work[i] <= kMostCost)) {
      return invalid("work[%zu] is %g: expected a number from 1e-30 to 1e30", i, work[i]);
    }
    total += work[i];
  }
  LPT_TRY(check_options(options, costs[0]));
  out_autopilot.options = options;
  for (const Recipe *level : ladder) out_autopilot.ladder.push_back(*level);
  out_autopilot.costs.assign(costs.begin(), costs.end());
  for (const double layer : work) out_autopilot.shares.push_back(layer / (kGemmCount * total));
  out_autopilot.state.gemms.resize(work.size() * kGemmCount);
  out_autopilot.state.alignment.assign(work.size(), 0.0);
  out_autopilot.state.noise_ratio.assign(work.size(), kInfinity);
  out_autopilot.alarms.resize(out_autopilot.state.gemms.size());
  out_autopilot.candidates.reserve(out_autopilot.state.gemms.size());
  return {};
}

Status observe(Autopilot &autopilot, int32_t layer, lpt_autopilot_reason signal, double value) {
  LPT_TRY(check_layer(autopilot, layer, -1));
  if (signal != LPT_AUTOPILOT_REASON_ALIGNMENT && signal != LPT_AUTOPILOT_REASON_NOISE_RATIO) {
    return invalid("signal is %d: expected %d (ALIGNMENT) or %d (NOISE_RATIO)", signal, LPT_AUTOPILOT_REASON_ALIGNMENT,
                   LPT_AUTOPILOT_REASON_NOISE_RATIO);
  }
  if (std::isnan(value)) return invalid("value is NaN: expected a number");
  lpt_autopilot::State &state = autopilot.state;
  const size_t begin = layer < 0 ? 0 : static_cast<size_t>(layer);
  const size_t end = layer < 0 ? state.alignment.size() : begin + 1;
  for (size_t i = begin; i < end; ++i) {
    if (signal == LPT_AUTOPILOT_REASON_ALIGNMENT) {
      state.alignment[i] = std::max(state.alignment[i], value);
    } else {
      state.noise_ratio[i] = std::min(state.noise_ratio[i], value);
    }
  }
  return {};
}

Status observe_linear(Autopilot &autopilot, int32_t layer, const Linear &linear) {
  LPT_TRY(check_layer(autopilot, layer, 0));
  for (int gemm = 0; gemm < kGemmCount; ++gemm) {
    GemmReport &report = autopilot.state.gemms[static_cast<size_t>(layer) * kGemmCount + gemm].report;
    double error = 0.0;
    for (int side = 0; side < 2; ++side) {
      const CastStatistics *sums = statistics_of(linear, 2 * gemm + side);
      if (sums == nullptr) continue;
      const double count = static_cast<double>(sums->elements);
      report.nan_count = std::max(report.nan_count, static_cast<double>(sums->nans));
      report.clipped = std::max(report.clipped, static_cast<double>(sums->clipped) / count);
      report.amax[side] = std::max(report.amax[side], static_cast<double>(sums->amax));
      const double share = sums->squared_errors / sums->squares;
      if (std::isfinite(share)) error += share;
    }
    report.error = std::max(report.error, error);
  }
  return {};
}

Status end_step(Autopilot &autopilot, int64_t step, double loss, int64_t &out_change_count) {
  lpt_autopilot::State &state = autopilot.state;
  if (step != state.steps_done || step >= autopilot.options.step_count) {
    return invalid("step is %lld: expected %lld, the next one of %lld steps", number(step), number(state.steps_done),
                   number(autopilot.options.step_count));
  }
  // A decision raises or lowers a GEMM once. Nothing is changed if there is no memory.
  state.log.reserve(state.log.size() + 2 * state.gemms.size());
  if (autopilot.is_replay) state.log.reserve(autopilot.replayed.size());
  const size_t before = state.log.size();
  state.spent += next_cost(autopilot);
  state.steps_done = step + 1;
  const double deviations = report_loss(state, loss);
  if (autopilot.is_replay) {
    follow(autopilot, step);
  } else if (state.steps_done < autopilot.options.step_count) {  // the levels of the last step are those of the result
    decide(autopilot, step, loss, deviations);
  }
  out_change_count = static_cast<int64_t>(state.log.size() - before);
  return {};
}

Status compose_recipe(const Autopilot &autopilot, int32_t layer, Recipe &out_recipe) {
  LPT_TRY(check_layer(autopilot, layer, 0));
  const Recipe *levels[kGemmCount];
  for (int gemm = 0; gemm < kGemmCount; ++gemm) {
    levels[gemm] = &autopilot.ladder[autopilot.state.gemms[static_cast<size_t>(layer) * kGemmCount + gemm].level];
    out_recipe.gemms[gemm] = levels[gemm]->gemms[gemm];
    for (int side = 0; side < 2; ++side) out_recipe.casts[2 * gemm + side] = levels[gemm]->casts[2 * gemm + side];
  }
  const Recipe &forward = *levels[LPT_LINEAR_GEMM_FORWARD];
  out_recipe.scalers[LPT_LINEAR_OPERAND_INPUT] = forward.scalers[LPT_LINEAR_OPERAND_INPUT];
  out_recipe.scalers[LPT_LINEAR_OPERAND_WEIGHT] = forward.scalers[LPT_LINEAR_OPERAND_WEIGHT];
  out_recipe.scalers[LPT_LINEAR_OPERAND_GRADIENT] = levels[LPT_LINEAR_GEMM_DGRAD]->scalers[LPT_LINEAR_OPERAND_GRADIENT];
  out_recipe.sparsity[LPT_LINEAR_OPERAND_INPUT] = forward.sparsity[LPT_LINEAR_OPERAND_INPUT];
  out_recipe.sparsity[LPT_LINEAR_OPERAND_WEIGHT] = forward.sparsity[LPT_LINEAR_OPERAND_WEIGHT];
  out_recipe.sparsity[LPT_LINEAR_OPERAND_GRADIENT] =
      levels[LPT_LINEAR_GEMM_WGRAD]->sparsity[LPT_LINEAR_OPERAND_GRADIENT];
  return {};
}

Status set_replay(Autopilot &autopilot, std::span<const lpt_autopilot_decision> decisions) {
  const lpt_autopilot::State &state = autopilot.state;
  const size_t done = state.log.size();
  const auto is_equal = [](const lpt_autopilot_decision &a, const lpt_autopilot_decision &b) {
    return a.step == b.step && a.layer == b.layer && a.gemm == b.gemm && a.new_level == b.new_level;
  };
  if (decisions.size() < done || !std::equal(state.log.begin(), state.log.end(), decisions.begin(), is_equal)) {
    return invalid("decisions does not start with the %zu decisions of the autopilot", done);
  }
  std::vector<int32_t> levels;
  for (const GemmLevel &gemm : state.gemms) levels.push_back(gemm.level);
  int64_t step = state.steps_done;
  for (size_t i = done; i < decisions.size(); ++i) {
    const lpt_autopilot_decision &decision = decisions[i];
    LPT_TRY(check_decision(autopilot, static_cast<int64_t>(i), decision, step));
    int32_t &level = levels[static_cast<size_t>(decision.layer) * kGemmCount + decision.gemm];
    if (decision.old_level != level) {
      return invalid("decisions[%zu].old_level is %d: expected %d, the level of this GEMM", i, decision.old_level,
                     level);
    }
    level = decision.new_level;
    step = decision.step;
  }
  autopilot.replayed.assign(decisions.begin(), decisions.end());
  autopilot.is_replay = true;
  return {};
}

}  // namespace lpt
