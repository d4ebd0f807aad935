// Thin weights: panels of which only what is not zero is stored.
//
// Loose: a line is one panel; a bit for each unit of its memory lines (kernels/loose/loose.hpp) says whether that unit is
// stored. Tiles: a line is tile_rows lanes, whole panels; a bit for each tile_columns of k says whether the tile is stored. The
// tiles of a line lie side by side, as panels of so many columns. Scales and zero points are all there, as in panels.
#pragma once

#include "kernels/loose/loose.hpp"
#include "src/ops/operation.hpp"
#include "src/ops/weights.hpp"

namespace lpt {

// What one line of thin weights is made of.
struct ThinLine {
  int64_t lanes;       // lanes of a whole line
  int64_t bits;        // of a line
  int64_t unit_bytes;  // of what a bit stands for
};
ThinLine thin_line(const Format &format, Layout layout, int64_t k, int32_t tile_rows, int32_t tile_columns);
inline ThinLine thin_line(const MatrixView &view) {
  return thin_line(view.format, view.layout, view.columns, view.tile_rows, view.tile_columns);
}

inline bool has_blocks_along_k(const Format &format) {
  return format.has_block_scale() && format.block_columns != LPT_BLOCK_EXTENT_FULL;
}

// Bytes from a line's bits to the next one's: whole words, so that starts never take more than bits do.
int64_t thin_stride(const ThinLine &line);

// How thin weights are to be.
struct Thinness {
  Layout layout;
  int32_t tile_rows = 0, tile_columns = 0;  // of tiles
};
Status check_thinness(const Format &format, const lpt_weights_options &options, Thinness &out_thinness);

// Leaves out what is zero.
Status make_thin(Context &context, const Tensor &panels, const Thinness &thinness, std::unique_ptr<Tensor> &out_thin);

// A tensor of thin weights without memory.
Tensor thin_shape(const Format &format, int32_t rank, const int64_t *extents, const Thinness &thinness);

// The same with room for `stored` units; its starts are all 0.
Status create_thin(Context &context, const Format &format, int32_t rank, const int64_t *extents,
                   const Thinness &thinness, int64_t stored, std::unique_ptr<Tensor> &out_thin);

// Lines of one matrix, and of all experts.
int64_t thin_lines(const MatrixView &thin);
int64_t thin_lines(const Tensor &thin);
int64_t all_thin_lines(const Tensor &thin);

int64_t count_bits(const uint8_t *bits, int64_t bytes);

// Sets the starts of lines from their bits.
void count_starts(const Tensor &thin, int64_t first, int64_t count);

// Stored bytes of one matrix.
size_t stored_bytes(const MatrixView &thin);

// Codes of one panel, zeros as well.
void write_panel(const Row<FillRequest> &fill, const MatrixView &thin, int64_t panel, std::byte *memory);

// Some rows of a packed matrix; begins on a line.
MatrixView cut_packed_rows(const MatrixView &packed, int64_t begin, int64_t count);

// The shape of the panels that thin weights stand for, without codes; scales are where they are.
MatrixView panels_shape(const MatrixView &thin);

}  // namespace lpt
