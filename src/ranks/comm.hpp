// A rank's communicator: an engine, and a lane for collectives that run behind the caller's back.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "src/call/context.hpp"
#include "src/comm/custom_functions.hpp"
#include "src/comm/device_engine.hpp"
#include "src/comm/local_group.hpp"
#include "src/comm/progress_thread.hpp"

struct lpt_comm_group {
  lpt::HandleKind kind = lpt::HandleKind::kCommGroup;
  std::shared_ptr<lpt::LocalGroup> group;
};

struct lpt_comm {
  ~lpt_comm();

  lpt::HandleKind kind = lpt::HandleKind::kComm;
  std::unique_ptr<lpt::Engine> engine;
  lpt::DeviceEngine *device_engine = nullptr;  // the same, if it works on another device than the CPU
  lpt::Stream stream;                          // there, of the worker
  std::unique_ptr<lpt_context> worker;  // of what runs behind the caller's back: one thread, and scratch of its own
  mutable std::mutex mutex;             // of what follows
  lpt::Traffic traffic;                 // of collectives that have ended
  int64_t collectives = 0;
  double seconds = 0.0;
  lpt::ProgressThread progress_thread;
};

struct lpt_future {
  lpt::HandleKind kind = lpt::HandleKind::kFuture;
  std::shared_ptr<lpt::Completion> completion;  // of a lane's work
  std::shared_ptr<lpt::QueuedWork> queued;      // or of a device's
  std::function<void()> keeps;                  // what that works on
};

namespace lpt {

using CommGroup = lpt_comm_group;
using Comm = lpt_comm;
using Future = lpt_future;

// The part of a collective that all ranks run, on the caller's context or the lane's. It owns what it needs.
using Collective = std::function<Status(Context &worker, Engine &engine)>;

Status create_group(int32_t rank_count, CommGroup **out_group);
Status create_local_comm(Context &context, CommGroup &group, int32_t rank, const lpt_comm_options &options,
                         Comm **out_comm);
Status create_mpi_comm(Context &context, const int32_t *fortran_handle, const lpt_comm_options &options,
                       Comm **out_comm);
Status create_custom_comm(Context &context, std::shared_ptr<CustomFunctions> functions, int32_t rank,
                          int32_t rank_count, const lpt_comm_options &options, Comm **out_comm);
// nccl.cpp. `communicator` and the bootstrap comm of the options may be NULL, not both.
Status create_nccl_comm(Context &context, void *communicator, const lpt_comm_options &options, Comm **out_comm);
Status split_comm(Context &context, Comm &comm, int32_t color, int32_t key, Comm **out_comm);
lpt_comm_info comm_values(const Comm &comm);

// A comm of an engine that is connected to the others.
Status make_comm(const Context &context, std::unique_ptr<Engine> engine, Comm **out_comm);

// Where its collectives' tensors lie.
inline Device device_of(const Comm &comm) { return comm.engine->device(); }

// The queue of where a collective's tensors lie, and scratch there.
const Queue &queue_of(const Context &worker, const Engine &engine);
Status take_bytes(Context &worker, const Engine &engine, int64_t count, std::byte **out);

// Room for what comes from another rank; none where it is read in its memory.
Status take_space(Context &worker, const Engine &engine, int64_t count, Bytes &out_bytes);

// What a collective can do: all work where their tensors are memory of the CPU.
enum class DeviceSupport : uint8_t { kCpu, kDevices };

// Rejects a context of another device than that of a comm.
Status check_works_on(const Context &context, const Device &device);

// Rejects a comm whose transport sends no messages from one rank to another.
Status check_has_messages(const Comm &comm);

// Rejects ranks on devices.
Status check_on_cpus(const Comm &comm);

// Runs it, after those that are under way; with out_future, in the lane. On a device it is queued, on the context's stream or
// the comm's own.
Status run_collective(Context &context, Comm &comm, Collective collective, Future **out_future,
                      DeviceSupport reach = DeviceSupport::kCpu);

// Waits for its end; what the context queues on the future's device from then on waits in its place.
Status wait_for(Context &context, Future &future);
Status is_done(const Future &future, bool &out_is_done);

}  // namespace lpt
