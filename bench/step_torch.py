"""The model of samples/train_lm in PyTorch and in lpt.torch, and the attention of PyTorch, for step.py."""
import time
import types

import torch
from torch import nn
from torch.nn import functional

VERSION = torch.__version__
BYTES = 256  # size of the vocabulary
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


def rotate(x, cosine, sine):
    """Rotates column i and column i + width / 2 by an angle that grows with the position."""
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1).to(x.dtype)


class RMSNorm(nn.RMSNorm):
    """With residual: the norm of residual + x, and residual + x."""

    def forward(self, x, residual=None):
        if residual is None:
            return super().forward(x)
        total = residual + x
        return super().forward(total), total


def swiglu(gate_up):
    gate, up = gate_up.chunk(2, dim=-1)
    return functional.silu(gate) * up


def angles_of(positions, half):
    angles = torch.arange(positions)[:, None] * 1e4 ** (-torch.arange(half) / half)
    return {"cosine": angles.cos(), "sine": angles.sin()}


# The parts that lpt.torch replaces. Its linear layers are those of a converted model.
TORCH = types.SimpleNamespace(norm=RMSNorm, attend=functional.scaled_dot_product_attention, loss=functional.cross_entropy,
                              swiglu=swiglu, rotate=rotate, angles=angles_of,
                              optimizer=torch.optim.AdamW)


def lpt_parts():
    import lpt.torch
    return types.SimpleNamespace(norm=lpt.torch.RMSNorm, attend=lpt.torch.scaled_dot_product_attention,
                                 loss=lpt.torch.CrossEntropyLoss(), swiglu=lpt.torch.SwiGLU(), rotate=lpt.torch.rotary,
                                 angles=lambda positions, half: {"frequencies": lpt.rotary_frequencies(2 * half).torch()},
                                 optimizer=lpt.torch.AdamW)


class Block(nn.Module):
    def __init__(self, shape, parts):
        super().__init__()
        self.heads, self.parts = shape.heads, parts
        self.attention_norm, self.mlp_norm = parts.norm(shape.width), parts.norm(shape.width)
        self.query_key_value = linear(shape.width, 3 * shape.width)
        self.output = linear(shape.width, shape.width)
        self.gate_up = linear(shape.width, 2 * shape.hidden)
        self.down = linear(shape.hidden, shape.width)

    def attend(self, x, angles):
        batch, positions, width = x.shape
        joined = self.query_key_value(x).view(batch, positions, 3, self.heads, width // self.heads)
        query, key, value = (heads.transpose(1, 2) for heads in joined.unbind(2))
        query, key = self.parts.rotate(query, *angles), self.parts.rotate(key, *angles)
        attended = self.parts.attend(query, key, value, is_causal=True)
        return self.output(attended.transpose(1, 2).reshape(batch, positions, width))

    def forward(self, x, branch, angles):
        """Returns the residual stream before the last branch, and that branch."""
        normed, x = (self.attention_norm(x), x) if branch is None else self.attention_norm(branch, x)
        normed, x = self.mlp_norm(self.attend(normed, angles), x)
        return x, self.down(self.parts.swiglu(self.gate_up(normed)))


class Model(nn.Module):
    """Returns the loss, so that torch.compile includes the complete forward pass."""

    def __init__(self, shape, layers, parts=TORCH):
        super().__init__()
        self.parts, self.embedding = parts, nn.Embedding(BYTES, shape.width)
        self.blocks = nn.ModuleList(Block(shape, parts) for _ in range(layers))
        self.norm, self.head = parts.norm(shape.width), linear(shape.width, BYTES)
        half = shape.width // shape.heads // 2
        for name, buffer in parts.angles(shape.sequence, half).items():
            self.register_buffer(name, buffer)

    def forward(self, inputs, targets):
        x, branch, angles = self.embedding(inputs), None, tuple(self.buffers(recurse=False))
        for block in self.blocks:
            x, branch = block(x, branch, angles)
        logits = self.head(self.norm(branch, x)[0])
        return self.parts.loss(logits.float().flatten(0, 1), targets.flatten())


def convert(model, recipe, threads):
    """Converts the layers. The head is in f32 or bf16, as in train_lm."""
    import lpt.torch
    lpt.set_default_context(lpt.Context(threads))
    lpt.torch.convert_(model, recipe, skip=["head"])
    lpt.torch.convert_(model, "f32" if recipe == "f32" else "bf16")


class Training:
    """One model and optimizer. Steps in f32 or bf16, eager or compiled, share them, because memory may not hold four.

    recipe: of lpt.torch; None: the layers of PyTorch.
    """

    def __init__(self, shape, layers, threads, text, recipe=None):
        torch.set_num_threads(threads)
        torch.manual_seed(1)
        torch._dynamo.reset()  # releases compiled code of other widths and numbers of threads
        self.shape, self.text = shape, torch.frombuffer(bytearray(text), dtype=torch.uint8).long()
        parts = lpt_parts() if recipe else TORCH
        self.model = Model(shape, layers, parts)
        if recipe:
            convert(self.model, recipe, threads)
        self.forwards = {"eager": self.model, "compiled": torch.compile(self.model)}
        matrices = [parameter for parameter in self.model.parameters() if parameter.ndim > 1]
        vectors = [parameter for parameter in self.model.parameters() if parameter.ndim == 1]
        groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
        self.optimizer = parts.optimizer(groups, lr=1e-4, betas=(0.9, 0.95), fused=True)

    def parameters(self):
        return sum(parameter.numel() for parameter in self.model.parameters())

    def step(self, kind, mode):
        starts = torch.randint(len(self.text) - self.shape.sequence, (self.shape.batch,))
        windows = torch.stack([self.text[start:start + self.shape.sequence + 1] for start in starts.tolist()])
        with torch.autocast("cpu", torch.bfloat16, enabled=kind == "bf16"):
            loss = self.forwards[mode](windows[:, :-1], windows[:, 1:])
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    def seconds(self, kind, mode, steps):
        """Returns the seconds of each step."""
        found = []
        for _ in range(steps):
            begin = time.perf_counter()
            self.step(kind, mode)
            found.append(time.perf_counter() - begin)
        return found


class Attention:
    """Inputs of one shape and type. forward() and both() use PyTorch."""

    def __init__(self, extents, kind, is_causal):
        torch.manual_seed(1)
        self.inputs = [torch.randn(extents, dtype=TYPES[kind]) for _ in range(3)]
        self.gradient = torch.randn(extents, dtype=TYPES[kind])
        self.is_causal = is_causal

    def attend(self, inputs):
        return functional.scaled_dot_product_attention(*inputs, is_causal=self.is_causal)

    def forward(self):
        with torch.no_grad():
            return (self.attend(self.inputs),)

    def both(self):
        inputs = [one.detach().requires_grad_() for one in self.inputs]
        return torch.autograd.grad(self.attend(inputs), inputs, self.gradient)


def difference(expected, found):
    """Returns the largest difference relative to the largest element. `found` are tensors of other libraries."""
    pairs = [(one.float(), torch.from_dlpack(other).float()) for one, other in zip(expected, found)]
    return max(float((one - other).abs().max() / one.abs().max()) for one, other in pairs)
