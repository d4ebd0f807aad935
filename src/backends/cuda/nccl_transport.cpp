#include "src/backends/cuda/nccl_transport.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

#include "src/backends/cuda/nccl_library.hpp"
#include "src/backends/cuda/on_device.hpp"

namespace lpt {
namespace {

struct End {
  Nccl nccl;
  int32_t index;
  NcclComm comm = nullptr;
  bool owns_comm = true;
  bool is_aborted = false;
  int ranks = 1, rank = 0;
};

End &end_of(void *end) { return *static_cast<End *>(end); }

NcclStream stream_of(void *stream) { return static_cast<NcclStream>(stream); }

// Converts a result to a Status with NCCL's texts: the kind of error, and the last log message.
Status reported(const Nccl &nccl, NcclComm comm, const char *doing, NcclResult result) {
  if (result == kNcclSuccess || result == kNcclInProgress) return {};
  const char *const last = nccl.last_error(comm);
  const bool has_more = last != nullptr && *last != '\0';
  return Status(LPT_WORK_FAILED,
                text("%s: %s%s%s", doing, nccl.error_string(result), has_more ? ": " : "", has_more ? last : ""));
}

// Runs `body` and converts its Status to a code and a text. Does not throw.
template <typename Body>
int32_t as_code(char *error, size_t error_bytes, const Body &body) noexcept {
  try {
    const Status status = body();
    if (!status.is_ok()) std::snprintf(error, error_bytes, "%s", status.message().c_str());
    return status.code();
  } catch (const std::bad_alloc &) {
    return LPT_OUT_OF_MEMORY;
  } catch (...) {
    return LPT_INTERNAL;
  }
}

// Communicators are nonblocking: a call may continue after its return. Waits until the communicator is no longer in progress.
Status settle(const Nccl &nccl, NcclComm comm, const char *doing, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (;;) {
    NcclResult state = kNcclSuccess;
    LPT_TRY(reported(nccl, comm, doing, nccl.get_async_error(comm, &state)));
    if (state != kNcclInProgress) return reported(nccl, comm, doing, state);
    const Clock::duration waited = Clock::now() - begin;
    if (seconds > 0.0 && std::chrono::duration<double>(waited).count() >= seconds) {
      return Status(LPT_TIMEOUT, text("%s: not all ranks came within %g seconds", doing, seconds));
    }
    // Sleeps 1/16 of the time waited: a long wait uses little CPU time, and no wait grows by more than 1/16.
    std::this_thread::sleep_for(std::min<Clock::duration>(waited / 16, std::chrono::milliseconds(1)));
  }
}

NcclConfig config() {
  NcclConfig chosen;
  chosen.blocking = 0;
  return chosen;
}

int32_t check(char *error, size_t error_bytes) {
  return as_code(error, error_bytes, [] {
    Nccl nccl;
    return find_nccl(nccl);
  });
}

int32_t make_id(uint8_t *out_id, char *error, size_t error_bytes) {
  return as_code(error, error_bytes, [&]() -> Status {
    Nccl nccl;
    LPT_TRY(find_nccl(nccl));
    NcclId id{};
    LPT_TRY(reported(nccl, nullptr, "ncclGetUniqueId", nccl.get_unique_id(&id)));
    static_assert(sizeof id == DeviceTransport::kIdBytes);
    std::memcpy(out_id, &id, sizeof id);
    return {};
  });
}

// Aborts a communicator whose creation failed.
Status give_up(const Nccl &nccl, NcclComm comm, const Status &why) {
  if (comm != nullptr) nccl.abort(comm);
  return why;
}

int32_t open(int32_t index, const uint8_t *id, int32_t rank, int32_t ranks, double seconds, void **out_end, char *error,
             size_t error_bytes) {
  return as_code(error, error_bytes, [&]() -> Status {
    auto end = std::make_unique<End>();
    LPT_TRY(find_nccl(end->nccl));
    NcclId known;
    std::memcpy(&known, id, sizeof known);
    NcclConfig chosen = config();
    const OnDevice here(index);
    Status status =
        reported(end->nccl, nullptr, "ncclCommInitRankConfig", end->nccl.init(&end->comm, ranks, known, rank, &chosen));
    if (status.is_ok()) status = settle(end->nccl, end->comm, "ncclCommInitRankConfig", seconds);
    if (!status.is_ok()) return give_up(end->nccl, end->comm, status);
    end->index = index;
    end->rank = rank;
    end->ranks = ranks;
    *out_end = end.release();
    return {};
  });
}

// Reads rank and ranks from NCCL.
Status read_ranks(End &end) {
  LPT_TRY(reported(end.nccl, end.comm, "ncclCommCount", end.nccl.count(end.comm, &end.ranks)));
  return reported(end.nccl, end.comm, "ncclCommUserRank", end.nccl.user_rank(end.comm, &end.rank));
}

int32_t adopt(int32_t index, void *communicator, void **out_end, int32_t *out_rank, int32_t *out_ranks, char *error,
              size_t error_bytes) {
  return as_code(error, error_bytes, [&]() -> Status {
    auto end = std::make_unique<End>();
    LPT_TRY(find_nccl(end->nccl));
    end->index = index;
    end->comm = static_cast<NcclComm>(communicator);
    end->owns_comm = false;
    int device = -1;
    LPT_TRY(reported(end->nccl, end->comm, "ncclCommCuDevice", end->nccl.device(end->comm, &device)));
    if (device != index) {
      return invalid("nccl_comm is of cuda:%d: expected cuda:%d, where the context works", device, index);
    }
    LPT_TRY(read_ranks(*end));
    *out_rank = end->rank;
    *out_ranks = end->ranks;
    *out_end = end.release();
    return {};
  });
}

int32_t split(void *whole, int32_t color, int32_t key, double seconds, void **out_end, int32_t *out_rank,
              int32_t *out_ranks, char *error, size_t error_bytes) {
  return as_code(error, error_bytes, [&]() -> Status {
    End &from = end_of(whole);
    auto end = std::make_unique<End>();
    end->nccl = from.nccl;
    end->index = from.index;
    NcclConfig chosen = config();
    const OnDevice here(from.index);
    LPT_TRY(
        reported(from.nccl, from.comm, "ncclCommSplit", from.nccl.split(from.comm, color, key, &end->comm, &chosen)));
    LPT_TRY(settle(from.nccl, from.comm, "ncclCommSplit", seconds));  // the new communicator is set after it
    if (end->comm == nullptr) return {};
    Status status = settle(from.nccl, end->comm, "ncclCommSplit", seconds);
    if (status.is_ok()) status = read_ranks(*end);
    if (!status.is_ok()) return give_up(from.nccl, end->comm, status);
    *out_rank = end->rank;
    *out_ranks = end->ranks;
    *out_end = end.release();
    return {};
  });
}

// Runs `body` between group_start() and group_end(). The latter is called even if `body` fails.
Status queue_group(End &end, const char *doing, double seconds, const auto &body) {
  const OnDevice here(end.index);
  LPT_TRY(reported(end.nccl, end.comm, doing, end.nccl.group_start()));
  const Status queued = body();
  const Status ended = reported(end.nccl, end.comm, doing, end.nccl.group_end());
  LPT_TRY(queued);
  LPT_TRY(ended);
  return settle(end.nccl, end.comm, doing, seconds);
}

int32_t all_to_all_v(void *end, void *stream, const DeviceRun *outgoing, const DeviceRun *incoming, double seconds,
                     char *error, size_t error_bytes) {
  return as_code(error, error_bytes, [&] {
    End &self = end_of(end);
    return queue_group(self, "ncclSend and ncclRecv", seconds, [&]() -> Status {
      for (int i = 1; i < self.ranks; ++i) {
        // Staggered: not all ranks send to rank 0 first.
        const int to = (self.rank + i) % self.ranks, from = (self.rank + self.ranks - i) % self.ranks;
        const DeviceRun &out = outgoing[to], &in = incoming[from];
        if (out.bytes > 0) {
          LPT_TRY(reported(
              self.nccl, self.comm, "ncclSend",
              self.nccl.send(out.data, static_cast<size_t>(out.bytes), kNcclUint8, to, self.comm, stream_of(stream))));
        }
        if (in.bytes > 0) {
          LPT_TRY(reported(self.nccl, self.comm, "ncclRecv",
                           self.nccl.receive(in.data, static_cast<size_t>(in.bytes), kNcclUint8, from, self.comm,
                                             stream_of(stream))));
        }
      }
      return {};
    });
  });
}

NcclType type_of(lpt_format format) {
  if (format == LPT_FORMAT_F64) return kNcclFloat64;
  if (format == LPT_FORMAT_BF16) return kNcclBfloat16;
  return format == LPT_FORMAT_F16 ? kNcclFloat16 : kNcclFloat32;
}

constexpr NcclOperation kOperations[] = {kNcclSum, kNcclAverage, kNcclMax, kNcclMin};  // by lpt_reduction

int32_t sum(void *end, void *stream, const DeviceSum *sum, double seconds, char *error, size_t error_bytes) {
  return as_code(error, error_bytes, [&] {
    End &self = end_of(end);
    const char *const doing = sum->is_to_parts ? "ncclReduceScatter" : "ncclAllReduce";
    const auto reduce = sum->is_to_parts ? self.nccl.reduce_scatter : self.nccl.all_reduce;
    const int64_t count = sum->is_to_parts ? sum->elements / self.ranks : sum->elements;
    return queue_group(self, doing, seconds, [&] {
      return reported(self.nccl, self.comm, doing,
                      reduce(sum->input, sum->output, static_cast<size_t>(count), type_of(sum->format),
                             kOperations[sum->reduction], self.comm, stream_of(stream)));
    });
  });
}

int32_t look(void *end, char *error, size_t error_bytes) {
  return as_code(error, error_bytes, [&]() -> Status {
    End &self = end_of(end);
    NcclResult state = kNcclSuccess;
    LPT_TRY(reported(self.nccl, self.comm, "ncclCommGetAsyncError", self.nccl.get_async_error(self.comm, &state)));
    return reported(self.nccl, self.comm, "NCCL", state);
  });
}

bool abort(void *end) {
  End &self = end_of(end);
  if (!self.owns_comm) return false;
  const OnDevice here(self.index);
  if (!self.is_aborted) self.nccl.abort(self.comm);
  self.is_aborted = true;
  return true;
}

// Waits for work that other ranks need from this rank, for at most `seconds`.
void close(void *end, double seconds) {
  const std::unique_ptr<End> self(&end_of(end));
  if (self->is_aborted || !self->owns_comm) return;
  const OnDevice here(self->index);
  char words[512];
  const int32_t code = as_code(words, sizeof words, [&]() -> Status {
    LPT_TRY(reported(self->nccl, self->comm, "ncclCommFinalize", self->nccl.finalize(self->comm)));
    return settle(self->nccl, self->comm, "ncclCommFinalize", seconds);
  });
  static_cast<void>(code == LPT_OK ? self->nccl.destroy(self->comm) : self->nccl.abort(self->comm));
}

}  // namespace

const DeviceTransport &nccl_wire() {
  static constexpr DeviceTransport kNccl = {.name = "nccl",
                                            .check = check,
                                            .make_id = make_id,
                                            .open = open,
                                            .adopt = adopt,
                                            .split = split,
                                            .all_to_all_v = all_to_all_v,
                                            .sum = sum,
                                            .look = look,
                                            .abort = abort,
                                            .close = close};
  return kNccl;
}

}  // namespace lpt
