// Ranks over TCP: processes that run the suite, and ranks that are killed, stopped, late, of another job, or strangers.
#include "tests/comm/sockets.hpp"

#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <latch>

#include "tests/comm/lossy.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

lpt_comm_options options_with(double seconds = 100.0) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = seconds;
  return options;
}

lpt_status reduce_ones(const Rank &self, int64_t count) {
  std::vector<float> numbers(static_cast<size_t>(count), 1.0f);
  const Tensor both = wrap(self.context, numbers, 1, count);
  return lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), nullptr);
}

// Runs body(rank, its comm) on `ranks` processes. Their failures are those of the test.
class SocketProcesses {
 public:
  template <typename Body>
  SocketProcesses(int32_t ranks, const lpt_comm_options &options, const Body &body) {
    const std::vector<SocketListener> listeners(static_cast<size_t>(ranks));
    std::fflush(stdout);
    for (int32_t rank = 0; rank < ranks; ++rank) {
      children_.push_back(fork());
      if (children_.back() != 0) continue;
      run_socket_rank(listeners, rank, options, body);
      std::fflush(stdout);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
  }

  // Returns the wait status of a rank.
  int end_of(int32_t rank, int flags = 0) const {
    int end = -1;
    EXPECT_EQ(pid_of(rank), waitpid(pid_of(rank), &end, flags));
    return end;
  }
  pid_t pid_of(int32_t rank) const { return children_[static_cast<size_t>(rank)]; }

 private:
  std::vector<pid_t> children_;
};

// Not with sanitizers, which slow forks down: the library runs the same code for custom ranks that are threads.
class SocketSuite : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Suite, SocketSuite, testing::ValuesIn(kIsSanitized ? std::vector<Case>{} : suite()),
                         [](const testing::TestParamInfo<Case> &item) { return std::string(item.param.name); });

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SocketSuite);

TEST_P(SocketSuite, RunsOnProcesses) {
  const SocketProcesses processes(3, options_with(), [](const Rank &self, Comm &) { GetParam().run(self); });
  for (int32_t rank = 0; rank < 3; ++rank) EXPECT_EQ(0, processes.end_of(rank)) << "rank " << rank;
}

// Calls of an all-reduce, or of a reduce-scatter and an all-gather by packets.
class SocketCalls : public testing::TestWithParam<bool> {
 protected:
  static LossyLink make_link(const Rank &self) {
    return GetParam() ? test::make_link(self, lossy_options(1408)) : nullptr;
  }
  static lpt_status call(const Rank &self, const LossyLink &link) {
    if (link == nullptr) return reduce_ones(self, 100000);
    std::vector<float> numbers(99999, 1.0f), part(33333);
    const Tensor whole = wrap_axes(self.context, LPT_FORMAT_F32, numbers.data(), {99999});
    const Tensor own = wrap_axes(self.context, LPT_FORMAT_F32, part.data(), {33333});
    const lpt_status status = lpt_lossy_reduce_scatter(self.context, link.get(), whole.get(), nullptr,
                                                       LPT_LOSSY_MODE_COUNT, nullptr, 0, own.get(), nullptr);
    return status != LPT_OK
               ? status
               : lpt_lossy_all_gather(self.context, link.get(), own.get(), nullptr, 0, whole.get(), nullptr);
  }
};
INSTANTIATE_TEST_SUITE_P(SocketFaults, SocketCalls, testing::Bool(),
                         [](const testing::TestParamInfo<bool> &item) { return item.param ? "Lossy" : "Reliable"; });

// The other ranks return at once, and name the rank. They may be in its last call or in the next one.
TEST_P(SocketCalls, EndByAKilledRank) {
  const SocketProcesses processes(3, options_with(), [](const Rank &self, Comm &) {
    const LossyLink link = make_link(self);
    EXPECT_TRUE(self.ok(call(self, link)));
    lpt_status status = LPT_OK;
    for (int i = 0; i < 3 && status == LPT_OK; ++i) {
      if (self.rank == 1 && i == 1) raise(SIGKILL);
      status = call(self, link);
    }
    EXPECT_EQ(LPT_ABORTED, status);
    expect_words({"rank 1 closed its connection"}, lpt_context_error(self.context));
    EXPECT_EQ(LPT_ABORTED, lpt_barrier(self.context, self.comm));
  });
  EXPECT_EQ(0, processes.end_of(0));
  EXPECT_EQ(0, processes.end_of(2));
  const int end = processes.end_of(1);
  EXPECT_TRUE(WIFSIGNALED(end) && WTERMSIG(end) == SIGKILL) << end;
}

