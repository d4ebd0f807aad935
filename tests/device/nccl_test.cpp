// Ranks with one GPU each, on the test runtime and its NCCL stub. Every collective has the bits of ranks on CPUs, which
// tests/comm checks against oracles.
#include <algorithm>

#include "tests/device/device_pool.hpp"
#include "tests/device/ranks.hpp"

namespace lpt::test {
namespace {

// Values that differ between ranks.
Tensor numbers(const GpuRank &self, lpt_format format, int64_t rows, int64_t columns, uint64_t place = 1) {
  const uint64_t own = place * 100 + static_cast<uint64_t>(self.rank);
  return tensor_of(self.cpu, format, rows, columns, draw_normal(own, rows * columns));
}

// Checks that call(context, comm, input, output) writes the same output on CPUs and on GPUs.
template <typename Call>
void expect_equal(const GpuRank &self, const lpt_tensor *input, const lpt_tensor *output, const Call &call) {
  const Tensor input_on_device = there(self, input), output_on_device = there(self, output);
  const lpt_tensor_description facts = describe(self.cpu, output);
  const Tensor expected = make_tensor(self.cpu, facts.format, {facts.extents, facts.extents + facts.rank});
  ASSERT_TRUE(self.ok_on_device(lpt_tensor_copy(self.cpu, output, expected.get())));
  ASSERT_TRUE(self.ok_on_device(call(self.cpu, self.bootstrap, input, expected.get())));
  ASSERT_TRUE(self.ok(call(self.gpu, self.comm, input_on_device.get(), output_on_device.get())));
  EXPECT_EQ(bytes_of(self.cpu, expected.get()), bytes_on_device(self, output_on_device.get())) << "rank " << self.rank;
}

struct Case {
  const char *name;
  void (*run)(const GpuRank &);
};
void PrintTo(const Case &item, std::ostream *out) { *out << item.name; }

// Collectives that copy data.

void broadcasts(const GpuRank &self) {
  for (int32_t root = 0; root < self.ranks; ++root) {
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_NVFP4, LPT_FORMAT_UINT4_1X32}) {
      const Tensor mine = numbers(self, format, 3, 64);
      expect_equal(self, mine.get(), mine.get(), [&](auto *context, auto *comm, auto *, auto *output) {
        return lpt_broadcast(context, comm, root, output, nullptr);
      });
    }
  }
}

void gathers(const GpuRank &self) {
  std::vector<int64_t> counts;
  int64_t rows = 0;
  for (int64_t q = 0; q < self.ranks; ++q) {
    counts.push_back(2 * q + 1);
    rows += counts.back();
  }
  for (const lpt_format format : {LPT_FORMAT_BF16, LPT_FORMAT_MXFP8_E4M3}) {
    const Tensor mine = numbers(self, format, 2 * self.rank + 1, 96), all = make_tensor(self.cpu, format, rows, 96);
    expect_equal(self, mine.get(), all.get(), [&](auto *context, auto *comm, auto *input, auto *output) {
      return lpt_all_gather(context, comm, input, counts.data(), nullptr, output, nullptr);
    });
  }
}

void exchanges(const GpuRank &self) {
  const int64_t rows = 3 * self.ranks;
  const Tensor mine = numbers(self, LPT_FORMAT_E4M3FN_1X128, rows, 256),
               theirs = make_tensor(self.cpu, LPT_FORMAT_E4M3FN_1X128, rows, 256);
  expect_equal(self, mine.get(), theirs.get(), [&](auto *context, auto *comm, auto *input, auto *output) {
    return lpt_all_to_all(context, comm, input, nullptr, nullptr, output, nullptr);
  });
}

// Sends to the next rank and receives from the preceding one. One rank receives first, to avoid deadlock.
void mail(const GpuRank &self) {
  if (self.ranks == 1) return;
  const int32_t next = (self.rank + 1) % self.ranks, before = (self.rank + self.ranks - 1) % self.ranks;
  const Tensor mine = numbers(self, LPT_FORMAT_F32, 5, 40), theirs = make_tensor(self.cpu, LPT_FORMAT_F32, 5, 40);
  expect_equal(self, mine.get(), theirs.get(), [&](auto *context, auto *comm, auto *input, auto *output) {
    const auto send = [&] { return lpt_send(context, comm, input, next, 3, nullptr); };
    const auto receive = [&] { return lpt_receive(context, comm, output, before, 3, nullptr); };
    if (self.rank == 0) return std::max(send(), receive());
    return std::max(receive(), send());
  });
}

