// Tables of the device kernels that run before and after a library GEMM.
#include "kernels/gemm/cuda/cuda_kernels.hpp"

namespace lpt {
namespace {

bool is_integer(lpt_format element) {
  return element == LPT_FORMAT_INT8 || element == LPT_FORMAT_INT4 || element == LPT_FORMAT_UINT4;
}

const char *unsupported_conversion(const OperandConversionRequest &request) {
  const Format &format = request.source.format;
  const lpt_format target = request.target.format.element;
  const bool is_mx = format.element == LPT_FORMAT_E2M1FN && format.block_scale == LPT_FORMAT_E8M0FNU &&
                     format.block_rows == 1 && format.block_columns == 32;
  const bool is_byte = target == LPT_FORMAT_E4M3FN;
  if (is_byte) return is_mx || format.element == LPT_FORMAT_INT4 ? nullptr : "gives e4m3fn of int4 and mxfp4 only";
  if (!is_float_dtype(target)) return "gives f32, bf16, f16 and e4m3fn only";
  const bool is_half = format.element == LPT_FORMAT_BF16 || format.element == LPT_FORMAT_F16;
  if (!is_integer(format.element) && !(is_half && target == LPT_FORMAT_F32)) {
    return "takes int8, int4 and uint4, and 16 bits to f32 only";
  }
  const bool has_narrow = format.block_scale != LPT_FORMAT_NONE && format.block_columns != LPT_BLOCK_EXTENT_FULL &&
                          format.block_columns < 16;
  return has_narrow ? "takes blocks of at least 16 columns only" : nullptr;
}

const char *unsupported_finish(const GemmEpilogueRequest &request) {
  return is_float_dtype(request.c.format.element) ? nullptr : "gives f32, bf16 and f16 only";
}

constexpr KernelEntry<OperandConversionRequest> kConversion[] = {
    {"gemm_conversion_cuda", 80, unsupported_conversion, gemm_conversion_cuda}};
constexpr KernelEntry<LibraryScalesRequest> kScales[] = {{"gemm_scales_cuda", 80, nullptr, gemm_scales_cuda}};
constexpr KernelEntry<GemmFactorsRequest> kFactors[] = {{"gemm_factors_cuda", 80, nullptr, gemm_factors_cuda}};
constexpr KernelEntry<GemmEpilogueRequest> kFinish[] = {{"gemm_finish_cuda", 80, unsupported_finish, gemm_finish_cuda}};

}  // namespace

std::span<const KernelEntry<OperandConversionRequest>> operand_conversion_device_kernels() { return kConversion; }
std::span<const KernelEntry<LibraryScalesRequest>> library_scales_device_kernels() { return kScales; }
std::span<const KernelEntry<GemmFactorsRequest>> gemm_factors_device_kernels() { return kFactors; }
std::span<const KernelEntry<GemmEpilogueRequest>> gemm_epilogue_device_kernels() { return kFinish; }

}  // namespace lpt
