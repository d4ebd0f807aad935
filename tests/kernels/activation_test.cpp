// Every row of SwiGLU, RMSNorm and softmax: against the reference where the family is exact, against the definitions in
// double everywhere, and the gradients against differences of the forward pass.
#include "kernels/activation/activation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "src/formats/functions.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {
namespace {

constexpr double kEps = 0x1p-23;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Errors of one result, in units of kEps times the magnitude that is named beside the check; rounding to the output's
// format comes on top. Measured: at most half of each.
constexpr double kSwigluError = 5;
constexpr double kSwigluGradientError = 6;
constexpr double kRmsnormError = 3;
constexpr double kRmsnormGradientError = 4;
constexpr double kSoftmaxError = 4;  // and the rounding of the exponent, which is in its magnitude

constexpr lpt_format kFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
constexpr lpt_format kAllFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64};

// Half a unit in the last place of `format` at `value`, and what underflows.
double rounding_error(lpt_format format, double value) {
  if (format == LPT_FORMAT_F64 || format == LPT_FORMAT_F32) return 0x1p-149;
  if (format == LPT_FORMAT_BF16) return std::fabs(value) * 0x1p-8 + 0x1p-133;
  return std::fabs(value) * 0x1p-11 + 0x1p-24;
}

double largest(lpt_format format) {
  return format == LPT_FORMAT_F16 ? 65504.0 : format == LPT_FORMAT_F64 ? 1e308 : 3.3e38;
}

// Numbers as doubles; f64 keeps all its bits, which Matrix::get does not.
double number(const Matrix &matrix, int64_t row, int64_t column) {
  if (matrix.format().id != LPT_FORMAT_F64) return static_cast<double>(matrix.get(row, column));
  double value;
  std::memcpy(&value, matrix.data.data() + 8 * matrix.index(row, column), sizeof value);
  return value;
}

void put(Matrix &matrix, int64_t row, int64_t column, double value) {
  if (matrix.format().id != LPT_FORMAT_F64) return matrix.set(row, column, static_cast<float>(value));
  std::memcpy(matrix.data.data() + 8 * matrix.index(row, column), &value, sizeof value);
}

// Outliers overflow f16: the tests against definitions are about numbers.
void fill_finite(Random &random, Matrix &matrix, Values values) {
  matrix.fill(random, values);
  for (int64_t row = 0; row < matrix.rows(); ++row) {
    for (int64_t column = 0; column < matrix.columns(); ++column) {
      if (!std::isfinite(matrix.get(row, column))) matrix.set(row, column, 60000.0f);
    }
  }
}

void expect_near(const Matrix &matrix, int64_t row, int64_t column, double expected, double tolerance,
                 const std::string &where) {
  const double found = number(matrix, row, column);
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << where << " at " << row << ", " << column << ": " << found << ", expected NaN";
    return;
  }
  if (std::fabs(expected) > largest(matrix.format().id) * 0.99) return;  // overflow is the encoder's matter
  const double allowed = tolerance + rounding_error(matrix.format().id, expected);
  EXPECT_LE(std::fabs(found - expected), allowed)
      << where << " at " << row << ", " << column << ": " << found << ", expected " << expected;
}

template <typename Request>
bool can_run(const Row<Request> &row) {
  const CpuFeatures missing = row.needs & ~cpu_features();
  if (missing != 0) std::printf("skipped %s: needs %s\n", row.name, feature_names(missing).c_str());
  return missing == 0;
}

std::string shape_text(const char *row, lpt_format format, int64_t rows, int64_t columns, Values values) {
  return std::string(row) + ' ' + format_name(format) + ' ' + std::to_string(rows) + "x" + std::to_string(columns) +
         ' ' + name_of(values);
}

double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }
double silu_derivative(double x) { return sigmoid(x) * (1 + x * sigmoid(-x)); }

// ---- exp

