// The optimizer's step: a thread takes eight adjacent elements of every array, once. The order of operations is the
// contract's; nvcc contracts nothing (-fmad=false).
#include "kernels/optimizer/cuda_found.hpp"
#include "kernels/optimizer/cuda_kernels.hpp"
#include "kernels/optimizer/cuda_state.hpp"
#include "kernels/optimizer/cuda_state_any.hpp"
#include "kernels/optimizer/rule.hpp"

namespace lpt {
namespace {

constexpr uint32_t kThreads = 256;

struct StepJob {
  lpt_optimizer_method method;
  StepConstants constants;
  const void *gradient;
  bool is_gradient_bf16, is_gradient_aligned;
  int64_t begin, count;
  StateJob first, second, parameter, compensation;
  bool is_measure;
  float *amax;
  const StepScales *stored, *next;
  const GradientFacts *gradients;
  uint32_t delayed;
};

__device__ __forceinline__ float gradient_scale_of(const StepJob &job) {
  return job.gradients != nullptr ? job.gradients->gradient_scale : job.constants.gradient_scale;
}

// The direction by a gradient before its scale and the coupled decay.
__device__ __forceinline__ float direction_by(const StepJob &job, float gradient, float p, float &m, float &v) {
  const StepConstants &c = job.constants;
  float g = gradient * gradient_scale_of(job);
  if (c.coupled_decay != 0.0f) g = g + c.coupled_decay * p;
  return direction(job.method, c, g, m, v);
}

__device__ __forceinline__ void update(const StepJob &job, const NumberEight &gradient, NumberEight &first,
                                       NumberEight &second, NumberEight &parameter) {
  const StepConstants &c = job.constants;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    const float p = parameter.number[i];
    const float u = direction_by(job, gradient.number[i], p, first.number[i], second.number[i]);
    parameter.number[i] = (p - c.decay * p) - c.step_size * u;
  }
}

// What bf16 drops is kept for the next step.
__device__ __forceinline__ void update_compensated(const StepJob &job, const NumberEight &gradient, NumberEight &first,
                                                   NumberEight &second, NumberEight &parameter,
                                                   NumberEight &compensation, const RandomFragment &random) {
  constexpr Element kElement = kElementBf16;
  const StepConstants &c = job.constants;
  const lpt_rounding rounding = job.parameter.is_drawn ? LPT_ROUNDING_STOCHASTIC : LPT_ROUNDING_NEAREST_EVEN;
  const int32_t bits = job.parameter.random.bits;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    const float p = parameter.number[i];
    const float u = direction_by(job, gradient.number[i], p, first.number[i], second.number[i]);
    const float d = compensation.number[i] - (c.decay * p + c.step_size * u);
    const uint32_t code = encode(kElement, p + d, rounding, LPT_OVERFLOW_SATURATE, random_of(random, bits, i), bits);
    parameter.number[i] = p + d;
    compensation.number[i] = d - (decode(kElement, code) - p);
  }
}

// Numbers beyond the end must not reach a block's scale.
__device__ __forceinline__ void clear_beyond(NumberEight &eight, int32_t count) {
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if (i >= count) eight.number[i] = 0.0f;
  }
}

template <Kept kKept>
__device__ __forceinline__ bool has_amax(const StateJob &job) {
  const bool is_number = job.element == LPT_FORMAT_F32 || job.element == LPT_FORMAT_BF16;
  return job.lanes == 0 && (kKept == Kept::kBytes || (kKept == Kept::kAny && !is_number));
}

// Raises the amax of an array with one scale: once for each warp. Numbers have none.
template <Kept kKept>
__device__ __forceinline__ void raise(const StateJob &job, const NumberEight &eight, float *amax) {
  if (!has_amax<kKept>(job)) return;
  const float most = largest_of_lanes(finite_amax(eight), 32);
  if (threadIdx.x % 32 == 0) atomicMax(reinterpret_cast<uint32_t *>(amax), float_bits(most));
}

__device__ __forceinline__ void copy_tree(DynamicTree &to, const DynamicTree &from) {
  to.level[threadIdx.x] = from.level[threadIdx.x];
  if (threadIdx.x < 255) to.threshold[threadIdx.x] = from.threshold[threadIdx.x];
  if (threadIdx.x == 0) to.zero = from.zero;
}

