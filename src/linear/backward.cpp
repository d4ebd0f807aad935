// Backward pass: dx = dy · w, dw = dyᵀ · x, db = the column sums of dy.
#include <cmath>

#include "src/linear/parts.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// The checked arguments of one backward call.
struct Backward {
  MatrixView dy;
  MatrixView dx, dw, db;  // outputs; default views if not requested
  bool has_dx = false, has_dw = false, has_db = false;
  std::byte *memory = nullptr;  // of the saved input
  SavedHeader header{};
  Saved saved;

  lpt_random random() const { return {header.seed.seed, 0, 0, header.seed.stream, header.seed.step}; }
};

Status check_gradient(const Call &call, const Tensor *tensor, const char *name, int64_t rows, int64_t columns,
                      const char *like, const MatrixView &output_gradient, MatrixView &out_view) {
  LPT_TRY(check_wide_matrix(tensor, name, !call.is_check_only, out_view, device_of(call)));
  LPT_TRY(check_shape(out_view, name, rows, columns, like));
  return check_no_overlap(out_view, name, output_gradient, "output_gradient");
}

// Rejects gradients other than f32 and f64, because gradients can be accumulated over micro-batches.
Status check_sum_format(const MatrixView &view, const char *name) {
  if (view.format.id == LPT_FORMAT_F32 || view.format.id == LPT_FORMAT_F64) return {};
  return unsupported("%s is %s: expected f32 or f64", name, format_name(view.format.id).c_str());
}

Status check_outputs(const Call &call, const Linear &linear, const Tensor *dx, const Tensor *dw, const Tensor *db,
                     Backward &backward) {
  const MatrixView &dy = backward.dy;
  backward.has_dx = dx != nullptr;
  backward.has_dw = dw != nullptr;
  backward.has_db = db != nullptr;
  if (backward.has_dx) {
    LPT_TRY(check_gradient(call, dx, "input_gradient", dy.rows, linear.input_columns,
                           "output_gradient rows by the layer's input_columns", dy, backward.dx));
  }
  if (backward.has_dw) {
    LPT_TRY(check_gradient(call, dw, "weight_gradient", linear.output_columns, linear.input_columns, "the weight", dy,
                           backward.dw));
    LPT_TRY(check_sum_format(backward.dw, "weight_gradient"));
  }
  if (backward.has_db) {
    LPT_TRY(check_gradient(call, db, "bias_gradient", 1, linear.output_columns,
                           "a vector of the layer's output_columns", dy, backward.db));
    LPT_TRY(check_sum_format(backward.db, "bias_gradient"));
  }
  return {};
}

Status read_saved(const Call &call, const Linear &linear, const Tensor *saved, Backward &backward) {
  const bool is_clipped_input = backward.has_dx && is_clipped(call.recipe, LPT_LINEAR_GEMM_DGRAD);
  if (!backward.has_dw && !is_clipped_input) return {};
  if (saved == nullptr && backward.has_dw) {
    return invalid("saved is NULL: weight_gradient needs what forward saved");
  }
  if (saved == nullptr) return invalid("saved is NULL: input_gradient needs what forward saved, where it clipped");
  const int64_t rows = backward.dy.rows;
  if (!call.is_check_only && !is_on_device(call)) LPT_TRY(check_saved_rows(saved, linear, rows));
  LPT_TRY(check_saved(saved, linear, rows, !call.is_check_only, &backward.memory));
  const MatrixView bytes =
      vector_view(LPT_FORMAT_UINT8, backward.memory, static_cast<int64_t>(linear_saved_bytes(linear, rows)));
  LPT_TRY(check_no_overlap(backward.dx, "input_gradient", bytes, "saved"));
  LPT_TRY(check_no_overlap(backward.dw, "weight_gradient", bytes, "saved"));
  LPT_TRY(check_no_overlap(backward.db, "bias_gradient", bytes, "saved"));
  // On a device the host does not read the header, to avoid a wait. Device kernels read the seed from it.
  if (!call.is_check_only && !is_on_device(call))
    LPT_TRY(read_saved_header(backward.memory, linear, rows, backward.header));
  backward.saved = lay_out_saved(linear, rows, backward.header.is_smoothed != 0, backward.memory);
  return {};
}

