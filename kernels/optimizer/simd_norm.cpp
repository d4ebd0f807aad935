// SIMD kernel of gradient norms: sums of squares. The sixteen lanes of the reference kernel are two Vec8.
#include <cstring>

#include "kernels/common/prefetcher.hpp"
#include "kernels/common/vec8.hpp"
#include "kernels/optimizer/optimizer.hpp"

namespace lpt {
namespace {

struct NormLanes {
  Vec8 sum[2];
  int64_t nonfinite = 0;
};

template <bool kIsBf16>
[[gnu::always_inline]] inline void add_sixteen(NormLanes &lanes, const uint8_t *from) {
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const Vec8 wide = kIsBf16 ? Vec8::of_bf16(from + 16 * i) : Vec8::of_f32(from + 32 * i);
    const Vec8::Mask finite = wide.finite();
    if (Vec8::bits(finite) != 0xFF) [[unlikely]]
      lanes.nonfinite += 8 - __builtin_popcount(Vec8::bits(finite));
    const Vec8 kept = wide.only(finite);
    lanes.sum[i] = lanes.sum[i] + kept * kept;
  }
}

// Adds the squares of `count` elements. The last vector is padded with zeros, which add nothing.
template <bool kIsBf16>
NormLanes norm_lanes(const uint8_t *from, int64_t count, const Prefetcher &prefetcher) {
  constexpr int64_t kBytes = kIsBf16 ? 2 : 4;
  NormLanes lanes;
  int64_t at = 0;
  for (; at + 64 <= count; at += 64) {
    prefetcher.prefetch<kBytes>(from + at * kBytes);
#pragma GCC unroll 4
    for (int64_t i = at; i < at + 64; i += 16) add_sixteen<kIsBf16>(lanes, from + i * kBytes);
  }
  for (; at < count; at += 16) {
    uint8_t last[16 * kBytes] = {};
    memcpy(last, from + at * kBytes, static_cast<size_t>((count - at < 16 ? count - at : 16) * kBytes));
    add_sixteen<kIsBf16>(lanes, last);
  }
  return lanes;
}

template <bool kIsBf16>
void measure_norm(const NormRequest &request) {
  constexpr int64_t kBytes = kIsBf16 ? 2 : 4;
  const auto *gradient = static_cast<const uint8_t *>(request.gradient);
  const Prefetcher prefetcher = prefetcher_over(gradient + request.begin * kBytes, request.count * kBytes);
  const int64_t end = request.begin + request.count;
  for (int64_t begin = request.begin; begin < end; begin += kNormBlock) {
    const int64_t count = end - begin < kNormBlock ? end - begin : kNormBlock;
    const NormLanes lanes = norm_lanes<kIsBf16>(gradient + begin * kBytes, count, prefetcher);
    request.sums[begin / kNormBlock] = sum_of_eight(lanes.sum[0] + lanes.sum[1]);
    *request.nonfinite_count += lanes.nonfinite;
  }
}

}  // namespace

void LPT_KERNEL(norm)(const NormRequest &request) {
  if (request.gradient_format == LPT_FORMAT_F32) return measure_norm<false>(request);
  measure_norm<true>(request);
}

}  // namespace lpt
