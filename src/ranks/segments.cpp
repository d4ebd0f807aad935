#include "src/ranks/segments.hpp"

#include "src/call/operation.hpp"

namespace lpt {

void SegmentList::add(void *data, int64_t rows, int64_t bytes, int64_t stride) {
  if (rows == 0 || bytes == 0) return;
  if (rows == 1 || stride == bytes) {  // contiguous
    bytes *= rows;
    rows = 1;
    stride = bytes;
  }
  segments_.push_back({static_cast<std::byte *>(data), rows, bytes, stride});
  bytes_ += rows * bytes;
}

SegmentList::SegmentList(const MatrixView &view) {
  if (view.rows == 0 || view.columns == 0) return;
  const Format &format = view.format;
  add(view.data, view.rows, row_bytes(format.element, view.columns), row_bytes(format.element, view.row_stride));
  const BlockGrid grid = block_grid(format, view.rows, view.columns);
  if (format.has_block_scale()) {
    add(view.block_scales, grid.rows, row_bytes(format.block_scale, grid.columns),
        row_bytes(format.block_scale, view.block_scale_stride));
  }
  if (format.has_zero_point()) add(view.zero_points, grid.rows, grid.columns, view.block_scale_stride);
  if (format.has_tensor_scale()) add(view.tensor_scale, 1, sizeof(float), sizeof(float));
}

std::byte *SegmentList::run() const {
  return segments_.size() == 1 && segments_.front().rows == 1 ? segments_.front().data : nullptr;
}

Status SegmentList::copy_to(const Queue &queue, std::byte *run) const {
  for (const Segment &segment : segments_) {
    LPT_TRY(queue.copy({run, segment.bytes, segment.data, segment.stride, segment.bytes, segment.rows}));
    run += segment.rows * segment.bytes;
  }
  return {};
}

Status SegmentList::copy_from(const Queue &queue, const std::byte *run) const {
  for (const Segment &segment : segments_) {
    if (segment.data != run) {
      LPT_TRY(queue.copy({segment.data, segment.stride, run, segment.bytes, segment.bytes, segment.rows}));
    }
    run += segment.rows * segment.bytes;
  }
  return {};
}

FirstAxis first_axis_of(const Tensor &tensor) {
  const Shape shape = shape_of(tensor);
  if (tensor.rank <= 1) return {true, shape.columns, 1};
  const int64_t extent = tensor.extents[0];
  return {false, extent, extent == 0 ? 0 : shape.rows / extent};
}

MatrixView cut_first(const FirstAxis &axis, const MatrixView &view, int64_t begin, int64_t count) {
  if (axis.is_columns) return cut_columns(view, begin, count);
  return cut_rows(view, begin * axis.fold, count * axis.fold);
}

Status find_counts(const char *name, const int64_t *counts, int32_t ranks, const FirstAxis &axis,
                   const MatrixView &view, const char *view_name, std::vector<int64_t> &out_counts) {
  if (counts == nullptr && axis.extent % ranks != 0) {
    return invalid("%s is NULL: %s has extent %lld along its first axis, which %d ranks do not share equally", name,
                   view_name, number(axis.extent), ranks);
  }
  const BlockGrid grid = block_grid(view.format, view.rows, view.columns);
  const Packing packing = packing_of(view.format.element);
  // Sub-byte elements are packed: a pack must not be cut either.
  const int64_t block =
      axis.is_columns ? std::max<int64_t>(view.format.has_block_scale() ? grid.block_columns : 1, packing.elements)
                      : (view.format.has_block_scale() ? grid.block_rows : 1);
  int64_t sum = 0;
  for (int32_t q = 0; q < ranks; ++q) {
    const int64_t count = counts == nullptr ? axis.extent / ranks : counts[q];
    if (count < 0 || count > axis.extent - sum) {
      return invalid("%s is %lld: expected 0 to %lld, what is left of %s along its first axis", item(name, q).c_str(),
                     number(count), number(axis.extent - sum), view_name);
    }
    if (sum * axis.fold % block != 0 && count > 0) {
      return invalid("%s: the part begins at %lld, which cuts a block or a byte of %s", item(name, q).c_str(),
                     number(sum), format_name(view.format.id).c_str());
    }
    sum += count;
    out_counts.push_back(count);
  }
  if (sum == axis.extent) return {};
  return invalid("%s add up to %lld: expected %lld, the extent of %s along its first axis", name, number(sum),
                 number(axis.extent), view_name);
}

std::vector<Range> element_ranges(const FirstAxis &axis, const MatrixView &view, const std::vector<int64_t> &counts) {
  const int64_t elements_of_one = axis.is_columns ? 1 : axis.fold * view.columns;
  std::vector<Range> ranges;
  int64_t begin = 0;
  for (const int64_t count : counts) {
    ranges.push_back({begin, begin + count * elements_of_one});
    begin = ranges.back().end;
  }
  return ranges;
}

}  // namespace lpt
