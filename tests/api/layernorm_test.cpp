// LayerNorm through the C interface: outputs by the formula in double, gradients by its finite differences.
#include <algorithm>
#include <cmath>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kRows = 37, kColumns = 53;
constexpr double kEpsilon = 0.25;
constexpr lpt_format kFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64};

using Numbers = std::vector<double>;

// Returns y of one row.
Numbers layernorm(const Numbers &x, const Numbers &weight, const Numbers &bias, double *out_mean = nullptr,
                  double *out_inverse = nullptr) {
  const auto width = static_cast<double>(x.size());
  double mean = 0.0, variance = 0.0;
  for (const double number : x) mean += number / width;
  for (const double number : x) variance += (number - mean) * (number - mean) / width;
  const double inverse = 1.0 / std::sqrt(variance + kEpsilon);
  Numbers y;
  for (size_t c = 0; c < x.size(); ++c) y.push_back((x[c] - mean) * inverse * weight[c] + bias[c]);
  if (out_mean != nullptr) *out_mean = mean;
  if (out_inverse != nullptr) *out_inverse = inverse;
  return y;
}

// Returns the error bound of a result in `format` whose exact value is about `size`.
double bound_of(lpt_format format, double size) {
  const double step = format == LPT_FORMAT_F64   ? 0x1p-46
                      : format == LPT_FORMAT_F32 ? 0x1p-20
                      : format == LPT_FORMAT_F16 ? 0x1p-10
                                                 : 0x1p-8;
  return step * size;
}

void expect_near(const Numbers &expected, const Numbers &found, lpt_format format, double least_size = 1.0) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(expected[i], found[i], bound_of(format, std::max(std::abs(expected[i]), least_size)))
        << name_of(format) << " element " << i;
  }
}

struct Norm {
  Tensor x, weight, bias, y, mean, inverse, dy, dx, dw, db;
};

Norm run_norm(lpt_context *context, lpt_format format, bool has_vectors, int32_t is_accumulated = 0) {
  const lpt_format wide = format == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  Numbers x = draw_normal(411, kRows * kColumns, 2.0);
  for (double &number : x) number += 3.0;
  Norm norm;
  norm.x = tensor_of(context, format, kRows, kColumns, x);
  norm.weight = vector_of(context, wide, draw_normal(412, kColumns));
  norm.bias = vector_of(context, wide, draw_normal(413, kColumns));
  norm.dy = tensor_of(context, format, kRows, kColumns, draw_normal(414, kRows * kColumns));
  norm.y = make_tensor(context, format, kRows, kColumns);
  norm.mean = make_tensor(context, wide, {kRows});
  norm.inverse = make_tensor(context, wide, {kRows});
  norm.dx = make_tensor(context, format, kRows, kColumns);
  norm.dw = vector_of(context, wide, Numbers(kColumns, 0.5));
  norm.db = vector_of(context, wide, Numbers(kColumns, 0.25));
  lpt_layernorm_options options = LPT_LAYERNORM_OPTIONS_INIT;
  options.epsilon = kEpsilon;
  options.is_accumulated = is_accumulated;
  const lpt_tensor *const weight = has_vectors ? norm.weight.get() : nullptr;
  EXPECT_TRUE(ok(context, lpt_layernorm_forward(context, norm.x.get(), weight, has_vectors ? norm.bias.get() : nullptr,
                                                &options, norm.y.get(), norm.mean.get(), norm.inverse.get())));
  EXPECT_TRUE(
      ok(context, lpt_layernorm_backward(context, norm.x.get(), weight, norm.mean.get(), norm.inverse.get(),
                                         norm.dy.get(), &options, norm.dx.get(), norm.dw.get(), norm.db.get())));
  return norm;
}

Numbers row_of(const Numbers &matrix, size_t row) {
  return Numbers(matrix.begin() + static_cast<std::ptrdiff_t>(row * kColumns),
                 matrix.begin() + static_cast<std::ptrdiff_t>((row + 1) * kColumns));
}

