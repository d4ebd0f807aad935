#include "src/gemm/block_sparse.hpp"

#include <cstring>

#include "kernels/gemm/panels.hpp"
#include "src/tensor/panels.hpp"
#include "src/tensor/sparse_panels.hpp"

namespace lpt {
namespace {

constexpr int64_t kGatheredBytes = 512 << 10;  // of gathered rows of a: they and their packed copy fit in the L2 cache

// Adjacent stored tiles of one line.
struct Run {
  int64_t first, count;  // in tiles
};

struct TileRow {
  int64_t tiles;  // number of stored tiles
  std::vector<Run> runs;
  const KernelEntry<GemmRequest> *kernel;  // NULL if the line has no stored tiles
};

// The partition of a GEMM: rows of a in chunks, and scratch of a thread.
struct Work {
  std::vector<TileRow> tile_rows;
  int64_t chunk, chunks;
  int64_t threads;
  size_t a_bytes, b_bytes, scratch_bytes;

  int64_t count() const { return static_cast<int64_t>(tile_rows.size()) * chunks; }
  WorkQueue queue() const { return {count(), threads, a_bytes + b_bytes + scratch_bytes}; }
};

std::vector<Run> runs_of(const MatrixView &tiles, int64_t tile_row) {
  const uint8_t *const bits = tiles.indices + tile_row * tiles.index_stride;
  std::vector<Run> runs;
  for (int64_t tile = 0; tile * tiles.tile_columns < tiles.columns; ++tile) {
    if (!has_bit(bits, tile)) continue;
    const bool is_next = !runs.empty() && runs.back().first + runs.back().count == tile;
    if (is_next) {
      ++runs.back().count;
    } else {
      runs.push_back({tile, 1});
    }
  }
  return runs;
}

// Returns the shape of the gathered columns of a, at `memory`. If `memory` is NULL, the view has no data.
MatrixView gathered_a(const MatrixView &a, int64_t rows, int64_t columns, std::byte *memory, size_t &out_bytes) {
  MatrixView gathered = a;
  gathered.rows = rows;
  gathered.columns = columns;
  gathered.row_stride = dense_row_stride(a.format.element, columns);
  gathered.data = memory;
  out_bytes = aligned(static_cast<size_t>(rows * row_bytes(a.format.element, gathered.row_stride)));
  if (!has_blocks_along_k(a.format)) return gathered;
  const int64_t scale_bytes = element_bits(a.format.block_scale) / 8;
  gathered.block_scale_stride = (columns + a.format.block_columns - 1) / a.format.block_columns;
  gathered.block_scales = memory == nullptr ? nullptr : memory + out_bytes;
  const int64_t block_rows = (rows + a.format.block_rows - 1) / a.format.block_rows;
  out_bytes += aligned(static_cast<size_t>(block_rows * gathered.block_scale_stride * scale_bytes));
  return gathered;
}

size_t gathered_scale_bytes(const MatrixView &tiles, int64_t count) {
  if (!has_blocks_along_k(tiles.format)) return 0;
  const int64_t panels = tiles.tile_rows / kPanelLanes;
  return aligned(static_cast<size_t>(panels * panel_size(tiles.format, count * tiles.tile_columns).scales));
}

// Copies the segments of a row that the runs select: `unit` bytes for each tile of a row of `whole` bytes. The missing bytes
// of an incomplete last tile are zero.
void gather_row(const std::vector<Run> &runs, const std::byte *from, int64_t whole, int64_t unit, std::byte *to) {
  for (const Run &run : runs) {
    const int64_t begin = run.first * unit, bytes = run.count * unit;
    const int64_t there = std::min(bytes, whole - begin);
    std::memcpy(to, from + begin, static_cast<size_t>(there));
    std::memset(to + there, 0, static_cast<size_t>(bytes - there));
    to += bytes;
  }
}

void gather_a(const MatrixView &a, const TileRow &tile_row, int64_t tile_columns, const MatrixView &gathered) {
  const lpt_format element = a.format.element;
  const int64_t from = row_bytes(element, a.row_stride), to = row_bytes(element, gathered.row_stride);
  const int64_t whole = row_bytes(element, a.columns), unit = row_bytes(element, tile_columns);
  for (int64_t r = 0; r < gathered.rows; ++r) {
    gather_row(tile_row.runs, static_cast<const std::byte *>(a.data) + r * from, whole, unit,
               static_cast<std::byte *>(gathered.data) + r * to);
  }
  if (!has_blocks_along_k(a.format)) return;
  const int64_t bytes = element_bits(a.format.block_scale) / 8;
  const int64_t blocks = (a.columns + a.format.block_columns - 1) / a.format.block_columns;
  const int64_t block_rows = (gathered.rows + a.format.block_rows - 1) / a.format.block_rows;
  for (int64_t r = 0; r < block_rows; ++r) {
    gather_row(tile_row.runs, static_cast<const std::byte *>(a.block_scales) + r * a.block_scale_stride * bytes,
               blocks * bytes, tile_columns / a.format.block_columns * bytes,
               static_cast<std::byte *>(gathered.block_scales) + r * gathered.block_scale_stride * bytes);
  }
}

// The rows of b that belong to a line.
int64_t first_lane(const MatrixView &tiles, int64_t tile_row) { return tile_row * tiles.tile_rows; }
int64_t lanes_of(const MatrixView &tiles, int64_t tile_row) {
  return std::min<int64_t>(tiles.tile_rows, tiles.rows - first_lane(tiles, tile_row));
}

// Returns a line as panels of its stored columns. Scales along k are at `memory`.
MatrixView line_panels(const MatrixView &tiles, int64_t tile_row, int64_t kept, std::byte *memory) {
  const SparseLine shape = sparse_line(tiles);
  MatrixView panels = panels_shape(cut_packed_rows(tiles, first_lane(tiles, tile_row), lanes_of(tiles, tile_row)));
  panels.columns = kept * tiles.tile_columns;
  panels.row_stride = panels.columns;
  panels.data = static_cast<std::byte *>(tiles.data) + tiles.starts[tile_row] * shape.unit_bytes;
  if (!has_blocks_along_k(tiles.format)) return panels;
  panels.block_scale_stride = panel_blocks(tiles.format, panels.columns);
  panels.block_scales = memory;
  return panels;
}

// Gathers the scales of a line. The scales of a panel are stored block by block, with adjacent lanes next to each other.
// Missing blocks of an incomplete last tile have the scale 0.
void gather_scales(const MatrixView &tiles, int64_t index, const TileRow &tile_row, const MatrixView &panels) {
  if (!has_blocks_along_k(tiles.format)) return;
  const int64_t bytes = kPanelLanes * (element_bits(tiles.format.block_scale) / 8);
  const int64_t blocks = panel_blocks(tiles.format, tiles.columns);
  const int64_t unit = tiles.tile_columns / tiles.format.block_columns * bytes;
  const MatrixView whole = cut_packed_rows(tiles, first_lane(tiles, index), lanes_of(tiles, index));
  for (int64_t p = 0; p < panels_for(panels.rows); ++p) {
    gather_row(tile_row.runs, static_cast<const std::byte *>(whole.block_scales) + p * blocks * bytes, blocks * bytes,
               unit, static_cast<std::byte *>(panels.block_scales) + p * tile_row.tiles * unit);
  }
}

// Returns the request for one line and some rows of a. The operands may have no data.
GemmRequest line_request(const GemmRequest &whole, int64_t index, int64_t row, const MatrixView &a,
                         const MatrixView &panels) {
  GemmRequest request = columns_of(whole, panels, first_lane(whole.b, index));
  request.a = a;
  request.c = cut_rows(request.c, row, a.rows);
  request.m = a.rows;
  request.k = panels.columns;
  return request;
}

// Returns the planned kernel if it supports the shape of a tile row; otherwise the first kernel that does.
const KernelEntry<GemmRequest> *find_tile_row_kernel(const Context &context, const KernelEntry<GemmRequest> *planned,
                                                     const GemmRequest &request) {
  if (planned != nullptr && rejection_of(*planned, request, context.machine).is_none()) return planned;
  return find_fast_kernel(gemm_kernels(), request, context.machine);
}

Status plan_work(Context &context, const KernelEntry<GemmRequest> *planned, const GemmRequest &whole, Work &work) {
  const MatrixView &b = whole.b;
  const int64_t line_bytes = std::max<int64_t>(row_bytes(whole.a.format.element, whole.k), 1);
  const int64_t chunk = std::max<int64_t>(kGatheredBytes / line_bytes / kGemmRowUnit, 1) * kGemmRowUnit;
  work.chunk = std::min(whole.m, chunk);
  work.chunks = (whole.m + work.chunk - 1) / work.chunk;
  double multiply_adds = 0;
  for (int64_t index = 0; first_lane(b, index) < b.rows; ++index) {
    TileRow tile_row{b.starts[index + 1] - b.starts[index], runs_of(b, index), nullptr};
    size_t a_bytes = 0;
    const MatrixView a = gathered_a(whole.a, work.chunk, tile_row.tiles * b.tile_columns, nullptr, a_bytes);
    const GemmRequest request = line_request(whole, index, 0, a, line_panels(b, index, tile_row.tiles, nullptr));
    if (tile_row.tiles > 0) {
      tile_row.kernel = find_tile_row_kernel(context, planned, request);
      if (tile_row.kernel == nullptr) {
        return no_kernel(context, "gemm", {whole.a.format.id, b.format.id, whole.c.format.id});
      }
      work.scratch_bytes = std::max(work.scratch_bytes, aligned(tile_row.kernel->scratch_bytes(request)));
    }
    work.a_bytes = std::max(work.a_bytes, a_bytes);
    work.b_bytes = std::max(work.b_bytes, gathered_scale_bytes(b, tile_row.tiles));
    multiply_adds += static_cast<double>(request.k) * static_cast<double>(request.n) * static_cast<double>(whole.m);
    work.tile_rows.push_back(std::move(tile_row));
  }
  work.threads = std::min(threads_worth(context, multiply_adds), work.count());
  return {};
}

// Computes c = beta · c + bias by the reference kernel with k = 0.
void run_empty(const GemmRequest &whole, int64_t index, int64_t row, int64_t rows) {
  const MatrixView a = dense_view(LPT_FORMAT_F32, nullptr, rows, 0);
  const MatrixView b = dense_view(LPT_FORMAT_F32, nullptr, lanes_of(whole.b, index), 0);
  const GemmRequest request = line_request(whole, index, row, a, b);
  gemm_kernels().back().run(request);
}

void run_item(const GemmRequest &whole, const Work &work, int64_t item, std::byte *memory) {
  const int64_t index = item / work.chunks, row = item % work.chunks * work.chunk;
  const int64_t rows = std::min(work.chunk, whole.m - row);
  const TileRow &tile_row = work.tile_rows[static_cast<size_t>(index)];
  if (tile_row.tiles == 0) return run_empty(whole, index, row, rows);
  const MatrixView &b = whole.b;
  size_t bytes = 0;
  const MatrixView a = gathered_a(cut_rows(whole.a, row, rows), rows, tile_row.tiles * b.tile_columns, memory, bytes);
  gather_a(cut_rows(whole.a, row, rows), tile_row, b.tile_columns, a);
  const MatrixView panels = line_panels(b, index, tile_row.tiles, memory + work.a_bytes);
  gather_scales(b, index, tile_row, panels);
  GemmRequest request = line_request(whole, index, row, a, panels);
  request.scratch = memory + work.a_bytes + work.b_bytes;
  tile_row.kernel->run(request);
}

bool has_block_edges(const Format &format, int64_t tile_columns) {
  if (tile_columns % packing_of(format.element).elements != 0) return false;
  if (!has_blocks_along_k(format)) return true;
  return format.block_rows != LPT_BLOCK_EXTENT_FULL && tile_columns % format.block_columns == 0 &&
         kGemmRowUnit % format.block_rows == 0;
}

}  // namespace

bool can_gather_columns(const GemmRequest &request) {
  return !request.is_portable && !request.is_a_transposed && request.a.layout == Layout::kRows &&
         request.a.column_stride == 1 && !request.a.format.has_zero_point() &&
         has_block_edges(request.a.format, request.b.tile_columns);
}

Status plan_gathered(Context &context, const KernelEntry<GemmRequest> *planned, const GemmRequest &whole,
                     WorkQueue &out_queue) {
  Work work{};
  LPT_TRY(plan_work(context, planned, whole, work));
  out_queue = work.queue();
  return {};
}

Status run_gathered(Context &context, const KernelEntry<GemmRequest> *planned, const GemmRequest &whole) {
  Work work{};
  LPT_TRY(plan_work(context, planned, whole, work));
  return run_dynamic(context, work.queue(), whole.m * whole.n,
                     [&](int64_t item, std::byte *mine) { run_item(whole, work, item, mine); });
}

}  // namespace lpt
