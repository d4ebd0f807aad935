// Few rows of int8 by a 2:4 matrix: what is stored is spread to its places in registers. Included by an ISA file only.
//
// A byte of places becomes eight bits that say which columns are stored: two look-ups of 16 entries. 64 of these bits are the
// mask of one expansion, which puts exactly half as many stored numbers where they belong.
#pragma once

#include "kernels/common/avx512_places.hpp"
#include "kernels/gemm/sparse_walk.hpp"

namespace lpt {
namespace {

// Bytes of b as b + 128, which is their bytes with the top bit flipped; what is not stored is 128. So a sum is too large by
// 128 times the sum of its row of a.
struct SparseInt8 : SparseByteRows {
  static constexpr int64_t kBytes = 1;
  static constexpr int kSharedRows = 8;
  struct Lanes {
    __m512i v;
    void clear() { v = _mm512_setzero_si512(); }
    float sum(int32_t excess) const { return static_cast<float>(_mm512_reduce_add_epi32(v) - excess); }
  };

  template <int kRows>
  [[gnu::always_inline]] static void add_step(const uint8_t *stored, const uint8_t *indices, const int8_t *a,
                                              int64_t a_stride, Lanes (&sums)[kRows]) {
    alignas(64) uint8_t bits[64];
    spread_places(indices, bits);
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));
#pragma GCC unroll 8
    for (int64_t p = 0; p < kSparseColumns; p += 64) {
      const __m512i half = _mm512_xor_si512(
          flip, _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(stored + p / 2))));
      const __m512i numbers = _mm512_mask_expand_epi8(flip, mask_at<uint64_t>(bits + p / 8), half);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        sums[r].v = _mm512_dpbusd_epi32(sums[r].v, numbers, _mm512_loadu_si512(a + r * a_stride + p));
      }
    }
  }

  static int32_t read_row(const MatrixView &a, int64_t row, int64_t k, int8_t *to) {
    memcpy(to, static_cast<const int8_t *>(a.data) + row * a.row_stride, static_cast<size_t>(k));
    memset(to + k, 0, static_cast<size_t>(whole_steps(k) - k));
    int32_t sum = 0;
    for (int64_t p = 0; p < k; ++p) sum += to[p];
    return 128 * sum;
  }
};

}  // namespace
}  // namespace lpt
