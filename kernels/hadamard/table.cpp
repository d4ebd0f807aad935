// Kernels of the rotation, fastest first, the reference kernel last.
#include "kernels/hadamard/hadamard.hpp"

namespace lpt {
namespace {

#if defined(LPT_HAVE_SIMD)
const char *unsupported_floats(const HadamardRequest &request) {
  const lpt_format plain = request.source.format.element;
  if (plain != LPT_FORMAT_F32 && plain != LPT_FORMAT_BF16 && plain != LPT_FORMAT_F16) {
    return "source is not f32, bf16 or f16";
  }
  if (request.source.column_stride == 1 || request.source.row_stride == 1) return nullptr;
  return "neither columns nor rows of source are adjacent";
}
#endif

constexpr KernelEntry<HadamardRequest> kHadamardKernels[] = {LPT_SIMD_ENTRIES(hadamard_floats, unsupported_floats)
                                                                 LPT_REF_ENTRY(hadamard_any, nullptr)};

}  // namespace

std::span<const KernelEntry<HadamardRequest>> hadamard_kernels() { return kHadamardKernels; }

}  // namespace lpt
