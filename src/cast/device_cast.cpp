#include "src/cast/device_cast.hpp"

#include "kernels/hadamard/cuda_kernels.hpp"
#include "kernels/quantize/cuda/cuda_draw.hpp"
#include "kernels/quantize/cuda/cuda_scale.hpp"
#include "src/call/launch.hpp"
#include "src/cast/device_fit.hpp"
#include "src/cast/device_sums.hpp"
#include "src/cast/scaler.hpp"

namespace lpt {
namespace {

QuantizeRequest request_of(const MatrixView &source, const MatrixView &target, const Cast &cast, lpt_scale_rule rule) {
  QuantizeRequest request{};
  request.source = cast.is_transposed ? transposed_view(source) : source;
  request.target = target;
  request.rounding = cast.rounding;
  request.overflow = cast.overflow;
  request.rule = rule;
  request.tensor_inverse = 1.0f;
  request.scale_list = cast.scale_list != nullptr ? cast.scale_list : kGaudi2Scales;
  request.scale_list_count = cast.scale_list != nullptr ? cast.scale_list_count : 4;
  request.random = cast.random;
  request.random_column_stride = 1;
  if (cast.is_transposed) std::swap(request.random.row_stride, request.random_column_stride);
  if (cast.untransposed != nullptr) request.untransposed = *cast.untransposed;
  return request;
}

// Preprocessing of the source.

// Transposes the random bits of the source to the order of the target. The bits are those of the caller, or are drawn.
Status transpose_bits(Context &context, const MatrixView &source, const RandomSource &random, bool is_check_only,
                      QuantizeRequest &request) {
  const lpt_format kept = random.bits == 8 ? LPT_FORMAT_UINT8 : LPT_FORMAT_BF16;  // a format of the same size
  MatrixView bits = dense_view(kept, const_cast<uint8_t *>(random.words), source.rows, source.columns);
  bits.row_stride = random.row_stride;
  if (random.words == nullptr) {
    LPT_TRY(take_matrix(context, kept, source.rows, source.columns, is_check_only, bits));
    LPT_TRY(run_on_device(context, "draw", DrawRequest{random, bits}, {kept}, is_check_only));
  }
  MatrixView transposed_bits;
  LPT_TRY(transpose_on_device(context, bits, is_check_only, transposed_bits));
  request.random.words = static_cast<const uint8_t *>(transposed_bits.data);
  request.random.offset = 0;
  request.random.row_stride = transposed_bits.row_stride;
  request.random_column_stride = 1;
  return {};
}

// Rotates and smooths the source. The result is f32 in scratch.
Status prepare_source(Context &context, const Cast &cast, bool is_check_only, MatrixView &source) {
  const CastPreprocess &preparation = cast.preparation;
  HadamardRequest request{};
  request.source = source;
  request.size = preparation.hadamard_size;
  request.signs = preparation.signs;
  (cast.is_transposed ? request.row_factors : request.factors) = preparation.factors;
  LPT_TRY(take_matrix(context, LPT_FORMAT_F32, source.rows, source.columns, is_check_only, request.target));
  LPT_TRY(run_on_device(context, "hadamard", request, {source.format.id}, is_check_only));
  source = request.target;
  return {};
}

// Returns whether the cast kernel preprocesses the source itself. The tensor scale must be given, because no other kernel can
// read the preprocessed source.
bool is_prepared_in_cast(const Cast &cast, const QuantizeRequest &request, bool is_scale_given) {
  const CastPreprocess &preparation = cast.preparation;
  const Format &format = request.target.format;
  const bool has_size = preparation.hadamard_size == 0 || preparation.hadamard_size == 16;
  const bool is_rounded = cast.rounding == LPT_ROUNDING_NEAREST_EVEN || cast.rounding == LPT_ROUNDING_STOCHASTIC;
  const bool has_rule = request.rule == LPT_SCALE_RULE_FIXED || is_rule_of_amax(request.rule);
  const bool has_scale = format.block_scale == LPT_FORMAT_E4M3FN || format.block_scale == LPT_FORMAT_E8M0FNU;
  const bool has_blocks =
      has_scale && format.block_rows == 1 && format.block_columns >= 16 && format.block_columns <= 512;
  return has_size && is_rounded && has_rule && has_blocks && is_scale_given && !cast.is_transposed &&
         cast.overflow == LPT_OVERFLOW_SATURATE && format.element == LPT_FORMAT_E2M1FN &&
         request.source.column_stride == 1;
}

// Sets the source of the cast kernel: the given source if the kernel can read or preprocess it, otherwise a transposed or
// preprocessed copy.
Status resolve_source(Context &context, const MatrixView &given, const Cast &cast, bool is_scale_given,
                      bool is_check_only, QuantizeRequest &request) {
  const bool is_prepared = cast.preparation.is_needed();
  if (is_prepared && is_prepared_in_cast(cast, request, is_scale_given)) {
    request.is_rotated = cast.preparation.hadamard_size != 0;
    request.factors = cast.preparation.factors;
    request.signs = cast.preparation.signs;
    return {};
  }
  const bool needs_transpose = cast.is_transposed && (is_prepared || request.target.format.has_block_scale());
  const bool is_drawn = cast.rounding == LPT_ROUNDING_STOCHASTIC;
  if (needs_transpose) LPT_TRY(transpose_on_device(context, given, is_check_only, request.source));
  if (needs_transpose && is_drawn) LPT_TRY(transpose_bits(context, given, cast.random, is_check_only, request));
  return is_prepared ? prepare_source(context, cast, is_check_only, request.source) : Status();
}

// The cast.

// The kernels of one cast in launch order. Those of the tensor scale are NULL if the scale is given.
struct Steps {
  const KernelEntry<AmaxRequest> *amax = nullptr;
  const KernelEntry<ConditionalAmaxRequest> *conditional_amax = nullptr;  // replaces `amax` if the scaler may supply it
  const KernelEntry<ScalerAmaxRequest> *pick = nullptr;
  const KernelEntry<TensorScaleRequest> *scale = nullptr;
  const KernelEntry<QuantizeRequest> *quantize = nullptr;
  const KernelEntry<NanScaleRequest> *nan_scale = nullptr;  // for a NaN that only the tensor scale can represent
};

bool is_delayed(const Cast &cast) {
  return cast.scaler != nullptr && cast.scaler->options.kind == LPT_SCALER_KIND_DELAYED;
}

// A delayed scaler computes the amax of the source if its history is zero. Only the device has the history.
Status choose_amax(Context &context, const QuantizeRequest &request, const Cast &cast, Steps &steps) {
  const AmaxRequest amax{request.source, nullptr, nullptr};
  const lpt_format source = request.source.format.id;
  if (cast.scaler != nullptr) {
    LPT_TRY(select_kernel(context, "scaler_amax", ScalerAmaxRequest{}, {LPT_FORMAT_F32}, &steps.pick));
  }
  if (!is_delayed(cast)) return select_kernel(context, "amax", amax, {source}, &steps.amax);
  if (cast.scaler->options.zero_rule != LPT_SCALER_ZERO_RULE_USE_CURRENT) return {};
  return select_kernel(context, "conditional_amax", ConditionalAmaxRequest{amax, nullptr}, {source},
                       &steps.conditional_amax);
}

// Returns the spec of the tensor scale.
ScaleSpec spec_of(const QuantizeRequest &request) {
  return scale_spec(request.target.format, request.rule, 1.0f, request.scale_list, request.scale_list_count);
}

Status choose_steps(Context &context, const QuantizeRequest &request, const Cast &cast, bool is_scale_given,
                    Steps &steps) {
  const lpt_format source = request.source.format.id, target = request.target.format.id;
  if (!is_scale_given) {
    const TensorScaleRequest scale{spec_of(request), nullptr, nullptr};
    LPT_TRY(choose_amax(context, request, cast, steps));
    LPT_TRY(select_kernel(context, "tensor_scale", scale, {target}, &steps.scale));
  }
  return select_kernel(context, "quantize", request, {source, target}, &steps.quantize);
}

// The output of an AmaxRequest and of a scaler. The quantize kernel reports NaNs, so has_nan is not read.
struct DeviceAmax {
  float amax;
  bool has_nan;
  float picked;  // the amax that the scaler selects
};

Status queue_pick(Context &context, const Steps &steps, const Scaler &scaler, DeviceAmax *found) {
  const lpt_scaler_options &options = scaler.options;
  return queue_kernel(context, *steps.pick,
                      {numbers_of(scaler), &found->amax, options.kind == LPT_SCALER_KIND_DELAYED, options.zero_rule,
                       options.margin, &found->picked});
}

Status queue_tensor_scale(Context &context, const Steps &steps, const QuantizeRequest &request, const Scaler *scaler,
                          const float **out_amax) {
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, sizeof(DeviceAmax), &memory));
  auto *const found = reinterpret_cast<DeviceAmax *>(memory);
  const AmaxRequest amax{request.source, &found->amax, &found->has_nan};
  if (steps.amax != nullptr) LPT_TRY(queue_kernel(context, *steps.amax, amax));
  if (steps.conditional_amax != nullptr)
    LPT_TRY(queue_kernel(context, *steps.conditional_amax, {amax, &numbers_of(*scaler)->amax}));
  if (scaler != nullptr) LPT_TRY(queue_pick(context, steps, *scaler, found));
  const ScaleSpec spec = spec_of(request);
  *out_amax = scaler != nullptr ? &found->picked : &found->amax;
  return queue_kernel(context, *steps.scale, {spec, *out_amax, request.target.tensor_scale});
}