void parts(const GpuRank &self) {
  const int32_t color = self.rank == 0 ? -1 : self.rank % 2;
  Comm there, here;
  ASSERT_TRUE(self.ok(lpt_comm_split(self.gpu, self.comm, color, -self.rank, out(there))));
  ASSERT_TRUE(self.ok_on_device(lpt_comm_split(self.cpu, self.bootstrap, color, -self.rank, out(here))));
  ASSERT_EQ(color < 0, there == nullptr);
  if (there == nullptr) return;
  lpt_comm_info values = LPT_COMM_INFO_INIT, expected = LPT_COMM_INFO_INIT;
  ASSERT_TRUE(self.ok(lpt_comm_read(self.gpu, there.get(), &values)));
  ASSERT_TRUE(self.ok_on_device(lpt_comm_read(self.cpu, here.get(), &expected)));
  EXPECT_EQ(expected.rank, values.rank);
  EXPECT_EQ(expected.rank_count, values.rank_count);
  GpuRank part = self;
  part.bootstrap = here.get();
  part.comm = there.get();
  const Tensor mine = numbers(self, LPT_FORMAT_F32, 3, 50);
  expect_equal(part, mine.get(), mine.get(), [&](auto *context, auto *comm, auto *input, auto *output) {
    return lpt_all_reduce(context, comm, input, nullptr, output, nullptr);
  });
}

// Sums.

void sums(const GpuRank &self) {
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    for (lpt_reduction reduction = LPT_REDUCTION_SUM; reduction <= LPT_REDUCTION_MINIMUM; ++reduction) {
      const int64_t columns = reduction == LPT_REDUCTION_SUM ? 9000 : 300;  // large: two-shot algorithm; small:
                                                                            // one-shot
      const Tensor mine = numbers(self, format, 5, columns);
      lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
      options.reduction = reduction;
      options.factor = 0.3;
      expect_equal(self, mine.get(), mine.get(), [&](auto *context, auto *comm, auto *input, auto *output) {
        return lpt_all_reduce(context, comm, input, &options, output, nullptr);
      });
    }
  }
}

// Columns of a wider matrix, in place.
void sums_of_columns(const GpuRank &self) {
  for (const int64_t rows : {3, 400}) {
    const Tensor whole = numbers(self, LPT_FORMAT_F32, rows, 80);
    expect_equal(self, whole.get(), whole.get(), [&](auto *context, auto *comm, auto *, auto *output) {
      const Tensor some = view(context, output, {0, 16}, {rows, 45});
      return lpt_all_reduce(context, comm, some.get(), nullptr, some.get(), nullptr);
    });
  }
}

void sums_of_parts(const GpuRank &self) {
  std::vector<int64_t> counts;
  int64_t rows = 0;
  for (int64_t q = 0; q < self.ranks; ++q) rows += counts.emplace_back(7 - q);
  const int64_t own = counts[static_cast<size_t>(self.rank)];
  for (const lpt_format wire : {LPT_FORMAT_NONE, LPT_FORMAT_E4M3FN_1X128}) {
    const Tensor mine = numbers(self, LPT_FORMAT_F32, rows, 512),
                 part = make_tensor(self.cpu, LPT_FORMAT_F32, own, 512);
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.wire = wire;
    expect_equal(self, mine.get(), part.get(), [&](auto *context, auto *comm, auto *input, auto *output) {
      return lpt_reduce_scatter(context, comm, input, counts.data(), &options, output, nullptr);
    });
  }
}

void sums_of_many(const GpuRank &self) {
  const Tensor first = numbers(self, LPT_FORMAT_F32, 3, 50), second = numbers(self, LPT_FORMAT_F32, 1, 77, 2);
  const Tensor first_on_device = there(self, first.get()), second_on_device = there(self, second.get());
  lpt_tensor *const on_cpu[] = {first.get(), second.get()}, *const on_gpu[] = {first_on_device.get(),
                                                                               second_on_device.get()};
  ASSERT_TRUE(self.ok_on_device(lpt_all_reduce_many(self.cpu, self.bootstrap, on_cpu, 2, nullptr, nullptr)));
  ASSERT_TRUE(self.ok(lpt_all_reduce_many(self.gpu, self.comm, on_gpu, 2, nullptr, nullptr)));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(bytes_of(self.cpu, on_cpu[i]), bytes_on_device(self, on_gpu[i]));
}

