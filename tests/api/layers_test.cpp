// SwiGLU, RMS norm and softmax through the C interface, against their formulas in double.
#include <algorithm>
#include <array>
#include <utility>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kLayerRows = 37;
constexpr int64_t kLayerColumns = 53;
constexpr lpt_format kFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64};

// Returns the error bound of a result that is stored in `format`, relative to `size`.
double bound_of(lpt_format format, double size) {
  const double step = format == LPT_FORMAT_F64   ? 0x1p-46
                      : format == LPT_FORMAT_F32 ? 0x1p-20
                      : format == LPT_FORMAT_F16 ? 0x1p-10
                                                 : 0x1p-8;
  return step * size + (format == LPT_FORMAT_F16 ? 0x1p-24 : 1e-30);
}

void expect_near(const std::vector<double> &expected, const std::vector<double> &given, lpt_format format,
                 double least_size = 0.0) {
  ASSERT_EQ(expected.size(), given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    ASSERT_NEAR(expected[i], given[i], bound_of(format, std::max(std::abs(expected[i]), least_size)))
        << name_of(format) << " element " << i;
  }
}

// SwiGLU.

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

TEST(Swiglu, IsSiluOfTheGateTimesUp) {
  const Context context = make_context(2);
  for (const lpt_format format : kFormats) {
    const Tensor gate =
        tensor_of(context.get(), format, kLayerRows, kLayerColumns, draw_normal(301, kLayerRows * kLayerColumns, 3.0));
    const Tensor up =
        tensor_of(context.get(), format, kLayerRows, kLayerColumns, draw_normal(302, kLayerRows * kLayerColumns));
    const Tensor output = make_tensor(context.get(), format, kLayerRows, kLayerColumns);
    ASSERT_TRUE(
        ok(context.get(), lpt_swiglu_forward(context.get(), gate.get(), up.get(), nullptr, output.get(), nullptr)));
    const std::vector<double> g = numbers_of(context.get(), gate.get());
    const std::vector<double> u = numbers_of(context.get(), up.get());
    std::vector<double> expected(g.size());
    for (size_t i = 0; i < g.size(); ++i) expected[i] = g[i] * sigmoid(g[i]) * u[i];
    expect_near(expected, numbers_of(context.get(), output.get()), format);
  }
}

TEST(Swiglu, GradientsAreThoseOfTheFormula) {
  const Context context = make_context(2);
  for (const lpt_format format : kFormats) {
    const Tensor gate =
        tensor_of(context.get(), format, kLayerRows, kLayerColumns, draw_normal(303, kLayerRows * kLayerColumns, 3.0));
    const Tensor up =
        tensor_of(context.get(), format, kLayerRows, kLayerColumns, draw_normal(304, kLayerRows * kLayerColumns));
    const Tensor dy =
        tensor_of(context.get(), format, kLayerRows, kLayerColumns, draw_normal(305, kLayerRows * kLayerColumns));
    const Tensor dgate = make_tensor(context.get(), format, kLayerRows, kLayerColumns);
    const Tensor dup = make_tensor(context.get(), format, kLayerRows, kLayerColumns);
    ASSERT_TRUE(ok(context.get(), lpt_swiglu_backward(context.get(), gate.get(), up.get(), dy.get(), nullptr,
                                                      dgate.get(), dup.get())));
    const std::vector<double> g = numbers_of(context.get(), gate.get());
    const std::vector<double> u = numbers_of(context.get(), up.get());
    const std::vector<double> d = numbers_of(context.get(), dy.get());
    std::vector<double> expected_gate(g.size()), expected_up(g.size());
    for (size_t i = 0; i < g.size(); ++i) {
      const double s = sigmoid(g[i]);
      expected_gate[i] = d[i] * u[i] * s * (1.0 + g[i] * (1.0 - s));
      expected_up[i] = d[i] * g[i] * s;
    }
    expect_near(expected_gate, numbers_of(context.get(), dgate.get()), format, 0.5);
    expect_near(expected_up, numbers_of(context.get(), dup.get()), format, 0.5);
  }
}

std::vector<double> smoothing_factors(lpt_context *context, const std::vector<double> &up, int64_t rows,
                                      int64_t columns, std::vector<uint8_t> *out_bytes = nullptr) {
  lpt_swiglu_options options = LPT_SWIGLU_OPTIONS_INIT;
  options.smoothing = LPT_SWIGLU_SMOOTHING_CHANNEL;
  const Tensor gate = tensor_of(context, LPT_FORMAT_F32, rows, columns, draw_normal(306, rows * columns));
  const Tensor up_tensor = tensor_of(context, LPT_FORMAT_F32, rows, columns, up);
  const Tensor output = make_tensor(context, LPT_FORMAT_F32, rows, columns);
  const Tensor factors = make_tensor(context, LPT_FORMAT_E8M0FNU, {columns});
  EXPECT_TRUE(
      ok(context, lpt_swiglu_forward(context, gate.get(), up_tensor.get(), &options, output.get(), factors.get())));
  if (out_bytes != nullptr) *out_bytes = bytes_of(context, output.get());
  return numbers_of(context, factors.get());
}

