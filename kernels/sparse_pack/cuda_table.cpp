// Rows of the device.
#include "kernels/sparse_pack/cuda_kernels.hpp"

namespace lpt {
namespace {

bool is_taken(lpt_format element) {
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
  if (!is_taken(request.source.format.element)) return "takes f32, bf16, f16, e4m3fn, e5m2 and int8 only";
  return request.mask.column_stride == 1 ? nullptr : "takes masks with adjacent columns only";
}

const char *unsupported_decompress(const DecompressRequest &request) {
  return is_taken(request.stored.format.element) ? nullptr : "takes f32, bf16, f16, e4m3fn, e5m2 and int8 only";
}

const char *unsupported_nonzero(const NonzeroRequest &request) {
  return is_taken(request.source.format.element) ? nullptr : "takes f32, bf16, f16, e4m3fn, e5m2 and int8 only";
}

}  // namespace

std::span<const DeviceKernelEntry<CompressRequest>> compress_device_kernels() {
  static constexpr DeviceKernelEntry<CompressRequest> rows[] = {{.name = "compress_cuda",
                                                                 .min_capability = 80,
                                                                 .unsupported_reason = unsupported_compress,
                                                                 .run = compress_cuda}};
  return rows;
}

std::span<const DeviceKernelEntry<DecompressRequest>> decompress_device_kernels() {
  static constexpr DeviceKernelEntry<DecompressRequest> rows[] = {{.name = "decompress_cuda",
                                                                   .min_capability = 80,
                                                                   .unsupported_reason = unsupported_decompress,
                                                                   .run = decompress_cuda}};
  return rows;
}

std::span<const DeviceKernelEntry<NonzeroRequest>> nonzero_device_kernels() {
  static constexpr DeviceKernelEntry<NonzeroRequest> rows[] = {
      {.name = "nonzero_cuda", .min_capability = 80, .unsupported_reason = unsupported_nonzero, .run = nonzero_cuda}};
  return rows;
}

}  // namespace lpt
