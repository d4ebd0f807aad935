// CUDA masks and 2:4 compression on the CPU against the reference kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "kernels/sparse_mask/cuda_kernels.hpp"
#include "kernels/sparse_pack/cuda_kernels.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kSources[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
constexpr lpt_sparse_rule kRules[] = {LPT_SPARSE_RULE_MAGNITUDE, LPT_SPARSE_RULE_MVUE, LPT_SPARSE_RULE_MVUE_TWO_DRAWS,
                                      LPT_SPARSE_RULE_SOFT_THRESHOLD};
constexpr int64_t kGroupedColumns[] = {0, 1, 3, 4, 5, 15, 16, 17, 30, 64, 130};

struct Pattern {
  int32_t kept, of;
};
constexpr Pattern kPatterns[] = {{2, 4}, {1, 4}, {3, 4}, {4, 4},  {4, 8},  {2, 8},
                                 {7, 8}, {1, 2}, {2, 5}, {2, 16}, {16, 32}};

// Returns a padding that aligns rows to 16 bytes, or not.
int64_t any_padding(Random &random, int64_t columns) {
  return random.chance(0.5) ? (16 - columns % 16) % 16 : random.below(6);
}

struct MaskCase {
  lpt_format source, masked;
  Pattern pattern;
  lpt_sparse_rule rule;
  int64_t rows, columns;
};

SparseMaskRequest request_of(const MaskCase &c, Matrix &source, Matrix &mask, Matrix &masked, uint64_t first_draw) {
  SparseMaskRequest request = {};
  request.source = source.view();
  request.mask = mask.view();
  request.masked = masked.view();
  request.kept = c.pattern.kept;
  request.of = c.pattern.of;
  request.rule = c.rule;
  request.random = {seed() * 3, 0, 0, random_stream(RandomDomain::kSparse, 1, 2), 77, 7, 16};
  request.first_draw = first_draw;
  request.row_draws = static_cast<uint64_t>(c.columns / c.pattern.of) + 3;
  request.group_draws = 1;
  return request;
}

void check_mask(const MaskCase &c, Values values, Random &random, Tally &tally) {
  Matrix source(c.source, c.rows, c.columns, any_padding(random, c.columns), random.chance(0.5) ? 0 : 4);
  source.fill(random, values);
  const int64_t padding = any_padding(random, c.columns);
  Matrix mask(LPT_FORMAT_UINT8, c.rows, c.columns, padding), masked(c.masked, c.rows, c.columns, padding);
  Matrix expected_mask(LPT_FORMAT_UINT8, c.rows, c.columns, padding), oracle(c.masked, c.rows, c.columns, padding);
  std::vector<float> importance = draw(random, Values::kOutliers, c.columns);
  for (float &each : importance) each = std::fabs(each);
  const auto first_draw = static_cast<uint64_t>(random.below(1000));
  SparseMaskRequest request = request_of(c, source, mask, masked, first_draw);
  SparseMaskRequest reference = request_of(c, source, expected_mask, oracle, first_draw);
  if (c.rule == LPT_SPARSE_RULE_MAGNITUDE && random.chance(0.3)) {
    request.importance = reference.importance = importance.data();
  }
  if (random.chance(0.2)) request.mask.data = reference.mask.data = nullptr;
  if (random.chance(0.2)) request.masked.data = reference.masked.data = nullptr;
  reference_of(sparse_mask_kernels()).run(reference);
  const std::string where =
      format_name(c.source) + " to " + format_name(c.masked) +
      text(" %lldx%lld %d:%d rule %d %s", static_cast<long long>(c.rows), static_cast<long long>(c.columns),
           c.pattern.kept, c.pattern.of, c.rule, name_of(values));
  for (const KernelEntry<SparseMaskRequest> &kernel : sparse_mask_device_kernels()) {
    if (kernel.unsupported_reason(request) != nullptr) continue;
    take_next_order();
    kernel.queue(request, nullptr);
    tally.add(kernel.name);
    EXPECT_TRUE(mask.equals(expected_mask) && mask.is_intact()) << kernel.name << ' ' << where << ": mask";
    EXPECT_TRUE(masked.equals(oracle) && masked.is_intact()) << kernel.name << ' ' << where << ": masked";
  }
}

