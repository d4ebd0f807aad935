"""Partial synchronization of activations over the ranks of a communicator."""
from __future__ import annotations

from typing import Any, Tuple

import torch

from .._comm import Comm, PartialPlan


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
