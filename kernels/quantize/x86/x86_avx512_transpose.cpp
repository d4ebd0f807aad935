// Casts a source with adjacent rows with AVX-512. Lines of memory are cast in order, so that random bits are used in order, and
// tiles of bytes are transposed.
#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/x86/avx512_amax.hpp"
#include "kernels/quantize/x86/avx512_blocks.hpp"

namespace lpt {
namespace {

constexpr int64_t kTileLines = 128;
constexpr int64_t kTileNumbers = kUnit;  // elements of a line: rows of the target

struct ByteTile {
  alignas(64) uint8_t line[kTileLines][kTileNumbers];
  alignas(64) uint8_t transposed_copy[kTileNumbers][kTileLines];
  alignas(64) float inverses[kTileLines / 16][kTileNumbers];  // of the elements of a line, per block of lines
};

// Writes byte r of line c to byte c of line r of `transposed_copy`. Lines from `lines` on are undefined.
inline void transpose(ByteTile &tile, int64_t lines, int64_t numbers) {
  for (int64_t half = 0; half < numbers; half += 64) {
    for (int64_t first = 0; first < lines; first += 16) {
      __m512i v[16];
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) v[i] = _mm512_load_si512(tile.line[first + i] + half);
        // Interleaving line i with line i + 8 rotates the bits of a byte's index by one. After four rounds lines are columns,
        // within each quarter of 16 bytes.
#pragma GCC unroll 4
      for (int round = 0; round < 4; ++round) {
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
        const auto quarter = [&](int number) {
          return reinterpret_cast<__m128i *>(tile.transposed_copy[half + number + i] + first);
        };
        _mm_store_si128(quarter(0), _mm512_castsi512_si128(v[i]));
        _mm_store_si128(quarter(16), _mm512_extracti64x2_epi64(v[i], 1));
        _mm_store_si128(quarter(32), _mm512_extracti64x2_epi64(v[i], 2));
        _mm_store_si128(quarter(48), _mm512_extracti64x2_epi64(v[i], 3));
      }
    }
  }
}

// Rows of the target: `numbers` elements of each line of memory.
struct Lines {
  const char *from;
  int64_t stride;  // bytes between lines
  int64_t numbers;
  int64_t prefetch;  // prefetch distance in bytes
};

// A contiguous copy of the lines of a block. Lines whose distance is a power of two conflict in the sets of the L1 cache, and
// are evicted before the second read.
constexpr int64_t kNearLines = 32;

struct NearLines {
  alignas(64) float numbers[kNearLines][kTileNumbers];
};

// Replaces each `group` adjacent values by their largest.
inline void spread_largest(uint32_t *numbers, int64_t count, int64_t group) {
  for (int64_t first = 0; first < count; first += group) {
    uint32_t largest = 0;
    for (int64_t i = first; i < first + group; ++i) largest = numbers[i] > largest ? numbers[i] : largest;
    for (int64_t i = first; i < first + group; ++i) numbers[i] = largest;
  }
}

// Magnitudes of the elements of a part of a line, over whole blocks across lines.
struct LineAmax {
  alignas(64) uint32_t bits[kTileNumbers];
};

// Computes the largest magnitudes over lines [begin, end), as bits; infinities and NaN count. Copies the elements to `near`,
// unless NULL.
template <Source kSource>
void find_line_amax(const Lines &in, int64_t begin, int64_t end, LineAmax &amax, NearLines *near) {
  constexpr int64_t kVector = 16 * bytes_of(kSource);
  const char *from = in.from + begin * in.stride;
  __m512i largest[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) largest[i] = _mm512_setzero_si512();
  const auto take = [&](int64_t line, int i, __m512 value) {
    if (near != nullptr) _mm512_store_ps(near->numbers[line - begin] + 16 * i, value);
    largest[i] = _mm512_max_epu32(largest[i], magnitude_bits(value));
  };
  for (int64_t line = begin; line < end; ++line, from += in.stride) {
    if (in.numbers == kTileNumbers) [[likely]] {
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        if (i * kVector % 64 == 0) _mm_prefetch(from + in.prefetch + i * kVector, _MM_HINT_T1);
        take(line, i, load16<kSource>(from + i * kVector));
      }
    } else {
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        const auto mask = static_cast<__mmask16>(lane_mask(0, least(in.numbers - 16 * i, 16)));
        take(line, i, load16<kSource>(mask == 0 ? from : from + i * kVector, mask));
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) _mm512_store_si512(amax.bits + 16 * i, largest[i]);
}

// Does the same without infinities and NaN.
template <Source kSource>
[[gnu::noinline]] void find_finite_line_amax(const Lines &in, int64_t begin, int64_t end, LineAmax &amax) {
  const __m512i infinity = _mm512_set1_epi32(static_cast<int>(kFloatInfinityBits));
  memset(&amax, 0, sizeof amax);
  for (int64_t at = 0; at < in.numbers; at += 16) {
    const auto mask = static_cast<__mmask16>(lane_mask(0, least(in.numbers - at, 16)));
    __m512i largest = _mm512_setzero_si512();
    const char *from = in.from + begin * in.stride + at * bytes_of(kSource);
    for (int64_t line = begin; line < end; ++line, from += in.stride) {
      const __m512i found = magnitude_bits(load16<kSource>(from, mask));
      largest = _mm512_mask_max_epu32(largest, _mm512_cmplt_epu32_mask(found, infinity), largest, found);
    }
    _mm512_store_si512(amax.bits + at, largest);
  }
}

// Sixteen elements of several lines of memory, in blocks across lines.
struct LinePart {
  const char *from;
  int64_t stride, lines;
  __mmask16 mask;
};

// Replaces the values of each group, the rows of a block, by their sum in ascending order.
inline __m512 sum_of_groups(__m512 sums, int64_t group) {
  if (group == 1) return sums;
  alignas(64) float each[16];
  _mm512_store_ps(each, sums);
  for (int64_t first = 0; first < 16; first += group) {
    float sum = 0.0f;
    for (int64_t i = first; i < first + group; ++i) sum += each[i];
    for (int64_t i = first; i < first + group; ++i) each[i] = sum;
  }
  return _mm512_load_ps(each);
}

template <Source kSource>
FoundScales line_four_over_six(const LinePart &part, int64_t group, __m512 amax, const BlockCast &cast) {
  CandidatePair pair;
  set_candidates(amax, cast.scales, pair);
  const PairErrors errors = line_errors<kSource>(part.from, part.stride, part.lines, part.mask, pair);
  return better_of(pair, {sum_of_groups(errors.six, group), sum_of_groups(errors.four, group)});
}

template <Source kSource>
__m512 settle_line_part(BlockCast &cast, const FiniteAmax &found, const LinePart &part, int64_t group,
                        const ScalePlace &place) {
  if (cast.is_fixed) return inverses_of(load_scales(place), cast.scales);
  const __m512 amax = _mm512_castsi512_ps(found.amax);
  const FoundScales scales =
      cast.tries_four ? line_four_over_six<kSource>(part, group, amax, cast) : found_scales(amax, cast.scales);
  return settled(cast, scales, found.has_nan, place);
}

// Computes the scales of the blocks over lines [begin, end). `scales` points to the first; they are `stride` bytes apart.
template <Source kSource>
void compute_row_scales(BlockCast &cast, const Lines &in, int64_t begin, int64_t end, int64_t group, uint8_t *scales,
                        int64_t stride, float *inverses, NearLines *near) {
  const __m512i infinity = _mm512_set1_epi32(static_cast<int>(kFloatInfinityBits));
  LineAmax any;
  if (cast.needs_amax) {
    find_line_amax<kSource>(in, begin, end, any, near);
  } else {
    memset(&any, 0, sizeof any);
  }
  if (group > 1) spread_largest(any.bits, kTileNumbers, group);
  LineAmax finite = any;
  bool is_special = false;
  for (int64_t at = 0; at < in.numbers; at += 16) {
    is_special |= _mm512_cmpge_epu32_mask(_mm512_load_si512(any.bits + at), infinity) != 0;
  }
  if (is_special) {
    find_finite_line_amax<kSource>(in, begin, end, finite);
    if (group > 1) spread_largest(finite.bits, kTileNumbers, group);
  }
  for (int64_t at = 0; at < in.numbers; at += 16) {
    const __m512i amax = _mm512_load_si512(finite.bits + at);
    const FiniteAmax found = {amax, _mm512_cmpgt_epu32_mask(_mm512_load_si512(any.bits + at), infinity)};
    cast.amax = _mm512_max_epu32(cast.amax, amax);
    cast.rows.has_nan |= found.has_nan != 0;
    alignas(64) uint8_t codes[64];
    const ScalePlace place = {codes, cast.scale_bytes == 4, 0xFFFF};
    uint8_t *to = scales + at / group * stride;
    const int64_t count = least(in.numbers - at, 16);
    if (cast.is_fixed) {
      memset(codes, 0, sizeof codes);
      for (int64_t i = 0; i < count; ++i) {
        memcpy(codes + i * cast.scale_bytes, scales + (at + i) / group * stride, static_cast<size_t>(cast.scale_bytes));
      }
    }
    const LinePart part = {in.from + begin * in.stride + at * bytes_of(kSource), in.stride, end - begin,
                           static_cast<__mmask16>(lane_mask(0, count))};
    _mm512_store_ps(inverses + at, settle_line_part<kSource>(cast, found, part, group, place));
    if (cast.is_fixed) continue;
    for (int64_t i = 0; i < count; i += group, to += stride) {
      if (cast.scale_bytes == 4) {
        memcpy(to, codes + 4 * i, 4);
      } else {
        *to = codes[i];
      }
    }
  }
}

// Writes the transposed tile as rows of `lines` elements.
inline void store_transposed(const ByteTile &tile, int64_t lines, int64_t numbers, const ElementLanes &element,
                             uint8_t *to, int64_t stride, bool is_streamed) {
  const bool has_whole_lines = is_streamed && lines * element.bits % 512 == 0;
  for (int64_t row = 0; row < numbers; ++row, to += stride) {
    const bool is_row_streamed = has_whole_lines && reinterpret_cast<uintptr_t>(to) % 64 == 0;
    for (int64_t line = 0; line < lines; line += 64) {
      store_codes(to + line * element.bits / 8, _mm512_load_si512(tile.transposed_copy[row] + line), element.bits,
                  lines - line, is_row_streamed);
    }
  }
}

// A part of the target: rows [row, row + rows), columns [first, last).
struct Part {
  int64_t row, rows, first, last;
};

// How lines are cast: from the source, or from `near`.
struct LineCast {
  CastRows rows;
  bool is_streamed;
  NearLines *near;
};

// Casts a part of at most kTileNumbers rows.
template <Source kSource>
void cast_transposed_part(const QuantizeRequest &request, BlockCast &cast, const LineCast &line_cast, const Part &part,
                          ByteTile &tile) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const bool has_blocks = target.format.block_scale != LPT_FORMAT_NONE;
  const BlockGrid grid = block_grid(target.format, target.rows, target.columns);
  const int64_t block = has_blocks ? grid.block_columns : kTileLines;
  const int64_t bits = cast.rows.element.bits;
  const int64_t line_bytes = source.column_stride * bytes_of(kSource);
  // Large matrices are processed in bands of lines: the next band is prefetched while this one is cast.
  const Lines in = {static_cast<const char *>(source.data) + part.row * bytes_of(kSource), line_bytes, part.rows,
                    line_cast.is_streamed ? target.columns * line_bytes : kTileNumbers * bytes_of(kSource)};
  const int64_t scale_stride = target.block_scale_stride * cast.scale_bytes;
  for (int64_t first = part.first; first < part.last; first += kTileLines) {
    const int64_t last = least(first + kTileLines, part.last);
    for (int64_t line = first; line < last; line += block) {
      float *inverses = tile.inverses[(line - first) / block];
      if (has_blocks && line % block == 0) {
        uint8_t *scales = static_cast<uint8_t *>(target.block_scales) + part.row / grid.block_rows * scale_stride +
                          line / block * cast.scale_bytes;
        compute_row_scales<kSource>(cast, in, line, least(line + block, target.columns), grid.block_rows, scales,
                                    scale_stride, inverses, line_cast.near);
      }
      const uint64_t index = static_cast<uint64_t>(request.random.offset + part.row) +
                             static_cast<uint64_t>(line) * static_cast<uint64_t>(request.random_column_stride);
      const bool is_near = line_cast.near != nullptr;
      const Rows rows = {is_near ? reinterpret_cast<const char *>(line_cast.near) : in.from + line * in.stride,
                         is_near ? static_cast<int64_t>(sizeof line_cast.near->numbers[0]) : in.stride,
                         {nullptr, is_near ? 0 : kTileNumbers * bytes_of(kSource)},
                         tile.line[line - first],
                         kTileNumbers,
                         least(block, last - line),
                         part.rows,
                         index,
                         static_cast<uint64_t>(request.random_column_stride),
                         inverses,
                         nullptr};
      line_cast.rows(cast.rows, rows);
    }
    transpose(tile, last - first, part.rows);
    store_transposed(tile, last - first, part.rows, cast.rows.element,
                     static_cast<uint8_t *>(target.data) + (part.row * target.row_stride + first) * bits / 8,
                     target.row_stride * bits / 8, line_cast.is_streamed);
  }
}

