// GEMM of e3m0 and integers by shifts: products are exact, so that the expected value is the exact sum.
#include "tests/kernels/gemm_arithmetic.hpp"

namespace lpt::test {
namespace {

const KernelEntry<GemmRequest> &shift_kernel() { return row_named("gemm_shift_ref"); }

TEST(GemmShift, MultipliesAllPairsOfCodesExactly) {
  for (const char *integers : {"int4", "int8", "int2", "int3", "uint4", "uint8", "q1_6"}) {
    for (const bool is_a_the_power : {true, false}) {
      AllGemms problem(is_a_the_power ? "e3m0" : integers, is_a_the_power ? integers : "e3m0");
      problem.request.arithmetic = LPT_GEMM_ARITHMETIC_SHIFT;
      run_row(shift_kernel(), problem.request);
      for (int64_t i = 0; i < problem.request.m; ++i) {
        for (int64_t j = 0; j < problem.request.n; ++j) {
          ASSERT_TRUE(is_same(problem.c.get(i, j), element_at(problem.a, i, 0) * element_at(problem.b, j, 0)))
              << problem.name << " at " << i << ", " << j;
        }
      }
    }
  }
}

// Sums of 20001 large products have more bits than f32: they are rounded once, at the end.
TEST(GemmShift, RoundsLongSumsOnce) {
  Random random(51);
  int64_t rounded = 0;
  for (const bool is_a_the_power : {true, false}) {
    Problem problem(is_a_the_power ? "e3m0" : "int8", is_a_the_power ? "int8" : "e3m0", LPT_FORMAT_F32, false, true, 3,
                    20, 20001);
    for (Matrix *matrix : {&problem.a, &problem.b}) {
      const bool is_power = matrix->format().element == LPT_FORMAT_E3M0;
      for (int64_t row = 0; row < matrix->rows(); ++row) {
        for (int64_t p = 0; p < 20001; ++p) {
          matrix->set_code(row, p, static_cast<uint32_t>(is_power ? 1 + random.below(7) : 64 + random.below(64)));
        }
      }
    }
    problem.request.arithmetic = LPT_GEMM_ARITHMETIC_SHIFT;
    const LaneReader a = a_of(problem), b = b_of(problem);
    check_sums(shift_kernel(), problem, [&](int64_t i, int64_t j, int64_t begin, int64_t end) {
      double sum = 0;  // multiples of 1/4: exact
      for (int64_t p = begin; p < end; ++p) sum += a.element(i, p) * b.element(j, p);
      rounded += static_cast<double>(static_cast<float>(sum)) != sum;
      return static_cast<float>(sum);
    });
  }
  std::printf("%lld of 120 sums are rounded\n", static_cast<long long>(rounded));
  EXPECT_GT(rounded, 30);
}

TEST(GemmShift, TakesScalesZeroPointsAndTerms) {
  Random random(52);
  const char *const powers[] = {"e3m0", "e3m0/1x32/e8m0fnu", "e3m0/row/f32", "e3m0/1x16/e4m3fn/f32"};
  const char *const integers[] = {"int4",        "int8_row",    "int4_1x32",    "uint4_1x32",
                                  "uint4_1x128", "int8_tensor", "ternary",      "uint8/1x16/f32/uint8",
                                  "int2",        "int3",        "int8/1x64/f32"};
  for (const char *power : powers) {
    for (const char *integer : integers) {
      for (const bool is_a_the_power : {true, false}) {
        SmallProblem problem(random, is_a_the_power ? power : integer, is_a_the_power ? integer : power,
                             random.of(kDepths));
        problem.request.arithmetic = LPT_GEMM_ARITHMETIC_SHIFT;
        const LaneReader a = a_of(problem), b = b_of(problem);
        check_sums(shift_kernel(), problem, [&](int64_t i, int64_t j, int64_t begin, int64_t end) {
          double sum = 0;
          for (int64_t p = begin; p < end; ++p) sum += a.element(i, p) * b.element(j, p);
          return static_cast<float>(sum);
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace lpt::test