// The stopped rank continues after the others have ended, and finds their error.
TEST_P(SocketCalls, NameAStoppedRank) {
  const SocketProcesses processes(3, options_with(1.0), [](const Rank &self, Comm &) {
    const LossyLink link = make_link(self);
    if (self.rank == 2) raise(SIGSTOP);
    EXPECT_EQ(LPT_TIMEOUT, call(self, link));
    expect_words({link == nullptr ? "all_reduce" : "reduce_scatter", "rank 2 did not come within 1 seconds"},
                 lpt_context_error(self.context));
  });
  EXPECT_TRUE(WIFSTOPPED(processes.end_of(2, WUNTRACED)));
  EXPECT_EQ(0, processes.end_of(0));
  EXPECT_EQ(0, processes.end_of(1));
  EXPECT_EQ(0, kill(processes.pid_of(2), SIGCONT));
  EXPECT_EQ(0, processes.end_of(2));
}

// A rank that has connected creates its comm after the timeout of the other.
TEST(SocketFaults, ALateRankIsNamed) {
  const std::vector<SocketListener> listeners(2);
  std::latch has_ended(1);
  const auto run = [&](int32_t rank) {
    const Context context = make_context(1);
    Connector connector(rank, 2);
    ASSERT_EQ(LPT_OK, connector.connect_all(listeners, 100.0)) << connector.error;
    SocketRank sockets(std::move(connector.sockets));
    if (rank == 1) has_ended.wait();
    const lpt_comm_functions functions = SocketRank::functions();
    const lpt_comm_options options = options_with(0.3);
    lpt_comm *comm = nullptr;
    EXPECT_EQ(LPT_TIMEOUT, lpt_comm_create_custom(context.get(), &functions, &sockets, rank, 2, &options, &comm));
    expect_words({"comm_create", "rank 1 did not come within 0.3 seconds"}, lpt_context_error(context.get()));
    EXPECT_EQ(nullptr, comm);
    EXPECT_EQ(1, sockets.closes);
    if (rank == 0) has_ended.count_down();
  };
  std::thread late(run, 1);
  run(0);
  late.join();
}

// A rank that connects later than the others, but within the limit.
TEST(SocketFaults, ALateConnectionIsAccepted) {
  const std::vector<SocketListener> listeners(2);
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    run_socket_rank(listeners, 1, options_with(),
                    [](const Rank &self, Comm &) { EXPECT_TRUE(self.ok(reduce_ones(self, 9))); });
  });
  run_socket_rank(listeners, 0, options_with(),
                  [](const Rank &self, Comm &) { EXPECT_TRUE(self.ok(reduce_ones(self, 9))); });
  late.join();
}

// A rank that does not connect, and what it reports.
struct FailedRank {
  int32_t rank, ranks;
  lpt_status status;
  const char *error;
};

void expect_failures(const std::vector<FailedRank> &failed, size_t listener_count, double seconds) {
  const std::vector<SocketListener> listeners(listener_count);
  std::vector<std::thread> threads;
  for (const FailedRank &one : failed) {
    threads.emplace_back([&] {
      Connector connector(one.rank, one.ranks);
      EXPECT_EQ(one.status, connector.connect_all(listeners, seconds)) << "rank " << one.rank;
      EXPECT_EQ(one.error, connector.error);
    });
  }
  for (std::thread &thread : threads) thread.join();
}

TEST(SocketFaults, AMissingRankIsNamed) {
  const char *const error = "rank 2 did not connect within 1 seconds; connections without a greeting: 0";
  expect_failures({{0, 3, LPT_TIMEOUT, error}, {1, 3, LPT_TIMEOUT, error}}, 3, 1.0);
}

TEST(SocketFaults, AnotherNumberOfRanksIsFound) {
  expect_failures(
      {{0, 2, LPT_MISMATCH, "rank 1 has 3 ranks: expected 2"}, {1, 3, LPT_MISMATCH, "rank 0 has 2 ranks: expected 3"}},
      3, 100.0);
}

