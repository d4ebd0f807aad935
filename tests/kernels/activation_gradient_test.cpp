// Gradients of the activations against differences of the forward pass, in f64.
#include <algorithm>
#include <functional>

#include "tests/kernels/activation.hpp"

namespace lpt::test {
namespace {

// Returns d loss / d x(row, column) by central differences, where loss = Σ weights · output.
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

}  // namespace
}  // namespace lpt::test