// Computes the column sums of dy as the GEMM of a row of ones with dy.
Status sum_columns(const Call &call, const MatrixView &gradient, double alpha, const MatrixView &sums) {
  MatrixView ones;
  LPT_TRY(take_ones(call, gradient.format.id, gradient.rows, ones));
  GemmCall gemm;
  gemm.a = ones;
  gemm.b = gradient;
  gemm.c = sums;
  gemm.alpha = alpha;
  gemm.beta = call.options.is_accumulated != 0 ? 1.0 : 0.0;
  return multiply_views(call, gemm);
}

// Sets the epilogue of a backward GEMM that reads an operand of the forward GEMM: the clip mask and the inverse of the
// forward rotation.
Status make_gradient_epilogue(const Call &call, const Linear &linear, lpt_linear_gemm gemm, const std::byte *mask,
                              GradientEpilogue &out_epilogue) {
  if (call.gemm(gemm).source == LPT_LINEAR_SOURCE_PLAIN) return {};
  out_epilogue.has_mask = is_clipped(call.recipe, gemm);
  out_epilogue.mask = mask;
  LPT_TRY(make_rotation(call, LPT_LINEAR_GEMM_FORWARD, linear.weight.random, nullptr, linear.input_columns,
                        out_epilogue.columns));
  out_epilogue.columns.is_inverse = true;
  return {};
}

Status compute_dx(const Call &call, const Linear &linear, const Backward &backward, Operand &out_gradient) {
  const GemmRule &rule = call.gemm(LPT_LINEAR_GEMM_DGRAD);
  GradientGemm gradient{LPT_LINEAR_GEMM_DGRAD, {}, {}};
  gradient.gemm.b = linear.weight.dgrad;
  gradient.gemm.is_b_transposed =
      !is_weight_shared(call.recipe) && is_stored_transposed(call.recipe, LPT_LINEAR_CAST_DGRAD_WEIGHT);
  gradient.gemm.c = backward.dx;
  if (rule.output_scale == LPT_LINEAR_OUTPUT_SCALE_UNIT) {
    gradient.gemm.alpha = 1.0 / std::sqrt(inner_columns(call, linear));
  }
  const bool is_along_rows = rule.is_rotated_along_rows();
  Rotation rotation;
  GradientEpilogue epilogue;
  LPT_TRY(make_rotation(call, LPT_LINEAR_GEMM_DGRAD, linear.weight.random, nullptr,
                        is_along_rows ? backward.dy.rows : backward.dy.columns, rotation));
  LPT_TRY(make_gradient_epilogue(call, linear, LPT_LINEAR_GEMM_DGRAD, backward.saved.mask, epilogue));
  epilogue.factors = inverse_column_factors(linear);
  if (is_along_rows) {
    epilogue.rows = rotation;
    epilogue.rows.is_inverse = true;
  }
  LPT_TRY(multiply_gradient(call, backward.dy, rotation, epilogue, gradient));
  out_gradient = gradient.operand;
  return {};
}

// Returns the saved input in the form that wgrad multiplies.
Status make_saved_input(const Call &call, const Backward &backward, const Rotation &rotation, Operand &out_input) {
  out_input = backward.saved.input;
  if (call.gemm(LPT_LINEAR_GEMM_WGRAD).source == LPT_LINEAR_SOURCE_PLAIN || is_input_kept(call.recipe)) return {};
  MatrixView decoded;
  const MatrixView &saved = backward.saved.input.view;
  LPT_TRY(take_view(call, format_of(LPT_FORMAT_F32), saved.rows, saved.columns, decoded));
  LPT_TRY(decode_view(call, saved, decoded));
  return make_operand(call, LPT_LINEAR_CAST_WGRAD_INPUT, decoded, rotation, nullptr, out_input);
}

