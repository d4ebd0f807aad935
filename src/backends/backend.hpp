// Interface of a kind of device: memory, streams and events, as a table of functions.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lpt.h"

namespace lpt {

// A copy of rows of bytes. Source and target may be CPU memory.
struct CopyRequest {
  void *target;
  int64_t target_stride;  // bytes from row to row
  const void *source;
  int64_t source_stride;
  int64_t row_bytes, rows;
};

// Functions return an lpt_status. On an error they write one line of text to `error`, cut to error_bytes. They have C
// signatures, since plugins implement most backends. Streams are those of the device; NULL is its default stream. The CPU
// leaves some functions NULL: callers provide its memory, and the context's threads run its kernels.
struct Backend {
  // Fills all members except device, index and struct_size. A missing or unusable device is no error.
  int32_t (*describe)(int32_t index, lpt_device_info *out_description, char *error, size_t error_bytes) = nullptr;

  int32_t (*allocate)(int32_t index, size_t bytes, void **out_memory, char *error, size_t error_bytes) = nullptr;
  void (*release)(int32_t index, void *memory) = nullptr;

  // Rejects memory that does not belong to the device.
  int32_t (*check)(int32_t index, const void *memory, char *error, size_t error_bytes) = nullptr;

  // Queue work on `stream` and return.
  int32_t (*fill)(int32_t index, void *stream, void *memory, uint8_t value, size_t bytes, char *error,
                  size_t error_bytes) = nullptr;
  int32_t (*copy)(int32_t index, void *stream, const CopyRequest *request, char *error, size_t error_bytes) = nullptr;

  // Queues a copy between memory of two devices of this kind, on a stream of `index`.
  int32_t (*copy_between)(int32_t index, void *stream, const CopyRequest *request, int32_t target_index,
                          int32_t source_index, char *error, size_t error_bytes) = nullptr;

  // Waits for queued work and returns its error.
  int32_t (*synchronize)(int32_t index, void *stream, char *error, size_t error_bytes) = nullptr;

  // enter() makes the device current for the calling thread, which then queues kernels on `stream`. leave() restores the
  // previous device. It returns an error if a kernel could not be queued, or if an earlier one has failed.
  int32_t (*enter)(int32_t index, void *stream, int32_t *out_previous, char *error, size_t error_bytes) = nullptr;
  int32_t (*leave)(int32_t index, int32_t previous, char *error, size_t error_bytes) = nullptr;

  // Creates a stream that does not wait for other streams.
  int32_t (*make_stream)(int32_t index, void **out_stream, char *error, size_t error_bytes) = nullptr;
  void (*drop_stream)(int32_t index, void *stream) = nullptr;

  // A reusable event. record() sets it after the work that is queued on a stream, follow() makes a stream wait for it.
  int32_t (*make_event)(int32_t index, void **out_event, char *error, size_t error_bytes) = nullptr;
  void (*drop_event)(int32_t index, void *event) = nullptr;
  int32_t (*record)(int32_t index, void *event, void *stream, char *error, size_t error_bytes) = nullptr;
  int32_t (*follow)(int32_t index, void *stream, void *event, char *error, size_t error_bytes) = nullptr;

  // Tests whether a stream has passed the last record() of the event. Does not wait.
  int32_t (*is_past)(int32_t index, void *event, int32_t *out_is_past, char *error, size_t error_bytes) = nullptr;
};

}  // namespace lpt
