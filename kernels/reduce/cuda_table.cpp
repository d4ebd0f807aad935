// Kernels of the device.
#include "kernels/reduce/cuda_columns.hpp"
#include "kernels/reduce/cuda_kernels.hpp"

namespace lpt {
namespace {

const char *unsupported_reduce(const ReduceRequest &request) {
  if (!is_float_dtype(request.format) || !is_float_dtype(request.target_format)) return "takes f32, bf16 and f16 only";
  const bool are_few = request.source_count <= kMostDeviceSources && request.target_count <= kMostDeviceSources;
  return are_few ? nullptr : "takes 32 sources and targets at most";
}

const char *unsupported_columns(const ColumnsRequest &request) {
  const MatrixView &source = request.source, &target = request.target;
  if (!is_float_dtype(source.format.id) || !is_float_dtype(target.format.id)) return "takes f32, bf16 and f16 only";
  return source.column_stride == 1 && target.column_stride == 1 ? nullptr : "takes adjacent columns only";
}

}  // namespace

std::span<const KernelEntry<ReduceRequest>> reduce_device_kernels() {
  static constexpr KernelEntry<ReduceRequest> kernels[] = {{"reduce_cuda", 80, unsupported_reduce, reduce_cuda}};
  return kernels;
}

std::span<const KernelEntry<ColumnsRequest>> columns_device_kernels() {
  static constexpr KernelEntry<ColumnsRequest> kernels[] = {{"columns_cuda", 80, unsupported_columns, columns_cuda}};
  return kernels;
}

}  // namespace lpt
