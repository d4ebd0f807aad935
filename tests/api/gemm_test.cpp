// GEMMs through the C interface, against sums in double.
#include "tests/api/gemm.hpp"

namespace lpt::test {
namespace {

struct Sizes {
  int64_t m, n, k;
};
constexpr Sizes kSizes[] = {{1, 1, 1}, {3, 5, 7}, {17, 33, 65}, {64, 48, 128}, {130, 70, 259}};

// Returns op(a) · op(b) computed by the library. The operands are stored as the flags specify.
std::vector<double> multiply_stored(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b,
                                    bool is_a_transposed, bool is_b_transposed, int64_t m, int64_t n,
                                    lpt_format output = LPT_FORMAT_F32) {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_a_transposed = is_a_transposed ? 1 : 0;
  options.is_b_transposed = is_b_transposed ? 1 : 0;
  const Tensor c = make_tensor(context, output, m, n);
  EXPECT_TRUE(ok(context, lpt_gemm(context, a, b, &options, c.get())));
  return numbers_of(context, c.get());
}

TEST(Gemm, MultipliesInAllFourTransposesAndManyFormats) {
  const Context context = make_context(2);
  const lpt_format formats[][2] = {{LPT_FORMAT_F32, LPT_FORMAT_F32},
                                   {LPT_FORMAT_BF16, LPT_FORMAT_BF16},
                                   {LPT_FORMAT_F16, LPT_FORMAT_F32},
                                   {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR},
                                   {LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_MXFP8_E4M3},
                                   {LPT_FORMAT_NVFP4, LPT_FORMAT_MXFP4},
                                   {LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN_128X128},
                                   {LPT_FORMAT_INT8_ROW, LPT_FORMAT_E5M2}};
  for (const auto &[m, n, k] : kSizes) {
    for (const auto &[a_format, b_format] : formats) {
      for (int flags = 0; flags < 4; ++flags) {
        const bool is_a_transposed = (flags & 1) != 0;
        const bool is_b_transposed = (flags & 2) != 0;
        const Tensor a = tensor_of(context.get(), a_format, is_a_transposed ? k : m, is_a_transposed ? m : k,
                                   draw_normal(71, m * k));
        const Tensor b = tensor_of(context.get(), b_format, is_b_transposed ? n : k, is_b_transposed ? k : n,
                                   draw_normal(72, k * n));
        std::vector<double> left = numbers_of(context.get(), a.get());
        std::vector<double> right = numbers_of(context.get(), b.get());
        if (is_a_transposed) left = transposed(left, k, m);
        if (is_b_transposed) right = transposed(right, n, k);
        SCOPED_TRACE(name_of(a_format) + " " + name_of(b_format) + " flags " + std::to_string(flags) + " m " +
                     std::to_string(m));
        expect_gemm(multiply(left, right, m, n, k),
                    multiply_stored(context.get(), a.get(), b.get(), is_a_transposed, is_b_transposed, m, n), k);
      }
    }
  }
}

TEST(Gemm, ComputesInF64WhereAnyOperandIsF64) {
  const Context context = make_context(2);
  const int64_t m = 20, n = 30, k = 100;
  std::vector<double> a = draw_normal(73, m * k);
  for (double &number : a) number *= 1.0 + 0x1p-40;  // bits that f32 does not have
  const std::vector<double> b = draw_normal(74, k * n);
  const Tensor left = tensor_of(context.get(), LPT_FORMAT_F64, m, k, a);
  const Tensor right = tensor_of(context.get(), LPT_FORMAT_F32, k, n, b);
  const std::vector<double> given =
      multiply_stored(context.get(), left.get(), right.get(), false, false, m, n, LPT_FORMAT_F64);
  const ExactGemm exact = multiply(a, b, m, n, k);
  for (size_t i = 0; i < given.size(); ++i) EXPECT_NEAR(exact.value[i], given[i], 1e-14 * exact.magnitude[i]);
}

// 2^30 + 1 - 2^30 + 1 is 2 in f64, and 1 if the sum is f32. The operands are dense or in any other storage.
class GemmF64 : public testing::Test {
 protected:
  static constexpr int64_t kM = 3, kN = 5, kK = 8;

  Context context_ = make_context(2);
  lpt_context *const c_ = context_.get();

