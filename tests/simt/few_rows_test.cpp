// Small-m GEMM on the CPU: index maps exhaustively, all codes of few bits, sums against sums in double.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <tuple>

#include "kernels/gemm/cuda/cuda_few_rows.hpp"
#include "kernels/gemm/cuda/cuda_gemm.hpp"
#include "kernels/gemm/cuda/cuda_halves.hpp"
#include "tests/simt/device_gemms.hpp"

namespace lpt::test {
namespace {

// MMA operations: the fragment layout of PTX, lane by lane.

TEST(SimtMma, LeftPlacesAreThoseOfPtx) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const int group = static_cast<int>(lane / 4), thread = static_cast<int>(lane % 4);
    for (int i = 0; i < 8; ++i) {
      const bool is_upper = i < 2 || (i >= 4 && i < 6);
      const int row = is_upper ? group : group + 8;
      const int column = thread * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      const MmaPosition place = mma_left_place(row, column);
      EXPECT_EQ(std::make_tuple(lane, i / 2, i % 2), std::make_tuple(place.lane, place.word, place.half));
    }
  }
}

TEST(SimtMma, RightPlacesAreThoseOfPtx) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int row = static_cast<int>(lane % 4) * 2 + (i & 1) + (i >= 2 ? 8 : 0);
      const MmaPosition place = mma_right_place(row, static_cast<int>(lane / 4));
      EXPECT_EQ(std::make_tuple(lane, i / 2, i % 2), std::make_tuple(place.lane, place.word, place.half));
    }
  }
}

TEST(SimtMma, SumPlacesAreThoseOfPtx) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(mma_sum_row(lane, i), static_cast<int>(lane / 4) + (i < 2 ? 0 : 8));
      EXPECT_EQ(mma_sum_column(lane, i), static_cast<int>(lane % 4) * 2 + (i & 1));
    }
  }
}

// Products of integers are exact, so that any misplaced element is detected.
template <Dtype kDtype>
void expect_small_gemm() {
  float left[16][16], right[16][8], found[16][8];
  for (int i = 0; i < 16; ++i) {
    for (int k = 0; k < 16; ++k) left[i][k] = static_cast<float>((7 * i + 3 * k) % 17 - 8);
    for (int j = 0; j < 8; ++j) right[i][j] = static_cast<float>((5 * i + 11 * j) % 13 - 6);
  }
  take_next_order();
  simt::launch("small_gemm", nullptr, 1, 32, 0, nullptr, [&] {
    const uint32_t lane = threadIdx.x;
    MmaLeft a = {};
    MmaRight b = {};
    MmaSum sum = {};
    for (int i = 0; i < 16; ++i) {
      for (int k = 0; k < 16; ++k) {
        const MmaPosition place = mma_left_place(i, k);
        if (place.lane == lane) a.word[place.word] |= code_of<kDtype>(left[i][k]) << (16 * place.half);
      }
      for (int j = 0; j < 8; ++j) {
        const MmaPosition place = mma_right_place(i, j);
        if (place.lane == lane) b.word[place.word] |= code_of<kDtype>(right[i][j]) << (16 * place.half);
      }
    }
    for (int i = 0; i < 4; ++i) sum.number[i] = 1;
    multiply_add<kDtype>(sum, a, b);
    for (int i = 0; i < 4; ++i) found[mma_sum_row(lane, i)][mma_sum_column(lane, i)] = sum.number[i];
  });
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      float oracle = 1;
      for (int k = 0; k < 16; ++k) oracle += left[i][k] * right[k][j];
      EXPECT_EQ(oracle, found[i][j]) << i << ", " << j;
    }
  }
}

TEST(SimtMma, MultipliesMatrices) {
  expect_small_gemm<Dtype::kBf16>();
  expect_small_gemm<Dtype::kF16>();
}

// Indices along k of a step.

TEST(SimtFewRows, EveryKOfAStepIsSomebodysOnce) {
  for (const bool is_narrow : {false, true}) {
    std::set<int> seen;
    for (int word = 0; word < kFewWords; ++word) {
      for (int product = 0; product < 2; ++product) {
        for (int p = 0; p < 16; ++p) {
          const int k = first_k_of_word(is_narrow, word, p % 8 / 2) + k_of_word(product, p);
          EXPECT_TRUE(seen.insert(k).second) << k;
          // The elements of one sum are in one group of 32.
          if (is_narrow) {
            EXPECT_EQ(word, k / 32);
          }
        }
      }
    }
    EXPECT_EQ(static_cast<size_t>(kFewStep), seen.size());
    EXPECT_EQ(0, *seen.begin());
    EXPECT_EQ(kFewStep - 1, *seen.rbegin());
  }
}

