#include "src/comm/message_engine.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "src/comm/agreement.hpp"
#include "src/comm/backoff.hpp"
#include "src/comm/checksum.hpp"

namespace lpt {
namespace {

// Seconds that a closing engine waits until its last headers are sent.
constexpr double kFarewellSeconds = 1.0;

// Arguments of check_failures() instead of the sequence number of an exchange: all failures count, or none.
constexpr uint64_t kAllFailures = UINT64_MAX, kNoFailure = 0;

// Data that ranks exchange in a split.
struct SplitRequest {
  SplitKey key;
  int64_t next_comm;
};

EngineOptions options_of_part(EngineOptions options) {
  options.damaged_message = 0;  // payloads are counted on the parent comm only
  return options;
}

}  // namespace

MessageEngine::MessageEngine(std::unique_ptr<Endpoint> endpoint, int32_t rank, int32_t ranks,
                             const EngineOptions &options)
    : options_(options), channel_(std::move(endpoint), options.damaged_message), peers_(static_cast<size_t>(ranks)) {
  rank_ = rank;
  ranks_ = ranks;
}

MessageEngine::~MessageEngine() {
  const std::lock_guard<std::mutex> lock(work_);
  try {
    leave();
  } catch (const std::bad_alloc &) {
    // Other ranks detect the departure by their timeouts.
  }
}

// Locking, and interrupt().

// Runs every call, under the lock. An error is final. A concurrent interrupt() takes effect at the end of the call at the
// latest.
template <typename Work>
Status MessageEngine::run_locked(const Work &work) {
  Status status;
  {
    const std::lock_guard<std::mutex> lock(work_);
    status = check_interrupt();
    if (status.is_ok()) status = work();
    if (!status.is_ok()) status = fail(status, false);
  }
  answer_interrupt();
  return status;
}

// Notifying other ranks needs memory. If none is available, they detect the failure by their timeouts.
void MessageEngine::interrupt(const char *reason) noexcept {
  try {
    {
      const std::lock_guard<std::mutex> lock(reason_mutex_);
      if (is_interrupted_) return;
      is_interrupted_ = true;
      reason_ = reason;
    }
    answer_interrupt();
  } catch (const std::bad_alloc &) {
  }
}

// If another thread is in the engine, that thread handles the interrupt.
void MessageEngine::answer_interrupt() {
  if (!is_interrupted_) return;
  const std::unique_lock<std::mutex> lock(work_, std::try_to_lock);
  if (lock.owns_lock()) static_cast<void>(check_interrupt());
}

Status MessageEngine::check_interrupt() {
  if (!broken_.is_ok() || !is_interrupted_) return broken_;
  const std::lock_guard<std::mutex> lock(reason_mutex_);
  return fail(abort_status(reason_), true);
}

// Failure and departure.

Status MessageEngine::abort_status(const std::string &reason) const {
  return Status(LPT_ABORTED, text("rank %d gave up: %s", rank_, reason.c_str()));
}

Status MessageEngine::fail(const Status &status, bool is_same_for_all) {
  if (!broken_.is_ok()) return broken_;
  broken_ = status;
  drop_payloads();
  notify_all(MessageKind::kAborted, is_same_for_all ? status : abort_status(status.message()));
  return broken_;
}

void MessageEngine::drop_payloads() {
  for (PendingReceive &pending : pending_) channel_.endpoint().abandon(&pending.request);
  channel_.abandon_payloads();
}

void MessageEngine::notify_all(MessageKind kind, const Status &status) {
  MessageHeader header = make_header(kind, {"", 0, 0, 0, 0});
  header.from = rank_;
  header.sequence = finished_;
  header.code = status.code();
  header.eager_bytes = static_cast<int32_t>(std::min(static_cast<int64_t>(status.message().size()), kEagerBytes));
  std::memcpy(header.eager, status.message().data(), static_cast<size_t>(header.eager_bytes));
  header.checksum = checksum(header.eager, header.eager_bytes);
  for (int32_t q = 0; q < ranks_; ++q) {
    // Errors are ignored: if a send fails, the transports of the other ranks detect it.
    if (q != rank_ && !peers_[static_cast<size_t>(q)].has_left) static_cast<void>(channel_.send(q, header));
  }
}

// Completes the sends that other ranks wait for, then reports the departure.
void MessageEngine::leave() {
  if (broken_.is_ok()) {
    const auto is_idle = [&](bool &is_present) -> Status {
      is_present = channel_.is_idle();
      return {};
    };
    static_cast<void>(wait(Deadline(options_.timeout_seconds), kAllFailures, is_idle));
    if (broken_.is_ok()) notify_all(MessageKind::kHasLeft, {});
  }
  const Deadline farewell(kFarewellSeconds);
  for (Backoff backoff; !channel_.is_idle() && !farewell.is_over() && channel_.make_progress().is_ok();)
    backoff.pause(false);
}

// Waiting.

void MessageEngine::dispatch_header(const MessageHeader &header) {
  Peer &peer = peers_[static_cast<size_t>(header.from)];
  switch (header.kind) {
    case MessageKind::kExchange:
      peer.exchanges.push_back(header);
      break;
    case MessageKind::kMessage:
      peer.mail.push_back(header);
      break;
    case MessageKind::kHasLeft:
      peer.has_left = true;
      channel_.mark_left(header.from);
      break;
    case MessageKind::kAborted:
      if (failures_.status.is_ok() || header.sequence < failures_.finished)
        failures_ = {{header.code, header.words()}, header.sequence};
      break;
  }
}

Status MessageEngine::take_headers() {
  for (;;) {
    MessageHeader header;
    Endpoint::Received received;
    bool has_come = false;
    LPT_TRY(channel_.take(header, received, has_come));
    if (!has_come) return {};
    const std::string fault = fault_of(header, received, ranks_);
    // An invalid header is an immediate error, since only a later call may need the payload that it announces.
    if (!fault.empty()) {
      return fail(Status(LPT_MISMATCH, text("message header from rank %d: %s", received.peer, fault.c_str())), false);
    }
    dispatch_header(header);
  }
}

// Takes headers that have arrived and advances pending sends.
Status MessageEngine::look() {
  LPT_TRY(check_interrupt());
  LPT_TRY(take_headers());
  return channel_.make_progress();
}

// A rank that failed after exchange `sequence` has completed it, and so have all others: that failure does not count.
Status MessageEngine::check_failures(uint64_t sequence) {
  if (!broken_.is_ok() || failures_.status.is_ok() || failures_.finished >= sequence) return broken_;
  broken_ = failures_.status;
  drop_payloads();
  return broken_;
}

bool MessageEngine::has_active_transfers() const {
  const auto is_under_way = [](const PendingReceive &pending) { return pending.request != nullptr; };
  return channel_.has_borrowed() || std::any_of(pending_.begin(), pending_.end(), is_under_way);
}

// Advances transfers and calls step(is_present) until it sets is_present.
template <typename Step>
Status MessageEngine::wait(const Deadline &deadline, uint64_t sequence, const Step &step) {
  is_late_ = false;
  for (Backoff backoff;;) {
    // An error counts only after step(): the headers that have arrived may complete the wait.
    const Status seen = look();
    LPT_TRY(check_failures(sequence));
    bool is_present = false;
    LPT_TRY(step(is_present));
    if (is_present) return {};
    LPT_TRY(seen);
    if (deadline.is_over()) {
      is_late_ = true;
      return Status(LPT_TIMEOUT, "out of time");
    }
    // A transport that copies sends transfers bytes without polls.
    backoff.pause(!channel_.endpoint().copies_sends() && has_active_transfers());
  }
}

// Payloads.

uint64_t MessageEngine::sum_of(const Bytes &bytes) const {
  return options_.has_checksums && bytes.count > 0 ? checksum(bytes.data, bytes.count) : 0;
}

// Copies the payload that is inline in a header, or starts to receive the payload that the header announces.
Status MessageEngine::collect(const MessageHeader &header, PendingReceive &pending) {
  pending.is_announced = true;
  pending.checksum = header.checksum;
  if (header.payload_tag == 0) {
    if (header.bytes > 0) std::memcpy(pending.place.data, header.eager, static_cast<size_t>(header.bytes));
    return finish(pending, header.operation);
  }
  return channel_.endpoint().receive(pending.from, header.payload_tag, pending.place.data, pending.place.count,
                                     &pending.request);
}

Status MessageEngine::advance_payload(PendingReceive &pending, const char *operation) {
  Endpoint::Received received;
  LPT_TRY(channel_.endpoint().test(&pending.request, received));
  if (pending.request != nullptr) return {};
  const std::string phrase = describe_mismatch(rank_, operation, pending.place.count, pending.from, received.bytes);
  return phrase.empty() ? finish(pending, operation) : fail_all(LPT_MISMATCH, phrase);
}

Status MessageEngine::finish(PendingReceive &pending, const char *operation) {
  pending.is_present = true;
  if (sum_of(pending.place) == pending.checksum) return {};
  return Status(LPT_MISMATCH, text("%s: bytes from rank %d were damaged on their way", operation, pending.from));
}

// Exchanges.

Status MessageEngine::announce(const Signature &signature, const Bytes *outgoing) {
  MessageHeader header = make_header(MessageKind::kExchange, signature);
  header.from = rank_;
  header.sequence = sequence_;
  const std::byte *summed = nullptr;  // data of header.checksum: often the same for all ranks
  for (PendingReceive &pending : pending_) {
    const Bytes &mine = outgoing[pending.from];
    header.expected = pending.place.count;
    if (mine.data != summed || mine.count != header.bytes) header.checksum = sum_of(mine);
    summed = mine.data;
    LPT_TRY(channel_.announce(pending.from, header, mine, pending.payload_info));
    if (channel_.endpoint().copies_sends())
      LPT_TRY(channel_.start(pending.from, pending.payload_info, mine, MessageChannel::PayloadOwner::kBorrowed));
  }
  return {};
}

Status MessageEngine::check_exchange(const MessageHeader &header, const Signature &signature, int64_t outgoing,
                                     int64_t incoming) {
  std::string phrase = describe_mismatch(rank_, signature, header.from, header.signature());
  if (phrase.empty()) phrase = describe_mismatch(rank_, signature.operation, incoming, header.from, header.bytes);
  if (phrase.empty()) phrase = describe_mismatch(header.from, signature.operation, header.expected, rank_, outgoing);
  if (phrase.empty() && header.sequence != sequence_) {
    phrase =
        text("ranks disagree: rank %d is at exchange %llu, rank %d at %llu", rank_,
             static_cast<unsigned long long>(sequence_), header.from, static_cast<unsigned long long>(header.sequence));
  }
  return phrase.empty() ? Status() : fail_all(LPT_MISMATCH, phrase);
}

Status MessageEngine::advance_exchange(PendingReceive &pending, const Signature &signature, const Bytes &outgoing) {
  Peer &peer = peers_[static_cast<size_t>(pending.from)];
  if (pending.request != nullptr) return advance_payload(pending, signature.operation);
  if (!peer.exchanges.empty()) {
    const MessageHeader header = peer.exchanges.front();
    peer.exchanges.pop_front();
    LPT_TRY(check_exchange(header, signature, outgoing.count, pending.place.count));
    // Started only after the peer's header: a payload that is started but never received leaks memory.
    if (!channel_.endpoint().copies_sends()) {
      LPT_TRY(channel_.start(pending.from, pending.payload_info, outgoing, MessageChannel::PayloadOwner::kBorrowed));
    }
    return collect(header, pending);
  }
  if (!peer.has_left) return {};
  return fail_all(LPT_ABORTED, text("%s: rank %d has left", signature.operation, pending.from));
}

std::string MessageEngine::missing() const {
  std::vector<int32_t> ranks;
  for (const PendingReceive &pending : pending_) {
    if (!pending.is_present) ranks.push_back(pending.from);
  }
  std::sort(ranks.begin(), ranks.end());
  std::string words;
  for (const int32_t rank : ranks) words += (words.empty() ? "" : ", ") + std::to_string(rank);
  return words;
}

Status MessageEngine::exchange_all(const Signature &signature, const Bytes *outgoing, Bytes *incoming) {
  ++sequence_;
  operation_ = signature.operation;
  pending_.clear();
  for (int32_t i = 1; i < ranks_; ++i) {
    const int32_t q = (rank_ + i) % ranks_;  // staggered: not all ranks send to rank 0 first
    pending_.push_back({q, incoming[q], {}});
  }
  LPT_TRY(announce(signature, outgoing));
  const Status status = wait(Deadline(options_.timeout_seconds), sequence_, [&](bool &is_present) -> Status {
    is_present = true;
    for (PendingReceive &pending : pending_) {
      if (!pending.is_present) LPT_TRY(advance_exchange(pending, signature, outgoing[pending.from]));
      is_present = is_present && pending.is_present;
    }
    return {};
  });
  if (is_late_ && broken_.is_ok()) {
    return fail_all(LPT_TIMEOUT, text("%s: rank %s did not come within %g seconds", signature.operation,
                                      missing().c_str(), options_.timeout_seconds));
  }
  LPT_TRY(status);
  for (const PendingReceive &pending : pending_) count(outgoing[pending.from].count, pending.place.count);
  return {};
}

Status MessageEngine::release_all() {
  const Status status = wait(Deadline(options_.timeout_seconds), sequence_, [&](bool &is_present) -> Status {
    is_present = !channel_.has_borrowed();
    return {};
  });
  if (status.is_ok()) finished_ = sequence_;
  if (!is_late_ || !broken_.is_ok()) return status;
  return fail_all(LPT_TIMEOUT, text("%s: bytes of rank %d were not taken within %g seconds", operation_, rank_,
                                    options_.timeout_seconds));
}

Status MessageEngine::all_to_all_v(const Signature &signature, const Bytes *outgoing, Bytes *incoming) {
  return run_locked([&] { return exchange_all(signature, outgoing, incoming); });
}

Status MessageEngine::release() {
  return run_locked([&] { return release_all(); });
}

void MessageEngine::complete_exchange() noexcept {
  const std::lock_guard<std::mutex> lock(work_);
  if (!has_active_transfers()) return;
  try {
    static_cast<void>(fail(abort_status(text("%s was not finished", operation_)), true));
  } catch (const std::bad_alloc &) {
    drop_payloads();  // other ranks must not access bytes that the caller frees
  }
}

Status MessageEngine::publish(const Signature &signature, const void *) {
  return Status(LPT_INTERNAL, text("%s: ranks that send messages have nothing to show", signature.operation));
}

// Messages between two ranks.

Status MessageEngine::send_mail(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  LPT_TRY(look());
  LPT_TRY(check_failures(kAllFailures));
  if (peers_[static_cast<size_t>(peer)].has_left) {
    return fail_all(LPT_ABORTED, text("%s: rank %d has left", signature.operation, peer));
  }
  MessageHeader header = make_header(MessageKind::kMessage, signature);
  header.from = rank_;
  header.tag = tag;
  header.checksum = sum_of(bytes);
  // The payload is copied: two ranks may send to each other before they receive.
  MessageChannel::PayloadInfo payload_info;
  LPT_TRY(channel_.announce(peer, header, bytes, payload_info));
  LPT_TRY(channel_.start(peer, payload_info, bytes, MessageChannel::PayloadOwner::kCopied));
  count(bytes.count, 0);
  return look();
}

Status MessageEngine::advance_mail(PendingReceive &pending, const Signature &signature, int32_t tag) {
  if (pending.request != nullptr) return advance_payload(pending, signature.operation);
  Peer &peer = peers_[static_cast<size_t>(pending.from)];
  const auto header =
      std::find_if(peer.mail.begin(), peer.mail.end(), [&](const MessageHeader &l) { return l.tag == tag; });
  if (header == peer.mail.end()) {
    if (!peer.has_left) return {};
    return fail_all(LPT_ABORTED, text("receive: rank %d has left", pending.from));
  }
  std::string phrase = describe_mismatch(rank_, signature, pending.from, header->signature());
  if (phrase.empty())
    phrase = describe_mismatch(rank_, signature.operation, pending.place.count, pending.from, header->bytes);
  if (!phrase.empty()) return fail_all(LPT_MISMATCH, phrase);
  const MessageHeader copy = *header;
  peer.mail.erase(header);
  return collect(copy, pending);
}

Status MessageEngine::receive_mail(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  pending_.assign(1, {peer, bytes});
  const Status status = wait(Deadline(options_.timeout_seconds), kNoFailure, [&](bool &is_present) -> Status {
    LPT_TRY(advance_mail(pending_.front(), signature, tag));
    is_present = pending_.front().is_present;
    return is_present ? Status() : check_failures(kAllFailures);
  });
  if (is_late_ && broken_.is_ok()) {
    return fail_all(LPT_TIMEOUT, text("receive: rank %d sent nothing with tag %d within %g seconds", peer, tag,
                                      options_.timeout_seconds));
  }
  LPT_TRY(status);
  count(0, bytes.count);
  return {};
}

Status MessageEngine::send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  return run_locked([&] { return send_mail(signature, peer, tag, bytes); });
}

