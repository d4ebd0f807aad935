// One group of an N:M mask: the law of every rule, operation by operation, in f32. Fast rows and CUDA do the same sums in
// the same order. Sums run over the group from its first number to its last.
#pragma once

#include <cstdint>

#include "lpt.h"
#include "src/base/host_device.hpp"

namespace lpt {

constexpr int kLongestGroup = 32;

// What is selected: bit i of `bits` says that number i stays, values[i] is the magnitude it gets.
struct SparseGroup {
  uint32_t bits;
  float values[kLongestGroup];
};

LPT_HOST_DEVICE static inline uint32_t magnitude_bits(float value) {
  return __builtin_bit_cast(uint32_t, value) & 0x7FFFFFFFu;
}

// Order of magnitudes. All NaN are alike, above infinity.
LPT_HOST_DEVICE static inline uint32_t magnitude_rank(float value) {
  const uint32_t bits = magnitude_bits(value);
  return bits > 0x7F800000u ? 0x7F800001u : bits;
}

LPT_HOST_DEVICE static inline float sum_of(const float *numbers, int count) {
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) sum += numbers[i];
  return sum;
}

// The first of the largest.
LPT_HOST_DEVICE static inline int largest_of(const float *numbers, int count) {
  int largest = 0;
  for (int i = 1; i < count; ++i) {
    if (numbers[i] > numbers[largest]) largest = i;
  }
  return largest;
}

// The largest number below a positive one.
LPT_HOST_DEVICE static inline float just_below(float number) {
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, number) - 1);
}

// The first number whose end, when all are laid one after the other, is beyond `place`. Their sum is `total`, above zero.
// A place that was rounded to the end of all is moved before it: there is always such a number, and it is not zero.
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

// Fills up with the first numbers that do not stay yet.
LPT_HOST_DEVICE static inline uint32_t fill_up(uint32_t bits, int count, int missing) {
  for (int i = 0; i < count && missing > 0; ++i) {
    if ((bits >> i & 1) != 0) continue;
    bits |= 1u << i;
    --missing;
  }
  return bits;
}

// All that are not zero, as they are, and the first zeros.
LPT_HOST_DEVICE static inline SparseGroup keep_positive(const float *magnitudes, int count, int places) {
  SparseGroup group{0, {}};
  for (int i = 0; i < count; ++i) {
    group.values[i] = magnitudes[i];
    group.bits |= static_cast<uint32_t>(magnitudes[i] > 0.0f) << i;
  }
  group.bits = fill_up(group.bits, count, places - __builtin_popcount(group.bits));
  return group;
}

// The `kept` largest ranks; the lower index of equal ones.
LPT_HOST_DEVICE static inline uint32_t keep_largest(const uint32_t *ranks, int count, int kept) {
  uint32_t bits = 0;
  for (int i = 0; i < count; ++i) {
    int before = 0;
    for (int j = 0; j < count; ++j) before += ranks[j] > ranks[i] || (ranks[j] == ranks[i] && j < i);
    if (before < kept) bits |= 1u << i;
  }
  return bits;
}

// What MVUE keeps whatever is drawn. The numbers of a group, of which more are positive than there are places, share the
// places: one whose share is a whole place or more stays as it is, and what is left of the others is shared again.
struct SparseShares {
  float left[kLongestGroup];  // zero for those that stay
  float total;                // of `left`
  int draws;                  // places that are left
  uint32_t bits;              // those that stay
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

// Systematic sampling: one uniform number places `draws` marks at equal steps along the numbers. Two marks that rounding
// puts on one number leave a place to the first one that has none.
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

// The sum of all but one.
LPT_HOST_DEVICE static inline float sum_without(const float *numbers, int count, int without) {
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) sum += i == without ? 0.0f : numbers[i];
  return sum;
}

// 1 / the probability that number i is drawn first or second, times its magnitude: with S the sum of all,
//   p_i = a_i / S + sum over k ≠ i of (a_k / S) · a_i / (S - a_k).
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

// The largest magnitude that goes; zero if all stay.
LPT_HOST_DEVICE static inline float largest_dropped(const float *magnitudes, int count, uint32_t bits) {
  float largest = 0.0f;
  for (int i = 0; i < count; ++i) {
    if ((bits >> i & 1) == 0 && magnitudes[i] > largest) largest = magnitudes[i];
  }
  return largest;
}

// A group whose magnitudes cannot be summed: every rule keeps its largest as they are.
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

// `word(0)` and `word(1)` give the group's random bits.
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
