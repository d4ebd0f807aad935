// One rank's endpoint of a device transport, and the state of its queued work. Engines, futures and stream waits of one
// endpoint share it.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "src/backends/queue.hpp"
#include "src/comm/engine.hpp"

namespace lpt {

class DeviceEndpoint {
 public:
  DeviceEndpoint(const Queue &queue, void *end, double timeout_seconds);
  ~DeviceEndpoint() { close(); }
  DeviceEndpoint(const DeviceEndpoint &) = delete;
  DeviceEndpoint &operator=(const DeviceEndpoint &) = delete;

  const Queue &queue() const { return queue_; }
  double timeout_seconds() const { return timeout_seconds_; }

  // Calls a transport function with the endpoint, unless it has failed or is closed. An error marks the endpoint as failed.
  template <typename Function, typename... Arguments>
  Status call(const Function &function, Arguments... arguments);

  // Aborts queued work and marks the endpoint as failed. Later calls return this status. Only the first failure counts.
  Status fail(const Status &why) noexcept;

  // Closes the endpoint after queued work has ended.
  void close();

  // Returns OK or the failure, including failures that the device or another rank has reported meanwhile.
  Status look();

 private:
  Status fail_locked(const Status &why) noexcept;

  const Queue queue_;
  void *const end_;
  const double timeout_seconds_;
  std::mutex mutex_;
  bool is_closed_ = false;
  Status broken_;
};

// The work that a collective has queued. It has ended when the event has passed.
class QueuedWork : public Watch {
 public:
  QueuedWork(std::shared_ptr<DeviceEndpoint> end, const char *operation)
      : end_(std::move(end)), operation_(operation) {}

  // Records the event after the work that is queued on `queue`.
  Status mark(const Queue &queue);

  const Event &event() const { return event_; }
  const Device &device() const { return end_->queue().device(); }
  void set_operation(const char *operation) { operation_ = operation; }

  Status is_past(bool &out_is_past) const { return end_->queue().is_past(event_, out_is_past); }

  // Returns true if the work has ended, with or without an error.
  bool is_over() const {
    bool is_past = false;
    return !this->is_past(is_past).is_ok() || is_past;
  }
  Status wait() override;

 private:
  const std::shared_ptr<DeviceEndpoint> end_;
  Event event_;
  const char *operation_;
};

template <typename Function, typename... Arguments>
Status DeviceEndpoint::call(const Function &function, Arguments... arguments) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!broken_.is_ok() || is_closed_) return broken_;
  char error[512] = "";
  const int32_t code = function(end_, arguments..., error, sizeof error);
  return code == LPT_OK ? Status() : fail_locked(Status(code, error));
}

}  // namespace lpt
