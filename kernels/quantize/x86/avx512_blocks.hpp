// Casts rows with block scales: reads a slab of blocks for its amax, computes its scales sixteen at a time, and casts it from
// the cache. Included by an ISA file only.
#pragma once

#include "kernels/quantize/x86/avx512_candidates.hpp"
#include "kernels/quantize/x86/avx512_quest.hpp"
#include "kernels/quantize/x86/avx512_rows.hpp"
#include "kernels/quantize/x86/avx512_scales.hpp"

namespace lpt {
namespace {

constexpr int64_t kCastBlocks = 64;       // maximum
constexpr int64_t kCastElements = 16384;  // elements that remain in the cache between the two reads

// Returns the largest lane of vector i in lane i, as unsigned integers.
[[gnu::always_inline]] inline __m512i largest_of_each(__m512i (&v)[16]) {
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    v[i] =
        _mm512_max_epu32(_mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]), _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    v[i] =
        _mm512_max_epu32(_mm512_unpacklo_epi64(v[2 * i], v[2 * i + 1]), _mm512_unpackhi_epi64(v[2 * i], v[2 * i + 1]));
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    v[i] = _mm512_max_epu32(_mm512_shuffle_i32x4(v[2 * i], v[2 * i + 1], 0x88),
                            _mm512_shuffle_i32x4(v[2 * i], v[2 * i + 1], 0xDD));
  }
  return _mm512_max_epu32(_mm512_shuffle_i32x4(v[0], v[1], 0x88), _mm512_shuffle_i32x4(v[0], v[1], 0xDD));
}

[[gnu::always_inline]] inline __m512i magnitude_bits(__m512 value) { return _mm512_castps_si512(abs(value)); }

// Returns the largest magnitudes of sixteen full blocks of one or two vectors per row, as bits; infinities and NaN count.
template <Source kSource, int kVectors>
[[gnu::always_inline]] inline __m512i whole_magnitudes(const RowSlab &slab) {
  constexpr int64_t kVector = 16 * bytes_of(kSource);
  __m512i magnitudes[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) magnitudes[i] = _mm512_setzero_si512();
  const char *from = slab.from;
  const char *address = slab.address;
  for (int64_t row = 0; row < slab.rows; ++row, from += slab.stride) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const bool is_unit = i * kVectors * kVector % 512 == 0;
      if (is_unit && address != nullptr) {
        slab.prefetcher.prefetch<4>(address);
        address += 256;
      } else if (is_unit) {
        slab.prefetcher.prefetch<8>(from + i * kVectors * kVector);
      }
      __m512i found = magnitude_bits(load16<kSource>(from + kVectors * i * kVector));
      if constexpr (kVectors == 2) {
        found = _mm512_max_epu32(found, magnitude_bits(load16<kSource>(from + (kVectors * i + 1) * kVector)));
      }
      magnitudes[i] = _mm512_max_epu32(magnitudes[i], found);
    }
  }
  return largest_of_each(magnitudes);
}

