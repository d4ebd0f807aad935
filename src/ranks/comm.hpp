// One rank's communicator: an engine, and a progress thread for asynchronous collectives.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "src/call/context.hpp"
#include "src/comm/custom/custom_functions.hpp"
#include "src/comm/device/device_engine.hpp"
#include "src/comm/local/local_group.hpp"
#include "src/comm/progress_thread.hpp"

struct lpt_comm_group {
  lpt::HandleKind kind = lpt::HandleKind::kCommGroup;
  std::shared_ptr<lpt::LocalGroup> group;
};

struct lpt_comm {
  ~lpt_comm();

  lpt::HandleKind kind = lpt::HandleKind::kComm;
  std::unique_ptr<lpt::Engine> engine;
  lpt::DeviceEngine *device_engine = nullptr;  // the same engine, if its device is not the CPU
  lpt::Stream stream;                          // stream of the worker on that device
  std::unique_ptr<lpt_context> worker;         // context of asynchronous collectives: one thread, separate scratch
  mutable std::mutex mutex;                    // guards traffic, collectives and seconds
  lpt::Traffic traffic;                        // of collectives that have ended
  int64_t collectives = 0;
  double seconds = 0.0;
  lpt::ProgressThread progress_thread;
};

struct lpt_future {
  lpt::HandleKind kind = lpt::HandleKind::kFuture;
  std::shared_ptr<lpt::Completion> completion;  // of work on the progress thread
  std::shared_ptr<lpt::QueuedWork> queued;      // or of work on a device
  std::function<void()> keeps;                  // owns the data of queued work
};

namespace lpt {

using CommGroup = lpt_comm_group;
using Comm = lpt_comm;
using Future = lpt_future;

// The work of a collective that each rank runs, on the caller's context or that of the progress thread. It owns its data.
using Collective = std::function<Status(Context &worker, Engine &engine)>;

Status create_group(int32_t rank_count, CommGroup **out_group);
Status create_local_comm(Context &context, CommGroup &group, int32_t rank, const lpt_comm_options &options,
                         Comm **out_comm);
Status create_mpi_comm(Context &context, const int32_t *fortran_handle, const lpt_comm_options &options,
                       Comm **out_comm);
Status create_custom_comm(Context &context, std::shared_ptr<CustomFunctions> functions, int32_t rank,
                          int32_t rank_count, const lpt_comm_options &options, Comm **out_comm);
// Defined in nccl.cpp. `communicator` or the bootstrap comm of the options may be NULL, but not both.
Status create_nccl_comm(Context &context, void *communicator, const lpt_comm_options &options, Comm **out_comm);
Status split_comm(Context &context, Comm &comm, int32_t color, int32_t key, Comm **out_comm);
lpt_comm_info comm_values(const Comm &comm);

// Creates a comm from an engine that is connected to the other ranks.
Status make_comm(const Context &context, std::unique_ptr<Engine> engine, Comm **out_comm);

// The device of the tensors of its collectives.
inline Device device_of(const Comm &comm) { return comm.engine->device(); }

// queue_of() returns the queue of the device of the engine's tensors. take_bytes() allocates scratch on that device.
const Queue &queue_of(const Context &worker, const Engine &engine);
Status take_bytes(Context &worker, const Engine &engine, int64_t count, std::byte **out);

// Allocates a buffer for bytes of another rank. With shared memory none is needed, and out_bytes.data is NULL.
Status take_space(Context &worker, const Engine &engine, int64_t count, Bytes &out_bytes);

// Devices that a collective supports. All collectives support CPU memory.
enum class DeviceSupport : uint8_t { kCpu, kDevices };

// Rejects a context on another device than `device`, the device of a comm.
Status check_works_on(const Context &context, const Device &device);

// Rejects a comm whose transport has no messages between two ranks.
Status check_has_messages(const Comm &comm);

// Rejects a comm on another device than the CPU.
Status check_on_cpus(const Comm &comm);

// Runs the collective after those that are pending; with out_future, on the progress thread. On a device the collective is
// queued: on the context's stream or, with out_future, on the comm's stream.
Status run_collective(Context &context, Comm &comm, Collective collective, Future **out_future,
                      DeviceSupport reach = DeviceSupport::kCpu);

// Waits for the end of the collective. If the context uses the device of the future, later work of its queue waits instead.
Status wait_for(Context &context, Future &future);
Status is_done(const Future &future, bool &out_is_done);

}  // namespace lpt
