"A group of ranks that are threads of one process."
mutable struct CommGroup <: Handle
    raw::Ptr{Cvoid}
    function CommGroup(rank_count)
        out = Ref{Ptr{Cvoid}}(C_NULL)
        status = Lib.lpt_comm_group_create(C_NULL, rank_count, out)
        status == Lib.LPT_OK || throw(LPTError(status, "rank_count is $rank_count: no group could be made"))
        own(new(out[]), :lpt_comm_group_destroy)
    end
end

"One rank's end of a communicator."
mutable struct Comm <: Handle
    raw::Ptr{Cvoid}
    function Comm(context::Context, group::CommGroup, rank; members...)
        out = Ref{Ptr{Cvoid}}(C_NULL)
        check(context, Lib.lpt_comm_create_local(context, group, rank, with(Lib.lpt_comm_options; members...), out))
        own(new(out[]), :lpt_comm_destroy)
    end
end

"Waits for all ranks."
barrier(context::Context, comm::Comm) = check(context, Lib.lpt_barrier(context, comm))

"Every rank's tensor becomes the root's; ranks count from 0."
broadcast!(context::Context, comm::Comm, root, tensor::Tensor) =
    (check(context, Lib.lpt_broadcast(context, comm, root, tensor, C_NULL)); tensor)

"Rank, ranks, engine and what was sent: an lpt_comm_info."
function values_of(context::Context, comm::Comm)
    values = with(Lib.lpt_comm_info)
    check(context, Lib.lpt_comm_read(context, comm, values))
    values[]
end

"C's array of a number for each rank, or NULL."
counts_of(::Context, ::Comm, ::Nothing) = C_NULL
function counts_of(context::Context, comm::Comm, counts)
    ranks = values_of(context, comm).rank_count
    length(counts) == ranks ||
        throw(LPTError(Lib.LPT_INVALID_ARGUMENT, "counts are $(length(counts)): expected one for each rank, $ranks"))
    collect(Int64, counts)
end

"Reduces a tensor of every rank in place; with a Codec numbers travel by it."
function all_reduce!(context::Context, comm::Comm, tensor::Tensor; codec = nothing, members...)
    with_codec(context, codec) do native
        options = with(Lib.lpt_reduce_options; codec = native, members...)
        Lib.lpt_all_reduce(context, comm, tensor, options, tensor, C_NULL)
    end
    tensor
end

"Gives all ranks the parts of every rank along the first axis, LPT's; with a Codec each part travels by it."
function all_gather!(context::Context, comm::Comm, output::Tensor, input::Tensor; counts = nothing, codec = nothing)
    extents = counts_of(context, comm, counts)
    with_codec(context, codec) do native
        options = with(Lib.lpt_all_gather_options; codec = native)
        Lib.lpt_all_gather(context, comm, input, extents, options, output, C_NULL)
    end
    output
end

"A collective that is under way. It has to be waited for; until then it keeps its tensor."
mutable struct Future <: Handle
    raw::Ptr{Cvoid}
    tensor::Tensor
    Future(raw::Ptr{Cvoid}, tensor::Tensor) = own(new(raw, tensor), :lpt_future_destroy)
end

# Tensors of futures that nobody has waited for yet: the library may still write their memory.
const _under_way = IdDict{Future,Nothing}()
const _under_way_lock = ReentrantLock()

"The same as all_reduce! behind the caller's back."
function all_reduce_start!(context::Context, comm::Comm, tensor::Tensor; members...)
    out = Ref{Ptr{Cvoid}}(C_NULL)
    options = with(Lib.lpt_reduce_options; members...)
    check(context, Lib.lpt_all_reduce(context, comm, tensor, options, tensor, out))
    future = Future(out[], tensor)
    lock(() -> _under_way[future] = nothing, _under_way_lock)
    future
end

function Base.wait(context::Context, future::Future)
    status = Lib.lpt_future_wait(context, future)
    lock(() -> delete!(_under_way, future), _under_way_lock)
    check(context, status)
    future.tensor
end
