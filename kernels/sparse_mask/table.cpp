// Every selection that can run, fastest first, the reference last.
#include "kernels/sparse_mask/rows.hpp"

namespace lpt {
namespace {

constexpr Row<SparseMaskRequest> kSparseMaskRows[] = {
    {"sparse_mask_any_ref", 0, nullptr, sparse_mask_any_ref},
};

}  // namespace

std::span<const Row<SparseMaskRequest>> sparse_mask_kernels() { return kSparseMaskRows; }

}  // namespace lpt
