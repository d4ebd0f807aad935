// GEMM by adding bit fields: L-Mul (arXiv 2410.00907) and the piecewise-affine product, against their formulas in real numbers
// and against the errors of an independent simulation.
#include "tests/kernels/gemm_arithmetic.hpp"

namespace lpt::test {
namespace {

const KernelEntry<GemmRequest> &l_mul_kernel() { return row_named("gemm_l_mul_ref"); }
const KernelEntry<GemmRequest> &affine_kernel() { return row_named("gemm_piecewise_affine_ref"); }

// A value as (1 + fraction) · 2^exponent.
struct Parts {
  double fraction;
  int exponent;
};

Parts parts_of(double magnitude, int bits) {
  Parts parts;
  parts.fraction = 2 * std::frexp(magnitude, &parts.exponent) - 1;
  --parts.exponent;
  parts.fraction = std::ldexp(std::floor(std::ldexp(parts.fraction, bits)), -bits);
  return parts;
}

// Returns (1 + x + y + offset) · 2^(ex + ey). If the sum of the fractions is at least 1, its integer part is added to the
// exponent.
double affine_product(double a, double b, int bits, double offset) {
  if (std::isnan(a) || std::isnan(b) || std::isinf(a) || std::isinf(b) || a == 0 || b == 0) return a * b;
  const Parts x = parts_of(std::fabs(a), bits), y = parts_of(std::fabs(b), bits);
  const double sum = x.fraction + y.fraction + offset;
  const double carry = std::floor(sum);
  const double magnitude = std::ldexp(1 + sum - carry, x.exponent + y.exponent + static_cast<int>(carry));
  return std::signbit(a) != std::signbit(b) ? -magnitude : magnitude;
}

double l_mul(double a, double b, int bits) {
  const int l = bits <= 3 ? bits : bits == 4 ? 3 : 4;
  return affine_product(a, b, bits, bits == 0 ? 0 : std::ldexp(1.0, -l));
}

TEST(GemmLMul, MultipliesAllPairsOfCodesByTheFormula) {
  struct Case {
    const char *a, *b;
    int own_bits;
  };
  Random random(40);
  for (const Case &pair : {Case{"e4m3fn", "e4m3fn", 3}, Case{"e4m3", "e5m2", 3}, Case{"e5m2", "e5m2", 2},
                           Case{"e3m4", "e2m1fn", 4}, Case{"int8", "int8", 6}, Case{"int4", "e3m0", 2},
                           Case{"e3m0", "e3m0", 0}, Case{"int2", "uint4", 3}, Case{"q1_6", "nf4", 23}}) {
    AllGemms problem(pair.a, pair.b);
    problem.request.arithmetic = LPT_GEMM_ARITHMETIC_L_MUL;
    for (const int bits : {0, 1, 2, 3, 4, 5, 7, 23}) {
      if (!is_taken(random, 2)) continue;
      problem.request.arithmetic_bits = bits;
      run_row(l_mul_kernel(), problem.request);
      for (int64_t i = 0; i < problem.request.m; ++i) {
        for (int64_t j = 0; j < problem.request.n; ++j) {
          const double a = element_at(problem.a, i, 0), b = element_at(problem.b, j, 0);
          ASSERT_TRUE(is_same(problem.c.get(i, j), l_mul(a, b, bits == 0 ? pair.own_bits : bits)))
              << problem.name << " bits " << bits << ": " << a << " · " << b;
        }
      }
    }
  }
}

TEST(GemmPiecewiseAffine, MultipliesAllPairsOfCodesByTheFormula) {
  for (const char *format : {"e4m3fn", "e5m2", "e3m4", "int8", "nf4"}) {
    AllGemms problem(format, format);
    problem.request.arithmetic = LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE;
    run_row(affine_kernel(), problem.request);
    for (int64_t i = 0; i < problem.request.m; ++i) {
      for (int64_t j = 0; j < problem.request.n; ++j) {
        const double a = element_at(problem.a, i, 0), b = element_at(problem.b, j, 0);
        ASSERT_TRUE(is_same(problem.c.get(i, j), affine_product(a, b, 52, 0))) << format << ": " << a << " · " << b;
      }
    }
  }
}

// Returns the products of m × n values, with one step of k.
std::vector<double> products(const KernelEntry<GemmRequest> &kernel, lpt_gemm_arithmetic arithmetic, int bits,
                             const std::vector<float> &a, const std::vector<float> &b) {
  Problem problem("f32", "f32", LPT_FORMAT_F32, false, true, static_cast<int64_t>(a.size()),
                  static_cast<int64_t>(b.size()), 1);
  for (size_t i = 0; i < a.size(); ++i) problem.a.set(static_cast<int64_t>(i), 0, a[i]);
  for (size_t j = 0; j < b.size(); ++j) problem.b.set(static_cast<int64_t>(j), 0, b[j]);
  problem.request.arithmetic = arithmetic;
  problem.request.arithmetic_bits = bits;
  run_row(kernel, problem.request);
  std::vector<double> found;
  for (int64_t i = 0; i < problem.request.m; ++i) {
    for (int64_t j = 0; j < problem.request.n; ++j) found.push_back(element_at(problem.c, i, j));
  }
  return found;
}

struct Errors {
  double mean = 0, magnitude = 0, rms = 0, least = 1, largest = -1;
};

// Returns errors of products relative to the products of the values truncated to `bits`.
Errors errors_of(const std::vector<double> &found, const std::vector<float> &a, const std::vector<float> &b, int bits) {
  const auto cut = [&](float value) {
    const Parts parts = parts_of(std::fabs(static_cast<double>(value)), bits);
    return std::copysign(std::ldexp(1 + parts.fraction, parts.exponent), static_cast<double>(value));
  };
  Errors errors;
  for (size_t at = 0; at < found.size(); ++at) {
    const double error = found[at] / (cut(a[at / b.size()]) * cut(b[at % b.size()])) - 1;
    errors.mean += error;
    errors.magnitude += std::fabs(error);
    errors.rms += error * error;
    errors.least = std::min(errors.least, error);
    errors.largest = std::max(errors.largest, error);
  }
  const auto count = static_cast<double>(found.size());
  errors.mean /= count;
  errors.magnitude /= count;
  errors.rms = std::sqrt(errors.rms / count);
  return errors;
}

std::vector<float> all_fractions(int bits) {
  std::vector<float> numbers;
  for (int i = 0; i < 1 << bits; ++i) numbers.push_back(1 + std::ldexp(static_cast<float>(i), -bits));
  return numbers;
}

// All pairs of fractions of m bits. Tolerance: 2 % of the published figures, which have two or three digits.
TEST(GemmLMul, ErrsAsSimulatedOverAllFractions) {
  struct Simulated {
    int bits;
    double mean, rms;
  };
  for (const Simulated &simulated : {Simulated{2, .147, .153}, Simulated{3, .049, .060}, Simulated{4, .049, .059},
                                     Simulated{7, .0041, .031}, Simulated{8, .0041, .031}}) {
    const std::vector<float> numbers = all_fractions(simulated.bits);
    const Errors errors =
        errors_of(products(l_mul_kernel(), LPT_GEMM_ARITHMETIC_L_MUL, simulated.bits, numbers, numbers), numbers,
                  numbers, simulated.bits);
    std::printf("L-Mul, %d bits: mean %+.5f rms %.5f range %+.4f %+.4f\n", simulated.bits, errors.mean, errors.rms,
                errors.least, errors.largest);
    EXPECT_NEAR(errors.mean, simulated.mean, .02 * simulated.mean) << simulated.bits;
    EXPECT_NEAR(errors.rms, simulated.rms, .02 * simulated.rms) << simulated.bits;
    if (simulated.bits < 7) continue;
    EXPECT_NEAR(errors.least, -.073, .02 * .073);
    EXPECT_NEAR(errors.largest, .0625, .02 * .0625);
  }
}

// The quantiles (i + 1/2) / count of the normal distribution. A mean over all pairs is then an integral, without sampling error.
std::vector<float> normal_quantiles(int count) {
  std::vector<float> numbers;
  for (int i = 0; i < count; ++i) {
    double low = -8, high = 8;
    for (int step = 0; step < 60; ++step) {
      const double middle = (low + high) / 2;
      (std::erfc(-middle / std::sqrt(2.0)) / 2 < (i + 0.5) / count ? low : high) = middle;
    }
    numbers.push_back(static_cast<float>(low));
  }
  return numbers;
}

// Products of normal numbers, relative to the exact products. Truncated to 4 bits, they are as precise as products in e4m3 (mean
// error .0305); to 3 bits, more precise than in e5m2 (.0608).
TEST(GemmLMul, IsAsPreciseAsFloatsOfEightBits) {
  const std::vector<float> a = normal_quantiles(1000);
  const auto error = [&](int bits) {
    return errors_of(products(l_mul_kernel(), LPT_GEMM_ARITHMETIC_L_MUL, bits, a, a), a, a, 23).magnitude;
  };
  const double of_4 = error(4), of_3 = error(3), of_7 = error(7);
  std::printf("mean error of L-Mul: 4 bits %.4f, 3 bits %.4f, 7 bits %.4f\n", of_4, of_3, of_7);
  EXPECT_LE(of_4, 1.05 * .0305);
  EXPECT_LE(of_3, .85 * .0608);
  EXPECT_NEAR(of_7, .026, 5e-4);
}

TEST(GemmPiecewiseAffine, NeverOverestimatesAndMissesAtMostANinth) {
  std::vector<float> a = normal_quantiles(1000), b = a;
  a[0] = 1.5f;
  b[0] = -1.5f;
  a[1] = 0x1p-30f;
  b[1] = -4;
  const std::vector<double> found = products(affine_kernel(), LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE, 0, a, b);
  const std::vector<double> mirrored = products(affine_kernel(), LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE, 0, b, a);
  const Errors errors = errors_of(found, a, b, 23);
  std::printf("piecewise affine: mean %.4f rms %.4f worst %.5f\n", errors.magnitude, errors.rms, errors.least);
  EXPECT_LE(errors.largest, 0);
  EXPECT_DOUBLE_EQ(errors.least, -1.0 / 9);
  EXPECT_EQ(found[0], -2.0);
  EXPECT_NEAR(errors.magnitude, .0382, 2e-4);
  EXPECT_NEAR(errors.rms, .0479, 2e-4);
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(found[i * 1000 + 1], -4 * static_cast<double>(a[i]));
    ASSERT_EQ(found[1000 + i], 0x1p-30 * static_cast<double>(b[i]));
    for (size_t j = 0; j < b.size(); ++j) ASSERT_EQ(found[i * 1000 + j], mirrored[j * 1000 + i]);
  }
}

TEST(GemmFields, ClampAtTheEndsOfF32) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float largest = std::numeric_limits<float>::max();
  const std::vector<float> numbers = {0.0f, -0.0f,    0x1p-130f, 0x1p-126f, -0x1p-63f,
                                      1.0f, 0x1p100f, -largest,  infinity,  nan};
  const auto gemm_at = [&](const std::vector<double> &found, size_t i, size_t j) {
    return found[i * numbers.size() + j];
  };
  for (const bool is_l_mul : {true, false}) {
    const std::vector<double> found =
        is_l_mul ? products(l_mul_kernel(), LPT_GEMM_ARITHMETIC_L_MUL, 7, numbers, numbers)
                 : products(affine_kernel(), LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE, 0, numbers, numbers);
    for (size_t i = 0; i < 8; ++i) {
      for (size_t j = 0; j < 3; ++j) EXPECT_EQ(gemm_at(found, i, j), 0) << i << " " << j;  // 2^-130 counts as zero
    }
    EXPECT_EQ(gemm_at(found, 3, 4), 0);                             // below 2^-126
    EXPECT_EQ(gemm_at(found, 6, 6), static_cast<double>(largest));  // beyond f32
    EXPECT_EQ(gemm_at(found, 6, 7), -static_cast<double>(largest));
    EXPECT_EQ(gemm_at(found, 4, 4), (is_l_mul ? 1.0625 : 1) * 0x1p-126);
    EXPECT_EQ(gemm_at(found, 8, 7), -static_cast<double>(infinity));
    EXPECT_TRUE(std::isnan(gemm_at(found, 8, 0)));
    EXPECT_TRUE(std::isnan(gemm_at(found, 9, 5)));
  }
}

