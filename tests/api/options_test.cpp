// Defaults, and what callers get that were compiled with an older or a newer header.
#include <cstddef>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

// ---- defaults: the macro, the function, and what either side may not know

template <typename Struct>
struct Defaults {
  void (*init)(Struct *, size_t);
  Struct macro;
};

template <typename Struct>
std::vector<uint8_t> bytes(const Struct &value) {
  std::vector<uint8_t> result(sizeof value);
  std::memcpy(result.data(), &value, sizeof value);
  return result;
}

// Calls `body(name, defaults)` for every struct that has defaults.
template <typename Body>
void for_each_struct(Body body) {
  body("lpt_context_options", Defaults<lpt_context_options>{lpt_context_options_init, LPT_CONTEXT_OPTIONS_INIT});
  body("lpt_profile_entry", Defaults<lpt_profile_entry>{lpt_profile_entry_init, LPT_PROFILE_ENTRY_INIT});
  body("lpt_format_description",
       Defaults<lpt_format_description>{lpt_format_description_init, LPT_FORMAT_DESCRIPTION_INIT});
  body("lpt_device_info", Defaults<lpt_device_info>{lpt_device_info_init, LPT_DEVICE_INFO_INIT});
  body("lpt_tensor_description",
       Defaults<lpt_tensor_description>{lpt_tensor_description_init, LPT_TENSOR_DESCRIPTION_INIT});
  body("lpt_quantize_options", Defaults<lpt_quantize_options>{lpt_quantize_options_init, LPT_QUANTIZE_OPTIONS_INIT});
  body("lpt_statistics_info", Defaults<lpt_statistics_info>{lpt_statistics_info_init, LPT_STATISTICS_INFO_INIT});
  body("lpt_hadamard_options", Defaults<lpt_hadamard_options>{lpt_hadamard_options_init, LPT_HADAMARD_OPTIONS_INIT});
  body("lpt_sparse_options", Defaults<lpt_sparse_options>{lpt_sparse_options_init, LPT_SPARSE_OPTIONS_INIT});
  body("lpt_sparse_fit_options",
       Defaults<lpt_sparse_fit_options>{lpt_sparse_fit_options_init, LPT_SPARSE_FIT_OPTIONS_INIT});
  body("lpt_sparse_fit_info", Defaults<lpt_sparse_fit_info>{lpt_sparse_fit_info_init, LPT_SPARSE_FIT_INFO_INIT});
  body("lpt_sparse_info", Defaults<lpt_sparse_info>{lpt_sparse_info_init, LPT_SPARSE_INFO_INIT});
  body("lpt_convert_options", Defaults<lpt_convert_options>{lpt_convert_options_init, LPT_CONVERT_OPTIONS_INIT});
  body("lpt_dequantize_options",
       Defaults<lpt_dequantize_options>{lpt_dequantize_options_init, LPT_DEQUANTIZE_OPTIONS_INIT});
  body("lpt_scaler_options", Defaults<lpt_scaler_options>{lpt_scaler_options_init, LPT_SCALER_OPTIONS_INIT});
  body("lpt_scaler_info", Defaults<lpt_scaler_info>{lpt_scaler_info_init, LPT_SCALER_INFO_INIT});
  body("lpt_noise_options", Defaults<lpt_noise_options>{lpt_noise_options_init, LPT_NOISE_OPTIONS_INIT});
  body("lpt_noise_info", Defaults<lpt_noise_info>{lpt_noise_info_init, LPT_NOISE_INFO_INIT});
  body("lpt_swiglu_alignment_info",
       Defaults<lpt_swiglu_alignment_info>{lpt_swiglu_alignment_info_init, LPT_SWIGLU_ALIGNMENT_INFO_INIT});
  body("lpt_gemm_options", Defaults<lpt_gemm_options>{lpt_gemm_options_init, LPT_GEMM_OPTIONS_INIT});
  body("lpt_gemm_plan_info", Defaults<lpt_gemm_plan_info>{lpt_gemm_plan_info_init, LPT_GEMM_PLAN_INFO_INIT});
  body("lpt_gemm_operands", Defaults<lpt_gemm_operands>{lpt_gemm_operands_init, LPT_GEMM_OPERANDS_INIT});
  body("lpt_weights_options", Defaults<lpt_weights_options>{lpt_weights_options_init, LPT_WEIGHTS_OPTIONS_INIT});
  body("lpt_linear_gemm_options",
       Defaults<lpt_linear_gemm_options>{lpt_linear_gemm_options_init, LPT_LINEAR_GEMM_OPTIONS_INIT});
  body("lpt_linear_shape", Defaults<lpt_linear_shape>{lpt_linear_shape_init, LPT_LINEAR_SHAPE_INIT});
  body("lpt_linear_options", Defaults<lpt_linear_options>{lpt_linear_options_init, LPT_LINEAR_OPTIONS_INIT});
  body("lpt_swiglu_options", Defaults<lpt_swiglu_options>{lpt_swiglu_options_init, LPT_SWIGLU_OPTIONS_INIT});
  body("lpt_rmsnorm_options", Defaults<lpt_rmsnorm_options>{lpt_rmsnorm_options_init, LPT_RMSNORM_OPTIONS_INIT});
  body("lpt_cross_entropy_options",
       Defaults<lpt_cross_entropy_options>{lpt_cross_entropy_options_init, LPT_CROSS_ENTROPY_OPTIONS_INIT});
  body("lpt_softmax_options", Defaults<lpt_softmax_options>{lpt_softmax_options_init, LPT_SOFTMAX_OPTIONS_INIT});
  body("lpt_optimizer_options",
       Defaults<lpt_optimizer_options>{lpt_optimizer_options_init, LPT_OPTIMIZER_OPTIONS_INIT});
  body("lpt_optimizer_parameter",
       Defaults<lpt_optimizer_parameter>{lpt_optimizer_parameter_init, LPT_OPTIMIZER_PARAMETER_INIT});
  body("lpt_optimizer_step_options",
       Defaults<lpt_optimizer_step_options>{lpt_optimizer_step_options_init, LPT_OPTIMIZER_STEP_OPTIONS_INIT});
  body("lpt_optimizer_info", Defaults<lpt_optimizer_info>{lpt_optimizer_info_init, LPT_OPTIMIZER_INFO_INIT});
  body("lpt_comm_options", Defaults<lpt_comm_options>{lpt_comm_options_init, LPT_COMM_OPTIONS_INIT});
  body("lpt_comm_info", Defaults<lpt_comm_info>{lpt_comm_info_init, LPT_COMM_INFO_INIT});
  body("lpt_comm_codec", Defaults<lpt_comm_codec>{lpt_comm_codec_init, LPT_COMM_CODEC_INIT});
  body("lpt_reduce_options", Defaults<lpt_reduce_options>{lpt_reduce_options_init, LPT_REDUCE_OPTIONS_INIT});
  body("lpt_partial_plan_options",
       Defaults<lpt_partial_plan_options>{lpt_partial_plan_options_init, LPT_PARTIAL_PLAN_OPTIONS_INIT});
  body("lpt_partial_plan_info",
       Defaults<lpt_partial_plan_info>{lpt_partial_plan_info_init, LPT_PARTIAL_PLAN_INFO_INIT});
  body("lpt_gradient_buckets_options",
       Defaults<lpt_gradient_buckets_options>{lpt_gradient_buckets_options_init, LPT_GRADIENT_BUCKETS_OPTIONS_INIT});
  body("lpt_optimizer_shard_options",
       Defaults<lpt_optimizer_shard_options>{lpt_optimizer_shard_options_init, LPT_OPTIMIZER_SHARD_OPTIONS_INIT});
  body("lpt_gradient_buckets_info",
       Defaults<lpt_gradient_buckets_info>{lpt_gradient_buckets_info_init, LPT_GRADIENT_BUCKETS_INFO_INIT});
  body("lpt_cost_link", Defaults<lpt_cost_link>{lpt_cost_link_init, LPT_COST_LINK_INIT});
  body("lpt_cost_info", Defaults<lpt_cost_info>{lpt_cost_info_init, LPT_COST_INFO_INIT});
  body("lpt_cost_cast_rates", Defaults<lpt_cost_cast_rates>{lpt_cost_cast_rates_init, LPT_COST_CAST_RATES_INIT});
  body("lpt_gradients_info", Defaults<lpt_gradients_info>{lpt_gradients_info_init, LPT_GRADIENTS_INFO_INIT});
}