// The slow test of all floats lives in tests/formats.
TEST(Exp, IsWithinOneUnitInTheLastPlaceOfDoubleExp) {
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4093) {
    const float x = float_of_bits(static_cast<uint32_t>(bits));
    const float y = exp_f32(x);
    const double expected = std::exp(static_cast<double>(x));
    if (std::isnan(x)) {
      ASSERT_TRUE(std::isnan(y)) << bits;
    } else if (std::isinf(static_cast<float>(expected))) {
      ASSERT_EQ(y, std::numeric_limits<float>::infinity()) << x;
    } else {
      int exponent;
      std::frexp(expected, &exponent);
      const double unit = std::ldexp(1.0, std::max(exponent, -125) - 24);
      ASSERT_LE(std::fabs(static_cast<double>(y) - expected), 0.91 * unit) << x;
    }
  }
}

TEST(Exp, KnowsItsEdges) {
  EXPECT_EQ(exp_f32(0.0f), 1.0f);
  EXPECT_EQ(exp_f32(-0.0f), 1.0f);
  EXPECT_EQ(exp_f32(-std::numeric_limits<float>::infinity()), 0.0f);
  EXPECT_EQ(exp_f32(std::numeric_limits<float>::infinity()), std::numeric_limits<float>::infinity());
  EXPECT_EQ(exp_f32(88.72284f), std::numeric_limits<float>::infinity());
  EXPECT_LT(exp_f32(88.72283f), std::numeric_limits<float>::infinity());
  EXPECT_EQ(exp_f32(-103.972f), 0x1p-149f);
  EXPECT_EQ(exp_f32(-103.9722f), 0.0f);
}

// ---- SwiGLU

struct Swiglu {
  Swiglu(lpt_format format, int64_t rows, int64_t columns, int64_t padding, std::size_t shift, Random &random,
         Values values)
      : gate(format, rows, columns, padding, shift),
        up(format, rows, columns, padding + 2, shift),
        gradient(format, rows, columns, padding, shift) {
    gate.fill(random, values);
    up.fill(random, values);
    gradient.fill(random, values);
  }
  Matrix gate, up, gradient;
};

TEST(SwigluForward, RowsGiveTheBitsOfTheReference) {
  Random random(1);
  const auto rows = swiglu_forward_kernels();
  for (const auto &row : rows) {
    if (!can_run(row)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        for (const Values values : kAllValues) {
          const int64_t count = 1 + random.below(3), padding = random.below(5);
          const auto shift = static_cast<std::size_t>(4 * random.below(16));
          Swiglu problem(format, count, columns, padding, shift, random, values);
          const lpt_format target = random.of(kFormats);
          Matrix found(target, count, columns, padding, shift), expected(target, count, columns, padding, shift);
          std::vector<float> found_amax(static_cast<size_t>(columns), 0.5f), expected_amax = found_amax;
          const Guarded gate = problem.gate.data, up = problem.up.data;
          const SwigluForwardRequest request{problem.gate.view(), problem.up.view(), found.view(),
                                             random.chance(0.5) ? found_amax.data() : nullptr};
          if (row.refuses != nullptr && row.refuses(request) != nullptr) continue;
          row.run(request);
          rows.back().run({problem.gate.view(), problem.up.view(), expected.view(),
                           request.column_amax == nullptr ? nullptr : expected_amax.data()});
          ASSERT_TRUE(found.equals(expected)) << shape_text(row.name, format, count, columns, values);
          ASSERT_TRUE(found.is_intact()) << shape_text(row.name, format, count, columns, values);
          ASSERT_EQ(found_amax, expected_amax) << shape_text(row.name, format, count, columns, values);
          ASSERT_TRUE(problem.gate.data.equals(gate) && problem.up.data.equals(up));
        }
      }
    }
  }
}

TEST(SwigluBackward, RowsGiveTheBitsOfTheReference) {
  Random random(2);
  const auto rows = swiglu_backward_kernels();
  for (const auto &row : rows) {
    if (!can_run(row)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        for (const Values values : kAllValues) {
          const int64_t count = 1 + random.below(3), padding = random.below(5);
          const auto shift = static_cast<std::size_t>(4 * random.below(16));
          Swiglu problem(format, count, columns, padding, shift, random, values);
          const lpt_format target = random.of(kFormats);
          Matrix gate(target, count, columns, padding, shift), expected_gate(target, count, columns, padding, shift);
          Matrix up(target, count, columns, 2, shift), expected_up(target, count, columns, 2, shift);
          const SwigluBackwardRequest request{problem.gate.view(), problem.up.view(), problem.gradient.view(),
                                              gate.view(), up.view()};
          if (row.refuses != nullptr && row.refuses(request) != nullptr) continue;
          row.run(request);
          rows.back().run({problem.gate.view(), problem.up.view(), problem.gradient.view(), expected_gate.view(),
                           expected_up.view()});
          ASSERT_TRUE(gate.equals(expected_gate)) << shape_text(row.name, format, count, columns, values);
          ASSERT_TRUE(up.equals(expected_up)) << shape_text(row.name, format, count, columns, values);
          ASSERT_TRUE(gate.is_intact() && up.is_intact()) << shape_text(row.name, format, count, columns, values);
        }
      }
    }
  }
}

