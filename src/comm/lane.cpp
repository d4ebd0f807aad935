#include "src/comm/lane.hpp"

namespace lpt {

void Outcome::settle(Status status) noexcept {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    status_ = std::move(status);
    is_settled_ = true;
  }
  is_there_.notify_all();
}

Status Outcome::wait() noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  is_there_.wait(lock, [&] { return is_settled_; });
  return copy_of(status_);
}

bool Outcome::is_settled() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_settled_;
}

std::shared_ptr<Outcome> Lane::add(Task task) {
  auto outcome = std::make_shared<Outcome>();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread(&Lane::work, this);  // first: it may throw
    items_.push_back({std::move(task), outcome});
  }
  has_work_.notify_one();
  return outcome;
}

bool Lane::is_idle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return items_.empty();
}

void Lane::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    has_work_.wait(lock, [&] { return is_closing_ || !items_.empty(); });
    if (is_closing_) break;
    Item &item = items_.front();
    lock.unlock();
    Status status = item.task();
    const std::shared_ptr<Outcome> outcome = item.outcome;
    lock.lock();
    items_.pop_front();
    outcome->settle(std::move(status));
  }
  for (Item &item : items_) {
    item.outcome->settle(make_last_status(LPT_ABORTED, [] { return "the comm was destroyed"; }));
  }
  items_.clear();
}

void Lane::close() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_closing_ = true;
  }
  has_work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

}  // namespace lpt
