#include "src/optimizer/device.hpp"

#include "kernels/optimizer/cuda_found.hpp"
#include "src/call/device.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

// ---- the norm

int64_t blocks_of(int64_t elements) { return (elements + kNormBlock - 1) / kNormBlock; }

// A gradient, or a shard of one: its sums are those from `first` on of all that are added.
struct MeasuredGradient {
  MatrixView gradient;
  int64_t first;
};

// All gradients of a norm. Those of shards have memory for the full ones.
struct NormOf {
  std::vector<MeasuredGradient> gradients = {};
  int64_t block_count = 0;

  void add(const MatrixView &gradient, int64_t whole_elements, int64_t begin) {
    gradients.push_back({gradient, block_count + begin / kNormBlock});
    block_count += blocks_of(whole_elements);
  }
};

NormOf norm_of(const std::vector<StepWork> &works, bool are_shards) {
  NormOf norm;
  for (const StepWork &work : works) {
    const OptimizerParameter &parameter = *work.parameter;
    norm.add(work.gradient, are_shards ? parameter.whole_elements : parameter.elements,
             are_shards ? parameter.begin : 0);
  }
  return norm;
}

struct NormPlan {
  std::vector<const KernelEntry<NormRequest> *> norms;  // one for each gradient
  const KernelEntry<ClipRequest> *clip = nullptr;
  double *sums = nullptr;               // of all blocks
  int64_t *nonfinite_counts = nullptr;  // of all ranks, behind the sums
};

// All that can be rejected. Without others `rank_count` is 0.
Status choose_norm(Context &context, const NormOf &norm, int32_t rank_count, NormPlan &plan) {
  for (const auto &[gradient, first] : norm.gradients) {
    const NormRequest request{gradient.data, gradient.format.element, 0, gradient.columns, nullptr, nullptr};
    const KernelEntry<NormRequest> *kernel = nullptr;
    LPT_TRY(select_kernel(context, "gradient_norm", request, {gradient.format.id}, &kernel));
    plan.norms.push_back(kernel);
  }
  LPT_TRY(select_kernel(context, "clip", ClipRequest{}, {LPT_FORMAT_F64}, &plan.clip));
  std::byte *memory = nullptr;
  LPT_TRY(take_on_device(context, static_cast<size_t>(norm.block_count + rank_count) * sizeof(double), &memory));
  plan.sums = reinterpret_cast<double *>(memory);
  if (rank_count > 0) plan.nonfinite_counts = reinterpret_cast<int64_t *>(plan.sums + norm.block_count);
  return {};
}

// The sums of what this rank has.
Status queue_sums(Context &context, const NormOf &norm, const NormPlan &plan, int64_t *nonfinite_count) {
  for (size_t i = 0; i < norm.gradients.size(); ++i) {
    const auto &[gradient, first] = norm.gradients[i];
    LPT_TRY(queue_kernel(
        context, *plan.norms[i],
        {gradient.data, gradient.format.element, 0, gradient.columns, plan.sums + first, nonfinite_count}));
  }
  return {};
}

// `clip` lacks what the sums are.
Status run_norm(Context &context, const NormOf &norm, ClipRequest clip) {
  NormPlan plan;
  LPT_TRY(choose_norm(context, norm, 0, plan));
  clip.sums = plan.sums;
  clip.count = norm.block_count;
  LPT_TRY(context.queue.fill(clip.facts, 0, sizeof *clip.facts));
  LPT_TRY(queue_sums(context, norm, plan, &clip.facts->nonfinite_count));
  return queue_kernel(context, *plan.clip, clip);
}

Status run_norm_of_shards(Context &context, const std::vector<StepWork> &works, StepRanks &ranks, ClipRequest clip) {
  const NormOf norm = norm_of(works, true);
  NormPlan plan;
  LPT_TRY(choose_norm(context, norm, ranks.ranks(), plan));
  int64_t *const own = plan.nonfinite_counts + ranks.rank();
  LPT_TRY(context.queue.fill(own, 0, sizeof *own));
  LPT_TRY(queue_sums(context, norm, plan, own));
  LPT_TRY(ranks.share_sums(works, plan.sums, plan.nonfinite_counts));
  clip.sums = plan.sums;
  clip.count = norm.block_count;
  clip.nonfinite_counts = plan.nonfinite_counts;
  clip.rank_count = ranks.ranks();
  return queue_kernel(context, *plan.clip, clip);
}

