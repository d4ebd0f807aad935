// Tests with many similar cases run fewer of them with a sanitizer.
#pragma once

#include "tests/support/random.hpp"

extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
}

namespace lpt::test {

// Whether the program is linked with a sanitizer. The tests themselves are compiled without one.
inline const bool kIsSanitized = __asan_init != nullptr || __tsan_init != nullptr;

// Returns true for every case, or for one of `rate` with a sanitizer.
inline bool is_taken(Random &random, int64_t rate) { return !kIsSanitized || random.below(rate) == 0; }

}  // namespace lpt::test
