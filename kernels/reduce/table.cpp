// Every reduction that can run, fastest first, the reference last.
#include "kernels/reduce/kernels.hpp"

namespace lpt {
namespace {

constexpr KernelEntry<ReduceRequest> kReduceKernels[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {"reduce_x86_avx512", kCpuAvx512, nullptr, reduce_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"reduce_x86_avx2", kCpuAvx2, nullptr, reduce_x86_avx2},
#endif
    {"reduce_ref", 0, nullptr, reduce_ref},
};

}  // namespace

std::span<const KernelEntry<ReduceRequest>> reduce_kernels() { return kReduceKernels; }

}  // namespace lpt
