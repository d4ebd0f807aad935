// The epilogue of a GEMM: activation, residual, cast, outliers. The reference is computed in double.
#include <cmath>

#include "tests/api/gemm.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kM = 37, kN = 66, kK = 70;

struct Case {
  Context context = make_context(2);
  Tensor a = tensor_of(context.get(), LPT_FORMAT_BF16, kM, kK, draw_normal(701, kM *kK));
  Tensor b = tensor_of(context.get(), LPT_FORMAT_E4M3FN_ROW, kN, kK, draw_normal(702, kN *kK, 0.2));
  Tensor bias = vector(draw_normal(703, kN));
  ExactGemm exact;

  Case() {
    exact = multiply(numbers_of(context.get(), a.get()), transposed(numbers_of(context.get(), b.get()), kN, kK), kM, kN,
                     kK);
    const std::vector<double> added = numbers_of(context.get(), bias.get());
    for (size_t i = 0; i < exact.value.size(); ++i) {
      exact.value[i] = exact.value[i] * 0.5 + added[i % kN];
      exact.magnitude[i] = exact.magnitude[i] * 0.5 + std::abs(added[i % kN]);
    }
  }

  Tensor vector(const std::vector<double> &numbers) {
    Tensor result = make_tensor(context.get(), LPT_FORMAT_F32, {static_cast<int64_t>(numbers.size())});
    for (size_t i = 0; i < numbers.size(); ++i) {
      static_cast<float *>(describe(context.get(), result.get()).data)[i] = static_cast<float>(numbers[i]);
    }
    return result;
  }

  lpt_gemm_options options() const {
    lpt_gemm_options result = LPT_GEMM_OPTIONS_INIT;
    result.is_b_transposed = 1;
    result.alpha = 0.5;
    result.bias = bias.get();
    return result;
  }

  lpt_status run(const lpt_gemm_options &options, const Tensor &c) {
    return lpt_gemm(context.get(), a.get(), b.get(), &options, c.get());
  }
};

double silu(double x) { return x / (1.0 + std::exp(-x)); }

double activation_of(lpt_activation activation, double x) {
  switch (activation) {
    case LPT_ACTIVATION_GELU:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case LPT_ACTIVATION_GELU_TANH:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
    case LPT_ACTIVATION_SILU:
      return silu(x);
    default:
      return x;
  }
}

// The slopes of these functions are below 1.13, so the error bound of the GEMM grows by at most this factor.
TEST(GemmFinish, AppliesActivationsAndAddsTheResidual) {
  Case w;
  const std::vector<double> added = draw_normal(704, kM * kN);
  for (const lpt_activation activation :
       {LPT_ACTIVATION_NONE, LPT_ACTIVATION_GELU, LPT_ACTIVATION_GELU_TANH, LPT_ACTIVATION_SILU}) {
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
      for (const int residual : {0, 1, 2}) {  // none, another matrix, c itself
        SCOPED_TRACE("activation " + std::to_string(activation) + " " + name_of(format) + " residual " +
                     std::to_string(residual));
        const Tensor c = tensor_of(w.context.get(), format, kM, kN, added);
        const Tensor other = tensor_of(w.context.get(), LPT_FORMAT_BF16, kM, kN, added);
        const lpt_tensor *from = residual == 2 ? c.get() : other.get();
        const std::vector<double> summand = numbers_of(w.context.get(), from);
        lpt_gemm_options options = w.options();
        options.activation = activation;
        options.residual = residual == 0 ? nullptr : from;
        ASSERT_TRUE(ok(w.context.get(), w.run(options, c)));
        const std::vector<double> given = numbers_of(w.context.get(), c.get());
        const double rounding = format == LPT_FORMAT_F32 ? 0x1p-23 : format == LPT_FORMAT_F16 ? 0x1p-11 : 0x1p-8;
        for (size_t i = 0; i < given.size(); ++i) {
          double expected = activation_of(activation, w.exact.value[i]);
          if (residual != 0) expected += summand[i];
          const double bound = 1.13 * gemm_bound(w.exact.magnitude[i], kK) + 4 * 0x1p-23 * std::abs(w.exact.value[i]);
          ASSERT_NEAR(expected, given[i], bound + rounding * std::abs(expected) + 0x1p-24) << i;
        }
      }
    }
  }
}

