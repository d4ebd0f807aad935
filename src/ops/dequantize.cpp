#include "src/ops/cast.hpp"

namespace lpt {

Status dequantize_matrix(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only) {
  const DequantizeRequest whole{source, target};
  const Row<DequantizeRequest> *row = nullptr;
  LPT_TRY(choose(context, "dequantize", dequantize_kernels(), whole, {source.format.id, target.format.id}, &row));
  if (is_check_only) return {};
  const Measure measure(context, "dequantize", row->name, view_bytes(source) + view_bytes(target));
  const int32_t block_rows = source.format.has_block_scale() ? source.format.block_rows : 1;
  const int64_t unit = block_rows == LPT_WHOLE ? 1 : block_rows;
  const Parts parts = split(context, (source.rows + unit - 1) / unit, unit * source.columns);
  parallel_for(context, parts.count, [&](int64_t i) {
    const int64_t begin = i * parts.length * unit;
    const int64_t count = std::min(parts.length * unit, source.rows - begin);
    row->run(DequantizeRequest{cut_rows(source, begin, count), cut_rows(target, begin, count)});
  });
  return {};
}

Status widen_matrix(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only) {
  if (source.format.id != target.format.id) return dequantize_matrix(context, source, target, is_check_only);
  if (is_check_only) return {};
  const Measure measure(context, "copy", "copy_any", 2 * view_bytes(source));
  copy_matrix(source, target);
  return {};
}

}  // namespace lpt
