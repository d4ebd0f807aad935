//! All of lpt.h, as it is: its comments are the contract. Written by `python3 tools/make_bindings.py write`.
#![allow(non_camel_case_types)]
#![cfg_attr(rustfmt, rustfmt_skip)]
use std::os::raw::{c_char, c_void};

/// What a function came to; one of lpt_status_values.
pub type lpt_status = i32;
pub const LPT_OK: lpt_status = 0;
pub const LPT_INVALID_ARGUMENT: lpt_status = 1;
pub const LPT_UNSUPPORTED: lpt_status = 2;
pub const LPT_OUT_OF_MEMORY: lpt_status = 3;
pub const LPT_INVALID_STATE: lpt_status = 4;
pub const LPT_INTERNAL: lpt_status = 5;
pub const LPT_CANCELLED: lpt_status = 6;
pub const LPT_ABORTED: lpt_status = 7;
pub const LPT_TIMEOUT: lpt_status = 8;
pub const LPT_MISMATCH: lpt_status = 9;
pub const LPT_WORK_FAILED: lpt_status = 10;
pub const LPT_BUSY: lpt_status = 11;

/// A kind of device; one of lpt_device_values.
pub type lpt_device = i32;
pub const LPT_DEVICE_CPU: lpt_device = 0;
pub const LPT_DEVICE_CUDA: lpt_device = 1;

/// The highest instruction set that a context may use; one of lpt_isa_values.
pub type lpt_isa = i32;
pub const LPT_ISA_AUTO: lpt_isa = 0;
pub const LPT_ISA_REFERENCE: lpt_isa = 1;
pub const LPT_ISA_X86_AVX2: lpt_isa = 2;
pub const LPT_ISA_X86_AVX512: lpt_isa = 3;
pub const LPT_ISA_X86_AVX512_BF16: lpt_isa = 4;
pub const LPT_ISA_X86_AMX: lpt_isa = 5;

/// How much a context logs; one of lpt_log_level_values.
pub type lpt_log_level = i32;
pub const LPT_LOG_LEVEL_NONE: lpt_log_level = 0;
pub const LPT_LOG_LEVEL_WARNING: lpt_log_level = 1;
pub const LPT_LOG_LEVEL_INFO: lpt_log_level = 2;
pub const LPT_LOG_LEVEL_DISPATCH: lpt_log_level = 3;

/// What the bytes of a tensor mean. Small numbers are the presets of lpt_format_values; a larger one spells its own description in its bits, so that a format means the same in every context, process and file. Compare with ==.
pub type lpt_format = i64;
pub const LPT_FORMAT_NONE: lpt_format = 0;
pub const LPT_FORMAT_F64: lpt_format = 1;
pub const LPT_FORMAT_F32: lpt_format = 2;
pub const LPT_FORMAT_F16: lpt_format = 3;
pub const LPT_FORMAT_BF16: lpt_format = 4;
pub const LPT_FORMAT_E4M3FN: lpt_format = 5;
pub const LPT_FORMAT_E4M3: lpt_format = 6;
pub const LPT_FORMAT_E5M2: lpt_format = 7;
pub const LPT_FORMAT_E2M1FN: lpt_format = 8;
pub const LPT_FORMAT_E8M0FNU: lpt_format = 9;
pub const LPT_FORMAT_INT8: lpt_format = 10;
pub const LPT_FORMAT_UINT8: lpt_format = 11;
pub const LPT_FORMAT_E4M3FNUZ: lpt_format = 12;
pub const LPT_FORMAT_E5M2FNUZ: lpt_format = 13;
pub const LPT_FORMAT_E4M3B11FNUZ: lpt_format = 14;
pub const LPT_FORMAT_E3M4: lpt_format = 15;
pub const LPT_FORMAT_E3M2FN: lpt_format = 16;
pub const LPT_FORMAT_E2M3FN: lpt_format = 17;
pub const LPT_FORMAT_E3M0: lpt_format = 18;
pub const LPT_FORMAT_INT4: lpt_format = 19;
pub const LPT_FORMAT_UINT4: lpt_format = 20;
pub const LPT_FORMAT_INT2: lpt_format = 21;
pub const LPT_FORMAT_TERNARY: lpt_format = 22;
pub const LPT_FORMAT_INT16: lpt_format = 23;
pub const LPT_FORMAT_Q1_6: lpt_format = 24;
pub const LPT_FORMAT_NF4: lpt_format = 25;
pub const LPT_FORMAT_BNB_FP4: lpt_format = 26;
pub const LPT_FORMAT_E4M3FN_TENSOR: lpt_format = 64;
pub const LPT_FORMAT_E4M3FN_ROW: lpt_format = 65;
pub const LPT_FORMAT_E4M3FN_1X128: lpt_format = 66;
pub const LPT_FORMAT_E4M3FN_128X128: lpt_format = 67;
pub const LPT_FORMAT_E4M3_TENSOR: lpt_format = 68;
pub const LPT_FORMAT_E4M3_ROW: lpt_format = 69;
pub const LPT_FORMAT_E5M2_TENSOR: lpt_format = 70;
pub const LPT_FORMAT_E5M2_ROW: lpt_format = 71;
pub const LPT_FORMAT_E5M2_1X128: lpt_format = 72;
pub const LPT_FORMAT_E5M2_128X128: lpt_format = 73;
pub const LPT_FORMAT_MXFP8_E4M3: lpt_format = 74;
pub const LPT_FORMAT_MXFP8_E5M2: lpt_format = 75;
pub const LPT_FORMAT_MXFP4: lpt_format = 76;
pub const LPT_FORMAT_NVFP4: lpt_format = 77;
pub const LPT_FORMAT_INT8_TENSOR: lpt_format = 78;
pub const LPT_FORMAT_INT8_ROW: lpt_format = 79;
pub const LPT_FORMAT_F16_TENSOR: lpt_format = 80;
pub const LPT_FORMAT_MXFP6_E3M2: lpt_format = 81;
pub const LPT_FORMAT_MXFP6_E2M3: lpt_format = 82;
pub const LPT_FORMAT_MXINT8: lpt_format = 83;
pub const LPT_FORMAT_NVFP4_16X16: lpt_format = 84;
pub const LPT_FORMAT_INT4_1X32: lpt_format = 85;
pub const LPT_FORMAT_INT4_1X64: lpt_format = 86;
pub const LPT_FORMAT_INT4_1X128: lpt_format = 87;
pub const LPT_FORMAT_UINT4_1X32: lpt_format = 88;
pub const LPT_FORMAT_UINT4_1X64: lpt_format = 89;
pub const LPT_FORMAT_UINT4_1X128: lpt_format = 90;
pub const LPT_FORMAT_INT8_1X32: lpt_format = 91;
pub const LPT_FORMAT_INT16_TENSOR: lpt_format = 92;
pub const LPT_FORMAT_E3M0_TENSOR: lpt_format = 93;
pub const LPT_FORMAT_TERNARY_TENSOR: lpt_format = 94;
pub const LPT_FORMAT_E4M3FNUZ_TENSOR: lpt_format = 95;
pub const LPT_FORMAT_E5M2FNUZ_TENSOR: lpt_format = 96;
pub const LPT_FORMAT_NF4_1X64: lpt_format = 97;
pub const LPT_FORMAT_BNB_FP4_1X64: lpt_format = 98;
pub const LPT_FORMAT_DYNAMIC_1X256: lpt_format = 99;

/// The special values of an element; one of lpt_element_special_values.
pub type lpt_element_special = i32;
pub const LPT_ELEMENT_SPECIAL_NONE: lpt_element_special = 0;
pub const LPT_ELEMENT_SPECIAL_IEEE: lpt_element_special = 1;
pub const LPT_ELEMENT_SPECIAL_NAN_ONES: lpt_element_special = 2;
pub const LPT_ELEMENT_SPECIAL_INTEGER: lpt_element_special = 3;
pub const LPT_ELEMENT_SPECIAL_FNUZ: lpt_element_special = 4;
pub const LPT_ELEMENT_SPECIAL_LIST: lpt_element_special = 5;

/// A part of a tensor; one of lpt_tensor_part_values.
pub type lpt_tensor_part = i32;
pub const LPT_TENSOR_PART_PAYLOAD: lpt_tensor_part = 0;
pub const LPT_TENSOR_PART_BLOCK_SCALES: lpt_tensor_part = 1;
pub const LPT_TENSOR_PART_TENSOR_SCALE: lpt_tensor_part = 2;
pub const LPT_TENSOR_PART_ZERO_POINTS: lpt_tensor_part = 3;
pub const LPT_TENSOR_PART_SPARSE_INDICES: lpt_tensor_part = 4;

/// Whose layout of bytes is meant; one of lpt_foreign_layout_values.
pub type lpt_foreign_layout = i32;
pub const LPT_FOREIGN_LAYOUT_GGML: lpt_foreign_layout = 1;
pub const LPT_FOREIGN_LAYOUT_BITSANDBYTES: lpt_foreign_layout = 2;
pub const LPT_FOREIGN_LAYOUT_CUBLAS_SCALES: lpt_foreign_layout = 3;
pub const LPT_FOREIGN_LAYOUT_GGML_Q4_1: lpt_foreign_layout = 4;
pub const LPT_FOREIGN_LAYOUT_MMA_SPARSE: lpt_foreign_layout = 5;
pub const LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE: lpt_foreign_layout = 6;

/// How a value between two codes is rounded; one of lpt_rounding_values.
pub type lpt_rounding = i32;
pub const LPT_ROUNDING_NEAREST_EVEN: lpt_rounding = 0;
pub const LPT_ROUNDING_STOCHASTIC: lpt_rounding = 1;
pub const LPT_ROUNDING_TOWARD_ZERO: lpt_rounding = 2;
pub const LPT_ROUNDING_NEAREST_AWAY: lpt_rounding = 3;
pub const LPT_ROUNDING_STOCHASTIC_UNDERFLOW: lpt_rounding = 4;

/// What becomes of a value beyond the largest code; one of lpt_overflow_values.
pub type lpt_overflow = i32;
pub const LPT_OVERFLOW_SATURATE: lpt_overflow = 0;
pub const LPT_OVERFLOW_INFINITE: lpt_overflow = 1;

/// How scales follow from the largest magnitude (amax); one of lpt_scale_rule_values.
pub type lpt_scale_rule = i32;
pub const LPT_SCALE_RULE_DEFAULT: lpt_scale_rule = 0;
pub const LPT_SCALE_RULE_AMAX: lpt_scale_rule = 1;
pub const LPT_SCALE_RULE_POWER_OF_TWO: lpt_scale_rule = 2;
pub const LPT_SCALE_RULE_ROUND_UP: lpt_scale_rule = 3;
pub const LPT_SCALE_RULE_FLOOR: lpt_scale_rule = 4;
pub const LPT_SCALE_RULE_NEAREST: lpt_scale_rule = 5;
pub const LPT_SCALE_RULE_HEADROOM: lpt_scale_rule = 6;
pub const LPT_SCALE_RULE_POWER_OF_TWO_DOWN: lpt_scale_rule = 7;
pub const LPT_SCALE_RULE_POWER_OF_TWO_NEAREST: lpt_scale_rule = 8;
pub const LPT_SCALE_RULE_CEIL: lpt_scale_rule = 9;
pub const LPT_SCALE_RULE_EVEN: lpt_scale_rule = 10;
pub const LPT_SCALE_RULE_THREE_QUARTERS: lpt_scale_rule = 11;
pub const LPT_SCALE_RULE_QUEST_FLOOR: lpt_scale_rule = 12;
pub const LPT_SCALE_RULE_QUEST_NEAREST: lpt_scale_rule = 13;
pub const LPT_SCALE_RULE_QUEST_CEIL: lpt_scale_rule = 14;
pub const LPT_SCALE_RULE_FOUR_OVER_SIX: lpt_scale_rule = 15;
pub const LPT_SCALE_RULE_MSE: lpt_scale_rule = 16;
pub const LPT_SCALE_RULE_LIST: lpt_scale_rule = 17;
pub const LPT_SCALE_RULE_FIXED: lpt_scale_rule = 18;
pub const LPT_SCALE_RULE_MEAN: lpt_scale_rule = 19;
pub const LPT_SCALE_RULE_SAWB: lpt_scale_rule = 20;

/// Which amax a scaler gives; one of lpt_scaler_kind_values.
pub type lpt_scaler_kind = i32;
pub const LPT_SCALER_KIND_CURRENT: lpt_scaler_kind = 0;
pub const LPT_SCALER_KIND_DELAYED: lpt_scaler_kind = 1;

