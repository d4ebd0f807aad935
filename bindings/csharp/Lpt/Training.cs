using System;
using System.Runtime.InteropServices;

namespace Lpt
{
    public sealed unsafe partial class Recipe
    {
        /// <summary>A recipe of the library by its name, such as "mxfp8".</summary>
        public Recipe(Context context, string name) : base(Create(context, name)) { }

        private static IntPtr Create(Context context, string name)
        {
            IntPtr raw;
            fixed (byte* text = Text.ToUtf8(name)) context.Check(Native.lpt_recipe_create(context, text, &raw));
            return raw;
        }
    }

    public sealed unsafe partial class Linear
    {
        /// <summary>A layer under a recipe, which it copies.</summary>
        public Linear(Context context, Recipe recipe, long inputColumns, long outputColumns)
            : base(Create(context, recipe, inputColumns, outputColumns)) { }

        private static IntPtr Create(Context context, Recipe recipe, long inputColumns, long outputColumns)
        {
            var shape = LinearShape.Default();
            shape.InputColumns = inputColumns;
            shape.OutputColumns = outputColumns;
            IntPtr raw;
            context.Check(Native.lpt_linear_create(context, recipe, &shape, &raw));
            return raw;
        }

        /// <summary>Casts the weight: after every change of it.</summary>
        public void Prepare(Context context, Tensor weight, LinearOptions? options = null)
        {
            var settings = options ?? LinearOptions.Default();
            context.Check(Native.lpt_linear_prepare(context, this, weight, &settings));
        }

        /// <summary>A vector for what forward saves of `rows` rows, one per micro-batch in flight.</summary>
        public Tensor NewSaved(Context context, long rows)
        {
            UIntPtr bytes;
            context.Check(Native.lpt_linear_saved_size(context, this, rows, &bytes));
            return new Tensor(context, Format.Uint8, (long)bytes);
        }

        /// <summary>y = x · wᵀ + bias; `saved` null: inference.</summary>
        public void Forward(Context context, Tensor input, Tensor saved, Tensor output, LinearOptions? options = null,
                            Tensor bias = null)
        {
            var settings = options ?? LinearOptions.Default();
            if (bias != null) settings.Bias = bias.DangerousGetHandle();
            context.Check(Native.lpt_linear_forward(context, this, input, &settings, saved ?? Tensor.None, output));
            GC.KeepAlive(bias);
        }

        /// <summary>The gradients that are wanted; null: not wanted.</summary>
        public void Backward(Context context, Tensor saved, Tensor outputGradient, Tensor inputGradient, Tensor weightGradient,
                             Tensor biasGradient = null, LinearOptions? options = null)
        {
            var settings = options ?? LinearOptions.Default();
            context.Check(Native.lpt_linear_backward(context, this, saved, outputGradient, &settings, inputGradient ?? Tensor.None,
                                                     weightGradient ?? Tensor.None, biasGradient ?? Tensor.None));
        }

        /// <summary>Ends an optimizer step for the layer's scalers.</summary>
        public void Update(Context context)
        {
            var raw = DangerousGetHandle();
            context.Check(Native.lpt_linear_update_scalers(context, &raw, 1));
            GC.KeepAlive(this);
        }
    }

    public sealed unsafe partial class Optimizer
    {
        public Optimizer(Context context) : this(context, OptimizerOptions.Default()) { }

        public Optimizer(Context context, OptimizerOptions options) : base(Create(context, options)) { }

        private static IntPtr Create(Context context, OptimizerOptions options)
        {
            IntPtr raw;
            context.Check(Native.lpt_optimizer_create(context, &options, &raw));
            return raw;
        }

        /// <summary>Adds a parameter with zero moments: 0 for the first, then 1, 2, …</summary>
        public long Add(Context context, OptimizerParameter parameter)
        {
            long index;
            context.Check(Native.lpt_optimizer_add(context, this, &parameter, &index));
            return index;
        }

