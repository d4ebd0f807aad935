//! Enumerations of lpt.h as types that wrap the C integer, so that values of later releases are not undefined
//! behaviour. Written by `python3 tools/make_bindings.py write`.
#![cfg_attr(rustfmt, rustfmt_skip)]
use lpt_sys as sys;

/// The result of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Status(pub sys::lpt_status);

#[allow(missing_docs)]
impl Status {
    pub const OK: Status = Status(sys::LPT_OK);
    pub const INVALID_ARGUMENT: Status = Status(sys::LPT_INVALID_ARGUMENT);
    pub const UNSUPPORTED: Status = Status(sys::LPT_UNSUPPORTED);
    pub const OUT_OF_MEMORY: Status = Status(sys::LPT_OUT_OF_MEMORY);
    pub const INVALID_STATE: Status = Status(sys::LPT_INVALID_STATE);
    pub const INTERNAL: Status = Status(sys::LPT_INTERNAL);
    pub const CANCELLED: Status = Status(sys::LPT_CANCELLED);
    pub const ABORTED: Status = Status(sys::LPT_ABORTED);
    pub const TIMEOUT: Status = Status(sys::LPT_TIMEOUT);
    pub const MISMATCH: Status = Status(sys::LPT_MISMATCH);
    pub const WORK_FAILED: Status = Status(sys::LPT_WORK_FAILED);
    pub const BUSY: Status = Status(sys::LPT_BUSY);
}

/// Flags of a call, of a struct or of a tensor: a sum of lpt_flags_values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Flags(pub sys::lpt_flags);

#[allow(missing_docs)]
impl Flags {
    pub const CHECK_ONLY: Flags = Flags(sys::LPT_CHECK_ONLY);
    pub const QUANTIZE_KEEP_TENSOR_SCALE: Flags = Flags(sys::LPT_QUANTIZE_KEEP_TENSOR_SCALE);
    pub const GEMM_PORTABLE_ORDER: Flags = Flags(sys::LPT_GEMM_PORTABLE_ORDER);
    pub const GEMM_CAST_A_TO_BF16: Flags = Flags(sys::LPT_GEMM_CAST_A_TO_BF16);
    pub const COMM_CHECKSUMS: Flags = Flags(sys::LPT_COMM_CHECKSUMS);
    pub const COMM_MESSAGES: Flags = Flags(sys::LPT_COMM_MESSAGES);
    pub const COMM_SKIP_CHECKS: Flags = Flags(sys::LPT_COMM_SKIP_CHECKS);
    pub const PARTIAL_SEQUENCE_PARALLEL: Flags = Flags(sys::LPT_PARTIAL_SEQUENCE_PARALLEL);
    pub const DLPACK_READ_ONLY: Flags = Flags(sys::LPT_DLPACK_READ_ONLY);
    pub const DLPACK_COPIED: Flags = Flags(sys::LPT_DLPACK_COPIED);
    pub const TENSOR_READ_ONLY: Flags = Flags(sys::LPT_TENSOR_READ_ONLY);
    pub const TENSOR_UNCHECKED: Flags = Flags(sys::LPT_TENSOR_UNCHECKED);
    pub const GEMM_FAST_ACCUMULATE: Flags = Flags(sys::LPT_GEMM_FAST_ACCUMULATE);
}

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Device(pub sys::lpt_device);

#[allow(missing_docs)]
impl Device {
    pub const CPU: Device = Device(sys::LPT_DEVICE_CPU);
    pub const CUDA: Device = Device(sys::LPT_DEVICE_CUDA);
}

/// The highest instruction set that a context may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Isa(pub sys::lpt_isa);

#[allow(missing_docs)]
impl Isa {
    pub const AUTO: Isa = Isa(sys::LPT_ISA_AUTO);
    pub const REFERENCE: Isa = Isa(sys::LPT_ISA_REFERENCE);
    pub const X86_AVX2: Isa = Isa(sys::LPT_ISA_X86_AVX2);
    pub const X86_AVX512: Isa = Isa(sys::LPT_ISA_X86_AVX512);
    pub const X86_AVX512_BF16: Isa = Isa(sys::LPT_ISA_X86_AVX512_BF16);
    pub const X86_AMX: Isa = Isa(sys::LPT_ISA_X86_AMX);
}

/// How much a context logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct LogLevel(pub sys::lpt_log_level);

#[allow(missing_docs)]
impl LogLevel {
    pub const NONE: LogLevel = LogLevel(sys::LPT_LOG_LEVEL_NONE);
    pub const WARNING: LogLevel = LogLevel(sys::LPT_LOG_LEVEL_WARNING);
    pub const INFO: LogLevel = LogLevel(sys::LPT_LOG_LEVEL_INFO);
    pub const DISPATCH: LogLevel = LogLevel(sys::LPT_LOG_LEVEL_DISPATCH);
}

/// Identifies a format: what the bytes of a tensor mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Format(pub sys::lpt_format);

