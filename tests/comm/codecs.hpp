// User codecs: floats of 12 bits, and the largest eighth of a shard.
#pragma once

#include <algorithm>
#include <atomic>
#include <numeric>

#include "tests/comm/suite.hpp"

namespace lpt::test {

// The counters that `user` points to.
struct CodecCalls {
  std::atomic<int32_t> encoded{0}, decoded{0}, added{0};
  int32_t failing_encode = 0, failing_decode = 0;  // number of the call, from 1, that returns 7
};

inline CodecCalls &calls_of(void *user) { return *static_cast<CodecCalls *>(user); }
inline int32_t count_encode(void *user) { return ++calls_of(user).encoded == calls_of(user).failing_encode ? 7 : 0; }
inline int32_t count_decode(void *user) { return ++calls_of(user).decoded == calls_of(user).failing_decode ? 7 : 0; }

// Sign, exponent and three mantissa bits: two values in three bytes.

inline int64_t cut_bytes(void *, int64_t count) { return (count * 12 + 7) / 8; }

inline int32_t cut_encode(void *user, const float *numbers, int64_t count, void *bytes) {
  auto *const to = static_cast<uint8_t *>(bytes);
  std::fill_n(to, cut_bytes(user, count), uint8_t{0});
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, numbers + i, sizeof bits);
    for (int64_t k = 0; k < 12; ++k) {
      const int64_t bit = i * 12 + k;
      to[bit / 8] = static_cast<uint8_t>(to[bit / 8] | (bits >> (20 + k) & 1) << (bit % 8));
    }
  }
  return count_encode(user);
}

inline float cut_number(const void *bytes, int64_t i) {
  uint32_t bits = 0;
  for (int64_t k = 0; k < 12; ++k) {
    const int64_t bit = i * 12 + k;
    bits |= uint32_t{static_cast<const uint8_t *>(bytes)[bit / 8]} >> (bit % 8) << 31 >> (11 - k);
  }
  return float_of_bits(bits);
}

inline int32_t cut_decode(void *user, const void *bytes, int64_t count, float *numbers) {
  for (int64_t i = 0; i < count; ++i) numbers[i] = cut_number(bytes, i);
  return count_decode(user);
}

inline int32_t cut_decode_add(void *user, const void *bytes, int64_t count, float *sum) {
  for (int64_t i = 0; i < count; ++i) sum[i] += cut_number(bytes, i);
  ++calls_of(user).added;
  return 0;
}

// Indices and values of the largest eighth; the other elements are 0.

struct Kept {
  int32_t place;
  float number;
};

inline int64_t kept_of(int64_t count) { return (count + 7) / 8; }
inline int64_t top_bytes(void *, int64_t count) { return kept_of(count) * static_cast<int64_t>(sizeof(Kept)); }

inline int32_t top_encode(void *user, const float *numbers, int64_t count, void *bytes) {
  std::vector<int32_t> places(static_cast<size_t>(count));
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(),
                   [&](int32_t a, int32_t b) { return std::abs(numbers[a]) > std::abs(numbers[b]); });
  for (int64_t i = 0; i < kept_of(count); ++i) {
    const Kept kept{places[static_cast<size_t>(i)], numbers[places[static_cast<size_t>(i)]]};
    std::memcpy(static_cast<std::byte *>(bytes) + i * static_cast<int64_t>(sizeof kept), &kept, sizeof kept);
  }
  return count_encode(user);
}

inline int32_t top_decode(void *user, const void *bytes, int64_t count, float *numbers) {
  std::fill_n(numbers, count, 0.0f);
  for (int64_t i = 0; i < kept_of(count); ++i) {
    Kept kept;
    std::memcpy(&kept, static_cast<const std::byte *>(bytes) + i * static_cast<int64_t>(sizeof kept), sizeof kept);
    numbers[kept.place] = kept.number;
  }
  return count_decode(user);
}

inline lpt_comm_codec cut_codec(CodecCalls &calls) {
  return {sizeof(lpt_comm_codec), "float12", cut_bytes, cut_encode, cut_decode, cut_decode_add, &calls};
}

// A codec without decode_add.
inline lpt_comm_codec top_codec(CodecCalls &calls) {
  return {sizeof(lpt_comm_codec), "top 1/8", top_bytes, top_encode, top_decode, nullptr, &calls};
}

}  // namespace lpt::test
