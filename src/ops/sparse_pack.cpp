// 2:4 matrices: compressed with a mask, and written out again.
#include "kernels/sparse_pack/sparse_pack.hpp"

#include <atomic>
#include <cstring>

#include "kernels/quantize/quantize.hpp"
#include "src/ops/device_sparse.hpp"
#include "src/ops/gemm_run.hpp"
#include "src/ops/operation.hpp"
#include "src/ops/sparse_parts.hpp"

namespace lpt {
namespace {

constexpr int32_t kKept = 2;
constexpr int32_t kOf = 4;

// ---- checks

// The sparse format of a dense one, and the other way: the same element and scales, the same shape.
Status check_pair(const MatrixView &sparse, const char *sparse_name, const MatrixView &dense, const char *dense_name) {
  if (dense_format(sparse.format.id) != dense.format.id) {
    return invalid("%s is %s and %s %s: expected the same format with and without /2:4", sparse_name,
                   format_name(sparse.format.id).c_str(), dense_name, format_name(dense.format.id).c_str());
  }
  if (sparse.rows != dense.rows || sparse.columns != dense.columns) {
    return invalid("%s is %lld x %lld and %s %lld x %lld: expected the same", sparse_name, number(sparse.rows),
                   number(sparse.columns), dense_name, number(dense.rows), number(dense.columns));
  }
  return {};
}

// Whether some group of a row keeps too many: eight columns at a time. A byte that is not 0 becomes 1, four of them their sum.
bool has_full_group(const uint8_t *bytes, int64_t columns) {
  constexpr uint64_t kLow = 0x7F7F7F7F7F7F7F7F;
  uint64_t found = 0;
  for (int64_t begin = 0; begin < columns; begin += 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, bytes + begin, static_cast<size_t>(std::min<int64_t>(8, columns - begin)));
    uint64_t sums = ((((eight & kLow) + kLow) | eight) & ~kLow) >> 7;
    sums += sums >> 8;
    sums += sums >> 16;
    found |= (sums & 0x0000000700000007) + 0x0000000500000005;  // from 3 on the fourth bit is set
  }
  return (found & 0x0000000800000008) != 0;
}

// Names the first group that keeps too many.
Status check_groups(Context &context, const MatrixView &mask, const char *line_name) {
  std::atomic<int64_t> first{mask.rows};
  parallel_parts(context, mask.rows, mask.columns, [&](int64_t begin, int64_t count) {
    for (int64_t row = begin; row < std::min(begin + count, first.load()); ++row) {
      if (!has_full_group(static_cast<const uint8_t *>(mask.data) + row * mask.row_stride, mask.columns)) continue;
      for (int64_t before = first; row < before && !first.compare_exchange_weak(before, row);) {
      }
    }
  });
  if (first == mask.rows) return {};
  int64_t group = 0;
  while (count_kept(mask, first, group, kOf) <= kKept) group += kOf;
  return invalid("mask keeps %d of the 4 numbers from %lld of %s %lld: expected at most %d",
                 count_kept(mask, first, group, kOf), number(group), line_name, number(first), kKept);
}

bool is_legal_half(int half) { return (half & 3) < half >> 2; }

struct LegalBytes {
  constexpr LegalBytes() {
    for (int byte = 0; byte < 256; ++byte) is_legal[byte] = (byte & 3) < (byte >> 2 & 3) && (byte >> 4 & 3) < byte >> 6;
  }
  bool is_legal[256] = {};
};
constexpr LegalBytes kLegalBytes;

// The first group of a row whose two places are not in order; -1 without one.
int64_t find_bad_group(const uint8_t *indices, int64_t groups) {
  const int64_t pairs = groups / 2;
  int64_t pair = 0;
  while (pair < pairs && kLegalBytes.is_legal[indices[pair]]) ++pair;
  if (pair < pairs) return 2 * pair + is_legal_half(indices[pair] & 15);
  return groups % 2 == 0 || is_legal_half(indices[pair] & 15) ? -1 : groups - 1;
}

// ---- work

// Scales of a format lie the same way whether all columns are stored or not.
void copy_scales(const MatrixView &source, const MatrixView &target) {
  if (source.tensor_scale != nullptr) *target.tensor_scale = *source.tensor_scale;
  if (source.format.has_block_scale()) copy_matrix(scales_of(source), scales_of(target));
}

Status compress(Context &context, const MatrixView &source, const MatrixView &mask, const MatrixView &target) {
  const bool is_streamed = view_bytes(target) >= kStreamedBytes;
  const CompressRequest whole{plain_view(source),  mask,       plain_view(target), target.indices,
                              target.index_stride, is_streamed};
  const KernelEntry<CompressRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "compress", compress_kernels(), whole, {source.format.id}, &kernel));
  const ProfileScope measure(context, "compress", kernel->name, view_bytes(source) + view_bytes(target));
  parallel_parts(context, source.rows, source.columns, [&](int64_t begin, int64_t count) {
    kernel->run({cut_rows(whole.source, begin, count), cut_rows(mask, begin, count),
                 cut_rows(whole.stored, begin, count), target.indices + begin * target.index_stride,
                 target.index_stride, is_streamed});
  });
  copy_scales(source, target);
  return {};
}

