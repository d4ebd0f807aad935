"""
    PartialPlan(context; members...)

A plan, which states the columns of activations that ranks share. Keywords are members of lpt_partial_plan_options.
"""
mutable struct PartialPlan <: Handle
    raw::Ptr{Cvoid}
    function PartialPlan(context::Context; members...)
        out = Ref{Ptr{Cvoid}}(C_NULL)
        check(context, Lib.lpt_partial_plan_create(context, with(Lib.lpt_partial_plan_options; members...), out))
        own(new(out[]), :lpt_partial_plan_destroy)
    end
end

"Sum the shared columns over all ranks, and scale the private columns of this rank, in place. Columns of LPT are rows of Julia."
function partial_all_reduce!(context::Context, comm::Comm, plan::PartialPlan, pass, tensor::Tensor)
    check(context, Lib.lpt_partial_all_reduce(context, comm, plan, pass, tensor, tensor, C_NULL))
    tensor
end

"Gather the rows of all ranks before a column-parallel layer. Without `row_counts`, all ranks have the same number."
function sequence_gather!(context::Context, comm::Comm, output::Tensor, input::Tensor; row_counts = nothing, plan = nothing)
    counts = counts_of(context, comm, row_counts)
    check(context, Lib.lpt_sequence_gather(context, comm, optional(plan), input, counts, output, C_NULL))
    output
end

"Sum the rows of all ranks, and return this rank's rows of the sum; the backward of `sequence_gather!`, and the reverse."
function sequence_scatter!(context::Context, comm::Comm, pass, output::Tensor, input::Tensor; row_counts = nothing,
                           plan = nothing)
    counts = counts_of(context, comm, row_counts)
    check(context, Lib.lpt_sequence_scatter(context, comm, optional(plan), pass, input, counts, output, C_NULL))
    output
end
