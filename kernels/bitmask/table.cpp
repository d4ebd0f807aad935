// Kernels of bitmask storage, fastest first, reference kernels last.
#include "kernels/bitmask/bitmask.hpp"

namespace lpt {
namespace {

constexpr KernelEntry<MarkRequest> kMarkKernels[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"mark_units_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, nullptr, mark_units_x86_avx512_vnni},
#endif
    {"mark_units_ref", 0, nullptr, mark_units_ref},
};

constexpr KernelEntry<CompactRequest> kCompactKernels[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"compact_units_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, nullptr, compact_units_x86_avx512_vnni},
#endif
    {"compact_units_ref", 0, nullptr, compact_units_ref},
};

constexpr KernelEntry<ExpandRequest> kFillKernels[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"fill_units_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, nullptr, fill_units_x86_avx512_vnni},
#endif
    {"fill_units_ref", 0, nullptr, fill_units_ref},
};

}  // namespace

std::span<const KernelEntry<MarkRequest>> mark_kernels() { return kMarkKernels; }
std::span<const KernelEntry<CompactRequest>> compact_kernels() { return kCompactKernels; }
std::span<const KernelEntry<ExpandRequest>> expand_kernels() { return kFillKernels; }

}  // namespace lpt
