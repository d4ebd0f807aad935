using System;

namespace Lpt
{
    /// <summary>Runs operations: holds threads, memory, error text and the choice of kernels. It runs one call at a
    /// time.</summary>
    public sealed unsafe partial class Context
    {
        public Context() : this(ContextOptions.Default()) { }

        public Context(ContextOptions options) : base(Create(options)) { }

        private static IntPtr Create(ContextOptions options)
        {
            var text = stackalloc byte[256];
            text[0] = 0;
            options.ErrorText = (IntPtr)text;
            options.ErrorTextBytes = (UIntPtr)256;
            IntPtr raw;
            var status = Native.lpt_context_create(&options, &raw);
            if (status != Status.Ok) throw new LptException(status, Text.Of(text));
            return raw;
        }

        /// <summary>Throws the error of a call with this context, unless the status is Ok and no callback threw.</summary>
        public void Check(Status status) { Check(status, null); }

        internal void Check(Status status, Compression codec)
        {
            if (status == Status.Ok && thrown == null) return;
            // The error text of the context belongs to the call that is running.
            if (status == Status.Busy) throw new LptException(status, Text.Of(status));
            var text = status == Status.Ok ? "" : Text.Of(Native.lpt_context_error(this));
            var problem = TakeThrown(ref text);
            var ofCodec = codec == null ? null : codec.TakeThrown();
            if (ofCodec != null) text += "; codec " + codec.Name + " threw: " + ofCodec.Message;
            throw new LptException(status == Status.Ok ? Status.Internal : status, text, problem ?? ofCodec);
        }

        /// <summary>Copies a tensor with all its parts between devices or within one; complete on return.</summary>
        public void TensorCopy(Tensor source, Tensor target)
        {
            Check(Native.lpt_tensor_copy(this, source, target));
            Synchronize();
        }

        /// <summary>Waits until all work that is queued on a GPU is complete; on a CPU context, returns immediately.</summary>
        public void Synchronize() { Check(Native.lpt_context_synchronize(this)); }

        /// <summary>Kernel of the last operation, and the reason why each faster kernel was not used.</summary>
        public string Explanation { get { return Text.Of(Native.lpt_context_explanation(this)); } }

        /// <summary>Casts a tensor to the format of `quantized`, and computes its scales. If `transposed` is given, casts the
        /// transposed matrix too.</summary>
        public void Quantize(Tensor source, Tensor quantized, QuantizeOptions? options = null, Tensor transposed = null)
        {
            var settings = options ?? QuantizeOptions.Default();
            Check(Native.lpt_quantize(this, source, &settings, quantized, transposed ?? Tensor.None));
        }

        /// <summary>Decodes a tensor to the format of `output`: f64, f32, bf16 or f16.</summary>
        public void Dequantize(Tensor source, Tensor output)
        {
            Check(Native.lpt_dequantize(this, source, null, output));
        }

        /// <summary>Computes c = alpha · a · b + beta · c, with the activation and residual of the options. `bias` replaces the bias
        /// of the options.</summary>
        public void Gemm(Tensor a, Tensor b, Tensor c, GemmOptions? options = null, Tensor bias = null)
        {
            var settings = options ?? GemmOptions.Default();
            if (bias != null) settings.Bias = bias.DangerousGetHandle();
            Check(Native.lpt_gemm(this, a, b, &settings, c));
            GC.KeepAlive(bias);
        }

        /// <summary>Packs weights (n × k) for GEMM, as a transposed b.</summary>
        public Tensor WeightsPack(Tensor weights, WeightsOptions? options = null)
        {
            var settings = options ?? WeightsOptions.Default();
            IntPtr raw;
            Check(Native.lpt_weights_pack(this, weights, &settings, &raw));
            return new Tensor(raw);
        }

        public byte[] WeightsStateSave(Tensor packed)
        {
            UIntPtr bytes;
            Check(Native.lpt_weights_state_size(this, packed, &bytes));
            var state = new byte[(long)bytes];
            fixed (byte* first = state) Check(Native.lpt_weights_state_save(this, packed, first, bytes));
            return state;
        }

        public Tensor WeightsStateLoad(byte[] state)
        {
            IntPtr raw;
            fixed (byte* first = state) Check(Native.lpt_weights_state_load(this, first, (UIntPtr)state.Length, &raw));
            return new Tensor(raw);
        }

        /// <summary>Selects N of every M elements: `mask`, uint8, is 1 for kept elements.</summary>
        public SparseInfo SparseMaskSelect(Tensor source, Tensor mask, SparseOptions? options = null, Tensor masked = null)
        {
            var settings = options ?? SparseOptions.Default();
            var values = SparseInfo.Default();
            Check(Native.lpt_sparse_mask_select(this, source, &settings, mask, masked ?? Tensor.None, &values));
            return values;
        }

        /// <summary>Counts the groups of `of` elements that keep more than `kept`.</summary>
        public long SparseMaskCheck(Tensor mask, int kept, int of, SparseDirection direction)
        {
            long count;
            Check(Native.lpt_sparse_mask_check(this, mask, kept, of, direction, &count));
            return count;
        }

        /// <summary>Level of the binary interface of the loaded library.</summary>
        public static int AbiLevel { get { return Native.lpt_abi_level(); } }
    }
}
