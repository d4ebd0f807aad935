// A LayerNorm problem for kernel tests: tensors, and the definition in double with error bounds.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tests/kernels/activation.hpp"

namespace lpt::test {

// Units of kEps of the terms in the checks. The mean is rounded to f32, which changes x - m by half a unit of m.
constexpr double kLayernormError = 4;
constexpr double kLayernormGradientError = 5;

struct LayernormProblem {
  LayernormProblem(Random &random, lpt_format source, lpt_format target, int64_t row_count, int64_t column_count,
                   int64_t padding)
      : rows(row_count),
        columns(column_count),
        has_weight(random.chance(0.7)),
        has_bias(random.chance(0.7)),
        epsilon(random.chance(0.5) ? 1e-5 : 0.0),
        x(source, rows, columns, padding, 4),
        dy(random.of(kFormats), rows, columns, padding),
        y(target, rows, columns, padding, 4),
        dx(target, rows, columns, padding, 4),
        weight(LPT_FORMAT_F32, 1, columns, 0, random.chance(0.5) ? 0 : 4),
        bias(LPT_FORMAT_F32, 1, columns),
        mean(LPT_FORMAT_F32, 1, rows),
        inverse(LPT_FORMAT_F32, 1, rows) {
    fill_finite(random, x, Values::kNormal);
    const float offset = random.chance(0.5) ? 0.0f : 100.0f;  // mean
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) x.set(r, c, x.get(r, c) + offset);
    }
    for (Matrix *matrix : {&dy, &weight, &bias}) fill_finite(random, *matrix, Values::kNormal);
  }

  RmsnormForwardRequest forward() {
    RmsnormForwardRequest request = {x.view(), weight.data.data(), y.view(), inverse.data.data(), epsilon, false};
    request.is_centered = true;
    if (!has_weight) request.weight = nullptr;
    if (has_bias) request.bias = bias.data.data();
    request.mean = mean.data.data();
    return request;
  }
  // Without gradients of weight and bias.
  RmsnormBackwardRequest backward() {
    RmsnormBackwardRequest request = {x.view(), dy.view(), dx.view(), weight.data.data(), inverse.data.data(),
                                      nullptr,  false};
    request.is_centered = true;
    if (!has_weight) request.weight = nullptr;
    request.mean = mean.data.data();
    return request;
  }

  double weight_at(int64_t c) const { return has_weight ? number(weight, 0, c) : 1.0; }
  double normal(int64_t r, int64_t c) const { return (number(x, r, c) - number(mean, 0, r)) * number(inverse, 0, r); }

  void expect_forward(const std::string &where) const {
    for (int64_t r = 0; r < rows; ++r) {
      double m = 0, variance = 0;
      for (int64_t c = 0; c < columns; ++c) m += number(x, r, c) / static_cast<double>(columns);
      for (int64_t c = 0; c < columns; ++c) {
        variance += (number(x, r, c) - m) * (number(x, r, c) - m) / static_cast<double>(columns);
      }
      const double square = variance + epsilon;
      if (square < 1e-20) continue;  // r is dominated by rounding
      const double i = 1 / std::sqrt(square);
      expect_near(mean, 0, r, m, kEps * std::fabs(m), where + " mean");
      expect_near(inverse, 0, r, i, kEps * i, where + " inverse");
      for (int64_t c = 0; c < columns; ++c) {
        const double d = number(x, r, c) - m, b = has_bias ? number(bias, 0, c) : 0.0;
        const double terms = (std::fabs(d) + std::fabs(m)) * i * std::fabs(weight_at(c)) + std::fabs(b);
        expect_near(y, r, c, d * i * weight_at(c) + b, kLayernormError * kEps * terms, where);
      }
    }
  }

  void expect_backward(const std::string &where) const {
    for (int64_t r = 0; r < rows; ++r) {
      const double i = number(inverse, 0, r), width = static_cast<double>(columns);
      double dot = 0, dot_terms = 0, sum = 0, sum_terms = 0;
      for (int64_t c = 0; c < columns; ++c) {
        const double weighted = weight_at(c) * number(dy, r, c);
        dot += weighted * normal(r, c) / width;
        dot_terms += std::fabs(weighted * normal(r, c)) / width;
        sum += weighted / width;
        sum_terms += std::fabs(weighted) / width;
      }
      for (int64_t c = 0; c < columns; ++c) {
        const double weighted = weight_at(c) * number(dy, r, c), n = normal(r, c);
        const double terms = std::fabs(weighted) + sum_terms + std::fabs(n) * dot_terms;
        expect_near(dx, r, c, i * (weighted - sum - n * dot), kLayernormGradientError * kEps * i * terms, where);
      }
    }
  }

  int64_t rows, columns;
  bool has_weight, has_bias;
  double epsilon;
  Matrix x, dy, y, dx, weight, bias, mean, inverse;
};

// Runs a backward kernel of RMSNorm or LayerNorm with and without a residual gradient, and expects the sum of the latter result
// and the residual in f32, rounded once.
template <typename Run>
void expect_residual_added(Random &random, RmsnormBackwardRequest request, const Run &run, const std::string &where) {
  const int64_t rows = request.input.rows, columns = request.input.columns, padding = random.below(5);
  Matrix alone(LPT_FORMAT_F32, rows, columns), residual(random.of(kFormats), rows, columns, padding, 4);
  Matrix other(random.of(kFormats), rows, columns, padding, 4);
  Matrix &sum = random.chance(0.5) ? residual : other;
  residual.fill(random, Values::kNormal);
  request.input_gradient = alone.view();
  run(request);
  Matrix expected(sum.format().id, rows, columns);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) expected.set(r, c, alone.get(r, c) + residual.get(r, c));
  }
  request.input_gradient = sum.view();
  request.residual_gradient = residual.view();
  run(request);
  ASSERT_TRUE(residual.is_intact() && other.is_intact()) << where;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c)
      ASSERT_EQ(expected.code(r, c), sum.code(r, c)) << where << ": " << r << ", " << c;
  }
}

}  // namespace lpt::test
