using System;

namespace Lpt
{
    public sealed unsafe partial class GradientBuckets
    {
        private Compression codec;

        /// <summary>Creates buckets of gradients, which ranks reduce in place while backward continues. Call Begin, then Ready for
        /// each gradient as soon as it is computed, then Wait. `gradients` has the order of forward, the same on all ranks. The
        /// object keeps the gradients and the comm alive. Do not access a gradient between Ready and Wait.</summary>
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
            fixed (IntPtr* first = tensors)
                context.Check(Native.lpt_gradient_buckets_create(context, comm, first, tensors.Length, &options, &raw));
            GC.KeepAlive(gradients);
            return raw;
        }

        /// <summary>Starts a backward pass. With `isLast`, gradients are reduced as they become ready. Otherwise micro-batches
        /// accumulate, and nothing is sent.</summary>
        public void Begin(Context context, bool isLast = true, ReduceOptions? options = null, Compression codec = null)
        {
            var settings = options ?? ReduceOptions.Default();
            var native = codec == null ? default(CommCodec) : codec.ToNative();
            if (codec != null) settings.Codec = (IntPtr)(&native);
            context.Check(Native.lpt_gradient_buckets_begin(context, this, isLast ? 1 : 0, &settings), codec);
            this.codec = codec;
        }

        /// <summary>Marks a gradient as ready, and starts the reduction of its bucket if it is complete.</summary>
        public void Ready(Context context, long index) { context.Check(Native.lpt_gradient_buckets_ready(context, this, index)); }

        /// <summary>Waits until all gradients are reduced, and ends the pass. An error names gradients that are not ready; the pass
        /// then continues.</summary>
        public void Wait(Context context) { context.Check(Native.lpt_gradient_buckets_wait(context, this), codec); }

        /// <summary>Returns the state of the buckets.</summary>
        public GradientBucketsInfo Values(Context context)
        {
            var values = GradientBucketsInfo.Default();
            context.Check(Native.lpt_gradient_buckets_read(context, this, &values));
            return values;
        }
    }
}
