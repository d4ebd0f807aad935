#include "src/comm/team.hpp"

#include <algorithm>

#include "src/base/cpu.hpp"

namespace lpt {
namespace {

// About 50 µs where every rank has a core: a sleep and its end take longer than most meetings.
constexpr int32_t kSpins = 2000;

}  // namespace

Team::Team(int32_t ranks)
    : seats_(static_cast<size_t>(ranks)),
      mailboxes_(static_cast<size_t>(ranks) * static_cast<size_t>(ranks)),
      spins_(ranks <= usable_cores() ? kSpins : 1) {}

Status Team::take_seat(int32_t rank) {
  if (seats_[static_cast<size_t>(rank)].is_taken.exchange(true)) {
    return invalid("rank is %d: expected one that no other comm of the group has", rank);
  }
  return {};
}

bool Team::count_in() {
  uint64_t seen = arrivals_.load(std::memory_order_relaxed);
  while ((seen & 1) == 0) {
    if (arrivals_.compare_exchange_weak(seen, seen + 2, std::memory_order_seq_cst)) return true;
  }
  return false;
}

bool Team::is_met(uint64_t turn) const { return arrivals_.load(std::memory_order_seq_cst) / 2 >= turn * seats_.size(); }

bool Team::has_left_behind(uint64_t turn) const {
  return std::any_of(seats_.begin(), seats_.end(), [&](const Seat &seat) { return is_behind(seat, turn); });
}

// First whether it has left: what it did before it left is seen then.
bool Team::is_behind(const Seat &seat, uint64_t turn) {
  return seat.has_left.load(std::memory_order_seq_cst) && seat.arrived.load(std::memory_order_seq_cst) < turn;
}

template <typename Condition>
std::string Team::names(const Condition &is_meant) const {
  std::string ranks;
  for (size_t i = 0; i < seats_.size(); ++i) {
    if (is_meant(seats_[i])) ranks += (ranks.empty() ? "" : ", ") + std::to_string(i);
  }
  return ranks;
}

Status Team::meet(int32_t rank, const Ticket &ticket, double timeout_seconds) {
  Seat &seat = seats_[static_cast<size_t>(rank)];
  const uint64_t turn = seat.arrived.load(std::memory_order_relaxed) + 1;
  const char *const operation = ticket.signature.operation;
  seat.ticket = ticket;
  seat.arrived.store(turn, std::memory_order_seq_cst);
  if (!count_in()) return state();
  wake();
  bool is_left = false;
  const bool is_in_time =
      wait(Deadline(timeout_seconds), [&] { return is_met(turn) || is_broken() || (is_left = has_left_behind(turn)); });
  if (is_left) {
    const std::string ranks = names([&](const Seat &other) { return is_behind(other, turn); });
    break_up(Status(LPT_ABORTED, text("%s: rank %s has left", operation, ranks.c_str())));
  } else if (!is_in_time) {
    const std::string ranks =
        names([&](const Seat &other) { return other.arrived.load(std::memory_order_relaxed) < turn; });
    break_up(Status(LPT_TIMEOUT,
                    text("%s: rank %s did not come within %g seconds", operation, ranks.c_str(), timeout_seconds)));
  }
  // A broken team counts nobody in any more: all of them find the same here.
  return is_met(turn) ? Status() : state();
}

Status Team::part(int32_t rank) noexcept {
  const uint64_t turn = seats_[static_cast<size_t>(rank)].arrived.load(std::memory_order_relaxed);
  partings_.fetch_add(1, std::memory_order_seq_cst);
  wake();
  wait(Deadline(0.0), [&] { return partings_.load(std::memory_order_seq_cst) >= turn * seats_.size(); });
  return spoiled_.load(std::memory_order_seq_cst) == turn ? state() : Status();
}

void Team::spoil(int32_t rank) noexcept {
  const Seat &seat = seats_[static_cast<size_t>(rank)];
  break_up(
      make_last_status(LPT_ABORTED, [&] { return text("%s: rank %d failed", seat.ticket.signature.operation, rank); }));
  spoiled_.store(seat.arrived.load(std::memory_order_relaxed), std::memory_order_seq_cst);
}

void Team::leave(int32_t rank) {
  seats_[static_cast<size_t>(rank)].has_left.store(true, std::memory_order_seq_cst);
  wake();
}

void Team::wake() {
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  // The lock: a sleeper has either seen the news or is asleep already.
  { const std::lock_guard<std::mutex> lock(mutex_); }
  has_news_.notify_all();
}

void Team::break_up(Status why) noexcept {
  std::vector<std::weak_ptr<Team>> parts;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!why_.is_ok()) return;
    why_ = std::move(why);
    arrivals_.fetch_or(1, std::memory_order_seq_cst);
    parts.swap(parts_);
  }
  has_news_.notify_all();
  for (const std::weak_ptr<Team> &part : parts) {
    if (const std::shared_ptr<Team> team = part.lock()) team->break_up(state());
  }
}

std::shared_ptr<Team> Team::part_of(const PartName &name, int32_t ranks) {
  std::shared_ptr<Team> team;
  Status why;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto part = std::find_if(new_parts_.begin(), new_parts_.end(), [&](const NewPart &p) { return p.name == name; });
    if (part == new_parts_.end()) {
      parts_.reserve(parts_.size() + 1);  // first: a part that others take breaks up with this team
      part = new_parts_.insert(part, {name, std::make_shared<Team>(ranks), ranks});
      parts_.push_back(part->team);
    }
    team = part->team;
    if (--part->takers == 0) new_parts_.erase(part);
    why = copy_of(why_);
  }
  if (!why.is_ok()) team->break_up(std::move(why));
  return team;
}

Status Team::state() const noexcept {
  if (!is_broken()) return {};
  const std::lock_guard<std::mutex> lock(mutex_);
  return copy_of(why_);
}

bool Team::is_over_for(int32_t peer) const {
  return is_broken() || seats_[static_cast<size_t>(peer)].has_left.load(std::memory_order_acquire);
}

Status Team::state_of(int32_t peer) const {
  const Status status = state();
  if (!status.is_ok() || !is_over_for(peer)) return status;
  return Status(LPT_ABORTED, text("rank %d has left", peer));
}

}  // namespace lpt
