#include "src/tensor/device_flat_view.hpp"

#include "src/call/device.hpp"

namespace lpt {

Status DeviceFlatView::place(Context &worker, const MatrixView &view) {
  view_ = view;
  element_bytes_ = element_bits(view.format.element) / 8;
  is_copy_ = view.rows > 1 && view.row_stride != view.columns;
  data_ = static_cast<std::byte *>(view.data);
  if (!is_copy_) return {};
  return take_on_device(worker, static_cast<size_t>(bytes(view.rows * view.columns)), &data_);
}

Status DeviceFlatView::gather(Context &worker, const MatrixView &view) {
  LPT_TRY(place(worker, view));
  if (!is_copy_) return {};
  return worker.queue.copy(
      {data_, bytes(view.columns), view.data, bytes(view.row_stride), bytes(view.columns), view.rows});
}

Status DeviceFlatView::write_back(const Context &worker) const {
  if (!is_copy_) return {};
  return worker.queue.copy(
      {view_.data, bytes(view_.row_stride), data_, bytes(view_.columns), bytes(view_.columns), view_.rows});
}

}  // namespace lpt
