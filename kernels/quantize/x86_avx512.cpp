// Casts with AVX-512.
#include <cstring>

#include "kernels/quantize/avx512_blocks.hpp"
#include "kernels/quantize/avx512_bytes.hpp"
#include "kernels/quantize/avx512_halves.hpp"
#include "kernels/quantize/avx512_transpose.hpp"
#include "kernels/quantize/rows.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

constexpr int64_t kStreamedBytes = int64_t{16} << 20;  // larger outputs would only push others out of the caches

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// Rows and columns, with a matrix that has no gaps taken as one row.
struct Extent {
  int64_t rows, columns;
};

Extent folded(const MatrixView &source, const MatrixView &target, bool may_fold) {
  const bool is_dense = source.row_stride == source.columns && target.row_stride == target.columns;
  if (may_fold && is_dense) return {1, source.rows * source.columns};
  return {source.rows, source.columns};
}

float tensor_scale_at(const MatrixView &view) {
  return view.format.tensor_scale != LPT_FORMAT_NONE ? *view.tensor_scale : 1.0f;
}

// Largest magnitude of `count` numbers, as bits; infinities and NaN count unless `is_finite_only`.
uint32_t largest_bits(const float *from, int64_t count, bool is_finite_only) {
  const __m512i limit = _mm512_set1_epi32(is_finite_only ? 0x7F800000 : -1);
  __m512i largest[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
  const auto raise = [&](int i, __m512 value) {
    const __m512i magnitude = _mm512_castps_si512(magnitude_f32x16(value));
    largest[i] = _mm512_mask_max_epu32(largest[i], _mm512_cmplt_epu32_mask(magnitude, limit), largest[i], magnitude);
  };
  int64_t at = 0;
  for (; at + 64 <= count; at += 64) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) raise(i, _mm512_loadu_ps(from + at + 16 * i));
  }
  for (; at < count; at += 16) {
    raise(0, _mm512_maskz_loadu_ps(static_cast<__mmask16>(lane_mask(0, smaller(count - at, 16))), from + at));
  }
  return _mm512_reduce_max_epu32(
      _mm512_max_epu32(_mm512_max_epu32(largest[0], largest[1]), _mm512_max_epu32(largest[2], largest[3])));
}

}  // namespace

void amax_f32_x86_avx512(const AmaxRequest &request) {
  const MatrixView source = with_adjacent_columns(request.source);
  const Extent extent = folded(source, source, true);
  uint32_t amax = 0;
  bool has_nan = false;
  for (int64_t row = 0; row < extent.rows; ++row) {
    const float *from = static_cast<const float *>(source.data) + row * source.row_stride;
    uint32_t largest = largest_bits(from, extent.columns, false);
    has_nan |= largest > kFloatInfinityBits;
    if (largest >= kFloatInfinityBits) largest = largest_bits(from, extent.columns, true);
    if (largest > amax) amax = largest;
  }
  *request.amax = bits_float(amax);
  *request.has_nan = has_nan;
}

namespace {

Mode mode_of(const QuantizeRequest &request) {
  if (request.rounding != LPT_ROUNDING_STOCHASTIC) return Mode::kNearest;
  return request.random.rounds == 7 ? Mode::kPhilox7 : Mode::kPhilox10;
}

uint64_t random_index(const QuantizeRequest &request, int64_t row, int64_t column) {
  return static_cast<uint64_t>(request.random.offset + row * request.random.row_stride + column);
}

const float *source_at(const QuantizeRequest &request, int64_t row, int64_t column) {
  return static_cast<const float *>(request.source.data) + row * request.source.row_stride + column;
}

uint8_t *target_at(const QuantizeRequest &request, int64_t row, int64_t column) {
  return static_cast<uint8_t *>(request.target.data) + row * request.target.row_stride + column;
}

ByteCast byte_cast(const QuantizeRequest &request) {
  ByteCast cast = {};
  cast.inverse = _mm512_set1_ps(request.tensor_inverse);
  if (request.rounding == LPT_ROUNDING_STOCHASTIC) cast.philox = philox_lanes(request.random);
  cast.amax = _mm512_setzero_si512();
  cast.is_streamed = request.target.rows * request.target.columns >= kStreamedBytes;
  return cast;
}

void raise_request_amax(const QuantizeRequest &request, __m512i found) {
  if (request.amax == nullptr) return;
  const float amax = bits_float(_mm512_reduce_max_epu32(found));
  if (amax > *request.amax) *request.amax = amax;
}

void finish(const QuantizeRequest &request, const ByteCast &cast) {
  if (cast.is_streamed) _mm_sfence();
  raise_request_amax(request, cast.amax);
}

}  // namespace

