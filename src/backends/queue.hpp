// Kinds of devices, and one device's memory and stream.
#pragma once

#include <memory>
#include <span>

#include "src/backends/device.hpp"
#include "src/backends/device_plugin.hpp"
#include "src/base/memory.hpp"

namespace lpt {

const Backend &cpu_backend();

// A device that can be worked on: its backend, and the rows that its plugin brought.
class Queue {
 public:
  // The processor.
  Queue() = default;

  // Opens the plugin of that kind. Refuses a device that is not usable, with the reason.
  static Status open(const Device &device, Queue &out_queue);

  const Device &device() const { return device_; }
  int32_t capability() const { return capability_; }  // 90 is 9.0; 0 for the processor
  std::span<const DeviceFamily> families() const { return families_; }
  void *stream() const { return stream_; }
  void set_stream(void *stream) { stream_ = stream; }

  // Memory of the device as an allocator, which knows its backend by itself.
  std::shared_ptr<const Allocator> allocator() const;

  Status check(const void *memory, const char *name) const;
  Status fill(void *memory, uint8_t value, size_t bytes) const;
  Status copy(const CopyRequest &request) const;
  Status copy_between(const CopyRequest &request, const Device &target, const Device &source) const;
  Status synchronize() const;

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
};

// What lpt_device_describe() tells; the reason of one that is not there is in it.
Status describe_device(const Device &device, lpt_device_description &out_description);

}  // namespace lpt
