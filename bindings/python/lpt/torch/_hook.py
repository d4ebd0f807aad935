"""Reduction of the gradients of DistributedDataParallel by an lpt.Comm."""
# DistributedDataParallel compares annotations of a hook with classes, so that this module does not postpone their evaluation.
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, Optional, Tuple, Union

import torch
import torch.distributed as dist

from .._comm import Comm
from .._context import constant
from .._options import Random
from .._tensor import Tensor, format_number

_SIGNS = "signs"


class ReduceState:
    """How reduce_hook() averages the gradients of a model over the ranks of a comm.

    comm: for example of comm_of(). No other code may use it during a backward pass.
    wire: the format in which gradients are sent, such as "bf16", "e4m3fn_1x128" or "int8_1x32"; None: their own type. "signs"
    sends one bit for each element of float32 gradients. What it rounds away is added to the gradients of the next step (error
    feedback, lpt_all_reduce_signs()).
    rounding: of the casts to a wire format, "nearest_even" or "stochastic".
    seed: of stochastic rounding; the same on all ranks.
    """

    def __init__(self, comm: Comm, wire: Optional[Union[str, int]] = None, *, rounding: str = "nearest_even", seed: int = 0) -> None:
        if constant("LPT_ROUNDING_", rounding, "rounding") and wire in (None, _SIGNS):
            raise ValueError(f'rounding is "{rounding}": expected "nearest_even" with wire={wire!r}')
        if wire not in (None, _SIGNS):
            format_number(wire)
        self.comm: Comm = comm
        self.wire: Optional[Union[str, int]] = wire
        self.rounding: str = rounding
        self.seed: int = seed
        self.step: int = 0  # of stochastic rounding
        self._errors: Dict[int, Tuple[Tensor, Tensor]] = {}  # of signs, by the index of their bucket
        self._worker = ThreadPoolExecutor(1, "lpt-reduce")  # reduces in the order of buckets while backward continues

    def _reduce(self, buffer: torch.Tensor, index: int, is_last: bool) -> torch.Tensor:
        if self.wire == _SIGNS:
            self.comm.all_reduce_signs(buffer, *self._errors_of(buffer, index), out=buffer)
        else:
            drawn: Dict[str, Any] = {}
            if self.rounding != "nearest_even":
                drawn = {"rounding": self.rounding, "random": Random(self.seed, stream=index, step=self.step)}
            self.comm.all_reduce(buffer, out=buffer, reduction="average", wire=self.wire, **drawn)
        self.step += is_last
        return buffer

    def _errors_of(self, buffer: torch.Tensor, index: int) -> Tuple[Tensor, Tensor]:
        errors = self._errors.get(index)
        if errors is None or errors[0].size != buffer.numel():  # the first step, or DDP has changed its buckets
            errors = self._errors[index] = self.comm.signs_errors(buffer.numel())
        return errors

    def _run(self, future: Any, *bucket: Any) -> None:
        try:
            future.set_result(self._reduce(*bucket))
        except Exception as error:  # backward raises it
            future.set_exception(error)


def reduce_hook(state: ReduceState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """Average a bucket of gradients over ranks: the hook of DistributedDataParallel.register_comm_hook().

        model.register_comm_hook(lpt.torch.ReduceState(comm, "e4m3fn_1x128"), lpt.torch.reduce_hook)

    Reductions run on a thread of the state, in the order of the buckets, while the backward pass continues.
    """
    future: torch.futures.Future[torch.Tensor] = torch.futures.Future()
    state._worker.submit(state._run, future, bucket.buffer(), bucket.index(), bucket.is_last())
    return future
