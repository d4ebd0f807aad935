// Everything about loose lines that can run, fastest first, the reference last.
#include "kernels/loose/rows.hpp"

namespace lpt {
namespace {

constexpr Row<MarkRequest> kMarkRows[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"mark_units_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, nullptr, mark_units_x86_avx512_vnni},
#endif
    {"mark_units_ref", 0, nullptr, mark_units_ref},
};

constexpr Row<LoosenRequest> kLoosenRows[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"loosen_units_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, nullptr, loosen_units_x86_avx512_vnni},
#endif
    {"loosen_units_ref", 0, nullptr, loosen_units_ref},
};

constexpr Row<FillRequest> kFillRows[] = {
#if defined(LPT_HAVE_X86_AVX512_VNNI)
    {"fill_units_x86_avx512_vnni", kCpuAvx512 | kCpuAvx512Vnni, nullptr, fill_units_x86_avx512_vnni},
#endif
    {"fill_units_ref", 0, nullptr, fill_units_ref},
};

}  // namespace

std::span<const Row<MarkRequest>> mark_kernels() { return kMarkRows; }
std::span<const Row<LoosenRequest>> loosen_kernels() { return kLoosenRows; }
std::span<const Row<FillRequest>> fill_kernels() { return kFillRows; }

}  // namespace lpt
