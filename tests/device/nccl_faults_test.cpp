// Missing libraries, late ranks, mismatched calls and failures of ranks on GPUs: every rank returns a status and a message, and
// no rank waits without limit.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>

#include "tests/device/ranks.hpp"

namespace lpt::test {
namespace {

class NcclFaults : public testing::Test {
 private:
  const Surroundings surroundings_;
};

// Creating a comm fails on both ranks with these messages.
void expect_no_comm(lpt_status expected, const std::vector<const char *> &words) {
  join_ranks(2, {}, [&](const GpuRank &self, Comm &) {
    Comm comm;
    EXPECT_EQ(expected, create_nccl(self, {}, comm));
    expect_words(words, self.error());
    EXPECT_EQ(nullptr, comm.get());
  });
}

lpt_status sum_floats(const GpuRank &self, int64_t count) {
  const Tensor both = make_tensor(self.gpu, LPT_FORMAT_F32, 1, count);
  const lpt_status status = lpt_all_reduce(self.gpu, self.comm, both.get(), nullptr, both.get(), nullptr);
  return status == LPT_OK ? lpt_context_synchronize(self.gpu) : status;
}

RankOptions uncompared(double seconds) { return {seconds, 100.0, LPT_COMM_SKIP_CHECKS}; }

// Library.

TEST_F(NcclFaults, AMissingLibraryIsNamed) {
  setenv("LPT_NCCL", "/nowhere/libnccl.so.2", 1);
  expect_no_comm(LPT_UNSUPPORTED, {"rank 0: /nowhere/libnccl.so.2", "No such file", "LPT_NCCL"});
}

TEST_F(NcclFaults, AnOldLibraryIsNamed) {
  setenv("LPT_TEST_NCCL_VERSION", "21603", 1);
  expect_no_comm(LPT_UNSUPPORTED, {"rank 0", "NCCL 2.16.3", "2.18.0 or later"});
}

TEST_F(NcclFaults, ALibraryThatIsNoneIsNamed) {
  setenv("LPT_NCCL", "libm.so.6", 1);
  expect_no_comm(LPT_UNSUPPORTED, {"libm.so.6: it has no ncclGetVersion"});
}

// Bootstrap.

TEST_F(NcclFaults, ARankThatNeverComesIsNamed) {
  join_ranks(2, {100.0, 2.0}, [](const GpuRank &self, Comm &bootstrap) {
    if (self.rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3000));
      return bootstrap.reset();
    }
    Comm comm;
    EXPECT_EQ(LPT_TIMEOUT, create_nccl(self, {}, comm));
    expect_words({"rank 1", "2 seconds"}, self.error());
  });
}

TEST_F(NcclFaults, ARankThatNcclRejectsEndsTheOthersWait) {
  setenv("LPT_TEST_NCCL_REJECTS_RANK", "1", 1);
  join_ranks(3, {}, [](const GpuRank &self, Comm &) {
    Comm comm;
    EXPECT_EQ(self.rank == 1 ? LPT_WORK_FAILED : LPT_TIMEOUT, create_nccl(self, {1.0}, comm));
    expect_words({"ncclCommInitRankConfig", self.rank == 1 ? "invalid usage: this rank is rejected" : "1 seconds"},
                 self.error());
  });
}

TEST_F(NcclFaults, TwoRanksOnOneGpuAreRejectedInItsWords) {
  join_ranks(2, {}, [](GpuRank self, Comm &) {
    const Context same = make_gpu_context(0);
    self.gpu = same.get();
    Comm comm;
    EXPECT_NE(LPT_OK, create_nccl(self, {1.0}, comm));
    if (self.error().find("1 seconds") == std::string::npos) expect_words({"Duplicate GPU detected"}, self.error());
  });
}

TEST_F(NcclFaults, OtherOptionsAreFound) {
  join_ranks(2, {}, [](const GpuRank &self, Comm &) {
    RankOptions requests;
    requests.flags = self.rank == 1 ? LPT_COMM_SKIP_CHECKS : 0;
    Comm comm;
    EXPECT_EQ(LPT_MISMATCH, create_nccl(self, requests, comm));
    expect_words({"ranks disagree", "comm_create_nccl"}, self.error());
  });
}

