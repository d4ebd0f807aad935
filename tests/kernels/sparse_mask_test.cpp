// Every kernel of N:M masks against the reference kernel, bit for bit.
#include "kernels/sparse_mask/sparse_mask.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kSources[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64};
constexpr lpt_sparse_rule kRules[] = {LPT_SPARSE_RULE_MAGNITUDE, LPT_SPARSE_RULE_MVUE, LPT_SPARSE_RULE_MVUE_TWO_DRAWS,
                                      LPT_SPARSE_RULE_SOFT_THRESHOLD};
struct Pattern {
  int32_t kept, of;
};
constexpr Pattern kPatterns[] = {{2, 4}, {1, 2}, {4, 8}, {1, 4}, {3, 4}, {2, 8}, {8, 16}, {5, 7}, {16, 32}, {1, 32}};

// Parameters of a selection without the elements.
struct MaskCase {
  lpt_format source = LPT_FORMAT_F32, masked = LPT_FORMAT_F32;
  int64_t rows = 1, columns = 1;
  int32_t kept = 2, of = 4;
  lpt_sparse_rule rule = LPT_SPARSE_RULE_MAGNITUDE;
  bool is_transposed = false;
  bool wants_mask = true, wants_masked = true;
  bool is_in_place = false;
  bool has_importance = false;
  bool is_streamed = false;
  int64_t padding[3] = {};  // of source, mask, masked
  std::size_t shift[3] = {};
  int32_t rounds = 7;
  uint64_t first_draw = 0, row_draws = 1, group_draws = 1;
};

std::string text_of(const MaskCase &c) {
  return format_name(c.source) + " to " + format_name(c.masked) +
         text(" %lldx%lld %d:%d rule %d transposed %d mask %d masked %d in place %d importance %d streamed %d ",
              static_cast<long long>(c.rows), static_cast<long long>(c.columns), c.kept, c.of, c.rule, c.is_transposed,
              c.wants_mask, c.wants_masked, c.is_in_place, c.has_importance, c.is_streamed) +
         text("padding %lld,%lld,%lld shift %zu,%zu,%zu rounds %d draws %llu+%llu+%llu",
              static_cast<long long>(c.padding[0]), static_cast<long long>(c.padding[1]),
              static_cast<long long>(c.padding[2]), c.shift[0], c.shift[1], c.shift[2], c.rounds,
              static_cast<unsigned long long>(c.first_draw), static_cast<unsigned long long>(c.row_draws),
              static_cast<unsigned long long>(c.group_draws));
}

const KernelEntry<SparseMaskRequest> &reference() { return reference_of(sparse_mask_kernels()); }

SparseMaskRequest request_of(const MaskCase &c, Matrix &source, Matrix &mask, Matrix &masked) {
  SparseMaskRequest request{};
  request.source = source.view();
  request.mask = mask.view();
  request.masked = masked.view();
  if (!c.wants_mask) request.mask.data = nullptr;
  if (!c.wants_masked) request.masked.data = nullptr;
  request.kept = c.kept;
  request.of = c.of;
  request.rule = c.rule;
  request.random = {seed() * 3, 0, 0, random_stream(RandomDomain::kSparse, 1, 2), 77, c.rounds, 16};
  request.is_streamed = c.is_streamed;
  request.first_draw = c.first_draw;
  request.row_draws = c.row_draws;
  request.group_draws = c.group_draws;
  return request;
}

// Outputs with canaries; outputs that are not requested must not change.
struct Outputs {
  Matrix mask, masked;
  explicit Outputs(const MaskCase &c)
      : mask(LPT_FORMAT_UINT8, c.rows, c.columns, c.padding[1], c.shift[1], c.is_transposed),
        masked(c.masked, c.rows, c.columns, c.padding[2], c.shift[2], c.is_transposed) {}

