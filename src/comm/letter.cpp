#include "src/comm/letter.hpp"

#include <cstring>

#include "src/comm/checksum.hpp"

namespace lpt {
namespace {

uint64_t checksum_of(const Letter &letter) {
  constexpr auto kFirst = static_cast<int64_t>(offsetof(Letter, kind));
  return checksum(reinterpret_cast<const std::byte *>(&letter) + kFirst, kHeaderBytes - kFirst);
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

std::string fault_of_payload(const Letter &letter) {
  if (letter.payload_tag == 0) {
    return letter.bytes == letter.inside_bytes ? "" : fault("bytes", letter.bytes, std::to_string(letter.inside_bytes));
  }
  if (letter.payload_tag < 1 || letter.payload_tag > LPT_WIRE_LAST_TAG) {
    return fault("payload_tag", letter.payload_tag, text("0 to %d", LPT_WIRE_LAST_TAG));
  }
  if (letter.inside_bytes != 0) return fault("inside_bytes", letter.inside_bytes, "0 with a payload_tag");
  return letter.bytes > kInsideBytes ? "" : fault("bytes", letter.bytes, text("more than %d", int{kInsideBytes}));
}

std::string fault_of_end(const Letter &letter) {
  if (letter.code < LPT_INVALID_ARGUMENT || letter.code > LPT_BUSY) return fault("code", letter.code, "an error");
  const uint64_t sum = checksum(letter.inside, letter.inside_bytes);
  return sum == letter.checksum ? "" : sum_fault("checksum", letter.checksum, sum);
}

}  // namespace

void Letter::seal() { header_checksum = checksum_of(*this); }

std::vector<std::byte> Letter::travelling() const {
  const auto *const first = reinterpret_cast<const std::byte *>(this);
  std::vector<std::byte> bytes(first, inside + inside_bytes);
  const uint64_t sum = checksum_of(*this);
  std::memcpy(&bytes[offsetof(Letter, header_checksum)], &sum, sizeof sum);
  return bytes;
}

std::string fault_of(const Letter &letter, const Link::Received &received, int32_t ranks) {
  if (received.peer < 0 || received.peer >= ranks) return fault("rank", received.peer, text("0 to %d", ranks - 1));
  if (received.bytes < kHeaderBytes) return fault_of_length(received.bytes, text("at least %d", int{kHeaderBytes}));
  if (letter.magic != kLetterMagic) {
    return sum_fault("magic", letter.magic, kLetterMagic) + ", that of the same LPT release and byte order";
  }
  const uint64_t sum = checksum_of(letter);
  if (letter.header_checksum != sum) return sum_fault("header_checksum", letter.header_checksum, sum);
  if (letter.from != received.peer) return fault("from", letter.from, std::to_string(received.peer));
  if (letter.inside_bytes < 0 || letter.inside_bytes > kInsideBytes) {
    return fault("inside_bytes", letter.inside_bytes, text("0 to %d", int{kInsideBytes}));
  }
  if (received.bytes != kHeaderBytes + letter.inside_bytes) {
    return fault_of_length(received.bytes, std::to_string(kHeaderBytes + letter.inside_bytes));
  }
  if (std::memchr(letter.operation, '\0', sizeof letter.operation) == nullptr) {
    return "operation has no end: expected at most 31 characters";
  }
  switch (letter.kind) {
    case LetterKind::kSwap:
    case LetterKind::kMail:
      return fault_of_payload(letter);
    case LetterKind::kGaveUp:
      return fault_of_end(letter);
    case LetterKind::kHasLeft:
      return "";
  }
  return fault("kind", static_cast<int64_t>(letter.kind), "1 to 4");
}

}  // namespace lpt