#[allow(missing_docs)]
impl Format {
    pub const NONE: Format = Format(sys::LPT_FORMAT_NONE);
    pub const F64: Format = Format(sys::LPT_FORMAT_F64);
    pub const F32: Format = Format(sys::LPT_FORMAT_F32);
    pub const F16: Format = Format(sys::LPT_FORMAT_F16);
    pub const BF16: Format = Format(sys::LPT_FORMAT_BF16);
    pub const E4M3FN: Format = Format(sys::LPT_FORMAT_E4M3FN);
    pub const E4M3: Format = Format(sys::LPT_FORMAT_E4M3);
    pub const E5M2: Format = Format(sys::LPT_FORMAT_E5M2);
    pub const E2M1FN: Format = Format(sys::LPT_FORMAT_E2M1FN);
    pub const E8M0FNU: Format = Format(sys::LPT_FORMAT_E8M0FNU);
    pub const INT8: Format = Format(sys::LPT_FORMAT_INT8);
    pub const UINT8: Format = Format(sys::LPT_FORMAT_UINT8);
    pub const E4M3FNUZ: Format = Format(sys::LPT_FORMAT_E4M3FNUZ);
    pub const E5M2FNUZ: Format = Format(sys::LPT_FORMAT_E5M2FNUZ);
    pub const E4M3B11FNUZ: Format = Format(sys::LPT_FORMAT_E4M3B11FNUZ);
    pub const E3M4: Format = Format(sys::LPT_FORMAT_E3M4);
    pub const E3M2FN: Format = Format(sys::LPT_FORMAT_E3M2FN);
    pub const E2M3FN: Format = Format(sys::LPT_FORMAT_E2M3FN);
    pub const E3M0: Format = Format(sys::LPT_FORMAT_E3M0);
    pub const INT4: Format = Format(sys::LPT_FORMAT_INT4);
    pub const UINT4: Format = Format(sys::LPT_FORMAT_UINT4);
    pub const INT2: Format = Format(sys::LPT_FORMAT_INT2);
    pub const TERNARY: Format = Format(sys::LPT_FORMAT_TERNARY);
    pub const INT16: Format = Format(sys::LPT_FORMAT_INT16);
    pub const Q1_6: Format = Format(sys::LPT_FORMAT_Q1_6);
    pub const NF4: Format = Format(sys::LPT_FORMAT_NF4);
    pub const BNB_FP4: Format = Format(sys::LPT_FORMAT_BNB_FP4);
    pub const INT32: Format = Format(sys::LPT_FORMAT_INT32);
    pub const INT64: Format = Format(sys::LPT_FORMAT_INT64);
    pub const INT3: Format = Format(sys::LPT_FORMAT_INT3);
    pub const E4M3FN_TENSOR: Format = Format(sys::LPT_FORMAT_E4M3FN_TENSOR);
    pub const E4M3FN_ROW: Format = Format(sys::LPT_FORMAT_E4M3FN_ROW);
    pub const E4M3FN_1X128: Format = Format(sys::LPT_FORMAT_E4M3FN_1X128);
    pub const E4M3FN_128X128: Format = Format(sys::LPT_FORMAT_E4M3FN_128X128);
    pub const E4M3_TENSOR: Format = Format(sys::LPT_FORMAT_E4M3_TENSOR);
    pub const E4M3_ROW: Format = Format(sys::LPT_FORMAT_E4M3_ROW);
    pub const E5M2_TENSOR: Format = Format(sys::LPT_FORMAT_E5M2_TENSOR);
    pub const E5M2_ROW: Format = Format(sys::LPT_FORMAT_E5M2_ROW);
    pub const E5M2_1X128: Format = Format(sys::LPT_FORMAT_E5M2_1X128);
    pub const E5M2_128X128: Format = Format(sys::LPT_FORMAT_E5M2_128X128);
    pub const MXFP8_E4M3: Format = Format(sys::LPT_FORMAT_MXFP8_E4M3);
    pub const MXFP8_E5M2: Format = Format(sys::LPT_FORMAT_MXFP8_E5M2);
    pub const MXFP4: Format = Format(sys::LPT_FORMAT_MXFP4);
    pub const NVFP4: Format = Format(sys::LPT_FORMAT_NVFP4);
    pub const INT8_TENSOR: Format = Format(sys::LPT_FORMAT_INT8_TENSOR);
    pub const INT8_ROW: Format = Format(sys::LPT_FORMAT_INT8_ROW);
    pub const F16_TENSOR: Format = Format(sys::LPT_FORMAT_F16_TENSOR);
    pub const MXFP6_E3M2: Format = Format(sys::LPT_FORMAT_MXFP6_E3M2);
    pub const MXFP6_E2M3: Format = Format(sys::LPT_FORMAT_MXFP6_E2M3);
    pub const MXINT8: Format = Format(sys::LPT_FORMAT_MXINT8);
    pub const NVFP4_16X16: Format = Format(sys::LPT_FORMAT_NVFP4_16X16);
    pub const INT4_1X32: Format = Format(sys::LPT_FORMAT_INT4_1X32);
    pub const INT4_1X64: Format = Format(sys::LPT_FORMAT_INT4_1X64);
    pub const INT4_1X128: Format = Format(sys::LPT_FORMAT_INT4_1X128);
    pub const UINT4_1X32: Format = Format(sys::LPT_FORMAT_UINT4_1X32);
    pub const UINT4_1X64: Format = Format(sys::LPT_FORMAT_UINT4_1X64);
    pub const UINT4_1X128: Format = Format(sys::LPT_FORMAT_UINT4_1X128);
    pub const INT8_1X32: Format = Format(sys::LPT_FORMAT_INT8_1X32);
    pub const INT16_TENSOR: Format = Format(sys::LPT_FORMAT_INT16_TENSOR);
    pub const E3M0_TENSOR: Format = Format(sys::LPT_FORMAT_E3M0_TENSOR);
    pub const TERNARY_TENSOR: Format = Format(sys::LPT_FORMAT_TERNARY_TENSOR);
    pub const E4M3FNUZ_TENSOR: Format = Format(sys::LPT_FORMAT_E4M3FNUZ_TENSOR);
    pub const E5M2FNUZ_TENSOR: Format = Format(sys::LPT_FORMAT_E5M2FNUZ_TENSOR);
    pub const NF4_1X64: Format = Format(sys::LPT_FORMAT_NF4_1X64);
    pub const BNB_FP4_1X64: Format = Format(sys::LPT_FORMAT_BNB_FP4_1X64);
    pub const DYNAMIC_1X256: Format = Format(sys::LPT_FORMAT_DYNAMIC_1X256);
}