// Connected ranks that pass other numbers to lpt_comm_create_custom(): rank 0 has no rank 2, which waits for it.
TEST(SocketFaults, AnotherNumberOfRanksOfTheCommEndsByTheTimeout) {
  const std::vector<SocketListener> listeners(3);
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      const Context context = make_context(1);
      Connector connector(rank, 3);
      ASSERT_EQ(LPT_OK, connector.connect_all(listeners, 100.0)) << connector.error;
      SocketRank sockets(std::move(connector.sockets));
      const lpt_comm_functions functions = SocketRank::functions();
      const lpt_comm_options options = options_with(0.5);
      Comm comm;
      lpt_status status =
          lpt_comm_create_custom(context.get(), &functions, &sockets, rank, rank == 0 ? 2 : 3, &options, out(comm));
      for (int i = 0; i < 10 && status == LPT_OK; ++i) status = lpt_barrier(context.get(), comm.get());
      EXPECT_TRUE(status == LPT_TIMEOUT || status == LPT_ABORTED) << "rank " << rank << " returns " << status;
      expect_words({"rank"}, lpt_context_error(context.get()));
    });
  }
  for (std::thread &thread : threads) thread.join();
}

std::vector<uint8_t> garbage(uint64_t seed, int64_t count) {
  Random random(seed);
  std::vector<uint8_t> bytes(static_cast<size_t>(count));
  for (uint8_t &byte : bytes) byte = static_cast<uint8_t>(random.below(256));
  return bytes;
}