// Below -87 the f32 sigmoid has few bits left: silu is smaller than 2^-118 there.
TEST(Swiglu, IsTheDefinition) {
  Random random(3);
  for (const lpt_format format : kAllFormats) {
    for (const lpt_format target : kAllFormats) {
      for (const Values values : {Values::kNormal, Values::kOutliers, Values::kZeroRuns, Values::kTies}) {
        Swiglu problem(format, 5, 37, 3, 0, random, values);
        for (Matrix *matrix : {&problem.gate, &problem.up, &problem.gradient}) fill_finite(random, *matrix, values);
        Matrix output(target, 5, 37), gate_gradient(target, 5, 37), up_gradient(target, 5, 37);
        std::vector<float> amax(37, 0.0f);
        swiglu_forward_kernels().back().run({problem.gate.view(), problem.up.view(), output.view(), amax.data()});
        swiglu_backward_kernels().back().run({problem.gate.view(), problem.up.view(), problem.gradient.view(),
                                              gate_gradient.view(), up_gradient.view()});
        for (int64_t column = 0; column < 37; ++column) {
          double column_amax = 0;
          for (int64_t row = 0; row < 5; ++row) {
            const double g = number(problem.gate, row, column), u = number(problem.up, row, column);
            const double dy = number(problem.gradient, row, column);
            const double floor = 0x1p-117;
            expect_near(output, row, column, silu(g) * u,
                        std::fabs(u) * (kSwigluError * kEps * std::fabs(silu(g)) + floor), "output");
            expect_near(up_gradient, row, column, dy * silu(g),
                        std::fabs(dy) * (kSwigluError * kEps * std::fabs(silu(g)) + floor), "up gradient");
            const double terms = sigmoid(g) * (1 + std::fabs(g) * sigmoid(-g));
            expect_near(gate_gradient, row, column, dy * u * silu_derivative(g),
                        std::fabs(dy * u) * (kSwigluGradientError * kEps * terms + floor), "gate gradient");
            column_amax = std::max(column_amax, std::fabs(u));
          }
          ASSERT_EQ(amax[static_cast<size_t>(column)], static_cast<float>(column_amax));
        }
      }
    }
  }
}

TEST(Swiglu, KeepsSpecialsVisible) {
  Matrix gate(LPT_FORMAT_F32, 1, 5), up(LPT_FORMAT_F32, 1, 5);
  const float gates[] = {std::nanf(""), INFINITY, -INFINITY, 1.0f, 200.0f};
  const float ups[] = {1.0f, 1.0f, 1.0f, -INFINITY, 2.0f};
  for (int64_t column = 0; column < 5; ++column) {
    gate.set(0, column, gates[column]);
    up.set(0, column, ups[column]);
  }
  for (const auto &row : swiglu_forward_kernels()) {
    if (!can_run(row)) continue;
    Matrix output(LPT_FORMAT_F32, 1, 5);
    float amax[5] = {};
    row.run({gate.view(), up.view(), output.view(), amax});
    EXPECT_TRUE(std::isnan(output.get(0, 0)));
    EXPECT_EQ(output.get(0, 1), INFINITY);
    EXPECT_TRUE(std::isnan(output.get(0, 2)));
    EXPECT_EQ(output.get(0, 3), -INFINITY);
    EXPECT_EQ(output.get(0, 4), 400.0f);
    EXPECT_EQ(amax[3], 0.0f);
  }
}

// ---- gradients against differences

// d loss / d x(row, column) by central differences, where loss = sum of weights · output.
double difference(Matrix &x, int64_t row, int64_t column, const std::function<double()> &loss) {
  const double value = number(x, row, column);
  const double step = 1e-6 * std::max(1.0, std::fabs(value));
  put(x, row, column, value + step);
  const double above = loss();
  put(x, row, column, value - step);
  const double below = loss();
  put(x, row, column, value);
  return (above - below) / (2 * step);
}

