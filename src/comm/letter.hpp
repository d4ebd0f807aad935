// What message engines write to each other: a letter announces each payload, and small payloads travel inside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "src/comm/engine.hpp"
#include "src/comm/link.hpp"

namespace lpt {

enum class LetterKind : int32_t { kSwap = 1, kMail = 2, kGaveUp = 3, kHasLeft = 4 };

// Below it a second message costs more than a copy; with the heading it stays in one page.
constexpr int64_t kInsideBytes = 1024;

// Its last digits are raised when a letter changes: ranks of another release, or another byte order, are found.
constexpr uint64_t kLetterMagic = 0x4c50'544c'4554'0002;

struct Letter {
  uint64_t magic = kLetterMagic;
  uint64_t header_checksum = 0;  // of what follows up to `inside`; always there
  LetterKind kind{};
  int32_t from = 0;
  uint64_t turn = 0;  // of a swap, from 1; of one who gave up: the swaps it had finished
  int64_t format = 0, rows = 0, columns = 0, choice = 0;
  int64_t bytes = 0;         // of the payload
  int64_t expected = 0;      // of a swap: the payload that the writer expects in return
  uint64_t checksum = 0;     // of the payload, 0 where there are none; always that of the words of one who gave up
  int32_t tag = 0;           // of mail: the user's
  int32_t payload_tag = 0;   // the wire's; 0: the payload is inside
  lpt_status code = LPT_OK;  // of one who gave up
  int32_t inside_bytes = 0;
  char operation[32] = "";
  std::byte inside[kInsideBytes];  // the payload, or the words of one who gave up

  // Puts the checksum of the header in it.
  void seal();

  // What of it travels, sealed.
  std::vector<std::byte> travelling() const;
  Signature signature() const { return {operation, format, rows, columns, choice}; }
  std::string words() const { return {reinterpret_cast<const char *>(inside), static_cast<size_t>(inside_bytes)}; }
};
static_assert(std::is_trivially_copyable_v<Letter> && std::is_standard_layout_v<Letter>);
constexpr int64_t kHeaderBytes = offsetof(Letter, inside);
static_assert(kHeaderBytes == 136, "no padding: its bytes have no values, and the checksum covers all");

// What is wrong with a letter that came to one of `ranks`, as "name is value: expected X"; "" if nothing is. No field of
// a letter may be used before.
std::string fault_of(const Letter &letter, const Link::Received &received, int32_t ranks);

inline Letter make_letter(LetterKind kind, const Signature &signature) {
  Letter letter;
  letter.kind = kind;
  letter.format = signature.format;
  letter.rows = signature.rows;
  letter.columns = signature.columns;
  letter.choice = signature.choice;
  std::snprintf(letter.operation, sizeof letter.operation, "%s", signature.operation);
  return letter;
}

}  // namespace lpt