Status fetch_facts(Context &context, const void *facts, GradientFacts &out_facts) {
  constexpr int64_t kBytes = sizeof out_facts;
  LPT_TRY(context.queue.copy({&out_facts, kBytes, facts, kBytes, kBytes, 1}));
  return context.queue.synchronize();
}

// ---- a step

using ScalesKernel = const KernelEntry<StepScalesRequest> *;

StepScales *scales_at(const OptimizerParameter &parameter, int32_t transpose) {
  return reinterpret_cast<StepScales *>(parameter.whole_scales.data()) + transpose;
}

StepScalesRequest scales_request(const OptimizerParameter &parameter) {
  StepScalesRequest request{};
  const Moment *const moments[2] = {&parameter.first, &parameter.second};
  for (int k = 0; k < 2; ++k) {
    request.largest[k] = moments[k]->has_scale ? largest_of(moments[k]->element) : 0.0f;
    request.is_delayed[k] = moments[k]->scaling == LPT_SCALER_KIND_DELAYED;
  }
  request.stored = scales_at(parameter, parameter.transpose);
  request.next = scales_at(parameter, 1 - parameter.transpose);
  return request;
}

// Which amax of the last step makes looking needless: where another moment requests its own there is none.
uint32_t delayed_moments(const OptimizerParameter &parameter) {
  uint32_t delayed = 0;
  const Moment *const moments[2] = {&parameter.first, &parameter.second};
  for (uint32_t k = 0; k < 2; ++k) {
    if (moments[k]->has_scale && moments[k]->scaling != LPT_SCALER_KIND_DELAYED) return 0;
    if (moments[k]->has_scale) delayed |= 1u << k;
  }
  return delayed;
}

bool is_empty(const StepWork &work) { return work.parameter->elements == 0; }

StepRequest scaled_request(const StepWork &work, const StepScalesRequest &scales) {
  StepRequest request = work.request;
  request.stored = scales.stored;
  request.next = scales.next;
  request.amax = scales.next->amax;
  request.delayed = delayed_moments(*work.parameter);
  return request;
}

Status queue_measure(Context &context, const StepWork &work) {
  const StepScalesRequest scales = scales_request(*work.parameter);
  StepRequest request = scaled_request(work, scales);
  request.is_measure = true;
  LPT_TRY(context.queue.fill(scales.next, 0, sizeof *scales.next));
  return is_empty(work) ? Status() : queue_kernel(context, *work.kernel, request);
}

// New scales, and what is stored with them. What was stored before stays valid until then: the host exchanges them.
Status queue_store(Context &context, ScalesKernel row, const StepWork &work) {
  const StepScalesRequest scales = scales_request(*work.parameter);
  StepRequest request = scaled_request(work, scales);
  if (!work.is_recording) request.amax = nullptr;
  LPT_TRY(queue_kernel(context, *row, scales));
  if (!is_empty(work)) LPT_TRY(queue_kernel(context, *work.kernel, request));
  work.parameter->transpose = 1 - work.parameter->transpose;
  return {};
}

bool has_scales(const StepWork &work) { return work.parameter->has_whole_scales(); }

// ---- a step of shards: ranks exchange amax once for all parameters, and have the same scales

// Every amax at the scales that `scales_of(parameter)` gives becomes that of all ranks.
template <typename ScalesOf>
Status share_amaxes(Context &context, const std::vector<StepWork *> &works, StepRanks &ranks,
                    const ScalesOf &scales_of) {
  constexpr int64_t kCount = 3, kBytes = kCount * static_cast<int64_t>(sizeof(float));
  const auto count = static_cast<int64_t>(works.size());
  std::byte *memory = nullptr;
  LPT_TRY(take_on_device(context, static_cast<size_t>(count * kBytes), &memory));
  for (int64_t i = 0; i < count; ++i) {
    const float *const amax = scales_of(*works[static_cast<size_t>(i)]->parameter)->amax;
    LPT_TRY(context.queue.copy({memory + i * kBytes, kBytes, amax, kBytes, kBytes, 1}));
  }
  LPT_TRY(ranks.find_largest_on_device(reinterpret_cast<float *>(memory), count * kCount));
  for (int64_t i = 0; i < count; ++i) {
    float *const amax = scales_of(*works[static_cast<size_t>(i)]->parameter)->amax;
    LPT_TRY(context.queue.copy({amax, kBytes, memory + i * kBytes, kBytes, kBytes, 1}));
  }
  return {};
}

