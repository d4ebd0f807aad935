#include "src/tensor/flat_view.hpp"

#include <cstring>

namespace lpt {

FlatView::FlatView(const MatrixView &view) : view_(view), element_bytes_(element_bits(view.format.element) / 8) {
  const bool is_dense = view.rows <= 1 || view.row_stride == view.columns;
  columns_ = std::max<int64_t>(is_dense ? view.rows * view.columns : view.columns, 1);
}

bool FlatView::is_run(const Range &range) const {
  return range.count() == 0 || range.begin / columns_ == (range.end - 1) / columns_;
}

MatrixView FlatView::run(const Range &range) const {
  auto *const data = static_cast<std::byte *>(view_.data);
  const int64_t at = range.begin / columns_ * view_.row_stride + range.begin % columns_;
  return dense_view(view_.format.id, range.count() == 0 ? nullptr : data + at * element_bytes_, 1, range.count());
}

template <typename Copy>
void FlatView::for_rows(const Range &range, const Copy &copy) const {
  for (int64_t i = range.begin, count; i < range.end; i += count) {
    count = std::min(range.end - i, columns_ - i % columns_);
    copy(run({i, i + count}).data, (i - range.begin) * element_bytes_, static_cast<size_t>(count * element_bytes_));
  }
}

void FlatView::copy_to(const Range &range, void *run) const {
  for_rows(range,
           [&](void *row, int64_t at, size_t bytes) { std::memcpy(static_cast<std::byte *>(run) + at, row, bytes); });
}

void FlatView::copy_from(const Range &range, const void *run) const {
  for_rows(range, [&](void *row, int64_t at, size_t bytes) {
    std::memcpy(row, static_cast<const std::byte *>(run) + at, bytes);
  });
}

MatrixView FlatView::writable_span(const Range &range, std::byte *scratch) const {
  return is_run(range) ? run(range) : dense_view(view_.format.id, scratch, 1, range.count());
}

MatrixView FlatView::gathered(const Range &range, std::byte *scratch) const {
  if (!is_run(range)) copy_to(range, scratch);
  return writable_span(range, scratch);
}

void FlatView::write_back(const Range &range, const MatrixView &place) const {
  if (!is_run(range)) copy_from(range, place.data);
}

std::vector<Subrange> subranges_of(const std::vector<Range> &ranges, int64_t length) {
  std::vector<Subrange> subranges;
  for (size_t share = 0; share < ranges.size(); ++share) {
    const int64_t count = ranges[share].count();
    for (int64_t begin = 0; begin < count; begin += length) {
      subranges.push_back({share, begin, std::min(length, count - begin)});
    }
  }
  return subranges;
}

Status DeviceFlatView::place(Context &worker, const MatrixView &view) {
  view_ = view;
  element_bytes_ = element_bits(view.format.element) / 8;
  is_copy_ = view.rows > 1 && view.row_stride != view.columns;
  data_ = static_cast<std::byte *>(view.data);
  if (!is_copy_) return {};
  return take_scratch(worker, static_cast<size_t>(bytes(view.rows * view.columns)), &data_);
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