double weighted_sum(const Matrix &weights, const Matrix &values) {
  double sum = 0;
  for (int64_t row = 0; row < values.rows(); ++row) {
    for (int64_t column = 0; column < values.columns(); ++column) {
      sum += number(weights, row, column) * number(values, row, column);
    }
  }
  return sum;
}

void fill_f64(Random &random, Matrix &matrix) {
  for (int64_t row = 0; row < matrix.rows(); ++row) {
    for (int64_t column = 0; column < matrix.columns(); ++column) put(matrix, row, column, random.normal());
  }
}

constexpr double kDifferenceError = 1e-7;

TEST(SwigluBackward, IsTheDerivativeOfForward) {
  Random random(4);
  Matrix gate(LPT_FORMAT_F64, 3, 7), up(LPT_FORMAT_F64, 3, 7), dy(LPT_FORMAT_F64, 3, 7), output(LPT_FORMAT_F64, 3, 7);
  Matrix gate_gradient(LPT_FORMAT_F64, 3, 7), up_gradient(LPT_FORMAT_F64, 3, 7);
  for (Matrix *matrix : {&gate, &up, &dy}) fill_f64(random, *matrix);
  const auto loss = [&] {
    swiglu_forward_kernels().back().run({gate.view(), up.view(), output.view(), nullptr});
    return weighted_sum(dy, output);
  };
  swiglu_backward_kernels().back().run({gate.view(), up.view(), dy.view(), gate_gradient.view(), up_gradient.view()});
  for (int64_t row = 0; row < 3; ++row) {
    for (int64_t column = 0; column < 7; ++column) {
      EXPECT_NEAR(number(gate_gradient, row, column), difference(gate, row, column, loss), kDifferenceError);
      EXPECT_NEAR(number(up_gradient, row, column), difference(up, row, column, loss), kDifferenceError);
    }
  }
}

TEST(RmsnormBackward, IsTheDerivativeOfForward) {
  Random random(5);
  Matrix x(LPT_FORMAT_F64, 3, 7), weight(LPT_FORMAT_F64, 1, 7), dy(LPT_FORMAT_F64, 3, 7), output(LPT_FORMAT_F64, 3, 7);
  Matrix dx(LPT_FORMAT_F64, 3, 7), inverse(LPT_FORMAT_F64, 1, 3);
  for (Matrix *matrix : {&x, &weight, &dy}) fill_f64(random, *matrix);
  const auto loss = [&] {
    rmsnorm_forward_kernels().back().run(
        {x.view(), weight.data.data(), output.view(), inverse.data.data(), 0.25, true});
    return weighted_sum(dy, output);
  };
  loss();
  std::vector<double> dw(7, 0.0);
  rmsnorm_backward_kernels().back().run(
      {x.view(), dy.view(), dx.view(), weight.data.data(), inverse.data.data(), dw.data(), true});
  for (int64_t column = 0; column < 7; ++column) {
    for (int64_t row = 0; row < 3; ++row) {
      EXPECT_NEAR(number(dx, row, column), difference(x, row, column, loss), kDifferenceError);
    }
    EXPECT_NEAR(dw[static_cast<size_t>(column)], difference(weight, 0, column, loss), kDifferenceError);
  }
}

TEST(SoftmaxBackward, IsTheDerivativeOfForward) {
  Random random(6);
  Matrix x(LPT_FORMAT_F64, 4, 7), y(LPT_FORMAT_F64, 4, 7), dy(LPT_FORMAT_F64, 4, 7), dx(LPT_FORMAT_F64, 4, 7);
  for (Matrix *matrix : {&x, &dy}) fill_f64(random, *matrix);
  for (const bool is_causal : {false, true}) {
    for (const double scale : {1.0, 0.3, -2.0}) {
      const auto loss = [&] {
        softmax_forward_kernels().back().run({x.view(), y.view(), scale, is_causal, 0, 4});
        return weighted_sum(dy, y);
      };
      loss();
      softmax_backward_kernels().back().run({y.view(), dy.view(), dx.view(), scale});
      for (int64_t row = 0; row < 4; ++row) {
        for (int64_t column = 0; column < 7; ++column) {
          EXPECT_NEAR(number(dx, row, column), difference(x, row, column, loss), kDifferenceError);
        }
      }
    }
  }
}

