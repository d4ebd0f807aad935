// Handles and functions of lpt.h; the header documents the contracts. Written by `python3 tools/make_bindings.py write`.
#pragma warning disable CS1591 // lpt.h documents members without a comment
using System;
using System.Runtime.InteropServices;

namespace Lpt
{
    /// <summary>Chooses the precision of each GEMM during training; see lpt_autopilot_create().</summary>
    public sealed partial class Autopilot : Handle
    {
        /// <summary>NULL, for an optional Autopilot that is not used.</summary>
        public static readonly Autopilot None = new Autopilot(IntPtr.Zero);
        internal Autopilot(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_autopilot_destroy(handle); }
    }

    /// <summary>Statistics of the inputs of a layer for calibration data; see lpt_calibration_create().</summary>
    public sealed partial class Calibration : Handle
    {
        /// <summary>NULL, for an optional Calibration that is not used.</summary>
        public static readonly Calibration None = new Calibration(IntPtr.Zero);
        internal Calibration(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_calibration_destroy(handle); }
    }

    /// <summary>One rank of a communicator; see lpt_comm_create_local().</summary>
    public sealed partial class Comm : Handle
    {
        /// <summary>NULL, for an optional Comm that is not used.</summary>
        public static readonly Comm None = new Comm(IntPtr.Zero);
        internal Comm(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_comm_destroy(handle); }
    }

    /// <summary>A group of ranks that are threads of one process; see lpt_comm_group_create().</summary>
    public sealed partial class CommGroup : Handle
    {
        /// <summary>NULL, for an optional CommGroup that is not used.</summary>
        public static readonly CommGroup None = new CommGroup(IntPtr.Zero);
        internal CommGroup(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_comm_group_destroy(handle); }
    }

    /// <summary>Runs operations: holds threads, memory, error text and the choice of kernels; see lpt_context_create().</summary>
    public sealed partial class Context : Handle
    {
        /// <summary>NULL, for an optional Context that is not used.</summary>
        public static readonly Context None = new Context(IntPtr.Zero);
        internal Context(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_context_destroy(handle); }
    }

    /// <summary>A collective in progress; see lpt_future_wait().</summary>
    public sealed partial class Future : Handle
    {
        /// <summary>NULL, for an optional Future that is not used.</summary>
        public static readonly Future None = new Future(IntPtr.Zero);
        internal Future(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_future_destroy(handle); }
    }

    /// <summary>A checked GEMM of one shape with its selected kernel; see lpt_gemm_plan_create().</summary>
    public sealed partial class GemmPlan : Handle
    {
        /// <summary>NULL, for an optional GemmPlan that is not used.</summary>
        public static readonly GemmPlan None = new GemmPlan(IntPtr.Zero);
        internal GemmPlan(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_gemm_plan_destroy(handle); }
    }

    /// <summary>Gradients that ranks reduce while backward continues; see lpt_gradient_buckets_create().</summary>
    public sealed partial class GradientBuckets : Handle
    {
        /// <summary>NULL, for an optional GradientBuckets that is not used.</summary>
        public static readonly GradientBuckets None = new GradientBuckets(IntPtr.Zero);
        internal GradientBuckets(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_gradient_buckets_destroy(handle); }
    }

    /// <summary>Keys and values of attention, stored for inference; see lpt_kv_cache_create().</summary>
    public sealed partial class KvCache : Handle
    {
        /// <summary>NULL, for an optional KvCache that is not used.</summary>
        public static readonly KvCache None = new KvCache(IntPtr.Zero);
        internal KvCache(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_kv_cache_destroy(handle); }
    }

    /// <summary>A linear layer: its recipe, its scalers, and the casts of its weight; see lpt_linear_create().</summary>
    public sealed partial class Linear : Handle
    {
        /// <summary>NULL, for an optional Linear that is not used.</summary>
        public static readonly Linear None = new Linear(IntPtr.Zero);
        internal Linear(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_linear_destroy(handle); }
    }

    /// <summary>Factor of the loss of a training in f16 or FP8; see lpt_loss_scaler_create().</summary>
    public sealed partial class LossScaler : Handle
    {
        /// <summary>NULL, for an optional LossScaler that is not used.</summary>
        public static readonly LossScaler None = new LossScaler(IntPtr.Zero);
        internal LossScaler(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_loss_scaler_destroy(handle); }
    }

    /// <summary>Packets between ranks that may be lost; see lpt_lossy_link_create().</summary>
    public sealed partial class LossyLink : Handle
    {
        /// <summary>NULL, for an optional LossyLink that is not used.</summary>
        public static readonly LossyLink None = new LossyLink(IntPtr.Zero);
        internal LossyLink(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_lossy_link_destroy(handle); }
    }

    /// <summary>A record of values by step and name; see lpt_monitor_create().</summary>
    public sealed partial class Monitor : Handle
    {
        /// <summary>NULL, for an optional Monitor that is not used.</summary>
        public static readonly Monitor None = new Monitor(IntPtr.Zero);
        internal Monitor(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_monitor_destroy(handle); }
    }

    /// <summary>The optimizer state of many parameters; see lpt_optimizer_create().</summary>
    public sealed partial class Optimizer : Handle
    {
        /// <summary>NULL, for an optional Optimizer that is not used.</summary>
        public static readonly Optimizer None = new Optimizer(IntPtr.Zero);
        internal Optimizer(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_optimizer_destroy(handle); }
    }

    /// <summary>Tensor-parallel ranks that share only some columns of their activations; see lpt_partial_all_reduce().</summary>
    public sealed partial class PartialPlan : Handle
    {
        /// <summary>NULL, for an optional PartialPlan that is not used.</summary>
        public static readonly PartialPlan None = new PartialPlan(IntPtr.Zero);
        internal PartialPlan(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_partial_plan_destroy(handle); }
    }

    /// <summary>How a linear layer casts the operands of its three GEMMs, and runs these; see lpt_recipe_create().</summary>
    public sealed partial class Recipe : Handle
    {
        /// <summary>NULL, for an optional Recipe that is not used.</summary>
        public static readonly Recipe None = new Recipe(IntPtr.Zero);
        internal Recipe(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_recipe_destroy(handle); }
    }

    /// <summary>Records the largest magnitudes of one cast site; see lpt_scaler_create().</summary>
    public sealed partial class Scaler : Handle
    {
        /// <summary>NULL, for an optional Scaler that is not used.</summary>
        public static readonly Scaler None = new Scaler(IntPtr.Zero);
        internal Scaler(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_scaler_destroy(handle); }
    }

    /// <summary>The messages of an all-reduce, step by step; see lpt_schedule_create().</summary>
    public sealed partial class Schedule : Handle
    {
        /// <summary>NULL, for an optional Schedule that is not used.</summary>
        public static readonly Schedule None = new Schedule(IntPtr.Zero);
        internal Schedule(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_schedule_destroy(handle); }
    }

    /// <summary>Accumulates statistics of casts; see lpt_statistics_create().</summary>
    public sealed partial class Statistics : Handle
    {
        /// <summary>NULL, for an optional Statistics that is not used.</summary>
        public static readonly Statistics None = new Statistics(IntPtr.Zero);
        internal Statistics(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_statistics_destroy(handle); }
    }

    /// <summary>Elements in memory with a format, extents, scales and other parts; see lpt_tensor_create().</summary>
    public sealed partial class Tensor : Handle
    {
        /// <summary>NULL, for an optional Tensor that is not used.</summary>
        public static readonly Tensor None = new Tensor(IntPtr.Zero);
        internal Tensor(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_tensor_destroy(handle); }
    }

    /// <summary>Ranks, switches and the links between them; see lpt_topology_create().</summary>
    public sealed partial class Topology : Handle
    {
        /// <summary>NULL, for an optional Topology that is not used.</summary>
        public static readonly Topology None = new Topology(IntPtr.Zero);
        internal Topology(IntPtr raw) : base(raw) { }
        protected override void Destroy() { Native.lpt_topology_destroy(handle); }
    }

