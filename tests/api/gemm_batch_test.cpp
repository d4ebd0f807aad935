// Batched and grouped GEMMs against sums in double.
#include <array>

#include "tests/api/gemm.hpp"

namespace lpt::test {
namespace {

void expect_gemms(const std::vector<double> &left, const std::vector<double> &right, const std::vector<double> &given,
                  std::array<int64_t, 4> sizes) {
  const auto [count, m, n, k] = sizes;
  for (int64_t i = 0; i < count; ++i) {
    SCOPED_TRACE("matrix " + std::to_string(i));
    expect_gemm(multiply(part(left, i * m * k, m * k), part(right, i * k * n, k * n), m, n, k),
                part(given, i * m * n, m * n), k);
  }
}

TEST(GemmBatch, MultipliesMatrixByMatrix) {
  for (const int32_t threads : {1, 2}) {
    const Context context = make_context(threads);
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_MXFP8_E4M3}) {
      for (const auto &[count, m, n, k] :
           {std::array<int64_t, 4>{1, 3, 5, 7}, {7, 16, 32, 64}, {3, 130, 70, 65}, {0, 2, 2, 2}}) {
        SCOPED_TRACE(name_of(format) + " " + std::to_string(count) + " of " + std::to_string(m));
        const Tensor a = tensor_of(context.get(), format, {count, m, k}, draw_normal(601, count * m * k));
        const Tensor b = tensor_of(context.get(), format, {count, k, n}, draw_normal(602, count * k * n));
        const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, {count, m, n});
        ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b.get(), nullptr, c.get())));
        expect_gemms(numbers_of(context.get(), a.get()), numbers_of(context.get(), b.get()),
                     numbers_of(context.get(), c.get()), {count, m, n, k});
      }
    }
  }
}

// Attention heads: the matrices are interleaved in memory as tokens × heads × columns.
struct Heads {
  static constexpr int64_t kCount = 3, kM = 10, kN = 12, kK = 8;

  Context context = make_context(2);
  std::vector<double> a = draw_normal(603, kM *kCount *kK);
  std::vector<double> b = draw_normal(604, kCount *kN *kK);
  std::vector<float> stored{a.begin(), a.end()};
  std::vector<float> written = std::vector<float>(static_cast<size_t>(kM * kCount * kN));
  Tensor left = interleaved(stored, kK);
  Tensor c = interleaved(written, kN);
  Tensor each = tensor_of(context.get(), LPT_FORMAT_F32, {kCount, kN, kK}, b);
  Tensor shared = tensor_of(context.get(), LPT_FORMAT_F32, kN, kK, part(b, 0, kN *kK));

  Tensor interleaved(const std::vector<float> &data, int64_t columns) const {
    return wrap_axes(context.get(), LPT_FORMAT_F32, data.data(), {kCount, kM, columns}, {columns, kCount * columns, 1});
  }

  template <typename Number>
  static std::vector<double> head(const std::vector<Number> &all, int64_t index, int64_t columns) {
    std::vector<double> result;
    for (int64_t i = 0; i < kM; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        result.push_back(static_cast<double>(all[static_cast<size_t>((i * kCount + index) * columns + j)]));
      }
    }
    return result;
  }

  // Each head of a is multiplied by its matrix of b, or by the first matrix of b.
  void expect_in_c(bool is_b_shared) const {
    for (int64_t h = 0; h < kCount; ++h) {
      const std::vector<double> right = part(b, is_b_shared ? 0 : h * kN * kK, kN * kK);
      expect_gemm(multiply(head(a, h, kK), transposed(right, kN, kK), kM, kN, kK), head(written, h, kN), kK);
    }
  }
};

TEST(GemmBatch, TakesMatricesThatLieBetweenOneAnother) {
  Heads heads;
  lpt_context *const c = heads.context.get();
  const lpt_gemm_options options = transposed_b();
  for (const lpt_tensor *right : {heads.each.get(), heads.shared.get()}) {
    ASSERT_TRUE(ok(c, lpt_gemm(c, heads.left.get(), right, &options, heads.c.get())));
    heads.expect_in_c(right == heads.shared.get());
  }
}