// Returns the same for one block of any width. NaN is the largest; if is_finite_only, infinities and NaN count as 0.
template <Source kSource>
uint32_t block_magnitude(const RowSlab &slab, int64_t block, bool is_finite_only) {
  constexpr int64_t kBytes = bytes_of(kSource);
  const int64_t begin = block * slab.block;
  const int64_t end = least(begin + slab.block, slab.columns);
  const __m512i infinity = _mm512_set1_epi32(static_cast<int>(kFloatInfinityBits));
  __m512i largest[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  const auto raise = [&](int i, __m512 value) {
    __m512i found = magnitude_bits(value);
    if (is_finite_only) [[unlikely]]
      found = _mm512_maskz_mov_epi32(_mm512_cmplt_epu32_mask(found, infinity), found);
    largest[i] = _mm512_max_epu32(largest[i], found);
  };
  for (int64_t row = 0; row < slab.rows; ++row) {
    const char *from = slab.from + row * slab.stride;
    int64_t at = begin;
    for (; at + 32 <= end; at += 32) {
      slab.prefetcher.prefetch<kBytes / 2>(from + at * kBytes);
      raise(0, load16<kSource>(from + at * kBytes));
      raise(1, load16<kSource>(from + (at + 16) * kBytes));
    }
    for (; at < end; at += 16) {
      raise(0, load16<kSource>(from + at * kBytes, static_cast<__mmask16>(lane_mask(0, least(end - at, 16)))));
    }
  }
  return _mm512_reduce_max_epu32(_mm512_max_epu32(largest[0], largest[1]));
}

// Returns the magnitudes of the last blocks of one or two vectors per row.
template <Source kSource>
__m512i last_magnitudes(const RowSlab &slab) {
  __m512i magnitudes[16] = {};
  for (int64_t row = 0; row < slab.rows; ++row) {
    const char *from = slab.from + row * slab.stride;
    for (int64_t at = 0; at < slab.columns; at += 16) {
      const auto mask = static_cast<__mmask16>(lane_mask(0, least(slab.columns - at, 16)));
      __m512i &largest = magnitudes[at / slab.block];
      largest = _mm512_max_epu32(largest, magnitude_bits(load16<kSource>(from + at * bytes_of(kSource), mask)));
    }
  }
  return largest_of_each(magnitudes);
}

// Returns the magnitudes of sixteen blocks of a slab, or of the last ones; lanes beyond them are 0.
template <Source kSource>
__m512i slab_magnitudes(const RowSlab &slab) {
  const bool is_whole = slab.columns >= 16 * slab.block;
  if (is_whole && slab.block == 16) return whole_magnitudes<kSource, 1>(slab);
  if (is_whole && slab.block == 32) return whole_magnitudes<kSource, 2>(slab);
  if (slab.block == 16 || slab.block == 32) return last_magnitudes<kSource>(slab);
  alignas(64) uint32_t found[16] = {};
  for (int64_t i = 0; i < 16 && i * slab.block < slab.columns; ++i) {
    found[i] = block_magnitude<kSource>(slab, i, false);
  }
  return _mm512_load_si512(found);
}

// Finite amax of blocks that contain infinities or NaN.
struct FiniteAmax {
  __m512i amax;
  __mmask16 has_nan;
};

template <Source kSource>
[[gnu::noinline]] FiniteAmax finite_amax(const RowSlab &slab, __m512i magnitudes, __mmask16 lanes) {
  const __m512i infinity = _mm512_set1_epi32(static_cast<int>(kFloatInfinityBits));
  alignas(64) uint32_t amax[16];
  _mm512_store_si512(amax, magnitudes);
  for (int i = 0; i < 16; ++i) {
    if ((lanes >> i & 1) != 0) amax[i] = block_magnitude<kSource>(slab, i, true);
  }
  return {_mm512_load_si512(amax), _mm512_cmpgt_epu32_mask(magnitudes, infinity)};
}

// Memory of the scales of up to sixteen blocks.
struct ScalePlace {
  uint8_t *codes;  // of the first scale
  bool is_f32;
  __mmask16 mask;
};

[[gnu::always_inline]] inline void store_scales(const ScalePlace &place, __m512i codes) {
  if (place.is_f32) {
    _mm512_mask_storeu_epi32(place.codes, place.mask, codes);
  } else {
    _mm_mask_storeu_epi8(place.codes, place.mask, _mm512_cvtepi32_epi8(codes));
  }
}

[[gnu::always_inline]] inline __m512i load_scales(const ScalePlace &place) {
  if (place.is_f32) return _mm512_maskz_loadu_epi32(place.mask, place.codes);
  return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(place.mask, place.codes));
}

