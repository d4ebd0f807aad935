#include "src/comm/post.hpp"

#include <algorithm>
#include <cstring>

namespace lpt {
namespace {

constexpr int32_t kLetterTag = 0;
constexpr std::byte kDamage{0x80};

}  // namespace

Post::~Post() {
  for (Sending &sending : sending_) link_->abandon(&sending.request);
  link_->abandon(&asked_);
}

Status Post::start(int32_t peer, int32_t tag, const Bytes &borrowed) {
  sending_.push_back({peer, tag, true, nullptr, {}});
  return link_->send(peer, tag, borrowed.data, borrowed.count, &sending_.back().request);
}

Status Post::start(int32_t peer, int32_t tag, std::vector<std::byte> &&bytes) {
  sending_.push_back({peer, tag, false, nullptr, std::move(bytes)});
  Sending &sending = sending_.back();
  const auto count = static_cast<int64_t>(sending.bytes.size());
  return link_->send(peer, tag, sending.bytes.data(), count, &sending.request);
}

Status Post::send(int32_t peer, const Letter &letter) { return start(peer, kLetterTag, letter.travelling()); }

Status Post::send(int32_t peer, Letter &letter, const Bytes &payload, Payload kind) {
  letter.bytes = payload.count;
  const bool is_damaged = payload.count > 0 && ++payloads_ == damaged_payload_;
  const bool is_inside = payload.count <= kInsideBytes;
  letter.inside_bytes = is_inside ? static_cast<int32_t>(payload.count) : 0;
  letter.payload_tag = is_inside ? 0 : payload_tag_ = payload_tag_ % LPT_WIRE_LAST_TAG + 1;
  if (is_inside && payload.count > 0) std::memcpy(letter.inside, payload.data, static_cast<size_t>(payload.count));
  if (is_inside && is_damaged) letter.inside[payload.count / 2] ^= kDamage;
  LPT_TRY(send(peer, static_cast<const Letter &>(letter)));
  if (is_inside) return {};
  if (kind == Payload::kBorrowed && !is_damaged) return start(peer, letter.payload_tag, payload);
  std::vector<std::byte> bytes(payload.data, payload.data + payload.count);
  if (is_damaged) bytes[bytes.size() / 2] ^= kDamage;
  return start(peer, letter.payload_tag, std::move(bytes));
}

Status Post::take(Letter &out_letter, bool &out_has_come) {
  out_has_come = false;
  if (asked_ == nullptr) LPT_TRY(link_->receive(LPT_WIRE_ANY_RANK, kLetterTag, &next_, sizeof next_, &asked_));
  LPT_TRY(link_->test(&asked_));
  if (asked_ != nullptr) return {};
  if (next_.magic != kLetterMagic)
    return Status(LPT_MISMATCH, "ranks disagree: another release of LPT runs on one of them");
  out_letter = next_;
  out_has_come = true;
  return {};
}

Status Post::get_on() {
  for (auto sending = sending_.begin(); sending != sending_.end();) {
    if (sending->request != nullptr) LPT_TRY(link_->test(&sending->request));
    sending = sending->request == nullptr ? sending_.erase(sending) : std::next(sending);
  }
  return {};
}

bool Post::has_borrowed() const {
  return std::any_of(sending_.begin(), sending_.end(), [](const Sending &sending) { return sending.is_borrowed; });
}

template <typename Which>
void Post::abandon_if(const Which &which) {
  for (auto sending = sending_.begin(); sending != sending_.end();) {
    if (which(*sending)) link_->abandon(&sending->request);
    sending = which(*sending) ? sending_.erase(sending) : std::next(sending);
  }
}

void Post::abandon(int32_t peer) {
  abandon_if([&](const Sending &sending) { return sending.peer == peer; });
}

void Post::abandon_payloads() {
  abandon_if([](const Sending &sending) { return sending.tag != kLetterTag; });
}

}  // namespace lpt
