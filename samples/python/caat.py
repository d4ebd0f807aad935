#!/usr/bin/env python3
"""Tensor parallelism with partially shared activations (CAAT) on ranks of torch.distributed.

Partially shared columns use a communicator of LPT over the gloo group of torch. Run one process for each rank:

  PYTHONPATH=build/test/python torchrun --nproc-per-node 2 samples/python/caat.py [FRACTION]

FRACTION is the fraction of shared columns, 0.5 by default. The example compares all steps with the same operator implemented by
all_reduce of torch.distributed. docs/concepts/caat.md describes the method.
"""
import sys

import torch
import torch.distributed as dist

import lpt.torch

ROWS, HIDDEN, INNER, STEPS = 64, 96, 128, 50


class GlooSum(torch.autograd.Function):
    """lpt.torch.partial_sum() by torch.distributed, as the baseline. The operator is its own adjoint."""

    @staticmethod
    def forward(ctx, x, shared, scale):
        ctx.shared, ctx.scale = shared, scale
        sums = x[:, :shared].clone()  # all_reduce() works in place
        dist.all_reduce(sums)
        return torch.cat([sums, scale * x[:, shared:]], 1)

    @staticmethod
    def backward(ctx, gradient):
        return GlooSum.forward(ctx, gradient, ctx.shared, ctx.scale), None, None


class Block(torch.nn.Module):
    """A residual MLP whose inner columns are split among the ranks; `combine` sums the outputs of the ranks."""

    def __init__(self, combine, rank_count):
        super().__init__()
        self.up = torch.nn.Linear(HIDDEN, INNER // rank_count, bias=False)
        self.down = torch.nn.Linear(INNER // rank_count, HIDDEN, bias=False)
        self.combine = combine

    def forward(self, x):
        return x + self.combine(self.down(torch.nn.functional.silu(self.up(x))))


def train(combine, rank, rank_count):
    """Return the losses of this rank, and its weights, which are slices of one model."""
    torch.manual_seed(rank)
    model = torch.nn.Sequential(Block(combine, rank_count), Block(combine, rank_count))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    batches = torch.Generator().manual_seed(7)  # the same on all ranks
    losses = []
    for _ in range(STEPS):
        x = torch.randn(ROWS, HIDDEN, generator=batches)
        loss = torch.nn.functional.mse_loss(model(x), x.roll(1, 1).tanh())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [parameter.detach() for parameter in model.parameters()]


def main(fraction="0.5"):
    lpt.set_default_context(lpt.Context(1))
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    comm = lpt.torch.comm_of()
    plan = lpt.PartialPlan(HIDDEN, float(fraction), comm.rank_count)
    values = plan.values()
    losses, weights = train(lambda x: lpt.torch.partial_sum(x, comm, plan), comm.rank, comm.rank_count)
    expected, others = train(lambda x: GlooSum.apply(x, values["shared_columns"], values["private_scale"]), comm.rank,
                             comm.rank_count)
    difference = torch.tensor([max(abs(one - other) for one, other in zip(losses, expected)),
                               max((one - other).abs().max().item() for one, other in zip(weights, others))])
    dist.all_reduce(difference, op=dist.ReduceOp.MAX)
    if comm.rank == 0:
        print(f"torch {torch.__version__}, {comm.rank_count} ranks of {comm.values['engine']}: "
              f"{values['shared_columns']} of {HIDDEN} columns shared")
        print(f"loss {losses[0]:.5f} to {losses[-1]:.5f}; largest difference from gloo over {STEPS} steps: "
              f"losses {difference[0]:.2e}, weights {difference[1]:.2e}")
    comm.barrier()
    comm.close()
    dist.destroy_process_group()
    return 0 if losses[-1] < 0.9 * losses[0] and difference[0] <= 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
