// Casts on a GPU have the bits of the CPU; other tests check the CPU.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/device/support.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kTargets[] = {LPT_FORMAT_E4M3FN,      LPT_FORMAT_E5M2,         LPT_FORMAT_E4M3FN_TENSOR,
                                   LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN_128X128,
                                   LPT_FORMAT_MXFP8_E4M3,  LPT_FORMAT_MXFP8_E5M2,   LPT_FORMAT_MXFP6_E3M2,
                                   LPT_FORMAT_MXFP4,       LPT_FORMAT_NVFP4,        LPT_FORMAT_E4M3FN_ROW,
                                   LPT_FORMAT_INT8_ROW,    LPT_FORMAT_INT8_1X32,    LPT_FORMAT_INT4_1X64,
                                   LPT_FORMAT_NVFP4_16X16, LPT_FORMAT_INT8_TENSOR};
constexpr lpt_format kSources[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};

class DeviceCasts : public Devices {
 protected:
  Tensor numbers(lpt_format format, int64_t rows, int64_t columns, uint64_t place) {
    return tensor_of(cpu(), format, rows, columns, draw_normal(place, rows * columns, 3.0));
  }

  // Compares the cast of one source on both devices.
  void expect_equal(const lpt_tensor *source, lpt_format target, const lpt_quantize_options *options) {
    const Shape shape = shape_of(cpu(), source);
    const Tensor expected = make_tensor(cpu(), target, shape.rows, shape.columns);
    const Tensor found = make_tensor(gpu(), target, shape.rows, shape.columns);
    ASSERT_TRUE(ok(cpu(), lpt_quantize(cpu(), source, options, expected.get(), nullptr)));
    ASSERT_TRUE(ok(gpu(), lpt_quantize(gpu(), there(source).get(), options, found.get(), nullptr)));
    EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(found.get())) << name_of(target);
  }
};

TEST_F(DeviceCasts, HaveTheBitsOfTheCpu) {
  for (const lpt_format format : kSources) {
    const Tensor source = numbers(format, 37, 272, static_cast<uint64_t>(format));
    for (const lpt_format target : kTargets) expect_equal(source.get(), target, nullptr);
  }
}

// Values beyond the largest bf16 or f16, including infinities, become the largest element; ties round to even.
TEST_F(DeviceCasts, HaveTheBitsOfTheCpuWithoutScales) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  std::vector<double> numbers = draw_normal(21, 5 * 48, 100.0);
  const double edges[] = {3.4e38, -3.4e38,    kInfinite,  -kInfinite, 65504,    65519,       65520,
                          -65536, 1 + 0x1p-8, 1 + 0x3p-8, 0x1p-25,    0x1p-133, std::nan("")};
  std::copy(std::begin(edges), std::end(edges), numbers.begin() + 40);
  for (const lpt_format format : kSources) {
    const Tensor source = tensor_of(cpu(), format, 5, 48, numbers);
    for (const lpt_format target : kSources) expect_equal(source.get(), target, nullptr);
  }
}

// Every 16-bit NaN code: both signs, all payloads.
TEST_F(DeviceCasts, DecodeNansAsTheCpu) {
  const std::pair<lpt_format, uint32_t> halves[] = {{LPT_FORMAT_BF16, 0x7F80}, {LPT_FORMAT_F16, 0x7C00}};
  for (const auto &[format, infinity] : halves) {
    std::vector<uint16_t> codes;
    for (uint32_t code = infinity + 1; code < 0x8000; ++code) {
      codes.push_back(static_cast<uint16_t>(code));
      codes.push_back(static_cast<uint16_t>(code | 0x8000));
    }
    const Tensor source = wrap(cpu(), format, codes.data(), 1, static_cast<int64_t>(codes.size()));
    for (const lpt_format target :
         {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2}) {
      expect_equal(source.get(), target, nullptr);
    }
  }
}

TEST_F(DeviceCasts, DrawTheSameBits) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.rounding = LPT_ROUNDING_STOCHASTIC;
  options.random.seed = 7;
  options.random.step = 3;
  const Tensor source = numbers(LPT_FORMAT_F32, 9, 160, 5);
  for (const lpt_format target : kTargets) expect_equal(source.get(), target, &options);
}

