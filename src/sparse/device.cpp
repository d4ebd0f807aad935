#include "src/sparse/device.hpp"

#include "kernels/quantize/quantize.hpp"
#include "src/call/device.hpp"
#include "src/tensor/sparse_matrix.hpp"

namespace lpt {
namespace {

bool is_present(const MatrixView &view) { return view.format.id != LPT_FORMAT_NONE; }

CopyRequest copy_of(const MatrixView &source, const MatrixView &target) {
  const lpt_format element = source.format.element;
  return {target.data,
          row_bytes(element, target.row_stride),
          source.data,
          row_bytes(element, source.row_stride),
          row_bytes(element, source.columns),
          source.rows};
}

// Scales of a format lie the same way whether all columns are stored or not.
Status queue_scales(const Context &context, const MatrixView &source, const MatrixView &target) {
  if (source.tensor_scale != nullptr) {
    constexpr int64_t kBytes = sizeof(float);
    LPT_TRY(context.queue.copy({target.tensor_scale, kBytes, source.tensor_scale, kBytes, kBytes, 1}));
  }
  return source.format.has_block_scale() ? context.queue.copy(copy_of(scales_of(source), scales_of(target))) : Status();
}

Status compress_rows(Context &context, const MatrixView &source, const MatrixView &mask, const MatrixView &target,
                     bool is_check_only) {
  const CompressRequest request{plain_view(source), mask, plain_view(target), target.indices, target.index_stride};
  LPT_TRY(run_on_device(context, "compress", request, {source.format.id}, is_check_only));
  return is_check_only ? Status() : queue_scales(context, source, target);
}

// Columns as rows, in scratch. The tensor scale is that of the source.
Status transpose_on_device(Context &context, const MatrixView &source, bool is_check_only, MatrixView &out_transposed) {
  LPT_TRY(take_matrix_on_device(context, source.format, source.columns, source.rows, is_check_only, out_transposed));
  out_transposed.tensor_scale = source.tensor_scale;
  return run_on_device(context, "transpose", TransposeRequest{source, out_transposed}, {source.format.id},
                       is_check_only);
}

// An output of a selection as it is in scratch, columns as rows; without one there is none.
Status take_beside(Context &context, const MatrixView &output, const MatrixView &source, bool is_check_only,
                   MatrixView &out_view) {
  if (!is_present(output)) return {};
  return take_matrix_on_device(context, output.format, source.rows, source.columns, is_check_only, out_view);
}

Status transpose_back(Context &context, const MatrixView &transposed_output, const MatrixView &output,
                      bool is_check_only) {
  if (!is_present(output)) return {};
  const TransposeRequest request{transposed_output, transposed_view(output)};
  return run_on_device(context, "transpose", request, {output.format.id}, is_check_only);
}

Status select_columns(Context &context, const SparseMaskRequest &request, bool is_check_only) {
  SparseMaskRequest lines = request;
  LPT_TRY(transpose_on_device(context, transposed_view(request.source), is_check_only, lines.source));
  LPT_TRY(take_beside(context, request.mask, lines.source, is_check_only, lines.mask));
  LPT_TRY(take_beside(context, request.masked, lines.source, is_check_only, lines.masked));
  LPT_TRY(run_on_device(context, "sparse_mask", lines, {lines.source.format.id}, is_check_only));
  LPT_TRY(transpose_back(context, lines.mask, request.mask, is_check_only));
  return transpose_back(context, lines.masked, request.masked, is_check_only);
}

Status find_nonzero_on_device(Context &context, const MatrixView &source, bool is_check_only, MatrixView &out_mask) {
  Format bytes;
  find_format(LPT_FORMAT_UINT8, bytes);
  LPT_TRY(take_matrix_on_device(context, bytes, source.rows, source.columns, is_check_only, out_mask));
  const NonzeroRequest request{plain_view(source), out_mask};
  return run_on_device(context, "nonzero", request, {source.format.id}, is_check_only);
}

Status compress_view_on_device(Context &context, const DevicePacking &packing, bool is_check_only) {
  MatrixView mask = packing.mask;
  if (!is_present(mask)) LPT_TRY(find_nonzero_on_device(context, packing.source, is_check_only, mask));
  if (is_present(packing.compressed)) {
    LPT_TRY(compress_rows(context, packing.source, mask, packing.compressed, is_check_only));
  }
  if (!is_present(packing.transposed)) return {};
  MatrixView transposed_source, transposed_mask;
  LPT_TRY(transpose_on_device(context, packing.source, is_check_only, transposed_source));
  LPT_TRY(transpose_on_device(context, mask, is_check_only, transposed_mask));
  return compress_rows(context, transposed_source, transposed_mask, packing.transposed, is_check_only);
}

}  // namespace

Status select_on_device(Context &context, const SparseMaskRequest &request, bool is_check_only) {
  if (request.source.column_stride == 1) {
    return run_on_device(context, "sparse_mask", request, {request.source.format.id}, is_check_only);
  }
  LPT_TRY(select_columns(context, request, true));
  if (is_check_only) return {};
  context.choices.clear();
  return select_columns(context, request, false);
}

Status select_tiles_on_device(Context &context, const TransposableMaskRequest &request, bool is_check_only) {
  return run_on_device(context, "transposable_mask", request, {request.source.format.id}, is_check_only);
}

Status measure_on_device(Context &context, const SparseMeasureRequest &request, bool is_check_only,
                         std::span<SparseSums> sums) {
  const auto bytes = static_cast<int64_t>(sums.size_bytes());
  std::byte *memory = nullptr;
  if (!is_check_only) LPT_TRY(take_on_device(context, sums.size_bytes(), &memory));
  SparseMeasureRequest there = request;
  there.sums = reinterpret_cast<SparseSums *>(memory);
  LPT_TRY(run_on_device(context, "sparse_measure", there, {request.source.format.id}, is_check_only));
  if (is_check_only || sums.empty()) return {};
  LPT_TRY(context.queue.copy({sums.data(), bytes, memory, bytes, bytes, 1}));
  return context.queue.synchronize();
}

Status compress_on_device(Context &context, const DevicePacking &packing) {
  LPT_TRY(compress_view_on_device(context, packing, true));
  context.choices.clear();
  return compress_view_on_device(context, packing, false);
}

Status decompress_on_device(Context &context, const MatrixView &sparse, const MatrixView &dense) {
  const DecompressRequest request{plain_view(sparse), sparse.indices, sparse.index_stride, plain_view(dense)};
  LPT_TRY(run_on_device(context, "decompress", request, {sparse.format.id}, false));
  return queue_scales(context, sparse, dense);
}

}  // namespace lpt