/// Rows or columns of a block: a power of two, or one of lpt_block_extent_values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct BlockExtent(pub sys::lpt_block_extent);

#[allow(missing_docs)]
impl BlockExtent {
    pub const BLOCK_EXTENT_FULL: BlockExtent = BlockExtent(sys::LPT_BLOCK_EXTENT_FULL);
}

/// The special values of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ElementSpecial(pub sys::lpt_element_special);

#[allow(missing_docs)]
impl ElementSpecial {
    pub const NONE: ElementSpecial = ElementSpecial(sys::LPT_ELEMENT_SPECIAL_NONE);
    pub const IEEE: ElementSpecial = ElementSpecial(sys::LPT_ELEMENT_SPECIAL_IEEE);
    pub const NAN_ONES: ElementSpecial = ElementSpecial(sys::LPT_ELEMENT_SPECIAL_NAN_ONES);
    pub const INTEGER: ElementSpecial = ElementSpecial(sys::LPT_ELEMENT_SPECIAL_INTEGER);
    pub const FNUZ: ElementSpecial = ElementSpecial(sys::LPT_ELEMENT_SPECIAL_FNUZ);
    pub const LIST: ElementSpecial = ElementSpecial(sys::LPT_ELEMENT_SPECIAL_LIST);
}

/// A part of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct TensorPart(pub sys::lpt_tensor_part);

#[allow(missing_docs)]
impl TensorPart {
    pub const PAYLOAD: TensorPart = TensorPart(sys::LPT_TENSOR_PART_PAYLOAD);
    pub const BLOCK_SCALES: TensorPart = TensorPart(sys::LPT_TENSOR_PART_BLOCK_SCALES);
    pub const TENSOR_SCALE: TensorPart = TensorPart(sys::LPT_TENSOR_PART_TENSOR_SCALE);
    pub const ZERO_POINTS: TensorPart = TensorPart(sys::LPT_TENSOR_PART_ZERO_POINTS);
    pub const SPARSE_INDICES: TensorPart = TensorPart(sys::LPT_TENSOR_PART_SPARSE_INDICES);
}

/// A memory layout of another library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ForeignLayout(pub sys::lpt_foreign_layout);

#[allow(missing_docs)]
impl ForeignLayout {
    pub const GGML: ForeignLayout = ForeignLayout(sys::LPT_FOREIGN_LAYOUT_GGML);
    pub const BITSANDBYTES: ForeignLayout = ForeignLayout(sys::LPT_FOREIGN_LAYOUT_BITSANDBYTES);
    pub const CUBLAS_SCALES: ForeignLayout = ForeignLayout(sys::LPT_FOREIGN_LAYOUT_CUBLAS_SCALES);
    pub const GGML_Q4_1: ForeignLayout = ForeignLayout(sys::LPT_FOREIGN_LAYOUT_GGML_Q4_1);
    pub const MMA_SPARSE: ForeignLayout = ForeignLayout(sys::LPT_FOREIGN_LAYOUT_MMA_SPARSE);
    pub const CUTLASS_SPARSE: ForeignLayout = ForeignLayout(sys::LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE);
}

/// How a cast rounds a value between two codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Rounding(pub sys::lpt_rounding);

#[allow(missing_docs)]
impl Rounding {
    pub const NEAREST_EVEN: Rounding = Rounding(sys::LPT_ROUNDING_NEAREST_EVEN);
    pub const STOCHASTIC: Rounding = Rounding(sys::LPT_ROUNDING_STOCHASTIC);
    pub const TOWARD_ZERO: Rounding = Rounding(sys::LPT_ROUNDING_TOWARD_ZERO);
    pub const NEAREST_AWAY: Rounding = Rounding(sys::LPT_ROUNDING_NEAREST_AWAY);
    pub const STOCHASTIC_UNDERFLOW: Rounding = Rounding(sys::LPT_ROUNDING_STOCHASTIC_UNDERFLOW);
}

/// What a cast makes of a value beyond the largest code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Overflow(pub sys::lpt_overflow);

#[allow(missing_docs)]
impl Overflow {
    pub const SATURATE: Overflow = Overflow(sys::LPT_OVERFLOW_SATURATE);
    pub const INFINITE: Overflow = Overflow(sys::LPT_OVERFLOW_INFINITE);
}

/// How a cast computes scales from the maximum magnitude (amax).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ScaleRule(pub sys::lpt_scale_rule);

#[allow(missing_docs)]
impl ScaleRule {
    pub const DEFAULT: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_DEFAULT);
    pub const AMAX: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_AMAX);
    pub const POWER_OF_TWO: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_POWER_OF_TWO);
    pub const ROUND_UP: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_ROUND_UP);
    pub const FLOOR: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_FLOOR);
    pub const NEAREST: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_NEAREST);
    pub const HEADROOM: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_HEADROOM);
    pub const POWER_OF_TWO_DOWN: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_POWER_OF_TWO_DOWN);
    pub const POWER_OF_TWO_NEAREST: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_POWER_OF_TWO_NEAREST);
    pub const CEIL: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_CEIL);
    pub const EVEN: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_EVEN);
    pub const THREE_QUARTERS: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_THREE_QUARTERS);
    pub const QUEST_FLOOR: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_QUEST_FLOOR);
    pub const QUEST_NEAREST: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_QUEST_NEAREST);
    pub const QUEST_CEIL: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_QUEST_CEIL);
    pub const FOUR_OVER_SIX: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_FOUR_OVER_SIX);
    pub const MSE: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_MSE);
    pub const LIST: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_LIST);
    pub const FIXED: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_FIXED);
    pub const MEAN: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_MEAN);
    pub const SAWB: ScaleRule = ScaleRule(sys::LPT_SCALE_RULE_SAWB);
}

