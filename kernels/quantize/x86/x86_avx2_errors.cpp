// Squared errors of casts with several scales, with AVX2.
//
// Elements are read from memory once: a span of a row remains in the L1 cache for all scales. Signs matter only for a list.
// Elements that are not finite become zeros, whose error is zero.
#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/x86/avx2_candidates.hpp"
#include "kernels/quantize/x86/avx2_random.hpp"
#include "kernels/quantize/x86/avx2_scales.hpp"
#include "kernels/quantize/x86/avx2_sums.hpp"

namespace lpt {
namespace {

constexpr int64_t kErrorSpan = 512;

// The exponents of bf16 leave no range for the sum of RoundedFloatLanes.
struct RoundedBf16Lanes {
  __m256 limit = _mm256_set1_ps(decode(kElementBf16, kElementBf16.max_code));

  [[gnu::always_inline]] static inline __m256 taken(__m256 value) { return RoundedFloatLanes::taken(value); }
  [[gnu::always_inline]] inline __m256 rounded(__m256 scaled_value) const {
    return _mm256_castsi256_ps(_mm256_slli_epi32(Bf16Target::rounded(_mm256_min_ps(scaled_value, limit)), 16));
  }
};

struct ErrorSpan {
  alignas(32) float numbers[kErrorSpan];
  int64_t count;  // a multiple of 16; zeros fill the last vectors
  float lowest, highest;
};

template <typename Lanes>
void fill_span(const float *from, int64_t count, ErrorSpan &span) {
  __m256 lowest = _mm256_setzero_ps(), highest = lowest;
  span.count = (count + 15) / 16 * 16;
  for (int64_t at = 0; at < span.count; at += 8) {
    const __m256 value = at + 8 <= count ? _mm256_loadu_ps(from + at) : load_some(from + at, count - at);
    const __m256i is_finite = _mm256_cmpgt_epi32(all_lanes(kFloatInfinityBits), magnitude_bits(value));
    const __m256 finite = _mm256_and_ps(value, _mm256_castsi256_ps(is_finite));
    lowest = _mm256_min_ps(lowest, finite);
    highest = _mm256_max_ps(highest, finite);
    _mm256_store_ps(span.numbers + at, Lanes::taken(finite));
  }
  span.lowest = -Avx2Sums::largest_of(_mm256_sub_ps(_mm256_setzero_ps(), lowest));
  span.highest = Avx2Sums::largest_of(highest);
}

// Adds to sixteen lanes of sums, in the order of SumLanes.
template <typename Lanes>
void add_squared_errors(const Lanes &shared, const ErrorSpan &span, float scale, float inverse,
                        double (&lane_sums)[16]) {
  const Lanes lanes = shared;  // a copy in registers
  const __m256 scales = _mm256_set1_ps(scale), inverses = _mm256_set1_ps(inverse);
  __m256d sums[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) sums[i] = _mm256_load_pd(lane_sums + 4 * i);
  for (int64_t at = 0; at < span.count; at += 16) {
#pragma GCC unroll 2
    for (int part = 0; part < 2; ++part) {
      const __m256 value = _mm256_load_ps(span.numbers + at + 8 * part);
      const __m256 rounded = lanes.rounded(_mm256_mul_ps(value, inverses));
      Avx2Sums::add_squares(sums + 2 * part, _mm256_sub_ps(value, _mm256_mul_ps(rounded, scales)));
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) _mm256_store_pd(lane_sums + 4 * i, sums[i]);
}

// Returns true if an element becomes an infinity or a NaN. Scaling is monotonic, so that testing the extremes suffices.
inline bool leaves_numbers(const CastErrorsRequest &request, const Element &element, const ErrorSpan &span,
                           float inverse) {
  const auto is_finite = [&](float value) {
    const uint32_t code = encode(element, scaled(value, inverse), LPT_ROUNDING_NEAREST_EVEN, request.overflow, 0, 16);
    return (float_bits(decode(element, code)) & 0x7FFFFFFFu) < kFloatInfinityBits;
  };
  return !is_finite(span.lowest) || !is_finite(span.highest);
}

template <typename Lanes>
void add_cast_errors(const Lanes &lanes, const CastErrorsRequest &request, const Element &element) {
  // Errors are at most twice the magnitudes of their elements, so that their squares are finite below this limit.
  constexpr float kLargestSquared = 0x1p62f;
  const bool may_leave = request.overflow == LPT_OVERFLOW_INFINITE || (!element.is_signed && element.levels == nullptr);
  const MatrixView &source = request.source;
  ErrorSpan span;
  alignas(32) float buffer[kErrorSpan];
  alignas(32) double sums[kMaxCastScales][16] = {};
  for (int32_t i = 0; i < request.scale_count; ++i) request.errors[i] = 0.0;
  for (int64_t row = 0; row < source.rows; ++row) {
    for (int64_t column = 0; column < source.columns; column += kErrorSpan) {
      const int64_t count = least(kErrorSpan, source.columns - column);
      fill_span<Lanes>(numbers_at(source, row, column, count, buffer), count, span);
      if (span.highest > kLargestSquared || span.lowest < -kLargestSquared) return cast_errors_any_ref(request);
      for (int32_t i = 0; i < request.scale_count; ++i) {
        const float inverse = inverse_scale(request.scales[i]);
        if (may_leave && leaves_numbers(request, element, span, inverse)) {
          request.errors[i] = __builtin_inf();
        } else {
          add_squared_errors(lanes, span, request.scales[i], inverse, sums[i]);
        }
      }
    }
    for (int32_t i = 0; i < request.scale_count; ++i) request.errors[i] += take_sums<Avx2Sums::kLanes>(sums[i]);
  }
}

}  // namespace

void cast_errors_x86_avx2(const CastErrorsRequest &request) {
  const Element element = element_of(request.element);
  const auto run = [&](const auto &lanes) { add_cast_errors(lanes, request, element); };
  if (request.element == LPT_FORMAT_BF16) return run(RoundedBf16Lanes());
  with_rounded_lanes(element, run);
}

}  // namespace lpt
