// Transport over MPI. Compiled once for each MPI of the machine, each time into a separate plugin.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "lpt.h"
#include "src/comm/backoff.hpp"
#include "src/comm/deadline.hpp"
#include "src/comm/mpi/mpi_end.hpp"
#include "src/comm/transport.hpp"

namespace {

// MPI counts bytes in an int: a longer payload is sent as several messages with one tag, which arrive in order.
constexpr int64_t kMostBytes = int64_t{1} << 30;
constexpr size_t kPartsAtATime = 4;

// MPI cannot cancel a send that has started. Small messages are sent through internal buffers, which then leak; the copy had no
// measurable cost. Large ones are transferred in place: three copies instead of one would take 1.5 times as long.
constexpr int64_t kCopiedBytes = 64 << 10;

// When a rank aborts, MPI may still access memory of a caller, which may free it. This process then enters MPI no more, not
// even to finalize it. MPI calls share the lock; the thread that sets is_disabled holds it exclusively.
std::shared_mutex mpi_lock;
std::atomic<bool> is_disabled{false};

struct Part {
  MPI_Request request = MPI_REQUEST_NULL;
  char *place = nullptr;
  int64_t at = 0;
  bool is_under_way = false;
};

struct MpiEndpoint {
  MPI_Comm comm;
  std::vector<int32_t> members{};  // ranks in `comm`, by rank of this link; empty: the same ranks

  int name_of(int32_t rank) const { return rank < 0 || members.empty() ? rank : members[static_cast<size_t>(rank)]; }
  int32_t rank_of(int name) const {
    if (members.empty()) return name;
    const auto member = std::find(members.begin(), members.end(), name);
    return member == members.end() ? LPT_WIRE_ANY_RANK : static_cast<int32_t>(member - members.begin());
  }
};

struct MpiRequest {
  MpiEndpoint *endpoint;
  int peer, tag;
  char *data;
  int64_t bytes;
  bool is_send;
  int64_t begun = 0;  // bytes of the parts started so far
  size_t next = 0;    // the part that ends first
  int source = MPI_ANY_SOURCE;
  int64_t received = 0;  // bytes
  std::vector<Part> parts{};

  bool is_copied() const { return bytes <= kCopiedBytes; }
};

MpiEndpoint &mpi(void *endpoint) { return *static_cast<MpiEndpoint *>(endpoint); }

int32_t reported(int result, const char *what, char *error, size_t error_bytes) {
  if (result == MPI_SUCCESS) return LPT_OK;
  char words[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(result, words, &length);
  std::snprintf(error, error_bytes, "MPI: %s: %s", what, words);
  return LPT_INTERNAL;
}

int32_t rejected(char *error, size_t error_bytes, const char *words) {
  std::snprintf(error, error_bytes, "MPI: %s", words);
  return LPT_UNSUPPORTED;
}

int32_t left(char *error, size_t error_bytes) {
  std::snprintf(error, error_bytes,
                "MPI: a rank gave up while MPI moved memory of its caller: this process enters it no more");
  return LPT_ABORTED;
}

// Finalizes MPI unless the program has done so. If is_disabled is set, this process cannot finalize it and the other ranks would
// wait in MPI_Finalize. Then the job is aborted.
void finalize() {
  if (is_disabled) MPI_Abort(MPI_COMM_WORLD, 1);
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized == 0) lpt::end_mpi();
}

int32_t start_mpi(char *error, size_t error_bytes) {
  int is_present = 0, is_over = 0, level = 0;
  MPI_Initialized(&is_present);
  MPI_Finalized(&is_over);
  if (is_over != 0) return rejected(error, error_bytes, "MPI_Finalize was called");
  if (is_present == 0) {
    if (const int32_t code =
            reported(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "init", error, error_bytes)) {
      return code;
    }
    std::atexit(finalize);
  }
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) return LPT_OK;
  return rejected(error, error_bytes,
                  "it was initialized for fewer threads: expected MPI_Init_thread() with MPI_THREAD_MULTIPLE");
}

// Takes ownership of a communicator that this file has created. Its errors are returned as codes.
int32_t adopt(MPI_Comm comm, void **out_link) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  *out_link = new MpiEndpoint{.comm = comm};
  return LPT_OK;
}