// One matrix of a for all of b, and one matrix of b for all of a. The matrices of c are contiguous.
TEST(GemmBatch, TakesOneMatrixForAllToADenseC) {
  Heads heads;
  lpt_context *const c = heads.context.get();
  const int64_t count = Heads::kCount, m = Heads::kM, n = Heads::kN, k = Heads::kK;
  const lpt_gemm_options options = transposed_b();
  const Tensor one = tensor_of(c, LPT_FORMAT_F32, m, k, Heads::head(heads.a, 0, k));
  const Tensor by_each = make_tensor(c, LPT_FORMAT_F32, {count, m, n});
  const Tensor of_each = make_tensor(c, LPT_FORMAT_F32, {count, m, n});
  ASSERT_TRUE(ok(c, lpt_gemm(c, one.get(), heads.each.get(), &options, by_each.get())));
  ASSERT_TRUE(ok(c, lpt_gemm(c, heads.left.get(), heads.shared.get(), &options, of_each.get())));
  for (int64_t h = 0; h < count; ++h) {
    const std::vector<double> right = transposed(part(heads.b, h * n * k, n * k), n, k);
    const std::vector<double> shared = transposed(part(heads.b, 0, n * k), n, k);
    expect_gemm(multiply(Heads::head(heads.a, 0, k), right, m, n, k),
                part(numbers_of(c, by_each.get()), h * m * n, m * n), k);
    expect_gemm(multiply(Heads::head(heads.a, h, k), shared, m, n, k),
                part(numbers_of(c, of_each.get()), h * m * n, m * n), k);
  }
}

TEST(GemmBatch, TakesPackedWeightsForAllAndForEach) {
  Heads heads;
  lpt_context *const c = heads.context.get();
  const lpt_gemm_options options = transposed_b();
  const Tensor all = pack(c, heads.shared.get()), each = pack(c, heads.each.get());
  for (const lpt_tensor *right : {each.get(), all.get()}) {
    ASSERT_TRUE(ok(c, lpt_gemm(c, heads.left.get(), right, &options, heads.c.get())));
    heads.expect_in_c(right == all.get());
  }
}

// Every matrix has its scales and zero points.
TEST(GemmBatch, FindsTheScalesOfEachMatrix) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const int64_t count = 3, m = 5, n = 32, k = 64;
  for (const lpt_format format :
       {LPT_FORMAT_UINT4_1X32, LPT_FORMAT_NVFP4_16X16, LPT_FORMAT_INT8_ROW, LPT_FORMAT_MXFP8_E4M3}) {
    const Tensor a = tensor_of(c, LPT_FORMAT_BF16, {count, m, k}, draw_normal(610, count * m * k));
    std::vector<double> numbers = draw_normal(611, count * n * k);
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] *= 1 + 3 * static_cast<double>(i / static_cast<size_t>(n * k));
    const Tensor b = tensor_of(c, format, {count, n, k}, numbers);
    const Tensor packed = pack(c, b.get());
    const std::vector<double> stored = numbers_of(c, b.get());
    std::vector<double> right;
    for (int64_t i = 0; i < count; ++i) {
      const std::vector<double> transposed_copy = transposed(part(stored, i * n * k, n * k), n, k);
      right.insert(right.end(), transposed_copy.begin(), transposed_copy.end());
    }
    const lpt_gemm_options options = transposed_b();
    for (const lpt_tensor *second : {b.get(), packed.get()}) {
      SCOPED_TRACE(name_of(format) + (second == b.get() ? "" : " packed"));
      const Tensor result = make_tensor(c, LPT_FORMAT_F32, {count, m, n});
      ASSERT_TRUE(ok(c, lpt_gemm(c, a.get(), second, &options, result.get())));
      expect_gemms(numbers_of(c, a.get()), right, numbers_of(c, result.get()), {count, m, n, k});
    }
  }
}