/// Which amax of the history counts; one of lpt_scaler_history_rule_values.
pub type lpt_scaler_history_rule = i32;
pub const LPT_SCALER_HISTORY_RULE_MAX: lpt_scaler_history_rule = 0;
pub const LPT_SCALER_HISTORY_RULE_LATEST: lpt_scaler_history_rule = 1;

/// What stands for an amax of zero, as at the first step; one of lpt_scaler_zero_rule_values.
pub type lpt_scaler_zero_rule = i32;
pub const LPT_SCALER_ZERO_RULE_USE_CURRENT: lpt_scaler_zero_rule = 0;
pub const LPT_SCALER_ZERO_RULE_ONE: lpt_scaler_zero_rule = 1;
pub const LPT_SCALER_ZERO_RULE_USE_LAST: lpt_scaler_zero_rule = 2;

/// One of lpt_activation_values.
pub type lpt_activation = i32;
pub const LPT_ACTIVATION_NONE: lpt_activation = 0;
pub const LPT_ACTIVATION_GELU: lpt_activation = 1;
pub const LPT_ACTIVATION_GELU_TANH: lpt_activation = 2;
pub const LPT_ACTIVATION_SILU: lpt_activation = 3;
pub const LPT_ACTIVATION_SWIGLU: lpt_activation = 4;

/// One of lpt_gemm_arithmetic_values.
pub type lpt_gemm_arithmetic = i32;
pub const LPT_GEMM_ARITHMETIC_NATIVE: lpt_gemm_arithmetic = 0;
pub const LPT_GEMM_ARITHMETIC_L_MUL: lpt_gemm_arithmetic = 1;
pub const LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE: lpt_gemm_arithmetic = 2;
pub const LPT_GEMM_ARITHMETIC_SHIFT: lpt_gemm_arithmetic = 3;
pub const LPT_GEMM_ARITHMETIC_TENSOR_CORE: lpt_gemm_arithmetic = 4;

/// Which numbers of a group stay, and what becomes of them; one of lpt_sparse_rule_values.
pub type lpt_sparse_rule = i32;
pub const LPT_SPARSE_RULE_MAGNITUDE: lpt_sparse_rule = 0;
pub const LPT_SPARSE_RULE_MVUE: lpt_sparse_rule = 1;
pub const LPT_SPARSE_RULE_MVUE_TWO_DRAWS: lpt_sparse_rule = 2;
pub const LPT_SPARSE_RULE_SOFT_THRESHOLD: lpt_sparse_rule = 3;

/// Along which axis M neighbours make a group; one of lpt_sparse_direction_values.
pub type lpt_sparse_direction = i32;
pub const LPT_SPARSE_DIRECTION_ROW: lpt_sparse_direction = 0;
pub const LPT_SPARSE_DIRECTION_COLUMN: lpt_sparse_direction = 1;
pub const LPT_SPARSE_DIRECTION_BOTH: lpt_sparse_direction = 2;

/// How a transposable mask is found; one of lpt_sparse_solver_values.
pub type lpt_sparse_solver = i32;
pub const LPT_SPARSE_SOLVER_AUTO: lpt_sparse_solver = 0;
pub const LPT_SPARSE_SOLVER_EXACT: lpt_sparse_solver = 1;
pub const LPT_SPARSE_SOLVER_GREEDY: lpt_sparse_solver = 2;
pub const LPT_SPARSE_SOLVER_SEARCH: lpt_sparse_solver = 3;
pub const LPT_SPARSE_SOLVER_PRUNE: lpt_sparse_solver = 4;
pub const LPT_SPARSE_SOLVER_ENTROPY: lpt_sparse_solver = 5;

/// What of packed weights is stored; one of lpt_weights_storage_values.
pub type lpt_weights_storage = i32;
pub const LPT_WEIGHTS_STORAGE_ALL: lpt_weights_storage = 0;
pub const LPT_WEIGHTS_STORAGE_BITMASK: lpt_weights_storage = 1;
pub const LPT_WEIGHTS_STORAGE_BLOCK_SPARSE: lpt_weights_storage = 2;

/// One operand of one multiplication; one of lpt_linear_cast_values.
pub type lpt_linear_cast = i32;
pub const LPT_LINEAR_CAST_FORWARD_INPUT: lpt_linear_cast = 0;
pub const LPT_LINEAR_CAST_FORWARD_WEIGHT: lpt_linear_cast = 1;
pub const LPT_LINEAR_CAST_DGRAD_GRADIENT: lpt_linear_cast = 2;
pub const LPT_LINEAR_CAST_DGRAD_WEIGHT: lpt_linear_cast = 3;
pub const LPT_LINEAR_CAST_WGRAD_GRADIENT: lpt_linear_cast = 4;
pub const LPT_LINEAR_CAST_WGRAD_INPUT: lpt_linear_cast = 5;

/// One tensor of a linear layer; one of lpt_linear_operand_values.
pub type lpt_linear_operand = i32;
pub const LPT_LINEAR_OPERAND_INPUT: lpt_linear_operand = 0;
pub const LPT_LINEAR_OPERAND_WEIGHT: lpt_linear_operand = 1;
pub const LPT_LINEAR_OPERAND_GRADIENT: lpt_linear_operand = 2;

/// One product of a linear layer; one of lpt_linear_gemm_values.
pub type lpt_linear_gemm = i32;
pub const LPT_LINEAR_GEMM_FORWARD: lpt_linear_gemm = 0;
pub const LPT_LINEAR_GEMM_DGRAD: lpt_linear_gemm = 1;
pub const LPT_LINEAR_GEMM_WGRAD: lpt_linear_gemm = 2;

/// The signs of a rotation; one of lpt_hadamard_signs_values.
pub type lpt_hadamard_signs = i32;
pub const LPT_HADAMARD_SIGNS_NONE: lpt_hadamard_signs = 0;
pub const LPT_HADAMARD_SIGNS_FIXED: lpt_hadamard_signs = 1;
pub const LPT_HADAMARD_SIGNS_RANDOM: lpt_hadamard_signs = 2;

/// Which axis a product's operands are rotated along; one of lpt_hadamard_axis_values.
pub type lpt_hadamard_axis = i32;
pub const LPT_HADAMARD_AXIS_INNER: lpt_hadamard_axis = 0;
pub const LPT_HADAMARD_AXIS_ROWS: lpt_hadamard_axis = 1;

/// What a backward product's x or w is cast from; one of lpt_linear_source_values.
pub type lpt_linear_source = i32;
pub const LPT_LINEAR_SOURCE_PLAIN: lpt_linear_source = 0;
pub const LPT_LINEAR_SOURCE_FORWARD: lpt_linear_source = 1;
pub const LPT_LINEAR_SOURCE_FORWARD_CLIPPED: lpt_linear_source = 2;

/// What a product is multiplied by; one of lpt_linear_output_scale_values.
pub type lpt_linear_output_scale = i32;
pub const LPT_LINEAR_OUTPUT_SCALE_NONE: lpt_linear_output_scale = 0;
pub const LPT_LINEAR_OUTPUT_SCALE_UNIT: lpt_linear_output_scale = 1;

/// What part of a layer a rank of a comm has; one of lpt_linear_parallel_values.
pub type lpt_linear_parallel = i32;
pub const LPT_LINEAR_PARALLEL_NONE: lpt_linear_parallel = 0;
pub const LPT_LINEAR_PARALLEL_COLUMNS: lpt_linear_parallel = 1;
pub const LPT_LINEAR_PARALLEL_ROWS: lpt_linear_parallel = 2;

/// How a SwiGLU is smoothed for the cast that follows; one of lpt_swiglu_smoothing_values.
pub type lpt_swiglu_smoothing = i32;
pub const LPT_SWIGLU_SMOOTHING_NONE: lpt_swiglu_smoothing = 0;
pub const LPT_SWIGLU_SMOOTHING_CHANNEL: lpt_swiglu_smoothing = 1;

/// What becomes of the losses of all rows; one of lpt_loss_reduction_values.
pub type lpt_loss_reduction = i32;
pub const LPT_LOSS_REDUCTION_MEAN: lpt_loss_reduction = 0;
pub const LPT_LOSS_REDUCTION_SUM: lpt_loss_reduction = 1;
pub const LPT_LOSS_REDUCTION_NONE: lpt_loss_reduction = 2;

/// How a parameter is stepped; one of lpt_optimizer_method_values. See lpt_optimizer_step().
pub type lpt_optimizer_method = i32;
pub const LPT_OPTIMIZER_METHOD_ADAMW: lpt_optimizer_method = 0;
pub const LPT_OPTIMIZER_METHOD_ADAM: lpt_optimizer_method = 1;
pub const LPT_OPTIMIZER_METHOD_SGD: lpt_optimizer_method = 2;
pub const LPT_OPTIMIZER_METHOD_LION: lpt_optimizer_method = 3;

/// What becomes of a second moment below the smallest code; one of lpt_optimizer_underflow_values.
pub type lpt_optimizer_underflow = i32;
pub const LPT_OPTIMIZER_UNDERFLOW_CLAMP: lpt_optimizer_underflow = 0;
pub const LPT_OPTIMIZER_UNDERFLOW_ALLOWED: lpt_optimizer_underflow = 1;
pub const LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC: lpt_optimizer_underflow = 2;

/// What the numbers of all ranks become; one of lpt_reduction_values.
pub type lpt_reduction = i32;
pub const LPT_REDUCTION_SUM: lpt_reduction = 0;
pub const LPT_REDUCTION_AVERAGE: lpt_reduction = 1;
pub const LPT_REDUCTION_MAXIMUM: lpt_reduction = 2;
pub const LPT_REDUCTION_MINIMUM: lpt_reduction = 3;

/// How numbers are sent that are cast for it; one of lpt_reduce_algorithm_values.
pub type lpt_reduce_algorithm = i32;
pub const LPT_REDUCE_ALGORITHM_AUTO: lpt_reduce_algorithm = 0;
pub const LPT_REDUCE_ALGORITHM_ONE_SHOT: lpt_reduce_algorithm = 1;
pub const LPT_REDUCE_ALGORITHM_TWO_SHOT: lpt_reduce_algorithm = 2;
pub const LPT_REDUCE_ALGORITHM_NATIVE: lpt_reduce_algorithm = 3;

/// In which order gradients fill buckets; one of lpt_gradient_buckets_order_values.
pub type lpt_gradient_buckets_order = i32;
pub const LPT_GRADIENT_BUCKETS_ORDER_RECORDED: lpt_gradient_buckets_order = 0;
pub const LPT_GRADIENT_BUCKETS_ORDER_REVERSED: lpt_gradient_buckets_order = 1;

/// Which way activations go; one of lpt_partial_pass_values.
pub type lpt_partial_pass = i32;
pub const LPT_PARTIAL_PASS_FORWARD: lpt_partial_pass = 0;
pub const LPT_PARTIAL_PASS_BACKWARD: lpt_partial_pass = 1;

/// What private columns are multiplied by; one of lpt_partial_scale_values.
pub type lpt_partial_scale = i32;
pub const LPT_PARTIAL_SCALE_ROOT: lpt_partial_scale = 0;
pub const LPT_PARTIAL_SCALE_ONE: lpt_partial_scale = 1;
pub const LPT_PARTIAL_SCALE_CUSTOM: lpt_partial_scale = 2;

/// A collective whose cost is reckoned; one of lpt_cost_collective_values.
pub type lpt_cost_collective = i32;
pub const LPT_COST_COLLECTIVE_ALL_REDUCE: lpt_cost_collective = 0;
pub const LPT_COST_COLLECTIVE_REDUCE_SCATTER: lpt_cost_collective = 1;
pub const LPT_COST_COLLECTIVE_ALL_GATHER: lpt_cost_collective = 2;
pub const LPT_COST_COLLECTIVE_BROADCAST: lpt_cost_collective = 3;
pub const LPT_COST_COLLECTIVE_ALL_TO_ALL: lpt_cost_collective = 4;

/// How the bytes of a collective go; one of lpt_cost_algorithm_values.
pub type lpt_cost_algorithm = i32;
pub const LPT_COST_ALGORITHM_BEST: lpt_cost_algorithm = 0;
pub const LPT_COST_ALGORITHM_RING: lpt_cost_algorithm = 1;
pub const LPT_COST_ALGORITHM_TREE: lpt_cost_algorithm = 2;
pub const LPT_COST_ALGORITHM_TWO_SHOT: lpt_cost_algorithm = 3;
pub const LPT_COST_ALGORITHM_ONE_SHOT: lpt_cost_algorithm = 4;
pub const LPT_COST_ALGORITHM_STAR: lpt_cost_algorithm = 5;

