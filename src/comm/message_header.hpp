// Headers of the messages between ranks. A header announces a payload; payloads up to 1 KiB are sent inline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "src/comm/endpoint.hpp"
#include "src/comm/engine.hpp"

namespace lpt {

enum class MessageKind : int32_t { kExchange = 1, kMessage = 2, kAborted = 3, kHasLeft = 4 };

// Below this size a second message costs more than a copy. The payload and its header fit in one page.
constexpr int64_t kEagerBytes = 1024;

// The last digits increase when the header changes. The value detects ranks of another release or byte order.
constexpr uint64_t kHeaderMagic = 0x4c50'544c'4554'0002;

struct MessageHeader {
  uint64_t magic = kHeaderMagic;
  uint64_t header_checksum = 0;  // of the bytes after it, up to `eager`; always set
  MessageKind kind{};
  int32_t from = 0;
  uint64_t sequence = 0;  // number of an exchange, from 1; of an abort: exchanges that the rank had completed
  int64_t format = 0, rows = 0, columns = 0, choice = 0;
  int64_t bytes = 0;         // of the payload
  int64_t expected = 0;      // of an exchange: bytes that the sender expects in return
  uint64_t checksum = 0;     // of the payload, 0 without checksums; of an abort: of its text, always set
  int32_t tag = 0;           // of a message: the caller's tag
  int32_t payload_tag = 0;   // tag of the payload on the transport; 0: the payload is inline
  lpt_status code = LPT_OK;  // of an abort
  int32_t eager_bytes = 0;
  char operation[32] = "";
  std::byte eager[kEagerBytes];  // the payload, or the text of an abort

  // Writes the checksum of the header.
  void seal();

  // Returns the bytes to send, with the checksum.
  std::vector<std::byte> bytes_to_send() const;
  Signature signature() const { return {operation, format, rows, columns, choice}; }
  std::string words() const { return {reinterpret_cast<const char *>(eager), static_cast<size_t>(eager_bytes)}; }
};
static_assert(std::is_trivially_copyable_v<MessageHeader> && std::is_standard_layout_v<MessageHeader>);
constexpr int64_t kHeaderBytes = offsetof(MessageHeader, eager);
static_assert(kHeaderBytes == 136, "no padding: its bytes have no values, and the checksum covers all");

// Validates a header that one of `ranks` ranks has received. Returns the fault as "name is value: expected X"; empty if it is
// valid. Fields of a header must not be used before.
std::string fault_of(const MessageHeader &header, const Endpoint::Received &received, int32_t ranks);

inline MessageHeader make_header(MessageKind kind, const Signature &signature) {
  MessageHeader header;
  header.kind = kind;
  header.format = signature.format;
  header.rows = signature.rows;
  header.columns = signature.columns;
  header.choice = signature.choice;
  std::snprintf(header.operation, sizeof header.operation, "%s", signature.operation);
  return header;
}

}  // namespace lpt
