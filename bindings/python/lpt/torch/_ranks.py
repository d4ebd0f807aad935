"""Communicators over process groups of torch.distributed, layers that ranks share, and partial synchronization."""
from __future__ import annotations

from datetime import timedelta
from typing import Any, Dict, List, Optional, Tuple, Union

import torch
import torch.distributed as dist

from .. import capi
from .._comm import Comm, PartialPlan
from .._train import Recipe
from ._linear import Linear


class _Transport:
    """Messages of a communicator by torch.distributed."""

    name = "torch.distributed"

    def __init__(self, group: Any, rank: int, rank_count: int) -> None:
        self._group, self._rank = group, rank
        self._ranks = list(range(rank_count)) if group is None else dist.get_process_group_ranks(group)

    def exchange(self, outgoing: List[memoryview], incoming: List[memoryview], timeout_seconds: float) -> None:
        works: List[Any] = []
        sources: List[torch.Tensor] = []
        for peer, (source, target) in enumerate(zip(outgoing, incoming)):
            if peer != self._rank and target.nbytes:
                works.append(dist.irecv(torch.frombuffer(target, dtype=torch.uint8), self._ranks[peer], self._group))
            if peer != self._rank and source.nbytes:
                sources.append(torch.frombuffer(bytearray(source), dtype=torch.uint8))  # torch has no read-only tensors
                works.append(dist.isend(sources[-1], self._ranks[peer], self._group))
        for work in works:
            work.wait(timedelta(seconds=timeout_seconds))


def comm_of(group: Optional[dist.ProcessGroup] = None, *, timeout_seconds: float = 60.0) -> Comm:
    """Return an lpt.Comm over a process group of torch.distributed, such as that of torchrun. All its ranks call it.

    group: a group of the backend gloo; by default that of all processes. timeout_seconds: the time that a collective waits.
    """
    backend = dist.get_backend(group)
    if backend not in ("gloo", "mpi"):
        raise ValueError(f"the backend of the group is {backend}: expected gloo, whose tensors are in memory of the CPU")
    rank, rank_count = dist.get_rank(group), dist.get_world_size(group)
    return Comm.custom(_Transport(group, rank, rank_count), rank, rank_count, timeout_seconds=timeout_seconds)


class _Slice(Linear):
    """A slice of a linear layer that the ranks of a comm share."""

    _parallel: int
    _axis: int  # of the weight, along which slices are cut

    def __init__(self, in_features: int, out_features: int, comm: Comm, bias: bool, recipe: Union[str, Recipe],
                 plan: Optional[PartialPlan], device: Any, dtype: Any) -> None:
        shape = [out_features, in_features]
        name, count = ("out_features", "in_features")[self._axis], comm.rank_count
        if shape[self._axis] % count:
            raise ValueError(f"{name} is {shape[self._axis]}: expected a multiple of {count}, the number of ranks")
        shape[self._axis] //= count
        super().__init__(shape[1], shape[0], bias, recipe, device, dtype)
        self._layer.shared = self._parallel, comm, plan

    @torch.no_grad()
    def copy_slice_(self, module: torch.nn.Linear) -> None:
        """Copy the slice of this rank from the weight and the bias of a full layer."""
        _, comm, _ = self._layer.shared or (0, None, None)
        self.weight.copy_(module.weight.chunk(comm.rank_count, self._axis)[comm.rank])
        if self.bias is not None:
            self.bias.copy_(module.bias.chunk(comm.rank_count)[comm.rank] if self._axis == 0 else module.bias)

    def __getstate__(self) -> Dict[str, Any]:
        raise TypeError(f"{type(self).__name__} belongs to a comm and cannot be copied or pickled: expected its state_dict()")


class ColumnParallelLinear(_Slice):
    """The slice of a linear layer with some columns of the output; the output is that of this rank.

    All ranks have the same input. Backward sums the gradient of the input over the ranks. Call torch.manual_seed() with the same
    seed on all ranks for recipes that round stochastically.

    in_features, out_features: of the full layer; out_features is a multiple of the number of ranks.
    comm: for example of comm_of(). plan: the columns of the input whose gradient is summed (CAAT); None: all.
    """

    _parallel, _axis = capi.LPT_LINEAR_PARALLEL_COLUMNS, 0

    def __init__(self, in_features: int, out_features: int, comm: Comm, bias: bool = True,
                 recipe: Union[str, Recipe] = "fp8_current", plan: Optional[PartialPlan] = None, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(in_features, out_features, comm, bias, recipe, plan, device, dtype)


class RowParallelLinear(_Slice):
    """The slice of a linear layer with some columns of the input; the output is the sum over the ranks.

    The bias is the same on all ranks, and added once. Other arguments are as for ColumnParallelLinear.

    in_features, out_features: of the full layer; in_features is a multiple of the number of ranks.
    plan: the columns of the output that are summed (CAAT); None: all.
    """

    _parallel, _axis = capi.LPT_LINEAR_PARALLEL_ROWS, 1

    def __init__(self, in_features: int, out_features: int, comm: Comm, bias: bool = True,
                 recipe: Union[str, Recipe] = "fp8_current", plan: Optional[PartialPlan] = None, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(in_features, out_features, comm, bias, recipe, plan, device, dtype)


class _PartialSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, comm: Comm, plan: PartialPlan) -> torch.Tensor:
        ctx.comm, ctx.plan = comm, plan
        return _reduced(x, comm, plan, False)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Tuple[torch.Tensor, None, None]:  # type: ignore[override]
        return _reduced(gradient, ctx.comm, ctx.plan, True), None, None


def _reduced(x: torch.Tensor, comm: Comm, plan: PartialPlan, backward: bool) -> torch.Tensor:
    y = torch.empty(x.shape, dtype=x.dtype)
    comm.partial_all_reduce(plan, x.detach().contiguous(), backward=backward, out=y)
    return y


def partial_sum(x: torch.Tensor, comm: Comm, plan: PartialPlan) -> torch.Tensor:
    """Sum the shared columns of x over the ranks of comm, and scale the private ones (CAAT). All ranks call it in one order.

    The gradient is the same operation. It is for the output of a row-parallel layer, see docs/concepts/caat.md.

    plan: an lpt.PartialPlan for the columns of x.
    """
    return _PartialSum.apply(x, comm, plan)
