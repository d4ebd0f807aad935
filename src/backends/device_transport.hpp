// Transport between ranks with one device each: a table of C functions that a device plugin implements with NCCL.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lpt.h"

namespace lpt {

// Bytes in device memory. With 0 bytes nothing is sent.
struct DeviceRun {
  void *data;
  int64_t bytes;
};

// A sum that the transport computes, in an unspecified order.
struct DeviceSum {
  lpt_format format;  // f64, f32, bf16 or f16
  lpt_reduction reduction;
  const void *input;  // elements of all slices
  void *output;       // may equal the input; with is_to_parts: this rank's slice
  int64_t elements;   // of the input; with is_to_parts a multiple of the ranks
  bool is_to_parts;
};

// Functions return an lpt_status. On an error they write one line of text to `error`, cut to error_bytes. One thread at a time
// uses an endpoint, except for abort(). All ranks open, split and exchange in the same order. `seconds` limits every wait for
// other ranks; 0: no limit. After LPT_TIMEOUT the result of the operation is unusable.
struct DeviceTransport {
  static constexpr size_t kIdBytes = 128;

  const char *name;  // reported by lpt_comm_info

  // Fails if the underlying library is missing or too old.
  int32_t (*check)(char *error, size_t error_bytes);

  // make_id() creates the data by which ranks connect: one rank calls it and sends the data to the others. open() connects
  // them.
  int32_t (*make_id)(uint8_t *out_id, char *error, size_t error_bytes);
  int32_t (*open)(int32_t index, const uint8_t *id, int32_t rank, int32_t ranks, double seconds, void **out_end,
                  char *error, size_t error_bytes);

  // Opens an endpoint on a communicator that the caller owns.
  int32_t (*adopt)(int32_t index, void *communicator, void **out_end, int32_t *out_rank, int32_t *out_ranks,
                   char *error, size_t error_bytes);

  // Opens an endpoint among the ranks of the same color, ordered by (key, rank). With color -1 `out_end` is not set.
  int32_t (*split)(void *end, int32_t color, int32_t key, double seconds, void **out_end, int32_t *out_rank,
                   int32_t *out_ranks, char *error, size_t error_bytes);

  // Queue work and return when it is queued. outgoing[q] is sent to rank q, incoming[q] is received from it. The entries of
  // this rank are ignored.
  int32_t (*all_to_all_v)(void *end, void *stream, const DeviceRun *outgoing, const DeviceRun *incoming, double seconds,
                          char *error, size_t error_bytes);
  int32_t (*sum)(void *end, void *stream, const DeviceSum *sum, double seconds, char *error, size_t error_bytes);

  // Returns an error that has occurred meanwhile. Does not wait.
  int32_t (*look)(void *end, char *error, size_t error_bytes);

  // Aborts queued work on this rank and, eventually, on the other ranks. Afterwards the endpoint can only be closed. Returns
  // false for a communicator of the caller, which only its owner aborts.
  bool (*abort)(void *end);

  // Closes the endpoint. Waits for other ranks for at most `seconds`, unless it was aborted.
  void (*close)(void *end, double seconds);
};

}  // namespace lpt
