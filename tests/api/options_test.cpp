// The binary interface: defaults, sizes, offsets, values. A line of these tables may be added, never changed.
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
  body("lpt_tensor_description",
       Defaults<lpt_tensor_description>{lpt_tensor_description_init, LPT_TENSOR_DESCRIPTION_INIT});
  body("lpt_quantize_options", Defaults<lpt_quantize_options>{lpt_quantize_options_init, LPT_QUANTIZE_OPTIONS_INIT});
  body("lpt_statistics_values",
       Defaults<lpt_statistics_values>{lpt_statistics_values_init, LPT_STATISTICS_VALUES_INIT});
  body("lpt_hadamard_options", Defaults<lpt_hadamard_options>{lpt_hadamard_options_init, LPT_HADAMARD_OPTIONS_INIT});
  body("lpt_convert_options", Defaults<lpt_convert_options>{lpt_convert_options_init, LPT_CONVERT_OPTIONS_INIT});
  body("lpt_dequantize_options",
       Defaults<lpt_dequantize_options>{lpt_dequantize_options_init, LPT_DEQUANTIZE_OPTIONS_INIT});
  body("lpt_scaler_options", Defaults<lpt_scaler_options>{lpt_scaler_options_init, LPT_SCALER_OPTIONS_INIT});
  body("lpt_scaler_values", Defaults<lpt_scaler_values>{lpt_scaler_values_init, LPT_SCALER_VALUES_INIT});
  body("lpt_gemm_options", Defaults<lpt_gemm_options>{lpt_gemm_options_init, LPT_GEMM_OPTIONS_INIT});
  body("lpt_gemm_plan_values", Defaults<lpt_gemm_plan_values>{lpt_gemm_plan_values_init, LPT_GEMM_PLAN_VALUES_INIT});
  body("lpt_gemm_operands", Defaults<lpt_gemm_operands>{lpt_gemm_operands_init, LPT_GEMM_OPERANDS_INIT});
  body("lpt_weights_options", Defaults<lpt_weights_options>{lpt_weights_options_init, LPT_WEIGHTS_OPTIONS_INIT});
  body("lpt_linear_shape", Defaults<lpt_linear_shape>{lpt_linear_shape_init, LPT_LINEAR_SHAPE_INIT});
  body("lpt_linear_options", Defaults<lpt_linear_options>{lpt_linear_options_init, LPT_LINEAR_OPTIONS_INIT});
  body("lpt_swiglu_options", Defaults<lpt_swiglu_options>{lpt_swiglu_options_init, LPT_SWIGLU_OPTIONS_INIT});
  body("lpt_rmsnorm_options", Defaults<lpt_rmsnorm_options>{lpt_rmsnorm_options_init, LPT_RMSNORM_OPTIONS_INIT});
  body("lpt_softmax_options", Defaults<lpt_softmax_options>{lpt_softmax_options_init, LPT_SOFTMAX_OPTIONS_INIT});
  body("lpt_optimizer_options",
       Defaults<lpt_optimizer_options>{lpt_optimizer_options_init, LPT_OPTIMIZER_OPTIONS_INIT});
  body("lpt_optimizer_parameter",
       Defaults<lpt_optimizer_parameter>{lpt_optimizer_parameter_init, LPT_OPTIMIZER_PARAMETER_INIT});
  body("lpt_step_options", Defaults<lpt_step_options>{lpt_step_options_init, LPT_STEP_OPTIONS_INIT});
}

// Room for any struct of this release and of later ones, filled with a canary.
constexpr uint8_t kCanary = 0xC7;
template <typename Struct>
struct alignas(16) Room {
  uint8_t memory[sizeof(Struct) + 128];
  Room() { std::memset(memory, kCanary, sizeof memory); }
  Struct *as_struct() { return reinterpret_cast<Struct *>(memory); }
};

TEST(Options, InitWritesWhatTheMacroSays) {
  for_each_struct([](const char *name, auto defaults) {
    Room<decltype(defaults.macro)> room;
    defaults.init(room.as_struct(), sizeof defaults.macro);
    const std::vector<uint8_t> expected = bytes(defaults.macro);
    EXPECT_EQ(expected, std::vector<uint8_t>(room.memory, room.memory + expected.size())) << name;
  });
}

