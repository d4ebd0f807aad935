// Changes to a recipe: options of a cast or a GEMM, sparsity, and higher precision.
#include <utility>

#include "src/cast/quantize.hpp"
#include "src/linear/recipe.hpp"
#include "src/sparse/parts.hpp"

namespace lpt {
namespace {

Status check_no_random(const lpt_random &random) {
  if (random.seed == 0 && random.offset == 0 && random.row_stride == 0 && random.stream == 0 && random.step == 0) {
    return {};
  }
  return invalid("random is set: a recipe keeps no random numbers, they come with each call");
}

// Rejects options that belong to a single call.
Status check_recipe_options(const lpt_quantize_options &options) {
  const std::pair<const char *, const void *> handles[] = {{"scaler", options.scaler},
                                                           {"smoothing", options.smoothing},
                                                           {"hadamard_signs", options.hadamard_signs},
                                                           {"random_words", options.random_words},
                                                           {"scale_list", options.scale_list},
                                                           {"statistics", options.statistics}};
  for (const auto &[name, handle] : handles) {
    if (handle != nullptr) return invalid("%s is given: a recipe keeps no handles", name);
  }
  if ((options.flags & LPT_QUANTIZE_KEEP_TENSOR_SCALE) != 0)
    return unsupported("flags is set: a recipe casts without it");
  if (options.hadamard_size != 0) {
    return unsupported("hadamard_size is set: a recipe rotates both operands, by lpt_recipe_set_gemm()");
  }
  return check_no_random(options.random);
}

Status check_range(const char *name, int32_t value, int32_t last) {
  return value >= 1 && value <= last ? Status() : invalid("%s is %d: expected 1 to %d", name, value, last);
}

// Rejects options that only apply to backward GEMMs.
Status check_forward_options(const lpt_linear_gemm_options &options) {
  if (options.source != LPT_LINEAR_SOURCE_PLAIN) {
    return unsupported("source is %d: the forward GEMM takes LPT_LINEAR_SOURCE_PLAIN", options.source);
  }
  if (options.draws != 1 || options.parts != 1) {
    return unsupported("%s is %d: the forward GEMM has no gradient, it takes 1", options.draws != 1 ? "draws" : "parts",
                       options.draws != 1 ? options.draws : options.parts);
  }
  return {};
}

Status check_gemm_options(lpt_linear_gemm gemm, const lpt_linear_gemm_options &options) {
  LPT_TRY(check_flags("flags", options.flags, LPT_CHECK_ONLY | LPT_GEMM_FAST_ACCUMULATE));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  const int32_t size = options.hadamard_size;
  if (size != 0 && size != LPT_HADAMARD_SIZE_DIVISOR && !is_rotation_size(size)) {
    return invalid("hadamard_size is %d: expected 0, a power of two from %d to %d, or LPT_HADAMARD_SIZE_DIVISOR", size,
                   kSmallestRotation, kLargestRotation);
  }
  LPT_TRY(check_choice("hadamard_signs", options.hadamard_signs, LPT_HADAMARD_SIGNS_RANDOM));
  LPT_TRY(check_choice("hadamard_axis", options.hadamard_axis, LPT_HADAMARD_AXIS_ROWS));
  LPT_TRY(check_choice("source", options.source, LPT_LINEAR_SOURCE_FORWARD_CLIPPED));
  LPT_TRY(check_range("draws", options.draws, 16));
  LPT_TRY(check_range("parts", options.parts, 2));
  LPT_TRY(check_choice("output_scale", options.output_scale, LPT_LINEAR_OUTPUT_SCALE_UNIT));
  if (options.hadamard_axis == LPT_HADAMARD_AXIS_ROWS && gemm != LPT_LINEAR_GEMM_DGRAD) {
    return unsupported("hadamard_axis is LPT_HADAMARD_AXIS_ROWS: it is for LPT_LINEAR_GEMM_DGRAD");
  }
  return gemm == LPT_LINEAR_GEMM_FORWARD ? check_forward_options(options) : Status();
}

Status check_numbers(lpt_format format) {
  Format known;
  if (format == LPT_FORMAT_NONE) return {};
  if (find_format(format, known) && check_holds_numbers(format, "format").is_ok() && !known.is_sparse) return {};
  return invalid("format is %s: expected a dense format of numbers", format_name(format).c_str());
}

}  // namespace

Status set_recipe_cast(Recipe &recipe, lpt_linear_cast cast, lpt_format format, const lpt_quantize_options &options) {
  LPT_TRY(check_choice("cast", cast, kCastCount - 1));
  LPT_TRY(check_cast_options(options));
  LPT_TRY(check_recipe_options(options));
  LPT_TRY(check_numbers(format));
  Format known;
  if (format != LPT_FORMAT_NONE) {
    find_format(format, known);
    lpt_scale_rule rule;
    LPT_TRY(resolve_rule(known, options.rounding, options.scale_rule, rule));
  }
  if (is_check_only(options.flags)) return {};
  recipe.casts[cast] = CastRule{known.id,           options.rounding,        options.overflow,
                                options.scale_rule, options.stochastic_bits, options.philox_rounds};
  return {};
}

Status set_recipe_gemm(Recipe &recipe, lpt_linear_gemm gemm, const lpt_linear_gemm_options &options) {
  LPT_TRY(check_choice("product", gemm, kGemmCount - 1));
  LPT_TRY(check_gemm_options(gemm, options));
  if (is_check_only(options.flags)) return {};
  recipe.gemms[gemm] = GemmRule{options.hadamard_size, options.hadamard_signs,
                                options.hadamard_axis, options.source,
                                options.draws,         options.parts,
                                options.output_scale,  (options.flags & LPT_GEMM_FAST_ACCUMULATE) != 0};
  return {};
}

namespace {

Status check_sparse_operand(lpt_linear_operand operand, const lpt_sparse_options &options, int32_t interval) {
  LPT_TRY(check_sparse_options(options));
  if (options.importance != nullptr) return invalid("importance is given: a recipe keeps no handles");
  LPT_TRY(check_no_random(options.random));
  if (operand == LPT_LINEAR_OPERAND_INPUT) {
    if (options.rule != LPT_SPARSE_RULE_MAGNITUDE) {
      return unsupported("rule is %d for the input: expected MAGNITUDE", options.rule);
    }
    if (options.direction != LPT_SPARSE_DIRECTION_ROW) {
      return unsupported("direction is %d for the input: expected ROW, groups of columns", options.direction);
    }
    return check_range("interval", interval, 1);
  }
  const bool is_drawn = options.rule == LPT_SPARSE_RULE_MVUE || options.rule == LPT_SPARSE_RULE_MVUE_TWO_DRAWS;
  if (operand == LPT_LINEAR_OPERAND_WEIGHT) {
    if (is_drawn) return unsupported("rule is %d for the weight: expected MAGNITUDE or SOFT_THRESHOLD", options.rule);
    return check_range("interval", interval, 1 << 20);
  }
  if (options.direction != LPT_SPARSE_DIRECTION_COLUMN) {
    return unsupported("direction is %d for the gradient: expected COLUMN, groups of tokens", options.direction);
  }
  return check_range("interval", interval, 1);
}

}  // namespace

Status set_recipe_sparsity(Recipe &recipe, lpt_linear_operand operand, const lpt_sparse_options *options,
                           int32_t interval) {
  LPT_TRY(check_choice("operand", operand, kOperandCount - 1));
  if (options == nullptr) {
    recipe.sparsity[operand] = SparseRule();
    return {};
  }
  LPT_TRY(check_sparse_operand(operand, *options, interval));
  if (is_check_only(options->flags)) return {};
  recipe.sparsity[operand] =
      SparseRule{options->kept,   options->of,         options->rule,      options->direction,
                 options->solver, options->iterations, options->sharpness, options->philox_rounds,
                 interval};
  return {};
}

Status raise_recipe(Recipe &recipe, lpt_linear_gemm gemm, lpt_format format) {
  LPT_TRY(check_choice("product", gemm, kGemmCount - 1));
  LPT_TRY(check_numbers(format));
  CastRule rule;
  rule.format = format;
  recipe.casts[2 * gemm] = recipe.casts[2 * gemm + 1] = rule;
  const lpt_linear_output_scale output_scale = recipe.gemms[gemm].output_scale;
  recipe.gemms[gemm] = GemmRule();
  recipe.gemms[gemm].output_scale = output_scale;
  return {};
}

}  // namespace lpt
