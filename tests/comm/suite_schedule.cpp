// All-reduces by schedules, against scalar additions in the order of their sends.
#include <cmath>

#include "tests/api/schedules.hpp"
#include "tests/comm/suite.hpp"

namespace lpt::test {
namespace {

// Topologies of any number of ranks.
std::vector<Topology> topologies_of(const Rank &self) {
  std::vector<Topology> made;
  for (const lpt_topology_kind kind :
       {LPT_TOPOLOGY_KIND_TORUS, LPT_TOPOLOGY_KIND_MESH, LPT_TOPOLOGY_KIND_FULLY_CONNECTED}) {
    made.push_back(make_topology(self.context, kind, {self.ranks}));
  }
  const int64_t groups = self.ranks % 2 == 0 ? 2 : 1;
  made.push_back(make_topology(self.context, LPT_TOPOLOGY_KIND_TORUS, {groups, self.ranks / groups}));
  made.push_back(make_topology(self.context, LPT_TOPOLOGY_KIND_TWO_LEVEL, {groups, self.ranks / groups}));
  made.push_back(make_topology(self.context, LPT_TOPOLOGY_KIND_FAT_TREE, {2, groups, self.ranks / groups}));
  return made;
}

// The elements of adjacent chunks.
std::pair<size_t, size_t> elements_of(const SendList &list, size_t count, int32_t first, int32_t chunks) {
  const auto all = static_cast<size_t>(list.info.chunk_count);
  const size_t length = (count / 32 + all - 1) / all * 32;
  const auto begin_of = [&](size_t chunk) { return chunk == all ? count : std::min(count, chunk * length); };
  return {begin_of(static_cast<size_t>(first)), begin_of(static_cast<size_t>(first + chunks))};
}

// Runs the sends on the values of all ranks: own + received, rounded by `round` after each addition. An addition that completes
// a sum is multiplied by the factor first.
template <typename Round>
std::vector<std::vector<float>> reduced_by(const SendList &list, std::vector<std::vector<float>> held, float factor,
                                           const Round &round) {
  const auto ranks = static_cast<int32_t>(held.size());
  const size_t count = held[0].size();
  std::vector<std::vector<int32_t>> parts(held.size(),
                                          std::vector<int32_t>(static_cast<size_t>(list.info.chunk_count), 1));
  if (ranks == 1) {
    for (float &x : held[0]) x = round(x * factor);
  }
  for (size_t begin = 0, end = 0; begin < list.sends.size(); begin = end) {
    const std::vector<std::vector<float>> before = held;
    const auto parts_before = parts;
    for (; end < list.sends.size() && list.sends[end].step == list.sends[begin].step; ++end) {
      const lpt_schedule_send &send = list.sends[end];
      const auto from = static_cast<size_t>(send.source), to = static_cast<size_t>(send.target);
      for (int32_t c = send.first_chunk; c < send.first_chunk + send.chunk_count; ++c) {
        const bool is_added = send.operation == LPT_SCHEDULE_OPERATION_ADD;
        int32_t &have = parts[to][static_cast<size_t>(c)];
        have = is_added ? have + parts_before[from][static_cast<size_t>(c)] : ranks;
        const auto [first, last] = elements_of(list, count, c, 1);
        for (size_t i = first; i < last; ++i) {
          const float sum = held[to][i] + before[from][i];
          held[to][i] = !is_added ? before[from][i] : round(have == ranks ? sum * factor : sum);
        }
      }
    }
  }
  return held;
}

template <typename Body>
void for_schedules(const Rank &self, const Body &body) {
  for (const Topology &topology : topologies_of(self)) {
    for (const lpt_schedule_algorithm algorithm : kScheduleAlgorithms) {
      const Schedule schedule = make_schedule(self.context, topology, algorithm, 0, 3);
      SCOPED_TRACE(testing::Message() << "algorithm " << algorithm);
      body(schedule, list_of(self.context, schedule.get()));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

void sums_in_the_order_of_every_schedule(const Rank &self) {
  for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{333}, int64_t{5000}}) {
    for_schedules(self, [&](const Schedule &schedule, const SendList &list) {
      const std::vector<std::vector<float>> all = numbers_of_all(self.ranks, 200, count);
      const auto expected = reduced_by(list, all, 1.0f, [](float x) { return x; });
      std::vector<float> found(static_cast<size_t>(count), -1.0f);
      const std::vector<float> &own = all[static_cast<size_t>(self.rank)];
      const Tensor input = wrap(self.context, own, 1, count), output = wrap(self.context, found, 1, count);
      ASSERT_TRUE(self.ok(lpt_schedule_all_reduce(self.context, self.comm, schedule.get(), input.get(), nullptr,
                                                  output.get(), nullptr)));
      EXPECT_EQ(expected[static_cast<size_t>(self.rank)], found);
      EXPECT_EQ(expected[0], found) << "other bits than rank 0";
    });
  }
}

constexpr int64_t kRows = 37, kColumns = 11, kStride = 50, kBegin = 20;

// Rows with gaps, in place, behind the caller, in bf16.
void averages_columns_behind_the_caller(const Rank &self) {
  const auto wide_of = [](float x) {
    const uint32_t bits = static_cast<uint32_t>(bf16_of(x)) << 16;
    float rounded;
    std::memcpy(&rounded, &bits, sizeof rounded);
    return rounded;
  };
  for_schedules(self, [&](const Schedule &schedule, const SendList &list) {
    std::vector<std::vector<float>> all = numbers_of_all(self.ranks, 210, kRows * kColumns);
    for (auto &numbers : all) {
      for (float &x : numbers) x = wide_of(x);
    }
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.reduction = LPT_REDUCTION_AVERAGE;
    options.factor = 1.5;
    const auto factor = static_cast<float>(1.5 / self.ranks);
    const auto expected = reduced_by(list, all, factor, wide_of);
    std::vector<uint16_t> memory(kRows * kStride, 0x1234);
    const auto index = [](size_t i) {
      const auto at = static_cast<int64_t>(i);
      return static_cast<size_t>(at / kColumns * kStride + kBegin + at % kColumns);
    };
    const std::vector<float> &own = all[static_cast<size_t>(self.rank)];
    for (size_t i = 0; i < own.size(); ++i) memory[index(i)] = bf16_of(own[i]);
    std::vector<uint16_t> expected_memory = memory;
    for (size_t i = 0; i < own.size(); ++i) expected_memory[index(i)] = bf16_of(expected[0][i]);
    const Tensor whole = wrap(self.context, LPT_FORMAT_BF16, memory.data(), kRows, kStride);
    const Tensor columns = view(self.context, whole.get(), {0, kBegin}, {kRows, kColumns});
    lpt_future *raw = nullptr;
    ASSERT_TRUE(self.ok(lpt_schedule_all_reduce(self.context, self.comm, schedule.get(), columns.get(), &options,
                                                columns.get(), &raw)));
    const Future future(raw);
    ASSERT_TRUE(self.ok(lpt_future_wait(self.context, future.get())));
    EXPECT_EQ(expected_memory, memory);
  });
}

// Large enough for several tasks of a sum, and for messages that a transport does not send eagerly.
void sums_large_doubles(const Rank &self) {
  constexpr int64_t kCount = 300'007;
  const Topology topology = make_topology(self.context, LPT_TOPOLOGY_KIND_FULLY_CONNECTED, {self.ranks});
  const Schedule schedule = make_schedule(self.context, topology, LPT_SCHEDULE_ALGORITHM_HALVING);
  std::vector<double> numbers(kCount);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i % 1000) + 1000.0 * self.rank;
  const Tensor both = wrap(self.context, numbers, 1, kCount);
  ASSERT_TRUE(self.ok(
      lpt_schedule_all_reduce(self.context, self.comm, schedule.get(), both.get(), nullptr, both.get(), nullptr)));
  for (size_t i = 0; i < numbers.size(); ++i) {  // all sums are exact
    ASSERT_EQ(self.ranks * static_cast<double>(i % 1000) + 500.0 * self.ranks * (self.ranks - 1), numbers[i]) << i;
  }
}

// A call that is rejected sends nothing.
void rejects_what_schedules_do_not_support(const Rank &self) {
  std::vector<float> numbers(64, 1.0f), more(65, 1.0f);
  const Tensor both = wrap(self.context, numbers, 1, 64), longer = wrap(self.context, more, 1, 65);
  const Schedule schedule = make_schedule(
      self.context, make_topology(self.context, LPT_TOPOLOGY_KIND_TORUS, {self.ranks}), LPT_SCHEDULE_ALGORITHM_RING);
  const Schedule other =
      make_schedule(self.context, make_topology(self.context, LPT_TOPOLOGY_KIND_TORUS, {self.ranks + 1}),
                    LPT_SCHEDULE_ALGORITHM_RING);
  const auto expect = [&](lpt_status expected, const std::vector<const char *> &words, const lpt_schedule *by,
                          const lpt_tensor *output, auto change) {
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    change(options);
    EXPECT_EQ(expected, lpt_schedule_all_reduce(self.context, self.comm, by, both.get(), &options,
                                                const_cast<lpt_tensor *>(output), nullptr));
    expect_words(words, lpt_context_error(self.context));
  };
  const auto nothing = [](lpt_reduce_options &) {};
  expect(LPT_INVALID_ARGUMENT, {"schedule is for", "as comm"}, other.get(), both.get(), nothing);
  expect(LPT_INVALID_ARGUMENT, {"schedule is NULL"}, nullptr, both.get(), nothing);
  expect(LPT_INVALID_ARGUMENT, {"output is 1 x 65"}, schedule.get(), longer.get(), nothing);
  expect(LPT_UNSUPPORTED, {"options->reduction is 2"}, schedule.get(), both.get(),
         [](lpt_reduce_options &o) { o.reduction = LPT_REDUCTION_MAXIMUM; });
  expect(LPT_UNSUPPORTED, {"options->algorithm is 2"}, schedule.get(), both.get(),
         [](lpt_reduce_options &o) { o.algorithm = LPT_REDUCE_ALGORITHM_TWO_SHOT; });
  expect(LPT_UNSUPPORTED, {"options has a wire"}, schedule.get(), both.get(),
         [](lpt_reduce_options &o) { o.wire = LPT_FORMAT_INT8_1X32; });
  expect(LPT_UNSUPPORTED, {"outer comm", "HIERARCHICAL"}, schedule.get(), both.get(),
         [&](lpt_reduce_options &o) { o.outer_comm = self.comm; });
  expect(LPT_OK, {}, schedule.get(), both.get(), [](lpt_reduce_options &o) { o.flags = LPT_CHECK_ONLY; });
  EXPECT_EQ(std::vector<float>(64, 1.0f), numbers);
}

}  // namespace

std::vector<Case> schedule_cases() {
  return {{"SumsInTheOrderOfEverySchedule", sums_in_the_order_of_every_schedule, true},
          {"AveragesColumnsBehindTheCaller", averages_columns_behind_the_caller, true},
          {"SumsLargeDoubles", sums_large_doubles, true},
          {"RejectsWhatSchedulesDoNotSupport", rejects_what_schedules_do_not_support, true}};
}

}  // namespace lpt::test
