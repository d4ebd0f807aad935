//! Handles, callbacks and structs of lpt.h; the header documents the contracts. Written by `python3 tools/make_bindings.py write`.
#![cfg_attr(rustfmt, rustfmt_skip)]
use crate::functions::lpt_struct_init;
use crate::kinds::*;
use std::os::raw::{c_char, c_void};

/// Chooses the precision of each GEMM during training; see lpt_autopilot_create().
#[repr(C)]
pub struct lpt_autopilot {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Statistics of the inputs of a layer for calibration data; see lpt_calibration_create().
#[repr(C)]
pub struct lpt_calibration {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// One rank of a communicator; see lpt_comm_create_local().
#[repr(C)]
pub struct lpt_comm {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// A group of ranks that are threads of one process; see lpt_comm_group_create().
#[repr(C)]
pub struct lpt_comm_group {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Runs operations: holds threads, memory, error text and the choice of kernels; see lpt_context_create().
#[repr(C)]
pub struct lpt_context {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// A collective in progress; see lpt_future_wait().
#[repr(C)]
pub struct lpt_future {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// A checked GEMM of one shape with its selected kernel; see lpt_gemm_plan_create().
#[repr(C)]
pub struct lpt_gemm_plan {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Gradients that ranks reduce while backward continues; see lpt_gradient_buckets_create().
#[repr(C)]
pub struct lpt_gradient_buckets {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Keys and values of attention, stored for inference; see lpt_kv_cache_create().
#[repr(C)]
pub struct lpt_kv_cache {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// A linear layer: its recipe, its scalers, and the casts of its weight; see lpt_linear_create().
#[repr(C)]
pub struct lpt_linear {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Factor of the loss of a training in f16 or FP8; see lpt_loss_scaler_create().
#[repr(C)]
pub struct lpt_loss_scaler {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Packets between ranks that may be lost; see lpt_lossy_link_create().
#[repr(C)]
pub struct lpt_lossy_link {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// A record of values by step and name; see lpt_monitor_create().
#[repr(C)]
pub struct lpt_monitor {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// The optimizer state of many parameters; see lpt_optimizer_create().
#[repr(C)]
pub struct lpt_optimizer {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Tensor-parallel ranks that share only some columns of their activations; see lpt_partial_all_reduce().
#[repr(C)]
pub struct lpt_partial_plan {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// How a linear layer casts the operands of its three GEMMs, and runs these; see lpt_recipe_create().
#[repr(C)]
pub struct lpt_recipe {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Records the largest magnitudes of one cast site; see lpt_scaler_create().
#[repr(C)]
pub struct lpt_scaler {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// The messages of an all-reduce, step by step; see lpt_schedule_create().
#[repr(C)]
pub struct lpt_schedule {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Accumulates statistics of casts; see lpt_statistics_create().
#[repr(C)]
pub struct lpt_statistics {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Elements in memory with a format, extents, scales and other parts; see lpt_tensor_create().
#[repr(C)]
pub struct lpt_tensor {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Ranks, switches and the links between them; see lpt_topology_create().
#[repr(C)]
pub struct lpt_topology {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}

pub type lpt_log_function = Option<unsafe extern "C" fn(*mut c_void, lpt_log_level, *const c_char)>;
pub type lpt_allocate_function = Option<unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void>;
pub type lpt_release_function = Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize)>;
pub type lpt_device_allocate_function = Option<unsafe extern "C" fn(*mut c_void, usize, usize, *mut c_void) -> *mut c_void>;
pub type lpt_device_release_function = Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *mut c_void)>;
pub type lpt_task_function = Option<unsafe extern "C" fn(*mut c_void, i64)>;
pub type lpt_parallel_for_function = Option<unsafe extern "C" fn(*mut c_void, i64, lpt_task_function, *mut c_void)>;
pub type lpt_progress_function = Option<unsafe extern "C" fn(*mut c_void, i64, i64) -> i32>;

/// Source of random bits: the key and counter of Philox4x32.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_random {
    pub seed: u64,
    pub offset: i64,
    pub row_stride: i64,
    pub stream: u32,
    pub step: u32,
}

/// Properties of one device, and whether a context can work on it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_device_info {
    pub struct_size: usize,
    pub device: lpt_device,
    pub index: i32,
    pub count: i32,
    pub is_usable: i32,
    pub capability_major: i32,
    pub capability_minor: i32,
    pub processor_count: i32,
    pub reserved: i32,
    pub memory_bytes: i64,
    pub name: [c_char; 128],
    pub reason: [c_char; 512],
}

/// Options of lpt_context_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_context_options {
    pub struct_size: usize,
    pub thread_count: i32,
    pub isa: lpt_isa,
    pub log_level: lpt_log_level,
    pub parallel_for_width: i32,
    pub log: lpt_log_function,
    pub log_user: *mut c_void,
    pub allocate: lpt_allocate_function,
    pub release: lpt_release_function,
    pub allocator_user: *mut c_void,
    pub parallel_for: lpt_parallel_for_function,
    pub parallel_for_user: *mut c_void,
    pub error_text: *mut c_char,
    pub error_text_bytes: usize,
    pub device: lpt_device,
    pub device_index: i32,
    pub threads_of: *const lpt_context,
    pub stream: *mut c_void,
    pub device_allocate: lpt_device_allocate_function,
    pub device_release: lpt_device_release_function,
    pub device_allocator_user: *mut c_void,
}

/// Work of one kernel while a profile was recorded.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_profile_entry {
    pub struct_size: usize,
    pub operation: [c_char; 32],
    pub kernel: [c_char; 64],
    pub calls: i64,
    pub seconds: f64,
    pub bytes: f64,
    pub flops: f64,
}

/// The parts of a format.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_format_description {
    pub struct_size: usize,
    pub element: lpt_format,
    pub block_scale: lpt_format,
    pub tensor_scale: lpt_format,
    pub block_rows: lpt_block_extent,
    pub block_columns: lpt_block_extent,
    pub element_bits: i32,
    pub exponent_bits: i32,
    pub mantissa_bits: i32,
    pub exponent_bias: i32,
    pub special: lpt_element_special,
    pub reserved: i32,
    pub largest: f64,
    pub zero_point: lpt_format,
    pub sparse_kept: i32,
    pub sparse_of: i32,
}

/// Format, memory and shape of a tensor.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_tensor_description {
    pub struct_size: usize,
    pub format: lpt_format,
    pub data: *mut c_void,
    pub rank: i32,
    pub reserved: i32,
    pub extents: *const i64,
    pub strides: *const i64,
    pub device: lpt_device,
    pub device_index: i32,
    pub flags: lpt_flags,
}

/// Options of lpt_quantize() and lpt_fake_quantize().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_quantize_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub rounding: lpt_rounding,
    pub overflow: lpt_overflow,
    pub scale_rule: lpt_scale_rule,
    pub stochastic_bits: i32,
    pub philox_rounds: i32,
    pub hadamard_size: i32,
    pub random: lpt_random,
    pub scaler: *mut lpt_scaler,
    pub smoothing: *const lpt_tensor,
    pub hadamard_signs: *const lpt_tensor,
    pub random_words: *const lpt_tensor,
    pub scale_list: *const lpt_tensor,
    pub statistics: *mut lpt_statistics,
}

/// Sums over the casts since the statistics were created or reset.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_statistics_info {
    pub struct_size: usize,
    pub element_count: i64,
    pub nan_count: i64,
    pub clipped_count: i64,
    pub underflow_count: i64,
    pub amax: f64,
    pub squared_sum: f64,
    pub squared_error: f64,
}

/// Options of lpt_dequantize().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_dequantize_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
}

/// Options of lpt_hadamard().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_hadamard_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub size: i32,
    pub is_inverse: i32,
    pub signs: *const lpt_tensor,
}

/// Options of lpt_convert().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_convert_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub statistics: *mut lpt_statistics,
}

/// Options of lpt_scaler_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_scaler_options {
    pub struct_size: usize,
    pub kind: lpt_scaler_kind,
    pub history_length: i32,
    pub margin: i32,
    pub history_rule: lpt_scaler_history_rule,
    pub zero_rule: lpt_scaler_zero_rule,
    pub history_decay: f32,
}

/// State of a scaler, as lpt_scaler_read() returns it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_scaler_info {
    pub struct_size: usize,
    pub amax: f32,
    pub running_amax: f32,
    pub update_count: i64,
}

/// Options of lpt_sparse_fit().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_sparse_fit_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub iterations: i32,
    pub reserved: i32,
    pub damping: f64,
}

/// Result of a fit: squared errors of the outputs, relative to the sum of squares of the outputs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_sparse_fit_info {
    pub struct_size: usize,
    pub masked_error: f64,
    pub fitted_error: f64,
    pub iteration_count: i64,
}

/// Options of lpt_calibration_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_calibration_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub has_gram: i32,
    pub has_cross_gram: i32,
}

/// Statistics over all columns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_calibration_info {
    pub struct_size: usize,
    pub row_count: i64,
    pub amax: f64,
    pub mean: f64,
    pub mean_square: f64,
}

/// Options of lpt_weights_fit().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_weights_fit_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub method: lpt_weights_fit_method,
    pub order: lpt_weights_fit_order,
    pub scale_rule: lpt_scale_rule,
    pub reserved: i32,
    pub damping: f64,
    pub cross_gram: *const lpt_tensor,
    pub inputs: *const lpt_tensor,
    pub reference: *const lpt_tensor,
    pub input_format: lpt_format,
}