// State shared by all blocks of a request.
struct BlockCast {
  RowCast rows;
  ScaleLanes scales;
  bool is_fixed;
  bool tries_four;
  bool is_quest;
  bool needs_amax;
  bool writes_nan_scale;  // a block with a NaN receives the scale `nan`
  uint32_t nan;           // scale code of NaN
  int64_t scale_bytes;
  __m512i amax;  // largest finite magnitude of the source, as bits
};

inline BlockCast block_cast(const QuantizeRequest &request, const Element &element) {
  const lpt_format kind = request.target.format.block_scale;
  BlockCast cast = {};
  cast.rows = row_cast(request, element);
  cast.scales = scale_lanes(request);
  cast.is_fixed = request.rule == LPT_SCALE_RULE_FIXED;
  cast.tries_four = request.rule == LPT_SCALE_RULE_FOUR_OVER_SIX;
  cast.is_quest = is_quest_rule(request.rule);
  cast.needs_amax = !cast.is_fixed || request.amax != nullptr || request.has_nan != nullptr;
  cast.writes_nan_scale = !cast.is_fixed && nan_goes_to_scale(kind, element);
  cast.nan = block_scale_nan(kind);
  cast.scale_bytes = kind == LPT_FORMAT_F32 ? 4 : 1;
  cast.amax = _mm512_setzero_si512();
  return cast;
}

// Stores the scales of sixteen blocks and returns their inverses.
[[gnu::always_inline]] inline __m512 settled(const BlockCast &cast, const FoundScales &scales, __mmask16 has_nan,
                                             const ScalePlace &place) {
  const __m512i nan = _mm512_set1_epi32(static_cast<int>(cast.nan));
  store_scales(place, cast.writes_nan_scale ? _mm512_mask_mov_epi32(scales.codes, has_nan, nan) : scales.codes);
  return scales.inverse;
}

template <Source kSource>
[[gnu::always_inline]] inline __m512 compute_scales(BlockCast &cast, const FiniteAmax &found, const RowSlab &slab,
                                                    const ScalePlace &place) {
  if (cast.is_fixed) return inverses_of(load_scales(place), cast.scales);
  const __m512 amax = _mm512_castsi512_ps(found.amax);
  if (cast.is_quest) return settled(cast, quest_scales<kSource>(slab, amax, cast.scales), found.has_nan, place);
  const FoundScales scales =
      cast.tries_four ? four_over_six<kSource>(slab, amax, cast.scales) : found_scales(amax, cast.scales);
  return settled(cast, scales, found.has_nan, place);
}

template <Source kSource>
[[gnu::always_inline]] inline FiniteAmax amax_of(BlockCast &cast, const RowSlab &slab) {
  if (!cast.needs_amax) return {_mm512_setzero_si512(), 0};
  FiniteAmax found = {slab_magnitudes<kSource>(slab), 0};
  const __mmask16 is_special =
      _mm512_cmpge_epu32_mask(found.amax, _mm512_set1_epi32(static_cast<int>(kFloatInfinityBits)));
  if (is_special != 0) [[unlikely]]
    found = finite_amax<kSource>(slab, found.amax, is_special);
  cast.amax = _mm512_max_epu32(cast.amax, found.amax);
  if (found.has_nan != 0) [[unlikely]]
    cast.rows.has_nan = true;
  return found;
}

// Returns the blocks of a slab: full bytes of codes, full vectors of scales, and no more than the cache holds.
inline int64_t slab_blocks(int64_t block_rows, int64_t block_columns) {
  int64_t blocks = block_columns == 16 ? 64 : block_columns == 32 ? 32 : 16;
  while (blocks > 1 && blocks * block_rows * block_columns > kCastElements && blocks * block_columns > 64) blocks /= 2;
  return blocks;
}

// Returns log2 of the vectors in a block, or a shift that maps every vector to the first block if only one exists.
inline int32_t block_shift_of(const BlockGrid &grid) {
  return grid.columns <= 1 ? 62 : __builtin_ctzll(static_cast<uint64_t>(grid.block_columns / 16));
}

