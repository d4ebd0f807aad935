// Ranks that disagree about a schedule, and transports without messages.
#include "tests/api/schedules.hpp"
#include "tests/comm/local.hpp"
#include "tests/comm/mailboxes.hpp"

namespace lpt::test {
namespace {

lpt_status sum_by(const Rank &self, lpt_schedule_algorithm algorithm) {
  const Topology topology = make_topology(self.context, LPT_TOPOLOGY_KIND_TORUS, {self.ranks});
  const Schedule schedule = make_schedule(self.context, topology, algorithm);
  std::vector<float> numbers(100, 1.0f);
  const Tensor both = wrap(self.context, numbers, 1, 100);
  return lpt_schedule_all_reduce(self.context, self.comm, schedule.get(), both.get(), nullptr, both.get(), nullptr);
}

TEST(ScheduledAllReduce, ReportsRanksWithOtherSchedules) {
  for (const uint64_t flags : {uint64_t{0}, uint64_t{LPT_COMM_MESSAGES}}) {
    lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
    options.flags = flags;
    options.timeout_seconds = 100.0;
    run_ranks(4, options, [](const Rank &self, Comm &) {
      const bool is_other = self.rank == 2;
      EXPECT_EQ(LPT_MISMATCH, sum_by(self, is_other ? LPT_SCHEDULE_ALGORITHM_RING : LPT_SCHEDULE_ALGORITHM_MULTITREE));
      expect_words({"schedule_all_reduce", "ranks disagree"}, lpt_context_error(self.context));
    });
  }
}

TEST(ScheduledAllReduce, NeedsMessages) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = 100.0;
  run_custom_ranks(2, options, MailForm::kExchange, 0, [](const Rank &self, Comm &) {
    EXPECT_EQ(LPT_UNSUPPORTED, sum_by(self, LPT_SCHEDULE_ALGORITHM_RING));
    expect_words({"has only exchange", "expected send"}, lpt_context_error(self.context));
  });
}

}  // namespace
}  // namespace lpt::test
