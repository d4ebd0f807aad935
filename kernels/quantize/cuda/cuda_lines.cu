// Casts with one scale per row: a thread block processes a row and reads it twice, for its amax and for its codes.
#include "kernels/quantize/cuda/cuda_blocks.hpp"
#include "kernels/quantize/cuda/cuda_kernels.hpp"

namespace lpt {
namespace {

constexpr uint32_t kMostThreads = 256;

template <Dtype kSource>
__device__ __forceinline__ FloatFragment fragment_of_line(const CastJob &job, int64_t row, int64_t column,
                                                          int32_t count) {
  return load_fragment<kSource>(job.source, row * job.source_stride + column, count,
                                count == kFragment && job.loads_whole);
}

template <Dtype kSource>
__device__ __forceinline__ FragmentStats facts_of_line(const CastJob &job, int64_t row) {
  FragmentStats facts;
  for (int64_t column = int64_t{threadIdx.x} * kFragment; column < job.columns;
       column += int64_t{blockDim.x} * kFragment) {
    const FragmentStats own =
        stats_of(fragment_of_line<kSource>(job, row, column, fragment_count(job.columns, column)));
    facts.amax = larger(facts.amax, own.amax);
    facts.has_nan |= own.has_nan;
  }
  return facts_of_block(facts);
}

// Returns the factor of the elements of a row. The first thread stores the scale, unless the caller supplies it.
template <Element kTarget>
__device__ __forceinline__ float compute_row_scale(const CastJob &job, int64_t row, const FragmentStats &facts) {
  if (job.scales == BlockScales::kGiven) {
    return inverse_scale(bits_float(load_scale<LPT_FORMAT_F32>(job, row, 0)) * tensor_scale_of(job));
  }
  const BlockGridScale scale = compute_scale<LPT_FORMAT_F32>(job, facts.amax);
  if (threadIdx.x == 0) {
    store_scale<LPT_FORMAT_F32>(job, row, 0, written_scale<kTarget, LPT_FORMAT_F32>(scale.code, facts.has_nan));
  }
  return scale.inverse;
}

template <lpt_format kFormat, Dtype kSource, bool kIsDrawn>
__global__ void __launch_bounds__(kMostThreads) quantize_lines(CastJob job) {
  constexpr Element kTarget = small_element(kFormat);
  const int64_t row = job.first_line + blockIdx.x;
  const FragmentStats facts = facts_of_line<kSource>(job, row);
  const float inverse = compute_row_scale<kTarget>(job, row, facts);
  if (threadIdx.x == 0) {
    if (job.amax != nullptr) atomicMax(reinterpret_cast<uint32_t *>(job.amax), facts.amax);
    if (job.has_nan != nullptr && facts.has_nan) *job.has_nan = true;
  }
  for (int64_t column = int64_t{threadIdx.x} * kFragment; column < job.columns;
       column += int64_t{blockDim.x} * kFragment) {
    const int32_t count = fragment_count(job.columns, column);
    const CodeFragment<kTarget.bits> codes = cast_fragment<kTarget, kIsDrawn>(
        job, fragment_of_line<kSource>(job, row, column, count), inverse, random_index(job, row, column), count);
    store_codes(job.target, row * job.target_stride + column, count, count == kFragment && job.stores_whole, codes);
  }
}

// Returns the threads per block: the smallest power of two from 32 to 256 that gives each fragment of a row a thread, or 256.
uint32_t threads_of(int64_t columns) {
  uint32_t threads = 32;
  while (threads < kMostThreads && int64_t{threads} * kFragment < columns) threads *= 2;
  return threads;
}

constexpr int64_t kMostRows = int64_t{1} << 30;  // per launch

template <lpt_format kTarget>
void launch(const QuantizeRequest &request, void *stream) {
  if (request.source.columns == 0) return;
  const uint32_t threads = threads_of(request.source.columns);
  for_cast(request, [&]<Dtype kSource, bool kIsDrawn>(CastTag<kSource, kIsDrawn>) {
    for_lines(cast_job(request), request.source.rows, kMostRows, [&](const CastJob &job, uint32_t rows) {
      LPT_LAUNCH((quantize_lines<kTarget, kSource, kIsDrawn>), rows, threads, 0, stream, job);
    });
  });
}

}  // namespace

void quantize_lines_cuda(const QuantizeRequest &request, void *stream) {
  switch (request.target.format.element) {
    case LPT_FORMAT_E4M3FN:
      return launch<LPT_FORMAT_E4M3FN>(request, stream);
    case LPT_FORMAT_E5M2:
      return launch<LPT_FORMAT_E5M2>(request, stream);
    default:
      return launch<LPT_FORMAT_INT8>(request, stream);
  }
}

}  // namespace lpt
