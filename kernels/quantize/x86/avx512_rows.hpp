// Casts rows to packed codes of a small element, 128 per step with AVX-512. Included by an ISA file only.
#pragma once

#include <cstring>

#include "kernels/common/prefetcher.hpp"
#include "kernels/quantize/quantize.hpp"
#include "kernels/quantize/x86/avx512_element.hpp"

namespace lpt {
namespace {

enum class Source { kF32, kBf16, kF16 };

constexpr int64_t bytes_of(Source source) { return source == Source::kF32 ? 4 : 2; }

[[gnu::always_inline]] inline __m512 widened(Source source, __m256i halves) {
  if (source == Source::kF16) return _mm512_cvtph_ps(halves);
  return f32_of_bf16(halves);
}

template <Source kSource>
[[gnu::always_inline]] inline __m512 load16(const char *from) {
  if constexpr (kSource == Source::kF32) return _mm512_loadu_ps(from);
  return widened(kSource, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
}

template <Source kSource>
[[gnu::always_inline]] inline __m512 load16(const char *from, __mmask16 mask) {
  if constexpr (kSource == Source::kF32) return _mm512_maskz_loadu_ps(mask, from);
  return widened(kSource, _mm256_maskz_loadu_epi16(mask, from));
}

[[gnu::always_inline]] inline __m512 larger_magnitude(__m512 a, __m512 b) {
  return _mm512_range_ps(a, b, kLargerMagnitude);
}

// Source of the inverse scale: one for all, one per block of full vectors, or one per column. kOneAndAmax computes the amax in
// the same pass; block scales already need it.
enum class Inverses { kOne, kOneAndAmax, kBlocks, kColumns };

// State shared by all rows of a cast.
struct RowCast {
  ElementLanes element;
  __m512 inverse;       // for kOne
  int32_t block_shift;  // log2 of the vectors in a block
  int32_t store_bits;   // bits of an element in the target
  PhiloxLanes philox;
  int32_t rounds;
  bool is_streamed;  // stores bypass the caches where the target is aligned
  __m512 amax;       // for kOneAndAmax: largest magnitude including infinity; a NaN may hide others
  bool has_nan;      // a NaN occurred
};

// Returns an in-line prefetcher. If a request is a part of longer rows, its neighbor is cast next.
inline Prefetcher prefetcher_in_line(int64_t row_bytes) {
  constexpr int64_t kMost = 4096;
  return {nullptr, row_bytes < kMost ? row_bytes : kMost};
}

// Returns the prefetcher of a request that reads its source in memory order, in rows of `row_bytes` bytes.
inline Prefetcher prefetcher_of(const QuantizeRequest &request, int64_t row_bytes) {
  const MatrixView &source = request.source;
  const bool has_gaps = source.column_stride != 1 || source.row_stride != source.columns;
  const Prefetcher in_line = prefetcher_in_line(row_bytes);
  return request.is_streamed && !has_gaps ? make_prefetcher(source.data, in_line.distance) : in_line;
}

// A set of rows. Strides are in bytes.
struct Rows {
  const char *from;
  int64_t from_stride;
  Prefetcher prefetcher;
  uint8_t *to;
  int64_t to_stride;
  int64_t rows, count;
  uint64_t index;         // random index of the first element
  uint64_t index_stride;  // between rows
  const float *inverses;  // at least one; of blocks or columns, shared by all rows; readable past the end
  const char *address;    // see RowSlab
};

[[gnu::always_inline]] inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// A part of a matrix: `columns` elements of each row, in blocks of `block` columns.
struct RowSlab {
  const char *from;
  int64_t stride;  // bytes
  Prefetcher prefetcher;
  int64_t rows, columns, block;
  // Prefetch base for spread prefetching of blocks of several rows. The amax pass and the cast pass each prefetch half of the
  // next band relative to it. NULL: prefetch relative to the rows.
  const char *address;
};

constexpr int64_t kUnit = 128;

// Random bits of 128 elements from `index` on, in two groups of 64.
template <Kind kKind>
struct RandomUnit {
  RandomU16x64 part[2];
};

// Returns the random bits for a first index that is not at a Philox block boundary.
template <Kind kKind>
[[gnu::noinline]] RandomUnit<kKind> random_unit_between(const RowCast &cast, uint64_t index) {
  constexpr uint64_t kPerBlock = kKind == Kind::kRandom8 ? 16 : 8;
  constexpr int kCalls = kKind == Kind::kRandom8 ? 2 : 3;
  alignas(64) uint8_t bytes[128 * kCalls];
  for (int i = 0; i < kCalls; ++i) {
    const RandomU16x64 drawn =
        random_blocks(cast.philox, index / kPerBlock + static_cast<uint64_t>(8 * i), cast.rounds);
    _mm512_store_si512(bytes + 128 * i, drawn.low);
    _mm512_store_si512(bytes + 128 * i + 64, drawn.high);
  }
  const uint8_t *from = bytes + index % kPerBlock * (16 / kPerBlock);
  if (kKind == Kind::kRandom8) {
    return {
        {{_mm512_loadu_si512(from), _mm512_setzero_si512()}, {_mm512_loadu_si512(from + 64), _mm512_setzero_si512()}}};
  }
  return {{{_mm512_loadu_si512(from), _mm512_loadu_si512(from + 64)},
           {_mm512_loadu_si512(from + 128), _mm512_loadu_si512(from + 192)}}};
}

template <Kind kKind>
[[gnu::always_inline]] inline RandomUnit<kKind> random_unit(const RowCast &cast, uint64_t index) {
  const __m512i zero = _mm512_setzero_si512();
  if constexpr (kKind == Kind::kRandom8) {
    if (index % 16 != 0) [[unlikely]]
      return random_unit_between<kKind>(cast, index);
    const RandomU16x64 drawn = random_blocks(cast.philox, index / 16, cast.rounds);
    return {{{drawn.low, zero}, {drawn.high, zero}}};
  } else if constexpr (kKind == Kind::kRandom16 || kKind == Kind::kRandom16OfIntegers) {
    if (index % 8 != 0) [[unlikely]]
      return random_unit_between<kKind>(cast, index);
    return {
        {random_blocks(cast.philox, index / 8, cast.rounds), random_blocks(cast.philox, index / 8 + 8, cast.rounds)}};
  } else {
    return {{{zero, zero}, {zero, zero}}};
  }
}

// Replaces the codes of NaN values in `is_nan` by codes of NaN with the signs of the sources. Reloads the sources, because
// passing them costs the hot path one store each.
template <Source kSource>
[[gnu::noinline]] __m512i with_nan(__m512i codes, uint64_t is_nan, const char *from, const ElementLanes &element,
                                   bool &has_nan) {
  __m512i lanes[4];
  for (int i = 0; i < 4; ++i) {
    const __m512 source = load16<kSource>(from + 16 * i * bytes_of(kSource));
    lanes[i] = _mm512_castps_si512(source);
    has_nan |= _mm512_cmp_ps_mask(source, source, _CMP_UNORD_Q) != 0;
  }
  return _mm512_mask_mov_epi8(codes, is_nan, nan_codes(bytes_of_lanes(lanes, 3), element));
}

// The state of a loop over groups, in registers.
struct GroupCast {
  __m512 inverse;  // for kOne
  int32_t block_shift;
  __m512 amax;
  bool has_nan;
};

// Returns the codes of 64 elements, whose first vector has index `vector` in its row.
template <Source kSource, Kind kKind, Inverses kInverses>
[[gnu::always_inline]] inline __m512i codes_of(GroupCast &found, const ElementLanes &element, const char *from,
                                               const float *inverses, int64_t vector, const RandomU16x64 &random) {
  __m512 scaled_values[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m512 source = load16<kSource>(from + 16 * i * bytes_of(kSource));
    if constexpr (kInverses == Inverses::kOneAndAmax) found.amax = larger_magnitude(found.amax, source);
    const __m512 inverse = kInverses == Inverses::kColumns ? _mm512_loadu_ps(inverses + 16 * (vector + i))
                           : kInverses == Inverses::kBlocks
                               ? _mm512_set1_ps(inverses[(vector + i) >> found.block_shift])
                               : found.inverse;
    scaled_values[i] = _mm512_mul_ps(source, inverse);
  }
  const __m512i magnitudes = magnitudes_of<kKind>(scaled_values, element, random);
  __m512i lanes[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) lanes[i] = _mm512_castps_si512(scaled_values[i]);
  const __m512i codes = signed_codes(magnitudes, bytes_of_lanes(lanes, 3), element);
  const __mmask16 is_nan0 = _mm512_cmp_ps_mask(scaled_values[0], scaled_values[1], _CMP_UNORD_Q);
  const __mmask16 is_nan1 = _mm512_cmp_ps_mask(scaled_values[2], scaled_values[3], _CMP_UNORD_Q);
  if (!_kortestz_mask16_u8(is_nan0, is_nan1)) [[unlikely]] {
    uint64_t is_nan = 0;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      is_nan |= uint64_t{_mm512_cmp_ps_mask(scaled_values[i], scaled_values[i], _CMP_UNORD_Q)} << (16 * i);
    }
    return with_nan<kSource>(codes, is_nan, from, element, found.has_nan);
  }
  return codes;
}

// The last elements of a row in a zero-padded buffer.
struct Staged {
  alignas(64) char numbers[kUnit * 4];
  alignas(64) float inverses[kUnit];
};

[[gnu::noinline]] inline void stage(Staged &staged, const char *from, int64_t bytes, const float *inverses,
                                    int64_t count) {
  memset(&staged, 0, sizeof staged);
  memcpy(staged.numbers, from, static_cast<size_t>(bytes));
  if (inverses != nullptr) memcpy(staged.inverses, inverses, static_cast<size_t>(count) * sizeof(float));
}

template <Source kSource, Kind kKind, Inverses kInverses>
void cast_rows(RowCast &cast, const Rows &in) {
  const ElementLanes element = cast.element;
  GroupCast found = {_mm512_set1_ps(in.inverses[0]), cast.block_shift, cast.amax, cast.has_nan};
  const int32_t bits = cast.store_bits;
  constexpr int64_t kBytes = bytes_of(kSource);
  Staged staged;
  for (int64_t row = 0; row < in.rows; ++row) {
    const char *from = in.from + row * in.from_stride;
    uint8_t *to = in.to + row * in.to_stride;
    const uint64_t index = in.index + static_cast<uint64_t>(row) * in.index_stride;
    const bool is_streamed = cast.is_streamed && reinterpret_cast<uintptr_t>(to) % 64 == 0;
    for (int64_t at = 0; at < in.count; at += kUnit) {
      const int64_t left = in.count - at;
      const char *numbers = from + at * kBytes;
      const float *inverses = in.inverses;
      int64_t vector = at / 16;
      if (left < kUnit) [[unlikely]] {
        const bool has_columns = kInverses == Inverses::kColumns;
        stage(staged, numbers, left * kBytes, has_columns ? inverses + at : nullptr, left);
        numbers = staged.numbers;
        if (has_columns) {
          inverses = staged.inverses;
          vector = 0;
        }
      } else {
        if (kInverses == Inverses::kBlocks && in.address != nullptr) {
          in.prefetcher.prefetch<kUnit * kBytes / 128>(in.address + (row * in.count + at) * kBytes / 2);
        } else {
          in.prefetcher.prefetch<kUnit * kBytes / 64>(numbers);
        }
      }
      const RandomUnit<kKind> random = random_unit<kKind>(cast, index + static_cast<uint64_t>(at));
      uint8_t *codes_to = to + at * bits / 8;
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        if (half == 1 && left <= 64) break;
        const __m512i codes = codes_of<kSource, kKind, kInverses>(found, element, numbers + 64 * half * kBytes,
                                                                  inverses, vector + 4 * half, random.part[half]);
        store_codes(codes_to + 8 * half * bits, codes, bits, left - 64 * half, is_streamed);
      }
    }
  }
  cast.amax = found.amax;
  cast.has_nan = found.has_nan;
}

using CastRows = void (*)(RowCast &, const Rows &);

template <Source kSource, Kind kKind>
CastRows rows_of(Inverses inverses) {
  if (inverses == Inverses::kColumns) return cast_rows<kSource, kKind, Inverses::kColumns>;
  // For rarely used rounding modes, one instantiation with an unused amax reduces code size.
  constexpr bool is_frequent = kKind == Kind::kEven || kKind == Kind::kRandom16 || kKind == Kind::kRandom8;
  if constexpr (is_frequent) {
    if (inverses == Inverses::kOne) return cast_rows<kSource, kKind, Inverses::kOne>;
  }
  return inverses == Inverses::kBlocks ? cast_rows<kSource, kKind, Inverses::kBlocks>
                                       : cast_rows<kSource, kKind, Inverses::kOneAndAmax>;
}

template <Source kSource>
CastRows rows_of(Kind kind, Inverses inverses) {
  switch (kind) {
    case Kind::kAway:
      return rows_of<kSource, Kind::kAway>(inverses);
    case Kind::kZero:
      return rows_of<kSource, Kind::kZero>(inverses);
    case Kind::kRandom16:
      return rows_of<kSource, Kind::kRandom16>(inverses);
    case Kind::kRandom16OfIntegers:
      return rows_of<kSource, Kind::kRandom16OfIntegers>(inverses);
    case Kind::kRandom8:
      return rows_of<kSource, Kind::kRandom8>(inverses);
    default:
      return rows_of<kSource, Kind::kEven>(inverses);
  }
}

inline CastRows rows_of(Source source, Kind kind, Inverses inverses) {
  if (source == Source::kF32) return rows_of<Source::kF32>(kind, inverses);
  return source == Source::kBf16 ? rows_of<Source::kBf16>(kind, inverses) : rows_of<Source::kF16>(kind, inverses);
}

inline Source source_of(lpt_format plain) {
  return plain == LPT_FORMAT_F32 ? Source::kF32 : plain == LPT_FORMAT_BF16 ? Source::kBf16 : Source::kF16;
}

inline Kind kind_of(const QuantizeRequest &request, const Element &element) {
  switch (request.rounding) {
    case LPT_ROUNDING_TOWARD_ZERO:
      return Kind::kZero;
    case LPT_ROUNDING_NEAREST_AWAY:
      return Kind::kAway;
    case LPT_ROUNDING_STOCHASTIC:
      if (request.random.bits == 8) return Kind::kRandom8;
      return element.is_integer ? Kind::kRandom16OfIntegers : Kind::kRandom16;
    default:
      return Kind::kEven;
  }
}

inline RowCast row_cast(const QuantizeRequest &request, const Element &element) {
  RowCast cast = {};
  cast.element = element_lanes(element, kind_of(request, element));
  cast.store_bits = element.bits;
  if (request.rounding == LPT_ROUNDING_STOCHASTIC) cast.philox = philox_lanes(request.random);
  cast.rounds = request.random.rounds;
  cast.amax = _mm512_setzero_ps();
  return cast;
}

}  // namespace
}  // namespace lpt
