// Every search for transposable masks that can run, fastest first, the reference last.
#include "kernels/transposable_mask/rows.hpp"

namespace lpt {
namespace {

constexpr Row<TransposableMaskRequest> kTransposableMaskRows[] = {
    {"transposable_mask_any_ref", 0, nullptr, transposable_mask_any_ref},
};

}  // namespace

std::span<const Row<TransposableMaskRequest>> transposable_mask_kernels() { return kTransposableMaskRows; }

}  // namespace lpt
