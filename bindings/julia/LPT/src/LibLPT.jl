# Declarations of lpt.h, which documents the contracts. Written by `python3 tools/make_bindings.py write`.

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


struct lpt_random
    seed::UInt64
    offset::Int64
    row_stride::Int64
    stream::UInt32
    step::UInt32
end

struct lpt_device_info
    struct_size::Csize_t
    device::lpt_device
    index::Int32
    count::Int32
    is_usable::Int32
    capability_major::Int32
    capability_minor::Int32
    processor_count::Int32
    reserved::Int32
    memory_bytes::Int64
    name::NTuple{128,UInt8}
    reason::NTuple{512,UInt8}
end

struct lpt_context_options
    struct_size::Csize_t
    thread_count::Int32
    isa::lpt_isa
    log_level::lpt_log_level
    parallel_for_width::Int32
    log::Ptr{Cvoid}
    log_user::Ptr{Cvoid}
    allocate::Ptr{Cvoid}
    release::Ptr{Cvoid}
    allocator_user::Ptr{Cvoid}
    parallel_for::Ptr{Cvoid}
    parallel_for_user::Ptr{Cvoid}
    error_text::Ptr{UInt8}
    error_text_bytes::Csize_t
    device::lpt_device
    device_index::Int32
    threads_of::Ptr{Cvoid}
    stream::Ptr{Cvoid}
    device_allocate::Ptr{Cvoid}
    device_release::Ptr{Cvoid}
    device_allocator_user::Ptr{Cvoid}
end

struct lpt_profile_entry
    struct_size::Csize_t
    operation::NTuple{32,UInt8}
    kernel::NTuple{64,UInt8}
    calls::Int64
    seconds::Cdouble
    bytes::Cdouble
    flops::Cdouble
end

struct lpt_format_description
    struct_size::Csize_t
    element::lpt_format
    block_scale::lpt_format
    tensor_scale::lpt_format
    block_rows::lpt_block_extent
    block_columns::lpt_block_extent
    element_bits::Int32
    exponent_bits::Int32
    mantissa_bits::Int32
    exponent_bias::Int32
    special::lpt_element_special
    reserved::Int32
    largest::Cdouble
    zero_point::lpt_format
    sparse_kept::Int32
    sparse_of::Int32
end

struct lpt_tensor_description
    struct_size::Csize_t
    format::lpt_format
    data::Ptr{Cvoid}
    rank::Int32
    reserved::Int32
    extents::Ptr{Int64}
    strides::Ptr{Int64}
    device::lpt_device
    device_index::Int32
    flags::lpt_flags
end

struct lpt_quantize_options
    struct_size::Csize_t
    flags::lpt_flags
    rounding::lpt_rounding
    overflow::lpt_overflow
    scale_rule::lpt_scale_rule
    stochastic_bits::Int32
    philox_rounds::Int32
    hadamard_size::Int32
    random::lpt_random
    scaler::Ptr{Cvoid}
    smoothing::Ptr{Cvoid}
    hadamard_signs::Ptr{Cvoid}
    random_words::Ptr{Cvoid}
    scale_list::Ptr{Cvoid}
    statistics::Ptr{Cvoid}
end

struct lpt_statistics_info
    struct_size::Csize_t
    element_count::Int64
    nan_count::Int64
    clipped_count::Int64
    underflow_count::Int64
    amax::Cdouble
    squared_sum::Cdouble
    squared_error::Cdouble
end

struct lpt_dequantize_options
    struct_size::Csize_t
    flags::lpt_flags
end

struct lpt_hadamard_options
    struct_size::Csize_t
    flags::lpt_flags
    size::Int32
    is_inverse::Int32
    signs::Ptr{Cvoid}
end

struct lpt_convert_options
    struct_size::Csize_t
    flags::lpt_flags
    statistics::Ptr{Cvoid}
end

struct lpt_scaler_options
    struct_size::Csize_t
    kind::lpt_scaler_kind
    history_length::Int32
    margin::Int32
    history_rule::lpt_scaler_history_rule
    zero_rule::lpt_scaler_zero_rule
    history_decay::Cfloat
end

struct lpt_scaler_info
    struct_size::Csize_t
    amax::Cfloat
    running_amax::Cfloat
    update_count::Int64
end

struct lpt_sparse_fit_options
    struct_size::Csize_t
    flags::lpt_flags
    iterations::Int32
    reserved::Int32
    damping::Cdouble
end

struct lpt_sparse_fit_info
    struct_size::Csize_t
    masked_error::Cdouble
    fitted_error::Cdouble
    iteration_count::Int64
end

struct lpt_calibration_options
    struct_size::Csize_t
    flags::lpt_flags
    has_gram::Int32
    has_cross_gram::Int32
end

struct lpt_calibration_info
    struct_size::Csize_t
    row_count::Int64
    amax::Cdouble
    mean::Cdouble
    mean_square::Cdouble
end

struct lpt_weights_fit_options
    struct_size::Csize_t
    flags::lpt_flags
    method::lpt_weights_fit_method
    order::lpt_weights_fit_order
    scale_rule::lpt_scale_rule
    reserved::Int32
    damping::Cdouble
    cross_gram::Ptr{Cvoid}
    inputs::Ptr{Cvoid}
    reference::Ptr{Cvoid}
    input_format::lpt_format
end

struct lpt_weights_fit_info
    struct_size::Csize_t
    nearest_error::Cdouble
    fitted_error::Cdouble
    damping::Cdouble
    ratio::Cdouble
    sample_error::Cdouble
    has_maxima::Int32
    reserved::Int32
end

struct lpt_format_choose_info
    struct_size::Csize_t
    error::Cdouble
    bound::Cdouble
    bytes::Int64
end

struct lpt_gemm_plan_info
    struct_size::Csize_t
    m::Int64
    n::Int64
    k::Int64
    workspace_bytes::Csize_t
    part_count::Int64
    kernel::NTuple{64,UInt8}
end

struct lpt_gemm_operands
    struct_size::Csize_t
    bias::Ptr{Cvoid}
    residual::Ptr{Cvoid}
    quantize::Ptr{lpt_quantize_options}
end

struct lpt_sparse_options
    struct_size::Csize_t
    flags::lpt_flags
    kept::Int32
    of::Int32
    rule::lpt_sparse_rule
    direction::lpt_sparse_direction
    solver::lpt_sparse_solver
    iterations::Int32
    sharpness::Cdouble
    random::lpt_random
    philox_rounds::Int32
    reserved::Int32
    importance::Ptr{Cvoid}
end

struct lpt_sparse_info
    struct_size::Csize_t
    element_count::Int64
    kept_count::Int64
    special_groups::Int64
    energy::Cdouble
    kept_energy::Cdouble
    variance::Cdouble
end

struct lpt_weights_options
    struct_size::Csize_t
    flags::lpt_flags
    output_order::Ptr{Int32}
    input_order::Ptr{Int32}
    storage::lpt_weights_storage
    tile_rows::Int32
    tile_columns::Int32
    reserved::Int32
end

struct lpt_rotary_scaling
    struct_size::Csize_t
    flags::lpt_flags
    kind::lpt_rotary_scaling_kind
    reserved::Int32
    base::Cdouble
    factor::Cdouble
    original_positions::Int64
    beta_fast::Cdouble
    beta_slow::Cdouble
    low_frequency_factor::Cdouble
    high_frequency_factor::Cdouble
end

struct lpt_rotary_options
    struct_size::Csize_t
    flags::lpt_flags
    positions::Ptr{Cvoid}
    first_position::Int64
    layout::lpt_rotary_layout
    is_inverse::Int32
    scale::Cdouble
end

struct lpt_kv_cache_options
    struct_size::Csize_t
    flags::lpt_flags
    batches::Int64
    key_heads::Int64
    capacity::Int64
    key_width::Int64
    value_width::Int64
    key_format::lpt_format
    value_format::lpt_format
    key_scale_rule::lpt_scale_rule
    value_scale_rule::lpt_scale_rule
    key_scale::Cdouble
    value_scale::Cdouble
end

struct lpt_linear_gemm_options
    struct_size::Csize_t
    flags::lpt_flags
    hadamard_size::lpt_hadamard_size
    hadamard_signs::lpt_hadamard_signs
    hadamard_axis::lpt_hadamard_axis
    source::lpt_linear_source
    draws::Int32
    parts::Int32
    output_scale::lpt_linear_output_scale
    reserved::Int32
end

struct lpt_linear_shape
    struct_size::Csize_t
    input_columns::Int64
    output_columns::Int64
end

struct lpt_linear_options
    struct_size::Csize_t
    flags::lpt_flags
    random::lpt_random
    first_row::Int64
    bias::Ptr{Cvoid}
    input_smoothing::Ptr{Cvoid}
    is_accumulated::Int32
    parallel::lpt_linear_parallel
    comm::Ptr{Cvoid}
    plan::Ptr{Cvoid}
end

struct lpt_loss_scaler_options
    struct_size::Csize_t
    initial_scale::Cdouble
    growth_factor::Cdouble
    backoff_factor::Cdouble
    growth_interval::Int64
    min_scale::Cdouble
    max_scale::Cdouble
end

struct lpt_loss_scaler_info
    struct_size::Csize_t
    scale::Cdouble
    finite_count::Int64
    skipped_count::Int64
    is_skipped::Int32
    reserved::Int32
end

struct lpt_embedding_options
    struct_size::Csize_t
    flags::lpt_flags
    padding_index::Int64
    is_accumulated::Int32
    reserved::Int32
end

struct lpt_swiglu_options
    struct_size::Csize_t
    flags::lpt_flags
    smoothing::lpt_swiglu_smoothing
    reserved::Int32
end

struct lpt_rmsnorm_options
    struct_size::Csize_t
    flags::lpt_flags
    epsilon::Cdouble
    is_accumulated::Int32
    reserved::Int32
    residual_gradient::Ptr{Cvoid}
end

struct lpt_layernorm_options
    struct_size::Csize_t
    flags::lpt_flags
    epsilon::Cdouble
    is_accumulated::Int32
    reserved::Int32
    residual_gradient::Ptr{Cvoid}
end

struct lpt_softmax_options
    struct_size::Csize_t
    flags::lpt_flags
    scale::Cdouble
    is_causal::Int32
    reserved::Int32
end

struct lpt_cross_entropy_options
    struct_size::Csize_t
    flags::lpt_flags
    comm::Ptr{Cvoid}
    ignored_target::Int64
    label_smoothing::Cdouble
    reduction::lpt_loss_reduction
    reserved::Int32
end

struct lpt_optimizer_options
    struct_size::Csize_t
    flags::lpt_flags
    beta1::Cdouble
    beta2::Cdouble
    epsilon::Cdouble
    second_underflow::lpt_optimizer_underflow
    method::lpt_optimizer_method
    is_nesterov::Int32
    reserved::Int32
end

struct lpt_optimizer_parameter
    struct_size::Csize_t
    elements::Int64
    first_moment::lpt_format
    second_moment::lpt_format
    weight_decay::Cdouble
    is_first_expanded::Int32
    is_second_expanded::Int32
    compensation::lpt_format
    first_scaling::lpt_scaler_kind
    second_scaling::lpt_scaler_kind
    whole_elements::Int64
    var"begin"::Int64
    random_stream::Int64
end

struct lpt_optimizer_step_options
    struct_size::Csize_t
    flags::lpt_flags
    learning_rate::Cdouble
    gradient_scale::Cdouble
    random::lpt_random
    first_moment_rounding::lpt_rounding
    second_moment_rounding::lpt_rounding
    parameter_rounding::lpt_rounding
    is_nonfinite_skipped::Int32
    largest_norm::Cdouble
    gradient_norm::Cdouble
    loss_scaler::Ptr{Cvoid}
