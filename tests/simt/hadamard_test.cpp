// CUDA rotations on the CPU against the reference kernel: every size, all row ends, vectors before and after the rotation.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kernels/hadamard/cuda_kernels.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kNumbers[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
constexpr int64_t kColumns[] = {0,   1,   2,   7,   15,  16,  17,  31,  47,  63,  64,
                                100, 112, 127, 128, 129, 255, 300, 512, 791, 2063};

struct Vectors {
  Vectors(Random &random, int64_t rows, int64_t columns)
      : factors(LPT_FORMAT_F32, 1, columns), row_factors(LPT_FORMAT_F32, 1, rows), signs(LPT_FORMAT_F32, 1, columns) {
    factors.fill(random, Values::kOutliers);
    row_factors.fill(random, Values::kOutliers);
    for (int64_t c = 0; c < columns; ++c) signs.set(0, c, random.chance(0.5) ? 1.0f : -1.0f);
  }
  Matrix factors, row_factors, signs;
};

const float *floats_or_none(Random &random, Matrix &matrix) {
  return random.chance(0.5) ? reinterpret_cast<const float *>(matrix.data.data()) : nullptr;
}

// After arithmetic, NaN bits depend on the machine, and any NaN is accepted.
bool are_alike(const Matrix &a, const Matrix &b) {
  for (int64_t row = 0; row < a.rows(); ++row) {
    for (int64_t column = 0; column < a.columns(); ++column) {
      const bool are_nan = std::isnan(a.get(row, column)) && std::isnan(b.get(row, column));
      if (!are_nan && a.code(row, column) != b.code(row, column)) return false;
    }
  }
  return a.is_intact();
}

// Returns the only kernel that accepts the request.
const KernelEntry<HadamardRequest> &kernel_for(const HadamardRequest &request) {
  const KernelEntry<HadamardRequest> *found = nullptr;
  for (const KernelEntry<HadamardRequest> &kernel : hadamard_device_kernels()) {
    if (kernel.unsupported_reason(request) != nullptr) continue;
    EXPECT_EQ(found, nullptr) << kernel.name << " and " << found->name << " accept size " << request.size;
    found = &kernel;
  }
  EXPECT_NE(found, nullptr) << "no kernel accepts size " << request.size;
  return *found;
}

void check(lpt_format source_format, int32_t size, int64_t columns, Values values, Random &random) {
  const int64_t rows = random.below(5), padding = random.chance(0.5) ? (16 - columns % 16) % 16 : random.below(6);
  Matrix source(source_format, rows, columns, padding, random.chance(0.5) ? 0 : 4);
  source.fill(random, values);
  Vectors vectors(random, rows, columns);
  const lpt_format narrow = random.of(kNumbers);
  Matrix wide(LPT_FORMAT_F32, rows, columns), oracle(narrow, rows, columns, padding),
      found(narrow, rows, columns, padding);
  HadamardRequest request = {};
  request.source = source.view();
  request.target = wide.view();
  request.size = size;
  request.is_inverse = random.chance(0.5);
  request.factors = floats_or_none(random, vectors.factors);
  request.row_factors = floats_or_none(random, vectors.row_factors);
  request.signs = floats_or_none(random, vectors.signs);
  reference_of(hadamard_kernels()).run(request);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) oracle.set(row, column, wide.get(row, column));
  }
  request.target = found.view();
  take_next_order();
  kernel_for(request).queue(request, nullptr);
  EXPECT_TRUE(are_alike(found, oracle)) << format_name(source_format) << " to " << format_name(narrow) << " size "
                                        << size << " " << rows << "x" << columns << " " << name_of(values);
}

TEST(SimtHadamard, EqualsTheReference) {
  Random random(71);
  for (const int32_t size : {0, 16, 32, 64, 128, 256, 1024, 8192}) {
    for (const int64_t columns : kColumns) {
      for (const lpt_format source : kNumbers) {
        if (is_taken(random, size <= 128 ? 4 : 2)) check(source, size, columns, random.of(kAllValues), random);
      }
    }
  }
}

TEST(SimtHadamard, RotatesInPlace) {
  Random random(72);
  Matrix source(LPT_FORMAT_F32, 3, 432), oracle(LPT_FORMAT_F32, 3, 432);
  source.fill(random, Values::kNormal);
  HadamardRequest request = {};
  request.source = source.view();
  for (const int32_t size : {128, 256}) {
    request.target = oracle.view();
    request.size = size;
    reference_of(hadamard_kernels()).run(request);
    request.target = source.view();
    kernel_for(request).queue(request, nullptr);
    EXPECT_TRUE(source.equals(oracle)) << size;
  }
}

TEST(SimtHadamard, VectorsOfTheCallerBecomeFactors) {
  const int8_t signs[] = {1, -1, -1};
  const float smoothing[] = {2.0f, 0.25f, 0x1p-140f};
  const uint8_t powers[] = {127, 128, 120};
  float factors[7];
  const auto run = [&](lpt_format format, const void *source, int64_t count) {
    const FactorRequest request = {format, source, 3, count, factors};
    EXPECT_EQ(factor_device_kernels().front().unsupported_reason(request), nullptr);
    factor_device_kernels().front().queue(request, nullptr);
    return std::vector<float>(factors, factors + count);
  };
  EXPECT_EQ(run(LPT_FORMAT_INT8, signs, 7), (std::vector<float>{1, -1, -1, 1, -1, -1, 1}));
  EXPECT_EQ(run(LPT_FORMAT_F32, smoothing, 3), (std::vector<float>{0.5f, 4.0f, 0x1.fffffep+127f}));
  EXPECT_EQ(run(LPT_FORMAT_E8M0FNU, powers, 3), (std::vector<float>{1.0f, 0.5f, 128.0f}));
  EXPECT_STREQ(factor_device_kernels().front().unsupported_reason({LPT_FORMAT_F16, signs, 3, 3, factors}),
               "takes int8, f32 and e8m0fnu only");
}

TEST(SimtHadamard, WhatTheRowDoesNotTakeIsRejected) {
  Matrix source(LPT_FORMAT_F32, 2, 16), target(LPT_FORMAT_F32, 2, 16);
  const auto &row = hadamard_device_kernels().front();
  HadamardRequest request = {};
  request.source = source.view();
  request.target = target.view();
  EXPECT_EQ(row.unsupported_reason(request), nullptr);
  request.source.column_stride = 2;
  EXPECT_STREQ(row.unsupported_reason(request), "takes adjacent columns only");
  request.target.format.element = LPT_FORMAT_F64;
  EXPECT_STREQ(row.unsupported_reason(request), "gives f32, bf16 and f16 only");
  request.source.format.element = LPT_FORMAT_F64;
  EXPECT_STREQ(row.unsupported_reason(request), "takes f32, bf16 and f16 only");
}

}  // namespace
}  // namespace lpt::test