Status compute_dw(const Call &call, const Linear &linear, const Backward &backward, double alpha,
                  const Operand &shared_gradient) {
  GradientGemm gradient{LPT_LINEAR_GEMM_WGRAD, {}, shared_gradient};
  Rotation rotation;
  Operand input;
  GradientEpilogue epilogue;
  LPT_TRY(make_rotation(call, LPT_LINEAR_GEMM_WGRAD, backward.random(), saved_seed(backward.memory), backward.dy.rows,
                        rotation));
  LPT_TRY(make_saved_input(call, backward, rotation, input));
  LPT_TRY(make_gradient_epilogue(call, linear, LPT_LINEAR_GEMM_WGRAD, linear.weight.mask.memory.get(), epilogue));
  epilogue.factors = column_factors(linear);
  gradient.gemm.b = input.view;
  gradient.gemm.is_b_transposed = input.is_transposed;
  gradient.gemm.c = backward.dw;
  gradient.gemm.alpha = alpha;
  gradient.gemm.beta = call.options.is_accumulated != 0 ? 1.0 : 0.0;
  MatrixView masked;
  LPT_TRY(mask_gradient(call, backward.dy, masked));
  return multiply_gradient(call, masked, rotation, epilogue, gradient);
}

Status run_backward(const Call &call, const Linear &linear, Backward backward) {
  const MatrixView given = backward.dy;
  double alpha = 1.0;
  if (call.gemm(LPT_LINEAR_GEMM_WGRAD).output_scale == LPT_LINEAR_OUTPUT_SCALE_UNIT && given.rows > 0) {
    alpha = 1.0 / std::sqrt(static_cast<double>(given.rows));
  }
  if (backward.has_dx || backward.has_dw) LPT_TRY(join_gradient(call, given, backward.dy));
  Operand gradient;
  std::unique_ptr<PendingReductions> pending;
  if (backward.has_dx) {
    LPT_TRY(compute_dx(call, linear, backward, gradient));
    LPT_TRY(begin_sum(call, backward.dx, pending));
  }
  if (!is_gradient_shared(call.recipe)) gradient = Operand();
  if (backward.has_dw) LPT_TRY(compute_dw(call, linear, backward, alpha, gradient));
  if (backward.has_db) LPT_TRY(sum_columns(call, given, alpha, backward.db));
  return pending == nullptr ? Status() : pending->end();
}

}  // namespace

Status backward_linear(Context &context, Linear &linear, const Tensor *saved, const Tensor *output_gradient,
                       const lpt_linear_options &options, Tensor *input_gradient, Tensor *weight_gradient,
                       Tensor *bias_gradient) {
  LPT_TRY(check_call(context, linear, options, true));
  const Call call{context, linear.recipe, linear.scalers, options, is_check_only(options.flags), watched_sums(linear)};
  if (input_gradient == nullptr && weight_gradient == nullptr && bias_gradient == nullptr) {
    return invalid("input_gradient, weight_gradient and bias_gradient are NULL: expected at least one output");
  }
  LPT_TRY(check_supported(call));
  Backward backward;
  const MatrixView &dy = backward.dy;
  LPT_TRY(check_wide_matrix(output_gradient, "output_gradient", !call.is_check_only, backward.dy, device_of(call)));
  LPT_TRY(check_shape(dy, "output_gradient", dy.rows, linear.output_columns, "the layer's output_columns"));
  LPT_TRY(check_outputs(call, linear, input_gradient, weight_gradient, bias_gradient, backward));
  LPT_TRY(check_no_overlap(backward.dw, "weight_gradient", backward.dx, "input_gradient"));
  LPT_TRY(check_no_overlap(backward.db, "bias_gradient", backward.dx, "input_gradient"));
  LPT_TRY(check_no_overlap(backward.db, "bias_gradient", backward.dw, "weight_gradient"));
  LPT_TRY(read_saved(call, linear, saved, backward));
  const SuppressRankProgress silence(call);
  return run_call(call, [&](const Call &each) { return run_backward(each, linear, backward); });
}

}  // namespace lpt
