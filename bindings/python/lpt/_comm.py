"""Ranks: communicators of threads or of MPI processes, and their collectives."""
from __future__ import annotations

__all__ = ["Comm", "Future", "GradientBuckets", "Group", "PartialPlan"]

from . import capi
from ._codec import Codec, call
from ._context import Context, handle_of, values_of
from ._errors import Busy
from ._options import codec_struct, options
from ._tensor import Tensor, empty, format_number, read, written

TYPE_CHECKING = False  # importing typing would take longer than all else here
if TYPE_CHECKING:
    from typing import Any, List, Optional, Sequence, Tuple
    from ._tensor import Format


class Group:
    """A group of ranks that are threads of this process: Comm.local(group, rank) in each."""

    __slots__ = ("_handle",)

    def __init__(self, rank_count: int) -> None:
        self._handle = capi.lpt_comm_group_create(handle_of(None), rank_count)

    def abort(self) -> None:
        """Ends all waiting of all ranks, now and later."""
        capi.lpt_comm_group_abort(self._handle)


class Future:
    """A collective that is under way; wait() gives its result. Its tensors are kept until then."""

    __slots__ = ("_handle", "_result", "_keep")

    def __init__(self, handle: Any, result: Any, keep: Any) -> None:
        self._handle, self._result, self._keep = handle, result, keep
        _under_way[:] = [future for future in _under_way if not _is_done(future[0])]

    def wait(self, *, context: Optional[Context] = None) -> Any:
        """Waits, and gives the result."""
        call(self._keep or (), capi.lpt_future_wait, handle_of(context), self._handle)
        self._keep = None
        return self._result

    def done(self) -> bool:
        """Whether wait() would return at once."""
        return bool(capi.lpt_future_is_done(handle_of(None), self._handle))

    def __del__(self) -> None:
        # Memory that travels must not be freed under way, and a collector must not wait.
        if self._keep is not None and not _is_done(self._handle):
            _under_way.append((self._handle, self._result, self._keep))


_under_way: list = []


def _is_done(handle: Any) -> bool:
    try:
        return bool(capi.lpt_future_is_done(handle_of(None), handle))
    except Busy:  # a collector runs inside a callback too
        return False


class PartialPlan:
    """Which columns of activations tensor-parallel ranks share. Options: private_scale ("root", "one", "custom"),
    custom_scale, forward_wire, backward_wire (formats in which sums travel)."""

    __slots__ = ("_handle",)

    def __init__(self, hidden_columns: int, shared: Any, rank_count: int, **given: Any) -> None:
        """shared: a number of columns, or a fraction of them as a float."""
        keep: list = []
        if isinstance(shared, float):
            shared = capi.lpt_partial_shared_columns(handle_of(None), hidden_columns, shared)
        given = dict(given, hidden_columns=hidden_columns, shared_columns=shared, rank_count=rank_count)
        self._handle = capi.lpt_partial_plan_create(handle_of(None), options(capi.lpt_partial_plan_options, given, keep))

    def values(self, format: Format = "f32") -> dict:
        """shared_columns, private_scale, bytes for each row, and the rest of what the plan says of tensors in a format."""
        values = capi.lpt_partial_plan_info()
        capi.lpt_partial_plan_read(handle_of(None), self._handle, format_number(format), values)
        return values_of(values)

    def scale_weight(self, weight: Any) -> None:
        """Multiplies the private rows of a weight's first values by the scale, in place."""
        capi.lpt_partial_scale_weight(handle_of(None), self._handle, written(weight))


