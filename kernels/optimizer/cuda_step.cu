// Optimizer step: a thread processes eight adjacent elements of every array, in one pass. The order of operations is that of
// StepRequest. nvcc contracts no operations (-fmad=false).
#include "kernels/optimizer/cuda_adam.hpp"
#include "kernels/optimizer/cuda_found.hpp"
#include "kernels/optimizer/cuda_kernels.hpp"
#include "kernels/optimizer/cuda_state.hpp"
#include "kernels/optimizer/cuda_state_any.hpp"
#include "kernels/optimizer/rule.hpp"

namespace lpt {
namespace {

struct StepJob {
  lpt_optimizer_method method;
  StepConstants constants;
  const void *gradient;
  bool is_gradient_bf16;
  bool is_aligned;  // groups of eight elements of all arrays are aligned for vector loads and stores
  int64_t begin, count;
  StateJob first, second, parameter, compensation;
  bool is_measure;
  float *amax;
  const StepScales *stored, *next;
  const GradientStats *gradients;
  uint32_t delayed;
};

__device__ __forceinline__ float gradient_scale_of(const StepJob &job) {
  return job.gradients != nullptr ? job.gradients->gradient_scale : job.constants.gradient_scale;
}

// Returns gradient · gradient_scale, plus the coupled decay.
__device__ __forceinline__ float scaled_gradient(const StepJob &job, float gradient, float p) {
  const float g = gradient * gradient_scale_of(job);
  return job.constants.coupled_decay != 0.0f ? g + job.constants.coupled_decay * p : g;
}

__device__ __forceinline__ void update_adam(const StepJob &job, FloatVec8 gradient, FloatVec8 &first, FloatVec8 &second,
                                            FloatVec8 &parameter) {
  const StepConstants &c = job.constants;
  const float gradient_scale = gradient_scale_of(job);
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) gradient.number[i] *= gradient_scale;
  if (c.coupled_decay != 0.0f) {
#pragma unroll
    for (int32_t i = 0; i < kEight; ++i) {
      gradient.number[i] = gradient.number[i] + c.coupled_decay * parameter.number[i];
    }
  }
  FloatVec8 squares, directions;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    first.number[i] = adam_first(c, first.number[i], gradient.number[i]);
    second.number[i] = adam_second(c, second.number[i], gradient.number[i]);
    squares.number[i] = second.number[i] * c.root_correction;
  }
  adam_directions(first, squares, c.epsilon, directions);
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    const float p = parameter.number[i];
    parameter.number[i] = (p - c.decay * p) - c.step_size * directions.number[i];
  }
}

// Updates element by element, by any method.
__device__ __forceinline__ void update_by(const StepJob &job, lpt_optimizer_method method, const FloatVec8 &gradient,
                                          FloatVec8 &first, FloatVec8 &second, FloatVec8 &parameter) {
  const StepConstants &c = job.constants;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    const float p = parameter.number[i];
    const float g = scaled_gradient(job, gradient.number[i], p);
    const float u = direction(method, c, g, first.number[i], second.number[i]);
    parameter.number[i] = (p - c.decay * p) - c.step_size * u;
  }
}

__device__ __forceinline__ void update(const StepJob &job, const FloatVec8 &gradient, FloatVec8 &first,
                                       FloatVec8 &second, FloatVec8 &parameter) {
  if (job.method == LPT_OPTIMIZER_METHOD_SGD) {
    update_by(job, LPT_OPTIMIZER_METHOD_SGD, gradient, first, second, parameter);
  } else if (job.method == LPT_OPTIMIZER_METHOD_LION) {
    update_by(job, LPT_OPTIMIZER_METHOD_LION, gradient, first, second, parameter);
  } else {
    update_adam(job, gradient, first, second, parameter);
  }
}

// Updates with compensation: the rounding error of the bf16 parameter is kept for the next step.
__device__ __forceinline__ void update_compensated(const StepJob &job, const FloatVec8 &gradient, FloatVec8 &first,
                                                   FloatVec8 &second, FloatVec8 &parameter, FloatVec8 &compensation,
                                                   const RandomFragment &random) {
  constexpr Element kElement = kElementBf16;
  const StepConstants &c = job.constants;
  const lpt_rounding rounding = job.parameter.is_drawn ? LPT_ROUNDING_STOCHASTIC : LPT_ROUNDING_NEAREST_EVEN;
  const int32_t bits = job.parameter.random.bits;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    const float p = parameter.number[i];
    const float g = scaled_gradient(job, gradient.number[i], p);
    const float u = direction(job.method, c, g, first.number[i], second.number[i]);
    const float d = compensation.number[i] - (c.decay * p + c.step_size * u);
    const uint32_t code = encode(kElement, p + d, rounding, LPT_OVERFLOW_SATURATE, random_of(random, bits, i), bits);
    parameter.number[i] = p + d;
    compensation.number[i] = d - (decode(kElement, code) - p);
  }
}

// Sets elements past the end to 0, so that they do not affect an amax or a scale.
__device__ __forceinline__ void clear_beyond(FloatVec8 &eight, int32_t count) {
  if (count == kEight) return;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if (i >= count) eight.number[i] = 0.0f;
  }
}

