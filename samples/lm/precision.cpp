#include "precision.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace lm {

namespace {

constexpr const char *kNaive = "naive_nvfp4";
constexpr const char *kMagnitudeGradients = "magnitude24_gradients";
constexpr const char *kSparseInputs = "mvue24_inputs";
constexpr const char *kFullySparse = "fully_sparse24";
constexpr double kMaskDecay = 0.01;  // without decay, masks of unconstrained weights do not converge

const std::vector<StateFormats> &states() {
  static const std::vector<StateFormats> all = {
      {},
      {.name = "bf16", .weight = LPT_FORMAT_BF16, .first_moment = LPT_FORMAT_BF16, .second_moment = LPT_FORMAT_BF16},
      {.name = "bf16_stochastic",
       .weight = LPT_FORMAT_BF16,
       .first_moment = LPT_FORMAT_BF16,
       .second_moment = LPT_FORMAT_BF16,
       .weight_rounding = LPT_ROUNDING_STOCHASTIC},
      {.name = "bf16_kahan",
       .weight = LPT_FORMAT_BF16,
       .first_moment = LPT_FORMAT_BF16,
       .second_moment = LPT_FORMAT_BF16,
       .compensation = LPT_FORMAT_BF16},
      {.name = "fp8_tensor",
       .weight = LPT_FORMAT_F16_TENSOR,
       .first_moment = LPT_FORMAT_E4M3FN_TENSOR,
       .second_moment = LPT_FORMAT_E5M2_TENSOR},
      {.name = "fp8_groups", .first_moment = LPT_FORMAT_E4M3FN_1X128, .second_moment = LPT_FORMAT_E5M2_1X128},
      {.name = "dynamic_8bit", .first_moment = LPT_FORMAT_DYNAMIC_1X256, .second_moment = LPT_FORMAT_DYNAMIC_1X256},
      {.name = "coat",
       .first_moment = LPT_FORMAT_E4M3FN_1X128,
       .second_moment = LPT_FORMAT_E4M3FN_1X128,
       .is_expanded = true},
  };
  return all;
}

struct NamedRecipe {
  const char *name;
  const char *state;
  Precision precision;
};

// Heads and the activations inside blocks use bf16, as in the papers. The stream between blocks is f32.
const std::vector<NamedRecipe> &recipes() {
  static const std::vector<NamedRecipe> all = [] {
    std::vector<NamedRecipe> made = {{"f32", "f32", {}}};
    const auto add = [&](const char *name, const char *state, Precision precision) {
      precision.recipe = name;
      precision.head_recipe = "bf16";
      precision.activations = LPT_FORMAT_BF16;
      made.push_back({name, state, precision});
    };
    add("bf16", "f32", {});
    add("fp8_trillion", "fp8_tensor", {.smoothing = LPT_SWIGLU_SMOOTHING_CHANNEL});
    for (const char *name : {"fp8_current", "mxfp8", "fp8_block", "halo_0", "halo_1", "halo_2", "fp4_all_the_way",
                             "quartet_v1", "quartet_neurips", "luq", "int4_hadamard_sawb"}) {
      add(name, "f32", {});
    }
    add(kNaive, "f32", {});
    add("nvfp4_pretrain", "f32", {.is_last_block_high = true});
    lpt_format groups = LPT_FORMAT_NONE;
    check(nullptr, lpt_format_from_name(nullptr, "e4m3fn/1x16/f32", &groups));
    add("coat", "coat", {.stored = groups});
    add("unit_scaling", "f32", {.is_unit_scaled = true});
    // Sparse recipes are compared with f32, the head included.
    const auto add_sparse = [&](const char *name, const char *recipe, Precision precision) {
      precision.recipe = recipe;
      made.push_back({name, "f32", precision});
    };
    for (const char *name : {"sparse24", "mvue12_gradients", "mvue24_gradients", kMagnitudeGradients, kSparseInputs}) {
      add_sparse(name, name, {});
    }
    add_sparse("sparse24_transposable", "sparse24_transposable", {.mask_decay = kMaskDecay});
    add_sparse("sparse24_undecayed", "sparse24_transposable", {});
    add_sparse("sparse24_from_dense", "sparse24_transposable", {.dense_share = 0.5, .mask_decay = kMaskDecay});
    add_sparse(kFullySparse, kFullySparse, {.mask_decay = kMaskDecay});
    return made;
  }();
  return all;
}

struct NamedMethod {
  const char *name;
  lpt_optimizer_method method;
};
constexpr std::array<NamedMethod, 4> kMethods = {{{"adamw", LPT_OPTIMIZER_METHOD_ADAMW},
                                                  {"adam", LPT_OPTIMIZER_METHOD_ADAM},
                                                  {"sgd", LPT_OPTIMIZER_METHOD_SGD},
                                                  {"lion", LPT_OPTIMIZER_METHOD_LION}}};

struct NamedRaise {
  const char *name;
  Raised raised;
};
constexpr std::array<NamedRaise, 7> kRaises = {{{"nothing", Raised::kNothing},
                                                {"forward", Raised::kForward},
                                                {"backward", Raised::kBackward},
                                                {"all", Raised::kAll},
                                                {"all_f32", Raised::kAllF32},
                                                {"qaf", Raised::kQaf},
                                                {"fnt", Raised::kFnt}}};

template <typename List>
std::vector<std::string> names_of(const List &list) {
  std::vector<std::string> names;
  for (const auto &item : list) {
    names.emplace_back(item.name);
  }
  return names;
}

template <typename List>
const auto &find(const char *what, const List &list, const std::string &name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto &item) { return item.name == name; });
  if (found == list.end()) {
    throw Error(fmt::format("{} is \"{}\", expected one of {}", what, name, fmt::join(names_of(list), ", ")));
  }
  return *found;
}

