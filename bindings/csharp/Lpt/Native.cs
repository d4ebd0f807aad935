// Declarations of lpt.h, which documents the contracts. Written by `python3 tools/make_bindings.py write`.
#pragma warning disable CS1591 // lpt.h documents members without a comment
using System;
using System.Runtime.InteropServices;

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


    /// <summary>Source of random bits: the key and counter of Philox4x32.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct Random
    {
        public ulong Seed;
        public long Offset;
        public long RowStride;
        public uint Stream;
        public uint Step;
    }

    /// <summary>Properties of one device, and whether a context can work on it.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct DeviceInfo
    {
        public UIntPtr StructSize;
        public Device Device;
        public int Index;
        public int Count;
        public int IsUsable;
        public int CapabilityMajor;
        public int CapabilityMinor;
        public int ProcessorCount;
        public int Reserved;
        public long MemoryBytes;
        public fixed byte Name[128];
        public fixed byte Reason[512];

        /// <summary>Returns the defaults of the library.</summary>
        public static DeviceInfo Default()
        {
            var value = default(DeviceInfo);
            Text.Initialize("lpt_device_info", &value, sizeof(DeviceInfo));
            return value;
        }
    }

    /// <summary>Options of lpt_context_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct ContextOptions
    {
        public UIntPtr StructSize;
        public int ThreadCount;
        public Isa Isa;
        public LogLevel LogLevel;
        public int ParallelForWidth;
        public IntPtr Log;
        public IntPtr LogUser;
        public IntPtr Allocate;
        public IntPtr Release;
        public IntPtr AllocatorUser;
        public IntPtr ParallelFor;
        public IntPtr ParallelForUser;
        public IntPtr ErrorText;
        public UIntPtr ErrorTextBytes;
        public Device Device;
        public int DeviceIndex;
        public IntPtr ThreadsOf;
        public IntPtr Stream;
        public IntPtr DeviceAllocate;
        public IntPtr DeviceRelease;
        public IntPtr DeviceAllocatorUser;

        /// <summary>Returns the defaults of the library.</summary>
        public static ContextOptions Default()
        {
            var value = default(ContextOptions);
            Text.Initialize("lpt_context_options", &value, sizeof(ContextOptions));
            return value;
        }
    }

    /// <summary>Work of one kernel while a profile was recorded.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct ProfileEntry
    {
        public UIntPtr StructSize;
        public fixed byte Operation[32];
        public fixed byte Kernel[64];
        public long Calls;
        public double Seconds;
        public double Bytes;
        public double Flops;

        /// <summary>Returns the defaults of the library.</summary>
        public static ProfileEntry Default()
        {
            var value = default(ProfileEntry);
            Text.Initialize("lpt_profile_entry", &value, sizeof(ProfileEntry));
            return value;
        }
    }

    /// <summary>The parts of a format.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct FormatDescription
    {
        public UIntPtr StructSize;
        public Format Element;
        public Format BlockScale;
        public Format TensorScale;
        public BlockExtent BlockRows;
        public BlockExtent BlockColumns;
        public int ElementBits;
        public int ExponentBits;
        public int MantissaBits;
        public int ExponentBias;
        public ElementSpecial Special;
        public int Reserved;
        public double Largest;
        public Format ZeroPoint;
        public int SparseKept;
        public int SparseOf;

        /// <summary>Returns the defaults of the library.</summary>
        public static FormatDescription Default()
        {
            var value = default(FormatDescription);
            Text.Initialize("lpt_format_description", &value, sizeof(FormatDescription));
            return value;
        }
    }

    /// <summary>Format, memory and shape of a tensor.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct TensorDescription
    {
        public UIntPtr StructSize;
        public Format Format;
        public IntPtr Data;
        public int Rank;
        public int Reserved;
        public IntPtr Extents;
        public IntPtr Strides;
        public Device Device;
        public int DeviceIndex;
        public Flags Flags;

        /// <summary>Returns the defaults of the library.</summary>
        public static TensorDescription Default()
        {
            var value = default(TensorDescription);
            Text.Initialize("lpt_tensor_description", &value, sizeof(TensorDescription));
            return value;
        }
    }

    /// <summary>Options of lpt_quantize() and lpt_fake_quantize().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct QuantizeOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public Rounding Rounding;
        public Overflow Overflow;
        public ScaleRule ScaleRule;
        public int StochasticBits;
        public int PhiloxRounds;
        public int HadamardSize;
        public Random Random;
        public IntPtr Scaler;
        public IntPtr Smoothing;
        public IntPtr HadamardSigns;
        public IntPtr RandomWords;
        public IntPtr ScaleList;
        public IntPtr Statistics;

        /// <summary>Returns the defaults of the library.</summary>
        public static QuantizeOptions Default()
        {
            var value = default(QuantizeOptions);
            Text.Initialize("lpt_quantize_options", &value, sizeof(QuantizeOptions));
            return value;
        }
    }

    /// <summary>Sums over the casts since the statistics were created or reset.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct StatisticsInfo
    {
        public UIntPtr StructSize;
        public long ElementCount;
        public long NanCount;
        public long ClippedCount;
        public long UnderflowCount;
        public double Amax;
        public double SquaredSum;
        public double SquaredError;

        /// <summary>Returns the defaults of the library.</summary>
        public static StatisticsInfo Default()
        {
            var value = default(StatisticsInfo);
            Text.Initialize("lpt_statistics_info", &value, sizeof(StatisticsInfo));
            return value;
        }
    }

    /// <summary>Options of lpt_dequantize().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct DequantizeOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;

        /// <summary>Returns the defaults of the library.</summary>
        public static DequantizeOptions Default()
        {
            var value = default(DequantizeOptions);
            Text.Initialize("lpt_dequantize_options", &value, sizeof(DequantizeOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_hadamard().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct HadamardOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public int Size;
        public int IsInverse;
        public IntPtr Signs;

        /// <summary>Returns the defaults of the library.</summary>
        public static HadamardOptions Default()
        {
            var value = default(HadamardOptions);
            Text.Initialize("lpt_hadamard_options", &value, sizeof(HadamardOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_convert().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct ConvertOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr Statistics;

        /// <summary>Returns the defaults of the library.</summary>
        public static ConvertOptions Default()
        {
            var value = default(ConvertOptions);
            Text.Initialize("lpt_convert_options", &value, sizeof(ConvertOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_scaler_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct ScalerOptions
    {
        public UIntPtr StructSize;
        public ScalerKind Kind;
        public int HistoryLength;
        public int Margin;
        public ScalerHistoryRule HistoryRule;
        public ScalerZeroRule ZeroRule;
        public float HistoryDecay;

        /// <summary>Returns the defaults of the library.</summary>
        public static ScalerOptions Default()
        {
            var value = default(ScalerOptions);
            Text.Initialize("lpt_scaler_options", &value, sizeof(ScalerOptions));
            return value;
        }
    }

    /// <summary>State of a scaler, as lpt_scaler_read() returns it.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct ScalerInfo
    {
        public UIntPtr StructSize;
        public float Amax;
        public float RunningAmax;
        public long UpdateCount;

        /// <summary>Returns the defaults of the library.</summary>
        public static ScalerInfo Default()
        {
            var value = default(ScalerInfo);
            Text.Initialize("lpt_scaler_info", &value, sizeof(ScalerInfo));
            return value;
        }
    }

    /// <summary>Options of lpt_sparse_fit().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct SparseFitOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public int Iterations;
        public int Reserved;
        public double Damping;

        /// <summary>Returns the defaults of the library.</summary>
        public static SparseFitOptions Default()
        {
            var value = default(SparseFitOptions);
            Text.Initialize("lpt_sparse_fit_options", &value, sizeof(SparseFitOptions));
            return value;
        }
    }

    /// <summary>Result of a fit: squared errors of the outputs, relative to the sum of squares of the outputs.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct SparseFitInfo
    {
        public UIntPtr StructSize;
        public double MaskedError;
        public double FittedError;
        public long IterationCount;

        /// <summary>Returns the defaults of the library.</summary>
        public static SparseFitInfo Default()
        {
            var value = default(SparseFitInfo);
            Text.Initialize("lpt_sparse_fit_info", &value, sizeof(SparseFitInfo));
            return value;
        }
    }

    /// <summary>Options of lpt_calibration_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct CalibrationOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public int HasGram;
        public int HasCrossGram;

        /// <summary>Returns the defaults of the library.</summary>
        public static CalibrationOptions Default()
        {
            var value = default(CalibrationOptions);
            Text.Initialize("lpt_calibration_options", &value, sizeof(CalibrationOptions));
            return value;
        }
    }

    /// <summary>Statistics over all columns.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct CalibrationInfo
    {
        public UIntPtr StructSize;
        public long RowCount;
        public double Amax;
        public double Mean;
        public double MeanSquare;

        /// <summary>Returns the defaults of the library.</summary>
        public static CalibrationInfo Default()
        {
            var value = default(CalibrationInfo);
            Text.Initialize("lpt_calibration_info", &value, sizeof(CalibrationInfo));
            return value;
        }
    }

    /// <summary>Options of lpt_weights_fit().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct WeightsFitOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public WeightsFitMethod Method;
        public WeightsFitOrder Order;
        public ScaleRule ScaleRule;
        public int Reserved;
        public double Damping;
        public IntPtr CrossGram;
        public IntPtr Inputs;
        public IntPtr Reference;
        public Format InputFormat;

        /// <summary>Returns the defaults of the library.</summary>
        public static WeightsFitOptions Default()
        {
            var value = default(WeightsFitOptions);
            Text.Initialize("lpt_weights_fit_options", &value, sizeof(WeightsFitOptions));
            return value;
        }
    }

    /// <summary>Result of lpt_weights_fit(): squared errors of the outputs, relative to the sum of squares of the outputs.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct WeightsFitInfo
    {
        public UIntPtr StructSize;
        public double NearestError;
        public double FittedError;
        public double Damping;
        public double Ratio;
        public double SampleError;
        public int HasMaxima;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static WeightsFitInfo Default()
        {
            var value = default(WeightsFitInfo);
            Text.Initialize("lpt_weights_fit_info", &value, sizeof(WeightsFitInfo));
            return value;
        }
    }

    /// <summary>Result of lpt_format_choose().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct FormatChooseInfo
    {
        public UIntPtr StructSize;
        public double Error;
        public double Bound;
        public long Bytes;

        /// <summary>Returns the defaults of the library.</summary>
        public static FormatChooseInfo Default()
        {
            var value = default(FormatChooseInfo);
            Text.Initialize("lpt_format_choose_info", &value, sizeof(FormatChooseInfo));
            return value;
        }
    }

    /// <summary>Options of lpt_gemm(), lpt_gemm_grouped() and lpt_gemm_plan_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct GemmOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Alpha;
        public double Beta;
        public int IsATransposed;
        public int IsBTransposed;
        public IntPtr Bias;
        public Activation Activation;
        public int Reserved;
        public IntPtr Residual;
        public IntPtr Quantize;
        public double OutlierThreshold;
        public IntPtr Emulation;

        /// <summary>Returns the defaults of the library.</summary>
        public static GemmOptions Default()
        {
            var value = default(GemmOptions);
            Text.Initialize("lpt_gemm_options", &value, sizeof(GemmOptions));
            return value;
        }
    }

    /// <summary>Properties of a plan, as lpt_gemm_plan_read() returns them.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct GemmPlanInfo
    {
        public UIntPtr StructSize;
        public long M;
        public long N;
        public long K;
        public UIntPtr WorkspaceBytes;
        public long PartCount;
        public fixed byte Kernel[64];

        /// <summary>Returns the defaults of the library.</summary>
        public static GemmPlanInfo Default()
        {
            var value = default(GemmPlanInfo);
            Text.Initialize("lpt_gemm_plan_info", &value, sizeof(GemmPlanInfo));
            return value;
        }
    }

    /// <summary>Optional operands of lpt_gemm_plan_run(), as in lpt_gemm_options.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct GemmOperands
    {
        public UIntPtr StructSize;
        public IntPtr Bias;
        public IntPtr Residual;
        public IntPtr Quantize;

        /// <summary>Returns the defaults of the library.</summary>
        public static GemmOperands Default()
        {
            var value = default(GemmOperands);
            Text.Initialize("lpt_gemm_operands", &value, sizeof(GemmOperands));
            return value;
        }
    }

    /// <summary>Options of lpt_sparse_mask_select(); lpt_sparse_order() and lpt_recipe_set_sparsity() use them too.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct SparseOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public int Kept;
        public int Of;
        public SparseRule Rule;
        public SparseDirection Direction;
        public SparseSolver Solver;
        public int Iterations;
        public double Sharpness;
        public Random Random;
        public int PhiloxRounds;
        public int Reserved;
        public IntPtr Importance;

        /// <summary>Returns the defaults of the library.</summary>
        public static SparseOptions Default()
        {
            var value = default(SparseOptions);
            Text.Initialize("lpt_sparse_options", &value, sizeof(SparseOptions));
            return value;
        }
    }

    /// <summary>Statistics of a selection; energies and the variance cover finite elements only.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct SparseInfo
    {
        public UIntPtr StructSize;
        public long ElementCount;
        public long KeptCount;
        public long SpecialGroups;
        public double Energy;
        public double KeptEnergy;
        public double Variance;

        /// <summary>Returns the defaults of the library.</summary>
        public static SparseInfo Default()
        {
            var value = default(SparseInfo);
            Text.Initialize("lpt_sparse_info", &value, sizeof(SparseInfo));
            return value;
        }
    }

    /// <summary>Options of lpt_weights_pack() and lpt_weights_order().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct WeightsOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr OutputOrder;
        public IntPtr InputOrder;
        public WeightsStorage Storage;
        public int TileRows;
        public int TileColumns;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static WeightsOptions Default()
        {
            var value = default(WeightsOptions);
            Text.Initialize("lpt_weights_options", &value, sizeof(WeightsOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_rotary_frequencies().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct RotaryScaling
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public RotaryScalingKind Kind;
        public int Reserved;
        public double Base;
        public double Factor;
        public long OriginalPositions;
        public double BetaFast;
        public double BetaSlow;
        public double LowFrequencyFactor;
        public double HighFrequencyFactor;

        /// <summary>Returns the defaults of the library.</summary>
        public static RotaryScaling Default()
        {
            var value = default(RotaryScaling);
            Text.Initialize("lpt_rotary_scaling", &value, sizeof(RotaryScaling));
            return value;
        }
    }

    /// <summary>Options of lpt_rotary().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct RotaryOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr Positions;
        public long FirstPosition;
        public RotaryLayout Layout;
        public int IsInverse;
        public double Scale;

        /// <summary>Returns the defaults of the library.</summary>
        public static RotaryOptions Default()
        {
            var value = default(RotaryOptions);
            Text.Initialize("lpt_rotary_options", &value, sizeof(RotaryOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_attention_forward() and lpt_attention_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct AttentionOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Scale;
        public int IsCausal;
        public int Reserved;
        public long Window;
        public IntPtr Mask;
        public IntPtr LogSumExp;
        public IntPtr Output;
        public IntPtr KeyLengths;
        public IntPtr Exaq;

        /// <summary>Returns the defaults of the library.</summary>
        public static AttentionOptions Default()
        {
            var value = default(AttentionOptions);
            Text.Initialize("lpt_attention_options", &value, sizeof(AttentionOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_kv_cache_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct KvCacheOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public long Batches;
        public long KeyHeads;
        public long Capacity;
        public long KeyWidth;
        public long ValueWidth;
        public Format KeyFormat;
        public Format ValueFormat;
        public ScaleRule KeyScaleRule;
        public ScaleRule ValueScaleRule;
        public double KeyScale;
        public double ValueScale;

        /// <summary>Returns the defaults of the library.</summary>
        public static KvCacheOptions Default()
        {
            var value = default(KvCacheOptions);
            Text.Initialize("lpt_kv_cache_options", &value, sizeof(KvCacheOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_recipe_set_gemm(): how a GEMM uses its two casts.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct LinearGemmOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public HadamardSize HadamardSize;
        public HadamardSigns HadamardSigns;
        public HadamardAxis HadamardAxis;
        public LinearSource Source;
        public int Draws;
        public int Parts;
        public LinearOutputScale OutputScale;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static LinearGemmOptions Default()
        {
            var value = default(LinearGemmOptions);
            Text.Initialize("lpt_linear_gemm_options", &value, sizeof(LinearGemmOptions));
            return value;
        }
    }

    /// <summary>Shape of a linear layer.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct LinearShape
    {
        public UIntPtr StructSize;
        public long InputColumns;
        public long OutputColumns;

        /// <summary>Returns the defaults of the library.</summary>
        public static LinearShape Default()
        {
            var value = default(LinearShape);
            Text.Initialize("lpt_linear_shape", &value, sizeof(LinearShape));
            return value;
        }
    }

    /// <summary>Options of lpt_linear_prepare(), lpt_linear_forward() and lpt_linear_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct LinearOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public Random Random;
        public long FirstRow;
        public IntPtr Bias;
        public IntPtr InputSmoothing;
        public int IsAccumulated;
        public LinearParallel Parallel;
        public IntPtr Comm;
        public IntPtr Plan;

        /// <summary>Returns the defaults of the library.</summary>
        public static LinearOptions Default()
        {
            var value = default(LinearOptions);
            Text.Initialize("lpt_linear_options", &value, sizeof(LinearOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_loss_scaler_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct LossScalerOptions
    {
        public UIntPtr StructSize;
        public double InitialScale;
        public double GrowthFactor;
        public double BackoffFactor;
        public long GrowthInterval;
        public double MinScale;
        public double MaxScale;

        /// <summary>Returns the defaults of the library.</summary>
        public static LossScalerOptions Default()
        {
            var value = default(LossScalerOptions);
            Text.Initialize("lpt_loss_scaler_options", &value, sizeof(LossScalerOptions));
            return value;
        }
    }

    /// <summary>State of a loss scaler, as lpt_loss_scaler_read() returns it.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct LossScalerInfo
    {
        public UIntPtr StructSize;
        public double Scale;
        public long FiniteCount;
        public long SkippedCount;
        public int IsSkipped;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static LossScalerInfo Default()
        {
            var value = default(LossScalerInfo);
            Text.Initialize("lpt_loss_scaler_info", &value, sizeof(LossScalerInfo));
            return value;
        }
    }

    /// <summary>Options of lpt_embedding_forward() and lpt_embedding_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct EmbeddingOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public long PaddingIndex;
        public int IsAccumulated;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static EmbeddingOptions Default()
        {
            var value = default(EmbeddingOptions);
            Text.Initialize("lpt_embedding_options", &value, sizeof(EmbeddingOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_swiglu_forward() and lpt_swiglu_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct SwigluOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public SwigluSmoothing Smoothing;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static SwigluOptions Default()
        {
            var value = default(SwigluOptions);
            Text.Initialize("lpt_swiglu_options", &value, sizeof(SwigluOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_rmsnorm_forward(), lpt_rmsnorm_forward_sum() and lpt_rmsnorm_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct RmsnormOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Epsilon;
        public int IsAccumulated;
        public int Reserved;
        public IntPtr ResidualGradient;

        /// <summary>Returns the defaults of the library.</summary>
        public static RmsnormOptions Default()
        {
            var value = default(RmsnormOptions);
            Text.Initialize("lpt_rmsnorm_options", &value, sizeof(RmsnormOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_layernorm_forward() and lpt_layernorm_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct LayernormOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Epsilon;
        public int IsAccumulated;
        public int Reserved;
        public IntPtr ResidualGradient;

        /// <summary>Returns the defaults of the library.</summary>
        public static LayernormOptions Default()
        {
            var value = default(LayernormOptions);
            Text.Initialize("lpt_layernorm_options", &value, sizeof(LayernormOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_softmax_forward() and lpt_softmax_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct SoftmaxOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Scale;
        public int IsCausal;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static SoftmaxOptions Default()
        {
            var value = default(SoftmaxOptions);
            Text.Initialize("lpt_softmax_options", &value, sizeof(SoftmaxOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_cross_entropy_forward() and lpt_cross_entropy_backward(); the same on all ranks.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct CrossEntropyOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr Comm;
        public long IgnoredTarget;
        public double LabelSmoothing;
        public LossReduction Reduction;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static CrossEntropyOptions Default()
        {
            var value = default(CrossEntropyOptions);
            Text.Initialize("lpt_cross_entropy_options", &value, sizeof(CrossEntropyOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_optimizer_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct OptimizerOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Beta1;
        public double Beta2;
        public double Epsilon;
        public OptimizerUnderflow SecondUnderflow;
        public OptimizerMethod Method;
        public int IsNesterov;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static OptimizerOptions Default()
        {
            var value = default(OptimizerOptions);
            Text.Initialize("lpt_optimizer_options", &value, sizeof(OptimizerOptions));
            return value;
        }
    }

    /// <summary>Description of one parameter and of the formats of its state.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct OptimizerParameter
    {
        public UIntPtr StructSize;
        public long Elements;
        public Format FirstMoment;
        public Format SecondMoment;
        public double WeightDecay;
        public int IsFirstExpanded;
        public int IsSecondExpanded;
        public Format Compensation;
        public ScalerKind FirstScaling;
        public ScalerKind SecondScaling;
        public long WholeElements;
        public long Begin;
        public long RandomStream;

        /// <summary>Returns the defaults of the library.</summary>
        public static OptimizerParameter Default()
        {
            var value = default(OptimizerParameter);
            Text.Initialize("lpt_optimizer_parameter", &value, sizeof(OptimizerParameter));
            return value;
        }
    }

    /// <summary>Options of lpt_optimizer_step().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct OptimizerStepOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double LearningRate;
        public double GradientScale;
        public Random Random;
        public Rounding FirstMomentRounding;
        public Rounding SecondMomentRounding;
        public Rounding ParameterRounding;
        public int IsNonfiniteSkipped;
        public double LargestNorm;
        public double GradientNorm;
        public IntPtr LossScaler;

        /// <summary>Returns the defaults of the library.</summary>
        public static OptimizerStepOptions Default()
        {
            var value = default(OptimizerStepOptions);
            Text.Initialize("lpt_optimizer_step_options", &value, sizeof(OptimizerStepOptions));
            return value;
        }
    }

    /// <summary>Result of the last step of an optimizer.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct OptimizerInfo
    {
        public UIntPtr StructSize;
        public double GradientNorm;
        public double ClipFactor;
        public long SkippedCount;
        public int IsSkipped;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static OptimizerInfo Default()
        {
            var value = default(OptimizerInfo);
            Text.Initialize("lpt_optimizer_info", &value, sizeof(OptimizerInfo));
            return value;
        }
    }

    /// <summary>Sums that ranks add up before a step.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct GradientsInfo
    {
        public UIntPtr StructSize;
        public double SumOfSquares;
        public long NonfiniteCount;

        /// <summary>Returns the defaults of the library.</summary>
        public static GradientsInfo Default()
        {
            var value = default(GradientsInfo);
            Text.Initialize("lpt_gradients_info", &value, sizeof(GradientsInfo));
            return value;
        }
    }

    /// <summary>Options of the functions that create a comm.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct CommOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double TimeoutSeconds;
        public IntPtr Bootstrap;
        public IntPtr Emulation;

        /// <summary>Returns the defaults of the library.</summary>
        public static CommOptions Default()
        {
            var value = default(CommOptions);
            Text.Initialize("lpt_comm_options", &value, sizeof(CommOptions));
            return value;
        }
    }

    /// <summary>State and traffic of a communicator.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct CommInfo
    {
        public UIntPtr StructSize;
        public int Rank;
        public int RankCount;
        public fixed byte Engine[32];
        public long Collectives;
        public long BytesSent;
        public long BytesReceived;
        public double Seconds;

        /// <summary>Returns the defaults of the library.</summary>
        public static CommInfo Default()
        {
            var value = default(CommInfo);
            Text.Initialize("lpt_comm_info", &value, sizeof(CommInfo));
            return value;
        }
    }

    /// <summary>Options of a reduction; the same on all ranks, except for `outer_comm`.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct ReduceOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public Reduction Reduction;
        public int Reserved;
        public double Factor;
        public Format Wire;
        public ReduceAlgorithm Algorithm;
        public Rounding Rounding;
        public Random Random;
        public IntPtr Codec;
        public IntPtr OuterComm;
        public IntPtr Outer;

        /// <summary>Returns the defaults of the library.</summary>
        public static ReduceOptions Default()
        {
            var value = default(ReduceOptions);
            Text.Initialize("lpt_reduce_options", &value, sizeof(ReduceOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_all_gather().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct AllGatherOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr Codec;
        public IntPtr Cast;

        /// <summary>Returns the defaults of the library.</summary>
        public static AllGatherOptions Default()
        {
            var value = default(AllGatherOptions);
            Text.Initialize("lpt_all_gather_options", &value, sizeof(AllGatherOptions));
            return value;
        }
    }

    /// <summary>Functions of a transport that sends bytes between ranks, for lpt_comm_create_custom().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct CommFunctions
    {
        public UIntPtr StructSize;
        public fixed byte Name[32];
        public IntPtr Send;
        public IntPtr Receive;
        public IntPtr Test;
        public IntPtr Cancel;
        public IntPtr Exchange;
        public IntPtr AllReduce;
        public IntPtr Abort;
        public IntPtr Close;

        /// <summary>Returns the defaults of the library.</summary>
        public static CommFunctions Default()
        {
            var value = default(CommFunctions);
            Text.Initialize("lpt_comm_functions", &value, sizeof(CommFunctions));
            return value;
        }
    }

    /// <summary>Options of lpt_gradient_buckets_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct GradientBucketsOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public UIntPtr BucketBytes;
        public GradientBucketsOrder Order;
        public int Reserved;
        public IntPtr Names;

        /// <summary>Returns the defaults of the library.</summary>
        public static GradientBucketsOptions Default()
        {
            var value = default(GradientBucketsOptions);
            Text.Initialize("lpt_gradient_buckets_options", &value, sizeof(GradientBucketsOptions));
            return value;
        }
    }

    /// <summary>State of buckets.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct GradientBucketsInfo
    {
        public UIntPtr StructSize;
        public long BucketCount;
        public long ReadyCount;
        public long LaunchedCount;
        public double WaitSeconds;
        public int IsRecorded;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static GradientBucketsInfo Default()
        {
            var value = default(GradientBucketsInfo);
            Text.Initialize("lpt_gradient_buckets_info", &value, sizeof(GradientBucketsInfo));
            return value;
        }
    }

    /// <summary>Options of lpt_optimizer_step_shards().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct OptimizerShardOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr Reduce;

        /// <summary>Returns the defaults of the library.</summary>
        public static OptimizerShardOptions Default()
        {
            var value = default(OptimizerShardOptions);
            Text.Initialize("lpt_optimizer_shard_options", &value, sizeof(OptimizerShardOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_partial_plan_create(); the same on all ranks and in all layers, for the full training.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct PartialPlanOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public long HiddenColumns;
        public long SharedColumns;
        public int RankCount;
        public PartialScale PrivateScale;
        public double CustomScale;
        public Format ForwardWire;
        public Format BackwardWire;
        public long ChunkRows;
        public double LinkLatencySeconds;
        public double LinkBytesPerSecond;

        /// <summary>Returns the defaults of the library.</summary>
        public static PartialPlanOptions Default()
        {
            var value = default(PartialPlanOptions);
            Text.Initialize("lpt_partial_plan_options", &value, sizeof(PartialPlanOptions));
            return value;
        }
    }

    /// <summary>Properties of a plan.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct PartialPlanInfo
    {
        public UIntPtr StructSize;
        public long HiddenColumns;
        public long SharedColumns;
        public int RankCount;
        public int Reserved;
        public double PrivateScale;
        public double ForwardRowBytes;
        public double BackwardRowBytes;

        /// <summary>Returns the defaults of the library.</summary>
        public static PartialPlanInfo Default()
        {
            var value = default(PartialPlanInfo);
            Text.Initialize("lpt_partial_plan_info", &value, sizeof(PartialPlanInfo));
            return value;
        }
    }

    /// <summary>Options of lpt_sequence_attention_forward() and lpt_sequence_attention_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct SequenceAttentionOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Scale;
        public int IsCausal;
        public SequenceLayout Layout;
        public Format Wire;
        public IntPtr LogSumExp;
        public IntPtr Output;

        /// <summary>Returns the defaults of the library.</summary>
        public static SequenceAttentionOptions Default()
        {
            var value = default(SequenceAttentionOptions);
            Text.Initialize("lpt_sequence_attention_options", &value, sizeof(SequenceAttentionOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_autopilot_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct AutopilotOptions
    {
        public UIntPtr StructSize;
        public long StepCount;
        public long Interval;
        public double Budget;
        public double LossLimit;
        public double ClippedLimit;
        public double AmaxGrowthLimit;
        public double AlignmentLimit;
        public double NoiseRatioLimit;
        public long CalmDecisions;
        public int RaisesLastSteps;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static AutopilotOptions Default()
        {
            var value = default(AutopilotOptions);
            Text.Initialize("lpt_autopilot_options", &value, sizeof(AutopilotOptions));
            return value;
        }
    }

    /// <summary>One change of the level of a GEMM.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct AutopilotDecision
    {
        public long Step;
        public int Layer;
        public LinearGemm Gemm;
        public int OldLevel;
        public int NewLevel;
        public AutopilotReason Reason;
        public int Reserved;
        public double Value;
        public double Limit;
    }

    /// <summary>State of an autopilot.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct AutopilotInfo
    {
        public UIntPtr StructSize;
        public long StepsDone;
        public long DecisionCount;
        public double MeanCost;
        public double NextCost;

        /// <summary>Returns the defaults of the library.</summary>
        public static AutopilotInfo Default()
        {
            var value = default(AutopilotInfo);
            Text.Initialize("lpt_autopilot_info", &value, sizeof(AutopilotInfo));
            return value;
        }
    }

    /// <summary>An encoding of messages that the caller supplies; its members are in lpt/research/codec.h.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct CommCodec
    {
        public UIntPtr StructSize;
        public fixed byte Name[16];
        public IntPtr BytesFor;
        public IntPtr Encode;
        public IntPtr Decode;
        public IntPtr DecodeAdd;
        public IntPtr User;

        /// <summary>Returns the defaults of the library.</summary>
        public static CommCodec Default()
        {
            var value = default(CommCodec);
            Text.Initialize("lpt_comm_codec", &value, sizeof(CommCodec));
            return value;
        }
    }

    /// <summary>Links of equal ranks.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct CostLink
    {
        public UIntPtr StructSize;
        public double LatencySeconds;
        public double BytesPerSecond;
        public double ReduceBytesPerSecond;

        /// <summary>Returns the defaults of the library.</summary>
        public static CostLink Default()
        {
            var value = default(CostLink);
            Text.Initialize("lpt_cost_link", &value, sizeof(CostLink));
            return value;
        }
    }

    /// <summary>Cost of a collective.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct CostInfo
    {
        public UIntPtr StructSize;
        public CostAlgorithm Algorithm;
        public int StepCount;
        public double PayloadBytes;
        public double RankBytes;
        public double TotalBytes;
        public double Seconds;

        /// <summary>Returns the defaults of the library.</summary>
        public static CostInfo Default()
        {
            var value = default(CostInfo);
            Text.Initialize("lpt_cost_info", &value, sizeof(CostInfo));
            return value;
        }
    }

    /// <summary>Rates at which one rank casts elements before and after transfer, in bytes of the wide format.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct CostCastRates
    {
        public UIntPtr StructSize;
        public double OverheadSeconds;
        public double EncodeBytesPerSecond;
        public double DecodeBytesPerSecond;

        /// <summary>Returns the defaults of the library.</summary>
        public static CostCastRates Default()
        {
            var value = default(CostCastRates);
            Text.Initialize("lpt_cost_cast_rates", &value, sizeof(CostCastRates));
            return value;
        }
    }

    /// <summary>Options of lpt_delay_compensate().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct DelayOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Strength;
        public DelayNorm Norm;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static DelayOptions Default()
        {
            var value = default(DelayOptions);
            Text.Initialize("lpt_delay_options", &value, sizeof(DelayOptions));
            return value;
        }
    }

    /// <summary>A threshold, and the speed that it gives.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct DropComputeInfo
    {
        public UIntPtr StructSize;
        public double ThresholdSeconds;
        public double FullSeconds;
        public double StepSeconds;
        public double KeptFraction;
        public double Speedup;

        /// <summary>Returns the defaults of the library.</summary>
        public static DropComputeInfo Default()
        {
            var value = default(DropComputeInfo);
            Text.Initialize("lpt_drop_compute_info", &value, sizeof(DropComputeInfo));
            return value;
        }
    }

    /// <summary>An emulated arithmetic of a GEMM; its members are in lpt/research/emulation.h.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct GemmEmulation
    {
        public UIntPtr StructSize;
        public GemmArithmetic Arithmetic;
        public int Bits;

        /// <summary>Returns the defaults of the library.</summary>
        public static GemmEmulation Default()
        {
            var value = default(GemmEmulation);
            Text.Initialize("lpt_gemm_emulation", &value, sizeof(GemmEmulation));
            return value;
        }
    }

    /// <summary>An emulated link of local ranks; its members are in lpt/research/emulation.h.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct CommEmulation
    {
        public UIntPtr StructSize;
        public double LinkLatencySeconds;
        public double LinkBytesPerSecond;
        public long DamagedMessage;

        /// <summary>Returns the defaults of the library.</summary>
        public static CommEmulation Default()
        {
            var value = default(CommEmulation);
            Text.Initialize("lpt_comm_emulation", &value, sizeof(CommEmulation));
            return value;
        }
    }

    /// <summary>Options of a softmax with few levels; its members are in lpt/research/exaq.h.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct ExaqOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Scale;
        public double Clip;
        public int Bits;
        public int IsCausal;

        /// <summary>Returns the defaults of the library.</summary>
        public static ExaqOptions Default()
        {
            var value = default(ExaqOptions);
            Text.Initialize("lpt_exaq_options", &value, sizeof(ExaqOptions));
            return value;
        }
    }

    /// <summary>Options of lpt_lossy_link_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct LossyLinkOptions
    {
        public UIntPtr StructSize;
        public fixed byte Address[64];
        public int Port;
        public int PayloadBytes;
        public double TimeoutSeconds;
        public double QuietSeconds;
        public double InjectedLoss;
        public double InjectedDuplication;
        public double InjectedReordering;
        public double InjectedCorruption;
        public ulong Seed;

        /// <summary>Returns the defaults of the library.</summary>
        public static LossyLinkOptions Default()
        {
            var value = default(LossyLinkOptions);
            Text.Initialize("lpt_lossy_link_options", &value, sizeof(LossyLinkOptions));
            return value;
        }
    }

    /// <summary>State and packets of a link; counts are those of all calls.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct LossyLinkInfo
    {
        public UIntPtr StructSize;
        public int RankCount;
        public int Port;
        public long PayloadBytes;
        public long ReceiveBufferBytes;
        public long CallCount;
        public long SentCount;
        public long UnsentCount;
        public long ReceivedCount;
        public long LostCount;
        public long DuplicateCount;
        public long LateCount;
        public long CorruptedCount;
        public long StrangerCount;
        public long MalformedCount;

        /// <summary>Returns the defaults of the library.</summary>
        public static LossyLinkInfo Default()
        {
            var value = default(LossyLinkInfo);
            Text.Initialize("lpt_lossy_link_info", &value, sizeof(LossyLinkInfo));
            return value;
        }
    }

    /// <summary>Means of training with independent losses of probability p on each of N ranks.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct LossyInfo
    {
        public UIntPtr StructSize;
        public double Drift;
        public double OneStepDrift;
        public double MeanAge;
        public double OwnerWeight;
        public double OtherWeight;
        public double HorvitzThompsonVariance;

        /// <summary>Returns the defaults of the library.</summary>
        public static LossyInfo Default()
        {
            var value = default(LossyInfo);
            Text.Initialize("lpt_lossy_info", &value, sizeof(LossyInfo));
            return value;
        }
    }

    /// <summary>Options of lpt_noise_measure().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct NoiseOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public NoiseKind Kind;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static NoiseOptions Default()
        {
            var value = default(NoiseOptions);
            Text.Initialize("lpt_noise_options", &value, sizeof(NoiseOptions));
            return value;
        }
    }

    /// <summary>Norms of gradient and noise.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct NoiseInfo
    {
        public UIntPtr StructSize;
        public double GradientNorm;
        public double NoiseNorm;
        public double Ratio;
        public long NonfiniteCount;
        public int IsNoisy;
        public int Reserved;

        /// <summary>Returns the defaults of the library.</summary>
        public static NoiseInfo Default()
        {
            var value = default(NoiseInfo);
            Text.Initialize("lpt_noise_info", &value, sizeof(NoiseInfo));
            return value;
        }
    }

    /// <summary>Alignment of the two weights of a SwiGLU.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct SwigluAlignmentInfo
    {
        public UIntPtr StructSize;
        public double Mean;
        public double MeanMagnitude;
        public double Largest;
        public long LargestChannel;

        /// <summary>Returns the defaults of the library.</summary>
        public static SwigluAlignmentInfo Default()
        {
            var value = default(SwigluAlignmentInfo);
            Text.Initialize("lpt_swiglu_alignment_info", &value, sizeof(SwigluAlignmentInfo));
            return value;
        }
    }

    /// <summary>A multiply-add, for lpt_power_estimate().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct PowerOptions
    {
        public UIntPtr StructSize;
        public PowerArithmetic Arithmetic;
        public int WeightBits;
        public int InputBits;
        public int AccumulatorBits;
        public double Additions;

        /// <summary>Returns the defaults of the library.</summary>
        public static PowerOptions Default()
        {
            var value = default(PowerOptions);
            Text.Initialize("lpt_power_options", &value, sizeof(PowerOptions));
            return value;
        }
    }

    /// <summary>Result of lpt_power_quantize().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct PowerInfo
    {
        public UIntPtr StructSize;
        public double Additions;
        public long LargestCode;
        public long ClippedCount;

        /// <summary>Returns the defaults of the library.</summary>
        public static PowerInfo Default()
        {
            var value = default(PowerInfo);
            Text.Initialize("lpt_power_info", &value, sizeof(PowerInfo));
            return value;
        }
    }

    /// <summary>A directed link between two nodes.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct TopologyLink
    {
        public int Source;
        public int Target;
        public double LatencySeconds;
        public double BytesPerSecond;
    }

    /// <summary>Size of a topology.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct TopologyInfo
    {
        public UIntPtr StructSize;
        public TopologyKind Kind;
        public int RankCount;
        public int SwitchCount;
        public int LinkCount;

        /// <summary>Returns the defaults of the library.</summary>
        public static TopologyInfo Default()
        {
            var value = default(TopologyInfo);
            Text.Initialize("lpt_topology_info", &value, sizeof(TopologyInfo));
            return value;
        }
    }

    /// <summary>A message of a schedule.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct ScheduleSend
    {
        public int Step;
        public int Source;
        public int Target;
        public int FirstChunk;
        public int ChunkCount;
        public ScheduleOperation Operation;
    }

    /// <summary>Options of lpt_schedule_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct ScheduleOptions
    {
        public UIntPtr StructSize;
        public int GroupRanks;
        public int TreeChunks;

        /// <summary>Returns the defaults of the library.</summary>
        public static ScheduleOptions Default()
        {
            var value = default(ScheduleOptions);
            Text.Initialize("lpt_schedule_options", &value, sizeof(ScheduleOptions));
            return value;
        }
    }

    /// <summary>Size of a schedule.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct ScheduleInfo
    {
        public UIntPtr StructSize;
        public ScheduleAlgorithm Algorithm;
        public int RankCount;
        public int ChunkCount;
        public int StepCount;
        public int AddStepCount;
        public int CopyStepCount;
        public int LeastStepCount;
        public int Reserved;
        public long SendCount;
        public long HopCount;

        /// <summary>Returns the defaults of the library.</summary>
        public static ScheduleInfo Default()
        {
            var value = default(ScheduleInfo);
            Text.Initialize("lpt_schedule_info", &value, sizeof(ScheduleInfo));
            return value;
        }
    }

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