// The two leading axes of a are permuted in memory; a is stored transposed. A residual of zeros makes the GEMM use a copy of c.
TEST(GemmBatch, CountsThroughAllLeadingAxes) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const int64_t outer = 2, inner = 3, m = 4, n = 6, k = 5;
  const std::vector<double> numbers = draw_normal(612, outer * inner * k * m);
  const std::vector<float> stored(numbers.begin(), numbers.end());
  const Tensor a = wrap_axes(c, LPT_FORMAT_F32, stored.data(), {outer, inner, k, m}, {k * m, outer * k * m, m, 1});
  const std::vector<double> right = draw_normal(613, k * n);
  const Tensor b = tensor_of(c, LPT_FORMAT_F32, k, n, right);
  const Tensor zeros = make_tensor(c, LPT_FORMAT_F32, {outer, inner, m, n});
  const lpt_tensor *const residuals[] = {nullptr, zeros.get()};
  for (const lpt_tensor *residual : residuals) {
    const Tensor result = make_tensor(c, LPT_FORMAT_F32, {outer, inner, m, n});
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_a_transposed = 1;
    options.residual = residual;
    ASSERT_TRUE(ok(c, lpt_gemm(c, a.get(), b.get(), &options, result.get())));
    const std::vector<double> given = numbers_of(c, result.get());
    for (int64_t i = 0; i < outer; ++i) {
      for (int64_t j = 0; j < inner; ++j) {
        const std::vector<double> left = transposed(part(numbers, (j * outer + i) * k * m, k * m), k, m);
        expect_gemm(multiply(left, right, m, n, k), part(given, (i * inner + j) * m * n, m * n), k);
      }
    }
  }
}

// Epilogue options of a call.
struct Ending {
  lpt_activation activation;
  lpt_format format;
  bool is_added_to, has_residual, has_cast;
};

constexpr Ending kEndings[] = {
    {LPT_ACTIVATION_NONE, LPT_FORMAT_F32, false, false, false},
    {LPT_ACTIVATION_NONE, LPT_FORMAT_BF16, true, false, false},
    {LPT_ACTIVATION_NONE, LPT_FORMAT_F32, true, true, false},
    {LPT_ACTIVATION_SILU, LPT_FORMAT_F32, true, false, false},
    {LPT_ACTIVATION_GELU, LPT_FORMAT_F16, true, true, false},
    {LPT_ACTIVATION_SWIGLU, LPT_FORMAT_F32, false, true, false},
    {LPT_ACTIVATION_SWIGLU, LPT_FORMAT_E5M2_ROW, false, false, true},
    {LPT_ACTIVATION_NONE, LPT_FORMAT_MXFP8_E4M3, false, false, false},
    {LPT_ACTIVATION_NONE, LPT_FORMAT_E4M3FN, false, true, true},
};

// Compares one call for several GEMMs with one call for each: the bits are equal.
class Endings {
 public:
  static constexpr int64_t kCount = 3, kM = 5, kN = 66, kK = 20;

  explicit Endings(const Ending &ending) : ending_(ending) {
    cast_.rounding = LPT_ROUNDING_TOWARD_ZERO;
    options_.alpha = 0.75;
    options_.activation = ending.activation;
    options_.beta = ending.is_added_to ? 0.5 : 0;
    options_.quantize = ending.has_cast ? &cast_ : nullptr;
  }

  int64_t columns() const { return ending_.activation == LPT_ACTIVATION_SWIGLU ? kN / 2 : kN; }
  lpt_context *context() const { return context_.get(); }

  Tensor matrix(uint64_t place, lpt_format format, int64_t index, int64_t rows, int64_t columns) const {
    return tensor_of(context(), format, rows, columns,
                     part(draw_normal(place, kCount * rows * columns), index * rows * columns, rows * columns));
  }
  Tensor all(uint64_t place, lpt_format format, const std::vector<int64_t> &extents) const {
    int64_t count = 1;
    for (const int64_t extent : extents) count *= extent;
    return tensor_of(context(), format, extents, draw_normal(place, count));
  }