  void expect_equal(const Outputs &other, const std::string &where) const {
    EXPECT_TRUE(mask.equals(other.mask)) << where << ": mask";
    EXPECT_TRUE(masked.equals(other.masked)) << where << ": masked";
    EXPECT_TRUE(mask.is_intact() && masked.is_intact()) << where << ": wrote past an output";
  }
};

// Runs one case on a kernel and on the reference kernel; returns true if the kernel supports it.
bool compare(const KernelEntry<SparseMaskRequest> &kernel, const MaskCase &c, Values values, Random &random) {
  const std::string where = std::string(kernel.name) + ' ' + text_of(c) + ' ' + name_of(values);
  Matrix source(c.source, c.rows, c.columns, c.padding[0], c.shift[0], c.is_transposed);
  std::vector<float> importance = draw(random, Values::kOutliers, c.columns);
  for (float &each : importance) each = std::fabs(each);
  Outputs expected(c), found(c);
  SparseMaskRequest request = request_of(c, source, expected.mask, expected.masked);
  if (c.has_importance) request.importance = importance.data();
  if (!takes(kernel, request)) return false;
  source.fill(random, values);
  reference().run(request);
  SparseMaskRequest other = request_of(c, source, found.mask, found.masked);
  other.importance = request.importance;
  if (!c.is_in_place) {
    kernel.run(other);
    found.expect_equal(expected, where);
    return true;
  }
  other.masked = source.view();
  kernel.run(other);
  EXPECT_TRUE(found.mask.equals(expected.mask)) << where << ": mask";
  for (int64_t r = 0; r < c.rows; ++r) {
    for (int64_t column = 0; column < c.columns; ++column) {
      EXPECT_EQ(source.code(r, column), expected.masked.code(r, column)) << where << " at " << r << ", " << column;
    }
  }
  EXPECT_TRUE(source.is_intact()) << where << ": wrote past the source";
  return true;
}

class SparseMaskKernels : public KernelTest<SparseMaskRequest> {};

// Sets consecutive draws, which the SIMD kernels require.
void set_draws(MaskCase &c, Random &random) {
  const auto groups = static_cast<uint64_t>((c.columns + c.of - 1) / c.of);
  c.first_draw = random.chance(0.5) ? random.bits() >> 20 : static_cast<uint64_t>(random.below(9));
  if (random.chance(0.2)) c.first_draw = (uint64_t{1} << 34) - static_cast<uint64_t>(random.below(300));
  c.row_draws = c.is_transposed ? 1 : groups + static_cast<uint64_t>(random.below(2) * random.below(5));
  c.group_draws = c.is_transposed ? static_cast<uint64_t>(c.rows + random.below(4)) : 1;
  c.rounds = random.chance(0.5) ? 7 : 10;
}

TEST_P(SparseMaskKernels, EqualTheReferenceAtTheEdgesOfVectors) {
  Random random(1);
  int64_t taken = 0;
  for (const auto [kept, of] : kPatterns) {
    for (const int64_t columns : kSimdEdges) {
      for (const lpt_format source : kSources) {
        for (const bool is_transposed : {false, true}) {
          for (const lpt_sparse_rule rule : {LPT_SPARSE_RULE_MAGNITUDE, LPT_SPARSE_RULE_MVUE}) {
            if (!is_taken(random, 3)) continue;
            MaskCase c{.source = source,
                       .masked = source,
                       .kept = kept,
                       .of = of,
                       .rule = rule,
                       .is_transposed = is_transposed};
            c.rows = is_transposed ? columns : 1 + random.below(4);
            c.columns = is_transposed ? 1 + random.below(40) : columns;
            set_draws(c, random);
            taken += compare(*GetParam(), c, Values::kOutliers, random);
            ASSERT_FALSE(HasFailure());
          }
        }
      }
    }
  }
  EXPECT_GT(taken, kIsSanitized ? 20 : 80);
}

