// Defaults, and calls of callers that were compiled with an older or a newer header.
#include <cstddef>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

// Defaults: the macro, the function, and members that only one side has.

template <typename Struct>
struct Defaults {
  const char *name;
  Struct macro;

  int32_t init(Struct *value, size_t size) const { return lpt_struct_init(name, value, size); }
};

template <typename Struct>
std::vector<uint8_t> bytes(const Struct &value) {
  std::vector<uint8_t> result(sizeof value);
  std::memcpy(result.data(), &value, sizeof value);
  return result;
}

// Calls `body(name, defaults)` for every struct with defaults.
template <typename Body>
void for_each_struct(Body body) {
#define LPT_BODY(type, macro) body(#type, Defaults<type>{#type, macro})
  LPT_BODY(lpt_context_options, LPT_CONTEXT_OPTIONS_INIT);
  LPT_BODY(lpt_profile_entry, LPT_PROFILE_ENTRY_INIT);
  LPT_BODY(lpt_format_description, LPT_FORMAT_DESCRIPTION_INIT);
  LPT_BODY(lpt_device_info, LPT_DEVICE_INFO_INIT);
  LPT_BODY(lpt_tensor_description, LPT_TENSOR_DESCRIPTION_INIT);
  LPT_BODY(lpt_quantize_options, LPT_QUANTIZE_OPTIONS_INIT);
  LPT_BODY(lpt_statistics_info, LPT_STATISTICS_INFO_INIT);
  LPT_BODY(lpt_hadamard_options, LPT_HADAMARD_OPTIONS_INIT);
  LPT_BODY(lpt_sparse_options, LPT_SPARSE_OPTIONS_INIT);
  LPT_BODY(lpt_sparse_fit_options, LPT_SPARSE_FIT_OPTIONS_INIT);
  LPT_BODY(lpt_sparse_fit_info, LPT_SPARSE_FIT_INFO_INIT);
  LPT_BODY(lpt_calibration_options, LPT_CALIBRATION_OPTIONS_INIT);
  LPT_BODY(lpt_calibration_info, LPT_CALIBRATION_INFO_INIT);
  LPT_BODY(lpt_weights_fit_options, LPT_WEIGHTS_FIT_OPTIONS_INIT);
  LPT_BODY(lpt_weights_fit_info, LPT_WEIGHTS_FIT_INFO_INIT);
  LPT_BODY(lpt_format_choose_info, LPT_FORMAT_CHOOSE_INFO_INIT);
  LPT_BODY(lpt_sparse_info, LPT_SPARSE_INFO_INIT);
  LPT_BODY(lpt_convert_options, LPT_CONVERT_OPTIONS_INIT);
  LPT_BODY(lpt_dequantize_options, LPT_DEQUANTIZE_OPTIONS_INIT);
  LPT_BODY(lpt_scaler_options, LPT_SCALER_OPTIONS_INIT);
  LPT_BODY(lpt_scaler_info, LPT_SCALER_INFO_INIT);
  LPT_BODY(lpt_noise_options, LPT_NOISE_OPTIONS_INIT);
  LPT_BODY(lpt_noise_info, LPT_NOISE_INFO_INIT);
  LPT_BODY(lpt_swiglu_alignment_info, LPT_SWIGLU_ALIGNMENT_INFO_INIT);
  LPT_BODY(lpt_gemm_options, LPT_GEMM_OPTIONS_INIT);
  LPT_BODY(lpt_power_options, LPT_POWER_OPTIONS_INIT);
  LPT_BODY(lpt_power_info, LPT_POWER_INFO_INIT);
  LPT_BODY(lpt_gemm_emulation, LPT_GEMM_EMULATION_INIT);
  LPT_BODY(lpt_gemm_plan_info, LPT_GEMM_PLAN_INFO_INIT);
  LPT_BODY(lpt_gemm_operands, LPT_GEMM_OPERANDS_INIT);
  LPT_BODY(lpt_weights_options, LPT_WEIGHTS_OPTIONS_INIT);
  LPT_BODY(lpt_linear_gemm_options, LPT_LINEAR_GEMM_OPTIONS_INIT);
  LPT_BODY(lpt_linear_shape, LPT_LINEAR_SHAPE_INIT);
  LPT_BODY(lpt_linear_options, LPT_LINEAR_OPTIONS_INIT);
  LPT_BODY(lpt_swiglu_options, LPT_SWIGLU_OPTIONS_INIT);
  LPT_BODY(lpt_embedding_options, LPT_EMBEDDING_OPTIONS_INIT);
  LPT_BODY(lpt_attention_options, LPT_ATTENTION_OPTIONS_INIT);
  LPT_BODY(lpt_kv_cache_options, LPT_KV_CACHE_OPTIONS_INIT);
  LPT_BODY(lpt_rmsnorm_options, LPT_RMSNORM_OPTIONS_INIT);
  LPT_BODY(lpt_cross_entropy_options, LPT_CROSS_ENTROPY_OPTIONS_INIT);
  LPT_BODY(lpt_layernorm_options, LPT_LAYERNORM_OPTIONS_INIT);
  LPT_BODY(lpt_rotary_scaling, LPT_ROTARY_SCALING_INIT);
  LPT_BODY(lpt_rotary_options, LPT_ROTARY_OPTIONS_INIT);
  LPT_BODY(lpt_softmax_options, LPT_SOFTMAX_OPTIONS_INIT);
  LPT_BODY(lpt_optimizer_options, LPT_OPTIMIZER_OPTIONS_INIT);
  LPT_BODY(lpt_optimizer_parameter, LPT_OPTIMIZER_PARAMETER_INIT);
  LPT_BODY(lpt_optimizer_step_options, LPT_OPTIMIZER_STEP_OPTIONS_INIT);
  LPT_BODY(lpt_optimizer_info, LPT_OPTIMIZER_INFO_INIT);
  LPT_BODY(lpt_loss_scaler_options, LPT_LOSS_SCALER_OPTIONS_INIT);
  LPT_BODY(lpt_loss_scaler_info, LPT_LOSS_SCALER_INFO_INIT);
  LPT_BODY(lpt_comm_options, LPT_COMM_OPTIONS_INIT);
  LPT_BODY(lpt_comm_info, LPT_COMM_INFO_INIT);
  LPT_BODY(lpt_comm_emulation, LPT_COMM_EMULATION_INIT);
  LPT_BODY(lpt_exaq_options, LPT_EXAQ_OPTIONS_INIT);
  LPT_BODY(lpt_all_gather_options, LPT_ALL_GATHER_OPTIONS_INIT);
  LPT_BODY(lpt_comm_codec, LPT_COMM_CODEC_INIT);
  LPT_BODY(lpt_reduce_options, LPT_REDUCE_OPTIONS_INIT);
  LPT_BODY(lpt_partial_plan_options, LPT_PARTIAL_PLAN_OPTIONS_INIT);
  LPT_BODY(lpt_sequence_attention_options, LPT_SEQUENCE_ATTENTION_OPTIONS_INIT);
  LPT_BODY(lpt_partial_plan_info, LPT_PARTIAL_PLAN_INFO_INIT);
  LPT_BODY(lpt_gradient_buckets_options, LPT_GRADIENT_BUCKETS_OPTIONS_INIT);
  LPT_BODY(lpt_optimizer_shard_options, LPT_OPTIMIZER_SHARD_OPTIONS_INIT);
  LPT_BODY(lpt_gradient_buckets_info, LPT_GRADIENT_BUCKETS_INFO_INIT);
  LPT_BODY(lpt_topology_info, LPT_TOPOLOGY_INFO_INIT);
  LPT_BODY(lpt_schedule_options, LPT_SCHEDULE_OPTIONS_INIT);
  LPT_BODY(lpt_schedule_info, LPT_SCHEDULE_INFO_INIT);
  LPT_BODY(lpt_autopilot_options, LPT_AUTOPILOT_OPTIONS_INIT);
  LPT_BODY(lpt_autopilot_info, LPT_AUTOPILOT_INFO_INIT);
  LPT_BODY(lpt_cost_link, LPT_COST_LINK_INIT);
  LPT_BODY(lpt_cost_info, LPT_COST_INFO_INIT);
  LPT_BODY(lpt_cost_cast_rates, LPT_COST_CAST_RATES_INIT);
  LPT_BODY(lpt_delay_options, LPT_DELAY_OPTIONS_INIT);
  LPT_BODY(lpt_drop_compute_info, LPT_DROP_COMPUTE_INFO_INIT);
  LPT_BODY(lpt_lossy_link_options, LPT_LOSSY_LINK_OPTIONS_INIT);
  LPT_BODY(lpt_lossy_link_info, LPT_LOSSY_LINK_INFO_INIT);
  LPT_BODY(lpt_lossy_info, LPT_LOSSY_INFO_INIT);
  LPT_BODY(lpt_gradients_info, LPT_GRADIENTS_INFO_INIT);
#undef LPT_BODY
}

