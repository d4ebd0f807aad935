// GEMMs of 2:4 matrices through the C interface equal the GEMMs of the same matrices in dense form.
#include <cmath>

#include "tests/api/sparse.hpp"

namespace lpt::test {
namespace {

std::vector<double> gemm(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b, int32_t is_b_transposed,
                         int64_t m, int64_t n, lpt_format format = LPT_FORMAT_F32) {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = is_b_transposed;
  const Tensor c = make_tensor(context, format, m, n);
  EXPECT_TRUE(ok(context, lpt_gemm(context, a, b, &options, c.get())));
  return numbers_of(context, c.get());
}

TEST(SparseGemm, IntegersEqualTheDenseGemmBitForBit) {
  for (const int32_t threads : {1, 2}) {
    const Context context = make_context(threads);
    for (const char *name : {"int8", "int8_tensor", "int8_row"}) {
      for (const int64_t m : {1, 3, 16, 40}) {
        const int64_t n = 130;
        const int64_t k = 651;
        const Weights weights = make_weights(context.get(), name, n, k);
        const Tensor a =
            tensor_of(context.get(), format_named(name), m, k, draw_normal(542, m * k, name[4] == 0 ? 40.0 : 1.0));
        EXPECT_EQ(gemm(context.get(), a.get(), weights.dense.get(), 1, m, n),
                  gemm(context.get(), a.get(), weights.sparse.get(), 1, m, n))
            << name << " m " << m;
      }
    }
  }
}

// Both sums have an error of at most (k + 2) roundings of the sum of magnitudes. Random rounding errors stay far below it.
TEST(SparseGemm, FloatsMatchTheDenseGemm) {
  const Context context = make_context(2);
  for (const char *a_name : {"f32", "bf16"}) {
    for (const char *name : {"f32", "bf16", "f16", "e4m3fn_row", "mxfp8_e4m3", "nvfp4"}) {
      for (const int64_t m : {1, 4, 40}) {
        const int64_t n = 70;
        const int64_t k = 640;
        const Weights weights = make_weights(context.get(), name, n, k);
        const Tensor a = tensor_of(context.get(), format_named(a_name), m, k, draw_normal(543, m * k));
        const std::vector<double> expected = gemm(context.get(), a.get(), weights.dense.get(), 1, m, n);
        const std::vector<double> found = gemm(context.get(), a.get(), weights.sparse.get(), 1, m, n);
        const std::vector<double> a_numbers = numbers_of(context.get(), a.get());
        const std::vector<double> b_numbers = numbers_of(context.get(), weights.dense.get());
        for (int64_t i = 0; i < m * n; ++i) {
          double magnitude = 0.0;
          for (int64_t p = 0; p < k; ++p) {
            magnitude += std::fabs(a_numbers[static_cast<size_t>(i / n * k + p)] *
                                   b_numbers[static_cast<size_t>(i % n * k + p)]);
          }
          const auto at = static_cast<size_t>(i);
          ASSERT_NEAR(expected[at], found[at], 2 * std::sqrt(static_cast<double>(k)) * 0x1p-24 * magnitude)
              << a_name << " " << name << " m " << m;
        }
      }
    }
  }
}

// An operand that no kernel reads directly is expanded to dense in slabs of rows. Slabs begin at blocks of scales; c and the
// bias are divided at the same rows. The thread of a slab does not change the bits.
TEST(SparseGemm, InSlabsHasTheBitsOfTheDenseGemm) {
  const int64_t m = 20, n = 500, k = 700;
  for (const char *name : {"f32", "f16", "e4m3fn_row", "e4m3fn/128x128/f32", "mxfp8_e4m3", "nvfp4", "nvfp4_16x16"}) {
    for (const int32_t threads : {1, 3}) {
      const Context context = make_context(threads);
      const Weights weights = make_weights(context.get(), name, n, k);
      const Tensor a = tensor_of(context.get(), LPT_FORMAT_BF16, m, k, draw_normal(548, m * k));
      const Tensor bias = tensor_of(context.get(), LPT_FORMAT_F32, 1, n, draw_normal(549, n));
      std::vector<double> given[2];
      for (const bool is_sparse : {false, true}) {
        lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
        options.is_b_transposed = 1;
        options.beta = 0.5;
        options.bias = bias.get();
        const Tensor c = tensor_of(context.get(), LPT_FORMAT_BF16, m, n, draw_normal(550, m * n));
        const lpt_tensor *b = is_sparse ? weights.sparse.get() : weights.dense.get();
        ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b, &options, c.get())));
        given[is_sparse] = numbers_of(context.get(), c.get());
      }
      EXPECT_EQ(given[0], given[1]) << name << " threads " << threads;
    }
  }
}

