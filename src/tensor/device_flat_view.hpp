// A matrix of a device as a line of numbers side by side.
#pragma once

#include "src/tensor/flat_view.hpp"

namespace lpt {

class DeviceFlatView {
 public:
  // The numbers where they lie side by side, or copied so.
  Status gather(Context &worker, const MatrixView &view);

  // Room for them, there or in scratch; settle() then brings them where they belong.
  Status place(Context &worker, const MatrixView &view);
  Status write_back(const Context &worker) const;

  int64_t bytes(int64_t elements) const { return elements * element_bytes_; }
  std::byte *at(int64_t element) const { return data_ + bytes(element); }

  // Adjacent elements as a matrix of one row.
  MatrixView run(const Range &range) const { return dense_view(view_.format.id, at(range.begin), 1, range.count()); }

 private:
  MatrixView view_;
  std::byte *data_ = nullptr;
  int64_t element_bytes_ = 1;
  bool is_copy_ = false;
};

}  // namespace lpt
