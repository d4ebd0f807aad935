#include "src/weights/sparse.hpp"

#include <cstring>

#include "kernels/bitmask/bitmask.hpp"
#include "kernels/gemm/panels.hpp"
#include "src/call/operation.hpp"
#include "src/tensor/sparse_panels.hpp"

namespace lpt {
namespace {

constexpr int32_t kUsualTile = 64;
constexpr int32_t kMaxTile = 4096;

// Checks a side of the tiles. `multiple` is a power of two up to kMaxTile, so the default side is a multiple of it.
Status check_tile_side(const char *name, int32_t given, int32_t multiple, int32_t &out_side) {
  const int32_t usual = std::max(kUsualTile, multiple);
  out_side = given == 0 ? usual : given;
  if (given >= 0 && given <= kMaxTile && out_side % multiple == 0) return {};
  return invalid("%s is %d: expected 0, for %d, or a multiple of %d up to %d", name, given, usual, multiple, kMaxTile);
}

// Returns the number of columns at whose multiples tiles of a format can end.
Status find_tile_unit(const Format &format, int32_t &out_columns) {
  const int32_t block = has_blocks_along_k(format) ? format.block_columns : 1;
  out_columns = std::max(static_cast<int32_t>(kPanelSteps), block);
  if (block <= kMaxTile) return {};
  return unsupported("storage is BLOCK_SPARSE and weights %s: expected blocks of scales of at most %d columns",
                     format_name(format.id).c_str(), kMaxTile);
}

// Rejects formats whose code 0 is not zero: tiles of zeros are not stored.
Status check_zeros(const Format &format) {
  if (sparse_format(format.id) != LPT_FORMAT_NONE) return {};
  return unsupported(
      "storage is BLOCK_SPARSE and weights %s: expected a format whose code 0 is zero, without zero points",
      format_name(format.id).c_str());
}

// Replaces codes of negative zero by code 0, so that they are not stored. Does nothing if code 0 is not zero.
void clear_negative_zeros(PanelKind kind, const Element &element, uint8_t *codes, int64_t bytes) {
  if (decode(element, 0) != 0.0f) return;
  if (kind == PanelKind::kNibbles || kind == PanelKind::kBytePairs || kind == PanelKind::kByteQuads) {
    uint8_t kept[256];
    const auto whole = [&](uint32_t code) { return decode(element, code) == 0.0f ? 0 : code; };
    for (uint32_t i = 0; i < 256; ++i) {
      const bool is_pair = kind == PanelKind::kNibbles;
      const uint32_t most = (1u << element.bits) - 1;
      kept[i] = static_cast<uint8_t>(is_pair ? whole(i & 15 & most) | whole(i >> 4 & most) << 4 : whole(i & most));
    }
    for (int64_t i = 0; i < bytes; ++i) codes[i] = kept[codes[i]];
    return;
  }
  const uint32_t sign = 1u << (element.bits - 1);
  if (decode(element, sign) != 0.0f) return;
  for (int64_t i = 0; i + 1 < bytes; i += 2) {
    uint16_t half;
    std::memcpy(&half, codes + i, sizeof half);
    if (half == sign) codes[i] = codes[i + 1] = 0;
  }
}

void drop_signs_f32(uint8_t *codes, int64_t bytes) {
  for (int64_t i = 0; i + 3 < bytes; i += 4) {
    uint32_t word;
    std::memcpy(&word, codes + i, sizeof word);
    if (word == 0x80000000u) codes[i + 3] = 0;
  }
}

void clear_negative_zeros(Context &context, const MatrixView &panels, int64_t count) {
  const PanelKind kind = panel_kind(panels.format.element);
  const int64_t bytes = panel_size(panels.format, panels.columns).payload;
  parallel_parts(context, count, bytes, [&](int64_t begin, int64_t length) {
    auto *const codes = static_cast<uint8_t *>(panels.data) + begin * bytes;
    if (kind == PanelKind::kWords) {
      drop_signs_f32(codes, length * bytes);
    } else {
      clear_negative_zeros(kind, element_of(panels.format.element), codes, length * bytes);
    }
  });
}

bool has_only_zeros(const std::byte *memory, int64_t bytes) {
  return *memory == std::byte{0} && std::memcmp(memory, memory + 1, static_cast<size_t>(bytes - 1)) == 0;
}

// One matrix of sparse packed weights, and the panels that it is created from.
struct SparseBuild {
  MatrixView panels, sparse_packed;
  int64_t panel_bytes;

