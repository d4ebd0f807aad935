#include "src/ops/scaler.hpp"

#include <cfloat>
#include <cmath>

namespace lpt {

Status check_scaler_options(const lpt_scaler_options &options) {
  if (options.kind < LPT_SCALER_CURRENT || options.kind > LPT_SCALER_DELAYED) {
    return invalid("kind is %d: expected 0 to %d", options.kind, LPT_SCALER_DELAYED);
  }
  if (options.history_length < 1 || options.history_length > 65536) {
    return invalid("history_length is %d: expected 1 to 65536", options.history_length);
  }
  if (options.margin < -64 || options.margin > 64) {
    return invalid("margin is %d: expected -64 to 64", options.margin);
  }
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return {};
}

Scaler make_scaler(const lpt_scaler_options &options) {
  Scaler scaler;
  scaler.options = options;
  scaler.history.assign(static_cast<size_t>(options.history_length), 0.0f);
  return scaler;
}

void update_scaler(Scaler &scaler) {
  if (!scaler.is_recorded) return;
  scaler.history[static_cast<size_t>(scaler.update_count % scaler.options.history_length)] = scaler.running_amax;
  ++scaler.update_count;
  scaler.running_amax = 0.0f;
  scaler.is_recorded = false;
}

void record_amax(Scaler &scaler, float amax) {
  if (amax > scaler.running_amax) scaler.running_amax = amax;
  scaler.is_recorded = true;
}

float history_amax(const Scaler &scaler) {
  float amax = 0.0f;
  for (const float value : scaler.history) amax = value > amax ? value : amax;
  return amax;
}

float with_margin(const Scaler &scaler, float amax) {
  const double wide = std::ldexp(static_cast<double>(amax), scaler.options.margin);
  return wide > static_cast<double>(FLT_MAX) ? FLT_MAX : static_cast<float>(wide);
}

bool has_delayed_amax(const Scaler &scaler, float &out_amax) {
  if (scaler.options.kind != LPT_SCALER_DELAYED) return false;
  const float amax = history_amax(scaler);
  if (amax == 0.0f) return false;  // nothing is known yet: a scale of 1 would clip or flush
  out_amax = with_margin(scaler, amax);
  return true;
}

lpt_scaler_values scaler_values(const Scaler &scaler) {
  lpt_scaler_values values = LPT_SCALER_VALUES_INIT;
  values.amax = history_amax(scaler);
  values.running_amax = scaler.running_amax;
  values.update_count = scaler.update_count;
  return values;
}

void write_scaler(const Scaler &scaler, BlobWriter &writer) {
  writer.u32(static_cast<uint32_t>(scaler.options.kind));
  writer.u32(static_cast<uint32_t>(scaler.options.history_length));
  writer.u32(static_cast<uint32_t>(scaler.options.margin));
  writer.u32(scaler.is_recorded ? 1 : 0);
  writer.f32(scaler.running_amax);
  writer.i64(scaler.update_count);
  for (const float value : scaler.history) writer.f32(value);
}

Status read_scaler(BlobReader &reader, const Scaler &expected, Scaler &out_scaler) {
  const auto kind = static_cast<int32_t>(reader.u32());
  const auto length = static_cast<int32_t>(reader.u32());
  const auto margin = static_cast<int32_t>(reader.u32());
  if (kind != expected.options.kind) return blob_mismatch("the scaler's kind", kind, expected.options.kind);
  if (length != expected.options.history_length) {
    return blob_mismatch("the scaler's history_length", length, expected.options.history_length);
  }
  if (margin != expected.options.margin) return blob_mismatch("the scaler's margin", margin, expected.options.margin);
  out_scaler = make_scaler(expected.options);
  out_scaler.is_recorded = reader.u32() != 0;
  out_scaler.running_amax = reader.f32();
  out_scaler.update_count = reader.i64();
  for (float &value : out_scaler.history) value = reader.f32();
  if (!reader.is_ok()) return Status(LPT_INVALID_STATE, "saved state: the scaler's history is truncated");
  bool is_sane = out_scaler.update_count >= 0 && out_scaler.running_amax >= 0.0f && out_scaler.running_amax <= FLT_MAX;
  for (const float value : out_scaler.history) is_sane = is_sane && value >= 0.0f && value <= FLT_MAX;
  if (!is_sane) return Status(LPT_INVALID_STATE, "saved state: the scaler holds an amax that is none");
  return {};
}

}  // namespace lpt