// Columns as rows, scales too: in squares, whose lines stay in the caches while they are transposed. A side is a multiple of every
// square of scales and of two codes to a byte; ternary digits, five to a byte, are transposed in one piece.
constexpr int64_t kTransposedSide = 256;

Status transpose_matrix(Context &context, const MatrixView &source, MatrixView &out_transposed) {
  LPT_TRY(take_matrix(context, source.format, source.columns, source.rows, out_transposed));
  if (source.tensor_scale != nullptr) *out_transposed.tensor_scale = *source.tensor_scale;
  const KernelEntry<TransposeRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "transpose", transpose_kernels(), TransposeRequest{source, out_transposed},
                        {source.format.id}, &kernel));
  const bool is_cut = packing_of(source.format.element).elements <= 2;
  const int64_t side = is_cut ? kTransposedSide : std::max<int64_t>(std::max(source.rows, source.columns), 1);
  const int64_t down = (source.rows + side - 1) / side, across = (source.columns + side - 1) / side;
  parallel_parts(context, down * across, side * side, [&](int64_t begin, int64_t count) {
    for (int64_t square = begin; square < begin + count; ++square) {
      const int64_t r = square / across * side, c = square % across * side;
      const int64_t rows = std::min(side, source.rows - r), columns = std::min(side, source.columns - c);
      kernel->run({cut_columns(cut_rows(source, r, rows), c, columns),
                   cut_columns(cut_rows(out_transposed, c, columns), r, rows)});
    }
  });
  return {};
}

Status check_transposing(const Format &format) {
  if (!format.has_block_scale() || format.block_rows == format.block_columns) return {};
  return unsupported("transposed is requested of %s: expected no block scales, or square blocks",
                     format_name(format.id).c_str());
}

}  // namespace

MatrixView plain_view(const MatrixView &view) {
  MatrixView plain = dense_view(view.format.element, view.data, view.rows, stored_columns(view.format, view.columns));
  plain.row_stride = view.row_stride;
  return plain;
}

Status find_nonzero(Context &context, const MatrixView &source, MatrixView &out_mask) {
  LPT_TRY(take_matrix(context, LPT_FORMAT_UINT8, source.rows, source.columns, false, out_mask));
  const NonzeroRequest whole{plain_view(source), out_mask};
  const KernelEntry<NonzeroRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "nonzero", nonzero_kernels(), whole, {source.format.id}, &kernel));
  parallel_parts(context, source.rows, source.columns, [&](int64_t begin, int64_t count) {
    kernel->run({cut_rows(whole.source, begin, count), cut_rows(out_mask, begin, count)});
  });
  return {};
}

Status check_stored_apart(const MatrixView &sparse, const char *name, const MatrixView &other, const char *other_name) {
  MatrixView indices = dense_view(LPT_FORMAT_UINT8, sparse.indices, sparse.rows, index_bytes(sparse.columns));
  indices.row_stride = sparse.index_stride;
  LPT_TRY(check_no_overlap(plain_view(sparse), name, other, other_name));
  return check_no_overlap(indices, name, other, other_name);
}

Status check_places(const MatrixView &sparse, const char *name) {
  const int64_t groups = (sparse.columns + kOf - 1) / kOf;
  for (int64_t row = 0; row < sparse.rows; ++row) {
    const uint8_t *const indices = sparse.indices + row * sparse.index_stride;
    const int64_t group = find_bad_group(indices, groups);
    if (group < 0) continue;
    const int half = indices[group / 2] >> (group % 2 == 0 ? 0 : 4) & 15;
    return invalid("%s has the index 0x%X in group %lld of row %lld: expected 0x4, 0x8, 0x9, 0xC, 0xD or 0xE", name,
                   static_cast<unsigned>(half), number(group), number(row));
  }
  return {};
}

Status check_sparse_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                           const Device &device) {
  LPT_TRY(check_tensor(tensor, name, device));
  LPT_TRY(sparse_matrix_of(*tensor, name, out_view));
  return needs_data ? check_data(*tensor, name) : Status();
}

Status take_dense(Context &context, const MatrixView &sparse, bool is_check_only, MatrixView &out_dense) {
  out_dense = dense_shape(sparse);
  if (is_check_only) return {};
  LPT_TRY(take_matrix(context, out_dense.format, sparse.rows, sparse.columns, out_dense));
  return decompress_view(context, sparse, out_dense);
}

