// Every row of the matrix product against sums in double, computed from the definitions of the formats.
#include "kernels/gemm/gemm.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/guarded.hpp"

namespace lpt::test {
namespace {

// Error of a sum of k products in f32: at most kSumError · sqrt(k) · eps · (sum of |products|, beta and bias terms). With one
// product that leaves room for the roundings of scales, alpha, beta and bias; measured is below 1.
constexpr double kSumError = 4;
constexpr double kEpsF32 = 0x1p-23;
constexpr double kTiny = 1e-37;  // below this the bf16 row may flush

const char *const kOperands[] = {
    "f32",
    "f16",
    "bf16",
    "e4m3fn",
    "e4m3",
    "e5m2",
    "e2m1fn",
    "int8",
    "f16_tensor",
    "int8_tensor",
    "e4m3fn_tensor",
    "e4m3_tensor",
    "e4m3fn_row",
    "e4m3fn_1x128",
    "e5m2_tensor",
    "e5m2_row",
    "mxfp8_e4m3",
    "e4m3fn_128x128",
    "mxfp8_e5m2",
    "mxfp4",
    "nvfp4",
    "int8_row",
    "int8/1x64/f32",
    "e4m3fn/1x4/e8m0fnu",
    "e2m1fn/16x16/e4m3fn/f32",
    "e4m3fn/column/e8m0fnu/f32",
    "e4m3fn/2x8/e4m3fn",
};
const lpt_format kOutputs[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
const int64_t kExtents[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 95, 96, 97, 127, 129};
const int64_t kDepths[] = {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 300};

lpt_format format_named(const char *name) {
  lpt_format format = LPT_FORMAT_NONE;
  const Status status = format_from_name(name, format);
  EXPECT_TRUE(status.is_ok()) << status.message();
  return format;
}

// The number behind a code of an 8- or 4-bit element, from the standard's own description.
double number_of(lpt_format element, uint32_t code) {
  const auto magnitude = [&](int exponent_bits, int mantissa_bits, int bias) {
    const int exponent = static_cast<int>(code >> mantissa_bits) & ((1 << exponent_bits) - 1);
    const int mantissa = static_cast<int>(code) & ((1 << mantissa_bits) - 1);
    const double fraction = std::ldexp(mantissa, -mantissa_bits);
    const double value = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
    return (code >> (exponent_bits + mantissa_bits)) & 1 ? -value : value;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  switch (element) {
    case LPT_FORMAT_F32:
      return static_cast<double>(float_of_bits(code));
    case LPT_FORMAT_BF16:
      return static_cast<double>(float_of_bits(code << 16));
    case LPT_FORMAT_F16:
      return (code & 0x7FFF) >= 0x7C00 ? ((code & 0x3FF) ? nan : infinity) : magnitude(5, 10, 15);
    case LPT_FORMAT_E4M3FN:
      return (code & 0x7F) == 0x7F ? nan : magnitude(4, 3, 7);
    case LPT_FORMAT_E4M3:
      return (code & 0x7F) >= 0x78 ? ((code & 7) ? nan : infinity) : magnitude(4, 3, 7);
    case LPT_FORMAT_E5M2:
      return (code & 0x7F) >= 0x7C ? ((code & 3) ? nan : infinity) : magnitude(5, 2, 15);
    case LPT_FORMAT_E2M1FN:
      return magnitude(2, 1, 1);
    case LPT_FORMAT_INT8:
      return static_cast<int8_t>(code);
    case LPT_FORMAT_E8M0FNU:
      return code == 0xFF ? nan : std::ldexp(1.0, static_cast<int>(code) - 127);
    default:
      return nan;
  }
}

double element_at(const Matrix &matrix, int64_t row, int64_t column) {
  if (matrix.format().element == LPT_FORMAT_F64) {
    return reinterpret_cast<const double *>(matrix.data.data())[matrix.index(row, column)];
  }
  return number_of(matrix.format().element, matrix.code(row, column));
}

double value_at(const Matrix &matrix, int64_t row, int64_t column) {
  double value = element_at(matrix, row, column);
  if (matrix.format().has_block_scale()) {
    const BlockGrid grid = matrix.grid();
    value *=
        number_of(matrix.format().block_scale, matrix.scale_code(row / grid.block_rows, column / grid.block_columns));
  }
  return matrix.format().has_tensor_scale() ? value * static_cast<double>(matrix.tensor_scale) : value;
}

void set_scale(Matrix &matrix, int64_t block_row, int64_t block_column, uint32_t code) {
  const int64_t at = block_row * matrix.scale_stride() + block_column;
  if (matrix.format().block_scale == LPT_FORMAT_F32) {
    std::memcpy(matrix.scales.data() + 4 * at, &code, sizeof code);
  } else {
    matrix.scales.data()[at] = static_cast<uint8_t>(code);
  }
}

// Finite numbers of moderate size, scales that differ from block to block.
void fill(Random &random, Matrix &matrix) {
  const lpt_format element = matrix.format().element;
  for (int64_t row = 0; row < matrix.rows(); ++row) {
    for (int64_t column = 0; column < matrix.columns(); ++column) {
      if (element == LPT_FORMAT_F64) {
        reinterpret_cast<double *>(matrix.data.data())[matrix.index(row, column)] = random.normal();
        continue;
      }
      if (element_bits(element) > 8) {
        matrix.set(row, column, static_cast<float>(random.normal()));
        continue;
      }
      uint32_t code;
      do {
        code = static_cast<uint32_t>(random.below(int64_t{1} << element_bits(element)));
      } while (!(std::fabs(number_of(element, code)) <= (element == LPT_FORMAT_INT8 ? 128 : 16)));
      matrix.set_code(row, column, code);
    }
  }
  matrix.tensor_scale = 0.375f + static_cast<float>(random.uniform());
  if (!matrix.format().has_block_scale()) return;
  for (int64_t row = 0; row < matrix.grid().rows; ++row) {
    for (int64_t column = 0; column < matrix.grid().columns; ++column) {
      const auto scale = static_cast<float>(std::exp2(4 * random.uniform() - 2));
      uint32_t code;
      std::memcpy(&code, &scale, sizeof code);
      if (matrix.format().block_scale == LPT_FORMAT_E8M0FNU) code = 124 + static_cast<uint32_t>(random.below(6));
      if (matrix.format().block_scale == LPT_FORMAT_E4M3FN) code = 1 + static_cast<uint32_t>(random.below(0x50));
      set_scale(matrix, row, column, code);
    }
  }
}

// A product with all that it needs.
struct Problem {
  Problem(const char *a_format, const char *b_format, lpt_format c_format, bool is_a_transposed, bool is_b_transposed,
          int64_t m, int64_t n, int64_t k, int64_t padding = 0)
      : a(format_named(a_format), is_a_transposed ? k : m, is_a_transposed ? m : k, padding),
        b(format_named(b_format), is_b_transposed ? n : k, is_b_transposed ? k : n, padding),
        c(c_format, m, n, padding),
        padding(padding),
        bias(static_cast<size_t>(n)),
        wide_bias(static_cast<size_t>(n)) {
    request = GemmRequest{.a = a.view(),
                          .b = b.view(),
                          .c = c.view(),
                          .is_a_transposed = is_a_transposed,
                          .is_b_transposed = is_b_transposed,
                          .m = m,
                          .n = n,
                          .k = k,
                          .first_row = 0,
                          .first_column = 0,
                          .alpha = 1,
                          .beta = 0,
                          .bias = nullptr,
                          .is_f64 = a.format().element == LPT_FORMAT_F64 || b.format().element == LPT_FORMAT_F64 ||
                                    c_format == LPT_FORMAT_F64,
                          .scratch = nullptr};
    name = std::string(a_format) + " x " + b_format + " -> " + format_name(c_format) +
           text(" %s%s m %lld n %lld k %lld padding %lld", is_a_transposed ? "t" : "n", is_b_transposed ? "t" : "n",
                static_cast<long long>(m), static_cast<long long>(n), static_cast<long long>(k),
                static_cast<long long>(padding));
  }

  void draw(Random &random) {
    fill(random, a);
    fill(random, b);
    fill(random, c);
    for (size_t j = 0; j < bias.size(); ++j) {
      bias[j] = static_cast<float>(random.normal());
      wide_bias[j] = static_cast<double>(bias[j]);
    }
  }

  void add_terms(double alpha, double beta, bool has_bias) {
    request.alpha = alpha;
    request.beta = beta;
    request.bias = nullptr;
    if (has_bias) request.bias = request.is_f64 ? static_cast<const void *>(wide_bias.data()) : bias.data();
    name += text(" alpha %g beta %g bias %d", alpha, beta, has_bias);
  }

  double a_at(int64_t i, int64_t p) const { return request.is_a_transposed ? value_at(a, p, i) : value_at(a, i, p); }
  double b_at(int64_t p, int64_t j) const { return request.is_b_transposed ? value_at(b, j, p) : value_at(b, p, j); }

  // Rows of a and columns of b, one after the other.
  std::vector<double> a_lanes() const {
    std::vector<double> values(static_cast<size_t>(request.m * request.k));
    for (size_t at = 0; at < values.size(); ++at) {
      values[at] = a_at(static_cast<int64_t>(at) / request.k, static_cast<int64_t>(at) % request.k);
    }
    return values;
  }
  std::vector<double> b_lanes() const {
    std::vector<double> values(static_cast<size_t>(request.n * request.k));
    for (size_t at = 0; at < values.size(); ++at) {
      values[at] = b_at(static_cast<int64_t>(at) % request.k, static_cast<int64_t>(at) / request.k);
    }
    return values;
  }

  Matrix a, b, c;
  int64_t padding;
  std::vector<float> bias;
  std::vector<double> wide_bias;
  GemmRequest request;
  std::string name;
};

class Gemm : public testing::TestWithParam<size_t> {
 protected:
  const GemmRow &row() const { return gemm_kernels()[GetParam()]; }

  void SetUp() override {
    const CpuFeatures missing = row().needs & ~cpu_features();
    if (missing != 0) GTEST_SKIP() << row().name << " needs " << feature_names(missing);
  }

  bool takes(const GemmRequest &request) const { return row().refuses == nullptr || row().refuses(request) == nullptr; }

  // Runs a request in scratch of exactly the size that was asked for.
  void run(GemmRequest request) const {
    Guarded scratch(row().scratch_bytes(request));
    request.scratch = reinterpret_cast<std::byte *>(scratch.data());
    row().run(request);
    EXPECT_TRUE(scratch.is_intact()) << row().name << " writes past its scratch";
  }

  // Runs a problem and judges every number of c, or `samples` of them.
  void check(Problem &problem, Random &random, int64_t samples = 0) const;
};

void Gemm::check(Problem &problem, Random &random, int64_t samples) const {
  const GemmRequest &request = problem.request;
  const auto c_before = std::make_unique<Matrix>(problem.c.format().id, request.m, request.n, problem.padding);
  if (problem.c.data.bytes() > 0) {
    std::memcpy(c_before->data.data(), problem.c.data.data(), problem.c.data.bytes());
  }
  run(request);
  ASSERT_TRUE(problem.c.is_intact()) << row().name << " " << problem.name;

  const std::vector<double> a_values = problem.a_lanes();
  const std::vector<double> b_values = problem.b_lanes();
  const lpt_format c_format = problem.c.format().element;
  const double c_eps = c_format == LPT_FORMAT_BF16  ? 0x1p-8
                       : c_format == LPT_FORMAT_F16 ? 0x1p-11
                       : c_format == LPT_FORMAT_F32 ? 0x1p-24
                                                    : 0;
  const double c_tiny = c_format == LPT_FORMAT_F16 ? 0x1p-25 : kTiny;  // half a step of subnormals
  const double eps = request.is_f64 ? 0x1p-52 : kEpsF32;
  const int64_t count = samples == 0 ? request.m * request.n : samples;
  for (int64_t at = 0; at < count; ++at) {
    const int64_t i = samples == 0 ? at / request.n : random.below(request.m);
    const int64_t j = samples == 0 ? at % request.n : random.below(request.n);
    double sum = 0, total = 0;
    for (int64_t p = 0; p < request.k; ++p) {
      const double product =
          a_values[static_cast<size_t>(i * request.k + p)] * b_values[static_cast<size_t>(j * request.k + p)];
      sum += product;
      total += std::fabs(product);
    }
    const double old_term = request.beta == 0 ? 0 : request.beta * element_at(*c_before, i, j);
    const double bias_term = request.bias == nullptr ? 0 : problem.wide_bias[static_cast<size_t>(j)];
    const double expected = request.alpha * sum + old_term + bias_term;
    total = std::fabs(request.alpha) * total + std::fabs(old_term) + std::fabs(bias_term);
    const double bound = kSumError * std::sqrt(static_cast<double>(request.k) + 1) * eps * total;
    const double found = element_at(problem.c, i, j);
    if (c_format == LPT_FORMAT_F16 && std::isinf(found) && std::fabs(expected) + bound >= 65520) continue;
    ASSERT_LE(std::fabs(found - expected), bound + c_eps * (std::fabs(expected) + bound) + c_tiny)
        << row().name << " " << problem.name << " at " << i << ", " << j << ": " << found << " for " << expected;
  }
}

std::string name_of_row(const testing::TestParamInfo<size_t> &info) { return gemm_kernels()[info.param].name; }

INSTANTIATE_TEST_SUITE_P(Rows, Gemm, testing::Range(size_t{0}, gemm_kernels().size()), name_of_row);

TEST_P(Gemm, MultipliesAllPairsOfFormats) {
  Random random(1);
  int64_t taken = 0;
  for (const char *a_format : kOperands) {
    for (const char *b_format : kOperands) {
      for (int repetition = 0; repetition < 2; ++repetition) {
        const int64_t layout = random.below(4);
        Problem problem(a_format, b_format, random.of(kOutputs), layout & 1, layout & 2, random.of(kExtents),
                        random.of(kExtents), random.of(kDepths), random.below(3));
        if (!takes(problem.request)) continue;
        ++taken;
        problem.draw(random);
        problem.add_terms(random.chance(0.5) ? 1 : -1.5, random.chance(0.5) ? 0 : 0.75, random.chance(0.5));
        check(problem, random);
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(taken, 300);
}

TEST_P(Gemm, MultipliesAllSmallShapes) {
  Random random(2);
  for (int64_t m : {1, 2, 7, 8, 9, 15, 16, 17, 33}) {
    for (int64_t n : {1, 2, 8, 15, 16, 17, 24, 25, 31, 32, 33, 49, 65}) {
      for (int64_t k : {1, 2, 3, 15, 16, 17, 31, 32, 33, 65}) {
        const int64_t layout = random.below(4);
        const bool is_narrow = random.chance(0.3);
        Problem problem(is_narrow ? "e2m1fn" : "e4m3fn", is_narrow ? "mxfp4" : "bf16", LPT_FORMAT_F32, layout & 1,
                        layout & 2, m, n, k);
        if (!takes(problem.request)) continue;
        problem.draw(random);
        check(problem, random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Gemm, MultipliesMoreThanIsPackedAtOnce) {
  Random random(3);
  const bool is_reference = GetParam() + 1 == gemm_kernels().size();
  for (int layout = 0; layout < 4; ++layout) {
    Problem problem("e4m3fn_tensor", "mxfp8_e4m3", LPT_FORMAT_F32, layout & 1, layout & 2, is_reference ? 70 : 300,
                    is_reference ? 70 : 700, 2050);
    problem.draw(random);
    problem.add_terms(1, 0.5, true);
    check(problem, random, 2000);
  }
  Problem deep("bf16", "e4m3fn_tensor", LPT_FORMAT_F32, false, true, 40, 130, 20001);
  deep.draw(random);
  check(deep, random, 500);
}

TEST_P(Gemm, ComputesInF64WhenAViewIsF64) {
  Random random(4);
  Problem wide("f64", "f64", LPT_FORMAT_F64, false, true, 33, 70, 65);
  Problem mixed("f64", "nvfp4", LPT_FORMAT_F32, true, false, 17, 66, 129);
  Problem narrow("f32", "f32", LPT_FORMAT_F64, true, true, 5, 9, 31);
  for (Problem *problem : {&wide, &mixed, &narrow}) {
    if (!takes(problem->request)) continue;
    problem->draw(random);
    problem->add_terms(0.5, 2, true);
    check(*problem, random);
  }
  EXPECT_EQ(takes(wide.request), GetParam() + 1 == gemm_kernels().size());
}

TEST_P(Gemm, IsExactOnSmallIntegers) {
  Random random(5);
  for (const char *format : {"bf16", "e4m3fn", "e4m3", "e5m2", "e2m1fn", "int8", "f16", "f32"}) {
    for (int layout = 0; layout < 4; ++layout) {
      Problem problem(format, format, LPT_FORMAT_F32, layout & 1, layout & 2, 67, 100, 301);
      if (!takes(problem.request)) continue;
      for (Matrix *matrix : {&problem.a, &problem.b}) {
        for (int64_t row = 0; row < matrix->rows(); ++row) {
          for (int64_t column = 0; column < matrix->columns(); ++column) {
            const auto value = static_cast<float>(random.below(9) - 4);
            if (matrix->format().element == LPT_FORMAT_F32) {
              matrix->set(row, column, value);
            } else {
              matrix->set_code(row, column,
                               encode(element_of(matrix->format().element), value, LPT_ROUNDING_NEAREST_EVEN,
                                      LPT_OVERFLOW_SATURATE, 0, 0));
            }
          }
        }
      }
      run(problem.request);
      const std::vector<double> a_values = problem.a_lanes();
      const std::vector<double> b_values = problem.b_lanes();
      for (int64_t i = 0; i < 67; ++i) {
        for (int64_t j = 0; j < 100; ++j) {
          double sum = 0;
          for (int64_t p = 0; p < 301; ++p) {
            sum += a_values[static_cast<size_t>(i * 301 + p)] * b_values[static_cast<size_t>(j * 301 + p)];
          }
          ASSERT_EQ(static_cast<double>(problem.c.get(i, j)), sum) << row().name << " " << problem.name;
        }
      }
    }
  }
}

TEST_P(Gemm, DecodesEveryCode) {
  for (const char *format : {"e4m3fn", "e4m3", "e5m2", "int8", "e2m1fn"}) {
    for (int layout = 0; layout < 4; ++layout) {
      const bool is_a_transposed = layout & 1, is_b_transposed = layout & 2;
      Problem problem(format, "bf16", LPT_FORMAT_F32, is_a_transposed, is_b_transposed, 256, 1, 1);
      Problem mirrored("bf16", format, LPT_FORMAT_F32, is_a_transposed, is_b_transposed, 1, 256, 1);
      const uint32_t codes = 1u << element_bits(problem.a.format().element);
      for (int64_t i = 0; i < 256; ++i) {
        const uint32_t code = static_cast<uint32_t>(i) % codes;
        problem.a.set_code(is_a_transposed ? 0 : i, is_a_transposed ? i : 0, code);
        mirrored.b.set_code(is_b_transposed ? i : 0, is_b_transposed ? 0 : i, code);
      }
      problem.b.set(0, 0, 1);
      mirrored.a.set(0, 0, 1);
      run(problem.request);
      run(mirrored.request);
      for (int64_t i = 0; i < 256; ++i) {
        const double expected = std::fabs(number_of(problem.a.format().element, static_cast<uint32_t>(i) % codes));
        for (const double found :
             {static_cast<double>(problem.c.get(i, 0)), static_cast<double>(mirrored.c.get(0, i))}) {
          ASSERT_TRUE(std::isnan(expected) ? std::isnan(found) : std::fabs(found) == expected)
              << row().name << " " << format << " code " << i << ": " << found << " for " << expected;
        }
      }
    }
  }
}

TEST_P(Gemm, RoundsCOnceToNearestEven) {
  struct Tie {
    float factor, other;
    lpt_format format;
    uint32_t code;
  };
  const Tie ties[] = {{257, 1, LPT_FORMAT_BF16, 0x4380},     {259, 1, LPT_FORMAT_BF16, 0x4382},
                      {-257, 1, LPT_FORMAT_BF16, 0xC380},    {2049, 1, LPT_FORMAT_F16, 0x6800},
                      {2051, 1, LPT_FORMAT_F16, 0x6802},     {65520, 1, LPT_FORMAT_F16, 0x7C00},
                      {3, 0x1p-25f, LPT_FORMAT_F16, 0x0002}, {1, 0x1p-25f, LPT_FORMAT_F16, 0x0000}};
  for (const Tie &tie : ties) {
    for (const char *format : {"f32", "f64"}) {
      Problem problem(format, format, tie.format, false, false, 19, 37, 1);
      if (!takes(problem.request)) continue;
      for (int64_t i = 0; i < 19; ++i) problem.a.set(i, 0, tie.factor);
      for (int64_t j = 0; j < 37; ++j) problem.b.set(0, j, tie.other);
      run(problem.request);
      for (int64_t i = 0; i < 19; ++i) {
        for (int64_t j = 0; j < 37; ++j) ASSERT_EQ(problem.c.code(i, j), tie.code) << tie.factor << " " << problem.name;
      }
    }
  }
}

TEST_P(Gemm, DoesNotDependOnHowCIsCut) {
  Random random(6);
  for (const char *format : {"e4m3fn_row", "mxfp4", "bf16", "f32"}) {
    for (int layout = 0; layout < 4; ++layout) {
      Problem whole(format, format, LPT_FORMAT_F32, layout & 1, layout & 2, 200, 300, 133);
      if (!takes(whole.request)) continue;
      whole.draw(random);
      whole.add_terms(1.25, 0, true);
      run(whole.request);
      Matrix cut(LPT_FORMAT_F32, 200, 300);
      GemmRequest part = whole.request;
      part.c = cut.view();
      for (int64_t rows : {64, 128}) {
        for (part.first_row = 0; part.first_row < 200; part.first_row += rows) {
          part.m = std::min<int64_t>(rows, 200 - part.first_row);
          for (part.first_column = 0; part.first_column < 300; part.first_column += 64) {
            part.n = std::min<int64_t>(64, 300 - part.first_column);
            run(part);
          }
        }
        ASSERT_TRUE(whole.c.data.equals(cut.data)) << row().name << " " << whole.name;
      }
    }
  }
}

TEST_P(Gemm, GivesTheSameBitsTwice) {
  Random random(7);
  Problem problem("nvfp4", "e4m3fn_tensor", LPT_FORMAT_BF16, false, true, 100, 100, 200);
  problem.draw(random);
  run(problem.request);
  Matrix first(LPT_FORMAT_BF16, 100, 100);
  std::memcpy(first.data.data(), problem.c.data.data(), problem.c.data.bytes());
  run(problem.request);
  EXPECT_TRUE(problem.c.data.equals(first.data));
}

TEST_P(Gemm, LeavesOperandsAndTheGapsOfCAlone) {
  Random random(8);
  for (const lpt_format c_format : kOutputs) {
    Problem problem("mxfp8_e5m2", "e4m3fn_128x128", c_format, true, true, 37, 53, 130, 11);
    problem.draw(random);
    std::vector<uint8_t> operands(problem.a.data.data(), problem.a.data.data() + problem.a.data.bytes());
    operands.insert(operands.end(), problem.b.data.data(), problem.b.data.data() + problem.b.data.bytes());
    run(problem.request);
    EXPECT_TRUE(problem.a.is_intact() && problem.b.is_intact() && problem.c.is_intact());
    EXPECT_EQ(std::memcmp(operands.data(), problem.a.data.data(), problem.a.data.bytes()), 0);
    EXPECT_EQ(std::memcmp(operands.data() + problem.a.data.bytes(), problem.b.data.data(), problem.b.data.bytes()), 0);
    const int64_t bytes = element_bits(c_format) / 8;
    for (int64_t i = 0; i < 37; ++i) {
      for (int64_t at = problem.c.index(i, 53) * bytes;
           at < (problem.c.index(i, 0) + problem.request.c.row_stride) * bytes; ++at) {
        ASSERT_EQ(problem.c.data.data()[at], Guarded::kFill) << row().name << " row " << i;
      }
    }
  }
}

TEST_P(Gemm, DoesNotReadCWithoutBeta) {
  Random random(9);
  Problem problem("bf16", "bf16", LPT_FORMAT_F32, false, false, 20, 40, 30);
  problem.draw(random);
  for (int64_t i = 0; i < 20; ++i) {
    for (int64_t j = 0; j < 40; ++j) problem.c.set(i, j, std::numeric_limits<float>::quiet_NaN());
  }
  check(problem, random);
}

TEST_P(Gemm, KeepsBetaAndBiasWithoutK) {
  Random random(10);
  Problem problem("e4m3fn_row", "nvfp4", LPT_FORMAT_F32, false, true, 9, 33, 0);
  if (!takes(problem.request)) {
    EXPECT_STREQ(row().refuses(problem.request), "without k there is nothing to multiply");
    return;
  }
  problem.draw(random);
  problem.add_terms(3, 0.5, true);
  check(problem, random);
}

// A special number reaches its own row or column of c, and nothing else: not through padding, not through a neighbour.
TEST_P(Gemm, PropagatesNanAndInfinity) {
  Random random(11);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const lpt_format c_format : kOutputs) {
    for (int64_t k : {1, 33, 64}) {
      for (int layout = 0; layout < 4; ++layout) {
        Problem problem("bf16", "bf16", c_format, layout & 1, layout & 2, 21, 35, k);
        problem.draw(random);
        for (int64_t p = 0; p < k; ++p) problem.b.set(layout & 2 ? 3 : p, layout & 2 ? p : 3, p + 1 == k ? 2 : 0);
        const auto set_a = [&](int64_t i, float value) {
          problem.a.set(layout & 1 ? k - 1 : i, layout & 1 ? i : k - 1, value);
        };
        set_a(4, nan);
        set_a(7, infinity);
        set_a(20, -infinity);
        problem.b.set(layout & 2 ? 34 : k - 1, layout & 2 ? k - 1 : 34, nan);
        run(problem.request);
        for (int64_t i = 0; i < 21; ++i) {
          for (int64_t j = 0; j < 35; ++j) {
            const float found = problem.c.get(i, j);
            const bool is_special_row = i == 4 || i == 7 || i == 20;
            if (i == 4 || j == 34) {
              ASSERT_TRUE(std::isnan(found)) << row().name << " " << problem.name << " at " << i << ", " << j;
            } else if (!is_special_row) {
              ASSERT_TRUE(std::isfinite(found)) << row().name << " " << problem.name << " at " << i << ", " << j;
            }
          }
        }
        EXPECT_EQ(problem.c.get(7, 3), infinity);
        EXPECT_EQ(problem.c.get(20, 3), -infinity);
      }
    }
  }
}

TEST_P(Gemm, ANanScaleSpoilsItsBlockOnly) {
  Random random(12);
  for (int layout = 0; layout < 4; ++layout) {
    Problem problem("mxfp4", "mxfp8_e4m3", LPT_FORMAT_F32, layout & 1, layout & 2, 40, 40, 40);
    problem.draw(random);
    set_scale(problem.a, 3, 1, 0xFF);  // a(3, 32…39), or as stored transposed a(32…39, 3)
    run(problem.request);
    for (int64_t i = 0; i < 40; ++i) {
      const bool is_spoilt = layout & 1 ? i >= 32 : i == 3;
      for (int64_t j = 0; j < 40; ++j) ASSERT_EQ(std::isnan(problem.c.get(i, j)), is_spoilt) << row().name << " " << i;
    }
  }
}

// Bytes that end where the process may not read on.
class PageEnd {
 public:
  explicit PageEnd(size_t bytes) : bytes_(bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = (bytes / page + 2) * page;
    start_ = static_cast<uint8_t *>(mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (start_ == MAP_FAILED || mprotect(start_ + mapped_ - page, page, PROT_NONE) != 0) std::abort();
    data_ = start_ + mapped_ - page - bytes_;
  }
  ~PageEnd() { munmap(start_, mapped_); }
  PageEnd(const PageEnd &) = delete;
  PageEnd &operator=(const PageEnd &) = delete;

  void *copy(const void *from) { return std::memcpy(data_, from, bytes_); }

 private:
  size_t bytes_, mapped_;
  uint8_t *start_, *data_;
};

// As an operation would hand over the last matrix of a buffer: the last row has no padding.
void move_to_page_end(Matrix &matrix, std::vector<std::unique_ptr<PageEnd>> &pages, MatrixView &view) {
  const Format &format = view.format;
  const int64_t elements = (view.rows - 1) * view.row_stride + view.columns;
  pages.push_back(std::make_unique<PageEnd>(static_cast<size_t>(row_bytes(format.element, elements))));
  view.data = pages.back()->copy(matrix.data.data());
  if (!format.has_block_scale()) return;
  const int64_t scales = (matrix.grid().rows - 1) * matrix.scale_stride() + matrix.grid().columns;
  pages.push_back(std::make_unique<PageEnd>(static_cast<size_t>(scales * element_bits(format.block_scale) / 8)));
  view.block_scales = pages.back()->copy(matrix.scales.data());
}

TEST_P(Gemm, ReadsAndWritesNothingPastItsMatrices) {
  Random random(13);
  for (const char *format : kOperands) {
    for (int layout = 0; layout < 4; ++layout) {
      Problem problem(format, format, random.of(kOutputs), layout & 1, layout & 2, 1 + random.below(40),
                      1 + random.below(40), 1 + random.below(70), random.below(2));
      if (!takes(problem.request)) continue;
      problem.draw(random);
      problem.add_terms(1, 1, true);
      std::vector<std::unique_ptr<PageEnd>> pages;
      move_to_page_end(problem.a, pages, problem.request.a);
      move_to_page_end(problem.b, pages, problem.request.b);
      move_to_page_end(problem.c, pages, problem.request.c);
      PageEnd bias(problem.bias.size() * sizeof(float));
      problem.request.bias = bias.copy(problem.bias.data());
      run(problem.request);  // a fault ends the test
    }
  }
}

TEST(GemmTable, EndsWithTheReferenceWhichRefusesNothing) {
  EXPECT_STREQ(gemm_kernels().back().name, "gemm_any_ref");
  EXPECT_EQ(gemm_kernels().back().refuses, nullptr);
  EXPECT_EQ(gemm_kernels().back().needs, 0u);
}

const char *refusal_of(const char *row_name, const Problem &problem) {
  for (const GemmRow &row : gemm_kernels()) {
    if (std::string(row.name) == row_name) {
      const char *reason = row.refuses(problem.request);
      return reason == nullptr ? "" : reason;
    }
  }
  return nullptr;  // not compiled
}

TEST(GemmTable, Bf16RowTakesWhatBf16HoldsExactly) {
  const char *const row = "gemm_any_x86_avx512_bf16";
  struct Expected {
    const char *a, *b;
    int64_t k;
    const char *reason;
  };
  const Expected table[] = {
      {"e4m3fn_tensor", "e5m2_row", 256, ""},
      {"mxfp8_e4m3", "nvfp4", 256, ""},
      {"e4m3fn/2x8/e4m3fn", "mxfp4", 256, ""},
      {"int8_row", "bf16", 256, ""},
      {"e4m3fn_1x128", "e4m3fn_128x128", 128, ""},
      {"e4m3fn_1x128", "e4m3fn", 129, "f32 scales along k are not exact in bf16"},
      {"e4m3fn", "int8/1x64/f32", 256, "f32 scales along k are not exact in bf16"},
      {"f32", "e4m3fn", 256, "f32 elements are not exact in bf16"},
      {"e4m3fn", "f16_tensor", 256, "f16 elements are not exact in bf16"},
      {"int8/1x16/e4m3fn", "e4m3fn", 256, "elements times their scales along k are not exact in bf16"},
      {"f64", "e4m3fn", 256, "f64 is computed by the reference row"},
  };
  for (const Expected &expected : table) {
    const Problem problem(expected.a, expected.b, LPT_FORMAT_F32, false, true, 64, 64, expected.k);
    const char *reason = refusal_of(row, problem);
    if (reason == nullptr) GTEST_SKIP() << row << " is not compiled";
    EXPECT_STREQ(reason, expected.reason) << problem.name;
  }
}

}  // namespace
}  // namespace lpt::test
