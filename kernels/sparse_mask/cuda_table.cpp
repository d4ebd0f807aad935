// Device kernel tables.
#include "kernels/sparse_mask/cuda_kernels.hpp"

namespace lpt {
namespace {

bool is_adjacent(const MatrixView &view) { return view.data == nullptr || view.column_stride == 1; }

const char *unsupported_any_mask(const SparseMaskRequest &request) {
  if (!is_float_dtype(request.source.format.element)) return "takes f32, bf16 and f16 only";
  if (!is_adjacent(request.source) || !is_adjacent(request.mask) || !is_adjacent(request.masked)) {
    return "takes groups of adjacent columns only";
  }
  return nullptr;
}

const char *unsupported_mask(const SparseMaskRequest &request) {
  return request.of == 4 || request.of == 8 ? unsupported_any_mask(request) : "takes groups of 4 and 8 only";
}

const char *unsupported_apply(const MaskApplyRequest &request) {
  return is_float_dtype(request.source.format.element) ? nullptr : "takes f32, bf16 and f16 only";
}

const char *unsupported_decay(const MaskDecayRequest &request) {
  return is_float_dtype(request.weight.format.element) ? nullptr : "takes f32, bf16 and f16 only";
}

const char *unsupported_measure(const SparseMeasureRequest &request) {
  if (!is_float_dtype(request.source.format.element)) return "takes f32, bf16 and f16 only";
  const bool is_drawn = request.rule == LPT_SPARSE_RULE_MVUE || request.rule == LPT_SPARSE_RULE_MVUE_TWO_DRAWS;
  return is_drawn && request.of != 4 && request.of != 8 ? "takes drawn groups of 4 and 8 only" : nullptr;
}

}  // namespace

std::span<const KernelEntry<SparseMaskRequest>> sparse_mask_device_kernels() {
  static constexpr KernelEntry<SparseMaskRequest> kernels[] = {
      {"sparse_mask_cuda", 80, unsupported_mask, sparse_mask_cuda},
      {"sparse_mask_any_cuda", 80, unsupported_any_mask, sparse_mask_any_cuda}};
  return kernels;
}

std::span<const KernelEntry<MaskApplyRequest>> mask_apply_device_kernels() {
  static constexpr KernelEntry<MaskApplyRequest> kernels[] = {
      {"mask_apply_cuda", 80, unsupported_apply, mask_apply_cuda}};
  return kernels;
}

std::span<const KernelEntry<MaskDecayRequest>> mask_decay_device_kernels() {
  static constexpr KernelEntry<MaskDecayRequest> kernels[] = {
      {"mask_decay_cuda", 80, unsupported_decay, mask_decay_cuda}};
  return kernels;
}

std::span<const KernelEntry<SparseMeasureRequest>> sparse_measure_device_kernels() {
  static constexpr KernelEntry<SparseMeasureRequest> kernels[] = {
      {"sparse_measure_cuda", 80, unsupported_measure, sparse_measure_cuda}};
  return kernels;
}

}  // namespace lpt