void sums_by_wire(const GpuRank &self) {
  for (const lpt_format wire :
       {LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_MXFP8_E5M2, LPT_FORMAT_MXFP4, LPT_FORMAT_NVFP4, LPT_FORMAT_E4M3FN_TENSOR}) {
    for (const lpt_reduce_algorithm algorithm : {LPT_REDUCE_ALGORITHM_ONE_SHOT, LPT_REDUCE_ALGORITHM_TWO_SHOT}) {
      const Tensor mine =
          numbers(self, algorithm == LPT_REDUCE_ALGORITHM_ONE_SHOT ? LPT_FORMAT_F32 : LPT_FORMAT_BF16, 3, 1100);
      lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
      options.wire = wire;
      options.algorithm = algorithm;
      options.reduction = LPT_REDUCTION_AVERAGE;
      expect_equal(self, mine.get(), mine.get(), [&](auto *context, auto *comm, auto *input, auto *output) {
        return lpt_all_reduce(context, comm, input, &options, output, nullptr);
      });
    }
  }
}

void sums_by_wire_are_drawn_alike(const GpuRank &self) {
  const Tensor mine = numbers(self, LPT_FORMAT_F32, 2, 1500);
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.wire = LPT_FORMAT_MXFP8_E4M3;
  options.algorithm = LPT_REDUCE_ALGORITHM_TWO_SHOT;
  options.rounding = LPT_ROUNDING_STOCHASTIC;
  options.random.seed = 7;
  expect_equal(self, mine.get(), mine.get(), [&](auto *context, auto *comm, auto *input, auto *output) {
    return lpt_all_reduce(context, comm, input, &options, output, nullptr);
  });
}

// Shared columns are added, private columns are scaled; in place and out of place.
void partly_shared(const GpuRank &self) {
  const Plan plan = make_plan(self, 96, 40, LPT_FORMAT_E4M3FN_1X128);
  for (const lpt_partial_pass pass : {LPT_PARTIAL_PASS_FORWARD, LPT_PARTIAL_PASS_BACKWARD}) {
    const Tensor mine = numbers(self, LPT_FORMAT_BF16, 60, 96), other = make_tensor(self.cpu, LPT_FORMAT_BF16, 60, 96);
    const auto apart = [&](auto *context, auto *comm, auto *input, auto *output) {
      return lpt_partial_all_reduce(context, comm, plan.get(), pass, input, output, nullptr);
    };
    expect_equal(self, mine.get(), other.get(), apart);
    expect_equal(self, mine.get(), mine.get(),
                 [&](auto *context, auto *comm, auto *, auto *output) { return apart(context, comm, output, output); });
  }
}

// Integers from -3 to 3, so that sums in any order have the same bits.
Tensor integers(const GpuRank &self, lpt_format format, int64_t rows, int64_t columns) {
  std::vector<double> values(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>((7 * i + 3 * static_cast<size_t>(self.rank) + i / 5) % 7) - 3.0;
  }
  return tensor_of(self.cpu, format, rows, columns, values);
}

void gemms_partly_shared(const GpuRank &self) {
  const struct {
    int64_t shared;
    int32_t is_b_transposed;
    lpt_format b;
  } kCases[] = {
      {40, 1, LPT_FORMAT_BF16},
      {40, 0, LPT_FORMAT_BF16},
      {37, 0, LPT_FORMAT_BF16},  // with 37, no column begins at a
                                 // byte boundary
      {0, 1, LPT_FORMAT_BF16},
      {96, 1, LPT_FORMAT_BF16},
      {40, 1, LPT_FORMAT_E4M3FN},
  };
  for (const auto &given : kCases) {
    const Plan plan = make_plan(self, 96, given.shared, LPT_FORMAT_NONE);
    const Tensor a = integers(self, LPT_FORMAT_BF16, 20, 32);
    const Tensor b = given.is_b_transposed != 0 ? integers(self, given.b, 96, 32) : integers(self, given.b, 32, 96);
    const Tensor b_on_device = there(self, b.get()), c = make_tensor(self.cpu, LPT_FORMAT_F32, 20, 96);
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = given.is_b_transposed;
    expect_equal(self, a.get(), c.get(), [&](auto *context, auto *comm, auto *input, auto *output) {
      const lpt_tensor *const weight = context == self.gpu ? b_on_device.get() : b.get();
      return lpt_partial_gemm(context, comm, plan.get(), input, weight, &options, output);
    });
  }
}

// Asynchronous collectives.

// Three queued calls, each reading the output of the preceding one: they run in call order.
void futures(const GpuRank &self) {
  const Tensor mine = numbers(self, LPT_FORMAT_F32, 2, 3000);
  expect_equal(self, mine.get(), mine.get(), [&](auto *context, auto *comm, auto *, auto *output) {
    Future future[3];
    for (Future &next : future) {
      const lpt_status status = lpt_all_reduce(context, comm, output, nullptr, output, out(next));
      if (status != LPT_OK) return status;
    }
    for (Future &next : future) {
      const lpt_status status = lpt_future_wait(context, next.get());
      if (status != LPT_OK) return status;
    }
    int32_t is_done = 0;
    while (is_done == 0 && lpt_future_is_done(context, future[2].get(), &is_done) == LPT_OK) std::this_thread::yield();
    return static_cast<lpt_status>(LPT_OK);
  });
}

