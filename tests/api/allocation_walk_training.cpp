// Walks over scalers, recipes, linear layers and optimizers.
#include "tests/api/allocation_walk.hpp"

namespace lpt::test {
namespace {

lpt_status walk_scalers(WalkWorld &w) {
  static std::vector<uint8_t> saved;
  OwnScaler scalers[2];
  lpt_scaler_options options = LPT_SCALER_OPTIONS_INIT;
  options.kind = LPT_SCALER_KIND_DELAYED;
  options.history_length = 4;
  OwnTensor codes;
  LPT_TEST_TRY(w.create(LPT_FORMAT_E4M3FN_TENSOR, kSide, kSide, codes));
  for (OwnScaler &scaler : scalers) {
    LPT_TEST_TRY(lpt_scaler_create(w.c, &options, scaler.out()));
    lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
    cast.scaler = scaler;
    LPT_TEST_TRY(lpt_quantize(w.c, w.x.get(), &cast, codes, nullptr));
  }
  {
    const Paused paused;
    saved = state_of(w.c, scalers[0]);
  }
  const auto bits = [&] {
    std::vector<uint8_t> all = state_of(w.c, scalers[0]);
    const std::vector<uint8_t> more = state_of(w.c, scalers[1]);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  lpt_scaler *const both[] = {scalers[0], scalers[1]};
  LPT_TEST_TRY(all_or_nothing(bits, [&] { return lpt_scaler_update(w.c, both, 2); }));
  lpt_scaler_info values = LPT_SCALER_INFO_INIT;
  LPT_TEST_TRY(lpt_scaler_read(w.c, scalers[0], &values));
  return all_or_nothing(bits, [&] { return lpt_scaler_state_load(w.c, scalers[0], saved.data(), saved.size()); });
}

// Runs forward, backward, update, save and load of a layer with a recipe.
lpt_status walk_linear(WalkWorld &w, const char *name) {
  static std::vector<uint8_t> saved_state;
  OwnRecipe recipe;
  OwnLinear linears[2];
  OwnTensor saved, input_gradient, weight_gradient, bias_gradient;
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = shape.output_columns = kSide;
  LPT_TEST_TRY(lpt_recipe_create(w.c, name, recipe.out()));
  lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
  options.bias = w.vector.get();
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, kSide, kSide, input_gradient));
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, kSide, kSide, weight_gradient));
  LPT_TEST_TRY(w.create(LPT_FORMAT_F32, 1, kSide, bias_gradient));
  for (OwnLinear &linear : linears) {
    LPT_TEST_TRY(lpt_linear_create(w.c, recipe, &shape, linear.out()));
    LPT_TEST_TRY(lpt_linear_watch(w.c, linear, 1));
    LPT_TEST_TRY(lpt_linear_prepare(w.c, linear, w.y.get(), nullptr));
    size_t bytes = 0;
    LPT_TEST_TRY(lpt_linear_saved_size(w.c, linear, kSide, &bytes));
    const int64_t extents[] = {static_cast<int64_t>(bytes)};
    LPT_TEST_TRY(lpt_tensor_create(w.c, LPT_FORMAT_UINT8, 1, extents, saved.out()));
    LPT_TEST_TRY(lpt_linear_forward(w.c, linear, w.x.get(), &options, saved, w.z.get()));
    LPT_TEST_TRY(
        lpt_linear_backward(w.c, linear, saved, w.z.get(), &options, input_gradient, weight_gradient, bias_gradient));
  }
  const auto bits = [&] {
    std::vector<uint8_t> all = state_of(w.c, linears[0]);
    const std::vector<uint8_t> more = state_of(w.c, linears[1]);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  {
    const Paused paused;
    saved_state = state_of(w.c, linears[0]);
  }
  lpt_linear *const both[] = {linears[0], linears[1]};
  LPT_TEST_TRY(all_or_nothing(bits, [&] { return lpt_linear_update_scalers(w.c, both, 2); }));
  OwnMonitor monitor;
  LPT_TEST_TRY(lpt_monitor_create(w.c, monitor.out()));
  LPT_TEST_TRY(lpt_monitor_record_linear(w.c, monitor, 1, "layers.0.feed_forward.up_projection", linears[0]));
  LPT_TEST_TRY(all_or_nothing(
      bits, [&] { return lpt_linear_state_load(w.c, linears[0], saved_state.data(), saved_state.size()); }));
  return all_or_nothing(bits, [&] { return lpt_linear_set_recipe(w.c, linears[0], recipe); });
}

