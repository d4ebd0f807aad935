// Selection of one group of an N:M mask: defines every rule, operation by operation, in f32. SIMD and CUDA kernels perform the
// same operations in the same order. Sums run from the first to the last element of the group.
#pragma once

#include <cstdint>

#include "lpt.h"
#include "src/base/host_device.hpp"

namespace lpt {

constexpr int kLongestGroup = 32;

// A selection: bit i of `bits` is set if element i is kept, and values[i] is its output magnitude.
struct SparseGroup {
  uint32_t bits;
  float values[kLongestGroup];
};

LPT_HOST_DEVICE static inline uint32_t magnitude_bits(float value) {
  return __builtin_bit_cast(uint32_t, value) & 0x7FFFFFFFu;
}

// Rank of a magnitude. All NaN have one rank, above infinity.
LPT_HOST_DEVICE static inline uint32_t magnitude_rank(float value) {
  const uint32_t bits = magnitude_bits(value);
  return bits > 0x7F800000u ? 0x7F800001u : bits;
}

LPT_HOST_DEVICE static inline float sum_of(const float *numbers, int count) {
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) sum += numbers[i];
  return sum;
}

// Returns the index of the first largest value.
LPT_HOST_DEVICE static inline int largest_of(const float *numbers, int count) {
  int largest = 0;
  for (int i = 1; i < count; ++i) {
    if (numbers[i] > numbers[largest]) largest = i;
  }
  return largest;
}

// Returns the largest float below a positive one.
LPT_HOST_DEVICE static inline float just_below(float number) {
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, number) - 1);
}

// Returns the first index whose prefix sum exceeds `place`. `total` > 0 is the sum of all. A place that was rounded to `total`
// is reduced to the preceding float, so that the index exists and its element is not zero.
LPT_HOST_DEVICE static inline int number_at(const float *numbers, int count, float total, float place) {
  const float last = just_below(total);
  if (place > last) place = last;
  float end = 0.0f;
  for (int i = 0; i < count - 1; ++i) {
    end += numbers[i];
    if (end > place) return i;
  }
  return count - 1;
}

LPT_HOST_DEVICE static inline float uniform_of(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

LPT_HOST_DEVICE static inline int count_positive(const float *numbers, int count) {
  int result = 0;
  for (int i = 0; i < count; ++i) result += numbers[i] > 0.0f;
  return result;
}

// Adds the first elements that are not kept yet, at most `missing`.
LPT_HOST_DEVICE static inline uint32_t fill_up(uint32_t bits, int count, int missing) {
  for (int i = 0; i < count && missing > 0; ++i) {
    if ((bits >> i & 1) != 0) continue;
    bits |= 1u << i;
    --missing;
  }
  return bits;
}

// Keeps all nonzero elements unchanged, then the first zeros.
LPT_HOST_DEVICE static inline SparseGroup keep_positive(const float *magnitudes, int count, int places) {
  SparseGroup group{0, {}};
  for (int i = 0; i < count; ++i) {
    group.values[i] = magnitudes[i];
    group.bits |= static_cast<uint32_t>(magnitudes[i] > 0.0f) << i;
  }
  group.bits = fill_up(group.bits, count, places - __builtin_popcount(group.bits));
  return group;
}

// Keeps the `kept` largest ranks; of equal ranks, the lower indices.
LPT_HOST_DEVICE static inline uint32_t keep_largest(const uint32_t *ranks, int count, int kept) {
  uint32_t bits = 0;
  for (int i = 0; i < count; ++i) {
    int before = 0;
    for (int j = 0; j < count; ++j) before += ranks[j] > ranks[i] || (ranks[j] == ranks[i] && j < i);
    if (before < kept) bits |= 1u << i;
  }
  return bits;
}

// State of MVUE before sampling, for groups with more positive elements than places. An element with draws · magnitude / total
// ≥ 1 is kept unchanged; then the remaining places are distributed over the remaining elements in the same way.
struct SparseShares {
  float left[kLongestGroup];  // zero for elements that are kept
  float total;                // sum of `left`
  int draws;                  // remaining places
  uint32_t bits;              // elements that are kept
};

LPT_HOST_DEVICE static inline SparseShares share_places(const float *magnitudes, int count, int places) {
  SparseShares shares;
  for (int i = 0; i < count; ++i) shares.left[i] = magnitudes[i];
  shares.draws = places;
  shares.bits = 0;
  for (;;) {
    shares.total = sum_of(shares.left, count);
    const int largest = largest_of(shares.left, count);
    if (shares.draws == 0 || shares.left[largest] * static_cast<float>(shares.draws) < shares.total) return shares;
    shares.bits |= 1u << largest;
    shares.left[largest] = 0.0f;
    --shares.draws;
  }
}

// Systematic sampling: one uniform random number places `draws` equidistant marks along the prefix sums. If rounding assigns
// two marks to one element, the first element that is not kept replaces the second.
LPT_HOST_DEVICE static inline SparseGroup select_mvue(const float *magnitudes, int count, int kept, uint32_t word) {
  const int places = kept < count ? kept : count;
  if (count_positive(magnitudes, count) <= places) return keep_positive(magnitudes, count, places);
  const SparseShares shares = share_places(magnitudes, count, places);
  SparseGroup group{shares.bits, {}};
  const float uniform = uniform_of(word);
  const float step = shares.draws > 0 ? shares.total / static_cast<float>(shares.draws) : 0.0f;
  for (int draw = 0; draw < shares.draws; ++draw) {
    group.bits |= 1u << number_at(shares.left, count, shares.total, (uniform + static_cast<float>(draw)) * step);
  }
  for (int i = 0; i < count; ++i) {
    const bool has_no_place = shares.left[i] > 0.0f && (group.bits >> i & 1) == 0;
    if (has_no_place && __builtin_popcount(group.bits) < places) group.bits |= 1u << i;
    group.values[i] = (shares.bits >> i & 1) != 0 ? magnitudes[i] : step;
  }
  return group;
}

// Returns the sum of all elements except one.
LPT_HOST_DEVICE static inline float sum_without(const float *numbers, int count, int without) {
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) sum += i == without ? 0.0f : numbers[i];
  return sum;
}

