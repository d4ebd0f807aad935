// Sparse packed weights: panels of which only what is not zero is stored.
//
// Bitmask: a line is one panel; a bit for each unit of its memory lines (kernels/bitmask/bitmask.hpp) says whether that unit is
// stored. Tiles: a line is tile_rows lanes, whole panels; a bit for each tile_columns of k says whether the tile is stored. The
// tiles of a line lie side by side, as panels of so many columns. Scales and zero points are all there, as in panels.
#pragma once

#include "kernels/bitmask/bitmask.hpp"
#include "src/base/kernel_entry.hpp"
#include "src/tensor/panels.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// What one line of sparse packed weights is made of.
struct SparseLine {
  int64_t lanes;       // lanes of a whole line
  int64_t bits;        // of a line
  int64_t unit_bytes;  // of what a bit stands for
};
SparseLine sparse_line(const Format &format, Layout layout, int64_t k, int32_t tile_rows, int32_t tile_columns);
inline SparseLine sparse_line(const MatrixView &view) {
  return sparse_line(view.format, view.layout, view.columns, view.tile_rows, view.tile_columns);
}

inline bool has_blocks_along_k(const Format &format) {
  return format.has_block_scale() && format.block_columns != LPT_BLOCK_EXTENT_FULL;
}

// Bytes of the unit that a bit of a bitmask stands for.
int32_t unit_bytes_of(const Format &format);

// Memory lines of one panel.
int64_t memory_lines(const MatrixView &panels);

// Bytes of one panel of a tile, where they begin in a whole panel, and how many there are: the last tile may be cut short.
struct TileSpan {
  int64_t whole, begin, bytes;
};
TileSpan span_of(const Format &format, int64_t k, int32_t tile_columns, int64_t tile);

// Bytes from a line's bits to the next one's: whole words, so that starts never take more than bits do.
int64_t sparse_stride(const SparseLine &line);

// Lines of one matrix, and of all experts.
int64_t sparse_lines(const MatrixView &sparse_packed);
int64_t sparse_lines(const Tensor &sparse_packed);
int64_t all_sparse_lines(const Tensor &sparse_packed);

int64_t count_bits(const uint8_t *bits, int64_t bytes);

// Stored bytes of one matrix.
size_t stored_bytes(const MatrixView &sparse_packed);

// Codes of one panel, zeros as well.
void write_panel(const KernelEntry<ExpandRequest> &fill, const MatrixView &sparse_packed, int64_t panel,
                 std::byte *memory);

// Some rows of a packed matrix; begins on a line.
MatrixView cut_packed_rows(const MatrixView &packed, int64_t begin, int64_t count);

// The shape of the panels that sparse packed weights stand for, without codes; scales are where they are.
MatrixView panels_shape(const MatrixView &sparse_packed);

}  // namespace lpt