TEST_F(NcclFaults, ArgumentsAreChecked) {
  join_ranks(1, {}, [](const GpuRank &self, Comm &bootstrap) {
    Comm comm;
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_comm_create_nccl(self.gpu, nullptr, out(comm)));
    expect_words({"options->bootstrap is NULL"}, self.error());
    lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
    options.flags = LPT_COMM_CHECKSUMS;
    options.bootstrap = bootstrap.get();
    EXPECT_EQ(LPT_UNSUPPORTED, lpt_comm_create_nccl(self.gpu, &options, out(comm)));
    ASSERT_TRUE(self.ok(create_nccl(self, {}, comm)));
    Comm other;
    options.flags = 0;
    options.bootstrap = comm.get();
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_comm_create_nccl(self.gpu, &options, out(other)));
    expect_words({"bootstrap works on cuda:0", "expected ranks on CPUs"}, self.error());
  });
}

// Mismatched calls.

TEST_F(NcclFaults, AnotherSizeIsFoundBeforeAnythingIsQueued) {
  run_gpu_ranks(3, {}, [](const GpuRank &self, Comm &) {
    EXPECT_EQ(LPT_MISMATCH, sum_floats(self, self.rank == 1 ? 101 : 100));
    expect_words({"ranks disagree", "100", "101"}, self.error());
    EXPECT_NE(LPT_OK, sum_floats(self, 100)) << "the comm stays broken";
  });
}

TEST_F(NcclFaults, AnotherSizeEndsByTheTimeLimitWhereNoRankCompares) {
  run_gpu_ranks(2, uncompared(1.0), [](const GpuRank &self, Comm &) {
    const Tensor both = make_tensor(self.gpu, LPT_FORMAT_F32, 1, self.rank == 1 ? 101 : 100);
    ASSERT_TRUE(self.ok(lpt_broadcast(self.gpu, self.comm, 0, both.get(), nullptr))) << "it is queued";
    const lpt_status status = lpt_context_synchronize(self.gpu);
    EXPECT_TRUE(status == LPT_TIMEOUT || status == LPT_OK) << "one that gave up ends the other";
    if (status == LPT_TIMEOUT) expect_words({"broadcast", "1 seconds"}, self.error());
  });
}

TEST_F(NcclFaults, CountsThatDoNotFitAreFound) {
  run_gpu_ranks(2, {}, [](const GpuRank &self, Comm &) {
    const bool is_bad = self.rank == 1;
    const Tensor input = make_tensor(self.gpu, LPT_FORMAT_F32, 4, 4);
    const Tensor output = make_tensor(self.gpu, LPT_FORMAT_F32, is_bad ? 5 : 4, 4);
    const int64_t sent[2] = {2, 2}, received[2] = {is_bad ? 3 : 2, 2};
    EXPECT_EQ(LPT_MISMATCH, lpt_all_to_all(self.gpu, self.comm, input.get(), sent, received, output.get(), nullptr));
    expect_words({"32 bytes", "48"}, self.error());
  });
}

TEST_F(NcclFaults, MailThatIsTakenInAnotherOrderIsFound) {
  run_gpu_ranks(2, {}, [](const GpuRank &self, Comm &) {
    const Tensor tensor = make_tensor(self.gpu, LPT_FORMAT_F32, 1, 4);
    if (self.rank == 0) {
      EXPECT_TRUE(self.ok(lpt_send(self.gpu, self.comm, tensor.get(), 1, 1, nullptr)));
      static_cast<void>(lpt_send(self.gpu, self.comm, tensor.get(), 1, 2, nullptr));
      return;
    }
    EXPECT_EQ(LPT_MISMATCH, lpt_receive(self.gpu, self.comm, tensor.get(), 0, 2, nullptr));
    expect_words({"tag 2 is message 1 of rank 0", "expected message 0"}, self.error());
  });
}

// Ranks that stop.

TEST_F(NcclFaults, ALateRankIsNamed) {
  std::atomic<bool> has_given_up{false};
  run_gpu_ranks(2, {100.0, 2.0}, [&](const GpuRank &self, Comm &) {
    if (self.rank == 1) {
      while (!has_given_up) std::this_thread::yield();
      EXPECT_NE(LPT_OK, sum_floats(self, 100)) << "too late";
      return;
    }
    EXPECT_EQ(LPT_TIMEOUT, sum_floats(self, 100));
    expect_words({"all_reduce", "rank 1"}, self.error());
    has_given_up = true;
  });
}

