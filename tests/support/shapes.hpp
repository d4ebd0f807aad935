// Named lists of sizes.
#pragma once

#include <cstdint>

namespace lpt::test {

// Sizes around vector widths, and zero.
inline constexpr int64_t kSimdEdges[] = {0,  1,  2,  3,  7,   8,   9,   15,  16,  17,  31,  32,
                                         33, 63, 64, 65, 127, 128, 129, 191, 200, 255, 257, 300};
inline constexpr int64_t kPrimes[] = {2, 3, 5, 7, 13, 31, 61, 127, 251};
inline constexpr int64_t kFewRows[] = {0, 1, 2, 3, 5, 16, 17, 33};

}  // namespace lpt::test
