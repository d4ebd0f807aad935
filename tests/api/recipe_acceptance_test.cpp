// Recipes against published values, as docs/reference/recipes.md lists them: errors of each GEMM of LUQ, QuEST and NVFP4,
// stochastic rounding with few bits, and square blocks.
#include <numbers>

#include "tests/api/recipe.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

// Error of a GEMM of normal values.

// Moments of a cast q of normal values x: E(q - x)² / E x² and E qx / E x² - 1.
struct CastFigure {
  double relative_square, bias;

  double square() const { return 1 + 2 * bias + relative_square; }  // E q² / E x²
};

// Composes two casts whose errors are independent.
CastFigure after(const CastFigure &first, const CastFigure &second) {
  const double along = (1 + first.bias) * (1 + second.bias), square = first.square() * second.square();
  return {square - 2 * along + 1, along - 1};
}

// Results of a simulation: 2^23 normal values with deviations over one binade.
constexpr CastFigure kNvfp4 = {9.04e-3, -4.4e-3};
constexpr CastFigure kNvfp4Square = {1.24e-2, -9.2e-3};
constexpr CastFigure kNvfp4Stochastic = {1.89e-2, -3.3e-3};
constexpr CastFigure kQuestNearest = {1.34e-2, -1.5e-2};
constexpr CastFigure kThreeQuarters = {1.367e-2, -9.4e-3};
constexpr CastFigure kThreeQuartersStochastic = {2.778e-2, 0};
constexpr CastFigure kLogarithmic = {0.0816, 0};

double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

// int4 with the clip 12.1 · sqrt(E x²) - 12.2 · E|x|, by its definition.
CastFigure sawb() {
  const double step = (12.1 - 12.2 * std::sqrt(2 / std::numbers::pi)) / 7;
  CastFigure figure = {0, -1};
  constexpr double kWidth = 1e-4;
  for (double x = -9; x < 9; x += kWidth) {
    const double q = step * std::clamp(std::rint(x / step), -7.0, 7.0);
    figure.relative_square += kWidth * density(x) * (q - x) * (q - x);
    figure.bias += kWidth * density(x) * q * x;
  }
  return figure;
}

// Returns the fraction of normal values beyond 6 scales of QuEST, over a binade of deviations. The scale is the power of two
// nearest to 2.92247856 / 6 of the deviation.
double quest_clipped() {
  constexpr int kPoints = 1000;
  double share = 0;
  for (int i = 0; i < kPoints; ++i) {
    const double clip = 2.92247856 * std::exp2((i + 0.5) / kPoints - 0.5);
    share += std::erfc(clip / std::numbers::sqrt2) / kPoints;
  }
  return share;
}

// Returns the error (Frobenius) of a GEMM of two casts of independent normal values. The fraction `zeros` of its results is
// zero.
double error_of(const CastFigure &a, const CastFigure &b, double zeros = 0) {
  const double power = a.square() * b.square() - 2 * (1 + a.bias) * (1 + b.bias) + 1;
  return std::sqrt((1 - zeros) * power + zeros);
}

constexpr int64_t kDepth = 4096;
const int64_t kSide = kIsSanitized ? 128 : 256;

Shape3 shape_of(lpt_linear_gemm gemm) {  // rows, input, output
  switch (gemm) {
    case LPT_LINEAR_GEMM_FORWARD:
      return {kSide, kDepth, kSide};
    case LPT_LINEAR_GEMM_DGRAD:
      return {kSide, kSide, kDepth};
    default:
      return {kDepth, kSide, kSide};
  }
}

std::vector<double> run(Layer &layer, lpt_linear_gemm gemm) {
  layer.forward();
  if (gemm == LPT_LINEAR_GEMM_FORWARD) return numbers_of(layer.c, layer.y.get());
  layer.backward(gemm == LPT_LINEAR_GEMM_DGRAD, gemm == LPT_LINEAR_GEMM_WGRAD, false);
  return numbers_of(layer.c, gemm == LPT_LINEAR_GEMM_DGRAD ? layer.dx.get() : layer.dw.get());
}

// Scales the values by a factor that is not an integer power of two.
void scale(lpt_context *c, Tensor &tensor, const Matrix &numbers, double factor) {
  std::vector<double> scaled = numbers.v;
  for (double &number : scaled) number *= factor;
  tensor = tensor_of(c, LPT_FORMAT_F32, numbers.rows, numbers.columns, scaled);
}