/// Result of lpt_weights_fit(): squared errors of the outputs, relative to the sum of squares of the outputs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_weights_fit_info {
    pub struct_size: usize,
    pub nearest_error: f64,
    pub fitted_error: f64,
    pub damping: f64,
    pub ratio: f64,
    pub sample_error: f64,
    pub has_maxima: i32,
    pub reserved: i32,
}

/// Result of lpt_format_choose().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_format_choose_info {
    pub struct_size: usize,
    pub error: f64,
    pub bound: f64,
    pub bytes: i64,
}

/// Options of lpt_gemm(), lpt_gemm_grouped() and lpt_gemm_plan_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_gemm_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub alpha: f64,
    pub beta: f64,
    pub is_a_transposed: i32,
    pub is_b_transposed: i32,
    pub bias: *const lpt_tensor,
    pub activation: lpt_activation,
    pub reserved: i32,
    pub residual: *const lpt_tensor,
    pub quantize: *const lpt_quantize_options,
    pub outlier_threshold: f64,
    pub emulation: *const lpt_gemm_emulation,
}

/// Properties of a plan, as lpt_gemm_plan_read() returns them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_gemm_plan_info {
    pub struct_size: usize,
    pub m: i64,
    pub n: i64,
    pub k: i64,
    pub workspace_bytes: usize,
    pub part_count: i64,
    pub kernel: [c_char; 64],
}

