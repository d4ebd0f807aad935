# Constants and types of constants of lpt.h; the header documents the contracts. Written by `python3 tools/make_bindings.py write`.

const lpt_status = Int32
const LPT_OK = lpt_status(0)
const LPT_INVALID_ARGUMENT = lpt_status(1)
const LPT_UNSUPPORTED = lpt_status(2)
const LPT_OUT_OF_MEMORY = lpt_status(3)
const LPT_INVALID_STATE = lpt_status(4)
const LPT_INTERNAL = lpt_status(5)
const LPT_CANCELLED = lpt_status(6)
const LPT_ABORTED = lpt_status(7)
const LPT_TIMEOUT = lpt_status(8)
const LPT_MISMATCH = lpt_status(9)
const LPT_WORK_FAILED = lpt_status(10)
const LPT_BUSY = lpt_status(11)

const lpt_flags = UInt64
const LPT_CHECK_ONLY = lpt_flags(1)
const LPT_QUANTIZE_KEEP_TENSOR_SCALE = lpt_flags(2)
const LPT_GEMM_PORTABLE_ORDER = lpt_flags(4)
const LPT_GEMM_CAST_A_TO_BF16 = lpt_flags(8)
const LPT_COMM_CHECKSUMS = lpt_flags(16)
const LPT_COMM_MESSAGES = lpt_flags(32)
const LPT_COMM_SKIP_CHECKS = lpt_flags(64)
const LPT_PARTIAL_SEQUENCE_PARALLEL = lpt_flags(128)
const LPT_DLPACK_READ_ONLY = lpt_flags(256)
const LPT_DLPACK_COPIED = lpt_flags(512)
const LPT_TENSOR_READ_ONLY = lpt_flags(1024)
const LPT_TENSOR_UNCHECKED = lpt_flags(2048)
const LPT_GEMM_FAST_ACCUMULATE = lpt_flags(4096)

const lpt_device = Int32
const LPT_DEVICE_CPU = lpt_device(0)
const LPT_DEVICE_CUDA = lpt_device(1)

const lpt_isa = Int32
const LPT_ISA_AUTO = lpt_isa(0)
const LPT_ISA_REFERENCE = lpt_isa(1)
const LPT_ISA_X86_AVX2 = lpt_isa(2)
const LPT_ISA_X86_AVX512 = lpt_isa(3)
const LPT_ISA_X86_AVX512_BF16 = lpt_isa(4)
const LPT_ISA_X86_AMX = lpt_isa(5)

const lpt_log_level = Int32
const LPT_LOG_LEVEL_NONE = lpt_log_level(0)
const LPT_LOG_LEVEL_WARNING = lpt_log_level(1)
const LPT_LOG_LEVEL_INFO = lpt_log_level(2)
const LPT_LOG_LEVEL_DISPATCH = lpt_log_level(3)