// One inverse for all, or none.
void quantize_f32_bytes_x86_avx512(const QuantizeRequest &request) {
  const bool is_random = request.rounding == LPT_ROUNDING_STOCHASTIC;
  const bool is_index_dense = request.random.row_stride == request.source.columns;
  const Extent extent = folded(request.source, request.target, !is_random || is_index_dense);
  const CastSpan span = span_of(request.target.format.element, mode_of(request), request.amax != nullptr, false);
  ByteCast cast = byte_cast(request);
  for (int64_t row = 0; row < extent.rows; ++row) {
    span(cast, source_at(request, row, 0), target_at(request, row, 0), extent.columns, random_index(request, row, 0));
  }
  finish(request, cast);
}

namespace {

struct BlockMagnitudes {
  float amax;
  bool is_poisoned;
};

BlockMagnitudes block_magnitudes(const QuantizeRequest &request, int64_t row, int64_t rows, int64_t column,
                                 int64_t columns) {
  uint32_t amax = 0;
  bool has_nan = false;
  for (int64_t r = row; r < row + rows; ++r) {
    uint32_t largest = largest_bits(source_at(request, r, column), columns, false);
    has_nan |= largest > kFloatInfinityBits;
    if (largest >= kFloatInfinityBits) largest = largest_bits(source_at(request, r, column), columns, true);
    if (largest > amax) amax = largest;
  }
  return {bits_float(amax), has_nan};
}

void write_scale(const MatrixView &target, int64_t index, uint32_t code) {
  if (target.format.block_scale == LPT_FORMAT_F32) {
    static_cast<float *>(target.block_scales)[index] = bits_float(code);
  } else {
    static_cast<uint8_t *>(target.block_scales)[index] = static_cast<uint8_t>(code);
  }
}

}  // namespace

// Blocks of at least a vector's width: each is read for its amax, then cast from the cache.
void quantize_f32_bytes_blocks_x86_avx512(const QuantizeRequest &request) {
  const MatrixView &target = request.target;
  const Element element = element_of(target.format.element);
  const float largest = largest_of(target.format.element);
  const float tensor_scale = tensor_scale_at(target);
  const lpt_format kind = target.format.block_scale;
  const BlockGrid grid = block_grid(target.format, target.rows, target.columns);
  const CastSpan span = span_of(target.format.element, mode_of(request), false, false);
  ByteCast cast = byte_cast(request);
  for (int64_t block_row = 0; block_row < grid.rows; ++block_row) {
    const int64_t row = block_row * grid.block_rows;
    const int64_t rows = smaller(grid.block_rows, target.rows - row);
    for (int64_t block_column = 0; block_column < grid.columns; ++block_column) {
      const int64_t column = block_column * grid.block_columns;
      const int64_t columns = smaller(grid.block_columns, target.columns - column);
      const BlockMagnitudes found = block_magnitudes(request, row, rows, column, columns);
      const uint32_t code = block_scale_code(kind, request.rule, found.amax, largest, request.tensor_inverse);
      const bool is_poisoned = found.is_poisoned && nan_goes_to_scale(kind, element);
      write_scale(target, block_row * target.block_scale_stride + block_column,
                  is_poisoned ? block_scale_nan(kind) : code);
      if (request.amax != nullptr && found.amax > *request.amax) *request.amax = found.amax;
      cast.inverse = _mm512_set1_ps(inverse_scale(block_scale_value(kind, code) * tensor_scale));
      for (int64_t r = row; r < row + rows; ++r) {
        span(cast, source_at(request, r, column), target_at(request, r, column), columns,
             random_index(request, r, column));
      }
    }
  }
  if (cast.is_streamed) _mm_sfence();
}

