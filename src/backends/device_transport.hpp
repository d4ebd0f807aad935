// How ranks with a device each move bytes between them: a table of C functions that a device plugin gives, from NCCL.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lpt.h"

namespace lpt {

// Bytes in memory of the device; none: nothing is sent.
struct DeviceRun {
  void *data;
  int64_t bytes;
};

// A sum that the wire makes by itself, in an order of its own.
struct DeviceSum {
  lpt_format format;  // f64, f32, bf16 or f16
  lpt_reduction reduction;
  const void *input;  // elements of all shares
  void *output;       // may be the input; with is_to_parts this rank's share of it
  int64_t elements;   // of the input, a multiple of the ranks where is_to_parts
  bool is_to_parts;
};

// Functions return an lpt_status; other than 0 with one line of text in `error`, cut to error_bytes. An end belongs to one thread
// at a time, save abort(). All ranks open, split and exchange in the same order. `seconds` end every wait for other ranks, 0: never,
// and what was waited for is of no use then: LPT_TIMEOUT.
struct DeviceTransport {
  static constexpr size_t kIdBytes = 128;

  const char *name;  // as lpt_comm_info tells it

  // Rejects where the library behind it is missing, or too old.
  int32_t (*check)(char *error, size_t error_bytes);

  // What ranks must know to connect: one of them makes it and sends it to the others.
  int32_t (*make_id)(uint8_t *out_id, char *error, size_t error_bytes);
  int32_t (*open)(int32_t index, const uint8_t *id, int32_t rank, int32_t ranks, double seconds, void **out_end,
                  char *error, size_t error_bytes);

  // An end on a communicator that the caller keeps.
  int32_t (*adopt)(int32_t index, void *communicator, void **out_end, int32_t *out_rank, int32_t *out_ranks,
                   char *error, size_t error_bytes);

  // Ranks of the same color, ordered by (key, rank); -1: none, NULL comes out.
  int32_t (*split)(void *end, int32_t color, int32_t key, double seconds, void **out_end, int32_t *out_rank,
                   int32_t *out_ranks, char *error, size_t error_bytes);

  // Queue, and return when that is done: outgoing[q] goes to each rank q, incoming[q] comes from it. A rank's own are not
  // looked at.
  int32_t (*all_to_all_v)(void *end, void *stream, const DeviceRun *outgoing, const DeviceRun *incoming, double seconds,
                          char *error, size_t error_bytes);
  int32_t (*sum)(void *end, void *stream, const DeviceSum *sum, double seconds, char *error, size_t error_bytes);

  // Tells what has gone wrong since; waits for nothing.
  int32_t (*look)(void *end, char *error, size_t error_bytes);

  // Ends what is queued, here and, sooner or later, on the other ranks: from then on an end can only be closed. False where it
  // is the caller's communicator, which is left to its owner.
  bool (*abort)(void *end);

  // Waits for others that long, unless it was aborted.
  void (*close)(void *end, double seconds);
};

}  // namespace lpt
