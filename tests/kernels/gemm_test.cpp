// Every GEMM kernel against sums in double, computed from the definitions of the formats.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/kernels/gemm_problem.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

std::string name_of_row(const testing::TestParamInfo<size_t> &info) { return gemm_kernels()[info.param].name; }

INSTANTIATE_TEST_SUITE_P(Kernels, Gemm, testing::ValuesIn(native_rows()), name_of_row);

TEST_P(Gemm, MultipliesAllPairsOfFormats) {
  Random random(1);
  int64_t taken = 0;
  const bool takes_most = pair("bf16", "bf16").a == std::string("bf16");
  for (const char *a_format : kOperands) {
    for (const char *b_format : kOperands) {
      if (!is_taken(random, 5)) continue;
      for (int repetition = 0; repetition < (takes_most ? 1 : 30); ++repetition) {
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
  EXPECT_GT(taken, kIsSanitized ? 0 : takes_most ? 300 : 100);
}

TEST_P(Gemm, MultipliesAllSmallShapes) {
  Random random(2);
  for (int64_t m : {1, 2, 7, 8, 9, 15, 16, 17, 33}) {
    for (int64_t n : {1, 2, 8, 15, 16, 17, 24, 25, 31, 32, 33, 49, 65}) {
      for (int64_t k : {1, 2, 3, 15, 16, 17, 31, 32, 33, 65}) {
        if (!is_taken(random, 3)) continue;
        const int64_t layout = random.below(4);
        const bool is_narrow = random.chance(0.3);
        const Pair formats = is_narrow ? pair("e2m1fn", "mxfp4") : pair("e4m3fn", "bf16");
        Problem problem(formats.a, formats.b, LPT_FORMAT_F32, layout & 1, layout & 2, m, n, k);
        if (!takes(problem.request)) continue;
        problem.draw(random);
        check(problem, random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Threads share scratch of the size of the largest part.
TEST_P(Gemm, PartsNeedNoMoreScratchThanTheWhole) {
  const Pair formats = pair("e4m3fn_tensor", "e5m2_tensor");
  const auto expect_rising = [&](const GemmRequest &whole, int64_t GemmRequest::*extent) {
    GemmRequest request = whole;
    size_t least = 0;
    for (request.*extent = 1; request.*extent <= 1700; ++(request.*extent)) {
      const size_t bytes = kernel().scratch_bytes(request);
      ASSERT_GE(bytes, least) << request.m << " x " << request.k << " x " << request.n;
      least = bytes;
    }
  };
  for (const int64_t k : {64, 512, 2050}) {
    for (const Layout layout : {Layout::kRows, Layout::kPanels}) {
      Problem problem(formats.a, formats.b, LPT_FORMAT_F32, false, true, 700, 700, k);
      problem.request.b.layout = layout;
      if (!takes(problem.request)) continue;
      expect_rising(problem.request, &GemmRequest::m);
      expect_rising(problem.request, &GemmRequest::n);
    }
  }
}

TEST_P(Gemm, MultipliesMoreThanIsPackedAtOnce) {
  Random random(3);
  const bool is_reference = GetParam() + 1 == gemm_kernels().size();
  for (int layout = 0; layout < 4; ++layout) {
    if (kIsSanitized && layout % 3 == 0) continue;
    const Pair formats = pair("e4m3fn_tensor", "mxfp8_e4m3");
    Problem problem(formats.a, formats.b, LPT_FORMAT_F32, layout & 1, layout & 2, is_reference ? 70 : 300,
                    is_reference ? 70 : 800, 2050);
    if (!takes(problem.request)) continue;
    problem.draw(random);
    problem.add_terms(1, 0.5, true);
    check(problem, random, 2000);
  }
  const Pair formats = pair("bf16", "e4m3fn_tensor");
  Problem deep(formats.a, formats.b, LPT_FORMAT_F32, false, true, is_reference ? 40 : 110, 130, 20001);
  deep.draw(random);
  check(deep, random, 500);
  Problem rows("bf16", "ternary_tensor", LPT_FORMAT_F32, false, true, 40, 70, 1100);  // five digits share a byte
  Problem columns("ternary", "bf16", LPT_FORMAT_F32, true, false, 43, 70, 1100);
  for (Problem *problem : {&rows, &columns}) {
    if (!takes(problem->request)) continue;
    problem->draw(random);
    check(*problem, random, 500);
  }
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
          ASSERT_EQ(static_cast<double>(problem.c.get(i, j)), sum) << kernel().name << " " << problem.name;
        }
      }
    }
  }
}

// Products of the extremes of int8, in all signs, whose sums are the largest in int32.
TEST_P(Gemm, HoldsTheLargestSumsOfInt8) {
  for (const int64_t k : {131071, 1000}) {
    for (int layout = 0; layout < 4; ++layout) {
      Problem problem("int8", "int8", LPT_FORMAT_F32, layout & 1, layout & 2, 3, 35, k);
      if (std::string(kernel().name).find("gemm_int8") != 0) return;  // f32 sums of this length are not exact
      const int32_t ends[] = {-128, 127, -128, 1, 0};
      for (int64_t p = 0; p < k; ++p) {
        for (int64_t i = 0; i < 3; ++i) {
          problem.a.set_code(layout & 1 ? p : i, layout & 1 ? i : p, static_cast<uint8_t>(ends[i]));
        }
        for (int64_t j = 0; j < 35; ++j) {
          problem.b.set_code(layout & 2 ? j : p, layout & 2 ? p : j, static_cast<uint8_t>(ends[j % 5]));
        }
      }
      run(problem.request);
      for (int64_t i = 0; i < 3; ++i) {
        for (int64_t j = 0; j < 35; ++j) {
          ASSERT_EQ(problem.c.get(i, j), static_cast<float>(k * ends[i] * ends[j % 5])) << problem.name << " " << j;
        }
      }
    }
  }
}

TEST_P(Gemm, DecodesEveryCode) {
  constexpr int64_t kRows = 3;  // the minimum of all kernels
  const std::string other = pair("bf16", "bf16").a == std::string("bf16") ? "bf16" : "int8";
  for (const char *format : {"e4m3fn", "e4m3", "e5m2", "int8", "e2m1fn", "e3m4", "e4m3fnuz", "e5m2fnuz", "e4m3b11fnuz",
                             "e3m2fn", "e2m3fn", "e3m0", "q1_6", "int4", "int2", "int3", "nf4"}) {
    for (int layout = 0; layout < 4; ++layout) {
      const bool is_a_transposed = layout & 1, is_b_transposed = layout & 2;
      Problem problem(format, other.c_str(), LPT_FORMAT_F32, is_a_transposed, is_b_transposed, 256, 1, 1);
      Problem mirrored(other.c_str(), format, LPT_FORMAT_F32, is_a_transposed, is_b_transposed, kRows, 256, 1);
      if (!takes(problem.request)) continue;
      const uint32_t codes = 1u << element_bits(problem.a.format().element);
      for (int64_t i = 0; i < 256; ++i) {
        const uint32_t code = static_cast<uint32_t>(i) % codes;
        problem.a.set_code(is_a_transposed ? 0 : i, is_a_transposed ? i : 0, code);
        mirrored.b.set_code(is_b_transposed ? i : 0, is_b_transposed ? 0 : i, code);
      }
      const uint32_t one = other == "bf16" ? 0x3F80 : 1;
      problem.b.set_code(0, 0, one);
      for (int64_t i = 0; i < kRows; ++i) mirrored.a.set_code(is_a_transposed ? 0 : i, is_a_transposed ? i : 0, one);
      run(problem.request);
      run(mirrored.request);
      for (int64_t i = 0; i < 256; ++i) {
        const double expected = std::fabs(number_of(problem.a.format().element, static_cast<uint32_t>(i) % codes));
        for (const double found :
             {static_cast<double>(problem.c.get(i, 0)), static_cast<double>(mirrored.c.get(kRows - 1, i))}) {
          ASSERT_TRUE(std::isnan(expected) ? std::isnan(found) : std::fabs(found) == expected)
              << kernel().name << " " << format << " code " << i << ": " << found << " for " << expected;
        }
      }
    }
  }
}

// Kernels decode eight steps of k at once: row i of c is step i of b.
TEST_P(Gemm, DecodesEveryCodeInEachOfEightSteps) {
  for (const char *format : {"e4m3fn", "e4m3fnuz", "e2m1fn", "e3m0", "int4", "int2", "int3", "nf4", "bnb_fp4", "q1_6",
                             "e2m0b1-finite", "e2m2b1-nan", "e4m2b9-finite", "e6m1b31-ieee", "ue3m4b7-ieee"}) {
    Problem problem("bf16", format, LPT_FORMAT_F32, false, true, 8, 256, 8);
    if (!takes(problem.request)) continue;
    const lpt_format element = problem.b.format().element;
    const uint32_t codes = 1u << element_bits(element);
    for (int64_t step = 0; step < 8; ++step) {
      for (int64_t i = 0; i < 8; ++i) problem.a.set_code(i, step, i == step ? 0x3F80 : 0);
      for (int64_t j = 0; j < 256; ++j) problem.b.set_code(j, step, static_cast<uint32_t>(j + step) % codes);
    }
    run(problem.request);
    for (int64_t j = 0; j < 256; ++j) {
      const auto value = [&](int64_t step) { return number_of(element, static_cast<uint32_t>(j + step) % codes); };
      bool is_finite = true;
      for (int64_t step = 0; step < 8; ++step) is_finite = is_finite && std::isfinite(value(step));
      for (int64_t step = 0; step < 8; ++step) {
        const auto found = static_cast<double>(problem.c.get(step, j));
        ASSERT_TRUE(is_finite ? found == value(step) : !std::isfinite(found))
            << kernel().name << " " << format << " lane " << j << " step " << step << ": " << found;
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
  for (const char *format : {"e4m3fn_row", "mxfp4", "bf16", "f32", "int8_row"}) {
    for (int layout = 0; layout < 8; ++layout) {
      if (!is_taken(random, 4)) continue;
      Problem whole(format, format, LPT_FORMAT_F32, layout & 1, layout & 2, 200, 300, layout & 4 ? 132 : 133);
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
        ASSERT_TRUE(whole.c.data.equals(cut.data)) << kernel().name << " " << whole.name;
      }
    }
  }
}

TEST_P(Gemm, GivesTheSameBitsTwice) {
  Random random(7);
  const Pair formats = pair("nvfp4", "e4m3fn_tensor");
  Problem problem(formats.a, formats.b, LPT_FORMAT_BF16, false, true, 100, 100, 200);
  problem.draw(random);
  run(problem.request);
  Matrix first(LPT_FORMAT_BF16, 100, 100);
  std::memcpy(first.data.data(), problem.c.data.data(), problem.c.data.bytes());
  run(problem.request);
  EXPECT_TRUE(problem.c.data.equals(first.data));
}

TEST_P(Gemm, DoesNotReadCWithoutBeta) {
  Random random(9);
  const Pair formats = pair("bf16", "bf16");
  Problem problem(formats.a, formats.b, LPT_FORMAT_F32, false, true, 20, 40, 70);
  problem.draw(random);
  for (int64_t i = 0; i < 20; ++i) {
    for (int64_t j = 0; j < 40; ++j) problem.c.set(i, j, std::numeric_limits<float>::quiet_NaN());
  }
  check(problem, random);
}

TEST_P(Gemm, KeepsBetaAndBiasWithoutK) {
  Random random(10);
  const Pair formats = pair("e4m3fn_row", "nvfp4");
  Problem problem(formats.a, formats.b, LPT_FORMAT_F32, false, true, 9, 33, 0);
  if (!takes(problem.request)) {
    EXPECT_STREQ(kernel().unsupported_reason(problem.request), "without k there is nothing to multiply");
    return;
  }
  problem.draw(random);
  problem.add_terms(3, 0.5, true);
  check(problem, random);
}

// A special value affects only its row or column of c: not padding, not neighbors.
TEST_P(Gemm, PropagatesNanAndInfinity) {
  Random random(11);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const lpt_format c_format : kOutputs) {
    for (int64_t k : {1, 33, 64}) {
      for (int layout = 0; layout < 4; ++layout) {
        Problem problem("bf16", "bf16", c_format, layout & 1, layout & 2, 21, 35, k);
        if (!takes(problem.request)) return;  // int8 has no such values
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
              ASSERT_TRUE(std::isnan(found)) << kernel().name << " " << problem.name << " at " << i << ", " << j;
            } else if (!is_special_row) {
              ASSERT_TRUE(std::isfinite(found)) << kernel().name << " " << problem.name << " at " << i << ", " << j;
            }
          }
        }
        EXPECT_EQ(problem.c.get(7, 3), infinity);
        EXPECT_EQ(problem.c.get(20, 3), -infinity);
      }
    }
  }
}

TEST_P(Gemm, ANanScaleCorruptsItsBlockOnly) {
  Random random(12);
  for (int layout = 0; layout < 4; ++layout) {
    Problem problem("mxfp4", "mxfp8_e4m3", LPT_FORMAT_F32, layout & 1, layout & 2, 40, 40, 40);
    if (!takes(problem.request)) return;  // no integer kernel supports scales along k
    problem.draw(random);
    set_scale(problem.a, 3, 1, 0xFF);  // a(3, 32…39), or as stored transposed a(32…39, 3)
    run(problem.request);
    for (int64_t i = 0; i < 40; ++i) {
      const bool is_spoilt = layout & 1 ? i >= 32 : i == 3;
      for (int64_t j = 0; j < 40; ++j)
        ASSERT_EQ(std::isnan(problem.c.get(i, j)), is_spoilt) << kernel().name << " " << i;
    }
  }
}

}  // namespace
}  // namespace lpt::test