/// Optional operands of lpt_gemm_plan_run(), as in lpt_gemm_options.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_gemm_operands {
    pub struct_size: usize,
    pub bias: *const lpt_tensor,
    pub residual: *const lpt_tensor,
    pub quantize: *const lpt_quantize_options,
}

/// Options of lpt_sparse_mask_select(); lpt_sparse_order() and lpt_recipe_set_sparsity() use them too.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_sparse_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub kept: i32,
    pub of: i32,
    pub rule: lpt_sparse_rule,
    pub direction: lpt_sparse_direction,
    pub solver: lpt_sparse_solver,
    pub iterations: i32,
    pub sharpness: f64,
    pub random: lpt_random,
    pub philox_rounds: i32,
    pub reserved: i32,
    pub importance: *const lpt_tensor,
}

/// Statistics of a selection; energies and the variance cover finite elements only.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_sparse_info {
    pub struct_size: usize,
    pub element_count: i64,
    pub kept_count: i64,
    pub special_groups: i64,
    pub energy: f64,
    pub kept_energy: f64,
    pub variance: f64,
}

/// Options of lpt_weights_pack() and lpt_weights_order().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_weights_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub output_order: *const i32,
    pub input_order: *const i32,
    pub storage: lpt_weights_storage,
    pub tile_rows: i32,
    pub tile_columns: i32,
    pub reserved: i32,
}

