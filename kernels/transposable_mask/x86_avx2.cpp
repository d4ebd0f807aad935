// Transposable masks with AVX2.
#include <cstring>

#include "kernels/common/simd_avx2.hpp"
#include "kernels/transposable_mask/greedy_lanes.hpp"
#include "kernels/transposable_mask/pattern_lanes.hpp"

namespace lpt {
namespace {

struct Avx2 {
  static constexpr int kWidth = 8;
  using Floats = __m256;
  using Codes = __m256i;
  using Flags = __m256;

  template <lpt_format kPlain>
  [[gnu::always_inline]] static Floats load(const void *row, int64_t column, int64_t count) {
    return load_numbers<kPlain>(row, column, count);
  }

  static Floats magnitude(Floats a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
  static Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  static Flags is_greater(Floats a, Floats b) { return _mm256_cmp_ps(a, b, _CMP_GT_OQ); }
  static Floats smaller(Floats a, Floats b) { return _mm256_min_ps(a, b); }
  static uint32_t not_below(Floats a, float limit) {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a, _mm256_set1_ps(limit), _CMP_NLT_UQ)));
  }
  static Codes codes(uint32_t bits) { return _mm256_set1_epi32(static_cast<int32_t>(bits)); }
  static Codes choose(Flags flags, Codes a, Codes b) { return _mm256_blendv_epi8(a, b, _mm256_castps_si256(flags)); }
  static Codes flip(Flags flags, Codes a, Codes b) {
    return _mm256_xor_si256(a, _mm256_and_si256(_mm256_castps_si256(flags), b));
  }
  static Codes either(Codes a, Codes b) { return _mm256_or_si256(a, b); }
  static Codes both(Codes a, Codes b) { return _mm256_and_si256(a, b); }
  static Codes differ(Codes a, Codes b) { return _mm256_xor_si256(a, b); }
  static Codes neither_of(Codes a, Codes b, uint32_t bits) {
    return _mm256_andnot_si256(_mm256_or_si256(a, b), codes(bits));
  }
  static Codes plus(Codes a, Codes b) { return _mm256_add_epi32(a, b); }
  static Codes minus(Codes a, Codes b) { return _mm256_sub_epi32(a, b); }
  static Codes lower(Codes a, Codes b) { return _mm256_min_epi32(a, b); }
  static uint32_t below(Codes a, uint32_t limit) {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(codes(limit), a))));
  }
  template <int kCount>
  static Codes left(Codes a) {
    return _mm256_slli_epi32(a, kCount);
  }
  template <int kCount>
  static Codes right(Codes a) {
    return _mm256_srli_epi32(a, kCount);
  }
  static Codes left_by(Codes a, Codes counts) { return _mm256_sllv_epi32(a, counts); }
  static Codes right_by(Codes a, Codes counts) { return _mm256_srlv_epi32(a, counts); }
  static Codes bits_of(Floats a) { return _mm256_castps_si256(a); }
  static Floats floats_of(Codes a) { return _mm256_castsi256_ps(a); }

  [[gnu::always_inline]] static void transpose_fours(Floats (&v)[4]) { lpt::transpose_fours(v); }

  // Tile t is in lane 4 · (t % 2) + t / 2. Rows 0 and 1 are in byte 0 of its lane, 2 and 3 in byte 1.
  template <int kRow>
  [[gnu::always_inline]] static void write_row(uint8_t *to, Codes bits, int64_t count) {
    constexpr int32_t kByte = kRow / 2 * 0x01010101;
    const __m256i in_order = _mm256_permutevar8x32_epi32(bits, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    const __m256i byte_places = _mm256_setr_epi32(kByte, kByte + 0x04040404, kByte + 0x08080808, kByte + 0x0C0C0C0C,
                                                  kByte, kByte + 0x04040404, kByte + 0x08080808, kByte + 0x0C0C0C0C);
    const __m256i tile_bytes = _mm256_shuffle_epi8(in_order, byte_places);
    const __m256i places = _mm256_set1_epi32(kRow % 2 == 0 ? 0x08040201 : static_cast<int32_t>(0x80402010));
    const __m256i stays = _mm256_cmpeq_epi8(_mm256_and_si256(tile_bytes, places), places);
    const __m256i bytes = _mm256_and_si256(stays, _mm256_set1_epi8(1));
    if (count >= 32) return _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), bytes);
    memcpy(to, &bytes, static_cast<size_t>(count));
  }

  [[gnu::always_inline]] static void transpose_eights(Floats (&v)[8]) { lpt::transpose(v); }
  static int tile_of(int lane) { return lane; }

  // Four tiles after the other four.
  template <int kByte>
  [[gnu::always_inline]] static void write_eights(uint8_t *to, Codes bits, int64_t count) {
    const __m256i first = bytes_of<kByte>(_mm256_permute2x128_si256(bits, bits, 0x00));
    const __m256i second = bytes_of<kByte>(_mm256_permute2x128_si256(bits, bits, 0x11));
    if (count >= 64) {
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), first);
      return _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + 32), second);
    }
    const __m256i both[2] = {first, second};
    memcpy(to, both, static_cast<size_t>(count));
  }

 private:
  // Each half has the same four tiles: two of them fill a half.
  template <int kByte>
  [[gnu::always_inline]] static __m256i bytes_of(__m256i tiles) {
    constexpr int64_t kEight = 0x0101010101010101;
    const __m256i byte_places =
        _mm256_setr_epi64x(kByte * kEight, (kByte + 4) * kEight, (kByte + 8) * kEight, (kByte + 12) * kEight);
    const __m256i places = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201u));
    const __m256i tile_bytes = _mm256_shuffle_epi8(tiles, byte_places);
    const __m256i stays = _mm256_cmpeq_epi8(_mm256_and_si256(tile_bytes, places), places);
    return _mm256_and_si256(stays, _mm256_set1_epi8(1));
  }
};

}  // namespace

void transposable_mask_2_4_exact_x86_avx2(const TransposableMaskRequest &request) {
  solve_all<PatternSolver<Avx2>>(request);
}

void transposable_mask_8_greedy_x86_avx2(const TransposableMaskRequest &request) {
  solve_all<GreedySolver<Avx2>>(request);
}

void transposable_mask_8_search_x86_avx2(const TransposableMaskRequest &request) {
  solve_all<SearchSolver<Avx2>>(request);
}

}  // namespace lpt