end

struct lpt_optimizer_info
    struct_size::Csize_t
    gradient_norm::Cdouble
    clip_factor::Cdouble
    skipped_count::Int64
    is_skipped::Int32
    reserved::Int32
end

struct lpt_gradients_info
    struct_size::Csize_t
    sum_of_squares::Cdouble
    nonfinite_count::Int64
end

struct lpt_comm_info
    struct_size::Csize_t
    rank::Int32
    rank_count::Int32
    engine::NTuple{32,UInt8}
    collectives::Int64
    bytes_sent::Int64
    bytes_received::Int64
    seconds::Cdouble
end

struct lpt_comm_functions
    struct_size::Csize_t
    name::NTuple{32,UInt8}
    send::Ptr{Cvoid}
    receive::Ptr{Cvoid}
    test::Ptr{Cvoid}
    cancel::Ptr{Cvoid}
    exchange::Ptr{Cvoid}
    all_reduce::Ptr{Cvoid}
    abort::Ptr{Cvoid}
    close::Ptr{Cvoid}
end

struct lpt_gradient_buckets_options
    struct_size::Csize_t
    flags::lpt_flags
    bucket_bytes::Csize_t
    order::lpt_gradient_buckets_order
    reserved::Int32
    names::Ptr{Ptr{UInt8}}
end

struct lpt_gradient_buckets_info
    struct_size::Csize_t
    bucket_count::Int64
    ready_count::Int64
    launched_count::Int64
    wait_seconds::Cdouble
    is_recorded::Int32
    reserved::Int32
end

struct lpt_partial_plan_options
    struct_size::Csize_t
    flags::lpt_flags
    hidden_columns::Int64
    shared_columns::Int64
    rank_count::Int32
    private_scale::lpt_partial_scale
    custom_scale::Cdouble
    forward_wire::lpt_format
    backward_wire::lpt_format
    chunk_rows::Int64
    link_latency_seconds::Cdouble
    link_bytes_per_second::Cdouble
end

struct lpt_partial_plan_info
    struct_size::Csize_t
    hidden_columns::Int64
    shared_columns::Int64
    rank_count::Int32
    reserved::Int32
    private_scale::Cdouble
    forward_row_bytes::Cdouble
    backward_row_bytes::Cdouble
end

struct lpt_sequence_attention_options
    struct_size::Csize_t
    flags::lpt_flags
    scale::Cdouble
    is_causal::Int32
    layout::lpt_sequence_layout
    wire::lpt_format
    log_sum_exp::Ptr{Cvoid}
    output::Ptr{Cvoid}
end

struct lpt_autopilot_options
    struct_size::Csize_t
    step_count::Int64
    interval::Int64
    budget::Cdouble
    loss_limit::Cdouble
    clipped_limit::Cdouble
    amax_growth_limit::Cdouble
    alignment_limit::Cdouble
    noise_ratio_limit::Cdouble
    calm_decisions::Int64
    raises_last_steps::Int32
    reserved::Int32
end

struct lpt_autopilot_decision
    step::Int64
    layer::Int32
    gemm::lpt_linear_gemm
    old_level::Int32
    new_level::Int32
    reason::lpt_autopilot_reason
    reserved::Int32
    value::Cdouble
    limit::Cdouble
end

struct lpt_autopilot_info
    struct_size::Csize_t
    steps_done::Int64
    decision_count::Int64
    mean_cost::Cdouble
    next_cost::Cdouble
end

struct lpt_comm_codec
    struct_size::Csize_t
    name::NTuple{16,UInt8}
    bytes_for::Ptr{Cvoid}
    encode::Ptr{Cvoid}
    decode::Ptr{Cvoid}
    decode_add::Ptr{Cvoid}
    user::Ptr{Cvoid}
end

struct lpt_reduce_options
    struct_size::Csize_t
    flags::lpt_flags
    reduction::lpt_reduction
    reserved::Int32
    factor::Cdouble
    wire::lpt_format
    algorithm::lpt_reduce_algorithm
    rounding::lpt_rounding
    random::lpt_random
    codec::Ptr{lpt_comm_codec}
    outer_comm::Ptr{Cvoid}
    outer::Ptr{lpt_reduce_options}
end

struct lpt_all_gather_options
    struct_size::Csize_t
    flags::lpt_flags
    codec::Ptr{lpt_comm_codec}
    cast::Ptr{lpt_quantize_options}
end

struct lpt_optimizer_shard_options
    struct_size::Csize_t
    flags::lpt_flags
    reduce::Ptr{lpt_reduce_options}
end

struct lpt_cost_link
    struct_size::Csize_t
    latency_seconds::Cdouble
    bytes_per_second::Cdouble
    reduce_bytes_per_second::Cdouble
end

struct lpt_cost_info
    struct_size::Csize_t
    algorithm::lpt_cost_algorithm
    step_count::Int32
    payload_bytes::Cdouble
    rank_bytes::Cdouble
    total_bytes::Cdouble
    seconds::Cdouble
end

struct lpt_cost_cast_rates
    struct_size::Csize_t
    overhead_seconds::Cdouble
    encode_bytes_per_second::Cdouble
    decode_bytes_per_second::Cdouble
end

struct lpt_delay_options
    struct_size::Csize_t
    flags::lpt_flags
    strength::Cdouble
    norm::lpt_delay_norm
    reserved::Int32
end

struct lpt_drop_compute_info
    struct_size::Csize_t
    threshold_seconds::Cdouble
    full_seconds::Cdouble
    step_seconds::Cdouble
    kept_fraction::Cdouble
    speedup::Cdouble
end

struct lpt_gemm_emulation
    struct_size::Csize_t
    arithmetic::lpt_gemm_arithmetic
    bits::Int32
end

struct lpt_gemm_options
    struct_size::Csize_t
    flags::lpt_flags
    alpha::Cdouble
    beta::Cdouble
    is_a_transposed::Int32
    is_b_transposed::Int32
    bias::Ptr{Cvoid}
    activation::lpt_activation
    reserved::Int32
    residual::Ptr{Cvoid}
    quantize::Ptr{lpt_quantize_options}
    outlier_threshold::Cdouble
    emulation::Ptr{lpt_gemm_emulation}
end

struct lpt_comm_emulation
    struct_size::Csize_t
    link_latency_seconds::Cdouble
    link_bytes_per_second::Cdouble
    damaged_message::Int64
end

struct lpt_comm_options
    struct_size::Csize_t
    flags::lpt_flags
    timeout_seconds::Cdouble
    bootstrap::Ptr{Cvoid}
    emulation::Ptr{lpt_comm_emulation}
end

struct lpt_exaq_options
    struct_size::Csize_t
    flags::lpt_flags
    scale::Cdouble
    clip::Cdouble
    bits::Int32
    is_causal::Int32
end

struct lpt_attention_options
    struct_size::Csize_t
    flags::lpt_flags
    scale::Cdouble
    is_causal::Int32
    reserved::Int32
    window::Int64
    mask::Ptr{Cvoid}
    log_sum_exp::Ptr{Cvoid}
    output::Ptr{Cvoid}
    key_lengths::Ptr{Cvoid}
    exaq::Ptr{lpt_exaq_options}
end

struct lpt_lossy_link_options
    struct_size::Csize_t
    address::NTuple{64,UInt8}
    port::Int32
    payload_bytes::Int32
    timeout_seconds::Cdouble
    quiet_seconds::Cdouble
    injected_loss::Cdouble
    injected_duplication::Cdouble
    injected_reordering::Cdouble
    injected_corruption::Cdouble
    seed::UInt64
end

struct lpt_lossy_link_info
    struct_size::Csize_t
    rank_count::Int32
    port::Int32
    payload_bytes::Int64
    receive_buffer_bytes::Int64
    call_count::Int64
    sent_count::Int64
    unsent_count::Int64
    received_count::Int64
    lost_count::Int64
    duplicate_count::Int64
    late_count::Int64
    corrupted_count::Int64
    stranger_count::Int64
    malformed_count::Int64
end

struct lpt_lossy_info
    struct_size::Csize_t
    drift::Cdouble
    one_step_drift::Cdouble
    mean_age::Cdouble
    owner_weight::Cdouble
    other_weight::Cdouble
    horvitz_thompson_variance::Cdouble
end

struct lpt_noise_options
    struct_size::Csize_t
    flags::lpt_flags
    kind::lpt_noise_kind
    reserved::Int32
end

struct lpt_noise_info
    struct_size::Csize_t
    gradient_norm::Cdouble
    noise_norm::Cdouble
    ratio::Cdouble
    nonfinite_count::Int64
    is_noisy::Int32
    reserved::Int32
end

struct lpt_swiglu_alignment_info
    struct_size::Csize_t
    mean::Cdouble
    mean_magnitude::Cdouble
    largest::Cdouble
    largest_channel::Int64
end

struct lpt_power_options
    struct_size::Csize_t
    arithmetic::lpt_power_arithmetic
    weight_bits::Int32
    input_bits::Int32
    accumulator_bits::Int32
    additions::Cdouble
end

struct lpt_power_info
    struct_size::Csize_t
    additions::Cdouble
    largest_code::Int64
    clipped_count::Int64
end

struct lpt_topology_link
    source::Int32
    target::Int32
    latency_seconds::Cdouble
    bytes_per_second::Cdouble
end

struct lpt_topology_info
    struct_size::Csize_t
    kind::lpt_topology_kind
    rank_count::Int32
    switch_count::Int32
    link_count::Int32
end

struct lpt_schedule_send
    step::Int32
    source::Int32
    target::Int32
    first_chunk::Int32
    chunk_count::Int32
    operation::lpt_schedule_operation
end

struct lpt_schedule_options
    struct_size::Csize_t
    group_ranks::Int32
    tree_chunks::Int32
end

struct lpt_schedule_info
    struct_size::Csize_t
    algorithm::lpt_schedule_algorithm
    rank_count::Int32
    chunk_count::Int32
    step_count::Int32
    add_step_count::Int32
    copy_step_count::Int32
    least_step_count::Int32
    reserved::Int32
    send_count::Int64
    hop_count::Int64
end