// Codes of few bits: all codes, against the definitions in the standards.

template <Dtype kDtype>
void expect_int4() {
  for (uint32_t first = 0; first < 16; ++first) {
    for (uint32_t second = 0; second < 16; ++second) {
      for (int pair = 0; pair < 4; ++pair) {
        const uint32_t others = 0xA5C3960Fu & ~(0x000F000Fu << (4 * pair));
        const uint32_t halves = int4_pair<kDtype>(others | first << (4 * pair) | second << (4 * pair + 16), pair);
        EXPECT_EQ(number_of(LPT_FORMAT_INT4, first), static_cast<double>(lpt::number_of<kDtype>(halves & 0xFFFFu)));
        EXPECT_EQ(number_of(LPT_FORMAT_INT4, second), static_cast<double>(lpt::number_of<kDtype>(halves >> 16)));
      }
    }
  }
}

TEST(SimtHalves, Int4IsExact) {
  expect_int4<Dtype::kBf16>();
  expect_int4<Dtype::kF16>();
}

TEST(SimtHalves, AdjacentCodesAreTheFirstOfEitherHalf) {
  for (uint32_t first = 0; first < 16; ++first) {
    for (uint32_t second = 0; second < 16; ++second) {
      for (int i = 0; i < 4; ++i) {
        const uint32_t others = 0xA5C3960Fu & ~(0xFFu << (8 * i));
        const uint32_t word = others | first << (8 * i) | second << (8 * i + 4);
        const uint32_t codes = adjacent_codes(word, word >> 4, i);
        EXPECT_EQ(first, codes & 15u);
        EXPECT_EQ(second, codes >> 16 & 15u);
      }
    }
  }
}

TEST(SimtHalves, Int4AsE4m3IsExact) {
  for (uint32_t codes = 0; codes < 0x10000; ++codes) {
    const uint32_t bytes = e4m3_of_int4(codes);
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(number_of(LPT_FORMAT_INT4, codes >> (4 * i) & 15u),
                number_of(LPT_FORMAT_E4M3FN, bytes >> (8 * i) & 0xFFu))
          << codes << ", " << i;
    }
  }
}

// Where neither the value nor the product exceeds bf16.
template <lpt_format kScale>
void expect_e2m1() {
  for (uint32_t scale = 0; scale < 256; ++scale) {
    const double factor = number_of(kScale, scale);
    for (uint32_t code = 0; code < 16; ++code) {
      const int pair = static_cast<int>((scale + code) % 4);
      const uint32_t halves =
          e2m1_pair(code << (4 * pair) | (code ^ 5u) << (4 * pair + 16), pair, scale_halves<kScale>(scale));
      const auto first = static_cast<double>(lpt::number_of<Dtype::kBf16>(halves & 0xFFFFu));
      const auto second = static_cast<double>(lpt::number_of<Dtype::kBf16>(halves >> 16));
      const double oracle = number_of(LPT_FORMAT_E2M1FN, code) * factor;
      if (std::isnan(factor)) {
        EXPECT_TRUE(std::isnan(first) && std::isnan(second)) << scale;
      } else if (std::fabs(oracle) < 0x1p128) {
        EXPECT_EQ(oracle, first) << scale << ", " << code;
        if (std::fabs(factor) < 0x1p125) {
          EXPECT_EQ(number_of(LPT_FORMAT_E2M1FN, code ^ 5u) * factor, second);
        }
      } else {
        EXPECT_TRUE(std::isinf(first)) << scale << ", " << code;
      }
    }
  }
}

TEST(SimtHalves, E2m1TimesItsScaleIsExact) {
  expect_e2m1<LPT_FORMAT_E4M3FN>();
  expect_e2m1<LPT_FORMAT_E8M0FNU>();
}

TEST(SimtHalves, E4m3IsExact) {
  for (uint32_t code = 0; code < 256; ++code) {
    const uint32_t other = 255 - code;
    const uint32_t halves = f16_of_e4m3(code | other << 16);
    const double oracle[] = {number_of(LPT_FORMAT_E4M3FN, code), number_of(LPT_FORMAT_E4M3FN, other)};
    for (int half = 0; half < 2; ++half) {
      const auto found = static_cast<double>(lpt::number_of<Dtype::kF16>(halves >> (16 * half) & 0xFFFFu));
      EXPECT_TRUE(std::isnan(oracle[half]) ? std::isnan(found) : oracle[half] == found) << code << ", " << half;
    }
  }
}

// GEMMs.

