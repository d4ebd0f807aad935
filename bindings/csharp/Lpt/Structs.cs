// Structs of lpt.h; the header documents the contracts. Written by `python3 tools/make_bindings.py write`.
#pragma warning disable CS1591 // lpt.h documents members without a comment
using System;
using System.Runtime.InteropServices;

namespace Lpt
{
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
        public static DeviceInfo Default() { var value = default(DeviceInfo); Text.Initialize("lpt_device_info", &value, sizeof(DeviceInfo)); return value; }
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
        public static ContextOptions Default() { var value = default(ContextOptions); Text.Initialize("lpt_context_options", &value, sizeof(ContextOptions)); return value; }
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
        public static ProfileEntry Default() { var value = default(ProfileEntry); Text.Initialize("lpt_profile_entry", &value, sizeof(ProfileEntry)); return value; }
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
        public static FormatDescription Default() { var value = default(FormatDescription); Text.Initialize("lpt_format_description", &value, sizeof(FormatDescription)); return value; }
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
        public static TensorDescription Default() { var value = default(TensorDescription); Text.Initialize("lpt_tensor_description", &value, sizeof(TensorDescription)); return value; }
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
        public static QuantizeOptions Default() { var value = default(QuantizeOptions); Text.Initialize("lpt_quantize_options", &value, sizeof(QuantizeOptions)); return value; }
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
        public static StatisticsInfo Default() { var value = default(StatisticsInfo); Text.Initialize("lpt_statistics_info", &value, sizeof(StatisticsInfo)); return value; }
    }

    /// <summary>Options of lpt_dequantize().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct DequantizeOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;

        /// <summary>Returns the defaults of the library.</summary>
        public static DequantizeOptions Default() { var value = default(DequantizeOptions); Text.Initialize("lpt_dequantize_options", &value, sizeof(DequantizeOptions)); return value; }
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
        public static HadamardOptions Default() { var value = default(HadamardOptions); Text.Initialize("lpt_hadamard_options", &value, sizeof(HadamardOptions)); return value; }
    }

    /// <summary>Options of lpt_convert().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct ConvertOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr Statistics;

        /// <summary>Returns the defaults of the library.</summary>
        public static ConvertOptions Default() { var value = default(ConvertOptions); Text.Initialize("lpt_convert_options", &value, sizeof(ConvertOptions)); return value; }
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
        public static ScalerOptions Default() { var value = default(ScalerOptions); Text.Initialize("lpt_scaler_options", &value, sizeof(ScalerOptions)); return value; }
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
        public static ScalerInfo Default() { var value = default(ScalerInfo); Text.Initialize("lpt_scaler_info", &value, sizeof(ScalerInfo)); return value; }
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
        public static SparseFitOptions Default() { var value = default(SparseFitOptions); Text.Initialize("lpt_sparse_fit_options", &value, sizeof(SparseFitOptions)); return value; }
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
        public static SparseFitInfo Default() { var value = default(SparseFitInfo); Text.Initialize("lpt_sparse_fit_info", &value, sizeof(SparseFitInfo)); return value; }
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
        public static CalibrationOptions Default() { var value = default(CalibrationOptions); Text.Initialize("lpt_calibration_options", &value, sizeof(CalibrationOptions)); return value; }
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
        public static CalibrationInfo Default() { var value = default(CalibrationInfo); Text.Initialize("lpt_calibration_info", &value, sizeof(CalibrationInfo)); return value; }
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
        public static WeightsFitOptions Default() { var value = default(WeightsFitOptions); Text.Initialize("lpt_weights_fit_options", &value, sizeof(WeightsFitOptions)); return value; }
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
        public static WeightsFitInfo Default() { var value = default(WeightsFitInfo); Text.Initialize("lpt_weights_fit_info", &value, sizeof(WeightsFitInfo)); return value; }
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
        public static FormatChooseInfo Default() { var value = default(FormatChooseInfo); Text.Initialize("lpt_format_choose_info", &value, sizeof(FormatChooseInfo)); return value; }
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
        public static GemmOptions Default() { var value = default(GemmOptions); Text.Initialize("lpt_gemm_options", &value, sizeof(GemmOptions)); return value; }
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
        public static GemmPlanInfo Default() { var value = default(GemmPlanInfo); Text.Initialize("lpt_gemm_plan_info", &value, sizeof(GemmPlanInfo)); return value; }
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
        public static GemmOperands Default() { var value = default(GemmOperands); Text.Initialize("lpt_gemm_operands", &value, sizeof(GemmOperands)); return value; }
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
        public static SparseOptions Default() { var value = default(SparseOptions); Text.Initialize("lpt_sparse_options", &value, sizeof(SparseOptions)); return value; }
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
        public static SparseInfo Default() { var value = default(SparseInfo); Text.Initialize("lpt_sparse_info", &value, sizeof(SparseInfo)); return value; }
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
        public static WeightsOptions Default() { var value = default(WeightsOptions); Text.Initialize("lpt_weights_options", &value, sizeof(WeightsOptions)); return value; }
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
        public static RotaryScaling Default() { var value = default(RotaryScaling); Text.Initialize("lpt_rotary_scaling", &value, sizeof(RotaryScaling)); return value; }
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
        public static RotaryOptions Default() { var value = default(RotaryOptions); Text.Initialize("lpt_rotary_options", &value, sizeof(RotaryOptions)); return value; }
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
        public static AttentionOptions Default() { var value = default(AttentionOptions); Text.Initialize("lpt_attention_options", &value, sizeof(AttentionOptions)); return value; }
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
        public static KvCacheOptions Default() { var value = default(KvCacheOptions); Text.Initialize("lpt_kv_cache_options", &value, sizeof(KvCacheOptions)); return value; }
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
        public static LinearGemmOptions Default() { var value = default(LinearGemmOptions); Text.Initialize("lpt_linear_gemm_options", &value, sizeof(LinearGemmOptions)); return value; }
    }

    /// <summary>Shape of a linear layer.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct LinearShape
    {
        public UIntPtr StructSize;
        public long InputColumns;
        public long OutputColumns;

        /// <summary>Returns the defaults of the library.</summary>
        public static LinearShape Default() { var value = default(LinearShape); Text.Initialize("lpt_linear_shape", &value, sizeof(LinearShape)); return value; }
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
        public static LinearOptions Default() { var value = default(LinearOptions); Text.Initialize("lpt_linear_options", &value, sizeof(LinearOptions)); return value; }
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
        public static LossScalerOptions Default() { var value = default(LossScalerOptions); Text.Initialize("lpt_loss_scaler_options", &value, sizeof(LossScalerOptions)); return value; }
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
        public static LossScalerInfo Default() { var value = default(LossScalerInfo); Text.Initialize("lpt_loss_scaler_info", &value, sizeof(LossScalerInfo)); return value; }
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
        public static EmbeddingOptions Default() { var value = default(EmbeddingOptions); Text.Initialize("lpt_embedding_options", &value, sizeof(EmbeddingOptions)); return value; }
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
        public static SwigluOptions Default() { var value = default(SwigluOptions); Text.Initialize("lpt_swiglu_options", &value, sizeof(SwigluOptions)); return value; }
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
        public static RmsnormOptions Default() { var value = default(RmsnormOptions); Text.Initialize("lpt_rmsnorm_options", &value, sizeof(RmsnormOptions)); return value; }
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
        public static LayernormOptions Default() { var value = default(LayernormOptions); Text.Initialize("lpt_layernorm_options", &value, sizeof(LayernormOptions)); return value; }
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
        public static SoftmaxOptions Default() { var value = default(SoftmaxOptions); Text.Initialize("lpt_softmax_options", &value, sizeof(SoftmaxOptions)); return value; }
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
        public static CrossEntropyOptions Default() { var value = default(CrossEntropyOptions); Text.Initialize("lpt_cross_entropy_options", &value, sizeof(CrossEntropyOptions)); return value; }
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
        public static OptimizerOptions Default() { var value = default(OptimizerOptions); Text.Initialize("lpt_optimizer_options", &value, sizeof(OptimizerOptions)); return value; }
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
        public static OptimizerParameter Default() { var value = default(OptimizerParameter); Text.Initialize("lpt_optimizer_parameter", &value, sizeof(OptimizerParameter)); return value; }
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
        public static OptimizerStepOptions Default() { var value = default(OptimizerStepOptions); Text.Initialize("lpt_optimizer_step_options", &value, sizeof(OptimizerStepOptions)); return value; }
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
        public static OptimizerInfo Default() { var value = default(OptimizerInfo); Text.Initialize("lpt_optimizer_info", &value, sizeof(OptimizerInfo)); return value; }
    }

    /// <summary>Sums that ranks add up before a step.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct GradientsInfo
    {
        public UIntPtr StructSize;
        public double SumOfSquares;
        public long NonfiniteCount;

        /// <summary>Returns the defaults of the library.</summary>
        public static GradientsInfo Default() { var value = default(GradientsInfo); Text.Initialize("lpt_gradients_info", &value, sizeof(GradientsInfo)); return value; }
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
        public static CommOptions Default() { var value = default(CommOptions); Text.Initialize("lpt_comm_options", &value, sizeof(CommOptions)); return value; }
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
        public static CommInfo Default() { var value = default(CommInfo); Text.Initialize("lpt_comm_info", &value, sizeof(CommInfo)); return value; }
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
        public static ReduceOptions Default() { var value = default(ReduceOptions); Text.Initialize("lpt_reduce_options", &value, sizeof(ReduceOptions)); return value; }
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
        public static AllGatherOptions Default() { var value = default(AllGatherOptions); Text.Initialize("lpt_all_gather_options", &value, sizeof(AllGatherOptions)); return value; }
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
        public static CommFunctions Default() { var value = default(CommFunctions); Text.Initialize("lpt_comm_functions", &value, sizeof(CommFunctions)); return value; }
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
        public static GradientBucketsOptions Default() { var value = default(GradientBucketsOptions); Text.Initialize("lpt_gradient_buckets_options", &value, sizeof(GradientBucketsOptions)); return value; }
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
        public static GradientBucketsInfo Default() { var value = default(GradientBucketsInfo); Text.Initialize("lpt_gradient_buckets_info", &value, sizeof(GradientBucketsInfo)); return value; }
    }

    /// <summary>Options of lpt_optimizer_step_shards().</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct OptimizerShardOptions
    {
        public UIntPtr StructSize;
        public Flags Flags;
        public IntPtr Reduce;

        /// <summary>Returns the defaults of the library.</summary>
        public static OptimizerShardOptions Default() { var value = default(OptimizerShardOptions); Text.Initialize("lpt_optimizer_shard_options", &value, sizeof(OptimizerShardOptions)); return value; }
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
        public static PartialPlanOptions Default() { var value = default(PartialPlanOptions); Text.Initialize("lpt_partial_plan_options", &value, sizeof(PartialPlanOptions)); return value; }
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
        public static PartialPlanInfo Default() { var value = default(PartialPlanInfo); Text.Initialize("lpt_partial_plan_info", &value, sizeof(PartialPlanInfo)); return value; }
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
        public static SequenceAttentionOptions Default() { var value = default(SequenceAttentionOptions); Text.Initialize("lpt_sequence_attention_options", &value, sizeof(SequenceAttentionOptions)); return value; }
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
        public static AutopilotOptions Default() { var value = default(AutopilotOptions); Text.Initialize("lpt_autopilot_options", &value, sizeof(AutopilotOptions)); return value; }
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
        public static AutopilotInfo Default() { var value = default(AutopilotInfo); Text.Initialize("lpt_autopilot_info", &value, sizeof(AutopilotInfo)); return value; }
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
        public static CommCodec Default() { var value = default(CommCodec); Text.Initialize("lpt_comm_codec", &value, sizeof(CommCodec)); return value; }
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
        public static CostLink Default() { var value = default(CostLink); Text.Initialize("lpt_cost_link", &value, sizeof(CostLink)); return value; }
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
        public static CostInfo Default() { var value = default(CostInfo); Text.Initialize("lpt_cost_info", &value, sizeof(CostInfo)); return value; }
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
        public static CostCastRates Default() { var value = default(CostCastRates); Text.Initialize("lpt_cost_cast_rates", &value, sizeof(CostCastRates)); return value; }
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
        public static DelayOptions Default() { var value = default(DelayOptions); Text.Initialize("lpt_delay_options", &value, sizeof(DelayOptions)); return value; }
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
        public static DropComputeInfo Default() { var value = default(DropComputeInfo); Text.Initialize("lpt_drop_compute_info", &value, sizeof(DropComputeInfo)); return value; }
    }

    /// <summary>An emulated arithmetic of a GEMM; its members are in lpt/research/emulation.h.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct GemmEmulation
    {
        public UIntPtr StructSize;
        public GemmArithmetic Arithmetic;
        public int Bits;

        /// <summary>Returns the defaults of the library.</summary>
        public static GemmEmulation Default() { var value = default(GemmEmulation); Text.Initialize("lpt_gemm_emulation", &value, sizeof(GemmEmulation)); return value; }
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
        public static CommEmulation Default() { var value = default(CommEmulation); Text.Initialize("lpt_comm_emulation", &value, sizeof(CommEmulation)); return value; }
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
        public static ExaqOptions Default() { var value = default(ExaqOptions); Text.Initialize("lpt_exaq_options", &value, sizeof(ExaqOptions)); return value; }
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
        public static LossyLinkOptions Default() { var value = default(LossyLinkOptions); Text.Initialize("lpt_lossy_link_options", &value, sizeof(LossyLinkOptions)); return value; }
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
        public static LossyLinkInfo Default() { var value = default(LossyLinkInfo); Text.Initialize("lpt_lossy_link_info", &value, sizeof(LossyLinkInfo)); return value; }
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
        public static LossyInfo Default() { var value = default(LossyInfo); Text.Initialize("lpt_lossy_info", &value, sizeof(LossyInfo)); return value; }
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
        public static NoiseOptions Default() { var value = default(NoiseOptions); Text.Initialize("lpt_noise_options", &value, sizeof(NoiseOptions)); return value; }
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
        public static NoiseInfo Default() { var value = default(NoiseInfo); Text.Initialize("lpt_noise_info", &value, sizeof(NoiseInfo)); return value; }
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
        public static SwigluAlignmentInfo Default() { var value = default(SwigluAlignmentInfo); Text.Initialize("lpt_swiglu_alignment_info", &value, sizeof(SwigluAlignmentInfo)); return value; }
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
        public static PowerOptions Default() { var value = default(PowerOptions); Text.Initialize("lpt_power_options", &value, sizeof(PowerOptions)); return value; }
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
        public static PowerInfo Default() { var value = default(PowerInfo); Text.Initialize("lpt_power_info", &value, sizeof(PowerInfo)); return value; }
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
        public static TopologyInfo Default() { var value = default(TopologyInfo); Text.Initialize("lpt_topology_info", &value, sizeof(TopologyInfo)); return value; }
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
        public static ScheduleOptions Default() { var value = default(ScheduleOptions); Text.Initialize("lpt_schedule_options", &value, sizeof(ScheduleOptions)); return value; }
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
        public static ScheduleInfo Default() { var value = default(ScheduleInfo); Text.Initialize("lpt_schedule_info", &value, sizeof(ScheduleInfo)); return value; }
    }
}