template <StateStorage kKept>
__device__ __forceinline__ bool has_amax(const StateJob &job) {
  const bool is_number = job.element == LPT_FORMAT_F32 || job.element == LPT_FORMAT_BF16;
  return job.lanes == 0 && (kKept == StateStorage::kBytes || (kKept == StateStorage::kAny && !is_number));
}

// Raises the amax of an array with one scale, by one atomic per warp. f32 and bf16 have no scale.
template <StateStorage kKept>
__device__ __forceinline__ void raise(const StateJob &job, const FloatVec8 &eight, float *amax) {
  if (!has_amax<kKept>(job)) return;
  const float most = largest_of_lanes(finite_amax(eight), 32);
  if (threadIdx.x % 32 == 0) atomicMax(reinterpret_cast<uint32_t *>(amax), float_bits(most));
}

__device__ __forceinline__ void copy_tree(DynamicTree &to, const DynamicTree &from) {
  to.level[threadIdx.x] = from.level[threadIdx.x];
  if (threadIdx.x < 255) to.threshold[threadIdx.x] = from.threshold[threadIdx.x];
  if (threadIdx.x == 0) to.zero = from.zero;
}

// Returns whether every delayed moment has a stored amax, so that the measure pass is unnecessary.
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

__device__ __forceinline__ RawVec8 load_gradient(const StepJob &job, int64_t index, int32_t count, bool is_whole) {
  if (count == 0) return {};
  return load_raw_numbers(job.is_gradient_bf16, job.gradient, index, count, is_whole);
}

struct RawStep {
  RawState first, second, parameter;
  RawVec8 gradient;
};

template <StateStorage kFirst, StateStorage kSecond>
__device__ __forceinline__ RawStep load_step(const StepJob &job, int64_t index, int32_t count, bool is_whole) {
  return {load_raw_state<kFirst>(job.first, index, count, is_whole, stored_scale(job, job.first, 0)),
          load_raw_state<kSecond>(job.second, index, count, is_whole, stored_scale(job, job.second, 1)),
          load_raw_state<StateStorage::kNumbers>(job.parameter, index, count, is_whole, job.parameter.scale),
          load_gradient(job, index, count, is_whole)};
}

// The storage of the moments is a template parameter, because one kernel for all storage is several times as long.
template <StateStorage kFirst, StateStorage kSecond>
__global__ void __launch_bounds__(kBlockThreads, 4) step(StepJob job) {
  __shared__ DynamicTree of_signed, of_unsigned;
  if (job.is_measure && is_known(job)) return;
  if constexpr (kFirst == StateStorage::kTree || kSecond == StateStorage::kTree) {
    copy_tree(of_signed, kDeviceTrees[0]);
    copy_tree(of_unsigned, kDeviceTrees[1]);
    __syncthreads();
  }
  const Trees trees = {&of_signed, &of_unsigned};
  const int64_t at = (int64_t{blockIdx.x} * kBlockThreads + threadIdx.x) * kEight;
  const int32_t count = eight_count(job.count, at);
  const int64_t index = job.begin + at;
  const RawStep raw = count == kEight && job.is_aligned ? load_step<kFirst, kSecond>(job, index, kEight, true)
                                                        : load_step<kFirst, kSecond>(job, index, count, false);
  const FloatVec8 gradient = raw_numbers(job.is_gradient_bf16, raw.gradient);
  FloatVec8 first = state_numbers<kFirst>(job.first, trees, raw.first);
  FloatVec8 second = state_numbers<kSecond>(job.second, trees, raw.second);
  FloatVec8 parameter = state_numbers<StateStorage::kNumbers>(job.parameter, trees, raw.parameter);
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
  store_state<StateStorage::kNumbers>(job.parameter, trees, index, count, parameter, job.parameter.inverse);
}

// The step of moments in any storage, with or without compensation.
__global__ void __launch_bounds__(kBlockThreads) step_any(StepJob job) {
  __shared__ DynamicTree of_signed, of_unsigned;
  if (job.is_measure && is_known(job)) return;
  copy_tree(of_signed, kDeviceTrees[0]);
  copy_tree(of_unsigned, kDeviceTrees[1]);
  __syncthreads();
  const Trees trees = {&of_signed, &of_unsigned};
  const int64_t at = (int64_t{blockIdx.x} * kBlockThreads + threadIdx.x) * kEight;
  const int32_t count = eight_count(job.count, at);
  const int64_t index = job.begin + at;
  const bool is_whole = count == kEight && job.is_aligned;
  const FloatVec8 gradient = raw_numbers(job.is_gradient_bf16, load_gradient(job, index, count, is_whole));
  FloatVec8 first = load_any_state(job.first, trees, index, count, stored_scale(job, job.first, 0));
  FloatVec8 second = load_any_state(job.second, trees, index, count, stored_scale(job, job.second, 1));
  FloatVec8 parameter = state_numbers<StateStorage::kNumbers>(
      job.parameter, trees,
      load_raw_state<StateStorage::kNumbers>(job.parameter, index, count, is_whole, job.parameter.scale));
  FloatVec8 compensation = load_any_state(job.compensation, trees, index, count, 1.0f);
  if (job.compensation.data == nullptr) {
    update_by(job, job.method, gradient, first, second, parameter);
  } else {
    RandomFragment random = {};
    if (job.parameter.is_drawn) random = draw_eight(job.parameter.random, index);
    update_compensated(job, gradient, first, second, parameter, compensation, random);
  }
  clear_beyond(first, count);
  clear_beyond(second, count);
  if (job.amax != nullptr) {
    raise<StateStorage::kAny>(job.first, first, job.amax);
    raise<StateStorage::kAny>(job.second, second, job.amax + 1);
  }
  if (job.is_measure) return;
  store_any_state(job.first, trees, index, count, first, requested_inverse(job, job.first, 0));
  store_any_state(job.second, trees, index, count, second, requested_inverse(job, job.second, 1));
  store_state<StateStorage::kNumbers>(job.parameter, trees, index, count, parameter, job.parameter.inverse);
  store_any_state(job.compensation, trees, index, count, compensation, 1.0f);
}