TEST(SimtSparseMask, EqualsTheReference) {
  Random random(61);
  Tally tally(sparse_mask_device_kernels());
  for (const lpt_format source : kSources) {
    for (const Pattern pattern : kPatterns) {
      for (const lpt_sparse_rule rule : kRules) {
        if (rule == LPT_SPARSE_RULE_MVUE_TWO_DRAWS && pattern.kept != 2) continue;
        for (const Values values : kAllValues) {
          if (!is_taken(random, 4)) continue;
          const lpt_format masked = random.of({source, static_cast<lpt_format>(LPT_FORMAT_F32)});
          check_mask({source, masked, pattern, rule, random.below(4), random.of(kGroupedColumns)}, values, random,
                     tally);
        }
      }
    }
  }
  tally.expect_all_at_least(100);
}

TEST(SimtSparseMask, WhatTheRowDoesNotTakeIsRejected) {
  Matrix source(LPT_FORMAT_F32, 2, 16), mask(LPT_FORMAT_UINT8, 2, 16), masked(LPT_FORMAT_F32, 2, 16);
  const MaskCase c = {LPT_FORMAT_F32, LPT_FORMAT_F32, {2, 4}, LPT_SPARSE_RULE_MVUE, 2, 16};
  const auto &row = sparse_mask_device_kernels().front();
  SparseMaskRequest request = request_of(c, source, mask, masked, 0);
  EXPECT_EQ(row.unsupported_reason(request), nullptr);
  request.of = 16;
  EXPECT_STREQ(row.unsupported_reason(request), "takes groups of 4 and 8 only");
  request.of = 4;
  request.mask.column_stride = 2;
  EXPECT_STREQ(row.unsupported_reason(request), "takes groups of adjacent columns only");
  request.source.format.element = LPT_FORMAT_F64;
  EXPECT_STREQ(row.unsupported_reason(request), "takes f32, bf16 and f16 only");
}

// Statistics of a selection.

void check_measure(lpt_format format, lpt_sparse_rule rule, Pattern pattern, bool is_transposed, Values values,
                   Random &random) {
  const int64_t rows = random.below(70), columns = random.of(kGroupedColumns);
  Matrix source(format, rows, columns, random.below(6)), mask(LPT_FORMAT_UINT8, rows, columns, random.below(6));
  source.fill(random, values);
  for (std::size_t i = 0; i < mask.data.bytes(); ++i) mask.data.data()[i] = static_cast<uint8_t>(random.below(2));
  SparseMeasureRequest request = {source.view(), mask.view(), pattern.kept, pattern.of, rule, nullptr};
  for (MatrixView *view : {&request.source, &request.mask}) {
    if (!is_transposed) continue;
    std::swap(view->rows, view->columns);
    std::swap(view->row_stride, view->column_stride);
  }
  const auto lines = static_cast<std::size_t>(request.source.rows);
  std::vector<SparseSums> found(lines), oracle(lines);
  request.sums = oracle.data();
  reference_of(sparse_measure_kernels()).run(request);
  request.sums = found.data();
  ASSERT_EQ(sparse_measure_device_kernels().front().unsupported_reason(request), nullptr);
  take_next_order();
  sparse_measure_device_kernels().front().queue(request, nullptr);
  EXPECT_EQ(0, lines == 0 ? 0 : std::memcmp(found.data(), oracle.data(), lines * sizeof(SparseSums)))
      << format_name(format) << " rule " << rule << " of " << pattern.of << ' ' << name_of(values);
}

TEST(SimtSparseMeasure, EqualsTheReference) {
  Random random(64);
  for (const lpt_sparse_rule rule : kRules) {
    for (const Pattern pattern : {Pattern{2, 4}, Pattern{2, 8}, Pattern{9, 17}}) {
      const bool is_drawn = rule == LPT_SPARSE_RULE_MVUE || rule == LPT_SPARSE_RULE_MVUE_TWO_DRAWS;
      if (is_drawn && pattern.of > 8) continue;
      for (const Values values : kAllValues) {
        check_measure(random.of(kSources), rule, pattern, random.chance(0.5), values, random);
      }
    }
  }
}

