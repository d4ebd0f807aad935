// Damaged message headers: every rank returns an error before the timeout, for any flipped bit.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <tuple>

#include "src/comm/message_engine.hpp"
#include "tests/comm/engine/flipping_transport.hpp"
#include "tests/comm/engine/scripted_transport.hpp"

namespace lpt::test {
namespace {

constexpr uint64_t kSeed = 20261124;
constexpr int32_t kRanks = 3, kDamagedRank = 1;
constexpr double kSeconds = 10.0;

struct Field {
  const char *name;
  size_t begin, bytes;
};

#define LPT_FIELD(name) \
  Field { #name, offsetof(MessageHeader, name), sizeof(MessageHeader::name) }
constexpr Field kFields[] = {LPT_FIELD(magic),       LPT_FIELD(header_checksum), LPT_FIELD(kind),
                             LPT_FIELD(from),        LPT_FIELD(sequence),        LPT_FIELD(format),
                             LPT_FIELD(rows),        LPT_FIELD(columns),         LPT_FIELD(choice),
                             LPT_FIELD(bytes),       LPT_FIELD(expected),        LPT_FIELD(checksum),
                             LPT_FIELD(tag),         LPT_FIELD(payload_tag),     LPT_FIELD(code),
                             LPT_FIELD(eager_bytes), LPT_FIELD(operation)};
#undef LPT_FIELD

// Exchanges `count` bytes with all ranks.
Status exchange(Engine &engine, int64_t count) {
  std::vector<std::byte> mine(static_cast<size_t>(count), std::byte{7});
  std::vector<std::vector<std::byte>> theirs(kRanks, mine);
  std::vector<Bytes> outgoing(kRanks, Bytes{mine.data(), count}), incoming;
  for (std::vector<std::byte> &place : theirs) incoming.push_back({place.data(), count});
  const ExchangeGuard guard(engine);
  LPT_TRY(engine.all_to_all_v({"exchange", 1, 2, count, 4}, outgoing.data(), incoming.data()));
  return engine.release();
}

Status pass_on(Engine &engine, int64_t count) {
  std::vector<std::byte> mine(static_cast<size_t>(count), std::byte{7}), theirs(mine);
  const int32_t next = (engine.rank() + 1) % kRanks, previous = (engine.rank() + kRanks - 1) % kRanks;
  LPT_TRY(engine.send({"send", 1, 2, count, 4}, next, 5, {mine.data(), count}));
  return engine.receive({"send", 1, 2, count, 4}, previous, 5, {theirs.data(), count});
}

// Headers of each rank: 1, 2 with inline payload; 3, 4 with separate payload; 5, 6 of send and receive; then of barriers.
Status work(Engine &engine) {
  LPT_TRY(exchange(engine, 8));
  LPT_TRY(exchange(engine, 5000));
  LPT_TRY(pass_on(engine, 16));
  LPT_TRY(pass_on(engine, 3000));
  for (int i = 0; i < 3; ++i) LPT_TRY(engine.barrier({"barrier", 0, 0, 0, 0}));
  return {};
}

template <typename Body>
void run_engines(bool has_checksums, const Flip &flip, const Body &body) {
  const auto group = std::make_shared<LocalGroup>(kRanks);
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      EngineOptions options;
      options.timeout_seconds = kSeconds;
      options.has_checksums = has_checksums;
      MessageEngine engine(FlippingTransport::open(group, rank, rank == kDamagedRank ? flip : Flip{}), rank, kRanks,
                           options);
      body(engine);
    });
  }
  for (std::thread &thread : threads) thread.join();
}

class DamagedHeaders : public testing::TestWithParam<std::tuple<Field, bool>> {};
INSTANTIATE_TEST_SUITE_P(Field, DamagedHeaders, testing::Combine(testing::ValuesIn(kFields), testing::Bool()),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) +
                                  (std::get<1>(info.param) ? "_with_checksums" : "");
                         });

