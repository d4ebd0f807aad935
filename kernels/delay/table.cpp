// Kernels of the correction for delays.
#include "kernels/delay/delay.hpp"

namespace lpt {
namespace {

constexpr KernelEntry<DelayRequest> kDelaySumsKernels[] = {{"delay_sums_ref", 0, nullptr, delay_sums_ref}};
constexpr KernelEntry<DelayRequest> kDelayApplyKernels[] = {{"delay_apply_ref", 0, nullptr, delay_apply_ref}};

}  // namespace

std::span<const KernelEntry<DelayRequest>> delay_sums_kernels() { return kDelaySumsKernels; }
std::span<const KernelEntry<DelayRequest>> delay_apply_kernels() { return kDelayApplyKernels; }

}  // namespace lpt