TEST(SimtSparseMeasure, WhatTheRowDoesNotTakeIsRejected) {
  Matrix source(LPT_FORMAT_F32, 2, 32), mask(LPT_FORMAT_UINT8, 2, 32);
  const auto &row = sparse_measure_device_kernels().front();
  SparseMeasureRequest request = {source.view(), mask.view(), 2, 16, LPT_SPARSE_RULE_MVUE, nullptr};
  EXPECT_STREQ(row.unsupported_reason(request), "takes drawn groups of 4 and 8 only");
  request.source.format.element = LPT_FORMAT_F64;
  EXPECT_STREQ(row.unsupported_reason(request), "takes f32, bf16 and f16 only");
}

// Existing masks.

void fill_mask(Random &random, Matrix &mask) {
  for (std::size_t i = 0; i < mask.data.bytes(); ++i) mask.data.data()[i] = static_cast<uint8_t>(random.below(3));
}

void check_given(lpt_format format, lpt_format masked, int64_t rows, int64_t columns, Values values, Random &random) {
  Matrix source(format, rows, columns, any_padding(random, columns), random.chance(0.5) ? 0 : 4);
  Matrix mask(LPT_FORMAT_UINT8, rows, columns, any_padding(random, columns));
  source.fill(random, values);
  fill_mask(random, mask);
  const int64_t padding = any_padding(random, columns);
  Matrix target(masked, rows, columns, padding), oracle(masked, rows, columns, padding);
  const MaskApplyRequest apply = {source.view(), mask.view(), target.view()};
  ASSERT_EQ(mask_apply_device_kernels().front().unsupported_reason(apply), nullptr);
  take_next_order();
  mask_apply_device_kernels().front().queue(apply, nullptr);
  reference_of(mask_apply_kernels()).run({source.view(), mask.view(), oracle.view()});
  const std::string where = format_name(format) + text(" %lldx%lld %s", static_cast<long long>(rows),
                                                       static_cast<long long>(columns), name_of(values));
  EXPECT_TRUE(target.equals(oracle) && target.is_intact()) << where << ": applied";

  const uint64_t state = random.bits();
  Matrix gradient(LPT_FORMAT_F32, rows, columns, padding), expected_gradient(LPT_FORMAT_F32, rows, columns, padding);
  Random numbers(state), same_numbers(state);
  gradient.fill(numbers, Values::kNormal);
  expected_gradient.fill(same_numbers, Values::kNormal);
  source.fill(random, Values::kNormal);  // the NaN bits of a sum depend on the machine
  const MaskDecayRequest decay = {source.view(), mask.view(), gradient.view(), 0.125f};
  ASSERT_EQ(mask_decay_device_kernels().front().unsupported_reason(decay), nullptr);
  mask_decay_device_kernels().front().queue(decay, nullptr);
  reference_of(mask_decay_kernels()).run({source.view(), mask.view(), expected_gradient.view(), 0.125f});
  EXPECT_TRUE(gradient.equals(expected_gradient) && gradient.is_intact()) << where << ": decayed";
}

TEST(SimtMaskGiven, EqualsTheReference) {
  Random random(63);
  for (const lpt_format format : kSources) {
    for (const lpt_format masked : {format, static_cast<lpt_format>(LPT_FORMAT_F32)}) {
      for (const Values values : kAllValues) {
        if (is_taken(random, 2))
          check_given(format, masked, random.below(4), random.of(kGroupedColumns), values, random);
      }
    }
  }
  MaskApplyRequest request = {};
  request.source.format.element = LPT_FORMAT_F64;
  EXPECT_STREQ(mask_apply_device_kernels().front().unsupported_reason(request), "takes f32, bf16 and f16 only");
  EXPECT_STREQ(mask_decay_device_kernels().front().unsupported_reason({request.source, {}, {}, 0.0f}),
               "takes f32, bf16 and f16 only");
}

// Compression.

void fill_bytes(Random &random, Guarded &memory, bool is_mask) {
  for (std::size_t i = 0; i < memory.bytes(); ++i) {
    memory.data()[i] = static_cast<uint8_t>(is_mask ? random.below(3) : static_cast<int64_t>(random.bits()));
  }
}

struct Packed {
  Matrix stored;
  Guarded indices;
  Packed(lpt_format element, int64_t rows, int64_t columns, int64_t padding)
      : stored(element, rows, (columns + 3) / 4 * 2, padding),
        indices(static_cast<std::size_t>(rows * ((columns + 7) / 8 + 1))) {}
};

