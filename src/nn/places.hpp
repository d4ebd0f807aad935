// Conversion of indices on a device to row indices of a table, or to class indices of one rank.
#pragma once

#include "kernels/activation/cuda/cuda_steps.hpp"
#include "src/call/launch.hpp"

namespace lpt {

// Takes `count` numbers of scratch memory on the device of the context.
template <typename Number>
Status take_numbers(Context &context, int64_t count, Number **out) {
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, static_cast<size_t>(count) * sizeof(Number), &memory));
  *out = reinterpret_cast<Number *>(memory);
  return {};
}

struct DeviceIndices {
  MatrixView indices;     // a vector
  bool is_on_cpu;         // the indices are in CPU memory
  PlacesRequest request;  // includes the ignored index
  const KernelEntry<PlacesRequest> *kernel;
};

// Selects the kernel.
Status select_index_kernel(Context &context, const MatrixView &indices, bool is_on_cpu, int64_t ignored,
                           DeviceIndices &out);

// Queues the kernel, which writes request.places. Indices in CPU memory have been read when the function returns.
Status queue_places(Context &context, int64_t first, int64_t classes, DeviceIndices &places);

}  // namespace lpt
