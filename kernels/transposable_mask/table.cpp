// Kernel table of the transposable masks in order of preference; the reference kernel is last.
#include "kernels/transposable_mask/transposable_mask.hpp"

namespace lpt {
namespace {

#if defined(LPT_HAVE_X86)
const char *unsupported_operands(const TransposableMaskRequest &request) {
  const lpt_format plain = request.source.format.element;
  if (plain != LPT_FORMAT_F32 && plain != LPT_FORMAT_BF16 && plain != LPT_FORMAT_F16) {
    return "source is not f32, bf16 or f16";
  }
  if (request.source.column_stride != 1) return "columns of source are not adjacent";
  return request.mask.column_stride != 1 ? "columns of mask are not adjacent" : nullptr;
}

const char *unsupported_patterns(const TransposableMaskRequest &request) {
  if (request.kept != 2 || request.of != 4 || request.solver != LPT_SPARSE_SOLVER_EXACT) return "not 2:4 by EXACT";
  return unsupported_operands(request);
}

const char *unsupported_greedy(const TransposableMaskRequest &request) {
  if (request.of != 8 || request.solver != LPT_SPARSE_SOLVER_GREEDY) return "not N:8 by GREEDY";
  return unsupported_operands(request);
}

const char *unsupported_search(const TransposableMaskRequest &request) {
  if (request.of != 8 || request.solver != LPT_SPARSE_SOLVER_SEARCH) return "not N:8 by SEARCH";
  return unsupported_operands(request);
}
#endif

constexpr KernelEntry<TransposableMaskRequest> kTransposableMaskKernels[] = {
    LPT_X86_ENTRIES(transposable_mask_2_4_exact, unsupported_patterns) LPT_X86_ENTRIES(
        transposable_mask_8_greedy, unsupported_greedy) LPT_X86_ENTRIES(transposable_mask_8_search, unsupported_search)
        LPT_REF_ENTRY(transposable_mask_any, nullptr)};

}  // namespace

std::span<const KernelEntry<TransposableMaskRequest>> transposable_mask_kernels() { return kTransposableMaskKernels; }

}  // namespace lpt