TEST_F(DeviceCasts, KeepATensorScale) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.flags = LPT_QUANTIZE_KEEP_TENSOR_SCALE;
  const Tensor source = numbers(LPT_FORMAT_F32, 3, 64, 6);
  expect_equal(source.get(), LPT_FORMAT_E4M3FN_TENSOR, &options);
}

TEST_F(DeviceCasts, SearchScalesAsTheCpu) {
  struct Searched {
    lpt_format target;
    lpt_scale_rule rule;
  };
  static constexpr Searched kSearched[] = {
      {LPT_FORMAT_NVFP4, LPT_SCALE_RULE_FOUR_OVER_SIX}, {LPT_FORMAT_NVFP4, LPT_SCALE_RULE_MSE},
      {LPT_FORMAT_MXFP4, LPT_SCALE_RULE_MSE},           {LPT_FORMAT_MXFP4, LPT_SCALE_RULE_QUEST_FLOOR},
      {LPT_FORMAT_NVFP4_16X16, LPT_SCALE_RULE_MSE},     {LPT_FORMAT_NVFP4_16X16, LPT_SCALE_RULE_FOUR_OVER_SIX},
      {LPT_FORMAT_MXFP4, LPT_SCALE_RULE_QUEST_NEAREST}, {LPT_FORMAT_MXFP4, LPT_SCALE_RULE_QUEST_CEIL},
      {LPT_FORMAT_MXFP8_E5M2, LPT_SCALE_RULE_MSE},      {LPT_FORMAT_E4M3FN_1X128, LPT_SCALE_RULE_MSE},
      {LPT_FORMAT_E4M3FN_1X128, LPT_SCALE_RULE_MEAN}};
  const Tensor source = numbers(LPT_FORMAT_BF16, 7, 144, 12);
  for (const Searched &one : kSearched) {
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.scale_rule = one.rule;
    expect_equal(source.get(), one.target, &options);
    options.rounding = LPT_ROUNDING_STOCHASTIC;
    expect_equal(source.get(), one.target, &options);
  }
}

// Formats, roundings and overflow modes without a specialized kernel.
TEST_F(DeviceCasts, TakeEveryFormat) {
  const Tensor source = numbers(LPT_FORMAT_F32, 9, 320, 17);
  for (const char *const name :
       {"uint4_1x64", "uint8/1x32/f32/uint8", "nf4_1x64", "mxint8", "e3m0_tensor", "int16_tensor", "ternary_tensor",
        "e4m3fnuz_tensor", "f16_tensor", "int2", "e2m3fn", "e4m3_row", "int4/tensor/f32", "e4m3fn/column/f32"}) {
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    const lpt_format target = format_named(name);
    expect_equal(source.get(), target, &options);
    options.rounding = LPT_ROUNDING_TOWARD_ZERO;
    expect_equal(source.get(), target, &options);
    const Tensor codes = tensor_of(cpu(), target, 5, 96, draw_normal(9, 5 * 96));
    const Tensor expected = make_tensor(cpu(), LPT_FORMAT_F32, 5, 96),
                 found = make_tensor(gpu(), LPT_FORMAT_F32, 5, 96);
    ASSERT_TRUE(ok(cpu(), lpt_dequantize(cpu(), codes.get(), nullptr, expected.get())));
    ASSERT_TRUE(ok(gpu(), lpt_dequantize(gpu(), there(codes.get()).get(), nullptr, found.get())));
    EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(found.get())) << name;
  }
}

TEST_F(DeviceCasts, FitTensorScalesAsTheCpu) {
  const Tensor source = numbers(LPT_FORMAT_BF16, 70, 300, 18);
  struct Fitted {
    const char *target;
    lpt_scale_rule rule;
  };
  for (const Fitted &one :
       {Fitted{"int8_tensor", LPT_SCALE_RULE_MSE}, Fitted{"int4/tensor/f32", LPT_SCALE_RULE_MSE},
        Fitted{"e4m3fn_tensor", LPT_SCALE_RULE_MEAN}, Fitted{"int4/tensor/f32", LPT_SCALE_RULE_SAWB},
        Fitted{"int8_tensor", LPT_SCALE_RULE_LIST}}) {
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.scale_rule = one.rule;
    expect_equal(source.get(), format_named(one.target), &options);
    options.rounding = LPT_ROUNDING_STOCHASTIC;
    expect_equal(source.get(), format_named(one.target), &options);
  }
}

