#include "src/weights/foreign_layout.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "src/tensor/checks.hpp"
#include "src/tensor/sparse_matrix.hpp"
#include "src/weights/ggml.hpp"
#include "src/weights/sparse_layout.hpp"

namespace lpt {
namespace {

// A tensor, and the foreign layout that it is converted to or from.
struct Plan {
  lpt_foreign_layout foreign_layout = 0;
  MatrixView view;
  size_t bytes = 0;
  GgmlType type{};  // for both foreign layouts of ggml
};

// The element at which a loop over rows ended early.
struct ElementIndex {
  int64_t row = -1, column = -1;
};

// Runs body(row) for every row. Threads get multiples of `unit` rows. body returns -1, or a column to end the part of its
// thread. Returns the first element at which a part ended.
template <typename Body>
ElementIndex for_rows(Context &context, int64_t rows, int64_t unit, int64_t work_per_row, const Body &body) {
  const Parts parts = split(context, (rows + unit - 1) / unit, unit * work_per_row);
  std::vector<ElementIndex> ends(static_cast<size_t>(parts.count));
  parallel_for(context, parts.count, [&](int64_t part) {
    const int64_t end = std::min((part + 1) * parts.length * unit, rows);
    for (int64_t row = part * parts.length * unit; row < end; ++row) {
      const int64_t column = body(row);
      if (column < 0) continue;
      ends[static_cast<size_t>(part)] = {row, column};
      return;
    }
  });
  for (const ElementIndex &place : ends) {
    if (place.row >= 0) return place;
  }
  return {};
}

// Layouts of ggml.

bool is_ggml(lpt_foreign_layout foreign_layout) {
  return foreign_layout == LPT_FOREIGN_LAYOUT_GGML || foreign_layout == LPT_FOREIGN_LAYOUT_GGML_Q4_1;
}

bool find_type(lpt_foreign_layout foreign_layout, const Format &format, GgmlType &out_type) {
  if (foreign_layout == LPT_FOREIGN_LAYOUT_GGML_Q4_1) {
    out_type = GgmlType::kQ4_1;
    return format.id == LPT_FORMAT_UINT4_1X32 || is_wide_float(format.id);
  }
  if (format.id == LPT_FORMAT_INT8_1X32) out_type = GgmlType::kQ8_0;
  if (format.id == LPT_FORMAT_INT4_1X32) out_type = GgmlType::kQ4_0;
  if (format.id == LPT_FORMAT_MXFP4) out_type = GgmlType::kMxfp4;
  return format.id == LPT_FORMAT_INT8_1X32 || format.id == LPT_FORMAT_INT4_1X32 || format.id == LPT_FORMAT_MXFP4;
}

Status plan_ggml(Plan &plan) {
  const MatrixView &view = plan.view;
  if (!find_type(plan.foreign_layout, view.format, plan.type)) {
    return unsupported("tensor is %s: expected %s", format_name(view.format.id).c_str(),
                       plan.foreign_layout == LPT_FOREIGN_LAYOUT_GGML_Q4_1
                           ? "uint4_1x32, or f32, f64, bf16 or f16 to import"
                           : "int8_1x32, int4_1x32 or mxfp4");
  }
  if (view.columns % kGgmlBlock != 0) {
    return invalid("tensor has %lld columns: expected a multiple of %lld, the blocks of ggml",
                   static_cast<long long>(view.columns), static_cast<long long>(kGgmlBlock));
  }
  plan.bytes = static_cast<size_t>(view.rows * (view.columns / kGgmlBlock) * ggml_block_bytes(plan.type));
  return {};
}

// Runs body(row, block, index) for every block of a matrix, where `index` counts the blocks in row order. body returns false
// to end the part of its thread. Returns the first block that ended a part, or -1.
template <typename Body>
int64_t for_blocks(Context &context, const MatrixView &view, const Body &body) {
  const int64_t blocks = view.columns / kGgmlBlock;
  const ElementIndex end = for_rows(context, view.rows, 1, view.columns, [&](int64_t row) -> int64_t {
    for (int64_t block = 0; block < blocks; ++block) {
      if (!body(row, block, row * blocks + block)) return block;
    }
    return -1;
  });
  return end.row < 0 ? -1 : end.row * blocks + end.column;
}

Status bad_block(const char *name, const MatrixView &view, int64_t place, const std::string &reason) {
  const int64_t blocks = view.columns / kGgmlBlock;
  const int64_t column = place % blocks * kGgmlBlock;
  return invalid("%s has in row %lld, columns %lld to %lld, %s", name, static_cast<long long>(place / blocks),
                 static_cast<long long>(column), static_cast<long long>(column + kGgmlBlock - 1), reason.c_str());
}

Status export_ggml(Context &context, const Plan &plan, uint8_t *buffer) {
  const MatrixView &view = plan.view;
  if (view.format.is_plain()) {
    return unsupported("tensor is %s: Q4_1 is read into it only, expected uint4_1x32",
                       format_name(view.format.id).c_str());
  }
  const int64_t bad = for_blocks(context, view, [&](int64_t row, int64_t block, int64_t) {
    return unwritable_block(plan.type, view, row, block).empty();
  });
  if (bad >= 0) {
    const int64_t blocks = view.columns / kGgmlBlock;
    return bad_block("tensor", view, bad, unwritable_block(plan.type, view, bad / blocks, bad % blocks));
  }
  for_blocks(context, view, [&](int64_t row, int64_t block, int64_t place) {
    write_ggml_block(plan.type, view, row, block, buffer + place * ggml_block_bytes(plan.type));
    return true;
  });
  return {};
}

Status import_ggml(Context &context, const Plan &plan, const uint8_t *buffer) {
  const MatrixView &view = plan.view;
  const auto source = [&](int64_t place) { return buffer + place * ggml_block_bytes(plan.type); };
  const int64_t bad = for_blocks(context, view, [&](int64_t, int64_t, int64_t place) {
    return unreadable_block(plan.type, source(place), view.format).empty();
  });
  if (bad >= 0) return bad_block("buffer", view, bad, unreadable_block(plan.type, source(bad), view.format));
  for_blocks(context, view, [&](int64_t row, int64_t block, int64_t place) {
    read_ggml_block(plan.type, source(place), view, row, block);
    return true;
  });
  return {};
}

// Layout of bitsandbytes.

Status plan_bitsandbytes(Plan &plan) {
  const MatrixView &view = plan.view;
  if (element_bits(view.format.element) != 4) {
    return unsupported("tensor is %s: expected an element of 4 bits", format_name(view.format.id).c_str());
  }
  plan.bytes = static_cast<size_t>((view.rows * view.columns + 1) / 2);
  return {};
}

uint8_t *row_at(const MatrixView &view, int64_t row) {
  return static_cast<uint8_t *>(view.data) + row_bytes(view.format.element, row * view.row_stride);
}

// Parts are multiples of two rows, which have an even number of elements. So no two threads write the same byte of the
// buffer.
void export_bitsandbytes(Context &context, const MatrixView &view, uint8_t *buffer) {
  const Parts parts = split(context, (view.rows + 1) / 2, 2 * view.columns);
  parallel_for(context, parts.count, [&](int64_t part) {
    const int64_t end = std::min((part + 1) * parts.length * 2, view.rows);
    for (int64_t row = part * parts.length * 2; row < end; ++row) {
      const uint8_t *source = row_at(view, row);
      for (int64_t column = 0; column < view.columns; ++column) {
        const int64_t place = row * view.columns + column;
        const uint32_t code = source[column / 2] >> (column % 2 * 4) & 15;
        buffer[place / 2] = static_cast<uint8_t>(place % 2 == 0 ? code << 4 : buffer[place / 2] | code);
      }
    }
  });
}

void import_bitsandbytes(Context &context, const uint8_t *buffer, const MatrixView &view) {
  const auto code_at = [buffer](int64_t place) { return buffer[place / 2] >> ((place + 1) % 2 * 4) & 15; };
  const Parts parts = split(context, view.rows, view.columns);
  parallel_for(context, parts.count, [&](int64_t part) {
    const int64_t end = std::min((part + 1) * parts.length, view.rows);
    for (int64_t row = part * parts.length; row < end; ++row) {
      uint8_t *target = row_at(view, row);
      for (int64_t column = 0; column < view.columns; column += 2) {
        const int64_t place = row * view.columns + column;
        const int high = column + 1 < view.columns ? code_at(place + 1) : 0;
        target[column / 2] = static_cast<uint8_t>(code_at(place) | high << 4);
      }
    }
  });
}

// Scale tiles of cuBLAS.

constexpr int64_t kTileRows = 128;
constexpr int64_t kTileColumns = 4;

int64_t tiles_of(int64_t extent, int64_t tile) { return extent / tile + (extent % tile != 0); }

// The block scales in the order of the tiles, which repeat a scale in every row of its block.
struct TiledScales {
  explicit TiledScales(const MatrixView &view)
      : scales(scales_of(view)),
        block_rows(block_grid(view.format, view.rows, view.columns).block_rows),
        rows(view.rows),
        columns(scales.columns),
        across(tiles_of(columns, kTileColumns)) {}

