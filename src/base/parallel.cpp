#include "src/base/parallel.hpp"

#include <unistd.h>

#include <exception>
#include <memory>

namespace lpt {

ThreadPool::~ThreadPool() {
  if (pool_ == nullptr || owner_ != getpid()) return;
  {
    const std::lock_guard<std::mutex> lock(pool_->mutex);
    pool_->is_closing = true;
  }
  pool_->has_work.notify_all();
  for (std::thread &thread : pool_->threads) thread.join();
  delete pool_;
}

// If memory or threads cannot be allocated, the pool has fewer threads or none, and loops run on these and the caller.
void ThreadPool::start() {
  pool_ = nullptr;
  owner_ = getpid();
  try {
    auto pool = std::make_unique<PoolState>();
    pool->threads.reserve(static_cast<size_t>(thread_count_ - 1));
    pool_ = pool.release();
    for (int32_t i = 1; i < thread_count_; ++i) pool_->threads.emplace_back(work, pool_);
  } catch (const std::exception &) {
  }
}

void ThreadPool::work(PoolState *pool) {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(pool->mutex);
  for (;;) {
    pool->has_work.wait(lock, [&] { return pool->is_closing || pool->loop != seen; });
    if (pool->is_closing) return;
    seen = pool->loop;
    lock.unlock();
    for (int64_t i; (i = pool->next.fetch_add(1)) < pool->count;) pool->task(pool->argument, i);
    lock.lock();
    if (--pool->busy == 0) pool->is_done.notify_one();
  }
}

void ThreadPool::run(int64_t count, lpt_task_function task, void *argument) {
  if (thread_count_ > 1 && count > 1) {
    const pid_t self = getpid();
    pid_t user = user_.load(std::memory_order_relaxed);
    if (user != self && user_.compare_exchange_strong(user, self, std::memory_order_acquire)) {
      struct Release {
        std::atomic<pid_t> &user;
        ~Release() { user.store(0, std::memory_order_release); }
      } release{user_};
      share(count, task, argument);
      return;
    }
  }
  for (int64_t i = 0; i < count; ++i) task(argument, i);
}

void ThreadPool::share(int64_t count, lpt_task_function task, void *argument) {
  if (pool_ == nullptr || owner_ != getpid()) start();
  if (pool_ == nullptr) {
    for (int64_t i = 0; i < count; ++i) task(argument, i);
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(pool_->mutex);
    pool_->count = count;
    pool_->task = task;
    pool_->argument = argument;
    pool_->next = 0;
    pool_->busy = static_cast<int32_t>(pool_->threads.size());
    ++pool_->loop;
  }
  pool_->has_work.notify_all();
  for (int64_t i; (i = pool_->next.fetch_add(1)) < count;) task(argument, i);
  std::unique_lock<std::mutex> lock(pool_->mutex);
  pool_->is_done.wait(lock, [&] { return pool_->busy == 0; });
}

}  // namespace lpt
