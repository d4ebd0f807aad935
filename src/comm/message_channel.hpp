// Headers and payloads of one endpoint: pending sends, and the ownership of their bytes until completion.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "src/comm/endpoint.hpp"
#include "src/comm/message_header.hpp"

namespace lpt {

class MessageChannel {
 public:
  // `damaged_payload`: the payload of this rank to damage, for tests, counted from 1; 0: none.
  MessageChannel(std::unique_ptr<Endpoint> endpoint, int64_t damaged_payload)
      : endpoint_(std::move(endpoint)), damaged_payload_(damaged_payload) {}
  MessageChannel(const MessageChannel &) = delete;
  MessageChannel &operator=(const MessageChannel &) = delete;
  ~MessageChannel();

  Endpoint &endpoint() const { return *endpoint_; }

  // How an announced payload is sent.
  struct PayloadInfo {
    int32_t tag = 0;  // 0: inline in the header
    bool is_damaged = false;
  };

  // Sends a header with the payload inline, or announces the payload, which start() then sends. Fills the payload fields of
  // `header`.
  Status announce(int32_t peer, MessageHeader &header, const Bytes &payload, PayloadInfo &out_payload_info);

  // Borrowed bytes must not change until has_borrowed() is false.
  enum class PayloadOwner { kBorrowed, kCopied };
  Status start(int32_t peer, const PayloadInfo &payload_info, const Bytes &payload, PayloadOwner keeping);

  // Sends a header without a payload.
  Status send(int32_t peer, const MessageHeader &header);

  // Takes the next header that has arrived. It is not validated: see fault_of(). Headers of one rank arrive in order.
  Status take(MessageHeader &out_header, Endpoint::Received &out_received, bool &out_has_arrived);

  // Advances pending sends and removes complete ones.
  Status make_progress();
  bool has_borrowed() const;
  bool is_idle() const;

  // From now on is_idle() ignores sends to a rank that has left. They may complete: a transport may report the end of a send
  // after the rank has received the bytes and left. The destructor abandons those that do not.
  void mark_left(int32_t peer);

  // Abandons the payloads to all ranks.
  void abandon_payloads();

 private:
  struct PendingSend {
    int32_t peer, tag;
    bool is_borrowed;
    void *request;
    std::vector<std::byte> bytes;  // empty if borrowed
    bool has_peer_left = false;
  };
  Status start_own(int32_t peer, int32_t tag, std::vector<std::byte> &&bytes);

  const std::unique_ptr<Endpoint> endpoint_;
  const int64_t damaged_payload_;
  int64_t payloads_ = 0;
  int32_t payload_tag_ = 0;
  std::list<PendingSend> pending_sends_;
  void *next_request_ = nullptr;  // the receive of the next header
  MessageHeader next_;
};

}  // namespace lpt