/// Options of lpt_rotary_frequencies().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_rotary_scaling {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub kind: lpt_rotary_scaling_kind,
    pub reserved: i32,
    pub base: f64,
    pub factor: f64,
    pub original_positions: i64,
    pub beta_fast: f64,
    pub beta_slow: f64,
    pub low_frequency_factor: f64,
    pub high_frequency_factor: f64,
}

/// Options of lpt_rotary().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_rotary_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub positions: *const lpt_tensor,
    pub first_position: i64,
    pub layout: lpt_rotary_layout,
    pub is_inverse: i32,
    pub scale: f64,
}

/// Options of lpt_attention_forward() and lpt_attention_backward().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_attention_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub scale: f64,
    pub is_causal: i32,
    pub reserved: i32,
    pub window: i64,
    pub mask: *const lpt_tensor,
    pub log_sum_exp: *mut lpt_tensor,
    pub output: *const lpt_tensor,
    pub key_lengths: *const lpt_tensor,
    pub exaq: *const lpt_exaq_options,
}

/// Options of lpt_kv_cache_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_kv_cache_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub batches: i64,
    pub key_heads: i64,
    pub capacity: i64,
    pub key_width: i64,
    pub value_width: i64,
    pub key_format: lpt_format,
    pub value_format: lpt_format,
    pub key_scale_rule: lpt_scale_rule,
    pub value_scale_rule: lpt_scale_rule,
    pub key_scale: f64,
    pub value_scale: f64,
}

/// Options of lpt_recipe_set_gemm(): how a GEMM uses its two casts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_linear_gemm_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub hadamard_size: lpt_hadamard_size,
    pub hadamard_signs: lpt_hadamard_signs,
    pub hadamard_axis: lpt_hadamard_axis,
    pub source: lpt_linear_source,
    pub draws: i32,
    pub parts: i32,
    pub output_scale: lpt_linear_output_scale,
    pub reserved: i32,
}

/// Shape of a linear layer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_linear_shape {
    pub struct_size: usize,
    pub input_columns: i64,
    pub output_columns: i64,
}

/// Options of lpt_linear_prepare(), lpt_linear_forward() and lpt_linear_backward().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_linear_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub random: lpt_random,
    pub first_row: i64,
    pub bias: *const lpt_tensor,
    pub input_smoothing: *const lpt_tensor,
    pub is_accumulated: i32,
    pub parallel: lpt_linear_parallel,
    pub comm: *mut lpt_comm,
    pub plan: *const lpt_partial_plan,
}

/// Options of lpt_loss_scaler_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_loss_scaler_options {
    pub struct_size: usize,
    pub initial_scale: f64,
    pub growth_factor: f64,
    pub backoff_factor: f64,
    pub growth_interval: i64,
    pub min_scale: f64,
    pub max_scale: f64,
}

/// State of a loss scaler, as lpt_loss_scaler_read() returns it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_loss_scaler_info {
    pub struct_size: usize,
    pub scale: f64,
    pub finite_count: i64,
    pub skipped_count: i64,
    pub is_skipped: i32,
    pub reserved: i32,
}

/// Options of lpt_embedding_forward() and lpt_embedding_backward().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_embedding_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub padding_index: i64,
    pub is_accumulated: i32,
    pub reserved: i32,
}

/// Options of lpt_swiglu_forward() and lpt_swiglu_backward().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_swiglu_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub smoothing: lpt_swiglu_smoothing,
    pub reserved: i32,
}

/// Options of lpt_rmsnorm_forward(), lpt_rmsnorm_forward_sum() and lpt_rmsnorm_backward().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_rmsnorm_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub epsilon: f64,
    pub is_accumulated: i32,
    pub reserved: i32,
    pub residual_gradient: *const lpt_tensor,
}

/// Options of lpt_layernorm_forward() and lpt_layernorm_backward().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_layernorm_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub epsilon: f64,
    pub is_accumulated: i32,
    pub reserved: i32,
    pub residual_gradient: *const lpt_tensor,
}