class Comm:
    """One rank's end of a communicator; belongs to one thread. With future=True a collective runs behind the caller's back and
    gives a Future. Collectives are called by all ranks in the same order."""

    __slots__ = ("_handle", "_kept", "rank", "rank_count")

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._kept: list = []  # what reductions use whose buckets were let go of
        values = self.values
        self.rank, self.rank_count = values["rank"], values["rank_count"]

    @classmethod
    def local(cls, group: Group, rank: int, *, context: Optional[Context] = None, **given: Any) -> "Comm":
        """Takes a rank's place in a group; returns when all have come. Options: timeout_seconds, flags."""
        keep: list = []
        return cls(capi.lpt_comm_create_local(handle_of(context), group._handle, rank,
                                              options(capi.lpt_comm_options, given, keep)))

    @classmethod
    def mpi(cls, fortran_handle: Optional[int] = None, *, context: Optional[Context] = None, **given: Any) -> "Comm":
        """Takes this process's place in an MPI job: all of it, or the communicator that MPI calls by a number
        (mpi4py's comm.py2f())."""
        keep: list = []
        settings = options(capi.lpt_comm_options, given, keep)
        if fortran_handle is None:
            return cls(capi.lpt_comm_create_mpi(handle_of(context), settings))
        return cls(capi.lpt_comm_adopt_mpi(handle_of(context), fortran_handle, settings))

    @classmethod
    def nccl(cls, bootstrap: Optional["Comm"] = None, nccl_comm: Optional[int] = None, *,
             context: Optional[Context] = None, **given: Any) -> "Comm":
        """Ranks with a GPU each, from a comm of the same ranks on CPUs, or from the address of an ncclComm_t, or both. Options:
        timeout_seconds, flags."""
        keep: list = []
        if bootstrap is not None:
            given["bootstrap"] = bootstrap
        settings = options(capi.lpt_comm_options, given, keep)
        if nccl_comm is None:
            return cls(capi.lpt_comm_create_nccl(handle_of(context), settings))
        return cls(capi.lpt_comm_adopt_nccl(handle_of(context), nccl_comm, settings))

    @property
    def values(self) -> dict:
        """rank, rank_count, engine, collectives, bytes_sent, bytes_received, seconds."""
        values = capi.lpt_comm_info()
        capi.lpt_comm_read(handle_of(None), self._handle, values)
        return values_of(values)

    def close(self) -> None:
        """Leaves; ranks that wait for this one are freed."""
        capi.lpt_comm_destroy(self._handle)

    def __enter__(self) -> "Comm":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def split(self, color: int, key: int = 0, *, context: Optional[Context] = None) -> Optional["Comm"]:
        """A communicator of the ranks that give the same color; None for color -1."""
        handle = capi.lpt_comm_split(handle_of(context), self._handle, color, key)
        return None if handle is None else Comm(handle)

    def barrier(self, *, context: Optional[Context] = None) -> None:
        """Returns when all ranks have come."""
        capi.lpt_barrier(handle_of(context), self._handle)

    def all_reduce(self, x: Any, *, out: Any = None, future: bool = False, context: Optional[Context] = None,
                   **given: Any) -> Any:
        """Reduces a tensor of every rank. Options: reduction ("sum", "average", "maximum", "minimum"), factor, wire (a format
        in which numbers travel), algorithm, rounding, random, codec (an lpt.Codec)."""
        source = read(x)
        keep: list = [source]
        result = capi.tensor_like(handle_of(context), source, capi.tensor_format(source), 0) if out is None else written(out)
        made = call(keep, capi.lpt_all_reduce, handle_of(context), self._handle, source,
                    options(capi.lpt_reduce_options, given, keep), result, future)
        return Future(made, result, keep) if future else result

    def all_reduce_many(self, tensors: Sequence[Any], *, future: bool = False, context: Optional[Context] = None,
                        **given: Any) -> Any:
        """Reduces many tensors in place, by one message; options as of all_reduce()."""
        keep: list = []
        results = [written(tensor) for tensor in tensors]
        made = call(keep, capi.lpt_all_reduce_many, handle_of(context), self._handle, results,
                    options(capi.lpt_reduce_options, given, keep), future)
        return Future(made, results, keep) if future else results

    def reduce_scatter(self, x: Any, *, counts: Optional[Sequence[int]] = None, out: Any = None, future: bool = False,
                       context: Optional[Context] = None, **given: Any) -> Any:
        """Reduces a tensor and gives each rank its part along the first axis; options as of all_reduce()."""
        source = read(x)
        keep: list = [source]
        counts = self._counts(counts, "counts")
        result = self._part(source, counts, context) if out is None else written(out)
        made = call(keep, capi.lpt_reduce_scatter, handle_of(context), self._handle, source, counts,
                    options(capi.lpt_reduce_options, given, keep), result, future)
        return Future(made, result, keep) if future else result

    def all_gather(self, x: Any, *, counts: Optional[Sequence[int]] = None, codec: Optional[Codec] = None, out: Any = None,
                   future: bool = False, context: Optional[Context] = None) -> Any:
        """Gives all ranks the parts of every rank, one after the other along the first axis. With a codec each part is encoded
        once, and every rank decodes it."""
        source = read(x)
        keep: list = [source]
        counts = self._counts(counts, "counts")
        result = self._whole(source, counts, context) if out is None else written(out)
        given = {} if codec is None else {"codec": codec}
        made = call(keep, capi.lpt_all_gather, handle_of(context), self._handle, source, counts,
                    options(capi.lpt_all_gather_options, given, keep), result, future)
        return Future(made, result, keep) if future else result

    def all_reduce_signs(self, x: Any, worker_error: Any, server_error: Any, *, out: Any = None, future: bool = False,
                         context: Optional[Context] = None) -> Any:
        """Averages a tensor by its signs, one bit for each element. What that leaves out is kept in the errors, which
        signs_errors() makes, until the next call."""
        source, errors = read(x), (written(worker_error), written(server_error))
        result = capi.tensor_like(handle_of(context), source, capi.tensor_format(source), 0) if out is None else written(out)
        made = capi.lpt_all_reduce_signs(handle_of(context), self._handle, source, *errors, result, future)
        return Future(made, result, (source, *errors)) if future else result

    def signs_errors(self, element_count: int) -> Tuple[Tensor, Tensor]:
        """Errors of 0 for all_reduce_signs() of a tensor of so many elements: worker_error and server_error."""
        share = capi.lpt_all_reduce_signs_share(handle_of(None), self._handle, element_count)
        return empty(element_count), empty(share)

    def broadcast(self, x: Any, root: int = 0, *, future: bool = False, context: Optional[Context] = None) -> Any:
        """Gives all ranks the tensor of one, in place."""
        tensor = written(x)
        made = capi.lpt_broadcast(handle_of(context), self._handle, root, tensor, future)
        return Future(made, tensor, (tensor,)) if future else tensor

    def all_to_all(self, x: Any, *, send_counts: Optional[Sequence[int]] = None,
                   receive_counts: Optional[Sequence[int]] = None, out: Any = None, future: bool = False,
                   context: Optional[Context] = None) -> Any:
        """Sends each rank a part along the first axis, and puts together what comes from each."""
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
        """Sends a tensor to one rank."""
        tensor = read(x)
        made = capi.lpt_send(handle_of(context), self._handle, tensor, peer, tag, future)
        return Future(made, None, (tensor,)) if future else None

    def receive(self, out: Any, peer: int, tag: int = 0, *, future: bool = False,
                context: Optional[Context] = None) -> Any:
        """Receives a tensor of the format and shape that were sent."""
        tensor = written(out)
        made = capi.lpt_receive(handle_of(context), self._handle, tensor, peer, tag, future)
        return Future(made, tensor, (tensor,)) if future else tensor

    def is_same(self, x: Any, *, context: Optional[Context] = None) -> bool:
        """Whether a tensor has the same bits on all ranks."""
        return bool(capi.lpt_comm_compare(handle_of(context), self._handle, read(x)))

    def partial_all_reduce(self, plan: "PartialPlan", x: Any, *, backward: bool = False, out: Any = None,
                           future: bool = False, context: Optional[Context] = None) -> Any:
        """Adds up the shared columns of all ranks and scales this rank's private ones."""
        source = read(x)
        result = capi.tensor_like(handle_of(context), source, capi.tensor_format(source), 0) if out is None else written(out)
        made = capi.lpt_partial_all_reduce(handle_of(context), self._handle, plan._handle, int(backward), source, result,
                                          future)
        return Future(made, result, (source, plan)) if future else result

    def partial_gemm(self, plan: "PartialPlan", a: Any, b: Any, *, out: Any = None, format: Format = "f32",
                     context: Optional[Context] = None, **given: Any) -> Tensor:
        """gemm() of this rank's part of a row-parallel weight, then partial_all_reduce(); private columns are computed while
        shared ones travel. Options: alpha, a_transposed, b_transposed, arithmetic."""
        keep: list = []
        left, right = read(a), read(b)
        if out is None:
            out = empty(left.shape[:-1] + (right.shape[-2 if given.get("b_transposed") else -1],), format, context=context)
        result = written(out)
        capi.lpt_partial_gemm(handle_of(context), self._handle, plan._handle, left, right,
                              options(capi.lpt_gemm_options, given, keep), result)
        return result

    def sequence_gather(self, x: Any, *, plan: Optional[PartialPlan] = None, row_counts: Optional[Sequence[int]] = None,
                        out: Any = None, future: bool = False, context: Optional[Context] = None) -> Any:
        """Gathers the rows of all ranks before a column-parallel layer; sequence_scatter() is its backward. plan: of the layers
        around, with all columns shared."""
        source = read(x)
        counts = self._counts(row_counts, "row_counts")
        result = self._whole(source, counts, context) if out is None else written(out)
        made = capi.lpt_sequence_gather(handle_of(context), self._handle, plan and plan._handle, source, counts, result, future)
        return Future(made, result, (source, plan)) if future else result

    def sequence_scatter(self, x: Any, *, plan: Optional[PartialPlan] = None, backward: bool = False,
                         row_counts: Optional[Sequence[int]] = None, out: Any = None, future: bool = False,
                         context: Optional[Context] = None) -> Any:
        """Adds up the rows of all ranks behind a row-parallel layer, and gives each rank its own; sequence_gather() is its
        backward. backward: the plan's wire for gradients is taken."""
        source = read(x)
        counts = self._counts(row_counts, "row_counts")
        result = self._part(source, counts, context) if out is None else written(out)
        made = capi.lpt_sequence_scatter(handle_of(context), self._handle, plan and plan._handle, int(backward), source, counts,
                                         result, future)
        return Future(made, result, (source, plan)) if future else result

    def _part(self, whole: Tensor, counts: Optional[Sequence[int]], context: Optional[Context]) -> Tensor:
        """Room for this rank's rows."""
        shape = whole.shape
        rows = counts[self.rank] if counts is not None else shape[0] // self.rank_count
        return empty((rows,) + shape[1:], capi.tensor_format(whole), context=context)

    def _whole(self, part: Tensor, counts: Optional[Sequence[int]], context: Optional[Context]) -> Tensor:
        """Room for the rows of all ranks."""
        shape = part.shape
        rows = sum(counts) if counts is not None else shape[0] * self.rank_count
        return empty((rows,) + shape[1:], capi.tensor_format(part), context=context)

    def _counts(self, counts: Optional[Sequence[int]], name: str) -> Optional[List[int]]:
        if counts is None:
            return None
        if len(counts) != self.rank_count:
            raise ValueError(f"{name} has {len(counts)} numbers: expected {self.rank_count}, one of each rank")
        return list(counts)