int32_t open(const int32_t *fortran_handle, void **out_link, int32_t *out_rank, int32_t *out_ranks,
             int32_t *out_world_ranks, char *error, size_t error_bytes) {
  if (is_disabled) return left(error, error_bytes);
  if (const int32_t code = start_mpi(error, error_bytes)) return code;
  const MPI_Comm whole = fortran_handle == nullptr ? MPI_COMM_WORLD : MPI_Comm_f2c(*fortran_handle);
  if (whole == MPI_COMM_NULL) return rejected(error, error_bytes, "the handle is that of no communicator");
  MPI_Comm_size(MPI_COMM_WORLD, out_world_ranks);
  MPI_Comm comm = MPI_COMM_NULL;
  if (const int32_t code = reported(MPI_Comm_dup(whole, &comm), "dup", error, error_bytes)) return code;
  MPI_Comm_rank(comm, out_rank);
  MPI_Comm_size(comm, out_ranks);
  return adopt(comm, out_link);
}

// A communicator that is being created. It leaks if its creation fails, as MPI may still write to it.
struct PendingComm {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
};

int32_t wait_for(PendingComm &making, double seconds, char *error, size_t error_bytes) {
  const lpt::Deadline deadline(seconds);
  int is_done = 0;
  for (lpt::Backoff backoff; is_done == 0; backoff.pause(true)) {
    const std::shared_lock lock(mpi_lock);
    if (is_disabled) return left(error, error_bytes);
    const int result = MPI_Test(&making.request, &is_done, MPI_STATUS_IGNORE);
    if (result != MPI_SUCCESS) return reported(result, "split", error, error_bytes);
    if (is_done != 0 || !deadline.is_over()) continue;
    std::snprintf(error, error_bytes, "split: a rank did not go on with it within %g seconds", seconds);
    return LPT_TIMEOUT;
  }
  return LPT_OK;
}

// One communicator serves all subgroups, since no two have a common rank. MPI_Comm_split() would wait without limit.
int32_t split(void *endpoint, const int32_t *members, int32_t count, int64_t, double seconds, void **out_link,
              char *error, size_t error_bytes) {
  if (is_disabled) return left(error, error_bytes);
  const MpiEndpoint &self = mpi(endpoint);
  auto *making = new PendingComm;
  int32_t code = reported(MPI_Comm_idup(self.comm, &making->comm, &making->request), "split", error, error_bytes);
  if (code == LPT_OK) code = wait_for(*making, seconds, error, error_bytes);
  if (code != LPT_OK) return code;
  const MPI_Comm comm = making->comm;
  delete making;
  if (members == nullptr) return LPT_OK;
  adopt(comm, out_link);
  for (int32_t i = 0; i < count; ++i) mpi(*out_link).members.push_back(self.name_of(members[i]));
  return LPT_OK;
}

// Starts the next part of a send or receive, in the slot of a part that has ended.
int begin_part(MpiRequest &self, Part &part) {
  part.at = self.begun;
  const auto count = static_cast<int>(std::min(self.bytes - part.at, kMostBytes));
  if (!self.is_copied()) part.place = self.data + part.at;
  if (self.is_copied() && self.is_send && count > 0) std::memcpy(part.place, self.data, static_cast<size_t>(count));
  self.begun += count;
  part.is_under_way = true;
  if (self.is_send)
    return MPI_Isend(part.place, count, MPI_BYTE, self.peer, self.tag, self.endpoint->comm, &part.request);
  return MPI_Irecv(part.place, count, MPI_BYTE, self.peer, self.tag, self.endpoint->comm, &part.request);
}

// A message may be shorter than the receive.
void end_part(MpiRequest &self, Part &part, const MPI_Status &status) {
  part.is_under_way = false;
  if (self.is_send) return;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  self.source = status.MPI_SOURCE;
  self.received += count;
  if (self.is_copied() && count > 0) std::memcpy(self.data, part.place, static_cast<size_t>(count));
}

// Parts end in order: MPI preserves the order of messages with one sender and one tag.
int make_progress(MpiRequest &self) {
  for (;; self.next = (self.next + 1) % self.parts.size()) {
    Part &part = self.parts[self.next];
    if (!part.is_under_way) return MPI_SUCCESS;
    int is_done = 0;
    MPI_Status status;
    const int result = MPI_Test(&part.request, &is_done, &status);
    if (result != MPI_SUCCESS || is_done == 0) return result;
    end_part(self, part, status);
    if (self.begun == self.bytes) continue;
    if (const int begun = begin_part(self, part)) return begun;
  }
}

bool is_under_way(const MpiRequest &self) {
  return std::any_of(self.parts.begin(), self.parts.end(), [](const Part &part) { return part.is_under_way; });
}

