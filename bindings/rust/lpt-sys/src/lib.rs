//! Declarations of lpt.h, which documents the contracts. Written by `python3 tools/make_bindings.py write`.
#![allow(non_camel_case_types)]
#![cfg_attr(rustfmt, rustfmt_skip)]
use std::os::raw::{c_char, c_void};

/// The result of a function; one of lpt_status_values.
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

/// Flags of a call, of a struct or of a tensor: a sum of lpt_flags_values.
pub type lpt_flags = u64;
pub const LPT_CHECK_ONLY: lpt_flags = 1;
pub const LPT_QUANTIZE_KEEP_TENSOR_SCALE: lpt_flags = 2;
pub const LPT_GEMM_PORTABLE_ORDER: lpt_flags = 4;
pub const LPT_GEMM_CAST_A_TO_BF16: lpt_flags = 8;
pub const LPT_COMM_CHECKSUMS: lpt_flags = 16;
pub const LPT_COMM_MESSAGES: lpt_flags = 32;
pub const LPT_COMM_SKIP_CHECKS: lpt_flags = 64;
pub const LPT_PARTIAL_SEQUENCE_PARALLEL: lpt_flags = 128;
pub const LPT_DLPACK_READ_ONLY: lpt_flags = 256;
pub const LPT_DLPACK_COPIED: lpt_flags = 512;
pub const LPT_TENSOR_READ_ONLY: lpt_flags = 1024;
pub const LPT_TENSOR_UNCHECKED: lpt_flags = 2048;
pub const LPT_GEMM_FAST_ACCUMULATE: lpt_flags = 4096;

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

/// Identifies a format: what the bytes of a tensor mean.
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
pub const LPT_FORMAT_INT32: lpt_format = 27;
pub const LPT_FORMAT_INT64: lpt_format = 28;
pub const LPT_FORMAT_INT3: lpt_format = 29;
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

/// Rows or columns of a block: a power of two, or one of lpt_block_extent_values.
pub type lpt_block_extent = i32;
pub const LPT_BLOCK_EXTENT_FULL: lpt_block_extent = -1;

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

/// A memory layout of another library; one of lpt_foreign_layout_values.
pub type lpt_foreign_layout = i32;
pub const LPT_FOREIGN_LAYOUT_GGML: lpt_foreign_layout = 1;
pub const LPT_FOREIGN_LAYOUT_BITSANDBYTES: lpt_foreign_layout = 2;
pub const LPT_FOREIGN_LAYOUT_CUBLAS_SCALES: lpt_foreign_layout = 3;
pub const LPT_FOREIGN_LAYOUT_GGML_Q4_1: lpt_foreign_layout = 4;
pub const LPT_FOREIGN_LAYOUT_MMA_SPARSE: lpt_foreign_layout = 5;
pub const LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE: lpt_foreign_layout = 6;

/// How a cast rounds a value between two codes; one of lpt_rounding_values.
pub type lpt_rounding = i32;
pub const LPT_ROUNDING_NEAREST_EVEN: lpt_rounding = 0;
pub const LPT_ROUNDING_STOCHASTIC: lpt_rounding = 1;
pub const LPT_ROUNDING_TOWARD_ZERO: lpt_rounding = 2;
pub const LPT_ROUNDING_NEAREST_AWAY: lpt_rounding = 3;
pub const LPT_ROUNDING_STOCHASTIC_UNDERFLOW: lpt_rounding = 4;

/// What a cast makes of a value beyond the largest code; one of lpt_overflow_values.
pub type lpt_overflow = i32;
pub const LPT_OVERFLOW_SATURATE: lpt_overflow = 0;
pub const LPT_OVERFLOW_INFINITE: lpt_overflow = 1;

/// How a cast computes scales from the maximum magnitude (amax); one of lpt_scale_rule_values.
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

/// Which amax a scaler gives to a cast; one of lpt_scaler_kind_values.
pub type lpt_scaler_kind = i32;
pub const LPT_SCALER_KIND_CURRENT: lpt_scaler_kind = 0;
pub const LPT_SCALER_KIND_DELAYED: lpt_scaler_kind = 1;

/// Which amax of the history a scaler uses; one of lpt_scaler_history_rule_values.
pub type lpt_scaler_history_rule = i32;
pub const LPT_SCALER_HISTORY_RULE_MAX: lpt_scaler_history_rule = 0;
pub const LPT_SCALER_HISTORY_RULE_LATEST: lpt_scaler_history_rule = 1;
pub const LPT_SCALER_HISTORY_RULE_AVERAGE: lpt_scaler_history_rule = 2;

/// What replaces an amax of 0, as at the first step; one of lpt_scaler_zero_rule_values.
pub type lpt_scaler_zero_rule = i32;
pub const LPT_SCALER_ZERO_RULE_USE_CURRENT: lpt_scaler_zero_rule = 0;
pub const LPT_SCALER_ZERO_RULE_ONE: lpt_scaler_zero_rule = 1;
pub const LPT_SCALER_ZERO_RULE_USE_LAST: lpt_scaler_zero_rule = 2;

/// What lpt_calibration_read() writes; one of lpt_calibration_value_values.
pub type lpt_calibration_value = i32;
pub const LPT_CALIBRATION_VALUE_GRAM: lpt_calibration_value = 0;
pub const LPT_CALIBRATION_VALUE_CROSS_GRAM: lpt_calibration_value = 1;
pub const LPT_CALIBRATION_VALUE_MAXIMA: lpt_calibration_value = 2;
pub const LPT_CALIBRATION_VALUE_MEANS: lpt_calibration_value = 3;
pub const LPT_CALIBRATION_VALUE_MEAN_SQUARES: lpt_calibration_value = 4;

/// How lpt_weights_fit() rounds weights; one of lpt_weights_fit_method_values.
pub type lpt_weights_fit_method = i32;
pub const LPT_WEIGHTS_FIT_METHOD_NEAREST: lpt_weights_fit_method = 0;
pub const LPT_WEIGHTS_FIT_METHOD_GPTQ: lpt_weights_fit_method = 1;

/// The order of columns in GPTQ; one of lpt_weights_fit_order_values.
pub type lpt_weights_fit_order = i32;
pub const LPT_WEIGHTS_FIT_ORDER_COLUMNS: lpt_weights_fit_order = 0;
pub const LPT_WEIGHTS_FIT_ORDER_DIAGONAL: lpt_weights_fit_order = 1;
pub const LPT_WEIGHTS_FIT_ORDER_BLOCKS: lpt_weights_fit_order = 2;

/// An activation of a GEMM; one of lpt_activation_values.
pub type lpt_activation = i32;
pub const LPT_ACTIVATION_NONE: lpt_activation = 0;
pub const LPT_ACTIVATION_GELU: lpt_activation = 1;
pub const LPT_ACTIVATION_GELU_TANH: lpt_activation = 2;
pub const LPT_ACTIVATION_SILU: lpt_activation = 3;
pub const LPT_ACTIVATION_SWIGLU: lpt_activation = 4;

/// Which elements of a group are kept, and their new values; one of lpt_sparse_rule_values.
pub type lpt_sparse_rule = i32;
pub const LPT_SPARSE_RULE_MAGNITUDE: lpt_sparse_rule = 0;
pub const LPT_SPARSE_RULE_MVUE: lpt_sparse_rule = 1;
pub const LPT_SPARSE_RULE_MVUE_TWO_DRAWS: lpt_sparse_rule = 2;
pub const LPT_SPARSE_RULE_SOFT_THRESHOLD: lpt_sparse_rule = 3;

/// Axis along which M adjacent elements form a group; one of lpt_sparse_direction_values.
pub type lpt_sparse_direction = i32;
pub const LPT_SPARSE_DIRECTION_ROW: lpt_sparse_direction = 0;
pub const LPT_SPARSE_DIRECTION_COLUMN: lpt_sparse_direction = 1;
pub const LPT_SPARSE_DIRECTION_BOTH: lpt_sparse_direction = 2;

/// Algorithm that selects a transposable mask; one of lpt_sparse_solver_values.
pub type lpt_sparse_solver = i32;
pub const LPT_SPARSE_SOLVER_AUTO: lpt_sparse_solver = 0;
pub const LPT_SPARSE_SOLVER_EXACT: lpt_sparse_solver = 1;
pub const LPT_SPARSE_SOLVER_GREEDY: lpt_sparse_solver = 2;
pub const LPT_SPARSE_SOLVER_SEARCH: lpt_sparse_solver = 3;
pub const LPT_SPARSE_SOLVER_PRUNE: lpt_sparse_solver = 4;
pub const LPT_SPARSE_SOLVER_ENTROPY: lpt_sparse_solver = 5;

/// Which elements of packed weights are stored; one of lpt_weights_storage_values.
pub type lpt_weights_storage = i32;
pub const LPT_WEIGHTS_STORAGE_ALL: lpt_weights_storage = 0;
pub const LPT_WEIGHTS_STORAGE_BITMASK: lpt_weights_storage = 1;
pub const LPT_WEIGHTS_STORAGE_BLOCK_SPARSE: lpt_weights_storage = 2;

/// How frequencies of a rotary embedding are scaled for long contexts; one of lpt_rotary_scaling_kind_values.
pub type lpt_rotary_scaling_kind = i32;
pub const LPT_ROTARY_SCALING_KIND_NONE: lpt_rotary_scaling_kind = 0;
pub const LPT_ROTARY_SCALING_KIND_LINEAR: lpt_rotary_scaling_kind = 1;
pub const LPT_ROTARY_SCALING_KIND_NTK: lpt_rotary_scaling_kind = 2;
pub const LPT_ROTARY_SCALING_KIND_YARN: lpt_rotary_scaling_kind = 3;
pub const LPT_ROTARY_SCALING_KIND_LLAMA3: lpt_rotary_scaling_kind = 4;

/// Which two columns a frequency rotates; one of lpt_rotary_layout_values.
pub type lpt_rotary_layout = i32;
pub const LPT_ROTARY_LAYOUT_HALVES: lpt_rotary_layout = 0;
pub const LPT_ROTARY_LAYOUT_INTERLEAVED: lpt_rotary_layout = 1;

/// One operand of one GEMM of a layer; one of lpt_linear_cast_values.
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

/// One GEMM of a linear layer; one of lpt_linear_gemm_values.
pub type lpt_linear_gemm = i32;
pub const LPT_LINEAR_GEMM_FORWARD: lpt_linear_gemm = 0;
pub const LPT_LINEAR_GEMM_DGRAD: lpt_linear_gemm = 1;
pub const LPT_LINEAR_GEMM_WGRAD: lpt_linear_gemm = 2;

/// Signs of a rotation; one of lpt_hadamard_signs_values.
pub type lpt_hadamard_signs = i32;
pub const LPT_HADAMARD_SIGNS_NONE: lpt_hadamard_signs = 0;
pub const LPT_HADAMARD_SIGNS_FIXED: lpt_hadamard_signs = 1;
pub const LPT_HADAMARD_SIGNS_RANDOM: lpt_hadamard_signs = 2;

/// Axis along which operands of a GEMM are rotated; one of lpt_hadamard_axis_values.
pub type lpt_hadamard_axis = i32;
pub const LPT_HADAMARD_AXIS_INNER: lpt_hadamard_axis = 0;
pub const LPT_HADAMARD_AXIS_ROWS: lpt_hadamard_axis = 1;

/// What a backward GEMM casts x or w from; one of lpt_linear_source_values.
pub type lpt_linear_source = i32;
pub const LPT_LINEAR_SOURCE_PLAIN: lpt_linear_source = 0;
pub const LPT_LINEAR_SOURCE_FORWARD: lpt_linear_source = 1;
pub const LPT_LINEAR_SOURCE_FORWARD_CLIPPED: lpt_linear_source = 2;

/// Constant factor of the result of a GEMM; one of lpt_linear_output_scale_values.
pub type lpt_linear_output_scale = i32;
pub const LPT_LINEAR_OUTPUT_SCALE_NONE: lpt_linear_output_scale = 0;
pub const LPT_LINEAR_OUTPUT_SCALE_UNIT: lpt_linear_output_scale = 1;

