// Work on a device: its scratch, and kernels on its stream.
#pragma once

#include "src/call/operation.hpp"

namespace lpt {

// Scratch that kernels of the device see, until the next call of the context; uncleared.
Status take_on_device(Context &context, size_t bytes, std::byte **out);

// A matrix there; with `is_check_only` one without data.
Status take_matrix_on_device(Context &context, const Format &format, int64_t rows, int64_t columns, bool is_check_only,
                             MatrixView &out_view);

template <typename Request>
Status queue_kernel(Context &context, const KernelEntry<Request> &kernel, const Request &request) {
  return context.queue.run(kernel.name, [&] { kernel.queue(request, context.queue.stream()); });
}

// A step of one kernel: selected, and queued unless `is_check_only`. An operation of several steps goes through all of them twice,
// so that a rejection leaves nothing queued.
template <typename Request>
Status run_on_device(Context &context, const char *operation, const Request &request,
                     std::initializer_list<lpt_format> formats, bool is_check_only) {
  const KernelEntry<Request> *kernel = nullptr;
  LPT_TRY(select_kernel(context, operation, request, formats, &kernel));
  return is_check_only ? Status() : queue_kernel(context, *kernel, request);
}

}  // namespace lpt
