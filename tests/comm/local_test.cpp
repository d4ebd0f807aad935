// The suite on ranks that are threads, local and over transports of the tests, and the errors if one of them does not continue.
#include "tests/comm/local.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "tests/comm/mailboxes.hpp"
#include "tests/comm/sockets.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

struct Way {
  const char *name;
  uint64_t flags;
  int32_t most_delay = -1;  // of a custom transport; -1: local ranks
  MailForm form = MailForm::kMessages;
  bool has_sockets = false;
};
std::vector<int32_t> rank_counts() {
  if (kIsSanitized) return {3};
  return {1, 2, 3, 4, 8};
}
std::vector<int32_t> few_rank_counts() {
  if (kIsSanitized) return {3};
  return {2, 3};
}
constexpr Way kLocalWays[] = {{"Shared", 0}, {"Messages", LPT_COMM_MESSAGES}, {"Checksums", LPT_COMM_CHECKSUMS}};
constexpr Way kCustomWays[] = {
    {"CustomLate", LPT_COMM_CHECKSUMS, 9}, {"CustomBoth", 0, 1, MailForm::kBoth}, {"Custom", 0, 0}};
constexpr Way kSocketWays[] = {{.name = "Sockets", .flags = 0, .has_sockets = true}};
constexpr Way kExchangeWays[] = {{"Exchange", 0, 0, MailForm::kExchange}};

// Sanitized runs leave out ways whose code others run too: messages without checksums, and custom ranks that wait for nothing.
std::vector<Way> local_ways() {
  if (kIsSanitized) return {kLocalWays[0], kLocalWays[2]};
  return {std::begin(kLocalWays), std::end(kLocalWays)};
}
std::vector<Way> custom_ways() { return {std::begin(kCustomWays), std::end(kCustomWays) - (kIsSanitized ? 1 : 0)}; }

inline void PrintTo(const Way &way, std::ostream *out) { *out << way.name; }

template <typename Body>
void run_ranks_by(const Way &way, int32_t ranks, const lpt_comm_options &options, const Body &body) {
  if (way.has_sockets) return run_socket_ranks(ranks, options, body);
  if (way.most_delay < 0) return run_ranks(ranks, options, body);
  run_custom_ranks(ranks, options, way.form, way.most_delay, body);
}

using Setting = std::tuple<Case, int32_t, Way>;

class LocalRanks : public testing::TestWithParam<Setting> {};

TEST_P(LocalRanks, Agree) {
  const auto &[item, ranks, way] = GetParam();
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.flags = way.flags;
  options.timeout_seconds = 100.0;
  run_ranks_by(way, ranks, options, [&item = item](const Rank &self, Comm &) { item.run(self); });
}

std::string name_of_setting(const testing::TestParamInfo<Setting> &setting) {
  return std::string(std::get<0>(setting.param).name) + std::to_string(std::get<1>(setting.param)) +
         std::get<2>(setting.param).name;
}

INSTANTIATE_TEST_SUITE_P(Suite, LocalRanks,
                         testing::Combine(testing::ValuesIn(suite()), testing::ValuesIn(rank_counts()),
                                          testing::ValuesIn(local_ways())),
                         name_of_setting);
INSTANTIATE_TEST_SUITE_P(CustomSuite, LocalRanks,
                         testing::Combine(testing::ValuesIn(suite()), testing::ValuesIn(few_rank_counts()),
                                          testing::ValuesIn(custom_ways())),
                         name_of_setting);

std::vector<Case> cases_without_messages() {
  std::vector<Case> cases = suite();
  std::erase_if(cases, [](const Case &item) { return item.has_messages; });
  return cases;
}
INSTANTIATE_TEST_SUITE_P(ExchangeSuite, LocalRanks,
                         testing::Combine(testing::ValuesIn(cases_without_messages()),
                                          testing::ValuesIn(few_rank_counts()), testing::ValuesIn(kExchangeWays)),
                         name_of_setting);

class LocalFaults : public testing::TestWithParam<Way> {
 protected:
  static lpt_comm_options with_timeout(double seconds) {
    lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
    options.flags = GetParam().flags;
    options.timeout_seconds = seconds;
    return options;
  }

