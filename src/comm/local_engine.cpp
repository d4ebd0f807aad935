#include "src/comm/local_engine.hpp"

#include <cstring>

#include "src/comm/agreement.hpp"

namespace lpt {

LocalEngine::LocalEngine(std::shared_ptr<Team> team, int32_t rank, const EngineOptions &options)
    : team_(std::move(team)), options_(options) {
  rank_ = rank;
  ranks_ = team_->ranks();
}

Status LocalEngine::mismatch(const std::string &phrase) {
  const Status status(LPT_MISMATCH, phrase);
  team_->break_up(status);
  settle();  // before the caller's arrays go, which others are looking at
  return status;
}

Status LocalEngine::meet_all(const Ticket &ticket) {
  LPT_TRY(team_->meet(rank_, ticket, options_.timeout_seconds));
  is_meeting_ = true;
  for (int32_t q = 0; q < ranks_; ++q) {
    const std::string phrase = disagreement(rank_, ticket.signature, q, team_->ticket(q).signature);
    if (!phrase.empty()) return mismatch(phrase);
  }
  return {};
}

Status LocalEngine::swap(const Signature &signature, const Bytes *outgoing, Bytes *incoming) {
  LPT_TRY(meet_all({signature, outgoing, incoming, nullptr}));
  for (int32_t q = 0; q < ranks_; ++q) {
    if (q == rank_) continue;
    const Bytes &theirs = team_->ticket(q).outgoing[rank_];
    const std::string phrase = disagreement(rank_, signature.operation, incoming[q].count, q, theirs.count);
    if (!phrase.empty()) return mismatch(phrase);
    incoming[q].data = theirs.data;
    count(outgoing[q].count, incoming[q].count);
  }
  return {};
}

Status LocalEngine::release() {
  is_meeting_ = false;
  return team_->part(rank_);
}

void LocalEngine::settle() noexcept {
  if (!is_meeting_) return;
  team_->spoil(rank_);
  static_cast<void>(release());
}

Status LocalEngine::show(const Signature &signature, const void *face) {
  return meet_all({signature, nullptr, nullptr, face});
}

Status LocalEngine::send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  LPT_TRY(team_->state_of(peer));
  Message message{tag, signature, {}, {}};
  message.bytes.assign(bytes.data, bytes.data + bytes.count);
  team_->mailbox(rank_, peer).put(std::move(message));
  team_->wake();
  count(bytes.count, 0);
  return {};
}

Status LocalEngine::receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  Message message;
  bool is_over = false;
  const bool is_in_time = team_->wait(Deadline(options_.timeout_seconds), [&] {
    // First whether it has left: what it sent before is in the box then.
    is_over = team_->is_over_for(peer);
    return team_->mailbox(peer, rank_).take(tag, message) || is_over;
  });
  if (!is_in_time) {
    return Status(LPT_TIMEOUT, text("receive: rank %d sent nothing with tag %d within %g seconds", peer, tag,
                                    options_.timeout_seconds));
  }
  if (message.signature.operation == nullptr) return team_->state_of(peer);
  const std::string phrase = disagreement(rank_, signature, peer, message.signature);
  if (!phrase.empty()) return Status(LPT_MISMATCH, phrase);
  std::memcpy(bytes.data, message.bytes.data(), message.bytes.size());
  count(0, bytes.count);
  return {};
}

Status LocalEngine::split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) {
  const SplitWish wish{color, key};
  const Settled settled(*this);
  LPT_TRY(show({"split", 0, 0, 0, 0}, &wish));
  std::vector<SplitWish> wishes;
  for (int32_t q = 0; q < ranks_; ++q) wishes.push_back(*static_cast<const SplitWish *>(shown(q)));
  LPT_TRY(release());
  const uint64_t split = splits_++;
  if (color < 0) return {};
  const std::vector<int32_t> part = ranks_of_part(wishes, color);
  const std::shared_ptr<Team> team = team_->part_of({split, color}, static_cast<int32_t>(part.size()));
  out_engine = std::make_unique<LocalEngine>(team, place_in_part(part, rank_), options_);
  return {};
}

void LocalEngine::interrupt(const char *reason) noexcept {
  team_->break_up(make_last_status(LPT_ABORTED, [&] { return text("rank %d gave up: %s", rank_, reason); }));
}

}  // namespace lpt
