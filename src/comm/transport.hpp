// Messages between ranks as a table of C functions: what a message engine needs, and what a plugin gives. Plain C on purpose:
// a plugin may come from another compiler.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

// Raised when what is here changes. Functions are added at the end only, and counted by struct_size.
#define LPT_WIRE_ABI 4

#define LPT_WIRE_ANY_RANK (-1)

// Tags are 0 to this: what every MPI has.
#define LPT_WIRE_LAST_TAG 32767

// All functions return an lpt_status; other than 0 with one line of text in `error`, cut to error_bytes. A link belongs to
// one thread at a time; links of one process are used by several at once.
typedef struct lpt_transport_table {
  uint32_t abi;          // LPT_WIRE_ABI
  uint32_t struct_size;  // of the plugin's table
  const char *name;      // as lpt_comm_info tells it
  int32_t copies_sends;  // 1: send() is done with its bytes on return
  int32_t reserved;      // 0

  // The caller's end among the ranks of an MPI communicator; NULL: of all. Returns when all ranks have called it.
  int32_t (*open)(const int32_t *fortran_handle, void **out_link, int32_t *out_rank, int32_t *out_ranks,
                  int32_t *out_world_ranks, char *error, size_t error_bytes);

  // A link among `members`, in whose order its ranks are counted; the caller is one of them, or wants none: NULL. All ranks
  // of the link call it, each with its own part; LPT_TIMEOUT where somebody does not within `seconds`, 0: for ever. `number`,
  // from 1, is the same on all of them, and greater than that of each link that one of them has had from the same open().
  int32_t (*split)(void *endpoint, const int32_t *members, int32_t count, int64_t number, double seconds,
                   void **out_link, char *error, size_t error_bytes);

  // Start a message and return. `data` stays as it is until the request is done. Messages from one rank to another with one
  // tag arrive in their order, and take what was requested in its order; they may be shorter than what was requested. The
  // request of a send may be NULL: done already.
  int32_t (*send)(void *endpoint, int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request,
                  char *error, size_t error_bytes);
  int32_t (*receive)(void *endpoint, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request,
                     char *error, size_t error_bytes);

  // Looks whether a request is done, and gets all others on. What is done, or has failed, is freed. Of a receive that is
  // done `out_peer` is the rank that sent the message, and `out_bytes` its length.
  int32_t (*test)(void *endpoint, void *request, int32_t *out_is_done, int32_t *out_peer, int64_t *out_bytes,
                  char *error, size_t error_bytes);

  // Frees a request that no one waits for any more. From then on no call of the wire reads or writes its `data`, whatever is
  // on the way; where that takes it, all later calls of this process fail with LPT_ABORTED.
  void (*abandon)(void *endpoint, void *request);

  // The caller has no requests left.
  void (*close)(void *endpoint);
} lpt_transport_table;

// The one symbol of a plugin, lpt_plugin_entry; NULL where it does not know this abi.
typedef const lpt_transport_table *(*lpt_wire_entry)(uint32_t abi);

}  // extern "C"
