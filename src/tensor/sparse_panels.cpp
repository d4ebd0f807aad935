#include "src/tensor/sparse_panels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/gemm/panels.hpp"

namespace lpt {
namespace {

int32_t unit_bytes_of(PanelKind kind) {
  switch (kind) {
    case PanelKind::kHalves:
      return 2;
    case PanelKind::kWords:
      return 4;
    case PanelKind::kNibbles:
    case PanelKind::kBytePairs:
    case PanelKind::kByteQuads:
      break;
  }
  return 1;
}

}  // namespace

int32_t unit_bytes_of(const Format &format) { return unit_bytes_of(panel_kind(format.element)); }

int64_t memory_lines(const MatrixView &panels) {
  return panel_bytes(panel_kind(panels.format.element), panels.columns) / kPanelLineBytes;
}

TileSpan span_of(const Format &format, int64_t k, int32_t tile_columns, int64_t tile) {
  const PanelKind kind = panel_kind(format.element);
  const int64_t whole = panel_bytes(kind, tile_columns), begin = tile * whole;
  return {whole, begin, std::min(whole, panel_bytes(kind, k) - begin)};
}

SparseLine sparse_line(const Format &format, Layout layout, int64_t k, int32_t tile_rows, int32_t tile_columns) {
  const PanelKind kind = panel_kind(format.element);
  if (layout == Layout::kBlockSparse) {
    return {tile_rows, (k + tile_columns - 1) / tile_columns,
            tile_rows / kPanelLanes * panel_bytes(kind, tile_columns)};
  }
  return {kPanelLanes, panel_bytes(kind, k) / unit_bytes_of(kind), unit_bytes_of(kind)};
}

int64_t sparse_stride(const SparseLine &line) { return (line.bits + 63) / 64 * 8; }

int64_t count_bits(const uint8_t *bits, int64_t bytes) {
  int64_t count = 0;
  for (int64_t i = 0; i < bytes; ++i) count += std::popcount(bits[i]);
  return count;
}

int64_t sparse_lines(const MatrixView &sparse_packed) {
  const int64_t lanes = sparse_line(sparse_packed).lanes;
  return (sparse_packed.rows + lanes - 1) / lanes;
}

int64_t sparse_lines(const Tensor &sparse_packed) {
  const SparseLine line =
      sparse_line(sparse_packed.format, sparse_packed.layout, sparse_packed.extents[sparse_packed.rank - 1],
                  sparse_packed.tile_rows, sparse_packed.tile_columns);
  return (sparse_packed.extents[sparse_packed.rank - 2] + line.lanes - 1) / line.lanes;
}

int64_t all_sparse_lines(const Tensor &sparse_packed) {
  return (sparse_packed.rank == 3 ? sparse_packed.extents[0] : 1) * sparse_lines(sparse_packed);
}

size_t stored_bytes(const MatrixView &sparse_packed) {
  return static_cast<size_t>((sparse_packed.starts[sparse_lines(sparse_packed)] - sparse_packed.starts[0]) *
                             sparse_line(sparse_packed).unit_bytes);
}

void write_panel(const KernelEntry<ExpandRequest> &fill, const MatrixView &sparse_packed, int64_t panel,
                 std::byte *memory) {
  const SparseLine line = sparse_line(sparse_packed);
  const int64_t index = panel * kPanelLanes / line.lanes;
  const uint8_t *const bits = sparse_packed.indices + index * sparse_packed.index_stride;
  const auto *const stored =
      static_cast<const std::byte *>(sparse_packed.data) + sparse_packed.starts[index] * line.unit_bytes;
  if (sparse_packed.layout == Layout::kBitmask) {
    fill.run({bits, reinterpret_cast<const uint8_t *>(stored), memory_lines(sparse_packed),
              unit_bytes_of(sparse_packed.format), reinterpret_cast<uint8_t *>(memory)});
    return;
  }
  const int64_t kept = sparse_packed.starts[index + 1] - sparse_packed.starts[index];
  const int64_t first = (panel - index * (sparse_packed.tile_rows / kPanelLanes)) * kept;
  std::memset(memory, 0,
              static_cast<size_t>(panel_bytes(panel_kind(sparse_packed.format.element), sparse_packed.columns)));
  int64_t place = 0;
  for (int64_t tile = 0; tile < line.bits; ++tile) {
    if (!has_bit(bits, tile)) continue;
    const TileSpan span = span_of(sparse_packed.format, sparse_packed.columns, sparse_packed.tile_columns, tile);
    std::memcpy(memory + span.begin, stored + (first + place) * span.whole, static_cast<size_t>(span.bytes));
    ++place;
  }
}

MatrixView cut_packed_rows(const MatrixView &packed, int64_t begin, int64_t count) {
  const PanelSize size = panel_size(packed.format, packed.columns);
  const int64_t panel = begin / kPanelLanes;
  MatrixView part = packed;
  part.rows = count;
  if (packed.block_scales != nullptr) {
    part.block_scales = static_cast<std::byte *>(packed.block_scales) + panel * size.scales;
  }
  if (packed.zero_points != nullptr) part.zero_points += panel * size.zero_points;
  if (!is_sparse_packed(packed.layout)) {
    part.data = static_cast<std::byte *>(packed.data) + panel * size.payload;
    return part;
  }
  const int64_t line = begin / sparse_line(packed).lanes;
  part.indices += line * packed.index_stride;
  part.starts += line;
  return part;
}

MatrixView panels_shape(const MatrixView &sparse_packed) {
  MatrixView panels = sparse_packed;
  panels.layout = Layout::kPanels;
  panels.data = nullptr;
  panels.indices = nullptr;
  panels.starts = nullptr;
  return panels;
}

}  // namespace lpt