TEST_F(NcclFaults, QueuedBytesThatNeverComeEndByTheTimeLimit) {
  std::atomic<bool> has_given_up{false};
  run_gpu_ranks(2, uncompared(1.0), [&](const GpuRank &self, Comm &) {
    if (self.rank == 0) {
      while (!has_given_up) std::this_thread::yield();
      return;
    }
    const Tensor both = make_tensor(self.gpu, LPT_FORMAT_F32, 1, 100);
    Future future;
    ASSERT_TRUE(self.ok(lpt_broadcast(self.gpu, self.comm, 0, both.get(), out(future))));
    int32_t is_done = 1;
    ASSERT_TRUE(self.ok(lpt_future_is_done(self.gpu, future.get(), &is_done)));
    EXPECT_EQ(0, is_done);
    EXPECT_TRUE(self.ok(lpt_future_wait(self.gpu, future.get()))) << "the stream waits";
    EXPECT_EQ(LPT_TIMEOUT, lpt_context_synchronize(self.gpu));
    expect_words({"broadcast", "other ranks", "1 seconds"}, self.error());
    EXPECT_EQ(LPT_TIMEOUT, lpt_broadcast(self.gpu, self.comm, 0, both.get(), nullptr)) << "the comm stays broken";
    EXPECT_EQ(LPT_TIMEOUT, lpt_future_wait(self.cpu, future.get())) << "a host waits itself";
    has_given_up = true;
  });
}

TEST_F(NcclFaults, AnErrorOfNcclSurfacesInItsWords) {
  setenv("LPT_TEST_NCCL_FAILS_AT", "2", 1);
  run_gpu_ranks(2, uncompared(5.0), [](const GpuRank &self, Comm &) {
    EXPECT_TRUE(self.ok(sum_floats(self, 100)));
    if (self.rank == 1) return;
    EXPECT_EQ(LPT_WORK_FAILED, sum_floats(self, 100));
    expect_words({"remote process exited"}, self.error());
  });
}

TEST_F(NcclFaults, ARankThatLeavesFreesTheOthers) {
  run_gpu_ranks(3, {}, [](const GpuRank &self, Comm &comm) {
    ASSERT_TRUE(self.ok(lpt_barrier(self.gpu, self.comm)));
    if (self.rank == 1) return comm.reset();
    EXPECT_EQ(LPT_ABORTED, sum_floats(self, 100));
    expect_words({"all_reduce", "rank 1", "left"}, self.error());
  });
}

TEST_F(NcclFaults, ARankThatLeavesAtTheEndDisturbsNoRank) {
  run_gpu_ranks(4, {}, [](const GpuRank &self, Comm &comm) {
    const Tensor both = make_tensor(self.gpu, LPT_FORMAT_F32, 1, 100);
    EXPECT_TRUE(self.ok(lpt_all_reduce(self.gpu, self.comm, both.get(), nullptr, both.get(), nullptr)));
    comm.reset();
    EXPECT_TRUE(self.ok(lpt_context_synchronize(self.gpu)));
  });
}

// The work that the device of each rank receives, item by item.
class Steps {
 public:
  Steps() { setenv("LPT_TEST_STEPS", path_.c_str(), 1); }
  ~Steps() {
    unsetenv("LPT_TEST_STEPS");
    for (const char *rank : {"0", "1"}) std::remove((path_ + rank).c_str());
  }
  Steps(const Steps &) = delete;
  Steps &operator=(const Steps &) = delete;

  void begin(const GpuRank &self) const { std::remove(file_of(self).c_str()); }
  std::vector<std::string> of(const GpuRank &self) const {
    std::ifstream file(file_of(self));
    std::vector<std::string> steps;
    for (std::string line; std::getline(file, line);) steps.push_back(line);
    return steps;
  }

 private:
  std::string file_of(const GpuRank &self) const { return path_ + std::to_string(self.rank); }
  const std::string path_ = testing::TempDir() + "lpt_steps_" + std::to_string(getpid()) + "_";
};

// Schedule of partly shared sums: shared columns are packed, sent, added and unpacked on the stream of the comm, after the
// queued work of the context. Private columns are scaled concurrently.
TEST_F(NcclFaults, PrivateColumnsAreScaledBesideTheSum) {
  const Steps steps;
  run_gpu_ranks(2, {}, [&](const GpuRank &self, Comm &) {
    const Plan plan = make_plan(self, 64, 32, LPT_FORMAT_NONE);
    const Tensor input = make_tensor(self.gpu, LPT_FORMAT_F32, 4, 64);
    const Tensor output = make_tensor(self.gpu, LPT_FORMAT_F32, 4, 64);
    steps.begin(self);
    Future future;
    ASSERT_TRUE(self.ok(lpt_partial_all_reduce(self.gpu, self.comm, plan.get(), LPT_PARTIAL_PASS_FORWARD, input.get(),
                                               output.get(), out(future))));
    ASSERT_TRUE(self.ok(lpt_future_wait(self.gpu, future.get())));
    const std::vector<std::string> expected = {"context mark",   "comm wait",   "comm copy", "comm message",
                                               "comm kernel",    "comm copy",   "comm mark", "comm mark",
                                               "context kernel", "context wait"};
    EXPECT_EQ(expected, steps.of(self));
    ASSERT_TRUE(self.ok(lpt_context_synchronize(self.gpu)));
  });
}