TEST(GemmFinish, GatesHalfOfTheColumnsByTheOther) {
  Case w;
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
    const Tensor c = make_tensor(w.context.get(), format, kM, kN / 2);
    lpt_gemm_options options = w.options();
    options.activation = LPT_ACTIVATION_SWIGLU;
    ASSERT_TRUE(ok(w.context.get(), w.run(options, c)));
    const std::vector<double> given = numbers_of(w.context.get(), c.get());
    for (int64_t i = 0; i < kM; ++i) {
      for (int64_t j = 0; j < kN / 2; ++j) {
        const auto gate = static_cast<size_t>(i * kN + j), up = gate + kN / 2;
        const double expected = silu(w.exact.value[gate]) * w.exact.value[up];
        const double bound = 1.13 * gemm_bound(w.exact.magnitude[gate], kK) * std::abs(w.exact.value[up]) +
                             gemm_bound(w.exact.magnitude[up], kK) * std::abs(w.exact.value[gate]) +
                             8 * 0x1p-23 * std::abs(expected) + 0x1p-40;
        const double rounding = format == LPT_FORMAT_F32 ? 0 : 0x1p-8 * std::abs(expected);
        ASSERT_NEAR(expected, given[static_cast<size_t>(i * kN / 2 + j)], bound + rounding);
      }
    }
  }
}

// Codes and statistics equal those of an f32 GEMM whose result is cast by lpt_quantize() with the same options.
TEST(GemmFinish, EncodesAsQuantizeDoes) {
  Case w;
  lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
  cast.rounding = LPT_ROUNDING_STOCHASTIC;
  cast.random.seed = 12;
  for (const lpt_format format :
       {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_ROW, LPT_FORMAT_MXFP4, LPT_FORMAT_NVFP4, LPT_FORMAT_INT8_1X32}) {
    for (const lpt_activation activation : {LPT_ACTIVATION_NONE, LPT_ACTIVATION_GELU, LPT_ACTIVATION_SWIGLU}) {
      SCOPED_TRACE(name_of(format) + " activation " + std::to_string(activation));
      const int64_t columns = activation == LPT_ACTIVATION_SWIGLU ? kN / 2 : kN;
      lpt_gemm_options options = w.options();
      options.activation = activation;
      const Tensor residual = tensor_of(w.context.get(), LPT_FORMAT_BF16, kM, columns, draw_normal(704, kM * columns));
      if (activation != LPT_ACTIVATION_GELU) options.residual = residual.get();
      const Tensor wide = make_tensor(w.context.get(), LPT_FORMAT_F32, kM, columns);
      ASSERT_TRUE(ok(w.context.get(), w.run(options, wide)));
      const Tensor expected = make_tensor(w.context.get(), format, kM, columns);
      const Tensor given = make_tensor(w.context.get(), format, kM, columns);
      lpt_statistics *statistics[2] = {};
      lpt_statistics_info values[2] = {LPT_STATISTICS_INFO_INIT, LPT_STATISTICS_INFO_INIT};
      for (auto &one : statistics) ASSERT_TRUE(ok(w.context.get(), lpt_statistics_create(w.context.get(), &one)));
      cast.statistics = statistics[0];
      ASSERT_TRUE(ok(w.context.get(), lpt_quantize(w.context.get(), wide.get(), &cast, expected.get(), nullptr)));
      cast.statistics = statistics[1];
      options.quantize = &cast;
      ASSERT_TRUE(ok(w.context.get(), w.run(options, given)));
      EXPECT_EQ(bytes_of(w.context.get(), expected.get()), bytes_of(w.context.get(), given.get()));
      for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(ok(w.context.get(), lpt_statistics_read(w.context.get(), statistics[i], &values[i])));
        lpt_statistics_destroy(statistics[i]);
      }
      EXPECT_GT(values[1].amax, 0);
      EXPECT_EQ(values[0].amax, values[1].amax);
      EXPECT_EQ(values[0].squared_error, values[1].squared_error);
    }
  }
}