TEST(SwigluSmoothing, GivesThePowerOfTwoAtOrAboveTheLargestUpOfEachColumn) {
  const Context context = make_context(3);
  std::vector<double> up = draw_normal(307, 300 * kLayerColumns);
  for (size_t i = 0; i < up.size(); ++i) up[i] *= std::ldexp(1.0, static_cast<int>(i % kLayerColumns) - 26);
  for (int64_t r = 0; r < 300; ++r) {
    up[static_cast<size_t>(r * kLayerColumns + 5)] = 0.0;
    up[static_cast<size_t>(r * kLayerColumns + 6)] = r == 17 ? -8.0 : 0.5;  // a power of two equals its factor
  }
  const std::vector<double> factors = smoothing_factors(context.get(), up, 300, kLayerColumns);
  for (int64_t c = 0; c < kLayerColumns; ++c) {
    double amax = 0.0;
    for (int64_t r = 0; r < 300; ++r) amax = std::max(amax, std::abs(up[static_cast<size_t>(r * kLayerColumns + c)]));
    const double factor = factors[static_cast<size_t>(c)];
    if (amax == 0.0) {
      EXPECT_EQ(1.0, factor) << "a column of zeros";
      continue;
    }
    EXPECT_GE(factor, amax) << c;
    EXPECT_LT(factor / 2, amax) << c;
    EXPECT_EQ(0.5, std::frexp(factor, std::array<int, 1>{}.data())) << c;
  }
}

TEST(SwigluSmoothing, LeavesTheOutputAlone) {
  const Context context = make_context();
  const std::vector<double> up = draw_normal(308, kLayerRows * kLayerColumns);
  std::vector<uint8_t> smoothed;
  smoothing_factors(context.get(), up, kLayerRows, kLayerColumns, &smoothed);
  const Tensor gate =
      tensor_of(context.get(), LPT_FORMAT_F32, kLayerRows, kLayerColumns, draw_normal(306, kLayerRows * kLayerColumns));
  const Tensor up_tensor = tensor_of(context.get(), LPT_FORMAT_F32, kLayerRows, kLayerColumns, up);
  const Tensor output = make_tensor(context.get(), LPT_FORMAT_F32, kLayerRows, kLayerColumns);
  ASSERT_TRUE(ok(context.get(),
                 lpt_swiglu_forward(context.get(), gate.get(), up_tensor.get(), nullptr, output.get(), nullptr)));
  EXPECT_EQ(smoothed, bytes_of(context.get(), output.get()));
}

// RMS norm.

struct Norm {
  Tensor x, weight, y, inverse, dy, dx, dw;
};

Norm run_norm(lpt_context *context, lpt_format format, int64_t rows, int64_t columns, double epsilon,
              int32_t is_accumulated = 0) {
  const lpt_format wide = format == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  Norm norm;
  norm.x = tensor_of(context, format, rows, columns, draw_normal(311, rows * columns, 2.0));
  norm.weight = vector_of(context, wide, draw_normal(312, columns));
  norm.dy = tensor_of(context, format, rows, columns, draw_normal(313, rows * columns));
  norm.y = make_tensor(context, format, rows, columns);
  norm.inverse = make_tensor(context, wide, {rows});
  norm.dx = make_tensor(context, format, rows, columns);
  norm.dw = vector_of(context, wide, std::vector<double>(static_cast<size_t>(columns), 0.5));
  lpt_rmsnorm_options options = LPT_RMSNORM_OPTIONS_INIT;
  options.epsilon = epsilon;
  options.is_accumulated = is_accumulated;
  EXPECT_TRUE(ok(context, lpt_rmsnorm_forward(context, norm.x.get(), norm.weight.get(), &options, norm.y.get(),
                                              norm.inverse.get())));
  EXPECT_TRUE(ok(context, lpt_rmsnorm_backward(context, norm.x.get(), norm.weight.get(), norm.inverse.get(),
                                               norm.dy.get(), &options, norm.dx.get(), norm.dw.get())));
  return norm;
}

