// Activations that a backward pass reads: wide floats, or codes that are decoded rows at a time, so that what was stored in
// few bytes never stands whole in many.
#pragma once

#include <vector>

#include "kernels/quantize/quantize.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {

// check_matrix() of a matrix of wide floats, or of codes whose blocks are one row high.
Status check_stored_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                           const Device &device = {});

class Stored {
 public:
  // Chooses how to decode `view`, and takes scratch for `rows` rows of it. Wide floats need neither.
  Status prepare(Context &context, const MatrixView &view, int64_t rows, bool is_check_only);

  // What a kernel sees instead of the whole: numbers.
  MatrixView numbers() const { return numbers_; }

  // On the CPU: rows begin .. begin + count as numbers; `chunk_begin` is the first row of the scratch. Safe from many threads
  // for rows of their own.
  MatrixView rows(int64_t chunk_begin, int64_t begin, int64_t count) const;

  // On a device: the same, until the next call. Work that is queued in between comes before it.
  Status queue_rows(Context &context, int64_t begin, int64_t count, MatrixView &out_rows) const;

 private:
  MatrixView view_;
  MatrixView numbers_;  // `view_`, or the scratch
  const KernelEntry<DequantizeRequest> *kernel_ = nullptr;
};

// Rows that are decoded at a time, in whole units of `unit` rows; all rows where nothing is decoded.
int64_t stored_chunk(const Context &context, std::initializer_list<const MatrixView *> views, int64_t unit);

}  // namespace lpt
