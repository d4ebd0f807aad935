// The distribution of an N:M group (kernels/sparse_mask/group.hpp) against theory in double: Chmiel et al., arXiv 2203.10991.
#include "tests/kernels/sparse_mask_law.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/sparse_mask/sparse_mask.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

// A boundary between two elements has at most `of` roundings, relative to the total, which is `kept` steps. The mark is rounded
// twice, and uniform values are 2^-24 apart.
double resolution(Pattern pattern) { return 0x1p-24 * (pattern.of + 3) * pattern.kept + 0x1p-24; }

void expect_probabilities(const Magnitudes &a, Pattern pattern) {
  const std::vector<Outcome> all = outcomes(kMvue, a, pattern.kept);
  const std::vector<double> p = water_filled(a, pattern.kept), found = marginals(all, a.size());
  const std::vector<double> mean = means(all, a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double value = static_cast<double>(a[i]);
    ASSERT_NEAR(found[i], p[i], resolution(pattern)) << pattern.kept << ':' << pattern.of << " of " << text_of(a);
    const double survivor = p[i] > 0 ? value / p[i] : 0;
    ASSERT_NEAR(mean[i], value, survivor * resolution(pattern))
        << pattern.kept << ':' << pattern.of << ' ' << text_of(a);
  }
}

TEST(SparseLaw, MvueKeepsWithTheProbabilitiesOfWaterFilling) {
  Random random(1);
  for (const Pattern pattern : kPatterns) {
    for (const Source source : kSources) {
      for (int i = 0; i < (kIsSanitized ? 30 : 100); ++i) {
        Magnitudes a = draw_group(random, source, pattern.of);
        if (i % 3 == 0) a[static_cast<std::size_t>(random.below(pattern.of))] *= 30;
        if (i % 5 == 0) a[static_cast<std::size_t>(random.below(pattern.of))] = 0;
        ASSERT_NO_FATAL_FAILURE(expect_probabilities(a, pattern));
      }
    }
  }
}

// The other tests rely on this: equal ends of a range imply a constant key. With a sanitizer, only the smaller group runs.
TEST(SparseLaw, RunsOfUniformNumbersAreWhatCountingFinds) {
  for (const auto &[a, kept] : {std::pair{Magnitudes{3, 1, 2, 4}, 2}, {Magnitudes{1, 0, 9, 2, 2, 3, 1, 1}, 4}}) {
    if (kIsSanitized && kept > 2) continue;
    std::vector<double> counted(a.size());
    for (uint32_t u = 0; u < kUniforms; ++u) {
      const SparseGroup group = select(kMvue, a, kept, u);
      for (std::size_t i = 0; i < a.size(); ++i) counted[i] += is_kept(group, i);
    }
    const std::vector<double> found = marginals(outcomes(kMvue, a, kept), a.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(counted[i] / kUniforms, found[i]) << i;
  }
}

TEST(SparseLaw, TwoDrawsKeepWithTheProbabilitiesOfDrawingOneAfterTheOther) {
  Random random(2);
  for (const int of : {3, 4, 8, 16}) {
    for (int n = 0; n < (kIsSanitized ? 20 : 60); ++n) {
      const Magnitudes a = draw_group(random, kSources[n % 4], of);
      const std::vector<Outcome> all = outcomes(kTwoDraws, a, 2);
      const std::vector<double> found = marginals(all, a.size()), mean = means(all, a.size());
      double sum = 0;
      for (const float each : a) sum += static_cast<double>(each);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double own = static_cast<double>(a[i]);
        double p = own / sum;
        for (std::size_t k = 0; k < a.size(); ++k) {
          const double other = static_cast<double>(a[k]);
          if (k != i) p += other / sum * own / (sum - other);
        }
        ASSERT_NEAR(found[i], p, 0x1p-24 * (3 * of + 4)) << text_of(a);
        ASSERT_NEAR(mean[i], own, own / p * 0x1p-24 * (3 * of + 4) + own * of * 0x1p-23) << text_of(a);
      }
    }
  }
}

// Worked examples.

