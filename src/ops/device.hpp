// Work on a device: its scratch, choice of its rows, and their queuing.
#pragma once

#include <cstring>

#include "kernels/common/device_row.hpp"
#include "src/ops/operation.hpp"

namespace lpt {

Status open_device(Context &context, const Device &device);
Status set_stream(Context &context, void *stream);

// Scratch that kernels of the device see, until the next call of the context; uncleared.
Status take_on_device(Context &context, size_t bytes, std::byte **out);

// A matrix there; with `is_check_only` one without data.
Status take_matrix_on_device(Context &context, const Format &format, int64_t rows, int64_t columns, bool is_check_only,
                             MatrixView &out_view);

// The rows that the context's device has of a family.
template <typename Request>
std::span<const DeviceRow<Request>> device_rows(const Context &context, const char *family) {
  for (const DeviceFamily &known : context.queue.families()) {
    if (std::strcmp(known.name, family) != 0 || known.row_bytes != sizeof(DeviceRow<Request>)) continue;
    return {static_cast<const DeviceRow<Request> *>(known.rows), static_cast<size_t>(known.row_count)};
  }
  return {};
}

// The first row of a family that takes a request; nullptr: none does, and the explanation says why.
template <typename Request>
const DeviceRow<Request> *find_on_device(Context &context, const char *operation, const Request &request) {
  for (const DeviceRow<Request> &row : device_rows<Request>(context, operation)) {
    const int32_t capability = context.queue.capability();
    const bool is_new = row.most_capability != 0 && capability > row.most_capability;
    const char *const reason = capability < row.least_capability ? "the device has an older compute capability"
                               : is_new                          ? "the device has a newer compute capability"
                               : row.refuses == nullptr          ? nullptr
                                                                 : row.refuses(request);
    if (reason == nullptr) {
      explain_taken(context, operation, row.name);
      return &row;
    }
    explain_passed(context, row.name, 0, reason);
  }
  return nullptr;
}

// As choose() for rows of the processor: the name of an operation is that of its family.
template <typename Request>
Status choose_on_device(Context &context, const char *operation, const Request &request,
                        std::initializer_list<lpt_format> formats, const DeviceRow<Request> **out_row) {
  *out_row = find_on_device(context, operation, request);
  return *out_row != nullptr ? Status() : no_row(context, operation, formats);
}

template <typename Request>
Status queue_row(Context &context, const DeviceRow<Request> &row, const Request &request) {
  return context.queue.run(row.name, [&] { row.run(request, context.queue.stream()); });
}

// A step of one row: chosen, and queued unless `is_check_only`. An operation of several steps goes through all of them twice,
// so that a refusal leaves nothing queued.
template <typename Request>
Status run_on_device(Context &context, const char *operation, const Request &request,
                     std::initializer_list<lpt_format> formats, bool is_check_only) {
  const DeviceRow<Request> *row = nullptr;
  LPT_TRY(choose_on_device(context, operation, request, formats, &row));
  return is_check_only ? Status() : queue_row(context, *row, request);
}

}  // namespace lpt
