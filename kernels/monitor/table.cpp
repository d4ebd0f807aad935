// Kernels of the pair sums, fastest first, reference kernels last.
#include "kernels/monitor/monitor.hpp"

namespace lpt {
namespace {

const char *unsupported_f32(const PairSumsRequest &request) {
  return request.first_format == LPT_FORMAT_F32 && request.second_format == LPT_FORMAT_F32 ? nullptr
                                                                                           : "not both are f32";
}

#if defined(LPT_HAVE_SIMD)
const char *unsupported_vectors(const PairSumsRequest &request) {
  return request.first_format == LPT_FORMAT_F64 || request.second_format == LPT_FORMAT_F64 ? "one is f64" : nullptr;
}
#endif

constexpr KernelEntry<PairSumsRequest> kPairSumsKernels[] = {
    LPT_SIMD_ENTRIES(pair_sums, unsupported_vectors) LPT_REF_ENTRY(pair_sums_f32, unsupported_f32),
    {"pair_sums_any_ref", 0, nullptr, pair_sums_any_ref},
};

}  // namespace

std::span<const KernelEntry<PairSumsRequest>> pair_sums_kernels() { return kPairSumsKernels; }

}  // namespace lpt
