#!/usr/bin/env python3
"""Makes tests/golden/optimizer from torch and bitsandbytes, which share no code with LPT.

    python3 -m venv golden-venv
    golden-venv/bin/pip install torch==2.15.0 numpy==2.4.6
    golden-venv/bin/pip install --no-deps bitsandbytes==0.50.2
    golden-venv/bin/python tools/make_optimizer_golden.py    # on the CPU; seconds

Numbers are hexadecimal floats, or the bits of an f32.

steps.csv  method, number of elements, index, value of that element after 100 steps of torch.optim in f32
clip.csv   largest norm, norm that torch.nn.utils.clip_grad_norm_ computes for two gradients, and element 0 of each after
           clipping
maps.csv   code, level of the signed dynamic map of bitsandbytes, level of the unsigned one
codes.csv  map, index, the code of element `index` by quantize_blockwise of bitsandbytes in blocks of 256. Inputs are f64,
           which selects its exact path, the nearest level. Its f32 kernel uses a coarser lookup table and misses the nearest
           level of small values (of the signed ones in this file 205 of 2000).

Inputs are those of draw(): exact in f32, so that tests in any language have the same.
    steps   parameters draw(1, n) / 2; gradients of step t, from 1: draw(1000 + t, n), element i times 2^-(i mod 8)
    clip    gradients draw(2, 1000) and draw(3, 77)
    codes   draw(4, 2000), element i times 2^-(i mod 16); the unsigned map has their magnitudes
"""
import pathlib

import numpy as np
import torch

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "optimizer"
SIZES = (1, 7, 105, 129, 256, 1000, 2048, 2145, 4097, 8192)
STEPS = 100


def splitmix64(seed, count):
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * np.arange(1, count + 1, dtype=np.uint64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def draw(seed, count):
    """Returns multiples of 2^-23 in [-1, 1)."""
    high = (splitmix64(seed, count) >> np.uint64(40)).astype(np.float64)
    return torch.from_numpy((high * 2.0**-23 - 1.0).astype(np.float32))


def spread(numbers, period):
    powers = 2.0 ** -(np.arange(len(numbers)) % period).astype(np.float32)
    return numbers * torch.from_numpy(powers.astype(np.float32))


METHODS = {
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1, foreach=False),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.01, foreach=False),
    "sgd": lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9, weight_decay=0.01, foreach=False),
    "nesterov": lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9, weight_decay=0.01, nesterov=True, foreach=False),
}


def write(name, header, rows, versions):
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = [f"# tools/make_optimizer_golden.py, {versions}", header, *rows]
    (FOLDER / name).write_text("\n".join(lines) + "\n")


def bits(number):
    return f"{np.float32(number).view(np.uint32):08x}"


def indices(size):
    return sorted({0, size // 7, size // 3, size // 2, size - size // 5 - 1, size - 1})


def step_rows():
    for method, make in METHODS.items():
        for size in SIZES:
            parameter = torch.nn.Parameter(draw(1, size) / 2)
            optimizer = make([parameter])
            for step in range(1, STEPS + 1):
                parameter.grad = spread(draw(1000 + step, size), 8)
                optimizer.step()
            for index in indices(size):
                yield f"{method},{size},{index},{float(parameter[index].detach()).hex()}"


def clip_rows():
    for largest in (0.5, 5.0, 1e6):
        parameters = [torch.nn.Parameter(torch.zeros(count)) for count in (1000, 77)]
        for parameter, seed, count in zip(parameters, (2, 3), (1000, 77)):
            parameter.grad = draw(seed, count)
        norm = torch.nn.utils.clip_grad_norm_(parameters, largest)
        values = [float(norm), *(float(parameter.grad[0]) for parameter in parameters)]
        yield ",".join([largest.hex(), *(value.hex() for value in values)])


def map_rows(maps):
    for code in range(256):
        yield f"{code},{bits(maps['signed'][code])},{bits(maps['unsigned'][code])}"


def code_rows(maps):
    numbers = spread(draw(4, 2000), 16)
    for name, source in (("signed", numbers), ("unsigned", numbers.abs())):
        codes, _ = torch.ops.bitsandbytes.quantize_blockwise(source.double(), maps[name], 256)
        for index in range(0, len(source), 3):
            yield f"{name},{index},{int(codes[index])}"


def main():
    import bitsandbytes
    from bitsandbytes.functional import create_dynamic_map

    versions = f"torch {torch.__version__.split('+')[0]}, bitsandbytes {bitsandbytes.__version__}"
    maps = {"signed": create_dynamic_map(True), "unsigned": create_dynamic_map(False)}
    write("steps.csv", "method,elements,index,value", step_rows(), versions)
    write("clip.csv", "largest_norm,norm,first,second", clip_rows(), versions)
    write("maps.csv", "code,signed,unsigned", map_rows(maps), versions)
    write("codes.csv", "map,index,code", code_rows(maps), versions)


if __name__ == "__main__":
    main()