  // Returns `rows` copies of a row. At most two of every four columns are nonzero.
  static std::vector<double> rows_of(int64_t rows, const std::vector<double> &row) {
    std::vector<double> all;
    for (int64_t r = 0; r < rows; ++r) all.insert(all.end(), row.begin(), row.end());
    return all;
  }
  Tensor left(lpt_format format) const {
    return tensor_of(c_, format, kM, kK, rows_of(kM, {0x1p30, 1, 0, 0, -0x1p30, 1, 0, 0}));
  }
  Tensor right(lpt_format format) const { return tensor_of(c_, format, kN, kK, rows_of(kN, {1, 1, 0, 0, 1, 1, 0, 0})); }
  Tensor sparse(const Tensor &dense) const {
    const Shape shape = shape_of(c_, dense.get());
    const std::string name = name_of(describe(c_, dense.get()).format) + "/2:4";
    Tensor compressed = make_tensor(c_, format_named(name.c_str()), shape.rows, shape.columns);
    EXPECT_TRUE(ok(c_, lpt_sparse_compress(c_, dense.get(), nullptr, compressed.get(), nullptr)));
    return compressed;
  }
  void expect_two(const lpt_tensor *a, const lpt_tensor *b, lpt_format c_format) const {
    SCOPED_TRACE(name_of(describe(c_, a).format) + " " + name_of(describe(c_, b).format) + " " + name_of(c_format));
    EXPECT_EQ(std::vector<double>(kM * kN, 2.0), multiply_stored(c_, a, b, false, true, kM, kN, c_format));
  }
};

TEST_F(GemmF64, IsComputedWhereverF64Is) {
  for (int roles = 1; roles < 8; ++roles) {
    const Tensor a = left((roles & 1) != 0 ? LPT_FORMAT_F64 : LPT_FORMAT_F32);
    const Tensor b = right((roles & 2) != 0 ? LPT_FORMAT_F64 : LPT_FORMAT_F32);
    const lpt_format c_format = (roles & 4) != 0 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
    const Tensor sparse_a = sparse(a), sparse_b = sparse(b);
    expect_two(a.get(), b.get(), c_format);
    expect_two(sparse_a.get(), b.get(), c_format);
    expect_two(a.get(), sparse_b.get(), c_format);
    expect_two(sparse_a.get(), sparse_b.get(), c_format);
  }
}

TEST_F(GemmF64, IsComputedByPackedWeights) {
  for (const lpt_weights_storage storage :
       {LPT_WEIGHTS_STORAGE_ALL, LPT_WEIGHTS_STORAGE_BITMASK, LPT_WEIGHTS_STORAGE_BLOCK_SPARSE}) {
    SCOPED_TRACE(storage);
    lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
    options.storage = storage;
    const Tensor b = pack(c_, right(LPT_FORMAT_F32).get(), &options);
    expect_two(left(LPT_FORMAT_F64).get(), b.get(), LPT_FORMAT_F32);
    expect_two(sparse(left(LPT_FORMAT_F64)).get(), b.get(), LPT_FORMAT_F32);
    expect_two(left(LPT_FORMAT_F32).get(), b.get(), LPT_FORMAT_F64);
  }
}

TEST_F(GemmF64, TakesABiasOfF64) {
  const Tensor b = sparse(right(LPT_FORMAT_F64)), c = make_tensor(c_, LPT_FORMAT_F32, kM, kN);
  const Tensor a = left(LPT_FORMAT_F32);
  const Tensor wide = vector_of(c_, LPT_FORMAT_F64, std::vector<double>(kN, 0.5));
  const Tensor narrow = vector_of(c_, LPT_FORMAT_F32, std::vector<double>(kN, 0.5));
  lpt_gemm_options options = transposed_b();
  options.bias = wide.get();
  ASSERT_TRUE(ok(c_, lpt_gemm(c_, a.get(), b.get(), &options, c.get())));
  EXPECT_EQ(std::vector<double>(kM * kN, 2.5), numbers_of(c_, c.get()));
  options.bias = narrow.get();
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_gemm(c_, a.get(), b.get(), &options, c.get()));
  expect_words({"bias is f32: expected f64"}, lpt_context_error(c_));
}

TEST(Gemm, RoundsANarrowOutputOnce) {
  const Context context = make_context();
  const int64_t m = 20, n = 30, k = 64;
  const std::vector<double> a = draw_normal(75, m * k);
  const std::vector<double> b = draw_normal(76, k * n);
  const Tensor left = tensor_of(context.get(), LPT_FORMAT_F32, m, k, a);
  const Tensor right = tensor_of(context.get(), LPT_FORMAT_F32, k, n, b);
  const std::vector<double> wide = multiply_stored(context.get(), left.get(), right.get(), false, false, m, n);
  for (const lpt_format format : {LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    const Tensor rounded = tensor_of(context.get(), format, m, n, wide);
    EXPECT_EQ(numbers_of(context.get(), rounded.get()),
              multiply_stored(context.get(), left.get(), right.get(), false, false, m, n, format))
        << name_of(format);
  }
}

TEST(Gemm, TakesColumnMajorOperandsInEveryPlaceAndTransposition) {
  const Context context = make_context();
  const int64_t m = 9, n = 11, k = 13;
  const std::vector<double> a = draw_normal(77, m * k);
  const std::vector<double> b = draw_normal(78, k * n);
  const ExactGemm exact = multiply(a, b, m, n, k);
  // Stores element (r, c) of a rows × columns matrix at c · stride + r.
  const auto store = [](const std::vector<double> &matrix, int64_t rows, int64_t columns, int64_t stride) {
    std::vector<float> data(static_cast<size_t>(columns * stride), 99.0f);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        data[static_cast<size_t>(c * stride + r)] = static_cast<float>(matrix[static_cast<size_t>(r * columns + c)]);
      }
    }
    return data;
  };
  for (int flags = 0; flags < 4; ++flags) {
    const bool is_a_transposed = (flags & 1) != 0;
    const bool is_b_transposed = (flags & 2) != 0;
    const Sizes a_size = is_a_transposed ? Sizes{k, m, 0} : Sizes{m, k, 0};
    const Sizes b_size = is_b_transposed ? Sizes{n, k, 0} : Sizes{k, n, 0};
    const std::vector<float> a_data =
        store(is_a_transposed ? transposed(a, m, k) : a, a_size.m, a_size.n, a_size.m + 3);
    const std::vector<float> b_data =
        store(is_b_transposed ? transposed(b, k, n) : b, b_size.m, b_size.n, b_size.m + 2);
    const Tensor left =
        wrap_axes(context.get(), LPT_FORMAT_F32, a_data.data(), {a_size.m, a_size.n}, {1, a_size.m + 3});
    const Tensor right =
        wrap_axes(context.get(), LPT_FORMAT_F32, b_data.data(), {b_size.m, b_size.n}, {1, b_size.m + 2});
    SCOPED_TRACE(flags);
    expect_gemm(exact, multiply_stored(context.get(), left.get(), right.get(), is_a_transposed, is_b_transposed, m, n),
                k);
  }
}