Status MessageEngine::receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  return run_locked([&] { return receive_mail(signature, peer, tag, bytes); });
}

// Splits.

Status MessageEngine::split_parts(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) {
  SplitRequest mine{{color, key}, *next_comm_};
  std::vector<SplitRequest> all(static_cast<size_t>(ranks_), mine);
  std::vector<Bytes> outgoing, incoming;
  for (SplitRequest &each : all) {
    outgoing.push_back({reinterpret_cast<std::byte *>(&mine), sizeof mine});
    incoming.push_back({reinterpret_cast<std::byte *>(&each), sizeof each});
  }
  LPT_TRY(exchange_all({"split", 0, 0, 0, 0}, outgoing.data(), incoming.data()));
  LPT_TRY(release_all());
  LPT_TRY(check_failures(kAllFailures));
  std::vector<SplitKey> keys;
  int64_t number = 0;
  for (const SplitRequest &each : all) {
    keys.push_back(each.key);
    number = std::max(number, each.next_comm);
  }
  *next_comm_ = number + 1;
  const std::vector<int32_t> part = color < 0 ? std::vector<int32_t>() : subgroup_ranks(keys, color);
  std::unique_ptr<Endpoint> endpoint;
  LPT_TRY(channel_.endpoint().split(part, number, options_.timeout_seconds, endpoint));
  if (endpoint != nullptr) {
    auto engine = std::make_unique<MessageEngine>(std::move(endpoint), rank_in_subgroup(part, rank_),
                                                  static_cast<int32_t>(part.size()), options_of_part(options_));
    engine->next_comm_ = next_comm_;
    out_engine = std::move(engine);
  }
  // A rank that failed reports it on this comm, as it has no endpoint in the subgroup.
  for (Bytes &bytes : outgoing) bytes.count = 0;
  for (Bytes &bytes : incoming) bytes.count = 0;
  LPT_TRY(exchange_all({"split, all there", 0, 0, 0, 0}, outgoing.data(), incoming.data()));
  return release_all();
}

Status MessageEngine::split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) {
  return run_locked([&] { return split_parts(color, key, out_engine); });
}

}  // namespace lpt