const lpt_format = Int64
const LPT_FORMAT_NONE = lpt_format(0)
const LPT_FORMAT_F64 = lpt_format(1)
const LPT_FORMAT_F32 = lpt_format(2)
const LPT_FORMAT_F16 = lpt_format(3)
const LPT_FORMAT_BF16 = lpt_format(4)
const LPT_FORMAT_E4M3FN = lpt_format(5)
const LPT_FORMAT_E4M3 = lpt_format(6)
const LPT_FORMAT_E5M2 = lpt_format(7)
const LPT_FORMAT_E2M1FN = lpt_format(8)
const LPT_FORMAT_E8M0FNU = lpt_format(9)
const LPT_FORMAT_INT8 = lpt_format(10)
const LPT_FORMAT_UINT8 = lpt_format(11)
const LPT_FORMAT_E4M3FNUZ = lpt_format(12)
const LPT_FORMAT_E5M2FNUZ = lpt_format(13)
const LPT_FORMAT_E4M3B11FNUZ = lpt_format(14)
const LPT_FORMAT_E3M4 = lpt_format(15)
const LPT_FORMAT_E3M2FN = lpt_format(16)
const LPT_FORMAT_E2M3FN = lpt_format(17)
const LPT_FORMAT_E3M0 = lpt_format(18)
const LPT_FORMAT_INT4 = lpt_format(19)
const LPT_FORMAT_UINT4 = lpt_format(20)
const LPT_FORMAT_INT2 = lpt_format(21)
const LPT_FORMAT_TERNARY = lpt_format(22)
const LPT_FORMAT_INT16 = lpt_format(23)
const LPT_FORMAT_Q1_6 = lpt_format(24)
const LPT_FORMAT_NF4 = lpt_format(25)
const LPT_FORMAT_BNB_FP4 = lpt_format(26)
const LPT_FORMAT_INT32 = lpt_format(27)
const LPT_FORMAT_INT64 = lpt_format(28)
const LPT_FORMAT_INT3 = lpt_format(29)
const LPT_FORMAT_E4M3FN_TENSOR = lpt_format(64)
const LPT_FORMAT_E4M3FN_ROW = lpt_format(65)
const LPT_FORMAT_E4M3FN_1X128 = lpt_format(66)
const LPT_FORMAT_E4M3FN_128X128 = lpt_format(67)
const LPT_FORMAT_E4M3_TENSOR = lpt_format(68)
const LPT_FORMAT_E4M3_ROW = lpt_format(69)
const LPT_FORMAT_E5M2_TENSOR = lpt_format(70)
const LPT_FORMAT_E5M2_ROW = lpt_format(71)
const LPT_FORMAT_E5M2_1X128 = lpt_format(72)
const LPT_FORMAT_E5M2_128X128 = lpt_format(73)
const LPT_FORMAT_MXFP8_E4M3 = lpt_format(74)
const LPT_FORMAT_MXFP8_E5M2 = lpt_format(75)
const LPT_FORMAT_MXFP4 = lpt_format(76)
const LPT_FORMAT_NVFP4 = lpt_format(77)
const LPT_FORMAT_INT8_TENSOR = lpt_format(78)
const LPT_FORMAT_INT8_ROW = lpt_format(79)
const LPT_FORMAT_F16_TENSOR = lpt_format(80)
const LPT_FORMAT_MXFP6_E3M2 = lpt_format(81)
const LPT_FORMAT_MXFP6_E2M3 = lpt_format(82)
const LPT_FORMAT_MXINT8 = lpt_format(83)
const LPT_FORMAT_NVFP4_16X16 = lpt_format(84)
const LPT_FORMAT_INT4_1X32 = lpt_format(85)
const LPT_FORMAT_INT4_1X64 = lpt_format(86)
const LPT_FORMAT_INT4_1X128 = lpt_format(87)
const LPT_FORMAT_UINT4_1X32 = lpt_format(88)
const LPT_FORMAT_UINT4_1X64 = lpt_format(89)
const LPT_FORMAT_UINT4_1X128 = lpt_format(90)
const LPT_FORMAT_INT8_1X32 = lpt_format(91)
const LPT_FORMAT_INT16_TENSOR = lpt_format(92)
const LPT_FORMAT_E3M0_TENSOR = lpt_format(93)
const LPT_FORMAT_TERNARY_TENSOR = lpt_format(94)
const LPT_FORMAT_E4M3FNUZ_TENSOR = lpt_format(95)
const LPT_FORMAT_E5M2FNUZ_TENSOR = lpt_format(96)
const LPT_FORMAT_NF4_1X64 = lpt_format(97)
const LPT_FORMAT_BNB_FP4_1X64 = lpt_format(98)
const LPT_FORMAT_DYNAMIC_1X256 = lpt_format(99)

const lpt_block_extent = Int32
const LPT_BLOCK_EXTENT_FULL = lpt_block_extent(-1)

const lpt_element_special = Int32
const LPT_ELEMENT_SPECIAL_NONE = lpt_element_special(0)
const LPT_ELEMENT_SPECIAL_IEEE = lpt_element_special(1)
const LPT_ELEMENT_SPECIAL_NAN_ONES = lpt_element_special(2)
const LPT_ELEMENT_SPECIAL_INTEGER = lpt_element_special(3)
const LPT_ELEMENT_SPECIAL_FNUZ = lpt_element_special(4)
const LPT_ELEMENT_SPECIAL_LIST = lpt_element_special(5)