// The same for a GEMM: its shared columns are computed first, and reduced concurrently with the GEMM of the other columns. The
// steps do not include the work of the library, only the kernels before and after it.
TEST_F(NcclFaults, PrivateColumnsAreMultipliedBesideTheSum) {
  const Steps steps;
  run_gpu_ranks(2, {}, [&](const GpuRank &self, Comm &) {
    const Plan plan = make_plan(self, 64, 32, LPT_FORMAT_NONE);
    const Tensor a = make_tensor(self.gpu, LPT_FORMAT_BF16, 16, 32);
    const Tensor b = make_tensor(self.gpu, LPT_FORMAT_E4M3FN, 64, 32);  // a kernel dequantizes it before each GEMM
    const Tensor c = make_tensor(self.gpu, LPT_FORMAT_F32, 16, 64);
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    steps.begin(self);
    ASSERT_TRUE(self.ok(lpt_partial_gemm(self.gpu, self.comm, plan.get(), a.get(), b.get(), &options, c.get())));
    const std::vector<std::string> expected = {"context kernel", "context mark",   "comm wait",      "comm copy",
                                               "comm message",   "comm kernel",    "comm copy",      "comm mark",
                                               "comm mark",      "context kernel", "context kernel", "context wait"};
    EXPECT_EQ(expected, steps.of(self));
    ASSERT_TRUE(self.ok(lpt_context_synchronize(self.gpu)));
  });
}

// Other cases.

TEST_F(NcclFaults, ABarrierOfRanksThatDoNotCompareWaitsForAll) {
  std::atomic<int> come{0};
  run_gpu_ranks(3, uncompared(100.0), [&](const GpuRank &self, Comm &) {
    if (self.rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ++come;
    EXPECT_TRUE(self.ok(lpt_barrier(self.gpu, self.comm)));
    EXPECT_EQ(3, come);
  });
}

TEST_F(NcclFaults, TensorsAndContextsOfAnotherDeviceAreRejected) {
  run_gpu_ranks(2, {}, [](const GpuRank &self, Comm &) {
    const Tensor here = make_tensor(self.cpu, LPT_FORMAT_F32, 2, 2),
                 there = make_tensor(self.gpu, LPT_FORMAT_F32, 2, 2);
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_broadcast(self.gpu, self.comm, 0, here.get(), nullptr));
    expect_words({"tensor is 2 x 2 f32 on cpu", "expected cuda:"}, self.error());
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_broadcast(self.cpu, self.comm, 0, there.get(), nullptr));
    expect_words({"context works on cpu", "where the comm does"}, lpt_context_error(self.cpu));
    int32_t is_same = 0;
    EXPECT_EQ(LPT_UNSUPPORTED, lpt_comm_compare(self.gpu, self.comm, here.get(), &is_same));
    expect_words({"ranks on CPUs alone"}, self.error());
    EXPECT_TRUE(self.ok(sum_floats(self, 100))) << "a rejected call takes no part";
  });
}

// Uses the stub like a program that calls NCCL directly.
TEST_F(NcclFaults, ACommunicatorOfTheCallerIsLeftToIt) {
  using Comm_t = struct ncclComm *;
  join_ranks(1, {}, [](const GpuRank &self, Comm &) {
    Comm own;
    ASSERT_TRUE(self.ok(create_nccl(self, {}, own))) << "connects the stub";
    void *const library = dlopen((program_folder() + "/nccl/libnccl.so.2").c_str(), RTLD_NOW);
    ASSERT_NE(nullptr, library);
    struct Id {
      char bytes[128];
    } id{};
    Comm_t theirs = nullptr;
    reinterpret_cast<int (*)(Id *)>(dlsym(library, "ncclGetUniqueId"))(&id);
    reinterpret_cast<int (*)(Comm_t *, int, Id, int, void *)>(dlsym(library, "ncclCommInitRankConfig"))(&theirs, 1, id,
                                                                                                        0, nullptr);
    {
      Comm comm;
      ASSERT_TRUE(self.ok(lpt_comm_adopt_nccl(self.gpu, theirs, nullptr, out(comm))));
      GpuRank rank = self;
      rank.comm = comm.get();
      EXPECT_TRUE(rank.ok(sum_floats(rank, 10)));
      EXPECT_TRUE(rank.ok(lpt_barrier(rank.gpu, rank.comm)));
    }
    int count = 0;
    reinterpret_cast<int (*)(Comm_t, int *)>(dlsym(library, "ncclCommCount"))(theirs, &count);
    EXPECT_EQ(1, count) << "it lives on";
    reinterpret_cast<int (*)(Comm_t)>(dlsym(library, "ncclCommDestroy"))(theirs);
  });
}