TEST(Layernorm, OutputAndMomentsAreThoseOfTheFormula) {
  const Context context = make_context(2);
  for (const lpt_format format : kFormats) {
    for (const bool has_vectors : {true, false}) {
      const Norm norm = run_norm(context.get(), format, has_vectors);
      const Numbers x = numbers_of(context.get(), norm.x.get());
      const Numbers weight = has_vectors ? numbers_of(context.get(), norm.weight.get()) : Numbers(kColumns, 1.0);
      const Numbers bias = has_vectors ? numbers_of(context.get(), norm.bias.get()) : Numbers(kColumns, 0.0);
      Numbers y, means(kRows), inverses(kRows);
      for (size_t r = 0; r < static_cast<size_t>(kRows); ++r) {
        const Numbers row = layernorm(row_of(x, r), weight, bias, &means[r], &inverses[r]);
        y.insert(y.end(), row.begin(), row.end());
      }
      const lpt_format wide = format == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
      expect_near(means, numbers_of(context.get(), norm.mean.get()), wide);
      expect_near(inverses, numbers_of(context.get(), norm.inverse.get()), wide);
      expect_near(y, numbers_of(context.get(), norm.y.get()), format);
    }
  }
}

// Central differences of sum(dy · y). Their error is the squared step times a third derivative, plus rounding.
TEST(Layernorm, GradientsAreDifferencesOfTheFormula) {
  const Context context = make_context(2);
  constexpr double kStep = 1e-4, kError = 1e-6;
  for (const bool has_vectors : {true, false}) {
    const Norm norm = run_norm(context.get(), LPT_FORMAT_F64, has_vectors);
    const Numbers x = numbers_of(context.get(), norm.x.get()), dy = numbers_of(context.get(), norm.dy.get());
    const Numbers weight = has_vectors ? numbers_of(context.get(), norm.weight.get()) : Numbers(kColumns, 1.0);
    const Numbers bias(kColumns, 0.0), dx = numbers_of(context.get(), norm.dx.get());
    const Numbers dw = numbers_of(context.get(), norm.dw.get()), db = numbers_of(context.get(), norm.db.get());
    Numbers exact_dw(kColumns, 0.0), exact_db(kColumns, 0.0);
    for (size_t r = 0; r < static_cast<size_t>(kRows); ++r) {
      const Numbers gradient = row_of(dy, r);
      const auto loss = [&](const Numbers &row) {
        const Numbers y = layernorm(row, weight, bias);
        double sum = 0.0;
        for (size_t c = 0; c < y.size(); ++c) sum += gradient[c] * y[c];
        return sum;
      };
      const Numbers normal = layernorm(row_of(x, r), Numbers(kColumns, 1.0), bias);
      for (size_t c = 0; c < static_cast<size_t>(kColumns); ++c) {
        exact_dw[c] += gradient[c] * normal[c];  // y is linear in weight and bias
        exact_db[c] += gradient[c];
        Numbers above = row_of(x, r), below = above;
        above[c] += kStep;
        below[c] -= kStep;
        ASSERT_NEAR((loss(above) - loss(below)) / (2 * kStep), dx[r * kColumns + c], kError) << r << ", " << c;
      }
    }
    expect_near(exact_dw, dw, LPT_FORMAT_F64, 100.0);
    expect_near(exact_db, db, LPT_FORMAT_F64, 100.0);
  }
}

// Compares with f64, whose gradients are compared with the formula above.
TEST(Layernorm, GradientsOfOtherFormatsAreNear) {
  const Context context = make_context(2);
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    const Norm norm = run_norm(context.get(), format, true);
    lpt_context *const c = context.get();
    const Tensor x = tensor_of(c, LPT_FORMAT_F64, kRows, kColumns, numbers_of(c, norm.x.get()));
    const Tensor dy = tensor_of(c, LPT_FORMAT_F64, kRows, kColumns, numbers_of(c, norm.dy.get()));
    const Tensor weight = vector_of(c, LPT_FORMAT_F64, numbers_of(c, norm.weight.get()));
    const Tensor mean = vector_of(c, LPT_FORMAT_F64, numbers_of(c, norm.mean.get()));
    const Tensor inverse = vector_of(c, LPT_FORMAT_F64, numbers_of(c, norm.inverse.get()));
    const Tensor dx = make_tensor(c, LPT_FORMAT_F64, kRows, kColumns), dw = make_tensor(c, LPT_FORMAT_F64, {kColumns});
    const Tensor db = make_tensor(c, LPT_FORMAT_F64, {kColumns});
    ASSERT_TRUE(ok(c, lpt_layernorm_backward(c, x.get(), weight.get(), mean.get(), inverse.get(), dy.get(), nullptr,
                                             dx.get(), dw.get(), db.get())));
    expect_near(numbers_of(c, dx.get()), numbers_of(c, norm.dx.get()), format);
    expect_near(numbers_of(c, dw.get()), numbers_of(c, norm.dw.get()), LPT_FORMAT_F32, 100.0);
    expect_near(numbers_of(c, db.get()), numbers_of(c, norm.db.get()), LPT_FORMAT_F32, 100.0);
  }
}

