// Tests of many cases that are alike take fewer of them where a sanitizer watches every access.
#pragma once

#include "tests/support/random.hpp"

namespace lpt::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LPT_TEST_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LPT_TEST_SANITIZED
#endif

#ifdef LPT_TEST_SANITIZED
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

// Every case, or one of `rate` with a sanitizer.
inline bool is_taken(Random &random, int64_t rate) { return !kIsSanitized || random.below(rate) == 0; }

}  // namespace lpt::test