TEST(SparseLaw, WorkedVectorsHaveTheirProbabilities) {
  const auto expect = [](lpt_sparse_rule rule, const Magnitudes &a, const std::vector<double> &p, double sum,
                         double exact) {
    const std::vector<Outcome> all = outcomes(rule, a, 2);
    const std::vector<double> found = marginals(all, a.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(found[i], p[i], exact) << text_of(a) << " at " << i;
    EXPECT_NEAR(variance(all, a), sum, sum * exact * 10) << text_of(a);
  };
  expect(kMvue, {1, 2, 3, 4}, {0.2, 0.4, 0.6, 0.8}, 20, 1e-6);
  expect(kMvue, {1, 2, 3, 10}, {1 / 6.0, 1 / 3.0, 0.5, 1}, 22, 1e-6);
  expect(kMvue, {1, 1, 1, 1}, {0.5, 0.5, 0.5, 0.5}, 4, 1e-6);
  expect(kTwoDraws, {1, 2, 3, 4}, {0.2345, 0.4413, 0.6083, 0.7159}, 20.474, 5e-5);
  expect(kTwoDraws, {1, 2, 3, 10}, {0.1900, 0.3705, 0.5393, 0.9002}, 29.84, 5e-5);
  expect(kTwoDraws, {1, 1, 1, 1}, {0.5, 0.5, 0.5, 0.5}, 4, 1e-6);
}

TEST(SparseLaw, OneOfTwoCostsTwiceTheirGemm) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const Magnitudes a = draw_group(random, kSources[i % 4], 2);
    const double expected = 2 * static_cast<double>(a[0]) * static_cast<double>(a[1]);
    EXPECT_NEAR(variance(outcomes(kMvue, a, 1), a), expected, energy(a) * 0x1p-20) << text_of(a);
  }
}

// Published figures have four decimal places.
void expect_ratio(const Ratio &ratio, double expected, const char *what) {
  EXPECT_NEAR(ratio.value(), expected, 4 * ratio.error() + 5e-5) << what;
  EXPECT_LT(ratio.error(), expected * 0.08) << what << " says too little";
}

TEST(SparseLaw, NoiseIsWhatTheoryGives) {
  struct {
    lpt_sparse_rule rule;
    Source source;
    Pattern pattern;
    double expected;
    const char *name;
  } const cases[] = {{kMvue, Source::kNormal, {1, 2}, 0.6366, "1:2 normal"},
                     {kMvue, Source::kNormal, {2, 4}, 0.4745, "2:4 normal"},
                     {kMvue, Source::kUniform, {2, 4}, 0.6307, "2:4 uniform"},
                     {kMvue, Source::kLognormal, {2, 4}, 0.2030, "2:4 lognormal"},
                     {kTwoDraws, Source::kNormal, {2, 4}, 0.5033, "two draws, normal"},
                     {kTwoDraws, Source::kUniform, {2, 4}, 0.6465, "two draws, uniform"},
                     {kTwoDraws, Source::kLognormal, {2, 4}, 0.2340, "two draws, lognormal"}};
  Random random(4);
  for (const auto &one : cases) {
    Ratio ratio;
    for (int i = 0; i < (kIsSanitized ? 5000 : 20000); ++i) {
      const Magnitudes a = draw_group(random, one.source, one.pattern.of);
      ratio.add(variance(outcomes(one.rule, a, one.pattern.kept), a), energy(a));
    }
    expect_ratio(ratio, one.expected, one.name);
  }
}

TEST(SparseLaw, TwoDrawsCostAtMostTwiceAsMuch) {
  Random random(5);
  double most = 0;
  for (int i = 0; i < 5000; ++i) {
    Magnitudes a = draw_group(random, kSources[i % 4], 4);
    if (i % 2 == 0) a[static_cast<std::size_t>(random.below(4))] *= std::exp2(static_cast<float>(random.below(14)));
    const double exact = variance(outcomes(kMvue, a, 2), a), twice = variance(outcomes(kTwoDraws, a, 2), a);
    ASSERT_GE(twice, exact - energy(a) * 0x1p-18) << text_of(a);
    ASSERT_LE(twice, 2 * exact + energy(a) * 0x1p-18) << text_of(a);
    most = std::max(most, twice / exact);
  }
  EXPECT_GT(most, 1.9) << "no group came near the bound";
}

