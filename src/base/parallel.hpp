// A work-sharing thread pool. Threads and the caller take the tasks of a loop by index from a counter. The pool runs one loop
// at a time: the caller of a loop that starts during another one runs it alone.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "lpt.h"

namespace lpt {

class ThreadPool {
 public:
  explicit ThreadPool(int32_t thread_count) : thread_count_(thread_count) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int32_t thread_count() const { return thread_count_; }

  // Runs task(argument, i) for all i in [0, count). Returns when all have ended. Tasks must not throw.
  void run(int64_t count, lpt_task_function task, void *argument);

 private:
  // State of the threads. A forked child abandons it and does not destroy it, since the threads do not exist in the child.
  //
  // `loop` changes when a loop opens (odd) and when it closes (even). A thread that sees an open loop counts itself in `active`
  // and then compares `loop` again. It takes tasks only if the loop is still open. The caller closes the loop when all tasks
  // are taken, and waits until no thread is active. A loop therefore never waits for a thread that is asleep.
  struct PoolState {
    std::atomic<uint32_t> loop{0};
    std::atomic<int32_t> active{0};
    std::atomic<int64_t> next{0};
    std::atomic<bool> is_closing{false};
    int64_t count = 0;  // these are written while the loop is closed and no thread is active
    lpt_task_function task = nullptr;
    void *argument = nullptr;
    std::vector<std::thread> threads;

    void take_tasks();
  };
  static void work(PoolState *pool);
  void start();
  void share(int64_t count, lpt_task_function task, void *argument);

  const int32_t thread_count_;
  PoolState *pool_ = nullptr;
  pid_t owner_ = 0;
  std::atomic<pid_t> user_{0};  // process whose thread runs a loop; a value of a parent process is ignored
};

}  // namespace lpt
