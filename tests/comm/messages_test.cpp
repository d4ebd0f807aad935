// Local ranks that send messages: checksums, damage, emulated links, options that must agree.
#include <atomic>
#include <chrono>

#include "tests/comm/local.hpp"

namespace lpt::test {
namespace {

using Clock = std::chrono::steady_clock;

lpt_comm_options messages(uint64_t flags = LPT_COMM_MESSAGES) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.flags = flags;
  options.timeout_seconds = 100.0;
  return options;
}

lpt_status sum_floats(const Rank &self, std::vector<float> &numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  const Tensor both = wrap(self.context, numbers, 1, count);
  return lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), nullptr);
}

// Runs body(rank, status of its comm_create, context) on ranks of one group, each with its options.
template <typename Body>
void run_ranks_with(const std::vector<lpt_comm_options> &options, const Body &body) {
  lpt_comm_group *raw_group = nullptr;
  ASSERT_EQ(LPT_OK, lpt_comm_group_create(nullptr, static_cast<int32_t>(options.size()), &raw_group));
  const Group group(raw_group);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < options.size(); ++rank) {
    threads.emplace_back([&, rank] {
      const Context context = make_context(1);
      lpt_comm *raw = nullptr;
      const lpt_status status =
          lpt_comm_create_local(context.get(), group.get(), static_cast<int32_t>(rank), &options[rank], &raw);
      const Comm comm(raw);
      body(Rank{context.get(), raw, static_cast<int32_t>(rank), static_cast<int32_t>(options.size())}, status);
    });
  }
  for (std::thread &thread : threads) thread.join();
}

TEST(Messages, TellTheirName) {
  run_ranks(2, messages(), [](const Rank &self, Comm &) { EXPECT_STREQ("local messages", read(self).engine); });
}

TEST(Messages, PayloadIsCountedAndHeadersAreNot) {
  run_ranks(2, messages(), [](const Rank &self, Comm &) {
    std::vector<float> numbers(10, 1.0f);
    EXPECT_TRUE(self.ok(sum_floats(self, numbers)));
    EXPECT_EQ(40, read(self).bytes_sent);
    EXPECT_EQ(40, read(self).bytes_received);
  });
}

// One damaged bit of one message: in a packet, and in a separate payload.
TEST(Messages, DamagedBytesAreFound) {
  for (const size_t count : {10, 5000}) {
    std::vector<lpt_comm_options> options(3, messages(LPT_COMM_CHECKSUMS));
    lpt_comm_emulation damage = LPT_COMM_EMULATION_INIT;
    damage.damaged_message = 1;
    options[1].emulation = &damage;
    std::atomic<int32_t> finders{0};
    run_ranks_with(options, [&](const Rank &self, lpt_status status) {
      ASSERT_TRUE(self.ok(status));
      std::vector<float> numbers(count, 1.0f);
      lpt_status sum = sum_floats(self, numbers);
      // A rank that has received all of its bytes by then returns the error in the next call.
      if (sum == LPT_OK) sum = lpt_barrier(self.context, self.comm);
      finders += sum == LPT_MISMATCH ? 1 : 0;
      EXPECT_TRUE(sum == LPT_MISMATCH || sum == LPT_ABORTED) << sum;
      expect_words({"all_reduce", "bytes from rank 1 were damaged on their way"}, lpt_context_error(self.context));
    });
    EXPECT_EQ(1, finders) << count;
  }
}

TEST(Messages, DamageGoesUnseenWithoutChecksums) {
  std::vector<lpt_comm_options> options(2, messages());
  lpt_comm_emulation damage = LPT_COMM_EMULATION_INIT;
  damage.damaged_message = 2;
  options[1].emulation = &damage;
  run_ranks_with(options, [&](const Rank &self, lpt_status status) {
    ASSERT_TRUE(self.ok(status));
    for (int i = 0; i < 3; ++i) {
      std::vector<float> numbers(1000, 1.0f);
      EXPECT_TRUE(self.ok(sum_floats(self, numbers)));
      const bool is_whole = numbers == std::vector<float>(1000, 2.0f);
      EXPECT_EQ(self.rank == 1 || i != 1, is_whole) << "message " << i;
    }
  });
}

TEST(Messages, OtherOptionsAreFound) {
  lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
  link.link_latency_seconds = 0.001;
  lpt_comm_options slow = messages();
  slow.emulation = &link;
  for (const lpt_comm_options &other : {messages(0), messages(LPT_COMM_CHECKSUMS), slow}) {
    run_ranks_with({messages(), other}, [](const Rank &self, lpt_status status) {
      EXPECT_EQ(LPT_MISMATCH, status);
      expect_words({"ranks disagree", "comm_create"}, lpt_context_error(self.context));
    });
  }
}

TEST(Links, LatencyIsWaitedFor) {
  lpt_comm_options options = messages(0);
  lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
  link.link_latency_seconds = 0.02;
  options.emulation = &link;
  const Clock::time_point begin = Clock::now();
  run_ranks(3, options, [&](const Rank &self, Comm &) {
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(self.ok(lpt_barrier(self.context, self.comm)));
    EXPECT_LE(std::chrono::milliseconds(100), Clock::now() - begin);
  });
}

TEST(Links, BytesTakeTheirTime) {
  lpt_comm_options options = messages(0);
  lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
  link.link_bytes_per_second = 4e6;
  options.emulation = &link;
  const Clock::time_point begin = Clock::now();
  run_ranks(3, options, [&](const Rank &self, Comm &) {
    std::vector<float> numbers(75000, 1.0f);  // each rank sends 400,000 bytes
    ASSERT_TRUE(self.ok(sum_floats(self, numbers)));
    EXPECT_EQ(3.0f, numbers[74999]);
  });
  EXPECT_LE(std::chrono::milliseconds(100), Clock::now() - begin);
}

TEST(Links, TimeLimitsHoldOnThem) {
  lpt_comm_options options = messages(0);
  lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
  link.link_latency_seconds = 10.0;
  options.emulation = &link;
  options.timeout_seconds = 0.1;
  run_ranks(2, options, [](const Rank &self, Comm &) {
    EXPECT_EQ(LPT_TIMEOUT, lpt_barrier(self.context, self.comm));
    expect_words({"barrier", "did not come within 0.1 seconds"}, lpt_context_error(self.context));
  });
}

TEST(Mail, TwoRanksMaySendBeforeTheyReceive) {
  run_ranks(2, messages(LPT_COMM_CHECKSUMS), [](const Rank &self, Comm &) {
    const int32_t peer = 1 - self.rank;
    for (int i = 0; i < 20; ++i) {
      std::vector<float> mine(100000, static_cast<float>(self.rank + i)), theirs(100000);
      const Tensor out = wrap(self.context, mine, 1, 100000), in = wrap(self.context, theirs, 1, 100000);
      ASSERT_TRUE(self.ok(lpt_send(self.context, self.comm, out.get(), peer, i, nullptr)));
      ASSERT_TRUE(self.ok(lpt_receive(self.context, self.comm, in.get(), peer, i, nullptr)));
      EXPECT_EQ(static_cast<float>(peer + i), theirs[99999]);
    }
  });
}

}  // namespace
}  // namespace lpt::test
