// Runs a step. All memory is allocated before the first pass, so that the step cannot fail after it.
#include "src/optimizer/step.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <span>

#include "kernels/optimizer/clip.hpp"
#include "kernels/optimizer/cuda_found.hpp"
#include "src/call/launch.hpp"
#include "src/formats/block_scale.hpp"
#include "src/optimizer/loss_scaler.hpp"

namespace lpt {
namespace {

constexpr int64_t kStepUnit = 1024;   // elements: parts end on cache lines of every array, and on blocks
constexpr int64_t kPieceUnit = 4096;  // elements: segments end on pages if an element has at least one byte

struct Amax {
  float of[3];
};

// Segments of a parameter: one segment in memory. Mapped files have several, of which a few are resident at a time.

size_t mapped_bytes(OptimizerParameter &parameter) {
  size_t bytes = 0;
  for_each_array(parameter, [&](const StateMemory &array) { bytes += array.file() != nullptr ? array.bytes() : 0; });
  return bytes;
}

// Returns the elements of a segment, which takes a quarter of the resident limit. The other quarters are for the prefetched
// next segment, the previous segment that is being written, and pages that the system maps around them.
int64_t segment_length(const Optimizer &optimizer, OptimizerParameter &parameter) {
  const size_t mapped = mapped_bytes(parameter);
  const size_t resident = optimizer.resident_bytes;
  const size_t quarter = resident / 4;
  if (mapped <= quarter) return std::max<int64_t>(parameter.elements, 1);
  const double share = static_cast<double>(quarter) / static_cast<double>(mapped);
  const auto length = static_cast<int64_t>(share * static_cast<double>(parameter.elements));
  return std::max(length / kPieceUnit, int64_t{1}) * kPieceUnit;
}

void will_need(const OptimizerParameter &parameter, int64_t begin, int64_t end) {
  for_each_range(parameter, begin, end,
                 [](const MappedMemory &file, size_t first, size_t last) { file.will_need(first, last); });
}

void start_writing(const OptimizerParameter &parameter, int64_t begin, int64_t end) {
  for_each_range(parameter, begin, end,
                 [](const MappedMemory &file, size_t first, size_t last) { file.start_writing(first, last); });
}

// Passes.

// One entry per part, for the segment with the most parts.
using Amaxes = std::vector<Amax>;

Parts parts_of(const Context &context, int64_t elements) {
  return split(context, (elements + kStepUnit - 1) / kStepUnit, kStepUnit);
}

struct Pass {
  const StepWork &work;
  bool is_measure;
  Amaxes &amaxes;
  int64_t begin, end;  // of the segment
  Parts parts;
};

void run_part(const Pass &pass, int64_t i) {
  StepRequest part = pass.work.request;
  part.begin = pass.begin + i * pass.parts.length * kStepUnit;
  part.count = std::min(pass.parts.length * kStepUnit, pass.end - part.begin);
  part.is_measure = pass.is_measure;
  const bool is_needed = pass.is_measure || pass.work.is_recording;
  part.amax = is_needed ? pass.amaxes[static_cast<size_t>(i)].of : nullptr;
  pass.work.kernel->run(part);
}

// Runs a pass over a parameter. A segment is written to its files while the next one is computed, and then released.
void run_pass(Context &context, const Optimizer &optimizer, const StepWork &work, bool is_measure, Amaxes &amaxes) {
  std::fill(amaxes.begin(), amaxes.end(), Amax{});
  const int64_t elements = work.parameter->elements;
  const int64_t length = segment_length(optimizer, *work.parameter);
  int64_t last_begin = 0;
  for (int64_t begin = 0; begin < elements; begin += length) {
    const int64_t end = std::min(begin + length, elements);
    will_need(*work.parameter, end, std::min(end + length, elements));
    const Pass pass{work, is_measure, amaxes, begin, end, parts_of(context, end - begin)};
    // The lambda captures one reference, so that its std::function does not allocate memory.
    parallel_for(context, pass.parts.count, [&pass](int64_t i) { run_part(pass, i); });
    if (!is_measure) start_writing(*work.parameter, begin, end);
    dont_need(*work.parameter, last_begin, begin);
    last_begin = begin;
  }
  dont_need(*work.parameter, last_begin, elements);
}

float largest(const Amaxes &amaxes, size_t k) {
  float result = 0.0f;
  for (const Amax &part : amaxes) result = std::max(result, part.of[k]);
  return result;
}

// Scales.

float scale_of(lpt_format element, float amax) {
  const ScaleSpec spec = {LPT_FORMAT_F32, LPT_SCALE_RULE_AMAX, largest_of(element), 0, 1.0f, nullptr, 0};
  return tensor_scale_value(spec, std::min(amax, FLT_MAX));
}

// One of the arrays with a tensor scale.
struct Scaled {
  StateArray *array;
  float *scale;  // location of the stored scale
  float new_scale;
};

void set_scale(Scaled &scaled, float amax) {
  scaled.new_scale = scale_of(scaled.array->element, amax);
  scaled.array->inverse_scale = inverse_scale(scaled.new_scale);
}

double moved_bytes(const StepWork &work) {
  size_t state_bytes = 0;
  for_each_array(*work.parameter, [&](const StateMemory &array) { state_bytes += array.bytes(); });
  return view_bytes(work.gradient) + 2.0 * (view_bytes(work.value) + static_cast<double>(state_bytes));
}

// Numbers of the three arrays of each work are adjacent.
constexpr size_t kArrays = 3;

Status max_over_ranks(StepRanks &ranks, std::vector<float> &numbers) {
  return ranks.max_over_ranks(numbers.data(), static_cast<int64_t>(numbers.size()));
}

Status find_amaxes(Context &context, const Optimizer &optimizer, std::span<StepWork> works, StepRanks *ranks,
                   Amaxes &amaxes, std::vector<float> &out_found) {
  bool is_requested = false;
  for (size_t i = 0; i < works.size(); ++i) {
    if (!works[i].needs_amax) continue;
    is_requested = true;
    run_pass(context, optimizer, works[i], true, amaxes);
    for (size_t k = 0; k < kArrays; ++k) out_found[kArrays * i + k] = largest(amaxes, k);
  }
  return is_requested && ranks != nullptr ? max_over_ranks(*ranks, out_found) : Status();
}

// Computes the new scales and writes all arrays. Returns the amaxes of the written values in `found`.
void store(Context &context, const Optimizer &optimizer, StepWork &work, Amaxes &amaxes, float *found) {
  OptimizerParameter &parameter = *work.parameter;
  Moment *const moments[2] = {&parameter.first, &parameter.second};
  Scaled arrays[kArrays] = {{&work.request.first, &parameter.first.scale, 1.0f},
                            {&work.request.second, &parameter.second.scale, 1.0f},
                            {&work.request.parameter, work.value.tensor_scale, 1.0f}};
  const bool has_scale[kArrays] = {parameter.first.has_scale, parameter.second.has_scale,
                                   work.value.format.has_tensor_scale()};
  for (size_t k = 0; k < kArrays; ++k) {
    if (!has_scale[k]) continue;
    const bool is_delayed = k < 2 && !moments[k]->needs_amax();
    set_scale(arrays[k], is_delayed ? 2.0f * moments[k]->amax : found[k]);
  }
  run_pass(context, optimizer, work, false, amaxes);
  for (size_t k = 0; k < kArrays; ++k) {
    if (has_scale[k]) *arrays[k].scale = arrays[k].new_scale;
    found[k] = largest(amaxes, k);
  }
  ++parameter.step_count;
}

Status keep_amaxes(std::span<StepWork> works, StepRanks *ranks, std::vector<float> &stored) {
  const bool is_requested =
      std::any_of(works.begin(), works.end(), [](const StepWork &work) { return work.is_recording; });
  if (is_requested && ranks != nullptr) LPT_TRY(max_over_ranks(*ranks, stored));
  for (size_t i = 0; i < works.size(); ++i) {
    Moment *const moments[2] = {&works[i].parameter->first, &works[i].parameter->second};
    for (size_t k = 0; k < 2; ++k) {
      if (moments[k]->scaling == LPT_SCALER_KIND_DELAYED) moments[k]->amax = stored[kArrays * i + k];
    }
  }
  return {};
}

// Runs steps. A new scale requires the new amax, so a parameter with scales is computed in two passes. A delayed scale covers
// twice the amax of the last step. For shards, the amax is that of all ranks.
Status run_works(Context &context, const Optimizer &optimizer, std::span<StepWork> works, StepRanks *ranks,
                 Amaxes &amaxes, std::vector<float> &found) {
  double moved = 0.0;
  for (const StepWork &work : works) moved += moved_bytes(work);
  const ProfileScope measure(context, "step", works.front().kernel->name, moved);
  LPT_TRY(find_amaxes(context, optimizer, works, ranks, amaxes, found));
  for (size_t i = 0; i < works.size(); ++i) store(context, optimizer, works[i], amaxes, found.data() + kArrays * i);
  return keep_amaxes(works, ranks, found);
}

// Without ranks, each parameter is completed before the next one, while it is in a cache. Ranks exchange the amaxes of all
// parameters at once.
Status run_all(Context &context, const Optimizer &optimizer, std::vector<StepWork> &works, StepRanks *ranks,
               Amaxes &amaxes, std::vector<float> &found) {
  if (ranks != nullptr) return run_works(context, optimizer, works, ranks, amaxes, found);
  for (StepWork &work : works) LPT_TRY(run_works(context, optimizer, {&work, 1}, nullptr, amaxes, found));
  return {};
}

Amaxes space_for_amaxes(Context &context, const Optimizer &optimizer, const std::vector<StepWork> &works) {
  int64_t most = 1;
  for (const StepWork &work : works) {
    const int64_t length = std::min(segment_length(optimizer, *work.parameter), work.parameter->elements);
    most = std::max(most, parts_of(context, length).count);
  }
  return Amaxes(static_cast<size_t>(most));
}

// The norm.

struct Decision {
  double norm = 0.0;
  double clip_factor = 1.0;
  bool is_skipped = false;
};

Status find_norm(Context &context, const std::vector<StepWork> &works, StepRanks *ranks, double gradient_scale,
                 double &out_norm) {
  GradientSums sums = {};
  LPT_TRY(measure_works(context, works, ranks, sums));
  out_norm = gradient_norm(sums.sum_of_squares, sums.nonfinite_count, gradient_scale);
  return {};
}

// Returns whether the step must compute the norm.
bool is_norm_requested(const lpt_optimizer_step_options &options) {
  const bool is_requested = options.largest_norm > 0.0 || options.is_nonfinite_skipped == 1;
  return is_requested && options.gradient_norm == 0.0;
}

Status decide(Context &context, const std::vector<StepWork> &works, StepRanks *ranks,
              const lpt_optimizer_step_options &options, Decision &out_decision) {
  out_decision.norm = options.gradient_norm;
  if (is_norm_requested(options)) {
    LPT_TRY(find_norm(context, works, ranks, options.gradient_scale, out_decision.norm));
  }
  if (options.largest_norm > 0.0) {
    out_decision.clip_factor = clip_factor(out_decision.norm, options.largest_norm);
  }
  // The product is NaN if the norm is infinite and the clip factor therefore 0.
  const bool is_in_range = out_decision.norm * out_decision.clip_factor <= static_cast<double>(FLT_MAX);
  out_decision.is_skipped = options.is_nonfinite_skipped == 1 && !is_in_range;
  return {};
}

void keep_values(Optimizer &optimizer, const Decision &decision) {
  optimizer.values.gradient_norm = decision.norm;
  optimizer.values.clip_factor = decision.clip_factor;
  optimizer.values.is_skipped = decision.is_skipped ? 1 : 0;
  optimizer.values.skipped_count += decision.is_skipped ? 1 : 0;
}

Status run_on_cpu(Context &context, const Optimizer &optimizer, std::vector<StepWork> &works, StepRanks *ranks) {
  Amaxes amaxes = space_for_amaxes(context, optimizer, works);
  std::vector<float> found(kArrays * works.size());
  return run_all(context, optimizer, works, ranks, amaxes, found);
}

// Steps on a device.

using ScalesKernel = const KernelEntry<StepScalesRequest> *;

StepScales *scales_at(const OptimizerParameter &parameter, int32_t slot) {
  return reinterpret_cast<StepScales *>(parameter.whole_scales.data()) + slot;
}

StepScalesRequest scales_request(const OptimizerParameter &parameter) {
  StepScalesRequest request{};
  const Moment *const moments[2] = {&parameter.first, &parameter.second};
  for (int k = 0; k < 2; ++k) {
    request.largest[k] = moments[k]->has_scale ? largest_of(moments[k]->element) : 0.0f;
    request.is_delayed[k] = moments[k]->scaling == LPT_SCALER_KIND_DELAYED;
  }
  request.stored = scales_at(parameter, parameter.slot);
  request.next = scales_at(parameter, 1 - parameter.slot);
  return request;
}

// Returns a mask of the delayed moments whose last amax can replace the measuring pass. It is 0 if another moment needs this
// pass.
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

// Queues the new scales and the step that stores with them. The kernels write the scales to the unused slot, so that the
// stored scales remain valid. Then the host switches the slots.
Status queue_store(Context &context, ScalesKernel row, const StepWork &work) {
  const StepScalesRequest scales = scales_request(*work.parameter);
  StepRequest request = scaled_request(work, scales);
  if (!work.is_recording) request.amax = nullptr;
  LPT_TRY(queue_kernel(context, *row, scales));
  if (!is_empty(work)) LPT_TRY(queue_kernel(context, *work.kernel, request));
  work.parameter->slot = 1 - work.parameter->slot;
  return {};
}

bool has_scales(const StepWork &work) { return work.parameter->has_whole_scales(); }

// Steps of shards: ranks exchange the amaxes of all parameters at once and use the same scales.

// Replaces each amax in `scales_of(parameter)` by the max over all ranks.
template <typename ScalesOf>
Status share_amaxes(Context &context, const std::vector<StepWork *> &works, StepRanks &ranks,
                    const ScalesOf &scales_of) {
  constexpr int64_t kCount = 3, kBytes = kCount * static_cast<int64_t>(sizeof(float));
  const auto count = static_cast<int64_t>(works.size());
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, static_cast<size_t>(count * kBytes), &memory));
  for (int64_t i = 0; i < count; ++i) {
    const float *const amax = scales_of(*works[static_cast<size_t>(i)]->parameter)->amax;
    LPT_TRY(context.queue.copy({memory + i * kBytes, kBytes, amax, kBytes, kBytes, 1}));
  }
  LPT_TRY(ranks.max_over_ranks(reinterpret_cast<float *>(memory), count * kCount));
  for (int64_t i = 0; i < count; ++i) {
    float *const amax = scales_of(*works[static_cast<size_t>(i)]->parameter)->amax;
    LPT_TRY(context.queue.copy({amax, kBytes, memory + i * kBytes, kBytes, kBytes, 1}));
  }
  return {};
}

