#include "src/comm/device/device_endpoint.hpp"

#include "src/comm/backoff.hpp"
#include "src/comm/deadline.hpp"

namespace lpt {
namespace {

// Seconds that close() waits until other ranks have received the last bytes.
constexpr double kCloseSeconds = 10.0;

}  // namespace

DeviceEndpoint::DeviceEndpoint(const Queue &queue, void *end, double timeout_seconds)
    : queue_(queue), end_(end), timeout_seconds_(timeout_seconds) {}

void DeviceEndpoint::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is_closed_) queue_.wire()->close(end_, kCloseSeconds);
  is_closed_ = true;
}

Status DeviceEndpoint::fail_locked(const Status &why) noexcept {
  if (!broken_.is_ok()) return copy_of(broken_);
  const bool is_ended = queue_.wire()->abort(end_);
  const char *const more = is_ended ? "" : "; what is queued ends when the owner of nccl_comm aborts it";
  broken_ = make_last_status(why.code(), [&] { return why.message() + more; });
  return copy_of(broken_);
}

Status DeviceEndpoint::fail(const Status &why) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  return fail_locked(why);
}

Status DeviceEndpoint::look() { return call(queue_.wire()->look); }

Status QueuedWork::mark(const Queue &queue) {
  if (event_ == nullptr) LPT_TRY(queue.make_event(event_));
  return queue.record(event_);
}

Status QueuedWork::wait() {
  const Deadline deadline(end_->timeout_seconds());
  for (Backoff backoff;;) {
    bool is_past = false;
    LPT_TRY(end_->queue().is_past(event_, is_past));
    // Checked after the event: an abort also completes the event.
    LPT_TRY(end_->look());
    if (is_past) return {};
    if (deadline.is_over()) {
      return end_->fail(Status(LPT_TIMEOUT, text("%s: bytes of other ranks did not come within %g seconds", operation_,
                                                 end_->timeout_seconds())));
    }
    backoff.pause(true);
  }
}

}  // namespace lpt
