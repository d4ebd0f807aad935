// Backward GEMMs: dy, as an average of random casts or a sum of two parts, times the other operand.
#include "src/linear/parts.hpp"

namespace lpt {
namespace {

bool is_gradient_single(const Recipe &recipe, lpt_linear_gemm gemm) {
  const GemmRule &rule = recipe.gemms[gemm];
  return rule.hadamard_size == 0 && rule.draws == 1 && rule.parts == 1;
}

// Returns the number of random casts of dy that a GEMM averages: 1 without a cast or with deterministic rounding.
int32_t count_draws(const Call &call, lpt_linear_gemm gemm) {
  const lpt_rounding rounding = call.cast(2 * gemm).rounding;
  const bool has_chance = rounding == LPT_ROUNDING_STOCHASTIC || rounding == LPT_ROUNDING_STOCHASTIC_UNDERFLOW;
  return has_chance && call.cast(2 * gemm).format != LPT_FORMAT_NONE ? call.gemm(gemm).draws : 1;
}

int32_t count_parts(const Call &call, lpt_linear_gemm gemm) {
  return call.cast(2 * gemm).format != LPT_FORMAT_NONE ? call.gemm(gemm).parts : 1;
}

// Computes rest = source - decoded cast. `source` and `rest` are dense f32 matrices of one shape.
Status subtract_cast(const Call &call, const MatrixView &source, const MatrixView &cast, const MatrixView &rest) {
  if (is_on_device(call)) {
    MatrixView decoded;
    LPT_TRY(take_view(call, rest.format, rest.rows, rest.columns, decoded));
    LPT_TRY(decode_view(call, cast, decoded));
    LPT_TRY(widen_view(call, source, rest));
    return add_on_device(call, decoded, -1.0f, rest);
  }
  LPT_TRY(decode_view(call, cast, rest));
  if (call.is_check_only) return {};
  parallel_parts(call.context, source.rows, source.columns, [&](int64_t begin, int64_t count) {
    for (int64_t r = begin; r < begin + count; ++r) {
      const float *from = static_cast<const float *>(source.data) + r * source.row_stride;
      float *to = static_cast<float *>(rest.data) + r * rest.row_stride;
      for (int64_t c = 0; c < source.columns; ++c) to[c] = from[c] - to[c];
    }
  });
  return {};
}

Status multiply_once(const Call &call, GradientGemm &gradient) {
  GemmCall &gemm = gradient.gemm;
  gemm.may_accumulate_fast = call.gemm(gradient.which).may_accumulate_fast;
  gemm.a = gradient.operand.view;
  gemm.is_a_transposed = gradient.operand.is_transposed != (gradient.which == LPT_LINEAR_GEMM_WGRAD);
  LPT_TRY(multiply_views(call, gemm));
  gemm.beta = 1.0;
  return {};
}

Status multiply_draws(const Call &call, const Operand &source, int64_t columns, GradientGemm &gradient) {
  const lpt_linear_cast which = 2 * gradient.which;
  const int32_t draws = count_draws(call, gradient.which);
  const int32_t parts = count_parts(call, gradient.which);
  const MatrixView shape = shape_cast(call, which, source, false).view;
  gradient.operand.is_transposed = shape_cast(call, which, source, false).is_transposed;
  LPT_TRY(take_view(call, shape.format, shape.rows, shape.columns, gradient.operand.view));
  Operand last = source;
  if (parts > 1) {
    Draw first;
    first.is_first_part = true;
    LPT_TRY(cast_operand(call, which, source, columns, first, gradient.operand));
    LPT_TRY(multiply_once(call, gradient));
    LPT_TRY(take_view(call, source.view.format, source.view.rows, source.view.columns, last.view));
    LPT_TRY(subtract_cast(call, source.view, gradient.operand.view, last.view));
  }
  gradient.gemm.alpha /= draws;
  for (int32_t i = 0; i < draws; ++i) {
    Draw draw;
    draw.index = i;
    draw.is_rest = parts > 1;
    LPT_TRY(cast_operand(call, which, last, columns, draw, gradient.operand));
    LPT_TRY(multiply_once(call, gradient));
  }
  return {};
}

}  // namespace

bool is_gradient_shared(const Recipe &recipe) {
  const CastRule &dgrad = recipe.casts[LPT_LINEAR_CAST_DGRAD_GRADIENT];
  if (recipe.sparsity[LPT_LINEAR_OPERAND_GRADIENT].is_used()) return false;
  return dgrad == recipe.casts[LPT_LINEAR_CAST_WGRAD_GRADIENT] &&
         !is_stored_transposed(recipe, LPT_LINEAR_CAST_WGRAD_GRADIENT) &&
         is_gradient_single(recipe, LPT_LINEAR_GEMM_DGRAD) && is_gradient_single(recipe, LPT_LINEAR_GEMM_WGRAD);
}

Status multiply_gradient(const Call &call, const MatrixView &dy, const Rotation &rotation,
                         const GradientEpilogue &epilogue, GradientGemm &gradient) {
  const lpt_linear_cast which = 2 * gradient.which;
  const bool is_added = gradient.gemm.beta != 0.0;
  const bool is_sum = count_draws(call, gradient.which) * count_parts(call, gradient.which) > 1;
  const MatrixView target = gradient.gemm.c;
  const lpt_format wide = target.format.id;
  // Sums of several casts accumulate in f32, so that partial sums are not rounded to 16 bits.
  const bool has_scratch = epilogue.is_needed() || (is_sum && wide != LPT_FORMAT_F32 && wide != LPT_FORMAT_F64);
  if (has_scratch) {
    LPT_TRY(take_view(call, format_of(LPT_FORMAT_F32), target.rows, target.columns, gradient.gemm.c));
    gradient.gemm.beta = 0.0;
  }
  if (gradient.operand.view.rows == 0) {
    Operand source;
    const bool has_parts = count_parts(call, gradient.which) > 1;
    LPT_TRY(make_source(call, which, dy, rotation, has_parts, source));
    gradient.operand = source;
    if (call.cast(which).format == LPT_FORMAT_NONE) {
      LPT_TRY(multiply_once(call, gradient));
    } else {
      LPT_TRY(multiply_draws(call, source, dy.columns, gradient));
    }
  } else {
    LPT_TRY(multiply_once(call, gradient));
  }
  return has_scratch ? apply_gradient_epilogue(call, epilogue, gradient.gemm.c, is_added, target) : Status();
}

}  // namespace lpt
