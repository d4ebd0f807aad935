// Kernels where a context works: the CPU runs slices on its threads, a device takes the whole in its queue.
#pragma once

#include "src/call/operation.hpp"

namespace lpt {

// How the CPU cuts a request: into slices of whole units of some `work` each. `bytes` is what a profile says of the call.
struct Split {
  int64_t units, work;
  double bytes;
};

template <typename Request>
Status queue_kernel(Context &context, const KernelEntry<Request> &kernel, const Request &request) {
  return context.queue.run(kernel.name, [&] { kernel.queue(request, context.queue.stream()); });
}

// As copy_matrix(), queued on the device.
inline Status queue_copy(const Context &context, const MatrixView &source, const MatrixView &target) {
  const lpt_format element = source.format.element;
  return context.queue.copy({target.data, row_bytes(element, target.row_stride), source.data,
                             row_bytes(element, source.row_stride), row_bytes(element, source.columns), source.rows});
}

// A vector of indices, in memory of the device. A copy from CPU memory has read it when it returns: it is not page-locked.
inline Status take_indices(Context &context, const MatrixView &indices, bool is_in_cpu_memory, const void **out) {
  *out = indices.data;
  if (!is_in_cpu_memory) return {};
  const int64_t bytes = row_bytes(indices.format.id, indices.columns);
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, static_cast<size_t>(bytes), &memory));
  *out = memory;
  return context.queue.copy({memory, bytes, indices.data, bytes, bytes, 1});
}

// Selects a kernel of the family for `whole` and runs it, unless `is_check_only`. slice(whole, begin, count) is the request
// for some units. An operation of several steps goes through all of them twice, so that a rejection leaves nothing queued.
template <typename Request, typename Slice>
Status launch(Context &context, const std::type_identity_t<KernelFamily<Request>> &family, const Request &whole,
              std::initializer_list<lpt_format> formats, bool is_check_only, const Split &split, const Slice &slice) {
  const KernelEntry<Request> *kernel = nullptr;
  LPT_TRY(select_kernel(context, family, whole, formats, &kernel));
  if (is_check_only) return {};
  if (!is_on_cpu(context)) return queue_kernel(context, *kernel, whole);
  const ProfileScope measure(context, family.name, kernel->name, split.bytes);
  parallel_parts(context, split.units, split.work,
                 [&](int64_t begin, int64_t count) { kernel->run(slice(whole, begin, count)); });
  return {};
}

// As launch(), of a kernel that only devices have.
template <typename Request>
Status run_on_device(Context &context, const char *operation, const Request &request,
                     std::initializer_list<lpt_format> formats, bool is_check_only) {
  const KernelEntry<Request> *kernel = nullptr;
  LPT_TRY(select_kernel(context, operation, request, formats, &kernel));
  return is_check_only ? Status() : queue_kernel(context, *kernel, request);
}

}  // namespace lpt