Status queue_scaled_shards(Context &context, ScalesKernel row, const std::vector<StepWork *> &works, StepRanks &ranks) {
  for (const StepWork *work : works) LPT_TRY(queue_measure(context, *work));
  LPT_TRY(share_amaxes(context, works, ranks,
                       [](const OptimizerParameter &parameter) { return scales_at(parameter, 1 - parameter.slot); }));
  for (const StepWork *work : works) LPT_TRY(queue_store(context, row, *work));
  const auto is_recording = [](const StepWork *work) { return work->is_recording; };
  if (std::none_of(works.begin(), works.end(), is_recording)) return {};
  return share_amaxes(context, works, ranks,
                      [](const OptimizerParameter &parameter) { return scales_at(parameter, parameter.slot); });
}

Status queue_steps(Context &context, std::vector<StepWork> &works, StepRanks *ranks) {
  ScalesKernel scales = nullptr;
  if (std::any_of(works.begin(), works.end(), has_scales)) {
    LPT_TRY(select_kernel(context, "step_scales", StepScalesRequest{}, {LPT_FORMAT_F32}, &scales));
  }
  std::vector<StepWork *> scaled;
  scaled.reserve(works.size());  // before the first kernel is queued, because a later allocation could fail
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

}  // namespace

Status step_parameters(Context &context, Optimizer &optimizer, const StepCall &call, StepRanks *ranks) {
  lpt_optimizer_step_options options = *call.options;
  const bool is_present = !optimizer.device.is_cpu();
  std::vector<StepWork> works;
  LPT_TRY(check_place(context, optimizer));
  LPT_TRY(make_works(context, optimizer, call, works));
  LPT_TRY(unscale(options));
  if (is_check_only(options.flags)) return {};
  if (works.empty()) {
    record_step(options.loss_scaler, false);
    return {};
  }
  // A step that may be skipped needs the norm on the host, because the step count depends on it.
  const bool is_norm_on_device = is_present && is_norm_requested(options) && options.is_nonfinite_skipped == 0;
  Decision decision;
  LPT_TRY(is_norm_on_device ? queue_norm(context, optimizer, options, works, ranks)
                            : decide(context, works, ranks, options, decision));
  if (!decision.is_skipped) {
    for (StepWork &work : works) LPT_TRY(set_constants(optimizer, options, decision.clip_factor, work));
    LPT_TRY(is_present ? queue_steps(context, works, ranks) : run_on_cpu(context, optimizer, works, ranks));
  }
  keep_values(optimizer, decision);
  optimizer.is_norm_on_device = is_norm_on_device;
  record_step(options.loss_scaler, decision.is_skipped);
  return {};
}

Status step_optimizer(Context &context, Optimizer &optimizer, const int64_t *indices, int64_t count,
                      const Tensor *const *gradients, const lpt_optimizer_step_options &options,
                      Tensor *const *parameters) {
  return step_parameters(context, optimizer, {indices, count, gradients, &options, parameters}, nullptr);
}

}  // namespace lpt
