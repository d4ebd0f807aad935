// Transposable masks with AVX-512.
#include "kernels/common/x86_avx512.hpp"

#include "kernels/transposable_mask/pattern_lanes.hpp"

namespace lpt {
namespace {

struct Avx512 {
  static constexpr int kWidth = 16;
  using Floats = __m512;
  using Codes = __m512i;
  using Truths = __mmask16;

  template <lpt_format kPlain>
  [[gnu::always_inline]] static Floats load(const void *row, int64_t column, int64_t count) {
    if constexpr (kPlain == LPT_FORMAT_F32) {
      const float *const from = static_cast<const float *>(row) + column;
      return count >= 16 ? _mm512_loadu_ps(from) : _mm512_maskz_loadu_ps(first(count), from);
    } else {
      const uint16_t *const from = static_cast<const uint16_t *>(row) + column;
      const __m256i codes = count >= 16 ? _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))
                                        : _mm256_maskz_loadu_epi16(first(count), from);
      if constexpr (kPlain == LPT_FORMAT_F16) return _mm512_cvtph_ps(codes);
      return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(codes), 16));
    }
  }

  static Floats magnitude(Floats a) { return magnitude_f32x16(a); }
  static Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats larger(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  static Truths is_greater(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
  static uint32_t endless(Floats a) { return _mm512_cmp_ps_mask(a, _mm512_set1_ps(__builtin_inff()), _CMP_NLT_UQ); }
  static Codes codes(uint32_t bits) { return _mm512_set1_epi32(static_cast<int32_t>(bits)); }
  static Codes choose(Truths truths, Codes a, Codes b) { return _mm512_mask_mov_epi32(a, truths, b); }
  static Codes flip(Truths truths, Codes a, Codes b) { return _mm512_mask_xor_epi32(a, truths, a, b); }
  static Codes either(Codes a, Codes b) { return _mm512_or_si512(a, b); }

  [[gnu::always_inline]] static void transpose_fours(Floats (&v)[4]) {
    const __m512d low01 = _mm512_castps_pd(_mm512_unpacklo_ps(v[0], v[1]));
    const __m512d high01 = _mm512_castps_pd(_mm512_unpackhi_ps(v[0], v[1]));
    const __m512d low23 = _mm512_castps_pd(_mm512_unpacklo_ps(v[2], v[3]));
    const __m512d high23 = _mm512_castps_pd(_mm512_unpackhi_ps(v[2], v[3]));
    v[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(low01, low23));
    v[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low01, low23));
    v[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(high01, high23));
    v[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(high01, high23));
  }

  // Tile t lies in lane 4 · (t % 4) + t / 4. Rows 0 and 1 are in byte 0 of its lane, 2 and 3 in byte 1.
  template <int kRow>
  [[gnu::always_inline]] static void write_row(uint8_t *to, Codes bits, int64_t count) {
    const __m512i tile_bytes = _mm512_permutexvar_epi8(byte_places(kRow / 2), bits);
    const __m512i places = _mm512_set1_epi32(kRow % 2 == 0 ? 0x08040201 : static_cast<int32_t>(0x80402010));
    const __m512i bytes = _mm512_maskz_set1_epi8(_mm512_test_epi8_mask(tile_bytes, places), 1);
    if (count >= 64) return _mm512_storeu_si512(to, bytes);
    _mm512_mask_storeu_epi8(to, lane_mask(0, count), bytes);
  }

 private:
  static __mmask16 first(int64_t count) { return static_cast<__mmask16>(lane_mask(0, count)); }

  // Four times the byte of each tile, in the tiles' order.
  static __m512i byte_places(int byte) {
    const __m512i lanes = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i first_bytes = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(0x04040404));
    return _mm512_add_epi8(first_bytes, _mm512_set1_epi8(static_cast<char>(byte)));
  }
};

}  // namespace

void transposable_mask_2_4_exact_x86_avx512(const TransposableMaskRequest &request) {
  solve_all_patterns<Avx512>(request);
}

}  // namespace lpt