const lpt_tensor_part = Int32
const LPT_TENSOR_PART_PAYLOAD = lpt_tensor_part(0)
const LPT_TENSOR_PART_BLOCK_SCALES = lpt_tensor_part(1)
const LPT_TENSOR_PART_TENSOR_SCALE = lpt_tensor_part(2)
const LPT_TENSOR_PART_ZERO_POINTS = lpt_tensor_part(3)
const LPT_TENSOR_PART_SPARSE_INDICES = lpt_tensor_part(4)

const lpt_foreign_layout = Int32
const LPT_FOREIGN_LAYOUT_GGML = lpt_foreign_layout(1)
const LPT_FOREIGN_LAYOUT_BITSANDBYTES = lpt_foreign_layout(2)
const LPT_FOREIGN_LAYOUT_CUBLAS_SCALES = lpt_foreign_layout(3)
const LPT_FOREIGN_LAYOUT_GGML_Q4_1 = lpt_foreign_layout(4)
const LPT_FOREIGN_LAYOUT_MMA_SPARSE = lpt_foreign_layout(5)
const LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE = lpt_foreign_layout(6)

const lpt_rounding = Int32
const LPT_ROUNDING_NEAREST_EVEN = lpt_rounding(0)
const LPT_ROUNDING_STOCHASTIC = lpt_rounding(1)
const LPT_ROUNDING_TOWARD_ZERO = lpt_rounding(2)
const LPT_ROUNDING_NEAREST_AWAY = lpt_rounding(3)
const LPT_ROUNDING_STOCHASTIC_UNDERFLOW = lpt_rounding(4)

const lpt_overflow = Int32
const LPT_OVERFLOW_SATURATE = lpt_overflow(0)
const LPT_OVERFLOW_INFINITE = lpt_overflow(1)

const lpt_scale_rule = Int32
const LPT_SCALE_RULE_DEFAULT = lpt_scale_rule(0)
const LPT_SCALE_RULE_AMAX = lpt_scale_rule(1)
const LPT_SCALE_RULE_POWER_OF_TWO = lpt_scale_rule(2)
const LPT_SCALE_RULE_ROUND_UP = lpt_scale_rule(3)
const LPT_SCALE_RULE_FLOOR = lpt_scale_rule(4)
const LPT_SCALE_RULE_NEAREST = lpt_scale_rule(5)
const LPT_SCALE_RULE_HEADROOM = lpt_scale_rule(6)
const LPT_SCALE_RULE_POWER_OF_TWO_DOWN = lpt_scale_rule(7)
const LPT_SCALE_RULE_POWER_OF_TWO_NEAREST = lpt_scale_rule(8)
const LPT_SCALE_RULE_CEIL = lpt_scale_rule(9)
const LPT_SCALE_RULE_EVEN = lpt_scale_rule(10)
const LPT_SCALE_RULE_THREE_QUARTERS = lpt_scale_rule(11)
const LPT_SCALE_RULE_QUEST_FLOOR = lpt_scale_rule(12)
const LPT_SCALE_RULE_QUEST_NEAREST = lpt_scale_rule(13)
const LPT_SCALE_RULE_QUEST_CEIL = lpt_scale_rule(14)
const LPT_SCALE_RULE_FOUR_OVER_SIX = lpt_scale_rule(15)
const LPT_SCALE_RULE_MSE = lpt_scale_rule(16)
const LPT_SCALE_RULE_LIST = lpt_scale_rule(17)
const LPT_SCALE_RULE_FIXED = lpt_scale_rule(18)
const LPT_SCALE_RULE_MEAN = lpt_scale_rule(19)
const LPT_SCALE_RULE_SAWB = lpt_scale_rule(20)

const lpt_scaler_kind = Int32
const LPT_SCALER_KIND_CURRENT = lpt_scaler_kind(0)
const LPT_SCALER_KIND_DELAYED = lpt_scaler_kind(1)