// Measures the error over deviations within one binade. Each operand has them in a different order.
double measured_error(lpt_context *c, const char *name, lpt_linear_gemm gemm) {
  constexpr int kDeviations = 4;
  double power = 0;
  for (int i = 0; i < kDeviations; ++i) {
    std::vector<double> results[2];
    for (const bool is_exact : {false, true}) {
      Layer layer(c, is_exact ? "f32" : name, shape_of(gemm), 4000 + 3 * static_cast<uint64_t>(i));
      static constexpr int kOrders[3][kDeviations] = {{0, 1, 2, 3}, {2, 0, 3, 1}, {1, 3, 0, 2}};
      const auto deviation = [&](int operand) { return std::exp2((kOrders[operand][i] + 0.5) / kDeviations); };
      scale(c, layer.x, layer.x_numbers, deviation(0));
      scale(c, layer.w, layer.w_numbers, deviation(1));
      scale(c, layer.dy, layer.dy_numbers, deviation(2));
      results[is_exact] = run(layer, gemm);
    }
    power += std::pow(relative_error(results[0], results[1]), 2) / kDeviations;
  }
  return std::sqrt(power);
}

// 4 · 2^16 results of 4096 terms each: the deviation of such an error is about 0.3 %, and twice that with a sanitizer.
TEST(RecipeAcceptance, GemmsOfNormalNumbersHaveTheErrorOfTheirCasts) {
  const CastFigure kSawb = sawb();
  std::printf("sawb: %.3e, bias %.2e; clipped by QuEST: %.2e\n", kSawb.relative_square, kSawb.bias, quest_clipped());
  const CastFigure quest_again = after(kQuestNearest, kThreeQuarters);
  const CastFigure quest_stochastic = after(kQuestNearest, kThreeQuartersStochastic);
  CastFigure two_draws = kLogarithmic;  // unbiased: the average of two draws halves the squared error
  two_draws.relative_square /= 2;
  const struct {
    const char *recipe;
    lpt_linear_gemm gemm;
    double error;
  } table[] = {
      {"nvfp4_pretrain", LPT_LINEAR_GEMM_FORWARD, error_of(kNvfp4, kNvfp4Square)},
      {"nvfp4_pretrain", LPT_LINEAR_GEMM_DGRAD, error_of(kNvfp4Stochastic, kNvfp4Square)},
      {"nvfp4_pretrain", LPT_LINEAR_GEMM_WGRAD, error_of(kNvfp4Stochastic, kNvfp4)},
      {"fp4_all_the_way", LPT_LINEAR_GEMM_FORWARD, error_of(kNvfp4, kNvfp4)},
      {"fp4_all_the_way", LPT_LINEAR_GEMM_DGRAD, error_of(kNvfp4Stochastic, kNvfp4)},
      {"fp4_all_the_way", LPT_LINEAR_GEMM_WGRAD, error_of(kNvfp4Stochastic, kNvfp4Stochastic)},
      {"quartet_v1", LPT_LINEAR_GEMM_FORWARD, error_of(kQuestNearest, kQuestNearest)},
      {"quartet_v1", LPT_LINEAR_GEMM_DGRAD, error_of(kThreeQuartersStochastic, quest_stochastic, quest_clipped())},
      {"quartet_v1", LPT_LINEAR_GEMM_WGRAD, error_of(kThreeQuartersStochastic, quest_stochastic, quest_clipped())},
      {"quartet_neurips", LPT_LINEAR_GEMM_DGRAD, error_of(kThreeQuarters, quest_again, quest_clipped())},
      {"quartet_neurips", LPT_LINEAR_GEMM_WGRAD, error_of(kThreeQuarters, quest_again, quest_clipped())},
      {"luq", LPT_LINEAR_GEMM_FORWARD, error_of(kSawb, kSawb)},
      {"luq", LPT_LINEAR_GEMM_DGRAD, error_of(kLogarithmic, kSawb)},
      {"luq", LPT_LINEAR_GEMM_WGRAD, error_of(two_draws, kSawb)},
  };
  const Context context = make_context(2);
  int64_t place = 0;
  for (const auto &[recipe, gemm, error] : table) {
    if (kIsSanitized && place++ % 4 != 0) continue;  // each GEMM of a layer once
    const double measured = measured_error(context.get(), recipe, gemm);
    std::printf("%-16s GEMM %d: %.4f, of its casts %.4f (%+.2f %%)\n", recipe, gemm, measured, error,
                100 * (measured / error - 1));
    EXPECT_NEAR(measured, error, 0.03 * error) << recipe << " GEMM " << gemm;
  }
}

// Stochastic rounding with 8 bits.

