#!/usr/bin/env python3
"""Training of a small model in PyTorch with FP8 GEMMs and FP8 moments, next to the same model in f32.

  PYTHONPATH=build/release/python python3 bindings/python/examples/torch_fp8.py [RECIPE]
"""
import copy
import sys

import torch

import lpt.torch


def main(recipe="fp8_current"):
    torch.manual_seed(0)
    baseline = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.SiLU(), torch.nn.Linear(128, 8))
    model = lpt.torch.convert_(copy.deepcopy(baseline), recipe)
    optimizer = lpt.torch.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), moments="e4m3fn_1x128")
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
        if step % 50 == 0:
            print(f"step {step:4d}   {recipe} {losses[0]:.5f}   torch's f32 {losses[1]:.5f}")
    print(f"state: {optimizer.nbytes / sum(p.numel() for p in model.parameters()):.2f} bytes for each parameter")
    formats = ["int8_row", "e4m3fn_row", "int4_1x64", "nvfp4"]
    print(lpt.torch.compare(model, [(x, target)], formats, loss=torch.nn.functional.mse_loss))


if __name__ == "__main__":
    main(*sys.argv[1:])