const lpt_scaler_history_rule = Int32
const LPT_SCALER_HISTORY_RULE_MAX = lpt_scaler_history_rule(0)
const LPT_SCALER_HISTORY_RULE_LATEST = lpt_scaler_history_rule(1)
const LPT_SCALER_HISTORY_RULE_AVERAGE = lpt_scaler_history_rule(2)

const lpt_scaler_zero_rule = Int32
const LPT_SCALER_ZERO_RULE_USE_CURRENT = lpt_scaler_zero_rule(0)
const LPT_SCALER_ZERO_RULE_ONE = lpt_scaler_zero_rule(1)
const LPT_SCALER_ZERO_RULE_USE_LAST = lpt_scaler_zero_rule(2)

const lpt_calibration_value = Int32
const LPT_CALIBRATION_VALUE_GRAM = lpt_calibration_value(0)
const LPT_CALIBRATION_VALUE_CROSS_GRAM = lpt_calibration_value(1)
const LPT_CALIBRATION_VALUE_MAXIMA = lpt_calibration_value(2)
const LPT_CALIBRATION_VALUE_MEANS = lpt_calibration_value(3)
const LPT_CALIBRATION_VALUE_MEAN_SQUARES = lpt_calibration_value(4)

const lpt_weights_fit_method = Int32
const LPT_WEIGHTS_FIT_METHOD_NEAREST = lpt_weights_fit_method(0)
const LPT_WEIGHTS_FIT_METHOD_GPTQ = lpt_weights_fit_method(1)

const lpt_weights_fit_order = Int32
const LPT_WEIGHTS_FIT_ORDER_COLUMNS = lpt_weights_fit_order(0)
const LPT_WEIGHTS_FIT_ORDER_DIAGONAL = lpt_weights_fit_order(1)
const LPT_WEIGHTS_FIT_ORDER_BLOCKS = lpt_weights_fit_order(2)

const lpt_activation = Int32
const LPT_ACTIVATION_NONE = lpt_activation(0)
const LPT_ACTIVATION_GELU = lpt_activation(1)
const LPT_ACTIVATION_GELU_TANH = lpt_activation(2)
const LPT_ACTIVATION_SILU = lpt_activation(3)
const LPT_ACTIVATION_SWIGLU = lpt_activation(4)

const lpt_sparse_rule = Int32
const LPT_SPARSE_RULE_MAGNITUDE = lpt_sparse_rule(0)
const LPT_SPARSE_RULE_MVUE = lpt_sparse_rule(1)
const LPT_SPARSE_RULE_MVUE_TWO_DRAWS = lpt_sparse_rule(2)
const LPT_SPARSE_RULE_SOFT_THRESHOLD = lpt_sparse_rule(3)

const lpt_sparse_direction = Int32
const LPT_SPARSE_DIRECTION_ROW = lpt_sparse_direction(0)
const LPT_SPARSE_DIRECTION_COLUMN = lpt_sparse_direction(1)
const LPT_SPARSE_DIRECTION_BOTH = lpt_sparse_direction(2)

const lpt_sparse_solver = Int32
const LPT_SPARSE_SOLVER_AUTO = lpt_sparse_solver(0)
const LPT_SPARSE_SOLVER_EXACT = lpt_sparse_solver(1)
const LPT_SPARSE_SOLVER_GREEDY = lpt_sparse_solver(2)
const LPT_SPARSE_SOLVER_SEARCH = lpt_sparse_solver(3)
const LPT_SPARSE_SOLVER_PRUNE = lpt_sparse_solver(4)
const LPT_SPARSE_SOLVER_ENTROPY = lpt_sparse_solver(5)

const lpt_weights_storage = Int32
const LPT_WEIGHTS_STORAGE_ALL = lpt_weights_storage(0)
const LPT_WEIGHTS_STORAGE_BITMASK = lpt_weights_storage(1)
const LPT_WEIGHTS_STORAGE_BLOCK_SPARSE = lpt_weights_storage(2)

