using System;

namespace Lpt
{
    public sealed unsafe partial class CommGroup
    {
        /// <summary>Creates a group of `rankCount` ranks, which are threads of this process.</summary>
        public CommGroup(int rankCount) : base(Create(rankCount)) { }

        private static IntPtr Create(int rankCount)
        {
            IntPtr raw;
            var status = Native.lpt_comm_group_create(Context.None, rankCount, &raw);
            if (status != Status.Ok) throw new LptException(status, "rankCount is " + rankCount + ": cannot create a group");
            return raw;
        }

        /// <summary>Aborts the current and all later collectives of the group, which fail with Aborted.</summary>
        public void Abort() { Native.lpt_comm_group_abort(this); }
    }

    public sealed unsafe partial class Comm
    {
        /// <summary>Creates a rank of a local group; returns after all ranks have called it.</summary>
        public Comm(Context context, CommGroup group, int rank, CommOptions? options = null)
            : base(Create(context, group, rank, options ?? CommOptions.Default())) { }

        private static IntPtr Create(Context context, CommGroup group, int rank, CommOptions options)
        {
            IntPtr raw;
            context.Check(Native.lpt_comm_create_local(context, group, rank, &options, &raw));
            return raw;
        }

        /// <summary>Creates the rank of this process in an MPI job; returns after all processes have called it.</summary>
        public static Comm Mpi(Context context, CommOptions? options = null)
        {
            var settings = options ?? CommOptions.Default();
            IntPtr raw;
            context.Check(Native.lpt_comm_create_mpi(context, &settings, &raw));
            return new Comm(raw);
        }

        /// <summary>Returns rank, number of ranks, engine and counters of traffic.</summary>
        public CommInfo Values(Context context)
        {
            var values = CommInfo.Default();
            context.Check(Native.lpt_comm_read(context, this, &values));
            return values;
        }

        /// <summary>Waits until all ranks have called it.</summary>
        public void Barrier(Context context) { context.Check(Native.lpt_barrier(context, this)); }

        /// <summary>Copies the tensor of the rank `root` to all ranks, in place.</summary>
        public void Broadcast(Context context, int root, Tensor tensor)
        {
            context.Check(Native.lpt_broadcast(context, this, root, tensor, null));
        }

        /// <summary>Reduces a tensor over all ranks; complete on return. `output` may be the input.</summary>
        public void AllReduce(Context context, Tensor input, Tensor output, ReduceOptions? options = null, Compression codec = null)
        {
            var settings = options ?? ReduceOptions.Default();
            var native = codec == null ? default(CommCodec) : codec.ToNative();
            if (codec != null) settings.Codec = (IntPtr)(&native);
            context.Check(Native.lpt_all_reduce(context, this, input, &settings, output, null), codec);
            GC.KeepAlive(codec);
        }

        /// <summary>Gathers the slices of all ranks along the first axis, in rank order; `counts` null: all slices are equal. With a
        /// codec, each rank encodes its slice, and all ranks decode it.</summary>
        public void AllGather(Context context, Tensor input, Tensor output, long[] counts = null, Compression codec = null)
        {
            CheckCounts(context, counts);
            var native = codec == null ? default(CommCodec) : codec.ToNative();
            var settings = AllGatherOptions.Default();
            if (codec != null) settings.Codec = (IntPtr)(&native);
            fixed (long* extents = counts)
            {
                context.Check(Native.lpt_all_gather(context, this, input, extents, &settings, output, null), codec);
            }
            GC.KeepAlive(codec);
        }

        /// <summary>Starts a reduction in the background. The future keeps the tensors alive. Call Future.Wait before it is
        /// disposed.</summary>
        public Future AllReduceStart(Context context, Tensor input, Tensor output, ReduceOptions? options = null,
                                     Compression codec = null)
        {
            var settings = options ?? ReduceOptions.Default();
            var native = codec == null ? default(CommCodec) : codec.ToNative();
            if (codec != null) settings.Codec = (IntPtr)(&native);
            IntPtr raw;
            context.Check(Native.lpt_all_reduce(context, this, input, &settings, output, &raw), codec);
            var future = new Future(raw) { Codec = codec };
            future.Keep(input);
            future.Keep(output);
            return future;
        }
    }

    public sealed partial class Future
    {
        internal Compression Codec;

        /// <summary>Waits for completion of the collective; its tensors may then be used and disposed.</summary>
        public void Wait(Context context) { context.Check(Native.lpt_future_wait(context, this), Codec); }
    }
}
