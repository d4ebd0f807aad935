// Statistics of the values of a tensor.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace tool {

struct NumberStats {
  static constexpr int kExponents = 255;  // of f32: index e counts magnitudes from 2^(e - 127); 0: subnormals

  uint64_t count = 0;
  uint64_t nan_count = 0;
  uint64_t infinite_count = 0;
  uint64_t zero_count = 0;
  float amax = 0.0f;                             // of finite values
  std::array<uint64_t, kExponents> exponents{};  // of finite nonzero values

  void add(std::span<const float> numbers);
  int top_exponent() const;  // of 2, of the largest value; the smallest possible one without values
};

// Returns a digit for each of the `width` exponents up to `top`: ninths of the maximum count, rounded up; a dot for none.
std::string sparkline(const NumberStats &stats, int top, int width);

}  // namespace tool