TEST(Gemm, AddsAlphaBetaAndBias) {
  const Context context = make_context(2);
  const int64_t m = 37, n = 29, k = 50;
  const std::vector<double> a = draw_normal(79, m * k);
  const std::vector<double> b = draw_normal(80, k * n);
  const std::vector<double> before = draw_normal(81, m * n);
  const std::vector<double> bias = draw_normal(82, n);
  const Tensor left = tensor_of(context.get(), LPT_FORMAT_F32, m, k, a);
  const Tensor right = tensor_of(context.get(), LPT_FORMAT_F32, k, n, b);
  const Tensor c = tensor_of(context.get(), LPT_FORMAT_F32, m, n, before);
  const Tensor bias_tensor = vector_of(context.get(), LPT_FORMAT_F32, bias);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.alpha = -0.75;
  options.beta = 1.5;
  options.bias = bias_tensor.get();
  ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), left.get(), right.get(), &options, c.get())));
  ExactGemm exact = multiply(a, b, m, n, k);
  for (size_t i = 0; i < exact.value.size(); ++i) {
    const double added = bias[i % static_cast<size_t>(n)];
    exact.value[i] = -0.75 * exact.value[i] + 1.5 * before[i] + added;
    exact.magnitude[i] += 1.5 * std::abs(before[i]) + std::abs(added);
  }
  expect_gemm(exact, numbers_of(context.get(), c.get()), k);
}