/// Which amax a scaler gives to a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ScalerKind(pub sys::lpt_scaler_kind);

#[allow(missing_docs)]
impl ScalerKind {
    pub const CURRENT: ScalerKind = ScalerKind(sys::LPT_SCALER_KIND_CURRENT);
    pub const DELAYED: ScalerKind = ScalerKind(sys::LPT_SCALER_KIND_DELAYED);
}

/// Which amax of the history a scaler uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ScalerHistoryRule(pub sys::lpt_scaler_history_rule);

#[allow(missing_docs)]
impl ScalerHistoryRule {
    pub const MAX: ScalerHistoryRule = ScalerHistoryRule(sys::LPT_SCALER_HISTORY_RULE_MAX);
    pub const LATEST: ScalerHistoryRule = ScalerHistoryRule(sys::LPT_SCALER_HISTORY_RULE_LATEST);
    pub const AVERAGE: ScalerHistoryRule = ScalerHistoryRule(sys::LPT_SCALER_HISTORY_RULE_AVERAGE);
}

/// What replaces an amax of 0, as at the first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ScalerZeroRule(pub sys::lpt_scaler_zero_rule);

#[allow(missing_docs)]
impl ScalerZeroRule {
    pub const USE_CURRENT: ScalerZeroRule = ScalerZeroRule(sys::LPT_SCALER_ZERO_RULE_USE_CURRENT);
    pub const ONE: ScalerZeroRule = ScalerZeroRule(sys::LPT_SCALER_ZERO_RULE_ONE);
    pub const USE_LAST: ScalerZeroRule = ScalerZeroRule(sys::LPT_SCALER_ZERO_RULE_USE_LAST);
}

/// What lpt_calibration_read() writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct CalibrationValue(pub sys::lpt_calibration_value);

#[allow(missing_docs)]
impl CalibrationValue {
    pub const GRAM: CalibrationValue = CalibrationValue(sys::LPT_CALIBRATION_VALUE_GRAM);
    pub const CROSS_GRAM: CalibrationValue = CalibrationValue(sys::LPT_CALIBRATION_VALUE_CROSS_GRAM);
    pub const MAXIMA: CalibrationValue = CalibrationValue(sys::LPT_CALIBRATION_VALUE_MAXIMA);
    pub const MEANS: CalibrationValue = CalibrationValue(sys::LPT_CALIBRATION_VALUE_MEANS);
    pub const MEAN_SQUARES: CalibrationValue = CalibrationValue(sys::LPT_CALIBRATION_VALUE_MEAN_SQUARES);
}

/// How lpt_weights_fit() rounds weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct WeightsFitMethod(pub sys::lpt_weights_fit_method);

#[allow(missing_docs)]
impl WeightsFitMethod {
    pub const NEAREST: WeightsFitMethod = WeightsFitMethod(sys::LPT_WEIGHTS_FIT_METHOD_NEAREST);
    pub const GPTQ: WeightsFitMethod = WeightsFitMethod(sys::LPT_WEIGHTS_FIT_METHOD_GPTQ);
}

/// The order of columns in GPTQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct WeightsFitOrder(pub sys::lpt_weights_fit_order);

#[allow(missing_docs)]
impl WeightsFitOrder {
    pub const COLUMNS: WeightsFitOrder = WeightsFitOrder(sys::LPT_WEIGHTS_FIT_ORDER_COLUMNS);
    pub const DIAGONAL: WeightsFitOrder = WeightsFitOrder(sys::LPT_WEIGHTS_FIT_ORDER_DIAGONAL);
    pub const BLOCKS: WeightsFitOrder = WeightsFitOrder(sys::LPT_WEIGHTS_FIT_ORDER_BLOCKS);
}

/// An activation of a GEMM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Activation(pub sys::lpt_activation);

#[allow(missing_docs)]
impl Activation {
    pub const NONE: Activation = Activation(sys::LPT_ACTIVATION_NONE);
    pub const GELU: Activation = Activation(sys::LPT_ACTIVATION_GELU);
    pub const GELU_TANH: Activation = Activation(sys::LPT_ACTIVATION_GELU_TANH);
    pub const SILU: Activation = Activation(sys::LPT_ACTIVATION_SILU);
    pub const SWIGLU: Activation = Activation(sys::LPT_ACTIVATION_SWIGLU);
}

/// Which elements of a group are kept, and their new values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct SparseRule(pub sys::lpt_sparse_rule);

#[allow(missing_docs)]
impl SparseRule {
    pub const MAGNITUDE: SparseRule = SparseRule(sys::LPT_SPARSE_RULE_MAGNITUDE);
    pub const MVUE: SparseRule = SparseRule(sys::LPT_SPARSE_RULE_MVUE);
    pub const MVUE_TWO_DRAWS: SparseRule = SparseRule(sys::LPT_SPARSE_RULE_MVUE_TWO_DRAWS);
    pub const SOFT_THRESHOLD: SparseRule = SparseRule(sys::LPT_SPARSE_RULE_SOFT_THRESHOLD);
}

/// Axis along which M adjacent elements form a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct SparseDirection(pub sys::lpt_sparse_direction);

