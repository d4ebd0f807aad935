// GEMM of few rows by a 2:4 matrix: elements of a are selected by the indices of b.
#include "kernels/common/simd_avx2.hpp"
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/sparse_loop.hpp"

namespace lpt {
namespace {

inline float add_up(const __m256 (&lanes)[4]) {
  const __m256 eight = _mm256_add_ps(_mm256_add_ps(lanes[0], lanes[2]), _mm256_add_ps(lanes[1], lanes[3]));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

struct StoredF32 {
  static constexpr int64_t kBytes = 4;
  static __m256 load(const uint8_t *stored) { return _mm256_loadu_ps(reinterpret_cast<const float *>(stored)); }
};

struct StoredBf16 {
  static constexpr int64_t kBytes = 2;
  static __m256 load(const uint8_t *stored) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i *>(stored));
    return f32_of_bf16(halves);
  }
};

// e5m2 is the upper half of an f16.
struct StoredE5m2 {
  static constexpr int64_t kBytes = 1;
  static __m256 load(const uint8_t *stored) {
    const __m128i codes = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(stored)));
    return _mm256_cvtph_ps(_mm_slli_epi16(codes, 8));
  }
};

// e4m3fn is read as f16 with an exponent that is 8 too small, subnormals included. The largest code is NaN.
struct StoredE4m3fn {
  static constexpr int64_t kBytes = 1;
  static __m256 load(const uint8_t *stored) {
    const __m128i codes = _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(stored)));
    const __m128i magnitude = _mm_and_si128(codes, _mm_set1_epi16(0x7F));
    const __m128i sign = _mm_and_si128(codes, _mm_set1_epi16(INT16_MIN));
    const __m256 numbers = _mm256_cvtph_ps(_mm_or_si128(_mm_slli_epi16(magnitude, 7), sign));
    const __m256i is_nan = _mm256_cvtepi16_epi32(_mm_cmpeq_epi16(magnitude, _mm_set1_epi16(0x7F)));
    return _mm256_blendv_ps(_mm256_mul_ps(numbers, _mm256_set1_ps(256)), _mm256_set1_ps(__builtin_nanf("")),
                            _mm256_castsi256_ps(is_nan));
  }
};

// Two bytes of indices are eight fields of two bits. The first four fields select from eight columns, the others from the next
// eight.
template <typename Stored>
struct SparseFloats : SparseFloatRows {
  static constexpr int64_t kBytes = Stored::kBytes;
  static constexpr int kSharedRows = 2;  // each with four accumulators
  struct Lanes {
    __m256 v[4];
    void clear() { v[0] = v[1] = v[2] = v[3] = _mm256_setzero_ps(); }
    float sum(int32_t) const { return add_up(v); }
  };

  [[gnu::always_inline]] static __m256i places(const uint8_t *indices) {
    const __m256i shifts = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
    const __m256i groups = _mm256_setr_epi32(0, 0, 4, 4, 0, 0, 4, 4);
    uint16_t fields;
    memcpy(&fields, indices, sizeof fields);
    const __m256i places = _mm256_srlv_epi32(_mm256_set1_epi32(fields), shifts);
    return _mm256_or_si256(_mm256_and_si256(places, _mm256_set1_epi32(3)), groups);
  }

  template <int kRows>
  [[gnu::always_inline]] static void add_step(const uint8_t *stored, const uint8_t *indices, const float *a,
                                              int64_t a_stride, Lanes (&sums)[kRows]) {
    for (int64_t p = 0; p < kSparseColumns; p += 64) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) {
        const int64_t at = p + 16 * v;
        const __m256i from = places(indices + at / 8);
        const __m256 numbers = Stored::load(stored + at / 2 * kBytes);
#pragma GCC unroll 2
        for (int r = 0; r < kRows; ++r) {
          const float *const row = a + r * a_stride + at;
          const __m256 low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(row), from);
          const __m256 high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(row + 8), from);
          sums[r].v[v] = _mm256_fmadd_ps(_mm256_blend_ps(low, high, 0xF0), numbers, sums[r].v[v]);
        }
      }
    }
  }
};

