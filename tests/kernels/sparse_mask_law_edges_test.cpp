// The distribution of an N:M group (kernels/sparse_mask/group.hpp) in edge cases: rounding, zeros, ties, specials.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/kernels/sparse_mask_law.hpp"

namespace lpt::test {
namespace {

constexpr lpt_sparse_rule kRules[] = {LPT_SPARSE_RULE_MAGNITUDE, kMvue, kTwoDraws, LPT_SPARSE_RULE_SOFT_THRESHOLD};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();

// On average, rounding changes the probability of a position in the group by less than one of the 2^24 uniform values.
TEST(SparseLawEdges, RoundingFavoursNoPlace) {
  Random random(7);
  constexpr int kGroups = 5000;
  double above[4] = {};
  for (int n = 0; n < kGroups; ++n) {
    const Magnitudes a = draw_group(random, Source::kUniform, 4);
    const std::vector<double> p = water_filled(a, 2), found = marginals(outcomes(kMvue, a, 2), 4);
    for (std::size_t i = 0; i < 4; ++i) {
      above[i] += (found[i] - p[i]) * kUniforms / kGroups;
    }
  }
  for (const double mean : above) EXPECT_NEAR(mean, 0, 0.7);
}

// Rounding may move the marks of the largest uniform values to the end of the group.
TEST(SparseLawEdges, TheLastPlacesKeepANumberThatIsNotZero) {
  Random random(8);
  for (const Pattern pattern : kPatterns) {
    for (int n = 0; n < 3000; ++n) {
      Magnitudes a = draw_group(random, kSources[n % 4], pattern.of);
      if (n % 2 == 0) a.front() = 0;
      if (n % 3 == 0) a.back() = 0;
      if (n % 7 == 0)
        for (float &each : a) each *= 0x1p-147f;
      const auto positive = std::count_if(a.begin(), a.end(), [](float each) { return each > 0; });
      for (const uint32_t u : {0u, 1u, kUniforms - 2, kUniforms - 1}) {
        const SparseGroup group = select(kMvue, a, pattern.kept, u);
        int64_t kept = 0;
        for (std::size_t i = 0; i < a.size(); ++i) kept += is_kept(group, i) && a[i] > 0;
        ASSERT_EQ(kept, std::min<int64_t>(positive, pattern.kept))
            << pattern.kept << ':' << pattern.of << ' ' << text_of(a);
      }
    }
  }
}

TEST(SparseLawEdges, AsManyNumbersAsPlacesStayAsTheyAre) {
  Random random(9);
  for (const Pattern pattern : kPatterns) {
    for (int n = 0; n < 3000; ++n) {
      Magnitudes a(static_cast<std::size_t>(pattern.of), 0.0f);
      const float all = n % 2 == 0 ? static_cast<float>(1 + random.uniform()) : 0.0f;
      for (int left = pattern.kept; left > 0;) {
        float &place = a[static_cast<std::size_t>(random.below(pattern.of))];
        if (place == 0) place = all != 0 ? all : static_cast<float>(1 + random.uniform() * 1e-6), --left;
      }
      for (const lpt_sparse_rule rule : {kMvue, kTwoDraws}) {
        if (rule == kTwoDraws && pattern.kept != 2) continue;
        const auto u = static_cast<uint32_t>(random.below(kUniforms));
        const SparseGroup group = select(rule, a, pattern.kept, u, u ^ 0xABCDEu);
        for (std::size_t i = 0; i < a.size(); ++i) {
          ASSERT_EQ(is_kept(group, i), a[i] > 0) << pattern.kept << ':' << pattern.of << ' ' << text_of(a);
          if (a[i] == 0) continue;
          ASSERT_EQ(group.values[i], a[i]) << pattern.kept << ':' << pattern.of << ' ' << text_of(a);
        }
      }
    }
  }
}

// Counts and specials.

TEST(SparseLawEdges, EveryRuleKeepsExactlyAsManyAsThereArePlaces) {
  Random random(10);
  for (const Values values : kAllValues) {
    for (const lpt_sparse_rule rule : kRules) {
      for (int n = 0; n < 4000; ++n) {
        const int of = 2 + static_cast<int>(random.below(31));
        const int kept = rule == kTwoDraws ? 2 : 1 + static_cast<int>(random.below(of));
        const int count = 1 + static_cast<int>(random.below(of));
        Magnitudes a = draw(random, values, count);
        for (float &each : a) each = std::fabs(each);
        const auto u = static_cast<uint32_t>(random.below(kUniforms)),
                   v = static_cast<uint32_t>(random.below(kUniforms));
        const SparseGroup group = select(rule, a, kept, u, v);
        ASSERT_EQ(std::popcount(group.bits), std::min(kept, count))
            << rule << ' ' << name_of(values) << ' ' << text_of(a);
        ASSERT_EQ(group.bits >> (count - 1) >> 1, 0u) << "kept a number past the end";
      }
    }
  }
}

TEST(SparseLawEdges, ADominantNumberStaysUnchanged) {
  Random random(11);
  for (int n = 0; n < 5000; ++n) {
    Magnitudes a = draw_group(random, kSources[n % 4], 4);
    const auto place = static_cast<std::size_t>(random.below(4));
    a[place] = a[0] + a[1] + a[2] + a[3] + static_cast<float>(random.uniform());
    const SparseGroup group = select(kMvue, a, 2, static_cast<uint32_t>(random.below(kUniforms)));
    ASSERT_TRUE(is_kept(group, place)) << text_of(a);
    ASSERT_EQ(group.values[place], a[place]) << text_of(a);
  }
}

TEST(SparseLawEdges, ZerosFillWhatIsLeft) {
  for (const lpt_sparse_rule rule : kRules) {
    const SparseGroup none = select(rule, {0, 0, 0, 0}, 2, 12345, 999);
    EXPECT_EQ(none.bits, 0b0011u) << rule;
    const SparseGroup one = select(rule, {0, 0, 5, 0}, 2, 12345, 999);
    EXPECT_EQ(one.bits, 0b0101u) << rule;
    EXPECT_EQ(one.values[2], 5.0f) << rule;
    EXPECT_EQ(one.values[0], 0.0f) << rule;
    const SparseGroup two = select(rule, {0, 7, 0, 5}, 2, 12345, 999);
    EXPECT_EQ(two.bits, 0b1010u) << rule;
    EXPECT_EQ(two.values[1], 7.0f) << rule;
    EXPECT_EQ(two.values[3], 5.0f) << rule;
  }
}

TEST(SparseLawEdges, EqualMagnitudesLeaveTheLowerIndex) {
  EXPECT_EQ(select(LPT_SPARSE_RULE_MAGNITUDE, {1, 1, 1, 1}, 2).bits, 0b0011u);
  EXPECT_EQ(select(LPT_SPARSE_RULE_MAGNITUDE, {1, 2, 1, 1}, 2).bits, 0b0011u);
  EXPECT_EQ(select(LPT_SPARSE_RULE_MAGNITUDE, {1, 2, 3, 2}, 2).bits, 0b0110u);
  EXPECT_EQ(select(LPT_SPARSE_RULE_MAGNITUDE, {kNan, kInfinity, kNan, kNan}, 2).bits, 0b0101u);
  EXPECT_EQ(
      select(LPT_SPARSE_RULE_MAGNITUDE, {kNan, float_of_bits(0x7F800001u), 1, float_of_bits(0x7FFFFFFFu)}, 2).bits,
      0b0011u);
}

// NaN ranks above infinity, and infinity above all finite values. Groups without a finite sum keep their largest magnitudes
// unchanged.
TEST(SparseLawEdges, SpecialGroupsKeepTheirLargestUnderEveryRule) {
  const struct {
    Magnitudes a;
    uint32_t bits;
  } cases[] = {{{1, kNan, 3, 2}, 0b0110},
               {{1, kInfinity, 3, 2}, 0b0110},
               {{kInfinity, kNan, 3, 2}, 0b0011},
               {{kInfinity, 1, kNan, kInfinity}, 0b0101},
               {{kLargest, 1, 2, kLargest}, 0b1001},
               {{1, kLargest / 2, kLargest, kLargest / 2}, 0b0110}};
  for (const auto &[a, bits] : cases) {
    for (const lpt_sparse_rule rule : kRules) {
      const SparseGroup group = select(rule, a, 2, 777, 31);
      EXPECT_EQ(group.bits, bits) << rule << ' ' << text_of(a);
      for (std::size_t i = 0; i < 4; ++i) {
        if (is_kept(group, i)) {
          EXPECT_EQ(magnitude_bits(group.values[i]), magnitude_bits(a[i])) << rule << ' ' << text_of(a);
        }
      }
    }
  }
}

// A group with a sum of more than half of the f32 range: doubling the largest element overflows.
TEST(SparseLawEdges, ALargestNumberWhoseDoubleOverflowsIsDominant) {
  const Magnitudes a = {kLargest * 0.75f, 1, 1e30f, 2e30f};
  const SparseGroup group = select(kMvue, a, 2, 1 << 23);
  EXPECT_TRUE(is_kept(group, 0));
  EXPECT_EQ(group.values[0], a[0]);
  const std::vector<double> found = marginals(outcomes(kMvue, a, 2), 4);
  EXPECT_NEAR(found[3], 2.0 / 3, 1e-6);
}

TEST(SparseLawEdges, SubnormalNumbersAreDrawnAsOthersAre) {
  const Magnitudes a = {0x1p-130f, 0x1p-129f, 3 * 0x1p-130f, 0x1p-128f};
  const std::vector<double> found = marginals(outcomes(kMvue, a, 2), 4);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], 0.2 * static_cast<double>(i + 1), 1e-4);
  EXPECT_EQ(select(LPT_SPARSE_RULE_MAGNITUDE, a, 2).bits, 0b1100u);
}

TEST(SparseLawEdges, SoftThresholdIsWhatItSays) {
  Random random(12);
  for (int n = 0; n < 5000; ++n) {
    const Pattern pattern = kPatterns[n % 8];
    const Magnitudes a = draw_group(random, kSources[n / 8 % 4], pattern.of);
    Magnitudes sorted = a;
    std::sort(sorted.rbegin(), sorted.rend());
    const float threshold = sorted[static_cast<std::size_t>(pattern.kept)];
    const SparseGroup group = select(LPT_SPARSE_RULE_SOFT_THRESHOLD, a, pattern.kept);
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(is_kept(group, i), a[i] > threshold) << text_of(a);
      const float expected = is_kept(group, i) ? a[i] - threshold : group.values[i];
      ASSERT_EQ(group.values[i], expected) << text_of(a);
    }
  }
  const SparseGroup all = select(LPT_SPARSE_RULE_SOFT_THRESHOLD, {3, 1}, 2);
  EXPECT_EQ(all.values[0], 3.0f) << "a short group drops nothing";
  EXPECT_EQ(all.values[1], 1.0f);
}

}  // namespace
}  // namespace lpt::test