TEST(Rmsnorm, OutputAndGradientsAreThoseOfTheFormula) {
  const Context context = make_context(2);
  constexpr double kEpsilon = 0.25;
  for (const lpt_format format : kFormats) {
    const Norm norm = run_norm(context.get(), format, kLayerRows, kLayerColumns, kEpsilon);
    const std::vector<double> x = numbers_of(context.get(), norm.x.get());
    const std::vector<double> weight = numbers_of(context.get(), norm.weight.get());
    const std::vector<double> dy = numbers_of(context.get(), norm.dy.get());
    std::vector<double> y(x.size()), dx(x.size()), inverse(kLayerRows), dw(kLayerColumns, 0.0);
    for (size_t r = 0; r < static_cast<size_t>(kLayerRows); ++r) {
      const size_t first = r * kLayerColumns;
      double squares = 0.0;
      for (size_t c = 0; c < static_cast<size_t>(kLayerColumns); ++c) squares += x[first + c] * x[first + c];
      inverse[r] = 1.0 / std::sqrt(squares / kLayerColumns + kEpsilon);
      double dot = 0.0;
      for (size_t c = 0; c < static_cast<size_t>(kLayerColumns); ++c) dot += dy[first + c] * weight[c] * x[first + c];
      for (size_t c = 0; c < static_cast<size_t>(kLayerColumns); ++c) {
        const size_t i = first + c;
        y[i] = x[i] * inverse[r] * weight[c];
        dx[i] = inverse[r] * (dy[i] * weight[c] - x[i] * inverse[r] * inverse[r] * dot / kLayerColumns);
        dw[c] += dy[i] * x[i] * inverse[r];
      }
    }
    const lpt_format wide = format == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
    expect_near(inverse, numbers_of(context.get(), norm.inverse.get()), wide);
    expect_near(y, numbers_of(context.get(), norm.y.get()), format);
    expect_near(dx, numbers_of(context.get(), norm.dx.get()), format, 1.0);
    expect_near(dw, numbers_of(context.get(), norm.dw.get()), wide, 10.0);
  }
}

TEST(Rmsnorm, AddsToTheWeightGradient) {
  const Context context = make_context();
  const Norm plain = run_norm(context.get(), LPT_FORMAT_F32, kLayerRows, kLayerColumns, 1e-5);
  const Norm added = run_norm(context.get(), LPT_FORMAT_F32, kLayerRows, kLayerColumns, 1e-5, 1);
  std::vector<double> expected = numbers_of(context.get(), plain.dw.get());
  for (double &number : expected) number += 0.5;
  expect_near(expected, numbers_of(context.get(), added.dw.get()), LPT_FORMAT_F32, 1.0);
}

TEST(Rmsnorm, GivesTheSameGradientsOneByOne) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  const Norm norm = run_norm(c, LPT_FORMAT_F32, kLayerRows, kLayerColumns, 1e-5);
  const Tensor dx = make_tensor(c, LPT_FORMAT_F32, kLayerRows, kLayerColumns);
  const Tensor dw = make_tensor(c, LPT_FORMAT_F32, {kLayerColumns});
  ASSERT_TRUE(ok(c, lpt_rmsnorm_backward(c, norm.x.get(), norm.weight.get(), norm.inverse.get(), norm.dy.get(), nullptr,
                                         dx.get(), nullptr)));
  ASSERT_TRUE(ok(c, lpt_rmsnorm_backward(c, norm.x.get(), norm.weight.get(), norm.inverse.get(), norm.dy.get(), nullptr,
                                         nullptr, dw.get())));
  EXPECT_EQ(bytes_of(c, norm.dx.get()), bytes_of(c, dx.get()));
  EXPECT_EQ(bytes_of(c, norm.dw.get()), bytes_of(c, dw.get()));
}

TEST(Rmsnorm, GivesTheSameOutputWithoutTheInverse) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Norm norm = run_norm(c, LPT_FORMAT_BF16, kLayerRows, kLayerColumns, 1e-5);
  const Tensor y = make_tensor(c, LPT_FORMAT_BF16, kLayerRows, kLayerColumns);
  ASSERT_TRUE(ok(c, lpt_rmsnorm_forward(c, norm.x.get(), norm.weight.get(), nullptr, y.get(), nullptr)));
  EXPECT_EQ(bytes_of(c, norm.y.get()), bytes_of(c, y.get()));
}

// Softmax.

std::vector<double> run_softmax(lpt_context *context, const Tensor &input, lpt_softmax_options options) {
  const lpt_tensor_description description = describe(context, input.get());
  const Tensor output = make_tensor(context, description.format,
                                    std::vector<int64_t>(description.extents, description.extents + description.rank));
  EXPECT_TRUE(ok(context, lpt_softmax_forward(context, input.get(), &options, output.get())));
  return numbers_of(context, output.get());
}