// Eight bytes of indices are 32 fields, which are spread to one byte each. They shuffle 16 bytes of a and select the eight
// elements that b stores. Products are computed as pairs of int16, so that no sum saturates.
struct SparseInt8 : SparseByteRows {
  static constexpr int64_t kBytes = 1;
  static constexpr int kSharedRows = 4;
  struct Lanes {
    __m256i v;
    void clear() { v = _mm256_setzero_si256(); }
    float sum(int32_t) const {
      __m128i four = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
      four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
      return static_cast<float>(_mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1))));
    }
  };

  // Returns, for 64 columns, in byte i the index of stored element i within its 16 columns.
  [[gnu::always_inline]] static __m256i places(const uint8_t *indices) {
    __m256i fields = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(indices)));
    fields = _mm256_or_si256(fields, _mm256_slli_epi32(fields, 6));
    fields = _mm256_or_si256(fields, _mm256_slli_epi32(fields, 12));
    const __m256i groups = _mm256_set1_epi64x(0x0C0C080804040000);
    return _mm256_or_si256(_mm256_and_si256(fields, _mm256_set1_epi8(3)), groups);
  }

  // Loads two blocks of 16 columns: block `first` in the lower half, block `first` + 2 in the upper half.
  [[gnu::always_inline]] static __m256i blocks(const int8_t *row, int first) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i *>(row + 16 * first));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i *>(row + 16 * (first + 2)));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
  }

  [[gnu::always_inline]] static __m256i wide(__m256i bytes, int half) {
    return _mm256_cvtepi8_epi16(half == 0 ? _mm256_castsi256_si128(bytes) : _mm256_extracti128_si256(bytes, 1));
  }

  template <int kRows>
  [[gnu::always_inline]] static void add_step(const uint8_t *stored, const uint8_t *indices, const int8_t *a,
                                              int64_t a_stride, Lanes (&sums)[kRows]) {
    for (int64_t p = 0; p < kSparseColumns; p += 64) {
      const __m256i from = places(indices + p / 8);
      const __m256i numbers = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(stored + p / 2));
      const __m256i low = wide(numbers, 0), high = wide(numbers, 1);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const int8_t *const row = a + r * a_stride + p;
        const __m256i even = _mm256_shuffle_epi8(blocks(row, 0), from), odd = _mm256_shuffle_epi8(blocks(row, 1), from);
        const __m256i picked = _mm256_blend_epi32(even, odd, 0xCC);
        const __m256i products =
            _mm256_add_epi32(_mm256_madd_epi16(wide(picked, 0), low), _mm256_madd_epi16(wide(picked, 1), high));
        sums[r].v = _mm256_add_epi32(sums[r].v, products);
      }
    }
  }

  static int32_t read_row(const MatrixView &a, int64_t row, int64_t k, int8_t *to) {
    memcpy(to, static_cast<const int8_t *>(a.data) + row * a.row_stride, static_cast<size_t>(k));
    memset(to + k, 0, static_cast<size_t>(whole_steps(k) - k));
    return 0;
  }
};

}  // namespace

void gemm_sparse_floats_x86_avx2(const GemmRequest &request) {
  switch (request.b.format.element) {
    case LPT_FORMAT_F32:
      return multiply_sparse<SparseFloats<StoredF32>>(request);
    case LPT_FORMAT_E4M3FN:
      return multiply_sparse<SparseFloats<StoredE4m3fn>>(request);
    case LPT_FORMAT_E5M2:
      return multiply_sparse<SparseFloats<StoredE5m2>>(request);
    default:
      return multiply_sparse<SparseFloats<StoredBf16>>(request);
  }
}

size_t gemm_scratch_sparse_floats_x86_avx2(const GemmRequest &request) {
  return sparse_scratch<SparseFloats<StoredBf16>>(request);
}

void gemm_sparse_int8_x86_avx2(const GemmRequest &request) { multiply_sparse<SparseInt8>(request); }

size_t gemm_scratch_sparse_int8_x86_avx2(const GemmRequest &request) { return sparse_scratch<SparseInt8>(request); }

}  // namespace lpt
