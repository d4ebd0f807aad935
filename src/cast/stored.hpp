// Activations that a backward pass reads: wide floats, or codes. Codes are decoded some rows at a time, so that the decoded
// matrix is never in memory as a whole.
#pragma once

#include <vector>

#include "kernels/quantize/quantize.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {

// Checks a matrix of wide floats, or of codes whose blocks are one row high. See check_matrix().
Status check_stored_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                           const Device &device = {});

class Stored {
 public:
  // Selects the kernel that decodes `view` and takes scratch for `rows` rows. Wide floats need neither.
  Status prepare(Context &context, const MatrixView &view, int64_t rows, bool is_check_only);

  // Returns the view of decoded elements for kernel selection.
  MatrixView numbers() const { return numbers_; }

  // CPU: decodes rows begin .. begin + count and returns them. `chunk_begin` is the first row of the scratch. Threads may
  // call it concurrently for disjoint rows.
  MatrixView rows(int64_t chunk_begin, int64_t begin, int64_t count) const;

  // Device: queues the decoding of rows. The next call overwrites them, after the work that is queued in between.
  Status queue_rows(Context &context, int64_t begin, int64_t count, MatrixView &out_rows) const;

 private:
  MatrixView view_;
  MatrixView numbers_;  // `view_`, or the f32 scratch
  const KernelEntry<DequantizeRequest> *kernel_ = nullptr;
};

// Returns the number of rows to decode at a time, a multiple of `unit`; all rows if no view is decoded.
int64_t stored_chunk(const Context &context, std::initializer_list<const MatrixView *> views, int64_t unit);

}  // namespace lpt