constexpr GemmCase kCases[] = {
    {"bf16", "int4_1x128", LPT_FORMAT_BF16, 1, 16, 128},
    {"bf16", "int4_1x128", LPT_FORMAT_F32, 16, 33, 1280},
    {"f16", "int4_1x128", LPT_FORMAT_F16, 5, 70, 256},
    {"e4m3fn_row", "int4_1x128", LPT_FORMAT_BF16, 9, 65, 384},
    {"e4m3fn_tensor", "int4_1x128", LPT_FORMAT_F32, 8, 1, 256},
    {"e4m3fn", "int4_1x32", LPT_FORMAT_F32, 3, 40, 256},
    {"bf16", "int4_1x32", LPT_FORMAT_F32, 13, 31, 1152},
    {"f16", "int4_1x32", LPT_FORMAT_F32, 1, 17, 128},
    {"bf16", "nvfp4", LPT_FORMAT_F32, 4, 35, 256},
    {"bf16", "nvfp4", LPT_FORMAT_BF16, 16, 64, 1152},
    {"bf16", "mxfp4", LPT_FORMAT_F32, 7, 20, 128},
    {"bf16", "mxfp4", LPT_FORMAT_F32, 12, 66, 384},
};

TEST(SimtFewRows, AreNearTheSumsOfTheDefinition) {
  Random random(83);
  Tally tally(few_rows_kernels());
  for (const GemmCase &c : kCases) check(c, random, tally);
  tally.expect_all_at_least(4);
}

// The order of threads and of blocks does not change the bits.
TEST(SimtFewRows, HaveTheSameBitsInEveryOrder) {
  Random random(84);
  Problem problem("bf16", "int4_1x128", LPT_FORMAT_F32, false, true, 3, 40, 1280, 32);
  problem.draw(random);
  std::vector<double> first;
  for (const simt::Order order : kOrders) {
    simt::set_order(order);
    run_on_cpu(*kernel_for(problem.request), problem.request);
    if (first.empty()) first = numbers_of_c(problem);
    EXPECT_EQ(first, numbers_of_c(problem));
  }
}

TEST(SimtFewRows, RejectWhatTheyDoNotTake) {
  struct Rejected {
    void (*change)(GemmRequest &);
    const char *why;
  };
  static constexpr Rejected rejected[] = {
      {[](GemmRequest &r) { r.m = 17; }, "takes 1 to 16 rows of a only"},
      {[](GemmRequest &r) { r.m = 0; }, "takes 1 to 16 rows of a only"},
      {[](GemmRequest &r) { r.k = 64; }, "takes k in multiples of 128 only"},
      {[](GemmRequest &r) { r.first_row = 1; }, "takes whole GEMMs only"},
      {[](GemmRequest &r) { r.a.format.element = LPT_FORMAT_F32; }, "takes a of bf16, f16 and e4m3fn only"},
      {[](GemmRequest &r) { r.is_a_transposed = true; }, "k of a is not adjacent"},
      {[](GemmRequest &r) { r.is_b_transposed = false; }, "k of b is not adjacent"},
      {[](GemmRequest &r) { r.b.layout = Layout::kPanels; }, "k of b is not adjacent"},
      {[](GemmRequest &r) { r.b.format.block_columns = 64; },
       "takes b of int4 with f32 scales of 1 x 32 and 1 x 128 only"},
      {[](GemmRequest &r) { r.b.row_stride += 8; }, "rows of b do not begin on 16 bytes"},
      {[](GemmRequest &r) { r.a.row_stride += 4; }, "rows of a do not begin on 16 bytes"},
      {[](GemmRequest &r) { r.is_portable = true; }, "MMA operations do not add up in the portable order"},
      {[](GemmRequest &r) { r.arithmetic = LPT_GEMM_ARITHMETIC_L_MUL; },
       "the arithmetic of another machine is requested"},
      {[](GemmRequest &r) { r.is_f64 = true; }, "f64 is not computed"},
      {[](GemmRequest &r) { r.c.format.element = LPT_FORMAT_F64; }, "gives f32, bf16 and f16 only"},
  };
  const Problem problem("bf16", "int4_1x128", LPT_FORMAT_F32, false, true, 4, 32, 256, 32);
  const KernelEntry<GemmRequest> &kernel = gemm_device_kernels().front();
  EXPECT_EQ(nullptr, kernel.unsupported_reason(problem.request));
  for (const Rejected &one : rejected) {
    GemmRequest request = problem.request;
    one.change(request);
    EXPECT_STREQ(one.why, kernel.unsupported_reason(request));
  }
}

}  // namespace
}  // namespace lpt::test