// ---- RMSNorm

TEST(RmsnormForward, RowsAreNearTheDefinition) {
  Random random(7);
  for (const auto &row : rmsnorm_forward_kernels()) {
    if (!can_run(row)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        for (const Values values : {Values::kNormal, Values::kOutliers, Values::kZeroRuns}) {
          const int64_t count = 1 + random.below(3), padding = random.below(5);
          const lpt_format target = random.of(kFormats);
          Matrix input(format, count, columns, padding, 4), output(target, count, columns, padding, 4);
          Matrix weight(LPT_FORMAT_F32, 1, columns), inverse(LPT_FORMAT_F32, 1, count);
          fill_finite(random, input, values);
          fill_finite(random, weight, Values::kNormal);
          const double epsilon = random.chance(0.5) ? 1e-5 : 0.0;
          row.run({input.view(), weight.data.data(), output.view(), inverse.data.data(), epsilon, false});
          const std::string where = shape_text(row.name, format, count, columns, values);
          ASSERT_TRUE(output.is_intact() && inverse.is_intact()) << where;
          for (int64_t r = 0; r < count; ++r) {
            double square = 0;
            for (int64_t c = 0; c < columns; ++c) square += number(input, r, c) * number(input, r, c);
            const double mean = columns == 0 ? epsilon : square / static_cast<double>(columns) + epsilon;
            const double expected = mean == 0 ? 0 : 1 / std::sqrt(mean);
            expect_near(inverse, 0, r, expected, kRmsnormError * kEps * expected, where + " inverse");
            for (int64_t c = 0; c < columns; ++c) {
              const double y = number(input, r, c) * expected * number(weight, 0, c);
              expect_near(output, r, c, y, kRmsnormError * kEps * std::fabs(y), where);
            }
          }
        }
      }
    }
  }
}

TEST(RmsnormBackward, RowsAreNearTheDefinition) {
  Random random(8);
  for (const auto &row : rmsnorm_backward_kernels()) {
    if (!can_run(row)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        const int64_t count = 1 + random.below(3), padding = random.below(5);
        const lpt_format target = random.of(kFormats);
        Matrix x(format, count, columns, padding), dy(format, count, columns), dx(target, count, columns, padding);
        Matrix weight(LPT_FORMAT_F32, 1, columns), inverse(LPT_FORMAT_F32, 1, count);
        fill_finite(random, x, Values::kOutliers);
        fill_finite(random, dy, Values::kNormal);
        fill_finite(random, weight, Values::kNormal);
        rmsnorm_forward_kernels().back().run(
            {x.view(), weight.data.data(), dx.view(), inverse.data.data(), 1e-5, false});
        const bool wants_input = random.chance(0.8), wants_weight = random.chance(0.8);
        Guarded sums(static_cast<size_t>(columns) * 8);
        auto *dw = reinterpret_cast<double *>(sums.data());
        for (int64_t c = 0; c < columns; ++c) dw[c] = 1.0;
        row.run({x.view(), dy.view(), wants_input ? dx.view() : MatrixView{}, weight.data.data(), inverse.data.data(),
                 wants_weight ? dw : nullptr, false});
        const std::string where = shape_text(row.name, format, count, columns, Values::kOutliers);
        ASSERT_TRUE(dx.is_intact() && sums.is_intact()) << where;
        std::vector<double> expected(static_cast<size_t>(columns), 1.0), terms(static_cast<size_t>(columns), 1.0);
        for (int64_t r = 0; r < count; ++r) {
          const double i = number(inverse, 0, r);
          double mean = 0, mean_terms = 0;
          for (int64_t c = 0; c < columns; ++c) {
            const double normal = number(x, r, c) * i;
            const double product = number(weight, 0, c) * number(dy, r, c) * normal;
            mean += product / static_cast<double>(columns);
            mean_terms += std::fabs(product) / static_cast<double>(columns);
            expected[static_cast<size_t>(c)] += number(dy, r, c) * normal;
            terms[static_cast<size_t>(c)] += std::fabs(number(dy, r, c) * normal);
          }
          for (int64_t c = 0; c < columns && wants_input; ++c) {
            const double weighted = number(weight, 0, c) * number(dy, r, c), normal = number(x, r, c) * i;
            expect_near(dx, r, c, i * (weighted - normal * mean),
                        kRmsnormGradientError * kEps * i * (std::fabs(weighted) + std::fabs(normal) * mean_terms),
                        where);
          }
        }
        for (int64_t c = 0; c < columns; ++c) {
          const auto at = static_cast<size_t>(c);
          EXPECT_NEAR(dw[c], wants_weight ? expected[at] : 1.0, kEps * terms[at]) << where;
        }
      }
    }
  }
}

