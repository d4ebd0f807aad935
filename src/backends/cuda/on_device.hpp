// Sets the current device of the calling thread, and restores it at the end of a scope.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lpt {

// Makes a device's primary context current for the thread, by the driver API. cudaSetDevice() needs a second call to restore
// the previous device, which since CUDA 12.0 creates a context on it. `out_is_entered` is false if the context was current
// already.
cudaError_t enter_device(int32_t index, bool &out_is_entered);

// Restores the previous context, or none.
void leave_device();

// Makes a device current for its lifetime. The program that uses the library selects its current device independently.
class OnDevice {
 public:
  explicit OnDevice(int32_t index) { error_ = enter_device(index, is_entered_); }
  ~OnDevice() {
    if (is_entered_) leave_device();
  }
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;

  // Returns the error of enter_device(), otherwise the result of `call`.
  template <typename Call>
  cudaError_t run(const Call &call) const {
    return error_ == cudaSuccess ? call() : error_;
  }

 private:
  bool is_entered_ = false;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace lpt
