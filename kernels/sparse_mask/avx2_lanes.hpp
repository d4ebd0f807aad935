// AVX2 lanes of the mask selections: codes of 32 and of 16 bits, and f32 values. Included by simd_*.cpp.
#pragma once

#include <cstdint>

#include "kernels/common/simd_avx2.hpp"
#include "kernels/sparse_mask/sparse_mask.hpp"

namespace lpt {
namespace {

[[gnu::always_inline]] inline __m256i load_codes(const void *from) {
  return _mm256_loadu_si256(static_cast<const __m256i *>(from));
}

// Returns 32-bit lanes of ones or zeros as bytes of 1 or 0.
[[gnu::always_inline]] inline __m128i bytes_of_words(__m256i lanes) {
  const __m128i halves = _mm_packs_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
  return _mm_and_si128(_mm_packs_epi16(halves, halves), _mm_set1_epi8(1));
}

struct Words {
  static constexpr int kWidth = 8, kWidestTranspose = 8;
  using Code = uint32_t;
  using Vector = __m256i;
  using Kept = __m256i;  // all ones if kept

  static Vector load(const Code *from) { return load_codes(from); }
  static void store(Code *to, Vector codes) { _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), codes); }
  static void stream(Code *to, Vector codes) { _mm256_stream_si256(reinterpret_cast<__m256i *>(to), codes); }
  static void store_bytes(uint8_t *to, Kept kept) {
    _mm_storel_epi64(reinterpret_cast<__m128i *>(to), bytes_of_words(kept));
  }
  static Kept kept_of(const uint8_t *mask) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(mask));
    return _mm256_cmpgt_epi32(_mm256_cvtepu8_epi32(bytes), _mm256_setzero_si256());
  }
  static Vector only(Kept kept, Vector codes) { return _mm256_and_si256(kept, codes); }
  static Vector all(Code number) { return _mm256_set1_epi32(static_cast<int32_t>(number)); }
  static Vector magnitudes(Vector codes, Vector most) {
    return _mm256_min_epi32(_mm256_and_si256(codes, all(0x7FFFFFFF)), most);
  }

  static Vector plus(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
  static Vector plus_one(Vector a) { return plus(a, all(1)); }
  static Vector plus_if_above(Vector count, Vector a, Vector b) {
    return _mm256_sub_epi32(count, _mm256_cmpgt_epi32(a, b));
  }
  static Kept at_least(Vector count, int number) { return _mm256_cmpgt_epi32(count, _mm256_set1_epi32(number - 1)); }

  static Vector rotation(const Code *indices) { return load(indices); }
  static Vector rotated(Vector codes, Vector indices) { return _mm256_permutevar8x32_epi32(codes, indices); }

  // Computes three differences whose signs are the wins of an element. Returns lanes with at least two wins.
  [[gnu::always_inline]] static Kept wins_two_of_three(Vector own) {
    const Vector first =
        _mm256_sub_epi32(_mm256_shuffle_epi32(own, 0x39), plus(own, _mm256_setr_epi32(1, 1, 1, 0, 1, 1, 1, 0)));
    const Vector second =
        _mm256_sub_epi32(_mm256_shuffle_epi32(own, 0x4E), plus(own, _mm256_setr_epi32(1, 1, 0, 0, 1, 1, 0, 0)));
    const Vector third =
        _mm256_sub_epi32(_mm256_shuffle_epi32(own, 0x93), plus(own, _mm256_setr_epi32(1, 0, 0, 0, 1, 0, 0, 0)));
    const Vector one = _mm256_and_si256(third, _mm256_or_si256(first, second));
    return _mm256_srai_epi32(_mm256_or_si256(_mm256_and_si256(first, second), one), 31);
  }
};

struct Halves {
  static constexpr int kWidth = 16, kWidestTranspose = 8;
  using Code = uint16_t;
  using Vector = __m256i;
  using Kept = __m256i;  // all ones if kept

