#include "src/plugins/cuda_families.hpp"

#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_steps.hpp"
#include "kernels/gemm/cuda/cuda_gemm.hpp"
#include "kernels/gemm/cuda/cuda_kernels.hpp"
#include "kernels/hadamard/cuda_kernels.hpp"
#include "kernels/linear/cuda_kernels.hpp"
#include "kernels/optimizer/cuda_found.hpp"
#include "kernels/optimizer/cuda_kernels.hpp"
#include "kernels/quantize/cuda/cuda_draw.hpp"
#include "kernels/quantize/cuda/cuda_fit.hpp"
#include "kernels/quantize/cuda/cuda_kernels.hpp"
#include "kernels/quantize/cuda/cuda_scale.hpp"
#include "kernels/quantize/cuda/cuda_scaler.hpp"
#include "kernels/quantize/cuda/cuda_sums.hpp"
#include "kernels/reduce/cuda_columns.hpp"
#include "kernels/reduce/cuda_kernels.hpp"
#include "kernels/sparse_mask/cuda_kernels.hpp"
#include "kernels/sparse_pack/cuda_kernels.hpp"
#include "kernels/transposable_mask/cuda_kernels.hpp"
#include "src/plugins/cublas_library.hpp"
#include "src/plugins/cusparse_library.hpp"

namespace lpt {
namespace {

template <typename Request>
DeviceFamily family(const char *name, std::span<const KernelEntry<Request>> kernels) {
  return {name, kernels.data(), static_cast<int32_t>(kernels.size()), sizeof(KernelEntry<Request>)};
}

DeviceFamily family_of_libraries(const char *name, std::span<const GemmLibrary> libraries) {
  return {name, libraries.data(), static_cast<int32_t>(libraries.size()), sizeof(GemmLibrary)};
}

}  // namespace

std::span<const DeviceFamily> cuda_families() {
  static const DeviceFamily kFamilies[] = {
      family("amax", amax_device_kernels()),
      family("tensor_scale", tensor_scale_device_kernels()),
      family("nan_scale", nan_scale_device_kernels()),
      family("magnitude_sum", magnitude_sum_device_kernels()),
      family("fitted_scale", fitted_scale_device_kernels()),
      family("trial_scale", trial_scale_device_kernels()),
      family("keep_scale", keep_scale_device_kernels()),
      family("quantize", quantize_device_kernels()),
      family("dequantize", dequantize_device_kernels()),
      family("gemm", gemm_device_kernels()),
      family("gemm_conversion", operand_conversion_device_kernels()),
      family("gemm_scales", library_scales_device_kernels()),
      family("gemm_factors", gemm_factors_device_kernels()),
      family("gemm_finish", gemm_epilogue_device_kernels()),
      family_of_libraries("gemm_library", cublas_libraries()),
      family_of_libraries("gemm_sparse_library", cusparse_libraries()),
      family("conditional_amax", conditional_amax_device_kernels()),
      family("scaler_amax", scaler_amax_device_kernels()),
      family("scaler_update", scaler_update_device_kernels()),
      family("tile_sums", tile_sums_device_kernels()),
      family("step", step_device_kernels()),
      family("step_scales", step_scales_device_kernels()),
      family("gradient_norm", norm_device_kernels()),
      family("clip", clip_device_kernels()),
      family("transpose", transpose_device_kernels()),
      family("draw", draw_device_kernels()),
      family("signs", sign_device_kernels()),
      family("factors", factor_device_kernels()),
      family("hadamard", hadamard_device_kernels()),
      family("rotation_signs", rotation_signs_device_kernels()),
      family("words", words_device_kernels()),
      family("ones", ones_device_kernels()),
      family("clip_mask", clip_mask_device_kernels()),
      family("clear_clipped", clear_clipped_device_kernels()),
      family("sparse_mask", sparse_mask_device_kernels()),
      family("sparse_measure", sparse_measure_device_kernels()),
      family("transposable_mask", transposable_mask_device_kernels()),
      family("mask_apply", mask_apply_device_kernels()),
      family("mask_decay", mask_decay_device_kernels()),
      family("compress", compress_device_kernels()),
      family("decompress", decompress_device_kernels()),
      family("nonzero", nonzero_device_kernels()),
      family("swiglu_forward", swiglu_forward_device_kernels()),
      family("swiglu_backward", swiglu_backward_device_kernels()),
      family("smoothing", smoothing_device_kernels()),
      family("rmsnorm_forward", rmsnorm_forward_device_kernels()),
      family("rmsnorm_backward", rmsnorm_backward_device_kernels()),
      family("gradient_parts", gradient_parts_device_kernels()),
      family("gradient_sum", gradient_sum_device_kernels()),
      family("rotary_table", rotary_table_device_kernels()),
      family("rotary", rotary_device_kernels()),
      family("softmax_forward", softmax_forward_device_kernels()),
      family("softmax_exaq", softmax_exaq_device_kernels()),
      family("softmax_backward", softmax_backward_device_kernels()),
      family("cross_entropy_sums", cross_entropy_sums_device_kernels()),
      family("cross_entropy_gradient", cross_entropy_gradient_device_kernels()),
      family("finish", epilogue_device_kernels()),
      family("places", places_device_kernels()),
      family("embedding", embedding_device_kernels()),
      family("embedding_gradient", embedding_gradient_device_kernels()),
      family("losses", losses_device_kernels()),
      family("loss_factors", loss_factors_device_kernels()),
      family("scale", columns_device_kernels()),
      family("reduce", reduce_device_kernels()),
  };
  return kFamilies;
}

}  // namespace lpt
