// The calling thread's own device, for a while.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace lpt {

// Makes a device the thread's own for the life of this object. A program beside us has its own idea of it.
class OnDevice {
 public:
  explicit OnDevice(int32_t index) {
    error_ = cudaGetDevice(&previous_);
    if (error_ == cudaSuccess && previous_ != index) error_ = cudaSetDevice(index);
  }
  ~OnDevice() {
    if (error_ == cudaSuccess) cudaSetDevice(previous_);
  }
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;

  // The entry's error, or what `call` gives.
  template <typename Call>
  cudaError_t run(const Call &call) const {
    return error_ == cudaSuccess ? call() : error_;
  }

 private:
  int previous_ = 0;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace lpt
