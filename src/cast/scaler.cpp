#include "src/cast/scaler.hpp"

#include <cfloat>
#include <cstring>

#include "src/call/launch.hpp"

namespace lpt {
namespace {

// Returns the bytes of device memory: ScalerNumbers, then the history.
size_t bytes_of(const Scaler &scaler) { return sizeof(ScalerNumbers) + scaler.history.size() * sizeof(float); }

Status copy(const Queue &queue, void *target, const void *source, size_t bytes) {
  const auto count = static_cast<int64_t>(bytes);
  LPT_TRY(queue.copy({target, count, source, count, count, 1}));
  return queue.synchronize();
}

float latest_entry(const Scaler &scaler) {
  const int64_t latest = (scaler.update_count + scaler.options.history_length - 1) % scaler.options.history_length;
  return scaler.history[static_cast<size_t>(latest)];
}

// Returns the share of the latest entry in the next one.
float share_of_latest(const Scaler &scaler) { return scaler.update_count == 0 ? 0.0f : scaler.options.history_decay; }

Status update_scaler_on_device(Context &context, Scaler &scaler) {
  if (!scaler.is_recorded) return {};
  auto *const history = reinterpret_cast<float *>(scaler.there.get() + sizeof(ScalerNumbers));
  const int32_t length = scaler.options.history_length;
  const ScalerUpdateRequest request = {numbers_of(scaler),
                                       history,
                                       length,
                                       static_cast<int32_t>(scaler.update_count % length),
                                       scaler.options.history_rule,
                                       share_of_latest(scaler)};
  const KernelEntry<ScalerUpdateRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "scaler_update", request, {LPT_FORMAT_F32}, &kernel));
  LPT_TRY(queue_kernel(context, *kernel, request));
  ++scaler.update_count;
  scaler.is_recorded = false;
  return {};
}

}  // namespace

Status check_scaler_options(const lpt_scaler_options &options) {
  if (options.kind < LPT_SCALER_KIND_CURRENT || options.kind > LPT_SCALER_KIND_DELAYED) {
    return invalid("kind is %d: expected 0 to %d", options.kind, LPT_SCALER_KIND_DELAYED);
  }
  if (options.history_length < 1 || options.history_length > 65536) {
    return invalid("history_length is %d: expected 1 to 65536", options.history_length);
  }
  if (options.margin < -64 || options.margin > 64) {
    return invalid("margin is %d: expected -64 to 64", options.margin);
  }
  if (options.history_rule < LPT_SCALER_HISTORY_RULE_MAX || options.history_rule > LPT_SCALER_HISTORY_RULE_AVERAGE) {
    return invalid("history_rule is %d: expected 0 to %d", options.history_rule, LPT_SCALER_HISTORY_RULE_AVERAGE);
  }
  if (options.zero_rule < LPT_SCALER_ZERO_RULE_USE_CURRENT || options.zero_rule > LPT_SCALER_ZERO_RULE_USE_LAST) {
    return invalid("zero_rule is %d: expected 0 to %d", options.zero_rule, LPT_SCALER_ZERO_RULE_USE_LAST);
  }
  if (!(options.history_decay >= 0.0f && options.history_decay < 1.0f)) {
    return invalid("history_decay is %g: expected 0 to below 1", static_cast<double>(options.history_decay));
  }
  if (options.history_decay != 0.0f && options.history_rule != LPT_SCALER_HISTORY_RULE_AVERAGE) {
    return invalid("history_decay is %g with history_rule %d: expected 0, or LPT_SCALER_HISTORY_RULE_AVERAGE",
                   static_cast<double>(options.history_decay), options.history_rule);
  }
  return {};
}

Scaler make_scaler(const lpt_scaler_options &options) {
  Scaler scaler;
  scaler.options = options;
  scaler.history.assign(static_cast<size_t>(options.history_length), 0.0f);
  return scaler;
}

Status create_scaler(const Context &context, const lpt_scaler_options &options, Scaler **out_scaler) {
  auto scaler = std::make_unique<Scaler>(make_scaler(options));
  if (!is_on_cpu(context)) LPT_TRY(send_scaler(context, *scaler));
  *out_scaler = scaler.release();
  return {};
}

Status check_place(const Context &context, const Scaler &scaler, const char *name) {
  const Device &here = context.queue.device();
  if (scaler.device == here) return {};
  return invalid("%s keeps its history on %s: expected one of a context on %s", name,
                 device_text(scaler.device).c_str(), device_text(here).c_str());
}

ScalerNumbers *numbers_of(const Scaler &scaler) { return reinterpret_cast<ScalerNumbers *>(scaler.there.get()); }

Status send_scaler(const Context &context, Scaler &scaler) {
  std::vector<std::byte> bytes(bytes_of(scaler));
  const ScalerNumbers numbers = {history_amax(scaler), scaler.kept_amax, scaler.running_amax};
  std::memcpy(bytes.data(), &numbers, sizeof numbers);
  std::memcpy(bytes.data() + sizeof numbers, scaler.history.data(), scaler.history.size() * sizeof(float));
  if (scaler.there == nullptr) LPT_TRY(allocate_uncleared(context.device_allocator, bytes.size(), scaler.there));
  scaler.device = context.queue.device();
  return copy(context.queue, scaler.there.get(), bytes.data(), bytes.size());
}

Status fetch_scaler(const Context &context, const Scaler &scaler, Scaler &out_here) {
  LPT_TRY(check_place(context, scaler, "scaler"));
  out_here = scaler;
  if (scaler.there == nullptr) return {};
  std::vector<std::byte> bytes(bytes_of(scaler));
  LPT_TRY(copy(context.queue, bytes.data(), scaler.there.get(), bytes.size()));
  ScalerNumbers numbers;
  std::memcpy(&numbers, bytes.data(), sizeof numbers);
  std::memcpy(out_here.history.data(), bytes.data() + sizeof numbers, scaler.history.size() * sizeof(float));
  out_here.kept_amax = numbers.kept_amax;
  out_here.running_amax = numbers.running_amax;
  return {};
}

