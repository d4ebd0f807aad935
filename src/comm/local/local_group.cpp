#include "src/comm/local/local_group.hpp"

#include <algorithm>

#include "src/base/cpu.hpp"

namespace lpt {
namespace {

// About 50 µs if every rank has a core: to sleep and wake takes longer than most barriers.
constexpr int32_t kSpins = 2000;

}  // namespace

LocalGroup::LocalGroup(int32_t ranks)
    : slots_(static_cast<size_t>(ranks)),
      queues_(static_cast<size_t>(ranks) * static_cast<size_t>(ranks)),
      spins_(ranks <= usable_cores() ? kSpins : 1) {}

Status LocalGroup::take_slot(int32_t rank) {
  if (slots_[static_cast<size_t>(rank)].is_taken.exchange(true)) {
    return invalid("rank is %d: expected one that no other comm of the group has", rank);
  }
  return {};
}

bool LocalGroup::count_in() {
  uint64_t seen = arrivals_.load(std::memory_order_relaxed);
  while ((seen & 1) == 0) {
    if (arrivals_.compare_exchange_weak(seen, seen + 2, std::memory_order_seq_cst)) return true;
  }
  return false;
}

bool LocalGroup::is_reached(uint64_t sequence) const {
  return arrivals_.load(std::memory_order_seq_cst) / 2 >= sequence * slots_.size();
}

bool LocalGroup::has_left_behind(uint64_t sequence) const {
  return std::any_of(slots_.begin(), slots_.end(), [&](const RankSlot &slot) { return is_behind(slot, sequence); });
}

// Reads has_left first: the arrivals of the rank before its departure are then visible.
bool LocalGroup::is_behind(const RankSlot &slot, uint64_t sequence) {
  return slot.has_left.load(std::memory_order_seq_cst) && slot.arrived.load(std::memory_order_seq_cst) < sequence;
}

template <typename Condition>
std::string LocalGroup::names(const Condition &is_meant) const {
  std::string ranks;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (is_meant(slots_[i])) ranks += (ranks.empty() ? "" : ", ") + std::to_string(i);
  }
  return ranks;
}

Status LocalGroup::barrier(int32_t rank, const PublishedBuffers &buffers, double timeout_seconds) {
  RankSlot &slot = slots_[static_cast<size_t>(rank)];
  const uint64_t sequence = slot.arrived.load(std::memory_order_relaxed) + 1;
  const char *const operation = buffers.signature.operation;
  slot.buffers = buffers;
  slot.arrived.store(sequence, std::memory_order_seq_cst);
  if (!count_in()) return state();
  wake();
  bool is_disabled = false;
  const bool is_in_time = wait(Deadline(timeout_seconds), [&] {
    return is_reached(sequence) || is_broken() || (is_disabled = has_left_behind(sequence));
  });
  if (is_disabled) {
    const std::string ranks = names([&](const RankSlot &other) { return is_behind(other, sequence); });
    abort_all(Status(LPT_ABORTED, text("%s: rank %s has left", operation, ranks.c_str())));
  } else if (!is_in_time) {
    const std::string ranks =
        names([&](const RankSlot &other) { return other.arrived.load(std::memory_order_relaxed) < sequence; });
    abort_all(Status(LPT_TIMEOUT,
                     text("%s: rank %s did not come within %g seconds", operation, ranks.c_str(), timeout_seconds)));
  }
  // An aborted group counts no further arrivals, so all ranks return the same result.
  return is_reached(sequence) ? Status() : state();
}

Status LocalGroup::part(int32_t rank) noexcept {
  const uint64_t sequence = slots_[static_cast<size_t>(rank)].arrived.load(std::memory_order_relaxed);
  partings_.fetch_add(1, std::memory_order_seq_cst);
  wake();
  wait(Deadline(0.0), [&] { return partings_.load(std::memory_order_seq_cst) >= sequence * slots_.size(); });
  return failed_.load(std::memory_order_seq_cst) == sequence ? state() : Status();
}

void LocalGroup::mark_failed(int32_t rank) noexcept {
  const RankSlot &slot = slots_[static_cast<size_t>(rank)];
  abort_all(make_last_status(LPT_ABORTED,
                             [&] { return text("%s: rank %d failed", slot.buffers.signature.operation, rank); }));
  failed_.store(slot.arrived.load(std::memory_order_relaxed), std::memory_order_seq_cst);
}

void LocalGroup::leave(int32_t rank) {
  slots_[static_cast<size_t>(rank)].has_left.store(true, std::memory_order_seq_cst);
  wake();
}

void LocalGroup::wake() {
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  // With the lock, a waiting thread either has seen the change or already waits for the notification.
  { const std::lock_guard<std::mutex> lock(mutex_); }
  has_failures_.notify_all();
}

void LocalGroup::abort_all(Status why) noexcept {
  std::vector<std::weak_ptr<LocalGroup>> parts;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!why_.is_ok()) return;
    why_ = std::move(why);
    arrivals_.fetch_or(1, std::memory_order_seq_cst);
    parts.swap(parts_);
  }
  has_failures_.notify_all();
  for (const std::weak_ptr<LocalGroup> &part : parts) {
    if (const std::shared_ptr<LocalGroup> group = part.lock()) group->abort_all(state());
  }
}

std::shared_ptr<LocalGroup> LocalGroup::part_of(const SubgroupKey &name, int32_t ranks) {
  std::shared_ptr<LocalGroup> group;
  Status why;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto part = std::find_if(new_parts_.begin(), new_parts_.end(), [&](const NewPart &p) { return p.name == name; });
    if (part == new_parts_.end()) {
      parts_.reserve(parts_.size() + 1);  // before the insert: push_back() must not fail
      part = new_parts_.insert(part, {name, std::make_shared<LocalGroup>(ranks), ranks});
      parts_.push_back(part->group);
    }
    group = part->group;
    if (--part->takers == 0) new_parts_.erase(part);
    why = copy_of(why_);
  }
  if (!why.is_ok()) group->abort_all(std::move(why));
  return group;
}

Status LocalGroup::state() const noexcept {
  if (!is_broken()) return {};
  const std::lock_guard<std::mutex> lock(mutex_);
  return copy_of(why_);
}

bool LocalGroup::is_over_for(int32_t peer) const {
  return is_broken() || slots_[static_cast<size_t>(peer)].has_left.load(std::memory_order_acquire);
}

Status LocalGroup::state_of(int32_t peer) const {
  const Status status = state();
  if (!status.is_ok() || !is_over_for(peer)) return status;
  return Status(LPT_ABORTED, text("rank %d has left", peer));
}

}  // namespace lpt
