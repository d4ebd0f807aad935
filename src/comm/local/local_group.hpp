// Ranks that are threads of one process: their slots, the buffers that they publish, and the status that aborts the group.
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

// Data that a rank publishes at a barrier.
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

  // Reserves the slot of a rank. Fails if the slot is taken.
  Status take_slot(int32_t rank);

  // Publishes the buffers and waits until all ranks have published theirs. The result is the same on all ranks. After success
  // the buffers and their data are valid until part(), which every rank must then call.
  Status barrier(int32_t rank, const PublishedBuffers &buffers, double timeout_seconds);
  const PublishedBuffers &buffers(int32_t rank) const { return slots_[static_cast<size_t>(rank)].buffers; }

  // Waits until all ranks have called part(), since they may read until then. Returns the error of the group if a rank failed
  // in this barrier; the next barrier returns other errors.
  Status part(int32_t rank) noexcept;

  // Marks this barrier as failed. A rank that fails in it calls this before part().
  void mark_failed(int32_t rank) noexcept;

  // Records that the rank has left the group. Its published buffers and sent messages remain valid.
  void leave(int32_t rank);

  // Aborts this group and its subgroups: all waits end with this status. Only the first status counts.
  void abort_all(Status why) noexcept;

  // The subgroup of one color of a split. All its ranks call part_of(). It is aborted with this group.
  struct SubgroupKey {
    uint64_t split;  // number of the split, the same on all ranks
    int32_t color;
    bool operator==(const SubgroupKey &) const = default;
  };
  std::shared_ptr<LocalGroup> part_of(const SubgroupKey &name, int32_t ranks);

  // state(): OK, or the status that aborted the group. state_of(): also LPT_ABORTED if `peer` has left.
  bool is_broken() const { return (arrivals_.load(std::memory_order_seq_cst) & 1) != 0; }
  Status state() const noexcept;
  Status state_of(int32_t peer) const;

  // Returns true if state_of(peer) is an error. Takes no lock: for conditions of wait(), which holds the mutex.
  bool is_over_for(int32_t peer) const;

  MessageQueue &message_queue(int32_t from, int32_t to) {
    return queues_[static_cast<size_t>(from) * static_cast<size_t>(ranks()) + static_cast<size_t>(to)];
  }

  // Wakes threads that sleep in wait().
  void wake();

  // Waits until is_present() is true; returns false at the deadline. Spins first, then sleeps.
  template <typename Condition>
  bool wait(const Deadline &deadline, const Condition &is_present);

 private:
  struct alignas(128) RankSlot {
    std::atomic<uint64_t> arrived{0};
    std::atomic<bool> is_taken{false};
    std::atomic<bool> has_left{false};
    PublishedBuffers buffers;
  };

  // Arrivals are counted in steps of two. An odd count marks an aborted group and is final.
  bool count_in();
  bool is_reached(uint64_t sequence) const;
  bool has_left_behind(uint64_t sequence) const;
  static bool is_behind(const RankSlot &slot, uint64_t sequence);
  template <typename Condition>
  std::string names(const Condition &is_meant) const;

  std::vector<RankSlot> slots_;
  std::vector<MessageQueue> queues_;
  const int32_t spins_;
  std::atomic<int32_t> sleepers_{0};
  std::atomic<uint64_t> arrivals_{0};
  std::atomic<uint64_t> partings_{0};
  std::atomic<uint64_t> failed_{0};  // number of the last barrier in which a rank failed
  mutable std::mutex mutex_;
  std::condition_variable has_failures_;
  Status why_;                                    // guarded by mutex_
  std::vector<std::weak_ptr<LocalGroup>> parts_;  // guarded by mutex_
  struct NewPart {
    SubgroupKey name;
    std::shared_ptr<LocalGroup> group;
    int32_t takers;  // ranks that have not requested it yet
  };
  std::vector<NewPart> new_parts_;  // guarded by mutex_
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
    if (is_in_time) has_failures_.wait_until(lock, deadline.next_wakeup());
  }
  --sleepers_;
  return is_in_time;
}

}  // namespace lpt
