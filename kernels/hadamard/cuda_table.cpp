// Kernels of the device.
#include "kernels/hadamard/cuda_kernels.hpp"

namespace lpt {
namespace {

const char *unsupported_rotation(const HadamardRequest &request) {
  if (!is_float_dtype(request.source.format.element)) return "takes f32, bf16 and f16 only";
  if (!is_float_dtype(request.target.format.element)) return "gives f32, bf16 and f16 only";
  return request.source.column_stride == 1 ? nullptr : "takes adjacent columns only";
}

const char *unsupported_small(const HadamardRequest &request) {
  return request.size > 128 ? "takes groups of up to 128 columns only" : unsupported_rotation(request);
}

const char *unsupported_large(const HadamardRequest &request) {
  return request.size <= 128 ? "takes groups of more than 128 columns only" : unsupported_rotation(request);
}

const char *unsupported_factors(const FactorRequest &request) {
  const bool is_taken =
      request.format == LPT_FORMAT_INT8 || request.format == LPT_FORMAT_F32 || request.format == LPT_FORMAT_E8M0FNU;
  return is_taken ? nullptr : "takes int8, f32 and e8m0fnu only";
}

}  // namespace

std::span<const KernelEntry<FactorRequest>> factor_device_kernels() {
  static constexpr KernelEntry<FactorRequest> rows[] = {{"factors_cuda", 80, unsupported_factors, factors_cuda}};
  return rows;
}

std::span<const KernelEntry<HadamardRequest>> hadamard_device_kernels() {
  static constexpr KernelEntry<HadamardRequest> rows[] = {
      {"hadamard_cuda", 80, unsupported_small, hadamard_cuda},
      {"hadamard_groups_cuda", 80, unsupported_large, hadamard_groups_cuda},
  };
  return rows;
}

}  // namespace lpt