lpt_status walk_recipes(WalkWorld &w) {
  OwnRecipe recipe;
  LPT_TEST_TRY(lpt_recipe_create(w.c, "bf16", recipe.out()));
  LPT_TEST_TRY(lpt_recipe_set_cast(w.c, recipe, 0, LPT_FORMAT_MXFP4, nullptr));
  LPT_TEST_TRY(lpt_recipe_set_gemm(w.c, recipe, 0, nullptr));
  lpt_format format = LPT_FORMAT_NONE;
  LPT_TEST_TRY(lpt_recipe_cast_format(w.c, recipe, 0, &format));
  return lpt_recipe_set_high_precision(w.c, recipe, 0, LPT_FORMAT_BF16);
}

lpt_status walk_autopilot(WalkWorld &w) {
  static std::vector<uint8_t> saved;
  static lpt_autopilot_decision decisions[3];
  OwnRecipe recipes[2], composed;
  OwnAutopilot autopilot, follower;
  for (OwnRecipe &recipe : recipes) LPT_TEST_TRY(lpt_recipe_create(w.c, "bf16", recipe.out()));
  const lpt_recipe *const ladder[] = {recipes[0], recipes[1]};
  const double costs[] = {0.0, 1.0}, work = 1.0;
  lpt_autopilot_options options = LPT_AUTOPILOT_OPTIONS_INIT;
  options.step_count = 4;
  options.budget = 1.0;
  options.raises_last_steps = 0;
  for (OwnAutopilot *one : {&autopilot, &follower}) {
    LPT_TEST_TRY(lpt_autopilot_create(w.c, ladder, costs, 2, &work, 1, &options, one->out()));
  }
  const auto bits = [&] { return state_of(w.c, autopilot); };
  int64_t changes = 0;
  LPT_TEST_TRY(all_or_nothing(bits, [&] { return lpt_autopilot_step(w.c, autopilot, 0, NAN, &changes); }));
  EXPECT_EQ(3, changes);
  {
    const Paused paused;
    saved = state_of(w.c, autopilot);
  }
  LPT_TEST_TRY(lpt_autopilot_recipe(w.c, autopilot, 0, composed.out()));
  LPT_TEST_TRY(lpt_autopilot_decisions(w.c, autopilot, 3, decisions));
  const auto follower_bits = [&] { return state_of(w.c, follower); };
  LPT_TEST_TRY(all_or_nothing(follower_bits, [&] { return lpt_autopilot_replay(w.c, follower, decisions, 3); }));
  LPT_TEST_TRY(all_or_nothing(follower_bits, [&] { return lpt_autopilot_step(w.c, follower, 0, 1.0, &changes); }));
  return all_or_nothing(bits, [&] { return lpt_autopilot_state_load(w.c, autopilot, saved.data(), saved.size()); });
}

