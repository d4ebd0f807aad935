#include <cmath>

#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

struct CreateArguments {
  std::vector<double> costs = {0.0, 1.0}, work = {1.0};
  lpt_autopilot_options options = LPT_AUTOPILOT_OPTIONS_INIT;
  bool has_ladder = true;
};

template <typename Change>
lpt_status create(World &w, Change change) {
  CreateArguments given;
  given.options.step_count = 10;
  change(given);
  const lpt_recipe *const ladder[] = {w.recipe.get(), w.block_recipe.get(), w.recipe.get()};
  lpt_autopilot *made = canary_handle<lpt_autopilot>();
  const lpt_status status = lpt_autopilot_create(
      w.c, given.has_ladder ? ladder : nullptr, given.costs.data(), static_cast<int32_t>(given.costs.size()),
      given.work.empty() ? nullptr : given.work.data(), static_cast<int32_t>(given.work.size()), &given.options, &made);
  EXPECT_EQ(canary_handle<lpt_autopilot>(), made) << "written by a call that was rejected";
  return status;
}

// Calls of an autopilot of two levels, one layer and 10 steps, of which one is done.
template <typename Call>
lpt_status with_autopilot(World &w, Call call) {
  const lpt_recipe *const ladder[] = {w.recipe.get(), w.block_recipe.get()};
  const double costs[] = {0.0, 1.0}, work = 1.0;
  lpt_autopilot_options options = LPT_AUTOPILOT_OPTIONS_INIT;
  options.step_count = 10;
  options.budget = 1.0;
  options.raises_last_steps = 0;
  lpt_autopilot *autopilot = nullptr;
  EXPECT_TRUE(ok(w.owner.get(), lpt_autopilot_create(w.owner.get(), ladder, costs, 2, &work, 1, &options, &autopilot)));
  int64_t changes = 0;
  EXPECT_TRUE(ok(w.owner.get(), lpt_autopilot_step(w.owner.get(), autopilot, 0, 1.0, &changes)));
  const lpt_status status = call(autopilot);
  lpt_autopilot_info info = LPT_AUTOPILOT_INFO_INIT;
  EXPECT_TRUE(ok(w.owner.get(), lpt_autopilot_read(w.owner.get(), autopilot, &info)));
  EXPECT_EQ(1, info.steps_done);
  EXPECT_EQ(0, info.decision_count);
  lpt_autopilot_destroy(autopilot);
  return status;
}

template <typename Change>
lpt_status replay(World &w, Change change) {
  return with_autopilot(w, [&](lpt_autopilot *autopilot) {
    std::vector<lpt_autopilot_decision> list = {{1, 0, 0, 0, 1, LPT_AUTOPILOT_REASON_LOSS, 0, 0.0, 0.0},
                                                {2, 0, 0, 1, 0, LPT_AUTOPILOT_REASON_CALM, 0, 0.0, 0.0}};
    change(list);
    return lpt_autopilot_replay(w.c, autopilot, list.data(), static_cast<int64_t>(list.size()));
  });
}

}  // namespace

