// Kinds of devices, and the memory and stream of one device.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/backends/device.hpp"
#include "src/backends/device_plugin.hpp"
#include "src/base/memory.hpp"

namespace lpt {

const Backend &cpu_backend();

// Queued work whose end depends on other ranks. Queue::synchronize() waits for it with its wait().
class Watch {
 public:
  virtual ~Watch() = default;

  // Returns when the work has ended, or with the reason why it cannot end.
  virtual Status wait() = 0;
};

// An event and a stream of a device: opaque, destroyed with the last owner.
using Event = std::shared_ptr<void>;
using Stream = std::shared_ptr<void>;

// The caller's allocator of device memory, from lpt_context_options.
struct DeviceHooks {
  lpt_device_allocate_function allocate = nullptr;  // NULL: the backend allocates
  lpt_device_release_function release = nullptr;
  void *user = nullptr;
};

// A device on which work can be queued: its backend, and the kernels of its plugin.
class Queue {
 public:
  // Uses the CPU as the device.
  Queue() = default;

  // Opens the plugin of that kind of device. Rejects an unusable device, with the reason.
  static Status open(const Device &device, Queue &out_queue);

  const Device &device() const { return device_; }
  int32_t capability() const { return capability_; }  // compute capability times 10, 90 is 9.0; 0 for the CPU
  std::span<const DeviceFamily> families() const { return families_; }
  void *stream() const { return stream_; }
  void set_stream(void *stream) { stream_ = stream; }

  // Returns an allocator of device memory that does not depend on this queue. Hooks allocate for work on `stream`.
  std::shared_ptr<const Allocator> allocator(const DeviceHooks &hooks, void *stream) const;

  Status check(const void *memory, const char *name) const;
  Status fill(void *memory, uint8_t value, size_t bytes) const;
  Status copy(const CopyRequest &request) const;
  Status copy_between(const CopyRequest &request, const Device &target, const Device &source) const;

  // Waits for watched work, then for all queued work.
  Status synchronize() const;
  void watch(const std::shared_ptr<Watch> &work);

  Status make_stream(Stream &out_stream) const;
  Status make_event(Event &out_event) const;
  Status record(void *event) const;  // after the queued work
  Status follow(void *event) const;  // work that is queued later waits for it
  Status record(const Event &event) const { return record(event.get()); }
  Status follow(const Event &event) const { return follow(event.get()); }

  // Work that is queued on `later` after this call waits for the work that is queued on `earlier`.
  Status follow_stream(void *later, void *earlier) const;
  Status is_past(const Event &event, bool &out_is_past) const;

  // The transport between ranks with such devices; NULL: none.
  const DeviceTransport *wire() const { return wire_; }

  // Runs `body`, which queues kernels, with the device current for the thread.
  template <typename Body>
  Status run(const char *row, Body &&body) const {
    int32_t previous = 0;
    LPT_TRY(enter(previous));
    body();
    return leave(previous, row);
  }

 private:
  Status enter(int32_t &out_previous) const;
  Status leave(int32_t previous, const char *row) const;

  const Backend *backend_ = &cpu_backend();
  Device device_;
  void *stream_ = nullptr;
  int32_t capability_ = 0;
  std::span<const DeviceFamily> families_;
  const DeviceTransport *wire_ = nullptr;
  mutable std::vector<std::weak_ptr<Watch>> watched_;  // until the next synchronize()
};

// Fills the result of lpt_device_describe(). For an unusable device, `reason` states why.
Status describe_device(const Device &device, lpt_device_info &out_description);

}  // namespace lpt