/// Group size of a rotation: a power of two, or one of lpt_hadamard_size_values.
pub type lpt_hadamard_size = i32;
pub const LPT_HADAMARD_SIZE_DIVISOR: lpt_hadamard_size = -1;

/// Slice of a layer that a rank of a comm holds; one of lpt_linear_parallel_values.
pub type lpt_linear_parallel = i32;
pub const LPT_LINEAR_PARALLEL_NONE: lpt_linear_parallel = 0;
pub const LPT_LINEAR_PARALLEL_COLUMNS: lpt_linear_parallel = 1;
pub const LPT_LINEAR_PARALLEL_ROWS: lpt_linear_parallel = 2;

/// Smoothing of a SwiGLU for the cast that follows; one of lpt_swiglu_smoothing_values.
pub type lpt_swiglu_smoothing = i32;
pub const LPT_SWIGLU_SMOOTHING_NONE: lpt_swiglu_smoothing = 0;
pub const LPT_SWIGLU_SMOOTHING_CHANNEL: lpt_swiglu_smoothing = 1;

/// Reduction of the losses of all rows; one of lpt_loss_reduction_values.
pub type lpt_loss_reduction = i32;
pub const LPT_LOSS_REDUCTION_MEAN: lpt_loss_reduction = 0;
pub const LPT_LOSS_REDUCTION_SUM: lpt_loss_reduction = 1;
pub const LPT_LOSS_REDUCTION_NONE: lpt_loss_reduction = 2;

/// Update rule of an optimizer; one of lpt_optimizer_method_values.
pub type lpt_optimizer_method = i32;
pub const LPT_OPTIMIZER_METHOD_ADAMW: lpt_optimizer_method = 0;
pub const LPT_OPTIMIZER_METHOD_ADAM: lpt_optimizer_method = 1;
pub const LPT_OPTIMIZER_METHOD_SGD: lpt_optimizer_method = 2;
pub const LPT_OPTIMIZER_METHOD_LION: lpt_optimizer_method = 3;

/// Cast of a second moment below the smallest code; one of lpt_optimizer_underflow_values.
pub type lpt_optimizer_underflow = i32;
pub const LPT_OPTIMIZER_UNDERFLOW_CLAMP: lpt_optimizer_underflow = 0;
pub const LPT_OPTIMIZER_UNDERFLOW_ALLOWED: lpt_optimizer_underflow = 1;
pub const LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC: lpt_optimizer_underflow = 2;

/// How elements of all ranks are combined; one of lpt_reduction_values.
pub type lpt_reduction = i32;
pub const LPT_REDUCTION_SUM: lpt_reduction = 0;
pub const LPT_REDUCTION_AVERAGE: lpt_reduction = 1;
pub const LPT_REDUCTION_MAXIMUM: lpt_reduction = 2;
pub const LPT_REDUCTION_MINIMUM: lpt_reduction = 3;

/// Algorithm of a reduction; one of lpt_reduce_algorithm_values.
pub type lpt_reduce_algorithm = i32;
pub const LPT_REDUCE_ALGORITHM_AUTO: lpt_reduce_algorithm = 0;
pub const LPT_REDUCE_ALGORITHM_ONE_SHOT: lpt_reduce_algorithm = 1;
pub const LPT_REDUCE_ALGORITHM_TWO_SHOT: lpt_reduce_algorithm = 2;
pub const LPT_REDUCE_ALGORITHM_NATIVE: lpt_reduce_algorithm = 3;

/// Order in which gradients fill buckets; one of lpt_gradient_buckets_order_values.
pub type lpt_gradient_buckets_order = i32;
pub const LPT_GRADIENT_BUCKETS_ORDER_RECORDED: lpt_gradient_buckets_order = 0;
pub const LPT_GRADIENT_BUCKETS_ORDER_REVERSED: lpt_gradient_buckets_order = 1;

/// Direction of a pass; one of lpt_partial_pass_values.
pub type lpt_partial_pass = i32;
pub const LPT_PARTIAL_PASS_FORWARD: lpt_partial_pass = 0;
pub const LPT_PARTIAL_PASS_BACKWARD: lpt_partial_pass = 1;

/// Factor of private columns; one of lpt_partial_scale_values.
pub type lpt_partial_scale = i32;
pub const LPT_PARTIAL_SCALE_ROOT: lpt_partial_scale = 0;
pub const LPT_PARTIAL_SCALE_ONE: lpt_partial_scale = 1;
pub const LPT_PARTIAL_SCALE_CUSTOM: lpt_partial_scale = 2;

/// Which positions of a sequence a rank of a ring has; one of lpt_sequence_layout_values.
pub type lpt_sequence_layout = i32;
pub const LPT_SEQUENCE_LAYOUT_CONTIGUOUS: lpt_sequence_layout = 0;
pub const LPT_SEQUENCE_LAYOUT_ZIGZAG: lpt_sequence_layout = 1;

/// Why an autopilot changed a level; one of lpt_autopilot_reason_values.
pub type lpt_autopilot_reason = i32;
pub const LPT_AUTOPILOT_REASON_NONFINITE: lpt_autopilot_reason = 0;
pub const LPT_AUTOPILOT_REASON_LOSS: lpt_autopilot_reason = 1;
pub const LPT_AUTOPILOT_REASON_CLIPPED: lpt_autopilot_reason = 2;
pub const LPT_AUTOPILOT_REASON_AMAX_GROWTH: lpt_autopilot_reason = 3;
pub const LPT_AUTOPILOT_REASON_ALIGNMENT: lpt_autopilot_reason = 4;
pub const LPT_AUTOPILOT_REASON_NOISE_RATIO: lpt_autopilot_reason = 5;
pub const LPT_AUTOPILOT_REASON_LAST_STEPS: lpt_autopilot_reason = 6;
pub const LPT_AUTOPILOT_REASON_CALM: lpt_autopilot_reason = 7;

/// Collective of a cost estimate; one of lpt_cost_collective_values.
pub type lpt_cost_collective = i32;
pub const LPT_COST_COLLECTIVE_ALL_REDUCE: lpt_cost_collective = 0;
pub const LPT_COST_COLLECTIVE_REDUCE_SCATTER: lpt_cost_collective = 1;
pub const LPT_COST_COLLECTIVE_ALL_GATHER: lpt_cost_collective = 2;
pub const LPT_COST_COLLECTIVE_BROADCAST: lpt_cost_collective = 3;
pub const LPT_COST_COLLECTIVE_ALL_TO_ALL: lpt_cost_collective = 4;

/// Algorithm of a collective; one of lpt_cost_algorithm_values.
pub type lpt_cost_algorithm = i32;
pub const LPT_COST_ALGORITHM_BEST: lpt_cost_algorithm = 0;
pub const LPT_COST_ALGORITHM_RING: lpt_cost_algorithm = 1;
pub const LPT_COST_ALGORITHM_TREE: lpt_cost_algorithm = 2;
pub const LPT_COST_ALGORITHM_TWO_SHOT: lpt_cost_algorithm = 3;
pub const LPT_COST_ALGORITHM_ONE_SHOT: lpt_cost_algorithm = 4;
pub const LPT_COST_ALGORITHM_STAR: lpt_cost_algorithm = 5;

/// Tensors that share one factor of the correction; one of lpt_delay_norm_values.
pub type lpt_delay_norm = i32;
pub const LPT_DELAY_NORM_TENSOR: lpt_delay_norm = 0;
pub const LPT_DELAY_NORM_GLOBAL: lpt_delay_norm = 1;

/// An arithmetic of a GEMM; one of lpt_gemm_arithmetic_values.
pub type lpt_gemm_arithmetic = i32;
pub const LPT_GEMM_ARITHMETIC_NATIVE: lpt_gemm_arithmetic = 0;
pub const LPT_GEMM_ARITHMETIC_L_MUL: lpt_gemm_arithmetic = 1;
pub const LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE: lpt_gemm_arithmetic = 2;
pub const LPT_GEMM_ARITHMETIC_SHIFT: lpt_gemm_arithmetic = 3;
pub const LPT_GEMM_ARITHMETIC_TENSOR_CORE: lpt_gemm_arithmetic = 4;

/// How a reduction compensates for lost packets; one of lpt_lossy_mode_values.
pub type lpt_lossy_mode = i32;
pub const LPT_LOSSY_MODE_COUNT: lpt_lossy_mode = 0;
pub const LPT_LOSSY_MODE_HORVITZ_THOMPSON: lpt_lossy_mode = 1;

/// Estimator of gradient noise; one of lpt_noise_kind_values.
pub type lpt_noise_kind = i32;
pub const LPT_NOISE_KIND_REFERENCE: lpt_noise_kind = 0;
pub const LPT_NOISE_KIND_TWO_DRAWS: lpt_noise_kind = 1;

/// Circuit of a multiply-add; one of lpt_power_arithmetic_values.
pub type lpt_power_arithmetic = i32;
pub const LPT_POWER_ARITHMETIC_SIGNED: lpt_power_arithmetic = 0;
pub const LPT_POWER_ARITHMETIC_UNSIGNED: lpt_power_arithmetic = 1;
pub const LPT_POWER_ARITHMETIC_ADDITIONS: lpt_power_arithmetic = 2;

/// Shape of a topology; one of lpt_topology_kind_values.
pub type lpt_topology_kind = i32;
pub const LPT_TOPOLOGY_KIND_TORUS: lpt_topology_kind = 0;
pub const LPT_TOPOLOGY_KIND_MESH: lpt_topology_kind = 1;
pub const LPT_TOPOLOGY_KIND_FULLY_CONNECTED: lpt_topology_kind = 2;
pub const LPT_TOPOLOGY_KIND_FAT_TREE: lpt_topology_kind = 3;
pub const LPT_TOPOLOGY_KIND_TWO_LEVEL: lpt_topology_kind = 4;
pub const LPT_TOPOLOGY_KIND_GRAPH: lpt_topology_kind = 5;

/// Algorithm of a schedule; one of lpt_schedule_algorithm_values.
pub type lpt_schedule_algorithm = i32;
pub const LPT_SCHEDULE_ALGORITHM_MULTITREE: lpt_schedule_algorithm = 0;
pub const LPT_SCHEDULE_ALGORITHM_RING: lpt_schedule_algorithm = 1;
pub const LPT_SCHEDULE_ALGORITHM_DOUBLE_TREE: lpt_schedule_algorithm = 2;
pub const LPT_SCHEDULE_ALGORITHM_HALVING: lpt_schedule_algorithm = 3;
pub const LPT_SCHEDULE_ALGORITHM_HIERARCHICAL: lpt_schedule_algorithm = 4;
pub const LPT_SCHEDULE_ALGORITHM_CUSTOM: lpt_schedule_algorithm = 5;

/// What the receiver of a send does; one of lpt_schedule_operation_values.
pub type lpt_schedule_operation = i32;
pub const LPT_SCHEDULE_OPERATION_ADD: lpt_schedule_operation = 0;
pub const LPT_SCHEDULE_OPERATION_COPY: lpt_schedule_operation = 1;

/// Method that counts masks; one of lpt_sparse_count_values.
pub type lpt_sparse_count = i32;
pub const LPT_SPARSE_COUNT_EXACT: lpt_sparse_count = 0;
pub const LPT_SPARSE_COUNT_PUBLISHED: lpt_sparse_count = 1;

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

