// Activations that a backward pass reads on a device: as Stored (stored.hpp), but decoded by work that is queued.
#pragma once

#include "kernels/quantize/quantize.hpp"
#include "src/call/device.hpp"

namespace lpt {

// Decoded at a time: 16 mebibytes of f32, so that a launch has work for a whole device, and finds the numbers in its cache.
constexpr int64_t kDeviceStoredElements = int64_t{1} << 22;

class DeviceStored {
 public:
  // Chooses how to decode `view`, and takes scratch for `rows` rows of it. Wide floats need neither.
  Status prepare(Context &context, const MatrixView &view, int64_t rows, bool is_check_only);

  // What a kernel sees instead of the whole: numbers.
  const MatrixView &numbers() const { return numbers_; }

  // Rows begin .. begin + count as numbers, until the next call: work that is queued in between comes before it.
  Status queue_rows(Context &context, int64_t begin, int64_t count, MatrixView &out_rows) const;

 private:
  MatrixView view_;
  MatrixView numbers_;  // `view_`, or the scratch
  const KernelEntry<DequantizeRequest> *kernel_ = nullptr;
};

}  // namespace lpt
