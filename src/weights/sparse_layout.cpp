// Both orders move segments of a row: four bytes of codes, or two bytes of indices for 16 columns. The offset of a segment is
// the sum of an offset for its row and an offset for its position in the row.
#include "src/weights/sparse_layout.hpp"

#include <cstring>

#include "src/call/operation.hpp"
#include "src/tensor/sparse_matrix.hpp"

namespace lpt {
namespace {

constexpr int64_t kCodeSegment = 4;
constexpr int64_t kIndexPiece = 2;
constexpr int kNoIndices = 0x44;  // indices of two empty groups, which store their first two columns

int64_t segments_of(int64_t extent, int64_t piece) { return (extent + piece - 1) / piece; }

bool is_wide(const MatrixView &sparse) { return element_bits(sparse.format.element) == 16; }

int64_t code_bytes_of_row(const MatrixView &sparse) {
  return row_bytes(sparse.format.element, stored_columns(sparse.format, sparse.columns));
}

// The order of mma.sp.

// Operands of m16n8k32 for 16-bit elements and of m16n8k64 for 8-bit elements: PTX ISA, "Matrix fragments for
// multiply-accumulate operation with sparse matrix A". Lane 4 · g + i of a warp holds four registers of four bytes of A: rows
// g and g + 8, then both rows 16 bytes further. i counts segments of four bytes. So an instruction reads 32 bytes of a row's
// codes for both element sizes.
//
// The metadata are two bytes for 16 columns. 16-bit elements: the low half of a register has row g, the high half row g + 8.
// Columns 0 and 16 are in lane 4 · g + 2 · s and the next one; s is the selector. 8-bit elements: the halves of a register
// have columns 0 and 16. Row g is in lane 4 · g, row g + 8 in the next lane; columns from 32 on are two lanes further. In
// both cases a block of 64 columns fills 32 lanes.
class MmaOrder {
 public:
  static constexpr int64_t kRows = 16;  // rows that share memory

  explicit MmaOrder(const MatrixView &sparse)
      : codes_across_(segments_of(sparse.columns, kColumns) * (is_wide(sparse) ? 2 : 1) * kCodes),
        indices_across_(segments_of(sparse.columns, kColumns) * kIndices),
        code_bytes_(segments_of(sparse.rows, kRows) * codes_across_),
        index_bytes_(segments_of(sparse.rows, kRows) * indices_across_),
        half_step_(is_wide(sparse) ? 2 : 4),
        odd_step_(is_wide(sparse) ? 4 : 2),
        is_filled_up_(sparse.rows % kRows != 0 || sparse.columns % kColumns != 0) {}

  int64_t code_bytes() const { return code_bytes_; }
  int64_t index_bytes() const { return index_bytes_; }
  bool is_filled_up() const { return is_filled_up_; }

  int64_t code_row(int64_t row) const { return row / kRows * codes_across_ + row % 8 * 64 + row % kRows / 8 * 4; }
  int64_t code_place(int64_t piece) const { return piece / 8 * kCodes + piece % 8 / 4 * 8 + piece % 4 * 16; }
  int64_t index_row(int64_t row) const {
    return row / kRows * indices_across_ + row % 8 * 16 + row % kRows / 8 * half_step_;
  }
  int64_t index_place(int64_t piece) const { return piece / 4 * kIndices + piece % 4 / 2 * 8 + piece % 2 * odd_step_; }

 private:
  static constexpr int64_t kColumns = 64;   // of a block
  static constexpr int64_t kCodes = 512;    // bytes of the operand A of an instruction
  static constexpr int64_t kIndices = 128;  // bytes of the metadata of a block

  int64_t codes_across_, indices_across_;  // bytes of 16 rows
  int64_t code_bytes_, index_bytes_;
  int64_t half_step_, odd_step_;
  bool is_filled_up_;
};

// The order of CUTLASS.

// The order of metadata of tools/util/include/cutlass/util/host_reorder.h of CUTLASS, in ColumnMajorInterleaved<2>. A unit is
// the indices of 16 columns (16-bit elements) or 32 columns (8-bit elements). In each group of 32 (16-bit) or 16 (8-bit)
// rows, rows that differ by 8 become adjacent. Then the upper right and the lower left unit of each 2 × 2 units are
// exchanged. Pairs of columns of units are interleaved. So one ldmatrix loads the metadata of mma.sp for each lane of a warp.
class CutlassOrder {
 public:
  static constexpr int64_t kRows = 32;

  explicit CutlassOrder(const MatrixView &sparse)
      : rows_(sparse.rows),
        code_bytes_of_row_(code_bytes_of_row(sparse)),
        columns_(sparse.columns),
        group_(row_group(sparse)),
        unit_(is_wide(sparse) ? 2 : 4),
        unit_shift_(is_wide(sparse) ? 0 : 1) {}