TEST_P(DamagedHeaders, AreAnErrorOnEveryRank) {
  const auto [field, has_checksums] = GetParam();
  std::mt19937_64 random(kSeed + field.begin);
  for (const int64_t header : {1, 2, 3, 4, 5, 6}) {
    const Flip flip{header, 8 * field.begin + random() % (8 * field.bytes)};
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ": bit " + std::to_string(flip.bit) + " of header " +
                 std::to_string(header));
    std::array<Status, kRanks> found;
    run_engines(has_checksums, flip, [&](Engine &engine) { found[static_cast<size_t>(engine.rank())] = work(engine); });
    int finders = 0;
    for (const Status &status : found) {
      EXPECT_TRUE(status.code() == LPT_MISMATCH || status.code() == LPT_ABORTED) << status.code();
      EXPECT_NE(std::string::npos, status.message().find("message header from rank 1")) << status.message();
      finders += status.code() == LPT_MISMATCH ? 1 : 0;
    }
    EXPECT_EQ(1, finders);
  }
}

// Invalid headers with a matching checksum.

constexpr Signature kExchange{"exchange", 1, 2, 3, 4};

// Returns the header that rank 1 of two sends in its first exchange of 8 bytes.
MessageHeader good_header() {
  MessageHeader header = make_header(MessageKind::kExchange, kExchange);
  header.from = 1;
  header.sequence = 1;
  header.bytes = header.expected = header.eager_bytes = 8;
  std::memset(header.eager, 7, 8);
  return header;
}

// Rank 0 of two exchanges 8 bytes with rank 1, whose messages are the script.
Status exchange_with(std::deque<ScriptedMessage> script) {
  MessageEngine engine(ScriptedTransport::open(std::move(script)), 0, 2, {});
  std::byte mine[8]{}, theirs[8]{};
  const Bytes outgoing[] = {{nullptr, 0}, {mine, 8}};
  Bytes incoming[] = {{nullptr, 0}, {theirs, 8}};
  const ExchangeGuard guard(engine);
  LPT_TRY(engine.all_to_all_v(kExchange, outgoing, incoming));
  return engine.release();
}

TEST(Headers, AreTakenAsTheyWereWritten) {
  const Status status = exchange_with({{1, 0, good_header().bytes_to_send()}});
  EXPECT_TRUE(status.is_ok()) << status.message();
}

TEST(Headers, NameTheFieldThatIsWrong) {
  struct Wrong {
    const char *words;
    void (*change)(MessageHeader &header);
  };
  const Wrong wrongs[] = {
      {"kind is 5: expected 1 to 4", [](MessageHeader &l) { l.kind = static_cast<MessageKind>(5); }},
      {"kind is 0: expected 1 to 4", [](MessageHeader &l) { l.kind = static_cast<MessageKind>(0); }},
      {"from is 0: expected 1", [](MessageHeader &l) { l.from = 0; }},
      {"from is -1: expected 1", [](MessageHeader &l) { l.from = -1; }},
      {"rank 0 is at exchange 1, rank 1 at 2", [](MessageHeader &l) { l.sequence = 2; }},
      {"rank 1 exchange of 9 x 3", [](MessageHeader &l) { l.rows = 9; }},
      {"bytes is 9: expected 8", [](MessageHeader &l) { l.bytes = 9; }},
      {"bytes is -1: expected 8", [](MessageHeader &l) { l.bytes = -1; }},
      {"which expects 7", [](MessageHeader &l) { l.expected = 7; }},
      {"payload_tag is -1: expected 0 to 32767", [](MessageHeader &l) { l.payload_tag = -1; }},
      {"payload_tag is 32768: expected 0 to 32767", [](MessageHeader &l) { l.payload_tag = 32768; }},
      {"inside_bytes is 8: expected 0 with a payload_tag", [](MessageHeader &l) { l.payload_tag = 1; }},
      {"bytes is 8: expected more than 1024", [](MessageHeader &l) { l.payload_tag = 1, l.eager_bytes = 0; }},
      {"which expects 8", [](MessageHeader &l) { l.payload_tag = 1, l.eager_bytes = 0, l.bytes = 5000; }},
      {"operation has no end", [](MessageHeader &l) { std::memset(l.operation, 'x', sizeof l.operation); }},
      {"code is 0: expected an error", [](MessageHeader &l) { l.kind = MessageKind::kAborted; }},
      {"code is 99: expected an error", [](MessageHeader &l) { l.kind = MessageKind::kAborted, l.code = 99; }},
      {"checksum is 0000000000000000", [](MessageHeader &l) { l.kind = MessageKind::kAborted, l.code = LPT_ABORTED; }},
      {"magic is 4c50544c45540001: expected 4c50544c45540002", [](MessageHeader &l) { --l.magic; }},
  };
  for (const Wrong &wrong : wrongs) {
    MessageHeader header = good_header();
    wrong.change(header);
    const Status status = exchange_with({{1, 0, header.bytes_to_send()}});
    EXPECT_EQ(LPT_MISMATCH, status.code()) << wrong.words;
    EXPECT_NE(std::string::npos, status.message().find(wrong.words)) << wrong.words << " not in " << status.message();
  }
}

