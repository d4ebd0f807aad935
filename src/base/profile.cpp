#include "src/base/profile.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace lpt {

constexpr size_t kMostEvents = 100000;
constexpr size_t kMostEntries = 1000;  // a few dozen are used

void Profile::set_enabled(bool is_enabled) {
  is_enabled_ = false;
  if (!is_enabled) return;
  entries_.clear();
  events_.clear();
  // Reserves all memory: a measurement ends in a destructor, which must not fail.
  entries_.reserve(kMostEntries);
  events_.reserve(kMostEvents);
  is_enabled_ = true;
  start_ = std::chrono::steady_clock::now();
}

void Profile::record(const char *operation, const char *kernel, std::chrono::steady_clock::time_point begin,
                     double bytes, double flops) noexcept {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  // Names are static, and a few dozen exist: addresses are compared.
  size_t i = 0;
  while (i < entries_.size() && (entries_[i].operation != operation || entries_[i].kernel != kernel)) ++i;
  if (i == kMostEntries) return;
  if (i == entries_.size()) entries_.push_back({operation, kernel, 0, 0.0, 0.0, 0.0});
  Entry &entry = entries_[i];
  ++entry.calls;
  entry.seconds += seconds;
  entry.bytes += bytes;
  entry.flops += flops;
  if (events_.size() < kMostEvents) {
    events_.push_back({static_cast<int32_t>(i), std::chrono::duration<double>(begin - start_).count(), seconds});
  }
}

std::vector<Profile::Entry> Profile::sorted() const {
  std::vector<Entry> result = entries_;
  std::stable_sort(result.begin(), result.end(), [](const Entry &a, const Entry &b) { return a.seconds > b.seconds; });
  return result;
}

Status Profile::save(const char *path) const {
  std::FILE *file = std::fopen(path, "w");
  if (file == nullptr) return invalid("path '%s' cannot be written: %s", path, std::strerror(errno));
  std::fputs("[\n", file);
  for (size_t i = 0; i < events_.size(); ++i) {
    const Event &event = events_[i];
    const Entry &entry = entries_[static_cast<size_t>(event.entry)];
    std::fprintf(file, "{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":0,\"tid\":0}%s\n",
                 entry.kernel, entry.operation, event.begin_seconds * 1e6, event.seconds * 1e6,
                 i + 1 < events_.size() ? "," : "");
  }
  std::fputs("]\n", file);
  const bool is_bad = std::ferror(file) != 0;
  if (std::fclose(file) != 0 || is_bad) return invalid("path '%s' cannot be written: %s", path, std::strerror(errno));
  return {};
}

}  // namespace lpt