// Whether measuring can give nothing new.
__device__ __forceinline__ bool is_known(const StepJob &job) {
  if (job.delayed == 0) return false;
  for (uint32_t k = 0; k < 2; ++k) {
    if ((job.delayed >> k & 1) != 0 && job.stored->amax[k] == 0.0f) return false;
  }
  return true;
}

__device__ __forceinline__ float stored_scale(const StepJob &job, const StateJob &state, int32_t k) {
  return job.stored == nullptr ? state.scale : job.stored->scale[k];
}

__device__ __forceinline__ float requested_inverse(const StepJob &job, const StateJob &state, int32_t k) {
  return job.next == nullptr ? state.inverse : job.next->inverse[k];
}

__device__ __forceinline__ NumberEight load_gradient(const StepJob &job, int64_t index, int32_t count) {
  if (count == 0) return {};
  return load_vec8(job.is_gradient_bf16, job.gradient, index, count, count == kEight && job.is_gradient_aligned);
}

// What the moments are is known when it is compiled: with all kinds in one kernel it would be several times as long.
template <Kept kFirst, Kept kSecond>
__global__ void __launch_bounds__(kThreads) step(StepJob job) {
  __shared__ DynamicTree of_signed, of_unsigned;
  if (job.is_measure && is_known(job)) return;
  if constexpr (kFirst == Kept::kTree || kSecond == Kept::kTree) {
    copy_tree(of_signed, kDeviceTrees[0]);
    copy_tree(of_unsigned, kDeviceTrees[1]);
    __syncthreads();
  }
  const Trees trees = {&of_signed, &of_unsigned};
  const int64_t at = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * kEight;
  const int32_t count = eight_count(job.count, at);
  const int64_t index = job.begin + at;
  const NumberEight gradient = load_gradient(job, index, count);
  NumberEight first = load_state<kFirst>(job.first, trees, index, count, stored_scale(job, job.first, 0));
  NumberEight second = load_state<kSecond>(job.second, trees, index, count, stored_scale(job, job.second, 1));
  NumberEight parameter = load_state<Kept::kNumbers>(job.parameter, trees, index, count, job.parameter.scale);
  update(job, gradient, first, second, parameter);
  clear_beyond(first, count);
  clear_beyond(second, count);
  if (job.amax != nullptr) {
    raise<kFirst>(job.first, first, job.amax);
    raise<kSecond>(job.second, second, job.amax + 1);
  }
  if (job.is_measure) return;
  store_state<kFirst>(job.first, trees, index, count, first, requested_inverse(job, job.first, 0));
  store_state<kSecond>(job.second, trees, index, count, second, requested_inverse(job, job.second, 1));
  store_state<Kept::kNumbers>(job.parameter, trees, index, count, parameter, job.parameter.inverse);
}

// Moments of any kind, and a compensation or none.
__global__ void __launch_bounds__(kThreads) step_any(StepJob job) {
  __shared__ DynamicTree of_signed, of_unsigned;
  if (job.is_measure && is_known(job)) return;
  copy_tree(of_signed, kDeviceTrees[0]);
  copy_tree(of_unsigned, kDeviceTrees[1]);
  __syncthreads();
  const Trees trees = {&of_signed, &of_unsigned};
  const int64_t at = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * kEight;
  const int32_t count = eight_count(job.count, at);
  const int64_t index = job.begin + at;
  const NumberEight gradient = load_gradient(job, index, count);
  NumberEight first = load_any_state(job.first, trees, index, count, stored_scale(job, job.first, 0));
  NumberEight second = load_any_state(job.second, trees, index, count, stored_scale(job, job.second, 1));
  NumberEight parameter = load_state<Kept::kNumbers>(job.parameter, trees, index, count, job.parameter.scale);
  NumberEight compensation = load_any_state(job.compensation, trees, index, count, 1.0f);
  if (job.compensation.data == nullptr) {
    update(job, gradient, first, second, parameter);
  } else {
    RandomFragment random = {};
    if (job.parameter.is_drawn) random = draw_eight(job.parameter.random, index);
    update_compensated(job, gradient, first, second, parameter, compensation, random);
  }
  clear_beyond(first, count);
  clear_beyond(second, count);
  if (job.amax != nullptr) {
    raise<Kept::kAny>(job.first, first, job.amax);
    raise<Kept::kAny>(job.second, second, job.amax + 1);
  }
  if (job.is_measure) return;
  store_any_state(job.first, trees, index, count, first, requested_inverse(job, job.first, 0));
  store_any_state(job.second, trees, index, count, second, requested_inverse(job, job.second, 1));
  store_state<Kept::kNumbers>(job.parameter, trees, index, count, parameter, job.parameter.inverse);
  store_any_state(job.compensation, trees, index, count, compensation, 1.0f);
}

