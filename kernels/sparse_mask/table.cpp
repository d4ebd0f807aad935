// Kernel tables of the masks in order of preference; the reference kernel is last.
#include "kernels/sparse_mask/sparse_mask.hpp"

namespace lpt {
namespace {

#if defined(LPT_HAVE_X86)
bool is_along_lines(const SparseMaskRequest &request) { return request.source.column_stride == 1; }

// Accepts views whose rows are all adjacent in memory, or whose columns are.
const char *unsupported_places(const SparseMaskRequest &request) {
  const auto is_like_source = [&](const MatrixView &view) {
    return view.data == nullptr || (is_along_lines(request) ? view.column_stride : view.row_stride) == 1;
  };
  if (!is_along_lines(request) && request.source.row_stride != 1) {
    return "neither columns nor rows of source are adjacent";
  }
  if (!is_like_source(request.mask)) return "the numbers of mask are not adjacent as those of source are";
  if (!is_like_source(request.masked)) return "the numbers of masked are not adjacent as those of source are";
  if (request.masked.data != nullptr && request.masked.format.id != request.source.format.id) {
    return "masked has another format than source";
  }
  return nullptr;
}

template <int kWidest>
const char *unsupported_largest(const SparseMaskRequest &request) {
  const lpt_format plain = request.source.format.element;
  if (request.rule != LPT_SPARSE_RULE_MAGNITUDE) return "the rule is not MAGNITUDE";
  if (request.importance != nullptr) return "importance is given";
  if (plain != LPT_FORMAT_F32 && plain != LPT_FORMAT_BF16 && plain != LPT_FORMAT_F16) {
    return "source is not f32, bf16 or f16";
  }
  const int32_t of = request.of;
  if (is_along_lines(request) && (of > kWidest || (of & (of - 1)) != 0)) {
    return kWidest == 16 ? "groups along rows are not of 2, 4, 8 or 16" : "groups along rows are not of 2, 4 or 8";
  }
  return unsupported_places(request);
}

const char *unsupported_drawn(const SparseMaskRequest &request) {
  if (request.rule != LPT_SPARSE_RULE_MVUE) return "the rule is not MVUE";
  if (request.source.format.element != LPT_FORMAT_F32) return "source is not f32";
  const bool is_known = (request.kept == 1 && request.of == 2) || (request.kept == 2 && request.of == 4);
  if (!is_known) return "MVUE is neither of 1:2 nor of 2:4";
  if ((is_along_lines(request) ? request.group_draws : request.row_draws) != 1) {
    return "draws of groups side by side do not follow each other";
  }
  return unsupported_places(request);
}

const char *unsupported_apply(const MaskApplyRequest &request) {
  const lpt_format plain = request.source.format.element;
  if (plain != LPT_FORMAT_F32 && plain != LPT_FORMAT_BF16 && plain != LPT_FORMAT_F16) {
    return "source is not f32, bf16 or f16";
  }
  if (request.target.format.id != request.source.format.id) return "target has another format than source";
  if (request.source.column_stride != 1) return "columns of source are not adjacent";
  if (request.mask.column_stride != 1) return "columns of mask are not adjacent";
  return request.target.column_stride == 1 ? nullptr : "columns of target are not adjacent";
}

const char *unsupported_decay(const MaskDecayRequest &request) {
  const lpt_format plain = request.weight.format.element;
  if (plain != LPT_FORMAT_F32 && plain != LPT_FORMAT_BF16) return "weight is neither f32 nor bf16";
  if (request.weight.column_stride != 1) return "columns of weight are not adjacent";
  if (request.mask.column_stride != 1) return "columns of mask are not adjacent";
  return request.gradient.column_stride == 1 ? nullptr : "columns of gradient are not adjacent";
}

const char *unsupported_measure(const SparseMeasureRequest &request) {
  const lpt_format plain = request.source.format.element;
  if (request.rule == LPT_SPARSE_RULE_MVUE || request.rule == LPT_SPARSE_RULE_MVUE_TWO_DRAWS) {
    return "the rule has a variance";
  }
  if (plain != LPT_FORMAT_F32 && plain != LPT_FORMAT_BF16) return "source is neither f32 nor bf16";
  if (request.source.columns > INT32_MAX) return "counts of a row may not fit int32";
  const bool is_along_lines = request.source.column_stride == 1;
  if (!is_along_lines && request.source.row_stride != 1) return "neither columns nor rows of source are adjacent";
  const bool is_alike = (is_along_lines ? request.mask.column_stride : request.mask.row_stride) == 1;
  return is_alike ? nullptr : "the numbers of mask are not adjacent as those of source are";
}
#endif

constexpr KernelEntry<SparseMaskRequest> kSparseMaskKernels[] = {
    LPT_AVX512_ENTRY(sparse_mask_largest, unsupported_largest<16>)
        LPT_AVX2_ENTRY(sparse_mask_largest, unsupported_largest<8>)
            LPT_X86_ENTRIES(sparse_mask_drawn, unsupported_drawn) LPT_REF_ENTRY(sparse_mask_any, nullptr)};

constexpr KernelEntry<MaskApplyRequest> kMaskApplyKernels[] = {LPT_X86_ENTRIES(mask_apply, unsupported_apply)
                                                                   LPT_REF_ENTRY(mask_apply_any, nullptr)};

constexpr KernelEntry<MaskDecayRequest> kMaskDecayKernels[] = {LPT_X86_ENTRIES(mask_decay, unsupported_decay)
                                                                   LPT_REF_ENTRY(mask_decay_any, nullptr)};

constexpr KernelEntry<MaskAbsorbRequest> kMaskAbsorbKernels[] = {
    {"mask_absorb_any_ref", 0, nullptr, mask_absorb_any_ref},
};

constexpr KernelEntry<SparseMeasureRequest> kSparseMeasureKernels[] = {
    LPT_X86_ENTRIES(sparse_measure, unsupported_measure) LPT_REF_ENTRY(sparse_measure_any, nullptr)};

}  // namespace

std::span<const KernelEntry<SparseMaskRequest>> sparse_mask_kernels() { return kSparseMaskKernels; }
std::span<const KernelEntry<MaskApplyRequest>> mask_apply_kernels() { return kMaskApplyKernels; }
std::span<const KernelEntry<MaskDecayRequest>> mask_decay_kernels() { return kMaskDecayKernels; }
std::span<const KernelEntry<MaskAbsorbRequest>> mask_absorb_kernels() { return kMaskAbsorbKernels; }
std::span<const KernelEntry<SparseMeasureRequest>> sparse_measure_kernels() { return kSparseMeasureKernels; }

}  // namespace lpt
