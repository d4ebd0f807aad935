// Rows of the device.
#include "kernels/linear/cuda_rows.hpp"

namespace lpt {
namespace {

const char *refuses_ones(const OnesRequest &request) {
  const lpt_format id = request.target.format.id;
  const bool is_taken = id == LPT_FORMAT_F32 || id == LPT_FORMAT_BF16 || id == LPT_FORMAT_F16;
  return is_taken ? nullptr : "gives f32, bf16 and f16 only";
}

const char *refuses_numbers(const MatrixView &numbers) {
  const bool is_taken = numbers.format.id == LPT_FORMAT_F32 && numbers.column_stride == 1;
  return is_taken ? nullptr : "takes f32 with adjacent columns only";
}

const char *refuses_clip_mask(const ClipMaskRequest &request) { return refuses_numbers(request.numbers); }

const char *refuses_clear(const ClearClippedRequest &request) { return refuses_numbers(request.numbers); }

constexpr DeviceRow<RotationSignsRequest> kSigns[] = {{"rotation_signs_cuda", 80, nullptr, rotation_signs_cuda}};
constexpr DeviceRow<WordsRequest> kWords[] = {{"words_cuda", 80, nullptr, words_cuda}};
constexpr DeviceRow<OnesRequest> kOnes[] = {{"ones_cuda", 80, refuses_ones, ones_cuda}};
constexpr DeviceRow<ClipMaskRequest> kClipMask[] = {{"clip_mask_cuda", 80, refuses_clip_mask, clip_mask_cuda}};
constexpr DeviceRow<ClearClippedRequest> kClear[] = {{"clear_clipped_cuda", 80, refuses_clear, clear_clipped_cuda}};

}  // namespace

std::span<const DeviceRow<RotationSignsRequest>> rotation_signs_device_kernels() { return kSigns; }
std::span<const DeviceRow<WordsRequest>> words_device_kernels() { return kWords; }
std::span<const DeviceRow<OnesRequest>> ones_device_kernels() { return kOnes; }
std::span<const DeviceRow<ClipMaskRequest>> clip_mask_device_kernels() { return kClipMask; }
std::span<const DeviceRow<ClearClippedRequest>> clear_clipped_device_kernels() { return kClear; }

}  // namespace lpt
