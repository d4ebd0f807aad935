// How fast transposable masks are found, row by row of the family's table, on one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lpt::bench {

// One row on one matrix of f32 or bf16. Ratios count elements: of a read of the same source in the same run, and of the
// plain row, or for EXACT of a scalar search of all 90 patterns. Bars are 0 where there is none.
struct TransposableRate {
  std::string name, row;
  double seconds_per_element = 0;
  double of_read = 0, read_bar = 0;
  double of_plain = 0, plain_bar = 0;

  double gigaelements() const { return 1e-9 / seconds_per_element; }
};

// Every row that this machine has but the plain ones; `elements` is a multiple of 4096 · 8.
std::vector<TransposableRate> transposable_rates(int64_t elements);

}  // namespace lpt::bench
