// Waiting between two polls for messages.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace lpt {

// Spins, then gives the core away, since ranks may be more than cores, then sleeps: a sixteenth of what it has waited, so that
// a long wait costs little time of others and no wait grows by much.
class Backoff {
 public:
  // With bytes under way a wire moves as we look: then it sleeps late, and not for long.
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