// An inline length that differs from the received length. make_header() cannot create it, so the test cuts or seals the header.
TEST(Headers, NameALengthThatIsWrong) {
  struct Wrong {
    const char *words;
    int32_t eager_bytes;
    size_t length;
  };
  const Wrong wrongs[] = {
      {"length is 0 bytes: expected at least 136", 8, 0}, {"length is 135 bytes: expected at least 136", 8, 135},
      {"length is 136 bytes: expected 144", 8, 136},      {"length is 143 bytes: expected 144", 8, 143},
      {"length is 145 bytes: expected 144", 8, 145},      {"inside_bytes is 1025: expected 0 to 1024", 1025, 144},
      {"inside_bytes is -1: expected 0 to 1024", -1, 144}};
  for (const Wrong &wrong : wrongs) {
    MessageHeader header = good_header();
    header.eager_bytes = wrong.eager_bytes;
    header.seal();
    const auto *const first = reinterpret_cast<const std::byte *>(&header);
    const Status status = exchange_with({{1, 0, std::vector<std::byte>(first, first + wrong.length)}});
    EXPECT_EQ(LPT_MISMATCH, status.code()) << wrong.words;
    EXPECT_NE(std::string::npos, status.message().find(wrong.words)) << wrong.words << " not in " << status.message();
  }
}

TEST(Headers, NameASenderThatIsNone) {
  for (const int32_t peer : {-1, 2}) {
    const Status status = exchange_with({{peer, 0, good_header().bytes_to_send()}});
    EXPECT_EQ(LPT_MISMATCH, status.code());
    EXPECT_NE(std::string::npos, status.message().find(text("rank is %d: expected 0 to 1", peer))) << status.message();
  }
}

TEST(Mail, OfAnotherLengthIsFound) {
  MessageHeader header = make_header(MessageKind::kMessage, kExchange);
  header.from = 1;
  header.tag = 5;
  header.bytes = header.eager_bytes = 64;
  std::memset(header.eager, 7, 64);
  MessageEngine engine(ScriptedTransport::open({{1, 0, header.bytes_to_send()}}), 0, 2, {});
  std::byte place[8]{};
  const Status status = engine.receive(kExchange, 1, 5, {place, 8});
  EXPECT_EQ(LPT_MISMATCH, status.code());
  EXPECT_NE(std::string::npos, status.message().find("sends 64 bytes from rank 1 to rank 0, which expects 8"))
      << status.message();
}

TEST(Payloads, OfAnotherLengthAreFound) {
  MessageHeader header = good_header();
  header.bytes = header.expected = 2000;
  header.eager_bytes = 0;
  header.payload_tag = 3;
  MessageEngine engine(ScriptedTransport::open({{1, 0, header.bytes_to_send()}, {1, 3, std::vector<std::byte>(1999)}}),
                       0, 2, {});
  std::vector<std::byte> mine(2000), theirs(2000);
  const Bytes outgoing[] = {{nullptr, 0}, {mine.data(), 2000}};
  Bytes incoming[] = {{nullptr, 0}, {theirs.data(), 2000}};
  const ExchangeGuard guard(engine);
  const Status status = engine.all_to_all_v(kExchange, outgoing, incoming);
  EXPECT_EQ(LPT_MISMATCH, status.code());
  EXPECT_NE(std::string::npos, status.message().find("sends 1999 bytes from rank 1 to rank 0, which expects 2000"))
      << status.message();
}

}  // namespace
}  // namespace lpt::test