TEST(SparseLaw, MagnitudeDropsTheEnergyThatTheoryGives) {
  struct {
    Source source;
    Pattern pattern;
    double expected;
    const char *name;
  } const cases[] = {{Source::kNormal, {2, 4}, 0.1321, "2:4 normal"},
                     {Source::kNormal, {1, 2}, 0.1820, "1:2 normal"},
                     {Source::kNormal, {4, 8}, 0.1032, "4:8 normal"},
                     {Source::kLaplace, {2, 4}, 0.0797, "2:4 Laplace"}};
  Random random(6);
  for (const auto &one : cases) {
    Ratio ratio;
    for (int i = 0; i < 100000; ++i) {
      const Magnitudes a = draw_group(random, one.source, one.pattern.of);
      const SparseGroup group = select(LPT_SPARSE_RULE_MAGNITUDE, a, one.pattern.kept);
      double dropped = 0;
      for (std::size_t k = 0; k < a.size(); ++k)
        dropped += is_kept(group, k) ? 0 : std::pow(static_cast<double>(a[k]), 2);
      ratio.add(dropped, energy(a));
    }
    expect_ratio(ratio, one.expected, one.name);
  }
}

// Minimum variance.

// No unbiased probabilities on a grid have a smaller variance, in each regime of a sorted group of four.
TEST(SparseLaw, NoOtherProbabilitiesCostLess) {
  constexpr int kParts = 40;
  const Magnitudes regimes[] = {{4, 4.5f, 5, 6}, {1, 2, 3, 4}, {1, 2, 4, 6.5f}, {0.5f, 1, 1.5f, 9}, {6.5f, 2, 1, 4}};
  for (const Magnitudes &a : regimes) {
    const double ours = variance(outcomes(kMvue, a, 2), a);
    double least = 1e300;
    for (int i = 1; i <= kParts; ++i) {
      for (int j = 1; j <= kParts; ++j) {
        for (int k = 1; k <= kParts; ++k) {
          const int last = 2 * kParts - i - j - k;
          if (last < 1 || last > kParts) continue;
          const std::vector<double> p = {1.0 * i / kParts, 1.0 * j / kParts, 1.0 * k / kParts, 1.0 * last / kParts};
          least = std::min(least, variance_of(a, p));
        }
      }
    }
    EXPECT_LE(ours, least * (1 + 1e-6)) << text_of(a);
    EXPECT_GT(ours, least * 0.99) << text_of(a) << ": the grid is too coarse to say anything";
  }
}

// With the random generator.

// One group in many rows, each with a separate draw. An element that is kept becomes at most the sum of the group.
void expect_unbiased(lpt_sparse_rule rule, const Magnitudes &a, int kept) {
  const int draws = kIsSanitized ? 20000 : 100000;
  const auto of = static_cast<int64_t>(a.size());
  std::vector<float> masked(static_cast<std::size_t>(draws) * a.size());
  SparseMaskRequest request{};
  find_format(LPT_FORMAT_F32, request.source.format);
  request.source.data = const_cast<float *>(a.data());
  request.source.rows = draws;
  request.source.columns = of;  // row_stride 0: every row reads the same elements
  request.masked = request.source;
  request.masked.data = masked.data();
  request.masked.row_stride = of;
  request.kept = kept;
  request.of = static_cast<int32_t>(of);
  request.rule = rule;
  request.random = {seed(), 0, 0, random_stream(RandomDomain::kSparse, 3, 0), 11, 7, 16};
  request.row_draws = 1;
  sparse_mask_kernels().back().run(request);
  double largest = 0;
  for (const float magnitude : a) largest += static_cast<double>(magnitude);
  for (std::size_t i = 0; i < a.size(); ++i) {
    double sum = 0, squares = 0;
    for (std::size_t n = 0; n < static_cast<std::size_t>(draws); ++n) {
      const auto value = static_cast<double>(masked[n * a.size() + i]);
      sum += value;
      squares += value * value;
    }
    const double mean = sum / draws;
    const double variance = std::max(squares / draws - mean * mean, 0.0);
    const double rounding = static_cast<double>(a[i]) * 1e-6;
    EXPECT_NEAR(mean, static_cast<double>(a[i]), mean_tolerance(variance, largest, draws) + rounding)
        << rule << ' ' << kept << " of " << text_of(a) << " at " << i;
  }
}

TEST(SparseLaw, TheMeanOfManyDrawsIsTheSource) {
  Random random(13);
  for (const Pattern pattern : kPatterns) {
    for (int n = 0; n < 3; ++n) expect_unbiased(kMvue, draw_group(random, kSources[n], pattern.of), pattern.kept);
  }
  for (const int of : {4, 8}) {
    for (const Source source : kSources) expect_unbiased(kTwoDraws, draw_group(random, source, of), 2);
  }
}

}  // namespace
}  // namespace lpt::test
