// How a source and its codes are walked to see what became of the numbers, whatever the vectors: rows, in stretches that
// are decoded to a buffer and then compared. Included by an ISA file only.
#pragma once

#include <cstring>

#include "kernels/quantize/decode_walk.hpp"

namespace lpt {
namespace {

constexpr int64_t kSumColumns =
    kStripBlocks;  // of a stretch: a multiple of the lanes, and of one block or in one block

// A stretch of a row; it begins at a multiple of 16 columns.
struct SumStretch {
  const uint8_t *source;  // its numbers as they lie
  int64_t count;
  int64_t whole;  // of the count in vectors of sixteen; more than it, where zeros that decode to zero stand behind
  alignas(64) float decoded[kSumColumns];
  alignas(64) float inverse[kStripBlocks + 16];  // magnitudes: none of the products needs a sign
  ScaleStrip scales;
  float limit;  // beyond it a number was clipped
  alignas(64) uint8_t padded[kSumColumns * 4];
};

inline int64_t source_bytes(lpt_format plain) { return plain == LPT_FORMAT_F32 ? 4 : 2; }

inline void fill_inverses(SumStretch &stretch, int64_t blocks) {
  for (int64_t i = 0; i < blocks; ++i) {
    stretch.inverse[i] = bits_float(float_bits(inverse_scale(stretch.scales.scale[i])) & 0x7FFFFFFFu);
  }
}

// Puts zeros behind the last numbers.
inline void pad(SumStretch &stretch, int64_t bytes) {
  stretch.whole += 16;
  memcpy(stretch.padded, stretch.source, static_cast<size_t>(stretch.count * bytes));
  memset(stretch.padded + stretch.count * bytes, 0, static_cast<size_t>((stretch.whole - stretch.count) * bytes));
  for (int64_t i = stretch.count; i < stretch.whole; ++i) stretch.decoded[i] = 0.0f;
  stretch.source = stretch.padded;
}

// Calls fill(strip, tensor scale, first block in memory, count) where block scales change, decode(strip, codes, to, count)
// for each stretch, lanes.add(stretch) after it and lanes.end_row(sums) at the end of a row. Codes have `bits` bits.
template <typename Lanes, typename Fill, typename Decode>
void walk_sums(const CastSumsRequest &request, int32_t bits, const Fill &fill, const Decode &decode) {
  const MatrixView &source = request.source;
  const MatrixView &quantized = request.quantized;
  const Format &format = quantized.format;
  const bool has_blocks = format.block_scale != LPT_FORMAT_NONE;
  const bool is_cut = has_blocks && format.block_columns > 0;
  const float tensor_scale = format.tensor_scale != LPT_FORMAT_NONE ? *quantized.tensor_scale : 1.0f;
  const int64_t block_rows = format.block_rows > 0 ? format.block_rows : source.rows;
  const int64_t bytes = source_bytes(source.format.element);
  SumStretch stretch;
  ScaleStrip &strip = stretch.scales;
  strip.log2_columns = is_cut ? __builtin_ctz(static_cast<uint32_t>(format.block_columns)) : kOneBlock;
  strip.has_zeros = format.zero_point != LPT_FORMAT_NONE;
  stretch.limit = largest_of(format.element) * (strip.has_zeros ? 1.0f : 1.0f + 0x1p-20f);
  strip.scale[0] = tensor_scale;
  strip.is_tame = is_tame_scale(tensor_scale);
  fill_inverses(stretch, 1);
  CastSums sums;
  sums.elements = source.rows * source.columns;
  Lanes lanes;
  for (int64_t row = 0; row < source.rows; ++row) {
    const auto *codes = static_cast<const uint8_t *>(quantized.data) + row * quantized.row_stride * bits / 8;
    const auto *numbers = static_cast<const uint8_t *>(source.data) + row * source.row_stride * bytes;
    for (int64_t column = 0; column < source.columns; column += kSumColumns) {
      const int64_t left = source.columns - column;
      stretch.count = left < kSumColumns ? left : kSumColumns;
      if (has_blocks) {
        const int64_t first = row / block_rows * quantized.block_scale_stride + (column >> strip.log2_columns);
        const int64_t blocks = ((stretch.count - 1) >> strip.log2_columns) + 1;
        fill(strip, tensor_scale, first, blocks);
        fill_inverses(stretch, blocks);
      }
      decode(strip, codes + column * bits / 8, reinterpret_cast<uint8_t *>(stretch.decoded), stretch.count);
      stretch.source = numbers + column * bytes;
      stretch.whole = stretch.count / 16 * 16;
      // A zero point out of range would count what is not there.
      if (stretch.whole < stretch.count && !strip.has_zeros) pad(stretch, bytes);
      lanes.add(stretch);
    }
    lanes.end_row(sums);
  }
  lanes.end(sums);
  *request.sums = sums;
}

}  // namespace
}  // namespace lpt
