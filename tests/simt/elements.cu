// Functions that kernels share with the CPU, for every GPU architecture of the plugin: they must compile without warnings.
#include "kernels/common/cuda_encode.hpp"
#include "kernels/common/cuda_fragment.hpp"
#include "kernels/common/cuda_random.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

template <Element kElement>
__device__ void convert(const float *numbers, uint32_t *codes, float *decoded, const ScaleSpec &spec) {
  constexpr Element element = kElement;
  const float number = numbers[threadIdx.x];
  codes[threadIdx.x] =
      encode(element, number, LPT_ROUNDING_STOCHASTIC, LPT_OVERFLOW_SATURATE, 7, 16) + block_scale_code(spec, number);
  decoded[threadIdx.x] = decode(element, codes[threadIdx.x]) + block_scale_value(spec.kind, codes[threadIdx.x]);
  if constexpr (kElement.bits <= 8 && !kElement.has_no_zero) {
    codes[threadIdx.x] += nearest_pair<kElement>(number, -number) + stochastic_code<kElement>(number, 7, 16);
    decoded[threadIdx.x] += small_number<kElement>(codes[threadIdx.x]);
  }
}

__global__ void convert_all(const float *numbers, uint32_t *codes, float *decoded, ScaleSpec spec) {
  convert<kElementE4m3fn>(numbers, codes, decoded, spec);
  convert<kElementE5m2>(numbers, codes, decoded, spec);
  convert<kElementE3m2fn>(numbers, codes, decoded, spec);
  convert<kElementE2m3fn>(numbers, codes, decoded, spec);
  convert<kElementE2m1fn>(numbers, codes, decoded, spec);
  convert<kElementInt8>(numbers, codes, decoded, spec);
  convert<kElementInt4>(numbers, codes, decoded, spec);
  convert<kElementE8m0fnu>(numbers, codes, decoded, spec);
  convert<kElementF16>(numbers, codes, decoded, spec);
  convert<kElementBf16>(numbers, codes, decoded, spec);
}

}  // namespace

void launch_all(const float *numbers, uint32_t *codes, float *decoded, const ScaleSpec &spec) {
  LPT_LAUNCH(convert_all, 1, 32, 0, nullptr, numbers, codes, decoded, spec);
}

}  // namespace lpt
