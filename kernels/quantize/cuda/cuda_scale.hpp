// What only devices have of this family: there the host does not know an amax, so the scale that follows from it is a row.
//
// On a device a QuantizeRequest takes the tensor scale that is at target.tensor_scale, whatever tensor_inverse says.
#pragma once

#include <span>

#include "src/base/kernel_entry.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {

// A list is the CPU's memory; kernels take it by value, and no longer one.
constexpr int32_t kLongestListOnDevice = 64;

// *scale = tensor_scale_value(spec, *amax); of MEAN, SAWB and MSE what they begin with.
struct TensorScaleRequest {
  ScaleSpec spec;
  const float *amax;
  float *scale;  // written
};

// *scale becomes NaN where *has_nan: what an output says whose codes cannot.
struct NanScaleRequest {
  const bool *has_nan;
  float *scale;
};

void tensor_scale_cuda(const TensorScaleRequest &request, void *stream);
void nan_scale_cuda(const NanScaleRequest &request, void *stream);

std::span<const KernelEntry<TensorScaleRequest>> tensor_scale_device_kernels();
std::span<const KernelEntry<NanScaleRequest>> nan_scale_device_kernels();

}  // namespace lpt
