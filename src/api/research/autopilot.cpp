#include "src/linear/autopilot.hpp"

#include <algorithm>
#include <memory>

#include "src/api/guard.hpp"
#include "src/call/operation.hpp"

using namespace lpt;

namespace {

constexpr int32_t kMostLevels = 64;
constexpr int32_t kMostLayers = 1 << 20;

Status check_array(const char *name, const void *array, const char *count_name, int64_t count, int64_t least,
                   int64_t most) {
  if (count < least || count > most) {
    return invalid("%s is %lld: expected %lld to %lld", count_name, number(count), number(least), number(most));
  }
  return array != nullptr || count == 0 ? Status() : invalid("%s is NULL: expected an array", name);
}

Status check_autopilot(const lpt_autopilot *autopilot) {
  return check_handle(autopilot, HandleKind::kAutopilot, "autopilot");
}

}  // namespace

lpt_status lpt_autopilot_create(lpt_context *context, const lpt_recipe *const *ladder, const double *costs,
                                int32_t level_count, const double *work, int32_t layer_count,
                                const lpt_autopilot_options *options, lpt_autopilot **out_autopilot) {
  return guard(context, [&](Context &) -> Status {
    lpt_autopilot_options known = LPT_AUTOPILOT_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_out(out_autopilot, "out_autopilot"));
    LPT_TRY(check_array("ladder", ladder, "level_count", level_count, 2, kMostLevels));
    LPT_TRY(check_array("costs", costs, "level_count", level_count, 2, kMostLevels));
    LPT_TRY(check_array("work", work, "layer_count", layer_count, 1, kMostLayers));
    for (int32_t i = 0; i < level_count; ++i) {
      LPT_TRY(check_handle(ladder[i], HandleKind::kRecipe, text("ladder[%d]", i).c_str()));
    }
    auto made = std::make_unique<Autopilot>();
    LPT_TRY(create_autopilot({ladder, static_cast<size_t>(level_count)}, {costs, static_cast<size_t>(level_count)},
                             {work, static_cast<size_t>(layer_count)}, known, *made));
    *out_autopilot = made.release();
    return {};
  });
}

void lpt_autopilot_destroy(lpt_autopilot *autopilot) { destroy(autopilot, HandleKind::kAutopilot); }

lpt_status lpt_autopilot_observe(lpt_context *context, lpt_autopilot *autopilot, int32_t layer,
                                 lpt_autopilot_reason signal, double value) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_autopilot(autopilot));
    return observe(*autopilot, layer, signal, value);
  });
}

lpt_status lpt_autopilot_observe_linear(lpt_context *context, lpt_autopilot *autopilot, int32_t layer,
                                        const lpt_linear *linear) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_autopilot(autopilot));
    LPT_TRY(check_handle(linear, HandleKind::kLinear, "linear"));
    return observe_linear(*autopilot, layer, *linear);
  });
}

lpt_status lpt_autopilot_step(lpt_context *context, lpt_autopilot *autopilot, int64_t step, double loss,
                              int64_t *out_change_count) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_autopilot(autopilot));
    LPT_TRY(check_out(out_change_count, "out_change_count"));
    return end_step(*autopilot, step, loss, *out_change_count);
  });
}

lpt_status lpt_autopilot_recipe(lpt_context *context, const lpt_autopilot *autopilot, int32_t layer,
                                lpt_recipe **out_recipe) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_autopilot(autopilot));
    LPT_TRY(check_out(out_recipe, "out_recipe"));
    auto made = std::make_unique<Recipe>();
    LPT_TRY(compose_recipe(*autopilot, layer, *made));
    *out_recipe = made.release();
    return {};
  });
}

lpt_status lpt_autopilot_read(lpt_context *context, const lpt_autopilot *autopilot, lpt_autopilot_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_autopilot(autopilot));
    const lpt_autopilot::State &state = autopilot->state;
    lpt_autopilot_info values = LPT_AUTOPILOT_INFO_INIT;
    values.steps_done = state.steps_done;
    values.decision_count = static_cast<int64_t>(state.log.size());
    values.mean_cost =
        state.steps_done == 0 ? autopilot->costs[0] : state.spent / static_cast<double>(state.steps_done);
    values.next_cost = next_cost(*autopilot);
    return write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_autopilot_decisions(lpt_context *context, const lpt_autopilot *autopilot, int64_t decision_count,
                                   lpt_autopilot_decision *decisions) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_autopilot(autopilot));
    const std::vector<lpt_autopilot_decision> &log = autopilot->state.log;
    const auto count = static_cast<int64_t>(log.size());
    LPT_TRY(check_array("decisions", decisions, "decision_count", decision_count, count, count));
    std::copy(log.begin(), log.end(), decisions);
    return {};
  });
}

lpt_status lpt_autopilot_replay(lpt_context *context, lpt_autopilot *autopilot, const lpt_autopilot_decision *decisions,
                                int64_t decision_count) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_autopilot(autopilot));
    LPT_TRY(check_array("decisions", decisions, "decision_count", decision_count, 0, int64_t{1} << 40));
    return set_replay(*autopilot, {decisions, static_cast<size_t>(decision_count)});
  });
}

lpt_status lpt_autopilot_state_size(lpt_context *context, const lpt_autopilot *autopilot, size_t *out_size_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_autopilot(autopilot));
    LPT_TRY(check_out(out_size_bytes, "out_size_bytes"));
    *out_size_bytes = autopilot_state_bytes(*autopilot);
    return {};
  });
}

lpt_status lpt_autopilot_state_save(lpt_context *context, const lpt_autopilot *autopilot, void *buffer,
                                    size_t buffer_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_autopilot(autopilot));
    LPT_TRY(check_out(buffer, "buffer"));
    return save_autopilot(*autopilot, buffer, buffer_bytes);
  });
}

lpt_status lpt_autopilot_state_load(lpt_context *context, lpt_autopilot *autopilot, const void *buffer,
                                    size_t buffer_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_autopilot(autopilot));
    LPT_TRY(check_out(buffer, "buffer"));
    return load_autopilot(*autopilot, buffer, buffer_bytes);
  });
}
