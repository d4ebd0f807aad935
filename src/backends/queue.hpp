// Kinds of devices, and one device's memory and stream.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/backends/device.hpp"
#include "src/backends/device_plugin.hpp"
#include "src/base/memory.hpp"

namespace lpt {

const Backend &cpu_backend();

// Queued work that other ranks may keep from ending: who waits for a stream it is on looks after it.
class Watch {
 public:
  virtual ~Watch() = default;

  // Returns when it has ended, or with why it will not.
  virtual Status wait() = 0;
};

// A mark in streams of a device, and a stream of one's own: opaque, gone with the last owner.
using Event = std::shared_ptr<void>;
using Stream = std::shared_ptr<void>;

// The caller's allocator of device memory, from lpt_context_options.
struct DeviceHooks {
  lpt_device_allocate_function allocate = nullptr;  // NULL: the backend allocates
  lpt_device_release_function release = nullptr;
  void *user = nullptr;
};

// A device that can be worked on: its backend, and the rows that its plugin brought.
class Queue {
 public:
  // The CPU.
  Queue() = default;

  // Opens the plugin of that kind. Rejects a device that is not usable, with the reason.
  static Status open(const Device &device, Queue &out_queue);

  const Device &device() const { return device_; }
  int32_t capability() const { return capability_; }  // 90 is 9.0; 0 for the CPU
  std::span<const DeviceFamily> families() const { return families_; }
  void *stream() const { return stream_; }
  void set_stream(void *stream) { stream_ = stream; }

  // Memory of the device as an allocator, which knows its backend by itself. Hooks allocate for work on `stream`.
  std::shared_ptr<const Allocator> allocator(const DeviceHooks &hooks, void *stream) const;

  Status check(const void *memory, const char *name) const;
  Status fill(void *memory, uint8_t value, size_t bytes) const;
  Status copy(const CopyRequest &request) const;
  Status copy_between(const CopyRequest &request, const Device &target, const Device &source) const;

  // Waits for what is queued, for what is watched first.
  Status synchronize() const;
  void watch(const std::shared_ptr<Watch> &work);

  Status make_stream(Stream &out_stream) const;
  Status make_event(Event &out_event) const;
  Status record(void *event) const;  // behind what is queued
  Status follow(void *event) const;  // what is queued from now on waits for it
  Status record(const Event &event) const { return record(event.get()); }
  Status follow(const Event &event) const { return follow(event.get()); }

  // What is queued on `later` from now on waits for what is queued on `earlier`.
  Status follow_stream(void *later, void *earlier) const;
  Status is_past(const Event &event, bool &out_is_past) const;

  // How its ranks exchange bytes with others; NULL: the device has none.
  const DeviceTransport *wire() const { return wire_; }

  // Runs `body`, which queues kernels, with the device as the thread's own.
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
  mutable std::vector<std::weak_ptr<Watch>> watched_;  // until the next wait
};

// What lpt_device_describe() tells; the reason of one that is not there is in it.
Status describe_device(const Device &device, lpt_device_info &out_description);

}  // namespace lpt