TEST(Options, InitNeverWritesPastTheCallersSize) {
  for_each_struct([](const char *name, auto defaults) {
    using Struct = decltype(defaults.macro);
    for (size_t size = 0; size <= sizeof(Struct) + 64; ++size) {
      Room<Struct> room;
      defaults.init(room.as_struct(), size);
      for (size_t i = size; i < sizeof room.memory; ++i) ASSERT_EQ(kCanary, room.memory[i]) << name << " " << size;
    }
  });
}

TEST(Options, InitOfAnOlderCallerWritesTheMembersThatItKnows) {
  for_each_struct([](const char *name, auto defaults) {
    using Struct = decltype(defaults.macro);
    const std::vector<uint8_t> expected = bytes(defaults.macro);
    for (size_t size = sizeof(size_t); size < sizeof(Struct); size += 4) {
      Room<Struct> room;
      defaults.init(room.as_struct(), size);
      EXPECT_EQ(size, room.as_struct()->struct_size) << name;
      for (size_t i = sizeof(size_t); i < size; ++i) ASSERT_EQ(expected[i], room.memory[i]) << name << " byte " << i;
    }
  });
}

TEST(Options, InitOfANewerCallerZeroesTheMembersThatItKnowsAlone) {
  for_each_struct([](const char *name, auto defaults) {
    using Struct = decltype(defaults.macro);
    Room<Struct> room;
    defaults.init(room.as_struct(), sizeof(Struct) + 24);
    EXPECT_EQ(sizeof(Struct) + 24, room.as_struct()->struct_size) << name;
    for (size_t i = sizeof(Struct); i < sizeof(Struct) + 24; ++i) ASSERT_EQ(0, room.memory[i]) << name;
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
  Room<lpt_quantize_options> room;
  lpt_quantize_options_init(room.as_struct(), sizeof(lpt_quantize_options) + 40);
  std::vector<float> target;
  EXPECT_TRUE(ok(context.get(), quantize_with(context.get(), room.as_struct(), target)));
}

TEST(Options, OfANewerCallerMayNotSetWhatIsUnknown) {
  const Context context = make_context();
  Room<lpt_quantize_options> room;
  lpt_quantize_options_init(room.as_struct(), sizeof(lpt_quantize_options) + 40);
  room.memory[sizeof(lpt_quantize_options) + 39] = 1;
  std::vector<float> target;
  EXPECT_EQ(LPT_UNSUPPORTED, quantize_with(context.get(), room.as_struct(), target));
}

TEST(Options, NullStandsForTheDefaults) {
  const Context context = make_context();
  std::vector<float> given, absent;
  const lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  ASSERT_TRUE(ok(context.get(), quantize_with(context.get(), &options, given)));
  ASSERT_TRUE(ok(context.get(), quantize_with(context.get(), nullptr, absent)));
  EXPECT_EQ(given, absent);
}

TEST(Answers, AreWrittenAsFarAsAnOlderCallerHasRoom) {
  const Context context = make_context();
  Scaler scaler;
  ASSERT_TRUE(ok(context.get(), lpt_scaler_create(context.get(), nullptr, out(scaler))));
  Room<lpt_scaler_values> room;
  room.as_struct()->struct_size = offsetof(lpt_scaler_values, running_amax);
  ASSERT_TRUE(ok(context.get(), lpt_scaler_read(context.get(), scaler.get(), room.as_struct())));
  EXPECT_EQ(0.0f, room.as_struct()->amax);
  for (size_t i = offsetof(lpt_scaler_values, running_amax); i < sizeof room.memory; ++i) {
    ASSERT_EQ(kCanary, room.memory[i]) << i;
  }
}

// ---- layout, on machines with 64-bit pointers

struct Layout {
  const char *name;
  size_t found, expected;
};

#define SIZE(type, expected) \
  { "sizeof(" #type ")", sizeof(type), expected }
#define OFFSET(type, member, expected) \
  { #type "." #member, offsetof(type, member), expected }

constexpr Layout kLayouts[] = {
    SIZE(lpt_context_options, 96),
    OFFSET(lpt_context_options, struct_size, 0),
    OFFSET(lpt_context_options, thread_count, 8),
    OFFSET(lpt_context_options, isa, 12),
    OFFSET(lpt_context_options, log_level, 16),
    OFFSET(lpt_context_options, parallel_for_width, 20),
    OFFSET(lpt_context_options, log, 24),
    OFFSET(lpt_context_options, log_user, 32),
    OFFSET(lpt_context_options, allocate, 40),
    OFFSET(lpt_context_options, release, 48),
    OFFSET(lpt_context_options, allocator_user, 56),
    OFFSET(lpt_context_options, parallel_for, 64),
    OFFSET(lpt_context_options, parallel_for_user, 72),
    OFFSET(lpt_context_options, error_text, 80),
    OFFSET(lpt_context_options, error_text_bytes, 88),
    SIZE(lpt_profile_entry, 136),
    OFFSET(lpt_profile_entry, struct_size, 0),
    OFFSET(lpt_profile_entry, operation, 8),
    OFFSET(lpt_profile_entry, row, 40),
    OFFSET(lpt_profile_entry, calls, 104),
    OFFSET(lpt_profile_entry, seconds, 112),
    OFFSET(lpt_profile_entry, bytes, 120),
    OFFSET(lpt_profile_entry, flops, 128),
    SIZE(lpt_format_description, 80),
    OFFSET(lpt_format_description, struct_size, 0),
    OFFSET(lpt_format_description, element, 8),
    OFFSET(lpt_format_description, block_scale, 16),
    OFFSET(lpt_format_description, tensor_scale, 24),
    OFFSET(lpt_format_description, block_rows, 32),
    OFFSET(lpt_format_description, block_columns, 36),
    OFFSET(lpt_format_description, element_bits, 40),
    OFFSET(lpt_format_description, exponent_bits, 44),
    OFFSET(lpt_format_description, mantissa_bits, 48),
    OFFSET(lpt_format_description, exponent_bias, 52),
    OFFSET(lpt_format_description, special, 56),
    OFFSET(lpt_format_description, reserved, 60),
    OFFSET(lpt_format_description, largest, 64),
    OFFSET(lpt_format_description, zero_point, 72),
    SIZE(lpt_tensor_description, 48),
    OFFSET(lpt_tensor_description, struct_size, 0),
    OFFSET(lpt_tensor_description, format, 8),
    OFFSET(lpt_tensor_description, data, 16),
    OFFSET(lpt_tensor_description, rank, 24),
    OFFSET(lpt_tensor_description, reserved, 28),
    OFFSET(lpt_tensor_description, extents, 32),
    OFFSET(lpt_tensor_description, strides, 40),
    SIZE(lpt_random, 32),
    OFFSET(lpt_random, seed, 0),
    OFFSET(lpt_random, offset, 8),
    OFFSET(lpt_random, row_stride, 16),
    OFFSET(lpt_random, stream, 24),
    OFFSET(lpt_random, step, 28),
    SIZE(lpt_quantize_options, 120),
    OFFSET(lpt_quantize_options, struct_size, 0),
    OFFSET(lpt_quantize_options, flags, 8),
    OFFSET(lpt_quantize_options, rounding, 16),
    OFFSET(lpt_quantize_options, overflow, 20),
    OFFSET(lpt_quantize_options, scale_rule, 24),
    OFFSET(lpt_quantize_options, stochastic_bits, 28),
    OFFSET(lpt_quantize_options, philox_rounds, 32),
    OFFSET(lpt_quantize_options, hadamard_size, 36),
    OFFSET(lpt_quantize_options, random, 40),
    OFFSET(lpt_quantize_options, scaler, 72),
    OFFSET(lpt_quantize_options, smoothing, 80),
    OFFSET(lpt_quantize_options, hadamard_signs, 88),
    OFFSET(lpt_quantize_options, random_words, 96),
    OFFSET(lpt_quantize_options, scale_list, 104),
    OFFSET(lpt_quantize_options, statistics, 112),
    SIZE(lpt_statistics_values, 64),
    OFFSET(lpt_statistics_values, struct_size, 0),
    OFFSET(lpt_statistics_values, element_count, 8),
    OFFSET(lpt_statistics_values, nan_count, 16),
    OFFSET(lpt_statistics_values, clipped_count, 24),
    OFFSET(lpt_statistics_values, underflow_count, 32),
    OFFSET(lpt_statistics_values, amax, 40),
    OFFSET(lpt_statistics_values, squared_sum, 48),
    OFFSET(lpt_statistics_values, squared_error, 56),
    SIZE(lpt_hadamard_options, 32),
    OFFSET(lpt_hadamard_options, struct_size, 0),
    OFFSET(lpt_hadamard_options, flags, 8),
    OFFSET(lpt_hadamard_options, size, 16),
    OFFSET(lpt_hadamard_options, is_inverse, 20),
    OFFSET(lpt_hadamard_options, signs, 24),
    SIZE(lpt_convert_options, 24),
    OFFSET(lpt_convert_options, struct_size, 0),
    OFFSET(lpt_convert_options, flags, 8),
    OFFSET(lpt_convert_options, statistics, 16),
    SIZE(lpt_dequantize_options, 16),
    OFFSET(lpt_dequantize_options, struct_size, 0),
    OFFSET(lpt_dequantize_options, flags, 8),
    SIZE(lpt_scaler_options, 32),
    OFFSET(lpt_scaler_options, struct_size, 0),
    OFFSET(lpt_scaler_options, kind, 8),
    OFFSET(lpt_scaler_options, history_length, 12),
    OFFSET(lpt_scaler_options, margin, 16),
    OFFSET(lpt_scaler_options, history_rule, 20),
    OFFSET(lpt_scaler_options, zero_rule, 24),
    OFFSET(lpt_scaler_options, reserved, 28),
    SIZE(lpt_scaler_values, 24),
    OFFSET(lpt_scaler_values, struct_size, 0),
    OFFSET(lpt_scaler_values, amax, 8),
    OFFSET(lpt_scaler_values, running_amax, 12),
    OFFSET(lpt_scaler_values, update_count, 16),
    SIZE(lpt_gemm_options, 88),
    OFFSET(lpt_gemm_options, struct_size, 0),
    OFFSET(lpt_gemm_options, flags, 8),
    OFFSET(lpt_gemm_options, alpha, 16),
    OFFSET(lpt_gemm_options, beta, 24),
    OFFSET(lpt_gemm_options, is_a_transposed, 32),
    OFFSET(lpt_gemm_options, is_b_transposed, 36),
    OFFSET(lpt_gemm_options, bias, 40),
    OFFSET(lpt_gemm_options, activation, 48),
    OFFSET(lpt_gemm_options, arithmetic, 52),
    OFFSET(lpt_gemm_options, residual, 56),
    OFFSET(lpt_gemm_options, quantize, 64),
    OFFSET(lpt_gemm_options, outlier_threshold, 72),
    OFFSET(lpt_gemm_options, arithmetic_bits, 80),
    OFFSET(lpt_gemm_options, reserved, 84),
    SIZE(lpt_gemm_plan_values, 112),
    OFFSET(lpt_gemm_plan_values, struct_size, 0),
    OFFSET(lpt_gemm_plan_values, m, 8),
    OFFSET(lpt_gemm_plan_values, n, 16),
    OFFSET(lpt_gemm_plan_values, k, 24),
    OFFSET(lpt_gemm_plan_values, workspace_bytes, 32),
    OFFSET(lpt_gemm_plan_values, part_count, 40),
    OFFSET(lpt_gemm_plan_values, row, 48),
    SIZE(lpt_gemm_operands, 32),
    OFFSET(lpt_gemm_operands, struct_size, 0),
    OFFSET(lpt_gemm_operands, bias, 8),
    OFFSET(lpt_gemm_operands, residual, 16),
    OFFSET(lpt_gemm_operands, quantize, 24),
    SIZE(lpt_weights_options, 32),
    OFFSET(lpt_weights_options, struct_size, 0),
    OFFSET(lpt_weights_options, flags, 8),
    OFFSET(lpt_weights_options, output_order, 16),
    OFFSET(lpt_weights_options, input_order, 24),
    SIZE(lpt_linear_shape, 24),
    OFFSET(lpt_linear_shape, struct_size, 0),
    OFFSET(lpt_linear_shape, input_columns, 8),
    OFFSET(lpt_linear_shape, output_columns, 16),
    SIZE(lpt_linear_options, 80),
    OFFSET(lpt_linear_options, struct_size, 0),
    OFFSET(lpt_linear_options, flags, 8),
    OFFSET(lpt_linear_options, random, 16),
    OFFSET(lpt_linear_options, first_row, 48),
    OFFSET(lpt_linear_options, bias, 56),
    OFFSET(lpt_linear_options, input_smoothing, 64),
    OFFSET(lpt_linear_options, is_accumulated, 72),
    OFFSET(lpt_linear_options, reserved, 76),
    SIZE(lpt_swiglu_options, 24),
    OFFSET(lpt_swiglu_options, struct_size, 0),
    OFFSET(lpt_swiglu_options, flags, 8),
    OFFSET(lpt_swiglu_options, smoothing, 16),
    OFFSET(lpt_swiglu_options, reserved, 20),
    SIZE(lpt_rmsnorm_options, 32),
    OFFSET(lpt_rmsnorm_options, struct_size, 0),
    OFFSET(lpt_rmsnorm_options, flags, 8),
    OFFSET(lpt_rmsnorm_options, epsilon, 16),
    OFFSET(lpt_rmsnorm_options, is_accumulated, 24),
    OFFSET(lpt_rmsnorm_options, reserved, 28),
    SIZE(lpt_softmax_options, 32),
    OFFSET(lpt_softmax_options, struct_size, 0),
    OFFSET(lpt_softmax_options, flags, 8),
    OFFSET(lpt_softmax_options, scale, 16),
    OFFSET(lpt_softmax_options, is_causal, 24),
    OFFSET(lpt_softmax_options, reserved, 28),
    SIZE(lpt_optimizer_options, 48),
    OFFSET(lpt_optimizer_options, struct_size, 0),
    OFFSET(lpt_optimizer_options, flags, 8),
    OFFSET(lpt_optimizer_options, beta1, 16),
    OFFSET(lpt_optimizer_options, beta2, 24),
    OFFSET(lpt_optimizer_options, epsilon, 32),
    OFFSET(lpt_optimizer_options, second_underflow, 40),
    OFFSET(lpt_optimizer_options, reserved, 44),
    SIZE(lpt_optimizer_parameter, 40),
    OFFSET(lpt_optimizer_parameter, struct_size, 0),
    OFFSET(lpt_optimizer_parameter, elements, 8),
    OFFSET(lpt_optimizer_parameter, first_moment, 16),
    OFFSET(lpt_optimizer_parameter, second_moment, 24),
    OFFSET(lpt_optimizer_parameter, weight_decay, 32),
    SIZE(lpt_step_options, 80),
    OFFSET(lpt_step_options, struct_size, 0),
    OFFSET(lpt_step_options, flags, 8),
    OFFSET(lpt_step_options, learning_rate, 16),
    OFFSET(lpt_step_options, gradient_scale, 24),
    OFFSET(lpt_step_options, random, 32),
    OFFSET(lpt_step_options, first_moment_rounding, 64),
    OFFSET(lpt_step_options, second_moment_rounding, 68),
    OFFSET(lpt_step_options, parameter_rounding, 72),
    OFFSET(lpt_step_options, reserved, 76),
};

#undef SIZE
#undef OFFSET

TEST(Layout, OfEveryStructIsFrozen) {
  for (const Layout &layout : kLayouts) EXPECT_EQ(layout.expected, layout.found) << layout.name;
}

TEST(Layout, HasNoHiddenPaddingAtTheEnd) {
  // A member added later must not fall into padding, which no caller clears.
  const auto ends = [](size_t size, size_t last_offset, size_t last_size) { return size == last_offset + last_size; };
  EXPECT_TRUE(ends(sizeof(lpt_swiglu_options), offsetof(lpt_swiglu_options, reserved), 4));
  EXPECT_TRUE(ends(sizeof(lpt_rmsnorm_options), offsetof(lpt_rmsnorm_options, reserved), 4));
  EXPECT_TRUE(ends(sizeof(lpt_softmax_options), offsetof(lpt_softmax_options, reserved), 4));
  EXPECT_TRUE(ends(sizeof(lpt_linear_options), offsetof(lpt_linear_options, reserved), 4));
  EXPECT_TRUE(ends(sizeof(lpt_optimizer_options), offsetof(lpt_optimizer_options, reserved), 4));
  EXPECT_TRUE(ends(sizeof(lpt_step_options), offsetof(lpt_step_options, reserved), 4));
  EXPECT_TRUE(ends(sizeof(lpt_scaler_options), offsetof(lpt_scaler_options, reserved), 4));
  EXPECT_TRUE(ends(sizeof(lpt_random), offsetof(lpt_random, step), 4));
}

// ---- values

struct Constant {
  const char *name;
  int64_t found, expected;
};

#define VALUE(name, expected) \
  { #name, name, expected }

constexpr Constant kConstants[] = {
    VALUE(LPT_WHOLE, -1),
    VALUE(LPT_OK, 0),
    VALUE(LPT_INVALID_ARGUMENT, 1),
    VALUE(LPT_UNSUPPORTED, 2),
    VALUE(LPT_OUT_OF_MEMORY, 3),
    VALUE(LPT_INVALID_STATE, 4),
    VALUE(LPT_INTERNAL, 5),
    VALUE(LPT_CANCELLED, 6),
    VALUE(LPT_ISA_AUTO, 0),
    VALUE(LPT_ISA_REFERENCE, 1),
    VALUE(LPT_ISA_X86_AVX2, 2),
    VALUE(LPT_ISA_X86_AVX512, 3),
    VALUE(LPT_ISA_X86_AVX512_BF16, 4),
    VALUE(LPT_LOG_NONE, 0),
    VALUE(LPT_LOG_WARNING, 1),
    VALUE(LPT_LOG_INFO, 2),
    VALUE(LPT_LOG_DISPATCH, 3),
    VALUE(LPT_FORMAT_NONE, 0),
    VALUE(LPT_FORMAT_F64, 1),
    VALUE(LPT_FORMAT_F32, 2),
    VALUE(LPT_FORMAT_F16, 3),
    VALUE(LPT_FORMAT_BF16, 4),
    VALUE(LPT_FORMAT_E4M3FN, 5),
    VALUE(LPT_FORMAT_E4M3, 6),
    VALUE(LPT_FORMAT_E5M2, 7),
    VALUE(LPT_FORMAT_E2M1FN, 8),
    VALUE(LPT_FORMAT_E8M0FNU, 9),
    VALUE(LPT_FORMAT_INT8, 10),
    VALUE(LPT_FORMAT_UINT8, 11),
    VALUE(LPT_FORMAT_E4M3FNUZ, 12),
    VALUE(LPT_FORMAT_E5M2FNUZ, 13),
    VALUE(LPT_FORMAT_E4M3B11FNUZ, 14),
    VALUE(LPT_FORMAT_E3M4, 15),
    VALUE(LPT_FORMAT_E3M2FN, 16),
    VALUE(LPT_FORMAT_E2M3FN, 17),
    VALUE(LPT_FORMAT_E3M0, 18),
    VALUE(LPT_FORMAT_INT4, 19),
    VALUE(LPT_FORMAT_UINT4, 20),
    VALUE(LPT_FORMAT_INT2, 21),
    VALUE(LPT_FORMAT_TERNARY, 22),
    VALUE(LPT_FORMAT_INT16, 23),
    VALUE(LPT_FORMAT_Q1_6, 24),
    VALUE(LPT_FORMAT_NF4, 25),
    VALUE(LPT_FORMAT_BNB_FP4, 26),
    VALUE(LPT_FORMAT_E4M3FN_TENSOR, 64),
    VALUE(LPT_FORMAT_E4M3FN_ROW, 65),
    VALUE(LPT_FORMAT_E4M3FN_1X128, 66),
    VALUE(LPT_FORMAT_E4M3FN_128X128, 67),
    VALUE(LPT_FORMAT_E4M3_TENSOR, 68),
    VALUE(LPT_FORMAT_E4M3_ROW, 69),
    VALUE(LPT_FORMAT_E5M2_TENSOR, 70),
    VALUE(LPT_FORMAT_E5M2_ROW, 71),
    VALUE(LPT_FORMAT_E5M2_1X128, 72),
    VALUE(LPT_FORMAT_E5M2_128X128, 73),
    VALUE(LPT_FORMAT_MXFP8_E4M3, 74),
    VALUE(LPT_FORMAT_MXFP8_E5M2, 75),
    VALUE(LPT_FORMAT_MXFP4, 76),
    VALUE(LPT_FORMAT_NVFP4, 77),
    VALUE(LPT_FORMAT_INT8_TENSOR, 78),
    VALUE(LPT_FORMAT_INT8_ROW, 79),
    VALUE(LPT_FORMAT_F16_TENSOR, 80),
    VALUE(LPT_FORMAT_MXFP6_E3M2, 81),
    VALUE(LPT_FORMAT_MXFP6_E2M3, 82),
    VALUE(LPT_FORMAT_MXINT8, 83),
    VALUE(LPT_FORMAT_NVFP4_16X16, 84),
    VALUE(LPT_FORMAT_INT4_1X32, 85),
    VALUE(LPT_FORMAT_INT4_1X64, 86),
    VALUE(LPT_FORMAT_INT4_1X128, 87),
    VALUE(LPT_FORMAT_UINT4_1X32, 88),
    VALUE(LPT_FORMAT_UINT4_1X64, 89),
    VALUE(LPT_FORMAT_UINT4_1X128, 90),
    VALUE(LPT_FORMAT_INT8_1X32, 91),
    VALUE(LPT_FORMAT_INT16_TENSOR, 92),
    VALUE(LPT_FORMAT_E3M0_TENSOR, 93),
    VALUE(LPT_FORMAT_TERNARY_TENSOR, 94),
    VALUE(LPT_FORMAT_E4M3FNUZ_TENSOR, 95),
    VALUE(LPT_FORMAT_E5M2FNUZ_TENSOR, 96),
    VALUE(LPT_FORMAT_NF4_1X64, 97),
    VALUE(LPT_FORMAT_BNB_FP4_1X64, 98),
    VALUE(LPT_SPECIAL_NONE, 0),
    VALUE(LPT_SPECIAL_IEEE, 1),
    VALUE(LPT_SPECIAL_NAN_ONES, 2),
    VALUE(LPT_SPECIAL_INTEGER, 3),
    VALUE(LPT_SPECIAL_FNUZ, 4),
    VALUE(LPT_SPECIAL_LIST, 5),
    VALUE(LPT_PART_PAYLOAD, 0),
    VALUE(LPT_PART_BLOCK_SCALES, 1),
    VALUE(LPT_PART_TENSOR_SCALE, 2),
    VALUE(LPT_PART_ZERO_POINTS, 3),
    VALUE(LPT_ROUNDING_NEAREST_EVEN, 0),
    VALUE(LPT_ROUNDING_STOCHASTIC, 1),
    VALUE(LPT_ROUNDING_TOWARD_ZERO, 2),
    VALUE(LPT_ROUNDING_NEAREST_AWAY, 3),
    VALUE(LPT_ROUNDING_STOCHASTIC_UNDERFLOW, 4),
    VALUE(LPT_OVERFLOW_SATURATE, 0),
    VALUE(LPT_OVERFLOW_INFINITE, 1),
    VALUE(LPT_SCALE_RULE_DEFAULT, 0),
    VALUE(LPT_SCALE_RULE_AMAX, 1),
    VALUE(LPT_SCALE_RULE_POWER_OF_TWO, 2),
    VALUE(LPT_SCALE_RULE_ROUND_UP, 3),
    VALUE(LPT_SCALE_RULE_FLOOR, 4),
    VALUE(LPT_SCALE_RULE_NEAREST, 5),
    VALUE(LPT_SCALE_RULE_HEADROOM, 6),
    VALUE(LPT_SCALE_RULE_POWER_OF_TWO_DOWN, 7),
    VALUE(LPT_SCALE_RULE_POWER_OF_TWO_NEAREST, 8),
    VALUE(LPT_SCALE_RULE_CEIL, 9),
    VALUE(LPT_SCALE_RULE_EVEN, 10),
    VALUE(LPT_SCALE_RULE_THREE_QUARTERS, 11),
    VALUE(LPT_SCALE_RULE_QUEST_FLOOR, 12),
    VALUE(LPT_SCALE_RULE_QUEST_NEAREST, 13),
    VALUE(LPT_SCALE_RULE_QUEST_CEIL, 14),
    VALUE(LPT_SCALE_RULE_FOUR_OVER_SIX, 15),
    VALUE(LPT_SCALE_RULE_MSE, 16),
    VALUE(LPT_SCALE_RULE_LIST, 17),
    VALUE(LPT_SCALE_RULE_FIXED, 18),
    VALUE(LPT_SCALE_RULE_MEAN, 19),
    VALUE(LPT_SCALER_CURRENT, 0),
    VALUE(LPT_SCALER_DELAYED, 1),
    VALUE(LPT_ACTIVATION_NONE, 0),
    VALUE(LPT_ACTIVATION_GELU, 1),
    VALUE(LPT_ACTIVATION_GELU_TANH, 2),
    VALUE(LPT_ACTIVATION_SILU, 3),
    VALUE(LPT_ACTIVATION_SWIGLU, 4),
    VALUE(LPT_ARITHMETIC_NATIVE, 0),
    VALUE(LPT_ARITHMETIC_L_MUL, 1),
    VALUE(LPT_ARITHMETIC_PIECEWISE_AFFINE, 2),
    VALUE(LPT_ARITHMETIC_SHIFT, 3),
    VALUE(LPT_ARITHMETIC_TENSOR_CORE, 4),
    VALUE(LPT_PORTABLE_ORDER, 4),
    VALUE(LPT_HISTORY_LARGEST, 0),
    VALUE(LPT_HISTORY_LATEST, 1),
    VALUE(LPT_ZERO_LOOKS, 0),
    VALUE(LPT_ZERO_ONE, 1),
    VALUE(LPT_ZERO_KEEPS, 2),
    VALUE(LPT_DIALECT_GGML, 1),
    VALUE(LPT_DIALECT_BITSANDBYTES, 2),
    VALUE(LPT_DIALECT_CUBLAS_SCALES, 3),
    VALUE(LPT_CAST_FORWARD_INPUT, 0),
    VALUE(LPT_CAST_FORWARD_WEIGHT, 1),
    VALUE(LPT_CAST_DGRAD_GRADIENT, 2),
    VALUE(LPT_CAST_DGRAD_WEIGHT, 3),
    VALUE(LPT_CAST_WGRAD_GRADIENT, 4),
    VALUE(LPT_CAST_WGRAD_INPUT, 5),
    VALUE(LPT_OPERAND_INPUT, 0),
    VALUE(LPT_OPERAND_WEIGHT, 1),
    VALUE(LPT_OPERAND_GRADIENT, 2),
    VALUE(LPT_SMOOTHING_NONE, 0),
    VALUE(LPT_SMOOTHING_CHANNEL, 1),
    VALUE(LPT_UNDERFLOW_CLAMP, 0),
    VALUE(LPT_UNDERFLOW_ALLOWED, 1),
};

#undef VALUE

TEST(Constants, KeepTheirValues) {
  for (const Constant &constant : kConstants) EXPECT_EQ(constant.expected, constant.found) << constant.name;
  EXPECT_EQ(UINT64_C(1), LPT_CHECK_ONLY);
  EXPECT_EQ(UINT64_C(2), LPT_KEEP_TENSOR_SCALE);
}

TEST(Types, KeepTheirWidths) {
  EXPECT_EQ(4u, sizeof(lpt_status));
  EXPECT_EQ(8u, sizeof(lpt_format));
  for (const size_t size : {sizeof(lpt_isa), sizeof(lpt_log_level), sizeof(lpt_special), sizeof(lpt_part),
                            sizeof(lpt_rounding), sizeof(lpt_overflow), sizeof(lpt_scale_rule), sizeof(lpt_scaler_kind),
                            sizeof(lpt_history_rule), sizeof(lpt_zero_rule), sizeof(lpt_dialect), sizeof(lpt_cast),
                            sizeof(lpt_operand), sizeof(lpt_smoothing), sizeof(lpt_underflow)}) {
    EXPECT_EQ(4u, size);
  }
}

}  // namespace
}  // namespace lpt::test
