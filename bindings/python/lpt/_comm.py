"""Communicators of local threads, MPI processes, NCCL ranks or a transport of the caller, and their collectives."""
from __future__ import annotations

__all__ = ["Comm", "Future", "GradientBuckets", "Group", "PartialPlan"]

from . import capi
from ._codec import Codec, call
from ._context import Context, flag, handle_of, values_of
from ._errors import Busy
from ._options import options, takes
from ._tensor import Tensor, empty, format_number, read, written
from ._transport import TransportCalls

TYPE_CHECKING = False  # importing typing takes longer than the rest of this module
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Sequence, Tuple
    from typing_extensions import Unpack
    from ._keywords import CommOptions, GemmOptions, GradientBucketsOptions, PartialPlanOptions, QuantizeOptions, ReduceOptions
    from ._tensor import Format


class Group:
    """A group of ranks that are threads of one process (lpt_comm_group). Each thread calls Comm.local(group, rank)."""

    __slots__ = ("_handle",)

    def __init__(self, rank_count: int) -> None:
        self._handle = capi.lpt_comm_group_create(handle_of(None), rank_count)

    def abort(self) -> None:
        """Abort the current and all later collectives of the group, on all ranks."""
        capi.lpt_comm_group_abort(self._handle)


class Future:
    """A collective in progress (lpt_future). It keeps the tensors of the collective alive until completion."""

    __slots__ = ("_handle", "_result", "_keep")

    def __init__(self, handle: Any, result: Any, keep: Any) -> None:
        self._handle, self._result, self._keep = handle, result, keep
        _pending[:] = [future for future in _pending if not _is_done(future[0])]

    def wait(self, *, context: Optional[Context] = None) -> Any:
        """Wait for completion and return the result of the collective."""
        call(self._keep or (), capi.lpt_future_wait, handle_of(context), self._handle)
        self._keep = None
        return self._result

    def done(self) -> bool:
        """Return whether the collective is complete, so that wait() does not block."""
        return bool(capi.lpt_future_is_done(handle_of(None), self._handle))

    def __del__(self) -> None:
        # The collective may still access the tensors, and a finalizer must not block.
        if self._keep is not None and not _is_done(self._handle):
            _pending.append((self._handle, self._result, self._keep))


_pending: List[Any] = []  # collectives in progress without a Future: their tensors stay alive


def _is_done(handle: Any) -> bool:
    try:
        return bool(capi.lpt_future_is_done(handle_of(None), handle))
    except Busy:  # the garbage collector may run inside a callback
        return False


class PartialPlan:
    """Tensor parallelism with partially shared activations (lpt_partial_plan).

    The plan states which columns of activations all ranks share.
    """

    __slots__ = ("_handle",)

    @takes(capi.lpt_partial_plan_options)
    def __init__(self, hidden_columns: int, shared: Any, rank_count: int, **given: Unpack[PartialPlanOptions]) -> None:
        """Create a plan for activations of hidden_columns columns.

        shared: the number of shared columns (int), or their fraction of all columns (float), which is rounded down.
        """
        keep: List[Any] = []
        if isinstance(shared, float):
            shared = capi.lpt_partial_shared_columns(handle_of(None), hidden_columns, shared)
        chosen = dict(given, hidden_columns=hidden_columns, shared_columns=shared, rank_count=rank_count)
        self._handle = capi.lpt_partial_plan_create(handle_of(None), options(capi.lpt_partial_plan_options, chosen, keep))

    def values(self, format: Format = "f32") -> Dict[str, Any]:
        """Return the properties of the plan for tensors in a format, the members of lpt_partial_plan_info."""
        values = capi.lpt_partial_plan_info()
        capi.lpt_partial_plan_read(handle_of(None), self._handle, format_number(format), values)
        return values_of(values)

    def scale_weight(self, weight: Any) -> None:
        """Multiply the private rows of an initial weight by the scale of the plan, in place."""
        capi.lpt_partial_scale_weight(handle_of(None), self._handle, written(weight))