TEST(Rmsnorm, TakesHugeZeroAndSpecialRows) {
  const float rows_of[4][3] = {{1e30f, -1e30f, 1e30f}, {0.0f, 0.0f, 0.0f}, {1.0f, NAN, 2.0f}, {1e-30f, 1e-30f, 1e-30f}};
  Matrix input(LPT_FORMAT_F32, 4, 3), weight(LPT_FORMAT_F32, 1, 3);
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t c = 0; c < 3; ++c) input.set(r, c, rows_of[r][c]);
  }
  for (int64_t c = 0; c < 3; ++c) weight.set(0, c, 1.0f);
  for (const auto &row : rmsnorm_forward_kernels()) {
    if (!can_run(row)) continue;
    Matrix output(LPT_FORMAT_F32, 4, 3);
    row.run({input.view(), weight.data.data(), output.view(), nullptr, 0.0, false});
    for (int64_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(output.get(0, c), c == 1 ? -1.0 : 1.0, 2 * kEps) << row.name;
      EXPECT_EQ(output.get(1, c), 0.0f) << row.name;
      EXPECT_TRUE(std::isnan(output.get(2, c))) << row.name;
      EXPECT_NEAR(output.get(3, c), 1.0, 2 * kEps) << row.name;
    }
  }
}

// ---- softmax

int64_t seen_by(int64_t t, int64_t period, int64_t columns, bool is_causal) {
  return is_causal ? std::min(columns, std::max<int64_t>(0, t + columns - period + 1)) : columns;
}

TEST(SoftmaxForward, RowsAreNearTheDefinition) {
  Random random(9);
  for (const auto &row : softmax_forward_kernels()) {
    if (!can_run(row)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        for (const Values values : {Values::kNormal, Values::kOutliers, Values::kZeroRuns}) {
          const bool is_causal = random.chance(0.5);
          const int64_t period = 1 + random.below(2 * columns + 3), count = 1 + random.below(4);
          const int64_t first_row = random.below(3 * period);
          const double scales[] = {1.0, 0.125, -0.7, 30.0, 0.0};
          const double scale = static_cast<double>(static_cast<float>(random.of(scales)));
          const lpt_format target = random.of(kFormats);
          Matrix input(format, count, columns, 1, 4), output(target, count, columns, 3, 4);
          fill_finite(random, input, values);
          row.run({input.view(), output.view(), scale, is_causal, first_row, period});
          const std::string where = shape_text(row.name, format, count, columns, values) + " scale " +
                                    std::to_string(scale) + (is_causal ? " causal" : "");
          ASSERT_TRUE(output.is_intact()) << where;
          for (int64_t r = 0; r < count; ++r) {
            const int64_t seen = seen_by((first_row + r) % period, period, columns, is_causal);
            double peak = -kInfinity, sum = 0, terms = 0;
            for (int64_t c = 0; c < seen; ++c) peak = std::max(peak, scale * number(input, r, c));
            for (int64_t c = 0; c < seen; ++c) {
              const double exponent = scale * number(input, r, c) - peak;
              sum += std::exp(exponent);
              if (std::exp(exponent) > 0) terms += std::exp(exponent) * std::fabs(exponent);
            }
            for (int64_t c = 0; c < columns; ++c) {
              const double exponent = scale * number(input, r, c) - peak;
              const double expected = c < seen ? std::exp(exponent) / sum : 0.0;
              const double error = kSoftmaxError + std::fabs(exponent) + terms / sum;
              expect_near(output, r, c, expected, expected > 0 ? kEps * expected * error + 0x1p-140 : 0.0, where);
            }
          }
        }
      }
    }
  }
}

