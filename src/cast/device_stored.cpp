#include "src/cast/device_stored.hpp"

namespace lpt {

Status DeviceStored::prepare(Context &context, const MatrixView &view, int64_t rows, bool is_check_only) {
  view_ = numbers_ = view;
  if (is_wide_float(view.format.id)) return {};
  numbers_ = dense_view(LPT_FORMAT_F32, nullptr, rows, view.columns);
  LPT_TRY(select_kernel(context, "dequantize", DequantizeRequest{view, numbers_}, {view.format.id, LPT_FORMAT_F32},
                        &kernel_));
  if (is_check_only) return {};
  std::byte *memory = nullptr;
  LPT_TRY(take_on_device(context, static_cast<size_t>(rows * view.columns) * sizeof(float), &memory));
  numbers_.data = memory;
  return {};
}

Status DeviceStored::queue_rows(Context &context, int64_t begin, int64_t count, MatrixView &out_rows) const {
  const MatrixView part = cut_rows(view_, begin, count);
  out_rows = kernel_ == nullptr ? part : cut_rows(numbers_, 0, count);
  return kernel_ == nullptr ? Status() : queue_kernel(context, *kernel_, DequantizeRequest{part, out_rows});
}

}  // namespace lpt
