#include "src/comm/message_channel.hpp"

#include <algorithm>
#include <cstring>

namespace lpt {
namespace {

constexpr int32_t kHeaderTag = 0;
constexpr std::byte kDamage{0x80};

}  // namespace

MessageChannel::~MessageChannel() {
  for (PendingSend &sending : pending_sends_) endpoint_->abandon(&sending.request);
  endpoint_->abandon(&next_request_);
}

Status MessageChannel::start_own(int32_t peer, int32_t tag, std::vector<std::byte> &&bytes) {
  pending_sends_.push_back({peer, tag, false, nullptr, std::move(bytes)});
  PendingSend &sending = pending_sends_.back();
  const auto count = static_cast<int64_t>(sending.bytes.size());
  return endpoint_->send(peer, tag, sending.bytes.data(), count, &sending.request);
}

Status MessageChannel::send(int32_t peer, const MessageHeader &header) {
  return start_own(peer, kHeaderTag, header.bytes_to_send());
}

Status MessageChannel::announce(int32_t peer, MessageHeader &header, const Bytes &payload,
                                PayloadInfo &out_payload_info) {
  const bool is_inside = payload.count <= kEagerBytes;
  if (!is_inside) payload_tag_ = payload_tag_ % LPT_WIRE_LAST_TAG + 1;
  out_payload_info = {is_inside ? 0 : payload_tag_, payload.count > 0 && ++payloads_ == damaged_payload_};
  header.bytes = payload.count;
  header.payload_tag = out_payload_info.tag;
  header.eager_bytes = is_inside ? static_cast<int32_t>(payload.count) : 0;
  if (is_inside && payload.count > 0) std::memcpy(header.eager, payload.data, static_cast<size_t>(payload.count));
  if (is_inside && out_payload_info.is_damaged) header.eager[payload.count / 2] ^= kDamage;
  return send(peer, header);
}

Status MessageChannel::start(int32_t peer, const PayloadInfo &payload_info, const Bytes &payload,
                             PayloadOwner keeping) {
  if (payload_info.tag == 0) return {};
  if (keeping == PayloadOwner::kBorrowed && !payload_info.is_damaged) {
    pending_sends_.push_back({peer, payload_info.tag, true, nullptr, {}});
    return endpoint_->send(peer, payload_info.tag, payload.data, payload.count, &pending_sends_.back().request);
  }
  std::vector<std::byte> bytes(payload.data, payload.data + payload.count);
  if (payload_info.is_damaged) bytes[bytes.size() / 2] ^= kDamage;
  return start_own(peer, payload_info.tag, std::move(bytes));
}

Status MessageChannel::take(MessageHeader &out_header, Endpoint::Received &out_received, bool &out_has_arrived) {
  out_has_arrived = false;
  if (next_request_ == nullptr)
    LPT_TRY(endpoint_->receive(LPT_WIRE_ANY_RANK, kHeaderTag, &next_, sizeof next_, &next_request_));
  LPT_TRY(endpoint_->test(&next_request_, out_received));
  if (next_request_ != nullptr) return {};
  out_header = next_;
  out_has_arrived = true;
  return {};
}

Status MessageChannel::make_progress() {
  for (auto sending = pending_sends_.begin(); sending != pending_sends_.end();) {
    Endpoint::Received nothing;
    if (sending->request != nullptr) LPT_TRY(endpoint_->test(&sending->request, nothing));
    sending = sending->request == nullptr ? pending_sends_.erase(sending) : std::next(sending);
  }
  return {};
}

bool MessageChannel::has_borrowed() const {
  return std::any_of(pending_sends_.begin(), pending_sends_.end(),
                     [](const PendingSend &sending) { return sending.is_borrowed; });
}

bool MessageChannel::is_idle() const {
  return std::all_of(pending_sends_.begin(), pending_sends_.end(),
                     [](const PendingSend &sending) { return sending.has_peer_left; });
}

void MessageChannel::mark_left(int32_t peer) {
  for (PendingSend &sending : pending_sends_) sending.has_peer_left = sending.has_peer_left || sending.peer == peer;
}

void MessageChannel::abandon_payloads() {
  for (auto sending = pending_sends_.begin(); sending != pending_sends_.end();) {
    const bool is_payload = sending->tag != kHeaderTag;
    if (is_payload) endpoint_->abandon(&sending->request);
    sending = is_payload ? pending_sends_.erase(sending) : std::next(sending);
  }
}

}  // namespace lpt
