#!/usr/bin/env python3
"""The MLP of samples/08_train_mlp.c in PyTorch, compared with the sample.

The model has modules and autograd of torch, and linear layers and AdamW of either LPT or torch. It starts from the weights and
batches that the sample writes. Prints the maximum difference of the losses over 50 steps; the exit status is 1 if it exceeds
the bound.

  PYTHONPATH=build/test/python python3 bindings/python/examples/torch_parity.py build/test/samples/sample_train_mlp
"""
import pathlib
import subprocess
import sys
import tempfile

import torch

import lpt.torch

ROWS, INPUTS, HIDDEN, OUTPUTS, STEPS = 32, 64, 128, 8, 50
SHAPES = [(HIDDEN, INPUTS), (HIDDEN,), (OUTPUTS, HIDDEN), (OUTPUTS,)] + [(ROWS, INPUTS), (ROWS, OUTPUTS)] * STEPS
BOUNDS = {"f32": 1e-4, "fp8_current": 1e-2, "fp8_block": 1e-2, "mxfp8": 1e-2}


def sample(program, recipe):
    """Run the C sample, and return its losses, and its initial weights and batches."""
    with tempfile.TemporaryDirectory() as place:
        file = pathlib.Path(place) / "numbers"
        output = subprocess.run([program, recipe, file], check=True, capture_output=True, text=True).stdout
        numbers = torch.frombuffer(bytearray(file.read_bytes()), dtype=torch.float32)
    tensors = numbers.split([torch.Size(shape).numel() for shape in SHAPES])
    return [float(line) for line in output.split()], [tensor.reshape(shape) for tensor, shape in zip(tensors, SHAPES)]


def train(numbers, convert, adamw):
    """Train in torch, and return the losses."""
    model = convert(torch.nn.Sequential(torch.nn.Linear(INPUTS, HIDDEN), torch.nn.SiLU(), torch.nn.Linear(HIDDEN, OUTPUTS)))
    with torch.no_grad():
        for parameter, first in zip(model.parameters(), numbers):
            parameter.copy_(first)
    optimizer = adamw(model.parameters())
    losses = []
    for step, (x, target) in enumerate(zip(numbers[4::2], numbers[5::2])):
        if step == STEPS // 2:  # restart from a checkpoint, which must not change any bit
            saved, optimizer = optimizer.state_dict(), adamw(model.parameters())
            optimizer.load_state_dict(saved)
        loss = torch.nn.functional.mse_loss(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def by_lpt(numbers, recipe):
    moments = "f32" if recipe == "f32" else "e4m3fn_1x128"
    return train(numbers, lambda model: lpt.torch.convert_(model, recipe),
                 lambda them: lpt.torch.AdamW(them, lr=3e-3, betas=(0.9, 0.95), weight_decay=0.01, moments=moments))


def by_torch(numbers):
    return train(numbers, lambda model: model, lambda them: torch.optim.AdamW(them, lr=3e-3, betas=(0.9, 0.95)))


def report(name, expected, found, bound):
    largest = max(abs(one - other) for one, other in zip(expected, found))
    is_good = len(expected) == len(found) == STEPS and largest <= bound
    print(f"{name:28} first loss {found[0]:.6f}   last {found[-1]:.6f}   largest difference from C {largest:.2e}   "
          f"{'within' if is_good else 'ABOVE'} {bound:g}")
    return is_good


def main(program):
    print(f"torch {torch.__version__}, lpt {lpt.__version__}")
    is_good = True
    for recipe, bound in BOUNDS.items():
        expected, numbers = sample(program, recipe)
        if recipe == "f32":
            is_good &= report("torch's own layers and AdamW", expected, by_torch(numbers), bound)
        is_good &= report(f"LPT in torch, {recipe}", expected, by_lpt(numbers, recipe), bound)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
