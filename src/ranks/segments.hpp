// The bytes of a tensor that are sent: rows of its elements and scales.
#pragma once

#include <vector>

#include "src/comm/engine.hpp"
#include "src/tensor/flat_view.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

struct Segment {
  std::byte *data;
  int64_t rows, bytes, stride;  // `bytes` of one row; `stride` in bytes

  bool operator==(const Segment &) const = default;
};

class SegmentList {
 public:
  SegmentList() = default;

  // All components of a view; the tensor scale is the last.
  explicit SegmentList(const MatrixView &view);

  int64_t bytes() const { return bytes_; }
  const std::vector<Segment> &list() const { return segments_; }
  bool is_same(const SegmentList &other) const { return segments_ == other.segments_; }

  // Returns the address if all bytes are contiguous, otherwise NULL.
  std::byte *run() const;

  // Copies by the queue of the device of the segments.
  Status copy_to(const Queue &queue, std::byte *run) const;
  Status copy_from(const Queue &queue, const std::byte *run) const;

 private:
  void add(void *data, int64_t rows, int64_t bytes, int64_t stride);

  std::vector<Segment> segments_;
  int64_t bytes_ = 0;
};

// The first axis of a tensor, along which ranks own parts: rows of its view, or the columns of a vector.
struct FirstAxis {
  bool is_columns;
  int64_t extent;
  int64_t fold;  // rows of the view per step along the axis
};
FirstAxis first_axis_of(const Tensor &tensor);
MatrixView cut_first(const FirstAxis &axis, const MatrixView &view, int64_t begin, int64_t count);

// Computes the extents of all ranks' parts along the first axis: `counts`, or equal ones if it is NULL. Parts begin at block
// bounds.
Status find_counts(const char *name, const int64_t *counts, int32_t ranks, const FirstAxis &axis,
                   const MatrixView &view, const char *view_name, std::vector<int64_t> &out_counts);

// Returns the elements of each part in row order.
std::vector<Range> element_ranges(const FirstAxis &axis, const MatrixView &view, const std::vector<int64_t> &counts);

}  // namespace lpt
