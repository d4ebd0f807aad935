// AVX-512 lanes of the mask selections: codes of 32 and of 16 bits, and f32 values. Included by simd_*.cpp.
#pragma once

#include <cstdint>

#include "kernels/common/simd_avx512.hpp"
#include "kernels/sparse_mask/sparse_mask.hpp"

namespace lpt {
namespace {

struct Words {
  static constexpr int kWidth = 16, kWidestTranspose = 16;
  using Code = uint32_t;
  using Vector = __m512i;
  using Kept = __mmask16;

  static Vector load(const Code *from) { return _mm512_loadu_si512(from); }
  static void store(Code *to, Vector codes) { _mm512_storeu_si512(to, codes); }
  static void stream(Code *to, Vector codes) { _mm512_stream_si512(reinterpret_cast<__m512i *>(to), codes); }
  static void store_bytes(uint8_t *to, Kept kept) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm_maskz_set1_epi8(kept, 1));
  }
  static Kept kept_of(const uint8_t *mask) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(mask));
    return _mm_test_epi8_mask(bytes, bytes);
  }
  static Vector only(Kept kept, Vector codes) { return _mm512_maskz_mov_epi32(kept, codes); }
  static Vector all(Code number) { return _mm512_set1_epi32(static_cast<int32_t>(number)); }
  static Vector magnitudes(Vector codes, Vector most) {
    return _mm512_min_epi32(_mm512_and_si512(codes, all(0x7FFFFFFF)), most);
  }

  static Vector plus(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
  static Vector plus_one(Vector a) { return plus(a, all(1)); }
  static Vector plus_if_above(Vector count, Vector a, Vector b) {
    return _mm512_mask_add_epi32(count, _mm512_cmpgt_epi32_mask(a, b), count, all(1));
  }
  static Kept at_least(Vector count, int number) { return _mm512_cmpge_epi32_mask(count, _mm512_set1_epi32(number)); }

  static Vector rotation(const Code *indices) { return load(indices); }
  static Vector rotated(Vector codes, Vector indices) { return _mm512_permutexvar_epi32(indices, codes); }

  // Computes three differences whose signs are the wins of an element. Returns lanes with at least two wins.
  [[gnu::always_inline]] static Kept wins_two_of_three(Vector own) {
    const Vector next = _mm512_shuffle_epi32(own, static_cast<_MM_PERM_ENUM>(0x39));
    const Vector after_next = _mm512_shuffle_epi32(own, static_cast<_MM_PERM_ENUM>(0x4E));
    const Vector last = _mm512_shuffle_epi32(own, static_cast<_MM_PERM_ENUM>(0x93));
    const Vector first = _mm512_sub_epi32(next, plus(own, _mm512_set4_epi32(0, 1, 1, 1)));
    const Vector second = _mm512_sub_epi32(after_next, plus(own, _mm512_set4_epi32(0, 0, 1, 1)));
    const Vector third = _mm512_sub_epi32(last, plus(own, _mm512_set4_epi32(0, 0, 0, 1)));
    return _mm512_movepi32_mask(_mm512_ternarylogic_epi32(first, second, third, 0xE8));
  }
};

struct Halves {
  static constexpr int kWidth = 32, kWidestTranspose = 16;
  using Code = uint16_t;
  using Vector = __m512i;
  using Kept = __mmask32;

