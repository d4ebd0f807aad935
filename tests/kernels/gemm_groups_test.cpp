// GEMM of small integers with scales for groups of k, by int8 dot products, with b in panels and in rows. The expected values
// are sums of integers and of doubles that do not use panels.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/kernels/gemm_panels.hpp"

namespace lpt::test {
namespace {

class GemmGroups : public GemmKernelTest, public testing::WithParamInterface<const char *> {
 protected:
  GemmGroups() : GemmKernelTest(GetParam()) {}

  bool is_packed_only() const { return std::string(name_) == "gemm_groups_x86_avx2"; }

  bool has(const char *b_format) const {
    return !is_packed_only() || std::string(b_format).find("e2m3") == std::string::npos;
  }

  // Returns c with b in panels; checks that b in rows yields the same bits, if the kernel reads rows.
  std::vector<double> product(Problem &problem) const {
    if (is_packed_only()) return packed(problem);
    const std::vector<uint8_t> before = bytes_of_c(problem);
    plain(problem);
    const std::vector<uint8_t> expected = bytes_of_c(problem);
    std::memcpy(problem.c.data.data(), before.data(), before.size());
    std::vector<double> numbers = packed(problem);
    EXPECT_EQ(bytes_of_c(problem), expected) << problem.name;
    return numbers;
  }

  void check(Problem &problem) const {
    Oracle oracle(problem);
    product(problem);
    oracle.judge(kernel_->name);
  }