// Room for any struct of this release and of later ones, filled with a canary.
constexpr uint8_t kCanary = 0xC7;
template <typename Struct>
struct alignas(16) Space {
  uint8_t memory[sizeof(Struct) + 128];
  Space() { std::memset(memory, kCanary, sizeof memory); }
  Struct *as_struct() { return reinterpret_cast<Struct *>(memory); }
};

TEST(Options, InitWritesWhatTheMacroSays) {
  for_each_struct([](const char *name, auto defaults) {
    Space<decltype(defaults.macro)> space;
    defaults.init(space.as_struct(), sizeof defaults.macro);
    const std::vector<uint8_t> expected = bytes(defaults.macro);
    EXPECT_EQ(expected, std::vector<uint8_t>(space.memory, space.memory + expected.size())) << name;
  });
}

TEST(Options, InitNeverWritesPastTheCallersSize) {
  for_each_struct([](const char *name, auto defaults) {
    using Struct = decltype(defaults.macro);
    for (size_t size = 0; size <= sizeof(Struct) + 64; ++size) {
      Space<Struct> space;
      defaults.init(space.as_struct(), size);
      for (size_t i = size; i < sizeof space.memory; ++i) ASSERT_EQ(kCanary, space.memory[i]) << name << " " << size;
    }
  });
}

