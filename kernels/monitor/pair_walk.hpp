// Sums over pairs, eight at a time, which are the lanes of the reference. Included by an ISA file only.
#pragma once

#include <cstring>

#include "kernels/common/ahead.hpp"
#include "kernels/common/eight.hpp"
#include "kernels/monitor/monitor.hpp"

namespace lpt {
namespace {

template <typename Eight, lpt_format kFormat>
[[gnu::always_inline]] inline Eight load_eight(const uint8_t *from) {
  if constexpr (kFormat == LPT_FORMAT_F32) return Eight::of_f32(from);
  if constexpr (kFormat == LPT_FORMAT_BF16) return Eight::of_bf16(from);
  return Eight::of_f16(from);
}

// Squares and products of such numbers are exact, those of differences are not.
template <typename Eight>
struct PairLanes {
  Eight first_squares, second_squares, products, squared_differences;
  int64_t nonfinite = 0;

  [[gnu::always_inline]] void add(Eight a, Eight b) {
    const typename Eight::Mask finite = Eight::both(a.finite(), b.finite());
    if (Eight::bits(finite) != 0xFF) [[unlikely]] {
      nonfinite += 8 - __builtin_popcount(Eight::bits(finite));
      a = a.only(finite);
      b = b.only(finite);
    }
    const Eight difference = a - b;
    first_squares = first_squares + a * a;
    second_squares = second_squares + b * b;
    products = products + a * b;
    squared_differences = squared_differences + difference * difference;
  }
};

constexpr int64_t pair_bytes(lpt_format format) { return format == LPT_FORMAT_F32 ? 4 : 2; }

template <typename Eight, lpt_format kFirst, lpt_format kSecond>
void add_pairs(const PairSumsRequest &request) {
  constexpr int64_t kFirstBytes = pair_bytes(kFirst), kSecondBytes = pair_bytes(kSecond);
  const auto *first = static_cast<const uint8_t *>(request.first);
  const auto *second = static_cast<const uint8_t *>(request.second);
  constexpr Ahead kAhead = {nullptr, 4096};  // in line: requests are short
  PairLanes<Eight> lanes;
  int64_t at = 0;
  for (; at + 64 <= request.count; at += 64) {
    kAhead.ask<kFirstBytes>(first + at * kFirstBytes);
    kAhead.ask<kSecondBytes>(second + at * kSecondBytes);
    for (int64_t i = at; i < at + 64; i += 8) {
      lanes.add(load_eight<Eight, kFirst>(first + i * kFirstBytes),
                load_eight<Eight, kSecond>(second + i * kSecondBytes));
    }
  }
  for (; at < request.count; at += 8) {  // zeros behind the last ones add nothing
    const auto left = static_cast<size_t>(request.count - at < 8 ? request.count - at : 8);
    uint8_t last_first[32] = {}, last_second[32] = {};
    memcpy(last_first, first + at * kFirstBytes, left * static_cast<size_t>(kFirstBytes));
    memcpy(last_second, second + at * kSecondBytes, left * static_cast<size_t>(kSecondBytes));
    lanes.add(load_eight<Eight, kFirst>(last_first), load_eight<Eight, kSecond>(last_second));
  }
  *request.sums = {sum_of_eight(lanes.first_squares), sum_of_eight(lanes.second_squares), sum_of_eight(lanes.products),
                   sum_of_eight(lanes.squared_differences), lanes.nonfinite};
}

template <typename Eight, lpt_format kFirst>
void add_pairs(const PairSumsRequest &request) {
  if (request.second_format == LPT_FORMAT_F32) return add_pairs<Eight, kFirst, LPT_FORMAT_F32>(request);
  if (request.second_format == LPT_FORMAT_BF16) return add_pairs<Eight, kFirst, LPT_FORMAT_BF16>(request);
  add_pairs<Eight, kFirst, LPT_FORMAT_F16>(request);
}

template <typename Eight>
void add_pairs(const PairSumsRequest &request) {
  if (request.first_format == LPT_FORMAT_F32) return add_pairs<Eight, LPT_FORMAT_F32>(request);
  if (request.first_format == LPT_FORMAT_BF16) return add_pairs<Eight, LPT_FORMAT_BF16>(request);
  add_pairs<Eight, LPT_FORMAT_F16>(request);
}

}  // namespace
}  // namespace lpt