Socket connect_with(const SocketListener &listener, const std::vector<uint8_t> &bytes) {
  Socket socket = connect_to(listener.port, std::chrono::steady_clock::now() + std::chrono::seconds(10));
  EXPECT_EQ(static_cast<ssize_t>(bytes.size()), send(socket.file(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  return socket;
}

// Connections that send nothing, too few bytes, or other bytes do not disturb ranks.
TEST(SocketFaults, StrangersAreDropped) {
  const std::vector<SocketListener> listeners(2);
  std::vector<Socket> strangers;
  for (const int64_t count : {0, 1, 7, 8, 16, 1000}) {
    for (const SocketListener &listener : listeners) strangers.push_back(connect_with(listener, garbage(400, count)));
  }
  std::thread other([&] {
    run_socket_rank(listeners, 1, options_with(),
                    [](const Rank &self, Comm &) { EXPECT_TRUE(self.ok(reduce_ones(self, 9))); });
  });
  run_socket_rank(listeners, 0, options_with(),
                  [](const Rank &self, Comm &) { EXPECT_TRUE(self.ok(reduce_ones(self, 9))); });
  other.join();
}

TEST(SocketFaults, AStrangerInPlaceOfARankIsReported) {
  const std::vector<SocketListener> listeners(2);
  const Socket stranger = connect_with(listeners[0], garbage(401, 100));
  Connector connector(0, 2);
  EXPECT_EQ(LPT_TIMEOUT, connector.connect_all(listeners, 0.3));
  EXPECT_EQ("rank 1 did not connect within 0.3 seconds; connections without a greeting: 1", connector.error);
}

std::vector<uint8_t> bytes_of(const void *object, size_t count) {
  const auto *const begin = static_cast<const uint8_t *>(object);
  return {begin, begin + count};
}

// Rank 1 greets correctly, and then sends these bytes instead of frames.
void expect_damaged_frame(const std::vector<uint8_t> &rest) {
  const std::vector<SocketListener> listeners(2);
  const SocketGreeting greeting{.rank = 1, .ranks = 2};
  std::vector<uint8_t> bytes = bytes_of(&greeting, sizeof greeting);
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  const Socket rank = connect_with(listeners[0], bytes);
  Connector connector(0, 2);
  ASSERT_EQ(LPT_OK, connector.connect_all(listeners, 100.0)) << connector.error;
  SocketRank sockets(std::move(connector.sockets));
  const Context context = make_context(1);
  const lpt_comm_functions functions = SocketRank::functions();
  const lpt_comm_options options = options_with(10.0);
  lpt_comm *comm = nullptr;
  EXPECT_EQ(LPT_MISMATCH, lpt_comm_create_custom(context.get(), &functions, &sockets, 0, 2, &options, &comm));
  expect_words({"rank 1 sent a damaged frame"}, lpt_context_error(context.get()));
}

TEST(SocketFaults, GarbageAfterTheGreetingIsFound) {
  for (uint64_t seed = 410; seed < 430; ++seed) expect_damaged_frame(garbage(seed, 200));
}

TEST(SocketFaults, AFrameOfTooManyBytesIsFound) {
  const SocketFrame frame{.tag = 0, .zero = 0, .bytes = (int64_t{1} << 40) + 1};
  expect_damaged_frame(bytes_of(&frame, sizeof frame));
}

TEST(SocketFaults, AGreetingInPartsIsAccepted) {
  const std::vector<SocketListener> listeners(2);
  const SocketGreeting greeting{.rank = 1, .ranks = 2};
  const std::vector<uint8_t> bytes = bytes_of(&greeting, sizeof greeting);
  const Socket rank = connect_with(listeners[0], {bytes.begin(), bytes.begin() + 5});
  std::thread rest([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(11, send(rank.file(), &bytes[5], 11, MSG_NOSIGNAL));
  });
  Connector connector(0, 2);
  EXPECT_EQ(LPT_OK, connector.connect_all(listeners, 100.0)) << connector.error;
  rest.join();
}

// Both ranks of a transport without a comm. One thread calls the functions of both.
class SocketMessages : public testing::Test {
 protected:
  SocketMessages() {
    const std::vector<SocketListener> listeners(2);
    std::vector<Connector> connectors;
    for (const int32_t rank : {0, 1}) connectors.emplace_back(rank, 2);
    std::thread other([&] { EXPECT_EQ(LPT_OK, connectors[1].connect_all(listeners, 100.0)); });
    EXPECT_EQ(LPT_OK, connectors[0].connect_all(listeners, 100.0));
    other.join();
    for (Connector &connector : connectors) ranks_.emplace_back(std::move(connector.sockets));
  }

  void *send(int32_t tag, const std::vector<uint8_t> &bytes) {
    void *request = nullptr;
    EXPECT_EQ(0, functions_.send(&ranks_[0], 1, tag, bytes.data(), static_cast<int64_t>(bytes.size()), &request, error_,
                                 sizeof error_));
    return request;
  }

  // Calls test() of the sender, unless the send is NULL, and of the receiver until the receive ends.
  std::vector<uint8_t> receive(int32_t tag, size_t count, void *sent) {
    std::vector<uint8_t> bytes(count);
    void *request = nullptr;
    EXPECT_EQ(0, functions_.receive(&ranks_[1], 0, tag, bytes.data(), static_cast<int64_t>(count), &request, error_,
                                    sizeof error_));
    bool is_sent = sent == nullptr, is_received = false;
    while (!is_sent || !is_received) {
      if (!is_sent && !ended(0, sent, is_sent)) return {};
      if (!is_received && !ended(1, request, is_received)) return {};
    }
    return bytes;
  }

  void cancel(void *sent) { functions_.cancel(&ranks_[0], sent); }

 private:
  bool ended(int32_t rank, void *request, bool &is_done) {
    int32_t done = 0;
    const int32_t status = functions_.test(&ranks_[static_cast<size_t>(rank)], request, &done, error_, sizeof error_);
    EXPECT_EQ(LPT_OK, status) << error_;
    is_done = done != 0;
    return status == LPT_OK;
  }

  std::deque<SocketRank> ranks_;
  const lpt_comm_functions functions_ = SocketRank::functions();
  char error_[256] = "";
};

constexpr int64_t kManyBytes = int64_t{1} << 25;  // more than the buffers of a connection

TEST_F(SocketMessages, AShortMessageDoesNotOvertakeAPartOfALongOne) {
  const std::vector<uint8_t> first = garbage(440, kManyBytes), second = garbage(441, 100);
  void *const long_send = send(1, first);
  void *const short_send = send(2, second);
  EXPECT_EQ(first, receive(1, first.size(), long_send));
  EXPECT_EQ(second, receive(2, second.size(), short_send));
}

// The rest of the message is sent from a copy, and later messages follow it.
TEST_F(SocketMessages, ACancelledMessageThatWasSentInPartArrives) {
  const std::vector<uint8_t> first = garbage(442, kManyBytes), second = garbage(443, 100);
  std::vector<uint8_t> memory = first;
  cancel(send(1, memory));
  std::fill(memory.begin(), memory.end(), uint8_t{0});
  void *const short_send = send(2, second);
  EXPECT_EQ(second, receive(2, second.size(), short_send));
  EXPECT_EQ(first, receive(1, first.size(), nullptr));
}

}  // namespace
}  // namespace lpt::test
