// Casts with one scale per 16 × 16 elements. A thread processes 16 elements of a row, and 16 lanes of a warp process a square.
// They hold it in registers between scale and codes.
#include "kernels/quantize/cuda/cuda_candidates.hpp"
#include "kernels/quantize/cuda/cuda_kernels.hpp"

namespace lpt {
namespace {

constexpr uint32_t kSquareLanes = 16;               // lanes per square, one per row
constexpr int64_t kMostSquares = int64_t{1} << 26;  // per launch, rounded up to whole rows of squares

struct SquareIndex {
  int64_t square_row, square_column;
  int64_t row, column;
  int32_t count;  // elements of the thread; 0: past the end of the matrix
};

__device__ __forceinline__ SquareIndex square_place(const CastJob &job, uint32_t squares_of_row) {
  const uint32_t index = (blockIdx.x * kBlockThreads + threadIdx.x) / kSquareLanes;
  SquareIndex place = {};
  place.square_row = job.first_line + index / squares_of_row;
  place.square_column = index % squares_of_row;
  place.row = place.square_row * kSquareLanes + threadIdx.x % kSquareLanes;
  place.column = place.square_column * kFragment;
  place.count = place.row < job.rows ? fragment_count(job.columns, place.column) : 0;
  return place;
}

// Returns the sum over a square, to each of its lanes: each row in the order of striped_sum(), then rows in ascending order.
__device__ __forceinline__ float sum_of_square(FloatFragment fragment) {
  const uint32_t first = threadIdx.x % 32 / kSquareLanes * kSquareLanes;
  fold<kFragment / 2>(fragment.number);
  float sum = 0.0f;
  for (uint32_t lane = 0; lane < kSquareLanes; ++lane) sum += __shfl_sync(kAllLanes, fragment.number[0], first + lane);
  return sum;
}

template <lpt_format kFormat, lpt_format kScale>
__device__ __forceinline__ BlockGridScale search_square(const CastJob &job, const FloatFragment &fragment,
                                                        uint32_t amax) {
  ScaleSpec spec = job.spec;
  spec.kind = kScale;
  spec.tensor_inverse *= 1.0f / tensor_scale_of(job);
  const auto sum = [](const FloatFragment &errors) { return sum_of_square(errors); };
  const uint32_t code = best_candidate<kFormat, kScale>(job, spec, finite_numbers(fragment), bits_float(amax), sum);
  return {code, inverse_scale(block_scale_value(kScale, code) * tensor_scale_of(job))};
}

// Loads a scale that the caller supplies.
template <lpt_format kScale>
__device__ __forceinline__ BlockGridScale given_scale(const CastJob &job, const SquareIndex &place) {
  BlockGridScale scale = {};
  if (place.count > 0) scale.code = load_scale<kScale>(job, place.square_row, place.square_column);
  scale.inverse = inverse_scale(block_scale_value(kScale, scale.code) * tensor_scale_of(job));
  return scale;
}

template <lpt_format kFormat, lpt_format kScale>
__device__ __forceinline__ BlockGridScale scale_of_square(const CastJob &job, const SquareIndex &place,
                                                          const FloatFragment &fragment, uint32_t amax) {
  if (job.scales == BlockScales::kGiven) return given_scale<kScale>(job, place);
  if (job.scales == BlockScales::kSearched) return search_square<kFormat, kScale>(job, fragment, amax);
  return compute_scale<kScale>(job, amax);
}

template <lpt_format kFormat, lpt_format kScale, Dtype kSource, bool kIsDrawn>
__global__ void __launch_bounds__(kBlockThreads) quantize_squares(CastJob job, uint32_t squares_of_row) {
  constexpr Element kTarget = small_element(kFormat);
  const SquareIndex place = square_place(job, squares_of_row);
  const bool is_full = place.count == kFragment;
  FloatFragment fragment = {};
  if (place.count > 0) {
    fragment = load_fragment<kSource>(job.source, place.row * job.source_stride + place.column, place.count,
                                      is_full && job.loads_whole);
  }
  const FragmentStats facts = stats_of(fragment);
  report_stats(job.amax, job.has_nan, facts);
  const FragmentStats all = facts_of_lanes(facts, kSquareLanes);
  const BlockGridScale scale = scale_of_square<kFormat, kScale>(job, place, fragment, all.amax);
  if (place.count == 0) return;
  if (threadIdx.x % kSquareLanes == 0 && job.scales != BlockScales::kGiven) {
    store_scale<kScale>(job, place.square_row, place.square_column,
                        written_scale<kTarget, kScale>(scale.code, all.has_nan));
  }
  const CodeFragment<kTarget.bits> codes = cast_fragment<kTarget, kIsDrawn>(
      job, fragment, scale.inverse, random_index(job, place.row, place.column), place.count);
  store_codes(job.target, place.row * job.target_stride + place.column * kTarget.bits / 8, place.count,
              is_full && job.stores_whole, codes);
}

}  // namespace

void quantize_squares_cuda(const QuantizeRequest &request, void *stream) {
  const int64_t across = (request.source.columns + kFragment - 1) / kFragment;
  const int64_t down = (request.source.rows + kSquareLanes - 1) / kSquareLanes;
  if (across == 0) return;
  const int64_t most = (kMostSquares + across - 1) / across;
  for_cast(request, [&]<Dtype kSource, bool kIsDrawn>(CastTag<kSource, kIsDrawn>) {
    for_lines(cast_job(request), down, most, [&](const CastJob &job, uint32_t rows) {
      const int64_t threads = rows * across * kSquareLanes;
      LPT_LAUNCH((quantize_squares<LPT_FORMAT_E2M1FN, LPT_FORMAT_E4M3FN, kSource, kIsDrawn>), blocks_for(threads),
                 kBlockThreads, 0, stream, job, static_cast<uint32_t>(across));
    });
  });
}

}  // namespace lpt