// NaNs that neither codes nor block scales can represent.

Status clear_nan(Context &context, QuantizeRequest &request) {
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, sizeof(bool), &memory));
  request.has_nan = reinterpret_cast<bool *>(memory);
  return context.queue.fill(request.has_nan, 0, sizeof(bool));
}

// Reports a NaN of the source. Without a tensor scale, a NaN is an error of the call, and the function waits for the device.
Status report_nan(Context &context, const Steps &steps, const QuantizeRequest &request) {
  if (steps.nan_scale != nullptr) {
    return queue_kernel(context, *steps.nan_scale, {request.has_nan, request.target.tensor_scale});
  }
  bool has_nan = false;
  LPT_TRY(context.queue.copy({&has_nan, sizeof has_nan, request.has_nan, sizeof has_nan, sizeof has_nan, 1}));
  LPT_TRY(context.queue.synchronize());
  return has_nan ? unrepresentable_nan(request.target.format) : Status();
}

// Casts with e8m0fnu smoothing: divides the source by the factors and casts it without column scales. The factors become the
// column scales.
Status cast_smoothed_on_device(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                               bool is_check_only) {
  Cast plain = cast;
  plain.smoothing = nullptr;
  LPT_TRY(factors_on_device(context, LPT_FORMAT_E8M0FNU, cast.smoothing, source.columns, source.columns, is_check_only,
                            &plain.preparation.factors));
  MatrixView inner;
  LPT_TRY(without_block_scales(target, inner));
  LPT_TRY(cast_on_device(context, source, inner, plain, is_check_only));
  const int64_t count = target.columns;
  return is_check_only ? Status() : context.queue.copy({target.block_scales, count, cast.smoothing, count, count, 1});
}

