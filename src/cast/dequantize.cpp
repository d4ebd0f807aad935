#include "src/call/launch.hpp"
#include "src/cast/cast.hpp"

namespace lpt {

Status dequantize_matrix(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only) {
  const DequantizeRequest whole{source, target};
  const KernelEntry<DequantizeRequest> *kernel = nullptr;
  LPT_TRY(
      select_kernel(context, {"dequantize", dequantize_kernels}, whole, {source.format.id, target.format.id}, &kernel));
  if (is_check_only || source.rows == 0 || source.columns == 0) return {};
  if (!is_on_cpu(context)) return queue_kernel(context, *kernel, whole);
  const ProfileScope measure(context, "dequantize", kernel->name, view_bytes(source) + view_bytes(target));
  const Format &format = source.format;
  // A single row is cut at multiples of a byte and a block. A block that spans a full axis applies to any part of it.
  const bool is_one_row = source.rows == 1;
  const int64_t unit = is_one_row ? std::max<int64_t>(format.block_columns, 1024) * packing_of(format.element).elements
                                  : std::max<int64_t>(format.block_rows, 1);
  const int64_t extent = is_one_row ? source.columns : source.rows;
  const auto cut = is_one_row ? cut_columns : cut_rows;
  const Parts parts = split_reported(context, (extent + unit - 1) / unit, unit * (is_one_row ? 1 : source.columns));
  // Avoids the overhead of parallel_for for frequent small requests.
  if (parts.count == 1 && context.progress == nullptr) {
    kernel->run(whole);
    return {};
  }
  return run_reported(context, parts.count, source.rows * source.columns, [&](int64_t i) {
    const int64_t begin = i * parts.length * unit;
    const int64_t count = std::min(parts.length * unit, extent - begin);
    kernel->run(DequantizeRequest{cut(source, begin, count), cut(target, begin, count)});
  });
}

Status widen_matrix(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only) {
  if (source.format.id != target.format.id) {
    return is_on_cpu(context) ? dequantize_matrix(context, source, target, is_check_only)
                              : rotate_matrix(context, {.source = source, .target = target}, is_check_only);
  }
  if (is_check_only) return {};
  if (!is_on_cpu(context)) return queue_copy(context, source, target);
  const ProfileScope measure(context, "copy", "copy_any", 2 * view_bytes(source));
  parallel_parts(context, source.rows, source.columns, [&](int64_t begin, int64_t count) {
    copy_matrix(cut_rows(source, begin, count), cut_rows(target, begin, count));
  });
  return {};
}

}  // namespace lpt
