using System;

namespace Lpt
{
    /// <summary>The worker. It serves one thread at a time.</summary>
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

        /// <summary>Throws what a call with this context came to, unless it is Ok and no callback threw.</summary>
        public void Check(Status status) { Check(status, null); }

        internal void Check(Status status, Compression codec)
        {
            if (status == Status.Ok && thrown == null) return;
            // The context's texts are those of the call that runs.
            if (status == Status.Busy) throw new LptException(status, Text.Of(status));
            var text = status == Status.Ok ? "" : Text.Of(Native.lpt_context_error(this));
            var problem = TakeThrown(ref text);
            var ofCodec = codec == null ? null : codec.TakeThrown();
            if (ofCodec != null) text += "; codec " + codec.Name + " threw: " + ofCodec.Message;
            throw new LptException(status == Status.Ok ? Status.Internal : status, text, problem ?? ofCodec);
        }

        /// <summary>Copies a tensor with all its parts, from one memory to another too, and waits for it.</summary>
        public void TensorCopy(Tensor source, Tensor target)
        {
            Check(Native.lpt_tensor_copy(this, source, target));
            Synchronize();
        }

        /// <summary>Waits until a GPU has done all that is queued. For the processor nothing ever is.</summary>
        public void Synchronize() { Check(Native.lpt_context_synchronize(this)); }

        /// <summary>Which kernel the last operation took, and why each faster one was passed over.</summary>
        public string Explanation { get { return Text.Of(Native.lpt_context_explanation(this)); } }

        /// <summary>Casts numbers to the format of `quantized`, and to that of `transposed` where it is given.</summary>
        public void Quantize(Tensor source, Tensor quantized, QuantizeOptions? options = null, Tensor transposed = null)
        {
            var settings = options ?? QuantizeOptions.Default();
            Check(Native.lpt_quantize(this, source, &settings, quantized, transposed ?? Tensor.None));
        }

        public void Dequantize(Tensor source, Tensor output)
        {
            Check(Native.lpt_dequantize(this, source, null, output));
        }

        /// <summary>c = alpha · a · b + beta · c, and what else the options say; `bias` takes the options' place.</summary>
        public void Gemm(Tensor a, Tensor b, Tensor c, GemmOptions? options = null, Tensor bias = null)
        {
            var settings = options ?? GemmOptions.Default();
            if (bias != null) settings.Bias = bias.DangerousGetHandle();
            Check(Native.lpt_gemm(this, a, b, &settings, c));
            GC.KeepAlive(bias);
        }

        /// <summary>Lays out weights for products: as b, transposed.</summary>
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
            fixed (byte* place = state) Check(Native.lpt_weights_state_save(this, packed, place, bytes));
            return state;
        }

        public Tensor WeightsStateLoad(byte[] state)
        {
            IntPtr raw;
            fixed (byte* place = state) Check(Native.lpt_weights_state_load(this, place, (UIntPtr)state.Length, &raw));
            return new Tensor(raw);
        }

        /// <summary>Selects N of every M numbers: `mask`, uint8, is 1 where one stays.</summary>
        public SparseInfo SparseMaskSelect(Tensor source, Tensor mask, SparseOptions? options = null, Tensor masked = null)
        {
            var settings = options ?? SparseOptions.Default();
            var values = SparseInfo.Default();
            Check(Native.lpt_sparse_mask_select(this, source, &settings, mask, masked ?? Tensor.None, &values));
            return values;
        }

        /// <summary>Counts the groups that keep more than `kept` of `of`.</summary>
        public long SparseMaskCheck(Tensor mask, int kept, int of, SparseDirection direction)
        {
            long count;
            Check(Native.lpt_sparse_mask_check(this, mask, kept, of, direction, &count));
            return count;
        }

        /// <summary>The level of the binary interface of the library that is loaded.</summary>
        public static int AbiLevel { get { return Native.lpt_abi_level(); } }
    }
}