// Computes softmax of rows of `columns`. If `period` is positive, row t of each period includes columns 0 to t + columns -
// period.
std::vector<double> exact_softmax(const std::vector<double> &x, int64_t columns, double scale, int64_t period = 0) {
  std::vector<double> y(x.size(), 0.0);
  const auto width = static_cast<size_t>(columns);
  for (size_t r = 0; r < x.size() / width; ++r) {
    int64_t seen = columns;
    if (period > 0) {
      seen = std::min(columns, std::max<int64_t>(0, static_cast<int64_t>(r) % period + columns - period + 1));
    }
    double largest = -INFINITY;
    double sum = 0.0;
    for (size_t c = 0; c < static_cast<size_t>(seen); ++c) largest = std::max(largest, scale * x[r * width + c]);
    for (size_t c = 0; c < static_cast<size_t>(seen); ++c) sum += std::exp(scale * x[r * width + c] - largest);
    for (size_t c = 0; c < static_cast<size_t>(seen); ++c) {
      y[r * width + c] = std::exp(scale * x[r * width + c] - largest) / sum;
    }
  }
  return y;
}

TEST(Softmax, IsThatOfTheFormulaInEveryFormat) {
  const Context context = make_context(2);
  for (const lpt_format format : kFormats) {
    for (const double scale : {1.0, 0.125, -2.0}) {
      const Tensor input = tensor_of(context.get(), format, kLayerRows, kLayerColumns,
                                     draw_normal(321, kLayerRows * kLayerColumns, 4.0));
      lpt_softmax_options options = LPT_SOFTMAX_OPTIONS_INIT;
      options.scale = scale;
      expect_near(exact_softmax(numbers_of(context.get(), input.get()), kLayerColumns, scale),
                  run_softmax(context.get(), input, options), format, 1e-6);
    }
  }
}

TEST(Softmax, CausalSeesThePastOfEachMatrixOnly) {
  const Context context = make_context(2);
  lpt_softmax_options options = LPT_SOFTMAX_OPTIONS_INIT;
  options.is_causal = 1;
  for (const auto &[t, s] : {std::pair<int64_t, int64_t>{20, 20}, {20, 29}, {20, 7}, {1, 5}, {5, 1}}) {
    const std::vector<double> numbers = draw_normal(322, 6 * t * s);
    const Tensor input = make_tensor(context.get(), LPT_FORMAT_F64, {2, 3, t, s});
    std::memcpy(describe(context.get(), input.get()).data, numbers.data(), numbers.size() * sizeof(double));
    expect_near(exact_softmax(numbers, s, 1.0, t), run_softmax(context.get(), input, options), LPT_FORMAT_F64);
  }
}

TEST(Softmax, RowWithNanOrInfinityGivesNan) {
  const Context context = make_context();
  for (const double special : {std::nan(""), static_cast<double>(INFINITY)}) {
    const Tensor input = tensor_of(context.get(), LPT_FORMAT_F32, 2, 3, {1.0, special, 2.0, 1.0, 1.0, 1.0});
    const std::vector<double> y = run_softmax(context.get(), input, LPT_SOFTMAX_OPTIONS_INIT);
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(y[i]));
    for (size_t i = 3; i < 6; ++i) EXPECT_NEAR(1.0 / 3, y[i], 1e-6);
  }
}

TEST(Softmax, GivesZeroToMinusInfinity) {
  const Context context = make_context();
  const Tensor input = tensor_of(context.get(), LPT_FORMAT_F32, 1, 3, {1.0, -INFINITY, 1.0});
  const std::vector<double> y = run_softmax(context.get(), input, LPT_SOFTMAX_OPTIONS_INIT);
  EXPECT_NEAR(0.5, y[0], 1e-6);
  EXPECT_EQ(0.0, y[1]);
}

TEST(Softmax, DoesNotOverflow) {
  const Context context = make_context();
  const Tensor input = tensor_of(context.get(), LPT_FORMAT_F32, 1, 3, {3e38, 3e38, -3e38});
  const std::vector<double> y = run_softmax(context.get(), input, LPT_SOFTMAX_OPTIONS_INIT);
  EXPECT_NEAR(0.5, y[0], 1e-6);
  EXPECT_NEAR(0.5, y[1], 1e-6);
  EXPECT_EQ(0.0, y[2]);
}