  uint8_t *line(int64_t row) const { return row_at(scales, row / block_rows); }
  int64_t first_row(int64_t row) const { return row - row % block_rows; }  // of its block
  int64_t place(int64_t row) const {                                       // of its first scale
    return row / kTileRows * across * kTileRows * kTileColumns + row % 32 * 16 + row % kTileRows / 32 * 4;
  }

  MatrixView scales;
  int64_t block_rows, rows, columns, across;
};

// Returns the offset of a scale from the first scale of its row.
int64_t place_in_row(int64_t column) {
  return column / kTileColumns * kTileRows * kTileColumns + column % kTileColumns;
}

Status plan_cublas(Plan &plan) {
  const Format &format = plan.view.format;
  if (!format.has_block_scale() || element_bits(format.block_scale) != 8) {
    return unsupported("tensor is %s: expected block scales of one byte", format_name(format.id).c_str());
  }
  const TiledScales tiled(plan.view);
  // The arithmetic is unsigned because the padding of a huge tensor without data can exceed int64_t.
  plan.bytes = static_cast<size_t>(tiles_of(tiled.rows, kTileRows)) * static_cast<size_t>(tiled.across) *
               static_cast<size_t>(kTileRows * kTileColumns);
  return {};
}

// One thread processes all tiles of the same rows.
template <typename Body>
ElementIndex for_tiled_rows(Context &context, const TiledScales &tiled, const Body &body) {
  return for_rows(context, tiled.rows, kTileRows, tiled.columns, body);
}

void export_cublas(Context &context, const Plan &plan, uint8_t *buffer) {
  const TiledScales tiled(plan.view);
  std::memset(buffer, 0, plan.bytes);
  for_tiled_rows(context, tiled, [&](int64_t row) -> int64_t {
    const uint8_t *const line = tiled.line(row);
    uint8_t *const tiles = buffer + tiled.place(row);
    const int64_t columns = tiled.columns;  // local copy: byte stores may alias the member
    for (int64_t c = 0; c < columns; ++c) tiles[place_in_row(c)] = line[c];
    return -1;
  });
}

Status bad_scale(const Plan &plan, const TiledScales &tiled, const uint8_t *buffer, const ElementIndex &bad) {
  const BlockGrid grid = block_grid(plan.view.format, plan.view.rows, plan.view.columns);
  const int64_t first_row = tiled.first_row(bad.row);
  const int64_t begin = bad.column * grid.block_columns;
  const int64_t end = std::min(begin + grid.block_columns, plan.view.columns);
  const auto scale = [&](int64_t row) {
    return static_cast<unsigned>(buffer[tiled.place(row) + place_in_row(bad.column)]);
  };
  return invalid(
      "buffer has in row %lld, columns %lld to %lld, the scale 0x%02X, but 0x%02X in row %lld: expected one for a "
      "block of %lld x %lld",
      static_cast<long long>(bad.row), static_cast<long long>(begin), static_cast<long long>(end - 1), scale(bad.row),
      scale(first_row), static_cast<long long>(first_row), static_cast<long long>(grid.block_rows),
      static_cast<long long>(grid.block_columns));
}

Status import_cublas(Context &context, const Plan &plan, const uint8_t *buffer) {
  const TiledScales tiled(plan.view);
  const ElementIndex bad = for_tiled_rows(context, tiled, [&](int64_t row) -> int64_t {
    const int64_t first_row = tiled.first_row(row);
    if (row == first_row) return -1;
    for (int64_t c = 0; c < tiled.columns; ++c) {
      if (buffer[tiled.place(row) + place_in_row(c)] != buffer[tiled.place(first_row) + place_in_row(c)]) return c;
    }
    return -1;
  });
  if (bad.row >= 0) return bad_scale(plan, tiled, buffer, bad);
  // A block may span rows of several threads. The thread with its first row writes the scale.
  for_tiled_rows(context, tiled, [&](int64_t row) -> int64_t {
    if (row != tiled.first_row(row)) return -1;
    uint8_t *const line = tiled.line(row);
    const uint8_t *const tiles = buffer + tiled.place(row);
    const int64_t columns = tiled.columns;
    for (int64_t c = 0; c < columns; ++c) line[c] = tiles[place_in_row(c)];
    return -1;
  });
  return {};
}

// All layouts.

Status make_plan(const Tensor *tensor, lpt_foreign_layout foreign_layout, bool needs_data, Plan &plan) {
  plan.foreign_layout = foreign_layout;
  if (is_sparse_layout(foreign_layout)) {
    LPT_TRY(check_sparse_matrix(tensor, "tensor", needs_data, plan.view));
    return plan_sparse_layout(plan.view, foreign_layout, plan.bytes);
  }
  LPT_TRY(check_matrix(tensor, "tensor", needs_data, plan.view));
  switch (foreign_layout) {
    case LPT_FOREIGN_LAYOUT_GGML:
    case LPT_FOREIGN_LAYOUT_GGML_Q4_1:
      return plan_ggml(plan);
    case LPT_FOREIGN_LAYOUT_BITSANDBYTES:
      return plan_bitsandbytes(plan);
    case LPT_FOREIGN_LAYOUT_CUBLAS_SCALES:
      return plan_cublas(plan);
    default:
      return invalid("layout is %d: expected one of lpt_foreign_layout_values", foreign_layout);
  }
}

Status check_buffer(const Plan &plan, const void *buffer, size_t buffer_bytes) {
  if (buffer_bytes < plan.bytes) {
    return invalid("buffer_bytes is %zu: expected at least %zu", buffer_bytes, plan.bytes);
  }
  if (plan.bytes == 0) return {};
  if (buffer == nullptr) return invalid("buffer is NULL: expected %zu bytes", plan.bytes);
  const MatrixView bytes = vector_view(LPT_FORMAT_UINT8, buffer, static_cast<int64_t>(plan.bytes));
  if (plan.view.format.is_sparse) {
    LPT_TRY(check_no_stored_overlap(plan.view, "tensor", bytes, "buffer"));
  } else {
    LPT_TRY(check_no_overlap(bytes, "buffer", plan.view, "tensor"));
  }
  if (plan.view.tensor_scale != nullptr) {
    const MatrixView scale = vector_view(LPT_FORMAT_F32, plan.view.tensor_scale, 1);
    LPT_TRY(check_no_overlap(bytes, "buffer", scale, "tensor's tensor scale"));
  }
  if (!plan.view.format.has_block_scale()) return {};
  MatrixView beside = scales_of(plan.view);
  LPT_TRY(check_no_overlap(bytes, "buffer", beside, "tensor's block scales"));
  if (!plan.view.format.has_zero_point()) return {};
  find_format(plan.view.format.zero_point, beside.format);
  beside.data = plan.view.zero_points;
  return check_no_overlap(bytes, "buffer", beside, "tensor's zero points");
}

}  // namespace

Status foreign_layout_size(const Tensor *tensor, lpt_foreign_layout foreign_layout, size_t &out_size_bytes) {
  Plan plan;
  LPT_TRY(make_plan(tensor, foreign_layout, false, plan));
  out_size_bytes = plan.bytes;
  return {};
}

Status export_foreign_layout(Context &context, const Tensor *tensor, lpt_foreign_layout foreign_layout, void *buffer,
                             size_t buffer_bytes) {
  Plan plan;
  LPT_TRY(make_plan(tensor, foreign_layout, true, plan));
  LPT_TRY(check_buffer(plan, buffer, buffer_bytes));
  auto *bytes = static_cast<uint8_t *>(buffer);
  const ProfileScope measure(context, "foreign_layout_export", "foreign_layout", 2 * static_cast<double>(plan.bytes));
  if (is_sparse_layout(foreign_layout)) return export_sparse_layout(context, plan.view, foreign_layout, bytes);
  if (is_ggml(foreign_layout)) return export_ggml(context, plan, bytes);
  if (plan.bytes == 0) return {};  // an empty tensor may have no rows in memory
  if (foreign_layout == LPT_FOREIGN_LAYOUT_BITSANDBYTES) {
    export_bitsandbytes(context, plan.view, bytes);
  } else {
    export_cublas(context, plan, bytes);
  }
  return {};
}

Status import_foreign_layout(Context &context, const void *buffer, size_t buffer_bytes,
                             lpt_foreign_layout foreign_layout, Tensor *tensor) {
  Plan plan;
  LPT_TRY(make_plan(tensor, foreign_layout, true, plan));
  LPT_TRY(check_buffer(plan, buffer, buffer_bytes));
  const auto *bytes = static_cast<const uint8_t *>(buffer);
  const ProfileScope measure(context, "foreign_layout_import", "foreign_layout", 2 * static_cast<double>(plan.bytes));
  if (is_sparse_layout(foreign_layout)) return import_sparse_layout(context, bytes, foreign_layout, plan.view);
  if (is_ggml(foreign_layout)) return import_ggml(context, plan, bytes);
  if (plan.bytes == 0) return {};
  if (foreign_layout == LPT_FOREIGN_LAYOUT_CUBLAS_SCALES) return import_cublas(context, plan, bytes);
  import_bitsandbytes(context, bytes, plan.view);
  return {};
}

}  // namespace lpt
