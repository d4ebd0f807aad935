// Everything about masks that can run, fastest first, the reference last.
#include "kernels/sparse_mask/rows.hpp"

namespace lpt {
namespace {

constexpr Row<SparseMaskRequest> kSparseMaskRows[] = {
    {"sparse_mask_any_ref", 0, nullptr, sparse_mask_any_ref},
};

constexpr Row<MaskApplyRequest> kMaskApplyRows[] = {
    {"mask_apply_any_ref", 0, nullptr, mask_apply_any_ref},
};

constexpr Row<MaskDecayRequest> kMaskDecayRows[] = {
    {"mask_decay_any_ref", 0, nullptr, mask_decay_any_ref},
};

constexpr Row<SparseMeasureRequest> kSparseMeasureRows[] = {
    {"sparse_measure_any_ref", 0, nullptr, sparse_measure_any_ref},
};

}  // namespace

std::span<const Row<SparseMaskRequest>> sparse_mask_kernels() { return kSparseMaskRows; }
std::span<const Row<MaskApplyRequest>> mask_apply_kernels() { return kMaskApplyRows; }
std::span<const Row<MaskDecayRequest>> mask_decay_kernels() { return kMaskDecayRows; }
std::span<const Row<SparseMeasureRequest>> sparse_measure_kernels() { return kSparseMeasureRows; }

}  // namespace lpt
