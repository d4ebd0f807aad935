// CUDA searches for transposable masks on the CPU against the reference kernel, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "kernels/transposable_mask/cuda_kernels.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kScoreFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
constexpr lpt_sparse_solver kSolvers[] = {LPT_SPARSE_SOLVER_EXACT, LPT_SPARSE_SOLVER_GREEDY, LPT_SPARSE_SOLVER_SEARCH,
                                          LPT_SPARSE_SOLVER_PRUNE, LPT_SPARSE_SOLVER_ENTROPY};

struct Pattern {
  int32_t kept, of;
};
constexpr Pattern kPatterns[] = {{2, 4}, {1, 4}, {3, 4}, {1, 2}, {3, 5}, {4, 8}, {7, 8}, {8, 16}, {5, 31}, {16, 32}};

struct MaskCase {
  lpt_format source;
  Pattern pattern;
  lpt_sparse_solver solver;
  int64_t rows, columns;
};

std::string text_of(const MaskCase &c, const char *row, Values values) {
  return std::string(row) + ' ' + format_name(c.source) +
         text(" %lldx%lld %d:%d solver %d %s", static_cast<long long>(c.rows), static_cast<long long>(c.columns),
              c.pattern.kept, c.pattern.of, c.solver, name_of(values));
}

// Sets elements to equal values or zeros, so that ties decide.
void level(Random &random, Matrix &source) {
  const auto bytes = static_cast<std::size_t>(source.view().format.element == LPT_FORMAT_F32 ? 4 : 2);
  for (std::size_t i = 0; i + bytes <= source.data.bytes(); i += bytes) {
    if (random.chance(0.5)) std::memset(source.data.data() + i, 0, bytes);
  }
}

void check_mask(const MaskCase &c, Values values, Random &random, Tally &tally) {
  const int64_t padding = random.chance(0.5) ? (16 - c.columns % 16) % 16 : random.below(6);
  Matrix source(c.source, c.rows, c.columns, padding, random.chance(0.5) ? 0 : 4);
  source.fill(random, values);
  if (random.chance(0.2)) level(random, source);
  Matrix mask(LPT_FORMAT_UINT8, c.rows, c.columns, padding), oracle(LPT_FORMAT_UINT8, c.rows, c.columns, padding);
  std::vector<float> importance = draw(random, Values::kOutliers, c.columns);
  for (float &each : importance) each = std::fabs(each);
  TransposableMaskRequest request = {};
  request.source = source.view();
  request.mask = oracle.view();
  request.kept = c.pattern.kept;
  request.of = c.pattern.of;
  request.solver = c.solver;
  request.iterations = 30;
  request.sharpness = 40.0f;
  if (random.chance(0.3)) request.importance = importance.data();
  reference_of(transposable_mask_kernels()).run(request);
  request.mask = mask.view();
  for (const KernelEntry<TransposableMaskRequest> &kernel : transposable_mask_device_kernels()) {
    if (kernel.unsupported_reason(request) != nullptr) continue;
    take_next_order();
    kernel.queue(request, nullptr);
    tally.add(kernel.name);
    EXPECT_TRUE(mask.equals(oracle) && mask.is_intact()) << text_of(c, kernel.name, values);
  }
}

TEST(SimtTransposableMask, EqualsTheReference) {
  Random random(62);
  Tally tally(transposable_mask_device_kernels());
  for (const Pattern pattern : kPatterns) {
    for (const lpt_sparse_solver solver : kSolvers) {
      for (const Values values : kAllValues) {
        if (!is_taken(random, 4) || random.below(pattern.of) > 3) continue;  // large tiles are slow
        const int64_t rows = 1 + random.below(pattern.of + 3), columns = 1 + random.below(2 * pattern.of);
        check_mask({random.of(kScoreFormats), pattern, solver, rows, columns}, values, random, tally);
      }
    }
  }
  if (!kIsSanitized) tally.expect_all_at_least(3);
}

// More tiles than threads of a block: tiles without a finite sum are in several warps.
TEST(SimtTransposableMask, PatternsOfManyTilesEqualTheReference) {
  Random random(63);
  Tally tally(transposable_mask_device_kernels());
  for (const lpt_format source : kScoreFormats) {
    for (const Values values : kAllValues) {
      check_mask({source, {2, 4}, LPT_SPARSE_SOLVER_EXACT, 9, 600 + random.below(20)}, values, random, tally);
    }
  }
}

TEST(SimtTransposableMask, WhatNoRowTakesIsRejected) {
  Matrix source(LPT_FORMAT_F32, 4, 16), mask(LPT_FORMAT_UINT8, 4, 16);
  TransposableMaskRequest request = {source.view(), mask.view(), 2, 4, LPT_SPARSE_SOLVER_GREEDY, 0, 0.0f, nullptr};
  const auto rows = transposable_mask_device_kernels();
  EXPECT_STREQ(rows[0].unsupported_reason(request), "not 2:4 by EXACT");
  EXPECT_EQ(rows[1].unsupported_reason(request), nullptr);
  request.solver = LPT_SPARSE_SOLVER_EXACT;
  EXPECT_EQ(rows[0].unsupported_reason(request), nullptr);
  EXPECT_STREQ(rows[1].unsupported_reason(request), "2:4 by EXACT has a row of its own");
  request.kept = 1;
  request.mask.column_stride = 2;
  EXPECT_STREQ(rows[1].unsupported_reason(request), "takes adjacent columns only");
  request.source.format.element = LPT_FORMAT_F64;
  EXPECT_STREQ(rows[1].unsupported_reason(request), "takes f32, bf16 and f16 only");
}

}  // namespace
}  // namespace lpt::test