// The result has enough rows for several threads.
TEST(GemmFinish, IsTheSameForAnyNumberOfThreads) {
  const int64_t m = 700, n = 68, k = 9;
  for (const lpt_activation activation : {LPT_ACTIVATION_NONE, LPT_ACTIVATION_SILU, LPT_ACTIVATION_SWIGLU}) {
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_NVFP4}) {
      std::vector<std::vector<uint8_t>> results;
      for (const int32_t threads : {1, 3}) {
        const Context context = make_context(threads);
        const int64_t columns = activation == LPT_ACTIVATION_SWIGLU ? n / 2 : n;
        const Tensor a = tensor_of(context.get(), LPT_FORMAT_F32, m, k, draw_normal(708, m * k));
        const Tensor b = tensor_of(context.get(), LPT_FORMAT_F32, k, n, draw_normal(709, k * n));
        const Tensor residual = tensor_of(context.get(), LPT_FORMAT_BF16, m, columns, draw_normal(710, m * columns));
        const Tensor c = make_tensor(context.get(), format, m, columns);
        lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
        options.activation = activation;
        options.residual = residual.get();
        ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b.get(), &options, c.get())));
        results.push_back(bytes_of(context.get(), c.get()));
      }
      EXPECT_EQ(results[0], results[1]) << name_of(format) << " activation " << activation;
    }
  }
}

// Six columns are 60 times as large. int8 with row scales loses the other columns, unless these six are multiplied separately.
TEST(GemmOutliers, AreMultipliedAside) {
  const Context context = make_context(2);
  const int64_t m = 64, n = 96, k = 512;
  std::vector<double> numbers = draw_normal(705, m * k);
  for (int64_t i = 0; i < m; ++i) {
    for (const int64_t p : {3, 90, 200, 201, 400, 511}) numbers[static_cast<size_t>(i * k + p)] *= 60;
  }
  const Tensor a = tensor_of(context.get(), LPT_FORMAT_F32, m, k, numbers);
  const Tensor plain = tensor_of(context.get(), LPT_FORMAT_INT8_ROW, m, k, numbers);
  const Tensor weights = tensor_of(context.get(), LPT_FORMAT_INT8_ROW, n, k, draw_normal(706, n * k));
  const std::vector<double> right = transposed(numbers_of(context.get(), weights.get()), n, k);
  const std::vector<double> exact = multiply(numbers, right, m, n, k).value;
  std::vector<double> rest = numbers;
  for (int64_t i = 0; i < m; ++i) {
    for (const int64_t p : {3, 90, 200, 201, 400, 511}) rest[static_cast<size_t>(i * k + p)] = 0;
  }
  const std::vector<double> small = multiply(rest, right, m, n, k).value;
  const Tensor packed = pack(context.get(), weights.get());
  // Returns the error relative to the GEMM without the outlier columns.
  const auto error_of = [&](const lpt_tensor *left, const lpt_tensor *b, double threshold, lpt_format format) {
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    options.outlier_threshold = threshold;
    const Tensor c = make_tensor(context.get(), format, m, n);
    EXPECT_TRUE(ok(context.get(), lpt_gemm(context.get(), left, b, &options, c.get())));
    const std::vector<double> given = numbers_of(context.get(), c.get());
    double difference = 0, whole = 0;
    for (size_t i = 0; i < given.size(); ++i) {
      difference += (given[i] - exact[i]) * (given[i] - exact[i]);
      whole += small[i] * small[i];
    }
    return std::sqrt(difference / whole);
  };
  // The published errors of other random operands are .235 and 1.2e-2. The tolerance is a quarter of them.
  EXPECT_NEAR(error_of(plain.get(), weights.get(), 0, LPT_FORMAT_F32), 0.235, 0.06);
  const double aside = error_of(a.get(), weights.get(), 20, LPT_FORMAT_F32);
  EXPECT_NEAR(aside, 0.009, 0.0045);
  EXPECT_EQ(aside, error_of(a.get(), packed.get(), 20, LPT_FORMAT_F32));
  EXPECT_LT(error_of(a.get(), weights.get(), 20, LPT_FORMAT_BF16), 1.0);
}

