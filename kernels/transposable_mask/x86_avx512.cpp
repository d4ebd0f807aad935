// Transposable masks with AVX-512.
#include "kernels/common/simd_avx512.hpp"
#include "kernels/transposable_mask/greedy_lanes.hpp"
#include "kernels/transposable_mask/pattern_lanes.hpp"

namespace lpt {
namespace {

struct Avx512 {
  static constexpr int kWidth = 16;
  using Floats = __m512;
  using Codes = __m512i;
  using Flags = __mmask16;

  template <lpt_format kPlain>
  [[gnu::always_inline]] static Floats load(const void *row, int64_t column, int64_t count) {
    return load_numbers<kPlain>(row, column, count);
  }

  static Floats magnitude(Floats a) { return abs(a); }
  static Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats larger(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  static Flags is_greater(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
  static Floats smaller(Floats a, Floats b) { return _mm512_min_ps(a, b); }
  static uint32_t not_below(Floats a, float limit) { return _mm512_cmp_ps_mask(a, _mm512_set1_ps(limit), _CMP_NLT_UQ); }
  static Codes codes(uint32_t bits) { return _mm512_set1_epi32(static_cast<int32_t>(bits)); }
  static Codes choose(Flags flags, Codes a, Codes b) { return _mm512_mask_mov_epi32(a, flags, b); }
  static Codes flip(Flags flags, Codes a, Codes b) { return _mm512_mask_xor_epi32(a, flags, a, b); }
  static Codes either(Codes a, Codes b) { return _mm512_or_si512(a, b); }
  static Codes both(Codes a, Codes b) { return _mm512_and_si512(a, b); }
  static Codes differ(Codes a, Codes b) { return _mm512_xor_si512(a, b); }
  static Codes neither_of(Codes a, Codes b, uint32_t bits) {
    return _mm512_ternarylogic_epi32(a, b, codes(bits), 0x02);
  }
  static Codes plus(Codes a, Codes b) { return _mm512_add_epi32(a, b); }
  static Codes minus(Codes a, Codes b) { return _mm512_sub_epi32(a, b); }
  static Codes lower(Codes a, Codes b) { return _mm512_min_epi32(a, b); }
  static uint32_t below(Codes a, uint32_t limit) { return _mm512_cmplt_epi32_mask(a, codes(limit)); }
  template <int kCount>
  static Codes left(Codes a) {
    return _mm512_slli_epi32(a, kCount);
  }
  template <int kCount>
  static Codes right(Codes a) {
    return _mm512_srli_epi32(a, kCount);
  }
  static Codes left_by(Codes a, Codes counts) { return _mm512_sllv_epi32(a, counts); }
  static Codes right_by(Codes a, Codes counts) { return _mm512_srlv_epi32(a, counts); }
  static Codes bits_of(Floats a) { return _mm512_castps_si512(a); }
  static Floats floats_of(Codes a) { return _mm512_castsi512_ps(a); }

  [[gnu::always_inline]] static void transpose_fours(Floats (&v)[4]) { lpt::transpose_fours(v); }

  // Tile t is in lane 4 · (t % 4) + t / 4. Rows 0 and 1 are in byte 0 of its lane, 2 and 3 in byte 1.
  template <int kRow>
  [[gnu::always_inline]] static void write_row(uint8_t *to, Codes bits, int64_t count) {
    const __m512i tile_bytes = _mm512_permutexvar_epi8(byte_places(kRow / 2), bits);
    const __m512i places = _mm512_set1_epi32(kRow % 2 == 0 ? 0x08040201 : static_cast<int32_t>(0x80402010));
    const __m512i bytes = _mm512_maskz_set1_epi8(_mm512_test_epi8_mask(tile_bytes, places), 1);
    if (count >= 64) return _mm512_storeu_si512(to, bytes);
    _mm512_mask_storeu_epi8(to, lane_mask(0, count), bytes);
  }

  // Each four lanes of the first four vectors have columns 0 to 3 of a tile or 4 to 7, those of the others as well.
  [[gnu::always_inline]] static void transpose_eights(Floats (&v)[8]) {
    Floats near[4] = {v[0], v[1], v[2], v[3]}, far[4] = {v[4], v[5], v[6], v[7]};
    transpose_fours(near);
    transpose_fours(far);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      v[i] = _mm512_shuffle_f32x4(near[i], far[i], 0x88);
      v[4 + i] = _mm512_shuffle_f32x4(near[i], far[i], 0xDD);
    }
  }
  static int tile_of(int lane) { return lane / 8 * 8 + lane % 4 * 2 + lane / 4 % 2; }

  template <int kByte>
  [[gnu::always_inline]] static void write_eights(uint8_t *to, Codes bits, int64_t count) {
    const __m128i lanes = _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
    const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_srli_epi32(bits, 8 * kByte));
    const __m128i in_order = _mm_shuffle_epi8(bytes, lanes);
    const __m512i first = _mm512_maskz_set1_epi8(static_cast<uint64_t>(_mm_cvtsi128_si64(in_order)), 1);
    const __m512i second = _mm512_maskz_set1_epi8(static_cast<uint64_t>(_mm_extract_epi64(in_order, 1)), 1);
    _mm512_mask_storeu_epi8(to, lane_mask(0, count), first);
    if (count > 64) _mm512_mask_storeu_epi8(to + 64, lane_mask(0, count - 64), second);
  }

 private:
  // Four times the byte of each tile, in the tiles' order.
  static __m512i byte_places(int byte) {
    const __m512i lanes = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i first_bytes = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(0x04040404));
    return _mm512_add_epi8(first_bytes, _mm512_set1_epi8(static_cast<char>(byte)));
  }
};

}  // namespace

void transposable_mask_2_4_exact_x86_avx512(const TransposableMaskRequest &request) {
  solve_all<PatternSolver<Avx512>>(request);
}

void transposable_mask_8_greedy_x86_avx512(const TransposableMaskRequest &request) {
  solve_all<GreedySolver<Avx512>>(request);
}

void transposable_mask_8_search_x86_avx512(const TransposableMaskRequest &request) {
  solve_all<SearchSolver<Avx512>>(request);
}

}  // namespace lpt
