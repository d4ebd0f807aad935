// Forward pass: y = x · wᵀ + bias, and the input that is saved for the backward pass.
#include <cmath>

#include "src/linear/parts.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// The checked arguments of one forward call.
struct Forward {
  MatrixView x;
  GemmCall gemm;
  const uint8_t *smoothing = nullptr;
  bool is_saved = false;
  std::byte *memory = nullptr;  // of the saved input
  Rotation rotation;
};

// Returns whether a cast of the input is smoothed. The cast must have a single tensor scale.
bool is_smoothed(const Call &call, const Forward &forward, lpt_linear_cast which) {
  const lpt_format format = call.cast(which).format;
  return forward.smoothing != nullptr && format != LPT_FORMAT_NONE && is_tensor_scaled(format_of(format));
}

Status check_smoothing(const Call &call, const Linear &linear, Forward &forward) {
  const Tensor *tensor = call.options.input_smoothing;
  if (tensor == nullptr) return {};
  void *factors = nullptr;
  LPT_TRY(
      check_vector(tensor, "input_smoothing", LPT_FORMAT_E8M0FNU, linear.input_columns, !call.is_check_only, &factors));
  if (column_factors(linear) != nullptr) {
    return invalid("input_smoothing is given, and lpt_linear_prepare() had input_smoothing: expected NULL");
  }
  for (const lpt_linear_cast which : {LPT_LINEAR_CAST_FORWARD_INPUT, LPT_LINEAR_CAST_WGRAD_INPUT}) {
    const lpt_format format = call.cast(which).format;
    if (format != LPT_FORMAT_NONE && format_of(format).has_block_scale()) {
      return unsupported("input_smoothing is given and the recipe casts the input to %s: it goes with tensor scales",
                         format_name(format).c_str());
    }
    if (call.gemm(which / 2).is_rotated()) {
      return unsupported("input_smoothing is given and the recipe rotates the input: factors do not go with it");
    }
  }
  for (const lpt_linear_gemm gemm : {LPT_LINEAR_GEMM_DGRAD, LPT_LINEAR_GEMM_WGRAD}) {
    if (call.gemm(gemm).source == LPT_LINEAR_SOURCE_PLAIN) continue;
    return unsupported(
        "input_smoothing is given and backward takes what forward multiplied: expected "
        "LPT_LINEAR_SOURCE_PLAIN");
  }
  forward.smoothing = static_cast<const uint8_t *>(factors);
  return {};
}

Status check_output(const Call &call, const Linear &linear, Tensor *output, Forward &forward) {
  MatrixView &c = forward.gemm.c;
  LPT_TRY(check_wide_matrix(output, "output", !call.is_check_only, c, device_of(call)));
  LPT_TRY(check_shape(c, "output", forward.x.rows, linear.output_columns, "input rows by the layer's output_columns"));
  return check_no_overlap(c, "output", forward.x, "input");
}

Status check_memory(const Call &call, const Linear &linear, const Tensor *saved, Forward &forward) {
  forward.is_saved = saved != nullptr;
  if (!forward.is_saved) return {};
  LPT_TRY(check_saved(saved, linear, forward.x.rows, !call.is_check_only, &forward.memory));
  const MatrixView bytes =
      vector_view(LPT_FORMAT_UINT8, forward.memory, static_cast<int64_t>(linear_saved_bytes(linear, forward.x.rows)));
  LPT_TRY(check_no_overlap(bytes, "saved", forward.x, "input"));
  return check_no_overlap(bytes, "saved", forward.gemm.c, "output");
}

Status read_bias(const Call &call, const Linear &linear, GemmCall &gemm) {
  if (call.options.bias == nullptr) return {};
  void *bias = nullptr;
  const lpt_format format = is_f64_gemm(gemm) ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  LPT_TRY(check_vector(call.options.bias, "options.bias", format, linear.output_columns, !call.is_check_only, &bias,
                       device_of(call)));
  gemm.bias = bias;
  return {};
}

// Casts the input for wgrad only.
Status save_input(const Call &call, const Forward &forward, const Saved &saved) {
  Rotation rotation;
  Operand source;
  const lpt_linear_cast which = LPT_LINEAR_CAST_WGRAD_INPUT;
  LPT_TRY(make_rotation(call, LPT_LINEAR_GEMM_WGRAD, call.options.random, nullptr, forward.x.rows, rotation));
  LPT_TRY(make_source(call, which, forward.x, rotation, false, source));
  if (call.cast(which).format == LPT_FORMAT_NONE) {
    return widen_view(call, source.view, saved.input.view);
  }
  Draw draw;
  if (is_smoothed(call, forward, which)) draw.smoothing = forward.smoothing;
  return cast_operand(call, which, source, forward.x.columns, draw, saved.input);
}

