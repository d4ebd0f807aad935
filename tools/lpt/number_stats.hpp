// What the numbers of a tensor look like.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace tool {

struct NumberStats {
  static constexpr int kExponents = 255;  // of f32: index e is the magnitudes from 2^(e - 127) up; 0 the subnormal ones

  uint64_t count = 0;
  uint64_t nan_count = 0;
  uint64_t infinite_count = 0;
  uint64_t zero_count = 0;
  float amax = 0.0f;                             // of finite numbers
  std::array<uint64_t, kExponents> exponents{};  // of finite numbers that are not zero

  void add(std::span<const float> numbers);
  int top_exponent() const;  // of 2, of the largest number; the least possible without numbers
};

// A digit for each of the `width` exponents up to `top`: ninths of the fullest exponent, rounded up; a dot for none.
std::string sparkline(const NumberStats &stats, int top, int width);

}  // namespace tool
