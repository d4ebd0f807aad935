//! Constants and types of constants of lpt.h; the header documents the contracts. Written by `python3 tools/make_bindings.py write`.
#![cfg_attr(rustfmt, rustfmt_skip)]

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
