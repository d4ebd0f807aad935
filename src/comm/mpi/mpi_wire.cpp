// The wire over MPI. Compiled once for each MPI that the machine has, into a plugin of its own.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "lpt.h"
#include "src/comm/wire.hpp"

namespace {

// MPI counts bytes in an int: more of them go as several messages of one tag, which arrive in their order.
constexpr int64_t kMostBytes = int64_t{1} << 30;

struct MpiRequest {
  std::vector<MPI_Request> parts;
  bool is_send;
};

struct MpiLink {
  MPI_Comm comm;
};

MPI_Comm comm_of(void *link) { return static_cast<MpiLink *>(link)->comm; }

int32_t told(int result, const char *what, char *error, size_t error_bytes) {
  if (result == MPI_SUCCESS) return LPT_OK;
  char words[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(result, words, &length);
  std::snprintf(error, error_bytes, "MPI: %s: %s", what, words);
  return LPT_INTERNAL;
}

int32_t refused(char *error, size_t error_bytes, const char *words) {
  std::snprintf(error, error_bytes, "MPI: %s", words);
  return LPT_UNSUPPORTED;
}

// Ours to end, if nobody has by then.
void finalize() {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized == 0) MPI_Finalize();
}

int32_t start_mpi(char *error, size_t error_bytes) {
  int is_there = 0, is_over = 0, level = 0;
  MPI_Initialized(&is_there);
  MPI_Finalized(&is_over);
  if (is_over != 0) return refused(error, error_bytes, "MPI_Finalize was called");
  if (is_there == 0) {
    if (const int32_t code =
            told(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "init", error, error_bytes)) {
      return code;
    }
    std::atexit(finalize);
  }
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) return LPT_OK;
  return refused(error, error_bytes,
                 "it was initialized for fewer threads: expected MPI_Init_thread() with MPI_THREAD_MULTIPLE");
}

// A communicator that we made: its errors come back as codes.
int32_t adopt(MPI_Comm comm, void **out_link) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  *out_link = new MpiLink{comm};
  return LPT_OK;
}

int32_t open(const int32_t *fortran_handle, void **out_link, int32_t *out_rank, int32_t *out_ranks,
             int32_t *out_world_ranks, char *error, size_t error_bytes) {
  if (const int32_t code = start_mpi(error, error_bytes)) return code;
  const MPI_Comm whole = fortran_handle == nullptr ? MPI_COMM_WORLD : MPI_Comm_f2c(*fortran_handle);
  if (whole == MPI_COMM_NULL) return refused(error, error_bytes, "the handle is that of no communicator");
  MPI_Comm_size(MPI_COMM_WORLD, out_world_ranks);
  MPI_Comm comm = MPI_COMM_NULL;
  if (const int32_t code = told(MPI_Comm_dup(whole, &comm), "dup", error, error_bytes)) return code;
  MPI_Comm_rank(comm, out_rank);
  MPI_Comm_size(comm, out_ranks);
  return adopt(comm, out_link);
}

int32_t split(void *link, int32_t color, int32_t rank, int32_t, void **out_link, char *error, size_t error_bytes) {
  MPI_Comm part = MPI_COMM_NULL;
  const int mpi_color = color < 0 ? MPI_UNDEFINED : color;
  if (const int32_t code = told(MPI_Comm_split(comm_of(link), mpi_color, rank, &part), "split", error, error_bytes)) {
    return code;
  }
  return color < 0 ? LPT_OK : adopt(part, out_link);
}

// Cuts bytes into what MPI can count; start(at, count, request) starts each.
template <typename Start>
int32_t start_parts(int64_t bytes, bool is_send, const Start &start, void **out_request, char *error,
                    size_t error_bytes) {
  auto *request = new MpiRequest{{}, is_send};
  *out_request = request;
  int64_t at = 0;
  do {
    const int64_t count = std::min(bytes - at, kMostBytes);
    request->parts.push_back(MPI_REQUEST_NULL);
    const int result = start(at, static_cast<int>(count), &request->parts.back());
    if (result != MPI_SUCCESS) return told(result, is_send ? "send" : "receive", error, error_bytes);
    at += count;
  } while (at < bytes);
  return LPT_OK;
}

int32_t send(void *link, int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request, char *error,
             size_t error_bytes) {
  const auto start = [&](int64_t at, int count, MPI_Request *request) {
    return MPI_Isend(static_cast<const char *>(data) + at, count, MPI_BYTE, peer, tag, comm_of(link), request);
  };
  return start_parts(bytes, true, start, out_request, error, error_bytes);
}

int32_t receive(void *link, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request, char *error,
                size_t error_bytes) {
  const int source = peer == LPT_WIRE_ANY_RANK ? MPI_ANY_SOURCE : peer;
  const auto start = [&](int64_t at, int count, MPI_Request *request) {
    return MPI_Irecv(static_cast<char *>(data) + at, count, MPI_BYTE, source, tag, comm_of(link), request);
  };
  return start_parts(bytes, false, start, out_request, error, error_bytes);
}

// Receives are taken back; where bytes are on their way already, MPI lets them in for a while. Nobody can take back a send:
// MPI frees it when it is done.
void give_up(MpiRequest &request) {
  constexpr int kLooks = 1000;
  for (MPI_Request &part : request.parts) {
    if (part == MPI_REQUEST_NULL) continue;
    int is_done = 0;
    if (!request.is_send) MPI_Cancel(&part);
    for (int i = 0; i < kLooks && is_done == 0 && !request.is_send; ++i) MPI_Test(&part, &is_done, MPI_STATUS_IGNORE);
    if (part != MPI_REQUEST_NULL) MPI_Request_free(&part);
  }
}

void abandon(void *, void *request) {
  auto *self = static_cast<MpiRequest *>(request);
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized == 0) give_up(*self);
  delete self;
}

int32_t test(void *, void *request, int32_t *out_is_done, char *error, size_t error_bytes) {
  auto *self = static_cast<MpiRequest *>(request);
  int is_done = 0;
  const auto count = static_cast<int>(self->parts.size());
  const int result = MPI_Testall(count, self->parts.data(), &is_done, MPI_STATUSES_IGNORE);
  *out_is_done = is_done;
  if (result != MPI_SUCCESS) {
    give_up(*self);
    delete self;
    return told(result, "test", error, error_bytes);
  }
  if (is_done != 0) delete self;
  return LPT_OK;
}

// The communicator stays until MPI ends: a peer's last words may still be on their way, and would reach the next one that
// gets its number. MPICH has about two thousand numbers.
void close(void *link) { delete static_cast<MpiLink *>(link); }

constexpr lpt_wire_table kTable{
    LPT_WIRE_ABI, sizeof(lpt_wire_table), LPT_MPI_NAME, 0, 0, open, split, send, receive, test, abandon, close};

}  // namespace

extern "C" LPT_API const lpt_wire_table *lpt_plugin_entry(uint32_t abi) {
  return abi == LPT_WIRE_ABI ? &kTable : nullptr;
}
