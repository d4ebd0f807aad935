// Ranks over TCP: processes that run the suite, and ranks that are killed, stopped, late, of another job, or strangers.
#include "tests/comm/sockets.hpp"

#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <latch>

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

class SocketSuite : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Suite, SocketSuite, testing::ValuesIn(suite()),
                         [](const testing::TestParamInfo<Case> &item) { return std::string(item.param.name); });

TEST_P(SocketSuite, RunsOnProcesses) {
  const SocketProcesses processes(3, options_with(), [](const Rank &self, Comm &) { GetParam().run(self); });
  for (int32_t rank = 0; rank < 3; ++rank) EXPECT_EQ(0, processes.end_of(rank)) << "rank " << rank;
}

// The other ranks return at once, and name the rank. They may be in its last call or in the next one.
TEST(SocketFaults, AKilledRankEndsTheOthers) {
  const SocketProcesses processes(3, options_with(), [](const Rank &self, Comm &) {
    EXPECT_TRUE(self.ok(reduce_ones(self, 100000)));
    lpt_status status = LPT_OK;
    for (int i = 0; i < 3 && status == LPT_OK; ++i) {
      if (self.rank == 1 && i == 1) raise(SIGKILL);
      status = reduce_ones(self, 100000);
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
TEST(SocketFaults, AStoppedRankIsNamed) {
  const SocketProcesses processes(3, options_with(1.0), [](const Rank &self, Comm &) {
    if (self.rank == 2) raise(SIGSTOP);
    EXPECT_EQ(LPT_TIMEOUT, reduce_ones(self, 100000));
    expect_words({"all_reduce", "rank 2 did not come within 1 seconds"}, lpt_context_error(self.context));
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

TEST(SocketFaults, AMissingRankIsNamed) {
  const std::vector<SocketListener> listeners(3);
  std::thread other([&] {
    Connector connector(1, 3);
    EXPECT_EQ(LPT_TIMEOUT, connector.connect_all(listeners, 1.0));
    EXPECT_EQ("rank 2 did not connect within 1 seconds; connections without a greeting: 0", connector.error);
  });
  Connector connector(0, 3);
  EXPECT_EQ(LPT_TIMEOUT, connector.connect_all(listeners, 1.0));
  EXPECT_EQ("rank 2 did not connect within 1 seconds; connections without a greeting: 0", connector.error);
  other.join();
}

TEST(SocketFaults, AnotherNumberOfRanksIsFound) {
  const std::vector<SocketListener> listeners(3);
  std::thread other([&] {
    Connector connector(1, 3);
    EXPECT_EQ(LPT_MISMATCH, connector.connect_all(listeners, 100.0));
    EXPECT_EQ("rank 0 has 2 ranks: expected 3", connector.error);
  });
  Connector connector(0, 2);
  EXPECT_EQ(LPT_MISMATCH, connector.connect_all(listeners, 100.0));
  EXPECT_EQ("rank 1 has 3 ranks: expected 2", connector.error);
  other.join();
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

// A rank that greets correctly and then sends other bytes than frames.
TEST(SocketFaults, GarbageAfterTheGreetingIsFound) {
  for (uint64_t seed = 410; seed < 430; ++seed) {
    const std::vector<SocketListener> listeners(2);
    Connector connector(0, 2);
    const SocketGreeting greeting{.rank = 1, .ranks = 2};
    std::vector<uint8_t> bytes(sizeof greeting);
    std::memcpy(bytes.data(), &greeting, sizeof greeting);
    const std::vector<uint8_t> rest = garbage(seed, 200);
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    const Socket rank = connect_with(listeners[0], bytes);
    ASSERT_EQ(LPT_OK, connector.connect_all(listeners, 100.0)) << connector.error;
    SocketRank sockets(std::move(connector.sockets));
    const Context context = make_context(1);
    const lpt_comm_functions functions = SocketRank::functions();
    const lpt_comm_options options = options_with();
    lpt_comm *comm = nullptr;
    EXPECT_EQ(LPT_MISMATCH, lpt_comm_create_custom(context.get(), &functions, &sockets, 0, 2, &options, &comm));
    expect_words({"rank 1 sent a damaged frame"}, lpt_context_error(context.get()));
  }
}

}  // namespace
}  // namespace lpt::test
