using System;

namespace Lpt
{
    public sealed unsafe partial class GradientBuckets
    {
        private Compression codec;

        /// <summary>Gradients in the order of forward, the same on all ranks, which are reduced in place while backward goes on: Begin,
        /// Ready as soon as one is there, Wait. They and the comm are kept; between Ready and Wait they are the comm's.</summary>
        public GradientBuckets(Context context, Comm comm, Tensor[] gradients, GradientBucketsOptions? options = null)
            : base(Create(context, comm, gradients, options ?? GradientBucketsOptions.Default()))
        {
            Keep(comm);
            foreach (var gradient in gradients) Keep(gradient);
        }

        private static IntPtr Create(Context context, Comm comm, Tensor[] gradients, GradientBucketsOptions options)
        {
            IntPtr raw;
            var tensors = Array.ConvertAll(gradients, one => one.DangerousGetHandle());
            fixed (IntPtr* place = tensors)
                context.Check(Native.lpt_gradient_buckets_create(context, comm, place, tensors.Length, &options, &raw));
            GC.KeepAlive(gradients);
            return raw;
        }

        /// <summary>Begins a backward pass. `isLast`: gradients are reduced as they become ready, as the options say; else
        /// micro-batches follow that add to them, and nothing travels.</summary>
        public void Begin(Context context, bool isLast = true, ReduceOptions? options = null, Compression codec = null)
        {
            var settings = options ?? ReduceOptions.Default();
            var native = codec == null ? default(CommCodec) : codec.ToNative();
            if (codec != null) settings.Codec = (IntPtr)(&native);
            context.Check(Native.lpt_gradient_buckets_begin(context, this, isLast ? 1 : 0, &settings), codec);
            this.codec = codec;
        }

        /// <summary>Says that a gradient is there.</summary>
        public void Ready(Context context, long index) { context.Check(Native.lpt_gradient_buckets_ready(context, this, index)); }

        /// <summary>Ends a pass: all gradients are reduced then. One that was never made ready is named, and the pass goes on.</summary>
        public void Wait(Context context) { context.Check(Native.lpt_gradient_buckets_wait(context, this), codec); }

        /// <summary>How buckets stand.</summary>
        public GradientBucketsInfo Values(Context context)
        {
            var values = GradientBucketsInfo.Default();
            context.Check(Native.lpt_gradient_buckets_read(context, this, &values));
            return values;
        }
    }
}
