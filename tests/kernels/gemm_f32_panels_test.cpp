// f32 GEMM with b in panels: the bits of sums in the order of k, computed from the definitions of the formats.
#include <algorithm>
#include <string>

#include "tests/kernels/gemm_arithmetic.hpp"
#include "tests/kernels/gemm_panels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

const char *const kPackedFormats[] = {"f32",
                                      "f16",
                                      "bf16",
                                      "f16_tensor",
                                      "e4m3fn_tensor",
                                      "e4m3",
                                      "e5m2_row",
                                      "e4m3fnuz",
                                      "e5m2fnuz",
                                      "mxfp6_e3m2",
                                      "mxfp6_e2m3",
                                      "mxfp8_e4m3",
                                      "e4m3fn_1x128",
                                      "e4m3fn_128x128",
                                      "e4m3fn/1x4/f32",
                                      "int8_row",
                                      "int8_1x32",
                                      "mxint8",
                                      "q1_6",
                                      "int4",
                                      "int4_1x32",
                                      "uint4_1x128",
                                      "uint4/row/f32/uint8",
                                      "int2/1x16/f32",
                                      "ternary",
                                      "e3m0_tensor",
                                      "mxfp4",
                                      "nvfp4",
                                      "nvfp4_16x16",
                                      "nf4_1x64",
                                      "e2m1fn",
                                      "nf4",
                                      "e3m4",
                                      "uint8/1x16/f32/uint8",
                                      "e4m3fn/1x2/e4m3fn",
                                      "bnb_fp4_1x64",
                                      "e2m0b1-finite",
                                      "e2m2b1-nan",
                                      "e4m2b9-finite",
                                      "ue4m4b7-ieee",
                                      "e6m1b31-ieee",
                                      "e7m0b63-finite/1x32/f32"};

// If scales vary along k, every step of k multiplies an element of b by its scale.
std::vector<float> scaled_numbers_of(const LaneReader &lanes, int64_t count) {
  std::vector<float> numbers;
  for (int64_t lane = 0; lane < count; ++lane) {
    for (int64_t p = 0; p < lanes.k; ++p) {
      numbers.push_back(static_cast<float>(lanes.element(lane, p)) * lanes.scale(lane, p));
    }
  }
  return numbers;
}

class GemmF32Panels : public GemmKernelTest, public testing::WithParamInterface<const char *> {
 protected:
  GemmF32Panels() : GemmKernelTest(GetParam()) {}

  // Returns the largest m up to `rows` that the kernel supports with packed b of this format; 0: none.
  int64_t rows_of(const char *b_format, int64_t k, int64_t rows) const {
    for (int64_t m = rows; m > 0; --m) {
      Problem problem("f32", b_format, LPT_FORMAT_F32, false, true, m, 1, k);
      problem.request.b.layout = Layout::kPanels;
      if (kernel_->unsupported_reason(problem.request) == nullptr) return m;
    }
    return 0;
  }

