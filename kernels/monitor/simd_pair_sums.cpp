// Sums over pairs, eight at a time: the lanes of the reference kernels.
#include <cstring>

#include "kernels/common/prefetcher.hpp"
#include "kernels/common/vec8.hpp"
#include "kernels/monitor/monitor.hpp"

namespace lpt {
namespace {

template <lpt_format kFormat>
[[gnu::always_inline]] inline Vec8 load_vec8(const uint8_t *from) {
  if constexpr (kFormat == LPT_FORMAT_F32) return Vec8::of_f32(from);
  if constexpr (kFormat == LPT_FORMAT_BF16) return Vec8::of_bf16(from);
  return Vec8::of_f16(from);
}

// In f64, squares and products of f32, bf16 and f16 elements are exact; squares of differences are not.
struct PairLanes {
  Vec8 first_squares, second_squares, dots, squared_differences;
  int64_t nonfinite = 0;

  [[gnu::always_inline]] void add(Vec8 a, Vec8 b) {
    const Vec8::Mask finite = Vec8::both(a.finite(), b.finite());
    if (Vec8::bits(finite) != 0xFF) [[unlikely]] {
      nonfinite += 8 - __builtin_popcount(Vec8::bits(finite));
      a = a.only(finite);
      b = b.only(finite);
    }
    const Vec8 difference = a - b;
    first_squares = first_squares + a * a;
    second_squares = second_squares + b * b;
    dots = dots + a * b;
    squared_differences = squared_differences + difference * difference;
  }
};

constexpr int64_t pair_bytes(lpt_format format) { return format == LPT_FORMAT_F32 ? 4 : 2; }

template <lpt_format kFirst, lpt_format kSecond>
void add_pairs(const PairSumsRequest &request) {
  constexpr int64_t kFirstBytes = pair_bytes(kFirst), kSecondBytes = pair_bytes(kSecond);
  const auto *first = static_cast<const uint8_t *>(request.first);
  const auto *second = static_cast<const uint8_t *>(request.second);
  constexpr Prefetcher kPrefetcher = {nullptr, 4096};  // in line: a request reads little memory
  PairLanes lanes;
  int64_t at = 0;
  for (; at + 64 <= request.count; at += 64) {
    kPrefetcher.prefetch<kFirstBytes>(first + at * kFirstBytes);
    kPrefetcher.prefetch<kSecondBytes>(second + at * kSecondBytes);
    for (int64_t i = at; i < at + 64; i += 8) {
      lanes.add(load_vec8<kFirst>(first + i * kFirstBytes), load_vec8<kSecond>(second + i * kSecondBytes));
    }
  }
  for (; at < request.count; at += 8) {  // the padding with zeros adds 0
    const auto left = static_cast<size_t>(request.count - at < 8 ? request.count - at : 8);
    uint8_t last_first[32] = {}, last_second[32] = {};
    memcpy(last_first, first + at * kFirstBytes, left * static_cast<size_t>(kFirstBytes));
    memcpy(last_second, second + at * kSecondBytes, left * static_cast<size_t>(kSecondBytes));
    lanes.add(load_vec8<kFirst>(last_first), load_vec8<kSecond>(last_second));
  }
  *request.sums = {sum_of_eight(lanes.first_squares), sum_of_eight(lanes.second_squares), sum_of_eight(lanes.dots),
                   sum_of_eight(lanes.squared_differences), lanes.nonfinite};
}

template <lpt_format kFirst>
void add_pairs(const PairSumsRequest &request) {
  if (request.second_format == LPT_FORMAT_F32) return add_pairs<kFirst, LPT_FORMAT_F32>(request);
  if (request.second_format == LPT_FORMAT_BF16) return add_pairs<kFirst, LPT_FORMAT_BF16>(request);
  add_pairs<kFirst, LPT_FORMAT_F16>(request);
}

}  // namespace

void LPT_KERNEL(pair_sums)(const PairSumsRequest &request) {
  if (request.first_format == LPT_FORMAT_F32) return add_pairs<LPT_FORMAT_F32>(request);
  if (request.first_format == LPT_FORMAT_BF16) return add_pairs<LPT_FORMAT_BF16>(request);
  add_pairs<LPT_FORMAT_F16>(request);
}

}  // namespace lpt