TEST_F(NcclFaults, WhatRanksOnCpusDoAloneIsRejected) {
  run_gpu_ranks(2, {}, [](const GpuRank &self, Comm &) {
    const Tensor part = make_tensor(self.gpu, LPT_FORMAT_F32, 2, 32),
                 whole = make_tensor(self.gpu, LPT_FORMAT_INT8_ROW, 4, 32);
    const lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
    lpt_all_gather_options gather = LPT_ALL_GATHER_OPTIONS_INIT;
    gather.cast = &cast;
    EXPECT_EQ(LPT_UNSUPPORTED, lpt_all_gather(self.gpu, self.comm, part.get(), nullptr, &gather, whole.get(), nullptr));
    expect_words({"ranks on CPUs alone"}, self.error());
    Comm outer;
    ASSERT_TRUE(self.ok(lpt_comm_split(self.gpu, self.comm, self.rank, 0, out(outer))));
    lpt_reduce_options levels = LPT_REDUCE_OPTIONS_INIT;
    levels.outer_comm = outer.get();
    EXPECT_EQ(LPT_UNSUPPORTED, lpt_all_reduce(self.gpu, self.comm, part.get(), &levels, part.get(), nullptr));
    expect_words({"options->outer_comm is given", "for ranks on CPUs"}, self.error());
    const Tensor result = make_tensor(self.gpu, LPT_FORMAT_F32, 2, 32);
    EXPECT_EQ(LPT_UNSUPPORTED, lpt_sequence_attention_forward(self.gpu, self.comm, nullptr, part.get(), part.get(),
                                                              part.get(), nullptr, result.get()));
    expect_words({"ranks on CPUs alone"}, self.error());
    EXPECT_TRUE(self.ok(sum_floats(self, 100))) << "a rejected call takes no part";
  });
}

// NCCL's native sum: the stub adds in reverse, so that the result differs from the sum in rank order.
TEST_F(NcclFaults, NativeSumsAreTheWires) {
  for (const bool is_to_all : {true, false}) {
    run_gpu_ranks(3, {}, [&](const GpuRank &self, Comm &) {
      const int64_t rows = 3;
      std::vector<std::vector<double>> all;
      for (uint64_t q = 0; q < 3; ++q) all.push_back(draw_normal(q, rows * 40));
      const Tensor mine = tensor_of(self.cpu, LPT_FORMAT_F32, rows, 40, all[static_cast<size_t>(self.rank)]);
      const Tensor input = there(self, mine.get());
      const Tensor output = make_tensor(self.gpu, LPT_FORMAT_F32, is_to_all ? rows : 1, 40);
      lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
      options.algorithm = LPT_REDUCE_ALGORITHM_NATIVE;
      ASSERT_TRUE(self.ok(
          is_to_all ? lpt_all_reduce(self.gpu, self.comm, input.get(), &options, output.get(), nullptr)
                    : lpt_reduce_scatter(self.gpu, self.comm, input.get(), nullptr, &options, output.get(), nullptr)));
      const std::vector<double> found = numbers_of(self.cpu, here(self, output.get()).get());
      const size_t first = is_to_all ? 0 : static_cast<size_t>(self.rank) * 40;
      for (size_t i = 0; i < found.size(); ++i) {
        const auto number = [&](size_t q) { return static_cast<float>(all[q][first + i]); };
        ASSERT_EQ(number(2) + number(1) + number(0), static_cast<float>(found[i])) << i;
      }
      options.factor = 2.0;
      EXPECT_EQ(LPT_UNSUPPORTED, lpt_all_reduce(self.gpu, self.comm, input.get(), &options, input.get(), nullptr));
      expect_words({"LPT_REDUCE_ALGORITHM_NATIVE", "factor is 2"}, self.error());
    });
  }
}

}  // namespace
}  // namespace lpt::test
