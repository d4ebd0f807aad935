// GEMM of few rows of floats by a 2:4 matrix: elements of a are selected by the indices of b.
//
// Four bytes of indices are 16 fields of two bits, one per lane. Each field plus the first column of its group is an index into
// two registers of a. Expanding b instead needs ten shuffles per 64 columns and takes nearly twice as long on Zen 5.
#include "kernels/common/simd_avx512.hpp"
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/sparse_loop.hpp"

namespace lpt {
namespace {

inline float add_up(const __m512 (&lanes)[2]) {
  const __m512 half = _mm512_add_ps(lanes[0], lanes[1]);
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(half), _mm512_extractf32x8_ps(half, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

struct StoredF32 {
  static constexpr int64_t kBytes = 4;
  static __m512 load(const uint8_t *stored) { return _mm512_loadu_ps(stored); }
};

struct StoredBf16 {
  static constexpr int64_t kBytes = 2;
  static __m512 load(const uint8_t *stored) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(stored));
    return f32_of_bf16(halves);
  }
};

// e5m2 is the upper half of an f16.
struct StoredE5m2 {
  static constexpr int64_t kBytes = 1;
  static __m512 load(const uint8_t *stored) {
    const __m256i codes = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i *>(stored)));
    return _mm512_cvtph_ps(_mm256_slli_epi16(codes, 8));
  }
};

// e4m3fn is read as f16 with an exponent that is 8 too small, subnormals included. The largest code is NaN.
struct StoredE4m3fn {
  static constexpr int64_t kBytes = 1;
  static __m512 load(const uint8_t *stored) {
    const __m256i codes = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i *>(stored)));
    const __m256i magnitude = _mm256_and_si256(codes, _mm256_set1_epi16(0x7F));
    const __m256i sign = _mm256_and_si256(codes, _mm256_set1_epi16(INT16_MIN));
    const __m512 numbers = _mm512_cvtph_ps(_mm256_or_si256(_mm256_slli_epi16(magnitude, 7), sign));
    const __mmask16 is_nan = _mm256_cmpeq_epi16_mask(magnitude, _mm256_set1_epi16(0x7F));
    return _mm512_mask_mov_ps(_mm512_mul_ps(numbers, _mm512_set1_ps(256)), is_nan, _mm512_set1_ps(__builtin_nanf("")));
  }
};

template <typename Stored>
struct SparseFloats : SparseFloatRows {
  static constexpr int64_t kBytes = Stored::kBytes;
  static constexpr int kSharedRows = 8;  // each with two accumulators
  struct Lanes {
    __m512 v[2];
    void clear() { v[0] = v[1] = _mm512_setzero_ps(); }
    float sum(int32_t) const { return add_up(v); }
  };

  // Returns the indices of the stored ones of 32 columns, as indices into two registers.
  [[gnu::always_inline]] static __m512i places(const uint8_t *indices) {
    const __m512i shifts = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i groups = _mm512_setr_epi32(0, 0, 4, 4, 8, 8, 12, 12, 16, 16, 20, 20, 24, 24, 28, 28);
    int32_t fields;
    memcpy(&fields, indices, sizeof fields);
    const __m512i places = _mm512_srlv_epi32(_mm512_set1_epi32(fields), shifts);
    return _mm512_ternarylogic_epi32(places, _mm512_set1_epi32(3), groups, 0xEA);  // (places & 3) | groups
  }

  template <int kRows>
  [[gnu::always_inline]] static void add_step(const uint8_t *stored, const uint8_t *indices, const float *a,
                                              int64_t a_stride, Lanes (&sums)[kRows]) {
    for (int64_t p = 0; p < kSparseColumns; p += 64) {
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) {
        const int64_t at = p + 32 * v;
        const __m512i from = places(indices + at / 8);
        const __m512 numbers = Stored::load(stored + at / 2 * kBytes);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const float *const row = a + r * a_stride + at;
          const __m512 picked = _mm512_permutex2var_ps(_mm512_loadu_ps(row), from, _mm512_loadu_ps(row + 16));
          sums[r].v[v] = _mm512_fmadd_ps(picked, numbers, sums[r].v[v]);
        }
      }
    }
  }
};

