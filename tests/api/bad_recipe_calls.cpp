#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

template <typename Change>
lpt_status set_gemm(World &w, lpt_linear_gemm gemm, const Change &change) {
  lpt_linear_gemm_options options = LPT_LINEAR_GEMM_OPTIONS_INIT;
  change(options);
  return lpt_recipe_set_gemm(w.c, w.recipe.get(), gemm, &options);
}

// Prepares a linear layer of 8 × 6 with the recipe `name` and runs one call of it.
template <typename Run>
lpt_status with_recipe(World &w, const char *name, lpt_linear_source source, const Run &run) {
  lpt_context *own = w.owner.get();
  Recipe recipe;
  Linear linear;
  lpt_linear_shape shape = {sizeof shape, 8, 6};
  EXPECT_TRUE(ok(own, lpt_recipe_create(own, name, out(recipe))));
  lpt_linear_gemm_options gemm = LPT_LINEAR_GEMM_OPTIONS_INIT;
  gemm.source = source;
  EXPECT_TRUE(ok(own, lpt_recipe_set_gemm(own, recipe.get(), LPT_LINEAR_GEMM_DGRAD, &gemm)));
  EXPECT_TRUE(ok(own, lpt_linear_create(own, recipe.get(), &shape, out(linear))));
  EXPECT_TRUE(ok(own, lpt_linear_prepare(own, linear.get(), w.weight.get(), nullptr)));
  return run(linear.get());
}

lpt_status smooth(World &w, const char *name, lpt_linear_source source) {
  return with_recipe(w, name, source, [&](lpt_linear *linear) {
    lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
    options.input_smoothing = w.input_factors.get();
    return lpt_linear_forward(w.c, linear, w.a.get(), &options, nullptr, w.gemm.get());
  });
}

}  // namespace