TEST(SparseGemm, InSlabsIsCancelledBetweenThem) {
  const Context context = make_context(4);  // each thread has a slab
  const Weights weights = make_weights(context.get(), "f16", 640, 250);
  const Tensor a = tensor_of(context.get(), LPT_FORMAT_BF16, 20, 250, draw_normal(551, 20 * 250));
  const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, 20, 640);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  std::vector<int64_t> reported;
  const auto listen = [](void *user, int64_t done, int64_t) -> int32_t {
    auto &all = *static_cast<std::vector<int64_t> *>(user);
    all.push_back(done);
    return all.size() == 3;
  };
  ASSERT_TRUE(ok(context.get(), lpt_context_set_progress(context.get(), listen, &reported)));
  EXPECT_EQ(LPT_CANCELLED, lpt_gemm(context.get(), a.get(), weights.sparse.get(), &options, c.get()));
  EXPECT_EQ(reported, (std::vector<int64_t>{20 * 160, 20 * 320, 20 * 480}));
}

TEST(SparseGemm, EveryRowOfTheMachineGivesTheSameBits) {
  const Context reference = make_context(1, LPT_ISA_REFERENCE);
  const Context fast = make_context(2);
  for (const char *name : {"f32", "bf16", "int8"}) {
    const Weights weights = make_weights(fast.get(), name, 90, 700);
    const char *a_name = std::string(name) == "int8" ? "int8" : "f32";
    const Tensor a = tensor_of(fast.get(), format_named(a_name), 3, 700, draw_normal(544, 3 * 700, 10.0));
    EXPECT_EQ(gemm(reference.get(), a.get(), weights.sparse.get(), 1, 3, 90),
              gemm(fast.get(), a.get(), weights.sparse.get(), 1, 3, 90))
        << name;
  }
}

// The input gradient uses the transposed copy. A sparse operand a is expanded to dense.
TEST(SparseGemm, TakesSparseOperandsOnEitherSideAndEitherWay) {
  const Context context = make_context(2);
  const int64_t rows = 48;
  const int64_t columns = 64;
  const Weights weights = make_weights(context.get(), "bf16", rows, columns);
  const Tensor a = tensor_of(context.get(), LPT_FORMAT_F32, 20, rows, draw_normal(545, 20 * rows));
  EXPECT_EQ(gemm(context.get(), a.get(), weights.dense.get(), 0, 20, columns),
            gemm(context.get(), a.get(), weights.sparse.get(), 0, 20, columns));
  const Tensor b = tensor_of(context.get(), LPT_FORMAT_F32, columns, 24, draw_normal(546, columns * 24));
  EXPECT_EQ(gemm(context.get(), weights.dense.get(), b.get(), 0, rows, 24),
            gemm(context.get(), weights.sparse.get(), b.get(), 0, rows, 24));
}

TEST(SparseGemm, PlansTellTheRowAndTheSpace) {
  const Context context = make_context();
  const Weights weights = make_weights(context.get(), "bf16", 64, 128);
  for (const int64_t m : {2, 64}) {
    const Tensor a = tensor_of(context.get(), LPT_FORMAT_F32, m, 128, draw_normal(547, m * 128));
    const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, m, 64);
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    lpt_gemm_plan *plan = nullptr;
    ASSERT_TRUE(ok(context.get(),
                   lpt_gemm_plan_create(context.get(), a.get(), weights.sparse.get(), &options, c.get(), &plan)));
    lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
    ASSERT_TRUE(ok(context.get(), lpt_gemm_plan_read(context.get(), plan, &values)));
    EXPECT_EQ(m == 2, std::strstr(values.kernel, "sparse") != nullptr) << values.kernel;
    EXPECT_GE(values.workspace_bytes, m == 64 ? 64 * 128 * 2 : 0);
    EXPECT_TRUE(
        ok(context.get(), lpt_gemm_plan_run(context.get(), plan, a.get(), weights.sparse.get(), nullptr, c.get())));
    EXPECT_EQ(gemm(context.get(), a.get(), weights.sparse.get(), 1, m, 64), numbers_of(context.get(), c.get()));
    lpt_gemm_plan_destroy(plan);
  }
}

TEST(SparseGemm, RejectsOutliersAndWrongSizes) {
  const Context context = make_context();
  const Weights weights = make_weights(context.get(), "int8_row", 8, 16);
  const Tensor a = tensor_of(context.get(), LPT_FORMAT_F32, 2, 16, draw_normal(548, 32));
  const Tensor narrow = tensor_of(context.get(), LPT_FORMAT_F32, 2, 12, draw_normal(549, 24));
  const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, 2, 8);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_gemm(context.get(), narrow.get(), weights.sparse.get(), &options, c.get()));
  expect_words({"inner sizes differ"}, lpt_context_error(context.get()));
  options.outlier_threshold = 1.0;
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_gemm(context.get(), a.get(), weights.sparse.get(), &options, c.get()));
  expect_words({"outlier_threshold", "sparse"}, lpt_context_error(context.get()));
}

}  // namespace
}  // namespace lpt::test
