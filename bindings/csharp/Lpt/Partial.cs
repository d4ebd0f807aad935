using System;

namespace Lpt
{
    public sealed unsafe partial class PartialPlan
    {
        /// <summary>Which columns of activations ranks share.</summary>
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
        /// <summary>Adds up the shared columns of all ranks, and scales this rank's private ones; `output` may be the input.</summary>
        public void PartialAllReduce(Context context, PartialPlan plan, PartialPass pass, Tensor input, Tensor output)
        {
            context.Check(Native.lpt_partial_all_reduce(context, this, plan, pass, input, output, null));
        }

        /// <summary>Gathers the rows of all ranks before a column-parallel layer; `rowCounts` null: equal numbers.</summary>
        public void SequenceGather(Context context, Tensor input, Tensor output, long[] rowCounts = null, PartialPlan plan = null)
        {
            CheckCounts(context, rowCounts);
            fixed (long* counts = rowCounts)
                context.Check(Native.lpt_sequence_gather(context, this, plan ?? PartialPlan.None, input, counts, output, null));
        }

        /// <summary>Adds up what ranks have of all rows, and gives each its own: the backward of a gather, and that is its backward.</summary>
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
                                       string.Format("counts are {0}: expected one for each rank, {1}", counts.Length, ranks));
            }
        }
    }
}
