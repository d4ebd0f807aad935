// A rank's end of a device's wire, and what becomes of the work that it has queued: engines of the same end, futures and waits
// for a stream all look here.
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

  // Calls a function of the wire that takes the end, unless it is broken; an error breaks it.
  template <typename Function, typename... Arguments>
  Status call(const Function &function, Arguments... arguments);

  // Breaks it: what is queued ends, and all calls from now on give this status. The first one counts.
  Status fail(const Status &why) noexcept;

  // Leaves, when what is queued has ended.
  void close();

  // OK, or why it is broken, also by what the device or another rank has found out since.
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

// What a collective has queued. Ended as soon as the event is past.
class QueuedWork : public Watch {
 public:
  QueuedWork(std::shared_ptr<DeviceEndpoint> end, const char *operation)
      : end_(std::move(end)), operation_(operation) {}

  // Sets the mark behind what is queued.
  Status mark(const Queue &queue);

  const Event &event() const { return event_; }
  const Device &device() const { return end_->queue().device(); }
  void set_operation(const char *operation) { operation_ = operation; }

  Status is_past(bool &out_is_past) const { return end_->queue().is_past(event_, out_is_past); }

  // Ended, well or not.
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
