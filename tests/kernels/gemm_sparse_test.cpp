// Every kernel of GEMMs by 2:4 matrices against the reference kernel bit for bit, and the reference kernel against sums in
// double.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/gemm/gemm.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"

namespace lpt::test {
namespace {

struct SparseCase {
  lpt_format a, b, c;
  int64_t m, n, k;
  int64_t padding = 0;
  double alpha = 1.0, beta = 0.0;
  bool has_bias = false;
};

std::string text_of(const SparseCase &s) {
  return format_name(s.a) + " " + format_name(s.b) + " " + format_name(s.c) +
         text(" %lldx%lldx%lld padding %lld alpha %g beta %g bias %d", static_cast<long long>(s.m),
              static_cast<long long>(s.n), static_cast<long long>(s.k), static_cast<long long>(s.padding), s.alpha,
              s.beta, s.has_bias);
}

// A 2:4 matrix: stored codes and their indices.
struct SparseMatrix {
  SparseMatrix(const SparseCase &s, Random &random)
      : format(s.b), columns(s.k), stored(s.b, s.n, (s.k + 3) / 4 * 2, s.padding), indices(bytes(s)) {
    stored.fill(random, Values::kNormal);
    static constexpr uint8_t kLegal[] = {0x4, 0x8, 0x9, 0xC, 0xD, 0xE};
    for (size_t i = 0; i < indices.bytes(); ++i) {
      indices.data()[i] = static_cast<uint8_t>(random.of(kLegal) | random.of(kLegal) << 4);
    }
    if (s.k % 4 != 0) end_within(s);
  }

  // In a short last group, stored columns are inside the matrix, or their codes are zero.
  void end_within(const SparseCase &s) {
    const int64_t group = s.k / 4;
    for (int64_t row = 0; row < s.n; ++row) {
      uint8_t &byte = indices.data()[row * stride() + group / 2];
      byte = static_cast<uint8_t>(group % 2 == 0 ? (byte & 0xF0) | 0x4 : (byte & 0x0F) | 0x40);
      if (s.k % 4 == 1) stored.set_code(row, 2 * group + 1, 0);
    }
  }
  int64_t stride() const { return index_bytes(columns) + 3; }
  static size_t bytes(const SparseCase &s) { return static_cast<size_t>(s.n * (index_bytes(s.k) + 3)); }

  MatrixView view() {
    MatrixView view = stored.view();
    find_format(sparse_format(format), view.format);
    view.columns = columns;
    view.layout = Layout::kSparse;
    view.indices = indices.data();
    view.index_stride = stride();
    return view;
  }
  double number(int64_t row, int64_t column) const {
    const int half = indices.data()[row * stride() + column / 8] >> (column / 4 % 2 * 4) & 15;
    if ((half & 3) == column % 4) return static_cast<double>(stored.get(row, column / 4 * 2));
    if (half >> 2 == column % 4) return static_cast<double>(stored.get(row, column / 4 * 2 + 1));
    return 0.0;
  }

  lpt_format format;
  int64_t columns;
  Matrix stored;
  Guarded indices;
};

// set() and get() of Matrix support wide floats; int8 is written as codes.
void fill(Matrix &matrix, Random &random) {
  if (matrix.format().element != LPT_FORMAT_INT8) return matrix.fill(random, Values::kNormal);
  for (int64_t r = 0; r < matrix.rows(); ++r) {
    for (int64_t c = 0; c < matrix.columns(); ++c) matrix.set_code(r, c, static_cast<uint32_t>(random.below(256)));
  }
}

struct SparseProblem {
  SparseProblem(const SparseCase &s, Random &random)
      : a(s.a, s.m, s.k, s.padding), b(s, random), before(s.c, s.m, s.n, s.padding), bias(LPT_FORMAT_F32, 1, s.n) {
    fill(a, random);
    fill(b.stored, random);
    if (s.k % 4 != 0) b.end_within(s);
    fill(before, random);
    bias.fill(random, Values::kNormal);
  }

  GemmRequest request(const SparseCase &s, Matrix &c, std::vector<std::byte> &scratch) {
    GemmRequest request{};
    request.a = a.view();
    request.b = b.view();
    request.c = c.view();
    request.is_b_transposed = true;
    request.m = s.m, request.n = s.n, request.k = s.k;
    request.alpha = s.alpha, request.beta = s.beta;
    request.bias = s.has_bias ? bias.data.data() : nullptr;
    request.scratch = scratch.data();
    return request;
  }