#[allow(missing_docs)]
impl SparseDirection {
    pub const ROW: SparseDirection = SparseDirection(sys::LPT_SPARSE_DIRECTION_ROW);
    pub const COLUMN: SparseDirection = SparseDirection(sys::LPT_SPARSE_DIRECTION_COLUMN);
    pub const BOTH: SparseDirection = SparseDirection(sys::LPT_SPARSE_DIRECTION_BOTH);
}

/// Algorithm that selects a transposable mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct SparseSolver(pub sys::lpt_sparse_solver);

#[allow(missing_docs)]
impl SparseSolver {
    pub const AUTO: SparseSolver = SparseSolver(sys::LPT_SPARSE_SOLVER_AUTO);
    pub const EXACT: SparseSolver = SparseSolver(sys::LPT_SPARSE_SOLVER_EXACT);
    pub const GREEDY: SparseSolver = SparseSolver(sys::LPT_SPARSE_SOLVER_GREEDY);
    pub const SEARCH: SparseSolver = SparseSolver(sys::LPT_SPARSE_SOLVER_SEARCH);
    pub const PRUNE: SparseSolver = SparseSolver(sys::LPT_SPARSE_SOLVER_PRUNE);
    pub const ENTROPY: SparseSolver = SparseSolver(sys::LPT_SPARSE_SOLVER_ENTROPY);
}

/// Which elements of packed weights are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct WeightsStorage(pub sys::lpt_weights_storage);

#[allow(missing_docs)]
impl WeightsStorage {
    pub const ALL: WeightsStorage = WeightsStorage(sys::LPT_WEIGHTS_STORAGE_ALL);
    pub const BITMASK: WeightsStorage = WeightsStorage(sys::LPT_WEIGHTS_STORAGE_BITMASK);
    pub const BLOCK_SPARSE: WeightsStorage = WeightsStorage(sys::LPT_WEIGHTS_STORAGE_BLOCK_SPARSE);
}

/// How frequencies of a rotary embedding are scaled for long contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct RotaryScalingKind(pub sys::lpt_rotary_scaling_kind);

#[allow(missing_docs)]
impl RotaryScalingKind {
    pub const NONE: RotaryScalingKind = RotaryScalingKind(sys::LPT_ROTARY_SCALING_KIND_NONE);
    pub const LINEAR: RotaryScalingKind = RotaryScalingKind(sys::LPT_ROTARY_SCALING_KIND_LINEAR);
    pub const NTK: RotaryScalingKind = RotaryScalingKind(sys::LPT_ROTARY_SCALING_KIND_NTK);
    pub const YARN: RotaryScalingKind = RotaryScalingKind(sys::LPT_ROTARY_SCALING_KIND_YARN);
    pub const LLAMA3: RotaryScalingKind = RotaryScalingKind(sys::LPT_ROTARY_SCALING_KIND_LLAMA3);
}

/// Which two columns a frequency rotates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct RotaryLayout(pub sys::lpt_rotary_layout);

#[allow(missing_docs)]
impl RotaryLayout {
    pub const HALVES: RotaryLayout = RotaryLayout(sys::LPT_ROTARY_LAYOUT_HALVES);
    pub const INTERLEAVED: RotaryLayout = RotaryLayout(sys::LPT_ROTARY_LAYOUT_INTERLEAVED);
}

/// One operand of one GEMM of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct LinearCast(pub sys::lpt_linear_cast);

#[allow(missing_docs)]
impl LinearCast {
    pub const FORWARD_INPUT: LinearCast = LinearCast(sys::LPT_LINEAR_CAST_FORWARD_INPUT);
    pub const FORWARD_WEIGHT: LinearCast = LinearCast(sys::LPT_LINEAR_CAST_FORWARD_WEIGHT);
    pub const DGRAD_GRADIENT: LinearCast = LinearCast(sys::LPT_LINEAR_CAST_DGRAD_GRADIENT);
    pub const DGRAD_WEIGHT: LinearCast = LinearCast(sys::LPT_LINEAR_CAST_DGRAD_WEIGHT);
    pub const WGRAD_GRADIENT: LinearCast = LinearCast(sys::LPT_LINEAR_CAST_WGRAD_GRADIENT);
    pub const WGRAD_INPUT: LinearCast = LinearCast(sys::LPT_LINEAR_CAST_WGRAD_INPUT);
}

/// One tensor of a linear layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct LinearOperand(pub sys::lpt_linear_operand);

#[allow(missing_docs)]
impl LinearOperand {
    pub const INPUT: LinearOperand = LinearOperand(sys::LPT_LINEAR_OPERAND_INPUT);
    pub const WEIGHT: LinearOperand = LinearOperand(sys::LPT_LINEAR_OPERAND_WEIGHT);
    pub const GRADIENT: LinearOperand = LinearOperand(sys::LPT_LINEAR_OPERAND_GRADIENT);
}

/// One GEMM of a linear layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct LinearGemm(pub sys::lpt_linear_gemm);

#[allow(missing_docs)]
impl LinearGemm {
    pub const FORWARD: LinearGemm = LinearGemm(sys::LPT_LINEAR_GEMM_FORWARD);
    pub const DGRAD: LinearGemm = LinearGemm(sys::LPT_LINEAR_GEMM_DGRAD);
    pub const WGRAD: LinearGemm = LinearGemm(sys::LPT_LINEAR_GEMM_WGRAD);
}

/// Signs of a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct HadamardSigns(pub sys::lpt_hadamard_signs);

