// GEMM by kernels that read panels as bf16, and with b in rows whose scales vary along k, against sums in double that do not
// use panels.
#include "tests/kernels/gemm_panels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace lpt::test {
namespace {

const char *const kRowFormats[] = {"bf16",       "e4m3fn_tensor", "e5m2_row",     "e4m3fn_1x128", "mxfp8_e4m3",
                                   "mxfp4",      "nvfp4",         "int8_row",     "int8_1x32",    "int4_1x32",
                                   "uint4_1x32", "mxint8",        "e3m2fn",       "e4m3fnuz",     "e4m3fn/1x16/f32",
                                   "e4m3",       "e5m2_1x128",    "int8/1x8/f32", "e2m1fn"};
const char *const kColumnFormats[] = {"bf16",           "e4m3fn_tensor",
                                      "e4m3_tensor",    "e5m2_row",
                                      "e3m4",           "e4m3fnuz_tensor",
                                      "e5m2fnuz",       "e4m3b11fnuz",
                                      "mxfp6_e3m2",     "mxfp6_e2m3",
                                      "mxfp8_e4m3",     "mxfp8_e5m2",
                                      "e4m3fn_1x128",   "e4m3fn_128x128",
                                      "int8_row",       "int8_1x32",
                                      "mxint8",         "q1_6",
                                      "int4",           "int4_1x32",
                                      "int4_1x64",      "int4_1x128",
                                      "uint4_1x32",     "uint4_1x64",
                                      "uint4_1x128",    "uint4/row/f32/uint8",
                                      "int2",           "int3",
                                      "int3/1x32/f32",  "int2/1x16/f32",
                                      "ternary_tensor", "ternary/1x32/f32",
                                      "e3m0_tensor",    "mxfp4",
                                      "nvfp4",          "nvfp4_16x16",
                                      "e2m1fn",         "uint8/1x16/f32/uint8",
                                      "e4m3fn/1x4/f32", "e2m3fn/1x8/e8m0fnu"};

constexpr const char *kBf16Row = "gemm_panels_x86_avx512_bf16";

class GemmPanels : public GemmKernelTest, public testing::WithParamInterface<const char *> {
 protected:
  GemmPanels() : GemmKernelTest(GetParam()) {}

  // The AMX kernel does not support some formats and small m.
  bool row_takes(const Problem &problem, Layout layout) const {
    GemmRequest request = problem.request;
    request.b.layout = layout;
    return takes(*kernel_, request);
  }

  // Checks c with b in panels, and with b in rows.
  void check(Problem &problem) {
    const std::vector<uint8_t> c(problem.c.data.data(), problem.c.data.data() + problem.c.data.bytes());
    if (row_takes(problem, Layout::kPanels)) {
      Oracle oracle(problem);
      packed(problem);
      oracle.judge("packed");
      ++judged_;
    }
    std::memcpy(problem.c.data.data(), c.data(), c.size());
    check_plain(problem);
  }

  void check_plain(Problem &problem) {
    if (!row_takes(problem, Layout::kRows)) return;
    Oracle oracle(problem);
    plain(problem);
    oracle.judge("plain");
    ++judged_;
  }

  // Rows to add to m, so that the AMX kernel supports it.
  int64_t more_rows() const { return GetParam() == std::string(kBf16Row) ? 0 : 32; }

