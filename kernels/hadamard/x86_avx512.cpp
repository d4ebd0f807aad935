// Rotations with AVX-512.
#include "kernels/common/x86_avx512.hpp"

#include "kernels/hadamard/rotate.hpp"

namespace lpt {
namespace {

struct Avx512 {
  static constexpr int kWidth = 16;
  using Vector = __m512;

  static __mmask16 first(int64_t count) { return static_cast<__mmask16>(lane_mask(0, count)); }

  template <lpt_format kPlain>
  [[gnu::always_inline]] static Vector load(const void *data, int64_t index, int64_t count) {
    if constexpr (kPlain == LPT_FORMAT_F32) {
      const float *from = static_cast<const float *>(data) + index;
      return count >= 16 ? _mm512_loadu_ps(from) : _mm512_maskz_loadu_ps(first(count), from);
    } else {
      const uint16_t *from = static_cast<const uint16_t *>(data) + index;
      const __m256i codes = count >= 16 ? _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))
                                        : _mm256_maskz_loadu_epi16(first(count), from);
      const Vector value = kPlain == LPT_FORMAT_F16
                               ? _mm512_cvtph_ps(codes)
                               : _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(codes), 16));
      // sign | quiet NaN, where it is one
      const __m512i nan = _mm512_ternarylogic_epi32(_mm512_castps_si512(value), _mm512_set1_epi32(INT32_MIN),
                                                    _mm512_set1_epi32(0x7FC00000), 0xEA);
      return _mm512_mask_mov_ps(value, _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q), _mm512_castsi512_ps(nan));
    }
  }

  [[gnu::always_inline]] static void store(float *to, Vector value, int64_t count) {
    if (count >= 16) return _mm512_storeu_ps(to, value);
    _mm512_mask_storeu_ps(to, first(count), value);
  }

  static Vector spread(float value) { return _mm512_set1_ps(value); }
  static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  static Vector subtract(Vector a, Vector b) { return _mm512_sub_ps(a, b); }
  static Vector multiply(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
  static Vector blend(Vector a, Vector b, int64_t count) { return _mm512_mask_mov_ps(a, first(count), b); }

  // The partner plus or minus the lane itself: a product with 1 or -1 is exact.
  template <int kStride>
  [[gnu::always_inline]] static Vector step(Vector value) {
    if constexpr (kStride == 1) {
      return _mm512_fmadd_ps(value, signs(0xAAAA), _mm512_permute_ps(value, 0xB1));
    } else if constexpr (kStride == 2) {
      return _mm512_fmadd_ps(value, signs(0xCCCC), _mm512_permute_ps(value, 0x4E));
    } else if constexpr (kStride == 4) {
      return _mm512_fmadd_ps(value, signs(0xF0F0), _mm512_shuffle_f32x4(value, value, 0xB1));
    } else {
      return _mm512_fmadd_ps(value, signs(0xFF00), _mm512_shuffle_f32x4(value, value, 0x4E));
    }
  }

  [[gnu::always_inline]] static void transpose(Vector (&rows)[16]) {
    Vector pairs[16], quads[16];
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
      pairs[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
      pairs[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {  // quads[4·g + c]: rows 4·g to 4·g + 3 of columns c, c + 4, c + 8, c + 12
      quads[i] = _mm512_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
      quads[i + 1] = _mm512_shuffle_ps(pairs[i], pairs[i + 2], 0xEE);
      quads[i + 2] = _mm512_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
      quads[i + 3] = _mm512_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xEE);
    }
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const Vector even_low = _mm512_shuffle_f32x4(quads[c], quads[4 + c], 0x88);  // columns c, c + 8
      const Vector odd_low = _mm512_shuffle_f32x4(quads[c], quads[4 + c], 0xDD);   // columns c + 4, c + 12
      const Vector even_high = _mm512_shuffle_f32x4(quads[8 + c], quads[12 + c], 0x88);
      const Vector odd_high = _mm512_shuffle_f32x4(quads[8 + c], quads[12 + c], 0xDD);
      rows[c] = _mm512_shuffle_f32x4(even_low, even_high, 0x88);
      rows[c + 4] = _mm512_shuffle_f32x4(odd_low, odd_high, 0x88);
      rows[c + 8] = _mm512_shuffle_f32x4(even_low, even_high, 0xDD);
      rows[c + 12] = _mm512_shuffle_f32x4(odd_low, odd_high, 0xDD);
    }
  }

 private:
  static Vector signs(__mmask16 negative) {
    return _mm512_mask_mov_ps(_mm512_set1_ps(1.0f), negative, _mm512_set1_ps(-1.0f));
  }
};

}  // namespace

void hadamard_floats_x86_avx512(const HadamardRequest &request) { rotate<Avx512>(request); }

}  // namespace lpt
