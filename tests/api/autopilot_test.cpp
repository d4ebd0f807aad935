// Decisions of the autopilot: the budget against a separate sum over the decisions, each reason against values that the test
// computes, and composed recipes against recipes that the caller changes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/api/linear.hpp"

namespace lpt::test {
namespace {

constexpr lpt_linear_gemm kGemms[] = {LPT_LINEAR_GEMM_FORWARD, LPT_LINEAR_GEMM_DGRAD, LPT_LINEAR_GEMM_WGRAD};

using Decisions = std::vector<lpt_autopilot_decision>;

// A run of an autopilot on one context. Levels are recipes of 4, 8 and 16 bits.
struct PilotRun {
  lpt_context *c;
  std::vector<const char *> names = {"fp4_all_the_way", "mxfp8", "bf16"};
  std::vector<double> costs = {4.0, 8.0, 16.0};
  std::vector<double> work = {1.0, 2.0};
  lpt_autopilot_options options = LPT_AUTOPILOT_OPTIONS_INIT;
  Autopilot autopilot;
  int64_t step = 0;

  PilotRun(lpt_context *context, int64_t steps, double budget) : c(context) {
    options.step_count = steps;
    options.interval = 1;
    options.budget = budget;
    options.raises_last_steps = 0;
  }

  void make() {
    std::vector<Recipe> recipes;
    std::vector<const lpt_recipe *> ladder;
    for (const char *name : names) {
      recipes.push_back(make_recipe(c, name));
      ladder.push_back(recipes.back().get());
    }
    ASSERT_TRUE(ok(c, lpt_autopilot_create(c, ladder.data(), costs.data(), static_cast<int32_t>(ladder.size()),
                                           work.data(), static_cast<int32_t>(work.size()), &options, out(autopilot))));
  }

  int64_t end_step(double loss = 1.0) {
    int64_t changes = -1;
    EXPECT_TRUE(ok(c, lpt_autopilot_step(c, autopilot.get(), step++, loss, &changes)));
    return changes;
  }

  void observe(int32_t layer, lpt_autopilot_reason signal, double value) {
    EXPECT_TRUE(ok(c, lpt_autopilot_observe(c, autopilot.get(), layer, signal, value)));
  }

  lpt_autopilot_info info() const {
    lpt_autopilot_info values = LPT_AUTOPILOT_INFO_INIT;
    EXPECT_TRUE(ok(c, lpt_autopilot_read(c, autopilot.get(), &values)));
    return values;
  }

  Decisions decisions() const {
    Decisions all(static_cast<size_t>(info().decision_count));
    EXPECT_TRUE(ok(c, lpt_autopilot_decisions(c, autopilot.get(), static_cast<int64_t>(all.size()), all.data())));
    return all;
  }

  // Returns the decisions after the first `count`.
  Decisions decisions_after(size_t count) const {
    Decisions all = decisions();
    return {all.begin() + static_cast<ptrdiff_t>(count), all.end()};
  }

