// Every outcome of the distribution of an N:M group with its probability, found without assumptions on its sums, and its theory
// in double.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/sparse_mask/group.hpp"
#include "tests/support/random.hpp"

namespace lpt::test {

using Magnitudes = std::vector<float>;

inline std::string text_of(const Magnitudes &a) {
  std::string result;
  for (const float each : a) result += std::to_string(each) + ' ';
  return result;
}

// One result of a draw, and its fraction of the 2^24 random values (2^48 for two draws).
struct Outcome {
  double probability;
  SparseGroup group;
};

constexpr uint32_t kUniforms = 1u << 24;

inline SparseGroup select(lpt_sparse_rule rule, const Magnitudes &a, int kept, uint32_t first = 0,
                          uint32_t second = 0) {
  const auto word = [&](uint64_t i) { return (i == 0 ? first : second) << 8; };
  return select_group(rule, a.data(), nullptr, static_cast<int>(a.size()), kept, word);
}

inline int sum_of_indices(uint32_t bits) {
  int sum = 0;
  for (; bits != 0; bits &= bits - 1) sum += std::countr_zero(bits);
  return sum;
}

// A range of uniform values with the same `key`.
struct Run {
  uint32_t begin, end;
};

// Marks move monotonically to higher indices as the uniform value grows, so that a key of indices is monotonic. Therefore two
// ends with equal keys have no other key between them.
inline void find_runs(uint32_t begin, uint32_t end, const std::function<int(uint32_t)> &key, std::vector<Run> &runs) {
  if (end - begin == 1 || key(begin) == key(end - 1)) {
    if (!runs.empty() && key(runs.back().begin) == key(begin)) {
      runs.back().end = end;
    } else {
      runs.push_back({begin, end});
    }
    return;
  }
  const uint32_t middle = begin + (end - begin) / 2;
  find_runs(begin, middle, key, runs);
  find_runs(middle, end, key, runs);
}

inline std::vector<Run> runs_of(const std::function<int(uint32_t)> &key) {
  std::vector<Run> runs;
  find_runs(0, kUniforms, key, runs);
  return runs;
}

inline double part_of(Run run) { return static_cast<double>(run.end - run.begin) / kUniforms; }

inline std::vector<Outcome> outcomes_of_mvue(const Magnitudes &a, int kept) {
  std::vector<Outcome> result;
  const auto key = [&](uint32_t u) { return sum_of_indices(select(LPT_SPARSE_RULE_MVUE, a, kept, u).bits); };
  for (const Run run : runs_of(key)) {
    result.push_back({part_of(run), select(LPT_SPARSE_RULE_MVUE, a, kept, run.begin)});
  }
  return result;
}

// The first index is common to the pairs with the smallest and with the largest second value, for at least three elements.
inline std::vector<Outcome> outcomes_of_two_draws(const Magnitudes &a) {
  constexpr lpt_sparse_rule kRule = LPT_SPARSE_RULE_MVUE_TWO_DRAWS;
  std::vector<Outcome> result;
  const auto first = [&](uint32_t u) {
    return sum_of_indices(select(kRule, a, 2, u, 0).bits & select(kRule, a, 2, u, kUniforms - 1).bits);
  };
  for (const Run outer : runs_of(first)) {
    const auto second = [&](uint32_t u) { return sum_of_indices(select(kRule, a, 2, outer.begin, u).bits); };
    for (const Run inner : runs_of(second)) {
      result.push_back({part_of(outer) * part_of(inner), select(kRule, a, 2, outer.begin, inner.begin)});
    }
  }
  return result;
}

inline std::vector<Outcome> outcomes(lpt_sparse_rule rule, const Magnitudes &a, int kept) {
  return rule == LPT_SPARSE_RULE_MVUE ? outcomes_of_mvue(a, kept) : outcomes_of_two_draws(a);
}

inline bool is_kept(const SparseGroup &group, std::size_t i) { return (group.bits >> i & 1) != 0; }

inline std::vector<double> marginals(const std::vector<Outcome> &all, std::size_t count) {
  std::vector<double> result(count);
  for (const Outcome &one : all) {
    for (std::size_t i = 0; i < count; ++i) result[i] += is_kept(one.group, i) ? one.probability : 0;
  }
  return result;
}

inline std::vector<double> means(const std::vector<Outcome> &all, std::size_t count) {
  std::vector<double> result(count);
  for (const Outcome &one : all) {
    for (std::size_t i = 0; i < count; ++i) {
      if (is_kept(one.group, i)) result[i] += one.probability * static_cast<double>(one.group.values[i]);
    }
  }
  return result;
}

// Expected squared error of the group.
inline double variance(const std::vector<Outcome> &all, const Magnitudes &a) {
  double sum = 0;
  for (const Outcome &one : all) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double value = is_kept(one.group, i) ? static_cast<double>(one.group.values[i]) : 0;
      sum += one.probability * (value - static_cast<double>(a[i])) * (value - static_cast<double>(a[i]));
    }
  }
  return sum;
}