// Sums with every option of a GEMM: scales, zero points, terms, and the formats of c.
TEST(GemmFields, AddUpInF32AndScaleOnce) {
  Random random(43);
  const char *const operands[] = {"f32",       "bf16",           "f16_tensor", "e4m3fn_row", "mxfp8_e4m3",
                                  "nvfp4",     "e4m3fn_1x128",   "int8_row",   "uint4_1x32", "nf4",
                                  "int4_1x32", "e4m3fn_128x128", "ternary",    "mxfp6_e2m3", "e4m3fn/2x8/e4m3fn"};
  const auto width_of = [](lpt_format element) {
    const std::string name = format_name(element);
    return name == "f32" || name == "nf4" ? 23
           : name == "f16"                ? 10
           : name == "bf16"               ? 7
           : name == "int8"               ? 6
           : name == "int4"               ? 2
           : name == "e2m1fn"             ? 1
           : name == "ternary"            ? 0
                                          : 3;
  };
  for (const char *a_format : operands) {
    for (const char *b_format : operands) {
      if (!is_taken(random, 3)) continue;
      SmallProblem problem(random, a_format, b_format, random.of(kDepths));
      const bool is_l_mul = random.chance(0.5);
      const int given = is_l_mul && random.chance(0.5) ? 1 + static_cast<int>(random.below(23)) : 0;
      problem.request.arithmetic = is_l_mul ? LPT_GEMM_ARITHMETIC_L_MUL : LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE;
      problem.request.arithmetic_bits = given;
      const int own = std::max(width_of(problem.a.format().element), width_of(problem.b.format().element));
      const LaneReader a = a_of(problem), b = b_of(problem);
      check_sums(is_l_mul ? l_mul_kernel() : affine_kernel(), problem,
                 [&](int64_t i, int64_t j, int64_t begin, int64_t end) {
                   float sum = 0;
                   for (int64_t p = begin; p < end; ++p) {
                     const double left = a.element(i, p), right = b.element(j, p);
                     sum += static_cast<float>(is_l_mul ? l_mul(left, right, given == 0 ? own : given)
                                                        : affine_product(left, right, 23, 0));
                   }
                   return sum;
                 });
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace lpt::test