// Fills scratch with f32 scales of 1 without waiting for the device: the factors of a positive sign are 1.
Status take_ones(Context &context, int64_t count, bool is_check_only, float *&out_ones) {
  std::byte *sign = nullptr;
  const float *ones = nullptr;
  LPT_TRY(take_scratch(context, sizeof(int8_t), &sign));
  if (!is_check_only) LPT_TRY(context.queue.fill(sign, 1, sizeof(int8_t)));
  LPT_TRY(factors_on_device(context, LPT_FORMAT_INT8, sign, 1, count, is_check_only, &ones));
  out_ones = const_cast<float *>(ones);  // scratch of this call
  return {};
}

Status set_block_scales(Context &context, bool is_check_only, MatrixView &codes) {
  const MatrixView scales = scales_of(codes);
  const int64_t count = scales.rows * scales.columns;
  const lpt_format format = codes.format.block_scale;
  if (format == LPT_FORMAT_F32) {
    float *ones = nullptr;
    LPT_TRY(take_ones(context, count, is_check_only, ones));
    codes.block_scales = ones;
    return {};
  }
  const uint32_t one = encode(element_of(format), 1.0f, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 0);
  return is_check_only ? Status()
                       : context.queue.fill(codes.block_scales, static_cast<uint8_t>(one), static_cast<size_t>(count));
}

