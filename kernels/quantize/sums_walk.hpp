// How a source and its codes are walked to see what became of the numbers, whatever the vectors: rows, in stretches that
// are decoded to a buffer and then compared. Included by an ISA file only.
#pragma once

#include "kernels/quantize/decode_walk.hpp"

namespace lpt {
namespace {

constexpr int64_t kSumColumns =
    kStripBlocks;  // of a stretch: a multiple of the lanes, and of one block or in one block

// A stretch of a row.
struct SumStretch {
  const uint8_t *source;  // its numbers as they lie
  int64_t count;
  alignas(64) float decoded[kSumColumns];
  alignas(64) float inverse[kStripBlocks + 16];
  ScaleStrip scales;
  float limit;  // beyond it a number was clipped
};

inline int64_t source_bytes(lpt_format plain) { return plain == LPT_FORMAT_F32 ? 4 : 2; }

inline void fill_inverses(SumStretch &stretch, int64_t blocks) {
  for (int64_t i = 0; i < blocks; ++i) stretch.inverse[i] = inverse_scale(stretch.scales.scale[i]);
}

// Adds lane i + width to lane i, for widths 8, 4, 2, 1.
inline double sum_of_lanes(double (&lane)[16]) {
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
  }
  return lane[0];
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
    stretch.source = static_cast<const uint8_t *>(source.data) + row * source.row_stride * bytes;
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
      lanes.add(stretch);
      stretch.source += stretch.count * bytes;
    }
    lanes.end_row(sums);
  }
  lanes.end(sums);
  *request.sums = sums;
}

}  // namespace
}  // namespace lpt