Status update_scaler(Context &context, Scaler &scaler) {
  if (scaler.there != nullptr) return update_scaler_on_device(context, scaler);
  update_scaler(scaler);
  return {};
}

void update_scaler(Scaler &scaler) {
  if (!scaler.is_recorded) return;
  const float entry = averaged_amax(share_of_latest(scaler), latest_entry(scaler), scaler.running_amax);
  scaler.history[static_cast<size_t>(scaler.update_count % scaler.options.history_length)] = entry;
  ++scaler.update_count;
  scaler.running_amax = 0.0f;
  scaler.is_recorded = false;
  const float amax = history_amax(scaler);
  if (amax > 0.0f) scaler.kept_amax = amax;
}

void record_amax(Scaler &scaler, float amax) {
  if (amax > scaler.running_amax) scaler.running_amax = amax;
  scaler.is_recorded = true;
}

float history_amax(const Scaler &scaler) {
  float amax = 0.0f;
  if (scaler.options.history_rule != LPT_SCALER_HISTORY_RULE_MAX) return latest_entry(scaler);
  for (const float value : scaler.history) amax = value > amax ? value : amax;
  return amax;
}

float with_margin(const Scaler &scaler, float amax) { return amax_with_margin(amax, scaler.options.margin); }

bool has_delayed_amax(const Scaler &scaler, float &out_amax) {
  if (scaler.options.kind != LPT_SCALER_KIND_DELAYED) return false;
  float amax = history_amax(scaler);
  if (amax == 0.0f && scaler.options.zero_rule == LPT_SCALER_ZERO_RULE_USE_LAST) amax = scaler.kept_amax;
  if (amax == 0.0f && scaler.options.zero_rule == LPT_SCALER_ZERO_RULE_USE_CURRENT) return false;
  out_amax = with_margin(scaler, amax);
  return true;
}

lpt_scaler_info scaler_values(const Scaler &scaler) {
  lpt_scaler_info values = LPT_SCALER_INFO_INIT;
  values.amax = history_amax(scaler);
  values.running_amax = scaler.running_amax;
  values.update_count = scaler.update_count;
  return values;
}

namespace {

bool has_rules(const lpt_scaler_options &options) {
  return options.history_rule != LPT_SCALER_HISTORY_RULE_MAX || options.zero_rule != LPT_SCALER_ZERO_RULE_USE_CURRENT;
}

}  // namespace

void write_scaler(const Scaler &scaler, BlobWriter &writer) {
  writer.u32(static_cast<uint32_t>(scaler.options.kind));
  writer.u32(static_cast<uint32_t>(scaler.options.history_length));
  writer.u32(static_cast<uint32_t>(scaler.options.margin));
  writer.u32(scaler.is_recorded ? 1 : 0);
  writer.f32(scaler.running_amax);
  writer.i64(scaler.update_count);
  for (const float value : scaler.history) writer.f32(value);
  // The format of the blob precedes these members. They are written only if an option differs from its default.
  if (!has_rules(scaler.options)) return;
  writer.u32(static_cast<uint32_t>(scaler.options.history_rule));
  writer.u32(static_cast<uint32_t>(scaler.options.zero_rule));
  writer.f32(scaler.kept_amax);
  if (scaler.options.history_rule == LPT_SCALER_HISTORY_RULE_AVERAGE) writer.f32(scaler.options.history_decay);
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
  const uint32_t is_recorded = reader.u32();
  if (is_recorded > 1) return blob_mismatch("the scaler's is_recorded", is_recorded, 1);
  out_scaler.is_recorded = is_recorded == 1;
  out_scaler.running_amax = reader.f32();
  LPT_TRY(read_count(reader, "the scaler's update_count", out_scaler.update_count));
  for (float &value : out_scaler.history) value = reader.f32();
  if (has_rules(expected.options)) {
    const auto history_rule = static_cast<int32_t>(reader.u32());
    const auto zero_rule = static_cast<int32_t>(reader.u32());
    out_scaler.kept_amax = reader.f32();
    const lpt_scaler_options &options = expected.options;
    if (reader.is_ok() && history_rule != options.history_rule) {
      return blob_mismatch("the scaler's history_rule", history_rule, options.history_rule);
    }
    if (reader.is_ok() && zero_rule != options.zero_rule) {
      return blob_mismatch("the scaler's zero_rule", zero_rule, options.zero_rule);
    }
    const bool has_decay = options.history_rule == LPT_SCALER_HISTORY_RULE_AVERAGE;
    const float decay = has_decay ? reader.f32() : 0.0f;
    if (reader.is_ok() && decay != options.history_decay) {
      return Status(LPT_INVALID_STATE, text("saved state: the scaler's history_decay is %g, expected %g",
                                            static_cast<double>(decay), static_cast<double>(options.history_decay)));
    }
  }
  if (!reader.is_ok()) return Status(LPT_INVALID_STATE, "saved state: the scaler's history is truncated");
  bool is_sane = out_scaler.running_amax >= 0.0f && out_scaler.running_amax <= FLT_MAX;
  for (const float value : out_scaler.history) is_sane = is_sane && value >= 0.0f && value <= FLT_MAX;
  is_sane = is_sane && out_scaler.kept_amax >= 0.0f && out_scaler.kept_amax <= FLT_MAX;
  if (!is_sane) return Status(LPT_INVALID_STATE, "saved state: the scaler holds an amax that is none");
  return {};
}

}  // namespace lpt