void check_packing(lpt_format element, int64_t rows, int64_t columns, Random &random) {
  Matrix source(element, rows, columns, any_padding(random, columns), random.chance(0.5) ? 0 : 4);
  Matrix mask(LPT_FORMAT_UINT8, rows, columns, any_padding(random, columns));
  fill_bytes(random, source.data, false);
  fill_bytes(random, mask.data, true);
  const int64_t padding = any_padding(random, (columns + 3) / 4 * 2);
  Packed found(element, rows, columns, padding), oracle(element, rows, columns, padding);
  const int64_t stride = (columns + 7) / 8 + 1;
  const std::string where =
      format_name(element) + text(" %lldx%lld", static_cast<long long>(rows), static_cast<long long>(columns));
  const CompressRequest request = {source.view(), mask.view(), found.stored.view(), found.indices.data(), stride};
  ASSERT_EQ(compress_device_kernels().front().unsupported_reason(request), nullptr);
  take_next_order();
  compress_device_kernels().front().queue(request, nullptr);
  reference_of(compress_kernels())
      .run({source.view(), mask.view(), oracle.stored.view(), oracle.indices.data(), stride});
  EXPECT_TRUE(found.stored.equals(oracle.stored) && found.stored.is_intact()) << where << ": stored";
  EXPECT_TRUE(found.indices.equals(oracle.indices) && found.indices.is_intact()) << where << ": places";

  Matrix dense(element, rows, columns, padding), expected_dense(element, rows, columns, padding);
  const DecompressRequest back = {oracle.stored.view(), oracle.indices.data(), stride, dense.view()};
  ASSERT_EQ(decompress_device_kernels().front().unsupported_reason(back), nullptr);
  decompress_device_kernels().front().queue(back, nullptr);
  reference_of(decompress_kernels()).run({oracle.stored.view(), oracle.indices.data(), stride, expected_dense.view()});
  EXPECT_TRUE(dense.equals(expected_dense) && dense.is_intact()) << where << ": dense";
}

TEST(SimtSparsePack, EqualsTheReference) {
  Random random(62);
  for (const lpt_format element : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN, LPT_FORMAT_INT8}) {
    for (const int64_t columns : kGroupedColumns) check_packing(element, random.below(5), columns, random);
  }
}

TEST(SimtSparsePack, NonzeroEqualsTheReference) {
  Random random(64);
  for (const lpt_format element :
       {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2, LPT_FORMAT_INT8}) {
    for (const int64_t columns : kGroupedColumns) {
      const int64_t rows = random.below(5), padding = any_padding(random, columns);
      Matrix source(element, rows, columns, any_padding(random, columns), random.chance(0.5) ? 0 : 4);
      for (std::size_t i = 0; i < source.data.bytes(); ++i) {
        static constexpr uint8_t kBytes[] = {0, 0, 0x80, 1};
        source.data.data()[i] = random.of(kBytes);
      }
      Matrix mask(LPT_FORMAT_UINT8, rows, columns, padding), oracle(LPT_FORMAT_UINT8, rows, columns, padding);
      const NonzeroRequest request = {source.view(), mask.view()};
      ASSERT_EQ(nonzero_device_kernels().front().unsupported_reason(request), nullptr);
      take_next_order();
      nonzero_device_kernels().front().queue(request, nullptr);
      reference_of(nonzero_kernels()).run({source.view(), oracle.view()});
      EXPECT_TRUE(mask.equals(oracle) && mask.is_intact()) << format_name(element) << " " << columns;
    }
  }
}

TEST(SimtSparsePack, WhatTheRowsDoNotTakeIsRejected) {
  CompressRequest request = {};
  request.source.format.element = LPT_FORMAT_E2M1FN;
  EXPECT_STREQ(compress_device_kernels().front().unsupported_reason(request),
               "takes f32, bf16, f16, e4m3fn, e5m2 and int8 only");
  request.source.format.element = LPT_FORMAT_INT8;
  request.mask.column_stride = 3;
  EXPECT_STREQ(compress_device_kernels().front().unsupported_reason(request), "takes masks with adjacent columns only");
  DecompressRequest back = {};
  back.stored.format.element = LPT_FORMAT_F64;
  EXPECT_STREQ(decompress_device_kernels().front().unsupported_reason(back),
               "takes f32, bf16, f16, e4m3fn, e5m2 and int8 only");
}

}  // namespace
}  // namespace lpt::test
