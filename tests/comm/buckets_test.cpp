// Buckets on links with latency, and with ranks that do not join.
#include "tests/comm/buckets.hpp"

#include <atomic>
#include <chrono>

#include "tests/comm/local.hpp"

namespace lpt::test {
namespace {

// Two gradients, each in a separate bucket.
struct TwoBuckets {
  explicit TwoBuckets(const Rank &self) : first(4096, 1.0f), last(4096, 2.0f) {
    const char *const names[] = {"embedding", "head"};
    lpt_gradient_buckets_options options = LPT_GRADIENT_BUCKETS_OPTIONS_INIT;
    options.bucket_bytes = 1;
    options.names = names;
    tensors.push_back(wrap(self.context, first, 1, 4096));
    tensors.push_back(wrap(self.context, last, 1, 4096));
    buckets = make_buckets(self, {tensors[0].get(), tensors[1].get()}, options);
  }
  std::vector<float> first, last;
  std::vector<Tensor> tensors;
  Buckets buckets;
};

// The reduction of the first bucket completes before another gradient is ready, without a wait.
TEST(Buckets, TransferWhileBackwardGoesOn) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
  link.link_latency_seconds = 0.1;  // longer than a thread may lose its core
  options.emulation = &link;
  options.timeout_seconds = 60.0;
  run_ranks(3, options, [](const Rank &self, Comm &) {
    const TwoBuckets two(self);
    const int64_t before = read(self).collectives;
    ASSERT_TRUE(self.ok(begin(self, two.buckets)));
    ASSERT_TRUE(self.ok(ready(self, two.buckets, 1)));
    EXPECT_EQ(before, read(self).collectives) << "it returned before a message can have come";
    while (read(self).collectives == before) std::this_thread::yield();
    EXPECT_EQ(6.0f, two.last[4095]);
    ASSERT_TRUE(self.ok(ready(self, two.buckets, 0)));
    ASSERT_TRUE(self.ok(wait_for(self, two.buckets)));
    EXPECT_EQ(3.0f, two.first[0]);
    EXPECT_GT(read(self, two.buckets).wait_seconds, 0.0);
  });
}

TEST(Buckets, NameTheGradientsThatARankWaitedFor) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = 0.3;
  std::atomic<int32_t> given_up{0};
  run_ranks(3, options, [&](const Rank &self, Comm &) {
    const TwoBuckets two(self);
    ASSERT_TRUE(self.ok(begin(self, two.buckets)));
    ASSERT_TRUE(self.ok(ready(self, two.buckets, 1)));
    if (self.rank == 2) {
      EXPECT_EQ(LPT_INVALID_ARGUMENT, wait_for(self, two.buckets));
      expect_words({"gradients[0] (embedding)", "never made ready"}, lpt_context_error(self.context));
      while (given_up < 2) std::this_thread::yield();
      return;
    }
    ASSERT_TRUE(self.ok(ready(self, two.buckets, 0)));
    EXPECT_EQ(LPT_TIMEOUT, wait_for(self, two.buckets));
    expect_words({"bucket 2 of 2", "gradients[0] (embedding)", "rank 2", "0.3 seconds"},
                 lpt_context_error(self.context));
    ++given_up;
  });
}

TEST(Buckets, AreFoundToDiffer) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = 60.0;
  run_ranks(2, options, [](const Rank &self, Comm &) {
    const Tensor gradient = make_tensor(self.context, LPT_FORMAT_F32, 10, self.rank == 0 ? 3 : 4);
    const Buckets buckets = make_buckets(self, {gradient.get()}, LPT_GRADIENT_BUCKETS_OPTIONS_INIT);
    ASSERT_TRUE(self.ok(begin(self, buckets)));
    ASSERT_TRUE(self.ok(ready(self, buckets, 0)));
    EXPECT_EQ(LPT_MISMATCH, wait_for(self, buckets));
    expect_words({"bucket 1 of 1", "gradients[0]", "10 x 3", "10 x 4"}, lpt_context_error(self.context));
  });
}

TEST(Buckets, OutliveTheirComm) {
  run_ranks(2, LPT_COMM_OPTIONS_INIT, [](const Rank &self, Comm &comm) {
    const TwoBuckets two(self);
    ASSERT_TRUE(self.ok(begin(self, two.buckets)));
    ASSERT_TRUE(self.ok(ready(self, two.buckets, 1)));
    comm.reset();
  });
}

}  // namespace
}  // namespace lpt::test