        /// <summary>Steps parameters; clipping and skipping is of all of them together.</summary>
        public void Step(Context context, long[] indices, Tensor[] gradients, Tensor[] parameters, OptimizerStepOptions? options = null)
        {
            CheckOperands(indices, gradients, parameters);
            var settings = options ?? OptimizerStepOptions.Default();
            var read = Array.ConvertAll(gradients, one => one.DangerousGetHandle());
            var written = Array.ConvertAll(parameters, one => one.DangerousGetHandle());
            fixed (long* places = indices)
            fixed (IntPtr* readPlace = read)
            fixed (IntPtr* writtenPlace = written)
                context.Check(Native.lpt_optimizer_step(context, this, places, indices.Length, readPlace, &settings, writtenPlace));
            GC.KeepAlive(gradients);
            GC.KeepAlive(parameters);
        }

        private static void CheckOperands(long[] indices, Tensor[] gradients, Tensor[] parameters)
        {
            if (gradients.Length == indices.Length && parameters.Length == indices.Length) return;
            throw new LptException(Status.InvalidArgument,
                string.Format("gradients are {0} and parameters {1}: expected as many as indices, {2}", gradients.Length,
                              parameters.Length, indices.Length));
        }

        /// <summary>Adds this rank's shards of whole parameters; every rank adds the same and gets the same indices.</summary>
        public long[] AddShards(Context context, Comm comm, params OptimizerParameter[] parameters)
        {
            var indices = new long[parameters.Length];
            var places = new IntPtr[parameters.Length];
            fixed (OptimizerParameter* first = parameters)
            fixed (IntPtr* place = places)
            fixed (long* index = indices)
            {
                for (var i = 0; i < places.Length; ++i) places[i] = (IntPtr)(first + i);
                context.Check(Native.lpt_optimizer_add_shards(context, comm, this, (OptimizerParameter**)place, places.Length, index));
            }
            return indices;
        }

        /// <summary>Steps whole parameters whose state ranks share, on all of them. `reduce` null: gradients are the same on all ranks
        /// (ZeRO 1); else each rank's own are reduced so (ZeRO 2).</summary>
        public void StepShards(Context context, Comm comm, long[] indices, Tensor[] gradients, Tensor[] parameters,
                               OptimizerStepOptions? options = null, ReduceOptions? reduce = null)
        {
            CheckOperands(indices, gradients, parameters);
            var settings = options ?? OptimizerStepOptions.Default();
            var shards = OptimizerShardOptions.Default();
            var reduction = reduce ?? ReduceOptions.Default();
            if (reduce != null) shards.Reduce = (IntPtr)(&reduction);
            var read = Array.ConvertAll(gradients, one => one.DangerousGetHandle());
            var written = Array.ConvertAll(parameters, one => one.DangerousGetHandle());
            fixed (long* places = indices)
            fixed (IntPtr* readPlace = read)
            fixed (IntPtr* writtenPlace = written)
            {
                context.Check(Native.lpt_optimizer_step_shards(context, comm, this, places, indices.Length, readPlace, &settings, &shards,
                                                               writtenPlace));
            }
            GC.KeepAlive(gradients);
            GC.KeepAlive(parameters);
        }

        /// <summary>One parameter's state, or a shard's, from saved shards that were cut in another way, in any order.</summary>
        public void StateLoadMany(Context context, long index, params byte[][] states)
        {
            var pins = Array.ConvertAll(states, state => GCHandle.Alloc(state, GCHandleType.Pinned));
            var buffers = Array.ConvertAll(pins, pin => pin.AddrOfPinnedObject());
            var sizes = Array.ConvertAll(states, state => (UIntPtr)state.LongLength);
            try
            {
                fixed (IntPtr* buffer = buffers)
                fixed (UIntPtr* size = sizes)
                    context.Check(Native.lpt_optimizer_state_load_many(context, this, index, (void**)buffer, size, states.Length));
            }
            finally
            {
                Array.ForEach(pins, pin => pin.Free());
            }
        }

        public byte[] StateSave(Context context, long index)
        {
            UIntPtr bytes;
            context.Check(Native.lpt_optimizer_state_size(context, this, index, &bytes));
            var state = new byte[(long)bytes];
            fixed (byte* place = state) context.Check(Native.lpt_optimizer_state_save(context, this, index, place, bytes));
            return state;
        }

        public void StateLoad(Context context, long index, byte[] state)
        {
            fixed (byte* place = state)
                context.Check(Native.lpt_optimizer_state_load(context, this, index, place, (UIntPtr)state.Length));
        }
    }
}