// The rows are integers with an amax of 127 apart from outliers, so they are cast to int8 with scale 1 and c is exact. Values
// equal to the threshold are outliers. b is stored transposed or not, with blocks or packed.
TEST(GemmOutliers, AreExactWhereNothingRounds) {
  const Context context = make_context(2);
  lpt_context *const w = context.get();
  const int64_t m = 7, n = 150, k = 96;
  Random random(707);
  std::vector<double> left(static_cast<size_t>(m * k)), right(static_cast<size_t>(n * k)), before, added;
  for (double &number : left) number = static_cast<double>(random.below(255) - 127);
  for (double &number : right) number = static_cast<double>(random.below(15) - 7);
  for (int64_t i = 0; i < m; ++i) {
    left[static_cast<size_t>(i * k + 20)] = 127;
    for (const int64_t p : {5, 33, 34, 95}) left[static_cast<size_t>(i * k + p)] = 0;
  }
  const double outliers[] = {128, -128, 1000, -301};
  const int64_t places[] = {5, 33, 34, 95};
  for (size_t o = 0; o < 4; ++o) left[o * static_cast<size_t>(k) + static_cast<size_t>(places[o])] = outliers[o];
  for (int64_t i = 0; i < m * n; ++i) before.push_back(static_cast<double>(random.below(100)));
  for (int64_t j = 0; j < n; ++j) added.push_back(static_cast<double>(random.below(100)));
  const std::vector<double> gemm = multiply(left, transposed(right, n, k), m, n, k).value;
  const Tensor a = tensor_of(w, LPT_FORMAT_F32, m, k, left);
  const Tensor bias = vector_of(w, LPT_FORMAT_F32, added);
  for (const char *name : {"int8", "f32", "int4", "bf16", "int8/16x16/e8m0fnu", "int4/128x32/e8m0fnu", "f64"}) {
    const lpt_format format = format_named(name);
    const Tensor stored = tensor_of(w, format, n, k, right);
    const Tensor transposed_copy = tensor_of(w, format, k, n, transposed(right, n, k));
    const Tensor packed = std::string(name) == "f64" ? Tensor() : pack(w, stored.get());
    for (const lpt_tensor *b : {stored.get(), transposed_copy.get(), packed.get()}) {
      if (b == nullptr) continue;
      for (const lpt_format c_format : {LPT_FORMAT_F32, LPT_FORMAT_F16}) {
        SCOPED_TRACE(std::string(name) +
                     (b == transposed_copy.get() ? " k x n"
                      : b == packed.get()        ? " packed"
                                                 : "") +
                     " to " + name_of(c_format));
        lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
        options.is_b_transposed = b == transposed_copy.get() ? 0 : 1;
        options.outlier_threshold = 128;
        options.alpha = 0.5;
        options.beta = 2;
        options.bias = bias.get();
        if (std::string(name) == "f64") options.bias = nullptr;
        const Tensor c = tensor_of(w, c_format, m, n, before);
        ASSERT_TRUE(ok(w, lpt_gemm(w, a.get(), b, &options, c.get())));
        std::vector<double> expected(before.size());
        for (size_t i = 0; i < expected.size(); ++i) {
          expected[i] =
              0.5 * gemm[i] + 2 * before[i] + (options.bias != nullptr ? added[i % static_cast<size_t>(n)] : 0);
        }
        const Tensor rounded = tensor_of(w, c_format, m, n, expected);
        EXPECT_EQ(numbers_of(w, rounded.get()), numbers_of(w, c.get()));
      }
    }
  }
}

TEST(GemmOutliers, HaveThePortableOrderToo) {
  const int64_t m = 9, n = 70, k = 300;
  std::vector<double> numbers = draw_normal(711, m * k);
  for (size_t at = 0; at < numbers.size(); at += 5) numbers[at] *= 30;
  std::vector<std::vector<uint8_t>> results;
  for (const lpt_isa isa : {LPT_ISA_REFERENCE, LPT_ISA_AUTO}) {
    const Context context = make_context(1, isa);
    const Tensor a = tensor_of(context.get(), LPT_FORMAT_F32, m, k, numbers);
    const Tensor b = tensor_of(context.get(), LPT_FORMAT_BF16, n, k, draw_normal(712, n * k));
    const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, m, n);
    lpt_gemm_options options = transposed_b();
    options.flags = LPT_GEMM_PORTABLE_ORDER;
    options.outlier_threshold = 6;
    ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b.get(), &options, c.get())));
    results.push_back(bytes_of(context.get(), c.get()));
  }
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace
}  // namespace lpt::test
