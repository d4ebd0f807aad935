#include "src/ops/line.hpp"

#include <cstring>

namespace lpt {

Line::Line(const MatrixView &view) : view_(view), element_bytes_(element_bits(view.format.element) / 8) {
  const bool is_dense = view.rows <= 1 || view.row_stride == view.columns;
  columns_ = std::max<int64_t>(is_dense ? view.rows * view.columns : view.columns, 1);
}

bool Line::is_run(const Range &range) const {
  return range.count() == 0 || range.begin / columns_ == (range.end - 1) / columns_;
}

MatrixView Line::run(const Range &range) const {
  auto *const data = static_cast<std::byte *>(view_.data);
  const int64_t at = range.begin / columns_ * view_.row_stride + range.begin % columns_;
  return dense_view(view_.format.id, range.count() == 0 ? nullptr : data + at * element_bytes_, 1, range.count());
}

template <typename Copy>
void Line::for_rows(const Range &range, const Copy &copy) const {
  for (int64_t i = range.begin, count; i < range.end; i += count) {
    count = std::min(range.end - i, columns_ - i % columns_);
    copy(run({i, i + count}).data, (i - range.begin) * element_bytes_, static_cast<size_t>(count * element_bytes_));
  }
}

void Line::copy_to(const Range &range, void *run) const {
  for_rows(range,
           [&](void *row, int64_t at, size_t bytes) { std::memcpy(static_cast<std::byte *>(run) + at, row, bytes); });
}

void Line::copy_from(const Range &range, const void *run) const {
  for_rows(range, [&](void *row, int64_t at, size_t bytes) {
    std::memcpy(row, static_cast<const std::byte *>(run) + at, bytes);
  });
}

MatrixView Line::place_of(const Range &range, std::byte *scratch) const {
  return is_run(range) ? run(range) : dense_view(view_.format.id, scratch, 1, range.count());
}

MatrixView Line::gathered(const Range &range, std::byte *scratch) const {
  if (!is_run(range)) copy_to(range, scratch);
  return place_of(range, scratch);
}

void Line::settle(const Range &range, const MatrixView &place) const {
  if (!is_run(range)) copy_from(range, place.data);
}

std::vector<Spot> spots_of(const std::vector<Range> &ranges, int64_t length) {
  std::vector<Spot> spots;
  for (size_t share = 0; share < ranges.size(); ++share) {
    const int64_t count = ranges[share].count();
    for (int64_t begin = 0; begin < count; begin += length) {
      spots.push_back({share, begin, std::min(length, count - begin)});
    }
  }
  return spots;
}

}  // namespace lpt
