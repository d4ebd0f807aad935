#include "src/base/parallel.hpp"

#include <unistd.h>

#include <chrono>
#include <exception>
#include <memory>

#include "src/base/cpu.hpp"

namespace lpt {
namespace {

// A sleeping thread starts tens of microseconds after it is woken, which is longer than many loops. Threads therefore poll for
// the next loop for a while before they sleep, unless that takes a core from another thread.
constexpr std::chrono::microseconds kPolling{200};
std::atomic<int32_t> awake{0};        // threads of all pools of the process
std::atomic<pid_t> awake_process{0};  // a forked child counts again
// Cores that the process can use. Set before a thread starts: a thread that initializes a static variable during a fork leaves
// it locked in the child.
std::atomic<int32_t> cores{1};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Polls until the value differs from `old`, and returns whether it does. It polls only if a core is left for a caller of a loop.
template <typename Value>
bool poll_for_change(const std::atomic<Value> &value, Value old) {
  if (awake.load(std::memory_order_relaxed) >= cores.load(std::memory_order_relaxed)) return value.load() != old;
  const auto end = std::chrono::steady_clock::now() + kPolling;
  do {
    for (int i = 0; i < 8; ++i) {
      if (value.load() != old) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

ThreadPool::~ThreadPool() {
  if (pool_ == nullptr || owner_ != getpid()) return;
  pool_->is_closing = true;
  pool_->loop += 2;
  pool_->loop.notify_all();
  for (std::thread &thread : pool_->threads) thread.join();
  delete pool_;
}

// If memory or threads cannot be allocated, the pool has fewer threads or none, and loops run on these and the caller.
void ThreadPool::start() {
  pool_ = nullptr;
  owner_ = getpid();
  if (awake_process.exchange(owner_) != owner_) awake = 0;
  cores = usable_cores();
  try {
    auto pool = std::make_unique<PoolState>();
    pool->threads.reserve(static_cast<size_t>(thread_count_ - 1));
    pool_ = pool.release();
    for (int32_t i = 1; i < thread_count_; ++i) pool_->threads.emplace_back(work, pool_);
  } catch (const std::exception &) {
  }
}

void ThreadPool::PoolState::take_tasks() {
  for (int64_t i; (i = next.fetch_add(1)) < count;) task(argument, i);
}

void ThreadPool::work(PoolState *pool) {
  uint32_t seen = 0;
  ++awake;
  for (;;) {
    if (!poll_for_change(pool->loop, seen)) {
      --awake;
      pool->loop.wait(seen);
      ++awake;
    }
    seen = pool->loop;
    if (pool->is_closing) break;
    if (seen % 2 == 0) continue;
    ++pool->active;
    if (pool->loop == seen) pool->take_tasks();
    if (--pool->active == 0) pool->active.notify_one();
  }
  --awake;
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
  pool_->count = count;
  pool_->task = task;
  pool_->argument = argument;
  pool_->next = 0;
  ++pool_->loop;
  if (count > static_cast<int64_t>(pool_->threads.size())) {
    pool_->loop.notify_all();
  } else {
    for (int64_t i = 1; i < count; ++i) pool_->loop.notify_one();
  }
  pool_->take_tasks();
  ++pool_->loop;
  for (int32_t active; (active = pool_->active) != 0;) {
    if (!poll_for_change(pool_->active, active)) pool_->active.wait(active);
  }
}

}  // namespace lpt