  Recipe recipe(int32_t layer) const {
    Recipe made;
    EXPECT_TRUE(ok(c, lpt_autopilot_recipe(c, autopilot.get(), layer, out(made))));
    return made;
  }
};

// Applies decisions to levels of their own: the cost of each step, and the changes.
double mean_cost_of(const PilotRun &run, const Decisions &decisions) {
  std::vector<int32_t> levels(run.work.size() * 3, 0);
  const double total = 3 * std::accumulate(run.work.begin(), run.work.end(), 0.0);
  double sum = 0.0;
  size_t next = 0;
  for (int64_t step = 0; step < run.step; ++step) {
    for (size_t i = 0; i < levels.size(); ++i) sum += run.costs[levels[i]] * run.work[i / 3] / total;
    for (; next < decisions.size() && decisions[next].step == step; ++next) {
      int32_t &level = levels[static_cast<size_t>(decisions[next].layer) * 3 + decisions[next].gemm];
      EXPECT_EQ(level, decisions[next].old_level);
      level = decisions[next].new_level;
    }
  }
  EXPECT_EQ(decisions.size(), next) << "steps of decisions ascend";
  return sum / static_cast<double>(run.step);
}

// Reports and losses of a run with all kinds of reasons.
void report(PilotRun &run, Random &random) {
  if (random.uniform() < 0.1) {
    const auto layer = static_cast<int32_t>(random.uniform() * static_cast<double>(run.work.size() + 1)) - 1;
    run.observe(layer, LPT_AUTOPILOT_REASON_NOISE_RATIO, 3 * random.uniform());
  }
  if (random.uniform() < 0.1) run.observe(0, LPT_AUTOPILOT_REASON_ALIGNMENT, 0.6 + 0.4 * random.uniform());
  const double spike = random.uniform() < 0.01 ? 50.0 : 0.0;
  run.end_step(random.uniform() < 0.002 ? NAN : 3.0 + 0.1 * random.normal() + spike);
}

// Costs are at most the budget. With raises_last_steps, all but the cost of one step at the last level is used.
TEST(Autopilot, KeepsItsBudgetAndUsesIt) {
  const Context context = make_context();
  for (uint64_t i = 0; i < 12; ++i) {
    Random random(8100 + i);
    PilotRun run(context.get(), 400 + static_cast<int64_t>(i) * 37, 4.0 + 12.0 * random.uniform());
    run.work = {1.0 + random.uniform(), 2.0, 0.25};
    run.options.interval = 1 + static_cast<int64_t>(i % 4) * 7;
    run.options.calm_decisions = 3;
    run.options.raises_last_steps = static_cast<int32_t>(i % 2);
    run.make();
    while (run.step < run.options.step_count) report(run, random);
    const double mean = mean_cost_of(run, run.decisions());
    EXPECT_NEAR(mean, run.info().mean_cost, 1e-9) << i;
    EXPECT_LE(mean, run.options.budget * (1 + 1e-8)) << i;
    if (run.options.raises_last_steps == 1) {
      EXPECT_GE(mean, run.options.budget - 16.0 / static_cast<double>(run.step)) << i;
    }
  }
}

// Costs are 4 at level 0, and 16 at the last one.
TEST(Autopilot, RaisesForwardThenAllAsSoonAsTheBudgetSufficesForTheRest) {
  const Context context = make_context();
  for (const double budget : {7.0, 9.0}) {
    PilotRun run(context.get(), 100, budget);
    run.options.raises_last_steps = 1;
    run.options.interval = 50;
    run.make();
    while (run.step < 100) run.end_step();
    // With the forward GEMMs at the last level the mean cost is 8.
    // Budget 7: 4 n + 8 (100 - n) <= 700 from n = 25 on: the decision after step 24.
    // Budget 9: after step 0, which cost 4. Then 4 + 8 (n - 1) + 16 (100 - n) <= 900 from n = 87 on: after step 86.
    const Decisions all = run.decisions();
    ASSERT_EQ(budget == 7.0 ? 2u : 6u, all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      const int64_t step = i >= 2 ? 86 : budget == 7.0 ? 24 : 0;
      const double cost = i >= 2 ? 16.0 : 8.0, spent = i >= 2 ? 4.0 + 8 * 86 : 4.0 * static_cast<double>(step + 1);
      EXPECT_EQ(step, all[i].step);
      EXPECT_EQ(2, all[i].new_level);
      EXPECT_EQ(LPT_AUTOPILOT_REASON_LAST_STEPS, all[i].reason);
      EXPECT_EQ(i < 2, all[i].gemm == LPT_LINEAR_GEMM_FORWARD);
      EXPECT_NEAR(cost * static_cast<double>(99 - step), all[i].value, 1e-9);
      EXPECT_NEAR(100 * budget - spent, all[i].limit, 1e-9);
    }
    EXPECT_LE(run.info().mean_cost, budget);
    EXPECT_GT(run.info().mean_cost, budget - 0.16);
  }
}

// Mean and deviation of the losses x0, x1, … are sums with weights: w (1 - w)^(n - k) of the newer ones.
TEST(Autopilot, RaisesAllGemmsWhenTheLossJumps) {
  const Context context = make_context();
  PilotRun run(context.get(), 1000, 16.0);
  run.make();
  Random random(8200);
  std::vector<double> losses;
  for (int i = 0; i < 60; ++i) losses.push_back(5.0 - 0.01 * i + 0.05 * random.normal());
  for (const double loss : losses) EXPECT_EQ(0, run.end_step(loss));
  constexpr double kWeight = 1.0 / 32;
  const auto mean_of = [&](size_t count) {
    double mean = losses[0] * std::pow(1 - kWeight, static_cast<double>(count - 1));
    for (size_t k = 1; k < count; ++k)
      mean += kWeight * std::pow(1 - kWeight, static_cast<double>(count - 1 - k)) * losses[k];
    return mean;
  };
  double variance = 0.0;
  for (size_t k = 1; k < losses.size(); ++k) {
    const double difference = losses[k] - mean_of(k);
    variance += kWeight * std::pow(1 - kWeight, static_cast<double>(losses.size() - k)) * difference * difference;
  }
  const double mean = mean_of(losses.size()), deviation = std::sqrt(variance);
  const auto jump = [&](double deviations) { return run.end_step(mean + deviations * deviation); };
  PilotRun copy(context.get(), 1000, 16.0);
  copy.make();
  for (const double loss : losses) copy.end_step(loss);
  EXPECT_EQ(0, copy.end_step(mean + 5.999 * deviation));
  EXPECT_EQ(6, jump(6.001));
  for (const lpt_autopilot_decision &decision : run.decisions()) {
    EXPECT_EQ(LPT_AUTOPILOT_REASON_LOSS, decision.reason);
    EXPECT_NEAR(6.001, decision.value, 1e-6);
    EXPECT_EQ(0, decision.old_level);
    EXPECT_EQ(1, decision.new_level);
  }
  EXPECT_EQ(6, run.end_step(INFINITY));
  for (const lpt_autopilot_decision &decision : run.decisions_after(6)) {
    EXPECT_EQ(LPT_AUTOPILOT_REASON_NONFINITE, decision.reason);
    EXPECT_EQ(2, decision.new_level);
  }
  PilotRun fresh(context.get(), 10, 16.0);
  fresh.make();
  EXPECT_EQ(6, fresh.end_step(NAN));
  EXPECT_EQ(2, fresh.decisions()[0].new_level) << "the last level at once";
}

TEST(Autopilot, SignalsRaiseTheirGemmsOnly) {
  const Context context = make_context();
  PilotRun run(context.get(), 1000, 16.0);
  run.options.interval = 2;
  run.make();
  run.observe(1, LPT_AUTOPILOT_REASON_NOISE_RATIO, 1.7);
  run.observe(1, LPT_AUTOPILOT_REASON_NOISE_RATIO, 2.0);  // the worst report counts
  run.observe(0, LPT_AUTOPILOT_REASON_NOISE_RATIO, 1.74);
  EXPECT_EQ(0, run.end_step()) << "within an interval";
  EXPECT_EQ(2, run.end_step());
  const Decisions noisy = run.decisions();
  for (size_t i = 0; i < noisy.size(); ++i) {
    EXPECT_EQ(1, noisy[i].layer);
    EXPECT_EQ(kGemms[i + 1], noisy[i].gemm);
    EXPECT_EQ(LPT_AUTOPILOT_REASON_NOISE_RATIO, noisy[i].reason);
    EXPECT_EQ(1.7, noisy[i].value);
    EXPECT_EQ(std::sqrt(3.0), noisy[i].limit);
  }
  run.observe(-1, LPT_AUTOPILOT_REASON_ALIGNMENT, 0.91);
  run.observe(-1, LPT_AUTOPILOT_REASON_ALIGNMENT, 0.5);
  run.end_step();
  EXPECT_EQ(6, run.end_step());
  for (const lpt_autopilot_decision &decision : run.decisions_after(2)) {
    EXPECT_EQ(LPT_AUTOPILOT_REASON_ALIGNMENT, decision.reason);
    EXPECT_EQ(0.91, decision.value);
  }
  run.end_step();
  EXPECT_EQ(0, run.end_step()) << "reports count once";
}

// The budget suffices for two of six GEMMs. Layer 1 costs twice as much.
TEST(Autopilot, UrgentReasonsComeFirstAndNothingExceedsTheBudget) {
  const Context context = make_context();
  PilotRun run(context.get(), 1000, 4.0 + 2.5 * 4.0 / 9);
  run.make();
  run.observe(0, LPT_AUTOPILOT_REASON_NOISE_RATIO, 0.5);
  run.observe(1, LPT_AUTOPILOT_REASON_ALIGNMENT, 1.0);
  EXPECT_EQ(1, run.end_step());
  const Decisions all = run.decisions();
  EXPECT_EQ(1, all[0].layer);
  EXPECT_EQ(LPT_LINEAR_GEMM_FORWARD, all[0].gemm);
  EXPECT_EQ(LPT_AUTOPILOT_REASON_ALIGNMENT, all[0].reason);
  EXPECT_NEAR(4.0 + 2 * 4.0 / 9, run.info().next_cost, 1e-12);
}

TEST(Autopilot, LowersWhatWasCalmButNotNoisyGemms) {
  const Context context = make_context();
  PilotRun run(context.get(), 1000, 16.0);
  run.options.calm_decisions = 3;
  run.make();
  run.observe(0, LPT_AUTOPILOT_REASON_ALIGNMENT, 1.0);
  run.observe(1, LPT_AUTOPILOT_REASON_NOISE_RATIO, 1.0);
  EXPECT_EQ(5, run.end_step());
  run.observe(0, LPT_AUTOPILOT_REASON_ALIGNMENT, 1.0);
  EXPECT_EQ(3, run.end_step()) << "layer 0 reaches the last level";
  EXPECT_EQ(0, run.end_step());
  EXPECT_EQ(0, run.end_step());
  EXPECT_EQ(3, run.end_step());
  for (const lpt_autopilot_decision &decision : run.decisions_after(8)) {
    EXPECT_EQ(0, decision.layer);
    EXPECT_EQ(LPT_AUTOPILOT_REASON_CALM, decision.reason);
    EXPECT_EQ(2, decision.old_level);
    EXPECT_EQ(1, decision.new_level);
    EXPECT_EQ(3.0, decision.value);
  }
  for (int i = 0; i < 2; ++i) EXPECT_EQ(0, run.end_step());
  EXPECT_EQ(3, run.end_step()) << "to level 0";
  for (int i = 0; i < 10; ++i) EXPECT_EQ(0, run.end_step());
}

// Forward GEMMs that an alignment raised keep their level in the last steps; those of backward fall.
TEST(Autopilot, WhatTheLastStepsNeedDoesNotFall) {
  const Context context = make_context();
  PilotRun run(context.get(), 20, 7.6);
  run.work = {1.0, 8.0};
  run.options.raises_last_steps = 1;
  run.options.calm_decisions = 6;  // after step 7; the last steps begin after step 6
  run.make();
  for (int i = 0; i < 2; ++i) {
    run.observe(0, LPT_AUTOPILOT_REASON_ALIGNMENT, 1.0);
    run.end_step();
  }
  while (run.step < 20) run.end_step();
  const Decisions all = run.decisions();
  int falls = 0;
  for (const lpt_autopilot_decision &one : all) {
    if (one.reason != LPT_AUTOPILOT_REASON_CALM) continue;
    EXPECT_NE(LPT_LINEAR_GEMM_FORWARD, one.gemm) << one.step;
    ++falls;
  }
  EXPECT_GT(falls, 0);
}

// A layer of small inputs, its last statistics, and an outlier that a delayed scale clips.
struct Watched {
  Linear linear;
  Batch batch;
  double share = 0.0, amax = 0.0, error = 0.0;  // of the forward GEMM: clipped, of the input, of both operands

