using System;

namespace Lpt
{
    public sealed unsafe partial class CommGroup
    {
        /// <summary>A group of so many ranks that are threads.</summary>
        public CommGroup(int rankCount) : base(Create(rankCount)) { }

        private static IntPtr Create(int rankCount)
        {
            IntPtr raw;
            var status = Native.lpt_comm_group_create(Context.None, rankCount, &raw);
            if (status != Status.Ok) throw new LptException(status, "rankCount is " + rankCount + ": no group could be made");
            return raw;
        }

        /// <summary>Frees all ranks that wait, with Aborted.</summary>
        public void Abort() { Native.lpt_comm_group_abort(this); }
    }

    public sealed unsafe partial class Comm
    {
        /// <summary>Takes a rank's place in a group; returns when all ranks have come.</summary>
        public Comm(Context context, CommGroup group, int rank, CommOptions? options = null)
            : base(Create(context, group, rank, options ?? CommOptions.Default())) { }

        private static IntPtr Create(Context context, CommGroup group, int rank, CommOptions options)
        {
            IntPtr raw;
            context.Check(Native.lpt_comm_create_local(context, group, rank, &options, &raw));
            return raw;
        }

        /// <summary>Takes a process's place among the processes of an MPI job; returns when all of them have come.</summary>
        public static Comm Mpi(Context context, CommOptions? options = null)
        {
            var settings = options ?? CommOptions.Default();
            IntPtr raw;
            context.Check(Native.lpt_comm_create_mpi(context, &settings, &raw));
            return new Comm(raw);
        }

        /// <summary>Rank, ranks, engine and what was sent.</summary>
        public CommInfo Values(Context context)
        {
            var values = CommInfo.Default();
            context.Check(Native.lpt_comm_read(context, this, &values));
            return values;
        }

        /// <summary>Waits for all ranks.</summary>
        public void Barrier(Context context) { context.Check(Native.lpt_barrier(context, this)); }

        /// <summary>Every rank's tensor becomes the root's.</summary>
        public void Broadcast(Context context, int root, Tensor tensor)
        {
            context.Check(Native.lpt_broadcast(context, this, root, tensor, null));
        }

        /// <summary>Reduces over the ranks, and is done on return; `output` may be the input.</summary>
        public void AllReduce(Context context, Tensor input, Tensor output, ReduceOptions? options = null, Compression codec = null)
        {
            var settings = options ?? ReduceOptions.Default();
            var native = codec == null ? default(CommCodec) : codec.ToNative();
            if (codec != null) settings.Codec = (IntPtr)(&native);
            context.Check(Native.lpt_all_reduce(context, this, input, &settings, output, null), codec);
            GC.KeepAlive(codec);
        }

        /// <summary>Gives all ranks the parts of every rank, one after the other along the first axis; `counts` null: equal parts.
        /// With a codec each part travels by it.</summary>
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

        /// <summary>The same behind the caller's back. The future keeps the tensors, and has to be waited for before it is disposed.</summary>
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

        /// <summary>Waits for the collective: its tensors may be used from then on, and disposed of.</summary>
        public void Wait(Context context) { context.Check(Native.lpt_future_wait(context, this), Codec); }
    }
}