#[allow(missing_docs)]
impl HadamardSigns {
    pub const NONE: HadamardSigns = HadamardSigns(sys::LPT_HADAMARD_SIGNS_NONE);
    pub const FIXED: HadamardSigns = HadamardSigns(sys::LPT_HADAMARD_SIGNS_FIXED);
    pub const RANDOM: HadamardSigns = HadamardSigns(sys::LPT_HADAMARD_SIGNS_RANDOM);
}

/// Axis along which operands of a GEMM are rotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct HadamardAxis(pub sys::lpt_hadamard_axis);

#[allow(missing_docs)]
impl HadamardAxis {
    pub const INNER: HadamardAxis = HadamardAxis(sys::LPT_HADAMARD_AXIS_INNER);
    pub const ROWS: HadamardAxis = HadamardAxis(sys::LPT_HADAMARD_AXIS_ROWS);
}

/// What a backward GEMM casts x or w from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct LinearSource(pub sys::lpt_linear_source);

#[allow(missing_docs)]
impl LinearSource {
    pub const PLAIN: LinearSource = LinearSource(sys::LPT_LINEAR_SOURCE_PLAIN);
    pub const FORWARD: LinearSource = LinearSource(sys::LPT_LINEAR_SOURCE_FORWARD);
    pub const FORWARD_CLIPPED: LinearSource = LinearSource(sys::LPT_LINEAR_SOURCE_FORWARD_CLIPPED);
}

/// Constant factor of the result of a GEMM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct LinearOutputScale(pub sys::lpt_linear_output_scale);

#[allow(missing_docs)]
impl LinearOutputScale {
    pub const NONE: LinearOutputScale = LinearOutputScale(sys::LPT_LINEAR_OUTPUT_SCALE_NONE);
    pub const UNIT: LinearOutputScale = LinearOutputScale(sys::LPT_LINEAR_OUTPUT_SCALE_UNIT);
}

/// Group size of a rotation: a power of two, or one of lpt_hadamard_size_values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct HadamardSize(pub sys::lpt_hadamard_size);

#[allow(missing_docs)]
impl HadamardSize {
    pub const HADAMARD_SIZE_DIVISOR: HadamardSize = HadamardSize(sys::LPT_HADAMARD_SIZE_DIVISOR);
}

/// Slice of a layer that a rank of a comm holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct LinearParallel(pub sys::lpt_linear_parallel);

#[allow(missing_docs)]
impl LinearParallel {
    pub const NONE: LinearParallel = LinearParallel(sys::LPT_LINEAR_PARALLEL_NONE);
    pub const COLUMNS: LinearParallel = LinearParallel(sys::LPT_LINEAR_PARALLEL_COLUMNS);
    pub const ROWS: LinearParallel = LinearParallel(sys::LPT_LINEAR_PARALLEL_ROWS);
}

/// Smoothing of a SwiGLU for the cast that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct SwigluSmoothing(pub sys::lpt_swiglu_smoothing);

#[allow(missing_docs)]
impl SwigluSmoothing {
    pub const NONE: SwigluSmoothing = SwigluSmoothing(sys::LPT_SWIGLU_SMOOTHING_NONE);
    pub const CHANNEL: SwigluSmoothing = SwigluSmoothing(sys::LPT_SWIGLU_SMOOTHING_CHANNEL);
}

/// Reduction of the losses of all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct LossReduction(pub sys::lpt_loss_reduction);

#[allow(missing_docs)]
impl LossReduction {
    pub const MEAN: LossReduction = LossReduction(sys::LPT_LOSS_REDUCTION_MEAN);
    pub const SUM: LossReduction = LossReduction(sys::LPT_LOSS_REDUCTION_SUM);
    pub const NONE: LossReduction = LossReduction(sys::LPT_LOSS_REDUCTION_NONE);
}

/// Update rule of an optimizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct OptimizerMethod(pub sys::lpt_optimizer_method);

#[allow(missing_docs)]
impl OptimizerMethod {
    pub const ADAMW: OptimizerMethod = OptimizerMethod(sys::LPT_OPTIMIZER_METHOD_ADAMW);
    pub const ADAM: OptimizerMethod = OptimizerMethod(sys::LPT_OPTIMIZER_METHOD_ADAM);
    pub const SGD: OptimizerMethod = OptimizerMethod(sys::LPT_OPTIMIZER_METHOD_SGD);
    pub const LION: OptimizerMethod = OptimizerMethod(sys::LPT_OPTIMIZER_METHOD_LION);
}

/// Cast of a second moment below the smallest code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct OptimizerUnderflow(pub sys::lpt_optimizer_underflow);

#[allow(missing_docs)]
impl OptimizerUnderflow {
    pub const CLAMP: OptimizerUnderflow = OptimizerUnderflow(sys::LPT_OPTIMIZER_UNDERFLOW_CLAMP);
    pub const ALLOWED: OptimizerUnderflow = OptimizerUnderflow(sys::LPT_OPTIMIZER_UNDERFLOW_ALLOWED);
    pub const STOCHASTIC: OptimizerUnderflow = OptimizerUnderflow(sys::LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC);
}

/// How elements of all ranks are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Reduction(pub sys::lpt_reduction);

#[allow(missing_docs)]
impl Reduction {
    pub const SUM: Reduction = Reduction(sys::LPT_REDUCTION_SUM);
    pub const AVERAGE: Reduction = Reduction(sys::LPT_REDUCTION_AVERAGE);
    pub const MAXIMUM: Reduction = Reduction(sys::LPT_REDUCTION_MAXIMUM);
    pub const MINIMUM: Reduction = Reduction(sys::LPT_REDUCTION_MINIMUM);
}

/// Algorithm of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ReduceAlgorithm(pub sys::lpt_reduce_algorithm);

