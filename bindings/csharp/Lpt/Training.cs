using System;
using System.Runtime.InteropServices;

namespace Lpt
{
    public sealed unsafe partial class Recipe
    {
        /// <summary>Creates a recipe by name, such as "mxfp8".</summary>
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
        /// <summary>Creates a layer with a copy of a recipe.</summary>
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

        /// <summary>Casts the weight; call it after every change of the weight.</summary>
        public void Prepare(Context context, Tensor weight, LinearOptions? options = null)
        {
            var settings = options ?? LinearOptions.Default();
            context.Check(Native.lpt_linear_prepare(context, this, weight, &settings));
        }

        /// <summary>Creates a vector for the data that forward saves of `rows` rows; each micro-batch in flight requires
        /// one.</summary>
        public Tensor NewSaved(Context context, long rows)
        {
            UIntPtr bytes;
            context.Check(Native.lpt_linear_saved_size(context, this, rows, &bytes));
            return new Tensor(context, Format.Uint8, (long)bytes);
        }

        /// <summary>Computes y = x · wᵀ + bias, and saves the data that backward needs; `saved` null: inference.</summary>
        public void Forward(Context context, Tensor input, Tensor saved, Tensor output, LinearOptions? options = null,
                            Tensor bias = null)
        {
            var settings = options ?? LinearOptions.Default();
            if (bias != null) settings.Bias = bias.DangerousGetHandle();
            context.Check(Native.lpt_linear_forward(context, this, input, &settings, saved ?? Tensor.None, output));
            GC.KeepAlive(bias);
        }

        /// <summary>Computes the gradients that are not null.</summary>
        public void Backward(Context context, Tensor saved, Tensor outputGradient, Tensor inputGradient, Tensor weightGradient,
                             Tensor biasGradient = null, LinearOptions? options = null)
        {
            var settings = options ?? LinearOptions.Default();
            context.Check(Native.lpt_linear_backward(context, this, saved, outputGradient, &settings, inputGradient ?? Tensor.None,
                                                     weightGradient ?? Tensor.None, biasGradient ?? Tensor.None));
        }

        /// <summary>Completes an optimizer step for the scalers of the layer.</summary>
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

        /// <summary>Adds a parameter with zero moments, and returns its index: 0, 1, 2, … Find() returns the index of a
        /// name.</summary>
        public long Add(Context context, OptimizerParameter parameter, string name = null)
        {
            long index;
            fixed (byte* bytes = name == null ? null : Text.ToUtf8(name))
                context.Check(Native.lpt_optimizer_add(context, this, bytes, &parameter, &index));
            return index;
        }

        /// <summary>Returns the index of the parameter with this name.</summary>
        public long Find(Context context, string name)
        {
            long index;
            fixed (byte* bytes = Text.ToUtf8(name))
                context.Check(Native.lpt_optimizer_find(context, this, bytes, &index));
            return index;
        }

        /// <summary>Steps parameters; clipping and skipping apply to all of them together.</summary>
        public void Step(Context context, long[] indices, Tensor[] gradients, Tensor[] parameters, OptimizerStepOptions? options = null)
        {
            CheckOperands(indices, gradients, parameters);
            var settings = options ?? OptimizerStepOptions.Default();
            var read = Array.ConvertAll(gradients, one => one.DangerousGetHandle());
            var written = Array.ConvertAll(parameters, one => one.DangerousGetHandle());
            fixed (long* firstIndex = indices)
            fixed (IntPtr* firstRead = read)
            fixed (IntPtr* firstWritten = written)
                context.Check(Native.lpt_optimizer_step(context, this, firstIndex, indices.Length, firstRead, &settings, firstWritten));
            GC.KeepAlive(gradients);
            GC.KeepAlive(parameters);
        }

        private static void CheckOperands(long[] indices, Tensor[] gradients, Tensor[] parameters)
        {
            if (gradients.Length == indices.Length && parameters.Length == indices.Length) return;
            throw new LptException(Status.InvalidArgument,
                string.Format("gradients has {0} elements, parameters has {1}: expected as many as indices, {2}", gradients.Length,
                              parameters.Length, indices.Length));
        }

        /// <summary>Adds this rank's shards of full parameters. All ranks add the same parameters and get the same
        /// indices.</summary>
        public long[] AddShards(Context context, Comm comm, params OptimizerParameter[] parameters)
        {
            var indices = new long[parameters.Length];
            var pointers = new IntPtr[parameters.Length];
            fixed (OptimizerParameter* first = parameters)
            fixed (IntPtr* pointer = pointers)
            fixed (long* index = indices)
            {
                for (var i = 0; i < pointers.Length; ++i) pointers[i] = (IntPtr)(first + i);
                context.Check(Native.lpt_optimizer_add_shards(context, comm, this, null, (OptimizerParameter**)pointer, pointers.Length,
                                                              index));
            }
            return indices;
        }

        /// <summary>Steps full parameters whose state is sharded over ranks; all ranks call it. `reduce` null: gradients are the same
        /// on all ranks (ZeRO 1). Otherwise the step reduces them with these options (ZeRO 2).</summary>
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
            fixed (long* firstIndex = indices)
            fixed (IntPtr* firstRead = read)
            fixed (IntPtr* firstWritten = written)
            {
                context.Check(Native.lpt_optimizer_step_shards(context, comm, this, firstIndex, indices.Length, firstRead, &settings,
                                                               &shards, firstWritten));
            }
            GC.KeepAlive(gradients);
            GC.KeepAlive(parameters);
        }

        /// <summary>Restores the state of one parameter or shard from saved shards with other cuts, in any order.</summary>
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
            fixed (byte* first = state) context.Check(Native.lpt_optimizer_state_save(context, this, index, first, bytes));
            return state;
        }

        public void StateLoad(Context context, long index, byte[] state)
        {
            fixed (byte* first = state)
                context.Check(Native.lpt_optimizer_state_load(context, this, index, first, (UIntPtr)state.Length));
        }
    }
}
