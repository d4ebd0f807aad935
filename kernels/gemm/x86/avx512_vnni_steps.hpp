// Parts of tiles with sums in int32: decoding of columns to bytes, steps of k, and prefetching of c. Included by ISA files: all
// functions have internal linkage.
#pragma once

#include "kernels/gemm/prefetch_stream.hpp"
#include "kernels/gemm/x86/avx512_vnni_integers.hpp"

namespace lpt {
namespace {

struct GroupTile {
  const uint8_t *rows;  // packed by avx512_vnni_rows.hpp, or the bytes of a in place
  int64_t stride, scale_offset;
  const uint8_t *starts;  // start values of the sums: four bytes for each group
  int64_t start_stride;   // in bytes, from row to row; with groups: `stride`
  const uint8_t *panel;
  const float *column_scales;       // kPanelLanes for each group
  const uint32_t *column_addends;   // kPanelLanes for each group, if b has zero points: one byte four times
  const uint32_t *doubled_columns;  // a bit for each lane
  const int8_t *values;             // value + 128, indexed by codes of up to 6 bits
  const uint8_t *next_scales;       // to prefetch: `next_step` bytes for each group
  int64_t next_step;
  int64_t steps, group_steps;
  PrefetchStream prefetch;
};

// A Columns type decodes a step of a panel to two vectors of unsigned bytes.
struct NibbleColumns {
  static constexpr int64_t kStepBytes = 64;
  __m512i values;

  explicit NibbleColumns(const GroupTile &tile)
      : values(_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i *>(tile.values)))) {}
  void begin_group(const GroupTile &, int64_t) {}
  __m512i start(__m512i row, int) const { return row; }
  void decode(const uint8_t *line, __m512i &low, __m512i &high) const {
    const __m512i codes = _mm512_loadu_si512(line), half = _mm512_set1_epi8(15);
    low = _mm512_shuffle_epi8(values, _mm512_and_si512(codes, half));
    high = _mm512_shuffle_epi8(values, _mm512_and_si512(_mm512_srli_epi16(codes, 4), half));
  }
};

struct ZeroPointColumns {
  static constexpr int64_t kStepBytes = 64;
  __m512i low_addend, high_addend;
  uint32_t doubled;

  explicit ZeroPointColumns(const GroupTile &) {}
  void begin_group(const GroupTile &tile, int64_t group) {
    low_addend = _mm512_loadu_si512(tile.column_addends + group * kPanelLanes);
    high_addend = _mm512_loadu_si512(tile.column_addends + group * kPanelLanes + 16);
    doubled = tile.doubled_columns[group];
  }
  __m512i start(__m512i row, int v) const {
    return _mm512_mask_add_epi32(row, static_cast<__mmask16>(doubled >> (16 * v)), row, row);
  }
  void decode(const uint8_t *line, __m512i &low, __m512i &high) const {
    const __m512i codes = _mm512_loadu_si512(line), half = _mm512_set1_epi8(15);
    low = _mm512_add_epi8(_mm512_and_si512(codes, half), low_addend);
    high = _mm512_add_epi8(_mm512_and_si512(_mm512_srli_epi16(codes, 4), half), high_addend);
  }
};

// Floats of 6 bits. Each line has two elements of k of both vectors.
struct BytePairColumns {
  static constexpr int64_t kStepBytes = 128;
  __m512i values;

  explicit BytePairColumns(const GroupTile &tile) : values(_mm512_loadu_si512(tile.values)) {}
  void begin_group(const GroupTile &, int64_t) {}
  __m512i start(__m512i row, int) const { return row; }
  void decode(const uint8_t *line, __m512i &low, __m512i &high) const {
    const __m512i first = _mm512_loadu_si512(line), second = _mm512_loadu_si512(line + 64);
    low = _mm512_permutexvar_epi8(_mm512_unpacklo_epi16(first, second), values);
    high = _mm512_permutexvar_epi8(_mm512_unpackhi_epi16(first, second), values);
  }
};

struct ByteColumns {
  static constexpr int64_t kStepBytes = 128;

  explicit ByteColumns(const GroupTile &) {}
  void begin_group(const GroupTile &, int64_t) {}
  __m512i start(__m512i row, int) const { return row; }
  void decode(const uint8_t *line, __m512i &low, __m512i &high) const {
    const __m512i flip = _mm512_set1_epi8(-128);
    low = _mm512_xor_si512(_mm512_loadu_si512(line), flip);
    high = _mm512_xor_si512(_mm512_loadu_si512(line + 64), flip);
  }
};

inline __m512i repeat_dword(const uint8_t *from) {
  int32_t dword;
  memcpy(&dword, from, sizeof dword);
  return _mm512_set1_epi32(dword);
}

// Pointers to every third row. The addresses of the other rows are computed by adding the stride once or twice.
template <int kRows>
struct RowPointers {
  static constexpr int kThirds = (kRows + 2) / 3;
  const uint8_t *third[kThirds];
  int64_t stride;

  RowPointers(const uint8_t *first, int64_t stride) : stride(stride) {
#pragma GCC unroll 4
    for (int t = 0; t < kThirds; ++t) third[t] = first + 3 * t * stride;
  }
  const uint8_t *operator[](int i) const { return third[i / 3] + i % 3 * stride; }
  // The empty assembly keeps each pointer in its own register: gcc 12 would add to all pointers in a vector.
  void advance(int64_t bytes) {
#pragma GCC unroll 4
    for (int t = 0; t < kThirds; ++t) {
      third[t] += bytes;
      asm("" : "+r"(third[t]));
    }
  }
};

// The empty assembly keeps a sum in its register: gcc 12 would copy each sum to another register and back in every step.
[[gnu::always_inline]] inline void add_products(__m512i &sum, __m512i columns, __m512i row) {
  sum = _mm512_dpbusd_epi32(sum, columns, row);
  asm("" : "+v"(sum));
}

// Adds the products of `steps` steps of four elements of k, and advances `rows` and `panel`. Prefetches fill L2, which
// has more buffers for outstanding reads than L1.
template <typename Columns, int kRows>
[[gnu::always_inline]] inline void add_steps(const Columns &decoder, int64_t steps, RowPointers<kRows> &rows,
                                             const uint8_t *&panel, PrefetchStream &prefetch,
                                             __m512i (&sums)[kRows][2]) {
  do {
    __builtin_prefetch(prefetch.from, 0, 2);
    if constexpr (Columns::kStepBytes > 64) __builtin_prefetch(prefetch.from + 64, 0, 2);
    prefetch.advance();
    __m512i low, high;
    decoder.decode(panel, low, high);
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      const __m512i four = repeat_dword(rows[i]);
      add_products(sums[i][0], low, four);
      add_products(sums[i][1], high, four);
    }
    panel += Columns::kStepBytes;
    asm("" : "+r"(panel));
    rows.advance(4);
  } while (--steps > 0);
}

// Prefetches the lines of c.
template <int kRows>
[[gnu::always_inline]] inline void prefetch_tile(const TileEpilogue &place) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    __builtin_prefetch(place.c + i * place.row_bytes, 1, 2);
    __builtin_prefetch(place.c + i * place.row_bytes + place.element_bytes * (kPanelLanes - 1), 1, 2);
  }
}

}  // namespace
}  // namespace lpt
