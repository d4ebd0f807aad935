#include "src/base/parallel.hpp"

#include <unistd.h>

#include <exception>
#include <memory>

namespace lpt {

ThreadPool::~ThreadPool() {
  if (crew_ == nullptr || owner_ != getpid()) return;
  {
    const std::lock_guard<std::mutex> lock(crew_->mutex);
    crew_->is_closing = true;
  }
  crew_->has_work.notify_all();
  for (std::thread &thread : crew_->threads) thread.join();
  delete crew_;
}

// Fewer threads do the same work: where there is no memory or no thread, a loop goes on without.
void ThreadPool::start() {
  crew_ = nullptr;
  owner_ = getpid();
  try {
    auto crew = std::make_unique<Crew>();
    crew->threads.reserve(static_cast<size_t>(thread_count_ - 1));
    crew_ = crew.release();
    for (int32_t i = 1; i < thread_count_; ++i) crew_->threads.emplace_back(work, crew_);
  } catch (const std::exception &) {
  }
}

void ThreadPool::work(Crew *crew) {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(crew->mutex);
  for (;;) {
    crew->has_work.wait(lock, [&] { return crew->is_closing || crew->loop != seen; });
    if (crew->is_closing) return;
    seen = crew->loop;
    lock.unlock();
    for (int64_t i; (i = crew->next.fetch_add(1)) < crew->count;) crew->task(crew->argument, i);
    lock.lock();
    if (--crew->busy == 0) crew->is_done.notify_one();
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
  if (crew_ == nullptr || owner_ != getpid()) start();
  if (crew_ == nullptr) {
    for (int64_t i = 0; i < count; ++i) task(argument, i);
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(crew_->mutex);
    crew_->count = count;
    crew_->task = task;
    crew_->argument = argument;
    crew_->next = 0;
    crew_->busy = static_cast<int32_t>(crew_->threads.size());
    ++crew_->loop;
  }
  crew_->has_work.notify_all();
  for (int64_t i; (i = crew_->next.fetch_add(1)) < count;) task(argument, i);
  std::unique_lock<std::mutex> lock(crew_->mutex);
  crew_->is_done.wait(lock, [&] { return crew_->busy == 0; });
}

}  // namespace lpt
