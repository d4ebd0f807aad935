// Enumerations of lpt.h; the header documents the contracts. Written by `python3 tools/make_bindings.py write`.
#pragma warning disable CS1591 // lpt.h documents members without a comment
namespace Lpt
{
    /// <summary>The result of a function; one of lpt_status_values.</summary>
    public enum Status : int
    {
        Ok = 0,
        InvalidArgument = 1,
        Unsupported = 2,
        OutOfMemory = 3,
        InvalidState = 4,
        Internal = 5,
        Cancelled = 6,
        Aborted = 7,
        Timeout = 8,
        Mismatch = 9,
        WorkFailed = 10,
        Busy = 11,
    }

    /// <summary>Flags of a call, of a struct or of a tensor: a sum of lpt_flags_values.</summary>
    public enum Flags : ulong
    {
        CheckOnly = 1,
        QuantizeKeepTensorScale = 2,
        GemmPortableOrder = 4,
        GemmCastAToBf16 = 8,
        CommChecksums = 16,
        CommMessages = 32,
        CommSkipChecks = 64,
        PartialSequenceParallel = 128,
        DlpackReadOnly = 256,
        DlpackCopied = 512,
        TensorReadOnly = 1024,
        TensorUnchecked = 2048,
        GemmFastAccumulate = 4096,
    }

    /// <summary>A kind of device; one of lpt_device_values.</summary>
    public enum Device : int
    {
        Cpu = 0,
        Cuda = 1,
    }

    /// <summary>The highest instruction set that a context may use; one of lpt_isa_values.</summary>
    public enum Isa : int
    {
        Auto = 0,
        Reference = 1,
        X86Avx2 = 2,
        X86Avx512 = 3,
        X86Avx512Bf16 = 4,
        X86Amx = 5,
    }

    /// <summary>How much a context logs; one of lpt_log_level_values.</summary>
    public enum LogLevel : int
    {
        None = 0,
        Warning = 1,
        Info = 2,
        Dispatch = 3,
    }

    /// <summary>Identifies a format: what the bytes of a tensor mean.</summary>
    public enum Format : long
    {
        None = 0,
        F64 = 1,
        F32 = 2,
        F16 = 3,
        Bf16 = 4,
        E4m3fn = 5,
        E4m3 = 6,
        E5m2 = 7,
        E2m1fn = 8,
        E8m0fnu = 9,
        Int8 = 10,
        Uint8 = 11,
        E4m3fnuz = 12,
        E5m2fnuz = 13,
        E4m3b11fnuz = 14,
        E3m4 = 15,
        E3m2fn = 16,
        E2m3fn = 17,
        E3m0 = 18,
        Int4 = 19,
        Uint4 = 20,
        Int2 = 21,
        Ternary = 22,
        Int16 = 23,
        Q1_6 = 24,
        Nf4 = 25,
        BnbFp4 = 26,
        Int32 = 27,
        Int64 = 28,
        Int3 = 29,
        E4m3fnTensor = 64,
        E4m3fnRow = 65,
        E4m3fn_1x128 = 66,
        E4m3fn_128x128 = 67,
        E4m3Tensor = 68,
        E4m3Row = 69,
        E5m2Tensor = 70,
        E5m2Row = 71,
        E5m2_1x128 = 72,
        E5m2_128x128 = 73,
        Mxfp8E4m3 = 74,
        Mxfp8E5m2 = 75,
        Mxfp4 = 76,
        Nvfp4 = 77,
        Int8Tensor = 78,
        Int8Row = 79,
        F16Tensor = 80,
        Mxfp6E3m2 = 81,
        Mxfp6E2m3 = 82,
        Mxint8 = 83,
        Nvfp4_16x16 = 84,
        Int4_1x32 = 85,
        Int4_1x64 = 86,
        Int4_1x128 = 87,
        Uint4_1x32 = 88,
        Uint4_1x64 = 89,
        Uint4_1x128 = 90,
        Int8_1x32 = 91,
        Int16Tensor = 92,
        E3m0Tensor = 93,
        TernaryTensor = 94,
        E4m3fnuzTensor = 95,
        E5m2fnuzTensor = 96,
        Nf4_1x64 = 97,
        BnbFp4_1x64 = 98,
        Dynamic_1x256 = 99,
    }

