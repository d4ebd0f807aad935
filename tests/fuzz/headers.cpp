// The fuzz target of message headers: bytes are read as messages that reach one rank of three, while it exchanges bytes with the
// others, receives from one, and ends. Whatever comes, calls end with a status, and errors have a text.
#include <cstdlib>

#include "src/comm/message_engine.hpp"
#include "tests/comm/engine/scripted_wire.hpp"
#include "tests/fuzz/reader.hpp"

namespace {

using namespace lpt;

constexpr Signature kSignature{"exchange", 1, 2, 3, 4};

using Reader = test::FuzzReader;

constexpr int64_t kSizes[] = {0, 8, 1024, 1025, 2000};

// A letter as rank `from` sends it, then single bytes of it changed.
std::vector<std::byte> letter_of(Reader &in, int32_t from) {
  Letter letter = make_letter(static_cast<LetterKind>(1 + in.below(4)), kSignature);
  letter.from = from;
  letter.turn = static_cast<uint64_t>(1 + in.below(3));
  letter.bytes = letter.expected = kSizes[in.below(std::size(kSizes))];
  letter.tag = static_cast<int32_t>(in.below(2));
  letter.code = letter.kind == LetterKind::kGaveUp ? LPT_ABORTED : LPT_OK;
  const bool is_inside = letter.bytes <= kInsideBytes;
  letter.payload_tag = is_inside ? 0 : static_cast<int32_t>(1 + in.below(3));
  letter.inside_bytes = is_inside ? static_cast<int32_t>(letter.bytes) : 0;
  std::memset(letter.inside, 7, sizeof letter.inside);
  const auto first = reinterpret_cast<std::byte *>(&letter);
  const bool is_sealed_after = in.below(4) != 0;
  if (!is_sealed_after) letter.seal();
  for (int64_t changes = in.below(4); changes > 0; --changes) first[in.byte() % kHeaderBytes] = std::byte{in.byte()};
  if (is_sealed_after) letter.seal();
  const int64_t length = in.below(4) != 0 ? kHeaderBytes + letter.inside_bytes : in.byte() * 5;
  return {first, first + std::clamp<int64_t>(length, 0, sizeof letter)};
}

std::deque<test::ScriptedMessage> script_of(Reader &in) {
  std::deque<test::ScriptedMessage> script;
  while (!in.is_at_end() && script.size() < 64) {
    const auto peer = static_cast<int32_t>(in.below(5)) - 1;
    const bool is_letter = in.below(4) != 0;
    if (is_letter) {
      script.push_back({peer, 0, letter_of(in, peer)});
    } else {
      const auto tag = static_cast<int32_t>(1 + in.below(3));
      script.push_back({peer, tag, std::vector<std::byte>(static_cast<size_t>(kSizes[in.below(std::size(kSizes))]))});
    }
  }
  return script;
}

Status exchange(Engine &engine, int64_t count) {
  std::vector<std::byte> mine(static_cast<size_t>(count)), from_one(mine), from_two(mine);
  const Bytes outgoing[] = {{nullptr, 0}, {mine.data(), count}, {mine.data(), count}};
  Bytes incoming[] = {{nullptr, 0}, {from_one.data(), count}, {from_two.data(), count}};
  const Settled settled(engine);
  LPT_TRY(engine.swap(kSignature, outgoing, incoming));
  return engine.release();
}

Status work(Engine &engine, const int64_t (&counts)[3]) {
  LPT_TRY(exchange(engine, counts[0]));
  std::vector<std::byte> place(static_cast<size_t>(counts[1]));
  LPT_TRY(engine.receive(kSignature, 1, 1, {place.data(), counts[1]}));
  return exchange(engine, counts[2]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Reader in(data, size);
  EngineOptions options;
  options.timeout_seconds = 10.0;
  options.has_checksums = in.below(2) != 0;
  int64_t counts[3];
  for (int64_t &count : counts) count = kSizes[in.below(std::size(kSizes))];
  MessageEngine engine(test::ScriptedWire::open(script_of(in)), 0, 3, options);
  const Status status = work(engine, counts);
  if (status.code() == LPT_TIMEOUT || status.is_ok() != status.message().empty()) std::abort();
  return 0;
}
