// Messages between ranks as a table of C functions: the interface of message engines to transports and transport plugins. It is
// plain C, as another compiler may have built a plugin.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

// Increases when this interface changes. Functions are only appended; struct_size states how many exist.
#define LPT_WIRE_ABI 4

#define LPT_WIRE_ANY_RANK (-1)

// The largest tag; the smallest is 0. Every MPI supports this range.
#define LPT_WIRE_LAST_TAG 32767

// All functions return an lpt_status. On an error they write one line of text to `error`, cut to error_bytes. One thread at a
// time uses a link; several threads use different links of one process at once.
typedef struct lpt_transport_table {
  uint32_t abi;          // LPT_WIRE_ABI
  uint32_t struct_size;  // bytes of the plugin's table
  const char *name;      // reported by lpt_comm_info
  int32_t copies_sends;  // 1: the bytes of send() may change after its return
  int32_t reserved;      // 0

  // Opens the caller's endpoint among the ranks of an MPI communicator; NULL: MPI_COMM_WORLD. Returns when all ranks have
  // called it.
  int32_t (*open)(const int32_t *fortran_handle, void **out_link, int32_t *out_rank, int32_t *out_ranks,
                  int32_t *out_world_ranks, char *error, size_t error_bytes);

  // Opens a link among `members`, whose order defines its ranks. The caller is one of them; a caller that joins no link passes
  // NULL. All ranks of `endpoint` call it, each with its subgroup. Returns LPT_TIMEOUT if a rank does not call it within
  // `seconds`; 0: no limit. `number`, from 1, is the same on all ranks. It is greater than that of each earlier link of these
  // ranks from the same open().
  int32_t (*split)(void *endpoint, const int32_t *members, int32_t count, int64_t number, double seconds,
                   void **out_link, char *error, size_t error_bytes);

  // Start a message and return. `data` must not change until the request is complete. Messages with one sender, receiver and
  // tag arrive in order and match receives in order. They may be shorter than the receive. A NULL request means that the send
  // is complete.
  int32_t (*send)(void *endpoint, int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request,
                  char *error, size_t error_bytes);
  int32_t (*receive)(void *endpoint, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request,
                     char *error, size_t error_bytes);

  // Tests whether a request is complete, and advances all others. Frees a request that is complete or has failed. For a
  // complete receive `out_peer` is the sender and `out_bytes` the length of the message.
  int32_t (*test)(void *endpoint, void *request, int32_t *out_is_done, int32_t *out_peer, int64_t *out_bytes,
                  char *error, size_t error_bytes);

  // Frees a request. Afterwards no call of the transport accesses its `data`, even if bytes are in transit. Where this is
  // impossible otherwise, all later calls of this process fail with LPT_ABORTED.
  void (*abandon)(void *endpoint, void *request);

  // Frees the endpoint. The caller has no pending requests.
  void (*close)(void *endpoint);
} lpt_transport_table;

// The only symbol of a plugin, lpt_plugin_entry. Returns NULL if the plugin does not support this abi.
typedef const lpt_transport_table *(*lpt_wire_entry)(uint32_t abi);

}  // extern "C"
