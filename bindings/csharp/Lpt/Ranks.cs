using System;

namespace Lpt
{
    public sealed unsafe partial class CommGroup
    {
        /// <summary>A meeting place for so many ranks.</summary>
        public CommGroup(int rankCount) : base(Create(rankCount)) { }

        private static IntPtr Create(int rankCount)
        {
            IntPtr raw;
            var status = Native.lpt_comm_group_create(rankCount, &raw);
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

        /// <summary>Waits for all ranks.</summary>
        public void Barrier(Context context) { context.Check(Native.lpt_barrier(context, this)); }

        /// <summary>Every rank's tensor becomes the root's.</summary>
        public void Broadcast(Context context, int root, Tensor tensor)
        {
            context.Check(Native.lpt_broadcast(context, this, root, tensor, null));
        }

        /// <summary>Reduces over the ranks, and is done on return; `output` may be the input.</summary>
        public void AllReduce(Context context, Tensor input, Tensor output, ReduceOptions? options = null)
        {
            var wishes = options ?? ReduceOptions.Default();
            context.Check(Native.lpt_all_reduce(context, this, input, &wishes, output, null));
        }

        /// <summary>The same behind the caller's back. The future keeps the tensors, and has to be waited for before it is disposed.</summary>
        public Future AllReduceStart(Context context, Tensor input, Tensor output, ReduceOptions? options = null)
        {
            var wishes = options ?? ReduceOptions.Default();
            IntPtr raw;
            context.Check(Native.lpt_all_reduce(context, this, input, &wishes, output, &raw));
            var future = new Future(raw);
            future.Keep(input);
            future.Keep(output);
            return future;
        }
    }

    public sealed partial class Future
    {
        /// <summary>Waits for the collective: its tensors may be used from then on, and disposed of.</summary>
        public void Wait(Context context)
        {
            context.Check(Native.lpt_future_wait(context, this));
        }
    }
}