namespace {

// A part of the request that begins at a block.
QuantizeRequest part_of(const QuantizeRequest &request, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  const MatrixView &whole = request.target;
  QuantizeRequest part = request;
  part.source.rows = part.target.rows = rows;
  part.source.columns = part.target.columns = columns;
  part.source.data = static_cast<float *>(request.source.data) + row * request.source.row_stride +
                     column * request.source.column_stride;
  const int64_t per_byte = whole.format.element == LPT_FORMAT_E2M1FN ? 2 : 1;
  part.target.data = static_cast<uint8_t *>(whole.data) + (row * whole.row_stride + column) / per_byte;
  if (whole.format.block_scale != LPT_FORMAT_NONE) {
    part.target.block_scales = static_cast<uint8_t *>(whole.block_scales) + row * whole.block_scale_stride +
                               column / whole.format.block_columns;
  }
  part.random.offset += row * request.random.row_stride + column * request.random_column_stride;
  return part;
}

BlockRules block_rules(const QuantizeRequest &request) {
  BlockRules rules = {};
  rules.largest = _mm512_set1_ps(largest_of(request.target.format.element));
  rules.tensor_inverse = _mm512_set1_ps(request.tensor_inverse);
  rules.tensor_scale = _mm512_set1_ps(tensor_scale_at(request.target));
  rules.has_headroom = request.rule == LPT_SCALE_RULE_HEADROOM;
  rules.is_floor = request.rule == LPT_SCALE_RULE_FLOOR;
  return rules;
}

}  // namespace

// Blocks of 1 × 16 or 1 × 32 with scales of 8 bits. Sixteen blocks with an infinity or NaN are the reference's.
void quantize_f32_narrow_blocks_x86_avx512(const QuantizeRequest &request) {
  const MatrixView &target = request.target;
  const CastBlocks cast_sixteen = blocks_of(target.format, mode_of(request));
  BlockCast cast = {};
  cast.rules = block_rules(request);
  if (request.rounding == LPT_ROUNDING_STOCHASTIC) cast.philox = philox_lanes(request.random);
  cast.amax = _mm512_setzero_si512();
  const int64_t step = 16 * target.format.block_columns;
  for (int64_t row = 0; row < target.rows; ++row) {
    for (int64_t column = 0; column < target.columns; column += step) {
      const QuantizeRequest part = part_of(request, row, 1, column, smaller(step, target.columns - column));
      const bool is_done =
          cast_sixteen(cast, static_cast<const float *>(part.source.data), static_cast<uint8_t *>(part.target.data),
                       static_cast<uint8_t *>(part.target.block_scales), part.target.columns,
                       static_cast<uint64_t>(part.random.offset) / 8);
      if (!is_done) quantize_any_ref(part);
    }
  }
  raise_request_amax(request, cast.amax);
}