TEST(SoftmaxForward, RowsThatSeeNothingAreZeros) {
  Matrix input(LPT_FORMAT_F32, 5, 3);
  for (int64_t r = 0; r < 5; ++r) {
    for (int64_t c = 0; c < 3; ++c) input.set(r, c, r < 2 ? NAN : static_cast<float>(c));
  }
  for (const auto &row : softmax_forward_kernels()) {
    if (!can_run(row)) continue;
    Matrix output(LPT_FORMAT_F32, 5, 3);
    row.run({input.view(), output.view(), 1.0, true, 0, 5});  // T = 5, S = 3: rows 0 and 1 see nothing
    for (int64_t c = 0; c < 3; ++c) {
      EXPECT_EQ(output.get(0, c), 0.0f) << row.name;
      EXPECT_EQ(output.get(1, c), 0.0f) << row.name;
      EXPECT_EQ(output.get(2, c), c == 0 ? 1.0f : 0.0f) << row.name;
    }
    EXPECT_NEAR(output.get(4, 2), std::exp(2.0) / (1 + std::exp(1.0) + std::exp(2.0)), 1e-7) << row.name;
  }
}

TEST(SoftmaxForward, KeepsSpecialsVisible) {
  const float inf = INFINITY;
  const struct {
    float values[4];
    double expected[4];
  } cases[] = {
      {{1.0f, NAN, 2.0f, 3.0f}, {kNan, kNan, kNan, kNan}},
      {{1.0f, inf, 2.0f, 3.0f}, {kNan, kNan, kNan, kNan}},
      {{-inf, -inf, -inf, NAN}, {kNan, kNan, kNan, kNan}},
      {{NAN, -inf, -inf, -inf}, {kNan, kNan, kNan, kNan}},
      {{-inf, 5.0f, -inf, 5.0f}, {0.0, 0.5, 0.0, 0.5}},
      {{-inf, -inf, -inf, -inf}, {0.0, 0.0, 0.0, 0.0}},
      {{3e38f, 3e38f, -3e38f, -3e38f}, {0.5, 0.5, 0.0, 0.0}},
      {{-3e38f, -3e38f, -3e38f, -3e38f}, {0.25, 0.25, 0.25, 0.25}},
  };
  for (const auto &row : softmax_forward_kernels()) {
    if (!can_run(row)) continue;
    for (const auto &c : cases) {
      for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
        Matrix input(LPT_FORMAT_F32, 1, 4), output(format, 1, 4);
        for (int64_t column = 0; column < 4; ++column) input.set(0, column, c.values[column]);
        row.run({input.view(), output.view(), 1.0, false, 0, 1});
        for (int64_t column = 0; column < 4; ++column) expect_near(output, 0, column, c.expected[column], 0, row.name);
      }
    }
  }
}

TEST(SoftmaxBackward, RowsAreNearTheDefinition) {
  Random random(10);
  for (const auto &row : softmax_backward_kernels()) {
    if (!can_run(row)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        const int64_t count = 1 + random.below(4);
        const double scale = static_cast<double>(static_cast<float>(0.7));
        const lpt_format target = random.of(kFormats);
        Matrix x(LPT_FORMAT_F32, count, columns), y(format, count, columns, 1), dy(format, count, columns, 2);
        Matrix dx(target, count, columns, 3, 4);
        fill_finite(random, x, Values::kNormal);
        fill_finite(random, dy, Values::kOutliers);
        softmax_forward_kernels().back().run({x.view(), y.view(), scale, true, 0, count});
        row.run({y.view(), dy.view(), dx.view(), scale});
        const std::string where = shape_text(row.name, format, count, columns, Values::kOutliers);
        ASSERT_TRUE(dx.is_intact()) << where;
        for (int64_t r = 0; r < count; ++r) {
          double sum = 0;
          for (int64_t c = 0; c < columns; ++c) sum += number(y, r, c) * number(dy, r, c);
          for (int64_t c = 0; c < columns; ++c) {
            const double scaled = scale * number(y, r, c), g = number(dy, r, c);
            expect_near(dx, r, c, scaled * (g - sum), kSoftmaxError * kEps * scaled * (std::fabs(g) + std::fabs(sum)),
                        where);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace lpt::test
