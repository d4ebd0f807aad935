// Defaults of structs by type name, for languages that cannot use the macros of the headers.
#include <cstring>

#include "lpt/research.h"
#include "src/api/guard.hpp"

using namespace lpt;

namespace {

template <typename Struct>
void write(void *object, size_t struct_size, const Struct &defaults) {
  write_defaults(static_cast<Struct *>(object), struct_size, defaults);
}

struct StructInit {
  const char *name;
  void (*write)(void *object, size_t struct_size);
};

constexpr StructInit named(const char *name, void (*write)(void *object, size_t struct_size)) { return {name, write}; }

#define LPT_STRUCT(type, defaults) \
  named(#type, [](void *object, size_t struct_size) { write(object, struct_size, type defaults); })

constexpr StructInit kStructs[] = {
    LPT_STRUCT(lpt_device_info, LPT_DEVICE_INFO_INIT),
    LPT_STRUCT(lpt_context_options, LPT_CONTEXT_OPTIONS_INIT),
    LPT_STRUCT(lpt_profile_entry, LPT_PROFILE_ENTRY_INIT),
    LPT_STRUCT(lpt_format_description, LPT_FORMAT_DESCRIPTION_INIT),
    LPT_STRUCT(lpt_tensor_description, LPT_TENSOR_DESCRIPTION_INIT),
    LPT_STRUCT(lpt_quantize_options, LPT_QUANTIZE_OPTIONS_INIT),
    LPT_STRUCT(lpt_statistics_info, LPT_STATISTICS_INFO_INIT),
    LPT_STRUCT(lpt_dequantize_options, LPT_DEQUANTIZE_OPTIONS_INIT),
    LPT_STRUCT(lpt_hadamard_options, LPT_HADAMARD_OPTIONS_INIT),
    LPT_STRUCT(lpt_convert_options, LPT_CONVERT_OPTIONS_INIT),
    LPT_STRUCT(lpt_scaler_options, LPT_SCALER_OPTIONS_INIT),
    LPT_STRUCT(lpt_scaler_info, LPT_SCALER_INFO_INIT),
    LPT_STRUCT(lpt_weights_options, LPT_WEIGHTS_OPTIONS_INIT),
    LPT_STRUCT(lpt_gemm_options, LPT_GEMM_OPTIONS_INIT),
    LPT_STRUCT(lpt_gemm_plan_info, LPT_GEMM_PLAN_INFO_INIT),
    LPT_STRUCT(lpt_gemm_operands, LPT_GEMM_OPERANDS_INIT),
    LPT_STRUCT(lpt_sparse_options, LPT_SPARSE_OPTIONS_INIT),
    LPT_STRUCT(lpt_sparse_info, LPT_SPARSE_INFO_INIT),
    LPT_STRUCT(lpt_sparse_fit_options, LPT_SPARSE_FIT_OPTIONS_INIT),
    LPT_STRUCT(lpt_sparse_fit_info, LPT_SPARSE_FIT_INFO_INIT),
    LPT_STRUCT(lpt_calibration_options, LPT_CALIBRATION_OPTIONS_INIT),
    LPT_STRUCT(lpt_calibration_info, LPT_CALIBRATION_INFO_INIT),
    LPT_STRUCT(lpt_weights_fit_options, LPT_WEIGHTS_FIT_OPTIONS_INIT),
    LPT_STRUCT(lpt_weights_fit_info, LPT_WEIGHTS_FIT_INFO_INIT),
    LPT_STRUCT(lpt_format_choose_info, LPT_FORMAT_CHOOSE_INFO_INIT),
    LPT_STRUCT(lpt_linear_gemm_options, LPT_LINEAR_GEMM_OPTIONS_INIT),
    LPT_STRUCT(lpt_linear_shape, LPT_LINEAR_SHAPE_INIT),
    LPT_STRUCT(lpt_linear_options, LPT_LINEAR_OPTIONS_INIT),
    LPT_STRUCT(lpt_swiglu_options, LPT_SWIGLU_OPTIONS_INIT),
    LPT_STRUCT(lpt_embedding_options, LPT_EMBEDDING_OPTIONS_INIT),
    LPT_STRUCT(lpt_attention_options, LPT_ATTENTION_OPTIONS_INIT),
    LPT_STRUCT(lpt_kv_cache_options, LPT_KV_CACHE_OPTIONS_INIT),
    LPT_STRUCT(lpt_rmsnorm_options, LPT_RMSNORM_OPTIONS_INIT),
    LPT_STRUCT(lpt_layernorm_options, LPT_LAYERNORM_OPTIONS_INIT),
    LPT_STRUCT(lpt_rotary_scaling, LPT_ROTARY_SCALING_INIT),
    LPT_STRUCT(lpt_rotary_options, LPT_ROTARY_OPTIONS_INIT),
    LPT_STRUCT(lpt_softmax_options, LPT_SOFTMAX_OPTIONS_INIT),
    LPT_STRUCT(lpt_cross_entropy_options, LPT_CROSS_ENTROPY_OPTIONS_INIT),
    LPT_STRUCT(lpt_optimizer_options, LPT_OPTIMIZER_OPTIONS_INIT),
    LPT_STRUCT(lpt_optimizer_parameter, LPT_OPTIMIZER_PARAMETER_INIT),
    LPT_STRUCT(lpt_optimizer_step_options, LPT_OPTIMIZER_STEP_OPTIONS_INIT),
    LPT_STRUCT(lpt_optimizer_info, LPT_OPTIMIZER_INFO_INIT),
    LPT_STRUCT(lpt_gradients_info, LPT_GRADIENTS_INFO_INIT),
    LPT_STRUCT(lpt_loss_scaler_options, LPT_LOSS_SCALER_OPTIONS_INIT),
    LPT_STRUCT(lpt_loss_scaler_info, LPT_LOSS_SCALER_INFO_INIT),
    LPT_STRUCT(lpt_comm_options, LPT_COMM_OPTIONS_INIT),
    LPT_STRUCT(lpt_comm_info, LPT_COMM_INFO_INIT),
    LPT_STRUCT(lpt_comm_functions, LPT_COMM_FUNCTIONS_INIT),
    LPT_STRUCT(lpt_reduce_options, LPT_REDUCE_OPTIONS_INIT),
    LPT_STRUCT(lpt_all_gather_options, LPT_ALL_GATHER_OPTIONS_INIT),
    LPT_STRUCT(lpt_gradient_buckets_options, LPT_GRADIENT_BUCKETS_OPTIONS_INIT),
    LPT_STRUCT(lpt_gradient_buckets_info, LPT_GRADIENT_BUCKETS_INFO_INIT),
    LPT_STRUCT(lpt_optimizer_shard_options, LPT_OPTIMIZER_SHARD_OPTIONS_INIT),
    LPT_STRUCT(lpt_partial_plan_options, LPT_PARTIAL_PLAN_OPTIONS_INIT),
    LPT_STRUCT(lpt_sequence_attention_options, LPT_SEQUENCE_ATTENTION_OPTIONS_INIT),
    LPT_STRUCT(lpt_partial_plan_info, LPT_PARTIAL_PLAN_INFO_INIT),
    LPT_STRUCT(lpt_comm_codec, LPT_COMM_CODEC_INIT),
    LPT_STRUCT(lpt_cost_link, LPT_COST_LINK_INIT),
    LPT_STRUCT(lpt_cost_info, LPT_COST_INFO_INIT),
    LPT_STRUCT(lpt_cost_cast_rates, LPT_COST_CAST_RATES_INIT),
    LPT_STRUCT(lpt_power_options, LPT_POWER_OPTIONS_INIT),
    LPT_STRUCT(lpt_power_info, LPT_POWER_INFO_INIT),
    LPT_STRUCT(lpt_topology_info, LPT_TOPOLOGY_INFO_INIT),
    LPT_STRUCT(lpt_schedule_options, LPT_SCHEDULE_OPTIONS_INIT),
    LPT_STRUCT(lpt_schedule_info, LPT_SCHEDULE_INFO_INIT),
    LPT_STRUCT(lpt_delay_options, LPT_DELAY_OPTIONS_INIT),
    LPT_STRUCT(lpt_drop_compute_info, LPT_DROP_COMPUTE_INFO_INIT),
    LPT_STRUCT(lpt_autopilot_options, LPT_AUTOPILOT_OPTIONS_INIT),
    LPT_STRUCT(lpt_autopilot_info, LPT_AUTOPILOT_INFO_INIT),
    LPT_STRUCT(lpt_lossy_link_options, LPT_LOSSY_LINK_OPTIONS_INIT),
    LPT_STRUCT(lpt_lossy_link_info, LPT_LOSSY_LINK_INFO_INIT),
    LPT_STRUCT(lpt_lossy_info, LPT_LOSSY_INFO_INIT),
    LPT_STRUCT(lpt_gemm_emulation, LPT_GEMM_EMULATION_INIT),
    LPT_STRUCT(lpt_comm_emulation, LPT_COMM_EMULATION_INIT),
    LPT_STRUCT(lpt_exaq_options, LPT_EXAQ_OPTIONS_INIT),
    LPT_STRUCT(lpt_noise_options, LPT_NOISE_OPTIONS_INIT),
    LPT_STRUCT(lpt_noise_info, LPT_NOISE_INFO_INIT),
    LPT_STRUCT(lpt_swiglu_alignment_info, LPT_SWIGLU_ALIGNMENT_INFO_INIT),
};

}  // namespace

// A linear search is sufficient: a binding calls the function once per created struct.
int32_t lpt_struct_init(const char *name, void *object, size_t struct_size) {
  for (const StructInit &each : kStructs) {
    if (name == nullptr || std::strcmp(name, each.name) != 0) continue;
    each.write(object, struct_size);
    return 1;
  }
  return 0;
}