Status queue_scaled_shards(Context &context, ScalesKernel row, const std::vector<StepWork *> &works, StepRanks &ranks) {
  for (const StepWork *work : works) LPT_TRY(queue_measure(context, *work));
  LPT_TRY(share_amaxes(context, works, ranks, [](const OptimizerParameter &parameter) {
    return scales_at(parameter, 1 - parameter.transpose);
  }));
  for (const StepWork *work : works) LPT_TRY(queue_store(context, row, *work));
  const auto is_recording = [](const StepWork *work) { return work->is_recording; };
  if (std::none_of(works.begin(), works.end(), is_recording)) return {};
  return share_amaxes(context, works, ranks,
                      [](const OptimizerParameter &parameter) { return scales_at(parameter, parameter.transpose); });
}

}  // namespace

Status queue_norm(Context &context, const Optimizer &optimizer, const lpt_optimizer_step_options &options,
                  std::vector<StepWork> &works, StepRanks *ranks) {
  auto *const facts = reinterpret_cast<GradientFacts *>(optimizer.facts.get());
  for (StepWork &work : works) work.request.gradients = facts;
  const ClipRequest clip{nullptr, 0, options.gradient_scale, options.largest_norm, facts, nullptr, 0};
  return ranks == nullptr ? run_norm(context, norm_of(works, false), clip)
                          : run_norm_of_shards(context, works, *ranks, clip);
}

Status queue_steps(Context &context, std::vector<StepWork> &works, StepRanks *ranks) {
  ScalesKernel scales = nullptr;
  if (std::any_of(works.begin(), works.end(), has_scales)) {
    LPT_TRY(select_kernel(context, "step_scales", StepScalesRequest{}, {LPT_FORMAT_F32}, &scales));
  }
  std::vector<StepWork *> scaled;
  scaled.reserve(works.size());  // before the first one is queued: from there on nothing takes memory here
  for (StepWork &work : works) {
    if (has_scales(work)) {
      scaled.push_back(&work);
    } else if (!is_empty(work)) {
      LPT_TRY(queue_kernel(context, *work.kernel, work.request));
    }
  }
  if (ranks != nullptr && !scaled.empty()) {
    LPT_TRY(queue_scaled_shards(context, scales, scaled, *ranks));
  } else {
    for (const StepWork *work : scaled) {
      if (is_empty(*work)) continue;
      LPT_TRY(queue_measure(context, *work));
      LPT_TRY(queue_store(context, scales, *work));
    }
  }
  for (StepWork &work : works) ++work.parameter->step_count;
  return {};
}

Status measure_shards_on_device(Context &context, const std::vector<StepWork> &works, StepRanks &ranks,
                                GradientSums &out_sums) {
  std::byte *facts = nullptr;
  LPT_TRY(take_on_device(context, sizeof(GradientFacts), &facts));
  LPT_TRY(run_norm_of_shards(context, works, ranks,
                             {nullptr, 0, 1.0, 0.0, reinterpret_cast<GradientFacts *>(facts), nullptr, 0}));
  GradientFacts found;
  LPT_TRY(fetch_facts(context, facts, found));
  out_sums = {found.sum_of_squares, found.nonfinite_count};
  return {};
}

Status measure_gradients_on_device(Context &context, const std::vector<MatrixView> &gradients, GradientSums &out_sums) {
  NormOf norm;
  for (const MatrixView &gradient : gradients) norm.add(gradient, gradient.columns, 0);
  std::byte *facts = nullptr;
  LPT_TRY(take_on_device(context, sizeof(GradientFacts), &facts));
  LPT_TRY(run_norm(context, norm, {nullptr, 0, 1.0, 0.0, reinterpret_cast<GradientFacts *>(facts), nullptr, 0}));
  GradientFacts found;
  LPT_TRY(fetch_facts(context, facts, found));
  out_sums = {found.sum_of_squares, found.nonfinite_count};
  return {};
}

Status fetch_norm(Context &context, const Optimizer &optimizer, lpt_optimizer_info &values) {
  GradientFacts found;
  LPT_TRY(fetch_facts(context, optimizer.facts.get(), found));
  values.gradient_norm = found.norm;
  values.clip_factor = found.clip_factor;
  return {};
}

}  // namespace lpt
