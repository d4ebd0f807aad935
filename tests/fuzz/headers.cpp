// The fuzz target of message headers. Bytes are read as messages to one rank of three, which exchanges bytes with the others,
// receives from one rank, and is destroyed. For any input every call must return a status, and errors must have a text.
#include <cstdlib>

#include "src/comm/message_engine.hpp"
#include "tests/comm/engine/scripted_transport.hpp"
#include "tests/fuzz/reader.hpp"

namespace {

using namespace lpt;

constexpr Signature kSignature{"exchange", 1, 2, 3, 4};

using Reader = test::FuzzReader;

constexpr int64_t kSizes[] = {0, 8, 1024, 1025, 2000};

// Returns a packet as rank `from` sends it, with some changed bytes.
std::vector<std::byte> header_of(Reader &in, int32_t from) {
  MessageHeader header = make_header(static_cast<MessageKind>(1 + in.below(4)), kSignature);
  header.from = from;
  header.sequence = static_cast<uint64_t>(1 + in.below(3));
  header.bytes = header.expected = kSizes[in.below(std::size(kSizes))];
  header.tag = static_cast<int32_t>(in.below(2));
  header.code = header.kind == MessageKind::kAborted ? LPT_ABORTED : LPT_OK;
  const bool is_inside = header.bytes <= kEagerBytes;
  header.payload_tag = is_inside ? 0 : static_cast<int32_t>(1 + in.below(3));
  header.eager_bytes = is_inside ? static_cast<int32_t>(header.bytes) : 0;
  std::memset(header.eager, 7, sizeof header.eager);
  const auto first = reinterpret_cast<std::byte *>(&header);
  const bool is_sealed_after = in.below(4) != 0;
  if (!is_sealed_after) header.seal();
  for (int64_t changes = in.below(4); changes > 0; --changes) first[in.byte() % kHeaderBytes] = std::byte{in.byte()};
  if (is_sealed_after) header.seal();
  const int64_t length = in.below(4) != 0 ? kHeaderBytes + header.eager_bytes : in.byte() * 5;
  return {first, first + std::clamp<int64_t>(length, 0, sizeof header)};
}

std::deque<test::ScriptedMessage> script_of(Reader &in) {
  std::deque<test::ScriptedMessage> script;
  while (!in.is_at_end() && script.size() < 64) {
    const auto peer = static_cast<int32_t>(in.below(5)) - 1;
    const bool is_header = in.below(4) != 0;
    if (is_header) {
      script.push_back({peer, 0, header_of(in, peer)});
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
  const ExchangeGuard guard(engine);
  LPT_TRY(engine.all_to_all_v(kSignature, outgoing, incoming));
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
  MessageEngine engine(test::ScriptedTransport::open(script_of(in)), 0, 3, options);
  const Status status = work(engine, counts);
  if (status.code() == LPT_TIMEOUT || status.is_ok() != status.message().empty()) std::abort();
  return 0;
}
