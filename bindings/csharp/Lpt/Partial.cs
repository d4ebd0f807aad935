using System;

namespace Lpt
{
    public sealed unsafe partial class PartialPlan
    {
        /// <summary>Creates a plan, which states the columns of activations that ranks share.</summary>
        public PartialPlan(Context context, PartialPlanOptions options) : base(Create(context, options)) { }

        private static IntPtr Create(Context context, PartialPlanOptions options)
        {
            IntPtr raw;
            context.Check(Native.lpt_partial_plan_create(context, &options, &raw));
            return raw;
        }
    }

    public sealed unsafe partial class Comm
    {
        /// <summary>Sums the shared columns over all ranks, and scales the private columns of this rank; `output` may be the
        /// input.</summary>
        public void PartialAllReduce(Context context, PartialPlan plan, PartialPass pass, Tensor input, Tensor output)
        {
            context.Check(Native.lpt_partial_all_reduce(context, this, plan, pass, input, output, null));
        }

        /// <summary>Gathers the rows of all ranks before a column-parallel layer; `rowCounts` null: all ranks have the same
        /// number.</summary>
        public void SequenceGather(Context context, Tensor input, Tensor output, long[] rowCounts = null, PartialPlan plan = null)
        {
            CheckCounts(context, rowCounts);
            fixed (long* counts = rowCounts)
                context.Check(Native.lpt_sequence_gather(context, this, plan ?? PartialPlan.None, input, counts, output, null));
        }

        /// <summary>Sums the rows of all ranks, and returns this rank's rows of the sum. It is the backward of SequenceGather, and the
        /// reverse.</summary>
        public void SequenceScatter(Context context, PartialPass pass, Tensor input, Tensor output, long[] rowCounts = null,
                                    PartialPlan plan = null)
        {
            CheckCounts(context, rowCounts);
            fixed (long* counts = rowCounts)
            {
                context.Check(
                    Native.lpt_sequence_scatter(context, this, plan ?? PartialPlan.None, pass, input, counts, output, null));
            }
        }

        private void CheckCounts(Context context, long[] counts)
        {
            if (counts == null) return;
            var ranks = Values(context).RankCount;
            if (counts.Length != ranks)
            {
                throw new LptException(Status.InvalidArgument,
                                       string.Format("counts has {0} elements: expected one for each rank, {1}", counts.Length, ranks));
            }
        }
    }
}