// Memory for a struct of this or a later release, filled with a canary.
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
    EXPECT_EQ(1, defaults.init(space.as_struct(), sizeof defaults.macro)) << name;
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

TEST(Options, InitOfAnUnknownTypeWritesNothing) {
  for (const char *name :
       {"lpt_random", "lpt_tensor", "lpt_gemm_option", "lpt_gemm_options ", "", static_cast<const char *>(nullptr)}) {
    Space<lpt_gemm_options> space;
    EXPECT_EQ(0, lpt_struct_init(name, space.as_struct(), sizeof(lpt_gemm_options)));
    for (const uint8_t byte : space.memory) ASSERT_EQ(kCanary, byte);
  }
}

// Callers of another release.

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
  // A caller whose struct ends after `overflow`. The library does not read the memory after it.
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
  lpt_struct_init("lpt_quantize_options", space.as_struct(), sizeof(lpt_quantize_options) + 40);
  std::vector<float> target;
  EXPECT_TRUE(ok(context.get(), quantize_with(context.get(), space.as_struct(), target)));
}

TEST(Options, OfANewerCallerMayNotSetWhatIsUnknown) {
  const Context context = make_context();
  Space<lpt_quantize_options> space;
  lpt_struct_init("lpt_quantize_options", space.as_struct(), sizeof(lpt_quantize_options) + 40);
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