  // Returns the rows of a group. Rows are permuted within a group, so groups must be complete.
  static int64_t row_group(const MatrixView &sparse) { return is_wide(sparse) ? 32 : 16; }
  // Returns the columns of a tile. CUTLASS reads complete tiles. It reads 0 past the end, which is not a valid index, so it
  // rejects incomplete tiles.
  static int64_t depth(const MatrixView &sparse) { return is_wide(sparse) ? 64 : 128; }

  int64_t code_bytes() const { return rows_ * code_bytes_of_row_; }
  int64_t index_bytes() const { return rows_ * columns_ / 8; }
  bool is_filled_up() const { return false; }

  int64_t code_row(int64_t row) const { return row * code_bytes_of_row_; }
  int64_t code_place(int64_t piece) const { return piece * kCodeSegment; }
  int64_t index_row(int64_t row) const {
    const int64_t line = row / group_ * group_ + row % 8 * (group_ / 8) + row % group_ / 8;
    const int64_t lower = line % 2;  // row of the 2 × 2 units, and column after the exchange
    return ((line - lower) * 2 + lower) * unit_;
  }
  int64_t index_place(int64_t piece) const {
    const int64_t column = piece >> unit_shift_;
    const int64_t inside = piece - (column << unit_shift_);
    return (column / 2 * rows_ + column % 2) * 2 * unit_ + inside * kIndexPiece;
  }