  const std::byte *panel(int64_t index) const {
    return static_cast<const std::byte *>(panels.data) + index * panel_bytes;
  }
  std::byte *line(int64_t index, int64_t unit_bytes) const {
    return static_cast<std::byte *>(sparse_packed.data) + sparse_packed.starts[index] * unit_bytes;
  }
};

void mark_tiles(const SparseBuild &making, int64_t line, uint8_t *bits) {
  const MatrixView &sparse_packed = making.sparse_packed;
  const int64_t height = sparse_packed.tile_rows / kPanelLanes, first = line * height;
  const int64_t count = std::min(height, panels_for(sparse_packed.rows) - first);
  for (int64_t tile = 0; tile * sparse_packed.tile_columns < sparse_packed.columns; ++tile) {
    const TileSpan span = span_of(sparse_packed.format, sparse_packed.columns, sparse_packed.tile_columns, tile);
    for (int64_t p = 0; p < count; ++p) {
      if (has_only_zeros(making.panel(first + p) + span.begin, span.bytes)) continue;
      set_bit(bits, tile);
      break;
    }
  }
}

void store_tiles(const SparseBuild &making, int64_t line, int64_t unit_bytes) {
  const MatrixView &sparse_packed = making.sparse_packed;
  const int64_t height = sparse_packed.tile_rows / kPanelLanes, first = line * height;
  const int64_t count = std::min(height, panels_for(sparse_packed.rows) - first);
  const int64_t kept = sparse_packed.starts[line + 1] - sparse_packed.starts[line];
  const uint8_t *bits = sparse_packed.indices + line * sparse_packed.index_stride;
  std::byte *const to = making.line(line, unit_bytes);
  int64_t place = 0;
  for (int64_t tile = 0; tile * sparse_packed.tile_columns < sparse_packed.columns; ++tile) {
    if (!has_bit(bits, tile)) continue;
    const TileSpan span = span_of(sparse_packed.format, sparse_packed.columns, sparse_packed.tile_columns, tile);
    for (int64_t p = 0; p < count; ++p) {
      std::memcpy(to + (p * kept + place) * span.whole, making.panel(first + p) + span.begin,
                  static_cast<size_t>(span.bytes));
    }
    ++place;
  }
}

// The kernels that create bitmask storage.
struct BitmaskKernels {
  const KernelEntry<MarkRequest> *mark;
  const KernelEntry<CompactRequest> *compaction;
};

Status choose_bitmask_rows(Context &context, BitmaskKernels &out_rows) {
  LPT_TRY(select_kernel(context, "mark", mark_kernels(), MarkRequest{}, {}, &out_rows.mark));
  return select_kernel(context, "compact", compact_kernels(), CompactRequest{}, {}, &out_rows.compaction);
}

// Computes the bits of all lines of one matrix.
void mark_lines(Context &context, const BitmaskKernels &rows, const SparseBuild &making, int64_t lines) {
  const MatrixView &sparse_packed = making.sparse_packed;
  const int64_t count = memory_lines(sparse_packed);
  parallel_parts(context, lines, making.panel_bytes, [&](int64_t begin, int64_t length) {
    for (int64_t line = begin; line < begin + length; ++line) {
      uint8_t *const bits = sparse_packed.indices + line * sparse_packed.index_stride;
      if (sparse_packed.layout == Layout::kBlockSparse) {
        mark_tiles(making, line, bits);
      } else {
        int64_t kept = 0;
        rows.mark->run({reinterpret_cast<const uint8_t *>(making.panel(line)), count,
                        unit_bytes_of(sparse_packed.format), bits, &kept});
      }
    }
  });
}

void store_lines(Context &context, const BitmaskKernels &rows, const SparseBuild &making, int64_t lines,
                 int64_t unit_bytes) {
  const MatrixView &sparse_packed = making.sparse_packed;
  const int64_t count = memory_lines(sparse_packed);
  parallel_parts(context, lines, making.panel_bytes, [&](int64_t begin, int64_t length) {
    for (int64_t line = begin; line < begin + length; ++line) {
      if (sparse_packed.layout == Layout::kBlockSparse) {
        store_tiles(making, line, unit_bytes);
      } else {
        rows.compaction->run({reinterpret_cast<const uint8_t *>(making.panel(line)), count,
                              unit_bytes_of(sparse_packed.format),
                              sparse_packed.indices + line * sparse_packed.index_stride,
                              reinterpret_cast<uint8_t *>(making.line(line, unit_bytes))});
      }
    }
  });
}

void copy_scales(const Tensor &panels, const Tensor &sparse_packed) {
  const int64_t experts = panels.rank == 3 ? panels.extents[0] : 1;
  const PanelSize size = panel_size(panels.format, panels.extents[panels.rank - 1]);
  const auto count = static_cast<size_t>(experts * panels_for(panels.extents[panels.rank - 2]));
  if (sparse_packed.block_scales != nullptr) {
    std::memcpy(sparse_packed.block_scales, panels.block_scales, count * static_cast<size_t>(size.scales));
  }
  if (sparse_packed.zero_points != nullptr) {
    std::memcpy(sparse_packed.zero_points, panels.zero_points, count * static_cast<size_t>(size.zero_points));
  }
  if (sparse_packed.tensor_scale != nullptr) *sparse_packed.tensor_scale = *panels.tensor_scale;
}

}  // namespace

Status check_packing(const Format &format, const lpt_weights_options &options, SparsePacking &out_packing) {
  LPT_TRY(check_choice("storage", options.storage, LPT_WEIGHTS_STORAGE_BLOCK_SPARSE));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  const bool has_tiles = options.storage == LPT_WEIGHTS_STORAGE_BLOCK_SPARSE;
  if (!has_tiles && (options.tile_rows != 0 || options.tile_columns != 0)) {
    return invalid("tile_rows is %d and tile_columns %d: expected 0 where storage is not BLOCK_SPARSE",
                   options.tile_rows, options.tile_columns);
  }
  out_packing.layout = has_tiles                                        ? Layout::kBlockSparse
                       : options.storage == LPT_WEIGHTS_STORAGE_BITMASK ? Layout::kBitmask
                                                                        : Layout::kPanels;
  if (!has_tiles) return {};
  LPT_TRY(check_zeros(format));
  int32_t unit = 0;
  LPT_TRY(find_tile_unit(format, unit));
  LPT_TRY(check_tile_side("tile_rows", options.tile_rows, kPanelLanes, out_packing.tile_rows));
  return check_tile_side("tile_columns", options.tile_columns, unit, out_packing.tile_columns);
}

Status pack_sparse(Context &context, const Tensor &panels, const SparsePacking &packing,
                   std::unique_ptr<Tensor> &out_sparse) {
  BitmaskKernels rows{};
  LPT_TRY(choose_bitmask_rows(context, rows));
  // The bits are computed first: their count is the number of stored units.
  std::unique_ptr<Tensor> marked;
  LPT_TRY(create_sparse(context, panels.format, panels.rank, panels.extents, packing, 0, marked));
  const int64_t lines = sparse_lines(*marked), experts = filled_experts(panels), all = experts * lines;
  const int64_t bytes = panel_size(panels.format, panels.extents[panels.rank - 1]).payload;
  for (int64_t e = 0; e < experts; ++e) {
    clear_negative_zeros(context, panels_of(panels, e), panels_for(panels.extents[panels.rank - 2]));
  }
  for (int64_t e = 0; e < experts; ++e)
    mark_lines(context, rows, {panels_of(panels, e), panels_of(*marked, e), bytes}, lines);
  count_starts(*marked, 0, all);
  LPT_TRY(create_sparse(context, panels.format, panels.rank, panels.extents, packing, marked->starts[all], out_sparse));
  Tensor &sparse_packed = *out_sparse;
  std::memcpy(sparse_packed.sparse_indices, marked->sparse_indices,
              static_cast<size_t>(all * sparse_packed.sparse_index_stride));
  count_starts(sparse_packed, 0, all);
  for (int64_t e = 0; e < experts; ++e) {
    const MatrixView view = panels_of(sparse_packed, e);
    store_lines(context, rows, {panels_of(panels, e), view, bytes}, lines, sparse_line(view).unit_bytes);
  }
  copy_scales(panels, sparse_packed);
  return {};
}

}  // namespace lpt