// bf16 by bf16. Eight bytes of indices are 32 fields, one per word. The selected words of a and the stored words of b are two
// floats per dword: the lower word is shifted up, the upper word is masked. Lane l of sums[i] is therefore lane 2 · l + i of
// 32.
struct SparseHalves : SparseHalfRows {
  static constexpr int64_t kBytes = 2;
  static constexpr int kSharedRows = 8;
  struct Lanes {
    __m512 v[2];
    void clear() { v[0] = v[1] = _mm512_setzero_ps(); }
    float sum(int32_t) const { return half_sum(v[0]) + half_sum(v[1]); }
    static float half_sum(__m512 lanes) {
      const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(lanes), _mm512_extractf32x8_ps(lanes, 1));
      const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
      const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
      return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
    }
  };

  // Constants from which places() computes indices.
  struct Fields {
    __m512i chunks;  // two bytes of indices for each 128-bit lane
    __m512i shifts, groups;
  };
  [[gnu::always_inline]] static Fields fields() {
    alignas(64) uint16_t chunks[32], shifts[32], groups[32];
    for (int i = 0; i < 32; ++i) {
      chunks[i] = static_cast<uint16_t>(0x0100 + 0x0202 * (i / 8));
      shifts[i] = static_cast<uint16_t>(i % 8 * 2);
      groups[i] = static_cast<uint16_t>(i / 2 * 4);
    }
    return {_mm512_load_si512(chunks), _mm512_load_si512(shifts), _mm512_load_si512(groups)};
  }
  [[gnu::always_inline]] static __m512i places(const uint8_t *indices, const Fields &fields) {
    int64_t eight;
    memcpy(&eight, indices, sizeof eight);
    const __m512i chunks = _mm512_shuffle_epi8(_mm512_set1_epi64(eight), fields.chunks);
    return _mm512_ternarylogic_epi32(_mm512_srlv_epi16(chunks, fields.shifts), _mm512_set1_epi16(3), fields.groups,
                                     0xEA);  // (places & 3) | groups
  }

  template <int kRows>
  [[gnu::always_inline]] static void add_step(const uint8_t *stored, const uint8_t *indices, const uint16_t *a,
                                              int64_t a_stride, Lanes (&sums)[kRows]) {
    const Fields made = fields();
    const __m512i upper = _mm512_set1_epi32(static_cast<int32_t>(0xFFFF0000));
    for (int64_t p = 0; p < kSparseColumns; p += 64) {
      const __m512i from = places(indices + p / 8, made);
      const __m512i numbers = _mm512_loadu_si512(stored + p);
      const __m512 low = _mm512_castsi512_ps(_mm512_slli_epi32(numbers, 16));
      const __m512 high = _mm512_castsi512_ps(_mm512_and_si512(numbers, upper));
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const uint16_t *const row = a + r * a_stride + p;
        const __m512i picked = _mm512_permutex2var_epi16(_mm512_loadu_si512(row), from, _mm512_loadu_si512(row + 32));
        sums[r].v[0] = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_slli_epi32(picked, 16)), low, sums[r].v[0]);
        sums[r].v[1] = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_and_si512(picked, upper)), high, sums[r].v[1]);
      }
    }
  }
};

}  // namespace

void gemm_sparse_floats_x86_avx512(const GemmRequest &request) {
  const bool are_halves = request.a.format.element == LPT_FORMAT_BF16 && request.b.format.element == LPT_FORMAT_BF16;
  if (are_halves) return multiply_sparse<SparseHalves>(request);
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

size_t gemm_scratch_sparse_floats_x86_avx512(const GemmRequest &request) {
  return sparse_scratch<SparseFloats<StoredBf16>>(request);
}

}  // namespace lpt