TEST(Gemm, DoesNotReadCWhenBetaIsZero) {
  const Context context = make_context();
  const Tensor a = tensor_of(context.get(), LPT_FORMAT_F32, 5, 4, std::vector<double>(20, 1.0));
  const Tensor b = tensor_of(context.get(), LPT_FORMAT_F32, 4, 6, std::vector<double>(24, 2.0));
  const Tensor c = tensor_of(context.get(), LPT_FORMAT_F32, 5, 6, std::vector<double>(30, std::nan("")));
  ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b.get(), nullptr, c.get())));
  EXPECT_EQ(std::vector<double>(30, 8.0), numbers_of(context.get(), c.get()));
}

TEST(Gemm, GivesTheSameBitsWithAnyNumberOfThreads) {
  const lpt_format formats[][3] = {{LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_FORMAT_F32},
                                   {LPT_FORMAT_BF16, LPT_FORMAT_BF16, LPT_FORMAT_BF16},
                                   {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_F32},
                                   {LPT_FORMAT_NVFP4, LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_F32},
                                   {LPT_FORMAT_F64, LPT_FORMAT_F32, LPT_FORMAT_F64}};
  const Context maker = make_context(1);
  for (const Sizes size : {Sizes{200, 300, 150}, Sizes{3, 1000, 700}, Sizes{1000, 3, 700}, Sizes{33, 65, 2000}}) {
    for (const auto &[a_format, b_format, c_format] : formats) {
      const Tensor a = tensor_of(maker.get(), a_format, size.m, size.k, draw_normal(83, size.m * size.k));
      const Tensor b = tensor_of(maker.get(), b_format, size.n, size.k, draw_normal(84, size.n * size.k));
      const std::vector<double> expected =
          multiply_stored(maker.get(), a.get(), b.get(), false, true, size.m, size.n, c_format);
      for (const int32_t threads : {2, 3, 7}) {
        const Context context = make_context(threads);
        EXPECT_EQ(expected, multiply_stored(context.get(), a.get(), b.get(), false, true, size.m, size.n, c_format))
            << name_of(a_format) << " m " << size.m << " " << threads << " threads";
      }
    }
  }
}

TEST(Gemm, WithoutInnerSizeGivesBetaAndBiasAlone) {
  const Context context = make_context();
  const Tensor a = make_tensor(context.get(), LPT_FORMAT_F32, 2, 0);
  const Tensor b = make_tensor(context.get(), LPT_FORMAT_F32, 0, 3);
  const Tensor c = tensor_of(context.get(), LPT_FORMAT_F32, 2, 3, {1, 2, 3, 4, 5, 6});
  const Tensor bias = vector_of(context.get(), LPT_FORMAT_F32, {10, 20, 30});
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.beta = 2.0;
  options.bias = bias.get();
  ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b.get(), &options, c.get())));
  EXPECT_EQ((std::vector<double>{12, 24, 36, 18, 30, 42}), numbers_of(context.get(), c.get()));
}

TEST(Gemm, OfNoRowsOrColumnsDoesNothing) {
  const Context context = make_context(2);
  for (const Sizes size : {Sizes{0, 5, 7}, Sizes{5, 0, 7}, Sizes{0, 0, 0}}) {
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_MXFP4, LPT_FORMAT_E4M3FN_128X128}) {
      const Tensor a = make_tensor(context.get(), format, size.m, size.k);
      const Tensor b = make_tensor(context.get(), format, size.k, size.n);
      const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, size.m, size.n);
      EXPECT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b.get(), nullptr, c.get())));
    }
  }
}

TEST(Gemm, LeavesGapsBetweenRowsUntouched) {
  const Context context = make_context(3);
  const int64_t m = 130, n = 70, k = 40;
  std::vector<float> memory(static_cast<size_t>(m * (n + 5)), -77.0f);
  const Tensor c = wrap(context.get(), LPT_FORMAT_F32, memory.data(), m, n, n + 5);
  const Tensor a = tensor_of(context.get(), LPT_FORMAT_F32, m, k, draw_normal(85, m * k));
  const Tensor b = tensor_of(context.get(), LPT_FORMAT_F32, k, n, draw_normal(86, k * n));
  ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b.get(), nullptr, c.get())));
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t i = n; i < n + 5; ++i) ASSERT_EQ(-77.0f, memory[static_cast<size_t>(r * (n + 5) + i)]);
  }
}