const lpt_rotary_scaling_kind = Int32
const LPT_ROTARY_SCALING_KIND_NONE = lpt_rotary_scaling_kind(0)
const LPT_ROTARY_SCALING_KIND_LINEAR = lpt_rotary_scaling_kind(1)
const LPT_ROTARY_SCALING_KIND_NTK = lpt_rotary_scaling_kind(2)
const LPT_ROTARY_SCALING_KIND_YARN = lpt_rotary_scaling_kind(3)
const LPT_ROTARY_SCALING_KIND_LLAMA3 = lpt_rotary_scaling_kind(4)

const lpt_rotary_layout = Int32
const LPT_ROTARY_LAYOUT_HALVES = lpt_rotary_layout(0)
const LPT_ROTARY_LAYOUT_INTERLEAVED = lpt_rotary_layout(1)

const lpt_linear_cast = Int32
const LPT_LINEAR_CAST_FORWARD_INPUT = lpt_linear_cast(0)
const LPT_LINEAR_CAST_FORWARD_WEIGHT = lpt_linear_cast(1)
const LPT_LINEAR_CAST_DGRAD_GRADIENT = lpt_linear_cast(2)
const LPT_LINEAR_CAST_DGRAD_WEIGHT = lpt_linear_cast(3)
const LPT_LINEAR_CAST_WGRAD_GRADIENT = lpt_linear_cast(4)
const LPT_LINEAR_CAST_WGRAD_INPUT = lpt_linear_cast(5)

const lpt_linear_operand = Int32
const LPT_LINEAR_OPERAND_INPUT = lpt_linear_operand(0)
const LPT_LINEAR_OPERAND_WEIGHT = lpt_linear_operand(1)
const LPT_LINEAR_OPERAND_GRADIENT = lpt_linear_operand(2)

const lpt_linear_gemm = Int32
const LPT_LINEAR_GEMM_FORWARD = lpt_linear_gemm(0)
const LPT_LINEAR_GEMM_DGRAD = lpt_linear_gemm(1)
const LPT_LINEAR_GEMM_WGRAD = lpt_linear_gemm(2)

const lpt_hadamard_signs = Int32
const LPT_HADAMARD_SIGNS_NONE = lpt_hadamard_signs(0)
const LPT_HADAMARD_SIGNS_FIXED = lpt_hadamard_signs(1)
const LPT_HADAMARD_SIGNS_RANDOM = lpt_hadamard_signs(2)

const lpt_hadamard_axis = Int32
const LPT_HADAMARD_AXIS_INNER = lpt_hadamard_axis(0)
const LPT_HADAMARD_AXIS_ROWS = lpt_hadamard_axis(1)

const lpt_linear_source = Int32
const LPT_LINEAR_SOURCE_PLAIN = lpt_linear_source(0)
const LPT_LINEAR_SOURCE_FORWARD = lpt_linear_source(1)
const LPT_LINEAR_SOURCE_FORWARD_CLIPPED = lpt_linear_source(2)

const lpt_linear_output_scale = Int32
const LPT_LINEAR_OUTPUT_SCALE_NONE = lpt_linear_output_scale(0)
const LPT_LINEAR_OUTPUT_SCALE_UNIT = lpt_linear_output_scale(1)

const lpt_hadamard_size = Int32
const LPT_HADAMARD_SIZE_DIVISOR = lpt_hadamard_size(-1)

const lpt_linear_parallel = Int32
const LPT_LINEAR_PARALLEL_NONE = lpt_linear_parallel(0)
const LPT_LINEAR_PARALLEL_COLUMNS = lpt_linear_parallel(1)
const LPT_LINEAR_PARALLEL_ROWS = lpt_linear_parallel(2)

const lpt_swiglu_smoothing = Int32
const LPT_SWIGLU_SMOOTHING_NONE = lpt_swiglu_smoothing(0)
const LPT_SWIGLU_SMOOTHING_CHANNEL = lpt_swiglu_smoothing(1)

