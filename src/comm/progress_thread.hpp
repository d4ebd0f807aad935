// Progress thread: runs queued collectives in order.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "src/comm/engine.hpp"

namespace lpt {

// The status of a collective, available when it is complete.
class Completion {
 public:
  void complete(Status status) noexcept;
  Status wait() noexcept;
  bool is_complete() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable is_present_;
  bool is_complete_ = false;
  Status status_;
};

class ProgressThread {
 public:
  using Task = std::function<Status()>;
  ~ProgressThread() { close(); }

  // Queues a task. The first task starts the thread. Tasks must not throw.
  std::shared_ptr<Completion> add(Task task);

  // Returns true if no task is queued or running: the owner may then run a collective on the calling thread.
  bool is_idle() const;

  // Waits for the running task. Queued tasks end with LPT_ABORTED.
  void close();

 private:
  struct Item {
    Task task;
    std::shared_ptr<Completion> completion;
  };
  void work();

  mutable std::mutex mutex_;
  std::condition_variable has_work_;
  std::deque<Item> items_;  // the running task is the first element until it is complete
  bool is_closing_ = false;
  std::thread thread_;
};

}  // namespace lpt