// Bytes with one inverse or none, or narrow blocks, where the source's columns are lines of memory.
void quantize_f32_transposed_x86_avx512(const QuantizeRequest &request) {
  const MatrixView &target = request.target;
  const bool has_blocks = target.format.block_scale != LPT_FORMAT_NONE;
  const bool is_e4m3fn = target.format.block_scale == LPT_FORMAT_E4M3FN;
  const bool is_packed = target.format.element == LPT_FORMAT_E2M1FN;
  const bool has_amax = request.amax != nullptr && !has_blocks;
  const CastSpan span = span_of(target.format.element, mode_of(request), has_amax, has_blocks);
  const BlockRules rules = block_rules(request);
  ByteCast cast = byte_cast(request);
  cast.is_streamed = false;
  ByteTile tile;
  memset(&tile, 0, sizeof tile);
  cast.inverses = tile.inverses;
  for (int64_t row = 0; row < target.rows; row += kTile) {
    for (int64_t column = 0; column < target.columns; column += kTile) {
      const QuantizeRequest part =
          part_of(request, row, smaller(kTile, target.rows - row), column, smaller(kTile, target.columns - column));
      const Lines lines = {static_cast<const float *>(part.source.data),
                           part.source.column_stride,
                           part.target.columns,
                           part.target.rows,
                           static_cast<uint64_t>(part.random.offset),
                           request.random_column_stride};
      if (!has_blocks) {
        cast_lines(span, cast, lines, 0, lines.lines, tile);
      } else if (!cast_line_blocks(span, cast, rules, is_e4m3fn, target.format.block_columns, lines,
                                   static_cast<uint8_t *>(part.target.block_scales), target.block_scale_stride, tile)) {
        quantize_any_ref(part);
        continue;
      }
      const int64_t stride_bytes = is_packed ? target.row_stride / 2 : target.row_stride;
      store_turned(tile, lines, is_packed, static_cast<uint8_t *>(part.target.data), stride_bytes);
    }
  }
  raise_request_amax(request, cast.amax);
}

// f16 and bf16, with one inverse or none.
void quantize_f32_halves_x86_avx512(const QuantizeRequest &request) {
  const MatrixView &target = request.target;
  const bool is_f16 = target.format.element == LPT_FORMAT_F16;
  const Extent extent = folded(request.source, target, true);
  HalfCast cast = {};
  cast.inverse = _mm512_set1_ps(request.tensor_inverse);
  const bool saturates = request.overflow == LPT_OVERFLOW_SATURATE;
  cast.limit = _mm512_set1_ps(saturates ? largest_of(target.format.element) : bits_float(kFloatInfinityBits));
  cast.amax = _mm512_setzero_si512();
  cast.is_streamed = 2 * target.rows * target.columns >= kStreamedBytes;
  for (int64_t row = 0; row < extent.rows; ++row) {
    uint16_t *to = static_cast<uint16_t *>(target.data) + row * target.row_stride;
    if (is_f16) {
      half_span<true>(cast, source_at(request, row, 0), to, extent.columns);
    } else {
      half_span<false>(cast, source_at(request, row, 0), to, extent.columns);
    }
  }
  if (cast.is_streamed) _mm_sfence();
  raise_request_amax(request, cast.amax);
}

// Floats of 8 or 16 bits, with one scale or none.
void dequantize_floats_f32_x86_avx512(const DequantizeRequest &request) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const Extent extent = folded(source, target, true);
  const __m512 scale = _mm512_set1_ps(tensor_scale_at(source));
  const bool is_streamed = 4 * target.rows * target.columns >= kStreamedBytes;
  for (int64_t row = 0; row < extent.rows; ++row) {
    const auto *bytes = static_cast<const uint8_t *>(source.data) + row * source.row_stride;
    const auto *halves = static_cast<const uint16_t *>(source.data) + row * source.row_stride;
    float *to = static_cast<float *>(target.data) + row * target.row_stride;
    switch (source.format.element) {
      case LPT_FORMAT_E4M3FN:
        decode_bytes(kE4m3fnTables, bytes, to, extent.columns, scale, is_streamed);
        break;
      case LPT_FORMAT_E4M3:
        decode_bytes(kE4m3Tables, bytes, to, extent.columns, scale, is_streamed);
        break;
      case LPT_FORMAT_E5M2:
        decode_bytes(kE5m2Tables, bytes, to, extent.columns, scale, is_streamed);
        break;
      case LPT_FORMAT_F16:
        decode_halves<true>(halves, to, extent.columns, scale, is_streamed);
        break;
      default:
        decode_halves<false>(halves, to, extent.columns, scale, is_streamed);
        break;
    }
  }
  if (is_streamed) _mm_sfence();
}

}  // namespace lpt
