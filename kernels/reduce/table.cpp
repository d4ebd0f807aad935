// Every reduction that can run, fastest first, the reference last.
#include "kernels/reduce/reduce.hpp"

namespace lpt {
namespace {

constexpr KernelEntry<ReduceRequest> kReduceKernels[] = {LPT_SIMD_ENTRIES(reduce, nullptr)
                                                             LPT_REF_ENTRY(reduce, nullptr)};

}  // namespace

std::span<const KernelEntry<ReduceRequest>> reduce_kernels() { return kReduceKernels; }

}  // namespace lpt
