// Profile: calls and times of kernels. Disabled by default.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.hpp"

namespace lpt {

class Profile {
 public:
  struct Entry {
    const char *operation;
    const char *kernel;
    int64_t calls;
    double seconds, bytes, flops;
  };

  bool is_enabled() const { return is_enabled_; }
  void set_enabled(bool is_enabled);
  void record(const char *operation, const char *kernel, std::chrono::steady_clock::time_point begin, double bytes,
              double flops) noexcept;

  // Returns the entries in order of decreasing time.
  std::vector<Entry> sorted() const;
  const std::vector<Entry> &entries() const { return entries_; }

  // Writes Chrome's trace format. Returns an error if the file cannot be written.
  Status save(const char *path) const;

 private:
  struct Event {
    int32_t entry;
    double begin_seconds, seconds;
  };
  bool is_enabled_ = false;
  std::chrono::steady_clock::time_point start_;
  std::vector<Entry> entries_;
  std::vector<Event> events_;
};

}  // namespace lpt
