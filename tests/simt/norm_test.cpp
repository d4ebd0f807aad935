// CUDA kernels of norms other than forward: a sum with its norm, gradients of the input and of the weight, factors of
// smoothing.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_steps.hpp"
#include "tests/kernels/layernorm_problem.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kColumns[] = {1, 15, 16, 17, 130, 513, 4100};

Matrix any_matrix(Random &random, lpt_format format, int64_t rows, int64_t columns) {
  const int64_t padding = random.chance(0.5) ? (16 - columns % 16) % 16 : random.below(5);
  return Matrix(format, rows, columns, padding, random.chance(0.5) ? 0 : 4);
}

// Compares codes, ignoring bytes between rows.
bool has_codes_of(const Matrix &found, const Matrix &oracle) {
  for (int64_t row = 0; row < found.rows(); ++row) {
    for (int64_t column = 0; column < found.columns(); ++column) {
      if (found.code(row, column) != oracle.code(row, column)) return false;
    }
  }
  return true;
}

TEST(SimtRmsnorm, ASumAndItsNormAreTheBitsOfTwoCalls) {
  Random random(86);
  for (int i = 0; i < (kIsSanitized ? 8 : 36); ++i) {
    const lpt_format format = kFormats[i % 3];
    const int64_t rows = 1 + random.below(3), columns = random.of(kColumns);
    Matrix residual = any_matrix(random, format, rows, columns);
    Matrix branch = any_matrix(random, random.of(kFormats), rows, columns);
    Matrix sum = any_matrix(random, format, rows, columns), expected_sum(format, rows, columns);
    Matrix output = any_matrix(random, random.of(kFormats), rows, columns);
    Matrix oracle(output.format().id, rows, columns), weight(LPT_FORMAT_F32, 1, columns);
    Matrix rms(LPT_FORMAT_F32, 1, rows), expected_rms(LPT_FORMAT_F32, 1, rows);
    residual.fill(random, kAllValues[static_cast<std::size_t>(i) % std::size(kAllValues)]);
    branch.fill(random, Values::kNormal);
    weight.fill(random, Values::kNormal);
    RmsnormForwardRequest reference = {expected_sum.view(), weight.data.data(), oracle.view(), nullptr, 1e-5, false};
    reference.residual = residual.view();
    reference.branch = branch.view();
    reference_of(rmsnorm_forward_kernels()).run(reference);
    const bool is_in_place = i % 4 == 1;
    RmsnormForwardRequest request = reference;
    request.input = is_in_place ? residual.view() : sum.view();
    request.output = output.view();
    request.inverse_rms = rms.data.data();
    ASSERT_EQ(rmsnorm_forward_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    rmsnorm_forward_device_kernels().front().queue(request, nullptr);
    rmsnorm_forward_device_kernels().front().queue(
        {expected_sum.view(), weight.data.data(), oracle.view(), expected_rms.data.data(), 1e-5, false}, nullptr);
    EXPECT_TRUE(has_codes_of(is_in_place ? residual : sum, expected_sum)) << i << ": the sum";
    EXPECT_TRUE(has_codes_of(output, oracle) && has_codes_of(rms, expected_rms)) << i << ": the norm";
    EXPECT_TRUE(sum.is_intact() && output.is_intact() && rms.is_intact() && residual.is_intact()) << i;
  }
}

// x, dy, weight and the inverse rms of x.
struct NormCase {
  NormCase(Random &random, lpt_format format, int64_t rows, int64_t columns)
      : x(any_matrix(random, format, rows, columns)),
        dy(any_matrix(random, random.of(kFormats), rows, columns)),
        weight(LPT_FORMAT_F32, 1, columns, 0, random.chance(0.5) ? 0 : 4),
        inverse(LPT_FORMAT_F32, 1, rows) {
    fill_finite(random, x, Values::kOutliers);
    fill_finite(random, dy, Values::kNormal);
    fill_finite(random, weight, Values::kNormal);
    Matrix unused(LPT_FORMAT_F32, rows, columns);
    reference_of(rmsnorm_forward_kernels())
        .run({x.view(), weight.data.data(), unused.view(), inverse.data.data(), 1e-5, false});
  }

  int64_t rows() const { return x.rows(); }
  int64_t columns() const { return x.columns(); }
  double normal(int64_t row, int64_t column) const { return number(x, row, column) * number(inverse, 0, row); }

  Matrix x, dy, weight, inverse;
};

// The bound of the CPU kernels (tests/kernels/rmsnorm_test.cpp).
constexpr double kRmsnormGradientError = 4;

TEST(SimtRmsnorm, BackwardIsNearTheDefinition) {
  Random random(87);
  for (int i = 0; i < (kIsSanitized ? 8 : 30); ++i) {
    NormCase c(random, kFormats[i % 3], 1 + random.below(3), random.of(kColumns));
    Matrix dx = any_matrix(random, random.of(kFormats), c.rows(), c.columns());
    const RmsnormBackwardRequest request = {
        c.x.view(), c.dy.view(), dx.view(), c.weight.data.data(), c.inverse.data.data(), nullptr, false};
    ASSERT_EQ(rmsnorm_backward_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    rmsnorm_backward_device_kernels().front().queue(request, nullptr);
    ASSERT_TRUE(dx.is_intact()) << i;
    for (int64_t row = 0; row < c.rows(); ++row) {
      const double inverse = number(c.inverse, 0, row);
      double mean = 0, terms = 0;
      for (int64_t column = 0; column < c.columns(); ++column) {
        const double product = number(c.weight, 0, column) * number(c.dy, row, column) * c.normal(row, column);
        mean += product / static_cast<double>(c.columns());
        terms += std::fabs(product) / static_cast<double>(c.columns());
      }
      for (int64_t column = 0; column < c.columns(); ++column) {
        const double weighted = number(c.weight, 0, column) * number(c.dy, row, column);
        const double normal = c.normal(row, column);
        expect_near(dx, row, column, inverse * (weighted - normal * mean),
                    kRmsnormGradientError * kEps * inverse * (std::fabs(weighted) + std::fabs(normal) * terms),
                    "case " + std::to_string(i));
      }
    }
  }
}

// A row with infinite r: elements beyond its end must not affect the sum.
TEST(SimtRmsnorm, BackwardOfAnInfiniteInverseHasNoNanOfItsOwn) {
  Matrix x(LPT_FORMAT_F32, 1, 3), dy(LPT_FORMAT_F32, 1, 3), dx(LPT_FORMAT_F32, 1, 3), weight(LPT_FORMAT_F32, 1, 3);
  for (int64_t column = 0; column < 3; ++column) {
    x.set(0, column, 1.0f);
    dy.set(0, column, column == 0 ? 1.0f : 0.5f);
    weight.set(0, column, 1.0f);
  }
  const float infinite = std::numeric_limits<float>::infinity();
  rmsnorm_backward_device_kernels().front().queue(
      {x.view(), dy.view(), dx.view(), weight.data.data(), &infinite, nullptr, false}, nullptr);
  for (int64_t column = 0; column < 3; ++column) EXPECT_EQ(-infinite, dx.get(0, column));
}

TEST(SimtRmsnorm, GradientsOfTheWeightAreNearTheDefinition) {
  Random random(88);
  for (int i = 0; i < (kIsSanitized ? 6 : 20); ++i) {
    NormCase c(random, kFormats[i % 3], 1 + random.below(40), random.of(kColumns));
    const int64_t part_rows = 1 + random.below(20), parts = (c.rows() + part_rows - 1) / part_rows;
    Guarded sums(static_cast<std::size_t>(parts * c.columns()) * sizeof(double));
    auto *const memory = reinterpret_cast<double *>(sums.data());
    const GradientPartsRequest request = {c.x.view(), c.dy.view(), reinterpret_cast<float *>(c.inverse.data.data()),
                                          part_rows, memory};
    ASSERT_EQ(gradient_parts_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    gradient_parts_device_kernels().front().queue(request, nullptr);
    ASSERT_TRUE(sums.is_intact()) << i;
    for (int64_t part = 0; part < parts; ++part) {
      for (int64_t column = 0; column < c.columns(); ++column) {
        double oracle = 0, terms = 0;
        for (int64_t row = part * part_rows; row < std::min((part + 1) * part_rows, c.rows()); ++row) {
          oracle += number(c.dy, row, column) * c.normal(row, column);
          terms += std::fabs(number(c.dy, row, column) * c.normal(row, column));
        }
        ASSERT_NEAR(memory[part * c.columns() + column], oracle, kEps * terms) << i << ": " << part << ", " << column;
      }
    }
  }
}

TEST(SimtLayernorm, ForwardAndBackwardAreNearTheDefinition) {
  Random random(90);
  for (int i = 0; i < (kIsSanitized ? 8 : 40); ++i) {
    const int64_t columns = i == 7 ? 0 : random.of(kColumns),
                  padding = random.chance(0.5) ? (16 - columns % 16) % 16 : 1;
    LayernormProblem problem(random, kFormats[i % 3], random.of(kFormats), 1 + random.below(3), columns, padding);
    const RmsnormForwardRequest forward = problem.forward();
    const RmsnormBackwardRequest backward = problem.backward();
    ASSERT_EQ(rmsnorm_forward_device_kernels().front().unsupported_reason(forward), nullptr);
    ASSERT_EQ(rmsnorm_backward_device_kernels().front().unsupported_reason(backward), nullptr);
    take_next_order();
    rmsnorm_forward_device_kernels().front().queue(forward, nullptr);
    rmsnorm_backward_device_kernels().front().queue(backward, nullptr);
    ASSERT_TRUE(problem.y.is_intact() && problem.dx.is_intact() && problem.mean.is_intact()) << i;
    problem.expect_forward("case " + std::to_string(i));
    problem.expect_backward("case " + std::to_string(i));
  }
}

TEST(SimtLayernorm, AddsTheGradientOfAResidual) {
  Random random(92);
  for (int i = 0; i < (kIsSanitized ? 4 : 20); ++i) {
    LayernormProblem problem(random, kFormats[i % 3], LPT_FORMAT_F32, 1 + random.below(3), random.of(kColumns), 1);
    reference_of(rmsnorm_forward_kernels()).run(problem.forward());
    RmsnormBackwardRequest request = problem.backward();
    request.weight = problem.weight.data.data();
    request.is_centered = random.chance(0.5);
    const auto run = [](const RmsnormBackwardRequest &given) {
      ASSERT_EQ(rmsnorm_backward_device_kernels().front().unsupported_reason(given), nullptr);
      take_next_order();
      rmsnorm_backward_device_kernels().front().queue(given, nullptr);
    };
    expect_residual_added(random, request, run, "case " + std::to_string(i));
  }
}

TEST(SimtLayernorm, GradientsOfWeightAndBiasAreNearTheDefinition) {
  Random random(91);
  for (int i = 0; i < (kIsSanitized ? 6 : 20); ++i) {
    LayernormProblem problem(random, kFormats[i % 3], LPT_FORMAT_F32, 1 + random.below(40), random.of(kColumns), 1);
    reference_of(rmsnorm_forward_kernels()).run(problem.forward());
    const int64_t part_rows = 1 + random.below(20), parts = (problem.rows + part_rows - 1) / part_rows;
    for (const bool is_of_bias : {false, true}) {
      Guarded sums(static_cast<std::size_t>(parts * problem.columns) * sizeof(double));
      auto *const memory = reinterpret_cast<double *>(sums.data());
      take_next_order();
      gradient_parts_device_kernels().front().queue(
          {problem.x.view(), problem.dy.view(), reinterpret_cast<float *>(problem.inverse.data.data()), part_rows,
           memory, reinterpret_cast<float *>(problem.mean.data.data()), is_of_bias},
          nullptr);
      ASSERT_TRUE(sums.is_intact()) << i;
      for (int64_t part = 0; part < parts; ++part) {
        for (int64_t column = 0; column < problem.columns; ++column) {
          double oracle = 0, terms = 0;
          for (int64_t row = part * part_rows; row < std::min((part + 1) * part_rows, problem.rows); ++row) {
            const double factor = is_of_bias ? 1.0 : problem.normal(row, column);
            oracle += number(problem.dy, row, column) * factor;
            terms += std::fabs(number(problem.dy, row, column) * factor);
          }
          ASSERT_NEAR(memory[part * problem.columns + column], oracle, kEps * terms) << i << ": " << part;
        }
      }
    }
  }
}

TEST(SimtRmsnorm, PartsOfAGradientAreAddedUp) {
  Random random(89);
  for (const int64_t parts : {0, 1, 7, 8, 9, 256}) {
    for (const int64_t columns : {1, 31, 33, 100}) {
      std::vector<double> sums(static_cast<std::size_t>(parts * columns));
      for (double &sum : sums) sum = static_cast<double>(random.below(1000)) - 500.25;
      for (const bool is_accumulated : {false, true}) {
        Matrix gradient(LPT_FORMAT_F32, 1, columns);
        for (int64_t column = 0; column < columns; ++column) gradient.set(0, column, 2.5f);
        take_next_order();
        gradient_sum_device_kernels().front().queue(
            {sums.data(), parts, columns, reinterpret_cast<float *>(gradient.data.data()), is_accumulated}, nullptr);
        EXPECT_TRUE(gradient.is_intact());
        for (int64_t column = 0; column < columns; ++column) {
          double oracle = is_accumulated ? 2.5 : 0.0;  // multiples of 1/4: every sum is exact
          for (int64_t part = 0; part < parts; ++part)
            oracle += sums[static_cast<std::size_t>(part * columns + column)];
          ASSERT_EQ(static_cast<float>(oracle), gradient.get(0, column)) << parts << " parts, column " << column;
        }
      }
    }
  }
}

TEST(SimtSmoothing, FactorsArePowersOfTwoAtOrAboveTheAmax) {
  std::vector<float> amax = {0.0f, 0x1p-149f, 0x1p-127f, 0x1.8p-127f, 0x1p-126f, 0x1p+127f, 0x1.8p+127f};
  for (int exponent = -120; exponent <= 120; ++exponent) {
    for (const float fraction : {1.0f, 0x1.000002p+0f, 1.5f}) amax.push_back(std::ldexp(fraction, exponent));
  }
  Guarded factors(amax.size());
  const auto columns = static_cast<int64_t>(amax.size());
  take_next_order();
  smoothing_device_kernels().front().queue({amax.data(), columns, factors.data()}, nullptr);
  EXPECT_TRUE(factors.is_intact());
  for (std::size_t i = 0; i < amax.size(); ++i) {
    int exponent = 0;
    const bool is_power = std::frexp(amax[i], &exponent) == 0.5f;
    const int power = std::clamp(is_power ? exponent - 1 : exponent, -127, 127);
    EXPECT_EQ(amax[i] == 0.0f ? 127 : power + 127, factors.data()[i]) << amax[i];
  }
}

TEST(SimtRmsnorm, WhatTheRowsDoNotTakeIsRejected) {
  Matrix matrix(LPT_FORMAT_F32, 2, 8), wide(LPT_FORMAT_F64, 2, 8);
  double sums[8];
  RmsnormBackwardRequest backward = {matrix.view(), matrix.view(), matrix.view(), nullptr, nullptr, sums, false};
  const auto &row = rmsnorm_backward_device_kernels().front();
  EXPECT_STREQ(row.unsupported_reason(backward), "gives the gradient of the input only");
  backward.weight_gradient_sum = nullptr;
  backward.is_f64 = true;
  EXPECT_STREQ(row.unsupported_reason(backward), "takes weights of f32 only");
  EXPECT_STREQ(
      gradient_parts_device_kernels().front().unsupported_reason({wide.view(), matrix.view(), nullptr, 1, nullptr}),
      "takes f32, bf16 and f16 only");
  RmsnormForwardRequest forward = {matrix.view(), nullptr, matrix.view(), nullptr, 0.0, false};
  forward.residual = matrix.view();
  forward.branch = wide.view();
  EXPECT_STREQ(rmsnorm_forward_device_kernels().front().unsupported_reason(forward), "takes f32, bf16 and f16 only");
}

}  // namespace
}  // namespace lpt::test
