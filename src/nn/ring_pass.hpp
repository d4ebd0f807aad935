// Transfers of ranks that divide a sequence.
#pragma once

#include <vector>

#include "src/collective/collective.hpp"

namespace lpt {

// Ranks that pass tensors on. The destructor waits for transfers, as their memory is in use. They end: a rank sends before it
// computes.
class RingPass {
 public:
  RingPass(Context &context, Comm *ring) : context_(context), ring_(ring) {}
  ~RingPass() { static_cast<void>(wait()); }
  RingPass(const RingPass &) = delete;
  RingPass &operator=(const RingPass &) = delete;

  // Sends tensors to the next rank and receives those of the previous one.
  Status start(const std::vector<const Tensor *> &sent, const std::vector<Tensor *> &received, int32_t first_tag) {
    const int32_t rank = ring_->engine->rank(), ranks = ring_->engine->ranks();
    for (size_t i = 0; i < sent.size(); ++i) {
      LPT_TRY(send(context_, *ring_, sent[i], (rank + 1) % ranks, first_tag + static_cast<int32_t>(i), add()));
    }
    for (size_t i = 0; i < received.size(); ++i) {
      const int32_t tag = first_tag + static_cast<int32_t>(i);
      LPT_TRY(receive(context_, *ring_, received[i], (rank + ranks - 1) % ranks, tag, add()));
    }
    return {};
  }

  Status wait() {
    Status first;
    for (Future *future : futures_) {
      if (future == nullptr) continue;
      Status status = wait_for(context_, *future);
      delete future;
      if (first.is_ok() && !status.is_ok()) first = std::move(status);
    }
    futures_.clear();
    return first;
  }

 private:
  Future **add() {
    futures_.push_back(nullptr);
    return &futures_.back();
  }

  Context &context_;
  Comm *const ring_;
  std::vector<Future *> futures_;
};

// Interrupts the comms unless the call succeeds: other ranks would wait for this one.
class InterruptOnFailure {
 public:
  InterruptOnFailure(Comm *ring, Comm *heads) : comms_{ring, heads} {}
  ~InterruptOnFailure() {
    for (Comm *comm : comms_) {
      if (!has_succeeded_ && comm != nullptr) comm->engine->interrupt("its attention failed");
    }
  }
  InterruptOnFailure(const InterruptOnFailure &) = delete;
  InterruptOnFailure &operator=(const InterruptOnFailure &) = delete;

  Status succeed() {
    has_succeeded_ = true;
    return {};
  }

 private:
  Comm *const comms_[2];  // NULL: none
  bool has_succeeded_ = false;
};

}  // namespace lpt