  // Computes the matrix of c at `index` by a separate call.
  std::vector<double> alone(int64_t index, const lpt_tensor *bias) const {
    const Tensor a = matrix(620, LPT_FORMAT_BF16, index, kM, kK), b = matrix(621, LPT_FORMAT_F32, index, kK, kN);
    const Tensor c = matrix(622, ending_.format, index, kM, columns());
    const Tensor residual = matrix(623, LPT_FORMAT_BF16, index, kM, columns());
    run(a.get(), b.get(), c.get(), residual.get(), bias);
    return numbers_of(context(), c.get());
  }

  void expect_each_alone(const lpt_tensor *c, const std::vector<const lpt_tensor *> &biases) const {
    const std::vector<double> given = numbers_of(context(), c);
    for (int64_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(alone(i, biases[static_cast<size_t>(i) % biases.size()]),
                part(given, i * kM * columns(), kM * columns()))
          << i;
    }
  }

  lpt_gemm_options options(const lpt_tensor *residual, const lpt_tensor *bias) const {
    lpt_gemm_options result = options_;
    result.residual = ending_.has_residual ? residual : nullptr;
    result.bias = bias;
    return result;
  }

  std::string name() const {
    return "activation " + std::to_string(ending_.activation) + " " + name_of(ending_.format) + " residual " +
           std::to_string(ending_.has_residual);
  }

 private:
  void run(const lpt_tensor *a, const lpt_tensor *b, lpt_tensor *c, const lpt_tensor *residual,
           const lpt_tensor *bias) const {
    const lpt_gemm_options all = options(residual, bias);
    EXPECT_TRUE(ok(context(), lpt_gemm(context(), a, b, &all, c)));
  }

  Context context_ = make_context(2);
  Ending ending_;
  lpt_quantize_options cast_ = LPT_QUANTIZE_OPTIONS_INIT;
  lpt_gemm_options options_ = LPT_GEMM_OPTIONS_INIT;
};

TEST(GemmBatch, EndsEachMatrixAsAGemmAlone) {
  for (const Ending &ending : kEndings) {
    const Endings w(ending);
    SCOPED_TRACE(w.name());
    const int64_t count = Endings::kCount, m = Endings::kM, n = Endings::kN, k = Endings::kK;
    const Tensor bias = w.all(624, LPT_FORMAT_F32, {n});
    const Tensor residual = w.all(623, LPT_FORMAT_BF16, {count, m, w.columns()});
    const Tensor c = w.all(622, ending.format, {count, m, w.columns()});
    const lpt_gemm_options options = w.options(residual.get(), bias.get());
    ASSERT_TRUE(ok(w.context(), lpt_gemm(w.context(), w.all(620, LPT_FORMAT_BF16, {count, m, k}).get(),
                                         w.all(621, LPT_FORMAT_F32, {count, k, n}).get(), &options, c.get())));
    w.expect_each_alone(c.get(), {bias.get()});
  }
}

TEST(GemmGrouped, EndsTheRowsOfEachGroupAsAGemmAlone) {
  const int64_t count = Endings::kCount, m = Endings::kM, n = Endings::kN, k = Endings::kK;
  const std::vector<int64_t> ends = {m, 2 * m, 3 * m};
  for (const Ending &ending : kEndings) {
    for (const bool is_shared : {true, false}) {
      const Endings w(ending);
      SCOPED_TRACE(w.name() + (is_shared ? " one bias" : " biases"));
      const Tensor one = w.all(624, LPT_FORMAT_F32, {1, n}), many = w.all(624, LPT_FORMAT_F32, {count, n});
      const Tensor residual = w.all(623, LPT_FORMAT_BF16, {count * m, w.columns()});
      const Tensor c = w.all(622, ending.format, {count * m, w.columns()});
      const lpt_gemm_options options = w.options(residual.get(), is_shared ? one.get() : many.get());
      ASSERT_TRUE(ok(w.context(), lpt_gemm_grouped(w.context(), w.all(620, LPT_FORMAT_BF16, {count * m, k}).get(),
                                                   w.all(621, LPT_FORMAT_F32, {count, k, n}).get(),
                                                   indices_of(w.context(), ends).get(), &options, c.get())));
      std::vector<Tensor> rows;
      std::vector<const lpt_tensor *> biases;
      for (int64_t i = 0; i < (is_shared ? 1 : count); ++i) {
        rows.push_back(w.matrix(624, LPT_FORMAT_F32, i, 1, n));
        biases.push_back(rows.back().get());
      }
      w.expect_each_alone(c.get(), biases);
    }
  }
}

