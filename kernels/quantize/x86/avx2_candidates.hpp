// Scale rules that compare several candidates, with AVX2: best_candidate() of ref.cpp for four candidates at a time. Included
// by an ISA file only.
#pragma once

#include "kernels/quantize/x86/avx2_encode.hpp"
#include "kernels/quantize/x86/avx2_scales.hpp"

namespace lpt {
namespace {

constexpr int64_t kMostCandidates = 16;

// The candidates of a block in order of trial.
struct Candidates {
  alignas(32) uint32_t code[kMostCandidates];
  alignas(32) float scale[kMostCandidates];  // block scale · tensor scale
  alignas(32) float inverse[kMostCandidates];
  int64_t count;
};

// Returns candidate_code() of eight candidates from `first` on.
inline BlockScales candidate_scales(const ScaleSpec &spec, float amax, int32_t first) {
  const __m256i candidate = _mm256_add_epi32(_mm256_set1_epi32(first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  if (spec.kind == LPT_FORMAT_E8M0FNU) {
    const __m256i codes = _mm256_sub_epi32(all_lanes(e8m0fnu_scale(spec, amax)), candidate);
    const __m256i held = _mm256_max_epi32(codes, _mm256_setzero_si256());
    return {held, e8m0fnu_values(held)};
  }
  const __m256 shares = spec.rule == LPT_SCALE_RULE_FOUR_OVER_SIX
                            ? _mm256_setr_ps(1.0f, 1.5f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f)
                            : _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_set1_epi32(32), candidate)),
                                            _mm256_set1_ps(0x1p-5f));
  const __m256 units = _mm256_mul_ps(_mm256_set1_ps((amax / spec.largest) * spec.tensor_inverse), shares);
  if (spec.kind == LPT_FORMAT_E4M3FN) return e4m3fn_scales(units, false);
  return f32_scales(_mm256_set1_ps(amax), clamped(units));
}

// Returns bit i if candidate i has a different code than its predecessor. A repeated code has the same error and cannot win.
inline uint32_t new_codes(__m256i codes, uint32_t before) {
  const __m256i order = _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6);
  const __m256i previous = _mm256_blend_epi32(_mm256_permutevar8x32_epi32(codes, order), all_lanes(before), 1);
  return ~static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(codes, previous)))) & 0xFF;
}

inline void fill_candidates(const ScaleSpec &spec, float amax, float tensor_scale, Candidates &candidates) {
  const int32_t tried = candidate_count(spec);
  candidates.count = 0;
  uint32_t before = ~0u;  // differs from every code, and is no scale
  for (int32_t first = 0; first < tried; first += 8) {
    const BlockScales scales = candidate_scales(spec, amax, first);
    const __m256 scale = _mm256_mul_ps(scales.value, _mm256_set1_ps(tensor_scale));
    alignas(32) uint32_t code[8];
    alignas(32) float value[8], inverse[8];
    _mm256_store_si256(reinterpret_cast<__m256i *>(code), scales.codes);
    _mm256_store_ps(value, scale);
    _mm256_store_ps(inverse, inverses_of(scale));
    uint32_t places = new_codes(scales.codes, before) & (tried < 8 ? (1u << tried) - 1 : 0xFF);
    for (; places != 0; places &= places - 1) {
      const int place = __builtin_ctz(places);
      candidates.code[candidates.count] = code[place];
      candidates.scale[candidates.count] = value[place];
      candidates.inverse[candidates.count++] = inverse[place];
    }
    before = code[7];
  }
  // Pads to groups of four, which are compared together.
  for (int64_t i = candidates.count; i % 4 != 0; ++i) {
    candidates.scale[i] = candidates.scale[0];
    candidates.inverse[i] = candidates.inverse[0];
  }
}

// Values rounded to the nearest code and clamped. Signs are ignored, except for a list.
//
// Floats with a mantissa: adding 2^(E + 23 - M) rounds to M bits below exponent E. The difference is exact.
struct RoundedFloatLanes {
  __m256 limit;
  __m256i exponent, min_field, raise;

  explicit RoundedFloatLanes(const Element &element) {
    limit = _mm256_set1_ps(decode(element, element.max_code));
    exponent = all_lanes(kFloatInfinityBits);
    min_field = all_lanes(static_cast<uint32_t>(element.min_exponent + 127) << 23);
    raise = all_lanes(static_cast<uint32_t>(23 - element.mantissa_bits) << 23);
  }
  [[gnu::always_inline]] static inline __m256 taken(__m256 value) {
    return _mm256_and_ps(value, all_floats(0x7FFFFFFF));
  }
  [[gnu::always_inline]] inline __m256 rounded(__m256 scaled_value) const {
    const __m256 held = _mm256_min_ps(scaled_value, limit);
    const __m256i field = _mm256_max_epi32(_mm256_and_si256(_mm256_castps_si256(held), exponent), min_field);
    const __m256 addend = _mm256_castsi256_ps(_mm256_add_epi32(field, raise));
    return _mm256_sub_ps(_mm256_add_ps(held, addend), addend);
  }
};

template <Elements kElements>
struct RoundedLanes {
  CoderLanes<kElements, Rounding::kNearest> coder;
  __m256 fraction;  // quantum of an integer element

