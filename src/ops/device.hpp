// Work on a device: its scratch, choice of its rows, and their queuing.
#pragma once

#include <cstring>

#include "src/base/kernel_entry.hpp"
#include "src/ops/operation.hpp"

namespace lpt {

// Scratch that kernels of the device see, until the next call of the context; uncleared.
Status take_on_device(Context &context, size_t bytes, std::byte **out);

// A matrix there; with `is_check_only` one without data.
Status take_matrix_on_device(Context &context, const Format &format, int64_t rows, int64_t columns, bool is_check_only,
                             MatrixView &out_view);

// The rows that the context's device has of a family.
template <typename Request>
std::span<const KernelEntry<Request>> device_kernels(const Context &context, const char *family) {
  for (const DeviceFamily &known : context.queue.families()) {
    if (std::strcmp(known.name, family) != 0 || known.entry_bytes != sizeof(KernelEntry<Request>)) continue;
    return {static_cast<const KernelEntry<Request> *>(known.entries), static_cast<size_t>(known.entry_count)};
  }
  return {};
}

// The first row of a family that takes a request; nullptr: none does, and the explanation says why.
template <typename Request>
const KernelEntry<Request> *find_on_device(Context &context, const char *operation, const Request &request) {
  for (const KernelEntry<Request> &kernel : device_kernels<Request>(context, operation)) {
    const int32_t capability = context.queue.capability();
    const bool is_new = kernel.needs.max_capability != 0 && capability > kernel.needs.max_capability;
    const char *const reason = capability < kernel.needs.min_capability ? "the device has an older compute capability"
                               : is_new                                 ? "the device has a newer compute capability"
                               : kernel.unsupported_reason == nullptr   ? nullptr
                                                                        : kernel.unsupported_reason(request);
    if (reason == nullptr) {
      log_selected(context, operation, kernel.name);
      return &kernel;
    }
    log_rejected(context, kernel.name, 0, reason);
  }
  return nullptr;
}

// As select_kernel() for rows of the CPU: the name of an operation is that of its family.
template <typename Request>
Status select_kernel_on_device(Context &context, const char *operation, const Request &request,
                               std::initializer_list<lpt_format> formats, const KernelEntry<Request> **out_kernel) {
  *out_kernel = find_on_device(context, operation, request);
  return *out_kernel != nullptr ? Status() : no_kernel(context, operation, formats);
}

template <typename Request>
Status queue_kernel(Context &context, const KernelEntry<Request> &kernel, const Request &request) {
  return context.queue.run(kernel.name, [&] { kernel.queue(request, context.queue.stream()); });
}

// A step of one row: chosen, and queued unless `is_check_only`. An operation of several steps goes through all of them twice,
// so that a rejection leaves nothing queued.
template <typename Request>
Status run_on_device(Context &context, const char *operation, const Request &request,
                     std::initializer_list<lpt_format> formats, bool is_check_only) {
  const KernelEntry<Request> *kernel = nullptr;
  LPT_TRY(select_kernel_on_device(context, operation, request, formats, &kernel));
  return is_check_only ? Status() : queue_kernel(context, *kernel, request);
}

}  // namespace lpt
