// Runs a step. All memory is taken before the first pass: from there on nothing can fail.
#include "src/optimizer/step.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <span>

#include "kernels/optimizer/clip.hpp"
#include "src/formats/block_scale.hpp"
#include "src/optimizer/device.hpp"

namespace lpt {
namespace {

constexpr int64_t kPieceUnit = 4096;  // elements: pieces end on pages where an element takes a byte

struct Amax {
  float of[3];
};

// ---- pieces: in memory a parameter is one; of files a few may be mapped at a time

size_t mapped_bytes(OptimizerParameter &parameter) {
  size_t bytes = 0;
  for_each_array(parameter, [&](const StateMemory &array) { bytes += array.file() != nullptr ? array.bytes() : 0; });
  return bytes;
}

// A quarter of what may be resident: the piece that is computed, the next one that comes, the last one that goes, and as
// much again for pages that the system maps around those it is requested.
int64_t piece_length(const Optimizer &optimizer, OptimizerParameter &parameter) {
  const size_t mapped = mapped_bytes(parameter);
  const size_t resident = optimizer.resident_bytes;
  if (mapped <= resident / 4) return std::max<int64_t>(parameter.elements, 1);
  const double share = static_cast<double>(resident / 4) / static_cast<double>(mapped);
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

// ---- passes

// Room for one part's amax each, enough for every piece of every parameter.
using Amaxes = std::vector<Amax>;

Parts parts_of(const Context &context, int64_t elements) {
  return split(context, (elements + kStepUnit - 1) / kStepUnit, kStepUnit);
}

struct Pass {
  const StepWork &work;
  bool is_measure;
  Amaxes &amaxes;
  int64_t begin, end;  // of the piece
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

// Writing goes on while the next piece is computed; a piece is let go when that one is done.
void run_pass(Context &context, const Optimizer &optimizer, const StepWork &work, bool is_measure, Amaxes &amaxes) {
  std::fill(amaxes.begin(), amaxes.end(), Amax{});
  const int64_t elements = work.parameter->elements;
  const int64_t length = piece_length(optimizer, *work.parameter);
  int64_t last_begin = 0;
  for (int64_t begin = 0; begin < elements; begin += length) {
    const int64_t end = std::min(begin + length, elements);
    will_need(*work.parameter, end, std::min(end + length, elements));
    const Pass pass{work, is_measure, amaxes, begin, end, parts_of(context, end - begin)};
    // The body holds one reference: a larger one would take memory here.
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

// ---- scales

float scale_of(lpt_format element, float amax) {
  const ScaleSpec spec = {LPT_FORMAT_F32, LPT_SCALE_RULE_AMAX, largest_of(element), 0, 1.0f, nullptr, 0};
  return tensor_scale_value(spec, std::min(amax, FLT_MAX));
}

// One of the arrays that have a scale of the whole.
struct Scaled {
  StateArray *array;
  float *scale;  // where it is kept
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

// Of the three arrays of each work, side by side.
constexpr size_t kArrays = 3;

Status find_amaxes(Context &context, const Optimizer &optimizer, std::span<StepWork> works, StepRanks *ranks,
                   Amaxes &amaxes, std::vector<float> &out_found) {
  bool is_requested = false;
  for (size_t i = 0; i < works.size(); ++i) {
    if (!works[i].is_looking) continue;
    is_requested = true;
    run_pass(context, optimizer, works[i], true, amaxes);
    for (size_t k = 0; k < kArrays; ++k) out_found[kArrays * i + k] = largest(amaxes, k);
  }
  return is_requested && ranks != nullptr ? ranks->find_largest(out_found) : Status();
}

// Makes the new scales, writes all arrays, and leaves in `found` what was written.
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
    const bool is_delayed = k < 2 && !moments[k]->is_looking();
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
  if (is_requested && ranks != nullptr) LPT_TRY(ranks->find_largest(stored));
  for (size_t i = 0; i < works.size(); ++i) {
    Moment *const moments[2] = {&works[i].parameter->first, &works[i].parameter->second};
    for (size_t k = 0; k < 2; ++k) {
      if (moments[k]->scaling == LPT_SCALER_KIND_DELAYED) moments[k]->amax = stored[kArrays * i + k];
    }
  }
  return {};
}

// New scales need the new amax, so that a parameter with scales is computed twice; a delayed one takes the last amax, with
// memory for twice of it. Of shards the amax is that of all ranks.
Status run_works(Context &context, const Optimizer &optimizer, std::span<StepWork> works, StepRanks *ranks,
                 Amaxes &amaxes, std::vector<float> &found) {
  double moved = 0.0;
  for (const StepWork &work : works) moved += moved_bytes(work);
  const ProfileScope measure(context, "step", works.front().kernel->name, moved);
  LPT_TRY(find_amaxes(context, optimizer, works, ranks, amaxes, found));
  for (size_t i = 0; i < works.size(); ++i) store(context, optimizer, works[i], amaxes, found.data() + kArrays * i);
  return keep_amaxes(works, ranks, found);
}

// Alone each parameter is done before the next one, while it is in a cache; ranks exchange amax once for all.
Status run_all(Context &context, const Optimizer &optimizer, std::vector<StepWork> &works, StepRanks *ranks,
               Amaxes &amaxes, std::vector<float> &found) {
  if (ranks != nullptr) return run_works(context, optimizer, works, ranks, amaxes, found);
  for (StepWork &work : works) LPT_TRY(run_works(context, optimizer, {&work, 1}, nullptr, amaxes, found));
  return {};
}

Amaxes space_for_amaxes(Context &context, const Optimizer &optimizer, const std::vector<StepWork> &works) {
  int64_t most = 1;
  for (const StepWork &work : works) {
    const int64_t length = std::min(piece_length(optimizer, *work.parameter), work.parameter->elements);
    most = std::max(most, parts_of(context, length).count);
  }
  return Amaxes(static_cast<size_t>(most));
}

// ---- the norm

struct Decision {
  double norm = 0.0;
  double clip_factor = 1.0;
  bool is_skipped = false;
};

Status find_sums(Context &context, const std::vector<StepWork> &works, StepRanks *ranks, GradientSums &out_sums) {
  if (ranks != nullptr) return ranks->find_sums(works, out_sums);
  std::vector<MatrixView> gradients;
  gradients.reserve(works.size());
  for (const StepWork &work : works) gradients.push_back(work.gradient);
  return measure_gradients(context, gradients, out_sums);
}

Status find_norm(Context &context, const std::vector<StepWork> &works, StepRanks *ranks, double gradient_scale,
                 double &out_norm) {
  GradientSums sums = {};
  LPT_TRY(find_sums(context, works, ranks, sums));
  out_norm = gradient_norm(sums.sum_of_squares, sums.nonfinite_count, gradient_scale);
  return {};
}

// Whether the norm has to be found here.
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
  out_decision.is_skipped = options.is_nonfinite_skipped == 1 && std::isinf(out_decision.norm);
  if (options.largest_norm > 0.0) {
    out_decision.clip_factor = clip_factor(out_decision.norm, options.largest_norm);
  }
  return {};
}

void keep_values(Optimizer &optimizer, const Decision &decision) {
  optimizer.values.gradient_norm = decision.norm;
  optimizer.values.clip_factor = decision.clip_factor;
  optimizer.values.is_skipped = decision.is_skipped ? 1 : 0;
  optimizer.values.skipped_count += decision.is_skipped ? 1 : 0;
}

Status run_here(Context &context, const Optimizer &optimizer, std::vector<StepWork> &works, StepRanks *ranks) {
  Amaxes amaxes = space_for_amaxes(context, optimizer, works);
  std::vector<float> found(kArrays * works.size());
  return run_all(context, optimizer, works, ranks, amaxes, found);
}

}  // namespace

Status step_parameters(Context &context, Optimizer &optimizer, const StepCall &call, StepRanks *ranks) {
  const lpt_optimizer_step_options &options = *call.options;
  const bool is_present = !optimizer.device.is_cpu();
  std::vector<StepWork> works;
  LPT_TRY(check_place(context, optimizer));
  LPT_TRY(make_works(context, optimizer, call, works));
  if (works.empty() || is_check_only(options.flags)) return {};
  // A step that may be skipped has to know the norm: whether it counts decides what the next one does.
  const bool is_norm_on_device = is_present && is_norm_requested(options) && options.is_nonfinite_skipped == 0;
  Decision decision;
  LPT_TRY(is_norm_on_device ? queue_norm(context, optimizer, options, works, ranks)
                            : decide(context, works, ranks, options, decision));
  if (!decision.is_skipped) {
    for (StepWork &work : works) LPT_TRY(set_constants(optimizer, options, decision.clip_factor, work));
    LPT_TRY(is_present ? queue_steps(context, works, ranks) : run_here(context, optimizer, works, ranks));
  }
  keep_values(optimizer, decision);
  optimizer.is_norm_on_device = is_norm_on_device;
  return {};
}

Status step_optimizer(Context &context, Optimizer &optimizer, const int64_t *indices, int64_t count,
                      const Tensor *const *gradients, const lpt_optimizer_step_options &options,
                      Tensor *const *parameters) {
  return step_parameters(context, optimizer, {indices, count, gradients, &options, parameters}, nullptr);
}

}  // namespace lpt