/// How the noise of gradients is found; one of lpt_noise_kind_values.
pub type lpt_noise_kind = i32;
pub const LPT_NOISE_KIND_REFERENCE: lpt_noise_kind = 0;
pub const LPT_NOISE_KIND_TWO_DRAWS: lpt_noise_kind = 1;

/// How masks are counted; one of lpt_sparse_count_values.
pub type lpt_sparse_count = i32;
pub const LPT_SPARSE_COUNT_EXACT: lpt_sparse_count = 0;
pub const LPT_SPARSE_COUNT_PUBLISHED: lpt_sparse_count = 1;

pub const LPT_CHECK_ONLY: u64 = 1;
pub const LPT_BLOCK_EXTENT_FULL: i32 = -1;
pub const LPT_DLPACK_READ_ONLY: u64 = 1;
pub const LPT_DLPACK_COPIED: u64 = 2;
pub const LPT_QUANTIZE_KEEP_TENSOR_SCALE: u64 = 2;
pub const LPT_GEMM_PORTABLE_ORDER: u64 = 4;
pub const LPT_GEMM_CAST_A_TO_BF16: u64 = 8;
pub const LPT_COMM_CHECKSUMS: u64 = 4;
pub const LPT_COMM_MESSAGES: u64 = 8;
pub const LPT_COMM_SKIP_CHECKS: u64 = 16;
pub const LPT_PARTIAL_SEQUENCE_PARALLEL: u64 = 4;

/// One rank's end of a communicator; see lpt_comm_create_local(). Belongs to the thread that uses its context: one thread, one rank, one comm.
#[repr(C)]
pub struct lpt_comm {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// A group of ranks that are threads of one process. Thread-safe.
#[repr(C)]
pub struct lpt_comm_group {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// The worker: error text, threads, memory, choice of kernels. Destroyed with lpt_context_destroy().
#[repr(C)]
pub struct lpt_context {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// A collective that is under way. Waited for with lpt_future_wait().
#[repr(C)]
pub struct lpt_future {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// A product of one shape that was checked, and whose kernel was picked, once for many calls.
#[repr(C)]
pub struct lpt_gemm_plan {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Gradients that ranks reduce while backward goes on. See lpt_gradient_buckets_create().
#[repr(C)]
pub struct lpt_gradient_buckets {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// A linear layer: its recipe, its scalers, and its weight's casts. See lpt_linear_create().
#[repr(C)]
pub struct lpt_linear {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// A record of numbers by step and name: histories of scales, clipping, noise. See lpt_monitor_create().
#[repr(C)]
pub struct lpt_monitor {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Holds the state of many parameters, never the parameters. See lpt_optimizer_create().
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
/// How a linear layer casts the operands of its three products, and makes these. See lpt_recipe_create().
#[repr(C)]
pub struct lpt_recipe {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Remembers the largest magnitudes of one site; see lpt_scaler_create().
#[repr(C)]
pub struct lpt_scaler {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Counts what casts did to numbers; see lpt_statistics_create().
#[repr(C)]
pub struct lpt_statistics {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}
/// Numbers in memory: a format, extents, and its parts. Destroyed with lpt_tensor_destroy().
#[repr(C)]
pub struct lpt_tensor {
    _opaque: [u8; 0],
    _unshared: std::marker::PhantomData<*mut u8>,
}

pub type lpt_log_function = Option<unsafe extern "C" fn(*mut c_void, lpt_log_level, *const c_char)>;
pub type lpt_allocate_function = Option<unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void>;
pub type lpt_release_function = Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize)>;
pub type lpt_task_function = Option<unsafe extern "C" fn(*mut c_void, i64)>;
pub type lpt_parallel_for_function = Option<unsafe extern "C" fn(*mut c_void, i64, lpt_task_function, *mut c_void)>;
pub type lpt_progress_function = Option<unsafe extern "C" fn(*mut c_void, i64, i64) -> i32>;

/// Where random bits come from: Philox4x32 with this key and counter. Frozen: embedded by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_random {
    pub seed: u64,
    pub offset: i64,
    pub row_stride: i64,
    pub stream: u32,
    pub step: u32,
}

/// What one device is, and whether contexts can work on it.
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

/// What a new context should be.
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
}

/// What one kernel did while a profile was taken.
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

/// A format taken apart. A value is (element - zero point) · block scale · tensor scale; absent scales are 1, absent zero points 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_format_description {
    pub struct_size: usize,
    pub element: lpt_format,
    pub block_scale: lpt_format,
    pub tensor_scale: lpt_format,
    pub block_rows: i32,
    pub block_columns: i32,
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

/// A tensor taken apart.
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
}

/// How to quantize; the output's format says what to make.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_quantize_options {
    pub struct_size: usize,
    pub flags: u64,
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

/// What casts did to numbers since the statistics were created or reset.
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

/// How to dequantize.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_dequantize_options {
    pub struct_size: usize,
    pub flags: u64,
}

/// How to rotate.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_hadamard_options {
    pub struct_size: usize,
    pub flags: u64,
    pub size: i32,
    pub is_inverse: i32,
    pub signs: *const lpt_tensor,
}

/// How to convert.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_convert_options {
    pub struct_size: usize,
    pub flags: u64,
    pub statistics: *mut lpt_statistics,
}

/// What a new scaler should be.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_scaler_options {
    pub struct_size: usize,
    pub kind: lpt_scaler_kind,
    pub history_length: i32,
    pub margin: i32,
    pub history_rule: lpt_scaler_history_rule,
    pub zero_rule: lpt_scaler_zero_rule,
    pub reserved: i32,
}

/// What a scaler knows.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_scaler_info {
    pub struct_size: usize,
    pub amax: f32,
    pub running_amax: f32,
    pub update_count: i64,
}

/// How lpt_sparse_fit() works.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_sparse_fit_options {
    pub struct_size: usize,
    pub flags: u64,
    pub iterations: i32,
    pub reserved: i32,
    pub damping: f64,
}

/// What a fit came to: squared errors of the outputs, as shares of the outputs' sum of squares.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_sparse_fit_info {
    pub struct_size: usize,
    pub masked_error: f64,
    pub fitted_error: f64,
    pub iteration_count: i64,
}

/// How to multiply.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_gemm_options {
    pub struct_size: usize,
    pub flags: u64,
    pub alpha: f64,
    pub beta: f64,
    pub is_a_transposed: i32,
    pub is_b_transposed: i32,
    pub bias: *const lpt_tensor,
    pub activation: lpt_activation,
    pub arithmetic: lpt_gemm_arithmetic,
    pub residual: *const lpt_tensor,
    pub quantize: *const lpt_quantize_options,
    pub outlier_threshold: f64,
    pub arithmetic_bits: i32,
    pub reserved: i32,
}

/// What a plan decided.
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

/// Operands of one call of a plan; see lpt_gemm_options.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_gemm_operands {
    pub struct_size: usize,
    pub bias: *const lpt_tensor,
    pub residual: *const lpt_tensor,
    pub quantize: *const lpt_quantize_options,
}

/// How to select.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_sparse_options {
    pub struct_size: usize,
    pub flags: u64,
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

/// What a selection did, over all numbers that are finite.
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

/// How to pack weights.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_weights_options {
    pub struct_size: usize,
    pub flags: u64,
    pub output_order: *const i32,
    pub input_order: *const i32,
    pub storage: lpt_weights_storage,
    pub tile_rows: i32,
    pub tile_columns: i32,
    pub reserved: i32,
}

/// How a product is made of its two casts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_linear_gemm_options {
    pub struct_size: usize,
    pub flags: u64,
    pub hadamard_size: i32,
    pub hadamard_signs: lpt_hadamard_signs,
    pub hadamard_axis: lpt_hadamard_axis,
    pub source: lpt_linear_source,
    pub draws: i32,
    pub parts: i32,
    pub output_scale: lpt_linear_output_scale,
    pub reserved: i32,
}

/// The shape of a linear layer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_linear_shape {
    pub struct_size: usize,
    pub input_columns: i64,
    pub output_columns: i64,
}

/// One call of a linear layer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_linear_options {
    pub struct_size: usize,
    pub flags: u64,
    pub random: lpt_random,
    pub first_row: i64,
    pub bias: *const lpt_tensor,
    pub input_smoothing: *const lpt_tensor,
    pub is_accumulated: i32,
    pub reserved: i32,
    pub comm: *mut lpt_comm,
    pub plan: *const lpt_partial_plan,
    pub parallel: lpt_linear_parallel,
    pub reserved_two: i32,
}

/// How to compute a SwiGLU.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_swiglu_options {
    pub struct_size: usize,
    pub flags: u64,
    pub smoothing: lpt_swiglu_smoothing,
    pub reserved: i32,
}

/// How to compute an RMS norm.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_rmsnorm_options {
    pub struct_size: usize,
    pub flags: u64,
    pub epsilon: f64,
    pub is_accumulated: i32,
    pub reserved: i32,
}

/// How to compute a softmax.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_softmax_options {
    pub struct_size: usize,
    pub flags: u64,
    pub scale: f64,
    pub is_causal: i32,
    pub reserved: i32,
    pub exaq_clip: f64,
    pub exaq_bits: i32,
    pub reserved_two: i32,
}

/// How to compute a cross entropy. The same on all ranks.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_cross_entropy_options {
    pub struct_size: usize,
    pub flags: u64,
    pub comm: *mut lpt_comm,
    pub ignored_target: i64,
    pub label_smoothing: f64,
    pub reduction: lpt_loss_reduction,
    pub reserved: i32,
}

/// What a new optimizer should be.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_optimizer_options {
    pub struct_size: usize,
    pub flags: u64,
    pub beta1: f64,
    pub beta2: f64,
    pub epsilon: f64,
    pub second_underflow: lpt_optimizer_underflow,
    pub method: lpt_optimizer_method,
    pub is_nesterov: i32,
    pub reserved: i32,
}

/// One parameter, as the optimizer should keep its state.
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
}

/// One step of an optimizer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_optimizer_step_options {
    pub struct_size: usize,
    pub flags: u64,
    pub learning_rate: f64,
    pub gradient_scale: f64,
    pub random: lpt_random,
    pub first_moment_rounding: lpt_rounding,
    pub second_moment_rounding: lpt_rounding,
    pub parameter_rounding: lpt_rounding,
    pub is_nonfinite_skipped: i32,
    pub largest_norm: f64,
    pub gradient_norm: f64,
}

/// What an optimizer's last step came to.
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

/// What ranks add up before a step.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_gradients_info {
    pub struct_size: usize,
    pub sum_of_squares: f64,
    pub nonfinite_count: i64,
}

/// How ranks connect.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_comm_options {
    pub struct_size: usize,
    pub flags: u64,
    pub timeout_seconds: f64,
    pub link_latency_seconds: f64,
    pub link_bytes_per_second: f64,
    pub damaged_message: i64,
}

/// What a communicator is, and what went through it.
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

/// How to reduce.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_reduce_options {
    pub struct_size: usize,
    pub flags: u64,
    pub reduction: lpt_reduction,
    pub reserved: i32,
    pub factor: f64,
    pub wire: lpt_format,
    pub algorithm: lpt_reduce_algorithm,
    pub rounding: lpt_rounding,
    pub random: lpt_random,
    pub codec: *const lpt_comm_codec,
}

/// How gradients fill buckets.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_gradient_buckets_options {
    pub struct_size: usize,
    pub flags: u64,
    pub bucket_bytes: usize,
    pub order: lpt_gradient_buckets_order,
    pub reserved: i32,
    pub names: *const *const c_char,
}

/// How buckets stand.
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

/// How ranks that share an optimizer's state step.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_optimizer_shard_options {
    pub struct_size: usize,
    pub flags: u64,
    pub reduce: *const lpt_reduce_options,
}

/// How columns are shared. The same on all ranks, in all layers, for the whole training.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_partial_plan_options {
    pub struct_size: usize,
    pub flags: u64,
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

/// What a plan says.
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

/// An encoding of a message that the caller supplies; its members are in lpt/research/codec.h.
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

