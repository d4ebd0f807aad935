// The meeting place of ranks that are threads of one process: seats, tickets, and the end of it all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/comm/deadline.hpp"
#include "src/comm/engine.hpp"
#include "src/comm/mailbox.hpp"

namespace lpt {

// What a rank shows the others at a meeting.
struct Ticket {
  Signature signature{};
  const Bytes *outgoing = nullptr;
  const Bytes *incoming = nullptr;
  const void *face = nullptr;
};

class Team {
 public:
  explicit Team(int32_t ranks);

  int32_t ranks() const { return static_cast<int32_t>(seats_.size()); }

  // One taker for each seat.
  Status take_seat(int32_t rank);

  // Shows the ticket and waits until all ranks have shown theirs. Either it succeeds for all of them, and the tickets and what
  // they point to stay readable until part(), which each of them then must call; or it fails for all.
  Status meet(int32_t rank, const Ticket &ticket, double timeout_seconds);
  const Ticket &ticket(int32_t rank) const { return seats_[static_cast<size_t>(rank)].ticket; }

  // Waits until all ranks have come to the end of the meeting, whatever has happened since: they may be reading. What broke
  // the team counts if a rank spoiled this meeting; else it is for the next one.
  Status part(int32_t rank) noexcept;

  // A rank that fails in a meeting says so before it parts.
  void spoil(int32_t rank) noexcept;

  // A rank that is gone, however it went. What it has shown and posted stays.
  void leave(int32_t rank);

  // Ends all waiting, here and in the teams that came of this one, with this status. The first one counts.
  void break_up(Status why) noexcept;

  // The team of one color of a split, which all its ranks ask for; it breaks up with this one.
  struct PartName {
    uint64_t split;  // counted by the caller: the same on all ranks
    int32_t color;
    bool operator==(const PartName &) const = default;
  };
  std::shared_ptr<Team> part_of(const PartName &name, int32_t ranks);

  // OK, or why the team has broken up; ABORTED if `peer` has left.
  bool is_broken() const { return (arrivals_.load(std::memory_order_seq_cst) & 1) != 0; }
  Status state() const noexcept;
  Status state_of(int32_t peer) const;

  // Whether one of them is an error, asked from within wait(), which holds the lock that the words are under.
  bool is_over_for(int32_t peer) const;

  Mailbox &mailbox(int32_t from, int32_t to) { return mailboxes_[static_cast<size_t>(from * ranks() + to)]; }

  // Wakes those that sleep in wait().
  void wake();

  // Waits until is_there(); false at the end of time. Spins a little, then sleeps.
  template <typename Condition>
  bool wait(const Deadline &deadline, const Condition &is_there);

 private:
  struct alignas(128) Seat {
    std::atomic<uint64_t> arrived{0};
    std::atomic<bool> is_taken{false};
    std::atomic<bool> has_left{false};
    Ticket ticket;
  };

  // Arrivals are counted in steps of two; an odd number is broken and grows no more.
  bool count_in();
  bool is_met(uint64_t turn) const;
  bool has_left_behind(uint64_t turn) const;
  static bool is_behind(const Seat &seat, uint64_t turn);
  template <typename Condition>
  std::string names(const Condition &is_meant) const;

  std::vector<Seat> seats_;
  std::vector<Mailbox> mailboxes_;
  const int32_t spins_;
  std::atomic<int32_t> sleepers_{0};
  std::atomic<uint64_t> arrivals_{0};
  std::atomic<uint64_t> partings_{0};
  std::atomic<uint64_t> spoiled_{0};  // the last meeting that was
  mutable std::mutex mutex_;
  std::condition_variable has_news_;
  Status why_;                              // under the mutex
  std::vector<std::weak_ptr<Team>> parts_;  // under the mutex
  struct NewPart {
    PartName name;
    std::shared_ptr<Team> team;
    int32_t takers;  // that have not come yet
  };
  std::vector<NewPart> new_parts_;  // under the mutex
};

template <typename Condition>
bool Team::wait(const Deadline &deadline, const Condition &is_there) {
  for (int32_t i = 0; i < spins_; ++i) {
    if (is_there()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  std::unique_lock<std::mutex> lock(mutex_);
  ++sleepers_;
  bool is_in_time = true;
  while (!is_there() && is_in_time) {
    is_in_time = !deadline.is_over();
    if (is_in_time) has_news_.wait_until(lock, deadline.next_look());
  }
  --sleepers_;
  return is_in_time;
}

}  // namespace lpt