  static std::vector<uint8_t> bytes_of_c(const Problem &problem) {
    return {problem.c.data.data(), problem.c.data.data() + problem.c.data.bytes()};
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, GemmGroups, testing::Values("gemm_groups_x86_avx512_vnni", "gemm_groups_x86_avx2"),
                         [](const auto &info) { return std::string(info.param); });

// Returns the factor that makes every value of an element an integer.
float unit_of(lpt_format element) {
  switch (element) {
    case LPT_FORMAT_E2M1FN:
      return 2;
    case LPT_FORMAT_E3M0:
      return 4;
    case LPT_FORMAT_E2M3FN:
      return 8;
    case LPT_FORMAT_Q1_6:
      return 64;
    default:
      return 1;
  }
}

int64_t integer_at(const Matrix &matrix, int64_t row, int64_t column) {
  const double fraction = static_cast<double>(unit_of(matrix.format().element));
  const BlockGrid grid = matrix.grid();
  const int64_t zero =
      matrix.format().has_zero_point() ? matrix.zero_point(row / grid.block_rows, column / grid.block_columns) : 0;
  return std::llround(fraction * element_at(matrix, row, column)) - zero;
}

// Returns block scale · tensor scale of a lane whose k is in one block, divided by the factor that integer_at() applies.
float factor_of(const Matrix &matrix, int64_t lane) {
  float scale = 1;
  if (matrix.format().has_block_scale()) {
    scale = static_cast<float>(
        number_of(matrix.format().block_scale, matrix.scale_code(lane / matrix.grid().block_rows, 0)));
  }
  if (matrix.format().has_tensor_scale()) scale *= matrix.tensor_scale;
  return scale / unit_of(matrix.format().element);
}

const char *const kRowFormats[] = {"mxfp4",       "nvfp4",  "nvfp4_16x16",   "int8_1x32",     "int8_row",
                                   "int8_tensor", "mxint8", "int4_1x32",     "int4_1x128",    "e2m1fn",
                                   "int4",        "int2",   "int8/32x8/f32", "int2/1x16/f32", "e2m1fn/1x64/e4m3fn",
                                   "mxfp6_e2m3",  "e3m0",   "e2m3fn"};
const char *const kColumnFormats[] = {
    "mxfp4",       "nvfp4",     "nvfp4_16x16",    "int8_1x32",          "int8_row",
    "mxint8",      "int4_1x32", "int4_1x64",      "int4_1x128",         "uint4_1x32",
    "uint4_1x128", "int4",      "ternary_tensor", "ternary/1x32/f32",   "int2",
    "int8",        "e2m1fn",    "int8/1x8/f32",   "e2m1fn/1x64/e4m3fn", "int4/16x16/e8m0fnu",
    "mxfp6_e2m3",  "e3m0",      "e2m3fn"};

TEST_P(GemmGroups, AddsUpAllPairsOfFormats) {
  Random random(1);
  for (const char *a_format : kRowFormats) {
    for (const char *b_format : kColumnFormats) {
      for (int repetition = 0; repetition < 3; ++repetition) {
        if (!is_taken(random, 9) || !has(b_format)) continue;
        Problem problem(a_format, b_format, LPT_FORMAT_F32, false, true, random.of(kEdges), random.of(kEdges),
                        random.of(kEdges), random.below(3));
        problem.draw(random);
        check(problem);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(GemmGroups, AddsUpAllShapes) {
  Random random(2);
  const FormatPair pairs[] = {{"mxfp4", "mxfp4"},          {"nvfp4", "nvfp4"},         {"int8_row", "int4_1x32"},
                              {"int8_1x32", "uint4_1x64"}, {"int8_1x32", "int8_1x32"}, {"int8_row", "int8_row"}};
  for_all_shapes(random, [&](int64_t m, int64_t n, int64_t k) {
    const FormatPair pair = random.of(pairs);
    Problem problem(pair.a, pair.b, LPT_FORMAT_F32, false, true, m, n, k);
    problem.draw(random);
    check(problem);
  });
}

TEST_P(GemmGroups, CutsAnyNumberOfRowsToTiles) {
  Random random(10);
  const FormatPair pairs[] = {{"mxfp4", "mxfp4"},   {"nvfp4", "nvfp4"},        {"int8_row", "uint4_1x32"},
                              {"int8", "int8"},     {"int8_1x32", "e2m3fn"},   {"int8", "e2m3fn"},
                              {"int8_row", "int4"}, {"int8_row", "int4_1x32"}, {"mxint8", "int8_1x32"}};
  for (const FormatPair &pair : pairs) {
    for (int64_t m = 1; m <= 25 && has(pair.b); ++m) {
      Problem problem(pair.a, pair.b, LPT_FORMAT_F32, false, true, m, 33, 70);
      problem.draw(random);
      check(problem);
      if (HasFailure()) return;
    }
  }
}

TEST_P(GemmGroups, IsOneRoundingAndTheScalesInOneGroup) {
  Random random(3);
  for (const char *a_format : kRowFormats) {
    for (const char *b_format : kColumnFormats) {
      if (!is_taken(random, 3) || !has(b_format)) continue;
      const int64_t k = 1 + random.below(8);
      Problem problem(a_format, b_format, LPT_FORMAT_F32, false, true, 1 + random.below(40), 1 + random.below(70), k);
      problem.draw(random);
      const std::vector<double> found = product(problem);
      for (int64_t i = 0; i < problem.request.m; ++i) {
        for (int64_t j = 0; j < problem.request.n; ++j) {
          int64_t sum = 0;
          for (int64_t p = 0; p < k; ++p) sum += integer_at(problem.a, i, p) * integer_at(problem.b, j, p);
          const float expected = static_cast<float>(sum) * factor_of(problem.a, i) * factor_of(problem.b, j);
          ASSERT_EQ(found[static_cast<size_t>(i * problem.request.n + j)], static_cast<double>(expected))
              << problem.name << " at " << i << ", " << j;
        }
      }
    }
  }
}

// Every code of a by every code of b, each pair in a single group and in two groups.
TEST_P(GemmGroups, MultipliesAllPairsOfCodes) {
  const FormatPair pairs[] = {
      {"e2m1fn", "e2m1fn"},  {"int8", "int8"},     {"int8", "int4"}, {"int8", "e2m1fn"}, {"int4", "int4"},
      {"e2m1fn", "int8"},    {"int2", "int2"},     {"q1_6", "q1_6"}, {"mxfp4", "mxfp4"}, {"int8_1x32", "mxint8"},
      {"int4", "int4_1x32"}, {"e2m3fn", "e2m3fn"}, {"e3m0", "int4"}};
  for (const FormatPair &pair : pairs) {
    for (const int64_t place : {0, 1, 2, 3, 33}) {
      if (!has(pair.b)) continue;
      const int64_t a_codes =
          int64_t{1} << element_bits(Problem(pair.a, pair.b, LPT_FORMAT_F32, false, true, 1, 1, 1).a.format().element);
      const int64_t b_codes =
          int64_t{1} << element_bits(Problem(pair.a, pair.b, LPT_FORMAT_F32, false, true, 1, 1, 1).b.format().element);
      Problem problem(pair.a, pair.b, LPT_FORMAT_F32, false, true, a_codes, b_codes, place + 1);
      Random random(4);
      problem.draw(random);
      for (int64_t p = 0; p <= place; ++p) {
        for (int64_t i = 0; i < a_codes; ++i) problem.a.set_code(i, p, p == place ? static_cast<uint32_t>(i) : 0);
        for (int64_t j = 0; j < b_codes; ++j) problem.b.set_code(j, p, p == place ? static_cast<uint32_t>(j) : 1);
      }
      const std::vector<double> found = product(problem);
      for (int64_t i = 0; i < a_codes; ++i) {
        for (int64_t j = 0; j < b_codes; ++j) {
          const double expected = problem.a_at(i, place) * problem.b_at(place, j);
          const double value = found[static_cast<size_t>(i * b_codes + j)];
          ASSERT_LE(std::fabs(value - expected), 0x1p-22 * std::fabs(expected)) << problem.name << " " << i << " " << j;
        }
      }
    }
  }
}

// Powers of two: no step rounds, so that the sum over all groups is exact.
TEST_P(GemmGroups, IsExactWithScalesThatArePowersOfTwo) {
  Random random(5);
  for (const int64_t k : {33, 257, 1000}) {
    Problem problem("mxfp4", "mxfp4", LPT_FORMAT_F32, false, true, 37, 70, k);
    problem.draw(random);
    for (Matrix *matrix : {&problem.a, &problem.b}) {
      for (int64_t row = 0; row < matrix->rows(); ++row) {
        for (int64_t block = 0; block < matrix->grid().columns; ++block) {
          set_scale(*matrix, row, block, 126 + static_cast<uint32_t>(random.below(4)));
        }
      }
    }
    const std::vector<double> found = product(problem);
    const std::vector<double> a = problem.a_lanes(), b = problem.b_lanes();
    for (int64_t i = 0; i < 37; ++i) {
      for (int64_t j = 0; j < 70; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p) sum += a[static_cast<size_t>(i * k + p)] * b[static_cast<size_t>(j * k + p)];
        ASSERT_EQ(found[static_cast<size_t>(i * 70 + j)], sum) << problem.name;
      }
    }
  }
}

// All pairs of e8m0 codes except NaN, each in the second of two groups; the first group is zeros. Tests single rows, and all
// rows in one call.
TEST_P(GemmGroups, MultipliesAllPairsOfPowersOfTwo) {
  const auto check_rows = [&](int first, int count) {
    Problem problem("mxfp4", "mxfp4", LPT_FORMAT_F32, false, true, count, 256, 40);
    const auto set = [](Matrix &matrix, int64_t lane, int code) {
      for (int64_t p = 0; p < 40; ++p) matrix.set_code(lane, p, p == 39 ? 2 : 0);
      set_scale(matrix, lane, 0, static_cast<uint32_t>(std::min(code, 127)));
      set_scale(matrix, lane, 1, static_cast<uint32_t>(code));
    };
    const auto b_code = [](int lane) { return std::min(lane, 254); };
    for (int lane = 0; lane < count; ++lane) set(problem.a, lane, first + lane);
    for (int lane = 0; lane < 256; ++lane) set(problem.b, lane, b_code(lane));
    const std::vector<double> found = product(problem);
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j < 256; ++j) {
        const int exponent = first + i + b_code(j) - 254;
        const double expected = std::ldexp(1.0, exponent);
        const double value = found[static_cast<size_t>(256 * i + j)];
        if (exponent >= 126) {
          ASSERT_TRUE(value == expected || std::isinf(value)) << first + i << ", " << j << ": " << value;
        } else if (exponent >= -124) {
          ASSERT_EQ(value, expected) << first + i << ", " << j;
        } else {
          ASSERT_LE(std::fabs(value - expected), 0x1p-126) << first + i << ", " << j;
        }
      }
    }
  };
  check_rows(0, 255);
  for (int row = 0; row < 255; row += kIsSanitized ? 6 : 1) check_rows(row, 1);
}

TEST_P(GemmGroups, TakesEveryZeroPoint) {
  Random random(6);
  for (const char *b_format : {"uint4_1x32", "uint4_1x128", "uint4/row/f32/uint8"}) {
    Problem problem("int8_row", b_format, LPT_FORMAT_F32, false, true, 19, 256, 300);
    problem.draw(random);
    for (int64_t row = 0; row < 256; ++row) {
      for (int64_t block = 0; block < problem.b.grid().columns; ++block) {
        problem.b.zero_points.data()[row * problem.b.scale_stride() + block] = static_cast<uint8_t>(row + 85 * block);
      }
    }
    check(problem);
  }
}

TEST_P(GemmGroups, CorruptsWhatANanScaleReaches) {
  Random random(7);
  const FormatPair pairs[] = {{"mxfp4", "mxfp4"}, {"nvfp4", "nvfp4"}, {"int8_1x32", "mxfp4"}, {"nvfp4", "int4_1x32"}};
  for (const FormatPair &pair : pairs) {
    for (const int64_t k : {20, 100}) {
      Problem problem(pair.a, pair.b, LPT_FORMAT_F32, false, true, 40, 70, k);
      problem.draw(random);
      const auto corrupt = [](Matrix &matrix, int64_t lane) {
        set_scale(matrix, lane, matrix.grid().columns - 1, nan_scale(matrix));
        for (int64_t p = 0; p < matrix.columns(); ++p) matrix.set_code(lane, p, 0);
      };
      corrupt(problem.a, 5);
      corrupt(problem.a, 39);
      corrupt(problem.b, 0);
      corrupt(problem.b, 64);
      const std::vector<double> found = product(problem);
      for (int64_t i = 0; i < 40; ++i) {
        for (int64_t j = 0; j < 70; ++j) {
          const bool is_spoilt = i == 5 || i == 39 || j == 0 || j == 64;
          ASSERT_EQ(std::isnan(found[static_cast<size_t>(i * 70 + j)]), is_spoilt)
              << problem.name << " at " << i << ", " << j;
        }
      }
    }
  }
}

TEST_P(GemmGroups, DoesNotDependOnHowCIsCut) {
  Random random(8);
  const FormatPair pairs[] = {{"mxfp4", "mxfp4"},        {"nvfp4", "nvfp4"},       {"int8_row", "uint4_1x32"},
                              {"int8_1x32", "int8_row"}, {"int8_row", "int8_row"}, {"int8_row", "int8_tensor"}};
  for (const FormatPair &pair : pairs) {
    const int64_t k = pair.b == std::string("int8_tensor") ? 332 : 333;
    Problem whole(pair.a, pair.b, LPT_FORMAT_F32, false, true, 200, 300, k);
    whole.draw(random);
    whole.add_terms(1.25, 0, true);
    if (pair.a == std::string("mxfp4")) set_scale(whole.a, 70, 3, 2);  // one block has an extreme scale
    const std::vector<double> expected = product(whole);
    const Panels panels(whole);
    GemmRequest part = whole.request;
    part.b = panels.view;
    for (const int64_t rows : {64, 128}) {
      std::memset(whole.c.data.data(), 0xFF, whole.c.data.bytes());
      for (part.first_row = 0; part.first_row < 200; part.first_row += rows) {
        part.m = std::min<int64_t>(rows, 200 - part.first_row);
        for (part.first_column = 0; part.first_column < 300; part.first_column += 64) {
          part.n = std::min<int64_t>(64, 300 - part.first_column);
          run(part);
        }
      }
      EXPECT_EQ(numbers_of_c(whole), expected) << whole.name;
    }
  }
}

TEST_P(GemmGroups, AppliesAlphaBetaAndBias) {
  Random random(9);
  for (const lpt_format c_format : kOutputs) {
    Problem problem("mxfp4", "nvfp4", c_format, false, true, 23, 45, 100, 3);
    problem.draw(random);
    problem.add_terms(-1.5, 0.75, true);
    check(problem);
  }
}

// The largest sums of one group, and small sums of large terms. Longer k is split into groups that fit. Each row of b holds one
// value.
TEST_P(GemmGroups, HoldsTheLargestSums) {
  const int64_t ends[] = {-128, 127, -128, 1, 0};
  for (const int64_t k : {1000, 131071, 140000}) {
    Problem problem("int8", "int8", LPT_FORMAT_F32, false, true, 4, 35, k);
    const auto fill = [&](Matrix &matrix, int64_t row, int64_t begin, int64_t end, int64_t number) {
      std::memset(matrix.data.data() + matrix.index(row, begin), static_cast<uint8_t>(number),
                  static_cast<size_t>(end - begin));
    };
    const int64_t middle = k / 2 + 1;  // of the last row of a, where the sign changes
    for (int64_t i = 0; i < 3; ++i) fill(problem.a, i, 0, k, ends[i]);
    fill(problem.a, 3, 0, middle, 127);
    fill(problem.a, 3, middle, k, -127);
    for (int64_t j = 0; j < 35; ++j) fill(problem.b, j, 0, k, ends[j % 5]);
    const std::vector<double> found = product(problem);
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 35; ++j) {
        const int64_t factor = ends[j % 5];
        const int64_t sum = factor * (i < 3 ? k * ends[i] : 127 * (2 * middle - k));
        const int64_t total = k * std::abs(factor * (i < 3 ? ends[i] : 127));
        const double value = found[static_cast<size_t>(i * 35 + j)];
        if (k < 1 << 17) {
          ASSERT_EQ(value, static_cast<double>(static_cast<float>(sum))) << k << " at " << i << ", " << j;
        } else {
          const double error = std::fabs(value - static_cast<double>(sum));
          ASSERT_LE(error, 0x1p-22 * static_cast<double>(total)) << k << " at " << i << ", " << j;
        }
      }
    }
  }
}

// Pairs of the largest terms of each sign.
TEST_P(GemmGroups, HoldsTheLargestPairs) {
  for (const char *b_format : {"e3m0", "int4", "e2m1fn", "uint4_1x128"}) {
    Problem problem("int8", b_format, LPT_FORMAT_F32, false, true, 2, 16, 96);
    Random random(13);
    problem.draw(random);
    for (int64_t p = 0; p < 96; ++p) {
      problem.a.set_code(0, p, 0x80);
      problem.a.set_code(1, p, 0x7F);
      for (int64_t j = 0; j < 16; ++j) problem.b.set_code(j, p, static_cast<uint32_t>(j));
    }
    const std::vector<double> found = product(problem);
    for (int64_t i = 0; i < 2; ++i) {
      for (int64_t j = 0; j < 16; ++j) {
        const double expected = 96 * problem.a_at(i, 0) * problem.b_at(0, j);
        ASSERT_LE(std::fabs(found[static_cast<size_t>(i * 16 + j)] - expected), 0x1p-22 * std::fabs(expected))
            << problem.name << " " << i << " " << j;
      }
    }
  }
}

TEST_P(GemmGroups, RejectsWhatItCannotDo) {
  const auto rejection = [&](const char *a, const char *b, bool is_a_transposed, bool is_b_transposed, int64_t k) {
    Problem problem(a, b, LPT_FORMAT_F32, is_a_transposed, is_b_transposed, 3, 5, k);
    if (is_packed_only() && k > 0 && is_b_transposed) problem.request.b.layout = Layout::kPanels;
    const char *reason = kernel_->unsupported_reason(problem.request);
    return std::string(reason == nullptr ? "" : reason);
  };
  EXPECT_EQ(rejection("mxfp4", "mxfp4", false, true, 64), "");
  EXPECT_EQ(rejection("mxfp4", "mxfp4", true, true, 64), "k is not adjacent in both operands");
  EXPECT_EQ(rejection("mxfp4", "mxfp4", false, false, 64), "k is not adjacent in both operands");
  EXPECT_EQ(rejection("mxfp4", "mxfp4", false, true, 0), "without k there is nothing to multiply");
  EXPECT_EQ(rejection("mxfp8_e4m3", "mxfp4", false, true, 64), "elements are not integers of 2, 4 or 8 bits");
  EXPECT_EQ(rejection("int8", "bf16", false, true, 64), "elements are not integers of 2, 4 or 8 bits");
  EXPECT_EQ(rejection("int8", "f32", false, true, 64), "elements are not integers");
  EXPECT_EQ(rejection("uint4_1x32", "int8", false, true, 64), "a has zero points");
  EXPECT_EQ(rejection("int8", "uint8/1x16/f32/uint8", false, true, 64), "integers are unsigned bytes");
  EXPECT_EQ(rejection("int8/1x4/f32", "int8", false, true, 64), "groups are of fewer than 8");
  EXPECT_EQ(rejection("int8", "nf4", false, true, 64), "elements are not integers of 2, 4 or 8 bits");
  if (!is_packed_only()) return;
  EXPECT_EQ(rejection("int8", "e2m3fn", false, true, 64), "elements of b have 6 bits");
  const Problem rows("int8", "int8", LPT_FORMAT_F32, false, true, 3, 5, 64);
  EXPECT_STREQ(kernel_->unsupported_reason(rows.request), "b is not packed");
}

}  // namespace
}  // namespace lpt::test
