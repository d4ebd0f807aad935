// The suite on ranks that are MPI processes. Each runs all cases in the same order.
#include "tests/comm/suite.hpp"

namespace lpt::test {
namespace {

Rank *self = nullptr;

class MpiRanks : public testing::TestWithParam<Case> {};
TEST_P(MpiRanks, Agree) { GetParam().run(*self); }
INSTANTIATE_TEST_SUITE_P(Suite, MpiRanks, testing::ValuesIn(suite()),
                         [](const testing::TestParamInfo<Case> &item) { return std::string(item.param.name); });

TEST(Mpi, CommsAreMadeAndDestroyedAgain) {
  for (int i = 0; i < 20; ++i) {
    lpt_comm *raw = nullptr;
    ASSERT_TRUE(self->ok(lpt_comm_create_mpi(self->context, nullptr, &raw)));
    const Comm comm(raw);
    ASSERT_TRUE(self->ok(lpt_barrier(self->context, comm.get())));
  }
}

// MPI may report the end of a send after its receiver has destroyed its comm.
TEST(Mpi, CommsAreDestroyedAfterLargePayloads) {
  constexpr int64_t kCount = 1 << 19;
  std::vector<float> numbers(kCount, 1.0f);
  const Tensor both = wrap(self->context, numbers, 1, kCount);
  for (int i = 0; i < 20; ++i) {
    lpt_comm *raw = nullptr;
    ASSERT_TRUE(self->ok(lpt_comm_split(self->context, self->comm, 0, self->rank, &raw)));
    const Comm comm(raw);
    ASSERT_TRUE(self->ok(lpt_all_reduce(self->context, raw, both.get(), nullptr, both.get(), nullptr)));
  }
}

// A payload far larger than a packet, and larger than MPI sends eagerly.
TEST(Mpi, LargeMailCrosses) {
  if (self->ranks < 2 || self->rank > 1) return;
  constexpr int64_t kCount = 1 << 20;
  std::vector<float> mine(kCount, static_cast<float>(self->rank)), theirs(kCount);
  const Tensor out = wrap(self->context, mine, 1, kCount), in = wrap(self->context, theirs, 1, kCount);
  const int32_t peer = 1 - self->rank;
  ASSERT_TRUE(self->ok(lpt_send(self->context, self->comm, out.get(), peer, 7, nullptr)));
  ASSERT_TRUE(self->ok(lpt_receive(self->context, self->comm, in.get(), peer, 7, nullptr)));
  EXPECT_EQ(std::vector<float>(kCount, static_cast<float>(peer)), theirs);
}

int run_all(uint64_t flags) {
  const Context context = make_context(1);
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.flags = flags;
  options.timeout_seconds = 60.0;
  lpt_comm *raw = nullptr;
  const testing::AssertionResult is_present = ok(context.get(), lpt_comm_create_mpi(context.get(), &options, &raw));
  if (!is_present) {
    std::fprintf(stderr, "%s\n", is_present.message());
    return 1;
  }
  const Comm comm(raw);
  lpt_comm_info values = LPT_COMM_INFO_INIT;
  lpt_comm_read(context.get(), raw, &values);
  Rank rank{context.get(), raw, values.rank, values.rank_count};
  self = &rank;
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace lpt::test

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  return lpt::test::run_all(argc > 1 && std::string(argv[1]) == "checksums" ? LPT_COMM_CHECKSUMS : 0);
}
