// Error of a GEMM that quantizes both operands: the relative error (Frobenius) of Q(a) · Q(b) against a · b. The elements
// of a and b are normal, k = 4096. An independent simulation gives the expected errors, which hold within 3 %.
//
// An error is about the square root of the sum of the relative squared errors of both operands, for any m and n. Only int8 with
// one scale per tensor depends on m and n: its step is proportional to the amax. The error .0165 is that of tensors of
// 512 × 4096, whose amax is about 5.13 with a standard deviation of .25.
#include <cmath>

#include "tests/api/support.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

// A sanitizer run does a quarter of the work. Its deviations are twice as large, and it skips int8_tensor.
const int64_t kLeftRows = kIsSanitized ? 256 : 512;
constexpr int64_t kDepth = 4096;

struct Simulated {
  const char *format;
  lpt_scale_rule rule;
  lpt_rounding rounding;
  double error;
  int draws;
};

const Simulated kSimulated[] = {
    {"nvfp4", LPT_SCALE_RULE_DEFAULT, LPT_ROUNDING_NEAREST_EVEN, .134, 2},
    {"nvfp4", LPT_SCALE_RULE_NEAREST, LPT_ROUNDING_STOCHASTIC, .193, 2},
    {"mxfp4", LPT_SCALE_RULE_DEFAULT, LPT_ROUNDING_NEAREST_EVEN, .161, 2},
    {"mxfp8_e4m3", LPT_SCALE_RULE_DEFAULT, LPT_ROUNDING_NEAREST_EVEN, .0374, 2},
    {"mxfp8_e4m3", LPT_SCALE_RULE_FLOOR, LPT_ROUNDING_NEAREST_EVEN, .0413, 2},
    {"e4m3fn_tensor", LPT_SCALE_RULE_DEFAULT, LPT_ROUNDING_NEAREST_EVEN, .0374, 2},
    {"e5m2_tensor", LPT_SCALE_RULE_DEFAULT, LPT_ROUNDING_NEAREST_EVEN, .0743, 2},
    {"int8_tensor", LPT_SCALE_RULE_DEFAULT, LPT_ROUNDING_NEAREST_EVEN, .0165, kIsSanitized ? 2 : 10},
};

// Both operands of a GEMM with b stored transposed, and its result.
struct Draw {
  explicit Draw(lpt_context *context, uint64_t place)
      : a(drawn(2 * place)), b(drawn(2 * place + 1)), exact(static_cast<size_t>(kLeftRows * kLeftRows)) {
    const Tensor left = wrap(context, a, kLeftRows, kDepth), right = wrap(context, b, kLeftRows, kDepth);
    multiply(context, left.get(), right.get(), exact);
  }

  static std::vector<float> drawn(uint64_t place) {
    const std::vector<double> numbers = draw_normal(900 + place, kLeftRows * kDepth);
    return {numbers.begin(), numbers.end()};
  }

  static void multiply(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b, std::vector<float> &c) {
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    const Tensor gemm = wrap(context, c, kLeftRows, kLeftRows);
    EXPECT_TRUE(ok(context, lpt_gemm(context, a, b, &options, gemm.get())));
  }

  std::vector<float> a, b;
  std::vector<float> exact;  // in f32, with an error below 1e-5
};

Tensor quantized(lpt_context *context, const std::vector<float> &numbers, const Simulated &simulated, uint64_t seed) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.rounding = simulated.rounding;
  options.scale_rule = simulated.rule;
  options.random.seed = seed;
  const Tensor source = wrap(context, numbers, kLeftRows, kDepth);
  Tensor tensor = make_tensor(context, format_named(simulated.format), kLeftRows, kDepth);
  EXPECT_TRUE(ok(context, lpt_quantize(context, source.get(), &options, tensor.get(), nullptr)));
  return tensor;
}

double error_of(const std::vector<float> &found, const std::vector<float> &exact) {
  return relative_error({found.begin(), found.end()}, {exact.begin(), exact.end()});
}

// The deviation between draws is below .5 %, except for int8_tensor: 3.4 %, which is 1.1 % for the mean of ten draws.
TEST(GemmErrors, AreThoseOfTheSimulation) {
  const Context context = make_context(2);
  double sums[std::size(kSimulated)] = {};
  std::vector<float> found(static_cast<size_t>(kLeftRows * kLeftRows));
  for (uint64_t place = 0; place < (kIsSanitized ? 2 : 10); ++place) {
    const Draw draw(context.get(), place);
    for (size_t at = 0; at < std::size(kSimulated); ++at) {
      if (place >= static_cast<uint64_t>(kSimulated[at].draws)) continue;
      const Tensor a = quantized(context.get(), draw.a, kSimulated[at], 2 * place);
      const Tensor b = quantized(context.get(), draw.b, kSimulated[at], 2 * place + 1);
      Draw::multiply(context.get(), a.get(), b.get(), found);
      const double error = error_of(found, draw.exact);
      sums[at] += error;
      if (std::string(kSimulated[at].format) != "int8_tensor") continue;
      // Rounding with step s has a mean squared error of s² / 12 per element. The error of a GEMM includes the steps of both
      // operands.
      const auto a_step = static_cast<double>(tensor_scale_of(context.get(), a.get()));
      const auto b_step = static_cast<double>(tensor_scale_of(context.get(), b.get()));
      EXPECT_NEAR(error, std::sqrt((a_step * a_step + b_step * b_step) / 12), .02 * error);
    }
  }
  for (size_t at = 0; at < std::size(kSimulated); ++at) {
    const Simulated &simulated = kSimulated[at];
    const double error = sums[at] / simulated.draws;
    std::printf("%-14s rule %2d rounding %d: %.5f, simulated %.4f (%+.2f %%)\n", simulated.format, simulated.rule,
                simulated.rounding, error, simulated.error, 100 * (error / simulated.error - 1));
    if (kIsSanitized && std::string(simulated.format) == "int8_tensor") continue;
    EXPECT_NEAR(error, simulated.error, .03 * simulated.error) << simulated.format;
  }
}

}  // namespace
}  // namespace lpt::test