// Steps, saves and loads two parameters of different sizes. The context has no threads before the step; the step starts them.
lpt_status walk_optimizer(WalkWorld &w, lpt_format first, lpt_format second, bool is_in_files) {
  static std::vector<uint8_t> states[2];
  const bool has_compensation = first == LPT_FORMAT_BF16;
  OwnOptimizer optimizer;
  OwnTensor gradients[2], values[2];
  int64_t indices[2] = {};
  LPT_TEST_TRY(lpt_optimizer_create(w.c, nullptr, optimizer.out()));
  if (is_in_files) LPT_TEST_TRY(lpt_optimizer_set_directory(w.c, optimizer, testing::TempDir().c_str(), 4 << 20));
  const int64_t sides[] = {kSide, 4 * kSide};
  for (size_t k = 0; k < 2; ++k) {
    lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
    parameter.elements = sides[k] * sides[k];
    parameter.first_moment = first;
    parameter.second_moment = second;
    parameter.first_scaling = first == LPT_FORMAT_E4M3FN_TENSOR ? LPT_SCALER_KIND_DELAYED : LPT_SCALER_KIND_CURRENT;
    parameter.compensation = has_compensation ? LPT_FORMAT_BF16 : LPT_FORMAT_NONE;
    LPT_TEST_TRY(lpt_optimizer_add(w.c, optimizer, nullptr, &parameter, &indices[k]));
    LPT_TEST_TRY(w.create(LPT_FORMAT_F32, sides[k], sides[k], gradients[k]));
    LPT_TEST_TRY(w.create(has_compensation ? LPT_FORMAT_BF16 : LPT_FORMAT_F32, sides[k], sides[k], values[k]));
    const Paused paused;
    std::fill_n(part_data<float>(w.c, gradients[k], LPT_TENSOR_PART_PAYLOAD), parameter.elements, 0.5f);
  }
  const auto bits = [&] {
    KeptBytes bytes;
    for (size_t k = 0; k < 2; ++k) {
      const std::vector<uint8_t> state = state_of(w.c, optimizer, indices[k]);
      bytes.all.insert(bytes.all.end(), state.begin(), state.end());
      bytes.add(w.c, values[k]);
    }
    return bytes.all;
  };
  const lpt_tensor *const all_gradients[] = {gradients[0], gradients[1]};
  lpt_tensor *const all_values[] = {values[0], values[1]};
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.largest_norm = 1.0;
  OwnLossScaler scaler;
  LPT_TEST_TRY(lpt_loss_scaler_create(w.c, nullptr, scaler.out()));
  options.loss_scaler = scaler;
  const auto step = [&] { return lpt_optimizer_step(w.c, optimizer, indices, 2, all_gradients, &options, all_values); };
  LPT_TEST_TRY(lpt_context_set_threads(w.c, 2));
  LPT_TEST_TRY(all_or_nothing(bits, step));
  LPT_TEST_TRY(all_or_nothing(bits, step));
  const auto scaler_bits = [&] { return state_of(w.c, scaler); };
  LPT_TEST_TRY(all_or_nothing(scaler_bits, [&] { return lpt_loss_scaler_update(w.c, scaler); }));
  lpt_optimizer_info read = LPT_OPTIMIZER_INFO_INIT;
  LPT_TEST_TRY(lpt_optimizer_read(w.c, optimizer, &read));
  {
    const Paused paused;
    for (size_t k = 0; k < 2; ++k) states[k] = state_of(w.c, optimizer, indices[k]);
    EXPECT_TRUE(ok(w.c, step()));
  }
  LPT_TEST_TRY(all_or_nothing(
      bits, [&] { return lpt_optimizer_state_load(w.c, optimizer, indices[0], states[0].data(), states[0].size()); }));
  const void *const buffers[] = {states[1].data()};
  const size_t sizes[] = {states[1].size()};
  return all_or_nothing(bits,
                        [&] { return lpt_optimizer_state_load_many(w.c, optimizer, indices[1], buffers, sizes, 1); });
}

}  // namespace

const std::vector<Walk> kTrainingWalks = {
    {"Scalers", walk_scalers},
    {"Recipes", walk_recipes},
    {"Autopilot", walk_autopilot},
    {"LinearFp8", [](WalkWorld &w) { return walk_linear(w, "fp8_trillion"); }},
    {"LinearNvfp4", [](WalkWorld &w) { return walk_linear(w, "nvfp4_pretrain"); }},
    {"LinearQuartet", [](WalkWorld &w) { return walk_linear(w, "quartet_v1"); }},
    {"LinearInt4", [](WalkWorld &w) { return walk_linear(w, "int4_hadamard_sawb"); }},
    {"LinearSparse", [](WalkWorld &w) { return walk_linear(w, "sparse24_transposable"); }},
    {"LinearSparseGradients", [](WalkWorld &w) { return walk_linear(w, "mvue24_gradients"); }},
    {"OptimizerTensorScales",
     [](WalkWorld &w) { return walk_optimizer(w, LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_F16_TENSOR, false); }},
    {"OptimizerGroups",
     [](WalkWorld &w) { return walk_optimizer(w, LPT_FORMAT_DYNAMIC_1X256, LPT_FORMAT_E5M2_1X128, false); }},
    {"OptimizerCompensated", [](WalkWorld &w) { return walk_optimizer(w, LPT_FORMAT_BF16, LPT_FORMAT_BF16, false); }},
    {"OptimizerFiles", [](WalkWorld &w) { return walk_optimizer(w, LPT_FORMAT_F32, LPT_FORMAT_E4M3FN_1X128, true); }},
};

}  // namespace lpt::test