  int64_t judged_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Kernels, GemmPanels, testing::Values(kBf16Row, "gemm_any_x86_amx"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(GemmPanels, MultipliesAllPairsOfFormats) {
  Random random(1);
  for (const char *a_format : kRowFormats) {
    for (const char *b_format : kColumnFormats) {
      for (int repetition = 0; repetition < 2; ++repetition) {
        if (!is_taken(random, 6)) continue;
        const int64_t n = random.of(kEdges), k = random.of(kEdges);
        Problem problem(a_format, b_format, random.of(kOutputs), false, true, more_rows() + 1 + random.below(20), n, k,
                        random.below(3));
        problem.draw(random);
        problem.add_terms(random.chance(0.5) ? 1 : -1.5, random.chance(0.7) ? 0 : 0.75, random.chance(0.3));
        check(problem);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(judged_, 0);
}

TEST_P(GemmPanels, MultipliesAllShapes) {
  Random random(2);
  const FormatPair pairs[] = {
      {"bf16", "e4m3fn_tensor"}, {"bf16", "int4_1x32"},           {"e4m3fn_1x128", "e4m3fn_128x128"},
      {"bf16", "uint4_1x64"},    {"e4m3fn/1x32/f32", "int8_row"}, {"e4m3fn_tensor", "int4"},
      {"bf16", "bf16"},          {"int8_row", "int8_1x32"}};
  for_all_shapes(random, [&](int64_t m, int64_t n, int64_t k) {
    const FormatPair pair = random.of(pairs);
    Problem problem(pair.a, pair.b, LPT_FORMAT_F32, false, true, m, n, k);
    problem.draw(random);
    check(problem);
  });
  EXPECT_GT(judged_, 0);
}

// Operands in both storage orders; blocks of rows and columns have groups of k in both.
TEST_P(GemmPanels, MultipliesAllLayouts) {
  Random random(3);
  for (const char *a_format : {"bf16", "e4m3fn_128x128", "int8/32x8/f32", "e5m2/16x16/f32"}) {
    for (const char *b_format : {"e4m3fn_128x128", "int8/32x8/f32", "e5m2/16x16/f32", "int4/64x8/f32",
                                 "uint4/16x16/f32/uint8", "nvfp4_16x16"}) {
      for (int layout = 0; layout < 4; ++layout) {
        if (!is_taken(random, 3)) continue;
        Problem problem(a_format, b_format, LPT_FORMAT_F32, layout & 1, layout & 2, more_rows() + 1 + random.below(70),
                        1 + random.below(150), 1 + random.below(300), random.below(3));
        problem.draw(random);
        layout & 2 ? check(problem) : check_plain(problem);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(judged_, 0);
}

TEST_P(GemmPanels, MultipliesMoreThanIsPackedAtOnce) {
  Random random(4);
  for (const char *b_format : {"e4m3fn_tensor", "uint4_1x128"}) {
    Problem problem("bf16", b_format, LPT_FORMAT_F32, false, true, 100, 70, 9000);
    problem.draw(random);
    check(problem);
  }
  EXPECT_GT(judged_, 0);
}

// Multiplications by scales are omitted if all scales are 1.
TEST_P(GemmPanels, ScalesARowAmongOthersThatAreNot) {
  Random random(11);
  for (const int64_t scaled : {-1, 0, 11, 12, 30, 39}) {
    Problem problem("e5m2_row", "e4m3fn_tensor", LPT_FORMAT_F32, false, true, 40, 70, 64);
    problem.draw(random);
    for (int64_t i = 0; i < 40; ++i) set_scale(problem.a, i, 0, float_bits(i == scaled ? 2.5f : 1));
    check(problem);
    if (HasFailure()) return;
  }
  EXPECT_GT(judged_, 0);
}

// Every code at each position of k in a line, in both halves of a panel.
TEST_P(GemmPanels, DecodesEveryCode) {
  for (const char *format : {"e4m3fn", "e4m3",    "e5m2", "e3m4",   "e4m3fnuz",  "e5m2fnuz",   "e4m3b11fnuz",
                             "e3m2fn", "e2m3fn",  "int8", "q1_6",   "int4",      "uint4",      "int2",
                             "int3",   "ternary", "e3m0", "e2m1fn", "int4_1x32", "mxfp6_e3m2", "int8/1x8/f32"}) {
    for (const int64_t m : {1, 2, 3, 8}) {
      for (const int64_t place : {0, 1, 2, 3, 37}) {
        Problem problem("bf16", format, LPT_FORMAT_F32, false, true, m, 256, place + 1);
        if (!row_takes(problem, Layout::kPanels)) continue;
        ++judged_;
        Random random(5);
        problem.draw(random);
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t p = 0; p <= place; ++p) problem.a.set(i, p, p == place ? 1 : 0);
        }
        const uint32_t codes = 1u << element_bits(problem.b.format().element);
        for (int64_t j = 0; j < 256; ++j) {
          for (int64_t p = 0; p <= place; ++p)
            problem.b.set_code(j, p, p == place ? static_cast<uint32_t>(j) % codes : 0);
        }
        const std::vector<double> found = packed(problem);
        for (size_t at = 0; at < found.size(); ++at) {
          const auto expected =
              static_cast<double>(static_cast<float>(problem.b_at(place, static_cast<int64_t>(at % 256))));
          const bool is_special = !std::isfinite(expected);  // the oracle's infinity has no sign
          ASSERT_TRUE(is_special ? std::isnan(found[at]) == std::isnan(expected) && !std::isfinite(found[at])
                                 : found[at] == expected)
              << problem.name << " code " << at % 256 % codes << ": " << found[at] << " for " << expected;
        }
      }
    }
  }
  EXPECT_GT(judged_, 0);
}

// All zero points of a byte by all codes: differences are exact for any zero point.
TEST_P(GemmPanels, TakesEveryZeroPoint) {
  Random random(6);
  for (const char *b_format : {"uint4_1x32", "uint4_1x128", "uint4/row/f32/uint8", "uint8/1x16/f32/uint8"}) {
    for (const int64_t m : {1, 3, 19}) {
      Problem problem("bf16", b_format, LPT_FORMAT_F32, false, true, m, 512, 300);
      problem.draw(random);
      for (int64_t row = 0; row < 512; ++row) {
        for (int64_t block = 0; block < problem.b.grid().columns; ++block) {
          problem.b.zero_points.data()[row * problem.b.scale_stride() + block] =
              static_cast<uint8_t>(row < 256 ? row + 85 * block : row % 18);
        }
      }
      check(problem);
    }
  }
  EXPECT_GT(judged_, 0);
}

// Codes equal to their zero points are zero, and so is c.
TEST_P(GemmPanels, IsZeroWhereCodesAreZeroPoints) {
  Random random(7);
  Problem problem("bf16", "uint4_1x32", LPT_FORMAT_F32, false, true, 9, 40, 100);
  problem.draw(random);
  for (int64_t row = 0; row < 40; ++row) {
    for (int64_t p = 0; p < 100; ++p) problem.b.set_code(row, p, problem.b.zero_point(row, p / 32));
  }
  for (const double value : packed(problem)) EXPECT_EQ(value, 0);
  for (const double value : plain(problem)) EXPECT_EQ(value, 0);
}

// Small integers and power-of-two scales: no step rounds.
TEST_P(GemmPanels, IsExactWhereNothingRounds) {
  Random random(8);
  for (const char *b_format : {"mxfp4", "mxint8", "mxfp6_e2m3", "int4/1x16/e8m0fnu", "e5m2"}) {
    Problem problem("int8", b_format, LPT_FORMAT_F32, false, true, 21, 70, 301);
    if (!row_takes(problem, Layout::kPanels)) continue;
    ++judged_;
    problem.draw(random);
    for (int64_t i = 0; i < 21; ++i) {
      for (int64_t p = 0; p < 301; ++p) problem.a.set_code(i, p, static_cast<uint8_t>(random.below(7) - 3));
    }
    const std::vector<double> found = packed(problem), a = problem.a_lanes(), b = problem.b_lanes();
    for (size_t at = 0; at < found.size(); ++at) {
      double sum = 0;
      for (size_t p = 0; p < 301; ++p) sum += a[at / 70 * 301 + p] * b[at % 70 * 301 + p];
      if (b_format != std::string("e5m2")) {
        ASSERT_EQ(found[at], sum) << problem.name;
      }
    }
  }
  EXPECT_GT(judged_, 0);
}

// Parts of c, down to single rows, have the bits of the full GEMM. So do packed and unpacked b, and expanded panels.
TEST_P(GemmPanels, DoesNotDependOnHowCIsCut) {
  Random random(9);
  const FormatPair pairs[] = {{"bf16", "e4m3fn_tensor"}, {"e4m3fn_1x128", "int4_1x64"}, {"mxfp8_e4m3", "uint4_1x32"},
                              {"int8_row", "int8_1x32"}, {"bf16", "e4m3fnuz"},          {"bf16", "nvfp4"},
                              {"bf16", "bf16"},          {"e5m2_row", "int4"}};
  for (const FormatPair &pair : pairs) {
    Problem whole(pair.a, pair.b, LPT_FORMAT_F32, false, true, 75, 300, 333);
    if (!row_takes(whole, Layout::kPanels)) continue;
    whole.draw(random);
    whole.add_terms(1.25, 0, true);
    if (whole.b.format().has_zero_point()) whole.b.zero_points.data()[70 * whole.b.scale_stride() + 3] = 200;
    const std::vector<double> expected = packed(whole);
    EXPECT_EQ(plain(whole), expected) << whole.name;
    const Panels panels(whole);
    for (const bool is_packed : {true, false}) {
      GemmRequest part = whole.request;
      if (is_packed) part.b = panels.view;
      for (const int64_t rows : {1, 2, 3, 4, 5, 8, 13, 64}) {
        std::memset(whole.c.data.data(), 0xFF, whole.c.data.bytes());
        for (part.first_row = 0; part.first_row < 75; part.first_row += rows) {
          part.m = std::min<int64_t>(rows, 75 - part.first_row);
          for (part.first_column = 0; part.first_column < 300; part.first_column += 64) {
            part.n = std::min<int64_t>(64, 300 - part.first_column);
            run(part);
          }
        }
        ASSERT_EQ(numbers_of_c(whole), expected) << whole.name << " by " << rows << " rows";
      }
    }
  }
}

TEST_P(GemmPanels, CorruptsWhatANanScaleReaches) {
  Random random(10);
  const FormatPair pairs[] = {{"mxfp8_e4m3", "mxfp4"}, {"bf16", "nvfp4"}, {"e4m3fn_1x128", "int4_1x32"}};
  for (const FormatPair &pair : pairs) {
    Problem problem(pair.a, pair.b, LPT_FORMAT_F32, false, true, 40, 70, 150);
    problem.draw(random);
    for (const int64_t lane : {0, 64}) {
      set_scale(problem.b, lane, 2, nan_scale(problem.b));
      for (int64_t p = 0; p < (lane == 0 ? 0 : 150); ++p)
        problem.b.set_code(lane, p, 0);  // NaN also results from
                                         // zeros
    }
    for (const std::vector<double> &found : {packed(problem), plain(problem)}) {
      for (size_t at = 0; at < found.size(); ++at) {
        ASSERT_EQ(std::isnan(found[at]), at % 70 == 0 || at % 70 == 64) << problem.name << " at " << at;
      }
    }
  }
}

// Rows of c at any address, with gaps that are not written.
TEST_P(GemmPanels, WritesNothingBesideC) {
  Random random(11);
  for (const lpt_format c_format : kOutputs) {
    for (const int64_t m : {1, 4, 13}) {
      Problem problem("bf16", "int4_1x32", c_format, false, true, m, 45, 70, 5);
      if (!row_takes(problem, Layout::kPanels)) continue;
      ++judged_;
      problem.draw(random);
      Matrix moved(c_format, m, 45, 5, 2 * static_cast<size_t>(1 + random.below(31)));
      std::memset(moved.data.data(), 0x77, moved.data.bytes());
      problem.request.c = moved.view();
      packed(problem);
      EXPECT_TRUE(moved.is_intact());
      const int64_t bytes = element_bits(c_format) / 8;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t at = 45 * bytes; at < 50 * bytes; ++at) {
          ASSERT_EQ(moved.data.data()[i * 50 * bytes + at], 0x77) << problem.name << " row " << i;
        }
      }
    }
  }
  EXPECT_GT(judged_, 0);
}

TEST_P(GemmPanels, SaysWhatItRejects) {
  if (GetParam() != std::string(kBf16Row)) return;
  struct Expected {
    const char *a, *b;
    int64_t k;
    const char *reason;
  };
  const Expected table[] = {{"bf16", "int4_1x128", 4096, nullptr},
                            {"e4m3fn_1x128", "e4m3fn_128x128", 300, nullptr},
                            {"bf16", "e4m3fn/1x2/f32", 2, nullptr},
                            {"bf16", "e4m3fn/1x2/f32", 3, "blocks of scales are shorter than 4 along k"},
                            {"f32", "int4_1x128", 4096,
                             "a is f32, whose elements are not exact in bf16: LPT_GEMM_CAST_A_TO_BF16 rounds them"},
                            {"f32", "f32", 4096, "f32 elements are not exact in bf16"},
                            {"bf16", "f16_tensor", 64, "f16 elements are not exact in bf16"},
                            {"bf16", "nf4_1x64", 64, "levels of a list are not exact in bf16"},
                            {"f64", "e4m3fn", 64, "f64 is computed by the reference kernel"}};
  for (const Expected &expected : table) {
    Problem problem(expected.a, expected.b, LPT_FORMAT_F32, false, true, 4, 4, expected.k);
    for (const Layout layout : {Layout::kRows, Layout::kPanels}) {
      problem.request.b.layout = layout;
      EXPECT_STREQ(kernel_->unsupported_reason(problem.request), expected.reason) << problem.name;
    }
    problem.request.is_portable = true;
    EXPECT_NE(kernel_->unsupported_reason(problem.request), nullptr) << problem.name;
  }
}

}  // namespace
}  // namespace lpt::test
