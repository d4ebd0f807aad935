#include "src/gemm/cast.hpp"

#include "src/cast/cast.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status cast_first_operand(Context &context, const lpt_gemm_options &options, MatrixView &a, size_t &out_bytes) {
  out_bytes = 0;
  if ((options.flags & LPT_GEMM_CAST_A_TO_BF16) == 0 || a.format.id != LPT_FORMAT_F32) return {};
  const Device &device = context.queue.device();
  if (!device.is_cpu()) {
    return unsupported("flags has LPT_GEMM_CAST_A_TO_BF16 and a is f32 on %s: expected a in bf16 there",
                       device_text(device).c_str());
  }
  const bool is_check = is_check_only(options.flags);
  const MatrixView source = a;
  LPT_TRY(take_matrix(context, LPT_FORMAT_BF16, source.rows, source.columns, is_check, a));
  MatrixView shape;
  out_bytes = lay_out_matrix(a.format, a.rows, a.columns, nullptr, shape);
  const SuppressProgress silence(context);  // the progress reports are those of the GEMM
  return widen_matrix(context, source, a, is_check);
}

}  // namespace lpt