  template <typename Body>
  static void run_ranks(int32_t ranks, const lpt_comm_options &options, const Body &body) {
    run_ranks_by(GetParam(), ranks, options, body);
  }
};
std::string name_of_way(const testing::TestParamInfo<Way> &way) { return way.param.name; }
INSTANTIATE_TEST_SUITE_P(Way, LocalFaults, testing::ValuesIn(kLocalWays), name_of_way);
INSTANTIATE_TEST_SUITE_P(CustomWay, LocalFaults, testing::ValuesIn(kCustomWays), name_of_way);
INSTANTIATE_TEST_SUITE_P(SocketWay, LocalFaults, testing::ValuesIn(kSocketWays), name_of_way);

class LocalGroups : public LocalFaults {};
INSTANTIATE_TEST_SUITE_P(Way, LocalGroups, testing::ValuesIn(kLocalWays), name_of_way);

lpt_status sum_floats(const Rank &self, int64_t count) {
  std::vector<float> numbers(static_cast<size_t>(count), 1.0f);
  const Tensor both = wrap(self.context, numbers, 1, count);
  return lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), nullptr);
}

TEST_P(LocalFaults, ARankThatLeavesFreesTheOthers) {
  run_ranks(3, with_timeout(100.0), [](const Rank &self, Comm &comm) {
    ASSERT_TRUE(self.ok(lpt_barrier(self.context, self.comm)));
    if (self.rank == 1) return comm.reset();
    EXPECT_EQ(LPT_ABORTED, sum_floats(self, 100));
    expect_words({"all_reduce", "rank 1", "left"}, lpt_context_error(self.context));
    EXPECT_EQ(LPT_ABORTED, lpt_barrier(self.context, self.comm)) << "the comm stays broken";
  });
}

// Ranks 0 and 1 are a group, 2 and 3 another. Rank 3 leaves, and rank 0 waits for rank 2, whose comms stay.
TEST_P(LocalFaults, ARankThatLeavesFreesTheRanksOfAllLevels) {
  std::atomic<bool> is_freed{false};
  run_ranks(4, with_timeout(100.0), [&](const Rank &self, Comm &) {
    lpt_comm *raw = nullptr;
    ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, self.rank / 2, self.rank, &raw)));
    Comm inner(raw);
    ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, self.rank % 2, self.rank, &raw)));
    Comm outer(raw);
    if (self.rank == 3) {
      inner.reset();
      return outer.reset();
    }
    std::vector<float> numbers(3000, 1.0f);
    const Tensor both = wrap(self.context, numbers, 1, 3000);
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.outer_comm = outer.get();
    EXPECT_EQ(LPT_ABORTED, lpt_all_reduce(self.context, inner.get(), both.get(), &options, both.get(), nullptr));
    if (self.rank == 0) is_freed = true;
    while (!is_freed) std::this_thread::yield();
  });
}

TEST_P(LocalFaults, RanksWithAndWithoutLevelsDisagree) {
  run_ranks(2, with_timeout(100.0), [](const Rank &self, Comm &comm) {
    lpt_comm *raw = nullptr;
    ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, self.rank, 0, &raw)));
    const Comm outer(raw);
    std::vector<float> numbers(3000, 1.0f);
    const Tensor both = wrap(self.context, numbers, 1, 3000);
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    if (self.rank == 1) options.outer_comm = outer.get();
    EXPECT_EQ(LPT_MISMATCH, lpt_all_reduce(self.context, comm.get(), both.get(), &options, both.get(), nullptr));
  });
}

// Attention of 8 positions on each rank of a ring.
lpt_status attend_around(const Rank &self, lpt_comm *ring, int32_t is_causal) {
  std::vector<float> numbers(8 * 4, 1.0f), result(8 * 4);
  const Tensor x = wrap(self.context, numbers, 8, 4), output = wrap(self.context, result, 8, 4);
  lpt_sequence_attention_options options = LPT_SEQUENCE_ATTENTION_OPTIONS_INIT;
  options.is_causal = is_causal;
  return lpt_sequence_attention_forward(self.context, ring, nullptr, x.get(), x.get(), x.get(), &options, output.get());
}