#[allow(missing_docs)]
impl ReduceAlgorithm {
    pub const AUTO: ReduceAlgorithm = ReduceAlgorithm(sys::LPT_REDUCE_ALGORITHM_AUTO);
    pub const ONE_SHOT: ReduceAlgorithm = ReduceAlgorithm(sys::LPT_REDUCE_ALGORITHM_ONE_SHOT);
    pub const TWO_SHOT: ReduceAlgorithm = ReduceAlgorithm(sys::LPT_REDUCE_ALGORITHM_TWO_SHOT);
    pub const NATIVE: ReduceAlgorithm = ReduceAlgorithm(sys::LPT_REDUCE_ALGORITHM_NATIVE);
}

/// Order in which gradients fill buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct GradientBucketsOrder(pub sys::lpt_gradient_buckets_order);

#[allow(missing_docs)]
impl GradientBucketsOrder {
    pub const RECORDED: GradientBucketsOrder = GradientBucketsOrder(sys::LPT_GRADIENT_BUCKETS_ORDER_RECORDED);
    pub const REVERSED: GradientBucketsOrder = GradientBucketsOrder(sys::LPT_GRADIENT_BUCKETS_ORDER_REVERSED);
}

/// Direction of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct PartialPass(pub sys::lpt_partial_pass);

#[allow(missing_docs)]
impl PartialPass {
    pub const FORWARD: PartialPass = PartialPass(sys::LPT_PARTIAL_PASS_FORWARD);
    pub const BACKWARD: PartialPass = PartialPass(sys::LPT_PARTIAL_PASS_BACKWARD);
}

/// Factor of private columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct PartialScale(pub sys::lpt_partial_scale);

#[allow(missing_docs)]
impl PartialScale {
    pub const ROOT: PartialScale = PartialScale(sys::LPT_PARTIAL_SCALE_ROOT);
    pub const ONE: PartialScale = PartialScale(sys::LPT_PARTIAL_SCALE_ONE);
    pub const CUSTOM: PartialScale = PartialScale(sys::LPT_PARTIAL_SCALE_CUSTOM);
}

/// Which positions of a sequence a rank of a ring has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct SequenceLayout(pub sys::lpt_sequence_layout);

#[allow(missing_docs)]
impl SequenceLayout {
    pub const CONTIGUOUS: SequenceLayout = SequenceLayout(sys::LPT_SEQUENCE_LAYOUT_CONTIGUOUS);
    pub const ZIGZAG: SequenceLayout = SequenceLayout(sys::LPT_SEQUENCE_LAYOUT_ZIGZAG);
}

/// Why an autopilot changed a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct AutopilotReason(pub sys::lpt_autopilot_reason);

#[allow(missing_docs)]
impl AutopilotReason {
    pub const NONFINITE: AutopilotReason = AutopilotReason(sys::LPT_AUTOPILOT_REASON_NONFINITE);
    pub const LOSS: AutopilotReason = AutopilotReason(sys::LPT_AUTOPILOT_REASON_LOSS);
    pub const CLIPPED: AutopilotReason = AutopilotReason(sys::LPT_AUTOPILOT_REASON_CLIPPED);
    pub const AMAX_GROWTH: AutopilotReason = AutopilotReason(sys::LPT_AUTOPILOT_REASON_AMAX_GROWTH);
    pub const ALIGNMENT: AutopilotReason = AutopilotReason(sys::LPT_AUTOPILOT_REASON_ALIGNMENT);
    pub const NOISE_RATIO: AutopilotReason = AutopilotReason(sys::LPT_AUTOPILOT_REASON_NOISE_RATIO);
    pub const LAST_STEPS: AutopilotReason = AutopilotReason(sys::LPT_AUTOPILOT_REASON_LAST_STEPS);
    pub const CALM: AutopilotReason = AutopilotReason(sys::LPT_AUTOPILOT_REASON_CALM);
}

/// Collective of a cost estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct CostCollective(pub sys::lpt_cost_collective);

#[allow(missing_docs)]
impl CostCollective {
    pub const ALL_REDUCE: CostCollective = CostCollective(sys::LPT_COST_COLLECTIVE_ALL_REDUCE);
    pub const REDUCE_SCATTER: CostCollective = CostCollective(sys::LPT_COST_COLLECTIVE_REDUCE_SCATTER);
    pub const ALL_GATHER: CostCollective = CostCollective(sys::LPT_COST_COLLECTIVE_ALL_GATHER);
    pub const BROADCAST: CostCollective = CostCollective(sys::LPT_COST_COLLECTIVE_BROADCAST);
    pub const ALL_TO_ALL: CostCollective = CostCollective(sys::LPT_COST_COLLECTIVE_ALL_TO_ALL);
}

/// Algorithm of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct CostAlgorithm(pub sys::lpt_cost_algorithm);

#[allow(missing_docs)]
impl CostAlgorithm {
    pub const BEST: CostAlgorithm = CostAlgorithm(sys::LPT_COST_ALGORITHM_BEST);
    pub const RING: CostAlgorithm = CostAlgorithm(sys::LPT_COST_ALGORITHM_RING);
    pub const TREE: CostAlgorithm = CostAlgorithm(sys::LPT_COST_ALGORITHM_TREE);
    pub const TWO_SHOT: CostAlgorithm = CostAlgorithm(sys::LPT_COST_ALGORITHM_TWO_SHOT);
    pub const ONE_SHOT: CostAlgorithm = CostAlgorithm(sys::LPT_COST_ALGORITHM_ONE_SHOT);
    pub const STAR: CostAlgorithm = CostAlgorithm(sys::LPT_COST_ALGORITHM_STAR);
}