# Functions that write the defaults of structs.
_defaults(::Type{lpt_device_info}, value) = lpt_struct_init("lpt_device_info", value, sizeof(lpt_device_info))
_defaults(::Type{lpt_context_options}, value) = lpt_struct_init("lpt_context_options", value, sizeof(lpt_context_options))
_defaults(::Type{lpt_profile_entry}, value) = lpt_struct_init("lpt_profile_entry", value, sizeof(lpt_profile_entry))
_defaults(::Type{lpt_format_description}, value) = lpt_struct_init("lpt_format_description", value, sizeof(lpt_format_description))
_defaults(::Type{lpt_tensor_description}, value) = lpt_struct_init("lpt_tensor_description", value, sizeof(lpt_tensor_description))
_defaults(::Type{lpt_quantize_options}, value) = lpt_struct_init("lpt_quantize_options", value, sizeof(lpt_quantize_options))
_defaults(::Type{lpt_statistics_info}, value) = lpt_struct_init("lpt_statistics_info", value, sizeof(lpt_statistics_info))
_defaults(::Type{lpt_dequantize_options}, value) = lpt_struct_init("lpt_dequantize_options", value, sizeof(lpt_dequantize_options))
_defaults(::Type{lpt_hadamard_options}, value) = lpt_struct_init("lpt_hadamard_options", value, sizeof(lpt_hadamard_options))
_defaults(::Type{lpt_convert_options}, value) = lpt_struct_init("lpt_convert_options", value, sizeof(lpt_convert_options))
_defaults(::Type{lpt_scaler_options}, value) = lpt_struct_init("lpt_scaler_options", value, sizeof(lpt_scaler_options))
_defaults(::Type{lpt_scaler_info}, value) = lpt_struct_init("lpt_scaler_info", value, sizeof(lpt_scaler_info))
_defaults(::Type{lpt_sparse_fit_options}, value) = lpt_struct_init("lpt_sparse_fit_options", value, sizeof(lpt_sparse_fit_options))
_defaults(::Type{lpt_sparse_fit_info}, value) = lpt_struct_init("lpt_sparse_fit_info", value, sizeof(lpt_sparse_fit_info))
_defaults(::Type{lpt_calibration_options}, value) = lpt_struct_init("lpt_calibration_options", value, sizeof(lpt_calibration_options))
_defaults(::Type{lpt_calibration_info}, value) = lpt_struct_init("lpt_calibration_info", value, sizeof(lpt_calibration_info))
_defaults(::Type{lpt_weights_fit_options}, value) = lpt_struct_init("lpt_weights_fit_options", value, sizeof(lpt_weights_fit_options))
_defaults(::Type{lpt_weights_fit_info}, value) = lpt_struct_init("lpt_weights_fit_info", value, sizeof(lpt_weights_fit_info))
_defaults(::Type{lpt_format_choose_info}, value) = lpt_struct_init("lpt_format_choose_info", value, sizeof(lpt_format_choose_info))
_defaults(::Type{lpt_gemm_options}, value) = lpt_struct_init("lpt_gemm_options", value, sizeof(lpt_gemm_options))
_defaults(::Type{lpt_gemm_plan_info}, value) = lpt_struct_init("lpt_gemm_plan_info", value, sizeof(lpt_gemm_plan_info))
_defaults(::Type{lpt_gemm_operands}, value) = lpt_struct_init("lpt_gemm_operands", value, sizeof(lpt_gemm_operands))
_defaults(::Type{lpt_sparse_options}, value) = lpt_struct_init("lpt_sparse_options", value, sizeof(lpt_sparse_options))
_defaults(::Type{lpt_sparse_info}, value) = lpt_struct_init("lpt_sparse_info", value, sizeof(lpt_sparse_info))
_defaults(::Type{lpt_weights_options}, value) = lpt_struct_init("lpt_weights_options", value, sizeof(lpt_weights_options))
_defaults(::Type{lpt_rotary_scaling}, value) = lpt_struct_init("lpt_rotary_scaling", value, sizeof(lpt_rotary_scaling))
_defaults(::Type{lpt_rotary_options}, value) = lpt_struct_init("lpt_rotary_options", value, sizeof(lpt_rotary_options))
_defaults(::Type{lpt_attention_options}, value) = lpt_struct_init("lpt_attention_options", value, sizeof(lpt_attention_options))
_defaults(::Type{lpt_kv_cache_options}, value) = lpt_struct_init("lpt_kv_cache_options", value, sizeof(lpt_kv_cache_options))
_defaults(::Type{lpt_linear_gemm_options}, value) = lpt_struct_init("lpt_linear_gemm_options", value, sizeof(lpt_linear_gemm_options))
_defaults(::Type{lpt_linear_shape}, value) = lpt_struct_init("lpt_linear_shape", value, sizeof(lpt_linear_shape))
_defaults(::Type{lpt_linear_options}, value) = lpt_struct_init("lpt_linear_options", value, sizeof(lpt_linear_options))
_defaults(::Type{lpt_loss_scaler_options}, value) = lpt_struct_init("lpt_loss_scaler_options", value, sizeof(lpt_loss_scaler_options))
_defaults(::Type{lpt_loss_scaler_info}, value) = lpt_struct_init("lpt_loss_scaler_info", value, sizeof(lpt_loss_scaler_info))
_defaults(::Type{lpt_embedding_options}, value) = lpt_struct_init("lpt_embedding_options", value, sizeof(lpt_embedding_options))
_defaults(::Type{lpt_swiglu_options}, value) = lpt_struct_init("lpt_swiglu_options", value, sizeof(lpt_swiglu_options))
_defaults(::Type{lpt_rmsnorm_options}, value) = lpt_struct_init("lpt_rmsnorm_options", value, sizeof(lpt_rmsnorm_options))
_defaults(::Type{lpt_layernorm_options}, value) = lpt_struct_init("lpt_layernorm_options", value, sizeof(lpt_layernorm_options))
_defaults(::Type{lpt_softmax_options}, value) = lpt_struct_init("lpt_softmax_options", value, sizeof(lpt_softmax_options))
_defaults(::Type{lpt_cross_entropy_options}, value) = lpt_struct_init("lpt_cross_entropy_options", value, sizeof(lpt_cross_entropy_options))
_defaults(::Type{lpt_optimizer_options}, value) = lpt_struct_init("lpt_optimizer_options", value, sizeof(lpt_optimizer_options))
_defaults(::Type{lpt_optimizer_parameter}, value) = lpt_struct_init("lpt_optimizer_parameter", value, sizeof(lpt_optimizer_parameter))
_defaults(::Type{lpt_optimizer_step_options}, value) = lpt_struct_init("lpt_optimizer_step_options", value, sizeof(lpt_optimizer_step_options))
_defaults(::Type{lpt_optimizer_info}, value) = lpt_struct_init("lpt_optimizer_info", value, sizeof(lpt_optimizer_info))
_defaults(::Type{lpt_gradients_info}, value) = lpt_struct_init("lpt_gradients_info", value, sizeof(lpt_gradients_info))
_defaults(::Type{lpt_comm_options}, value) = lpt_struct_init("lpt_comm_options", value, sizeof(lpt_comm_options))
_defaults(::Type{lpt_comm_info}, value) = lpt_struct_init("lpt_comm_info", value, sizeof(lpt_comm_info))
_defaults(::Type{lpt_reduce_options}, value) = lpt_struct_init("lpt_reduce_options", value, sizeof(lpt_reduce_options))
_defaults(::Type{lpt_all_gather_options}, value) = lpt_struct_init("lpt_all_gather_options", value, sizeof(lpt_all_gather_options))
_defaults(::Type{lpt_comm_functions}, value) = lpt_struct_init("lpt_comm_functions", value, sizeof(lpt_comm_functions))
_defaults(::Type{lpt_gradient_buckets_options}, value) = lpt_struct_init("lpt_gradient_buckets_options", value, sizeof(lpt_gradient_buckets_options))
_defaults(::Type{lpt_gradient_buckets_info}, value) = lpt_struct_init("lpt_gradient_buckets_info", value, sizeof(lpt_gradient_buckets_info))
_defaults(::Type{lpt_optimizer_shard_options}, value) = lpt_struct_init("lpt_optimizer_shard_options", value, sizeof(lpt_optimizer_shard_options))
_defaults(::Type{lpt_partial_plan_options}, value) = lpt_struct_init("lpt_partial_plan_options", value, sizeof(lpt_partial_plan_options))
_defaults(::Type{lpt_partial_plan_info}, value) = lpt_struct_init("lpt_partial_plan_info", value, sizeof(lpt_partial_plan_info))
_defaults(::Type{lpt_sequence_attention_options}, value) = lpt_struct_init("lpt_sequence_attention_options", value, sizeof(lpt_sequence_attention_options))
_defaults(::Type{lpt_autopilot_options}, value) = lpt_struct_init("lpt_autopilot_options", value, sizeof(lpt_autopilot_options))
_defaults(::Type{lpt_autopilot_info}, value) = lpt_struct_init("lpt_autopilot_info", value, sizeof(lpt_autopilot_info))
_defaults(::Type{lpt_comm_codec}, value) = lpt_struct_init("lpt_comm_codec", value, sizeof(lpt_comm_codec))
_defaults(::Type{lpt_cost_link}, value) = lpt_struct_init("lpt_cost_link", value, sizeof(lpt_cost_link))
_defaults(::Type{lpt_cost_info}, value) = lpt_struct_init("lpt_cost_info", value, sizeof(lpt_cost_info))
_defaults(::Type{lpt_cost_cast_rates}, value) = lpt_struct_init("lpt_cost_cast_rates", value, sizeof(lpt_cost_cast_rates))
_defaults(::Type{lpt_delay_options}, value) = lpt_struct_init("lpt_delay_options", value, sizeof(lpt_delay_options))
_defaults(::Type{lpt_drop_compute_info}, value) = lpt_struct_init("lpt_drop_compute_info", value, sizeof(lpt_drop_compute_info))
_defaults(::Type{lpt_gemm_emulation}, value) = lpt_struct_init("lpt_gemm_emulation", value, sizeof(lpt_gemm_emulation))
_defaults(::Type{lpt_comm_emulation}, value) = lpt_struct_init("lpt_comm_emulation", value, sizeof(lpt_comm_emulation))
_defaults(::Type{lpt_exaq_options}, value) = lpt_struct_init("lpt_exaq_options", value, sizeof(lpt_exaq_options))
_defaults(::Type{lpt_lossy_link_options}, value) = lpt_struct_init("lpt_lossy_link_options", value, sizeof(lpt_lossy_link_options))
_defaults(::Type{lpt_lossy_link_info}, value) = lpt_struct_init("lpt_lossy_link_info", value, sizeof(lpt_lossy_link_info))
_defaults(::Type{lpt_lossy_info}, value) = lpt_struct_init("lpt_lossy_info", value, sizeof(lpt_lossy_info))
_defaults(::Type{lpt_noise_options}, value) = lpt_struct_init("lpt_noise_options", value, sizeof(lpt_noise_options))
_defaults(::Type{lpt_noise_info}, value) = lpt_struct_init("lpt_noise_info", value, sizeof(lpt_noise_info))
_defaults(::Type{lpt_swiglu_alignment_info}, value) = lpt_struct_init("lpt_swiglu_alignment_info", value, sizeof(lpt_swiglu_alignment_info))
_defaults(::Type{lpt_power_options}, value) = lpt_struct_init("lpt_power_options", value, sizeof(lpt_power_options))
_defaults(::Type{lpt_power_info}, value) = lpt_struct_init("lpt_power_info", value, sizeof(lpt_power_info))
_defaults(::Type{lpt_topology_info}, value) = lpt_struct_init("lpt_topology_info", value, sizeof(lpt_topology_info))
_defaults(::Type{lpt_schedule_options}, value) = lpt_struct_init("lpt_schedule_options", value, sizeof(lpt_schedule_options))
_defaults(::Type{lpt_schedule_info}, value) = lpt_struct_init("lpt_schedule_info", value, sizeof(lpt_schedule_info))