/// Options of lpt_softmax_forward() and lpt_softmax_backward().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_softmax_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub scale: f64,
    pub is_causal: i32,
    pub reserved: i32,
}

/// Options of lpt_cross_entropy_forward() and lpt_cross_entropy_backward(); the same on all ranks.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_cross_entropy_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub comm: *mut lpt_comm,
    pub ignored_target: i64,
    pub label_smoothing: f64,
    pub reduction: lpt_loss_reduction,
    pub reserved: i32,
}

/// Options of lpt_optimizer_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_optimizer_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub beta1: f64,
    pub beta2: f64,
    pub epsilon: f64,
    pub second_underflow: lpt_optimizer_underflow,
    pub method: lpt_optimizer_method,
    pub is_nesterov: i32,
    pub reserved: i32,
}

/// Description of one parameter and of the formats of its state.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_optimizer_parameter {
    pub struct_size: usize,
    pub elements: i64,
    pub first_moment: lpt_format,
    pub second_moment: lpt_format,
    pub weight_decay: f64,
    pub is_first_expanded: i32,
    pub is_second_expanded: i32,
    pub compensation: lpt_format,
    pub first_scaling: lpt_scaler_kind,
    pub second_scaling: lpt_scaler_kind,
    pub whole_elements: i64,
    pub begin: i64,
    pub random_stream: i64,
}

/// Options of lpt_optimizer_step().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_optimizer_step_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub learning_rate: f64,
    pub gradient_scale: f64,
    pub random: lpt_random,
    pub first_moment_rounding: lpt_rounding,
    pub second_moment_rounding: lpt_rounding,
    pub parameter_rounding: lpt_rounding,
    pub is_nonfinite_skipped: i32,
    pub largest_norm: f64,
    pub gradient_norm: f64,
    pub loss_scaler: *mut lpt_loss_scaler,
}

/// Result of the last step of an optimizer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_optimizer_info {
    pub struct_size: usize,
    pub gradient_norm: f64,
    pub clip_factor: f64,
    pub skipped_count: i64,
    pub is_skipped: i32,
    pub reserved: i32,
}

/// Sums that ranks add up before a step.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_gradients_info {
    pub struct_size: usize,
    pub sum_of_squares: f64,
    pub nonfinite_count: i64,
}

/// Options of the functions that create a comm.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_comm_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub timeout_seconds: f64,
    pub bootstrap: *mut lpt_comm,
    pub emulation: *const lpt_comm_emulation,
}

/// State and traffic of a communicator.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_comm_info {
    pub struct_size: usize,
    pub rank: i32,
    pub rank_count: i32,
    pub engine: [c_char; 32],
    pub collectives: i64,
    pub bytes_sent: i64,
    pub bytes_received: i64,
    pub seconds: f64,
}

/// Options of a reduction; the same on all ranks, except for `outer_comm`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_reduce_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub reduction: lpt_reduction,
    pub reserved: i32,
    pub factor: f64,
    pub wire: lpt_format,
    pub algorithm: lpt_reduce_algorithm,
    pub rounding: lpt_rounding,
    pub random: lpt_random,
    pub codec: *const lpt_comm_codec,
    pub outer_comm: *mut lpt_comm,
    pub outer: *const lpt_reduce_options,
}

/// Options of lpt_all_gather().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_all_gather_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub codec: *const lpt_comm_codec,
    pub cast: *const lpt_quantize_options,
}