// Two passes, which are sent in different orders on CPUs.
lpt_status reduce_in_buckets(lpt_context *context, lpt_comm *comm, std::vector<lpt_tensor *> gradients) {
  lpt_gradient_buckets_options options = LPT_GRADIENT_BUCKETS_OPTIONS_INIT;
  options.bucket_bytes = 4000;
  lpt_gradient_buckets *raw = nullptr;
  lpt_status status = lpt_gradient_buckets_create(context, comm, gradients.data(),
                                                  static_cast<int64_t>(gradients.size()), &options, &raw);
  const std::unique_ptr<lpt_gradient_buckets, decltype(&lpt_gradient_buckets_destroy)> buckets(
      raw, lpt_gradient_buckets_destroy);
  for (int pass = 0; pass < 2 && status == LPT_OK; ++pass) {
    status = lpt_gradient_buckets_begin(context, raw, 1, nullptr);
    for (const int64_t index : {1, 2, 0}) {
      if (status == LPT_OK) status = lpt_gradient_buckets_ready(context, raw, index);
    }
    if (status == LPT_OK) status = lpt_gradient_buckets_wait(context, raw);
  }
  return status;
}

void buckets(const GpuRank &self) {
  std::vector<Tensor> here_all, there_all;
  std::vector<lpt_tensor *> on_cpu, on_gpu;
  for (const int64_t rows : {5, 12, 3}) {
    here_all.push_back(numbers(self, LPT_FORMAT_F32, rows, 64, static_cast<uint64_t>(rows)));
    there_all.push_back(there(self, here_all.back().get()));
    on_cpu.push_back(here_all.back().get());
    on_gpu.push_back(there_all.back().get());
  }
  ASSERT_TRUE(self.ok_on_device(reduce_in_buckets(self.cpu, self.bootstrap, on_cpu)));
  ASSERT_TRUE(self.ok(reduce_in_buckets(self.gpu, self.comm, on_gpu)));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(bytes_of(self.cpu, on_cpu[i]), bytes_on_device(self, on_gpu[i])) << i;
}

constexpr Case kCases[] = {
    {"Broadcasts", broadcasts},
    {"Gathers", gathers},
    {"Exchanges", exchanges},
    {"Mail", mail},
    {"Parts", parts},
    {"Sums", sums},
    {"SumsOfColumns", sums_of_columns},
    {"SumsOfParts", sums_of_parts},
    {"SumsOfMany", sums_of_many},
    {"SumsByWire", sums_by_wire},
    {"SumsByWireAreDrawnAlike", sums_by_wire_are_drawn_alike},
    {"PartlyShared", partly_shared},
    {"GemmsPartlyShared", gemms_partly_shared},
    {"Futures", futures},
    {"Buckets", buckets},
};

class NcclRanks : public testing::TestWithParam<std::tuple<Case, int32_t>> {
 private:
  const Surroundings surroundings_;
};

TEST_P(NcclRanks, HaveTheBitsOfCpus) {
  const auto &[item, ranks] = GetParam();
  run_gpu_ranks(ranks, {}, [&item = item](const GpuRank &self, Comm &) { item.run(self); });
}

// Includes the scratch of comms, for work on the streams of the comms.
TEST(NcclAllocator, OfTheCallerGivesTheMemoryOfComms) {
  const Surroundings surroundings;
  DevicePool first(0), second(1);
  RankOptions options;
  options.contexts = {first.options(), second.options()};
  setenv("LPT_TEST_NO_MEMORY", "1", 1);
  for (const auto run : {sums, sums_by_wire, futures}) {
    run_gpu_ranks(2, options, [run](const GpuRank &self, Comm &) { run(self); });
  }
  unsetenv("LPT_TEST_NO_MEMORY");
  for (DevicePool *const pool : {&first, &second}) {
    const std::vector<void *> streams = pool->streams();
    EXPECT_TRUE(std::any_of(streams.begin(), streams.end(), [](void *stream) { return stream != nullptr; }));
    EXPECT_EQ(0, pool->live_count());
  }
}

INSTANTIATE_TEST_SUITE_P(Suite, NcclRanks, testing::Combine(testing::ValuesIn(kCases), testing::Values(1, 2, 3, 4)),
                         [](const auto &setting) {
                           return std::string(std::get<0>(setting.param).name) +
                                  std::to_string(std::get<1>(setting.param));
                         });

}  // namespace
}  // namespace lpt::test