TEST(Layernorm, AddsToTheGradientsAndGivesThemOneByOne) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const Norm norm = run_norm(c, LPT_FORMAT_F32, true), added = run_norm(c, LPT_FORMAT_F32, true, 1);
  Numbers dw = numbers_of(c, norm.dw.get()), db = numbers_of(c, norm.db.get());
  for (double &number : dw) number += 0.5;
  for (double &number : db) number += 0.25;
  expect_near(dw, numbers_of(c, added.dw.get()), LPT_FORMAT_F32);
  expect_near(db, numbers_of(c, added.db.get()), LPT_FORMAT_F32);
  const Tensor one_dx = make_tensor(c, LPT_FORMAT_F32, kRows, kColumns);
  const Tensor one_dw = make_tensor(c, LPT_FORMAT_F32, {kColumns}), one_db = make_tensor(c, LPT_FORMAT_F32, {kColumns});
  const auto backward = [&](lpt_tensor *dx, lpt_tensor *of_weight, lpt_tensor *of_bias) {
    return lpt_layernorm_backward(c, norm.x.get(), norm.weight.get(), norm.mean.get(), norm.inverse.get(),
                                  norm.dy.get(), nullptr, dx, of_weight, of_bias);
  };
  ASSERT_TRUE(ok(c, backward(one_dx.get(), nullptr, nullptr)));
  ASSERT_TRUE(ok(c, backward(nullptr, one_dw.get(), nullptr)));
  ASSERT_TRUE(ok(c, backward(nullptr, nullptr, one_db.get())));
  EXPECT_EQ(bytes_of(c, norm.dx.get()), bytes_of(c, one_dx.get()));
  EXPECT_EQ(bytes_of(c, norm.dw.get()), bytes_of(c, one_dw.get()));
  EXPECT_EQ(bytes_of(c, norm.db.get()), bytes_of(c, one_db.get()));
  const Tensor y = make_tensor(c, LPT_FORMAT_F32, kRows, kColumns);
  lpt_layernorm_options options = LPT_LAYERNORM_OPTIONS_INIT;
  options.epsilon = kEpsilon;
  ASSERT_TRUE(ok(c, lpt_layernorm_forward(c, norm.x.get(), norm.weight.get(), norm.bias.get(), &options, y.get(),
                                          nullptr, nullptr)));
  EXPECT_EQ(bytes_of(c, norm.y.get()), bytes_of(c, y.get()));
}

// The tensors have enough rows for several threads.
TEST(Layernorm, GivesTheSameBitsOfAnyNumberOfThreads) {
  constexpr int64_t kMany = 4000, kWidth = 64;
  const Context one = make_context(1), three = make_context(3);
  const Tensor x = tensor_of(one.get(), LPT_FORMAT_F32, kMany, kWidth, draw_normal(415, kMany * kWidth));
  const Tensor dy = tensor_of(one.get(), LPT_FORMAT_F32, kMany, kWidth, draw_normal(416, kMany * kWidth));
  std::vector<std::vector<uint8_t>> results[2];
  for (lpt_context *const c : {one.get(), three.get()}) {
    const Tensor y = make_tensor(c, LPT_FORMAT_F32, kMany, kWidth), dx = make_tensor(c, LPT_FORMAT_F32, kMany, kWidth);
    const Tensor mean = make_tensor(c, LPT_FORMAT_F32, {kMany}), inverse = make_tensor(c, LPT_FORMAT_F32, {kMany});
    const Tensor dw = make_tensor(c, LPT_FORMAT_F32, {kWidth}), db = make_tensor(c, LPT_FORMAT_F32, {kWidth});
    ASSERT_TRUE(
        ok(c, lpt_layernorm_forward(c, x.get(), nullptr, nullptr, nullptr, y.get(), mean.get(), inverse.get())));
    ASSERT_TRUE(ok(c, lpt_layernorm_backward(c, x.get(), nullptr, mean.get(), inverse.get(), dy.get(), nullptr,
                                             dx.get(), dw.get(), db.get())));
    for (const Tensor *tensor : {&y, &mean, &inverse, &dx, &dw, &db}) {
      results[c == one.get() ? 0 : 1].push_back(bytes_of(c, tensor->get()));
    }
  }
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace
}  // namespace lpt::test