/// Tensors that share one factor of the correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct DelayNorm(pub sys::lpt_delay_norm);

#[allow(missing_docs)]
impl DelayNorm {
    pub const TENSOR: DelayNorm = DelayNorm(sys::LPT_DELAY_NORM_TENSOR);
    pub const GLOBAL: DelayNorm = DelayNorm(sys::LPT_DELAY_NORM_GLOBAL);
}

/// An arithmetic of a GEMM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct GemmArithmetic(pub sys::lpt_gemm_arithmetic);

#[allow(missing_docs)]
impl GemmArithmetic {
    pub const NATIVE: GemmArithmetic = GemmArithmetic(sys::LPT_GEMM_ARITHMETIC_NATIVE);
    pub const L_MUL: GemmArithmetic = GemmArithmetic(sys::LPT_GEMM_ARITHMETIC_L_MUL);
    pub const PIECEWISE_AFFINE: GemmArithmetic = GemmArithmetic(sys::LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE);
    pub const SHIFT: GemmArithmetic = GemmArithmetic(sys::LPT_GEMM_ARITHMETIC_SHIFT);
    pub const TENSOR_CORE: GemmArithmetic = GemmArithmetic(sys::LPT_GEMM_ARITHMETIC_TENSOR_CORE);
}

/// How a reduction compensates for lost packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct LossyMode(pub sys::lpt_lossy_mode);

#[allow(missing_docs)]
impl LossyMode {
    pub const COUNT: LossyMode = LossyMode(sys::LPT_LOSSY_MODE_COUNT);
    pub const HORVITZ_THOMPSON: LossyMode = LossyMode(sys::LPT_LOSSY_MODE_HORVITZ_THOMPSON);
}

/// Estimator of gradient noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct NoiseKind(pub sys::lpt_noise_kind);

#[allow(missing_docs)]
impl NoiseKind {
    pub const REFERENCE: NoiseKind = NoiseKind(sys::LPT_NOISE_KIND_REFERENCE);
    pub const TWO_DRAWS: NoiseKind = NoiseKind(sys::LPT_NOISE_KIND_TWO_DRAWS);
}

/// Circuit of a multiply-add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct PowerArithmetic(pub sys::lpt_power_arithmetic);

#[allow(missing_docs)]
impl PowerArithmetic {
    pub const SIGNED: PowerArithmetic = PowerArithmetic(sys::LPT_POWER_ARITHMETIC_SIGNED);
    pub const UNSIGNED: PowerArithmetic = PowerArithmetic(sys::LPT_POWER_ARITHMETIC_UNSIGNED);
    pub const ADDITIONS: PowerArithmetic = PowerArithmetic(sys::LPT_POWER_ARITHMETIC_ADDITIONS);
}

/// Shape of a topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct TopologyKind(pub sys::lpt_topology_kind);

#[allow(missing_docs)]
impl TopologyKind {
    pub const TORUS: TopologyKind = TopologyKind(sys::LPT_TOPOLOGY_KIND_TORUS);
    pub const MESH: TopologyKind = TopologyKind(sys::LPT_TOPOLOGY_KIND_MESH);
    pub const FULLY_CONNECTED: TopologyKind = TopologyKind(sys::LPT_TOPOLOGY_KIND_FULLY_CONNECTED);
    pub const FAT_TREE: TopologyKind = TopologyKind(sys::LPT_TOPOLOGY_KIND_FAT_TREE);
    pub const TWO_LEVEL: TopologyKind = TopologyKind(sys::LPT_TOPOLOGY_KIND_TWO_LEVEL);
    pub const GRAPH: TopologyKind = TopologyKind(sys::LPT_TOPOLOGY_KIND_GRAPH);
}

/// Algorithm of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ScheduleAlgorithm(pub sys::lpt_schedule_algorithm);

#[allow(missing_docs)]
impl ScheduleAlgorithm {
    pub const MULTITREE: ScheduleAlgorithm = ScheduleAlgorithm(sys::LPT_SCHEDULE_ALGORITHM_MULTITREE);
    pub const RING: ScheduleAlgorithm = ScheduleAlgorithm(sys::LPT_SCHEDULE_ALGORITHM_RING);
    pub const DOUBLE_TREE: ScheduleAlgorithm = ScheduleAlgorithm(sys::LPT_SCHEDULE_ALGORITHM_DOUBLE_TREE);
    pub const HALVING: ScheduleAlgorithm = ScheduleAlgorithm(sys::LPT_SCHEDULE_ALGORITHM_HALVING);
    pub const HIERARCHICAL: ScheduleAlgorithm = ScheduleAlgorithm(sys::LPT_SCHEDULE_ALGORITHM_HIERARCHICAL);
    pub const CUSTOM: ScheduleAlgorithm = ScheduleAlgorithm(sys::LPT_SCHEDULE_ALGORITHM_CUSTOM);
}

/// What the receiver of a send does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ScheduleOperation(pub sys::lpt_schedule_operation);

#[allow(missing_docs)]
impl ScheduleOperation {
    pub const ADD: ScheduleOperation = ScheduleOperation(sys::LPT_SCHEDULE_OPERATION_ADD);
    pub const COPY: ScheduleOperation = ScheduleOperation(sys::LPT_SCHEDULE_OPERATION_COPY);
}

/// Method that counts masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct SparseCount(pub sys::lpt_sparse_count);

#[allow(missing_docs)]
impl SparseCount {
    pub const EXACT: SparseCount = SparseCount(sys::LPT_SPARSE_COUNT_EXACT);
    pub const PUBLISHED: SparseCount = SparseCount(sys::LPT_SPARSE_COUNT_PUBLISHED);
}