lpt_version() = ccall(_symbol(:lpt_version), Int32, ())
lpt_version_string() = ccall(_symbol(:lpt_version_string), Cstring, ())
lpt_abi_level() = ccall(_symbol(:lpt_abi_level), Int32, ())
lpt_build_info() = ccall(_symbol(:lpt_build_info), Cstring, ())
lpt_status_string(status) = ccall(_symbol(:lpt_status_string), Cstring, (lpt_status,), status)
lpt_struct_init(name, object, struct_size) = ccall(_symbol(:lpt_struct_init), Int32, (Cstring, Ptr{Cvoid}, Csize_t), name, object, struct_size)
lpt_device_describe(context, device, index, out_description) = ccall(_symbol(:lpt_device_describe), lpt_status, (Ptr{Cvoid}, lpt_device, Int32, Ptr{lpt_device_info}), context, device, index, out_description)
lpt_context_create(options, out_context) = ccall(_symbol(:lpt_context_create), lpt_status, (Ptr{lpt_context_options}, Ptr{Ptr{Cvoid}}), options, out_context)
lpt_context_destroy(context) = ccall(_symbol(:lpt_context_destroy), Cvoid, (Ptr{Cvoid},), context)
lpt_context_error(context) = ccall(_symbol(:lpt_context_error), Cstring, (Ptr{Cvoid},), context)
lpt_context_explanation(context) = ccall(_symbol(:lpt_context_explanation), Cstring, (Ptr{Cvoid},), context)
lpt_context_set_threads(context, thread_count) = ccall(_symbol(:lpt_context_set_threads), lpt_status, (Ptr{Cvoid}, Int32), context, thread_count)
lpt_context_set_isa(context, isa) = ccall(_symbol(:lpt_context_set_isa), lpt_status, (Ptr{Cvoid}, lpt_isa), context, isa)
lpt_context_set_stream(context, stream) = ccall(_symbol(:lpt_context_set_stream), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}), context, stream)
lpt_context_stream(context) = ccall(_symbol(:lpt_context_stream), Ptr{Cvoid}, (Ptr{Cvoid},), context)
lpt_context_wait_stream(context, stream) = ccall(_symbol(:lpt_context_wait_stream), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}), context, stream)
lpt_context_notify_stream(context, stream) = ccall(_symbol(:lpt_context_notify_stream), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}), context, stream)
lpt_context_wait_event(context, event) = ccall(_symbol(:lpt_context_wait_event), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}), context, event)
lpt_context_record_event(context, event) = ccall(_symbol(:lpt_context_record_event), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}), context, event)
lpt_context_trim(context, keep_bytes) = ccall(_symbol(:lpt_context_trim), lpt_status, (Ptr{Cvoid}, Csize_t), context, keep_bytes)
lpt_context_synchronize(context) = ccall(_symbol(:lpt_context_synchronize), lpt_status, (Ptr{Cvoid},), context)
lpt_context_set_log(context, level, log, log_user) = ccall(_symbol(:lpt_context_set_log), lpt_status, (Ptr{Cvoid}, lpt_log_level, Ptr{Cvoid}, Ptr{Cvoid}), context, level, log, log_user)
lpt_context_set_progress(context, progress, progress_user) = ccall(_symbol(:lpt_context_set_progress), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, progress, progress_user)
lpt_context_set_profile(context, is_enabled) = ccall(_symbol(:lpt_context_set_profile), lpt_status, (Ptr{Cvoid}, Int32), context, is_enabled)
lpt_context_profile_count(context, out_count) = ccall(_symbol(:lpt_context_profile_count), lpt_status, (Ptr{Cvoid}, Ptr{Int64}), context, out_count)
lpt_context_profile_entry(context, index, out_entry) = ccall(_symbol(:lpt_context_profile_entry), lpt_status, (Ptr{Cvoid}, Int64, Ptr{lpt_profile_entry}), context, index, out_entry)
lpt_context_profile_save(context, path) = ccall(_symbol(:lpt_context_profile_save), lpt_status, (Ptr{Cvoid}, Cstring), context, path)
lpt_format_from_description(context, description, out_format) = ccall(_symbol(:lpt_format_from_description), lpt_status, (Ptr{Cvoid}, Ptr{lpt_format_description}, Ptr{lpt_format}), context, description, out_format)
lpt_format_from_name(context, name, out_format) = ccall(_symbol(:lpt_format_from_name), lpt_status, (Ptr{Cvoid}, Cstring, Ptr{lpt_format}), context, name, out_format)
lpt_format_write_name(context, format, buffer, buffer_bytes, out_needed_bytes) = ccall(_symbol(:lpt_format_write_name), lpt_status, (Ptr{Cvoid}, lpt_format, Ptr{UInt8}, Csize_t, Ptr{Csize_t}), context, format, buffer, buffer_bytes, out_needed_bytes)
lpt_format_describe(context, format, out_description) = ccall(_symbol(:lpt_format_describe), lpt_status, (Ptr{Cvoid}, lpt_format, Ptr{lpt_format_description}), context, format, out_description)
lpt_format_write_text(context, format, buffer, buffer_bytes, out_needed_bytes) = ccall(_symbol(:lpt_format_write_text), lpt_status, (Ptr{Cvoid}, lpt_format, Ptr{UInt8}, Csize_t, Ptr{Csize_t}), context, format, buffer, buffer_bytes, out_needed_bytes)
lpt_format_count() = ccall(_symbol(:lpt_format_count), Int64, ())
lpt_format_at(index) = ccall(_symbol(:lpt_format_at), lpt_format, (Int64,), index)
lpt_format_name(format) = ccall(_symbol(:lpt_format_name), Cstring, (lpt_format,), format)
lpt_tensor_create(context, format, rank, extents, out_tensor) = ccall(_symbol(:lpt_tensor_create), lpt_status, (Ptr{Cvoid}, lpt_format, Int32, Ptr{Int64}, Ptr{Ptr{Cvoid}}), context, format, rank, extents, out_tensor)
lpt_tensor_create_matrix(context, format, rows, columns, out_tensor) = ccall(_symbol(:lpt_tensor_create_matrix), lpt_status, (Ptr{Cvoid}, lpt_format, Int64, Int64, Ptr{Ptr{Cvoid}}), context, format, rows, columns, out_tensor)
lpt_tensor_wrap(context, description, out_tensor) = ccall(_symbol(:lpt_tensor_wrap), lpt_status, (Ptr{Cvoid}, Ptr{lpt_tensor_description}, Ptr{Ptr{Cvoid}}), context, description, out_tensor)
lpt_tensor_wrap_matrix(context, format, data, rows, columns, row_stride, out_tensor) = ccall(_symbol(:lpt_tensor_wrap_matrix), lpt_status, (Ptr{Cvoid}, lpt_format, Ptr{Cvoid}, Int64, Int64, Int64, Ptr{Ptr{Cvoid}}), context, format, data, rows, columns, row_stride, out_tensor)
lpt_tensor_wrap_const_matrix(context, format, data, rows, columns, row_stride, out_tensor) = ccall(_symbol(:lpt_tensor_wrap_const_matrix), lpt_status, (Ptr{Cvoid}, lpt_format, Ptr{Cvoid}, Int64, Int64, Int64, Ptr{Ptr{Cvoid}}), context, format, data, rows, columns, row_stride, out_tensor)
lpt_tensor_view(context, tensor, begins, extents, out_tensor) = ccall(_symbol(:lpt_tensor_view), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Int64}, Ptr{Int64}, Ptr{Ptr{Cvoid}}), context, tensor, begins, extents, out_tensor)
lpt_tensor_view_part(context, tensor, part, out_tensor) = ccall(_symbol(:lpt_tensor_view_part), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_tensor_part, Ptr{Ptr{Cvoid}}), context, tensor, part, out_tensor)
lpt_tensor_combine(context, format, rows, columns, parts, part_count, out_tensor) = ccall(_symbol(:lpt_tensor_combine), lpt_status, (Ptr{Cvoid}, lpt_format, Int64, Int64, Ptr{Ptr{Cvoid}}, Int32, Ptr{Ptr{Cvoid}}), context, format, rows, columns, parts, part_count, out_tensor)
lpt_tensor_describe(context, tensor, out_description) = ccall(_symbol(:lpt_tensor_describe), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_tensor_description}), context, tensor, out_description)
lpt_tensor_format(tensor) = ccall(_symbol(:lpt_tensor_format), lpt_format, (Ptr{Cvoid},), tensor)
lpt_tensor_rank(tensor) = ccall(_symbol(:lpt_tensor_rank), Int32, (Ptr{Cvoid},), tensor)
lpt_tensor_extent(tensor, axis) = ccall(_symbol(:lpt_tensor_extent), Int64, (Ptr{Cvoid}, Int32), tensor, axis)
lpt_tensor_stride(tensor, axis) = ccall(_symbol(:lpt_tensor_stride), Int64, (Ptr{Cvoid}, Int32), tensor, axis)
lpt_tensor_data(tensor) = ccall(_symbol(:lpt_tensor_data), Ptr{Cvoid}, (Ptr{Cvoid},), tensor)
lpt_tensor_const_data(tensor) = ccall(_symbol(:lpt_tensor_const_data), Ptr{Cvoid}, (Ptr{Cvoid},), tensor)
lpt_tensor_device(tensor, out_index) = ccall(_symbol(:lpt_tensor_device), lpt_device, (Ptr{Cvoid}, Ptr{Int32}), tensor, out_index)
lpt_tensor_size(context, tensor, out_size_bytes) = ccall(_symbol(:lpt_tensor_size), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Csize_t}), context, tensor, out_size_bytes)
lpt_tensor_copy(context, source, target) = ccall(_symbol(:lpt_tensor_copy), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, source, target)
lpt_tensor_destroy(tensor) = ccall(_symbol(:lpt_tensor_destroy), Cvoid, (Ptr{Cvoid},), tensor)
lpt_tensor_from_dlpack(context, managed, is_versioned, out_flags, out_tensor) = ccall(_symbol(:lpt_tensor_from_dlpack), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32, Ptr{lpt_flags}, Ptr{Ptr{Cvoid}}), context, managed, is_versioned, out_flags, out_tensor)
lpt_tensor_take_dlpack(context, managed, is_versioned, out_flags, out_tensor) = ccall(_symbol(:lpt_tensor_take_dlpack), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32, Ptr{lpt_flags}, Ptr{Ptr{Cvoid}}), context, managed, is_versioned, out_flags, out_tensor)
lpt_tensor_to_dlpack(context, tensor, is_versioned, out_managed) = ccall(_symbol(:lpt_tensor_to_dlpack), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32, Ptr{Ptr{Cvoid}}), context, tensor, is_versioned, out_managed)
lpt_foreign_layout_size(context, tensor, layout, out_size_bytes) = ccall(_symbol(:lpt_foreign_layout_size), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_foreign_layout, Ptr{Csize_t}), context, tensor, layout, out_size_bytes)
lpt_foreign_layout_export(context, tensor, layout, buffer, buffer_bytes) = ccall(_symbol(:lpt_foreign_layout_export), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_foreign_layout, Ptr{Cvoid}, Csize_t), context, tensor, layout, buffer, buffer_bytes)
lpt_foreign_layout_import(context, buffer, buffer_bytes, layout, tensor) = ccall(_symbol(:lpt_foreign_layout_import), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, lpt_foreign_layout, Ptr{Cvoid}), context, buffer, buffer_bytes, layout, tensor)
lpt_quantize(context, source, options, quantized, transposed) = ccall(_symbol(:lpt_quantize), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_quantize_options}, Ptr{Cvoid}, Ptr{Cvoid}), context, source, options, quantized, transposed)
lpt_fake_quantize(context, source, format, options, output) = ccall(_symbol(:lpt_fake_quantize), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_format, Ptr{lpt_quantize_options}, Ptr{Cvoid}), context, source, format, options, output)
lpt_statistics_create(context, out_statistics) = ccall(_symbol(:lpt_statistics_create), lpt_status, (Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), context, out_statistics)
lpt_statistics_destroy(statistics) = ccall(_symbol(:lpt_statistics_destroy), Cvoid, (Ptr{Cvoid},), statistics)
lpt_statistics_read(context, statistics, out_info) = ccall(_symbol(:lpt_statistics_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_statistics_info}), context, statistics, out_info)
lpt_statistics_reset(context, statistics) = ccall(_symbol(:lpt_statistics_reset), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}), context, statistics)
lpt_dequantize(context, source, options, output) = ccall(_symbol(:lpt_dequantize), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_dequantize_options}, Ptr{Cvoid}), context, source, options, output)
lpt_hadamard(context, source, options, output) = ccall(_symbol(:lpt_hadamard), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_hadamard_options}, Ptr{Cvoid}), context, source, options, output)
lpt_hadamard_draw_signs(context, random, signs) = ccall(_symbol(:lpt_hadamard_draw_signs), lpt_status, (Ptr{Cvoid}, Ptr{lpt_random}, Ptr{Cvoid}), context, random, signs)
lpt_convert(context, source, options, output) = ccall(_symbol(:lpt_convert), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_convert_options}, Ptr{Cvoid}), context, source, options, output)
lpt_scaler_create(context, options, out_scaler) = ccall(_symbol(:lpt_scaler_create), lpt_status, (Ptr{Cvoid}, Ptr{lpt_scaler_options}, Ptr{Ptr{Cvoid}}), context, options, out_scaler)
lpt_scaler_destroy(scaler) = ccall(_symbol(:lpt_scaler_destroy), Cvoid, (Ptr{Cvoid},), scaler)
lpt_scaler_update(context, scalers, scaler_count) = ccall(_symbol(:lpt_scaler_update), lpt_status, (Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Int64), context, scalers, scaler_count)
lpt_scaler_read(context, scaler, out_info) = ccall(_symbol(:lpt_scaler_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_scaler_info}), context, scaler, out_info)
lpt_scaler_state_size(context, scaler, out_size_bytes) = ccall(_symbol(:lpt_scaler_state_size), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Csize_t}), context, scaler, out_size_bytes)
lpt_scaler_state_save(context, scaler, buffer, buffer_bytes) = ccall(_symbol(:lpt_scaler_state_save), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), context, scaler, buffer, buffer_bytes)
lpt_scaler_state_load(context, scaler, buffer, buffer_bytes) = ccall(_symbol(:lpt_scaler_state_load), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), context, scaler, buffer, buffer_bytes)
lpt_sparse_fit(context, weight, mask, inputs, options, output, bias_change, out_info) = ccall(_symbol(:lpt_sparse_fit), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_sparse_fit_options}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_sparse_fit_info}), context, weight, mask, inputs, options, output, bias_change, out_info)
lpt_calibration_create(context, columns, options, out_calibration) = ccall(_symbol(:lpt_calibration_create), lpt_status, (Ptr{Cvoid}, Int64, Ptr{lpt_calibration_options}, Ptr{Ptr{Cvoid}}), context, columns, options, out_calibration)
lpt_calibration_destroy(calibration) = ccall(_symbol(:lpt_calibration_destroy), Cvoid, (Ptr{Cvoid},), calibration)
lpt_calibration_add(context, calibration, inputs, reference) = ccall(_symbol(:lpt_calibration_add), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, calibration, inputs, reference)
lpt_calibration_all_reduce(context, comm, calibration) = ccall(_symbol(:lpt_calibration_all_reduce), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, comm, calibration)
lpt_calibration_read(context, calibration, value, output) = ccall(_symbol(:lpt_calibration_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_calibration_value, Ptr{Cvoid}), context, calibration, value, output)
lpt_calibration_describe(context, calibration, out_info) = ccall(_symbol(:lpt_calibration_describe), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_calibration_info}), context, calibration, out_info)
lpt_calibration_percentile(context, calibration, share, out_magnitude) = ccall(_symbol(:lpt_calibration_percentile), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Cdouble, Ptr{Cdouble}), context, calibration, share, out_magnitude)
lpt_weights_fit(context, weight, gram, options, output, input_factors, bias_change, out_info) = ccall(_symbol(:lpt_weights_fit), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_weights_fit_options}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_weights_fit_info}), context, weight, gram, options, output, input_factors, bias_change, out_info)
lpt_format_choose(context, errors, bytes, tensor_count, candidate_count, budget_bytes, out_choices, out_info) = ccall(_symbol(:lpt_format_choose), lpt_status, (Ptr{Cvoid}, Ptr{Cdouble}, Ptr{Int64}, Int64, Int64, Int64, Ptr{Int64}, Ptr{lpt_format_choose_info}), context, errors, bytes, tensor_count, candidate_count, budget_bytes, out_choices, out_info)
lpt_gemm(context, a, b, options, c) = ccall(_symbol(:lpt_gemm), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_gemm_options}, Ptr{Cvoid}), context, a, b, options, c)
lpt_gemm_grouped(context, a, b, group_ends, options, c) = ccall(_symbol(:lpt_gemm_grouped), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_gemm_options}, Ptr{Cvoid}), context, a, b, group_ends, options, c)
lpt_gemm_plan_create(context, a, b, options, c, out_plan) = ccall(_symbol(:lpt_gemm_plan_create), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_gemm_options}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), context, a, b, options, c, out_plan)
lpt_gemm_plan_run(context, plan, a, b, operands, c) = ccall(_symbol(:lpt_gemm_plan_run), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_gemm_operands}, Ptr{Cvoid}), context, plan, a, b, operands, c)
lpt_gemm_plan_read(context, plan, out_info) = ccall(_symbol(:lpt_gemm_plan_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_gemm_plan_info}), context, plan, out_info)
lpt_gemm_plan_destroy(plan) = ccall(_symbol(:lpt_gemm_plan_destroy), Cvoid, (Ptr{Cvoid},), plan)
lpt_sparse_mask_select(context, source, options, mask, masked, out_info) = ccall(_symbol(:lpt_sparse_mask_select), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_sparse_options}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_sparse_info}), context, source, options, mask, masked, out_info)
lpt_sparse_mask_check(context, mask, kept, of, direction, out_count) = ccall(_symbol(:lpt_sparse_mask_check), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32, Int32, lpt_sparse_direction, Ptr{Int64}), context, mask, kept, of, direction, out_count)
lpt_sparse_mask_compare(context, mask, other, out_count) = ccall(_symbol(:lpt_sparse_mask_compare), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Int64}), context, mask, other, out_count)
lpt_sparse_mask_apply(context, source, mask, output) = ccall(_symbol(:lpt_sparse_mask_apply), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, source, mask, output)
lpt_sparse_mask_decay(context, weight, mask, rate, gradient) = ccall(_symbol(:lpt_sparse_mask_decay), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Cdouble, Ptr{Cvoid}), context, weight, mask, rate, gradient)
lpt_sparse_compress(context, source, mask, compressed, transposed) = ccall(_symbol(:lpt_sparse_compress), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, source, mask, compressed, transposed)
lpt_sparse_decompress(context, compressed, output) = ccall(_symbol(:lpt_sparse_decompress), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, compressed, output)
lpt_weights_pack(context, weights, options, out_packed) = ccall(_symbol(:lpt_weights_pack), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_weights_options}, Ptr{Ptr{Cvoid}}), context, weights, options, out_packed)
lpt_weights_order(context, weights, options, order, out_given_count, out_count) = ccall(_symbol(:lpt_weights_order), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_weights_options}, Ptr{Int32}, Ptr{Int64}, Ptr{Int64}), context, weights, options, order, out_given_count, out_count)
lpt_weights_unpack(context, packed, weights) = ccall(_symbol(:lpt_weights_unpack), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, packed, weights)
lpt_weights_state_size(context, packed, out_size_bytes) = ccall(_symbol(:lpt_weights_state_size), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Csize_t}), context, packed, out_size_bytes)
lpt_weights_state_save(context, packed, buffer, buffer_bytes) = ccall(_symbol(:lpt_weights_state_save), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), context, packed, buffer, buffer_bytes)
lpt_weights_state_load(context, buffer, buffer_bytes, out_packed) = ccall(_symbol(:lpt_weights_state_load), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Csize_t, Ptr{Ptr{Cvoid}}), context, buffer, buffer_bytes, out_packed)
lpt_rotary_frequencies(context, options, frequencies) = ccall(_symbol(:lpt_rotary_frequencies), lpt_status, (Ptr{Cvoid}, Ptr{lpt_rotary_scaling}, Ptr{Cvoid}), context, options, frequencies)
lpt_rotary(context, input, frequencies, options, output) = ccall(_symbol(:lpt_rotary), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_rotary_options}, Ptr{Cvoid}), context, input, frequencies, options, output)
lpt_attention_forward(context, query, key, value, options, output) = ccall(_symbol(:lpt_attention_forward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_attention_options}, Ptr{Cvoid}), context, query, key, value, options, output)
lpt_attention_backward(context, query, key, value, output_gradient, options, query_gradient, key_gradient, value_gradient) = ccall(_symbol(:lpt_attention_backward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_attention_options}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, query, key, value, output_gradient, options, query_gradient, key_gradient, value_gradient)
lpt_kv_cache_create(context, options, out_cache) = ccall(_symbol(:lpt_kv_cache_create), lpt_status, (Ptr{Cvoid}, Ptr{lpt_kv_cache_options}, Ptr{Ptr{Cvoid}}), context, options, out_cache)
lpt_kv_cache_destroy(cache) = ccall(_symbol(:lpt_kv_cache_destroy), Cvoid, (Ptr{Cvoid},), cache)
lpt_kv_cache_append(context, cache, keys, values, counts) = ccall(_symbol(:lpt_kv_cache_append), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, cache, keys, values, counts)
lpt_kv_cache_truncate(context, cache, lengths) = ccall(_symbol(:lpt_kv_cache_truncate), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, cache, lengths)
lpt_kv_cache_select(context, cache, batches) = ccall(_symbol(:lpt_kv_cache_select), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, cache, batches)
lpt_kv_cache_view(context, cache, out_keys, out_values, out_lengths) = ccall(_symbol(:lpt_kv_cache_view), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Ptr{Ptr{Cvoid}}, Ptr{Ptr{Cvoid}}), context, cache, out_keys, out_values, out_lengths)
lpt_kv_cache_size(context, cache, out_size_bytes) = ccall(_symbol(:lpt_kv_cache_size), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Csize_t}), context, cache, out_size_bytes)
lpt_recipe_create(context, name, out_recipe) = ccall(_symbol(:lpt_recipe_create), lpt_status, (Ptr{Cvoid}, Cstring, Ptr{Ptr{Cvoid}}), context, name, out_recipe)
lpt_recipe_count() = ccall(_symbol(:lpt_recipe_count), Int64, ())
lpt_recipe_name(index) = ccall(_symbol(:lpt_recipe_name), Cstring, (Int64,), index)
lpt_recipe_destroy(recipe) = ccall(_symbol(:lpt_recipe_destroy), Cvoid, (Ptr{Cvoid},), recipe)
lpt_recipe_set_cast(context, recipe, cast, format, options) = ccall(_symbol(:lpt_recipe_set_cast), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_linear_cast, lpt_format, Ptr{lpt_quantize_options}), context, recipe, cast, format, options)
lpt_recipe_set_scaler(context, recipe, operand, options) = ccall(_symbol(:lpt_recipe_set_scaler), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_linear_operand, Ptr{lpt_scaler_options}), context, recipe, operand, options)
lpt_recipe_cast_format(context, recipe, cast, out_format) = ccall(_symbol(:lpt_recipe_cast_format), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_linear_cast, Ptr{lpt_format}), context, recipe, cast, out_format)
lpt_recipe_set_gemm(context, recipe, product, options) = ccall(_symbol(:lpt_recipe_set_gemm), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_linear_gemm, Ptr{lpt_linear_gemm_options}), context, recipe, product, options)
lpt_recipe_set_high_precision(context, recipe, product, format) = ccall(_symbol(:lpt_recipe_set_high_precision), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_linear_gemm, lpt_format), context, recipe, product, format)
lpt_recipe_set_sparsity(context, recipe, operand, interval, options) = ccall(_symbol(:lpt_recipe_set_sparsity), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_linear_operand, Int32, Ptr{lpt_sparse_options}), context, recipe, operand, interval, options)
lpt_linear_create(context, recipe, shape, out_linear) = ccall(_symbol(:lpt_linear_create), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_linear_shape}, Ptr{Ptr{Cvoid}}), context, recipe, shape, out_linear)
lpt_linear_destroy(linear) = ccall(_symbol(:lpt_linear_destroy), Cvoid, (Ptr{Cvoid},), linear)
lpt_linear_set_recipe(context, linear, recipe) = ccall(_symbol(:lpt_linear_set_recipe), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, linear, recipe)
lpt_linear_prepare(context, linear, weight, options) = ccall(_symbol(:lpt_linear_prepare), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_linear_options}), context, linear, weight, options)
lpt_linear_saved_size(context, linear, rows, out_size_bytes) = ccall(_symbol(:lpt_linear_saved_size), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64, Ptr{Csize_t}), context, linear, rows, out_size_bytes)
lpt_linear_cast_size(context, linear, out_size_bytes) = ccall(_symbol(:lpt_linear_cast_size), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Csize_t}), context, linear, out_size_bytes)
lpt_linear_forward(context, linear, input, options, saved, output) = ccall(_symbol(:lpt_linear_forward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_linear_options}, Ptr{Cvoid}, Ptr{Cvoid}), context, linear, input, options, saved, output)
lpt_linear_backward(context, linear, saved, output_gradient, options, input_gradient, weight_gradient, bias_gradient) = ccall(_symbol(:lpt_linear_backward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_linear_options}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, linear, saved, output_gradient, options, input_gradient, weight_gradient, bias_gradient)
lpt_linear_share_amax(context, comm, linears, linear_count) = ccall(_symbol(:lpt_linear_share_amax), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Int64), context, comm, linears, linear_count)
lpt_linear_update_scalers(context, linears, linear_count) = ccall(_symbol(:lpt_linear_update_scalers), lpt_status, (Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Int64), context, linears, linear_count)
lpt_linear_scaler_read(context, linear, operand, out_info) = ccall(_symbol(:lpt_linear_scaler_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_linear_operand, Ptr{lpt_scaler_info}), context, linear, operand, out_info)
lpt_linear_mask_read(context, linear, mask) = ccall(_symbol(:lpt_linear_mask_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, linear, mask)
lpt_linear_watch(context, linear, is_watched) = ccall(_symbol(:lpt_linear_watch), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32), context, linear, is_watched)
lpt_linear_cast_read(context, linear, cast, out_info) = ccall(_symbol(:lpt_linear_cast_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_linear_cast, Ptr{lpt_statistics_info}), context, linear, cast, out_info)
lpt_linear_state_size(context, linear, out_size_bytes) = ccall(_symbol(:lpt_linear_state_size), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Csize_t}), context, linear, out_size_bytes)
lpt_linear_state_save(context, linear, buffer, buffer_bytes) = ccall(_symbol(:lpt_linear_state_save), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), context, linear, buffer, buffer_bytes)
lpt_linear_state_load(context, linear, buffer, buffer_bytes) = ccall(_symbol(:lpt_linear_state_load), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), context, linear, buffer, buffer_bytes)
lpt_loss_scaler_create(context, options, out_loss_scaler) = ccall(_symbol(:lpt_loss_scaler_create), lpt_status, (Ptr{Cvoid}, Ptr{lpt_loss_scaler_options}, Ptr{Ptr{Cvoid}}), context, options, out_loss_scaler)
lpt_loss_scaler_destroy(loss_scaler) = ccall(_symbol(:lpt_loss_scaler_destroy), Cvoid, (Ptr{Cvoid},), loss_scaler)
lpt_loss_scaler_update(context, loss_scaler) = ccall(_symbol(:lpt_loss_scaler_update), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}), context, loss_scaler)
lpt_loss_scaler_read(context, loss_scaler, out_info) = ccall(_symbol(:lpt_loss_scaler_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_loss_scaler_info}), context, loss_scaler, out_info)
lpt_loss_scaler_state_size(context, loss_scaler, out_size_bytes) = ccall(_symbol(:lpt_loss_scaler_state_size), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Csize_t}), context, loss_scaler, out_size_bytes)
lpt_loss_scaler_state_save(context, loss_scaler, buffer, buffer_bytes) = ccall(_symbol(:lpt_loss_scaler_state_save), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), context, loss_scaler, buffer, buffer_bytes)
lpt_loss_scaler_state_load(context, loss_scaler, buffer, buffer_bytes) = ccall(_symbol(:lpt_loss_scaler_state_load), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), context, loss_scaler, buffer, buffer_bytes)
lpt_embedding_forward(context, weight, indices, options, output) = ccall(_symbol(:lpt_embedding_forward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_embedding_options}, Ptr{Cvoid}), context, weight, indices, options, output)
lpt_embedding_backward(context, indices, output_gradient, options, weight_gradient) = ccall(_symbol(:lpt_embedding_backward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_embedding_options}, Ptr{Cvoid}), context, indices, output_gradient, options, weight_gradient)
lpt_swiglu_forward(context, gate, up, options, output, smoothing) = ccall(_symbol(:lpt_swiglu_forward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_swiglu_options}, Ptr{Cvoid}, Ptr{Cvoid}), context, gate, up, options, output, smoothing)
lpt_swiglu_backward(context, gate, up, output_gradient, options, gate_gradient, up_gradient) = ccall(_symbol(:lpt_swiglu_backward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_swiglu_options}, Ptr{Cvoid}, Ptr{Cvoid}), context, gate, up, output_gradient, options, gate_gradient, up_gradient)
lpt_rmsnorm_forward(context, input, weight, options, output, inverse_rms) = ccall(_symbol(:lpt_rmsnorm_forward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_rmsnorm_options}, Ptr{Cvoid}, Ptr{Cvoid}), context, input, weight, options, output, inverse_rms)
lpt_rmsnorm_forward_sum(context, residual, branch, weight, options, sum, output, inverse_rms) = ccall(_symbol(:lpt_rmsnorm_forward_sum), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_rmsnorm_options}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, residual, branch, weight, options, sum, output, inverse_rms)
lpt_rmsnorm_backward(context, input, weight, inverse_rms, output_gradient, options, input_gradient, weight_gradient) = ccall(_symbol(:lpt_rmsnorm_backward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_rmsnorm_options}, Ptr{Cvoid}, Ptr{Cvoid}), context, input, weight, inverse_rms, output_gradient, options, input_gradient, weight_gradient)
lpt_layernorm_forward(context, input, weight, bias, options, output, mean, inverse_deviation) = ccall(_symbol(:lpt_layernorm_forward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_layernorm_options}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, input, weight, bias, options, output, mean, inverse_deviation)
lpt_layernorm_backward(context, input, weight, mean, inverse_deviation, output_gradient, options, input_gradient, weight_gradient, bias_gradient) = ccall(_symbol(:lpt_layernorm_backward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_layernorm_options}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, input, weight, mean, inverse_deviation, output_gradient, options, input_gradient, weight_gradient, bias_gradient)
lpt_softmax_forward(context, input, options, output) = ccall(_symbol(:lpt_softmax_forward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_softmax_options}, Ptr{Cvoid}), context, input, options, output)
lpt_softmax_backward(context, output, output_gradient, options, input_gradient) = ccall(_symbol(:lpt_softmax_backward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_softmax_options}, Ptr{Cvoid}), context, output, output_gradient, options, input_gradient)
lpt_cross_entropy_forward(context, logits, targets, options, loss, log_sums) = ccall(_symbol(:lpt_cross_entropy_forward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_cross_entropy_options}, Ptr{Cvoid}, Ptr{Cvoid}), context, logits, targets, options, loss, log_sums)
lpt_cross_entropy_backward(context, logits, targets, log_sums, loss_gradient, options, logits_gradient) = ccall(_symbol(:lpt_cross_entropy_backward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_cross_entropy_options}, Ptr{Cvoid}), context, logits, targets, log_sums, loss_gradient, options, logits_gradient)
lpt_optimizer_create(context, options, out_optimizer) = ccall(_symbol(:lpt_optimizer_create), lpt_status, (Ptr{Cvoid}, Ptr{lpt_optimizer_options}, Ptr{Ptr{Cvoid}}), context, options, out_optimizer)
lpt_optimizer_destroy(optimizer) = ccall(_symbol(:lpt_optimizer_destroy), Cvoid, (Ptr{Cvoid},), optimizer)
lpt_optimizer_set_directory(context, optimizer, directory, resident_bytes) = ccall(_symbol(:lpt_optimizer_set_directory), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Cstring, Csize_t), context, optimizer, directory, resident_bytes)
lpt_optimizer_add(context, optimizer, name, parameter, out_index) = ccall(_symbol(:lpt_optimizer_add), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Cstring, Ptr{lpt_optimizer_parameter}, Ptr{Int64}), context, optimizer, name, parameter, out_index)
lpt_optimizer_find(context, optimizer, name, out_index) = ccall(_symbol(:lpt_optimizer_find), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Cstring, Ptr{Int64}), context, optimizer, name, out_index)
lpt_optimizer_step(context, optimizer, indices, count, gradients, options, parameters) = ccall(_symbol(:lpt_optimizer_step), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Int64}, Int64, Ptr{Ptr{Cvoid}}, Ptr{lpt_optimizer_step_options}, Ptr{Ptr{Cvoid}}), context, optimizer, indices, count, gradients, options, parameters)
lpt_optimizer_read(context, optimizer, out_info) = ccall(_symbol(:lpt_optimizer_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_optimizer_info}), context, optimizer, out_info)
lpt_gradients_measure(context, gradients, count, out_info) = ccall(_symbol(:lpt_gradients_measure), lpt_status, (Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Int64, Ptr{lpt_gradients_info}), context, gradients, count, out_info)
lpt_optimizer_size(context, optimizer, out_size_bytes) = ccall(_symbol(:lpt_optimizer_size), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Csize_t}), context, optimizer, out_size_bytes)
lpt_optimizer_state_size(context, optimizer, index, out_size_bytes) = ccall(_symbol(:lpt_optimizer_state_size), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64, Ptr{Csize_t}), context, optimizer, index, out_size_bytes)
lpt_optimizer_state_save(context, optimizer, index, buffer, buffer_bytes) = ccall(_symbol(:lpt_optimizer_state_save), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64, Ptr{Cvoid}, Csize_t), context, optimizer, index, buffer, buffer_bytes)
lpt_optimizer_state_load(context, optimizer, index, buffer, buffer_bytes) = ccall(_symbol(:lpt_optimizer_state_load), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64, Ptr{Cvoid}, Csize_t), context, optimizer, index, buffer, buffer_bytes)
lpt_optimizer_state_load_many(context, optimizer, index, buffers, buffer_bytes, count) = ccall(_symbol(:lpt_optimizer_state_load_many), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64, Ptr{Ptr{Cvoid}}, Ptr{Csize_t}, Int64), context, optimizer, index, buffers, buffer_bytes, count)
lpt_comm_group_create(context, rank_count, out_group) = ccall(_symbol(:lpt_comm_group_create), lpt_status, (Ptr{Cvoid}, Int32, Ptr{Ptr{Cvoid}}), context, rank_count, out_group)
lpt_comm_group_abort(group) = ccall(_symbol(:lpt_comm_group_abort), Cvoid, (Ptr{Cvoid},), group)
lpt_comm_group_destroy(group) = ccall(_symbol(:lpt_comm_group_destroy), Cvoid, (Ptr{Cvoid},), group)
lpt_comm_create_local(context, group, rank, options, out_comm) = ccall(_symbol(:lpt_comm_create_local), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32, Ptr{lpt_comm_options}, Ptr{Ptr{Cvoid}}), context, group, rank, options, out_comm)
lpt_comm_create_mpi(context, options, out_comm) = ccall(_symbol(:lpt_comm_create_mpi), lpt_status, (Ptr{Cvoid}, Ptr{lpt_comm_options}, Ptr{Ptr{Cvoid}}), context, options, out_comm)
lpt_comm_adopt_mpi(context, fortran_handle, options, out_comm) = ccall(_symbol(:lpt_comm_adopt_mpi), lpt_status, (Ptr{Cvoid}, Int32, Ptr{lpt_comm_options}, Ptr{Ptr{Cvoid}}), context, fortran_handle, options, out_comm)
lpt_comm_create_nccl(context, options, out_comm) = ccall(_symbol(:lpt_comm_create_nccl), lpt_status, (Ptr{Cvoid}, Ptr{lpt_comm_options}, Ptr{Ptr{Cvoid}}), context, options, out_comm)
lpt_comm_adopt_nccl(context, nccl_comm, options, out_comm) = ccall(_symbol(:lpt_comm_adopt_nccl), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_comm_options}, Ptr{Ptr{Cvoid}}), context, nccl_comm, options, out_comm)
lpt_comm_split(context, comm, color, key, out_comm) = ccall(_symbol(:lpt_comm_split), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32, Int32, Ptr{Ptr{Cvoid}}), context, comm, color, key, out_comm)
lpt_comm_destroy(comm) = ccall(_symbol(:lpt_comm_destroy), Cvoid, (Ptr{Cvoid},), comm)
lpt_comm_read(context, comm, out_info) = ccall(_symbol(:lpt_comm_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_comm_info}), context, comm, out_info)
lpt_future_wait(context, future) = ccall(_symbol(:lpt_future_wait), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}), context, future)
lpt_future_is_done(context, future, out_is_done) = ccall(_symbol(:lpt_future_is_done), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Int32}), context, future, out_is_done)
lpt_future_destroy(future) = ccall(_symbol(:lpt_future_destroy), Cvoid, (Ptr{Cvoid},), future)
lpt_barrier(context, comm) = ccall(_symbol(:lpt_barrier), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}), context, comm)
lpt_all_reduce(context, comm, input, options, output, out_future) = ccall(_symbol(:lpt_all_reduce), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_reduce_options}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), context, comm, input, options, output, out_future)
lpt_reduce_scatter(context, comm, input, counts, options, output, out_future) = ccall(_symbol(:lpt_reduce_scatter), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Int64}, Ptr{lpt_reduce_options}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), context, comm, input, counts, options, output, out_future)
lpt_all_gather(context, comm, input, counts, options, output, out_future) = ccall(_symbol(:lpt_all_gather), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Int64}, Ptr{lpt_all_gather_options}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), context, comm, input, counts, options, output, out_future)
lpt_broadcast(context, comm, root, tensor, out_future) = ccall(_symbol(:lpt_broadcast), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), context, comm, root, tensor, out_future)
lpt_all_to_all(context, comm, input, send_counts, receive_counts, output, out_future) = ccall(_symbol(:lpt_all_to_all), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Int64}, Ptr{Int64}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), context, comm, input, send_counts, receive_counts, output, out_future)
lpt_send(context, comm, tensor, peer, tag, out_future) = ccall(_symbol(:lpt_send), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Int32, Int32, Ptr{Ptr{Cvoid}}), context, comm, tensor, peer, tag, out_future)
lpt_receive(context, comm, tensor, peer, tag, out_future) = ccall(_symbol(:lpt_receive), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Int32, Int32, Ptr{Ptr{Cvoid}}), context, comm, tensor, peer, tag, out_future)
lpt_all_reduce_many(context, comm, tensors, count, options, out_future) = ccall(_symbol(:lpt_all_reduce_many), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Int64, Ptr{lpt_reduce_options}, Ptr{Ptr{Cvoid}}), context, comm, tensors, count, options, out_future)
lpt_comm_compare(context, comm, tensor, out_is_same) = ccall(_symbol(:lpt_comm_compare), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Int32}), context, comm, tensor, out_is_same)
lpt_comm_create_custom(context, functions, user, rank, rank_count, options, out_comm) = ccall(_symbol(:lpt_comm_create_custom), lpt_status, (Ptr{Cvoid}, Ptr{lpt_comm_functions}, Ptr{Cvoid}, Int32, Int32, Ptr{lpt_comm_options}, Ptr{Ptr{Cvoid}}), context, functions, user, rank, rank_count, options, out_comm)
lpt_gradient_buckets_create(context, comm, gradients, count, options, out_buckets) = ccall(_symbol(:lpt_gradient_buckets_create), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Int64, Ptr{lpt_gradient_buckets_options}, Ptr{Ptr{Cvoid}}), context, comm, gradients, count, options, out_buckets)
lpt_gradient_buckets_begin(context, buckets, is_last, options) = ccall(_symbol(:lpt_gradient_buckets_begin), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32, Ptr{lpt_reduce_options}), context, buckets, is_last, options)
lpt_gradient_buckets_ready(context, buckets, index) = ccall(_symbol(:lpt_gradient_buckets_ready), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64), context, buckets, index)
lpt_gradient_buckets_wait(context, buckets) = ccall(_symbol(:lpt_gradient_buckets_wait), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}), context, buckets)
lpt_gradient_buckets_read(context, buckets, out_info) = ccall(_symbol(:lpt_gradient_buckets_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_gradient_buckets_info}), context, buckets, out_info)
lpt_gradient_buckets_destroy(buckets) = ccall(_symbol(:lpt_gradient_buckets_destroy), Cvoid, (Ptr{Cvoid},), buckets)
lpt_optimizer_add_shards(context, comm, optimizer, names, parameters, count, out_indices) = ccall(_symbol(:lpt_optimizer_add_shards), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Ptr{UInt8}}, Ptr{Ptr{lpt_optimizer_parameter}}, Int64, Ptr{Int64}), context, comm, optimizer, names, parameters, count, out_indices)
lpt_optimizer_step_shards(context, comm, optimizer, indices, count, gradients, options, shards, parameters) = ccall(_symbol(:lpt_optimizer_step_shards), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Int64}, Int64, Ptr{Ptr{Cvoid}}, Ptr{lpt_optimizer_step_options}, Ptr{lpt_optimizer_shard_options}, Ptr{Ptr{Cvoid}}), context, comm, optimizer, indices, count, gradients, options, shards, parameters)
lpt_partial_shared_columns(context, hidden_columns, fraction, out_shared_columns) = ccall(_symbol(:lpt_partial_shared_columns), lpt_status, (Ptr{Cvoid}, Int64, Cdouble, Ptr{Int64}), context, hidden_columns, fraction, out_shared_columns)
lpt_partial_plan_create(context, options, out_plan) = ccall(_symbol(:lpt_partial_plan_create), lpt_status, (Ptr{Cvoid}, Ptr{lpt_partial_plan_options}, Ptr{Ptr{Cvoid}}), context, options, out_plan)
lpt_partial_plan_destroy(plan) = ccall(_symbol(:lpt_partial_plan_destroy), Cvoid, (Ptr{Cvoid},), plan)
lpt_partial_plan_read(context, plan, format, out_info) = ccall(_symbol(:lpt_partial_plan_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_format, Ptr{lpt_partial_plan_info}), context, plan, format, out_info)
lpt_partial_all_reduce(context, comm, plan, pass, input, output, out_future) = ccall(_symbol(:lpt_partial_all_reduce), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, lpt_partial_pass, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), context, comm, plan, pass, input, output, out_future)
lpt_partial_gemm(context, comm, plan, a, b, options, c) = ccall(_symbol(:lpt_partial_gemm), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_gemm_options}, Ptr{Cvoid}), context, comm, plan, a, b, options, c)
lpt_partial_scale_weight(context, plan, weight) = ccall(_symbol(:lpt_partial_scale_weight), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, plan, weight)
lpt_sequence_gather(context, comm, plan, input, row_counts, output, out_future) = ccall(_symbol(:lpt_sequence_gather), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Int64}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), context, comm, plan, input, row_counts, output, out_future)
lpt_sequence_scatter(context, comm, plan, pass, input, row_counts, output, out_future) = ccall(_symbol(:lpt_sequence_scatter), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, lpt_partial_pass, Ptr{Cvoid}, Ptr{Int64}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), context, comm, plan, pass, input, row_counts, output, out_future)
lpt_sequence_attention_forward(context, ring, heads, query, key, value, options, output) = ccall(_symbol(:lpt_sequence_attention_forward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_sequence_attention_options}, Ptr{Cvoid}), context, ring, heads, query, key, value, options, output)
lpt_sequence_attention_backward(context, ring, heads, query, key, value, output_gradient, options, query_gradient, key_gradient, value_gradient) = ccall(_symbol(:lpt_sequence_attention_backward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_sequence_attention_options}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), context, ring, heads, query, key, value, output_gradient, options, query_gradient, key_gradient, value_gradient)
lpt_autopilot_create(context, ladder, costs, level_count, work, layer_count, options, out_autopilot) = ccall(_symbol(:lpt_autopilot_create), lpt_status, (Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Ptr{Cdouble}, Int32, Ptr{Cdouble}, Int32, Ptr{lpt_autopilot_options}, Ptr{Ptr{Cvoid}}), context, ladder, costs, level_count, work, layer_count, options, out_autopilot)
lpt_autopilot_destroy(autopilot) = ccall(_symbol(:lpt_autopilot_destroy), Cvoid, (Ptr{Cvoid},), autopilot)
lpt_autopilot_observe(context, autopilot, layer, signal, value) = ccall(_symbol(:lpt_autopilot_observe), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32, lpt_autopilot_reason, Cdouble), context, autopilot, layer, signal, value)
lpt_autopilot_observe_linear(context, autopilot, layer, linear) = ccall(_symbol(:lpt_autopilot_observe_linear), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32, Ptr{Cvoid}), context, autopilot, layer, linear)
lpt_autopilot_step(context, autopilot, step, loss, out_change_count) = ccall(_symbol(:lpt_autopilot_step), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64, Cdouble, Ptr{Int64}), context, autopilot, step, loss, out_change_count)
lpt_autopilot_recipe(context, autopilot, layer, out_recipe) = ccall(_symbol(:lpt_autopilot_recipe), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32, Ptr{Ptr{Cvoid}}), context, autopilot, layer, out_recipe)
lpt_autopilot_read(context, autopilot, out_info) = ccall(_symbol(:lpt_autopilot_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_autopilot_info}), context, autopilot, out_info)
lpt_autopilot_decisions(context, autopilot, decision_count, decisions) = ccall(_symbol(:lpt_autopilot_decisions), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64, Ptr{lpt_autopilot_decision}), context, autopilot, decision_count, decisions)
lpt_autopilot_replay(context, autopilot, decisions, decision_count) = ccall(_symbol(:lpt_autopilot_replay), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_autopilot_decision}, Int64), context, autopilot, decisions, decision_count)
lpt_autopilot_state_size(context, autopilot, out_size_bytes) = ccall(_symbol(:lpt_autopilot_state_size), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Csize_t}), context, autopilot, out_size_bytes)
lpt_autopilot_state_save(context, autopilot, buffer, buffer_bytes) = ccall(_symbol(:lpt_autopilot_state_save), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), context, autopilot, buffer, buffer_bytes)
lpt_autopilot_state_load(context, autopilot, buffer, buffer_bytes) = ccall(_symbol(:lpt_autopilot_state_load), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t), context, autopilot, buffer, buffer_bytes)
lpt_all_reduce_signs(context, comm, input, worker_error, server_error, output, out_future) = ccall(_symbol(:lpt_all_reduce_signs), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), context, comm, input, worker_error, server_error, output, out_future)
lpt_all_reduce_signs_share(context, comm, element_count, out_element_count) = ccall(_symbol(:lpt_all_reduce_signs_share), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64, Ptr{Int64}), context, comm, element_count, out_element_count)
lpt_cost_estimate(context, collective, algorithm, ranks, elements, payload, link, out_info) = ccall(_symbol(:lpt_cost_estimate), lpt_status, (Ptr{Cvoid}, lpt_cost_collective, lpt_cost_algorithm, Int32, Int64, lpt_format, Ptr{lpt_cost_link}, Ptr{lpt_cost_info}), context, collective, algorithm, ranks, elements, payload, link, out_info)
lpt_cost_fit_link(context, bytes, seconds, count, out_link) = ccall(_symbol(:lpt_cost_fit_link), lpt_status, (Ptr{Cvoid}, Ptr{Cdouble}, Ptr{Cdouble}, Int64, Ptr{lpt_cost_link}), context, bytes, seconds, count, out_link)
lpt_cost_break_even(context, collective, algorithm, ranks, plain, payload, rates, link, out_elements) = ccall(_symbol(:lpt_cost_break_even), lpt_status, (Ptr{Cvoid}, lpt_cost_collective, lpt_cost_algorithm, Int32, lpt_format, lpt_format, Ptr{lpt_cost_cast_rates}, Ptr{lpt_cost_link}, Ptr{Int64}), context, collective, algorithm, ranks, plain, payload, rates, link, out_elements)
lpt_delay_compensate(context, own, mean, count, options, gradients) = ccall(_symbol(:lpt_delay_compensate), lpt_status, (Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Ptr{Ptr{Cvoid}}, Int64, Ptr{lpt_delay_options}, Ptr{Ptr{Cvoid}}), context, own, mean, count, options, gradients)
lpt_drop_compute_fit(context, seconds, ranks, steps, micro_batches, serial_seconds, threshold_seconds, out_info) = ccall(_symbol(:lpt_drop_compute_fit), lpt_status, (Ptr{Cvoid}, Ptr{Cdouble}, Int32, Int64, Int32, Cdouble, Cdouble, Ptr{lpt_drop_compute_info}), context, seconds, ranks, steps, micro_batches, serial_seconds, threshold_seconds, out_info)
lpt_drop_compute_estimate(context, ranks, micro_batches, mean_seconds, deviation_seconds, serial_seconds, threshold_seconds, out_info) = ccall(_symbol(:lpt_drop_compute_estimate), lpt_status, (Ptr{Cvoid}, Int32, Int32, Cdouble, Cdouble, Cdouble, Cdouble, Ptr{lpt_drop_compute_info}), context, ranks, micro_batches, mean_seconds, deviation_seconds, serial_seconds, threshold_seconds, out_info)
lpt_exaq_softmax_forward(context, input, options, output) = ccall(_symbol(:lpt_exaq_softmax_forward), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_exaq_options}, Ptr{Cvoid}), context, input, options, output)
lpt_lossy_link_create(context, comm, options, out_link) = ccall(_symbol(:lpt_lossy_link_create), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_lossy_link_options}, Ptr{Ptr{Cvoid}}), context, comm, options, out_link)
lpt_lossy_link_read(context, link, peer, out_info) = ccall(_symbol(:lpt_lossy_link_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32, Ptr{lpt_lossy_link_info}), context, link, peer, out_info)
lpt_lossy_link_destroy(link) = ccall(_symbol(:lpt_lossy_link_destroy), Cvoid, (Ptr{Cvoid},), link)
lpt_lossy_reduce_scatter(context, link, input, counts, mode, loss, arrival_count, output, out_arrivals) = ccall(_symbol(:lpt_lossy_reduce_scatter), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Int64}, lpt_lossy_mode, Ptr{Cdouble}, Int64, Ptr{Cvoid}, Ptr{UInt8}), context, link, input, counts, mode, loss, arrival_count, output, out_arrivals)
lpt_lossy_all_gather(context, link, input, counts, age_count, output, ages) = ccall(_symbol(:lpt_lossy_all_gather), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Int64}, Int64, Ptr{Cvoid}, Ptr{Int32}), context, link, input, counts, age_count, output, ages)
lpt_lossy_estimate(context, loss, rank_count, out_info) = ccall(_symbol(:lpt_lossy_estimate), lpt_status, (Ptr{Cvoid}, Cdouble, Int32, Ptr{lpt_lossy_info}), context, loss, rank_count, out_info)
lpt_noise_measure(context, gradients, noisy, count, options, out_info) = ccall(_symbol(:lpt_noise_measure), lpt_status, (Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Ptr{Ptr{Cvoid}}, Int64, Ptr{lpt_noise_options}, Ptr{lpt_noise_info}), context, gradients, noisy, count, options, out_info)
lpt_swiglu_alignment(context, gate_weight, up_weight, cosines, out_info) = ccall(_symbol(:lpt_swiglu_alignment), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_swiglu_alignment_info}), context, gate_weight, up_weight, cosines, out_info)
lpt_monitor_create(context, out_monitor) = ccall(_symbol(:lpt_monitor_create), lpt_status, (Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), context, out_monitor)
lpt_monitor_destroy(monitor) = ccall(_symbol(:lpt_monitor_destroy), Cvoid, (Ptr{Cvoid},), monitor)
lpt_monitor_record(context, monitor, step, name, value) = ccall(_symbol(:lpt_monitor_record), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64, Cstring, Cdouble), context, monitor, step, name, value)
lpt_monitor_record_linear(context, monitor, step, name, linear) = ccall(_symbol(:lpt_monitor_record_linear), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64, Cstring, Ptr{Cvoid}), context, monitor, step, name, linear)
lpt_monitor_record_statistics(context, monitor, step, name, statistics) = ccall(_symbol(:lpt_monitor_record_statistics), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64, Cstring, Ptr{Cvoid}), context, monitor, step, name, statistics)
lpt_monitor_count(context, monitor, out_count) = ccall(_symbol(:lpt_monitor_count), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Int64}), context, monitor, out_count)
lpt_monitor_save(context, monitor, path) = ccall(_symbol(:lpt_monitor_save), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Cstring), context, monitor, path)
lpt_power_estimate(context, options, out_flips) = ccall(_symbol(:lpt_power_estimate), lpt_status, (Ptr{Cvoid}, Ptr{lpt_power_options}, Ptr{Cdouble}), context, options, out_flips)
lpt_power_quantize(context, weight, additions, output, out_info) = ccall(_symbol(:lpt_power_quantize), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Cdouble, Ptr{Cvoid}, Ptr{lpt_power_info}), context, weight, additions, output, out_info)
lpt_topology_create(context, kind, extents, extent_count, link, upper_link, out_topology) = ccall(_symbol(:lpt_topology_create), lpt_status, (Ptr{Cvoid}, lpt_topology_kind, Ptr{Int64}, Int32, Ptr{lpt_cost_link}, Ptr{lpt_cost_link}, Ptr{Ptr{Cvoid}}), context, kind, extents, extent_count, link, upper_link, out_topology)
lpt_topology_create_graph(context, rank_count, switch_count, links, link_count, out_topology) = ccall(_symbol(:lpt_topology_create_graph), lpt_status, (Ptr{Cvoid}, Int32, Int32, Ptr{lpt_topology_link}, Int64, Ptr{Ptr{Cvoid}}), context, rank_count, switch_count, links, link_count, out_topology)
lpt_topology_read(context, topology, out_info) = ccall(_symbol(:lpt_topology_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_topology_info}), context, topology, out_info)
lpt_topology_links(context, topology, link_count, out_links) = ccall(_symbol(:lpt_topology_links), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64, Ptr{lpt_topology_link}), context, topology, link_count, out_links)
lpt_topology_destroy(topology) = ccall(_symbol(:lpt_topology_destroy), Cvoid, (Ptr{Cvoid},), topology)
lpt_schedule_create(context, topology, algorithm, options, out_schedule) = ccall(_symbol(:lpt_schedule_create), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, lpt_schedule_algorithm, Ptr{lpt_schedule_options}, Ptr{Ptr{Cvoid}}), context, topology, algorithm, options, out_schedule)
lpt_schedule_create_sends(context, topology, chunk_count, sends, send_count, out_schedule) = ccall(_symbol(:lpt_schedule_create_sends), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int32, Ptr{lpt_schedule_send}, Int64, Ptr{Ptr{Cvoid}}), context, topology, chunk_count, sends, send_count, out_schedule)
lpt_schedule_read(context, schedule, out_info) = ccall(_symbol(:lpt_schedule_read), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_schedule_info}), context, schedule, out_info)
lpt_schedule_sends(context, schedule, send_count, hop_count, out_sends, out_hop_counts, out_hops) = ccall(_symbol(:lpt_schedule_sends), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Int64, Int64, Ptr{lpt_schedule_send}, Ptr{Int32}, Ptr{Int32}), context, schedule, send_count, hop_count, out_sends, out_hop_counts, out_hops)
lpt_schedule_simulate(context, schedule, bytes, reduce_bytes_per_second, link_count, out_seconds, out_link_seconds) = ccall(_symbol(:lpt_schedule_simulate), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Cdouble, Cdouble, Int64, Ptr{Cdouble}, Ptr{Cdouble}), context, schedule, bytes, reduce_bytes_per_second, link_count, out_seconds, out_link_seconds)
lpt_schedule_all_reduce(context, comm, schedule, input, options, output, out_future) = ccall(_symbol(:lpt_schedule_all_reduce), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_reduce_options}, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), context, comm, schedule, input, options, output, out_future)
lpt_schedule_destroy(schedule) = ccall(_symbol(:lpt_schedule_destroy), Cvoid, (Ptr{Cvoid},), schedule)
lpt_sparse_diversity(context, kept, of, direction, count, out_bits) = ccall(_symbol(:lpt_sparse_diversity), lpt_status, (Ptr{Cvoid}, Int32, Int32, lpt_sparse_direction, lpt_sparse_count, Ptr{Cdouble}), context, kept, of, direction, count, out_bits)
lpt_sparse_choose_kept(context, zero_share, of, confidence, out_kept) = ccall(_symbol(:lpt_sparse_choose_kept), lpt_status, (Ptr{Cvoid}, Cdouble, Int32, Cdouble, Ptr{Int32}), context, zero_share, of, confidence, out_kept)
lpt_sparse_absorb(context, source, mask, of, direction, output) = ccall(_symbol(:lpt_sparse_absorb), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}, Int32, lpt_sparse_direction, Ptr{Cvoid}), context, source, mask, of, direction, output)
lpt_sparse_order(context, weight, options, order, out_info) = ccall(_symbol(:lpt_sparse_order), lpt_status, (Ptr{Cvoid}, Ptr{Cvoid}, Ptr{lpt_sparse_options}, Ptr{Int32}, Ptr{lpt_sparse_info}), context, weight, options, order, out_info)
