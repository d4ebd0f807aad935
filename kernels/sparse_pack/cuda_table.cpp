// Device kernel tables.
#include "kernels/sparse_pack/cuda_kernels.hpp"

namespace lpt {
namespace {

bool is_supported(lpt_format element) {
  switch (element) {
    case LPT_FORMAT_F32:
    case LPT_FORMAT_BF16:
    case LPT_FORMAT_F16:
    case LPT_FORMAT_E4M3FN:
    case LPT_FORMAT_E5M2:
    case LPT_FORMAT_INT8:
      return true;
    default:
      return false;
  }
}

const char *unsupported_compress(const CompressRequest &request) {
  if (!is_supported(request.source.format.element)) return "takes f32, bf16, f16, e4m3fn, e5m2 and int8 only";
  return request.mask.column_stride == 1 ? nullptr : "takes masks with adjacent columns only";
}

const char *unsupported_decompress(const DecompressRequest &request) {
  return is_supported(request.stored.format.element) ? nullptr : "takes f32, bf16, f16, e4m3fn, e5m2 and int8 only";
}

const char *unsupported_nonzero(const NonzeroRequest &request) {
  return is_supported(request.source.format.element) ? nullptr : "takes f32, bf16, f16, e4m3fn, e5m2 and int8 only";
}

}  // namespace

std::span<const KernelEntry<CompressRequest>> compress_device_kernels() {
  static constexpr KernelEntry<CompressRequest> kernels[] = {
      {"compress_cuda", 80, unsupported_compress, compress_cuda}};
  return kernels;
}

std::span<const KernelEntry<DecompressRequest>> decompress_device_kernels() {
  static constexpr KernelEntry<DecompressRequest> kernels[] = {
      {"decompress_cuda", 80, unsupported_decompress, decompress_cuda}};
  return kernels;
}

std::span<const KernelEntry<NonzeroRequest>> nonzero_device_kernels() {
  static constexpr KernelEntry<NonzeroRequest> kernels[] = {{"nonzero_cuda", 80, unsupported_nonzero, nonzero_cuda}};
  return kernels;
}

}  // namespace lpt
