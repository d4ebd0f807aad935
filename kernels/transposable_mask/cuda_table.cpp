// Device kernel table.
#include "kernels/transposable_mask/cuda_kernels.hpp"

namespace lpt {
namespace {

const char *unsupported_operands(const TransposableMaskRequest &request) {
  const lpt_format element = request.source.format.element;
  if (element != LPT_FORMAT_F32 && element != LPT_FORMAT_BF16 && element != LPT_FORMAT_F16) {
    return "takes f32, bf16 and f16 only";
  }
  const bool is_adjacent = request.source.column_stride == 1 && request.mask.column_stride == 1;
  return is_adjacent ? nullptr : "takes adjacent columns only";
}

bool has_patterns(const TransposableMaskRequest &request) {
  return request.kept == 2 && request.of == 4 && request.solver == LPT_SPARSE_SOLVER_EXACT;
}

const char *unsupported_patterns(const TransposableMaskRequest &request) {
  return has_patterns(request) ? unsupported_operands(request) : "not 2:4 by EXACT";
}

// Rejects 2:4 by EXACT, which is decided by sums in f32, not of integers.
const char *unsupported_any(const TransposableMaskRequest &request) {
  return has_patterns(request) ? "2:4 by EXACT has a row of its own" : unsupported_operands(request);
}

}  // namespace

std::span<const KernelEntry<TransposableMaskRequest>> transposable_mask_device_kernels() {
  static constexpr KernelEntry<TransposableMaskRequest> kernels[] = {
      {"transposable_mask_2_4_exact_cuda", 80, unsupported_patterns, transposable_mask_2_4_exact_cuda},
      {"transposable_mask_any_cuda", 80, unsupported_any, transposable_mask_any_cuda}};
  return kernels;
}

}  // namespace lpt
