// Casts of a source whose columns are lines of memory, with AVX-512: lines are cast as they lie, so that random bits come
// in their order, and tiles of bytes are turned. Included by an ISA file only.
#pragma once

#include "kernels/quantize/avx512_blocks.hpp"

namespace lpt {
namespace {

constexpr int64_t kTile = 64;

struct ByteTile {
  alignas(64) uint8_t line[kTile][kTile];
  alignas(64) float inverses[kTile];  // of the numbers of a line, while its block is cast
};

// Writes byte r of line c to byte c of line r of `turned`; lines from `lines` on hold anything.
inline void transpose(const ByteTile &tile, int64_t lines, ByteTile &turned) {
  for (int64_t first = 0; first < lines; first += 16) {
    __m512i v[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) v[i] = _mm512_load_si512(tile.line[first + i]);
      // Interleaving line i with line i + 8 turns the bits of a byte's place by one; after four times lines are columns,
      // inside each quarter of 16 bytes.
#pragma GCC unroll 4
    for (int turn = 0; turn < 4; ++turn) {
      __m512i w[16];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        w[2 * i] = _mm512_unpacklo_epi8(v[i], v[i + 8]);
        w[2 * i + 1] = _mm512_unpackhi_epi8(v[i], v[i + 8]);
      }
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) v[i] = w[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      _mm_store_si128(reinterpret_cast<__m128i *>(turned.line[i] + first), _mm512_castsi512_si128(v[i]));
      _mm_store_si128(reinterpret_cast<__m128i *>(turned.line[16 + i] + first), _mm512_extracti64x2_epi64(v[i], 1));
      _mm_store_si128(reinterpret_cast<__m128i *>(turned.line[32 + i] + first), _mm512_extracti64x2_epi64(v[i], 2));
      _mm_store_si128(reinterpret_cast<__m128i *>(turned.line[48 + i] + first), _mm512_extracti64x2_epi64(v[i], 3));
    }
  }
}

// Lines of memory that are columns of the target: `lines` of `count` numbers, at most 64 each.
struct Lines {
  const float *from;
  int64_t stride;  // from line to line
  int64_t lines, count;
  uint64_t index;  // random index of the first number
  int64_t index_stride;
};

inline void cast_lines(CastSpan span, ByteCast &cast, const Lines &in, int64_t begin, int64_t end, ByteTile &tile) {
  for (int64_t line = begin; line < end; ++line) {
    const uint64_t index = in.index + static_cast<uint64_t>(line * in.index_stride);
    span(cast, in.from + line * in.stride, tile.line[line], in.count, index);
  }
}

// `rules` for blocks of `block` lines; the scales of number i of a line go to scales + i · scale_stride. False: there is
// an infinity or NaN, and what was written means nothing. The cast looks up its inverses in the tile.
inline bool cast_line_blocks(CastSpan span, ByteCast &cast, const BlockRules &rules, bool is_e4m3fn, int64_t block,
                             const Lines &in, uint8_t *scales, int64_t scale_stride, ByteTile &tile) {
  for (int64_t begin = 0; begin < in.lines; begin += block) {
    const int64_t end = begin + block < in.lines ? begin + block : in.lines;
    for (int64_t first = 0; first < in.count; first += 16) {
      const auto mask = static_cast<__mmask16>(lane_mask(0, in.count - first) & 0xFFFF);
      __m512i amax = _mm512_setzero_si512();
      for (int64_t line = begin; line < end; ++line) {
        const __m512 numbers = _mm512_maskz_loadu_ps(mask, in.from + line * in.stride + first);
        amax = _mm512_max_epu32(amax, _mm512_castps_si512(magnitude_f32x16(numbers)));
      }
      if (_mm512_cmpge_epu32_mask(amax, _mm512_set1_epi32(0x7F800000)) != 0) return false;
      cast.amax = _mm512_max_epu32(cast.amax, amax);
      const BlockScales found = block_scales(is_e4m3fn, _mm512_castsi512_ps(amax), rules);
      _mm512_store_ps(tile.inverses + first, found.inverse);
      alignas(16) uint8_t codes[16];
      _mm_store_si128(reinterpret_cast<__m128i *>(codes), found.codes);
      for (int64_t i = 0; i < 16 && first + i < in.count; ++i) {
        scales[(first + i) * scale_stride + begin / block] = codes[i];
      }
    }
    cast_lines(span, cast, in, begin, end, tile);
  }
  return true;
}

// Writes the turned tile as `count` rows of `lines` elements of 8 bits, or of 4.
inline void store_turned(const ByteTile &tile, const Lines &in, bool is_packed, uint8_t *to, int64_t stride_bytes) {
  ByteTile turned;
  transpose(tile, in.lines, turned);
  const __mmask64 mask = lane_mask(0, in.lines);
  for (int64_t row = 0; row < in.count; ++row) {
    const __m512i bytes = _mm512_maskz_mov_epi8(mask, _mm512_load_si512(turned.line[row]));
    if (is_packed) {
      _mm256_mask_storeu_epi8(to + row * stride_bytes, static_cast<__mmask32>(lane_mask(0, (in.lines + 1) / 2)),
                              packed_nibbles(bytes));
    } else {
      _mm512_mask_storeu_epi8(to + row * stride_bytes, mask, bytes);
    }
  }
}

}  // namespace
}  // namespace lpt
