"""
    GradientBuckets(context, comm, gradients; members...)

Gradients that ranks reduce in place while backward continues.

Call `begin!`, then `ready!` for each gradient as soon as it is computed, then `wait`. `gradients` has the order of forward, the
same on all ranks. The object keeps the gradients and the comm alive. Do not access a gradient between `ready!` and `wait`.
Keywords are members of lpt_gradient_buckets_options.
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

# Buckets with a pass in progress, which reads and writes gradients until wait().
const _passes = IdDict{GradientBuckets,Nothing}()

"""
    begin!(context, buckets; is_last = true, members...)

Start a backward pass. With `is_last`, gradients are reduced as they become ready. Otherwise micro-batches accumulate, and
nothing is sent. Keywords are members of lpt_reduce_options.
"""
function begin!(context::Context, buckets::GradientBuckets; is_last = true, members...)
    options = with(Lib.lpt_reduce_options; members...)
    check(context, Lib.lpt_gradient_buckets_begin(context, buckets, is_last, options))
    lock(() -> _passes[buckets] = nothing, _pending_lock)
    nothing
end

"Mark a gradient as ready, and start the reduction of its bucket if it is complete; indices start at 0, as in lpt.h."
ready!(context::Context, buckets::GradientBuckets, index) =
    check(context, Lib.lpt_gradient_buckets_ready(context, buckets, index))

"Wait until all gradients are reduced, and end the pass. An error names gradients that are not ready; the pass then continues."
function Base.wait(context::Context, buckets::GradientBuckets)
    status = Lib.lpt_gradient_buckets_wait(context, buckets)
    status == Lib.LPT_INVALID_ARGUMENT || lock(() -> delete!(_passes, buckets), _pending_lock)
    check(context, status)
end

"Return the state of buckets, an lpt_gradient_buckets_info."
function values_of(context::Context, buckets::GradientBuckets)
    values = with(Lib.lpt_gradient_buckets_info)
    check(context, Lib.lpt_gradient_buckets_read(context, buckets, values))
    values[]
end
