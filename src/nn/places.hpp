// Indices on a device: a kernel finds their places among the classes of a table, or of one rank.
#pragma once

#include "kernels/activation/cuda_steps.hpp"
#include "src/call/launch.hpp"

namespace lpt {

// `count` numbers of scratch memory where the context works.
template <typename Number>
Status take_numbers(Context &context, int64_t count, Number **out) {
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, static_cast<size_t>(count) * sizeof(Number), &memory));
  *out = reinterpret_cast<Number *>(memory);
  return {};
}

struct DevicePlaces {
  MatrixView indices;     // a vector
  bool is_on_cpu;         // the indices are in memory of the CPU
  PlacesRequest request;  // with the ignored index
  const KernelEntry<PlacesRequest> *kernel;
};

// Selects the kernel.
Status choose_places(Context &context, const MatrixView &indices, bool is_on_cpu, int64_t ignored, DevicePlaces &out);

// Queues it: then request.places has the places. Indices in memory of the CPU have been read when it returns.
Status queue_places(Context &context, int64_t first, int64_t classes, DevicePlaces &places);

}  // namespace lpt
