#include <cmath>

#include "tests/api/bad_calls.hpp"
#include "tests/api/states.hpp"

namespace lpt::test {
namespace {

template <typename Change>
lpt_status create(World &w, Change change) {
  lpt_loss_scaler_options options = LPT_LOSS_SCALER_OPTIONS_INIT;
  change(options);
  lpt_loss_scaler *made = canary_handle<lpt_loss_scaler>();
  const lpt_status status = lpt_loss_scaler_create(w.c, &options, &made);
  EXPECT_EQ(canary_handle<lpt_loss_scaler>(), made) << "written by a call that was rejected";
  return status;
}

// Calls of a loss scaler with scales of 1 to 1024, whose state must not change.
template <typename Call>
lpt_status with_scaler(World &w, Call call) {
  lpt_context *own = w.owner.get();
  lpt_loss_scaler_options options = LPT_LOSS_SCALER_OPTIONS_INIT;
  options.initial_scale = options.min_scale = 1.0;
  options.max_scale = 1024.0;
  LossScaler scaler;
  EXPECT_TRUE(ok(own, lpt_loss_scaler_create(own, &options, out(scaler))));
  const auto before = w.state(lpt_loss_scaler_state_size, lpt_loss_scaler_state_save, scaler.get());
  const lpt_status status = call(scaler.get());
  EXPECT_EQ(before, w.state(lpt_loss_scaler_state_size, lpt_loss_scaler_state_save, scaler.get()));
  return status;
}

lpt_status load(World &w, const std::vector<uint8_t> &state) {
  return with_scaler(
      w, [&](lpt_loss_scaler *scaler) { return lpt_loss_scaler_state_load(w.c, scaler, state.data(), state.size()); });
}

std::vector<uint8_t> state_of_scale(World &w, double scale) {
  lpt_context *own = w.owner.get();
  lpt_loss_scaler_options options = LPT_LOSS_SCALER_OPTIONS_INIT;
  options.initial_scale = scale;
  LossScaler scaler;
  EXPECT_TRUE(ok(own, lpt_loss_scaler_create(own, &options, out(scaler))));
  return w.state(lpt_loss_scaler_state_size, lpt_loss_scaler_state_save, scaler.get());
}

template <typename Change>
lpt_status step_with(World &w, Change change) {
  return with_scaler(w, [&](lpt_loss_scaler *scaler) {
    return step(w, {0, 1}, w.gradient, w.parameter, [&](auto &o) {
      o.loss_scaler = scaler;
      change(o);
    });
  });
}

}  // namespace

const std::vector<BadCall> kLossScalerCalls = {
    {"loss_scaler_create: a scale of 0",
     LPT_INVALID_ARGUMENT,
     {"initial_scale is 0", "expected"},
     [](World &w) { return create(w, [](auto &o) { o.initial_scale = 0.0; }); }},
    {"loss_scaler_create: a scale that is NaN",
     LPT_INVALID_ARGUMENT,
     {"initial_scale is", "nan"},
     [](World &w) { return create(w, [](auto &o) { o.initial_scale = std::nan(""); }); }},
    {"loss_scaler_create: a scale above the largest",
     LPT_INVALID_ARGUMENT,
     {"initial_scale is 65536", "32768"},
     [](World &w) { return create(w, [](auto &o) { o.max_scale = 32768.0; }); }},
    {"loss_scaler_create: a scale below the smallest",
     LPT_INVALID_ARGUMENT,
     {"initial_scale is 65536", "131072"},
     [](World &w) { return create(w, [](auto &o) { o.min_scale = 131072.0; }); }},
    {"loss_scaler_create: too small a minimum",
     LPT_INVALID_ARGUMENT,
     {"min_scale is 5.87747e-39", "1.17549e-38"},
     [](World &w) { return create(w, [](auto &o) { o.min_scale = 0x1p-127; }); }},
    {"loss_scaler_create: too large a maximum",
     LPT_INVALID_ARGUMENT,
     {"max_scale is inf", "8.50706e+37"},
     [](World &w) { return create(w, [](auto &o) { o.max_scale = HUGE_VAL; }); }},
    {"loss_scaler_create: growth that shrinks",
     LPT_INVALID_ARGUMENT,
     {"growth_factor is 0.5", "1 to"},
     [](World &w) { return create(w, [](auto &o) { o.growth_factor = 0.5; }); }},
    {"loss_scaler_create: backoff that grows",
     LPT_INVALID_ARGUMENT,
     {"backoff_factor is 2", "to 1"},
     [](World &w) { return create(w, [](auto &o) { o.backoff_factor = 2.0; }); }},
    {"loss_scaler_create: backoff to zero",
     LPT_INVALID_ARGUMENT,
     {"backoff_factor is 0"},
     [](World &w) { return create(w, [](auto &o) { o.backoff_factor = 0.0; }); }},
    {"loss_scaler_create: no interval",
     LPT_INVALID_ARGUMENT,
     {"growth_interval is 0", "at least 1"},
     [](World &w) { return create(w, [](auto &o) { o.growth_interval = 0; }); }},
    {"loss_scaler_create: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_loss_scaler is NULL"},
     [](World &w) { return lpt_loss_scaler_create(w.c, nullptr, nullptr); }},
    {"loss_scaler_update: NULL",
     LPT_INVALID_ARGUMENT,
     {"loss_scaler is NULL"},
     [](World &w) { return lpt_loss_scaler_update(w.c, nullptr); }},
    {"loss_scaler_update: a scaler of casts",
     LPT_INVALID_ARGUMENT,
     {"loss_scaler is not a live handle"},
     [](World &w) { return lpt_loss_scaler_update(w.c, cast<lpt_loss_scaler>(w.scaler.get())); }},
    {"loss_scaler_update: no step",
     LPT_INVALID_ARGUMENT,
     {"loss_scaler has no step", "expected a step"},
     [](World &w) {
       return with_scaler(w, [&](lpt_loss_scaler *scaler) { return lpt_loss_scaler_update(w.c, scaler); });
     }},
    {"loss_scaler_read: no scaler",
     LPT_INVALID_ARGUMENT,
     {"loss_scaler is NULL"},
     [](World &w) {
       lpt_loss_scaler_info info = LPT_LOSS_SCALER_INFO_INIT;
       return lpt_loss_scaler_read(w.c, nullptr, &info);
     }},
    {"loss_scaler_read: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_info is NULL"},
     [](World &w) {
       return with_scaler(w, [&](lpt_loss_scaler *scaler) { return lpt_loss_scaler_read(w.c, scaler, nullptr); });
     }},
    {"loss_scaler_state_size: no scaler",
     LPT_INVALID_ARGUMENT,
     {"loss_scaler is NULL"},
     [](World &w) { return lpt_loss_scaler_state_size(w.c, nullptr, &w.out_size); }},
    {"loss_scaler_state_size: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_size_bytes is NULL"},
     [](World &w) {
       return with_scaler(w, [&](lpt_loss_scaler *scaler) { return lpt_loss_scaler_state_size(w.c, scaler, nullptr); });
     }},
    {"loss_scaler_state_save: too little memory",
     LPT_INVALID_ARGUMENT,
     {"buffer_bytes is 59", "60"},
     [](World &w) {
       return with_scaler(
           w, [&](lpt_loss_scaler *scaler) { return lpt_loss_scaler_state_save(w.c, scaler, w.buffer.data(), 59); });
     }},
    {"loss_scaler_state_save: NULL",
     LPT_INVALID_ARGUMENT,
     {"buffer is NULL"},
     [](World &w) {
       return with_scaler(
           w, [&](lpt_loss_scaler *scaler) { return lpt_loss_scaler_state_save(w.c, scaler, nullptr, 60); });
     }},
    {"loss_scaler_state_load: NULL",
     LPT_INVALID_ARGUMENT,
     {"buffer is NULL"},
     [](World &w) {
       return with_scaler(
           w, [&](lpt_loss_scaler *scaler) { return lpt_loss_scaler_state_load(w.c, scaler, nullptr, 60); });
     }},
    {"loss_scaler_state_load: state of a scaler of casts",
     LPT_INVALID_STATE,
     {"kind 1", "expected 6"},
     [](World &w) { return load(w, w.scaler_state); }},
    {"loss_scaler_state_load: too large a scale",
     LPT_INVALID_STATE,
     {"scale is 2048", "expected 1 to 1024"},
     [](World &w) { return load(w, state_of_scale(w, 2048.0)); }},
    {"loss_scaler_state_load: too small a scale",
     LPT_INVALID_STATE,
     {"scale is 0.5", "expected 1 to 1024"},
     [](World &w) { return load(w, state_of_scale(w, 0.5)); }},
    {"loss_scaler_state_load: a skipped step, but no step",
     LPT_INVALID_STATE,
     {"is_stepped is 0 and is_skipped is 1"},
     [](World &w) {
       std::vector<uint8_t> state = state_of_scale(w, 8.0);
       state[56] = 1;
       return load(w, states::resealed(state));
     }},
    {"loss_scaler_state_load: a longer state",
     LPT_INVALID_STATE,
     {"saved state", "another length"},
     [](World &w) {
       std::vector<uint8_t> state = state_of_scale(w, 8.0);
       state.push_back(0);
       return load(w, states::resealed(state));
     }},
    {"optimizer_step: a scaler of casts",
     LPT_INVALID_ARGUMENT,
     {"loss_scaler is not a live handle"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.parameter,
                   [&](auto &o) { o.loss_scaler = cast<lpt_loss_scaler>(w.scaler.get()); });
     }},
    {"optimizer_step: a loss scaler and an infinite factor",
     LPT_INVALID_ARGUMENT,
     {"gradient_scale is inf"},
     [](World &w) { return step_with(w, [](auto &o) { o.gradient_scale = HUGE_VAL; }); }},
    {"optimizer_step: a loss scaler and a negative rate",
     LPT_INVALID_ARGUMENT,
     {"learning_rate is -1"},
     [](World &w) { return step_with(w, [](auto &o) { o.learning_rate = -1.0; }); }},
    {"optimizer_step: a quotient beyond f32",
     LPT_INVALID_ARGUMENT,
     {"gradient_scale is 1e+38", "scale of loss_scaler is 0.125"},
     [](World &w) {
       lpt_loss_scaler_options options = LPT_LOSS_SCALER_OPTIONS_INIT;
       options.initial_scale = 0.125;
       LossScaler scaler;
       EXPECT_TRUE(ok(w.owner.get(), lpt_loss_scaler_create(w.owner.get(), &options, out(scaler))));
       return step(w, {0, 1}, w.gradient, w.parameter, [&](auto &o) {
         o.loss_scaler = scaler.get();
         o.gradient_scale = 1e38;
       });
     }},
};

}  // namespace lpt::test