// Returns whether groups of eight elements, from element `begin` on, are aligned for vector loads. `bytes` is the size of an
// element. The alignment is 8 bytes for elements of one byte, otherwise 16.
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
  while (array.block >> job.block_shift > 1) ++job.block_shift;
  job.is_drawn = array.rounding == LPT_ROUNDING_STOCHASTIC;
  job.underflow = array.underflow;
  job.random = array.random;
  job.is_aligned = is_on_boundary(array.data, begin, bytes_of(array.element));
  job.exponents = array.exponents;
  job.largest = 1.0f;
  if (has_element(array.element)) {
    job.any = element_of(array.element);
    job.largest = largest_of(array.element);
  }
  return job;
}

StateStorage kept(const StateArray &array) {
  if (array.data == nullptr) return StateStorage::kNone;
  const bool is_seldom = array.element == LPT_FORMAT_F16 || array.element == LPT_FORMAT_E4M3;
  if (is_seldom || array.exponents != nullptr) return StateStorage::kAny;
  if (is_dynamic(array.element)) return StateStorage::kTree;
  return array.element == LPT_FORMAT_F32 || array.element == LPT_FORMAT_BF16 ? StateStorage::kNumbers
                                                                             : StateStorage::kBytes;
}

struct Launch {
  uint32_t blocks;
  void *stream;
};

template <StateStorage kFirst>
void launch_second(StateStorage second, const Launch &launch, const StepJob &job) {
  switch (second) {
    case StateStorage::kNone:
      LPT_LAUNCH((step<kFirst, StateStorage::kNone>), launch.blocks, kBlockThreads, 0, launch.stream, job);
      break;
    case StateStorage::kNumbers:
      LPT_LAUNCH((step<kFirst, StateStorage::kNumbers>), launch.blocks, kBlockThreads, 0, launch.stream, job);
      break;
    case StateStorage::kBytes:
      LPT_LAUNCH((step<kFirst, StateStorage::kBytes>), launch.blocks, kBlockThreads, 0, launch.stream, job);
      break;
    default:
      LPT_LAUNCH((step<kFirst, StateStorage::kTree>), launch.blocks, kBlockThreads, 0, launch.stream, job);
      break;
  }
}

// Every method has a first moment, so kFirst is never kNone.
void launch_first(StateStorage first, StateStorage second, const Launch &launch, const StepJob &job) {
  if (first == StateStorage::kAny || second == StateStorage::kAny || job.compensation.data != nullptr) {
    LPT_LAUNCH(step_any, launch.blocks, kBlockThreads, 0, launch.stream, job);
    return;
  }
  if (first == StateStorage::kNumbers) return launch_second<StateStorage::kNumbers>(second, launch, job);
  if (first == StateStorage::kBytes) return launch_second<StateStorage::kBytes>(second, launch, job);
  launch_second<StateStorage::kTree>(second, launch, job);
}

}  // namespace

void step_cuda(const StepRequest &request, void *stream) {
  if (request.count == 0) return;
  StepJob job = {};
  job.method = request.method;
  job.constants = request.constants;
  job.gradient = request.gradient;
  job.is_gradient_bf16 = request.gradient_format == LPT_FORMAT_BF16;
  job.begin = request.begin;
  job.count = request.count;
  job.first = state_job(request.first, request.begin);
  job.second = state_job(request.second, request.begin);
  job.parameter = state_job(request.parameter, request.begin);
  job.compensation = state_job(request.compensation, request.begin);
  job.is_aligned = is_on_boundary(request.gradient, request.begin, bytes_of(request.gradient_format)) &&
                   job.first.is_aligned && job.second.is_aligned && job.parameter.is_aligned;
  job.is_measure = request.is_measure;
  job.amax = request.amax;
  job.stored = request.stored;
  job.next = request.next;
  job.gradients = request.gradients;
  job.delayed = request.delayed;
  const int64_t block = int64_t{kBlockThreads} * kEight;
  const Launch launch = {static_cast<uint32_t>((request.count + block - 1) / block), stream};
  launch_first(kept(request.first), kept(request.second), launch, job);
}

}  // namespace lpt