TEST_P(LocalFaults, RanksOfARingAgreeOnTheMask) {
  run_ranks(2, with_timeout(100.0), [](const Rank &self, Comm &comm) {
    EXPECT_EQ(LPT_MISMATCH, attend_around(self, comm.get(), self.rank));
    expect_words({"sequence_attention, forward"}, lpt_context_error(self.context));
  });
}

// Fails one allocation. Memory is that of the C library.
struct FailingMemory {
  int64_t left = -1;  // allocations before it; -1: none fails

  static void *allocate(void *user, size_t bytes, size_t alignment) {
    auto &self = *static_cast<FailingMemory *>(user);
    if (self.left >= 0 && self.left-- == 0) return nullptr;
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  static void release(void *, void *memory, size_t) { std::free(memory); }
};

// Rank 0 keeps its comm. The other rank is freed at once, wherever the memory of rank 0 ends.
TEST_P(LocalFaults, ARankWithoutMemoryFreesTheRing) {
  for (int64_t before = 0; before < 200; before += kIsSanitized ? 7 : 1) {
    std::atomic<int> done{0}, failed{0};
    run_ranks(2, with_timeout(20.0), [&](const Rank &self, Comm &comm) {
      FailingMemory memory;
      lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
      options.allocate = FailingMemory::allocate;
      options.release = FailingMemory::release;
      options.allocator_user = &memory;
      lpt_context *raw = nullptr;
      ASSERT_EQ(LPT_OK, lpt_context_create(&options, &raw));
      const Context own(raw);
      const Rank here{raw, self.comm, self.rank, self.ranks};
      memory.left = self.rank == 0 ? before : -1;
      const lpt_status status = attend_around(here, comm.get(), 1);
      EXPECT_TRUE(status == LPT_OK || status == (self.rank == 0 ? LPT_OUT_OF_MEMORY : LPT_ABORTED)) << status << before;
      if (status == LPT_OUT_OF_MEMORY) ++failed;
      memory.left = -1;
      for (++done; done < 2;) std::this_thread::yield();
    });
    if (failed == 0) return;
  }
}

TEST_P(LocalFaults, ARankThatLeavesFreesTheRing) {
  run_ranks(3, with_timeout(100.0), [](const Rank &self, Comm &comm) {
    ASSERT_TRUE(self.ok(attend_around(self, comm.get(), 1)));
    if (self.rank == 1) return comm.reset();
    EXPECT_EQ(LPT_ABORTED, attend_around(self, comm.get(), 1));
    expect_words({"rank 1", "left"}, lpt_context_error(self.context));
  });
}

TEST_P(LocalFaults, ARankThatLeavesAtTheEndDisturbsNoRank) {
  for (int i = 0; i < 50; ++i) {
    run_ranks(4, with_timeout(100.0), [](const Rank &self, Comm &comm) {
      EXPECT_TRUE(self.ok(sum_floats(self, 1000)));
      comm.reset();
    });
  }
}

TEST_P(LocalFaults, ALateRankIsNamed) {
  std::atomic<int32_t> given_up{0};
  run_ranks(3, with_timeout(0.2), [&](const Rank &self, Comm &) {
    ASSERT_TRUE(self.ok(lpt_barrier(self.context, self.comm)));
    if (self.rank == 2) {
      while (given_up < 2) std::this_thread::yield();
      // The failure of the other ranks may arrive after their data.
      const lpt_status status = sum_floats(self, 100);
      EXPECT_NE(LPT_OK, status == LPT_OK ? lpt_barrier(self.context, self.comm) : status) << "too late";
      return;
    }
    EXPECT_EQ(LPT_TIMEOUT, sum_floats(self, 100));
    expect_words({"all_reduce", "rank 2", "0.2 seconds"}, lpt_context_error(self.context));
    ++given_up;
  });
}

TEST_P(LocalFaults, AnotherSizeIsFound) {
  run_ranks(3, with_timeout(100.0), [](const Rank &self, Comm &) {
    EXPECT_EQ(LPT_MISMATCH, sum_floats(self, self.rank == 1 ? 101 : 100));
    expect_words({"ranks disagree", "100", "101"}, lpt_context_error(self.context));
  });
}

TEST_P(LocalFaults, AnotherFactorIsFound) {
  run_ranks(2, with_timeout(100.0), [](const Rank &self, Comm &) {
    const Tensor both = make_tensor(self.context, LPT_FORMAT_F32, 4, 4);
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.factor = self.rank == 0 ? 0.5 : 0.25;
    EXPECT_EQ(LPT_MISMATCH, lpt_all_reduce(self.context, self.comm, both.get(), &options, both.get(), nullptr));
  });
}

TEST_P(LocalFaults, AnotherFormatIsFound) {
  run_ranks(2, with_timeout(100.0), [](const Rank &self, Comm &) {
    const Tensor both = make_tensor(self.context, self.rank == 0 ? LPT_FORMAT_F32 : LPT_FORMAT_BF16, 4, 4);
    EXPECT_EQ(LPT_MISMATCH, lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), nullptr));
    expect_words({"f32", "bf16"}, lpt_context_error(self.context));
  });
}