  // Compares the part of c that the request covers.
  void check(Problem &problem) const {
    const GemmRequest &request = problem.request;
    Matrix expected(problem.c.format().id, problem.c.rows(), problem.c.columns(), problem.padding);
    std::memcpy(expected.data.data(), problem.c.data.data(), problem.c.data.bytes());
    const int64_t k = request.k;
    const std::vector<float> a = scaled_numbers_of(a_of(problem), problem.c.rows());
    const std::vector<float> b = scaled_numbers_of(b_of(problem), problem.c.columns());
    for (int64_t i = request.first_row; i < request.first_row + request.m; ++i) {
      for (int64_t j = request.first_column; j < request.first_column + request.n; ++j) {
        float sum = 0;
        for (int64_t p = 0; p < k; ++p) {
          sum = std::fma(a[static_cast<size_t>(i * k + p)], b[static_cast<size_t>(j * k + p)], sum);
        }
        expected.set(i, j, finished(problem, problem.c, i, j, sum));
      }
    }
    packed(problem);
    for (int64_t i = 0; i < problem.c.rows(); ++i) {
      for (int64_t j = 0; j < problem.c.columns(); ++j) {
        if (std::isnan(problem.c.get(i, j)) && std::isnan(expected.get(i, j))) continue;  // NaN bits are unspecified
        ASSERT_EQ(problem.c.code(i, j), expected.code(i, j)) << problem.name << " at " << i << ", " << j;
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, GemmF32Panels,
                         testing::Values("gemm_any_x86_avx512", "gemm_any_x86_avx2", "gemm_rows_x86_avx2"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(GemmF32Panels, AddUpInTheOrderOfK) {
  Random random(81);
  for (const char *a_format : {"f32", "f16", "e4m3fn_1x128"}) {
    for (const char *b_format : kPackedFormats) {
      for (const int64_t n : {1, 16, 17, 33, 70}) {
        if (!is_taken(random, 4)) continue;
        const int64_t k = std::max<int64_t>(random.of(kDepths), 1), rows = rows_of(b_format, k, 20);
        if (rows == 0) continue;
        Problem problem(a_format, b_format, random.of(kOutputs), false, true, 1 + random.below(rows), n, k,
                        random.below(3));
        problem.draw(random);
        problem.add_terms(random.chance(0.5) ? 1 : -1.5, random.chance(0.7) ? 0 : 0.75, random.chance(0.3));
        check(problem);
        if (HasFailure()) return;
      }
    }
  }
}

// Slabs of columns end at panel boundaries.
TEST_P(GemmF32Panels, MultiplyMoreThanIsPackedAtOnce) {
  Random random(84);
  Problem problem("bf16", "e5m2_row", LPT_FORMAT_F32, false, true, rows_of("e5m2_row", 3001, kIsSanitized ? 3 : 19),
                  550, 3001);
  problem.draw(random);
  check(problem);
}

// Every code at each position of k in a line, including zero points beyond all codes.
TEST_P(GemmF32Panels, DecodeEveryCode) {
  Random random(82);
  for (const char *b_format : kPackedFormats) {
    const int64_t rows = rows_of(b_format, 5, 5);
    Problem problem("f32", b_format, LPT_FORMAT_F32, false, true, std::max<int64_t>(rows, 1), 256, 5);
    const int32_t bits = element_bits(problem.b.format().element);
    if (bits > 8 || rows == 0) continue;
    for (int64_t place = 0; place < 5; ++place) {
      problem.draw(random);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t p = 0; p < 5; ++p) problem.a.set(i, p, p == place ? 1 : 0);
      }
      const BlockGrid grid = problem.b.grid();
      for (int64_t j = 0; j < 256; ++j) {
        for (int64_t p = 0; p < 5; ++p) {
          problem.b.set_code(j, p, p == place ? static_cast<uint32_t>(j) % (1u << bits) : 0);
        }
        for (int64_t block = 0; problem.b.format().has_zero_point() && block < grid.columns; ++block) {
          problem.b.zero_points.data()[j * problem.b.scale_stride() + block] = static_cast<uint8_t>(85 * j + 1);
        }
      }
      check(problem);
      if (HasFailure()) return;
    }
  }
}

// Parts of c begin at panel boundaries. With more columns than one unpacking step, packed a is reused.
TEST_P(GemmF32Panels, ServeAnyPartOfC) {
  Random random(83);
  for (const char *b_format : {"f32", "int4_1x32", "uint4/row/f32/uint8", "nvfp4", "e5m2_row"}) {
    Problem problem("f32", b_format, LPT_FORMAT_F32, false, true, 75, 300, 40);
    problem.draw(random);
    for (const int64_t first_row : {0, 64}) {
      for (const int64_t first_column : {64, 256}) {
        problem.request.first_row = first_row;
        problem.request.first_column = first_column;
        problem.request.m = rows_of(b_format, 40, std::min<int64_t>(64, 75 - first_row));
        problem.request.n = std::min<int64_t>(128, 300 - first_column);
        check(problem);
        if (HasFailure()) return;
      }
    }
  }
  Problem wide("f32", "int8_1x32", LPT_FORMAT_F32, false, true, 3, 200, 9001);
  wide.draw(random);
  check(wide);
}

}  // namespace
}  // namespace lpt::test