  Matrix a;
  SparseMatrix b;
  Matrix before;
  Matrix bias;
};

constexpr SparseCase kCases[] = {
    {LPT_FORMAT_INT8, LPT_FORMAT_INT8, LPT_FORMAT_F32, 1, 7, 1024},
    {LPT_FORMAT_INT8, LPT_FORMAT_INT8, LPT_FORMAT_F32, 5, 9, 517, 3, 0.5, 2.0, true},
    {LPT_FORMAT_INT8, LPT_FORMAT_INT8, LPT_FORMAT_BF16, 8, 3, 63, 1, 1.0, 0.0, true},
    {LPT_FORMAT_INT8, LPT_FORMAT_INT8, LPT_FORMAT_F32, 4, 2, 1},
    {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F32, 1, 11, 1536},
    {LPT_FORMAT_BF16, LPT_FORMAT_BF16, LPT_FORMAT_BF16, 7, 5, 771, 5, 3.0, 0.25, true},
    {LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_FORMAT_F32, 4, 6, 513},
    {LPT_FORMAT_BF16, LPT_FORMAT_F32, LPT_FORMAT_F16, 8, 4, 30, 2},
    {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F32, 2, 3, 4},
    {LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_FORMAT_F32, 3, 2, 6},
    {LPT_FORMAT_F32, LPT_FORMAT_E4M3FN, LPT_FORMAT_F32, 3, 9, 1030, 1},
    {LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2, LPT_FORMAT_BF16, 8, 5, 517, 3, 0.5, 1.0, true},
    {LPT_FORMAT_E5M2, LPT_FORMAT_E4M3FN, LPT_FORMAT_F32, 1, 6, 77},
    // a exceeds the L1 cache, and b has more rows than one step reads.
    {LPT_FORMAT_INT8, LPT_FORMAT_INT8, LPT_FORMAT_F32, 7, 21, 9500, 1},
    {LPT_FORMAT_BF16, LPT_FORMAT_BF16, LPT_FORMAT_F32, 6, 19, 4700},
    {LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_FORMAT_F32, 1, 11, 17000, 2},
};

Matrix &copy(const Matrix &from, Matrix &to) {
  std::memcpy(to.data.data(), from.data.data(), from.data.bytes());
  return to;
}

void run(const KernelEntry<GemmRequest> &kernel, SparseProblem &problem, const SparseCase &s, Matrix &c) {
  std::vector<std::byte> empty;
  const GemmRequest sizes = problem.request(s, copy(problem.before, c), empty);
  std::vector<std::byte> scratch(kernel.scratch_bytes(sizes) + 64);
  // Splits the columns in two parts, as two threads do.
  GemmRequest request = problem.request(s, c, scratch);
  request.n = s.n / 2;
  if (request.n > 0) kernel.run(request);
  request.first_column = request.n;
  request.n = s.n - request.n;
  kernel.run(request);
}

TEST(SparseGemmKernels, EqualTheReferenceBitForBit) {
  Random random(601);
  for (const SparseCase &s : kCases) {
    SparseProblem problem(s, random);
    Matrix expected(s.c, s.m, s.n, s.padding);
    Matrix found(s.c, s.m, s.n, s.padding);
    run(sparse_gemm_kernels().back(), problem, s, expected);
    for (const KernelEntry<GemmRequest> &kernel : sparse_gemm_kernels()) {
      std::vector<std::byte> none;
      if (!can_run(kernel) || kernel.unsupported_reason(problem.request(s, found, none)) != nullptr) continue;
      run(kernel, problem, s, found);
      EXPECT_TRUE(found.equals(expected)) << kernel.name << ": " << text_of(s);
      EXPECT_TRUE(found.is_intact()) << kernel.name << ": " << text_of(s);
    }
  }
}

// |error| of a sum of k / 2 products in 32 lanes: (k / 64 + 6) roundings of partial sums, each at most the sum of magnitudes.
TEST(SparseGemmKernels, MatchSumsInDouble) {
  Random random(602);
  for (const SparseCase &s : kCases) {
    SparseProblem problem(s, random);
    Matrix found(s.c, s.m, s.n, s.padding);
    run(sparse_gemm_kernels().back(), problem, s, found);
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = 0.0;
        double magnitude = 0.0;
        for (int64_t p = 0; p < s.k; ++p) {
          const double product = static_cast<double>(problem.a.get(i, p)) * problem.b.number(j, p);
          sum += product;
          magnitude += std::fabs(product);
        }
        double value = s.alpha * sum + s.beta * static_cast<double>(problem.before.get(i, j));
        if (s.has_bias) value += static_cast<double>(problem.bias.get(0, j));
        const double roundings = static_cast<double>(s.k) / 64 + 11;
        const double unit = s.c == LPT_FORMAT_F32 ? 0x1p-24 : s.c == LPT_FORMAT_F16 ? 0x1p-11 : 0x1p-8;
        const double terms =
            s.alpha * magnitude + std::fabs(value) + std::fabs(s.beta * static_cast<double>(problem.before.get(i, j)));
        ASSERT_NEAR(value, static_cast<double>(found.get(i, j)), roundings * 0x1p-24 * terms + unit * std::fabs(value))
            << text_of(s) << " at " << i << ", " << j;
      }
    }
  }
}