const std::vector<BadCall> kAutopilotCalls = {
    {"autopilot_create: one level",
     LPT_INVALID_ARGUMENT,
     {"level_count is 1", "2 to 64"},
     [](World &w) { return create(w, [](auto &a) { a.costs.pop_back(); }); }},
    {"autopilot_create: no ladder",
     LPT_INVALID_ARGUMENT,
     {"ladder is NULL"},
     [](World &w) { return create(w, [](auto &a) { a.has_ladder = false; }); }},
    {"autopilot_create: no layers",
     LPT_INVALID_ARGUMENT,
     {"layer_count is 0", "1 to 1048576"},
     [](World &w) { return create(w, [](auto &a) { a.work.clear(); }); }},
    {"autopilot_create: equal costs",
     LPT_INVALID_ARGUMENT,
     {"costs[1] is 0", "larger than the one before"},
     [](World &w) { return create(w, [](auto &a) { a.costs[1] = 0.0; }); }},
    {"autopilot_create: a cost that is no number",
     LPT_INVALID_ARGUMENT,
     {"costs[0] is", "nan"},
     [](World &w) { return create(w, [](auto &a) { a.costs[0] = NAN; }); }},
    {"autopilot_create: a layer without work",
     LPT_INVALID_ARGUMENT,
     {"work[0] is 0"},
     [](World &w) { return create(w, [](auto &a) { a.work[0] = 0.0; }); }},
    {"autopilot_create: infinite work",
     LPT_INVALID_ARGUMENT,
     {"work[0] is inf"},
     [](World &w) { return create(w, [](auto &a) { a.work[0] = INFINITY; }); }},
    {"autopilot_create: no number of steps",
     LPT_INVALID_ARGUMENT,
     {"step_count is 0", "1 to 1099511627776"},
     [](World &w) { return create(w, [](auto &a) { a.options.step_count = 0; }); }},
    {"autopilot_create: a budget below the lowest cost",
     LPT_INVALID_ARGUMENT,
     {"budget is 0.5", "1 to 1e+30"},
     [](World &w) {
       return create(w, [](auto &a) {
         a.costs = {1.0, 2.0};
         a.options.budget = 0.5;
       });
     }},
    {"autopilot_create: an interval of nothing",
     LPT_INVALID_ARGUMENT,
     {"interval is 0"},
     [](World &w) { return create(w, [](auto &a) { a.options.interval = 0; }); }},
    {"autopilot_create: a negative limit",
     LPT_INVALID_ARGUMENT,
     {"loss_limit is -1"},
     [](World &w) { return create(w, [](auto &a) { a.options.loss_limit = -1.0; }); }},
    {"autopilot_create: a share above 1",
     LPT_INVALID_ARGUMENT,
     {"clipped_limit is 2", "0 to 1"},
     [](World &w) { return create(w, [](auto &a) { a.options.clipped_limit = 2.0; }); }},
    {"autopilot_create: a limit that is no number",
     LPT_INVALID_ARGUMENT,
     {"amax_growth_limit is"},
     [](World &w) { return create(w, [](auto &a) { a.options.amax_growth_limit = NAN; }); }},
    {"autopilot_create: a cosine above 1",
     LPT_INVALID_ARGUMENT,
     {"alignment_limit is 1.5"},
     [](World &w) { return create(w, [](auto &a) { a.options.alignment_limit = 1.5; }); }},
    {"autopilot_create: a negative ratio",
     LPT_INVALID_ARGUMENT,
     {"noise_ratio_limit is -1"},
     [](World &w) { return create(w, [](auto &a) { a.options.noise_ratio_limit = -1.0; }); }},
    {"autopilot_create: negative calm decisions",
     LPT_INVALID_ARGUMENT,
     {"calm_decisions is -1"},
     [](World &w) { return create(w, [](auto &a) { a.options.calm_decisions = -1; }); }},
    {"autopilot_create: a choice of 2",
     LPT_INVALID_ARGUMENT,
     {"raises_last_steps is 2"},
     [](World &w) { return create(w, [](auto &a) { a.options.raises_last_steps = 2; }); }},
    {"autopilot_create: a reserved member",
     LPT_INVALID_ARGUMENT,
     {"reserved is 1"},
     [](World &w) { return create(w, [](auto &a) { a.options.reserved = 1; }); }},
    {"autopilot_observe: no such layer",
     LPT_INVALID_ARGUMENT,
     {"layer is 1", "-1 to 0"},
     [](World &w) {
       return with_autopilot(
           w, [&](lpt_autopilot *a) { return lpt_autopilot_observe(w.c, a, 1, LPT_AUTOPILOT_REASON_ALIGNMENT, 0.5); });
     }},
    {"autopilot_observe: not a signal",
     LPT_INVALID_ARGUMENT,
     {"signal is 1", "NOISE_RATIO"},
     [](World &w) {
       return with_autopilot(
           w, [&](lpt_autopilot *a) { return lpt_autopilot_observe(w.c, a, 0, LPT_AUTOPILOT_REASON_LOSS, 0.5); });
     }},
    {"autopilot_observe: not a number",
     LPT_INVALID_ARGUMENT,
     {"value is NaN"},
     [](World &w) {
       return with_autopilot(
           w, [&](lpt_autopilot *a) { return lpt_autopilot_observe(w.c, a, 0, LPT_AUTOPILOT_REASON_ALIGNMENT, NAN); });
     }},
    {"autopilot_observe_linear: all layers",
     LPT_INVALID_ARGUMENT,
     {"layer is -1", "0 to 0"},
     [](World &w) {
       return with_autopilot(
           w, [&](lpt_autopilot *a) { return lpt_autopilot_observe_linear(w.c, a, -1, w.linear.get()); });
     }},
    {"autopilot_step: a step that is done",
     LPT_INVALID_ARGUMENT,
     {"step is 0", "expected 1"},
     [](World &w) {
       return with_autopilot(w, [&](lpt_autopilot *a) { return lpt_autopilot_step(w.c, a, 0, 1.0, &w.out_number); });
     }},
    {"autopilot_step: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_change_count is NULL"},
     [](World &w) {
       return with_autopilot(w, [&](lpt_autopilot *a) { return lpt_autopilot_step(w.c, a, 1, 1.0, nullptr); });
     }},
    {"autopilot_recipe: no such layer",
     LPT_INVALID_ARGUMENT,
     {"layer is 7", "0 to 0"},
     [](World &w) {
       return with_autopilot(w, [&](lpt_autopilot *a) { return lpt_autopilot_recipe(w.c, a, 7, &w.out_recipe); });
     }},
    {"autopilot_decisions: another number",
     LPT_INVALID_ARGUMENT,
     {"decision_count is 1", "0 to 0"},
     [](World &w) {
       return with_autopilot(w, [&](lpt_autopilot *a) { return lpt_autopilot_decisions(w.c, a, 1, nullptr); });
     }},
    {"autopilot_replay: a step that is done",
     LPT_INVALID_ARGUMENT,
     {"decisions[0].step is 0", "1 to 9"},
     [](World &w) { return replay(w, [](auto &list) { list[0].step = 0; }); }},
    {"autopilot_replay: steps that descend",
     LPT_INVALID_ARGUMENT,
     {"decisions[1].step is 2", "3 to 9"},
     [](World &w) { return replay(w, [](auto &list) { list[0].step = 3; }); }},
    {"autopilot_replay: no such layer",
     LPT_INVALID_ARGUMENT,
     {"decisions[0].layer is 1"},
     [](World &w) { return replay(w, [](auto &list) { list[0].layer = 1; }); }},
    {"autopilot_replay: no such GEMM",
     LPT_INVALID_ARGUMENT,
     {"decisions[0].gemm is 3"},
     [](World &w) { return replay(w, [](auto &list) { list[0].gemm = 3; }); }},
    {"autopilot_replay: no such level",
     LPT_INVALID_ARGUMENT,
     {"decisions[0].new_level is 2"},
     [](World &w) { return replay(w, [](auto &list) { list[0].new_level = 2; }); }},
    {"autopilot_replay: another level before",
     LPT_INVALID_ARGUMENT,
     {"decisions[1].old_level is 0", "expected 1"},
     [](World &w) { return replay(w, [](auto &list) { list[1].old_level = 0; }); }},
    {"autopilot_state_save: too few bytes",
     LPT_INVALID_ARGUMENT,
     {"buffer_bytes is 3"},
     [](World &w) {
       return with_autopilot(w, [&](lpt_autopilot *a) { return lpt_autopilot_state_save(w.c, a, w.buffer.data(), 3); });
     }},
    {"autopilot_state_load: the state of a scaler",
     LPT_INVALID_STATE,
     {"saved state"},
     [](World &w) {
       return with_autopilot(w, [&](lpt_autopilot *a) {
         return lpt_autopilot_state_load(w.c, a, w.scaler_state.data(), w.scaler_state.size());
       });
     }},
};

}  // namespace lpt::test
