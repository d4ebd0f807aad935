// Tables of the kernels of optimizer steps and gradient norms, fastest first.
#include <initializer_list>

#include "kernels/optimizer/optimizer.hpp"

namespace lpt {
namespace {

bool is_fp8(lpt_format element) {
  return element == LPT_FORMAT_E4M3FN || element == LPT_FORMAT_E4M3 || element == LPT_FORMAT_E5M2;
}

bool is_whole(const StateArray &array) {
  return array.block == 0 && (array.element == LPT_FORMAT_F32 || array.element == LPT_FORMAT_BF16 ||
                              array.element == LPT_FORMAT_F16 || is_fp8(array.element));
}

bool is_state(const StateArray &array) {
  const bool is_group = array.block == 128 && is_fp8(array.element);
  const bool is_tree = array.block == 256 && is_dynamic(array.element) && array.exponents == nullptr;
  return array.data == nullptr || is_whole(array) || is_group || is_tree;
}

const char *unsupported_any(const StepRequest &request) {
  if (request.gradient_format != LPT_FORMAT_F32 && request.gradient_format != LPT_FORMAT_BF16) {
    return "the gradient is neither f32 nor bf16";
  }
  if (!is_state(request.first) || !is_state(request.second)) {
    return "a state is none of f32, bf16, f16, e4m3fn, e4m3, e5m2, the last three in groups of 128, dynamic trees";
  }
  if (!is_whole(request.parameter)) return "the parameter has blocks";
  if (request.compensation.data != nullptr &&
      (request.compensation.element != LPT_FORMAT_BF16 || request.parameter.element != LPT_FORMAT_BF16)) {
    return "a compensation is not of bf16 beside bf16";
  }
  return nullptr;
}

#if defined(LPT_HAVE_X86)
const char *unsupported_vectors(const StepRequest &request) {
  for (const StateArray *array : {&request.first, &request.second, &request.parameter}) {
    if (array->random.words != nullptr) return "random bits are the caller's";
    const bool is_drawn =
        array->rounding == LPT_ROUNDING_STOCHASTIC || array->underflow == LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC;
    if (is_drawn && array->random.rounds != 7 && array->random.rounds != 10) {
      return "random bits are not of 7 or 10 rounds";
    }
  }
  return unsupported_any(request);
}
#endif

const char *unsupported_norm(const NormRequest &request) {
  if (request.gradient_format == LPT_FORMAT_F32 || request.gradient_format == LPT_FORMAT_BF16) return nullptr;
  return "the gradient is neither f32 nor bf16";
}

}  // namespace

std::span<const KernelEntry<NormRequest>> norm_kernels() {
  static constexpr KernelEntry<NormRequest> kernels[] = {LPT_X86_ENTRIES(norm, unsupported_norm)
                                                             LPT_REF_ENTRY(norm_any, unsupported_norm)};
  return kernels;
}

std::span<const KernelEntry<StepRequest>> step_kernels() {
  static constexpr KernelEntry<StepRequest> kernels[] = {LPT_X86_ENTRIES(step, unsupported_vectors)
                                                             LPT_REF_ENTRY(step_any, unsupported_any)};
  return kernels;
}

}  // namespace lpt
