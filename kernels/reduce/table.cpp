// Kernels of the reduction, fastest first, the reference kernel last.
#include "kernels/reduce/reduce.hpp"

namespace lpt {
namespace {

constexpr KernelEntry<ReduceRequest> kReduceKernels[] = {LPT_SIMD_ENTRIES(reduce, nullptr)
                                                             LPT_REF_ENTRY(reduce, nullptr)};

}  // namespace

std::span<const KernelEntry<ReduceRequest>> reduce_kernels() { return kReduceKernels; }

}  // namespace lpt