TEST_P(SparseMaskKernels, EqualTheReferenceForDrawnCases) {
  Random random(2);
  int64_t taken = 0;
  for (int i = 0; i < (kIsSanitized ? 1500 : 4000); ++i) {
    MaskCase c;
    const auto [kept, of] = random.chance(0.5) ? kPatterns[random.below(2)] : random.of(kPatterns);
    c.kept = kept;
    c.of = of;
    c.source = random.of(kSources);
    if (random.chance(0.5)) c.source = LPT_FORMAT_F32;
    c.masked = c.source;
    if (random.chance(0.1)) c.masked = LPT_FORMAT_F32;
    c.rows = random.of(kFewRows);
    if (random.chance(0.3)) c.rows = random.below(70);
    c.columns = random.chance(0.5) ? random.of(kSimdEdges) : random.below(300);
    c.is_transposed = random.chance(0.4);
    if (c.is_transposed && random.chance(0.5)) std::swap(c.rows, c.columns);
    c.rule = random.chance(0.8) ? kRules[random.below(2)] : random.of(kRules);
    if (c.rule == LPT_SPARSE_RULE_MVUE_TWO_DRAWS) c.kept = 2, c.of = std::max(c.of, 3);
    c.wants_mask = random.chance(0.7);
    c.wants_masked = !c.wants_mask || random.chance(0.7);
    c.is_in_place = c.wants_masked && c.masked == c.source && random.chance(0.3);
    c.is_streamed = random.chance(0.5);
    c.has_importance = c.rule == LPT_SPARSE_RULE_MAGNITUDE && random.chance(0.1);
    const auto bytes = static_cast<std::size_t>(element_bits(c.source) / 8);
    c.shift[0] = c.source == LPT_FORMAT_F64 ? 0 : bytes * static_cast<std::size_t>(random.below(16));
    c.shift[1] = static_cast<std::size_t>(random.below(64));
    c.shift[2] = c.masked == LPT_FORMAT_F64 ? 0 : 4 * static_cast<std::size_t>(random.below(16));
    for (int64_t &padding : c.padding) padding = random.chance(0.5) ? random.below(40) : 0;
    if (c.is_transposed && random.chance(0.5)) c.padding[2] = 64 - c.rows % 64;  // aligned lines, for streaming stores
    set_draws(c, random);
    if (random.chance(0.05)) ++c.group_draws, ++c.row_draws;
    taken += compare(*GetParam(), c, random.of(kAllValues), random);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(taken, kIsSanitized ? 150 : 400);
}

// All groups of a few distinct values: ties, zeros of both signs, groups with one nonzero element or none. Then groups with
// specials, for which SIMD kernels use the scalar function.
void compare_all_groups(const KernelEntry<SparseMaskRequest> &kernel, MaskCase c, int64_t numbers) {
  static constexpr uint32_t kNumbers[] = {0u,          0x80000000u, 0x3F800000u, 0xBF800000u, 0x40000000u,
                                          0x40400000u, 0x00000001u, 0x80000002u, 0x2F000000u,  // these have finite sums
                                          0x7F000000u, 0x7F7FFFFFu, 0x7F800000u, 0xFFC00001u, 0x7F800002u};
  const int64_t count = numbers * numbers * numbers * numbers * 4;
  c.rows = c.is_transposed ? count / c.of : 1;
  c.columns = c.is_transposed ? c.of : count;
  c.group_draws = c.is_transposed ? static_cast<uint64_t>(c.rows) : 1;
  Matrix source(c.source, c.rows, c.columns, 0, 0, c.is_transposed);
  Outputs expected(c), found(c);
  const SparseMaskRequest request = request_of(c, source, expected.mask, expected.masked);
  if (!takes(kernel, request)) return;
  for (int64_t at = 0, left = 0; at < count; ++at, left /= numbers) {
    if (at % 4 == 0) left = at / 4;
    source.set_code(c.is_transposed ? at / c.of : 0, c.is_transposed ? at % c.of : at, kNumbers[left % numbers]);
  }
  reference().run(request);
  kernel.run(request_of(c, source, found.mask, found.masked));
  found.expect_equal(expected, std::string(kernel.name) + ' ' + text_of(c));
}

TEST_P(SparseMaskKernels, EqualTheReferenceForAllGroupsOfFewMagnitudes) {
  for (const int64_t numbers : {9, 14}) {
    for (const bool is_transposed : {false, true}) {
      for (const auto [kept, of] : {Pattern{2, 4}, Pattern{1, 2}}) {
        for (const lpt_sparse_rule rule : {LPT_SPARSE_RULE_MAGNITUDE, LPT_SPARSE_RULE_MVUE}) {
          compare_all_groups(*GetParam(), {.kept = kept, .of = of, .rule = rule, .is_transposed = is_transposed},
                             numbers);
        }
      }
    }
  }
}

// Millions of draws, including draws whose marks rounding assigns to one element.
TEST_P(SparseMaskKernels, EqualTheReferenceForManyDraws) {
  Random random(3);
  for (const float tiny : {1.0f, 0x1p-146f}) {
    for (const auto [kept, of] : {Pattern{2, 4}, Pattern{1, 2}}) {
      MaskCase c{.rows = 64, .columns = 16384, .kept = kept, .of = of, .rule = LPT_SPARSE_RULE_MVUE};
      c.row_draws = static_cast<uint64_t>(c.columns / of);
      Matrix source(c.source, c.rows, c.columns);
      Outputs expected(c), found(c);
      const SparseMaskRequest request = request_of(c, source, expected.mask, expected.masked);
      if (!takes(request)) continue;
      source.fill(random, Values::kNormal);
      for (int64_t i = 0; i < c.rows * c.columns; ++i) source.set(0, i, source.get(0, i) * tiny);
      reference().run(request);
      GetParam()->run(request_of(c, source, found.mask, found.masked));
      found.expect_equal(expected, std::string(GetParam()->name) + ' ' + text_of(c));
    }
  }
}

TEST(SparseMaskTable, RejectsWhatTheFastRowsCannotDo) {
  Matrix source(LPT_FORMAT_F32, 8, 8), mask(LPT_FORMAT_UINT8, 8, 8), masked(LPT_FORMAT_F32, 8, 8);
  const auto takers = [](const SparseMaskRequest &request) {
    int result = 0;
    for (const auto &row : sparse_mask_kernels())
      result += row.unsupported_reason != nullptr && row.unsupported_reason(request) == nullptr;
    return result;
  };
  const auto fast = static_cast<int>(sparse_mask_kernels().size() - 1) / 2;  // each rule has one kernel per ISA
  for (const lpt_sparse_rule rule : {LPT_SPARSE_RULE_MAGNITUDE, LPT_SPARSE_RULE_MVUE}) {
    const MaskCase c{.rows = 8, .columns = 8, .rule = rule};
    const SparseMaskRequest good = request_of(c, source, mask, masked);
    EXPECT_EQ(takers(good), fast) << rule;
    SparseMaskRequest bad = good;
    bad.source.column_stride = 2;
    EXPECT_EQ(takers(bad), 0) << rule;
    bad = good;
    bad.mask.column_stride = 8;
    EXPECT_EQ(takers(bad), 0) << rule;
    bad = good;
    bad.masked.column_stride = 8;
    EXPECT_EQ(takers(bad), 0) << rule;
    bad = good;
    find_format(LPT_FORMAT_BF16, bad.masked.format);
    EXPECT_EQ(takers(bad), 0) << rule;
    bad = good;
    find_format(LPT_FORMAT_F64, bad.source.format);
    EXPECT_EQ(takers(bad), 0) << rule;
  }
  EXPECT_EQ(reference().unsupported_reason, nullptr);
}

INSTANTIATE_TEST_SUITE_P(All, SparseMaskKernels, testing::ValuesIn(fast_kernels(sparse_mask_kernels())),
                         kernel_name<SparseMaskRequest>);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SparseMaskKernels);

}  // namespace
}  // namespace lpt::test