// All 256 values of a byte for each of 4096 fractions of a step. The mean equals the value within 2^-9 of a step, and within
// 2e-4 over all fractions. Without adding half a unit of the last bit, it is too small by 2^-9 = 1.95e-3.
TEST(RecipeAcceptance, EightRandomBitsDoNotMoveTheMean) {
  constexpr int64_t kFractions = 4096, kBytes = 256;
  const Context context = make_context();
  const struct {
    lpt_format format;
    double low, high;
  } steps[] = {{LPT_FORMAT_E4M3FN, 1.0, 1.125},
               {LPT_FORMAT_E2M1FN, 2.0, 3.0},
               {LPT_FORMAT_E5M2, -1.25, -1.0},
               {LPT_FORMAT_E3M0, 4.0, 8.0},
               {LPT_FORMAT_INT4, 3.0, 4.0}};
  std::vector<uint8_t> bytes(kFractions * kBytes);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i / kFractions);
  const Tensor words = wrap(context.get(), LPT_FORMAT_UINT8, bytes.data(), kBytes, kFractions);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.rounding = LPT_ROUNDING_STOCHASTIC;
  options.stochastic_bits = 8;
  options.random_words = words.get();
  for (const auto &[format, low, high] : steps) {
    std::vector<double> numbers(bytes.size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      const double fraction = (2.0 * static_cast<double>(i % kFractions) + 1) / (2 * kFractions);
      numbers[i] = low + fraction * (high - low);
    }
    const Tensor source = wrap(context.get(), numbers, kBytes, kFractions);
    const Tensor codes = make_tensor(context.get(), format, kBytes, kFractions);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, codes.get(), nullptr)));
    const std::vector<double> given = numbers_of(context.get(), codes.get());
    double all = 0;
    for (size_t i = 0; i < kFractions; ++i) {
      double shift = 0;
      for (size_t j = i; j < given.size(); j += kFractions) shift += (given[j] - numbers[j]) / (high - low) / kBytes;
      ASSERT_LE(std::abs(shift), 0x1p-9) << name_of(format) << ", fraction " << i;
      all += shift / kFractions;
    }
    EXPECT_LT(std::abs(all), 2e-4) << name_of(format);
  }
}

// Square blocks.

// Compares the codes of a weight and of its transpose, cast separately.
TEST(RecipeAcceptance, SquareBlocksAreTheSameForAMatrixAndItsTransposition) {
  const Context context = make_context();
  constexpr int64_t kRows = 80, kColumns = 48;
  const std::vector<double> numbers = draw_normal(4100, kRows * kColumns);
  const Tensor straight = tensor_of(context.get(), LPT_FORMAT_NVFP4_16X16, kRows, kColumns, numbers);
  const Tensor transposed_copy =
      tensor_of(context.get(), LPT_FORMAT_NVFP4_16X16, kColumns, kRows, transposed(numbers, kRows, kColumns));
  EXPECT_EQ(tensor_scale_of(context.get(), straight.get()), tensor_scale_of(context.get(), transposed_copy.get()));
  for (const lpt_tensor_part part : {LPT_TENSOR_PART_PAYLOAD, LPT_TENSOR_PART_BLOCK_SCALES}) {
    const Tensor ours = part_of(context.get(), straight.get(), part),
                 theirs = part_of(context.get(), transposed_copy.get(), part);
    const Shape shape = test::shape_of(context.get(), ours.get());
    EXPECT_EQ(transposed(numbers_of(context.get(), ours.get()), shape.rows, shape.columns),
              numbers_of(context.get(), theirs.get()))
        << part;
  }
}

// x and dy are unit matrices without a cast, so y and dx are the weight as used by forward and by dgrad.
TEST(RecipeAcceptance, ForwardAndDgradMultiplyTheSameWeight) {
  const Context context = make_context();
  lpt_context *c = context.get();
  constexpr int64_t kSize = 64;
  Layer layer(c, "nvfp4_pretrain", {kSize, kSize, kSize}, 4110);
  for (const lpt_linear_cast cast : {LPT_LINEAR_CAST_FORWARD_INPUT, LPT_LINEAR_CAST_DGRAD_GRADIENT}) {
    ASSERT_TRUE(ok(c, lpt_recipe_set_cast(c, layer.recipe.get(), cast, LPT_FORMAT_NONE, nullptr)));
  }
  layer.make();
  std::vector<double> ones(kSize * kSize);
  for (size_t i = 0; i < kSize; ++i) ones[i * (kSize + 1)] = 1.0;
  layer.x = tensor_of(c, LPT_FORMAT_F32, kSize, kSize, ones);
  layer.dy = tensor_of(c, LPT_FORMAT_F32, kSize, kSize, ones);
  layer.forward();
  layer.backward(true, false, false);
  const std::vector<double> forward = transposed(numbers_of(c, layer.y.get()), kSize, kSize);
  EXPECT_EQ(forward, numbers_of(c, layer.dx.get()));
  const Tensor cast = tensor_of(c, LPT_FORMAT_NVFP4_16X16, kSize, kSize, layer.w_numbers.v);
  const std::vector<double> exact = numbers_of(c, cast.get());
  // Two roundings of scales, one of the sum.
  for (size_t i = 0; i < exact.size(); ++i) ASSERT_NEAR(exact[i], forward[i], 3 * 0x1p-24 * std::abs(exact[i])) << i;
}

}  // namespace
}  // namespace lpt::test