// Stores the only inverse of a cast without block scales in the entries of block inverses.
inline void set_inverse(ByteTile &tile, float inverse) {
  const __m512 magnitude = abs(_mm512_set1_ps(inverse));
  for (int64_t at = 0; at < kTileNumbers; at += 16) _mm512_store_ps(tile.inverses[0] + at, magnitude);
}

template <Source kSource>
void cast_transposed(const QuantizeRequest &request, BlockCast &cast, const LineCast &line_cast) {
  ByteTile tile;
  memset(&tile, 0, sizeof tile);
  set_inverse(tile, request.tensor_inverse);
  cast.rows.store_bits = 8;
  // Bounds the rows that are written concurrently, so that TLB and caches hold their pages.
  constexpr int64_t kNearRows = 4 * kTileNumbers;
  const MatrixView &target = request.target;
  const BlockGrid grid = block_grid(target.format, target.rows, target.columns);
  const int64_t columns =
      grid.block_columns > kTileLines && target.format.block_scale != LPT_FORMAT_NONE ? grid.block_columns : kTileLines;
  for (int64_t near = 0; near < target.rows; near += kNearRows) {
    for (int64_t first = 0; first < target.columns; first += columns) {
      for (int64_t row = near; row < least(near + kNearRows, target.rows); row += kTileNumbers) {
        const Part part = {row, least(kTileNumbers, target.rows - row), first, least(first + columns, target.columns)};
        cast_transposed_part<kSource>(request, cast, line_cast, part, tile);
      }
    }
  }
}

}  // namespace

