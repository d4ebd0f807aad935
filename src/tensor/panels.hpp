// Packs and unpacks one panel of packed weights.
#pragma once

#include <vector>

#include "kernels/gemm/panels.hpp"

namespace lpt {

// The bytes of one panel of k columns.
struct PanelSize {
  int64_t payload, scales, zero_points;

  int64_t sum() const { return payload + scales + zero_points; }
};
PanelSize panel_size(const Format &format, int64_t k);

// Returns the number of panels for `lanes` rows.
inline int64_t panels_for(int64_t lanes) { return (lanes + kPanelLanes - 1) / kPanelLanes; }

// The order of the rows and columns of the source in the panels.
struct PanelOrder {
  const int32_t *rows;            // NULL: unchanged
  const int32_t *columns;         // NULL: unchanged
  std::vector<int64_t> k_blocks;  // source block of each block along k; empty: unchanged

  int64_t row(int64_t lane) const { return rows == nullptr ? lane : rows[lane]; }
  int64_t column(int64_t p) const { return columns == nullptr ? p : columns[p]; }
  int64_t block(int64_t b) const { return k_blocks.empty() ? b : k_blocks[static_cast<size_t>(b)]; }
};

// Packs or unpacks panel `panel` of a view. The panels are zero before packing.
void pack_panel(const MatrixView &rows, const PanelOrder &order, int64_t panel, const MatrixView &panels);
void unpack_panel(const MatrixView &panels, int64_t panel, const MatrixView &rows);

}  // namespace lpt
