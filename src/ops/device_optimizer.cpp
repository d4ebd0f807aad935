#include "src/ops/device_optimizer.hpp"

#include "kernels/optimizer/cuda_found.hpp"
#include "src/formats/block_scale.hpp"
#include "src/ops/device.hpp"

namespace lpt {
namespace {

// ---- the norm

int64_t block_count(const MatrixView &gradient) { return (gradient.columns + kNormBlock - 1) / kNormBlock; }

struct NormRows {
  std::vector<const DeviceRow<NormRequest> *> norms;  // one for each gradient
  const DeviceRow<ClipRequest> *clip = nullptr;
  std::byte *sums = nullptr;  // of all blocks
  int64_t block_count = 0;
};

// All that can be refused.
Status choose_norm(Context &context, const std::vector<MatrixView> &gradients, NormRows &rows) {
  for (const MatrixView &gradient : gradients) {
    const NormRequest request{gradient.data, gradient.format.element, 0, gradient.columns, nullptr, nullptr};
    const DeviceRow<NormRequest> *row = nullptr;
    LPT_TRY(choose_on_device(context, "gradient_norm", request, {gradient.format.id}, &row));
    rows.norms.push_back(row);
    rows.block_count += block_count(gradient);
  }
  LPT_TRY(choose_on_device(context, "clip", ClipRequest{}, {LPT_FORMAT_F64}, &rows.clip));
  return take_on_device(context, static_cast<size_t>(rows.block_count) * sizeof(double), &rows.sums);
}

// `clip` lacks the sums alone.
Status run_norm(Context &context, const std::vector<MatrixView> &gradients, const NormRows &rows, ClipRequest clip) {
  auto *sums = reinterpret_cast<double *>(rows.sums);
  clip.sums = sums;
  clip.count = rows.block_count;
  LPT_TRY(context.queue.fill(clip.facts, 0, sizeof *clip.facts));
  for (size_t i = 0; i < gradients.size(); ++i) {
    const MatrixView &gradient = gradients[i];
    LPT_TRY(
        queue_row(context, *rows.norms[i],
                  {gradient.data, gradient.format.element, 0, gradient.columns, sums, &clip.facts->nonfinite_count}));
    sums += block_count(gradient);
  }
  return queue_row(context, *rows.clip, clip);
}

Status fetch_facts(Context &context, const void *facts, GradientFacts &out_facts) {
  constexpr int64_t kBytes = sizeof out_facts;
  LPT_TRY(context.queue.copy({&out_facts, kBytes, facts, kBytes, kBytes, 1}));
  return context.queue.synchronize();
}

// ---- a step

using ScalesRow = const DeviceRow<StepScalesRequest> *;

StepScales *scales_at(const OptimizerParameter &parameter, int32_t turn) {
  return reinterpret_cast<StepScales *>(parameter.whole_scales.data()) + turn;
}

StepScalesRequest scales_request(const OptimizerParameter &parameter) {
  StepScalesRequest request{};
  const Moment *const moments[2] = {&parameter.first, &parameter.second};
  for (int k = 0; k < 2; ++k) {
    request.largest[k] = moments[k]->has_scale ? largest_of(moments[k]->element) : 0.0f;
    request.is_delayed[k] = moments[k]->scaling == LPT_SCALER_DELAYED;
  }
  request.stored = scales_at(parameter, parameter.turn);
  request.wanted = scales_at(parameter, 1 - parameter.turn);
  return request;
}

// Which amax of the last step makes looking needless: where another moment asks for its own there is none.
uint32_t delayed_moments(const OptimizerParameter &parameter) {
  uint32_t delayed = 0;
  const Moment *const moments[2] = {&parameter.first, &parameter.second};
  for (uint32_t k = 0; k < 2; ++k) {
    if (moments[k]->has_scale && moments[k]->scaling != LPT_SCALER_DELAYED) return 0;
    if (moments[k]->has_scale) delayed |= 1u << k;
  }
  return delayed;
}

// Measured, new scales, stored. What was stored stays valid until then: the turn is the host's.
Status queue_scaled(Context &context, ScalesRow row, StepWork &work) {
  OptimizerParameter &parameter = *work.parameter;
  const StepScalesRequest scales = scales_request(parameter);
  StepRequest request = work.request;
  request.stored = scales.stored;
  request.wanted = scales.wanted;
  request.amax = scales.wanted->amax;
  request.delayed = delayed_moments(parameter);
  request.is_measure = true;
  LPT_TRY(context.queue.fill(scales.wanted, 0, sizeof *scales.wanted));
  LPT_TRY(queue_row(context, *work.device_row, request));
  LPT_TRY(queue_row(context, *row, scales));
  request.is_measure = false;
  if (!work.is_recording) request.amax = nullptr;
  LPT_TRY(queue_row(context, *work.device_row, request));
  parameter.turn = 1 - parameter.turn;
  return {};
}

bool has_scales(const StepWork &work) { return work.parameter->has_whole_scales(); }

}  // namespace

Status queue_norm(Context &context, const Optimizer &optimizer, const lpt_step_options &options,
                  std::vector<StepWork> &works) {
  auto *const facts = reinterpret_cast<GradientFacts *>(optimizer.facts.get());
  std::vector<MatrixView> gradients;
  for (StepWork &work : works) {
    gradients.push_back(work.gradient);
    work.request.gradients = facts;
  }
  NormRows rows;
  LPT_TRY(choose_norm(context, gradients, rows));
  return run_norm(context, gradients, rows, {nullptr, 0, options.gradient_scale, options.largest_norm, facts});
}

Status queue_steps(Context &context, std::vector<StepWork> &works) {
  ScalesRow scales = nullptr;
  if (std::any_of(works.begin(), works.end(), has_scales)) {
    LPT_TRY(choose_on_device(context, "step_scales", StepScalesRequest{}, {LPT_FORMAT_F32}, &scales));
  }
  for (StepWork &work : works) {
    const bool is_empty = work.parameter->elements == 0;
    if (!is_empty) {
      LPT_TRY(has_scales(work) ? queue_scaled(context, scales, work)
                               : queue_row(context, *work.device_row, work.request));
    }
    ++work.parameter->step_count;
  }
  return {};
}

Status measure_gradients_there(Context &context, const std::vector<MatrixView> &gradients, GradientSums &out_sums) {
  NormRows rows;
  std::byte *facts = nullptr;
  LPT_TRY(choose_norm(context, gradients, rows));
  LPT_TRY(take_on_device(context, sizeof(GradientFacts), &facts));
  LPT_TRY(run_norm(context, gradients, rows, {nullptr, 0, 1.0, 0.0, reinterpret_cast<GradientFacts *>(facts)}));
  GradientFacts found;
  LPT_TRY(fetch_facts(context, facts, found));
  out_sums = {found.sum_of_squares, found.nonfinite_count};
  return {};
}

Status fetch_norm(Context &context, const Optimizer &optimizer, lpt_optimizer_values &values) {
  GradientFacts found;
  LPT_TRY(fetch_facts(context, optimizer.facts.get(), found));
  values.gradient_norm = found.norm;
  values.clip_factor = found.clip_factor;
  return {};
}

}  // namespace lpt
