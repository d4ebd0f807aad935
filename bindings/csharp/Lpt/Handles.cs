// Opaque types of lpt.h; the header documents the contracts. Written by `python3 tools/make_bindings.py write`.
#pragma warning disable CS1591 // lpt.h documents members without a comment
using System;

namespace Lpt
{
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
}
