// Rotations with AVX-512.
#include "kernels/common/simd_avx512.hpp"
#include "kernels/hadamard/rotate.hpp"

namespace lpt {
namespace {

struct Avx512 {
  static constexpr int kWidth = 16;
  using Vector = __m512;

  static __mmask16 first(int64_t count) { return static_cast<__mmask16>(lane_mask(0, count)); }

  template <lpt_format kPlain>
  [[gnu::always_inline]] static Vector load(const void *data, int64_t index, int64_t count) {
    const Vector value = load_numbers<kPlain>(data, index, count);
    if constexpr (kPlain == LPT_FORMAT_F32) {
      return value;
    } else {
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

  [[gnu::always_inline]] static void transpose(Vector (&rows)[16]) { lpt::transpose(rows); }

 private:
  static Vector signs(__mmask16 negative) {
    return _mm512_mask_mov_ps(_mm512_set1_ps(1.0f), negative, _mm512_set1_ps(-1.0f));
  }
};

}  // namespace

void hadamard_floats_x86_avx512(const HadamardRequest &request) { rotate<Avx512>(request); }

}  // namespace lpt
