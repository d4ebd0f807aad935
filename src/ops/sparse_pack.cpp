// 2:4 matrices: compressed with a mask, and written out again.
#include "kernels/sparse_pack/sparse_pack.hpp"

#include <cstring>

#include "kernels/quantize/quantize.hpp"
#include "src/ops/operation.hpp"
#include "src/ops/sparse_parts.hpp"

namespace lpt {
namespace {

constexpr int32_t kKept = 2;
constexpr int32_t kOf = 4;

// ---- checks

Status check_sparse_matrix(const Tensor *tensor, const char *name, SparseView &out_view) {
  if (tensor == nullptr) return invalid("%s is NULL: expected a tensor", name);
  if (tensor->kind != HandleKind::kTensor) return invalid("%s is not a live tensor", name);
  LPT_TRY(sparse_matrix_of(*tensor, name, out_view));
  const bool is_empty = out_view.stored.rows == 0 || out_view.columns == 0;
  if (!is_empty && (out_view.stored.data == nullptr || out_view.indices == nullptr)) {
    return invalid("%s is a tensor without data", name);
  }
  return {};
}

// The sparse format of a dense one, and the other way: the same element and scales, the same shape.
Status check_pair(const SparseView &sparse, const char *sparse_name, const MatrixView &dense, const char *dense_name) {
  if (dense_format(sparse.stored.format.id) != dense.format.id) {
    return invalid("%s is %s and %s %s: expected the same format with and without /2:4", sparse_name,
                   format_name(sparse.stored.format.id).c_str(), dense_name, format_name(dense.format.id).c_str());
  }
  if (sparse.stored.rows != dense.rows || sparse.columns != dense.columns) {
    return invalid("%s is %lld×%lld and %s %lld×%lld: expected the same", sparse_name, number(sparse.stored.rows),
                   number(sparse.columns), dense_name, number(dense.rows), number(dense.columns));
  }
  return {};
}

// The stored elements as a plain matrix; only scales tell that they are not.
MatrixView plain_view(const MatrixView &view) {
  MatrixView plain = view;
  plain.format = dense_view(view.format.element, nullptr, 0, 0).format;
  plain.block_scales = nullptr;
  plain.tensor_scale = nullptr;
  return plain;
}

Status check_stored_apart(const SparseView &sparse, const char *name, const MatrixView &other, const char *other_name) {
  const MatrixView indices = [&] {
    MatrixView view = dense_view(LPT_FORMAT_UINT8, sparse.indices, sparse.stored.rows, index_bytes(sparse.columns));
    view.row_stride = sparse.index_stride;
    return view;
  }();
  LPT_TRY(check_apart(sparse.stored, name, other, other_name));
  return check_apart(indices, name, other, other_name);
}

// Names the first group that keeps too many.
Status check_groups(const MatrixView &mask, const char *line_name) {
  const auto *bytes = static_cast<const uint8_t *>(mask.data);
  for (int64_t row = 0; row < mask.rows; ++row) {
    for (int64_t begin = 0; begin < mask.columns; begin += kOf) {
      int32_t stay = 0;
      for (int64_t i = begin; i < std::min<int64_t>(begin + kOf, mask.columns); ++i) {
        stay += bytes[row * mask.row_stride + i * mask.column_stride] != 0;
      }
      if (stay <= kKept) continue;
      return invalid("mask keeps %d of the 4 numbers from %lld of %s %lld: expected at most %d", stay, number(begin),
                     line_name, number(row), kKept);
    }
  }
  return {};
}

bool is_legal_half(int half) { return (half & 3) < half >> 2; }

Status check_places(const SparseView &sparse, const char *name) {
  for (int64_t row = 0; row < sparse.stored.rows; ++row) {
    for (int64_t group = 0; kOf * group < sparse.columns; ++group) {
      const int half = sparse.indices[row * sparse.index_stride + group / 2] >> (group % 2 == 0 ? 0 : 4) & 15;
      if (is_legal_half(half)) continue;
      return invalid("%s has the index 0x%X in group %lld of row %lld: expected 0x4, 0x8, 0x9, 0xC, 0xD or 0xE", name,
                     static_cast<unsigned>(half), number(group), number(row));
    }
  }
  return {};
}

// ---- work

// Scales of a format lie the same way whether all columns are stored or not.
void copy_scales(const MatrixView &source, const MatrixView &target, int64_t columns) {
  if (source.tensor_scale != nullptr) *target.tensor_scale = *source.tensor_scale;
  if (!source.format.has_block_scale()) return;
  MatrixView from = source;
  MatrixView to = target;
  from.columns = to.columns = columns;
  copy_matrix(scales_of(from), scales_of(to));
}

Status find_nonzero(Context &context, const MatrixView &source, MatrixView &out_mask) {
  std::byte *memory = nullptr;
  LPT_TRY(context.arena->take(static_cast<size_t>(source.rows * source.columns), &memory));
  out_mask = dense_view(LPT_FORMAT_UINT8, memory, source.rows, source.columns);
  const NonzeroRequest whole{plain_view(source), out_mask};
  const Row<NonzeroRequest> *row = nullptr;
  LPT_TRY(choose(context, "nonzero", nonzero_kernels(), whole, {source.format.id}, &row));
  parallel_parts(context, source.rows, source.columns, [&](int64_t begin, int64_t count) {
    row->run({cut_rows(whole.source, begin, count), cut_rows(out_mask, begin, count)});
  });
  return {};
}

Status compress(Context &context, const MatrixView &source, const MatrixView &mask, const SparseView &target) {
  const CompressRequest whole{plain_view(source), mask, plain_view(target.stored), target.indices, target.index_stride};
  const Row<CompressRequest> *row = nullptr;
  LPT_TRY(choose(context, "compress", compress_kernels(), whole, {source.format.id}, &row));
  const Measure measure(context, "compress", row->name, view_bytes(source) + view_bytes(target.stored));
  parallel_parts(context, source.rows, source.columns, [&](int64_t begin, int64_t count) {
    row->run({cut_rows(whole.source, begin, count), cut_rows(mask, begin, count), cut_rows(whole.stored, begin, count),
              target.indices + begin * target.index_stride, target.index_stride});
  });
  copy_scales(source, target.stored, target.columns);
  return {};
}

// Columns as rows, scales too.
Status turn(Context &context, const MatrixView &source, MatrixView &out_turned) {
  std::byte *memory = nullptr;
  MatrixView shape;
  const size_t bytes = lay_out_matrix(source.format, source.columns, source.rows, nullptr, shape);
  LPT_TRY(context.arena->take(bytes, &memory));
  lay_out_matrix(source.format, source.columns, source.rows, memory, out_turned);
  if (source.tensor_scale != nullptr) *out_turned.tensor_scale = *source.tensor_scale;
  const Row<TurnRequest> *row = nullptr;
  LPT_TRY(choose(context, "turn", turn_kernels(), TurnRequest{source, out_turned}, {source.format.id}, &row));
  row->run({source, out_turned});
  return {};
}

Status check_turning(const Format &format) {
  if (!format.has_block_scale() || format.block_rows == format.block_columns) return {};
  return unsupported("transposed is wanted of %s: expected no block scales, or square blocks",
                     format_name(format.id).c_str());
}

}  // namespace

Status compress_sparse(Context &context, const Tensor *source, const Tensor *mask, Tensor *compressed,
                       Tensor *transposed) {
  MatrixView dense;
  MatrixView kept;
  SparseView rows;
  SparseView columns;
  if (compressed == nullptr && transposed == nullptr) {
    return invalid("compressed and transposed are NULL: expected at least one output");
  }
  LPT_TRY(check_matrix(source, "source", true, dense));
  if (mask != nullptr) {
    LPT_TRY(check_mask(mask, "mask", true, kept));
    LPT_TRY(check_shape(kept, "mask", dense.rows, dense.columns, "source"));
  }
  if (compressed != nullptr) {
    LPT_TRY(check_sparse_matrix(compressed, "compressed", rows));
    LPT_TRY(check_pair(rows, "compressed", dense, "source"));
    LPT_TRY(check_stored_apart(rows, "compressed", dense, "source"));
    if (mask != nullptr) LPT_TRY(check_stored_apart(rows, "compressed", kept, "mask"));
  }
  if (transposed != nullptr) {
    LPT_TRY(check_turning(dense.format));
    LPT_TRY(check_sparse_matrix(transposed, "transposed", columns));
    LPT_TRY(check_pair(columns, "transposed", turned(dense), "the turned source"));
    LPT_TRY(check_stored_apart(columns, "transposed", dense, "source"));
    if (mask != nullptr) LPT_TRY(check_stored_apart(columns, "transposed", kept, "mask"));
    if (compressed != nullptr) LPT_TRY(check_stored_apart(columns, "transposed", rows.stored, "compressed"));
  }
  if (mask == nullptr) LPT_TRY(find_nonzero(context, dense, kept));
  if (compressed != nullptr) LPT_TRY(check_groups(kept, "row"));
  if (transposed != nullptr) LPT_TRY(check_groups(turned(kept), "column"));
  if (compressed != nullptr) LPT_TRY(compress(context, dense, kept, rows));
  if (transposed == nullptr) return {};
  MatrixView other;
  LPT_TRY(turn(context, dense, other));
  return compress(context, other, turned(kept), columns);
}

Status decompress_sparse(Context &context, const Tensor *compressed, Tensor *output) {
  SparseView sparse;
  MatrixView dense;
  LPT_TRY(check_sparse_matrix(compressed, "compressed", sparse));
  LPT_TRY(check_matrix(output, "output", true, dense));
  LPT_TRY(check_pair(sparse, "compressed", dense, "output"));
  LPT_TRY(check_stored_apart(sparse, "compressed", dense, "output"));
  LPT_TRY(check_places(sparse, "compressed"));
  return decompress_view(context, sparse, dense);
}

Status decompress_view(Context &context, const SparseView &sparse, const MatrixView &dense) {
  const DecompressRequest whole{plain_view(sparse.stored), sparse.indices, sparse.index_stride, plain_view(dense)};
  const Row<DecompressRequest> *row = nullptr;
  LPT_TRY(choose(context, "decompress", decompress_kernels(), whole, {dense.format.id}, &row));
  const Measure measure(context, "decompress", row->name, view_bytes(sparse.stored) + view_bytes(dense));
  parallel_parts(context, dense.rows, dense.columns, [&](int64_t begin, int64_t count) {
    row->run({cut_rows(whole.stored, begin, count), whole.indices + begin * whole.index_stride, whole.index_stride,
              cut_rows(whole.target, begin, count)});
  });
  copy_scales(sparse.stored, dense, sparse.columns);
  return {};
}

}  // namespace lpt
