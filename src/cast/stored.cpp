#include "src/cast/stored.hpp"

#include "src/call/launch.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// Elements that are decoded at a time. CPU: 1 MiB of f32. Device: 16 MiB, so that a launch occupies the device and the
// decoded elements fit in its cache.
constexpr int64_t kElements = int64_t{1} << 18, kDeviceElements = int64_t{1} << 22;

bool is_wide(const MatrixView &view) { return is_wide_float(view.format.id); }

}  // namespace

Status check_stored_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                           const Device &device) {
  LPT_TRY(check_matrix(tensor, name, needs_data, out_view, device));
  LPT_TRY(check_holds_numbers(out_view.format.id, name));
  if (out_view.format.block_rows > 1) {
    return unsupported("%s is %s: expected blocks one row high", name, format_name(out_view.format.id).c_str());
  }
  return {};
}

Status Stored::prepare(Context &context, const MatrixView &view, int64_t rows, bool is_check_only) {
  view_ = numbers_ = view;
  if (is_wide(view)) return {};
  numbers_ = dense_view(LPT_FORMAT_F32, nullptr, rows, view.columns);
  LPT_TRY(select_kernel(context, {"dequantize", dequantize_kernels}, DequantizeRequest{view, numbers_},
                        {view.format.id, numbers_.format.id}, &kernel_));
  if (is_check_only) return {};
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, static_cast<size_t>(rows * view.columns) * sizeof(float), &memory));
  numbers_.data = memory;
  return {};
}

MatrixView Stored::rows(int64_t chunk_begin, int64_t begin, int64_t count) const {
  if (kernel_ == nullptr) return cut_rows(view_, begin, count);
  const MatrixView target = cut_rows(numbers_, begin - chunk_begin, count);
  kernel_->run(DequantizeRequest{cut_rows(view_, begin, count), target});
  return target;
}

Status Stored::queue_rows(Context &context, int64_t begin, int64_t count, MatrixView &out_rows) const {
  const MatrixView part = cut_rows(view_, begin, count);
  out_rows = kernel_ == nullptr ? part : cut_rows(numbers_, 0, count);
  return kernel_ == nullptr ? Status() : queue_kernel(context, *kernel_, DequantizeRequest{part, out_rows});
}

int64_t stored_chunk(const Context &context, std::initializer_list<const MatrixView *> views, int64_t unit) {
  int64_t rows = 0, columns = 1;
  bool is_decoded = false;
  for (const MatrixView *view : views) {
    rows = view->rows;
    columns = std::max(columns, view->columns);
    is_decoded = is_decoded || !is_wide(*view);
  }
  if (!is_decoded) return std::max<int64_t>(rows, 1);
  return std::max<int64_t>((is_on_cpu(context) ? kElements : kDeviceElements) / (columns * unit), 1) * unit;
}

}  // namespace lpt