TEST(Gemm, CheckOnlyTakesOperandsWithoutDataAndTellsTheKernel) {
  const Context context = make_context();
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.flags = LPT_CHECK_ONLY;
  const Tensor a = wrap(context.get(), LPT_FORMAT_BF16, nullptr, 4096, 4096);
  const Tensor c = wrap(context.get(), LPT_FORMAT_F32, nullptr, 4096, 4096);
  ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), a.get(), &options, c.get())));
  EXPECT_EQ(0u, std::string(lpt_context_explanation(context.get())).find("gemm: gemm_"));
}

// Returns the elements of a matrix with any strides, row by row.
std::vector<double> numbers_of_strided(const std::vector<float> &memory, int64_t rows, int64_t columns,
                                       const std::vector<int64_t> &strides) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      numbers.push_back(static_cast<double>(memory[static_cast<size_t>(i * strides[0] + j * strides[1])]));
    }
  }
  return numbers;
}

// Compares a GEMM with LPT_GEMM_CAST_A_TO_BF16 with the GEMM of an a that was cast to bf16 first.
void expect_bits_of_cast(lpt_context *context, const lpt_tensor *a, const lpt_tensor *cast, const lpt_tensor *b,
                         lpt_gemm_options options, const std::vector<int64_t> &c_extents) {
  const Tensor expected = make_tensor(context, LPT_FORMAT_F32, c_extents);
  const Tensor given = make_tensor(context, LPT_FORMAT_F32, c_extents);
  ASSERT_TRUE(ok(context, lpt_gemm(context, cast, b, &options, expected.get())));
  options.flags |= LPT_GEMM_CAST_A_TO_BF16;
  ASSERT_TRUE(ok(context, lpt_gemm(context, a, b, &options, given.get())));
  EXPECT_EQ(bytes_of(context, expected.get()), bytes_of(context, given.get()));
}

TEST(GemmCastA, GivesTheBitsOfACastBefore) {
  const int64_t n = 70, k = 128;
  for (const int32_t threads : {1, 2}) {
    const Context context = make_context(threads);
    for (const lpt_format format :
         {LPT_FORMAT_F32, LPT_FORMAT_INT4_1X128, LPT_FORMAT_NF4_1X64, LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_F64}) {
      for (const int64_t m : {1, 3, 33}) {
        const Tensor a = tensor_of(context.get(), LPT_FORMAT_F32, m, k, draw_normal(821, m * k));
        const Tensor b = tensor_of(context.get(), format, n, k, draw_normal(822, n * k));
        const Tensor cast = bf16_of(context.get(), a.get());
        SCOPED_TRACE(name_of(format) + " m " + std::to_string(m));
        expect_bits_of_cast(context.get(), a.get(), cast.get(), b.get(), transposed_b(), {m, n});
        if (format == LPT_FORMAT_F64) continue;
        const Tensor packed = pack(context.get(), b.get());
        expect_bits_of_cast(context.get(), a.get(), cast.get(), packed.get(), transposed_b(), {m, n});
        lpt_gemm_options options = transposed_b();
        options.flags = LPT_GEMM_PORTABLE_ORDER;
        options.alpha = -0.5;
        expect_bits_of_cast(context.get(), a.get(), cast.get(), b.get(), options, {m, n});
      }
    }
  }
}

TEST(GemmFastAccumulate, ChangesNothingOnTheCpu) {
  const Context context = make_context();
  for (const lpt_format format : {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_F32}) {
    const Tensor a = tensor_of(context.get(), format, 20, 96, draw_normal(831, 20 * 96));
    const Tensor b = tensor_of(context.get(), format, 48, 96, draw_normal(832, 48 * 96));
    const Tensor expected = make_tensor(context.get(), LPT_FORMAT_F32, 20, 48);
    const Tensor found = make_tensor(context.get(), LPT_FORMAT_F32, 20, 48);
    lpt_gemm_options options = transposed_b();
    ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b.get(), &options, expected.get())));
    const std::string explanation = lpt_context_explanation(context.get());
    options.flags = LPT_GEMM_FAST_ACCUMULATE;
    ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b.get(), &options, found.get())));
    EXPECT_EQ(explanation, lpt_context_explanation(context.get()));
    EXPECT_EQ(bytes_of(context.get(), expected.get()), bytes_of(context.get(), found.get()));
  }
}

