// GEMM problems for the tests of GEMM kernels, and their oracle: sums in double from the definitions of the formats.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/gemm/gemm.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {

inline const char *const kOperands[] = {
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
    "e2m1fn/1x8/e4m3fn",
    "e2m1fn/16x16/e4m3fn/f32",
    "e4m3fn/column/e8m0fnu/f32",
    "e4m3fn/2x8/e4m3fn",
    "e3m4",
    "e4m3fnuz",
    "e5m2fnuz",
    "e4m3b11fnuz",
    "e3m2fn",
    "e3m0",
    "q1_6",
    "int4",
    "int2",
    "int3",
    "ternary",
    "nf4",
    "bnb_fp4_1x64",
    "e2m0b1-finite",
    "ue2m1b1-finite",
    "e2m2b1-nan/1x16/f32",
    "e3m3b4-fnuz",
    "ue4m4b7-ieee",
    "e6m1b31-ieee",
    "mxfp6_e3m2",
    "mxfp6_e2m3",
    "int4_1x32",
    "uint4_1x32",
    "uint4_1x128",
    "uint8/1x16/f32/uint8",
};
inline constexpr lpt_format kOutputs[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
inline constexpr int64_t kExtents[] = {0,  1,  2,  3,  7,  8,  9,  15, 16, 17, 31,  32,
                                       33, 47, 48, 49, 63, 64, 65, 95, 96, 97, 127, 129};
inline constexpr int64_t kDepths[] = {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 300};

lpt_format format_named(const char *name);

// Value of a code by the standard, and of a matrix element without and with its scales.
double number_of(lpt_format element, uint32_t code);
double element_at(const Matrix &matrix, int64_t row, int64_t column);
double value_at(const Matrix &matrix, int64_t row, int64_t column);

// Returns all values, lane by lane: lanes are rows if k is adjacent, else columns.
std::vector<double> lanes_of(const Matrix &matrix, bool is_k_adjacent);

void set_scale(Matrix &matrix, int64_t block_row, int64_t block_column, uint32_t code);

// Fills with finite values of moderate magnitude, and scales that differ between blocks.
void fill(Random &random, Matrix &matrix);

// A GEMM with all of its operands.
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
                          .is_portable = false,
                          .may_accumulate_fast = false,
                          .options = {},
                          .arithmetic = LPT_GEMM_ARITHMETIC_NATIVE,
                          .arithmetic_bits = 0,
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

  // Rows of a and columns of b, concatenated.
  std::vector<double> a_lanes() const { return lanes_of(a, !request.is_a_transposed); }
  std::vector<double> b_lanes() const { return lanes_of(b, request.is_b_transposed); }

  Matrix a, b, c;
  int64_t padding;
  std::vector<float> bias;
  std::vector<double> wide_bias;
  GemmRequest request;
  std::string name;
};

// The expected c: sums in double of the operands and c, which the constructor reads before the run.
//
// A sum of k products in f32 may have an error of 4 · sqrt(k + 1) · eps · (Σ |products|, beta and bias terms). For one product
// this covers the roundings of scales, alpha, beta and bias. Measured errors are below a quarter of it. c is rounded once.
class Oracle {
 public:
  explicit Oracle(const Problem &problem);

  // Checks all elements of c, or `samples` random elements.
  void judge(const std::string &who);
  void judge(const std::string &who, Random &random, int64_t samples) const;

 private:
  // A sum of products, and of their magnitudes.
  struct Sum {
    double value = 0, magnitude = 0;
  };
  Sum sum_at(int64_t i, int64_t j) const;
  testing::AssertionResult is_near(int64_t i, int64_t j, const Sum &sum) const;

  const Problem &problem_;
  std::vector<double> a_, b_, c_before_;
  std::vector<Sum> sums_;  // of all elements of c, computed by the first check
};

// Returns the elements of c, row by row.
std::vector<double> numbers_of_c(const Problem &problem);

// Returns NULL if the kernel is not compiled.
const KernelEntry<GemmRequest> *find_kernel(const std::string &name);

// Runs a request in scratch of exactly the requested size.
void run_row(const KernelEntry<GemmRequest> &kernel, GemmRequest request);

// Returns the indices of the kernels in native arithmetic; the others emulate other hardware.
std::vector<size_t> native_rows();

// A test for each native kernel of the table.
class Gemm : public testing::TestWithParam<size_t> {
 protected:
  const KernelEntry<GemmRequest> &kernel() const { return gemm_kernels()[GetParam()]; }

  void SetUp() override {
    if (!is_here(kernel())) GTEST_SKIP() << kernel().name << " needs " << feature_names(missing_of(kernel()));
    const Problem problem("int8_tensor", "int8_tensor", LPT_FORMAT_F32, false, true, kGemmRowUnit, 1, 1);
    const char *const reason = kernel().unsupported_reason(problem.request);
    if (reason != nullptr && std::string(reason) == "b is not packed") GTEST_SKIP() << kernel().name << ": " << reason;
  }

  bool takes(const GemmRequest &request) const { return test::takes(kernel(), request); }

  // Returns the pair of formats of a test, or one that this kernel supports.
  struct Pair {
    const char *a, *b;
  };
  Pair pair(const char *a, const char *b) const {
    for (const Pair &pair : {Pair{a, b}, Pair{"int8_tensor", "int8_tensor"}}) {
      const Problem problem(pair.a, pair.b, LPT_FORMAT_F32, false, true, kGemmRowUnit, 1, 1);
      if (takes(problem.request)) return pair;
    }
    return {"int8_1x32", "int4_1x32"};  // of a kernel for groups
  }

  void run(const GemmRequest &request) const { run_row(kernel(), request); }

  // Runs a problem and checks every element of c, or `samples` of them.
  void check(Problem &problem, Random &random, int64_t samples = 0) const;
};

}  // namespace lpt::test
