// Operands of the GEMMs of a linear layer: their storage and casts.
#include <cassert>

#include "src/linear/parts.hpp"

namespace lpt {
namespace {

constexpr lpt_linear_operand kOperandOf[kCastCount] = {LPT_LINEAR_OPERAND_INPUT,    LPT_LINEAR_OPERAND_WEIGHT,
                                                       LPT_LINEAR_OPERAND_GRADIENT, LPT_LINEAR_OPERAND_WEIGHT,
                                                       LPT_LINEAR_OPERAND_GRADIENT, LPT_LINEAR_OPERAND_INPUT};

lpt_linear_gemm gemm_of(lpt_linear_cast which) { return which / 2; }

bool has_blocks(const CastRule &rule) {
  return rule.format != LPT_FORMAT_NONE && format_of(rule.format).has_block_scale();
}

bool is_stochastic(lpt_rounding rounding) {
  return rounding == LPT_ROUNDING_STOCHASTIC || rounding == LPT_ROUNDING_STOCHASTIC_UNDERFLOW;
}

bool is_byte_float(const Format &format) {
  return format.element == LPT_FORMAT_E4M3FN || format.element == LPT_FORMAT_E5M2;
}

// Returns whether the tensor cores of a device multiply 8-bit operands without block scales. Both operands must be stored
// along the inner size.
bool is_int8_gemm(const Recipe &recipe, lpt_linear_gemm gemm) {
  const lpt_format ids[2] = {recipe.casts[2 * gemm].format, recipe.casts[2 * gemm + 1].format};
  if (ids[0] == LPT_FORMAT_NONE || ids[1] == LPT_FORMAT_NONE) return false;
  const Format a = format_of(ids[0]), b = format_of(ids[1]);
  if (a.has_block_scale() || b.has_block_scale()) return false;
  if (a.element == LPT_FORMAT_INT8 && b.element == LPT_FORMAT_INT8) return true;
  const bool are_both_wide = a.element == LPT_FORMAT_E5M2 && b.element == LPT_FORMAT_E5M2;
  return is_byte_float(a) && is_byte_float(b) && !are_both_wide;
}

// Selects the random bits of a draw. Draws of one element differ in their role. From the ninth draw on, they also differ in
// their offset, which is above the index of any element.
void select_draw(int32_t draw, RandomSource &random) {
  if (draw == 0) return;
  constexpr uint32_t kFirstRole = 8;
  random.stream = (random.stream & ~15u) | (kFirstRole + static_cast<uint32_t>(draw % 8));
  random.offset += int64_t{draw / 8} << 61;
}

}  // namespace

Format format_of(lpt_format id) {
  Format format;
  find_format(id, format);
  return format;
}

bool is_tensor_scaled(const Format &format) { return format.has_tensor_scale() && !format.has_block_scale(); }

Format with_column_factors(const Format &format) {
  Format result = format;
  result.id = LPT_FORMAT_NONE;
  result.block_scale = LPT_FORMAT_E8M0FNU;
  result.block_rows = LPT_BLOCK_EXTENT_FULL;
  result.block_columns = 1;
  const Status status = make_format(result, result.id);
  assert(status.is_ok());  // every element with one tensor scale supports column factors
  return status.is_ok() ? result : format;
}

bool is_inner_along_rows(lpt_linear_cast which) {
  return which == LPT_LINEAR_CAST_DGRAD_WEIGHT || which == LPT_LINEAR_CAST_WGRAD_GRADIENT ||
         which == LPT_LINEAR_CAST_WGRAD_INPUT;
}

bool is_stored_transposed(const Recipe &recipe, lpt_linear_cast which) {
  if (!is_inner_along_rows(which)) return false;
  if (has_blocks(recipe.casts[which]) || recipe.gemms[gemm_of(which)].is_rotated()) return true;
  return recipe.is_for_device && is_int8_gemm(recipe, gemm_of(which));
}

bool is_weight_shared(const Recipe &recipe) {
  const CastRule &forward = recipe.casts[LPT_LINEAR_CAST_FORWARD_WEIGHT];
  const CastRule &dgrad = recipe.casts[LPT_LINEAR_CAST_DGRAD_WEIGHT];
  const GemmRule &gemm = recipe.gemms[LPT_LINEAR_GEMM_DGRAD];
  if (gemm.is_rotated()) return false;
  if (gemm.source != LPT_LINEAR_SOURCE_PLAIN) return dgrad.format == LPT_FORMAT_NONE || dgrad == forward;
  return dgrad == forward && !is_stored_transposed(recipe, LPT_LINEAR_CAST_DGRAD_WEIGHT) &&
         !recipe.gemms[LPT_LINEAR_GEMM_FORWARD].is_rotated();
}

bool is_input_kept(const Recipe &recipe) {
  const CastRule &wgrad = recipe.casts[LPT_LINEAR_CAST_WGRAD_INPUT];
  const GemmRule &gemm = recipe.gemms[LPT_LINEAR_GEMM_WGRAD];
  if (gemm.source == LPT_LINEAR_SOURCE_PLAIN || gemm.is_rotated()) return false;
  return wgrad.format == LPT_FORMAT_NONE || wgrad == recipe.casts[LPT_LINEAR_CAST_FORWARD_INPUT];
}

bool is_input_shared(const Recipe &recipe) {
  const CastRule &forward = recipe.casts[LPT_LINEAR_CAST_FORWARD_INPUT];
  if (forward.format == LPT_FORMAT_NONE) return false;
  if (recipe.gemms[LPT_LINEAR_GEMM_WGRAD].source != LPT_LINEAR_SOURCE_PLAIN) return true;
  return forward == recipe.casts[LPT_LINEAR_CAST_WGRAD_INPUT] &&
         !is_stored_transposed(recipe, LPT_LINEAR_CAST_WGRAD_INPUT) &&
         !recipe.gemms[LPT_LINEAR_GEMM_FORWARD].is_rotated() && !recipe.gemms[LPT_LINEAR_GEMM_WGRAD].is_rotated();
}

bool is_clipped(const Recipe &recipe, lpt_linear_gemm gemm) {
  const lpt_linear_cast which =
      gemm == LPT_LINEAR_GEMM_DGRAD ? LPT_LINEAR_CAST_FORWARD_INPUT : LPT_LINEAR_CAST_FORWARD_WEIGHT;
  return recipe.gemms[gemm].source == LPT_LINEAR_SOURCE_FORWARD_CLIPPED &&
         recipe.casts[which].format != LPT_FORMAT_NONE;
}

Status make_source(const Call &call, lpt_linear_cast which, const MatrixView &source, const Rotation &rotation,
                   bool is_f32, Operand &out_source) {
  out_source = Operand{source, false};
  if (rotation.size == 0 && !is_f32) return {};
  // A rotation of dgrad's dy along its rows transposes the result. With is_f32 a second transpose restores the orientation of
  // dy.
  const bool is_along_rows = rotation.size != 0 && call.gemm(gemm_of(which)).is_rotated_along_rows();
  out_source.is_transposed = is_along_rows || is_stored_transposed(call.recipe, which);
  const MatrixView from = out_source.is_transposed ? transposed_view(source) : source;
  LPT_TRY(take_view(call, format_of(LPT_FORMAT_F32), from.rows, from.columns, out_source.view));
  LPT_TRY(rotate_view(call, from, out_source.view, rotation));
  if (!is_along_rows || !is_f32) return {};
  const MatrixView rotated = out_source.view;
  LPT_TRY(take_view(call, rotated.format, source.rows, source.columns, out_source.view));
  out_source.is_transposed = false;
  return rotate_view(call, transposed_view(rotated), out_source.view, Rotation());
}

Operand shape_cast(const Call &call, lpt_linear_cast which, const Operand &source, bool is_smoothed) {
  const CastRule &rule = call.cast(which);
  Operand target;
  Format format = format_of(rule.format);
  const bool is_settled = format.has_block_scale() || is_stored_transposed(call.recipe, which);
  target.is_transposed = is_settled ? is_inner_along_rows(which) : source.is_transposed;
  if (is_smoothed) format = with_column_factors(format);
  const bool needs_transpose = target.is_transposed != source.is_transposed;
  lay_out_matrix(format, needs_transpose ? source.view.columns : source.view.rows,
                 needs_transpose ? source.view.rows : source.view.columns, nullptr, target.view);
  return target;
}

Status cast_operand(const Call &call, lpt_linear_cast which, const Operand &source, int64_t columns, const Draw &draw,
                    const Operand &target) {
  const CastRule &rule = call.cast(which);
  const lpt_linear_operand operand = kOperandOf[which];
  Cast cast;
  cast.rounding = draw.is_first_part ? LPT_ROUNDING_NEAREST_EVEN : rule.rounding;
  cast.overflow = rule.overflow;
  cast.rule = rule.rule;
  cast.is_transposed = source.is_transposed != target.is_transposed;
  cast.smoothing = draw.smoothing;
  if (is_tensor_scaled(format_of(rule.format)) && !draw.is_rest) cast.scaler = &call.scalers[operand];
  if (call.sums != nullptr && !draw.is_rest) cast.sums = &call.sums[which];
  if (rule.rule == LPT_SCALE_RULE_FIXED) LPT_TRY(write_unit_scales(call, target.view));
  lpt_random random = random_of(call.options, operand);
  if (operand != LPT_LINEAR_OPERAND_WEIGHT) random.offset = call.options.first_row * columns;
  LPT_TRY(make_random(random, RandomDomain::kLinear, static_cast<uint32_t>(operand), source.view.columns,
                      rule.stochastic_bits, rule.philox_rounds, cast.random));
  if (is_stochastic(cast.rounding)) select_draw(draw.index, cast.random);
  return cast_view(call, source.view, target.view, cast);
}

Status make_operand(const Call &call, lpt_linear_cast which, const MatrixView &source, const Rotation &rotation,
                    const uint8_t *smoothing, Operand &out_operand) {
  Operand prepared;
  LPT_TRY(make_source(call, which, source, rotation, false, prepared));
  out_operand = prepared;
  if (call.cast(which).format == LPT_FORMAT_NONE) return {};
  out_operand = shape_cast(call, which, prepared, smoothing != nullptr);
  const MatrixView shape = out_operand.view;
  LPT_TRY(take_view(call, shape.format, shape.rows, shape.columns, out_operand.view));
  Draw draw;
  draw.smoothing = smoothing;
  return cast_operand(call, which, prepared, source.columns, draw, out_operand);
}

}  // namespace lpt
