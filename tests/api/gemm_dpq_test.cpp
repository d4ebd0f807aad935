// W4A8 of DPQ (arXiv 2505.14638): int4 weights are rounded once to FP8 with one scale. GEMMs are FP8 × FP8.
#include <cmath>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kM = 20, kN = 64, kK = 384;

// Returns the magnitude of an e4m3fn code by its definition.
double magnitude_of(int code) {
  const int exponent = code >> 3, mantissa = code & 7;
  return exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
}

// Rounds to the nearest code, ties to even.
double nearest(double value) {
  int best = 0;
  for (int code = 1; code <= 0x7E; ++code) {
    const double is = std::abs(magnitude_of(code) - std::abs(value)),
                 was = std::abs(magnitude_of(best) - std::abs(value));
    if (is < was || (is == was && code % 2 == 0)) best = code;
  }
  return std::copysign(magnitude_of(best), value);
}

TEST(GemmDpq, DecodesInt4ToFp8WithOneRoundingAndMultipliesExactly) {
  const Context context = make_context(2);
  const Tensor int4 = tensor_of(context.get(), LPT_FORMAT_INT4_1X128, kN, kK, draw_normal(901, kN * kK, 0.05));
  const std::vector<double> weights = numbers_of(context.get(), int4.get());
  double amax = 0;
  for (const double weight : weights) amax = std::max(amax, std::abs(weight));
  // The largest value stays below 224; the devices of the paper reach 240.
  const double scale = std::exp2(std::ceil(std::log2(amax / 224)));

  const Tensor wide = make_tensor(context.get(), LPT_FORMAT_F32, kN, kK);
  const Tensor fp8 = make_tensor(context.get(), LPT_FORMAT_E4M3FN_TENSOR, kN, kK);
  *part_data<float>(context.get(), fp8.get(), LPT_TENSOR_PART_TENSOR_SCALE) = static_cast<float>(scale);
  lpt_quantize_options fixed = LPT_QUANTIZE_OPTIONS_INIT;
  fixed.scale_rule = LPT_SCALE_RULE_FIXED;
  ASSERT_TRUE(ok(context.get(), lpt_dequantize(context.get(), int4.get(), nullptr, wide.get())));
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), wide.get(), &fixed, fp8.get(), nullptr)));
  const std::vector<double> decoded = numbers_of(context.get(), fp8.get());
  for (size_t i = 0; i < weights.size(); ++i) {
    ASSERT_EQ(nearest(weights[i] / scale) * scale, decoded[i]) << i;
    ASSERT_LE(std::abs(decoded[i]), 224 * scale);
  }

  Tensor packed;
  ASSERT_TRUE(ok(context.get(), lpt_weights_pack(context.get(), fp8.get(), nullptr, out(packed))));
  const Tensor a = tensor_of(context.get(), LPT_FORMAT_E4M3FN_TENSOR, kM, kK, draw_normal(902, kM * kK));
  const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, kM, kN);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), packed.get(), &options, c.get())));
  expect_gemm(multiply(numbers_of(context.get(), a.get()), transposed(decoded, kN, kK), kM, kN, kK),
              numbers_of(context.get(), c.get()), kK);
}

}  // namespace
}  // namespace lpt::test
