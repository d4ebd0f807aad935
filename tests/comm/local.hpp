// Ranks as threads of the test.
#pragma once

#include <thread>

#include "tests/comm/suite.hpp"

namespace lpt::test {

// Runs body(rank) on `ranks` threads, each with a context and a comm of one group.
template <typename Body>
void run_ranks(int32_t ranks, const lpt_comm_options &options, const Body &body) {
  lpt_comm_group *raw_group = nullptr;
  ASSERT_EQ(LPT_OK, lpt_comm_group_create(nullptr, ranks, &raw_group));
  const Group group(raw_group);
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const Context context = make_context(1);
      lpt_comm *raw_comm = nullptr;
      ASSERT_TRUE(ok(context.get(), lpt_comm_create_local(context.get(), group.get(), rank, &options, &raw_comm)));
      Comm comm(raw_comm);
      body(Rank{context.get(), comm.get(), rank, ranks}, comm);
    });
  }
  for (std::thread &thread : threads) thread.join();
}

}  // namespace lpt::test