    /// <summary>Rows or columns of a block: a power of two, or one of lpt_block_extent_values.</summary>
    public enum BlockExtent : int
    {
        BlockExtentFull = -1,
    }

    /// <summary>The special values of an element; one of lpt_element_special_values.</summary>
    public enum ElementSpecial : int
    {
        None = 0,
        Ieee = 1,
        NanOnes = 2,
        Integer = 3,
        Fnuz = 4,
        List = 5,
    }

    /// <summary>A part of a tensor; one of lpt_tensor_part_values.</summary>
    public enum TensorPart : int
    {
        Payload = 0,
        BlockScales = 1,
        TensorScale = 2,
        ZeroPoints = 3,
        SparseIndices = 4,
    }

    /// <summary>A memory layout of another library; one of lpt_foreign_layout_values.</summary>
    public enum ForeignLayout : int
    {
        Ggml = 1,
        Bitsandbytes = 2,
        CublasScales = 3,
        GgmlQ4_1 = 4,
        MmaSparse = 5,
        CutlassSparse = 6,
    }

    /// <summary>How a cast rounds a value between two codes; one of lpt_rounding_values.</summary>
    public enum Rounding : int
    {
        NearestEven = 0,
        Stochastic = 1,
        TowardZero = 2,
        NearestAway = 3,
        StochasticUnderflow = 4,
    }

    /// <summary>What a cast makes of a value beyond the largest code; one of lpt_overflow_values.</summary>
    public enum Overflow : int
    {
        Saturate = 0,
        Infinite = 1,
    }

    /// <summary>How a cast computes scales from the maximum magnitude (amax); one of lpt_scale_rule_values.</summary>
    public enum ScaleRule : int
    {
        Default = 0,
        Amax = 1,
        PowerOfTwo = 2,
        RoundUp = 3,
        Floor = 4,
        Nearest = 5,
        Headroom = 6,
        PowerOfTwoDown = 7,
        PowerOfTwoNearest = 8,
        Ceil = 9,
        Even = 10,
        ThreeQuarters = 11,
        QuestFloor = 12,
        QuestNearest = 13,
        QuestCeil = 14,
        FourOverSix = 15,
        Mse = 16,
        List = 17,
        Fixed = 18,
        Mean = 19,
        Sawb = 20,
    }

    /// <summary>Which amax a scaler gives to a cast; one of lpt_scaler_kind_values.</summary>
    public enum ScalerKind : int
    {
        Current = 0,
        Delayed = 1,
    }

    /// <summary>Which amax of the history a scaler uses; one of lpt_scaler_history_rule_values.</summary>
    public enum ScalerHistoryRule : int
    {
        Max = 0,
        Latest = 1,
        Average = 2,
    }

    /// <summary>What replaces an amax of 0, as at the first step; one of lpt_scaler_zero_rule_values.</summary>
    public enum ScalerZeroRule : int
    {
        UseCurrent = 0,
        One = 1,
        UseLast = 2,
    }

    /// <summary>What lpt_calibration_read() writes; one of lpt_calibration_value_values.</summary>
    public enum CalibrationValue : int
    {
        Gram = 0,
        CrossGram = 1,
        Maxima = 2,
        Means = 3,
        MeanSquares = 4,
    }

    /// <summary>How lpt_weights_fit() rounds weights; one of lpt_weights_fit_method_values.</summary>
    public enum WeightsFitMethod : int
    {
        Nearest = 0,
        Gptq = 1,
    }

    /// <summary>The order of columns in GPTQ; one of lpt_weights_fit_order_values.</summary>
    public enum WeightsFitOrder : int
    {
        Columns = 0,
        Diagonal = 1,
        Blocks = 2,
    }

    /// <summary>An activation of a GEMM; one of lpt_activation_values.</summary>
    public enum Activation : int
    {
        None = 0,
        Gelu = 1,
        GeluTanh = 2,
        Silu = 3,
        Swiglu = 4,
    }

    /// <summary>Which elements of a group are kept, and their new values; one of lpt_sparse_rule_values.</summary>
    public enum SparseRule : int
    {
        Magnitude = 0,
        Mvue = 1,
        MvueTwoDraws = 2,
        SoftThreshold = 3,
    }

