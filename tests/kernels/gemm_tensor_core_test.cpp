// The model of tensor core sums against its description in real numbers, and against hand-computed cases.
#include "tests/kernels/gemm_arithmetic.hpp"

namespace lpt::test {
namespace {

const KernelEntry<GemmRequest> &core_kernel() { return row_named("gemm_tensor_core_ref"); }

int least_exponent(lpt_format element) {
  switch (element) {
    case LPT_FORMAT_E4M3FN:
    case LPT_FORMAT_E4M3:
      return -6;
    case LPT_FORMAT_E5M2:
      return -14;
    case LPT_FORMAT_E4M3FNUZ:
      return -7;
    case LPT_FORMAT_E3M4:
    case LPT_FORMAT_E3M2FN:
    case LPT_FORMAT_E3M0:
      return -2;
    default:
      return 0;  // e2m1fn, e2m3fn
  }
}

// Returns the exponent field of a value: subnormals have that of the smallest normal.
int exponent_of(double value, int least) { return std::max(std::ilogb(value), least); }

double cut_toward_zero(double value, int exponent) {
  return std::ldexp(std::trunc(std::ldexp(value, -exponent)), exponent);
}

// Truncates 32 products and the partial sum at `bits` - 1 places below the largest exponent, adds them, and truncates the sum
// to `bits`. After every 128 steps the sum is added to f32.
float core_sum(const std::vector<double> &a, const std::vector<double> &b, int a_least, int b_least, int bits) {
  float total = 0;
  double sum = 0;
  for (size_t p = 0; p < a.size(); p += 32) {
    const size_t end = std::min(a.size(), p + 32);
    int largest = sum == 0 ? -1000 : std::ilogb(sum);
    for (size_t at = p; at < end; ++at) {
      if (a[at] == 0 || b[at] == 0) continue;
      largest = std::max(largest, exponent_of(a[at], a_least) + exponent_of(b[at], b_least));
    }
    const int last_place = largest - (bits - 1);
    double group = cut_toward_zero(sum, last_place);
    for (size_t at = p; at < end; ++at) group += cut_toward_zero(a[at] * b[at], last_place);
    sum = group == 0 ? 0 : cut_toward_zero(group, std::ilogb(group) - (bits - 1));
    if (end % 128 == 0 || end == a.size()) {
      total += static_cast<float>(sum);
      sum = 0;
    }
  }
  return total;
}

TEST(GemmTensorCore, AddsUpAsTheModelSays) {
  Random random(61);
  const char *const operands[] = {"e4m3fn", "e5m2_row",       "e4m3_tensor",  "e3m4",  "e2m1fn",     "e3m2fn",
                                  "e3m0",   "e4m3fn_128x128", "e4m3fn_1x128", "nvfp4", "mxfp8_e5m2", "e4m3fnuz"};
  const int64_t depths[] = {0, 1, 31, 32, 33, 64, 127, 128, 129, 160, 255, 256, 300};
  for (const char *a_format : operands) {
    for (const char *b_format : operands) {
      if (!is_taken(random, 4)) continue;
      SmallProblem problem(random, a_format, b_format, random.of(depths));
      problem.request.arithmetic = LPT_GEMM_ARITHMETIC_TENSOR_CORE;
      problem.request.arithmetic_bits = random.chance(0.5) ? 0 : 10 + static_cast<int32_t>(random.below(15));
      const int bits = problem.request.arithmetic_bits == 0 ? 14 : problem.request.arithmetic_bits;
      const LaneReader a = a_of(problem), b = b_of(problem);
      check_sums(core_kernel(), problem, [&](int64_t i, int64_t j, int64_t begin, int64_t end) {
        std::vector<double> left, right;
        for (int64_t p = begin; p < end; ++p) {
          left.push_back(a.element(i, p));
          right.push_back(b.element(j, p));
        }
        return core_sum(left, right, least_exponent(problem.a.format().element),
                        least_exponent(problem.b.format().element), bits);
      });
      if (HasFatalFailure()) return;
    }
  }
}

// Returns the sum of a row of e4m3fn or e5m2, multiplied by ones.
float sum_of(const char *format, const std::vector<float> &numbers, int bits = 0) {
  const auto k = static_cast<int64_t>(numbers.size());
  Problem problem(format, "e4m3fn", LPT_FORMAT_F32, false, true, 1, 1, k);
  for (int64_t p = 0; p < k; ++p) {
    const Element element = element_of(problem.a.format().element);
    problem.a.set_code(
        0, p, encode(element, numbers[static_cast<size_t>(p)], LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 0));
    problem.b.set_code(0, p, 0x38);
  }
  problem.request.arithmetic = LPT_GEMM_ARITHMETIC_TENSOR_CORE;
  problem.request.arithmetic_bits = bits;
  run_row(core_kernel(), problem.request);
  return problem.c.get(0, 0);
}

std::vector<float> one_and(float rest, size_t count, size_t place_of_one = 0) {
  std::vector<float> numbers(count, rest);
  numbers[place_of_one] = 1;
  return numbers;
}

TEST(GemmTensorCore, KeepsFourteenBitsOfAGroup) {
  EXPECT_EQ(sum_of("e5m2", one_and(0x1p-13f, 32)), 1 + 31 * 0x1p-13f);
  EXPECT_EQ(sum_of("e5m2", one_and(0x1p-14f, 32)), 1);
  EXPECT_EQ(sum_of("e5m2", one_and(-0x1p-14f, 32)), 1);
  EXPECT_EQ(sum_of("e5m2", one_and(0x1.8p-13f, 32, 31)), 1 + 31 * 0x1p-13f);
  EXPECT_EQ(sum_of("e5m2", one_and(0x1p-14f, 32), 15), 1 + 31 * 0x1p-14f);
  EXPECT_EQ(sum_of("e5m2", one_and(0x1p-9f, 32), 10), 1 + 31 * 0x1p-9f);
  EXPECT_EQ(sum_of("e5m2", one_and(0x1p-10f, 32), 10), 1);
  EXPECT_EQ(sum_of("e5m2", one_and(0x1p-16f, 32), 24), 1 + 31 * 0x1p-16f);
}

// A later group starts with the partial sum of the preceding groups; after 128 steps the partial sum is 0.
TEST(GemmTensorCore, MovesToF32AfterEvery128Steps) {
  EXPECT_EQ(sum_of("e5m2", one_and(0x1p-14f, 128)), 1);
  EXPECT_EQ(sum_of("e5m2", one_and(0x1p-14f, 128, 32)), 1 + 32 * 0x1p-14f);  // the preceding group is not truncated
  EXPECT_EQ(sum_of("e5m2", one_and(0x1p-14f, 256)), 1 + 128 * 0x1p-14f);
  EXPECT_EQ(sum_of("e5m2", one_and(0x1p-14f, 129)), 1 + 0x1p-14f);
}

// The product of significands 1.75 · 1.75 = 3.0625 carries. Groups are aligned to the exponents of factors, so that one more
// bit is kept.
TEST(GemmTensorCore, AlignsToTheExponentsOfFactors) {
  Problem problem("e5m2", "e4m3fn", LPT_FORMAT_F32, false, true, 1, 1, 3);
  const Element e5m2 = kElementE5m2, e4m3fn = kElementE4m3fn;
  const float left[] = {1.75f, 0x1p-13f, -1.75f}, right[] = {1.75f, 1, 1.75f};
  for (int64_t p = 0; p < 3; ++p) {
    problem.a.set_code(0, p, encode(e5m2, left[p], LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 0));
    problem.b.set_code(0, p, encode(e4m3fn, right[p], LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 0));
  }
  problem.request.arithmetic = LPT_GEMM_ARITHMETIC_TENSOR_CORE;
  run_row(core_kernel(), problem.request);
  EXPECT_EQ(problem.c.get(0, 0), 0x1p-13f);
}

TEST(GemmTensorCore, PassesOnInfinityAndNan) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const size_t place : {0, 31, 32, 127, 128, 199}) {
    std::vector<float> numbers(200, 1.0f);
    numbers[place] = infinity;
    EXPECT_EQ(sum_of("e5m2", numbers), infinity);
    numbers[place] = -infinity;
    EXPECT_EQ(sum_of("e5m2", numbers), -infinity);
    numbers[5] = infinity;
    EXPECT_TRUE(std::isnan(sum_of("e5m2", numbers)));
    numbers[5] = 1;
    numbers[place] = nan;
    EXPECT_TRUE(std::isnan(sum_of("e4m3fn", numbers)));
  }
}

