#include "tests/api/bad_calls.hpp"

namespace lpt::test {

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
};

}  // namespace lpt::test
