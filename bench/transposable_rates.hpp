// Speed of finding transposable masks, for each kernel of the table, on one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lpt::bench {

// One kernel on one matrix of f32 or bf16. Ratios are in elements. One is relative to a read of the same source in the same
// run. The other is relative to the reference kernel, or for EXACT to a scalar search of all 90 patterns. A target of 0 means
// none.
struct TransposableRate {
  std::string name, row;
  double seconds_per_element = 0;
  double of_read = 0, read_bar = 0;
  double of_plain = 0, plain_bar = 0;

  double gigaelements() const { return 1e-9 / seconds_per_element; }
};

// Measures every kernel that this machine supports except the reference kernels. `elements` is a multiple of 4096 · 8.
std::vector<TransposableRate> transposable_rates(int64_t elements);

}  // namespace lpt::bench
