// Rotations with AVX2.
#include "kernels/common/x86_avx2.hpp"

#include <cstring>

#include "kernels/hadamard/rotate.hpp"

namespace lpt {
namespace {

struct Avx2 {
  static constexpr int kWidth = 8;
  using Vector = __m256;

  static __m256i first(int64_t count) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int32_t>(count)), lane);
  }

  template <lpt_format kPlain>
  [[gnu::always_inline]] static Vector load(const void *data, int64_t index, int64_t count) {
    if constexpr (kPlain == LPT_FORMAT_F32) {
      const float *from = static_cast<const float *>(data) + index;
      return count >= 8 ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, first(count));
    } else {
      const uint16_t *from = static_cast<const uint16_t *>(data) + index;
      __m128i codes;
      if (count >= 8) {
        codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
      } else {
        alignas(16) uint16_t present[8] = {};
        memcpy(present, from, static_cast<size_t>(count) * sizeof *present);
        codes = _mm_load_si128(reinterpret_cast<const __m128i *>(present));
      }
      const Vector value = kPlain == LPT_FORMAT_F16
                               ? _mm256_cvtph_ps(codes)
                               : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(codes), 16));
      const Vector sign = _mm256_and_ps(value, _mm256_set1_ps(-0.0f));
      const Vector quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
      return _mm256_blendv_ps(value, _mm256_or_ps(sign, quiet), _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    }
  }

  [[gnu::always_inline]] static void store(float *to, Vector value, int64_t count) {
    if (count >= 8) return _mm256_storeu_ps(to, value);
    _mm256_maskstore_ps(to, first(count), value);
  }

  static Vector spread(float value) { return _mm256_set1_ps(value); }
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector subtract(Vector a, Vector b) { return _mm256_sub_ps(a, b); }
  static Vector multiply(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  static Vector blend(Vector a, Vector b, int64_t count) {
    return _mm256_blendv_ps(a, b, _mm256_castsi256_ps(first(count)));
  }

  // The partner plus or minus the lane itself: a product with 1 or -1 is exact.
  template <int kStride>
  [[gnu::always_inline]] static Vector step(Vector value) {
    if constexpr (kStride == 1) {
      return _mm256_fmadd_ps(value, _mm256_setr_ps(1, -1, 1, -1, 1, -1, 1, -1), _mm256_permute_ps(value, 0xB1));
    } else if constexpr (kStride == 2) {
      return _mm256_fmadd_ps(value, _mm256_setr_ps(1, 1, -1, -1, 1, 1, -1, -1), _mm256_permute_ps(value, 0x4E));
    } else {
      return _mm256_fmadd_ps(value, _mm256_setr_ps(1, 1, 1, 1, -1, -1, -1, -1),
                             _mm256_permute2f128_ps(value, value, 1));
    }
  }

  [[gnu::always_inline]] static void transpose(Vector (&rows)[8]) { lpt::transpose(rows); }
};

}  // namespace

void hadamard_floats_x86_avx2(const HadamardRequest &request) { rotate<Avx2>(request); }

}  // namespace lpt