// Returns the input that the forward GEMM multiplies: in scratch, or in `place`, where it is saved for the backward pass.
Status cast_input(const Call &call, const Forward &forward, const Operand &source, const Operand *place,
                  MatrixView &out_view) {
  const lpt_linear_cast which = LPT_LINEAR_CAST_FORWARD_INPUT;
  out_view = source.view;
  if (call.cast(which).format == LPT_FORMAT_NONE) return {};
  Draw draw;
  if (is_smoothed(call, forward, which)) draw.smoothing = forward.smoothing;
  Operand target = shape_cast(call, which, source, draw.smoothing != nullptr);
  const MatrixView shape = target.view;
  if (place != nullptr) {
    target = *place;
  } else {
    LPT_TRY(take_view(call, shape.format, shape.rows, shape.columns, target.view));
  }
  out_view = target.view;
  return cast_operand(call, which, source, forward.x.columns, draw, target);
}

// Casts the input for the GEMM, and saves the data that the backward pass needs.
Status cast_and_save(const Call &call, const Linear &linear, Forward &forward) {
  const bool is_shared = forward.is_saved && is_input_shared(call.recipe);
  const bool has_mask = forward.is_saved && is_clipped(call.recipe, LPT_LINEAR_GEMM_DGRAD);
  const bool has_factors = is_smoothed(call, forward, saved_cast(call.recipe));
  const Saved saved = lay_out_saved(linear, forward.x.rows, has_factors, forward.memory);
  // If the call fails later, the cleared header marks the saved input as invalid.
  if (forward.is_saved && !call.is_check_only && !is_on_device(call)) clear_saved_header(forward.memory);
  Operand source;
  LPT_TRY(make_source(call, LPT_LINEAR_CAST_FORWARD_INPUT, forward.x, forward.rotation, has_mask, source));
  LPT_TRY(cast_input(call, forward, source, is_shared ? &saved.input : nullptr, forward.gemm.a));
  if (!forward.is_saved) return {};
  if (!is_shared && saved_cast(call.recipe) == LPT_LINEAR_CAST_WGRAD_INPUT) LPT_TRY(save_input(call, forward, saved));
  if (!is_shared && saved_cast(call.recipe) == LPT_LINEAR_CAST_FORWARD_INPUT) {
    LPT_TRY(widen_view(call, source.view, saved.input.view));
  }
  if (has_mask) LPT_TRY(write_mask(call, source.view, forward.gemm.a, saved.mask));
  return write_saved_header(call, linear, forward.x.rows, has_factors, forward.memory);
}

Status run_forward(const Call &call, const Linear &linear, Forward forward) {
  LPT_TRY(mask_input(call, forward.x));
  LPT_TRY(smooth_input(call, linear, forward.x));
  LPT_TRY(make_rotation(call, LPT_LINEAR_GEMM_FORWARD, linear.weight.random, nullptr, linear.input_columns,
                        forward.rotation));
  LPT_TRY(cast_and_save(call, linear, forward));
  return multiply_over_ranks(call, forward.gemm);
}

}  // namespace

Status forward_linear(Context &context, Linear &linear, const Tensor *input, const lpt_linear_options &options,
                      Tensor *saved, Tensor *output) {
  LPT_TRY(check_call(context, linear, options, true));
  const Call call{context, linear.recipe, linear.scalers, options, is_check_only(options.flags), watched_sums(linear)};
  LPT_TRY(check_supported(call));
  Forward forward;
  LPT_TRY(check_wide_matrix(input, "input", !call.is_check_only, forward.x, device_of(call)));
  LPT_TRY(check_shape(forward.x, "input", forward.x.rows, linear.input_columns, "the layer's input_columns"));
  LPT_TRY(check_output(call, linear, output, forward));
  LPT_TRY(check_smoothing(call, linear, forward));
  LPT_TRY(check_memory(call, linear, saved, forward));
  GemmCall &gemm = forward.gemm;
  gemm.a = forward.x;
  gemm.b = linear.weight.forward;
  gemm.is_b_transposed = true;
  gemm.may_accumulate_fast = call.gemm(LPT_LINEAR_GEMM_FORWARD).may_accumulate_fast;
  if (call.gemm(LPT_LINEAR_GEMM_FORWARD).output_scale == LPT_LINEAR_OUTPUT_SCALE_UNIT) {
    gemm.alpha = 1.0 / std::sqrt(inner_columns(call, linear));
  }
  LPT_TRY(read_bias(call, linear, gemm));
  const SuppressRankProgress silence(call);
  return run_call(call, [&](const Call &each) { return run_forward(each, linear, forward); });
}

}  // namespace lpt