class Comm:
    """One rank of a communicator (lpt_comm).

    One thread uses a Comm. All ranks call the same collectives in the same order. With future=True, a collective returns a
    Future at once and runs in the background.
    """

    __slots__ = ("_handle", "_kept", "rank", "rank_count")

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._kept: List[Any] = []  # objects that reductions of deleted buckets still use
        values = self.values
        self.rank: int = values["rank"]
        self.rank_count: int = values["rank_count"]

    @classmethod
    @takes(capi.lpt_comm_options)
    def local(cls, group: Group, rank: int, *, context: Optional[Context] = None, **given: Unpack[CommOptions]) -> "Comm":
        """Create a rank of a local group (lpt_comm_create_local()).

        emulation: a dict of link_latency_seconds, link_bytes_per_second and damaged_message (lpt_comm_emulation).
        The call returns after all ranks of the group have made it.
        """
        keep: List[Any] = []
        return cls(capi.lpt_comm_create_local(handle_of(context), group._handle, rank,
                                              options(capi.lpt_comm_options, given, keep)))

    @classmethod
    @takes(capi.lpt_comm_options)
    def mpi(cls, fortran_handle: Optional[int] = None, *, context: Optional[Context] = None,
            **given: Unpack[CommOptions]) -> "Comm":
        """Create a rank of an MPI job (lpt_comm_create_mpi()), or adopt an MPI communicator (lpt_comm_adopt_mpi()).

        fortran_handle: the Fortran handle of the communicator, such as comm.py2f() of mpi4py; None for all processes of the
        job.
        """
        keep: List[Any] = []
        settings = options(capi.lpt_comm_options, given, keep)
        if fortran_handle is None:
            return cls(capi.lpt_comm_create_mpi(handle_of(context), settings))
        return cls(capi.lpt_comm_adopt_mpi(handle_of(context), fortran_handle, settings))

    @classmethod
    @takes(capi.lpt_comm_options)
    def nccl(cls, bootstrap: Optional["Comm"] = None, nccl_comm: Optional[int] = None, *,
             context: Optional[Context] = None, **given: Unpack[CommOptions]) -> "Comm":
        """Create a rank with one GPU (lpt_comm_create_nccl()), or adopt an ncclComm_t (lpt_comm_adopt_nccl()).

        bootstrap: a Comm of the same ranks on CPUs. nccl_comm: the address of an ncclComm_t. One of them or both are given.
        """
        keep: List[Any] = []
        chosen = dict(given) if bootstrap is None else dict(given, bootstrap=bootstrap)
        settings = options(capi.lpt_comm_options, chosen, keep)
        if nccl_comm is None:
            return cls(capi.lpt_comm_create_nccl(handle_of(context), settings))
        return cls(capi.lpt_comm_adopt_nccl(handle_of(context), nccl_comm, settings))

    @classmethod
    @takes(capi.lpt_comm_options)
    def custom(cls, transport: Any, rank: int, rank_count: int, *, context: Optional[Context] = None,
               **given: Unpack[CommOptions]) -> "Comm":
        """Create a rank over a transport of the caller, such as torch.distributed (lpt_comm_create_custom()).

        transport is an object with these methods:

        send(peer, tag, data), receive(peer, tag, data): start a message of all bytes of data, a memoryview. They return a
        request, or None if the message is complete. data is valid until the request is complete. Messages from one rank to
        another with one tag arrive in the order of their sends.
        test(request): return whether the request is complete, and make progress with all requests.
        cancel(request): end a request that is not complete.

        exchange(outgoing, incoming, timeout_seconds): exchange the bytes of all ranks, with one memoryview for each. A
        transport may have it beside the other methods, or alone; a comm of exchange() alone has no splits.

        Optional methods: all_reduce(source, target, format, reduction, timeout_seconds), where format is "f64", "f32", "bf16" or "f16" and
        reduction is "sum", "average", "maximum" or "minimum"; abort(); close(). An attribute name is the engine of values.

        One method runs at a time, except abort(). A method must not wait for other ranks, except exchange() and all_reduce().
        It must not call a collective. If a method raises, the collective raises lpt.Aborted with the text of the exception;
        after TimeoutError it raises lpt.Timeout.
        """
        keep: List[Any] = []
        return cls(capi.lpt_comm_create_custom(handle_of(context), TransportCalls(transport, rank_count), rank, rank_count,
                                               options(capi.lpt_comm_options, given, keep)))

    @property
    def values(self) -> Dict[str, Any]:
        """Properties and counters: rank, rank_count, engine, collectives, bytes_sent, bytes_received, seconds."""
        values = capi.lpt_comm_info()
        capi.lpt_comm_read(handle_of(None), self._handle, values)
        return values_of(values)

    def close(self) -> None:
        """Destroy this rank's communicator; ranks that wait for this rank return an error."""
        capi.lpt_comm_destroy(self._handle)

    def __enter__(self) -> "Comm":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def split(self, color: int, key: int = 0, *, context: Optional[Context] = None) -> Optional["Comm"]:
        """Return a communicator of the ranks that pass the same color, or None if color is -1.

        key determines the order of ranks in the new communicator.
        """
        handle = capi.lpt_comm_split(handle_of(context), self._handle, color, key)
        return None if handle is None else Comm(handle)

    def barrier(self, *, context: Optional[Context] = None) -> None:
        """Wait until all ranks have called barrier()."""
        capi.lpt_barrier(handle_of(context), self._handle)

    @takes(capi.lpt_reduce_options)
    def all_reduce(self, x: Any, *, out: Any = None, future: bool = False, context: Optional[Context] = None,
                   **given: Unpack[ReduceOptions]) -> Any:
        """Reduce a tensor over all ranks (lpt_all_reduce()); every rank returns the same result.

        out: the output, which may be x; by default a new tensor.
        """
        source = read(x)
        keep: List[Any] = [source]
        result = capi.tensor_like(handle_of(context), source, capi.tensor_format(source), 0) if out is None else written(out)
        made = call(keep, capi.lpt_all_reduce, handle_of(context), self._handle, source,
                    options(capi.lpt_reduce_options, given, keep), result, future)
        return Future(made, result, keep) if future else result

    @takes(capi.lpt_reduce_options)
    def all_reduce_many(self, tensors: Sequence[Any], *, future: bool = False, context: Optional[Context] = None,
                        **given: Unpack[ReduceOptions]) -> Any:
        """Reduce many tensors in place by one message (lpt_all_reduce_many())."""
        keep: List[Any] = []
        results = [written(tensor) for tensor in tensors]
        made = call(keep, capi.lpt_all_reduce_many, handle_of(context), self._handle, results,
                    options(capi.lpt_reduce_options, given, keep), future)
        return Future(made, results, keep) if future else results

    @takes(capi.lpt_reduce_options)
    def reduce_scatter(self, x: Any, *, counts: Optional[Sequence[int]] = None, out: Any = None, future: bool = False,
                       context: Optional[Context] = None, **given: Unpack[ReduceOptions]) -> Any:
        """Reduce a tensor over all ranks, and return this rank's slice along the first axis (lpt_reduce_scatter()).

        counts: rows of each rank's slice; by default all ranks have the same number.
        """
        source = read(x)
        keep: List[Any] = [source]
        counts = self._counts(counts, "counts")
        result = self._part(source, counts, context) if out is None else written(out)
        made = call(keep, capi.lpt_reduce_scatter, handle_of(context), self._handle, source, counts,
                    options(capi.lpt_reduce_options, given, keep), result, future)
        return Future(made, result, keep) if future else result

    def all_gather(self, x: Any, *, counts: Optional[Sequence[int]] = None, codec: Optional[Codec] = None,
                   format: Optional[Format] = None, cast: Optional[QuantizeOptions] = None, out: Any = None,
                   future: bool = False, context: Optional[Context] = None) -> Any:
        """Gather the slices of all ranks along the first axis, in rank order (lpt_all_gather()).

        counts: rows of each rank's slice; by default all ranks have the same number. With a codec, each rank encodes its
        slice once, and every rank decodes all slices. With a format, or with cast, a dict of options of quantize(), each rank
        casts its slice, and the result has the bits of quantize() of the full tensor.
        """
        source = read(x)
        keep: List[Any] = [source]
        counts = self._counts(counts, "counts")
        result = self._whole(source, counts, context, format) if out is None else written(out)
        given: Dict[str, Any] = {} if codec is None else {"codec": codec}
        if format is not None or cast is not None:
            plain = {"rounding": capi.LPT_ROUNDING_NEAREST_EVEN}  # a struct, even without options
            given["cast"] = {**plain, **cast} if isinstance(cast, dict) else plain if cast is None else cast
        made = call(keep, capi.lpt_all_gather, handle_of(context), self._handle, source, counts,
                    options(capi.lpt_all_gather_options, given, keep), result, future)
        return Future(made, result, keep) if future else result

    def all_reduce_signs(self, x: Any, worker_error: Any, server_error: Any, *, out: Any = None, future: bool = False,
                         context: Optional[Context] = None) -> Any:
        """Average a tensor over all ranks by its signs, one bit per element (lpt_all_reduce_signs()).

        worker_error and server_error hold the quantization error for the next call (error feedback). signs_errors() creates
        them.
        """
        source, errors = read(x), (written(worker_error), written(server_error))
        result = capi.tensor_like(handle_of(context), source, capi.tensor_format(source), 0) if out is None else written(out)
        made = capi.lpt_all_reduce_signs(handle_of(context), self._handle, source, *errors, result, future)
        return Future(made, result, (source, *errors)) if future else result

    def signs_errors(self, element_count: int) -> Tuple[Tensor, Tensor]:
        """Return worker_error and server_error of zeros, for all_reduce_signs() of a tensor of element_count elements."""
        count = capi.lpt_all_reduce_signs_share(handle_of(None), self._handle, element_count)
        return empty(element_count), empty(count)

    def broadcast(self, x: Any, root: int = 0, *, future: bool = False, context: Optional[Context] = None) -> Any:
        """Copy the tensor of the rank root to all ranks, in place (lpt_broadcast())."""
        tensor = written(x)
        made = capi.lpt_broadcast(handle_of(context), self._handle, root, tensor, future)
        return Future(made, tensor, (tensor,)) if future else tensor

    def all_to_all(self, x: Any, *, send_counts: Optional[Sequence[int]] = None,
                   receive_counts: Optional[Sequence[int]] = None, out: Any = None, future: bool = False,
                   context: Optional[Context] = None) -> Any:
        """Send a slice along the first axis to each rank, and return the received slices in rank order (lpt_all_to_all()).

        send_counts and receive_counts: rows of the slice for and from each rank; by default all are equal.
        """
        source = read(x)
        sent = self._counts(send_counts, "send_counts")
        received = self._counts(receive_counts, "receive_counts")
        if out is None:
            shape = source.shape
            rows = sum(received) if received is not None else shape[0]
            out = empty((rows,) + shape[1:], capi.tensor_format(source), context=context)
        result = written(out)
        made = capi.lpt_all_to_all(handle_of(context), self._handle, source, sent, received, result, future)
        return Future(made, result, (source,)) if future else result

    def send(self, x: Any, peer: int, tag: int = 0, *, future: bool = False, context: Optional[Context] = None) -> Any:
        """Send a tensor to the rank peer (lpt_send())."""
        tensor = read(x)
        made = capi.lpt_send(handle_of(context), self._handle, tensor, peer, tag, future)
        return Future(made, None, (tensor,)) if future else None

    def receive(self, out: Any, peer: int, tag: int = 0, *, future: bool = False,
                context: Optional[Context] = None) -> Any:
        """Receive a tensor from the rank peer into out, which has the format and shape of the sent tensor (lpt_receive())."""
        tensor = written(out)
        made = capi.lpt_receive(handle_of(context), self._handle, tensor, peer, tag, future)
        return Future(made, tensor, (tensor,)) if future else tensor

    def is_same(self, x: Any, *, context: Optional[Context] = None) -> bool:
        """Return whether a tensor has the same bits on all ranks (lpt_comm_compare())."""
        return bool(capi.lpt_comm_compare(handle_of(context), self._handle, read(x)))

    def partial_all_reduce(self, plan: "PartialPlan", x: Any, *, backward: bool = False, out: Any = None,
                           future: bool = False, context: Optional[Context] = None) -> Any:
        """Sum the shared columns over all ranks, and scale the private columns of this rank (lpt_partial_all_reduce())."""
        source = read(x)
        result = capi.tensor_like(handle_of(context), source, capi.tensor_format(source), 0) if out is None else written(out)
        made = capi.lpt_partial_all_reduce(handle_of(context), self._handle, plan._handle, int(flag(backward, "backward")),
                                           source, result, future)
        return Future(made, result, (source, plan)) if future else result

    @takes(capi.lpt_gemm_options)
    def partial_gemm(self, plan: "PartialPlan", a: Any, b: Any, *, out: Any = None, format: Format = "f32",
                     context: Optional[Context] = None, **given: Unpack[GemmOptions]) -> Tensor:
        """Multiply by this rank's slice of a row-parallel weight, then sum as partial_all_reduce() (lpt_partial_gemm()).

        The rank computes its private columns while the sums of shared columns are in transfer.
        """
        keep: List[Any] = []
        left, right = read(a), read(b)
        if out is None:
            out = empty(left.shape[:-1] + (right.shape[-2 if given.get("b_transposed") else -1],), format, context=context)
        result = written(out)
        capi.lpt_partial_gemm(handle_of(context), self._handle, plan._handle, left, right,
                              options(capi.lpt_gemm_options, given, keep), result)
        return result

    def sequence_gather(self, x: Any, *, plan: Optional[PartialPlan] = None, row_counts: Optional[Sequence[int]] = None,
                        out: Any = None, future: bool = False, context: Optional[Context] = None) -> Any:
        """Gather the rows of all ranks before a column-parallel layer (lpt_sequence_gather()).

        Its backward is sequence_scatter(). plan: the plan of the adjacent layers, which shares all columns. row_counts: rows
        of each rank; by default all are equal.
        """
        source = read(x)
        counts = self._counts(row_counts, "row_counts")
        result = self._whole(source, counts, context) if out is None else written(out)
        made = capi.lpt_sequence_gather(handle_of(context), self._handle, plan and plan._handle, source, counts, result, future)
        return Future(made, result, (source, plan)) if future else result

    def sequence_scatter(self, x: Any, *, plan: Optional[PartialPlan] = None, backward: bool = False,
                         row_counts: Optional[Sequence[int]] = None, out: Any = None, future: bool = False,
                         context: Optional[Context] = None) -> Any:
        """Sum the rows of all ranks after a row-parallel layer, and return this rank's rows (lpt_sequence_scatter()).

        Its backward is sequence_gather(). backward: use the wire format that the plan has for gradients. row_counts: rows of
        each rank; by default all are equal.
        """
        source = read(x)
        counts = self._counts(row_counts, "row_counts")
        result = self._part(source, counts, context) if out is None else written(out)
        made = capi.lpt_sequence_scatter(handle_of(context), self._handle, plan and plan._handle,
                                         int(flag(backward, "backward")), source, counts, result, future)
        return Future(made, result, (source, plan)) if future else result

    def _part(self, whole: Tensor, counts: Optional[Sequence[int]], context: Optional[Context]) -> Tensor:
        """Return a new tensor for the rows of this rank."""
        shape = whole.shape
        rows = counts[self.rank] if counts is not None else shape[0] // self.rank_count
        return empty((rows,) + shape[1:], capi.tensor_format(whole), context=context)

    def _whole(self, part: Tensor, counts: Optional[Sequence[int]], context: Optional[Context],
               format: Optional[Format] = None) -> Tensor:
        """Return a new tensor for the rows of all ranks."""
        shape = part.shape
        rows = sum(counts) if counts is not None else shape[0] * self.rank_count
        return empty((rows,) + shape[1:], capi.tensor_format(part) if format is None else format, context=context)

    def _counts(self, counts: Optional[Sequence[int]], name: str) -> Optional[List[int]]:
        if counts is None:
            return None
        if len(counts) != self.rank_count:
            raise ValueError(f"{name} has {len(counts)} numbers: expected {self.rank_count}, one for each rank")
        return list(counts)


