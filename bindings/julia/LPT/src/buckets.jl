"""
Gradients in the order of forward, the same on all ranks, which are reduced in place while backward goes on: `begin!`, `ready!` as soon as
one is there, `wait`. They and the comm are kept; between `ready!` and `wait` they are the comm's. Keywords are members of lpt_gradient_buckets_options.
"""
mutable struct GradientBuckets <: Handle
    raw::Ptr{Cvoid}
    gradients::Vector{Tensor}
    comm::Comm
    function GradientBuckets(context::Context, comm::Comm, gradients::Vector{Tensor}; members...)
        out, raw = Ref{Ptr{Cvoid}}(C_NULL), [one.raw for one in gradients]
        options = with(Lib.lpt_gradient_buckets_options; members...)
        GC.@preserve gradients check(
            context, Lib.lpt_gradient_buckets_create(context, comm, raw, length(raw), options, out))
        own(new(out[], gradients, comm), :lpt_gradient_buckets_destroy)
    end
end

# A pass reads and writes gradients until it is waited for.
const _passes = IdDict{GradientBuckets,Nothing}()

"Begins a backward pass. `is_last`: gradients are reduced as they become ready, as the keywords configure, which are members of lpt_reduce_options."
function begin!(context::Context, buckets::GradientBuckets; is_last = true, members...)
    options = with(Lib.lpt_reduce_options; members...)
    check(context, Lib.lpt_gradient_buckets_begin(context, buckets, is_last, options))
    lock(() -> _passes[buckets] = nothing, _under_way_lock)
    nothing
end

"Says that a gradient is there; the first is 0, as in lpt.h."
ready!(context::Context, buckets::GradientBuckets, index) =
    check(context, Lib.lpt_gradient_buckets_ready(context, buckets, index))

"Ends a pass: all gradients are reduced then. One that was never made ready is named, and the pass goes on."
function Base.wait(context::Context, buckets::GradientBuckets)
    status = Lib.lpt_gradient_buckets_wait(context, buckets)
    status == Lib.LPT_INVALID_ARGUMENT || lock(() -> delete!(_passes, buckets), _under_way_lock)
    check(context, status)
end

"How buckets stand: an lpt_gradient_buckets_info."
function values_of(context::Context, buckets::GradientBuckets)
    values = with(Lib.lpt_gradient_buckets_info)
    check(context, Lib.lpt_gradient_buckets_read(context, buckets, values))
    values[]
end