  static Vector load(const Code *from) { return load_codes(from); }
  static void store(Code *to, Vector codes) { _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), codes); }
  static void stream(Code *to, Vector codes) { _mm256_stream_si256(reinterpret_cast<__m256i *>(to), codes); }
  static void store_bytes(uint8_t *to, Kept kept) {
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(kept), _mm256_extracti128_si256(kept, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm_and_si128(bytes, _mm_set1_epi8(1)));
  }
  static Kept kept_of(const uint8_t *mask) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(mask));
    return _mm256_cmpgt_epi16(_mm256_cvtepu8_epi16(bytes), _mm256_setzero_si256());
  }
  static Vector only(Kept kept, Vector codes) { return _mm256_and_si256(kept, codes); }
  static Vector all(Code number) { return _mm256_set1_epi16(static_cast<int16_t>(number)); }
  static Vector magnitudes(Vector codes, Vector most) {
    return _mm256_min_epi16(_mm256_and_si256(codes, all(0x7FFF)), most);
  }

  static Vector plus(Vector a, Vector b) { return _mm256_add_epi16(a, b); }
  static Vector plus_one(Vector a) { return plus(a, all(1)); }
  static Vector plus_if_above(Vector count, Vector a, Vector b) {
    return _mm256_sub_epi16(count, _mm256_cmpgt_epi16(a, b));
  }
  static Kept at_least(Vector count, int number) {
    return _mm256_cmpgt_epi16(count, _mm256_set1_epi16(static_cast<int16_t>(number - 1)));
  }

  // Returns the indices of both bytes of each lane within a 128-bit half.
  static Vector rotation(const Code *indices) {
    const Vector within = _mm256_and_si256(load(indices), all(7));
    return plus(_mm256_mullo_epi16(within, all(0x0202)), all(0x0100));
  }
  static Vector rotated(Vector codes, Vector places) { return _mm256_shuffle_epi8(codes, places); }

  [[gnu::always_inline]] static Kept wins_two_of_three(Vector own) {
    const Vector first = _mm256_sub_epi16(transposed_fours<0x39>(own), plus(own, comes_first(0x000000010001'0001)));
    const Vector second = _mm256_sub_epi16(transposed_fours<0x4E>(own), plus(own, comes_first(0x00010001)));
    const Vector third = _mm256_sub_epi16(transposed_fours<0x93>(own), plus(own, comes_first(0x0001)));
    const Vector one = _mm256_and_si256(third, _mm256_or_si256(first, second));
    return _mm256_srai_epi16(_mm256_or_si256(_mm256_and_si256(first, second), one), 15);
  }

 private:
  template <int kOrder>
  static Vector transposed_fours(Vector codes) {
    return _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(codes, kOrder), kOrder);
  }
  static Vector comes_first(int64_t lanes) { return _mm256_set1_epi64x(lanes); }
};

// Returns bf16 as f32, with all bits of a NaN.
[[gnu::always_inline]] inline __m256 words_of_bf16(const uint16_t *from) {
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
  return f32_of_bf16(halves);
}

// f32 values.

inline __m256i order_of_pairs() { return _mm256_setr_epi32(0, 1, 4, 5, 2, 3, 6, 7); }
inline __m256i byte_of(Mask mask, int byte) {
  return _mm256_and_si256(_mm256_castps_si256(mask), _mm256_set1_epi32(1 << (8 * byte)));
}

inline F32 just_below(F32 a) {
  return _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_castps_si256(a), _mm256_set1_epi32(1)));
}

inline F32 uniforms(const uint32_t *words) {
  return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_srli_epi32(load_codes(words), 8)), _mm256_set1_ps(0x1p-24f));
}

// Splits two vectors into even and odd elements, in an order permuted by halves; together() is the inverse.
[[gnu::always_inline]] inline void apart(F32 (&v)[2]) {
  const F32 even = _mm256_shuffle_ps(v[0], v[1], 0x88);
  v[1] = _mm256_shuffle_ps(v[0], v[1], 0xDD);
  v[0] = even;
}
[[gnu::always_inline]] inline void together(F32 (&v)[2]) {
  const F32 low = _mm256_unpacklo_ps(v[0], v[1]);
  v[1] = _mm256_unpackhi_ps(v[0], v[1]);
  v[0] = low;
}
[[gnu::always_inline]] inline void apart(F32 (&v)[4]) { transpose_fours(v); }
[[gnu::always_inline]] inline void together(F32 (&v)[4]) { transpose_fours(v); }

template <int kOf>
inline F32 in_order_of_apart(F32 a) {
  if constexpr (kOf == 4) return _mm256_permutevar8x32_ps(a, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
  return _mm256_permutevar8x32_ps(a, order_of_pairs());
}

// Combines the bytes of a group in one lane and stores them.
[[gnu::always_inline]] inline void store_bytes(uint8_t *to, const Mask (&masks)[2]) {
  const __m256i lanes = _mm256_or_si256(byte_of(masks[0], 0), byte_of(masks[1], 1));
  const __m256i pairs = _mm256_permutevar8x32_epi32(lanes, order_of_pairs());
  const __m128i bytes = _mm_packus_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(to), bytes);
}
[[gnu::always_inline]] inline void store_bytes(uint8_t *to, const Mask (&masks)[4]) {
  const __m256i low = _mm256_or_si256(byte_of(masks[0], 0), byte_of(masks[1], 1));
  const __m256i lanes = _mm256_or_si256(low, _mm256_or_si256(byte_of(masks[2], 2), byte_of(masks[3], 3)));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm256_permutevar8x32_epi32(lanes, order));
}
inline void store_bytes(uint8_t *to, Mask mask) { Words::store_bytes(to, _mm256_castps_si256(mask)); }
inline Mask mask_of(const uint8_t *mask) { return _mm256_castsi256_ps(Words::kept_of(mask)); }

