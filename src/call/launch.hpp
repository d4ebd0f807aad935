// Kernels on the device of the context: the CPU runs slices on its threads, a device queues the full request.
#pragma once

#include "src/call/operation.hpp"

namespace lpt {

// Partition of a request on the CPU into slices of full units. `work` is the work of one unit; `bytes` is reported by profiles.
struct Split {
  int64_t units, work;
  double bytes;
};

template <typename Request>
Status queue_kernel(Context &context, const KernelEntry<Request> &kernel, const Request &request) {
  return context.queue.run(kernel.name, [&] { kernel.queue(request, context.queue.stream()); });
}

// The same as copy_matrix(), queued on the device.
inline Status queue_copy(const Context &context, const MatrixView &source, const MatrixView &target) {
  const lpt_format element = source.format.element;
  return context.queue.copy({target.data, row_bytes(element, target.row_stride), source.data,
                             row_bytes(element, source.row_stride), row_bytes(element, source.columns), source.rows});
}

// Returns a vector of indices in device memory. A copy has read pageable CPU memory when it returns.
inline Status take_indices(Context &context, const MatrixView &indices, bool is_in_cpu_memory, const void **out) {
  *out = indices.data;
  if (!is_in_cpu_memory) return {};
  const int64_t bytes = row_bytes(indices.format.id, indices.columns);
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, static_cast<size_t>(bytes), &memory));
  *out = memory;
  return context.queue.copy({memory, bytes, indices.data, bytes, bytes, 1});
}

// Selects a kernel of the family for `whole` and runs it, unless `is_check_only`. slice(whole, begin, count) returns the
// request for some units. An operation of several steps runs all of them twice, first as a check, so that a rejection leaves
// nothing queued.
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

// The same as launch(), for kernels that only devices have.
template <typename Request>
Status run_on_device(Context &context, const char *operation, const Request &request,
                     std::initializer_list<lpt_format> formats, bool is_check_only) {
  const KernelEntry<Request> *kernel = nullptr;
  LPT_TRY(select_kernel(context, operation, request, formats, &kernel));
  return is_check_only ? Status() : queue_kernel(context, *kernel, request);
}

}  // namespace lpt