class GradientBuckets:
    """Gradients that ranks reduce in place while backward continues (lpt_gradient_buckets).

    Call begin(), then ready(index) for each gradient as soon as it is computed, then wait().

    gradients: the gradients in the order of forward; the object keeps them alive.
    """

    __slots__ = ("_handle", "_gradients", "_comm", "_keep", "_pass")

    @takes(capi.lpt_gradient_buckets_options)
    def __init__(self, comm: Comm, gradients: Sequence[Any], *, context: Optional[Context] = None,
                 **given: Unpack[GradientBucketsOptions]) -> None:
        """Create the buckets of a comm."""
        self._keep: List[Any] = []
        self._pass: List[Any] = []  # objects that the current pass uses
        self._comm = comm
        self._gradients = [written(gradient) for gradient in gradients]
        self._handle = capi.lpt_gradient_buckets_create(handle_of(context), comm._handle, self._gradients,
                                                        options(capi.lpt_gradient_buckets_options, given, self._keep))

    @takes(capi.lpt_reduce_options)
    def begin(self, last: bool = True, *, context: Optional[Context] = None, **given: Unpack[ReduceOptions]) -> None:
        """Start a backward pass.

        last: whether this is the last micro-batch of the step. Earlier micro-batches only accumulate; nothing is sent.
        """
        self._pass = []
        call(self._pass, capi.lpt_gradient_buckets_begin, handle_of(context), self._handle, int(flag(last, "last")),
             options(capi.lpt_reduce_options, given, self._pass))

    def ready(self, index: int, *, context: Optional[Context] = None) -> None:
        """Mark a gradient as computed, and start the reduction of its bucket if the bucket is complete."""
        call(self._pass, capi.lpt_gradient_buckets_ready, handle_of(context), self._handle, index)

    def wait(self, *, context: Optional[Context] = None) -> None:
        """Wait until all gradients are reduced, and end the pass.

        Raises InvalidArgument, which names the gradients, if ready() was not called for some of them.
        """
        call(self._pass, capi.lpt_gradient_buckets_wait, handle_of(context), self._handle)
        self._pass = []

    def __del__(self) -> None:
        # Reductions in flight continue and may still call a codec.
        if self._pass:
            self._comm._kept.append(self._pass)

    @property
    def values(self) -> Dict[str, Any]:
        """State of the buckets: bucket_count, ready_count, launched_count, wait_seconds, is_recorded."""
        values = capi.lpt_gradient_buckets_info()
        capi.lpt_gradient_buckets_read(handle_of(None), self._handle, values)
        return values_of(values)
