// Rows of the device.
#include "kernels/sparse_pack/cuda_rows.hpp"

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

const char *refuses_compress(const CompressRequest &request) {
  if (!is_taken(request.source.format.element)) return "takes f32, bf16, f16, e4m3fn, e5m2 and int8 only";
  return request.mask.column_stride == 1 ? nullptr : "takes masks with adjacent columns only";
}

const char *refuses_decompress(const DecompressRequest &request) {
  return is_taken(request.stored.format.element) ? nullptr : "takes f32, bf16, f16, e4m3fn, e5m2 and int8 only";
}

const char *refuses_nonzero(const NonzeroRequest &request) {
  return is_taken(request.source.format.element) ? nullptr : "takes f32, bf16, f16, e4m3fn, e5m2 and int8 only";
}

}  // namespace

std::span<const DeviceRow<CompressRequest>> compress_device_kernels() {
  static constexpr DeviceRow<CompressRequest> rows[] = {
      {.name = "compress_cuda", .least_capability = 80, .refuses = refuses_compress, .run = compress_cuda}};
  return rows;
}

std::span<const DeviceRow<DecompressRequest>> decompress_device_kernels() {
  static constexpr DeviceRow<DecompressRequest> rows[] = {
      {.name = "decompress_cuda", .least_capability = 80, .refuses = refuses_decompress, .run = decompress_cuda}};
  return rows;
}

std::span<const DeviceRow<NonzeroRequest>> nonzero_device_kernels() {
  static constexpr DeviceRow<NonzeroRequest> rows[] = {
      {.name = "nonzero_cuda", .least_capability = 80, .refuses = refuses_nonzero, .run = nonzero_cuda}};
  return rows;
}

}  // namespace lpt
