// The rows of the optimizer steps, fastest first.
#include <initializer_list>

#include "kernels/optimizer/rows.hpp"

namespace lpt {
namespace {

bool is_state(const StateArray &array) {
  return array.element == LPT_FORMAT_F32 || array.element == LPT_FORMAT_BF16 || array.element == LPT_FORMAT_F16 ||
         array.element == LPT_FORMAT_E4M3FN || array.element == LPT_FORMAT_E4M3 || array.element == LPT_FORMAT_E5M2;
}

const char *refuses_adamw_any(const AdamwRequest &request) {
  if (request.gradient_format != LPT_FORMAT_F32 && request.gradient_format != LPT_FORMAT_BF16) {
    return "the gradient is neither f32 nor bf16";
  }
  if (!is_state(request.first) || !is_state(request.second) || !is_state(request.parameter)) {
    return "a state is none of f32, bf16, f16, e4m3fn, e4m3, e5m2";
  }
  return nullptr;
}

#if defined(LPT_HAVE_X86_AVX512)
// Random bits are drawn for 64 elements at once, at the same places for all arrays.
const char *refuses_adamw_vectors(const AdamwRequest &request) {
  for (const StateArray *array : {&request.first, &request.second, &request.parameter}) {
    if (array->element == LPT_FORMAT_F32 || array->rounding != LPT_ROUNDING_STOCHASTIC) continue;
    if (array->random.bits != 16 || array->random.rounds != 7) return "random bits are not 16 an element of 7 rounds";
    if ((array->random.offset - request.first.random.offset) % 8 != 0) return "random offsets differ";
  }
  return refuses_adamw_any(request);
}
#endif

#if defined(LPT_HAVE_X86_AVX2)
const char *refuses_adamw_nearest(const AdamwRequest &request) {
  for (const StateArray *array : {&request.first, &request.second, &request.parameter}) {
    if (array->element != LPT_FORMAT_F32 && array->rounding != LPT_ROUNDING_NEAREST_EVEN) {
      return "a rounding is not to nearest even";
    }
  }
  return refuses_adamw_any(request);
}
#endif

}  // namespace

std::span<const Row<AdamwRequest>> adamw_kernels() {
  static constexpr Row<AdamwRequest> rows[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {.name = "adamw_x86_avx512", .needs = kCpuAvx512, .refuses = refuses_adamw_vectors, .run = adamw_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {.name = "adamw_x86_avx2", .needs = kCpuAvx2, .refuses = refuses_adamw_nearest, .run = adamw_x86_avx2},
#endif
    {.name = "adamw_any_ref", .needs = 0, .refuses = refuses_adamw_any, .run = adamw_any_ref},
  };
  return rows;
}

}  // namespace lpt
