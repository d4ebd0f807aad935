// CUDA cast statistics on the CPU against the reference kernel, tile by tile: any codes and scales, in every order of threads.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/quantize/cuda/cuda_sums.hpp"
#include "src/cast/cast.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kSources[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
constexpr lpt_format kTargets[] = {LPT_FORMAT_E4M3FN,       LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_E4M3FN_1X128,
                                   LPT_FORMAT_E5M2_128X128, LPT_FORMAT_MXFP8_E5M2,  LPT_FORMAT_MXFP6_E3M2,
                                   LPT_FORMAT_MXFP6_E2M3,   LPT_FORMAT_MXFP4,       LPT_FORMAT_NVFP4,
                                   LPT_FORMAT_INT8_TENSOR,  LPT_FORMAT_INT4_1X32,   LPT_FORMAT_UINT4_1X32,
                                   LPT_FORMAT_NF4_1X64,     LPT_FORMAT_MXINT8,      LPT_FORMAT_NVFP4_16X16};

bool is_same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

void scramble(Matrix &matrix, Random &random) {
  for (std::size_t i = 0; i < matrix.data.bytes(); ++i) matrix.data.data()[i] = static_cast<uint8_t>(random.bits());
  for (std::size_t i = 0; i < matrix.scales.bytes(); ++i) matrix.scales.data()[i] = static_cast<uint8_t>(random.bits());
  for (std::size_t i = 0; i < matrix.zero_points.bytes(); ++i) {
    matrix.zero_points.data()[i] = static_cast<uint8_t>(random.below(16));
  }
}

CastStatistics by_tiles(const TileSumsRequest &request) {
  const auto part = [&](const MatrixView &view, int64_t row, int64_t column) {
    const MatrixView rows = cut_rows(view, row, std::min(request.tile_rows, view.rows - row));
    return cut_columns(rows, column, std::min(request.tile_columns, view.columns - column));
  };
  CastStatistics all;
  for (int64_t row = 0; row < request.source.rows; row += request.tile_rows) {
    for (int64_t column = 0; column < request.source.columns; column += request.tile_columns) {
      CastStatistics sums;
      reference_of(cast_statistics_kernels())
          .run({part(request.source, row, column), part(request.quantized, row, column), &sums});
      add_sums(sums, all);
    }
  }
  return all;
}

void compare(Random &random, lpt_format target) {
  const int64_t rows = 1 + random.below(140), columns = 1 + random.below(600);
  Matrix source(random.of(kSources), rows, columns, random.below(9), random.chance(0.5) ? 0 : 4);
  Matrix quantized(target, rows, columns);
  source.fill(random, random.of(kAllValues));
  scramble(quantized, random);
  quantized.tensor_scale = random.chance(0.5) ? 0.0117f : 3.0f;
  TileSumsRequest request{source.view(), quantized.view(), 128, random.chance(0.5) ? 512 : 1024, nullptr, nullptr};
  ASSERT_EQ(nullptr, tile_sums_device_kernels().front().unsupported_reason(request));
  std::vector<double> scratch(static_cast<size_t>(sums_scratch(request)));
  CastStatistics found;
  request.scratch = scratch.data();
  request.sums = &found;
  take_next_order();
  tile_sums_device_kernels().front().queue(request, nullptr);
  const CastStatistics expected = by_tiles(request);
  EXPECT_EQ(expected.elements, found.elements);
  EXPECT_EQ(expected.nans, found.nans);
  EXPECT_EQ(expected.clipped, found.clipped);
  EXPECT_EQ(expected.underflows, found.underflows);
  EXPECT_EQ(expected.amax, found.amax);
  EXPECT_PRED2(is_same, expected.squares, found.squares);
  EXPECT_PRED2(is_same, expected.squared_errors, found.squared_errors);
}

TEST(SimtSums, AreThoseOfTheReferenceTileByTile) {
  Random random(93);
  for (const lpt_format target : kTargets) {
    for (int i = 0; i < 3 && !HasFailure(); ++i) compare(random, target);
  }
}

TEST(SimtSums, WhatTheRowDoesNotTakeIsRejected) {
  Matrix source(LPT_FORMAT_F32, 2, 64), wide(LPT_FORMAT_F64, 2, 64), codes(LPT_FORMAT_MXFP4, 2, 64);
  Matrix transposed_copy(LPT_FORMAT_F32, 2, 64, 0, 0, true);
  const auto rejection = [](Matrix &from, Matrix &to) {
    return tile_sums_device_kernels().front().unsupported_reason({from.view(), to.view(), 1, 64, nullptr, nullptr});
  };
  EXPECT_STREQ("takes f32, bf16 and f16 only", rejection(wide, codes));
  EXPECT_STREQ("takes adjacent columns only", rejection(transposed_copy, codes));
  EXPECT_EQ(nullptr, rejection(source, codes));
}

}  // namespace
}  // namespace lpt::test
