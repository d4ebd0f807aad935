// Decoding loop shared by all vector widths: splits a matrix of codes into row spans whose scales are in a ScaleSlab. Included
// by an ISA file only.
#pragma once

#include "kernels/quantize/quantize.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

constexpr int64_t kStreamedDecode = int64_t{16} << 20;  // bytes; stores of larger outputs bypass the caches
constexpr int64_t kSlabSpace = 4096;                    // blocks, if rows share the scales of each column
constexpr int64_t kSlabBlocks = 512;  // blocks, if each row has separate scales, so that they fit the L1 cache
constexpr int32_t kOneBlock = 62;     // log2 of the columns of an unbounded block

// Factor and zero point of each block of a span; the zero point is subtracted first.
struct ScaleSlab {
  alignas(64) float scale[kSlabSpace + 16];  // a full vector may be loaded from any block on
  alignas(64) float zero[kSlabSpace + 16];
  int32_t log2_columns;  // of a block
  bool has_zeros;
  bool is_one = false;  // the only scale is 1
  bool is_in_range;     // all scales are finite and nonzero, so that no element becomes NaN
};

[[gnu::always_inline]] inline bool is_in_range_scale(float scale) {
  const uint32_t magnitude = float_bits(scale) & 0x7FFFFFFFu;
  return magnitude != 0 && magnitude < kFloatInfinityBits;
}

inline bool is_streamed_decode(const MatrixView &target) {
  const int64_t bytes = target.format.element == LPT_FORMAT_F32 ? 4 : 2;
  return bytes * target.rows * target.columns >= kStreamedDecode;
}

// Calls fill(slab, tensor scale, offset of the first block, count) where block scales change, and span(slab, from, to, count,
// may_stream) for each span. Codes have `bits` bits.
template <typename Fill, typename Span>
void walk_codes(const DequantizeRequest &request, int32_t bits, const Fill &fill, const Span &span) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  if (source.rows == 0 || source.columns == 0)
    return;  // the step of the column loop is the matrix width, which must
             // not be 0
  const Format &format = source.format;
  const bool has_blocks = format.block_scale != LPT_FORMAT_NONE;
  const float tensor_scale = format.tensor_scale != LPT_FORMAT_NONE ? *source.tensor_scale : 1.0f;
  ScaleSlab slab;
  const bool is_cut = has_blocks && format.block_columns > 0;
  slab.log2_columns = is_cut ? __builtin_ctz(static_cast<uint32_t>(format.block_columns)) : kOneBlock;
  slab.has_zeros = format.zero_point != LPT_FORMAT_NONE;
  slab.scale[0] = tensor_scale;
  slab.is_one = !has_blocks && tensor_scale == 1.0f;
  slab.is_in_range = is_in_range_scale(tensor_scale);

  const bool is_dense = source.row_stride == source.columns && target.row_stride == target.columns;
  const bool is_one_row = is_dense && !has_blocks;
  const int64_t rows = is_one_row ? 1 : source.rows;
  const int64_t columns = is_one_row ? source.rows * source.columns : source.columns;
  const int64_t block_rows = format.block_rows > 0 ? format.block_rows : source.rows;
  const int64_t blocks = block_rows > 1 ? kSlabSpace : kSlabBlocks;
  const int64_t width = is_cut ? blocks << slab.log2_columns : columns;
  const int64_t target_bytes = target.format.element == LPT_FORMAT_F32 ? 4 : 2;
  const bool may_stream = is_streamed_decode(target);
  for (int64_t block_row = 0; block_row < rows; block_row += block_rows) {
    const int64_t end = block_row + block_rows < rows ? block_row + block_rows : rows;
    for (int64_t column = 0; column < columns; column += width) {
      const int64_t count = column + width < columns ? width : columns - column;
      if (has_blocks) {
        const int64_t first = block_row / block_rows * source.block_scale_stride + (column >> slab.log2_columns);
        fill(slab, tensor_scale, first, ((count - 1) >> slab.log2_columns) + 1);
      }
      for (int64_t row = block_row; row < end; ++row) {
        const auto *from = static_cast<const uint8_t *>(source.data) + (row * source.row_stride + column) * bits / 8;
        auto *to = static_cast<uint8_t *>(target.data) + (row * target.row_stride + column) * target_bytes;
        span(slab, from, to, count, may_stream);
      }
    }
  }
}

}  // namespace
}  // namespace lpt