  Watched(PilotRun &run, int32_t layer, uint64_t place, double outlier) : batch(place) {
    lpt_context *c = run.c;
    linear = make_linear(c, run.recipe(layer).get());
    batch.x[7] = outlier;
    watch_and_run(c);
  }

  void watch_and_run(lpt_context *c) {
    EXPECT_TRUE(ok(c, lpt_linear_watch(c, linear.get(), 1)));
    test::run(c, linear.get(), batch, step_options(1, 0, 0));
    lpt_statistics_info casts[2] = {LPT_STATISTICS_INFO_INIT, LPT_STATISTICS_INFO_INIT};
    for (lpt_linear_cast cast = 0; cast < 2; ++cast) {
      EXPECT_TRUE(ok(c, lpt_linear_cast_read(c, linear.get(), cast, &casts[cast])));
    }
    const auto count = [](int64_t number) { return static_cast<double>(number); };
    share = std::max(count(casts[0].clipped_count) / count(casts[0].element_count),
                     count(casts[1].clipped_count) / count(casts[1].element_count));
    amax = casts[0].amax;
    error = casts[0].squared_error / casts[0].squared_sum + casts[1].squared_error / casts[1].squared_sum;
  }
};

// A delayed scale of the amax of one step clips an outlier of the next one.
TEST(Autopilot, CastsThatClipOrGrowRaiseTheirGemm) {
  const Context context = make_context();
  lpt_context *c = context.get();
  for (const lpt_autopilot_reason reason : {LPT_AUTOPILOT_REASON_CLIPPED, LPT_AUTOPILOT_REASON_AMAX_GROWTH}) {
    PilotRun run(c, 1000, 16.0);
    run.names[0] = "fp8_trillion";
    run.work = {1.0};
    run.options.clipped_limit = reason == LPT_AUTOPILOT_REASON_CLIPPED ? 1e-4 : 0.0;
    run.make();
    Watched layer(run, 0, 8300, 5.0);
    const double first = layer.amax;
    EXPECT_EQ(5.0, first);
    EXPECT_TRUE(ok(c, lpt_autopilot_observe_linear(c, run.autopilot.get(), 0, layer.linear.get())));
    EXPECT_EQ(0, run.end_step());
    lpt_linear *const linears[] = {layer.linear.get()};
    EXPECT_TRUE(ok(c, lpt_linear_update_scalers(c, linears, 1)));
    layer.batch.x[7] = 20.5;
    layer.watch_and_run(c);
    EXPECT_NEAR(1.0 / (kRows * kInput), layer.share, 1e-12);
    EXPECT_TRUE(ok(c, lpt_autopilot_observe_linear(c, run.autopilot.get(), 0, layer.linear.get())));
    run.end_step();
    // The input is also an operand of wgrad, which has a cast of its own in e5m2 with a larger error.
    const Decisions all = run.decisions();
    ASSERT_EQ(2u, all.size());
    EXPECT_EQ(LPT_LINEAR_GEMM_WGRAD, all[0].gemm);
    EXPECT_EQ(LPT_LINEAR_GEMM_FORWARD, all[1].gemm);
    for (const lpt_autopilot_decision &decision : all) {
      EXPECT_EQ(reason, decision.reason);
      EXPECT_NEAR(reason == LPT_AUTOPILOT_REASON_CLIPPED ? layer.share : 20.5 / first, decision.value, 1e-12);
    }
    EXPECT_EQ(0, run.end_step()) << "reports count once";
    layer.batch.x[7] = NAN;
    layer.watch_and_run(c);
    EXPECT_TRUE(ok(c, lpt_autopilot_observe_linear(c, run.autopilot.get(), 0, layer.linear.get())));
    EXPECT_EQ(2, run.end_step());
    for (const lpt_autopilot_decision &decision : run.decisions_after(2)) {
      EXPECT_EQ(LPT_AUTOPILOT_REASON_NONFINITE, decision.reason);
      EXPECT_EQ(2, decision.new_level);
      EXPECT_EQ(1.0, decision.value);
    }
  }
}

// Layers of equal work, and a budget for one GEMM. A cast of many outliers in blocks of 16 has a larger error.
TEST(Autopilot, LargerErrorsComeFirst) {
  const Context context = make_context();
  lpt_context *c = context.get();
  for (const bool is_swapped : {false, true}) {
    PilotRun run(c, 1000, 4.0 + 1.5 * 4.0 / 6);
    run.work = {1.0, 1.0};
    run.options.clipped_limit = run.options.amax_growth_limit = 0.0;
    run.make();
    Watched small(run, 0, 8400, 1.0), large(run, 0, 8400, 1.0);
    for (size_t i = 0; i < large.batch.x.size(); ++i) {
      if (i % 16 == 3) large.batch.x[i] *= 30.0;
    }
    large.watch_and_run(c);
    const int32_t worst = is_swapped ? 0 : 1;
    EXPECT_GT(std::abs(large.error - small.error), 1e-3);
    const int32_t expected = large.error > small.error ? worst : 1 - worst;
    EXPECT_TRUE(ok(c, lpt_autopilot_observe_linear(c, run.autopilot.get(), 1 - worst, small.linear.get())));
    EXPECT_TRUE(ok(c, lpt_autopilot_observe_linear(c, run.autopilot.get(), worst, large.linear.get())));
    run.observe(-1, LPT_AUTOPILOT_REASON_ALIGNMENT, 1.0);
    EXPECT_EQ(1, run.end_step());
    EXPECT_EQ(expected, run.decisions()[0].layer);
  }
}

// Each GEMM at the last level equals lpt_recipe_set_high_precision() of the first recipe, bit for bit.
TEST(Autopilot, ComposedRecipesEqualRaisedOnes) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Batch batch(8500);
  for (int mask = 0; mask < 8; ++mask) {
    PilotRun run(c, 100, 16.0);
    run.names = {"nvfp4_pretrain", "bf16"};
    run.costs = {0.0, 1.0};
    run.make();
    Recipe expected = make_recipe(c, "nvfp4_pretrain");
    Decisions list;
    for (const lpt_linear_gemm gemm : kGemms) {
      if ((mask >> gemm & 1) == 0) continue;
      list.push_back({0, 1, gemm, 0, 1, LPT_AUTOPILOT_REASON_LOSS, 0, 0.0, 0.0});
      EXPECT_TRUE(ok(c, lpt_recipe_set_high_precision(c, expected.get(), gemm, LPT_FORMAT_BF16)));
    }
    EXPECT_TRUE(ok(c, lpt_autopilot_replay(c, run.autopilot.get(), list.data(), static_cast<int64_t>(list.size()))));
    EXPECT_EQ(static_cast<int64_t>(list.size()), run.end_step());
    const Linear composed = make_linear(c, run.recipe(1).get()), raised = make_linear(c, expected.get());
    const lpt_linear_options options = step_options(3, 1, 2);
    const Results a = test::run(c, composed.get(), batch, options), b = test::run(c, raised.get(), batch, options);
    EXPECT_EQ(b.y, a.y) << mask;
    EXPECT_EQ(b.dx, a.dx) << mask;
    EXPECT_EQ(b.dw, a.dw) << mask;
    lpt_format format = LPT_FORMAT_NONE;
    EXPECT_TRUE(ok(c, lpt_recipe_cast_format(c, run.recipe(0).get(), LPT_LINEAR_CAST_FORWARD_INPUT, &format)));
    EXPECT_EQ(LPT_FORMAT_NVFP4, format) << "layer 0 is not changed";
  }
}

// Half of a run, then the rest of it from its state, and a replay of all of it without signals.
TEST(Autopilot, ASavedOrReplayedRunMakesTheSameDecisions) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const auto make = [&] {
    PilotRun run(c, 500, 14.0);
    run.options.calm_decisions = 2;
    run.options.interval = 5;
    run.options.raises_last_steps = 1;
    run.make();
    return run;
  };
  PilotRun whole = make(), first = make(), second = make(), replayed = make();
  Random random(8600), again(8600);
  while (whole.step < 500) report(whole, random);
  while (first.step < 243) report(first, again);
  size_t size = 0;
  ASSERT_TRUE(ok(c, lpt_autopilot_state_size(c, first.autopilot.get(), &size)));
  std::vector<uint8_t> state(size);
  ASSERT_TRUE(ok(c, lpt_autopilot_state_save(c, first.autopilot.get(), state.data(), size)));
  ASSERT_TRUE(ok(c, lpt_autopilot_state_load(c, second.autopilot.get(), state.data(), size)));
  second.step = 243;
  while (second.step < 500) report(second, again);
  const Decisions expected = whole.decisions();
  EXPECT_GT(expected.size(), 20u);
  const auto expect_equal = [&](const PilotRun &run) {
    const Decisions found = run.decisions();
    ASSERT_EQ(expected.size(), found.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(0, std::memcmp(&expected[i], &found[i], sizeof found[i])) << i;
    }
    EXPECT_EQ(whole.info().mean_cost, run.info().mean_cost);
  };
  expect_equal(second);
  const auto count = static_cast<int64_t>(expected.size());
  ASSERT_TRUE(ok(c, lpt_autopilot_replay(c, replayed.autopilot.get(), expected.data(), count)));
  while (replayed.step < 300) replayed.end_step(NAN);
  ASSERT_TRUE(ok(c, lpt_autopilot_replay(c, replayed.autopilot.get(), expected.data(), count))) << "its own prefix";
  while (replayed.step < 500) replayed.end_step(NAN);
  expect_equal(replayed);
}

}  // namespace
}  // namespace lpt::test
