// Tests of many cases that are alike take fewer of them where a sanitizer watches every access.
#pragma once

#include "tests/support/random.hpp"

extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
}

namespace lpt::test {

// Whether the program is linked with a sanitizer: its tests are compiled without.
inline const bool kIsSanitized = __asan_init != nullptr || __tsan_init != nullptr;

// Every case, or one of `rate` with a sanitizer.
inline bool is_taken(Random &random, int64_t rate) { return !kIsSanitized || random.below(rate) == 0; }

}  // namespace lpt::test