// Whether eights of `bytes` each that begin with element `begin` can be moved in whole pieces.
bool is_on_boundary(const void *data, int64_t begin, int64_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(begin * bytes);
  return address % (bytes == 1 ? 8 : 16) == 0;
}

int64_t bytes_of(lpt_format element) { return element == LPT_FORMAT_F32 ? 4 : element == LPT_FORMAT_BF16 ? 2 : 1; }

StateJob state_job(const StateArray &array, int64_t begin) {
  StateJob job = {};
  job.data = array.data;
  job.block_scales = array.block_scales;
  job.element = array.element;
  job.scale = array.scale;
  job.inverse = array.inverse_scale;
  job.lanes = static_cast<uint32_t>(array.block / kEight);
  job.is_drawn = array.rounding == LPT_ROUNDING_STOCHASTIC;
  job.underflow = array.underflow;
  job.random = array.random;
  job.is_aligned = is_on_boundary(array.data, begin, bytes_of(array.element));
  job.exponents = array.exponents;
  if (has_element(array.element)) {
    job.any = element_of(array.element);
    job.largest = largest_of(array.element);
  }
  return job;
}

Kept kept(const StateArray &array) {
  if (array.data == nullptr) return Kept::kNone;
  const bool is_seldom = array.element == LPT_FORMAT_F16 || array.element == LPT_FORMAT_E4M3;
  if (is_seldom || array.exponents != nullptr) return Kept::kAny;
  if (is_dynamic(array.element)) return Kept::kTree;
  return array.element == LPT_FORMAT_F32 || array.element == LPT_FORMAT_BF16 ? Kept::kNumbers : Kept::kBytes;
}

struct Launch {
  uint32_t blocks;
  void *stream;
};

template <Kept kFirst>
void launch_second(Kept second, const Launch &launch, const StepJob &job) {
  switch (second) {
    case Kept::kNone:
      LPT_LAUNCH((step<kFirst, Kept::kNone>), launch.blocks, kThreads, 0, launch.stream, job);
      break;
    case Kept::kNumbers:
      LPT_LAUNCH((step<kFirst, Kept::kNumbers>), launch.blocks, kThreads, 0, launch.stream, job);
      break;
    case Kept::kBytes:
      LPT_LAUNCH((step<kFirst, Kept::kBytes>), launch.blocks, kThreads, 0, launch.stream, job);
      break;
    default:
      LPT_LAUNCH((step<kFirst, Kept::kTree>), launch.blocks, kThreads, 0, launch.stream, job);
      break;
  }
}

// Every method has a first moment.
void launch_first(Kept first, Kept second, const Launch &launch, const StepJob &job) {
  if (first == Kept::kAny || second == Kept::kAny || job.compensation.data != nullptr) {
    LPT_LAUNCH(step_any, launch.blocks, kThreads, 0, launch.stream, job);
    return;
  }
  if (first == Kept::kNumbers) return launch_second<Kept::kNumbers>(second, launch, job);
  if (first == Kept::kBytes) return launch_second<Kept::kBytes>(second, launch, job);
  launch_second<Kept::kTree>(second, launch, job);
}

}  // namespace

void step_cuda(const StepRequest &request, void *stream) {
  if (request.count == 0) return;
  StepJob job = {};
  job.method = request.method;
  job.constants = request.constants;
  job.gradient = request.gradient;
  job.is_gradient_bf16 = request.gradient_format == LPT_FORMAT_BF16;
  job.is_gradient_aligned = is_on_boundary(request.gradient, request.begin, bytes_of(request.gradient_format));
  job.begin = request.begin;
  job.count = request.count;
  job.first = state_job(request.first, request.begin);
  job.second = state_job(request.second, request.begin);
  job.parameter = state_job(request.parameter, request.begin);
  job.compensation = state_job(request.compensation, request.begin);
  job.is_measure = request.is_measure;
  job.amax = request.amax;
  job.stored = request.stored;
  job.next = request.next;
  job.gradients = request.gradients;
  job.delayed = request.delayed;
  const int64_t block = int64_t{kThreads} * kEight;
  const Launch launch = {static_cast<uint32_t>((request.count + block - 1) / block), stream};
  launch_first(kept(request.first), kept(request.second), launch, job);
}

}  // namespace lpt
