#include "src/comm/local/local_engine.hpp"

#include <cstring>

#include "src/comm/agreement.hpp"

namespace lpt {

LocalEngine::LocalEngine(std::shared_ptr<LocalGroup> group, int32_t rank, const EngineOptions &options)
    : group_(std::move(group)), options_(options) {
  rank_ = rank;
  ranks_ = group_->ranks();
}

Status LocalEngine::mismatch(const std::string &phrase) {
  const Status status(LPT_MISMATCH, phrase);
  group_->abort_all(status);
  complete_exchange();  // other ranks may still read arrays of the caller
  return status;
}

Status LocalEngine::publish_all(const PublishedBuffers &buffers) {
  LPT_TRY(group_->barrier(rank_, buffers, options_.timeout_seconds));
  is_exchanging_ = true;
  for (int32_t q = 0; q < ranks_; ++q) {
    const std::string phrase = describe_mismatch(rank_, buffers.signature, q, group_->buffers(q).signature);
    if (!phrase.empty()) return mismatch(phrase);
  }
  return {};
}

Status LocalEngine::all_to_all_v(const Signature &signature, const Bytes *outgoing, Bytes *incoming) {
  LPT_TRY(publish_all({signature, outgoing, incoming, nullptr}));
  for (int32_t q = 0; q < ranks_; ++q) {
    if (q == rank_) continue;
    const Bytes &theirs = group_->buffers(q).outgoing[rank_];
    const std::string phrase = describe_mismatch(rank_, signature.operation, incoming[q].count, q, theirs.count);
    if (!phrase.empty()) return mismatch(phrase);
    incoming[q].data = theirs.data;
    count(outgoing[q].count, incoming[q].count);
  }
  return {};
}

Status LocalEngine::release() {
  is_exchanging_ = false;
  return group_->part(rank_);
}

void LocalEngine::complete_exchange() noexcept {
  if (!is_exchanging_) return;
  group_->mark_failed(rank_);
  static_cast<void>(release());
}

Status LocalEngine::publish(const Signature &signature, const void *face) {
  return publish_all({signature, nullptr, nullptr, face});
}

Status LocalEngine::send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  LPT_TRY(group_->state_of(peer));
  Message message{tag, signature, {}, {}};
  message.bytes.assign(bytes.data, bytes.data + bytes.count);
  group_->message_queue(rank_, peer).put(std::move(message));
  group_->wake();
  count(bytes.count, 0);
  return {};
}

Status LocalEngine::receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  Message message;
  bool is_over = false;
  const bool is_in_time = group_->wait(Deadline(options_.timeout_seconds), [&] {
    // Departure is tested first: messages that the peer sent before it are then in the queue.
    is_over = group_->is_over_for(peer);
    return group_->message_queue(peer, rank_).take(tag, message) || is_over;
  });
  if (!is_in_time) {
    return Status(LPT_TIMEOUT, text("receive: rank %d sent nothing with tag %d within %g seconds", peer, tag,
                                    options_.timeout_seconds));
  }
  if (message.signature.operation == nullptr) return group_->state_of(peer);
  const std::string phrase = describe_mismatch(rank_, signature, peer, message.signature);
  if (!phrase.empty()) return Status(LPT_MISMATCH, phrase);
  std::memcpy(bytes.data, message.bytes.data(), message.bytes.size());
  count(0, bytes.count);
  return {};
}

Status LocalEngine::split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) {
  const SplitKey own{color, key};
  const ExchangeGuard guard(*this);
  LPT_TRY(publish({"split", 0, 0, 0, 0}, &own));
  std::vector<SplitKey> keys;
  for (int32_t q = 0; q < ranks_; ++q) keys.push_back(*static_cast<const SplitKey *>(published(q)));
  LPT_TRY(release());
  const uint64_t split = splits_++;
  if (color < 0) return {};
  const std::vector<int32_t> part = subgroup_ranks(keys, color);
  const std::shared_ptr<LocalGroup> group = group_->part_of({split, color}, static_cast<int32_t>(part.size()));
  out_engine = std::make_unique<LocalEngine>(group, rank_in_subgroup(part, rank_), options_);
  return {};
}

void LocalEngine::interrupt(const char *reason) noexcept {
  group_->abort_all(make_last_status(LPT_ABORTED, [&] { return text("rank %d gave up: %s", rank_, reason); }));
}

}  // namespace lpt
