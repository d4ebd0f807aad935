// Portable order: every kernel that supports it computes the bits of its definition, evaluated from the formats.
#include "tests/kernels/gemm_arithmetic.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

// Returns the factor of a step of k, which includes scales that vary along k.
float number_at(const LaneReader &lanes, int64_t lane, int64_t p) {
  const auto element = static_cast<float>(lanes.element(lane, p));
  return lanes.steps() < lanes.k ? element * lanes.scale(lane, p) : element;
}

std::vector<float> numbers_of(const LaneReader &lanes, int64_t count) {
  std::vector<float> numbers;
  for (int64_t lane = 0; lane < count; ++lane) {
    for (int64_t p = 0; p < lanes.k; ++p) numbers.push_back(number_at(lanes, lane, p));
  }
  return numbers;
}

// Computes the expected codes of c.
void fill_expected(const Problem &problem, const Matrix &c_before, Matrix &expected) {
  const int64_t m = problem.request.m, n = problem.request.n, k = problem.request.k;
  const std::vector<float> a = numbers_of(a_of(problem), m), b = numbers_of(b_of(problem), n);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum = std::fma(a[static_cast<size_t>(i * k + p)], b[static_cast<size_t>(j * k + p)], sum);
      }
      expected.set(i, j, finished(problem, c_before, i, j, sum));
    }
  }
}

void copy_data(const Matrix &from, Matrix &to) {
  if (from.data.bytes() > 0) std::memcpy(to.data.data(), from.data.data(), from.data.bytes());
}

// Runs all kernels that support the problem, checks each, and counts the runs.
void check_rows(Problem &problem, std::vector<int64_t> &runs) {
  problem.request.is_portable = true;
  Matrix c_before(problem.c.format().id, problem.request.m, problem.request.n, problem.padding);
  copy_data(problem.c, c_before);
  Matrix expected(problem.c.format().id, problem.request.m, problem.request.n, problem.padding);
  fill_expected(problem, c_before, expected);
  for (size_t place = 0; place < gemm_kernels().size(); ++place) {
    const KernelEntry<GemmRequest> &kernel = gemm_kernels()[place];
    if (!is_here(kernel) || !takes(kernel, problem.request)) continue;
    ++runs[place];
    copy_data(c_before, problem.c);
    run_row(kernel, problem.request);
    ASSERT_TRUE(problem.c.is_intact()) << kernel.name << " " << problem.name;
    for (int64_t i = 0; i < problem.request.m; ++i) {
      for (int64_t j = 0; j < problem.request.n; ++j) {
        if (std::isnan(problem.c.get(i, j)) && std::isnan(expected.get(i, j))) continue;  // NaN bits are unspecified
        ASSERT_EQ(problem.c.code(i, j), expected.code(i, j))
            << kernel.name << " " << problem.name << " at " << i << ", " << j;
      }
    }
  }
}

void print_runs(const std::vector<int64_t> &runs) {
  for (size_t place = 0; place < runs.size(); ++place) {
    if (runs[place] > 0)
      std::printf("%s: %lld products\n", gemm_kernels()[place].name, static_cast<long long>(runs[place]));
  }
}

// Fills with any codes and any bits: infinities, NaN, subnormals.
void fill_with_anything(Random &random, Matrix &matrix) {
  if (element_bits(matrix.format().element) > 8) return matrix.fill(random, random.of(kAllValues));
  for (int64_t row = 0; row < matrix.rows(); ++row) {
    for (int64_t column = 0; column < matrix.columns(); ++column) {
      const int64_t codes = int64_t{1} << element_bits(matrix.format().element);
      matrix.set_code(row, column, static_cast<uint32_t>(random.below(codes)));
    }
  }
}

TEST(GemmPortable, GivesTheBitsOfItsDefinitionForAllPairs) {
  Random random(71);
  std::vector<int64_t> runs(gemm_kernels().size());
  int64_t pairs = 0;
  for (const char *a_format : kOperands) {
    for (const char *b_format : kOperands) {
      if (!is_taken(random, 40)) continue;
      const int64_t layout = random.below(4);
      Problem problem(a_format, b_format, random.of(kOutputs), layout & 1, layout & 2, random.below(40),
                      random.of(kExtents), random.of(kDepths), random.below(3));
      problem.draw(random);
      problem.add_terms(random.chance(0.5) ? 1 : -1.3, random.chance(0.5) ? 0 : 0.7, random.chance(0.5));
      ++pairs;
      check_rows(problem, runs);
      if (HasFatalFailure()) return;
    }
  }
  print_runs(runs);
  EXPECT_EQ(runs.back(), pairs);
}

