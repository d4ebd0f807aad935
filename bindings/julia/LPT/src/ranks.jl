"A group of ranks that are threads of one process."
mutable struct CommGroup <: Handle
    raw::Ptr{Cvoid}
    function CommGroup(rank_count)
        out = Ref{Ptr{Cvoid}}(C_NULL)
        status = Lib.lpt_comm_group_create(C_NULL, rank_count, out)
        status == Lib.LPT_OK || throw(LPTError(status, "rank_count is $rank_count: cannot create a group"))
        own(new(out[]), :lpt_comm_group_destroy)
    end
end

"One rank of a communicator. Keywords are members of lpt_comm_options."
mutable struct Comm <: Handle
    raw::Ptr{Cvoid}
    function Comm(context::Context, group::CommGroup, rank; members...)
        out = Ref{Ptr{Cvoid}}(C_NULL)
        check(context, Lib.lpt_comm_create_local(context, group, rank, with(Lib.lpt_comm_options; members...), out))
        own(new(out[]), :lpt_comm_destroy)
    end
end

"Wait until all ranks have called it."
barrier(context::Context, comm::Comm) = check(context, Lib.lpt_barrier(context, comm))

"Copy the tensor of the rank `root` to all ranks, in place; ranks start at 0."
broadcast!(context::Context, comm::Comm, root, tensor::Tensor) =
    (check(context, Lib.lpt_broadcast(context, comm, root, tensor, C_NULL)); tensor)

"Return rank, number of ranks, engine and counters of traffic, an lpt_comm_info."
function values_of(context::Context, comm::Comm)
    values = with(Lib.lpt_comm_info)
    check(context, Lib.lpt_comm_read(context, comm, values))
    values[]
end

"Return the array of counts for C, one for each rank, or NULL."
counts_of(::Context, ::Comm, ::Nothing) = C_NULL
function counts_of(context::Context, comm::Comm, counts)
    ranks = values_of(context, comm).rank_count
    length(counts) == ranks ||
        throw(LPTError(Lib.LPT_INVALID_ARGUMENT, "counts has $(length(counts)) elements: expected one for each rank, $ranks"))
    collect(Int64, counts)
end

"Reduce a tensor over all ranks, in place; `codec` encodes the messages. Keywords are members of lpt_reduce_options."
function all_reduce!(context::Context, comm::Comm, tensor::Tensor; codec = nothing, members...)
    with_codec(context, codec) do native
        options = with(Lib.lpt_reduce_options; codec = native, members...)
        Lib.lpt_all_reduce(context, comm, tensor, options, tensor, C_NULL)
    end
    tensor
end

"""
    all_gather!(context, comm, output, input; counts = nothing, codec = nothing)

Gather the slices of all ranks along the first axis of LPT, in rank order. Without `counts`, all slices are equal. With a codec,
each rank encodes its slice, and all ranks decode it.
"""
function all_gather!(context::Context, comm::Comm, output::Tensor, input::Tensor; counts = nothing, codec = nothing)
    extents = counts_of(context, comm, counts)
    with_codec(context, codec) do native
        options = with(Lib.lpt_all_gather_options; codec = native)
        Lib.lpt_all_gather(context, comm, input, extents, options, output, C_NULL)
    end
    output
end

"A collective in progress, which keeps its tensor alive. Call `wait` before it is destroyed."
mutable struct Future <: Handle
    raw::Ptr{Cvoid}
    tensor::Tensor
    Future(raw::Ptr{Cvoid}, tensor::Tensor) = own(new(raw, tensor), :lpt_future_destroy)
end

# Futures without a wait: the library may still write the memory of their tensors.
const _pending = IdDict{Future,Nothing}()
const _pending_lock = ReentrantLock()

"Start a reduction as all_reduce!, in the background, and return a Future."
function all_reduce_start!(context::Context, comm::Comm, tensor::Tensor; members...)
    out = Ref{Ptr{Cvoid}}(C_NULL)
    options = with(Lib.lpt_reduce_options; members...)
    check(context, Lib.lpt_all_reduce(context, comm, tensor, options, tensor, out))
    future = Future(out[], tensor)
    lock(() -> _pending[future] = nothing, _pending_lock)
    future
end

function Base.wait(context::Context, future::Future)
    status = Lib.lpt_future_wait(context, future)
    lock(() -> delete!(_pending, future), _pending_lock)
    check(context, status)
    future.tensor
end
