// Rotations with AVX2.
#include <cstring>

#include "kernels/common/simd_avx2.hpp"
#include "kernels/hadamard/rotate.hpp"

namespace lpt {
namespace {

struct Avx2 {
  static constexpr int kWidth = 8;
  using Vector = __m256;

  template <lpt_format kPlain>
  [[gnu::always_inline]] static Vector load(const void *data, int64_t index, int64_t count) {
    const Vector value = load_numbers<kPlain>(data, index, count);
    if constexpr (kPlain == LPT_FORMAT_F32) {
      return value;
    } else {
      const Vector sign = _mm256_and_ps(value, _mm256_set1_ps(-0.0f));
      const Vector quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
      return _mm256_blendv_ps(value, _mm256_or_ps(sign, quiet), _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    }
  }

  [[gnu::always_inline]] static void store(float *to, Vector value, int64_t count) {
    if (count >= 8) return _mm256_storeu_ps(to, value);
    _mm256_maskstore_ps(to, lane_bits(count), value);
  }

  static Vector spread(float value) { return _mm256_set1_ps(value); }
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector subtract(Vector a, Vector b) { return _mm256_sub_ps(a, b); }
  static Vector multiply(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  static Vector blend(Vector a, Vector b, int64_t count) {
    return _mm256_blendv_ps(a, b, _mm256_castsi256_ps(lane_bits(count)));
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
