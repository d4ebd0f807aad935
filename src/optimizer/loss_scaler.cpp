#include "src/optimizer/loss_scaler.hpp"

#include <cfloat>
#include <cmath>

#include "src/base/blob.hpp"
#include "src/call/operation.hpp"

namespace lpt {
namespace {

constexpr double kLeast = 0x1p-126;
constexpr double kMost = 0x1p126;

BlobWriter write_state(const LossScaler &scaler) {
  const LossScalerState &state = scaler.state;
  BlobWriter writer(BlobKind::kLossScaler);
  writer.f32(state.scale);
  writer.i64(state.finite_count);
  writer.i64(state.skipped_count);
  writer.u32(state.is_stepped ? 1 : 0);
  writer.u32(state.is_skipped ? 1 : 0);
  return writer;
}

bool is_in_range(const LossScaler &scaler, double scale) {
  return scale >= static_cast<double>(scaler.min_scale) && scale <= static_cast<double>(scaler.max_scale);
}

// A product is computed in f64 and rounded once, as torch does.
void multiply(LossScaler &scaler, double factor) {
  const double scale = static_cast<double>(scaler.state.scale) * factor;
  if (is_in_range(scaler, scale)) scaler.state.scale = static_cast<float>(scale);
}

}  // namespace

Status create_loss_scaler(const lpt_loss_scaler_options &options, LossScaler &out_scaler) {
  LPT_TRY(check_finite("min_scale", options.min_scale, kLeast, kMost));
  LPT_TRY(check_finite("max_scale", options.max_scale, options.min_scale, kMost));
  LPT_TRY(check_finite("initial_scale", options.initial_scale, options.min_scale, options.max_scale));
  LPT_TRY(check_finite("growth_factor", options.growth_factor, 1.0, kMost));
  LPT_TRY(check_finite("backoff_factor", options.backoff_factor, kLeast, 1.0));
  if (options.growth_interval < 1) {
    return invalid("growth_interval is %lld: expected at least 1", number(options.growth_interval));
  }
  out_scaler.options = options;
  // As f32: gcc 12 omits the rounding of two adjacent values that are rounded to f32 and stored as f64 (-O2, SSE2).
  out_scaler.min_scale = static_cast<float>(options.min_scale);
  out_scaler.max_scale = static_cast<float>(options.max_scale);
  out_scaler.state.scale = static_cast<float>(options.initial_scale);
  return {};
}

Status update_loss_scaler(LossScaler &scaler) {
  LossScalerState &state = scaler.state;
  if (!state.is_stepped) {
    return invalid("loss_scaler has no step since its last update: expected a step with it in its options");
  }
  if (state.is_skipped) {
    multiply(scaler, scaler.options.backoff_factor);
    state.finite_count = 0;
    ++state.skipped_count;
  } else if (++state.finite_count >= scaler.options.growth_interval) {
    multiply(scaler, scaler.options.growth_factor);
    state.finite_count = 0;
  }
  state.is_stepped = state.is_skipped = false;
  return {};
}

size_t loss_scaler_state_bytes(const LossScaler &scaler) { return write_state(scaler).size_bytes(); }

Status save_loss_scaler(const LossScaler &scaler, void *buffer, size_t buffer_bytes) {
  return write_state(scaler).save(buffer, buffer_bytes);
}

Status load_loss_scaler(LossScaler &scaler, const void *buffer, size_t buffer_bytes) {
  BlobReader reader;
  LPT_TRY(BlobReader::open(BlobKind::kLossScaler, buffer, buffer_bytes, reader));
  LossScalerState loaded;
  loaded.scale = reader.f32();
  LPT_TRY(read_count(reader, "finite_count", loaded.finite_count));
  LPT_TRY(read_count(reader, "skipped_count", loaded.skipped_count));
  const uint32_t is_stepped = reader.u32(), is_skipped = reader.u32();
  if (!reader.is_ok() || reader.left_bytes() != 0) return damaged_state("it has another length than its kind");
  if (is_stepped > 1 || is_skipped > is_stepped) {
    return damaged_state(
        text("is_stepped is %u and is_skipped is %u, expected 0 and 0, 1 and 0, or 1 and 1", is_stepped, is_skipped));
  }
  const auto scale = static_cast<double>(loaded.scale);
  if (!is_in_range(scaler, scale)) {
    return damaged_state(
        text("scale is %g, expected %g to %g", scale, scaler.options.min_scale, scaler.options.max_scale));
  }
  loaded.is_stepped = is_stepped == 1;
  loaded.is_skipped = is_skipped == 1;
  scaler.state = loaded;
  return {};
}

Status unscale(lpt_optimizer_step_options &options) {
  if (options.loss_scaler == nullptr) return {};
  if (options.loss_scaler->kind != HandleKind::kLossScaler) {
    return invalid("loss_scaler is not a live handle of its kind");
  }
  const auto scale = static_cast<double>(options.loss_scaler->state.scale);
  const double factor = options.gradient_scale / scale;
  if (std::abs(factor) > static_cast<double>(FLT_MAX)) {
    return invalid("gradient_scale is %g: expected at most %g in magnitude, as the scale of loss_scaler is %g",
                   options.gradient_scale, static_cast<double>(FLT_MAX) * scale, scale);
  }
  options.gradient_scale = factor;
  options.is_nonfinite_skipped = 1;
  return {};
}

void record_step(LossScaler *scaler, bool is_skipped) {
  if (scaler == nullptr) return;
  scaler->state.is_stepped = true;
  scaler->state.is_skipped |= is_skipped;
}

}  // namespace lpt
