// Structs of lpt.h; the header documents the contracts. Written by `python3 tools/make_bindings.py write`.
#pragma warning disable CS1591 // lpt.h documents members without a comment
using System;
using System.Runtime.InteropServices;

namespace Lpt
{
    /// <summary>Source of random bits: the key and counter of Philox4x32.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct Random
    {
        public ulong Seed;
        public long Offset;
        public long RowStride;
        public uint Stream;
        public uint Step;
    }

    /// <summary>Properties of one device, and whether a context can work on it.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct DeviceInfo
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
    }

    /// <summary>Options of lpt_context_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct ContextOptions
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
    }

    /// <summary>Work of one kernel while a profile was recorded.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct ProfileEntry
    {
        public UIntPtr StructSize;
        public fixed byte Operation[32];
        public fixed byte Kernel[64];
        public long Calls;
        public double Seconds;
        public double Bytes;
        public double Flops;
    }

    /// <summary>The parts of a format.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct FormatDescription
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
    }

    /// <summary>Format, memory and shape of a tensor.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct TensorDescription
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
    }

    /// <summary>Options of lpt_quantize() and lpt_fake_quantize().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct QuantizeOptions
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
    }

    /// <summary>Sums over the casts since the statistics were created or reset.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct StatisticsInfo
    {
        public UIntPtr StructSize;
        public long ElementCount;
        public long NanCount;
        public long ClippedCount;
        public long UnderflowCount;
        public double Amax;
        public double SquaredSum;
        public double SquaredError;
    }

    /// <summary>Options of lpt_dequantize().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct DequantizeOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
    }

    /// <summary>Options of lpt_hadamard().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct HadamardOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public int Size;
        public int IsInverse;
        public IntPtr Signs;
    }

    /// <summary>Options of lpt_convert().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct ConvertOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr Statistics;
    }

    /// <summary>Options of lpt_scaler_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct ScalerOptions
    {
        public UIntPtr StructSize;
        public ScalerKind Kind;
        public int HistoryLength;
        public int Margin;
        public ScalerHistoryRule HistoryRule;
        public ScalerZeroRule ZeroRule;
        public float HistoryDecay;
    }

    /// <summary>State of a scaler, as lpt_scaler_read() returns it.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct ScalerInfo
    {
        public UIntPtr StructSize;
        public float Amax;
        public float RunningAmax;
        public long UpdateCount;
    }

    /// <summary>Options of lpt_sparse_fit().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct SparseFitOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public int Iterations;
        public int Reserved;
        public double Damping;
    }

    /// <summary>Result of a fit: squared errors of the outputs, relative to the sum of squares of the outputs.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct SparseFitInfo
    {
        public UIntPtr StructSize;
        public double MaskedError;
        public double FittedError;
        public long IterationCount;
    }

    /// <summary>Options of lpt_calibration_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct CalibrationOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public int HasGram;
        public int HasCrossGram;
    }

    /// <summary>Statistics over all columns.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct CalibrationInfo
    {
        public UIntPtr StructSize;
        public long RowCount;
        public double Amax;
        public double Mean;
        public double MeanSquare;
    }

    /// <summary>Options of lpt_weights_fit().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct WeightsFitOptions
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
    }

    /// <summary>Result of lpt_weights_fit(): squared errors of the outputs, relative to the sum of squares of the outputs.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct WeightsFitInfo
    {
        public UIntPtr StructSize;
        public double NearestError;
        public double FittedError;
        public double Damping;
        public double Ratio;
        public double SampleError;
        public int HasMaxima;
        public int Reserved;
    }

    /// <summary>Result of lpt_format_choose().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct FormatChooseInfo
    {
        public UIntPtr StructSize;
        public double Error;
        public double Bound;
        public long Bytes;
    }

    /// <summary>Options of lpt_gemm(), lpt_gemm_grouped() and lpt_gemm_plan_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct GemmOptions
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
    }

    /// <summary>Properties of a plan, as lpt_gemm_plan_read() returns them.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct GemmPlanInfo
    {
        public UIntPtr StructSize;
        public long M;
        public long N;
        public long K;
        public UIntPtr WorkspaceBytes;
        public long PartCount;
        public fixed byte Kernel[64];
    }

    /// <summary>Optional operands of lpt_gemm_plan_run(), as in lpt_gemm_options.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct GemmOperands
    {
        public UIntPtr StructSize;
        public IntPtr Bias;
        public IntPtr Residual;
        public IntPtr Quantize;
    }

    /// <summary>Options of lpt_sparse_mask_select(); lpt_sparse_order() and lpt_recipe_set_sparsity() use them too.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct SparseOptions
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
    }

    /// <summary>Statistics of a selection; energies and the variance cover finite elements only.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct SparseInfo
    {
        public UIntPtr StructSize;
        public long ElementCount;
        public long KeptCount;
        public long SpecialGroups;
        public double Energy;
        public double KeptEnergy;
        public double Variance;
    }

    /// <summary>Options of lpt_weights_pack() and lpt_weights_order().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct WeightsOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr OutputOrder;
        public IntPtr InputOrder;
        public WeightsStorage Storage;
        public int TileRows;
        public int TileColumns;
        public int Reserved;
    }

    /// <summary>Options of lpt_rotary_frequencies().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct RotaryScaling
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
    }

    /// <summary>Options of lpt_rotary().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct RotaryOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr Positions;
        public long FirstPosition;
        public RotaryLayout Layout;
        public int IsInverse;
        public double Scale;
    }

    /// <summary>Options of lpt_attention_forward() and lpt_attention_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct AttentionOptions
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
    }

    /// <summary>Options of lpt_kv_cache_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct KvCacheOptions
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
    }

    /// <summary>Options of lpt_recipe_set_gemm(): how a GEMM uses its two casts.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct LinearGemmOptions
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
    }

    /// <summary>Shape of a linear layer.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct LinearShape
    {
        public UIntPtr StructSize;
        public long InputColumns;
        public long OutputColumns;
    }

    /// <summary>Options of lpt_linear_prepare(), lpt_linear_forward() and lpt_linear_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct LinearOptions
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
    }

    /// <summary>Options of lpt_loss_scaler_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct LossScalerOptions
    {
        public UIntPtr StructSize;
        public double InitialScale;
        public double GrowthFactor;
        public double BackoffFactor;
        public long GrowthInterval;
        public double MinScale;
        public double MaxScale;
    }

    /// <summary>State of a loss scaler, as lpt_loss_scaler_read() returns it.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct LossScalerInfo
    {
        public UIntPtr StructSize;
        public double Scale;
        public long FiniteCount;
        public long SkippedCount;
        public int IsSkipped;
        public int Reserved;
    }

    /// <summary>Options of lpt_embedding_forward() and lpt_embedding_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct EmbeddingOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public long PaddingIndex;
        public int IsAccumulated;
        public int Reserved;
    }

    /// <summary>Options of lpt_swiglu_forward() and lpt_swiglu_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct SwigluOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public SwigluSmoothing Smoothing;
        public int Reserved;
    }

    /// <summary>Options of lpt_rmsnorm_forward(), lpt_rmsnorm_forward_sum() and lpt_rmsnorm_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct RmsnormOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Epsilon;
        public int IsAccumulated;
        public int Reserved;
        public IntPtr ResidualGradient;
    }

    /// <summary>Options of lpt_layernorm_forward() and lpt_layernorm_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct LayernormOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Epsilon;
        public int IsAccumulated;
        public int Reserved;
        public IntPtr ResidualGradient;
    }

    /// <summary>Options of lpt_softmax_forward() and lpt_softmax_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct SoftmaxOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Scale;
        public int IsCausal;
        public int Reserved;
    }

    /// <summary>Options of lpt_cross_entropy_forward() and lpt_cross_entropy_backward(); the same on all ranks.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct CrossEntropyOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr Comm;
        public long IgnoredTarget;
        public double LabelSmoothing;
        public LossReduction Reduction;
        public int Reserved;
    }

    /// <summary>Options of lpt_optimizer_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct OptimizerOptions
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
    }

    /// <summary>Description of one parameter and of the formats of its state.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct OptimizerParameter
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
    }

    /// <summary>Options of lpt_optimizer_step().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct OptimizerStepOptions
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
    }

    /// <summary>Result of the last step of an optimizer.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct OptimizerInfo
    {
        public UIntPtr StructSize;
        public double GradientNorm;
        public double ClipFactor;
        public long SkippedCount;
        public int IsSkipped;
        public int Reserved;
    }

    /// <summary>Sums that ranks add up before a step.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct GradientsInfo
    {
        public UIntPtr StructSize;
        public double SumOfSquares;
        public long NonfiniteCount;
    }

    /// <summary>Options of the functions that create a comm.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct CommOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double TimeoutSeconds;
        public IntPtr Bootstrap;
        public IntPtr Emulation;
    }

    /// <summary>State and traffic of a communicator.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct CommInfo
    {
        public UIntPtr StructSize;
        public int Rank;
        public int RankCount;
        public fixed byte Engine[32];
        public long Collectives;
        public long BytesSent;
        public long BytesReceived;
        public double Seconds;
    }

    /// <summary>Options of a reduction; the same on all ranks, except for `outer_comm`.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct ReduceOptions
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
    }

    /// <summary>Options of lpt_all_gather().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct AllGatherOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr Codec;
        public IntPtr Cast;
    }

    /// <summary>Functions of a transport that sends bytes between ranks, for lpt_comm_create_custom().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct CommFunctions
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
    }

    /// <summary>Options of lpt_gradient_buckets_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct GradientBucketsOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public UIntPtr BucketBytes;
        public GradientBucketsOrder Order;
        public int Reserved;
        public IntPtr Names;
    }

    /// <summary>State of buckets.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct GradientBucketsInfo
    {
        public UIntPtr StructSize;
        public long BucketCount;
        public long ReadyCount;
        public long LaunchedCount;
        public double WaitSeconds;
        public int IsRecorded;
        public int Reserved;
    }

    /// <summary>Options of lpt_optimizer_step_shards().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct OptimizerShardOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr Reduce;
    }

    /// <summary>Options of lpt_partial_plan_create(); the same on all ranks and in all layers, for the full training.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct PartialPlanOptions
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
    }

    /// <summary>Properties of a plan.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct PartialPlanInfo
    {
        public UIntPtr StructSize;
        public long HiddenColumns;
        public long SharedColumns;
        public int RankCount;
        public int Reserved;
        public double PrivateScale;
        public double ForwardRowBytes;
        public double BackwardRowBytes;
    }

    /// <summary>Options of lpt_sequence_attention_forward() and lpt_sequence_attention_backward().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct SequenceAttentionOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Scale;
        public int IsCausal;
        public SequenceLayout Layout;
        public Format Wire;
        public IntPtr LogSumExp;
        public IntPtr Output;
    }

    /// <summary>Options of lpt_autopilot_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct AutopilotOptions
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
    }

    /// <summary>One change of the level of a GEMM.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct AutopilotDecision
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
    public unsafe partial struct AutopilotInfo
    {
        public UIntPtr StructSize;
        public long StepsDone;
        public long DecisionCount;
        public double MeanCost;
        public double NextCost;
    }

    /// <summary>An encoding of messages that the caller supplies; its members are in lpt/research/codec.h.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct CommCodec
    {
        public UIntPtr StructSize;
        public fixed byte Name[16];
        public IntPtr BytesFor;
        public IntPtr Encode;
        public IntPtr Decode;
        public IntPtr DecodeAdd;
        public IntPtr User;
    }

    /// <summary>Links of equal ranks.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct CostLink
    {
        public UIntPtr StructSize;
        public double LatencySeconds;
        public double BytesPerSecond;
        public double ReduceBytesPerSecond;
    }

    /// <summary>Cost of a collective.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct CostInfo
    {
        public UIntPtr StructSize;
        public CostAlgorithm Algorithm;
        public int StepCount;
        public double PayloadBytes;
        public double RankBytes;
        public double TotalBytes;
        public double Seconds;
    }

    /// <summary>Rates at which one rank casts elements before and after transfer, in bytes of the wide format.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct CostCastRates
    {
        public UIntPtr StructSize;
        public double OverheadSeconds;
        public double EncodeBytesPerSecond;
        public double DecodeBytesPerSecond;
    }

    /// <summary>Options of lpt_delay_compensate().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct DelayOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Strength;
        public DelayNorm Norm;
        public int Reserved;
    }

    /// <summary>A threshold, and the speed that it gives.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct DropComputeInfo
    {
        public UIntPtr StructSize;
        public double ThresholdSeconds;
        public double FullSeconds;
        public double StepSeconds;
        public double KeptFraction;
        public double Speedup;
    }

    /// <summary>An emulated arithmetic of a GEMM; its members are in lpt/research/emulation.h.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct GemmEmulation
    {
        public UIntPtr StructSize;
        public GemmArithmetic Arithmetic;
        public int Bits;
    }

    /// <summary>An emulated link of local ranks; its members are in lpt/research/emulation.h.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct CommEmulation
    {
        public UIntPtr StructSize;
        public double LinkLatencySeconds;
        public double LinkBytesPerSecond;
        public long DamagedMessage;
    }

    /// <summary>Options of a softmax with few levels; its members are in lpt/research/exaq.h.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct ExaqOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public double Scale;
        public double Clip;
        public int Bits;
        public int IsCausal;
    }

    /// <summary>Options of lpt_lossy_link_create().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct LossyLinkOptions
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
    }

    /// <summary>State and packets of a link; counts are those of all calls.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct LossyLinkInfo
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
    }

    /// <summary>Means of training with independent losses of probability p on each of N ranks.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct LossyInfo
    {
        public UIntPtr StructSize;
        public double Drift;
        public double OneStepDrift;
        public double MeanAge;
        public double OwnerWeight;
        public double OtherWeight;
        public double HorvitzThompsonVariance;
    }

    /// <summary>Options of lpt_noise_measure().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct NoiseOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public NoiseKind Kind;
        public int Reserved;
    }

    /// <summary>Norms of gradient and noise.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct NoiseInfo
    {
        public UIntPtr StructSize;
        public double GradientNorm;
        public double NoiseNorm;
        public double Ratio;
        public long NonfiniteCount;
        public int IsNoisy;
        public int Reserved;
    }

    /// <summary>Alignment of the two weights of a SwiGLU.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct SwigluAlignmentInfo
    {
        public UIntPtr StructSize;
        public double Mean;
        public double MeanMagnitude;
        public double Largest;
        public long LargestChannel;
    }

    /// <summary>A multiply-add, for lpt_power_estimate().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct PowerOptions
    {
        public UIntPtr StructSize;
        public PowerArithmetic Arithmetic;
        public int WeightBits;
        public int InputBits;
        public int AccumulatorBits;
        public double Additions;
    }

    /// <summary>Result of lpt_power_quantize().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct PowerInfo
    {
        public UIntPtr StructSize;
        public double Additions;
        public long LargestCode;
        public long ClippedCount;
    }

    /// <summary>A directed link between two nodes.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct TopologyLink
    {
        public int Source;
        public int Target;
        public double LatencySeconds;
        public double BytesPerSecond;
    }

    /// <summary>Size of a topology.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct TopologyInfo
    {
        public UIntPtr StructSize;
        public TopologyKind Kind;
        public int RankCount;
        public int SwitchCount;
        public int LinkCount;
    }

    /// <summary>A message of a schedule.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct ScheduleSend
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
    public unsafe partial struct ScheduleOptions
    {
        public UIntPtr StructSize;
        public int GroupRanks;
        public int TreeChunks;
    }

    /// <summary>Size of a schedule.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe partial struct ScheduleInfo
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
    }
}
