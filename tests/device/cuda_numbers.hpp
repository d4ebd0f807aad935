// Elements of CUDA data types on the CPU, for the stub libraries.
#pragma once

#include <bit>
#include <cstdint>

#include "src/formats/element.hpp"
#include "src/plugins/cublas_lt.hpp"

namespace lpt::cublas {

inline int64_t bits_of(int32_t type) {
  switch (type) {
    case kF32:
    case kInt32:
      return 32;
    case kF16:
    case kBf16:
      return 16;
    case kE2m1fn:
      return 4;
    default:
      return 8;
  }
}

inline double number_at(int32_t type, const void *data, int64_t index) {
  const auto *const bytes = static_cast<const uint8_t *>(data);
  const auto *const halves = static_cast<const uint16_t *>(data);
  switch (type) {
    case kF32:
      return static_cast<const float *>(data)[index];
    case kBf16:
      return std::bit_cast<float>(static_cast<uint32_t>(halves[index]) << 16);
    case kF16:
      return decode(kElementF16, halves[index]);
    case kE4m3fn:
      return decode(kElementE4m3fn, bytes[index]);
    case kE5m2:
      return decode(kElementE5m2, bytes[index]);
    case kE2m1fn:
      return decode(kElementE2m1fn, static_cast<uint32_t>(bytes[index / 2] >> (4 * (index % 2))) & 15u);
    default:
      return static_cast<const int8_t *>(data)[index];
  }
}

inline void store(int32_t type, void *data, int64_t index, double value) {
  const auto number = static_cast<float>(value);
  if (type == kF32) static_cast<float *>(data)[index] = number;
  if (type == kInt32) static_cast<int32_t *>(data)[index] = static_cast<int32_t>(value);
  const auto half = [&](const Element &element) {
    return static_cast<uint16_t>(encode(element, number, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 0));
  };
  if (type == kF16) static_cast<uint16_t *>(data)[index] = half(kElementF16);
  if (type == kBf16) static_cast<uint16_t *>(data)[index] = half(kElementBf16);
}

}  // namespace lpt::cublas
