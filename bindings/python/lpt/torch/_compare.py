"""Comparison of a model with quantized copies."""
from __future__ import annotations

import copy
import time
from typing import Any, Callable, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

import torch

from ._convert import Filter, linears
from ._linear import Linear
from ._quantize import QuantizedLinear, call, quantize_


class Row(NamedTuple):
    """One line of a Comparison."""
    format: Optional[str]  # of the weights; None: the model itself
    activation: Optional[str]  # the format of the inputs of layers; None: they are not cast
    bytes_per_weight: float  # of the layers that are quantized, with scales
    error: float  # norm of the difference of the outputs, divided by the norm of the model's outputs
    loss: Optional[float]  # mean over the data; None without a loss
    seconds: float  # of all passes


class Comparison:
    """The result of compare(): rows, of which the first is the model itself. Its text is a table."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows: List[Row] = list(rows)

    def __str__(self) -> str:
        has_loss = self.rows[0].loss is not None
        lines = [["format", "activation", "bytes/weight", "error"] + ["loss", "change"] * has_loss + ["seconds"]]
        for row in self.rows:
            line = [row.format or "model", row.activation or "-", f"{row.bytes_per_weight:.3f}", f"{row.error:.3e}"]
            if has_loss:
                line += [f"{row.loss:.5f}", f"{row.loss - self.rows[0].loss:+.5f}"]
            lines.append(line + [f"{row.seconds:.4f}"])
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join(text.ljust(width) if place < 2 else text.rjust(width)
                                   for place, (text, width) in enumerate(zip(line, widths))) for line in lines)

    __repr__ = __str__

    def plot(self, path: str) -> None:
        """Write a picture of the error or, with a loss, of its change for each format. It needs matplotlib."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError("plot() needs matplotlib: pip install matplotlib") from None
        has_loss = self.rows[0].loss is not None
        rows = self.rows[:0:-1]  # the first format is at the top
        figure = Figure((7, 1.2 + 0.3 * len(rows)), layout="constrained")
        axes = figure.add_subplot()
        names = [row.format if row.activation is None else f"{row.format}, inputs {row.activation}" for row in rows]
        values = [row.loss - self.rows[0].loss if has_loss else row.error for row in rows]
        bars = axes.barh(range(len(rows)), values)
        axes.set_yticks(range(len(rows)), names)
        axes.bar_label(bars, [f"{row.bytes_per_weight:.2f} bytes per weight" for row in rows], padding=3, fontsize="small")
        axes.margins(x=0.4)  # for the labels
        axes.set_xlabel("change of the loss" if has_loss else "relative error of the outputs")
        figure.savefig(path)


def _output_of(result: Any) -> torch.Tensor:
    """Return the tensor of an output: itself, its attribute logits, or its first element."""
    while not isinstance(result, torch.Tensor):
        if hasattr(result, "logits"):
            result = result.logits
        elif isinstance(result, (tuple, list)) and result:
            result = result[0]
        else:
            raise TypeError(f"the output of the model is a {type(result).__name__}: expected a tensor, a tuple or logits")
    return result


def _call(model: torch.nn.Module, inputs: Any) -> torch.Tensor:
    return _output_of(call(model, inputs))


def _run(model: torch.nn.Module, batches: Sequence[Tuple[Any, Any]], loss: Optional[Callable[[Any, Any], Any]]
         ) -> Tuple[List[torch.Tensor], Optional[float], float]:
    """Return the outputs, the mean loss, and the seconds of all passes after one that is not measured."""
    _call(model, batches[0][0])
    begin = time.perf_counter()
    outputs = [_call(model, inputs) for inputs, _ in batches]
    seconds = time.perf_counter() - begin
    if loss is None:
        return outputs, None, seconds
    return outputs, sum(float(loss(one, target)) for one, (_, target) in zip(outputs, batches)) / len(batches), seconds


@torch.no_grad()
def compare(model: torch.nn.Module, data: Iterable[Any], formats: Iterable[Union[str, Tuple[str, Optional[str]]]],
            loss: Optional[Callable[[Any, Any], Any]] = None, *, filter: Optional[Filter] = None, skip: Iterable[str] = ()
            ) -> Comparison:
    """Compare a model with copies whose linear layers have weights in other formats. The model does not change, also not its
    mode: call model.eval() before.

    data: batches. A batch is the input of the model: a tensor, a tuple of arguments, or a dict of keyword arguments. With loss,
    it is a pair of that input and a target.
    formats: formats of weights, or pairs of a format of weights and a format of activations, as for quantize_().
    loss: a function of the output and the target; its mean over the batches is reported.
    filter, skip: as for quantize_().
    """
    batches = [(batch, None) if loss is None else (batch[0], batch[1]) for batch in data]
    if not batches:
        raise ValueError("data is empty: expected at least one batch")
    names = [name for name, _ in linears(model, filter, skip, (torch.nn.Linear, Linear))]
    weights = [model.get_submodule(name).weight for name in names]
    count = max(1, sum(weight.numel() for weight in weights))
    exact, first_loss, seconds = _run(model, batches, loss)
    total = sum(one.double().square().sum().item() for one in exact) or 1.0
    rows = [Row(None, None, sum(weight.nbytes for weight in weights) / count, 0.0, first_loss, seconds)]
    for given in formats:
        format, activation = (given, None) if isinstance(given, str) else given
        other = quantize_(copy.deepcopy(model), format, filter=filter, skip=skip, activation=activation)
        outputs, one_loss, seconds = _run(other, batches, loss)
        error = sum((one.double() - of_model.double()).square().sum().item() for one, of_model in zip(outputs, exact))
        size = sum(module.nbytes for module in other.modules() if type(module) is QuantizedLinear)
        rows.append(Row(format, activation, size / count, (error / total) ** 0.5, one_loss, seconds))
    return Comparison(rows)
