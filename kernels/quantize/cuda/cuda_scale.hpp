// Requests that only devices have: the host does not read an amax of a device, so a kernel computes the scale.
//
// On a device, kernels read the tensor scale from target.tensor_scale and ignore QuantizeRequest::tensor_inverse.
#pragma once

#include <span>

#include "src/base/kernel_entry.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {

// Most scales in a list of rule LIST. The list is in host memory, so kernels receive it by value.
constexpr int32_t kLongestListOnDevice = 64;

// Computes *scale = tensor_scale_value(spec, *amax). For MEAN, SAWB and MSE it is the initial scale.
struct TensorScaleRequest {
  ScaleSpec spec;
  const float *amax;
  float *scale;  // output
};

// Sets *scale to NaN if *has_nan, for an output whose codes and block scales cannot represent a NaN.
struct NanScaleRequest {
  const bool *has_nan;
  float *scale;
};

void tensor_scale_cuda(const TensorScaleRequest &request, void *stream);
void nan_scale_cuda(const NanScaleRequest &request, void *stream);

std::span<const KernelEntry<TensorScaleRequest>> tensor_scale_device_kernels();
std::span<const KernelEntry<NanScaleRequest>> nan_scale_device_kernels();

}  // namespace lpt
