// Tensor scales of MEAN, SAWB and MSE. Sixteen threads add the elements of a row in the order of striped_sum(). One thread
// computes the values that depend on the sums and on trials.
#include "kernels/quantize/cuda/cuda_any.hpp"
#include "kernels/quantize/cuda/cuda_fit.hpp"

namespace lpt {
namespace {

struct MagnitudeJob {
  AnyNumbers source;
  int64_t rows, columns;
  float *sums, *squares;  // squares NULL: not requested
};

__device__ __forceinline__ float sum_of_lanes(float own) {
  for (uint32_t width = kStripes / 2; width > 0; width /= 2) own += __shfl_down_sync(kAllLanes, own, width, kStripes);
  return own;
}

__global__ void __launch_bounds__(kBlockThreads) magnitude_sum(MagnitudeJob job) {
  const int64_t row = (int64_t{blockIdx.x} * kBlockThreads + threadIdx.x) / kStripes;
  float sum = 0.0f, squares = 0.0f;
  for (int64_t column = threadIdx.x % kStripes; column < job.columns && row < job.rows; column += kStripes) {
    const float magnitude = bits_float(float_bits(number_at(job.source, row, column)) & 0x7FFFFFFFu);
    const float finite = magnitude <= kLargestFloat ? magnitude : 0.0f;
    sum += finite;
    squares += finite * finite;
  }
  sum = sum_of_lanes(sum);
  squares = sum_of_lanes(squares);
  if (row >= job.rows || threadIdx.x % kStripes != 0) return;
  job.sums[row] = sum;
  if (job.squares != nullptr) job.squares[row] = squares;
}

// Computes the scale of MEAN or SAWB by one thread, which adds rows in ascending order. SAWB is the fit of LUQ (arXiv
// 2112.10769). If the fit does not clip, *scale remains that of the amax.
__global__ void fitted_scale(FittedScaleRequest request) {
  if (!(*request.amax > 0.0f)) return;
  double sum = 0.0, squares = 0.0;
  for (int64_t row = 0; row < request.rows; ++row) {
    sum += static_cast<double>(request.sums[row]);
    if (request.squares != nullptr) squares += static_cast<double>(request.squares[row]);
  }
  const auto count = static_cast<double>(request.count);
  if (request.spec.rule == LPT_SCALE_RULE_MEAN) {
    *request.scale = clamp_scale(static_cast<float>(sum / count));
    return;
  }
  const double clip = 12.1 * __builtin_sqrt(squares / count) - 12.2 * (sum / count);
  if (!(clip > 0.0 && clip < static_cast<double>(*request.amax))) return;
  *request.scale = clamp_scale(static_cast<float>(clip / static_cast<double>(request.spec.largest)));
}

__global__ void trial_scale(TrialScaleRequest request) {
  request.search->sums = CastStatistics{};
  request.search->trial = bits_float(candidate_code(request.spec, *request.amax, request.candidate));
}

__global__ void keep_scale(KeepScaleRequest request) {
  ScaleSearch &search = *request.search;
  if (request.candidate > 0 && !(search.sums.squared_errors < search.least)) return;
  search.least = search.sums.squared_errors;
  *request.scale = search.trial;
}

const char *unsupported_sum(const MagnitudeSumRequest &request) {
  const lpt_format source = request.source.format.element;
  const bool is_number = source == LPT_FORMAT_F32 || source == LPT_FORMAT_BF16 || source == LPT_FORMAT_F16;
  return is_number ? nullptr : "takes f32, bf16 and f16 only";
}

constexpr KernelEntry<MagnitudeSumRequest> kSums[] = {{"magnitude_sum_cuda", 80, unsupported_sum, magnitude_sum_cuda}};
constexpr KernelEntry<FittedScaleRequest> kFitted[] = {{"fitted_scale_cuda", 80, nullptr, fitted_scale_cuda}};
constexpr KernelEntry<TrialScaleRequest> kTrial[] = {{"trial_scale_cuda", 80, nullptr, trial_scale_cuda}};
constexpr KernelEntry<KeepScaleRequest> kKeep[] = {{"keep_scale_cuda", 80, nullptr, keep_scale_cuda}};

}  // namespace

void magnitude_sum_cuda(const MagnitudeSumRequest &request, void *stream) {
  const MatrixView &source = request.source;
  if (source.rows == 0) return;
  const MagnitudeJob job = {any_numbers(source), source.rows, source.columns, request.sums, request.squares};
  const int64_t threads = source.rows * kStripes;
  LPT_LAUNCH(magnitude_sum, blocks_for(threads), kBlockThreads, 0, stream, job);
}

void fitted_scale_cuda(const FittedScaleRequest &request, void *stream) {
  LPT_LAUNCH(fitted_scale, 1, 1, 0, stream, request);
}

void trial_scale_cuda(const TrialScaleRequest &request, void *stream) {
  LPT_LAUNCH(trial_scale, 1, 1, 0, stream, request);
}

void keep_scale_cuda(const KeepScaleRequest &request, void *stream) {
  LPT_LAUNCH(keep_scale, 1, 1, 0, stream, request);
}

std::span<const KernelEntry<MagnitudeSumRequest>> magnitude_sum_device_kernels() { return kSums; }
std::span<const KernelEntry<FittedScaleRequest>> fitted_scale_device_kernels() { return kFitted; }
std::span<const KernelEntry<TrialScaleRequest>> trial_scale_device_kernels() { return kTrial; }
std::span<const KernelEntry<KeepScaleRequest>> keep_scale_device_kernels() { return kKeep; }

}  // namespace lpt