// With k = 0 a GEMM is beta times c plus the bias. All of c is written, with any number of threads.
class GemmWithoutK : public testing::TestWithParam<int32_t> {
 protected:
  static constexpr int64_t kCount = 2, kM = 3, kN = 5;

  Context context_ = make_context(GetParam());
  Tensor bias_ = tensor_of(context_.get(), LPT_FORMAT_F32, {1, kN}, {1, 2, 3, 4, 5});
  Tensor empty(const std::vector<int64_t> &extents) const {
    return tensor_of(context_.get(), LPT_FORMAT_F32, extents, {});
  }
  Tensor sevens(const std::vector<int64_t> &extents) const {
    return tensor_of(context_.get(), LPT_FORMAT_F32, extents, std::vector<double>(kCount * kM * kN, 7));
  }
  lpt_gemm_options options() const {
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.beta = 2;
    options.bias = bias_.get();
    return options;
  }
  void expect_terms(const lpt_tensor *c) const {
    const std::vector<double> given = numbers_of(context_.get(), c);
    ASSERT_EQ(static_cast<size_t>(kCount * kM * kN), given.size());
    for (size_t i = 0; i < given.size(); ++i) EXPECT_EQ(14.0 + 1 + static_cast<double>(i % kN), given[i]) << i;
  }
};

TEST_P(GemmWithoutK, BatchWritesTheOtherTerms) {
  const Tensor c = sevens({kCount, kM, kN});
  const lpt_gemm_options all = options();
  ASSERT_TRUE(ok(context_.get(),
                 lpt_gemm(context_.get(), empty({kCount, kM, 0}).get(), empty({kCount, 0, kN}).get(), &all, c.get())));
  expect_terms(c.get());
}

TEST_P(GemmWithoutK, GroupedRowsWriteTheOtherTerms) {
  const Tensor c = sevens({kCount * kM, kN});
  const lpt_gemm_options all = options();
  const std::vector<int64_t> ends = {kM, kCount * kM};
  ASSERT_TRUE(
      ok(context_.get(), lpt_gemm_grouped(context_.get(), empty({kCount * kM, 0}).get(), empty({kCount, 0, kN}).get(),
                                          indices_of(context_.get(), ends).get(), &all, c.get())));
  expect_terms(c.get());
}

TEST_P(GemmWithoutK, GroupsWithoutRowsWriteTheOtherTerms) {
  const Tensor c = sevens({kCount, kM, kN});
  lpt_gemm_options all = options();
  all.is_a_transposed = 1;
  const std::vector<int64_t> ends = {0, 0};
  ASSERT_TRUE(ok(context_.get(), lpt_gemm_grouped(context_.get(), empty({0, kM}).get(), empty({0, kN}).get(),
                                                  indices_of(context_.get(), ends).get(), &all, c.get())));
  expect_terms(c.get());
}