    /// <summary>Axis along which M adjacent elements form a group; one of lpt_sparse_direction_values.</summary>
    public enum SparseDirection : int
    {
        Row = 0,
        Column = 1,
        Both = 2,
    }

    /// <summary>Algorithm that selects a transposable mask; one of lpt_sparse_solver_values.</summary>
    public enum SparseSolver : int
    {
        Auto = 0,
        Exact = 1,
        Greedy = 2,
        Search = 3,
        Prune = 4,
        Entropy = 5,
    }

    /// <summary>Which elements of packed weights are stored; one of lpt_weights_storage_values.</summary>
    public enum WeightsStorage : int
    {
        All = 0,
        Bitmask = 1,
        BlockSparse = 2,
    }

    /// <summary>How frequencies of a rotary embedding are scaled for long contexts; one of lpt_rotary_scaling_kind_values.</summary>
    public enum RotaryScalingKind : int
    {
        None = 0,
        Linear = 1,
        Ntk = 2,
        Yarn = 3,
        Llama3 = 4,
    }

    /// <summary>Which two columns a frequency rotates; one of lpt_rotary_layout_values.</summary>
    public enum RotaryLayout : int
    {
        Halves = 0,
        Interleaved = 1,
    }

    /// <summary>One operand of one GEMM of a layer; one of lpt_linear_cast_values.</summary>
    public enum LinearCast : int
    {
        ForwardInput = 0,
        ForwardWeight = 1,
        DgradGradient = 2,
        DgradWeight = 3,
        WgradGradient = 4,
        WgradInput = 5,
    }

    /// <summary>One tensor of a linear layer; one of lpt_linear_operand_values.</summary>
    public enum LinearOperand : int
    {
        Input = 0,
        Weight = 1,
        Gradient = 2,
    }

    /// <summary>One GEMM of a linear layer; one of lpt_linear_gemm_values.</summary>
    public enum LinearGemm : int
    {
        Forward = 0,
        Dgrad = 1,
        Wgrad = 2,
    }

    /// <summary>Signs of a rotation; one of lpt_hadamard_signs_values.</summary>
    public enum HadamardSigns : int
    {
        None = 0,
        Fixed = 1,
        Random = 2,
    }

    /// <summary>Axis along which operands of a GEMM are rotated; one of lpt_hadamard_axis_values.</summary>
    public enum HadamardAxis : int
    {
        Inner = 0,
        Rows = 1,
    }

    /// <summary>What a backward GEMM casts x or w from; one of lpt_linear_source_values.</summary>
    public enum LinearSource : int
    {
        Plain = 0,
        Forward = 1,
        ForwardClipped = 2,
    }

    /// <summary>Constant factor of the result of a GEMM; one of lpt_linear_output_scale_values.</summary>
    public enum LinearOutputScale : int
    {
        None = 0,
        Unit = 1,
    }

    /// <summary>Group size of a rotation: a power of two, or one of lpt_hadamard_size_values.</summary>
    public enum HadamardSize : int
    {
        HadamardSizeDivisor = -1,
    }

    /// <summary>Slice of a layer that a rank of a comm holds; one of lpt_linear_parallel_values.</summary>
    public enum LinearParallel : int
    {
        None = 0,
        Columns = 1,
        Rows = 2,
    }

    /// <summary>Smoothing of a SwiGLU for the cast that follows; one of lpt_swiglu_smoothing_values.</summary>
    public enum SwigluSmoothing : int
    {
        None = 0,
        Channel = 1,
    }

    /// <summary>Reduction of the losses of all rows; one of lpt_loss_reduction_values.</summary>
    public enum LossReduction : int
    {
        Mean = 0,
        Sum = 1,
        None = 2,
    }

    /// <summary>Update rule of an optimizer; one of lpt_optimizer_method_values.</summary>
    public enum OptimizerMethod : int
    {
        Adamw = 0,
        Adam = 1,
        Sgd = 2,
        Lion = 3,
    }

    /// <summary>Cast of a second moment below the smallest code; one of lpt_optimizer_underflow_values.</summary>
    public enum OptimizerUnderflow : int
    {
        Clamp = 0,
        Allowed = 1,
        Stochastic = 2,
    }

