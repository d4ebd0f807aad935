// Ranks as threads of a test, with one GPU each of the test runtime, connected by the NCCL stub.
#pragma once

#include <functional>
#include <thread>

#include "tests/device/support.hpp"
#include "tests/support/program_folder.hpp"

namespace lpt::test {

// Environment variables of the plugin, NCCL and the test runtime.
class Surroundings {
 public:
  Surroundings() {
    const std::string folder = program_folder();
    setenv("LPT_PLUGIN_PATH", (folder + "/on_cpu").c_str(), 1);
    setenv("LPT_NCCL", (folder + "/nccl/libnccl.so.2").c_str(), 1);
    setenv("LPT_CUBLASLT", (folder + "/on_cpu/libcublasLt.so.13").c_str(), 1);
    setenv("LPT_TEST_DEVICES", "4", 1);
  }
  ~Surroundings() {
    for (const char *name : {"LPT_PLUGIN_PATH", "LPT_NCCL", "LPT_CUBLASLT", "LPT_TEST_DEVICES", "LPT_TEST_NCCL_VERSION",
                             "LPT_TEST_NCCL_FAILS_AT", "LPT_TEST_NCCL_REJECTS_RANK"}) {
      unsetenv(name);
    }
  }
};

// One rank: a CPU context, a GPU context, and a comm for each.
struct GpuRank {
  lpt_context *cpu, *gpu;
  lpt_comm *bootstrap;  // CPUs
  lpt_comm *comm;       // GPUs
  int32_t rank, ranks;

  testing::AssertionResult ok(lpt_status status) const {
    return test::ok(gpu, status) << " (rank " << rank << " of " << ranks << ")";
  }
  testing::AssertionResult ok_on_device(lpt_status status) const {
    return test::ok(cpu, status) << " (rank " << rank << ")";
  }
  std::string error() const { return lpt_context_error(gpu); }
};

struct RankOptions {
  double timeout_seconds = 100.0;  // for the comm of GPUs
  double join_seconds = 100.0;
  uint64_t flags = 0;
  std::vector<lpt_context_options> contexts = {};  // of the GPUs, by rank; empty: defaults
};

// Runs body(rank, bootstrap) on `ranks` threads, before the comm of GPUs is created.
template <typename Body>
void join_ranks(int32_t ranks, const RankOptions &requests, const Body &body) {
  lpt_comm_group *raw_group = nullptr;
  ASSERT_EQ(LPT_OK, lpt_comm_group_create(nullptr, ranks, &raw_group));
  const Group group(raw_group);
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const Context cpu = make_context(1);
      const Context gpu = make_gpu_context(requests.contexts.empty() ? gpu_options(rank)
                                                                     : requests.contexts[static_cast<size_t>(rank)]);
      lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
      options.timeout_seconds = requests.join_seconds;
      Comm bootstrap;
      ASSERT_TRUE(ok(cpu.get(), lpt_comm_create_local(cpu.get(), group.get(), rank, &options, out(bootstrap))));
      body(GpuRank{cpu.get(), gpu.get(), bootstrap.get(), nullptr, rank, ranks}, bootstrap);
    });
  }
  for (std::thread &thread : threads) thread.join();
}

inline lpt_status create_nccl(const GpuRank &self, const RankOptions &requests, Comm &comm) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = requests.timeout_seconds;
  options.flags = requests.flags;
  options.bootstrap = self.bootstrap;
  return lpt_comm_create_nccl(self.gpu, &options, out(comm));
}

// Runs body(rank, comm) on `ranks` threads with a comm of GPUs.
template <typename Body>
void run_gpu_ranks(int32_t ranks, const RankOptions &requests, const Body &body) {
  join_ranks(ranks, requests, [&](GpuRank self, Comm &) {
    Comm comm;
    ASSERT_TRUE(self.ok(create_nccl(self, requests, comm)));
    self.comm = comm.get();
    body(self, comm);
  });
}

// Copies a tensor to the GPU of the rank; here() copies it back.
inline Tensor there(const GpuRank &self, const lpt_tensor *here) {
  const lpt_tensor_description facts = describe(self.cpu, here);
  Tensor copy = make_tensor(self.gpu, facts.format, {facts.extents, facts.extents + facts.rank});
  EXPECT_TRUE(self.ok(lpt_tensor_copy(self.gpu, here, copy.get())));
  return copy;
}

inline Tensor here(const GpuRank &self, const lpt_tensor *there) {
  const lpt_tensor_description facts = describe(self.gpu, there);
  Tensor copy = make_tensor(self.cpu, facts.format, {facts.extents, facts.extents + facts.rank});
  EXPECT_TRUE(self.ok(lpt_tensor_copy(self.gpu, there, copy.get())));
  EXPECT_TRUE(self.ok(lpt_context_synchronize(self.gpu)));
  return copy;
}

struct DestroyPlan {
  void operator()(lpt_partial_plan *plan) const { lpt_partial_plan_destroy(plan); }
};
using Plan = std::unique_ptr<lpt_partial_plan, DestroyPlan>;

inline Plan make_plan(const GpuRank &self, int64_t hidden, int64_t shared, lpt_format backward_wire) {
  lpt_partial_plan_options options = LPT_PARTIAL_PLAN_OPTIONS_INIT;
  options.hidden_columns = hidden;
  options.shared_columns = shared;
  options.rank_count = self.ranks;
  options.backward_wire = backward_wire;
  lpt_partial_plan *plan = nullptr;
  EXPECT_TRUE(self.ok_on_device(lpt_partial_plan_create(self.cpu, &options, &plan)));
  return Plan(plan);
}

inline std::vector<uint8_t> bytes_on_device(const GpuRank &self, const lpt_tensor *tensor) {
  return bytes_of(self.cpu, here(self, tensor).get());
}

}  // namespace lpt::test
