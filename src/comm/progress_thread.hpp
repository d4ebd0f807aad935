// A thread that runs collectives behind its owner's back, one after the other in the order in which they came.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "src/comm/engine.hpp"

namespace lpt {

// What a collective came to, once it has.
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

  // Starts the thread if there is none. Tasks do not throw.
  std::shared_ptr<Completion> add(Task task);

  // True if nothing waits or runs: then its owner may work itself until it adds again.
  bool is_idle() const;

  // Waits for the task at work; those behind it are given up.
  void close();

 private:
  struct Item {
    Task task;
    std::shared_ptr<Completion> completion;
  };
  void work();

  mutable std::mutex mutex_;
  std::condition_variable has_work_;
  std::deque<Item> items_;  // the one at work stays in front until it has ended
  bool is_closing_ = false;
  std::thread thread_;
};

}  // namespace lpt