 private:
  int64_t rows_, code_bytes_of_row_, columns_;
  int64_t group_, unit_, unit_shift_;
};

// Conversion.

// Runs move(segment, bytes) for the segments of a row. The last segment can be shorter.
template <int64_t kPiece, typename Move>
void for_pieces(int64_t bytes, const Move &move) {
  const int64_t whole = bytes / kPiece;
  for (int64_t piece = 0; piece < whole; ++piece) move(piece, static_cast<size_t>(kPiece));
  if (whole * kPiece < bytes) move(whole, static_cast<size_t>(bytes - whole * kPiece));
}

uint8_t *codes_at(const MatrixView &sparse, int64_t row) {
  return static_cast<uint8_t *>(sparse.data) + row_bytes(sparse.format.element, row * sparse.row_stride);
}

uint8_t *indices_at(const MatrixView &sparse, int64_t row) { return sparse.indices + row * sparse.index_stride; }

// Sets the high half of the last index byte if it has no group.
void clear_half_without_group(const MatrixView &sparse, uint8_t &last) {
  if (segments_of(sparse.columns, 4) % 2 != 0) last = static_cast<uint8_t>((last & 0x0F) | (kNoIndices & 0xF0));
}

template <typename Order>
void write_row(const Order &order, const MatrixView &sparse, int64_t row, uint8_t *buffer) {
  const uint8_t *const codes = codes_at(sparse, row);
  uint8_t *const code_line = buffer + order.code_row(row);
  for_pieces<kCodeSegment>(code_bytes_of_row(sparse), [&](int64_t piece, size_t bytes) {
    std::memcpy(code_line + order.code_place(piece), codes + piece * kCodeSegment, bytes);
  });
  const uint8_t *const indices = indices_at(sparse, row);
  uint8_t *const index_line = buffer + order.code_bytes() + order.index_row(row);
  const int64_t count = index_bytes(sparse.columns);
  for_pieces<kIndexPiece>(count, [&](int64_t piece, size_t bytes) {
    std::memcpy(index_line + order.index_place(piece), indices + piece * kIndexPiece, bytes);
  });
  const int64_t last = count - 1;
  clear_half_without_group(sparse, index_line[order.index_place(last / kIndexPiece) + last % kIndexPiece]);
}

template <typename Order>
void read_codes(const Order &order, const uint8_t *buffer, const MatrixView &sparse, int64_t row) {
  uint8_t *const codes = codes_at(sparse, row);
  const uint8_t *const line = buffer + order.code_row(row);
  for_pieces<kCodeSegment>(code_bytes_of_row(sparse), [&](int64_t piece, size_t bytes) {
    std::memcpy(codes + piece * kCodeSegment, line + order.code_place(piece), bytes);
  });
}

template <typename Order>
void read_indices(const Order &order, const uint8_t *buffer, const MatrixView &sparse, int64_t row) {
  uint8_t *const indices = indices_at(sparse, row);
  const uint8_t *const line = buffer + order.code_bytes() + order.index_row(row);
  const int64_t count = index_bytes(sparse.columns);
  for_pieces<kIndexPiece>(count, [&](int64_t piece, size_t bytes) {
    std::memcpy(indices + piece * kIndexPiece, line + order.index_place(piece), bytes);
  });
  clear_half_without_group(sparse, indices[count - 1]);
}

// Runs body(row) for every row. One thread processes all rows that share cache lines.
template <typename Order, typename Body>
void for_rows(Context &context, const MatrixView &sparse, const Body &body) {
  const int64_t units = segments_of(sparse.rows, Order::kRows);
  parallel_parts(context, units, Order::kRows * sparse.columns, [&](int64_t begin, int64_t count) {
    const int64_t end = std::min((begin + count) * Order::kRows, sparse.rows);
    for (int64_t row = begin * Order::kRows; row < end; ++row) body(row);
  });
}

template <typename Order>
Status export_as(Context &context, const MatrixView &sparse, uint8_t *buffer) {
  LPT_TRY(check_places(sparse, "tensor"));
  const Order order(sparse);
  if (order.is_filled_up()) {
    std::memset(buffer, 0, static_cast<size_t>(order.code_bytes()));
    std::memset(buffer + order.code_bytes(), kNoIndices, static_cast<size_t>(order.index_bytes()));
  }
  for_rows<Order>(context, sparse, [&](int64_t row) { write_row(order, sparse, row, buffer); });
  return {};
}

// Reorders the indices in scratch and checks them before it writes to the matrix.
template <typename Order>
Status import_as(Context &context, const uint8_t *buffer, const MatrixView &sparse) {
  const Order order(sparse);
  MatrixView scratch;
  LPT_TRY(take_matrix(context, LPT_FORMAT_UINT8, sparse.rows, index_bytes(sparse.columns), false, scratch));
  MatrixView found = sparse;
  found.indices = static_cast<uint8_t *>(scratch.data);
  found.index_stride = scratch.row_stride;
  for_rows<Order>(context, found, [&](int64_t row) { read_indices(order, buffer, found, row); });
  LPT_TRY(check_places(found, "buffer"));
  for_rows<Order>(context, sparse, [&](int64_t row) {
    read_codes(order, buffer, sparse, row);
    std::memcpy(indices_at(sparse, row), indices_at(found, row), static_cast<size_t>(index_bytes(sparse.columns)));
  });
  return {};
}

template <typename Order>
size_t bytes_as(const MatrixView &sparse) {
  const Order order(sparse);
  return static_cast<size_t>(order.code_bytes() + order.index_bytes());
}

// Checks.

Status check_element(const MatrixView &sparse) {
  for (const lpt_format element :
       {LPT_FORMAT_F16, LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2, LPT_FORMAT_INT8}) {
    if (sparse.format.element == element) return {};
  }
  return unsupported("tensor is %s: expected elements of f16, bf16, e4m3fn, e5m2 or int8",
                     format_name(sparse.format.id).c_str());
}

Status check_cutlass_shape(const MatrixView &sparse) {
  const int bits = element_bits(sparse.format.element);
  const int64_t group = CutlassOrder::row_group(sparse);
  const int64_t depth = CutlassOrder::depth(sparse);
  if (sparse.rows % group != 0) {
    return invalid(
        "tensor has %lld rows: expected a multiple of %lld, in which CUTLASS orders metadata of %d-bit elements",
        number(sparse.rows), number(group), bits);
  }
  if (sparse.columns % depth != 0) {
    return invalid(
        "tensor has %lld columns: expected a multiple of %lld, the depth of CUTLASS's tiles of %d-bit elements",
        number(sparse.columns), number(depth), bits);
  }
  return {};
}

}  // namespace

bool is_sparse_layout(lpt_foreign_layout foreign_layout) {
  return foreign_layout == LPT_FOREIGN_LAYOUT_MMA_SPARSE || foreign_layout == LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE;
}

Status plan_sparse_layout(const MatrixView &sparse, lpt_foreign_layout foreign_layout, size_t &out_bytes) {
  LPT_TRY(check_element(sparse));
  const bool is_cutlass = foreign_layout == LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE;
  if (is_cutlass) LPT_TRY(check_cutlass_shape(sparse));
  out_bytes = is_cutlass ? bytes_as<CutlassOrder>(sparse) : bytes_as<MmaOrder>(sparse);
  return {};
}

Status export_sparse_layout(Context &context, const MatrixView &sparse, lpt_foreign_layout foreign_layout,
                            uint8_t *buffer) {
  if (sparse.rows == 0 || sparse.columns == 0) return {};
  if (foreign_layout == LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE) return export_as<CutlassOrder>(context, sparse, buffer);
  return export_as<MmaOrder>(context, sparse, buffer);
}

Status import_sparse_layout(Context &context, const uint8_t *buffer, lpt_foreign_layout foreign_layout,
                            const MatrixView &sparse) {
  if (sparse.rows == 0 || sparse.columns == 0) return {};
  if (foreign_layout == LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE) return import_as<CutlassOrder>(context, buffer, sparse);
  return import_as<MmaOrder>(context, buffer, sparse);
}

}  // namespace lpt