// Cancels a receive. If its bytes are already in transit, MPI accepts them for a while. A send cannot be canceled: MPI frees
// the request on completion. Returns whether the request has ended.
bool cancel_part(const MpiRequest &self, Part &part) {
  constexpr int kLooks = 1000;
  int is_done = part.request == MPI_REQUEST_NULL ? 1 : 0;
  if (is_done == 0 && !self.is_send) MPI_Cancel(&part.request);
  for (int i = 0; i < kLooks && is_done == 0 && !self.is_send; ++i)
    MPI_Test(&part.request, &is_done, MPI_STATUS_IGNORE);
  if (is_done == 0) MPI_Request_free(&part.request);
  return is_done != 0;
}

void free_request(MpiRequest *self) {
  for (Part &part : self->parts) {
    if (self->is_copied()) delete[] part.place;
  }
  delete self;
}

// Returns whether MPI may still access memory of the caller. Internal buffers that MPI may still access leak.
bool may_access_caller(MpiRequest &self) {
  const std::shared_lock lock(mpi_lock);
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  bool may_access_caller = false;
  for (Part &part : self.parts) {
    if (!part.is_under_way || is_finalized != 0 || is_disabled || cancel_part(self, part)) continue;
    if (self.is_copied()) {
      part.place = nullptr;
    } else {
      may_access_caller = true;
    }
  }
  return may_access_caller;
}

void give_up(MpiRequest *self) {
  if (may_access_caller(*self)) {
    const std::unique_lock alone(mpi_lock);
    is_disabled = true;
  }
  free_request(self);
}

int32_t start(const MpiRequest &requested, void **out_request, char *error, size_t error_bytes) {
  const std::shared_lock lock(mpi_lock);
  if (is_disabled) return left(error, error_bytes);
  auto *self = new MpiRequest(requested);
  const auto count = static_cast<size_t>(std::max<int64_t>((self->bytes + kMostBytes - 1) / kMostBytes, 1));
  self->parts.resize(std::min(count, kPartsAtATime));
  int result = MPI_SUCCESS;
  for (size_t i = 0; i < self->parts.size() && result == MPI_SUCCESS; ++i) {
    if (self->is_copied()) self->parts[i].place = new char[static_cast<size_t>(self->bytes)];
    result = begin_part(*self, self->parts[i]);
  }
  // After an error the engine abandons the request.
  *out_request = self;
  return reported(result, requested.is_send ? "send" : "receive", error, error_bytes);
}

int32_t send(void *endpoint, int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request,
             char *error, size_t error_bytes) {
  auto *const from = const_cast<char *>(static_cast<const char *>(data));
  return start({&mpi(endpoint), mpi(endpoint).name_of(peer), tag, from, bytes, true}, out_request, error, error_bytes);
}

int32_t receive(void *endpoint, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request, char *error,
                size_t error_bytes) {
  const int source = peer == LPT_WIRE_ANY_RANK ? MPI_ANY_SOURCE : mpi(endpoint).name_of(peer);
  return start({&mpi(endpoint), source, tag, static_cast<char *>(data), bytes, false}, out_request, error, error_bytes);
}

void abandon(void *, void *request) { give_up(static_cast<MpiRequest *>(request)); }

int32_t test(void *, void *request, int32_t *out_is_done, int32_t *out_peer, int64_t *out_bytes, char *error,
             size_t error_bytes) {
  auto *self = static_cast<MpiRequest *>(request);
  int32_t code = LPT_OK;
  {
    const std::shared_lock lock(mpi_lock);
    code = is_disabled ? left(error, error_bytes) : reported(make_progress(*self), "test", error, error_bytes);
  }
  if (code != LPT_OK) {
    give_up(self);
    return code;
  }
  *out_is_done = is_under_way(*self) ? 0 : 1;
  if (*out_is_done == 0) return LPT_OK;
  *out_peer = self->endpoint->rank_of(self->source);
  *out_bytes = self->received;
  free_request(self);
  return LPT_OK;
}

// The communicator is not freed until MPI ends. The last headers of a peer may be in transit and would reach the next
// communicator with the same context id. MPICH has about 2000 context ids.
void close(void *endpoint) { delete static_cast<MpiEndpoint *>(endpoint); }

constexpr lpt_transport_table kTable{
    LPT_WIRE_ABI, sizeof(lpt_transport_table), LPT_MPI_NAME, 0, 0, open, split, send, receive, test, abandon, close};

}  // namespace

extern "C" LPT_API const lpt_transport_table *lpt_plugin_entry(uint32_t abi) {
  return abi == LPT_WIRE_ABI ? &kTable : nullptr;
}