// Takes scratch for the codes. Scales that the cast does not compute are set to 1.
Status take_codes(Context &context, const MatrixView &source, const Format &format, lpt_scale_rule rule,
                  bool is_check_only, MatrixView &out_codes) {
  LPT_TRY(take_matrix(context, format, source.rows, source.columns, is_check_only, out_codes));
  if (format.has_tensor_scale()) LPT_TRY(take_ones(context, 1, is_check_only, out_codes.tensor_scale));
  const bool is_fixed = rule == LPT_SCALE_RULE_FIXED && format.has_block_scale();
  return is_fixed ? set_block_scales(context, is_check_only, out_codes) : Status();
}

Status cast_through_scratch(Context &context, const MatrixView &source, const Format &format, const MatrixView &target,
                            const Cast &cast, bool is_check_only) {
  MatrixView codes[2];  // count_on_device() reads two outputs
  LPT_TRY(take_codes(context, source, format, cast.rule, is_check_only, codes[0]));
  LPT_TRY(cast_on_device(context, source, codes[0], cast, is_check_only));
  if (cast.sums != nullptr) LPT_TRY(count_on_device(context, source, codes, cast, is_check_only));
  return dequantize_matrix(context, codes[0], target, is_check_only);
}

// Returns whether one kernel writes both outputs: codes of e4m3fn or e5m2 with only a tensor scale, of a source with adjacent
// columns.
bool are_cast_together(const MatrixView &source, const MatrixView (&outputs)[2], const Cast &cast) {
  const Format &format = outputs[0].format;
  const bool is_byte = format.element == LPT_FORMAT_E4M3FN || format.element == LPT_FORMAT_E5M2;
  const bool is_same = format.id == outputs[1].format.id && is_byte && !format.has_block_scale();
  const bool is_simple = !cast.preparation.is_needed() && cast.smoothing == nullptr && cast.random.words == nullptr;
  const bool is_rounded = cast.rounding == LPT_ROUNDING_NEAREST_EVEN || cast.rounding == LPT_ROUNDING_STOCHASTIC;
  return is_same && is_simple && is_rounded && source.column_stride == 1 && cast.overflow == LPT_OVERFLOW_SATURATE;
}

}  // namespace

Status factors_on_device(Context &context, lpt_format format, const void *data, int64_t given, int64_t count,
                         bool is_check_only, const float **out_factors) {
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, static_cast<size_t>(count) * sizeof(float), &memory));
  auto *const factors = reinterpret_cast<float *>(memory);
  *out_factors = factors;
  return run_on_device(context, "factors", FactorRequest{format, data, given, count, factors}, {format}, is_check_only);
}

Status transpose_on_device(Context &context, const MatrixView &source, bool is_check_only, MatrixView &out_transposed) {
  LPT_TRY(take_matrix(context, source.format, source.columns, source.rows, is_check_only, out_transposed));
  out_transposed.tensor_scale = source.tensor_scale;
  return run_on_device(context, "transpose", TransposeRequest{source, out_transposed}, {source.format.id},
                       is_check_only);
}