/// Functions of a transport that sends bytes between ranks, for lpt_comm_create_custom().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_comm_functions {
    pub struct_size: usize,
    pub name: [c_char; 32],
    pub send: Option<unsafe extern "C" fn(*mut c_void, i32, i32, *const c_void, i64, *mut *mut c_void, *mut c_char, usize) -> i32>,
    pub receive: Option<unsafe extern "C" fn(*mut c_void, i32, i32, *mut c_void, i64, *mut *mut c_void, *mut c_char, usize) -> i32>,
    pub test: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *mut i32, *mut c_char, usize) -> i32>,
    pub cancel: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    pub exchange: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *const *const c_void, *const i64, *const *mut c_void, *const i64, f64, *mut c_char, usize) -> i32>,
    pub all_reduce: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *const c_void, *mut c_void, i64, lpt_format, lpt_reduction, f64, *mut c_char, usize) -> i32>,
    pub abort: Option<unsafe extern "C" fn(*mut c_void)>,
    pub close: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// Options of lpt_gradient_buckets_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_gradient_buckets_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub bucket_bytes: usize,
    pub order: lpt_gradient_buckets_order,
    pub reserved: i32,
    pub names: *const *const c_char,
}

/// State of buckets.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_gradient_buckets_info {
    pub struct_size: usize,
    pub bucket_count: i64,
    pub ready_count: i64,
    pub launched_count: i64,
    pub wait_seconds: f64,
    pub is_recorded: i32,
    pub reserved: i32,
}

/// Options of lpt_optimizer_step_shards().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_optimizer_shard_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub reduce: *const lpt_reduce_options,
}

/// Options of lpt_partial_plan_create(); the same on all ranks and in all layers, for the full training.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_partial_plan_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub hidden_columns: i64,
    pub shared_columns: i64,
    pub rank_count: i32,
    pub private_scale: lpt_partial_scale,
    pub custom_scale: f64,
    pub forward_wire: lpt_format,
    pub backward_wire: lpt_format,
    pub chunk_rows: i64,
    pub link_latency_seconds: f64,
    pub link_bytes_per_second: f64,
}

/// Properties of a plan.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_partial_plan_info {
    pub struct_size: usize,
    pub hidden_columns: i64,
    pub shared_columns: i64,
    pub rank_count: i32,
    pub reserved: i32,
    pub private_scale: f64,
    pub forward_row_bytes: f64,
    pub backward_row_bytes: f64,
}

/// Options of lpt_sequence_attention_forward() and lpt_sequence_attention_backward().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_sequence_attention_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub scale: f64,
    pub is_causal: i32,
    pub layout: lpt_sequence_layout,
    pub wire: lpt_format,
    pub log_sum_exp: *mut lpt_tensor,
    pub output: *const lpt_tensor,
}

/// Options of lpt_autopilot_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_autopilot_options {
    pub struct_size: usize,
    pub step_count: i64,
    pub interval: i64,
    pub budget: f64,
    pub loss_limit: f64,
    pub clipped_limit: f64,
    pub amax_growth_limit: f64,
    pub alignment_limit: f64,
    pub noise_ratio_limit: f64,
    pub calm_decisions: i64,
    pub raises_last_steps: i32,
    pub reserved: i32,
}

/// One change of the level of a GEMM.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_autopilot_decision {
    pub step: i64,
    pub layer: i32,
    pub gemm: lpt_linear_gemm,
    pub old_level: i32,
    pub new_level: i32,
    pub reason: lpt_autopilot_reason,
    pub reserved: i32,
    pub value: f64,
    pub limit: f64,
}

/// State of an autopilot.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_autopilot_info {
    pub struct_size: usize,
    pub steps_done: i64,
    pub decision_count: i64,
    pub mean_cost: f64,
    pub next_cost: f64,
}

/// An encoding of messages that the caller supplies; its members are in lpt/research/codec.h.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_comm_codec {
    pub struct_size: usize,
    pub name: [c_char; 16],
    pub bytes_for: Option<unsafe extern "C" fn(*mut c_void, i64) -> i64>,
    pub encode: Option<unsafe extern "C" fn(*mut c_void, *const f32, i64, *mut c_void) -> i32>,
    pub decode: Option<unsafe extern "C" fn(*mut c_void, *const c_void, i64, *mut f32) -> i32>,
    pub decode_add: Option<unsafe extern "C" fn(*mut c_void, *const c_void, i64, *mut f32) -> i32>,
    pub user: *mut c_void,
}

/// Links of equal ranks.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_cost_link {
    pub struct_size: usize,
    pub latency_seconds: f64,
    pub bytes_per_second: f64,
    pub reduce_bytes_per_second: f64,
}