TEST_F(DeviceCasts, TakeListsOfTheCpusMemory) {
  const Tensor source = numbers(LPT_FORMAT_F32, 6, 160, 19);
  Tensor list = tensor_of(cpu(), LPT_FORMAT_F32, 1, 4, {0.01, 0.02, 0.4, 3.0});
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = LPT_SCALE_RULE_LIST;
  options.scale_list = list.get();
  for (const char *const name : {"e4m3fn_tensor", "e4m3fn_1x128", "int8_row"}) {
    expect_equal(source.get(), format_named(name), &options);
  }
  const Tensor far = there(list.get());
  const Tensor codes = make_tensor(gpu(), LPT_FORMAT_E4M3FN_TENSOR, 6, 160);
  options.scale_list = far.get();
  EXPECT_NE(LPT_OK, lpt_quantize(gpu(), there(source.get()).get(), &options, codes.get(), nullptr));
  expect_words({"scale_list", "cuda:0"}, lpt_context_error(gpu()));
}

TEST_F(DeviceCasts, TakeScalesThatAreGiven) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = LPT_SCALE_RULE_FIXED;
  const Tensor source = numbers(LPT_FORMAT_F32, 7, 144, 13), other = numbers(LPT_FORMAT_F32, 7, 144, 14);
  for (const lpt_format target :
       {LPT_FORMAT_NVFP4, LPT_FORMAT_NVFP4_16X16, LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_E4M3FN_1X128}) {
    const Tensor expected = make_tensor(cpu(), target, 7, 144);
    ASSERT_TRUE(ok(cpu(), lpt_quantize(cpu(), other.get(), nullptr, expected.get(), nullptr)));
    const Tensor found = there(expected.get());
    ASSERT_TRUE(ok(cpu(), lpt_quantize(cpu(), source.get(), &options, expected.get(), nullptr)));
    ASSERT_TRUE(ok(gpu(), lpt_quantize(gpu(), there(source.get()).get(), &options, found.get(), nullptr)));
    EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(found.get())) << name_of(target);
  }
}

TEST_F(DeviceCasts, GiveTheTransposedAsWell) {
  const Tensor source = numbers(LPT_FORMAT_F32, 48, 80, 8);
  const Tensor rows = make_tensor(cpu(), LPT_FORMAT_E4M3FN_TENSOR, 48, 80);
  const Tensor columns = make_tensor(cpu(), LPT_FORMAT_E4M3FN_TENSOR, 80, 48);
  const Tensor found_rows = make_tensor(gpu(), LPT_FORMAT_E4M3FN_TENSOR, 48, 80);
  const Tensor found_columns = make_tensor(gpu(), LPT_FORMAT_E4M3FN_TENSOR, 80, 48);
  ASSERT_TRUE(ok(cpu(), lpt_quantize(cpu(), source.get(), nullptr, rows.get(), columns.get())));
  ASSERT_TRUE(
      ok(gpu(), lpt_quantize(gpu(), there(source.get()).get(), nullptr, found_rows.get(), found_columns.get())));
  EXPECT_EQ(bytes_of(cpu(), rows.get()), bytes_on_device(found_rows.get()));
  EXPECT_EQ(bytes_of(cpu(), columns.get()), bytes_on_device(found_columns.get()));
}

TEST_F(DeviceCasts, AreDecodedToTheSameNumbers) {
  for (const lpt_format target : kTargets) {
    const Tensor codes = tensor_of(cpu(), target, 5, 96, draw_normal(9, 5 * 96));
    const Tensor expected = make_tensor(cpu(), LPT_FORMAT_BF16, 5, 96),
                 found = make_tensor(gpu(), LPT_FORMAT_BF16, 5, 96);
    ASSERT_TRUE(ok(cpu(), lpt_dequantize(cpu(), codes.get(), nullptr, expected.get())));
    ASSERT_TRUE(ok(gpu(), lpt_dequantize(gpu(), there(codes.get()).get(), nullptr, found.get())));
    EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(found.get())) << name_of(target);
  }
}

