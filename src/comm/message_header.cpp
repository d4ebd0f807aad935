#include "src/comm/message_header.hpp"

#include <cstring>

#include "src/comm/checksum.hpp"

namespace lpt {
namespace {

uint64_t checksum_of(const MessageHeader &header) {
  constexpr auto kFirst = static_cast<int64_t>(offsetof(MessageHeader, kind));
  return checksum(reinterpret_cast<const std::byte *>(&header) + kFirst, kHeaderBytes - kFirst);
}

std::string fault(const char *name, int64_t value, const std::string &expected) {
  return text("%s is %lld: expected %s", name, static_cast<long long>(value), expected.c_str());
}

std::string fault_of_length(int64_t bytes, const std::string &expected) {
  return text("length is %lld bytes: expected %s", static_cast<long long>(bytes), expected.c_str());
}

std::string sum_fault(const char *name, uint64_t value, uint64_t expected) {
  return text("%s is %016llx: expected %016llx", name, static_cast<unsigned long long>(value),
              static_cast<unsigned long long>(expected));
}

std::string fault_of_payload(const MessageHeader &header) {
  if (header.payload_tag == 0) {
    return header.bytes == header.eager_bytes ? "" : fault("bytes", header.bytes, std::to_string(header.eager_bytes));
  }
  if (header.payload_tag < 1 || header.payload_tag > LPT_WIRE_LAST_TAG) {
    return fault("payload_tag", header.payload_tag, text("0 to %d", LPT_WIRE_LAST_TAG));
  }
  if (header.eager_bytes != 0) return fault("inside_bytes", header.eager_bytes, "0 with a payload_tag");
  return header.bytes > kEagerBytes ? "" : fault("bytes", header.bytes, text("more than %d", int{kEagerBytes}));
}

std::string fault_of_end(const MessageHeader &header) {
  if (header.code < LPT_INVALID_ARGUMENT || header.code > LPT_BUSY) return fault("code", header.code, "an error");
  const uint64_t sum = checksum(header.eager, header.eager_bytes);
  return sum == header.checksum ? "" : sum_fault("checksum", header.checksum, sum);
}

}  // namespace

void MessageHeader::seal() { header_checksum = checksum_of(*this); }

std::vector<std::byte> MessageHeader::bytes_to_send() const {
  const auto *const first = reinterpret_cast<const std::byte *>(this);
  std::vector<std::byte> bytes(first, eager + eager_bytes);
  const uint64_t sum = checksum_of(*this);
  std::memcpy(&bytes[offsetof(MessageHeader, header_checksum)], &sum, sizeof sum);
  return bytes;
}

std::string fault_of(const MessageHeader &header, const Endpoint::Received &received, int32_t ranks) {
  if (received.peer < 0 || received.peer >= ranks) return fault("rank", received.peer, text("0 to %d", ranks - 1));
  if (received.bytes < kHeaderBytes) return fault_of_length(received.bytes, text("at least %d", int{kHeaderBytes}));
  if (header.magic != kHeaderMagic) {
    return sum_fault("magic", header.magic, kHeaderMagic) + ", that of the same LPT release and byte order";
  }
  const uint64_t sum = checksum_of(header);
  if (header.header_checksum != sum) return sum_fault("header_checksum", header.header_checksum, sum);
  if (header.from != received.peer) return fault("from", header.from, std::to_string(received.peer));
  if (header.eager_bytes < 0 || header.eager_bytes > kEagerBytes) {
    return fault("inside_bytes", header.eager_bytes, text("0 to %d", int{kEagerBytes}));
  }
  if (received.bytes != kHeaderBytes + header.eager_bytes) {
    return fault_of_length(received.bytes, std::to_string(kHeaderBytes + header.eager_bytes));
  }
  if (std::memchr(header.operation, '\0', sizeof header.operation) == nullptr) {
    return "operation has no end: expected at most 31 characters";
  }
  switch (header.kind) {
    case MessageKind::kExchange:
    case MessageKind::kMessage:
      return fault_of_payload(header);
    case MessageKind::kAborted:
      return fault_of_end(header);
    case MessageKind::kHasLeft:
      return "";
  }
  return fault("kind", static_cast<int64_t>(header.kind), "1 to 4");
}

}  // namespace lpt
