#include "src/comm/progress_thread.hpp"

namespace lpt {

void Completion::complete(Status status) noexcept {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    status_ = std::move(status);
    is_complete_ = true;
  }
  is_present_.notify_all();
}

Status Completion::wait() noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  is_present_.wait(lock, [&] { return is_complete_; });
  return copy_of(status_);
}

bool Completion::is_complete() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_complete_;
}

std::shared_ptr<Completion> ProgressThread::add(Task task) {
  auto completion = std::make_shared<Completion>();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread(&ProgressThread::work, this);  // before the push: may throw
    items_.push_back({std::move(task), completion});
  }
  has_work_.notify_one();
  return completion;
}

bool ProgressThread::is_idle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return items_.empty();
}

void ProgressThread::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    has_work_.wait(lock, [&] { return is_closing_ || !items_.empty(); });
    if (is_closing_) break;
    Item &item = items_.front();
    lock.unlock();
    Status status = item.task();
    const std::shared_ptr<Completion> completion = item.completion;
    lock.lock();
    items_.pop_front();
    completion->complete(std::move(status));
  }
  for (Item &item : items_) {
    item.completion->complete(make_last_status(LPT_ABORTED, [] { return "the comm was destroyed"; }));
  }
  items_.clear();
}

void ProgressThread::close() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_closing_ = true;
  }
  has_work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

}  // namespace lpt
