// GEMMs by the library's CUDA kernels on the CPU, checked by sums in double.
#pragma once

#include "kernels/gemm/cuda/cuda_gemm.hpp"
#include "tests/kernels/gemm_problem.hpp"
#include "tests/simt/device_kernels.hpp"

namespace lpt::test {

// The kernels of the table, by purpose.
inline std::span<const KernelEntry<GemmRequest>> few_rows_kernels() { return gemm_device_kernels().first(2); }
inline std::span<const KernelEntry<GemmRequest>> warpgroups_kernels() { return gemm_device_kernels().subspan(2, 1); }
inline std::span<const KernelEntry<GemmRequest>> tiles_kernels() { return gemm_device_kernels().last(2); }

inline const KernelEntry<GemmRequest> *kernel_for(const GemmRequest &request) {
  for (const KernelEntry<GemmRequest> &kernel : gemm_device_kernels()) {
    if (kernel.unsupported_reason(request) == nullptr) return &kernel;
  }
  return nullptr;
}

// Runs a kernel with its scratch, filled with NaN.
inline void run_on_cpu(const KernelEntry<GemmRequest> &kernel, GemmRequest request) {
  Guarded scratch(kernel.scratch_bytes == nullptr ? 0 : kernel.scratch_bytes(request));
  std::fill_n(scratch.data(), scratch.bytes(), uint8_t{0xFF});
  request.scratch = reinterpret_cast<std::byte *>(scratch.data());
  kernel.queue(request, nullptr);
  EXPECT_TRUE(scratch.is_intact()) << kernel.name;
}

struct GemmCase {
  const char *a, *b;
  lpt_format c;
  int64_t m, n, k;
};

// Rows of scales and of c have gaps; rows of a and b are aligned to 16 bytes.
inline void check(const GemmCase &c, Random &random, Tally &tally, const KernelOptions &options = {}) {
  Problem problem(c.a, c.b, c.c, false, true, c.m, c.n, c.k, 32);
  problem.request.options = options;
  problem.draw(random);
  if (random.chance(0.5)) problem.add_terms(random.normal(), random.chance(0.5) ? 0.5 : 0.0, random.chance(0.5));
  const KernelEntry<GemmRequest> *const kernel = kernel_for(problem.request);
  ASSERT_NE(kernel, nullptr) << problem.name;
  Oracle oracle(problem);
  take_next_order();
  run_on_cpu(*kernel, problem.request);
  oracle.judge(kernel->name);
  EXPECT_TRUE(problem.a.is_intact() && problem.b.is_intact() && problem.c.is_intact()) << problem.name;
  tally.add(kernel->name);
}

}  // namespace lpt::test