TEST_P(LocalFaults, AnotherOrderOfCallsIsFound) {
  run_ranks(2, with_timeout(100.0), [](const Rank &self, Comm &) {
    const lpt_status status = self.rank == 0 ? lpt_barrier(self.context, self.comm) : sum_floats(self, 5);
    EXPECT_EQ(LPT_MISMATCH, status);
    expect_words({"barrier", "all_reduce"}, lpt_context_error(self.context));
  });
}

TEST_P(LocalFaults, CountsThatDoNotFitAreFound) {
  run_ranks(2, with_timeout(100.0), [](const Rank &self, Comm &) {
    const Tensor input = make_tensor(self.context, LPT_FORMAT_F32, 4, 4);
    const Tensor output = make_tensor(self.context, LPT_FORMAT_F32, 4, 4);
    const int64_t sent[2] = {2, 2}, good[2] = {2, 2};
    // Rank 1 expects three rows from rank 0.
    const Tensor more = make_tensor(self.context, LPT_FORMAT_F32, 5, 4);
    const int64_t bad[2] = {3, 2};
    const bool is_bad = self.rank == 1;
    const lpt_status status = lpt_all_to_all(self.context, self.comm, input.get(), sent, is_bad ? bad : good,
                                             is_bad ? more.get() : output.get(), nullptr);
    EXPECT_EQ(LPT_MISMATCH, status);
    expect_words({"32 bytes", "48"}, lpt_context_error(self.context));
  });
}

TEST_P(LocalGroups, AnAbortedGroupEndsAllWaiting) {
  lpt_comm_group *raw_group = nullptr;
  ASSERT_EQ(LPT_OK, lpt_comm_group_create(nullptr, 2, &raw_group));
  const Group group(raw_group);
  const lpt_comm_options options = with_timeout(100.0);
  std::thread waiting([&] {
    const Context context = make_context(1);
    lpt_comm *comm = nullptr;
    EXPECT_EQ(LPT_ABORTED, lpt_comm_create_local(context.get(), group.get(), 0, &options, &comm));
    expect_words({"aborted"}, lpt_context_error(context.get()));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  lpt_comm_group_abort(group.get());
  waiting.join();
}

TEST_P(LocalGroups, AnAbortedGroupEndsWaitingInItsParts) {
  lpt_comm_group *raw_group = nullptr;
  ASSERT_EQ(LPT_OK, lpt_comm_group_create(nullptr, 3, &raw_group));
  const Group group(raw_group);
  const lpt_comm_options options = with_timeout(100.0);
  std::atomic<int32_t> has_split{0};
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      const Context context = make_context(1);
      lpt_comm *whole = nullptr, *part = nullptr;
      ASSERT_EQ(LPT_OK, lpt_comm_create_local(context.get(), group.get(), rank, &options, &whole));
      ASSERT_EQ(LPT_OK, lpt_comm_split(context.get(), whole, rank == 2 ? 1 : 0, 0, &part));
      ++has_split;
      while (has_split < 3) std::this_thread::yield();
      if (rank == 0) {
        EXPECT_EQ(LPT_ABORTED, lpt_barrier(context.get(), part));
      } else if (rank == 2) {
        lpt_comm_group_abort(group.get());
      } else {
        while (lpt_barrier(context.get(), whole) == LPT_OK) {
        }
      }
      lpt_comm_destroy(part);
      lpt_comm_destroy(whole);
    });
  }
  for (std::thread &thread : threads) thread.join();
}

