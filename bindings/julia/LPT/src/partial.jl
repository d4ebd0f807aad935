"Which columns of activations ranks share; keywords are members of lpt_partial_plan_options."
mutable struct PartialPlan <: Handle
    raw::Ptr{Cvoid}
    function PartialPlan(context::Context; members...)
        out = Ref{Ptr{Cvoid}}(C_NULL)
        check(context, Lib.lpt_partial_plan_create(context, with(Lib.lpt_partial_plan_options; members...), out))
        own(new(out[]), :lpt_partial_plan_destroy)
    end
end

"Adds up the shared columns of all ranks, and scales this rank's private ones, in place. LPT's columns run down Julia's."
function partial_all_reduce!(context::Context, comm::Comm, plan::PartialPlan, pass, tensor::Tensor)
    check(context, Lib.lpt_partial_all_reduce(context, comm, plan, pass, tensor, tensor, C_NULL))
    tensor
end

"Gathers the rows of all ranks before a column-parallel layer; `row_counts` nothing: equal numbers."
function sequence_gather!(context::Context, comm::Comm, output::Tensor, input::Tensor; row_counts = nothing, plan = nothing)
    counts = counts_of(context, comm, row_counts)
    check(context, Lib.lpt_sequence_gather(context, comm, optional(plan), input, counts, output, C_NULL))
    output
end

"Adds up what ranks have of all rows, and gives each its own: the backward of a gather, and that is its backward."
function sequence_scatter!(context::Context, comm::Comm, pass, output::Tensor, input::Tensor; row_counts = nothing,
                           plan = nothing)
    counts = counts_of(context, comm, row_counts)
    check(context, Lib.lpt_sequence_scatter(context, comm, optional(plan), pass, input, counts, output, C_NULL))
    output
end
