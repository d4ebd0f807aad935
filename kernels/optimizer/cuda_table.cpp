// CUDA kernel tables of the optimizer family.
#include <initializer_list>

#include "kernels/optimizer/cuda_kernels.hpp"

namespace lpt {
namespace {

bool is_number(lpt_format element) { return element == LPT_FORMAT_F32 || element == LPT_FORMAT_BF16; }

bool is_byte(lpt_format element) {
  return element == LPT_FORMAT_E4M3FN || element == LPT_FORMAT_E4M3 || element == LPT_FORMAT_E5M2;
}

bool is_state(const StateArray &array) {
  if (array.data == nullptr) return true;
  if (array.block == 0) return is_number(array.element) || array.element == LPT_FORMAT_F16 || is_byte(array.element);
  if (array.block == 128) return is_byte(array.element);
  return array.block == 256 && is_dynamic(array.element) && array.exponents == nullptr;
}

const char *unsupported_step(const StepRequest &request) {
  if (!is_number(request.gradient_format)) return "the gradient is neither f32 nor bf16";
  if (!is_state(request.first) || !is_state(request.second)) {
    return "a state is none of f32, bf16, f16, e4m3fn, e4m3, e5m2, the last three in groups of 128, dynamic trees";
  }
  if (!is_number(request.parameter.element) || request.parameter.block != 0)
    return "the parameter is neither f32 nor bf16";
  if (request.first.data == nullptr) return "there is no first moment";
  if (request.compensation.data != nullptr &&
      (request.compensation.element != LPT_FORMAT_BF16 || request.parameter.element != LPT_FORMAT_BF16)) {
    return "a compensation is not of bf16 beside bf16";
  }
  for (const StateArray *array : {&request.first, &request.second, &request.parameter}) {
    if (array->rounding != LPT_ROUNDING_NEAREST_EVEN && array->rounding != LPT_ROUNDING_STOCHASTIC) {
      return "a rounding is neither to nearest even nor stochastic";
    }
    if (array->random.words != nullptr) return "random bits are the caller's";
  }
  return nullptr;
}

const char *unsupported_norm(const NormRequest &request) {
  return is_number(request.gradient_format) ? nullptr : "the gradient is neither f32 nor bf16";
}

}  // namespace

std::span<const KernelEntry<NormRequest>> norm_device_kernels() {
  static constexpr KernelEntry<NormRequest> kernels[] = {{"norm_cuda", 80, unsupported_norm, norm_cuda}};
  return kernels;
}

std::span<const KernelEntry<StepRequest>> step_device_kernels() {
  static constexpr KernelEntry<StepRequest> kernels[] = {{"step_cuda", 80, unsupported_step, step_cuda}};
  return kernels;
}

}  // namespace lpt