/// The links of equal ranks. Each rank has one to all others, which sends one message after the other and receives one after the other, both at a time. A message of b bytes takes b / bytes_per_second of both links, and latency_seconds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_cost_link {
    pub struct_size: usize,
    pub latency_seconds: f64,
    pub bytes_per_second: f64,
    pub reduce_bytes_per_second: f64,
}

/// What a collective costs.
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

/// How fast one rank casts numbers before they are sent, and back. Rates count bytes of the wide numbers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_cost_cast_rates {
    pub struct_size: usize,
    pub overhead_seconds: f64,
    pub encode_bytes_per_second: f64,
    pub decode_bytes_per_second: f64,
}

/// How to measure noise.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_noise_options {
    pub struct_size: usize,
    pub flags: u64,
    pub kind: lpt_noise_kind,
    pub reserved: i32,
}

/// Noise against gradient.
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

/// How far the two weights of a SwiGLU point the same way.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lpt_swiglu_alignment_info {
    pub struct_size: usize,
    pub mean: f64,
    pub mean_magnitude: f64,
    pub largest: f64,
    pub largest_channel: i64,
}

impl Default for lpt_device_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_device_info.
        unsafe {
            lpt_device_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_context_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_context_options.
        unsafe {
            lpt_context_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_profile_entry {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_profile_entry.
        unsafe {
            lpt_profile_entry_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_format_description {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_format_description.
        unsafe {
            lpt_format_description_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_tensor_description {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_tensor_description.
        unsafe {
            lpt_tensor_description_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_quantize_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_quantize_options.
        unsafe {
            lpt_quantize_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_statistics_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_statistics_info.
        unsafe {
            lpt_statistics_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_dequantize_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_dequantize_options.
        unsafe {
            lpt_dequantize_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_hadamard_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_hadamard_options.
        unsafe {
            lpt_hadamard_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_convert_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_convert_options.
        unsafe {
            lpt_convert_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_scaler_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_scaler_options.
        unsafe {
            lpt_scaler_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_scaler_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_scaler_info.
        unsafe {
            lpt_scaler_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_sparse_fit_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_sparse_fit_options.
        unsafe {
            lpt_sparse_fit_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_sparse_fit_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_sparse_fit_info.
        unsafe {
            lpt_sparse_fit_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_gemm_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_gemm_options.
        unsafe {
            lpt_gemm_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_gemm_plan_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_gemm_plan_info.
        unsafe {
            lpt_gemm_plan_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_gemm_operands {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_gemm_operands.
        unsafe {
            lpt_gemm_operands_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_sparse_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_sparse_options.
        unsafe {
            lpt_sparse_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_sparse_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_sparse_info.
        unsafe {
            lpt_sparse_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_weights_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_weights_options.
        unsafe {
            lpt_weights_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_linear_gemm_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_linear_gemm_options.
        unsafe {
            lpt_linear_gemm_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_linear_shape {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_linear_shape.
        unsafe {
            lpt_linear_shape_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_linear_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_linear_options.
        unsafe {
            lpt_linear_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_swiglu_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_swiglu_options.
        unsafe {
            lpt_swiglu_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_rmsnorm_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_rmsnorm_options.
        unsafe {
            lpt_rmsnorm_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_softmax_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_softmax_options.
        unsafe {
            lpt_softmax_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_cross_entropy_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_cross_entropy_options.
        unsafe {
            lpt_cross_entropy_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_optimizer_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_optimizer_options.
        unsafe {
            lpt_optimizer_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_optimizer_parameter {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_optimizer_parameter.
        unsafe {
            lpt_optimizer_parameter_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_optimizer_step_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_optimizer_step_options.
        unsafe {
            lpt_optimizer_step_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_optimizer_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_optimizer_info.
        unsafe {
            lpt_optimizer_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_gradients_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_gradients_info.
        unsafe {
            lpt_gradients_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_comm_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_comm_options.
        unsafe {
            lpt_comm_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_comm_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_comm_info.
        unsafe {
            lpt_comm_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_reduce_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_reduce_options.
        unsafe {
            lpt_reduce_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_gradient_buckets_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_gradient_buckets_options.
        unsafe {
            lpt_gradient_buckets_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_gradient_buckets_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_gradient_buckets_info.
        unsafe {
            lpt_gradient_buckets_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_optimizer_shard_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_optimizer_shard_options.
        unsafe {
            lpt_optimizer_shard_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_partial_plan_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_partial_plan_options.
        unsafe {
            lpt_partial_plan_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_partial_plan_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_partial_plan_info.
        unsafe {
            lpt_partial_plan_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_comm_codec {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_comm_codec.
        unsafe {
            lpt_comm_codec_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_cost_link {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_cost_link.
        unsafe {
            lpt_cost_link_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_cost_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_cost_info.
        unsafe {
            lpt_cost_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_cost_cast_rates {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_cost_cast_rates.
        unsafe {
            lpt_cost_cast_rates_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_noise_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_noise_options.
        unsafe {
            lpt_noise_options_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_noise_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_noise_info.
        unsafe {
            lpt_noise_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_swiglu_alignment_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // Of zeros and numbers alone: any bytes are a lpt_swiglu_alignment_info.
        unsafe {
            lpt_swiglu_alignment_info_init(value.as_mut_ptr(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

extern "C" {
    /// Returns the release of the library that is loaded.
    pub fn lpt_version() -> i32;
    /// Returns the release of the library that is loaded, as text.
    pub fn lpt_version_string() -> *const c_char;
    /// Returns the level of the binary interface, which is the number in the library's SONAME.
    pub fn lpt_abi_level() -> i32;
    /// Returns how the library was built: release, compiler, and the instruction sets with kernels of their own.
    pub fn lpt_build_info() -> *const c_char;
    /// Names a status.
    pub fn lpt_status_string(status: lpt_status) -> *const c_char;
    /// Writes the defaults of LPT_DEVICE_INFO_INIT.
    pub fn lpt_device_info_init(description: *mut lpt_device_info, struct_size: usize);
    /// Describes a device. One that is not there is no error: `is_usable` is 0, and `reason` says why, in the words of the driver or of the system that did not find the plugin.
    pub fn lpt_device_describe(device: lpt_device, index: i32, out_description: *mut lpt_device_info) -> lpt_status;
    /// Writes the defaults of LPT_CONTEXT_OPTIONS_INIT.
    pub fn lpt_context_options_init(options: *mut lpt_context_options, struct_size: usize);
    /// Creates a context. Threads start with the first operation that wants them.
    pub fn lpt_context_create(options: *const lpt_context_options, out_context: *mut *mut lpt_context) -> lpt_status;
    /// Destroys a context and ends its threads. Handles made with it live on.
    pub fn lpt_context_destroy(context: *mut lpt_context);
    /// Returns what went wrong in the last call with this context.
    pub fn lpt_context_error(context: *const lpt_context) -> *const c_char;
    /// Returns which kernel the last operation took, and why each faster one was passed over.
    pub fn lpt_context_explanation(context: *const lpt_context) -> *const c_char;
    /// Changes the number of threads.
    pub fn lpt_context_set_threads(context: *mut lpt_context, thread_count: i32) -> lpt_status;
    /// Changes the highest instruction set that may be used.
    pub fn lpt_context_set_isa(context: *mut lpt_context, isa: lpt_isa) -> lpt_status;
    /// Changes the stream that work is queued on.
    pub fn lpt_context_set_stream(context: *mut lpt_context, stream: *mut c_void) -> lpt_status;
    /// Waits until the context's stream has done all that is queued on it. On a CPU context it returns immediately.
    pub fn lpt_context_synchronize(context: *mut lpt_context) -> lpt_status;
    /// Changes where the log goes.
    pub fn lpt_context_set_log(context: *mut lpt_context, level: lpt_log_level, log: lpt_log_function, log_user: *mut c_void) -> lpt_status;
    /// Has casts, both ways, and products report their progress, some hundred times at most, and end when asked. A short one reports once. A layer's call reports one cast or product after the other, each to its own whole.
    pub fn lpt_context_set_progress(context: *mut lpt_context, progress: lpt_progress_function, progress_user: *mut c_void) -> lpt_status;
    /// Writes the defaults of LPT_PROFILE_ENTRY_INIT.
    pub fn lpt_profile_entry_init(entry: *mut lpt_profile_entry, struct_size: usize);
    /// Starts a new profile, or stops the one that is taken. What was recorded stays until the next start.
    pub fn lpt_context_set_profile(context: *mut lpt_context, is_enabled: i32) -> lpt_status;
    /// Counts the entries of the profile: one per operation part and kernel.
    pub fn lpt_context_profile_count(context: *mut lpt_context, out_count: *mut i64) -> lpt_status;
    /// Reads one entry of the profile, longest time first.
    pub fn lpt_context_profile_entry(context: *mut lpt_context, index: i64, out_entry: *mut lpt_profile_entry) -> lpt_status;
    /// Writes the profile's calls as a Chrome trace (JSON), the first 100 000 of them.
    pub fn lpt_context_profile_save(context: *mut lpt_context, path: *const c_char) -> lpt_status;
    /// Writes the defaults of LPT_FORMAT_DESCRIPTION_INIT.
    pub fn lpt_format_description_init(description: *mut lpt_format_description, struct_size: usize);
    /// Makes the format of a description. A description that equals a preset gives the preset.
    pub fn lpt_format_from_description(description: *const lpt_format_description, out_format: *mut lpt_format) -> lpt_status;
    /// Finds a format by name: a preset ("nvfp4", "e4m3fn_row"), or element/block/scale with an optional /tensor scale, where block is `tensor`, `row`, `column` or ROWSxCOLUMNS ("e2m1fn/1x32/e8m0fnu", "int8/1x64/f32"), and an optional /uint8 for zero points ("uint4/1x256/f32/uint8"). Any name with /2:4 behind it is that format with two of every four columns stored ("bf16/2:4", "nvfp4/2:4"). An element of the caller's own is spelled e\<exponent bits\>m\<mantissa bits\>b\<bias\> with -ieee, -nan, -fnuz or -finite, and a u in front without a sign ("e4m2b9-finite", "ue4m3b7-nan").
    pub fn lpt_format_from_name(name: *const c_char, out_format: *mut lpt_format) -> lpt_status;
    /// Writes the name of a format; lpt_format_from_name() reads it back.
    pub fn lpt_format_write_name(format: lpt_format, buffer: *mut c_char, buffer_bytes: usize, out_needed_bytes: *mut usize) -> lpt_status;
    /// Takes a format apart.
    pub fn lpt_format_describe(format: lpt_format, out_description: *mut lpt_format_description) -> lpt_status;
    /// Writes what the bytes of a format mean, in lines of text for people: the bits of a code, special codes, range, packing, scales, and how a value is computed.
    pub fn lpt_format_write_text(format: lpt_format, buffer: *mut c_char, buffer_bytes: usize, out_needed_bytes: *mut usize) -> lpt_status;
    /// Writes the defaults of LPT_TENSOR_DESCRIPTION_INIT.
    pub fn lpt_tensor_description_init(description: *mut lpt_tensor_description, struct_size: usize);
    /// Creates a tensor in memory of its own: zero elements, all scales 1, all zero points 0.
    pub fn lpt_tensor_create(context: *mut lpt_context, format: lpt_format, rank: i32, extents: *const i64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Makes a tensor of the caller's memory, which is borrowed until the tensor is destroyed.
    pub fn lpt_tensor_wrap(context: *mut lpt_context, description: *const lpt_tensor_description, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Makes a matrix of the caller's memory, which is borrowed until the tensor is destroyed.
    pub fn lpt_tensor_wrap_matrix(context: *mut lpt_context, format: lpt_format, data: *mut c_void, rows: i64, columns: i64, row_stride: i64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Makes a tensor of a part of another one; both may write the same memory, which lives as long as either.
    pub fn lpt_tensor_view(context: *mut lpt_context, tensor: *const lpt_tensor, begins: *const i64, extents: *const i64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Makes a tensor of one part: the elements as a plain tensor, or the scales.
    pub fn lpt_tensor_view_part(context: *mut lpt_context, tensor: *const lpt_tensor, part: lpt_tensor_part, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Makes a matrix of its parts: the inverse of lpt_tensor_view_part(). The parts' memory is borrowed, or lives on if it is the library's.
    pub fn lpt_tensor_combine(context: *mut lpt_context, format: lpt_format, rows: i64, columns: i64, parts: *const *const lpt_tensor, part_count: i32, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Takes a tensor apart.
    pub fn lpt_tensor_describe(context: *mut lpt_context, tensor: *const lpt_tensor, out_description: *mut lpt_tensor_description) -> lpt_status;
    /// Returns how many bytes the elements and scales of a tensor take, without gaps between rows.
    pub fn lpt_tensor_size(context: *mut lpt_context, tensor: *const lpt_tensor, out_size_bytes: *mut usize) -> lpt_status;
    /// Copies a tensor with all its parts: from one memory to another, or within one.
    pub fn lpt_tensor_copy(context: *mut lpt_context, source: *const lpt_tensor, target: *mut lpt_tensor) -> lpt_status;
    /// Destroys a tensor. Memory that was wrapped is left alone.
    pub fn lpt_tensor_destroy(tensor: *mut lpt_tensor);
    /// Makes a tensor of what another library describes by DLPack 1.x, without a copy. The description is read here; the memory is borrowed until the tensor is destroyed, and the caller keeps the struct and calls its deleter.
    pub fn lpt_tensor_from_dlpack(context: *mut lpt_context, managed: *const c_void, is_versioned: i32, out_flags: *mut u64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Makes a tensor as lpt_tensor_from_dlpack() does, and takes the struct over: its deleter is called once, when the last tensor that shares the memory is destroyed, on that thread. After an error the caller has it still.
    pub fn lpt_tensor_take_dlpack(context: *mut lpt_context, managed: *mut c_void, is_versioned: i32, out_flags: *mut u64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Describes a plain tensor by DLPack, for another library, without a copy. A tensor with scales goes part by part, see lpt_tensor_view_part(). Memory of the library lives as long as the struct; wrapped memory must.
    pub fn lpt_tensor_to_dlpack(context: *mut lpt_context, tensor: *const lpt_tensor, is_versioned: i32, out_managed: *mut *mut c_void) -> lpt_status;
    /// Returns how many bytes a tensor takes in a foreign layout.
    pub fn lpt_foreign_layout_size(context: *mut lpt_context, tensor: *const lpt_tensor, layout: lpt_foreign_layout, out_size_bytes: *mut usize) -> lpt_status;
    /// Writes a tensor, or the part of it that the layout holds, in a foreign layout. Exact: the same numbers. ggml has no -0 in MXFP4 and reads it as 0.
    pub fn lpt_foreign_layout_export(context: *mut lpt_context, tensor: *const lpt_tensor, layout: lpt_foreign_layout, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Reads a tensor, or the part of it that the layout holds, from a foreign layout; other parts stay as they are. Exact: the same numbers, codes that quantizing does not use included (-8 of Q4_0, -128 of Q8_0).
    pub fn lpt_foreign_layout_import(context: *mut lpt_context, buffer: *const c_void, buffer_bytes: usize, layout: lpt_foreign_layout, tensor: *mut lpt_tensor) -> lpt_status;
    /// Writes the defaults of LPT_QUANTIZE_OPTIONS_INIT.
    pub fn lpt_quantize_options_init(options: *mut lpt_quantize_options, struct_size: usize);
    /// Casts numbers to another format, with scales where the format has them.
    pub fn lpt_quantize(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_quantize_options, quantized: *mut lpt_tensor, transposed: *mut lpt_tensor) -> lpt_status;
    /// Casts numbers to a format and back: the numbers that lpt_quantize() and lpt_dequantize() would give.
    pub fn lpt_fake_quantize(context: *mut lpt_context, source: *const lpt_tensor, format: lpt_format, options: *const lpt_quantize_options, output: *mut lpt_tensor) -> lpt_status;
    /// Writes the defaults of LPT_STATISTICS_INFO_INIT.
    pub fn lpt_statistics_info_init(values: *mut lpt_statistics_info, struct_size: usize);
    /// Creates statistics, all zero. Casts that are given them add to them; sums are the same for any number of threads.
    pub fn lpt_statistics_create(context: *mut lpt_context, out_statistics: *mut *mut lpt_statistics) -> lpt_status;
    /// Destroys statistics.
    pub fn lpt_statistics_destroy(statistics: *mut lpt_statistics);
    /// Reads statistics.
    pub fn lpt_statistics_read(context: *mut lpt_context, statistics: *const lpt_statistics, out_info: *mut lpt_statistics_info) -> lpt_status;
    /// Sets statistics back to zero.
    pub fn lpt_statistics_reset(context: *mut lpt_context, statistics: *mut lpt_statistics) -> lpt_status;
    /// Writes the defaults of LPT_DEQUANTIZE_OPTIONS_INIT.
    pub fn lpt_dequantize_options_init(options: *mut lpt_dequantize_options, struct_size: usize);
    /// Gives the numbers that codes stand for: element · (block scale · tensor scale), in f32.
    pub fn lpt_dequantize(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_dequantize_options, output: *mut lpt_tensor) -> lpt_status;
    /// Writes the defaults of LPT_HADAMARD_OPTIONS_INIT.
    pub fn lpt_hadamard_options_init(options: *mut lpt_hadamard_options, struct_size: usize);
    /// Rotates each group of columns: output = (source ⊙ signs) · H / sqrt(size), where H(i, j) = (-1)^(number of ones in i and j): Sylvester's matrix, orthogonal and its own inverse; the inverse applies the signs last.
    pub fn lpt_hadamard(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_hadamard_options, output: *mut lpt_tensor) -> lpt_status;
    /// Draws random signs for lpt_hadamard(): element i is -1 if the lowest random bit at index i is set, else 1.
    pub fn lpt_hadamard_draw_signs(context: *mut lpt_context, random: *const lpt_random, signs: *mut lpt_tensor) -> lpt_status;
    /// Writes the defaults of LPT_CONVERT_OPTIONS_INIT.
    pub fn lpt_convert_options_init(options: *mut lpt_convert_options, struct_size: usize);
    /// Moves codes between relatives of FP8 without a new amax: e4m3fn, e4m3 (240) and e4m3fnuz, or e5m2 and e5m2fnuz, or any two of 8 bits with the same exponent and mantissa bits.
    pub fn lpt_convert(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_convert_options, output: *mut lpt_tensor) -> lpt_status;
    /// Writes the defaults of LPT_SCALER_OPTIONS_INIT.
    pub fn lpt_scaler_options_init(options: *mut lpt_scaler_options, struct_size: usize);
    /// Writes the defaults of LPT_SCALER_INFO_INIT.
    pub fn lpt_scaler_info_init(values: *mut lpt_scaler_info, struct_size: usize);
    /// Creates a scaler: the memory of amax for one site. A cast that is given it records its amax; nothing changes until lpt_scaler_update(), so that all micro-batches of a step are cast alike.
    pub fn lpt_scaler_create(context: *mut lpt_context, options: *const lpt_scaler_options, out_scaler: *mut *mut lpt_scaler) -> lpt_status;
    /// Destroys a scaler.
    pub fn lpt_scaler_destroy(scaler: *mut lpt_scaler);
    /// Ends a step: pushes each running amax into its history, if anything was recorded, and starts a new one.
    pub fn lpt_scaler_update(context: *mut lpt_context, scalers: *const *mut lpt_scaler, scaler_count: i64) -> lpt_status;
    /// Reads what a scaler knows.
    pub fn lpt_scaler_read(context: *mut lpt_context, scaler: *const lpt_scaler, out_info: *mut lpt_scaler_info) -> lpt_status;
    /// Returns how many bytes lpt_scaler_state_save() writes.
    pub fn lpt_scaler_state_size(context: *mut lpt_context, scaler: *const lpt_scaler, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves a scaler: portable, versioned, with a checksum.
    pub fn lpt_scaler_state_save(context: *mut lpt_context, scaler: *const lpt_scaler, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Restores a scaler.
    pub fn lpt_scaler_state_load(context: *mut lpt_context, scaler: *mut lpt_scaler, buffer: *const c_void, buffer_bytes: usize) -> lpt_status;
    /// Writes the defaults of LPT_SPARSE_FIT_OPTIONS_INIT.
    pub fn lpt_sparse_fit_options_init(options: *mut lpt_sparse_fit_options, struct_size: usize);
    /// Writes the defaults of LPT_SPARSE_FIT_INFO_INIT.
    pub fn lpt_sparse_fit_info_init(values: *mut lpt_sparse_fit_info, struct_size: usize);
    /// Fits a masked weight to what the whole one gives for some inputs, without training: of all weights with this mask the one whose outputs are nearest, min |inputs · weightᵀ - inputs · outputᵀ|², by conjugate gradients.
    pub fn lpt_sparse_fit(context: *mut lpt_context, weight: *const lpt_tensor, mask: *const lpt_tensor, inputs: *const lpt_tensor, options: *const lpt_sparse_fit_options, output: *mut lpt_tensor, bias_change: *mut lpt_tensor, out_info: *mut lpt_sparse_fit_info) -> lpt_status;
    /// Writes the defaults of LPT_GEMM_OPTIONS_INIT.
    pub fn lpt_gemm_options_init(options: *mut lpt_gemm_options, struct_size: usize);
    /// Multiplies two matrices of any formats: x = alpha · a · b + beta · c + bias, c = activation(x) + residual.
    pub fn lpt_gemm(context: *mut lpt_context, a: *const lpt_tensor, b: *const lpt_tensor, options: *const lpt_gemm_options, c: *mut lpt_tensor) -> lpt_status;
    /// Multiplies rows by the matrix of their group (a mixture of experts), each group with any number of rows, also none: c(i) = a(i) · b(g) for rows i of group g.
    pub fn lpt_gemm_grouped(context: *mut lpt_context, a: *const lpt_tensor, b: *const lpt_tensor, group_ends: *const i64, group_count: i64, options: *const lpt_gemm_options, c: *mut lpt_tensor) -> lpt_status;
    /// Writes the defaults of LPT_GEMM_PLAN_INFO_INIT.
    pub fn lpt_gemm_plan_info_init(values: *mut lpt_gemm_plan_info, struct_size: usize);
    /// Writes the defaults of LPT_GEMM_OPERANDS_INIT.
    pub fn lpt_gemm_operands_init(operands: *mut lpt_gemm_operands, struct_size: usize);
    /// Plans a product: the checks of lpt_gemm(), and the choice of the kernel, which lpt_context_explanation() explains.
    pub fn lpt_gemm_plan_create(context: *mut lpt_context, a: *const lpt_tensor, b: *const lpt_tensor, options: *const lpt_gemm_options, c: *const lpt_tensor, out_plan: *mut *mut lpt_gemm_plan) -> lpt_status;
    /// Multiplies as planned: the same bits as lpt_gemm() on the context that it was planned for.
    pub fn lpt_gemm_plan_run(context: *mut lpt_context, plan: *const lpt_gemm_plan, a: *const lpt_tensor, b: *const lpt_tensor, operands: *const lpt_gemm_operands, c: *mut lpt_tensor) -> lpt_status;
    /// Returns what a plan decided.
    pub fn lpt_gemm_plan_read(context: *mut lpt_context, plan: *const lpt_gemm_plan, out_info: *mut lpt_gemm_plan_info) -> lpt_status;
    /// Destroys a plan.
    pub fn lpt_gemm_plan_destroy(plan: *mut lpt_gemm_plan);
    /// Writes the defaults of LPT_SPARSE_OPTIONS_INIT.
    pub fn lpt_sparse_options_init(options: *mut lpt_sparse_options, struct_size: usize);
    /// Writes the defaults of LPT_SPARSE_INFO_INIT.
    pub fn lpt_sparse_info_init(values: *mut lpt_sparse_info, struct_size: usize);
    /// Selects N of every M numbers.
    pub fn lpt_sparse_mask_select(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_sparse_options, mask: *mut lpt_tensor, masked: *mut lpt_tensor, out_info: *mut lpt_sparse_info) -> lpt_status;
    /// Counts the groups of a mask that keep more than N of M.
    pub fn lpt_sparse_mask_check(context: *mut lpt_context, mask: *const lpt_tensor, kept: i32, of: i32, direction: lpt_sparse_direction, out_count: *mut i64) -> lpt_status;
    /// Counts where two masks differ: the flips since the last selection.
    pub fn lpt_sparse_mask_compare(context: *mut lpt_context, mask: *const lpt_tensor, other: *const lpt_tensor, out_count: *mut i64) -> lpt_status;
    /// Applies a mask: output = source where the mask is not 0, else 0.
    pub fn lpt_sparse_mask_apply(context: *mut lpt_context, source: *const lpt_tensor, mask: *const lpt_tensor, output: *mut lpt_tensor) -> lpt_status;
    /// Masked decay: gradient += rate · weight where the mask is 0, so that what is dropped fades and masks settle.
    pub fn lpt_sparse_mask_decay(context: *mut lpt_context, weight: *const lpt_tensor, mask: *const lpt_tensor, rate: f64, gradient: *mut lpt_tensor) -> lpt_status;
    /// Compresses a matrix that a 2:4 mask was applied to: of every four columns the two that stay are stored, and where they belong.
    pub fn lpt_sparse_compress(context: *mut lpt_context, source: *const lpt_tensor, mask: *const lpt_tensor, compressed: *mut lpt_tensor, transposed: *mut lpt_tensor) -> lpt_status;
    /// Writes a compressed matrix out: the inverse of lpt_sparse_compress(), zeros where nothing is stored.
    pub fn lpt_sparse_decompress(context: *mut lpt_context, compressed: *const lpt_tensor, output: *mut lpt_tensor) -> lpt_status;
    /// Writes the defaults of LPT_WEIGHTS_OPTIONS_INIT.
    pub fn lpt_weights_options_init(options: *mut lpt_weights_options, struct_size: usize);
    /// Lays out weights for products, once for many: the same codes and scales, in the order that kernels read.
    pub fn lpt_weights_pack(context: *mut lpt_context, weights: *const lpt_tensor, options: *const lpt_weights_options, out_packed: *mut *mut lpt_tensor) -> lpt_status;
    /// Orders the rows of weights so that fewer tiles hold anything but zeros: rows with the same tiles come to lie together.
    pub fn lpt_weights_order(context: *mut lpt_context, weights: *const lpt_tensor, options: *const lpt_weights_options, order: *mut i32, out_given_count: *mut i64, out_count: *mut i64) -> lpt_status;
    /// Writes packed weights as rows again, in the order that they were packed in: the inverse of lpt_weights_pack() without orders.
    pub fn lpt_weights_unpack(context: *mut lpt_context, packed: *const lpt_tensor, weights: *mut lpt_tensor) -> lpt_status;
    /// Returns how many bytes lpt_weights_state_save() writes.
    pub fn lpt_weights_state_size(context: *mut lpt_context, packed: *const lpt_tensor, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves packed weights: portable, versioned, with a checksum.
    pub fn lpt_weights_state_save(context: *mut lpt_context, packed: *const lpt_tensor, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Makes packed weights of a saved state.
    pub fn lpt_weights_state_load(context: *mut lpt_context, buffer: *const c_void, buffer_bytes: usize, out_packed: *mut *mut lpt_tensor) -> lpt_status;
    /// Writes the defaults of LPT_LINEAR_GEMM_OPTIONS_INIT.
    pub fn lpt_linear_gemm_options_init(options: *mut lpt_linear_gemm_options, struct_size: usize);
    /// Creates a recipe by name. Casts are to nearest, save where it says stochastic; docs/reference/recipes.md has every cast.
    pub fn lpt_recipe_create(context: *mut lpt_context, name: *const c_char, out_recipe: *mut *mut lpt_recipe) -> lpt_status;
    /// Returns the name of a recipe that lpt_recipe_create() knows.
    pub fn lpt_recipe_name(context: *mut lpt_context, index: i64, out_name: *mut *const c_char) -> lpt_status;
    /// Destroys a recipe. Layers made with it live on.
    pub fn lpt_recipe_destroy(recipe: *mut lpt_recipe);
    /// Changes one cast of a recipe. Layers that were made before keep theirs.
    pub fn lpt_recipe_set_cast(context: *mut lpt_context, recipe: *mut lpt_recipe, cast: lpt_linear_cast, format: lpt_format, options: *const lpt_quantize_options) -> lpt_status;
    /// Changes where the tensor scales of one operand come from. Layers that were made before keep theirs.
    pub fn lpt_recipe_set_scaler(context: *mut lpt_context, recipe: *mut lpt_recipe, operand: lpt_linear_operand, options: *const lpt_scaler_options) -> lpt_status;
    /// Returns the format of one cast.
    pub fn lpt_recipe_cast_format(context: *mut lpt_context, recipe: *const lpt_recipe, cast: lpt_linear_cast, out_format: *mut lpt_format) -> lpt_status;
    /// Changes how one product is made. Layers that were made before keep theirs.
    pub fn lpt_recipe_set_gemm(context: *mut lpt_context, recipe: *mut lpt_recipe, product: lpt_linear_gemm, options: *const lpt_linear_gemm_options) -> lpt_status;
    /// Raises one product to a high precision: both operands are cast to `format` to nearest, from x and w as they come, without rotation, draws or parts. Its output scale stays. With lpt_linear_set_recipe() it ends a run in 4 bits: forward, or both backward products (quantization-aware finetuning).
    pub fn lpt_recipe_set_high_precision(context: *mut lpt_context, recipe: *mut lpt_recipe, product: lpt_linear_gemm, format: lpt_format) -> lpt_status;
    /// Makes one operand of a recipe sparse, N of every M numbers: before it is rotated and cast.
    pub fn lpt_recipe_set_sparsity(context: *mut lpt_context, recipe: *mut lpt_recipe, operand: lpt_linear_operand, options: *const lpt_sparse_options, interval: i32) -> lpt_status;
    /// Writes the defaults of LPT_LINEAR_SHAPE_INIT.
    pub fn lpt_linear_shape_init(shape: *mut lpt_linear_shape, struct_size: usize);
    /// Writes the defaults of LPT_LINEAR_OPTIONS_INIT.
    pub fn lpt_linear_options_init(options: *mut lpt_linear_options, struct_size: usize);
    /// Creates a linear layer. It owns its scalers and its weight's casts, not the weight.
    pub fn lpt_linear_create(context: *mut lpt_context, recipe: *const lpt_recipe, shape: *const lpt_linear_shape, out_linear: *mut *mut lpt_linear) -> lpt_status;
    /// Destroys a linear layer.
    pub fn lpt_linear_destroy(linear: *mut lpt_linear);
    /// Gives a layer another recipe, from its next lpt_linear_prepare() on. Scalers whose options stay the same keep their history, others begin again. What forward saved before that prepare is of no use after it, and lpt_linear_saved_size() may change with it: end the micro-batches in flight first.
    pub fn lpt_linear_set_recipe(context: *mut lpt_context, linear: *mut lpt_linear, recipe: *const lpt_recipe) -> lpt_status;
    /// Casts the weight for the forward and backward products. Call it after every change of the weight. If it fails, the layer is what it was.
    pub fn lpt_linear_prepare(context: *mut lpt_context, linear: *mut lpt_linear, weight: *const lpt_tensor, options: *const lpt_linear_options) -> lpt_status;
    /// Returns how many bytes forward saves for backward. The number follows from the layer and `rows` alone.
    pub fn lpt_linear_saved_size(context: *mut lpt_context, linear: *const lpt_linear, rows: i64, out_size_bytes: *mut usize) -> lpt_status;
    /// Returns how many bytes the weight's casts take.
    pub fn lpt_linear_cast_size(context: *mut lpt_context, linear: *const lpt_linear, out_size_bytes: *mut usize) -> lpt_status;
    /// Computes y = x · wᵀ + bias, and saves what backward needs.
    pub fn lpt_linear_forward(context: *mut lpt_context, linear: *mut lpt_linear, input: *const lpt_tensor, options: *const lpt_linear_options, saved: *mut lpt_tensor, output: *mut lpt_tensor) -> lpt_status;
    /// Computes dx = dy · w, dw = dyᵀ · x and db = the column sums of dy; each one only if it is wanted.
    pub fn lpt_linear_backward(context: *mut lpt_context, linear: *mut lpt_linear, saved: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_linear_options, input_gradient: *mut lpt_tensor, weight_gradient: *mut lpt_tensor, bias_gradient: *mut lpt_tensor) -> lpt_status;
    /// Gives the scalers of many layers the largest amax that any rank has recorded since the last update, in one message. Called on all ranks before lpt_linear_update_scalers(), delayed scales are the same on all of them.
    pub fn lpt_linear_share_amax(context: *mut lpt_context, comm: *mut lpt_comm, linears: *const *mut lpt_linear, linear_count: i64) -> lpt_status;
    /// Ends an optimizer step for the scalers of many layers; see lpt_scaler_update().
    pub fn lpt_linear_update_scalers(context: *mut lpt_context, linears: *const *mut lpt_linear, linear_count: i64) -> lpt_status;
    /// Reads what one of the layer's scalers knows.
    pub fn lpt_linear_scaler_read(context: *mut lpt_context, linear: *const lpt_linear, operand: lpt_linear_operand, out_info: *mut lpt_scaler_info) -> lpt_status;
    /// Reads the mask that the weight of a layer has since its last lpt_linear_prepare(): for lpt_sparse_mask_decay(), and to see how it changes.
    pub fn lpt_linear_mask_read(context: *mut lpt_context, linear: *const lpt_linear, mask: *mut lpt_tensor) -> lpt_status;
    /// Has a layer count what each of its casts does, or ends that. The counts begin at zero with every call; they are no part of saved states. Casts give the same bits, and take longer.
    pub fn lpt_linear_watch(context: *mut lpt_context, linear: *mut lpt_linear, is_watched: i32) -> lpt_status;
    /// Reads what one of a watched layer's casts did since lpt_linear_watch(): zeros where it did not run. A clip is what a stale scale or a rule such as QuEST's or SAWB's cuts off; see lpt_statistics_info.
    pub fn lpt_linear_cast_read(context: *mut lpt_context, linear: *const lpt_linear, cast: lpt_linear_cast, out_info: *mut lpt_statistics_info) -> lpt_status;
    /// Returns how many bytes lpt_linear_state_save() writes.
    pub fn lpt_linear_state_size(context: *mut lpt_context, linear: *const lpt_linear, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves the layer's scalers: portable, versioned, with a checksum. The weight's casts are made again by prepare.
    pub fn lpt_linear_state_save(context: *mut lpt_context, linear: *const lpt_linear, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Restores the layer's scalers.
    pub fn lpt_linear_state_load(context: *mut lpt_context, linear: *mut lpt_linear, buffer: *const c_void, buffer_bytes: usize) -> lpt_status;
    /// Writes the defaults of LPT_SWIGLU_OPTIONS_INIT.
    pub fn lpt_swiglu_options_init(options: *mut lpt_swiglu_options, struct_size: usize);
    /// Computes output = silu(gate) · up, where silu(x) = x / (1 + exp(-x)).
    pub fn lpt_swiglu_forward(context: *mut lpt_context, gate: *const lpt_tensor, up: *const lpt_tensor, options: *const lpt_swiglu_options, output: *mut lpt_tensor, smoothing: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradients of lpt_swiglu_forward(). Smoothing has none: its factors are constants.
    pub fn lpt_swiglu_backward(context: *mut lpt_context, gate: *const lpt_tensor, up: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_swiglu_options, gate_gradient: *mut lpt_tensor, up_gradient: *mut lpt_tensor) -> lpt_status;
    /// Writes the defaults of LPT_RMSNORM_OPTIONS_INIT.
    pub fn lpt_rmsnorm_options_init(options: *mut lpt_rmsnorm_options, struct_size: usize);
    /// Computes output = input · r · weight, where r = 1 / sqrt(mean over the row of input² + epsilon).
    pub fn lpt_rmsnorm_forward(context: *mut lpt_context, input: *const lpt_tensor, weight: *const lpt_tensor, options: *const lpt_rmsnorm_options, output: *mut lpt_tensor, inverse_rms: *mut lpt_tensor) -> lpt_status;
    /// Adds a branch to the residual stream and norms the sum, row by row while it is at hand: sum = residual + branch, then lpt_rmsnorm_forward() of the sum, bit for bit. Its gradients are those of lpt_rmsnorm_backward(), added to the sum's own: both the stream and the branch get that.
    pub fn lpt_rmsnorm_forward_sum(context: *mut lpt_context, residual: *const lpt_tensor, branch: *const lpt_tensor, weight: *const lpt_tensor, options: *const lpt_rmsnorm_options, sum: *mut lpt_tensor, output: *mut lpt_tensor, inverse_rms: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradients of lpt_rmsnorm_forward().
    pub fn lpt_rmsnorm_backward(context: *mut lpt_context, input: *const lpt_tensor, weight: *const lpt_tensor, inverse_rms: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_rmsnorm_options, input_gradient: *mut lpt_tensor, weight_gradient: *mut lpt_tensor) -> lpt_status;
    /// Writes the defaults of LPT_SOFTMAX_OPTIONS_INIT.
    pub fn lpt_softmax_options_init(options: *mut lpt_softmax_options, struct_size: usize);
    /// Computes output = exp(scale · input - max) / sum along the last axis.
    pub fn lpt_softmax_forward(context: *mut lpt_context, input: *const lpt_tensor, options: *const lpt_softmax_options, output: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradient of lpt_softmax_forward(): scale · y · (dy - sum(y · dy)), of EXAQ's y as if levels were none.
    pub fn lpt_softmax_backward(context: *mut lpt_context, output: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_softmax_options, input_gradient: *mut lpt_tensor) -> lpt_status;
    /// Writes the defaults of LPT_CROSS_ENTROPY_OPTIONS_INIT.
    pub fn lpt_cross_entropy_options_init(options: *mut lpt_cross_entropy_options, struct_size: usize);
    /// Computes the loss -log softmax(logits)\[target\] of every row, in nats, of classes that ranks may share.
    pub fn lpt_cross_entropy_forward(context: *mut lpt_context, logits: *const lpt_tensor, targets: *const i64, options: *const lpt_cross_entropy_options, loss: *mut lpt_tensor, log_sums: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradient of lpt_cross_entropy_forward(): g · (exp(x - l) - e / classes - (1 - e) · \[target\]), with g the loss's gradient, for the mean divided by the rows that count; 0 in rows that do not count. Of ranks only the numbers of classes are sent.
    pub fn lpt_cross_entropy_backward(context: *mut lpt_context, logits: *const lpt_tensor, targets: *const i64, log_sums: *const lpt_tensor, loss_gradient: *const lpt_tensor, options: *const lpt_cross_entropy_options, logits_gradient: *mut lpt_tensor) -> lpt_status;
    /// Writes the defaults of LPT_OPTIMIZER_OPTIONS_INIT.
    pub fn lpt_optimizer_options_init(options: *mut lpt_optimizer_options, struct_size: usize);
    /// Writes the defaults of LPT_OPTIMIZER_PARAMETER_INIT.
    pub fn lpt_optimizer_parameter_init(parameter: *mut lpt_optimizer_parameter, struct_size: usize);
    /// Writes the defaults of LPT_OPTIMIZER_STEP_OPTIONS_INIT.
    pub fn lpt_optimizer_step_options_init(options: *mut lpt_optimizer_step_options, struct_size: usize);
    /// Writes the defaults of LPT_OPTIMIZER_INFO_INIT.
    pub fn lpt_optimizer_info_init(values: *mut lpt_optimizer_info, struct_size: usize);
    /// Writes the defaults of LPT_GRADIENTS_INFO_INIT.
    pub fn lpt_gradients_info_init(values: *mut lpt_gradients_info, struct_size: usize);
    /// Creates an optimizer without parameters.
    pub fn lpt_optimizer_create(context: *mut lpt_context, options: *const lpt_optimizer_options, out_optimizer: *mut *mut lpt_optimizer) -> lpt_status;
    /// Destroys an optimizer and its state.
    pub fn lpt_optimizer_destroy(optimizer: *mut lpt_optimizer);
    /// Keeps the state of an optimizer in files: for state larger than memory. Each array is in a file without a name in the directory, mapped, and a step walks it piece by piece. The bits are the same.
    pub fn lpt_optimizer_set_directory(context: *mut lpt_context, optimizer: *mut lpt_optimizer, directory: *const c_char, resident_bytes: usize) -> lpt_status;
    /// Adds a parameter: makes its state, with zero moments.
    pub fn lpt_optimizer_add(context: *mut lpt_context, optimizer: *mut lpt_optimizer, parameter: *const lpt_optimizer_parameter, out_index: *mut i64) -> lpt_status;
    /// Steps many parameters. In f32, for each element with gradient g (scaled, clipped) and step number t:
    pub fn lpt_optimizer_step(context: *mut lpt_context, optimizer: *mut lpt_optimizer, indices: *const i64, count: i64, gradients: *const *const lpt_tensor, options: *const lpt_optimizer_step_options, parameters: *const *mut lpt_tensor) -> lpt_status;
    /// Returns what the last step came to.
    pub fn lpt_optimizer_read(context: *mut lpt_context, optimizer: *const lpt_optimizer, out_info: *mut lpt_optimizer_info) -> lpt_status;
    /// Adds up the squares of many gradients in f64 and counts what is not finite. The sums do not depend on the number of threads. Ranks that hold shards add up both and give lpt_optimizer_step() the root, times gradient_scale.
    pub fn lpt_gradients_measure(context: *mut lpt_context, gradients: *const *const lpt_tensor, count: i64, out_info: *mut lpt_gradients_info) -> lpt_status;
    /// Returns how many bytes the state of all parameters takes, scales included, in memory or in files.
    pub fn lpt_optimizer_size(context: *mut lpt_context, optimizer: *const lpt_optimizer, out_size_bytes: *mut usize) -> lpt_status;
    /// Returns how many bytes lpt_optimizer_state_save() writes for one parameter.
    pub fn lpt_optimizer_state_size(context: *mut lpt_context, optimizer: *const lpt_optimizer, index: i64, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves the state of one parameter: portable, versioned, with a checksum.
    pub fn lpt_optimizer_state_save(context: *mut lpt_context, optimizer: *const lpt_optimizer, index: i64, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Restores the state of one parameter.
    pub fn lpt_optimizer_state_load(context: *mut lpt_context, optimizer: *mut lpt_optimizer, index: i64, buffer: *const c_void, buffer_bytes: usize) -> lpt_status;
    /// Restores the state of one parameter, or of a shard of it, from saved shards that were cut in another way: a training that goes on with another number of ranks. Each saved state may be the whole or a shard; what is outside of this parameter's elements is left.
    pub fn lpt_optimizer_state_load_many(context: *mut lpt_context, optimizer: *mut lpt_optimizer, index: i64, buffers: *const *const c_void, buffer_bytes: *const usize, count: i64) -> lpt_status;
    /// Writes the defaults of LPT_COMM_OPTIONS_INIT.
    pub fn lpt_comm_options_init(options: *mut lpt_comm_options, struct_size: usize);
    /// Writes the defaults of LPT_COMM_INFO_INIT.
    pub fn lpt_comm_info_init(values: *mut lpt_comm_info, struct_size: usize);
    /// Creates a group of `rank_count` ranks that are threads. It has no context: every rank has its own.
    pub fn lpt_comm_group_create(rank_count: i32, out_group: *mut *mut lpt_comm_group) -> lpt_status;
    /// Ends all waiting of all ranks of the group, now and later: every call returns LPT_ABORTED. For a rank that fails.
    pub fn lpt_comm_group_abort(group: *mut lpt_comm_group);
    /// Lets go of the group. Comms that were made with it live on.
    pub fn lpt_comm_group_destroy(group: *mut lpt_comm_group);
    /// Takes a rank's place in a group; returns when all ranks have come.
    pub fn lpt_comm_create_local(context: *mut lpt_context, group: *mut lpt_comm_group, rank: i32, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Takes a process's place among the processes of an MPI job; returns when all of them have come.
    pub fn lpt_comm_create_mpi(context: *mut lpt_context, fortran_handle: *const i32, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Makes a comm of ranks that have a GPU each, which exchange bytes by NCCL; returns when all ranks have come.
    pub fn lpt_comm_create_nccl(context: *mut lpt_context, bootstrap: *mut lpt_comm, nccl_comm: *mut c_void, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Makes communicators of parts of a communicator: ranks that give the same color share one, in the order of their keys, then of their ranks. A grid of tensor × pipeline × data ranks is two splits. All ranks call it.
    pub fn lpt_comm_split(context: *mut lpt_context, comm: *mut lpt_comm, color: i32, key: i32, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Leaves. Collectives that are under way are given up, and ranks that wait for this one get LPT_ABORTED.
    pub fn lpt_comm_destroy(comm: *mut lpt_comm);
    /// Returns rank, ranks, engine and what was sent.
    pub fn lpt_comm_read(context: *mut lpt_context, comm: *const lpt_comm, out_info: *mut lpt_comm_info) -> lpt_status;
    /// Waits for a collective. Its tensors may be read and written from then on, and not before; memory that the caller owns must live until then.
    pub fn lpt_future_wait(context: *mut lpt_context, future: *mut lpt_future) -> lpt_status;
    /// Returns whether a collective has ended; waits for nothing.
    pub fn lpt_future_is_done(context: *mut lpt_context, future: *const lpt_future, out_is_done: *mut i32) -> lpt_status;
    /// Lets go of a future. The collective goes on.
    pub fn lpt_future_destroy(future: *mut lpt_future);
    /// Writes the defaults of LPT_REDUCE_OPTIONS_INIT.
    pub fn lpt_reduce_options_init(options: *mut lpt_reduce_options, struct_size: usize);
    /// Returns when all ranks have called it.
    pub fn lpt_barrier(context: *mut lpt_context, comm: *mut lpt_comm) -> lpt_status;
    /// Reduces a tensor of every rank and gives all of them the result.
    pub fn lpt_all_reduce(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, options: *const lpt_reduce_options, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Reduces a tensor of every rank and gives each rank its part of the result, along the first axis.
    pub fn lpt_reduce_scatter(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, counts: *const i64, options: *const lpt_reduce_options, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Gives all ranks the parts of every rank, one after the other along the first axis. Nothing is rounded.
    pub fn lpt_all_gather(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, counts: *const i64, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Gives all ranks the tensor of one, with all its scales.
    pub fn lpt_broadcast(context: *mut lpt_context, comm: *mut lpt_comm, root: i32, tensor: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Sends each rank a part of the input, and puts together what comes from each, along the first axis.
    pub fn lpt_all_to_all(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, send_counts: *const i64, receive_counts: *const i64, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Sends a tensor to one rank. It may return before the other has received.
    pub fn lpt_send(context: *mut lpt_context, comm: *mut lpt_comm, tensor: *const lpt_tensor, peer: i32, tag: i32, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Receives a tensor from one rank.
    pub fn lpt_receive(context: *mut lpt_context, comm: *mut lpt_comm, tensor: *mut lpt_tensor, peer: i32, tag: i32, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Reduces many tensors of every rank in place, by one message: gains of norms, biases, buckets of gradients.
    pub fn lpt_all_reduce_many(context: *mut lpt_context, comm: *mut lpt_comm, tensors: *const *mut lpt_tensor, count: i64, options: *const lpt_reduce_options, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Returns whether a tensor has the same bits on all ranks: weights that were replicated, the shared columns of activations (lpt_tensor_view()). Eight bytes of each rank are sent.
    pub fn lpt_comm_compare(context: *mut lpt_context, comm: *mut lpt_comm, tensor: *const lpt_tensor, out_is_same: *mut i32) -> lpt_status;
    /// Writes the defaults of LPT_GRADIENT_BUCKETS_OPTIONS_INIT.
    pub fn lpt_gradient_buckets_options_init(options: *mut lpt_gradient_buckets_options, struct_size: usize);
    /// Writes the defaults of LPT_GRADIENT_BUCKETS_INFO_INIT.
    pub fn lpt_gradient_buckets_info_init(values: *mut lpt_gradient_buckets_info, struct_size: usize);
    /// Puts gradients in buckets, each of which is reduced in place, by one message, as soon as all its gradients are ready and the buckets before it have begun: data-parallel training whose backward hides its all-reduce.
    pub fn lpt_gradient_buckets_create(context: *mut lpt_context, comm: *mut lpt_comm, gradients: *const *mut lpt_tensor, count: i64, options: *const lpt_gradient_buckets_options, out_buckets: *mut *mut lpt_gradient_buckets) -> lpt_status;
    /// Begins a backward pass.
    pub fn lpt_gradient_buckets_begin(context: *mut lpt_context, buckets: *mut lpt_gradient_buckets, is_last: i32, options: *const lpt_reduce_options) -> lpt_status;
    /// Says that a gradient is there. From now on until lpt_gradient_buckets_wait() it belongs to the comm's thread; without is_last it stays the caller's.
    pub fn lpt_gradient_buckets_ready(context: *mut lpt_context, buckets: *mut lpt_gradient_buckets, index: i64) -> lpt_status;
    /// Ends a pass: waits until all gradients are reduced. An error names the gradients of the bucket that it befell.
    pub fn lpt_gradient_buckets_wait(context: *mut lpt_context, buckets: *mut lpt_gradient_buckets) -> lpt_status;
    /// Returns how buckets stand.
    pub fn lpt_gradient_buckets_read(context: *mut lpt_context, buckets: *const lpt_gradient_buckets, out_info: *mut lpt_gradient_buckets_info) -> lpt_status;
    /// Lets go of buckets. Reductions that are under way go on.
    pub fn lpt_gradient_buckets_destroy(buckets: *mut lpt_gradient_buckets);
    /// Writes the defaults of LPT_OPTIMIZER_SHARD_OPTIONS_INIT.
    pub fn lpt_optimizer_shard_options_init(options: *mut lpt_optimizer_shard_options, struct_size: usize);
    /// Adds this rank's shards of many parameters: all their elements, one parameter after the other, are shared out evenly among the ranks of the comm, in their order, cut at multiples of 4096 elements of a parameter. Nothing is sent.
    pub fn lpt_optimizer_add_shards(context: *mut lpt_context, comm: *const lpt_comm, optimizer: *mut lpt_optimizer, parameters: *const *const lpt_optimizer_parameter, count: i64, out_indices: *mut i64) -> lpt_status;
    /// Steps parameters whose state is shared out among ranks: reduces gradients where ranks have their own, steps this rank's shards, and gathers the parameters. All ranks call it.
    pub fn lpt_optimizer_step_shards(context: *mut lpt_context, comm: *mut lpt_comm, optimizer: *mut lpt_optimizer, indices: *const i64, count: i64, gradients: *const *const lpt_tensor, options: *const lpt_optimizer_step_options, shards: *const lpt_optimizer_shard_options, parameters: *const *mut lpt_tensor) -> lpt_status;
    /// Writes the defaults of LPT_PARTIAL_PLAN_OPTIONS_INIT.
    pub fn lpt_partial_plan_options_init(options: *mut lpt_partial_plan_options, struct_size: usize);
    /// Writes the defaults of LPT_PARTIAL_PLAN_INFO_INIT.
    pub fn lpt_partial_plan_info_init(values: *mut lpt_partial_plan_info, struct_size: usize);
    /// Finds the columns that a fraction of all columns shares, rounded down.
    pub fn lpt_partial_shared_columns(hidden_columns: i64, fraction: f64, out_shared_columns: *mut i64) -> lpt_status;
    /// Makes a plan: the one place that knows which columns are shared. It may be used by many contexts at a time.
    pub fn lpt_partial_plan_create(context: *mut lpt_context, options: *const lpt_partial_plan_options, out_plan: *mut *mut lpt_partial_plan) -> lpt_status;
    /// Destroys a plan.
    pub fn lpt_partial_plan_destroy(plan: *mut lpt_partial_plan);
    /// Returns what a plan says.
    pub fn lpt_partial_plan_read(context: *mut lpt_context, plan: *const lpt_partial_plan, format: lpt_format, out_info: *mut lpt_partial_plan_info) -> lpt_status;
    /// Adds up the shared columns of all ranks, and scales this rank's private ones: out\[:, :s\] = sum over ranks of in\[:, :s\], out\[:, s:\] = scale · in\[:, s:\].
    pub fn lpt_partial_all_reduce(context: *mut lpt_context, comm: *mut lpt_comm, plan: *const lpt_partial_plan, pass: lpt_partial_pass, input: *const lpt_tensor, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Multiplies by this rank's part of a row-parallel weight and adds up the shared columns of all ranks: lpt_gemm(), then lpt_partial_all_reduce() of c in place, bit for bit, but private columns are computed while the shared ones are sent.
    pub fn lpt_partial_gemm(context: *mut lpt_context, comm: *mut lpt_comm, plan: *const lpt_partial_plan, a: *const lpt_tensor, b: *const lpt_tensor, options: *const lpt_gemm_options, c: *mut lpt_tensor) -> lpt_status;
    /// Multiplies the private rows of a weight's first values by the scale, in place: then a plan with LPT_PARTIAL_SCALE_ONE trains on. The other of two ways: alike when training begins, apart under Adam, whose steps do not grow with the weight. One rounding.
    pub fn lpt_partial_scale_weight(context: *mut lpt_context, plan: *const lpt_partial_plan, weight: *mut lpt_tensor) -> lpt_status;
    /// Sequence parallelism: gathers the rows of all ranks, in their order, before a column-parallel layer. Adjoint to lpt_sequence_scatter(): Σ⟨gather(x), g⟩ = Σ⟨x, scatter(g)⟩, summed over ranks, so each is the other's backward.
    pub fn lpt_sequence_gather(context: *mut lpt_context, comm: *mut lpt_comm, plan: *const lpt_partial_plan, input: *const lpt_tensor, row_counts: *const i64, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Sequence parallelism: adds up what ranks have of all rows, behind a row-parallel layer without a comm, and gives each rank its own rows of the sum: lpt_reduce_scatter() of rows, to the bit, by the plan's wire. The backward of lpt_sequence_gather(), and that is its backward.
    pub fn lpt_sequence_scatter(context: *mut lpt_context, comm: *mut lpt_comm, plan: *const lpt_partial_plan, pass: lpt_partial_pass, input: *const lpt_tensor, row_counts: *const i64, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Writes the defaults of LPT_COMM_CODEC_INIT.
    pub fn lpt_comm_codec_init(codec: *mut lpt_comm_codec, struct_size: usize);
    /// lpt_all_gather() of numbers that are sent by a codec: each part is encoded once, and decoded by all ranks, its own included.
    pub fn lpt_all_gather_by_codec(context: *mut lpt_context, comm: *mut lpt_comm, codec: *const lpt_comm_codec, input: *const lpt_tensor, counts: *const i64, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Averages a tensor of every rank by its signs, one bit for each element, and keeps what that leaves out.
    pub fn lpt_all_reduce_signs(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, worker_error: *mut lpt_tensor, server_error: *mut lpt_tensor, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Returns how many elements of a tensor this rank averages in lpt_all_reduce_signs(): those of its server error.
    pub fn lpt_all_reduce_signs_share(context: *mut lpt_context, comm: *const lpt_comm, element_count: i64, out_element_count: *mut i64) -> lpt_status;
    /// Writes the defaults of LPT_COST_LINK_INIT.
    pub fn lpt_cost_link_init(link: *mut lpt_cost_link, struct_size: usize);
    /// Writes the defaults of LPT_COST_INFO_INIT.
    pub fn lpt_cost_info_init(values: *mut lpt_cost_info, struct_size: usize);
    /// Writes the defaults of LPT_COST_CAST_RATES_INIT.
    pub fn lpt_cost_cast_rates_init(rates: *mut lpt_cost_cast_rates, struct_size: usize);
    /// Reckons what a collective costs: messages in a row, bytes, seconds. Nothing is sent.
    pub fn lpt_cost_estimate(context: *mut lpt_context, collective: lpt_cost_collective, algorithm: lpt_cost_algorithm, ranks: i32, elements: i64, payload: lpt_format, link: *const lpt_cost_link, out_info: *mut lpt_cost_info) -> lpt_status;
    /// Finds the link behind measured times: seconds = latency_seconds + bytes / bytes_per_second.
    pub fn lpt_cost_fit_link(context: *mut lpt_context, bytes: *const f64, seconds: *const f64, count: i64, out_link: *mut lpt_cost_link) -> lpt_status;
    /// Finds from how many elements on a collective takes less time with its numbers cast for the way.
    pub fn lpt_cost_break_even(context: *mut lpt_context, collective: lpt_cost_collective, algorithm: lpt_cost_algorithm, ranks: i32, plain: lpt_format, payload: lpt_format, rates: *const lpt_cost_cast_rates, link: *const lpt_cost_link, out_elements: *mut i64) -> lpt_status;
    /// Writes the defaults of LPT_NOISE_OPTIONS_INIT.
    pub fn lpt_noise_options_init(options: *mut lpt_noise_options, struct_size: usize);
    /// Writes the defaults of LPT_NOISE_INFO_INIT.
    pub fn lpt_noise_info_init(values: *mut lpt_noise_info, struct_size: usize);
    /// Measures the noise that quantization put in gradients, against their norm: |g| / |q(g) - g|.
    pub fn lpt_noise_measure(context: *mut lpt_context, gradients: *const *const lpt_tensor, noisy: *const *const lpt_tensor, count: i64, options: *const lpt_noise_options, out_info: *mut lpt_noise_info) -> lpt_status;
    /// Writes the defaults of LPT_SWIGLU_ALIGNMENT_INFO_INIT.
    pub fn lpt_swiglu_alignment_info_init(values: *mut lpt_swiglu_alignment_info, struct_size: usize);
    /// Measures the cosine between the gate's and the up weight of each channel. Weight decay aligns them over long runs, and an aligned channel grows with the square of its input: the outliers that end FP8 runs (arXiv 2409.12517).
    pub fn lpt_swiglu_alignment(context: *mut lpt_context, gate_weight: *const lpt_tensor, up_weight: *const lpt_tensor, cosines: *mut lpt_tensor, out_info: *mut lpt_swiglu_alignment_info) -> lpt_status;
    /// Creates an empty monitor.
    pub fn lpt_monitor_create(context: *mut lpt_context, out_monitor: *mut *mut lpt_monitor) -> lpt_status;
    /// Destroys a monitor.
    pub fn lpt_monitor_destroy(monitor: *mut lpt_monitor);
    /// Records one number.
    pub fn lpt_monitor_record(context: *mut lpt_context, monitor: *mut lpt_monitor, step: i64, name: *const c_char, value: f64) -> lpt_status;
    /// Records the amax that a layer's three scalers know: name/input/amax, name/weight/amax, name/gradient/amax. Of a watched layer (lpt_linear_watch()) also what each cast that ran did since, as lpt_monitor_record_statistics(): name/forward_input/clipped and so on; casts are forward_input, forward_weight, dgrad_gradient, dgrad_weight, wgrad_gradient, wgrad_input.
    pub fn lpt_monitor_record_linear(context: *mut lpt_context, monitor: *mut lpt_monitor, step: i64, name: *const c_char, linear: *const lpt_linear) -> lpt_status;
    /// Records what casts did: name/amax, the shares name/clipped, name/underflow and name/nan of all elements, and name/relative_error, the squared error over the sum of squares.
    pub fn lpt_monitor_record_statistics(context: *mut lpt_context, monitor: *mut lpt_monitor, step: i64, name: *const c_char, statistics: *const lpt_statistics) -> lpt_status;
    /// Counts the numbers recorded.
    pub fn lpt_monitor_count(context: *mut lpt_context, monitor: *const lpt_monitor, out_count: *mut i64) -> lpt_status;
    /// Writes all numbers as CSV (RFC 4180): a header step,name,value, then a line for each, in the order of recording.
    pub fn lpt_monitor_save(context: *mut lpt_context, monitor: *const lpt_monitor, path: *const c_char) -> lpt_status;
    /// Counts the masks that a pattern allows: its diversity.
    pub fn lpt_sparse_diversity(context: *mut lpt_context, kept: i32, of: i32, direction: lpt_sparse_direction, count: lpt_sparse_count, out_bits: *mut f64) -> lpt_status;
    /// Chooses N for a model that was pruned without a pattern: the least N for which a group of M has M - N zeros or more with at least the probability asked for, zeros being independent.
    pub fn lpt_sparse_choose_kept(context: *mut lpt_context, zero_share: f64, of: i32, confidence: f64, out_kept: *mut i32) -> lpt_status;
    /// Mean absorption: masks a weight, and adds to each number that stays the mean of what its group drops, sum / kept. Groups keep their sums. In f32, from the first number of a group to the last.
    pub fn lpt_sparse_absorb(context: *mut lpt_context, source: *const lpt_tensor, mask: *const lpt_tensor, of: i32, direction: lpt_sparse_direction, output: *mut lpt_tensor) -> lpt_status;
    /// Orders the input columns of a weight so that an N:M mask along rows keeps more of its energy: columns change places while that helps.
    pub fn lpt_sparse_order(context: *mut lpt_context, weight: *const lpt_tensor, options: *const lpt_sparse_options, order: *mut i32, out_info: *mut lpt_sparse_info) -> lpt_status;
}

/// What bindgen made of the header that was there: feature `bindgen`.
#[cfg(feature = "bindgen")]
#[allow(clashing_extern_declarations, non_snake_case, non_upper_case_globals)]
pub mod bindgen {
    include!(concat!(env!("OUT_DIR"), "/bindgen.rs"));
}