    /// <summary>The functions of lpt.h. All arguments are numbers, pointers, or handles.</summary>
    public static unsafe partial class Native
    {
        internal const string Library = "lpt";

#if NET7_0_OR_GREATER
        [LibraryImport(Library)] public static partial int lpt_version();
        [LibraryImport(Library)] public static partial byte* lpt_version_string();
        [LibraryImport(Library)] public static partial int lpt_abi_level();
        [LibraryImport(Library)] public static partial byte* lpt_build_info();
        [LibraryImport(Library)] public static partial byte* lpt_status_string(Status status);
        [LibraryImport(Library)] public static partial int lpt_struct_init(byte* name, void* @object, UIntPtr struct_size);
        [LibraryImport(Library)] public static partial Status lpt_device_describe(Context context, Device device, int index, DeviceInfo* out_description);
        [LibraryImport(Library)] public static partial Status lpt_context_create(ContextOptions* options, IntPtr* out_context);
        [LibraryImport(Library)] public static partial void lpt_context_destroy(IntPtr context);
        [LibraryImport(Library)] public static partial byte* lpt_context_error(Context context);
        [LibraryImport(Library)] public static partial byte* lpt_context_explanation(Context context);
        [LibraryImport(Library)] public static partial Status lpt_context_set_threads(Context context, int thread_count);
        [LibraryImport(Library)] public static partial Status lpt_context_set_isa(Context context, Isa isa);
        [LibraryImport(Library)] public static partial Status lpt_context_set_stream(Context context, void* stream);
        [LibraryImport(Library)] public static partial void* lpt_context_stream(Context context);
        [LibraryImport(Library)] public static partial Status lpt_context_wait_stream(Context context, void* stream);
        [LibraryImport(Library)] public static partial Status lpt_context_notify_stream(Context context, void* stream);
        [LibraryImport(Library)] public static partial Status lpt_context_wait_event(Context context, void* @event);
        [LibraryImport(Library)] public static partial Status lpt_context_record_event(Context context, void* @event);
        [LibraryImport(Library)] public static partial Status lpt_context_trim(Context context, UIntPtr keep_bytes);
        [LibraryImport(Library)] public static partial Status lpt_context_synchronize(Context context);
        [LibraryImport(Library)] public static partial Status lpt_context_set_log(Context context, LogLevel level, IntPtr log, void* log_user);
        [LibraryImport(Library)] public static partial Status lpt_context_set_progress(Context context, IntPtr progress, void* progress_user);
        [LibraryImport(Library)] public static partial Status lpt_context_set_profile(Context context, int is_enabled);
        [LibraryImport(Library)] public static partial Status lpt_context_profile_count(Context context, long* out_count);
        [LibraryImport(Library)] public static partial Status lpt_context_profile_entry(Context context, long index, ProfileEntry* out_entry);
        [LibraryImport(Library)] public static partial Status lpt_context_profile_save(Context context, byte* path);
        [LibraryImport(Library)] public static partial Status lpt_format_from_description(Context context, FormatDescription* description, Format* out_format);
        [LibraryImport(Library)] public static partial Status lpt_format_from_name(Context context, byte* name, Format* out_format);
        [LibraryImport(Library)] public static partial Status lpt_format_write_name(Context context, Format format, byte* buffer, UIntPtr buffer_bytes, UIntPtr* out_needed_bytes);
        [LibraryImport(Library)] public static partial Status lpt_format_describe(Context context, Format format, FormatDescription* out_description);
        [LibraryImport(Library)] public static partial Status lpt_format_write_text(Context context, Format format, byte* buffer, UIntPtr buffer_bytes, UIntPtr* out_needed_bytes);
        [LibraryImport(Library)] public static partial long lpt_format_count();
        [LibraryImport(Library)] public static partial Format lpt_format_at(long index);
        [LibraryImport(Library)] public static partial byte* lpt_format_name(Format format);
        [LibraryImport(Library)] public static partial Status lpt_tensor_create(Context context, Format format, int rank, long* extents, IntPtr* out_tensor);
        [LibraryImport(Library)] public static partial Status lpt_tensor_create_matrix(Context context, Format format, long rows, long columns, IntPtr* out_tensor);
        [LibraryImport(Library)] public static partial Status lpt_tensor_wrap(Context context, TensorDescription* description, IntPtr* out_tensor);
        [LibraryImport(Library)] public static partial Status lpt_tensor_wrap_matrix(Context context, Format format, void* data, long rows, long columns, long row_stride, IntPtr* out_tensor);
        [LibraryImport(Library)] public static partial Status lpt_tensor_wrap_const_matrix(Context context, Format format, void* data, long rows, long columns, long row_stride, IntPtr* out_tensor);
        [LibraryImport(Library)] public static partial Status lpt_tensor_view(Context context, Tensor tensor, long* begins, long* extents, IntPtr* out_tensor);
        [LibraryImport(Library)] public static partial Status lpt_tensor_view_part(Context context, Tensor tensor, TensorPart part, IntPtr* out_tensor);
        [LibraryImport(Library)] public static partial Status lpt_tensor_combine(Context context, Format format, long rows, long columns, IntPtr* parts, int part_count, IntPtr* out_tensor);
        [LibraryImport(Library)] public static partial Status lpt_tensor_describe(Context context, Tensor tensor, TensorDescription* out_description);
        [LibraryImport(Library)] public static partial Format lpt_tensor_format(Tensor tensor);
        [LibraryImport(Library)] public static partial int lpt_tensor_rank(Tensor tensor);
        [LibraryImport(Library)] public static partial long lpt_tensor_extent(Tensor tensor, int axis);
        [LibraryImport(Library)] public static partial long lpt_tensor_stride(Tensor tensor, int axis);
        [LibraryImport(Library)] public static partial void* lpt_tensor_data(Tensor tensor);
        [LibraryImport(Library)] public static partial void* lpt_tensor_const_data(Tensor tensor);
        [LibraryImport(Library)] public static partial Device lpt_tensor_device(Tensor tensor, int* out_index);
        [LibraryImport(Library)] public static partial Status lpt_tensor_size(Context context, Tensor tensor, UIntPtr* out_size_bytes);
        [LibraryImport(Library)] public static partial Status lpt_tensor_copy(Context context, Tensor source, Tensor target);
        [LibraryImport(Library)] public static partial void lpt_tensor_destroy(IntPtr tensor);
        [LibraryImport(Library)] public static partial Status lpt_tensor_from_dlpack(Context context, void* managed, int is_versioned, Flags* out_flags, IntPtr* out_tensor);
        [LibraryImport(Library)] public static partial Status lpt_tensor_take_dlpack(Context context, void* managed, int is_versioned, Flags* out_flags, IntPtr* out_tensor);
        [LibraryImport(Library)] public static partial Status lpt_tensor_to_dlpack(Context context, Tensor tensor, int is_versioned, void** out_managed);
        [LibraryImport(Library)] public static partial Status lpt_foreign_layout_size(Context context, Tensor tensor, ForeignLayout layout, UIntPtr* out_size_bytes);
        [LibraryImport(Library)] public static partial Status lpt_foreign_layout_export(Context context, Tensor tensor, ForeignLayout layout, void* buffer, UIntPtr buffer_bytes);
        [LibraryImport(Library)] public static partial Status lpt_foreign_layout_import(Context context, void* buffer, UIntPtr buffer_bytes, ForeignLayout layout, Tensor tensor);
        [LibraryImport(Library)] public static partial Status lpt_quantize(Context context, Tensor source, QuantizeOptions* options, Tensor quantized, Tensor transposed);
        [LibraryImport(Library)] public static partial Status lpt_fake_quantize(Context context, Tensor source, Format format, QuantizeOptions* options, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_statistics_create(Context context, IntPtr* out_statistics);
        [LibraryImport(Library)] public static partial void lpt_statistics_destroy(IntPtr statistics);
        [LibraryImport(Library)] public static partial Status lpt_statistics_read(Context context, Statistics statistics, StatisticsInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_statistics_reset(Context context, Statistics statistics);
        [LibraryImport(Library)] public static partial Status lpt_dequantize(Context context, Tensor source, DequantizeOptions* options, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_hadamard(Context context, Tensor source, HadamardOptions* options, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_hadamard_draw_signs(Context context, Random* random, Tensor signs);
        [LibraryImport(Library)] public static partial Status lpt_convert(Context context, Tensor source, ConvertOptions* options, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_scaler_create(Context context, ScalerOptions* options, IntPtr* out_scaler);
        [LibraryImport(Library)] public static partial void lpt_scaler_destroy(IntPtr scaler);
        [LibraryImport(Library)] public static partial Status lpt_scaler_update(Context context, IntPtr* scalers, long scaler_count);
        [LibraryImport(Library)] public static partial Status lpt_scaler_read(Context context, Scaler scaler, ScalerInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_scaler_state_size(Context context, Scaler scaler, UIntPtr* out_size_bytes);
        [LibraryImport(Library)] public static partial Status lpt_scaler_state_save(Context context, Scaler scaler, void* buffer, UIntPtr buffer_bytes);
        [LibraryImport(Library)] public static partial Status lpt_scaler_state_load(Context context, Scaler scaler, void* buffer, UIntPtr buffer_bytes);
        [LibraryImport(Library)] public static partial Status lpt_sparse_fit(Context context, Tensor weight, Tensor mask, Tensor inputs, SparseFitOptions* options, Tensor output, Tensor bias_change, SparseFitInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_calibration_create(Context context, long columns, CalibrationOptions* options, IntPtr* out_calibration);
        [LibraryImport(Library)] public static partial void lpt_calibration_destroy(IntPtr calibration);
        [LibraryImport(Library)] public static partial Status lpt_calibration_add(Context context, Calibration calibration, Tensor inputs, Tensor reference);
        [LibraryImport(Library)] public static partial Status lpt_calibration_all_reduce(Context context, Comm comm, Calibration calibration);
        [LibraryImport(Library)] public static partial Status lpt_calibration_read(Context context, Calibration calibration, CalibrationValue value, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_calibration_describe(Context context, Calibration calibration, CalibrationInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_calibration_percentile(Context context, Calibration calibration, double share, double* out_magnitude);
        [LibraryImport(Library)] public static partial Status lpt_weights_fit(Context context, Tensor weight, Tensor gram, WeightsFitOptions* options, Tensor output, Tensor input_factors, Tensor bias_change, WeightsFitInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_format_choose(Context context, double* errors, long* bytes, long tensor_count, long candidate_count, long budget_bytes, long* out_choices, FormatChooseInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_gemm(Context context, Tensor a, Tensor b, GemmOptions* options, Tensor c);
        [LibraryImport(Library)] public static partial Status lpt_gemm_grouped(Context context, Tensor a, Tensor b, Tensor group_ends, GemmOptions* options, Tensor c);
        [LibraryImport(Library)] public static partial Status lpt_gemm_plan_create(Context context, Tensor a, Tensor b, GemmOptions* options, Tensor c, IntPtr* out_plan);
        [LibraryImport(Library)] public static partial Status lpt_gemm_plan_run(Context context, GemmPlan plan, Tensor a, Tensor b, GemmOperands* operands, Tensor c);
        [LibraryImport(Library)] public static partial Status lpt_gemm_plan_read(Context context, GemmPlan plan, GemmPlanInfo* out_info);
        [LibraryImport(Library)] public static partial void lpt_gemm_plan_destroy(IntPtr plan);
        [LibraryImport(Library)] public static partial Status lpt_sparse_mask_select(Context context, Tensor source, SparseOptions* options, Tensor mask, Tensor masked, SparseInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_sparse_mask_check(Context context, Tensor mask, int kept, int of, SparseDirection direction, long* out_count);
        [LibraryImport(Library)] public static partial Status lpt_sparse_mask_compare(Context context, Tensor mask, Tensor other, long* out_count);
        [LibraryImport(Library)] public static partial Status lpt_sparse_mask_apply(Context context, Tensor source, Tensor mask, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_sparse_mask_decay(Context context, Tensor weight, Tensor mask, double rate, Tensor gradient);
        [LibraryImport(Library)] public static partial Status lpt_sparse_compress(Context context, Tensor source, Tensor mask, Tensor compressed, Tensor transposed);
        [LibraryImport(Library)] public static partial Status lpt_sparse_decompress(Context context, Tensor compressed, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_weights_pack(Context context, Tensor weights, WeightsOptions* options, IntPtr* out_packed);
        [LibraryImport(Library)] public static partial Status lpt_weights_order(Context context, Tensor weights, WeightsOptions* options, int* order, long* out_given_count, long* out_count);
        [LibraryImport(Library)] public static partial Status lpt_weights_unpack(Context context, Tensor packed, Tensor weights);
        [LibraryImport(Library)] public static partial Status lpt_weights_state_size(Context context, Tensor packed, UIntPtr* out_size_bytes);
        [LibraryImport(Library)] public static partial Status lpt_weights_state_save(Context context, Tensor packed, void* buffer, UIntPtr buffer_bytes);
        [LibraryImport(Library)] public static partial Status lpt_weights_state_load(Context context, void* buffer, UIntPtr buffer_bytes, IntPtr* out_packed);
        [LibraryImport(Library)] public static partial Status lpt_rotary_frequencies(Context context, RotaryScaling* options, Tensor frequencies);
        [LibraryImport(Library)] public static partial Status lpt_rotary(Context context, Tensor input, Tensor frequencies, RotaryOptions* options, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_attention_forward(Context context, Tensor query, Tensor key, Tensor value, AttentionOptions* options, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_attention_backward(Context context, Tensor query, Tensor key, Tensor value, Tensor output_gradient, AttentionOptions* options, Tensor query_gradient, Tensor key_gradient, Tensor value_gradient);
        [LibraryImport(Library)] public static partial Status lpt_kv_cache_create(Context context, KvCacheOptions* options, IntPtr* out_cache);
        [LibraryImport(Library)] public static partial void lpt_kv_cache_destroy(IntPtr cache);
        [LibraryImport(Library)] public static partial Status lpt_kv_cache_append(Context context, KvCache cache, Tensor keys, Tensor values, Tensor counts);
        [LibraryImport(Library)] public static partial Status lpt_kv_cache_truncate(Context context, KvCache cache, Tensor lengths);
        [LibraryImport(Library)] public static partial Status lpt_kv_cache_select(Context context, KvCache cache, Tensor batches);
        [LibraryImport(Library)] public static partial Status lpt_kv_cache_view(Context context, KvCache cache, IntPtr* out_keys, IntPtr* out_values, IntPtr* out_lengths);
        [LibraryImport(Library)] public static partial Status lpt_kv_cache_size(Context context, KvCache cache, UIntPtr* out_size_bytes);
        [LibraryImport(Library)] public static partial Status lpt_recipe_create(Context context, byte* name, IntPtr* out_recipe);
        [LibraryImport(Library)] public static partial long lpt_recipe_count();
        [LibraryImport(Library)] public static partial byte* lpt_recipe_name(long index);
        [LibraryImport(Library)] public static partial void lpt_recipe_destroy(IntPtr recipe);
        [LibraryImport(Library)] public static partial Status lpt_recipe_set_cast(Context context, Recipe recipe, LinearCast cast, Format format, QuantizeOptions* options);
        [LibraryImport(Library)] public static partial Status lpt_recipe_set_scaler(Context context, Recipe recipe, LinearOperand operand, ScalerOptions* options);
        [LibraryImport(Library)] public static partial Status lpt_recipe_cast_format(Context context, Recipe recipe, LinearCast cast, Format* out_format);
        [LibraryImport(Library)] public static partial Status lpt_recipe_set_gemm(Context context, Recipe recipe, LinearGemm product, LinearGemmOptions* options);
        [LibraryImport(Library)] public static partial Status lpt_recipe_set_high_precision(Context context, Recipe recipe, LinearGemm product, Format format);
        [LibraryImport(Library)] public static partial Status lpt_recipe_set_sparsity(Context context, Recipe recipe, LinearOperand operand, int interval, SparseOptions* options);
        [LibraryImport(Library)] public static partial Status lpt_linear_create(Context context, Recipe recipe, LinearShape* shape, IntPtr* out_linear);
        [LibraryImport(Library)] public static partial void lpt_linear_destroy(IntPtr linear);
        [LibraryImport(Library)] public static partial Status lpt_linear_set_recipe(Context context, Linear linear, Recipe recipe);
        [LibraryImport(Library)] public static partial Status lpt_linear_prepare(Context context, Linear linear, Tensor weight, LinearOptions* options);
        [LibraryImport(Library)] public static partial Status lpt_linear_saved_size(Context context, Linear linear, long rows, UIntPtr* out_size_bytes);
        [LibraryImport(Library)] public static partial Status lpt_linear_cast_size(Context context, Linear linear, UIntPtr* out_size_bytes);
        [LibraryImport(Library)] public static partial Status lpt_linear_forward(Context context, Linear linear, Tensor input, LinearOptions* options, Tensor saved, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_linear_backward(Context context, Linear linear, Tensor saved, Tensor output_gradient, LinearOptions* options, Tensor input_gradient, Tensor weight_gradient, Tensor bias_gradient);
        [LibraryImport(Library)] public static partial Status lpt_linear_share_amax(Context context, Comm comm, IntPtr* linears, long linear_count);
        [LibraryImport(Library)] public static partial Status lpt_linear_update_scalers(Context context, IntPtr* linears, long linear_count);
        [LibraryImport(Library)] public static partial Status lpt_linear_scaler_read(Context context, Linear linear, LinearOperand operand, ScalerInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_linear_mask_read(Context context, Linear linear, Tensor mask);
        [LibraryImport(Library)] public static partial Status lpt_linear_watch(Context context, Linear linear, int is_watched);
        [LibraryImport(Library)] public static partial Status lpt_linear_cast_read(Context context, Linear linear, LinearCast cast, StatisticsInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_linear_state_size(Context context, Linear linear, UIntPtr* out_size_bytes);
        [LibraryImport(Library)] public static partial Status lpt_linear_state_save(Context context, Linear linear, void* buffer, UIntPtr buffer_bytes);
        [LibraryImport(Library)] public static partial Status lpt_linear_state_load(Context context, Linear linear, void* buffer, UIntPtr buffer_bytes);
        [LibraryImport(Library)] public static partial Status lpt_loss_scaler_create(Context context, LossScalerOptions* options, IntPtr* out_loss_scaler);
        [LibraryImport(Library)] public static partial void lpt_loss_scaler_destroy(IntPtr loss_scaler);
        [LibraryImport(Library)] public static partial Status lpt_loss_scaler_update(Context context, LossScaler loss_scaler);
        [LibraryImport(Library)] public static partial Status lpt_loss_scaler_read(Context context, LossScaler loss_scaler, LossScalerInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_loss_scaler_state_size(Context context, LossScaler loss_scaler, UIntPtr* out_size_bytes);
        [LibraryImport(Library)] public static partial Status lpt_loss_scaler_state_save(Context context, LossScaler loss_scaler, void* buffer, UIntPtr buffer_bytes);
        [LibraryImport(Library)] public static partial Status lpt_loss_scaler_state_load(Context context, LossScaler loss_scaler, void* buffer, UIntPtr buffer_bytes);
        [LibraryImport(Library)] public static partial Status lpt_embedding_forward(Context context, Tensor weight, Tensor indices, EmbeddingOptions* options, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_embedding_backward(Context context, Tensor indices, Tensor output_gradient, EmbeddingOptions* options, Tensor weight_gradient);
        [LibraryImport(Library)] public static partial Status lpt_swiglu_forward(Context context, Tensor gate, Tensor up, SwigluOptions* options, Tensor output, Tensor smoothing);
        [LibraryImport(Library)] public static partial Status lpt_swiglu_backward(Context context, Tensor gate, Tensor up, Tensor output_gradient, SwigluOptions* options, Tensor gate_gradient, Tensor up_gradient);
        [LibraryImport(Library)] public static partial Status lpt_rmsnorm_forward(Context context, Tensor input, Tensor weight, RmsnormOptions* options, Tensor output, Tensor inverse_rms);
        [LibraryImport(Library)] public static partial Status lpt_rmsnorm_forward_sum(Context context, Tensor residual, Tensor branch, Tensor weight, RmsnormOptions* options, Tensor sum, Tensor output, Tensor inverse_rms);
        [LibraryImport(Library)] public static partial Status lpt_rmsnorm_backward(Context context, Tensor input, Tensor weight, Tensor inverse_rms, Tensor output_gradient, RmsnormOptions* options, Tensor input_gradient, Tensor weight_gradient);
        [LibraryImport(Library)] public static partial Status lpt_layernorm_forward(Context context, Tensor input, Tensor weight, Tensor bias, LayernormOptions* options, Tensor output, Tensor mean, Tensor inverse_deviation);
        [LibraryImport(Library)] public static partial Status lpt_layernorm_backward(Context context, Tensor input, Tensor weight, Tensor mean, Tensor inverse_deviation, Tensor output_gradient, LayernormOptions* options, Tensor input_gradient, Tensor weight_gradient, Tensor bias_gradient);
        [LibraryImport(Library)] public static partial Status lpt_softmax_forward(Context context, Tensor input, SoftmaxOptions* options, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_softmax_backward(Context context, Tensor output, Tensor output_gradient, SoftmaxOptions* options, Tensor input_gradient);
        [LibraryImport(Library)] public static partial Status lpt_cross_entropy_forward(Context context, Tensor logits, Tensor targets, CrossEntropyOptions* options, Tensor loss, Tensor log_sums);
        [LibraryImport(Library)] public static partial Status lpt_cross_entropy_backward(Context context, Tensor logits, Tensor targets, Tensor log_sums, Tensor loss_gradient, CrossEntropyOptions* options, Tensor logits_gradient);
        [LibraryImport(Library)] public static partial Status lpt_optimizer_create(Context context, OptimizerOptions* options, IntPtr* out_optimizer);
        [LibraryImport(Library)] public static partial void lpt_optimizer_destroy(IntPtr optimizer);
        [LibraryImport(Library)] public static partial Status lpt_optimizer_set_directory(Context context, Optimizer optimizer, byte* directory, UIntPtr resident_bytes);
        [LibraryImport(Library)] public static partial Status lpt_optimizer_add(Context context, Optimizer optimizer, byte* name, OptimizerParameter* parameter, long* out_index);
        [LibraryImport(Library)] public static partial Status lpt_optimizer_find(Context context, Optimizer optimizer, byte* name, long* out_index);
        [LibraryImport(Library)] public static partial Status lpt_optimizer_step(Context context, Optimizer optimizer, long* indices, long count, IntPtr* gradients, OptimizerStepOptions* options, IntPtr* parameters);
        [LibraryImport(Library)] public static partial Status lpt_optimizer_read(Context context, Optimizer optimizer, OptimizerInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_gradients_measure(Context context, IntPtr* gradients, long count, GradientsInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_optimizer_size(Context context, Optimizer optimizer, UIntPtr* out_size_bytes);
        [LibraryImport(Library)] public static partial Status lpt_optimizer_state_size(Context context, Optimizer optimizer, long index, UIntPtr* out_size_bytes);
        [LibraryImport(Library)] public static partial Status lpt_optimizer_state_save(Context context, Optimizer optimizer, long index, void* buffer, UIntPtr buffer_bytes);
        [LibraryImport(Library)] public static partial Status lpt_optimizer_state_load(Context context, Optimizer optimizer, long index, void* buffer, UIntPtr buffer_bytes);
        [LibraryImport(Library)] public static partial Status lpt_optimizer_state_load_many(Context context, Optimizer optimizer, long index, void** buffers, UIntPtr* buffer_bytes, long count);
        [LibraryImport(Library)] public static partial Status lpt_comm_group_create(Context context, int rank_count, IntPtr* out_group);
        [LibraryImport(Library)] public static partial void lpt_comm_group_abort(CommGroup group);
        [LibraryImport(Library)] public static partial void lpt_comm_group_destroy(IntPtr group);
        [LibraryImport(Library)] public static partial Status lpt_comm_create_local(Context context, CommGroup group, int rank, CommOptions* options, IntPtr* out_comm);
        [LibraryImport(Library)] public static partial Status lpt_comm_create_mpi(Context context, CommOptions* options, IntPtr* out_comm);
        [LibraryImport(Library)] public static partial Status lpt_comm_adopt_mpi(Context context, int fortran_handle, CommOptions* options, IntPtr* out_comm);
        [LibraryImport(Library)] public static partial Status lpt_comm_create_nccl(Context context, CommOptions* options, IntPtr* out_comm);
        [LibraryImport(Library)] public static partial Status lpt_comm_adopt_nccl(Context context, void* nccl_comm, CommOptions* options, IntPtr* out_comm);
        [LibraryImport(Library)] public static partial Status lpt_comm_split(Context context, Comm comm, int color, int key, IntPtr* out_comm);
        [LibraryImport(Library)] public static partial void lpt_comm_destroy(IntPtr comm);
        [LibraryImport(Library)] public static partial Status lpt_comm_read(Context context, Comm comm, CommInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_future_wait(Context context, Future future);
        [LibraryImport(Library)] public static partial Status lpt_future_is_done(Context context, Future future, int* out_is_done);
        [LibraryImport(Library)] public static partial void lpt_future_destroy(IntPtr future);
        [LibraryImport(Library)] public static partial Status lpt_barrier(Context context, Comm comm);
        [LibraryImport(Library)] public static partial Status lpt_all_reduce(Context context, Comm comm, Tensor input, ReduceOptions* options, Tensor output, IntPtr* out_future);
        [LibraryImport(Library)] public static partial Status lpt_reduce_scatter(Context context, Comm comm, Tensor input, long* counts, ReduceOptions* options, Tensor output, IntPtr* out_future);
        [LibraryImport(Library)] public static partial Status lpt_all_gather(Context context, Comm comm, Tensor input, long* counts, AllGatherOptions* options, Tensor output, IntPtr* out_future);
        [LibraryImport(Library)] public static partial Status lpt_broadcast(Context context, Comm comm, int root, Tensor tensor, IntPtr* out_future);
        [LibraryImport(Library)] public static partial Status lpt_all_to_all(Context context, Comm comm, Tensor input, long* send_counts, long* receive_counts, Tensor output, IntPtr* out_future);
        [LibraryImport(Library)] public static partial Status lpt_send(Context context, Comm comm, Tensor tensor, int peer, int tag, IntPtr* out_future);
        [LibraryImport(Library)] public static partial Status lpt_receive(Context context, Comm comm, Tensor tensor, int peer, int tag, IntPtr* out_future);
        [LibraryImport(Library)] public static partial Status lpt_all_reduce_many(Context context, Comm comm, IntPtr* tensors, long count, ReduceOptions* options, IntPtr* out_future);
        [LibraryImport(Library)] public static partial Status lpt_comm_compare(Context context, Comm comm, Tensor tensor, int* out_is_same);
        [LibraryImport(Library)] public static partial Status lpt_comm_create_custom(Context context, CommFunctions* functions, void* user, int rank, int rank_count, CommOptions* options, IntPtr* out_comm);
        [LibraryImport(Library)] public static partial Status lpt_gradient_buckets_create(Context context, Comm comm, IntPtr* gradients, long count, GradientBucketsOptions* options, IntPtr* out_buckets);
        [LibraryImport(Library)] public static partial Status lpt_gradient_buckets_begin(Context context, GradientBuckets buckets, int is_last, ReduceOptions* options);
        [LibraryImport(Library)] public static partial Status lpt_gradient_buckets_ready(Context context, GradientBuckets buckets, long index);
        [LibraryImport(Library)] public static partial Status lpt_gradient_buckets_wait(Context context, GradientBuckets buckets);
        [LibraryImport(Library)] public static partial Status lpt_gradient_buckets_read(Context context, GradientBuckets buckets, GradientBucketsInfo* out_info);
        [LibraryImport(Library)] public static partial void lpt_gradient_buckets_destroy(IntPtr buckets);
        [LibraryImport(Library)] public static partial Status lpt_optimizer_add_shards(Context context, Comm comm, Optimizer optimizer, byte** names, OptimizerParameter** parameters, long count, long* out_indices);
        [LibraryImport(Library)] public static partial Status lpt_optimizer_step_shards(Context context, Comm comm, Optimizer optimizer, long* indices, long count, IntPtr* gradients, OptimizerStepOptions* options, OptimizerShardOptions* shards, IntPtr* parameters);
        [LibraryImport(Library)] public static partial Status lpt_partial_shared_columns(Context context, long hidden_columns, double fraction, long* out_shared_columns);
        [LibraryImport(Library)] public static partial Status lpt_partial_plan_create(Context context, PartialPlanOptions* options, IntPtr* out_plan);
        [LibraryImport(Library)] public static partial void lpt_partial_plan_destroy(IntPtr plan);
        [LibraryImport(Library)] public static partial Status lpt_partial_plan_read(Context context, PartialPlan plan, Format format, PartialPlanInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_partial_all_reduce(Context context, Comm comm, PartialPlan plan, PartialPass pass, Tensor input, Tensor output, IntPtr* out_future);
        [LibraryImport(Library)] public static partial Status lpt_partial_gemm(Context context, Comm comm, PartialPlan plan, Tensor a, Tensor b, GemmOptions* options, Tensor c);
        [LibraryImport(Library)] public static partial Status lpt_partial_scale_weight(Context context, PartialPlan plan, Tensor weight);
        [LibraryImport(Library)] public static partial Status lpt_sequence_gather(Context context, Comm comm, PartialPlan plan, Tensor input, long* row_counts, Tensor output, IntPtr* out_future);
        [LibraryImport(Library)] public static partial Status lpt_sequence_scatter(Context context, Comm comm, PartialPlan plan, PartialPass pass, Tensor input, long* row_counts, Tensor output, IntPtr* out_future);
        [LibraryImport(Library)] public static partial Status lpt_sequence_attention_forward(Context context, Comm ring, Comm heads, Tensor query, Tensor key, Tensor value, SequenceAttentionOptions* options, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_sequence_attention_backward(Context context, Comm ring, Comm heads, Tensor query, Tensor key, Tensor value, Tensor output_gradient, SequenceAttentionOptions* options, Tensor query_gradient, Tensor key_gradient, Tensor value_gradient);
        [LibraryImport(Library)] public static partial Status lpt_autopilot_create(Context context, IntPtr* ladder, double* costs, int level_count, double* work, int layer_count, AutopilotOptions* options, IntPtr* out_autopilot);
        [LibraryImport(Library)] public static partial void lpt_autopilot_destroy(IntPtr autopilot);
        [LibraryImport(Library)] public static partial Status lpt_autopilot_observe(Context context, Autopilot autopilot, int layer, AutopilotReason signal, double value);
        [LibraryImport(Library)] public static partial Status lpt_autopilot_observe_linear(Context context, Autopilot autopilot, int layer, Linear linear);
        [LibraryImport(Library)] public static partial Status lpt_autopilot_step(Context context, Autopilot autopilot, long step, double loss, long* out_change_count);
        [LibraryImport(Library)] public static partial Status lpt_autopilot_recipe(Context context, Autopilot autopilot, int layer, IntPtr* out_recipe);
        [LibraryImport(Library)] public static partial Status lpt_autopilot_read(Context context, Autopilot autopilot, AutopilotInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_autopilot_decisions(Context context, Autopilot autopilot, long decision_count, AutopilotDecision* decisions);
        [LibraryImport(Library)] public static partial Status lpt_autopilot_replay(Context context, Autopilot autopilot, AutopilotDecision* decisions, long decision_count);
        [LibraryImport(Library)] public static partial Status lpt_autopilot_state_size(Context context, Autopilot autopilot, UIntPtr* out_size_bytes);
        [LibraryImport(Library)] public static partial Status lpt_autopilot_state_save(Context context, Autopilot autopilot, void* buffer, UIntPtr buffer_bytes);
        [LibraryImport(Library)] public static partial Status lpt_autopilot_state_load(Context context, Autopilot autopilot, void* buffer, UIntPtr buffer_bytes);
        [LibraryImport(Library)] public static partial Status lpt_all_reduce_signs(Context context, Comm comm, Tensor input, Tensor worker_error, Tensor server_error, Tensor output, IntPtr* out_future);
        [LibraryImport(Library)] public static partial Status lpt_all_reduce_signs_share(Context context, Comm comm, long element_count, long* out_element_count);
        [LibraryImport(Library)] public static partial Status lpt_cost_estimate(Context context, CostCollective collective, CostAlgorithm algorithm, int ranks, long elements, Format payload, CostLink* link, CostInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_cost_fit_link(Context context, double* bytes, double* seconds, long count, CostLink* out_link);
        [LibraryImport(Library)] public static partial Status lpt_cost_break_even(Context context, CostCollective collective, CostAlgorithm algorithm, int ranks, Format plain, Format payload, CostCastRates* rates, CostLink* link, long* out_elements);
        [LibraryImport(Library)] public static partial Status lpt_delay_compensate(Context context, IntPtr* own, IntPtr* mean, long count, DelayOptions* options, IntPtr* gradients);
        [LibraryImport(Library)] public static partial Status lpt_drop_compute_fit(Context context, double* seconds, int ranks, long steps, int micro_batches, double serial_seconds, double threshold_seconds, DropComputeInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_drop_compute_estimate(Context context, int ranks, int micro_batches, double mean_seconds, double deviation_seconds, double serial_seconds, double threshold_seconds, DropComputeInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_exaq_softmax_forward(Context context, Tensor input, ExaqOptions* options, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_lossy_link_create(Context context, Comm comm, LossyLinkOptions* options, IntPtr* out_link);
        [LibraryImport(Library)] public static partial Status lpt_lossy_link_read(Context context, LossyLink link, int peer, LossyLinkInfo* out_info);
        [LibraryImport(Library)] public static partial void lpt_lossy_link_destroy(IntPtr link);
        [LibraryImport(Library)] public static partial Status lpt_lossy_reduce_scatter(Context context, LossyLink link, Tensor input, long* counts, LossyMode mode, double* loss, long arrival_count, Tensor output, byte* out_arrivals);
        [LibraryImport(Library)] public static partial Status lpt_lossy_all_gather(Context context, LossyLink link, Tensor input, long* counts, long age_count, Tensor output, int* ages);
        [LibraryImport(Library)] public static partial Status lpt_lossy_estimate(Context context, double loss, int rank_count, LossyInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_noise_measure(Context context, IntPtr* gradients, IntPtr* noisy, long count, NoiseOptions* options, NoiseInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_swiglu_alignment(Context context, Tensor gate_weight, Tensor up_weight, Tensor cosines, SwigluAlignmentInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_monitor_create(Context context, IntPtr* out_monitor);
        [LibraryImport(Library)] public static partial void lpt_monitor_destroy(IntPtr monitor);
        [LibraryImport(Library)] public static partial Status lpt_monitor_record(Context context, Monitor monitor, long step, byte* name, double value);
        [LibraryImport(Library)] public static partial Status lpt_monitor_record_linear(Context context, Monitor monitor, long step, byte* name, Linear linear);
        [LibraryImport(Library)] public static partial Status lpt_monitor_record_statistics(Context context, Monitor monitor, long step, byte* name, Statistics statistics);
        [LibraryImport(Library)] public static partial Status lpt_monitor_count(Context context, Monitor monitor, long* out_count);
        [LibraryImport(Library)] public static partial Status lpt_monitor_save(Context context, Monitor monitor, byte* path);
        [LibraryImport(Library)] public static partial Status lpt_power_estimate(Context context, PowerOptions* options, double* out_flips);
        [LibraryImport(Library)] public static partial Status lpt_power_quantize(Context context, Tensor weight, double additions, Tensor output, PowerInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_topology_create(Context context, TopologyKind kind, long* extents, int extent_count, CostLink* link, CostLink* upper_link, IntPtr* out_topology);
        [LibraryImport(Library)] public static partial Status lpt_topology_create_graph(Context context, int rank_count, int switch_count, TopologyLink* links, long link_count, IntPtr* out_topology);
        [LibraryImport(Library)] public static partial Status lpt_topology_read(Context context, Topology topology, TopologyInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_topology_links(Context context, Topology topology, long link_count, TopologyLink* out_links);
        [LibraryImport(Library)] public static partial void lpt_topology_destroy(IntPtr topology);
        [LibraryImport(Library)] public static partial Status lpt_schedule_create(Context context, Topology topology, ScheduleAlgorithm algorithm, ScheduleOptions* options, IntPtr* out_schedule);
        [LibraryImport(Library)] public static partial Status lpt_schedule_create_sends(Context context, Topology topology, int chunk_count, ScheduleSend* sends, long send_count, IntPtr* out_schedule);
        [LibraryImport(Library)] public static partial Status lpt_schedule_read(Context context, Schedule schedule, ScheduleInfo* out_info);
        [LibraryImport(Library)] public static partial Status lpt_schedule_sends(Context context, Schedule schedule, long send_count, long hop_count, ScheduleSend* out_sends, int* out_hop_counts, int* out_hops);
        [LibraryImport(Library)] public static partial Status lpt_schedule_simulate(Context context, Schedule schedule, double bytes, double reduce_bytes_per_second, long link_count, double* out_seconds, double* out_link_seconds);
        [LibraryImport(Library)] public static partial Status lpt_schedule_all_reduce(Context context, Comm comm, Schedule schedule, Tensor input, ReduceOptions* options, Tensor output, IntPtr* out_future);
        [LibraryImport(Library)] public static partial void lpt_schedule_destroy(IntPtr schedule);
        [LibraryImport(Library)] public static partial Status lpt_sparse_diversity(Context context, int kept, int of, SparseDirection direction, SparseCount count, double* out_bits);
        [LibraryImport(Library)] public static partial Status lpt_sparse_choose_kept(Context context, double zero_share, int of, double confidence, int* out_kept);
        [LibraryImport(Library)] public static partial Status lpt_sparse_absorb(Context context, Tensor source, Tensor mask, int of, SparseDirection direction, Tensor output);
        [LibraryImport(Library)] public static partial Status lpt_sparse_order(Context context, Tensor weight, SparseOptions* options, int* order, SparseInfo* out_info);
#else
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int lpt_version();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern byte* lpt_version_string();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int lpt_abi_level();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern byte* lpt_build_info();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern byte* lpt_status_string(Status status);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int lpt_struct_init(byte* name, void* @object, UIntPtr struct_size);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_device_describe(Context context, Device device, int index, DeviceInfo* out_description);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_create(ContextOptions* options, IntPtr* out_context);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_context_destroy(IntPtr context);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern byte* lpt_context_error(Context context);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern byte* lpt_context_explanation(Context context);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_set_threads(Context context, int thread_count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_set_isa(Context context, Isa isa);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_set_stream(Context context, void* stream);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void* lpt_context_stream(Context context);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_wait_stream(Context context, void* stream);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_notify_stream(Context context, void* stream);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_wait_event(Context context, void* @event);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_record_event(Context context, void* @event);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_trim(Context context, UIntPtr keep_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_synchronize(Context context);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_set_log(Context context, LogLevel level, IntPtr log, void* log_user);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_set_progress(Context context, IntPtr progress, void* progress_user);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_set_profile(Context context, int is_enabled);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_profile_count(Context context, long* out_count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_profile_entry(Context context, long index, ProfileEntry* out_entry);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_context_profile_save(Context context, byte* path);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_format_from_description(Context context, FormatDescription* description, Format* out_format);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_format_from_name(Context context, byte* name, Format* out_format);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_format_write_name(Context context, Format format, byte* buffer, UIntPtr buffer_bytes, UIntPtr* out_needed_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_format_describe(Context context, Format format, FormatDescription* out_description);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_format_write_text(Context context, Format format, byte* buffer, UIntPtr buffer_bytes, UIntPtr* out_needed_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern long lpt_format_count();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Format lpt_format_at(long index);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern byte* lpt_format_name(Format format);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_create(Context context, Format format, int rank, long* extents, IntPtr* out_tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_create_matrix(Context context, Format format, long rows, long columns, IntPtr* out_tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_wrap(Context context, TensorDescription* description, IntPtr* out_tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_wrap_matrix(Context context, Format format, void* data, long rows, long columns, long row_stride, IntPtr* out_tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_wrap_const_matrix(Context context, Format format, void* data, long rows, long columns, long row_stride, IntPtr* out_tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_view(Context context, Tensor tensor, long* begins, long* extents, IntPtr* out_tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_view_part(Context context, Tensor tensor, TensorPart part, IntPtr* out_tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_combine(Context context, Format format, long rows, long columns, IntPtr* parts, int part_count, IntPtr* out_tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_describe(Context context, Tensor tensor, TensorDescription* out_description);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Format lpt_tensor_format(Tensor tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int lpt_tensor_rank(Tensor tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern long lpt_tensor_extent(Tensor tensor, int axis);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern long lpt_tensor_stride(Tensor tensor, int axis);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void* lpt_tensor_data(Tensor tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void* lpt_tensor_const_data(Tensor tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Device lpt_tensor_device(Tensor tensor, int* out_index);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_size(Context context, Tensor tensor, UIntPtr* out_size_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_copy(Context context, Tensor source, Tensor target);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_tensor_destroy(IntPtr tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_from_dlpack(Context context, void* managed, int is_versioned, Flags* out_flags, IntPtr* out_tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_take_dlpack(Context context, void* managed, int is_versioned, Flags* out_flags, IntPtr* out_tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_tensor_to_dlpack(Context context, Tensor tensor, int is_versioned, void** out_managed);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_foreign_layout_size(Context context, Tensor tensor, ForeignLayout layout, UIntPtr* out_size_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_foreign_layout_export(Context context, Tensor tensor, ForeignLayout layout, void* buffer, UIntPtr buffer_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_foreign_layout_import(Context context, void* buffer, UIntPtr buffer_bytes, ForeignLayout layout, Tensor tensor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_quantize(Context context, Tensor source, QuantizeOptions* options, Tensor quantized, Tensor transposed);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_fake_quantize(Context context, Tensor source, Format format, QuantizeOptions* options, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_statistics_create(Context context, IntPtr* out_statistics);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_statistics_destroy(IntPtr statistics);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_statistics_read(Context context, Statistics statistics, StatisticsInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_statistics_reset(Context context, Statistics statistics);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_dequantize(Context context, Tensor source, DequantizeOptions* options, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_hadamard(Context context, Tensor source, HadamardOptions* options, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_hadamard_draw_signs(Context context, Random* random, Tensor signs);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_convert(Context context, Tensor source, ConvertOptions* options, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_scaler_create(Context context, ScalerOptions* options, IntPtr* out_scaler);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_scaler_destroy(IntPtr scaler);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_scaler_update(Context context, IntPtr* scalers, long scaler_count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_scaler_read(Context context, Scaler scaler, ScalerInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_scaler_state_size(Context context, Scaler scaler, UIntPtr* out_size_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_scaler_state_save(Context context, Scaler scaler, void* buffer, UIntPtr buffer_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_scaler_state_load(Context context, Scaler scaler, void* buffer, UIntPtr buffer_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sparse_fit(Context context, Tensor weight, Tensor mask, Tensor inputs, SparseFitOptions* options, Tensor output, Tensor bias_change, SparseFitInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_calibration_create(Context context, long columns, CalibrationOptions* options, IntPtr* out_calibration);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_calibration_destroy(IntPtr calibration);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_calibration_add(Context context, Calibration calibration, Tensor inputs, Tensor reference);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_calibration_all_reduce(Context context, Comm comm, Calibration calibration);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_calibration_read(Context context, Calibration calibration, CalibrationValue value, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_calibration_describe(Context context, Calibration calibration, CalibrationInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_calibration_percentile(Context context, Calibration calibration, double share, double* out_magnitude);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_weights_fit(Context context, Tensor weight, Tensor gram, WeightsFitOptions* options, Tensor output, Tensor input_factors, Tensor bias_change, WeightsFitInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_format_choose(Context context, double* errors, long* bytes, long tensor_count, long candidate_count, long budget_bytes, long* out_choices, FormatChooseInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_gemm(Context context, Tensor a, Tensor b, GemmOptions* options, Tensor c);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_gemm_grouped(Context context, Tensor a, Tensor b, Tensor group_ends, GemmOptions* options, Tensor c);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_gemm_plan_create(Context context, Tensor a, Tensor b, GemmOptions* options, Tensor c, IntPtr* out_plan);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_gemm_plan_run(Context context, GemmPlan plan, Tensor a, Tensor b, GemmOperands* operands, Tensor c);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_gemm_plan_read(Context context, GemmPlan plan, GemmPlanInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_gemm_plan_destroy(IntPtr plan);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sparse_mask_select(Context context, Tensor source, SparseOptions* options, Tensor mask, Tensor masked, SparseInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sparse_mask_check(Context context, Tensor mask, int kept, int of, SparseDirection direction, long* out_count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sparse_mask_compare(Context context, Tensor mask, Tensor other, long* out_count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sparse_mask_apply(Context context, Tensor source, Tensor mask, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sparse_mask_decay(Context context, Tensor weight, Tensor mask, double rate, Tensor gradient);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sparse_compress(Context context, Tensor source, Tensor mask, Tensor compressed, Tensor transposed);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sparse_decompress(Context context, Tensor compressed, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_weights_pack(Context context, Tensor weights, WeightsOptions* options, IntPtr* out_packed);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_weights_order(Context context, Tensor weights, WeightsOptions* options, int* order, long* out_given_count, long* out_count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_weights_unpack(Context context, Tensor packed, Tensor weights);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_weights_state_size(Context context, Tensor packed, UIntPtr* out_size_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_weights_state_save(Context context, Tensor packed, void* buffer, UIntPtr buffer_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_weights_state_load(Context context, void* buffer, UIntPtr buffer_bytes, IntPtr* out_packed);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_rotary_frequencies(Context context, RotaryScaling* options, Tensor frequencies);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_rotary(Context context, Tensor input, Tensor frequencies, RotaryOptions* options, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_attention_forward(Context context, Tensor query, Tensor key, Tensor value, AttentionOptions* options, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_attention_backward(Context context, Tensor query, Tensor key, Tensor value, Tensor output_gradient, AttentionOptions* options, Tensor query_gradient, Tensor key_gradient, Tensor value_gradient);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_kv_cache_create(Context context, KvCacheOptions* options, IntPtr* out_cache);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_kv_cache_destroy(IntPtr cache);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_kv_cache_append(Context context, KvCache cache, Tensor keys, Tensor values, Tensor counts);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_kv_cache_truncate(Context context, KvCache cache, Tensor lengths);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_kv_cache_select(Context context, KvCache cache, Tensor batches);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_kv_cache_view(Context context, KvCache cache, IntPtr* out_keys, IntPtr* out_values, IntPtr* out_lengths);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_kv_cache_size(Context context, KvCache cache, UIntPtr* out_size_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_recipe_create(Context context, byte* name, IntPtr* out_recipe);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern long lpt_recipe_count();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern byte* lpt_recipe_name(long index);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_recipe_destroy(IntPtr recipe);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_recipe_set_cast(Context context, Recipe recipe, LinearCast cast, Format format, QuantizeOptions* options);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_recipe_set_scaler(Context context, Recipe recipe, LinearOperand operand, ScalerOptions* options);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_recipe_cast_format(Context context, Recipe recipe, LinearCast cast, Format* out_format);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_recipe_set_gemm(Context context, Recipe recipe, LinearGemm product, LinearGemmOptions* options);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_recipe_set_high_precision(Context context, Recipe recipe, LinearGemm product, Format format);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_recipe_set_sparsity(Context context, Recipe recipe, LinearOperand operand, int interval, SparseOptions* options);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_create(Context context, Recipe recipe, LinearShape* shape, IntPtr* out_linear);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_linear_destroy(IntPtr linear);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_set_recipe(Context context, Linear linear, Recipe recipe);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_prepare(Context context, Linear linear, Tensor weight, LinearOptions* options);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_saved_size(Context context, Linear linear, long rows, UIntPtr* out_size_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_cast_size(Context context, Linear linear, UIntPtr* out_size_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_forward(Context context, Linear linear, Tensor input, LinearOptions* options, Tensor saved, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_backward(Context context, Linear linear, Tensor saved, Tensor output_gradient, LinearOptions* options, Tensor input_gradient, Tensor weight_gradient, Tensor bias_gradient);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_share_amax(Context context, Comm comm, IntPtr* linears, long linear_count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_update_scalers(Context context, IntPtr* linears, long linear_count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_scaler_read(Context context, Linear linear, LinearOperand operand, ScalerInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_mask_read(Context context, Linear linear, Tensor mask);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_watch(Context context, Linear linear, int is_watched);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_cast_read(Context context, Linear linear, LinearCast cast, StatisticsInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_state_size(Context context, Linear linear, UIntPtr* out_size_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_state_save(Context context, Linear linear, void* buffer, UIntPtr buffer_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_linear_state_load(Context context, Linear linear, void* buffer, UIntPtr buffer_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_loss_scaler_create(Context context, LossScalerOptions* options, IntPtr* out_loss_scaler);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_loss_scaler_destroy(IntPtr loss_scaler);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_loss_scaler_update(Context context, LossScaler loss_scaler);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_loss_scaler_read(Context context, LossScaler loss_scaler, LossScalerInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_loss_scaler_state_size(Context context, LossScaler loss_scaler, UIntPtr* out_size_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_loss_scaler_state_save(Context context, LossScaler loss_scaler, void* buffer, UIntPtr buffer_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_loss_scaler_state_load(Context context, LossScaler loss_scaler, void* buffer, UIntPtr buffer_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_embedding_forward(Context context, Tensor weight, Tensor indices, EmbeddingOptions* options, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_embedding_backward(Context context, Tensor indices, Tensor output_gradient, EmbeddingOptions* options, Tensor weight_gradient);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_swiglu_forward(Context context, Tensor gate, Tensor up, SwigluOptions* options, Tensor output, Tensor smoothing);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_swiglu_backward(Context context, Tensor gate, Tensor up, Tensor output_gradient, SwigluOptions* options, Tensor gate_gradient, Tensor up_gradient);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_rmsnorm_forward(Context context, Tensor input, Tensor weight, RmsnormOptions* options, Tensor output, Tensor inverse_rms);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_rmsnorm_forward_sum(Context context, Tensor residual, Tensor branch, Tensor weight, RmsnormOptions* options, Tensor sum, Tensor output, Tensor inverse_rms);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_rmsnorm_backward(Context context, Tensor input, Tensor weight, Tensor inverse_rms, Tensor output_gradient, RmsnormOptions* options, Tensor input_gradient, Tensor weight_gradient);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_layernorm_forward(Context context, Tensor input, Tensor weight, Tensor bias, LayernormOptions* options, Tensor output, Tensor mean, Tensor inverse_deviation);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_layernorm_backward(Context context, Tensor input, Tensor weight, Tensor mean, Tensor inverse_deviation, Tensor output_gradient, LayernormOptions* options, Tensor input_gradient, Tensor weight_gradient, Tensor bias_gradient);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_softmax_forward(Context context, Tensor input, SoftmaxOptions* options, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_softmax_backward(Context context, Tensor output, Tensor output_gradient, SoftmaxOptions* options, Tensor input_gradient);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_cross_entropy_forward(Context context, Tensor logits, Tensor targets, CrossEntropyOptions* options, Tensor loss, Tensor log_sums);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_cross_entropy_backward(Context context, Tensor logits, Tensor targets, Tensor log_sums, Tensor loss_gradient, CrossEntropyOptions* options, Tensor logits_gradient);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_optimizer_create(Context context, OptimizerOptions* options, IntPtr* out_optimizer);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_optimizer_destroy(IntPtr optimizer);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_optimizer_set_directory(Context context, Optimizer optimizer, byte* directory, UIntPtr resident_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_optimizer_add(Context context, Optimizer optimizer, byte* name, OptimizerParameter* parameter, long* out_index);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_optimizer_find(Context context, Optimizer optimizer, byte* name, long* out_index);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_optimizer_step(Context context, Optimizer optimizer, long* indices, long count, IntPtr* gradients, OptimizerStepOptions* options, IntPtr* parameters);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_optimizer_read(Context context, Optimizer optimizer, OptimizerInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_gradients_measure(Context context, IntPtr* gradients, long count, GradientsInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_optimizer_size(Context context, Optimizer optimizer, UIntPtr* out_size_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_optimizer_state_size(Context context, Optimizer optimizer, long index, UIntPtr* out_size_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_optimizer_state_save(Context context, Optimizer optimizer, long index, void* buffer, UIntPtr buffer_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_optimizer_state_load(Context context, Optimizer optimizer, long index, void* buffer, UIntPtr buffer_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_optimizer_state_load_many(Context context, Optimizer optimizer, long index, void** buffers, UIntPtr* buffer_bytes, long count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_comm_group_create(Context context, int rank_count, IntPtr* out_group);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_comm_group_abort(CommGroup group);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_comm_group_destroy(IntPtr group);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_comm_create_local(Context context, CommGroup group, int rank, CommOptions* options, IntPtr* out_comm);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_comm_create_mpi(Context context, CommOptions* options, IntPtr* out_comm);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_comm_adopt_mpi(Context context, int fortran_handle, CommOptions* options, IntPtr* out_comm);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_comm_create_nccl(Context context, CommOptions* options, IntPtr* out_comm);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_comm_adopt_nccl(Context context, void* nccl_comm, CommOptions* options, IntPtr* out_comm);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_comm_split(Context context, Comm comm, int color, int key, IntPtr* out_comm);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_comm_destroy(IntPtr comm);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_comm_read(Context context, Comm comm, CommInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_future_wait(Context context, Future future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_future_is_done(Context context, Future future, int* out_is_done);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_future_destroy(IntPtr future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_barrier(Context context, Comm comm);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_all_reduce(Context context, Comm comm, Tensor input, ReduceOptions* options, Tensor output, IntPtr* out_future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_reduce_scatter(Context context, Comm comm, Tensor input, long* counts, ReduceOptions* options, Tensor output, IntPtr* out_future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_all_gather(Context context, Comm comm, Tensor input, long* counts, AllGatherOptions* options, Tensor output, IntPtr* out_future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_broadcast(Context context, Comm comm, int root, Tensor tensor, IntPtr* out_future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_all_to_all(Context context, Comm comm, Tensor input, long* send_counts, long* receive_counts, Tensor output, IntPtr* out_future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_send(Context context, Comm comm, Tensor tensor, int peer, int tag, IntPtr* out_future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_receive(Context context, Comm comm, Tensor tensor, int peer, int tag, IntPtr* out_future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_all_reduce_many(Context context, Comm comm, IntPtr* tensors, long count, ReduceOptions* options, IntPtr* out_future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_comm_compare(Context context, Comm comm, Tensor tensor, int* out_is_same);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_comm_create_custom(Context context, CommFunctions* functions, void* user, int rank, int rank_count, CommOptions* options, IntPtr* out_comm);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_gradient_buckets_create(Context context, Comm comm, IntPtr* gradients, long count, GradientBucketsOptions* options, IntPtr* out_buckets);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_gradient_buckets_begin(Context context, GradientBuckets buckets, int is_last, ReduceOptions* options);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_gradient_buckets_ready(Context context, GradientBuckets buckets, long index);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_gradient_buckets_wait(Context context, GradientBuckets buckets);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_gradient_buckets_read(Context context, GradientBuckets buckets, GradientBucketsInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_gradient_buckets_destroy(IntPtr buckets);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_optimizer_add_shards(Context context, Comm comm, Optimizer optimizer, byte** names, OptimizerParameter** parameters, long count, long* out_indices);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_optimizer_step_shards(Context context, Comm comm, Optimizer optimizer, long* indices, long count, IntPtr* gradients, OptimizerStepOptions* options, OptimizerShardOptions* shards, IntPtr* parameters);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_partial_shared_columns(Context context, long hidden_columns, double fraction, long* out_shared_columns);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_partial_plan_create(Context context, PartialPlanOptions* options, IntPtr* out_plan);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_partial_plan_destroy(IntPtr plan);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_partial_plan_read(Context context, PartialPlan plan, Format format, PartialPlanInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_partial_all_reduce(Context context, Comm comm, PartialPlan plan, PartialPass pass, Tensor input, Tensor output, IntPtr* out_future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_partial_gemm(Context context, Comm comm, PartialPlan plan, Tensor a, Tensor b, GemmOptions* options, Tensor c);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_partial_scale_weight(Context context, PartialPlan plan, Tensor weight);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sequence_gather(Context context, Comm comm, PartialPlan plan, Tensor input, long* row_counts, Tensor output, IntPtr* out_future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sequence_scatter(Context context, Comm comm, PartialPlan plan, PartialPass pass, Tensor input, long* row_counts, Tensor output, IntPtr* out_future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sequence_attention_forward(Context context, Comm ring, Comm heads, Tensor query, Tensor key, Tensor value, SequenceAttentionOptions* options, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sequence_attention_backward(Context context, Comm ring, Comm heads, Tensor query, Tensor key, Tensor value, Tensor output_gradient, SequenceAttentionOptions* options, Tensor query_gradient, Tensor key_gradient, Tensor value_gradient);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_autopilot_create(Context context, IntPtr* ladder, double* costs, int level_count, double* work, int layer_count, AutopilotOptions* options, IntPtr* out_autopilot);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_autopilot_destroy(IntPtr autopilot);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_autopilot_observe(Context context, Autopilot autopilot, int layer, AutopilotReason signal, double value);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_autopilot_observe_linear(Context context, Autopilot autopilot, int layer, Linear linear);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_autopilot_step(Context context, Autopilot autopilot, long step, double loss, long* out_change_count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_autopilot_recipe(Context context, Autopilot autopilot, int layer, IntPtr* out_recipe);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_autopilot_read(Context context, Autopilot autopilot, AutopilotInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_autopilot_decisions(Context context, Autopilot autopilot, long decision_count, AutopilotDecision* decisions);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_autopilot_replay(Context context, Autopilot autopilot, AutopilotDecision* decisions, long decision_count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_autopilot_state_size(Context context, Autopilot autopilot, UIntPtr* out_size_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_autopilot_state_save(Context context, Autopilot autopilot, void* buffer, UIntPtr buffer_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_autopilot_state_load(Context context, Autopilot autopilot, void* buffer, UIntPtr buffer_bytes);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_all_reduce_signs(Context context, Comm comm, Tensor input, Tensor worker_error, Tensor server_error, Tensor output, IntPtr* out_future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_all_reduce_signs_share(Context context, Comm comm, long element_count, long* out_element_count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_cost_estimate(Context context, CostCollective collective, CostAlgorithm algorithm, int ranks, long elements, Format payload, CostLink* link, CostInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_cost_fit_link(Context context, double* bytes, double* seconds, long count, CostLink* out_link);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_cost_break_even(Context context, CostCollective collective, CostAlgorithm algorithm, int ranks, Format plain, Format payload, CostCastRates* rates, CostLink* link, long* out_elements);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_delay_compensate(Context context, IntPtr* own, IntPtr* mean, long count, DelayOptions* options, IntPtr* gradients);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_drop_compute_fit(Context context, double* seconds, int ranks, long steps, int micro_batches, double serial_seconds, double threshold_seconds, DropComputeInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_drop_compute_estimate(Context context, int ranks, int micro_batches, double mean_seconds, double deviation_seconds, double serial_seconds, double threshold_seconds, DropComputeInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_exaq_softmax_forward(Context context, Tensor input, ExaqOptions* options, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_lossy_link_create(Context context, Comm comm, LossyLinkOptions* options, IntPtr* out_link);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_lossy_link_read(Context context, LossyLink link, int peer, LossyLinkInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_lossy_link_destroy(IntPtr link);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_lossy_reduce_scatter(Context context, LossyLink link, Tensor input, long* counts, LossyMode mode, double* loss, long arrival_count, Tensor output, byte* out_arrivals);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_lossy_all_gather(Context context, LossyLink link, Tensor input, long* counts, long age_count, Tensor output, int* ages);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_lossy_estimate(Context context, double loss, int rank_count, LossyInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_noise_measure(Context context, IntPtr* gradients, IntPtr* noisy, long count, NoiseOptions* options, NoiseInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_swiglu_alignment(Context context, Tensor gate_weight, Tensor up_weight, Tensor cosines, SwigluAlignmentInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_monitor_create(Context context, IntPtr* out_monitor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_monitor_destroy(IntPtr monitor);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_monitor_record(Context context, Monitor monitor, long step, byte* name, double value);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_monitor_record_linear(Context context, Monitor monitor, long step, byte* name, Linear linear);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_monitor_record_statistics(Context context, Monitor monitor, long step, byte* name, Statistics statistics);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_monitor_count(Context context, Monitor monitor, long* out_count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_monitor_save(Context context, Monitor monitor, byte* path);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_power_estimate(Context context, PowerOptions* options, double* out_flips);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_power_quantize(Context context, Tensor weight, double additions, Tensor output, PowerInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_topology_create(Context context, TopologyKind kind, long* extents, int extent_count, CostLink* link, CostLink* upper_link, IntPtr* out_topology);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_topology_create_graph(Context context, int rank_count, int switch_count, TopologyLink* links, long link_count, IntPtr* out_topology);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_topology_read(Context context, Topology topology, TopologyInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_topology_links(Context context, Topology topology, long link_count, TopologyLink* out_links);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_topology_destroy(IntPtr topology);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_schedule_create(Context context, Topology topology, ScheduleAlgorithm algorithm, ScheduleOptions* options, IntPtr* out_schedule);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_schedule_create_sends(Context context, Topology topology, int chunk_count, ScheduleSend* sends, long send_count, IntPtr* out_schedule);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_schedule_read(Context context, Schedule schedule, ScheduleInfo* out_info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_schedule_sends(Context context, Schedule schedule, long send_count, long hop_count, ScheduleSend* out_sends, int* out_hop_counts, int* out_hops);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_schedule_simulate(Context context, Schedule schedule, double bytes, double reduce_bytes_per_second, long link_count, double* out_seconds, double* out_link_seconds);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_schedule_all_reduce(Context context, Comm comm, Schedule schedule, Tensor input, ReduceOptions* options, Tensor output, IntPtr* out_future);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern void lpt_schedule_destroy(IntPtr schedule);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sparse_diversity(Context context, int kept, int of, SparseDirection direction, SparseCount count, double* out_bits);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sparse_choose_kept(Context context, double zero_share, int of, double confidence, int* out_kept);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sparse_absorb(Context context, Tensor source, Tensor mask, int of, SparseDirection direction, Tensor output);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Status lpt_sparse_order(Context context, Tensor weight, SparseOptions* options, int* order, SparseInfo* out_info);
#endif
    }
}
