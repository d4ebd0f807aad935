// Every kernel of SwiGLU against the reference kernel bit for bit, and the reference kernel against the definition in double.
#include <algorithm>

#include "tests/kernels/activation.hpp"

namespace lpt::test {
namespace {

constexpr double kSwigluError = 5;
constexpr double kSwigluGradientError = 6;

constexpr lpt_format kAllFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64};

double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }
double silu_derivative(double x) { return sigmoid(x) * (1 + x * sigmoid(-x)); }

// Operands of one shape, and memory for results.
struct Swiglu {
  Swiglu(lpt_format format, int64_t row_count, int64_t column_count, int64_t gap, std::size_t bytes, Random &random,
         Values values)
      : rows(row_count),
        columns(column_count),
        padding(gap),
        shift(bytes),
        gate(format, rows, columns, padding, shift),
        up(format, rows, columns, padding + 2, shift),
        gradient(format, rows, columns, padding, shift) {
    gate.fill(random, values);
    up.fill(random, values);
    gradient.fill(random, values);
  }
  Matrix result(lpt_format format) const { return Matrix(format, rows, columns, padding, shift); }
  Matrix result(lpt_format format, int64_t gap) const { return Matrix(format, rows, columns, gap, shift); }

  int64_t rows, columns, padding;
  std::size_t shift;
  Matrix gate, up, gradient;
};

// Calls `judge` for every format, width and kind of values, with a result format and a description of the case.
template <typename Judge>
void for_each_problem(const char *row, Random &random, const Judge &judge) {
  for (const lpt_format format : kFormats) {
    for (const int64_t columns : kSimdEdges) {
      for (const Values values : kAllValues) {
        const int64_t count = 1 + random.below(3), padding = random.below(5);
        const auto shift = static_cast<std::size_t>(4 * random.below(16));
        Swiglu problem(format, count, columns, padding, shift, random, values);
        const lpt_format target = random.of(kFormats);
        judge(problem, target, shape_text(row, format, count, columns, values));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(SwigluForward, RowsGiveTheBitsOfTheReference) {
  Random random(1);
  const auto rows = swiglu_forward_kernels();
  for (const auto &row : rows) {
    if (!can_run(row)) continue;
    for_each_problem(row.name, random, [&](Swiglu &problem, lpt_format target, const std::string &where) {
      Matrix found = problem.result(target), expected = problem.result(target);
      std::vector<float> found_amax(static_cast<size_t>(problem.columns), 0.5f), expected_amax = found_amax;
      const Guarded gate = problem.gate.data, up = problem.up.data;
      const SwigluForwardRequest request{problem.gate.view(), problem.up.view(), found.view(),
                                         random.chance(0.5) ? found_amax.data() : nullptr};
      if (!takes(row, request)) return;
      row.run(request);
      rows.back().run({problem.gate.view(), problem.up.view(), expected.view(),
                       request.column_amax == nullptr ? nullptr : expected_amax.data()});
      ASSERT_TRUE(found.equals(expected)) << where;
      ASSERT_TRUE(found.is_intact()) << where;
      ASSERT_EQ(found_amax, expected_amax) << where;
      ASSERT_TRUE(problem.gate.data.equals(gate) && problem.up.data.equals(up));
    });
  }
}

TEST(SwigluBackward, RowsGiveTheBitsOfTheReference) {
  Random random(2);
  const auto rows = swiglu_backward_kernels();
  for (const auto &row : rows) {
    if (!can_run(row)) continue;
    for_each_problem(row.name, random, [&](Swiglu &problem, lpt_format target, const std::string &where) {
      Matrix gate = problem.result(target), expected_gate = problem.result(target);
      Matrix up = problem.result(target, 2), expected_up = problem.result(target, 2);
      const SwigluBackwardRequest request{problem.gate.view(), problem.up.view(), problem.gradient.view(), gate.view(),
                                          up.view()};
      if (!takes(row, request)) return;
      row.run(request);
      rows.back().run(
          {problem.gate.view(), problem.up.view(), problem.gradient.view(), expected_gate.view(), expected_up.view()});
      ASSERT_TRUE(gate.equals(expected_gate)) << where;
      ASSERT_TRUE(up.equals(expected_up)) << where;
      ASSERT_TRUE(gate.is_intact() && up.is_intact()) << where;
    });
  }
}

// Below -87 the f32 sigmoid has few bits: silu is smaller than 2^-118.
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

}  // namespace
}  // namespace lpt::test
