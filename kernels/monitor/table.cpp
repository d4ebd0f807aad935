// Every comparison that can run, fastest first, the reference last.
#include "kernels/monitor/rows.hpp"

namespace lpt {
namespace {

const char *refuses_f32(const PairSumsRequest &request) {
  return request.first_format == LPT_FORMAT_F32 && request.second_format == LPT_FORMAT_F32 ? nullptr
                                                                                           : "not both are f32";
}

constexpr Row<PairSumsRequest> kPairSumsRows[] = {
    {"pair_sums_f32_ref", 0, refuses_f32, pair_sums_f32_ref},
    {"pair_sums_any_ref", 0, nullptr, pair_sums_any_ref},
};

}  // namespace

std::span<const Row<PairSumsRequest>> pair_sums_kernels() { return kPairSumsRows; }

}  // namespace lpt
