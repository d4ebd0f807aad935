// Reductions that run while their caller computes.
#pragma once

#include <vector>

#include "src/parallel/partial.hpp"

namespace lpt {

// Reductions that start during a call. The destructor waits for them, so that their memory is no longer in use. If the last one
// has not started, it first interrupts the comm, since other ranks have started theirs.
class PendingReductions {
 public:
  PendingReductions(Context &context, Comm &comm) : context_(context), comm_(comm) {}
  ~PendingReductions() {
    if (!is_complete_) comm_.engine->interrupt("its GEMM failed before it was reduced");
    for (const auto &future : futures_) static_cast<void>(wait_for(context_, *future));
  }
  PendingReductions(const PendingReductions &) = delete;
  PendingReductions &operator=(const PendingReductions &) = delete;

  Status begin(const SelectedReduction &reducing, bool is_last = true) {
    Future *future = nullptr;
    futures_.reserve(futures_.size() + 1);
    const auto reduce = [reducing](Context &worker, Engine &engine) { return run_to_all(worker, engine, reducing); };
    LPT_TRY(run_collective(context_, comm_, reduce, &future, DeviceSupport::kDevices));
    futures_.emplace_back(future);
    is_complete_ = is_last;
    return {};
  }
  Status end() {
    for (const auto &future : futures_) LPT_TRY(wait_for(context_, *future));
    futures_.clear();
    return {};
  }

 private:
  Context &context_;
  Comm &comm_;
  std::vector<std::unique_ptr<Future>> futures_;
  bool is_complete_ = false;
};

}  // namespace lpt