Status compress_sparse(Context &context, const Tensor *source, const Tensor *mask, Tensor *compressed,
                       Tensor *transposed) {
  MatrixView dense;
  MatrixView kept;
  MatrixView rows;
  MatrixView columns;
  if (compressed == nullptr && transposed == nullptr) {
    return invalid("compressed and transposed are NULL: expected at least one output");
  }
  const Device &device = context.queue.device();
  LPT_TRY(check_matrix(source, "source", true, dense, device));
  if (mask != nullptr) {
    LPT_TRY(check_mask(mask, "mask", true, kept, device));
    LPT_TRY(check_shape(kept, "mask", dense.rows, dense.columns, "source"));
  }
  if (compressed != nullptr) {
    LPT_TRY(check_sparse_matrix(compressed, "compressed", true, rows, device));
    LPT_TRY(check_pair(rows, "compressed", dense, "source"));
    LPT_TRY(check_no_overlap(rows, "compressed", dense, "source"));
    if (mask != nullptr) LPT_TRY(check_no_overlap(rows, "compressed", kept, "mask"));
  }
  if (transposed != nullptr) {
    LPT_TRY(check_transposing(dense.format));
    LPT_TRY(check_sparse_matrix(transposed, "transposed", true, columns, device));
    LPT_TRY(check_pair(columns, "transposed", transposed_view(dense), "the transposed source"));
    LPT_TRY(check_no_overlap(columns, "transposed", dense, "source"));
    if (mask != nullptr) LPT_TRY(check_no_overlap(columns, "transposed", kept, "mask"));
    if (compressed != nullptr) LPT_TRY(check_no_overlap(columns, "transposed", rows, "compressed"));
  }
  if (!device.is_cpu()) return compress_on_device(context, {dense, kept, rows, columns});
  if (mask == nullptr) LPT_TRY(find_nonzero(context, dense, kept));
  if (compressed != nullptr) LPT_TRY(check_groups(context, kept, "row"));
  MatrixView other;
  MatrixView other_kept;
  if (transposed != nullptr) {
    LPT_TRY(transpose_matrix(context, kept, other_kept));
    LPT_TRY(check_groups(context, other_kept, "column"));
    LPT_TRY(transpose_matrix(context, dense, other));
  }
  if (compressed != nullptr) LPT_TRY(compress(context, dense, kept, rows));
  return transposed == nullptr ? Status() : compress(context, other, other_kept, columns);
}

Status decompress_sparse(Context &context, const Tensor *compressed, Tensor *output) {
  MatrixView sparse;
  MatrixView dense;
  const Device &device = context.queue.device();
  LPT_TRY(check_sparse_matrix(compressed, "compressed", true, sparse, device));
  LPT_TRY(check_matrix(output, "output", true, dense, device));
  LPT_TRY(check_pair(sparse, "compressed", dense, "output"));
  LPT_TRY(check_no_overlap(sparse, "compressed", dense, "output"));
  if (!device.is_cpu()) return decompress_on_device(context, sparse, dense);
  LPT_TRY(check_places(sparse, "compressed"));
  return decompress_view(context, sparse, dense);
}

Status RowWriter::select_gemm_kernel(Context &context, const MatrixView &sparse, bool is_streamed) {
  is_streamed_ = is_streamed;
  const DecompressRequest request{plain_view(sparse), sparse.indices, sparse.index_stride,
                                  plain_view(dense_shape(sparse)), is_streamed};
  return select_kernel(context, "decompress", decompress_kernels(), request, {sparse.format.id}, &kernel_);
}

void RowWriter::write(const MatrixView &sparse, const MatrixView &dense) const {
  kernel_->run({plain_view(sparse), sparse.indices, sparse.index_stride, plain_view(dense), is_streamed_});
}

MatrixView dense_shape(const MatrixView &sparse) {
  MatrixView dense;
  Format format;
  find_format(dense_format(sparse.format.id), format);
  lay_out_matrix(format, sparse.rows, sparse.columns, nullptr, dense);
  return dense;
}

Status decompress_view(Context &context, const MatrixView &sparse, const MatrixView &dense) {
  RowWriter writer;
  LPT_TRY(writer.select_gemm_kernel(context, sparse, view_bytes(dense) >= kStreamedBytes));
  const ProfileScope measure(context, "decompress", writer.row_name(), view_bytes(sparse) + view_bytes(dense));
  parallel_parts(context, dense.rows, dense.columns, [&](int64_t begin, int64_t count) {
    writer.write(cut_rows(sparse, begin, count), cut_rows(dense, begin, count));
  });
  copy_scales(sparse, dense);
  return {};
}

}  // namespace lpt
