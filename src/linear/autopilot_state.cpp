// Saved states of an autopilot.
#include <cmath>

#include "src/base/blob.hpp"
#include "src/linear/autopilot.hpp"

namespace lpt {
namespace {

void write_decision(const lpt_autopilot_decision &decision, BlobWriter &writer) {
  writer.i64(decision.step);
  for (const int32_t member :
       {decision.layer, decision.gemm, decision.old_level, decision.new_level, decision.reason, decision.reserved}) {
    writer.u32(static_cast<uint32_t>(member));
  }
  writer.f64(decision.value);
  writer.f64(decision.limit);
}

void read_decision(BlobReader &reader, lpt_autopilot_decision &decision) {
  decision.step = reader.i64();
  for (int32_t *member : {&decision.layer, &decision.gemm, &decision.old_level, &decision.new_level, &decision.reason,
                          &decision.reserved}) {
    *member = static_cast<int32_t>(reader.u32());
  }
  decision.value = reader.f64();
  decision.limit = reader.f64();
}

void write_gemm(const GemmLevel &gemm, BlobWriter &writer) {
  writer.u32(static_cast<uint32_t>(gemm.level));
  writer.u32(static_cast<uint32_t>(gemm.reason));
  writer.i64(gemm.calm);
  for (const double mean : gemm.mean_amax) writer.f64(mean);
  writer.f64(gemm.report.nan_count);
  writer.f64(gemm.report.clipped);
  for (const double amax : gemm.report.amax) writer.f64(amax);
  writer.f64(gemm.report.error);
}

void read_gemm(BlobReader &reader, GemmLevel &gemm) {
  gemm.level = static_cast<int32_t>(reader.u32());
  gemm.reason = static_cast<int32_t>(reader.u32());
  gemm.calm = reader.i64();
  for (double &mean : gemm.mean_amax) mean = reader.f64();
  gemm.report.nan_count = reader.f64();
  gemm.report.clipped = reader.f64();
  for (double &amax : gemm.report.amax) amax = reader.f64();
  gemm.report.error = reader.f64();
}

BlobWriter write_state(const Autopilot &autopilot) {
  const lpt_autopilot::State &state = autopilot.state;
  BlobWriter writer(BlobKind::kAutopilot);
  writer.i64(static_cast<int64_t>(autopilot.costs.size()));
  writer.i64(static_cast<int64_t>(autopilot.shares.size()));
  writer.i64(autopilot.options.step_count);
  writer.i64(state.steps_done);
  writer.f64(state.spent);
  writer.f64(state.mean_loss);
  writer.f64(state.loss_variance);
  writer.i64(state.loss_count);
  for (const GemmLevel &gemm : state.gemms) write_gemm(gemm, writer);
  for (const double alignment : state.alignment) writer.f64(alignment);
  for (const double ratio : state.noise_ratio) writer.f64(ratio);
  writer.i64(static_cast<int64_t>(state.log.size()));
  for (const lpt_autopilot_decision &decision : state.log) write_decision(decision, writer);
  return writer;
}

Status expect(const char *what, long long found, long long expected) {
  return found == expected ? Status() : blob_mismatch(what, found, expected);
}

// Checks what the arithmetic of the autopilot relies on.
Status check_state(const lpt_autopilot::State &state, const Autopilot &autopilot) {
  if (state.steps_done < 0 || state.steps_done > autopilot.options.step_count) {
    return damaged_state("steps_done is out of range");
  }
  if (!(state.spent >= 0) || !std::isfinite(state.spent) || !std::isfinite(state.mean_loss) ||
      !(state.loss_variance >= 0) || state.loss_count < 0 || state.loss_count > state.steps_done) {
    return damaged_state("a mean or the cost is out of range");
  }
  for (const GemmLevel &gemm : state.gemms) {
    const bool is_level = gemm.level >= 0 && gemm.level < static_cast<int64_t>(autopilot.costs.size());
    const bool is_reason = gemm.reason >= 0 && gemm.reason <= LPT_AUTOPILOT_REASON_CALM;
    if (!is_level || !is_reason || gemm.calm < 0 || gemm.calm > state.steps_done) {
      return damaged_state("a level is out of range");
    }
    for (const double value : {gemm.mean_amax[0], gemm.mean_amax[1], gemm.report.amax[0], gemm.report.amax[1],
                               gemm.report.nan_count, gemm.report.clipped, gemm.report.error}) {
      if (!(value >= 0) || !std::isfinite(value)) return damaged_state("a report is out of range");
    }
  }
  return {};
}

}  // namespace

size_t autopilot_state_bytes(const Autopilot &autopilot) { return write_state(autopilot).size_bytes(); }

Status save_autopilot(const Autopilot &autopilot, void *buffer, size_t buffer_bytes) {
  return write_state(autopilot).save(buffer, buffer_bytes);
}

Status load_autopilot(Autopilot &autopilot, const void *buffer, size_t buffer_bytes) {
  BlobReader reader;
  LPT_TRY(BlobReader::open(BlobKind::kAutopilot, buffer, buffer_bytes, reader));
  LPT_TRY(expect("level_count", reader.i64(), static_cast<long long>(autopilot.costs.size())));
  LPT_TRY(expect("layer_count", reader.i64(), static_cast<long long>(autopilot.shares.size())));
  LPT_TRY(expect("step_count", reader.i64(), autopilot.options.step_count));
  lpt_autopilot::State loaded = autopilot.state;
  loaded.steps_done = reader.i64();
  loaded.spent = reader.f64();
  loaded.mean_loss = reader.f64();
  loaded.loss_variance = reader.f64();
  loaded.loss_count = reader.i64();
  for (GemmLevel &gemm : loaded.gemms) read_gemm(reader, gemm);
  for (double &alignment : loaded.alignment) alignment = reader.f64();
  for (double &ratio : loaded.noise_ratio) ratio = reader.f64();
  int64_t count = 0;
  LPT_TRY(read_count(reader, "decision_count", count));
  constexpr int64_t kDecisionBytes = 48;
  if (!reader.is_ok() || static_cast<int64_t>(reader.left_bytes()) / kDecisionBytes != count ||
      reader.left_bytes() % kDecisionBytes != 0) {
    return damaged_state(text("it has %zu bytes of decisions, expected %lld of %lld bytes", reader.left_bytes(),
                              static_cast<long long>(count), static_cast<long long>(kDecisionBytes)));
  }
  loaded.log.resize(static_cast<size_t>(count));
  for (lpt_autopilot_decision &decision : loaded.log) read_decision(reader, decision);
  LPT_TRY(check_state(loaded, autopilot));
  autopilot.state = std::move(loaded);
  autopilot.replayed.clear();
  autopilot.is_replay = false;
  return {};
}

}  // namespace lpt
