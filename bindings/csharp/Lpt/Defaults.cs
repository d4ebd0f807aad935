// Defaults of structs of lpt.h; the header documents the contracts. Written by `python3 tools/make_bindings.py write`.
#pragma warning disable CS1591 // lpt.h documents members without a comment
namespace Lpt
{
    public unsafe partial struct DeviceInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static DeviceInfo Default() { var value = default(DeviceInfo); Text.Initialize("lpt_device_info", &value, sizeof(DeviceInfo)); return value; }
    }

    public unsafe partial struct ContextOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static ContextOptions Default() { var value = default(ContextOptions); Text.Initialize("lpt_context_options", &value, sizeof(ContextOptions)); return value; }
    }

    public unsafe partial struct ProfileEntry
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static ProfileEntry Default() { var value = default(ProfileEntry); Text.Initialize("lpt_profile_entry", &value, sizeof(ProfileEntry)); return value; }
    }

    public unsafe partial struct FormatDescription
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static FormatDescription Default() { var value = default(FormatDescription); Text.Initialize("lpt_format_description", &value, sizeof(FormatDescription)); return value; }
    }

    public unsafe partial struct TensorDescription
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static TensorDescription Default() { var value = default(TensorDescription); Text.Initialize("lpt_tensor_description", &value, sizeof(TensorDescription)); return value; }
    }

    public unsafe partial struct QuantizeOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static QuantizeOptions Default() { var value = default(QuantizeOptions); Text.Initialize("lpt_quantize_options", &value, sizeof(QuantizeOptions)); return value; }
    }

    public unsafe partial struct StatisticsInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static StatisticsInfo Default() { var value = default(StatisticsInfo); Text.Initialize("lpt_statistics_info", &value, sizeof(StatisticsInfo)); return value; }
    }

    public unsafe partial struct DequantizeOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static DequantizeOptions Default() { var value = default(DequantizeOptions); Text.Initialize("lpt_dequantize_options", &value, sizeof(DequantizeOptions)); return value; }
    }

    public unsafe partial struct HadamardOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static HadamardOptions Default() { var value = default(HadamardOptions); Text.Initialize("lpt_hadamard_options", &value, sizeof(HadamardOptions)); return value; }
    }

    public unsafe partial struct ConvertOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static ConvertOptions Default() { var value = default(ConvertOptions); Text.Initialize("lpt_convert_options", &value, sizeof(ConvertOptions)); return value; }
    }

    public unsafe partial struct ScalerOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static ScalerOptions Default() { var value = default(ScalerOptions); Text.Initialize("lpt_scaler_options", &value, sizeof(ScalerOptions)); return value; }
    }

    public unsafe partial struct ScalerInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static ScalerInfo Default() { var value = default(ScalerInfo); Text.Initialize("lpt_scaler_info", &value, sizeof(ScalerInfo)); return value; }
    }

    public unsafe partial struct SparseFitOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static SparseFitOptions Default() { var value = default(SparseFitOptions); Text.Initialize("lpt_sparse_fit_options", &value, sizeof(SparseFitOptions)); return value; }
    }

    public unsafe partial struct SparseFitInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static SparseFitInfo Default() { var value = default(SparseFitInfo); Text.Initialize("lpt_sparse_fit_info", &value, sizeof(SparseFitInfo)); return value; }
    }

    public unsafe partial struct CalibrationOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static CalibrationOptions Default() { var value = default(CalibrationOptions); Text.Initialize("lpt_calibration_options", &value, sizeof(CalibrationOptions)); return value; }
    }

    public unsafe partial struct CalibrationInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static CalibrationInfo Default() { var value = default(CalibrationInfo); Text.Initialize("lpt_calibration_info", &value, sizeof(CalibrationInfo)); return value; }
    }

    public unsafe partial struct WeightsFitOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static WeightsFitOptions Default() { var value = default(WeightsFitOptions); Text.Initialize("lpt_weights_fit_options", &value, sizeof(WeightsFitOptions)); return value; }
    }

    public unsafe partial struct WeightsFitInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static WeightsFitInfo Default() { var value = default(WeightsFitInfo); Text.Initialize("lpt_weights_fit_info", &value, sizeof(WeightsFitInfo)); return value; }
    }

    public unsafe partial struct FormatChooseInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static FormatChooseInfo Default() { var value = default(FormatChooseInfo); Text.Initialize("lpt_format_choose_info", &value, sizeof(FormatChooseInfo)); return value; }
    }

    public unsafe partial struct GemmOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static GemmOptions Default() { var value = default(GemmOptions); Text.Initialize("lpt_gemm_options", &value, sizeof(GemmOptions)); return value; }
    }

    public unsafe partial struct GemmPlanInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static GemmPlanInfo Default() { var value = default(GemmPlanInfo); Text.Initialize("lpt_gemm_plan_info", &value, sizeof(GemmPlanInfo)); return value; }
    }

    public unsafe partial struct GemmOperands
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static GemmOperands Default() { var value = default(GemmOperands); Text.Initialize("lpt_gemm_operands", &value, sizeof(GemmOperands)); return value; }
    }

    public unsafe partial struct SparseOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static SparseOptions Default() { var value = default(SparseOptions); Text.Initialize("lpt_sparse_options", &value, sizeof(SparseOptions)); return value; }
    }

    public unsafe partial struct SparseInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static SparseInfo Default() { var value = default(SparseInfo); Text.Initialize("lpt_sparse_info", &value, sizeof(SparseInfo)); return value; }
    }

    public unsafe partial struct WeightsOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static WeightsOptions Default() { var value = default(WeightsOptions); Text.Initialize("lpt_weights_options", &value, sizeof(WeightsOptions)); return value; }
    }

    public unsafe partial struct RotaryScaling
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static RotaryScaling Default() { var value = default(RotaryScaling); Text.Initialize("lpt_rotary_scaling", &value, sizeof(RotaryScaling)); return value; }
    }

    public unsafe partial struct RotaryOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static RotaryOptions Default() { var value = default(RotaryOptions); Text.Initialize("lpt_rotary_options", &value, sizeof(RotaryOptions)); return value; }
    }

    public unsafe partial struct AttentionOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static AttentionOptions Default() { var value = default(AttentionOptions); Text.Initialize("lpt_attention_options", &value, sizeof(AttentionOptions)); return value; }
    }

    public unsafe partial struct KvCacheOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static KvCacheOptions Default() { var value = default(KvCacheOptions); Text.Initialize("lpt_kv_cache_options", &value, sizeof(KvCacheOptions)); return value; }
    }

    public unsafe partial struct LinearGemmOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static LinearGemmOptions Default() { var value = default(LinearGemmOptions); Text.Initialize("lpt_linear_gemm_options", &value, sizeof(LinearGemmOptions)); return value; }
    }

    public unsafe partial struct LinearShape
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static LinearShape Default() { var value = default(LinearShape); Text.Initialize("lpt_linear_shape", &value, sizeof(LinearShape)); return value; }
    }

    public unsafe partial struct LinearOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static LinearOptions Default() { var value = default(LinearOptions); Text.Initialize("lpt_linear_options", &value, sizeof(LinearOptions)); return value; }
    }

    public unsafe partial struct LossScalerOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static LossScalerOptions Default() { var value = default(LossScalerOptions); Text.Initialize("lpt_loss_scaler_options", &value, sizeof(LossScalerOptions)); return value; }
    }

    public unsafe partial struct LossScalerInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static LossScalerInfo Default() { var value = default(LossScalerInfo); Text.Initialize("lpt_loss_scaler_info", &value, sizeof(LossScalerInfo)); return value; }
    }

    public unsafe partial struct EmbeddingOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static EmbeddingOptions Default() { var value = default(EmbeddingOptions); Text.Initialize("lpt_embedding_options", &value, sizeof(EmbeddingOptions)); return value; }
    }

    public unsafe partial struct SwigluOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static SwigluOptions Default() { var value = default(SwigluOptions); Text.Initialize("lpt_swiglu_options", &value, sizeof(SwigluOptions)); return value; }
    }

    public unsafe partial struct RmsnormOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static RmsnormOptions Default() { var value = default(RmsnormOptions); Text.Initialize("lpt_rmsnorm_options", &value, sizeof(RmsnormOptions)); return value; }
    }

    public unsafe partial struct LayernormOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static LayernormOptions Default() { var value = default(LayernormOptions); Text.Initialize("lpt_layernorm_options", &value, sizeof(LayernormOptions)); return value; }
    }

    public unsafe partial struct SoftmaxOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static SoftmaxOptions Default() { var value = default(SoftmaxOptions); Text.Initialize("lpt_softmax_options", &value, sizeof(SoftmaxOptions)); return value; }
    }

    public unsafe partial struct CrossEntropyOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static CrossEntropyOptions Default() { var value = default(CrossEntropyOptions); Text.Initialize("lpt_cross_entropy_options", &value, sizeof(CrossEntropyOptions)); return value; }
    }

    public unsafe partial struct OptimizerOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static OptimizerOptions Default() { var value = default(OptimizerOptions); Text.Initialize("lpt_optimizer_options", &value, sizeof(OptimizerOptions)); return value; }
    }

    public unsafe partial struct OptimizerParameter
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static OptimizerParameter Default() { var value = default(OptimizerParameter); Text.Initialize("lpt_optimizer_parameter", &value, sizeof(OptimizerParameter)); return value; }
    }

    public unsafe partial struct OptimizerStepOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static OptimizerStepOptions Default() { var value = default(OptimizerStepOptions); Text.Initialize("lpt_optimizer_step_options", &value, sizeof(OptimizerStepOptions)); return value; }
    }

    public unsafe partial struct OptimizerInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static OptimizerInfo Default() { var value = default(OptimizerInfo); Text.Initialize("lpt_optimizer_info", &value, sizeof(OptimizerInfo)); return value; }
    }

    public unsafe partial struct GradientsInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static GradientsInfo Default() { var value = default(GradientsInfo); Text.Initialize("lpt_gradients_info", &value, sizeof(GradientsInfo)); return value; }
    }

    public unsafe partial struct CommOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static CommOptions Default() { var value = default(CommOptions); Text.Initialize("lpt_comm_options", &value, sizeof(CommOptions)); return value; }
    }

    public unsafe partial struct CommInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static CommInfo Default() { var value = default(CommInfo); Text.Initialize("lpt_comm_info", &value, sizeof(CommInfo)); return value; }
    }

    public unsafe partial struct ReduceOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static ReduceOptions Default() { var value = default(ReduceOptions); Text.Initialize("lpt_reduce_options", &value, sizeof(ReduceOptions)); return value; }
    }

    public unsafe partial struct AllGatherOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static AllGatherOptions Default() { var value = default(AllGatherOptions); Text.Initialize("lpt_all_gather_options", &value, sizeof(AllGatherOptions)); return value; }
    }

    public unsafe partial struct CommFunctions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static CommFunctions Default() { var value = default(CommFunctions); Text.Initialize("lpt_comm_functions", &value, sizeof(CommFunctions)); return value; }
    }

    public unsafe partial struct GradientBucketsOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static GradientBucketsOptions Default() { var value = default(GradientBucketsOptions); Text.Initialize("lpt_gradient_buckets_options", &value, sizeof(GradientBucketsOptions)); return value; }
    }

    public unsafe partial struct GradientBucketsInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static GradientBucketsInfo Default() { var value = default(GradientBucketsInfo); Text.Initialize("lpt_gradient_buckets_info", &value, sizeof(GradientBucketsInfo)); return value; }
    }

    public unsafe partial struct OptimizerShardOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static OptimizerShardOptions Default() { var value = default(OptimizerShardOptions); Text.Initialize("lpt_optimizer_shard_options", &value, sizeof(OptimizerShardOptions)); return value; }
    }

    public unsafe partial struct PartialPlanOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static PartialPlanOptions Default() { var value = default(PartialPlanOptions); Text.Initialize("lpt_partial_plan_options", &value, sizeof(PartialPlanOptions)); return value; }
    }

    public unsafe partial struct PartialPlanInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static PartialPlanInfo Default() { var value = default(PartialPlanInfo); Text.Initialize("lpt_partial_plan_info", &value, sizeof(PartialPlanInfo)); return value; }
    }

    public unsafe partial struct SequenceAttentionOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static SequenceAttentionOptions Default() { var value = default(SequenceAttentionOptions); Text.Initialize("lpt_sequence_attention_options", &value, sizeof(SequenceAttentionOptions)); return value; }
    }

    public unsafe partial struct AutopilotOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static AutopilotOptions Default() { var value = default(AutopilotOptions); Text.Initialize("lpt_autopilot_options", &value, sizeof(AutopilotOptions)); return value; }
    }

    public unsafe partial struct AutopilotInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static AutopilotInfo Default() { var value = default(AutopilotInfo); Text.Initialize("lpt_autopilot_info", &value, sizeof(AutopilotInfo)); return value; }
    }

    public unsafe partial struct CommCodec
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static CommCodec Default() { var value = default(CommCodec); Text.Initialize("lpt_comm_codec", &value, sizeof(CommCodec)); return value; }
    }

    public unsafe partial struct CostLink
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static CostLink Default() { var value = default(CostLink); Text.Initialize("lpt_cost_link", &value, sizeof(CostLink)); return value; }
    }

    public unsafe partial struct CostInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static CostInfo Default() { var value = default(CostInfo); Text.Initialize("lpt_cost_info", &value, sizeof(CostInfo)); return value; }
    }

    public unsafe partial struct CostCastRates
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static CostCastRates Default() { var value = default(CostCastRates); Text.Initialize("lpt_cost_cast_rates", &value, sizeof(CostCastRates)); return value; }
    }

    public unsafe partial struct DelayOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static DelayOptions Default() { var value = default(DelayOptions); Text.Initialize("lpt_delay_options", &value, sizeof(DelayOptions)); return value; }
    }

    public unsafe partial struct DropComputeInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static DropComputeInfo Default() { var value = default(DropComputeInfo); Text.Initialize("lpt_drop_compute_info", &value, sizeof(DropComputeInfo)); return value; }
    }

    public unsafe partial struct GemmEmulation
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static GemmEmulation Default() { var value = default(GemmEmulation); Text.Initialize("lpt_gemm_emulation", &value, sizeof(GemmEmulation)); return value; }
    }

    public unsafe partial struct CommEmulation
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static CommEmulation Default() { var value = default(CommEmulation); Text.Initialize("lpt_comm_emulation", &value, sizeof(CommEmulation)); return value; }
    }

    public unsafe partial struct ExaqOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static ExaqOptions Default() { var value = default(ExaqOptions); Text.Initialize("lpt_exaq_options", &value, sizeof(ExaqOptions)); return value; }
    }

    public unsafe partial struct LossyLinkOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static LossyLinkOptions Default() { var value = default(LossyLinkOptions); Text.Initialize("lpt_lossy_link_options", &value, sizeof(LossyLinkOptions)); return value; }
    }

    public unsafe partial struct LossyLinkInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static LossyLinkInfo Default() { var value = default(LossyLinkInfo); Text.Initialize("lpt_lossy_link_info", &value, sizeof(LossyLinkInfo)); return value; }
    }

    public unsafe partial struct LossyInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static LossyInfo Default() { var value = default(LossyInfo); Text.Initialize("lpt_lossy_info", &value, sizeof(LossyInfo)); return value; }
    }

    public unsafe partial struct NoiseOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static NoiseOptions Default() { var value = default(NoiseOptions); Text.Initialize("lpt_noise_options", &value, sizeof(NoiseOptions)); return value; }
    }

    public unsafe partial struct NoiseInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static NoiseInfo Default() { var value = default(NoiseInfo); Text.Initialize("lpt_noise_info", &value, sizeof(NoiseInfo)); return value; }
    }

    public unsafe partial struct SwigluAlignmentInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static SwigluAlignmentInfo Default() { var value = default(SwigluAlignmentInfo); Text.Initialize("lpt_swiglu_alignment_info", &value, sizeof(SwigluAlignmentInfo)); return value; }
    }

    public unsafe partial struct PowerOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static PowerOptions Default() { var value = default(PowerOptions); Text.Initialize("lpt_power_options", &value, sizeof(PowerOptions)); return value; }
    }

    public unsafe partial struct PowerInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static PowerInfo Default() { var value = default(PowerInfo); Text.Initialize("lpt_power_info", &value, sizeof(PowerInfo)); return value; }
    }

    public unsafe partial struct TopologyInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static TopologyInfo Default() { var value = default(TopologyInfo); Text.Initialize("lpt_topology_info", &value, sizeof(TopologyInfo)); return value; }
    }

    public unsafe partial struct ScheduleOptions
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static ScheduleOptions Default() { var value = default(ScheduleOptions); Text.Initialize("lpt_schedule_options", &value, sizeof(ScheduleOptions)); return value; }
    }

    public unsafe partial struct ScheduleInfo
    {
        /// <summary>Returns the defaults of the library.</summary>
        public static ScheduleInfo Default() { var value = default(ScheduleInfo); Text.Initialize("lpt_schedule_info", &value, sizeof(ScheduleInfo)); return value; }
    }
}