inline double energy(const Magnitudes &a) {
  double sum = 0;
  for (const float each : a) sum += static_cast<double>(each) * static_cast<double>(each);
  return sum;
}

// Returns p = min(1, c · a) with a sum of `kept`; finds the level c by bisection.
inline std::vector<double> water_filled(const Magnitudes &a, int kept) {
  std::vector<double> p(a.size());
  const auto pour = [&](double c) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += p[i] = std::min(1.0, c * static_cast<double>(a[i]));
    return sum;
  };
  double least = 1e300;
  for (const float each : a) {
    if (each > 0) least = std::min(least, static_cast<double>(each));
  }
  double low = 0, high = 1 / least;  // the level at which all nonzero elements have p = 1
  if (pour(high) <= kept) return p;
  for (int i = 0; i < 2000 && low < high; ++i) {
    const double middle = low > 0 ? std::sqrt(low) * std::sqrt(high) : high * 0x1p-60;
    (pour(middle) < kept ? low : high) = middle;
    if (high / low - 1 < 1e-15) break;
  }
  pour(high);
  return p;
}

// Returns Σ a² (1/p - 1), the variance of unbiased draws with these probabilities.
inline double variance_of(const Magnitudes &a, const std::vector<double> &p) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > 0) sum += static_cast<double>(a[i]) * static_cast<double>(a[i]) * (1 / p[i] - 1);
  }
  return sum;
}

struct Pattern {
  int kept, of;
};

inline constexpr Pattern kPatterns[] = {{1, 2}, {2, 4}, {1, 4}, {3, 4}, {4, 8}, {2, 8}, {8, 16}, {16, 32}};

// Distribution of the elements of a group.
enum class Source { kNormal, kUniform, kLognormal, kLaplace };

inline constexpr lpt_sparse_rule kMvue = LPT_SPARSE_RULE_MVUE, kTwoDraws = LPT_SPARSE_RULE_MVUE_TWO_DRAWS;
inline constexpr Source kSources[] = {Source::kNormal, Source::kUniform, Source::kLognormal, Source::kLaplace};

inline Magnitudes draw_group(Random &random, Source source, int count) {
  Magnitudes a(static_cast<std::size_t>(count));
  for (float &each : a) {
    switch (source) {
      case Source::kNormal:
        each = static_cast<float>(std::fabs(random.normal()));
        break;
      case Source::kUniform:
        each = static_cast<float>(random.uniform());
        break;
      case Source::kLognormal:
        each = static_cast<float>(std::exp(random.normal()));
        break;
      case Source::kLaplace:
        each = static_cast<float>(-std::log(1 - random.uniform()));
        break;
    }
  }
  return a;
}

// A ratio of two sums, with its standard error.
class Ratio {
 public:
  void add(double above, double below) { pairs_.push_back({above, below}), above_ += above, below_ += below; }
  double value() const { return above_ / below_; }
  double error() const {
    double sum = 0;
    for (const Pair &pair : pairs_) sum += std::pow(pair.above - value() * pair.below, 2);
    return std::sqrt(sum) / below_;
  }

 private:
  struct Pair {
    double above, below;
  };
  std::vector<Pair> pairs_;
  double above_ = 0, below_ = 0;
};

}  // namespace lpt::test
