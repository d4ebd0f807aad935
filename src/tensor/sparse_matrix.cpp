#include "src/tensor/sparse_matrix.hpp"

#include <algorithm>

namespace lpt {
namespace {

constexpr int32_t kOf = 4;

bool is_legal_half(int half) { return (half & 3) < half >> 2; }

struct LegalBytes {
  constexpr LegalBytes() {
    for (int byte = 0; byte < 256; ++byte) is_legal[byte] = (byte & 3) < (byte >> 2 & 3) && (byte >> 4 & 3) < byte >> 6;
  }
  bool is_legal[256] = {};
};
constexpr LegalBytes kLegalBytes;

// Returns the first group of a row whose two indices are not ascending, or -1.
int64_t find_bad_group(const uint8_t *indices, int64_t groups) {
  const int64_t pairs = groups / 2;
  int64_t pair = 0;
  while (pair < pairs && kLegalBytes.is_legal[indices[pair]]) ++pair;
  if (pair < pairs) return 2 * pair + is_legal_half(indices[pair] & 15);
  return groups % 2 == 0 || is_legal_half(indices[pair] & 15) ? -1 : groups - 1;
}

}  // namespace

void copy_scales(const MatrixView &source, const MatrixView &target) {
  if (source.tensor_scale != nullptr) *target.tensor_scale = *source.tensor_scale;
  if (source.format.has_block_scale()) copy_matrix(scales_of(source), scales_of(target));
}

MatrixView plain_view(const MatrixView &view) {
  MatrixView plain = dense_view(view.format.element, view.data, view.rows, stored_columns(view.format, view.columns));
  plain.row_stride = view.row_stride;
  return plain;
}

Status check_no_stored_overlap(const MatrixView &sparse, const char *name, const MatrixView &other,
                               const char *other_name) {
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
  LPT_TRY(take_matrix(context, out_dense.format, sparse.rows, sparse.columns, false, out_dense));
  return decompress_view(context, sparse, out_dense);
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

}  // namespace lpt