  explicit RoundedLanes(const Element &element) : coder({element, Rounding::kNearest, limit_of(element)}) {
    fraction = all_floats(static_cast<uint32_t>(127 - element.mantissa_bits) << 23);
  }
  static float limit_of(const Element &element) {
    return element.is_integer ? static_cast<float>(element.max_code) : decode(element, element.max_code);
  }
  [[gnu::always_inline]] static inline __m256 taken(__m256 value) {
    return _mm256_and_ps(value, all_floats(0x7FFFFFFF));
  }
  [[gnu::always_inline]] inline __m256 rounded(__m256 scaled_value) const {
    if constexpr (kElements == Elements::kInteger) {
      return _mm256_mul_ps(_mm256_cvtepi32_ps(coder.integer(scaled_value)), fraction);
    }
    return coder.nearest_number(_mm256_min_ps(scaled_value, coder.limit));
  }
};

template <>
struct RoundedLanes<Elements::kList> {
  LevelLanes list;

  explicit RoundedLanes(const Element &element) : list(*element.levels) {}
  [[gnu::always_inline]] static inline __m256 taken(__m256 value) { return value; }
  [[gnu::always_inline]] inline __m256 rounded(__m256 scaled_value) const { return list.nearest(scaled_value); }
};

// Calls body(lanes) with the lanes of an element.
template <typename Body>
void with_rounded_lanes(const Element &element, const Body &body) {
  switch (elements_of(element)) {
    case Elements::kInteger:
      return body(RoundedLanes<Elements::kInteger>(element));
    case Elements::kList:
      return body(RoundedLanes<Elements::kList>(element));
    default:
      if (element.mantissa_bits > 0) return body(RoundedFloatLanes(element));
      return body(RoundedLanes<Elements::kFloat>(element));
  }
}

// Adds the squared errors of finite elements for four candidates, two vectors of lanes per candidate.
template <typename Lanes>
[[gnu::always_inline]] inline void add_errors(const Lanes &lanes, const float *from, int64_t count, const float *scales,
                                              const float *inverses, __m256 (&sums)[8]) {
  for (int64_t at = 0; at < count; at += 16) {
    const bool is_whole = at + 16 <= count;
    const __m256 low = is_whole ? _mm256_loadu_ps(from + at) : load_some(from + at, count - at);
    const __m256 high = is_whole ? _mm256_loadu_ps(from + at + 8) : load_some(from + at + 8, count - at - 8);
    const __m256 value[2] = {lanes.taken(low), lanes.taken(high)};
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const __m256 scale = _mm256_broadcast_ss(scales + c);
      const __m256 inverse = _mm256_broadcast_ss(inverses + c);
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        const __m256 rounded = lanes.rounded(_mm256_mul_ps(value[half], inverse));
        const __m256 error = _mm256_sub_ps(value[half], _mm256_mul_ps(rounded, scale));
        sums[2 * c + half] = _mm256_add_ps(sums[2 * c + half], _mm256_mul_ps(error, error));
      }
    }
  }
}

// Returns the sums of four candidates in the order of striped_sum(): adds the upper half of the lanes to the lower half.
inline __m128 striped_sums(const __m256 (&sums)[8]) {
  __m256 eights[4];
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) eights[c] = _mm256_add_ps(sums[2 * c], sums[2 * c + 1]);
  __m256 fours[2];  // element i: candidates 2 i and 2 i + 1
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    fours[i] = _mm256_add_ps(_mm256_permute2f128_ps(eights[2 * i], eights[2 * i + 1], 0x20),
                             _mm256_permute2f128_ps(eights[2 * i], eights[2 * i + 1], 0x31));
  }
  const __m256 twos = _mm256_add_ps(_mm256_shuffle_ps(fours[0], fours[1], 0x44),  // candidates 0, 2, 1, 3
                                    _mm256_shuffle_ps(fours[0], fours[1], 0xEE));
  const __m256 ones = _mm256_add_ps(_mm256_shuffle_ps(twos, twos, 0x88), _mm256_shuffle_ps(twos, twos, 0xDD));
  return _mm_unpacklo_ps(_mm256_castps256_ps128(ones), _mm256_extractf128_ps(ones, 1));
}

// Returns the first candidate with the smallest squared error. numbers(row, at, count) returns finite elements of the block, at
// most `most` per call, a multiple of sixteen. Stops four candidates as soon as none of them can win, because sums only grow.
template <typename Lanes, typename Numbers>
[[gnu::always_inline]] inline int64_t best_candidate(const Lanes &lanes, const Candidates &candidates, int64_t rows,
                                                     int64_t columns, int64_t most, const Numbers &numbers) {
  int64_t best = 0;
  __m128 least = _mm_set1_ps(__builtin_inff());
  for (int64_t first = 0; first < candidates.count; first += 4) {
    __m128 total = _mm_setzero_ps(), error = total;
    bool may_win = true;
    for (int64_t row = 0; row < rows && may_win; ++row) {
      __m256 sums[8] = {};
      for (int64_t at = 0; at < columns && may_win; at += most) {
        const int64_t count = columns - at < most ? columns - at : most;
        add_errors(lanes, numbers(row, at, count), count, candidates.scale + first, candidates.inverse + first, sums);
        error = _mm_add_ps(total, striped_sums(sums));
        may_win = first == 0 || _mm_movemask_ps(_mm_cmplt_ps(error, least)) != 0;
      }
      total = error;
    }
    alignas(16) float errors[4];
    _mm_store_ps(errors, error);
    if (first == 0) least = _mm_set1_ps(errors[0]);
    for (int64_t i = first; may_win && i < candidates.count && i < first + 4; ++i) {
      if (!(errors[i - first] < _mm_cvtss_f32(least))) continue;
      best = i;
      least = _mm_set1_ps(errors[i - first]);
    }
  }
  return best;
}

}  // namespace
}  // namespace lpt