// Returns magnitude i divided by the probability p_i that it is drawn first or second. With S the sum of all magnitudes,
//   p_i = a_i / S + Σ_{k ≠ i} (a_k / S) · a_i / (S - a_k).
LPT_HOST_DEVICE static inline float two_draws_value(const float *magnitudes, int count, int i) {
  float sum = 1.0f;
  for (int k = 0; k < count; ++k) {
    if (k != i) sum += magnitudes[k] / sum_without(magnitudes, count, k);
  }
  return sum_of(magnitudes, count) / sum;
}

LPT_HOST_DEVICE static inline SparseGroup select_two_draws(const float *magnitudes, int count, uint32_t first_word,
                                                           uint32_t second_word) {
  if (count_positive(magnitudes, count) <= 2) return keep_positive(magnitudes, count, count < 2 ? count : 2);
  SparseGroup group{0, {}};
  float left[kLongestGroup];
  for (int i = 0; i < count; ++i) left[i] = magnitudes[i];
  for (int draw = 0; draw < 2; ++draw) {
    const float total = sum_of(left, count);
    const int i = number_at(left, count, total, uniform_of(draw == 0 ? first_word : second_word) * total);
    group.bits |= 1u << i;
    group.values[i] = two_draws_value(magnitudes, count, i);
    left[i] = 0.0f;
  }
  return group;
}

// Returns the largest pruned magnitude; zero if all are kept.
LPT_HOST_DEVICE static inline float largest_dropped(const float *magnitudes, int count, uint32_t bits) {
  float largest = 0.0f;
  for (int i = 0; i < count; ++i) {
    if ((bits >> i & 1) == 0 && magnitudes[i] > largest) largest = magnitudes[i];
  }
  return largest;
}

// Returns true if the sum of magnitudes is not finite: every rule keeps the largest elements of such a group unchanged.
LPT_HOST_DEVICE static inline bool is_special_group(const float *magnitudes, int count) {
  return !(sum_of(magnitudes, count) < __builtin_inff());
}

LPT_HOST_DEVICE static inline SparseGroup select_largest(const float *magnitudes, const float *importance, int count,
                                                         int kept) {
  SparseGroup group{0, {}};
  uint32_t ranks[kLongestGroup];
  for (int i = 0; i < count; ++i) {
    group.values[i] = magnitudes[i];
    ranks[i] = magnitude_rank(importance == nullptr ? magnitudes[i] : magnitudes[i] * importance[i]);
  }
  group.bits = keep_largest(ranks, count, kept);
  return group;
}

// `word(0)` and `word(1)` return the random bits of the group.
template <typename Word>
LPT_HOST_DEVICE static inline SparseGroup select_group(lpt_sparse_rule rule, const float *magnitudes,
                                                       const float *importance, int count, int kept, const Word &word) {
  const bool is_drawn = rule == LPT_SPARSE_RULE_MVUE || rule == LPT_SPARSE_RULE_MVUE_TWO_DRAWS;
  if (is_drawn && !is_special_group(magnitudes, count)) {
    if (rule == LPT_SPARSE_RULE_MVUE) return select_mvue(magnitudes, count, kept, word(0));
    return select_two_draws(magnitudes, count, word(0), word(1));
  }
  SparseGroup group = select_largest(magnitudes, importance, count, kept);
  if (rule == LPT_SPARSE_RULE_SOFT_THRESHOLD && !is_special_group(magnitudes, count)) {
    const float threshold = largest_dropped(magnitudes, count, group.bits);
    for (int i = 0; i < count; ++i) group.values[i] = magnitudes[i] - threshold;
  }
  return group;
}

}  // namespace lpt