TEST(GemmPortable, GivesTheBitsOfItsDefinitionForAllSmallShapes) {
  Random random(72);
  std::vector<int64_t> runs(gemm_kernels().size());
  for (const int64_t m : {1, 2, 3, 15, 16, 17, 33}) {
    for (const int64_t n : {1, 2, 15, 16, 17, 31, 33, 65}) {
      for (const int64_t k : {0, 1, 2, 3, 16, 17, 65}) {
        if (!is_taken(random, 10)) continue;
        const int64_t layout = random.below(4);
        Problem problem(random.of(kOperands), random.of(kOperands), random.of(kOutputs), layout & 1, layout & 2, m, n,
                        k, random.below(3));
        problem.draw(random);
        problem.add_terms(random.chance(0.5) ? 1 : 1e-30, random.chance(0.5) ? 0 : -0.1, random.chance(0.5));
        check_rows(problem, runs);
        if (HasFatalFailure()) return;
      }
    }
  }
  print_runs(runs);
}

TEST(GemmPortable, GivesTheBitsOfItsDefinitionForAnyNumbers) {
  Random random(73);
  std::vector<int64_t> runs(gemm_kernels().size());
  for (int repetition = 0; repetition < (kIsSanitized ? 40 : 400); ++repetition) {
    const int64_t layout = random.below(4);
    Problem problem(random.of(kOperands), random.of(kOperands), random.of(kOutputs), layout & 1, layout & 2,
                    1 + random.below(20), 1 + random.below(70), random.below(70), random.below(3));
    problem.draw(random);
    for (Matrix *matrix : {&problem.a, &problem.b, &problem.c}) fill_with_anything(random, *matrix);
    problem.add_terms(random.chance(0.5) ? 1 : 3e20, random.chance(0.5) ? 0 : 1.5, random.chance(0.5));
    check_rows(problem, runs);
    if (HasFatalFailure()) return;
  }
  print_runs(runs);
}

// Long sums, and more rows and columns than one packing step.
TEST(GemmPortable, GivesTheBitsOfItsDefinitionForLargeGemms) {
  Random random(74);
  std::vector<int64_t> runs(gemm_kernels().size());
  Problem deep("e4m3fn_tensor", "mxfp8_e4m3", LPT_FORMAT_F32, false, true, kIsSanitized ? 1 : 3, 70,
               kIsSanitized ? 5001 : 20001);
  Problem wide("nvfp4", "int4_1x32", LPT_FORMAT_BF16, true, false, 130, kIsSanitized ? 40 : 150, 2050);
  for (Problem *problem : {&deep, &wide}) {
    problem->draw(random);
    problem->add_terms(0.9, 0.5, true);
    check_rows(*problem, runs);
  }
  print_runs(runs);
}

// A kernel may cut k and keep f32 sums in c, or in scratch; scales, zero points and ternary digits then begin in the middle.
TEST(GemmPortable, GivesTheBitsOfItsDefinitionForLongSums) {
  Random random(75);
  std::vector<int64_t> runs(gemm_kernels().size());
  Problem problems[] = {{"mxfp8_e4m3", "uint4_1x128", LPT_FORMAT_F32, false, true, 20, 70, 2050},
                        {"int4_1x32", "nvfp4", LPT_FORMAT_F32, true, false, 9, 50, 1100},
                        {"f32", "int8/4096x1/f32", LPT_FORMAT_F32, false, false, 17, 33, 5000},
                        {"ternary", "bf16", LPT_FORMAT_F32, false, true, 11, 70, 1100},
                        {"mxfp6_e3m2", "ternary/1x32/f32", LPT_FORMAT_F32, true, true, 11, 70, 1100},
                        {"e5m2", "f16", LPT_FORMAT_BF16, false, true, 11, kIsSanitized ? 70 : 1100, 2100},
                        {"f32", "ternary", LPT_FORMAT_F32, false, true, kIsSanitized ? 11 : 1100, 40, 2100}};
  for (Problem &problem : problems) {
    problem.draw(random);
    problem.add_terms(-1.3, problem.request.m > 1000 ? 0.7 : 0, true);
    check_rows(problem, runs);
  }
  print_runs(runs);
}

// Kernels whose sums have another order or other roundings must reject the request.
TEST(GemmPortable, LeavesOutDotProductsOfPairsAndIntegers) {
  Problem floats("bf16", "e4m3fn", LPT_FORMAT_F32, false, true, 3, 5, 64);
  Problem integers("int8", "int8", LPT_FORMAT_F32, false, true, 3, 5, 64);
  for (const Problem *problem : {&floats, &integers}) {
    GemmRequest request = problem->request;
    request.is_portable = true;
    for (const KernelEntry<GemmRequest> &kernel : gemm_kernels()) {
      const std::string name = kernel.name;
      if (name.find("bf16") != std::string::npos || name.find("vnni") != std::string::npos) {
        EXPECT_FALSE(takes(kernel, request)) << name;
      }
    }
  }
}

}  // namespace
}  // namespace lpt::test
