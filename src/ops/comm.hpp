// A rank's communicator: an engine, and a lane for collectives that run behind the caller's back.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "src/comm/lane.hpp"
#include "src/comm/team.hpp"
#include "src/ops/context.hpp"

struct lpt_comm_group {
  lpt::HandleKind kind = lpt::HandleKind::kCommGroup;
  std::shared_ptr<lpt::Team> team;
};

struct lpt_comm {
  ~lpt_comm();

  lpt::HandleKind kind = lpt::HandleKind::kComm;
  std::unique_ptr<lpt::Engine> engine;
  std::unique_ptr<lpt_context> worker;  // of the lane: one thread, and scratch of its own
  mutable std::mutex mutex;             // of what follows
  lpt::Traffic traffic;                 // of collectives that have ended
  int64_t collectives = 0;
  double seconds = 0.0;
  lpt::Lane lane;
};

struct lpt_future {
  lpt::HandleKind kind = lpt::HandleKind::kFuture;
  std::shared_ptr<lpt::Outcome> outcome;
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
Status split_comm(Context &context, Comm &comm, int32_t color, int32_t key, Comm **out_comm);
lpt_comm_values comm_values(const Comm &comm);

// Room for what comes from another rank; none where it is read in its memory.
Status take_room(Context &worker, const Engine &engine, int64_t count, Bytes &out_bytes);

// Runs it, after those that are under way; with out_future, in the lane.
Status run_collective(Context &context, Comm &comm, Collective collective, Future **out_future);

}  // namespace lpt
