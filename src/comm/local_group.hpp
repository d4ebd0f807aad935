// The barrier place of ranks that are threads of one process: slots, published buffers, and the end of it all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/comm/deadline.hpp"
#include "src/comm/engine.hpp"
#include "src/comm/message_queue.hpp"

namespace lpt {

// What a rank shows the others at a barrier.
struct PublishedBuffers {
  Signature signature{};
  const Bytes *outgoing = nullptr;
  const Bytes *incoming = nullptr;
  const void *face = nullptr;
};

class LocalGroup {
 public:
  explicit LocalGroup(int32_t ranks);

  int32_t ranks() const { return static_cast<int32_t>(slots_.size()); }

  // One taker for each slot.
  Status take_slot(int32_t rank);

  // Shows the published buffers and waits until all ranks have shown theirs. Either it succeeds for all of them, and the published buffers and what
  // they point to stay readable until part(), which each of them then must call; or it fails for all.
  Status barrier(int32_t rank, const PublishedBuffers &buffers, double timeout_seconds);
  const PublishedBuffers &buffers(int32_t rank) const { return slots_[static_cast<size_t>(rank)].buffers; }

  // Waits until all ranks have come to the end of the barrier, whatever has happened since: they may be reading. What broke
  // the group counts if a rank spoiled this barrier; else it is for the next one.
  Status part(int32_t rank) noexcept;

  // A rank that fails in a barrier says so before it parts.
  void mark_failed(int32_t rank) noexcept;

  // A rank that is gone, however it went. What it has shown and posted stays.
  void leave(int32_t rank);

  // Ends all waiting, here and in the teams that came of this one, with this status. The first one counts.
  void abort_all(Status why) noexcept;

  // The group of one color of a split, which all its ranks request; it breaks up with this one.
  struct SubgroupKey {
    uint64_t split;  // counted by the caller: the same on all ranks
    int32_t color;
    bool operator==(const SubgroupKey &) const = default;
  };
  std::shared_ptr<LocalGroup> part_of(const SubgroupKey &name, int32_t ranks);

  // OK, or why the group has broken up; ABORTED if `peer` has left.
  bool is_broken() const { return (arrivals_.load(std::memory_order_seq_cst) & 1) != 0; }
  Status state() const noexcept;
  Status state_of(int32_t peer) const;

  // Whether one of them is an error, requested from within wait(), which holds the lock that the words are under.
  bool is_over_for(int32_t peer) const;

  MessageQueue &message_queue(int32_t from, int32_t to) { return mailboxes_[static_cast<size_t>(from * ranks() + to)]; }

  // Wakes those that sleep in wait().
  void wake();

  // Waits until is_present(); false at the end of time. Spins a little, then sleeps.
  template <typename Condition>
  bool wait(const Deadline &deadline, const Condition &is_present);

 private:
  struct alignas(128) RankSlot {
    std::atomic<uint64_t> arrived{0};
    std::atomic<bool> is_taken{false};
    std::atomic<bool> has_left{false};
    PublishedBuffers buffers;
  };

  // Arrivals are counted in steps of two; an odd number is broken and grows no more.
  bool count_in();
  bool is_reached(uint64_t sequence) const;
  bool has_left_behind(uint64_t sequence) const;
  static bool is_behind(const RankSlot &slot, uint64_t sequence);
  template <typename Condition>
  std::string names(const Condition &is_meant) const;

  std::vector<RankSlot> slots_;
  std::vector<MessageQueue> mailboxes_;
  const int32_t spins_;
  std::atomic<int32_t> sleepers_{0};
  std::atomic<uint64_t> arrivals_{0};
  std::atomic<uint64_t> partings_{0};
  std::atomic<uint64_t> failed_{0};  // the last barrier that was
  mutable std::mutex mutex_;
  std::condition_variable has_failures_;
  Status why_;                                    // under the mutex
  std::vector<std::weak_ptr<LocalGroup>> parts_;  // under the mutex
  struct NewPart {
    SubgroupKey name;
    std::shared_ptr<LocalGroup> group;
    int32_t takers;  // that have not come yet
  };
  std::vector<NewPart> new_parts_;  // under the mutex
};

template <typename Condition>
bool LocalGroup::wait(const Deadline &deadline, const Condition &is_present) {
  for (int32_t i = 0; i < spins_; ++i) {
    if (is_present()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  std::unique_lock<std::mutex> lock(mutex_);
  ++sleepers_;
  bool is_in_time = true;
  while (!is_present() && is_in_time) {
    is_in_time = !deadline.is_over();
    if (is_in_time) has_failures_.wait_until(lock, deadline.next_look());
  }
  --sleepers_;
  return is_in_time;
}

}  // namespace lpt