impl Default for lpt_device_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_device_info.
        unsafe {
            let name = b"lpt_device_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_context_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_context_options.
        unsafe {
            let name = b"lpt_context_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_profile_entry {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_profile_entry.
        unsafe {
            let name = b"lpt_profile_entry\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_format_description {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_format_description.
        unsafe {
            let name = b"lpt_format_description\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_tensor_description {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_tensor_description.
        unsafe {
            let name = b"lpt_tensor_description\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_quantize_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_quantize_options.
        unsafe {
            let name = b"lpt_quantize_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_statistics_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_statistics_info.
        unsafe {
            let name = b"lpt_statistics_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_dequantize_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_dequantize_options.
        unsafe {
            let name = b"lpt_dequantize_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_hadamard_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_hadamard_options.
        unsafe {
            let name = b"lpt_hadamard_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_convert_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_convert_options.
        unsafe {
            let name = b"lpt_convert_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_scaler_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_scaler_options.
        unsafe {
            let name = b"lpt_scaler_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_scaler_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_scaler_info.
        unsafe {
            let name = b"lpt_scaler_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_sparse_fit_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_sparse_fit_options.
        unsafe {
            let name = b"lpt_sparse_fit_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_sparse_fit_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_sparse_fit_info.
        unsafe {
            let name = b"lpt_sparse_fit_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_calibration_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_calibration_options.
        unsafe {
            let name = b"lpt_calibration_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_calibration_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_calibration_info.
        unsafe {
            let name = b"lpt_calibration_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_weights_fit_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_weights_fit_options.
        unsafe {
            let name = b"lpt_weights_fit_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_weights_fit_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_weights_fit_info.
        unsafe {
            let name = b"lpt_weights_fit_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_format_choose_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_format_choose_info.
        unsafe {
            let name = b"lpt_format_choose_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_gemm_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_gemm_options.
        unsafe {
            let name = b"lpt_gemm_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_gemm_plan_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_gemm_plan_info.
        unsafe {
            let name = b"lpt_gemm_plan_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_gemm_operands {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_gemm_operands.
        unsafe {
            let name = b"lpt_gemm_operands\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_sparse_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_sparse_options.
        unsafe {
            let name = b"lpt_sparse_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_sparse_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_sparse_info.
        unsafe {
            let name = b"lpt_sparse_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_weights_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_weights_options.
        unsafe {
            let name = b"lpt_weights_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_rotary_scaling {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_rotary_scaling.
        unsafe {
            let name = b"lpt_rotary_scaling\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_rotary_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_rotary_options.
        unsafe {
            let name = b"lpt_rotary_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_attention_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_attention_options.
        unsafe {
            let name = b"lpt_attention_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_kv_cache_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_kv_cache_options.
        unsafe {
            let name = b"lpt_kv_cache_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_linear_gemm_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_linear_gemm_options.
        unsafe {
            let name = b"lpt_linear_gemm_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_linear_shape {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_linear_shape.
        unsafe {
            let name = b"lpt_linear_shape\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_linear_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_linear_options.
        unsafe {
            let name = b"lpt_linear_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_loss_scaler_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_loss_scaler_options.
        unsafe {
            let name = b"lpt_loss_scaler_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_loss_scaler_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_loss_scaler_info.
        unsafe {
            let name = b"lpt_loss_scaler_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_embedding_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_embedding_options.
        unsafe {
            let name = b"lpt_embedding_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_swiglu_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_swiglu_options.
        unsafe {
            let name = b"lpt_swiglu_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_rmsnorm_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_rmsnorm_options.
        unsafe {
            let name = b"lpt_rmsnorm_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_layernorm_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_layernorm_options.
        unsafe {
            let name = b"lpt_layernorm_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_softmax_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_softmax_options.
        unsafe {
            let name = b"lpt_softmax_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_cross_entropy_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_cross_entropy_options.
        unsafe {
            let name = b"lpt_cross_entropy_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_optimizer_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_optimizer_options.
        unsafe {
            let name = b"lpt_optimizer_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_optimizer_parameter {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_optimizer_parameter.
        unsafe {
            let name = b"lpt_optimizer_parameter\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_optimizer_step_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_optimizer_step_options.
        unsafe {
            let name = b"lpt_optimizer_step_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_optimizer_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_optimizer_info.
        unsafe {
            let name = b"lpt_optimizer_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_gradients_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_gradients_info.
        unsafe {
            let name = b"lpt_gradients_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_comm_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_comm_options.
        unsafe {
            let name = b"lpt_comm_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_comm_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_comm_info.
        unsafe {
            let name = b"lpt_comm_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_reduce_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_reduce_options.
        unsafe {
            let name = b"lpt_reduce_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_all_gather_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_all_gather_options.
        unsafe {
            let name = b"lpt_all_gather_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_comm_functions {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_comm_functions.
        unsafe {
            let name = b"lpt_comm_functions\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_gradient_buckets_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_gradient_buckets_options.
        unsafe {
            let name = b"lpt_gradient_buckets_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_gradient_buckets_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_gradient_buckets_info.
        unsafe {
            let name = b"lpt_gradient_buckets_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_optimizer_shard_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_optimizer_shard_options.
        unsafe {
            let name = b"lpt_optimizer_shard_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_partial_plan_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_partial_plan_options.
        unsafe {
            let name = b"lpt_partial_plan_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_partial_plan_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_partial_plan_info.
        unsafe {
            let name = b"lpt_partial_plan_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_sequence_attention_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_sequence_attention_options.
        unsafe {
            let name = b"lpt_sequence_attention_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_autopilot_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_autopilot_options.
        unsafe {
            let name = b"lpt_autopilot_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_autopilot_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_autopilot_info.
        unsafe {
            let name = b"lpt_autopilot_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_comm_codec {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_comm_codec.
        unsafe {
            let name = b"lpt_comm_codec\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_cost_link {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_cost_link.
        unsafe {
            let name = b"lpt_cost_link\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_cost_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_cost_info.
        unsafe {
            let name = b"lpt_cost_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_cost_cast_rates {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_cost_cast_rates.
        unsafe {
            let name = b"lpt_cost_cast_rates\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_delay_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_delay_options.
        unsafe {
            let name = b"lpt_delay_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_drop_compute_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_drop_compute_info.
        unsafe {
            let name = b"lpt_drop_compute_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_gemm_emulation {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_gemm_emulation.
        unsafe {
            let name = b"lpt_gemm_emulation\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_comm_emulation {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_comm_emulation.
        unsafe {
            let name = b"lpt_comm_emulation\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_exaq_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_exaq_options.
        unsafe {
            let name = b"lpt_exaq_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_lossy_link_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_lossy_link_options.
        unsafe {
            let name = b"lpt_lossy_link_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_lossy_link_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_lossy_link_info.
        unsafe {
            let name = b"lpt_lossy_link_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_lossy_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_lossy_info.
        unsafe {
            let name = b"lpt_lossy_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_noise_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_noise_options.
        unsafe {
            let name = b"lpt_noise_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_noise_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_noise_info.
        unsafe {
            let name = b"lpt_noise_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_swiglu_alignment_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_swiglu_alignment_info.
        unsafe {
            let name = b"lpt_swiglu_alignment_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_power_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_power_options.
        unsafe {
            let name = b"lpt_power_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_power_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_power_info.
        unsafe {
            let name = b"lpt_power_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_topology_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_topology_info.
        unsafe {
            let name = b"lpt_topology_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_schedule_options {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_schedule_options.
        unsafe {
            let name = b"lpt_schedule_options\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

impl Default for lpt_schedule_info {
    fn default() -> Self {
        let mut value = std::mem::MaybeUninit::<Self>::zeroed();
        // All members accept any bytes, so that zeros are a valid lpt_schedule_info.
        unsafe {
            let name = b"lpt_schedule_info\0".as_ptr().cast();
            lpt_struct_init(name, value.as_mut_ptr().cast(), std::mem::size_of::<Self>());
            value.assume_init()
        }
    }
}

extern "C" {
    /// Returns the release of the loaded library as a number.
    pub fn lpt_version() -> i32;
    /// Returns the release of the loaded library as text.
    pub fn lpt_version_string() -> *const c_char;
    /// Returns the level of the binary interface, which is the number in the library's SONAME.
    pub fn lpt_abi_level() -> i32;
    /// Returns how the library was built.
    pub fn lpt_build_info() -> *const c_char;
    /// Returns the name of a status.
    pub fn lpt_status_string(status: lpt_status) -> *const c_char;
    /// Writes the defaults of a struct that begins with `struct_size`, those of its macro LPT_…_INIT.
    pub fn lpt_struct_init(name: *const c_char, object: *mut c_void, struct_size: usize) -> i32;
    /// Describes a device and reports whether a context can work on it.
    pub fn lpt_device_describe(context: *mut lpt_context, device: lpt_device, index: i32, out_description: *mut lpt_device_info) -> lpt_status;
    /// Creates a context.
    pub fn lpt_context_create(options: *const lpt_context_options, out_context: *mut *mut lpt_context) -> lpt_status;
    /// Destroys a context and ends its threads.
    pub fn lpt_context_destroy(context: *mut lpt_context);
    /// Returns the error text of the last call with a context.
    pub fn lpt_context_error(context: *const lpt_context) -> *const c_char;
    /// Returns which kernels the last operation selected, and why it rejected others.
    pub fn lpt_context_explanation(context: *const lpt_context) -> *const c_char;
    /// Changes the number of threads of a context.
    pub fn lpt_context_set_threads(context: *mut lpt_context, thread_count: i32) -> lpt_status;
    /// Changes the highest instruction set that a context may use.
    pub fn lpt_context_set_isa(context: *mut lpt_context, isa: lpt_isa) -> lpt_status;
    /// Changes the stream on which a GPU context queues its work.
    pub fn lpt_context_set_stream(context: *mut lpt_context, stream: *mut c_void) -> lpt_status;
    /// Returns the stream on which a context queues its work.
    pub fn lpt_context_stream(context: *const lpt_context) -> *mut c_void;
    /// Makes later work of a context wait for the work that is queued on another stream so far.
    pub fn lpt_context_wait_stream(context: *mut lpt_context, stream: *mut c_void) -> lpt_status;
    /// Makes later work of another stream wait for the work that the context has queued so far.
    pub fn lpt_context_notify_stream(context: *mut lpt_context, stream: *mut c_void) -> lpt_status;
    /// Makes later work of a context wait for an event.
    pub fn lpt_context_wait_event(context: *mut lpt_context, event: *mut c_void) -> lpt_status;
    /// Records an event behind the work that the context has queued so far.
    pub fn lpt_context_record_event(context: *mut lpt_context, event: *mut c_void) -> lpt_status;
    /// Frees scratch memory of a context, of the CPU and of the GPU, until it holds no more than a number of bytes.
    pub fn lpt_context_trim(context: *mut lpt_context, keep_bytes: usize) -> lpt_status;
    /// Blocks until all work queued on the context's stream is complete.
    pub fn lpt_context_synchronize(context: *mut lpt_context) -> lpt_status;
    /// Changes the function that receives the log of a context, and its level.
    pub fn lpt_context_set_log(context: *mut lpt_context, level: lpt_log_level, log: lpt_log_function, log_user: *mut c_void) -> lpt_status;
    /// Sets a function that receives the progress of calls that may return LPT_CANCELLED, and may cancel them.
    pub fn lpt_context_set_progress(context: *mut lpt_context, progress: lpt_progress_function, progress_user: *mut c_void) -> lpt_status;
    /// Starts a new profile, or stops the current one.
    pub fn lpt_context_set_profile(context: *mut lpt_context, is_enabled: i32) -> lpt_status;
    /// Returns the number of profile entries, one per operation step and kernel.
    pub fn lpt_context_profile_count(context: *mut lpt_context, out_count: *mut i64) -> lpt_status;
    /// Returns one entry of the profile, the longest time first.
    pub fn lpt_context_profile_entry(context: *mut lpt_context, index: i64, out_entry: *mut lpt_profile_entry) -> lpt_status;
    /// Writes the first 100 000 kernel runs of the profile as a Chrome trace (JSON).
    pub fn lpt_context_profile_save(context: *mut lpt_context, path: *const c_char) -> lpt_status;
    /// Returns the format of a description.
    pub fn lpt_format_from_description(context: *mut lpt_context, description: *const lpt_format_description, out_format: *mut lpt_format) -> lpt_status;
    /// Returns the format of a name.
    pub fn lpt_format_from_name(context: *mut lpt_context, name: *const c_char, out_format: *mut lpt_format) -> lpt_status;
    /// Writes the name of a format, which lpt_format_from_name() reads.
    pub fn lpt_format_write_name(context: *mut lpt_context, format: lpt_format, buffer: *mut c_char, buffer_bytes: usize, out_needed_bytes: *mut usize) -> lpt_status;
    /// Returns the parts of a format.
    pub fn lpt_format_describe(context: *mut lpt_context, format: lpt_format, out_description: *mut lpt_format_description) -> lpt_status;
    /// Writes a text of several lines that explains the bytes of a format.
    pub fn lpt_format_write_text(context: *mut lpt_context, format: lpt_format, buffer: *mut c_char, buffer_bytes: usize, out_needed_bytes: *mut usize) -> lpt_status;
    /// Returns the number of formats in lpt_format_values that tensors can have.
    pub fn lpt_format_count() -> i64;
    /// Returns a format of lpt_format_values, in the order of their numbers.
    pub fn lpt_format_at(index: i64) -> lpt_format;
    /// Returns the name of a format of lpt_format_values.
    pub fn lpt_format_name(format: lpt_format) -> *const c_char;
    /// Creates a tensor whose elements are zero, whose scales are 1, and whose zero points are 0.
    pub fn lpt_tensor_create(context: *mut lpt_context, format: lpt_format, rank: i32, extents: *const i64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a matrix whose elements are zero, as lpt_tensor_create() with rank 2.
    pub fn lpt_tensor_create_matrix(context: *mut lpt_context, format: lpt_format, rows: i64, columns: i64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a tensor in memory of the caller.
    pub fn lpt_tensor_wrap(context: *mut lpt_context, description: *const lpt_tensor_description, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a matrix in memory of the caller.
    pub fn lpt_tensor_wrap_matrix(context: *mut lpt_context, format: lpt_format, data: *mut c_void, rows: i64, columns: i64, row_stride: i64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a read-only matrix in memory of the caller, as lpt_tensor_wrap_matrix() with LPT_TENSOR_READ_ONLY.
    pub fn lpt_tensor_wrap_const_matrix(context: *mut lpt_context, format: lpt_format, data: *const c_void, rows: i64, columns: i64, row_stride: i64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a tensor of a range of each axis of another tensor.
    pub fn lpt_tensor_view(context: *mut lpt_context, tensor: *const lpt_tensor, begins: *const i64, extents: *const i64, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a tensor of one part of another tensor: its elements, its scales, its zero points or its indices.
    pub fn lpt_tensor_view_part(context: *mut lpt_context, tensor: *const lpt_tensor, part: lpt_tensor_part, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a matrix from its parts; the inverse of lpt_tensor_view_part().
    pub fn lpt_tensor_combine(context: *mut lpt_context, format: lpt_format, rows: i64, columns: i64, parts: *const *const lpt_tensor, part_count: i32, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Returns the format, memory and shape of a tensor.
    pub fn lpt_tensor_describe(context: *mut lpt_context, tensor: *const lpt_tensor, out_description: *mut lpt_tensor_description) -> lpt_status;
    /// Returns the format of a tensor.
    pub fn lpt_tensor_format(tensor: *const lpt_tensor) -> lpt_format;
    /// Returns the number of axes of a tensor.
    pub fn lpt_tensor_rank(tensor: *const lpt_tensor) -> i32;
    /// Returns the extent of one axis of a tensor.
    pub fn lpt_tensor_extent(tensor: *const lpt_tensor, axis: i32) -> i64;
    /// Returns the stride of one axis of a tensor.
    pub fn lpt_tensor_stride(tensor: *const lpt_tensor, axis: i32) -> i64;
    /// Returns the memory of the elements of a tensor, for writing.
    pub fn lpt_tensor_data(tensor: *mut lpt_tensor) -> *mut c_void;
    /// Returns the memory of the elements of a tensor, for reading.
    pub fn lpt_tensor_const_data(tensor: *const lpt_tensor) -> *const c_void;
    /// Returns the device of a tensor.
    pub fn lpt_tensor_device(tensor: *const lpt_tensor, out_index: *mut i32) -> lpt_device;
    /// Returns the number of bytes that the elements, scales and other parts of a tensor take.
    pub fn lpt_tensor_size(context: *mut lpt_context, tensor: *const lpt_tensor, out_size_bytes: *mut usize) -> lpt_status;
    /// Copies a tensor with all its parts between devices or within one.
    pub fn lpt_tensor_copy(context: *mut lpt_context, source: *const lpt_tensor, target: *mut lpt_tensor) -> lpt_status;
    /// Destroys a tensor.
    pub fn lpt_tensor_destroy(tensor: *mut lpt_tensor);
    /// Creates a tensor in memory that another library describes by DLPack 1.x, without a copy.
    pub fn lpt_tensor_from_dlpack(context: *mut lpt_context, managed: *const c_void, is_versioned: i32, out_flags: *mut lpt_flags, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a tensor as lpt_tensor_from_dlpack() does, and takes the ownership of the DLPack struct.
    pub fn lpt_tensor_take_dlpack(context: *mut lpt_context, managed: *mut c_void, is_versioned: i32, out_flags: *mut lpt_flags, out_tensor: *mut *mut lpt_tensor) -> lpt_status;
    /// Creates a DLPack struct that describes a tensor for another library, without a copy.
    pub fn lpt_tensor_to_dlpack(context: *mut lpt_context, tensor: *const lpt_tensor, is_versioned: i32, out_managed: *mut *mut c_void) -> lpt_status;
    /// Returns the number of bytes that a tensor takes in a foreign layout.
    pub fn lpt_foreign_layout_size(context: *mut lpt_context, tensor: *const lpt_tensor, layout: lpt_foreign_layout, out_size_bytes: *mut usize) -> lpt_status;
    /// Writes a tensor in a foreign layout.
    pub fn lpt_foreign_layout_export(context: *mut lpt_context, tensor: *const lpt_tensor, layout: lpt_foreign_layout, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Reads a tensor from a foreign layout.
    pub fn lpt_foreign_layout_import(context: *mut lpt_context, buffer: *const c_void, buffer_bytes: usize, layout: lpt_foreign_layout, tensor: *mut lpt_tensor) -> lpt_status;
    /// Casts a matrix to another format, computes the scales of that format, and optionally transposes it.
    pub fn lpt_quantize(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_quantize_options, quantized: *mut lpt_tensor, transposed: *mut lpt_tensor) -> lpt_status;
    /// Casts a matrix to a format and back to a wide float.
    pub fn lpt_fake_quantize(context: *mut lpt_context, source: *const lpt_tensor, format: lpt_format, options: *const lpt_quantize_options, output: *mut lpt_tensor) -> lpt_status;
    /// Creates statistics of casts; all sums are zero.
    pub fn lpt_statistics_create(context: *mut lpt_context, out_statistics: *mut *mut lpt_statistics) -> lpt_status;
    /// Destroys statistics.
    pub fn lpt_statistics_destroy(statistics: *mut lpt_statistics);
    /// Returns the sums of statistics.
    pub fn lpt_statistics_read(context: *mut lpt_context, statistics: *const lpt_statistics, out_info: *mut lpt_statistics_info) -> lpt_status;
    /// Sets all sums of statistics to zero.
    pub fn lpt_statistics_reset(context: *mut lpt_context, statistics: *mut lpt_statistics) -> lpt_status;
    /// Decodes a matrix to a wide float: (element - zero point) · (block scale · tensor scale).
    pub fn lpt_dequantize(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_dequantize_options, output: *mut lpt_tensor) -> lpt_status;
    /// Rotates each group of columns by a Hadamard matrix.
    pub fn lpt_hadamard(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_hadamard_options, output: *mut lpt_tensor) -> lpt_status;
    /// Draws random signs for lpt_hadamard().
    pub fn lpt_hadamard_draw_signs(context: *mut lpt_context, random: *const lpt_random, signs: *mut lpt_tensor) -> lpt_status;
    /// Converts codes between similar FP8 elements without a new amax.
    pub fn lpt_convert(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_convert_options, output: *mut lpt_tensor) -> lpt_status;
    /// Creates a scaler, which records the amax of the casts of one site.
    pub fn lpt_scaler_create(context: *mut lpt_context, options: *const lpt_scaler_options, out_scaler: *mut *mut lpt_scaler) -> lpt_status;
    /// Destroys a scaler.
    pub fn lpt_scaler_destroy(scaler: *mut lpt_scaler);
    /// Completes an optimizer step: moves the running maximum of each scaler into its history.
    pub fn lpt_scaler_update(context: *mut lpt_context, scalers: *const *mut lpt_scaler, scaler_count: i64) -> lpt_status;
    /// Returns the state of a scaler.
    pub fn lpt_scaler_read(context: *mut lpt_context, scaler: *const lpt_scaler, out_info: *mut lpt_scaler_info) -> lpt_status;
    /// Returns the number of bytes that lpt_scaler_state_save() writes.
    pub fn lpt_scaler_state_size(context: *mut lpt_context, scaler: *const lpt_scaler, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves the state of a scaler.
    pub fn lpt_scaler_state_save(context: *mut lpt_context, scaler: *const lpt_scaler, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Replaces the state of a scaler by a saved one.
    pub fn lpt_scaler_state_load(context: *mut lpt_context, scaler: *mut lpt_scaler, buffer: *const c_void, buffer_bytes: usize) -> lpt_status;
    /// Fits a masked weight to the outputs of the dense weight, without training.
    pub fn lpt_sparse_fit(context: *mut lpt_context, weight: *const lpt_tensor, mask: *const lpt_tensor, inputs: *const lpt_tensor, options: *const lpt_sparse_fit_options, output: *mut lpt_tensor, bias_change: *mut lpt_tensor, out_info: *mut lpt_sparse_fit_info) -> lpt_status;
    /// Creates empty statistics of the inputs of a layer.
    pub fn lpt_calibration_create(context: *mut lpt_context, columns: i64, options: *const lpt_calibration_options, out_calibration: *mut *mut lpt_calibration) -> lpt_status;
    /// Destroys statistics of calibration.
    pub fn lpt_calibration_destroy(calibration: *mut lpt_calibration);
    /// Adds a batch of inputs.
    pub fn lpt_calibration_add(context: *mut lpt_context, calibration: *mut lpt_calibration, inputs: *const lpt_tensor, reference: *const lpt_tensor) -> lpt_status;
    /// Replaces the statistics of each rank by those of the inputs of all ranks.
    pub fn lpt_calibration_all_reduce(context: *mut lpt_context, comm: *mut lpt_comm, calibration: *mut lpt_calibration) -> lpt_status;
    /// Writes a matrix or a vector of statistics.
    pub fn lpt_calibration_read(context: *mut lpt_context, calibration: *const lpt_calibration, value: lpt_calibration_value, output: *mut lpt_tensor) -> lpt_status;
    /// Returns statistics over all columns.
    pub fn lpt_calibration_describe(context: *mut lpt_context, calibration: *const lpt_calibration, out_info: *mut lpt_calibration_info) -> lpt_status;
    /// Returns a magnitude that a share of the elements does not exceed.
    pub fn lpt_calibration_percentile(context: *mut lpt_context, calibration: *const lpt_calibration, share: f64, out_magnitude: *mut f64) -> lpt_status;
    /// Quantizes the weight of a linear layer so that its outputs for calibration data change little.
    pub fn lpt_weights_fit(context: *mut lpt_context, weight: *const lpt_tensor, gram: *const lpt_tensor, options: *const lpt_weights_fit_options, output: *mut lpt_tensor, input_factors: *mut lpt_tensor, bias_change: *mut lpt_tensor, out_info: *mut lpt_weights_fit_info) -> lpt_status;
    /// Chooses one of several formats for each tensor: the smallest sum of errors within a budget of bytes.
    pub fn lpt_format_choose(context: *mut lpt_context, errors: *const f64, bytes: *const i64, tensor_count: i64, candidate_count: i64, budget_bytes: i64, out_choices: *mut i64, out_info: *mut lpt_format_choose_info) -> lpt_status;
    /// Multiplies two matrices, or two batches of matrices, of any formats.
    pub fn lpt_gemm(context: *mut lpt_context, a: *const lpt_tensor, b: *const lpt_tensor, options: *const lpt_gemm_options, c: *mut lpt_tensor) -> lpt_status;
    /// Multiplies groups of rows, each by its own matrix, as in a mixture of experts.
    pub fn lpt_gemm_grouped(context: *mut lpt_context, a: *const lpt_tensor, b: *const lpt_tensor, group_ends: *const lpt_tensor, options: *const lpt_gemm_options, c: *mut lpt_tensor) -> lpt_status;
    /// Checks a GEMM and selects its kernel once for many calls.
    pub fn lpt_gemm_plan_create(context: *mut lpt_context, a: *const lpt_tensor, b: *const lpt_tensor, options: *const lpt_gemm_options, c: *const lpt_tensor, out_plan: *mut *mut lpt_gemm_plan) -> lpt_status;
    /// Multiplies matrices by a plan.
    pub fn lpt_gemm_plan_run(context: *mut lpt_context, plan: *const lpt_gemm_plan, a: *const lpt_tensor, b: *const lpt_tensor, operands: *const lpt_gemm_operands, c: *mut lpt_tensor) -> lpt_status;
    /// Returns the properties of a plan.
    pub fn lpt_gemm_plan_read(context: *mut lpt_context, plan: *const lpt_gemm_plan, out_info: *mut lpt_gemm_plan_info) -> lpt_status;
    /// Destroys a plan.
    pub fn lpt_gemm_plan_destroy(plan: *mut lpt_gemm_plan);
    /// Selects N of every M elements, and writes the mask and the masked matrix.
    pub fn lpt_sparse_mask_select(context: *mut lpt_context, source: *const lpt_tensor, options: *const lpt_sparse_options, mask: *mut lpt_tensor, masked: *mut lpt_tensor, out_info: *mut lpt_sparse_info) -> lpt_status;
    /// Counts the groups of a mask that keep more than N of M elements.
    pub fn lpt_sparse_mask_check(context: *mut lpt_context, mask: *const lpt_tensor, kept: i32, of: i32, direction: lpt_sparse_direction, out_count: *mut i64) -> lpt_status;
    /// Counts the elements in which two masks differ: the flips since the last selection.
    pub fn lpt_sparse_mask_compare(context: *mut lpt_context, mask: *const lpt_tensor, other: *const lpt_tensor, out_count: *mut i64) -> lpt_status;
    /// Applies a mask: output = source where the mask is not 0, else 0.
    pub fn lpt_sparse_mask_apply(context: *mut lpt_context, source: *const lpt_tensor, mask: *const lpt_tensor, output: *mut lpt_tensor) -> lpt_status;
    /// Adds masked decay: gradient += rate · weight where the mask is 0.
    pub fn lpt_sparse_mask_decay(context: *mut lpt_context, weight: *const lpt_tensor, mask: *const lpt_tensor, rate: f64, gradient: *mut lpt_tensor) -> lpt_status;
    /// Compresses a 2:4 matrix: stores the two kept columns of every four, and their indices.
    pub fn lpt_sparse_compress(context: *mut lpt_context, source: *const lpt_tensor, mask: *const lpt_tensor, compressed: *mut lpt_tensor, transposed: *mut lpt_tensor) -> lpt_status;
    /// Decompresses a 2:4 matrix: the inverse of lpt_sparse_compress(), with zeros where nothing is stored.
    pub fn lpt_sparse_decompress(context: *mut lpt_context, compressed: *const lpt_tensor, output: *mut lpt_tensor) -> lpt_status;
    /// Packs weights once for many GEMMs: the same codes and scales in the order that kernels read.
    pub fn lpt_weights_pack(context: *mut lpt_context, weights: *const lpt_tensor, options: *const lpt_weights_options, out_packed: *mut *mut lpt_tensor) -> lpt_status;
    /// Finds an order of the rows of weights for which fewer tiles have elements that are not zero.
    pub fn lpt_weights_order(context: *mut lpt_context, weights: *const lpt_tensor, options: *const lpt_weights_options, order: *mut i32, out_given_count: *mut i64, out_count: *mut i64) -> lpt_status;
    /// Writes packed weights as rows, in their packed order.
    pub fn lpt_weights_unpack(context: *mut lpt_context, packed: *const lpt_tensor, weights: *mut lpt_tensor) -> lpt_status;
    /// Returns the number of bytes that lpt_weights_state_save() writes.
    pub fn lpt_weights_state_size(context: *mut lpt_context, packed: *const lpt_tensor, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves packed weights.
    pub fn lpt_weights_state_save(context: *mut lpt_context, packed: *const lpt_tensor, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Creates packed weights from a saved state.
    pub fn lpt_weights_state_load(context: *mut lpt_context, buffer: *const c_void, buffer_bytes: usize, out_packed: *mut *mut lpt_tensor) -> lpt_status;
    /// Computes the frequencies of a rotary position embedding, in radians per position.
    pub fn lpt_rotary_frequencies(context: *mut lpt_context, options: *const lpt_rotary_scaling, frequencies: *mut lpt_tensor) -> lpt_status;
    /// Rotates pairs of columns of queries or keys by position · frequency (rotary position embedding).
    pub fn lpt_rotary(context: *mut lpt_context, input: *const lpt_tensor, frequencies: *const lpt_tensor, options: *const lpt_rotary_options, output: *mut lpt_tensor) -> lpt_status;
    /// Computes scaled dot-product attention: output = softmax(scale · query · key^T + mask) · value, for every head.
    pub fn lpt_attention_forward(context: *mut lpt_context, query: *const lpt_tensor, key: *const lpt_tensor, value: *const lpt_tensor, options: *const lpt_attention_options, output: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradients of lpt_attention_forward() for query, key and value.
    pub fn lpt_attention_backward(context: *mut lpt_context, query: *const lpt_tensor, key: *const lpt_tensor, value: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_attention_options, query_gradient: *mut lpt_tensor, key_gradient: *mut lpt_tensor, value_gradient: *mut lpt_tensor) -> lpt_status;
    /// Creates an empty store of keys and values.
    pub fn lpt_kv_cache_create(context: *mut lpt_context, options: *const lpt_kv_cache_options, out_cache: *mut *mut lpt_kv_cache) -> lpt_status;
    /// Destroys a store of keys and values.
    pub fn lpt_kv_cache_destroy(cache: *mut lpt_kv_cache);
    /// Casts keys and values to the formats of the cache, and appends them to its batches.
    pub fn lpt_kv_cache_append(context: *mut lpt_context, cache: *mut lpt_kv_cache, keys: *const lpt_tensor, values: *const lpt_tensor, counts: *const lpt_tensor) -> lpt_status;
    /// Drops the last positions of batches, as speculative decoding does with tokens that are not accepted.
    pub fn lpt_kv_cache_truncate(context: *mut lpt_context, cache: *mut lpt_kv_cache, lengths: *const lpt_tensor) -> lpt_status;
    /// Replaces each batch by a copy of a batch, as beam search does with the beams that continue.
    pub fn lpt_kv_cache_select(context: *mut lpt_context, cache: *mut lpt_kv_cache, batches: *const lpt_tensor) -> lpt_status;
    /// Creates tensors of the memory of a cache: operands of lpt_attention_forward().
    pub fn lpt_kv_cache_view(context: *mut lpt_context, cache: *const lpt_kv_cache, out_keys: *mut *mut lpt_tensor, out_values: *mut *mut lpt_tensor, out_lengths: *mut *mut lpt_tensor) -> lpt_status;
    /// Returns the number of bytes of the keys and values of all positions up to the capacity, with their scales.
    pub fn lpt_kv_cache_size(context: *mut lpt_context, cache: *const lpt_kv_cache, out_size_bytes: *mut usize) -> lpt_status;
    /// Creates a recipe by name.
    pub fn lpt_recipe_create(context: *mut lpt_context, name: *const c_char, out_recipe: *mut *mut lpt_recipe) -> lpt_status;
    /// Returns the number of recipes that lpt_recipe_create() supports.
    pub fn lpt_recipe_count() -> i64;
    /// Returns the name of a recipe that lpt_recipe_create() supports.
    pub fn lpt_recipe_name(index: i64) -> *const c_char;
    /// Destroys a recipe; layers that were created with it stay valid.
    pub fn lpt_recipe_destroy(recipe: *mut lpt_recipe);
    /// Changes one cast of a recipe; existing layers keep theirs.
    pub fn lpt_recipe_set_cast(context: *mut lpt_context, recipe: *mut lpt_recipe, cast: lpt_linear_cast, format: lpt_format, options: *const lpt_quantize_options) -> lpt_status;
    /// Changes the source of the tensor scales of one operand; existing layers keep theirs.
    pub fn lpt_recipe_set_scaler(context: *mut lpt_context, recipe: *mut lpt_recipe, operand: lpt_linear_operand, options: *const lpt_scaler_options) -> lpt_status;
    /// Returns the format of one cast of a recipe.
    pub fn lpt_recipe_cast_format(context: *mut lpt_context, recipe: *const lpt_recipe, cast: lpt_linear_cast, out_format: *mut lpt_format) -> lpt_status;
    /// Changes the options of one GEMM of a recipe; existing layers keep theirs.
    pub fn lpt_recipe_set_gemm(context: *mut lpt_context, recipe: *mut lpt_recipe, product: lpt_linear_gemm, options: *const lpt_linear_gemm_options) -> lpt_status;
    /// Sets both operands of one GEMM to a high precision, for quantization-aware fine-tuning.
    pub fn lpt_recipe_set_high_precision(context: *mut lpt_context, recipe: *mut lpt_recipe, product: lpt_linear_gemm, format: lpt_format) -> lpt_status;
    /// Makes one operand of a recipe sparse: N of every M elements are kept, before rotation and cast.
    pub fn lpt_recipe_set_sparsity(context: *mut lpt_context, recipe: *mut lpt_recipe, operand: lpt_linear_operand, interval: i32, options: *const lpt_sparse_options) -> lpt_status;
    /// Creates a linear layer, which owns its scalers and the casts of its weight, not the weight.
    pub fn lpt_linear_create(context: *mut lpt_context, recipe: *const lpt_recipe, shape: *const lpt_linear_shape, out_linear: *mut *mut lpt_linear) -> lpt_status;
    /// Destroys a linear layer.
    pub fn lpt_linear_destroy(linear: *mut lpt_linear);
    /// Sets the recipe of a layer, from its next lpt_linear_prepare() on.
    pub fn lpt_linear_set_recipe(context: *mut lpt_context, linear: *mut lpt_linear, recipe: *const lpt_recipe) -> lpt_status;
    /// Casts the weight for the forward and backward GEMMs; call it after every change of the weight.
    pub fn lpt_linear_prepare(context: *mut lpt_context, linear: *mut lpt_linear, weight: *const lpt_tensor, options: *const lpt_linear_options) -> lpt_status;
    /// Returns the number of bytes that lpt_linear_forward() saves for backward.
    pub fn lpt_linear_saved_size(context: *mut lpt_context, linear: *const lpt_linear, rows: i64, out_size_bytes: *mut usize) -> lpt_status;
    /// Returns the number of bytes of the weight's casts, with masks.
    pub fn lpt_linear_cast_size(context: *mut lpt_context, linear: *const lpt_linear, out_size_bytes: *mut usize) -> lpt_status;
    /// Computes y = x · wᵀ + bias, and saves the data that backward needs.
    pub fn lpt_linear_forward(context: *mut lpt_context, linear: *mut lpt_linear, input: *const lpt_tensor, options: *const lpt_linear_options, saved: *mut lpt_tensor, output: *mut lpt_tensor) -> lpt_status;
    /// Computes dx = dy · w, dw = dyᵀ · x and db = the column sums of dy, each one if its output is given.
    pub fn lpt_linear_backward(context: *mut lpt_context, linear: *mut lpt_linear, saved: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_linear_options, input_gradient: *mut lpt_tensor, weight_gradient: *mut lpt_tensor, bias_gradient: *mut lpt_tensor) -> lpt_status;
    /// Sets the recorded amax of the scalers of many layers to the maximum over ranks, in one message.
    pub fn lpt_linear_share_amax(context: *mut lpt_context, comm: *mut lpt_comm, linears: *const *mut lpt_linear, linear_count: i64) -> lpt_status;
    /// Completes an optimizer step for the scalers of many layers; see lpt_scaler_update().
    pub fn lpt_linear_update_scalers(context: *mut lpt_context, linears: *const *mut lpt_linear, linear_count: i64) -> lpt_status;
    /// Reads the state of one scaler of a layer.
    pub fn lpt_linear_scaler_read(context: *mut lpt_context, linear: *const lpt_linear, operand: lpt_linear_operand, out_info: *mut lpt_scaler_info) -> lpt_status;
    /// Reads the mask that the last lpt_linear_prepare() selected for the weight of a layer.
    pub fn lpt_linear_mask_read(context: *mut lpt_context, linear: *const lpt_linear, mask: *mut lpt_tensor) -> lpt_status;
    /// Starts or stops the collection of statistics of the casts of a layer.
    pub fn lpt_linear_watch(context: *mut lpt_context, linear: *mut lpt_linear, is_watched: i32) -> lpt_status;
    /// Reads the statistics of one cast of a watched layer since lpt_linear_watch().
    pub fn lpt_linear_cast_read(context: *mut lpt_context, linear: *const lpt_linear, cast: lpt_linear_cast, out_info: *mut lpt_statistics_info) -> lpt_status;
    /// Returns the number of bytes that lpt_linear_state_save() writes.
    pub fn lpt_linear_state_size(context: *mut lpt_context, linear: *const lpt_linear, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves the scalers of a layer, and the mask of a sparse weight.
    pub fn lpt_linear_state_save(context: *mut lpt_context, linear: *const lpt_linear, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Restores the scalers of a layer, and the mask of a sparse weight.
    pub fn lpt_linear_state_load(context: *mut lpt_context, linear: *mut lpt_linear, buffer: *const c_void, buffer_bytes: usize) -> lpt_status;
    /// Creates a loss scaler.
    pub fn lpt_loss_scaler_create(context: *mut lpt_context, options: *const lpt_loss_scaler_options, out_loss_scaler: *mut *mut lpt_loss_scaler) -> lpt_status;
    /// Destroys a loss scaler.
    pub fn lpt_loss_scaler_destroy(loss_scaler: *mut lpt_loss_scaler);
    /// Updates the scale after the steps of all optimizers and parameter groups.
    pub fn lpt_loss_scaler_update(context: *mut lpt_context, loss_scaler: *mut lpt_loss_scaler) -> lpt_status;
    /// Reads the scale and the counts.
    pub fn lpt_loss_scaler_read(context: *mut lpt_context, loss_scaler: *const lpt_loss_scaler, out_info: *mut lpt_loss_scaler_info) -> lpt_status;
    /// Returns the number of bytes that lpt_loss_scaler_state_save() writes.
    pub fn lpt_loss_scaler_state_size(context: *mut lpt_context, loss_scaler: *const lpt_loss_scaler, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves the scale and the counts: portable, versioned, with a checksum.
    pub fn lpt_loss_scaler_state_save(context: *mut lpt_context, loss_scaler: *const lpt_loss_scaler, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Replaces the scale and the counts by saved ones.
    pub fn lpt_loss_scaler_state_load(context: *mut lpt_context, loss_scaler: *mut lpt_loss_scaler, buffer: *const c_void, buffer_bytes: usize) -> lpt_status;
    /// Looks up rows of a table: row r of `output` is row indices\[r\] of `weight`.
    pub fn lpt_embedding_forward(context: *mut lpt_context, weight: *const lpt_tensor, indices: *const lpt_tensor, options: *const lpt_embedding_options, output: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradient of the table of lpt_embedding_forward().
    pub fn lpt_embedding_backward(context: *mut lpt_context, indices: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_embedding_options, weight_gradient: *mut lpt_tensor) -> lpt_status;
    /// Computes output = silu(gate) · up, where silu(x) = x / (1 + exp(-x)).
    pub fn lpt_swiglu_forward(context: *mut lpt_context, gate: *const lpt_tensor, up: *const lpt_tensor, options: *const lpt_swiglu_options, output: *mut lpt_tensor, smoothing: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradients of lpt_swiglu_forward(); factors of smoothing are constants without a gradient.
    pub fn lpt_swiglu_backward(context: *mut lpt_context, gate: *const lpt_tensor, up: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_swiglu_options, gate_gradient: *mut lpt_tensor, up_gradient: *mut lpt_tensor) -> lpt_status;
    /// Computes output = input · r · weight, where r = 1 / sqrt(mean of input² over the row + epsilon).
    pub fn lpt_rmsnorm_forward(context: *mut lpt_context, input: *const lpt_tensor, weight: *const lpt_tensor, options: *const lpt_rmsnorm_options, output: *mut lpt_tensor, inverse_rms: *mut lpt_tensor) -> lpt_status;
    /// Computes sum = residual + branch, then the RMSNorm of the sum, row by row.
    pub fn lpt_rmsnorm_forward_sum(context: *mut lpt_context, residual: *const lpt_tensor, branch: *const lpt_tensor, weight: *const lpt_tensor, options: *const lpt_rmsnorm_options, sum: *mut lpt_tensor, output: *mut lpt_tensor, inverse_rms: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradients of lpt_rmsnorm_forward().
    pub fn lpt_rmsnorm_backward(context: *mut lpt_context, input: *const lpt_tensor, weight: *const lpt_tensor, inverse_rms: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_rmsnorm_options, input_gradient: *mut lpt_tensor, weight_gradient: *mut lpt_tensor) -> lpt_status;
    /// Computes output = (input - m) · r · weight + bias, with the mean m and r = 1 / sqrt(variance + epsilon) of the row.
    pub fn lpt_layernorm_forward(context: *mut lpt_context, input: *const lpt_tensor, weight: *const lpt_tensor, bias: *const lpt_tensor, options: *const lpt_layernorm_options, output: *mut lpt_tensor, mean: *mut lpt_tensor, inverse_deviation: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradients of lpt_layernorm_forward().
    pub fn lpt_layernorm_backward(context: *mut lpt_context, input: *const lpt_tensor, weight: *const lpt_tensor, mean: *const lpt_tensor, inverse_deviation: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_layernorm_options, input_gradient: *mut lpt_tensor, weight_gradient: *mut lpt_tensor, bias_gradient: *mut lpt_tensor) -> lpt_status;
    /// Computes output = exp(scale · input - max) / sum along the last axis.
    pub fn lpt_softmax_forward(context: *mut lpt_context, input: *const lpt_tensor, options: *const lpt_softmax_options, output: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradient of lpt_softmax_forward(): scale · y · (dy - sum(y · dy)), where y is `output`.
    pub fn lpt_softmax_backward(context: *mut lpt_context, output: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_softmax_options, input_gradient: *mut lpt_tensor) -> lpt_status;
    /// Computes the loss -log softmax(logits)\[target\] of every row, in nats; ranks may share the classes.
    pub fn lpt_cross_entropy_forward(context: *mut lpt_context, logits: *const lpt_tensor, targets: *const lpt_tensor, options: *const lpt_cross_entropy_options, loss: *mut lpt_tensor, log_sums: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradient of lpt_cross_entropy_forward() for the logits of this rank.
    pub fn lpt_cross_entropy_backward(context: *mut lpt_context, logits: *const lpt_tensor, targets: *const lpt_tensor, log_sums: *const lpt_tensor, loss_gradient: *const lpt_tensor, options: *const lpt_cross_entropy_options, logits_gradient: *mut lpt_tensor) -> lpt_status;
    /// Creates an optimizer without parameters.
    pub fn lpt_optimizer_create(context: *mut lpt_context, options: *const lpt_optimizer_options, out_optimizer: *mut *mut lpt_optimizer) -> lpt_status;
    /// Destroys an optimizer and its state.
    pub fn lpt_optimizer_destroy(optimizer: *mut lpt_optimizer);
    /// Stores the state of an optimizer in mapped files, for state larger than memory.
    pub fn lpt_optimizer_set_directory(context: *mut lpt_context, optimizer: *mut lpt_optimizer, directory: *const c_char, resident_bytes: usize) -> lpt_status;
    /// Adds a parameter with zero moments.
    pub fn lpt_optimizer_add(context: *mut lpt_context, optimizer: *mut lpt_optimizer, name: *const c_char, parameter: *const lpt_optimizer_parameter, out_index: *mut i64) -> lpt_status;
    /// Finds a parameter by its name.
    pub fn lpt_optimizer_find(context: *mut lpt_context, optimizer: *const lpt_optimizer, name: *const c_char, out_index: *mut i64) -> lpt_status;
    /// Steps many parameters.
    pub fn lpt_optimizer_step(context: *mut lpt_context, optimizer: *mut lpt_optimizer, indices: *const i64, count: i64, gradients: *const *const lpt_tensor, options: *const lpt_optimizer_step_options, parameters: *const *mut lpt_tensor) -> lpt_status;
    /// Reads the result of the last step.
    pub fn lpt_optimizer_read(context: *mut lpt_context, optimizer: *const lpt_optimizer, out_info: *mut lpt_optimizer_info) -> lpt_status;
    /// Computes the sum of squares of many gradients in f64, and counts elements that are not finite.
    pub fn lpt_gradients_measure(context: *mut lpt_context, gradients: *const *const lpt_tensor, count: i64, out_info: *mut lpt_gradients_info) -> lpt_status;
    /// Returns the number of bytes of the state of all parameters, with scales, in memory or in files.
    pub fn lpt_optimizer_size(context: *mut lpt_context, optimizer: *const lpt_optimizer, out_size_bytes: *mut usize) -> lpt_status;
    /// Returns the number of bytes that lpt_optimizer_state_save() writes for one parameter.
    pub fn lpt_optimizer_state_size(context: *mut lpt_context, optimizer: *const lpt_optimizer, index: i64, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves the state of one parameter: portable, versioned, with a checksum.
    pub fn lpt_optimizer_state_save(context: *mut lpt_context, optimizer: *const lpt_optimizer, index: i64, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Restores the state of one parameter.
    pub fn lpt_optimizer_state_load(context: *mut lpt_context, optimizer: *mut lpt_optimizer, index: i64, buffer: *const c_void, buffer_bytes: usize) -> lpt_status;
    /// Restores the state of one parameter, or of a shard, from saved shards with other cuts.
    pub fn lpt_optimizer_state_load_many(context: *mut lpt_context, optimizer: *mut lpt_optimizer, index: i64, buffers: *const *const c_void, buffer_bytes: *const usize, count: i64) -> lpt_status;
    /// Creates a group of ranks that are threads of one process.
    pub fn lpt_comm_group_create(context: *mut lpt_context, rank_count: i32, out_group: *mut *mut lpt_comm_group) -> lpt_status;
    /// Aborts all calls of all ranks of a group, current and later ones; they return LPT_ABORTED.
    pub fn lpt_comm_group_abort(group: *mut lpt_comm_group);
    /// Destroys a group; comms that were created with it stay valid.
    pub fn lpt_comm_group_destroy(group: *mut lpt_comm_group);
    /// Creates the comm of one rank of a group; returns after all ranks have called it.
    pub fn lpt_comm_create_local(context: *mut lpt_context, group: *mut lpt_comm_group, rank: i32, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Creates the comm of one process of an MPI job; returns after all of its processes have called it.
    pub fn lpt_comm_create_mpi(context: *mut lpt_context, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Creates the comm of one process from an MPI communicator; returns after all of its processes have called it.
    pub fn lpt_comm_adopt_mpi(context: *mut lpt_context, fortran_handle: i32, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Creates the comm of a rank with a GPU, which sends data by NCCL; returns after all ranks have called it.
    pub fn lpt_comm_create_nccl(context: *mut lpt_context, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Creates the comm of a rank with a GPU from an NCCL communicator.
    pub fn lpt_comm_adopt_nccl(context: *mut lpt_context, nccl_comm: *mut c_void, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Creates comms of subsets of ranks: ranks with the same color share one.
    pub fn lpt_comm_split(context: *mut lpt_context, comm: *mut lpt_comm, color: i32, key: i32, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Destroys a comm.
    pub fn lpt_comm_destroy(comm: *mut lpt_comm);
    /// Reads the rank, the number of ranks, the engine and the traffic of a comm.
    pub fn lpt_comm_read(context: *mut lpt_context, comm: *const lpt_comm, out_info: *mut lpt_comm_info) -> lpt_status;
    /// Waits for a collective and returns its status and text.
    pub fn lpt_future_wait(context: *mut lpt_context, future: *mut lpt_future) -> lpt_status;
    /// Returns whether a collective has ended, without waiting.
    pub fn lpt_future_is_done(context: *mut lpt_context, future: *const lpt_future, out_is_done: *mut i32) -> lpt_status;
    /// Destroys a future; its collective continues.
    pub fn lpt_future_destroy(future: *mut lpt_future);
    /// Returns after all ranks have called it.
    pub fn lpt_barrier(context: *mut lpt_context, comm: *mut lpt_comm) -> lpt_status;
    /// Reduces a tensor over all ranks; every rank gets the result.
    pub fn lpt_all_reduce(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, options: *const lpt_reduce_options, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Reduces a tensor over all ranks; each rank gets its part of the result, along the first axis.
    pub fn lpt_reduce_scatter(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, counts: *const i64, options: *const lpt_reduce_options, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Concatenates the parts of all ranks along the first axis; every rank gets the result.
    pub fn lpt_all_gather(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, counts: *const i64, options: *const lpt_all_gather_options, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Sends the tensor of one rank, with all its scales, to all ranks.
    pub fn lpt_broadcast(context: *mut lpt_context, comm: *mut lpt_comm, root: i32, tensor: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Sends each rank a part of the input, and concatenates the parts received, along the first axis.
    pub fn lpt_all_to_all(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, send_counts: *const i64, receive_counts: *const i64, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Sends a tensor to one rank; it may return before the other rank has received it.
    pub fn lpt_send(context: *mut lpt_context, comm: *mut lpt_comm, tensor: *const lpt_tensor, peer: i32, tag: i32, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Receives a tensor from one rank.
    pub fn lpt_receive(context: *mut lpt_context, comm: *mut lpt_comm, tensor: *mut lpt_tensor, peer: i32, tag: i32, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Reduces many tensors in place by one message: gains of norms, biases, buckets of gradients.
    pub fn lpt_all_reduce_many(context: *mut lpt_context, comm: *mut lpt_comm, tensors: *const *mut lpt_tensor, count: i64, options: *const lpt_reduce_options, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Returns whether a tensor has the same bits on all ranks; eight bytes of each rank are sent.
    pub fn lpt_comm_compare(context: *mut lpt_context, comm: *mut lpt_comm, tensor: *const lpt_tensor, out_is_same: *mut i32) -> lpt_status;
    /// Creates the comm of one rank over the caller's transport; returns after all ranks have called it.
    pub fn lpt_comm_create_custom(context: *mut lpt_context, functions: *const lpt_comm_functions, user: *mut c_void, rank: i32, rank_count: i32, options: *const lpt_comm_options, out_comm: *mut *mut lpt_comm) -> lpt_status;
    /// Groups gradients in buckets, each reduced in place by one message as soon as its gradients are ready.
    pub fn lpt_gradient_buckets_create(context: *mut lpt_context, comm: *mut lpt_comm, gradients: *const *mut lpt_tensor, count: i64, options: *const lpt_gradient_buckets_options, out_buckets: *mut *mut lpt_gradient_buckets) -> lpt_status;
    /// Starts a backward pass.
    pub fn lpt_gradient_buckets_begin(context: *mut lpt_context, buckets: *mut lpt_gradient_buckets, is_last: i32, options: *const lpt_reduce_options) -> lpt_status;
    /// Marks a gradient as ready, and starts the reduction of buckets that are complete.
    pub fn lpt_gradient_buckets_ready(context: *mut lpt_context, buckets: *mut lpt_gradient_buckets, index: i64) -> lpt_status;
    /// Completes a pass: waits until all gradients are reduced.
    pub fn lpt_gradient_buckets_wait(context: *mut lpt_context, buckets: *mut lpt_gradient_buckets) -> lpt_status;
    /// Reads the state of buckets.
    pub fn lpt_gradient_buckets_read(context: *mut lpt_context, buckets: *const lpt_gradient_buckets, out_info: *mut lpt_gradient_buckets_info) -> lpt_status;
    /// Destroys buckets; reductions in flight continue.
    pub fn lpt_gradient_buckets_destroy(buckets: *mut lpt_gradient_buckets);
    /// Adds this rank's shards of many parameters to an optimizer; nothing is sent.
    pub fn lpt_optimizer_add_shards(context: *mut lpt_context, comm: *const lpt_comm, optimizer: *mut lpt_optimizer, names: *const *const c_char, parameters: *const *const lpt_optimizer_parameter, count: i64, out_indices: *mut i64) -> lpt_status;
    /// Steps parameters whose state is sharded over ranks; all ranks call it.
    pub fn lpt_optimizer_step_shards(context: *mut lpt_context, comm: *mut lpt_comm, optimizer: *mut lpt_optimizer, indices: *const i64, count: i64, gradients: *const *const lpt_tensor, options: *const lpt_optimizer_step_options, shards: *const lpt_optimizer_shard_options, parameters: *const *mut lpt_tensor) -> lpt_status;
    /// Computes how many columns a fraction of all columns shares, rounded down.
    pub fn lpt_partial_shared_columns(context: *mut lpt_context, hidden_columns: i64, fraction: f64, out_shared_columns: *mut i64) -> lpt_status;
    /// Creates a plan, which states the shared columns for all calls.
    pub fn lpt_partial_plan_create(context: *mut lpt_context, options: *const lpt_partial_plan_options, out_plan: *mut *mut lpt_partial_plan) -> lpt_status;
    /// Destroys a plan.
    pub fn lpt_partial_plan_destroy(plan: *mut lpt_partial_plan);
    /// Reads the properties of a plan.
    pub fn lpt_partial_plan_read(context: *mut lpt_context, plan: *const lpt_partial_plan, format: lpt_format, out_info: *mut lpt_partial_plan_info) -> lpt_status;
    /// Sums the shared columns over all ranks, and scales the private columns of this rank.
    pub fn lpt_partial_all_reduce(context: *mut lpt_context, comm: *mut lpt_comm, plan: *const lpt_partial_plan, pass: lpt_partial_pass, input: *const lpt_tensor, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Multiplies by this rank's slice of a row-parallel weight, and sums the shared columns over all ranks.
    pub fn lpt_partial_gemm(context: *mut lpt_context, comm: *mut lpt_comm, plan: *const lpt_partial_plan, a: *const lpt_tensor, b: *const lpt_tensor, options: *const lpt_gemm_options, c: *mut lpt_tensor) -> lpt_status;
    /// Multiplies the private rows of an initial weight by the scale of a plan, in place.
    pub fn lpt_partial_scale_weight(context: *mut lpt_context, plan: *const lpt_partial_plan, weight: *mut lpt_tensor) -> lpt_status;
    /// Gathers the rows of all ranks, in rank order, before a column-parallel layer (sequence parallelism).
    pub fn lpt_sequence_gather(context: *mut lpt_context, comm: *mut lpt_comm, plan: *const lpt_partial_plan, input: *const lpt_tensor, row_counts: *const i64, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Sums the rows of all ranks after a row-parallel layer without a comm, and gives each rank its rows of the sum.
    pub fn lpt_sequence_scatter(context: *mut lpt_context, comm: *mut lpt_comm, plan: *const lpt_partial_plan, pass: lpt_partial_pass, input: *const lpt_tensor, row_counts: *const i64, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Computes attention over a sequence whose positions are divided among ranks (sequence parallelism).
    pub fn lpt_sequence_attention_forward(context: *mut lpt_context, ring: *mut lpt_comm, heads: *mut lpt_comm, query: *const lpt_tensor, key: *const lpt_tensor, value: *const lpt_tensor, options: *const lpt_sequence_attention_options, output: *mut lpt_tensor) -> lpt_status;
    /// Computes the gradients of lpt_sequence_attention_forward() for query, key and value.
    pub fn lpt_sequence_attention_backward(context: *mut lpt_context, ring: *mut lpt_comm, heads: *mut lpt_comm, query: *const lpt_tensor, key: *const lpt_tensor, value: *const lpt_tensor, output_gradient: *const lpt_tensor, options: *const lpt_sequence_attention_options, query_gradient: *mut lpt_tensor, key_gradient: *mut lpt_tensor, value_gradient: *mut lpt_tensor) -> lpt_status;
    /// Creates an autopilot.
    pub fn lpt_autopilot_create(context: *mut lpt_context, ladder: *const *const lpt_recipe, costs: *const f64, level_count: i32, work: *const f64, layer_count: i32, options: *const lpt_autopilot_options, out_autopilot: *mut *mut lpt_autopilot) -> lpt_status;
    /// Destroys an autopilot.
    pub fn lpt_autopilot_destroy(autopilot: *mut lpt_autopilot);
    /// Reports a signal for the next decision; the worst of several reports counts.
    pub fn lpt_autopilot_observe(context: *mut lpt_context, autopilot: *mut lpt_autopilot, layer: i32, signal: lpt_autopilot_reason, value: f64) -> lpt_status;
    /// Reports the casts of a watched layer for the next decision: NaNs, clipped shares, amax and errors.
    pub fn lpt_autopilot_observe_linear(context: *mut lpt_context, autopilot: *mut lpt_autopilot, layer: i32, linear: *const lpt_linear) -> lpt_status;
    /// Ends a step: adds its cost, and changes levels.
    pub fn lpt_autopilot_step(context: *mut lpt_context, autopilot: *mut lpt_autopilot, step: i64, loss: f64, out_change_count: *mut i64) -> lpt_status;
    /// Creates the recipe of a layer: the casts and options of each GEMM are those of its level.
    pub fn lpt_autopilot_recipe(context: *mut lpt_context, autopilot: *const lpt_autopilot, layer: i32, out_recipe: *mut *mut lpt_recipe) -> lpt_status;
    /// Reads the state of an autopilot.
    pub fn lpt_autopilot_read(context: *mut lpt_context, autopilot: *const lpt_autopilot, out_info: *mut lpt_autopilot_info) -> lpt_status;
    /// Copies all decisions, in order.
    pub fn lpt_autopilot_decisions(context: *mut lpt_context, autopilot: *const lpt_autopilot, decision_count: i64, decisions: *mut lpt_autopilot_decision) -> lpt_status;
    /// Makes an autopilot follow a list of decisions instead of signals, for example that of another run.
    pub fn lpt_autopilot_replay(context: *mut lpt_context, autopilot: *mut lpt_autopilot, decisions: *const lpt_autopilot_decision, decision_count: i64) -> lpt_status;
    /// Returns the number of bytes that lpt_autopilot_state_save() writes.
    pub fn lpt_autopilot_state_size(context: *mut lpt_context, autopilot: *const lpt_autopilot, out_size_bytes: *mut usize) -> lpt_status;
    /// Saves the levels, the decisions, and what was reported.
    pub fn lpt_autopilot_state_save(context: *mut lpt_context, autopilot: *const lpt_autopilot, buffer: *mut c_void, buffer_bytes: usize) -> lpt_status;
    /// Restores a saved state.
    pub fn lpt_autopilot_state_load(context: *mut lpt_context, autopilot: *mut lpt_autopilot, buffer: *const c_void, buffer_bytes: usize) -> lpt_status;
    /// Averages a tensor over all ranks by its signs, one bit per element, with error feedback.
    pub fn lpt_all_reduce_signs(context: *mut lpt_context, comm: *mut lpt_comm, input: *const lpt_tensor, worker_error: *mut lpt_tensor, server_error: *mut lpt_tensor, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Returns how many elements of a tensor this rank averages in lpt_all_reduce_signs().
    pub fn lpt_all_reduce_signs_share(context: *mut lpt_context, comm: *const lpt_comm, element_count: i64, out_element_count: *mut i64) -> lpt_status;
    /// Computes the cost of a collective: successive messages, bytes, seconds.
    pub fn lpt_cost_estimate(context: *mut lpt_context, collective: lpt_cost_collective, algorithm: lpt_cost_algorithm, ranks: i32, elements: i64, payload: lpt_format, link: *const lpt_cost_link, out_info: *mut lpt_cost_info) -> lpt_status;
    /// Fits a link to measured times: seconds = latency_seconds + bytes / bytes_per_second.
    pub fn lpt_cost_fit_link(context: *mut lpt_context, bytes: *const f64, seconds: *const f64, count: i64, out_link: *mut lpt_cost_link) -> lpt_status;
    /// Computes from how many elements a collective takes less time with cast elements.
    pub fn lpt_cost_break_even(context: *mut lpt_context, collective: lpt_cost_collective, algorithm: lpt_cost_algorithm, ranks: i32, plain: lpt_format, payload: lpt_format, rates: *const lpt_cost_cast_rates, link: *const lpt_cost_link, out_elements: *mut i64) -> lpt_status;
    /// Corrects gradients of the parameters of this rank to first order for the mean parameters of all ranks.
    pub fn lpt_delay_compensate(context: *mut lpt_context, own: *const *const lpt_tensor, mean: *const *const lpt_tensor, count: i64, options: *const lpt_delay_options, gradients: *const *mut lpt_tensor) -> lpt_status;
    /// Finds the threshold with the maximum speedup from measured times, or computes the speedup of a threshold.
    pub fn lpt_drop_compute_fit(context: *mut lpt_context, seconds: *const f64, ranks: i32, steps: i64, micro_batches: i32, serial_seconds: f64, threshold_seconds: f64, out_info: *mut lpt_drop_compute_info) -> lpt_status;
    /// Finds the threshold with the maximum speedup for normal times, or computes the speedup of a threshold.
    pub fn lpt_drop_compute_estimate(context: *mut lpt_context, ranks: i32, micro_batches: i32, mean_seconds: f64, deviation_seconds: f64, serial_seconds: f64, threshold_seconds: f64, out_info: *mut lpt_drop_compute_info) -> lpt_status;
    /// Computes a softmax along the last axis, with the argument of exp rounded to one of 2^bits levels.
    pub fn lpt_exaq_softmax_forward(context: *mut lpt_context, input: *const lpt_tensor, options: *const lpt_exaq_options, output: *mut lpt_tensor) -> lpt_status;
    /// Creates the lossy link of one rank; returns after all ranks of the comm have called it.
    pub fn lpt_lossy_link_create(context: *mut lpt_context, comm: *mut lpt_comm, options: *const lpt_lossy_link_options, out_link: *mut *mut lpt_lossy_link) -> lpt_status;
    /// Reads the state of a link, and counts of packets.
    pub fn lpt_lossy_link_read(context: *mut lpt_context, link: *const lpt_lossy_link, peer: i32, out_info: *mut lpt_lossy_link_info) -> lpt_status;
    /// Destroys a link and closes its socket.
    pub fn lpt_lossy_link_destroy(link: *mut lpt_lossy_link);
    /// Averages a tensor over all ranks by packets; each rank gets its part of the result, along the first axis.
    pub fn lpt_lossy_reduce_scatter(context: *mut lpt_context, link: *mut lpt_lossy_link, input: *const lpt_tensor, counts: *const i64, mode: lpt_lossy_mode, loss: *const f64, arrival_count: i64, output: *mut lpt_tensor, out_arrivals: *mut u8) -> lpt_status;
    /// Concatenates the parts of all ranks along the first axis by packets; elements that are lost keep their values.
    pub fn lpt_lossy_all_gather(context: *mut lpt_context, link: *mut lpt_lossy_link, input: *const lpt_tensor, counts: *const i64, age_count: i64, output: *mut lpt_tensor, ages: *mut i32) -> lpt_status;
    /// Computes the drift of replicas, and the weights and variances of averages, for a probability of loss.
    pub fn lpt_lossy_estimate(context: *mut lpt_context, loss: f64, rank_count: i32, out_info: *mut lpt_lossy_info) -> lpt_status;
    /// Measures the noise that quantization adds to gradients, relative to their norm: |g| / |q(g) - g|.
    pub fn lpt_noise_measure(context: *mut lpt_context, gradients: *const *const lpt_tensor, noisy: *const *const lpt_tensor, count: i64, options: *const lpt_noise_options, out_info: *mut lpt_noise_info) -> lpt_status;
    /// Measures the cosine between the gate weight and the up weight of each channel.
    pub fn lpt_swiglu_alignment(context: *mut lpt_context, gate_weight: *const lpt_tensor, up_weight: *const lpt_tensor, cosines: *mut lpt_tensor, out_info: *mut lpt_swiglu_alignment_info) -> lpt_status;
    /// Creates an empty monitor.
    pub fn lpt_monitor_create(context: *mut lpt_context, out_monitor: *mut *mut lpt_monitor) -> lpt_status;
    /// Destroys a monitor.
    pub fn lpt_monitor_destroy(monitor: *mut lpt_monitor);
    /// Records one value.
    pub fn lpt_monitor_record(context: *mut lpt_context, monitor: *mut lpt_monitor, step: i64, name: *const c_char, value: f64) -> lpt_status;
    /// Records the amax of the scalers of a layer, and statistics of its casts if it is watched.
    pub fn lpt_monitor_record_linear(context: *mut lpt_context, monitor: *mut lpt_monitor, step: i64, name: *const c_char, linear: *const lpt_linear) -> lpt_status;
    /// Records statistics of casts: amax, and shares of clipped, underflowed and NaN elements.
    pub fn lpt_monitor_record_statistics(context: *mut lpt_context, monitor: *mut lpt_monitor, step: i64, name: *const c_char, statistics: *const lpt_statistics) -> lpt_status;
    /// Returns the number of recorded values.
    pub fn lpt_monitor_count(context: *mut lpt_context, monitor: *const lpt_monitor, out_count: *mut i64) -> lpt_status;
    /// Writes all values to a CSV file (RFC 4180).
    pub fn lpt_monitor_save(context: *mut lpt_context, monitor: *const lpt_monitor, path: *const c_char) -> lpt_status;
    /// Computes the power of a multiply-add.
    pub fn lpt_power_estimate(context: *mut lpt_context, options: *const lpt_power_options, out_flips: *mut f64) -> lpt_status;
    /// Casts a weight to integers whose mean magnitude is about `additions`.
    pub fn lpt_power_quantize(context: *mut lpt_context, weight: *const lpt_tensor, additions: f64, output: *mut lpt_tensor, out_info: *mut lpt_power_info) -> lpt_status;
    /// Creates a topology of a known shape.
    pub fn lpt_topology_create(context: *mut lpt_context, kind: lpt_topology_kind, extents: *const i64, extent_count: i32, link: *const lpt_cost_link, upper_link: *const lpt_cost_link, out_topology: *mut *mut lpt_topology) -> lpt_status;
    /// Creates a topology from a list of links.
    pub fn lpt_topology_create_graph(context: *mut lpt_context, rank_count: i32, switch_count: i32, links: *const lpt_topology_link, link_count: i64, out_topology: *mut *mut lpt_topology) -> lpt_status;
    /// Reads the size of a topology.
    pub fn lpt_topology_read(context: *mut lpt_context, topology: *const lpt_topology, out_info: *mut lpt_topology_info) -> lpt_status;
    /// Copies the links of a topology.
    pub fn lpt_topology_links(context: *mut lpt_context, topology: *const lpt_topology, link_count: i64, out_links: *mut lpt_topology_link) -> lpt_status;
    /// Destroys a topology; its schedules stay valid.
    pub fn lpt_topology_destroy(topology: *mut lpt_topology);
    /// Builds a schedule of an all-reduce, and verifies it as lpt_schedule_create_sends() does.
    pub fn lpt_schedule_create(context: *mut lpt_context, topology: *const lpt_topology, algorithm: lpt_schedule_algorithm, options: *const lpt_schedule_options, out_schedule: *mut *mut lpt_schedule) -> lpt_status;
    /// Verifies a list of sends symbolically and makes a schedule of it.
    pub fn lpt_schedule_create_sends(context: *mut lpt_context, topology: *const lpt_topology, chunk_count: i32, sends: *const lpt_schedule_send, send_count: i64, out_schedule: *mut *mut lpt_schedule) -> lpt_status;
    /// Reads the size of a schedule.
    pub fn lpt_schedule_read(context: *mut lpt_context, schedule: *const lpt_schedule, out_info: *mut lpt_schedule_info) -> lpt_status;
    /// Copies the sends of a schedule and their paths.
    pub fn lpt_schedule_sends(context: *mut lpt_context, schedule: *const lpt_schedule, send_count: i64, hop_count: i64, out_sends: *mut lpt_schedule_send, out_hop_counts: *mut i32, out_hops: *mut i32) -> lpt_status;
    /// Simulates the time of a schedule.
    pub fn lpt_schedule_simulate(context: *mut lpt_context, schedule: *const lpt_schedule, bytes: f64, reduce_bytes_per_second: f64, link_count: i64, out_seconds: *mut f64, out_link_seconds: *mut f64) -> lpt_status;
    /// Reduces a tensor over all ranks by a schedule; every rank gets the result.
    pub fn lpt_schedule_all_reduce(context: *mut lpt_context, comm: *mut lpt_comm, schedule: *const lpt_schedule, input: *const lpt_tensor, options: *const lpt_reduce_options, output: *mut lpt_tensor, out_future: *mut *mut lpt_future) -> lpt_status;
    /// Destroys a schedule; collectives in progress keep what they need.
    pub fn lpt_schedule_destroy(schedule: *mut lpt_schedule);
    /// Computes the number of masks that a pattern allows (its diversity), in bits per element.
    pub fn lpt_sparse_diversity(context: *mut lpt_context, kept: i32, of: i32, direction: lpt_sparse_direction, count: lpt_sparse_count, out_bits: *mut f64) -> lpt_status;
    /// Selects N for a model that was pruned without a pattern.
    pub fn lpt_sparse_choose_kept(context: *mut lpt_context, zero_share: f64, of: i32, confidence: f64, out_kept: *mut i32) -> lpt_status;
    /// Applies a mask, and adds the mean of the dropped elements of each group to its kept ones (mean absorption).
    pub fn lpt_sparse_absorb(context: *mut lpt_context, source: *const lpt_tensor, mask: *const lpt_tensor, of: i32, direction: lpt_sparse_direction, output: *mut lpt_tensor) -> lpt_status;
    /// Reorders the input columns of a weight so that an N:M mask along rows keeps more of its energy.
    pub fn lpt_sparse_order(context: *mut lpt_context, weight: *const lpt_tensor, options: *const lpt_sparse_options, order: *mut i32, out_info: *mut lpt_sparse_info) -> lpt_status;
}

/// Declarations that bindgen generated from the installed header, with the feature `bindgen`.
#[cfg(feature = "bindgen")]
#[allow(clashing_extern_declarations, non_snake_case, non_upper_case_globals)]
pub mod bindgen {
    include!(concat!(env!("OUT_DIR"), "/bindgen.rs"));
}
