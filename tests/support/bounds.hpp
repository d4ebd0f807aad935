// Tolerances of statistical tests.
#pragma once

#include <cmath>

namespace lpt::test {

// Returns the tolerance of a mean over `count` draws with this measured variance: z = 5 standard deviations. The measured variance
// misses a result that is drawn rarely. If a result differs from the others by at most `largest`, z² draws of it allow for that.
inline double mean_tolerance(double variance, double largest, double count) {
  return 5 * std::sqrt(variance / count) + 25 * largest / count;
}

}  // namespace lpt::test
