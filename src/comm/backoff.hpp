// Backoff between two polls for messages.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace lpt {

// Spins 200 times, then yields the core, since ranks may outnumber cores, then sleeps. A sleep takes 1/16 of the time waited: a
// long wait uses little CPU time, and no wait grows by more than 1/16.
class Backoff {
 public:
  // Some transports transfer bytes only during polls. With bytes in transit sleeps begin after 1 s, not 1 ms, and take at most
  // 100 µs.
  void pause(bool are_bytes_coming) {
    using namespace std::chrono_literals;
    if (++polls_ <= kSpins) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      return;
    }
    const Clock::duration waited = Clock::now() - begin_;
    if (waited < (are_bytes_coming ? Clock::duration(1s) : Clock::duration(1ms))) {
      std::this_thread::yield();
      return;
    }
    const Clock::duration longest = are_bytes_coming ? 100us : 500us;
    std::this_thread::sleep_for(std::min<Clock::duration>(waited / 16, longest));
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kSpins = 200;

  const Clock::time_point begin_ = Clock::now();
  int polls_ = 0;
};

}  // namespace lpt
