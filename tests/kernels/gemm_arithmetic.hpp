// Shared by the tests of emulated arithmetic: kernels by name, products of all codes, and the epilogue of a sum.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tests/kernels/gemm_problem.hpp"

namespace lpt::test {

inline const KernelEntry<GemmRequest> &row_named(const std::string &name) {
  const KernelEntry<GemmRequest> *const kernel = find_kernel(name);
  EXPECT_NE(kernel, nullptr) << name;
  return kernel != nullptr ? *kernel : gemm_kernels().back();
}

// A small GEMM in any storage order, with every optional term.
struct SmallProblem : Problem {
  SmallProblem(Random &random, const char *a_format, const char *b_format, int64_t k)
      : SmallProblem(random, a_format, b_format, k, random.below(4)) {}

 private:
  SmallProblem(Random &random, const char *a_format, const char *b_format, int64_t k, int64_t layout)
      : Problem(a_format, b_format, random.of(kOutputs), layout & 1, layout & 2, 1 + random.below(9),
                1 + random.below(80), k, random.below(3)) {
    draw(random);
    add_terms(random.chance(0.5) ? 1 : -1.5, random.chance(0.5) ? 0 : 0.75, random.chance(0.5));
  }
};

// Every code of a times every code of b: c(i, j) is the product of code i and code j.
struct AllGemms : Problem {
  AllGemms(const char *a_format, const char *b_format)
      : Problem(a_format, b_format, LPT_FORMAT_F32, false, true, codes_of(a_format), codes_of(b_format), 1) {
    for (int64_t i = 0; i < request.m; ++i) a.set_code(i, 0, static_cast<uint32_t>(i));
    for (int64_t j = 0; j < request.n; ++j) b.set_code(j, 0, static_cast<uint32_t>(j));
  }

 private:
  static int64_t codes_of(const char *format) { return int64_t{1} << element_bits(format_named(format)); }
};

inline testing::AssertionResult is_same(float found, double expected) {
  const auto wide = static_cast<double>(found);
  if (std::isnan(expected) ? std::isnan(wide) : wide == expected) return testing::AssertionSuccess();
  return testing::AssertionFailure() << text("%.9g", wide) << " for " << text("%.9g", expected);
}

// Returns the steps of k that share a scale of the operand.
inline int64_t steps_of_scale(const Format &format, bool is_k_adjacent, int64_t k) {
  const int64_t extent = is_k_adjacent ? format.block_columns : format.block_rows;
  return !format.has_block_scale() || extent == LPT_BLOCK_EXTENT_FULL || extent >= k ? k : extent;
}

// Reads an operand by lane and step of k: elements without scales, the scale along k, and the factor of the lane.
struct LaneReader {
  const Matrix &matrix;
  bool is_k_adjacent;
  int64_t k;

  int64_t steps() const { return steps_of_scale(matrix.format(), is_k_adjacent, k); }
  double element(int64_t lane, int64_t p) const {
    const double value = element_at(matrix, row(lane, p), column(lane, p));
    return matrix.format().has_block_scale() ? value - zero_point(lane, p) : value;
  }
  float scale(int64_t lane, int64_t p) const { return steps() < k ? block_scale(lane, p) : 1; }
  float factor(int64_t lane) const {
    const float tensor_scale = matrix.format().has_tensor_scale() ? matrix.tensor_scale : 1;
    return steps() < k || k == 0 ? tensor_scale : block_scale(lane, 0) * tensor_scale;
  }

 private:
  int64_t row(int64_t lane, int64_t p) const { return is_k_adjacent ? lane : p; }
  int64_t column(int64_t lane, int64_t p) const { return is_k_adjacent ? p : lane; }
  int zero_point(int64_t lane, int64_t p) const {
    const BlockGrid grid = matrix.grid();
    return matrix.zero_point(row(lane, p) / grid.block_rows, column(lane, p) / grid.block_columns);
  }
  float block_scale(int64_t lane, int64_t p) const {
    if (!matrix.format().has_block_scale()) return 1;
    const BlockGrid grid = matrix.grid();
    const uint32_t code = matrix.scale_code(row(lane, p) / grid.block_rows, column(lane, p) / grid.block_columns);
    return static_cast<float>(number_of(matrix.format().block_scale, code));
  }
};

inline LaneReader a_of(const Problem &problem) {
  return {problem.a, !problem.request.is_a_transposed, problem.request.k};
}
inline LaneReader b_of(const Problem &problem) {
  return {problem.b, problem.request.is_b_transposed, problem.request.k};
}

// Returns alpha times the sum plus the terms of beta and bias, each step in f32, before rounding to c.
inline float finished(const Problem &problem, const Matrix &c_before, int64_t i, int64_t j, float sum) {
  const auto alpha = static_cast<float>(problem.request.alpha), beta = static_cast<float>(problem.request.beta);
  float value = sum * a_of(problem).factor(i) * (b_of(problem).factor(j) * alpha);
  if (beta != 0) value += beta * static_cast<float>(element_at(c_before, i, j));
  if (problem.request.bias != nullptr) value += problem.bias[static_cast<size_t>(j)];
  return value;
}

// Compares c with `sum_of(i, j, begin, end)`, the sum over a span of k with the same scales.
template <typename SumOf>
void check_sums(const KernelEntry<GemmRequest> &kernel, Problem &problem, const SumOf &sum_of) {
  const int64_t k = problem.request.k;
  Matrix c_before(problem.c.format().id, problem.request.m, problem.request.n, problem.padding);
  if (problem.c.data.bytes() > 0) std::memcpy(c_before.data.data(), problem.c.data.data(), problem.c.data.bytes());
  run_row(kernel, problem.request);
  ASSERT_TRUE(problem.c.is_intact());
  const LaneReader a = a_of(problem), b = b_of(problem);
  const int64_t steps = std::min(a.steps(), b.steps());
  for (int64_t i = 0; i < problem.request.m; ++i) {
    for (int64_t j = 0; j < problem.request.n; ++j) {
      float total = 0;
      if (steps == k) total = sum_of(i, j, int64_t{0}, k);
      for (int64_t p = 0; p < k && steps < k; p += steps) {
        total += sum_of(i, j, p, std::min(k, p + steps)) * (a.scale(i, p) * b.scale(j, p));
      }
      Matrix expected(problem.c.format().id, 1, 1);
      expected.set(0, 0, finished(problem, c_before, i, j, total));
      ASSERT_TRUE(is_same(problem.c.get(i, j), element_at(expected, 0, 0)))
          << kernel.name << " " << problem.name << " at " << i << ", " << j;
    }
  }
}

}  // namespace lpt::test
