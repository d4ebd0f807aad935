// A work-sharing pool. Threads take the tasks of a loop by index from a counter; the caller works too. The pool runs one
// loop at a time: a loop that starts while another one runs is executed by its caller alone.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
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

  // Runs task(argument, i) for all i in [0, count); returns when all have ended. Tasks do not throw.
  void run(int64_t count, lpt_task_function task, void *argument);

 private:
  // What the threads share. It is abandoned, not destroyed, in a forked child, whose threads are gone.
  struct PoolState {
    std::mutex mutex;
    std::condition_variable has_work;
    std::condition_variable is_done;
    uint64_t loop = 0;  // counts loops, so that a thread takes part in each once
    int32_t busy = 0;
    bool is_closing = false;
    int64_t count = 0;
    lpt_task_function task = nullptr;
    void *argument = nullptr;
    std::atomic<int64_t> next{0};
    std::vector<std::thread> threads;
  };
  static void work(PoolState *pool);
  void start();
  void share(int64_t count, lpt_task_function task, void *argument);

  const int32_t thread_count_;
  PoolState *pool_ = nullptr;
  pid_t owner_ = 0;
  std::atomic<pid_t> user_{0};  // process whose thread runs a loop; that of a parent process does not count
};

}  // namespace lpt
