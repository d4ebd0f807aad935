// The casts against published figures for Gaussian numbers: mean squared error and bias.
#include <gtest/gtest.h>

#include "tests/kernels/quantize_case.hpp"

namespace lpt::test {
namespace {

struct Error {
  double relative_square = 0;  // sum (y - x)² / sum x²
  double bias = 0;             // sum x·y / sum x² - 1
};

constexpr int64_t kRows = 64;
constexpr int64_t kColumns = 4096;

// Casts there and back with the fastest row of this machine: rows are equal, bit for bit.
void cast_and_back(const QuantizeRequest &request, MatrixView back) {
  run_fastest(quantize_kernels(), request);
  run_fastest(dequantize_kernels(), {request.target, back});
}

// Sixteen matrices of standard normal numbers, drawn once.
const std::vector<float> &normals() {
  static const std::vector<float> numbers = [] {
    Random random(500);
    return draw(random, Values::kNormal, 16 * kRows * kColumns);
  }();
  return numbers;
}

// `draws` casts of them, their sigmas spread evenly over the logarithm of one binade.
Error error_of(lpt_format target, lpt_rounding rounding, lpt_scale_rule rule, int draws) {
  QuantizeCase c;
  c.target = target;
  c.rows = kRows;
  c.columns = kColumns;
  c.rounding = rounding;
  c.rule = rule;
  double squares = 0, errors = 0, products = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const double sigma = std::exp2((draw % 16 + 0.5) / 16);
    Matrix source = source_of(c), back(LPT_FORMAT_F32, kRows, kColumns);
    auto *numbers = reinterpret_cast<float *>(source.data.data());
    const float *standard = normals().data() + draw % 16 * kRows * kColumns;
    for (int64_t i = 0; i < kRows * kColumns; ++i) numbers[i] = static_cast<float>(sigma) * standard[i];
    c.random.step = static_cast<uint32_t>(draw);
    QuantizeRun run(c, source);
    cast_and_back(run.request, back.view());
    const auto *found = reinterpret_cast<const float *>(back.data.data());
    const double weight = 1 / (sigma * sigma);
    for (int64_t i = 0; i < kRows * kColumns; ++i) {
      const double x = static_cast<double>(numbers[i]), y = static_cast<double>(found[i]);
      squares += weight * x * x;
      errors += weight * (y - x) * (y - x);
      products += weight * x * y;
    }
  }
  return {errors / squares, products / squares - 1};
}

struct Figure {
  const char *name;
  lpt_format target;
  lpt_rounding rounding;
  lpt_scale_rule rule;
  double relative_square;
};

class GaussianError : public testing::TestWithParam<Figure> {};

// N = 16 · 2^19 in the published table; the tolerance is 2 %.
TEST_P(GaussianError, IsAsPublished) {
  const Figure &figure = GetParam();
  const Error error = error_of(figure.target, figure.rounding, figure.rule, 16);
  EXPECT_NEAR(error.relative_square / figure.relative_square, 1.0, 0.02) << error.relative_square;
  RecordProperty("relative_square", std::to_string(error.relative_square));
}

constexpr Figure kFigures[] = {
    {"Mxfp4RoundUp", LPT_FORMAT_MXFP4, LPT_ROUNDING_NEAREST_EVEN, LPT_SCALE_RULE_ROUND_UP, 1.368e-2},
    {"Mxfp4Floor", LPT_FORMAT_MXFP4, LPT_ROUNDING_NEAREST_EVEN, LPT_SCALE_RULE_FLOOR, 1.335e-2},
    {"Mxfp4RoundUpStochastic", LPT_FORMAT_MXFP4, LPT_ROUNDING_STOCHASTIC, LPT_SCALE_RULE_ROUND_UP, 2.779e-2},
    {"Mxfp4FloorStochastic", LPT_FORMAT_MXFP4, LPT_ROUNDING_STOCHASTIC, LPT_SCALE_RULE_FLOOR, 2.495e-2},
    {"Nvfp4", LPT_FORMAT_NVFP4, LPT_ROUNDING_NEAREST_EVEN, LPT_SCALE_RULE_NEAREST, 9.04e-3},
    {"Nvfp4Stochastic", LPT_FORMAT_NVFP4, LPT_ROUNDING_STOCHASTIC, LPT_SCALE_RULE_NEAREST, 1.887e-2},
    {"Nvfp4StochasticHeadroom", LPT_FORMAT_NVFP4, LPT_ROUNDING_STOCHASTIC, LPT_SCALE_RULE_HEADROOM, 2.37e-2},
    {"Mxfp8E4m3RoundUp", LPT_FORMAT_MXFP8_E4M3, LPT_ROUNDING_NEAREST_EVEN, LPT_SCALE_RULE_ROUND_UP, 7.01e-4},
    {"Mxfp8E4m3Floor", LPT_FORMAT_MXFP8_E4M3, LPT_ROUNDING_NEAREST_EVEN, LPT_SCALE_RULE_FLOOR, 8.93e-4},
    {"Mxfp8E5m2RoundUp", LPT_FORMAT_MXFP8_E5M2, LPT_ROUNDING_NEAREST_EVEN, LPT_SCALE_RULE_ROUND_UP, 2.78e-3},
    {"Mxfp8E5m2Floor", LPT_FORMAT_MXFP8_E5M2, LPT_ROUNDING_NEAREST_EVEN, LPT_SCALE_RULE_FLOOR, 2.93e-3},
    {"E4m3fnTensor", LPT_FORMAT_E4M3FN_TENSOR, LPT_ROUNDING_NEAREST_EVEN, LPT_SCALE_RULE_AMAX, 7.0e-4},
    {"E4m3Tensor", LPT_FORMAT_E4M3_TENSOR, LPT_ROUNDING_NEAREST_EVEN, LPT_SCALE_RULE_AMAX, 7.0e-4},
    {"E4m3fnTensorPowerOfTwo", LPT_FORMAT_E4M3FN_TENSOR, LPT_ROUNDING_NEAREST_EVEN, LPT_SCALE_RULE_POWER_OF_TWO, 7.0e-4},
    {"E4m3fnTensorStochastic", LPT_FORMAT_E4M3FN_TENSOR, LPT_ROUNDING_STOCHASTIC, LPT_SCALE_RULE_AMAX, 1.41e-3},
    {"E5m2Tensor", LPT_FORMAT_E5M2_TENSOR, LPT_ROUNDING_NEAREST_EVEN, LPT_SCALE_RULE_AMAX, 2.78e-3},
};

INSTANTIATE_TEST_SUITE_P(Published, GaussianError, testing::ValuesIn(kFigures),
                         [](const testing::TestParamInfo<Figure> &info) { return info.param.name; });

// The step is amax / 127, and the error that of a uniform grid; published for 4 million numbers: 1.48e-4, which moves
// with the amax of the sample.
TEST(GaussianErrorInt8, IsThatOfAUniformGrid) {
  QuantizeCase c;
  c.target = LPT_FORMAT_INT8_TENSOR;
  c.rows = kRows;
  c.columns = 16 * kColumns;
  Matrix source = source_of(c), back(LPT_FORMAT_F32, c.rows, c.columns);
  Random random(501);
  source.fill(random, Values::kNormal);
  QuantizeRun run(c, source);
  cast_and_back(run.request, back.view());
  double squares = 0, errors = 0;
  for (int64_t i = 0; i < c.rows * c.columns; ++i) {
    const double x = static_cast<double>(reinterpret_cast<const float *>(source.data.data())[i]);
    const double y = static_cast<double>(reinterpret_cast<const float *>(back.data.data())[i]);
    squares += x * x;
    errors += (y - x) * (y - x);
  }
  const double step = static_cast<double>(run.target.tensor_scale);
  const double count = static_cast<double>(c.rows * c.columns);
  EXPECT_NEAR(errors / count / (step * step / 12), 1.0, 0.02);
  EXPECT_NEAR(errors / squares / 1.48e-4, 1.0, 0.2);
}

TEST(Nvfp4Stochastic, IsUnbiasedWithHeadroom) {
  const double bias = error_of(LPT_FORMAT_NVFP4, LPT_ROUNDING_STOCHASTIC, LPT_SCALE_RULE_HEADROOM, 128).bias;
  EXPECT_LT(std::fabs(bias), 1e-4) << bias;
}

TEST(Nvfp4Stochastic, ShrinksWithoutHeadroom) {
  const double bias = error_of(LPT_FORMAT_NVFP4, LPT_ROUNDING_STOCHASTIC, LPT_SCALE_RULE_NEAREST, 16).bias;
  EXPECT_NEAR(bias / -3.3e-3, 1.0, 0.1) << bias;
}

// One number between two codes, 2^20 times: its mean is the number.
TEST(StochasticRounding, HasTheMeanOfTheNumber) {
  for (const int32_t bits : {16, 8}) {
    QuantizeCase c;
    c.target = LPT_FORMAT_E4M3FN;
    c.rows = 256;
    c.columns = 4096;
    c.rounding = LPT_ROUNDING_STOCHASTIC;
    c.random.bits = bits;
    for (const double fraction : {0.03125, 0.3, 0.5, 0.9}) {
      Matrix source = source_of(c), back(LPT_FORMAT_F32, c.rows, c.columns);
      const auto number = static_cast<float>(1 + fraction / 8);
      for (int64_t row = 0; row < c.rows; ++row) {
        for (int64_t column = 0; column < c.columns; ++column) source.set(row, column, number);
      }
      QuantizeRun run(c, source);
      cast_and_back(run.request, back.view());
      double ups = 0;
      for (int64_t i = 0; i < c.rows * c.columns; ++i) {
        ups += reinterpret_cast<const float *>(back.data.data())[i] > 1.0f ? 1 : 0;
      }
      const double count = static_cast<double>(c.rows * c.columns);
      const double sigma = std::sqrt(fraction * (1 - fraction) / count);
      const double grain = std::exp2(-bits - 1);  // bits cut the probability to this
      EXPECT_NEAR(ups / count, fraction, 4 * sigma + grain) << fraction << " with " << bits << " bits";
    }
  }
}

}  // namespace
}  // namespace lpt::test
