// A reduction that flies while its caller computes.
#pragma once

#include "src/ops/partial.hpp"

namespace lpt {

// A reduction that begins in the midst of a call. However the call ends, the memory is no longer in use when this one goes;
// and if it ends before the beginning, other ranks are told, which have begun theirs.
class Flight {
 public:
  Flight(Context &context, Comm &comm) : context_(context), comm_(comm) {}
  ~Flight() {
    if (future_ == nullptr) {
      comm_.engine->interrupt("its product failed before it was reduced");
    } else {
      static_cast<void>(future_->outcome->wait());
    }
  }
  Flight(const Flight &) = delete;
  Flight &operator=(const Flight &) = delete;

  Status begin(const ChosenReducing &reducing) {
    Future *future = nullptr;
    const auto reduce = [reducing](Context &worker, Engine &engine) { return run_to_all(worker, engine, reducing); };
    LPT_TRY(run_collective(context_, comm_, reduce, &future));
    future_.reset(future);
    return {};
  }
  Status end() { return future_->outcome->wait(); }

 private:
  Context &context_;
  Comm &comm_;
  std::unique_ptr<Future> future_;
};

}  // namespace lpt
