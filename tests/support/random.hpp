// Random values for tests from one printed seed. LPT_TEST_SEED sets the seed.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace lpt::test {

inline uint64_t seed() {
  static const uint64_t value = [] {
    const char *given = std::getenv("LPT_TEST_SEED");
    const uint64_t number = given != nullptr ? std::strtoull(given, nullptr, 0) : 20260801;
    std::printf("LPT_TEST_SEED=%llu\n", static_cast<unsigned long long>(number));
    return number;
  }();
  return value;
}

// SplitMix64. `place` separates the generators of one program.
class Random {
 public:
  explicit Random(uint64_t place) : state_(mix(mix(seed()) + place)) {}

  uint64_t bits() { return mix(state_ += 0x9E3779B97F4A7C15u); }
  int64_t below(int64_t bound) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(bound)); }
  bool chance(double probability) { return uniform() < probability; }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)
  // The polar method of Marsaglia, which gives two numbers at once: most of the time of many tests is spent here.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x, y, square;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    has_spare_ = true;
    spare_ = y * factor;
    return x * factor;
  }
  template <typename Item, std::size_t count>
  Item of(const Item (&items)[count]) {
    return items[below(static_cast<int64_t>(count))];
  }

 private:
  static uint64_t mix(uint64_t number) {
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9u;
    number = (number ^ (number >> 27)) * 0x94D049BB133111EBu;
    return number ^ (number >> 31);
  }

  uint64_t state_;
  bool has_spare_ = false;
  double spare_ = 0;
};

// Distributions of matrix elements.
enum class Values { kNormal, kOutliers, kZeroRuns, kSpecials, kSubnormals, kExtremes, kTies, kBits };

inline constexpr Values kAllValues[] = {Values::kNormal,     Values::kOutliers, Values::kZeroRuns, Values::kSpecials,
                                        Values::kSubnormals, Values::kExtremes, Values::kTies,     Values::kBits};
inline constexpr Values kFiniteValues[] = {Values::kNormal, Values::kOutliers, Values::kZeroRuns, Values::kTies};

inline const char *name_of(Values values) {
  static const char *const names[] = {"normal",     "outliers", "zero runs", "specials",
                                      "subnormals", "extremes", "ties",      "bits"};
  return names[static_cast<int>(values)];
}

inline float float_of_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float draw_special(Random &random) {
  static constexpr uint32_t specials[] = {0x7F800000u, 0xFF800000u, 0x7FC00000u, 0xFFC00000u, 0x7F800001u, 0xFFABCDEFu};
  return float_of_bits(random.of(specials));
}

inline float draw_extreme(Random &random) {
  static constexpr uint32_t extremes[] = {0u,          0x80000000u, 1u,          0x007FFFFFu, 0x00800000u,
                                          0x7F7FFFFFu, 0xFF7FFFFFu, 0x3F800000u, 0x43E00000u, 0x47600000u};
  return float_of_bits(random.of(extremes));
}

inline std::vector<float> draw(Random &random, Values values, int64_t count) {
  std::vector<float> result(static_cast<std::size_t>(count));
  int64_t zeros_left = 0;
  for (float &value : result) {
    switch (values) {
      case Values::kNormal:
        value = static_cast<float>(random.normal());
        break;
      case Values::kOutliers: {
        const double sign = random.normal();
        value = static_cast<float>(std::copysign(std::exp(3.0 * random.normal()), sign));
        break;
      }
      case Values::kZeroRuns:
        if (zeros_left == 0 && random.chance(0.02)) zeros_left = random.below(300);
        value = static_cast<float>(random.normal());
        if (zeros_left > 0) value = --zeros_left % 2 == 0 ? 0.0f : -0.0f;
        break;
      case Values::kSpecials:
        value = random.chance(0.02) ? draw_special(random) : static_cast<float>(random.normal());
        break;
      case Values::kSubnormals:
        value = float_of_bits(static_cast<uint32_t>(random.bits()) & 0x80FFFFFFu);
        break;
      case Values::kExtremes:
        value = draw_extreme(random);
        break;
      case Values::kTies:
        value = std::ldexp(static_cast<float>(random.below(129) - 64), static_cast<int>(random.below(31)) - 20);
        break;
      case Values::kBits:
        value = float_of_bits(static_cast<uint32_t>(random.bits()));
        break;
    }
  }
  return result;
}

}  // namespace lpt::test