TEST_P(LocalFaults, AReceiverIsFreedWhenTheSenderLeaves) {
  run_ranks(2, with_timeout(100.0), [](const Rank &self, Comm &comm) {
    const Tensor tensor = make_tensor(self.context, LPT_FORMAT_F32, 2, 2);
    if (self.rank == 0) {
      EXPECT_TRUE(self.ok(lpt_send(self.context, self.comm, tensor.get(), 1, 3, nullptr)));
      return comm.reset();
    }
    EXPECT_TRUE(self.ok(lpt_receive(self.context, self.comm, tensor.get(), 0, 3, nullptr))) << "it was sent before";
    EXPECT_EQ(LPT_ABORTED, lpt_receive(self.context, self.comm, tensor.get(), 0, 3, nullptr));
    expect_words({"rank 0", "left"}, lpt_context_error(self.context));
  });
}

TEST_P(LocalFaults, WhatIsNotWhatWasSentIsFound) {
  run_ranks(2, with_timeout(100.0), [](const Rank &self, Comm &) {
    const Tensor tensor = make_tensor(self.context, LPT_FORMAT_F32, self.rank == 0 ? 2 : 3, 2);
    if (self.rank == 0) {
      EXPECT_TRUE(self.ok(lpt_send(self.context, self.comm, tensor.get(), 1, 3, nullptr)));
    } else {
      EXPECT_EQ(LPT_MISMATCH, lpt_receive(self.context, self.comm, tensor.get(), 0, 3, nullptr));
      expect_words({"2 x 2", "3 x 2"}, lpt_context_error(self.context));
    }
  });
}

TEST_P(LocalFaults, DestroyingACommGivesUpWhatIsUnderWay) {
  run_ranks(2, with_timeout(100.0), [](const Rank &self, Comm &comm) {
    ASSERT_TRUE(self.ok(lpt_barrier(self.context, self.comm)));
    std::vector<float> numbers(1000, 1.0f);
    const Tensor both = wrap(self.context, numbers, 1, 1000);
    if (self.rank == 1) {
      EXPECT_EQ(LPT_ABORTED, lpt_receive(self.context, self.comm, both.get(), 0, 0, nullptr));
      return;
    }
    lpt_future *raw = nullptr;
    ASSERT_TRUE(self.ok(lpt_receive(self.context, self.comm, both.get(), 1, 0, &raw)));
    const Future future(raw);
    comm.reset();
    EXPECT_EQ(LPT_ABORTED, lpt_future_wait(self.context, future.get()));
  });
}

// Four threads with two comms each. The progress thread uses one comm while the calling thread uses the other.
TEST_P(LocalFaults, TwoCommsAreUsedAtOnce) {
  run_ranks(4, with_timeout(100.0), [](const Rank &self, Comm &) {
    lpt_comm *raw = nullptr;
    ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, self.rank / 2, self.rank, &raw)));
    const Comm pair(raw);
    for (int i = 0; i < 30; ++i) {
      std::vector<float> large(5000, 1.0f), little(10, static_cast<float>(i));
      const Tensor both = wrap(self.context, large, 1, 5000), small = wrap(self.context, little, 1, 10);
      lpt_future *raw_future = nullptr;
      ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), &raw_future)));
      const Future future(raw_future);
      ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, pair.get(), small.get(), nullptr, small.get(), nullptr)));
      ASSERT_TRUE(self.ok(lpt_future_wait(self.context, future.get())));
      EXPECT_EQ(4.0f, large[4999]);
      EXPECT_EQ(2.0f * static_cast<float>(i), little[9]);
    }
  });
}

}  // namespace
}  // namespace lpt::test