Status cast_on_device(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                      bool is_check_only) {
  if (cast.smoothing != nullptr) return cast_smoothed_on_device(context, source, target, cast, is_check_only);
  lpt_scale_rule rule;
  LPT_TRY(resolve_rule(target.format, cast.rounding, cast.rule, rule));
  QuantizeRequest request = request_of(source, target, cast, rule);
  const bool is_scale_given =
      !target.format.has_tensor_scale() || cast.keeps_tensor_scale || rule == LPT_SCALE_RULE_FIXED;
  LPT_TRY(resolve_source(context, source, cast, is_scale_given, is_check_only, request));
  Steps steps;
  // If no amax kernel reads the source, the quantize kernel computes the amax for the scaler.
  const bool is_finding = cast.scaler != nullptr && (is_scale_given || is_delayed(cast));
  if (is_finding) request.amax = &numbers_of(*cast.scaler)->running_amax;
  LPT_TRY(choose_steps(context, request, cast, is_scale_given, steps));
  bool hides_nan = false;
  LPT_TRY(find_hidden_nan(target.format, cast.overflow, hides_nan));
  if (hides_nan && target.format.has_tensor_scale()) {
    LPT_TRY(select_kernel(context, "nan_scale", NanScaleRequest{}, {target.format.id}, &steps.nan_scale));
  }
  const bool is_fitted = !is_scale_given && is_fitted_rule(request);
  if (is_fitted) LPT_TRY(fit_tensor_scale(context, source, request, cast, nullptr, true));
  if (is_check_only) return {};
  if (cast.scaler != nullptr) cast.scaler->is_recorded = true;
  if (source.rows == 0 || source.columns == 0) return {};
  const float *amax = nullptr;
  if (!is_scale_given) LPT_TRY(queue_tensor_scale(context, steps, request, cast.scaler, &amax));
  if (is_fitted) LPT_TRY(fit_tensor_scale(context, source, request, cast, amax, false));
  if (cast.is_scale_only) return {};
  if (hides_nan) LPT_TRY(clear_nan(context, request));
  LPT_TRY(queue_kernel(context, *steps.quantize, request));
  return hides_nan ? report_nan(context, steps, request) : Status();
}

// Checks both outputs before it queues work.
Status cast_outputs_on_device(Context &context, const MatrixView &source, const MatrixView (&outputs)[2],
                              const Cast &cast, bool is_check_only) {
  Cast own = cast;
  const bool are_together = are_cast_together(source, outputs, cast);
  const size_t reported = context.choices.size();
  for (const bool runs : {false, true}) {
    if (runs && is_check_only) break;
    context.choices.resize(reported);
    for (const int i : {0, 1}) {
      own.is_transposed = i == 1;
      own.is_scale_only = are_together && i == 0;
      own.untransposed = are_together && i == 1 ? &outputs[0] : nullptr;
      if (outputs[i].format.id == LPT_FORMAT_NONE) continue;
      LPT_TRY(cast_on_device(context, source, outputs[i], own, !runs));
    }
    if (cast.sums != nullptr) LPT_TRY(count_on_device(context, source, outputs, cast, !runs));
  }
  return {};
}

Status cast_and_back_on_device(Context &context, const MatrixView &source, const Format &format,
                               const MatrixView &target, const Cast &cast, bool is_check_only) {
  LPT_TRY(cast_through_scratch(context, source, format, target, cast, true));
  if (is_check_only) return {};
  context.choices.clear();
  return cast_through_scratch(context, source, format, target, cast, false);
}

Status signs_on_device(Context &context, const RandomSource &random, int8_t *signs, int64_t count) {
  return run_on_device(context, "signs", SignRequest{random, signs, count}, {LPT_FORMAT_INT8}, false);
}

}  // namespace lpt