class GradientBuckets:
    """Gradients that ranks reduce in place while backward goes on: begin(), ready(index) as soon as one is there, wait().

    gradients: in the order of forward; they are kept. Options: bucket_bytes, order ("recorded", "reversed").
    """

    __slots__ = ("_handle", "_gradients", "_comm", "_keep", "_pass")

    def __init__(self, comm: Comm, gradients: Sequence[Any], *, context: Optional[Context] = None, **given: Any) -> None:
        self._keep: list = []
        self._pass: list = []  # what the pass under way borrows
        self._comm = comm
        self._gradients = [written(gradient) for gradient in gradients]
        self._handle = capi.lpt_gradient_buckets_create(handle_of(context), comm._handle, self._gradients,
                                                        options(capi.lpt_gradient_buckets_options, given, self._keep))

    def begin(self, last: bool = True, *, context: Optional[Context] = None, **given: Any) -> None:
        """Begins a backward pass; without last nothing travels. Options as of Comm.all_reduce()."""
        self._pass = []
        call(self._pass, capi.lpt_gradient_buckets_begin, handle_of(context), self._handle, int(last),
             options(capi.lpt_reduce_options, given, self._pass))

    def ready(self, index: int, *, context: Optional[Context] = None) -> None:
        """Says that a gradient is there."""
        call(self._pass, capi.lpt_gradient_buckets_ready, handle_of(context), self._handle, index)

    def wait(self, *, context: Optional[Context] = None) -> None:
        """Ends the pass: all gradients are reduced then. One that was never made ready is named."""
        call(self._pass, capi.lpt_gradient_buckets_wait, handle_of(context), self._handle)
        self._pass = []

    def __del__(self) -> None:
        # Of a pass under way the reductions go on, and with them a codec's calls.
        if self._pass:
            self._comm._kept.append(self._pass)

    @property
    def values(self) -> dict:
        """bucket_count, ready_count, launched_count, wait_seconds, is_recorded."""
        values = capi.lpt_gradient_buckets_info()
        capi.lpt_gradient_buckets_read(handle_of(None), self._handle, values)
        return values_of(values)
