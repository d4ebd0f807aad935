// Every comparison that can run, fastest first, the reference last.
#include "kernels/monitor/kernels.hpp"

namespace lpt {
namespace {

const char *unsupported_f32(const PairSumsRequest &request) {
  return request.first_format == LPT_FORMAT_F32 && request.second_format == LPT_FORMAT_F32 ? nullptr
                                                                                           : "not both are f32";
}

#if defined(LPT_HAVE_X86_AVX2) || defined(LPT_HAVE_X86_AVX512)
const char *unsupported_vectors(const PairSumsRequest &request) {
  return request.first_format == LPT_FORMAT_F64 || request.second_format == LPT_FORMAT_F64 ? "one is f64" : nullptr;
}
#endif

constexpr KernelEntry<PairSumsRequest> kPairSumsKernels[] = {
#if defined(LPT_HAVE_X86_AVX512)
    {"pair_sums_x86_avx512", kCpuAvx512, unsupported_vectors, pair_sums_x86_avx512},
#endif
#if defined(LPT_HAVE_X86_AVX2)
    {"pair_sums_x86_avx2", kCpuAvx2, unsupported_vectors, pair_sums_x86_avx2},
#endif
    {"pair_sums_f32_ref", 0, unsupported_f32, pair_sums_f32_ref},
    {"pair_sums_any_ref", 0, nullptr, pair_sums_any_ref},
};

}  // namespace

std::span<const KernelEntry<PairSumsRequest>> pair_sums_kernels() { return kPairSumsKernels; }

}  // namespace lpt
