#include "number_stats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tool {

namespace {

constexpr uint32_t kExponentMask = 0x7F800000u;
constexpr uint32_t kMagnitudeMask = 0x7FFFFFFFu;
constexpr int kMantissaBits = 23;
constexpr int kBias = 127;

}  // namespace

void NumberStats::add(std::span<const float> numbers) {
  count += numbers.size();
  for (const float number : numbers) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(number) & kMagnitudeMask;
    if (magnitude > kExponentMask) {
      ++nan_count;
    } else if (magnitude == kExponentMask) {
      ++infinite_count;
    } else if (magnitude == 0) {
      ++zero_count;
    } else {
      ++exponents[magnitude >> kMantissaBits];
      amax = std::max(amax, std::fabs(number));
    }
  }
}

int NumberStats::top_exponent() const {
  for (int i = kExponents - 1; i > 0; --i) {
    if (exponents[static_cast<size_t>(i)] > 0) return i - kBias;
  }
  return -kBias;
}

std::string sparkline(const NumberStats &stats, int top, int width) {
  constexpr int kHeights = 9;  // one digit
  const uint64_t most = *std::max_element(stats.exponents.begin(), stats.exponents.end());
  std::string text;
  for (int exponent = top - width + 1; exponent <= top; ++exponent) {
    const int index = exponent + kBias;
    const uint64_t there =
        index >= 0 && index < NumberStats::kExponents ? stats.exponents[static_cast<size_t>(index)] : 0;
    if (there == 0) {
      text += '.';
    } else {
      const double share = static_cast<double>(there) / static_cast<double>(most);
      text += static_cast<char>('0' + std::clamp(static_cast<int>(std::ceil(share * kHeights)), 1, kHeights));
    }
  }
  return text;
}

}  // namespace tool
