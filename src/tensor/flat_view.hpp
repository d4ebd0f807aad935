// A matrix as one sequence of elements in row order. Ranks divide this sequence into shards.
#pragma once

#include <algorithm>
#include <vector>

#include "src/call/operation.hpp"

namespace lpt {

// A range of elements in row order.
struct Range {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};

class FlatView {
 public:
  explicit FlatView(const MatrixView &view);

  int64_t element_bytes() const { return element_bytes_; }
  int64_t bytes(int64_t elements) const { return elements * element_bytes_; }

  // is_run() returns whether a range is adjacent in memory; run() returns its view.
  bool is_run(const Range &range) const;
  MatrixView run(const Range &range) const;

  void copy_to(const Range &range, void *run) const;
  void copy_from(const Range &range, const void *run) const;

  // Returns the range as adjacent elements: a view of the matrix, or a copy in `scratch`.
  MatrixView gathered(const Range &range, std::byte *scratch) const;

  // Returns memory for the range as adjacent elements: in the matrix, or in `scratch`. write_back() copies `scratch` to the
  // matrix.
  MatrixView writable_span(const Range &range, std::byte *scratch) const;
  void write_back(const Range &range, const MatrixView &place) const;

 private:
  template <typename Copy>
  void for_rows(const Range &range, const Copy &copy) const;

  MatrixView view_;
  int64_t columns_;  // of a run
  int64_t element_bytes_;
};

// A FlatView on a device, where copies are queued.
class DeviceFlatView {
 public:
  // Makes all elements available as adjacent elements: a view of the matrix, or a copy in scratch.
  Status gather(Context &worker, const MatrixView &view);

  // Provides adjacent memory for all elements: in the matrix, or in scratch. write_back() copies the scratch to the matrix.
  Status place(Context &worker, const MatrixView &view);
  Status write_back(const Context &worker) const;

  int64_t bytes(int64_t elements) const { return elements * element_bytes_; }
  std::byte *at(int64_t element) const { return data_ + bytes(element); }

  // Returns adjacent elements as a matrix of one row.
  MatrixView run(const Range &range) const { return dense_view(view_.format.id, at(range.begin), 1, range.count()); }

 private:
  MatrixView view_;
  std::byte *data_ = nullptr;
  int64_t element_bytes_ = 1;
  bool is_copy_ = false;
};

// A part of the shard of one rank.
struct Subrange {
  size_t share;
  int64_t begin, count;  // from the begin of the shard
};

// Divides the ranges into subranges of at most `length` elements.
std::vector<Subrange> subranges_of(const std::vector<Range> &ranges, int64_t length);

// Runs body(subrange, scratch) for each subrange, with `bytes` of scratch for each thread.
template <typename Body>
Status for_subranges(Context &worker, const std::vector<Subrange> &subranges, int64_t bytes, const Body &body) {
  const auto count = static_cast<int64_t>(subranges.size());
  const WorkQueue queue{count, std::min<int64_t>(width_of(worker), count), aligned(static_cast<size_t>(bytes))};
  return run_dynamic(worker, queue, count,
                     [&](int64_t i, std::byte *scratch) { body(subranges[static_cast<size_t>(i)], scratch); });
}

}  // namespace lpt