const lpt_loss_reduction = Int32
const LPT_LOSS_REDUCTION_MEAN = lpt_loss_reduction(0)
const LPT_LOSS_REDUCTION_SUM = lpt_loss_reduction(1)
const LPT_LOSS_REDUCTION_NONE = lpt_loss_reduction(2)

const lpt_optimizer_method = Int32
const LPT_OPTIMIZER_METHOD_ADAMW = lpt_optimizer_method(0)
const LPT_OPTIMIZER_METHOD_ADAM = lpt_optimizer_method(1)
const LPT_OPTIMIZER_METHOD_SGD = lpt_optimizer_method(2)
const LPT_OPTIMIZER_METHOD_LION = lpt_optimizer_method(3)

const lpt_optimizer_underflow = Int32
const LPT_OPTIMIZER_UNDERFLOW_CLAMP = lpt_optimizer_underflow(0)
const LPT_OPTIMIZER_UNDERFLOW_ALLOWED = lpt_optimizer_underflow(1)
const LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC = lpt_optimizer_underflow(2)

const lpt_reduction = Int32
const LPT_REDUCTION_SUM = lpt_reduction(0)
const LPT_REDUCTION_AVERAGE = lpt_reduction(1)
const LPT_REDUCTION_MAXIMUM = lpt_reduction(2)
const LPT_REDUCTION_MINIMUM = lpt_reduction(3)

const lpt_reduce_algorithm = Int32
const LPT_REDUCE_ALGORITHM_AUTO = lpt_reduce_algorithm(0)
const LPT_REDUCE_ALGORITHM_ONE_SHOT = lpt_reduce_algorithm(1)
const LPT_REDUCE_ALGORITHM_TWO_SHOT = lpt_reduce_algorithm(2)
const LPT_REDUCE_ALGORITHM_NATIVE = lpt_reduce_algorithm(3)

const lpt_gradient_buckets_order = Int32
const LPT_GRADIENT_BUCKETS_ORDER_RECORDED = lpt_gradient_buckets_order(0)
const LPT_GRADIENT_BUCKETS_ORDER_REVERSED = lpt_gradient_buckets_order(1)

const lpt_partial_pass = Int32
const LPT_PARTIAL_PASS_FORWARD = lpt_partial_pass(0)
const LPT_PARTIAL_PASS_BACKWARD = lpt_partial_pass(1)

const lpt_partial_scale = Int32
const LPT_PARTIAL_SCALE_ROOT = lpt_partial_scale(0)
const LPT_PARTIAL_SCALE_ONE = lpt_partial_scale(1)
const LPT_PARTIAL_SCALE_CUSTOM = lpt_partial_scale(2)

const lpt_sequence_layout = Int32
const LPT_SEQUENCE_LAYOUT_CONTIGUOUS = lpt_sequence_layout(0)
const LPT_SEQUENCE_LAYOUT_ZIGZAG = lpt_sequence_layout(1)

const lpt_autopilot_reason = Int32
const LPT_AUTOPILOT_REASON_NONFINITE = lpt_autopilot_reason(0)
const LPT_AUTOPILOT_REASON_LOSS = lpt_autopilot_reason(1)
const LPT_AUTOPILOT_REASON_CLIPPED = lpt_autopilot_reason(2)
const LPT_AUTOPILOT_REASON_AMAX_GROWTH = lpt_autopilot_reason(3)
const LPT_AUTOPILOT_REASON_ALIGNMENT = lpt_autopilot_reason(4)
const LPT_AUTOPILOT_REASON_NOISE_RATIO = lpt_autopilot_reason(5)
const LPT_AUTOPILOT_REASON_LAST_STEPS = lpt_autopilot_reason(6)
const LPT_AUTOPILOT_REASON_CALM = lpt_autopilot_reason(7)

const lpt_cost_collective = Int32
const LPT_COST_COLLECTIVE_ALL_REDUCE = lpt_cost_collective(0)
const LPT_COST_COLLECTIVE_REDUCE_SCATTER = lpt_cost_collective(1)
const LPT_COST_COLLECTIVE_ALL_GATHER = lpt_cost_collective(2)
const LPT_COST_COLLECTIVE_BROADCAST = lpt_cost_collective(3)
const LPT_COST_COLLECTIVE_ALL_TO_ALL = lpt_cost_collective(4)

