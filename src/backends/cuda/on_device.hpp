// The calling thread's own device, for a while.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lpt {

// Makes a device's primary context the thread's current one, by the driver: cudaSetDevice() would have to be called again to
// restore the device before, and from CUDA 12.0 on it makes a context on that device. `out_is_entered` false: it was current.
cudaError_t enter_device(int32_t index, bool &out_is_entered);

// Makes the context before, or none, the current one.
void leave_device();

// For the life of this object. A program beside us has its own idea of the current device.
class OnDevice {
 public:
  explicit OnDevice(int32_t index) { error_ = enter_device(index, is_entered_); }
  ~OnDevice() {
    if (is_entered_) leave_device();
  }
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;

  // The entry's error, or what `call` gives.
  template <typename Call>
  cudaError_t run(const Call &call) const {
    return error_ == cudaSuccess ? call() : error_;
  }

 private:
  bool is_entered_ = false;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace lpt
