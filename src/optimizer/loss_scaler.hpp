// A factor of the loss. Steps divide gradients by it and record whether they were skipped; updates change it.
#pragma once

#include "src/call/context.hpp"

namespace lpt {

// All that changes. Saved states contain it.
struct LossScalerState {
  float scale = 0.0f;
  int64_t finite_count = 0;   // updates without a skipped step since the last growth or skipped step
  int64_t skipped_count = 0;  // updates with a skipped step
  bool is_stepped = false;    // a step used the scale since the last update
  bool is_skipped = false;    // such a step was skipped
};

}  // namespace lpt

struct lpt_loss_scaler {
  lpt::HandleKind kind = lpt::HandleKind::kLossScaler;
  lpt_loss_scaler_options options;
  float min_scale, max_scale;  // those of the options
  lpt::LossScalerState state;
};

namespace lpt {

using LossScaler = lpt_loss_scaler;

Status create_loss_scaler(const lpt_loss_scaler_options &options, LossScaler &out_scaler);
Status update_loss_scaler(LossScaler &scaler);
size_t loss_scaler_state_bytes(const LossScaler &scaler);
Status save_loss_scaler(const LossScaler &scaler, void *buffer, size_t buffer_bytes);
Status load_loss_scaler(LossScaler &scaler, const void *buffer, size_t buffer_bytes);

// Checks the loss scaler of a step. Sets the factor of the gradients, and that the step is skipped if one is not finite.
Status unscale(lpt_optimizer_step_options &options);

// Records a step. `scaler` may be NULL.
void record_step(LossScaler *scaler, bool is_skipped);

}  // namespace lpt
