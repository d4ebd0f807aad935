// Reads arguments of calls from bytes: extents, flags and choices that are mostly valid.
#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>

#include "tests/fuzz/reader.hpp"

namespace lpt::test {

// Do not read two values in the arguments of one call, because compilers choose the order of evaluation.
class CallReader : public FuzzReader {
 public:
  using FuzzReader::FuzzReader;

  // Returns mostly a value of an enumeration, sometimes the one before the first or after the last.
  int32_t choice(int32_t count) { return below(count + 2) - 1; }

  // Returns mostly an extent of a small matrix, sometimes an invalid one.
  int64_t extent() {
    static constexpr int64_t kSpecial[] = {0,         1,        2, 16, 31, 32, 33, 64, 127, 128, -1, int64_t{1} << 40,
                                           INT64_MAX, INT64_MIN};
    const uint8_t value = byte();
    return value < 96 ? value : kSpecial[value % std::size(kSpecial)];
  }
  double real() {
    static constexpr double kSpecial[] = {0.0, 1.0, -1.0, 0.5, 1e-30, 1e300, -0.0, HUGE_VAL, NAN, 6.0};
    return kSpecial[byte() % std::size(kSpecial)];
  }
  uint64_t word() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }
  // Returns mostly no flags.
  uint64_t flags() {
    const uint8_t value = byte();
    return value < 224 ? 0 : uint64_t{1} << value % 8;
  }
};

}  // namespace lpt::test
