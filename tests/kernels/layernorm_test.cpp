// Every kernel of LayerNorm against the definition in double.
#include "tests/kernels/layernorm_problem.hpp"

namespace lpt::test {
namespace {

TEST(LayernormForward, KernelsAreNearTheDefinition) {
  Random random(36);
  for (const auto &kernel : rmsnorm_forward_kernels()) {
    if (!can_run(kernel)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        LayernormProblem problem(random, format, random.of(kFormats), 1 + random.below(3), columns, random.below(5));
        kernel.run(problem.forward());
        const std::string where = shape_text(kernel.name, format, problem.rows, columns, Values::kNormal);
        ASSERT_TRUE(problem.y.is_intact() && problem.mean.is_intact() && problem.inverse.is_intact()) << where;
        problem.expect_forward(where);
      }
    }
  }
}

TEST(LayernormBackward, AddsTheGradientOfAResidual) {
  Random random(39);
  for (const auto &kernel : rmsnorm_backward_kernels()) {
    if (!can_run(kernel)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        LayernormProblem problem(random, format, LPT_FORMAT_F32, 1 + random.below(3), columns, random.below(5));
        rmsnorm_forward_kernels().back().run(problem.forward());
        RmsnormBackwardRequest request = problem.backward();
        request.weight = problem.weight.data.data();
        request.is_centered = random.chance(0.5);
        expect_residual_added(random, request, kernel.run, kernel.name);
      }
    }
  }
}

TEST(LayernormBackward, KernelsAreNearTheDefinition) {
  Random random(37);
  for (const auto &kernel : rmsnorm_backward_kernels()) {
    if (!can_run(kernel)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        LayernormProblem problem(random, format, random.of(kFormats), 1 + random.below(3), columns, random.below(5));
        rmsnorm_forward_kernels().back().run(problem.forward());
        Guarded weight_sums(static_cast<size_t>(columns) * 8), bias_sums(static_cast<size_t>(columns) * 8);
        auto *const dw = reinterpret_cast<double *>(weight_sums.data());
        auto *const db = reinterpret_cast<double *>(bias_sums.data());
        for (int64_t c = 0; c < columns; ++c) dw[c] = db[c] = 1.0;
        RmsnormBackwardRequest request = problem.backward();
        request.weight_gradient_sum = dw;
        request.bias_gradient_sum = db;
        kernel.run(request);
        const std::string where = shape_text(kernel.name, format, problem.rows, columns, Values::kNormal);
        ASSERT_TRUE(problem.dx.is_intact() && weight_sums.is_intact() && bias_sums.is_intact()) << where;
        problem.expect_backward(where);
        for (int64_t c = 0; c < columns; ++c) {
          double weight_sum = 1.0, bias_sum = 1.0, terms = 1.0;
          for (int64_t r = 0; r < problem.rows; ++r) {
            const double dy = number(problem.dy, r, c);
            weight_sum += dy * problem.normal(r, c);
            bias_sum += dy;
            terms += std::fabs(dy * problem.normal(r, c));
          }
          EXPECT_NEAR(weight_sum, dw[c], kEps * terms) << where;
          EXPECT_NEAR(bias_sum, db[c], 0x1p-40) << where;
        }
      }
    }
  }
}

// The mean is large and the deviation small: the difference E(x²) - E(x)² loses all digits.
TEST(Layernorm, TakesConstantShiftedAndSpecialRows) {
  const float rows_of[4][3] = {
      {5.0f, 5.0f, 5.0f}, {1e6f, 1e6f + 1.0f, 1e6f + 2.0f}, {1.0f, NAN, 2.0f}, {1.0f, INFINITY, 2.0f}};
  Matrix input(LPT_FORMAT_F32, 4, 3);
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t c = 0; c < 3; ++c) input.set(r, c, rows_of[r][c]);
  }
  for (const auto &kernel : rmsnorm_forward_kernels()) {
    if (!can_run(kernel)) continue;
    Matrix output(LPT_FORMAT_F32, 4, 3);
    RmsnormForwardRequest request = {input.view(), nullptr, output.view(), nullptr, 0.0, false};
    request.is_centered = true;
    kernel.run(request);
    for (int64_t c = 0; c < 3; ++c) {
      EXPECT_EQ(0.0f, output.get(0, c)) << kernel.name;
      EXPECT_NEAR(static_cast<double>(c - 1) * std::sqrt(1.5), output.get(1, c), 4 * kEps) << kernel.name;
      EXPECT_TRUE(std::isnan(output.get(2, c)) && std::isnan(output.get(3, c))) << kernel.name;
    }
  }
}

}  // namespace
}  // namespace lpt::test
