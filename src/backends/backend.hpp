// What a kind of device is to the library: where memory is, and how work is queued.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lpt.h"

namespace lpt {

// Rows of bytes, from one place to another. Either may be memory of the CPU.
struct CopyRequest {
  void *target;
  int64_t target_stride;  // bytes from row to row
  const void *source;
  int64_t source_stride;
  int64_t row_bytes, rows;
};

// One function per need. They return an lpt_status; other than 0 with one line of text in `error`, cut to error_bytes: plain
// C, since most come from a plugin. Streams are the device's own; NULL is its default. The CPU has no use for some: its
// memory comes from allocators of the caller, its rows are run by the context's threads.
struct Backend {
  // Fills all but the kind and struct_size. A device that is not there, or not usable, is no error.
  int32_t (*describe)(int32_t index, lpt_device_info *out_description, char *error, size_t error_bytes) = nullptr;

  int32_t (*allocate)(int32_t index, size_t bytes, void **out_memory, char *error, size_t error_bytes) = nullptr;
  void (*release)(int32_t index, void *memory) = nullptr;

  // Rejects memory that is not the device's.
  int32_t (*check)(int32_t index, const void *memory, char *error, size_t error_bytes) = nullptr;

  // Queue work and return.
  int32_t (*fill)(int32_t index, void *stream, void *memory, uint8_t value, size_t bytes, char *error,
                  size_t error_bytes) = nullptr;
  int32_t (*copy)(int32_t index, void *stream, const CopyRequest *request, char *error, size_t error_bytes) = nullptr;

  // Likewise between memory of two devices of this kind, on a stream of `index`.
  int32_t (*copy_between)(int32_t index, void *stream, const CopyRequest *request, int32_t target_index,
                          int32_t source_index, char *error, size_t error_bytes) = nullptr;

  // Waits for what is queued, and tells whether it failed.
  int32_t (*synchronize)(int32_t index, void *stream, char *error, size_t error_bytes) = nullptr;

  // Makes the device the calling thread's own while kernels are queued on `stream`; `leave` gives back what was before, and
  // tells whether a kernel could not be queued, or one queued before has failed.
  int32_t (*enter)(int32_t index, void *stream, int32_t *out_previous, char *error, size_t error_bytes) = nullptr;
  int32_t (*leave)(int32_t index, int32_t previous, char *error, size_t error_bytes) = nullptr;

  // A stream that waits for no other one.
  int32_t (*make_stream)(int32_t index, void **out_stream, char *error, size_t error_bytes) = nullptr;
  void (*drop_stream)(int32_t index, void *stream) = nullptr;

  // A mark in a stream, again and again: `record` sets it behind what is queued there, `follow` makes a stream wait for it.
  int32_t (*make_event)(int32_t index, void **out_event, char *error, size_t error_bytes) = nullptr;
  void (*drop_event)(int32_t index, void *event) = nullptr;
  int32_t (*record)(int32_t index, void *event, void *stream, char *error, size_t error_bytes) = nullptr;
  int32_t (*follow)(int32_t index, void *stream, void *event, char *error, size_t error_bytes) = nullptr;

  // Whether a stream has come to where the event was recorded last; waits for nothing.
  int32_t (*is_past)(int32_t index, void *event, int32_t *out_is_past, char *error, size_t error_bytes) = nullptr;
};

}  // namespace lpt