// Covers every storage of packed weights; the sparse ones run one GEMM after another.
TEST_P(GemmWithoutK, PackedWeightsWriteTheOtherTerms) {
  for (const lpt_weights_storage storage :
       {LPT_WEIGHTS_STORAGE_ALL, LPT_WEIGHTS_STORAGE_BITMASK, LPT_WEIGHTS_STORAGE_BLOCK_SPARSE}) {
    SCOPED_TRACE(storage);
    lpt_weights_options how = LPT_WEIGHTS_OPTIONS_INIT;
    how.storage = storage;
    const Tensor packed = pack(context_.get(), empty({kCount, kN, 0}).get(), &how);
    const Tensor c = sevens({kCount * kM, kN});
    lpt_gemm_options all = options();
    all.is_b_transposed = 1;
    const std::vector<int64_t> ends = {kM, kCount * kM};
    ASSERT_TRUE(ok(context_.get(), lpt_gemm_grouped(context_.get(), empty({kCount * kM, 0}).get(), packed.get(),
                                                    indices_of(context_.get(), ends).get(), &all, c.get())));
    expect_terms(c.get());
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, GemmWithoutK, testing::Values(1, 2));

// Rows outside all groups are unchanged, empty groups are valid, and the bits do not depend on the threads.
TEST(GemmGrouped, MultipliesRowsByTheMatrixOfTheirGroup) {
  const int64_t n = 70, k = 96;
  const std::vector<int64_t> ends = {0, 5, 5, 38, 39, 120, 120};
  const int64_t rows = 125, groups = static_cast<int64_t>(ends.size());
  std::vector<std::vector<double>> results;
  for (const int32_t threads : {1, 2}) {
    const Context context = make_context(threads);
    for (const lpt_format format : {LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_INT4_1X32}) {
      for (const bool is_packed : {false, true}) {
        SCOPED_TRACE(name_of(format) + (is_packed ? " packed" : ""));
        const Tensor a = tensor_of(context.get(), LPT_FORMAT_BF16, rows, k, draw_normal(605, rows * k));
        const Tensor b = tensor_of(context.get(), format, {groups, n, k}, draw_normal(606, groups * n * k));
        Tensor packed;
        ASSERT_TRUE(ok(context.get(), lpt_weights_pack(context.get(), b.get(), nullptr, out(packed))));
        const std::vector<double> bias = draw_normal(607, groups * n);
        const Tensor biases = tensor_of(context.get(), LPT_FORMAT_F32, groups, n, bias);
        const Tensor c =
            tensor_of(context.get(), LPT_FORMAT_F32, rows, n, std::vector<double>(static_cast<size_t>(rows * n), 7));
        lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
        options.is_b_transposed = 1;
        options.bias = biases.get();
        ASSERT_TRUE(ok(context.get(), lpt_gemm_grouped(context.get(), a.get(), is_packed ? packed.get() : b.get(),
                                                       indices_of(context.get(), ends).get(), &options, c.get())));
        const std::vector<double> left = numbers_of(context.get(), a.get()), right = numbers_of(context.get(), b.get());
        const std::vector<double> given = numbers_of(context.get(), c.get());
        for (int64_t g = 0, begin = 0; g < groups; begin = ends[static_cast<size_t>(g)], ++g) {
          const int64_t m = ends[static_cast<size_t>(g)] - begin;
          ExactGemm exact =
              multiply(part(left, begin * k, m * k), transposed(part(right, g * n * k, n * k), n, k), m, n, k);
          for (size_t i = 0; i < exact.value.size(); ++i) {
            const double added = bias[static_cast<size_t>(g * n) + i % static_cast<size_t>(n)];
            exact.value[i] += added;
            exact.magnitude[i] += std::abs(added);
          }
          expect_gemm(exact, part(given, begin * n, m * n), k);
        }
        EXPECT_EQ(part(given, 120 * n, 5 * n), std::vector<double>(static_cast<size_t>(5 * n), 7));
        results.push_back(given);
      }
    }
  }
  for (size_t i = 0; i < results.size() / 2; ++i) EXPECT_EQ(results[i], results[i + results.size() / 2]) << i;
}

TEST(GemmGrouped, MultipliesAlongTheRowsOfGroups) {
  const Context context = make_context(2);
  const int64_t m = 20, n = 33;
  const std::vector<int64_t> ends = {30, 30, 31, 100};
  const int64_t rows = 100, groups = static_cast<int64_t>(ends.size());
  const Tensor a = tensor_of(context.get(), LPT_FORMAT_BF16, rows, m, draw_normal(608, rows * m));
  const Tensor b = tensor_of(context.get(), LPT_FORMAT_BF16, rows, n, draw_normal(609, rows * n));
  const Tensor c = tensor_of(context.get(), LPT_FORMAT_F32, {groups, m, n},
                             std::vector<double>(static_cast<size_t>(groups * m * n), 2));
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_a_transposed = 1;
  options.beta = 0.5;
  ASSERT_TRUE(ok(context.get(), lpt_gemm_grouped(context.get(), a.get(), b.get(), indices_of(context.get(), ends).get(),
                                                 &options, c.get())));
  const std::vector<double> left = numbers_of(context.get(), a.get()), right = numbers_of(context.get(), b.get());
  const std::vector<double> given = numbers_of(context.get(), c.get());
  for (int64_t g = 0, begin = 0; g < groups; begin = ends[static_cast<size_t>(g)], ++g) {
    const int64_t k = ends[static_cast<size_t>(g)] - begin;
    ExactGemm exact = multiply(transposed(part(left, begin * m, k * m), k, m), part(right, begin * n, k * n), m, n, k);
    for (double &value : exact.value) value += 1.0;
    for (double &magnitude : exact.magnitude) magnitude += 1.0;
    expect_gemm(exact, part(given, g * m * n, m * n), k);
  }
}

// One matrix of a for each GEMM or one for all; groups along rows and along k. The result equals that of a cast to bf16 first.
TEST(GemmBatch, CastsAToBf16WhereTheFlagIsSet) {
  const int64_t count = 3, m = 7, n = 33, k = 64;
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const Tensor each = tensor_of(c, LPT_FORMAT_F32, {count, m, k}, draw_normal(631, count * m * k));
  const Tensor one = tensor_of(c, LPT_FORMAT_F32, m, k, draw_normal(632, m * k));
  const Tensor b = tensor_of(c, LPT_FORMAT_INT4_1X32, {count, n, k}, draw_normal(633, count * n * k));
  for (const Tensor *a : {&each, &one}) {
    const Tensor cast = bf16_of(c, a->get());
    const Tensor expected = make_tensor(c, LPT_FORMAT_F32, {count, m, n});
    const Tensor given = make_tensor(c, LPT_FORMAT_F32, {count, m, n});
    lpt_gemm_options options = transposed_b();
    ASSERT_TRUE(ok(c, lpt_gemm(c, cast.get(), b.get(), &options, expected.get())));
    options.flags = LPT_GEMM_CAST_A_TO_BF16;
    ASSERT_TRUE(ok(c, lpt_gemm(c, a->get(), b.get(), &options, given.get())));
    EXPECT_EQ(bytes_of(c, expected.get()), bytes_of(c, given.get()));
  }
}

TEST(GemmGrouped, CastsAToBf16WhereTheFlagIsSet) {
  const int64_t rows = 20, n = 33, k = 64;
  const std::vector<int64_t> ends = {5, 5, rows};
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const Tensor a = tensor_of(c, LPT_FORMAT_F32, rows, k, draw_normal(634, rows * k));
  const Tensor cast = tensor_of(c, LPT_FORMAT_BF16, rows, k, draw_normal(634, rows * k));
  for (const bool is_along : {false, true}) {
    const Tensor b = is_along ? tensor_of(c, LPT_FORMAT_F32, rows, n, draw_normal(635, rows * n))
                              : tensor_of(c, LPT_FORMAT_INT4_1X32, {3, n, k}, draw_normal(636, 3 * n * k));
    const std::vector<int64_t> extents = is_along ? std::vector<int64_t>{3, k, n} : std::vector<int64_t>{rows, n};
    const Tensor expected = make_tensor(c, LPT_FORMAT_F32, extents), given = make_tensor(c, LPT_FORMAT_F32, extents);
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_a_transposed = is_along ? 1 : 0;
    options.is_b_transposed = is_along ? 0 : 1;
    ASSERT_TRUE(ok(c, lpt_gemm_grouped(c, cast.get(), b.get(), indices_of(c, ends).get(), &options, expected.get())));
    options.flags = LPT_GEMM_CAST_A_TO_BF16;
    ASSERT_TRUE(ok(c, lpt_gemm_grouped(c, a.get(), b.get(), indices_of(c, ends).get(), &options, given.get())));
    EXPECT_EQ(bytes_of(c, expected.get()), bytes_of(c, given.get())) << (is_along ? "along k" : "rows");
  }
}

}  // namespace
}  // namespace lpt::test