TEST(Softmax, GradientIsThatOfTheFormula) {
  const Context context = make_context(2);
  for (const lpt_format format : kFormats) {
    const Tensor output =
        tensor_of(context.get(), format, kLayerRows, kLayerColumns,
                  exact_softmax(draw_normal(323, kLayerRows * kLayerColumns, 2.0), kLayerColumns, 1.0));
    const Tensor dy =
        tensor_of(context.get(), format, kLayerRows, kLayerColumns, draw_normal(324, kLayerRows * kLayerColumns));
    const Tensor dx = make_tensor(context.get(), format, kLayerRows, kLayerColumns);
    lpt_softmax_options options = LPT_SOFTMAX_OPTIONS_INIT;
    options.scale = 0.5;
    ASSERT_TRUE(ok(context.get(), lpt_softmax_backward(context.get(), output.get(), dy.get(), &options, dx.get())));
    const std::vector<double> y = numbers_of(context.get(), output.get());
    const std::vector<double> d = numbers_of(context.get(), dy.get());
    std::vector<double> expected(y.size());
    for (size_t r = 0; r < static_cast<size_t>(kLayerRows); ++r) {
      double dot = 0.0;
      for (size_t i = r * kLayerColumns; i < (r + 1) * kLayerColumns; ++i) dot += y[i] * d[i];
      for (size_t i = r * kLayerColumns; i < (r + 1) * kLayerColumns; ++i) expected[i] = 0.5 * y[i] * (d[i] - dot);
    }
    expect_near(expected, numbers_of(context.get(), dx.get()), format, 1e-2);
  }
}

// All layers.

TEST(Layers, GiveTheSameBitsWithAnyNumberOfThreads) {
  const auto run_all = [](int32_t threads) {
    const Context context = make_context(threads);
    lpt_context *c = context.get();
    std::vector<uint8_t> result;
    const auto add = [&](const Tensor &tensor) {
      const std::vector<uint8_t> bytes = bytes_of(c, tensor.get());
      result.insert(result.end(), bytes.begin(), bytes.end());
    };
    const int64_t rows = 700, columns = 301;
    const Norm norm = run_norm(c, LPT_FORMAT_F32, rows, columns, 1e-5);
    for (const Tensor *tensor : {&norm.y, &norm.inverse, &norm.dx, &norm.dw}) add(*tensor);
    const Tensor y = make_tensor(c, LPT_FORMAT_F32, rows, columns);
    const Tensor dgate = make_tensor(c, LPT_FORMAT_F32, rows, columns);
    const Tensor dup = make_tensor(c, LPT_FORMAT_F32, rows, columns);
    const Tensor factors = make_tensor(c, LPT_FORMAT_E8M0FNU, {columns});
    lpt_swiglu_options options = LPT_SWIGLU_OPTIONS_INIT;
    options.smoothing = LPT_SWIGLU_SMOOTHING_CHANNEL;
    EXPECT_TRUE(ok(c, lpt_swiglu_forward(c, norm.x.get(), norm.dy.get(), &options, y.get(), factors.get())));
    EXPECT_TRUE(
        ok(c, lpt_swiglu_backward(c, norm.x.get(), norm.dy.get(), norm.y.get(), nullptr, dgate.get(), dup.get())));
    for (const Tensor *tensor : {&y, &factors, &dgate, &dup}) add(*tensor);
    lpt_softmax_options causal = LPT_SOFTMAX_OPTIONS_INIT;
    causal.is_causal = 1;
    EXPECT_TRUE(ok(c, lpt_softmax_forward(c, norm.x.get(), &causal, y.get())));
    EXPECT_TRUE(ok(c, lpt_softmax_backward(c, y.get(), norm.dy.get(), &causal, dup.get())));
    add(y);
    add(dup);
    return result;
  };
  const std::vector<uint8_t> expected = run_all(1);
  for (const int32_t threads : {2, 3, 7}) EXPECT_EQ(expected, run_all(threads)) << threads;
}

TEST(Layers, OfNoRowsDoNothing) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  const Tensor none = make_tensor(c, LPT_FORMAT_F32, 0, 5);
  const Tensor output = make_tensor(c, LPT_FORMAT_F32, 0, 5);
  const Tensor weight = make_tensor(c, LPT_FORMAT_F32, {5});
  EXPECT_TRUE(ok(c, lpt_swiglu_forward(c, none.get(), none.get(), nullptr, output.get(), nullptr)));
  EXPECT_TRUE(ok(c, lpt_rmsnorm_forward(c, none.get(), weight.get(), nullptr, output.get(), nullptr)));
  EXPECT_TRUE(ok(c, lpt_softmax_forward(c, none.get(), nullptr, output.get())));
}

}  // namespace
}  // namespace lpt::test
