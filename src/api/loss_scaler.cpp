#include "src/optimizer/loss_scaler.hpp"

#include <memory>

#include "src/api/guard.hpp"

using namespace lpt;

namespace {

Status check_loss_scaler(const lpt_loss_scaler *loss_scaler) {
  return check_handle(loss_scaler, HandleKind::kLossScaler, "loss_scaler");
}

}  // namespace

lpt_status lpt_loss_scaler_create(lpt_context *context, const lpt_loss_scaler_options *options,
                                  lpt_loss_scaler **out_loss_scaler) {
  return guard(context, [&](Context &) -> Status {
    lpt_loss_scaler_options known = LPT_LOSS_SCALER_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_out(out_loss_scaler, "out_loss_scaler"));
    auto made = std::make_unique<LossScaler>();
    LPT_TRY(create_loss_scaler(known, *made));
    *out_loss_scaler = made.release();
    return {};
  });
}

void lpt_loss_scaler_destroy(lpt_loss_scaler *loss_scaler) { destroy(loss_scaler, HandleKind::kLossScaler); }

lpt_status lpt_loss_scaler_update(lpt_context *context, lpt_loss_scaler *loss_scaler) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_loss_scaler(loss_scaler));
    return update_loss_scaler(*loss_scaler);
  });
}

lpt_status lpt_loss_scaler_read(lpt_context *context, const lpt_loss_scaler *loss_scaler,
                                lpt_loss_scaler_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_loss_scaler(loss_scaler));
    const LossScalerState &state = loss_scaler->state;
    lpt_loss_scaler_info values = LPT_LOSS_SCALER_INFO_INIT;
    values.scale = static_cast<double>(state.scale);
    values.finite_count = state.finite_count;
    values.skipped_count = state.skipped_count;
    values.is_skipped = state.is_skipped ? 1 : 0;
    return write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_loss_scaler_state_size(lpt_context *context, const lpt_loss_scaler *loss_scaler,
                                      size_t *out_size_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_loss_scaler(loss_scaler));
    LPT_TRY(check_out(out_size_bytes, "out_size_bytes"));
    *out_size_bytes = loss_scaler_state_bytes(*loss_scaler);
    return {};
  });
}

lpt_status lpt_loss_scaler_state_save(lpt_context *context, const lpt_loss_scaler *loss_scaler, void *buffer,
                                      size_t buffer_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_loss_scaler(loss_scaler));
    LPT_TRY(check_out(buffer, "buffer"));
    return save_loss_scaler(*loss_scaler, buffer, buffer_bytes);
  });
}

lpt_status lpt_loss_scaler_state_load(lpt_context *context, lpt_loss_scaler *loss_scaler, const void *buffer,
                                      size_t buffer_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_loss_scaler(loss_scaler));
    if (buffer == nullptr) return invalid("buffer is NULL: expected a saved state");
    return load_loss_scaler(*loss_scaler, buffer, buffer_bytes);
  });
}
