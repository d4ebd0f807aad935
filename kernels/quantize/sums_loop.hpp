// Loop over a source and its codes for statistics, shared by all vector widths: decodes each row span to a buffer and compares
// it with the source. Included by an ISA file only.
#pragma once

#include <cstring>

#include "kernels/quantize/decode_loop.hpp"

namespace lpt {
namespace {

constexpr int64_t kSumColumns = kSlabBlocks;  // columns of a span: a multiple of the lanes, and a multiple or a part of
                                              // a block

// A span of a row; it begins at a multiple of 16 columns.
struct SumSpan {
  const uint8_t *source;  // elements in the source format
  int64_t count;
  int64_t whole;  // elements in full vectors of sixteen; exceeds `count` if padded with zeros that decode to zero
  alignas(64) float decoded[kSumColumns];
  alignas(64) float inverse[kSlabBlocks + 16];  // magnitudes; signs do not affect the statistics
  ScaleSlab scales;
  float limit;  // a larger scaled magnitude is clipped
  alignas(64) uint8_t padded[kSumColumns * 4];
};

inline int64_t source_bytes(lpt_format plain) { return plain == LPT_FORMAT_F32 ? 4 : 2; }

inline void fill_inverses(SumSpan &span, int64_t blocks) {
  for (int64_t i = 0; i < blocks; ++i) {
    span.inverse[i] = bits_float(float_bits(inverse_scale(span.scales.scale[i])) & 0x7FFFFFFFu);
  }
}

// Pads the last vector with zeros.
inline void pad(SumSpan &span, int64_t bytes) {
  span.whole += 16;
  memcpy(span.padded, span.source, static_cast<size_t>(span.count * bytes));
  memset(span.padded + span.count * bytes, 0, static_cast<size_t>((span.whole - span.count) * bytes));
  for (int64_t i = span.count; i < span.whole; ++i) span.decoded[i] = 0.0f;
  span.source = span.padded;
}

// Calls fill(slab, tensor scale, offset of the first block, count) where block scales change. Calls decode(slab, codes, to,
// count) and then lanes.add(span) for each span, and lanes.end_row(sums) at the end of a row. Codes have `bits` bits.
template <typename Lanes, typename Fill, typename Decode>
void walk_sums(const CastStatisticsRequest &request, int32_t bits, const Fill &fill, const Decode &decode) {
  const MatrixView &source = request.source;
  const MatrixView &quantized = request.quantized;
  const Format &format = quantized.format;
  const bool has_blocks = format.block_scale != LPT_FORMAT_NONE;
  const bool is_cut = has_blocks && format.block_columns > 0;
  const float tensor_scale = format.tensor_scale != LPT_FORMAT_NONE ? *quantized.tensor_scale : 1.0f;
  const int64_t block_rows = format.block_rows > 0 ? format.block_rows : source.rows;
  const int64_t bytes = source_bytes(source.format.element);
  SumSpan span;
  ScaleSlab &slab = span.scales;
  slab.log2_columns = is_cut ? __builtin_ctz(static_cast<uint32_t>(format.block_columns)) : kOneBlock;
  slab.has_zeros = format.zero_point != LPT_FORMAT_NONE;
  span.limit = largest_of(format.element) * (slab.has_zeros ? 1.0f : 1.0f + 0x1p-20f);
  slab.scale[0] = tensor_scale;
  slab.is_in_range = is_in_range_scale(tensor_scale);
  fill_inverses(span, 1);
  CastStatistics sums;
  sums.elements = source.rows * source.columns;
  Lanes lanes;
  for (int64_t row = 0; row < source.rows; ++row) {
    const auto *codes = static_cast<const uint8_t *>(quantized.data) + row * quantized.row_stride * bits / 8;
    const auto *numbers = static_cast<const uint8_t *>(source.data) + row * source.row_stride * bytes;
    for (int64_t column = 0; column < source.columns; column += kSumColumns) {
      const int64_t left = source.columns - column;
      span.count = left < kSumColumns ? left : kSumColumns;
      if (has_blocks) {
        const int64_t first = row / block_rows * quantized.block_scale_stride + (column >> slab.log2_columns);
        const int64_t blocks = ((span.count - 1) >> slab.log2_columns) + 1;
        fill(slab, tensor_scale, first, blocks);
        fill_inverses(span, blocks);
      }
      decode(slab, codes + column * bits / 8, reinterpret_cast<uint8_t *>(span.decoded), span.count);
      span.source = numbers + column * bytes;
      span.whole = span.count / 16 * 16;
      // With zero points padding is not used: a zero point out of range marks a padding element as clipped.
      if (span.whole < span.count && !slab.has_zeros) pad(span, bytes);
      lanes.add(span);
    }
    lanes.end_row(sums);
  }
  lanes.end(sums);
  *request.sums = sums;
}

}  // namespace
}  // namespace lpt