/// Cost of a collective.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_cost_info {
    pub struct_size: usize,
    pub algorithm: lpt_cost_algorithm,
    pub step_count: i32,
    pub payload_bytes: f64,
    pub rank_bytes: f64,
    pub total_bytes: f64,
    pub seconds: f64,
}

/// Rates at which one rank casts elements before and after transfer, in bytes of the wide format.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_cost_cast_rates {
    pub struct_size: usize,
    pub overhead_seconds: f64,
    pub encode_bytes_per_second: f64,
    pub decode_bytes_per_second: f64,
}

/// Options of lpt_delay_compensate().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_delay_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub strength: f64,
    pub norm: lpt_delay_norm,
    pub reserved: i32,
}

/// A threshold, and the speed that it gives.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_drop_compute_info {
    pub struct_size: usize,
    pub threshold_seconds: f64,
    pub full_seconds: f64,
    pub step_seconds: f64,
    pub kept_fraction: f64,
    pub speedup: f64,
}

/// An emulated arithmetic of a GEMM; its members are in lpt/research/emulation.h.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_gemm_emulation {
    pub struct_size: usize,
    pub arithmetic: lpt_gemm_arithmetic,
    pub bits: i32,
}

/// An emulated link of local ranks; its members are in lpt/research/emulation.h.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_comm_emulation {
    pub struct_size: usize,
    pub link_latency_seconds: f64,
    pub link_bytes_per_second: f64,
    pub damaged_message: i64,
}

/// Options of a softmax with few levels; its members are in lpt/research/exaq.h.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_exaq_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub scale: f64,
    pub clip: f64,
    pub bits: i32,
    pub is_causal: i32,
}

/// Options of lpt_lossy_link_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_lossy_link_options {
    pub struct_size: usize,
    pub address: [c_char; 64],
    pub port: i32,
    pub payload_bytes: i32,
    pub timeout_seconds: f64,
    pub quiet_seconds: f64,
    pub injected_loss: f64,
    pub injected_duplication: f64,
    pub injected_reordering: f64,
    pub injected_corruption: f64,
    pub seed: u64,
}

/// State and packets of a link; counts are those of all calls.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_lossy_link_info {
    pub struct_size: usize,
    pub rank_count: i32,
    pub port: i32,
    pub payload_bytes: i64,
    pub receive_buffer_bytes: i64,
    pub call_count: i64,
    pub sent_count: i64,
    pub unsent_count: i64,
    pub received_count: i64,
    pub lost_count: i64,
    pub duplicate_count: i64,
    pub late_count: i64,
    pub corrupted_count: i64,
    pub stranger_count: i64,
    pub malformed_count: i64,
}

/// Means of training with independent losses of probability p on each of N ranks.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_lossy_info {
    pub struct_size: usize,
    pub drift: f64,
    pub one_step_drift: f64,
    pub mean_age: f64,
    pub owner_weight: f64,
    pub other_weight: f64,
    pub horvitz_thompson_variance: f64,
}

/// Options of lpt_noise_measure().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_noise_options {
    pub struct_size: usize,
    pub flags: lpt_flags,
    pub kind: lpt_noise_kind,
    pub reserved: i32,
}

/// Norms of gradient and noise.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_noise_info {
    pub struct_size: usize,
    pub gradient_norm: f64,
    pub noise_norm: f64,
    pub ratio: f64,
    pub nonfinite_count: i64,
    pub is_noisy: i32,
    pub reserved: i32,
}

/// Alignment of the two weights of a SwiGLU.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_swiglu_alignment_info {
    pub struct_size: usize,
    pub mean: f64,
    pub mean_magnitude: f64,
    pub largest: f64,
    pub largest_channel: i64,
}

/// A multiply-add, for lpt_power_estimate().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_power_options {
    pub struct_size: usize,
    pub arithmetic: lpt_power_arithmetic,
    pub weight_bits: i32,
    pub input_bits: i32,
    pub accumulator_bits: i32,
    pub additions: f64,
}

