#include <cstring>

#include "src/ops/linear.hpp"

namespace lpt {
namespace {

// Trillion-token FP8 training (arXiv 2409.12517): e4m3 forward, e5m2 in all three backward operands' casts, only the
// output gradient rounded stochastically. The history of one update holds the amax of one whole optimizer step.
Recipe fp8_trillion() {
  Recipe recipe;
  CastRule forward;
  forward.format = LPT_FORMAT_E4M3FN_TENSOR;
  forward.rule = LPT_SCALE_RULE_POWER_OF_TWO;
  CastRule backward = forward;
  backward.format = LPT_FORMAT_E5M2_TENSOR;
  CastRule gradient = backward;
  gradient.rounding = LPT_ROUNDING_STOCHASTIC;
  recipe.casts[LPT_CAST_FORWARD_INPUT] = forward;
  recipe.casts[LPT_CAST_FORWARD_WEIGHT] = forward;
  recipe.casts[LPT_CAST_DGRAD_GRADIENT] = gradient;
  recipe.casts[LPT_CAST_DGRAD_WEIGHT] = backward;
  recipe.casts[LPT_CAST_WGRAD_GRADIENT] = gradient;
  recipe.casts[LPT_CAST_WGRAD_INPUT] = backward;
  for (lpt_scaler_options &scaler : recipe.scalers) scaler.kind = LPT_SCALER_DELAYED;
  return recipe;
}

Recipe bf16() {
  Recipe recipe;
  for (CastRule &cast : recipe.casts) cast.format = LPT_FORMAT_BF16;
  return recipe;
}

Recipe f32() { return {}; }

struct NamedRecipe {
  const char *name;
  Recipe (*make)();
};
constexpr NamedRecipe kRecipes[] = {{"f32", f32}, {"bf16", bf16}, {"fp8_trillion", fp8_trillion}};

}  // namespace

Status make_recipe(const char *name, Recipe &out_recipe) {
  std::string names;
  for (const NamedRecipe &recipe : kRecipes) {
    if (std::strcmp(name, recipe.name) == 0) {
      out_recipe = recipe.make();
      return {};
    }
    names += std::string(names.empty() ? "" : ", ") + recipe.name;
  }
  return invalid("name is '%.64s': expected one of %s", name, names.c_str());
}

Status set_recipe_cast(Recipe &recipe, lpt_cast cast, lpt_format format, const lpt_quantize_options &options) {
  LPT_TRY(check_choice("cast", cast, kCastCount - 1));
  LPT_TRY(check_cast_options(options));
  const std::pair<const char *, const void *> handles[] = {{"scaler", options.scaler},
                                                           {"smoothing", options.smoothing},
                                                           {"hadamard_signs", options.hadamard_signs},
                                                           {"random_words", options.random_words},
                                                           {"scale_list", options.scale_list},
                                                           {"statistics", options.statistics}};
  for (const auto &[name, handle] : handles) {
    if (handle != nullptr) return invalid("%s is given: a recipe keeps no handles", name);
  }
  if (options.hadamard_size != 0 || (options.flags & LPT_KEEP_TENSOR_SCALE) != 0) {
    return unsupported("%s is set: a recipe casts without it", options.hadamard_size != 0 ? "hadamard_size" : "flags");
  }
  const lpt_random &random = options.random;
  if (random.seed != 0 || random.offset != 0 || random.row_stride != 0 || random.stream != 0 || random.step != 0) {
    return invalid("random is set: a recipe keeps no random numbers, they come with each call");
  }
  if (format != LPT_FORMAT_NONE) {
    Format known;
    if (!find_format(format, known) || known.id == LPT_FORMAT_UINT8) {
      return invalid("format is %s: expected a format of numbers", format_name(format).c_str());
    }
    lpt_scale_rule rule;
    LPT_TRY(resolve_rule(known, options.rounding, options.scale_rule, rule));
  }
  if ((options.flags & LPT_CHECK_ONLY) != 0) return {};
  recipe.casts[cast] = CastRule{
      format, options.rounding, options.overflow, options.scale_rule, options.stochastic_bits, options.philox_rounds};
  return {};
}

}  // namespace lpt
