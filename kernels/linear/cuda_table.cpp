// Kernels of the device.
#include "kernels/linear/cuda_kernels.hpp"

namespace lpt {
namespace {

const char *unsupported_ones(const OnesRequest &request) {
  return is_float_dtype(request.target.format.id) ? nullptr : "gives f32, bf16 and f16 only";
}

const char *unsupported_numbers(const MatrixView &numbers) {
  const bool is_taken = numbers.format.id == LPT_FORMAT_F32 && numbers.column_stride == 1;
  return is_taken ? nullptr : "takes f32 with adjacent columns only";
}

const char *unsupported_clip_mask(const ClipMaskRequest &request) { return unsupported_numbers(request.numbers); }

const char *unsupported_clear(const ClearClippedRequest &request) { return unsupported_numbers(request.numbers); }

constexpr KernelEntry<RotationSignsRequest> kSigns[] = {{"rotation_signs_cuda", 80, nullptr, rotation_signs_cuda}};
constexpr KernelEntry<WordsRequest> kWords[] = {{"words_cuda", 80, nullptr, words_cuda}};
constexpr KernelEntry<OnesRequest> kOnes[] = {{"ones_cuda", 80, unsupported_ones, ones_cuda}};
constexpr KernelEntry<ClipMaskRequest> kClipMask[] = {{"clip_mask_cuda", 80, unsupported_clip_mask, clip_mask_cuda}};
constexpr KernelEntry<ClearClippedRequest> kClear[] = {
    {"clear_clipped_cuda", 80, unsupported_clear, clear_clipped_cuda}};

}  // namespace

std::span<const KernelEntry<RotationSignsRequest>> rotation_signs_device_kernels() { return kSigns; }
std::span<const KernelEntry<WordsRequest>> words_device_kernels() { return kWords; }
std::span<const KernelEntry<OnesRequest>> ones_device_kernels() { return kOnes; }
std::span<const KernelEntry<ClipMaskRequest>> clip_mask_device_kernels() { return kClipMask; }
std::span<const KernelEntry<ClearClippedRequest>> clear_clipped_device_kernels() { return kClear; }

}  // namespace lpt
