#!/usr/bin/env python3
"""LPT in PyTorch: linear layers with FP8 GEMMs as an autograd function, and AdamW with FP8 moments as a torch.optim.Optimizer.

Tensors are shared by DLPack, without a copy.

  PYTHONPATH=build/release/python bindings/python/examples/torch_fp8.py [RECIPE]
"""
import itertools
import sys

import torch

import lpt


class _LinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, layer, random):
        y = torch.empty(*x.shape[:-1], layer.output_columns)
        _, ctx.saved = layer.forward(x.detach().contiguous(), out=y, bias=None if bias is None else bias.detach(), random=random)
        ctx.layer, ctx.has_bias, ctx.random = layer, bias is not None, random
        return y

    @staticmethod
    def backward(ctx, gradient):
        layer = ctx.layer
        # Compute only the gradients that torch requires.
        needs_dx, needs_dw = ctx.needs_input_grad[:2]
        dx = torch.empty(*gradient.shape[:-1], layer.input_columns) if needs_dx else None
        dw = torch.empty(layer.output_columns, layer.input_columns) if needs_dw else None
        db = torch.empty(layer.output_columns) if ctx.has_bias else None
        layer.backward(ctx.saved, gradient.contiguous(), input_gradient=dx, weight_gradient=dw, bias_gradient=db,
                       random=ctx.random)
        return dx, dw, db, None, None


class Linear(torch.nn.Linear):
    """torch.nn.Linear whose GEMMs follow an LPT recipe; the weight is unchanged.

    Recipes that round stochastically draw from one stream per layer, with another step in each forward pass of training.
    """

    streams = itertools.count()

    def __init__(self, in_features, out_features, bias=True, recipe="fp8_current", seed=1):
        super().__init__(in_features, out_features, bias)
        self.layer = lpt.Linear(in_features, out_features, recipe)
        self.version = None
        self.random = lpt.Random(seed=seed, stream=next(Linear.streams), step=0)

    def forward(self, x):
        # torch counts the changes of a tensor; cast the weight once after each change.
        if self.version != self.weight._version:
            self.layer.prepare(self.weight.detach(), random=self.random)
            self.version = self.weight._version
        if not torch.is_grad_enabled():  # backward needs no saved data
            y, bias = torch.empty(*x.shape[:-1], self.out_features), None if self.bias is None else self.bias.detach()
            self.layer.forward(x.detach().contiguous(), out=y, inference=True, bias=bias)
            return y
        random, self.random = self.random, self.random._replace(step=self.random.step + 1)
        return _LinearFunction.apply(x, self.weight, self.bias, self.layer, random)


class AdamW(torch.optim.Optimizer):
    """AdamW with FP8 moments: 2 bytes of state per parameter element instead of 8."""

    def __init__(self, parameters, lr=1e-3, weight_decay=0.01, moments="e4m3fn_1x128", **options):
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay})
        self.optimizers = []
        for group in self.param_groups:
            optimizer = lpt.Optimizer("adamw", **options)
            for parameter in group["params"]:
                optimizer.add(parameter.numel(), first_moment=moments, second_moment=moments,
                              weight_decay=group["weight_decay"])
            self.optimizers.append(optimizer)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None if closure is None else closure()
        for group, optimizer in zip(self.param_groups, self.optimizers):
            active = [(index, parameter) for index, parameter in enumerate(group["params"]) if parameter.grad is not None]
            optimizer.step([parameter.detach() for _, parameter in active],
                           [parameter.grad.contiguous() for _, parameter in active], indices=[index for index, _ in active],
                           learning_rate=group["lr"])
            for _, parameter in active:
                torch.autograd.graph.increment_version(parameter)  # LPT has written its memory
        return loss

    def state_dict(self):
        return dict(super().state_dict(), lpt=[optimizer.state() for optimizer in self.optimizers])

    def load_state_dict(self, state):
        super().load_state_dict({name: value for name, value in state.items() if name != "lpt"})
        for optimizer, saved in zip(self.optimizers, state["lpt"]):
            optimizer.load_state(saved)


def main(recipe="fp8_current"):
    torch.manual_seed(0)
    model = torch.nn.Sequential(Linear(64, 128, recipe=recipe), torch.nn.SiLU(), Linear(128, 8, recipe=recipe))
    baseline = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.SiLU(), torch.nn.Linear(128, 8))
    baseline.load_state_dict(model.state_dict())
    optimizer = AdamW(model.parameters(), lr=3e-3, beta2=0.95)
    baseline_optimizer = torch.optim.AdamW(baseline.parameters(), lr=3e-3, betas=(0.9, 0.95))
    teacher = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Tanh(), torch.nn.Linear(32, 8))
    for step in range(301):
        x = torch.randn(256, 64)
        with torch.no_grad():
            target = teacher(x)
        losses = []
        for one, one_optimizer in ((model, optimizer), (baseline, baseline_optimizer)):
            loss = torch.nn.functional.mse_loss(one(x), target)
            one_optimizer.zero_grad()
            loss.backward()
            one_optimizer.step()
            losses.append(loss.item())
        lpt.update([module.layer for module in model if isinstance(module, Linear)])
        if step % 50 == 0:
            print(f"step {step:4d}   {recipe} {losses[0]:.5f}   torch's f32 {losses[1]:.5f}")
    bytes_of_state = sum(one.nbytes for one in optimizer.optimizers)
    print(f"state: {bytes_of_state / sum(p.numel() for p in model.parameters()):.2f} bytes for each parameter")


if __name__ == "__main__":
    main(*sys.argv[1:])