const std::vector<BadCall> kRecipeCalls = {
    {"recipe_create: NULL",
     LPT_INVALID_ARGUMENT,
     {"name is NULL"},
     [](World &w) { return lpt_recipe_create(w.c, nullptr, &w.out_recipe); }},
    {"recipe_create: unknown name",
     LPT_INVALID_ARGUMENT,
     {"'fp9'", "f32", "bf16", "fp8_trillion"},
     [](World &w) { return lpt_recipe_create(w.c, "fp9", &w.out_recipe); }},
    {"recipe_set_cast: unknown cast",
     LPT_INVALID_ARGUMENT,
     {"cast is 6", "0 to 5"},
     [](World &w) { return set_cast(w, 6, LPT_FORMAT_BF16, kUnchanged); }},
    {"recipe_set_cast: bytes",
     LPT_INVALID_ARGUMENT,
     {"format is uint8"},
     [](World &w) { return set_cast(w, 0, LPT_FORMAT_UINT8, kUnchanged); }},
    {"recipe_set_cast: no format",
     LPT_INVALID_ARGUMENT,
     {"format is format 4711"},
     [](World &w) { return set_cast(w, 0, 4711, kUnchanged); }},
    {"recipe_set_cast: a handle",
     LPT_INVALID_ARGUMENT,
     {"scaler is given", "no handles"},
     [](World &w) { return set_cast(w, 0, LPT_FORMAT_E5M2_TENSOR, [&](auto &o) { o.scaler = w.scaler.get(); }); }},
    {"recipe_set_cast: random numbers",
     LPT_INVALID_ARGUMENT,
     {"random is set"},
     [](World &w) { return set_cast(w, 0, LPT_FORMAT_E5M2_TENSOR, [](auto &o) { o.random.seed = 1; }); }},
    {"recipe_set_cast: scale rule of another scale",
     LPT_UNSUPPORTED,
     {"scale_rule is 5", "mxfp4"},
     [](World &w) { return set_cast(w, 0, LPT_FORMAT_MXFP4, [](auto &o) { o.scale_rule = LPT_SCALE_RULE_NEAREST; }); }},
    {"recipe_set_cast: no recipe",
     LPT_INVALID_ARGUMENT,
     {"recipe is NULL"},
     [](World &w) { return lpt_recipe_set_cast(w.c, nullptr, 0, LPT_FORMAT_BF16, nullptr); }},
    {"recipe_set_scaler: unknown operand",
     LPT_INVALID_ARGUMENT,
     {"operand is 3", "0 to 2"},
     [](World &w) { return lpt_recipe_set_scaler(w.c, w.recipe.get(), 3, nullptr); }},
    {"recipe_set_scaler: bad options",
     LPT_INVALID_ARGUMENT,
     {"history_length is -1"},
     [](World &w) {
       lpt_scaler_options o = LPT_SCALER_OPTIONS_INIT;
       o.history_length = -1;
       return lpt_recipe_set_scaler(w.c, w.recipe.get(), 0, &o);
     }},
    {"recipe_cast_format: unknown cast",
     LPT_INVALID_ARGUMENT,
     {"cast is -1", "0 to 5"},
     [](World &w) { return lpt_recipe_cast_format(w.c, w.recipe.get(), -1, &w.out_number); }},
    {"recipe_set_cast: a rotation of one operand",
     LPT_UNSUPPORTED,
     {"hadamard_size is set", "lpt_recipe_set_gemm()"},
     [](World &w) { return set_cast(w, 0, LPT_FORMAT_MXFP4, [](auto &o) { o.hadamard_size = 16; }); }},
    {"recipe_set_cast: SAWB for other elements than int4",
     LPT_UNSUPPORTED,
     {"scale_rule is 20", "int8_tensor"},
     [](World &w) {
       return set_cast(w, 0, LPT_FORMAT_INT8_TENSOR, [](auto &o) { o.scale_rule = LPT_SCALE_RULE_SAWB; });
     }},
    {"recipe_set_cast: SAWB for groups",
     LPT_UNSUPPORTED,
     {"scale_rule is 20", "int4_1x32"},
     [](World &w) {
       return set_cast(w, 0, LPT_FORMAT_INT4_1X32, [](auto &o) { o.scale_rule = LPT_SCALE_RULE_SAWB; });
     }},
    {"recipe_set_gemm: no recipe",
     LPT_INVALID_ARGUMENT,
     {"recipe is NULL"},
     [](World &w) { return lpt_recipe_set_gemm(w.c, nullptr, 0, nullptr); }},
    {"recipe_set_gemm: unknown GEMM",
     LPT_INVALID_ARGUMENT,
     {"product is 3", "0 to 2"},
     [](World &w) { return set_gemm(w, 3, kUnchanged); }},
    {"recipe_set_gemm: size that is none",
     LPT_INVALID_ARGUMENT,
     {"hadamard_size is 48", "a power of two from 16 to 8192"},
     [](World &w) { return set_gemm(w, LPT_LINEAR_GEMM_WGRAD, [](auto &o) { o.hadamard_size = 48; }); }},
    {"recipe_set_gemm: unknown signs",
     LPT_INVALID_ARGUMENT,
     {"hadamard_signs is 3", "0 to 2"},
     [](World &w) { return set_gemm(w, LPT_LINEAR_GEMM_WGRAD, [](auto &o) { o.hadamard_signs = 3; }); }},
    {"recipe_set_gemm: unknown axis",
     LPT_INVALID_ARGUMENT,
     {"hadamard_axis is 2", "0 to 1"},
     [](World &w) { return set_gemm(w, LPT_LINEAR_GEMM_DGRAD, [](auto &o) { o.hadamard_axis = 2; }); }},
    {"recipe_set_gemm: rows of another GEMM",
     LPT_UNSUPPORTED,
     {"hadamard_axis is LPT_HADAMARD_AXIS_ROWS", "LPT_LINEAR_GEMM_DGRAD"},
     [](World &w) {
       return set_gemm(w, LPT_LINEAR_GEMM_WGRAD, [](auto &o) { o.hadamard_axis = LPT_HADAMARD_AXIS_ROWS; });
     }},
    {"recipe_set_gemm: unknown source",
     LPT_INVALID_ARGUMENT,
     {"source is 3", "0 to 2"},
     [](World &w) { return set_gemm(w, LPT_LINEAR_GEMM_WGRAD, [](auto &o) { o.source = 3; }); }},
    {"recipe_set_gemm: forward from forward",
     LPT_UNSUPPORTED,
     {"source is 1", "forward"},
     [](World &w) {
       return set_gemm(w, LPT_LINEAR_GEMM_FORWARD, [](auto &o) { o.source = LPT_LINEAR_SOURCE_FORWARD; });
     }},
    {"recipe_set_gemm: no draws",
     LPT_INVALID_ARGUMENT,
     {"draws is 0", "1 to 16"},
     [](World &w) { return set_gemm(w, LPT_LINEAR_GEMM_WGRAD, [](auto &o) { o.draws = 0; }); }},
    {"recipe_set_gemm: too many draws",
     LPT_INVALID_ARGUMENT,
     {"draws is 17", "1 to 16"},
     [](World &w) { return set_gemm(w, LPT_LINEAR_GEMM_WGRAD, [](auto &o) { o.draws = 17; }); }},
    {"recipe_set_gemm: draws of a GEMM without a gradient",
     LPT_UNSUPPORTED,
     {"draws is 2", "forward"},
     [](World &w) { return set_gemm(w, LPT_LINEAR_GEMM_FORWARD, [](auto &o) { o.draws = 2; }); }},
    {"recipe_set_gemm: parts of a GEMM without a gradient",
     LPT_UNSUPPORTED,
     {"parts is 2", "forward"},
     [](World &w) { return set_gemm(w, LPT_LINEAR_GEMM_FORWARD, [](auto &o) { o.parts = 2; }); }},
    {"recipe_set_gemm: too many parts",
     LPT_INVALID_ARGUMENT,
     {"parts is 3", "1 to 2"},
     [](World &w) { return set_gemm(w, LPT_LINEAR_GEMM_WGRAD, [](auto &o) { o.parts = 3; }); }},
    {"recipe_set_gemm: unknown output scale",
     LPT_INVALID_ARGUMENT,
     {"output_scale is 2", "0 to 1"},
     [](World &w) { return set_gemm(w, LPT_LINEAR_GEMM_WGRAD, [](auto &o) { o.output_scale = 2; }); }},
    {"recipe_set_gemm: reserved",
     LPT_UNSUPPORTED,
     {"reserved is 1"},
     [](World &w) { return set_gemm(w, LPT_LINEAR_GEMM_WGRAD, [](auto &o) { o.reserved = 1; }); }},
    {"recipe_set_gemm: unknown flag",
     LPT_UNSUPPORTED,
     {"flags"},
     [](World &w) { return set_gemm(w, LPT_LINEAR_GEMM_WGRAD, [](auto &o) { o.flags = 1u << 20; }); }},
    {"recipe_set_high_precision: no recipe",
     LPT_INVALID_ARGUMENT,
     {"recipe is NULL"},
     [](World &w) { return lpt_recipe_set_high_precision(w.c, nullptr, 0, LPT_FORMAT_BF16); }},
    {"recipe_set_high_precision: unknown GEMM",
     LPT_INVALID_ARGUMENT,
     {"product is -1", "0 to 2"},
     [](World &w) { return lpt_recipe_set_high_precision(w.c, w.recipe.get(), -1, LPT_FORMAT_BF16); }},
    {"recipe_set_high_precision: bytes",
     LPT_INVALID_ARGUMENT,
     {"format is uint8"},
     [](World &w) { return lpt_recipe_set_high_precision(w.c, w.recipe.get(), 0, LPT_FORMAT_UINT8); }},
    {"linear_set_recipe: no layer",
     LPT_INVALID_ARGUMENT,
     {"linear is NULL"},
     [](World &w) { return lpt_linear_set_recipe(w.c, nullptr, w.recipe.get()); }},
    {"linear_set_recipe: no recipe",
     LPT_INVALID_ARGUMENT,
     {"recipe is NULL"},
     [](World &w) { return lpt_linear_set_recipe(w.c, w.linear.get(), nullptr); }},
    {"linear_forward: factors with a rotation",
     LPT_UNSUPPORTED,
     {"input_smoothing", "rotates"},
     [](World &w) { return smooth(w, "halo_2", LPT_LINEAR_SOURCE_PLAIN); }},
    {"linear_forward: factors where backward takes forward's cast",
     LPT_UNSUPPORTED,
     {"input_smoothing", "backward takes what forward multiplied"},
     [](World &w) { return smooth(w, "luq", LPT_LINEAR_SOURCE_FORWARD); }},
    {"linear_backward: nothing saved of what forward clipped",
     LPT_INVALID_ARGUMENT,
     {"saved is NULL", "input_gradient", "clipped"},
     [](World &w) {
       return with_recipe(w, "luq", LPT_LINEAR_SOURCE_FORWARD_CLIPPED, [&](lpt_linear *linear) {
         return lpt_linear_backward(w.c, linear, nullptr, w.output_gradient.get(), nullptr, w.input_gradient.get(),
                                    nullptr, nullptr);
       });
     }},
};

}  // namespace lpt::test