TEST_F(DeviceCasts, TellTheRowsThatRan) {
  const Tensor source = make_tensor(gpu(), LPT_FORMAT_F32, 4, 64), target = make_tensor(gpu(), LPT_FORMAT_NVFP4, 4, 64);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.flags = LPT_CHECK_ONLY;
  ASSERT_TRUE(ok(gpu(), lpt_quantize(gpu(), source.get(), &options, target.get(), nullptr)));
  expect_words({"amax: amax_cuda", "tensor_scale: tensor_scale_cuda", "quantize: quantize_"},
               lpt_context_explanation(gpu()));
}

TEST_F(DeviceCasts, AreRejectedWithTheReasonOfEveryRow) {
  const Tensor source = make_tensor(gpu(), LPT_FORMAT_F64, 4, 64), target = make_tensor(gpu(), LPT_FORMAT_MXFP4, 4, 64);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_quantize(gpu(), source.get(), nullptr, target.get(), nullptr));
  expect_words(
      {"quantize: no kernel takes f64, mxfp4 on cuda:0", "quantize_fragments_cuda: takes f32, bf16 and f16 only"},
      lpt_context_error(gpu()));
  EXPECT_EQ(bytes_of(cpu(), make_tensor(cpu(), LPT_FORMAT_MXFP4, 4, 64).get()), bytes_on_device(target.get()));
}

// The same values with one NaN.
TEST_F(DeviceCasts, TellOfANanByTheTensorScaleWhereCodesCannot) {
  std::vector<double> spoiled = draw_normal(15, 5 * 80);
  spoiled[123] = std::nan("");
  const Tensor source = tensor_of(cpu(), LPT_FORMAT_F32, 5, 80, spoiled);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  expect_equal(source.get(), LPT_FORMAT_INT8_TENSOR, &options);
  options.flags = LPT_QUANTIZE_KEEP_TENSOR_SCALE;
  expect_equal(source.get(), LPT_FORMAT_INT8_TENSOR, &options);
}

TEST_F(DeviceCasts, WaitForTheNanThatNothingElseTells) {
  std::vector<double> numbers_of_it = draw_normal(16, 5 * 80);
  const Tensor codes = make_tensor(gpu(), LPT_FORMAT_INT8, 5, 80);
  const Tensor in_range = tensor_of(cpu(), LPT_FORMAT_F32, 5, 80, numbers_of_it);
  expect_equal(in_range.get(), LPT_FORMAT_INT8, nullptr);
  numbers_of_it[7] = std::nan("");
  const Tensor spoiled = tensor_of(cpu(), LPT_FORMAT_F32, 5, 80, numbers_of_it);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_quantize(gpu(), there(spoiled.get()).get(), nullptr, codes.get(), nullptr));
  expect_words({"source has a NaN: int8 has no code for it"}, lpt_context_error(gpu()));
}

TEST_F(DeviceCasts, TakeTensorsOfTheirDeviceAlone) {
  const Tensor here = make_tensor(cpu(), LPT_FORMAT_F32, 4, 64), target = make_tensor(gpu(), LPT_FORMAT_E4M3FN, 4, 64);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_quantize(gpu(), here.get(), nullptr, target.get(), nullptr));
  expect_words({"source is 4 x 64 f32 on cpu", "expected cuda:0"}, lpt_context_error(gpu()));
}

TEST_F(DeviceCasts, RunOnTheStreamThatWasSet) {
  const Tensor source = numbers(LPT_FORMAT_F32, 3, 64, 11);
  void *const per_thread = reinterpret_cast<void *>(uintptr_t{2});  // cudaStreamPerThread
  ASSERT_TRUE(ok(gpu(), lpt_context_set_stream(gpu(), per_thread)));
  expect_equal(source.get(), LPT_FORMAT_NVFP4, nullptr);
  ASSERT_TRUE(ok(gpu(), lpt_context_set_stream(gpu(), nullptr)));
  expect_equal(source.get(), LPT_FORMAT_NVFP4, nullptr);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_context_set_stream(cpu(), per_thread));
  EXPECT_TRUE(ok(cpu(), lpt_context_synchronize(cpu())));
}

}  // namespace
}  // namespace lpt::test
