// Sparse packed weights: panels without their zeros.
//
// Bitmask: a line is one panel. Each bit states whether a unit of the panel's memory lines (kernels/bitmask/bitmask.hpp) is
// stored. Block-sparse: a line is tile_rows lanes, a multiple of a panel. Each bit states whether a tile of tile_columns
// along k is stored. The stored tiles of a line are adjacent; each panel row of a line stores its tiles as panels of
// tile_columns columns. Scales and zero points are complete, as in panels.
#pragma once

#include "kernels/bitmask/bitmask.hpp"
#include "src/base/kernel_entry.hpp"
#include "src/tensor/panels.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// The structure of one line of sparse packed weights.
struct SparseLine {
  int64_t lanes;       // lanes of a complete line
  int64_t bits;        // of a line
  int64_t unit_bytes;  // of the unit or tile of one bit
};
SparseLine sparse_line(const Format &format, Layout layout, int64_t k, int32_t tile_rows, int32_t tile_columns);
inline SparseLine sparse_line(const MatrixView &view) {
  return sparse_line(view.format, view.layout, view.columns, view.tile_rows, view.tile_columns);
}

inline bool has_blocks_along_k(const Format &format) {
  return format.has_block_scale() && format.block_columns != LPT_BLOCK_EXTENT_FULL;
}

// Returns the bytes of the unit of one bit of a bitmask.
int32_t unit_bytes_of(const Format &format);

// Returns the memory lines of one panel.
int64_t memory_lines(const MatrixView &panels);

// The part of a panel that one tile covers: bytes of a complete tile, byte offset in the panel, and bytes of this tile. The
// last tile can be shorter.
struct TileSpan {
  int64_t whole, begin, bytes;
};
TileSpan span_of(const Format &format, int64_t k, int32_t tile_columns, int64_t tile);

// Returns the bytes between the bits of adjacent lines. It is a multiple of 8, so that starts never need more memory than
// bits.
int64_t sparse_stride(const SparseLine &line);

// Return the number of lines of one matrix, and of all experts.
int64_t sparse_lines(const MatrixView &sparse_packed);
int64_t sparse_lines(const Tensor &sparse_packed);
int64_t all_sparse_lines(const Tensor &sparse_packed);

int64_t count_bits(const uint8_t *bits, int64_t bytes);

// Returns the stored bytes of one matrix.
size_t stored_bytes(const MatrixView &sparse_packed);

// Expands the codes of one panel, including zeros.
void write_panel(const KernelEntry<ExpandRequest> &fill, const MatrixView &sparse_packed, int64_t panel,
                 std::byte *memory);

// Returns `count` rows of a packed matrix from row `begin`, which is the first row of a line.
MatrixView cut_packed_rows(const MatrixView &packed, int64_t begin, int64_t count);

// Returns the shape of the dense panels of sparse packed weights, without codes. The scales are those of the weights.
MatrixView panels_shape(const MatrixView &sparse_packed);

}  // namespace lpt