  static Vector load(const Code *from) { return _mm512_loadu_si512(from); }
  static void store(Code *to, Vector codes) { _mm512_storeu_si512(to, codes); }
  static void stream(Code *to, Vector codes) { _mm512_stream_si512(reinterpret_cast<__m512i *>(to), codes); }
  static void store_bytes(uint8_t *to, Kept kept) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm256_maskz_set1_epi8(kept, 1));
  }
  static Kept kept_of(const uint8_t *mask) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(mask));
    return _mm256_test_epi8_mask(bytes, bytes);
  }
  static Vector only(Kept kept, Vector codes) { return _mm512_maskz_mov_epi16(kept, codes); }
  static Vector all(Code number) { return _mm512_set1_epi16(static_cast<int16_t>(number)); }
  static Vector magnitudes(Vector codes, Vector most) {
    return _mm512_min_epi16(_mm512_and_si512(codes, all(0x7FFF)), most);
  }

  static Vector plus(Vector a, Vector b) { return _mm512_add_epi16(a, b); }
  static Vector plus_one(Vector a) { return plus(a, all(1)); }
  static Vector plus_if_above(Vector count, Vector a, Vector b) {
    return _mm512_mask_add_epi16(count, _mm512_cmpgt_epi16_mask(a, b), count, all(1));
  }
  static Kept at_least(Vector count, int number) {
    return _mm512_cmpge_epi16_mask(count, _mm512_set1_epi16(static_cast<int16_t>(number)));
  }

  static Vector rotation(const Code *indices) { return load(indices); }
  static Vector rotated(Vector codes, Vector indices) { return _mm512_permutexvar_epi16(indices, codes); }

  [[gnu::always_inline]] static Kept wins_two_of_three(Vector own) {
    const Vector first = _mm512_sub_epi16(_mm512_ror_epi64(own, 16), plus(own, comes_first(0x000000010001'0001)));
    const Vector second = _mm512_sub_epi16(_mm512_ror_epi64(own, 32), plus(own, comes_first(0x00010001)));
    const Vector third = _mm512_sub_epi16(_mm512_ror_epi64(own, 48), plus(own, comes_first(0x0001)));
    return _mm512_movepi16_mask(_mm512_ternarylogic_epi64(first, second, third, 0xE8));
  }

 private:
  static Vector comes_first(int64_t lanes) { return _mm512_set1_epi64(lanes); }
};

// Returns bf16 as f32, with all bits of a NaN.
[[gnu::always_inline]] inline __m512 words_of_bf16(const uint16_t *from) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from));
  return f32_of_bf16(halves);
}

// f32 values.

inline __m512i order_of_fours() { return _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15); }
inline __m512i with_byte(Mask mask, int byte, __m512i lanes) {
  return _mm512_mask_or_epi32(lanes, mask, lanes, _mm512_set1_epi32(1 << (8 * byte)));
}

inline F32 just_below(F32 a) {
  return _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_castps_si512(a), _mm512_set1_epi32(1)));
}

inline F32 uniforms(const uint32_t *words) {
  const __m512i upper = _mm512_srli_epi32(_mm512_loadu_si512(words), 8);
  return _mm512_mul_ps(_mm512_cvtepi32_ps(upper), _mm512_set1_ps(0x1p-24f));
}

// Splits two vectors into even and odd elements, in an order permuted by quarters; together() is the inverse.
[[gnu::always_inline]] inline void apart(F32 (&v)[2]) {
  const F32 even = _mm512_shuffle_ps(v[0], v[1], 0x88);
  v[1] = _mm512_shuffle_ps(v[0], v[1], 0xDD);
  v[0] = even;
}
[[gnu::always_inline]] inline void together(F32 (&v)[2]) {
  const F32 low = _mm512_unpacklo_ps(v[0], v[1]);
  v[1] = _mm512_unpackhi_ps(v[0], v[1]);
  v[0] = low;
}
[[gnu::always_inline]] inline void apart(F32 (&v)[4]) { transpose_fours(v); }
[[gnu::always_inline]] inline void together(F32 (&v)[4]) { transpose_fours(v); }

template <int kOf>
inline F32 in_order_of_apart(F32 a) {
  if constexpr (kOf == 4) return _mm512_permutexvar_ps(order_of_fours(), a);
  return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15), a);
}

// Combines the bytes of a group in one lane and stores them.
[[gnu::always_inline]] inline void store_bytes(uint8_t *to, const Mask (&masks)[2]) {
  const __m512i order = _mm512_setr_epi32(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  const __m512i pairs =
      _mm512_permutexvar_epi32(order, with_byte(masks[1], 1, with_byte(masks[0], 0, _mm512_setzero_si512())));
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm512_cvtepi32_epi16(pairs));
}
[[gnu::always_inline]] inline void store_bytes(uint8_t *to, const Mask (&masks)[4]) {
  __m512i fours = _mm512_setzero_si512();
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) fours = with_byte(masks[i], i, fours);
  _mm512_storeu_si512(to, _mm512_permutexvar_epi32(order_of_fours(), fours));
}
inline void store_bytes(uint8_t *to, Mask mask) { Words::store_bytes(to, mask); }
inline Mask mask_of(const uint8_t *mask) { return Words::kept_of(mask); }

