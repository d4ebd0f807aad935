"""Communicators over process groups of torch.distributed, and partial synchronization of activations."""
from __future__ import annotations

from datetime import timedelta
from typing import Any, List, Optional, Tuple

import torch
import torch.distributed as dist

from .._comm import Comm, PartialPlan


class _Transport:
    """Messages of a communicator by torch.distributed."""

    name = "torch.distributed"

    def __init__(self, group: Any, rank: int, rank_count: int) -> None:
        self._group, self._rank = group, rank
        self._ranks = list(range(rank_count)) if group is None else dist.get_process_group_ranks(group)

    def exchange(self, outgoing: List[memoryview], incoming: List[memoryview], timeout_seconds: float) -> None:
        works, sources = [], []
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
