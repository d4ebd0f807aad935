#include "src/gemm/device_epilogue.hpp"

#include "kernels/gemm/library.hpp"
#include "src/call/device.hpp"

namespace lpt {

Status widen_on_device(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only) {
  if (source.format.id != LPT_FORMAT_F32) {
    return run_on_device(context, "gemm_conversion", OperandConversionRequest{source, target, false},
                         {source.format.id, LPT_FORMAT_F32}, is_check_only);
  }
  if (is_check_only || source.rows == 0 || source.columns == 0) return {};
  const auto bytes = [](int64_t numbers) { return numbers * static_cast<int64_t>(sizeof(float)); };
  return context.queue.copy({target.data, bytes(target.row_stride), source.data, bytes(source.row_stride),
                             bytes(source.columns), source.rows});
}

Status epilogue_on_device(Context &context, const EpilogueRequest &whole, bool is_check_only) {
  return run_on_device(context, "finish", whole, {whole.out.format.id}, is_check_only);
}

}  // namespace lpt