// Converts like decode(): a NaN becomes the quiet NaN of its sign.
inline F32 widened(const uint16_t *from) {
  const F32 numbers = words_of_bf16(from);
  const __mmask16 is_nan = _mm512_cmp_ps_mask(numbers, numbers, _CMP_UNORD_Q);
  return with_sign_of(_mm512_mask_mov_ps(abs(numbers), is_nan, _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC00000))),
                      numbers);
}

constexpr int kRandomBlocks = 8;
inline void store_random_words(const PhiloxLanes &lanes, uint64_t block, int32_t rounds, uint32_t *to) {
  const RandomU16x64 drawn = random_blocks(lanes, block, rounds);
  _mm512_storeu_si512(to, drawn.low);
  _mm512_storeu_si512(to + 16, drawn.high);
}

// Row sums.

// One row per lane: elements whose sign bit is the mask.
struct MarkedRows {
  static constexpr int kWidth = kLanes;
  using Marked = __m512i;

  static Marked marked(const float *from, const uint8_t *mask) { return marked(_mm512_loadu_ps(from), mask); }
  static Marked marked(const uint16_t *from, const uint8_t *mask) { return marked(words_of_bf16(from), mask); }
  [[gnu::always_inline]] static void transpose_square(Marked (&square)[kWidth]) { transpose(square); }

  struct Sums {
    __m512d energy[2] = {}, kept[2] = {};
    __m512 group = {};
    __m512i stay_count = {}, special_count = {};

    [[gnu::always_inline]] void add(Marked marked) {
      const __m512 magnitude = abs(_mm512_castsi512_ps(marked));
      const __mmask16 stays = _mm512_movepi32_mask(marked);
      const __mmask16 is_finite = _mm512_cmp_ps_mask(magnitude, infinity(), _CMP_LT_OQ);
      const __m512 number = _mm512_maskz_mov_ps(is_finite, magnitude);
      group = _mm512_add_ps(group, magnitude);
      stay_count = _mm512_mask_add_epi32(stay_count, stays, stay_count, _mm512_set1_epi32(1));
      add_squares<0>(_mm512_castps512_ps256(number), static_cast<__mmask8>(stays));
      add_squares<1>(_mm512_extractf32x8_ps(number, 1), static_cast<__mmask8>(stays >> 8));
    }
    [[gnu::always_inline]] void end_group() {
      const __mmask16 is_special = _mm512_cmp_ps_mask(group, infinity(), _CMP_NLT_UQ);
      special_count = _mm512_mask_add_epi32(special_count, is_special, special_count, _mm512_set1_epi32(1));
      group = _mm512_setzero_ps();
    }
    void write(SparseSums *sums, int64_t rows) const {
      double energies[kWidth], kept_energies[kWidth];
      int32_t stay_counts[kWidth], special_counts[kWidth];
      for (int half = 0; half < 2; ++half) {
        _mm512_storeu_pd(energies + 8 * half, energy[half]);
        _mm512_storeu_pd(kept_energies + 8 * half, kept[half]);
      }
      _mm512_storeu_si512(stay_counts, stay_count);
      _mm512_storeu_si512(special_counts, special_count);
      for (int64_t i = 0; i < rows; ++i) {
        sums[i] = {stay_counts[i], special_counts[i], energies[i], kept_energies[i], 0.0};
      }
    }

   private:
    static __m512 infinity() { return _mm512_set1_ps(__builtin_inff()); }

    template <int kHalf>
    [[gnu::always_inline]] void add_squares(__m256 numbers, __mmask8 stays) {
      const __m512d number = _mm512_cvtps_pd(numbers);
      const __m512d square = _mm512_mul_pd(number, number);
      energy[kHalf] = _mm512_add_pd(energy[kHalf], square);
      kept[kHalf] = _mm512_mask_add_pd(kept[kHalf], stays, kept[kHalf], square);
    }
  };

 private:
  static Marked marked(__m512 numbers, const uint8_t *mask) {
    const __m512i magnitudes = _mm512_castps_si512(abs(numbers));
    return _mm512_mask_or_epi32(magnitudes, Words::kept_of(mask), magnitudes, _mm512_set1_epi32(INT32_MIN));
  }
};

}  // namespace
}  // namespace lpt