const lpt_cost_algorithm = Int32
const LPT_COST_ALGORITHM_BEST = lpt_cost_algorithm(0)
const LPT_COST_ALGORITHM_RING = lpt_cost_algorithm(1)
const LPT_COST_ALGORITHM_TREE = lpt_cost_algorithm(2)
const LPT_COST_ALGORITHM_TWO_SHOT = lpt_cost_algorithm(3)
const LPT_COST_ALGORITHM_ONE_SHOT = lpt_cost_algorithm(4)
const LPT_COST_ALGORITHM_STAR = lpt_cost_algorithm(5)

const lpt_delay_norm = Int32
const LPT_DELAY_NORM_TENSOR = lpt_delay_norm(0)
const LPT_DELAY_NORM_GLOBAL = lpt_delay_norm(1)

const lpt_gemm_arithmetic = Int32
const LPT_GEMM_ARITHMETIC_NATIVE = lpt_gemm_arithmetic(0)
const LPT_GEMM_ARITHMETIC_L_MUL = lpt_gemm_arithmetic(1)
const LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE = lpt_gemm_arithmetic(2)
const LPT_GEMM_ARITHMETIC_SHIFT = lpt_gemm_arithmetic(3)
const LPT_GEMM_ARITHMETIC_TENSOR_CORE = lpt_gemm_arithmetic(4)

const lpt_lossy_mode = Int32
const LPT_LOSSY_MODE_COUNT = lpt_lossy_mode(0)
const LPT_LOSSY_MODE_HORVITZ_THOMPSON = lpt_lossy_mode(1)

const lpt_noise_kind = Int32
const LPT_NOISE_KIND_REFERENCE = lpt_noise_kind(0)
const LPT_NOISE_KIND_TWO_DRAWS = lpt_noise_kind(1)

const lpt_power_arithmetic = Int32
const LPT_POWER_ARITHMETIC_SIGNED = lpt_power_arithmetic(0)
const LPT_POWER_ARITHMETIC_UNSIGNED = lpt_power_arithmetic(1)
const LPT_POWER_ARITHMETIC_ADDITIONS = lpt_power_arithmetic(2)

const lpt_topology_kind = Int32
const LPT_TOPOLOGY_KIND_TORUS = lpt_topology_kind(0)
const LPT_TOPOLOGY_KIND_MESH = lpt_topology_kind(1)
const LPT_TOPOLOGY_KIND_FULLY_CONNECTED = lpt_topology_kind(2)
const LPT_TOPOLOGY_KIND_FAT_TREE = lpt_topology_kind(3)
const LPT_TOPOLOGY_KIND_TWO_LEVEL = lpt_topology_kind(4)
const LPT_TOPOLOGY_KIND_GRAPH = lpt_topology_kind(5)

const lpt_schedule_algorithm = Int32
const LPT_SCHEDULE_ALGORITHM_MULTITREE = lpt_schedule_algorithm(0)
const LPT_SCHEDULE_ALGORITHM_RING = lpt_schedule_algorithm(1)
const LPT_SCHEDULE_ALGORITHM_DOUBLE_TREE = lpt_schedule_algorithm(2)
const LPT_SCHEDULE_ALGORITHM_HALVING = lpt_schedule_algorithm(3)
const LPT_SCHEDULE_ALGORITHM_HIERARCHICAL = lpt_schedule_algorithm(4)
const LPT_SCHEDULE_ALGORITHM_CUSTOM = lpt_schedule_algorithm(5)

const lpt_schedule_operation = Int32
const LPT_SCHEDULE_OPERATION_ADD = lpt_schedule_operation(0)
const LPT_SCHEDULE_OPERATION_COPY = lpt_schedule_operation(1)

const lpt_sparse_count = Int32
const LPT_SPARSE_COUNT_EXACT = lpt_sparse_count(0)
const LPT_SPARSE_COUNT_PUBLISHED = lpt_sparse_count(1)