TEST(Options, InitOfAnOlderCallerWritesTheMembersThatItKnows) {
  for_each_struct([](const char *name, auto defaults) {
    using Struct = decltype(defaults.macro);
    const std::vector<uint8_t> expected = bytes(defaults.macro);
    for (size_t size = sizeof(size_t); size < sizeof(Struct); size += 4) {
      Space<Struct> space;
      defaults.init(space.as_struct(), size);
      EXPECT_EQ(size, space.as_struct()->struct_size) << name;
      for (size_t i = sizeof(size_t); i < size; ++i) ASSERT_EQ(expected[i], space.memory[i]) << name << " byte " << i;
    }
  });
}

TEST(Options, InitOfANewerCallerZeroesTheMembersThatItKnowsAlone) {
  for_each_struct([](const char *name, auto defaults) {
    using Struct = decltype(defaults.macro);
    Space<Struct> space;
    defaults.init(space.as_struct(), sizeof(Struct) + 24);
    EXPECT_EQ(sizeof(Struct) + 24, space.as_struct()->struct_size) << name;
    for (size_t i = sizeof(Struct); i < sizeof(Struct) + 24; ++i) ASSERT_EQ(0, space.memory[i]) << name;
  });
}

TEST(Options, InitTakesNull) {
  for_each_struct([](const char *, auto defaults) { defaults.init(nullptr, sizeof defaults.macro); });
}

// ---- callers of another release

lpt_status quantize_with(lpt_context *context, const lpt_quantize_options *options, std::vector<float> &target) {
  const std::vector<float> source = {1.0f + 0x1p-12f, -3.0f};
  target.assign(2, 0.0f);
  const Tensor input = wrap(context, source, 1, 2);
  const Tensor rounded = make_tensor(context, LPT_FORMAT_BF16, 1, 2);
  const lpt_status status = lpt_quantize(context, input.get(), options, rounded.get(), nullptr);
  if (status != LPT_OK) return status;
  const std::vector<double> numbers = numbers_of(context, rounded.get());
  target.assign({static_cast<float>(numbers[0]), static_cast<float>(numbers[1])});
  return status;
}

TEST(Options, OfAnOlderCallerGetDefaultsForWhatItDoesNotKnow) {
  const Context context = make_context();
  // A caller whose struct ended behind `overflow`. What stands behind it in memory is not looked at.
  lpt_quantize_options options;
  std::memset(&options, kCanary, sizeof options);
  options.struct_size = offsetof(lpt_quantize_options, scale_rule);
  options.flags = 0;
  options.rounding = LPT_ROUNDING_TOWARD_ZERO;
  options.overflow = LPT_OVERFLOW_SATURATE;
  std::vector<float> target;
  ASSERT_TRUE(ok(context.get(), quantize_with(context.get(), &options, target)));
  EXPECT_EQ((std::vector<float>{1.0f, -3.0f}), target);
}

TEST(Options, OfTheFirstMemberAloneAreTheDefaults) {
  const Context context = make_context();
  lpt_quantize_options options;
  std::memset(&options, kCanary, sizeof options);
  options.struct_size = sizeof(size_t);
  std::vector<float> target;
  EXPECT_TRUE(ok(context.get(), quantize_with(context.get(), &options, target)));
}

TEST(Options, OfANewerCallerMayHaveAZeroTail) {
  const Context context = make_context();
  Space<lpt_quantize_options> space;
  lpt_quantize_options_init(space.as_struct(), sizeof(lpt_quantize_options) + 40);
  std::vector<float> target;
  EXPECT_TRUE(ok(context.get(), quantize_with(context.get(), space.as_struct(), target)));
}

TEST(Options, OfANewerCallerMayNotSetWhatIsUnknown) {
  const Context context = make_context();
  Space<lpt_quantize_options> space;
  lpt_quantize_options_init(space.as_struct(), sizeof(lpt_quantize_options) + 40);
  space.memory[sizeof(lpt_quantize_options) + 39] = 1;
  std::vector<float> target;
  EXPECT_EQ(LPT_UNSUPPORTED, quantize_with(context.get(), space.as_struct(), target));
}

TEST(Options, NullStandsForTheDefaults) {
  const Context context = make_context();
  std::vector<float> given, absent;
  const lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  ASSERT_TRUE(ok(context.get(), quantize_with(context.get(), &options, given)));
  ASSERT_TRUE(ok(context.get(), quantize_with(context.get(), nullptr, absent)));
  EXPECT_EQ(given, absent);
}

TEST(Answers, AreWrittenAsFarAsAnOlderCallerHasSpace) {
  const Context context = make_context();
  Scaler scaler;
  ASSERT_TRUE(ok(context.get(), lpt_scaler_create(context.get(), nullptr, out(scaler))));
  Space<lpt_scaler_info> space;
  space.as_struct()->struct_size = offsetof(lpt_scaler_info, running_amax);
  ASSERT_TRUE(ok(context.get(), lpt_scaler_read(context.get(), scaler.get(), space.as_struct())));
  EXPECT_EQ(0.0f, space.as_struct()->amax);
  for (size_t i = offsetof(lpt_scaler_info, running_amax); i < sizeof space.memory; ++i) {
    ASSERT_EQ(kCanary, space.memory[i]) << i;
  }
}

}  // namespace
}  // namespace lpt::test