constexpr int64_t kBandBytes = int64_t{512} << 10;  // bytes; in a band of blocks of several rows, the next band is
                                                    // prefetched into the L2 cache

// Returns the prefetch base of a slab. It is the address that a reader in memory order has after equally many bytes of this
// band, plus the bytes of a band, minus one prefetch group.
template <Source kSource>
const char *address_in_band(const QuantizeRequest &request, int64_t row, int64_t rows, int64_t column,
                            int64_t band_bytes) {
  const int64_t done = (row * request.source.row_stride + rows * column) * bytes_of(kSource);
  return static_cast<const char *>(request.source.data) + done + band_bytes - static_cast<int64_t>(kStreamGroupBytes);
}

template <Source kSource>
void cast_slabs(const QuantizeRequest &request, BlockCast &cast, CastRows cast_rows) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const BlockGrid grid = block_grid(target.format, target.rows, target.columns);
  const int64_t blocks = slab_blocks(grid.block_rows, grid.block_columns);
  const int64_t bits = cast.rows.store_bits;
  const int64_t row_bytes = target.columns * bytes_of(kSource);
  // Blocks of several rows are not read in memory order, but the next band can be prefetched in memory order.
  const int64_t band_bytes = grid.block_rows * row_bytes;
  const bool is_band = grid.block_rows > 1;
  const bool is_near = band_bytes >= static_cast<int64_t>(kStreamGroupBytes) && band_bytes <= kBandBytes &&
                       (grid.block_columns == 16 || grid.block_columns == 32);
  const Prefetcher prefetcher = !is_band || is_near ? prefetcher_of(request, row_bytes) : prefetcher_in_line(row_bytes);
  alignas(64) float inverses[kCastBlocks + 16];
  for (int64_t row = 0; row < target.rows; row += grid.block_rows) {
    const int64_t rows = least(grid.block_rows, target.rows - row);
    auto *scales = static_cast<uint8_t *>(target.block_scales) +
                   row / grid.block_rows * target.block_scale_stride * cast.scale_bytes;
    for (int64_t first = 0; first < grid.columns; first += blocks) {
      const int64_t last = least(first + blocks, grid.columns);
      const int64_t column = first * grid.block_columns;
      const char *from =
          static_cast<const char *>(source.data) + (row * source.row_stride + column) * bytes_of(kSource);
      const char *const address = is_band && prefetcher.is_spread()
                                      ? address_in_band<kSource>(request, row, rows, column, band_bytes)
                                      : nullptr;
      const int64_t columns = least(last * grid.block_columns, target.columns) - column;
      for (int64_t block = first; block < last; block += 16) {
        const int64_t begin = (block - first) * grid.block_columns;
        const RowSlab slab = {from + begin * bytes_of(kSource),
                              source.row_stride * bytes_of(kSource),
                              prefetcher,
                              rows,
                              least(columns - begin, 16 * grid.block_columns),
                              grid.block_columns,
                              address == nullptr ? nullptr : address + rows * begin * bytes_of(kSource) / 2};
        const ScalePlace place = {scales + block * cast.scale_bytes, cast.scale_bytes == 4,
                                  static_cast<__mmask16>(lane_mask(0, least(last - block, 16)))};
        _mm512_store_ps(inverses + (block - first),
                        compute_scales<kSource>(cast, amax_of<kSource>(cast, slab), slab, place));
      }
      const Rows part = {from,
                         source.row_stride * bytes_of(kSource),
                         prefetcher,
                         static_cast<uint8_t *>(target.data) + (row * target.row_stride + column) * bits / 8,
                         target.row_stride * bits / 8,
                         rows,
                         columns,
                         static_cast<uint64_t>(request.random.offset + row * request.random.row_stride + column),
                         static_cast<uint64_t>(request.random.row_stride),
                         inverses,
                         address == nullptr ? nullptr : address + rows * columns * bytes_of(kSource) / 2};
      cast_rows(cast.rows, part);
    }
  }
}

}  // namespace
}  // namespace lpt