// Behaves as if b were expanded: a value of a that is not finite affects every sum of its row, whether b stores the element or
// not.
TEST(SparseGemmKernels, PropagateNanAndInfinity) {
  Random random(604);
  for (int trial = 0; trial < 20; ++trial) {
    const SparseCase s = {
        trial % 2 == 0 ? LPT_FORMAT_F32 : LPT_FORMAT_BF16, LPT_FORMAT_BF16, LPT_FORMAT_F32, 5, 9, 700};
    SparseProblem problem(s, random);
    const float others[] = {INFINITY, -INFINITY, NAN};
    for (int64_t i = 1; i < s.m; ++i) {  // the first row is finite
      for (int64_t count = random.below(3); count >= 0; --count) {
        problem.a.set(i, random.below(s.k), others[random.below(3)]);
      }
    }
    Matrix expected(s.c, s.m, s.n), found(s.c, s.m, s.n);
    run(sparse_gemm_kernels().back(), problem, s, expected);
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = 0.0;
        for (int64_t p = 0; p < s.k; ++p) sum += static_cast<double>(problem.a.get(i, p)) * problem.b.number(j, p);
        const double given = static_cast<double>(expected.get(i, j));
        EXPECT_EQ(std::isnan(sum), std::isnan(given)) << i << ", " << j;
        EXPECT_EQ(std::isinf(sum), std::isinf(given)) << i << ", " << j;
        if (std::isinf(sum)) {
          EXPECT_EQ(sum, given) << i << ", " << j;
        }
      }
    }
    for (const KernelEntry<GemmRequest> &kernel : sparse_gemm_kernels()) {
      std::vector<std::byte> none;
      if (!can_run(kernel) || kernel.unsupported_reason(problem.request(s, found, none)) != nullptr) continue;
      run(kernel, problem, s, found);
      for (int64_t i = 0; i < s.m; ++i) {
        for (int64_t j = 0; j < s.n; ++j) {
          const float one = expected.get(i, j), other = found.get(i, j);
          EXPECT_TRUE(one == other || (std::isnan(one) && std::isnan(other)))
              << kernel.name << " at " << i << ", " << j;
        }
      }
    }
  }
}

// Each code of 8 bits is stored in a separate row, and multiplied by 1.
TEST(SparseGemmKernels, DecodeEveryCode) {
  for (const lpt_format element : {LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2}) {
    Random random(605);
    const SparseCase s = {LPT_FORMAT_F32, element, LPT_FORMAT_F32, 1, 256, 64};
    SparseProblem problem(s, random);
    for (int64_t p = 0; p < s.k; ++p) problem.a.set(0, p, 1.0f);
    for (int64_t code = 0; code < 256; ++code) {
      for (int64_t i = 0; i < s.k / 2; ++i) problem.b.stored.set_code(code, i, 0);
      problem.b.stored.set_code(code, code % 32, static_cast<uint32_t>(code));
    }
    for (const KernelEntry<GemmRequest> &kernel : sparse_gemm_kernels()) {
      Matrix found(s.c, s.m, s.n);
      std::vector<std::byte> none;
      if (!can_run(kernel) || kernel.unsupported_reason(problem.request(s, found, none)) != nullptr) continue;
      run(kernel, problem, s, found);
      for (int64_t code = 0; code < 256; ++code) {
        const float expected = problem.b.stored.get(code, code % 32), given = found.get(0, code);
        EXPECT_TRUE(expected == given || (std::isnan(expected) && std::isnan(given)))
            << kernel.name << " " << format_name(element) << " code " << code << ": " << given;
      }
    }
  }
}

TEST(SparseGemmKernels, SayWhyTheyReject) {
  Random random(603);
  const SparseCase s = kCases[0];
  SparseProblem problem(s, random);
  Matrix c(s.c, s.m, s.n);
  std::vector<std::byte> none;
  for (const KernelEntry<GemmRequest> &kernel : sparse_gemm_kernels()) {
    GemmRequest request = problem.request(s, c, none);
    request.m = kMaxSparseRows + 1;  // s has byte elements
    EXPECT_STREQ("so many rows repay writing b out", kernel.unsupported_reason(request)) << kernel.name;
    request = problem.request(s, c, none);
    request.b.layout = Layout::kRows;
    EXPECT_STREQ("b is not the sparse operand", kernel.unsupported_reason(request)) << kernel.name;
    request = problem.request(s, c, none);
    request.is_portable = true;
    EXPECT_STREQ("lanes do not add up in the portable order", kernel.unsupported_reason(request)) << kernel.name;
  }
}

}  // namespace
}  // namespace lpt::test