// Casts a source with adjacent rows, with block scales or without.
void quantize_transposed_x86_avx512(const QuantizeRequest &request) {
  const MatrixView &target = request.target;
  const Element element = element_of(target.format.element);
  const bool has_blocks = target.format.block_scale != LPT_FORMAT_NONE;
  const Source from = source_of(request.source.format.element);
  BlockCast cast = {};
  if (has_blocks) {
    cast = block_cast(request, element);
  } else {
    cast.rows = row_cast(request, element);
  }
  const Inverses inverses = has_blocks                ? Inverses::kColumns
                            : request.amax != nullptr ? Inverses::kOneAndAmax
                                                      : Inverses::kOne;
  NearLines near;
  const bool is_near =
      has_blocks && cast.needs_amax && target.format.block_columns > 0 && target.format.block_columns <= kNearLines;
  const CastRows cast_rows = rows_of(is_near ? Source::kF32 : from, kind_of(request, element), inverses);
  const LineCast line_cast = {cast_rows, request.is_streamed, is_near ? &near : nullptr};
  switch (from) {
    case Source::kF32:
      cast_transposed<Source::kF32>(request, cast, line_cast);
      break;
    case Source::kBf16:
      cast_transposed<Source::kBf16>(request, cast, line_cast);
      break;
    default:
      cast_transposed<Source::kF16>(request, cast, line_cast);
      break;
  }
  if (request.is_streamed) _mm_sfence();
  if (has_blocks) {
    finish(request, cast);
  } else {
    finish(request, cast.rows.amax, cast.rows.has_nan);
  }
}

}  // namespace lpt