// The error of sums of 4096 products of normal numbers falls by half or more with every bit: each bit halves the truncation
// error, and fewer products are truncated. With 14 bits it is far above the error of f32.
TEST(GemmTensorCore, LosesAtMostHalfAsMuchWithOneBitMore) {
  Random random(62);
  Problem problem("e4m3fn", "e4m3fn", LPT_FORMAT_F32, false, true, 16, 64, 4096);
  for (Matrix *matrix : {&problem.a, &problem.b}) {
    for (int64_t row = 0; row < matrix->rows(); ++row) {
      for (int64_t p = 0; p < 4096; ++p) {
        matrix->set_code(row, p,
                         encode(kElementE4m3fn, static_cast<float>(random.normal()), LPT_ROUNDING_NEAREST_EVEN,
                                LPT_OVERFLOW_SATURATE, 0, 0));
      }
    }
  }
  const std::vector<double> a = problem.a_lanes(), b = problem.b_lanes();
  std::vector<double> exact(16 * 64);
  double whole = 0;
  for (size_t at = 0; at < exact.size(); ++at) {
    for (size_t p = 0; p < 4096; ++p) exact[at] += a[at / 64 * 4096 + p] * b[at % 64 * 4096 + p];
    whole += exact[at] * exact[at];
  }
  problem.request.arithmetic = LPT_GEMM_ARITHMETIC_TENSOR_CORE;
  double before = 0;
  for (const int32_t bits : {10, 11, 12, 13, 14, 15, 16, 17, 18}) {
    problem.request.arithmetic_bits = bits;
    run_row(core_kernel(), problem.request);
    double difference = 0;
    for (size_t at = 0; at < exact.size(); ++at) {
      const double error =
          element_at(problem.c, static_cast<int64_t>(at) / 64, static_cast<int64_t>(at) % 64) - exact[at];
      difference += error * error;
    }
    const double error = std::sqrt(difference / whole);
    std::printf("%d bits: relative error %.3g\n", bits, error);
    if (bits > 10) {
      EXPECT_LT(error, 0.55 * before) << bits;
      EXPECT_GT(error, 0.25 * before) << bits;
    }
    if (bits == 14) {
      EXPECT_GT(error, 100 * 0x1p-24);
    }
    before = error;
  }
}

}  // namespace
}  // namespace lpt::test
