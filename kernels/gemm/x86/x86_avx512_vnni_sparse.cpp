// GEMM of few rows of int8 by a 2:4 matrix: bytes of a are selected by the indices of b.
//
// Sixteen bytes of indices are 64 fields of two bits, which are spread to one byte each. Each field plus the first column of
// its group is an index into two registers of a.
#include "kernels/common/intrinsics.hpp"
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/sparse_loop.hpp"

namespace lpt {
namespace {

// Bytes of a are stored as a + 128, their bytes with the top bit inverted. A sum is therefore too large by 128 times the sum of
// the stored elements of b, which is subtracted after each step.
struct SparseInt8 : SparseByteRows {
  static constexpr int64_t kBytes = 1;
  static constexpr int kSharedRows = 8;
  struct Lanes {
    __m512i v;
    void clear() { v = _mm512_setzero_si512(); }
    float sum(int32_t) const { return static_cast<float>(_mm512_reduce_add_epi32(v)); }
  };

  // Returns, for 128 columns, in byte i the column of stored element i.
  [[gnu::always_inline]] static __m512i places(const uint8_t *indices, __m512i groups) {
    __m512i fields = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(indices)));
    fields = _mm512_or_si512(fields, _mm512_slli_epi32(fields, 6));
    fields = _mm512_or_si512(fields, _mm512_slli_epi32(fields, 12));
    return _mm512_ternarylogic_epi32(fields, _mm512_set1_epi8(3), groups, 0xEA);  // (fields & 3) | groups
  }

  template <int kRows>
  [[gnu::always_inline]] static void add_step(const uint8_t *stored, const uint8_t *indices, const int8_t *a,
                                              int64_t a_stride, Lanes (&sums)[kRows]) {
    const __m512i first = _mm512_set1_epi32(0x04040000);
    const __m512i dwords = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i groups = _mm512_add_epi8(first, _mm512_mullo_epi32(dwords, _mm512_set1_epi32(0x08080808)));
    __m512i excess = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (int64_t p = 0; p < kSparseColumns; p += 128) {
      const __m512i from = places(indices + p / 8, groups);
      const __m512i numbers = _mm512_loadu_si512(stored + p / 2);
      excess = _mm512_dpbusd_epi32(excess, _mm512_set1_epi8(static_cast<char>(0x80)), numbers);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const int8_t *const row = a + r * a_stride + p;
        const __m512i picked = _mm512_permutex2var_epi8(_mm512_loadu_si512(row), from, _mm512_loadu_si512(row + 64));
        sums[r].v = _mm512_dpbusd_epi32(sums[r].v, picked, numbers);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sums[r].v = _mm512_sub_epi32(sums[r].v, excess);
  }

  static int32_t read_row(const MatrixView &a, int64_t row, int64_t k, int8_t *to) {
    const auto *const from = static_cast<const int8_t *>(a.data) + row * a.row_stride;
    for (int64_t p = 0; p < k; ++p) to[p] = static_cast<int8_t>(from[p] ^ INT8_MIN);
    memset(to + k, 0x80, static_cast<size_t>(whole_steps(k) - k));
    return 0;
  }
};

}  // namespace

void gemm_sparse_int8_x86_avx512_vnni(const GemmRequest &request) { multiply_sparse<SparseInt8>(request); }

size_t gemm_scratch_sparse_int8_x86_avx512_vnni(const GemmRequest &request) {
  return sparse_scratch<SparseInt8>(request);
}

}  // namespace lpt