// Converts like decode(): a NaN becomes the quiet NaN of its sign.
inline F32 widened(const uint16_t *from) {
  const F32 numbers = words_of_bf16(from);
  const F32 is_nan = _mm256_cmp_ps(numbers, numbers, _CMP_UNORD_Q);
  const F32 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
  return with_sign_of(_mm256_blendv_ps(abs(numbers), nan, is_nan), numbers);
}

constexpr int kRandomBlocks = 4;
inline void store_random_words(const PhiloxLanes &lanes, uint64_t block, int32_t rounds, uint32_t *to) {
  store_random_blocks(lanes, block, rounds, to);
}

// Row sums.

// One row per lane: elements whose sign bit is the mask.
struct MarkedRows {
  static constexpr int kWidth = kLanes;
  using Marked = __m256i;

  static Marked marked(const float *from, const uint8_t *mask) { return marked(_mm256_loadu_ps(from), mask); }
  static Marked marked(const uint16_t *from, const uint8_t *mask) { return marked(words_of_bf16(from), mask); }
  [[gnu::always_inline]] static void transpose_square(Marked (&square)[kWidth]) { transpose(square); }

  struct Sums {
    __m256d energy[2] = {}, kept[2] = {};
    __m256 group = {};
    __m256i stay_count = {}, special_count = {};

    [[gnu::always_inline]] void add(Marked marked) {
      const __m256 magnitude = abs(_mm256_castsi256_ps(marked));
      const __m256i stays = _mm256_srai_epi32(marked, 31);
      const __m256 number = _mm256_and_ps(magnitude, _mm256_cmp_ps(magnitude, infinity(), _CMP_LT_OQ));
      group = _mm256_add_ps(group, magnitude);
      stay_count = _mm256_sub_epi32(stay_count, stays);
      add_squares<0>(_mm256_castps256_ps128(number), _mm256_castsi256_si128(stays));
      add_squares<1>(_mm256_extractf128_ps(number, 1), _mm256_extracti128_si256(stays, 1));
    }
    [[gnu::always_inline]] void end_group() {
      const __m256 is_special = _mm256_cmp_ps(group, infinity(), _CMP_NLT_UQ);
      special_count = _mm256_sub_epi32(special_count, _mm256_castps_si256(is_special));
      group = _mm256_setzero_ps();
    }
    void write(SparseSums *sums, int64_t rows) const {
      double energies[kWidth], kept_energies[kWidth];
      int32_t stay_counts[kWidth], special_counts[kWidth];
      for (int half = 0; half < 2; ++half) {
        _mm256_storeu_pd(energies + 4 * half, energy[half]);
        _mm256_storeu_pd(kept_energies + 4 * half, kept[half]);
      }
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(stay_counts), stay_count);
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(special_counts), special_count);
      for (int64_t i = 0; i < rows; ++i) {
        sums[i] = {stay_counts[i], special_counts[i], energies[i], kept_energies[i], 0.0};
      }
    }

   private:
    static __m256 infinity() { return _mm256_set1_ps(__builtin_inff()); }

    template <int kHalf>
    [[gnu::always_inline]] void add_squares(__m128 numbers, __m128i stays) {
      const __m256d number = _mm256_cvtps_pd(numbers);
      const __m256d square = _mm256_mul_pd(number, number);
      energy[kHalf] = _mm256_add_pd(energy[kHalf], square);
      kept[kHalf] =
          _mm256_add_pd(kept[kHalf], _mm256_and_pd(square, _mm256_castsi256_pd(_mm256_cvtepi32_epi64(stays))));
    }
  };

 private:
  static Marked marked(__m256 numbers, const uint8_t *mask) {
    const __m256i sign = _mm256_slli_epi32(Words::kept_of(mask), 31);
    return _mm256_or_si256(_mm256_castps_si256(abs(numbers)), sign);
  }
};

}  // namespace
}  // namespace lpt
