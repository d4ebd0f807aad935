#include "src/comm/message_engine.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "src/comm/agreement.hpp"
#include "src/comm/checksum.hpp"
#include "src/comm/patience.hpp"

namespace lpt {
namespace {

// What a rank that ends waits for its last words to be taken.
constexpr double kFarewellSeconds = 1.0;

// In place of a swap's turn: all news are heeded, or none.
constexpr uint64_t kAllNews = UINT64_MAX, kNoNews = 0;

EngineOptions options_of_part(EngineOptions options) {
  options.damaged_message = 0;  // counted on the whole
  return options;
}

}  // namespace

MessageEngine::MessageEngine(std::unique_ptr<Link> link, int32_t rank, int32_t ranks, const EngineOptions &options)
    : options_(options), post_(std::move(link), options.damaged_message), peers_(static_cast<size_t>(ranks)) {
  rank_ = rank;
  ranks_ = ranks;
}

MessageEngine::~MessageEngine() {
  const std::lock_guard<std::mutex> lock(work_);
  try {
    leave();
  } catch (const std::bad_alloc &) {
    // Then the others find out by their time limits.
  }
}

// ---- one thread at a time, and interrupt()

// Every call runs as such a turn. An error is final; whoever interrupts meanwhile is answered at the end, at the latest.
template <typename Work>
Status MessageEngine::take_turn(const Work &work) {
  Status status;
  {
    const std::lock_guard<std::mutex> lock(work_);
    status = heed_interrupt();
    if (status.is_ok()) status = work();
    if (!status.is_ok()) status = fail(status, false);
  }
  answer_interrupt();
  return status;
}

// Telling the others takes memory. Where there is none they find out by their time limits.
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

// Where a thread is in the engine, that one does it.
void MessageEngine::answer_interrupt() {
  if (!is_interrupted_) return;
  const std::unique_lock<std::mutex> lock(work_, std::try_to_lock);
  if (lock.owns_lock()) static_cast<void>(heed_interrupt());
}

Status MessageEngine::heed_interrupt() {
  if (!broken_.is_ok() || !is_interrupted_) return broken_;
  const std::lock_guard<std::mutex> lock(reason_mutex_);
  return fail(gave_up(reason_), true);
}

// ---- the end of it

Status MessageEngine::gave_up(const std::string &reason) const {
  return Status(LPT_ABORTED, text("rank %d gave up: %s", rank_, reason.c_str()));
}

Status MessageEngine::fail(const Status &status, bool is_same_for_all) {
  if (!broken_.is_ok()) return broken_;
  broken_ = status;
  drop_payloads();
  tell_all(LetterKind::kGaveUp, is_same_for_all ? status : gave_up(status.message()));
  return broken_;
}

void MessageEngine::drop_payloads() {
  for (Coming &coming : coming_) post_.link().abandon(&coming.request);
  post_.abandon_payloads();
}

void MessageEngine::tell_all(LetterKind kind, const Status &status) {
  Letter letter = make_letter(kind, {"", 0, 0, 0, 0});
  letter.from = rank_;
  letter.turn = finished_;
  letter.code = status.code();
  letter.inside_bytes = static_cast<int32_t>(std::min(static_cast<int64_t>(status.message().size()), kInsideBytes));
  std::memcpy(letter.inside, status.message().data(), static_cast<size_t>(letter.inside_bytes));
  letter.checksum = checksum(letter.inside, letter.inside_bytes);
  for (int32_t q = 0; q < ranks_; ++q) {
    // A wire that takes no more letters has news of its own for the others.
    if (q != rank_ && !peers_[static_cast<size_t>(q)].has_left) static_cast<void>(post_.send(q, letter));
  }
}

// First what others still wait for, then that nothing more will come.
void MessageEngine::leave() {
  if (broken_.is_ok()) {
    const auto is_idle = [&](bool &is_there) -> Status {
      is_there = post_.is_idle();
      return {};
    };
    static_cast<void>(wait(Deadline(options_.timeout_seconds), kAllNews, is_idle));
    if (broken_.is_ok()) tell_all(LetterKind::kHasLeft, {});
  }
  const Deadline farewell(kFarewellSeconds);
  for (Patience patience; !post_.is_idle() && !farewell.is_over() && post_.get_on().is_ok();) patience.rest(false);
}

// ---- waiting

void MessageEngine::sort_in(const Letter &letter) {
  Peer &peer = peers_[static_cast<size_t>(letter.from)];
  switch (letter.kind) {
    case LetterKind::kSwap:
      peer.swaps.push_back(letter);
      break;
    case LetterKind::kMail:
      peer.mail.push_back(letter);
      break;
    case LetterKind::kHasLeft:
      peer.has_left = true;
      post_.abandon(letter.from);
      break;
    case LetterKind::kGaveUp:
      if (news_.status.is_ok() || letter.turn < news_.finished) news_ = {{letter.code, letter.words()}, letter.turn};
      break;
  }
}

Status MessageEngine::take_letters() {
  for (;;) {
    Letter letter;
    Link::Received received;
    bool has_come = false;
    LPT_TRY(post_.take(letter, received, has_come));
    if (!has_come) return {};
    const std::string fault = fault_of(letter, received, ranks_);
    // Final at once: what it announced may be needed by a later call only.
    if (!fault.empty()) {
      return fail(Status(LPT_MISMATCH, text("message header from rank %d: %s", received.peer, fault.c_str())), false);
    }
    sort_in(letter);
  }
}

// Takes what has come, gets on what is under way.
Status MessageEngine::look() {
  LPT_TRY(heed_interrupt());
  LPT_TRY(take_letters());
  return post_.get_on();
}

// A rank that gave up after the swap at hand has done its part in it, and so have all others.
Status MessageEngine::heed_news(uint64_t turn) {
  if (!broken_.is_ok() || news_.status.is_ok() || news_.finished >= turn) return broken_;
  broken_ = news_.status;
  drop_payloads();
  return broken_;
}

bool MessageEngine::are_bytes_under_way() const {
  const auto is_under_way = [](const Coming &coming) { return coming.request != nullptr; };
  return post_.has_borrowed() || std::any_of(coming_.begin(), coming_.end(), is_under_way);
}

// Looks and steps until step(is_there) says so.
template <typename Step>
Status MessageEngine::wait(const Deadline &deadline, uint64_t turn, const Step &step) {
  for (Patience patience;;) {
    // What has come counts, even if it was the last that could come.
    const Status seen = look();
    LPT_TRY(heed_news(turn));
    bool is_there = false;
    LPT_TRY(step(is_there));
    if (is_there) return {};
    LPT_TRY(seen);
    if (deadline.is_over()) return Status(LPT_TIMEOUT, "out of time");
    // Bytes of a wire that copies them do not move as we look.
    patience.rest(!post_.link().copies_sends() && are_bytes_under_way());
  }
}

// ---- payloads

uint64_t MessageEngine::sum_of(const Bytes &bytes) const {
  return options_.has_checksums && bytes.count > 0 ? checksum(bytes.data, bytes.count) : 0;
}

// The payload that a letter announces, or holds.
Status MessageEngine::collect(const Letter &letter, Coming &coming) {
  coming.is_announced = true;
  coming.checksum = letter.checksum;
  if (letter.payload_tag == 0) {
    if (letter.bytes > 0) std::memcpy(coming.place.data, letter.inside, static_cast<size_t>(letter.bytes));
    return finish(coming, letter.operation);
  }
  return post_.link().receive(coming.from, letter.payload_tag, coming.place.data, coming.place.count, &coming.request);
}

Status MessageEngine::advance_payload(Coming &coming, const char *operation) {
  Link::Received received;
  LPT_TRY(post_.link().test(&coming.request, received));
  if (coming.request != nullptr) return {};
  const std::string phrase = disagreement(rank_, operation, coming.place.count, coming.from, received.bytes);
  return phrase.empty() ? finish(coming, operation) : fail_alike(LPT_MISMATCH, phrase);
}

Status MessageEngine::finish(Coming &coming, const char *operation) {
  coming.is_there = true;
  if (sum_of(coming.place) == coming.checksum) return {};
  return Status(LPT_MISMATCH, text("%s: bytes from rank %d were damaged on their way", operation, coming.from));
}

// ---- swaps

Status MessageEngine::announce(const Signature &signature, const Bytes *outgoing) {
  Letter letter = make_letter(LetterKind::kSwap, signature);
  letter.from = rank_;
  letter.turn = turn_;
  const std::byte *summed = nullptr;  // often the same for all
  for (Coming &coming : coming_) {
    const Bytes &mine = outgoing[coming.from];
    letter.expected = coming.place.count;
    if (mine.data != summed || mine.count != letter.bytes) letter.checksum = sum_of(mine);
    summed = mine.data;
    LPT_TRY(post_.announce(coming.from, letter, mine, coming.parcel));
    if (post_.link().copies_sends()) LPT_TRY(post_.start(coming.from, coming.parcel, mine, Post::Keeping::kBorrowed));
  }
  return {};
}

Status MessageEngine::check_swap(const Letter &letter, const Signature &signature, int64_t outgoing, int64_t incoming) {
  std::string phrase = disagreement(rank_, signature, letter.from, letter.signature());
  if (phrase.empty()) phrase = disagreement(rank_, signature.operation, incoming, letter.from, letter.bytes);
  if (phrase.empty()) phrase = disagreement(letter.from, signature.operation, letter.expected, rank_, outgoing);
  if (phrase.empty() && letter.turn != turn_) {
    phrase = text("ranks disagree: rank %d is at exchange %llu, rank %d at %llu", rank_,
                  static_cast<unsigned long long>(turn_), letter.from, static_cast<unsigned long long>(letter.turn));
  }
  return phrase.empty() ? Status() : fail_alike(LPT_MISMATCH, phrase);
}

Status MessageEngine::advance_swap(Coming &coming, const Signature &signature, const Bytes &outgoing) {
  Peer &peer = peers_[static_cast<size_t>(coming.from)];
  if (coming.request != nullptr) return advance_payload(coming, signature.operation);
  if (!peer.swaps.empty()) {
    const Letter letter = peer.swaps.front();
    peer.swaps.pop_front();
    LPT_TRY(check_swap(letter, signature, outgoing.count, coming.place.count));
    // Not before: memory is lost to what was started and is not taken.
    if (!post_.link().copies_sends()) {
      LPT_TRY(post_.start(coming.from, coming.parcel, outgoing, Post::Keeping::kBorrowed));
    }
    return collect(letter, coming);
  }
  if (!peer.has_left) return {};
  return fail_alike(LPT_ABORTED, text("%s: rank %d has left", signature.operation, coming.from));
}

std::string MessageEngine::missing() const {
  std::vector<int32_t> ranks;
  for (const Coming &coming : coming_) {
    if (!coming.is_there) ranks.push_back(coming.from);
  }
  std::sort(ranks.begin(), ranks.end());
  std::string words;
  for (const int32_t rank : ranks) words += (words.empty() ? "" : ", ") + std::to_string(rank);
  return words;
}

Status MessageEngine::swap_all(const Signature &signature, const Bytes *outgoing, Bytes *incoming) {
  ++turn_;
  operation_ = signature.operation;
  coming_.clear();
  for (int32_t i = 1; i < ranks_; ++i) {
    const int32_t q = (rank_ + i) % ranks_;  // not all to rank 0 at first
    coming_.push_back({q, incoming[q], {}});
  }
  LPT_TRY(announce(signature, outgoing));
  const Status status = wait(Deadline(options_.timeout_seconds), turn_, [&](bool &is_there) -> Status {
    is_there = true;
    for (Coming &coming : coming_) {
      if (!coming.is_there) LPT_TRY(advance_swap(coming, signature, outgoing[coming.from]));
      is_there = is_there && coming.is_there;
    }
    return {};
  });
  if (status.code() == LPT_TIMEOUT && broken_.is_ok()) {
    return fail_alike(LPT_TIMEOUT, text("%s: rank %s did not come within %g seconds", signature.operation,
                                        missing().c_str(), options_.timeout_seconds));
  }
  LPT_TRY(status);
  for (const Coming &coming : coming_) count(outgoing[coming.from].count, coming.place.count);
  return {};
}

Status MessageEngine::release_all() {
  const Status status = wait(Deadline(options_.timeout_seconds), turn_, [&](bool &is_there) -> Status {
    is_there = !post_.has_borrowed();
    return {};
  });
  if (status.is_ok()) finished_ = turn_;
  if (status.code() != LPT_TIMEOUT || !broken_.is_ok()) return status;
  return fail_alike(LPT_TIMEOUT, text("%s: bytes of rank %d were not taken within %g seconds", operation_, rank_,
                                      options_.timeout_seconds));
}

Status MessageEngine::swap(const Signature &signature, const Bytes *outgoing, Bytes *incoming) {
  return take_turn([&] { return swap_all(signature, outgoing, incoming); });
}

Status MessageEngine::release() {
  return take_turn([&] { return release_all(); });
}

void MessageEngine::settle() noexcept {
  const std::lock_guard<std::mutex> lock(work_);
  if (!are_bytes_under_way()) return;
  try {
    static_cast<void>(fail(gave_up(text("%s was not finished", operation_)), true));
  } catch (const std::bad_alloc &) {
    drop_payloads();  // others may no longer be at bytes that go
  }
}

Status MessageEngine::show(const Signature &signature, const void *) {
  return Status(LPT_INTERNAL, text("%s: ranks that send messages have nothing to show", signature.operation));
}

// ---- mail

Status MessageEngine::send_mail(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  LPT_TRY(look());
  LPT_TRY(heed_news(kAllNews));
  if (peers_[static_cast<size_t>(peer)].has_left) {
    return fail_alike(LPT_ABORTED, text("%s: rank %d has left", signature.operation, peer));
  }
  Letter letter = make_letter(LetterKind::kMail, signature);
  letter.from = rank_;
  letter.tag = tag;
  letter.checksum = sum_of(bytes);
  // Copied: two ranks may send to each other before they receive.
  Post::Parcel parcel;
  LPT_TRY(post_.announce(peer, letter, bytes, parcel));
  LPT_TRY(post_.start(peer, parcel, bytes, Post::Keeping::kCopied));
  count(bytes.count, 0);
  return look();
}

Status MessageEngine::advance_mail(Coming &coming, const Signature &signature, int32_t tag) {
  if (coming.request != nullptr) return advance_payload(coming, signature.operation);
  Peer &peer = peers_[static_cast<size_t>(coming.from)];
  const auto letter = std::find_if(peer.mail.begin(), peer.mail.end(), [&](const Letter &l) { return l.tag == tag; });
  if (letter == peer.mail.end()) {
    if (!peer.has_left) return {};
    return fail_alike(LPT_ABORTED, text("receive: rank %d has left", coming.from));
  }
  std::string phrase = disagreement(rank_, signature, coming.from, letter->signature());
  if (phrase.empty()) phrase = disagreement(rank_, signature.operation, coming.place.count, coming.from, letter->bytes);
  if (!phrase.empty()) return fail_alike(LPT_MISMATCH, phrase);
  const Letter copy = *letter;
  peer.mail.erase(letter);
  return collect(copy, coming);
}

Status MessageEngine::receive_mail(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  coming_.assign(1, {peer, bytes});
  const Status status = wait(Deadline(options_.timeout_seconds), kNoNews, [&](bool &is_there) -> Status {
    LPT_TRY(advance_mail(coming_.front(), signature, tag));
    is_there = coming_.front().is_there;
    return is_there ? Status() : heed_news(kAllNews);
  });
  if (status.code() == LPT_TIMEOUT && broken_.is_ok()) {
    return fail_alike(LPT_TIMEOUT, text("receive: rank %d sent nothing with tag %d within %g seconds", peer, tag,
                                        options_.timeout_seconds));
  }
  LPT_TRY(status);
  count(0, bytes.count);
  return {};
}

Status MessageEngine::send(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  return take_turn([&] { return send_mail(signature, peer, tag, bytes); });
}

Status MessageEngine::receive(const Signature &signature, int32_t peer, int32_t tag, const Bytes &bytes) {
  return take_turn([&] { return receive_mail(signature, peer, tag, bytes); });
}

// ---- parts

Status MessageEngine::split_parts(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) {
  std::vector<SplitWish> wishes(static_cast<size_t>(ranks_), {color, key});
  std::vector<Bytes> outgoing, incoming;
  SplitWish mine{color, key};
  for (SplitWish &wish : wishes) {
    outgoing.push_back({reinterpret_cast<std::byte *>(&mine), sizeof mine});
    incoming.push_back({reinterpret_cast<std::byte *>(&wish), sizeof wish});
  }
  LPT_TRY(swap_all({"split", 0, 0, 0, 0}, outgoing.data(), incoming.data()));
  LPT_TRY(release_all());
  LPT_TRY(heed_news(kAllNews));
  const std::vector<int32_t> part = color < 0 ? std::vector<int32_t>() : ranks_of_part(wishes, color);
  std::unique_ptr<Link> link;
  LPT_TRY(post_.link().split(part, options_.timeout_seconds, link));
  if (link != nullptr) {
    out_engine = std::make_unique<MessageEngine>(std::move(link), place_in_part(part, rank_),
                                                 static_cast<int32_t>(part.size()), options_of_part(options_));
  }
  // A rank that failed tells so here: in a part that it has not made nobody would hear of it.
  for (Bytes &bytes : outgoing) bytes.count = 0;
  for (Bytes &bytes : incoming) bytes.count = 0;
  LPT_TRY(swap_all({"split, all there", 0, 0, 0, 0}, outgoing.data(), incoming.data()));
  return release_all();
}

Status MessageEngine::split(int32_t color, int32_t key, std::unique_ptr<Engine> &out_engine) {
  return take_turn([&] { return split_parts(color, key, out_engine); });
}

}  // namespace lpt