TEST(GemmCastA, RoundsInfinitiesAndWhatIsBeyondBf16ToInfinity) {
  const Context context = make_context();
  const std::vector<float> a = {INFINITY, 3.4e38f, -3.4e38f, 1.00390625f}, b = {1.0f};
  const Tensor left = wrap(context.get(), a, 4, 1), one = wrap(context.get(), b, 1, 1);
  const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, 4, 1);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.flags = LPT_GEMM_CAST_A_TO_BF16;
  ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), left.get(), one.get(), &options, c.get())));
  // 1 + 2^-8 is halfway between two bf16 values and rounds to even.
  EXPECT_EQ(numbers_of(context.get(), c.get()), (std::vector<double>{INFINITY, INFINITY, -INFINITY, 1.0}));
}

TEST(GemmCastA, TakesATransposedAStridedOneAndLeadingAxes) {
  const Context context = make_context(2);
  const int64_t m = 24, n = 33, k = 40;
  const Tensor b = tensor_of(context.get(), LPT_FORMAT_INT4_1X32, n, k, draw_normal(823, n * k));
  const std::vector<double> numbers = draw_normal(824, m * k);
  const Tensor stored = tensor_of(context.get(), LPT_FORMAT_F32, k, m, numbers);
  lpt_gemm_options options = transposed_b();
  options.is_a_transposed = 1;
  expect_bits_of_cast(context.get(), stored.get(), bf16_of(context.get(), stored.get()).get(), b.get(), options,
                      {m, n});
  // Adjacent columns, and rows with gaps.
  std::vector<float> wide(static_cast<size_t>(2 * m * k));
  for (size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<float>(numbers[i % numbers.size()]);
  for (const std::vector<int64_t> &strides : {std::vector<int64_t>{1, m}, std::vector<int64_t>{2 * k, 1}}) {
    const Tensor a = wrap_axes(context.get(), LPT_FORMAT_F32, wide.data(), {m, k}, strides);
    const Tensor dense = tensor_of(context.get(), LPT_FORMAT_F32, m, k, numbers_of_strided(wide, m, k, strides));
    expect_bits_of_cast(context.get(), a.get(), bf16_of(context.get(), dense.get()).get(), b.get(), transposed_b(),
                        {m, n});
  }
  const Tensor folded = tensor_of(context.get(), LPT_FORMAT_F32, {2, m / 2, k}, numbers);
  expect_bits_of_cast(context.get(), folded.get(), bf16_of(context.get(), folded.get()).get(), b.get(), transposed_b(),
                      {2, m / 2, n});
}

TEST(GemmCastA, LeavesOtherFormatsOfA) {
  const Context context = make_context();
  const int64_t m = 5, n = 20, k = 64;
  const Tensor b = tensor_of(context.get(), LPT_FORMAT_INT4_1X32, n, k, draw_normal(825, n * k));
  for (const lpt_format format : {LPT_FORMAT_F16, LPT_FORMAT_F64, LPT_FORMAT_E4M3FN_ROW}) {
    const Tensor a = tensor_of(context.get(), format, m, k, draw_normal(826, m * k));
    expect_bits_of_cast(context.get(), a.get(), a.get(), b.get(), transposed_b(), {m, n});
  }
}

TEST(GemmCastA, IsDoneBeforeOutliersAreFound) {
  const Context context = make_context();
  const int64_t m = 5, n = 20, k = 64;
  const Tensor a = tensor_of(context.get(), LPT_FORMAT_F32, m, k, draw_normal(827, m * k));
  const Tensor b = tensor_of(context.get(), LPT_FORMAT_INT8_ROW, n, k, draw_normal(828, n * k));
  lpt_gemm_options options = transposed_b();
  options.outlier_threshold = 1.5;
  expect_bits_of_cast(context.get(), a.get(), bf16_of(context.get(), a.get()).get(), b.get(), options, {m, n});
}

}  // namespace
}  // namespace lpt::test
