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

Status Post::start_own(int32_t peer, int32_t tag, std::vector<std::byte> &&bytes) {
  sending_.push_back({peer, tag, false, nullptr, std::move(bytes)});
  Sending &sending = sending_.back();
  const auto count = static_cast<int64_t>(sending.bytes.size());
  return link_->send(peer, tag, sending.bytes.data(), count, &sending.request);
}

Status Post::send(int32_t peer, const Letter &letter) { return start_own(peer, kLetterTag, letter.travelling()); }

Status Post::announce(int32_t peer, Letter &letter, const Bytes &payload, Parcel &out_parcel) {
  const bool is_inside = payload.count <= kInsideBytes;
  if (!is_inside) payload_tag_ = payload_tag_ % LPT_WIRE_LAST_TAG + 1;
  out_parcel = {is_inside ? 0 : payload_tag_, payload.count > 0 && ++payloads_ == damaged_payload_};
  letter.bytes = payload.count;
  letter.payload_tag = out_parcel.tag;
  letter.inside_bytes = is_inside ? static_cast<int32_t>(payload.count) : 0;
  if (is_inside && payload.count > 0) std::memcpy(letter.inside, payload.data, static_cast<size_t>(payload.count));
  if (is_inside && out_parcel.is_damaged) letter.inside[payload.count / 2] ^= kDamage;
  return send(peer, letter);
}

Status Post::start(int32_t peer, const Parcel &parcel, const Bytes &payload, Keeping keeping) {
  if (parcel.tag == 0) return {};
  if (keeping == Keeping::kBorrowed && !parcel.is_damaged) {
    sending_.push_back({peer, parcel.tag, true, nullptr, {}});
    return link_->send(peer, parcel.tag, payload.data, payload.count, &sending_.back().request);
  }
  std::vector<std::byte> bytes(payload.data, payload.data + payload.count);
  if (parcel.is_damaged) bytes[bytes.size() / 2] ^= kDamage;
  return start_own(peer, parcel.tag, std::move(bytes));
}

Status Post::take(Letter &out_letter, Link::Received &out_received, bool &out_has_come) {
  out_has_come = false;
  if (asked_ == nullptr) LPT_TRY(link_->receive(LPT_WIRE_ANY_RANK, kLetterTag, &next_, sizeof next_, &asked_));
  LPT_TRY(link_->test(&asked_, out_received));
  if (asked_ != nullptr) return {};
  out_letter = next_;
  out_has_come = true;
  return {};
}

Status Post::get_on() {
  for (auto sending = sending_.begin(); sending != sending_.end();) {
    Link::Received nothing;
    if (sending->request != nullptr) LPT_TRY(link_->test(&sending->request, nothing));
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