bool is_raised(Raised raised, lpt_linear_gemm gemm) {
  if (raised == Raised::kAll || raised == Raised::kAllF32) {
    return true;
  }
  if (raised == Raised::kFnt) {
    return gemm == LPT_LINEAR_GEMM_WGRAD;  // it has no weight
  }
  return raised != Raised::kNothing && (raised == Raised::kForward) == (gemm == LPT_LINEAR_GEMM_FORWARD);
}

}  // namespace

Precision precision_of(const std::string &recipe, const std::string &state, const std::string &method) {
  const NamedRecipe &named = find("recipe", recipes(), recipe);
  Precision precision = named.precision;
  precision.state = find("optimizer state", states(), state.empty() ? named.state : state);
  precision.method = method.empty() ? LPT_OPTIMIZER_METHOD_ADAMW : find("optimizer", kMethods, method).method;
  return precision;
}

Precision exact(const Precision &precision) {
  Precision result;
  result.recipe = precision.recipe;
  result.is_unit_scaled = precision.is_unit_scaled;
  result.raised = Raised::kAllF32;
  return result;
}

Raised raised_of(const std::string &name) { return find("what is raised", kRaises, name).raised; }

std::vector<std::string> recipe_names() { return names_of(recipes()); }
std::vector<std::string> state_names() { return names_of(states()); }
std::vector<std::string> method_names() { return names_of(kMethods); }

namespace {

// A custom recipe for comparison: four bits, nearest rounding, no rotation.
Recipe make_naive(lpt_context *context) {
  Recipe recipe = make_recipe(context, "f32");
  for (lpt_linear_cast cast = LPT_LINEAR_CAST_FORWARD_INPUT; cast <= LPT_LINEAR_CAST_WGRAD_INPUT; ++cast) {
    check(context, lpt_recipe_set_cast(context, recipe.get(), cast, LPT_FORMAT_NVFP4, nullptr));
  }
  return recipe;
}

// Keeps the largest of every four output gradients: the baseline for MVUE.
Recipe make_magnitude_gradients(lpt_context *context) {
  Recipe recipe = make_recipe(context, "f32");
  lpt_sparse_options options = LPT_SPARSE_OPTIONS_INIT;
  options.direction = LPT_SPARSE_DIRECTION_COLUMN;
  check(context, lpt_recipe_set_sparsity(context, recipe.get(), LPT_LINEAR_OPERAND_GRADIENT, 1, &options));
  return recipe;
}

// Keeps the largest of every four inputs of a row, and gradients by MVUE (arXiv 2203.10991).
Recipe make_sparse_inputs(lpt_context *context) {
  Recipe recipe = make_recipe(context, "mvue24_gradients");
  const lpt_sparse_options options = LPT_SPARSE_OPTIONS_INIT;
  check(context, lpt_recipe_set_sparsity(context, recipe.get(), LPT_LINEAR_OPERAND_INPUT, 1, &options));
  return recipe;
}

// All three GEMMs are 2:4: transposable weights, and gradients by MVUE.
Recipe make_fully_sparse(lpt_context *context) {
  Recipe recipe = make_recipe(context, "sparse24_transposable");
  lpt_sparse_options options = LPT_SPARSE_OPTIONS_INIT;
  options.direction = LPT_SPARSE_DIRECTION_COLUMN;
  options.rule = LPT_SPARSE_RULE_MVUE;
  check(context, lpt_recipe_set_sparsity(context, recipe.get(), LPT_LINEAR_OPERAND_GRADIENT, 1, &options));
  return recipe;
}

Recipe make_named(lpt_context *context, const std::string &name) {
  if (name == kNaive) {
    return make_naive(context);
  }
  if (name == kMagnitudeGradients) {
    return make_magnitude_gradients(context);
  }
  if (name == kSparseInputs) {
    return make_sparse_inputs(context);
  }
  return name == kFullySparse ? make_fully_sparse(context) : make_recipe(context, name.c_str());
}

}  // namespace

Recipe make_block_recipe(lpt_context *context, const Precision &precision, bool is_last_block) {
  const bool is_high = is_last_block && precision.is_last_block_high;
  Recipe recipe = make_named(context, is_high ? precision.head_recipe : precision.recipe);
  if (precision.recipe == "f32") {
    return recipe;  // nothing to raise
  }
  for (const lpt_linear_gemm gemm : {LPT_LINEAR_GEMM_FORWARD, LPT_LINEAR_GEMM_DGRAD, LPT_LINEAR_GEMM_WGRAD}) {
    if (is_raised(precision.raised, gemm)) {
      const lpt_format format = precision.raised == Raised::kAllF32 ? LPT_FORMAT_NONE : LPT_FORMAT_BF16;
      check(context, lpt_recipe_set_high_precision(context, recipe.get(), gemm, format));
    }
  }
  if (precision.raised == Raised::kFnt) {
    for (const lpt_linear_cast cast : {LPT_LINEAR_CAST_FORWARD_INPUT, LPT_LINEAR_CAST_DGRAD_GRADIENT}) {
      check(context, lpt_recipe_set_cast(context, recipe.get(), cast, LPT_FORMAT_BF16, nullptr));
    }
  }
  return recipe;
}

}  // namespace lm