    /// <summary>How elements of all ranks are combined; one of lpt_reduction_values.</summary>
    public enum Reduction : int
    {
        Sum = 0,
        Average = 1,
        Maximum = 2,
        Minimum = 3,
    }

    /// <summary>Algorithm of a reduction; one of lpt_reduce_algorithm_values.</summary>
    public enum ReduceAlgorithm : int
    {
        Auto = 0,
        OneShot = 1,
        TwoShot = 2,
        Native = 3,
    }

    /// <summary>Order in which gradients fill buckets; one of lpt_gradient_buckets_order_values.</summary>
    public enum GradientBucketsOrder : int
    {
        Recorded = 0,
        Reversed = 1,
    }

    /// <summary>Direction of a pass; one of lpt_partial_pass_values.</summary>
    public enum PartialPass : int
    {
        Forward = 0,
        Backward = 1,
    }

    /// <summary>Factor of private columns; one of lpt_partial_scale_values.</summary>
    public enum PartialScale : int
    {
        Root = 0,
        One = 1,
        Custom = 2,
    }

    /// <summary>Which positions of a sequence a rank of a ring has; one of lpt_sequence_layout_values.</summary>
    public enum SequenceLayout : int
    {
        Contiguous = 0,
        Zigzag = 1,
    }

    /// <summary>Why an autopilot changed a level; one of lpt_autopilot_reason_values.</summary>
    public enum AutopilotReason : int
    {
        Nonfinite = 0,
        Loss = 1,
        Clipped = 2,
        AmaxGrowth = 3,
        Alignment = 4,
        NoiseRatio = 5,
        LastSteps = 6,
        Calm = 7,
    }

    /// <summary>Collective of a cost estimate; one of lpt_cost_collective_values.</summary>
    public enum CostCollective : int
    {
        AllReduce = 0,
        ReduceScatter = 1,
        AllGather = 2,
        Broadcast = 3,
        AllToAll = 4,
    }

    /// <summary>Algorithm of a collective; one of lpt_cost_algorithm_values.</summary>
    public enum CostAlgorithm : int
    {
        Best = 0,
        Ring = 1,
        Tree = 2,
        TwoShot = 3,
        OneShot = 4,
        Star = 5,
    }

    /// <summary>Tensors that share one factor of the correction; one of lpt_delay_norm_values.</summary>
    public enum DelayNorm : int
    {
        Tensor = 0,
        Global = 1,
    }

    /// <summary>An arithmetic of a GEMM; one of lpt_gemm_arithmetic_values.</summary>
    public enum GemmArithmetic : int
    {
        Native = 0,
        LMul = 1,
        PiecewiseAffine = 2,
        Shift = 3,
        TensorCore = 4,
    }

    /// <summary>How a reduction compensates for lost packets; one of lpt_lossy_mode_values.</summary>
    public enum LossyMode : int
    {
        Count = 0,
        HorvitzThompson = 1,
    }

    /// <summary>Estimator of gradient noise; one of lpt_noise_kind_values.</summary>
    public enum NoiseKind : int
    {
        Reference = 0,
        TwoDraws = 1,
    }

    /// <summary>Circuit of a multiply-add; one of lpt_power_arithmetic_values.</summary>
    public enum PowerArithmetic : int
    {
        Signed = 0,
        Unsigned = 1,
        Additions = 2,
    }

    /// <summary>Shape of a topology; one of lpt_topology_kind_values.</summary>
    public enum TopologyKind : int
    {
        Torus = 0,
        Mesh = 1,
        FullyConnected = 2,
        FatTree = 3,
        TwoLevel = 4,
        Graph = 5,
    }

    /// <summary>Algorithm of a schedule; one of lpt_schedule_algorithm_values.</summary>
    public enum ScheduleAlgorithm : int
    {
        Multitree = 0,
        Ring = 1,
        DoubleTree = 2,
        Halving = 3,
        Hierarchical = 4,
        Custom = 5,
    }

    /// <summary>What the receiver of a send does; one of lpt_schedule_operation_values.</summary>
    public enum ScheduleOperation : int
    {
        Add = 0,
        Copy = 1,
    }

    /// <summary>Method that counts masks; one of lpt_sparse_count_values.</summary>
    public enum SparseCount : int
    {
        Exact = 0,
        Published = 1,
    }
}