/// Result of lpt_power_quantize().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_power_info {
    pub struct_size: usize,
    pub additions: f64,
    pub largest_code: i64,
    pub clipped_count: i64,
}

/// A directed link between two nodes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_topology_link {
    pub source: i32,
    pub target: i32,
    pub latency_seconds: f64,
    pub bytes_per_second: f64,
}

/// Size of a topology.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_topology_info {
    pub struct_size: usize,
    pub kind: lpt_topology_kind,
    pub rank_count: i32,
    pub switch_count: i32,
    pub link_count: i32,
}

/// A message of a schedule.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_schedule_send {
    pub step: i32,
    pub source: i32,
    pub target: i32,
    pub first_chunk: i32,
    pub chunk_count: i32,
    pub operation: lpt_schedule_operation,
}

/// Options of lpt_schedule_create().
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_schedule_options {
    pub struct_size: usize,
    pub group_ranks: i32,
    pub tree_chunks: i32,
}

/// Size of a schedule.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_schedule_info {
    pub struct_size: usize,
    pub algorithm: lpt_schedule_algorithm,
    pub rank_count: i32,
    pub chunk_count: i32,
    pub step_count: i32,
    pub add_step_count: i32,
    pub copy_step_count: i32,
    pub least_step_count: i32,
    pub reserved: i32,
    pub send_count: i64,
    pub hop_count: i64,
}

macro_rules! defaults_of_the_library {
    ($($name:ident)*) => {$(
        impl Default for $name {
            fn default() -> Self {
                let mut value = std::mem::MaybeUninit::<Self>::zeroed();
                // All members accept any bytes, so that zeros are valid.
                unsafe {
                    let name = concat!(stringify!($name), "\0").as_ptr().cast();
                    lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
                    value.assume_init()
                }
            }
        }
    )*};
}

defaults_of_the_library! {
    lpt_device_info
    lpt_context_options
    lpt_profile_entry
    lpt_format_description
    lpt_tensor_description
    lpt_quantize_options
    lpt_statistics_info
    lpt_dequantize_options
    lpt_hadamard_options
    lpt_convert_options
    lpt_scaler_options
    lpt_scaler_info
    lpt_sparse_fit_options
    lpt_sparse_fit_info
    lpt_calibration_options
    lpt_calibration_info
    lpt_weights_fit_options
    lpt_weights_fit_info
    lpt_format_choose_info
    lpt_gemm_options
    lpt_gemm_plan_info
    lpt_gemm_operands
    lpt_sparse_options
    lpt_sparse_info
    lpt_weights_options
    lpt_rotary_scaling
    lpt_rotary_options
    lpt_attention_options
    lpt_kv_cache_options
    lpt_linear_gemm_options
    lpt_linear_shape
    lpt_linear_options
    lpt_loss_scaler_options
    lpt_loss_scaler_info
    lpt_embedding_options
    lpt_swiglu_options
    lpt_rmsnorm_options
    lpt_layernorm_options
    lpt_softmax_options
    lpt_cross_entropy_options
    lpt_optimizer_options
    lpt_optimizer_parameter
    lpt_optimizer_step_options
    lpt_optimizer_info
    lpt_gradients_info
    lpt_comm_options
    lpt_comm_info
    lpt_reduce_options
    lpt_all_gather_options
    lpt_comm_functions
    lpt_gradient_buckets_options
    lpt_gradient_buckets_info
    lpt_optimizer_shard_options
    lpt_partial_plan_options
    lpt_partial_plan_info
    lpt_sequence_attention_options
    lpt_autopilot_options
    lpt_autopilot_info
    lpt_comm_codec
    lpt_cost_link
    lpt_cost_info
    lpt_cost_cast_rates
    lpt_delay_options
    lpt_drop_compute_info
    lpt_gemm_emulation
    lpt_comm_emulation
    lpt_exaq_options
    lpt_lossy_link_options
    lpt_lossy_link_info
    lpt_lossy_info
    lpt_noise_options
    lpt_noise_info
    lpt_swiglu_alignment_info
    lpt_power_options
    lpt_power_info
    lpt_topology_info
    lpt_schedule_options
    lpt_schedule_info
}
